// Cylinders with flat ends. The nearest point of one lies inside its side, inside an end or on a
// rim. Over the side the distance is that from the axis, over an end it is a height: what placed
// cylinders and plates are asked for answers both. Rims are arcs, with all local minima of their
// distance. Of what is found that counts which is a minimum against the whole cylinder. (X.71)
#include "detect/on_cylinder.h"

#include "curve/curve.h"
#include "detect/obstacle.h"
#include "detect/on_implicit.h"
#include "detect/sheet.h"

#include <float.h>

enum { MAX_MINIMA = 64, SIDES = 3 };

static const double PI = 3.14159265358979323846;

// Directions out of a cone of normals by less than this sine are in it, and a rim is crossed where
// the other thing's direction is along it by less. As of surfaces.
static const double CONE = 1.0e-6;

// Of the cylinder's size: nearer to its rims neither side nor ends are asked. Below CONE, so that
// the rims are.
static const double BORDER = 1.0e-9;

// Sine of the tilt up to which what is level with an end touches the ends of a rim's arcs too: a
// cylinder that stands does so on eight points, and one that rolls about its rim at w (rad/s) is
// lifted by them with less than this share of w^2 radius step / 2.
static const double LEVEL_TILT = 0.02;

// Rims that lie so near each other, in radii, meet at every place: the ends of their arcs over the
// flat ends, which then reach so much farther, are enough.
static const double SAME_RING = 1.0e-3, WIDE_RING = 2.0e-3;

// A pair of curves that is side by side along a stretch ends here, certified or not.
static const long MOST_BOXES = 20000;

// As of stiff elements in narrow.c.
static const double SAME_POINT = 1.0e-6, STIFF_WIDTH = 0.05;

// Along the cylinder this coordinate tells places apart from step to step.
static const TdlVec3 ALONG = {0.36, 0.48, 0.8};

static TdlVec3 to_own(const SurfaceBody* b, TdlVec3 point) {
    TdlVec3 own = pose_point(pose_inverse(b->pose), point);
    return tdl_sub3(own, b->cylinder->middle);
}

static TdlVec3 to_world(const SurfaceBody* b, TdlVec3 own) {
    return pose_point(b->pose, tdl_add3(own, b->cylinder->middle));
}

static double size_of(const Cylinder* c) {
    return c->radius + c->half + c->round;
}

// --- side and ends ----------------------------------------------------------------------------

// Its side as one without ends, and its ends as plates that face outwards.
static TdlColliderDef side_def(const SurfaceBody* b, int side) {
    const Cylinder* c = b->cylinder;
    TdlMat3 r = b->pose.rotation;
    TdlColliderDef def = {.radius = c->radius + c->round, .pose.rotation = r};
    if (side == 0) {
        def.shape = TDL_SHAPE_CYLINDER;
        def.pose.position = to_world(b, (TdlVec3){0});
        return def;
    }
    double out = side == 1 ? -1.0 : 1.0;
    def.shape = TDL_SHAPE_PLATE;
    def.length = c->radius;
    def.radius = c->half + c->round; // the other half is the other end's
    def.pose.position = to_world(b, (TdlVec3){out * (c->half + c->round), 0.0, 0.0});
    def.pose.rotation = (TdlMat3){r.cy, tdl_scale3(out, r.cz), tdl_scale3(out, r.cx)};
    return def;
}

// Whether a place is inside and another side is nearer to it.
static bool is_deeper_in(const Cylinder* c, TdlVec3 own, int side) {
    double from_side = c->radius + c->round - hypot(own.y, own.z);
    double from_end = c->half + c->round - fabs(own.x);
    bool inside = from_side > 0.0 && from_end > 0.0;
    double near = side == 0 ? from_side : from_end, other = side == 0 ? from_end : from_side;
    return inside && near > other * (1.0 + BORDER);
}

// Whether what is at a place (of its own frame) touches a side at its inside. (X.71)
static bool is_over_side(const Cylinder* c, TdlVec3 own, int side, bool wide) {
    double border = BORDER * size_of(c), off = hypot(own.y, own.z);
    double reach = wide ? c->radius * (1.0 + WIDE_RING) : c->radius - border;
    if (is_deeper_in(c, own, side)) {
        return false;
    }
    return side == 0 ? fabs(own.x) < c->half - border && off > border
                     : off < reach && (side == 1 ? own.x < 0.0 : own.x > 0.0);
}

