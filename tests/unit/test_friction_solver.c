// All solvers behind one call: agreement, laws, forms, threads, scaling, bad arguments.
#include "base/hash.h"
#include "bench/friction_cases.h"
#include "friction/problem.h"
#include "test.h"

// The law at every contact, recomputed in long double from the definition: cone membership,
// unilaterality, complementarity, maximum dissipation; relative to the largest velocity around.
static double law_violation(int n, const double* mu, const double* u, const double* r,
                            double stiffness) {
    double worst = 0.0, size = 0.0;
    for (int k = 0; k < 3 * n; ++k) {
        size = fmax(size, fmax(fabs(u[k]), stiffness * fabs(r[k])));
    }
    for (int i = 0; i < n; ++i) {
        const double *x = r + 3 * i, *v = u + 3 * i;
        double rt = hypot(x[1], x[2]), ut = hypot(v[1], v[2]);
        worst = fmax(worst, stiffness * (rt - mu[i] * x[0]));
        worst = fmax(worst, -stiffness * x[0]);
        worst = fmax(worst, -v[0]);
        worst = fmax(worst, fmin(stiffness * x[0], v[0]));
        double slack = x[1] * v[1] + x[2] * v[2] + mu[i] * x[0] * ut;
        worst = fmax(worst, sqrt(stiffness * fmax(fabs(slack) - 1e-15 * size * size, 0.0)) * 1e-3);
    }
    return worst / size;
}

// A chain of coupled contacts, positive definite, mildly coupled: the solution is unique.
static TdlFrictionProblem* chain(int n, double unit_w, double unit_b, const double* mu_all) {
    int* start = malloc(((size_t)n + 1) * sizeof(int));
    int* column = malloc(3 * (size_t)n * sizeof(int));
    double* blocks = calloc(27 * (size_t)n, sizeof(double));
    double* b = malloc(3 * (size_t)n * sizeof(double));
    double* mu = malloc((size_t)n * sizeof(double));
    int k = 0;
    for (int i = 0; i < n; ++i) {
        start[i] = k;
        mu[i] = mu_all != NULL ? mu_all[i] : 0.2 + 0.3 * (i % 3);
        for (int j = i - 1; j <= i + 1; ++j) {
            if (j < 0 || j >= n) {
                continue;
            }
            column[k] = j;
            for (int c = 0; c < 9; ++c) {
                double on = c % 4 == 0 ? 1.0 + 0.2 * (c / 4) : 0.05;
                blocks[9 * k + c] = unit_w * (i == j ? on : (c % 4 == 0 ? -0.2 : 0.02));
            }
            ++k;
        }
        b[3 * i] = unit_b * (i % 4 == 3 ? 0.5 : -1.0 - 0.1 * (i % 5));
        b[3 * i + 1] = unit_b * (0.4 * sin(1.0 + i));
        b[3 * i + 2] = unit_b * (0.3 * cos(2.0 * i));
    }
    start[n] = k;
    TdlFrictionMatrixDef def = {.laws = {.block_size = 3, .contact_count = n, .mu = mu},
                                .b = b,
                                .row_start = start,
                                .column = column,
                                .blocks = blocks};
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* p = NULL;
    tdl_friction_problem_create(&host, &def, &p);
    free(start);
    free(column);
    free(blocks);
    free(b);
    free(mu);
    return p;
}

static TdlFrictionInfo solve(const TdlFrictionProblem* p, const TdlFrictionOptions* options,
                             double* r, double* u) {
    TdlHost host = tdl_host_default();
    TdlFrictionSolver* solver;
    TdlFrictionInfo info = {.outcome = TDL_FRICTION_STALLED, .error = HUGE_VAL};
    if (tdl_friction_solver_create(&host, options, &solver) != TDL_STATUS_OK) {
        return info;
    }
    tdl_friction_solver_solve(solver, p, r, u, &info);
    tdl_friction_solver_destroy(solver);
    return info;
}

static double distance(size_t n, const double* a, const double* b) {
    double sum = 0.0, size = 0.0;
    for (size_t k = 0; k < n; ++k) {
        sum += (a[k] - b[k]) * (a[k] - b[k]);
        size += a[k] * a[k];
    }
    return sqrt(sum / size);
}

