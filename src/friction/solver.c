// The one call behind all solvers: options, islands, threads, and the final honest measure.
//
// Islands of few contacts are solved whole by one thread each, largest first; large ones one after
// the other with all threads inside, where there is something to share. Which one is large does not
// depend on the number of threads, so neither do the bits.
#include "friction/solver.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "friction/error.h"
#include "friction/exact.h"
#include "friction/history.h"
#include "friction/islands.h"
#include "friction/run.h"
#include "friction/study/study.h"

#include <float.h>
#include <stdatomic.h>
#include <string.h>

// Contacts of an island up to which forming W is not worth it.
enum { HANDFUL = 3 };
// An error within so many times what is asked for is measured in extended precision where rounding
// matters.
static const double NEAR_END = 100.0;
// A first guess counts as warm when its error is below this part of that of zero.
static const double WARM_PART = 0.5;

typedef struct IslandResult {
    TdlFrictionSolverKind solver;
    int iterations, phase_count;
    long long failsafe, unsolvable;
    bool reached;
    bool large_impulses; // beside which velocities are lost
    double work;         // multiplications
    TdlStatus status;
} IslandResult;

struct TdlFrictionSolver {
    TdlHost host;
    TdlFrictionOptions options;
    Pool *pool, *own_pool; // the second null: the first is lent
    int thread_count;
    Arena arena;   // islands, shared arrays
    Arena* worker; // [thread_count]

    // the current solve
    const TdlFrictionProblem* problem;
    Islands islands;
    IslandResult* results; // [islands.count]
    int* local_of;         // [n]
    double* shared_v;      // [dofs]
    double* r;
    int large_count;
    bool large_impulses; // of any island
    double setup_end;
    History history;     // where somebody watches
    double budget, left; // multiplications: of a solve, and for the islands that follow
    atomic_bool stopped; // the caller asked to
};

TdlFrictionOptions tdl_friction_options_default(void) {
    return (TdlFrictionOptions){.relative = true,
                                .tolerance = 1.0e-8,
                                .max_iterations = 10000,
                                .threads = 1,
                                .anderson_memory = 15,
                                .facets = 8,
                                .seed = 1,
                                .split_islands = true,
                                .use_bodies = true};
}

static TdlStatus check_options(const TdlHost* host, const TdlFrictionOptions* o) {
    if ((int)o->solver < 0 || o->solver > TDL_FRICTION_OWN || (int)o->error < 0 ||
        o->error >= TDL_FRICTION_ERROR_COUNT || (int)o->local < 0 ||
        o->local >= TDL_FRICTION_LOCAL_COUNT) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "unknown solver, error or local solver");
    }
    if (o->solver == TDL_FRICTION_OWN && o->own == NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "there is no solver of one's own");
    }
    if (!(o->tolerance > 0.0) || !isfinite(o->tolerance)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "tolerance must be positive, not %g",
                        o->tolerance);
    }
    if (o->max_iterations < 1) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "at least one iteration is needed");
    }
    if (!(o->relaxation >= 0.0 && o->relaxation < 2.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "relaxation must be from 0 to 2, not %g",
                        o->relaxation);
    }
    if (o->anderson_memory < 1 || o->anderson_memory > 32 || o->facets < 3 || o->facets > 64) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "Anderson memory must be from 1 to 32 and facets from 3 to 64");
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_friction_solver_create(const TdlHost* host, const TdlFrictionOptions* options,
                                     TdlFrictionSolver** out) {
    return friction_solver_create_lent(host, options, NULL, out);
}

void friction_solver_set_tolerance(TdlFrictionSolver* solver, double tolerance) {
    solver->options.tolerance = tolerance;
}

void friction_solver_set_budget(TdlFrictionSolver* solver, double budget) {
    solver->budget = budget;
}

