// The contacts that matter, from a guess: sweeps go on where those to come cost less than factors,
// and steps come where they do not.
#include "friction/history.h"
#include "island.h"
#include "test.h"

// What iterations were: sweeps, and steps of either kind.
typedef struct Told {
    int sweeps, steps;
} Told;

static void keep(void* user, const TdlFrictionIterate* iterate) {
    Told* told = user;
    bool step =
        iterate->solver == TDL_FRICTION_PROXIMAL || iterate->solver == TDL_FRICTION_INTERIOR;
    told->steps += step;
    told->sweeps += !step;
}

// Solves the island, then again from what it was with every impulse off by up to a tenth.
static void solve_again(Island* f, Told* told) {
    TdlFrictionSolverKind used;
    REQUIRE(island_open(f));
    f->sys.target *= 1.0e4; // 1e-6 of |b|
    REQUIRE(run_auto(&f->run, &used) == TDL_STATUS_OK);
    REQUIRE(run_done(&f->run));
    double* u = malloc(3 * (size_t)f->sys.n * sizeof *u);
    for (int k = 0; k < 3 * f->sys.n; ++k) {
        f->best[k] *= 1.0 + 0.1 * case_range(&f->c, -1.0, 1.0);
    }
    system_velocity(&f->sys, f->best, u);
    f->run.error = system_error(&f->sys, u, f->best);
    free(u);
    History history;
    f->options.watch = keep;
    f->options.watch_user = told;
    REQUIRE(history_begin(&history, &f->arena, f->problem, &f->options, 0.0) == TDL_STATUS_OK);
    f->run.history = &history;
    f->run.given = f->run.warm = true;
    f->run.iterations = 0;
    REQUIRE(run_active(&f->run) == TDL_STATUS_OK);
    CHECK(run_done(&f->run));
    CHECK_INT(told->sweeps + told->steps, f->run.iterations);
}

enum { SWEEPS_AT_ONCE = 33 }; // of active.c: over all, and over those that matter

TEST(sweeps_go_on_where_factors_are_dear) {
    int without = 0;
    for (int seed = 1; seed <= 3; ++seed) {
        Island f = {0};
        Told told = {0};
        case_spaghetti(&f.c, (uint64_t)seed, 31, 16, 600, 0.3);
        solve_again(&f, &told);
        printf("  heap of %d contacts: %d sweeps, %d steps\n", f.sys.n, told.sweeps, told.steps);
        CHECK(told.sweeps > SWEEPS_AT_ONCE);
        without += told.steps == 0;
        island_close(&f);
    }
    CHECK(without > 0);
}

TEST(steps_come_at_once_where_they_are_cheap) {
    for (int k = 0; k < 6; ++k) {
        Island f = {0};
        Told told = {0};
        uint64_t seed = 1 + (uint64_t)k / 2;
        if (k % 2 == 0) {
            case_wisp(&f.c, seed, 80, 12, 12, 0.3);
        } else {
            case_stack(&f.c, seed, 1, 20, 0.5);
        }
        solve_again(&f, &told);
        printf("  %s of %d contacts: %d sweeps, %d steps\n", k % 2 == 0 ? "wisp" : "stack", f.sys.n,
               told.sweeps, told.steps);
        CHECK_INT(told.sweeps, SWEEPS_AT_ONCE);
        CHECK(told.steps > 0);
        island_close(&f);
    }
}
