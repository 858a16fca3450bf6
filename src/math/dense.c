// Dense Cholesky and L D L', triangular solves.
//
// Left-looking in groups of four columns: a group receives the products of all columns before it
// through one kernel that keeps 8 x 4 sums in registers, then is factored alone. The kernel reads
// L in order, in slabs of 128 columns that stay in cache, at 8 flops a loaded number. n^3/3 flops;
// measured 7 Gflop/s at n = 36, 13 at 100, 26 at 600 on one core. Errors are those of backward
// stability: L L' = A to a few eps |A|, whatever the conditioning.
#include "math/dense.h"

enum { GROUP = 4, STRIP = 8, SLAB = 128 };

// Four doubles in one register, or in two on processors without AVX; any address will do.
typedef double Lane4 __attribute__((vector_size(32), aligned(8), may_alias));

static inline const Lane4* lanes(const double* a) {
    return (const Lane4*)a;
}

static inline void store4(double* a, const Lane4* v) {
    *(Lane4*)a = *v;
}

double tdl_dot(int n, const double* a, const double* b) {
    Lane4 sum = {0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        sum += *lanes(a + i) * *lanes(b + i);
    }
    double total = (sum[0] + sum[2]) + (sum[1] + sum[3]);
    for (; i < n; ++i) {
        total += a[i] * b[i];
    }
    return total;
}

// c -= l w for a strip of 8 rows and 4 columns; w holds `depth` rows of 4.
static void subtract_strip(int depth, const double* restrict l, int ld, const double* restrict w,
                           double* restrict c) {
    Lane4 s[GROUP][2] = {{{0}}};
    for (int k = 0; k < depth; ++k) {
        Lane4 low = *lanes(l + (ptrdiff_t)k * (ptrdiff_t)ld),
              high = *lanes(l + (ptrdiff_t)k * (ptrdiff_t)ld + 4);
        for (int j = 0; j < GROUP; ++j) {
            s[j][0] += low * w[GROUP * k + j];
            s[j][1] += high * w[GROUP * k + j];
        }
    }
    for (int j = 0; j < GROUP; ++j) {
        double* column = c + (ptrdiff_t)j * (ptrdiff_t)ld;
        Lane4 low = *lanes(column) - s[j][0], high = *lanes(column + 4) - s[j][1];
        store4(column, &low);
        store4(column + 4, &high);
    }
}

// The same for any number of rows and up to 4 columns
static void subtract_edge(int rows, int columns, int depth, const double* l, int ld,
                          const double* w, double* c) {
    for (int j = 0; j < columns; ++j) {
        for (int i = 0; i < rows; ++i) {
            double sum = 0.0;
            for (int k = 0; k < depth; ++k) {
                sum += l[i + (ptrdiff_t)k * (ptrdiff_t)ld] * w[GROUP * k + j];
            }
            c[i + (ptrdiff_t)j * (ptrdiff_t)ld] -= sum;
        }
    }
}

// Takes the products of columns [0, first) from the group of columns that starts at `first`. If
// `weighted`, the products are weighted by the pivots on the diagonal (L D L').
static void update_group(int n, int first, int columns, double* a, int ld, bool weighted) {
    double w[SLAB * GROUP];
    ptrdiff_t stride = (ptrdiff_t)ld;
    for (int start = 0; start < first; start += SLAB) {
        int depth = first - start < SLAB ? first - start : SLAB;
        double* l = a + (ptrdiff_t)start * stride;
        for (int k = 0; k < depth; ++k) {
            double weight = weighted ? l[start + k + (ptrdiff_t)k * stride] : 1.0;
            for (int j = 0; j < columns; ++j) {
                w[GROUP * k + j] = weight * l[first + j + (ptrdiff_t)k * stride];
            }
        }

        // the triangle on the diagonal, column by column; its upper part is not ours
        double* c = a + (ptrdiff_t)first * stride;
        for (int j = 0; j < columns; ++j) {
            int row = first + j;
            subtract_edge(columns - j, 1, depth, l + row, ld, w + j,
                          c + row + (ptrdiff_t)j * stride);
        }

        // the rectangle below
        int row = first + columns;
        for (; columns == GROUP && row + STRIP <= n; row += STRIP) {
            subtract_strip(depth, l + row, ld, w, c + row);
        }
        subtract_edge(n - row, columns, depth, l + row, ld, w, c + row);
    }
}

// Factors the columns of one group, already updated. Returns the number of good columns.
static int factor_group(int n, int first, int columns, double* a, int ld, bool weighted) {
    for (int j = 0; j < columns; ++j) {
        int column = first + j, below = n - column;
        double* restrict c = a + column + (ptrdiff_t)column * (ptrdiff_t)ld;
        for (int k = first; k < column; ++k) {
            const double* restrict l = a + column + (ptrdiff_t)k * (ptrdiff_t)ld;
            double weight = weighted ? l[k - column] * l[0] : l[0];
            for (int i = 0; i < below; ++i) {
                c[i] -= weight * l[i];
            }
        }
        if (weighted ? !(c[0] != 0.0 && isfinite(c[0])) : !(c[0] > 0.0)) {
            return j;
        }
        c[0] = weighted ? c[0] : sqrt(c[0]);
        double inverse = 1.0 / c[0];
        for (int i = 1; i < below; ++i) {
            c[i] *= inverse;
        }
    }
    return columns;
}