// The core's place under one that touches a side.
static TdlVec3 foot_on_side(const Cylinder* c, TdlVec3 own, int side) {
    if (side > 0) {
        return (TdlVec3){side == 1 ? -c->half : c->half, own.y, own.z};
    }
    double share = c->radius / hypot(own.y, own.z);
    return (TdlVec3){own.x, share * own.y, share * own.z};
}

// Turns sites that something got with `side_def`, from `first` on, into such with the cylinder as
// their second body; those that are none go.
static void take_sites(const SurfaceBody* b, int side, bool wide, int first, SiteList* out) {
    const Cylinder* c = b->cylinder;
    int kept = first;
    for (int i = first; i < out->count; ++i) {
        ContactSite site = out->site[i];
        TdlVec3 own = to_own(b, site.contact.point[0]);
        if (!is_over_side(c, own, side, wide)) {
            continue;
        }
        TdlVec3 foot = foot_on_side(c, own, side);
        if (side == 0) { // what was found on the axis, to rounding
            TdlVec3 out_there = tdl_scale3(-1.0, tdl_unit3((TdlVec3){0.0, own.y, own.z}));
            TdlVec3 was = tdl_sub3(site.contact.point[1], site.contact.point[0]);
            site.contact.gap += hypot(own.y, own.z) - tdl_norm3(was);
            site.contact.basis = tdl_frame_from_tangent_hint(
                tdl_mul33_3(b->pose.rotation, out_there), site.contact.basis.cy);
        }
        site.contact.body[1] = b->body;
        site.contact.element[1] = b->element;
        site.contact.u[1] = site.contact.v[1] = 0.0;
        site.contact.point[1] = to_world(b, foot);
        if (!site.feature) {
            site.arc[1] = tdl_dot3(ALONG, foot);
        } else {
            site.arc[1] = side; // one of its features
        }
        site.seat = false;
        site.faced = true;
        out->site[kept++] = site;
    }
    out->count = kept;
}

static bool is_far(const TdlDetectorDef* def, const SurfaceBody* b, const TdlCurve* c) {
    double reach = b->ball + curve_size(c) + fmax(c->radius[0], c->radius[1]) + def->margin;
    return tdl_norm3(tdl_sub3(c->origin, b->centre)) > reach * (1.0 + 1.0e-9);
}

// Distances along which stiff sites are one, and the same as in the last step.
static void set_widths(const SurfaceBody* b, const Element* e, ContactSite* site) {
    if (e->stiff) {
        double longest = fmax(e->curve->end, size_of(b->cylinder));
        site->merge = SAME_POINT * longest;
        site->width = fmax(site->width, STIFF_WIDTH * longest);
    }
}

// The sites of an element with side and ends, still with the element first. `wide`: it is a ring
// about as wide as the cylinder, whose places count beside the ends too.
static void meet_sides(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* b,
                       const Element* e, bool wide, SiteList* out) {
    TdlDetectorDef all = *def;
    all.all_minima = true; // the least may be beyond an end
    all.obstacle_ends = def->obstacle_ends && !e->stiff;
    all.minima_share = e->stiff ? 0.0 : def->minima_share;
    Element own = *e;
    own.seat = -1.0;
    TdlCurveCapsules capsules;
    tdl_curve_capsules(own.curve, &capsules);
    for (int side = 0; side < SIDES; ++side) {
        TdlColliderDef part = side_def(b, side);
        int first = out->count;
        // what is no segment is followed about an axis also where it keeps level
        own.stiff = e->stiff && (side > 0 || own.curve->kind == TDL_CURVE_SEGMENT);
        part.length *= wide ? 1.0 + WIDE_RING : 1.0;
        narrow_obstacle(host, &all, &own, &capsules, &part, 0, out);
        take_sites(b, side, wide, first, out);
        for (int i = first; i < out->count; ++i) {
            set_widths(b, e, &out->site[i]);
        }
    }
}

// --- rims -------------------------------------------------------------------------------------

