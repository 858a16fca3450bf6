// The ridge: the distance between two curves as a function of one parameter.
//
// For a point b(t) close to the curve a the nearest point a(s(t)) is unique; what is left is
// E(t) = |a(s(t)) - b(t)|^2 / 2. This file walks over intervals of t: convex, concave or monotone
// ones have their minimum at a known place, others are excluded or split. What it needs to know of
// the curves is in ridge_helix.c and ridge_any.c. docs/theory/distance.md, section 4. This file is
// built without contraction.
#include "detect/ridge.h"

#include <float.h>

enum { MAX_NEWTON = 24, MAX_INTERVALS = 8000 };

// Curves of other kinds that cross at a larger angle are for boxes, rad.
static const double MAX_ANGLE = 0.5;

// Where bounds fail on intervals shorter than this share of b, boxes do the rest: helices, others.
static const double LEAST_SHARE[2] = {0.1, 0.01};

// Newton's method ends when the next step would change t by less than this share of b.
static const double LAST_STEP = 1.0e-10;

static inline double least(double a, double b) {
    return ridge_least(a, b);
}

static inline double most(double a, double b) {
    return ridge_most(a, b);
}

static inline bool project(Ridge* ridge, double t, RidgePoint* out) {
    return ridge->helices ? ridge_project_helix(ridge, t, out) : ridge_project_any(ridge, t, out);
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
    ArcPoint a = ridge_arc(ridge->search->a, out->s), b = ridge_arc(ridge->search->b, t);
    out->g = tdl_sub3(tdl_add3(b.p, ridge->search->offset), a.p);
    out->d = tdl_norm3(out->g);
    out->e1 = tdl_dot3(out->g, b.t);
    out->e2 = 1.0 + tdl_dot3(out->g, b.k);
    out->clamped = true;
    return true;
}

// --- bounds over an interval
// ----------------------------------------------------------------------

// True when the piece of a and the ridge over the interval together turn little enough for the
// nearest point to be unique, and lie where a's bounds hold. (X.11)
static bool branch_is_unique(const Ridge* ridge, const RidgePoint* p, double h, double speed) {
    double low = p->s - h * speed, high = p->s + h * speed;
    if (low < ridge->far_low || high > ridge->far_high) {
        return false;
    }
    low = least(low, ridge->s_low);
    high = most(high, ridge->s_high);
    return (high - low) * ridge->a.fast * ridge->a.bend <= RIDGE_TURNING;
}

// How much the distance can change along the interval, from what keeps both helices from being
// moved along themselves by one screw motion. (X.16b)
static double screw_drift(const Ridge* ridge, const RidgePoint* p, double h) {
    TdlVec3 w_a = ridge->search->a->helix.w, w_b = ridge->search->b->helix.w;
    TdlVec3 flow = tdl_add3(p->a1, tdl_cross3(w_a, p->g));
    double lambda = tdl_dot3(p->b1, flow) / tdl_dot3(flow, flow);
    TdlVec3 slip = tdl_axpy3(p->b1, -lambda, flow), skew = tdl_axpy3(w_b, -lambda, w_a);
    return h * (tdl_norm3(slip) + h * tdl_norm3(skew));
}

// A lower bound on the distance over the interval, from the ridge point in its middle. (X.15)
static double interval_lower(const Ridge* ridge, const RidgePoint* p, const RidgeBounds* bounds) {
    const Search* search = ridge->search;
    double h = bounds->h, slope = fabs(p->e1) + ridge_slope_error(ridge, p);
    double second = p->e2 - ridge->error;
    double fall = second > 0.0 && slope < second * h ? 0.5 * slope * slope / second
                                                     : h * (slope - 0.5 * second * h);
    fall += bounds->third * h * h * h * (1.0 / 6.0);
    fall = least(fall, bounds->second > 0.0 ? 0.5 * slope * slope / bounds->second
                                            : h * (slope - 0.5 * bounds->second * h));
    double square = p->d * p->d - 2.0 * fall;
    return (square > 0.0 ? sqrt(square) : 0.0) - 2.0 * search->slack;
}

// --- settling intervals
// ---------------------------------------------------------------------------

static void offer(Ridge* ridge, const RidgePoint* p) {
    if (p->d < ridge->search->best) {
        search_offer(ridge->search, p->s, p->t, p->d);
    }
}

// Whether the minimum of E lies no further below a point with |E'| <= slope than that, when E'' is
// at least `second`. (X.15)
static bool is_settled(const Search* search, double d, double slope, double second) {
    return d - sqrt(most(0.0, d * d - slope * slope / second)) <= search_allowance(search, d);
}

