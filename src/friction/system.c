// Islands made ready for the solvers, and the products W r in both forms.
#include "friction/system.h"

#include "friction/listed.h"

#include "friction/error.h"
#include "friction/nodal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

// Multiplications for each number of W that is formed from bodies: rows of H and Y are some tens
// long.
static const double FORM_EACH = 30.0;

static TdlStatus allocate(System* sys, Arena* arena, int n, int d) {
    size_t nd = (size_t)n * (size_t)d;
    sys->law = ARENA_NEW(arena, ContactLaw, n);
    sys->mu = ARENA_NEW(arena, double, n);
    sys->b = ARENA_NEW(arena, double, nd);
    sys->diag = ARENA_NEW(arena, double, nd*(size_t)d);
    bool good = sys->law && sys->mu && sys->b && sys->diag;
    return good ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

// One block of a row, before it is sorted.
typedef struct Source {
    int column, block;
} Source;

static int by_column(const void* a, const void* b) {
    const Source *x = a, *y = b;
    return (x->column > y->column) - (x->column < y->column);
}

// The sources of one row with local columns, ascending.
static int list_row(const TdlFrictionProblem* p, int g, const int* local_of, Source* list) {
    int count = 0;
    bool sorted = true;
    for (int e = p->start[g]; e < p->start[g + 1]; ++e) {
        list[count] = (Source){local_of[p->column[e]], e};
        sorted = sorted && (count == 0 || list[count - 1].column < list[count].column);
        ++count;
    }
    if (!sorted) {
        qsort(list, (size_t)count, sizeof *list, by_column);
    }
    return count;
}

// copies the rows of an explicit problem with local column numbers
static TdlStatus copy_rows(System* sys, Arena* arena, const int* local_of) {
    const TdlFrictionProblem* p = sys->problem;
    int d2 = sys->d * sys->d, count = 0;
    for (int i = 0; i < sys->n; ++i) {
        count += p->start[sys->contact[i] + 1] - p->start[sys->contact[i]];
    }
    Source* list = ARENA_NEW(arena, Source, sys->n);
    sys->start = ARENA_NEW(arena, int, (size_t)sys->n + 1);
    sys->column = ARENA_NEW(arena, int, count);
    sys->blocks = ARENA_NEW(arena, double, (size_t)count*(size_t)d2 + 4);
    if (!list || !sys->start || !sys->column || !sys->blocks) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(sys->blocks + (size_t)count * (size_t)d2, 0, 4 * sizeof(double));
    sys->block_count = count;
    int k = 0;
    for (int i = 0; i < sys->n; ++i) {
        int found = list_row(p, sys->contact[i], local_of, list);
        sys->start[i] = k;
        for (int e = 0; e < found; ++e, ++k) {
            sys->column[k] = list[e].column;
            memcpy(sys->blocks + (size_t)k * (size_t)d2,
                   p->blocks + (size_t)list[e].block * (size_t)d2, (size_t)d2 * sizeof(double));
        }
    }
    sys->start[sys->n] = k;
    return TDL_STATUS_OK;
}

static void copy_diagonal(System* sys) {
    const TdlFrictionProblem* p = sys->problem;
    int d2 = sys->d * sys->d;
    memset(sys->diag, 0, (size_t)sys->n * (size_t)d2 * sizeof(double));
    for (int i = 0; i < sys->n; ++i) {
        double* diag = sys->diag + (size_t)i * (size_t)d2;
        if (sys->start == NULL) {
            problem_add_coupling(p, sys->contact[i], sys->contact[i], diag);
            // H Y' is symmetric but for rounding
            for (int r = 0; r < sys->d; ++r) {
                for (int c = 0; c < r; ++c) {
                    double mean = 0.5 * (diag[r * sys->d + c] + diag[c * sys->d + r]);
                    diag[r * sys->d + c] = diag[c * sys->d + r] = mean;
                }
            }
            continue;
        }
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            if (sys->column[e] == i) {
                memcpy(diag, sys->blocks + (size_t)e * (size_t)d2, (size_t)d2 * sizeof(double));
            }
        }
    }
}

