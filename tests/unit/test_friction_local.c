// One-contact solvers, judged by code that shares no line with them.
//
// TENDRIL_CAMPAIGN=N runs N random problems instead of the few of the ordinary test.
#include "base/rng.h"
#include "friction/local.h"
#include "friction/study/study.h"
#include "test.h"

typedef struct One {
    double w[9], b[3], mu;
    int rank;
} One;

static void velocity(const One* p, const double* r, long double* u) {
    for (int i = 0; i < 3; ++i) {
        u[i] = p->b[i];
        for (int j = 0; j < 3; ++j) {
            u[i] += (long double)p->w[3 * j + i] * r[j];
        }
    }
}

// How far (W r + b, r) is from the Signorini-Coulomb law, in units of velocity, divided by
// |b| + |W| |r|: cone membership, unilaterality, complementarity, maximum dissipation.
static double violation(const One* p, const double* r) {
    long double u[3], size = 0.0L, trace = p->w[0] + p->w[4] + p->w[8];
    velocity(p, r, u);
    long double rn = r[0], rt = sqrtl((long double)r[1] * r[1] + (long double)r[2] * r[2]);
    long double ut = sqrtl(u[1] * u[1] + u[2] * u[2]);
    size = sqrtl(p->b[0] * p->b[0] + p->b[1] * p->b[1] + p->b[2] * p->b[2]);
    size += trace * sqrtl(rn * rn + rt * rt);
    long double worst = 0.0L;
    // in the cone
    worst = fmaxl(worst, trace * (rt - p->mu * rn) / (1.0L + p->mu));
    worst = fmaxl(worst, -trace * rn);
    // no penetration
    worst = fmaxl(worst, -u[0]);
    // an impulse only where the gap does not open
    worst = fmaxl(worst, fminl(trace * rn, u[0]));
    // friction opposes sliding with all it has
    long double slack = r[1] * u[1] + r[2] * u[2] + p->mu * rn * ut;
    worst = fmaxl(worst, rn > 0.0L ? fabsl(slack) / ((1.0L + p->mu) * rn) : 0.0L);
    return (double)(size > 0.0L ? worst / size : worst);
}

// W = G G' of the given rank, scaled by rows when `bad`
static One random_problem(Rng* rng) {
    One p = {.rank = rng_unit(rng) < 0.7 ? 3 : rng_unit(rng) < 0.7 ? 2 : 1};
    double g[9] = {0}, row[3] = {1.0, 1.0, 1.0};
    bool bad = rng_unit(rng) < 0.3;
    double unit = bad ? pow(10.0, rng_range(rng, -8.0, 8.0)) : 1.0;
    for (int i = 0; i < 3 && bad; ++i) {
        row[i] = pow(10.0, rng_range(rng, -2.0, 2.0));
    }
    for (int k = 0; k < p.rank; ++k) {
        for (int i = 0; i < 3; ++i) {
            // small whole numbers make semidefinite products exact
            g[3 * k + i] =
                p.rank < 3 && !bad ? floor(rng_range(rng, -3.0, 4.0)) : row[i] * rng_normal(rng);
        }
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            double sum = 0.0;
            for (int k = 0; k < 3; ++k) {
                sum += g[3 * k + i] * g[3 * k + j];
            }
            p.w[3 * j + i] = unit * sum;
        }
    }
    for (int i = 0; i < 3; ++i) {
        p.b[i] = rng_normal(rng) * (bad ? pow(10.0, rng_range(rng, -3.0, 3.0)) : 1.0);
    }
    double kind = rng_unit(rng);
    p.mu = kind < 0.1 ? 0.0 : kind < 0.6 ? rng_range(rng, 0.0, 1.0) : rng_range(rng, 0.0, 10.0);
    return p;
}

