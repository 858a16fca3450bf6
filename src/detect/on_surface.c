// Curves against surfaces of triangles.
//
// The nearest point of a surface lies inside a face, on an edge or at a corner. Over a face the
// curve's height has its minima in closed form (helices) or by bisection. The square of its
// distance from an edge's line or a corner is a function of one parameter, whose minima are all
// found by bisection with bounds on the second derivative. Of what is found that counts which is a
// minimum against the whole surface: over a face, what has its foot there; at an edge or corner,
// what lies in its cone of normals. (X.31), (X.32), (X.35)
#include "detect/on_surface.h"

#include "curve/curve.h"
#include "detect/obstacle.h"
#include "detect/sheet.h"
#include "detect/sheet_curve.h"

#include <float.h>
#include <stdlib.h>

enum { MAX_MINIMA = 64, MAX_TOUCHES = 128, PARTS = 8, MAX_INTERVALS = 20000 };

// Of the curve's length: touches at places this near, with feet this near, are one.
static const double SAME_POINT = 1.0e-6;

// A stretch of a curve along which the square of its distance changes by less than this share keeps
// level; one shorter than this share of the curve is a point.
static const double LEVEL_CHANGE = 1.0e-12, LEVEL_SHARE = 1.0e-2;

// A gap that falls by more than this per unit of length, inwards or on the next curve of the fibre,
// has no minimum at the end of a curve. As in W.6.
static const double LEVEL = 1.0e-6;

// Straight elements that cross an edge at a smaller sine than this may touch along a stretch.
static const double SIDE_BY_SIDE = 0.1;

// Cosine of the angle, 0.05 rad, up to which neighbouring facets count as one smooth surface.
static const double SMOOTH = 0.99875;

// A normal is that of a face when its cosine with it is so near to 1: an angle of 1e-6.
static const double OVER_FACE = 5.0e-13;

// As of stiff elements in narrow.c.
static const double STIFF_WIDTH = 0.05;

// Along a surface this coordinate tells places apart from step to step.
static const TdlVec3 ALONG = {0.36, 0.48, 0.8};

typedef struct Touching {
    const TdlHost* host;
    const Surface* surface;
    const TdlCurve* curve;
    const SurfaceAim* aim;
    SurfaceBox box[PARTS]; // of the curve's parts, grown by how far is looked
    double same;           // m
    int capacity, count;
    SurfaceTouch* out;
    bool certified;
} Touching;

// The nearest stay, in the order in which they were found.
static void add_touch(Touching* t, SurfaceTouch touch) {
    int worst = 0;
    for (int i = 0; i < t->count; ++i) {
        const SurfaceTouch* old = &t->out[i];
        if (fabs(old->s - touch.s) <= t->same &&
            tdl_norm3(tdl_sub3(old->foot, touch.foot)) <= t->same) {
            t->out[i] = touch.gap < old->gap ? touch : *old;
            return;
        }
        worst = t->out[i].gap > t->out[worst].gap ? i : worst;
    }
    if (t->count < t->capacity) {
        t->out[t->count++] = touch;
        return;
    }
    t->certified = false;
    if (touch.gap < t->out[worst].gap) {
        t->out[worst] = touch;
    }
}

// --- faces ----------------------------------------------------------------------------------

// Whether the height falls from an end of the curve inwards: then the end is no minimum.
static bool falls_inwards(const TdlCurve* c, double s, TdlVec3 normal) {
    double slope = tdl_dot3(normal, tdl_curve_derivative(c, s));
    double taper = c->end > 0.0 ? (c->radius[1] - c->radius[0]) / c->end : 0.0;
    return (s <= 0.0 && slope - taper < -LEVEL) || (s >= c->end && slope - taper > LEVEL);
}

