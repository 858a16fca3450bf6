// The history of a solve: every iteration of every solver, and that watching changes nothing.
#include "bench/friction_cases.h"
#include "test.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 40000 };

typedef struct Rows {
    int count;
    TdlFrictionIterate row[MOST_ROWS];
} Rows;

static void keep(void* user, const TdlFrictionIterate* iterate) {
    Rows* rows = user;
    if (rows->count < MOST_ROWS) {
        rows->row[rows->count++] = *iterate;
    }
}

// One sweep after the other through public calls alone: impulses pushed along -u and cut to the
// cone.
static TdlStatus own_solver(void* user, TdlFrictionIsland* x) {
    size_t size = 3 * (size_t)x->contact_count;
    double *r = malloc(size * sizeof *r), *u = malloc(size * sizeof *u);
    (void)user;
    memcpy(r, x->start, size * sizeof *r);
    do {
        tdl_friction_island_velocity(x, r, u);
        for (int i = 0; i < x->contact_count; ++i) {
            double mu = x->mu[i], y[3];
            u[3 * i] += mu * hypot(u[3 * i + 1], u[3 * i + 2]);
            for (int k = 0; k < 3; ++k) {
                y[k] = r[3 * i + k] - 0.1 * u[3 * i + k];
            }
            double t = hypot(y[1], y[2]), n = (y[0] + mu * t) / (1.0 + mu * mu);
            bool inside = t <= mu * y[0];
            r[3 * i] = inside ? y[0] : fmax(n, 0.0);
            r[3 * i + 1] = inside ? y[1] : mu * r[3 * i] * y[1] / t;
            r[3 * i + 2] = inside ? y[2] : mu * r[3 * i] * y[2] / t;
        }
    } while (tdl_friction_island_offer(x, r));
    free(r);
    free(u);
    return TDL_STATUS_OK;
}

static TdlFrictionInfo solve(const TdlFrictionProblem* p, TdlFrictionOptions options, double* r) {
    TdlHost host = tdl_host_default();
    TdlFrictionSolver* solver;
    TdlFrictionInfo info = {0};
    CHECK_INT(tdl_friction_solver_create(&host, &options, &solver), TDL_STATUS_OK);
    CHECK_INT(tdl_friction_solver_solve(solver, p, r, NULL, &info), TDL_STATUS_OK);
    tdl_friction_solver_destroy(solver);
    return info;
}

// Rows of an island begin with its guess and count one by one; what is told lies in its range.
static int check_rows(const Rows* rows, TdlFrictionSolverKind asked, int n) {
    int most = 0;
    double last = 0.0;
    for (int k = 0; k < rows->count; ++k) {
        const TdlFrictionIterate* x = &rows->row[k];
        bool first = k == 0 || x->island != rows->row[k - 1].island;
        CHECK_INT(x->iteration, first ? 0 : rows->row[k - 1].iteration + 1);
        CHECK_INT(x->island, first && k > 0 ? rows->row[k - 1].island + 1
                             : k == 0       ? 0
                                            : rows->row[k - 1].island);
        CHECK(x->contact_count >= 0 && x->contact_count <= n);
        CHECK(x->changed >= 0 && x->changed <= x->contact_count);
        CHECK(x->seconds >= last && x->error >= 0.0);
        CHECK(asked == TDL_FRICTION_AUTO || asked == TDL_FRICTION_WEDGED || x->stage == asked);
        last = x->seconds;
        most = x->iteration > most ? x->iteration : most;
    }
    return most;
}

static void watch_all(const TdlFrictionProblem* p, int n, int iterations) {
    static Rows rows;
    size_t bytes = 3 * (size_t)n * sizeof(double);
    double *plain = malloc(bytes), *watched = malloc(bytes);
    int wholes = 0, islands = 0;
    for (int kind = 0; kind <= TDL_FRICTION_OWN; ++kind) {
        TdlFrictionOptions options = tdl_friction_options_default();
        options.solver = (TdlFrictionSolverKind)kind;
        options.max_iterations = iterations;
        options.own = own_solver;
        memset(plain, 0, bytes);
        memset(watched, 0, bytes);
        TdlFrictionInfo a = solve(p, options, plain);
        rows.count = 0;
        options.watch = keep;
        options.watch_user = &rows;
        options.threads = 2;
        TdlFrictionInfo b = solve(p, options, watched);
        if (memcmp(plain, watched, bytes) != 0 || a.iterations != b.iterations ||
            a.outcome != b.outcome) {
            FAIL("%s: watching changed the solve", tdl_friction_solver_name(options.solver));
        }
        islands = b.island_count;
        CHECK_INT(check_rows(&rows, options.solver, n), b.iterations);
        // where one island is solved whole, what is returned is one of the rows
        double nearest = HUGE_VAL;
        bool whole = b.island_count == 1;
        for (int k = 0; k < rows.count; ++k) {
            nearest = fmin(nearest, fabs(rows.row[k].error - b.error));
            whole = whole && rows.row[k].contact_count == n;
        }
        if (whole && nearest > 1.0e-9 * b.error + 1.0e-14) { // measured without units and with
            FAIL("%s: error %g is %g from that of any row",
                 tdl_friction_solver_name(options.solver), b.error, nearest);
        }
        wholes += whole;
    }
    CHECK(wholes >= 10 || islands > 1);
    free(plain);
    free(watched);
}

