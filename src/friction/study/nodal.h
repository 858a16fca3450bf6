// The nodal primal form of a problem whose contacts are nodes of a mesh, without an inverse of A.
#ifndef TDL_FRICTION_NODAL_H
#define TDL_FRICTION_NODAL_H

#include "tendril/friction.h"

// The nodal primal form (S4 eq. 3.14): W^ u - b^ = r at every node, where node i is in contact
// when mu[i] >= 0 and free (r_i = 0) when mu[i] is negative. `w` and `b` as in the explicit form,
// already turned into the contact bases. `u` holds the first guess and receives the velocities.
typedef struct NodalFormDef {
    int node_count;
    const double* mu;     // [node_count] < 0: not in contact
    const double* b;      // [3 node_count] N s, the turned impulses f
    const int* row_start; // as in TdlFrictionMatrixDef; positive definite
    const int* column;
    const double* blocks;
} NodalFormDef;
TdlStatus nodal_form_solve(const TdlHost* host, const NodalFormDef* def, double tolerance,
                           int max_iterations, double* u, double* r, TdlFrictionInfo* info);

#endif