// A point behind a closed surface counts for the face that is nearest to it. (X.35)
static void touch_side(Touching* t, int f, TdlVec3 normal) {
    const Surface* surface = t->surface;
    TdlColliderDef plane = {.shape = TDL_SHAPE_PLANE};
    plane.pose.position = surface->vertex[surface->corner[3 * f]];
    plane.pose.rotation.cz = normal;
    double s[MAX_MINIMA], gap[MAX_MINIMA];
    double seat = obstacle_plane_seat(&plane, t->curve, t->aim->seat);
    int count = obstacle_plane(&plane, t->curve, t->aim->margin + surface->radius,
                               t->aim->tolerance, PLANE_ENDS, seat, MAX_MINIMA, s, gap);
    t->certified = t->certified && count < MAX_MINIMA;
    for (int i = 0; i < count; ++i) {
        TdlVec3 at = tdl_curve_point(t->curve, s[i]);
        double height = gap[i] + tdl_curve_radius(t->curve, s[i]);
        TdlVec3 foot = tdl_axpy3(at, -height, normal);
        if ((!t->aim->ends && t->curve->end > 0.0 && falls_inwards(t->curve, s[i], normal)) ||
            !surface_covers(surface, f, foot)) {
            continue;
        }
        if (height < 0.0 &&
            (!surface->closed || surface_is_nearer(surface, at, -height * (1.0 - 1.0e-9)))) {
            continue;
        }
        add_touch(t, (SurfaceTouch){s[i], at, foot, tdl_scale3(-1.0, normal),
                                    gap[i] - surface->radius, f, s[i] == seat});
    }
}

// --- edges and corners ----------------------------------------------------------------------

// Half the square of the distance of a curve from a line or a point, over an interval about a
// parameter: its value and slope there, and bounds on its second derivative. (X.32)
typedef struct Half {
    double q, q1, low2, high2;
} Half;

typedef struct Feature {
    Touching* touching;
    TdlVec3 offset, axis; // the curve's origin from a point of the line; zero axis: a point
    double third;         // bound on the third derivative, of helices
    double bound;         // values from here on are not wanted
    double level;         // what changes by less over an interval keeps level
    double rounding;      // changes below are none
    double level_from;    // start of the level stretch under way; NAN: none
    double level_to;
    int intervals;
    int edge, vertex; // vertex -1: the line of the edge
} Feature;

static TdlVec3 across(const Feature* f, TdlVec3 v) {
    return tdl_axpy3(v, -tdl_dot3(f->axis, v), f->axis);
}

static Half half_square(const Feature* f, double m, double x) {
    const TdlCurve* c = f->touching->curve;
    CurvePoint p = curve_eval(c, m);
    TdlVec3 r = across(f, tdl_add3(f->offset, p.p)), d = across(f, p.d1);
    Half h = {.q = 0.5 * tdl_dot3(r, r), .q1 = tdl_dot3(r, d)};
    if (curve_is_helix(c)) {
        double q2 = tdl_dot3(d, d) + tdl_dot3(r, p.d2);
        h.low2 = q2 - f->third * x;
        h.high2 = q2 + f->third * x;
        return h;
    }
    double bend = curve_bend(c, m - x, m + x), speed = tdl_norm3(d), slow = speed - bend * x;
    double far = tdl_norm3(r) + speed * x + 0.5 * bend * x * x;
    h.low2 = (slow > 0.0 ? slow * slow : 0.0) - far * bend;
    h.high2 = (speed + bend * x) * (speed + bend * x) + far * bend;
    return h;
}

// Whether the distance goes on falling on the next curve: then that has the minimum.
static bool falls_beyond(const Touching* t, double s, TdlVec3 d) {
    const TdlVec3* beyond = t->aim->beyond;
    return (s <= 0.0 && tdl_dot3(d, beyond[0]) < -LEVEL) ||
           (s >= t->curve->end && tdl_dot3(d, beyond[1]) < -LEVEL);
}

