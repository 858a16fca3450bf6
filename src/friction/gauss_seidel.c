// Nonlinear Gauss-Seidel: contacts are solved exactly one after the other.
//
// Through rows of W a visit costs the row's blocks; through bodies it costs the contact's own rows
// of H and Y and never touches W. Contacts of one colour share no body, so they are swept in
// parallel; sums are taken over fixed chunks in fixed order, so the bits do not depend on the
// number of threads. The error met on the way is a byproduct and tells when to measure truly.
#include "friction/gauss_seidel.h"

#include "friction/error.h"
#include "friction/local.h"

#include <string.h>

enum { CHUNK = 64, MEASURE_EVERY = 25 };
// Sweeps after which the relaxation is judged, and its bounds.
enum { RELAX_WINDOW = 12 };
static const double OMEGA_MAX = 1.5;

TdlStatus sweeper_init(Sweeper* s, Run* run) {
    System* sys = run->sys;
    int size = prep_size(sys->d), colours = sys->colour_count > 0 ? sys->colour_count : 1;
    *s = (Sweeper){.run = run, .omega = 1.0};
    s->chunk_count = sys->n / CHUNK + colours + 1;
    s->prep = ARENA_NEW(run->arena, double, (size_t)sys->n*(size_t)size);
    s->part = ARENA_NEW(run->arena, double, s->chunk_count);
    s->counts = ARENA_NEW(run->arena, long long, 2 * (size_t)s->chunk_count);
    if (s->prep == NULL || s->part == NULL || s->counts == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < sys->n; ++i) {
        local_prepare(sys->d, sys->diag + (size_t)i * (size_t)(sys->d * sys->d),
                      s->prep + (size_t)i * (size_t)size);
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
        if (sys->sweep_bodies) {
            body_row_fetch(sys, i + 1);
            body_row_velocity(sys, i, u);
        } else {
            int e = sys->start[i], count = sys->start[i + 1] - e;
            const double* blocks = sys->blocks + (size_t)e * (size_t)(d * d);
            const double* b = sys->b + (size_t)i * (size_t)d;
            if (d == 3) {
                row_velocity3(blocks, sys->column + e, count, s->r, b, u);
            } else {
                row_velocity_scalar(d, blocks, sys->column + e, count, s->r, b, u);
            }
        }
        sum += visit(s, d, i, u, r, dr, counts);
        if (sys->sweep_bodies) {
            body_row_apply(sys, i, dr);
        }
    }
    *part = sum;
}

static void sweep_chunk(void* user, int chunk, int worker) {
    Sweeper* s = user;
    (void)worker;
    int begin = s->begin + chunk * CHUNK, end = begin + CHUNK < s->end ? begin + CHUNK : s->end;
    long long* counts = s->counts + 2 * (size_t)(s->first_chunk + chunk);
    double* part = s->part + s->first_chunk + chunk;
    counts[0] = counts[1] = 0;
    if (s->run->sys->d == 3) {
        sweep_rows(s, 3, begin, end, part, counts);
    } else {
        sweep_rows(s, 6, begin, end, part, counts);
    }
}

double sweeper_sweep(Sweeper* s, double* r) {
    System* sys = s->run->sys;
    int colours = sys->colour_count > 0 ? sys->colour_count : 1;
    s->r = r;
    s->first_chunk = 0;
    for (int c = 0; c < colours; ++c) {
        s->begin = sys->colour_count > 0 ? sys->colour_start[c] : 0;
        s->end = sys->colour_count > 0 ? sys->colour_start[c + 1] : sys->n;
        int chunks = (s->end - s->begin + CHUNK - 1) / CHUNK;
        if (sys->pool != NULL && sys->colour_count > 0) {
            pool_run(sys->pool, chunks, 1, sweep_chunk, s);
        } else {
            for (int k = 0; k < chunks; ++k) {
                sweep_chunk(s, k, 0);
            }
        }
        s->first_chunk += chunks;
    }
    double sum = 0.0;
    for (int k = 0; k < s->first_chunk; ++k) {
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
    int since = 0;
    for (int k = 0; k < run->limit && !run_done(run); ++k) {
        double met = sweeper_sweep(&sweeper, r);
        ++run->iterations;
        if (met <= 2.0 * sys->target || ++since >= MEASURE_EVERY || k + 1 == run->limit) {
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
