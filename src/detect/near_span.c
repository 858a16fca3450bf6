// Curves cut into spans that turn by at most half a rad, each the polynomial through eight places
// of it: off by 3e-12 of its bend's radius. (X.77) After that all kinds of curves cost the same.
#include "detect/near_span.h"

#include <string.h>

static const double PI = 3.14159265358979323846;

// rad by which a span turns at most: half of it to the eighth over 8! 2^7 is 3e-12.
static const double SPAN_TURN = 0.5;

// Most of the rate at which a clothoid's frame turns may change by, times the square of half a
// span: 105 times its fourth power stands beside half the turning to the eighth.
static const double SPAN_CHANGE = 0.02;

int span_count(const TdlCurve* c) {
    if (curve_is_helix(c)) {
        return c->helix.bend > 0.0 ? 1 + (int)(sqrt(c->helix.w2) * c->end / SPAN_TURN) : 1;
    }
    TdlVec3 last = tdl_axpy3(c->clothoid.kappa, c->end, c->clothoid.slope);
    double turn = fmax(tdl_norm3(c->clothoid.kappa), tdl_norm3(last)) * c->end;
    double change = 0.5 * c->end * sqrt(tdl_norm3(c->clothoid.slope) / SPAN_CHANGE);
    return 1 + (int)fmax(turn / SPAN_TURN, change);
}

// The sum of Chebyshev's polynomials through the nodes, as one of powers.
SpanFit span_fit(void) {
    double power[SPAN_TERMS][SPAN_TERMS] = {{1.0}, {0.0, 1.0}}; // of each of them
    SpanFit fit = {.node = {0.0}};
    for (int k = 2; k < SPAN_TERMS; ++k) { // T_k = 2 x T_{k-1} - T_{k-2}
        for (int i = 0; i < SPAN_TERMS; ++i) {
            power[k][i] = (i > 0 ? 2.0 * power[k - 1][i - 1] : 0.0) - power[k - 2][i];
        }
    }
    for (int j = 0; j < SPAN_TERMS; ++j) {
        double angle = PI * (2 * j + 1) / (2 * SPAN_TERMS);
        fit.node[j] = cos(angle);
        for (int k = 0; k < SPAN_TERMS; ++k) {
            double share = (k == 0 ? 1.0 : 2.0) / SPAN_TERMS * cos(k * angle);
            for (int i = 0; i <= k; ++i) {
                fit.weight[i][j] += share * power[k][i];
            }
        }
    }
    return fit;
}

static void set_straight(const TdlCurve* c, Span* s) {
    TdlVec3 half = tdl_scale3(0.5 * c->end, c->helix.t);
    s->terms = 2;
    s->term[0] = tdl_add3(c->origin, half);
    s->term[1] = half;
}

static void set_bent(const SpanFit* fit, const TdlCurve* c, Span* s) {
    s->terms = SPAN_TERMS;
    for (int j = 0; j < SPAN_TERMS; ++j) {
        TdlVec3 p = curve_eval(c, c->end * span_at(s->share, fit->node[j])).p;
        for (int k = 0; k < SPAN_TERMS; ++k) {
            s->term[k] = tdl_axpy3(s->term[k], fit->weight[k][j], p);
        }
    }
    s->term[0] = tdl_add3(s->term[0], c->origin);
    for (int k = 3; k < SPAN_TERMS; ++k) {
        s->jerk += k * (k - 1) * (k - 2) * tdl_norm3(s->term[k]);
    }
}

// The part of what runs linearly over a curve.
static SpanLine part_of(const double ends[2], SpanLine share) {
    double rise = ends[1] - ends[0];
    return (SpanLine){ends[0] + share.middle * rise, share.rate * rise};
}

void span_cut(const SpanFit* fit, const TdlCurve* c, int index, const double* bore, Span* out) {
    int count = span_count(c);
    bool straight = curve_is_helix(c) && !(c->helix.bend > 0.0);
    for (int i = 0; i < count; ++i) {
        SpanLine share = {(i + 0.5) / count, 0.5 / count};
        Span* s = &out[i];
        *s = (Span){.speed = share.rate * c->end, .share = share, .curve = index};
        s->radius = part_of(c->radius, share);
        s->bore = bore == NULL ? (SpanLine){0} : part_of(bore, share);
        if (straight) {
            set_straight(c, s);
        } else {
            set_bent(fit, c, s);
        }
    }
}
