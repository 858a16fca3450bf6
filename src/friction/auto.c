// The automatic choice: one table of stages, each from the best iterate so far.
//
// Accelerated Gauss-Seidel wins where contacts are loosely coupled (nu < 1) and is the only one
// that scales to any size; the proximal Newton method wins where they are not, as long as factors
// fit; interior points come where it stalls, and what is dear last. How many sweeps come before the
// first factorisation is decided by counting multiplications, not time, so that the same problem
// always takes the same way. friction.md section 4.8
#include "friction/run.h"

#include <limits.h>
#include <string.h>

// A guess that is no better than zero counts as warm all the same when so many sweeps leave less
// than this part of the error of zero: combed hair has 0.02 to 0.06 then.
enum { GUESS_SWEEPS = 10 };
static const double SOFT_PART = 0.1;
// Sweeps are continued in rounds while a round divides the error by this, with less Newton steps
// being cheaper; and gradient steps on what is too large for factors while a thousand divide it by
// that.
static const double ROUND_GAIN = 30.0, GRADIENT_GAIN = 1.2;
// From a guess so many come first, and no more where they leave so many times what is asked for.
enum { GIVEN_SWEEPS = 60 };
static const double GIVEN_HARD = 50.0;
// Of a large island the pace of so many sweeps after as many tells how many more there would be:
// about twice as many as go on at that pace (wisps: 279 and 290 at it, 454 and 520 in truth).
// Interior points come at once where they cost less.
enum { PROBE_SWEEPS = 10 };
static const double SLOWER = 2.0;
// Islands above this are not worth Newton steps even from a good guess.
enum { ALTERNATING_CONTACTS = 100000 };
// Multiplications for each contact of a large island (of six four times as many, as its blocks
// have), and in all, after which its best iterate has to do: half a minute for a thousand contacts,
// some minutes for ever so many.
static const double BUDGET_EACH = 3.0e7, BUDGET_MOST = 5.0e11;

// How a stage is entered and left.
enum {
    WARM = 1,     // only with a guess that is much better than zero
    LUKEWARM = 2, // only without one
    COLD = 4,     // starts from zero: near-solutions of sweeps carry parts that are hard to undo
    CONVEX = 8,   // knows associated contacts
};

typedef struct Stage {
    TdlFrictionSolverKind kind;
    RunFn run;
    int limit;       // iterations
    int least, most; // contacts of the islands it is for
    int how;
} Stage;

// --- stages of more than one call ----------------------------------------------------------------

static TdlStatus run_limited(Run* run, RunFn part, int limit) {
    int all = run->limit;
    run->limit = limit < all ? limit : all;
    TdlStatus status = part(run);
    run->limit = all;
    return status;
}

