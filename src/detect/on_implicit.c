// Things against implicit surfaces. Cells of the surface that are near a feature, and whose normals
// allow it, are each asked by Newton's method where it touches; of rough cells the one point counts
// that is nearest. What went through is found by bounds over what is swept, cut in two until they
// decide. docs/theory/distance.md, section 11
#include "detect/on_implicit.h"

#include "curve/curve.h"
#include "detect/obstacle.h"
#include "detect/sheet.h"

#include <float.h>

// Touches of one feature, and parts of a curve from each of which is started.
enum { MOST_TOUCHES = 32, PARTS = 8, MOST_LOOKS = 20000 };

// Of the size of the box: touches nearer to each other are one.
static const double SAME = 1.0e-7;

// A point is not nearest where something beside it is nearer by this share.
static const double NEARER = 0.9;

// As of stiff elements in narrow.c.
static const double STIFF_WIDTH = 0.05, SAME_POINT = 1.0e-6;

// Along a surface this coordinate tells places apart from step to step.
static const TdlVec3 ALONG = {0.36, 0.48, 0.8};

// What is looked for about one feature.
typedef struct Walk {
    const ImplicitSurface* surface;
    ImplicitThing thing;
    double u, v, length; // where on it is started; how long a curve is
    double reach;        // m, how far from it the surface counts
    TdlVec3 low, high;   // about it
    bool face;           // it is a triangle: 0 < u, v, u + v < 1; else 0 < u < 1
    double rim;          // shares by which a place must be off its border
    ImplicitTouch touch[MOST_TOUCHES];
    int count;
    bool lost;           // there are more
    ImplicitTouch rough; // the nearest of points, where its distance is finite
} Walk;

static bool is_inside(const Walk* w, double u, double v) {
    double rim = w->rim;
    if (w->thing.sides == 0) {
        return true;
    }
    if (w->thing.curve != NULL) {
        return u > rim * w->length && u < (1.0 - rim) * w->length;
    }
    return u > rim && (w->face ? v > rim && u + v < 1.0 - rim : u < 1.0 - rim);
}

static void keep(Walk* w, const ImplicitTouch* t) {
    double same = SAME * w->surface->size;
    if (!(t->distance < w->reach) || !(t->distance > -w->reach) || !is_inside(w, t->u, t->v)) {
        return;
    }
    for (int i = 0; i < w->count; ++i) {
        if (tdl_norm3(tdl_sub3(w->touch[i].foot, t->foot)) <= same &&
            tdl_norm3(tdl_sub3(w->touch[i].at, t->at)) <= same) {
            return;
        }
    }
    if (w->count == MOST_TOUCHES) {
        w->lost = true;
        return;
    }
    w->touch[w->count++] = *t;
}

// Where a point is abreast of the thing; false: nowhere inside.
static bool find_abreast(const Walk* w, TdlVec3 x, double* u, double* v) {
    const ImplicitThing* t = &w->thing;
    TdlVec3 r = tdl_sub3(x, t->point), a = t->side[0], b = t->side[1];
    *u = *v = 0.0;
    if (t->curve != NULL) {
        *u = w->u;
        for (int i = 0; i < 8; ++i) {
            CurvePoint c = curve_eval(t->curve, *u);
            TdlVec3 d = tdl_sub3(tdl_add3(t->curve->origin, c.p), x);
            *u -= tdl_dot3(d, c.d1) / fmax(tdl_dot3(c.d1, c.d1) + tdl_dot3(d, c.d2), DBL_MIN);
            *u = fmin(fmax(*u, 0.0), w->length);
        }
    } else if (t->sides == 1) {
        *u = tdl_dot3(r, a) / tdl_dot3(a, a);
    } else if (t->sides == 2) {
        TdlVec3 n = tdl_cross3(a, b);
        *u = tdl_dot3(tdl_cross3(r, b), n) / tdl_dot3(n, n);
        *v = tdl_dot3(tdl_cross3(a, r), n) / tdl_dot3(n, n);
    }
    return is_inside(w, *u, *v);
}

static double value_at(const ImplicitSurface* s, TdlVec3 x) {
    TdlImplicitPoint p;
    s->h.at(s->h.data, x, &p);
    return p.value;
}

static TdlVec3 thing_point(const ImplicitThing* t, double u, double v) {
    return t->curve != NULL ? tdl_curve_point(t->curve, u)
                            : tdl_axpy3(tdl_axpy3(t->point, u, t->side[0]), v, t->side[1]);
}

