// Rotations of space: exponential, logarithm, left Jacobian and its derivative, and orthonormal
// frames. The formulas are derived in docs/theory/rotations.md.
#ifndef TDL_MATH_ROTATION_H
#define TDL_MATH_ROTATION_H

#include "tendril/math.h"

// Below this y = angle^2 the series is used, above it sine and cosine. Measured against quad
// precision for limits from 5 to 16: at 12 the worst error of any c_k is smallest, 5.4 ulp.
#define TDL_C_SERIES_LIMIT 12.0

// Sums c6 and c7 from `terms` ratios of consecutive terms, innermost first. (R.3)
static inline void tdl_c_tail(double y, int terms, double* c6, double* c7) {
    // consecutive terms of c_k differ by the factor -y / ((k+2n-1) (k+2n))
    static const double ratio6[12] = {1.0 / (7 * 8),   1.0 / (9 * 10),  1.0 / (11 * 12),
                                      1.0 / (13 * 14), 1.0 / (15 * 16), 1.0 / (17 * 18),
                                      1.0 / (19 * 20), 1.0 / (21 * 22), 1.0 / (23 * 24),
                                      1.0 / (25 * 26), 1.0 / (27 * 28), 1.0 / (29 * 30)};
    static const double ratio7[12] = {1.0 / (8 * 9),   1.0 / (10 * 11), 1.0 / (12 * 13),
                                      1.0 / (14 * 15), 1.0 / (16 * 17), 1.0 / (18 * 19),
                                      1.0 / (20 * 21), 1.0 / (22 * 23), 1.0 / (24 * 25),
                                      1.0 / (26 * 27), 1.0 / (28 * 29), 1.0 / (30 * 31)};
    double s6 = 1.0, s7 = 1.0;
    for (int n = terms - 1; n >= 0; --n) {
        s6 = 1.0 - (y * ratio6[n]) * s6;
        s7 = 1.0 - (y * ratio7[n]) * s7;
    }
    *c6 = s6 * (1.0 / 720.0);
    *c7 = s7 * (1.0 / 5040.0);
}

// c_k = sum_n (-y)^n / (k + 2n)! for k = 0..7 and y >= 0. rotations.md (R.1)
// c0 = cos t and c1 = sin(t)/t with t = sqrt(y). Every c_k with k >= 2 has full relative
// accuracy; c0 and c1, which change sign, are accurate relative to 1 and to 1/max(1, t).
static inline void tdl_c_series(double y, double c[8]) {
    if (y < TDL_C_SERIES_LIMIT) {
        // the two tails by series, to 1e-18; then downwards, where errors shrink (R.2)
        if (y < 1.0) {
            tdl_c_tail(y, 7, &c[6], &c[7]);
        } else {
            tdl_c_tail(y, 12, &c[6], &c[7]);
        }
        c[5] = 1.0 / 120.0 - y * c[7];
        c[4] = 1.0 / 24.0 - y * c[6];
        c[3] = 1.0 / 6.0 - y * c[5];
        c[2] = 0.5 - y * c[4];
        c[1] = 1.0 - y * c[3];
        c[0] = 1.0 - y * c[2];
        return;
    }
    // half angle, corrected for the rounding of the square root: c2 keeps its digits near 2 pi n
    // (beyond 1e8 rad a double says nothing about the angle, and the correction is left out)
    double t = sqrt(y), slip = y < 1.0e16 ? 0.25 * fma(-t, t, y) / t : 0.0;
    double sine = sin(0.5 * t), cosine = cos(0.5 * t);
    double s = sine + slip * cosine, h = cosine - slip * sine;
    double z = 1.0 / y;
    c[0] = 1.0 - 2.0 * s * s;
    c[1] = 2.0 * s * h / t;
    c[2] = 2.0 * s * s * z;
    c[3] = (1.0 - c[1]) * z;
    c[4] = (0.5 - c[2]) * z;
    c[5] = (1.0 / 6.0 - c[3]) * z;
    c[6] = (1.0 / 24.0 - c[4]) * z;
    c[7] = (1.0 / 120.0 - c[5]) * z;
}

// The rotation by the angle |q| about q. (R.4)
TdlMat3 tdl_rotation_exp(TdlVec3 q);

// The rotation vector of r, with a length in [0, pi]; at pi either of the two. (R.9)
// r may have drifted a little from a rotation.
TdlVec3 tdl_rotation_log(TdlMat3 r);

// J(q) = sum_n [q]x^n / (n+1)!: d/dt exp([q]x) = [J(q) dq/dt]x exp([q]x). (R.5)
// The right Jacobian is its transpose.
TdlMat3 tdl_left_jacobian(TdlVec3 q);

// J(q)^-1. It does not exist for |q| = 2 pi, 4 pi, ... (R.6)
TdlMat3 tdl_left_jacobian_inverse(TdlVec3 q);

// d/dt J(q + t d) at t = 0. (R.8)
TdlMat3 tdl_left_jacobian_derivative(TdlVec3 q, TdlVec3 d);

// The unit vector along a, of any length that is neither zero nor infinite; e_x for a = 0.
TdlVec3 tdl_unit3(TdlVec3 a);

// A right-handed orthonormal frame whose first column points along `tangent`.
TdlMat3 tdl_frame_from_tangent(TdlVec3 tangent);

// The same, with the second column as near to `hint` as it can be. A hint that is zero or
// parallel to the tangent is ignored.
TdlMat3 tdl_frame_from_tangent_hint(TdlVec3 tangent, TdlVec3 hint);

// The rotation nearest to r (its polar factor), for r with a positive determinant; otherwise the
// frame made of its first two columns. (R.10)
TdlMat3 tdl_rotation_nearest(TdlMat3 r);

// Whether a pose has a finite place and a rotation, to 1e-9.
bool tdl_pose_is_good(TdlPose pose);

#endif
