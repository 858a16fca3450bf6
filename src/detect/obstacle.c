// Obstacles. The height of a helix above a plane is s, cosine and sine: its critical points are in
// closed form. Other kinds are searched with the bound on their second derivative. The distance of
// a helix or a clothoid from a point or a line is a function of one parameter, searched with a
// bound on its third derivative: also one that keeps its distance is settled in some hundred
// intervals.
#include "detect/obstacle.h"

#include "curve/curve.h"

#include <float.h>

TdlCurve obstacle_curve(const TdlColliderDef* o, const TdlCurve* c) {
    TdlCurve out = {.kind = TDL_CURVE_SEGMENT, .origin = o->pose.position};
    TdlVec3 axis = o->pose.rotation.cx;
    out.radius[0] = out.radius[1] = o->radius;
    out.helix.t = axis;
    if (o->shape == TDL_SHAPE_CAPSULE) {
        out.end = o->length;
    } else if (o->shape == TDL_SHAPE_CYLINDER) {
        // the points of the axis nearest to c lie abreast of a ball about it
        double size = curve_size(c) * (1.0 + 1.0e-9);
        double along = tdl_dot3(axis, tdl_sub3(c->origin, o->pose.position));
        out.origin = tdl_axpy3(out.origin, along - size, axis);
        out.end = 2.0 * size;
    }
    return out;
}

typedef struct Height {
    const TdlCurve* c;
    TdlVec3 normal;
    double base; // height of the curve's origin
    double taper;
    double bound;
    int capacity, count;
    double *s, *gap;
    const TdlColliderDef* disc; // null: the plane is endless
} Height;

static double height_at(const Height* h, double s) {
    return h->base + tdl_dot3(h->normal, curve_eval(h->c, s).p) - tdl_curve_radius(h->c, s);
}

static double slope_at(const Height* h, double s) {
    return tdl_dot3(h->normal, curve_eval(h->c, s).d1) - h->taper;
}

static bool above_disc(const Height* h, double s) {
    TdlVec3 p = tdl_sub3(tdl_curve_point(h->c, s), h->disc->pose.position);
    double z = tdl_dot3(h->normal, p);
    return z >= -h->disc->radius && tdl_norm3(tdl_axpy3(p, -z, h->normal)) <= h->disc->length;
}

// Keeps a point, sorted by height; the highest falls out.
static void keep(Height* h, double s) {
    double gap = height_at(h, s);
    if (!(gap < h->bound) || (h->disc != NULL && !above_disc(h, s))) {
        return;
    }
    for (int i = 0; i < h->count; ++i) {
        if (fabs(h->s[i] - s) <= 1.0e-9 * h->c->end) {
            return;
        }
    }
    if (h->count == h->capacity && gap >= h->gap[h->count - 1]) {
        return;
    }
    h->count += h->count < h->capacity;
    int k = h->count - 1;
    for (; k > 0 && h->gap[k - 1] > gap; --k) {
        h->gap[k] = h->gap[k - 1];
        h->s[k] = h->s[k - 1];
    }
    h->gap[k] = gap;
    h->s[k] = s;
}

static void keep_ends(Height* h) {
    if (slope_at(h, 0.0) >= 0.0) {
        keep(h, 0.0);
    }
    if (slope_at(h, h->c->end) <= 0.0) {
        keep(h, h->c->end);
    }
}

// The slope P + Q cos(w s) + R sin(w s) vanishes where cos(w s - phase) = -P / M. (X.21)
static void helix_minima(Height* h) {
    const TdlCurve* c = h->c;
    double w2 = c->helix.w2, w = sqrt(w2);
    double e1 = tdl_dot3(h->normal, c->helix.e1), e2 = tdl_dot3(h->normal, c->helix.e2);
    keep_ends(h);
    if (!(w * c->end > 1.0e-4)) {
        // hardly turns: the slope is linear to rounding
        double slope = slope_at(h, 0.0), s = e1 > 0.0 ? -slope / e1 : -1.0;
        for (int i = 0; i < 3 && s > 0.0 && s < c->end; ++i) {
            s -= slope_at(h, s) / tdl_dot3(h->normal, curve_eval(c, s).d2);
        }
        if (s > 0.0 && s < c->end) {
            keep(h, s);
        }
        return;
    }
    double Q = -e2 / w2, R = e1 / w, P = slope_at(h, 0.0) - Q, M = hypot(Q, R);
    if (!(fabs(P) <= M * (1.0 + 1.0e-12)) || M == 0.0) {
        return;
    }
    double phase = atan2(R, Q), open = acos(fmax(-1.0, fmin(1.0, -P / M)));
    // the slope rises through zero at phase - open + 2 pi k: minima
    double period = 6.283185307179586 / w, s = (phase - open) / w;
    s -= period * floor(s / period);
    for (; s < c->end; s += period) {
        double root = s;
        for (int i = 0; i < 2; ++i) {
            double second = tdl_dot3(h->normal, curve_eval(c, root).d2);
            root -= second > 0.0 ? slope_at(h, root) / second : 0.0;
        }
        if (root > 0.0 && root < c->end) {
            keep(h, root);
        }
    }
}

