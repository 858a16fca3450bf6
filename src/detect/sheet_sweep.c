// Sheets that went through surfaces in a step. Two triangles that go through each other first touch
// with a corner of one on the other or with two edges: every such pair whose ways come near enough
// is followed by conservative collision detection, with a share of the thickness as separation.
// What moves is seen from the other surface. docs/theory/world.md, section 5
#include "detect/sheet_sweep.h"

#include "detect/ccd.h"
#include "detect/sheet_pairs.h"

#include <math.h>

// Corners of a triangle as they are before and after, in the frame of the other surface, which
// moves with its drift.
typedef struct Way {
    int vertex[3];
    TdlVec3 from[3], to[3];
} Way;

typedef struct SweepWalk {
    const Moved* moved;
    const SurfaceBody *own, *other;
    TdlPose was, is; // into the frame of the other
    Nearness near;
    bool self;
    int triangle, met;
    Way way;
} SweepWalk;

static TdlVec3 before_of(const Surface* s, int vertex) {
    return s->before == NULL ? s->vertex[vertex] : s->before[vertex];
}

static Way own_way(const SweepWalk* w, int f) {
    const Surface* s = w->own->surface;
    Way way;
    for (int k = 0; k < 3; ++k) {
        int v = way.vertex[k] = s->corner[3 * f + k];
        way.from[k] = pose_point(w->was, pose_point(w->own->before, before_of(s, v)));
        way.from[k] = tdl_add3(way.from[k], w->other->surface->drift);
        way.to[k] = pose_point(w->is, pose_point(w->own->pose, s->vertex[v]));
    }
    return way;
}

static Way other_way(const SweepWalk* w, int g) {
    const Surface* s = w->other->surface;
    Way way;
    for (int k = 0; k < 3; ++k) {
        int v = way.vertex[k] = s->corner[3 * g + k];
        way.from[k] = tdl_add3(before_of(s, v), s->drift);
        way.to[k] = s->vertex[v];
    }
    return way;
}

// --- what cannot have met -------------------------------------------------------------------

static TdlVec3 least(TdlVec3 a, TdlVec3 b) {
    return (TdlVec3){lesser(a.x, b.x), lesser(a.y, b.y), lesser(a.z, b.z)};
}

static TdlVec3 most(TdlVec3 a, TdlVec3 b) {
    return (TdlVec3){greater(a.x, b.x), greater(a.y, b.y), greater(a.z, b.z)};
}

static SurfaceBox box_of(const TdlVec3* p, int count) {
    SurfaceBox box = {p[0], p[0]};
    for (int k = 1; k < count; ++k) {
        box.lo = least(box.lo, p[k]);
        box.hi = most(box.hi, p[k]);
    }
    return box;
}

// The most that one of some points moved against one of others, which follow them.
static double relative_travel(const TdlVec3* from, const TdlVec3* to, int first, int count) {
    TdlVec3 way[6];
    for (int k = 0; k < count; ++k) {
        way[k] = tdl_sub3(to[k], from[k]);
    }
    SurfaceBox a = box_of(way, first), b = box_of(way + first, count - first);
    TdlVec3 d = most(tdl_sub3(a.hi, b.lo), tdl_sub3(b.hi, a.lo));
    return tdl_norm3(d);
}

static double box_distance(const SurfaceBox* a, const SurfaceBox* b) {
    TdlVec3 apart = most(tdl_sub3(a->lo, b->hi), tdl_sub3(b->lo, a->hi));
    return tdl_norm3(most(apart, (TdlVec3){0}));
}

// Two things that met are no farther apart at the end than they moved against each other. Those
// that hardly moved were as near before, which their depth told. (W.29)
static bool boxes_may_have_met(const SweepWalk* w, const TdlVec3* from, const TdlVec3* to,
                               int first, int count, double* reach) {
    double radii = w->own->surface->radius + w->other->surface->radius;
    double travel = relative_travel(from, to, first, count);
    SurfaceBox a = box_of(to, first), b = box_of(to + first, count - first);
    *reach = (travel + w->near.apart + w->near.tolerance) * (1.0 + 1.0e-9);
    return travel >= CROSSING_DEEP_SHARE * radii && box_distance(&a, &b) <= *reach;
}

static bool may_have_met(const SweepWalk* w, const TdlCcdQuery* q) {
    int first = q->kind == TDL_CCD_VERTEX_FACE ? 1 : 2;
    double reach, u, v;
    return boxes_may_have_met(w, q->start, q->end, first, 4, &reach) &&
           ccd_distance(q, 1.0, &u, &v) <= reach;
}

