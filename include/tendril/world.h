// The world: bodies, what moves them, and the loop that steps them through time.
#ifndef TENDRIL_WORLD_H
#define TENDRIL_WORLD_H

#include "tendril/rod.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TdlWorld TdlWorld;

typedef struct TdlWorldDef {
    TdlVec3 gravity;  // m/s^2; default (0, 0, -9.81)
    TdlVec3 wind;     // m/s, the same everywhere: what drags on rods with a `drag`; default 0
    double step;      // s, > 0: length of a time step; default 1e-3
    int thread_count; // 0: one per processor; default 1. Results do not depend on it
} TdlWorldDef;

TDL_API TdlWorldDef tdl_world_def_default(void);

typedef enum TdlShape {
    TDL_SHAPE_PLANE = 0, // through the place, normal along the third axis
    TDL_SHAPE_SPHERE,    // of the given radius
    TDL_SHAPE_CYLINDER,  // endless, about the first axis
    TDL_SHAPE_CAPSULE,   // along the first axis, of the given length between the cap centres
} TdlShape;

/// A kinematic obstacle: it goes where its motion takes it.
typedef struct TdlColliderDef {
    TdlShape shape;
    double radius; // m, > 0 (not used by a plane)
    double length; // m, >= 0 (capsule)
    TdlPose pose;
    TdlMotionDef motion;
} TdlColliderDef;

TDL_API TdlColliderDef tdl_collider_def_default(void);

typedef struct TdlColliderId {
    int index;
    int generation;
} TdlColliderId;

TDL_API TdlStatus tdl_world_create(const TdlHost* host, const TdlWorldDef* def, TdlWorld** out);
TDL_API void tdl_world_destroy(TdlWorld* world);

TDL_API TdlStatus tdl_world_add_rod(TdlWorld* world, const TdlRodDef* def, TdlRodId* out);
TDL_API TdlStatus tdl_world_add_collider(TdlWorld* world, const TdlColliderDef* def,
                                         TdlColliderId* out);

typedef struct TdlEnergy {
    double kinetic, elastic; // J
    double gravity;          // J: of weight and of point forces, zero at the origin
} TdlEnergy;

/// What one step did.
typedef struct TdlStepInfo {
    long step;          // steps done since the start
    double time;        // s, at the end of the step
    int substeps;       // 1, or more when the step was undone and split
    int contact_count;  // contacts solved
    int iterations;     // of the contact solver
    double error;       // of the contact solver, relative
    TdlEnergy energy;   // at the end of the step
    double energy_rise; // J gained by bodies whose clamp is still; 0 unless at the floor of splits
    double predict_seconds, detect_seconds, solve_seconds, advance_seconds; // wall time
} TdlStepInfo;

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

TDL_API TdlColliderDef tdl_collider_def(const TdlWorld* world, int index);
TDL_API TdlPose tdl_collider_pose(const TdlWorld* world, int index);

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
