// Gauss-Seidel with Anderson acceleration.
//
// A sweep is a fixed-point map g. From the last m differences of iterates and residuals
// f = g(r) - r the accelerated point g - dG gamma is formed, gamma minimising |f - dF gamma|
// through a Gram matrix that is updated, not rebuilt: m dot products a sweep. Safeguards: a point
// whose residual grows beyond a multiple of the last good one is thrown away with the whole memory,
// and the plain iterate taken instead; a Gram matrix that is numerically singular drops its oldest
// columns. friction.md section 4.2
#include "friction/gauss_seidel.h"

#include <string.h>

enum { MAX_MEMORY = 32 };
// Contacts whose part of the vectors is handled at once, by one thread: their parts of the columns
// stay in its cache, and sums are taken over them in their order.
enum { CHUNK = 512 };
// Growth of the residual, as a factor, that rejects an accelerated point; less is usual on the way.
static const double MAX_GROWTH = 4.0;
// Relative Tikhonov term of the Gram matrix: keeps gamma bounded, far below what matters.
static const double TIKHONOV = 1.0e-13;

typedef struct Memory {
    int capacity, count, next; // ring of columns
    size_t size;
    double* df; // [capacity size]
    double* dg; // [capacity size]
    double gram[MAX_MEMORY * MAX_MEMORY];
    double rhs[MAX_MEMORY]; // f times the columns
} Memory;

typedef struct Accelerator {
    Memory mem;
    Sweeper sweeper;
    SingleRows single; // where the sweeper uses it
    Run* run;
    double *r, *g, *f, *u;
    double *g_last, *f_last;  // of the last sweep that did no harm
    double* sums;             // [chunks][2 MAX_MEMORY] of a pass
    double gamma[MAX_MEMORY]; // of the point to come
    double good;              // residual of the last accepted point
} Accelerator;

// Runs a pass over all chunks.
static void each_chunk(Accelerator* a, PoolFn pass) {
    pool_run(a->run->sys->pool, (a->run->sys->n + CHUNK - 1) / CHUNK, 1, pass, a);
}

// The sum over all chunks of what a pass has left at `place`.
static double sum_of(const Accelerator* a, int place) {
    int chunks = (a->run->sys->n + CHUNK - 1) / CHUNK;
    double sum = 0.0;
    for (int k = 0; k < chunks; ++k) {
        sum += a->sums[2 * MAX_MEMORY * (size_t)k + (size_t)place];
    }
    return sum;
}

typedef struct Range {
    size_t from, to;
} Range;

static Range range_of(const Accelerator* a, int chunk) {
    size_t from = CHUNK * (size_t)chunk * (size_t)a->run->sys->d;
    size_t to = from + CHUNK * (size_t)a->run->sys->d;
    return (Range){from, to < a->mem.size ? to : a->mem.size};
}

// f <- g - r, and its square
static void pass_residual(void* user, int chunk, int worker) {
    Accelerator* a = user;
    Range x = range_of(a, chunk);
    double square = 0.0;
    (void)worker;
    for (size_t k = x.from; k < x.to; ++k) {
        a->f[k] = a->g[k] - a->r[k];
        square += a->f[k] * a->f[k];
    }
    a->sums[2 * MAX_MEMORY * (size_t)chunk] = square;
}

// column' x and column' y, the column read once; sums of so many lanes do not wait for each other
enum { LANES = 8 };
static void dot_both(size_t size, const double* column, const double* x, const double* y,
                     double out[2]) {
    double a[LANES] = {0}, b[LANES] = {0};
    size_t k = 0;
    for (; k + LANES <= size; k += LANES) {
        for (size_t l = 0; l < LANES; ++l) {
            a[l] += column[k + l] * x[k + l];
            b[l] += column[k + l] * y[k + l];
        }
    }
    for (; k < size; ++k) {
        a[0] += column[k] * x[k];
        b[0] += column[k] * y[k];
    }
    out[0] = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
    out[1] = ((b[0] + b[1]) + (b[2] + b[3])) + ((b[4] + b[5]) + (b[6] + b[7]));
}

