// Rows in single precision: what they leave out, where they are exact, and that sweeps with them
// end where the exact ones do.
#include "bench/friction_cases.h"
#include "friction/problem.h"
#include "friction/single_rows.h"
#include "test.h"

typedef struct Bench {
    FrictionCase c;
    TdlFrictionProblem* p;
    Arena arena;
    System sys;
    SingleRows single;
    double *r, *u, *exact;
} Bench;

static void bench_init(Bench* b) {
    TdlHost host = tdl_host_default();
    case_wisp(&b->c, 1, 300, 8, 14, 0.3);
    REQUIRE(case_problem(&b->c, &host, &b->p) == TDL_STATUS_OK);
    arena_init(&b->arena, &host.mem);
    int n = b->p->n;
    int *contact = ARENA_NEW(&b->arena, int, n), *local_of = ARENA_NEW(&b->arena, int, n);
    for (int i = 0; i < n; ++i) {
        contact[i] = (11 * i) % n; // an order of its own: n is no multiple of 11
    }
    REQUIRE(n % 11 != 0);
    SystemSetup setup = {.tolerance = 1.0e-8,
                         .sweep_bodies = true,
                         .shared_v = ARENA_NEW(&b->arena, double, b->p->dof_count),
                         .local_of = local_of};
    REQUIRE(system_build(&b->sys, &b->arena, b->p, contact, n, &setup) == TDL_STATUS_OK);
    REQUIRE(single_rows_fit(&b->sys));
    REQUIRE(single_rows_init(&b->single, &b->arena, &b->sys) == TDL_STATUS_OK);
    b->r = ARENA_NEW(&b->arena, double, 3 * n);
    b->u = ARENA_NEW(&b->arena, double, 3 * n);
    b->exact = ARENA_NEW(&b->arena, double, 3 * n);
    for (int k = 0; k < 3 * n; ++k) {
        b->r[k] = sin(2.0 + k);
    }
}

static void bench_destroy(Bench* b) {
    arena_destroy(&b->arena);
    tdl_friction_problem_destroy(b->p);
    case_free(&b->c);
}

// The largest difference of the two velocities at r, over the largest velocity.
static double deviation(Bench* b) {
    double worst = 0.0, largest = 0.0;
    system_velocity(&b->sys, b->r, b->exact);
    single_rows_refresh(&b->single, &b->sys, b->r);
    for (int i = 0; i < b->sys.n; ++i) {
        double u[3];
        single_rows_velocity(&b->single, b->sys.v, i, u);
        for (int k = 0; k < 3; ++k) {
            worst = fmax(worst, fabs(u[k] - b->exact[3 * i + k]));
            largest = fmax(largest, fabs(b->exact[3 * i + k]));
        }
    }
    return worst / largest;
}

TEST(velocities_are_exact_at_one_point_and_near_elsewhere) {
    static Bench b;
    bench_init(&b);
    memcpy(b.single.b, b.sys.b, 3 * (size_t)b.sys.n * sizeof(double));
    double plain = deviation(&b);
    CHECK(plain > 1.0e-9 && plain < 2.0e-7); // rows are rounded to 6e-8
    system_velocity(&b.sys, b.r, b.u);
    single_rows_correct(&b.single, &b.sys, b.r, b.u);
    CHECK(deviation(&b) < 1.0e-14);
    for (int k = 0; k < 3 * b.sys.n; ++k) {
        b.r[k] += 1.0e-4 * cos(3.0 * k);
    }
    double near = deviation(&b);
    printf("  rounded %.1e, corrected a ten-thousandth away %.1e\n", plain, near);
    CHECK(near < 1.0e-3 * plain);
    bench_destroy(&b);
}

TEST(changes_are_added_as_sums_are_made) {
    static Bench b;
    bench_init(&b);
    size_t dofs = (size_t)b.p->dof_count;
    double* v = calloc(dofs, sizeof(double));
    single_rows_refresh(&b.single, &b.sys, b.r);
    for (int i = 0; i < b.sys.n; i += 3) {
        double dr[3] = {0.1, i % 2 == 0 ? 0.0 : -0.2, 0.3};
        single_rows_apply(&b.single, b.sys.v, i, dr);
        for (int k = 0; k < 3; ++k) {
            b.r[3 * i + k] += dr[k];
        }
    }
    memcpy(v, b.sys.v, dofs * sizeof(double));
    single_rows_refresh(&b.single, &b.sys, b.r);
    for (size_t k = 0; k < dofs; ++k) {
        CHECK_NEAR(v[k], b.sys.v[k], 1.0e-12); // some 40 roundings of numbers around 10
    }
    free(v);
    bench_destroy(&b);
}

// Far below what single precision holds, from zero, with the same bits for any number of threads;
// the error is measured outside the solver.
TEST(sweeps_end_where_exact_ones_do) {
    static Bench b;
    bench_init(&b);
    TdlHost host = tdl_host_default();
    TdlFrictionOptions o = tdl_friction_options_default();
    o.solver = TDL_FRICTION_ANDERSON;
    o.tolerance = 1.0e-12;
    o.force_bodies = true;
    size_t size = 3 * (size_t)b.sys.n * sizeof(double);
    for (o.threads = 1; o.threads <= 3; ++o.threads) {
        TdlFrictionSolver* solver;
        REQUIRE(tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_OK);
        TdlFrictionInfo info;
        memset(b.r, 0, size);
        REQUIRE(tdl_friction_solver_solve(solver, b.p, b.r, NULL, &info) == TDL_STATUS_OK);
        printf("  %d contacts, %d threads: %d sweeps, error %.1e\n", b.p->n, o.threads,
               info.iterations, info.error);
        CHECK(info.largest_island >= LARGE_ISLAND);
        CHECK(info.outcome == TDL_FRICTION_CONVERGED && info.error <= 1.0e-12);
        CHECK(o.threads == 1 || memcmp(b.r, b.u, size) == 0);
        memcpy(b.u, b.r, size);
        tdl_friction_solver_destroy(solver);
    }
    bench_destroy(&b);
}