// The point of the curve at s and the point of the feature that is abreast of it.
static void offer(const Feature* f, double s) {
    Touching* t = f->touching;
    const Surface* surface = t->surface;
    const SurfaceEdge* edge = &surface->edge[f->edge];
    TdlVec3 at = tdl_curve_point(t->curve, s), foot = surface->vertex[edge->vertex[0]];
    if (f->vertex < 0) {
        TdlVec3 along = tdl_sub3(surface->vertex[edge->vertex[1]], foot);
        double u = tdl_dot3(f->axis, tdl_sub3(at, foot));
        if (u < 0.0 || u > tdl_norm3(along)) {
            return; // beyond: the corner has it
        }
        foot = tdl_axpy3(foot, u, f->axis);
    } else {
        foot = surface->vertex[f->vertex];
    }
    TdlVec3 d = tdl_sub3(at, foot);
    double distance = tdl_norm3(d), gap = distance - tdl_curve_radius(t->curve, s);
    gap -= surface->radius;
    if (!(distance > 0.0) || !(gap < t->aim->margin)) {
        return; // on the feature there is no direction
    }
    d = tdl_scale3(1.0 / distance, d);
    bool faces = f->vertex < 0 ? surface_edge_faces(surface, f->edge, d)
                               : surface_vertex_faces(surface, f->vertex, d);
    if (faces && !falls_beyond(t, s, d)) {
        int triangle = surface->edge_side[edge->first] / 3;
        add_touch(t, (SurfaceTouch){s, at, foot, tdl_scale3(-1.0, d), gap, triangle, false});
    }
}

// Of a stretch that keeps level both ends count, unless it is a summit or a step.
static void end_level(Feature* f) {
    if (!isnan(f->level_from)) {
        double length = f->level_to - f->level_from, none = f->rounding / f->touching->curve->end;
        if (half_square(f, f->level_from, 0.0).q1 > none ||
            half_square(f, f->level_to, 0.0).q1 < -none) {
            f->level_from = NAN;
            return;
        }
        if (length > LEVEL_SHARE * f->touching->curve->end) {
            offer(f, f->level_from);
            offer(f, f->level_to);
        } else {
            offer(f, f->level_from + 0.5 * length);
        }
        f->level_from = NAN;
    }
}

// The root of the slope between two parameters at which it is negative and positive.
static double settle(const Feature* f, double low, double high) {
    double s = 0.5 * (low + high), tiny = 1.0e-15 * f->touching->curve->end;
    for (int i = 0; i < 100 && high - low > tiny; ++i) {
        Half h = half_square(f, s, 0.0);
        *(h.q1 < 0.0 ? &low : &high) = s;
        double second = 0.5 * (h.low2 + h.high2), next = s - h.q1 / second;
        next = next > low && next < high ? next : 0.5 * (low + high);
        if (fabs(next - s) <= tiny) {
            break;
        }
        s = next;
    }
    return s;
}

// All minima of an interval; from left to right.
static void search_feature(Feature* f, double low, double high) {
    double m = 0.5 * (low + high), x = 0.5 * (high - low);
    Half h = half_square(f, m, x);
    double most = fmax(fabs(h.low2), fabs(h.high2)), change = (fabs(h.q1) + 0.5 * most * x) * x;
    ++f->intervals;
    if (h.q - fabs(h.q1) * x - 0.5 * fmax(0.0, -h.low2) * x * x >= f->bound) {
        end_level(f);
    } else if (h.low2 > 0.0 && h.low2 > 0.01 * h.high2) {
        end_level(f);
        if (half_square(f, low, 0.0).q1 < 0.0 && half_square(f, high, 0.0).q1 > 0.0) {
            offer(f, settle(f, low, high));
        }
    } else if (change > f->rounding && (h.high2 < 0.0 || fabs(h.q1) > most * x)) {
        end_level(f); // concave or monotone
    } else if (change <= f->level || x <= 1.0e-12 * f->touching->curve->end) {
        f->level_from = isnan(f->level_from) ? low : f->level_from;
        f->level_to = high;
    } else if (f->intervals > MAX_INTERVALS) {
        f->touching->certified = false;
    } else {
        search_feature(f, low, m);
        search_feature(f, m, high);
    }
}

