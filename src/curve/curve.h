// Evaluation of curves, inlined where the search spends its time. Places are relative to the
// curve's origin, so that digits are not lost far from the world's. docs/theory/distance.md
#ifndef TDL_CURVE_CURVE_H
#define TDL_CURVE_CURVE_H

#include "math/rotation.h"
#include "tendril/curve.h"

// A point of a curve with its derivatives.
typedef struct CurvePoint {
    TdlVec3 p, d1, d2; // place from the origin, first and second derivative
} CurvePoint;

// Place and derivatives of the kinds that are not helices.
CurvePoint curve_eval_other(const TdlCurve* curve, double s);

// a b + c, fused where the processor can: only the last bits depend on it
static inline double curve_fma(double a, double b, double c) {
#ifdef __FMA__
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

static inline double curve_dot(TdlVec3 a, TdlVec3 b) {
    return curve_fma(a.z, b.z, curve_fma(a.y, b.y, a.x * b.x));
}

// a + s b
static inline TdlVec3 curve_axpy(TdlVec3 a, double s, TdlVec3 b) {
    return (TdlVec3){curve_fma(s, b.x, a.x), curve_fma(s, b.y, a.y), curve_fma(s, b.z, a.z)};
}

static inline TdlVec3 curve_cross(TdlVec3 a, TdlVec3 b) {
    return (TdlVec3){curve_fma(a.y, b.z, -(a.z * b.y)), curve_fma(a.z, b.x, -(a.x * b.z)),
                     curve_fma(a.x, b.y, -(a.y * b.x))};
}

// sum of k[n] y^n for n = 0..10, as a tree: short chains of operations
static inline double curve_sum11(const double k[11], double y, double y2, double y4) {
    double low = curve_fma(y2, curve_fma(k[3], y, k[2]), curve_fma(k[1], y, k[0]));
    double mid = curve_fma(y2, curve_fma(k[7], y, k[6]), curve_fma(k[5], y, k[4]));
    double top = curve_fma(y2, k[10], curve_fma(k[9], y, k[8]));
    return curve_fma(y4, curve_fma(y4, top, mid), low);
}

// c2 and c3 of rotations.md (R.1) for 0 <= y < 2.5: the first term left out is below 1e-18
static inline void curve_c23(double y, double* c2, double* c3) {
    static const double k2[11] = {1.0 / 2,
                                  -1.0 / 24,
                                  1.0 / 720,
                                  -1.0 / 40320,
                                  1.0 / 3628800,
                                  -1.0 / 479001600,
                                  1.0 / 87178291200,
                                  -1.0 / 20922789888000,
                                  1.0 / 6402373705728000,
                                  -1.0 / 2432902008176640000,
                                  1.0 / 1124000727777607680000.0};
    static const double k3[11] = {1.0 / 6,
                                  -1.0 / 120,
                                  1.0 / 5040,
                                  -1.0 / 362880,
                                  1.0 / 39916800,
                                  -1.0 / 6227020800,
                                  1.0 / 1307674368000,
                                  -1.0 / 355687428096000,
                                  1.0 / 121645100408832000,
                                  -1.0 / 51090942171709440000.0,
                                  1.0 / 25852016738884976640000.0};
    double y2 = y * y, y4 = y2 * y2;
    *c2 = curve_sum11(k2, y, y2, y4);
    *c3 = curve_sum11(k3, y, y2, y4);
}

// a = s t + s^2 c2 e1 + s^3 c3 e2. (X.2)
static inline CurvePoint curve_eval_helix(const TdlCurve* curve, double s) {
    double s2 = s * s, y = curve->helix.w2 * s2, c2, c3;
    if (y < 2.5) {
        curve_c23(y, &c2, &c3);
    } else {
        double c[8];
        tdl_c_series(y, c);
        c2 = c[2];
        c3 = c[3];
    }
    double c0 = 1.0 - y * c2, f1 = s * (1.0 - y * c3), f2 = s2 * c2, f3 = s2 * s * c3;
    const TdlVec3 t = curve->helix.t, e1 = curve->helix.e1, e2 = curve->helix.e2;
    return (CurvePoint){curve_axpy(curve_axpy(tdl_scale3(s, t), f2, e1), f3, e2),
                        curve_axpy(curve_axpy(t, f1, e1), f2, e2),
                        curve_axpy(tdl_scale3(c0, e1), f1, e2)};
}

static inline bool curve_is_helix(const TdlCurve* curve) {
    return curve->kind <= TDL_CURVE_HELIX;
}

static inline CurvePoint curve_eval(const TdlCurve* curve, double s) {
    return curve_is_helix(curve) ? curve_eval_helix(curve, s) : curve_eval_other(curve, s);
}

// A bound on |second derivative| over [s0, s1].
static inline double curve_bend(const TdlCurve* curve, double s0, double s1) {
    return curve_is_helix(curve) ? curve->helix.bend : tdl_curve_second_bound(curve, s0, s1);
}

// What rounding may add to a place or, per unit of length, to a derivative, relative to the size of
// the curve. (X.3)
double curve_rounding(const TdlCurve* curve);

// A length that no place of the curve, taken from its origin, exceeds.
double curve_size(const TdlCurve* curve);

// Whether all numbers of the curve are finite, the rate of its radius too.
bool curve_finite(const TdlCurve* curve);

// The curve as carried along by a pose: a curve of the user's own kind cannot be.
TdlCurve curve_moved(const TdlCurve* curve, TdlPose pose);

// Pieces of constant curvature, end to end from `start`, as tubes of the given radius: out[count].
// `who` names the owner in messages.
TdlStatus curve_chain(const TdlHost* host, const char* who, TdlPose start,
                      const TdlCurvePiece* pieces, int count, double radius, TdlCurve* out);

#endif
