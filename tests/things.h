// Things that tests put into worlds.
#ifndef TDL_TEST_THINGS_H
#define TDL_TEST_THINGS_H

#include "tendril/world.h"
#include "test.h"

#include <stdlib.h>

static inline void add_sphere(TdlWorld* world, double radius, TdlVec3 at, TdlVec3 velocity) {
    TdlRigidDef def = tdl_rigid_def_default();
    TdlBodyId id;
    def.shape = TDL_RIGID_SPHERE;
    def.radius = radius;
    def.pose.position = at;
    def.velocity = velocity;
    REQUIRE(tdl_world_add_rigid(world, &def, &id) == TDL_STATUS_OK);
}

static inline void add_box(TdlWorld* world, TdlVec3 half, double radius, TdlPose pose,
                           TdlVec3 velocity) {
    TdlRigidDef def = tdl_rigid_def_default();
    TdlBodyId id;
    def.shape = TDL_RIGID_BOX;
    def.half = half;
    def.radius = radius;
    def.pose = pose;
    def.velocity = velocity;
    REQUIRE(tdl_world_add_rigid(world, &def, &id) == TDL_STATUS_OK);
}

// Free, along x from its start.
static inline void add_rod(TdlWorld* world, double length, double radius, int elements,
                           TdlVec3 start, TdlVec3 curvature) {
    TdlRodDef def = tdl_rod_def_default();
    TdlBodyId id;
    def.length = length;
    def.radius[0] = def.radius[1] = radius;
    def.element_count = elements;
    def.start = TDL_HOLD_FREE;
    def.clamp.position = start;
    def.curvature = curvature;
    REQUIRE(tdl_world_add_rod(world, &def, &id) == TDL_STATUS_OK);
}

static inline void add_floor(TdlWorld* world) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_PLANE;
    REQUIRE(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
}

// Whether bodies of two kinds push each other, either way round.
static inline bool kinds_touch(const TdlWorld* world, const char* a, const char* b) {
    int count;
    const TdlContactForce* f = tdl_world_contact_forces(world, &count);
    for (int i = 0; i < count; ++i) {
        const char *x = tdl_body_kind(world, f[i].body[0]), *y = tdl_body_kind(world, f[i].body[1]);
        bool same = (!strcmp(x, a) && !strcmp(y, b)) || (!strcmp(x, b) && !strcmp(y, a));
        if (same && tdl_norm3(f[i].force) > 0.0) {
            return true;
        }
    }
    return false;
}

// Steps that are done in one part each.
static inline void run_steps(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        TdlStepInfo info;
        if (tdl_world_step(world, &info) != TDL_STATUS_OK || info.substeps != 1) {
            FAIL("step %d failed or was split", i);
            return;
        }
    }
}

// A square of `cells` by `cells` cells of two triangles, in the plane z = 0, about the origin.
static inline TdlMesh make_grid(int cells, double side) {
    int n = cells + 1, k = 0;
    TdlVec3* v = calloc((size_t)(n * n), sizeof *v);
    int* t = calloc((size_t)(6 * cells * cells), sizeof *t);
    for (int i = 0; i < n * n; ++i) {
        v[i] = (TdlVec3){side * ((double)(i % n) / cells - 0.5),
                         side * ((double)(i / n) / cells - 0.5), 0.0};
    }
    for (int i = 0; i < cells * cells; ++i) {
        int a = i % cells + n * (i / cells);
        const int six[6] = {a, a + 1, a + n + 1, a, a + n + 1, a + n};
        for (int j = 0; j < 6; ++j) {
            t[k++] = six[j];
        }
    }
    return (TdlMesh){v, n * n, t, 2 * cells * cells};
}

static inline void free_mesh(TdlMesh mesh) {
    free((void*)mesh.vertices);
    free((void*)mesh.triangles);
}

#endif
