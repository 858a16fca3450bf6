// Dense symmetric factorisations and solves. Matrices are column-major: entry (i, j) of a matrix
// with leading dimension ld is a[i + j ld]. Only the lower triangle is read or written.
#ifndef TDL_MATH_DENSE_H
#define TDL_MATH_DENSE_H

#include "tendril/math.h"

// A = L L'. Overwrites the lower triangle of a by L. Returns n, or the first column whose pivot is
// not positive (or not a number); the columns before it are then valid.
int tdl_cholesky(int n, double* a, int ld);

// A = L D L' without pivoting, L with a unit diagonal that is not stored, D in its place. Pivots
// may be negative. Returns n, or the first column whose pivot is zero or not finite.
int tdl_ldl(int n, double* a, int ld);

// Solves L X = B (or L' X = B) in place for rhs_count columns of b. With `unit` the diagonal of L
// counts as 1.
void tdl_lower_solve(int n, const double* l, int ld, bool unit, int rhs_count, double* b, int ldb);
void tdl_lower_transpose_solve(int n, const double* l, int ld, bool unit, int rhs_count, double* b,
                               int ldb);

// Solves A X = B in place from the factors above.
void tdl_cholesky_solve(int n, const double* l, int ld, int rhs_count, double* b, int ldb);
void tdl_ldl_solve(int n, const double* l, int ld, int rhs_count, double* b, int ldb);

// Solves A x = b in place for a whole matrix of any kind, which is overwritten: elimination with
// rows exchanged. False when a pivot is zero or not finite.
bool tdl_gauss_solve(int n, double* a, int ld, double* b);

// sum a_i b_i, in four interleaved sums: the same bits on every call
double tdl_dot(int n, const double* a, const double* b);

// --- fixed sizes
// ---------------------------------------------------------------------------------- The loops have
// constant bounds and unroll. The diagonal of the factor holds 1/l_jj, so that solves need no
// division. ld = n.

static inline __attribute__((always_inline)) int tdl_cholesky_fixed(int n, double* a) {
    for (int j = 0; j < n; ++j) {
        double pivot = a[j + j * n];
        for (int k = 0; k < j; ++k) {
            pivot -= a[j + k * n] * a[j + k * n];
        }
        if (!(pivot > 0.0)) {
            return j;
        }
        double inverse = 1.0 / sqrt(pivot);
        a[j + j * n] = inverse;
        for (int i = j + 1; i < n; ++i) {
            double sum = a[i + j * n];
            for (int k = 0; k < j; ++k) {
                sum -= a[i + k * n] * a[j + k * n];
            }
            a[i + j * n] = sum * inverse;
        }
    }
    return n;
}

// L x = b and L' x = b
static inline __attribute__((always_inline)) void tdl_lower_solve_fixed(int n, const double* l,
                                                                        double* b) {
    for (int j = 0; j < n; ++j) {
        b[j] *= l[j + j * n];
        for (int i = j + 1; i < n; ++i) {
            b[i] -= l[i + j * n] * b[j];
        }
    }
}

static inline __attribute__((always_inline)) void
tdl_lower_transpose_solve_fixed(int n, const double* l, double* b) {
    for (int j = n - 1; j >= 0; --j) {
        for (int i = j + 1; i < n; ++i) {
            b[j] -= l[i + j * n] * b[i];
        }
        b[j] *= l[j + j * n];
    }
}

static inline __attribute__((always_inline)) void tdl_cholesky_solve_fixed(int n, const double* l,
                                                                           double* b) {
    tdl_lower_solve_fixed(n, l, b);
    tdl_lower_transpose_solve_fixed(n, l, b);
}

static inline int tdl_cholesky_3(double a[9]) {
    return tdl_cholesky_fixed(3, a);
}

static inline void tdl_cholesky_3_solve(const double l[9], double b[3]) {
    tdl_cholesky_solve_fixed(3, l, b);
}

static inline int tdl_cholesky_6(double a[36]) {
    return tdl_cholesky_fixed(6, a);
}

static inline void tdl_cholesky_6_solve(const double l[36], double b[6]) {
    tdl_cholesky_solve_fixed(6, l, b);
}

#endif
