// Answers to velocities, their derivatives, and the search along a step.
#include "friction/newton.h"

#include <string.h>

// A length of a step is good where the pull along it has fallen to this part; so many are tried.
static const double SLACK = 0.1;
enum { LENGTHS = 20 };
// The first step around a centre keeps the modes of the problem before, which gave that centre:
// seen at this part of the velocities. At all of them answers would go on as steeply as they came,
// and many contacts open.
static const double FIRST_LOOK = 1.0e-4;

TdlStatus newton_init(Newton* nw, Run* run) {
    System* sys = run->sys;
    Arena* arena = run->arena;
    size_t n = (size_t)sys->n, d = (size_t)sys->d, size = run_size(run);
    *nw = (Newton){.run = run};
    nw->own = ARENA_NEW(arena, double, n);
    nw->part = ARENA_NEW(arena, Reduced, d == 3 ? n : 0);
    bool whole = d != 3 || nodal_matrix_fits(run);
    nw->slope = whole ? ARENA_NEW(arena, double, n* d* d) : NULL;
    nw->idle = ARENA_NEW(arena, bool, n);
    double** vectors[] = {&nw->centre, &nw->t, &nw->u, &nw->r, &nw->d, &nw->g, &nw->step, &nw->du};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
        *vectors[k] = ARENA_NEW(arena, double, size);
        if (*vectors[k] == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    if (!nw->own || !nw->part || (whole && !nw->slope) || !nw->idle) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < n; ++i) {
        double trace = 0.0;
        for (size_t k = 0; k < d; ++k) {
            trace += fabs(sys->diag[i * d * d + k * d + k]);
        }
        nw->own[i] = (double)d / fmax(trace, 1.0e-300);
    }
    nw->coordinates = system_coordinates(sys);
    memcpy(nw->t, run->start != NULL ? run->start : run->best, size * sizeof(double));
    memcpy(nw->centre, nw->t, size * sizeof(double));
    return TDL_STATUS_OK;
}

// --- answers -------------------------------------------------------------------------------------

// How one contact answers.
typedef struct Answer {
    double rho;
    double y[CONE_MAX]; // centre - rho u
    double norm;        // |y_T|
    double normal;      // y_N where its mode was looked at
    bool pressed, sticks, slides;
} Answer;

// r <- r(u) of contact i, with the mode it has at `look` of u: all of it, or less.
static Answer answer(const Newton* nw, int i, const double* u, double look, double* r) {
    const System* sys = nw->run->sys;
    int d = sys->d;
    ContactLaw law = sys->law[i];
    Answer a = {.rho = nw->rho * nw->own[i]};
    const double* centre = nw->centre + (size_t)i * (size_t)d;
    double seen[CONE_MAX];
    for (int k = 0; k < d; ++k) {
        a.y[k] = centre[k] - a.rho * u[k];
        seen[k] = look == 1.0 ? a.y[k] : centre[k] - look * a.rho * u[k];
    }
    a.normal = seen[0];
    a.pressed = law == LAW_BILATERAL || a.normal > 0.0;
    r[0] = a.pressed ? a.y[0] : 0.0;
    bool cone = law == LAW_CONE && a.pressed;
    a.norm = cone ? tangent_norm(d, a.y) : 0.0;
    double mu = sys->mu[i], norm = look == 1.0 || !cone ? a.norm : tangent_norm(d, seen);
    a.sticks = law == LAW_BILATERAL || law == LAW_ROUGH || (cone && norm <= mu * a.normal);
    a.slides = cone && !a.sticks && a.norm > 0.0;
    for (int k = 1; k < d; ++k) {
        r[k] = a.sticks ? a.y[k] : a.slides ? a.y[k] * (mu * r[0] / a.norm) : 0.0;
    }
    return a;
}

static void set_vector(double* to, double x, double y, double z) {
    to[0] = x;
    to[1] = y;
    to[2] = z;
}

// -dr/du of a contact of three as the sum of trial test'/add. (F.34)
static void factor_slope(const Answer* a, double mu, Reduced* part) {
    memset(part, 0, sizeof *part);
    if (a->pressed) {
        set_vector(part->test, 1.0, 0.0, 0.0);
        set_vector(part->trial, 1.0, 0.0, 0.0);
        part->add[0] = 1.0 / a->rho;
        part->size = 1;
    }
    for (int k = 1; k < 3 && a->sticks; ++k) {
        set_vector(part->test + 3 * part->size, 0.0, k == 1, k == 2);
        set_vector(part->trial + 3 * part->size, 0.0, k == 1, k == 2);
        part->add[4 * part->size] = 1.0 / a->rho;
        ++part->size;
    }
    if (a->slides) {
        double e1 = a->y[1] / a->norm, e2 = a->y[2] / a->norm;
        set_vector(part->trial, 1.0, mu * e1, mu * e2);
        set_vector(part->test + 3, 0.0, -e2, e1);
        set_vector(part->trial + 3, 0.0, -e2, e1);
        part->add[4] = a->norm / (a->rho * mu * a->normal);
        part->size = 2;
    }
}