TEST(exact_solvers_agree_where_the_solution_is_unique) {
    enum { N = 40 };
    TdlFrictionProblem* p = chain(N, 1.0, 1.0, NULL);
    REQUIRE(p != NULL);
    TdlFrictionOptions o = tdl_friction_options_default();
    double first[3 * N] = {0}, u[3 * N];
    o.tolerance = 1.0e-12; // a thousandth of the root of which counts in the law
    CHECK(solve(p, &o, first, u).outcome == TDL_FRICTION_CONVERGED);
    CHECK_BELOW(law_violation(N, p->mu, u, first, 1.0), 1.0e-9);
    o.tolerance = 1.0e-11;
    for (int kind = 1; kind < TDL_FRICTION_SOLVER_COUNT; ++kind) {
        for (int local = 0; local < TDL_FRICTION_LOCAL_COUNT; ++local) {
            bool sweeps = kind == TDL_FRICTION_GAUSS_SEIDEL || kind == TDL_FRICTION_ANDERSON;
            if (kind == TDL_FRICTION_FACETED || kind >= TDL_FRICTION_ACTIVE_SET ||
                (local > 0 && !sweeps)) {
                continue;
            }
            double r[3 * N] = {0};
            o.solver = (TdlFrictionSolverKind)kind;
            o.local = (TdlFrictionLocal)local;
            TdlFrictionInfo info = solve(p, &o, r, u);
            // interior points lose their last digits at the cones' boundary, and say so
            bool near = kind == TDL_FRICTION_INTERIOR && info.error < 1.0e-9;
            if (info.outcome != TDL_FRICTION_CONVERGED && !near) {
                FAIL("%s with %s: error %.3g", tdl_friction_solver_name(o.solver),
                     tdl_friction_local_name(o.local), info.error);
            }
            CHECK_BELOW(distance(3 * N, first, r), 1.0e-8);
        }
    }
    tdl_friction_problem_destroy(p);
}

TEST(every_error_measure_can_stop_a_solver) {
    TdlFrictionProblem* p = chain(20, 1.0, 1.0, NULL);
    for (int kind = 0; kind < TDL_FRICTION_ERROR_COUNT; ++kind) {
        TdlFrictionOptions o = tdl_friction_options_default();
        o.error = (TdlFrictionError)kind;
        double r[60] = {0};
        TdlFrictionInfo info = solve(p, &o, r, NULL);
        CHECK(info.outcome == TDL_FRICTION_CONVERGED);
        CHECK_BELOW(tdl_friction_error(p, o.error, true, r), 1.0e-8);
        CHECK(info.error == tdl_friction_error(p, o.error, true, r));
        // and zero is no solution by any of them
        double zero[60] = {0};
        CHECK(tdl_friction_error(p, o.error, true, zero) > 0.01);
    }
    tdl_friction_problem_destroy(p);
}

TEST(faceted_cone_is_not_exact) {
    TdlFrictionProblem* p = chain(20, 1.0, 1.0, NULL);
    TdlFrictionOptions o = tdl_friction_options_default();
    o.solver = TDL_FRICTION_FACETED;
    double last = HUGE_VAL;
    for (int facets = 4; facets <= 64; facets *= 4) {
        double r[60] = {0};
        o.facets = facets;
        TdlFrictionInfo info = solve(p, &o, r, NULL);
        CHECK(info.outcome != TDL_FRICTION_CONVERGED);
        CHECK_BELOW(info.error, 0.7 * last);
        last = info.error;
    }
    tdl_friction_problem_destroy(p);
}

TEST(units_do_not_matter) {
    enum { N = 30 };
    TdlFrictionOptions o = tdl_friction_options_default();
    double first[3 * N] = {0};
    for (int k = 0; k < 3; ++k) {
        double w = k == 0 ? 1.0 : k == 1 ? 1.0e9 : 1.0e-7, b = k == 0 ? 1.0 : k == 1 ? 1.0e-6 : 1e4;
        TdlFrictionProblem* p = chain(N, w, b, NULL);
        double r[3 * N] = {0};
        o.tolerance = 1.0e-13 * fmax(1.0, 1.0 / w); // the map mixes r and u: in SI r is b / w
        CHECK(solve(p, &o, r, NULL).outcome == TDL_FRICTION_CONVERGED);
        for (int i = 0; i < 3 * N; ++i) {
            r[i] *= w / b;
        }
        memcpy(k == 0 ? first : r, r, sizeof r);
        CHECK_BELOW(distance(3 * N, first, r), 1.0e-6);
        tdl_friction_problem_destroy(p);
    }
}