// The direction from a point to what touches it just there: to the free side of a face, else that
// of the gradient beside the point.
static TdlVec3 direction_at(const Walk* w, const ImplicitCell* c) {
    const ImplicitThing* t = &w->thing;
    if (t->sides < 2) {
        return c->axis;
    }
    TdlVec3 n = tdl_unit3(tdl_cross3(t->side[0], t->side[1]));
    double step = w->surface->h.finest;
    bool up = value_at(w->surface, tdl_axpy3(c->point, step, n)) >=
              value_at(w->surface, tdl_axpy3(c->point, -step, n));
    return tdl_scale3(up ? 1.0 : -1.0, n);
}

// Of points the nearest counts, those that reach through the thing before others.
static void meet_point(Walk* w, const ImplicitCell* c) {
    const ImplicitThing* t = &w->thing;
    double u, v;
    if (!find_abreast(w, c->point, &u, &v)) {
        return;
    }
    TdlVec3 at = thing_point(t, u, v), d = tdl_sub3(at, c->point);
    double distance = tdl_norm3(d), side = value_at(w->surface, at) > 0.0 ? 1.0 : -1.0;
    bool apart = distance > SAME * w->surface->size;
    if (!(distance < w->reach) || !(side * distance < w->rough.distance) ||
        (side < 0.0 && t->sides == 0)) {
        return; // a corner that is inside is nearest to something smooth
    }
    TdlVec3 normal = apart ? tdl_scale3(side / distance, d) : direction_at(w, c);
    w->rough = (ImplicitTouch){at, c->point, normal, side * distance, u, v};
}

// Whether a place abreast of a cell's middle may be inside the thing, up to so far beyond it, m.
static bool is_about(const Walk* w, double u, double v, double slack) {
    const ImplicitThing* t = &w->thing;
    TdlVec3 a = t->side[0], b = t->side[1];
    if (t->sides == 0) {
        return true;
    }
    if (t->sides == 1) {
        double share = slack / tdl_norm3(a);
        return u >= -share && u <= 1.0 + share;
    }
    double share = slack / tdl_norm3(tdl_cross3(a, b));
    return u >= -share * tdl_norm3(b) && v >= -share * tdl_norm3(a) &&
           1.0 - u - v >= -share * tdl_norm3(tdl_sub3(a, b));
}

// Whether a place of a cell's surface may have the thing straight above it, within reach; sets
// where on the thing that would be. (X.51)
static bool may_touch(const Walk* w, const ImplicitCell* c, double* u, double* v) {
    const ImplicitThing* t = &w->thing;
    if (t->curve != NULL) {
        *u = w->u;
        *v = 0.0;
        return true;
    }
    for (int k = 0; k < t->sides; ++k) { // normals are across it
        if (c->hollow ||
            fabs(tdl_dot3(t->side[k], c->axis)) > (c->spread + 1.0e-9) * tdl_norm3(t->side[k])) {
            return false;
        }
    }
    TdlVec3 middle = tdl_scale3(0.5, tdl_add3(c->low, c->high));
    double round = 0.5 * tdl_norm3(tdl_sub3(c->high, c->low)) * (1.0 + 1.0e-9);
    find_abreast(w, middle, u, v);
    if (!is_about(w, *u, *v, round)) {
        return false;
    }
    TdlVec3 at = tdl_axpy3(tdl_axpy3(t->point, *u, t->side[0]), *v, t->side[1]),
            d = tdl_sub3(at, middle);
    double away = tdl_norm3(d), reach = fmin(w->reach, away + 2.0 * round);
    double aside = tdl_norm3(tdl_axpy3(d, -tdl_dot3(d, c->axis), c->axis));
    return away <= w->reach + 2.0 * round && aside <= c->spread * reach + 2.0 * round;
}

// In a rough cell the sides of an edge are smooth: they are asked as well.
static void meet_cell(void* user, const ImplicitCell* c) {
    Walk* w = user;
    ImplicitTouch touch;
    double u = w->u, v = w->v;
    if (c->rough) {
        meet_point(w, c);
    } else if (!may_touch(w, c, &u, &v)) {
        return;
    }
    if (implicit_touch(w->surface, &w->thing, c, u, v, &touch)) {
        keep(w, &touch);
    }
}

