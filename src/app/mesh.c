// Meshes of tubes, spheres, boxes, discs, rings and of others. Tubes and spheres are rings of
// points: a sphere is a tube of no length with round ends. The frames of a tube's rings are carried
// along it without twist, so its sides do not wind.
#include "app/mesh.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SPHERE_SIDES = 48, CAP_RINGS = 12, DISC_SIDES = 96, TORUS_SIDES = 16 };

static const double CREASE_COSINE = 0.866;

void mesh_destroy(Mesh* mesh) {
    free(mesh->points);
    free(mesh->normals);
    free(mesh->triangles);
    *mesh = (Mesh){0};
}

void mesh_clear(Mesh* mesh) {
    mesh->point_count = 0;
    mesh->triangle_count = 0;
    mesh->failed = false;
}

static int grown(int capacity) {
    return capacity == 0 ? 256 : capacity > INT_MAX / 2 ? INT_MAX : 2 * capacity;
}

static int add_point(Mesh* mesh, TdlVec3 point, TdlVec3 normal) {
    if (mesh->point_count == mesh->point_capacity) {
        int capacity = grown(mesh->point_capacity);
        TdlVec3* points = realloc(mesh->points, (size_t)capacity * sizeof *points);
        mesh->points = points != NULL ? points : mesh->points;
        TdlVec3* normals = realloc(mesh->normals, (size_t)capacity * sizeof *normals);
        mesh->normals = normals != NULL ? normals : mesh->normals;
        if (points == NULL || normals == NULL || capacity == mesh->point_capacity) {
            mesh->failed = true;
            return 0;
        }
        mesh->point_capacity = capacity;
    }
    mesh->points[mesh->point_count] = point;
    mesh->normals[mesh->point_count] = normal;
    return mesh->point_count++;
}

static void add_triangle(Mesh* mesh, int a, int b, int c) {
    if (mesh->triangle_count == mesh->triangle_capacity) {
        int capacity = grown(mesh->triangle_capacity);
        int(*triangles)[3] = realloc(mesh->triangles, (size_t)capacity * sizeof *triangles);
        if (triangles == NULL || capacity == mesh->triangle_capacity) {
            mesh->failed = true;
            return;
        }
        mesh->triangles = triangles;
        mesh->triangle_capacity = capacity;
    }
    if (!mesh->failed) {
        int* corners = mesh->triangles[mesh->triangle_count++];
        corners[0] = a;
        corners[1] = b;
        corners[2] = c;
    }
}

static TdlVec3 unit(TdlVec3 a) {
    double length = tdl_norm3(a);
    return length > 0.0 ? tdl_scale3(1.0 / length, a) : (TdlVec3){1.0, 0.0, 0.0};
}

// A direction across `axis`, as near as may be to `wanted`.
static TdlVec3 across(TdlVec3 axis, TdlVec3 wanted) {
    TdlVec3 side = tdl_axpy3(wanted, -tdl_dot3(wanted, axis), axis);
    if (tdl_norm3(side) < 1.0e-6) {
        TdlVec3 other = fabs(axis.x) < 0.6 ? (TdlVec3){1.0, 0.0, 0.0} : (TdlVec3){0.0, 1.0, 0.0};
        side = tdl_axpy3(other, -tdl_dot3(other, axis), axis);
    }
    return unit(side);
}

// A ring about `axis` whose normals lean by `latitude` towards it. Joins it to the ring before.
static void add_ring(Mesh* mesh, TdlVec3 centre, TdlVec3 axis, TdlVec3 side, double radius,
                     double latitude, int sides, bool join) {
    TdlVec3 other = tdl_cross3(axis, side);
    int first = mesh->point_count;
    for (int k = 0; k < sides; ++k) {
        double angle = 2.0 * 3.14159265358979323846 * k / sides;
        TdlVec3 out = tdl_axpy3(tdl_scale3(cos(angle), side), sin(angle), other);
        TdlVec3 normal = tdl_axpy3(tdl_scale3(cos(latitude), out), sin(latitude), axis);
        add_point(mesh, tdl_axpy3(centre, radius, out), normal);
    }
    for (int k = 0; k < sides && join; ++k) {
        int a = first - sides + k, b = first - sides + (k + 1) % sides;
        add_triangle(mesh, a, b, b + sides);
        add_triangle(mesh, a, b + sides, a + sides);
    }
}