// Minima inside, and the ends towards which the distance falls.
static void touch_feature(Feature* f) {
    Touching* t = f->touching;
    const TdlCurve* c = t->curve;
    double widest = fmax(c->radius[0], c->radius[1]);
    double reach = t->aim->margin + t->surface->radius + widest;
    f->bound = reach > 0.0 ? 0.5 * reach * reach : 0.0;
    double far = tdl_norm3(f->offset) + curve_size(c);
    f->rounding = 64.0 * DBL_EPSILON * far * far;
    f->level = fmax(LEVEL_CHANGE * reach * reach, f->rounding);
    f->level_from = NAN;
    if (curve_is_helix(c)) {
        // three products of first and second derivatives, one of the distance and the third (X.25)
        double k = c->helix.bend;
        f->third = (3.0 * k + far * sqrt(c->helix.w2) * k) * (1.0 + 1.0e-9);
    }
    t->certified = t->certified && c->radius[0] == c->radius[1];
    if (c->end == 0.0 || half_square(f, 0.0, 0.0).q1 >= 0.0) {
        offer(f, 0.0);
    }
    if (c->end == 0.0) {
        return;
    }
    if (half_square(f, c->end, 0.0).q1 <= 0.0) {
        offer(f, c->end);
    }
    search_feature(f, 0.0, c->end);
    end_level(f);
}

// The ends of a straight element that is nearly parallel to an edge, and the points abreast of the
// edge's ends: between them lies the stretch along which they lie side by side. (X.23)
static void touch_abreast(Feature* line, Feature corner[2]) {
    const TdlCurve* c = line->touching->curve;
    const Surface* surface = line->touching->surface;
    if (tdl_norm3(tdl_cross3(c->helix.t, line->axis)) < SIDE_BY_SIDE) {
        offer(line, 0.0);
        offer(line, c->end);
        for (int k = 0; k < 2; ++k) {
            TdlVec3 v = surface->vertex[corner[k].vertex];
            double s = tdl_dot3(c->helix.t, tdl_sub3(v, c->origin));
            if (s >= 0.0 && s <= c->end) {
                offer(&corner[k], s);
            }
        }
    }
}

static void touch_edge(Touching* t, int e) {
    const Surface* surface = t->surface;
    const SurfaceEdge* edge = &surface->edge[e];
    TdlVec3 a = surface->vertex[edge->vertex[0]], b = surface->vertex[edge->vertex[1]];
    Feature line = {.touching = t,
                    .offset = tdl_sub3(t->curve->origin, a),
                    .axis = tdl_unit3(tdl_sub3(b, a)),
                    .edge = e,
                    .vertex = -1};
    Feature corner[2];
    touch_feature(&line);
    for (int k = 0; k < 2; ++k) {
        int v = edge->vertex[k];
        corner[k] = (Feature){.touching = t,
                              .offset = tdl_sub3(t->curve->origin, surface->vertex[v]),
                              .edge = e,
                              .vertex = v};
        if (surface->vertex_owner[v] == e) {
            touch_feature(&corner[k]);
        }
    }
    if (t->aim->stiff && t->curve->kind == TDL_CURVE_SEGMENT && t->curve->end > 0.0) {
        touch_abreast(&line, corner);
    }
}

// --- all ------------------------------------------------------------------------------------

static bool box_is_near(const Touching* t, const SurfaceBox* box) {
    for (int i = 0; i < PARTS; ++i) {
        if (surface_boxes_meet(&t->box[i], box)) {
            return true;
        }
    }
    return false;
}

static void touch_triangle(void* user, int f) {
    Touching* t = user;
    const Surface* surface = t->surface;
    SurfaceBox own = surface_triangle_box(surface, f);
    if (!box_is_near(t, &own)) {
        return;
    }
    touch_side(t, f, surface->normal[f]);
    if (!surface->closed) {
        touch_side(t, f, tdl_scale3(-1.0, surface->normal[f]));
    }
    for (int k = 0; k < 3; ++k) {
        // each edge with the first of its triangles, which is looked at whenever the edge is near
        int e = surface->edge_of[3 * f + k];
        if (surface->edge[e].sharp && surface->edge_side[surface->edge[e].first] == 3 * f + k) {
            touch_edge(t, e);
        }
    }
}

