// Triangles that go through each other. A segment meets a triangle where a point that moves along
// it meets the triangle, a question of collision detection. An axis along which the two are apart
// by more than rounding answers it mostly; else it is decided in rational arithmetic.
// docs/theory/distance.md, section 10
#include "detect/sheet_crossings.h"

#include "tendril/ccd.h"

#include <math.h>
#include <stddef.h>

// Of an axis times the size of what is projected: more is not rounding, some tens of it.
static const double ROUNDING = 1.0e-14;

// Whether the shadows of a segment and a triangle on an axis are certainly apart.
static bool apart_along(TdlVec3 axis, const TdlVec3 segment[2], const TdlVec3 triangle[3]) {
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY}, size = 0.0;
    for (int k = 0; k < 5; ++k) { // from the first end: small numbers, small errors
        TdlVec3 p = tdl_sub3(k < 2 ? segment[k] : triangle[k - 2], segment[0]);
        double x = tdl_dot3(axis, p);
        lo[k < 2 ? 0 : 1] = fmin(lo[k < 2 ? 0 : 1], x);
        hi[k < 2 ? 0 : 1] = fmax(hi[k < 2 ? 0 : 1], x);
        size = fmax(size, tdl_norm3(p) + 0x1p-51 * tdl_norm3(segment[0]) / ROUNDING);
    }
    return fmax(lo[1] - hi[0], lo[0] - hi[1]) > ROUNDING * size * tdl_norm3(axis);
}

// The axes of separation of two flat things, in one plane too.
static bool certainly_apart(const TdlVec3 segment[2], const TdlVec3 triangle[3]) {
    TdlVec3 along = tdl_sub3(segment[1], segment[0]), side[3];
    for (int k = 0; k < 3; ++k) {
        side[k] = tdl_sub3(triangle[(k + 1) % 3], triangle[k]);
    }
    TdlVec3 n = tdl_cross3(side[0], side[1]);
    if (apart_along(n, segment, triangle) || apart_along(tdl_cross3(along, n), segment, triangle)) {
        return true;
    }
    for (int k = 0; k < 3; ++k) {
        if (apart_along(tdl_cross3(n, side[k]), segment, triangle) ||
            apart_along(tdl_cross3(along, side[k]), segment, triangle)) {
            return true;
        }
    }
    return false;
}

bool segment_meets_triangle(TdlVec3 from, TdlVec3 to, const TdlVec3 triangle[3]) {
    const TdlVec3 segment[2] = {from, to};
    if (certainly_apart(segment, triangle)) {
        return false;
    }
    TdlCcdQuery query = {TDL_CCD_VERTEX_FACE,
                         {from, triangle[0], triangle[1], triangle[2]},
                         {to, triangle[0], triangle[1], triangle[2]}};
    TdlCcdOptions options = tdl_ccd_options_default();
    TdlCcdResult result;
    options.method = TDL_CCD_EXACT;
    return tdl_ccd_query(&query, &options, &result) != TDL_STATUS_OK || result.collision;
}

static TdlVec3 least(TdlVec3 a, TdlVec3 b) {
    return (TdlVec3){fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)};
}

static TdlVec3 most(TdlVec3 a, TdlVec3 b) {
    return (TdlVec3){fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)};
}

static SurfaceBox box_of(const TdlVec3* vertices, const int* corner, int count) {
    SurfaceBox box = {vertices[corner[0]], vertices[corner[0]]};
    for (int k = 1; k < count; ++k) {
        box.lo = least(box.lo, vertices[corner[k]]);
        box.hi = most(box.hi, vertices[corner[k]]);
    }
    return box;
}

static bool has_corner(const int* corner, int vertex) {
    return corner[0] == vertex || corner[1] == vertex || corner[2] == vertex;
}

// Whether an edge of the first goes through the second.
static bool goes_through(const TdlVec3* vertices, const int* f, const int* g) {
    SurfaceBox box = box_of(vertices, g, 3);
    TdlVec3 triangle[3] = {vertices[g[0]], vertices[g[1]], vertices[g[2]]};
    for (int k = 0; k < 3; ++k) {
        const int edge[2] = {f[k], f[(k + 1) % 3]};
        SurfaceBox own = box_of(vertices, edge, 2);
        if (!has_corner(g, edge[0]) && !has_corner(g, edge[1]) && surface_boxes_meet(&own, &box) &&
            segment_meets_triangle(vertices[edge[0]], vertices[edge[1]], triangle)) {
            return true;
        }
    }
    return false;
}

int sheet_crossings(const TdlVec3* vertices, const int* triangles, int triangle_count, int capacity,
                    int (*out)[2]) {
    int count = 0;
    for (int i = 0; i < triangle_count; ++i) {
        const int* f = triangles + 3 * (ptrdiff_t)i;
        SurfaceBox box = box_of(vertices, f, 3);
        for (int j = 0; j < triangle_count; ++j) {
            const int* g = triangles + 3 * (ptrdiff_t)j;
            SurfaceBox other = box_of(vertices, g, 3);
            if (i == j || !surface_boxes_meet(&box, &other) || !goes_through(vertices, f, g)) {
                continue;
            }
            if (count < capacity) {
                out[count][0] = i;
                out[count][1] = j;
            }
            ++count;
        }
    }
    return count;
}

// --- by the tree ------------------------------------------------------------------------------

typedef struct ThroughWalk {
    const Surface* other;
    TdlVec3 from, to; // in its frame
    int vertex[2];    // of its own; -1: of another surface
    int met;          // triangle; -1: none
} ThroughWalk;

static void meet_triangle(void* user, int g) {
    ThroughWalk* w = user;
    const int* corner = w->other->corner + 3 * (ptrdiff_t)g;
    if (w->met >= 0 || has_corner(corner, w->vertex[0]) || has_corner(corner, w->vertex[1])) {
        return;
    }
    TdlVec3 triangle[3] = {w->other->vertex[corner[0]], w->other->vertex[corner[1]],
                           w->other->vertex[corner[2]]};
    w->met = segment_meets_triangle(w->from, w->to, triangle) ? g : -1;
}

bool sheet_goes_through(const SurfaceBody* sheet, const SurfaceBody* other, SheetCrossing* out) {
    const Surface* s = sheet->surface;
    TdlPose back = pose_inverse(other->pose);
    ThroughWalk w = {.other = other->surface, .met = -1};
    for (int e = 0; e < s->edge_count; ++e) {
        const int* vertex = s->edge[e].vertex;
        for (int k = 0; k < 2; ++k) {
            w.vertex[k] = sheet == other ? vertex[k] : -1;
        }
        w.from = pose_point(back, pose_point(sheet->pose, s->vertex[vertex[0]]));
        w.to = pose_point(back, pose_point(sheet->pose, s->vertex[vertex[1]]));
        SurfaceBox box = {least(w.from, w.to), most(w.from, w.to)};
        surface_each_near(w.other, box, meet_triangle, &w);
        if (w.met >= 0) {
            out->triangle[0] = s->edge_side[s->edge[e].first] / 3;
            out->triangle[1] = w.met;
            out->point = pose_point(other->pose, tdl_scale3(0.5, tdl_add3(w.from, w.to)));
            return true;
        }
    }
    return false;
}
