// Sheets against planes and round things. A sheet bends: what holds one of its faces does not hold
// the next. So not the least gaps over the whole of it are its contacts but those of each corner,
// edge and face whose nearest point lies inside of it. The tree tells which are near: O(n) for a
// plane, O(log n + near ones) for a round thing. docs/theory/distance.md, section 10
#include "detect/sheet.h"

#include "math/rotation.h"

#include <float.h>

// An end of an axis meets an edge when the axis comes nearer from there by less than this sine: so
// that what lies level lies on both its ends. As of stiff elements in narrow.c.
static const double LEVEL_SINE = 0.1;

// --- features -------------------------------------------------------------------------------

FeaturePoint feature_corner(const Surface* s, int vertex) {
    FeaturePoint p = {s->vertex_triangle[vertex], .at = s->vertex[vertex]};
    const int* corner = s->corner + 3 * (size_t)p.triangle;
    p.u = corner[1] == vertex;
    p.v = corner[2] == vertex;
    p.feature = vertex;
    return p;
}

FeaturePoint feature_edge(const Surface* s, int edge, double t) {
    const SurfaceEdge* e = &s->edge[edge];
    int side = s->edge_side[e->first], k = side % 3;
    bool along = s->corner[side] == e->vertex[0];
    double share[3] = {0};
    share[k] = along ? 1.0 - t : t;
    share[(k + 1) % 3] = along ? t : 1.0 - t;
    TdlVec3 a = s->vertex[e->vertex[0]], b = s->vertex[e->vertex[1]];
    return (FeaturePoint){side / 3, share[1], share[2], tdl_axpy3(tdl_scale3(1.0 - t, a), t, b),
                          s->vertex_count + edge};
}

FeaturePoint feature_face(const Surface* s, int f, double u, double v) {
    const int* corner = s->corner + 3 * (size_t)f;
    TdlVec3 at = tdl_scale3(1.0 - u - v, s->vertex[corner[0]]);
    at = tdl_axpy3(tdl_axpy3(at, u, s->vertex[corner[1]]), v, s->vertex[corner[2]]);
    return (FeaturePoint){f, u, v, at, s->vertex_count + s->edge_count + f};
}

int feature_vertices(const Surface* s, int feature, int out[3]) {
    int edge = feature - s->vertex_count, face = edge - s->edge_count;
    if (edge < 0) {
        out[0] = feature;
        return 1;
    }
    int count = face < 0 ? 2 : 3;
    const int* from = face < 0 ? s->edge[edge].vertex : s->corner + 3 * (ptrdiff_t)face;
    for (int k = 0; k < count; ++k) {
        out[k] = from[k];
    }
    return count;
}

bool feature_face_foot(const Surface* s, int f, TdlVec3 point, double* u, double* v,
                       double* height) {
    const int* corner = s->corner + 3 * (size_t)f;
    TdlVec3 a = s->vertex[corner[0]], e1 = tdl_sub3(s->vertex[corner[1]], a),
            e2 = tdl_sub3(s->vertex[corner[2]], a), r = tdl_sub3(point, a);
    TdlVec3 c = tdl_cross3(e1, e2);
    double area = tdl_dot3(c, c);
    *u = tdl_dot3(tdl_cross3(r, e2), c) / area;
    *v = tdl_dot3(tdl_cross3(e1, r), c) / area;
    *height = tdl_dot3(r, s->normal[f]);
    return *u > SHEET_INSIDE && *v > SHEET_INSIDE && *u + *v < 1.0 - SHEET_INSIDE;
}

ContactSite sheet_site(const SurfaceBody* sheet, const FeaturePoint* own, TdlVec3 normal,
                       double gap) {
    const Surface* s = sheet->surface;
    const int* corner = s->corner + 3 * (size_t)own->triangle;
    ContactSite site = {.contact = {.body = {sheet->body},
                                    .element = {sheet->element + own->triangle},
                                    .u = {own->u},
                                    .v = {own->v},
                                    .point = {own->at},
                                    .gap = gap,
                                    .previous = -1},
                        .arc = {own->feature},
                        .width = 2.0 * s->radius,
                        .faced = true,
                        .feature = true};
    TdlVec3 along = tdl_sub3(s->vertex[corner[1]], s->vertex[corner[0]]);
    site.contact.basis = tdl_frame_from_tangent_hint(normal, along);
    return site;
}

// --- planes ---------------------------------------------------------------------------------

