// S3's active set as Goldfarb's and Idnani's dual method: r is always that of a set of rows with
// u = 0, and no r of these is negative. It needs no feasible start, and every row that is taken in
// raises the dual objective, so that no set comes twice. docs/theory/friction.md, section 6
//
// The factor L of W over the set grows by a row and is rotated when one leaves; a pivot costs
// O(set^2 + n set).
#include "friction/study/normal.h"
#include "math/dense.h"

#include <float.h>
#include <string.h>

// What a row may add to the set, over the terms that it is the difference of, before it counts as
// dependent on it.
static const double DEPENDENT = 1.0e-10;
// What u may lack, over its terms, of a row that depends on the set and has no r to gain.
static const double MET = 1.0e-9;
// Roundings of a sum within which u counts as zero.
static const double ROUNDINGS = 64.0;
// Pivots for each row, and besides: many times what any problem took.
enum { PIVOTS_PER_ROW = 20, MORE_PIVOTS = 100 };

typedef struct Active {
    const NormalProblem* p;
    Effort* effort;
    int count;      // of the set
    int* row;       // [count]
    bool *in, *met; // [n] in the set; dependent on it, and met but for rounding
    double* L;      // row i at L + i n
    double *r, *u;  // [n] of the problem
    double* size;   // [n] of the terms of u
    double *y, *d;  // [n] L^-1 and W_AA^-1 of a column of W
    double squared; // what the column adds: W_pp - y'y
    int pivots;
} Active;

static bool is_free(const NormalProblem* p, int i) {
    return p->free != NULL && p->free[i] != 0;
}

static const double* column_of(const Active* a, int i) {
    return a->p->W + (ptrdiff_t)i * a->p->n;
}

static double* factor_row(const Active* a, int i) {
    return a->L + (ptrdiff_t)i * a->p->n;
}

static void solve_lower(const Active* a, double* x) {
    for (int i = 0; i < a->count; ++i) {
        const double* l = factor_row(a, i);
        x[i] = (x[i] - tdl_dot(i, l, x)) / l[i];
    }
}

static void solve_upper(const Active* a, double* x) {
    for (int i = a->count - 1; i >= 0; --i) {
        const double* l = factor_row(a, i);
        x[i] /= l[i];
        for (int k = 0; k < i; ++k) {
            x[k] -= l[k] * x[i];
        }
    }
}

// y and d of row p, and what it adds. True: it does not depend on the set.
static bool look_at(Active* a, int p) {
    const double* w = column_of(a, p);
    for (int i = 0; i < a->count; ++i) {
        a->y[i] = w[a->row[i]];
    }
    solve_lower(a, a->y);
    a->squared = w[p] - tdl_dot(a->count, a->y, a->y);
    memcpy(a->d, a->y, (size_t)a->count * sizeof *a->d);
    solve_upper(a, a->d);
    effort_add(a->effort, (double)a->count * a->count);
    double terms = sqrt(fmax(w[p], 0.0));
    for (int i = 0; i < a->count; ++i) {
        terms += fabs(a->d[i]) * sqrt(column_of(a, a->row[i])[a->row[i]]);
    }
    return a->squared > DEPENDENT * terms * terms;
}

// Takes in the row that was looked at.
static void take_in(Active* a, int p) {
    double* l = factor_row(a, a->count);
    memcpy(l, a->y, (size_t)a->count * sizeof *l);
    l[a->count] = sqrt(a->squared);
    a->row[a->count++] = p;
    a->in[p] = true;
}

// The set without its row j: L without it has one more entry a row from j on, rotated away.
static void take_out(Active* a, int j) {
    a->in[a->row[j]] = false;
    a->r[a->row[j]] = 0.0;
    --a->count;
    memmove(a->row + j, a->row + j + 1, (size_t)(a->count - j) * sizeof *a->row);
    for (int i = j; i < a->count; ++i) {
        memcpy(factor_row(a, i), factor_row(a, i + 1), ((size_t)i + 2) * sizeof(double));
    }
    for (int k = j; k < a->count; ++k) {
        double *l = factor_row(a, k), size = hypot(l[k], l[k + 1]);
        double c = l[k] / size, s = l[k + 1] / size;
        for (int i = k; i < a->count; ++i) {
            double *m = factor_row(a, i), x = m[k], y = m[k + 1];
            m[k] = c * x + s * y;
            m[k + 1] = c * y - s * x;
        }
    }
    effort_add(a->effort, 3.0 * (a->count - j) * (a->count - j));
}

