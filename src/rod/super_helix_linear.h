// The linear-time super-helix, four rods in the lanes of a group. linear-time.md
#ifndef TDL_ROD_SUPER_HELIX_LINEAR_H
#define TDL_ROD_SUPER_HELIX_LINEAR_H

#include "rod/rod.h"

// X := A^-1 X for `count` columns of dof_count numbers each, after predict; four at a time in the
// lanes. (L.4)
void super_helix_solve_columns(const Rod* rod, int count, double* X);

#endif
