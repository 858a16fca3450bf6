// Rotations: exp, log, left Jacobian, frames. docs/theory/rotations.md
//
// Everything that is analytic in q is written with the functions c_k(|q|^2), which have no
// singularity at 0 and no cancellation, so one formula serves all angles. Errors are a few
// roundings plus |q| eps, the effect of one rounding in the angle. The logarithm goes through a
// quaternion, whose largest component is found first; this keeps all digits up to angle pi.
#include "math/rotation.h"

// tan(angle/2) below which 2 atan2(|v|, w)/|v| is replaced by its series; |v| may underflow there.
static const double SMALL_SINE = 1.0e-8;

// Sine of the angle to the tangent below which a hint has too few digits left to be one.
static const double HINT_PARALLEL = 1.0e-10;

// a I + b [q]x + c [q]x^2
static TdlMat3 skew_polynomial(TdlVec3 q, double a, double b, double c) {
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = c * q.x * q.y, xz = c * q.x * q.z, yz = c * q.y * q.z;
    return (TdlMat3){{a - c * (yy + zz), xy + b * q.z, xz - b * q.y},
                     {xy - b * q.z, a - c * (xx + zz), yz + b * q.x},
                     {xz + b * q.y, yz - b * q.x, a - c * (xx + yy)}};
}

TdlMat3 tdl_rotation_exp(TdlVec3 q) {
    double c[8];
    tdl_c_series(tdl_dot3(q, q), c);
    return skew_polynomial(q, 1.0, c[1], c[2]);
}

TdlMat3 tdl_left_jacobian(TdlVec3 q) {
    double c[8];
    tdl_c_series(tdl_dot3(q, q), c);
    return skew_polynomial(q, 1.0, c[2], c[3]);
}

TdlMat3 tdl_left_jacobian_inverse(TdlVec3 q) {
    double c[8];
    tdl_c_series(tdl_dot3(q, q), c);
    return skew_polynomial(q, 1.0, -0.5, (c[3] - 2.0 * c[4]) / (2.0 * c[2]));
}

TdlMat3 tdl_left_jacobian_derivative(TdlVec3 q, TdlVec3 d) {
    double c[8];
    tdl_c_series(tdl_dot3(q, q), c);
    double sigma = tdl_dot3(q, d);

    // the coefficients change with y = q.q ...
    double b = sigma * (2.0 * c[4] - c[3]), e = sigma * (3.0 * c[5] - c[4]);
    TdlMat3 jd = skew_polynomial(q, 0.0, b, e);

    // ... and the matrices with q: [q]x [d]x + [d]x [q]x = q d' + d q' - 2 sigma I
    jd = tdl_axpy33(jd, c[2], tdl_skew3(d));
    jd = tdl_axpy33(jd, c[3], tdl_add33(tdl_outer3(q, d), tdl_outer3(d, q)));
    return tdl_axpy33(jd, -2.0 * sigma * c[3], tdl_identity33());
}

// The quaternion of r times some positive factor. Of its four squares, read off the diagonal,
// the largest is at least 1/4 and divides the others. (R.9)
static void quaternion_of(TdlMat3 r, TdlVec3* v, double* w) {
    double ww = 1.0 + r.cx.x + r.cy.y + r.cz.z, xx = 1.0 + r.cx.x - r.cy.y - r.cz.z;
    double yy = 1.0 - r.cx.x + r.cy.y - r.cz.z, zz = 1.0 - r.cx.x - r.cy.y + r.cz.z;
    double wx = r.cy.z - r.cz.y, wy = r.cz.x - r.cx.z, wz = r.cx.y - r.cy.x;
    double xy = r.cx.y + r.cy.x, xz = r.cx.z + r.cz.x, yz = r.cy.z + r.cz.y;
    if (ww >= xx && ww >= yy && ww >= zz) {
        *v = (TdlVec3){wx, wy, wz};
        *w = ww;
    } else if (xx >= yy && xx >= zz) {
        *v = (TdlVec3){xx, xy, xz};
        *w = wx;
    } else if (yy >= zz) {
        *v = (TdlVec3){xy, yy, yz};
        *w = wy;
    } else {
        *v = (TdlVec3){xz, yz, zz};
        *w = wz;
    }
    if (*w < 0.0) {
        *v = tdl_scale3(-1.0, *v);
        *w = -*w;
    }
}

