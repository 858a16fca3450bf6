// What the barrier knows of the contacts in one shape: which of them count, and how their gaps go
// with the velocities. docs/theory/barrier.md, sections 2 and 4
#ifndef TDL_WORLD_BARRIER_MODEL_H
#define TDL_WORLD_BARRIER_MODEL_H

#include "world/barrier_newton.h"
#include "world/problem.h"

typedef struct BarrierRule {
    TdlBarrierDef def;
    double tolerance;
} BarrierRule;

// Gap below which it is felt, m.
double barrier_reach(const BarrierRule* rule, const Contacts* contacts);

// Whether a candidate is a minimum of the gap along the bodies that bend.
bool barrier_counts(const Seen* seen, const Candidate* candidate);

// The energy of the contacts in the present shape, J. (P.3)
double barrier_stored(const BarrierRule* rule, const TdlWorld* world);

// Contacts as they were in one shape, with their rows of H there.
typedef struct BarrierModel {
    Contacts contacts; // candidates and arena of its own; it sees what the world's do
    int* source;       // [candidates] the world's; -1: none of the present shape
    Problem problem;
    TdlPose* pose;                         // [2 count] of the bodies of each
    double *offset, *stiffness, *W, *free; // of `barrier`
    BarrierProblem barrier;                // of the same contacts
} BarrierModel;

// The contacts of the present shape, to which the velocities v led in dt; null: with which the step
// begins. Those of the model before, unless it is null, keep their places. (P.8), (P.16)
TdlStatus barrier_model_make(const BarrierRule* rule, TdlWorld* world, double dt, const double* v,
                             const BarrierModel* before, BarrierModel* model);

// W and the velocities without contacts, after the bodies were predicted; with `same` A is as it
// was.
void barrier_model_columns(BarrierModel* model, bool same);

// The impulses that the gaps of a shape have, with the velocities that led to it; friction goes by
// their own normal forces.
void barrier_model_impulses(BarrierModel* model, const double* v);

TdlVec3 barrier_model_force(const BarrierModel* model, int i); // N on the second body

// How far the forces of a shape, `now`, are from those that led to it, which were none where `from`
// is null: the largest difference, relative to the force and to one that moves the lighter body by
// the distance in the step. (P.12) `taken` has room for those of `from`.
double barrier_model_compare(const BarrierModel* from, const BarrierModel* now, bool* taken);

// Whether no gap is closed.
bool barrier_model_apart(const BarrierModel* model);

#endif
