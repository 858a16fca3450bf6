// The natural map in extended precision.
//
// Wedged stones press each other with impulses of 1e9 times what the rest needs, and masses over
// six decades have 1e6 of their own: in u = W r + b and in r - P(r - rho u~) all but a few digits
// cancel, and an error of 1e-8 is that of the arithmetic rather than of r. Here both are computed
// with the 64 bits of long double (where the machine has them): three digits more, at some ten
// times the cost of a product, which is why it is asked for near the end only.
#include "friction/exact.h"

#include <float.h>
#include <string.h>

typedef long double Real;

// Where rounding leaves more than this part of an error it is not to be believed.
static const double ROUNDING_PART = 0.01;

ExactView exact_view(const System* sys) {
    return (ExactView){.problem = sys->problem,
                       .contact = sys->contact,
                       .n = sys->n,
                       .law = sys->law,
                       .mu = sys->mu,
                       .b = sys->b,
                       .unit = sys->sigma,
                       .rho = sys->rho};
}

// --- when ----------------------------------------------------------------------------------------

// The square of what rounding leaves of one contact, in units of the machine's; w is its block.
static double rounding_square(int d, const double* w, double rho, const double* r) {
    double own = 0.0;
    for (int k = 0; k < d; ++k) {
        own += fabs(w[k * (d + 1)]) / d;
    }
    return (1.0 + rho * own) * (1.0 + rho * own) * dot_product((size_t)d, r, r);
}

double exact_rounding(const System* sys, const double* r) {
    size_t d = (size_t)sys->d;
    double sum = 0.0;
    for (size_t i = 0; i < (size_t)sys->n; ++i) {
        sum += rounding_square(sys->d, sys->diag + i * d * d, sys->rho, r + i * d);
    }
    return DBL_EPSILON * sqrt(sum);
}

bool exact_matters(const System* sys, double error, double rounding) {
    return sys->error_kind == TDL_FRICTION_ERROR_NATURAL && sys->problem != NULL &&
           rounding > ROUNDING_PART * fmax(error, sys->target);
}

// w <- the block of contact i with itself
static void own_block(const TdlFrictionProblem* p, int i, double* w) {
    size_t d2 = (size_t)(p->d * p->d);
    memset(w, 0, d2 * sizeof *w);
    if (problem_has_bodies(p)) {
        problem_add_coupling(p, i, i, w);
    }
    for (int e = p->start != NULL ? p->start[i] : 0; p->start != NULL && e < p->start[i + 1]; ++e) {
        if (p->column[e] == i) {
            memcpy(w, p->blocks + (size_t)e * d2, d2 * sizeof *w);
        }
    }
    for (int k = 0; k < p->d && p->gamma != NULL; ++k) {
        w[k * (p->d + 1)] += p->gamma[i];
    }
}

bool exact_matters_to(const TdlFrictionProblem* p, double error, const double* r) {
    double sum = 0.0, w[CONE_MAX * CONE_MAX];
    for (int i = 0; i < p->n; ++i) {
        own_block(p, i, w);
        sum += rounding_square(p->d, w, 1.0, r + i * p->d);
    }
    return DBL_EPSILON * sqrt(sum) > ROUNDING_PART * error;
}

// --- how -----------------------------------------------------------------------------------------

static int contact_of(const ExactView* view, int i) {
    return view->contact != NULL ? view->contact[i] : i;
}

static int coordinate_of(const TdlFrictionProblem* p, int side, const Rows* rows, int j) {
    return p->dof_start[p->body[side]] + (rows->list != NULL ? rows->list[j] : rows->first + j);
}

// v <- Y' r
static void add_bodies(const ExactView* view, const double* r, Real* v) {
    const TdlFrictionProblem* p = view->problem;
    int d = p->d;
    for (int s = 0; s < 2 * view->n; ++s) {
        int side = 2 * contact_of(view, s / 2) + s % 2;
        if (!side_moves(p, side)) {
            continue;
        }
        Rows y = rows_of_y(p, side);
        for (int k = 0; k < d; ++k) {
            const double* row = y.row + (ptrdiff_t)k * y.apart;
            Real x = r[s / 2 * d + k];
            for (int j = 0; j < y.count; ++j) {
                v[coordinate_of(p, side, &y, j)] += row[j] * x;
            }
        }
    }
}

// u <- H v of the view's contact i
static void through_bodies(const ExactView* view, int i, const Real* v, Real* u) {
    const TdlFrictionProblem* p = view->problem;
    int at = contact_of(view, i);
    for (int side = 2 * at; side < 2 * at + 2; ++side) {
        if (p->body[side] < 0) {
            continue;
        }
        Rows h = rows_of_h(p, side);
        for (int k = 0; k < p->d; ++k) {
            const double* row = h.row + (ptrdiff_t)k * h.apart;
            for (int j = 0; j < h.count; ++j) {
                u[k] += row[j] * v[coordinate_of(p, side, &h, j)];
            }
        }
    }
}

