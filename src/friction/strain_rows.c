// Rows of strain: what velocities of nodes do to them, and what their impulses do to nodes.
//
// A row reads 27 vectors g (9 of two components in the plane), the velocities of these nodes and
// its own impulse, and goes a step against its velocity: of the block of W's diagonal the mean
// eigenvalue is enough. A node is four doubles, its velocity and 1/mass, so that a vector of three
// components is one load. Rows of a colour share no node: any number of threads leaves the same
// bits.
#include "friction/strain_system.h"

#include <string.h>

typedef double Lane __attribute__((vector_size(32)));

// (2/3)^(1/2) and (1/3)^(1/2), of the basis of (F.61)
static const double ROOT23 = 0.81649658092772603, ROOT13 = 0.57735026918962576;

// Part of the way to the mean eigenvalue's answer. Rows overlap: 27 of six components share a node
// of three, and what all of them put right in turn is put right too often. Slabs take 340 sweeps
// with 0.5 to 0.6, 380 with 0.65 and more than 500 with 0.8; a ball that falls into sand, with rows
// that are far from isotropic, 2590 with 0.5 and 1820 to 1980 with 0.6 to 0.8. Below 2/3 every step
// of a row is short enough. (A.46)
static const double RELAXATION = 0.6;

// --- from nodes to a row and back ----------------------------------------------------------------

// e[b] += sum_i v_i g_ib in two parts, which do not wait for each other. (A.40)
static inline void gather(int dimension, int near, const int* node, const double* g,
                          const double* all, Lane e[3]) {
    Lane other[3] = {{0}};
    e[0] = e[1] = e[2] = (Lane){0};
    for (int k = 0; k < near; k += 2) {
        if (node[k] >= 0) {
            Lane v = *(const Lane*)(all + (ptrdiff_t)4 * node[k]);
            for (int b = 0; b < dimension; ++b) {
                e[b] += v * g[k * dimension + b];
            }
        }
        if (k + 1 < near && node[k + 1] >= 0) {
            Lane v = *(const Lane*)(all + (ptrdiff_t)4 * node[k + 1]);
            for (int b = 0; b < dimension; ++b) {
                other[b] += v * g[(k + 1) * dimension + b];
            }
        }
    }
    for (int b = 0; b < dimension; ++b) {
        e[b] += other[b];
    }
}

// v_i += S g_i/m_i. (A.41)
static inline void scatter(int dimension, int near, const int* node, const double* g,
                           const Lane s[3], double* all) {
    for (int k = 0; k < near; ++k) {
        if (node[k] < 0) {
            continue;
        }
        Lane* v = (Lane*)(all + (ptrdiff_t)4 * node[k]);
        Lane sum = s[0] * g[k * dimension];
        for (int b = 1; b < dimension; ++b) {
            sum += s[b] * g[k * dimension + b];
        }
        *v += sum * all[(ptrdiff_t)4 * node[k] + 3];
    }
}

// 2 chi^-1(sym E), E by columns. In the plane lanes are x, y, z, and columns x, z.
static inline void coordinates(int dimension, const Lane e[3], double* u) {
    if (dimension == 2) {
        u[0] = e[0][0] + e[1][2];
        u[1] = e[0][0] - e[1][2];
        u[2] = e[1][0] + e[0][2];
        return;
    }
    double x = e[0][0], y = e[1][1], z = e[2][2];
    u[0] = ROOT23 * (x + y + z);
    u[1] = x - y;
    u[2] = ROOT13 * (x + y - 2.0 * z);
    u[3] = e[1][0] + e[0][1];
    u[4] = e[2][0] + e[0][2];
    u[5] = e[2][1] + e[1][2];
}

void strain_row_of(int dimension, int a, const double* g, double* row) {
    Lane e[3] = {{0}};
    int lane = dimension == 2 && a == 1 ? 2 : a;
    for (int b = 0; b < dimension; ++b) {
        e[b][lane] = g[b];
    }
    coordinates(dimension, e, row);
}

// chi(r) by columns.
static inline void tensor(int dimension, const double* r, Lane s[3]) {
    if (dimension == 2) {
        s[0] = (Lane){r[0] + r[1], 0.0, r[2], 0.0};
        s[1] = (Lane){r[2], 0.0, r[0] - r[1], 0.0};
        return;
    }
    double n = ROOT23 * r[0], t = ROOT13 * r[2];
    s[0] = (Lane){n + r[1] + t, r[3], r[4], 0.0};
    s[1] = (Lane){r[3], n - r[1] + t, r[5], 0.0};
    s[2] = (Lane){r[4], r[5], n - 2.0 * t, 0.0};
}

typedef struct Row {
    const int* node;
    const double* g;
} Row;

