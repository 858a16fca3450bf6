// Rods: how one is described. A rod lives in a world (world.h).
#ifndef TENDRIL_ROD_H
#define TENDRIL_ROD_H

#include "tendril/body.h"
#include "tendril/math.h"
#include "tendril/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How an end of a rod is held.
typedef enum TdlHold {
    TDL_HOLD_CLAMPED = 0, // place and frame
    TDL_HOLD_PINNED,      // place only: the end turns freely
    TDL_HOLD_FREE,
} TdlHold;

/// A force and a torque that act on one point of a rod; both keep their direction in the world.
typedef struct TdlRodLoad {
    double at;      // m, arc length in [0, length]
    TdlVec3 force;  // N
    TdlVec3 torque; // N m; it has no potential, so statics refuses it
} TdlRodLoad;

/// The section of a rod at one place, as data sheets give it. What is 0 is not given: it follows
/// from the rod's material and radius there. A quantity is given in all sections of a rod or in
/// none.
typedef struct TdlRodSection {
    double at;              // m, arc length: 0 in the first; in those that follow, ascending
    double radius[2];       // m, half-axes, as TdlRodDef has them: how thick it is to the touch
    double inner_radius;    // m, half-axis along the second axis of a hole of the same shape, in
                            // which thinner things touch the rod from inside
    double bending[2];      // N m^2: EI about the second and the third axis
    double twisting;        // N m^2: GJ
    double stretching;      // N: EA; super-models stretch only between two held ends
    double shearing;        // N: GA; only corde shears
    double mass_per_length; // kg/m
    double rotary_inertia;  // kg m: about the axis, per length; not of mass-spring
} TdlRodSection;

/// A natural shape at one moment.
typedef struct TdlNaturalKey {
    double time;                 // s, growing from key to key
    TdlVec3 curvature;           // 1/m, along the whole rod
    const TdlVec3* curvature_of; // [tdl_rod_def_curvature_count] instead, when not null; copied
} TdlNaturalKey;

/// Through which a tendon runs, without friction: a place beside a section.
typedef struct TdlTendonGuide {
    double at;        // m, arc length, growing from guide to guide
    double offset[2]; // m, from the centreline along the frame's second and third axes
} TdlTendonGuide;

typedef struct TdlTensionKey {
    double time;    // s, growing from key to key
    double tension; // N, >= 0
} TdlTensionKey;

/// A cable under a tension that is the same all along, straight between its guides, fixed to the
/// last and pulled from the first. It weighs nothing and touches nothing. Models with frames have
/// them; super-models only where their end is free. A guide of a model made of edges is on an edge:
/// in the middle of elements they turn with the rod to second order.
typedef struct TdlTendonDef {
    const TdlTendonGuide* guides; // [guide_count], 2 or more; copied
    int guide_count;
    const TdlTensionKey* keys; // [key_count], 1 or more: one for all times; copied
    int key_count;
    TdlInterpolation interpolation;
} TdlTendonDef;

