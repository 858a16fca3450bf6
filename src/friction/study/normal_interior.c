// A primal-dual interior point for the normal problem, Mehrotra's predictor and corrector: what S3
// compares its active set with. docs/theory/friction.md, section 6
//
// An iteration is a dense factorisation of W + diag(u/r), O(n^3 / 3).
#include "friction/study/normal.h"
#include "math/dense.h"

#include <float.h>
#include <string.h>

enum { MAX_STEPS = 120 };

// What the products r u have to fall to, over those at the start: their root is what u and r may
// keep where both are zero in the solution.
static const double GAP = 1.0e-22;
// What W r + q - u may keep, over its terms.
static const double BALANCE = 1.0e-14;
// Way to the boundary that a step goes.
static const double SHARE = 0.995;
// Where the corrected step leaves more than this of the products, or is this short, a plain one is
// made that aims at a part of them: corrected ones alone went round in a circle.
static const double POOR = 0.8, SHORT = 0.1, PLAIN = 0.3;
// r over u, in units of each row, below which a row is open: r is less than 1e-15 of |q| then.
static const double OPEN = 1.0e-8;
// Added to the diagonal, which is 1: rows without limits may depend on each other.
static const double REGULAR = 1.0e-14;
// Growth of r at which it is asked whether anything can solve it at all, and what W r may be there,
// over |r|.
static const double LARGE = 1.0e8, NOTHING = 1.0e-6;

typedef struct Inside {
    const NormalProblem* p;
    Effort* effort;
    int n, limited;            // rows; with limits
    double *r, *u;             // [n] u: of rows with limits a variable of its own, else 0
    double* unit;              // [n] of each row, in which its own W is 1
    double *W, *q;             // in these
    double *left, *size;       // [n] W r + q - u, and the sum of its terms
    double* factor;            // [n n]
    double *dr, *du, *ar, *au; // [n] steps, and those of the predictor
    double most;               // of |q|
} Inside;

static bool has_limit(const NormalProblem* p, int i) {
    return p->free == NULL || p->free[i] == 0;
}

// Rows in units in which their own W is 1, or 0; and r = u = |q| to begin with.
static void start(Inside* s) {
    const NormalProblem* p = s->p;
    int n = s->n;
    for (int i = 0; i < n; ++i) {
        double own = p->W[i + (ptrdiff_t)i * n];
        s->unit[i] = own > 0.0 ? 1.0 / sqrt(own) : 1.0;
        s->q[i] = s->unit[i] * p->q[i];
        s->most = fmax(s->most, fabs(s->q[i]));
        s->limited += has_limit(p, i);
    }
    s->most = s->most > 0.0 ? s->most : 1.0;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            ptrdiff_t at = i + (ptrdiff_t)j * n;
            s->W[at] = s->unit[i] * p->W[at] * s->unit[j];
        }
        s->r[j] = s->u[j] = has_limit(p, j) ? s->most : 0.0;
    }
}

// Back to the units of the problem: r, and u as it follows from it. What is all but open carries
// nothing, so that nobody takes it for a contact that does.
static void finish(Inside* s) {
    int n = s->n;
    for (int i = 0; i < n; ++i) {
        bool open = has_limit(s->p, i) && s->r[i] < OPEN * s->u[i];
        s->r[i] = open ? 0.0 : s->unit[i] * s->r[i];
        s->u[i] = s->p->q[i];
    }
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            s->u[i] += s->p->W[i + (ptrdiff_t)j * n] * s->r[j];
        }
    }
}

static void find_left(Inside* s) {
    for (int i = 0; i < s->n; ++i) {
        s->left[i] = s->q[i] - s->u[i];
        s->size[i] = fabs(s->q[i]) + s->u[i];
    }
    for (int j = 0; j < s->n; ++j) {
        const double* w = s->W + (ptrdiff_t)j * s->n;
        for (int i = 0; i < s->n; ++i) {
            s->left[i] += w[i] * s->r[j];
            s->size[i] += fabs(w[i] * s->r[j]);
        }
    }
}

static double mean_product(const Inside* s, double t, const double* dr, const double* du) {
    double sum = 0.0;
    for (int i = 0; i < s->n; ++i) {
        sum += (s->r[i] + t * dr[i]) * (s->u[i] + t * du[i]);
    }
    return s->limited > 0 ? sum / s->limited : 0.0;
}

static bool factorise(Inside* s) {
    size_t n = (size_t)s->n;
    memcpy(s->factor, s->W, n * n * sizeof(double));
    for (size_t i = 0; i < n; ++i) {
        s->factor[i + i * n] += REGULAR;
        s->factor[i + i * n] += has_limit(s->p, (int)i) ? s->u[i] / s->r[i] : 0.0;
    }
    effort_add(s->effort, (double)n * (double)n * (double)n / 6.0);
    return tdl_cholesky(s->n, s->factor, s->n) == s->n;
}

