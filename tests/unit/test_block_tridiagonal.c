#include "linalg/block_tridiagonal.h"

#include "base/rng.h"
#include "math/dense.h"
#include "test.h"

static const double EPS = 0x1p-52;

enum { MAX_N = 14, MAX_B = 13, SIZE = MAX_N * MAX_B, RHS = 2 };
static double diagonal[MAX_N * MAX_B * MAX_B], below[MAX_N * MAX_B * MAX_B];
static double dense[SIZE * SIZE], b[SIZE * RHS], x[SIZE * RHS], y[SIZE];

static BlockTridiagonal random_matrix(Rng* rng, int n, int size, bool definite) {
    BlockTridiagonal a = {n, size, diagonal, below};
    memset(dense, 0, sizeof dense);
    for (int k = 0; k < n; ++k) {
        double sign = definite || k % 2 == 0 ? 1.0 : -1.0;
        for (int j = 0; j < size; ++j) {
            for (int i = 0; i < size; ++i) {
                double d = rng_range(rng, -1.0, 1.0) + (i == j ? sign * 3.0 * size : 0.0);
                double e = rng_range(rng, -1.0, 1.0);
                int row = k * size + i, column = k * size + j, at = (k * size + j) * size + i;
                diagonal[at] = i >= j ? d : NAN; // the upper triangle is not read
                if (i >= j) {
                    dense[row + column * SIZE] = dense[column + row * SIZE] = d;
                }
                if (k + 1 < n) {
                    below[at] = e;
                    dense[row + size + column * SIZE] = dense[column + (row + size) * SIZE] = e;
                }
            }
        }
    }
    return a;
}

TEST(block_tridiagonal_solutions_have_small_residuals) {
    Rng rng = rng_seed(1);
    double worst = 0.0;
    for (int trial = 0; trial < 200; ++trial) {
        int n = rng_below(&rng, MAX_N + 1), size = 1 + rng_below(&rng, MAX_B), all = n * size;
        bool definite = trial % 2 == 0;
        BlockTridiagonal a = random_matrix(&rng, n, size, definite);
        for (int i = 0; i < SIZE * RHS; ++i) {
            x[i] = b[i] = rng_range(&rng, -1.0, 1.0);
        }
        block_tridiagonal_multiply(&a, b, y);
        for (int i = 0; i < all; ++i) {
            double product = 0.0;
            for (int j = 0; j < all; ++j) {
                product += dense[i + j * SIZE] * b[j];
            }
            CHECK_NEAR(y[i], product, 1.0e-13);
        }
        CHECK_INT(block_tridiagonal_factor(&a, definite), all);
        block_tridiagonal_solve(&a, RHS, x, SIZE);
        for (int r = 0; r < RHS; ++r) {
            for (int i = 0; i < all; ++i) {
                double sum = -b[i + r * SIZE], scale = fabs(sum);
                for (int j = 0; j < all; ++j) {
                    sum += dense[i + j * SIZE] * x[j + r * SIZE];
                    scale += fabs(dense[i + j * SIZE] * x[j + r * SIZE]);
                }
                worst = fmax(worst, fabs(sum) / scale);
            }
        }
    }
    printf("  worst residual: %.2g\n", worst);
    CHECK_BELOW(worst, 20.0 * EPS);
}

TEST(block_tridiagonal_agrees_with_dense) {
    Rng rng = rng_seed(2);
    BlockTridiagonal a = random_matrix(&rng, 10, 6, true);
    for (int i = 0; i < SIZE * RHS; ++i) {
        x[i] = b[i] = rng_range(&rng, -1.0, 1.0);
    }
    block_tridiagonal_factor(&a, true);
    block_tridiagonal_solve(&a, RHS, x, SIZE);
    CHECK_INT(tdl_cholesky(60, dense, SIZE), 60);
    tdl_cholesky_solve(60, dense, SIZE, RHS, b, SIZE);
    for (int i = 0; i < 60; ++i) {
        CHECK_NEAR(x[i], b[i], 1.0e-15);
        CHECK_NEAR(x[i + SIZE], b[i + SIZE], 1.0e-15);
    }
}

TEST(block_tridiagonal_failures_name_the_column) {
    Rng rng = rng_seed(3);
    for (int column = 0; column < 24; ++column) {
        int at = column * 4 + column % 4;
        BlockTridiagonal a = random_matrix(&rng, 6, 4, true);
        diagonal[at] = -5.0;
        CHECK_INT(block_tridiagonal_factor(&a, true), column);
        a = random_matrix(&rng, 6, 4, true);
        diagonal[at] = -5.0;
        CHECK_INT(block_tridiagonal_factor(&a, false), 24);
        a = random_matrix(&rng, 6, 4, true);
        diagonal[at] = NAN;
        CHECK_INT(block_tridiagonal_factor(&a, false), column);
    }
    double singular[3] = {1.0, 2.0, 1.0}, coupling[2] = {-1.0, -1.0};
    BlockTridiagonal chain = {3, 1, singular, coupling};
    CHECK_INT(block_tridiagonal_factor(&chain, false), 2);
}