static void find_velocities(Active* a) {
    int n = a->p->n;
    for (int i = 0; i < n; ++i) {
        a->u[i] = a->p->q[i];
        a->size[i] = fabs(a->p->q[i]);
    }
    for (int k = 0; k < a->count; ++k) {
        const double* w = column_of(a, a->row[k]);
        double r = a->r[a->row[k]];
        for (int i = 0; i < n; ++i) {
            a->u[i] += w[i] * r;
            a->size[i] += fabs(w[i] * r);
        }
    }
    effort_add(a->effort, (double)n * a->count);
}

// r of the set, for which its u is zero.
static void solve_set(Active* a) {
    for (int i = 0; i < a->count; ++i) {
        a->d[i] = -a->p->q[a->row[i]];
    }
    solve_lower(a, a->d);
    solve_upper(a, a->d);
    for (int i = 0; i < a->count; ++i) {
        a->r[a->row[i]] = a->d[i];
    }
    effort_add(a->effort, (double)a->count * a->count);
}

// The same once more for what rounding left of u.
static void polish(Active* a) {
    for (int i = 0; i < a->count; ++i) {
        a->d[i] = a->u[a->row[i]];
    }
    solve_lower(a, a->d);
    solve_upper(a, a->d);
    for (int i = 0; i < a->count; ++i) {
        double r = a->r[a->row[i]] - a->d[i];
        a->r[a->row[i]] = r < 0.0 && !is_free(a->p, a->row[i]) ? 0.0 : r;
    }
}

static double rounding_of(const Active* a, int i) {
    return (a->met[i] ? MET : ROUNDINGS * DBL_EPSILON) * a->size[i];
}

// The most violated row, by the impulse that it asks for; -1: none.
static int find_violated(const Active* a) {
    int worst = -1;
    double most = 0.0;
    for (int i = 0; i < a->p->n; ++i) {
        double own = column_of(a, i)[i], unit = own > 0.0 ? sqrt(own) : 1.0;
        bool out = !a->in[i] && !is_free(a->p, i);
        if (out && a->u[i] < -rounding_of(a, i) && a->u[i] / unit < most) {
            most = a->u[i] / unit;
            worst = i;
        }
    }
    return worst;
}

// Of the set the row whose r the step along d takes to zero first, and how far that is; -1: none.
static int find_leaving(const Active* a, double* step) {
    int leaving = -1;
    *step = INFINITY;
    for (int i = 0; i < a->count; ++i) {
        double t = a->r[a->row[i]] / a->d[i];
        if (!is_free(a->p, a->row[i]) && a->d[i] > 0.0 && t < *step) {
            *step = t;
            leaving = i;
        }
    }
    return leaving;
}

static void step_along(Active* a, int p, double t) {
    for (int i = 0; i < a->count; ++i) {
        a->r[a->row[i]] -= t * a->d[i];
    }
    a->r[p] += t;
}

// r <- the certificate that no r solves it
static void certify(Active* a, int p) {
    memset(a->r, 0, (size_t)a->p->n * sizeof *a->r);
    step_along(a, p, a->u[p] < 0.0 ? 1.0 : -1.0);
}

