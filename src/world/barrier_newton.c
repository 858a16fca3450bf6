// Newton's method on the barrier problem of contacts whose gaps are linear in the velocities.
//
// With r the impulses and u = free + W r the relative velocities, the energy
// r'W r / 2 + psi(u) is convex (P.10). Its gradient is W (r - rho(u)), rho being the law, so that
// Newton's step is (I + D W) dr = rho(u) - r, D = -drho/du >= 0: by Cholesky of I + E W E, E the
// root of D, over the rows that the law acts on (P.11). Friction goes by the normal forces of the
// solution before; that is repeated until they stay. Cost: a dense factor of three rows a contact.
#include "world/barrier_newton.h"

#include "math/dense.h"
#include "world/barrier_law.h"

#include <string.h>

enum { MAX_STEPS = 200, MAX_HALVINGS = 40, MAX_LAGS = 30 };

// The floor falls by this where a solution lies below it, at most to a share of the distance at
// which a gap is as good as none.
static const double FLOOR_FALL = 0.03;
static const double FLOOR_LEAST = 1.0e-12;

// Roundings of a gap that count, about 40 machine epsilons.
static const double ROUNDING = 1.0e-14;

// Slope of the energy at the end of a step, over that at its start.
static const double STEEP = 0.1;

typedef struct Work {
    double *e, *We;       // [3 count] rho(u) - r, and what it does
    double *dr, *du;      // [3 count] the step
    double* root;         // [9 count] E, by contact
    double *matrix, *rhs; // over the rows that the law acts on
    int* row;             // [3 count] those rows
    int row_count;
} Work;

static bool allocate(Arena* arena, int count, Work* w) {
    size_t n = 3 * (size_t)count;
    w->e = ARENA_NEW(arena, double, n);
    w->We = ARENA_NEW(arena, double, n);
    w->dr = ARENA_NEW(arena, double, n);
    w->du = ARENA_NEW(arena, double, n);
    w->root = ARENA_NEW(arena, double, 3 * n);
    w->matrix = ARENA_NEW(arena, double, n* n);
    w->rhs = ARENA_NEW(arena, double, n);
    w->row = ARENA_NEW(arena, int, n);
    return w->e && w->We && w->dr && w->du && w->root && w->matrix && w->rhs && w->row;
}

// y = W x; W is symmetric
static void multiply(const BarrierProblem* p, const double* x, double* y) {
    int n = 3 * p->count;
    for (int i = 0; i < n; ++i) {
        y[i] = tdl_dot(n, p->W + (size_t)i * (size_t)n, x);
    }
}

// --- the law ---------------------------------------------------------------------------------

static double gap_of(const BarrierProblem* p, int i, double u) {
    return p->offset[i] + p->dt * u;
}

static TdlVec3 sliding_of(const BarrierProblem* p, int i, TdlVec3 u) {
    return (TdlVec3){0.0, u.y + p->fixed[3 * i + 1], u.z + p->fixed[3 * i + 2]};
}

TdlVec3 barrier_impulse(const BarrierProblem* p, int i, TdlVec3 u, double lambda) {
    BarrierTerm b = barrier_term(gap_of(p, i, u.x), p->distance, p->floor);
    TdlVec3 slide = sliding_of(p, i, u);
    double most = p->dt * p->mu[i] * lambda;
    CreepTerm c = creep_term(tdl_norm3(slide), p->creep);
    double share = most > 0.0 ? -most * c.over_speed : 0.0;
    return (TdlVec3){-p->dt * p->stiffness[i] * b.first, share * slide.y, share * slide.z};
}

// E of a contact: across the sliding the law is f1 over the speed, along it f1'. (P.7)
static void find_root(const BarrierProblem* p, int i, TdlVec3 u, double root[9]) {
    BarrierTerm b = barrier_term(gap_of(p, i, u.x), p->distance, p->floor);
    TdlVec3 slide = sliding_of(p, i, u);
    double speed = tdl_norm3(slide), most = p->dt * p->mu[i] * p->lambda[i];
    CreepTerm c = creep_term(speed, p->creep);
    double y = speed > 0.0 ? slide.y / speed : 1.0, z = speed > 0.0 ? slide.z / speed : 0.0;
    double along = most > 0.0 ? sqrt(most * c.first) : 0.0;
    double across = most > 0.0 ? sqrt(most * c.over_speed) : 0.0;
    memset(root, 0, 9 * sizeof *root);
    root[0] = p->dt * sqrt(p->stiffness[i] * b.second);
    root[4] = across * z * z + along * y * y;
    root[8] = across * y * y + along * z * z;
    root[5] = root[7] = (along - across) * y * z;
}