// The direction d from a place of a rim: outwards along the axis, away from it, and along the rim.
static TdlVec3 seen_from_rim(const SurfaceBody* b, TdlVec3 place, TdlVec3 d) {
    TdlVec3 own = to_own(b, place), local = tdl_tmul33_3(b->pose.rotation, d);
    TdlVec3 across = tdl_scale3(1.0 / hypot(own.y, own.z), (TdlVec3){0.0, own.y, own.z});
    return (TdlVec3){own.x > 0.0 ? local.x : -local.x, tdl_dot3(local, across),
                     tdl_dot3(local, (TdlVec3){0.0, -across.z, across.y})};
}

// In its cone of normals.
static bool is_outwards(TdlVec3 seen) {
    return seen.x >= -CONE && seen.y >= -CONE;
}

// On something level, where the ends of arcs count.
static bool is_level(TdlVec3 seen) {
    return seen.x > 0.0 && hypot(seen.y, seen.z) <= LEVEL_TILT;
}

static bool is_end(const TdlCurve* c, double s) {
    return s <= BORDER * c->end || s >= (1.0 - BORDER) * c->end;
}

// What is over a plane within the margin counts wherever it faces, as corners of boxes do: what
// tips lands on it.
static bool is_plane(const TdlColliderDef* obstacles, const TdlContact* x) {
    TdlShape shape = x->body[1] < 0 ? obstacles[-1 - x->body[1]].shape : TDL_SHAPE_SPHERE;
    return shape == TDL_SHAPE_PLANE || shape == TDL_SHAPE_PLATE;
}

void cylinder_keep_rim(const SurfaceBody* own, const Element* rim, const TdlColliderDef* obstacles,
                       int first, SiteList* out) {
    int kept = first;
    for (int i = first; i < out->count; ++i) {
        const TdlContact* x = &out->site[i].contact;
        int side = x->body[0] == rim->fibre && x->element[0] == rim->place ? 0 : 1;
        TdlVec3 d = side == 0 ? x->basis.cx : tdl_scale3(-1.0, x->basis.cx);
        TdlVec3 seen = seen_from_rim(own, x->point[side], d);
        bool stops = is_end(rim->curve, x->u[side]) && fabs(seen.z) > CONE; // the next arc goes on
        if (is_level(seen) || (!stops && (is_plane(obstacles, x) || is_outwards(seen)))) {
            out->site[kept++] = out->site[i];
        }
    }
    out->count = kept;
}

// Arcs about nearly one axis, and nearly as wide.
static bool are_same_ring(const TdlCurve* a, const TdlCurve* b) {
    if (!curve_is_helix(a) || !curve_is_helix(b) || a->helix.w2 == 0.0 || b->helix.w2 == 0.0) {
        return false;
    }
    TdlVec3 middle[2], axis[2];
    double radius[2];
    const TdlCurve* c[2] = {a, b};
    for (int k = 0; k < 2; ++k) {
        CurvePoint p = curve_eval(c[k], 0.0);
        double bend = tdl_norm3(p.d2);
        radius[k] = 1.0 / bend;
        axis[k] = tdl_unit3(tdl_cross3(p.d1, p.d2));
        middle[k] = tdl_add3(c[k]->origin, tdl_axpy3(p.p, radius[k] / bend, p.d2));
    }
    TdlVec3 apart = tdl_sub3(middle[1], middle[0]);
    double off = tdl_norm3(tdl_axpy3(apart, -tdl_dot3(apart, axis[0]), axis[0]));
    return tdl_norm3(tdl_cross3(axis[0], axis[1])) < LEVEL_TILT &&
           off + fabs(radius[1] - radius[0]) < SAME_RING * radius[0];
}

static ContactSite rim_site(const SurfaceBody* b, int arc, const TdlCurve* rim, const Element* e,
                            const TdlDistance* d) {
    double re = tdl_curve_radius(e->curve, d->s[0]), rb = rim->radius[0];
    double longest = fmax(e->curve->end, rim->end);
    ContactSite site = {.contact = {.body = {e->fibre, b->body},
                                    .element = {e->place, arc},
                                    .u = {d->s[0], d->s[1]},
                                    .point = {d->point[0], d->point[1]},
                                    .gap = d->gap,
                                    .previous = -1},
                        .arc = {e->arc + d->s[0], arc * rim->end + d->s[1]},
                        .width = 2.0 * fmax(re, rb),
                        .faced = true};
    site.merge = e->stiff ? fmax(SAME_POINT * longest, DBL_MIN) : 2.0 * re;
    site.width = e->stiff ? fmax(site.width, STIFF_WIDTH * longest) : site.width;
    TdlVec3 normal = tdl_scale3(1.0 / d->distance, tdl_sub3(d->point[1], d->point[0]));
    site.contact.basis = tdl_frame_from_tangent_hint(normal, tdl_curve_derivative(rim, d->s[1]));
    return site;
}

