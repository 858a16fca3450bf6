// JSON on stdout: the two values that need care.
#ifndef TDL_APP_JSON_H
#define TDL_APP_JSON_H

// A string in quotes, escaped.
void json_text(const char* text);

// A number with all its digits, or null: JSON has neither infinity nor NaN.
void json_real(double value);

#endif