static void walk(Walk* w) {
    TdlVec3 grow = {w->reach, w->reach, w->reach};
    w->rough.distance = INFINITY;
    implicit_each_near(w->surface, tdl_sub3(w->low, grow), tdl_add3(w->high, grow), meet_cell, w);
}

// Whether a point is nearest for its neighbourhood: what is smooth beside it is not nearer to a
// place just above it, on the way to what it touches.
static bool is_nearest(const Walk* w, const ImplicitTouch* t) {
    double above = 4.0 * w->surface->h.finest;
    Walk beside = {.surface = w->surface, .reach = above};
    beside.thing.point = tdl_axpy3(t->foot, above, t->normal);
    beside.low = beside.high = beside.thing.point;
    walk(&beside);
    for (int i = 0; i < beside.count; ++i) {
        if (beside.touch[i].distance < NEARER * above) {
            return false;
        }
    }
    return true;
}

static void end_walk(Walk* w) {
    if (isfinite(w->rough.distance) && is_nearest(w, &w->rough)) {
        ImplicitTouch best = w->rough;
        keep(w, &best);
    }
}

static TdlVec3 least(TdlVec3 a, TdlVec3 b) {
    return (TdlVec3){fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)};
}

static TdlVec3 most(TdlVec3 a, TdlVec3 b) {
    return (TdlVec3){fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)};
}

// --- surfaces -------------------------------------------------------------------------------

typedef struct SheetWalk {
    const TdlHost* host;
    const TdlDetectorDef* def;
    const SurfaceBody* body;
    const TdlColliderDef* obstacle;
    const ImplicitSurface* surface;
    TdlPose there, back; // into the frame of the obstacle, and of the body
    int index;
    bool sheet;
    SiteList* out;
} SheetWalk;

static void add_site(const SheetWalk* w, const FeaturePoint* own, const ImplicitTouch* t) {
    const Surface* s = w->body->surface;
    TdlMat3 turn = w->obstacle->pose.rotation;
    TdlVec3 normal = tdl_scale3(-1.0, tdl_mul33_3(turn, t->normal));
    ContactSite site = sheet_site(w->body, own, normal, t->distance - s->radius);
    site.contact.body[1] = -1 - w->index;
    site.contact.point[1] = pose_point(w->obstacle->pose, t->foot);
    site.arc[1] = 0.0;
    if (!w->sheet) { // of a thing that does not bend, as its edges are
        site.contact.element[0] = w->body->element;
        site.contact.u[0] = site.contact.v[0] = 0.0;
        site.contact.point[0] = pose_point(w->body->pose, own->at);
        site.arc[0] = tdl_dot3(ALONG, own->at);
        site.arc[1] = tdl_dot3(ALONG, t->foot);
        site.width = STIFF_WIDTH * s->size;
        site.merge = SAME_POINT * s->size;
        site.feature = false;
    }
    site_list_add(&w->host->mem, w->out, &site);
    ++w->out->accepted;
}

static TdlVec3 vertex_there(const SheetWalk* w, int vertex) {
    TdlVec3 at = pose_point(w->body->pose, w->body->surface->vertex[vertex]);
    return pose_point(w->there, at);
}

static Walk start_walk(const SheetWalk* w, const TdlVec3* p, int count) {
    Walk walk = {.surface = w->surface, .low = p[0], .high = p[0], .face = count == 3};
    walk.reach = w->def->margin + w->body->surface->radius;
    walk.rim = w->sheet ? SHEET_INSIDE : -SHEET_INSIDE; // inner edges of others are no features
    walk.thing = (ImplicitThing){.point = p[0], .sides = count - 1};
    walk.u = walk.v = 1.0 / count;
    for (int k = 1; k < count; ++k) {
        walk.thing.side[k - 1] = tdl_sub3(p[k], p[0]);
        walk.low = least(walk.low, p[k]);
        walk.high = most(walk.high, p[k]);
    }
    return walk;
}

static void finish_walk(const SheetWalk* w, Walk* walk, int feature) {
    const Surface* s = w->body->surface;
    end_walk(walk);
    w->out->certified = w->out->certified && !walk->lost;
    for (int i = 0; i < walk->count; ++i) {
        const ImplicitTouch* t = &walk->touch[i];
        FeaturePoint own = walk->thing.sides == 0   ? feature_corner(s, feature)
                           : walk->thing.sides == 1 ? feature_edge(s, feature, t->u)
                                                    : feature_face(s, feature, t->u, t->v);
        add_site(w, &own, t);
    }
}

