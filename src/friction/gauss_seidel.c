// Nonlinear Gauss-Seidel: contacts are solved exactly one after the other.
//
// Through rows of W a visit costs the row's blocks; through bodies it costs the contact's own rows
// of H and Y and never touches W. Tasks of one phase share no body, so they are swept in parallel;
// what each has met is summed up in the order of the tasks, so the bits do not depend on the number
// of threads. The error met on the way is a byproduct and tells when to measure truly.
#include "friction/gauss_seidel.h"

#include "friction/error.h"
#include "friction/local.h"

#include <string.h>

// Sweeps over which the contraction is seen that relaxation is chosen by, and the most it may be:
// above, contacts that stick and slip by turns diverge.
enum { RELAX_WINDOW = 12 };
static const double OMEGA_MAX = 1.5;

static int task_count(const System* sys) {
    return sys->phases.count > 0 ? sys->phases.first_task[sys->phases.count] : 1;
}

TdlStatus sweeper_init(Sweeper* s, Run* run) {
    System* sys = run->sys;
    int size = prep_size(sys->d), tasks = task_count(sys);
    *s = (Sweeper){.run = run, .omega = 1.0};
    s->prep = ARENA_NEW(run->arena, double, (size_t)sys->n*(size_t)size);
    s->part = ARENA_NEW(run->arena, double, tasks);
    s->counts = ARENA_NEW(run->arena, long long, 2 * (size_t)tasks);
    if (s->prep == NULL || s->part == NULL || s->counts == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < sys->n; ++i) {
        const double* w = sys->diag + (size_t)i * (size_t)(sys->d * sys->d);
        double* prep = s->prep + (size_t)i * (size_t)size;
        if (sys->law[i] == LAW_ASSOCIATED) {
            local_prepare_associated(sys->d, w, prep);
        } else {
            local_prepare(sys->d, w, prep);
        }
    }
    return TDL_STATUS_OK;
}

// Solves contact i with velocity u (its own impulse included); r_i is replaced. Returns its part
// of the squared error.
static inline double visit(Sweeper* s, int d, int i, const double* u, double* r, double* dr,
                           long long* counts) {
    System* sys = s->run->sys;
    const double* w = sys->diag + (size_t)i * (size_t)(d * d);
    double* prep = s->prep + (size_t)i * (size_t)prep_size(d);
    double f[CONE_MAX], rest[CONE_MAX], next[CONE_MAX];
    error_map(sys->error_kind, d, sys->law[i], sys->mu[i], sys->rho, u, r, f);
    double square = 0.0;
    for (int k = 0; k < d; ++k) {
        square += f[k] * f[k];
        rest[k] = u[k];
        for (int c = 0; c < d; ++c) {
            rest[k] -= w[c * d + k] * r[c];
        }
        next[k] = r[k];
    }
    TdlFrictionLocal local = s->run->options->local;
    LocalResult result;
    if (d == 3 && local == TDL_FRICTION_LOCAL_SECULAR) {
        result = local_secular3(prep, sys->law[i], sys->mu[i], rest, next);
    } else {
        result = local_solve(local, d, w, prep, sys->law[i], sys->mu[i], rest, next, &counts[0]);
    }
    counts[1] += result == LOCAL_NONE;
    if (s->omega != 1.0) {
        double relaxed[CONE_MAX] = {0};
        for (int k = 0; k < d; ++k) {
            relaxed[k] = r[k] + s->omega * (next[k] - r[k]);
        }
        law_project(d, sys->law[i], sys->mu[i], relaxed, next);
    }
    for (int k = 0; k < d; ++k) {
        dr[k] = next[k] - r[k];
        r[k] = next[k];
    }
    return square;
}

static inline void sweep_rows(Sweeper* s, int d, int begin, int end, double* part,
                              long long* counts) {
    System* sys = s->run->sys;
    double sum = 0.0, u[CONE_MAX], dr[CONE_MAX];
    for (int i = begin; i < end; ++i) {
        double* r = s->r + (size_t)i * (size_t)d;
        if (s->single != NULL) {
            single_rows_velocity(s->single, sys->v, i, u);
        } else if (sys->sweep_bodies) {
            body_row_fetch(sys, i + 1);
            body_row_velocity(sys, i, u);
        } else {
            int e = sys->start[i], count = sys->start[i + 1] - e;
            const double* blocks = sys->blocks + (size_t)e * (size_t)(d * d);
            const double* b = sys->b + (size_t)i * (size_t)d;
            if (d == 3) {
                row_velocity3(blocks, sys->column + e, count, s->r, b, u);
            } else {
                row_velocity6(blocks, sys->column + e, count, s->r, b, u);
            }
        }
        sum += visit(s, d, i, u, r, dr, counts);
        if (s->single != NULL) {
            single_rows_apply(s->single, sys->v, i, dr);
        } else if (sys->sweep_bodies) {
            body_row_apply(sys, i, dr);
        }
    }
    *part = sum;
}