TEST(special_contacts) {
    enum { N = 6 };
    double mu[N] = {0.0, INFINITY, 0.5, 0.3, 0.0, INFINITY};
    unsigned char bilateral[N] = {0, 0, 0, 1, 0, 0};
    double c[N] = {0.0, 0.0, 0.25, 0.0, -0.1, 0.0};
    TdlFrictionProblem* base = chain(N, 1.0, 1.0, mu);
    TdlFrictionMatrixDef def = tdl_friction_problem_matrix(base);
    def.laws.bilateral = bilateral;
    def.laws.normal_velocity = c;
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* p;
    REQUIRE(tdl_friction_problem_create(&host, &def, &p) == TDL_STATUS_OK);
    static const TdlFrictionSolverKind kinds[] = {
        TDL_FRICTION_AUTO,     TDL_FRICTION_GAUSS_SEIDEL, TDL_FRICTION_ANDERSON,
        TDL_FRICTION_PROXIMAL, TDL_FRICTION_INTERIOR,     TDL_FRICTION_ADMM,
        TDL_FRICTION_GRADIENT, TDL_FRICTION_ALTERNATING,  TDL_FRICTION_PATH};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        TdlFrictionOptions o = tdl_friction_options_default();
        o.solver = kinds[k];
        double r[3 * N] = {0}, u[3 * N];
        TdlFrictionInfo info = solve(p, &o, r, u);
        if (info.outcome != TDL_FRICTION_CONVERGED) {
            FAIL("%s: error %g", tdl_friction_solver_name(kinds[k]), info.error);
        }
        // frictionless: no tangential impulse, Signorini about the prescribed velocity
        CHECK_NEAR(hypot(r[1], r[2]), 0.0, 1.0e-7);
        CHECK_NEAR(fmin(r[0], u[0]), 0.0, 1.0e-7);
        CHECK_NEAR(fmin(r[12], u[12] - c[4]), 0.0, 1.0e-7);
        // infinite friction: no tangential velocity
        CHECK_NEAR(hypot(u[4], u[5]) + hypot(u[16], u[17]), 0.0, 1.0e-7);
        // restitution: the contact leaves with c
        CHECK(r[6] > 0.1);
        CHECK_NEAR(u[6], 0.25, 1.0e-7);
        // bilateral
        CHECK_NEAR(fabs(u[9]) + fabs(u[10]) + fabs(u[11]), 0.0, 1.0e-7);
    }
    tdl_friction_problem_destroy(p);
    tdl_friction_problem_destroy(base);
}

TEST(velocity_space_and_matrix_make_the_same_iterates) {
    TdlHost host = tdl_host_default();
    static const int per_fibre[] = {20, 50, 100};
    for (int q = 0; q < 3; ++q) {
        FrictionCase c;
        TdlFrictionProblem *bodies, *matrix;
        case_wisp(&c, 5, 12, 12, per_fibre[q], 0.3);
        REQUIRE(case_problem(&c, &host, &bodies) == TDL_STATUS_OK);
        REQUIRE(tdl_friction_problem_explicit(&host, bodies, &matrix) == TDL_STATUS_OK);
        size_t size = 3 * (size_t)c.def.laws.contact_count;
        double* a = calloc(size, sizeof(double));
        double* b = calloc(size, sizeof(double));
        TdlFrictionOptions o = tdl_friction_options_default();
        o.solver = TDL_FRICTION_GAUSS_SEIDEL;
        o.order = TDL_FRICTION_ORDER_GIVEN;
        o.relaxation = 1.0;
        o.max_iterations = 20;
        o.tolerance = 1.0e-300;
        o.force_bodies = true;
        TdlFrictionInfo one = solve(bodies, &o, a, NULL), two = solve(matrix, &o, b, NULL);
        CHECK_INT(one.iterations, two.iterations);
        CHECK_BELOW(distance(size, a, b), 1.0e-10); // rounding, grown by 20 sweeps
        CHECK_NEAR(one.nu, (double)size / (12 * 36), 1.0e-12);
        free(a);
        free(b);
        tdl_friction_problem_destroy(bodies);
        tdl_friction_problem_destroy(matrix);
        case_free(&c);
    }
}