// Is there a sliding solution? A slow scan for a change of sign of |r_T| - mu r_N along alpha, in
// the original basis, by Cramer's rule.
static bool scan_finds_slide(const One* p) {
    double wnn = p->w[0], last = 0.0;
    double s00 = p->w[4] - p->w[1] * p->w[1] / wnn, s11 = p->w[8] - p->w[2] * p->w[2] / wnn;
    double s01 = p->w[5] - p->w[1] * p->w[2] / wnn;
    double c0 = p->b[1] - p->w[1] * p->b[0] / wnn, c1 = p->b[2] - p->w[2] * p->b[0] / wnn;
    double trace = p->w[0] + p->w[4] + p->w[8];
    for (int k = 0; k <= 4000; ++k) {
        double alpha = trace * pow(10.0, -10.0 + 20.0 * k / 4000.0);
        double det = (s00 + alpha) * (s11 + alpha) - s01 * s01;
        double t0 = -((s11 + alpha) * c0 - s01 * c1) / det;
        double t1 = -((s00 + alpha) * c1 - s01 * c0) / det;
        double n = -(p->b[0] + p->w[1] * t0 + p->w[2] * t1) / wnn;
        double h = hypot(t0, t1) - p->mu * n;
        if (k > 0 && (h > 0.0) != (last > 0.0)) {
            return true;
        }
        last = h;
    }
    return false;
}

static int campaign(int fallback) {
    const char* text = getenv("TENDRIL_CAMPAIGN");
    return text == NULL ? fallback : atoi(text);
}

typedef struct OneAnswer {
    bool solved;   // false: certified that no solution exists, or (Fischer) not converged
    bool failsafe; // the hybrid had to enumerate
} OneAnswer;

// One contact alone; the secular root leaves singular blocks to enumeration, which certifies.
static OneAnswer one_contact(TdlFrictionLocal kind, const double* w, const double* b, double mu,
                             double* r) {
    ContactLaw law = mu == 0.0 ? LAW_SMOOTH : isinf(mu) ? LAW_ROUGH : LAW_CONE;
    double prep[12];
    long long failsafe = 0;
    memset(r, 0, 3 * sizeof(double));
    local_prepare(3, w, prep);
    bool singular = prep[PREP_S] == 0.0 || prep[PREP_S + 1] == 0.0;
    bool exact = kind == TDL_FRICTION_LOCAL_SECULAR && singular && law == LAW_CONE;
    kind = exact ? TDL_FRICTION_LOCAL_ENUMERATE : kind;
    bool solved = local_solve(kind, 3, w, prep, law, mu, b, r, &failsafe) == LOCAL_SOLVED;
    return (OneAnswer){solved, failsafe > 0};
}

TEST(hybrid_solves_wherever_a_solution_exists) {
    Rng rng = rng_seed(2024);
    int count = campaign(20000), none = 0, wrong_none = 0, failsafe = 0;
    double worst = 0.0;
    for (int k = 0; k < count; ++k) {
        One p = random_problem(&rng);
        double r[3], e[3];
        OneAnswer hybrid = one_contact(TDL_FRICTION_LOCAL_HYBRID, p.w, p.b, p.mu, r);
        OneAnswer exact = one_contact(TDL_FRICTION_LOCAL_ENUMERATE, p.w, p.b, p.mu, e);
        failsafe += hybrid.failsafe;
        CHECK(hybrid.solved == exact.solved);
        if (exact.solved) {
            double v = violation(&p, r), x = violation(&p, e);
            worst = fmax(worst, fmax(v, x));
            if (!(fmax(v, x) < 1.0e-12)) {
                FAIL("problem %d, rank %d, mu %g: hybrid off by %.3g, enumeration by %.3g", k,
                     p.rank, p.mu, v, x);
            }
        } else {
            ++none;
            // a pushing velocity that nothing resists, or a singular block without any root
            bool proved = p.b[0] < 0.0 && (p.w[0] == 0.0 || !scan_finds_slide(&p));
            wrong_none += !proved;
        }
    }
    printf("  %d problems, worst violation %.2e, %d without solution, %d fail-safe calls\n", count,
           worst, none, failsafe);
    CHECK_INT(wrong_none, 0);
    CHECK(none > 0);
}