// Takes the last Newton step, to `next`, without another evaluation; false when what that leaves
// out is not far below the tolerance, or where the curves come so much nearer in this step that the
// distance is lost in the rounding of the one before. (X.29)
static bool finish_step(const Ridge* ridge, RidgePoint* p, double next, double second,
                        double third) {
    const Search* search = ridge->search;
    double step = next - p->t, square = third * step * step;
    double s = p->s + step * p->c / (p->q * p->speed[0]);
    double slope = fabs(p->e1 + step * p->e2) + 0.5 * square;
    double d = sqrt(most(0.0, p->d * p->d + step * (2.0 * p->e1 + step * p->e2)));
    double allowed = d * search_allowance(search, d);
    if (p->clamped || !ridge->by_arc || s < ridge->s_low || s > ridge->s_high ||
        !(square * fabs(step) <= 0.01 * allowed) || !(search->slack * p->d <= allowed) ||
        !is_settled(search, d, slope, second)) {
        return false;
    }
    p->s = s;
    p->t = next;
    p->d = d;
    return true;
}

// The second derivative of a function at the second of two points, from values and slopes at both:
// that of the cubic through them.
static double cubic_second(double step, double f0, double slope0, double f1, double slope1) {
    double inverse = 1.0 / step;
    return 2.0 * inverse * (2.0 * slope1 + slope0 - 3.0 * inverse * (f1 - f0));
}

