// Rows in single precision: packing, and products with vectors in double precision.
#include "friction/single_rows.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

#include <math.h>
#include <string.h>

bool single_rows_fit(const System* sys) {
    return sys->d == 3 && sys->n >= LARGE_ISLAND && sys->sweep_bodies && sys->side != NULL &&
           problem_whitened(sys->problem) && sys->problem->list == NULL &&
           sys->problem->nodal == NULL;
}

typedef struct Job {
    const SingleRows* single;
    System* sys;
    const double *r, *u;
} Job;

static int chunk_count(const System* sys) {
    return (sys->n + ROW_CHUNK - 1) / ROW_CHUNK;
}

static int chunk_end(const System* sys, int chunk) {
    return (chunk + 1) * ROW_CHUNK < sys->n ? (chunk + 1) * ROW_CHUNK : sys->n;
}

// With sigma in the rows, those of H and of Y are the same.
static void pack_chunk(void* user, int chunk, int worker) {
    const Job* job = user;
    const System* sys = job->sys;
    const TdlFrictionProblem* p = sys->problem;
    double scale = 1.0 / sqrt(sys->sigma);
    (void)worker;
    for (int i = chunk * ROW_CHUNK; i < chunk_end(sys, chunk); ++i) {
        float* to = job->single->rows + job->single->start[i];
        for (int s = 0; s < 2; ++s) {
            if (job->single->side[2 * i + s].count == 0) {
                continue;
            }
            Rows x = rows_of_h(p, 2 * sys->contact[i] + s);
            for (int k = 0; k < 3; ++k) {
                for (int j = 0; j < x.count; ++j) {
                    *to++ = (float)(scale * x.row[(ptrdiff_t)k * x.apart + j]);
                }
            }
        }
    }
}

TdlStatus single_rows_init(SingleRows* single, Arena* arena, System* sys) {
    const TdlFrictionProblem* p = sys->problem;
    size_t n = (size_t)sys->n, used = 0;
    single->start = ARENA_NEW(arena, size_t, n);
    single->side = ARENA_NEW(arena, SingleSide, 2 * n);
    single->b = ARENA_NEW(arena, double, 3 * n);
    if (!single->start || !single->side || !single->b) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < sys->n; ++i) {
        single->start[i] = used;
        for (int s = 0; s < 2; ++s) {
            int side = 2 * sys->contact[i] + s, body = p->body[side];
            SingleSide x = {0};
            if (body >= 0) {
                x = (SingleSide){p->dof_start[body] + p->side[side].first, p->side[side].count};
            }
            single->side[2 * i + s] = x;
            used += 3 * (size_t)x.count;
        }
    }
    single->rows = ARENA_NEW(arena, float, used);
    if (single->rows == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    Job job = {.single = single, .sys = sys};
    pool_run(sys->pool, chunk_count(sys), 1, pack_chunk, &job);
    return TDL_STATUS_OK;
}

#if defined(__AVX2__) && defined(__FMA__)
static inline __m256d wide(const float* x) {
    return _mm256_cvtps_pd(_mm_loadu_ps(x));
}

static inline double lane_sum(__m256d a) {
    __m128d low = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(low, _mm_unpackhi_pd(low, low)));
}

// out += the three rows times v
static inline void times(int m, const float* rows, const double* v, double* out) {
    const float *r1 = rows + m, *r2 = r1 + m;
    __m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0;
    int j = 0;
    for (; j + 4 <= m; j += 4) {
        __m256d x = _mm256_loadu_pd(v + j);
        s0 = _mm256_fmadd_pd(wide(rows + j), x, s0);
        s1 = _mm256_fmadd_pd(wide(r1 + j), x, s1);
        s2 = _mm256_fmadd_pd(wide(r2 + j), x, s2);
    }
    double sum[3] = {lane_sum(s0), lane_sum(s1), lane_sum(s2)};
    for (; j < m; ++j) {
        sum[0] += (double)rows[j] * v[j];
        sum[1] += (double)r1[j] * v[j];
        sum[2] += (double)r2[j] * v[j];
    }
    for (int k = 0; k < 3; ++k) {
        out[k] += sum[k];
    }
}

