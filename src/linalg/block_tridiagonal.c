// L D L' of a symmetric block-tridiagonal matrix: block elimination from first to last,
//   A_k = L_k D_k L_k',   M_k = E_k L_k^-T D_k^-1,   A_{k+1} <- A_{k+1} - M_k D_k M_k'
// with E_k the block below the diagonal, replaced by M_k. Linear in the number of blocks. Without
// pivoting it is backward stable for definite matrices; for indefinite ones its residual
// is worth a look.
#include "linalg/block_tridiagonal.h"

#include "math/dense.h"

// e <- e L^-T D^-1, from the factor in l
static void eliminate_below(int b, const double* restrict l, double* restrict e) {
    for (int j = 0; j < b; ++j) {
        for (int k = 0; k < j; ++k) {
            double weight = l[j + k * b];
            for (int i = 0; i < b; ++i) {
                e[i + j * b] -= weight * e[i + k * b];
            }
        }
    }
    for (int j = 0; j < b; ++j) {
        double inverse = 1.0 / l[j + j * b];
        for (int i = 0; i < b; ++i) {
            e[i + j * b] *= inverse;
        }
    }
}

// next <- next - m D m', lower triangle
static void update_next(int b, const double* restrict l, const double* restrict m,
                        double* restrict next) {
    for (int k = 0; k < b; ++k) {
        for (int j = 0; j < b; ++j) {
            double weight = l[k + k * b] * m[j + k * b];
            for (int i = j; i < b; ++i) {
                next[i + j * b] -= weight * m[i + k * b];
            }
        }
    }
}

// The number of leading columns of the factored block whose pivots are acceptable
static int good_pivots(int b, const double* l, int factored, bool definite) {
    for (int j = 0; j < factored; ++j) {
        if (definite && !(l[j + j * b] > 0.0)) {
            return j;
        }
    }
    return factored;
}

int block_tridiagonal_factor(BlockTridiagonal* a, bool definite) {
    int b = a->b;
    ptrdiff_t size = (ptrdiff_t)b * b;
    for (int k = 0; k < a->n; ++k) {
        double* block = a->diagonal + k * size;
        int good = good_pivots(b, block, tdl_ldl(b, block, b), definite);
        if (good < b) {
            return k * b + good;
        }
        if (k + 1 < a->n) {
            eliminate_below(b, block, a->below + k * size);
            update_next(b, block, a->below + k * size, block + size);
        }
    }
    return a->n * b;
}

// y -= m x, or y -= m' x
static void subtract_product(int b, const double* restrict m, const double* restrict x,
                             double* restrict y) {
    for (int j = 0; j < b; ++j) {
        for (int i = 0; i < b; ++i) {
            y[i] -= m[i + j * b] * x[j];
        }
    }
}

static void subtract_transpose_product(int b, const double* m, const double* x, double* y) {
    for (int j = 0; j < b; ++j) {
        y[j] -= tdl_dot(b, m + j * b, x);
    }
}

void block_tridiagonal_solve(const BlockTridiagonal* a, int rhs_count, double* x, int ldx) {
    int b = a->b;
    ptrdiff_t size = (ptrdiff_t)b * b;
    for (int r = 0; r < rhs_count; ++r) {
        double* y = x + (ptrdiff_t)r * ldx;

        // the whole factor has L_k on the diagonal and M_k below it
        for (int k = 0; k < a->n; ++k) {
            const double* l = a->diagonal + k * size;
            tdl_lower_solve(b, l, b, true, 1, y + k * b, b);
            if (k + 1 < a->n) {
                subtract_product(b, a->below + k * size, y + k * b, y + (k + 1) * b);
            }
        }
        for (int k = a->n - 1; k >= 0; --k) {
            const double* l = a->diagonal + k * size;
            for (int i = 0; i < b; ++i) {
                y[k * b + i] /= l[i + i * b];
            }
            if (k + 1 < a->n) {
                subtract_transpose_product(b, a->below + k * size, y + (k + 1) * b, y + k * b);
            }
            tdl_lower_transpose_solve(b, l, b, true, 1, y + k * b, b);
        }
    }
}

void block_tridiagonal_multiply(const BlockTridiagonal* a, const double* x, double* y) {
    int b = a->b;
    ptrdiff_t size = (ptrdiff_t)b * b;
    for (int k = 0; k < a->n; ++k) {
        const double* d = a->diagonal + k * size;
        for (int i = 0; i < b; ++i) {
            double sum = 0.0;
            for (int j = 0; j < b; ++j) {
                sum += (i >= j ? d[i + j * b] : d[j + i * b]) * x[k * b + j];
                sum += k > 0 ? a->below[(k - 1) * size + i + j * b] * x[(k - 1) * b + j] : 0.0;
                sum += k + 1 < a->n ? a->below[k * size + j + i * b] * x[(k + 1) * b + j] : 0.0;
            }
            y[k * b + i] = sum;
        }
    }
}
