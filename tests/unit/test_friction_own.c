// Solvers of one's own: what they are given, what comes of what they offer, and of what they do
// not.
#include "bench/friction_cases.h"
#include "test.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { N = 3 };

// Three contacts in a row, the first bilateral, the second rough; the third is pushed at 0.25 m/s.
static const double MU[N] = {0.5, INFINITY, 0.3};
static const unsigned char BILATERAL[N] = {1, 0, 0};
static const double C[N] = {0.0, 0.0, 0.25};
static const int START[N + 1] = {0, 2, 5, 7}, COLUMN[] = {0, 1, 0, 1, 2, 1, 2};
static const double B[3 * N] = {-2.0, 1.0, 0.0, -1.0, 0.0, 0.5, -1.0, 2.0, 0.5};

static double entry(int row, int column) {
    int near = row / 3 - column / 3;
    return row == column                        ? 4.0 + row
           : row % 3 == column % 3 && near != 0 ? -1.0
           : near == 0                          ? 0.1
                                                : 0.0;
}

static TdlFrictionProblem* make_problem(void) {
    static double blocks[7 * 9];
    for (int i = 0; i < N; ++i) {
        for (int e = START[i]; e < START[i + 1]; ++e) {
            for (int k = 0; k < 9; ++k) {
                blocks[9 * e + k] = entry(3 * i + k % 3, 3 * COLUMN[e] + k / 3);
            }
        }
    }
    TdlFrictionMatrixDef def = {.laws = {.block_size = 3,
                                         .contact_count = N,
                                         .mu = MU,
                                         .bilateral = BILATERAL,
                                         .normal_velocity = C},
                                .b = B,
                                .row_start = START,
                                .column = COLUMN,
                                .blocks = blocks};
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* p = NULL;
    CHECK_INT(tdl_friction_problem_create(&host, &def, &p), TDL_STATUS_OK);
    return p;
}

static TdlStatus solve(const TdlFrictionProblem* p, TdlFrictionOptions options, double* r,
                       TdlFrictionInfo* info) {
    TdlHost host = tdl_host_default();
    TdlFrictionSolver* solver;
    TdlStatus status = tdl_friction_solver_create(&host, &options, &solver);
    if (status == TDL_STATUS_OK) {
        status = tdl_friction_solver_solve(solver, p, r, NULL, info);
        tdl_friction_solver_destroy(solver);
    }
    return status;
}

static TdlFrictionOptions own_options(TdlFrictionOwnFn own, void* user) {
    TdlFrictionOptions options = tdl_friction_options_default();
    options.solver = TDL_FRICTION_OWN;
    options.own = own;
    options.own_user = user;
    return options;
}

// --- what they are given -------------------------------------------------------------------------

static TdlStatus look(void* user, TdlFrictionIsland* x) {
    double sigma = 0.0, beta = 0.0, worst = 0.0, u[3 * N];
    ++*(int*)user;
    CHECK_INT(x->contact_count, N);
    CHECK_INT(x->block_size, 3);
    CHECK_INT(x->max_iterations, 10000);
    for (int k = 0; k < 3 * N; ++k) {
        double q = B[k] - (k % 3 == 0 ? C[k / 3] : 0.0);
        sigma += entry(k, k) / (3 * N);
        beta += q * q / N;
    }
    sigma = exp2(rint(log2(sigma))); // units are powers of two, so that nothing is rounded
    beta = exp2(rint(log2(sqrt(beta))));
    for (int i = 0; i < N; ++i) {
        CHECK_INT(x->contact[i], i);
        CHECK_INT(x->bilateral[i], BILATERAL[i]);
        CHECK(x->mu[i] == MU[i]);
    }
    for (int row = 0; row < 3 * N; ++row) {
        double q = B[row] - (row % 3 == 0 ? C[row / 3] : 0.0);
        worst = fmax(worst, fabs(x->b[row] - q / beta));
        u[row] = x->b[row];
        for (int e = x->row_start[row / 3]; e < x->row_start[row / 3 + 1]; ++e) {
            for (int c = 0; c < 3; ++c) {
                double w = x->blocks[9 * e + 3 * c + row % 3];
                worst = fmax(worst, fabs(w - entry(row, 3 * x->column[e] + c) / sigma));
                u[row] += w * cos(3.0 * x->column[e] + c);
            }
        }
    }
    double r[3 * N], by_call[3 * N];
    for (int k = 0; k < 3 * N; ++k) {
        r[k] = cos((double)k);
    }
    tdl_friction_island_velocity(x, r, by_call);
    for (int k = 0; k < 3 * N; ++k) {
        worst = fmax(worst, fabs(by_call[k] - u[k]));
    }
    CHECK_BELOW(worst, 1.0e-14);
    // the guess in the same units; of the rough contact the tangential part, of the third the disc
    CHECK_NEAR(x->start[0], 0.1 * sigma / beta, 1.0e-14);
    CHECK(x->error > x->target && x->target > 0.0);
    return TDL_STATUS_OK;
}

