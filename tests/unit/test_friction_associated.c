// Contacts without shift, and a gamma beside W: the cone program, judged by its own conditions and
// by a projected gradient that shares no line with the solvers.
#include "base/rng.h"
#include "capture.h"
#include "friction/local.h"
#include "friction/problem.h"
#include "scratch.h"
#include "tendril/formats.h"
#include "test.h"

enum { MOST = 24, MOST_DOFS = 60 };

// --- conditions of the cone program, recomputed --------------------------------------------------

// How far (u, r) is from r in K, u in its dual, r'u = 0, each in units of velocity, `stiff` being a
// stiffness of the contact.
static double off_cone(int d, double mu, double stiff, const double* u, const double* r) {
    double rt = 0.0, ut = 0.0, dot = r[0] * u[0], worst = fmax(-stiff * r[0], 0.0), norm = 0.0;
    for (int k = 1; k < d; ++k) {
        rt += r[k] * r[k];
        ut += u[k] * u[k];
        dot += r[k] * u[k];
    }
    norm = sqrt(r[0] * r[0] + rt);
    rt = sqrt(rt);
    ut = sqrt(ut);
    if (isinf(mu)) {
        worst = fmax(worst, ut);
        worst = fmax(worst, -u[0]);
    } else {
        worst = fmax(worst, stiff * (rt - mu * r[0]) / (1.0 + mu));
        worst = fmax(worst, (mu * ut - u[0]) / (1.0 + mu));
    }
    // r'u over the larger of r and u, whichever is none
    return fmax(worst, norm > 0.0 ? fmin(fabs(dot) / norm, stiff * norm) : 0.0);
}

typedef struct Program {
    int d, n, dofs;
    double h[6 * MOST][MOST_DOFS]; // W = H H' + gamma
    double w[6 * MOST][6 * MOST];
    double b[6 * MOST], mu[MOST], gamma[MOST];
    unsigned char associated[MOST];
} Program;

// Bounded below: b is what some velocities of the bodies make at the contacts, and a little of the
// inside of the dual cone.
static void random_program(Rng* rng, int d, int n, int dofs, double gamma, Program* p) {
    double v[MOST_DOFS];
    *p = (Program){.d = d, .n = n, .dofs = dofs};
    for (int j = 0; j < dofs; ++j) {
        v[j] = rng_normal(rng);
    }
    for (int i = 0; i < n; ++i) {
        double kind = rng_unit(rng);
        p->mu[i] = kind < 0.1 ? 0.0 : kind < 0.2 ? INFINITY : pow(10.0, rng_range(rng, -1.0, 0.7));
        p->gamma[i] = gamma * (0.5 + rng_unit(rng));
        p->associated[i] = 1;
        for (int k = 0; k < d; ++k) {
            double* row = p->h[i * d + k];
            for (int j = 0; j < dofs; ++j) {
                row[j] = rng_unit(rng) < 0.5 ? rng_normal(rng) : 0.0;
                p->b[i * d + k] += row[j] * v[j];
            }
        }
        p->b[i * d] += 1.0e-3 * rng_unit(rng);
    }
    for (int a = 0; a < n * d; ++a) {
        for (int c = 0; c < n * d; ++c) {
            for (int j = 0; j < dofs; ++j) {
                p->w[a][c] += p->h[a][j] * p->h[c][j];
            }
            p->w[a][c] += a == c ? p->gamma[a / d] : 0.0;
        }
    }
}

static void program_velocity(const Program* p, const double* r, double* u) {
    for (int a = 0; a < p->n * p->d; ++a) {
        u[a] = p->b[a];
        for (int c = 0; c < p->n * p->d; ++c) {
            u[a] += p->w[a][c] * r[c];
        }
    }
}

// The worst of all contacts, over |b|.
static double program_residual(const Program* p, const double* r) {
    double u[6 * MOST], worst = 0.0, size = 0.0;
    program_velocity(p, r, u);
    for (int a = 0; a < p->n * p->d; ++a) {
        size += p->b[a] * p->b[a];
    }
    for (int i = 0; i < p->n; ++i) {
        double stiff = p->w[i * p->d][i * p->d], tangential = 0.0;
        for (int k = 1; k < p->d && p->mu[i] == 0.0; ++k) {
            tangential = fmax(tangential, stiff * fabs(r[i * p->d + k]));
        }
        worst = fmax(worst, off_cone(p->d, p->mu[i], stiff, u + i * p->d, r + i * p->d));
        worst = fmax(worst, tangential);
    }
    return worst / sqrt(size);
}

