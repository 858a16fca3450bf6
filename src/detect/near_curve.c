// The nearest place of a set of curves with radii. They are cut into spans; a binary tree of boxes
// over their row says which may be near. In a span the distance has one least place where its
// square is convex, and only its ends where it is concave; else the span is halved. A tube is the
// wall about its middle surface, with a ring at both mouths. docs/theory/distance.md (X.77) to
// (X.82)
#include "detect/near_parts.h"
#include "detect/near_span.h"

// A span is halved so often at most: what a place could be nearer by is below 5e-10 of the bend's
// radius then. (X.79)
enum { MOST_HALVINGS = 8, MOST_STEPS = 40, MOST_NODES = 128, TREND_STEPS = 4 };

// Newton's method is done when it goes by less than this of a span: the rest is its square.
static const double STILL = 1.0e-9;

// Of the distance and half a span: a place that is off the least one by no more is it.
static const double LEVEL = 1.0e-10;

// The trend of a bore or a radius may lead beyond a span by this much of its half.
static const double BEYOND = 1.5;

typedef struct SpanBox {
    TdlVec3 low, high; // of the centreline
    double radius;     // m, the most
} SpanBox;

// The middle of the wall at an end of a tube, and half the wall's thickness.
typedef struct Mouth {
    TdlVec3 centre, axis;
    double middle, half;
} Mouth;

struct CurveSet {
    int span_count, leaf_count; // the latter a power of two
    Span* span;                 // [span_count] in the order of the curves
    SpanBox* box;               // [2 leaf_count], the root at 1, children of i at 2 i and 2 i + 1
    bool tube;
    Mouth mouth[2];
};

// --- making it
// ------------------------------------------------------------------------------------

static SpanBox no_box(void) {
    return (SpanBox){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0.0};
}

static SpanBox box_of(const Span* s) {
    TdlVec3 half = {0};
    for (int k = 1; k < s->terms; ++k) {
        TdlVec3 t = s->term[k];
        half = tdl_add3(half, (TdlVec3){fabs(t.x), fabs(t.y), fabs(t.z)});
    }
    return (SpanBox){tdl_sub3(s->term[0], half), tdl_add3(s->term[0], half),
                     s->radius.middle + fabs(s->radius.rate)};
}

static SpanBox box_about(SpanBox a, SpanBox b) {
    return (SpanBox){{fmin(a.low.x, b.low.x), fmin(a.low.y, b.low.y), fmin(a.low.z, b.low.z)},
                     {fmax(a.high.x, b.high.x), fmax(a.high.y, b.high.y), fmax(a.high.z, b.high.z)},
                     fmax(a.radius, b.radius)};
}

static void build_tree(CurveSet* set) {
    for (int i = 0; i < set->leaf_count; ++i) {
        set->box[set->leaf_count + i] = i < set->span_count ? box_of(&set->span[i]) : no_box();
    }
    for (int i = set->leaf_count - 1; i > 0; --i) {
        set->box[i] = box_about(set->box[2 * i], set->box[2 * i + 1]);
    }
}

static void set_mouth(CurveSet* set, int end) {
    const Span* s = &set->span[end == 0 ? 0 : set->span_count - 1];
    double x = end == 0 ? -1.0 : 1.0;
    double outer = span_at(s->radius, x), inner = span_at(s->bore, x);
    SpanPlace at = span_place(s, (TdlVec3){0}, x);
    set->mouth[end] = (Mouth){.centre = at.away,
                              .axis = tdl_unit3(at.d1),
                              .middle = 0.5 * (outer + inner),
                              .half = 0.5 * (outer - inner)};
}

static void cut_all(CurveSet* set, const TdlCurve* curves, int count, const double* bore) {
    SpanFit fit = span_fit();
    for (int i = 0, at = 0; i < count; at += span_count(&curves[i]), ++i) {
        const double* own = bore == NULL ? NULL : bore + 2 * (ptrdiff_t)i;
        span_cut(&fit, &curves[i], i, own, &set->span[at]);
    }
}

