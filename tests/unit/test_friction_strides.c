// Full steps and sweeps in turn: wisps are solved by them, and in heaps where W is singular the
// first step that leads far astray is the last.
#include "friction/history.h"
#include "island.h"
#include "test.h"

enum { MOST_TOLD = 2000 };
static const double ASTRAY = 1.0e5; // of strides.c

typedef struct Told {
    int count;
    TdlFrictionIterate row[MOST_TOLD];
} Told;

static void keep(void* user, const TdlFrictionIterate* iterate) {
    Told* told = user;
    if (told->count < MOST_TOLD) {
        told->row[told->count++] = *iterate;
    }
}

// Iterations of strides on the island, from zero.
static void stride(Island* f, Told* told) {
    History history;
    *told = (Told){0};
    f->options.watch = keep;
    f->options.watch_user = told;
    REQUIRE(history_begin(&history, &f->arena, f->problem, &f->options, 0.0) == TDL_STATUS_OK);
    f->run.history = &history;
    REQUIRE(run_strides(&f->run) == TDL_STATUS_OK);
    REQUIRE(told->count < MOST_TOLD);
    REQUIRE(told->count == f->run.iterations);
}

// Steps; those that led to more than ASTRAY times the best error before them, and whether one of
// these was not the last iteration.
typedef struct Steps {
    int all, astray;
    bool went_on;
} Steps;

static Steps count_steps(const Told* told) {
    Steps steps = {0};
    double best = INFINITY;
    for (int k = 0; k < told->count; ++k) {
        const TdlFrictionIterate* x = &told->row[k];
        bool step = x->solver == TDL_FRICTION_ALTERNATING;
        bool astray = step && x->error > ASTRAY * best;
        steps.all += step;
        steps.astray += astray;
        steps.went_on = steps.went_on || (astray && k + 1 < told->count);
        best = fmin(best, x->error);
    }
    return steps;
}

TEST(wisps_are_solved_by_steps) {
    static Told told;
    Island f = {0};
    case_wisp(&f.c, 3, 160, 12, 12, 0.3);
    REQUIRE(island_open(&f));
    stride(&f, &told);
    Steps steps = count_steps(&told);
    printf("  %d iterations, %d steps\n", told.count, steps.all);
    CHECK(run_done(&f.run));
    CHECK(steps.all > 0);
    CHECK_INT(steps.astray, 0);
    island_close(&f);
}

TEST(a_step_far_astray_is_the_last) {
    static Told told;
    int found = 0;
    for (int seed = 1; seed <= 4; ++seed) {
        Island f = {0};
        case_spaghetti(&f.c, (uint64_t)seed, 16, 16, 400, 0.3);
        REQUIRE(island_open(&f));
        double first = f.run.error;
        stride(&f, &told);
        Steps steps = count_steps(&told);
        printf("  seed %d: %d iterations, %d steps, %d astray, error %.1e of %.1e\n", seed,
               told.count, steps.all, steps.astray, f.run.error, first);
        CHECK(!steps.went_on);
        CHECK(f.run.error < first); // the best before it is kept
        found += steps.astray;
        island_close(&f);
    }
    CHECK(found > 0);
}
