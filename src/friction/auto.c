// The automatic choice: cheap sweeps first, then factorisations, each from the best iterate so far.
//
// Accelerated Gauss-Seidel wins where contacts are loosely coupled (nu < 1) and is the only one
// that scales to any size; the proximal Newton method wins where they are not, as long as factors
// fit; interior points come where it stalls, and first-order methods last. How many sweeps come
// before the first factorisation is decided by counting multiplications, not time, so that the
// same problem always takes the same way. friction.md section 4.8
#include "friction/run.h"
#include "friction/study/study.h"

#include <string.h>

// Sweeps are continued in rounds while a round divides the error by this, and gradient steps on
// what is too large for factors while a thousand divide it by that.
static const double ROUND_GAIN = 10.0, GRADIENT_GAIN = 1.2;
// Islands up to this size are factored first: their factors cost less than many sweeps.
enum { DIRECT_CONTACTS = 200 };
// Islands up to this size are worth Newton steps before many sweeps, from a good guess.
enum { ALTERNATING_CONTACTS = 100000 };
// Islands above this size are left to interior points before Newton steps, without a guess.
enum { MANY_CONTACTS = 1000 };
// Multiplications for each contact of such an island, and in all, after which its best iterate has
// to do: half a minute for a thousand contacts, some minutes for ever so many.
static const double BUDGET_EACH = 3.0e7, BUDGET_MOST = 5.0e11;

typedef struct Stage {
    TdlFrictionSolverKind kind;
    RunFn run;
    int limit;
    bool cold; // starts from zero: near-solutions of sweeps carry parts that are hard to undo
} Stage;

static bool try_stage(Run* run, const Stage* stage, TdlStatus* status,
                      TdlFrictionSolverKind* used) {
    double before = run->error;
    int all = run->limit;
    run->limit = stage->limit < all ? stage->limit : all;
    run->start = stage->cold ? run->zero : NULL;
    *status = stage->run(run);
    run->start = NULL;
    run->limit = all;
    if (run->error < before) {
        *used = stage->kind;
    }
    return *status != TDL_STATUS_OK || run_done(run);
}

static bool rounds(Run* run, const Stage* round, int most, double gain, TdlStatus* status,
                   TdlFrictionSolverKind* used) {
    for (int k = 0; k < most; k += round->limit) {
        double before = run->error;
        if (try_stage(run, round, status, used)) {
            return true;
        }
        if (!(run->error < before / gain)) {
            return false;
        }
    }
    return false;
}

// a handful of contacts: a few sweeps are cheaper than any factorisation
static bool few_contacts(Run* run, TdlStatus* status, TdlFrictionSolverKind* used) {
    Stage sweeps = {TDL_FRICTION_GAUSS_SEIDEL, run_gauss_seidel, 5, false};
    if (run->sys->n <= 3 && try_stage(run, &sweeps, status, used)) {
        return true;
    }
    sweeps = (Stage){TDL_FRICTION_ANDERSON, run_anderson, 15, false};
    return run->sys->n <= 8 && try_stage(run, &sweeps, status, used);
}

// Sweeps and Newton steps in turn, over the contacts that carry.
static bool alternate(Run* run, TdlStatus* status, TdlFrictionSolverKind* used) {
    Stage stage = {TDL_FRICTION_ALTERNATING, run_active, 60, false};
    return run->sys->n <= ALTERNATING_CONTACTS && try_stage(run, &stage, status, used);
}

typedef struct Aside {
    double* r;
    double error;
} Aside;

static void exchange(Run* run, Aside* aside) {
    double error = run->error, *best = run->best;
    size_t size = run_size(run);
    for (size_t k = 0; k < size; ++k) {
        double keep = best[k];
        best[k] = aside->r[k];
        aside->r[k] = keep;
    }
    run->error = aside->error;
    aside->error = error;
}

// The same, put aside when it does not do: a point of small error may be a bad one to go on from.
static bool alternate_aside(Run* run, Aside* aside, TdlStatus* status,
                            TdlFrictionSolverKind* used) {
    size_t size = run_size(run);
    double *before = ARENA_NEW(run->arena, double, size), error = run->error;
    aside->r = ARENA_NEW(run->arena, double, size);
    if (before == NULL || aside->r == NULL) {
        *status = TDL_STATUS_NO_MEMORY;
        return true;
    }
    memcpy(before, run->best, size * sizeof(double));
    if (alternate(run, status, used)) {
        return true;
    }
    aside->error = run->error;
    memcpy(aside->r, run->best, size * sizeof(double));
    memcpy(run->best, before, size * sizeof(double));
    run->error = error;
    return false;
}