// Minimum over the interval of E, whose second derivative is at least `second` > 0 there, from a
// point inside. False when it is not reached to the tolerance. Newton's method on E', with the
// third derivative that the last two points show.
static bool settle_convex(Ridge* ridge, const RidgeInterval* i, double second, double third,
                          RidgePoint p) {
    const Search* search = ridge->search;
    double from = i->low, to = i->high, bend = 0.0;
    for (int iter = 0; iter < MAX_NEWTON; ++iter) {
        *(p.e1 > 0.0 ? &to : &from) = p.t;
        double slope = p.e2 * p.speed[1], step = slope > 0.0 ? -p.e1 / slope : -p.e1 * INFINITY;
        if (fabs(step) <= 4.0 * DBL_EPSILON * (fabs(p.t) + i->high - i->low)) {
            break;
        }
        double curve = -0.5 * step * bend / slope;
        double next = p.t + (fabs(curve) <= 0.3 ? step * (1.0 + curve) : step);
        // out of the bracket: an end of the interval where nothing was seen yet, else the middle
        if (!(next > from)) {
            next = from == i->low && iter < 3 ? from : 0.5 * (from + to);
        } else if (!(next < to)) {
            next = to == i->high && iter < 3 ? to : 0.5 * (from + to);
        } else if (0.5 * (iter == 0 ? third : fabs(bend)) * step * step <=
                       LAST_STEP * search->b->end * slope &&
                   finish_step(ridge, &p, next, second, third)) {
            offer(ridge, &p);
            return true;
        }
        RidgePoint old = p;
        if (!project_inside(ridge, next, &p)) {
            return false;
        }
        if ((p.t == i->low && p.e1 >= 0.0) || (p.t == i->high && p.e1 <= 0.0)) {
            offer(ridge, &p);
            return true;
        }
        bend = p.clamped || old.clamped ? 0.0
                                        : cubic_second(p.t - old.t, old.e1, old.e2 * old.speed[1],
                                                       p.e1, p.e2 * p.speed[1]);
    }
    if (!is_settled(search, p.d, p.e1, second)) {
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
    ridge->stack[ridge->depth++] = (RidgeInterval){low, high, inside};
    return true;
}

// The t in (low, high) whose nearest point is a(s): where b crosses the normal plane there.
static double crossing(const Ridge* ridge, double s, double low, double high) {
    ArcPoint a = ridge_arc(ridge->search->a, s);
    double t = 0.5 * (low + high);
    for (int iter = 0; iter < MAX_NEWTON; ++iter) {
        ArcPoint b = ridge_arc(ridge->search->b, t);
        TdlVec3 g = tdl_sub3(tdl_add3(b.p, ridge->search->offset), a.p);
        double step = tdl_dot3(g, a.t) / (tdl_dot3(b.t, a.t) * b.speed);
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
    RidgePoint at[2];
    if (!project(ridge, low, &at[0]) || !project(ridge, high, &at[1])) {
        return false;
    }
    double inside[2] = {low, high};
    for (int i = 0; i < 2; ++i) {
        double end = least(ridge->s_high, most(ridge->s_low, at[i].s));
        if (end == at[i].s) {
            continue;
        }
        double other = at[1 - i].s;
        bool all = (end == ridge->s_low) == (other < end) && other != end;
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

static bool split_interval(Ridge* ridge, const RidgeInterval* i, const RidgePoint* p) {
    // the half towards which the distance falls is looked at first
    bool high_first = p->e1 < 0.0;
    return push_interval(ridge, high_first ? i->low : p->t, high_first ? p->t : i->high,
                         i->inside) &&
           push_interval(ridge, high_first ? p->t : i->low, high_first ? i->high : p->t, i->inside);
}

// The ends of an interval: they may be minima when the distance is monotone or concave between.
static bool offer_ends(Ridge* ridge, const RidgeInterval* i, bool low, bool high) {
    RidgePoint p;
    const Search* search = ridge->search;
    // ends inside the domain belong to the neighbour, whose derivative there is the same
    if (low && (i->low <= 0.0 || !search->collect)) {
        if (!project_inside(ridge, i->low, &p)) {
            return false;
        }
        offer(ridge, &p);
    }
    if (high && (i->high >= search->b->end || !search->collect)) {
        if (!project_inside(ridge, i->high, &p)) {
            return false;
        }
        offer(ridge, &p);
    }
    return true;
}

// Settles an interval of any length along which two helices keep their distance to the tolerance,
// or excludes it. (X.16b)
static bool settle_screw(Ridge* ridge, const RidgePoint* p, double h) {
    Search* search = ridge->search;
    double drift = screw_drift(ridge, p, h), bend = search->a->helix.bend;
    double lower = p->d - drift - 2.0 * search->slack;
    if ((p->d + drift) * bend > RIDGE_CLOSENESS ||
        !branch_is_unique(ridge, p, h, 1.0 / (1.0 - RIDGE_CLOSENESS))) {
        return false;
    }
    if (drift <= 1.0e-9 * p->d && !search->collect && p->s >= ridge->s_low &&
        p->s <= ridge->s_high) {
        offer(ridge, p);
    }
    return search_prunes(search, lower);
}

// Settles or splits an interval where the fine bounds fail: by coarse ones, which serve fibres that
// cross at a large angle; false when the ridge does not apply to it. (X.14b)
static bool handle_coarse(Ridge* ridge, const RidgeInterval* i, const RidgePoint* p) {
    const Search* search = ridge->search;
    double h = 0.5 * (i->high - i->low);
    if (ridge->helices) {
        double ka = search->a->helix.bend, kb = search->b->helix.bend;
        double reach = p->d + h, near_a = reach * ka, near_b = reach * kb;
        if (near_a <= RIDGE_CLOSENESS && near_b <= RIDGE_CLOSENESS &&
            2.0 * h * kb < RIDGE_TURNING && branch_is_unique(ridge, p, h, 1.0 / (1.0 - near_a))) {
            double u = 1.0 / (1.0 - near_a), c = least(1.0, fabs(p->c) + h * (kb + ka * u));
            double second = 1.0 - near_b - c * c * u - ridge->error;
            double third =
                3.0 * u * (kb + ka * u) + reach * (search->wb * kb + search->wa * ka * u * u * u);
            RidgePoint start;
            if (second > 0.01 && project_inside(ridge, p->t, &start) &&
                settle_convex(ridge, i, least(second, 1.0 - near_b), third, start)) {
                return true;
            }
        }
    }
    return 2.0 * h > LEAST_SHARE[!ridge->helices] * search->b->end && split_interval(ridge, i, p);
}

// Settles, excludes or splits one interval; false when the ridge does not apply to it.
static bool handle_interval(Ridge* ridge, RidgeInterval i) {
    Search* search = ridge->search;
    ++search->boxes;
    double half = 0.5 * (i.high - i.low), t = 0.5 * (i.low + i.high);
    RidgePoint p;
    RidgeBounds bounds;
    if (!project(ridge, t, &p)) {
        return false;
    }
    bool bounded = (ridge->helices ? ridge_bound_helix(ridge, &p, half, &bounds)
                                   : ridge_bound_any(ridge, &p, i.low, i.high, &bounds)) &&
                   branch_is_unique(ridge, &p, bounds.h, bounds.speed);
    if (bounded && search_prunes(search, interval_lower(ridge, &p, &bounds))) {
        return true;
    }
    if (bounded && bounds.second > 0.0 && bounds.reach * bounds.bend < RIDGE_CLOSENESS &&
        2.0 * bounds.h * bounds.bend < RIDGE_TURNING) {
        RidgePoint start = p;
        bool ready =
            (p.s >= ridge->s_low && p.s <= ridge->s_high) || project_inside(ridge, t, &start);
        double second = least(bounds.second, 0.5);
        return (ready && settle_convex(ridge, &i, second, bounds.third, start)) ||
               split_interval(ridge, &i, &p);
    }
    if (ridge->helices && settle_screw(ridge, &p, half)) {
        return true;
    }
    if (!bounded) {
        return handle_coarse(ridge, &i, &p);
    }
    double h = bounds.h;
    i.inside |= p.s - h * bounds.speed >= ridge->s_low && p.s + h * bounds.speed <= ridge->s_high;
    if (!i.inside) {
        return bounds.turn < 1.0 ? cut_interval(ridge, i.low, i.high)
                                 : split_interval(ridge, &i, &p);
    }
    double change = bounds.third * h + ridge->error;
    double away = fabs(p.e1) - ridge_slope_error(ridge, &p);
    if (away > h * (fabs(p.e2) + 0.5 * change)) {
        return offer_ends(ridge, &i, p.e1 > 0.0, p.e1 < 0.0);
    }
    if (p.e2 < -change) {
        return offer_ends(ridge, &i, true, true);
    }
    if (!search->collect && p.d < search->best) {
        search_offer(search, least(ridge->s_high, most(ridge->s_low, p.s)), t, p.d);
    }
    double grain = search->collect ? search->grain : 1.0e-15 * search->b->end;
    if (half <= grain) {
        if (search->collect) {
            search_offer(search, p.s, t, p.d);
            search->complete = false;
        }
        return true;
    }
    // where the distance only grows from the middle on, the half behind it has nothing below
    if (away > 0.0 && away + h * (p.e2 - ridge->error - 0.5 * bounds.third * h) > 0.0) {
        return p.e1 > 0.0 ? push_interval(ridge, i.low, t, true)
                          : push_interval(ridge, t, i.high, true);
    }
    return split_interval(ridge, &i, &p);
}

bool ridge_begin(Ridge* ridge, Search* search, const SearchBox* box, double guess) {
    const TdlCurve *a = search->a, *b = search->b;
    bool helices = curve_is_helix(a) && curve_is_helix(b);
    ridge->search = search;
    ridge->helices = helices;
    ridge->by_arc = b->kind <= TDL_CURVE_CLOTHOID;
    ridge->s_low = box->s - box->x;
    ridge->s_high = box->s + box->x;
    ridge->far_low = helices ? -INFINITY : ridge->s_low - box->x;
    ridge->far_high = helices ? INFINITY : ridge->s_high + box->x;
    ridge->error = helices ? 1.0e-14 : 1.0e-13;
    ridge->guess = guess;
    ridge->from = box->t;
    ridge->rate = 0.0;
    ridge->depth = ridge->edge_count = 0;
    if (a->kind == TDL_CURVE_USER || b->kind == TDL_CURVE_USER) {
        return false;
    }
    if (helices) {
        ridge->a = (ArcBounds){1.0, 1.0, a->helix.bend, search->wa * a->helix.bend};
    } else if (!ridge_arc_bounds(a, ridge->far_low, ridge->far_high, &ridge->a)) {
        return false;
    }
    if (search->best * ridge->a.bend > RIDGE_CLOSENESS ||
        2.0 * box->x * ridge->a.fast * ridge->a.bend > RIDGE_TURNING) {
        return false;
    }
    if (helices) {
        return search->best * b->helix.bend <= RIDGE_CLOSENESS;
    }
    RidgePoint p;
    return ridge_project_any(ridge, box->t, &p) && p.tau <= MAX_ANGLE;
}

bool search_ridge(Search* search, const SearchBox* box, double guess) {
    Ridge ridge;
    if (!ridge_begin(&ridge, search, box, guess)) {
        return false;
    }
    double end = search->b->end;
    push_interval(&ridge, search_edge(box->t - box->y, end), search_edge(box->t + box->y, end),
                  false);
    for (int count = 0; ridge.depth > 0; ++count) {
        if (search->boxes >= search->limit || (!ridge.helices && count == MAX_INTERVALS) ||
            !handle_interval(&ridge, ridge.stack[--ridge.depth])) {
            return false; // what was found stands, as points of the curves
        }
    }
    for (int i = 0; i < ridge.edge_count; ++i) {
        search_push(search, ridge.edges[i]);
    }
    return true;
}
