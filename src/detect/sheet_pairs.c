// Sheets against surfaces: corners over faces, both ways, and edges across edges. A corner meets
// every place of the other surface that is nearest to it for its neighbourhood: inside faces, and
// on edges and corners within their cones of normals. Two edges meet where both are crossed inside.
// Each triangle asks the other's tree once: O(log n + near ones). docs/theory/distance.md, section
// 10
#include "detect/sheet_pairs.h"

#include "math/rotation.h"

#include <float.h>

// Places of a surface that one corner may meet.
enum { MAX_PLACES = 32 };

// A foot beyond a side by this share of the height, twice the angle up to which an edge is flat, or
// by this share of the side is over the triangle.
static const double FLAT_SHARE = 4.0e-6, COVER = 1.0e-9;

// Of the surface's size: feet this near are one place.
static const double SAME_PLACE = 1.0e-7;

// A place of a surface over which a point lies.
typedef struct Foot {
    FeaturePoint place;
    TdlVec3 up;    // unit, from there to the point
    double height; // m, negative behind a closed surface
} Foot;

// A corner and the places that it is over, in the frame of the surface that has these.
typedef struct Corner {
    int vertex; // -1: none
    TdlVec3 at;
    int count;
    Foot foot[MAX_PLACES];
} Corner;

// A triangle of one surface on its way through another's tree.
typedef struct PairWalk {
    const TdlHost* host;
    const TdlDetectorDef* def;
    const SurfaceBody *own, *other;
    TdlPose there; // from the frame of `own` to that of `other`
    double radii;  // m, of both
    int triangle;  // of `own`
    bool self;     // both are one
    bool edges;    // edges are looked for
    Corner corner[3];
    SiteList* out;
} PairWalk;

static double lesser(double a, double b) {
    return a < b ? a : b;
}

static double greater(double a, double b) {
    return a > b ? a : b;
}

static SurfaceBox box_about(const TdlVec3* p, int count, double reach) {
    SurfaceBox box = {p[0], p[0]};
    for (int k = 1; k < count; ++k) {
        box.lo =
            (TdlVec3){lesser(box.lo.x, p[k].x), lesser(box.lo.y, p[k].y), lesser(box.lo.z, p[k].z)};
        box.hi = (TdlVec3){greater(box.hi.x, p[k].x), greater(box.hi.y, p[k].y),
                           greater(box.hi.z, p[k].z)};
    }
    TdlVec3 grow = {reach, reach, reach};
    return (SurfaceBox){tdl_sub3(box.lo, grow), tdl_add3(box.hi, grow)};
}

// --- neighbours -----------------------------------------------------------------------------

bool sheet_corner_is_near(const Surface* s, int vertex, int triangle) {
    const int* corner = s->corner + 3 * (size_t)triangle;
    return surface_are_neighbours(s, vertex, corner[0]) ||
           surface_are_neighbours(s, vertex, corner[1]) ||
           surface_are_neighbours(s, vertex, corner[2]);
}

bool sheet_edges_are_near(const Surface* s, int a, int b) {
    const int *x = s->edge[a].vertex, *y = s->edge[b].vertex;
    return surface_are_neighbours(s, x[0], y[0]) || surface_are_neighbours(s, x[0], y[1]) ||
           surface_are_neighbours(s, x[1], y[0]) || surface_are_neighbours(s, x[1], y[1]);
}

// --- corners --------------------------------------------------------------------------------

// A place that is there already stays, the nearer of the two.
static void add_foot(const PairWalk* w, Corner* c, const Foot* foot) {
    double same = SAME_PLACE * w->other->surface->size;
    int worst = 0;
    for (int i = 0; i < c->count; ++i) {
        Foot* old = &c->foot[i];
        if (tdl_norm3(tdl_sub3(old->place.at, foot->place.at)) <= same) {
            *old = foot->height < old->height ? *foot : *old;
            return;
        }
        worst = old->height > c->foot[worst].height ? i : worst;
    }
    if (c->count < MAX_PLACES) {
        c->foot[c->count++] = *foot;
        return;
    }
    w->out->certified = false;
    if (foot->height < c->foot[worst].height) {
        c->foot[worst] = *foot;
    }
}

