// Strict numbers: the whole text, decimal, finite, the same in every locale.
#ifndef TDL_FORMATS_NUMBER_H
#define TDL_FORMATS_NUMBER_H

typedef enum NumberFault {
    NUMBER_FINE,
    NUMBER_NOT,   // no number
    NUMBER_UNIT,  // a number with something behind it, such as "3.5 GPa"
    NUMBER_LARGE, // too large for a double or an int
    NUMBER_SMALL, // not zero, but too small for a double
} NumberFault;
NumberFault parse_real(const char* text, double* out);
NumberFault parse_int(const char* text, int* out);

#endif
