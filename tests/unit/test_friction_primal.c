// S4's nodal form as a solver: the velocities of the others, its own equation recomputed, and what
// it does where it does not fit.
#include "bench/friction_nodes.h"
#include "counting_allocator.h"
#include "friction/nodal.h"
#include "test.h"

// Sheets of which every third node hangs free of the table, or none, by the ratio
// dt^2 Y / (rho h^2).
static void make_sheet(NodalCase* c, int along, int across, double ratio, bool all) {
    ClothSheet s = cloth_sheet(along, across);
    s.stretch = ratio * s.density * s.spacing * s.spacing / (s.dt * s.dt);
    s.shear = 0.3 * s.stretch;
    s.bend = 1.0e-3 * s.stretch;
    case_cloth(c, 3, &s);
    int kept = 0;
    for (int i = 0; i < c->def.laws.contact_count && !all; ++i) {
        if (i % 3 != 0) {
            c->body[2 * kept] = c->body[2 * i];
            c->span[2 * kept] = c->span[2 * i];
            c->list[2 * kept] = c->list[2 * i];
            c->mu[kept] = c->mu[i];
            memcpy(c->h + (size_t)9 * (size_t)kept, c->h + (size_t)9 * (size_t)i, 9 * sizeof *c->h);
            ++kept;
        }
    }
    c->def.laws.contact_count = all ? c->def.laws.contact_count : kept;
}

typedef struct Answer {
    double r[3 * 600], u[3 * 600];
    TdlFrictionInfo info;
} Answer;

static void solve(const TdlFrictionProblem* p, TdlFrictionSolverKind kind, double tolerance,
                  Answer* out) {
    TdlHost host = tdl_host_default();
    TdlFrictionOptions o = tdl_friction_options_default();
    TdlFrictionSolver* solver;
    memset(out, 0, sizeof *out);
    o.solver = kind;
    o.tolerance = tolerance;
    REQUIRE(tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_OK);
    CHECK(tdl_friction_solver_solve(solver, p, out->r, out->u, &out->info) == TDL_STATUS_OK);
    tdl_friction_solver_destroy(solver);
}

static double largest(int n, const double* x) {
    double most = 0.0;
    for (int k = 0; k < n; ++k) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
}

TEST(velocities_are_those_of_the_others) {
    TdlHost host = tdl_host_default();
    static Answer own, other;
    for (int k = 0; k < 6; ++k) {
        const double ratio[3] = {0.5, 10.0, 50.0};
        NodalCase c;
        TdlFrictionProblem* p;
        make_sheet(&c, 12, 10, ratio[k % 3], k < 3);
        REQUIRE(nodal_problem(&c, &host, &p) == TDL_STATUS_OK);
        solve(p, TDL_FRICTION_NODAL, 1.0e-10, &own);
        solve(p, TDL_FRICTION_AUTO, 1.0e-10, &other);
        int n = 3 * c.def.laws.contact_count;
        double scale = largest(n, p->b), worst = 0.0;
        for (int i = 0; i < n; ++i) {
            worst = fmax(worst, fabs(own.u[i] - other.u[i]));
        }
        printf("  ratio %.1f, %d contacts: %d sweeps, off by %.2g of %.2g\n", ratio[k % 3], n / 3,
               own.info.iterations, worst, scale);
        CHECK(own.info.outcome == TDL_FRICTION_CONVERGED);
        CHECK(own.info.solver == TDL_FRICTION_NODAL);
        CHECK(worst < 1.0e-8 * scale);
        tdl_friction_problem_destroy(p);
        nodal_free(&c);
    }
}

// v <- A^-1 (f + H' r), densely.
enum { M = 90 };
static void dense_velocity(const NodalCase* c, const double* r, double* v) {
    static double a[M][M + 1];
    memset(a, 0, sizeof a);
    for (int i = 0; i < M; ++i) {
        for (int e = c->a_start[i]; e < c->a_start[i + 1]; ++e) {
            a[i][c->a_column[e]] = c->a_value[e];
            a[i][M] += c->a_value[e] * c->velocity[c->a_column[e]]; // f
        }
    }
    for (int j = 0; j < 9 * c->def.laws.contact_count; ++j) {
        a[c->list[2 * (j / 9)][j % 3]][M] += c->h[j] * r[j / 3];
    }
    for (int k = 0; k < M; ++k) { // it is definite
        for (int i = k + 1; i < M; ++i) {
            double f = a[i][k] / a[k][k];
            for (int j = k; j <= M; ++j) {
                a[i][j] -= f * a[k][j];
            }
        }
    }
    for (int k = M - 1; k >= 0; --k) {
        v[k] = a[k][M];
        for (int j = k + 1; j < M; ++j) {
            v[k] -= a[k][j] * v[j];
        }
        v[k] /= a[k][k];
    }
}

