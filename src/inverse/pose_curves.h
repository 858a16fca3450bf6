// Poses of a fibre of which only the centreline is known, ready for a search. See pose_search.c.
#ifndef TDL_INVERSE_POSE_CURVES_H
#define TDL_INVERSE_POSE_CURVES_H

#include "inverse/pose_stiffness.h"

// One pose: its points, and the strand that is to lie along them.
typedef struct PoseCurve {
    int count;
    const TdlVec3* points; // [count] none twice in a row
    double* at;            // [count] m, where on the strand they are
    TdlMat3* axes;         // [count] the curve's tangent there, and what is across it
    double smoothed;       // m, root mean square distance of the points from a smooth curve
    TdlVec3 gravity;
    TdlStrand strand;
    TdlVec3* curvature; // that of the strand: a twistless frame's, at first
    TdlRodLoad end_force;
} PoseCurve;

// Fits a curve to the points of each pose and gives all strands one length; where they share a
// clamp their frames begin as that of the first. BAD_ARGUMENT with a message, NO_MEMORY.
TdlStatus pose_curves_make(const TdlHost* host, Arena* arena, const TdlCurvePose* poses, int count,
                           const TdlCurvePoseOptions* options, PoseCurve* out);

// (k1, k2) seen from a frame that is turned about the tangent by an angle. (V.82)
static inline TdlVec3 pose_turned(TdlVec3 kappa, double angle) {
    double c = cos(angle), s = sin(angle);
    return (TdlVec3){kappa.x, c * kappa.y + s * kappa.z, c * kappa.z - s * kappa.y};
}

// The angle about the tangent by which bends look most like those of the first pose; and bends, and
// a frame (or null), turned by it.
double pose_spin(const TdlVec3* first, const TdlVec3* own, int count);
void pose_spin_frame(double angle, int count, TdlVec3* kappa, TdlMat3* R);

#endif