static uint64_t bits_of(const TdlFrictionProblem* p, TdlFrictionOptions o, int threads) {
    size_t size = 3 * (size_t)p->n;
    double* r = calloc(size, sizeof(double));
    o.threads = threads;
    solve(p, &o, r, NULL);
    uint64_t hash = hash_bytes(HASH_START, r, size * sizeof(double));
    free(r);
    return hash;
}

// Fewer contacts carry than there are: those left out must be right too, in both forms.
TEST(alternating_solves_wisps_and_spaghetti) {
    TdlHost host = tdl_host_default();
    for (int k = 0; k < 6; ++k) {
        FrictionCase c;
        TdlFrictionProblem *p, *matrix;
        if (k == 5) {
            case_wisp(&c, 6, 30, 48, 80, 0.1); // factors are dearer than many sweeps
        } else if (k < 2) {
            case_wisp(&c, (uint64_t)k + 1, 20, 12, 20, 0.3);
        } else if (k >= 4) {
            case_wisp(&c, (uint64_t)k + 1, 150, 4, 20, 0.1); // over a thousand
        } else {
            case_spaghetti(&c, (uint64_t)k + 1, 20, 16, (k - 1) * 240, 0.3);
        }
        REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
        REQUIRE(tdl_friction_problem_explicit(&host, p, &matrix) == TDL_STATUS_OK);
        int n = c.def.laws.contact_count;
        TdlFrictionOptions o = tdl_friction_options_default();
        o.solver = TDL_FRICTION_ALTERNATING;
        o.tolerance = k == 5 ? 1.0e-5 : 1.0e-8;
        for (int form = 0; form < 2; ++form) {
            double* r = calloc(3 * (size_t)n, sizeof(double));
            double* u = calloc(3 * (size_t)n, sizeof(double));
            TdlFrictionInfo info = solve(form == 0 ? p : matrix, &o, r, u);
            CHECK(info.outcome == TDL_FRICTION_CONVERGED);
            CHECK_BELOW(tdl_friction_error(p, TDL_FRICTION_ERROR_NATURAL, true, r), o.tolerance);
            CHECK(k < 4 || n > 1000);
            // from its own solution there is nothing to do
            CHECK_INT(solve(form == 0 ? p : matrix, &o, r, u).iterations, 0);
            free(r);
            free(u);
        }
        tdl_friction_problem_destroy(matrix);
        tdl_friction_problem_destroy(p);
        case_free(&c);
    }
}

// One contact of a good guess is so far off that zero is nearer: the guess is still used, so that
// what solves it is what solves it from the good guess, and not from zero.
TEST(a_guess_with_one_bad_contact_is_a_guess) {
    TdlHost host = tdl_host_default();
    FrictionCase c;
    TdlFrictionProblem* p;
    case_wisp(&c, 5, 150, 12, 20, 0.1);
    REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
    size_t size = 3 * (size_t)p->n;
    double *r = calloc(size, sizeof(double)), *near = malloc(size * sizeof(double));
    TdlFrictionOptions o = tdl_friction_options_default();
    CHECK(p->n > 1000);
    TdlFrictionSolverKind zero = solve(p, &o, r, NULL).solver;
    double largest = 0.0;
    for (size_t k = 0; k < size; ++k) {
        near[k] = 1.01 * r[k];
        largest = fmax(largest, fabs(r[k]));
    }
    memcpy(r, near, size * sizeof(double));
    TdlFrictionSolverKind good = solve(p, &o, r, NULL).solver;
    double* none = calloc(size, sizeof(double));
    double cold = tdl_friction_error(p, TDL_FRICTION_ERROR_NATURAL, true, none);
    while (tdl_friction_error(p, TDL_FRICTION_ERROR_NATURAL, true, near) < cold) {
        near[3 * 700] += largest;
    }
    free(none);
    memcpy(r, near, size * sizeof(double));
    TdlFrictionInfo info = solve(p, &o, r, NULL);
    CHECK(info.outcome == TDL_FRICTION_CONVERGED);
    CHECK_BELOW(tdl_friction_error(p, TDL_FRICTION_ERROR_NATURAL, true, r), o.tolerance);
    CHECK(good != zero);
    CHECK(info.solver == good);
    free(r);
    free(near);
    tdl_friction_problem_destroy(p);
    case_free(&c);
}

