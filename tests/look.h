// What tests look at in worlds, as values. A call that is refused fails the test and gives zero.
// Rods are asked for by id, rigid bodies and colliders by their place among those of their kind, in
// the order in which they were added, from 0.
#ifndef TDL_TEST_LOOK_H
#define TDL_TEST_LOOK_H

#include "tendril/world.h"
#include "test.h"

static inline int look_count(const TdlWorld* world, const char* kind) {
    return tdl_world_bodies(world, kind, 0, NULL);
}

static inline TdlBodyId look_body(const TdlWorld* world, const char* kind, int index) {
    TdlBodyId id = tdl_world_body(world, kind, index);
    CHECK(id.index > 0);
    return id;
}

static inline TdlRodInfo look_rod_info(const TdlWorld* world, TdlBodyId rod) {
    TdlRodInfo info = {0};
    CHECK(tdl_rod_info(world, rod, &info) == TDL_STATUS_OK);
    return info;
}

static inline TdlVec3 look_rod_point(const TdlWorld* world, TdlBodyId rod, double s) {
    TdlVec3 point = {0};
    CHECK(tdl_rod_point(world, rod, s, &point) == TDL_STATUS_OK);
    return point;
}

static inline void look_rod_points(const TdlWorld* world, TdlBodyId rod, int samples,
                                   TdlVec3* out) {
    CHECK(tdl_rod_points(world, rod, samples, out) == TDL_STATUS_OK);
}

static inline const double* look_rod_coordinates(const TdlWorld* world, TdlBodyId rod) {
    const double* q = NULL;
    CHECK(tdl_rod_coordinates(world, rod, &q) == TDL_STATUS_OK);
    return q;
}

static inline double look_rod_stability(const TdlWorld* world, TdlBodyId rod) {
    double stability = 0.0;
    CHECK(tdl_rod_stability(world, rod, &stability) == TDL_STATUS_OK);
    return stability;
}

static inline TdlRigidDef look_rigid_def(const TdlWorld* world, int index) {
    TdlRigidDef def = {0};
    CHECK(tdl_rigid_def(world, look_body(world, "rigid", index), &def) == TDL_STATUS_OK);
    return def;
}

static inline TdlPose look_rigid_pose(const TdlWorld* world, int index) {
    TdlPose pose = {0};
    CHECK(tdl_rigid_pose(world, look_body(world, "rigid", index), &pose) == TDL_STATUS_OK);
    return pose;
}

static inline TdlVec3 look_rigid_velocity(const TdlWorld* world, int index) {
    TdlVec3 v = {0}, w;
    CHECK(tdl_rigid_velocity(world, look_body(world, "rigid", index), &v, &w) == TDL_STATUS_OK);
    return v;
}

static inline TdlVec3 look_rigid_angular_velocity(const TdlWorld* world, int index) {
    TdlVec3 v, w = {0};
    CHECK(tdl_rigid_velocity(world, look_body(world, "rigid", index), &v, &w) == TDL_STATUS_OK);
    return w;
}

static inline TdlColliderDef look_collider_def(const TdlWorld* world, int index) {
    TdlColliderDef def = {0};
    CHECK(tdl_collider_def(world, look_body(world, "collider", index), &def) == TDL_STATUS_OK);
    return def;
}

static inline TdlPose look_collider_pose(const TdlWorld* world, int index) {
    TdlPose pose = {0};
    CHECK(tdl_collider_pose(world, look_body(world, "collider", index), &pose) == TDL_STATUS_OK);
    return pose;
}

static inline TdlWrench look_contact_wrench(const TdlWorld* world, const char* kind, int index) {
    TdlWrench wrench = {0};
    CHECK(tdl_body_contact_wrench(world, look_body(world, kind, index), &wrench) == TDL_STATUS_OK);
    return wrench;
}

#endif