TEST(watching_changes_nothing_and_misses_nothing) {
    TdlHost host = tdl_host_default();
    for (int k = 0; k < 3; ++k) {
        FrictionCase c;
        TdlFrictionProblem *p, *w;
        if (k == 0) {
            case_stack(&c, 1, 5, 8, 0.5); // islands
        } else if (k == 1) {
            case_wisp(&c, 2, 6, 12, 20, 0.3); // velocity space pays
        } else {
            case_rocks(&c, 4, 16, 0.8); // wedges, path
        }
        REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
        REQUIRE(tdl_friction_problem_explicit(&host, p, &w) == TDL_STATUS_OK);
        watch_all(p, c.def.laws.contact_count, 120);
        watch_all(w, c.def.laws.contact_count, 120);
        tdl_friction_problem_destroy(p);
        tdl_friction_problem_destroy(w);
        case_free(&c);
    }
}

// What threads share inside a large island is not what the history measures with.
TEST(watching_a_large_island_changes_nothing) {
    static const TdlFrictionSolverKind kinds[] = {TDL_FRICTION_GAUSS_SEIDEL, TDL_FRICTION_ANDERSON,
                                                  TDL_FRICTION_ALTERNATING, TDL_FRICTION_GRADIENT};
    static Rows rows;
    TdlHost host = tdl_host_default();
    FrictionCase c;
    TdlFrictionProblem* p;
    case_wisp(&c, 1, 130, 12, 20, 0.3);
    REQUIRE(case_problem(&c, &host, &p) == TDL_STATUS_OK);
    size_t bytes = 3 * (size_t)c.def.laws.contact_count * sizeof(double);
    CHECK(c.def.laws.contact_count > 1000);
    double *plain = malloc(bytes), *watched = malloc(bytes);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        TdlFrictionOptions options = tdl_friction_options_default();
        options.solver = kinds[k];
        options.max_iterations = 40;
        memset(plain, 0, bytes);
        memset(watched, 0, bytes);
        solve(p, options, plain);
        rows.count = 0;
        options.watch = keep;
        options.watch_user = &rows;
        options.threads = 2;
        TdlFrictionInfo info = solve(p, options, watched);
        CHECK_INT(memcmp(plain, watched, bytes), 0);
        CHECK_INT(check_rows(&rows, kinds[k], c.def.laws.contact_count), info.iterations);
        CHECK(rows.count > 40);
    }
    free(plain);
    free(watched);
    tdl_friction_problem_destroy(p);
    case_free(&c);
}

// --- numbers that are known ----------------------------------------------------------------------

// Two contacts, not coupled but solved as one island: W = 1, mu = 1/2.
static const double B[6] = {-1.0, 2.0, 0.0, -1.0, 0.1, 0.0}, MU[2] = {0.5, 0.5};

// With W = 1 the map sees (-b_N - mu |u_T|, -b_T): a contact opens when its tangential impulse
// makes it slide fast enough. From zero the first slides and the second sticks.
static const double OFFERED[4][6] = {{0.0, 2.0, 0.0, 0.0, 0.0, 0.0},   // the first opens
                                     {0.0, 2.0, 0.0, 0.0, 3.0, 0.0},   // and the second
                                     {1.0, 0.0, 0.0, 1.0, 0.0, 0.0},   // both as at first
                                     {1.0, -0.1, 0.0, 1.0, 0.0, 0.0}}; // as before
static const int CHANGED[4] = {1, 1, 2, 0};

static TdlStatus offer_all(void* user, TdlFrictionIsland* x) {
    double unit = *(const double*)user, r[6];
    for (int k = 0; k < 4; ++k) {
        for (int j = 0; j < 6; ++j) {
            r[j] = OFFERED[k][j] / unit;
        }
        tdl_friction_island_offer(x, r);
    }
    return TDL_STATUS_OK;
}

TEST(errors_and_changes_of_mode_are_those_of_the_iterate) {
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* p;
    static const double w[18] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    TdlFrictionMatrixDef def = {.laws = {.block_size = 3, .contact_count = 2, .mu = MU},
                                .b = B,
                                .row_start = (const int[]){0, 1, 2},
                                .column = (const int[]){0, 1},
                                .blocks = w};
    REQUIRE(tdl_friction_problem_create(&host, &def, &p) == TDL_STATUS_OK);
    double unit = exp2(rint(log2(sqrt((1.0 + 4.0 + 1.0 + 0.01) / 2.0)))); // beta; sigma is 1
    for (int error = 0; error < TDL_FRICTION_ERROR_COUNT; ++error) {
        for (int relative = 0; relative < 2; ++relative) {
            static Rows rows;
            TdlFrictionOptions options = tdl_friction_options_default();
            options.solver = TDL_FRICTION_OWN;
            options.own = offer_all;
            options.own_user = &unit;
            options.watch = keep;
            options.watch_user = &rows;
            options.split_islands = false;
            options.error = (TdlFrictionError)error;
            options.relative = relative == 1;
            double r[6] = {0}, zero[6] = {0};
            rows.count = 0;
            solve(p, options, r);
            REQUIRE(rows.count == 5);
            for (int k = 0; k < 5; ++k) {
                const double* at = k == 0 ? zero : OFFERED[k - 1];
                double known = tdl_friction_error(p, options.error, relative == 1, at);
                CHECK_NEAR(rows.row[k].error, known, 1.0e-14 * (1.0 + known));
                CHECK_INT(rows.row[k].changed, k == 0 ? 0 : CHANGED[k - 1]);
                CHECK_INT(rows.row[k].contact_count, 2);
                CHECK_INT(rows.row[k].solver, TDL_FRICTION_OWN);
            }
        }
    }
    tdl_friction_problem_destroy(p);
}
