// What the step of a nodal rod keeps in the rod's work; for the files that make it.
#ifndef TDL_ROD_NODAL_WORK_H
#define TDL_ROD_NODAL_WORK_H

#include "linalg/chain_root.h"
#include "rod/nodal.h"

// What the rounds of a step with contacts keep.
typedef struct NodalKept {
    TdlVec3 momentum;              // angular, that a free rod ends with if nothing touches it
    TdlMat3 lock, inverse_inertia; // of a free rod: (R'M A^-1 M R)^-1, (R'M R)^-1 (D.19)
    double mass_factor;
    double left;  // residual of the last round
    bool lagging; // the step needed the energy of NodalKind.lag
    // symmetric roots of `lock` and of (c R'M R)^-1, for rows of contacts (D.20)
    TdlMat3 lock_root, inertia_root;
    bool planned, rooted; // the tree of the chain is there; its factor is that of A
} NodalKept;

// What a step keeps in the rod's work.
typedef struct NodalWork {
    double *band, *whole;    // A, then its factor; A
    double *u, *change, *q;  // [n]: velocity, its change, coordinates at the end of the step
    double *load, *mass;     // [n]: dead load, inertia
    double *turn, *response; // [3 n]: M times the rotations of the rod; A^-1 of them
    double* rotation;        // [3 n]: the rotations, for contacts
    double *force, *rest;    // [3 elements]: stress, and the natural strain with damping
    double* lag;             // [3 (edges + 1)], of NodalKind.lag; and the natural strain it lags
    NodalKept* kept;         // what the step's rounds need
    double* root;            // [nodal_root_doubles] of nodal_root.c
    NodalElement* elements;  // [elements]
    int n, element_count;
} NodalWork;

NodalWork nodal_work(const Rod* rod);

// Whether nothing holds it.
bool nodal_is_free(const Rod* rod);

// `count` rows of three columns, which are n apart, times a vector; x += the columns times weights.
TdlVec3 nodal_dots(const double* columns, ptrdiff_t n, int count, const double* x);
void nodal_add_columns(const double* columns, int n, TdlVec3 weight, double* x);

size_t nodal_root_doubles(const NodalKind* kind, int element_count);

// A shape with these coordinates that the step ends with.
NodalShape nodal_end_shape(const Rod* rod, const RodStep* step, const double* q);

#endif
