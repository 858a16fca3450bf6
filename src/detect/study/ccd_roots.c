// Two methods that find roots in floating point, as most simulators do, for comparison. Both are
// fast and both miss collisions.
//
// `cubic`: roots of the coplanarity cubic A . (B x C), then u and v at each root by least squares,
// accepted within a tolerance. It misses a contact when rounding moves a double root off the real
// axis, when the root lies just outside [0, 1], when the cubic vanishes (motion in one plane) and
// when the parts are parallel at the root; its tolerance is one of distance, so it also depends on
// the scale.
//
// `sextic`: with a separation d, roots of (A . n)^2 - d^2 n . n (n = B x C), of the quartics of the
// edges and of the quadratics of the vertices, by isolating the roots of the derivatives first. It
// misses a contact wherever the values of these polynomials drown in their rounding, which the
// squares make early; with d = 0 every root is double and most are missed.
#include "detect/ccd.h"
#include "math/polynomial.h"

#include <math.h>

// Distance within which a root counts as a contact, m: the usual choice of simulators.
static const double CONTACT_DISTANCE = 1.0e-12;

typedef struct Poly {
    int degree;
    double c[7]; // ascending
} Poly;

typedef struct Poly3 {
    Poly x[3];
} Poly3;

static Poly poly_mul(const Poly* a, const Poly* b) {
    Poly out = {.degree = a->degree + b->degree};
    for (int i = 0; i <= a->degree; ++i) {
        for (int j = 0; j <= b->degree; ++j) {
            out.c[i + j] += a->c[i] * b->c[j];
        }
    }
    return out;
}

// a + s b
static Poly poly_axpy(const Poly* a, double s, const Poly* b) {
    Poly out = *a;
    out.degree = a->degree > b->degree ? a->degree : b->degree;
    for (int i = 0; i <= b->degree; ++i) {
        out.c[i] += s * b->c[i];
    }
    return out;
}

static double poly_at(const Poly* p, double t) {
    double y = p->c[p->degree];
    for (int i = p->degree - 1; i >= 0; --i) {
        y = y * t + p->c[i];
    }
    return y;
}

static Poly3 poly3_line(TdlVec3 a, TdlVec3 b) {
    TdlVec3 d = tdl_sub3(b, a);
    return (Poly3){{{1, {a.x, d.x}}, {1, {a.y, d.y}}, {1, {a.z, d.z}}}};
}

static Poly3 poly3_cross(const Poly3* a, const Poly3* b) {
    Poly3 out;
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        Poly p = poly_mul(&a->x[j], &b->x[k]), q = poly_mul(&a->x[k], &b->x[j]);
        out.x[i] = poly_axpy(&p, -1.0, &q);
    }
    return out;
}

static Poly poly3_dot(const Poly3* a, const Poly3* b) {
    Poly out = {0};
    for (int i = 0; i < 3; ++i) {
        Poly p = poly_mul(&a->x[i], &b->x[i]);
        out = poly_axpy(&out, 1.0, &p);
    }
    return out;
}

// Roots in [0, 1], ascending, from the intervals on which the derivative keeps its sign.
static int poly_roots01(const Poly* p, double* roots) {
    double stops[8] = {0.0};
    int stop_count = 1;
    if (p->degree > 1) {
        Poly derivative = {.degree = p->degree - 1};
        for (int i = 1; i <= p->degree; ++i) {
            derivative.c[i - 1] = i * p->c[i];
        }
        stop_count += poly_roots01(&derivative, &stops[1]);
    }
    stops[stop_count++] = 1.0;
    int count = 0;
    for (int i = 0; i + 1 < stop_count; ++i) {
        double lo = stops[i], hi = stops[i + 1], f_lo = poly_at(p, lo), f_hi = poly_at(p, hi);
        if (f_lo == 0.0 && (count == 0 || roots[count - 1] < lo)) {
            roots[count++] = lo;
        }
        if ((f_lo < 0.0 && f_hi > 0.0) || (f_lo > 0.0 && f_hi < 0.0)) {
            for (int step = 0; step < 60; ++step) {
                double mid = 0.5 * (lo + hi), f = poly_at(p, mid);
                if ((f < 0.0) == (f_lo < 0.0)) {
                    lo = mid;
                } else {
                    hi = mid;
                }
            }
            roots[count++] = lo;
        }
        if (i + 2 == stop_count && f_hi == 0.0 && count < p->degree) {
            roots[count++] = stops[i + 1];
        }
        if (count >= p->degree) {
            break;
        }
    }
    return count;
}

typedef struct Parts {
    Poly3 a, b, c; // of (K.1)
    bool face;
} Parts;

