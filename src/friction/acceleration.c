// Anderson acceleration: of the last points that combination of which the residual is least.
//
// A column of differences costs one pass with all of them, the next point another. Columns are kept
// in single precision, which halves what is read: they only say where to go on, and what a point is
// worth is measured there. A point whose residual grew beyond a multiple of the last is given up
// for the plain iterate before it, and all columns with it.
#include "friction/acceleration.h"

#include <math.h>
#include <string.h>

// Doubles handled at once by one thread; sums are taken over chunks in their order.
enum { CHUNK = 4096, FEW_CHUNKS = 4 };
// Of a chunk: two for each column, and that of the residual.
enum { SUMS = 2 * ACCELERATION_MOST + 1, RESIDUAL = SUMS - 1 };
// Growth of the residual, as a factor, that rejects an accelerated point; less is usual on the way.
static const double MAX_GROWTH = 4.0;
// Relative Tikhonov term of the Gram matrix: keeps gamma bounded, far below what matters.
static const double TIKHONOV = 1.0e-13;
// Pivots below this part of their diagonal are rounding.
static const double LEAST_PIVOT = 1.0e-15;

TdlStatus acceleration_init(Acceleration* m, Arena* arena, Pool* pool, size_t size, int capacity) {
    *m = (Acceleration){.pool = pool, .size = size, .capacity = capacity, .good = INFINITY};
    m->df = ARENA_NEW(arena, float, size*(size_t)capacity);
    m->dg = ARENA_NEW(arena, float, size*(size_t)capacity);
    m->f = ARENA_NEW(arena, double, size);
    m->f_last = ARENA_NEW(arena, double, size);
    m->g_last = ARENA_NEW(arena, double, size);
    m->sums = ARENA_NEW(arena, double, SUMS*(size / CHUNK + 1));
    bool all = m->df && m->dg && m->f && m->f_last && m->g_last && m->sums;
    return all ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

void acceleration_forget(Acceleration* m) {
    m->count = m->next = 0;
    m->good = INFINITY;
}

// --- passes over chunks --------------------------------------------------------------------------

static int chunk_count(const Acceleration* m) {
    return (int)((m->size + CHUNK - 1) / CHUNK);
}

// Few chunks are done sooner than others are woken.
static void each_chunk(Acceleration* m, PoolFn pass) {
    pool_run(chunk_count(m) < FEW_CHUNKS ? NULL : m->pool, chunk_count(m), 1, pass, m);
}

static size_t chunk_end(const Acceleration* m, int chunk) {
    size_t end = CHUNK * ((size_t)chunk + 1);
    return end < m->size ? end : m->size;
}

static double* chunk_sums(const Acceleration* m, int chunk) {
    return m->sums + SUMS * (size_t)chunk;
}

static double sum_of(const Acceleration* m, int place) {
    double sum = 0.0;
    for (int k = 0; k < chunk_count(m); ++k) {
        sum += chunk_sums(m, k)[place];
    }
    return sum;
}

// column' x and column' y, in lanes that do not wait for each other
enum { LANES = 8 };
static void dot_both(size_t size, const float* column, const float* x, const double* y,
                     double out[2]) {
    double a[LANES] = {0}, b[LANES] = {0};
    size_t k = 0;
    for (; k + LANES <= size; k += LANES) {
        for (size_t l = 0; l < LANES; ++l) {
            a[l] += (double)column[k + l] * (double)x[k + l];
            b[l] += (double)column[k + l] * y[k + l];
        }
    }
    for (; k < size; ++k) {
        a[0] += (double)column[k] * (double)x[k];
        b[0] += (double)column[k] * y[k];
    }
    out[0] = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
    out[1] = ((b[0] + b[1]) + (b[2] + b[3])) + ((b[4] + b[5]) + (b[6] + b[7]));
}

// f <- g - r and its square
static double take_residual(size_t size, const double* g, const double* r, double* f) {
    double a[LANES] = {0};
    size_t k = 0;
    for (; k + LANES <= size; k += LANES) {
        for (size_t l = 0; l < LANES; ++l) {
            f[k + l] = g[k + l] - r[k + l];
            a[l] += f[k + l] * f[k + l];
        }
    }
    for (; k < size; ++k) {
        f[k] = g[k] - r[k];
        a[0] += f[k] * f[k];
    }
    return ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
}

static void take_difference(size_t size, const double* x, const double* before, float* out) {
    for (size_t k = 0; k < size; ++k) {
        out[k] = (float)(x[k] - before[k]);
    }
}

// The residual; the column that it makes, times all columns; and f times these.
static void pass_column(void* user, int chunk, int worker) {
    Acceleration* m = user;
    size_t from = CHUNK * (size_t)chunk, end = chunk_end(m, chunk);
    size_t column = (size_t)m->next * m->size;
    float *df = m->df + column, *dg = m->dg + column;
    double* sums = chunk_sums(m, chunk);
    (void)worker;
    sums[RESIDUAL] = take_residual(end - from, m->g + from, m->r + from, m->f + from);
    if (!isfinite(m->good)) {
        return; // the first point
    }
    take_difference(end - from, m->f + from, m->f_last + from, df + from);
    take_difference(end - from, m->g + from, m->g_last + from, dg + from);
    int count = m->count < m->capacity ? m->count + 1 : m->capacity;
    for (int j = 0; j < count; ++j) {
        dot_both(end - from, m->df + (size_t)j * m->size + from, df + from, m->f + from,
                 sums + (ptrdiff_t)2 * j);
    }
}

static void subtract(size_t size, double by, const float* column, double* r) {
    for (size_t k = 0; k < size; ++k) {
        r[k] -= by * (double)column[k];
    }
}

// r <- g - dG gamma
static void pass_point(void* user, int chunk, int worker) {
    Acceleration* m = user;
    size_t from = CHUNK * (size_t)chunk, end = chunk_end(m, chunk);
    (void)worker;
    memcpy(m->r + from, m->g + from, (end - from) * sizeof *m->r);
    memcpy(m->g_last + from, m->g + from, (end - from) * sizeof *m->r);
    for (int j = 0; j < m->count; ++j) {
        subtract(end - from, m->gamma[j], m->dg + (size_t)j * m->size + from, m->r + from);
    }
}

// --- the combination -----------------------------------------------------------------------------

static void push_column(Acceleration* m) {
    int at = m->next;
    m->next = (at + 1) % m->capacity;
    m->count = m->count < m->capacity ? m->count + 1 : m->capacity;
    for (int j = 0; j < m->count; ++j) {
        m->gram[at * ACCELERATION_MOST + j] = m->gram[j * ACCELERATION_MOST + at] =
            sum_of(m, 2 * j);
        m->rhs[j] = sum_of(m, 2 * j + 1);
    }
}

// L of the regularised Gram matrix; false where it is numerically singular.
static bool factor_gram(const Acceleration* m, double l[ACCELERATION_MOST][ACCELERATION_MOST]) {
    for (int i = 0; i < m->count; ++i) {
        double own = m->gram[i * ACCELERATION_MOST + i];
        for (int j = 0; j <= i; ++j) {
            double sum = m->gram[i * ACCELERATION_MOST + j] + (i == j ? TIKHONOV * own : 0.0);
            for (int k = 0; k < j; ++k) {
                sum -= l[i][k] * l[j][k];
            }
            if (i == j && !(sum > LEAST_PIVOT * own)) {
                return false;
            }
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    }
    return true;
}

// gamma that minimises |f - dF gamma|
static bool find_gamma(Acceleration* m) {
    double l[ACCELERATION_MOST][ACCELERATION_MOST];
    if (!factor_gram(m, l)) {
        return false;
    }
    for (int i = 0; i < m->count; ++i) {
        m->gamma[i] = m->rhs[i];
        for (int k = 0; k < i; ++k) {
            m->gamma[i] -= l[i][k] * m->gamma[k];
        }
        m->gamma[i] /= l[i][i];
    }
    for (int i = m->count - 1; i >= 0; --i) {
        for (int k = i + 1; k < m->count; ++k) {
            m->gamma[i] -= l[k][i] * m->gamma[k];
        }
        m->gamma[i] /= l[i][i];
    }
    return true;
}

bool acceleration_next(Acceleration* m, double* r, double* g) {
    m->r = r;
    m->g = g;
    each_chunk(m, pass_column);
    double residual = sqrt(sum_of(m, RESIDUAL));
    if (residual > MAX_GROWTH * m->good && m->count > 0) {
        memcpy(r, m->g_last, m->size * sizeof *r);
        acceleration_forget(m);
        return false;
    }
    if (isfinite(m->good)) {
        push_column(m);
    }
    m->good = residual;
    if (!find_gamma(m)) {
        m->count = m->next = 0;
    }
    each_chunk(m, pass_point);
    double* spare = m->f;
    m->f = m->f_last;
    m->f_last = spare;
    return true;
}
