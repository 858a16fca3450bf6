// A held far end of a rod that is built from its start: a bilateral constraint on velocities,
// solved with columns of A^-1. linear-time.md (L.10)
#ifndef TDL_ROD_HELD_END_H
#define TDL_ROD_HELD_END_H

#include "rod/rod.h"

// X := A^-1 X for `count` columns, without the constraint.
typedef void HeldSolve(const Rod* rod, int count, double* X);

// Doubles of a rod's `held`; 0 where its end is free.
size_t held_end_count(TdlHold end, int dof_count);

// After the velocity without constraint was found in v_free: finds the constraint's forces and
// corrects it. False when they cannot be found.
bool held_end_predict(Rod* rod, const RodStep* step, HeldSolve* solve);

// Corrects A^-1 x, found without the constraint, to what the held rod does. (L.11)
void held_end_project(const Rod* rod, double* x);

#endif
