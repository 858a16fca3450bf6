// What all fits share: options, the curve, and what is said of a rod.
#ifndef TDL_INVERSE_FIT_CURVE_H
#define TDL_INVERSE_FIT_CURVE_H

#include "inverse/spline.h"
#include "tendril/inverse.h"

// The curve of the points and options: knots, parameter, smoothing, slopes, lengths. `passes` is
// how often the parameter becomes the arc length of the curve before. (V.9)
TdlStatus fit_curve(Arena* arena, const TdlVec3* points, int count, const TdlFitOptions* options,
                    int passes, Spline* out, double* smoothed);

#endif