// Corners are enough: between them a sheet is straight. Of a plate the disc counts, from above.
static void on_plane(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* sheet,
                     const TdlColliderDef* plane, int index, SiteList* out) {
    const Surface* s = sheet->surface;
    TdlVec3 up = plane->pose.rotation.cz, at = plane->pose.position;
    for (int i = 0; i < s->vertex_count; ++i) {
        TdlVec3 from = tdl_sub3(s->vertex[i], at);
        double height = tdl_dot3(up, from), gap = height - s->radius;
        bool beside =
            plane->shape == TDL_SHAPE_PLATE &&
            (height < -plane->radius || tdl_norm3(tdl_axpy3(from, -height, up)) > plane->length);
        if (!(gap < def->margin) || beside || s->vertex_triangle[i] < 0) {
            continue;
        }
        FeaturePoint own = feature_corner(s, i);
        ContactSite site = sheet_site(sheet, &own, tdl_scale3(-1.0, up), gap);
        site.contact.body[1] = -1 - index;
        site.contact.point[1] = tdl_axpy3(own.at, -height, up);
        site_list_add(&host->mem, out, &site);
        ++out->accepted;
    }
}

// --- round things ---------------------------------------------------------------------------

// Where on its axis a round thing is met: beside it, or at an end, which count apart.
typedef enum AxisPlace { AXIS_SIDE, AXIS_START, AXIS_END } AxisPlace;

// All within a radius of a piece of an axis. (X.38)
typedef struct Round {
    const TdlHost* host;
    const TdlDetectorDef* def;
    const SurfaceBody* sheet;
    TdlVec3 start, axis; // unit
    double length, radius;
    double base;  // m, what contacts count from the start by: of an endless axis that is cut
    bool endless; // it has no ends
    int body, element;
    SiteList* out;
} Round;

static TdlVec3 axis_point(const Round* w, double s) {
    return tdl_axpy3(w->start, s, w->axis);
}

static void add_round(const Round* w, const FeaturePoint* own, double s, AxisPlace place) {
    const Surface* surface = w->sheet->surface;
    TdlVec3 at = axis_point(w, s), d = tdl_sub3(at, own->at);
    double distance = tdl_norm3(d), gap = distance - w->radius - surface->radius;
    if (!(gap < w->def->margin)) {
        return;
    }
    // on the axis itself there is no direction
    TdlVec3 normal = distance > DBL_MIN ? d : surface->normal[own->triangle];
    ContactSite site = sheet_site(w->sheet, own, normal, gap);
    site.contact.body[1] = w->body;
    site.contact.element[1] = w->element;
    site.contact.u[1] = w->base + s;
    site.contact.point[1] = at;
    site.arc[1] = place;
    if (w->body >= 0 && w->body < w->sheet->body) {
        contact_turn(&site);
    }
    site_list_add(&w->host->mem, w->out, &site);
    ++w->out->accepted;
}

static void meet_corner(const Round* w, int vertex) {
    FeaturePoint own = feature_corner(w->sheet->surface, vertex);
    double s = tdl_dot3(tdl_sub3(own.at, w->start), w->axis);
    add_round(w, &own, fmin(fmax(s, 0.0), w->length), AXIS_SIDE);
}

// An end of the axis over the inside of an edge. `inwards` leads along the axis; 0: it has no
// length.
static void meet_edge_end(const Round* w, int edge, AxisPlace place) {
    const Surface* surface = w->sheet->surface;
    TdlVec3 a = surface->vertex[surface->edge[edge].vertex[0]],
            e = tdl_sub3(surface->vertex[surface->edge[edge].vertex[1]], a);
    double s = place == AXIS_START ? 0.0 : w->length;
    TdlVec3 end = axis_point(w, s);
    double t = tdl_dot3(tdl_sub3(end, a), e) / tdl_dot3(e, e);
    if (!(t > SHEET_INSIDE && t < 1.0 - SHEET_INSIDE)) {
        return;
    }
    FeaturePoint own = feature_edge(surface, edge, t);
    TdlVec3 d = tdl_sub3(own.at, end);
    double inwards = (place == AXIS_START ? 1.0 : -1.0) * tdl_dot3(d, w->axis);
    if (w->length == 0.0 || inwards <= LEVEL_SINE * tdl_norm3(d)) {
        add_round(w, &own, s, place);
    }
}

