// Newton steps on velocities: the direction in both spaces against a dense solve with derivatives
// by differences, and problems with more contacts than coordinates.
#include "friction/newton.h"
#include "island.h"
#include "test.h"

// r(u) of one contact from its definition.
static void answer_of(double mu, double rho, const double* centre, const double* u, double* r) {
    double y[3];
    for (int k = 0; k < 3; ++k) {
        y[k] = centre[k] - rho * u[k];
    }
    double most = mu * fmax(y[0], 0.0), norm = hypot(y[1], y[2]);
    double part = norm > most ? most / norm : 1.0;
    r[0] = fmax(y[0], 0.0);
    r[1] = part * y[1];
    r[2] = part * y[2];
}

// (1 - dr/du W) step = -(t - r(b + W t)), all by definition and differences.
static void expected_step(Island* f, const Newton* nw, double* step) {
    int n = 3 * f->sys.n;
    double *w = malloc((size_t)(n * n) * sizeof *w), *a = calloc((size_t)(n * n), sizeof *a);
    double *unit = calloc((size_t)n, sizeof *unit), *u = malloc((size_t)n * sizeof *u);
    for (int j = 0; j < n; ++j) {
        unit[j] = 1.0;
        system_product(&f->sys, unit, u);
        unit[j] = 0.0;
        for (int i = 0; i < n; ++i) {
            w[i * n + j] = u[i];
        }
    }
    system_velocity(&f->sys, nw->t, u);
    for (int i = 0; i < f->sys.n; ++i) {
        double rho = nw->rho * nw->own[i], h = 1.0e-7, r[3], plus[3], minus[3];
        const double* centre = nw->centre + 3 * i;
        answer_of(f->sys.mu[i], rho, centre, u + 3 * i, r);
        for (int k = 0; k < 3; ++k) {
            step[3 * i + k] = r[k] - nw->t[3 * i + k];
            a[(3 * i + k) * n + 3 * i + k] += 1.0;
        }
        for (int c = 0; c < 3; ++c) {
            double x[3] = {u[3 * i], u[3 * i + 1], u[3 * i + 2]};
            x[c] += h;
            answer_of(f->sys.mu[i], rho, centre, x, plus);
            x[c] -= 2.0 * h;
            answer_of(f->sys.mu[i], rho, centre, x, minus);
            for (int k = 0; k < 3; ++k) {
                double slope = (plus[k] - minus[k]) / (2.0 * h);
                for (int j = 0; j < n; ++j) {
                    a[(3 * i + k) * n + j] -= slope * w[(3 * i + c) * n + j];
                }
            }
        }
    }
    solve_dense(n, a, step);
    free(w);
    free(a);
    free(unit);
    free(u);
}

static void check_directions(Island* f) {
    size_t size = 3 * (size_t)f->sys.n;
    uint64_t seed = 5;
    for (size_t k = 0; k < size; ++k) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        f->best[k] = (double)(seed >> 40) / 16777216.0 * (k % 3 == 0 ? 1.0 : 0.3);
    }
    Newton nw;
    REQUIRE(newton_init(&nw, &f->run) == TDL_STATUS_OK);
    nw.rho = 30.0;
    double* expected = malloc(size * sizeof *expected);
    int modes[4] = {0};
    for (int pass = 0; pass < 4; ++pass) { // the second pass begins where the first step ended
        newton_restart(&nw);
        nw.fresh = false;
        expected_step(f, &nw, expected);
        double *t = malloc(size * sizeof *t), largest = 0.0, worst = 0.0;
        memcpy(t, nw.t, size * sizeof *t);
        int coordinates = nw.coordinates;
        nw.coordinates = pass % 2 == 0 ? 0 : 1; // over contacts, or over coordinates
        REQUIRE(newton_step(&nw) == TDL_STATUS_OK);
        nw.coordinates = coordinates;
        for (size_t k = 0; k < size; ++k) {
            largest = fmax(largest, fabs(expected[k]));
            worst = fmax(worst, fabs(nw.step[k] - expected[k]));
        }
        for (int i = 0; i < f->sys.n; ++i) {
            ++modes[nw.part[i].size];
        }
        CHECK_BELOW(worst, 1.0e-6 * largest); // differences
        if (pass == 0) {
            memcpy(nw.t, t, size * sizeof *t); // the same again in the other space
        }
        free(t);
    }
    CHECK(modes[0] > 0 && modes[2] > 0 && modes[3] > 0); // open, sliding and sticking ones
    free(expected);
}