static inline Row row_at(const StrainSystem* s, int j) {
    size_t first = (size_t)j * (size_t)s->rows.near;
    return (Row){s->rows.node + first, s->rows.g + first * (size_t)s->rows.dimension};
}

static inline void row_velocity(const StrainSystem* s, int dimension, int near, int j, double* u) {
    Row row = row_at(s, j);
    Lane e[3];
    gather(dimension, near, row.node, row.g, s->node, e);
    coordinates(dimension, e, u);
    u[0] += s->rows.bias[j];
    for (int k = 0; k < (dimension == 2 ? 3 : 6); ++k) {
        u[k] *= s->row_unit;
    }
}

static inline void row_push(StrainSystem* s, int dimension, int near, int j, const double* dr) {
    Row row = row_at(s, j);
    Lane change[3];
    double scaled[6];
    for (int k = 0; k < (dimension == 2 ? 3 : 6); ++k) {
        scaled[k] = s->row_unit * dr[k];
    }
    tensor(dimension, scaled, change);
    scatter(dimension, near, row.node, row.g, change, s->node);
}

void strain_row_velocity(const StrainSystem* s, int j, double* u) {
    row_velocity(s, s->rows.dimension, s->rows.near, j, u);
}

// --- tasks ---------------------------------------------------------------------------------------

// Puts an impulse within the friction that its own pressure allows.
static inline void clip(int d, double mu, double* r) {
    double square = 0.0;
    r[0] = r[0] > 0.0 ? r[0] : 0.0;
    for (int k = 1; k < d; ++k) {
        square += r[k] * r[k];
    }
    double most = isinf(mu) ? INFINITY : mu * r[0];
    if (square > most * most) {
        double by = most / sqrt(square);
        for (int k = 1; k < d; ++k) {
            r[k] *= by;
        }
    }
}

// Changes the impulse of a row against its velocity; returns the square of the change. (A.48)
static inline double change(StrainSystem* s, int dimension, int near, int j, double* all,
                            double* dr) {
    int d = dimension == 2 ? 3 : 6;
    double u[6], next[6], *r = all + (ptrdiff_t)d * j, square = 0.0, step = s->step[j];
    row_velocity(s, dimension, near, j, u);
    for (int k = 0; k < d; ++k) {
        next[k] = step > 0.0 ? r[k] - step * u[k] : 0.0;
    }
    clip(d, s->rows.mu[j], next);
    for (int k = 0; k < d; ++k) {
        dr[k] = next[k] - r[k];
        r[k] = next[k];
        square += dr[k] * dr[k];
    }
    return square;
}

// Rows taken together, so that one's latencies are spent on the others: they share no node.
enum { ABREAST = 2 };

static inline double visit(StrainSystem* s, int dimension, int near, int from, int count,
                           double* all) {
    double dr[ABREAST][6], square[ABREAST], sum = 0.0;
    for (int k = 0; k < count; ++k) {
        sum += square[k] = change(s, dimension, near, from + k, all, dr[k]);
    }
    for (int k = 0; k < count; ++k) {
        if (square[k] > 0.0) {
            row_push(s, dimension, near, from + k, dr[k]);
        }
    }
    return sum;
}

// The impulse a row has, given to its nodes.
static inline double push(StrainSystem* s, int dimension, int near, int j, double* all) {
    const double* r = all + (ptrdiff_t)(dimension == 2 ? 3 : 6) * j;
    for (int k = 0; k < (dimension == 2 ? 3 : 6); ++k) {
        if (r[k] != 0.0) {
            row_push(s, dimension, near, j, r);
            break;
        }
    }
    return 0.0;
}

// The square of r - P_K(r - u~).
static inline double measure(StrainSystem* s, int dimension, int near, int j, double* all) {
    int d = dimension == 2 ? 3 : 6;
    const double* r = all + (ptrdiff_t)d * j;
    double u[6], x[6], p[6], sum = 0.0, mu = s->rows.mu[j];
    row_velocity(s, dimension, near, j, u);
    for (int k = 0; k < d; ++k) {
        x[k] = r[k] - u[k];
    }
    x[0] -= shift_of(d, row_law(mu), mu, u);
    law_project(d, row_law(mu), mu, x, p);
    for (int k = 0; k < d; ++k) {
        sum += (r[k] - p[k]) * (r[k] - p[k]);
    }
    return sum;
}

typedef enum RowJob { ROW_VISIT, ROW_PUSH, ROW_MEASURE } RowJob;

static inline __attribute__((always_inline)) double
do_rows(RowJob job, StrainSystem* s, int dimension, int near, int from, int end, double* r) {
    double sum = 0.0;
    int j = from;
    for (; job == ROW_VISIT && j + ABREAST <= end; j += ABREAST) {
        sum += visit(s, dimension, near, j, ABREAST, r);
    }
    for (; j < end; ++j) {
        sum += job == ROW_VISIT  ? visit(s, dimension, near, j, 1, r)
               : job == ROW_PUSH ? push(s, dimension, near, j, r)
                                 : measure(s, dimension, near, j, r);
    }
    return sum;
}

