// The ridge for curves of any kind whose third derivative is bounded: clothoids, Beziers, and
// either with a helix.
//
// Curves are seen by arc length: unit tangents and curvature vectors, whose rates of change are
// bounded over an interval. The bounds of ridge.c hold with the differences between the curves
// taken at the middle of an interval and changed by no more than those rates allow.
// docs/theory/distance.md, section 4. This file is built without contraction.
#include "detect/search.h"

#include <float.h>

// As in ridge.c: (X.11)
static const double MAX_CLOSENESS = 0.4, MAX_TURNING = 3.14;

// Absolute error of a computed second derivative, of order one, with room for the division by
// speed.
static const double SECOND_ERROR = 1.0e-13;

// Curves that cross at a larger angle are for boxes, rad; so are speeds that change more than this.
static const double MAX_ANGLE = 0.5, LEAST_SPEED = 0.25;

enum { STACK = 64, EDGES = 16, MAX_PROJECTION = 16, MAX_NEWTON = 24, MAX_INTERVALS = 8000 };

typedef struct ArcPoint {
    TdlVec3 p, t, k; // place from the origin, unit tangent, curvature vector
    double speed;    // of the parameter
} ArcPoint;

// Over a range of parameters: speeds, and the largest curvature and rate of its change.
typedef struct ArcBounds {
    double slow, fast, bend, twist;
} ArcBounds;

typedef struct AnyInterval {
    double low, high;
    bool inside;
} AnyInterval;

typedef struct AnyPoint {
    double t, s, speed[2]; // parameters, and speeds there: on a and on b
    TdlVec3 g;             // b - a
    double d, q, c, tau;   // as in ridge.c
    double apart;          // |curvature vector of b less that of a|
    double e1, e2;         // by b's arc length
    bool clamped;
} AnyPoint;

typedef struct AnyRidge {
    Search* search;
    double s_low, s_high;     // the piece of a
    double far_low, far_high; // what its bounds hold for
    ArcBounds a;
    double guess;
    int depth, edge_count;
    AnyInterval stack[STACK];
    SearchBox edges[EDGES];
} AnyRidge;

typedef struct AnyBounds {
    double reach, turn, third, second, speed;
} AnyBounds;

static double least(double a, double b) {
    return a < b ? a : b;
}

static double most(double a, double b) {
    return a > b ? a : b;
}

static ArcPoint arc_at(const TdlCurve* c, double u) {
    CurvePoint x = curve_eval(c, u);
    double speed = tdl_norm3(x.d1), inverse = 1.0 / most(speed, DBL_MIN);
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
        return most(k0, k1) * bend + tdl_norm3(c->clothoid.slope);
    }
    case TDL_CURVE_BEZIER:
        return 6.0 * tdl_norm3(c->poly.c3);
    case TDL_CURVE_USER:
        break;
    }
    return INFINITY;
}