static double objective(const Program* p, const double* r) {
    double u[6 * MOST], sum = 0.0;
    program_velocity(p, r, u);
    for (int a = 0; a < p->n * p->d; ++a) {
        sum += 0.5 * r[a] * (u[a] + p->b[a]);
    }
    return sum;
}

// The point of the cone nearest to x, by its three cases.
static void project(int d, double mu, double* x) {
    double t = 0.0;
    for (int k = 1; k < d; ++k) {
        t += x[k] * x[k];
    }
    t = sqrt(t);
    double n = x[0];
    if (isinf(mu)) {
        x[0] = fmax(n, 0.0);
        return;
    }
    double inside = t <= mu * n ? 1.0 : 0.0;
    double along = fmax(n + mu * t, 0.0) / (1.0 + mu * mu);
    for (int k = 0; k < d && inside == 0.0; ++k) {
        x[k] = k == 0 ? along : t > 0.0 ? mu * along * x[k] / t : 0.0;
    }
}

// Accelerated, restarted, with the step of a bound on W.
static void projected_gradient(const Program* p, int steps, double* r) {
    int size = p->n * p->d;
    double bound = 0.0, y[6 * MOST], u[6 * MOST], last[6 * MOST], theta = 1.0;
    for (int a = 0; a < size; ++a) {
        double sum = 0.0;
        for (int c = 0; c < size; ++c) {
            sum += fabs(p->w[a][c]);
        }
        bound = fmax(bound, sum);
        y[a] = r[a] = 0.0;
    }
    for (int step = 0; step < steps; ++step) {
        double uphill = 0.0;
        memcpy(last, r, sizeof last);
        program_velocity(p, y, u);
        for (int a = 0; a < size; ++a) {
            r[a] = y[a] - u[a] / bound;
        }
        for (int i = 0; i < p->n; ++i) {
            project(p->d, p->mu[i], r + i * p->d);
        }
        for (int a = 0; a < size; ++a) {
            uphill += (y[a] - r[a]) * (r[a] - last[a]);
        }
        theta = uphill > 0.0 ? 1.0 : theta;
        double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * theta * theta));
        for (int a = 0; a < size; ++a) {
            y[a] = r[a] + (uphill > 0.0 ? 0.0 : (theta - 1.0) / next) * (r[a] - last[a]);
        }
        theta = next;
    }
}

// --- as problems ---------------------------------------------------------------------------------

// One body whose A is 1; gamma beside it.
static TdlFrictionProblem* as_bodies(const Program* p, double* packed) {
    static const int start[2] = {0, 0};
    static int body[2 * MOST], starts[2];
    TdlHost host = tdl_host_default();
    size_t at = 0;
    starts[0] = start[0];
    starts[1] = p->dofs;
    for (int i = 0; i < p->n; ++i) {
        body[2 * i] = 0;
        body[2 * i + 1] = -1;
        for (int k = 0; k < p->d; ++k) {
            memcpy(packed + at, p->h[i * p->d + k], (size_t)p->dofs * sizeof(double));
            at += (size_t)p->dofs;
        }
    }
    TdlFrictionBodiesDef def = {.laws = {.block_size = p->d,
                                         .contact_count = p->n,
                                         .mu = p->mu,
                                         .associated = p->associated,
                                         .gamma = p->gamma},
                                .body_count = 1,
                                .dof_start = starts,
                                .u_free = p->b,
                                .body = body,
                                .h = packed,
                                .y = packed};
    TdlFrictionProblem* out = NULL;
    CHECK_INT(tdl_friction_problem_create_bodies(&host, &def, &out), TDL_STATUS_OK);
    return out;
}

static double* new_rows(void) {
    return calloc((size_t)6 * MOST * MOST_DOFS, sizeof(double));
}

static const TdlFrictionSolverKind KNOWING[] = {TDL_FRICTION_AUTO,     TDL_FRICTION_GAUSS_SEIDEL,
                                                TDL_FRICTION_ANDERSON, TDL_FRICTION_INTERIOR,
                                                TDL_FRICTION_ADMM,     TDL_FRICTION_GRADIENT};
enum { KNOWING_COUNT = sizeof KNOWING / sizeof *KNOWING };

static double solve_with(TdlFrictionSolverKind kind, const TdlFrictionProblem* problem,
                         double tolerance, double* r, TdlFrictionInfo* info) {
    TdlHost host = tdl_host_default();
    TdlFrictionOptions options = tdl_friction_options_default();
    options.solver = kind;
    options.tolerance = tolerance;
    TdlFrictionSolver* solver = NULL;
    CHECK_INT(tdl_friction_solver_create(&host, &options, &solver), TDL_STATUS_OK);
    memset(r, 0, 6 * MOST * sizeof *r);
    CHECK_INT(tdl_friction_solver_solve(solver, problem, r, NULL, info), TDL_STATUS_OK);
    tdl_friction_solver_destroy(solver);
    return info->error;
}