// The same again and again, with many sweeps between, as long as it helps.
static bool alternate_on(Run* run, TdlStatus* status, TdlFrictionSolverKind* used) {
    Stage sweeps = {TDL_FRICTION_ANDERSON, run_anderson, 500, false};
    for (int k = 0; k < 4; ++k) {
        double before = run->error;
        if (alternate(run, status, used) || try_stage(run, &sweeps, status, used)) {
            return true;
        }
        if (!(run->error < 0.5 * before)) {
            return false;
        }
    }
    return false;
}

// W from bodies, after which sweeps use it too
static TdlStatus form_rows(Run* run, TdlStatus* status) {
    *status = system_form_rows(run->sys, run->arena);
    run->sys->sweep_bodies = run->sys->sweep_bodies && *status != TDL_STATUS_OK;
    return *status;
}

TdlStatus run_auto(Run* run, TdlFrictionSolverKind* used) {
    static const Stage ladder[] = {
        {TDL_FRICTION_PROXIMAL, run_proximal, 60, true},
        {TDL_FRICTION_INTERIOR, run_interior, 120, true},
        {TDL_FRICTION_PROXIMAL, run_proximal, 300, false},
        {TDL_FRICTION_ALTERNATING, run_active, 60, false},
        {TDL_FRICTION_WEDGED, run_wedges, 10000, false},
        {TDL_FRICTION_PATH, run_path, 10000, false},
        {TDL_FRICTION_ADMM, run_admm, 1000, false},
        {TDL_FRICTION_PROXIMAL, run_proximal, 500, false},
        {TDL_FRICTION_ANDERSON, run_anderson, 3000, false},
        {TDL_FRICTION_PROXIMAL, run_proximal, 500, false},
        {TDL_FRICTION_GRADIENT, run_gradient, 3000, false},
        {TDL_FRICTION_PROXIMAL, run_proximal, 500, false},
        {TDL_FRICTION_FIXED_POINT, run_fixed_point, 3000, false},
        {TDL_FRICTION_PROXIMAL, run_proximal, 1000, true},
    };
    TdlStatus status = TDL_STATUS_OK;
    System* sys = run->sys;
    Aside aside = {NULL, INFINITY};
    *used = TDL_FRICTION_ANDERSON;
    if (sys->n > MANY_CONTACTS) {
        double most = fmin(BUDGET_EACH * sys->n, BUDGET_MOST);
        run->budget = fmin(run->budget, run->work + most);
    }
    if (few_contacts(run, &status, used)) {
        return status;
    }
    bool formable = sys->block_count <= MAX_FORMED, small = sys->n <= DIRECT_CONTACTS;
    if (run->warm && alternate(run, &status, used)) {
        return status;
    }
    if (small && form_rows(run, &status) != TDL_STATUS_OK) {
        return status;
    }
    if (!small) {
        double ratio = sys->start != NULL ? run_factor_work(run) / run_sweep_work(run) : 100.0;
        int round = ratio < 10.0 ? 10 : ratio > 100.0 ? 100 : (int)ratio;
        Stage sweeps = {TDL_FRICTION_ANDERSON, run_anderson, round, false};
        int most = formable ? 20 * round : run->limit;
        if (rounds(run, &sweeps, most, ROUND_GAIN, &status, used)) {
            return status;
        }
        if (sys->n <= MANY_CONTACTS && alternate_aside(run, &aside, &status, used)) {
            return status;
        }
    }
    if (formable && form_rows(run, &status) != TDL_STATUS_OK) {
        return status;
    }
    for (size_t k = 0; status == TDL_STATUS_OK && k < sizeof ladder / sizeof *ladder; ++k) {
        bool sweeps = ladder[k].run == run_anderson || ladder[k].run == run_gradient;
        if (!(formable || sweeps) || (k == 0 && sys->n > MANY_CONTACTS)) {
            continue;
        }
        bool done = ladder[k].run == run_active && !small
                        ? alternate_on(run, &status, used)
                        : try_stage(run, &ladder[k], &status, used);
        Stage gradient = {TDL_FRICTION_GRADIENT, run_gradient, 1000, false};
        if (!done && ladder[k].run == run_interior && sys->n > MANY_CONTACTS) {
            done = rounds(run, &gradient, run->limit, GRADIENT_GAIN, &status, used);
        }
        if (done) {
            break;
        }
    }
    if (status == TDL_STATUS_OK && !run_done(run) && aside.r != NULL) {
        // what was put aside may do as a start after all; the better of the two stays
        exchange(run, &aside);
        if (!alternate_on(run, &status, used) && aside.error < run->error) {
            exchange(run, &aside);
        }
    }
    return status;
}
