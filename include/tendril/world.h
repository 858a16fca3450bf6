// The world: bodies, what moves them, and the loop that steps them through time.
#ifndef TENDRIL_WORLD_H
#define TENDRIL_WORLD_H

#include "tendril/ccd.h"
#include "tendril/friction.h"
#include "tendril/rod.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TdlWorld TdlWorld;

/// How two materials touch.
typedef struct TdlContactLaw {
    double mu;          // friction coefficient, 0 to INFINITY; default 0.3
    double restitution; // in [0, 1], of rigid bodies; rods count as 0; default 0
} TdlContactLaw;

/// Which shapes detection sees.
typedef enum TdlContactGeometry {
    TDL_CONTACT_CURVES = 0, // smooth curves for the super-models; nodal models are polylines anyway
    TDL_CONTACT_SEGMENTS,   // polylines, `segments` to an element: the usual low-order proxy
    TDL_CONTACT_BASELINE,   // curves, whose distance is that of segments no longer than
                            // `segment_length`, in trees of boxes: slow, to compare with
} TdlContactGeometry;

/// Contacts of a world: what is looked for, and how the impulses are found.
typedef struct TdlContactDef {
    bool off;                     // nothing touches anything; default false
    TdlContactLaw law;            // of pairs of materials that were not set apart
    TdlContactGeometry geometry;  // default: curves
    int segments;                 // > 0, per element, with segments; default 8
    double segment_length;        // m, in [1e-8, 1], with the baseline; default 1e-4
    bool self;                    // contacts of a rod with itself; default true
    double margin;                // m, >= 0: candidates are kept up to this gap; default 0: chosen
                                  // in every step by how far things moved in the last
    TdlFrictionSolverKind solver; // default alternating
    double tolerance;             // > 0: relative error of the solver; default 1e-8
    int max_iterations;           // > 0, of the solver; default 1000
    double overlap;               // > 0, new overlap, in radii of the thinner, at which a step is
                                  // made again in parts; default 0.5
} TdlContactDef;

typedef struct TdlWorldDef {
    TdlVec3 gravity; // m/s^2; default (0, 0, -9.81)
    TdlVec3 wind;    // m/s, the same everywhere: what drags on rods with a `drag`; default 0
    double step;     // s, > 0: length of a time step; default 1e-3
    double settle;   // s, >= 0: time until which rods settle, slowed down by a further force of
    double settle_damping; // 1/s, >= 0, times velocity per mass, at first; of the share
                           // x of this time left there is 0.975 x^16 + 0.025 x; default 0 and 0
    bool settle_loosely;   // until then a step is kept though bodies passed through each other in
                           // it or overlap: for a rest whose history does not matter
    int thread_count;      // 0: one per processor; default 1. Results do not depend on it
    bool losses;           // every step tells where energy goes; default false
    TdlContactDef contacts;
} TdlWorldDef;

TDL_API TdlWorldDef tdl_world_def_default(void);

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

/// Triangles. Where every edge joins two of them the same way round the surface is closed: it is
/// touched from the side from which their corners run counterclockwise, and what gets behind it is
/// pushed out. Else it is a sheet, touched from both sides.
typedef struct TdlMesh {
    const TdlVec3* vertices; // [vertex_count], m; those at the same place count as one
    int vertex_count;
    const int* triangles; // [3 triangle_count] vertices from 0; each triangle has an area
    int triangle_count;
} TdlMesh;

/// Places of a mesh's vertices at even times; on straight lines between them, still before the
/// first and after the last. Every triangle has an area in every sample.
typedef struct TdlVertexMotion {
    const TdlVec3* samples; // [sample_count][vertex_count], m, in the frame of the mesh; copied
    int sample_count;       // 2 or more; 0: the vertices stay
    double start;           // s, of the first sample
    double period;          // s, > 0, from sample to sample
} TdlVertexMotion;

/// The first thing that is wrong with a mesh; null: nothing. `triangle` receives where, or -1.
TDL_API const char* tdl_mesh_fault(const TdlMesh* mesh, int* triangle);

/// The same of the motion of a mesh without fault; `sample` and `triangle` receive where, or -1.
TDL_API const char* tdl_vertex_motion_fault(const TdlVertexMotion* def, const TdlMesh* mesh,
                                            int* sample, int* triangle);

/// One piece of a chain of curves: constant curvature vector (twist, k1, k2) over its length.
typedef struct TdlCurvePiece {
    double length;     // m, > 0
    TdlVec3 curvature; // 1/m
} TdlCurvePiece;

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

typedef struct TdlColliderId {
    int index;
    int generation;
} TdlColliderId;

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

/// Where the body has its mass, as seen from the pose of the definition.
TDL_API TdlStatus tdl_rigid_def_centre(const TdlHost* host, const TdlRigidDef* def,
                                       TdlVec3* centre);

/// A rigid body of a world; an all-zero id is null.
typedef struct TdlRigidId {
    int index;
    int generation;
} TdlRigidId;

