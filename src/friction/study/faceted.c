// The friction cone replaced by a pyramid with `facets` edges: a linear complementarity problem,
// here only to show what that costs (S4 3.2.3, linearised cone). Its solution is not a solution of
// the exact law: the error it returns says by how much.
//
// Solved by block Gauss-Seidel: within a contact the normal impulse and the tangential one, a
// quadratic minimum over a polygon found edge by edge, alternate until they agree.
#include "friction/study/study.h"

#include <string.h>

// Alternations of normal and tangential part in a contact, at most; facets that options allow.
enum { INNER = 30, MAX_FACETS = 64 };

typedef struct Polygon {
    int count;
    double x[MAX_FACETS], y[MAX_FACETS]; // unit vertices
} Polygon;

// q(t) = 1/2 t'A t + c't along an edge from p to q: the minimum on the segment
static double edge_minimum(const double* a, const double* c, const double* p, const double* q,
                           double* t) {
    double e[2] = {q[0] - p[0], q[1] - p[1]};
    double ae[2] = {a[0] * e[0] + a[2] * e[1], a[1] * e[0] + a[3] * e[1]};
    double curvature = e[0] * ae[0] + e[1] * ae[1];
    double slope = p[0] * ae[0] + p[1] * ae[1] + c[0] * e[0] + c[1] * e[1];
    double s = curvature > 0.0 ? -slope / curvature : slope < 0.0 ? 1.0 : 0.0;
    s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
    t[0] = p[0] + s * e[0];
    t[1] = p[1] + s * e[1];
    double at[2] = {a[0] * t[0] + a[2] * t[1], a[1] * t[0] + a[3] * t[1]};
    return 0.5 * (t[0] * at[0] + t[1] * at[1]) + c[0] * t[0] + c[1] * t[1];
}

static bool inside(const Polygon* p, double radius, const double* t) {
    for (int k = 0; k < p->count; ++k) {
        int n = (k + 1) % p->count;
        double ex = p->x[n] - p->x[k], ey = p->y[n] - p->y[k];
        if (ex * (t[1] - radius * p->y[k]) - ey * (t[0] - radius * p->x[k]) < 0.0) {
            return false;
        }
    }
    return true;
}

static void minimise(const Polygon* p, double radius, const double* a, const double* c, double* t) {
    double det = a[0] * a[3] - a[1] * a[2], best = INFINITY, trial[2];
    if (det > 1.0e-14 * (a[0] * a[0] + a[3] * a[3])) {
        t[0] = -(a[3] * c[0] - a[2] * c[1]) / det;
        t[1] = -(a[0] * c[1] - a[1] * c[0]) / det;
        if (inside(p, radius, t)) {
            return;
        }
    }
    for (int k = 0; k < p->count; ++k) {
        int n = (k + 1) % p->count;
        double from[2] = {radius * p->x[k], radius * p->y[k]};
        double to[2] = {radius * p->x[n], radius * p->y[n]};
        double value = edge_minimum(a, c, from, to, trial);
        if (value < best) {
            best = value;
            t[0] = trial[0];
            t[1] = trial[1];
        }
    }
}

// one contact of the pyramid law, w its block and b the velocity without its own impulse
static void solve_contact(const Polygon* p, const double* w, double mu, const double* b,
                          double* r) {
    double a[4] = {w[4], w[5], w[7], w[8]};
    for (int k = 0; k < INNER; ++k) {
        double before = r[0], u = b[0] + w[3] * r[1] + w[6] * r[2];
        r[0] = w[0] > 0.0 && u < 0.0 ? -u / w[0] : 0.0;
        double c[2] = {b[1] + w[1] * r[0], b[2] + w[2] * r[0]};
        if (r[0] > 0.0) {
            minimise(p, mu * r[0], a, c, r + 1);
        } else {
            r[1] = r[2] = 0.0;
        }
        if (fabs(r[0] - before) <= 1.0e-15 * fabs(r[0])) {
            return;
        }
    }
}

TdlStatus run_faceted(Run* run) {
    System* sys = run->sys;
    size_t size = run_size(run);
    ArenaMark mark = arena_mark(run->arena);
    double* r = ARENA_NEW(run->arena, double, size);
    double* u = ARENA_NEW(run->arena, double, size);
    if (r == NULL || u == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    Polygon polygon = {.count = run->options->facets};
    for (int k = 0; k < polygon.count; ++k) {
        polygon.x[k] = cos(6.283185307179586 * k / polygon.count);
        polygon.y[k] = sin(6.283185307179586 * k / polygon.count);
    }
    memcpy(r, run->best, size * sizeof(double));
    double work = run_sweep_work(run);
    bool moving = sys->d == 3;
    for (int k = 0; k < run->limit && moving && !run_spent(run, work); ++k) {
        double change = 0.0, all = 0.0;
        for (int i = 0; i < sys->n; ++i) {
            double b[3], x[3];
            const double* w = sys->diag + (size_t)i * 9;
            int e = sys->start[i];
            row_velocity3(sys->blocks + (size_t)e * 9, sys->column + e, sys->start[i + 1] - e, r,
                          sys->b + 3 * i, b);
            memcpy(x, r + 3 * i, sizeof x);
            for (int m = 0; m < 3; ++m) {
                b[m] -= w[m] * x[0] + w[3 + m] * x[1] + w[6 + m] * x[2];
            }
            solve_contact(&polygon, w, sys->mu[i], b, x);
            for (int m = 0; m < 3; ++m) {
                change += (x[m] - r[3 * i + m]) * (x[m] - r[3 * i + m]);
                all += x[m] * x[m];
                r[3 * i + m] = x[m];
            }
        }
        run_count(run, TDL_FRICTION_FACETED, r);
        run_spend(run, work);
        moving = change > 1.0e-24 * all;
    }
    system_velocity(sys, r, u);
    run->error = system_error(sys, u, r);
    memcpy(run->best, r, size * sizeof(double));
    arena_release(run->arena, mark);
    return TDL_STATUS_OK;
}