// What rounding of the gaps may make of forces, relative: the smaller a gap, the more.
static double find_rounding(const BarrierProblem* p) {
    double worst = 0.0;
    for (int i = 0; i < p->count; ++i) {
        double u = p->u[3 * i], gap = fmax(gap_of(p, i, u), p->floor);
        if (gap < p->distance) {
            worst = fmax(worst, (fabs(p->offset[i]) + p->dt * fabs(u)) / gap);
        }
    }
    return ROUNDING * worst;
}

// e = rho(u) - r and its measure, squared, beside that of r.
static double find_rest(const BarrierProblem* p, Work* w, double* size) {
    int n = 3 * p->count;
    for (int i = 0; i < p->count; ++i) {
        TdlVec3 rho = barrier_impulse(p, i, tdl_load3(p->u, i), p->lambda[i]);
        tdl_store3(w->e, i, tdl_sub3(rho, tdl_load3(p->r, i)));
    }
    multiply(p, w->e, w->We);
    *size = 0.0;
    for (int k = 0; k < n; ++k) {
        *size += p->r[k] * (p->u[k] - p->free[k]);
    }
    return fmax(tdl_dot(n, w->e, w->We), 0.0);
}

// --- a step ----------------------------------------------------------------------------------

static void choose_rows(const BarrierProblem* p, Work* w) {
    w->row_count = 0;
    for (int i = 0; i < p->count; ++i) {
        double* root = w->root + 9 * i;
        find_root(p, i, tdl_load3(p->u, i), root);
        for (int k = 0; k < 3; ++k) {
            if (root[4 * k] > 0.0) {
                w->row[w->row_count++] = 3 * i + k;
            }
        }
    }
}

// (E x)_k of the row's contact, x over all rows.
static double root_product(const Work* w, int row, const double* x) {
    int i = row / 3;
    const double* root = w->root + 9 * i + 3 * (row % 3);
    return root[0] * x[3 * i] + root[1] * x[3 * i + 1] + root[2] * x[3 * i + 2];
}

// The lower triangle of I + E W E over the rows.
static void fill_matrix(const BarrierProblem* p, Work* w) {
    size_t n = 3 * (size_t)p->count;
    double* column = w->du; // W E of one row
    for (int b = 0; b < w->row_count; ++b) {
        int j = w->row[b] / 3;
        const double* root = w->root + 9 * j + 3 * (w->row[b] % 3);
        const double* wj = p->W + 3 * (size_t)j * n;
        for (size_t k = 0; k < n; ++k) {
            column[k] = root[0] * wj[k] + root[1] * wj[n + k] + root[2] * wj[2 * n + k];
        }
        for (int a = b; a < w->row_count; ++a) {
            w->matrix[(size_t)a + (size_t)b * (size_t)w->row_count] =
                root_product(w, w->row[a], column) + (a == b ? 1.0 : 0.0);
        }
    }
}

// dr = e - E s, (I + E W E) s = E W e. (P.11)
static bool find_step(const BarrierProblem* p, Work* w) {
    int n = 3 * p->count, rows = w->row_count;
    fill_matrix(p, w);
    if (tdl_cholesky(rows, w->matrix, rows) != rows) {
        return false;
    }
    for (int a = 0; a < rows; ++a) {
        w->rhs[a] = root_product(w, w->row[a], w->We);
    }
    tdl_cholesky_solve(rows, w->matrix, rows, 1, w->rhs, rows);
    memcpy(w->dr, w->e, (size_t)n * sizeof *w->dr);
    for (int a = 0; a < rows; ++a) {
        int i = w->row[a] / 3;
        const double* root = w->root + 9 * i + 3 * (w->row[a] % 3);
        for (int k = 0; k < 3; ++k) {
            w->dr[3 * i + k] -= root[k] * w->rhs[a];
        }
    }
    multiply(p, w->dr, w->du);
    return true;
}

