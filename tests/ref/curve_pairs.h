// Random pairs of curves of every kind and in every kind of position, and the slow, obvious search
// for their nearest points: a dense grid, and descent from its best places.
#ifndef TDL_REF_CURVE_PAIRS_H
#define TDL_REF_CURVE_PAIRS_H

#include "base/rng.h"
#include "math/rotation.h"
#include "tendril/detect.h"

#include <stdlib.h>

static inline TdlVec3 random_vector(Rng* rng, double size) {
    return (TdlVec3){size * rng_normal(rng), size * rng_normal(rng), size * rng_normal(rng)};
}

static inline TdlMat3 random_frame(Rng* rng) {
    return tdl_frame_from_tangent_hint(tdl_unit3(random_vector(rng, 1.0)), random_vector(rng, 1.0));
}

static inline TdlVec3 axis_curvature(Rng* rng, double turning) {
    return tdl_scale3(turning * rng_unit(rng), tdl_unit3(random_vector(rng, 1.0)));
}

enum { PAIR_KINDS = 10 };

static const char* const PAIR_NAMES[PAIR_KINDS] = {"far",      "near",    "touching",   "crossing",
                                                   "parallel", "shifted", "concentric", "ends",
                                                   "long",     "mixed"};

// A curve of the kind 0 segment, 1 helix, 2 clothoid, 3 cubic, 4 quadratic, of length about 1.
static inline TdlCurve random_curve(Rng* rng, int kind, TdlVec3 at, double turning) {
    TdlHost host = tdl_host_default();
    TdlPose start = {at, random_frame(rng)};
    TdlCurve c = {0};
    TdlVec3 control[4] = {at, at, at, at};
    switch (kind) {
    case 0:
        tdl_curve_segment(&host, at, tdl_add3(at, start.rotation.cx), &c);
        break;
    case 1:
        tdl_curve_helix(&host, start, axis_curvature(rng, turning), 1.0, &c);
        break;
    case 2:
        tdl_curve_clothoid(&host, start, axis_curvature(rng, turning), axis_curvature(rng, turning),
                           1.0, &c);
        break;
    default:
        for (int i = 1; i < 4; ++i) {
            control[i] = tdl_add3(control[i - 1], random_vector(rng, 0.4));
        }
        if (kind == 3) {
            tdl_curve_cubic(&host, control, &c);
        } else {
            tdl_curve_quadratic(&host, control, &c);
        }
    }
    return c;
}

// Moves the curve so that its point at s comes to `to`.
static inline void place_at(TdlCurve* c, double s, TdlVec3 to) {
    c->origin = tdl_add3(c->origin, tdl_sub3(to, tdl_curve_point(c, s)));
}

// Two helices side by side: b keeps the direction and the curvature of a up to `angle` and `bend`.
static inline void side_by_side(Rng* rng, double gap, double angle, double bend, TdlCurve* a,
                                TdlCurve* b) {
    TdlHost host = tdl_host_default();
    TdlPose start = {random_vector(rng, 0.1), random_frame(rng)};
    TdlVec3 kappa = axis_curvature(rng, 3.0), side = {0.0, gap, 0.0};
    tdl_curve_helix(&host, start, kappa, 1.0, a);
    TdlPose moved = {tdl_add3(start.position, tdl_mul33_3(start.rotation, side)), start.rotation};
    moved.rotation = tdl_mul33(
        tdl_rotation_exp(tdl_scale3(angle, tdl_unit3(random_vector(rng, 1.0)))), moved.rotation);
    kappa = tdl_axpy3(kappa, bend, random_vector(rng, 1.0));
    tdl_curve_helix(&host, moved, kappa, 1.0, b);
    double slide = rng_range(rng, -0.6, 0.6);
    b->origin = tdl_axpy3(b->origin, slide, tdl_curve_derivative(b, 0.5));
}