// The place of a ring that is nearest to the one found on the other curve: searches end where a
// valley is flat. False: it is on another arc, which has it.
static bool settle_rim(const SurfaceBody* b, int arc, const TdlCurve* rim, TdlDistance* d) {
    const Cylinder* c = b->cylinder;
    TdlVec3 own = to_own(b, d->point[0]);
    double off = hypot(own.y, own.z), turn = 2.0 * PI / CYLINDER_ARCS;
    if (off <= BORDER * c->radius) {
        return false; // on the axis: the flat end is nearer
    }
    double u =
        c->radius * remainder(atan2(own.z, own.y) - turn * (arc % CYLINDER_ARCS + 0.5), 2.0 * PI) +
        0.5 * rim->end;
    TdlVec3 foot = foot_on_side(c, own, 0);
    foot.x = arc < CYLINDER_ARCS ? -c->half : c->half;
    d->point[1] = to_world(b, foot);
    d->s[1] = fmin(fmax(u, 0.0), rim->end);
    double was = d->distance;
    d->distance = tdl_norm3(tdl_sub3(d->point[1], d->point[0]));
    d->gap += d->distance - was;
    return u >= -BORDER * rim->end && u <= (1.0 + BORDER) * rim->end && d->distance > 0.0;
}

static void meet_rim(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* b, int arc,
                     const TdlCurve* rim, const Element* e, SiteList* out) {
    double reach = curve_size(rim) + curve_size(e->curve) + rim->radius[0] + def->margin +
                   fmax(e->curve->radius[0], e->curve->radius[1]);
    if (tdl_norm3(tdl_sub3(rim->origin, e->curve->origin)) > reach * (1.0 + 1.0e-9)) {
        return;
    }
    TdlDistanceDef wanted = tdl_distance_def_default();
    wanted.bound = def->margin;
    wanted.tolerance = def->tolerance;
    wanted.box_limit = MOST_BOXES;
    TdlDistance found[MAX_MINIMA];
    int count;
    bool certified;
    ++out->pairs;
    TdlStatus status = tdl_curve_minima(host, e->curve, rim, &wanted, 0.0, 0.0, MAX_MINIMA, found,
                                        &count, &certified);
    out->status = status != TDL_STATUS_OK ? status : out->status;
    out->certified = out->certified && certified && count <= MAX_MINIMA;
    out->accepted += count > 0;
    for (int i = 0; i < count && i < MAX_MINIMA; ++i) {
        if (!settle_rim(b, arc, rim, &found[i])) {
            continue;
        }
        TdlVec3 d = tdl_sub3(found[i].point[0], found[i].point[1]);
        if (is_outwards(seen_from_rim(b, found[i].point[1], tdl_unit3(d)))) {
            ContactSite site = rim_site(b, arc, rim, e, &found[i]);
            site_list_add(&host->mem, out, &site);
        }
    }
}

// --- what it meets ----------------------------------------------------------------------------

// Keeps those at which the edge of a surface that the element is faces the cylinder.
static void keep_edge(const SurfaceBody* own, int first, SiteList* out) {
    TdlPose back = pose_inverse(own->pose);
    int kept = first;
    for (int i = first; i < out->count; ++i) {
        const TdlContact* x = &out->site[i].contact;
        if (surface_point_faces(own->surface, pose_point(back, x->point[0]),
                                tdl_mul33_3(back.rotation, x->basis.cx))) {
            out->site[kept++] = out->site[i];
        }
    }
    out->count = kept;
}

void cylinder_on_element(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* b,
                         const TdlCurve* rims, const Element* e, const SurfaceBody* own,
                         SiteList* out) {
    if (is_far(def, b, e->curve)) {
        return;
    }
    int first = out->count;
    bool round = own != NULL && own->cylinder != NULL;
    bool wide = are_same_ring(e->curve, &rims[0]);
    meet_sides(host, def, b, e, wide, out);
    // edges of surfaces are met by the rims, and of two rims one asks
    for (int i = 0;
         i < 2 * CYLINDER_ARCS && !wide && (own == NULL || (round && e->fibre < b->body)); ++i) {
        meet_rim(host, def, b, i, &rims[i], e, out);
    }
    if (own != NULL && !round) {
        keep_edge(own, first, out);
    }
    for (int i = first; i < out->count && b->body < e->fibre; ++i) {
        contact_turn(&out->site[i]); // the lower fibre comes first
    }
}