// Bisection with the bound on the second derivative: intervals where the slope has one sign or the
// height stays above the bound are dropped.
static void other_minima(Height* h, double low, double high, double tolerance) {
    double m = 0.5 * (low + high), x = 0.5 * (high - low);
    double bend = curve_bend(h->c, low, high), slope = slope_at(h, m);
    double lower = height_at(h, m) - fabs(slope) * x - 0.5 * bend * x * x;
    if (lower >= h->bound || fabs(slope) > bend * x) {
        return;
    }
    if (x <= tolerance) {
        // a zero of the slope here is a minimum when the slope rises
        if (slope_at(h, low) <= 0.0 && slope_at(h, high) >= 0.0) {
            keep(h, m);
        }
        return;
    }
    other_minima(h, low, m, tolerance);
    other_minima(h, m, high, tolerance);
}

// A bound on the third derivative of a helix or a clothoid. (X.25)
static double third_bound(const TdlCurve* c) {
    if (curve_is_helix(c)) {
        return sqrt(c->helix.w2) * c->helix.bend;
    }
    TdlVec3 kappa = c->clothoid.kappa, slope = c->clothoid.slope;
    double turn = fmax(tdl_norm3(kappa), tdl_norm3(tdl_axpy3(kappa, c->end, slope)));
    return turn * curve_bend(c, 0.0, c->end) + hypot(slope.y, slope.z);
}

// The one minimum of an interval over which the height is convex, if it is inside. Newton's method
// with bisection.
static void settle_slope(Height* h, double low, double high) {
    double a = low, b = high, s = 0.5 * (low + high);
    if (slope_at(h, low) > 0.0 || slope_at(h, high) < 0.0) {
        return;
    }
    for (int i = 0; i < 60 && b - a > 1.0e-15 * h->c->end; ++i) {
        double slope = slope_at(h, s),
               next = s - slope / tdl_dot3(h->normal, curve_eval(h->c, s).d2);
        a = slope < 0.0 ? s : a;
        b = slope < 0.0 ? b : s;
        double to = next > a && next < b ? next : 0.5 * (a + b);
        if (fabs(to - s) <= 1.0e-15 * h->c->end) {
            break;
        }
        s = to;
    }
    keep(h, s);
}

// Bisection with a bound on the third derivative: an element that lies level, bent in the plane as
// it may be, is settled in some hundred intervals. (X.37)
static void clothoid_minima(Height* h, double third, double tolerance, double low, double high) {
    double m = 0.5 * (low + high), x = 0.5 * (high - low), bend = third * x;
    CurvePoint p = curve_eval(h->c, m);
    double slope = tdl_dot3(h->normal, p.d1) - h->taper, second = tdl_dot3(h->normal, p.d2);
    double first = fabs(slope) * x + bend * x * x / 6.0;
    if (height_at(h, m) - first - 0.5 * fmax(0.0, -second) * x * x >= h->bound ||
        fabs(slope) > fabs(second) * x + 0.5 * bend * x || second < -bend) {
        return; // too high, monotone or concave: no minimum inside
    }
    if (second > bend) {
        settle_slope(h, low, high);
    } else if (first + 0.5 * fabs(second) * x * x <= tolerance) {
        double none = tolerance / h->c->end;
        if (slope_at(h, low) < -none && slope_at(h, high) > none) {
            keep(h, m);
        }
    } else {
        clothoid_minima(h, third, tolerance, low, m);
        clothoid_minima(h, third, tolerance, m, high);
    }
}

double obstacle_plane_seat(const TdlColliderDef* plane, const TdlCurve* c, double seat) {
    TdlVec3 n = plane->pose.rotation.cz, middle = tdl_curve_point(c, fmax(seat, 0.0));
    double level = SEAT_LEVEL * c->radius[0];
    bool good = seat >= 0.0;
    for (int k = 0; k < 2 && good; ++k) {
        TdlVec3 end = tdl_curve_point(c, k * c->end);
        good = fabs(tdl_dot3(n, tdl_sub3(end, middle))) <= level;
    }
    return good ? seat : -1.0;
}

