// What a program does to a world between two steps: it leads colliders, ends of rods and holds of
// cloth, and pulls at any place. Each step does what was last said.
#ifndef TENDRIL_CONTROL_H
#define TENDRIL_CONTROL_H

#include "tendril/body.h"
#include "tendril/math.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- leading
// ----------------------------------------------------------------------------------
// What can be led has a number in its body: a collider is 0; the start of a rod is 0 and its end 1,
// where they are clamped or pinned (of a branch neither); the holds of a cloth count as in its
// definition. What is led has its motion taken away until it is let go; contacts see how fast it
// goes, its work is counted, and rods that ride on it (tdl_rod_attach) go with it. All this is part
// of the state: a world that goes on from saved bytes leads what was led then, and the same
// commands give the same bits.
enum { TDL_LED_START = 0, TDL_LED_END = 1 };

/// Where it is: of a collider its pose, of an end of a rod its place and material frame (whose
/// rotation does not count where it is pinned, and is the identity where its model tells none), of
/// a hold the mean of its vertices as they were placed, and how they have turned since.
TDL_API TdlStatus tdl_body_led_pose(const TdlWorld* world, TdlBodyId body, int part, TdlPose* out);

/// Brings it to a pose by the end of the coming step, where it stays: on a straight line and about
/// one axis, evenly. A hold that gives way comes after as it can.
TDL_API TdlStatus tdl_body_move_to(TdlWorld* world, TdlBodyId body, int part, TdlPose pose);

/// Moves it from now on with a velocity at its position, m/s, and an angular velocity, rad/s.
TDL_API TdlStatus tdl_body_set_velocity(TdlWorld* world, TdlBodyId body, int part, TdlVec3 linear,
                                        TdlVec3 angular);

/// Its motion has it again, if it has one: by the end of the coming step it is where that says.
/// Without one it stays.
TDL_API TdlStatus tdl_body_let_go(TdlWorld* world, TdlBodyId body, int part);

// --- pulling
// ----------------------------------------------------------------------------------

/// A force and a torque that act at a place of a body and keep their direction in the world.
typedef struct TdlPull {
    double at;      // m, of a rod: arc length in [0, length]
    int vertex;     // of a cloth
    TdlVec3 point;  // m, of a rigid body: as seen from its pose (tdl_rigid_pose)
    TdlVec3 force;  // N
    TdlVec3 torque; // N m; 0 of a cloth
} TdlPull;

/// Pulls at a rod, a rigid body or a cloth from now on, on top of its own loads, and no longer as
/// said before; count 0: not at all. No part of the state: who loads one says it again.
TDL_API TdlStatus tdl_body_pull(TdlWorld* world, TdlBodyId body, int count, const TdlPull* pulls);

#ifdef __cplusplus
}
#endif

#endif
