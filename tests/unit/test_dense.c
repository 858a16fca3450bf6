#include "math/dense.h"

#include "base/rng.h"
#include "test.h"

static const double EPS = 0x1p-52;

enum { MAX_N = 160, LD = MAX_N + 3 };
static double a[LD * MAX_N], f[LD * MAX_N], b[LD * 8], x[LD * 8];

static double* at(double* m, int i, int j) {
    return &m[i + j * LD];
}

static double guard(int i, int j) {
    return 1.0e33 + i + 1000.0 * j;
}

// A = sum_k w_k v_k v_k' with random v: definite for positive w, else indefinite. The upper
// triangle is filled with numbers that nobody may touch.
static void random_matrix(Rng* rng, int n, bool definite) {
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < LD; ++i) {
            *at(a, i, j) = i >= j && i < n ? rng_range(rng, -1.0, 1.0) : guard(i, j);
        }
        *at(a, j, j) += definite ? 2.0 * sqrt(n) + 1.0 : (j % 3 == 0 ? -1.0 : 1.0) * 3.0 * n;
    }
    memcpy(f, a, sizeof a);
}

static double entry(const double* m, int i, int j) {
    return i >= j ? m[i + j * LD] : m[j + i * LD];
}

// max |L D L' - A| / max |A|
static double factor_error(int n, bool weighted) {
    double worst = 0.0, size = 0.0;
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            double sum = 0.0;
            for (int k = 0; k <= j; ++k) {
                double li = weighted && i == k ? 1.0 : *at(f, i, k);
                double lj = weighted && j == k ? 1.0 : *at(f, j, k);
                sum += li * lj * (weighted ? *at(f, k, k) : 1.0);
            }
            worst = fmax(worst, fabs(sum - *at(a, i, j)));
            size = fmax(size, fabs(*at(a, i, j)));
        }
    }
    return worst / size;
}

static bool guards_stand(int n) {
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < LD; ++i) {
            if ((i < j || i >= n) && *at(f, i, j) != guard(i, j)) {
                return false;
            }
        }
    }
    return true;
}

// max |A x - b| / (|A| |x|) over all right-hand sides
static double solve_error(int n, int rhs_count) {
    double worst = 0.0;
    for (int r = 0; r < rhs_count; ++r) {
        for (int i = 0; i < n; ++i) {
            double sum = -*at(b, i, r), size = fabs(*at(b, i, r));
            for (int j = 0; j < n; ++j) {
                sum += entry(a, i, j) * *at(x, j, r);
                size += fabs(entry(a, i, j) * *at(x, j, r));
            }
            worst = fmax(worst, fabs(sum) / size);
        }
    }
    return worst;
}

static void random_right_sides(Rng* rng) {
    for (int i = 0; i < LD * 8; ++i) {
        b[i] = rng_range(rng, -1.0, 1.0);
    }
    memcpy(x, b, sizeof b);
}

TEST(factors_and_solutions_of_every_size) {
    Rng rng = rng_seed(1);
    double worst_factor = 0.0, worst_solve = 0.0;
    for (int n = 0; n <= MAX_N; n += n < 40 ? 1 : 17) {
        for (int kind = 0; kind < 3; ++kind) { // Cholesky, LDL' definite, LDL' indefinite
            bool weighted = kind > 0;
            random_matrix(&rng, n, kind < 2);
            int good = weighted ? tdl_ldl(n, f, LD) : tdl_cholesky(n, f, LD);
            CHECK_INT(good, n);
            CHECK(guards_stand(n));
            worst_factor = fmax(worst_factor, n > 0 ? factor_error(n, weighted) : 0.0);
            int rhs_count = 1 + n % 7;
            random_right_sides(&rng);
            if (weighted) {
                tdl_ldl_solve(n, f, LD, rhs_count, x, LD);
            } else {
                tdl_cholesky_solve(n, f, LD, rhs_count, x, LD);
            }
            worst_solve = fmax(worst_solve, solve_error(n, rhs_count));
        }
    }
    printf("  worst: factor %.2g, solve %.2g\n", worst_factor, worst_solve);
    CHECK_BELOW(worst_factor, 20.0 * EPS); // sums of up to 160 products grow like sqrt(160)
    CHECK_BELOW(worst_solve, 20.0 * EPS);
}

TEST(large_factor_crosses_slabs) {
    enum { N = 301 };
    static double m[N * N], g[N * N], y[N];
    Rng rng = rng_seed(2);
    for (int i = 0; i < N * N; ++i) {
        m[i] = rng_range(&rng, -1.0, 1.0);
    }
    for (int i = 0; i < N; ++i) {
        m[i * N + i] += 40.0;
        y[i] = 1.0;
    }
    memcpy(g, m, sizeof m);
    CHECK_INT(tdl_cholesky(N, g, N), N);
    tdl_cholesky_solve(N, g, N, 1, y, N);
    for (int i = 0; i < N; ++i) {
        double sum = -1.0;
        for (int j = 0; j < N; ++j) {
            sum += (i >= j ? m[i + j * N] : m[j + i * N]) * y[j];
        }
        CHECK_BELOW(fabs(sum), 1.0e-14);
    }
}

