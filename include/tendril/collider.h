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
    TDL_SHAPE_CURVES, // a chain of curves of the given tube radius: a rail, or a tube
    TDL_SHAPE_MESH,   // a surface of triangles, `radius` thick to each side
    TDL_SHAPE_IMPLICIT, // where a function h(x, y, z) of the place is 0; free where it is positive
} TdlShape;

/// A function h with its first and second derivatives at a place.
typedef struct TdlImplicitPoint {
    double value;
    TdlVec3 gradient;
    double second[6]; // xx, yy, zz, xy, xz, yz
} TdlImplicitPoint;

/// Bounds on the same over a box; infinite where nothing is known, as at an edge.
typedef struct TdlImplicitBounds {
    double low, high;
    TdlVec3 gradient_low, gradient_high;
    double second_low[6], second_high[6];
} TdlImplicitBounds;

/// An implicit surface h(x, y, z) = 0 in the frame of its collider, which is free where h > 0. h
/// need not be a distance. Both functions are called from several threads at once. What they say
/// must be true: contacts are looked for, and things kept from passing, where `over` allows it.
typedef struct TdlImplicit {
    void (*at)(const void* data, TdlVec3 place, TdlImplicitPoint* out);
    void (*over)(const void* data, TdlVec3 low, TdlVec3 high, TdlImplicitBounds* out);
    const void* data;  // handed to both
    size_t size;       // bytes of data, copied; 0: it is handed on as it is, and must stay
    TdlVec3 low, high; // m, the box in which h is asked: beyond it there is nothing
    double finest;     // m, > 0: parts of the surface whose normals still differ by more than half
                       // a rad at this size, as at edges and peaks, are treated as points; default
                       // 0: 1/500 of the box's diagonal
} TdlImplicit;

/// The first thing that is wrong with one, or null: h must be 0 somewhere in the box, and not too
/// rough for it.
TDL_API const char* tdl_implicit_fault(const TdlHost* host, const TdlImplicit* implicit);

/// A kinematic obstacle: it goes where its motion takes it.
typedef struct TdlColliderDef {
    TdlShape shape;
    double radius;       // m, > 0 (not used by a plane; >= 0 of a mesh)
    double inner_radius; // m, >= 0 and < radius: of a chain of curves that is a tube, open at both
                         // ends: thinner things touch it from inside as well; default 0: solid
    double length;       // m, >= 0: of a capsule or a comb's teeth; radius of a plate's disc
    int teeth;           // > 0, of a comb, in a row along the first axis, the middle at the place
    double pitch;        // m, > 0: between the axes of a comb's teeth
    const TdlCurvePiece* pieces; // [piece_count], copied: of a chain that starts at the place, its
    int piece_count;             // tangent along the first axis
    TdlMesh mesh;                // copied
    TdlVertexMotion vertex_motion; // of a mesh, on top of what moves it as a whole; default none
    TdlImplicit implicit;          // its data copied
    const struct ImplicitSurface* found; // what the world knows of an implicit one: left out
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
/// of a mesh are where they are now, in its own frame. An implicit surface has a mesh as well, made
/// for pictures.
TDL_API TdlStatus tdl_collider_def(const TdlWorld* world, TdlBodyId collider, TdlColliderDef* out);
/// Where an implicit surface is highest along its third axis, for its neighbourhood: the first
/// `capacity` of its peaks, in its own frame, and the radii of their sharper bend, m (0 of a
/// point); `count` receives how many there are.
typedef struct TdlPeak {
    TdlVec3 point;
    double radius;
} TdlPeak;
TDL_API TdlStatus tdl_collider_peaks(const TdlWorld* world, TdlBodyId collider, int capacity,
                                     TdlPeak* out, int* count);
TDL_API TdlStatus tdl_collider_pose(const TdlWorld* world, TdlBodyId collider, TdlPose* out); // now

#ifdef __cplusplus
}
#endif

#endif