TEST(same_bits_for_any_number_of_threads) {
    TdlHost host = tdl_host_default();
    FrictionCase c;
    TdlFrictionProblem* p;
    // one large island, swept by colours in parallel, through bodies
    case_wisp(&c, 9, 320, 4, 20, 0.3);
    REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
    REQUIRE(c.def.laws.contact_count >= 3000);
    TdlFrictionOptions o = tdl_friction_options_default();
    o.solver = TDL_FRICTION_ANDERSON;
    o.max_iterations = 8;
    uint64_t one = bits_of(p, o, 1);
    CHECK(bits_of(p, o, 2) == one);
    CHECK(bits_of(p, o, 5) == one);
    o.solver = TDL_FRICTION_GRADIENT;
    one = bits_of(p, o, 1);
    CHECK(bits_of(p, o, 3) == one);
    o.solver = TDL_FRICTION_ALTERNATING;
    o.tolerance = 1.0e-2; // a round of those that carry and some more
    o.max_iterations = 100;
    one = bits_of(p, o, 1);
    CHECK(bits_of(p, o, 2) == one);
    CHECK(bits_of(p, o, 3) == one);
    tdl_friction_problem_destroy(p);
    case_free(&c);
    // many small islands
    case_stack(&c, 3, 60, 3, 0.4);
    REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
    o = tdl_friction_options_default();
    one = bits_of(p, o, 1);
    CHECK(bits_of(p, o, 2) == one);
    CHECK(bits_of(p, o, 4) == one);
    tdl_friction_problem_destroy(p);
    case_free(&c);
}

TEST(islands_apart_or_together_have_the_same_velocities) {
    TdlHost host = tdl_host_default();
    FrictionCase c;
    TdlFrictionProblem* p;
    // without friction they are unique even where r is not
    case_stack(&c, 3, 7, 4, 0.0);
    REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
    double a[3 * 112] = {0}, b[3 * 112] = {0}, ua[3 * 112], ub[3 * 112];
    TdlFrictionOptions o = tdl_friction_options_default();
    o.tolerance = 1.0e-10;
    TdlFrictionInfo apart = solve(p, &o, a, ua);
    o.split_islands = false;
    TdlFrictionInfo together = solve(p, &o, b, ub);
    CHECK(apart.outcome == TDL_FRICTION_CONVERGED && together.outcome == TDL_FRICTION_CONVERGED);
    CHECK_INT(apart.island_count, 7);
    CHECK_INT(together.island_count, 1);
    CHECK_BELOW(distance(3 * 112, ua, ub), 1.0e-6);
    tdl_friction_problem_destroy(p);
    case_free(&c);
}

TEST(warm_start_is_used_and_orders_agree) {
    TdlFrictionProblem* p = chain(60, 1.0, 1.0, NULL);
    TdlFrictionOptions o = tdl_friction_options_default();
    double r[180] = {0};
    CHECK(solve(p, &o, r, NULL).iterations > 0);
    CHECK_INT(solve(p, &o, r, NULL).iterations, 0);
    o.solver = TDL_FRICTION_GAUSS_SEIDEL;
    o.tolerance = 1.0e-11;
    double given[180] = {0};
    o.order = TDL_FRICTION_ORDER_GIVEN;
    CHECK(solve(p, &o, given, NULL).outcome == TDL_FRICTION_CONVERGED);
    static const TdlFrictionOrder orders[] = {TDL_FRICTION_ORDER_COLOUR, TDL_FRICTION_ORDER_RANDOM};
    for (int k = 0; k < 2; ++k) {
        double other[180] = {0};
        o.order = orders[k];
        CHECK(solve(p, &o, other, NULL).outcome == TDL_FRICTION_CONVERGED);
        CHECK_BELOW(distance(180, given, other), 1.0e-8);
    }
    tdl_friction_problem_destroy(p);
}

