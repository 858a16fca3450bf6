// The forces and moments inside a rod, from the balance of the last step: what lies beyond a
// section carries its loads and changes its momentum, and the section gives what is missing.
// docs/theory/rod-forces.md
#ifndef TDL_ROD_ROD_FORCES_H
#define TDL_ROD_ROD_FORCES_H

#include "rod/rod.h"

struct RodBody;

// What acts in a single place: a load, a contact, a joint, the hold of the far end.
typedef struct RodTouch {
    int element;
    double u;
    TdlVec3 arm;           // m, from the place on the centreline to where the force acts
    TdlVec3 force, couple; // N, N m; impulses until the step is known
    TdlVec3 place;         // m, where the force acts in the shape of the balance
} RodTouch;

// A shape with velocities: how one end of the step's balance of momentum moves.
typedef struct RodField {
    const double *q, *v;
    TdlPose start;
    Twist at;   // motion of the start
    double l;   // m, of an element
    double sum; // what its momentum counts with
} RodField;

// The arrays are one allocation but for `touch`.
typedef struct RodForces {
    bool known; // a step was made that told them
    int piece_count;

    // The shape in which forces are in balance: the places and frames of nodes (of nodal models:
    // of vertices, and of edges in their middles), and of super-models the coordinates.
    TdlPose* node; // [N + 1]
    double* q;     // [dofs]
    double l;      // m, of an element

    // What acts beside the inner forces, less the change of momentum: at the twelve Gauss points
    // of each element, or at vertices; and couples spread over an element.
    TdlVec3 *place, *force, *change; // [pieces] m, N; kg m/s over mass
    double* spin;                    // [pieces] of change of the spin, 1/s
    TdlVec3* couple;                 // [N] N m
    TdlVec3* turning;                // [N] rad/s, of an element in the mean
    double* taut;                    // [N] of tension.h
    RodWrench* beyond;               // [N + 1] sums of what is at a node and beyond it, about it

    RodTouch* touch;
    int touch_count, touch_capacity;

    // Before the step by the midpoint rule.
    double *q_before, *v_before; // [dofs]
    TdlPose start_before;
    Twist rate_before;

    double power[2], work[2]; // W in the last step, J in all: of the holds of start and end. The
                              // latter are part of the state.
} RodForces;

TdlStatus rod_forces_create(const TdlHost* host, const Rod* rod, RodForces** out);
void rod_forces_destroy(const TdlHost* host, RodForces* forces);

// Room for so many loads of the rod, before it has them; contacts make their own.
bool rod_forces_reserve(const TdlHost* host, RodForces* forces, int loads);

// Of a body's step: before an attempt; before one by the midpoint rule; once the velocity of one
// by Euler's rule, or the middle one of a nodal rod, is known; and after the rod was advanced.
void rod_forces_prepare(RodForces* forces);
void rod_forces_start(struct RodBody* rb);
void rod_forces_find(struct RodBody* rb);
void rod_forces_end(struct RodBody* rb);

// Parts of these: node, place, force and couple of a super-model, and what is beyond a section of
// it with its place and frame. rod_forces_reduced.c
void rod_forces_reduced(const Rod* rod, const RodStep* step, RodForces* out);
void rod_forces_reduced_middle(const Rod* rod, const RodStep* step, RodForces* out);
RodWrench rod_forces_reduced_at(const RodForces* f, const Rod* rod, int element, double u,
                                TdlPose* frame);

// The same of a nodal model; `clamp` is the moment of a clamp at its far end. The frames are those
// after the step. rod_forces_nodal.c
void rod_forces_nodal(const Rod* rod, const RodStep* step, RodForces* out, TdlVec3* clamp);
void rod_forces_nodal_frames(const Rod* rod, RodCurve* scratch, RodForces* out);
RodWrench rod_forces_nodal_at(const RodForces* f, const Rod* rod, int element, double u,
                              TdlPose* frame);

// A wrench about `from`, about `to`.
static inline RodWrench rod_forces_about(RodWrench w, TdlVec3 from, TdlVec3 to) {
    w.torque = tdl_add3(w.torque, tdl_cross3(tdl_sub3(from, to), w.force));
    return w;
}

// The force of what lies beyond arc length s, in [0, length], on what lies before it, and its
// moment about the section there, whose place and frame `at` receives.
RodWrench rod_forces_at(const Rod* rod, const RodForces* forces, double s, TdlPose* at);

// What holds an end: its force and moment about the end.
RodWrench rod_forces_reaction(const Rod* rod, const RodForces* forces, bool end);

#endif