static void meet_triangle(void* user, int f) {
    const SheetWalk* w = user;
    const Surface* s = w->body->surface;
    TdlVec3 p[3];
    for (int k = 0; k < 3; ++k) {
        p[k] = vertex_there(w, s->corner[3 * f + k]);
    }
    double reach = w->def->margin + s->radius;
    if (implicit_hull_distance(w->surface, p, 3, reach) >= reach) {
        return;
    }
    for (int k = 0; k < 3 && w->sheet; ++k) {
        int vertex = s->corner[3 * f + k], edge = s->edge_of[3 * f + k];
        if (s->vertex_triangle[vertex] == f) {
            Walk corner = start_walk(w, &p[k], 1);
            walk(&corner);
            finish_walk(w, &corner, vertex);
        }
        if (side_has_edge(s, 3 * f + k)) {
            bool along = s->edge[edge].vertex[0] == vertex;
            TdlVec3 ends[2] = {p[along ? k : (k + 1) % 3], p[along ? (k + 1) % 3 : k]};
            Walk side = start_walk(w, ends, 2);
            walk(&side);
            finish_walk(w, &side, edge);
        }
    }
    Walk face = start_walk(w, p, 3);
    walk(&face);
    finish_walk(w, &face, f);
}

// About the box of the surface, as seen from another frame.
static SurfaceBox box_seen(const ImplicitSurface* s, TdlPose pose, double grow) {
    TdlVec3 middle = tdl_scale3(0.5, tdl_add3(s->h.low, s->h.high)),
            half = tdl_scale3(0.5, tdl_sub3(s->h.high, s->h.low)), at = pose_point(pose, middle);
    TdlMat3 r = pose.rotation;
    TdlVec3 size = {fabs(r.cx.x) * half.x + fabs(r.cy.x) * half.y + fabs(r.cz.x) * half.z + grow,
                    fabs(r.cx.y) * half.x + fabs(r.cy.y) * half.y + fabs(r.cz.y) * half.z + grow,
                    fabs(r.cx.z) * half.x + fabs(r.cy.z) * half.y + fabs(r.cz.z) * half.z + grow};
    return (SurfaceBox){tdl_sub3(at, size), tdl_add3(at, size)};
}

void implicit_on_surface(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* body,
                         const TdlColliderDef* o, int index, SiteList* out) {
    SheetWalk w = {.host = host,
                   .def = def,
                   .body = body,
                   .obstacle = o,
                   .surface = o->found,
                   .there = pose_inverse(o->pose),
                   .back = pose_inverse(body->pose),
                   .index = index,
                   .sheet = surface_is_sheet(body),
                   .out = out};
    TdlPose seen = {pose_point(w.back, o->pose.position),
                    tdl_mul33(w.back.rotation, o->pose.rotation)};
    ++out->pairs;
    surface_each_near(body->surface, box_seen(o->found, seen, def->margin + body->surface->radius),
                      meet_triangle, &w);
}

// --- elements -------------------------------------------------------------------------------

static double widest(const TdlCurve* c) {
    return fmax(c->radius[0], c->radius[1]);
}

bool implicit_meets(const TdlDetectorDef* def, const Element* a, const TdlColliderDef* o) {
    const ImplicitSurface* s = o->found;
    TdlVec3 middle = pose_point(o->pose, tdl_scale3(0.5, tdl_add3(s->h.low, s->h.high)));
    double reach = 0.5 * s->size + curve_size(a->curve) + widest(a->curve) + def->margin;
    return tdl_norm3(tdl_sub3(a->curve->origin, middle)) <= reach * (1.0 + 1.0e-9);
}

typedef struct ElementWalk {
    const TdlHost* host;
    const TdlDetectorDef* def;
    const Element* element;
    const SurfaceBody* own;
    const TdlColliderDef* obstacle;
    TdlCurve curve; // as seen from the obstacle
    double seat;
    int index;
    SiteList* out;
} ElementWalk;

