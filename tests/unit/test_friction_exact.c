// Velocities and the natural map in extended precision.
#include "bench/friction_cases.h"
#include "friction/error.h"
#include "friction/exact.h"
#include "test.h"

#include <float.h>

// Three contacts on one body, in units of their own: u_i = q_i sum q_j r_j, all of it integers.
static const long long Q[3] = {7, 11, 13};

static void make_thrice(FrictionCase* c) {
    case_begin(c, 1, 1, 3);
    for (int i = 0; i < 3; ++i) {
        double q = (double)Q[i], rows[9] = {q, 0.0, 0.0, 0.0, q, 0.0, 0.0, 0.0, q};
        case_add(c, 0, rows, -1, NULL, 0.5);
    }
}

// Impulses of 2^52 and more whose sum is a few units: in double precision nothing of it is left.
static long long cancel(uint64_t seed, int k, double* r) {
    long long a = 6100000000000011LL + (long long)(seed * 977 + (uint64_t)k), b = -a + 1234567 * k;
    long long rest = 7 * a + 11 * b, last = -rest / 13;
    r[k] = (double)a;
    r[3 + k] = (double)b;
    r[6 + k] = (double)last;
    return rest + 13 * last;
}

TEST(velocities_of_large_impulses_keep_their_digits) {
    TdlHost host = tdl_host_default();
    FrictionCase c;
    TdlFrictionProblem* p[2];
    Arena arena;
    make_thrice(&c);
    arena_init(&arena, &host.mem);
    REQUIRE(case_problem(&c, &host, &p[0]) == TDL_STATUS_OK);
    REQUIRE(tdl_friction_problem_explicit(&host, p[0], &p[1]) == TDL_STATUS_OK);
    bool wide = LDBL_MANT_DIG >= 64; // else it is as good as double
    for (uint64_t seed = 0; seed < 50 && wide; ++seed) {
        double r[9], u[9];
        long long sum[3];
        for (int k = 0; k < 3; ++k) {
            sum[k] = cancel(seed, k, r);
        }
        for (int form = 0; form < 2; ++form) {
            ExactView all = {.problem = p[form], .n = 3, .unit = 2.0, .rho = 1.0};
            REQUIRE(exact_velocity(&all, &arena, r, u) == TDL_STATUS_OK);
            for (int k = 0; k < 9; ++k) {
                CHECK(u[k] == 0.5 * (double)(Q[k / 3] * sum[k % 3]));
            }
        }
    }
    arena_destroy(&arena);
    tdl_friction_problem_destroy(p[0]);
    tdl_friction_problem_destroy(p[1]);
    case_free(&c);
}

TEST(moderate_impulses_have_the_error_they_had) {
    TdlHost host = tdl_host_default();
    Arena arena;
    arena_init(&arena, &host.mem);
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        FrictionCase c;
        TdlFrictionProblem* p[2];
        unsigned char bilateral[400] = {0};
        double r[1200], u[1200], v[1200];
        case_rocks(&c, seed, 30, 0.7);
        int n = c.def.laws.contact_count;
        REQUIRE(n <= 400);
        for (int i = 0; i < n; ++i) {
            bilateral[i] = i % 7 == 3;
            c.mu[i] = i % 5 == 0 ? 0.0 : i % 5 == 1 ? INFINITY : c.mu[i];
        }
        for (int k = 0; k < 3 * n; ++k) {
            r[k] = k % 4 == 0 ? 0.0 : case_range(&c, k % 3 == 0 ? -0.1 : -1.0, 1.0);
        }
        c.def.laws.bilateral = bilateral;
        REQUIRE(case_problem(&c, &host, &p[0]) == TDL_STATUS_OK);
        REQUIRE(tdl_friction_problem_explicit(&host, p[0], &p[1]) == TDL_STATUS_OK);
        for (int form = 0; form < 2; ++form) {
            problem_velocity(p[form], r, u, v);
            double plain = error_norm(p[form], TDL_FRICTION_ERROR_NATURAL, false, r, u);
            double exact = exact_norm(p[form], &arena, r);
            // sums of some dozen products
            CHECK_NEAR(exact / plain, 1.0, 1.0e-13);
            tdl_friction_problem_destroy(p[form]);
        }
        case_free(&c);
    }
    arena_destroy(&arena);
}

// Masses over six decades, and stones wedged with a billion times what they need.
TEST(rubble_over_six_decades_is_solved) {
    static const struct {
        int seed;
        double mu;
    } piles[] = {{2, 1.0}, {2, 1.5}, {30, 1.5}};
    TdlHost host = tdl_host_default();
    for (size_t k = 0; k < sizeof piles / sizeof *piles; ++k) {
        FrictionCase c;
        TdlFrictionProblem* p;
        TdlFrictionSolver* s;
        TdlFrictionInfo info;
        TdlFrictionOptions o = tdl_friction_options_default();
        case_rubble(&c, (uint64_t)piles[k].seed, 50, 6.0, piles[k].mu);
        REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
        REQUIRE(tdl_friction_solver_create(&host, &o, &s) == TDL_STATUS_OK);
        double* r = calloc(3 * (size_t)c.def.laws.contact_count, sizeof *r);
        REQUIRE(r != NULL);
        CHECK(tdl_friction_solver_solve(s, p, r, NULL, &info) == TDL_STATUS_OK);
        CHECK_INT(info.outcome, TDL_FRICTION_CONVERGED);
        CHECK_BELOW(tdl_friction_error(p, TDL_FRICTION_ERROR_NATURAL, true, r), o.tolerance);
        free(r);
        tdl_friction_solver_destroy(s);
        tdl_friction_problem_destroy(p);
        case_free(&c);
    }
}
