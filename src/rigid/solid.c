// What closed meshes enclose: whether there is an inside, and its mass as sums over tetrahedra, in
// O(n log n). docs/theory/rigid.md, section 1
#include "rigid/shape.h"

#include "body/surface.h"

// Enclosed volume over area times size below which it is what rounding left of none.
static const double NO_VOLUME = 1.0e-12;

// Volume, first and second moments of volume, from a point of the mesh. (B.14)
typedef struct SolidSums {
    TdlVec3 from, first;
    TdlMat3 second;
    double volume, area;
} SolidSums;

static SolidSums sum_solid(const TdlMesh* mesh) {
    SolidSums sum = {.from = mesh->vertices[mesh->triangles[0]]};
    for (int f = 0; f < mesh->triangle_count; ++f) {
        TdlVec3 p[3];
        for (int k = 0; k < 3; ++k) {
            p[k] = tdl_sub3(mesh->vertices[mesh->triangles[3 * (size_t)f + (size_t)k]], sum.from);
        }
        TdlVec3 all = tdl_add3(tdl_add3(p[0], p[1]), p[2]);
        TdlVec3 across = tdl_cross3(tdl_sub3(p[1], p[0]), tdl_sub3(p[2], p[0]));
        double volume = tdl_dot3(p[0], tdl_cross3(p[1], p[2])) / 6.0;
        TdlMat3 square = tdl_outer3(all, all);
        for (int k = 0; k < 3; ++k) {
            square = tdl_add33(square, tdl_outer3(p[k], p[k]));
        }
        sum.volume += volume;
        sum.area += 0.5 * tdl_norm3(across);
        sum.first = tdl_axpy3(sum.first, 0.25 * volume, all);
        sum.second = tdl_axpy33(sum.second, 0.05 * volume, square);
    }
    return sum;
}

RigidMass solid_mass(const TdlMesh* mesh, double density) {
    SolidSums sum = sum_solid(mesh);
    TdlVec3 centre = tdl_scale3(1.0 / sum.volume, sum.first);
    TdlMat3 second = tdl_axpy33(sum.second, -sum.volume, tdl_outer3(centre, centre));
    return (RigidMass){density * sum.volume, tdl_add3(sum.from, centre),
                       rigid_inertia_of(tdl_scale33(density, second))};
}

double solid_thickness(const TdlMesh* mesh) {
    SolidSums sum = sum_solid(mesh);
    return sum.volume / sum.area;
}

// An edge that does not join two triangles which pass it in opposite ways.
static const char* find_gap(const Surface* s, int* triangle) {
    for (int e = 0; e < s->edge_count; ++e) {
        const SurfaceEdge* edge = &s->edge[e];
        const int* side = s->edge_side + edge->first;
        *triangle = side[0] / 3;
        if (edge->count == 1) {
            return "mesh must be closed: nothing joins a side of this triangle";
        }
        if (edge->count > 2) {
            return "mesh must be closed: more than two triangles join at a side of this one";
        }
        if (s->corner[side[0]] == s->corner[side[1]]) {
            return "mesh must be closed: a triangle beside this one faces the other way";
        }
    }
    *triangle = -1;
    return NULL;
}

TdlStatus solid_check(const TdlHost* host, const TdlMesh* mesh, const char** fault, int* triangle) {
    *triangle = -1;
    Surface* surface = NULL;
    TdlStatus status = surface_create(host, mesh, &(VertexMotion){0}, 0.0, &surface);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    *fault = surface->closed ? NULL : find_gap(surface, triangle);
    if (*fault == NULL) {
        SolidSums sum = sum_solid(mesh);
        double least = NO_VOLUME * sum.area * surface->size;
        *fault = sum.volume < -least   ? "mesh is inside out: its normals point inwards"
                 : sum.volume <= least ? "mesh must have a volume"
                                       : NULL;
    }
    surface_destroy(host, surface);
    return TDL_STATUS_OK;
}

const char* tdl_solid_fault(const TdlHost* host, const TdlMesh* mesh, int* triangle) {
    const char* fault = NULL;
    TdlStatus status = solid_check(host, mesh, &fault, triangle);
    return status == TDL_STATUS_OK ? fault : tdl_status_string(status);
}
