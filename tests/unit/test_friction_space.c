// S' W T + A over contacts and over coordinates, against a dense matrix from the definition; and
// steps of interior points that go through either.
#include "friction/space.h"
#include "island.h"
#include "test.h"

static double next_random(uint64_t* seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 40) / 8388608.0 - 1.0;
}

// Parts of all sizes with A over `decades` decades below one.
static void fill_parts(Space* s, double decades) {
    uint64_t seed = 7;
    for (int i = 0; i < s->run->sys->n; ++i) {
        Part a = space_part(s, i);
        *a.size = i % 5 == 4 ? i / 5 % 3 : 3;
        for (int k = 0; k < *a.size; ++k) {
            for (int c = 0; c < 3; ++c) {
                a.trial[3 * k + c] = (c == k ? 1.0 : 0.0) + 0.3 * next_random(&seed);
                a.test[3 * k + c] = a.trial[3 * k + c] + 0.2 * next_random(&seed);
            }
            a.add[4 * k] = pow(10.0, 0.5 * decades * (next_random(&seed) - 1.0));
        }
    }
}

// The matrix over contacts, rows and columns of unknowns that are not there being one.
static void dense_matrix(Island* f, const Space* s, double* k) {
    int n = 3 * f->sys.n;
    double *z = calloc((size_t)n, sizeof *z), *u = calloc((size_t)n, sizeof *u);
    memset(k, 0, (size_t)n * (size_t)n * sizeof *k);
    for (int j = 0; j < n; ++j) {
        Part b = space_part(s, j / 3);
        if (j % 3 >= *b.size) {
            k[j * n + j] = 1.0;
            continue;
        }
        memset(z, 0, (size_t)n * sizeof *z);
        for (int c = 0; c < 3; ++c) {
            z[j / 3 * 3 + c] = b.trial[j % 3 * 3 + c];
        }
        system_product(&f->sys, z, u);
        for (int i = 0; i < n; ++i) {
            Part a = space_part(s, i / 3);
            for (int c = 0; c < 3 && i % 3 < *a.size; ++c) {
                k[i * n + j] += a.test[i % 3 * 3 + c] * u[i / 3 * 3 + c];
            }
        }
        k[j * n + j] += b.add[4 * (j % 3)];
    }
    free(z);
    free(u);
}

// |s - K x| against |s|, K from the definition.
static double residual_of(int n, const double* matrix, const double* x, const double* right) {
    double sum = 0.0, all = 0.0;
    for (int i = 0; i < n; ++i) {
        double rest = right[i];
        for (int j = 0; j < n; ++j) {
            rest -= matrix[i * n + j] * x[j];
        }
        sum += rest * rest;
        all += right[i] * right[i];
    }
    return sqrt(sum / all);
}

static void check_space(Island* f, bool coordinates, double decades) {
    Space s;
    int n = 3 * f->sys.n, bodies = f->sys.bodies_count;
    REQUIRE(space_init(&s, &f->run) == TDL_STATUS_OK);
    fill_parts(&s, decades);
    f->sys.bodies_count = coordinates ? bodies : 0; // unknown bodies have no coordinates
    REQUIRE(space_plan(&s) == TDL_STATUS_OK);
    f->sys.bodies_count = bodies;
    CHECK(s.over_coordinates == coordinates);
    double *matrix = malloc((size_t)n * (size_t)n * sizeof *matrix), *x, *right, *expected;
    x = calloc((size_t)n, sizeof *x);
    right = calloc((size_t)n, sizeof *right);
    expected = calloc((size_t)n, sizeof *expected);
    dense_matrix(f, &s, matrix);
    uint64_t seed = 11;
    for (int k = 0; k < n; ++k) {
        right[k] = k % 3 < *space_part(&s, k / 3).size ? next_random(&seed) : 0.0;
        x[k] = expected[k] = right[k];
    }
    REQUIRE(space_factor(&s) == TDL_STATUS_OK);
    space_solve(&s, x);
    // what is left must be small, whatever A: velocities follow from it
    CHECK_BELOW(residual_of(n, matrix, x, right), 1.0e-9);
    int sign = solve_dense(n, matrix, expected);
    CHECK_INT(s.sign, sign);
    double worst = 0.0, largest = 0.0;
    for (int k = 0; k < n; ++k) {
        worst = fmax(worst, fabs(x[k] - expected[k]));
        largest = fmax(largest, fabs(expected[k]));
    }
    printf("  %s, A over %g decades: off by %.1e\n", coordinates ? "coordinates" : "contacts",
           decades, worst / largest);
    CHECK_BELOW(worst, 1.0e-6 * largest); // of 1e-15 times a condition of up to 1e8
    free(matrix);
    free(x);
    free(right);
    free(expected);
}