// An edge abreast of the axis, at the places where the two lines are nearest.
static void meet_edge(const Round* w, int edge) {
    const Surface* surface = w->sheet->surface;
    TdlVec3 a = surface->vertex[surface->edge[edge].vertex[0]],
            e = tdl_sub3(surface->vertex[surface->edge[edge].vertex[1]], a);
    TdlVec3 r = tdl_sub3(a, w->start);
    double ee = tdl_dot3(e, e), b = tdl_dot3(e, w->axis), f = tdl_dot3(r, w->axis);
    double across = ee - b * b;
    if (w->length > 0.0 && across > SHEET_PARALLEL * SHEET_PARALLEL * ee) {
        double t = (b * f - tdl_dot3(r, e)) / across, s = f + t * b;
        if (t > SHEET_INSIDE && t < 1.0 - SHEET_INSIDE && s > 0.0 && s < w->length) {
            FeaturePoint own = feature_edge(surface, edge, t);
            add_round(w, &own, s, AXIS_SIDE);
        }
    }
    if (!w->endless) {
        meet_edge_end(w, edge, AXIS_START);
    }
    if (!w->endless && w->length > 0.0) {
        meet_edge_end(w, edge, AXIS_END);
    }
}

// Over the inside of a face an axis has its least height at an end.
static void meet_face(const Round* w, int f) {
    for (int k = 0; k < 1 + (w->length > 0.0) && !w->endless; ++k) {
        double s = k * w->length, u, v, height;
        if (feature_face_foot(w->sheet->surface, f, axis_point(w, s), &u, &v, &height)) {
            FeaturePoint own = feature_face(w->sheet->surface, f, u, v);
            add_round(w, &own, s, k == 0 ? AXIS_START : AXIS_END);
        }
    }
}

// Each corner and edge with the triangle that it is addressed by.
static void meet_triangle(void* user, int f) {
    const Round* w = user;
    const Surface* surface = w->sheet->surface;
    for (int k = 0; k < 3; ++k) {
        int vertex = surface->corner[3 * f + k], edge = surface->edge_of[3 * f + k];
        if (surface->vertex_triangle[vertex] == f) {
            meet_corner(w, vertex);
        }
        if (side_has_edge(surface, 3 * f + k)) {
            meet_edge(w, edge);
        }
    }
    meet_face(w, f);
}

static void on_round(Round* w) {
    double reach = w->radius + w->sheet->surface->radius + w->def->margin;
    TdlVec3 a = w->start, b = axis_point(w, w->length), grow = {reach, reach, reach};
    SurfaceBox box = {{fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)},
                      {fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)}};
    ++w->out->pairs;
    surface_each_near(w->sheet->surface,
                      (SurfaceBox){tdl_sub3(box.lo, grow), tdl_add3(box.hi, grow)}, meet_triangle,
                      w);
}

void sheet_on_obstacle(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* sheet,
                       const TdlColliderDef* o, int index, SiteList* out) {
    Round w = {.host = host,
               .def = def,
               .sheet = sheet,
               .start = o->pose.position,
               .axis = o->pose.rotation.cx,
               .radius = o->radius,
               .body = -1 - index,
               .out = out};
    switch (o->shape) {
    case TDL_SHAPE_PLANE:
    case TDL_SHAPE_PLATE:
        ++out->pairs;
        on_plane(host, def, sheet, o, index, out);
        return;
    case TDL_SHAPE_COMB:
    case TDL_SHAPE_CURVES:
    case TDL_SHAPE_MESH:
    case TDL_SHAPE_IMPLICIT:
        return; // fixed fibres and surfaces
    case TDL_SHAPE_SPHERE:
        break;
    case TDL_SHAPE_CAPSULE:
        w.length = o->length;
        break;
    case TDL_SHAPE_CYLINDER: // what is abreast of the sheet
        w.endless = true;
        w.base = tdl_dot3(w.axis, tdl_sub3(sheet->centre, w.start)) - sheet->ball;
        w.start = tdl_axpy3(w.start, w.base, w.axis);
        w.length = 2.0 * sheet->ball;
        break;
    }
    on_round(&w);
}

bool sheet_knows_element(const Element* element) {
    const TdlCurve* c = element->curve;
    return element->stiff && c->kind == TDL_CURVE_SEGMENT && c->radius[0] == c->radius[1];
}

void sheet_on_element(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* sheet,
                      const Element* element, SiteList* out) {
    const TdlCurve* c = element->curve;
    Round w = {.host = host,
               .def = def,
               .sheet = sheet,
               .start = c->origin,
               .axis = c->helix.t,
               .length = c->end,
               .radius = c->radius[0],
               .body = element->fibre,
               .element = element->place,
               .out = out};
    on_round(&w);
}