static void add_element_site(const ElementWalk* w, const ImplicitTouch* t) {
    const Element* a = w->element;
    const TdlCurve* c = a->curve;
    double r = tdl_curve_radius(c, t->u);
    TdlVec3 normal = tdl_scale3(-1.0, tdl_mul33_3(w->obstacle->pose.rotation, t->normal));
    ContactSite site = {
        .contact = {.body = {a->fibre, -1 - w->index},
                    .element = {a->place},
                    .u = {t->u},
                    .point = {tdl_curve_point(c, t->u), pose_point(w->obstacle->pose, t->foot)},
                    .gap = t->distance - r,
                    .previous = -1},
        .arc = {a->arc + t->u, tdl_dot3(ALONG, t->foot)},
        .width = 2.0 * r,
        .bends = !a->stiff,
        .seat = t->u == w->seat,
        .faced = true};
    site.merge = a->stiff ? fmax(SAME_POINT * c->end, DBL_MIN) : site.width;
    site.width = a->stiff ? fmax(site.width, STIFF_WIDTH * fmax(c->end, r)) : site.width;
    site.contact.basis = tdl_frame_from_tangent_hint(normal, tdl_curve_derivative(c, t->u));
    if (w->own != NULL) {
        TdlPose back = pose_inverse(w->own->pose);
        if (!surface_point_faces(w->own->surface, pose_point(back, site.contact.point[0]),
                                 tdl_mul33_3(back.rotation, normal))) {
            return;
        }
    }
    site_list_add(&w->host->mem, w->out, &site);
}

static Walk element_walk(const ElementWalk* w, double s) {
    Walk walk = {.surface = w->obstacle->found, .u = s, .length = w->curve.end};
    walk.rim = SHEET_INSIDE;
    walk.low = walk.high = walk.thing.point = tdl_curve_point(&w->curve, s);
    walk.reach = w->def->margin + widest(&w->curve);
    return walk;
}

// The touches of one of its places.
static Walk meet_place(const ElementWalk* w, double s) {
    Walk place = element_walk(w, s);
    walk(&place);
    end_walk(&place);
    for (int i = 0; i < place.count; ++i) {
        place.touch[i].u = s;
    }
    return place;
}

static void add_all(const ElementWalk* w, const Walk* walk) {
    for (int i = 0; i < walk->count; ++i) {
        if (walk->touch[i].distance - tdl_curve_radius(&w->curve, walk->touch[i].u) <
            w->def->margin) {
            add_element_site(w, &walk->touch[i]);
        }
    }
    w->out->certified = w->out->certified && !walk->lost;
}

static double least_gap(const Walk* place) {
    double gap = INFINITY;
    for (int i = 0; i < place->count; ++i) {
        gap = fmin(gap, place->touch[i].distance);
    }
    return gap;
}

// The ends, which are held as well as the nearest places, and the middle where it lies level, as of
// round obstacles. (X.24), (X.36)
static void meet_ends(ElementWalk* w) {
    const Element* a = w->element;
    Walk start = meet_place(w, 0.0);
    if (w->curve.end == 0.0) {
        add_all(w, &start);
        return;
    }
    Walk end = meet_place(w, w->curve.end);
    if (a->seat >= 0.0) {
        Walk middle = meet_place(w, a->seat);
        double level = SEAT_LEVEL * w->curve.radius[0], at = least_gap(&middle);
        if (fabs(least_gap(&start) - at) <= level && fabs(least_gap(&end) - at) <= level) {
            w->seat = a->seat;
            if (a->seat > 0.0 && a->seat < w->curve.end) {
                add_all(w, &middle);
            }
        }
    }
    add_all(w, &start);
    add_all(w, &end);
}

// Local minima inside, from each of its parts.
static void meet_inside(const ElementWalk* w) {
    Walk inside = element_walk(w, 0.0);
    inside.thing.sides = 1;
    inside.thing.curve = &w->curve;
    TdlCurveCapsules c;
    tdl_curve_capsules(&w->curve, &c);
    ImplicitTouch rough = {.distance = INFINITY};
    for (int i = 0; i < PARTS; ++i) {
        double more = (double)c.radius[i] - widest(&w->curve) + (double)c.error;
        TdlVec3 at = {(double)c.cx[i], (double)c.cy[i], (double)c.cz[i]};
        TdlVec3 half = {fabs((double)c.ux[i]) + more, fabs((double)c.uy[i]) + more,
                        fabs((double)c.uz[i]) + more};
        inside.low = tdl_sub3(at, half);
        inside.high = tdl_add3(at, half);
        inside.u = (i + 0.5) / PARTS * w->curve.end;
        walk(&inside);
        rough = inside.rough.distance < rough.distance ? inside.rough : rough;
    }
    inside.rough = rough;
    end_walk(&inside);
    add_all(w, &inside);
}