// The new column of differences, times all columns; and f times these.
static void pass_column(void* user, int chunk, int worker) {
    Accelerator* a = user;
    Memory* mem = &a->mem;
    Range x = range_of(a, chunk);
    double* df = mem->df + (size_t)mem->next * mem->size;
    double* dg = mem->dg + (size_t)mem->next * mem->size;
    (void)worker;
    for (size_t k = x.from; k < x.to; ++k) {
        df[k] = a->f[k] - a->f_last[k];
        dg[k] = a->g[k] - a->g_last[k];
    }
    int count = mem->count < mem->capacity ? mem->count + 1 : mem->capacity;
    for (int j = 0; j < count; ++j) {
        dot_both(x.to - x.from, mem->df + (size_t)j * mem->size + x.from, df + x.from,
                 a->f + x.from, a->sums + 2 * MAX_MEMORY * (size_t)chunk + 2 * (size_t)j);
    }
}

// stores a column of differences, renews its row of the Gram matrix, and f times all columns
static void push_column(Accelerator* a) {
    Memory* mem = &a->mem;
    int at = mem->next;
    each_chunk(a, pass_column);
    mem->next = (at + 1) % mem->capacity;
    mem->count = mem->count < mem->capacity ? mem->count + 1 : mem->capacity;
    for (int j = 0; j < mem->count; ++j) {
        mem->gram[at * MAX_MEMORY + j] = mem->gram[j * MAX_MEMORY + at] = sum_of(a, 2 * j);
        mem->rhs[j] = sum_of(a, 2 * j + 1);
    }
}

// Solves the regularised normal equations by Cholesky; false when not positive definite.
static bool solve_gram(const Memory* mem, const double* rhs, double* gamma) {
    int m = mem->count;
    double l[MAX_MEMORY][MAX_MEMORY];
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = mem->gram[i * MAX_MEMORY + j];
            sum += i == j ? TIKHONOV * sum : 0.0;
            for (int k = 0; k < j; ++k) {
                sum -= l[i][k] * l[j][k];
            }
            if (i == j) {
                if (!(sum > 1.0e-15 * mem->gram[i * MAX_MEMORY + i])) {
                    return false;
                }
                l[i][i] = sqrt(sum);
            } else {
                l[i][j] = sum / l[j][j];
            }
        }
    }
    for (int i = 0; i < m; ++i) {
        double sum = rhs[i];
        for (int k = 0; k < i; ++k) {
            sum -= l[i][k] * gamma[k];
        }
        gamma[i] = sum / l[i][i];
    }
    for (int i = m - 1; i >= 0; --i) {
        for (int k = i + 1; k < m; ++k) {
            gamma[i] -= l[k][i] * gamma[k];
        }
        gamma[i] /= l[i][i];
    }
    return true;
}

// r <- g - dG gamma, put back into the admissible sets, which extrapolation leaves
static void pass_point(void* user, int chunk, int worker) {
    Accelerator* a = user;
    const System* sys = a->run->sys;
    Range x = range_of(a, chunk);
    size_t d = (size_t)sys->d, bytes = (x.to - x.from) * sizeof(double);
    (void)worker;
    memcpy(a->r + x.from, a->g + x.from, bytes);
    for (int j = 0; j < a->mem.count; ++j) {
        const double* dg = a->mem.dg + (size_t)j * a->mem.size;
        for (size_t k = x.from; k < x.to; ++k) {
            a->r[k] -= a->gamma[j] * dg[k];
        }
    }
    for (size_t i = x.from / d; i < x.to / d; ++i) {
        law_project(sys->d, sys->law[i], sys->mu[i], a->r + i * d, a->r + i * d);
    }
}

