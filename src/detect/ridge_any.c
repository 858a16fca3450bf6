// The ridge of curves of any kind whose third derivative is bounded: clothoids, Beziers, and either
// with a helix.
//
// Curves are seen by arc length: unit tangents and curvature vectors, whose rates of change are
// bounded over an interval; differences between the curves are taken at the middle of an interval
// and changed by no more than those rates allow. docs/theory/distance.md, section 4. This file is
// built without contraction.
#include "detect/ridge.h"

#include <float.h>

// Speeds that change more than this are for boxes.
static const double LEAST_SPEED = 0.25;

enum { MAX_PROJECTION = 16 };

ArcPoint ridge_arc(const TdlCurve* c, double u) {
    CurvePoint x = curve_eval(c, u);
    if (curve_is_helix(c)) {
        return (ArcPoint){x.p, x.d1, x.d2, 1.0};
    }
    double speed = tdl_norm3(x.d1), inverse = 1.0 / ridge_most(speed, DBL_MIN);
    TdlVec3 t = tdl_scale3(inverse, x.d1);
    TdlVec3 across = tdl_axpy3(x.d2, -tdl_dot3(x.d2, t), t);
    return (ArcPoint){x.p, t, tdl_scale3(inverse * inverse, across), speed};
}

// A bound on |third derivative| by the parameter; infinite when there is none.
static double third_bound(const TdlCurve* c, double u0, double u1) {
    switch (c->kind) {
    case TDL_CURVE_SEGMENT:
    case TDL_CURVE_HELIX:
        return sqrt(c->helix.w2) * c->helix.bend;
    case TDL_CURVE_CLOTHOID: {
        // (R (kappa x e))' = R (kappa x (kappa x e) + slope x e); kappa is linear, its length
        // convex
        double k0 = tdl_norm3(tdl_axpy3(c->clothoid.kappa, u0, c->clothoid.slope));
        double k1 = tdl_norm3(tdl_axpy3(c->clothoid.kappa, u1, c->clothoid.slope));
        double bend = tdl_curve_second_bound(c, u0, u1);
        return ridge_most(k0, k1) * bend + tdl_norm3(c->clothoid.slope);
    }
    case TDL_CURVE_BEZIER:
        return 6.0 * tdl_norm3(c->poly.c3);
    case TDL_CURVE_USER:
        break;
    }
    return INFINITY;
}

// (X.27); false when the speed may change too much.
bool ridge_arc_bounds(const TdlCurve* c, double u0, double u1, ArcBounds* out) {
    const double safe = 1.0 + 1.0e-12;
    double second = curve_bend(c, u0, u1), third = third_bound(c, u0, u1);
    if (c->kind <= TDL_CURVE_CLOTHOID) {
        *out = (ArcBounds){1.0, 1.0, safe * second, safe * third};
        return true;
    }
    double speed = tdl_norm3(curve_eval(c, 0.5 * (u0 + u1)).d1), change = 0.5 * (u1 - u0) * second;
    double slow = (speed - change) / safe, slow2 = slow * slow;
    if (!(slow > LEAST_SPEED * speed)) {
        return false;
    }
    *out = (ArcBounds){slow, safe * (speed + change), safe * second / slow2,
                       safe * (third / slow + 4.0 * second * second / slow2) / slow2};
    return isfinite(out->twist);
}

// The nearest point on a, continued beyond its ends.
bool ridge_project_any(Ridge* ridge, double t, RidgePoint* out) {
    const Search* search = ridge->search;
    ArcPoint b = ridge_arc(search->b, t);
    TdlVec3 target = tdl_add3(b.p, search->offset);
    double s = ridge->guess;
    for (int iter = 0; iter < MAX_PROJECTION; ++iter) {
        ArcPoint a = ridge_arc(search->a, s);
        TdlVec3 g = tdl_sub3(target, a.p);
        double q = 1.0 - tdl_dot3(g, a.k), step = tdl_dot3(g, a.t) / (q > 0.25 ? q : 1.0);
        // what is left of g.a' is below the rounding of places
        if (q > 0.25 &&
            fabs(step) <= 0.25 * search->slack + 4.0 * DBL_EPSILON * fabs(s) * a.speed) {
            *out = (RidgePoint){.t = t, .s = s, .g = g, .speed = {a.speed, b.speed}};
            out->a1 = a.t;
            out->a2 = a.k;
            out->b1 = b.t;
            out->b2 = b.k;
            ridge_set_point(out);
            out->e1 -= out->c * tdl_dot3(g, a.t); // the component of g along a', which has none
            ridge->guess = s;
            return true;
        }
        s += step / a.speed;
        if (!(s >= ridge->far_low && s <= ridge->far_high)) {
            return false;
        }
    }
    return false;
}

// One turn of the fixed point for T. (X.13), with (X.27) for the difference of curvatures.
static double next_turn(const RidgePoint* p, double apart, double h, const ArcBounds* a,
                        const ArcBounds* b, double turn, double* near, double* d2) {
    *near = (p->d + h * turn) * a->bend;
    double eta = *near / (1.0 - *near);
    *d2 = apart + h * (b->twist + a->twist * (1.0 + eta));
    return p->tau + h * (*d2 + a->bend * (eta + 0.5 * turn * turn));
}

// (X.13), (X.14)
bool ridge_bound_any(const Ridge* ridge, const RidgePoint* p, double low, double high,
                     RidgeBounds* out) {
    ArcBounds b;
    if (!ridge_arc_bounds(ridge->search->b, low, high, &b)) {
        return false;
    }
    const ArcBounds* a = &ridge->a;
    double h = 0.5 * (high - low) * b.fast, apart = tdl_norm3(tdl_sub3(p->b2, p->a2));
    double turn = p->tau, near, d2;
    for (int iter = 0; iter < 4; ++iter) {
        double value = next_turn(p, apart, h, a, &b, turn, &near, &d2);
        if (!(near <= RIDGE_CLOSENESS)) {
            return false;
        }
        turn = value;
    }
    turn = 1.05 * turn + 1.0e-14;
    if (!(turn < 1.4 && next_turn(p, apart, h, a, &b, turn, &near, &d2) <= turn &&
          near <= RIDGE_CLOSENESS)) {
        return false;
    }
    double d = p->d + h * turn, turn2 = turn * turn;
    double eta = near / (1.0 - near), slip = eta + 0.5 * turn2;
    double d3 = b.twist + a->twist + a->twist * slip * (3.0 + slip * (3.0 + slip));
    double third = 3.0 * (1.0 + eta) * turn * (d2 + a->bend * slip) + d * d3;
    third *= 1.0 + 1.0e-12;
    double slant = ridge_most(0.0, 2.0 * p->tau - turn), slant2 = slant * slant;
    double direct =
        slant2 * (1.0 - 0.25 * slant2) - d * (d2 + a->bend * (1.0 + eta) * (near + turn2));
    *out = (RidgeBounds){.h = h,
                         .bend = b.bend,
                         .reach = d,
                         .turn = turn,
                         .third = third,
                         .second = ridge_most(p->e2 - third * h, direct) - ridge->error,
                         .speed = (1.0 + eta) / a->slow}; // of a's parameter, by b's arc length
    return true;
}
