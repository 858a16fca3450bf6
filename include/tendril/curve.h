// Curves with a radius: segments, helices, clothoids, Beziers and kinds of one's own.
#ifndef TENDRIL_CURVE_H
#define TENDRIL_CURVE_H

#include "tendril/math.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TdlCurveKind {
    TDL_CURVE_SEGMENT = 0, // parameter: arc length
    TDL_CURVE_HELIX,       // constant curvature vector; parameter: arc length
    TDL_CURVE_CLOTHOID,    // curvature vector linear in arc length; parameter: arc length
    TDL_CURVE_BEZIER,      // degree two or three; parameter in [0, 1]
    TDL_CURVE_USER,        // a kind of one's own
} TdlCurveKind;

/// A curve kind of one's own: all that the search asks of a curve. The curve must be twice
/// differentiable but at finitely many points, and `second_bound` must hold for the derivative's
/// rate of change between any two parameters of the interval.
typedef struct TdlCurveFunctions {
    TdlVec3 (*position)(const void* user, double s);
    TdlVec3 (*derivative)(const void* user, double s);
    double (*second_bound)(const void* user, double s0, double s1); // >= |second derivative|
} TdlCurveFunctions;

/// What a curve's kind keeps. C++ allows no struct to be declared inside a nameless union.
typedef struct TdlCurveHelix {
    TdlVec3 t, e1, e2; // tangent at 0, w x t, w x (w x t)
    TdlVec3 w;         // Darboux vector, 1/m: the tangent turns about it
    double w2, bend;   // |w|^2, curvature |w x t|
} TdlCurveHelix;

typedef struct TdlCurvePoly {
    TdlVec3 c1, c2, c3; // origin + c1 s + c2 s^2 + c3 s^3
} TdlCurvePoly;

typedef struct TdlCurveClothoid {
    TdlVec3 kappa, slope; // curvature vector at 0, and its rate of change
    TdlPose node[4];      // places (from the origin) and frames at (2i + 1)/8 of the length
} TdlCurveClothoid;

typedef struct TdlCurveUser {
    const TdlCurveFunctions* functions;
    const void* data;
} TdlCurveUser;

/// A curve over the parameters [0, end], with a radius that runs linearly from radius[0] to
/// radius[1]. A value: made by the functions below, which check it; copied freely. What its fields
/// after `radius` hold depends on the kind.
typedef struct TdlCurve {
    TdlCurveKind kind;
    double end;
    double radius[2]; // m, >= 0; default 0
    TdlVec3 origin;   // the point of parameter 0
    union {
        TdlCurveHelix helix; // also the segment, with w = 0
        TdlCurvePoly poly;
        TdlCurveClothoid clothoid;
        TdlCurveUser user;
    };
} TdlCurve;

/// From one end to the other; both may be the same point.
TDL_API TdlStatus tdl_curve_segment(const TdlHost* host, TdlVec3 from, TdlVec3 to, TdlCurve* out);

/// From `start`, whose rotation's columns are tangent, first and second normal, with the constant
/// curvature vector kappa = (twist, k1, k2) in that frame: R' = R [kappa]x.
TDL_API TdlStatus tdl_curve_helix(const TdlHost* host, TdlPose start, TdlVec3 kappa, double length,
                                  TdlCurve* out);

/// The same with a curvature vector that runs linearly from `kappa` to `kappa_end`.
TDL_API TdlStatus tdl_curve_clothoid(const TdlHost* host, TdlPose start, TdlVec3 kappa,
                                     TdlVec3 kappa_end, double length, TdlCurve* out);

TDL_API TdlStatus tdl_curve_quadratic(const TdlHost* host, const TdlVec3 control[3], TdlCurve* out);
TDL_API TdlStatus tdl_curve_cubic(const TdlHost* host, const TdlVec3 control[4], TdlCurve* out);

/// Over [0, end]. `functions` and `data` must outlive the curve.
TDL_API TdlStatus tdl_curve_user(const TdlHost* host, const TdlCurveFunctions* functions,
                                 const void* data, double end, TdlCurve* out);

TDL_API TdlStatus tdl_curve_set_radius(const TdlHost* host, double at_start, double at_end,
                                       TdlCurve* curve);

TDL_API TdlVec3 tdl_curve_point(const TdlCurve* curve, double s);
TDL_API TdlVec3 tdl_curve_derivative(const TdlCurve* curve, double s);
TDL_API double tdl_curve_second_bound(const TdlCurve* curve, double s0, double s1);
TDL_API double tdl_curve_radius(const TdlCurve* curve, double s);

/// One piece of a chain of curves: constant curvature vector (twist, k1, k2) over its length.
typedef struct TdlCurvePiece {
    double length;     // m, > 0
    TdlVec3 curvature; // 1/m
} TdlCurvePiece;

/// Where a fibre of curves holds itself off what it lies along: its seats.
/// docs/theory/distance.md (X.36)
typedef enum TdlSeats {
    TDL_SEATS_NONE = 0,
    TDL_SEATS_MIDDLES, // of elements of one curvature
    TDL_SEATS_JOINTS,  // of elements whose curvature is linear and goes on over the joints
} TdlSeats;

#ifdef __cplusplus
}
#endif

#endif