static bool ways_may_have_met(const SweepWalk* w, const Way* a, const Way* b) {
    TdlVec3 from[6], to[6];
    double reach;
    for (int k = 0; k < 6; ++k) {
        from[k] = k < 3 ? a->from[k] : b->from[k - 3];
        to[k] = k < 3 ? a->to[k] : b->to[k - 3];
    }
    return boxes_may_have_met(w, from, to, 3, 6, &reach);
}

// --- pairs ----------------------------------------------------------------------------------

// From the first point: small numbers, small errors.
static void set_point(TdlCcdQuery* q, int place, const Way* way, int k, TdlVec3 origin) {
    q->start[place] = tdl_sub3(way->from[k], origin);
    q->end[place] = tdl_sub3(way->to[k], origin);
}

static bool meets(const SweepWalk* w, const TdlCcdQuery* q) {
    return may_have_met(w, q) && crossing_query_meets(w->moved, q, &w->near);
}

// Corners of `a` that are addressed by its triangle, over the triangle of `b`.
static bool corners_meet(const SweepWalk* w, const Surface* s, int f, const Way* a, int g,
                         const Way* b) {
    for (int k = 0; k < 3; ++k) {
        if (s->vertex_triangle[a->vertex[k]] != f ||
            (w->self && sheet_corner_is_near(s, a->vertex[k], g))) {
            continue;
        }
        TdlCcdQuery q = {.kind = TDL_CCD_VERTEX_FACE};
        set_point(&q, 0, a, k, a->from[0]);
        for (int j = 0; j < 3; ++j) {
            set_point(&q, 1 + j, b, j, a->from[0]);
        }
        if (meets(w, &q)) {
            return true;
        }
    }
    return false;
}

static bool edges_meet(const SweepWalk* w, int g, const Way* other) {
    const Surface *s = w->own->surface, *o = w->other->surface;
    int f = w->triangle;
    for (int i = 0; i < 9; ++i) {
        int k = i / 3, j = i % 3;
        int mine = s->edge_of[3 * f + k], theirs = o->edge_of[3 * g + j];
        if (!side_has_edge(s, 3 * f + k) || !side_has_edge(o, 3 * g + j) ||
            (w->self && sheet_edges_are_near(s, mine, theirs))) {
            continue;
        }
        TdlCcdQuery q = {.kind = TDL_CCD_EDGE_EDGE};
        for (int end = 0; end < 2; ++end) {
            set_point(&q, end, &w->way, (k + end) % 3, w->way.from[0]);
            set_point(&q, 2 + end, other, (j + end) % 3, w->way.from[0]);
        }
        if (meets(w, &q)) {
            return true;
        }
    }
    return false;
}

static void meet_triangle(void* user, int g) {
    SweepWalk* w = user;
    if (w->met >= 0 || (w->self && g <= w->triangle)) {
        return;
    }
    Way other = other_way(w, g);
    if (!ways_may_have_met(w, &w->way, &other)) {
        return;
    }
    if (corners_meet(w, w->own->surface, w->triangle, &w->way, g, &other) ||
        corners_meet(w, w->other->surface, g, &other, w->triangle, &w->way) ||
        edges_meet(w, g, &other)) {
        w->met = g;
    }
}

int sheet_sweep(const Moved* moved, const SurfaceBody* sheet, int triangle,
                const SurfaceBody* other) {
    double radii = sheet->surface->radius + other->surface->radius;
    SweepWalk w = {.moved = moved,
                   .own = sheet,
                   .other = other,
                   .was = pose_inverse(other->before),
                   .is = pose_inverse(other->pose),
                   .near = crossing_nearness(radii, sheet->surface->radius),
                   .self = sheet == other,
                   .triangle = triangle,
                   .met = -1};
    w.way = own_way(&w, triangle);
    SurfaceBox from = box_of(w.way.from, 3), to = box_of(w.way.to, 3);
    double reach = w.near.apart + w.near.tolerance;
    TdlVec3 grow = {reach, reach, reach};
    surface_each_swept(
        other->surface,
        (SurfaceBox){tdl_sub3(least(from.lo, to.lo), grow), tdl_add3(most(from.hi, to.hi), grow)},
        meet_triangle, &w);
    return w.met;
}
