// Curves from files of other programs: .hair, Wavefront .obj polylines, .csv.
#ifndef TDL_FORMATS_CURVES_H
#define TDL_FORMATS_CURVES_H

#include "tendril/formats.h"

typedef enum CurveFormat {
    CURVES_HAIR = 0,
    CURVES_OBJ,
    CURVES_CSV,
} CurveFormat;

// The format by the ending of a path; false when it is none of them.
bool curves_format(const char* path, CurveFormat* out);

// Reads curves from the bytes of a file, which has a zero byte behind it and which messages call
// `name`. On TDL_STATUS_BAD_INPUT one message was logged. Every curve has two points or more,
// all coordinates are finite and at most PLACE_MAX (obj.h) in size.
TdlStatus curves_parse(const TdlHost* host, const char* name, CurveFormat format, const char* data,
                       size_t size, TdlCurves* out);

#endif