// A power of two near x: what is divided by it keeps its digits. Of large impulses the last ones
// matter, and to round them once more on their way out would show as velocities.
static double near_power(double x) {
    int exponent;
    double part = frexp(x, &exponent);
    return ldexp(1.0, part < M_SQRT1_2 ? exponent - 1 : exponent);
}

// the units of the island, then everything divided by them
static void make_unit_free(System* sys) {
    size_t d2 = (size_t)(sys->d * sys->d), nd = (size_t)sys->n * (size_t)sys->d;
    double trace = 0.0;
    for (int i = 0; i < sys->n; ++i) {
        for (int k = 0; k < sys->d; ++k) {
            trace += fabs(sys->diag[(size_t)i * d2 + (size_t)(k * sys->d + k)]);
        }
    }
    double square = dot_product(nd, sys->b, sys->b);
    sys->sigma = trace > 0.0 ? near_power(trace / (double)nd) : 1.0;
    sys->beta = square > 0.0 ? near_power(sqrt(square / sys->n)) : 1.0;
    for (size_t k = 0; k < nd; ++k) {
        sys->b[k] /= sys->beta;
    }
    for (size_t k = 0; k < (size_t)sys->n * d2; ++k) {
        sys->diag[k] /= sys->sigma;
    }
    for (size_t k = 0; sys->start != NULL && k < (size_t)sys->block_count * d2; ++k) {
        sys->blocks[k] /= sys->sigma;
    }
}

