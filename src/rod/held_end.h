// A held far end of a rod that is built from its start: bilateral rows, solved with columns of
// A^-1, and the even stretching of the rod that the force of the hold makes. linear-time.md (L.10)
#ifndef TDL_ROD_HELD_END_H
#define TDL_ROD_HELD_END_H

#include "rod/rod.h"

// Doubles of a rod's `held`; 0 where its end is free.
size_t held_end_count(TdlHold end, int dof_count);

// After the velocity without hold was found in v_free: finds the hold's impulse and corrects it, so
// that the step ends where the hold is, not only to first order. False when it cannot be found.
bool held_end_predict(Rod* rod, const RodStep* step);

// Contacts see a held rod with one more coordinate behind the others, its stretch, whose rate
// stands in v_free: how much of it moves a point (m), and X := A^-1 X for `count` columns. (L.11)
TdlVec3 held_end_stretching(const Rod* rod, TdlVec3 point);
void held_end_solve(const Rod* rod, int count, double* X);

// How far a held rod is from its place with the v_free that contacts left it, over its length or in
// angle; 0 where that is too little to be felt. And v_free anew without contacts, so that with
// these the step ends nearer to it.
double held_end_residual(const Rod* rod, const RodStep* step);
bool held_end_predict_again(Rod* rod, const RodStep* step);

// After contacts, which gave `impulse` (null: none): closes the end with the v_free that they left.
void held_end_touch(Rod* rod, const RodStep* step, const double* impulse);

// What stretching adds to the losses of the rest, with the velocity of the step; and the end of the
// step: the rod has its new length, and the force of the hold is known.
void held_end_add_losses(const Rod* rod, const RodStep* step, RodLosses* losses);
void held_end_advance(Rod* rod, const RodStep* step);

// How far apart the ends of a rod, of any model, can be held, m; and the force (N) of a hold that
// leads them further: a quarter of EA.
double held_end_reach(const Rod* rod);
double held_end_most(const Rod* rod);

// What the hold does to the end in the step under way: its impulse, and that of its moment.
RodWrench held_end_impulse(const Rod* rod);

// Whether the step under way ends where the hold is, or the hold gives way; and the force (N) that
// it then pulls with, else 0.
bool held_end_met(const Rod* rod);
double held_end_limit(const Rod* rod);

#endif