TEST(a_guess_that_is_good_enough_is_put_into_the_cone) {
    double mu[60], r[180] = {0};
    for (int i = 0; i < 60; ++i) {
        mu[i] = 0.3;
    }
    TdlFrictionProblem* p = chain(60, 1.0, 1.0, mu);
    TdlFrictionOptions o = tdl_friction_options_default();
    CHECK(solve(p, &o, r, NULL).outcome == TDL_FRICTION_CONVERGED);
    for (int i = 0; i < 60; ++i) {
        r[3 * i + 1] += 1.0e-4 * (i % 3 - 1);
        r[3 * i] -= 1.0e-4;
    }
    o.tolerance = 0.1;
    CHECK_INT(solve(p, &o, r, NULL).iterations, 0);
    for (int i = 0; i < 60; ++i) {
        CHECK(hypot(r[3 * i + 1], r[3 * i + 2]) <= 0.3 * r[3 * i] * (1.0 + 1.0e-12));
    }
    tdl_friction_problem_destroy(p);
}

TEST(hard_piles_converge_beyond_nu_2) {
    TdlHost host = tdl_host_default();
    for (int k = 0; k < 3; ++k) {
        FrictionCase c;
        TdlFrictionProblem* p;
        if (k == 0) {
            case_stack(&c, 2, 1, 20, 0.8);
        } else if (k == 1) {
            case_rocks(&c, 2, 30, 0.3);
        } else {
            case_spaghetti(&c, 1, 4, 12, 4 * 12 * 3, 0.3); // nu = 3
        }
        REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
        double* r = calloc(3 * (size_t)p->n, sizeof(double));
        double* u = calloc(3 * (size_t)p->n, sizeof(double));
        TdlFrictionOptions o = tdl_friction_options_default();
        TdlFrictionInfo info = solve(p, &o, r, u);
        CHECK(info.nu > 1.9);
        CHECK(info.outcome == TDL_FRICTION_CONVERGED);
        CHECK_BELOW(law_violation(p->n, c.mu, u, r, 1.0), 1.0e-6);
        free(r);
        free(u);
        tdl_friction_problem_destroy(p);
        case_free(&c);
    }
}

// Sweeps, Newton steps and interior points all stall on these; the path turns back in t on its way.
TEST(the_path_leads_through_piles_of_rough_rocks) {
    TdlHost host = tdl_host_default();
    static const double mus[] = {1.0, 1.5};
    for (size_t k = 0; k < sizeof mus / sizeof *mus; ++k) {
        FrictionCase c;
        TdlFrictionProblem* p;
        case_rocks(&c, k + 1, 40, mus[k]);
        REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
        double* r = calloc(3 * (size_t)p->n, sizeof(double));
        double* u = calloc(3 * (size_t)p->n, sizeof(double));
        TdlFrictionOptions o = tdl_friction_options_default();
        o.solver = TDL_FRICTION_PATH;
        TdlFrictionInfo info = solve(p, &o, r, u);
        CHECK(info.nu > 2.5);
        CHECK(info.outcome == TDL_FRICTION_CONVERGED);
        CHECK_BELOW(law_violation(p->n, c.mu, u, r, 1.0), 1.0e-6);
        free(r);
        free(u);
        tdl_friction_problem_destroy(p);
        case_free(&c);
    }
}