// v += rows' x
static inline void add(int m, const float* rows, const double* x, double* v) {
    const float *r1 = rows + m, *r2 = r1 + m;
    __m256d x0 = _mm256_set1_pd(x[0]), x1 = _mm256_set1_pd(x[1]), x2 = _mm256_set1_pd(x[2]);
    int j = 0;
    for (; j + 4 <= m; j += 4) {
        __m256d sum = _mm256_fmadd_pd(wide(rows + j), x0, _mm256_loadu_pd(v + j));
        sum = _mm256_fmadd_pd(wide(r1 + j), x1, sum);
        _mm256_storeu_pd(v + j, _mm256_fmadd_pd(wide(r2 + j), x2, sum));
    }
    for (; j < m; ++j) {
        v[j] += (double)rows[j] * x[0] + (double)r1[j] * x[1] + (double)r2[j] * x[2];
    }
}
#else
static inline void times(int m, const float* rows, const double* v, double* out) {
    for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < m; ++j) {
            out[k] += (double)rows[k * m + j] * v[j];
        }
    }
}

static inline void add(int m, const float* rows, const double* x, double* v) {
    for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < m; ++j) {
            v[j] += (double)rows[k * m + j] * x[k];
        }
    }
}
#endif

void single_rows_velocity(const SingleRows* single, const double* v, int i, double out[3]) {
    const float* rows = single->rows + single->start[i];
    const SingleSide* side = single->side + 2 * (size_t)i;
    memcpy(out, single->b + 3 * (size_t)i, 3 * sizeof(double));
    for (int s = 0; s < 2; rows += 3 * side[s].count, ++s) {
        times(side[s].count, rows, v + side[s].at, out);
    }
}

void single_rows_apply(const SingleRows* single, double* v, int i, const double dr[3]) {
    const float* rows = single->rows + single->start[i];
    const SingleSide* side = single->side + 2 * (size_t)i;
    if (dr[0] == 0.0 && dr[1] == 0.0 && dr[2] == 0.0) {
        return;
    }
    for (int s = 0; s < 2; rows += 3 * side[s].count, ++s) {
        add(side[s].count, rows, dr, v + side[s].at);
    }
}

// The rows of a side.
static inline const float* rows_of(const SingleRows* single, int s) {
    const float* rows = single->rows + single->start[s / 2];
    return s % 2 == 1 ? rows + 3 * single->side[s - 1].count : rows;
}

static void refresh_body(void* user, int index, int worker) {
    const Job* job = user;
    const SingleRows* single = job->single;
    System* sys = job->sys;
    int body = sys->bodies[index];
    (void)worker;
    memset(sys->v + sys->problem->dof_start[body], 0,
           (size_t)body_dofs(sys->problem, body) * sizeof(double));
    for (int e = sys->side_start[index]; e < sys->side_start[index + 1]; ++e) {
        int s = sys->side[e];
        add(single->side[s].count, rows_of(single, s), job->r + 3 * (size_t)(s / 2),
            sys->v + single->side[s].at);
    }
}

void single_rows_refresh(const SingleRows* single, System* sys, const double* r) {
    Job job = {.single = single, .sys = sys, .r = r};
    pool_run(sys->pool, sys->bodies_count, BODY_GRAIN, refresh_body, &job);
}

static void correct_chunk(void* user, int chunk, int worker) {
    const Job* job = user;
    const SingleRows* single = job->single;
    (void)worker;
    for (int i = chunk * ROW_CHUNK; i < chunk_end(job->sys, chunk); ++i) {
        double *b = single->b + 3 * (size_t)i, out[3];
        memset(b, 0, 3 * sizeof *b);
        single_rows_velocity(single, job->sys->v, i, out);
        for (int k = 0; k < 3; ++k) {
            b[k] = job->u[3 * i + k] - out[k];
        }
    }
}

void single_rows_correct(SingleRows* single, System* sys, const double* r, const double* u) {
    Job job = {.single = single, .sys = sys, .u = u};
    single_rows_refresh(single, sys, r);
    pool_run(sys->pool, chunk_count(sys), 1, correct_chunk, &job);
}
