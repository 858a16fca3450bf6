// The sparse LU by fronts against the matrix written out.
#include "base/rng.h"
#include "linalg/front_lu.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

typedef struct Fixture {
    int n, *start, *column;
    double* blocks;
    Reduced* reduced;
    Arena arena;
    Rng rng;
} Fixture;

static double unit(Fixture* f) {
    return 2.0 * rng_unit(&f->rng) - 1.0;
}

// Block rows in a ring, each coupled to the next few and to some at random: symmetric, dominant.
static void make_system(Fixture* f, int n, double density, uint64_t seed) {
    TdlHost host = tdl_host_default();
    memset(f, 0, sizeof *f);
    arena_init(&f->arena, &host.mem);
    f->rng = rng_seed(seed);
    bool* coupled = ARENA_NEW(&f->arena, bool, (size_t)n*(size_t)n);
    memset(coupled, 0, (size_t)n * (size_t)n);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            int apart = abs(i - j) < n - abs(i - j) ? abs(i - j) : n - abs(i - j);
            if (apart <= 2 || rng_unit(&f->rng) < density) {
                coupled[i * n + j] = coupled[j * n + i] = true;
            }
        }
    }
    f->n = n;
    f->start = ARENA_NEW(&f->arena, int, n + 1);
    f->column = ARENA_NEW(&f->arena, int, n* n);
    f->blocks = ARENA_NEW(&f->arena, double, 9 * n * n + 4);
    f->reduced = ARENA_NEW(&f->arena, Reduced, n);
    memset(f->reduced, 0, (size_t)n * sizeof(Reduced));
    int* at = ARENA_NEW(&f->arena, int, n* n);
    int k = 0;
    for (int i = 0; i < n; ++i) {
        f->start[i] = k;
        for (int j = 0; j < n; ++j) {
            if (coupled[i * n + j]) {
                at[i * n + j] = k;
                f->column[k++] = j;
            }
        }
    }
    f->start[n] = k;
    for (int i = 0; i < n; ++i) {
        for (int j = i; j < n; ++j) {
            for (int c = 0; coupled[i * n + j] && c < 9; ++c) {
                int turned = c % 3 * 3 + c / 3;
                double x = unit(f) + (i == j && c % 4 == 0 ? 4.0 : 0.0);
                f->blocks[9 * at[i * n + j] + c] = x;
                f->blocks[9 * at[j * n + i] + turned] = x;
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        Reduced* a = &f->reduced[i];
        a->size = rng_below(&f->rng, 4);
        for (int c = 0; c < 3 * a->size; ++c) {
            a->test[c] = (c % 4 == 0 ? 1.0 : 0.0) + 0.2 * unit(f);
            a->trial[c] = (c % 4 == 0 ? 1.0 : 0.0) + 0.2 * unit(f);
        }
        for (int c = 0; c < a->size; ++c) {
            a->add[4 * c] = rng_unit(&f->rng);
        }
    }
}

static TdlStatus analyse(FrontLu* lu, Fixture* f) {
    BlockPattern pattern = {f->n, 3, f->start, f->column, NULL};
    return front_lu_analyse(lu, &f->arena, &pattern, f->reduced);
}

// The largest part of S'W T x + A x - b, written out.
static double residual(const Fixture* f, const double* x, const double* b) {
    double worst = 0.0;
    for (int i = 0; i < f->n; ++i) {
        double u[3] = {0};
        for (int e = f->start[i]; e < f->start[i + 1]; ++e) {
            const Reduced* a = &f->reduced[f->column[e]];
            for (int k = 0; k < 9; ++k) {
                for (int c = 0; c < a->size; ++c) {
                    u[k % 3] +=
                        f->blocks[9 * e + k] * a->trial[3 * c + k / 3] * x[3 * f->column[e] + c];
                }
            }
        }
        const Reduced* a = &f->reduced[i];
        for (int k = 0; k < a->size; ++k) {
            double sum = -b[3 * i + k];
            for (int c = 0; c < 3; ++c) {
                sum += a->test[3 * k + c] * u[c];
            }
            for (int c = 0; c < a->size; ++c) {
                sum += a->add[3 * c + k] * x[3 * i + c];
            }
            worst = fmax(worst, fabs(sum));
        }
    }
    return worst;
}

TEST(fronts_solve_what_is_written_out) {
    for (int trial = 0; trial < 60; ++trial) {
        Fixture f;
        int n = 1 + trial * 2;
        make_system(&f, n, trial % 3 * 0.02, (uint64_t)trial + 1);
        double x[3 * 128] = {0}, b[3 * 128] = {0};
        for (int k = 0; k < 3 * n; ++k) {
            x[k] = b[k] = unit(&f);
        }
        FrontLu lu;
        REQUIRE(analyse(&lu, &f) == TDL_STATUS_OK);
        front_lu_factor(&lu, f.blocks, NULL);
        front_lu_solve(&lu, x);
        CHECK_INT(lu.shifted, 0);
        // growth of elements and condition are modest: diagonals dominate
        CHECK_BELOW(residual(&f, x, b), 1.0e-10);
        arena_destroy(&f.arena);
    }
}

// A front of some 450 unknowns, whose columns threads share.
TEST(wide_fronts_have_the_same_bits_for_any_number_of_threads) {
    enum { N = 300 };
    TdlHost host = tdl_host_default();
    Fixture f;
    static double b[3 * N], x[3][3 * N];
    make_system(&f, N, 0.3, 5);
    for (int k = 0; k < 3 * N; ++k) {
        b[k] = unit(&f);
    }
    for (int threads = 1; threads <= 3; ++threads) {
        double* own = x[threads - 1];
        FrontLu lu;
        Pool* pool;
        REQUIRE(pool_create(&host, threads, &pool) == TDL_STATUS_OK);
        REQUIRE(analyse(&lu, &f) == TDL_STATUS_OK);
        int widest = 0;
        for (int k = 0; k < lu.front_count; ++k) {
            widest = lu.front[k].width > widest ? lu.front[k].width : widest;
        }
        CHECK(widest > 350);
        memcpy(own, b, sizeof b);
        front_lu_factor(&lu, f.blocks, pool);
        front_lu_solve(&lu, own);
        CHECK_BELOW(residual(&f, own, b), 1.0e-8);
        CHECK(memcmp(own, x[0], sizeof b) == 0);
        pool_destroy(pool);
    }
    arena_destroy(&f.arena);
}

TEST(a_singular_matrix_is_shifted_and_said_so) {
    Fixture f;
    make_system(&f, 3, 0.0, 1);
    memset(f.blocks, 0, 9 * (size_t)f.start[f.n] * sizeof(double));
    for (int i = 0; i < 3; ++i) {
        f.reduced[i].size = 1;
        memset(f.reduced[i].add, 0, sizeof f.reduced[i].add);
    }
    double x[9] = {1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0};
    FrontLu lu;
    REQUIRE(analyse(&lu, &f) == TDL_STATUS_OK);
    front_lu_factor(&lu, f.blocks, NULL);
    front_lu_solve(&lu, x);
    CHECK_INT(lu.shifted, 3);
    arena_destroy(&f.arena);
}
