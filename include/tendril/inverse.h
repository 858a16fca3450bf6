// Rods found from shapes: piecewise helices through given points.
#ifndef TENDRIL_INVERSE_H
#define TENDRIL_INVERSE_H

#include "tendril/math.h"
#include "tendril/rod.h"

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

// --- framing -----------------------------------------------------------------------------------

/// The material frames at the joints of a piecewise helix whose elements turn by the rotation
/// vectors turns[element_count], rad, in the axes of the world; frames[element_count + 1]. And its
/// curvatures, 1/m, in curvature[element_count]. Either may be null.
TDL_API TdlStatus tdl_helix_frames(TdlMat3 start, const TdlVec3* turns, int element_count,
                                   double element_length, TdlMat3* frames, TdlVec3* curvature);

/// A centreline of which the material frame is sought: it is known in any frame that has the
/// tangent as its first axis. All arrays are told at places spread evenly from start to end.
typedef struct TdlFramingDef {
    double length;            // m
    int count;                // of places: odd, 3 or more
    const TdlVec3* reference; // [count] 1/m: (twist, k1, k2) of the known frame
    const TdlVec3* natural;   // [count] 1/m: natural curvature in the material frame
    TdlVec3 stiffness;        // N m^2, > 0: GJ, EI1, EI2
    double start;             // rad, from the known frame to the material one at the clamp
} TdlFramingDef;

/// One way in which the sections of a rod are in balance about its centreline.
typedef struct TdlFraming {
    double energy;    // J, elastic
    double residual;  // largest torque a length that is not balanced, over the largest there may be
    int saddle_count; // directions in which the energy falls; 0: it is a minimum
    int solution_count; // ways that were found
    bool complete;      // no other way was missed, as far as the places tell
} TdlFraming;

/// Finds the angle theta[count] from the known frame to the material one: (twist, k1, k2) turn by
/// it as in the theory's (V.82). Of several ways, `rank` 0 is the one with the least energy.
/// BAD_ARGUMENT when there are not that many, or the definition makes no sense.
TDL_API TdlStatus tdl_framing_solve(const TdlHost* host, const TdlFramingDef* def, int rank,
                                    double* theta, TdlFraming* out);

/// A centreline with its material frame, as a rod that is clamped at its start is to rest in.
typedef struct TdlFramedCurve {
    double length;            // m
    int count;                // of places, spread evenly from start to end; 2 or more
    const TdlPose* pose;      // [count] place and frame
    const TdlVec3* curvature; // [count] 1/m, of that frame
    TdlVec3 stiffness;        // N m^2, > 0: GJ, EI1, EI2
    double line_density;      // kg/m, >= 0
    const TdlRodLoad* loads;  // [load_count]
    int load_count;
} TdlFramedCurve;

/// The natural curvature at the places, natural[count], 1/m, with which the curve is in
/// equilibrium.
TDL_API TdlStatus tdl_curve_natural(const TdlFramedCurve* curve, TdlVec3 gravity, TdlVec3* natural);

#ifdef __cplusplus
}
#endif

#endif