enum { TDL_MATERIAL_LIMIT = 64 };

TDL_API TdlStatus tdl_world_create(const TdlHost* host, const TdlWorldDef* def, TdlWorld** out);
TDL_API void tdl_world_destroy(TdlWorld* world);

TDL_API TdlStatus tdl_world_add_rod(TdlWorld* world, const TdlRodDef* def, TdlRodId* out);
TDL_API TdlStatus tdl_world_add_collider(TdlWorld* world, const TdlColliderDef* def,
                                         TdlColliderId* out);
TDL_API TdlStatus tdl_world_add_rigid(TdlWorld* world, const TdlRigidDef* def, TdlRigidId* out);

/// Sets how bodies of two materials (which may be the same) touch.
TDL_API TdlStatus tdl_world_set_contact_law(TdlWorld* world, int material_a, int material_b,
                                            TdlContactLaw law);

typedef struct TdlEnergy {
    double kinetic, elastic; // J
    double gravity;          // J: of weight and of point forces, zero at the origin
} TdlEnergy;

/// What one step did.
typedef struct TdlStepInfo {
    long step;          // steps done since the start
    double time;        // s, at the end of the step
    int substeps;       // 1, or more when the step was undone and split
    const char* reason; // why it was last undone; null: it was not
    int contact_count;  // contacts solved
    int iterations;     // of the contact solver
    double error;       // of the contact solver, relative; its tolerance or less if it converged
    int unsolved;       // substeps whose contacts were not solved to the tolerance
    double deepest;     // m, the least gap at the end of the step; 0 when nothing is near
    double friction;    // J taken by friction in this step
    double impact;      // J taken by what touched or left in this step along the normals
    double push;        // J put in by moving overlapping bodies apart
    double work;        // J done on the bodies by moving colliders and carried starts, at contacts
    // 0 unless `losses` is asked for. The energy of rods and bodies changes by
    // work + given + push - friction - impact - damping - numerical.
    double damping;     // J taken by damping and drag
    double numerical;   // J taken by the time steps; what they give is negative
    double given;       // J done by wind, torques and ends that are moved
    TdlEnergy energy;   // at the end of the step
    double energy_rise; // J gained by bodies whose clamp is still; 0 unless at the floor of splits
    double predict_seconds, detect_seconds, build_seconds, solve_seconds, advance_seconds; // wall
} TdlStepInfo;

// What a contact is between.
typedef enum TdlBodyKind {
    TDL_BODY_ROD = 0,
    TDL_BODY_RIGID,
    TDL_BODY_COLLIDER,
} TdlBodyKind;

/// A contact of the last step and what it carried. Indices count from 0 within a kind.
typedef struct TdlContactForce {
    TdlBodyKind kind[2]; // a collider comes second
    int index[2];
    int element[2]; // of a rod; the triangle of a mesh whose vertices move
    double s[2];    // in [0, 1] along the element of a rod
    TdlVec3 point;  // m, where the first body's surface was touched
    TdlVec3 normal; // from the first to the second
    TdlVec3 force;  // N on the second, mean over the step; the first gets the opposite
    double gap;     // m, at the start of the step, or of its part
    double mu;
    bool sliding; // at the end of the step; else it sticks or carries nothing
} TdlContactForce;

/// The contacts of the last step; owned by the world, valid until it changes. Those of the parts of
/// a step that was split follow each other, each with its share of the mean.
TDL_API const TdlContactForce* tdl_world_contact_forces(const TdlWorld* world, int* count);

/// A contact problem of a step, solved. A step that is split, or undone and made again, has
/// several. Impulses are in the unit that makes W about 1, in which the solver's error is measured.
typedef struct TdlContactProblem {
    long step;   // the step that is being made, from 1
    double time; // s, at the start of the step
    double dt;   // s, of this part of it
    const TdlFrictionProblem* problem;
    const double* guess; // [3 contacts] where the solver started
    const double* r;     // [3 contacts] what it found
    double unit;         // an impulse of 1 is so many N s
    TdlFrictionInfo info;
} TdlContactProblem;
typedef void (*TdlContactProblemFn)(void* user, const TdlContactProblem* solved);

/// Has `fn` called with every contact problem from now on; null: with none. What it is given lasts
/// until it returns.
TDL_API void tdl_world_watch_problems(TdlWorld* world, TdlContactProblemFn fn, void* user);

/// Has `fn` called with every question that the step asks of continuous collision detection from
/// now on, in the order of the pairs and from one thread; null: with none.
typedef void (*TdlCrossingFn)(void* user, long step, const TdlCcdQuery* query, bool collision);
TDL_API void tdl_world_watch_crossings(TdlWorld* world, TdlCrossingFn fn, void* user);

/// Advances by one step. A step that does not stay finite, or in which a rod with a still clamp
/// gains energy, is undone and split. On TDL_STATUS_DIVERGED the state from before the step is
/// kept. `info` may be null.
TDL_API TdlStatus tdl_world_step(TdlWorld* world, TdlStepInfo* info);

