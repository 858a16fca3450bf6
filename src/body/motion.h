// Scripted motion: where a placed thing is at a time.
#ifndef TDL_BODY_MOTION_H
#define TDL_BODY_MOTION_H

#include "base/memory.h"
#include "body/time_fn.h"
#include "tendril/motion.h"

struct Body;

// Velocity of a rigid motion, at the point it is said of; world axes.
typedef struct Twist {
    TdlVec3 linear, angular; // m/s, rad/s
} Twist;

// The mean one between two poses.
Twist twist_between(TdlPose from, TdlPose to, double dt);

typedef struct Motion {
    TdlKeyframe* keys; // null: none
    int key_count;
    TdlInterpolation interpolation;
    bool about_point;                   // the turning of the keys is about a point
    TdlVec3 about;                      // m
    TdlTimeFn fn;                       // in place of the keys; `at` null: none
    TdlVec3 velocity, angular_velocity; // constant, on top of the keys; 0 after motion_create
} Motion;

TdlStatus motion_create(const TdlHost* host, const TdlMotionDef* def, Motion* out);
void motion_destroy(const TdlHost* host, Motion* motion);

// What it was made of, but for constant velocities; its data stays the motion's.
TdlMotionDef motion_def(const Motion* motion);

// Whether keys or a function move it.
static inline bool motion_moves(const Motion* motion) {
    return motion->keys != NULL || motion->fn.at != NULL;
}

// The placed pose, moved to where it is at `time`. The rotation vector is interpolated as such:
// between two keys it may pass more than one turn. Constant velocities count from time 0; the
// turning they make is about the moved position and comes after that of the keys.
TdlPose motion_pose(const Motion* motion, TdlPose placed, double time);

// Where a step leads it: the account of the body tells when a function has no number there.
void motion_check(const Motion* motion, TdlPose pose, struct Body* body);

#endif
