// A held far end of a rod that is built from its start: bilateral rows, solved with columns of
// A^-1, and the even stretching of the rod that the force of the hold makes. linear-time.md (L.10)
#ifndef TDL_ROD_HELD_END_H
#define TDL_ROD_HELD_END_H

#include "rod/rod.h"

// X := A^-1 X for `count` columns, without the hold.
typedef void HeldSolve(const Rod* rod, int count, double* X);

// Doubles of a rod's `held`; 0 where its end is free.
size_t held_end_count(TdlHold end, int dof_count);

// After the velocity without hold was found in v_free: finds the hold's impulse and corrects it, so
// that the step ends where the hold is, not only to first order. False when it cannot be found.
bool held_end_predict(Rod* rod, const RodStep* step, HeldSolve* solve);

// Corrects A^-1 x, found without the hold, to what the held rod does. (L.11)
void held_end_project(const Rod* rod, double* x);

// After contacts, which gave `impulse` (null: none): the same with the v_free that they left.
void held_end_touch(Rod* rod, const RodStep* step, const double* impulse);

// What stretching adds to the losses of the rest, with the velocity of the step; and the end of the
// step: the rod has its new length, and the force of the hold is known.
void held_end_add_losses(const Rod* rod, const RodStep* step, RodLosses* losses);
void held_end_advance(Rod* rod, const RodStep* step);

// Whether the step under way ends where the hold is, or the hold gives way; and the force (N) that
// it then pulls with, else 0.
bool held_end_met(const Rod* rod);
double held_end_limit(const Rod* rod);

#endif