// Boxes of the curve's parts, from its sub-capsules.
static SurfaceBox part_boxes(const TdlCurveCapsules* c, double reach, SurfaceBox box[PARTS]) {
    SurfaceBox whole = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int i = 0; i < PARTS; ++i) {
        double more = (double)c->radius[i] + (double)c->error + reach;
        const double at[3] = {(double)c->cx[i], (double)c->cy[i], (double)c->cz[i]};
        const double u[3] = {fabs((double)c->ux[i]), fabs((double)c->uy[i]),
                             fabs((double)c->uz[i])};
        box[i].lo = (TdlVec3){at[0] - u[0] - more, at[1] - u[1] - more, at[2] - u[2] - more};
        box[i].hi = (TdlVec3){at[0] + u[0] + more, at[1] + u[1] + more, at[2] + u[2] + more};
        whole.lo = (TdlVec3){fmin(whole.lo.x, box[i].lo.x), fmin(whole.lo.y, box[i].lo.y),
                             fmin(whole.lo.z, box[i].lo.z)};
        whole.hi = (TdlVec3){fmax(whole.hi.x, box[i].hi.x), fmax(whole.hi.y, box[i].hi.y),
                             fmax(whole.hi.z, box[i].hi.z)};
    }
    return whole;
}

int surface_touches(const TdlHost* host, const Surface* surface, const TdlCurve* curve,
                    const SurfaceAim* aim, int capacity, SurfaceTouch* out, bool* certified) {
    Touching t = {.host = host,
                  .surface = surface,
                  .curve = curve,
                  .aim = aim,
                  .capacity = capacity,
                  .out = out,
                  .certified = true};
    double widest = fmax(curve->radius[0], curve->radius[1]);
    t.same = fmax(SAME_POINT * fmax(curve->end, widest), DBL_MIN);
    TdlCurveCapsules capsules;
    tdl_curve_capsules(curve, &capsules);
    // what overlaps is found down to the same depth
    SurfaceBox whole = part_boxes(&capsules, aim->margin + surface->radius, t.box);
    surface_each_near(surface, whole, touch_triangle, &t);
    *certified = *certified && t.certified;
    return t.count;
}

TdlPose pose_inverse(TdlPose pose) {
    TdlMat3 back = tdl_transpose33(pose.rotation);
    return (TdlPose){tdl_scale3(-1.0, tdl_mul33_3(back, pose.position)), back};
}

void surface_body_measure(SurfaceBody* body) {
    const SurfaceBox* box = &body->surface->node[0].box;
    TdlVec3 middle = tdl_scale3(0.5, tdl_add3(box->lo, box->hi));
    TdlMat3 turn = tdl_sub33(body->pose.rotation, body->before.rotation);
    double turned =
        sqrt(tdl_dot3(turn.cx, turn.cx) + tdl_dot3(turn.cy, turn.cy) + tdl_dot3(turn.cz, turn.cz));
    body->centre = pose_point(body->pose, middle);
    body->ball = 0.5 * body->surface->size * (1.0 + 1.0e-9) + body->surface->radius;
    if (body->cylinder != NULL) { // which its stand-in lies within
        body->ball = hypot(body->cylinder->radius, body->cylinder->half) + body->cylinder->round;
    }
    body->travel = tdl_norm3(tdl_sub3(body->centre, pose_point(body->before, middle))) +
                   turned * body->ball + body->surface->travel;
}

double surface_place_along(const Surface* surface, int triangle, TdlVec3 foot) {
    if (surface->from != NULL) {
        foot = surface_carried(surface, triangle, foot, surface->rest);
    }
    return tdl_dot3(ALONG, foot);
}

void surface_set_address(TdlContact* contact, int side, const SurfaceBody* body, int triangle,
                         TdlVec3 foot) {
    contact->element[side] = body->element;
    if (body->surface->from != NULL) {
        contact->element[side] += triangle;
        surface_shares(body->surface, triangle, foot, &contact->u[side], &contact->v[side]);
    }
}