// A hemisphere (round) or a disc that ends a tube: at its start (from the pole) or its end.
static void add_cap(Mesh* mesh, TdlVec3 centre, TdlVec3 axis, TdlVec3 side, double radius,
                    int sides, bool round, bool at_end) {
    const double quarter = 0.5 * 3.14159265358979323846;
    if (!round) { // sharp: rings of their own
        TdlVec3 pole = centre;
        add_ring(mesh, at_end ? centre : pole, axis, side, at_end ? radius : 0.0,
                 at_end ? quarter : -quarter, sides, false);
        add_ring(mesh, centre, axis, side, at_end ? 0.0 : radius, at_end ? quarter : -quarter,
                 sides, true);
        return;
    }
    int rings = sides > 8 ? CAP_RINGS : 2;
    for (int k = at_end ? 1 : 0; k <= (at_end ? rings : rings - 1); ++k) {
        double latitude = quarter * k / rings - (at_end ? 0.0 : quarter);
        add_ring(mesh, tdl_axpy3(centre, radius * sin(latitude), axis), axis, side,
                 radius * cos(latitude), latitude, sides, at_end || k > 0);
    }
}

void mesh_add_tube(Mesh* mesh, const TdlVec3* points, int count, double radius, int sides,
                   bool round) {
    TdlVec3 before = {0}, side = {0.0, 0.0, 1.0}, axis = {1.0, 0.0, 0.0};
    bool begun = false;
    for (int i = 0; i < count; ++i) {
        // the tangent is the mean of the directions to the neighbours apart from this point
        TdlVec3 here = points[i], ahead = {0}, back = begun ? tdl_sub3(here, before) : ahead;
        if (begun && tdl_norm3(back) == 0.0) {
            continue;
        }
        for (int k = i + 1; k < count && tdl_norm3(ahead) == 0.0; ++k) {
            ahead = tdl_sub3(points[k], here);
        }
        bool last = tdl_norm3(ahead) == 0.0;
        TdlVec3 sum = tdl_add3(begun ? unit(back) : back, last ? ahead : unit(ahead));
        axis = tdl_norm3(sum) > 1.0e-9 ? unit(sum) : begun ? unit(back) : axis;
        side = across(axis, side);
        if (!begun) {
            add_cap(mesh, here, axis, side, radius, sides, round, false);
        }
        add_ring(mesh, here, axis, side, radius, 0.0, sides, begun || round);
        if (last) {
            add_cap(mesh, here, axis, side, radius, sides, round, true);
            return;
        }
        before = here;
        begun = true;
    }
}

void mesh_add_sphere(Mesh* mesh, TdlVec3 centre, double radius) {
    mesh_add_tube(mesh, &centre, 1, radius, SPHERE_SIDES, true);
}

void mesh_add_pipe(Mesh* mesh, double length, double radius, double inner) {
    TdlVec3 vertex[4 * DISC_SIDES];
    int corner[24 * DISC_SIDES], n = 0;
    for (int k = 0; k < DISC_SIDES; ++k) {
        double angle = 2.0 * 3.14159265358979323846 * k / DISC_SIDES;
        for (int i = 0; i < 4; ++i) { // round its section: out, out, in, in
            double x = i == 0 || i == 3 ? -0.5 * length : 0.5 * length, r = i < 2 ? radius : inner;
            vertex[4 * k + i] = (TdlVec3){x, r * cos(angle), r * sin(angle)};
        }
        for (int i = 0; i < 4; ++i) {
            int a = 4 * k + i, b = 4 * k + (i + 1) % 4, next = 4 * ((k + 1) % DISC_SIDES) - 4 * k;
            const int six[6] = {a, a + next, b, b, a + next, b + next};
            memcpy(corner + n, six, sizeof six);
            n += 6;
        }
    }
    TdlMesh from = {vertex, 4 * DISC_SIDES, corner, 8 * DISC_SIDES};
    mesh_add_triangles(mesh, &from);
}