static void meet_implicit(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* b,
                          const TdlColliderDef* o, int index, SiteList* out) {
    const Cylinder* c = b->cylinder;
    TdlCurve axis;
    tdl_curve_segment(host, to_world(b, (TdlVec3){-c->half, 0.0, 0.0}),
                      to_world(b, (TdlVec3){c->half, 0.0, 0.0}), &axis);
    axis.radius[0] = axis.radius[1] = c->radius + c->round;
    Element side = {
        .curve = &axis, .fibre = b->body, .place = b->element, .stiff = true, .seat = -1.0};
    SurfaceBody ends = *b;
    ends.surface = c->ends;
    ends.cylinder = NULL;
    int first = out->count, kept = first;
    implicit_on_element(host, def, &side, NULL, o, index, out);
    int sides = out->count;
    implicit_on_surface(host, def, &ends, o, index, out);
    for (int i = first; i < out->count; ++i) {
        ContactSite site = out->site[i];
        TdlVec3 n = tdl_tmul33_3(b->pose.rotation, site.contact.basis.cx);
        TdlVec3 own = to_own(b, site.contact.point[0]);
        if (i < sides) { // from the axis to the core
            own = tdl_add3(own, (TdlVec3){0.0, c->radius * n.y, c->radius * n.z});
            site.contact.point[0] = to_world(b, own);
            site.contact.u[0] = 0.0;
        }
        bool counts = i < sides ? fabs(n.x) <= CONE && is_over_side(c, own, 0, false)
                                : n.x * own.x > 0.0 && hypot(own.y, own.z) < c->radius;
        if (counts) {
            site.arc[0] = tdl_dot3(ALONG, own);
            out->site[kept++] = site;
        }
    }
    out->count = kept;
}

void cylinder_on_obstacle(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* b,
                          const TdlColliderDef* o, int index, SiteList* out) {
    if (o->shape == TDL_SHAPE_IMPLICIT) {
        meet_implicit(host, def, b, o, index, out);
        return;
    }
    if (o->shape != TDL_SHAPE_SPHERE && o->shape != TDL_SHAPE_CAPSULE &&
        o->shape != TDL_SHAPE_CYLINDER) {
        return; // flat ones meet the rims, others are curves and surfaces
    }
    TdlCurve about = {.kind = TDL_CURVE_SEGMENT, .origin = b->centre, .end = b->ball};
    TdlCurve axis = obstacle_curve(o, &about);
    if (is_far(def, b, &axis)) {
        return;
    }
    Element round = {.curve = &axis, .fibre = -1 - index, .stiff = true, .seat = -1.0};
    int first = out->count;
    meet_sides(host, def, b, &round, false, out);
    for (int i = first; i < out->count; ++i) {
        contact_turn(&out->site[i]);
    }
}

typedef struct EdgeWalk {
    const TdlHost* host;
    const TdlDetectorDef* def;
    const SurfaceBody *cylinder, *mesh;
    SiteList* out;
} EdgeWalk;

// Gives the sites of an edge from `first` on the address of the mesh, where it faces the cylinder.
static void take_edge(const EdgeWalk* w, int e, double length, int first) {
    const Surface* mesh = w->mesh->surface;
    TdlPose back = pose_inverse(w->mesh->pose);
    int kept = first, triangle = mesh->edge_side[mesh->edge[e].first] / 3;
    for (int i = first; i < w->out->count; ++i) {
        ContactSite site = w->out->site[i];
        TdlContact* x = &site.contact;
        double corner = BORDER * length;
        bool at_corner = x->u[0] <= corner || x->u[0] >= length - corner;
        int vertex = mesh->edge[e].vertex[x->u[0] <= corner ? 0 : 1];
        TdlVec3 d = tdl_mul33_3(back.rotation, x->basis.cx), foot = pose_point(back, x->point[0]);
        if (at_corner ? mesh->vertex_owner[vertex] != e || !surface_vertex_faces(mesh, vertex, d)
                      : !surface_edge_faces(mesh, e, d)) {
            continue;
        }
        x->u[0] = 0.0;
        surface_set_address(x, 0, w->mesh, triangle, foot);
        site.arc[0] = surface_place_along(mesh, triangle, foot);
        contact_turn(&site);
        w->out->site[kept++] = site;
    }
    w->out->count = kept;
}