int obstacle_plane(const TdlColliderDef* plane, const TdlCurve* c, double bound, double tolerance,
                   PlanePoints points, double seat, int capacity, double* s, double* gap) {
    TdlVec3 normal = plane->pose.rotation.cz;
    Height h = {.c = c,
                .normal = normal,
                .base = tdl_dot3(normal, tdl_sub3(c->origin, plane->pose.position)),
                .taper = c->end > 0.0 ? (c->radius[1] - c->radius[0]) / c->end : 0.0,
                .bound = bound,
                .capacity = points == PLANE_LEAST ? 1 : capacity,
                .s = s,
                .gap = gap,
                .disc = plane->shape == TDL_SHAPE_PLATE ? plane : NULL};
    if (points == PLANE_ENDS) {
        keep(&h, 0.0);
        keep(&h, c->end);
        if (seat > 0.0 && seat < c->end) {
            keep(&h, seat);
        }
    }
    if (curve_is_helix(c)) {
        helix_minima(&h);
    } else {
        double fine = fmax(tolerance, 1.0e-12 * c->end);
        keep_ends(&h);
        if (c->kind == TDL_CURVE_CLOTHOID) {
            clothoid_minima(&h, third_bound(c) * (1.0 + 1.0e-9), fine, 0.0, c->end);
        } else {
            other_minima(&h, 0.0, c->end, fine);
        }
    }
    return h.count;
}

// --- spheres and cylinders -----------------------------------------------------------------------

bool obstacle_is_round(const TdlColliderDef* o, const TdlCurve* c) {
    return (curve_is_helix(c) || c->kind == TDL_CURVE_CLOTHOID) && c->radius[0] == c->radius[1] &&
           (o->shape == TDL_SHAPE_SPHERE || o->shape == TDL_SHAPE_CYLINDER);
}

// Minima so near along the curve, in its lengths, are one.
static const double ROUND_SAME = 1.0e-9;

// Half the square of the distance, with its derivatives. (X.25)
typedef struct Square {
    double q, q1, q2;
} Square;

// A point of the curve with its q.
typedef struct RoundPoint {
    double s, q;
} RoundPoint;

typedef struct Round {
    const TdlCurve* c;
    TdlVec3 offset, axis; // the curve's origin from the obstacle; zero axis: a point
    double third;         // bound on the third derivative
    double tolerance;     // of q
    double bound;         // of q: what is above is not wanted
    bool all;             // every minimum, not only the least
    RoundPoint level;     // where q does not change, the place nearest to the middle
    int count;
    RoundPoint* point; // [ROUND_POINTS] the lowest first
    bool lost;         // there are more
} Round;

static TdlVec3 across(const Round* r, TdlVec3 v) {
    return tdl_axpy3(v, -tdl_dot3(r->axis, v), r->axis);
}

static Square square_at(const Round* r, double s) {
    CurvePoint p = curve_eval(r->c, s);
    TdlVec3 x = across(r, tdl_add3(r->offset, p.p)), d1 = across(r, p.d1);
    return (Square){0.5 * tdl_dot3(x, x), tdl_dot3(x, d1), tdl_dot3(d1, d1) + tdl_dot3(x, p.d2)};
}

// Keeps a point, or the lower of two that are the same.
static void offer(Round* r, double s, double q) {
    if (!(q < r->bound)) {
        return;
    }
    if (!r->all) {
        r->bound = q; // the next must be lower
        r->point[0] = (RoundPoint){s, q};
        r->count = 1;
        return;
    }
    int kept = 0, at = 0;
    for (int i = 0; i < r->count; ++i) {
        RoundPoint p = r->point[i];
        bool near = fabs(p.s - s) <= ROUND_SAME * r->c->end, lower = p.q <= q;
        if (near && lower) {
            return; // all before it stayed where they were
        }
        if (!near) {
            r->point[kept++] = p;
            at += lower;
        }
    }
    if (kept == ROUND_POINTS) { // the highest falls out
        r->lost = true;
        if (at == kept--) {
            return;
        }
    }
    for (int i = kept; i > at; --i) {
        r->point[i] = r->point[i - 1];
    }
    r->point[at] = (RoundPoint){s, q};
    r->count = kept + 1;
}

