// The ridge of two helices: the nearest point on one of a point of the other, and bounds on the
// derivatives of the distance over an interval. Both contain only differences between the curves,
// so that intervals are settled at once even where the fibres are nearly parallel.
// docs/theory/distance.md, section 4. This file is built without contraction.
#include "detect/ridge.h"

enum { MAX_PROJECTION = 12 };

// The largest angle, rad, by which the frame is carried on by short series.
static const double MAX_MOVE = 0.05;

// The angle, rad, below which what is left of a projection is first order.
static const double MAX_REST = 1.0e-10;

// Carries the point of a helix on by h: (X.1) and (X.2) about that point, with a''' = a3. The terms
// left out are below 1e-17 for |w h| <= MAX_MOVE.
static void move_point(RidgePoint* p, TdlVec3 a3, double w2, double h) {
    double y = w2 * h * h;
    double c2 = 0.5 - y * (1.0 / 24.0 - y * (1.0 / 720.0 - y * (1.0 / 40320.0)));
    double c3 = 1.0 / 6.0 - y * (1.0 / 120.0 - y * (1.0 / 5040.0));
    double c0 = 1.0 - y * c2, f1 = h * (1.0 - y * c3), f2 = h * h * c2, f3 = h * h * h * c3;
    p->g = curve_axpy(curve_axpy(curve_axpy(p->g, -h, p->a1), -f2, p->a2), -f3, a3);
    p->a1 = curve_axpy(curve_axpy(p->a1, f1, p->a2), f2, a3);
    p->a2 = curve_axpy(tdl_scale3(c0, p->a2), f1, a3);
}

bool ridge_project_helix(Ridge* ridge, double t, RidgePoint* out) {
    const TdlCurve* curve = ridge->search->a;
    CurvePoint b = curve_eval_helix(ridge->search->b, t);
    TdlVec3 target = tdl_add3(b.p, ridge->search->offset);
    double s = ridge->guess + ridge->rate * (t - ridge->from);
    double w = ridge->search->wa, w2 = curve->helix.w2, bend = curve->helix.bend;
    double span = 2.0 * (ridge->s_high - ridge->s_low) + fabs(s);
    for (int iter = 0; iter < MAX_PROJECTION; ++iter) {
        CurvePoint a = curve_eval_helix(curve, s);
        TdlVec3 g = tdl_sub3(target, a.p);
        double ga = curve_dot(g, a.d2), slope = curve_dot(g, a.d1), q = 1.0 - ga;
        double inverse = q > 0.25 ? 1.0 / q : 1.0, h = slope * inverse;
        if (!(fabs(h) <= span)) {
            return false;
        }
        if (!(q > 0.25 && w * fabs(h) <= MAX_MOVE)) {
            s += h;
            continue;
        }
        // the nearest point of the helix as seen from here: a fixed point for h. (X.28)
        TdlVec3 a3 = curve_cross(curve->helix.w, a.d2);
        double second = curve_dot(g, a3), third = bend * bend - w2 * ga, y = w2 * h * h;
        double c2 = 0.5 - y * (1.0 / 24.0), c3 = 1.0 / 6.0 - y * (1.0 / 120.0);
        h = (slope + h * h * (c2 * second + h * c3 * third)) * inverse;
        h = (slope + h * h * (c2 * second + h * c3 * third)) * inverse;
        *out = (RidgePoint){
            .t = t, .g = g, .a1 = a.d1, .a2 = a.d2, .b1 = b.d1, .b2 = b.d2, .speed = {1.0, 1.0}};
        move_point(out, a3, w2, h);
        double rest = curve_dot(out->g, out->a1) / (1.0 - curve_dot(out->g, out->a2));
        s += h + rest;
        if (w * fabs(rest) <= MAX_REST) {
            out->s = s;
            out->g = curve_axpy(out->g, -rest, out->a1);
            out->a1 = curve_axpy(out->a1, rest, out->a2);
            out->a2 = curve_axpy(out->a2, rest, a3);
            ridge_set_point(out);
            ridge->guess = s;
            ridge->from = t;
            ridge->rate = out->c / out->q;
            return out->q > 0.25;
        }
    }
    return false;
}

// A T that (X.13) maps below itself; negative when there is none.
static double largest_turn(const RidgePoint* p, double h, double shear, double bend) {
    double turn = p->tau;
    for (int iter = 0; iter < 4; ++iter) {
        double near = (p->d + h * turn) * bend;
        if (near > RIDGE_CLOSENESS || turn > 1.4) {
            return -1.0;
        }
        double grown = h * (shear + bend * (ridge_inverse_excess(near, near) + 0.5 * turn * turn));
        if (p->tau + grown <= turn) {
            return turn;
        }
        turn = p->tau + 1.1 * grown + 1.0e-14;
    }
    return -1.0;
}

bool ridge_bound_helix(const Ridge* ridge, const RidgePoint* p, double h, RidgeBounds* out) {
    const Search* search = ridge->search;
    TdlVec3 w_a = search->a->helix.w, w_b = search->b->helix.w;
    double ka = search->a->helix.bend, shear = search->shear[p->reversed];
    double turn = largest_turn(p, h, shear, ka);
    if (turn < 0.0) {
        return false;
    }
    double d = p->d + h * turn, near = d * ka, turn2 = turn * turn;
    double eta = ridge_inverse_excess(near, near), slip = eta + 0.5 * turn2; // |1/q - 1|, |1 -+ s'|
    double d2 = shear + ridge_least(search->wa, search->wb) * turn;          // |b'' - a''|
    double d3 = search->wb * d2 + shear * ka + search->wa * ka * slip * (3.0 + slip * (3.0 + slip));

    // (X.14) at the end of the interval, and its mean over the way there
    TdlVec3 skew = tdl_axpy3(w_b, p->reversed ? 1.0 : -1.0, w_a);
    double omega = fabs(curve_dot(skew, curve_cross(p->a1, p->b1)));
    double sway = h * (search->cross * turn + shear * (shear + slip * ka));
    double mean = p->d + 0.5 * h * turn,
           mean_slip = ridge_inverse_excess(mean * ka, near) + 0.5 * turn2;
    double scale = 3.0 * (1.0 + eta), limit = turn * shear, bent = turn * ka;
    double third = scale * (ridge_least(omega + sway, limit) + bent * slip) + d * d3;
    double change = scale * (ridge_least(omega + 0.5 * sway, limit) + bent * mean_slip) + mean * d3;

    // second derivative: from the middle, or from the least angle
    double slant = ridge_most(0.0, 2.0 * p->tau - turn), slant2 = slant * slant;
    double direct = slant2 * (1.0 - 0.25 * slant2) - d * (d2 + ka * (1.0 + eta) * (near + turn2));
    const double safe = 1.0 + 1.0e-12;
    *out = (RidgeBounds){.h = h,
                         .bend = search->b->helix.bend,
                         .reach = d,
                         .turn = turn,
                         .third = safe * third,
                         .second = ridge_most(p->e2 - safe * change * h, direct) - ridge->error,
                         .speed = 1.0 + eta};
    return true;
}
