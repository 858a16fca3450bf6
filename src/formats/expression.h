// Expressions in x, y and z, for implicit surfaces: value, derivatives and bounds. And in t.
#ifndef TDL_FORMATS_EXPRESSION_H
#define TDL_FORMATS_EXPRESSION_H

#include "tendril/collider.h"
#include "tendril/motion.h"

enum { FAULT_SIZE = 160, TIME_PARTS = 6 };

typedef struct ExpressionFault {
    char what[FAULT_SIZE]; // empty: there was no memory
    int place;             // bytes into the text
    int part;              // of a function of the time: which of its texts
} ExpressionFault;

// Sets functions and data of `out`, which tdl_implicit_free gives back. Returns null, or what is
// wrong.
const char* expression_parse(const TdlHost* host, const char* text, TdlImplicit* out,
                             ExpressionFault* fault);

// The same of the three numbers of each of the two vectors of a function of the time, each an
// expression in t; a null text is 0. tdl_time_fn_free gives the data back.
const char* expression_parse_time(const TdlHost* host, const char* const text[TIME_PARTS],
                                  TdlTimeFn* out, ExpressionFault* fault);

#endif