TdlStatus friction_solver_create_lent(const TdlHost* host, const TdlFrictionOptions* options,
                                      Pool* pool, TdlFrictionSolver** out) {
    TdlStatus status = check_options(host, options);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlFrictionSolver* s = tdl_alloc_zero(&host->mem, sizeof *s);
    if (s == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    s->host = *host;
    s->options = *options;
    s->budget = INFINITY;
    arena_init(&s->arena, &host->mem);
    if (pool == NULL) {
        status = pool_create(host, options->threads, &s->own_pool);
    }
    s->pool = pool == NULL ? s->own_pool : pool;
    if (status == TDL_STATUS_OK) {
        s->thread_count = pool_thread_count(s->pool);
        s->worker = tdl_alloc_array(&host->mem, (size_t)s->thread_count, sizeof(Arena));
        status = s->worker == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    }
    if (status != TDL_STATUS_OK) {
        tdl_friction_solver_destroy(s);
        return status;
    }
    for (int k = 0; k < s->thread_count; ++k) {
        arena_init(&s->worker[k], &host->mem);
    }
    *out = s;
    return TDL_STATUS_OK;
}

void tdl_friction_solver_destroy(TdlFrictionSolver* s) {
    if (s == NULL) {
        return;
    }
    for (int k = 0; k < s->thread_count && s->worker != NULL; ++k) {
        arena_destroy(&s->worker[k]);
    }
    TdlAllocator mem = s->host.mem;
    tdl_free(&mem, s->worker);
    arena_destroy(&s->arena);
    pool_destroy(s->own_pool);
    tdl_free(&mem, s);
}

// Beside large impulses the map is not to be believed: rounding counts too, until the end is near
// and exact sums are worth what they cost.
double run_offer(Run* run, const double* u, const double* r) {
    System* sys = run->sys;
    double map = system_error(sys, u, r), rounding = exact_rounding(sys, r);
    double error = hypot(map, rounding);
    if (error <= NEAR_END * sys->target && exact_matters(sys, map, rounding)) {
        ExactView view = exact_view(sys);
        run_spend(run, EXACT_WORK * system_product_work(sys));
        error = exact_error(&view, run->arena, r);
    }
    if (error < run->error) {
        run->error = error;
        memcpy(run->best, r, run_size(run) * sizeof(double));
    }
    return error;
}

// What the caller said once stays said.
static bool asked_to_stop(void* user) {
    TdlFrictionSolver* s = user;
    const TdlFrictionOptions* o = &s->options;
    if (o->stop != NULL && !atomic_load(&s->stopped) && o->stop(o->stop_user)) {
        atomic_store(&s->stopped, true);
    }
    return atomic_load(&s->stopped);
}

// --- one island ----------------------------------------------------------------------------------

// The absolute error an island may keep, so that all of them together meet the caller's. (F.15)
static double island_tolerance(const TdlFrictionSolver* s, const int* contact, int n) {
    const TdlFrictionProblem* p = s->problem;
    double square = 0.0, all = p->q_norm * p->q_norm;
    for (int k = 0; k < n; ++k) {
        const double* q = p->q + (size_t)contact[k] * (size_t)p->d;
        square += dot_product((size_t)p->d, q, q);
    }
    double whole = s->options.tolerance * (s->options.relative && all > 0.0 ? p->q_norm : 1.0);
    double share = all > 0.0 ? square / all : 0.0;
    return whole * sqrt(0.5 * (share + (double)n / p->n));
}

static bool bodies_pay(const TdlFrictionSolver* s, const int* contact, int n) {
    const TdlFrictionProblem* p = s->problem;
    if (!problem_has_bodies(p) || !s->options.use_bodies) {
        return false;
    }
    if (s->options.force_bodies) {
        return true;
    }
    return n <= HANDFUL || problem_weigh_forms(p, contact, n, s->local_of).bodies_pay;
}

static bool sweeps_only(TdlFrictionSolverKind kind) {
    return kind == TDL_FRICTION_AUTO || kind == TDL_FRICTION_GAUSS_SEIDEL ||
           kind == TDL_FRICTION_ANDERSON || kind == TDL_FRICTION_GRADIENT ||
           kind == TDL_FRICTION_ALTERNATING || kind == TDL_FRICTION_PROXIMAL ||
           kind == TDL_FRICTION_INTERIOR || kind == TDL_FRICTION_PATH ||
           kind == TDL_FRICTION_NODAL || kind == TDL_FRICTION_ACTIVE_SET ||
           kind == TDL_FRICTION_NORMAL_INTERIOR;
}

static TdlStatus dispatch(Run* run, TdlFrictionSolverKind* used) {
    static const RunFn solvers[TDL_FRICTION_SOLVER_COUNT + 1] = {
        [TDL_FRICTION_GAUSS_SEIDEL] = run_gauss_seidel,
        [TDL_FRICTION_ANDERSON] = run_anderson,
        [TDL_FRICTION_NEWTON] = run_newton,
        [TDL_FRICTION_PROXIMAL] = run_proximal,
        [TDL_FRICTION_INTERIOR] = run_interior,
        [TDL_FRICTION_ADMM] = run_admm,
        [TDL_FRICTION_FIXED_POINT] = run_fixed_point,
        [TDL_FRICTION_GRADIENT] = run_gradient,
        [TDL_FRICTION_ALTERNATING] = run_alternating,
        [TDL_FRICTION_PATH] = run_path,
        [TDL_FRICTION_WEDGED] = run_wedged,
        [TDL_FRICTION_FACETED] = run_faceted,
        [TDL_FRICTION_NODAL] = run_nodal,
        [TDL_FRICTION_ACTIVE_SET] = run_active_set,
        [TDL_FRICTION_NORMAL_INTERIOR] = run_normal_interior,
        [TDL_FRICTION_OWN] = run_own,
    };
    TdlFrictionSolverKind kind = run->options->solver;
    *used = kind;
    bool without = run->sys->sweep_bodies && sweeps_only(kind);
    if (!without && !(kind == TDL_FRICTION_NODAL && primal_fits(run))) {
        TdlStatus status = system_form_rows(run->sys, run->arena);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return kind == TDL_FRICTION_AUTO ? run_auto(run, used) : solvers[kind](run);
}

// measures the first guess and zero, and keeps the better
static TdlStatus first_guess(TdlFrictionSolver* s, Run* run) {
    System* sys = run->sys;
    size_t size = run_size(run), d = (size_t)sys->d;
    double* r = ARENA_NEW(run->arena, double, size);
    double* u = ARENA_NEW(run->arena, double, size);
    double* zero = ARENA_NEW(run->arena, double, size);
    run->best = ARENA_NEW(run->arena, double, size);
    if (zero == NULL || r == NULL || u == NULL || run->best == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    run->error = INFINITY;
    run->given = false;
    for (int i = 0; i < sys->n; ++i) {
        for (size_t k = 0; k < d; ++k) {
            double x = s->r[(size_t)sys->contact[i] * d + k] * (sys->sigma / sys->beta);
            r[(size_t)i * d + k] = isfinite(x) ? x : 0.0;
            run->given = run->given || r[(size_t)i * d + k] != 0.0;
        }
        // a guess that is good enough may be the answer, which the law must allow
        double* x = r + (size_t)i * d;
        law_project(sys->d, sys->law[i], sys->mu[i], x, x);
    }
    memset(run->best, 0, size * sizeof(double));
    memset(zero, 0, size * sizeof(double));
    run->zero = zero;
    run->error = system_error(sys, sys->b, run->best);
    if (run->given && !run_done(run)) {
        double cold = run->error;
        run->guess = r;
        system_velocity(sys, r, u);
        run_offer(run, u, r);
        run->warm = run->error < WARM_PART * cold;
    }
    return TDL_STATUS_OK;
}

static void write_back(TdlFrictionSolver* s, const Run* run) {
    const System* sys = run->sys;
    double unit = sys->beta / sys->sigma;
    for (int i = 0; i < sys->n; ++i) {
        for (int k = 0; k < sys->d; ++k) {
            s->r[sys->contact[i] * sys->d + k] = run->best[i * sys->d + k] * unit;
        }
    }
}

static TdlStatus order_island(TdlFrictionSolver* s, Arena* arena, int* contact, int n,
                              Phases* out) {
    TdlFrictionOrder order = s->options.order;
    if (order == TDL_FRICTION_ORDER_RANDOM) {
        islands_shuffle(contact, n, s->options.seed);
    }
    if (order == TDL_FRICTION_ORDER_COLOUR) {
        return islands_colour(arena, s->problem, contact, n, out);
    }
    bool grouped = order == TDL_FRICTION_ORDER_AUTO && n >= LARGE_ISLAND;
    return grouped && problem_has_bodies(s->problem)
               ? islands_group(arena, s->problem, contact, n, out)
               : TDL_STATUS_OK;
}

// Builds the island, and solves it from the better of the first guess and zero.
static TdlStatus solve_island_in(TdlFrictionSolver* s, Arena* arena, int island, bool large,
                                 IslandResult* result) {
    int* contact = s->islands.contact + s->islands.start[island];
    int n = s->islands.start[island + 1] - s->islands.start[island];
    System sys;
    Phases phases = {0};
    Effort effort = {0.0, s->left, {asked_to_stop, s}};
    SystemSetup setup = {.error_kind = s->options.error,
                         .tolerance = island_tolerance(s, contact, n),
                         .shared_v = s->shared_v,
                         .sweep_bodies = result->reached,
                         .local_of = s->local_of,
                         .effort = &effort};
    TdlStatus status = order_island(s, arena, contact, n, &phases);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = system_build(&sys, arena, s->problem, contact, n, &setup);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    sys.phases = phases;
    sys.pool = large ? s->pool : NULL;
    Run run = {.sys = &sys, .arena = arena, .options = &s->options};
    run.limit = s->options.max_iterations;
    run.worth = INFINITY;
    run.stage = s->options.solver;
    status = first_guess(s, &run);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (s->options.watch != NULL) {
        s->history.island = island;
        run.history = &s->history;
        history_tell(&run, s->options.solver, run.best);
    }
    if (island == 0) { // the first and largest; one thread alone comes here
        s->setup_end = clock_now();
    }
    if (!run_done(&run) && !run_spent(&run, 0.0)) {
        status = dispatch(&run, &result->solver);
    }
    write_back(s, &run); // the best iterate, even when memory ran out
    result->work = effort.work;
    result->iterations = run.iterations;
    result->failsafe = run.failsafe;
    result->unsolvable = run.unsolvable;
    result->phase_count = sys.phases.count;
    result->reached = run_done(&run);
    result->large_impulses = exact_matters(&sys, run.error, exact_rounding(&sys, run.best));
    return status;
}

static void solve_island(void* user, int index, int worker) {
    TdlFrictionSolver* s = user;
    Arena* arena = &s->worker[worker];
    bool large = index < s->large_count;
    ArenaMark mark = arena_mark(arena);
    IslandResult* result = &s->results[index];
    result->status = solve_island_in(s, arena, index, large, result);
    arena_release(arena, mark);
}

static void solve_small_island(void* user, int index, int worker) {
    solve_island(user, index + ((TdlFrictionSolver*)user)->large_count, worker);
}

// --- the whole problem ---------------------------------------------------------------------------

static TdlStatus prepare(TdlFrictionSolver* s, const TdlFrictionProblem* p) {
    s->problem = p;
    TdlStatus status = islands_find(&s->arena, p, s->options.split_islands, &s->islands);
    int most = p->n > p->body_count ? p->n : p->body_count;
    s->results = ARENA_NEW(&s->arena, IslandResult, s->islands.count);
    s->local_of = ARENA_NEW(&s->arena, int, most);
    s->shared_v = ARENA_NEW(&s->arena, double, problem_has_bodies(p) ? p->dof_count : 0);
    if (status != TDL_STATUS_OK || !s->results || !s->local_of || !s->shared_v) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(s->results, 0, (size_t)s->islands.count * sizeof(IslandResult));
    // contacts per body, to judge which form pays
    memset(s->local_of, 0, (size_t)most * sizeof(int));
    for (int side = 0; side < 2 * p->n && problem_has_bodies(p); ++side) {
        if (p->body[side] >= 0) {
            ++s->local_of[p->body[side]];
        }
    }
    s->large_count = 0;
    for (int k = 0; k < s->islands.count; ++k) {
        int n = s->islands.start[k + 1] - s->islands.start[k];
        s->results[k].reached = bodies_pay(s, s->islands.contact + s->islands.start[k], n);
        s->large_count += n >= LARGE_ISLAND;
    }
    return TDL_STATUS_OK;
}

static TdlStatus solve_islands(TdlFrictionSolver* s) {
    s->left = s->budget;
    for (int k = 0; k < s->large_count; ++k) {
        solve_island(s, k, 0);
        s->left = fmax(0.0, s->left - s->results[k].work);
    }
    // waking threads costs more than a few contacts do; and the caller is asked by one of them
    bool alone = s->problem->n < SMALL_ISLAND || s->options.watch != NULL ||
                 s->options.solver == TDL_FRICTION_OWN;
    for (int k = s->large_count; alone && k < s->islands.count; ++k) {
        solve_island(s, k, 0);
    }
    if (!alone) {
        pool_run(s->pool, s->islands.count - s->large_count, 1, solve_small_island, s);
    }
    s->large_impulses = false;
    for (int k = 0; k < s->islands.count; ++k) {
        s->large_impulses = s->large_impulses || s->results[k].large_impulses;
        if (s->results[k].status != TDL_STATUS_OK) {
            return s->results[k].status;
        }
    }
    return TDL_STATUS_OK;
}

static void summarise(const TdlFrictionSolver* s, TdlFrictionInfo* info) {
    const TdlFrictionProblem* p = s->problem;
    info->island_count = s->islands.count;
    info->largest_island = s->islands.count > 0 ? s->islands.start[1] : 0;
    info->solver = s->options.solver;
    for (int k = 0; k < s->islands.count; ++k) {
        const IslandResult* result = &s->results[k];
        if (result->iterations > info->iterations) {
            info->iterations = result->iterations;
            info->solver = result->solver;
        }
        info->work += result->work;
        info->failsafe_count += result->failsafe;
        info->unsolvable_count += result->unsolvable;
        info->phase_count =
            result->phase_count > info->phase_count ? result->phase_count : info->phase_count;
    }
    info->nu = p->dof_count > 0 ? (double)p->d * p->n / p->dof_count : 0.0;
}

// What is left of S3's law: the normal part, and friction that is mu r_N wherever anything slides.
// (F.93)
static double s3_error(const TdlFrictionProblem* p, const double* r, const double* u) {
    double sum = 0.0;
    for (int i = 0; i < p->n; ++i) {
        const double *own = r + (size_t)i * (size_t)p->d, *v = u + (size_t)i * (size_t)p->d;
        double speed = v[0] - p->c[i], slip = tangent_norm(p->d, v), t = tangent_norm(p->d, own);
        double normal = fmin(own[0], speed), off = fabs(t - p->mu[i] * own[0]);
        off = law_has_cone((ContactLaw)p->law[i]) ? fmin(off, hypot(t, slip)) : t;
        if (p->law[i] == LAW_BILATERAL || p->law[i] == LAW_ROUGH) {
            normal = p->law[i] == LAW_ROUGH ? normal : speed;
            off = slip;
        }
        sum += normal * normal + off * off;
    }
    return sqrt(sum) / (p->q_norm > 0.0 ? p->q_norm : 1.0);
}

// Errors from the caller's own data, outside the solvers; the velocities too, where asked for.
static TdlStatus measure(TdlFrictionSolver* s, const double* r, double* out,
                         TdlFrictionInfo* info) {
    const TdlFrictionProblem* p = s->problem;
    size_t count = (size_t)p->n * (size_t)p->d;
    double* u = ARENA_NEW(&s->arena, double, count + 1);
    double* v = ARENA_NEW(&s->arena, double, p->dof_count + 1);
    if (u == NULL || v == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    problem_velocity(p, r, u, v);
    if (out != NULL) {
        memcpy(out, u, count * sizeof *u);
    }
    for (int kind = 0; kind < TDL_FRICTION_ERROR_COUNT; ++kind) {
        info->errors[kind] = error_norm(p, (TdlFrictionError)kind, true, r, u);
    }
    info->error = error_norm(p, s->options.error, s->options.relative, r, u);
    info->s3_error = s3_error(p, r, u);
    if (s->large_impulses) {
        double norm = exact_norm(p, &s->arena, r), unit = p->q_norm > 0.0 ? p->q_norm : 1.0;
        info->errors[TDL_FRICTION_ERROR_NATURAL] = norm / unit;
        info->error = s->options.relative ? norm / unit : norm;
    }
    info->outcome = info->error <= s->options.tolerance             ? TDL_FRICTION_CONVERGED
                    : atomic_load(&s->stopped)                      ? TDL_FRICTION_STOPPED
                    : info->iterations >= s->options.max_iterations ? TDL_FRICTION_ITERATION_LIMIT
                                                                    : TDL_FRICTION_STALLED;
    return TDL_STATUS_OK;
}

// Whether a solver knows contacts without shift.
static bool knows_associated(TdlFrictionSolverKind kind) {
    return kind == TDL_FRICTION_AUTO || kind == TDL_FRICTION_GAUSS_SEIDEL ||
           kind == TDL_FRICTION_ANDERSON || kind == TDL_FRICTION_INTERIOR ||
           kind == TDL_FRICTION_ADMM || kind == TDL_FRICTION_GRADIENT;
}

static TdlStatus check_problem(const TdlFrictionSolver* s, const TdlFrictionProblem* p) {
    bool known = knows_associated(s->options.solver);
    for (int i = 0; i < p->n && !known; ++i) {
        if (p->law[i] == LAW_ASSOCIATED) {
            return tdl_fail(&s->host, TDL_STATUS_BAD_ARGUMENT,
                            "contact %d is associated, which solver %s does not know", i,
                            tdl_friction_solver_name(s->options.solver));
        }
    }
    return TDL_STATUS_OK;
}

// A gamma beside bodies: the problem with W formed has it inside.
static TdlStatus solve_formed(TdlFrictionSolver* s, const TdlFrictionProblem* p, double* r,
                              double* u, TdlFrictionInfo* info) {
    double begin = clock_now();
    TdlFrictionProblem* formed = NULL;
    *info = (TdlFrictionInfo){0};
    TdlStatus status = tdl_friction_problem_explicit(&s->host, p, &formed);
    double spent = clock_now() - begin;
    if (status == TDL_STATUS_OK) {
        status = tdl_friction_solver_solve(s, formed, r, u, info);
        info->seconds += spent;
        info->setup_seconds += spent;
    }
    tdl_friction_problem_destroy(formed);
    return status;
}

TdlStatus tdl_friction_solver_solve(TdlFrictionSolver* s, const TdlFrictionProblem* p, double* r,
                                    double* u, TdlFrictionInfo* info) {
    if (p->gamma != NULL) {
        return solve_formed(s, p, r, u, info);
    }
    double begin = clock_now();
    *info = (TdlFrictionInfo){0};
    ArenaMark mark = arena_mark(&s->arena);
    s->r = r;
    s->setup_end = 0.0;
    atomic_store(&s->stopped, false);
    TdlStatus status = check_problem(s, p);
    if (status == TDL_STATUS_OK) {
        status = prepare(s, p);
    }
    if (status == TDL_STATUS_OK && s->options.watch != NULL) {
        status = history_begin(&s->history, &s->arena, p, &s->options, begin);
    }
    if (status != TDL_STATUS_OK) {
        arena_release(&s->arena, mark);
        return status;
    }
    status = solve_islands(s);
    summarise(s, info);
    arena_release(&s->arena, mark);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    info->seconds = clock_now() - begin - (s->options.watch != NULL ? s->history.spent : 0.0);
    info->setup_seconds = s->setup_end > 0.0 ? s->setup_end - begin : 0.0;
    status = measure(s, r, u, info);
    arena_release(&s->arena, mark);
    return status;
}

const char* tdl_friction_solver_name(TdlFrictionSolverKind kind) {
    static const char* const names[TDL_FRICTION_SOLVER_COUNT + 1] = {
        "auto",    "gauss-seidel", "anderson",   "newton",          "proximal", "interior",
        "admm",    "fixed-point",  "gradient",   "alternating",     "path",     "wedged",
        "faceted", "nodal",        "active-set", "normal-interior", "own",
    };
    return (int)kind >= 0 && kind <= TDL_FRICTION_OWN ? names[kind] : "unknown";
}

const char* tdl_friction_outcome_name(TdlFrictionOutcome outcome) {
    switch (outcome) {
    case TDL_FRICTION_CONVERGED:
        return "converged";
    case TDL_FRICTION_ITERATION_LIMIT:
        return "iteration limit";
    case TDL_FRICTION_STALLED:
        return "stalled";
    case TDL_FRICTION_STOPPED:
        return "stopped";
    }
    return "unknown";
}
