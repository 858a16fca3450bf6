// Rods found from shapes: piecewise helices through given points.
#ifndef TENDRIL_INVERSE_H
#define TENDRIL_INVERSE_H

#include "tendril/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The super-helix whose centreline follows a polyline.
typedef struct TdlHelixFit {
    TdlPose start; // place and material frame of the first point
    double length; // m, of the curve through the points, and of the rod
    double error;  // m, the largest distance from the curve at the same arc length
} TdlHelixFit;

/// Fits `element_count` helices of equal length to a smooth curve through the points and tells
/// their curvatures, 1/m: (twist, k1, k2) in curvature[element_count]. Points that coincide with
/// their neighbour do not count. BAD_ARGUMENT when they all coincide, when one is not finite, or
/// when there is no point or no element.
TDL_API TdlStatus tdl_helix_fit(const TdlHost* host, const TdlVec3* points, int count,
                                int element_count, TdlVec3* curvature, TdlHelixFit* out);

#ifdef __cplusplus
}
#endif

#endif
