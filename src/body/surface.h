// Surfaces of triangles: their edges and corners with the directions in which they can be touched,
// and a tree for what is near. docs/theory/distance.md, section 9
#ifndef TDL_BODY_SURFACE_H
#define TDL_BODY_SURFACE_H

#include "base/memory.h"
#include "body/vertex_motion.h"

typedef struct SurfaceBox {
    TdlVec3 lo, hi;
} SurfaceBox;

typedef struct SurfaceEdge {
    int vertex[2];
    int first, count; // its sides among edge_side
    bool sharp;       // false: flat, or (of a closed surface) hollow; never touched
} SurfaceEdge;

typedef struct SurfaceNode {
    SurfaceBox box;
    int first, count; // triangles among `order`; of an inner node count is 0 and `first` its left
                      // child, the right one follows
} SurfaceNode;

// In its own frame. A side 3 f + k goes from corner k of triangle f to the next.
typedef struct Surface {
    double radius; // m, the triangles are so thick to both sides
    bool closed;   // every edge joins two triangles the same way round: it has one free side, to
                   // which the normals point. Else both sides are touched
    double size;   // m, of its box

    int vertex_count, triangle_count, edge_count;
    TdlVec3* vertex;      // those at the same place are one
    int* corner;          // [3 triangle_count]
    TdlVec3* normal;      // [triangle_count]
    TdlVec3* into;        // [3 triangle_count] unit vector from a side into its triangle
    int* edge_of;         // [3 triangle_count] edge of a side
    SurfaceEdge* edge;    //
    int* edge_side;       // [3 triangle_count] sides by edge
    int* vertex_first;    // [vertex_count + 1]
    int* vertex_edge;     // edges by corner
    int* vertex_owner;    // [vertex_count] the first sharp edge at a corner; -1: it is not touched
    int* vertex_triangle; // [vertex_count] the first triangle at a corner; -1: none
    SurfaceNode* node;    // the tree, its root first
    int *order, node_count; // [triangle_count]

    // where the vertices move; else null and 0
    int* from;     // [vertex_count] the first of the mesh's vertices that are one
    TdlVec3* rest; // [vertex_count] in the first sample: what tells places apart from step to step
    TdlVec3* before;   // [vertex_count] before the last move
    double travel;     // m, none of them went farther in it
    TdlVec3 drift;     // m, what they went in the mean
    SurfaceBox* swept; // [node_count] about the ways in it, as seen from what drifts along

    // of one that deforms by itself; else null
    int* near_first; // [vertex_count + 1]
    int* near;       // vertices by vertex that are near along the edges. (X.41)
} Surface;

// From a mesh without fault. Of vertices that move those are one that always are at the same place;
// they start where the first sample has them.
TdlStatus surface_create(const TdlHost* host, const TdlMesh* mesh, const VertexMotion* motion,
                         double radius, Surface** out);
void surface_destroy(const TdlHost* host, Surface* surface);

// Puts the vertices where the motion has them at a time. Returns the first triangle that has no
// area there, or -1.
int surface_move(Surface* surface, const VertexMotion* motion, double time);

// The same to where `vertices` has them, in the order of the mesh: of one that deforms by itself,
// made with a motion of one sample. Such a one is never closed: both its sides are touched.
int surface_put(Surface* surface, const TdlVec3* vertices);

// Mean velocities of the vertices until a time that is `dt` away, rate[vertex_count]. Returns the
// fastest, m/s.
double surface_rates(const Surface* surface, const VertexMotion* motion, double time, double dt,
                     TdlVec3* rate);

// The place of the vertices `at` of what is at a point of a triangle, or near it: carried along
// with the triangle and its normal. (X.33)
TdlVec3 surface_carried(const Surface* surface, int triangle, TdlVec3 point, const TdlVec3* at);

// The shares of the second and the third corner at a point of a triangle, within [0, 1].
void surface_shares(const Surface* surface, int triangle, TdlVec3 point, double* u, double* v);

// The velocity of the same, where `rate` are those of the vertices. (X.34)
TdlVec3 surface_velocity(const Surface* surface, int triangle, TdlVec3 point, const TdlVec3* rate);

// The faces of a box of these half sizes: vertices[8], triangles[36].
TdlMesh surface_box_mesh(TdlVec3 half, TdlVec3* vertices, int* triangles);

// Calls `fn` with every triangle whose box meets the given one.
typedef void (*SurfaceFn)(void* user, int triangle);
void surface_each_near(const Surface* surface, SurfaceBox box, SurfaceFn fn, void* user);

// The same of those whose way in the last move may meet a box, as seen from what drifts along.
void surface_each_swept(const Surface* surface, SurfaceBox box, SurfaceFn fn, void* user);

// Whether two of its vertices are one or so near along its edges that they always touch. (X.41)
static inline bool surface_are_neighbours(const Surface* s, int a, int b) {
    for (int i = s->near_first[a]; i < s->near_first[a + 1]; ++i) {
        if (s->near[i] == b) {
            return true;
        }
    }
    return a == b;
}

SurfaceBox surface_triangle_box(const Surface* surface, int triangle);
// About the way of a triangle in the last move, as seen from what drifts along.
SurfaceBox surface_swept_box(const Surface* surface, int triangle);
bool surface_boxes_meet(const SurfaceBox* a, const SurfaceBox* b);

// Whether a point of a triangle's plane lies in the triangle, to rounding.
bool surface_covers(const Surface* surface, int triangle, TdlVec3 point);

// Whether some triangle is nearer to the point than the limit.
bool surface_is_nearer(const Surface* surface, TdlVec3 point, double limit);

// Whether something in the unit direction d from an edge or a corner has its nearest point there:
// d lies in the cone of normals. (X.31)
bool surface_edge_faces(const Surface* surface, int edge, TdlVec3 d);
bool surface_vertex_faces(const Surface* surface, int vertex, TdlVec3 d);

// The same of the sharp edges and corners on which a point lies; true where there are none.
bool surface_point_faces(const Surface* surface, TdlVec3 point, TdlVec3 d);

#endif