// Takes the violated row p in, and out what it takes to zero. (F.91)
static NormalOutcome add_row(Active* a, int p) {
    for (double u = a->u[p];;) {
        double room = (double)a->count * (a->count + a->p->n);
        if (a->pivots++ > PIVOTS_PER_ROW * a->p->n + MORE_PIVOTS ||
            !effort_allows(a->effort, room)) {
            return NORMAL_LIMIT;
        }
        bool independent = look_at(a, p);
        double first, full = independent ? -u / a->squared : INFINITY;
        int leaving = find_leaving(a, &first);
        if (leaving < 0 && !independent && a->u[p] >= -MET * a->size[p]) {
            a->met[p] = true;
            a->r[p] = 0.0;
            return NORMAL_SOLVED;
        }
        if (leaving < 0 && !independent) {
            certify(a, p);
            return NORMAL_INFEASIBLE;
        }
        if (leaving < 0 || full <= first) {
            step_along(a, p, full);
            take_in(a, p);
            return NORMAL_SOLVED;
        }
        step_along(a, p, first);
        u += independent ? first * a->squared : 0.0;
        take_out(a, leaving);
    }
}

// Free rows; what is left of one that depends on others has to be zero by itself.
static NormalOutcome start_free(Active* a) {
    for (int i = 0; i < a->p->n; ++i) {
        if (is_free(a->p, i) && look_at(a, i)) {
            take_in(a, i);
        }
    }
    solve_set(a);
    find_velocities(a);
    for (int i = 0; i < a->p->n; ++i) {
        if (is_free(a->p, i) && !a->in[i] && fabs(a->u[i]) > MET * a->size[i]) {
            look_at(a, i);
            certify(a, i);
            return NORMAL_INFEASIBLE;
        }
    }
    return NORMAL_SOLVED;
}

// Rows that the guess has positive, without those that the set then has negative: a set to start
// from, as there is no negative one left.
static void start_guessed(Active* a, const double* guess) {
    for (int i = 0; i < a->p->n; ++i) {
        if (!is_free(a->p, i) && guess[i] > 0.0 && look_at(a, i)) {
            take_in(a, i);
        }
    }
    for (int worst = 0; worst >= 0;) {
        solve_set(a);
        worst = -1;
        for (int i = 0; i < a->count; ++i) {
            double r = a->r[a->row[i]];
            if (!is_free(a->p, a->row[i]) && r < 0.0 && (worst < 0 || r < a->r[a->row[worst]])) {
                worst = i;
            }
        }
        if (worst >= 0) {
            take_out(a, worst);
            ++a->pivots;
        }
    }
}

static NormalOutcome run_pivots(Active* a, const double* guess) {
    NormalOutcome outcome = start_free(a);
    if (outcome != NORMAL_SOLVED) {
        return outcome;
    }
    start_guessed(a, guess);
    for (bool polished = false;;) {
        find_velocities(a);
        int p = find_violated(a);
        if (p >= 0) {
            outcome = add_row(a, p);
            polished = false;
        } else if (polished) {
            return NORMAL_SOLVED;
        } else {
            polish(a);
            polished = true;
        }
        if (outcome != NORMAL_SOLVED) {
            return outcome;
        }
    }
}

TdlStatus normal_active_set(const NormalProblem* p, Arena* arena, Effort* effort, double* r,
                            double* u, NormalSolve* out) {
    size_t n = (size_t)p->n;
    ArenaMark mark = arena_mark(arena);
    Active a = {.p = p, .effort = effort, .r = r, .u = u};
    double* guess = ARENA_NEW(arena, double, n + 1);
    a.row = ARENA_NEW(arena, int, n + 1);
    a.in = ARENA_NEW(arena, bool, 2 * n + 1);
    a.L = ARENA_NEW(arena, double, n* n + 2);
    a.size = ARENA_NEW(arena, double, n + 1);
    a.y = ARENA_NEW(arena, double, n + 1);
    a.d = ARENA_NEW(arena, double, n + 1);
    if (!guess || !a.row || !a.in || !a.L || !a.size || !a.y || !a.d) {
        arena_release(arena, mark);
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(guess, r, n * sizeof *r);
    memset(r, 0, n * sizeof *r);
    memset(a.in, 0, 2 * n * sizeof *a.in);
    a.met = a.in + n;
    out->outcome = run_pivots(&a, guess);
    out->iterations = a.pivots;
    arena_release(arena, mark);
    return TDL_STATUS_OK;
}
