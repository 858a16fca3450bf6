// Evaluation of curves, inlined where the search spends its time. Places are relative to the
// curve's origin, so that digits are not lost far from the world's. docs/theory/distance.md
#ifndef TDL_CURVE_CURVE_H
#define TDL_CURVE_CURVE_H

#include "math/rotation.h"
#include "tendril/detect.h"

// A point of a curve with its derivatives.
typedef struct CurvePoint {
    TdlVec3 p, d1, d2; // place from the origin, first and second derivative
} CurvePoint;

// Place and derivatives of the kinds that are not helices.
CurvePoint curve_eval_other(const TdlCurve* curve, double s);

// c2 and c3 of rotations.md (R.1) for 0 <= y < 2.5, to 1e-17
static inline void curve_c23(double y, double* c2, double* c3) {
    static const double r2[10] = {1.0 / 12,  1.0 / 30,  1.0 / 56,  1.0 / 90,  1.0 / 132,
                                  1.0 / 182, 1.0 / 240, 1.0 / 306, 1.0 / 380, 1.0 / 462};
    static const double r3[10] = {1.0 / 20,  1.0 / 42,  1.0 / 72,  1.0 / 110, 1.0 / 156,
                                  1.0 / 210, 1.0 / 272, 1.0 / 342, 1.0 / 420, 1.0 / 506};
    double p2 = 1.0, p3 = 1.0;
    for (int n = 9; n >= 0; --n) {
        p2 = 1.0 - (y * r2[n]) * p2;
        p3 = 1.0 - (y * r3[n]) * p3;
    }
    *c2 = p2 * 0.5;
    *c3 = p3 * (1.0 / 6.0);
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
    return (CurvePoint){tdl_axpy3(tdl_axpy3(tdl_scale3(s, t), f2, e1), f3, e2),
                        tdl_axpy3(tdl_axpy3(t, f1, e1), f2, e2),
                        tdl_axpy3(tdl_scale3(c0, e1), f1, e2)};
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

// Whether all numbers of the curve are finite.
bool curve_finite(const TdlCurve* curve);

#endif