// The step to products of `aim`, of which the predictor's own were `second`. (F.92)
static void find_step(Inside* s, double aim, const double* second_r, const double* second_u,
                      double* dr, double* du) {
    for (int i = 0; i < s->n; ++i) {
        double more = second_r == NULL ? 0.0 : second_r[i] * second_u[i];
        du[i] = has_limit(s->p, i) ? (aim - more) / s->r[i] - s->u[i] : 0.0;
        dr[i] = du[i] - s->left[i];
    }
    tdl_cholesky_solve(s->n, s->factor, s->n, 1, dr, s->n);
    for (int i = 0; i < s->n; ++i) {
        du[i] -= has_limit(s->p, i) ? s->u[i] / s->r[i] * dr[i] : 0.0;
    }
}

// The part of a step that keeps x positive.
static double way_of(const Inside* s, const double* x, const double* dx) {
    double way = 1.0;
    for (int i = 0; i < s->n; ++i) {
        if (has_limit(s->p, i) && dx[i] < 0.0) {
            way = fmin(way, -SHARE * x[i] / dx[i]);
        }
    }
    return way;
}

static double shorter_way(const Inside* s, const double* dr, const double* du) {
    return fmin(way_of(s, s->r, dr), way_of(s, s->u, du));
}

static bool is_balanced(const Inside* s) {
    for (int i = 0; i < s->n; ++i) {
        if (fabs(s->left[i]) > BALANCE * s->size[i]) {
            return false;
        }
    }
    return true;
}

// Whether r, grown large, moves nothing and is still asked for: then nothing solves it.
static bool is_infeasible(const Inside* s) {
    double most = 0.0, moved = 0.0, along = 0.0;
    for (int i = 0; i < s->n; ++i) {
        most = fmax(most, fabs(s->r[i]));
        moved = fmax(moved, fabs(s->left[i] - s->q[i] + s->u[i])); // W r
        along += s->q[i] * s->r[i];
    }
    return most > LARGE * s->most && moved < NOTHING * most && along < -NOTHING * s->most * most;
}

// One iteration; the length of its step, 0: there is none.
static double improve(Inside* s) {
    if (!factorise(s)) {
        return 0.0;
    }
    double before = mean_product(s, 0.0, s->dr, s->du);
    find_step(s, 0.0, NULL, NULL, s->ar, s->au);
    double way = shorter_way(s, s->ar, s->au);
    double ratio = before > 0.0 ? mean_product(s, way, s->ar, s->au) / before : 0.0;
    find_step(s, ratio * ratio * ratio * before, s->ar, s->au, s->dr, s->du);
    way = shorter_way(s, s->dr, s->du);
    if (way < SHORT || mean_product(s, way, s->dr, s->du) > POOR * before) {
        find_step(s, PLAIN * before, NULL, NULL, s->dr, s->du);
        way = shorter_way(s, s->dr, s->du);
    }
    for (int i = 0; i < s->n; ++i) {
        s->r[i] += way * s->dr[i];
        s->u[i] += way * s->du[i];
    }
    return way;
}

static NormalSolve run_steps(Inside* s) {
    double end = GAP * s->most * s->most, work = pow(s->n, 3) / 6.0, way = 1.0;
    NormalSolve out = {NORMAL_LIMIT, 0};
    memset(s->dr, 0, (size_t)s->n * sizeof *s->dr);
    memset(s->du, 0, (size_t)s->n * sizeof *s->du);
    for (; out.iterations < MAX_STEPS; ++out.iterations) {
        find_left(s);
        bool done = mean_product(s, 0.0, s->dr, s->du) <= end && is_balanced(s);
        if (done || way < DBL_EPSILON) {
            out.outcome = done ? NORMAL_SOLVED : NORMAL_LIMIT;
            return out;
        }
        if (is_infeasible(s)) {
            out.outcome = NORMAL_INFEASIBLE;
            return out;
        }
        if (!effort_allows(s->effort, work)) {
            return out;
        }
        way = improve(s);
    }
    return out;
}

TdlStatus normal_interior(const NormalProblem* p, Arena* arena, Effort* effort, double* r,
                          double* u, NormalSolve* out) {
    size_t n = (size_t)p->n;
    ArenaMark mark = arena_mark(arena);
    Inside s = {.p = p, .effort = effort, .n = p->n, .r = r, .u = u};
    double** const own[] = {&s.unit, &s.q, &s.left, &s.size, &s.dr, &s.du, &s.ar, &s.au};
    s.factor = ARENA_NEW(arena, double, n* n + 1);
    s.W = ARENA_NEW(arena, double, n* n + 1);
    bool good = s.factor != NULL && s.W != NULL;
    for (size_t k = 0; k < sizeof own / sizeof *own && good; ++k) {
        *own[k] = ARENA_NEW(arena, double, n + 1);
        good = *own[k] != NULL;
    }
    if (good) {
        start(&s);
        *out = run_steps(&s);
        finish(&s);
    }
    arena_release(arena, mark);
    return good ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}