static Parts parts_of(const TdlCcdQuery* q) {
    const TdlVec3 *s = q->start, *e = q->end;
    bool face = q->kind == TDL_CCD_VERTEX_FACE;
    int i = face ? 1 : 2;
    return (Parts){.a = poly3_line(tdl_sub3(s[0], s[i]), tdl_sub3(e[0], e[i])),
                   .b = face ? poly3_line(tdl_sub3(s[1], s[2]), tdl_sub3(e[1], e[2]))
                             : poly3_line(tdl_sub3(s[1], s[0]), tdl_sub3(e[1], e[0])),
                   .c = face ? poly3_line(tdl_sub3(s[1], s[3]), tdl_sub3(e[1], e[3]))
                             : poly3_line(tdl_sub3(s[2], s[3]), tdl_sub3(e[2], e[3])),
                   .face = face};
}

// Accepts time t when the parts are within `reach` then; keeps the earliest.
static void try_time(const TdlCcdQuery* query, double t, double reach, TdlCcdResult* result) {
    double u, v;
    ++result->boxes;
    if (!(t < result->time)) {
        return;
    }
    double distance = ccd_distance(query, t, &u, &v);
    if (distance <= reach) {
        *result = (TdlCcdResult){.collision = true,
                                 .boxes = result->boxes,
                                 .time = t,
                                 .tolerance = distance,
                                 .u = u,
                                 .v = v};
    }
}

TdlStatus ccd_cubic(const TdlCcdQuery* query, const TdlCcdOptions* options, TdlCcdResult* result) {
    *result = (TdlCcdResult){.time = INFINITY};
    Parts parts = parts_of(query);
    Poly3 n = poly3_cross(&parts.b, &parts.c);
    Poly f = poly3_dot(&parts.a, &n);
    double roots[3];
    int count = tdl_roots_cubic(f.c, roots);
    for (int i = 0; i < count; ++i) {
        if (roots[i] >= 0.0 && roots[i] <= options->max_time) {
            try_time(query, roots[i], options->min_separation + CONTACT_DISTANCE, result);
        }
    }
    return TDL_STATUS_OK;
}

static void try_roots(const TdlCcdQuery* query, const TdlCcdOptions* options, const Poly* p,
                      TdlCcdResult* result) {
    double roots[8];
    int count = poly_roots01(p, roots);
    double reach = options->min_separation * (1.0 + 1.0e-6) + CONTACT_DISTANCE;
    for (int i = 0; i < count; ++i) {
        if (roots[i] <= options->max_time) {
            try_time(query, roots[i], reach, result);
        }
    }
}

// Vertex g against the edge from 0 to -e: |g x e|^2 - d^2 |e|^2.
static void try_edge(const TdlCcdQuery* query, const TdlCcdOptions* options, const Poly3* g,
                     const Poly3* e, TdlCcdResult* result) {
    double dd = options->min_separation * options->min_separation;
    Poly3 area = poly3_cross(g, e);
    Poly left = poly3_dot(&area, &area), right = poly3_dot(e, e);
    Poly p = poly_axpy(&left, -dd, &right);
    try_roots(query, options, &p, result);
}

// Vertex against vertex: |g|^2 - d^2.
static void try_vertex(const TdlCcdQuery* query, const TdlCcdOptions* options, const Poly3* g,
                       TdlCcdResult* result) {
    Poly p = poly3_dot(g, g);
    p.c[0] -= options->min_separation * options->min_separation;
    try_roots(query, options, &p, result);
}

static Poly3 poly3_add(const Poly3* a, double s, const Poly3* b) {
    return (Poly3){{poly_axpy(&a->x[0], s, &b->x[0]), poly_axpy(&a->x[1], s, &b->x[1]),
                    poly_axpy(&a->x[2], s, &b->x[2])}};
}

TdlStatus ccd_sextic(const TdlCcdQuery* query, const TdlCcdOptions* options, TdlCcdResult* result) {
    *result = (TdlCcdResult){.time = INFINITY};
    try_time(query, 0.0, options->min_separation, result);
    Parts q = parts_of(query);
    Poly3 n = poly3_cross(&q.b, &q.c);
    Poly an = poly3_dot(&q.a, &n), nn = poly3_dot(&n, &n);
    Poly square = poly_mul(&an, &an);
    Poly p = poly_axpy(&square, -options->min_separation * options->min_separation, &nn);
    try_roots(query, options, &p, result);

    // edges and vertices, as differences of the form
    Poly3 ab = poly3_add(&q.a, 1.0, &q.b), ac = poly3_add(&q.a, 1.0, &q.c);
    Poly3 abc = poly3_add(&ab, 1.0, &q.c), bc = poly3_add(&q.c, -1.0, &q.b);
    try_edge(query, options, &q.a, &q.b, result);
    try_edge(query, options, &q.a, &q.c, result);
    try_edge(query, options, &ab, q.face ? &bc : &q.c, result);
    if (!q.face) {
        try_edge(query, options, &ac, &q.b, result);
        try_vertex(query, options, &abc, result);
    }
    try_vertex(query, options, &q.a, result);
    try_vertex(query, options, &ab, result);
    try_vertex(query, options, &ac, result);
    return TDL_STATUS_OK;
}
