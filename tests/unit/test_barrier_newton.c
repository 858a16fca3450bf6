// The barrier problem of contacts with linear gaps: solutions fulfil the law, recomputed here.
#include "base/rng.h"
#include "test.h"
#include "world/barrier_newton.h"

enum { MOST = 12, ROWS = 3 * MOST };

// A problem with W = B B' of a random B with `dofs` columns; singular where these are fewer. Some
// velocity opens all gaps, or there would be no solution.
typedef struct Case {
    BarrierProblem p;
    double W[ROWS * ROWS], free[ROWS], fixed[ROWS], offset[MOST], stiffness[MOST], mu[MOST];
    double lambda[MOST], r[ROWS], u[ROWS];
} Case;

static void make_case(Case* c, Rng* random, int count, int dofs, double mu) {
    static double B[ROWS * (ROWS + 2)];
    int n = 3 * count;
    memset(c, 0, sizeof *c);
    for (int k = 0; k < n * dofs; ++k) {
        B[k] = rng_range(random, -1.0, 1.0);
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            for (int k = 0; k < dofs; ++k) {
                c->W[i + j * n] += B[i * dofs + k] * B[j * dofs + k];
            }
        }
        c->free[i] = rng_range(random, -1.0, 0.2);
        c->fixed[i] = rng_range(random, -0.1, 0.1);
    }
    for (int i = 0; i < count; ++i) {
        double open = c->free[3 * i];
        for (int k = 0; k < dofs; ++k) {
            open += B[3 * i * dofs + k] * (k % 2 == 0 ? 0.5 : -0.3);
        }
        c->offset[i] = rng_range(random, 1.0e-6, 2.0e-4) - 1.0e-3 * open;
        c->stiffness[i] = pow(10.0, rng_range(random, 1.0, 5.0));
        c->mu[i] = mu;
    }
    c->p = (BarrierProblem){.count = count,
                            .dt = 1.0e-3,
                            .distance = 1.0e-4,
                            .creep = 1.0e-3,
                            .tolerance = 1.0e-11,
                            .floor = 1.0e-7,
                            .W = c->W,
                            .free = c->free,
                            .fixed = c->fixed,
                            .offset = c->offset,
                            .stiffness = c->stiffness,
                            .mu = c->mu,
                            .lambda = c->lambda,
                            .r = c->r,
                            .u = c->u};
}

// The law at contact i, from the formulas.
static void law(const Case* c, int i, double out[3]) {
    double d = c->p.distance, dt = c->p.dt, g = c->offset[i] + dt * c->u[3 * i];
    double slide[2] = {c->u[3 * i + 1] + c->fixed[3 * i + 1],
                       c->u[3 * i + 2] + c->fixed[3 * i + 2]};
    double speed = hypot(slide[0], slide[1]), y = fmin(speed / c->p.creep, 1.0);
    CHECK(g > 0.0);
    out[0] =
        g < d ? dt * c->stiffness[i] * (2.0 * (g - d) * log(g / d) + (g - d) * (g - d) / g) : 0.0;
    for (int k = 0; k < 2; ++k) {
        out[1 + k] = speed > 0.0 ? -c->mu[i] * out[0] * y * (2.0 - y) * slide[k] / speed : 0.0;
    }
}

static void check_solved(const Case* c, double tolerance) {
    int n = 3 * c->p.count;
    double size = 0.0, worst = 0.0;
    for (int k = 0; k < n; ++k) {
        double u = c->free[k];
        for (int j = 0; j < n; ++j) {
            u += c->W[k + j * n] * c->r[j];
        }
        CHECK_NEAR(c->u[k], u, 1.0e-12);
        size = fmax(size, fabs(c->r[k]));
    }
    for (int i = 0; i < c->p.count; ++i) {
        double rho[3];
        law(c, i, rho);
        for (int k = 0; k < 3; ++k) {
            worst = fmax(worst, fabs(c->r[3 * i + k] - rho[k]));
        }
    }
    CHECK(worst <= tolerance * size);
}

TEST(solutions_fulfil_the_law) {
    Rng random = rng_seed(20261117);
    int steps = 0;
    for (int turn = 0; turn < 200; ++turn) {
        Case c;
        int count = 1 + turn % MOST;
        make_case(&c, &random, count, turn % 2 == 0 ? 3 * count + 2 : 2, 0.0);
        Arena arena;
        TdlAllocator mem = tdl_host_default().mem;
        arena_init(&arena, &mem);
        BarrierSolved solved;
        REQUIRE(barrier_newton(&c.p, &arena, &solved) == TDL_STATUS_OK);
        CHECK(solved.converged);
        check_solved(&c, 1.0e-8); // b'' times rounding of u
        steps = solved.iterations > steps ? solved.iterations : steps;
        arena_destroy(&arena);
    }
    printf("  at most %d steps\n", steps);
}

// Lagged, friction is a fixed point that is found while it does not push normals about too much:
// here W has 3 by 3 blocks on its diagonal alone, weakly coupled.
TEST(lagged_friction_comes_to_its_fixed_point) {
    Rng random = rng_seed(7);
    for (int turn = 0; turn < 100; ++turn) {
        Case c;
        int count = 1 + turn % MOST, n = 3 * count;
        make_case(&c, &random, count, n + 2, 0.3);
        for (int k = 0; k < n * n; ++k) {
            c.W[k] = k % (n + 1) == 0 ? 2.0 : 0.02 * c.W[k] / n;
        }
        Arena arena;
        TdlAllocator mem = tdl_host_default().mem;
        arena_init(&arena, &mem);
        BarrierSolved solved;
        REQUIRE(barrier_newton(&c.p, &arena, &solved) == TDL_STATUS_OK);
        CHECK(solved.converged);
        check_solved(&c, 1.0e-7);
        arena_destroy(&arena);
    }
}

// A contact that nothing can move and that is closed has no solution, and is told so.
TEST(what_cannot_be_solved_is_told) {
    Rng random = rng_seed(1);
    Case c;
    make_case(&c, &random, 1, 3, 0.0);
    memset(c.W, 0, sizeof c.W);
    c.offset[0] = -1.0e-5;
    c.free[0] = 0.0;
    Arena arena;
    TdlAllocator mem = tdl_host_default().mem;
    arena_init(&arena, &mem);
    BarrierSolved solved;
    REQUIRE(barrier_newton(&c.p, &arena, &solved) == TDL_STATUS_OK);
    CHECK(!solved.converged);
    // open, it carries what its gap says
    make_case(&c, &random, 1, 3, 0.0);
    memset(c.W, 0, sizeof c.W);
    c.offset[0] = 5.0e-5;
    c.free[0] = 0.0;
    REQUIRE(barrier_newton(&c.p, &arena, &solved) == TDL_STATUS_OK);
    CHECK(solved.converged);
    CHECK_NEAR(c.r[0], 1.0e-3 * c.stiffness[0] * 1.0e-4 * (log(2.0) + 0.5), 1.0e-12 * c.r[0]);
    arena_destroy(&arena);
}
