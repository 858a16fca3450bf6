// Distance of the parts of a query at one time: the static problem, in long double, by clamping
// the free minimum and then each side of the domain. Slow and plain; accurate to about 1e-18 of
// the size of the differences unless the parts are badly shaped.
#include "detect/ccd.h"

#include <math.h>

typedef long double real;

typedef struct Static {
    real a[3], b[3], c[3]; // F = a + u b + v c
} Static;

static real dot(const real* a, const real* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static real clamp01(real x) {
    return x > 0 ? (x < 1 ? x : 1) : 0;
}

static void keep_nearer(const Static* s, real u, real v, real* best, double* out_u, double* out_v) {
    real f[3];
    for (int i = 0; i < 3; ++i) {
        f[i] = s->a[i] + u * s->b[i] + v * s->c[i];
    }
    real distance = sqrtl(dot(f, f));
    if (distance < *best) {
        *best = distance;
        *out_u = (double)u;
        *out_v = (double)v;
    }
}

// The nearest point of the side (u, v) = (u0, v0) + s (du, dv), s in [0, 1].
static void try_side(const Static* s, const real* side, real* best, double* u, double* v) {
    real g[3], e[3];
    for (int i = 0; i < 3; ++i) {
        g[i] = s->a[i] + side[0] * s->b[i] + side[1] * s->c[i];
        e[i] = side[2] * s->b[i] + side[3] * s->c[i];
    }
    real ee = dot(e, e);
    real x = ee > 0 ? clamp01(-dot(g, e) / ee) : 0;
    keep_nearer(s, side[0] + x * side[2], side[1] + x * side[3], best, u, v);
}

// A point within the domain where F is orthogonal to b and c.
static void try_inside(const Static* s, bool face, real* best, double* u, double* v) {
    real bb = dot(s->b, s->b), cc = dot(s->c, s->c), bc = dot(s->b, s->c);
    real ab = dot(s->a, s->b), ac = dot(s->a, s->c), det = bb * cc - bc * bc;
    if (det > 0) {
        real x = (bc * ac - cc * ab) / det, y = (bc * ab - bb * ac) / det;
        if (x >= 0 && y >= 0 && (face ? x + y <= 1 : x <= 1 && y <= 1)) {
            keep_nearer(s, x, y, best, u, v);
        }
    }
}

double ccd_distance(const TdlCcdQuery* query, double t, double* u, double* v) {
    bool face = query->kind == TDL_CCD_VERTEX_FACE;
    real p[4][3];
    for (int i = 0; i < 4; ++i) {
        TdlVec3 a = query->start[i], b = query->end[i];
        p[i][0] = (1 - (real)t) * a.x + (real)t * b.x;
        p[i][1] = (1 - (real)t) * a.y + (real)t * b.y;
        p[i][2] = (1 - (real)t) * a.z + (real)t * b.z;
    }
    Static s;
    for (int i = 0; i < 3; ++i) {
        s.a[i] = face ? p[0][i] - p[1][i] : p[0][i] - p[2][i];
        s.b[i] = face ? p[1][i] - p[2][i] : p[1][i] - p[0][i];
        s.c[i] = face ? p[1][i] - p[3][i] : p[2][i] - p[3][i];
    }
    static const real SIDES[5][4] = {
        {0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, -1, 1}, {1, 0, 0, 1}, {0, 1, 1, 0},
    };
    real best = INFINITY;
    *u = *v = 0.0;
    try_inside(&s, face, &best, u, v);
    for (int i = 0; i < 5; ++i) {
        // the diagonal belongs to the triangle, the last two sides to the square
        if (i < 2 || (i == 2) == face) {
            try_side(&s, SIDES[i], &best, u, v);
        }
    }
    return (double)best;
}
