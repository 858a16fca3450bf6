// The ridge: the distance between two helices as a function of one parameter.
//
// For a point b(t) close to the helix a the nearest point a(s(t)) is unique; what is left is
// E(t) = |a(s(t)) - b(t)|^2 / 2. Its second derivative and a bound on its third contain only
// differences between the curves, so that intervals are settled at once even where the fibres are
// nearly parallel and the two-dimensional Hessian is nearly singular: convex, concave or monotone
// intervals have their minimum at a known place, others are excluded or split.
// docs/theory/distance.md, section 4. This file is built without contraction.
#include "detect/search.h"

#include <float.h>

// The largest curvature times distance for which the nearest point is proved unique. (X.11)
static const double MAX_CLOSENESS = 0.4;

// The largest turning, rad, of the piece of a within which that holds: pi, less rounding.
static const double MAX_TURNING = 3.14;

// The largest share of the fixed point's growth over an interval: |w| h. (X.13)
static const double MAX_GROWTH = 0.8;

// Absolute error of a computed second derivative (it is of order one), with room to spare.
static const double SECOND_ERROR = 1.0e-14;

enum { RIDGE_STACK = 64, RIDGE_EDGES = 16, MAX_PROJECTION = 12, MAX_NEWTON = 24 };

// Of numbers; fmin and fmax, which look for what is not one, are calls.
static inline double least(double a, double b) {
    return a < b ? a : b;
}

static inline double most(double a, double b) {
    return a > b ? a : b;
}

typedef struct Interval {
    double low, high;
    bool inside; // the nearest points on a are known to lie within the box
} Interval;

typedef struct Ridge {
    Search* search;
    const TdlCurve *a, *b;
    double s_low, s_high; // the piece of a
    double guess, from;   // a last nearest parameter, and the t it belongs to
    double rate;          // ds/dt there
    int depth;
    Interval stack[RIDGE_STACK];
    int edge_count;
    SearchBox edges[RIDGE_EDGES]; // what is left to the boxes: a's parameter fixed at an end
} Ridge;

// A point of the ridge.
typedef struct RidgePoint {
    double t, s;
    TdlVec3 g;              // b(t) - a(s)
    TdlVec3 a1, a2, b1, b2; // derivatives of the curves
    double d, q, c;         // |g|, 1 - g.a'', a'.b'
    double e1, e2;          // E' and E''
    double tau;             // |b' - a'| or |b' + a'|, the smaller
    bool reversed;          // the smaller is |b' + a'|
    bool clamped;           // s was cut to the piece of a: e2 is that of a fixed s
} RidgePoint;

static void set_derivatives(RidgePoint* p) {
    p->d = tdl_norm3(p->g);
    p->q = 1.0 - tdl_dot3(p->g, p->a2);
    p->c = tdl_dot3(p->a1, p->b1);
    p->reversed = p->c < 0.0;
    TdlVec3 turn = tdl_axpy3(p->b1, p->reversed ? 1.0 : -1.0, p->a1);
    double tau2 = tdl_dot3(turn, turn);
    p->tau = sqrt(tau2);
    p->e1 = tdl_dot3(p->g, p->b1);

    // 1 - c^2 without cancellation, and the rest of (X.12)
    double sine2 = tau2 * (1.0 - 0.25 * tau2);
    double ga = tdl_dot3(p->g, p->a2), gb = tdl_dot3(p->g, p->b2);
    p->e2 = sine2 + (gb - ga) + ga * (p->q - p->c * p->c) / p->q;
}

