// Symmetric banded Cholesky, right-looking: each finished column is subtracted from the `width`
// columns after it, in contiguous inner loops. No pivoting is needed for definite matrices, and the
// factor stays inside the band.
#include "linalg/banded.h"

#include "math/dense.h"

#include <string.h>

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

static void solve_one(int n, int width, const double* band, double* x) {
    ptrdiff_t stride = width + 1;
    int first = 0; // what is zero before it stays so on the way down
    while (first < n && x[first] == 0.0) {
        ++first;
    }
    for (int j = first; j < n; ++j) {
        const double* restrict c = band + j * stride;
        double* restrict at = x + j;
        at[0] /= c[0];
        for (int i = 1, below = entries_below(n, width, j); i <= below; ++i) {
            at[i] -= c[i] * at[0];
        }
    }
    for (int j = n - 1; j >= 0; --j) {
        const double* c = band + j * stride;
        x[j] = (x[j] - tdl_dot(entries_below(n, width, j), c + 1, x + j + 1)) / c[0];
    }
}

// --- several right sides at once ----------------------------------------------------------------

// A row of up to four right sides is a vector. Those that the band reaches from the row at hand lie
// in a window that slides along an array and is carried back when it comes to its end.
typedef double Row __attribute__((vector_size(32)));
enum { ROW_LANES = 4, WINDOW_MOST = 16, WINDOW_RUN = 48 };

// By address: how vectors are handed over differs between processors.
static inline void load_row(int count, const double* b, int ldb, Row* row) {
    *row = (Row){0};
    for (int r = 0; r < count; ++r) {
        (*row)[r] = b[(ptrdiff_t)r * ldb];
    }
}

static inline void store_row(int count, const Row* row, double* b, int ldb) {
    for (int r = 0; r < count; ++r) {
        b[(ptrdiff_t)r * ldb] = (*row)[r];
    }
}

// L X = B from row `first` on, before which B is zero. The window has what the rows above take from
// those to come.
static inline void go_down(int n, int width, const double* band, int first, int count, double* b,
                           int ldb) {
    Row window[WINDOW_RUN + WINDOW_MOST + 1] = {0};
    int at = 0;
    for (int j = first; j < n; ++j, ++at) {
        if (at == WINDOW_RUN) {
            memcpy(window, window + at, (size_t)width * sizeof *window);
            at = 0;
        }
        const double* c = band + (ptrdiff_t)j * (width + 1);
        Row *ahead = window + at, x;
        load_row(count, b + j, ldb, &x);
        x = (x - ahead[0]) * (1.0 / c[0]);
        ahead[width] = (Row){0};
        if (j + width < n) {
            for (int i = 1; i <= width; ++i) {
                ahead[i] += c[i] * x;
            }
        } else {
            for (int i = 1; i < n - j; ++i) {
                ahead[i] += c[i] * x;
            }
        }
        store_row(count, &x, b + j, ldb);
    }
}

// L' X = B. The window has the rows of X found last.
static inline void go_up(int n, int width, const double* band, int count, double* b, int ldb) {
    Row window[WINDOW_RUN + WINDOW_MOST + 1] = {0};
    int at = WINDOW_RUN;
    for (int j = n - 1; j >= 0; --j, --at) {
        if (at < 0) {
            memmove(window + WINDOW_RUN + 1, window, (size_t)width * sizeof *window);
            at = WINDOW_RUN;
        }
        const double* c = band + (ptrdiff_t)j * (width + 1);
        Row *ahead = window + at, sum;
        load_row(count, b + j, ldb, &sum);
        if (j + width < n) {
            for (int i = width; i > 0; --i) {
                sum -= c[i] * ahead[i];
            }
        } else {
            for (int i = n - 1 - j; i > 0; --i) {
                sum -= c[i] * ahead[i];
            }
        }
        ahead[0] = sum * (1.0 / c[0]);
        store_row(count, ahead, b + j, ldb);
    }
}

static inline void solve_rows(int n, int width, const double* band, int count, double* b, int ldb) {
    int first = 0;
    for (bool zero = true; zero && first < n; first += zero) {
        for (int r = 0; r < count; ++r) {
            zero = zero && b[first + (ptrdiff_t)r * ldb] == 0.0;
        }
    }
    go_down(n, width, band, first, count, b, ldb);
    go_up(n, width, band, count, b, ldb);
}

// The width of rods' matrices is told to the compiler.
static void solve_some(int n, int width, const double* band, int count, double* b, int ldb) {
    if (width == 10 && count == 3) {
        solve_rows(n, 10, band, 3, b, ldb);
    } else {
        solve_rows(n, width, band, count, b, ldb);
    }
}

void banded_solve(int n, int width, const double* band, int rhs_count, double* b, int ldb) {
    for (int r = 0, count; r < rhs_count; r += count) {
        count = rhs_count - r < ROW_LANES ? rhs_count - r : ROW_LANES;
        if (count > 1 && width > 0 && width <= WINDOW_MOST) {
            solve_some(n, width, band, count, b + (ptrdiff_t)r * ldb, ldb);
        } else {
            count = 1;
            solve_one(n, width, band, b + (ptrdiff_t)r * ldb);
        }
    }
}