// --- one contact ---------------------------------------------------------------------------------

// W of some rank, and a b for which there is a least: W x plus a point inside the
// dual cone, or nothing.
static double one_contact(Rng* rng, int d) {
    double g[36], w[36] = {0}, b[6] = {0}, r[6] = {0}, u[6], prep[40], size = 0.0, trace = 0.0;
    int rank = 1 + rng_below(rng, d);
    double mu = pow(10.0, rng_range(rng, -3.0, 3.0)), unit = pow(10.0, rng_range(rng, -6.0, 6.0));
    for (int k = 0; k < d * rank; ++k) {
        // small whole numbers make products of less than full rank exact
        g[k] = rank < d ? floor(rng_range(rng, -3.0, 4.0)) : unit * rng_normal(rng);
    }
    for (int i = 0; i < d; ++i) {
        for (int j = 0; j < d; ++j) {
            for (int k = 0; k < rank; ++k) {
                w[j * d + i] += g[k * d + i] * g[k * d + j];
            }
        }
        trace += w[i * d + i];
    }
    double dual = rng_unit(rng) < 0.5 ? 0.0 : rng_unit(rng) * sqrt(trace);
    double x[6], norm = 0.0;
    for (int k = 0; k < d; ++k) {
        x[k] = rng_normal(rng) / sqrt(trace + 1.0e-300);
        norm += k > 0 ? x[k] * x[k] : 0.0;
    }
    for (int i = 0; i < d; ++i) {
        b[i] = (i == 0 ? dual * (mu + 0.1) : dual * x[i] / sqrt(norm)) / (1.0 + mu);
        for (int j = 0; j < d; ++j) {
            b[i] += w[j * d + i] * x[j];
        }
        size += fabs(b[i]);
    }
    local_prepare_associated(d, w, prep);
    r[0] = rng_unit(rng) < 0.5 ? 0.0 : rng_unit(rng);
    LocalResult result = local_associated(d, prep, mu, b, r);
    CHECK(result == LOCAL_SOLVED || trace == 0.0);
    for (int i = 0; i < d; ++i) {
        u[i] = b[i];
        for (int j = 0; j < d; ++j) {
            u[i] += w[j * d + i] * r[j];
            size += fabs(w[j * d + i] * r[j]);
        }
    }
    return size > 0.0 ? off_cone(d, mu, trace / d, u, r) / size : 0.0;
}

TEST(one_contact_is_the_least_over_its_cone) {
    Rng rng = rng_seed(7);
    double worst = 0.0;
    for (int k = 0; k < 20000; ++k) {
        worst = fmax(worst, one_contact(&rng, k % 4 == 0 ? 6 : 3));
    }
    printf("  worst violation %.2g\n", worst);
    CHECK_BELOW(worst, 1.0e-13); // some hundred roundings
}

TEST(one_contact_without_a_least_says_so) {
    // W resists along one tangent only, b draws along the normal
    double w[9] = {0, 0, 0, 0, 1.0, 0, 0, 0, 0}, b[3] = {-1.0, 0.0, 0.0}, r[3] = {0}, prep[12];
    local_prepare_associated(3, w, prep);
    CHECK_INT(local_associated(3, prep, 0.5, b, r), LOCAL_NONE);
    CHECK_NEAR(r[0], 0.0, 0.0);
    // and nothing is asked for where b is in the dual cone
    double open[3] = {1.0, 1.0, 1.0};
    CHECK_INT(local_associated(3, prep, 0.5, open, r), LOCAL_SOLVED);
    CHECK_NEAR(r[0], 0.0, 0.0);
}

// --- all -----------------------------------------------------------------------------------------

