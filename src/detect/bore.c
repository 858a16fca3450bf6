// A curve in the bore of a tube: it touches where it is farthest from the tube's centreline. The
// distance is followed along the curve in parts in which it cannot rise unseen by more than a
// share of the radius; where its slope changes sign the place is found to rounding. The rim of a
// mouth is a ring, and met as any curve. distance.md, section 12. Cost: the parts of the curve,
// some tens, times Newton's method on the tube's.
#include "detect/bore.h"

#include "detect/obstacle.h"
#include "detect/search.h"

#include <float.h>

static const double PI = 3.14159265358979323846;

// Of the radius: by so much the distance may rise unseen between two parts of a curve. A tenth of
// what a step may overlap by. (X.57)
static const double UNSEEN = 0.01;
enum { LEAST_PARTS = 4, MOST_PARTS = 64 };

// A tube is looked at in parts that turn by less than this, rad: in each Newton's method finds the
// nearest place.
static const double TUBE_TURN = 0.5;
enum { MOST_STARTS = 64, NEWTON_STEPS = 16, HALVINGS = 60 };

// The distance from the axis is level where its slope changes by less; as LEVEL in found.c, where
// it is that of a gap.
static const double SLOPE_LEVEL = 1.0e-9, RIM_LEVEL = 1.0e-6;

// Sine by which what touches a tube outside at a joint may be off the plane between two pieces.
static const double BETWEEN = 1.0e-6;

// As of stiff elements in narrow.c.
static const double SAME_POINT = 1.0e-6;

// --- a piece of a tube --------------------------------------------------------------------------

static TdlVec3 tangent(const TdlCurve* c, double s) {
    return tdl_unit3(tdl_curve_derivative(c, s));
}

TubePiece tube_piece(const TdlCurve* curve, const double* bore, int place, int count) {
    TubePiece p = {.curve = curve, .bore = bore, .mouth = {place == 0, place == count - 1}};
    for (int k = 0; k < 2; ++k) {
        double at = k == 0 ? 0.0 : curve->end;
        p.end[k] = tdl_curve_point(curve, at);
        p.plane[k] = tangent(curve, at);
        if (!p.mouth[k]) { // half way between the tangents
            const TdlCurve* next = k == 0 ? curve - 1 : curve + 1;
            TdlVec3 t = tangent(next, k == 0 ? next->end : 0.0);
            p.plane[k] = tdl_unit3(tdl_add3(p.plane[k], t));
        }
    }
    return p;
}

static double share(const TdlCurve* c, double s) {
    return c->end > 0.0 ? s / c->end : 0.0;
}

static double bore_radius(const TubePiece* p, double t) {
    return p->bore[0] + share(p->curve, t) * (p->bore[1] - p->bore[0]);
}

// rad by which a curve turns at most, per unit of its parameter.
static double turning(const TdlCurve* c) {
    return curve_bend(c, 0.0, c->end) * c->end / fmax(curve_size(c), DBL_MIN);
}

// The nearest place on a curve: from the nearest of some, by Newton's method.
static double nearest(const TdlCurve* c, TdlVec3 point) {
    int starts = 1 + (int)fmin(turning(c) * c->end / TUBE_TURN, MOST_STARTS);
    double t = 0.0, least = INFINITY;
    for (int i = 0; i <= starts; ++i) {
        double at = c->end * i / starts;
        TdlVec3 d = tdl_sub3(tdl_curve_point(c, at), point);
        double square = tdl_dot3(d, d);
        t = square < least ? at : t;
        least = fmin(square, least);
    }
    for (int i = 0; i < NEWTON_STEPS; ++i) {
        CurvePoint q = curve_eval(c, t);
        TdlVec3 d = tdl_sub3(tdl_add3(c->origin, q.p), point);
        double first = tdl_dot3(d, q.d1), speed = tdl_dot3(q.d1, q.d1);
        // at less than a fifth the bend is nearer than a bore may be to its centre
        double next = t - first / fmax(speed + tdl_dot3(d, q.d2), 0.2 * speed);
        next = fmin(fmax(next, 0.0), c->end);
        bool still = fabs(next - t) <= DBL_EPSILON * c->end;
        t = next;
        if (still) {
            break;
        }
    }
    return t;
}