// The nearest point on the extended helix a; false when it is not found.
static bool project(Ridge* ridge, double t, RidgePoint* out) {
    CurvePoint b = curve_eval_helix(ridge->b, t);
    TdlVec3 target = tdl_add3(b.p, ridge->search->offset);
    double s = ridge->guess + ridge->rate * (t - ridge->from);
    double w = ridge->search->wa, span = 2.0 * (ridge->s_high - ridge->s_low) + fabs(s);
    for (int iter = 0; iter < MAX_PROJECTION; ++iter) {
        CurvePoint a = curve_eval_helix(ridge->a, s);
        TdlVec3 g = tdl_sub3(target, a.p);
        double q = 1.0 - tdl_dot3(g, a.d2), step = tdl_dot3(g, a.d1);
        if (q > 0.25) {
            step /= q;
        }
        if (!(fabs(step) <= span)) {
            return false;
        }
        s += step;
        if (q > 0.25 && (w * fabs(step) <= 1.0e-4 || step == 0.0)) {
            // the last step by Taylor: what is left out is of order (w step)^4
            TdlVec3 a3 = tdl_cross3(ridge->a->helix.w, a.d2);
            double h2 = 0.5 * step * step, h3 = h2 * step / 3.0;
            g = tdl_axpy3(tdl_axpy3(tdl_axpy3(g, -step, a.d1), -h2, a.d2), -h3, a3);
            TdlVec3 a4 = tdl_cross3(ridge->a->helix.w, a3);
            *out = (RidgePoint){.t = t, .s = s, .g = g, .b1 = b.d1, .b2 = b.d2};
            out->a1 = tdl_axpy3(tdl_axpy3(tdl_axpy3(a.d1, step, a.d2), h2, a3), h3, a4);
            out->a2 = tdl_axpy3(tdl_axpy3(a.d2, step, a3), h2, a4);
            double rest = tdl_dot3(g, out->a1) / q;
            out->s += rest;
            out->g = tdl_axpy3(g, -rest, out->a1);
            set_derivatives(out);
            ridge->guess = out->s;
            ridge->from = t;
            ridge->rate = out->c / out->q;
            return out->q > 0.25;
        }
    }
    return false;
}

// The same with s cut to the piece of a: the function whose minimum is wanted.
static bool project_inside(Ridge* ridge, double t, RidgePoint* out) {
    if (!project(ridge, t, out)) {
        return false;
    }
    if (out->s >= ridge->s_low && out->s <= ridge->s_high) {
        return true;
    }
    out->s = out->s < ridge->s_low ? ridge->s_low : ridge->s_high;
    CurvePoint a = curve_eval_helix(ridge->a, out->s), b = curve_eval_helix(ridge->b, t);
    out->g = tdl_sub3(tdl_add3(b.p, ridge->search->offset), a.p);
    out->d = tdl_norm3(out->g);
    out->e1 = tdl_dot3(out->g, b.d1);
    out->e2 = 1.0 + tdl_dot3(out->g, b.d2);
    out->clamped = true;
    return true;
}

// --- bounds over an interval
// ----------------------------------------------------------------------

typedef struct RidgeBounds {
    double reach;  // largest distance
    double turn;   // T: largest tau
    double third;  // M: bound on |E'''|
    double second; // lower bound on E''
    double speed;  // bound on |ds/dt|
} RidgeBounds;

// One turn of the fixed point for T. (X.13)
static double next_turn(const RidgePoint* p, double h, double shear, double w, double bend,
                        double turn, double* closeness) {
    double near = (p->d + h * turn) * bend;
    *closeness = near;
    double eta = near / (1.0 - near);
    return p->tau + h * (shear + w * turn + bend * (eta + 0.5 * turn * turn));
}

// A first T: one that the fixed point maps below itself; negative when there is none.
static double first_turn(const RidgePoint* p, double h, double shear, double w, double bend) {
    double turn = p->tau, near, grow = 1.0 / (1.0 - h * w);
    for (int iter = 0; iter < 2; ++iter) {
        double value = next_turn(p, h, shear, 0.0, bend, turn, &near);
        if (near > MAX_CLOSENESS) {
            return -1.0;
        }
        turn = value * grow;
    }
    turn = 1.04 * turn + 1.0e-14;
    bool holds = turn < 1.4 && next_turn(p, h, shear, w, bend, turn, &near) <= turn;
    return holds && near <= MAX_CLOSENESS ? turn : -1.0;
}

