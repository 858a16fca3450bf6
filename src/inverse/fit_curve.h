// What all fits share: options, the curve, and what is said of a rod.
#ifndef TDL_INVERSE_FIT_CURVE_H
#define TDL_INVERSE_FIT_CURVE_H

#include "inverse/spline.h"
#include "tendril/inverse.h"

// Whether all coordinates of a point are ones whose squares are numbers.
bool fit_point_is_good(TdlVec3 point);

// The least length of a curve, m: one over it can be squared.
#define FIT_LENGTH_MIN 1.0e-100

// The most that an element turns, rad: what is above, at cusps and spikes, says where a node
// happens to lie. Two turns.
#define FIT_TURN_MOST 12.566370614359172

// Whether no element of length l turns further.
static inline bool fit_is_sane(double l, int count, const TdlVec3* curvature) {
    bool sane = true;
    for (int i = 0; i < count && sane; ++i) {
        sane = l * tdl_norm3(curvature[i]) <= FIT_TURN_MOST;
    }
    return sane;
}

// The curve of the points and options: knots, parameter, smoothing, slopes, lengths. `passes` is
// how often the parameter becomes the arc length of the curve before. (V.9)
TdlStatus fit_curve(Arena* arena, const TdlVec3* points, int count, const TdlFitOptions* options,
                    int passes, Spline* out, double* smoothed);

#endif