TEST(both_spaces_solve_the_same) {
    for (int k = 0; k < 3; ++k) {
        Island f;
        if (k == 0) {
            case_rocks(&f.c, 5, 12, 0.7);
        } else if (k == 1) {
            case_spaghetti(&f.c, 4, 4, 6, 40, 0.5);
        } else {
            case_wisp(&f.c, 3, 5, 4, 12, 1.5);
        }
        REQUIRE(island_open(&f));
        for (double decades = 0.0; decades <= 8.0; decades += 4.0) {
            System before = f.sys;
            check_space(&f, true, decades);
            check_space(&f, false, decades);
            f.sys = before;
        }
        island_close(&f);
    }
}

// A from far below to far above what W adds: most unknowns are left out of the factors, and what is
// left of all is a thousandth.
TEST(weak_unknowns_follow_the_others) {
    Island f;
    Space s;
    case_wisp(&f.c, 3, 24, 12, 40, 1.5);
    REQUIRE(island_open(&f));
    int n = 3 * f.sys.n, all = 0;
    REQUIRE(space_init(&s, &f.run) == TDL_STATUS_OK);
    uint64_t seed = 3;
    fill_parts(&s, 0.0);
    for (int i = 0; i < f.sys.n; ++i) {
        Part a = space_part(&s, i);
        for (int k = 0; k < *a.size; ++k, ++all) {
            a.add[4 * k] = pow(10.0, 5.0 * next_random(&seed));
        }
    }
    s.may_thin = true;
    f.sys.bodies_count = 0; // over contacts
    REQUIRE(space_plan(&s) == TDL_STATUS_OK && s.thins);
    double* matrix = malloc((size_t)n * (size_t)n * sizeof *matrix);
    double *x = calloc((size_t)n, sizeof *x), *right = calloc((size_t)n, sizeof *right);
    dense_matrix(&f, &s, matrix);
    for (int again = 0; again < 2; ++again) { // the order is made anew each time
        for (int k = 0; k < n; ++k) {
            x[k] = right[k] = k % 3 < *space_part(&s, k / 3).size ? next_random(&seed) : 0.0;
        }
        REQUIRE(space_factor(&s) == TDL_STATUS_OK);
        space_solve(&s, x);
        double left = residual_of(n, matrix, x, right);
        printf("  %d of %d unknowns in the factors, left %.1e\n", s.lu.offset[s.lu.n], all, left);
        CHECK(s.lu.offset[s.lu.n] < 0.8 * all && s.lu.offset[s.lu.n] > 0.2 * all);
        CHECK_BELOW(left, 1.0e-3);
    }
    free(matrix);
    free(x);
    free(right);
    island_close(&f);
}