// With what grids have known to the compiler.
static inline __attribute__((always_inline)) double do_task(RowJob job, StrainSystem* s, int from,
                                                            int end, double* r) {
    int near = s->rows.near;
    if (s->rows.dimension == 2) {
        return do_rows(job, s, 2, near, from, end, r);
    }
    return near == 27 ? do_rows(job, s, 3, 27, from, end, r)
                      : do_rows(job, s, 3, near, from, end, r);
}

typedef struct Sweep {
    StrainSystem* s;
    double* r;
    int first; // task of the colour
} Sweep;

static void visit_task(void* user, int index, int worker) {
    Sweep* w = user;
    int task = w->first + index;
    (void)worker;
    w->s->sums[task] = do_task(ROW_VISIT, w->s, w->s->task[task], w->s->task[task + 1], w->r);
}

static void push_task(void* user, int index, int worker) {
    Sweep* w = user;
    int task = w->first + index;
    (void)worker;
    do_task(ROW_PUSH, w->s, w->s->task[task], w->s->task[task + 1], w->r);
}

static void measure_task(void* user, int task, int worker) {
    Sweep* w = user;
    (void)worker;
    w->s->sums[task] = do_task(ROW_MEASURE, w->s, w->s->task[task], w->s->task[task + 1], w->r);
}

static double sum_of_tasks(const StrainSystem* s) {
    double sum = 0.0;
    for (int k = 0; k < s->task_count; ++k) {
        sum += s->sums[k];
    }
    return sum;
}

// Tasks of a colour that one thread does sooner than others are woken.
enum { FEW_TASKS = 4 };

static void run_colours(StrainSystem* s, PoolFn fn, double* r) {
    for (int c = 0; c < s->rows.colour_count; ++c) {
        Sweep w = {s, r, s->colour_task[c]};
        int count = s->colour_task[c + 1] - w.first;
        pool_run(count < FEW_TASKS ? NULL : s->pool, count, 1, fn, &w);
    }
}

double strain_rows_sweep(StrainSystem* s, double* r) {
    run_colours(s, visit_task, r);
    return sum_of_tasks(s);
}

void strain_rows_push(StrainSystem* s, double* r) {
    run_colours(s, push_task, r);
}

double strain_rows_error(StrainSystem* s, double* r) {
    Sweep w = {s, r, 0};
    pool_run(s->pool, s->task_count, 1, measure_task, &w);
    return sum_of_tasks(s);
}

// --- preparing -----------------------------------------------------------------------------------

// Trace of W's block of a row, 4 tr G in space and 3 tr G in the plane (A.43); not finite where
// something of the row is not, or a node does not exist.
static double block_trace(const StrainSystem* s, int j) {
    int dimension = s->rows.dimension;
    Row row = row_at(s, j);
    double trace = 0.0;
    for (int k = 0; k < s->rows.near; ++k) {
        if (row.node[k] >= s->nodes) {
            return NAN;
        }
        if (row.node[k] >= 0) {
            double square = 0.0;
            for (int a = 0; a < dimension; ++a) {
                square += row.g[k * dimension + a] * row.g[k * dimension + a];
            }
            trace += square * s->node[(ptrdiff_t)4 * row.node[k] + 3];
        }
    }
    bool good = isfinite(s->rows.bias[j]) && s->rows.mu[j] >= 0.0;
    return good ? (dimension == 2 ? 3.0 : 4.0) * trace : NAN;
}

static void trace_task(void* user, int task, int worker) {
    StrainSystem* s = ((Sweep*)user)->s;
    double sum = 0.0;
    (void)worker;
    for (int j = s->task[task]; j < s->task[task + 1]; ++j) {
        s->step[j] = block_trace(s, j);
        sum += s->step[j];
    }
    s->sums[task] = sum;
}

TdlStatus strain_rows_prepare(StrainSystem* s, Arena* arena) {
    s->step = ARENA_NEW(arena, double, s->n);
    if (s->step == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    Sweep w = {s, NULL, 0};
    pool_run(s->pool, s->task_count, 1, trace_task, &w);
    double trace = sum_of_tasks(s);
    if (!isfinite(trace)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    s->row_unit = trace > 0.0 ? sqrt(s->d * (double)s->n / trace) : 1.0;
    for (int j = 0; j < s->n; ++j) {
        double mean = s->step[j] * s->row_unit * s->row_unit / s->d;
        s->step[j] = mean > 0.0 ? RELAXATION / mean : 0.0;
    }
    return TDL_STATUS_OK;
}