/// An inextensible elastic rod, by default clamped at its start and free at its end. Its material
/// frame has the tangent as first axis; curvature vectors are (twist, k1, k2) in that frame, in
/// 1/m.
typedef struct TdlRodDef {
    const char* model; // one of tdl_rod_models(); default "super-helix"
    double length;     // m, > 0; default 0.1
    double radius[2];  // m, > 0: half-axes of the elliptic section along the frame's second and
                       // third axes; default 50e-6 both
    int element_count; // 1 to 100000; default 10
    double young;      // Pa, > 0; default 1e9
    double poisson;    // in (-1, 0.5]; default 0.48
    double density;    // kg/m^3, > 0; default 1000
    double damping;    // s, >= 0: internal damping, moment = K3 (kappa + damping dkappa/dt);
                       // default 0
    double stiffening; // > 0: factor on `young` and on all stiffness that is given, of this one
                       // rod; default 1

    // One: along the whole rod, in the place of what follows from radius, young, poisson and
    // density. Several: linear between them, and after the last as the last. Copied.
    const TdlRodSection* sections; // [section_count]; default: none
    int section_count;

    // The natural curvature at some times instead, and between them; copied. Work that this does is
    // counted as given.
    const TdlNaturalKey* natural_keys; // [natural_key_count]; default: none
    int natural_key_count;
    TdlInterpolation natural_interpolation;

    const TdlTendonDef* tendons; // [tendon_count], copied; default: none
    int tendon_count;

    TdlVec3 natural_curvature;           // 1/m, along the whole rod; default 0
    TdlVec3 curvature;                   // 1/m at the start of the simulation; default 0
    const TdlVec3* natural_curvature_of; // [element_count] instead, when not null; copied. The
    const TdlVec3* curvature_of;         // super-clothoid takes the mean of the two at a joint
    const TdlVec3* natural_curvature_at; // [element_count + 1] at the joints of a super-clothoid,
    const TdlVec3* curvature_at;         // instead of either; copied

    double mass_damping; // 1/s, >= 0: a force -mass_damping times velocity per mass; default 0
    double drag;         // N s/m^2, >= 0: a force drag (wind - velocity) per length; default 0

    TdlPose clamp;           // place and material frame of the start; default: origin, along x
    TdlMotionDef motion;     // of the start, as far as it is held; default: still
    TdlHold start;           // default: clamped
    TdlHold end;             // default: free. A held end stays where the first shape puts it
    TdlMotionDef end_motion; // of the end, as far as it is held; default: still

    // A branch: clamped on another super-helix, at the end of one of its elements, with the frame
    // of `clamp` as seen from the parent's present shape. The place in `clamp` does not count.
    TdlBodyId parent; // default: null
    double parent_at; // share of the parent's length, in (0, 1]: the nearest end of an element;
                      // default 1, its tip

    const TdlRodLoad* loads; // [load_count], copied; default: none
    int load_count;

    int material; // 0 to TDL_MATERIAL_LIMIT - 1 (base.h): how it touches; default 0
} TdlRodDef;

TDL_API TdlRodDef tdl_rod_def_default(void);

/// The first thing that is wrong with a definition, or that its model cannot do; null: nothing.
TDL_API const char* tdl_rod_def_fault(const TdlRodDef* def);

/// The same of its sections alone, for which model, length, radius and drag count.
TDL_API const char* tdl_rod_sections_fault(const TdlRodDef* def);

/// Whether the held ends of a rod can be where its definition and its motions put them, from a time
/// on: not further apart than it is long (models that stretch: by 1 % more), and at that distance
/// with clamps along the line.
typedef struct TdlRodReach {
    bool ok;         // at all times
    bool across;     // else: they are as far apart as it is long, and a clamp looks elsewhere
    double time;     // s, the first at which it is not so
    double distance; // m, of the ends then
    double length;   // m, of the rod
    double stretch;  // strain that is allowed
    char text[200];  // the same in words; empty: ok
} TdlRodReach;

TDL_API TdlStatus tdl_rod_def_reach(const TdlHost* host, const TdlRodDef* def, double now,
                                    TdlRodReach* out);

/// Number of coordinates of a rod made from a definition without fault.
TDL_API int tdl_rod_def_dof_count(const TdlRodDef* def);

/// Number of curvatures by which such a rod is told: of its elements, of a super-clothoid at its
/// joints.
TDL_API int tdl_rod_def_curvature_count(const TdlRodDef* def);

/// The names of the rod models, separated by '|'.
TDL_API const char* tdl_rod_models(void);

/// Refused where its held ends cannot be where they are to be.
TDL_API TdlStatus tdl_world_add_rod(TdlWorld* world, const TdlRodDef* def, TdlBodyId* out);

typedef struct TdlRodInfo {
    const char* model;
    int element_count;
    int dof_count; // length of q and v
    double length, radius[2], mass;
    int curvature_count; // that it is told by: element_count, of a super-clothoid one more
    double stiffening;   // factor on its Young's modulus
    TdlVec3 stiffness;   // K3 with that factor: of twist, of bending about the second and third
                         // axes, N m^2
} TdlRodInfo;

