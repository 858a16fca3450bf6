// A proximal point method around nonsmooth Newton steps.
//
// Where W is singular (nu > 1) so is the Jacobian at sticking contacts. A sequence of problems with
// W + eps D, D the contacts' own stiffness, and b - eps D r_k is solved instead: the same
// solutions, regular Jacobians, and outer convergence the faster the smaller eps. friction.md 4.4
#include "friction/newton.h"

#include <string.h>

// eps in units of a contact's own stiffness: the first, at which problems are easy, and the least,
// below which sticking contacts of a singular W lose their digits.
static const double EPS_FIRST = 1.0e-1, EPS_LEAST = 1.0e-9;
// What eps is multiplied by after an easy problem.
static const double EPS_SHRINK = 0.01;
// Steps in which an easy or a fair problem is solved, and after which it has failed.
enum { EASY_STEPS = 4, FAIR_STEPS = 8, INNER_STEPS = 15 };
// Failures, each with four times the eps of the one before, and problems without a step that end
// it.
enum { MAX_FAILURES = 12, MAX_IDLE = 3 };

// Newton on the problem around the centre until F has fallen by `part`. True when it has.
static bool inner_newton(Newton* nw, double part) {
    newton_velocity(nw, nw->r, nw->u);
    double q = newton_merit(nw, nw->u, nw->r, nw->f), goal = part * part * q;
    for (int k = 0; k < INNER_STEPS && q > goal && !run_spent(nw->run, nw->lu.flops); ++k) {
        q = newton_step(nw, q);
        ++nw->run->iterations;
        if (q < 0.0) {
            return false;
        }
    }
    return q <= goal;
}

// The next eps: smaller after an easy problem, larger after a hard one. A problem that failed is
// first tried again with the other of the two discs.
typedef struct Schedule {
    double shrink;
    int failures;
} Schedule;

static void adapt(Newton* nw, Schedule* s, bool good, int used) {
    if (good) {
        double factor = used <= EASY_STEPS ? s->shrink : used <= FAIR_STEPS ? sqrt(s->shrink) : 0.8;
        nw->eps = fmax(nw->eps * factor, EPS_LEAST);
        s->shrink = fmax(0.8 * s->shrink, EPS_SHRINK);
        s->failures = 0;
        return;
    }
    memcpy(nw->r, nw->center, run_size(nw->run) * sizeof(double));
    nw->original = !nw->original;
    if (nw->original) {
        nw->eps *= 4.0;
        s->shrink = 0.5;
        ++s->failures;
    }
}

TdlStatus run_proximal(Run* run) {
    ArenaMark mark = arena_mark(run->arena);
    Newton nw;
    TdlStatus status = newton_init(&nw, run);
    if (status != TDL_STATUS_OK) {
        arena_release(run->arena, mark);
        return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
    }
    nw.eps = EPS_FIRST;
    nw.original = true;
    Schedule schedule = {EPS_SHRINK, 0};
    int limit = run->iterations + run->limit, idle = 0;
    while (!run_done(run) && run->iterations < limit && schedule.failures < MAX_FAILURES &&
           idle < MAX_IDLE && !run_spent(run, nw.lu.flops)) {
        memcpy(nw.center, nw.r, run_size(run) * sizeof(double));
        int before = run->iterations;
        bool good = inner_newton(&nw, ROUND_PART);
        system_velocity(run->sys, nw.r, nw.u);
        run_offer(run, nw.u, nw.r);
        // a map that vanishes while the caller's error does not: no digits are left
        idle = run->iterations == before ? idle + 1 : 0;
        adapt(&nw, &schedule, good, run->iterations - before);
    }
    arena_release(run->arena, mark);
    return TDL_STATUS_OK;
}