// Two helices that one screw motion moves along themselves.
static inline void coaxial(Rng* rng, double gap, TdlCurve* a, TdlCurve* b) {
    TdlHost host = tdl_host_default();
    TdlMat3 axes = random_frame(rng);
    double radius = rng_range(rng, 0.2, 1.0), pitch = rng_range(rng, 0.0, 0.5);
    double other = radius + gap;
    TdlCurve* out[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        double r = i == 0 ? radius : other, speed = hypot(r, pitch);
        double phase = i == 0 ? 0.0 : rng_range(rng, -1.0, 1.0) / speed;
        // place r (cos, sin) with pitch per radian, about the third axis
        TdlVec3 radial = tdl_axpy3(tdl_scale3(cos(phase), axes.cx), sin(phase), axes.cy);
        TdlVec3 around = tdl_axpy3(tdl_scale3(-sin(phase), axes.cx), cos(phase), axes.cy);
        TdlVec3 t = tdl_scale3(1.0 / speed, tdl_axpy3(tdl_scale3(r, around), pitch, axes.cz));
        TdlPose start = {tdl_axpy3(tdl_scale3(r, radial), pitch * phase, axes.cz),
                         tdl_frame_from_tangent_hint(t, radial)};
        TdlVec3 w = tdl_scale3(1.0 / speed, axes.cz);
        tdl_curve_helix(&host, start, tdl_tmul33_3(start.rotation, w), 1.0, out[i]);
    }
}

static inline void random_pair(Rng* rng, int kind, TdlCurve* a, TdlCurve* b) {
    int ka = rng_below(rng, 5), kb = rng_below(rng, 5);
    double sa = rng_unit(rng), sb = rng_unit(rng);
    TdlVec3 dir = tdl_unit3(random_vector(rng, 1.0));
    *a = random_curve(rng, ka, (TdlVec3){0}, 19.0);
    *b = random_curve(rng, kb, (TdlVec3){0}, 19.0);
    TdlVec3 to = tdl_curve_point(a, sa);
    switch (kind) {
    case 0:
        place_at(b, sb, tdl_axpy3(to, rng_range(rng, 2.0, 10.0), dir));
        break;
    case 1:
        place_at(b, sb, tdl_axpy3(to, rng_range(rng, 0.01, 0.5), dir));
        break;
    case 2: // a common normal of a given length
        dir = tdl_unit3(tdl_cross3(tdl_curve_derivative(a, sa), tdl_curve_derivative(b, sb)));
        place_at(b, sb, tdl_axpy3(to, pow(10.0, rng_range(rng, -6.0, -1.0)), dir));
        break;
    case 3:
        place_at(b, sb, to);
        break;
    case 4:
        side_by_side(rng, 0.01, 0.0, 0.0, a, b);
        break;
    case 5:
        side_by_side(rng, pow(10.0, rng_range(rng, -4.0, -1.0)),
                     pow(10.0, rng_range(rng, -8.0, -1.0)), pow(10.0, rng_range(rng, -8.0, 0.0)), a,
                     b);
        break;
    case 6:
        coaxial(rng, pow(10.0, rng_range(rng, -4.0, -1.0)), a, b);
        break;
    case 7:
        sa = rng_below(rng, 2);
        sb = rng_below(rng, 2);
        dir = tdl_axpy3(tdl_scale3(2.0 * sa - 1.0, tdl_curve_derivative(a, sa)), 0.3, dir);
        place_at(b, sb, tdl_axpy3(tdl_curve_point(a, sa), 0.05, dir));
        break;
    case 8: // lengths and speeds that differ
        *a = random_curve(rng, 1, (TdlVec3){0}, 6.0);
        b->origin = tdl_add3(b->origin, random_vector(rng, 0.3));
        break;
    default:
        b->origin = tdl_add3(b->origin, random_vector(rng, 0.5));
    }
}

// --- grid and descent
// -----------------------------------------------------------------------------

typedef struct GridResult {
    double distance, s[2];
} GridResult;