static int factor(int n, double* a, int ld, bool weighted) {
    for (int first = 0; first < n; first += GROUP) {
        int columns = n - first < GROUP ? n - first : GROUP;
        update_group(n, first, columns, a, ld, weighted);
        int good = factor_group(n, first, columns, a, ld, weighted);
        if (good < columns) {
            return first + good;
        }
    }
    return n;
}

int tdl_cholesky(int n, double* a, int ld) {
    return factor(n, a, ld, false);
}

int tdl_ldl(int n, double* a, int ld) {
    return factor(n, a, ld, true);
}

// Four right-hand sides at a time, so that each column of L is read once for the four.
static void lower_solve_4(int n, const double* restrict l, int ld, bool unit, double* restrict b0,
                          double* restrict b1, double* restrict b2, double* restrict b3) {
    for (int j = 0; j < n; ++j) {
        const double* restrict c = l + (ptrdiff_t)j * (ptrdiff_t)ld;
        double inverse = unit ? 1.0 : 1.0 / c[j];
        double x0 = b0[j] *= inverse, x1 = b1[j] *= inverse;
        double x2 = b2[j] *= inverse, x3 = b3[j] *= inverse;
        for (int i = j + 1; i < n; ++i) {
            b0[i] -= c[i] * x0;
            b1[i] -= c[i] * x1;
            b2[i] -= c[i] * x2;
            b3[i] -= c[i] * x3;
        }
    }
}

void tdl_lower_solve(int n, const double* l, int ld, bool unit, int rhs_count, double* b, int ldb) {
    ptrdiff_t step = (ptrdiff_t)ldb;
    for (; rhs_count >= 4; rhs_count -= 4, b += 4 * step) {
        lower_solve_4(n, l, ld, unit, b, b + step, b + 2 * step, b + 3 * step);
    }
    for (; rhs_count > 0; --rhs_count, b += step) {
        double* restrict x = b;
        for (int j = 0; j < n; ++j) {
            const double* restrict c = l + (ptrdiff_t)j * (ptrdiff_t)ld;
            double xj = x[j] *= unit ? 1.0 : 1.0 / c[j];
            for (int i = j + 1; i < n; ++i) {
                x[i] -= c[i] * xj;
            }
        }
    }
}

void tdl_lower_transpose_solve(int n, const double* l, int ld, bool unit, int rhs_count, double* b,
                               int ldb) {
    // column by column of L, each used for all right-hand sides while it is in cache
    for (int j = n - 1; j >= 0; --j) {
        const double* c = l + (ptrdiff_t)j * (ptrdiff_t)ld;
        double inverse = unit ? 1.0 : 1.0 / c[j];
        for (int r = 0; r < rhs_count; ++r) {
            double* x = b + (ptrdiff_t)r * (ptrdiff_t)ldb;
            x[j] = (x[j] - tdl_dot(n - 1 - j, c + j + 1, x + j + 1)) * inverse;
        }
    }
}

void tdl_cholesky_solve(int n, const double* l, int ld, int rhs_count, double* b, int ldb) {
    tdl_lower_solve(n, l, ld, false, rhs_count, b, ldb);
    tdl_lower_transpose_solve(n, l, ld, false, rhs_count, b, ldb);
}

void tdl_ldl_solve(int n, const double* l, int ld, int rhs_count, double* b, int ldb) {
    tdl_lower_solve(n, l, ld, true, rhs_count, b, ldb);
    for (int j = 0; j < n; ++j) {
        for (int r = 0; r < rhs_count; ++r) {
            b[j + (ptrdiff_t)r * (ptrdiff_t)ldb] /= l[j + (ptrdiff_t)j * (ptrdiff_t)ld];
        }
    }
    tdl_lower_transpose_solve(n, l, ld, true, rhs_count, b, ldb);
}

bool tdl_gauss_solve(int n, double* a, int ld, double* b) {
    ptrdiff_t step = (ptrdiff_t)ld;
    for (int k = 0; k < n; ++k) {
        int largest = k;
        for (int i = k + 1; i < n; ++i) {
            largest = fabs(a[i + k * step]) > fabs(a[largest + k * step]) ? i : largest;
        }
        double pivot = a[largest + k * step], swap = b[k];
        if (!(pivot != 0.0 && isfinite(pivot))) {
            return false;
        }
        b[k] = b[largest];
        b[largest] = swap;
        for (int j = k; j < n; ++j) {
            swap = a[k + j * step];
            a[k + j * step] = a[largest + j * step];
            a[largest + j * step] = swap;
        }
        for (int i = k + 1; i < n; ++i) {
            double share = a[i + k * step] / pivot;
            for (int j = k + 1; j < n; ++j) {
                a[i + j * step] -= share * a[k + j * step];
            }
            b[i] -= share * b[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) {
            b[k] -= a[k + j * step] * b[j];
        }
        b[k] /= a[k + k * step];
    }
    return true;
}