static int compare_ints(const void* a, const void* b) {
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static TdlStatus list_sides(System* sys, Arena* arena) {
    const TdlFrictionProblem* p = sys->problem;
    int* place = ARENA_NEW(arena, int, p->body_count); // of a body, then of its next side
    sys->side_start = ARENA_NEW(arena, int, (size_t)sys->bodies_count + 1);
    sys->side = ARENA_NEW(arena, int, 2 * (size_t)sys->n);
    if (place == NULL || sys->side_start == NULL || sys->side == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int k = 0; k < sys->bodies_count; ++k) {
        place[sys->bodies[k]] = k;
        sys->side_start[k] = 0;
    }
    for (int s = 0; s < 2 * sys->n; ++s) {
        int side = 2 * sys->contact[s / 2] + s % 2;
        if (side_moves(p, side)) {
            ++sys->side_start[place[p->body[side]]];
        }
    }
    for (int k = 0, from = 0; k <= sys->bodies_count; ++k) {
        int count = k < sys->bodies_count ? sys->side_start[k] : 0;
        sys->side_start[k] = from;
        from += count;
    }
    for (int k = 0; k < sys->bodies_count; ++k) {
        place[sys->bodies[k]] = sys->side_start[k];
    }
    for (int s = 0; s < 2 * sys->n; ++s) {
        int side = 2 * sys->contact[s / 2] + s % 2;
        if (side_moves(p, side)) {
            sys->side[place[p->body[side]]++] = s;
        }
    }
    return TDL_STATUS_OK;
}

TdlStatus system_list_bodies(System* sys, Arena* arena) {
    const TdlFrictionProblem* p = sys->problem;
    sys->bodies_count = 0;
    sys->side_start = sys->side = NULL;
    sys->row_size = 0.0;
    if (!problem_has_bodies(p)) {
        return TDL_STATUS_OK;
    }
    int count = 0, *all = ARENA_NEW(arena, int, 2 * (size_t)sys->n);
    for (int s = 0; s < 2 * sys->n && all != NULL; ++s) {
        int side = 2 * sys->contact[s / 2] + s % 2;
        all[count] = p->body[side];
        count += all[count] >= 0;
        sys->row_size += p->body[side] < 0 ? 0.0 : sys->d * rows_of_h(p, side).count;
        sys->row_size += side_moves(p, side) ? sys->d * rows_of_y(p, side).count : 0.0;
    }
    if (all == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    qsort(all, (size_t)count, sizeof *all, compare_ints);
    for (int k = 0; k < count; ++k) {
        if (k == 0 || all[k] != all[k - 1]) {
            all[sys->bodies_count++] = all[k];
        }
    }
    sys->bodies = all;
    return sys->n >= LARGE_ISLAND ? list_sides(sys, arena) : TDL_STATUS_OK;
}

int system_coordinates(const System* sys) {
    int count = 0;
    for (int k = 0; k < sys->bodies_count; ++k) {
        count += body_dofs(sys->problem, sys->bodies[k]);
    }
    return count;
}

TdlStatus system_build(System* sys, Arena* arena, const TdlFrictionProblem* problem,
                       const int* contact, int n, const SystemSetup* setup) {
    int d = problem->d;
    *sys = (System){.d = d, .n = n, .problem = problem, .contact = contact};
    sys->error_kind = setup->error_kind;
    sys->effort = setup->effort;
    sys->v = setup->shared_v;
    sys->sweep_bodies = setup->sweep_bodies;
    if (allocate(sys, arena, n, d) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < n; ++i) {
        setup->local_of[contact[i]] = i;
        sys->law[i] = (ContactLaw)problem->law[contact[i]];
        sys->mu[i] = problem->mu[contact[i]];
        sys->associated = sys->associated || sys->law[i] == LAW_ASSOCIATED;
        memcpy(sys->b + (size_t)i * (size_t)d, problem->q + (size_t)contact[i] * (size_t)d,
               (size_t)d * sizeof(double));
    }
    if (problem_has_bodies(problem)) {
        int bodies = problem->moving_count > 0 ? problem->moving_count : 1;
        sys->block_count = (int)fmin(4.0 * problem->n / bodies * n, INT_MAX);
    } else if (copy_rows(sys, arena, setup->local_of) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (system_list_bodies(sys, arena) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (problem->nodal != NULL) {
        sys->v_given = ARENA_NEW(arena, double, problem->dof_count);
        if (sys->v_given == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    copy_diagonal(sys);
    make_unit_free(sys);
    // r - P(r - u) = (beta/sigma) (r^ - P(r^ - sigma u^)), friction.md (F.14)
    sys->rho = sys->sigma;
    sys->factor = sys->beta / sys->sigma;
    sys->target = setup->tolerance / sys->factor;
    return TDL_STATUS_OK;
}

// --- W formed from bodies ------------------------------------------------------------------------

// Contacts that touch a body, by body; local numbers.
typedef struct Touch {
    int body, contact;
} Touch;

static int compare_touch(const void* a, const void* b) {
    const Touch *x = a, *y = b;
    if (x->body != y->body) {
        return x->body < y->body ? -1 : 1;
    }
    return (x->contact > y->contact) - (x->contact < y->contact);
}

typedef struct Former {
    Touch* touch; // [count] sorted by body
    int count;
    int* first; // [2 n] where a side's body begins in touch, -1: no body
    int* seen;  // [n]
} Former;

static bool list_touches(const System* sys, Arena* arena, Former* f) {
    const int* body = sys->problem->body;
    f->touch = ARENA_NEW(arena, Touch, 2 * (size_t)sys->n);
    f->first = ARENA_NEW(arena, int, 2 * (size_t)sys->n);
    f->seen = ARENA_NEW(arena, int, sys->n);
    if (!f->touch || !f->first || !f->seen) {
        return false;
    }
    f->count = 0;
    for (int s = 0; s < 2 * sys->n; ++s) {
        int touched = body[2 * sys->contact[s / 2] + s % 2];
        if (touched >= 0) {
            f->touch[f->count++] = (Touch){touched, s / 2};
        }
        f->first[s] = -1;
    }
    qsort(f->touch, (size_t)f->count, sizeof(Touch), compare_touch);
    for (int e = 0, begin = 0; e < f->count; ++e) {
        begin = e > 0 && f->touch[e].body == f->touch[e - 1].body ? begin : e;
        int c = f->touch[e].contact;
        for (int s = 0; s < 2; ++s) {
            if (body[2 * sys->contact[c] + s] == f->touch[e].body) {
                f->first[2 * c + s] = begin;
            }
        }
    }
    memset(f->seen, 0xff, (size_t)sys->n * sizeof(int));
    return true;
}

// The coupled contacts of row i, ascending, into list; returns their number. List null: count.
static int coupled(const System* sys, Former* f, int i, int* list) {
    int found = 0;
    for (int s = 2 * i; s < 2 * i + 2; ++s) {
        for (int e = f->first[s];
             e >= 0 && e < f->count && f->touch[e].body == f->touch[f->first[s]].body; ++e) {
            int j = f->touch[e].contact;
            if (f->seen[j] == i) {
                continue;
            }
            f->seen[j] = i;
            int at = found++;
            for (; list != NULL && at > 0 && list[at - 1] > j; --at) {
                list[at] = list[at - 1];
            }
            if (list != NULL) {
                list[at] = j;
            }
        }
    }
    (void)sys;
    return found;
}

typedef struct FillJob {
    System* sys;
} FillJob;

// upper blocks of one row
static void fill_row(void* user, int i, int worker) {
    System* sys = ((FillJob*)user)->sys;
    (void)worker;
    int d2 = sys->d * sys->d;
    for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
        double* w = sys->blocks + (size_t)e * (size_t)d2;
        if (sys->column[e] < i) {
            continue;
        }
        memset(w, 0, (size_t)d2 * sizeof(double));
        if (sys->column[e] == i) {
            memcpy(w, sys->diag + (size_t)i * (size_t)d2, (size_t)d2 * sizeof(double));
            continue;
        }
        problem_add_coupling(sys->problem, sys->contact[i], sys->contact[sys->column[e]], w);
        for (int k = 0; k < d2; ++k) {
            w[k] /= sys->sigma;
        }
    }
}

// lower blocks as transposes; next[j] walks row j, whose lower columns come in ascending order
static void mirror_rows(System* sys, int* next) {
    int d = sys->d, d2 = d * d;
    memcpy(next, sys->start, (size_t)sys->n * sizeof(int));
    for (int i = 0; i < sys->n; ++i) {
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            int j = sys->column[e];
            if (j <= i) {
                continue;
            }
            const double* from = sys->blocks + (size_t)e * (size_t)d2;
            double* to = sys->blocks + (size_t)next[j]++ * (size_t)d2;
            for (int c = 0; c < d; ++c) {
                for (int r = 0; r < d; ++r) {
                    to[c * d + r] = from[r * d + c];
                }
            }
        }
    }
}

TdlStatus system_form_rows(System* sys, Arena* arena) {
    if (sys->start != NULL) {
        return TDL_STATUS_OK;
    }
    Former f;
    sys->start = ARENA_NEW(arena, int, (size_t)sys->n + 1);
    if (sys->start == NULL || !list_touches(sys, arena, &f)) {
        sys->start = NULL;
        return TDL_STATUS_NO_MEMORY;
    }
    sys->start[0] = 0;
    for (int i = 0; i < sys->n; ++i) {
        sys->start[i + 1] = sys->start[i] + coupled(sys, &f, i, NULL);
    }
    size_t count = (size_t)sys->start[sys->n], d2 = (size_t)(sys->d * sys->d);
    sys->column = ARENA_NEW(arena, int, count);
    sys->blocks = ARENA_NEW(arena, double, count* d2 + 4);
    if (sys->column == NULL || sys->blocks == NULL) {
        sys->start = NULL;
        return TDL_STATUS_NO_MEMORY;
    }
    memset(sys->blocks + count * d2, 0, 4 * sizeof(double));
    sys->block_count = (int)count;
    memset(f.seen, 0xff, (size_t)sys->n * sizeof(int));
    for (int i = 0; i < sys->n; ++i) {
        coupled(sys, &f, i, sys->column + sys->start[i]);
    }
    effort_add(sys->effort, (double)count * (double)d2 * FORM_EACH);
    FillJob job = {sys};
    pool_run(sys->pool, sys->n, 16, fill_row, &job);
    mirror_rows(sys, f.seen);
    return TDL_STATUS_OK;
}

// --- products ------------------------------------------------------------------------------------

void row_velocity_scalar(int d, const double* blocks, const int* column, int count, const double* r,
                         const double* b, double* out) {
    double sum[CONE_MAX];
    for (int k = 0; k < d; ++k) {
        sum[k] = b[k];
    }
    for (int e = 0; e < count; ++e) {
        const double* w = blocks + (size_t)e * (size_t)(d * d);
        const double* x = r + (size_t)column[e] * (size_t)d;
        for (int c = 0; c < d; ++c) {
            for (int k = 0; k < d; ++k) {
                sum[k] += w[c * d + k] * x[c];
            }
        }
    }
    memcpy(out, sum, (size_t)d * sizeof(double));
}

#ifdef __AVX2__
// Columns of three doubles are loaded four wide: the fourth lane is never used, and the blocks are
// padded so that the load stays inside. Two chains hide the latency of the additions.
void row_velocity3(const double* blocks, const int* column, int count, const double* r,
                   const double* b, double* out) {
    __m256d s0 = _mm256_set_pd(0.0, b[2], b[1], b[0]), s1 = _mm256_setzero_pd();
    __m256d s2 = _mm256_setzero_pd();
    for (int e = 0; e < count; ++e) {
        const double* w = blocks + (size_t)e * 9;
        const double* x = r + (size_t)column[e] * 3;
        __m256d c0 = _mm256_loadu_pd(w), c1 = _mm256_loadu_pd(w + 3), c2 = _mm256_loadu_pd(w + 6);
#ifdef __FMA__
        s0 = _mm256_fmadd_pd(c0, _mm256_broadcast_sd(x), s0);
        s1 = _mm256_fmadd_pd(c1, _mm256_broadcast_sd(x + 1), s1);
        s2 = _mm256_fmadd_pd(c2, _mm256_broadcast_sd(x + 2), s2);
#else
        s0 = _mm256_add_pd(s0, _mm256_mul_pd(c0, _mm256_broadcast_sd(x)));
        s1 = _mm256_add_pd(s1, _mm256_mul_pd(c1, _mm256_broadcast_sd(x + 1)));
        s2 = _mm256_add_pd(s2, _mm256_mul_pd(c2, _mm256_broadcast_sd(x + 2)));
#endif
    }
    double sum[4];
    _mm256_storeu_pd(sum, _mm256_add_pd(s0, _mm256_add_pd(s1, s2)));
    memcpy(out, sum, 3 * sizeof(double));
}
#else
void row_velocity3(const double* blocks, const int* column, int count, const double* r,
                   const double* b, double* out) {
    row_velocity_scalar(3, blocks, column, count, r, b, out);
}
#endif

// Plain loops over columns of six, in three chains that hide the latency of the additions.
void row_velocity6(const double* blocks, const int* column, int count, const double* r,
                   const double* b, double* out) {
    double sum[3][6] = {{0}};
    for (int e = 0; e < count; ++e) {
        const double* w = blocks + (size_t)e * 36;
        const double* x = r + (size_t)column[e] * 6;
        for (int c = 0; c < 6; ++c) {
            for (int k = 0; k < 6; ++k) {
                sum[c % 3][k] += w[6 * c + k] * x[c];
            }
        }
    }
    for (int k = 0; k < 6; ++k) {
        out[k] = b[k] + (sum[0][k] + (sum[1][k] + sum[2][k]));
    }
}

// out += the three rows times v, and v += rows' x: v is read once for all three.
void rows3_times_scalar(int m, int apart, const double* rows, const double* v, double* out) {
    for (int k = 0; k < 3; ++k) {
        out[k] += dot_product((size_t)m, rows + (ptrdiff_t)k * apart, v);
    }
}

void rows3_add_scalar(int m, int apart, const double* rows, const double* x, double* v) {
    for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < m; ++j) {
            v[j] += rows[k * apart + j] * x[k];
        }
    }
}

#if defined(__AVX2__) && defined(__FMA__)
static inline double lane_sum(__m256d a) {
    __m128d low = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(low, _mm_unpackhi_pd(low, low)));
}

void rows3_times(int m, int apart, const double* rows, const double* v, double* out) {
    const double *r1 = rows + apart, *r2 = r1 + apart;
    __m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0;
    int j = 0;
    for (; j + 4 <= m; j += 4) {
        __m256d x = _mm256_loadu_pd(v + j);
        s0 = _mm256_fmadd_pd(_mm256_loadu_pd(rows + j), x, s0);
        s1 = _mm256_fmadd_pd(_mm256_loadu_pd(r1 + j), x, s1);
        s2 = _mm256_fmadd_pd(_mm256_loadu_pd(r2 + j), x, s2);
    }
    double sum[3] = {lane_sum(s0), lane_sum(s1), lane_sum(s2)};
    for (; j < m; ++j) {
        sum[0] += rows[j] * v[j];
        sum[1] += r1[j] * v[j];
        sum[2] += r2[j] * v[j];
    }
    for (int k = 0; k < 3; ++k) {
        out[k] += sum[k];
    }
}

void rows3_add(int m, int apart, const double* rows, const double* x, double* v) {
    const double *r1 = rows + apart, *r2 = r1 + apart;
    __m256d x0 = _mm256_set1_pd(x[0]), x1 = _mm256_set1_pd(x[1]), x2 = _mm256_set1_pd(x[2]);
    int j = 0;
    for (; j + 4 <= m; j += 4) {
        __m256d sum = _mm256_fmadd_pd(_mm256_loadu_pd(rows + j), x0, _mm256_loadu_pd(v + j));
        sum = _mm256_fmadd_pd(_mm256_loadu_pd(r1 + j), x1, sum);
        _mm256_storeu_pd(v + j, _mm256_fmadd_pd(_mm256_loadu_pd(r2 + j), x2, sum));
    }
    for (; j < m; ++j) {
        v[j] += rows[j] * x[0] + r1[j] * x[1] + r2[j] * x[2];
    }
}
#else
void rows3_times(int m, int apart, const double* rows, const double* v, double* out) {
    rows3_times_scalar(m, apart, rows, v, out);
}

void rows3_add(int m, int apart, const double* rows, const double* x, double* v) {
    rows3_add_scalar(m, apart, rows, x, v);
}
#endif

static inline void fetch(const double* rows, int count) {
    for (int k = 0; k < count; k += 8) {
        __builtin_prefetch(rows + k);
    }
}

void body_row_fetch(const System* sys, int i) {
    const TdlFrictionProblem* p = sys->problem;
    if (i >= sys->n) {
        return;
    }
    for (int s = 2 * sys->contact[i]; s < 2 * sys->contact[i] + 2; ++s) {
        fetch(p->h + p->side[s].h, sys->d * p->side[s].count);
    }
}

void body_row_add(const System* sys, int i, double* out) {
    const TdlFrictionProblem* p = sys->problem;
    int d = sys->d, g = sys->contact[i];
    for (int s = 2 * g; s < 2 * g + 2; ++s) {
        if (p->body[s] < 0) {
            continue;
        }
        Rows x = rows_of_h(p, s);
        const double* v = sys->v + p->dof_start[p->body[s]] + x.first;
        if (x.list != NULL) {
            listed_times(p, x, v, out);
            continue;
        }
        for (int k = 0; k < d; k += 3) {
            rows3_times(x.count, x.apart, x.row + (ptrdiff_t)k * x.apart, v, out + k);
        }
    }
}

void body_row_velocity(const System* sys, int i, double* out) {
    memcpy(out, sys->b + (size_t)i * (size_t)sys->d, (size_t)sys->d * sizeof *out);
    body_row_add(sys, i, out);
}

// v += rows' x
static inline void rows_add(const TdlFrictionProblem* p, Rows y, const double* x, double* v) {
    if (y.list != NULL) {
        listed_add(p, y, x, v);
        return;
    }
    for (int k = 0; k < p->d; k += 3) {
        rows3_add(y.count, y.apart, y.row + (ptrdiff_t)k * y.apart, x + k, v);
    }
}

void body_row_apply(System* sys, int i, const double* dr) {
    const TdlFrictionProblem* p = sys->problem;
    int d = sys->d, g = sys->contact[i];
    double x[CONE_MAX] = {0};
    bool moves = false;
    for (int k = 0; k < d; ++k) {
        x[k] = dr[k] / sys->sigma;
        moves = moves || x[k] != 0.0;
    }
    for (int s = 2 * g; s < 2 * g + 2 && moves; ++s) {
        if (!side_moves(p, s)) {
            continue;
        }
        Rows y = rows_of_y(p, s);
        double* v = sys->v + p->dof_start[p->body[s]] + y.first;
        rows_add(p, y, x, v);
    }
}

typedef struct RefreshJob {
    System* sys;
    const double* r;
} RefreshJob;

// The same sums in the same order as contact by contact, for one body.
static void refresh_body(void* user, int index, int worker) {
    const RefreshJob* job = user;
    System* sys = job->sys;
    const TdlFrictionProblem* p = sys->problem;
    int d = sys->d, body = sys->bodies[index];
    double* whole = sys->v + p->dof_start[body];
    (void)worker;
    memset(whole, 0, (size_t)body_dofs(p, body) * sizeof(double));
    int end = sys->side_start[index + 1], last = sys->side_start[sys->bodies_count] - 1;
    for (int e = sys->side_start[index]; e < end; ++e) {
        int s = sys->side[e], ahead = sys->side[e + 2 < last ? e + 2 : last];
        Rows soon = rows_of_y(p, 2 * sys->contact[ahead / 2] + ahead % 2);
        fetch(soon.row, d * soon.apart);
        Rows y = rows_of_y(p, 2 * sys->contact[s / 2] + s % 2);
        const double* r = job->r + (size_t)(s / 2) * (size_t)d;
        double x[CONE_MAX];
        for (int k = 0; k < d; ++k) {
            x[k] = r[k] / sys->sigma;
        }
        rows_add(p, y, x, whole + y.first);
    }
}

void system_drive_nodes(System* sys, const double* r) {
    const TdlFrictionProblem* p = sys->problem;
    int d = sys->d;
    for (int k = 0; k < sys->bodies_count; ++k) {
        int body = sys->bodies[k];
        memset(sys->v_given + p->dof_start[body], 0, (size_t)body_dofs(p, body) * sizeof(double));
    }
    for (int i = 0; i < sys->n; ++i) {
        double x[CONE_MAX] = {0};
        for (int k = 0; k < d; ++k) {
            x[k] = r[(size_t)i * (size_t)d + (size_t)k] / sys->sigma;
        }
        for (int s = 2 * sys->contact[i]; s < 2 * sys->contact[i] + 2; ++s) {
            if (p->body[s] >= 0) {
                nodal_rows_drive(p->nodal, s, d, x, sys->v_given + p->dof_start[p->body[s]]);
            }
        }
    }
}

void node_row_add(const System* sys, int i, double* out) {
    const TdlFrictionProblem* p = sys->problem;
    for (int s = 2 * sys->contact[i]; s < 2 * sys->contact[i] + 2; ++s) {
        if (p->body[s] >= 0) {
            nodal_rows_add(p->nodal, s, sys->d, sys->v_given + p->dof_start[p->body[s]], out);
        }
    }
}

// z from what drives it, then v from z: A^-1 in two halves.
static void solve_nodes(System* sys, bool velocities) {
    const TdlFrictionProblem* p = sys->problem;
    for (int k = 0; k < sys->bodies_count; ++k) {
        nodal_drive(p, sys->bodies[k], sys->v_given, sys->v);
        if (velocities) {
            nodal_velocity(p, sys->bodies[k], sys->v, sys->v_given);
        }
    }
}

void system_refresh_bodies(System* sys, const double* r) {
    const TdlFrictionProblem* p = sys->problem;
    if (p->nodal != NULL) {
        system_drive_nodes(sys, r);
        solve_nodes(sys, false);
        return;
    }
    if (sys->side != NULL && sys->pool != NULL) {
        pool_run(sys->pool, sys->bodies_count, BODY_GRAIN, refresh_body, &(RefreshJob){sys, r});
        return;
    }
    for (int k = 0; k < sys->bodies_count; ++k) {
        int body = sys->bodies[k];
        memset(sys->v + p->dof_start[body], 0, (size_t)body_dofs(p, body) * sizeof(double));
    }
    for (int i = 0; i < sys->n; ++i) {
        body_row_fetch(sys, i + 1);
        body_row_apply(sys, i, r + (size_t)i * (size_t)sys->d);
    }
}

typedef struct ProductJob {
    System* sys;
    const double *r, *b; // b null: zero
    double* u;
} ProductJob;

static void product_chunk(void* user, int chunk, int worker) {
    ProductJob* job = user;
    System* sys = job->sys;
    (void)worker;
    static const double none[CONE_MAX] = {0};
    int d = sys->d, begin = chunk * ROW_CHUNK;
    int end = begin + ROW_CHUNK < sys->n ? begin + ROW_CHUNK : sys->n;
    for (int i = begin; i < end; ++i) {
        double* u = job->u + (size_t)i * (size_t)d;
        const double* b = job->b == NULL ? none : job->b + (size_t)i * (size_t)d;
        if (sys->start == NULL) {
            memcpy(u, b, (size_t)d * sizeof *u);
            if (sys->v_given != NULL) {
                node_row_add(sys, i, u);
            } else {
                body_row_add(sys, i, u);
            }
            continue;
        }
        int e = sys->start[i], count = sys->start[i + 1] - e;
        const double* blocks = sys->blocks + (size_t)e * (size_t)(d * d);
        if (d == 3) {
            row_velocity3(blocks, sys->column + e, count, job->r, b, u);
        } else {
            row_velocity6(blocks, sys->column + e, count, job->r, b, u);
        }
    }
}

double system_product_work(const System* sys) {
    return sys->start == NULL ? sys->row_size : (double)sys->block_count * sys->d * sys->d;
}

static void multiply(System* sys, const double* r, const double* b, double* u) {
    effort_add(sys->effort, system_product_work(sys));
    if (sys->start == NULL && sys->v_given != NULL) {
        system_drive_nodes(sys, r);
        solve_nodes(sys, true);
    } else if (sys->start == NULL) {
        system_refresh_bodies(sys, r);
    }
    ProductJob job = {sys, r, b, u};
    int chunks = (sys->n + ROW_CHUNK - 1) / ROW_CHUNK;
    pool_run(sys->pool, chunks, 1, product_chunk, &job);
}

void system_velocity(System* sys, const double* r, double* u) {
    multiply(sys, r, sys->b, u);
}

void system_product(System* sys, const double* r, double* u) {
    multiply(sys, r, NULL, u);
}

static inline double error_of(const System* sys, int d, const double* u, const double* r) {
    double sum = 0.0, f[CONE_MAX];
    for (int i = 0; i < sys->n; ++i) {
        error_map(sys->error_kind, d, sys->law[i], sys->mu[i], sys->rho, u + i * d, r + i * d, f);
        for (int k = 0; k < d; ++k) {
            sum += f[k] * f[k];
        }
    }
    return sqrt(sum);
}

double system_error(const System* sys, const double* u, const double* r) {
    return sys->d == 3 ? error_of(sys, 3, u, r) : error_of(sys, sys->d, u, r);
}
