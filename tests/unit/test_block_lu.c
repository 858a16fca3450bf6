// The sparse block LU against the matrix written out, for blocks of both sizes.
#include "linalg/block_lu.h"

#include "base/rng.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
    BlockPattern pattern;
    int *start, *column;
    double* value;
    bool* idle; // rows that are the identity
    Arena arena;
    Rng rng;
} Fixture;

static double unit(Fixture* f) {
    return 2.0 * rng_unit(&f->rng) - 1.0;
}

static void couple(Fixture* f, int n, double density, bool* coupled) {
    for (int i = 0; i < n; ++i) {
        for (int j = i; j < n; ++j) {
            bool near = j - i <= 1 || rng_unit(&f->rng) < density;
            coupled[i * n + j] = coupled[j * n + i] = near;
        }
    }
}

// A band and some places at random, diagonal blocks that dominate; every fifth row idle on demand.
static void make_matrix(Fixture* f, int n, int d, bool symmetric, bool some_idle, uint64_t seed) {
    TdlHost host = tdl_host_default();
    memset(f, 0, sizeof *f);
    arena_init(&f->arena, &host.mem);
    f->rng = rng_seed(seed);
    size_t places = (size_t)n * (size_t)n, d2 = (size_t)(d * d);
    bool* coupled = ARENA_NEW(&f->arena, bool, places);
    int* at = ARENA_NEW(&f->arena, int, places);
    f->start = ARENA_NEW(&f->arena, int, (size_t)n + 1);
    f->column = ARENA_NEW(&f->arena, int, places);
    f->value = ARENA_NEW(&f->arena, double, places* d2);
    f->idle = ARENA_NEW(&f->arena, bool, n);
    couple(f, n, 0.1, coupled);
    int count = 0;
    for (int i = 0; i < n; ++i) {
        f->idle[i] = some_idle && i % 5 == 0;
        f->start[i] = count;
        for (int j = 0; j < n; ++j) {
            at[i * n + j] = count;
            f->column[count] = j;
            count += coupled[i * n + j];
        }
    }
    f->start[n] = count;
    f->pattern = (BlockPattern){n, d, f->start, f->column, NULL};
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            for (int k = 0; k < d * d && coupled[i * n + j]; ++k) {
                bool diagonal = i == j && k % d == k / d;
                double x = unit(f) + (diagonal ? 20.0 : 0.0);
                x = f->idle[i] ? (diagonal ? 1.0 : 0.0) : x;
                int turned = k % d * d + k / d;
                f->value[at[i * n + j] * d * d + k] = x;
                if (symmetric && (j < i || (i == j && turned < k))) {
                    f->value[at[i * n + j] * d * d + k] = f->value[at[j * n + i] * d * d + turned];
                }
            }
        }
    }
}

// The largest part of A x - b, written out.
static double residual(const Fixture* f, const double* x, const double* b) {
    int d = f->pattern.d;
    double worst = 0.0;
    for (int i = 0; i < f->pattern.n; ++i) {
        for (int k = 0; k < d; ++k) {
            double sum = -b[i * d + k];
            for (int e = f->start[i]; e < f->start[i + 1]; ++e) {
                for (int c = 0; c < d; ++c) {
                    sum += f->value[(e * d + c) * d + k] * x[f->column[e] * d + c];
                }
            }
            worst = fmax(worst, fabs(sum));
        }
    }
    return worst;
}

static void check_solves(int n, int d, bool symmetric, bool some_idle, uint64_t seed) {
    Fixture f;
    BlockLu lu;
    double x[6 * 64], b[6 * 64];
    make_matrix(&f, n, d, symmetric, some_idle, seed);
    for (int k = 0; k < n * d; ++k) {
        x[k] = b[k] = unit(&f);
    }
    REQUIRE(block_lu_analyse(&lu, &f.arena, &f.pattern) == TDL_STATUS_OK);
    block_lu_factor(&lu, f.value, some_idle ? f.idle : NULL, symmetric);
    block_lu_solve(&lu, x);
    CHECK_INT(lu.shifted, 0);
    CHECK_BELOW(residual(&f, x, b), 1.0e-12); // diagonals dominate: some hundred roundings
    arena_destroy(&f.arena);
}

TEST(blocks_solve_what_is_written_out) {
    for (int trial = 0; trial < 40; ++trial) {
        int n = 1 + trial, d = trial % 2 == 0 ? 3 : 6;
        check_solves(n, d, false, false, (uint64_t)trial + 1);
        check_solves(n, d, true, false, (uint64_t)trial + 101);
        check_solves(n, d, false, true, (uint64_t)trial + 201);
    }
}

TEST(the_sign_of_the_determinant_is_told) {
    static const int start[] = {0, 1, 2}, column[] = {0, 1};
    // two blocks: two rows exchanged in the first, a negative entry in the second
    double value[18] = {0, 2, 0, 3, 0, 0, 0, 0, 4, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    TdlHost host = tdl_host_default();
    Arena arena;
    arena_init(&arena, &host.mem);
    BlockPattern pattern = {2, 3, start, column, NULL};
    BlockLu lu;
    REQUIRE(block_lu_analyse(&lu, &arena, &pattern) == TDL_STATUS_OK);
    block_lu_factor(&lu, value, NULL, false);
    CHECK_INT(lu.sign, -1);
    value[17] = -1.0;
    block_lu_factor(&lu, value, NULL, false);
    CHECK_INT(lu.sign, 1);
    arena_destroy(&arena);
}

TEST(a_singular_block_is_shifted_and_said_so) {
    Fixture f;
    make_matrix(&f, 3, 3, false, false, 1);
    memset(f.value, 0, 9 * (size_t)f.start[3] * sizeof(double));
    BlockLu lu;
    REQUIRE(block_lu_analyse(&lu, &f.arena, &f.pattern) == TDL_STATUS_OK);
    block_lu_factor(&lu, f.value, NULL, false);
    CHECK_INT(lu.shifted, 9);
    arena_destroy(&f.arena);
}