static void walk_edges(void* user, int f) {
    const EdgeWalk* w = user;
    const Surface* mesh = w->mesh->surface;
    for (int k = 0; k < 3; ++k) {
        int e = mesh->edge_of[3 * f + k], first = w->out->count;
        const SurfaceEdge* edge = &mesh->edge[e];
        if (!edge->sharp || mesh->edge_side[edge->first] != 3 * f + k) {
            continue;
        }
        TdlCurve curve;
        tdl_curve_segment(w->host, pose_point(w->mesh->pose, mesh->vertex[edge->vertex[0]]),
                          pose_point(w->mesh->pose, mesh->vertex[edge->vertex[1]]), &curve);
        curve.radius[0] = curve.radius[1] = mesh->radius;
        Element element = {.curve = &curve, .fibre = w->mesh->body, .stiff = true, .seat = -1.0};
        meet_sides(w->host, w->def, w->cylinder, &element, false, w->out);
        take_edge(w, e, curve.end, first);
    }
}

void cylinder_on_edges(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* b,
                       const SurfaceBody* mesh, SiteList* out) {
    EdgeWalk w = {host, def, b, mesh, out};
    TdlVec3 middle = pose_point(pose_inverse(mesh->pose), b->centre);
    double reach = b->ball + mesh->surface->radius + def->margin;
    TdlVec3 grow = {reach, reach, reach};
    surface_each_near(mesh->surface, (SurfaceBox){tdl_sub3(middle, grow), tdl_add3(middle, grow)},
                      walk_edges, &w);
}

void cylinder_on_sheet(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* b,
                       const SurfaceBody* sheet, SiteList* out) {
    double reach = b->ball + sheet->ball + def->margin;
    if (tdl_norm3(tdl_sub3(b->centre, sheet->centre)) > reach * (1.0 + 1.0e-9)) {
        return;
    }
    int first = out->count;
    for (int side = 0; side < SIDES; ++side) {
        TdlColliderDef part = side_def(b, side);
        int from = out->count;
        sheet_on_obstacle(host, def, sheet, &part, 0, out);
        take_sites(b, side, false, from, out);
    }
    for (int i = first; i < out->count && b->body < sheet->body; ++i) {
        contact_turn(&out->site[i]);
    }
}

void cylinder_on_cylinder(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* a,
                          const SurfaceBody* b, SiteList* out) {
    const Cylinder* c = a->cylinder;
    TdlCurve axis;
    tdl_curve_segment(host, to_world(a, (TdlVec3){-c->half, 0.0, 0.0}),
                      to_world(a, (TdlVec3){c->half, 0.0, 0.0}), &axis);
    axis.radius[0] = axis.radius[1] = c->radius + c->round;
    if (is_far(def, b, &axis)) {
        return;
    }
    TdlColliderDef part = side_def(b, 0);
    Element side = {
        .curve = &axis, .fibre = a->body, .place = a->element, .stiff = true, .seat = -1.0};
    TdlCurveCapsules capsules;
    tdl_curve_capsules(&axis, &capsules);
    int first = out->count, kept = first;
    narrow_obstacle(host, def, &side, &capsules, &part, 0, out);
    take_sites(b, 0, false, first, out);
    for (int i = first; i < out->count; ++i) {
        ContactSite site = out->site[i];
        TdlVec3 n = tdl_tmul33_3(a->pose.rotation, site.contact.basis.cx);
        TdlVec3 own = to_own(a, site.contact.point[0]);
        own = tdl_add3(own, (TdlVec3){0.0, c->radius * n.y, c->radius * n.z});
        if (fabs(n.x) <= CONE && is_over_side(c, own, 0, false)) { // else a rim has it
            site.contact.point[0] = to_world(a, own);
            site.contact.u[0] = 0.0;
            site.arc[0] = tdl_dot3(ALONG, own);
            out->site[kept++] = site;
        }
    }
    out->count = kept;
    for (int i = first; i < out->count && b->body < a->body; ++i) {
        contact_turn(&out->site[i]);
    }
}
