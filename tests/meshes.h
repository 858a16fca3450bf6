// Closed meshes for tests, made in place.
#ifndef TDL_TEST_MESHES_H
#define TDL_TEST_MESHES_H

#include "body/surface.h"
#include "tendril/motion.h"
#include "test.h"

#include <stdlib.h>

// Freed with free_mesh of things.h, or by hand.
static inline TdlMesh mesh_of(const TdlVec3* v, int vertices, const int* t, int triangles) {
    TdlVec3* vertex = calloc((size_t)vertices, sizeof *vertex);
    int* corner = calloc(3 * (size_t)triangles, sizeof *corner);
    memcpy(vertex, v, (size_t)vertices * sizeof *vertex);
    memcpy(corner, t, 3 * (size_t)triangles * sizeof *corner);
    return (TdlMesh){vertex, vertices, corner, triangles};
}

static inline TdlMesh make_box_mesh(TdlVec3 half, TdlVec3 at) {
    TdlVec3 vertices[8];
    int triangles[36];
    surface_box_mesh(half, vertices, triangles);
    for (int i = 0; i < 8; ++i) {
        vertices[i] = tdl_add3(vertices[i], at);
    }
    return mesh_of(vertices, 8, triangles, 12);
}

// An octahedron whose triangles are cut in four `levels` times, its corners on a sphere.
static inline TdlMesh make_sphere_mesh(double radius, int levels) {
    static const TdlVec3 TIPS[6] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                    {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    int side = 1 << levels, count = 8 * side * side, n = 0;
    TdlVec3* v = calloc(3 * (size_t)count, sizeof *v); // each triangle has its own corners
    int* t = calloc(3 * (size_t)count, sizeof *t);
    for (int octant = 0; octant < 8; ++octant) {
        TdlVec3 a = TIPS[octant & 1], b = TIPS[2 + (octant >> 1 & 1)], c = TIPS[4 + (octant >> 2)];
        bool flip = tdl_dot3(a, tdl_cross3(b, c)) < 0.0;
        for (int i = 0; i < side; ++i) {
            for (int k = 0; k < 2 * (side - i) - 1; ++k) {
                int j = k / 2, up = k % 2;
                const int at[3][2] = {{i + up, j + (up ? 0 : 0)}, {i + 1, j + up}, {i, j + 1}};
                for (int corner = 0; corner < 3; ++corner) {
                    // the three corners agree to the bit with those of the triangles beside
                    double x = at[corner][0], y = at[corner][1], z = side - x - y;
                    TdlVec3 p = {a.x * x, b.y * y, c.z * z};
                    int which = flip ? 2 - corner : corner;
                    v[n + which] = tdl_scale3(radius / tdl_norm3(p), p);
                    t[n + which] = n + which;
                }
                n += 3;
            }
        }
    }
    return (TdlMesh){v, 3 * count, t, count};
}

// A hook: an L of unit thickness, which is not convex: 2 along x, 3 along z.
static inline TdlMesh make_hook_mesh(double size, double thickness) {
    static const double OUTLINE[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 3}, {0, 3}};
    static const int FACES[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
    TdlVec3 v[12];
    int t[60], n = 0;
    for (int i = 0; i < 12; ++i) {
        v[i] = (TdlVec3){size * OUTLINE[i % 6][0], i < 6 ? -0.5 * thickness : 0.5 * thickness,
                         size * OUTLINE[i % 6][1]};
    }
    for (int f = 0; f < 4; ++f) {
        for (int k = 0; k < 3; ++k) {
            t[n + k] = FACES[f][k];
            t[n + 3 + k] = 6 + FACES[f][2 - k];
        }
        n += 6;
    }
    for (int i = 0; i < 6; ++i) {
        int j = (i + 1) % 6;
        const int six[6] = {i, i + 6, j, j, i + 6, j + 6};
        memcpy(t + n, six, sizeof six);
        n += 6;
    }
    return mesh_of(v, 12, t, 20);
}

#endif
