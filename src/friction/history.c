// What iterations come to, for whoever watches a solve: each iterate is measured beside the solve,
// in memory of its own, so that the solve takes the same course with the same bits.
#include "friction/history.h"

#include "base/clock.h"
#include "friction/exact.h"

#include <string.h>

TdlStatus history_begin(History* h, Arena* arena, const TdlFrictionProblem* p,
                        const TdlFrictionOptions* options, double begin) {
    *h = (History){.watch = options->watch, .user = options->watch_user, .begin = begin};
    h->unit = options->relative && p->q_norm > 0.0 ? 1.0 / p->q_norm : 1.0;
    h->mode = ARENA_NEW(arena, unsigned char, p->n);
    h->u = ARENA_NEW(arena, double, (size_t)p->n*(size_t)p->d);
    h->v = ARENA_NEW(arena, double, p->dof_count);
    if (h->mode == NULL || h->u == NULL || h->v == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(h->mode, 0, (size_t)p->n);
    return TDL_STATUS_OK;
}

enum { MODE_OPEN = 1, MODE_STICKS, MODE_SLIDES };

// By what the projection of (F.9) does to r - u~, without units.
static unsigned char mode_of(int d, ContactLaw law, double mu, const double* u, const double* r) {
    double x[CONE_MAX] = {0};
    for (int k = 0; k < d; ++k) {
        x[k] = r[k] - u[k];
    }
    if (law == LAW_BILATERAL) {
        return MODE_STICKS;
    }
    if (!law_has_cone(law)) {
        return !(x[0] > 0.0) ? MODE_OPEN : law == LAW_ROUGH ? MODE_STICKS : MODE_SLIDES;
    }
    x[0] -= shift_of(d, law, mu, u);
    double t = tangent_norm(d, x);
    return mu * t <= -x[0] ? MODE_OPEN : t <= mu * x[0] ? MODE_STICKS : MODE_SLIDES;
}

// Contacts that are in another mode than when they were last seen.
static int count_changes(History* h, const System* sys, const double* r) {
    int changed = 0;
    for (int i = 0; i < sys->n; ++i) {
        unsigned char* last = &h->mode[sys->contact[i]];
        unsigned char mode =
            mode_of(sys->d, sys->law[i], sys->mu[i], h->u + i * sys->d, r + i * sys->d);
        changed += *last != 0 && *last != mode;
        *last = mode;
    }
    return changed;
}

void history_tell(const Run* run, TdlFrictionSolverKind solver, const double* r) {
    History* h = run->history;
    double now = clock_now(), error = run->error;
    System look = *run->sys;
    look.v = h->v;
    int changed = 0;
    if (r != NULL) {
        system_velocity(&look, r, h->u);
        error = system_error(&look, h->u, r);
        if (exact_matters(&look, error, exact_rounding(&look, r))) {
            ExactView view = exact_view(&look);
            error = exact_error(&view, run->arena, r);
        }
        changed = count_changes(h, &look, r);
    }
    TdlFrictionIterate iterate = {.island = h->island,
                                  .iteration = run->iterations,
                                  .stage = run->stage,
                                  .solver = solver,
                                  .contact_count = look.n,
                                  .error = error * look.factor * h->unit,
                                  .changed = changed,
                                  .seconds = now - h->begin - h->spent};
    h->watch(h->user, &iterate);
    h->spent += clock_now() - now;
}