TEST(bad_pivots_are_reported_with_their_column) {
    Rng rng = rng_seed(3);
    for (int n = 1; n < 40; ++n) {
        for (int column = 0; column < n; ++column) {
            random_matrix(&rng, n, true);
            *at(f, column, column) = -1.0;
            CHECK_INT(tdl_cholesky(n, f, LD), column);
            memcpy(f, a, sizeof a);
            *at(f, column, column) = NAN;
            CHECK_INT(tdl_cholesky(n, f, LD), column);
        }
    }
    double zero[4] = {0}, exchange[4] = {0.0, 1.0, 1.0, 0.0}, rank_one[4] = {1.0, 2.0, 2.0, 4.0};
    CHECK_INT(tdl_cholesky(2, zero, 2), 0);
    CHECK_INT(tdl_ldl(2, zero, 2), 0);
    CHECK_INT(tdl_ldl(2, exchange, 2), 0);
    CHECK_INT(tdl_cholesky(2, rank_one, 2), 1);
    double infinite[4] = {INFINITY, 1.0, 1.0, 1.0};
    CHECK_INT(tdl_ldl(2, infinite, 2), 0);
}

TEST(hilbert_matrices_keep_a_small_residual) {
    // condition number 1e13 at n = 10; the factorisation is backward stable all the same
    for (int n = 2; n <= 10; ++n) {
        for (int j = 0; j < n; ++j) {
            for (int i = 0; i < n; ++i) {
                *at(a, i, j) = 1.0 / (i + j + 1);
            }
        }
        memcpy(f, a, sizeof a);
        CHECK_INT(tdl_cholesky(n, f, LD), n);
        CHECK_BELOW(factor_error(n, false), 4.0 * EPS);
        for (int i = 0; i < n; ++i) {
            *at(b, i, 0) = i % 2 == 0 ? 1.0 : -1.0;
        }
        memcpy(x, b, sizeof b);
        tdl_cholesky_solve(n, f, LD, 1, x, LD);
        CHECK_BELOW(solve_error(n, 1), 10.0 * EPS);
    }
    // far beyond 1/eps rounding decides, but the answer is one of the two honest ones
    int n = 30;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            *at(a, i, j) = 1.0 / (i + j + 1);
        }
    }
    memcpy(f, a, sizeof a);
    int good = tdl_cholesky(n, f, LD);
    CHECK(good >= 10 && good <= n);
}

static void check_fixed(Rng* rng, int n) {
    double m[36], l[36], y[6], right[6], reference[36], z[6];
    for (int i = 0; i < n * n; ++i) {
        m[i] = rng_range(rng, -1.0, 1.0);
    }
    for (int i = 0; i < n; ++i) {
        m[i * n + i] += 4.0;
        right[i] = y[i] = z[i] = rng_range(rng, -1.0, 1.0);
    }
    memcpy(l, m, sizeof m);
    memcpy(reference, m, sizeof m);
    CHECK_INT(n == 3 ? tdl_cholesky_3(l) : tdl_cholesky_6(l), n);
    if (n == 3) {
        tdl_cholesky_3_solve(l, y);
    } else {
        tdl_cholesky_6_solve(l, y);
    }
    CHECK_INT(tdl_cholesky(n, reference, n), n);
    tdl_cholesky_solve(n, reference, n, 1, z, n);
    for (int i = 0; i < n; ++i) {
        double sum = -right[i];
        for (int j = 0; j < n; ++j) {
            sum += (i >= j ? m[i + j * n] : m[j + i * n]) * y[j];
        }
        CHECK_BELOW(fabs(sum), 20.0 * EPS);
        CHECK_NEAR(y[i], z[i], 20.0 * EPS);
    }
    // each column in turn spoilt
    int column = rng_below(rng, n);
    m[column * n + column] = -0.1;
    CHECK_INT(n == 3 ? tdl_cholesky_3(m) : tdl_cholesky_6(m), column);
}

TEST(fixed_sizes_agree_with_the_general_code) {
    Rng rng = rng_seed(4);
    for (int i = 0; i < 2000; ++i) {
        check_fixed(&rng, 3);
        check_fixed(&rng, 6);
    }
}

// Whole matrices whose first pivot is zero, against what they were made of.
TEST(elimination_exchanges_rows) {
    uint64_t state = 7;
    for (int n = 1; n <= 6; ++n) {
        double whole[36], left[36], given[6] = {0}, wanted[6];
        for (int i = 0; i < n * n; ++i) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            whole[i] = left[i] = i == 0 && n > 1 ? 0.0 : (double)(state >> 40) * 0x1p-23 - 1.0;
        }
        for (int j = 0; j < n; ++j) {
            wanted[j] = 1.0 + j;
            for (int i = 0; i < n; ++i) {
                given[i] += whole[i + j * n] * wanted[j];
            }
        }
        CHECK(tdl_gauss_solve(n, left, n, given));
        for (int i = 0; i < n; ++i) {
            CHECK_NEAR(given[i], wanted[i], 1.0e-12);
        }
    }
    double flat[4] = {1.0, 2.0, 2.0, 4.0}, rhs[2] = {1.0, 1.0};
    CHECK(!tdl_gauss_solve(2, flat, 2, rhs));
}

TEST(dot_products) {
    double u[11], v[11];
    for (int n = 0; n <= 11; ++n) {
        double exact = 0.0;
        for (int i = 0; i < n; ++i) {
            u[i] = i + 1;
            v[i] = 2 * i - 3;
            exact += u[i] * v[i];
        }
        CHECK(tdl_dot(n, u, v) == exact); // small integers: no rounding
    }
}
