// Vectors and matrices of three dimensions, as plain values.
#ifndef TENDRIL_MATH_H
#define TENDRIL_MATH_H

#include "tendril/base.h"

#include <math.h>

// A struct written in place. C++ spells a compound literal without brackets.
#ifdef __cplusplus
#define TDL_VALUE(type) type
#else
#define TDL_VALUE(type) (type)
#endif

typedef struct TdlVec3 {
    double x, y, z;
} TdlVec3;

typedef struct TdlMat3 {
    TdlVec3 cx, cy, cz; // columns
} TdlMat3;

/// A rigid placement: x_world = position + rotation x_local.
typedef struct TdlPose {
    TdlVec3 position;
    TdlMat3 rotation;
} TdlPose;

static inline TdlVec3 tdl_add3(TdlVec3 a, TdlVec3 b) {
    return TDL_VALUE(TdlVec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline TdlVec3 tdl_sub3(TdlVec3 a, TdlVec3 b) {
    return TDL_VALUE(TdlVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline TdlVec3 tdl_scale3(double s, TdlVec3 a) {
    return TDL_VALUE(TdlVec3){s * a.x, s * a.y, s * a.z};
}

// a + s b
static inline TdlVec3 tdl_axpy3(TdlVec3 a, double s, TdlVec3 b) {
    return TDL_VALUE(TdlVec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double tdl_dot3(TdlVec3 a, TdlVec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline TdlVec3 tdl_cross3(TdlVec3 a, TdlVec3 b) {
    return TDL_VALUE(TdlVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double tdl_norm3(TdlVec3 a) {
    return sqrt(tdl_dot3(a, a));
}

static inline bool tdl_finite3(TdlVec3 a) {
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

static inline TdlVec3 tdl_load3(const double* q, int i) {
    return TDL_VALUE(TdlVec3){q[3 * i], q[3 * i + 1], q[3 * i + 2]};
}

static inline void tdl_store3(double* q, int i, TdlVec3 a) {
    q[3 * i] = a.x;
    q[3 * i + 1] = a.y;
    q[3 * i + 2] = a.z;
}

static inline TdlMat3 tdl_identity33(void) {
    return TDL_VALUE(TdlMat3){{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
}

static inline TdlMat3 tdl_add33(TdlMat3 a, TdlMat3 b) {
    return TDL_VALUE(TdlMat3){tdl_add3(a.cx, b.cx), tdl_add3(a.cy, b.cy), tdl_add3(a.cz, b.cz)};
}

static inline TdlMat3 tdl_sub33(TdlMat3 a, TdlMat3 b) {
    return TDL_VALUE(TdlMat3){tdl_sub3(a.cx, b.cx), tdl_sub3(a.cy, b.cy), tdl_sub3(a.cz, b.cz)};
}

static inline TdlMat3 tdl_scale33(double s, TdlMat3 a) {
    return TDL_VALUE(TdlMat3){tdl_scale3(s, a.cx), tdl_scale3(s, a.cy), tdl_scale3(s, a.cz)};
}

// a + s b
static inline TdlMat3 tdl_axpy33(TdlMat3 a, double s, TdlMat3 b) {
    return TDL_VALUE(TdlMat3){tdl_axpy3(a.cx, s, b.cx), tdl_axpy3(a.cy, s, b.cy),
                              tdl_axpy3(a.cz, s, b.cz)};
}

// m a
static inline TdlVec3 tdl_mul33_3(TdlMat3 m, TdlVec3 a) {
    return TDL_VALUE(TdlVec3){m.cx.x * a.x + m.cy.x * a.y + m.cz.x * a.z,
                              m.cx.y * a.x + m.cy.y * a.y + m.cz.y * a.z,
                              m.cx.z * a.x + m.cy.z * a.y + m.cz.z * a.z};
}

// m' a
static inline TdlVec3 tdl_tmul33_3(TdlMat3 m, TdlVec3 a) {
    return TDL_VALUE(TdlVec3){tdl_dot3(m.cx, a), tdl_dot3(m.cy, a), tdl_dot3(m.cz, a)};
}

// a b
static inline TdlMat3 tdl_mul33(TdlMat3 a, TdlMat3 b) {
    return TDL_VALUE(TdlMat3){tdl_mul33_3(a, b.cx), tdl_mul33_3(a, b.cy), tdl_mul33_3(a, b.cz)};
}

// a' b
static inline TdlMat3 tdl_tmul33(TdlMat3 a, TdlMat3 b) {
    return TDL_VALUE(TdlMat3){tdl_tmul33_3(a, b.cx), tdl_tmul33_3(a, b.cy), tdl_tmul33_3(a, b.cz)};
}

static inline TdlMat3 tdl_transpose33(TdlMat3 a) {
    return TDL_VALUE(TdlMat3){
        {a.cx.x, a.cy.x, a.cz.x}, {a.cx.y, a.cy.y, a.cz.y}, {a.cx.z, a.cy.z, a.cz.z}};
}

// a b'
static inline TdlMat3 tdl_outer3(TdlVec3 a, TdlVec3 b) {
    return TDL_VALUE(TdlMat3){tdl_scale3(b.x, a), tdl_scale3(b.y, a), tdl_scale3(b.z, a)};
}

static inline TdlMat3 tdl_diag33(TdlVec3 a) {
    return TDL_VALUE(TdlMat3){{a.x, 0.0, 0.0}, {0.0, a.y, 0.0}, {0.0, 0.0, a.z}};
}

// [a]x, so that [a]x b = a x b
static inline TdlMat3 tdl_skew3(TdlVec3 a) {
    return TDL_VALUE(TdlMat3){{0.0, a.z, -a.y}, {-a.z, 0.0, a.x}, {a.y, -a.x, 0.0}};
}

static inline double tdl_det33(TdlMat3 a) {
    return tdl_dot3(a.cx, tdl_cross3(a.cy, a.cz));
}

#endif
