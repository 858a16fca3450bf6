// Rows of strain and contacts together: accelerated sweeps.
//
// A sweep visits all rows by colours and then contacts; what it leaves is extrapolated, and the
// velocities are made again from impulses, which costs as much as half a sweep and keeps rounding
// from growing. The error is measured where a sweep changed little, and now and then.
// granular-solver.md
#include "base/log.h"
#include "base/stop.h"
#include "friction/acceleration.h"
#include "friction/strain_newton.h"

#include <string.h>

// Columns of the acceleration: of 1 to 30 so few take the least time, and no more sweeps.
enum { COLUMNS = 4 };
// Sweeps between two looks at the error where it is not near the tolerance: a look costs half a
// one.
enum { LOOK_EVERY = 10 };
static const double GUESS_GOOD = 0.3; // a part of the error of none
// Sweeps whose pace is measured: the first few go fast everywhere.
enum { ROUND = 30 };
// Newton steps may cost so many times what they do as a rule before they are given up, interior
// points more often: on slabs of particles without order they take 20 to 280 steps.
static const double PATIENCE = 3.0, PATIENCE_INSIDE = 10.0;
// The error at which interior points are left for steps that know which rows slide.
static const double INSIDE = 1.0e-6;
// Without a guess they come first where they cost less: sweeps over cells on a lattice, that start
// from zero, may come to impulses like a chessboard, which are a solution as well, but not that of
// a pile at rest.
static const double COLD_WORK = 2.0e9;
// Of the tolerance: velocities made again at the end differ in their last digits.
static const double SAFE = 0.999;
// A guess may be so many times worse than none and still be worth more: its errors are short waves.
static const double GUESS_WORSE = 3.0;

struct StrainSolver {
    TdlHost host;
    Pool* pool;
    Arena arena;
    StrainNewton newton;
};