// False when the interval of half-width h about the point is too long for the bounds.
// (X.13), (X.14)
static bool bound_interval(const Ridge* ridge, const RidgePoint* p, double h, RidgeBounds* out) {
    const Search* search = ridge->search;
    double ka = ridge->a->helix.bend, kb = ridge->b->helix.bend;
    double w = least(search->wa, search->wb), shear = search->shear[p->reversed];
    if (h * w > MAX_GROWTH || p->d * ka > MAX_CLOSENESS) {
        return false;
    }
    double turn = first_turn(p, h, shear, w, ka);
    if (turn < 0.0) {
        return false;
    }

    // what follows from it; then once more with the T of second order
    double rate = fabs(p->c) / p->q;
    double d2_mid = tdl_norm3(tdl_sub3(p->b2, p->a2));
    double turn_mid = tdl_norm3(tdl_axpy3(p->b2, -rate, p->a2));
    double d = 0.0, near = 0.0, eta = 0.0, d2 = 0.0, d3 = 0.0, c1 = 0.0;
    for (int round = 0; round < 2; ++round) {
        d = p->d + h * turn;
        near = d * ka;
        eta = near / (1.0 - near);
        double turn2 = turn * turn, one = 1.0 + eta, slip = eta + 0.5 * turn2;  // |1 - s'|
        d2 = shear + w * turn;                                                  // |b'' - a''|
        d3 = least(search->wb * d2 + shear * ka, search->wa * d2 + shear * kb); // |b''' -+ a'''|
        d2 = least(d2, d2_mid + h * (d3 + search->wa * ka * slip));
        d3 = least(search->wb * d2 + shear * ka, search->wa * d2 + shear * kb);
        c1 = turn * (one * d2 + eta * kb + turn2 * kb); // |c'|
        if (round == 0) {
            double q1 = (turn + eta) * ka + d * search->wa * ka * one; // |q'|
            double s2 = one * (c1 + one * q1);                         // |s''|
            double v2 = d3 + search->wa * ka * slip * (2.0 + slip) + ka * s2;
            double second = p->tau + h * (turn_mid + 0.5 * h * v2);
            turn = least(turn, second * (1.0 + 1.0e-12) + 1.0e-15);
        }
    }
    double turn2 = turn * turn, one = 1.0 + eta;
    double square = turn2 + one * one - 1.0, cube = 1.5 * turn2 + one * one * one - 1.0;
    out->third =
        (turn + eta) * (d2 + ka * square) + d * (d3 + search->wa * ka * cube) + 2.0 * one * c1;
    out->third *= 1.0 + 1.0e-12;

    // second derivative: from the middle, or from the least angle
    double slant = most(0.0, 2.0 * p->tau - turn), slant2 = slant * slant;
    double direct = slant2 * (1.0 - 0.25 * slant2) - d * (d2 + ka * one * (near + turn2));
    out->second = most(p->e2 - out->third * h, direct) - SECOND_ERROR;
    out->reach = d;
    out->turn = turn;
    out->speed = one;
    return true;
}

// True when the piece of a and the ridge over the interval together turn little enough for the
// nearest point to be unique. (X.11)
static bool branch_is_unique(const Ridge* ridge, const RidgePoint* p, double h, double speed) {
    double low = least(ridge->s_low, p->s - h * speed),
           high = most(ridge->s_high, p->s + h * speed);
    return (high - low) * ridge->a->helix.bend <= MAX_TURNING;
}

// How much the distance can change along the interval, from what keeps both helices from being
// moved along themselves by one screw motion. (X.16b)
static double screw_drift(const Ridge* ridge, const RidgePoint* p, double h) {
    TdlVec3 flow = tdl_add3(p->a1, tdl_cross3(ridge->a->helix.w, p->g));
    double lambda = tdl_dot3(p->b1, flow) / tdl_dot3(flow, flow);
    TdlVec3 slip = tdl_axpy3(p->b1, -lambda, flow);
    TdlVec3 skew = tdl_axpy3(ridge->b->helix.w, -lambda, ridge->a->helix.w);
    return h * (tdl_norm3(slip) + h * tdl_norm3(skew));
}

// A lower bound on the distance over the interval, from the ridge point in its middle. (X.15)
static double interval_lower(const Ridge* ridge, const RidgePoint* p, const RidgeBounds* bounds,
                             double h, double drift) {
    const Search* search = ridge->search;
    double slope = fabs(p->e1) + search->slack, second = p->e2 - SECOND_ERROR;
    double fall = second > 0.0 && slope < second * h ? 0.5 * slope * slope / second
                                                     : h * (slope - 0.5 * second * h);
    fall += bounds->third * h * h * h / 6.0;
    fall = least(fall, bounds->second > 0.0 ? 0.5 * slope * slope / bounds->second
                                            : h * (slope - 0.5 * bounds->second * h));
    double square = p->d * p->d - 2.0 * fall;
    double lower = square > 0.0 ? sqrt(square) : 0.0;

    return most(lower, p->d - drift) - 2.0 * search->slack;
}

