// What is checked of every body that points see: signs, feet, that no place is nearer, slopes.
#ifndef TDL_TEST_NEAR_CHECKS_H
#define TDL_TEST_NEAR_CHECKS_H

#include "base/rng.h"
#include "body/body.h"
#include "detect/near_point.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"
#include "things.h"

enum { NEAR_SEED = 20261119, NEAR_FEET = 600 };

static const TdlVec3 NEAR_TURN = {0.3, -1.1, 0.7};

typedef struct Scene {
    TdlHost host;
    TdlWorld* world;
    Body* body;
    PointSeer* seer;
    TdlVec3 low, high; // where points are put
} Scene;

static inline TdlWorld* near_world(void) {
    static bool told;
    if (!told) {
        printf("  seed %d\n", NEAR_SEED);
        told = true;
    }
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world = NULL;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    return world;
}

// Sees a body of the world, in a box that is as large again; of an endless one `size` about it.
static inline Scene near_scene(TdlWorld* world, TdlBodyId id, double size) {
    Scene s = {
        .host = tdl_host_default(), .world = world, .body = world_find_body(world, id, NULL)};
    if (s.body == NULL || point_seer_create(&s.host, s.body, &s.seer) != TDL_STATUS_OK) {
        abort();
    }
    point_seer_box(s.seer, &s.low, &s.high);
    TdlVec3 half = tdl_scale3(0.5, tdl_sub3(s.high, s.low)), middle = tdl_axpy3(s.low, 1.0, half);
    if (!tdl_finite3(half)) {
        middle = body_pose(s.body).position;
        half = (TdlVec3){size, size, size};
    }
    half = tdl_axpy3(tdl_scale3(1.2, half), 0.3, (TdlVec3){size, size, size});
    s.low = tdl_sub3(middle, half);
    s.high = tdl_add3(middle, half);
    return s;
}

static inline void near_free(Scene* s) {
    point_seer_destroy(s->seer);
    tdl_world_destroy(s->world);
}

static inline TdlVec3 near_random(const Scene* s, Rng* rng) {
    return (TdlVec3){rng_range(rng, s->low.x, s->high.x), rng_range(rng, s->low.y, s->high.y),
                     rng_range(rng, s->low.z, s->high.z)};
}

static inline double near_gap(const Scene* s, TdlVec3 p) {
    NearPoint near;
    return point_seer_find(s->seer, p, INFINITY, &near) ? near.gap : NAN;
}

static inline TdlVec3 near_normal(const Scene* s, TdlVec3 p) {
    NearPoint near;
    return point_seer_find(s->seer, p, INFINITY, &near) ? near.normal : (TdlVec3){NAN, NAN, NAN};
}

static inline TdlVec3 in_frame(const Scene* s, TdlVec3 p) {
    TdlPose pose = body_pose(s->body);
    return tdl_tmul33_3(pose.rotation, tdl_sub3(p, pose.position));
}

// --- the checks
// -----------------------------------------------------------------------------------

// Negative inside and positive outside, in the body's frame; 0 where it is not sure.
typedef double (*NearLevel)(const Scene* s, TdlVec3 own);

// `exact`: also inside the gap is the distance from the surface.
static inline void check_distance(const Scene* s, NearLevel level, double tolerance, bool exact) {
    Rng rng = rng_seed(NEAR_SEED);
    TdlVec3 feet[NEAR_FEET], points[NEAR_FEET];
    double gaps[NEAR_FEET];
    int count = 0;
    while (count < NEAR_FEET) {
        TdlVec3 p = near_random(s, &rng);
        NearPoint near;
        if (!point_seer_find(s->seer, p, INFINITY, &near)) {
            FAIL("seed %d: nothing is near (%g %g %g)", NEAR_SEED, p.x, p.y, p.z);
            return;
        }
        CHECK_NEAR(tdl_norm3(near.normal), 1.0, 1.0e-12);
        double sign = level(s, in_frame(s, p));
        CHECK(sign == 0.0 || (sign < 0.0) == (near.gap < 0.0));
        points[count] = p;
        gaps[count] = near.gap;
        feet[count++] = tdl_axpy3(p, near.gap, near.normal);
    }
    for (int i = 0; i < count; ++i) { // the foot is on the surface, and none is nearer
        if (gaps[i] >= 0.0 || exact) {
            CHECK_NEAR(near_gap(s, feet[i]), 0.0, tolerance);
        }
        for (int j = 0; j < count; j += 7) {
            if (gaps[j] >= 0.0 || exact) {
                double d = tdl_norm3(tdl_sub3(points[i], feet[j]));
                CHECK(fabs(gaps[i]) <= d + tolerance);
            }
        }
    }
}

