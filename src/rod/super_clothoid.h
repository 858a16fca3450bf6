// Terms of the super-clothoid's equation of motion, one by one, in the rod's present state. The
// world uses the rod interface; these serve tests and comparisons.
#ifndef TDL_ROD_SUPER_CLOTHOID_H
#define TDL_ROD_SUPER_CLOTHOID_H

#include "rod/clothoid.h"
#include "rod/rod.h"

// The lower triangle of M, [dof * dof] in columns. (C.11)
void super_clothoid_mass(const Rod* rod, double* M);

// Momentum that the velocities bring from the shape they were found in, plus what gravity adds in
// the step and less what the clamp's motion takes up, as seen by the motions of the present
// shape. (C.13)
void super_clothoid_momentum(const Rod* rod, const RodStep* step, double* out);

#endif
