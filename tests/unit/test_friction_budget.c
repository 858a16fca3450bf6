// What a solve may cost, and requests to stop: every solver and every stage within its budget,
// counted in multiplications, and none that goes on when it was asked not to.
#include "friction/study/study.h"
#include "island.h"
#include "linalg/block_lu.h"
#include "linalg/front_lu.h"
#include "test.h"

static TdlStatus run_all(Run* run) {
    TdlFrictionSolverKind used;
    return run_auto(run, &used);
}

typedef struct Named {
    const char* name;
    RunFn run;
    bool formed; // it needs W
} Named;

static const Named SOLVERS[] = {
    {"gauss-seidel", run_gauss_seidel, false},
    {"anderson", run_anderson, false},
    {"proximal", run_proximal, false},
    {"gradient", run_gradient, false},
    {"active", run_active, false},
    {"strides", run_strides, false},
    {"interior", run_interior, false},
    {"path", run_path, false},
    {"wedges", run_wedges, false},
    {"auto", run_all, false},
    {"newton", run_newton, true},
    {"admm", run_admm, true},
    {"fixed point", run_fixed_point, false},
    {"faceted", run_faceted, true},
    {"nodal", run_nodal, false},
    {"active set", run_active_set, true},
    {"its rival", run_normal_interior, true},
};
enum { SOLVER_COUNT = sizeof SOLVERS / sizeof *SOLVERS };

// What a solver does from zero with a budget.
typedef struct Spent {
    double work, sweep, error;
    int iterations;
} Spent;

static void spend(const Named* solver, double budget, Spent* out) {
    Island f;
    case_rocks(&f.c, 3, 30, 1.0);
    REQUIRE(island_open(&f));
    if (solver->formed) {
        REQUIRE(system_form_rows(&f.sys, &f.arena) == TDL_STATUS_OK);
    }
    f.effort.work = 0.0;
    f.effort.budget = budget;
    if (solver->run == run_normal_interior) {
        f.run.limit = 20; // of normal problems, each with many dense factorisations
    }
    CHECK(solver->run(&f.run) == TDL_STATUS_OK);
    CHECK(f.effort.budget == budget || solver->run == run_all);
    *out = (Spent){f.effort.work, run_sweep_work(&f.run), f.run.error, f.run.iterations};
    island_close(&f);
}

// Measuring what was reached, and the first guess, come on top: some products with W.
TEST(no_solver_goes_beyond_its_budget) {
    for (int k = 0; k < SOLVER_COUNT; ++k) {
        Spent all = {0}, some = {0};
        spend(&SOLVERS[k], INFINITY, &all);
        printf("  %-12s %5d iterations, %.1e multiplications\n", SOLVERS[k].name, all.iterations,
               all.work);
        CHECK(all.iterations > 0);
        // nothing is free: an iteration visits every contact; so that less work is fewer of them,
        // of whatever kind, as dear ones are not begun where they do not fit
        CHECK(all.work >= 9.0 * 150.0 * all.iterations);
        for (double part = 1.0e-4; part < 1.0; part *= 3.0) {
            spend(&SOLVERS[k], part * all.work, &some);
            CHECK_BELOW(some.work, part * all.work + 3.0 * some.sweep);
            CHECK(some.work >= 9.0 * 150.0 * some.iterations);
        }
    }
}

TEST(nothing_starts_without_a_budget) {
    Island f;
    case_rocks(&f.c, 3, 30, 1.0);
    REQUIRE(island_open(&f));
    double first = f.run.error;
    island_close(&f);
    for (int k = 0; k < SOLVER_COUNT; ++k) {
        Spent none = {0};
        spend(&SOLVERS[k], 0.0, &none);
        CHECK_INT(none.iterations, 0);
        CHECK(none.error == first);
        CHECK_BELOW(none.work, 3.0 * none.sweep);
    }
}

// --- stopping ------------------------------------------------------------------------------------

// Says yes from the so-many-th question on, and how often it was asked.
typedef struct Patience {
    int questions, most;
} Patience;

static bool impatient(void* user) {
    Patience* patience = user;
    return ++patience->questions > patience->most;
}

static void solve_until(TdlFrictionSolverKind kind, Patience* patience, double* r, int* n,
                        TdlFrictionInfo* info) {
    TdlHost host = tdl_host_default();
    FrictionCase c;
    TdlFrictionProblem* p;
    TdlFrictionSolver* s;
    TdlFrictionOptions o = tdl_friction_options_default();
    case_rocks(&c, 3, 30, 1.0);
    o.solver = kind;
    o.tolerance = 1.0e-11;
    o.max_iterations = 300;
    o.stop = patience->most < 0 ? NULL : impatient;
    o.stop_user = patience;
    REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_solver_create(&host, &o, &s) == TDL_STATUS_OK);
    *n = c.def.laws.contact_count;
    CHECK(tdl_friction_solver_solve(s, p, r, NULL, info) == TDL_STATUS_OK);
    tdl_friction_solver_destroy(s);
    tdl_friction_problem_destroy(p);
    case_free(&c);
}