// --- settling intervals
// ---------------------------------------------------------------------------

static void offer(Ridge* ridge, const RidgePoint* p) {
    if (p->d < ridge->search->best) {
        search_offer(ridge->search, p->s, p->t, p->d);
    }
}

// How far the minimum of E can lie below the point p when E'' >= second: as a distance. (X.15)
static double convex_fall(const RidgePoint* p, double second) {
    return p->d - sqrt(most(0.0, p->d * p->d - p->e1 * p->e1 / second));
}

// Takes the last Newton step without another evaluation, when it is so short that what it leaves
// out is below rounding.
static bool finish_step(Ridge* ridge, RidgePoint* p, double next) {
    double step = next - p->t, scale = 1.0 / (1.0e-3 + ridge->search->wa + ridge->search->wb);
    if (p->clamped || !(fabs(step) <= 2.0e-9 * least(scale, ridge->b->end))) {
        return false;
    }
    double s = p->s + step * p->c / p->q;
    if (s < ridge->s_low || s > ridge->s_high) {
        return false;
    }
    p->s = s;
    p->t = next;
    p->d = sqrt(most(0.0, p->d * p->d + step * (2.0 * p->e1 + step * p->e2)));
    p->e1 += step * p->e2;
    return true;
}

// Minimum over [low, high] of E, whose second derivative is at least `second` > 0 there, from a
// point inside. False when it is not reached to the tolerance.
static bool settle_convex(Ridge* ridge, double low, double high, double second, RidgePoint p) {
    const Search* search = ridge->search;
    double from = low, to = high;
    for (int iter = 0; iter < MAX_NEWTON; ++iter) {
        *(p.e1 > 0.0 ? &to : &from) = p.t;
        double next = p.e2 > 0.0 ? p.t - p.e1 / p.e2 : p.e1 > 0.0 ? from : to;
        // out of the bracket: an end of the interval where nothing was seen yet, else the middle
        if (!(next > from)) {
            next = from == low && iter < 3 ? low : 0.5 * (from + to);
        } else if (!(next < to)) {
            next = to == high && iter < 3 ? high : 0.5 * (from + to);
        }
        if (fabs(next - p.t) <= 4.0 * DBL_EPSILON * (fabs(p.t) + high - low) ||
            finish_step(ridge, &p, next)) {
            break;
        }
        if (!project_inside(ridge, next, &p)) {
            return false;
        }
        if ((p.t == low && p.e1 >= 0.0) || (p.t == high && p.e1 <= 0.0)) {
            offer(ridge, &p);
            return true;
        }
    }
    double allowed = most(least(search->tolerance, 1.0e-8 * p.d), 4.0 * search->slack);
    if (!(convex_fall(&p, second) <= allowed)) {
        return false;
    }
    offer(ridge, &p);
    return true;
}

static bool push_interval(Ridge* ridge, double low, double high, bool inside) {
    if (high <= low) {
        return true;
    }
    if (ridge->depth >= RIDGE_STACK) {
        return false;
    }
    ridge->stack[ridge->depth++] = (Interval){low, high, inside};
    return true;
}

// The t in (low, high) whose nearest point is a(s): where b crosses the normal plane there.
static double crossing(Ridge* ridge, double s, double low, double high) {
    CurvePoint a = curve_eval_helix(ridge->a, s);
    double t = 0.5 * (low + high);
    for (int iter = 0; iter < MAX_NEWTON; ++iter) {
        CurvePoint b = curve_eval_helix(ridge->b, t);
        TdlVec3 g = tdl_sub3(tdl_add3(b.p, ridge->search->offset), a.p);
        double step = tdl_dot3(g, a.d1) / tdl_dot3(b.d1, a.d1);
        double next = least(high, most(low, t - step));
        if (fabs(next - t) <= 2.0 * DBL_EPSILON * (fabs(t) + high - low)) {
            return next;
        }
        t = next;
    }
    return t;
}