TEST(an_island_is_the_problem_without_units) {
    TdlFrictionProblem* p = make_problem();
    int calls = 0;
    double r[3 * N] = {0.1, 0.05, 0.0, 0.1, 0.0, 0.0, 0.1, 0.0, 0.0};
    TdlFrictionInfo info;
    CHECK_INT(solve(p, own_options(look, &calls), r, &info), TDL_STATUS_OK);
    CHECK_INT(calls, 1);
    // nothing was offered: the better of the guess and zero stays
    CHECK_INT(info.iterations, 0);
    CHECK_INT(info.outcome, TDL_FRICTION_STALLED);
    CHECK_INT(info.solver, TDL_FRICTION_OWN);
    CHECK_TEXT(tdl_friction_solver_name(info.solver), "own");
    CHECK_NEAR(r[0], 0.1, 1.0e-15);
    tdl_friction_problem_destroy(p);
}

// --- what comes of it ----------------------------------------------------------------------------

// The solution of another solver, in the units of the island, with worse ones before and after.
typedef struct Offers {
    const double* solution; // in SI
    double error;
    int more; // offers that were asked for after each
} Offers;

static TdlStatus offer_known(void* user, TdlFrictionIsland* x) {
    Offers* o = user;
    double r[3 * N], sigma = 0.0, beta = 0.0;
    for (int k = 0; k < 3 * N; ++k) {
        double q = B[k] - (k % 3 == 0 ? C[k / 3] : 0.0);
        sigma += entry(k, k) / (3 * N);
        beta += q * q / N;
    }
    double unit = exp2(rint(log2(sigma)) - rint(log2(sqrt(beta))));
    for (int step = 0; step < 3; ++step) {
        for (int k = 0; k < 3 * N; ++k) {
            r[k] = o->solution[k] * unit + (step == 0 ? 0.01 : 0.0);
            r[k] = step == 1 && k == 4 ? NAN : r[k];
        }
        o->more += tdl_friction_island_offer(x, r);
        o->error = x->error;
    }
    return TDL_STATUS_OK;
}

TEST(the_best_of_the_offers_is_the_result) {
    TdlFrictionProblem* p = make_problem();
    double known[3 * N] = {0}, r[3 * N] = {0};
    TdlFrictionInfo info;
    TdlFrictionOptions options = tdl_friction_options_default();
    options.tolerance = 1.0e-12;
    CHECK_INT(solve(p, options, known, &info), TDL_STATUS_OK);
    CHECK_INT(info.outcome, TDL_FRICTION_CONVERGED);
    Offers offers = {.solution = known};
    CHECK_INT(solve(p, own_options(offer_known, &offers), r, &info), TDL_STATUS_OK);
    CHECK_INT(info.outcome, TDL_FRICTION_CONVERGED);
    CHECK_INT(info.iterations, 3);
    CHECK_INT(offers.more, 2); // not after the third
    CHECK(offers.error >= 0.0);
    for (int k = 0; k < 3 * N; ++k) {
        CHECK_NEAR(r[k], known[k], 1.0e-15 + 1.0e-14 * fabs(known[k]));
    }
    tdl_friction_problem_destroy(p);
}

static TdlStatus offer_forever(void* user, TdlFrictionIsland* x) {
    int* count = user;
    double r[3 * N] = {0};
    do {
        ++*count;
        r[0] = 0.001 * *count;
    } while (tdl_friction_island_offer(x, r) && *count < 1000);
    return TDL_STATUS_OK;
}

