// Expressions in x, y and z, for implicit surfaces: value, derivatives and bounds.
#ifndef TDL_FORMATS_EXPRESSION_H
#define TDL_FORMATS_EXPRESSION_H

#include "tendril/collider.h"

typedef struct ExpressionFault {
    char what[96]; // empty: there was no memory
    int place;     // bytes into the text
} ExpressionFault;

// Sets functions and data of `out`, which tdl_implicit_free gives back. Returns null, or what is
// wrong.
const char* expression_parse(const TdlHost* host, const char* text, TdlImplicit* out,
                             ExpressionFault* fault);

#endif