// A ball about the element against one about the surface.
static bool is_far(const TdlDetectorDef* def, const TdlCurve* curve, const SurfaceBody* other) {
    double reach =
        curve_size(curve) + other->ball + def->margin + fmax(curve->radius[0], curve->radius[1]);
    return tdl_norm3(tdl_sub3(curve->origin, other->centre)) > reach * (1.0 + 1.0e-9);
}

static int compare_gaps(const void* a, const void* b) {
    const SurfaceTouch *x = a, *y = b;
    if (x->gap != y->gap) {
        return x->gap < y->gap ? -1 : 1;
    }
    return (x->s > y->s) - (x->s < y->s);
}

static bool rests_on(const SurfaceTouch* x, double end) {
    return x->seat || x->s <= 0.0 || x->s >= end;
}

// Of places on facets that hardly turn, the deepest: over a fine mesh a bent element has one at
// every edge, more than it can follow. Its own ends and its middle count apart: it lies on them
// (X.24, X.36).
static int thin_out(SurfaceTouch* touch, int count, double apart, double end) {
    int kept = 0;
    qsort(touch, (size_t)count, sizeof *touch, compare_gaps);
    for (int i = 0; i < count; ++i) {
        bool near = false;
        for (int k = 0; k < kept && !near; ++k) {
            near = rests_on(&touch[i], end) == rests_on(&touch[k], end) &&
                   fabs(touch[i].s - touch[k].s) < apart &&
                   tdl_dot3(touch[i].normal, touch[k].normal) > SMOOTH;
        }
        if (!near) {
            touch[kept++] = touch[i];
        }
    }
    return kept;
}

static ContactSite make_site(const Element* a, const SurfaceBody* other,
                             const SurfaceTouch* touch) {
    const TdlCurve* c = a->curve;
    double r = tdl_curve_radius(c, touch->s);
    ContactSite site = {
        .contact = {.body = {a->fibre, other->body},
                    .element = {a->place},
                    .u = {touch->s},
                    .point = {tdl_curve_point(c, touch->s), pose_point(other->pose, touch->foot)},
                    .gap = touch->gap,
                    .previous = -1},
        .arc = {a->arc + touch->s,
                surface_place_along(other->surface, touch->triangle, touch->foot)},
        .width = 2.0 * fmax(r, other->surface->radius),
        .bends = !a->stiff && other->body < 0,
        .seat = touch->seat,
        .faced = true};
    surface_set_address(&site.contact, 1, other, touch->triangle, touch->foot);
    double longest = fmax(c->end, other->surface->size);
    site.merge = a->stiff ? fmax(SAME_POINT * longest, DBL_MIN) : 2.0 * r;
    site.width = a->stiff ? fmax(site.width, STIFF_WIDTH * longest) : site.width;
    TdlVec3 normal = tdl_mul33_3(other->pose.rotation, touch->normal);
    site.contact.basis = tdl_frame_from_tangent_hint(normal, tdl_curve_derivative(c, touch->s));
    return site;
}

static TdlVec3 direction_beyond(const TdlCurve* next, bool after, TdlMat3 back) {
    if (next == NULL) {
        return (TdlVec3){0};
    }
    TdlVec3 t = tdl_unit3(tdl_curve_derivative(next, after ? 0.0 : next->end));
    return tdl_mul33_3(back, after ? t : tdl_scale3(-1.0, t));
}