// Those that follow refuse an id that is not a rod of the world: TDL_STATUS_BAD_ARGUMENT.
TDL_API TdlStatus tdl_rod_info(const TdlWorld* world, TdlBodyId rod, TdlRodInfo* out);

/// The point of the centreline at arc length s in [0, length].
TDL_API TdlStatus tdl_rod_point(const TdlWorld* world, TdlBodyId rod, double s, TdlVec3* out);

/// `samples` + 1 points per element (neighbours share one): out[element_count * samples + 1].
TDL_API TdlStatus tdl_rod_points(const TdlWorld* world, TdlBodyId rod, int samples, TdlVec3* out);

/// Generalised coordinates and velocities, each [dof_count]; owned by the world. For the
/// super-helix: curvature times element length (rad), three per element; for the super-clothoid
/// the same, three per joint.
TDL_API TdlStatus tdl_rod_coordinates(const TdlWorld* world, TdlBodyId rod, const double** q);
TDL_API TdlStatus tdl_rod_velocities(const TdlWorld* world, TdlBodyId rod, const double** v);

/// The place and the material frame of the start of a rod in its present shape. Of a nodal rod that
/// nothing clamps there the frame goes on as it turns between its first two edges.
TDL_API TdlStatus tdl_rod_start(const TdlWorld* world, TdlBodyId rod, TdlPose* out);

/// Places and material frames at `count` arc lengths in [0, length], out[count]; `at` null: at even
/// distances from its start to its end. A mass-spring chain has no frame: its first axis is the
/// tangent, the others mean nothing.
TDL_API TdlStatus tdl_rod_frames(const TdlWorld* world, TdlBodyId rod, int count, const double* at,
                                 TdlPose* out);

/// The velocities (m/s) of the centreline there. Of super-models they belong to the shape before
/// the last step, and here move the present one; stretching by a held far end is left out.
TDL_API TdlStatus tdl_rod_point_velocities(const TdlWorld* world, TdlBodyId rod, int count,
                                           const double* at, TdlVec3* out);

/// Curvatures (1/m) of the present shape: of the elements, of a super-clothoid at the joints;
/// out[curvature_count]. A rod of the same model that is made with them and with the pose of
/// tdl_rod_start has this shape, but for stretching and shearing: of super-models also the same
/// bits, where curvatures with these coordinates exist.
TDL_API TdlStatus tdl_rod_curvature(const TdlWorld* world, TdlBodyId rod, TdlVec3* out);

/// The same of its natural shape: what it was last given, bit for bit.
TDL_API TdlStatus tdl_rod_natural_curvature(const TdlWorld* world, TdlBodyId rod, TdlVec3* out);

/// Gives a rod of any model another natural shape, kappa[curvature_count], or a factor on its
/// Young's modulus instead of the one it has. It stays where it is, as fast as it is, and goes on
/// as a rod would that was made so. No part of the state: who loads one sets these again.
TDL_API TdlStatus tdl_rod_set_natural_curvature(TdlWorld* world, TdlBodyId rod,
                                                const TdlVec3* kappa);
TDL_API TdlStatus tdl_rod_set_stiffening(TdlWorld* world, TdlBodyId rod, double factor);

/// Has the natural curvature go evenly from what it is to kappa[curvature_count] by a time (s) to
/// come, in the place of what the definition says of times; what that does to the energy is counted
/// as given, where tdl_rod_set_natural_curvature changes it between two steps. No part of the
/// state.
TDL_API TdlStatus tdl_rod_lead_natural_curvature(TdlWorld* world, TdlBodyId rod,
                                                 const TdlVec3* kappa, double time);

/// Puts a tendon of a rod, from 0, under a tension (N, >= 0) from now on, in the place of its keys.
/// No part of the state.
TDL_API TdlStatus tdl_rod_set_tension(TdlWorld* world, TdlBodyId rod, int tendon, double tension);

