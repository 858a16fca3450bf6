// Beds of grains for tests: a world, walls, and what they bear.
#ifndef TDL_TESTS_SAND_H
#define TDL_TESTS_SAND_H

#include "math/rotation.h"
#include "tendril/collider.h"
#include "tendril/grains.h"
#include "tendril/world.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Sand {
    TdlWorld* world;
    TdlBodyId grains;
    TdlStepInfo info;
    double worst_error; // of all steps
    int unsolved;
} Sand;

static inline Sand sand_world_to(double tolerance, double step, TdlVec3 gravity, double friction,
                                 int threads) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.step = step;
    def.gravity = gravity;
    def.contacts.law.mu = friction;
    def.losses = true;
    def.thread_count = threads;
    def.contacts.tolerance = tolerance;
    Sand sand = {0};
    CHECK_INT(tdl_world_create(&host, &def, &sand.world), TDL_STATUS_OK);
    return sand;
}

static inline Sand sand_world_of(double step, TdlVec3 gravity, double friction, int threads) {
    return sand_world_to(1.0e-10, step, gravity, friction, threads);
}

static inline Sand sand_world(double step, TdlVec3 gravity, double friction) {
    return sand_world_of(step, gravity, friction, 1);
}

// A plane through a point, free on the side of its normal, that moves and turns about the point.
static inline TdlBodyId sand_turning_wall(Sand* sand, TdlVec3 point, TdlVec3 normal,
                                          double friction, TdlVec3 velocity, TdlVec3 turn) {
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_PLANE;
    def.pose.position = point;
    def.velocity = velocity;
    def.angular_velocity = turn;
    TdlVec3 first = fabs(normal.x) < 0.5 ? (TdlVec3){1.0, 0.0, 0.0} : (TdlVec3){0.0, 1.0, 0.0};
    def.pose.rotation.cz = tdl_unit3(normal);
    def.pose.rotation.cy = tdl_unit3(tdl_cross3(normal, first));
    def.pose.rotation.cx = tdl_cross3(def.pose.rotation.cy, def.pose.rotation.cz);
    static int materials = 1;
    def.material = 1 + materials++ % 30;
    CHECK_INT(
        tdl_world_set_contact_law(sand->world, 0, def.material, (TdlContactLaw){friction, 0.0}),
        TDL_STATUS_OK);
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_collider(sand->world, &def, &id), TDL_STATUS_OK);
    return id;
}

static inline TdlBodyId sand_moving_wall(Sand* sand, TdlVec3 point, TdlVec3 normal, double friction,
                                         TdlVec3 velocity) {
    return sand_turning_wall(sand, point, normal, friction, velocity, (TdlVec3){0});
}

static inline TdlBodyId sand_wall(Sand* sand, TdlVec3 point, TdlVec3 normal, double friction) {
    return sand_moving_wall(sand, point, normal, friction, (TdlVec3){0});
}

// A bed in two dimensions, a box that is full.
static inline TdlGrainsDef sand_box(double spacing, TdlVec3 low, TdlVec3 high,
                                    const TdlGrainsFill* fill) {
    TdlGrainsDef def = tdl_grains_def_default();
    def.dimension = 2;
    def.per_cell = 4;
    def.spacing = spacing;
    def.low = low;
    def.high = high;
    def.fills = fill;
    def.fill_count = 1;
    return def;
}

static inline void sand_add(Sand* sand, const TdlGrainsDef* def) {
    CHECK_INT(tdl_world_add_grains(sand->world, def, &sand->grains), TDL_STATUS_OK);
}

static inline bool sand_step(Sand* sand) {
    TdlStatus status = tdl_world_step(sand->world, &sand->info);
    CHECK_INT(status, TDL_STATUS_OK);
    sand->worst_error = fmax(sand->worst_error, sand->info.error);
    sand->unsolved += sand->info.unsolved;
    return status == TDL_STATUS_OK;
}

static inline TdlGrainsParticles sand_particles(const Sand* sand) {
    TdlGrainsParticles p = {0};
    CHECK_INT(tdl_grains_particles(sand->world, sand->grains, &p), TDL_STATUS_OK);
    return p;
}

// The fastest particle, m/s.
static inline double sand_speed(const Sand* sand) {
    TdlGrainsParticles p = sand_particles(sand);
    double most = 0.0;
    for (int i = 0; i < p.count; ++i) {
        most = fmax(most, tdl_norm3(p.velocity[i]));
    }
    return most;
}

static inline TdlGrainsInfo sand_info(const Sand* sand) {
    TdlGrainsInfo info = {0};
    CHECK_INT(tdl_grains_info(sand->world, sand->grains, &info), TDL_STATUS_OK);
    return info;
}

static inline TdlVec3 sand_force(const Sand* sand, TdlBodyId body) {
    TdlWrench wrench = {0};
    CHECK_INT(tdl_body_contact_wrench(sand->world, body, &wrench), TDL_STATUS_OK);
    return wrench.force;
}

#endif