TdlVec3 tdl_rotation_log(TdlMat3 r) {
    TdlVec3 v;
    double w;
    quaternion_of(r, &v, &w);
    double sine = tdl_norm3(v);
    if (sine < SMALL_SINE * w) {
        return tdl_scale3(2.0 / w * (1.0 - sine * sine / (3.0 * w * w)), v);
    }
    return tdl_scale3(2.0 * atan2(sine, w) / sine, v);
}

TdlVec3 tdl_unit3(TdlVec3 a) {
    double largest = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
    if (!(largest > 0.0) || !isfinite(largest)) {
        return (TdlVec3){1.0, 0.0, 0.0};
    }

    // a power of two keeps the direction to the last bit and the square in range
    int exponent;
    frexp(largest, &exponent);
    a = (TdlVec3){ldexp(a.x, -exponent), ldexp(a.y, -exponent), ldexp(a.z, -exponent)};
    double length = tdl_norm3(a);
    return (TdlVec3){a.x / length, a.y / length, a.z / length};
}

// The part of b orthogonal to the unit vector t, taken twice so that it is orthogonal to rounding
// even when little of b is left.
static TdlVec3 orthogonal_part(TdlVec3 t, TdlVec3 b) {
    b = tdl_unit3(tdl_axpy3(b, -tdl_dot3(t, b), t));
    return tdl_unit3(tdl_axpy3(b, -tdl_dot3(t, b), t));
}

TdlMat3 tdl_frame_from_tangent(TdlVec3 tangent) {
    TdlVec3 t = tdl_unit3(tangent);

    // the axis farthest from the tangent
    double x = fabs(t.x), y = fabs(t.y), z = fabs(t.z);
    TdlVec3 axis = {0.0, 0.0, 1.0};
    if (y <= x && y <= z) {
        axis = (TdlVec3){0.0, 1.0, 0.0};
    } else if (x <= y && x <= z) {
        axis = (TdlVec3){1.0, 0.0, 0.0};
    }
    TdlVec3 n = orthogonal_part(t, axis);
    return (TdlMat3){t, n, tdl_cross3(t, n)};
}

TdlMat3 tdl_frame_from_tangent_hint(TdlVec3 tangent, TdlVec3 hint) {
    TdlVec3 t = tdl_unit3(tangent), h = tdl_unit3(hint);
    bool none = hint.x == 0.0 && hint.y == 0.0 && hint.z == 0.0;
    if (none || !(tdl_norm3(tdl_cross3(t, h)) > HINT_PARALLEL)) {
        return tdl_frame_from_tangent(tangent);
    }
    TdlVec3 n = orthogonal_part(t, h);
    return (TdlMat3){t, n, tdl_cross3(t, n)};
}

TdlMat3 tdl_rotation_nearest(TdlMat3 r) {
    // Newton's iteration for the polar factor: quadratic near a rotation, halving far from one
    enum { MAX_STEPS = 60 };
    for (int step = 0; step < MAX_STEPS; ++step) {
        double det = tdl_det33(r);
        if (!(det > 0.0) || !isfinite(det)) {
            return tdl_frame_from_tangent_hint(r.cx, r.cy);
        }
        TdlMat3 cofactors = {tdl_cross3(r.cy, r.cz), tdl_cross3(r.cz, r.cx),
                             tdl_cross3(r.cx, r.cy)};
        TdlMat3 next = tdl_axpy33(tdl_scale33(0.5, r), 0.5 / det, cofactors);
        TdlMat3 change = tdl_sub33(next, r);
        double size = tdl_dot3(change.cx, change.cx) + tdl_dot3(change.cy, change.cy) +
                      tdl_dot3(change.cz, change.cz);
        r = next;
        if (size < 1.0e-18) { // the error left is the square of the change: 1e-18
            break;
        }
    }
    return r;
}

bool tdl_pose_is_good(TdlPose pose) {
    TdlMat3 r = pose.rotation, gram = tdl_sub33(tdl_tmul33(r, r), tdl_identity33());
    double defect = fabs(tdl_det33(r) - 1.0);
    defect += tdl_norm3(gram.cx) + tdl_norm3(gram.cy) + tdl_norm3(gram.cz);
    return tdl_finite3(pose.position) && defect < 1.0e-9;
}
