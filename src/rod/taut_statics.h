// Statics of a super-model stretched straight between its holds. It cannot bend: what is left to
// find is its twist. super-helix.md (H.30)
#ifndef TDL_ROD_TAUT_STATICS_H
#define TDL_ROD_TAUT_STATICS_H

#include "rod/rod.h"

typedef enum Tautness {
    TAUT_NOT = 0,
    TAUT_STRAIGHT,
    TAUT_TOO_FAR, // its ends are held further apart than it is long
    TAUT_ACROSS,  // a clamp does not look along the line between the ends
} Tautness;

Tautness taut_find(const Rod* rod);

// Straightens a rod at rest and twists it as its holds and its natural twist ask for.
void taut_settle(Rod* rod);

// Largest generalised force along the twists that are left, N m. gradient: [dof_count]
double taut_residual(const Rod* rod, TdlVec3 gravity, double* gradient);

// Smallest eigenvalue of the Hessian over these twists, N m. hessian: [dof_count^2], scratch:
// [3 dof_count]
double taut_stiffness(const Rod* rod, TdlVec3 gravity, double* hessian, double* scratch);

#endif