void narrow_surface(const TdlHost* host, const TdlDetectorDef* def, const Element* a,
                    const TdlCurve* const beside[2], const SurfaceBody* own,
                    const SurfaceBody* other, SiteList* out) {
    if (is_far(def, a->curve, other)) {
        return;
    }
    ++out->pairs;
    SurfaceTouch touch[MAX_TOUCHES];
    TdlPose there = pose_inverse(other->pose);
    SurfaceAim aim = {.margin = def->margin,
                      .tolerance = def->tolerance,
                      .stiff = a->stiff,
                      .ends = a->stiff || def->obstacle_ends,
                      .seat = def->obstacle_ends && other->body < 0 ? a->seat : -1.0};
    for (int k = 0; k < 2; ++k) {
        aim.beyond[k] = direction_beyond(beside[k], k == 1, there.rotation);
    }
    TdlCurve curve = curve_moved(a->curve, there);
    int count =
        surface_touches(host, other->surface, &curve, &aim, MAX_TOUCHES, touch, &out->certified);
    if (surface_is_sheet(other)) {
        count = sheet_touches(host, other->surface, &curve, &aim, MAX_TOUCHES, count, touch,
                              &out->certified);
    }
    out->accepted += count > 0;
    count = a->stiff ? count : thin_out(touch, count, def->minima_share * curve.end, curve.end);
    for (int i = 0; i < count; ++i) {
        ContactSite site = make_site(a, other, &touch[i]);
        if (own != NULL) {
            TdlPose back = pose_inverse(own->pose);
            if (!surface_point_faces(own->surface, pose_point(back, site.contact.point[0]),
                                     tdl_mul33_3(back.rotation, site.contact.basis.cx))) {
                continue;
            }
        }
        if (other->body >= 0 && other->body < a->fibre) {
            contact_turn(&site); // the lower fibre comes first
        }
        site_list_add(&host->mem, out, &site);
    }
}

// --- two surfaces ---------------------------------------------------------------------------

typedef struct EdgeWalk {
    const TdlHost* host;
    const TdlDetectorDef* def;
    const SurfaceBody *box, *mesh;
    TdlPose pose; // of the mesh, as seen from the box
    SiteList* out;
} EdgeWalk;

static void add_edge_site(const EdgeWalk* w, int e, double length, const SurfaceTouch* touch) {
    const Surface* mesh = w->mesh->surface;
    TdlVec3 d = tdl_tmul33_3(w->pose.rotation, touch->normal); // in the frame of the mesh
    double corner = 1.0e-9 * length;
    bool at_corner = touch->s <= corner || touch->s >= length - corner;
    int vertex = mesh->edge[e].vertex[touch->s <= corner ? 0 : 1];
    if (at_corner ? mesh->vertex_owner[vertex] != e || !surface_vertex_faces(mesh, vertex, d)
                  : !surface_edge_faces(mesh, e, d)) {
        return;
    }
    TdlVec3 on_mesh = pose_point(w->box->pose, touch->at);
    int triangle = mesh->edge_side[mesh->edge[e].first] / 3;
    TdlVec3 along = on_mesh;
    if (mesh->from != NULL) {
        along = pose_point(pose_inverse(w->mesh->pose), on_mesh);
    }
    double size = fmax(mesh->size, w->box->surface->size);
    ContactSite site = {.contact = {.body = {w->box->body, w->mesh->body},
                                    .element = {w->box->element},
                                    .point = {pose_point(w->box->pose, touch->foot), on_mesh},
                                    .gap = touch->gap,
                                    .previous = -1},
                        .arc = {surface_place_along(w->box->surface, touch->triangle, touch->foot),
                                surface_place_along(mesh, triangle, along)},
                        .width = STIFF_WIDTH * size,
                        .merge = SAME_POINT * size,
                        .faced = true};
    surface_set_address(&site.contact, 0, w->box, touch->triangle, touch->foot);
    surface_set_address(&site.contact, 1, w->mesh, triangle, along);
    TdlVec3 normal = tdl_scale3(-1.0, tdl_mul33_3(w->box->pose.rotation, touch->normal));
    site.contact.basis = tdl_frame_from_tangent_hint(normal, w->box->pose.rotation.cx);
    site_list_add(&w->host->mem, w->out, &site);
}

