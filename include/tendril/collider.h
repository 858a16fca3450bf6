// Colliders: kinematic obstacles of a world (world.h), which go where their motion takes them.
#ifndef TENDRIL_COLLIDER_H
#define TENDRIL_COLLIDER_H

#include "tendril/body.h"
#include "tendril/curve.h"
#include "tendril/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TdlShape {
    TDL_SHAPE_PLANE = 0, // through the place, normal along the third axis
    TDL_SHAPE_SPHERE,    // of the given radius
    TDL_SHAPE_CYLINDER,  // endless, about the first axis
    TDL_SHAPE_CAPSULE,   // along the first axis, of the given length between the cap centres
    TDL_SHAPE_PLATE,  // a disc of the given `length` as radius, centre at the place, normal along
                      // the third axis, touched from above; with a round rim of tube `radius` whose
                      // middle lies in the disc's plane, so that it stands out by `radius`
    TDL_SHAPE_COMB,   // capsules along the third axis downwards from a handle of twice their radius
                      // that joins their tops, see the fields
    TDL_SHAPE_CURVES, // a chain of curves of the given tube radius: a rail
    TDL_SHAPE_MESH,   // a surface of triangles, `radius` thick to each side
} TdlShape;

/// A kinematic obstacle: it goes where its motion takes it.
typedef struct TdlColliderDef {
    TdlShape shape;
    double radius; // m, > 0 (not used by a plane; >= 0 of a mesh)
    double length; // m, >= 0: of a capsule or a comb's teeth; radius of a plate's disc
    int teeth;     // > 0, of a comb, in a row along the first axis, the middle at the place
    double pitch;  // m, > 0: between the axes of a comb's teeth
    const TdlCurvePiece* pieces; // [piece_count], copied: of a chain that starts at the place, its
    int piece_count;             // tangent along the first axis
    TdlMesh mesh;                // copied
    TdlVertexMotion vertex_motion; // of a mesh, on top of what moves it as a whole; default none
    TdlPose pose;
    TdlMotionDef motion;
    TdlVec3 velocity;         // m/s, constant, on top of the motion; default 0
    TdlVec3 angular_velocity; // rad/s, constant, about the placed position; default 0
    int material;             // 0 to TDL_MATERIAL_LIMIT - 1; default 0
} TdlColliderDef;

TDL_API TdlColliderDef tdl_collider_def_default(void);

TDL_API TdlStatus tdl_world_add_collider(TdlWorld* world, const TdlColliderDef* def,
                                         TdlBodyId* out);

// Those that follow refuse an id that is not a collider of the world: TDL_STATUS_BAD_ARGUMENT.
/// As given, with what it points to in the world's own memory and without its motion. The vertices
/// of a mesh are where they are now, in its own frame.
TDL_API TdlStatus tdl_collider_def(const TdlWorld* world, TdlBodyId collider, TdlColliderDef* out);
TDL_API TdlStatus tdl_collider_pose(const TdlWorld* world, TdlBodyId collider, TdlPose* out); // now

#ifdef __cplusplus
}
#endif

#endif
