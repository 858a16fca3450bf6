// The slow obvious super-helix, in extended precision: positions by Rodrigues' formula element by
// element, derivatives by finite differences, integrals by 64 Gauss points an element. It shares
// no line with the library.
#ifndef TDL_TEST_ROD_REF_H
#define TDL_TEST_ROD_REF_H

#include <math.h>

typedef long double Real;

typedef struct RefVec {
    Real v[3];
} RefVec;

typedef struct RefMat {
    Real m[3][3]; // rows
} RefMat;

static inline RefVec ref_apply(const RefMat* a, RefVec x) {
    RefVec y = {{0}};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            y.v[i] += a->m[i][j] * x.v[j];
        }
    }
    return y;
}

static inline RefMat ref_product(const RefMat* a, const RefMat* b) {
    RefMat c = {{{0}}};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            for (int k = 0; k < 3; ++k) {
                c.m[i][j] += a->m[i][k] * b->m[k][j];
            }
        }
    }
    return c;
}

// sum of the power series sum_n (-y)^n / (k + 2n)!, or for large y from sine and cosine
static inline Real ref_c(int k, Real y) {
    if (y > 4.0L) {
        Real t = sqrtl(y);
        switch (k) {
        case 1:
            return sinl(t) / t;
        case 2:
            return (1.0L - cosl(t)) / y;
        default:
            return (t - sinl(t)) / (y * t);
        }
    }
    Real term = 1.0L, sum = 0.0L;
    for (int i = 2; i <= k; ++i) {
        term /= i;
    }
    for (int n = 0; n < 40; ++n) {
        sum += term;
        term *= -y / (Real)((k + 2 * n + 1) * (k + 2 * n + 2));
    }
    return sum;
}

// Frame and position at `s` (in [0, 1]) of an element with total turning q and unit length.
static inline void ref_element(const Real q[3], Real s, RefMat* rotation, RefVec* position) {
    RefMat K = {{{0, -q[2], q[1]}, {q[2], 0, -q[0]}, {-q[1], q[0], 0}}};
    RefMat K2 = ref_product(&K, &K);
    Real y = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) * s * s;
    Real c1 = ref_c(1, y), c2 = ref_c(2, y), c3 = ref_c(3, y);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            Real one = i == j ? 1.0L : 0.0L;
            rotation->m[i][j] = one + s * c1 * K.m[i][j] + s * s * c2 * K2.m[i][j];
        }
        position->v[i] = (i == 0 ? s : 0.0L) + s * s * c2 * K.m[i][0] + s * s * s * c3 * K2.m[i][0];
    }
}

// Points of Gauss and Legendre on [0, 1], found by Newton's method.
enum { REF_GAUSS = 64 };
static Real ref_point[REF_GAUSS], ref_weight[REF_GAUSS];

static inline void ref_gauss(void) {
    const Real pi = 3.14159265358979323846264338327950288L;
    for (int i = 0; i < REF_GAUSS; ++i) {
        Real x = cosl(pi * ((Real)i + 0.75L) / (REF_GAUSS + 0.5L)), slope = 0.0L;
        for (int k = 0; k < 20; ++k) {
            Real p0 = 1.0L, p1 = x;
            for (int n = 2; n <= REF_GAUSS; ++n) {
                Real p2 = ((Real)(2 * n - 1) * x * p1 - (Real)(n - 1) * p0) / (Real)n;
                p0 = p1;
                p1 = p2;
            }
            slope = REF_GAUSS * (x * p1 - p0) / (x * x - 1.0L);
            x -= p1 / slope;
        }
        ref_point[i] = 0.5L * (1.0L - x);
        ref_weight[i] = 1.0L / ((1.0L - x * x) * slope * slope);
    }
}

// An element has a row of quadrature points, after them the columns of the frames there, and then
// its twist.
enum { REF_FRAME = REF_GAUSS, REF_TWIST = 4 * REF_GAUSS, REF_ROW = REF_TWIST + 1 };

static inline void ref_store_frame(const RefMat* R, int k, RefVec* row) {
    for (int c = 0; c < 3; ++c) {
        row[REF_FRAME + 3 * k + c] = (RefVec){{R->m[0][c], R->m[1][c], R->m[2][c]}};
    }
}

// The rows of a rod of n elements, each of length l, clamped at the pose (R0, x0):
// out[n * REF_ROW].
static inline void ref_points(int n, const Real* q, Real l, RefMat R0, RefVec x0, RefVec* out) {
    for (int e = 0; e < n; ++e) {
        RefMat turn, frame;
        RefVec p;
        out[e * REF_ROW + REF_TWIST] = (RefVec){{q[3 * e], 0, 0}};
        for (int k = 0; k < REF_GAUSS; ++k) {
            ref_element(q + 3 * e, ref_point[k], &turn, &p);
            frame = ref_product(&R0, &turn);
            ref_store_frame(&frame, k, out + e * REF_ROW);
            p = ref_apply(&R0, p);
            for (int i = 0; i < 3; ++i) {
                out[e * REF_ROW + k].v[i] = x0.v[i] + l * p.v[i];
            }
        }
        ref_element(q + 3 * e, 1.0L, &turn, &p);
        p = ref_apply(&R0, p);
        for (int i = 0; i < 3; ++i) {
            x0.v[i] += l * p.v[i];
        }
        R0 = ref_product(&R0, &turn);
    }
}

#endif
