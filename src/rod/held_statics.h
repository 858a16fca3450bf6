// Statics of a super-model whose far end is held: the coordinates that remain free, and the way
// back to where the end has to be. super-helix.md (H.28)
#ifndef TDL_ROD_HELD_STATICS_H
#define TDL_ROD_HELD_STATICS_H

#include "rod/rod.h"

enum { HELD_MAX = 6 };

typedef struct HeldStatics {
    Rod* rod;
    int n;          // coordinates: of the tree or, where its end is held, the rod's and its stretch
    int count;      // conditions: 0 where nothing is held
    double stretch; // the last coordinate over the rod's stretch: it counts as the others do
    double *rows, *reflectors, *step;               // [count n], [count n], [6 n]
    void* keep;                                     // a saved state
    double weight[HELD_MAX], R[HELD_MAX][HELD_MAX]; // of the reflectors; triangular factor
} HeldStatics;

// Conditions on the coordinates of a rod.
int held_statics_conditions(const Rod* rod);

// Doubles of memory that held_statics_start divides; `keep` has room for the rod's state.
size_t held_statics_size(const Rod* rod);
HeldStatics held_statics_start(Rod* rod, double* memory, void* keep);

// Coordinates in all.
int held_statics_coordinates(const Rod* rod);

// Moves the rod by a change [n].
void held_statics_move(HeldStatics* held, const double* change);

// Energy of its stretching.
double held_statics_energy(const HeldStatics* held);

// Brings the end of a rod at rest back to where it is held, by the shortest way. False when it does
// not get there.
bool held_statics_restore(HeldStatics* held);

// Takes a gradient [n] of the model's energy, whose last is not set where the end is held, to the
// n - count coordinates in which the rod can still move, in place; and (unless null) finds the
// Hessian there, with the forces that hold the end, which the rod then knows.
void held_statics_reduce(HeldStatics* held, TdlVec3 gravity, double* gradient, double* hessian);

// A change [n - count] of these as one of the rod's coordinates [n].
void held_statics_expand(const HeldStatics* held, const double* moved, double* change);

#endif
