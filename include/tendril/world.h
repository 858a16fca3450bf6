// The world: bodies, what moves them, and the loop that steps them through time.
#ifndef TENDRIL_WORLD_H
#define TENDRIL_WORLD_H

#include "tendril/body.h"
#include "tendril/ccd.h"
#include "tendril/collider.h"
#include "tendril/contact.h"
#include "tendril/control.h"
#include "tendril/detect.h"
#include "tendril/joint.h"
#include "tendril/load.h"
#include "tendril/rigid.h"
#include "tendril/rod.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What becomes of a step whose budget is spent.
typedef enum TdlSpent {
    TDL_SPENT_KEEP = 0, // what is left of it is made as it is, and told: unsolved where it is
    TDL_SPENT_END,      // it fails, by name
} TdlSpent;

typedef struct TdlWorldDef {
    TdlVec3 gravity; // m/s^2; default (0, 0, -9.81)
    TdlVec3 wind;    // m/s, the same everywhere: what drags on rods with a `drag`; default 0
    double step;     // s, > 0: length of a time step; default 1e-3
    double error;  // 1/s, >= 0: share of its length by which a body may go wrong a second, as it is
                   // estimated: steps are halved where it is more; default 0: they are not
    double settle; // s, >= 0: time until which rods settle, slowed down by a further force of
    double settle_damping; // 1/s, >= 0, times velocity per mass, at first; of the share
                           // x of this time left there is 0.975 x^16 + 0.025 x; default 0 and 0
    bool settle_loosely;   // until then a step is kept though bodies passed through each other in
                           // it or overlap: for a rest whose history does not matter
    TdlIntegrator integrator; // default: Euler
    int thread_count;         // 0: one per processor; default 1. Results do not depend on it
    bool losses;              // every step tells where energy goes; default false
    bool holds;               // and the forces of what holds the ends of rods; default false
    bool forces;              // and the forces and moments inside rods (rod.h); default false
    double budget;  // >= 0: multiplications that a step may take, counted roughly (W.50) and never
                    // timed, so that the same step always ends at the same place; default 0: any
    TdlSpent spent; // what becomes of a step that has taken them; default: it is kept
    double energy_limit; // > 0: share of the energy at play that a body may gain from nowhere, in a
                         // step or over many, before the step fails; default 0.05
    TdlContactDef contacts;
} TdlWorldDef;

TDL_API TdlWorldDef tdl_world_def_default(void);

TDL_API TdlStatus tdl_world_create(const TdlHost* host, const TdlWorldDef* def, TdlWorld** out);
TDL_API void tdl_world_destroy(TdlWorld* world);

/// Sets how bodies of two materials (which may be the same) touch.
TDL_API TdlStatus tdl_world_set_contact_law(TdlWorld* world, int material_a, int material_b,
                                            TdlContactLaw law);

/// Where a step failed. What is at play for a body is the most that it had of kinetic and elastic
/// energy and what ends that are moved, wind and torques did on it.
typedef struct TdlStepFault {
    TdlBodyId body;         // null: no single one
    int element;            // of it, the one that moved furthest in the failed attempt; -1: unknown
    TdlVec3 place;          // m, where the middle of that was before
    double gained, at_play; // J from nowhere, of that body; 0 where that was not the reason
    TdlJointId joint;       // that could not be closed, or stayed open; null: none
} TdlStepFault;