void implicit_on_element(const TdlHost* host, const TdlDetectorDef* def, const Element* a,
                         const SurfaceBody* own, const TdlColliderDef* o, int index,
                         SiteList* out) {
    if (!implicit_meets(def, a, o)) {
        return;
    }
    ElementWalk w = {.host = host,
                     .def = def,
                     .element = a,
                     .own = own,
                     .obstacle = o,
                     .curve = curve_moved(a->curve, pose_inverse(o->pose)),
                     .seat = -1.0,
                     .index = index,
                     .out = out};
    int before = out->count;
    ++out->pairs;
    meet_ends(&w);
    if (w.curve.end > 0.0) {
        meet_inside(&w);
    }
    out->accepted += out->count > before;
}

// --- what was gone through ------------------------------------------------------------------

// Corners of a part of what is swept, at the start and the end of a part of its time.
typedef struct Part {
    TdlVec3 from[3], to[3], origin[3]; // origin: at the start of all
} Part;

typedef struct Sweep {
    const ImplicitSurface* surface;
    int count;
    const Nearness* near;
    int looks;
} Sweep;

static TdlVec3 middle(TdlVec3 a, TdlVec3 b) {
    return tdl_scale3(0.5, tdl_add3(a, b));
}

static double longest(const Sweep* w, const Part* p, int* side, bool* time) {
    double best = -1.0;
    for (int k = 0; k < w->count; ++k) {
        double way = tdl_norm3(tdl_sub3(p->to[k], p->from[k]));
        if (way > best) {
            best = way;
            *time = true;
        }
        int next = (k + 1) % w->count;
        double length = fmax(tdl_norm3(tdl_sub3(p->from[next], p->from[k])),
                             tdl_norm3(tdl_sub3(p->to[next], p->to[k])));
        if (next != k && length > best) {
            best = length;
            *time = false;
            *side = k;
        }
    }
    return best;
}

// Whether it may be within what counts as near; also when it is placed beyond the box: not.
static bool may_be_near(const Sweep* w, const TdlVec3* points, int count) {
    TdlVec3 low = points[0], high = points[0];
    const TdlImplicit* h = &w->surface->h;
    for (int i = 1; i < count; ++i) {
        low = least(low, points[i]);
        high = most(high, points[i]);
    }
    bool beyond = low.x > h->high.x || low.y > h->high.y || low.z > h->high.z ||
                  high.x < h->low.x || high.y < h->low.y || high.z < h->low.z;
    return !beyond &&
           implicit_hull_distance(w->surface, points, count, w->near->apart) < w->near->apart;
}

// Cuts a part in two, in time or across its longest side.
static void cut(const Sweep* w, const Part* p, int side, bool time, Part out[2]) {
    out[0] = out[1] = *p;
    for (int k = 0; k < w->count && time; ++k) {
        out[0].to[k] = out[1].from[k] = middle(p->from[k], p->to[k]);
    }
    if (!time) {
        int next = (side + 1) % w->count;
        TdlVec3 from = middle(p->from[side], p->from[next]), to = middle(p->to[side], p->to[next]),
                origin = middle(p->origin[side], p->origin[next]);
        int corner[2] = {next, side};
        for (int i = 0; i < 2; ++i) {
            out[i].from[corner[i]] = from;
            out[i].to[corner[i]] = to;
            out[i].origin[corner[i]] = origin;
        }
    }
}

// Earlier parts are asked first.
static bool part_meets(Sweep* w, const Part* p) {
    TdlVec3 points[6];
    for (int k = 0; k < w->count; ++k) {
        points[2 * k] = p->from[k];
        points[2 * k + 1] = p->to[k];
    }
    if (!may_be_near(w, points, 2 * w->count)) {
        return false;
    }
    int side = 0;
    bool time = true;
    double size = longest(w, p, &side, &time);
    if (++w->looks > MOST_LOOKS) {
        return true; // what cannot be excluded is not kept
    }
    if (size <= w->near->tolerance) {
        return !may_be_near(w, p->origin, w->count);
    }
    Part part[2];
    cut(w, p, side, time, part);
    return part_meets(w, &part[0]) || part_meets(w, &part[1]);
}

bool implicit_is_met(const ImplicitSurface* surface, const TdlVec3* from, const TdlVec3* to,
                     int count, const Nearness* near) {
    Sweep w = {surface, count, near, 0};
    Part p;
    for (int k = 0; k < count; ++k) {
        p.from[k] = p.origin[k] = from[k];
        p.to[k] = to[k];
    }
    return part_meets(&w, &p);
}
