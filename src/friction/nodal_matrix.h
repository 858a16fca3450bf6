// The matrix of steps over nodes: A + H' D H for bodies whose A was given, D a block for each
// contact.
//
// In z = C' v it is C (1 + G' D G) C', so that both say the same of a step; this one has the few
// entries of A and of rows of H. Order and pattern are those of all contacts: found once, whatever
// the modes. friction.md section 4.13
#ifndef TDL_FRICTION_NODAL_MATRIX_H
#define TDL_FRICTION_NODAL_MATRIX_H

#include "friction/nodal.h"
#include "friction/run.h"
#include "linalg/front_lu.h"

typedef struct NodalMatrix {
    Run* run;
    int count;          // coordinates of the bodies touched
    int* local;         // [problem dofs] number among them
    int* node;          // [count] block of a coordinate: up to three that contacts have in common
    int* offset;        // [count] place in it
    int* column_start;  // [n + 1] of each contact's columns, those of one side after the other
    int* column;        // coordinates they are about
    int* touched_start; // [n + 1] of each contact's blocks, in the order of its columns
    int* touched;
    size_t* pair; // [n] where the places of its blocks with each other begin
    int* place;   // of these, by rows
    int most;     // columns of a contact
    BlockPattern pattern;
    double *base, *blocks; // A, and the matrix
    Reduced* whole;        // [pattern.n]
    FrontLu lu;
    double* x; // [3 pattern.n]
} NodalMatrix;

// Whether the run's bodies have their A.
static inline bool nodal_matrix_fits(const Run* run) {
    return run->sys->v_given != NULL;
}

// Order and pattern. Memory comes from the run's arena. TDL_STATUS_STOPPED: too large.
TdlStatus nodal_matrix_plan(NodalMatrix* m, Run* run);
// With D, a d x d block by columns for each contact: minus the change of impulses with velocities.
// `idle`: those without. TDL_STATUS_STOPPED: the caller asked to.
TdlStatus nodal_matrix_factor(NodalMatrix* m, const double* slope, const bool* idle);
// v_given of the system: from what drives it to (A + H' D H)^-1 of that
void nodal_matrix_solve(NodalMatrix* m);

#endif