static inline double clamp_range(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

// Levenberg-Marquardt on a(s) - b(t) within the domain, with no second derivative.
static inline GridResult descend_ref(const TdlCurve* a, const TdlCurve* b, double s, double t) {
    TdlVec3 r = tdl_sub3(tdl_curve_point(a, s), tdl_curve_point(b, t));
    double f = tdl_dot3(r, r), mu = 1.0e-3;
    for (int iter = 0; iter < 400 && mu < 1.0e12; ++iter) {
        TdlVec3 u = tdl_curve_derivative(a, s), v = tdl_curve_derivative(b, t);
        double g0 = tdl_dot3(r, u), g1 = -tdl_dot3(r, v);
        double h0 = tdl_dot3(u, u), h1 = -tdl_dot3(u, v), h2 = tdl_dot3(v, v);
        bool stuck0 = (s <= 0.0 && g0 > 0.0) || (s >= a->end && g0 < 0.0);
        bool stuck1 = (t <= 0.0 && g1 > 0.0) || (t >= b->end && g1 < 0.0);
        if (stuck0 || stuck1) {
            h1 = 0.0;
        }
        g0 = stuck0 ? 0.0 : g0;
        g1 = stuck1 ? 0.0 : g1;
        double d0 = h0 * (1.0 + mu) + 1e-300, d2 = h2 * (1.0 + mu) + 1e-300;
        double det = d0 * d2 - h1 * h1;
        double ns = clamp_range(s - (d2 * g0 - h1 * g1) / det, 0.0, a->end);
        double nt = clamp_range(t - (d0 * g1 - h1 * g0) / det, 0.0, b->end);
        TdlVec3 nr = tdl_sub3(tdl_curve_point(a, ns), tdl_curve_point(b, nt));
        double nf = tdl_dot3(nr, nr);
        if (nf < f) {
            s = ns;
            t = nt;
            r = nr;
            f = nf;
            mu = fmax(mu * 0.2, 1.0e-9);
        } else {
            mu *= 8.0;
        }
    }
    return (GridResult){sqrt(f), {s, t}};
}

// The gradient of half the squared distance, with what points out of the domain left out.
static inline void gradient_ref(const TdlCurve* a, const TdlCurve* b, double s, double t,
                                double g[2]) {
    TdlVec3 r = tdl_sub3(tdl_curve_point(a, s), tdl_curve_point(b, t));
    g[0] = tdl_dot3(r, tdl_curve_derivative(a, s));
    g[1] = -tdl_dot3(r, tdl_curve_derivative(b, t));
}

// How far (s, t) is from the critical point beside it: the Newton step with a Hessian by central
// differences, on the parameters that are not held at an end. NaN when the minimum is not isolated:
// an eigenvalue of the Hessian below `least`.
static inline double newton_ref(const TdlCurve* a, const TdlCurve* b, double s, double t,
                                double least) {
    double g[2], p[2], m[2], x = 1.0e-5;
    gradient_ref(a, b, s, t, g);
    bool free0 = !(s <= 0.0 && g[0] >= 0.0) && !(s >= a->end && g[0] <= 0.0);
    bool free1 = !(t <= 0.0 && g[1] >= 0.0) && !(t >= b->end && g[1] <= 0.0);
    gradient_ref(a, b, s + x, t, p);
    gradient_ref(a, b, s - x, t, m);
    double h0 = (p[0] - m[0]) / (2.0 * x), h1 = (p[1] - m[1]) / (2.0 * x);
    gradient_ref(a, b, s, t + x, p);
    gradient_ref(a, b, s, t - x, m);
    double h2 = (p[1] - m[1]) / (2.0 * x);
    if (!free0 || !free1) {
        h1 = 0.0;
    }
    h0 = free0 ? h0 : 1.0;
    h2 = free1 ? h2 : 1.0;
    g[0] = free0 ? g[0] : 0.0;
    g[1] = free1 ? g[1] : 0.0;
    double det = h0 * h2 - h1 * h1;
    if (!(det > least * (h0 + h2))) {
        return NAN;
    }
    return hypot(h2 * g[0] - h1 * g[1], h0 * g[1] - h1 * g[0]) / det;
}

// The best of an n x n grid whose local minima are each followed down.
static inline GridResult grid_ref(const TdlCurve* a, const TdlCurve* b, int n) {
    TdlVec3* p = malloc(2 * (size_t)n * sizeof *p);
    double* f = malloc((size_t)n * (size_t)n * sizeof *f);
    TdlVec3* q = p + n;
    for (int i = 0; i < n; ++i) {
        p[i] = tdl_curve_point(a, a->end * i / (n - 1));
        q[i] = tdl_curve_point(b, b->end * i / (n - 1));
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            f[i * n + j] = tdl_norm3(tdl_sub3(p[i], q[j]));
        }
    }
    GridResult best = {INFINITY, {0.0, 0.0}};
    double step = (a->end + b->end) / (n - 1) * 4.0;
    double least = INFINITY;
    for (int k = 0; k < n * n; ++k) {
        least = fmin(least, f[k]);
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            double here = f[i * n + j];
            bool low = here <= least + step;
            for (int k = 0; k < 9 && low; ++k) {
                int x = i + k / 3 - 1, y = j + k % 3 - 1;
                low = x < 0 || y < 0 || x >= n || y >= n || f[x * n + y] >= here;
            }
            if (low) {
                GridResult r = descend_ref(a, b, a->end * i / (n - 1), b->end * j / (n - 1));
                best = r.distance < best.distance ? r : best;
            }
        }
    }
    free(p);
    free(f);
    return best;
}

#endif
