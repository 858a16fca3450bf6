// One super-helix element, in the axes of its start and scaled to unit length: q = kappa l.
// Symbols and equations are those of docs/theory/super-helix.md.
#ifndef TDL_ROD_HELIX_H
#define TDL_ROD_HELIX_H

#include "math/rotation.h"
#include "tendril/math.h"

// The scalar functions of s that all kinematics is made of. (H.4)
enum {
    HELIX_ONE,
    HELIX_S,
    HELIX_A,
    HELIX_B,
    HELIX_AK,
    HELIX_BK,
    HELIX_AKK,
    HELIX_BKK,
    HELIX_COUNT
};

// Gram matrix of those functions over s in [0, 1]; column HELIX_ONE holds their means.
typedef struct HelixGram {
    double g[HELIX_COUNT][HELIX_COUNT];
} HelixGram;

// Vectors that depend on q alone. (H.3)
typedef struct HelixAxes {
    TdlVec3 q, e1, e2; // e1 = q x e, e2 = q x e1, with e the tangent at the start
    double y;          // |q|^2
} HelixAxes;

static inline HelixAxes helix_axes(TdlVec3 q) {
    TdlVec3 e1 = {0.0, q.z, -q.y};
    return (HelixAxes){q, e1, tdl_cross3(q, e1), tdl_dot3(q, q)};
}

// The functions at one s. (H.4)
static inline void helix_functions(double y, double s, double f[HELIX_COUNT]) {
    double c[8], s2 = s * s;
    tdl_c_series(y * s2, c);
    f[HELIX_ONE] = 1.0;
    f[HELIX_S] = s;
    f[HELIX_A] = s2 * c[2];
    f[HELIX_B] = s2 * s * c[3];
    f[HELIX_AK] = s2 * s2 * (2.0 * c[4] - c[3]);
    f[HELIX_BK] = s2 * s2 * s * (3.0 * c[5] - c[4]);
    f[HELIX_AKK] = s2 * s2 * s2 * (8.0 * c[6] - 5.0 * c[5] + c[4]);
    f[HELIX_BKK] = s2 * s2 * s2 * s * (15.0 * c[7] - 7.0 * c[6] + c[5]);
}

// The first six of them at s = 1, and the means of these over [0, 1], from c_k(y). (V.32)
static inline void helix_end_and_mean(const double c[8], double end[HELIX_AKK],
                                      double mean[HELIX_AKK]) {
    end[HELIX_ONE] = mean[HELIX_ONE] = end[HELIX_S] = 1.0;
    mean[HELIX_S] = 0.5;
    end[HELIX_A] = c[2];
    end[HELIX_B] = mean[HELIX_A] = c[3];
    mean[HELIX_B] = c[4];
    end[HELIX_AK] = 2.0 * c[4] - c[3];
    end[HELIX_BK] = mean[HELIX_AK] = 3.0 * c[5] - c[4];
    mean[HELIX_BK] = 4.0 * c[6] - c[5];
}

// The means of all of them. (V.32)
void helix_means(double y, double mean[HELIX_COUNT]);

// p = s e + a e1 + b e2 (H.2)
static inline TdlVec3 helix_position(const HelixAxes* x, const double f[HELIX_COUNT]) {
    TdlVec3 p = {f[HELIX_S], 0.0, 0.0};
    return tdl_axpy3(tdl_axpy3(p, f[HELIX_A], x->e1), f[HELIX_B], x->e2);
}

// d x e for e = (1, 0, 0)
static inline TdlVec3 helix_cross_e(TdlVec3 d) {
    return (TdlVec3){0.0, d.z, -d.y};
}

// d x e1 + q x (d x e): the derivative of e2 along d
static inline TdlVec3 helix_e2_rate(const HelixAxes* x, TdlVec3 d) {
    return tdl_add3(tdl_cross3(d, x->e1), tdl_cross3(x->q, helix_cross_e(d)));
}

// B = dp/dq. (H.5)
TdlMat3 helix_displacement(const HelixAxes* x, const double f[HELIX_COUNT]);

// T = s I + a K + b K^2, the rotation of the frame at s for a change of q. (H.6)
TdlMat3 helix_rotation_rate(const HelixAxes* x, const double f[HELIX_COUNT]);

// Second derivative of p along d1 and d2. (H.7)
TdlVec3 helix_second(const HelixAxes* x, const double f[HELIX_COUNT], TdlVec3 d1, TdlVec3 d2);

// (dT along d2) d1. (H.8)
TdlVec3 helix_rotation_second(const HelixAxes* x, const double f[HELIX_COUNT], TdlVec3 d1,
                              TdlVec3 d2);

// Largest turning |q| of an element, rad: some 500 turns. Beyond it integrals are not computed.
#define HELIX_MAX_TURNING 3000.0

// The Gram matrix, to rounding: panels of Gauss points, as many as the turns ask for.
void helix_gram(double y, HelixGram* gram);

// Mixed Gram matrix: g[i][j] is the mean of function i at y times function j at y_old. Only
// i, j < HELIX_AKK are filled.
void helix_mixed_gram(double y, double y_old, HelixGram* gram);

// Inertia of the element for unit mass and length, about its start: kinetic energy is half of
// V'V + 2 V.(w x h) + w'Jw + 2 V.(Bm d) + 2 w.(Hm d) + d'Mqq d. (H.11)
typedef struct HelixInertia {
    TdlVec3 h;   // first moment: mean of p
    TdlMat3 J;   // mean of -[p]x^2
    TdlMat3 Bm;  // mean of B
    TdlMat3 Hm;  // mean of [p]x B
    TdlMat3 Mqq; // mean of B'B
} HelixInertia;

void helix_inertia(const HelixAxes* x, const HelixGram* gram, HelixInertia* out);

// Weight of the twist's own rate beside the mean spin: with 1/6 a straight rod twists as lumped and
// consistent inertia do in the mean, of fourth order. (H.24)
#define HELIX_TWIST_SHARE (1.0 / 6.0)

// Motion of the element that is not due to accelerations of q: its start has angular velocity w
// and bias accelerations a, alpha (a carries minus gravity), and q changes at the rate d.
typedef struct HelixMotion {
    TdlVec3 w, alpha, a, d;
} HelixMotion;

// What a field of vectors over the element amounts to: its mean, its mean moment about the start,
// and its mean pairing with the displacements of q.
typedef struct HelixLoad {
    TdlVec3 force, moment, generalised;
} HelixLoad;

// The load of a field on an element of length l, from P[f] = mean of f times the field. (H.12)
HelixLoad helix_load(const HelixAxes* x, double l, const TdlVec3 P[HELIX_AKK]);

// The load of the accelerations that this motion asks for, for unit mass. (H.13)
HelixLoad helix_bias(const HelixAxes* x, const HelixGram* gram, double l,
                     const HelixMotion* motion);

// The velocities of an element while its start moves with V and w and q changes at the rate d:
// sum over f of f(s) U[f]. (H.10)
void helix_velocity(const HelixAxes* x, double l, TdlVec3 V, TdlVec3 w, TdlVec3 d,
                    TdlVec3 U[HELIX_AKK]);

#endif
