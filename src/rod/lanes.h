// Four rods side by side: a lane of every number belongs to one rod. Lanes never mix, so what a
// rod computes does not depend on its neighbours. Vector extensions of the compiler, which turn
// into AVX2 where there is AVX2 and into pairs of SSE2 operations elsewhere.
#ifndef TDL_ROD_LANES_H
#define TDL_ROD_LANES_H

#include "tendril/math.h"

// Everything here is inlined, so how wide vectors would be passed does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

enum { LANE_COUNT = 4 };

typedef double Lane __attribute__((vector_size(32)));
typedef long long LaneMask __attribute__((vector_size(32))); // all bits or none

typedef struct LaneVec {
    Lane x, y, z;
} LaneVec;

typedef struct LaneMat {
    LaneVec cx, cy, cz; // columns
} LaneMat;

typedef struct LaneSym {
    Lane xx, xy, xz, yy, yz, zz;
} LaneSym;

#define LANE_INLINE static inline __attribute__((always_inline))

LANE_INLINE Lane lane_all(double a) {
    return (Lane){a, a, a, a};
}

LANE_INLINE LaneVec lane_add(LaneVec a, LaneVec b) {
    return (LaneVec){a.x + b.x, a.y + b.y, a.z + b.z};
}

LANE_INLINE LaneVec lane_sub(LaneVec a, LaneVec b) {
    return (LaneVec){a.x - b.x, a.y - b.y, a.z - b.z};
}

LANE_INLINE LaneVec lane_scale(Lane s, LaneVec a) {
    return (LaneVec){s * a.x, s * a.y, s * a.z};
}