// One face, spanned by half edges a and b; a x b points outwards.
static void add_face(Mesh* mesh, TdlVec3 centre, TdlVec3 a, TdlVec3 b) {
    TdlVec3 normal = unit(tdl_cross3(a, b));
    int first = mesh->point_count;
    for (int k = 0; k < 4; ++k) {
        double s = k == 1 || k == 2 ? 1.0 : -1.0, t = k >= 2 ? 1.0 : -1.0;
        add_point(mesh, tdl_axpy3(tdl_axpy3(centre, s, a), t, b), normal);
    }
    add_triangle(mesh, first, first + 1, first + 2);
    add_triangle(mesh, first, first + 2, first + 3);
}

void mesh_add_box(Mesh* mesh, TdlVec3 centre, TdlVec3 a, TdlVec3 b, TdlVec3 c) {
    const TdlVec3 edges[] = {a, b, c};
    double hand = tdl_dot3(a, tdl_cross3(b, c)) < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 3; ++k) {
        TdlVec3 out = edges[k], u = edges[(k + 1) % 3], v = tdl_scale3(hand, edges[(k + 2) % 3]);
        if (tdl_norm3(tdl_cross3(u, v)) > 0.0) {
            add_face(mesh, tdl_add3(centre, out), u, v);
            add_face(mesh, tdl_sub3(centre, out), v, u);
        }
    }
}

void mesh_add_disc(Mesh* mesh, TdlVec3 centre, TdlVec3 normal, double radius) {
    TdlVec3 axis = unit(normal), side = across(axis, (TdlVec3){1.0, 0.0, 0.0});
    add_cap(mesh, centre, axis, side, radius, DISC_SIDES, false, true);
    add_cap(mesh, centre, axis, side, radius, DISC_SIDES, false, false);
}

void mesh_add_torus(Mesh* mesh, TdlVec3 centre, TdlVec3 normal, double size, double radius) {
    TdlVec3 axis = unit(normal), side = across(axis, (TdlVec3){1.0, 0.0, 0.0});
    TdlVec3 other = tdl_cross3(axis, side);
    for (int k = 0; k <= DISC_SIDES; ++k) {
        double angle = 2.0 * 3.14159265358979323846 * k / DISC_SIDES;
        TdlVec3 out = tdl_axpy3(tdl_scale3(cos(angle), side), sin(angle), other);
        add_ring(mesh, tdl_axpy3(centre, size, out), tdl_cross3(axis, out), out, radius, 0.0,
                 TORUS_SIDES, k > 0);
    }
}

// Twice the area of a triangle along its normal.
static TdlVec3 area_of(const TdlMesh* from, int triangle) {
    const int* corner = from->triangles + 3 * (size_t)triangle;
    TdlVec3 a = from->vertices[corner[0]];
    return tdl_cross3(tdl_sub3(from->vertices[corner[1]], a),
                      tdl_sub3(from->vertices[corner[2]], a));
}

// The triangles at each vertex: out[first[v]] to out[first[v + 1] - 1].
static void list_triangles(const TdlMesh* from, int* first, int* out) {
    int corners = 3 * from->triangle_count;
    memset(first, 0, ((size_t)from->vertex_count + 2) * sizeof *first);
    for (int i = 0; i < corners; ++i) {
        ++first[from->triangles[i] + 2];
    }
    for (int v = 0; v < from->vertex_count; ++v) {
        first[v + 2] += first[v + 1];
    }
    for (int i = 0; i < corners; ++i) {
        out[first[from->triangles[i] + 1]++] = i / 3;
    }
}