BorePlace bore_place(const TubePiece* p, TdlVec3 point) {
    BorePlace x = {.t = nearest(p->curve, point)};
    x.axis = tdl_curve_point(p->curve, x.t);
    x.distance = tdl_norm3(tdl_sub3(point, x.axis));
    double turn = turning(p->curve); // a plane counts where the tube does not turn back to it
    if (turn * x.t < 1.0 && tdl_dot3(tdl_sub3(point, p->end[0]), p->plane[0]) < 0.0) {
        x.beyond = -1;
    } else if (turn * (p->curve->end - x.t) < 1.0 &&
               tdl_dot3(tdl_sub3(point, p->end[1]), p->plane[1]) > 0.0) {
        x.beyond = 1;
    }
    double wall = 0.5 * (bore_radius(p, x.t) + tdl_curve_radius(p->curve, x.t));
    x.inside = x.distance < wall;
    return x;
}

bool bore_takes(const double* bore, const TdlCurve* other) {
    return bore != NULL && fmin(bore[0], bore[1]) > fmax(other->radius[0], other->radius[1]);
}

bool bore_leaves(const TubePiece* p, const TdlDistance* found, int side) {
    TdlVec3 point = found->point[1 - side];
    BorePlace x = bore_place(p, point);
    if (x.beyond != 0) { // before a mouth, or the next piece's, unless it is between the two
        int end = x.beyond > 0;
        double along = x.beyond * tdl_dot3(tdl_sub3(point, p->end[end]), p->plane[end]);
        return !p->mouth[end] && along <= BETWEEN * x.distance && !x.inside;
    }
    return !x.inside;
}

// --- along the inner curve ----------------------------------------------------------------------

typedef struct BoreWalk {
    const TdlHost* host;
    const TdlDetectorDef* def;
    const Element *inner, *tube;
    const TubePiece* piece;
    SiteList* out;
} BoreWalk;

// A place of the inner curve.
typedef struct Step {
    double s;
    BorePlace at;
    double gap;    // m, to the wall
    double shrink; // of the gap, by the parameter. (X.56)
    bool within;   // in the bore of this piece
} Step;

static Step step_at(const BoreWalk* w, const TubePiece* p, double s) {
    const TdlCurve *a = w->inner->curve, *b = p->curve;
    CurvePoint q = curve_eval(a, s);
    TdlVec3 point = tdl_add3(a->origin, q.p);
    Step x = {.s = s, .at = bore_place(p, point)};
    TdlVec3 out = tdl_sub3(point, x.at.axis);
    CurvePoint c = curve_eval(b, x.at.t);
    bool clamped = x.at.t <= 0.0 || x.at.t >= b->end;
    double speed = tdl_dot3(c.d1, c.d1) - tdl_dot3(out, c.d2);
    double along = clamped ? 0.0 : tdl_dot3(q.d1, c.d1) / fmax(speed, DBL_MIN);
    double wider = b->end > 0.0 ? (p->bore[1] - p->bore[0]) / b->end : 0.0;
    double thicker = a->end > 0.0 ? (a->radius[1] - a->radius[0]) / a->end : 0.0;
    double away = x.at.distance > 0.0 ? tdl_dot3(out, q.d1) / x.at.distance : 0.0;
    x.gap = bore_radius(p, x.at.t) - tdl_curve_radius(a, s) - x.at.distance;
    x.shrink = away + thicker - wider * along;
    x.within = x.at.beyond == 0 && x.at.inside;
    return x;
}

static TdlMat3 wall_basis(const TubePiece* p, TdlVec3 out, TdlVec3 ta, double t) {
    TdlVec3 tb = tangent(p->curve, t);
    TdlVec3 along = tdl_axpy3(ta, tdl_dot3(ta, tb) < 0.0 ? -1.0 : 1.0, tb);
    if (!(tdl_norm3(out) > 1.0e-9 * p->bore[0])) {
        out = tdl_frame_from_tangent(tb).cy; // on the axis: any
    }
    return tdl_frame_from_tangent_hint(out, along);
}