// Every iteration asks, and once it was told to nobody goes on or asks again.
TEST(every_solver_stops_when_asked) {
    double r[3 * 400];
    for (int kind = 0; kind < TDL_FRICTION_SOLVER_COUNT; ++kind) {
        for (int most = 0; most <= 30; most = 3 * most + 1) {
            Patience patience = {0, most};
            TdlFrictionInfo info = {0};
            int n = 0;
            memset(r, 0, sizeof r);
            solve_until((TdlFrictionSolverKind)kind, &patience, r, &n, &info);
            REQUIRE(n > 0 && n <= 400);
            // S1's Newton finds no descent after two steps, and has ended before it was asked to
            if (kind == TDL_FRICTION_NEWTON && most > 2) {
                CHECK(info.outcome == TDL_FRICTION_STALLED && patience.questions <= most);
                continue;
            }
            CHECK_INT(patience.questions, most + 1);
            CHECK(info.outcome == TDL_FRICTION_STOPPED);
            CHECK(info.iterations <= 3 * most);
            for (int k = 0; k < 3 * n; ++k) {
                CHECK(isfinite(r[k]));
            }
        }
    }
    CHECK(strcmp(tdl_friction_outcome_name(TDL_FRICTION_STOPPED), "stopped") == 0);
}

// Someone who never says stop changes nothing, to the bit.
TEST(asking_changes_nothing) {
    double r[3 * 400] = {0}, other[3 * 400] = {0};
    int n = 0;
    Patience never = {0, -1}, patient = {0, INT32_MAX - 1};
    TdlFrictionInfo a = {0}, b = {0};
    solve_until(TDL_FRICTION_ALTERNATING, &never, r, &n, &a);
    solve_until(TDL_FRICTION_ALTERNATING, &patient, other, &n, &b);
    CHECK_INT(a.iterations, b.iterations);
    CHECK(memcmp(r, other, sizeof r) == 0);
    CHECK(patient.questions > a.iterations / 2);
}

// --- factorisations ------------------------------------------------------------------------------

enum { ROWS = 220 }; // dense: 96 million multiplications, ten questions

typedef struct Dense {
    Arena arena;
    int* start;
    int* column;
    double* blocks;
    BlockPattern pattern;
} Dense;

static void open_dense(Dense* a) {
    TdlHost host = tdl_host_default();
    arena_init(&a->arena, &host.mem);
    a->start = malloc((ROWS + 1) * sizeof(int));
    a->column = malloc((size_t)ROWS * ROWS * sizeof(int));
    a->blocks = calloc((size_t)ROWS * ROWS * 9, sizeof(double));
    for (int i = 0; i <= ROWS; ++i) {
        a->start[i] = ROWS * i;
    }
    for (int e = 0; e < ROWS * ROWS; ++e) {
        a->column[e] = e % ROWS;
        for (int k = 0; k < 9; ++k) {
            bool diagonal = e / ROWS == e % ROWS && k % 4 == 0;
            a->blocks[9 * e + k] = diagonal ? 3.0 * ROWS : 1.0;
        }
    }
    a->pattern = (BlockPattern){ROWS, 3, a->start, a->column, NULL};
}

static void close_dense(Dense* a) {
    arena_destroy(&a->arena);
    free(a->start);
    free(a->column);
    free(a->blocks);
}

TEST(factorisations_ask_while_they_last) {
    Dense a;
    open_dense(&a);
    FrontLu front;
    BlockLu block;
    Reduced* whole = calloc(ROWS, sizeof *whole);
    for (int i = 0; i < ROWS; ++i) {
        whole[i].size = 3;
        for (int k = 0; k < 9; k += 4) {
            whole[i].test[k] = whole[i].trial[k] = 1.0;
        }
    }
    REQUIRE(front_lu_analyse(&front, &a.arena, &a.pattern, whole) == TDL_STATUS_OK);
    REQUIRE(block_lu_analyse(&block, &a.arena, &a.pattern) == TDL_STATUS_OK);
    for (int most = 0; most < 4; ++most) {
        Patience one = {0, most}, two = {0, most};
        front.stop = (Stop){impatient, &one};
        block.stop = (Stop){impatient, &two};
        CHECK(!front_lu_factor(&front, a.blocks, NULL));
        CHECK(!block_lu_factor(&block, a.blocks, NULL, false));
        CHECK_INT(one.questions, most + 1);
        CHECK_INT(two.questions, most + 1);
    }
    front.stop = block.stop = (Stop){0};
    CHECK(front_lu_factor(&front, a.blocks, NULL));
    CHECK(block_lu_factor(&block, a.blocks, NULL, false));
    CHECK_INT(front.sign, 1); // dominant diagonal
    free(whole);
    close_dense(&a);
}