// The mean normal about a corner of the triangles there that are hardly turned against its own.
static TdlVec3 smooth_normal(const TdlMesh* from, int triangle, const int* about, int count) {
    TdlVec3 own = unit(area_of(from, triangle)), sum = {0};
    for (int k = 0; k < count; ++k) {
        TdlVec3 area = area_of(from, about[k]);
        if (tdl_dot3(own, area) >= CREASE_COSINE * tdl_norm3(area)) {
            sum = tdl_add3(sum, area);
        }
    }
    return unit(sum);
}

// The point at a vertex with that normal, old or new. `last` is the vertex's newest point, `before`
// leads from each point to the one made before it.
static int find_point(Mesh* mesh, TdlVec3 at, TdlVec3 normal, int* last, int* before, int first) {
    for (int i = *last; i >= 0; i = before[i]) {
        if (tdl_norm3(tdl_sub3(mesh->normals[first + i], normal)) < 1.0e-6) {
            return first + i;
        }
    }
    int made = mesh->point_count - first;
    add_point(mesh, at, normal);
    before[made] = *last;
    *last = made;
    return first + made;
}

void mesh_add_triangles(Mesh* mesh, const TdlMesh* from) {
    size_t vertices = (size_t)from->vertex_count, corners = 3 * (size_t)from->triangle_count;
    int* first = malloc((vertices + 2) * sizeof *first);
    int* about = malloc((corners + 1) * sizeof *about);
    int* last = malloc((vertices + 1) * sizeof *last);
    int* before = malloc((corners + 1) * sizeof *before);
    int start = mesh->point_count;
    mesh->failed = mesh->failed || !first || !about || !last || !before;
    if (!mesh->failed) {
        list_triangles(from, first, about);
        for (size_t v = 0; v < vertices; ++v) {
            last[v] = -1;
        }
    }
    for (int f = 0; f < from->triangle_count && !mesh->failed; ++f) {
        int point[3];
        for (int k = 0; k < 3 && !mesh->failed; ++k) {
            int v = from->triangles[3 * f + k];
            TdlVec3 normal = smooth_normal(from, f, about + first[v], first[v + 1] - first[v]);
            point[k] = find_point(mesh, from->vertices[v], normal, &last[v], before, start);
        }
        if (!mesh->failed) {
            add_triangle(mesh, point[0], point[1], point[2]);
        }
    }
    free(first);
    free(about);
    free(last);
    free(before);
}

void mesh_add_sheet(Mesh* mesh, const TdlMesh* from) {
    int first = mesh->point_count;
    for (int i = 0; i < from->vertex_count; ++i) {
        add_point(mesh, from->vertices[i], (TdlVec3){0});
    }
    for (int f = 0; f < from->triangle_count && !mesh->failed; ++f) {
        const int* t = from->triangles + 3 * (size_t)f;
        TdlVec3 a = from->vertices[t[0]];
        // as long as twice the area: large triangles count for more
        TdlVec3 n =
            tdl_cross3(tdl_sub3(from->vertices[t[1]], a), tdl_sub3(from->vertices[t[2]], a));
        for (int k = 0; k < 3; ++k) {
            mesh->normals[first + t[k]] = tdl_add3(mesh->normals[first + t[k]], n);
        }
        add_triangle(mesh, first + t[0], first + t[1], first + t[2]);
    }
    for (int i = first; i < mesh->point_count; ++i) {
        mesh->normals[i] = unit(mesh->normals[i]);
    }
}

void mesh_append(Mesh* mesh, const Mesh* other) {
    int first = mesh->point_count;
    for (int i = 0; i < other->point_count; ++i) {
        add_point(mesh, other->points[i], other->normals[i]);
    }
    for (int i = 0; i < other->triangle_count; ++i) {
        const int* t = other->triangles[i];
        add_triangle(mesh, first + t[0], first + t[1], first + t[2]);
    }
}

void mesh_place(Mesh* mesh, int from, TdlPose pose) {
    for (int i = from; i < mesh->point_count; ++i) {
        mesh->points[i] = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, mesh->points[i]));
        mesh->normals[i] = tdl_mul33_3(pose.rotation, mesh->normals[i]);
    }
}
