// Patches: a place that is off among many contacts that are right, errors that are everywhere, and
// a ring that sweeps alone do not solve.
#include "friction/gauss_seidel.h"
#include "friction/patches.h"
#include "island.h"
#include "test.h"

#include <string.h>

// --- a place that is off -------------------------------------------------------------------------

enum { PATCH_CONTACTS = 256 }; // of patches.c

// Solved, with the rows of W there.
static void open_solved(Island* f) {
    case_wisp(&f->c, 3, 160, 12, 12, 0.3);
    REQUIRE(island_open(f));
    REQUIRE(run_alternating(&f->run) == TDL_STATUS_OK);
    REQUIRE(run_done(&f->run));
    REQUIRE(system_form_rows(&f->sys, &f->arena) == TDL_STATUS_OK);
}

static double error_at(Island* f, const double* r, double* u) {
    system_velocity(&f->sys, r, u);
    return system_error(&f->sys, u, r);
}

TEST(a_place_that_is_off_is_put_right) {
    Island f = {0};
    open_solved(&f);
    size_t size = 3 * (size_t)f.sys.n, bytes = size * sizeof(double);
    double *r = malloc(bytes), *u = malloc(bytes), *exact = malloc(bytes);
    for (int first = 0; first < f.sys.n; first += 97) {
        memcpy(r, f.best, bytes);
        r[3 * first] += 3.0; // impulses are about one
        double before = error_at(&f, r, u), goal = 1.0e-3 * before;
        REQUIRE(patches_solve(&f.run, goal, INFINITY, u, r) == TDL_STATUS_OK);
        double after = error_at(&f, r, exact);
        CHECK_BELOW(after, goal);
        // velocities were carried along: one rounding a change, of some hundred
        double off = 0.0;
        int moved = 0;
        for (size_t k = 0; k < size; ++k) {
            off = fmax(off, fabs(u[k] - exact[k]));
        }
        for (int i = 0; i < f.sys.n; ++i) {
            moved += memcmp(r + 3 * i, f.best + 3 * i, 3 * sizeof(double)) != 0;
        }
        CHECK_BELOW(off, 1.0e-12);
        CHECK(moved > 0);
        CHECK(moved < f.sys.n);
    }
    free(r);
    free(u);
    free(exact);
    island_close(&f);
}

TEST(errors_that_are_everywhere_are_left_to_others) {
    Island f = {0};
    open_solved(&f);
    size_t size = 3 * (size_t)f.sys.n, bytes = size * sizeof(double);
    REQUIRE(f.sys.n > 3 * PATCH_CONTACTS);
    double *r = malloc(bytes), *u = malloc(bytes), *given = malloc(bytes);
    memcpy(r, f.best, bytes);
    for (int i = 0; i < f.sys.n; ++i) {
        r[3 * i] += 0.1;
    }
    memcpy(given, r, bytes);
    error_at(&f, r, u);
    REQUIRE(patches_solve(&f.run, 0.0, INFINITY, u, r) == TDL_STATUS_OK);
    CHECK(memcmp(r, given, bytes) == 0);
    // nor is anything done where the goal is met
    memcpy(r, f.best, bytes);
    double error = error_at(&f, r, u);
    REQUIRE(patches_solve(&f.run, 2.0 * error, INFINITY, u, r) == TDL_STATUS_OK);
    CHECK(memcmp(r, f.best, bytes) == 0);
    free(r);
    free(u);
    free(given);
    island_close(&f);
}

// --- a ring --------------------------------------------------------------------------------------

enum { RING = 4 };

// Four bodies in a ring, each touched by its two neighbours: along (1, 1, 1, 1), which is (+, -, +,
// -) seen from the bodies, W is `soft`.
typedef struct Ring {
    System sys;
    ContactLaw law[RING];
    double mu[RING], b[3 * RING], diag[9 * RING], blocks[9 * RING * RING + 4];
    int start[RING + 1], column[RING * RING];
} Ring;

static void make_ring(Ring* f, double soft, const double* r) {
    *f = (Ring){0};
    for (int i = 0; i < RING; ++i) {
        f->law[i] = LAW_CONE;
        f->mu[i] = 0.1;
        f->start[i] = RING * i;
        for (int j = 0; j < RING; ++j) {
            double* w = f->blocks + 9 * (RING * i + j);
            bool beside = (i + 1) % RING == j || (j + 1) % RING == i;
            w[0] = i == j ? 2.0 + soft : beside ? -1.0 : 0.0;
            w[4] = w[8] = i == j ? 2.0 : 0.0;
            f->column[RING * i + j] = j;
            for (int k = 0; k < 9 && i == j; ++k) {
                f->diag[9 * i + k] = w[k];
            }
        }
    }
    f->start[RING] = RING * RING;
    // u = 0 at r
    for (int i = 0; i < 3 * RING; ++i) {
        for (int j = 0; j < 3 * RING; ++j) {
            f->b[i] -= f->blocks[9 * (RING * (i / 3) + j / 3) + 3 * (j % 3) + i % 3] * r[j];
        }
    }
    f->sys = (System){.d = 3,
                      .n = RING,
                      .law = f->law,
                      .mu = f->mu,
                      .b = f->b,
                      .diag = f->diag,
                      .start = f->start,
                      .column = f->column,
                      .blocks = f->blocks,
                      .block_count = RING * RING,
                      .sigma = 1.0,
                      .beta = 1.0,
                      .rho = 1.0,
                      .target = 1.0e-10,
                      .factor = 1.0};
}

TEST(a_ring_is_solved_as_one) {
    const double expected[3 * RING] = {1.0, 0.05, 0.0, 2.0, 0.0, 0.1, 1.5, 0.0, 0.0, 2.5, 0.0, 0.2};
    TdlHost host = tdl_host_default();
    Arena arena;
    arena_init(&arena, &host.mem);
    Ring f;
    make_ring(&f, 1.0e-6, expected);
    Effort effort = {.budget = INFINITY};
    f.sys.effort = &effort;
    TdlFrictionOptions o = tdl_friction_options_default();
    double swept[3 * RING] = {0}, r[3 * RING] = {0}, u[3 * RING];
    Run run = {.sys = &f.sys, .arena = &arena, .options = &o, .best = swept, .worth = INFINITY};
    Sweeper sweeper;
    REQUIRE(sweeper_init(&sweeper, &run) == TDL_STATUS_OK);
    for (int k = 0; k < 2000; ++k) {
        sweeper_sweep(&sweeper, swept);
    }
    system_velocity(&f.sys, swept, u);
    CHECK(system_error(&f.sys, u, swept) > 1.0e-7); // they go a part of 2e-3 of the way
    system_velocity(&f.sys, r, u);
    REQUIRE(patches_solve(&run, f.sys.target, 0.0, u, r) == TDL_STATUS_OK);
    for (int k = 0; k < 3 * RING; ++k) {
        CHECK(r[k] == 0.0); // nothing was allowed
    }
    CHECK(effort.budget == INFINITY);
    REQUIRE(patches_solve(&run, f.sys.target, INFINITY, u, r) == TDL_STATUS_OK);
    system_velocity(&f.sys, r, u);
    CHECK_BELOW(system_error(&f.sys, u, r), f.sys.target);
    // impulses are unique, and 1e-10 over the softness is what may be left of them
    for (int k = 0; k < 3 * RING; ++k) {
        CHECK_NEAR(r[k], expected[k], 1.0e-3);
    }
    arena_destroy(&arena);
}