// Rounds of so many iterations while each divides the error by `gain`.
static TdlStatus run_rounds(Run* run, RunFn part, int round, int most, double gain) {
    double before = INFINITY;
    for (int k = 0; k < most && !run_done(run) && run->error < before / gain; k += round) {
        before = run->error;
        TdlStatus status = run_limited(run, part, round);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

// Some sweeps, and interior points where these are slow.
static TdlStatus run_probe(Run* run) {
    TdlStatus status = run_limited(run, run_anderson, PROBE_SWEEPS);
    double before = run->error;
    if (status == TDL_STATUS_OK && !run_done(run)) {
        status = run_limited(run, run_anderson, PROBE_SWEEPS);
    }
    if (status != TDL_STATUS_OK || run_done(run)) {
        return status;
    }
    double pace = log(before / run->error) / PROBE_SWEEPS; // zero: endless
    return run_inside(run, SLOWER * log(run->error / run->sys->target) / pace);
}

// As many sweeps in a round as a factorisation costs; where W is too large for one, all there are.
// From a guess fewer, and where these leave much they are left to those that come next.
static TdlStatus run_sweep_rounds(Run* run) {
    const System* sys = run->sys;
    if (run->given && sys->n <= LARGE_ISLAND) {
        TdlStatus status = run_limited(run, run_anderson, GIVEN_SWEEPS);
        if (status != TDL_STATUS_OK || run->error > GIVEN_HARD * sys->target) {
            return status;
        }
    }
    double ratio = sys->start != NULL ? run_factor_work(run) / run_sweep_work(run) : 100.0;
    int round = ratio < 10.0 ? 10 : ratio > 100.0 ? 100 : (int)ratio;
    int most = sys->block_count <= MAX_FORMED ? 20 * round : run->limit;
    return run_rounds(run, run_anderson, round, most, ROUND_GAIN);
}

static TdlStatus run_gradient_rounds(Run* run) {
    return run_rounds(run, run_gradient, 1000, run->limit, GRADIENT_GAIN);
}

// A guess that is good but for a few contacts that are far off may seem worse than none: seen again
// after a few sweeps, which put these right. Among many contacts only: fewer are soon solved anew.
static TdlStatus soften_guess(Run* run) {
    if (run->guess == NULL || run->warm || run->depth > 0 || run->sys->n <= LARGE_ISLAND) {
        return TDL_STATUS_OK;
    }
    ArenaMark mark = arena_mark(run->arena);
    size_t size = run_size(run);
    double cold = system_error(run->sys, run->sys->b, run->zero);
    Run soft = *run;
    soft.best = ARENA_NEW(run->arena, double, size);
    if (soft.best == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(soft.best, run->guess, size * sizeof(double));
    soft.error = INFINITY;
    soft.limit = GUESS_SWEEPS;
    TdlStatus status = run_anderson(&soft);
    run->iterations = soft.iterations;
    run->failsafe = soft.failsafe;
    run->unsolvable = soft.unsolvable;
    if (soft.error < SOFT_PART * cold && soft.error < run->error) {
        memcpy(run->best, soft.best, size * sizeof(double));
        run->error = soft.error;
        run->warm = true;
    }
    arena_release(run->arena, mark);
    return status;
}

// --- the table -----------------------------------------------------------------------------------

static const Stage STAGES[] = {
    // a handful of contacts: a few sweeps are cheaper than any factorisation
    {TDL_FRICTION_GAUSS_SEIDEL, run_gauss_seidel, 5, 1, 3, CONVEX},
    {TDL_FRICTION_ANDERSON, run_anderson, 15, 1, 8, CONVEX},
    {TDL_FRICTION_PROXIMAL, run_nodes, 500, 1, INT_MAX, 0},
    {TDL_FRICTION_ALTERNATING, run_active, 500, 1, ALTERNATING_CONTACTS, WARM},
    {TDL_FRICTION_INTERIOR, run_probe, INT_MAX, LARGE_ISLAND + 1, INT_MAX, LUKEWARM | CONVEX},
    {TDL_FRICTION_ANDERSON, run_sweep_rounds, INT_MAX, SMALL_ISLAND + 1, INT_MAX, CONVEX},
    {TDL_FRICTION_ALTERNATING, run_active, 500, 1, ALTERNATING_CONTACTS, LUKEWARM},
    {TDL_FRICTION_PROXIMAL, run_proximal, 500, 1, INT_MAX, COLD},
    {TDL_FRICTION_INTERIOR, run_interior, INT_MAX, 1, INT_MAX, CONVEX},
    {TDL_FRICTION_GRADIENT, run_gradient_rounds, INT_MAX, LARGE_ISLAND + 1, INT_MAX, CONVEX},
    {TDL_FRICTION_PROXIMAL, run_proximal, 300, 1, INT_MAX, 0},
    {TDL_FRICTION_WEDGED, run_wedges, 30000, 1, INT_MAX, 0},
    {TDL_FRICTION_INTERIOR, run_insist, INT_MAX, 1, INT_MAX, CONVEX},
    {TDL_FRICTION_PROXIMAL, run_proximal, 100, 1, INT_MAX, 0},
    {TDL_FRICTION_PATH, run_path, 30000, 1, INT_MAX, 0},
};

static bool applies(const Stage* stage, const Run* run) {
    return run->sys->n >= stage->least && run->sys->n <= stage->most &&
           !(stage->how & (run->warm ? LUKEWARM : WARM)) &&
           (!run->sys->associated || (stage->how & CONVEX));
}

static TdlStatus run_stage(Run* run, const Stage* stage, TdlFrictionSolverKind* used) {
    double before = run->error;
    run->stage = stage->kind;
    run->start = stage->how & COLD ? run->zero : NULL;
    TdlStatus status = run_limited(run, stage->run, stage->limit);
    run->start = NULL;
    if (run->error < before) {
        *used = stage->kind;
    }
    return status;
}

TdlStatus run_auto(Run* run, TdlFrictionSolverKind* used) {
    *used = TDL_FRICTION_ANDERSON;
    if (run->sys->n > LARGE_ISLAND) {
        double each = BUDGET_EACH * run->sys->d * run->sys->d / 9.0;
        run_allow(run, fmin(each * run->sys->n, BUDGET_MOST));
    }
    TdlStatus guessed = soften_guess(run);
    if (guessed != TDL_STATUS_OK) {
        return guessed;
    }
    for (size_t k = 0; k < sizeof STAGES / sizeof *STAGES; ++k) {
        const Stage* stage = &STAGES[k];
        if (run_done(run) || run_spent(run, run_sweep_work(run))) {
            break;
        }
        if (!applies(stage, run)) {
            continue;
        }
        TdlStatus status = run_stage(run, stage, used);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}