static bool covers(const Surface* s, int f, TdlVec3 foot, double height) {
    TdlVec3 side = tdl_sub3(s->vertex[s->corner[3 * f + 1]], s->vertex[s->corner[3 * f]]);
    double slack = COVER * tdl_norm3(side) + FLAT_SHARE * fabs(height);
    for (int k = 0; k < 3; ++k) {
        TdlVec3 from = tdl_sub3(foot, s->vertex[s->corner[3 * f + k]]);
        if (tdl_dot3(from, s->into[3 * f + k]) < -slack) {
            return false;
        }
    }
    return true;
}

// Behind a closed surface a point belongs to the face that is nearest. (X.35)
static void look_at_face(const PairWalk* w, Corner* c, int f) {
    const Surface* s = w->other->surface;
    double height = tdl_dot3(tdl_sub3(c->at, s->vertex[s->corner[3 * f]]), s->normal[f]);
    TdlVec3 foot = tdl_axpy3(c->at, -height, s->normal[f]);
    double reach = w->radii + w->def->margin;
    if (!(fabs(height) < reach) || !covers(s, f, foot, height)) {
        return;
    }
    if (height < 0.0 && s->closed && surface_is_nearer(s, c->at, -height * (1.0 - 1.0e-9))) {
        return;
    }
    bool turned = height < 0.0 && !s->closed;
    double u, v;
    surface_shares(s, f, foot, &u, &v);
    Foot place = {feature_face(s, f, u, v), s->normal[f], height};
    if (turned) {
        place.up = tdl_scale3(-1.0, place.up);
        place.height = -height;
    }
    add_foot(w, c, &place);
}

static void look_at_point(const PairWalk* w, Corner* c, FeaturePoint place, int edge, int vertex) {
    const Surface* s = w->other->surface;
    TdlVec3 d = tdl_sub3(c->at, place.at);
    double distance = tdl_norm3(d);
    if (!(distance > DBL_MIN) || !(distance < w->radii + w->def->margin)) {
        return;
    }
    d = tdl_scale3(1.0 / distance, d);
    if (vertex < 0 ? surface_edge_faces(s, edge, d) : surface_vertex_faces(s, vertex, d)) {
        add_foot(w, c, &(Foot){place, d, distance});
    }
}

// An edge that is not flat, and its ends where they are its own.
static void look_at_edge(const PairWalk* w, Corner* c, int edge) {
    const Surface* s = w->other->surface;
    const SurfaceEdge* e = &s->edge[edge];
    TdlVec3 a = s->vertex[e->vertex[0]], along = tdl_sub3(s->vertex[e->vertex[1]], a);
    double t = tdl_dot3(tdl_sub3(c->at, a), along) / tdl_dot3(along, along);
    bool near = w->self && (surface_are_neighbours(s, c->vertex, e->vertex[0]) ||
                            surface_are_neighbours(s, c->vertex, e->vertex[1]));
    if (t > 0.0 && t < 1.0 && !near) {
        look_at_point(w, c, feature_edge(s, edge, t), edge, -1);
    }
    for (int k = 0; k < 2; ++k) {
        int v = e->vertex[k];
        if (s->vertex_owner[v] == edge && !(w->self && surface_are_neighbours(s, c->vertex, v))) {
            look_at_point(w, c, feature_corner(s, v), edge, v);
        }
    }
}

static void look_at_triangle(const PairWalk* w, Corner* c, int f) {
    const Surface* s = w->other->surface;
    if (!(w->self && sheet_corner_is_near(s, c->vertex, f))) {
        look_at_face(w, c, f);
    }
    for (int k = 0; k < 3; ++k) {
        int edge = s->edge_of[3 * f + k];
        if (s->edge[edge].sharp && side_has_edge(s, 3 * f + k)) {
            look_at_edge(w, c, edge);
        }
    }
}

// --- contacts -------------------------------------------------------------------------------

static void set_side(ContactSite* site, int side, const SurfaceBody* body,
                     const FeaturePoint* place) {
    TdlContact* x = &site->contact;
    bool moves = body->surface->from != NULL;
    x->body[side] = body->body;
    x->element[side] = body->element + (moves ? place->triangle : 0);
    x->u[side] = moves ? place->u : 0.0;
    x->v[side] = moves ? place->v : 0.0;
    x->point[side] = pose_point(body->pose, place->at);
    site->arc[side] = place->feature;
}

