// Generated collision queries by family, for the bench and the tests: random ones, and the ways in
// which a query can be degenerate. The same numbers everywhere for a seed.
#ifndef TDL_BENCH_CCD_GENERATE_H
#define TDL_BENCH_CCD_GENERATE_H

#include "tendril/ccd.h"

#include <math.h>
#include <string.h>

typedef enum CcdFamily {
    CCD_FAMILY_RANDOM,    // all coordinates uniform
    CCD_FAMILY_SHEET,     // parts of two sheets that approach, as in a simulation
    CCD_FAMILY_SLIVER,    // nearly flat, nearly parallel, nearly coplanar
    CCD_FAMILY_EXACT,     // a contact exact by construction at dyadic t, u, v
    CCD_FAMILY_CORNER,    // a vertex bitwise equal to another at t = 0 or t = 1
    CCD_FAMILY_ULP,       // an exact contact moved by a few ulps
    CCD_FAMILY_PLANE,     // motion in one plane
    CCD_FAMILY_LINE,      // motion on one line
    CCD_FAMILY_DOUBLE,    // a double root: the parts touch and part again
    CCD_FAMILY_COLLAPSED, // repeated vertices, parts without extent
    CCD_FAMILY_PARALLEL,  // parallel edges, or a triangle that is a segment
    CCD_FAMILY_COUNT,
} CcdFamily;

static const char* const CCD_FAMILY_NAMES[CCD_FAMILY_COUNT] = {
    "random", "sheet", "sliver", "exact",     "corner",   "ulp",
    "plane",  "line",  "double", "collapsed", "parallel",
};

typedef struct CcdRandom {
    uint64_t state;
} CcdRandom;