static TdlStatus accelerator_init(Accelerator* a, Run* run) {
    size_t size = run_size(run);
    int chunks = run->sys->n / CHUNK + 1;
    memset(a, 0, sizeof *a);
    a->run = run;
    a->sums = ARENA_NEW(run->arena, double, 2 * MAX_MEMORY * (size_t)chunks);
    a->mem.capacity = run->options->anderson_memory;
    a->mem.size = size;
    a->mem.df = ARENA_NEW(run->arena, double, size*(size_t)a->mem.capacity);
    a->mem.dg = ARENA_NEW(run->arena, double, size*(size_t)a->mem.capacity);
    double** arrays[] = {&a->r, &a->g, &a->f, &a->g_last, &a->f_last, &a->u};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) {
        *arrays[k] = ARENA_NEW(run->arena, double, size);
        if (*arrays[k] == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    if (a->mem.df == NULL || a->mem.dg == NULL || a->sums == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    a->good = INFINITY;
    memcpy(a->r, run->best, size * sizeof(double));
    TdlStatus status = sweeper_init(&a->sweeper, run);
    if (status != TDL_STATUS_OK || !single_rows_fit(run->sys)) {
        return status;
    }
    status = single_rows_init(&a->single, run->arena, run->sys);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    a->sweeper.single = &a->single;
    system_velocity(run->sys, a->r, a->u);
    single_rows_correct(&a->single, run->sys, a->r, a->u);
    return TDL_STATUS_OK;
}

static void swap(double** a, double** b) {
    double* other = *a;
    *a = *b;
    *b = other;
}

// One sweep and the next point; what came of the sweep is the last then. Returns the error met.
static double accelerate(Accelerator* a) {
    Run* run = a->run;
    size_t size = a->mem.size;
    memcpy(a->g, a->r, size * sizeof(double));
    if (a->sweeper.single != NULL) {
        single_rows_refresh(&a->single, run->sys, a->g);
    } else if (run->sys->sweep_bodies) {
        system_refresh_bodies(run->sys, a->g);
    }
    double met = sweeper_sweep(&a->sweeper, a->g);
    each_chunk(a, pass_residual);
    double residual = sqrt(sum_of(a, 0));
    if (residual > MAX_GROWTH * a->good && a->mem.count > 0) {
        // the extrapolation did harm: back to the last plain iterate, and forget
        memcpy(a->r, a->g_last, size * sizeof(double));
        a->mem.count = a->mem.next = 0;
        a->good = INFINITY;
        return met;
    }
    if (isfinite(a->good)) {
        push_column(a);
    }
    a->good = residual;
    if (!solve_gram(&a->mem, a->mem.rhs, a->gamma)) {
        a->mem.count = a->mem.next = 0;
    }
    each_chunk(a, pass_point);
    swap(&a->f, &a->f_last);
    swap(&a->g, &a->g_last);
    return met;
}

// the one-contact solve counts as 300
double run_sweep_work(const Run* run) {
    const System* sys = run->sys;
    double d = sys->d, blocks = sys->block_count;
    if (sys->sweep_bodies) {
        return sys->n * (600.0 + 6.0 * d * 40.0);
    }
    return d * d * blocks + sys->n * (300.0 + 8.0 * d * run->options->anderson_memory);
}

// n^3 when dense, bounded by the couplings met twice over; or over the coordinates, where fewer
double run_factor_work(const Run* run) {
    const System* sys = run->sys;
    double d = sys->d, per_row = (double)sys->block_count / sys->n;
    double width = fmin(sys->n, 2.0 * per_row), m = system_coordinates(sys);
    double contacts = sys->n * width * width * d * d * d, coordinates = m * m * m;
    return m > 0.0 ? fmin(contacts, coordinates) : contacts;
}

TdlStatus run_anderson(Run* run) {
    ArenaMark mark = arena_mark(run->arena);
    Accelerator a;
    double work = run_sweep_work(run);
    bool last = false;
    if (run_spent(run, 2.0 * work)) { // getting ready costs as much as a sweep
        return TDL_STATUS_OK;
    }
    if (accelerator_init(&a, run) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    run_spend(run, work);
    for (int k = 0; k < run->limit && !last && !run_done(run); ++k) {
        double met = accelerate(&a);
        run_count(run, TDL_FRICTION_ANDERSON, a.g_last);
        run_spend(run, work);
        last = run_spent(run, work) || k + 1 == run->limit;
        if (met <= 2.0 * run->sys->target || k % MEASURE_EVERY == MEASURE_EVERY - 1 || last) {
            system_velocity(run->sys, a.g_last, a.u);
            run_offer(run, a.u, a.g_last);
            if (a.sweeper.single != NULL) {
                single_rows_correct(&a.single, run->sys, a.g_last, a.u);
            }
        }
    }
    arena_release(run->arena, mark);
    return TDL_STATUS_OK;
}