// The normal against differences of three sizes, where no border is near. Differences fall with
// their square until roundings; where the surface's bend jumps, with their size.
static inline void check_slope(const Scene* s, double size) {
    Rng rng = rng_seed(NEAR_SEED + 1);
    int bad = 0, all = 0;
    for (int i = 0; i < 300; ++i) {
        TdlVec3 p = near_random(s, &rng),
                d = tdl_unit3((TdlVec3){rng_normal(&rng), rng_normal(&rng), rng_normal(&rng)});
        double slope = -tdl_dot3(near_normal(s, p), d), error[3], h = 0.01 * size;
        TdlVec3 turn =
            tdl_sub3(near_normal(s, tdl_axpy3(p, h, d)), near_normal(s, tdl_axpy3(p, -h, d)));
        if (tdl_norm3(turn) > 0.2) {
            continue; // across a border, where another place is nearest
        }
        for (int k = 0; k < 3; ++k, h *= 0.1) {
            double rise = near_gap(s, tdl_axpy3(p, h, d)) - near_gap(s, tdl_axpy3(p, -h, d));
            error[k] = fabs(0.5 * rise / h - slope);
        }
        ++all;
        bool second = error[1] <= 0.02 * error[0] + 1.0e-9 && error[2] <= 0.02 * error[1] + 1.0e-8;
        bad += !second;
        CHECK(error[2] <= 1.0e-4);
    }
    CHECK(all > 150);
    if (bad * 10 > all) {
        FAIL("seed %d: %d of %d slopes are not of second order", NEAR_SEED, bad, all);
    }
}

// What is nearer than the reach is told, and nothing else, with the same gap.
static inline void check_reach(const Scene* s, double size) {
    Rng rng = rng_seed(NEAR_SEED + 2);
    for (int i = 0; i < 300; ++i) {
        TdlVec3 p = near_random(s, &rng);
        double gap = near_gap(s, p), reach = rng_range(&rng, 0.0, size);
        NearPoint near;
        bool found = point_seer_find(s->seer, p, reach, &near);
        CHECK_INT(found, gap < reach);
        if (found) {
            CHECK(near.gap == gap);
        }
    }
}

static inline void check_push(const Scene* s, double size, double least) {
    Rng rng = rng_seed(NEAR_SEED + 3);
    int moved = 0, out = 0;
    for (int i = 0; i < 300; ++i) {
        TdlVec3 p = near_random(s, &rng), at = p;
        double keep = rng_range(&rng, 0.0, 0.1 * size), gap = near_gap(s, p);
        bool done = point_seer_push(s->seer, keep, &at);
        if (done) {
            CHECK(near_gap(s, at) >= keep - 1.0e-8 * size);
        }
        CHECK(done || tdl_norm3(tdl_sub3(at, p)) == 0.0);
        CHECK(gap < keep || tdl_norm3(tdl_sub3(at, p)) == 0.0);
        moved += gap < keep;
        out += gap < keep && done;
    }
    CHECK(out >= least * moved);
}

// Where any unit vector will do as normal.
static inline void check_point(const Scene* s, TdlVec3 own, double gap) {
    TdlPose pose = body_pose(s->body);
    TdlVec3 p = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, own));
    CHECK_NEAR(near_gap(s, p), gap, 1.0e-11);
    CHECK_NEAR(tdl_norm3(near_normal(s, p)), 1.0, 1.0e-12);
}

static inline void check_all(Scene* s, NearLevel level, double size, bool exact) {
    check_distance(s, level, 1.0e-10 * size, exact);
    check_slope(s, size);
    check_reach(s, size);
    check_push(s, size, exact ? 1.0 : 0.9);
}

#endif