TEST(every_solver_that_knows_them_finds_the_least) {
    Rng rng = rng_seed(11);
    double worst[KNOWING_COUNT] = {0}, apart = 0.0;
    double* packed = new_rows();
    for (int turn = 0; turn < 8; ++turn) {
        static Program p;
        // more rows than coordinates: W alone is singular
        random_program(&rng, turn == 7 ? 6 : 3, 6 + turn, 12, 0.05, &p);
        TdlFrictionProblem* problem = as_bodies(&p, packed);
        double r[6 * MOST], known[6 * MOST], size = 0.0;
        projected_gradient(&p, 40000, known);
        CHECK_BELOW(program_residual(&p, known), 1.0e-9); // it is the answer
        for (int a = 0; a < p.n * p.d; ++a) {
            size += known[a] * known[a];
        }
        for (int k = 0; k < KNOWING_COUNT; ++k) {
            TdlFrictionInfo info;
            solve_with(KNOWING[k], problem, 1.0e-9, r, &info);
            CHECK_INT(info.outcome, TDL_FRICTION_CONVERGED);
            worst[k] = fmax(worst[k], program_residual(&p, r));
            double off = 0.0;
            for (int a = 0; a < p.n * p.d; ++a) {
                off += (r[a] - known[a]) * (r[a] - known[a]);
            }
            apart = fmax(apart, sqrt(off / size));
            // the error that is told is that of this program, gamma included
            CHECK_NEAR(tdl_friction_error(problem, TDL_FRICTION_ERROR_NATURAL, true, r),
                       info.errors[TDL_FRICTION_ERROR_NATURAL], 1.0e-12);
        }
        tdl_friction_problem_destroy(problem);
    }
    for (int k = 0; k < KNOWING_COUNT; ++k) {
        printf("  %s: residual %.2g\n", tdl_friction_solver_name(KNOWING[k]), worst[k]);
        // the natural map at 1e-9 |b|, and W of the order of 10
        CHECK_BELOW(worst[k], 1.0e-7);
    }
    printf("  apart from the projected gradient %.2g\n", apart);
    CHECK_BELOW(apart, 1.0e-6); // over gamma / W
    free(packed);
}

TEST(a_singular_problem_has_the_least_objective) {
    Rng rng = rng_seed(13);
    double* packed = new_rows();
    for (int turn = 0; turn < 6; ++turn) {
        static Program p;
        random_program(&rng, 3, 10, 9, 0.0, &p);
        TdlFrictionProblem* problem = as_bodies(&p, packed);
        double r[6 * MOST], known[6 * MOST];
        TdlFrictionInfo info;
        projected_gradient(&p, 100000, known);
        double least = objective(&p, known);
        solve_with(TDL_FRICTION_AUTO, problem, 1.0e-9, r, &info);
        CHECK_INT(info.outcome, TDL_FRICTION_CONVERGED);
        CHECK_BELOW(program_residual(&p, r), 1.0e-7);
        // forces are not unique, what they are worth is
        CHECK_NEAR(objective(&p, r), least, 1.0e-7 * (1.0 + fabs(least)));
        tdl_friction_problem_destroy(problem);
    }
    free(packed);
}

// Coulomb's contacts beside them keep their own law.
TEST(laws_mix) {
    Rng rng = rng_seed(17);
    double* packed = new_rows();
    static Program p;
    random_program(&rng, 3, 8, 20, 0.02, &p);
    for (int i = 0; i < p.n; ++i) {
        p.mu[i] = 0.4;
        p.associated[i] = (unsigned char)(i % 2);
    }
    TdlFrictionProblem* problem = as_bodies(&p, packed);
    double r[6 * MOST], u[6 * MOST];
    TdlFrictionInfo info;
    for (int k = 0; k < KNOWING_COUNT; ++k) {
        solve_with(KNOWING[k], problem, 1.0e-10, r, &info);
        CHECK_INT(info.outcome, TDL_FRICTION_CONVERGED);
        program_velocity(&p, r, u);
        for (int i = 0; i < p.n; ++i) {
            double shifted[3] = {u[3 * i], u[3 * i + 1], u[3 * i + 2]};
            shifted[0] += p.associated[i] ? 0.0 : 0.4 * hypot(u[3 * i + 1], u[3 * i + 2]);
            CHECK_BELOW(off_cone(3, 0.4, p.w[3 * i][3 * i], shifted, r + 3 * i), 1.0e-7);
        }
    }
    tdl_friction_problem_destroy(problem);
    free(packed);
}

TEST(others_refuse_by_name) {
    Rng rng = rng_seed(19);
    double* packed = new_rows();
    static Program p;
    random_program(&rng, 3, 4, 12, 0.0, &p);
    p.mu[0] = 0.5; // a true cone
    TdlFrictionProblem* problem = as_bodies(&p, packed);
    for (int kind = 0; kind < TDL_FRICTION_SOLVER_COUNT; ++kind) {
        bool known = false;
        for (int k = 0; k < KNOWING_COUNT; ++k) {
            known = known || KNOWING[k] == (TdlFrictionSolverKind)kind;
        }
        Capture log;
        TdlHost host = capture_host(&log);
        TdlFrictionOptions options = tdl_friction_options_default();
        options.solver = (TdlFrictionSolverKind)kind;
        TdlFrictionSolver* solver = NULL;
        TdlFrictionInfo info;
        double r[6 * MOST] = {0};
        CHECK_INT(tdl_friction_solver_create(&host, &options, &solver), TDL_STATUS_OK);
        CHECK_INT(tdl_friction_solver_solve(solver, problem, r, NULL, &info),
                  known ? TDL_STATUS_OK : TDL_STATUS_BAD_ARGUMENT);
        CHECK(known ||
              strstr(log.text, tdl_friction_solver_name((TdlFrictionSolverKind)kind)) != NULL);
        tdl_friction_solver_destroy(solver);
    }
    tdl_friction_problem_destroy(problem);
    free(packed);
}

