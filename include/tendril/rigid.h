// Rigid bodies: how one is described. It lives in a world (world.h).
#ifndef TENDRIL_RIGID_H
#define TENDRIL_RIGID_H

#include "tendril/body.h"
#include "tendril/curve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TdlRigidShape {
    TDL_RIGID_SPHERE = 0, // of the given radius
    TDL_RIGID_CAPSULE,    // along the first axis, of the given length between the cap centres
    TDL_RIGID_BOX,        // of the given half sizes, edges and corners rounded by `radius`
    TDL_RIGID_CURVES,     // a chain of curves of the given tube radius, as of a collider
} TdlRigidShape;

/// A rigid body of even density.
typedef struct TdlRigidDef {
    TdlRigidShape shape;
    double radius;               // m, > 0; default 0.01. A box: >= 0 and at most its smallest half
                                 // size, and > 0 where sharp edges are to touch its own
    double length;               // m, >= 0 (capsule)
    TdlVec3 half;                // m, > 0 (box), rounding included
    const TdlCurvePiece* pieces; // [piece_count], copied (curves)
    int piece_count;
    double density;           // kg/m^3, > 0; default 1000
    TdlPose pose;             // of its centre of mass; of a chain's start
    TdlVec3 velocity;         // m/s, of the centre of mass
    TdlVec3 angular_velocity; // rad/s, world axes
    int material;             // 0 to TDL_MATERIAL_LIMIT - 1; default 0
} TdlRigidDef;

TDL_API TdlRigidDef tdl_rigid_def_default(void);

/// The first thing that is wrong with a definition; null: nothing.
TDL_API const char* tdl_rigid_def_fault(const TdlRigidDef* def);

TDL_API TdlStatus tdl_world_add_rigid(TdlWorld* world, const TdlRigidDef* def, TdlBodyId* out);

// Those that follow refuse an id that is not a rigid body of the world: TDL_STATUS_BAD_ARGUMENT.
TDL_API TdlStatus tdl_rigid_def(const TdlWorld* world, TdlBodyId rigid, TdlRigidDef* out); // given

/// Where it is now, of the point that the definition's pose speaks of.
TDL_API TdlStatus tdl_rigid_pose(const TdlWorld* world, TdlBodyId rigid, TdlPose* out);

/// Velocity of its centre of mass, and angular velocity in world axes.
TDL_API TdlStatus tdl_rigid_velocity(const TdlWorld* world, TdlBodyId rigid, TdlVec3* linear,
                                     TdlVec3* angular);

#ifdef __cplusplus
}
#endif

#endif