// `normal` leads from the first to the second, in the world's frame. The lower fibre comes first,
// colliders last.
static void add_site(const PairWalk* w, const FeaturePoint* a, const FeaturePoint* b,
                     TdlVec3 normal, double gap) {
    const Surface* s = w->own->surface;
    const int* corner = s->corner + 3 * (size_t)a->triangle;
    ContactSite site = {.contact = {.gap = gap, .previous = -1},
                        .width = 2.0 * fmax(s->radius, w->other->surface->radius),
                        .faced = true,
                        .feature = true};
    set_side(&site, 0, w->own, a);
    set_side(&site, 1, w->other, b);
    TdlVec3 along = tdl_sub3(s->vertex[corner[1]], s->vertex[corner[0]]);
    site.contact.basis =
        tdl_frame_from_tangent_hint(normal, tdl_mul33_3(w->own->pose.rotation, along));
    int own = w->own->body, other = w->other->body;
    if (own < 0 || (other >= 0 && other < own)) {
        contact_turn(&site);
    }
    site_list_add(&w->host->mem, w->out, &site);
    ++w->out->accepted;
}

// A corner of something hard touches only in directions to which it is the outermost.
static bool corner_faces(const PairWalk* w, int vertex, TdlVec3 down) {
    const Surface* s = w->own->surface;
    return surface_is_sheet(w->own) ||
           surface_vertex_faces(s, vertex, tdl_tmul33_3(w->there.rotation, down));
}

static void add_corner(const PairWalk* w, const Corner* c) {
    FeaturePoint own = feature_corner(w->own->surface, c->vertex);
    for (int i = 0; i < c->count; ++i) {
        const Foot* foot = &c->foot[i];
        double gap = foot->height - w->radii;
        TdlVec3 down = tdl_scale3(-1.0, foot->up);
        if (gap < w->def->margin && corner_faces(w, c->vertex, down)) {
            add_site(w, &own, &foot->place, tdl_mul33_3(w->other->pose.rotation, down), gap);
        }
    }
}

// --- edges ----------------------------------------------------------------------------------

// Two edges that cross: where their lines are nearest, both inside. Nearly parallel ones are left
// to their ends. (X.40)
static void meet_edges(const PairWalk* w, int mine, int theirs) {
    const Surface *s = w->own->surface, *o = w->other->surface;
    const SurfaceEdge *x = &s->edge[mine], *y = &o->edge[theirs];
    TdlVec3 a = pose_point(w->there, s->vertex[x->vertex[0]]),
            p = tdl_sub3(pose_point(w->there, s->vertex[x->vertex[1]]), a),
            b = o->vertex[y->vertex[0]], q = tdl_sub3(o->vertex[y->vertex[1]], b),
            r = tdl_sub3(a, b), n = tdl_cross3(p, q);
    double nn = tdl_dot3(n, n), pp = tdl_dot3(p, p), qq = tdl_dot3(q, q);
    double reach = w->radii + w->def->margin, height = tdl_dot3(n, r);
    if (!(nn > SHEET_PARALLEL * SHEET_PARALLEL * pp * qq) ||
        !(height * height < reach * reach * nn)) {
        return;
    }
    double t = tdl_dot3(tdl_cross3(q, r), n) / nn, u = tdl_dot3(tdl_cross3(p, r), n) / nn;
    if (!(t > SHEET_INSIDE && t < 1.0 - SHEET_INSIDE && u > SHEET_INSIDE &&
          u < 1.0 - SHEET_INSIDE)) {
        return;
    }
    TdlVec3 up = tdl_scale3((height < 0.0 ? -1.0 : 1.0) / sqrt(nn), n); // from theirs to mine
    if (!surface_is_sheet(w->other) && !surface_edge_faces(o, theirs, up)) {
        return;
    }
    double gap = fabs(height) / sqrt(nn) - w->radii;
    FeaturePoint own = feature_edge(s, mine, t), other = feature_edge(o, theirs, u);
    TdlVec3 normal = tdl_mul33_3(w->other->pose.rotation, tdl_scale3(-1.0, up));
    add_site(w, &own, &other, normal, gap);
}

// Each pair with the triangles that the two edges are addressed by. Of hard things only ridges.
// `box` is about the other triangle and all that is near it.
static void meet_sides(const PairWalk* w, int g, const SurfaceBox* box) {
    const Surface *s = w->own->surface, *o = w->other->surface;
    for (int k = 0; k < 3; ++k) {
        int side = 3 * w->triangle + k, mine = s->edge_of[side];
        TdlVec3 ends[2] = {w->corner[k].at, w->corner[(k + 1) % 3].at};
        SurfaceBox own = box_about(ends, 2, 0.0);
        if (!side_has_edge(s, side) || !surface_boxes_meet(&own, box)) {
            continue;
        }
        for (int j = 3 * g; j < 3 * g + 3; ++j) {
            int theirs = o->edge_of[j];
            if (side_has_edge(o, j) && (surface_is_sheet(w->other) || o->edge[theirs].sharp) &&
                !(w->self && (mine >= theirs || sheet_edges_are_near(s, mine, theirs)))) {
                meet_edges(w, mine, theirs);
            }
        }
    }
}