// (X.27); false when the speed may change too much.
static bool arc_bounds(const TdlCurve* c, double u0, double u1, ArcBounds* out) {
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

static void set_point(AnyPoint* p, const ArcPoint* a, const ArcPoint* b, TdlVec3 g) {
    p->g = g;
    p->d = tdl_norm3(g);
    double ga = tdl_dot3(g, a->k), gb = tdl_dot3(g, b->k);
    p->q = 1.0 - ga;
    p->c = tdl_dot3(a->t, b->t);
    TdlVec3 turn = tdl_axpy3(b->t, p->c < 0.0 ? 1.0 : -1.0, a->t);
    double tau2 = tdl_dot3(turn, turn);
    p->tau = sqrt(tau2);
    p->apart = tdl_norm3(tdl_sub3(b->k, a->k));
    p->e1 = tdl_dot3(g, b->t);
    p->e2 = tau2 * (1.0 - 0.25 * tau2) + (gb - ga) + ga * (p->q - p->c * p->c) / p->q;
    p->speed[0] = a->speed;
    p->speed[1] = b->speed;
    p->clamped = false;
}

// The nearest point on a, continued beyond its ends; false when it is not found.
static bool project(AnyRidge* r, double t, AnyPoint* out) {
    const Search* search = r->search;
    ArcPoint b = arc_at(search->b, t);
    TdlVec3 target = tdl_add3(b.p, search->offset);
    double s = r->guess;
    for (int iter = 0; iter < MAX_PROJECTION; ++iter) {
        ArcPoint a = arc_at(search->a, s);
        TdlVec3 g = tdl_sub3(target, a.p);
        double q = 1.0 - tdl_dot3(g, a.k), step = tdl_dot3(g, a.t) / (q > 0.25 ? q : 1.0);
        double moved = step / a.speed;
        // what is left of g.a' is below the rounding of places
        if (q > 0.25 &&
            fabs(step) <= 0.25 * search->slack + 4.0 * DBL_EPSILON * fabs(s) * a.speed) {
            *out = (AnyPoint){.t = t, .s = s};
            set_point(out, &a, &b, g);
            r->guess = s;
            return true;
        }
        s += moved;
        if (!(s >= r->far_low && s <= r->far_high)) {
            return false;
        }
    }
    return false;
}

static bool project_inside(AnyRidge* r, double t, AnyPoint* out) {
    if (!project(r, t, out)) {
        return false;
    }
    if (out->s >= r->s_low && out->s <= r->s_high) {
        return true;
    }
    out->s = out->s < r->s_low ? r->s_low : r->s_high;
    ArcPoint a = arc_at(r->search->a, out->s), b = arc_at(r->search->b, t);
    out->g = tdl_sub3(tdl_add3(b.p, r->search->offset), a.p);
    out->d = tdl_norm3(out->g);
    out->e1 = tdl_dot3(out->g, b.t);
    out->e2 = 1.0 + tdl_dot3(out->g, b.k);
    out->clamped = true;
    return true;
}

// --- bounds over an interval ----------------------------------------------------------------

// One turn of the fixed point for T. (X.13), with (X.27) for the difference of curvatures.
static double next_turn(const AnyPoint* p, double h, const ArcBounds* a, const ArcBounds* b,
                        double turn, double* near, double* d2) {
    *near = (p->d + h * turn) * a->bend;
    double eta = *near / (1.0 - *near);
    *d2 = p->apart + h * (b->twist + a->twist * (1.0 + eta));
    return p->tau + h * (*d2 + a->bend * (eta + 0.5 * turn * turn));
}

// h by arc length of b. (X.13), (X.14)
static bool bound_interval(const AnyRidge* r, const AnyPoint* p, double h, const ArcBounds* b,
                           AnyBounds* out) {
    const ArcBounds* a = &r->a;
    double turn = p->tau, near, d2;
    for (int iter = 0; iter < 4; ++iter) {
        double value = next_turn(p, h, a, b, turn, &near, &d2);
        if (!(near <= MAX_CLOSENESS)) {
            return false;
        }
        turn = value;
    }
    turn = 1.05 * turn + 1.0e-14;
    if (!(turn < 1.4 && next_turn(p, h, a, b, turn, &near, &d2) <= turn && near <= MAX_CLOSENESS)) {
        return false;
    }
    double d = p->d + h * turn, eta = near / (1.0 - near), one = 1.0 + eta, turn2 = turn * turn;
    double d3 = b->twist + a->twist;
    double c1 = turn * (one * d2 + eta * b->bend + turn2 * b->bend);
    double square = turn2 + one * one - 1.0, cube = 1.5 * turn2 + one * one * one - 1.0;
    out->third = (turn + eta) * (d2 + a->bend * square) + d * (d3 + a->twist * cube);
    out->third = (out->third + 2.0 * one * c1) * (1.0 + 1.0e-12);
    double slant = most(0.0, 2.0 * p->tau - turn), slant2 = slant * slant;
    double direct = slant2 * (1.0 - 0.25 * slant2) - d * (d2 + a->bend * one * (near + turn2));
    out->second = most(p->e2 - out->third * h, direct) - SECOND_ERROR;
    out->reach = d;
    out->turn = turn;
    out->speed = one / a->slow; // of a's parameter, by b's arc length
    return true;
}

// Whether the bounds on a hold as far as the ridge goes, and the nearest point is unique. (X.11)
static bool branch_is_unique(const AnyRidge* r, const AnyPoint* p, double h, double speed) {
    double low = p->s - h * speed, high = p->s + h * speed;
    if (low < r->far_low || high > r->far_high) {
        return false;
    }
    low = least(low, r->s_low);
    high = most(high, r->s_high);
    return (high - low) * r->a.fast * r->a.bend <= MAX_TURNING;
}

// (X.15)
static double interval_lower(const Search* search, const AnyPoint* p, const AnyBounds* bounds,
                             double h) {
    double slope = fabs(p->e1) + search->slack, second = p->e2 - SECOND_ERROR;
    double fall = second > 0.0 && slope < second * h ? 0.5 * slope * slope / second
                                                     : h * (slope - 0.5 * second * h);
    fall += bounds->third * h * h * h / 6.0;
    fall = least(fall, bounds->second > 0.0 ? 0.5 * slope * slope / bounds->second
                                            : h * (slope - 0.5 * bounds->second * h));
    double square = p->d * p->d - 2.0 * fall;
    return (square > 0.0 ? sqrt(square) : 0.0) - 2.0 * search->slack;
}

// --- settling intervals ---------------------------------------------------------------------

static void offer(AnyRidge* r, const AnyPoint* p) {
    if (p->d < r->search->best) {
        search_offer(r->search, p->s, p->t, p->d);
    }
}

// Minimum over [low, high] of E, whose second derivative is at least `second` > 0 there.
static bool settle_convex(AnyRidge* r, double low, double high, double second, AnyPoint p) {
    const Search* search = r->search;
    double from = low, to = high;
    for (int iter = 0; iter < MAX_NEWTON; ++iter) {
        *(p.e1 > 0.0 ? &to : &from) = p.t;
        double next = p.e2 > 0.0 ? p.t - p.e1 / (p.e2 * p.speed[1]) : p.e1 > 0.0 ? from : to;
        if (!(next > from)) {
            next = from == low && iter < 3 ? low : 0.5 * (from + to);
        } else if (!(next < to)) {
            next = to == high && iter < 3 ? high : 0.5 * (from + to);
        }
        if (fabs(next - p.t) <= 4.0 * DBL_EPSILON * (fabs(p.t) + high - low)) {
            break;
        }
        if (!project_inside(r, next, &p)) {
            return false;
        }
        if ((p.t == low && p.e1 >= 0.0) || (p.t == high && p.e1 <= 0.0)) {
            offer(r, &p);
            return true;
        }
    }
    double allowed = most(least(search->tolerance, 1.0e-8 * p.d), 4.0 * search->slack);
    if (!(p.d - sqrt(most(0.0, p.d * p.d - p.e1 * p.e1 / second)) <= allowed)) {
        return false;
    }
    offer(r, &p);
    return true;
}

static bool push_interval(AnyRidge* r, double low, double high, bool inside) {
    if (high <= low) {
        return true;
    }
    if (r->depth >= STACK) {
        return false;
    }
    r->stack[r->depth++] = (AnyInterval){low, high, inside};
    return true;
}

static bool split_interval(AnyRidge* r, const AnyInterval* i, double e1) {
    double t = 0.5 * (i->low + i->high);
    bool high_first = e1 < 0.0;
    return push_interval(r, high_first ? i->low : t, high_first ? t : i->high, i->inside) &&
           push_interval(r, high_first ? t : i->low, high_first ? i->high : t, i->inside);
}

// The t in (low, high) whose nearest point is a(s).
static double crossing(const AnyRidge* r, double s, double low, double high) {
    ArcPoint a = arc_at(r->search->a, s);
    double t = 0.5 * (low + high);
    for (int iter = 0; iter < MAX_NEWTON; ++iter) {
        ArcPoint b = arc_at(r->search->b, t);
        TdlVec3 g = tdl_sub3(tdl_add3(b.p, r->search->offset), a.p);
        double step = tdl_dot3(g, a.t) / (tdl_dot3(b.t, a.t) * b.speed);
        double next = least(high, most(low, t - step));
        if (fabs(next - t) <= 2.0 * DBL_EPSILON * (fabs(t) + high - low)) {
            return next;
        }
        t = next;
    }
    return t;
}

// Cuts an interval where the nearest points leave the piece of a. (X.17)
static bool cut_interval(AnyRidge* r, double low, double high) {
    AnyPoint at[2];
    if (!project(r, low, &at[0]) || !project(r, high, &at[1])) {
        return false;
    }
    double inside[2] = {low, high};
    for (int i = 0; i < 2; ++i) {
        double end = least(r->s_high, most(r->s_low, at[i].s));
        if (end == at[i].s) {
            continue;
        }
        double other = at[1 - i].s;
        bool all = (end == r->s_low) == (other < end) && other != end;
        double cut = all ? inside[1 - i] : crossing(r, end, low, high);
        double from = least(cut, inside[i]), to = most(cut, inside[i]);
        if (r->edge_count == EDGES) {
            return false;
        }
        r->edges[r->edge_count++] =
            (SearchBox){end, 0.0, 0.5 * (from + to), 0.5 * (to - from), 0.0};
        if (all) {
            return true;
        }
        inside[i] = cut;
    }
    return push_interval(r, inside[0], inside[1], true);
}

static bool offer_ends(AnyRidge* r, const AnyInterval* i, bool low, bool high) {
    AnyPoint p;
    const Search* search = r->search;
    if (low && (i->low <= 0.0 || !search->collect)) {
        if (!project_inside(r, i->low, &p)) {
            return false;
        }
        offer(r, &p);
    }
    if (high && (i->high >= search->b->end || !search->collect)) {
        if (!project_inside(r, i->high, &p)) {
            return false;
        }
        offer(r, &p);
    }
    return true;
}

// Where the bounds fail: smaller intervals, or boxes.
static bool split_or_leave(AnyRidge* r, const AnyInterval* i, double e1) {
    return i->high - i->low > 0.01 * r->search->b->end && split_interval(r, i, e1);
}

static bool handle_interval(AnyRidge* r, AnyInterval i) {
    Search* search = r->search;
    ++search->boxes;
    double half = 0.5 * (i.high - i.low), t = 0.5 * (i.low + i.high);
    AnyPoint p;
    AnyBounds bounds;
    ArcBounds b;
    if (!project(r, t, &p)) {
        return false;
    }
    if (!arc_bounds(search->b, i.low, i.high, &b)) {
        return split_or_leave(r, &i, p.e1);
    }
    double h = half * b.fast;
    if (!bound_interval(r, &p, h, &b, &bounds) || !branch_is_unique(r, &p, h, bounds.speed)) {
        return split_or_leave(r, &i, p.e1);
    }
    if (search_prunes(search, interval_lower(search, &p, &bounds, h))) {
        return true;
    }
    bool inside =
        i.inside || (p.s - h * bounds.speed >= r->s_low && p.s + h * bounds.speed <= r->s_high);
    if (bounds.second > 0.0 && bounds.reach * b.bend < MAX_CLOSENESS &&
        2.0 * h * b.bend < MAX_TURNING) {
        AnyPoint start;
        return (project_inside(r, t, &start) &&
                settle_convex(r, i.low, i.high, least(bounds.second, 0.5), start)) ||
               split_interval(r, &i, p.e1);
    }
    if (!inside) {
        return bounds.turn < 1.0 ? cut_interval(r, i.low, i.high) : split_interval(r, &i, p.e1);
    }
    double change = bounds.third * h + SECOND_ERROR;
    if (fabs(p.e1) - h * (fabs(p.e2) + 0.5 * change) - search->slack > 0.0) {
        return offer_ends(r, &i, p.e1 > 0.0, p.e1 < 0.0);
    }
    if (p.e2 < -change) {
        return offer_ends(r, &i, true, true);
    }
    if (!search->collect && p.d < search->best) {
        search_offer(search, least(r->s_high, most(r->s_low, p.s)), t, p.d);
    }
    double grain = search->collect ? search->grain : 1.0e-15 * search->b->end;
    if (half <= grain) {
        if (search->collect) {
            search_offer(search, p.s, t, p.d);
            search->complete = false;
        }
        return true;
    }
    i.inside = true;
    double away = fabs(p.e1) - search->slack;
    if (away > 0.0 && away + h * (p.e2 - SECOND_ERROR - 0.5 * bounds.third * h) > 0.0) {
        return p.e1 > 0.0 ? push_interval(r, i.low, t, true) : push_interval(r, t, i.high, true);
    }
    return split_interval(r, &i, p.e1);
}

bool search_ridge_any(Search* search, const SearchBox* box, double guess) {
    AnyRidge r;
    r.search = search;
    r.s_low = box->s - box->x;
    r.s_high = box->s + box->x;
    r.far_low = r.s_low - box->x;
    r.far_high = r.s_high + box->x;
    r.guess = guess;
    r.depth = r.edge_count = 0;
    if (search->a->kind == TDL_CURVE_USER || search->b->kind == TDL_CURVE_USER) {
        return false;
    }
    // what is far, turns or crosses is for boxes
    AnyPoint p;
    if (!arc_bounds(search->a, r.far_low, r.far_high, &r.a) ||
        search->best * r.a.bend > MAX_CLOSENESS ||
        2.0 * box->x * r.a.fast * r.a.bend > MAX_TURNING || !project(&r, box->t, &p) ||
        p.tau > MAX_ANGLE) {
        return false;
    }
    push_interval(&r, box->t - box->y, box->t + box->y, false);
    for (int count = 0; r.depth > 0; ++count) {
        if (search->boxes >= search->limit || count == MAX_INTERVALS ||
            !handle_interval(&r, r.stack[--r.depth])) {
            return false; // what was found stands, as points of the curves
        }
    }
    for (int i = 0; i < r.edge_count; ++i) {
        search_push(search, r.edges[i]);
    }
    return true;
}
