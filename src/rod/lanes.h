// Four rods side by side: a lane of every number belongs to one rod. Lanes never mix, so what a
// rod computes does not depend on its neighbours. Vector extensions of the compiler, which turn
// into AVX2 where there is AVX2 and into pairs of SSE2 operations elsewhere.
//
// Sums of products say which multiplications and additions are fused, so that the same expression
// has the same bits wherever it is inlined, in files built without contraction.
#ifndef TDL_ROD_LANES_H
#define TDL_ROD_LANES_H

#include "tendril/math.h"

#ifdef __FMA__
#include <immintrin.h>
#endif

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

// a b + c and c - a b, rounded once where the processor can
LANE_INLINE Lane lane_fma(Lane a, Lane b, Lane c) {
#ifdef __FMA__
    return (Lane)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

LANE_INLINE Lane lane_fnma(Lane a, Lane b, Lane c) {
#ifdef __FMA__
    return (Lane)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return c - a * b;
#endif
}

// c + a0 b0 + a1 b1 + a2 b2, and the same without c
LANE_INLINE Lane lane_fma3(Lane c, Lane a0, Lane b0, Lane a1, Lane b1, Lane a2, Lane b2) {
    return lane_fma(a2, b2, lane_fma(a1, b1, lane_fma(a0, b0, c)));
}

LANE_INLINE Lane lane_sum3(Lane a0, Lane b0, Lane a1, Lane b1, Lane a2, Lane b2) {
    return lane_fma(a2, b2, lane_fma(a1, b1, a0 * b0));
}

LANE_INLINE Lane lane_fnma3(Lane c, Lane a0, Lane b0, Lane a1, Lane b1, Lane a2, Lane b2) {
    return lane_fnma(a2, b2, lane_fnma(a1, b1, lane_fnma(a0, b0, c)));
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
    return (LaneVec){lane_fma(s, b.x, a.x), lane_fma(s, b.y, a.y), lane_fma(s, b.z, a.z)};
}

LANE_INLINE Lane lane_dot(LaneVec a, LaneVec b) {
    return lane_sum3(a.x, b.x, a.y, b.y, a.z, b.z);
}

LANE_INLINE LaneVec lane_cross(LaneVec a, LaneVec b) {
    return (LaneVec){lane_fnma(a.z, b.y, a.y * b.z), lane_fnma(a.x, b.z, a.z * b.x),
                     lane_fnma(a.y, b.x, a.x * b.y)};
}

// a + b x c
LANE_INLINE LaneVec lane_add_cross(LaneVec a, LaneVec b, LaneVec c) {
    return (LaneVec){lane_fnma(b.z, c.y, lane_fma(b.y, c.z, a.x)),
                     lane_fnma(b.x, c.z, lane_fma(b.z, c.x, a.y)),
                     lane_fnma(b.y, c.x, lane_fma(b.x, c.y, a.z))};
}

// m a, m' a, a + m b, a + m' b, a - m' b
LANE_INLINE LaneVec lane_mul(LaneMat m, LaneVec a) {
    return (LaneVec){lane_sum3(m.cx.x, a.x, m.cy.x, a.y, m.cz.x, a.z),
                     lane_sum3(m.cx.y, a.x, m.cy.y, a.y, m.cz.y, a.z),
                     lane_sum3(m.cx.z, a.x, m.cy.z, a.y, m.cz.z, a.z)};
}

LANE_INLINE LaneVec lane_tmul(LaneMat m, LaneVec a) {
    return (LaneVec){lane_dot(m.cx, a), lane_dot(m.cy, a), lane_dot(m.cz, a)};
}

LANE_INLINE LaneVec lane_add_mul(LaneVec a, LaneMat m, LaneVec b) {
    return lane_axpy(lane_axpy(lane_axpy(a, b.x, m.cx), b.y, m.cy), b.z, m.cz);
}

LANE_INLINE LaneVec lane_add_tmul(LaneVec a, LaneMat m, LaneVec b) {
    return (LaneVec){lane_fma3(a.x, m.cx.x, b.x, m.cx.y, b.y, m.cx.z, b.z),
                     lane_fma3(a.y, m.cy.x, b.x, m.cy.y, b.y, m.cy.z, b.z),
                     lane_fma3(a.z, m.cz.x, b.x, m.cz.y, b.y, m.cz.z, b.z)};
}

LANE_INLINE LaneVec lane_sub_tmul(LaneVec a, LaneMat m, LaneVec b) {
    return (LaneVec){lane_fnma3(a.x, m.cx.x, b.x, m.cx.y, b.y, m.cx.z, b.z),
                     lane_fnma3(a.y, m.cy.x, b.x, m.cy.y, b.y, m.cy.z, b.z),
                     lane_fnma3(a.z, m.cz.x, b.x, m.cz.y, b.y, m.cz.z, b.z)};
}

// a - m b
LANE_INLINE LaneVec lane_sub_mul(LaneVec a, LaneMat m, LaneVec b) {
    return (LaneVec){lane_fnma3(a.x, m.cx.x, b.x, m.cy.x, b.y, m.cz.x, b.z),
                     lane_fnma3(a.y, m.cx.y, b.x, m.cy.y, b.y, m.cz.y, b.z),
                     lane_fnma3(a.z, m.cx.z, b.x, m.cy.z, b.y, m.cz.z, b.z)};
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
    return (LaneVec){lane_sum3(s.xx, a.x, s.xy, a.y, s.xz, a.z),
                     lane_sum3(s.xy, a.x, s.yy, a.y, s.yz, a.z),
                     lane_sum3(s.xz, a.x, s.yz, a.y, s.zz, a.z)};
}

LANE_INLINE LaneSym lane_sym_axpy(LaneSym a, Lane s, LaneSym b) {
    return (LaneSym){lane_fma(s, b.xx, a.xx), lane_fma(s, b.xy, a.xy), lane_fma(s, b.xz, a.xz),
                     lane_fma(s, b.yy, a.yy), lane_fma(s, b.yz, a.yz), lane_fma(s, b.zz, a.zz)};
}

// a.b added to or taken from s
LANE_INLINE Lane lane_add_dot(Lane s, LaneVec a, LaneVec b) {
    return lane_fma3(s, a.x, b.x, a.y, b.y, a.z, b.z);
}

// s + the symmetric product a b'
LANE_INLINE LaneSym lane_sym_add_outer(LaneSym s, LaneVec a, LaneVec b) {
    return (LaneSym){lane_fma(a.x, b.x, s.xx), lane_fma(a.x, b.y, s.xy), lane_fma(a.x, b.z, s.xz),
                     lane_fma(a.y, b.y, s.yy), lane_fma(a.y, b.z, s.yz), lane_fma(a.z, b.z, s.zz)};
}

// s + the symmetric product a' b, of which only the upper triangle is computed
LANE_INLINE LaneSym lane_sym_add_tproduct(LaneSym s, LaneMat a, LaneMat b) {
    return (LaneSym){lane_add_dot(s.xx, a.cx, b.cx), lane_add_dot(s.xy, a.cx, b.cy),
                     lane_add_dot(s.xz, a.cx, b.cz), lane_add_dot(s.yy, a.cy, b.cy),
                     lane_add_dot(s.yz, a.cy, b.cz), lane_add_dot(s.zz, a.cz, b.cz)};
}

// s - the symmetric product a b', of which only the upper triangle is computed
LANE_INLINE LaneSym lane_sym_sub_productt(LaneSym s, LaneMat a, LaneMat b) {
    return (LaneSym){
        lane_fnma3(s.xx, a.cx.x, b.cx.x, a.cy.x, b.cy.x, a.cz.x, b.cz.x),
        lane_fnma3(s.xy, a.cx.x, b.cx.y, a.cy.x, b.cy.y, a.cz.x, b.cz.y),
        lane_fnma3(s.xz, a.cx.x, b.cx.z, a.cy.x, b.cy.z, a.cz.x, b.cz.z),
        lane_fnma3(s.yy, a.cx.y, b.cx.y, a.cy.y, b.cy.y, a.cz.y, b.cz.y),
        lane_fnma3(s.yz, a.cx.y, b.cx.z, a.cy.y, b.cy.z, a.cz.y, b.cz.z),
        lane_fnma3(s.zz, a.cx.z, b.cx.z, a.cy.z, b.cy.z, a.cz.z, b.cz.z),
    };
}

// s - a b'
LANE_INLINE LaneMat lane_sub_productt(LaneMat s, LaneMat a, LaneMat b) {
    return (LaneMat){lane_sub_mul(s.cx, a, (LaneVec){b.cx.x, b.cy.x, b.cz.x}),
                     lane_sub_mul(s.cy, a, (LaneVec){b.cx.y, b.cy.y, b.cz.y}),
                     lane_sub_mul(s.cz, a, (LaneVec){b.cx.z, b.cy.z, b.cz.z})};
}

// R s R'
LANE_INLINE LaneSym lane_sym_rotate(LaneMat R, LaneSym s) {
    LaneMat m =
        lane_product(R, (LaneMat){{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}});
    return (LaneSym){
        lane_sum3(m.cx.x, R.cx.x, m.cy.x, R.cy.x, m.cz.x, R.cz.x),
        lane_sum3(m.cx.x, R.cx.y, m.cy.x, R.cy.y, m.cz.x, R.cz.y),
        lane_sum3(m.cx.x, R.cx.z, m.cy.x, R.cy.z, m.cz.x, R.cz.z),
        lane_sum3(m.cx.y, R.cx.y, m.cy.y, R.cy.y, m.cz.y, R.cz.y),
        lane_sum3(m.cx.y, R.cx.z, m.cy.y, R.cy.z, m.cz.y, R.cz.z),
        lane_sum3(m.cx.z, R.cx.z, m.cy.z, R.cy.z, m.cz.z, R.cz.z),
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

LANE_INLINE void lane_sym_set(LaneSym* a, int lane, TdlMat3 m) {
    a->xx[lane] = m.cx.x;
    a->xy[lane] = m.cy.x;
    a->xz[lane] = m.cz.x;
    a->yy[lane] = m.cy.y;
    a->yz[lane] = m.cz.y;
    a->zz[lane] = m.cz.z;
}

LANE_INLINE LaneVec lane_vec_all(TdlVec3 v) {
    return (LaneVec){lane_all(v.x), lane_all(v.y), lane_all(v.z)};
}

LANE_INLINE LaneMat lane_mat_all(TdlMat3 m) {
    return (LaneMat){lane_vec_all(m.cx), lane_vec_all(m.cy), lane_vec_all(m.cz)};
}

// One lane in all lanes.
LANE_INLINE LaneVec lane_vec_spread(const LaneVec* a, int lane) {
    return (LaneVec){lane_all(a->x[lane]), lane_all(a->y[lane]), lane_all(a->z[lane])};
}

LANE_INLINE LaneMat lane_mat_spread(const LaneMat* a, int lane) {
    return (LaneMat){lane_vec_spread(&a->cx, lane), lane_vec_spread(&a->cy, lane),
                     lane_vec_spread(&a->cz, lane)};
}

LANE_INLINE LaneSym lane_sym_spread(const LaneSym* a, int lane) {
    return (LaneSym){lane_all(a->xx[lane]), lane_all(a->xy[lane]), lane_all(a->xz[lane]),
                     lane_all(a->yy[lane]), lane_all(a->yz[lane]), lane_all(a->zz[lane])};
}

#endif