TEST(centres_lie_on_the_path) {
    uint64_t seed = 9;
    for (int trial = 0; trial < 3000; ++trial) {
        int d = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 3 : 6;
        double z[6], x[6], y[6], size = pow(10.0, 4.0 * next_random(&seed));
        double root = pow(10.0, 3.0 * next_random(&seed)), product = 0.0, tx = 0.0, ty = 0.0;
        for (int k = 0; k < d; ++k) {
            z[k] = trial % 50 == 0 ? 0.0 : size * next_random(&seed);
        }
        cone_centre(d, z, root, x, y);
        double unit = fmax(size, root);
        for (int k = 0; k < d; ++k) {
            CHECK_BELOW(fabs(x[k] - y[k] - z[k]), 1.0e-14 * unit); // roundings
            product += x[k] * y[k];
            // x o y = (x.y, x_0 y_k + y_0 x_k)
            CHECK_BELOW(k == 0 ? 0.0 : fabs(x[0] * y[k] + y[0] * x[k]), 1.0e-14 * x[0] * y[0]);
            tx += k > 0 ? x[k] * x[k] : 0.0;
            ty += k > 0 ? y[k] * y[k] : 0.0;
        }
        // x.y is a difference of numbers as large as x_0 y_0
        CHECK_BELOW(fabs(product - root * root), 1.0e-14 * (x[0] * y[0] + root * root));
        CHECK(x[0] > 0.0 && y[0] > 0.0 && x[0] * x[0] >= tx && y[0] * y[0] >= ty);
    }
}

// From impulses that are off by some per cent, as guesses of a step are.
TEST(a_start_near_a_solution_takes_fewer_steps) {
    int near = 0, far = 0;
    for (int seed = 1; seed <= 4; ++seed) {
        Island f;
        uint64_t random = 5;
        case_wisp(&f.c, (uint64_t)seed, 12, 12, 20, 0.5);
        REQUIRE(island_open(&f));
        REQUIRE(run_interior(&f.run) == TDL_STATUS_OK);
        REQUIRE(run_done(&f.run) || run_proximal(&f.run) == TDL_STATUS_OK);
        CHECK(run_done(&f.run));
        far += f.run.iterations;
        for (int k = 0; k < 3 * f.sys.n; ++k) {
            f.best[k] *= 1.0 + 0.05 * next_random(&random);
        }
        double* u = malloc(3 * (size_t)f.sys.n * sizeof *u);
        system_velocity(&f.sys, f.best, u);
        f.run.error = system_error(&f.sys, u, f.best);
        f.run.iterations = 0;
        free(u);
        REQUIRE(run_near(&f.run) == TDL_STATUS_OK);
        REQUIRE(run_done(&f.run) || run_proximal(&f.run) == TDL_STATUS_OK);
        CHECK(run_done(&f.run));
        near += f.run.iterations;
        island_close(&f);
    }
    printf("  %d steps from afar, %d from near\n", far, near);
    CHECK(near < far);
}

// The same problem through bodies and as a matrix: interior points take the same steps but for
// rounding, in one over coordinates, in the other over contacts.
TEST(interior_points_agree_in_both_spaces) {
    TdlHost host = tdl_host_default();
    for (int seed = 1; seed <= 3; ++seed) {
        FrictionCase c;
        TdlFrictionProblem *p, *matrix;
        case_rocks(&c, (uint64_t)seed, 20, 0.4);
        REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
        REQUIRE(tdl_friction_problem_explicit(&host, p, &matrix) == TDL_STATUS_OK);
        TdlFrictionOptions o = tdl_friction_options_default();
        o.solver = TDL_FRICTION_INTERIOR;
        int n = c.def.laws.contact_count, steps[2];
        double* r = calloc(3 * (size_t)n, sizeof *r);
        for (int form = 0; form < 2; ++form) {
            TdlFrictionSolver* s;
            TdlFrictionInfo info;
            memset(r, 0, 3 * (size_t)n * sizeof *r);
            REQUIRE(tdl_friction_solver_create(&host, &o, &s) == TDL_STATUS_OK);
            REQUIRE(tdl_friction_solver_solve(s, form == 0 ? p : matrix, r, NULL, &info) ==
                    TDL_STATUS_OK);
            CHECK(info.outcome == TDL_FRICTION_CONVERGED);
            CHECK_BELOW(tdl_friction_error(p, TDL_FRICTION_ERROR_NATURAL, true, r), 1.0e-8);
            steps[form] = info.iterations;
            tdl_friction_solver_destroy(s);
        }
        printf("  %d and %d steps\n", steps[0], steps[1]);
        CHECK(abs(steps[0] - steps[1]) <= 3);
        free(r);
        tdl_friction_problem_destroy(p);
        tdl_friction_problem_destroy(matrix);
        case_free(&c);
    }
}
