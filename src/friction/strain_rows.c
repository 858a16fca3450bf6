// Rows of strain: what velocities of nodes do to them, and what their impulses do to nodes.
//
// A row reads 27 vectors g (9 of two components in the plane), the velocities of these nodes and
// its own impulse; the block of W's diagonal is a function of the matrix sum_i g_i g_i'/m_i alone.
// A node is four doubles, its velocity and 1/mass, so that a vector of three components is one
// load. Rows of a colour share no node: any number of threads leaves the same bits.
#include "friction/local.h"
#include "friction/strain_system.h"

#include <string.h>

typedef double Lane __attribute__((vector_size(32)));

// (2/3)^(1/2) and (1/3)^(1/2), of the basis of (F.61)
static const double ROOT23 = 0.81649658092772603, ROOT13 = 0.57735026918962576;

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

// u -= 2 chi^-1(sym chi(r) G), G = (xx, xy, xz, yy, yz, zz) or (xx, xz, zz). (A.42)
static inline void subtract_own(int dimension, const double* g, const double* r, double* u) {
    Lane s[3], e[3];
    double own[6];
    tensor(dimension, r, s);
    if (dimension == 2) {
        e[0] = s[0] * g[0] + s[1] * g[1];
        e[1] = s[0] * g[1] + s[1] * g[2];
    } else {
        e[0] = s[0] * g[0] + s[1] * g[1] + s[2] * g[2];
        e[1] = s[0] * g[1] + s[1] * g[3] + s[2] * g[4];
        e[2] = s[0] * g[2] + s[1] * g[4] + s[2] * g[5];
    }
    coordinates(dimension, e, own);
    for (int k = 0; k < (dimension == 2 ? 3 : 6); ++k) {
        u[k] -= own[k];
    }
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

// Solves a row for the velocities that the others leave it, and goes some of the way there, which
// stays in the cone; returns the square of its change.
static inline double visit(StrainSystem* s, int dimension, int near, int j, double* all) {
    int d = dimension == 2 ? 3 : 6;
    double rest[6], next[6], dr[6], *r = all + (ptrdiff_t)d * j, square = 0.0;
    double mu = s->rows.mu[j], *prep = s->prep + (ptrdiff_t)prep_size(d) * j;
    row_velocity(s, dimension, near, j, rest);
    subtract_own(dimension, s->gram + (ptrdiff_t)gram_size(dimension) * j, r, rest);
    for (int k = 0; k < d; ++k) {
        next[k] = r[k];
    }
    if (dimension == 2) {
        local_secular3(prep, row_law(mu), mu, rest, next);
    } else {
        local_secular6(prep, row_law(mu), mu, rest, next);
    }
    for (int k = 0; k < d; ++k) {
        dr[k] = s->relaxation * (next[k] - r[k]);
        r[k] += dr[k];
        square += dr[k] * dr[k];
    }
    if (square > 0.0) {
        row_push(s, dimension, near, j, dr);
    }
    return square;
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
    for (int j = from; j < end; ++j) {
        sum += job == ROW_VISIT  ? visit(s, dimension, near, j, r)
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

// The matrix of a row, and whether it is finite and its nodes exist.
static bool make_gram(const StrainSystem* s, int j, double* to) {
    int dimension = s->rows.dimension;
    Row row = row_at(s, j);
    double sum[9] = {0};
    for (int k = 0; k < s->rows.near; ++k) {
        if (row.node[k] < 0) {
            continue;
        }
        if (row.node[k] >= s->nodes) {
            return false;
        }
        double inverse = s->node[(ptrdiff_t)4 * row.node[k] + 3];
        for (int e = 0; e < dimension * dimension; ++e) {
            sum[e] += row.g[k * dimension + e % dimension] * row.g[k * dimension + e / dimension] *
                      inverse;
        }
    }
    bool finite = isfinite(s->rows.bias[j]) && s->rows.mu[j] >= 0.0;
    for (int b = 0, at = 0; b < dimension; ++b) {
        for (int a = b; a < dimension; ++a) {
            to[at++] = sum[b * dimension + a];
            finite = finite && isfinite(sum[b * dimension + a]);
        }
    }
    return finite;
}

// The block of W's diagonal in the plane.
static void make_block(const double* gram, double* w) {
    for (int c = 0; c < 3; ++c) {
        double e[3] = {0};
        e[c] = -1.0;
        for (int k = 0; k < 3; ++k) {
            w[c * 3 + k] = 0.0;
        }
        subtract_own(2, gram, e, w + (ptrdiff_t)3 * c);
    }
}

// Trace of W's block, in units of rows: 4 tr G in space, 3 tr G in the plane. (A.43)
static double gram_trace(int dimension, const double* g) {
    return dimension == 2 ? 3.0 * (g[0] + g[2]) : 4.0 * (g[0] + g[3] + g[5]);
}

static void prepare_task(void* user, int task, int worker) {
    StrainSystem* s = ((Sweep*)user)->s;
    int dimension = s->rows.dimension, count = gram_size(dimension);
    (void)worker;
    for (int j = s->task[task]; j < s->task[task + 1]; ++j) {
        double *gram = s->gram + (ptrdiff_t)count * j, w[9];
        double* prep = s->prep + (ptrdiff_t)prep_size(s->d) * j;
        for (int e = 0; e < count; ++e) {
            gram[e] *= s->row_unit * s->row_unit;
        }
        if (dimension == 3) {
            local_prepare_strain(gram, prep);
        } else {
            make_block(gram, w);
            local_prepare(3, w, prep);
        }
    }
}

static void gram_task(void* user, int task, int worker) {
    StrainSystem* s = ((Sweep*)user)->s;
    int dimension = s->rows.dimension;
    double sum = 0.0;
    (void)worker;
    for (int j = s->task[task]; j < s->task[task + 1]; ++j) {
        double* gram = s->gram + (ptrdiff_t)gram_size(dimension) * j;
        sum += make_gram(s, j, gram) ? gram_trace(dimension, gram) : NAN;
    }
    s->sums[task] = sum;
}

TdlStatus strain_rows_prepare(StrainSystem* s, Arena* arena) {
    s->gram = ARENA_NEW(arena, double, (size_t)gram_size(s->rows.dimension) * (size_t)s->n);
    s->prep = ARENA_NEW(arena, double, (size_t)prep_size(s->d) * (size_t)s->n);
    if (s->gram == NULL || s->prep == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    Sweep w = {s, NULL, 0};
    pool_run(s->pool, s->task_count, 1, gram_task, &w);
    double trace = sum_of_tasks(s);
    if (!isfinite(trace)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    s->row_unit = trace > 0.0 ? sqrt(s->d * (double)s->n / trace) : 1.0;
    pool_run(s->pool, s->task_count, 1, prepare_task, &w);
    return TDL_STATUS_OK;
}
