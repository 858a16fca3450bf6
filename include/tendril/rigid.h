// Rigid bodies: how one is described. It lives in a world (world.h).
#ifndef TENDRIL_RIGID_H
#define TENDRIL_RIGID_H

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

/// A rigid body of a world; an all-zero id is null.
typedef struct TdlRigidId {
    int index;
    int generation;
} TdlRigidId;

#ifdef __cplusplus
}
#endif

#endif