TEST(gamma_is_checked_and_becomes_part_of_w) {
    TdlHost host = tdl_host_default();
    double mu[2] = {0.5, 0.5}, gamma[2] = {0.25, 0.0}, b[6] = {-1.0, 0, 0, 1.0, 0, 0};
    int start[3] = {0, 1, 1}, column[1] = {0};
    double block[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    TdlFrictionMatrixDef def = {
        .laws = {.block_size = 3, .contact_count = 2, .mu = mu, .gamma = gamma},
        .b = b,
        .row_start = start,
        .column = column,
        .blocks = block};
    TdlFrictionProblem* p = NULL;
    REQUIRE(tdl_friction_problem_create(&host, &def, &p) == TDL_STATUS_OK);
    TdlFrictionMatrixDef out = tdl_friction_problem_matrix(p);
    CHECK(out.laws.gamma == NULL);
    CHECK_INT(out.row_start[2], 1); // nothing of the second, whose gamma is 0
    CHECK_NEAR(out.blocks[0], 1.25, 0.0);
    CHECK_NEAR(out.blocks[4], 1.25, 0.0);
    tdl_friction_problem_destroy(p);
    double bad[] = {-1.0, NAN, INFINITY};
    for (int k = 0; k < 3; ++k) {
        gamma[1] = bad[k];
        CHECK_INT(tdl_friction_problem_create(&host, &def, &p), TDL_STATUS_BAD_ARGUMENT);
    }
}

TEST(files_keep_both_or_refuse) {
    Rng rng = rng_seed(23);
    Scratch scratch = scratch_make();
    TdlHost host = tdl_host_default();
    double* packed = new_rows();
    static Program p;
    random_program(&rng, 3, 5, 12, 0.03, &p);
    p.associated[2] = 0;
    for (int i = 0; i < p.n; ++i) {
        p.mu[i] = 0.3;
    }
    TdlFrictionProblem *problem = as_bodies(&p, packed), *back = NULL;
    const char* path = scratch_path(&scratch, "p.hdf5");
    REQUIRE(tdl_friction_problem_write(&host, path, problem, NULL) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_problem_read(&host, path, &back) == TDL_STATUS_OK);
    TdlFrictionLaws laws = tdl_friction_problem_bodies(back).laws;
    CHECK(laws.gamma != NULL && memcmp(laws.gamma, p.gamma, 5 * sizeof(double)) == 0);
    CHECK(laws.associated != NULL && memcmp(laws.associated, p.associated, 5) == 0);
    double r[6 * MOST], again[6 * MOST];
    TdlFrictionInfo info;
    solve_with(TDL_FRICTION_ANDERSON, problem, 1.0e-9, r, &info);
    solve_with(TDL_FRICTION_ANDERSON, back, 1.0e-9, again, &info);
    CHECK(memcmp(r, again, 15 * sizeof(double)) == 0);
    tdl_friction_problem_destroy(back);
    // formats of W alone have no place for the law; gamma is part of W
    CHECK_INT(tdl_friction_problem_write(&host, scratch_path(&scratch, "p.dat"), problem, NULL),
              TDL_STATUS_BAD_ARGUMENT);
    tdl_friction_problem_destroy(problem);
    memset(p.associated, 0, sizeof p.associated);
    problem = as_bodies(&p, packed);
    const char* text = scratch_path(&scratch, "q.dat");
    REQUIRE(tdl_friction_problem_write(&host, text, problem, NULL) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_problem_read(&host, text, &back) == TDL_STATUS_OK);
    double u[6 * MOST], v[6 * MOST];
    tdl_friction_velocity(problem, r, u);
    tdl_friction_velocity(back, r, v);
    for (int k = 0; k < 15; ++k) {
        CHECK_NEAR(u[k], v[k], 1.0e-12);
    }
    tdl_friction_problem_destroy(problem);
    tdl_friction_problem_destroy(back);
    scratch_remove(&scratch);
    free(packed);
}