TEST(directions_are_those_of_the_definition_in_both_spaces) {
    for (int k = 0; k < 2; ++k) {
        Island f;
        if (k == 0) {
            case_wisp(&f.c, 3, 5, 6, 9, 1.5);
        } else {
            case_spaghetti(&f.c, 4, 4, 8, 40, 0.5);
        }
        REQUIRE(island_open(&f));
        check_directions(&f);
        island_close(&f);
    }
}

// The law is asked of velocities recomputed from the problem; impulses are not unique.
TEST(more_contacts_than_coordinates_are_solved) {
    TdlHost host = tdl_host_default();
    for (int seed = 1; seed <= 6; ++seed) {
        for (int nu = 1; nu <= 4; ++nu) {
            FrictionCase c;
            TdlFrictionProblem* p;
            case_spaghetti(&c, (uint64_t)seed, 6, 12, nu * 72, 0.15 * seed);
            REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
            TdlFrictionOptions o = tdl_friction_options_default();
            o.solver = TDL_FRICTION_PROXIMAL;
            TdlFrictionSolver* solver;
            TdlFrictionInfo info;
            double* r = calloc(3 * (size_t)p->n, sizeof *r);
            REQUIRE(tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_OK);
            REQUIRE(tdl_friction_solver_solve(solver, p, r, NULL, &info) == TDL_STATUS_OK);
            CHECK(info.outcome == TDL_FRICTION_CONVERGED);
            CHECK_BELOW(tdl_friction_error(p, TDL_FRICTION_ERROR_NATURAL, true, r), 1.0e-8);
            free(r);
            tdl_friction_solver_destroy(solver);
            tdl_friction_problem_destroy(p);
            case_free(&c);
        }
    }
}

// No impulse does anything here: every problem is solved without a step, and that has an end.
TEST(a_contact_that_nothing_moves_ends) {
    TdlHost host = tdl_host_default();
    const double mu = 0.5, b[3] = {-1.0, 0.3, 0.1}, blocks[9] = {0};
    const int start[2] = {0, 1}, column = 0;
    TdlFrictionMatrixDef def = {.laws = {.block_size = 3, .contact_count = 1, .mu = &mu},
                                .b = b,
                                .row_start = start,
                                .column = &column,
                                .blocks = blocks};
    TdlFrictionProblem* p;
    REQUIRE(tdl_friction_problem_create(&host, &def, &p) == TDL_STATUS_OK);
    for (int k = 0; k < 2; ++k) {
        TdlFrictionOptions o = tdl_friction_options_default();
        o.solver = k == 0 ? TDL_FRICTION_PROXIMAL : TDL_FRICTION_AUTO;
        TdlFrictionSolver* solver;
        TdlFrictionInfo info;
        double r[3] = {0};
        REQUIRE(tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_OK);
        CHECK(tdl_friction_solver_solve(solver, p, r, NULL, &info) == TDL_STATUS_OK);
        CHECK(info.outcome != TDL_FRICTION_CONVERGED);
        CHECK(isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]));
        tdl_friction_solver_destroy(solver);
    }
    tdl_friction_problem_destroy(p);
}

// What the caller allows holds for Newton steps too.
TEST(no_more_steps_than_allowed) {
    TdlHost host = tdl_host_default();
    FrictionCase c;
    TdlFrictionProblem* p;
    case_spaghetti(&c, 2, 6, 12, 288, 0.5);
    REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
    TdlFrictionOptions o = tdl_friction_options_default();
    o.solver = TDL_FRICTION_PROXIMAL;
    o.max_iterations = 3;
    TdlFrictionSolver* solver;
    TdlFrictionInfo info;
    double* r = calloc(3 * (size_t)p->n, sizeof *r);
    REQUIRE(tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_OK);
    CHECK(tdl_friction_solver_solve(solver, p, r, NULL, &info) == TDL_STATUS_OK);
    CHECK_INT(info.iterations, 3);
    tdl_friction_solver_destroy(solver);
    // three sweeps that choose, three more and three steps, each time contacts come in; then sweeps
    o.solver = TDL_FRICTION_ALTERNATING;
    memset(r, 0, 3 * (size_t)p->n * sizeof *r);
    REQUIRE(tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_OK);
    CHECK(tdl_friction_solver_solve(solver, p, r, NULL, &info) == TDL_STATUS_OK);
    printf("  %d iterations of alternating\n", info.iterations);
    CHECK_BELOW(info.iterations, 3 + 12 * 6 + 3 + 1);
    free(r);
    tdl_friction_solver_destroy(solver);
    tdl_friction_problem_destroy(p);
    case_free(&c);
}