static TdlStatus give_up(void* user, TdlFrictionIsland* x) {
    (void)user;
    (void)x;
    return TDL_STATUS_DIVERGED;
}

TEST(limits_and_failures_are_heeded) {
    TdlFrictionProblem* p = make_problem();
    TdlFrictionInfo info;
    double r[3 * N] = {0};
    int count = 0;
    TdlFrictionOptions options = own_options(offer_forever, &count);
    options.max_iterations = 17;
    CHECK_INT(solve(p, options, r, &info), TDL_STATUS_OK);
    CHECK_INT(count, 17);
    CHECK_INT(info.iterations, 17);
    CHECK_INT(info.outcome, TDL_FRICTION_ITERATION_LIMIT);
    CHECK_INT(solve(p, own_options(give_up, NULL), r, &info), TDL_STATUS_DIVERGED);
    CHECK_INT(solve(p, own_options(NULL, NULL), r, &info), TDL_STATUS_BAD_ARGUMENT);
    options.solver = TDL_FRICTION_OWN + 1;
    CHECK_INT(solve(p, options, r, &info), TDL_STATUS_BAD_ARGUMENT);
    tdl_friction_problem_destroy(p);
}

// --- islands of bodies, threads ------------------------------------------------------------------

typedef struct Seen {
    pthread_t thread;
    int islands, contacts, strangers;
    double solved; // sum of the impulses left
} Seen;

// Projected sweeps.
static TdlStatus sweep(void* user, TdlFrictionIsland* x) {
    Seen* seen = user;
    ++seen->islands;
    seen->contacts += x->contact_count;
    seen->strangers += !pthread_equal(seen->thread, pthread_self());
    double* r = malloc(3 * (size_t)x->contact_count * sizeof *r);
    memcpy(r, x->start, 3 * (size_t)x->contact_count * sizeof *r);
    do {
        for (int i = 0; i < x->contact_count; ++i) {
            double u[3] = {x->b[3 * i], x->b[3 * i + 1], x->b[3 * i + 2]}, trace = 0.0;
            for (int e = x->row_start[i]; e < x->row_start[i + 1]; ++e) {
                const double* w = x->blocks + 9 * e;
                for (int k = 0; k < 9; ++k) {
                    u[k % 3] += w[k] * r[3 * x->column[e] + k / 3];
                }
                trace += x->column[e] == i ? w[0] + w[4] + w[8] : 0.0;
            }
            double mu = x->mu[i], s = mu * hypot(u[1], u[2]), y[3];
            for (int k = 0; k < 3; ++k) {
                y[k] = r[3 * i + k] - (u[k] + (k == 0 ? s : 0.0)) / trace;
            }
            double t = hypot(y[1], y[2]);
            if (t > mu * y[0]) {
                double n = fmax((y[0] + mu * t) / (1.0 + mu * mu), 0.0);
                y[1] *= mu * n / t;
                y[2] *= mu * n / t;
                y[0] = n;
            }
            memcpy(r + 3 * i, y, sizeof y);
        }
    } while (tdl_friction_island_offer(x, r));
    free(r);
    return TDL_STATUS_OK;
}

TEST(islands_of_bodies_are_solved_by_the_callers_thread) {
    TdlHost host = tdl_host_default();
    FrictionCase c;
    TdlFrictionProblem* p;
    case_stack(&c, 3, 12, 2, 0.3); // twelve stacks
    REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
    int n = c.def.laws.contact_count;
    double* r = calloc(6 * (size_t)n, sizeof *r);
    Seen seen = {.thread = pthread_self()};
    TdlFrictionInfo info;
    TdlFrictionOptions options = own_options(sweep, &seen);
    options.threads = 3;
    options.max_iterations = 100000;
    CHECK_INT(solve(p, options, r, &info), TDL_STATUS_OK);
    CHECK_INT(info.outcome, TDL_FRICTION_CONVERGED);
    CHECK_INT(seen.islands, info.island_count);
    CHECK(seen.islands >= 12);
    CHECK_INT(seen.contacts, n);
    CHECK_INT(seen.strangers, 0);
    CHECK_BELOW(tdl_friction_error(p, TDL_FRICTION_ERROR_NATURAL, true, r), 1.0e-8);
    free(r);
    tdl_friction_problem_destroy(p);
    case_free(&c);
}