// As of a fibre and an obstacle: duplicates are those within the inner one's width.
static void set_widths(ContactSite* site, const BoreWalk* w, double radius) {
    const Element *a = w->inner, *b = w->tube;
    site->bends = !a->stiff && !b->stiff;
    site->width = 2.0 * radius;
    site->merge = a->stiff && b->stiff ? SAME_POINT * fmax(a->curve->end, radius) : site->width;
}

// `foot` is the place on the tube's surface.
static void add_site(const BoreWalk* w, double s, double t, TdlVec3 foot, TdlMat3 basis, double gap,
                     bool seat, bool wall) {
    const Element *a = w->inner, *b = w->tube;
    ContactSite site = {.contact = {.body = {a->fibre, b->fibre},
                                    .element = {a->place, b->place},
                                    .u = {s, t},
                                    .point = {tdl_curve_point(a->curve, s), foot},
                                    .gap = gap,
                                    .basis = basis,
                                    .tube = {false, true},
                                    .previous = -1},
                        .arc = {a->arc + s, b->arc + t},
                        .seat = seat,
                        .wall = wall};
    set_widths(&site, w, tdl_curve_radius(a->curve, s));
    if (b->fibre < a->fibre) {
        contact_turn(&site);
    }
    site_list_add(&w->host->mem, w->out, &site);
    ++w->out->accepted;
}

static void add_wall(const BoreWalk* w, const Step* x, bool seat) {
    if (!(x->gap < w->def->margin)) {
        return;
    }
    TdlVec3 point = tdl_curve_point(w->inner->curve, x->s);
    TdlMat3 basis =
        wall_basis(w->piece, tdl_sub3(point, x->at.axis), tangent(w->inner->curve, x->s), x->at.t);
    TdlVec3 foot = tdl_axpy3(x->at.axis, bore_radius(w->piece, x->at.t), basis.cx);
    add_site(w, x->s, x->at.t, foot, basis, x->gap, seat, true);
}

// Between a place of this piece and one that is not: the last of this piece, to rounding.
static Step step_within(const BoreWalk* w, Step in, Step off) {
    double a = in.s, b = off.s;
    for (int i = 0; i < HALVINGS && fabs(b - a) > DBL_EPSILON * w->inner->curve->end; ++i) {
        Step middle = step_at(w, w->piece, 0.5 * (a + b));
        *(middle.within ? &a : &b) = middle.s;
        in = middle.within ? middle : in;
    }
    return in;
}

// Where the gap is least between two places at which it shrinks and grows.
static Step step_least(const BoreWalk* w, Step low, Step high) {
    for (int i = 0; i < HALVINGS && high.s - low.s > DBL_EPSILON * w->inner->curve->end; ++i) {
        Step middle = step_at(w, w->piece, 0.5 * (low.s + high.s));
        *(middle.shrink > 0.0 ? &low : &high) = middle;
    }
    return low.gap < high.gap ? low : high;
}

// Where the inner curve goes over to the next piece, `way` along it: a corner of the tube's
// centreline on the inside of its bend is a least gap. One that goes through the wall is there with
// its deepest place.
static void meet_joint(const BoreWalk* w, const Step* x, const Step* off, double way) {
    if (off->at.beyond == 0) {
        add_wall(w, x, false);
        return;
    }
    int end = off->at.beyond > 0;
    if (w->piece->mouth[end]) {
        return; // its rim is met
    }
    int next = end ? 1 : -1;
    TubePiece p = *w->piece; // only what a place asks of it
    p.curve += next;
    p.bore += 2 * next;
    p.mouth[0] = p.mouth[1] = true;
    p.end[0] = p.end[1] = w->piece->end[end];
    if (way * x->shrink > SLOPE_LEVEL && way * step_at(w, &p, x->s).shrink < -SLOPE_LEVEL) {
        add_wall(w, x, false);
    }
}