TEST(secular_solves_wherever_a_solution_exists) {
    Rng rng = rng_seed(7);
    int count = campaign(20000);
    double worst = 0.0;
    for (int k = 0; k < count; ++k) {
        One p = random_problem(&rng);
        double r[3], e[3];
        OneAnswer secular = one_contact(TDL_FRICTION_LOCAL_SECULAR, p.w, p.b, p.mu, r);
        OneAnswer exact = one_contact(TDL_FRICTION_LOCAL_ENUMERATE, p.w, p.b, p.mu, e);
        CHECK(secular.solved == exact.solved);
        if (secular.solved) {
            double v = violation(&p, r);
            worst = fmax(worst, v);
            if (!(v < 1.0e-12)) {
                FAIL("problem %d, rank %d, mu %g: off by %.3g", k, p.rank, p.mu, v);
            }
        }
    }
    printf("  %d problems, worst violation %.2e\n", count, worst);
}

TEST(frictionless_and_rough_have_closed_forms) {
    double w[9] = {2.0, 0.5, 0.0, 0.5, 1.0, 0.1, 0.0, 0.1, 1.5}, b[3] = {-1.0, 0.3, 0.2}, r[3];
    CHECK(one_contact(TDL_FRICTION_LOCAL_SECULAR, w, b, 0.0, r).solved);
    CHECK_NEAR(r[0], 0.5, 1.0e-15);
    CHECK_NEAR(hypot(r[1], r[2]), 0.0, 0.0);
    // mu = infinity: u = 0 when pressed
    CHECK(one_contact(TDL_FRICTION_LOCAL_SECULAR, w, b, INFINITY, r).solved);
    for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(b[i] + w[i] * r[0] + w[3 + i] * r[1] + w[6 + i] * r[2], 0.0, 1.0e-15);
    }
    // and u_T = 0, r_N = 0 when it opens
    double open[3] = {5.0, 0.3, 0.2};
    CHECK(one_contact(TDL_FRICTION_LOCAL_SECULAR, w, open, INFINITY, r).solved);
    CHECK_NEAR(r[0], 0.0, 0.0);
    for (int i = 1; i < 3; ++i) {
        CHECK_NEAR(open[i] + w[3 + i] * r[1] + w[6 + i] * r[2], 0.0, 1.0e-15);
    }
}

TEST(pushed_without_stiffness_has_no_solution) {
    double w[9] = {0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, b[3] = {-1.0, 0.0, 0.0}, r[3];
    for (int kind = 0; kind < TDL_FRICTION_LOCAL_COUNT; ++kind) {
        if (kind != TDL_FRICTION_LOCAL_FISCHER) {
            CHECK(!one_contact((TdlFrictionLocal)kind, w, b, 0.5, r).solved);
        }
    }
}

// In six dimensions: the same checks, cone of dimension six.
TEST(six_dimensions_obey_the_law) {
    Rng rng = rng_seed(66);
    double worst = 0.0;
    for (int k = 0; k < 3000; ++k) {
        double g[36], w[36], b[6], r[6] = {0}, prep[40], u[6];
        for (int i = 0; i < 36; ++i) {
            g[i] = rng_normal(&rng);
        }
        for (int i = 0; i < 36; ++i) {
            w[i] = 0.0;
            for (int m = 0; m < 6; ++m) {
                w[i] += g[6 * (i / 6) + m] * g[6 * (i % 6) + m];
            }
        }
        for (int i = 0; i < 6; ++i) {
            b[i] = rng_normal(&rng);
        }
        double mu = rng_range(&rng, 0.05, 2.0), ut = 0.0, rt = 0.0, power = 0.0, size = 0.0;
        local_prepare(6, w, prep);
        CHECK(local_secular6(prep, LAW_CONE, mu, b, r) == LOCAL_SOLVED);
        for (int i = 0; i < 6; ++i) {
            u[i] = b[i];
            size += fabs(b[i]);
            for (int j = 0; j < 6; ++j) {
                u[i] += w[6 * j + i] * r[j];
                size += fabs(w[6 * j + i] * r[j]);
            }
            ut += i > 0 ? u[i] * u[i] : 0.0;
            rt += i > 0 ? r[i] * r[i] : 0.0;
            power += i > 0 ? u[i] * r[i] : 0.0;
        }
        double slack = r[0] > 0.0 ? fabs(power + mu * r[0] * sqrt(ut)) / r[0] : 0.0;
        double v = fmax(fmax(-u[0], sqrt(rt) - mu * r[0]), fmax(fmin(r[0], u[0]), slack));
        worst = fmax(worst, v / size);
    }
    CHECK_BELOW(worst, 1.0e-12);
}
