// Symmetric banded Cholesky, right-looking: each finished column is subtracted from the `width`
// columns after it, in contiguous inner loops. No pivoting is needed for definite matrices, and the
// factor stays inside the band.
#include "linalg/banded.h"

#include "math/dense.h"

static int entries_below(int n, int width, int column) {
    return n - 1 - column < width ? n - 1 - column : width;
}

int banded_cholesky(int n, int width, double* band) {
    ptrdiff_t stride = width + 1;
    for (int j = 0; j < n; ++j) {
        double* restrict c = band + j * stride;
        int below = entries_below(n, width, j);
        if (!(c[0] > 0.0)) {
            return j;
        }
        c[0] = sqrt(c[0]);
        double inverse = 1.0 / c[0];
        for (int i = 1; i <= below; ++i) {
            c[i] *= inverse;
        }
        for (int k = 1; k <= below; ++k) {
            double* restrict target = band + (j + k) * stride;
            double weight = c[k];
            for (int i = k; i <= below; ++i) {
                target[i - k] -= weight * c[i];
            }
        }
    }
    return n;
}

// `count` right sides at once: their chains of dependent operations run side by side.
static inline void solve_together(int n, int width, const double* band, int count, double* b,
                                  int ldb) {
    ptrdiff_t stride = width + 1;
    int first = 0; // what is zero before it stays so on the way down
    for (bool zero = true; zero && first < n; first += zero) {
        for (int r = 0; r < count; ++r) {
            zero = zero && b[first + (ptrdiff_t)r * ldb] == 0.0;
        }
    }
    for (int j = first; j < n; ++j) {
        const double* restrict c = band + j * stride;
        int below = entries_below(n, width, j);
        double inverse = 1.0 / c[0];
        for (int r = 0; r < count; ++r) {
            double* restrict x = b + j + (ptrdiff_t)r * ldb;
            double xj = x[0] *= inverse;
            for (int i = 1; i <= below; ++i) {
                x[i] -= c[i] * xj;
            }
        }
    }
    for (int j = n - 1; j >= 0; --j) {
        const double* restrict c = band + j * stride;
        int below = entries_below(n, width, j);
        double inverse = 1.0 / c[0];
        for (int r = 0; r < count; ++r) {
            double* x = b + j + (ptrdiff_t)r * ldb;
            x[0] = (x[0] - tdl_dot(below, c + 1, x + 1)) * inverse;
        }
    }
}

void banded_solve(int n, int width, const double* band, int rhs_count, double* b, int ldb) {
    int r = 0;
    for (; r + 3 <= rhs_count; r += 3) {
        solve_together(n, width, band, 3, b + (ptrdiff_t)r * ldb, ldb);
    }
    for (; r < rhs_count; ++r) {
        solve_together(n, width, band, 1, b + (ptrdiff_t)r * ldb, ldb);
    }
}

void banded_multiply(int n, int width, const double* band, const double* x, double* y) {
    ptrdiff_t stride = width + 1;
    for (int i = 0; i < n; ++i) {
        y[i] = 0.0;
    }
    for (int j = 0; j < n; ++j) {
        const double* c = band + j * stride;
        int below = entries_below(n, width, j);
        y[j] += c[0] * x[j] + tdl_dot(below, c + 1, x + j + 1);
        for (int i = 1; i <= below; ++i) {
            y[j + i] += c[i] * x[j];
        }
    }
}
