// Cadoux's fixed point (S4 eq. 3.11-3.12): the shift is held until the convex problem is solved
// well enough, then renewed.
#include "friction/gradient.h"
#include "friction/study/study.h"

#include <string.h>

// Gradient steps on a convex problem, at most.
enum { INNER_LIMIT = 400 };

// |r - P(r - rho (u + E s))| with s held: how well the convex problem is solved
static double convex_error(const Gradient* g) {
    const System* sys = g->run->sys;
    int d = sys->d;
    double sum = 0.0;
    for (int i = 0; i < sys->n; ++i) {
        double x[CONE_MAX] = {0}, p[CONE_MAX];
        for (int k = 0; k < d; ++k) {
            double u = g->u_r[i * d + k] + (k == 0 ? g->s[i] : 0.0);
            x[k] = g->r[i * d + k] - sys->rho * u;
        }
        law_project(d, sys->law[i], sys->mu[i], x, p);
        for (int k = 0; k < d; ++k) {
            sum += (g->r[i * d + k] - p[k]) * (g->r[i * d + k] - p[k]);
        }
    }
    return sqrt(sum);
}

TdlStatus run_fixed_point(Run* run) {
    ArenaMark mark = arena_mark(run->arena);
    Gradient g;
    if (gradient_init(&g, run) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    int limit = run->iterations + run->limit;
    system_velocity(run->sys, g.r, g.u_r);
    double error = run_offer(run, g.u_r, g.r);
    double work = run_sweep_work(run);
    while (run->iterations < limit && !run_done(run) && !run_spent(run, work)) {
        gradient_renew_shift(&g, g.u_r);
        memcpy(g.y, g.r, run_size(run) * sizeof(double));
        g.theta = 1.0;
        double goal = fmax(ROUND_PART * error, 0.3 * run->sys->target);
        for (int k = 0; k < INNER_LIMIT && run->iterations < limit && !run_spent(run, work); ++k) {
            gradient_step(&g, false);
            run_spend(run, work);
            run_count(run, TDL_FRICTION_FIXED_POINT, g.r);
            if (convex_error(&g) <= goal) {
                break;
            }
        }
        error = run_offer(run, g.u_r, g.r);
    }
    arena_release(run->arena, mark);
    return TDL_STATUS_OK;
}