// What is solved is S4's (3.14) with the sign as corrected: with s = mu |u_T| n, u~ = u + s is in
// the cone of 1/mu, and A^ u~ - (b^ + A^ s) = r is in that of mu and across it.
TEST(its_answer_is_that_of_the_primal_form) {
    TdlHost host = tdl_host_default();
    static Answer own;
    NodalCase c;
    TdlFrictionProblem* p;
    make_sheet(&c, 6, 5, 20.0, false);
    REQUIRE(nodal_problem(&c, &host, &p) == TDL_STATUS_OK);
    solve(p, TDL_FRICTION_NODAL, 1.0e-12, &own);
    CHECK(own.info.outcome == TDL_FRICTION_CONVERGED);
    int n = c.def.laws.contact_count, slides = 0;
    double v[M], worst = 0.0, size = largest(3 * n, p->b), push = largest(3 * n, own.r);
    dense_velocity(&c, own.r, v);
    for (int i = 0; i < n; ++i) {
        double u[3] = {0};
        const double* r = own.r + 3 * i;
        for (int j = 0; j < 9; ++j) {
            u[j / 3] += c.h[9 * i + j] * v[c.list[2 * i][j % 3]];
        }
        double mu = c.mu[i], along = hypot(u[1], u[2]), shifted = u[0] + mu * along;
        double power = shifted * r[0] + u[1] * r[1] + u[2] * r[2];
        worst = fmax(worst, (mu * along - shifted) / size);          // u~ in the cone of 1/mu
        worst = fmax(worst, (hypot(r[1], r[2]) - mu * r[0]) / push); // r in that of mu
        worst = fmax(worst, fabs(power) / (size * push));
        slides += along > 1.0e-6 * size;
    }
    printf("  %d contacts, %d slide, off by %.2g\n", n, slides, worst);
    CHECK(slides > 0 && slides < n);
    CHECK(worst < 1.0e-10); // of 1e-12 asked for
    tdl_friction_problem_destroy(p);
    nodal_free(&c);
}

// Grains have rows about many nodes: it sweeps over contacts there, and says what it reached.
TEST(what_does_not_fit_is_swept) {
    TdlHost host = tdl_host_default();
    static Answer own, sweeps;
    NodalCase c;
    TdlFrictionProblem* p;
    GrainSlope s = grain_slope(2, 4, 3, 20.0);
    case_grains(&c, 2, &s);
    REQUIRE(nodal_problem(&c, &host, &p) == TDL_STATUS_OK);
    solve(p, TDL_FRICTION_NODAL, 1.0e-8, &own);
    solve(p, TDL_FRICTION_GAUSS_SEIDEL, 1.0e-8, &sweeps);
    CHECK(own.info.error == sweeps.info.error && own.info.outcome == sweeps.info.outcome);
    CHECK(memcmp(own.r, sweeps.r, sizeof own.r) == 0);
    tdl_friction_problem_destroy(p);
    nodal_free(&c);
    // two contacts at one node
    make_sheet(&c, 5, 4, 5.0, true);
    c.list[2] = c.list[0];
    REQUIRE(nodal_problem(&c, &host, &p) == TDL_STATUS_OK);
    solve(p, TDL_FRICTION_NODAL, 1.0e-8, &own);
    CHECK(own.info.outcome == TDL_FRICTION_CONVERGED);
    tdl_friction_problem_destroy(p);
    nodal_free(&c);
}

TEST(every_allocation_may_fail) {
    static Answer own;
    NodalCase c;
    bool done = false;
    make_sheet(&c, 5, 4, 5.0, false);
    for (long at = 1; at < 200 && !done; ++at) {
        AllocCounter counter = {.fail_at = at};
        TdlHost host = tdl_host_default();
        host.mem = counting_allocator(&counter);
        TdlFrictionProblem* p = NULL;
        TdlFrictionSolver* solver = NULL;
        TdlFrictionOptions o = tdl_friction_options_default();
        o.solver = TDL_FRICTION_NODAL;
        memset(&own, 0, sizeof own);
        TdlStatus status = nodal_problem(&c, &host, &p);
        status = status == TDL_STATUS_OK ? tdl_friction_solver_create(&host, &o, &solver) : status;
        status = status == TDL_STATUS_OK
                     ? tdl_friction_solver_solve(solver, p, own.r, own.u, &own.info)
                     : status;
        done = status == TDL_STATUS_OK;
        CHECK(done || status == TDL_STATUS_NO_MEMORY);
        tdl_friction_solver_destroy(solver);
        tdl_friction_problem_destroy(p);
        CHECK(counter.live == 0);
    }
    CHECK(done && own.info.outcome == TDL_FRICTION_CONVERGED);
    nodal_free(&c);
}