/// Brings every rod to a static equilibrium under gravity and point forces, at rest. `residual`
/// (may be null) receives the largest remaining generalised force relative to weight times length.
TDL_API TdlStatus tdl_world_settle(TdlWorld* world, double* residual);

/// How stable the equilibrium is to which a rod was last settled: the smallest eigenvalue of the
/// Hessian of its potential energy, over its smallest stiffness (K3 / element length). Positive
/// where the shape is stable; NaN before the first settling.
TDL_API double tdl_rod_stability(const TdlWorld* world, TdlRodId rod);

// --- what is there
// --------------------------------------------------------------------------------
TDL_API TdlWorldDef tdl_world_def(const TdlWorld* world); // as it is now
TDL_API double tdl_world_time(const TdlWorld* world);
TDL_API long tdl_world_step_count(const TdlWorld* world);
TDL_API TdlEnergy tdl_world_energy(const TdlWorld* world);
TDL_API int tdl_world_rod_count(const TdlWorld* world);
TDL_API int tdl_world_collider_count(const TdlWorld* world);
TDL_API TdlRodId tdl_world_rod(const TdlWorld* world, int index); // 0 <= index < rod_count

typedef struct TdlRodInfo {
    const char* model;
    int element_count;
    int dof_count; // length of q and v
    double length, radius[2], mass;
} TdlRodInfo;

TDL_API TdlRodInfo tdl_rod_info(const TdlWorld* world, TdlRodId rod);

/// The point of the centreline at arc length s in [0, length].
TDL_API TdlVec3 tdl_rod_point(const TdlWorld* world, TdlRodId rod, double s);

/// `samples` + 1 points per element (neighbours share one): out[element_count * samples + 1].
TDL_API void tdl_rod_points(const TdlWorld* world, TdlRodId rod, int samples, TdlVec3* out);

/// Generalised coordinates and velocities, each [dof_count]; owned by the world. For the
/// super-helix: curvature times element length (rad), three per element; for the super-clothoid
/// the same, three per joint.
TDL_API const double* tdl_rod_coordinates(const TdlWorld* world, TdlRodId rod);
TDL_API const double* tdl_rod_velocities(const TdlWorld* world, TdlRodId rod);

TDL_API int tdl_world_rigid_count(const TdlWorld* world);
TDL_API TdlRigidDef tdl_rigid_def(const TdlWorld* world, int index); // as given
TDL_API TdlPose tdl_rigid_pose(const TdlWorld* world, int index);    // now, of the same point
TDL_API TdlVec3 tdl_rigid_velocity(const TdlWorld* world, int index);
TDL_API TdlVec3 tdl_rigid_angular_velocity(const TdlWorld* world, int index);

/// Force and torque (about its present position) of all contacts on one body, as in their list. Of
/// a rod: about its start.
typedef struct TdlWrench {
    TdlVec3 force, torque; // N, N m
} TdlWrench;
TDL_API TdlWrench tdl_world_contact_wrench(const TdlWorld* world, TdlBodyKind kind, int index);

/// As given, with what it points to in the world's own memory and without its motion. The vertices
/// of a mesh are where they are now, in its own frame.
TDL_API TdlColliderDef tdl_collider_def(const TdlWorld* world, int index);
TDL_API TdlPose tdl_collider_pose(const TdlWorld* world, int index);

// --- a hand in the world
// --------------------------------------------------------------------------
// Changes between two steps, as a user makes them while a simulation runs. They are no part of the
// state: a world that continues from saved bytes has its own gravity and friction again, no force
// of a hand, and led ends where they are.
TDL_API TdlStatus tdl_world_set_gravity(TdlWorld* world, TdlVec3 gravity);

/// One friction coefficient for all pairs of materials.
TDL_API TdlStatus tdl_world_set_friction(TdlWorld* world, double mu);

/// Pulls at arc length `at` with a force (N) on top of the rod's loads, until it is called again:
/// there is one such force a rod.
TDL_API TdlStatus tdl_rod_pull(TdlWorld* world, TdlRodId rod, double at, TdlVec3 force);

/// Leads the start of a rod, or its end, to a place by the next step; its frame does not turn.
/// False, and nothing is done, when that end is free, is moved by a motion or a parent, or the
/// place is not finite.
TDL_API bool tdl_rod_lead(TdlWorld* world, TdlRodId rod, bool end, TdlVec3 place);

// --- the whole state
// ------------------------------------------------------------------------------
/// The state as bytes: what changes from step to step, and nothing else. Loaded into a world built
/// the same way, it continues with the same bits.
TDL_API size_t tdl_world_state_size(const TdlWorld* world);
TDL_API void tdl_world_save_state(const TdlWorld* world, void* bytes);
TDL_API TdlStatus tdl_world_load_state(TdlWorld* world, const void* bytes, size_t size);
TDL_API uint64_t tdl_world_state_hash(const TdlWorld* world);

#ifdef __cplusplus
}
#endif

#endif