TEST(six_dimensional_blocks) {
    enum { N = 12 };
    int start[N + 1], column[3 * N], k = 0;
    static double blocks[36 * 3 * N], b[6 * N], mu[N], r[6 * N], first[6 * N];
    for (int i = 0; i < N; ++i) {
        start[i] = k;
        mu[i] = 0.4;
        for (int j = i - 1; j <= i + 1; ++j) {
            if (j >= 0 && j < N) {
                column[k] = j;
                for (int c = 0; c < 36; ++c) {
                    blocks[36 * k + c] = i == j ? (c % 7 == 0 ? 1.0 + 0.1 * (c / 7) : 0.03)
                                                : (c % 7 == 0 ? -0.2 : 0.01);
                }
                ++k;
            }
        }
        for (int c = 0; c < 6; ++c) {
            b[6 * i + c] = c == 0 ? (i % 3 == 2 ? 0.3 : -1.0) : 0.3 * sin(1.0 + i + 2.0 * c);
        }
    }
    start[N] = k;
    TdlFrictionMatrixDef def = {.laws = {.block_size = 6, .contact_count = N, .mu = mu},
                                .b = b,
                                .row_start = start,
                                .column = column,
                                .blocks = blocks};
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* p;
    REQUIRE(tdl_friction_problem_create(&host, &def, &p) == TDL_STATUS_OK);
    for (int kind = 0; kind < TDL_FRICTION_FACETED; ++kind) {
        TdlFrictionOptions o = tdl_friction_options_default();
        o.solver = (TdlFrictionSolverKind)kind;
        o.tolerance = 1.0e-10;
        memset(r, 0, sizeof r);
        TdlFrictionInfo info = solve(p, &o, r, NULL);
        if (info.outcome != TDL_FRICTION_CONVERGED) {
            FAIL("%s: error %g", tdl_friction_solver_name(o.solver), info.error);
        }
        memcpy(kind == 0 ? first : r, r, sizeof r);
        CHECK_BELOW(distance(6 * N, first, r), 1.0e-8);
    }
    tdl_friction_problem_destroy(p);
}

TEST(asymmetry_is_told_and_removed) {
    double w[9] = {2.0, 0.4, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0, 1.0}, b[3] = {-1.0, 0.1, 0.0}, mu = 0.5;
    int start[2] = {0, 1}, column = 0;
    TdlFrictionMatrixDef def = {.laws = {.block_size = 3, .contact_count = 1, .mu = &mu},
                                .b = b,
                                .row_start = start,
                                .column = &column,
                                .blocks = w};
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* p;
    REQUIRE(tdl_friction_problem_create(&host, &def, &p) == TDL_STATUS_OK);
    // |W - W'| = 0.2 sqrt 2, |W|^2 = 4 + 0.16 + 0.04 + 2
    CHECK_NEAR(tdl_friction_problem_size(p).asymmetry, 0.2 * sqrt(2.0) / sqrt(6.2), 1.0e-15);
    CHECK_NEAR(tdl_friction_problem_matrix(p).blocks[1], 0.3, 1.0e-16);
    tdl_friction_problem_destroy(p);
}

TEST(bad_arguments_are_refused) {
    double w[9] = {1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0}, b[3] = {-1.0, 0.1, 0.0}, mu = 0.5;
    int start[2] = {0, 1}, column = 0;
    TdlFrictionMatrixDef good = {.laws = {.block_size = 3, .contact_count = 1, .mu = &mu},
                                 .b = b,
                                 .row_start = start,
                                 .column = &column,
                                 .blocks = w};
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* p = NULL;
    double bad_mu[] = {-0.1, NAN}, nan_b[3] = {NAN, 0, 0}, inf_w[9] = {INFINITY};
    int bad_start[2] = {0, -1}, bad_column = 1;
    for (int k = 0; k < 7; ++k) {
        TdlFrictionMatrixDef def = good;
        def.laws.mu = k < 2 ? &bad_mu[k] : def.laws.mu;
        def.b = k == 2 ? nan_b : def.b;
        def.blocks = k == 3 ? inf_w : def.blocks;
        def.row_start = k == 4 ? bad_start : def.row_start;
        def.column = k == 5 ? &bad_column : def.column;
        def.laws.block_size = k == 6 ? 4 : 3;
        CHECK(tdl_friction_problem_create(&host, &def, &p) == TDL_STATUS_BAD_ARGUMENT);
    }
    TdlFrictionOptions o = tdl_friction_options_default();
    TdlFrictionSolver* solver;
    o.tolerance = 0.0;
    CHECK(tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_BAD_ARGUMENT);
    o = tdl_friction_options_default();
    o.anderson_memory = 33;
    CHECK(tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_BAD_ARGUMENT);
    o = tdl_friction_options_default();
    o.relaxation = 2.0;
    CHECK(tdl_friction_solver_create(&host, &o, &solver) == TDL_STATUS_BAD_ARGUMENT);
}