// a + s b
LANE_INLINE LaneVec lane_axpy(LaneVec a, Lane s, LaneVec b) {
    return (LaneVec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

LANE_INLINE Lane lane_dot(LaneVec a, LaneVec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

LANE_INLINE LaneVec lane_cross(LaneVec a, LaneVec b) {
    return (LaneVec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// a + b x c
LANE_INLINE LaneVec lane_add_cross(LaneVec a, LaneVec b, LaneVec c) {
    return (LaneVec){a.x + b.y * c.z - b.z * c.y, a.y + b.z * c.x - b.x * c.z,
                     a.z + b.x * c.y - b.y * c.x};
}

// m a, m' a, a + m b, a + m' b
LANE_INLINE LaneVec lane_mul(LaneMat m, LaneVec a) {
    return (LaneVec){m.cx.x * a.x + m.cy.x * a.y + m.cz.x * a.z,
                     m.cx.y * a.x + m.cy.y * a.y + m.cz.y * a.z,
                     m.cx.z * a.x + m.cy.z * a.y + m.cz.z * a.z};
}

LANE_INLINE LaneVec lane_tmul(LaneMat m, LaneVec a) {
    return (LaneVec){lane_dot(m.cx, a), lane_dot(m.cy, a), lane_dot(m.cz, a)};
}

LANE_INLINE LaneVec lane_add_mul(LaneVec a, LaneMat m, LaneVec b) {
    return lane_axpy(lane_axpy(lane_axpy(a, b.x, m.cx), b.y, m.cy), b.z, m.cz);
}

LANE_INLINE LaneVec lane_add_tmul(LaneVec a, LaneMat m, LaneVec b) {
    return (LaneVec){a.x + m.cx.x * b.x + m.cx.y * b.y + m.cx.z * b.z,
                     a.y + m.cy.x * b.x + m.cy.y * b.y + m.cy.z * b.z,
                     a.z + m.cz.x * b.x + m.cz.y * b.y + m.cz.z * b.z};
}

LANE_INLINE LaneMat lane_product(LaneMat a, LaneMat b) {
    return (LaneMat){lane_mul(a, b.cx), lane_mul(a, b.cy), lane_mul(a, b.cz)};
}

LANE_INLINE LaneMat lane_tproduct(LaneMat a, LaneMat b) {
    return (LaneMat){lane_tmul(a, b.cx), lane_tmul(a, b.cy), lane_tmul(a, b.cz)};
}

LANE_INLINE LaneMat lane_add_mat(LaneMat a, LaneMat b) {
    return (LaneMat){lane_add(a.cx, b.cx), lane_add(a.cy, b.cy), lane_add(a.cz, b.cz)};
}

LANE_INLINE LaneMat lane_scale_mat(Lane s, LaneMat a) {
    return (LaneMat){lane_scale(s, a.cx), lane_scale(s, a.cy), lane_scale(s, a.cz)};
}

// a + s b
LANE_INLINE LaneMat lane_axpy_mat(LaneMat a, Lane s, LaneMat b) {
    return (LaneMat){lane_axpy(a.cx, s, b.cx), lane_axpy(a.cy, s, b.cy), lane_axpy(a.cz, s, b.cz)};
}

// m + [a]x b, column by column
LANE_INLINE LaneMat lane_add_skew(LaneMat m, LaneVec a, LaneMat b) {
    return (LaneMat){lane_add_cross(m.cx, a, b.cx), lane_add_cross(m.cy, a, b.cy),
                     lane_add_cross(m.cz, a, b.cz)};
}

LANE_INLINE LaneVec lane_sym_mul(LaneSym s, LaneVec a) {
    return (LaneVec){s.xx * a.x + s.xy * a.y + s.xz * a.z, s.xy * a.x + s.yy * a.y + s.yz * a.z,
                     s.xz * a.x + s.yz * a.y + s.zz * a.z};
}

LANE_INLINE LaneMat lane_sym_product(LaneSym s, LaneMat a) {
    return (LaneMat){lane_sym_mul(s, a.cx), lane_sym_mul(s, a.cy), lane_sym_mul(s, a.cz)};
}

LANE_INLINE LaneSym lane_sym_axpy(LaneSym a, Lane s, LaneSym b) {
    return (LaneSym){a.xx + s * b.xx, a.xy + s * b.xy, a.xz + s * b.xz,
                     a.yy + s * b.yy, a.yz + s * b.yz, a.zz + s * b.zz};
}

// s + the symmetric product a' b, of which only the upper triangle is computed
LANE_INLINE LaneSym lane_sym_add_tproduct(LaneSym s, LaneMat a, LaneMat b) {
    return (LaneSym){s.xx + lane_dot(a.cx, b.cx), s.xy + lane_dot(a.cx, b.cy),
                     s.xz + lane_dot(a.cx, b.cz), s.yy + lane_dot(a.cy, b.cy),
                     s.yz + lane_dot(a.cy, b.cz), s.zz + lane_dot(a.cz, b.cz)};
}

// s - the symmetric product a b', of which only the upper triangle is computed
LANE_INLINE LaneSym lane_sym_sub_productt(LaneSym s, LaneMat a, LaneMat b) {
    return (LaneSym){
        s.xx - a.cx.x * b.cx.x - a.cy.x * b.cy.x - a.cz.x * b.cz.x,
        s.xy - a.cx.x * b.cx.y - a.cy.x * b.cy.y - a.cz.x * b.cz.y,
        s.xz - a.cx.x * b.cx.z - a.cy.x * b.cy.z - a.cz.x * b.cz.z,
        s.yy - a.cx.y * b.cx.y - a.cy.y * b.cy.y - a.cz.y * b.cz.y,
        s.yz - a.cx.y * b.cx.z - a.cy.y * b.cy.z - a.cz.y * b.cz.z,
        s.zz - a.cx.z * b.cx.z - a.cy.z * b.cy.z - a.cz.z * b.cz.z,
    };
}

// s - a b'
LANE_INLINE LaneVec lane_sub_row(LaneVec s, LaneMat a, Lane x, Lane y, Lane z) {
    return (LaneVec){s.x - a.cx.x * x - a.cy.x * y - a.cz.x * z,
                     s.y - a.cx.y * x - a.cy.y * y - a.cz.y * z,
                     s.z - a.cx.z * x - a.cy.z * y - a.cz.z * z};
}

LANE_INLINE LaneMat lane_sub_productt(LaneMat s, LaneMat a, LaneMat b) {
    return (LaneMat){lane_sub_row(s.cx, a, b.cx.x, b.cy.x, b.cz.x),
                     lane_sub_row(s.cy, a, b.cx.y, b.cy.y, b.cz.y),
                     lane_sub_row(s.cz, a, b.cx.z, b.cy.z, b.cz.z)};
}

// R s R'
LANE_INLINE LaneSym lane_sym_rotate(LaneMat R, LaneSym s) {
    LaneMat m =
        lane_product(R, (LaneMat){{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}});
    return (LaneSym){
        m.cx.x * R.cx.x + m.cy.x * R.cy.x + m.cz.x * R.cz.x,
        m.cx.x * R.cx.y + m.cy.x * R.cy.y + m.cz.x * R.cz.y,
        m.cx.x * R.cx.z + m.cy.x * R.cy.z + m.cz.x * R.cz.z,
        m.cx.y * R.cx.y + m.cy.y * R.cy.y + m.cz.y * R.cz.y,
        m.cx.y * R.cx.z + m.cy.y * R.cy.z + m.cz.y * R.cz.z,
        m.cx.z * R.cx.z + m.cy.z * R.cy.z + m.cz.z * R.cz.z,
    };
}

// One lane of a vector or matrix, and back.
LANE_INLINE TdlVec3 lane_vec_of(const LaneVec* a, int lane) {
    return (TdlVec3){a->x[lane], a->y[lane], a->z[lane]};
}

LANE_INLINE TdlMat3 lane_mat_of(const LaneMat* a, int lane) {
    return (TdlMat3){lane_vec_of(&a->cx, lane), lane_vec_of(&a->cy, lane),
                     lane_vec_of(&a->cz, lane)};
}

LANE_INLINE TdlMat3 lane_sym_of(const LaneSym* a, int lane) {
    double xy = a->xy[lane], xz = a->xz[lane], yz = a->yz[lane];
    return (TdlMat3){{a->xx[lane], xy, xz}, {xy, a->yy[lane], yz}, {xz, yz, a->zz[lane]}};
}

LANE_INLINE void lane_vec_set(LaneVec* a, int lane, TdlVec3 v) {
    a->x[lane] = v.x;
    a->y[lane] = v.y;
    a->z[lane] = v.z;
}

LANE_INLINE void lane_mat_set(LaneMat* a, int lane, TdlMat3 m) {
    lane_vec_set(&a->cx, lane, m.cx);
    lane_vec_set(&a->cy, lane, m.cy);
    lane_vec_set(&a->cz, lane, m.cz);
}

#endif