static inline uint64_t ccd_random_bits(CcdRandom* r) {
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// uniform in [-1, 1)
static inline double ccd_random_real(CcdRandom* r) {
    return (double)(ccd_random_bits(r) >> 11) * 0x1p-52 - 1.0;
}

// uniform in [0, count)
static inline int ccd_random_below(CcdRandom* r, int count) {
    return (int)(ccd_random_bits(r) % (uint64_t)count);
}

// an integer in [-2^bits, 2^bits)
static inline double ccd_random_integer(CcdRandom* r, int bits) {
    return floor(ldexp(ccd_random_real(r), bits));
}

static inline TdlVec3 ccd_random_vector(CcdRandom* r) {
    double x = ccd_random_real(r), y = ccd_random_real(r);
    return (TdlVec3){x, y, ccd_random_real(r)};
}

static inline TdlVec3 ccd_random_grid(CcdRandom* r, int bits) {
    double x = ccd_random_integer(r, bits), y = ccd_random_integer(r, bits);
    return (TdlVec3){x, y, ccd_random_integer(r, bits)};
}

static inline void ccd_generate_random(CcdRandom* r, TdlCcdQuery* q) {
    for (int i = 0; i < 4; ++i) {
        q->start[i] = ccd_random_vector(r);
        q->end[i] = ccd_random_vector(r);
    }
}

static inline void ccd_generate_sheet(CcdRandom* r, TdlCcdQuery* q) {
    bool face = q->kind == TDL_CCD_VERTEX_FACE;
    double approach = 0.3 * ccd_random_real(r);
    for (int i = 0; i < 4; ++i) {
        TdlVec3 p = ccd_random_vector(r);
        bool upper = face ? i == 0 : i < 2;
        double height = (upper ? 0.1 : 0.0) + 0.05 * p.z;
        q->start[i] = (TdlVec3){p.x, p.y, height};
        TdlVec3 d = tdl_scale3(0.05, ccd_random_vector(r));
        d.z += upper ? approach : 0.0;
        q->end[i] = tdl_add3(q->start[i], d);
    }
}

// Random, then flattened in a random direction by a random factor.
static inline void ccd_generate_sliver(CcdRandom* r, TdlCcdQuery* q) {
    ccd_generate_random(r, q);
    TdlVec3 n = ccd_random_vector(r);
    double nn = tdl_dot3(n, n) + 1.0e-9;
    double keep = pow(10.0, -1.0 - 15.0 * fabs(ccd_random_real(r)));
    for (int i = 0; i < 8; ++i) {
        TdlVec3* p = i < 4 ? &q->start[i] : &q->end[i - 4];
        *p = tdl_axpy3(*p, -(1.0 - keep) * tdl_dot3(*p, n) / nn, n);
    }
}

// Everything on a grid of integers: x(t) = x + (t - tau) 2^m d with tau = k / 2^m is exact at tau.
static inline void ccd_generate_exact(CcdRandom* r, TdlCcdQuery* q, int* out_k, int* out_m) {
    int m = ccd_random_below(r, 9), k = ccd_random_below(r, (1 << m) + 1);
    int w = ccd_random_below(r, 5); // u and v are multiples of 2^-w
    double unit = ldexp(1.0, w);
    double u = ccd_random_below(r, (1 << w) + 1), v = ccd_random_below(r, (1 << w) + 1);
    TdlVec3 at[4], d[4];
    for (int i = 0; i < 4; ++i) {
        at[i] = tdl_scale3(unit, ccd_random_grid(r, 16));
        d[i] = ccd_random_grid(r, 10);
    }
    if (q->kind == TDL_CCD_VERTEX_FACE) {
        v = fmin(v, unit - u);
        TdlVec3 p = tdl_scale3((unit - u - v) / unit, at[1]);
        at[0] = tdl_axpy3(tdl_axpy3(p, u / unit, at[2]), v / unit, at[3]);
    } else {
        // b1 = (unit p - (unit - power) b0) / power puts the point v = power / unit of b on p
        TdlVec3 p = tdl_axpy3(tdl_scale3((unit - u) / unit, at[0]), u / unit, at[1]);
        if (v == 0.0) {
            at[2] = p;
        } else {
            double power = ldexp(1.0, ccd_random_below(r, w + 1));
            TdlVec3 rest = tdl_sub3(tdl_scale3(unit, p), tdl_scale3(unit - power, at[2]));
            at[3] = tdl_scale3(1.0 / power, rest);
        }
    }
    double motion = ldexp(1.0, m);
    for (int i = 0; i < 4; ++i) {
        q->start[i] = tdl_axpy3(at[i], -(double)k, d[i]);
        q->end[i] = tdl_axpy3(q->start[i], motion, d[i]);
    }
    *out_k = k;
    *out_m = m;
}

// A vertex (or an end) is the same point as a corner (or an end) at t = 0 or t = 1.
static inline void ccd_generate_corner(CcdRandom* r, TdlCcdQuery* q) {
    ccd_generate_random(r, q);
    bool face = q->kind == TDL_CCD_VERTEX_FACE;
    int a = face ? 0 : ccd_random_below(r, 2);
    int b = face ? 1 + ccd_random_below(r, 3) : 2 + ccd_random_below(r, 2);
    TdlVec3* p = ccd_random_below(r, 2) == 0 ? q->start : q->end;
    p[a] = p[b];
}

static inline void ccd_nudge(CcdRandom* r, TdlCcdQuery* q) {
    for (int n = 1 + ccd_random_below(r, 3); n > 0; --n) {
        int i = ccd_random_below(r, 8), axis = ccd_random_below(r, 3);
        TdlVec3* p = i < 4 ? &q->start[i] : &q->end[i - 4];
        double* x = axis == 0 ? &p->x : axis == 1 ? &p->y : &p->z;
        double towards = ccd_random_below(r, 2) == 0 ? -INFINITY : INFINITY;
        for (int ulps = 1 + ccd_random_below(r, 4); ulps > 0; --ulps) {
            *x = nextafter(*x, towards);
        }
    }
}

// All points o + a e1 + b e2 with integers: exactly in one plane (b = 0: on one line).
static inline void ccd_generate_plane(CcdRandom* r, TdlCcdQuery* q, bool line) {
    TdlVec3 o = ccd_random_grid(r, 8), e1 = ccd_random_grid(r, 5), e2 = ccd_random_grid(r, 5);
    if (ccd_random_below(r, 2) == 0) {
        e1 = (TdlVec3){1.0, 0.0, 0.0};
        e2 = (TdlVec3){0.0, 1.0, 0.0};
    }
    int bits = 2 + ccd_random_below(r, 10);
    for (int i = 0; i < 8; ++i) {
        double a = ccd_random_integer(r, bits), b = line ? 0.0 : ccd_random_integer(r, bits);
        TdlVec3 p = tdl_axpy3(tdl_axpy3(o, a, e1), b, e2);
        *(i < 4 ? &q->start[i] : &q->end[i - 4]) = p;
    }
}

// A vertex above a face that tilts: the height is -b1 x1 (t - tau)^2, plus `gap`. Then the same
// points as two edges.
static inline void ccd_generate_double(CcdRandom* r, TdlCcdQuery* q) {
    int m = 1 + ccd_random_below(r, 4), k = ccd_random_below(r, (1 << m) + 1);
    double tau = ldexp((double)k, -m), gap = 0.0;
    if (ccd_random_below(r, 2) == 0) {
        gap = ccd_random_real(r) * pow(10.0, -16.0 * fabs(ccd_random_real(r)));
    }
    double tilt = ldexp(ccd_random_integer(r, 3), -1), x0 = 0.25, x1 = ccd_random_integer(r, 2);
    double lift = ldexp(ccd_random_integer(r, 3), -3);
    for (int end = 0; end < 2; ++end) {
        double s = (double)end - tau;
        TdlVec3* p = end == 0 ? q->start : q->end;
        double y = 0.25;
        p[0] = (TdlVec3){x0 + x1 * s, y, (lift + tilt * x0) * s + gap};
        if (q->kind == TDL_CCD_VERTEX_FACE) {
            p[1] = (TdlVec3){-4.0, -4.0, lift * s - 4.0 * tilt * s};
            p[2] = (TdlVec3){8.0, -4.0, lift * s + 8.0 * tilt * s};
            p[3] = (TdlVec3){-4.0, 8.0, lift * s - 4.0 * tilt * s};
        } else {
            p[1] = (TdlVec3){p[0].x, -1.0, p[0].z};
            p[2] = (TdlVec3){-4.0, -0.25, lift * s - 4.0 * tilt * s};
            p[3] = (TdlVec3){8.0, -0.25, lift * s + 8.0 * tilt * s};
        }
    }
}

static inline void ccd_generate_collapsed(CcdRandom* r, TdlCcdQuery* q) {
    ccd_generate_random(r, q);
    for (int n = 1 + ccd_random_below(r, 4); n > 0; --n) {
        int a = ccd_random_below(r, 4), b = ccd_random_below(r, 4);
        q->start[a] = q->start[b];
        if (ccd_random_below(r, 3) != 0) {
            q->end[a] = q->end[b];
        }
    }
    if (ccd_random_below(r, 4) == 0) {
        int still = ccd_random_below(r, 4);
        q->end[still] = q->start[still];
    }
}

static inline void ccd_generate_parallel(CcdRandom* r, TdlCcdQuery* q) {
    TdlVec3 along = ccd_random_grid(r, 4), aside = ccd_random_grid(r, 3);
    for (int end = 0; end < 2; ++end) {
        TdlVec3* p = end == 0 ? q->start : q->end;
        TdlVec3 o = ccd_random_grid(r, 3);
        for (int i = 0; i < 4; ++i) {
            p[i] = tdl_axpy3(o, ccd_random_integer(r, 3), along);
        }
        bool face = q->kind == TDL_CCD_VERTEX_FACE;
        double shift = end == 0 ? 1.0 : ccd_random_integer(r, 1);
        p[0] = tdl_axpy3(p[0], shift, aside);
        p[1] = face ? p[1] : tdl_axpy3(p[1], shift, aside);
    }
}

// One query of a family; *touches tells whether it touches by construction.
static inline TdlCcdQuery ccd_generate(CcdRandom* r, CcdFamily family, bool* touches) {
    TdlCcdQuery q;
    memset(&q, 0, sizeof q);
    q.kind = ccd_random_below(r, 2) == 0 ? TDL_CCD_VERTEX_FACE : TDL_CCD_EDGE_EDGE;
    *touches = family == CCD_FAMILY_EXACT || family == CCD_FAMILY_CORNER;
    int k, m;
    switch (family) {
    case CCD_FAMILY_SHEET:
        ccd_generate_sheet(r, &q);
        break;
    case CCD_FAMILY_SLIVER:
        ccd_generate_sliver(r, &q);
        break;
    case CCD_FAMILY_EXACT:
        ccd_generate_exact(r, &q, &k, &m);
        break;
    case CCD_FAMILY_CORNER:
        ccd_generate_corner(r, &q);
        break;
    case CCD_FAMILY_ULP:
        ccd_generate_exact(r, &q, &k, &m);
        ccd_nudge(r, &q);
        break;
    case CCD_FAMILY_PLANE:
    case CCD_FAMILY_LINE:
        ccd_generate_plane(r, &q, family == CCD_FAMILY_LINE);
        break;
    case CCD_FAMILY_DOUBLE:
        ccd_generate_double(r, &q);
        break;
    case CCD_FAMILY_COLLAPSED:
        ccd_generate_collapsed(r, &q);
        break;
    case CCD_FAMILY_PARALLEL:
        ccd_generate_parallel(r, &q);
        break;
    default:
        ccd_generate_random(r, &q);
        break;
    }
    return q;
}

// The same query multiplied by a power of two, which changes no truth.
static inline void ccd_rescale(TdlCcdQuery* q, int exponent) {
    for (int i = 0; i < 8; ++i) {
        TdlVec3* p = i < 4 ? &q->start[i] : &q->end[i - 4];
        *p = (TdlVec3){ldexp(p->x, exponent), ldexp(p->y, exponent), ldexp(p->z, exponent)};
    }
}

#endif