// u <- the row of W times r of all contacts of the problem
static void through_rows(const TdlFrictionProblem* p, int at, const Real* r, Real* u) {
    int d = p->d;
    for (int e = p->start[at]; e < p->start[at + 1]; ++e) {
        const double* block = p->blocks + (size_t)e * (size_t)(d * d);
        for (int k = 0; k < d * d; ++k) {
            u[k % d] += block[k] * r[p->column[e] * d + k / d];
        }
    }
}

static Real tangent(int d, const Real* x) {
    Real sum = 0.0L;
    for (int k = 1; k < d; ++k) {
        sum += x[k] * x[k];
    }
    return sqrtl(sum);
}

// The square of the map of one contact. (F.5), (F.9)
static Real map_square(int d, ContactLaw law, Real mu, Real rho, const Real* u, const double* r) {
    Real x[CONE_MAX] = {0}, sum = 0.0L, shift = law == LAW_CONE ? mu * tangent(d, u) : 0.0L;
    for (int k = 0; k < d; ++k) {
        x[k] = r[k] - rho * (u[k] + (k == 0 ? shift : 0.0L));
    }
    Real t = tangent(d, x), normal = law == LAW_BILATERAL || x[0] > 0.0L ? x[0] : 0.0L;
    Real along = law == LAW_SMOOTH ? 0.0L : 1.0L;
    if (law_has_cone(law) && t > mu * x[0]) {
        normal = mu * t <= -x[0] ? 0.0L : (x[0] + mu * t) / (1.0L + mu * mu);
        along = normal > 0.0L ? mu * normal / t : 0.0L;
    }
    for (int k = 0; k < d; ++k) {
        Real off = r[k] - (k == 0 ? normal : along * x[k]);
        sum += off * off;
    }
    return sum;
}

// v <- velocities of the bodies, or the impulses of all contacts where W has rows; null: no memory
static Real* begin(const ExactView* view, Arena* arena, const double* r) {
    const TdlFrictionProblem* p = view->problem;
    bool bodies = problem_has_bodies(p);
    int d = p->d;
    size_t size = bodies ? (size_t)p->dof_count : (size_t)p->n * (size_t)d;
    Real* v = ARENA_NEW(arena, Real, size + 1);
    if (v == NULL) {
        return NULL;
    }
    memset(v, 0, size * sizeof *v);
    if (bodies) {
        add_bodies(view, r, v);
    }
    for (int k = 0; k < view->n * d && !bodies; ++k) {
        v[contact_of(view, k / d) * d + k % d] = r[k];
    }
    return v;
}

// u <- W r/unit + b of the view's contact i
static void velocity_of(const ExactView* view, int i, const Real* v, const double* r, Real* u) {
    const TdlFrictionProblem* p = view->problem;
    memset(u, 0, CONE_MAX * sizeof *u);
    if (problem_has_bodies(p)) {
        through_bodies(view, i, v, u);
    } else {
        through_rows(p, contact_of(view, i), v, u);
    }
    for (int k = 0; k < p->d && p->gamma != NULL; ++k) {
        u[k] += (Real)p->gamma[contact_of(view, i)] * r[i * p->d + k];
    }
    for (int k = 0; k < p->d; ++k) {
        u[k] = u[k] / view->unit + (view->b != NULL ? view->b[i * p->d + k] : 0.0);
    }
}

double exact_error(const ExactView* view, Arena* arena, const double* r) {
    int d = view->problem->d;
    ArenaMark mark = arena_mark(arena);
    Real *v = begin(view, arena, r), sum = v != NULL ? 0.0L : INFINITY;
    for (int i = 0; i < view->n && v != NULL; ++i) {
        Real u[CONE_MAX];
        velocity_of(view, i, v, r, u);
        sum += map_square(d, view->law[i], view->mu[i], view->rho, u, r + i * d);
    }
    arena_release(arena, mark);
    return (double)sqrtl(sum);
}

TdlStatus exact_velocity(const ExactView* view, Arena* arena, const double* r, double* out) {
    int d = view->problem->d;
    ArenaMark mark = arena_mark(arena);
    Real* v = begin(view, arena, r);
    for (int i = 0; i < view->n && v != NULL; ++i) {
        Real u[CONE_MAX];
        velocity_of(view, i, v, r, u);
        for (int k = 0; k < d; ++k) {
            out[i * d + k] = (double)u[k];
        }
    }
    arena_release(arena, mark);
    return v != NULL ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

double exact_norm(const TdlFrictionProblem* p, Arena* arena, const double* r) {
    ArenaMark mark = arena_mark(arena);
    ContactLaw* law = ARENA_NEW(arena, ContactLaw, p->n);
    if (law == NULL) {
        return INFINITY;
    }
    for (int i = 0; i < p->n; ++i) {
        law[i] = (ContactLaw)p->law[i];
    }
    ExactView all = {
        .problem = p, .n = p->n, .law = law, .mu = p->mu, .b = p->q, .unit = 1.0, .rho = 1.0};
    double norm = exact_error(&all, arena, r);
    arena_release(arena, mark);
    return norm;
}
