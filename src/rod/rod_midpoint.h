// A rod's step by the implicit midpoint rule, by the means of its model's backward Euler step.
// docs/theory/integrators.md
#ifndef TDL_ROD_ROD_MIDPOINT_H
#define TDL_ROD_ROD_MIDPOINT_H

#include "rod/rod.h"

// What a step by the midpoint rule keeps of a rod. The arrays are one allocation.
typedef struct RodMiddle {
    double *q, *v, *q_before, *q_rest; // [dof_count] at the start of the step
    double* u;                         // [dof_count] the velocity in the middle, as it was guessed
    double* product;                   // [dof_count] what velocity products add to it (I.4)
    RodBase base;
    RodStep half;     // backward Euler over half of the step
    RodLosses losses; // over all of it, but for the numerical ones
    double excess;    // J above what its energy swings about; part of the state, with
    bool swings;      // whether that is as little as the rule explains (I.6)
    bool taken;       // this attempt goes by the midpoint rule
} RodMiddle;

TdlStatus rod_middle_create(const TdlHost* host, const Rod* rod, RodMiddle** out);

// Whether the rod can go by it now: nothing leads its ends, and a super-model's far end is free.
bool rod_middle_can(const Rod* rod, const RodStep* step);

// Whether its velocities are still those of the shape before, after a step by Euler's rule; and, of
// one whose v_free was predicted for no time at all, gives it these: its momentum in the present
// shape. (I.8)
bool rod_middle_is_behind(const Rod* rod);
void rod_middle_catch_up(Rod* rod);

// Keeps the start of the step.
void rod_middle_start(RodMiddle* m, const Rod* rod, const RodStep* step);

// Puts the rod (of a super-model) where u leads by half the step, with the velocities of the start
// brought along from a shape on this `side` of it: 1 before, -1 beyond, 0 from there. A refresh and
// a prediction follow, then `hear`, which goes on from what was found. (I.4)
enum { ROD_MIDDLE_PASSES = 4 };
extern const double ROD_MIDDLE_SIDE[ROD_MIDDLE_PASSES];
void rod_middle_place(const RodMiddle* m, Rod* rod, double side);
void rod_middle_hear(RodMiddle* m, Rod* rod, int pass);

// Puts it back.
void rod_middle_restore(const RodMiddle* m, Rod* rod);

// After its velocity in the middle, v_free, was found: what damping and loads do to the energy.
void rod_middle_lose(RodMiddle* m, const Rod* rod);

// The end of the step. A nodal rod was advanced with v_free.
void rod_middle_finish(const RodMiddle* m, Rod* rod);

// The velocity in the middle, put aside and taken back.
void rod_middle_keep(RodMiddle* m, const Rod* rod);
void rod_middle_recall(const RodMiddle* m, Rod* rod);

// Whether the energy at the end of the step is within the swings of the rule; and judges it after a
// step by whichever rule. (I.6)
bool rod_middle_allows(const RodMiddle* m, const Rod* rod, TdlEnergy before, TdlEnergy now);
void rod_middle_judge(RodMiddle* m, const Rod* rod, bool closed, TdlEnergy before, TdlEnergy now);

#endif