static void walk_edges(void* user, int f) {
    const EdgeWalk* w = user;
    const Surface* mesh = w->mesh->surface;
    for (int k = 0; k < 3; ++k) {
        int e = mesh->edge_of[3 * f + k];
        const SurfaceEdge* edge = &mesh->edge[e];
        if (!edge->sharp || mesh->edge_side[edge->first] != 3 * f + k) {
            continue;
        }
        TdlCurve curve;
        tdl_curve_segment(w->host, pose_point(w->pose, mesh->vertex[edge->vertex[0]]),
                          pose_point(w->pose, mesh->vertex[edge->vertex[1]]), &curve);
        curve.radius[0] = curve.radius[1] = mesh->radius;
        SurfaceTouch touch[MAX_TOUCHES];
        SurfaceAim aim = {.margin = w->def->margin,
                          .tolerance = w->def->tolerance,
                          .stiff = true,
                          .ends = true,
                          .seat = -1.0};
        ++w->out->pairs;
        int count = surface_touches(w->host, w->box->surface, &curve, &aim, MAX_TOUCHES, touch,
                                    &w->out->certified);
        w->out->accepted += count > 0;
        for (int i = 0; i < count; ++i) {
            add_edge_site(w, e, curve.end, &touch[i]);
        }
    }
}

void narrow_surface_edges(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* box,
                          const SurfaceBody* mesh, SiteList* out) {
    TdlPose back = pose_inverse(box->pose), there = pose_inverse(mesh->pose);
    EdgeWalk w = {host, def, box, mesh, .out = out};
    w.pose = (TdlPose){pose_point(back, mesh->pose.position),
                       tdl_mul33(back.rotation, mesh->pose.rotation)};
    // a ball about the first
    TdlVec3 middle = pose_point(there, box->centre);
    double reach = box->ball + mesh->surface->radius + def->margin;
    TdlVec3 grow = {reach, reach, reach};
    surface_each_near(mesh->surface, (SurfaceBox){tdl_sub3(middle, grow), tdl_add3(middle, grow)},
                      walk_edges, &w);
}

// --- a surface and what is round --------------------------------------------------------------

// Whether a touch is over a face: edges and corners are met by what is round as elements.
static bool is_over_face(const Surface* s, const SurfaceTouch* touch) {
    return tdl_dot3(touch->normal, s->normal[touch->triangle]) < -1.0 + OVER_FACE;
}

static void add_round_site(const SurfaceBody* box, int index, const TdlCurve* c,
                           const SurfaceTouch* touch, const TdlHost* host, SiteList* out) {
    double size = fmax(c->end, box->surface->size);
    ContactSite site = {
        .contact = {.body = {box->body, -1 - index},
                    .element = {box->element},
                    .u = {0.0, touch->s},
                    .point = {pose_point(box->pose, touch->foot), pose_point(box->pose, touch->at)},
                    .gap = touch->gap,
                    .previous = -1},
        .arc = {surface_place_along(box->surface, touch->triangle, touch->foot), touch->s},
        .width = STIFF_WIDTH * size,
        .merge = fmax(SAME_POINT * size, DBL_MIN),
        .faced = true};
    TdlVec3 normal = tdl_scale3(-1.0, tdl_mul33_3(box->pose.rotation, touch->normal));
    site.contact.basis = tdl_frame_from_tangent_hint(normal, box->pose.rotation.cx);
    site_list_add(&host->mem, out, &site);
}

void narrow_surface_obstacle(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* box,
                             const TdlColliderDef* o, int index, SiteList* out) {
    if (o->shape != TDL_SHAPE_SPHERE && o->shape != TDL_SHAPE_CAPSULE) {
        return; // over a face the ends of an axis are nearest, and an endless one has none
    }
    TdlCurve axis = obstacle_curve(o, NULL);
    if (is_far(def, &axis, box)) {
        return;
    }
    TdlCurve curve = curve_moved(&axis, pose_inverse(box->pose));
    SurfaceAim aim = {.margin = def->margin,
                      .tolerance = def->tolerance,
                      .stiff = true,
                      .ends = true,
                      .seat = -1.0};
    SurfaceTouch touch[MAX_TOUCHES];
    ++out->pairs;
    int count =
        surface_touches(host, box->surface, &curve, &aim, MAX_TOUCHES, touch, &out->certified);
    out->accepted += count > 0;
    for (int i = 0; i < count; ++i) {
        if (is_over_face(box->surface, &touch[i])) {
            add_round_site(box, index, &curve, &touch[i], host, out);
        }
    }
}
