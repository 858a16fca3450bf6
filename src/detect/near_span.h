// Short parts of curves as polynomials of degree seven. docs/theory/distance.md (X.77)
#ifndef TDL_DETECT_NEAR_SPAN_H
#define TDL_DETECT_NEAR_SPAN_H

#include "curve/curve.h"

enum { SPAN_TERMS = 8 };

// What runs linearly along a span: at its middle, and more by `rate` at its end.
typedef struct SpanLine {
    double middle, rate;
} SpanLine;

typedef struct Span {
    int terms;                // 2 where it is straight
    TdlVec3 term[SPAN_TERMS]; // m: the place at x in [-1, 1] is the sum of term_k x^k
    double speed, jerk;       // m: of the derivative, which is even; most of the third one
    SpanLine radius, bore;    // m; a bore of 0: it is solid
    SpanLine share;           // of the curve
    int curve;
} Span;

// Values at the nodes of a polynomial to its coefficients.
typedef struct SpanFit {
    double node[SPAN_TERMS], weight[SPAN_TERMS][SPAN_TERMS];
} SpanFit;
SpanFit span_fit(void);

// Spans that a curve is cut into, and those: out[count].
int span_count(const TdlCurve* curve);
void span_cut(const SpanFit* fit, const TdlCurve* curve, int index, const double* bore, Span* out);

static inline double span_at(SpanLine line, double x) {
    return line.middle + line.rate * x;
}

// A place as seen from a point, with its derivatives.
typedef struct SpanPlace {
    TdlVec3 away, d1, d2; // m
    double distance;
} SpanPlace;

static inline SpanPlace span_place(const Span* s, TdlVec3 point, double x) {
    TdlVec3 q = s->term[s->terms - 1], d1 = {0}, d2 = {0};
    for (int k = s->terms - 2; k >= 0; --k) {
        d2 = curve_axpy(d1, x, d2);
        d1 = curve_axpy(q, x, d1);
        q = curve_axpy(k > 0 ? s->term[k] : tdl_sub3(s->term[0], point), x, q);
    }
    return (SpanPlace){q, d1, tdl_scale3(2.0, d2), tdl_norm3(q)};
}

#endif
