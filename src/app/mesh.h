// Triangle meshes of simple bodies, for pictures and for other programs: everything Tendril shows
// that is not a bare line is put together from these few shapes.
#ifndef TDL_APP_MESH_H
#define TDL_APP_MESH_H

#include "tendril/world.h"

// All zero is an empty mesh; mesh_destroy frees what it holds.
typedef struct Mesh {
    TdlVec3 *points, *normals; // [point_count]; normals have length 1 and point outwards
    int (*triangles)[3];       // [triangle_count], counterclockwise seen from outside
    int point_count, triangle_count;
    int point_capacity, triangle_capacity;
    bool failed; // memory ran out: the mesh lacks something
} Mesh;

void mesh_destroy(Mesh* mesh);
void mesh_clear(Mesh* mesh); // keeps the memory

// A tube of `sides` sides along a polyline, with round ends or flat ones. Points that coincide with
// their neighbour are passed over; of a single point only round ends remain: a sphere.
void mesh_add_tube(Mesh* mesh, const TdlVec3* points, int count, double radius, int sides,
                   bool round);
void mesh_add_sphere(Mesh* mesh, TdlVec3 centre, double radius);

// A pipe about the first axis, its middle at the origin.
void mesh_add_pipe(Mesh* mesh, double length, double radius, double inner);

// A box about `centre` with the given half edges, which need not be orthogonal; one of them zero
// makes a rectangle seen from both sides.
void mesh_add_box(Mesh* mesh, TdlVec3 centre, TdlVec3 a, TdlVec3 b, TdlVec3 c);

// A disc, seen from both sides.
void mesh_add_disc(Mesh* mesh, TdlVec3 centre, TdlVec3 normal, double radius);

// A ring of tube `radius` about a disc of radius `size`.
void mesh_add_torus(Mesh* mesh, TdlVec3 centre, TdlVec3 normal, double size, double radius);

// Triangles from elsewhere. Normals run smoothly over edges that turn by less than 30 degrees; at
// others, points are doubled.
void mesh_add_triangles(Mesh* mesh, const TdlMesh* from);

// The same with a point for each vertex, in their order, and normals that run smoothly over every
// edge: what moves keeps its points.
void mesh_add_sheet(Mesh* mesh, const TdlMesh* from);

void mesh_append(Mesh* mesh, const Mesh* other);

// Moves what was added since the mesh had `from` points.
void mesh_place(Mesh* mesh, int from, TdlPose pose);

#endif
