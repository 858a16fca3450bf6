#include "linalg/banded.h"

#include "base/rng.h"
#include "math/dense.h"
#include "test.h"

static const double EPS = 0x1p-52;

enum { N = 130, RHS = 6 };
static double band[N * (N + 1)], factor[N * (N + 1)], dense[N * N], b[N * RHS], x[N * RHS];

static void random_band(Rng* rng, int n, int width) {
    memset(dense, 0, sizeof dense);
    for (int j = 0; j < n; ++j) {
        for (int k = 0; k <= width; ++k) {
            bool inside = j + k < n;
            double v = k == 0 ? 2.0 * sqrt(width) + 1.0 : rng_range(rng, -1.0, 1.0);
            band[k + j * (width + 1)] = inside ? v : NAN; // beyond the last row: not read
            if (inside) {
                dense[j + k + j * N] = dense[j + (j + k) * N] = v;
            }
        }
    }
    memcpy(factor, band, sizeof band);
}

TEST(banded_solutions_have_small_residuals) {
    Rng rng = rng_seed(1);
    double worst = 0.0;
    for (int trial = 0; trial < 300; ++trial) {
        int n = rng_below(&rng, N + 1), width = rng_below(&rng, trial % 2 == 0 ? n + 1 : 13);
        int count = 1 + rng_below(&rng, RHS), zeros = rng_below(&rng, n + 1);
        width = width <= n ? width : 0;
        random_band(&rng, n, width);
        for (int i = 0; i < N * RHS; ++i) {
            x[i] = b[i] = i % N < zeros ? 0.0 : rng_range(&rng, -1.0, 1.0);
        }
        CHECK_INT(banded_cholesky(n, width, factor), n);
        banded_solve(n, width, factor, count, x, N);
        for (int r = 0; r < count; ++r) {
            for (int i = 0; i < n; ++i) {
                double product = 0.0, size = fabs(b[i + r * N]);
                for (int j = 0; j < n; ++j) {
                    product += dense[i + j * N] * x[j + r * N];
                    size += fabs(dense[i + j * N] * x[j + r * N]);
                }
                worst = fmax(worst, fabs(product - b[i + r * N]) / size);
            }
        }
    }
    printf("  worst residual: %.2g\n", worst);
    CHECK_BELOW(worst, 20.0 * EPS);
}

TEST(banded_factor_equals_the_dense_one) {
    Rng rng = rng_seed(2);
    int n = 40, width = 7;
    random_band(&rng, n, width);
    banded_cholesky(n, width, factor);
    tdl_cholesky(n, dense, N);
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            double entry = i - j <= width ? factor[i - j + j * (width + 1)] : 0.0;
            CHECK_NEAR(entry, dense[i + j * N], 20.0 * EPS);
        }
    }
}

TEST(banded_failures_name_the_column) {
    Rng rng = rng_seed(3);
    for (int column = 0; column < 30; ++column) {
        random_band(&rng, 30, 4);
        factor[column * 5] = column % 2 == 0 ? -1.0 : NAN;
        CHECK_INT(banded_cholesky(30, 4, factor), column);
    }
    double free_chain[] = {1.0, -1.0, 2.0, -1.0, 1.0, 0.0}; // singular: translation
    CHECK_INT(banded_cholesky(3, 1, free_chain), 2);
    CHECK_INT(banded_cholesky(0, 0, NULL), 0);
}