// A place of this piece between two beyond either end of it.
static bool step_between(const BoreWalk* w, Step low, Step high, Step* out) {
    for (int i = 0; i < HALVINGS; ++i) {
        *out = step_at(w, w->piece, 0.5 * (low.s + high.s));
        if (out->at.beyond == 0) {
            return true;
        }
        *(out->at.beyond == low.at.beyond ? &low : &high) = *out;
    }
    return false;
}

// The least gaps between two neighbouring places.
static void meet_part(const BoreWalk* w, Step low, Step high) {
    Step between;
    if (low.at.beyond * high.at.beyond < 0 && step_between(w, low, high, &between)) {
        meet_part(w, low, between);
        meet_part(w, between, high);
        return;
    }
    if (!low.within && !high.within) {
        return;
    }
    if (!high.within) {
        Step last = step_within(w, low, high);
        meet_joint(w, &last, &high, 1.0);
        high = last;
    } else if (!low.within) {
        Step first = step_within(w, high, low);
        meet_joint(w, &first, &low, -1.0);
        low = first;
    }
    if (low.shrink > 0.0 && high.shrink <= 0.0 && low.shrink - high.shrink > SLOPE_LEVEL) {
        Step least = step_least(w, low, high);
        add_wall(w, &least, false);
    }
}

// The places of an element that are to be held as well, as on a round obstacle: the ends, more
// where the curvature changes (X.24), the middle where it lies level (X.36).
static void meet_held(const BoreWalk* w) {
    static const double INNER = 0.27639320225002103; // (1 - 1/sqrt 5)/2
    const TdlCurve* a = w->inner->curve;
    double at[4] = {0.0, a->end, INNER * a->end, (1.0 - INNER) * a->end};
    double gap[2] = {INFINITY, INFINITY};
    int count = a->end > 0.0 ? curve_is_helix(a) ? 2 : 4 : 1;
    for (int k = 0; k < count; ++k) {
        Step x = step_at(w, w->piece, at[k]);
        bool seat = k < 2 && w->inner->seat == at[k];
        if (k < 2) {
            gap[k] = x.within ? x.gap : INFINITY;
        }
        if (x.within) {
            add_wall(w, &x, seat);
        }
    }
    double seat = w->inner->seat, level = SEAT_LEVEL * a->radius[0];
    if (seat > 0.0 && seat < a->end && isfinite(gap[0]) && isfinite(gap[1])) {
        Step x = step_at(w, w->piece, seat);
        if (x.within && fabs(gap[0] - x.gap) <= level && fabs(gap[1] - x.gap) <= level) {
            add_wall(w, &x, true);
        }
    }
}

// Parts between which the distance cannot rise unseen: its second derivative is at most the bends
// of both, and what a straight crossing has. (X.57)
static int part_count(const BoreWalk* w) {
    const TdlCurve *a = w->inner->curve, *b = w->piece->curve;
    double radius = fmax(a->radius[0], a->radius[1]);
    double bore = fmin(w->piece->bore[0], w->piece->bore[1]);
    double near = fmax(bore - radius - w->def->margin, 0.5 * (bore - radius));
    double bend = curve_bend(a, 0.0, a->end) + curve_bend(b, 0.0, b->end) + 1.0 / near;
    double parts = ceil(a->end * sqrt(bend / (8.0 * UNSEEN * fmax(radius, DBL_MIN))));
    return (int)fmin(fmax(parts, LEAST_PARTS), MOST_PARTS);
}

// --- the mouths ---------------------------------------------------------------------------------