TEST(no_contacts_and_no_motion_are_solved) {
    int start[1] = {0};
    double none = 0.0;
    TdlFrictionMatrixDef def = {.laws = {.block_size = 3, .contact_count = 0, .mu = &none},
                                .b = &none,
                                .row_start = start,
                                .column = start,
                                .blocks = &none};
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* p;
    REQUIRE(tdl_friction_problem_create(&host, &def, &p) == TDL_STATUS_OK);
    TdlFrictionOptions o = tdl_friction_options_default();
    double r[9] = {0};
    CHECK(solve(p, &o, r, NULL).outcome == TDL_FRICTION_CONVERGED);
    tdl_friction_problem_destroy(p);
    p = chain(3, 1.0, 0.0, NULL); // b = 0
    CHECK(solve(p, &o, r, NULL).outcome == TDL_FRICTION_CONVERGED);
    CHECK_NEAR(r[0] + r[3] + r[6], 0.0, 0.0);
    tdl_friction_problem_destroy(p);
}

// --- memory --------------------------------------------------------------------------------------

// Found by fuzzing: where no digits are left, every solver must give up rather than go round.
TEST(unreachable_tolerances_end) {
    TdlFrictionProblem* p = chain(12, 1.0, 1.0, NULL);
    for (int kind = 0; kind < TDL_FRICTION_SOLVER_COUNT; ++kind) {
        TdlFrictionOptions o = tdl_friction_options_default();
        o.solver = (TdlFrictionSolverKind)kind;
        o.tolerance = 1.0e-300;
        o.max_iterations = 200;
        double r[36] = {0};
        CHECK(solve(p, &o, r, NULL).outcome != TDL_FRICTION_CONVERGED);
    }
    tdl_friction_problem_destroy(p);
}

typedef struct Counting {
    TdlAllocator real;
    long calls, fail_at;
} Counting;

static void* counting_resize(void* user, void* block, size_t old_size, size_t new_size) {
    Counting* c = user;
    if (new_size > 0 && ++c->calls == c->fail_at) {
        return NULL;
    }
    return c->real.resize(c->real.user, block, old_size, new_size);
}

TEST(every_allocation_may_fail_and_a_second_solve_needs_none) {
    FrictionCase c;
    case_stack(&c, 4, 2, 3, 0.4);
    TdlHost plain = tdl_host_default(), host = plain;
    Counting counting = {plain.mem, 0, 0};
    host.mem = (TdlAllocator){counting_resize, &counting};
    double r[3 * 24];
    for (long fail_at = 1; fail_at < 400; ++fail_at) {
        counting.calls = 0;
        counting.fail_at = fail_at;
        TdlFrictionProblem* p = NULL;
        TdlFrictionSolver* solver = NULL;
        TdlFrictionOptions o = tdl_friction_options_default();
        TdlFrictionInfo info = {0};
        memset(r, 0, sizeof r);
        TdlStatus status = case_problem(&c, &host, &p);
        if (status == TDL_STATUS_OK) {
            status = tdl_friction_solver_create(&host, &o, &solver);
        }
        if (status == TDL_STATUS_OK) {
            status = tdl_friction_solver_solve(solver, p, r, NULL, &info);
        }
        bool met = counting.calls >= fail_at;
        if (!met) {
            CHECK(status == TDL_STATUS_OK && info.outcome == TDL_FRICTION_CONVERGED);
            // the measure itself takes a few blocks and gives them back; the solve grows nothing
            long before = counting.calls;
            memset(r, 0, sizeof r);
            CHECK(tdl_friction_solver_solve(solver, p, r, NULL, &info) == TDL_STATUS_OK);
            CHECK_BELOW((double)(counting.calls - before), 9.0);
            fail_at = 1000;
        }
        tdl_friction_solver_destroy(solver);
        tdl_friction_problem_destroy(p);
    }
    case_free(&c);
}