// Cuts an interval where the nearest points leave the piece of a; the parts beyond become boxes
// with the parameter on a fixed at its end. (X.17)
static bool cut_interval(Ridge* ridge, double low, double high) {
    RidgePoint at_low, at_high;
    if (!project(ridge, low, &at_low) || !project(ridge, high, &at_high)) {
        return false;
    }
    double ends[2] = {ridge->s_low, ridge->s_high};
    double inside[2] = {low, high};
    const RidgePoint* at[2] = {&at_low, &at_high};
    for (int i = 0; i < 2; ++i) {
        double end = at[i]->s < ends[0] ? ends[0] : at[i]->s > ends[1] ? ends[1] : at[i]->s;
        if (end == at[i]->s) {
            continue;
        }
        double other = at[1 - i]->s;
        bool all = (end == ends[0]) == (other < end) && other != end;
        double cut = all ? inside[1 - i] : crossing(ridge, end, low, high);
        double from = least(cut, inside[i]), to = most(cut, inside[i]);
        if (ridge->edge_count == RIDGE_EDGES) {
            return false;
        }
        ridge->edges[ridge->edge_count++] =
            (SearchBox){end, 0.0, 0.5 * (from + to), 0.5 * (to - from), 0.0};
        if (all) {
            return true;
        }
        inside[i] = cut;
    }
    return push_interval(ridge, inside[0], inside[1], true);
}

static bool split_interval(Ridge* ridge, const Interval* i, const RidgePoint* p) {
    // the half towards which the distance falls is looked at first
    bool high_first = p->e1 < 0.0;
    return push_interval(ridge, high_first ? i->low : p->t, high_first ? p->t : i->high,
                         i->inside) &&
           push_interval(ridge, high_first ? p->t : i->low, high_first ? i->high : p->t, i->inside);
}

// The ends of an interval: they may be minima when the distance is monotone or concave between.
static bool offer_ends(Ridge* ridge, const Interval* i, bool low, bool high) {
    RidgePoint p;
    const Search* search = ridge->search;
    // ends inside the domain belong to the neighbour, whose derivative there is the same
    if (low && (i->low <= 0.0 || !search->collect)) {
        if (!project_inside(ridge, i->low, &p)) {
            return false;
        }
        offer(ridge, &p);
    }
    if (high && (i->high >= ridge->b->end || !search->collect)) {
        if (!project_inside(ridge, i->high, &p)) {
            return false;
        }
        offer(ridge, &p);
    }
    return true;
}

// Settles an interval of any length along which the distance is constant to the tolerance.
static bool settle_screw(Ridge* ridge, const RidgePoint* p, double h, double drift) {
    if (ridge->search->collect || (p->d + drift) * ridge->a->helix.bend > MAX_CLOSENESS ||
        p->s < ridge->s_low || p->s > ridge->s_high ||
        !branch_is_unique(ridge, p, h, 1.0 / (1.0 - MAX_CLOSENESS))) {
        return false;
    }
    offer(ridge, p);
    return search_prunes(ridge->search, p->d - drift - 2.0 * ridge->search->slack);
}

// Settles, excludes or splits one interval where the fine bounds fail: by coarse ones, which serve
// fibres that cross at a large angle; false when the ridge does not apply to it. (X.14b)
static bool handle_coarse(Ridge* ridge, const Interval* i, RidgePoint* p) {
    double h = 0.5 * (i->high - i->low);
    double ka = ridge->a->helix.bend, kb = ridge->b->helix.bend;
    double reach = p->d + h, near_a = reach * ka, near_b = reach * kb;
    if (near_a <= MAX_CLOSENESS && near_b <= MAX_CLOSENESS && 2.0 * h * kb < MAX_TURNING &&
        branch_is_unique(ridge, p, h, 1.0 / (1.0 - near_a))) {
        double c = least(1.0, fabs(p->c) + h * (kb + ka / (1.0 - near_a)));
        double second = 1.0 - near_b - c * c / (1.0 - near_a) - SECOND_ERROR;
        RidgePoint start;
        if (second > 0.01 && project_inside(ridge, p->t, &start) &&
            settle_convex(ridge, i->low, i->high, least(second, 1.0 - near_b), start)) {
            return true;
        }
    }
    return h > 0.05 * ridge->b->end && split_interval(ridge, i, p);
}

