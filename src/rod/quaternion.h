// Quaternions (w; x, y, z) for the frames of nodal rods. A unit quaternion g turns v to g v g*; its
// product g h turns by h first. Derivatives below treat quaternions as plain vectors of four.
#ifndef TDL_ROD_QUATERNION_H
#define TDL_ROD_QUATERNION_H

#include "tendril/math.h"

typedef struct Quat {
    double w, x, y, z;
} Quat;

static inline Quat quat_mul(Quat a, Quat b) {
    return (Quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                  a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static inline Quat quat_conj(Quat a) {
    return (Quat){a.w, -a.x, -a.y, -a.z};
}

static inline double quat_dot(Quat a, Quat b) {
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline Quat quat_scale(double s, Quat a) {
    return (Quat){s * a.w, s * a.x, s * a.y, s * a.z};
}

// a + s b
static inline Quat quat_axpy(Quat a, double s, Quat b) {
    return (Quat){a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline Quat quat_unit(Quat a) {
    return quat_scale(1.0 / sqrt(quat_dot(a, a)), a);
}

// a i, with i the unit along the first axis
static inline Quat quat_times_i(Quat a) {
    return (Quat){-a.x, a.w, a.z, -a.y};
}

// (0, v) a
static inline Quat quat_turn(TdlVec3 v, Quat a) {
    return quat_mul((Quat){0.0, v.x, v.y, v.z}, a);
}

// First axis of the frame of a unit quaternion.
static inline TdlVec3 quat_first_axis(Quat a) {
    return (TdlVec3){a.w * a.w + a.x * a.x - a.y * a.y - a.z * a.z, 2.0 * (a.x * a.y + a.w * a.z),
                     2.0 * (a.x * a.z - a.w * a.y)};
}

static inline TdlMat3 quat_matrix(Quat a) {
    TdlVec3 cx = quat_first_axis(a);
    TdlVec3 cy = {2.0 * (a.x * a.y - a.w * a.z), a.w * a.w - a.x * a.x + a.y * a.y - a.z * a.z,
                  2.0 * (a.y * a.z + a.w * a.x)};
    return (TdlMat3){cx, cy, tdl_cross3(cx, cy)};
}

// One of the two unit quaternions of a rotation: the largest of the four is taken from its square.
static inline Quat quat_from_matrix(TdlMat3 r) {
    double xx = r.cx.x, yy = r.cy.y, zz = r.cz.z, trace = xx + yy + zz;
    Quat q = {r.cy.z - r.cz.y, r.cy.z - r.cz.y, r.cz.x - r.cx.z, r.cx.y - r.cy.x};
    if (trace >= fmax(xx, fmax(yy, zz))) {
        q.w = 1.0 + trace;
    } else if (xx >= fmax(yy, zz)) {
        q = (Quat){q.x, 1.0 + xx - yy - zz, r.cx.y + r.cy.x, r.cx.z + r.cz.x};
    } else if (yy >= zz) {
        q = (Quat){q.y, r.cx.y + r.cy.x, 1.0 + yy - xx - zz, r.cy.z + r.cz.y};
    } else {
        q = (Quat){q.z, r.cx.z + r.cz.x, r.cy.z + r.cz.y, 1.0 + zz - xx - yy};
    }
    return quat_unit(q);
}

// The rotation by the angle |v| about v.
static inline Quat quat_exp(TdlVec3 v) {
    double angle = tdl_norm3(v);
    double s = angle > 1.0e-8 ? sin(0.5 * angle) / angle : 0.5;
    return (Quat){cos(0.5 * angle), s * v.x, s * v.y, s * v.z};
}

// The rotation vector of a unit quaternion, no longer than pi.
static inline TdlVec3 quat_log(Quat a) {
    a = quat_scale(a.w < 0.0 ? -1.0 : 1.0, a);
    TdlVec3 v = {a.x, a.y, a.z};
    double sine = tdl_norm3(v);
    return tdl_scale3(sine > 1.0e-8 ? 2.0 * atan2(sine, a.w) / sine : 2.0, v);
}

static inline Quat quat_load(const double* q) {
    return (Quat){q[0], q[1], q[2], q[3]};
}

static inline void quat_store(double* q, Quat a) {
    q[0] = a.w;
    q[1] = a.x;
    q[2] = a.y;
    q[3] = a.z;
}

#endif