// The one minimum of an interval over which q is convex, by Newton's method. One that lies beyond
// an end is the neighbour's.
static void settle_convex(Round* r, double low, double high, double s) {
    Square f = square_at(r, s);
    for (int i = 0; i < 20; ++i) {
        double next = fmin(fmax(s - f.q1 / f.q2, low), high);
        bool still = !(fabs(next - s) > 1.0e-15 * r->c->end);
        if (!r->all) {
            offer(r, s, f.q);
        }
        if (still) {
            break;
        }
        s = next;
        f = square_at(r, s);
    }
    bool inside = s > low && s < high;
    if (r->all && (inside || fabs(f.q1) <= ROUND_SAME * r->c->end * f.q2)) {
        offer(r, s, f.q);
    }
}

// An interval in which q changes by less than the tolerance: a minimum where its slope changes
// sign, or any place where it has none.
static void settle_level(Round* r, double low, double high, double q) {
    double none = r->tolerance / r->c->end, m = 0.5 * (low + high), middle = 0.5 * r->c->end;
    if (square_at(r, low).q1 < -none && square_at(r, high).q1 > none) {
        offer(r, m, q);
    } else if (fabs(m - middle) < fabs(r->level.s - middle)) {
        r->level = (RoundPoint){m, q};
    }
}

static void search_round(Round* r, double low, double high) {
    double m = 0.5 * (low + high), x = 0.5 * (high - low);
    Square f = square_at(r, m);
    double bend = r->third * x, first = fabs(f.q1) * x + bend * x * x / 6.0;
    double fall = first + 0.5 * fmax(0.0, -f.q2) * x * x;
    if (!r->all) {
        offer(r, m, f.q);
    }
    if (f.q - fall >= r->bound - r->tolerance) {
        return; // nothing lower that is worth finding
    }
    if (f.q2 - bend > 0.0) {
        settle_convex(r, low, high, m);
    } else if (f.q2 + bend < 0.0 || fabs(f.q1) > fabs(f.q2) * x + 0.5 * bend * x) {
        // concave or monotone: lowest at an end
        if (!r->all) {
            offer(r, low, square_at(r, low).q);
            offer(r, high, square_at(r, high).q);
        }
    } else if (first + 0.5 * fabs(f.q2) * x * x <= r->tolerance) {
        settle_level(r, low, high, f.q);
    } else {
        search_round(r, low, m);
        search_round(r, m, high);
    }
}

int obstacle_round(const TdlColliderDef* o, const TdlCurve* axis, const TdlCurve* c, double bound,
                   double tolerance, bool all, TdlDistance found[ROUND_POINTS]) {
    RoundPoint point[ROUND_POINTS];
    double radii = c->radius[0] + o->radius, reach = bound + radii;
    double rounding = curve_rounding(c) * (tdl_norm3(c->origin) + c->end + radii);
    Round r = {.c = c,
               .offset = tdl_sub3(c->origin, o->pose.position),
               .bound = reach > 0.0 ? 0.5 * reach * reach : 0.0,
               .tolerance = (tolerance + rounding) * radii,
               .all = all,
               .level = {.s = -INFINITY, .q = INFINITY},
               .point = point};
    if (o->shape == TDL_SHAPE_CYLINDER) {
        r.axis = o->pose.rotation.cx;
    }
    // three products of first and second derivatives, one of the distance and the third. (X.25)
    double far = tdl_norm3(r.offset) + c->end, k = curve_bend(c, 0.0, c->end);
    r.third = (3.0 * k + far * third_bound(c)) * (1.0 + 1.0e-9);
    Square start = square_at(&r, 0.0), end = square_at(&r, c->end);
    if (!all || start.q1 >= 0.0) {
        offer(&r, 0.0, start.q);
    }
    if (!all || end.q1 <= 0.0) {
        offer(&r, c->end, end.q);
    }
    search_round(&r, 0.0, c->end);
    offer(&r, r.level.s, r.level.q);
    int count = 0;
    for (int i = 0; i < r.count; ++i) {
        TdlVec3 p = tdl_curve_point(c, point[i].s);
        double t = tdl_dot3(axis->helix.t, tdl_sub3(p, axis->origin));
        t = fmin(fmax(t, 0.0), axis->end);
        TdlDistance d = {.below = true, .certified = !r.lost, .s = {point[i].s, t}};
        d.point[0] = p;
        d.point[1] = tdl_axpy3(axis->origin, t, axis->helix.t);
        d.distance = tdl_norm3(tdl_sub3(d.point[1], p));
        d.gap = d.distance - radii;
        if (d.gap < bound) {
            found[count++] = d;
        }
    }
    return count;
}