// A quarter of the rim: the middle of the wall, as thick as that.
static bool rim_arc(const BoreWalk* w, int end, int quarter, TdlCurve* out) {
    static const double COS[4] = {1.0, 0.0, -1.0, 0.0}, SIN[4] = {0.0, 1.0, 0.0, -1.0};
    const TubePiece* p = w->piece;
    double outer = p->curve->radius[end], middle = 0.5 * (outer + p->bore[end]);
    TdlMat3 across = tdl_frame_from_tangent(p->plane[end]);
    TdlVec3 e = tdl_axpy3(tdl_scale3(COS[quarter], across.cy), SIN[quarter], across.cz);
    TdlVec3 along = tdl_axpy3(tdl_scale3(-SIN[quarter], across.cy), COS[quarter], across.cz);
    TdlPose start = {tdl_axpy3(p->end[end], middle, e),
                     {along, tdl_scale3(-1.0, e), tdl_cross3(along, tdl_scale3(-1.0, e))}};
    TdlVec3 turn = {0.0, 0.0, 1.0 / middle};
    double half = 0.5 * (outer - p->bore[end]);
    return tdl_curve_helix(w->host, start, turn, 0.5 * PI * middle, out) == TDL_STATUS_OK &&
           tdl_curve_set_radius(w->host, half, half, out) == TDL_STATUS_OK;
}

// Whether the nearest place of the rim is one to touch: nearest along both, or the end of a curve
// in front of the mouth. Beside the wall the wall has what is not nearest.
static bool rim_counts(const BoreWalk* w, const TdlDistance* d, const TdlCurve* arc) {
    const TdlCurve* a = w->inner->curve;
    TdlVec3 n = tdl_unit3(tdl_sub3(d->point[1], d->point[0]));
    bool across = fabs(tdl_dot3(n, tangent(a, d->s[0]))) <= RIM_LEVEL;
    bool around = fabs(tdl_dot3(n, tangent(arc, d->s[1]))) <= RIM_LEVEL;
    bool end = d->s[0] <= 0.0 || d->s[0] >= a->end;
    return around &&
           (across || a->end == 0.0 || (end && bore_place(w->piece, d->point[0]).beyond != 0));
}

static void meet_rim(const BoreWalk* w, int end) {
    const TubePiece* p = w->piece;
    const TdlCurve* a = w->inner->curve;
    double reach = p->curve->radius[end] + fmax(a->radius[0], a->radius[1]) + w->def->margin;
    if (tdl_norm3(tdl_sub3(a->origin, p->end[end])) > (reach + curve_size(a)) * (1.0 + 1.0e-9)) {
        return;
    }
    for (int quarter = 0; quarter < 4; ++quarter) {
        TdlCurve arc;
        TdlDistance d;
        if (!rim_arc(w, end, quarter, &arc)) {
            continue;
        }
        Search search;
        search_init(&search, a, &arc, w->def->tolerance);
        search.best = w->def->margin + search.radii;
        SearchBox box = search_domain(&search);
        search_fast(&search, 0, &box, 1);
        search_report(&search, TDL_DISTANCE_FAST, &d);
        w->out->certified = w->out->certified && d.certified;
        if (!d.below || !(d.distance > 0.0) || !rim_counts(w, &d, &arc)) {
            continue;
        }
        TdlVec3 g = tdl_sub3(d.point[1], d.point[0]);
        TdlMat3 basis = tdl_frame_from_tangent_hint(g, tangent(a, d.s[0]));
        TdlVec3 foot = tdl_axpy3(d.point[1], -arc.radius[0], basis.cx);
        add_site(w, d.s[0], end ? p->curve->end : 0.0, foot, basis, d.gap, false, false);
    }
}

void narrow_bore(const TdlHost* host, const TdlDetectorDef* def, const Element* inner,
                 const Element* tube, const TubePiece* piece, SiteList* out) {
    BoreWalk w = {host, def, inner, tube, piece, out};
    int parts = inner->curve->end > 0.0 ? part_count(&w) : 0;
    Step last = step_at(&w, piece, 0.0);
    for (int i = 1; i <= parts; ++i) {
        Step next = step_at(&w, piece, inner->curve->end * i / parts);
        meet_part(&w, last, next);
        last = next;
    }
    meet_held(&w);
    for (int end = 0; end < 2; ++end) {
        if (piece->mouth[end]) {
            meet_rim(&w, end);
        }
    }
}