// --- all ------------------------------------------------------------------------------------

static void meet_triangle(void* user, int g) {
    PairWalk* w = user;
    const Surface* o = w->other->surface;
    const int* corner = o->corner + 3 * (size_t)g;
    TdlVec3 p[3] = {o->vertex[corner[0]], o->vertex[corner[1]], o->vertex[corner[2]]};
    SurfaceBox box = box_about(p, 3, w->radii + w->def->margin);
    for (int k = 0; k < 3; ++k) {
        SurfaceBox own = {w->corner[k].at, w->corner[k].at};
        if (w->corner[k].vertex >= 0 && surface_boxes_meet(&own, &box)) {
            look_at_triangle(w, &w->corner[k], g);
        }
    }
    if (w->edges && !(w->self && g == w->triangle)) {
        meet_sides(w, g, &box);
    }
}

// A triangle with the corners that are addressed by it; of hard things those that stand out.
static void walk_triangle(PairWalk* w, int f) {
    const Surface* s = w->own->surface;
    bool sheet = surface_is_sheet(w->own);
    TdlVec3 p[3];
    w->triangle = f;
    for (int k = 0; k < 3; ++k) {
        int v = s->corner[3 * f + k];
        bool mine = s->vertex_triangle[v] == f && (sheet || s->vertex_owner[v] >= 0);
        p[k] = pose_point(w->there, s->vertex[v]);
        w->corner[k].vertex = mine ? v : -1;
        w->corner[k].at = p[k];
        w->corner[k].count = 0;
    }
    SurfaceBox box = box_about(p, 3, w->radii + w->def->margin);
    if (!surface_boxes_meet(&box, &w->other->surface->node[0].box)) {
        return;
    }
    ++w->out->pairs;
    surface_each_near(w->other->surface, box, meet_triangle, w);
    for (int k = 0; k < 3; ++k) {
        if (w->corner[k].vertex >= 0) {
            add_corner(w, &w->corner[k]);
        }
    }
}

static bool are_far(const TdlDetectorDef* def, const SurfaceBody* a, const SurfaceBody* b) {
    double reach = a->ball + b->ball + def->margin;
    return tdl_norm3(tdl_sub3(a->centre, b->centre)) > reach * (1.0 + 1.0e-9);
}

static void start_walk(PairWalk* w) {
    TdlPose back = pose_inverse(w->other->pose), own = w->own->pose;
    w->there = (TdlPose){pose_point(back, own.position), tdl_mul33(back.rotation, own.rotation)};
    w->radii = w->own->surface->radius + w->other->surface->radius;
    w->self = w->own == w->other;
}

void sheet_on_surface(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* sheet,
                      int block, const SurfaceBody* other, SiteList* out) {
    PairWalk w = {.host = host, .def = def, .own = sheet, .other = other, .out = out};
    if (are_far(def, sheet, other)) {
        return;
    }
    start_walk(&w);
    // of two sheets the lower looks for edges
    w.edges = !surface_is_sheet(other) || sheet->body <= other->body;
    int count = sheet->surface->triangle_count, end = (block + 1) * SHEET_BLOCK;
    for (int i = block * SHEET_BLOCK; i < end && i < count; ++i) {
        walk_triangle(&w, sheet->surface->order[i]);
    }
}

static void walk_hard(void* user, int f) {
    walk_triangle(user, f);
}

void sheet_under_corners(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* sheet,
                         const SurfaceBody* other, SiteList* out) {
    PairWalk w = {.host = host, .def = def, .own = other, .other = sheet, .out = out};
    if (are_far(def, sheet, other)) {
        return;
    }
    start_walk(&w);
    // a ball about the sheet
    TdlVec3 middle = pose_point(pose_inverse(other->pose), sheet->centre);
    double reach = sheet->ball + other->surface->radius + def->margin;
    TdlVec3 grow = {reach, reach, reach};
    surface_each_near(other->surface, (SurfaceBox){tdl_sub3(middle, grow), tdl_add3(middle, grow)},
                      walk_hard, &w);
}