// The same of a contact of any size, as a matrix by columns.
static void whole_slope(const Answer* a, int d, double mu, double* s) {
    memset(s, 0, (size_t)(d * d) * sizeof *s);
    s[0] = a->pressed ? a->rho : 0.0;
    for (int k = 1; k < d && a->sticks; ++k) {
        s[k * d + k] = a->rho;
    }
    double across = a->slides ? mu * a->normal / a->norm : 0.0;
    for (int k = 1; k < d && a->slides; ++k) {
        double e = a->y[k] / a->norm;
        s[k] = a->rho * mu * e;
        for (int c = 1; c < d; ++c) {
            s[c * d + k] = a->rho * across * ((c == k ? 1.0 : 0.0) - e * a->y[c] / a->norm);
        }
    }
}

// Also leaves the answers in their modes in r.
static void find_slopes(Newton* nw, double look) {
    const System* sys = nw->run->sys;
    int d = sys->d;
    nw->unknowns = 0;
    for (int i = 0; i < sys->n; ++i) {
        Answer a = answer(nw, i, nw->u + i * d, look, nw->r + i * d);
        nw->idle[i] = !a.pressed && !a.sticks;
        if (nw->slope == NULL) {
            factor_slope(&a, sys->mu[i], &nw->part[i]);
            nw->unknowns += nw->part[i].size;
        } else {
            whole_slope(&a, d, sys->mu[i], nw->slope + (size_t)i * (size_t)(d * d));
        }
    }
}

// --- steps ---------------------------------------------------------------------------------------

// d and g from t and r
static void miss(Newton* nw) {
    size_t size = run_size(nw->run);
    for (size_t k = 0; k < size; ++k) {
        nw->d[k] = nw->t[k] - nw->r[k];
    }
    system_product(nw->run->sys, nw->d, nw->g);
}

// r, d, g and what is off from t and u.
static void measure(Newton* nw) {
    System* sys = nw->run->sys;
    size_t size = run_size(nw->run);
    for (int i = 0; i < sys->n; ++i) {
        answer(nw, i, nw->u + i * sys->d, 1.0, nw->r + i * sys->d);
    }
    miss(nw);
    nw->off = sqrt(dot_product(size, nw->g, nw->g));
}

void newton_restart(Newton* nw) {
    system_velocity(nw->run->sys, nw->t, nw->u);
    measure(nw);
    nw->fresh = true;
}

// d'W step at a length of the step: its root is where a potential would have its least value. u is
// affine along the step, so that no product is needed. (F.36)
static double pull(const Newton* nw, double length) {
    const System* sys = nw->run->sys;
    int d = sys->d;
    double sum = 0.0;
    for (int i = 0; i < sys->n; ++i) {
        const double *u0 = nw->u + i * d, *du = nw->du + i * d;
        double u[CONE_MAX], r[CONE_MAX];
        for (int k = 0; k < d; ++k) {
            u[k] = u0[k] + length * du[k];
        }
        answer(nw, i, u, 1.0, r);
        for (int k = 0; k < d; ++k) {
            sum += (nw->t[i * d + k] + length * nw->step[i * d + k] - r[k]) * du[k];
        }
    }
    return sum;
}

// Where the pull is nearly nothing; all of the step where it does not turn before.
static double find_length(const Newton* nw) {
    double low = 0.0, high = 1.0, at_low = pull(nw, 0.0), at_high = pull(nw, 1.0);
    double enough = SLACK * fabs(at_low);
    if (!(at_low < 0.0) || at_high <= enough) {
        return 1.0;
    }
    for (int k = 0; k < LENGTHS; ++k) {
        double part = fmin(fmax(-at_low / (at_high - at_low), 0.1), 0.9);
        double length = low + (high - low) * part, at = pull(nw, length);
        if (fabs(at) <= enough) {
            return length;
        }
        if (at < 0.0) {
            low = length;
            at_low = at;
        } else {
            high = length;
            at_high = at;
        }
    }
    return low > 0.0 ? low : high;
}

// u goes on from where it was: computed anew from large impulses it would have other rounding in
// every step, which steep answers make large.
static void go(Newton* nw, double length) {
    size_t size = run_size(nw->run);
    for (size_t k = 0; k < size; ++k) {
        nw->t[k] += length * nw->step[k];
        nw->u[k] += length * nw->du[k];
    }
    measure(nw);
}

TdlStatus newton_step(Newton* nw) {
    Run* run = nw->run;
    find_slopes(nw, nw->fresh ? FIRST_LOOK : 1.0);
    if (nw->fresh) {
        miss(nw);
    }
    TdlStatus status = newton_direction(nw);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (nw->fresh) {
        measure(nw);
        nw->fresh = false;
    }
    ++nw->made;
    if (!problem_all_finite(nw->step, run_size(run))) {
        nw->off = INFINITY;
        run_count(run, TDL_FRICTION_PROXIMAL, NULL);
        return TDL_STATUS_OK;
    }
    system_product(run->sys, nw->step, nw->du);
    go(nw, find_length(nw));
    run_count(run, TDL_FRICTION_PROXIMAL, nw->r);
    return TDL_STATUS_OK;
}
