// A proximal point method around Newton steps on the velocities.
//
// Where W is singular (nu > 1) forces are not unique and sticking contacts have no regular
// Jacobian. Each problem of a sequence asks that contacts answer velocities around the impulses of
// the one before, the more steeply the further it goes; any of them is regular, and their fixed
// points are the solutions. friction.md section 4.4
#include "friction/newton.h"

#include <string.h>

// Slopes of the answers in units of a contact's own: the first, at which problems are easy, and the
// most, beyond which no digits are left; and what they grow by after an easy problem (twice after
// one that hardly was one), and fall by after one that failed.
static const double RHO_FIRST = 300.0, RHO_MOST = 1.0e10, GROWTH = 30.0, LEAST_GROWTH = 2.0;
static const double FALL = 10.0;
// A slope at which few steps tell: where the first problem takes two or three, so do all that
// follow, and where it takes more it takes ten, and hundreds in all.
static const double RHO_EASY = 100.0;
enum { FEW_STEPS = 3 };
// Steps of such problems; after which it has failed, in all and without what is off falling to
// this part; failures in a row, and problems without a step, that end it.
enum { NO_STEPS = 2, EASY_STEPS = 6, MOST_STEPS = 40, IDLE_STEPS = 8, MOST_FAILURES = 12 };
enum { MOST_IDLE = 6 };
static const double FALLS = 0.7;
// A problem is solved when velocities are off by this part of those it was to take away, or by no
// more than rounding leaves of |b|. (F.33)
static const double SOLVED_PART = 0.1, ROUNDING = 1.0e-10;

// The velocities that the answers of a problem still allow: (r - centre)/rho.
static double velocities_left(const Newton* nw) {
    const System* sys = nw->run->sys;
    double sum = 0.0;
    for (int i = 0; i < sys->n; ++i) {
        for (int k = i * sys->d; k < (i + 1) * sys->d; ++k) {
            double x = (nw->r[k] - nw->centre[k]) / (nw->rho * nw->own[i]);
            sum += x * x;
        }
    }
    return sqrt(sum);
}

// The problem around the present centre. `steps` counts.
static TdlStatus solve_around(Newton* nw, double least, int limit, int* steps, bool* good) {
    newton_restart(nw);
    double best = nw->off;
    TdlStatus status = TDL_STATUS_OK;
    *good = false;
    for (int idle = 0; status == TDL_STATUS_OK && idle <= IDLE_STEPS && isfinite(nw->off);
         ++*steps) {
        *good = nw->off <= fmax(SOLVED_PART * velocities_left(nw), least);
        if (*good || *steps >= limit) {
            break;
        }
        status = newton_step(nw);
        idle = nw->off < FALLS * best ? 0 : idle + 1;
        best = fmin(best, nw->off);
    }
    return status;
}

// The next centre and slope.
static void adapt(Newton* nw, bool good, int steps, double* growth) {
    size_t size = run_size(nw->run) * sizeof(double);
    if (good) {
        memcpy(nw->centre, nw->r, size);
        double faster = steps <= NO_STEPS ? *growth * *growth : steps <= EASY_STEPS ? *growth : 1.0;
        nw->rho = fmin(nw->rho * faster, RHO_MOST);
    } else {
        nw->rho /= FALL;
        *growth = fmax(LEAST_GROWTH, sqrt(*growth));
    }
    memcpy(nw->t, nw->centre, size);
}

// Problems from a first slope on, of at most so many steps each; and failures that end it.
static TdlStatus solve_problems(Run* run, double rho, int most_steps, int most_failures) {
    ArenaMark mark = arena_mark(run->arena);
    System before = *run->sys; // without the rows of W that are formed on the way
    Newton nw;
    TdlStatus status = newton_init(&nw, run);
    nw.rho = rho;
    double growth = GROWTH, least = ROUNDING * sqrt(dot_product(run_size(run), before.b, before.b));
    int limit = run->iterations + run->limit, failures = 0, idle = 0;
    while (status == TDL_STATUS_OK && !run_done(run) && run->iterations < limit &&
           failures < most_failures && idle < MOST_IDLE) {
        int steps = 0, left = limit - run->iterations;
        bool good;
        status = solve_around(&nw, least, left < most_steps ? left : most_steps, &steps, &good);
        if (good) {
            system_velocity(run->sys, nw.r, nw.du);
            run_offer(run, nw.du, nw.r);
        }
        failures = good ? 0 : failures + 1;
        idle = steps == 0 ? idle + 1 : 0;
        adapt(&nw, good, steps, &growth);
    }
    *run->sys = before;
    arena_release(run->arena, mark);
    return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
}

TdlStatus run_proximal(Run* run) {
    return solve_problems(run, RHO_FIRST, MOST_STEPS, MOST_FAILURES);
}

TdlStatus run_easy(Run* run) {
    return solve_problems(run, RHO_EASY, FEW_STEPS, 1);
}