TdlStatus strain_solver_create(const TdlHost* host, Pool* pool, StrainSolver** out) {
    StrainSolver* solver = tdl_alloc_zero(&host->mem, sizeof *solver);
    if (solver == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    solver->host = *host;
    solver->pool = pool;
    arena_init(&solver->arena, &host->mem);
    TdlStatus status = strain_newton_create(&solver->newton, host, pool);
    if (status != TDL_STATUS_OK) {
        strain_solver_destroy(solver);
        return status;
    }
    *out = solver;
    return TDL_STATUS_OK;
}

void strain_solver_destroy(StrainSolver* solver) {
    if (solver != NULL) {
        TdlAllocator mem = solver->host.mem;
        strain_newton_destroy(&solver->newton);
        arena_destroy(&solver->arena);
        tdl_free(&mem, solver);
    }
}

// --- impulses in and out -------------------------------------------------------------------------

static double row_scale(const StrainSystem* s) {
    return s->row_unit;
}

static double contact_scale(const StrainSystem* s) {
    return s->problem->unit * s->contact_unit;
}

// The caller's guess in our units; false: it is not finite.
static bool load_guess(const StrainSystem* s, const double* rows, const double* contacts,
                       double* r) {
    size_t count = s->size - 3 * (size_t)s->contacts;
    bool finite = true;
    for (size_t k = 0; k < s->size; ++k) {
        r[k] = k < count ? rows[k] / row_scale(s) : contacts[k - count] / contact_scale(s);
    }
    for (size_t k = 0; k < s->size; ++k) {
        finite = finite && isfinite(r[k]);
    }
    return finite;
}

static void give_back(const StrainSystem* s, const double* r, double* rows, double* contacts,
                      double* u, double* v) {
    size_t count = s->size - 3 * (size_t)s->contacts;
    const TdlFrictionLaws* laws = &s->problem->contacts.laws;
    for (size_t k = 0; k < count; ++k) {
        rows[k] = r[k] * row_scale(s);
    }
    for (size_t k = count; k < s->size; ++k) {
        contacts[k - count] = r[k] * contact_scale(s);
    }
    for (int c = 0; c < s->contacts; ++c) {
        double* to = u + (ptrdiff_t)3 * c;
        strain_contact_velocity(s, c, to);
        for (int k = 0; k < 3; ++k) {
            to[k] /= s->contact_unit;
        }
        to[0] += laws->normal_velocity == NULL ? 0.0 : laws->normal_velocity[c];
    }
    for (int i = 0; i < s->nodes; ++i) {
        memcpy(v + (ptrdiff_t)3 * i, s->node + (ptrdiff_t)4 * i, 3 * sizeof *v);
    }
}

// --- the solve -----------------------------------------------------------------------------------

typedef struct Solve {
    StrainSystem* s;
    const StrainAim* aim;
    StrainInfo* info;
    double *r, *best;
    bool warm;     // the guess is much better than none
    double target; // error to reach
    double error;  // of best
} Solve;

static double sweep_work(const Solve* x) {
    double contacts = 200.0 * x->s->contacts;
    return 2.0 * x->s->visit_work * x->s->n + contacts + 4.0 * COLUMNS * (double)x->s->size;
}

static bool stopped(Solve* x) {
    x->info->stopped = x->info->stopped || stop_asked((Stop){x->aim->stop, x->aim->stop_user});
    return x->info->stopped;
}

static bool may_go_on(Solve* x) {
    return x->error > x->target && x->info->iterations < x->aim->max_iterations &&
           x->info->work + sweep_work(x) <= x->aim->allowed && !stopped(x);
}

// Measures r, of which the velocities are there, and keeps it where it is the best.
static void look(Solve* x, double* r) {
    double error = strain_error(x->s, r);
    x->info->work += 0.6 * x->s->visit_work * x->s->n;
    if (error < x->error || !isfinite(x->error)) {
        x->error = error;
        memcpy(x->best, r, x->s->size * sizeof *r);
    }
}

// Accelerated sweeps from r until the tolerance, or so many.
static TdlStatus sweep(Solve* x, Arena* arena, int most) {
    StrainSystem* s = x->s;
    ArenaMark mark = arena_mark(arena);
    Acceleration acceleration;
    double* g = ARENA_NEW(arena, double, s->size);
    TdlStatus status = acceleration_init(&acceleration, arena, s->pool, s->size, COLUMNS);
    if (status != TDL_STATUS_OK || g == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    bool seen = true;
    for (int k = 1; k <= most && may_go_on(x); ++k) {
        memcpy(g, x->r, s->size * sizeof *g);
        double change = strain_sweep(s, g);
        ++x->info->iterations;
        x->info->work += sweep_work(x);
        seen = change <= x->target || k % LOOK_EVERY == 0 || k == most ||
               x->info->iterations >= x->aim->max_iterations;
        if (seen) {
            look(x, g);
        }
        if (x->error > x->target) {
            acceleration_next(&acceleration, x->r, g);
            strain_project(s, x->r);
            strain_refresh(s, x->r);
        }
    }
    if (!seen) { // no more was allowed
        look(x, x->r);
    }
    arena_release(arena, mark);
    return TDL_STATUS_OK;
}

// The guess, or zero where that is better; its velocities and its error.
static void begin(Solve* x, const double* rows, const double* contacts) {
    StrainSystem* s = x->s;
    memset(x->best, 0, s->size * sizeof *x->best);
    s->b_norm = strain_speed(s);
    x->target = SAFE * x->aim->tolerance * (s->b_norm > 0.0 ? s->b_norm : 1.0);
    x->error = strain_error(s, x->best);
    double cold = x->error;
    bool given = load_guess(s, rows, contacts, x->r);
    if (given) {
        strain_project(s, x->r);
        strain_refresh(s, x->r);
        double warm = strain_error(s, x->r);
        given = warm < GUESS_WORSE * cold && isfinite(warm);
        x->warm = warm < GUESS_GOOD * cold;
        if (warm < cold) {
            memcpy(x->best, x->r, s->size * sizeof *x->best);
            x->error = warm;
        }
    }
    if (!given) {
        memset(x->r, 0, s->size * sizeof *x->r);
        strain_refresh(s, x->r);
    }
}

// Steps of one of the room's solvers from r, to a tolerance that may be on the way.
static TdlStatus newton_by(Solve* x, StrainSolver* solver, TdlFrictionSolver* by, double tolerance,
                           double budget) {
    TdlFrictionInfo found;
    double left = fmin(x->aim->allowed - x->info->work, budget);
    solver->newton.aim = x->aim;
    TdlStatus status =
        strain_newton_solve(by, x->s, &solver->arena, &solver->host, tolerance, left, x->r, &found);
    solver->newton.aim = NULL;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    x->info->iterations += found.iterations;
    x->info->work += found.work;
    strain_project(x->s, x->r);
    strain_refresh(x->s, x->r);
    look(x, x->r);
    return TDL_STATUS_OK;
}

// Newton steps: where the guess was good from the best so far; else, or where these do not do,
// interior points from nothing, since what sweeps have left is harder to undo, and steps from
// there.
static TdlStatus newton(Solve* x, StrainSolver* solver, double work) {
    size_t size = x->s->size * sizeof *x->r;
    TdlStatus status = TDL_STATUS_OK;
    if (x->warm) {
        memcpy(x->r, x->best, size);
        status = newton_by(x, solver, solver->newton.near, x->aim->tolerance, PATIENCE * work);
    }
    if (status == TDL_STATUS_OK && may_go_on(x)) {
        double tolerance = fmax(x->aim->tolerance, INSIDE);
        memset(x->r, 0, size);
        status = newton_by(x, solver, solver->newton.far, tolerance, PATIENCE_INSIDE * work);
    }
    if (status == TDL_STATUS_OK && may_go_on(x)) {
        memcpy(x->r, x->best, size);
        status = newton_by(x, solver, solver->newton.near, x->aim->tolerance, PATIENCE * work);
    }
    return status;
}

// Rounds of sweeps until the next ones, at the pace of the last, would cost more than so much, or
// all of them have; or until they would leave less than half of the iterations for what comes then.
static TdlStatus sweep_while_worth(Solve* x, Arena* arena, double work) {
    double begin = x->info->work;
    TdlStatus status = TDL_STATUS_OK;
    while (status == TDL_STATUS_OK && may_go_on(x)) {
        double before = x->error;
        status = sweep(x, arena, ROUND);
        double pace = log(before / x->error) / ROUND, left = log(x->error / x->target) / pace;
        double spent = x->info->work - begin;
        double most = 0.5 * (x->aim->max_iterations - x->info->iterations);
        if (x->error > x->target && (left * sweep_work(x) > work || spent > work || left > most)) {
            break;
        }
    }
    return status;
}

static TdlStatus solve(Solve* x, StrainSolver* solver) {
    double work = strain_newton_work(x->s);
    TdlStatus status = TDL_STATUS_OK;
    if (may_go_on(x) && x->info->work + work < x->aim->allowed) {
        if (x->warm || work > COLD_WORK) {
            status = sweep_while_worth(x, &solver->arena, work);
        }
        status = status == TDL_STATUS_OK && may_go_on(x) ? newton(x, solver, work) : status;
        memcpy(x->r, x->best, x->s->size * sizeof *x->r);
        strain_refresh(x->s, x->r);
    }
    return status == TDL_STATUS_OK ? sweep(x, &solver->arena, x->aim->max_iterations) : status;
}

static TdlStatus solve_in(StrainSolver* solver, const StrainProblem* problem, const StrainAim* aim,
                          double* r, double* u, double* v, double* z, StrainInfo* info) {
    StrainSystem s;
    TdlStatus status = strain_system_init(&s, &solver->arena, solver->pool, problem, z);
    Solve x = {.s = &s, .aim = aim, .info = info};
    if (status != TDL_STATUS_OK) {
        return status == TDL_STATUS_NO_MEMORY
                   ? status
                   : tdl_fail(&solver->host, status,
                              "rows of strain or contacts are not finite, or not of these nodes");
    }
    x.r = ARENA_NEW(&solver->arena, double, s.size);
    x.best = ARENA_NEW(&solver->arena, double, s.size);
    if (x.r == NULL || x.best == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    begin(&x, problem->bed->rows.impulse, r);
    status = solve(&x, solver);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    strain_refresh(&s, x.best);
    info->error = strain_error(&s, x.best) / (s.b_norm > 0.0 ? s.b_norm : 1.0);
    info->converged = info->error <= aim->tolerance;
    give_back(&s, x.best, problem->bed->rows.impulse, r, u, v);
    return TDL_STATUS_OK;
}

TdlStatus strain_solve(StrainSolver* solver, const StrainProblem* problem, const StrainAim* aim,
                       double* r, double* u, double* v, double* z, StrainInfo* info) {
    ArenaMark mark = arena_mark(&solver->arena);
    *info = (StrainInfo){0};
    TdlStatus status = solve_in(solver, problem, aim, r, u, v, z, info);
    arena_release(&solver->arena, mark);
    return status;
}
