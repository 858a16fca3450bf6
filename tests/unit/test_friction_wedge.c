// Contacts that wedge each other: found, held, and brought into their cones again. Velocities and
// laws are computed here from the bodies' rows, not by the library.
#include "bench/friction_cases.h"
#include "test.h"

// u = H (v + H' r), whitened rows
static void velocities(const FrictionCase* c, const double* r, double* u) {
    int dofs = c->dof_start[1], n = c->def.laws.contact_count;
    double* v = malloc((size_t)(c->def.body_count * dofs) * sizeof(double));
    memcpy(v, c->velocity, (size_t)(c->def.body_count * dofs) * sizeof(double));
    for (int pass = 0; pass < 2; ++pass) {
        const double* row = c->h;
        for (int k = 0; k < 3 * n; ++k) {
            u[k] = pass == 0 ? 0.0 : u[k];
        }
        for (int side = 0; side < 2 * n; ++side) {
            if (c->body[side] < 0) {
                continue;
            }
            double* body = v + c->body[side] * dofs;
            for (int k = 0; k < 3; ++k, row += dofs) {
                for (int i = 0; i < dofs; ++i) {
                    if (pass == 0) {
                        body[i] += row[i] * r[side / 2 * 3 + k];
                    } else {
                        u[side / 2 * 3 + k] += row[i] * body[i];
                    }
                }
            }
        }
    }
    free(v);
}

// The largest violation of the law against `speed`; masses are about one.
static double violation(const FrictionCase* c, const double* u, const double* r, double speed) {
    double worst = 0.0;
    for (int i = 0; i < c->def.laws.contact_count; ++i) {
        const double *x = r + 3 * i, *v = u + 3 * i;
        double mu = c->mu[i], rt = hypot(x[1], x[2]), ut = hypot(v[1], v[2]);
        // the error asked for, |r - P(r - u~)| against |b|, lets r out of its cone by as much
        worst = fmax(worst, fmax(-x[0], rt - mu * x[0]) / speed);
        worst = fmax(worst, -v[0] / speed);
        if (x[0] > 1.0e-5) {
            // pressed: stays closed, and what slides has all its friction against the velocity
            worst = fmax(worst, fabs(v[0]) / speed);
            double lost = x[1] * v[1] + x[2] * v[2] + mu * x[0] * ut;
            worst = fmax(worst, fabs(lost) / (mu * x[0] * speed));
        }
    }
    return worst;
}

static TdlFrictionInfo solve_case(FrictionCase* c, TdlFrictionSolverKind kind, double* r) {
    TdlHost host = tdl_host_default();
    TdlFrictionOptions o = tdl_friction_options_default();
    TdlFrictionProblem* p;
    TdlFrictionSolver* s;
    TdlFrictionInfo info = {0};
    o.solver = kind;
    o.use_bodies = false; // wedges are sought in W, and then all that follows uses it
    if (case_problem(c, &host, &p) == TDL_STATUS_OK) {
        if (tdl_friction_solver_create(&host, &o, &s) == TDL_STATUS_OK) {
            CHECK(tdl_friction_solver_solve(s, p, r, NULL, &info) == TDL_STATUS_OK);
            tdl_friction_solver_destroy(s);
        }
        tdl_friction_problem_destroy(p);
    }
    return info;
}

// A block between two walls may fall or stay: held as wedged it stays, and the walls carry it.
static void block_between_walls(FrictionCase* c, double mu) {
    double m = 2.0, j = 0.1, v[6] = {0.0, 0.0, -1.0, 0.3, 0.2, 0.1};
    case_begin(c, 1, 1, 6);
    case_rigid_velocity(c, 0, v, m, j);
    for (int k = 0; k < 4; ++k) {
        double side = k % 2 == 0 ? -1.0 : 1.0, e[9], rows[18];
        double n[3] = {-side, 0.0, 0.0}, at[3] = {0.5 * side, k < 2 ? -0.4 : 0.4, 0.1 * k};
        case_basis(n, e);
        case_rigid_rows(e, at, m, j, 1.0, rows);
        case_add(c, 0, rows, -1, NULL, mu);
    }
}

TEST(a_block_between_walls_is_held) {
    FrictionCase c;
    double r[12] = {0}, u[12], push = 0.0, force[3] = {0};
    block_between_walls(&c, 0.7);
    CHECK(solve_case(&c, TDL_FRICTION_WEDGED, r).outcome == TDL_FRICTION_CONVERGED);
    velocities(&c, r, u);
    for (int k = 0; k < 12; ++k) {
        CHECK_BELOW(fabs(u[k]), 1.0e-7);
    }
    for (int i = 0; i < 4; ++i) {
        CHECK(hypot(r[3 * i + 1], r[3 * i + 2]) <= 0.7 * r[3 * i]);
        push += r[3 * i];
        for (int x = 0; x < 3; ++x) { // linear rows of the body, whitened by its mass
            for (int k = 0; k < 3; ++k) {
                force[x] += sqrt(2.0) * c.h[18 * i + 6 * k + x] * r[3 * i + k];
            }
        }
    }
    CHECK_NEAR(force[0], 0.0, 1.0e-7);
    CHECK_NEAR(force[2], 2.0, 1.0e-7); // its momentum
    CHECK(push > 2.0 / 0.7);
    case_free(&c);
}

// Boxes on a floor can press each other with nothing but their weight.
TEST(a_stack_has_no_wedges) {
    FrictionCase c;
    case_stack(&c, 1, 1, 6, 0.5);
    double r[72] = {0}, other[72] = {0};
    REQUIRE(c.def.laws.contact_count == 24);
    CHECK(solve_case(&c, TDL_FRICTION_WEDGED, r).outcome == TDL_FRICTION_CONVERGED);
    CHECK(solve_case(&c, TDL_FRICTION_AUTO, other).outcome == TDL_FRICTION_CONVERGED);
    CHECK(memcmp(r, other, sizeof r) == 0); // nothing held, nothing changed
    case_free(&c);
}

// Sweeps and the path do not solve the first of these.
TEST(wedged_piles_are_solved) {
    static const struct {
        int seed, bodies;
        double mu;
        TdlFrictionSolverKind kind;
    } piles[] = {{101, 90, 1.5, TDL_FRICTION_AUTO},
                 {1, 40, 1.0, TDL_FRICTION_WEDGED},
                 {7, 25, 1.2, TDL_FRICTION_WEDGED}};
    for (size_t k = 0; k < sizeof piles / sizeof *piles; ++k) {
        FrictionCase c;
        case_rocks(&c, (uint64_t)piles[k].seed, piles[k].bodies, piles[k].mu);
        size_t size = 3 * (size_t)c.def.laws.contact_count;
        double *r = calloc(size, sizeof(double)), *u = calloc(size, sizeof(double));
        double speed = 0.0;
        velocities(&c, r, u);
        for (size_t i = 0; i < size; ++i) {
            speed += u[i] * u[i];
        }
        TdlFrictionInfo info = solve_case(&c, piles[k].kind, r);
        CHECK(info.outcome == TDL_FRICTION_CONVERGED);
        printf("  %s, %d iterations, error %.1e\n", tdl_friction_solver_name(info.solver),
               info.iterations, info.error);
        velocities(&c, r, u);
        CHECK_BELOW(violation(&c, u, r, sqrt(speed)), 1.0e-6);
        free(r);
        free(u);
        case_free(&c);
    }
}
