// Contacts of a world (world.h): what is looked for, how two materials touch, and what contacts
// carry.
#ifndef TENDRIL_CONTACT_H
#define TENDRIL_CONTACT_H

#include "tendril/body.h"
#include "tendril/friction.h"
#include "tendril/math.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/// How contacts answer.
typedef enum TdlContactResponse {
    TDL_RESPONSE_EXACT = 0, // impulses by Signorini's and Coulomb's law, to the solver's tolerance
    TDL_RESPONSE_BARRIER,   // forces that grow without bound as a gap closes: nothing ever overlaps
    TDL_RESPONSE_S3,        // normal impulses by Signorini's law, and friction that always slides,
                            // by the solver active-set or normal-interior: to compare with
} TdlContactResponse;

/// The barrier: a gap g below the distance d has the energy -stiffness (g - d)^2 ln(g / d), and
/// friction the force mu N (2 y - y^2), y = sliding speed / creep, that is Coulomb's from y = 1 on.
/// Restitution is not heeded.
typedef struct TdlBarrierDef {
    double distance;  // m, >= 0; default 0: a tenth of the thinnest radius
    double stiffness; // N/m, >= 0; default 0: of each contact the mass of the lighter body over the
                      // square of the step
    double creep;     // m/s, > 0; default 1e-3
} TdlBarrierDef;

/// What is done about bodies that overlap when the first step begins.
typedef enum TdlContactStart {
    // They are moved apart, by a tenth of the thinner radius a step at most. What is inside boxes
    // and closed meshes or through triangles is put beside them at once, at rest as it is; where it
    // cannot be moved the first step fails.
    TDL_START_SEPARATE = 0,
    TDL_START_REFUSE, // the first step fails
    TDL_START_KEEP,   // as `separate`, but what is inside or through stays
} TdlContactStart;

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
    TdlContactResponse response;  // default exact
    TdlBarrierDef barrier;        // of the barrier
    TdlFrictionSolverKind solver; // of the exact response; default alternating. Of S3's it is
                                  // active-set unless normal-interior
    double tolerance;             // > 0: relative error of the solver, or of the barrier's forces;
                                  // default 1e-8
    int max_iterations;           // > 0, of the solver of the exact response; default 1000
    double overlap;               // > 0, new overlap, in radii of the thinner, at which a step is
                                  // made again in parts; default 0.1
    TdlContactStart start;        // default separate
} TdlContactDef;

/// Two bodies that overlap, where they do so most.
typedef struct TdlOverlap {
    TdlBodyId body[2];
    int element[2]; // of each; 0 where a body has none
    TdlVec3 point;  // m
    double depth;   // m
    bool through;   // one is inside the other, or passes through its surface: there are no contacts
                    // that part them
} TdlOverlap;

/// A contact of the last step and what it carried. Its sides have the address of a place each: a
/// body, an element of it, and (u, v) there, both in [0, 1]. Along curves u runs from the element's
/// start to its end; on triangles u and v are the shares of the second and the third corner. Where
/// a body has no such places (planes, balls) element, u and v are 0.
typedef struct TdlContactForce {
    TdlBodyId body[2]; // a body without coordinates, as a collider, comes second
    int element[2];
    double u[2], v[2];
    TdlVec3 point;  // m, where the first body's surface was touched
    TdlVec3 normal; // from the first to the second
    TdlVec3 force;  // N on the second, mean over the step; the first gets the opposite
    double lasts;   // s, over which it is the mean: force times this is the impulse. The step, but
                    // of rigid bodies from velocities to velocities, which live half a step before
                    // places: half a step in the first one
    double gap;     // m, at the start of the step, or of its part; with the barrier at its end
    double mu;
    bool sliding; // at the end of the step; else it sticks or carries nothing
} TdlContactForce;

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

/// Force and torque (about its present position) of all contacts on one body, as in their list. Of
/// a rod: about its start.
typedef struct TdlWrench {
    TdlVec3 force, torque; // N, N m
} TdlWrench;

#ifdef __cplusplus
}
#endif

#endif