// Settles, excludes or splits one interval; false when the ridge does not apply to it.
static bool handle_interval(Ridge* ridge, Interval i) {
    Search* search = ridge->search;
    ++search->boxes;
    double h = 0.5 * (i.high - i.low), t = 0.5 * (i.low + i.high);
    RidgePoint p;
    RidgeBounds bounds;
    if (!project(ridge, t, &p)) {
        return false;
    }
    double drift = screw_drift(ridge, &p, h);
    if (drift <= 1.0e-9 * p.d && settle_screw(ridge, &p, h, drift)) {
        return true;
    }
    if (!bound_interval(ridge, &p, h, &bounds) || !branch_is_unique(ridge, &p, h, bounds.speed)) {
        return handle_coarse(ridge, &i, &p);
    }
    if (search_prunes(search, interval_lower(ridge, &p, &bounds, h, drift))) {
        return true;
    }
    bool inside = i.inside || (p.s - h * bounds.speed >= ridge->s_low &&
                               p.s + h * bounds.speed <= ridge->s_high);
    double kb = ridge->b->helix.bend;
    if (bounds.second > 0.0 && bounds.reach * kb < MAX_CLOSENESS && 2.0 * h * kb < MAX_TURNING) {
        double second = least(bounds.second, 0.5);
        RidgePoint start = p;
        bool ready =
            (p.s >= ridge->s_low && p.s <= ridge->s_high) || project_inside(ridge, t, &start);
        return (ready && settle_convex(ridge, i.low, i.high, second, start)) ||
               split_interval(ridge, &i, &p);
    }
    if (!inside) {
        return bounds.turn < 1.0 ? cut_interval(ridge, i.low, i.high)
                                 : split_interval(ridge, &i, &p);
    }
    double change = bounds.third * h + SECOND_ERROR;
    double slope = fabs(p.e1) - h * (fabs(p.e2) + 0.5 * change) - search->slack;
    if (slope > 0.0) {
        return offer_ends(ridge, &i, p.e1 > 0.0, p.e1 < 0.0);
    }
    if (p.e2 < -change) {
        return offer_ends(ridge, &i, true, true);
    }
    if (!search->collect && p.d < search->best) {
        search_offer(search, least(ridge->s_high, most(ridge->s_low, p.s)), t, p.d);
    }
    double grain = search->collect ? search->grain : 1.0e-15 * ridge->b->end;
    if (h <= grain) {
        if (search->collect) {
            search_offer(search, p.s, t, p.d);
            search->complete = false;
        }
        return true;
    }
    // where the distance only grows from the middle on, the half behind it has nothing below
    double away = fabs(p.e1) - search->slack;
    if (away > 0.0 && away + h * (p.e2 - SECOND_ERROR - 0.5 * bounds.third * h) > 0.0) {
        return p.e1 > 0.0 ? push_interval(ridge, i.low, t, true)
                          : push_interval(ridge, t, i.high, true);
    }
    i.inside = true;
    return split_interval(ridge, &i, &p);
}

bool search_ridge(Search* search, const SearchBox* box, double guess) {
    if (!curve_is_helix(search->a) || !curve_is_helix(search->b)) {
        return search_ridge_any(search, box, guess);
    }
    if (search->best * search->a->helix.bend > MAX_CLOSENESS ||
        search->best * search->b->helix.bend > MAX_CLOSENESS ||
        2.0 * box->x * search->a->helix.bend > MAX_TURNING) {
        return false;
    }
    Ridge ridge;
    ridge.search = search;
    ridge.a = search->a;
    ridge.b = search->b;
    ridge.s_low = box->s - box->x;
    ridge.s_high = box->s + box->x;
    ridge.guess = guess;
    ridge.from = box->t;
    ridge.rate = 0.0;
    ridge.depth = ridge.edge_count = 0;
    push_interval(&ridge, box->t - box->y, box->t + box->y, false);
    while (ridge.depth > 0) {
        if (search->boxes >= search->limit ||
            !handle_interval(&ridge, ridge.stack[--ridge.depth])) {
            return false; // what was found stands, as points of the curves
        }
    }
    for (int i = 0; i < ridge.edge_count; ++i) {
        search_push(search, ridge.edges[i]);
    }
    return true;
}
