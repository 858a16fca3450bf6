// SVG: what every picture we write as text has in common.
#ifndef TDL_APP_SVG_H
#define TDL_APP_SVG_H

#include <stdio.h>

// Opens a picture of the given size in pixels on white; svg_close ends it.
void svg_open(FILE* out, int width, int height);
void svg_close(FILE* out);

// Text as content or attribute of an element: escaped, and what XML forbids becomes '?'.
void svg_text(FILE* out, const char* text);

#endif
