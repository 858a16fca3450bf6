// Rigid bodies: how one is described. It lives in a world (world.h).
#ifndef TENDRIL_RIGID_H
#define TENDRIL_RIGID_H

#include "tendril/body.h"
#include "tendril/curve.h"
#include "tendril/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TdlRigidShape {
    TDL_RIGID_SPHERE = 0, // of the given radius
    TDL_RIGID_CAPSULE,    // along the first axis, of the given length between the cap centres
    TDL_RIGID_BOX,        // of the given half sizes, edges and corners rounded by `radius`
    TDL_RIGID_CURVES,     // a chain of curves of the given tube radius, as of a collider
    TDL_RIGID_MESH,       // what a closed mesh encloses, with a skin of the given `radius`
    TDL_RIGID_CYLINDER,   // about the first axis, of the given length between its flat ends
} TdlRigidShape;

/// A rigid body of even density, or with mass, centre of mass and inertia of its own.
typedef struct TdlRigidDef {
    TdlRigidShape shape;
    // m, > 0; default 0.01. A box: >= 0 and at most its smallest half size, and > 0 where sharp
    // edges are to touch its own; a mesh: >= 0, the same, and it stands out by so much
    double radius;
    // m, >= 0, below `radius`: hollow, touched from outside (sphere; a cylinder, at most its radius
    // less its rounding); default 0
    double inner_radius;
    // m, >= 0, of its rims, below `radius` and half the length, and > 0 where sharp edges are to
    // touch them (cylinder); default 0
    double rounding;
    double length;               // m, >= 0 (capsule), > 0 (cylinder)
    TdlVec3 half;                // m, > 0 (box), rounding included
    const TdlCurvePiece* pieces; // [piece_count], copied (curves)
    int piece_count;
    TdlMesh mesh;             // copied; closed, see tdl_solid_fault (mesh)
    double density;           // kg/m^3, > 0; default 1000. Of a mesh without its skin
    double mass;              // kg, > 0, in place of what the density gives; 0: none is given
    TdlMat3 inertia;          // kg m^2, about the centre of mass, axes of the body; symmetric, such
                              // as a body can have; all 0: that of the shape, to its mass
    bool has_centre;          // `centre` counts; needs an inertia
    TdlVec3 centre;           // m, of mass, as seen from the pose
    TdlPose pose;             // of the middle of a sphere, capsule, box or cylinder; of a chain's
                              // start; of a mesh's origin
    TdlVec3 velocity;         // m/s, of the centre of mass
    TdlVec3 angular_velocity; // rad/s, world axes
    int material;             // 0 to TDL_MATERIAL_LIMIT - 1; default 0
} TdlRigidDef;

TDL_API TdlRigidDef tdl_rigid_def_default(void);

/// The first thing that is wrong with a definition; null: nothing.
TDL_API const char* tdl_rigid_def_fault(const TdlRigidDef* def);

/// What keeps a mesh without fault from having an inside; null: nothing. `triangle` receives where,
/// or -1. Every edge must join two triangles the same way round, and normals point outwards.
TDL_API const char* tdl_solid_fault(const TdlHost* host, const TdlMesh* mesh, int* triangle);

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
