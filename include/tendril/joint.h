// Joints: what holds a place of one body to a place of another, or to the world. They are rows of
// the step's own problem, fulfilled where the step ends, and tell their forces.
#ifndef TENDRIL_JOINT_H
#define TENDRIL_JOINT_H

#include "tendril/body.h"
#include "tendril/math.h"
#include "tendril/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TdlJointKind {
    TDL_JOINT_FIXED = 0, // place and turn
    TDL_JOINT_BALL,      // place only
    TDL_JOINT_HINGE,     // all but the turn about the axis
    TDL_JOINT_SLIDER,    // all but the way along the axis
    TDL_JOINT_DISTANCE,  // the distance of two places
} TdlJointKind;

/// A joint of a world; an all-zero id is null. An id is never given twice.
typedef struct TdlJointId {
    int index;      // from 1
    int generation; // from 1
} TdlJointId;

/// One side of a joint: a place of a body, which moves with it from now on.
typedef struct TdlJointEnd {
    TdlBodyId body; // null: the world, which stands still
    double at;      // of a rod: arc length, m; of a cloth: vertex; nothing of other bodies
} TdlJointEnd;

/// What drives the free coordinate of a hinge (rad) or a slider (m): the second body against the
/// first, 0 where the joint was made or, of one with a time of its own, last joined.
typedef enum TdlMotorMode {
    TDL_MOTOR_OFF = 0,
    TDL_MOTOR_SPEED, // goes with `target`, rad/s or m/s
    TDL_MOTOR_PLACE, // is at `target`, rad or m, at the end of the next step
} TdlMotorMode;

typedef struct TdlMotor {
    TdlMotorMode mode;
    double target;
    double most; // > 0: N m or N, what it can do; default: without limit
} TdlMotor;

typedef struct TdlJointDef {
    TdlJointKind kind;
    TdlJointEnd end[2];
    TdlVec3 point[2]; // m, in the world, now: the place of each side. Not a number (the default):
                      // that of the rod's or cloth's own place, else of the other side. All kinds
                      // but the distance hold one place, that of the first side that tells one
    TdlVec3 axis;     // of a hinge or slider, in the world, now, of any length; default x
    double length;    // m, > 0, of a distance; not a number (the default): as it is now

    // What is held may give: a spring and a damper in the place of what is exact. Infinite
    // stiffness (the default) is exact.
    double stiffness, damping;                 // N/m, N s/m
    double turning_stiffness, turning_damping; // N m/rad, N m s/rad

    // Along the free coordinate of a hinge or a slider
    double axis_stiffness, axis_damping, axis_rest; // N m/rad (N/m), ...; default 0
    double range[2];                                // rad or m; default: without end
    TdlMotor motor;
    TdlTimeFn target; // of the motor in place of its own: x of the first vector, asked for a place
                      // at the end of each step or part of one, for a speed in its middle

    // When it holds: in the steps whose middle lies between these times, s; default: always. It
    // joins both bodies as they then are, its place and axes where the side has them that told
    // its place; `as_made`: where both have them from when it was made, so that what is apart by
    // then is closed in one step, by displacements. Its state has a fixed size, whether it holds or
    // not.
    double during[2];
    double every; // s, > 0: and again each time after so much; default 0: once
    bool as_made;

    double break_force, break_torque; // N, N m: what it bears; default: anything
    double clear; // m: within so much of it the two bodies do not touch; not a number (the
                  // default): a few radii of a rod, else anywhere
} TdlJointDef;

TDL_API TdlJointDef tdl_joint_def_default(void);

/// The first thing that is wrong with a definition; null: nothing.
TDL_API const char* tdl_joint_def_fault(const TdlJointDef* def);

/// The same in a world: what is wrong with joining what it says there.
TDL_API const char* tdl_world_joint_fault(const TdlWorld* world, const TdlJointDef* def);

/// Joins two bodies, from the next step on, as they are.
TDL_API TdlStatus tdl_world_add_joint(TdlWorld* world, const TdlJointDef* def, TdlJointId* out);

/// Lets them go.
TDL_API TdlStatus tdl_world_remove_joint(TdlWorld* world, TdlJointId joint);

/// The joints in the order in which they were added: the first `capacity` of them. Returns how many
/// there are.
TDL_API int tdl_world_joints(const TdlWorld* world, int capacity, TdlJointId* out);

/// The one with that place in their order, from 0; a null id beyond the last.
TDL_API TdlJointId tdl_world_joint(const TdlWorld* world, int index);

/// A name for messages, of at most 200 bytes; null: none. The world copies it.
TDL_API TdlStatus tdl_joint_set_name(TdlWorld* world, TdlJointId joint, const char* name);

/// The name that it was given; empty where it has none. It lasts as long as the joint has it.
TDL_API const char* tdl_joint_name(const TdlWorld* world, TdlJointId joint);

/// From the next step on; part of the state. Refused of joints without a free coordinate.
TDL_API TdlStatus tdl_joint_set_motor(TdlWorld* world, TdlJointId joint, TdlMotor motor);

/// A joint at the end of the last step, and what it did in it.
typedef struct TdlJointState {
    bool broken;        // it bore more than it can, and holds nothing since
    bool idle;          // it does not hold now: see `during`
    TdlVec3 point;      // m
    TdlVec3 force;      // N, on the second body: the mean over the last step
    TdlVec3 torque;     // N m, on the second body, about the point
    double coordinate;  // rad or m, of a hinge or slider; m, the length of a distance
    double rate;        // of that, 1/s
    double drive;       // N m or N along it, of motor, spring, damper and range
    double error;       // m, of places that are held exactly
    double error_angle; // rad, of turns that are
    double power;       // W, done by it on both sides in the last step: nothing, if it only holds
    double work;        // J, done by it on both sides since it was made
    double stored;      // J, in its springs
} TdlJointState;

TDL_API TdlStatus tdl_joint_state(const TdlWorld* world, TdlJointId joint, TdlJointState* out);
TDL_API TdlStatus tdl_joint_def(const TdlWorld* world, TdlJointId joint, TdlJointDef* out);

#ifdef __cplusplus
}
#endif

#endif
