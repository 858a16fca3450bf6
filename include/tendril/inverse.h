// Rods found from shapes: piecewise helices through given points.
#ifndef TENDRIL_INVERSE_H
#define TENDRIL_INVERSE_H

#include "tendril/math.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- a helix from its ends --------------------------------------------------------------------

/// A helix that turns by less than 2 pi. Its tangent turns by exp([turn]x) from start to end, and
/// so does any frame that a rod carries along it: R1 = exp([turn]x) R0, curvature = R0' turn /
/// length.
typedef struct TdlShortHelix {
    TdlVec3 turn;   // rad, the rotation vector of the whole helix, in world axes
    double length;  // m
    double miss;    // m, by how much d was moved along t1 - t0
    bool converged; // false: there is no such helix, or the input is not finite; turn may be zero
} TdlShortHelix;

/// The one short helix that begins with the tangent t0, ends with t1, and whose end lies d (m) from
/// its start. Tangents need not be of length 1. There is one when d is across t1 - t0: otherwise
/// d is moved along t1 - t0 until it is, by `miss`. Opposite tangents give half a circle; tangents
/// that are equal, to 1e-12, a straight piece when d is parallel to them and nothing otherwise.
TDL_API TdlShortHelix tdl_helix_between(TdlVec3 d, TdlVec3 t0, TdlVec3 t1);

// --- piecewise helices along a curve ----------------------------------------------------------

typedef enum TdlFitMethod {
    TDL_FIT_FLOATING = 0, // places and tangents of the nodes move: third order
    TDL_FIT_S4, // only places move; second order, and turns at inflections: to compare with
} TdlFitMethod;

typedef enum TdlSmoothing {
    TDL_SMOOTHING_NONE = 0,         // the curve goes through the points
    TDL_SMOOTHING_NOISE,            // it leaves them by `noise`
    TDL_SMOOTHING_CROSS_VALIDATION, // it leaves them by what the points themselves say
} TdlSmoothing;

typedef struct TdlFitOptions {
    TdlFitMethod method; // default TDL_FIT_FLOATING
    int element_count;   // elements, 1 or more; with a tolerance, the most. Default 1
    double tolerance;    // m; the fewest elements whose error is below it. Default 0: all of them
    TdlSmoothing smoothing; // default TDL_SMOOTHING_NONE
    double noise;           // m, root mean square distance of the points from the curve, above 0
    bool closed;            // the curve comes back to its first point. Default false
    bool least_squares; // look for a nearer rod where elements turn by more than 0.1 rad, in ten
                        // times the time. Default false; not for closed curves
} TdlFitOptions;

/// A fit of one element through the points, open.
TDL_API TdlFitOptions tdl_fit_options_default(void);

/// The rod whose centreline follows a polyline.
typedef struct TdlHelixFit {
    TdlPose start;   // place and material frame of the first point
    double length;   // m, of the rod; elements are equally long
    double error;    // m, the largest distance from the curve at the same part of the length
    double smoothed; // m, root mean square distance of the points from the curve
    double turning;  // rad, how far the tangent turns along the rod: the integral of the curvature
    int element_count; // as many curvatures were told
    int arc_count;     // elements whose helix would have turned too far: they are plain arcs
} TdlHelixFit;

/// Fits helices of equal length to a smooth curve through or near the points and tells their
/// curvatures, 1/m: (twist, k1, k2) in curvature[options->element_count]. An open rod starts and
/// ends where the curve does. Points that coincide with their neighbour do not count. BAD_ARGUMENT
/// when fewer than two are left (three of a closed curve), when one is not finite, or when an
/// option is out of its range.
TDL_API TdlStatus tdl_helix_fit(const TdlHost* host, const TdlVec3* points, int count,
                                const TdlFitOptions* options, TdlVec3* curvature, TdlHelixFit* out);

/// The same from points and tangents at the ends of the elements, which are options->element_count
/// pieces of a curve of the given length (m), equally long: [element_count + 1] of each. What is a
/// chain of short helices already is found as it is. Smoothing and tolerance must be off. The error
/// is the largest distance from the points given.
TDL_API TdlStatus tdl_helix_fit_samples(const TdlHost* host, const TdlVec3* points,
                                        const TdlVec3* tangents, double length,
                                        const TdlFitOptions* options, TdlVec3* curvature,
                                        TdlHelixFit* out);

/// The super-clothoid along a curve: curvature[element_count + 1] at the ends of its elements, in a
/// frame that does not twist, so that the curvatures join. Fourth order in the length of an
/// element. The method of the options does not matter; a tolerance and closed curves are refused.
TDL_API TdlStatus tdl_clothoid_fit(const TdlHost* host, const TdlVec3* points, int count,
                                   const TdlFitOptions* options, TdlVec3* curvature,
                                   TdlHelixFit* out);

#ifdef __cplusplus
}
#endif

#endif
