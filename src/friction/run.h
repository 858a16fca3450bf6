// What every solver gets, and gives back: the one call behind all of them.
#ifndef TDL_FRICTION_RUN_H
#define TDL_FRICTION_RUN_H

#include "friction/system.h"

typedef struct Run {
    System* sys;
    Arena* arena; // scratch; a solver releases what it took
    const TdlFrictionOptions* options;
    double* best;        // [n d] the best iterate so far: a solver starts here and ends here
    const double* zero;  // [n d]
    const double* guess; // [n d] the caller's, put into the cones; null: none, or it is the answer
    const double* start; // [n d] where a solver starts instead of best; null: at best
    double error;        // norm of the caller's map there, unit-free
    TdlFrictionSolverKind stage; // of auto, or the solver asked for
    struct History* history;     // null: nobody watches
    bool warm;                   // the caller's first guess is much better than zero
    bool given;                  // there is one, however good
    bool stiff;                  // the first sweeps left much of the error
    int depth;                   // how many times wedged contacts were taken out
    int limit;                   // iterations this solver may use
    int iterations;              // iterations of all solvers so far
    double end;     // error to reach in the end, where sys->target is one on the way; 0: that is it
    double worth;   // multiplications that the first factorisation of a solver may take
    double refused; // of the last that took more
    long long failsafe, unsolvable;
} Run;

// A solver improves run->best until run->error <= run->sys->target, its limit, or a stall. It
// returns a status only for lack of memory.
typedef TdlStatus (*RunFn)(Run* run);

TdlStatus run_gauss_seidel(Run* run);
TdlStatus run_anderson(Run* run);
TdlStatus run_proximal(Run* run);
TdlStatus run_easy(Run* run); // the same from afar, given up where it takes more than a few steps
TdlStatus run_gradient(Run* run);
TdlStatus run_alternating(Run* run);
TdlStatus run_active(Run* run);  // the same, without the last resort to sweeps
TdlStatus run_strides(Run* run); // sweeps and full Newton steps, for a start that is not far off
TdlStatus run_interior(Run* run);
TdlStatus run_insist(Run* run);                // the same with more steps from more starts
TdlStatus run_inside(Run* run, double sweeps); // the same, where it costs no more than so many
TdlStatus run_near(Run* run);  // the same from near the best iterate, given up where it gets stuck
TdlStatus run_nodes(Run* run); // over the nodes of bodies that have their A; others are left as is
TdlStatus run_nodal(Run* run); // S4 3.14: sweeps over the nodes of bodies with their A

// Whether contacts are about one node each of bodies that have their A.
bool primal_fits(const Run* run);

// Diagonal of A over what is mass in it, at most, where they are; infinite where they are not.
double primal_stiffness(const Run* run);
TdlStatus run_path(Run* run);
TdlStatus run_wedges(Run* run);
TdlStatus run_wedged(Run* run); // the same, and where it does not do all else
TdlStatus run_own(Run* run);    // the caller's
// Impulses r of the contacts that are not out, in the cones and as far inside as can be, that bring
// these to rest from b where any do; with eps the smaller ones, and nearly so. TDL_STATUS_STOPPED:
// the factors would be too large.
TdlStatus interior_press(Run* run, const bool* out, double eps, double* r);
TdlStatus run_auto(Run* run, TdlFrictionSolverKind* used);

// Measures r, whose velocity is u, and keeps it when it is the best so far. Returns its error.
double run_offer(Run* run, const double* u, const double* r);

void history_tell(const Run* run, TdlFrictionSolverKind solver, const double* r);

// Counts an iteration of `solver` that came to r, in run->sys; null: to nothing that is a guess.
static inline void run_count(Run* run, TdlFrictionSolverKind solver, const double* r) {
    ++run->iterations;
    if (run->history != NULL) {
        history_tell(run, solver, r);
    }
}

static inline bool run_done(const Run* run) {
    return run->error <= run->sys->target;
}

// Counts what was done; all that takes long is.
static inline void run_spend(const Run* run, double work) {
    effort_add(run->sys->effort, work);
}

// For factorisations, which ask while they last.
static inline Stop run_stop(const Run* run) {
    return run->sys->effort == NULL ? (Stop){0} : run->sys->effort->stop;
}

// Lets what follows take so much and no more; returns the budget of before, to be put back.
static inline double run_allow(const Run* run, double most) {
    Effort* effort = run->sys->effort;
    double before = effort->budget;
    effort->budget = fmin(before, effort->work + most);
    return before;
}

// Whether another so many multiplications would be too many, or the caller asked to stop: asked
// before anything that takes long.
static inline bool run_spent(const Run* run, double next) {
    return !effort_allows(run->sys->effort, next);
}

// Multiplications of one accelerated sweep, and of one factorisation, about.
double run_sweep_work(const Run* run);
double run_factor_work(const Run* run);

// Multiplications that a factorisation may take where steps shall not cost more than so many
// sweeps.
double run_worth(const Run* run, double sweeps);

// Sweeps to the end at the pace of so many that took the error from `before` to what it is.
double run_sweeps_left(const Run* run, double before, int sweeps);

// The part of its error that a problem on the way may keep: more digits are for the next.
static const double ROUND_PART = 0.1;

// Blocks of W from bodies above which it is not formed: about 360 MB.
enum { MAX_FORMED = 5000000 };

static inline size_t run_size(const Run* run) {
    return (size_t)run->sys->n * (size_t)run->sys->d;
}

#endif