// The slope of the energy along the step, at a share of it: dr'W (r - rho). Differences of the
// energy itself would be rounding near the end.
static double slope_at(const BarrierProblem* p, const Work* w, double share) {
    double sum = 0.0;
    for (int i = 0; i < p->count; ++i) {
        TdlVec3 du = tdl_load3(w->du, i), dr = tdl_load3(w->dr, i);
        TdlVec3 u = tdl_axpy3(tdl_load3(p->u, i), share, du);
        TdlVec3 r = tdl_axpy3(tdl_load3(p->r, i), share, dr);
        sum += tdl_dot3(du, tdl_sub3(r, barrier_impulse(p, i, u, p->lambda[i])));
    }
    return sum;
}

static void move(BarrierProblem* p, const Work* w, double share) {
    for (int k = 0; k < 3 * p->count; ++k) {
        p->r[k] += share * w->dr[k];
        p->u[k] += share * w->du[k];
    }
}

// Halves the step until it does not lead far up the other side. False when it always does: rounding
// is all that is left.
static bool descend(BarrierProblem* p, const Work* w) {
    double most = STEEP * fabs(slope_at(p, w, 0.0)), share = 1.0;
    for (int k = 0; k < MAX_HALVINGS; ++k, share *= 0.5) {
        if (slope_at(p, w, share) <= most) {
            move(p, w, share);
            return true;
        }
    }
    return false;
}

// u = free + W r
static void find_velocities(BarrierProblem* p) {
    multiply(p, p->r, p->u);
    for (int k = 0; k < 3 * p->count; ++k) {
        p->u[k] += p->free[k];
    }
}

// With friction by the present lambda.
static void solve_lagged(BarrierProblem* p, Work* w, BarrierSolved* out) {
    out->converged = false;
    find_velocities(p);
    for (int i = 0; i < MAX_STEPS; ++i) {
        double size, rest = find_rest(p, w, &size);
        out->error = rest > 0.0 ? sqrt(rest / fmax(size, rest)) : 0.0;
        bool near = out->error <= fmax(p->tolerance, find_rounding(p));
        choose_rows(p, w);
        if (!find_step(p, w)) {
            return;
        }
        if (near) {
            // one step more costs little, and is all that rounding allows
            move(p, w, 1.0);
            find_velocities(p);
            out->converged = true;
            return;
        }
        ++out->iterations;
        if (!descend(p, w)) {
            return;
        }
    }
}

static bool lies_below(const BarrierProblem* p) {
    for (int i = 0; i < p->count; ++i) {
        if (gap_of(p, i, p->u[3 * i]) < p->floor) {
            return true;
        }
    }
    return false;
}

// Solves, and again with a lower floor, until no gap is below it. (P.9)
static void solve_above(BarrierProblem* p, Work* w, BarrierSolved* out) {
    solve_lagged(p, w, out);
    while (out->converged && lies_below(p)) {
        if (p->floor <= FLOOR_LEAST * p->distance) {
            out->converged = false;
            return;
        }
        p->floor = fmax(FLOOR_FALL * p->floor, FLOOR_LEAST * p->distance);
        solve_lagged(p, w, out);
    }
}

// The normal forces of the solution, for friction to go by; by how much they are others, relative.
static double lag(BarrierProblem* p) {
    double change = 0.0, most = 0.0;
    for (int i = 0; i < p->count; ++i) {
        double now = fmax(p->r[3 * i] / p->dt, 0.0);
        if (p->mu[i] > 0.0) {
            change = fmax(change, fabs(now - p->lambda[i]));
            most = fmax(most, now);
        }
        p->lambda[i] = now;
    }
    return change > 0.0 ? change / fmax(most, change) : 0.0;
}

TdlStatus barrier_newton(BarrierProblem* p, Arena* arena, BarrierSolved* out) {
    Work w;
    *out = (BarrierSolved){.converged = true};
    if (!allocate(arena, p->count, &w)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < MAX_LAGS; ++i) {
        solve_above(p, &w, out);
        double change = lag(p);
        if (!out->converged || change <= fmax(p->tolerance, find_rounding(p))) {
            return TDL_STATUS_OK;
        }
        out->error = fmax(out->error, change);
    }
    out->converged = false;
    return TDL_STATUS_OK;
}