static void sweep_task(void* user, int index, int worker) {
    Sweeper* s = user;
    const System* sys = s->run->sys;
    int task = s->first_task + index;
    bool whole = sys->phases.count == 0;
    int begin = whole ? 0 : sys->phases.start[task];
    int end = whole ? sys->n : sys->phases.start[task + 1];
    long long* counts = s->counts + 2 * (size_t)task;
    (void)worker;
    counts[0] = counts[1] = 0;
    if (sys->d == 3) {
        sweep_rows(s, 3, begin, end, s->part + task, counts);
    } else {
        sweep_rows(s, 6, begin, end, s->part + task, counts);
    }
}

double sweeper_sweep(Sweeper* s, double* r) {
    System* sys = s->run->sys;
    int tasks = task_count(sys);
    s->r = r;
    s->first_task = 0;
    for (int phase = 0; phase < sys->phases.count; ++phase) {
        s->first_task = sys->phases.first_task[phase];
        pool_run(sys->pool, sys->phases.first_task[phase + 1] - s->first_task, 1, sweep_task, s);
    }
    if (sys->phases.count == 0) {
        sweep_task(s, 0, 0);
    }
    double sum = 0.0;
    for (int k = 0; k < tasks; ++k) {
        sum += s->part[k];
        s->run->failsafe += s->counts[2 * k];
        s->run->unsolvable += s->counts[2 * k + 1];
    }
    return sqrt(sum);
}

// Over-relaxation chosen by itself: the observed contraction q of plain sweeps suggests the
// omega = 2 / (1 + sqrt(1 - q)) of linear theory, taken by half; whenever the error grows over a
// window, omega goes back towards one.
static double adapt_omega(double omega, double before, double now) {
    double q = pow(now / before, 1.0 / RELAX_WINDOW);
    if (!(q < 1.0)) {
        return 1.0;
    }
    if (omega > 1.0) {
        return omega;
    }
    double optimal = 2.0 / (1.0 + sqrt(1.0 - q));
    return fmin(1.0 + 0.5 * (optimal - 1.0), OMEGA_MAX);
}

TdlStatus run_gauss_seidel(Run* run) {
    System* sys = run->sys;
    size_t size = run_size(run);
    ArenaMark mark = arena_mark(run->arena);
    Sweeper sweeper;
    double* r = ARENA_NEW(run->arena, double, size);
    double* u = ARENA_NEW(run->arena, double, size);
    TdlStatus status = sweeper_init(&sweeper, run);
    if (status != TDL_STATUS_OK || r == NULL || u == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(r, run->best, size * sizeof(double));
    double fixed = run->options->relaxation, window = INFINITY;
    sweeper.omega = fixed > 0.0 ? fixed : 1.0;
    if (sys->sweep_bodies) {
        system_refresh_bodies(sys, r);
    }
    double work = run_sweep_work(run);
    bool last = run_spent(run, work);
    int since = 0;
    for (int k = 0; k < run->limit && !last && !run_done(run); ++k) {
        double met = sweeper_sweep(&sweeper, r);
        run_count(run, TDL_FRICTION_GAUSS_SEIDEL, r);
        run_spend(run, work);
        last = run_spent(run, work) || k + 1 == run->limit;
        if (met <= 2.0 * sys->target || ++since >= MEASURE_EVERY || last) {
            since = 0;
            system_velocity(sys, r, u); // also renews v, so that rounding does not pile up
            if (sys->sweep_bodies && sys->start != NULL) {
                system_refresh_bodies(sys, r);
            }
            run_offer(run, u, r);
        }
        if (fixed == 0.0 && k % RELAX_WINDOW == RELAX_WINDOW - 1) {
            sweeper.omega = isinf(window) ? 1.0 : adapt_omega(sweeper.omega, window, met);
            window = met;
        }
    }
    arena_release(run->arena, mark);
    return TDL_STATUS_OK;
}
