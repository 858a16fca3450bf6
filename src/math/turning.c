// Newton's method with halving on three equations; a solution always exists. rigid.md (B.6), (B.7)
#include "math/turning.h"

#include "math/rotation.h"

#include <float.h>

enum { NEWTON_LIMIT = 50, HALVING_LIMIT = 30 };

// The matrix m^-1 applied to b, by Cramer's rule; m is a rotation times a positive matrix or near.
static TdlVec3 solve_33(TdlMat3 m, TdlVec3 b) {
    double det = tdl_det33(m);
    TdlVec3 x = {tdl_dot3(b, tdl_cross3(m.cy, m.cz)), tdl_dot3(b, tdl_cross3(m.cz, m.cx)),
                 tdl_dot3(b, tdl_cross3(m.cx, m.cy))};
    return tdl_scale3(1.0 / det, x);
}

static TdlVec3 misfit(TdlMat3 J, TdlVec3 w, double h, TdlVec3 l) {
    TdlMat3 turn = tdl_rotation_exp(tdl_scale3(h, w));
    return tdl_sub3(tdl_mul33_3(turn, tdl_mul33_3(J, w)), l);
}

TdlVec3 tdl_turning_rate(TdlMat3 J, TdlVec3 l, TdlVec3 guess, double h) {
    TdlVec3 w = guess, f = misfit(J, w, h, l);
    double size = tdl_norm3(f), noise = 4.0 * DBL_EPSILON * tdl_norm3(l);
    for (int i = 0; i < NEWTON_LIMIT && size > noise; ++i) {
        TdlVec3 q = tdl_scale3(h, w), y = tdl_add3(f, l);
        TdlMat3 slope = tdl_axpy33(tdl_mul33(tdl_rotation_exp(q), J), -h,
                                   tdl_mul33(tdl_skew3(y), tdl_left_jacobian(q)));
        TdlVec3 step = solve_33(slope, f);
        double share = 1.0, was = size;
        for (int k = 0; k < HALVING_LIMIT; ++k, share *= 0.5) {
            TdlVec3 next = tdl_axpy3(w, -share, step), g = misfit(J, next, h, l);
            if (tdl_norm3(g) < size) {
                w = next;
                f = g;
                size = tdl_norm3(g);
                break;
            }
        }
        if (!(size < was)) {
            break; // at rounding, or nowhere lower
        }
    }
    return w;
}
