// Five smooth curves to fit, over t in [0, 1], with derivatives; their arc length and the largest
// change of their curvature by quadrature and differences.
#ifndef TDL_TESTS_SMOOTH_CURVES_H
#define TDL_TESTS_SMOOTH_CURVES_H

#include "math/gauss.h"
#include "tendril/math.h"

enum { SMOOTH_CURVES = 5, SMOOTH_PANELS = 400 };

static const char* const SMOOTH_NAMES[SMOOTH_CURVES] = {"sine", "ellipse", "twisted cubic",
                                                        "conical spiral", "inflection in space"};

// Place, first and second derivative by t.
typedef struct SmoothPoint {
    TdlVec3 x, v, a;
} SmoothPoint;

static inline SmoothPoint smooth_point(int kind, double t) {
    if (kind == 0) { // in a plane, with inflections
        double w = 6.283185307179586, s = 0.2 * sin(w * t), c = 0.2 * cos(w * t);
        return (SmoothPoint){{t, s, 0}, {1, w * c, 0}, {0, -w * w * s, 0}};
    }
    if (kind == 1) {
        double c = cos(3 * t), s = sin(3 * t);
        return (SmoothPoint){{c, 0.5 * s, 0}, {-3 * s, 1.5 * c, 0}, {-9 * c, -4.5 * s, 0}};
    }
    if (kind == 2) {
        return (SmoothPoint){{t, t * t, 0.7 * t * t * t}, {1, 2 * t, 2.1 * t * t}, {0, 2, 4.2 * t}};
    }
    if (kind == 3) {
        double r = 1 - 0.5 * t, c = cos(8 * t), s = sin(8 * t);
        return (SmoothPoint){{r * c, r * s, t},
                             {-0.5 * c - 8 * r * s, -0.5 * s + 8 * r * c, 1},
                             {8 * s - 64 * r * c, -8 * c - 64 * r * s, 0}};
    }
    // the curvature vanishes in the middle, and the torsion does not
    double u = 2 * t - 1, uu = u * u;
    return (SmoothPoint){
        {u, u * uu, 0.6 * uu * uu}, {2, 6 * uu, 4.8 * u * uu}, {0, 24 * u, 28.8 * uu}};
}

static inline double smooth_curvature(int kind, double t) {
    SmoothPoint p = smooth_point(kind, t);
    return tdl_norm3(tdl_cross3(p.v, p.a)) / pow(tdl_norm3(p.v), 3.0);
}

typedef struct SmoothCurve {
    int kind;
    double s[SMOOTH_PANELS + 1]; // arc length at t = i / SMOOTH_PANELS
    double length;
    double turning;  // the integral of the curvature, rad
    double steepest; // max |d kappa / ds|, 1/m^2
} SmoothCurve;

static inline double smooth_arc(int kind, double from, double to) {
    double sum = 0.0;
    for (int g = 0; g < GAUSS12_COUNT; ++g) {
        double t = from + (to - from) * GAUSS12_POINT[g];
        sum += (to - from) * GAUSS12_WEIGHT[g] * tdl_norm3(smooth_point(kind, t).v);
    }
    return sum;
}

static inline SmoothCurve smooth_curve(int kind) {
    SmoothCurve out = {.kind = kind};
    double h = 1.0e-5;
    for (int i = 0; i < SMOOTH_PANELS; ++i) {
        double from = (double)i / SMOOTH_PANELS, to = (i + 1.0) / SMOOTH_PANELS;
        double middle = 0.5 * (from + to), speed = tdl_norm3(smooth_point(kind, middle).v);
        out.s[i + 1] = out.s[i] + smooth_arc(kind, from, to);
        out.turning += (out.s[i + 1] - out.s[i]) * smooth_curvature(kind, middle);
        for (int end = 0; end < 2; ++end) { // on either side of a kink of |kappa|
            double t = end == 0 ? from + h : to - h;
            double change = smooth_curvature(kind, t + h) - smooth_curvature(kind, t - h);
            out.steepest = fmax(out.steepest, fabs(change) / (2.0 * h * speed));
        }
    }
    out.length = out.s[SMOOTH_PANELS];
    return out;
}

// The point at arc length s.
static inline SmoothPoint smooth_curve_at(const SmoothCurve* c, double s) {
    int low = 0, high = SMOOTH_PANELS;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(c->s[middle] <= s ? &low : &high) = middle;
    }
    double from = (double)low / SMOOTH_PANELS;
    double t = from + (s - c->s[low]) / (c->s[high] - c->s[low]) / SMOOTH_PANELS;
    for (int step = 0; step < 4; ++step) {
        double off = c->s[low] + smooth_arc(c->kind, from, t) - s;
        t -= off / tdl_norm3(smooth_point(c->kind, t).v);
    }
    return smooth_point(c->kind, t);
}

#endif
