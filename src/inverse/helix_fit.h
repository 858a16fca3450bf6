// Piecewise helices through given points: the super-helix whose centreline follows a polyline.
#ifndef TDL_INVERSE_HELIX_FIT_H
#define TDL_INVERSE_HELIX_FIT_H

#include "base/memory.h"
#include "tendril/math.h"

typedef struct HelixFit {
    TdlPose start;         // place and material frame of the first point
    double length;         // m, of the curve through the points, and of the rod
    double error;          // m, the largest distance from the curve at the same arc length
    TdlVec3* curvature_of; // [element_count], 1/m: (twist, k1, k2) of elements of equal length; in
                           // the arena
} HelixFit;

// Fits `element_count` helices of equal length to a smooth curve through the points, which are
// finite; points that coincide with their neighbour do not count. TDL_STATUS_BAD_ARGUMENT when they
// all coincide.
TdlStatus helix_fit(Arena* arena, const TdlVec3* points, int count, int element_count,
                    HelixFit* out);

#endif