/// What one step did.
typedef struct TdlStepInfo {
    long step;          // steps done since the start
    double time;        // s, at the end of the step
    int substeps;       // 1, or more when the step was undone and split
    int attempts;       // at it and its parts; at most some hundreds, whatever the state
    const char* reason; // why it was last undone; null: it was not
    int contact_count;  // contacts solved
    int iterations;     // of the contact solver
    double effort;      // multiplications that it took, as the budget counts them
    bool spent;         // its budget, before it was done
    double error;       // of the contact solver, relative; its tolerance or less if it converged
    int unsolved;       // substeps whose contacts were not solved to the tolerance
    double deepest;     // m, the least gap at the end of the step; 0 when nothing is near
    double friction;    // J taken by friction in this step
    double impact;      // J taken by what touched or left in this step along the normals, less what
                        // `stored` has more of it
    double push;        // J put in by moving overlapping bodies apart
    double
        work; // J done on the bodies by moving colliders and carried starts, at contacts and joints
    // 0 unless `losses` is asked for. The energy of rods and bodies and what contacts store change
    // by work + given + joints + push - friction - impact - damping - numerical.
    double damping;     // J taken by damping and drag
    double numerical;   // J taken by the time steps; what they give is negative
    double given;       // J done by wind, torques and ends that are moved
    TdlEnergy energy;   // at the end of the step
    double energy_rise; // J that nobody gave: by bodies whose clamp is still, at the floor of
                        // splits, and by `push`, where that put energy in
    double predict_seconds, detect_seconds, build_seconds, solve_seconds, advance_seconds; // wall
    double residual; // of the equations of bodies that are not linear in a step, relative
    int rounds;      // most often that contacts were solved in a substep; 0: nothing touched
    double nowhere;  // J that came from nowhere, over the bodies that gained
    int forced;      // substeps that were kept though they could not stay, at the floor of splits,
                     // or in which a hold gave way
    double estimate; // error of the step, estimated, over the length of the body that has most;
                     // 0 unless `error` or `losses` is asked for
    double stored;   // J that contacts hold at the end of the step: of the barrier
    double joints;   // J done by joints on the bodies: by motors, less what dampers took and
                     // springs have more
    double joint_error; // of the worst at the end of the step, over its size or in rad
    TdlStepFault fault; // of a step that failed
} TdlStepInfo;

/// The contacts of the last step; owned by the world, valid until it changes. Those of the parts of
/// a step that was split follow each other, each with its share of the mean.
TDL_API const TdlContactForce* tdl_world_contact_forces(const TdlWorld* world, int* count);

/// Looks for bodies that overlap in the present state, the deepest pair first, and writes at most
/// `capacity` of them; `count` receives the number of pairs. Also found is what a step does not
/// look for: bodies inside boxes and closed meshes, and curves that pass through their faces.
TDL_API TdlStatus tdl_world_overlaps(TdlWorld* world, int capacity, TdlOverlap* out, int* count);

/// Whether a step may begin with bodies as they are placed: TDL_STATUS_BAD_INPUT, told by name,
/// where they are nearer than the barrier allows. Every first step asks the same.
TDL_API TdlStatus tdl_world_check_start(TdlWorld* world);

/// One of them in words: which bodies, how deep and where.
enum { TDL_OVERLAP_TEXT_SIZE = 768 };
TDL_API void tdl_overlap_text(const TdlWorld* world, const TdlOverlap* overlap,
                              char out[TDL_OVERLAP_TEXT_SIZE]);

/// Has `fn` asked from now on within steps that take long, every few milliseconds of solving
/// contacts, before every round and further attempt; null: nobody. True ends the step with
/// TDL_STATUS_STOPPED, and the world is as it was before it. tdl_world_settle asks it for every rod
/// and iteration, tdl_world_inverse for every rod: what was under way is then left as it is.
TDL_API void tdl_world_watch_stop(TdlWorld* world, TdlStopFn fn, void* user);

/// Has `fn` called with every contact problem from now on; null: with none. What it is given lasts
/// until it returns.
TDL_API void tdl_world_watch_problems(TdlWorld* world, TdlContactProblemFn fn, void* user);

/// Has `fn` called with every question that the step asks of continuous collision detection from
/// now on, in the order of the pairs and from one thread; null: with none.
typedef void (*TdlCrossingFn)(void* user, long step, const TdlCcdQuery* query, bool collision);
TDL_API void tdl_world_watch_crossings(TdlWorld* world, TdlCrossingFn fn, void* user);

/// Called with the detector after each of its updates, one or more a step.
typedef void (*TdlDetectionFn)(void* user, const TdlDetector* detector, long step);