/// Its tension in the last step, and how long it is now, m, from its first guide to its last.
TDL_API TdlStatus tdl_rod_tendon(const TdlWorld* world, TdlBodyId rod, int tendon, double* tension,
                                 double* length);

/// The force (N) of what holds the start of a rod, or its end, on the rod: its mean over the last
/// step, or over the last part of one that was split. Zero where that end is free or no step was
/// made. Refused unless the world is to find `holds`. The start of a branch is held by its parent,
/// and not told.
TDL_API TdlStatus tdl_rod_hold_force(const TdlWorld* world, TdlBodyId rod, bool end, TdlVec3* out);

/// What a section of a rod bears, from the balance of the last step: with its inertia, damping,
/// contacts and loads, summed from the far end, whatever the model (docs/theory/rod-forces.md). A
/// mean over the step, or over the last part of one that was split, in the shape in which the step
/// is in balance.
typedef struct TdlRodForce {
    TdlPose frame;         // m; its columns are the tangent and the second and third material axes
    TdlVec3 force, moment; // N, N m, of what lies beyond on what lies before, about that place
    TdlVec3 inner;         // N, the force in that frame: tension and the two shears
    TdlVec3 bending;       // N m, the moment there: of twist, and about the second and third axis
} TdlRodForce;

/// The forces at `count` arc lengths in [0, length]; `at` null: at the nodes and the middles of the
/// elements in turn, 2 element_count + 1. Where a force acts in a place, the section just before it
/// is told. Zero before the first step. Refused unless the world is to find `forces`, and of rods
/// that are part of a tree.
TDL_API TdlStatus tdl_rod_forces(const TdlWorld* world, TdlBodyId rod, int count, const double* at,
                                 TdlRodForce* out);

/// What holds an end, in the same step.
typedef struct TdlRodReaction {
    TdlPose frame;         // of the end
    TdlVec3 force, moment; // N, N m, of the hold on the rod, about the end
    double power;          // W, that it gives an end that it leads
    double work;           // J, since the rod was added; part of the state
} TdlRodReaction;

/// Zero of an end that is free. Refused as tdl_rod_forces is.
TDL_API TdlStatus tdl_rod_reaction(const TdlWorld* world, TdlBodyId rod, bool end,
                                   TdlRodReaction* out);

/// How stable the equilibrium is to which a rod was last settled: the smallest eigenvalue of the
/// Hessian of its potential energy, over its smallest stiffness (K3 / element length) for the
/// super-models and relative to the stiffness of the material in its shape for the others. About
/// one without loads, zero where the shape is about to give way (or may move at no cost), positive
/// where it is stable; NaN before the first settling.
TDL_API TdlStatus tdl_rod_stability(const TdlWorld* world, TdlBodyId rod, double* out);

/// What the start of a rod rides on.
typedef struct TdlRodAttach {
    TdlBodyId to; // a collider
    double clear; // m, >= 0: within this of the start the two do not touch, and may pass through
                  // each other; default (negative): 20 radii, or a twentieth of the length where
                  // that is less, but at least 2 radii
} TdlRodAttach;

/// One on which nothing rides yet, with the default length.
TDL_API TdlRodAttach tdl_rod_attach_default(void);

/// Fixes the start of a rod, as far as it is held, to a collider as both are now. From then on its
/// place and its frame are, at the end of each step and part of a step, where the collider has
/// them, moved by its motion or by a program (control.h): of a mesh whose vertices move, on the
/// triangle nearest to the start, at the same shares of its corners and the same height, turned
/// with its normal and its first side. No part of the state: who loads one attaches before. Refused
/// where the start is free, moved by a motion or a parent, or rides already; and on what is moved
/// by forces, which a joint holds instead. A collider is not removed while rods ride on it. With a
/// null definition the start no longer rides: it stays where it is, and the rod touches what it
/// rode on.
TDL_API TdlStatus tdl_rod_attach(TdlWorld* world, TdlBodyId rod, const TdlRodAttach* def);

#ifdef __cplusplus
}
#endif

#endif
