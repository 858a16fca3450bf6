// Noise taken out of points: the smoothing spline. inverse-fit.md (V.12) to (V.14)
#ifndef TDL_INVERSE_SMOOTHING_H
#define TDL_INVERSE_SMOOTHING_H

#include "inverse/spline.h"

// Moves the knots of an open or a closed curve, whose parameter is there, to where the smoothing
// spline has them; the spline through them is then the natural one. The weight is chosen so that
// the root mean square of the distances is `noise`, m, or by cross validation when noise is 0.
// Tells that root mean square. Fewer than 5 knots stay. False when there is no memory.
bool smooth_knots(Arena* arena, Spline* spline, bool closed, double noise, double* moved);

#endif