/// Has `fn` called after every detection of contacts from now on; null: none. The step is the one
/// that is being made, from 1. The detector is as it is until `fn` returns.
TDL_API void tdl_world_watch_detection(TdlWorld* world, TdlDetectionFn fn, void* user);

/// Advances by one step. A step that does not stay finite, or in which a rod with a still clamp
/// gains energy, is undone and split. TDL_STATUS_DIVERGED where that does not help, or where a body
/// has gained more than `energy_limit` allows: the state from before the step is kept, and
/// `info->reason` and `info->fault` tell why and where. `info` may be null.
TDL_API TdlStatus tdl_world_step(TdlWorld* world, TdlStepInfo* info);

/// Why and where a step failed, in words with the name of the body; `size` bytes at most.
TDL_API void tdl_world_tell_fault(const TdlWorld* world, const TdlStepInfo* info, size_t size,
                                  char* out);

/// Brings every rod to a static equilibrium under gravity and point forces, at rest. `residual`
/// (may be null) receives the largest remaining generalised force relative to weight times length.
TDL_API TdlStatus tdl_world_settle(TdlWorld* world, double* residual);

// --- what is there
// --------------------------------------------------------------------------------
TDL_API TdlWorldDef tdl_world_def(const TdlWorld* world); // as it is now
TDL_API double tdl_world_time(const TdlWorld* world);
TDL_API long tdl_world_step_count(const TdlWorld* world);
TDL_API TdlEnergy tdl_world_energy(const TdlWorld* world);

/// What all contacts do to one body.
TDL_API TdlStatus tdl_body_contact_wrench(const TdlWorld* world, TdlBodyId body, TdlWrench* out);

/// The contacts of the last step (tdl_world_contact_forces) that one body takes part in, in their
/// order: the first `capacity` of them; `count` receives how many there are.
TDL_API TdlStatus tdl_body_contacts(const TdlWorld* world, TdlBodyId body, int capacity,
                                    TdlContactForce* out, int* count);

/// What is observed of the bodies of a kind, from the `first` in their order on.
typedef struct TdlObserver {
    TdlQuantity quantity;
    const char* kind; // "rod", "rigid", "collider"
    int first, count; // bodies of that kind, from 0
    double at;        // m, arc length, of what is told of a place
} TdlObserver;

/// The value of an observer now. Refused where the world has no such bodies, or these have no such
/// quantity.
TDL_API TdlStatus tdl_world_observe(const TdlWorld* world, const TdlObserver* observer,
                                    TdlVec3* out);

// --- changes between two steps
// --------------------------------------------------------------------
// More of them are in control.h: what is led, and what is pulled at. These are no part of the
// state: a world that continues from saved bytes has the gravity and friction that it is given.
TDL_API TdlStatus tdl_world_set_gravity(TdlWorld* world, TdlVec3 gravity);

/// One friction coefficient for all pairs of materials.
TDL_API TdlStatus tdl_world_set_friction(TdlWorld* world, double mu);

/// See TdlWorldDef; must be positive. Of no influence on what is computed, but on how far.
TDL_API TdlStatus tdl_world_set_energy_limit(TdlWorld* world, double limit);

// --- the whole state
// ------------------------------------------------------------------------------
/// The state as bytes: what changes from step to step, and nothing else. Loaded into a world built
/// the same way, it continues with the same bits.
TDL_API size_t tdl_world_state_size(const TdlWorld* world);
TDL_API void tdl_world_save_state(const TdlWorld* world, void* bytes);
TDL_API TdlStatus tdl_world_load_state(TdlWorld* world, const void* bytes, size_t size);
TDL_API uint64_t tdl_world_state_hash(const TdlWorld* world);

/// The world once more, in memory of its own: its bodies by the same ids, with names, laws,
/// motions, what is led and pulled at, and the contacts of the last step. Both go on with the same
/// bits, and neither knows of the other. Nobody watches the copy. For many trials from one state
/// copy once, and then save and load states: that is much faster.
TDL_API TdlStatus tdl_world_copy(const TdlWorld* world, TdlWorld** out);

#ifdef __cplusplus
}
#endif

#endif