TdlStatus curve_set_create(const TdlHost* host, const TdlCurve* curves, int count,
                           const double* bore, CurveSet** out) {
    CurveSet* set = tdl_alloc_zero(&host->mem, sizeof *set);
    if (set == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    *set = (CurveSet){.leaf_count = 1, .tube = bore != NULL};
    for (int i = 0; i < count; ++i) {
        set->span_count += span_count(&curves[i]);
    }
    while (set->leaf_count < set->span_count) {
        set->leaf_count *= 2;
    }
    set->span = tdl_alloc_array(&host->mem, (size_t)set->span_count, sizeof *set->span);
    set->box = tdl_alloc_array(&host->mem, 2 * (size_t)set->leaf_count, sizeof *set->box);
    if (set->span == NULL || set->box == NULL) {
        curve_set_destroy(&host->mem, set);
        return TDL_STATUS_NO_MEMORY;
    }
    cut_all(set, curves, count, bore);
    build_tree(set);
    for (int end = 0; end < 2 && set->tube; ++end) {
        set_mouth(set, end);
    }
    *out = set;
    return TDL_STATUS_OK;
}

void curve_set_destroy(const TdlAllocator* mem, CurveSet* set) {
    if (set != NULL) {
        tdl_free(mem, set->span);
        tdl_free(mem, set->box);
        tdl_free(mem, set);
    }
}

void curve_set_box(const CurveSet* set, TdlVec3* low, TdlVec3* high) {
    const SpanBox* b = &set->box[1];
    TdlVec3 out = {b->radius, b->radius, b->radius};
    *low = tdl_sub3(b->low, out);
    *high = tdl_add3(b->high, out);
}

double curve_set_least(const CurveSet* set) {
    double least = INFINITY;
    for (int i = 0; i < set->span_count; ++i) {
        const Span* s = &set->span[i];
        for (double x = -1.0; x <= 1.0; x += 2.0) {
            double outer = span_at(s->radius, x);
            least = fmin(least, set->tube ? outer - span_at(s->bore, x) : 2.0 * outer);
        }
    }
    return least;
}

// --- one span
// -------------------------------------------------------------------------------------

typedef struct Walk {
    const CurveSet* set;
    TdlVec3 point;
    double best; // m, the least gap so far
    NearFoot* out;
    bool found;
} Walk;

// How fast what is sought runs along a span: the radius, or the middle of a wall.
static double trend_of(const Walk* w, const Span* s) {
    return w->set->tube ? 0.5 * (s->radius.rate + s->bore.rate) : s->radius.rate;
}

// The distance from the axis less what runs along with `rate` grows with this. (X.78)
static double slope_of(const SpanPlace* p, double rate) {
    return tdl_dot3(p->away, p->d1) - rate * p->distance;
}

static double next_place(const Span* s, const SpanPlace* p, double rate, double x) {
    double bend = s->speed * s->speed + tdl_dot3(p->away, p->d2);
    double turn = p->distance > 0.0 ? rate * tdl_dot3(p->away, p->d1) / p->distance : 0.0;
    return bend > turn ? x - slope_of(p, rate) / (bend - turn) : NAN;
}

// Unit vector across a curve where a point is on it.
static TdlVec3 across(const SpanPlace* p) {
    double size = tdl_norm3(p->d1);
    return size > 0.0 ? tdl_frame_from_tangent(tdl_scale3(1.0 / size, p->d1)).cy
                      : (TdlVec3){1.0, 0.0, 0.0};
}

static TdlVec3 direction(const SpanPlace* p) {
    return p->distance > 0.0 ? tdl_scale3(1.0 / p->distance, p->away) : across(p);
}

static void keep(Walk* w, const Span* s, double x, const SpanPlace* p, double gap, TdlVec3 normal) {
    if (gap < w->best) {
        w->best = gap;
        w->found = true;
        *w->out = (NearFoot){.gap = gap,
                             .normal = normal,
                             .element = s->curve,
                             .u = fmin(fmax(span_at(s->share, x), 0.0), 1.0),
                             .point = tdl_add3(w->point, p->away)};
    }
}

// Where the distance less what has this rate is least, near a place where it nearly is.
static double follow_trend(const Walk* w, const Span* s, double rate, double x, SpanPlace* p) {
    for (int i = 0; i < TREND_STEPS; ++i) {
        double next = next_place(s, p, rate, x);
        if (isfinite(next)) {
            x = fmin(fmax(next, -BEYOND), BEYOND);
            *p = span_place(s, w->point, x);
        }
    }
    return x;
}

// The wall is nearest from outside or from the bore; where it becomes thinner or thicker both have
// places of their own. (X.81)
static void keep_wall(Walk* w, const Span* s, double x, const SpanPlace* at) {
    SpanPlace out = *at, in = *at;
    double xo = x, xi = x;
    if (s->radius.rate != s->bore.rate) {
        xo = follow_trend(w, s, s->radius.rate, x, &out);
        xi = follow_trend(w, s, s->bore.rate, x, &in);
    }
    double outer = out.distance - span_at(s->radius, xo),
           inner = span_at(s->bore, xi) - in.distance;
    if (outer >= inner) {
        keep(w, s, xo, &out, outer, direction(&out));
    } else {
        keep(w, s, xi, &in, inner, tdl_scale3(-1.0, direction(&in)));
    }
}

static void keep_place(Walk* w, const Span* s, double x, const SpanPlace* p) {
    if (!w->set->tube) {
        keep(w, s, x, p, p->distance - span_at(s->radius, x), direction(p));
        return;
    }
    double level = LEVEL * s->speed * (p->distance + s->speed);
    if (fabs(slope_of(p, trend_of(w, s))) <= level) {
        keep_wall(w, s, x, p);
    }
}

static void keep_end(Walk* w, const Span* s, double x) {
    SpanPlace p = span_place(s, w->point, x);
    keep_place(w, s, x, &p);
}

// The least place between a and b, by Newton's method that stays between places known to be beside
// it. `p` is at the middle.
static void keep_least(Walk* w, const Span* s, double a, double b, SpanPlace p) {
    double rate = trend_of(w, s), x = 0.5 * (a + b);
    for (int i = 0; i < MOST_STEPS; ++i) {
        double next = next_place(s, &p, rate, x);
        *(slope_of(&p, rate) > 0.0 ? &b : &a) = x;
        next = isfinite(next) ? fmin(fmax(next, a), b) : 0.5 * (a + b);
        bool still = fabs(next - x) <= STILL;
        if (next != x) {
            x = next;
            p = span_place(s, w->point, x);
        }
        if (still) {
            break;
        }
    }
    keep_place(w, s, x, &p);
}

// A lower bound on the gap from half the square of the distance, its slope and the least of its
// second derivative, to a distance h both ways. (X.79)
static double least_gap(const Span* s, const SpanPlace* p, double x, double h, double bend) {
    double slope = fabs(tdl_dot3(p->away, p->d1)), way = h;
    if (bend > 0.0) {
        way = fmin(h, slope / bend);
    }
    double square = p->distance * p->distance - 2.0 * slope * way + bend * way * way;
    return sqrt(fmax(square, 0.0)) - span_at(s->radius, x) - fabs(s->radius.rate) * h;
}

static void look_along(Walk* w, const Span* s, double x, double h, int halvings) {
    SpanPlace p = span_place(s, w->point, x);
    double bend = s->speed * s->speed + tdl_dot3(p.away, p.d2);
    double spread = (p.distance + s->speed * h) * s->jerk * h;
    double taper = fabs(trend_of(w, s)) * s->speed;
    if (least_gap(s, &p, x, h, bend - spread) >= w->best) {
        return;
    }
    bool convex = bend - spread > taper, concave = bend + spread < -taper;
    if (!convex && !concave && halvings < MOST_HALVINGS) {
        look_along(w, s, x - 0.5 * h, 0.5 * h, halvings + 1);
        look_along(w, s, x + 0.5 * h, 0.5 * h, halvings + 1);
        return;
    }
    if (!concave) {
        keep_least(w, s, x - h, x + h, p);
    }
    if (!convex) {
        keep_end(w, s, x - h);
        keep_end(w, s, x + h);
    }
}

// --- tubes
// ----------------------------------------------------------------------------------------

// A joint to which both spans come nearer is a least place too. (X.82)
static void look_at_joint(Walk* w, const Span* s) {
    const Span* before = s - 1;
    SpanPlace p = span_place(s, w->point, -1.0), q = span_place(before, w->point, 1.0);
    if (slope_of(&p, trend_of(w, s)) >= 0.0 && slope_of(&q, trend_of(w, before)) <= 0.0) {
        keep_wall(w, s, -1.0, &p);
    }
}

static void look_at_mouth(Walk* w, int end) {
    const Mouth* m = &w->set->mouth[end];
    const Span* s = end == 0 ? w->set->span : w->set->span + w->set->span_count - 1;
    TdlVec3 from = tdl_sub3(w->point, m->centre);
    TdlVec3 aside = tdl_axpy3(from, -tdl_dot3(from, m->axis), m->axis);
    double rho = tdl_norm3(aside);
    TdlVec3 out = rho > 0.0 ? tdl_scale3(1.0 / rho, aside) : tdl_frame_from_tangent(m->axis).cy;
    TdlVec3 ring = tdl_axpy3(m->centre, m->middle, out), way = tdl_sub3(ring, w->point);
    double d = tdl_norm3(way);
    SpanPlace p = {.away = tdl_scale3(-1.0, from)};
    TdlVec3 normal = d > 0.0 ? tdl_scale3(1.0 / d, way) : m->axis;
    keep(w, s, end == 0 ? -1.0 : 1.0, &p, d - m->half, normal);
}

static void look_at_span(Walk* w, int index) {
    const Span* s = &w->set->span[index];
    look_along(w, s, 0.0, 1.0, 0);
    if (w->set->tube && index > 0) {
        look_at_joint(w, s);
    }
}

// --- all
// ------------------------------------------------------------------------------------------

static double beyond(double x, double low, double high) {
    return x < low ? low - x : x > high ? x - high : 0.0;
}

static double box_gap(const SpanBox* b, TdlVec3 p) {
    double x = beyond(p.x, b->low.x, b->high.x), y = beyond(p.y, b->low.y, b->high.y),
           z = beyond(p.z, b->low.z, b->high.z);
    return sqrt(x * x + y * y + z * z) - b->radius;
}

typedef struct Node {
    int index;
    double gap;
} Node;

static Node node_at(const Walk* w, int index) {
    return (Node){index, box_gap(&w->set->box[index], w->point)};
}

bool curve_set_near(const CurveSet* set, TdlVec3 point, double reach, NearFoot* out) {
    Walk w = {.set = set, .point = point, .best = reach, .out = out};
    Node stack[MOST_NODES];
    int depth = 1;
    stack[0] = node_at(&w, 1);
    for (int end = 0; end < 2 && set->tube; ++end) {
        look_at_mouth(&w, end);
    }
    while (depth > 0) {
        Node node = stack[--depth];
        if (node.gap >= w.best) {
            continue;
        }
        if (node.index >= set->leaf_count) {
            look_at_span(&w, node.index - set->leaf_count);
            continue;
        }
        Node a = node_at(&w, 2 * node.index), b = node_at(&w, 2 * node.index + 1);
        stack[depth++] = a.gap < b.gap ? b : a; // the nearer one is next
        stack[depth++] = a.gap < b.gap ? a : b;
    }
    return w.found;
}
