// The contact problem of a body that fills space, and of what it touches: rows of strain
// (body/strain.h) beside ordinary contacts. docs/theory/granular.md
//
// Velocities of the nodes are v; the other bodies' are z, as in TdlFrictionBodiesDef: rows `h` give
// u, rows `y` what impulses do. Contacts have three components. The first side of some of them is a
// node: u = -basis' v_node + (what the others do) + u_free, an impulse r on the second side.
#ifndef TDL_FRICTION_STRAIN_H
#define TDL_FRICTION_STRAIN_H

#include "base/memory.h"
#include "base/threads.h"
#include "body/strain.h"
#include "tendril/friction.h"

typedef struct StrainProblem {
    const BodyStrain* bed;
    const double* v;               // [3 node_count] m/s, of the nodes without impulses
    TdlFrictionBodiesDef contacts; // of three components; `velocity` null and `u_free` of all but
                                   // the nodes; laws.contact_count may be 0. In units of its own:
    double unit;                   // an impulse of 1 there is 1/unit N s
    const int* node;               // [contacts] of the bed, -1: none
    const TdlMat3* basis;          // [contacts] of those with a node
} StrainProblem;

typedef struct StrainInfo {
    bool converged;
    bool stopped;
    int iterations; // sweeps and Newton steps
    double error;   // the natural one, relative to |b|, recomputed at the end; rows and contacts in
                    // units in which their diagonal blocks have a mean of 1
    double work;    // multiplications, counted roughly
} StrainInfo;

typedef struct StrainSolver StrainSolver;
TdlStatus strain_solver_create(const TdlHost* host, Pool* pool, StrainSolver** out);
void strain_solver_destroy(StrainSolver* solver);

typedef struct StrainAim {
    double tolerance;   // relative
    int max_iterations; // sweeps
    double allowed;     // multiplications
    TdlStopFn stop;     // null: never
    void* stop_user;
} StrainAim;

// Finds the impulses of rows (bed->rows.impulse: the guess is there) and of contacts (`r`, the
// same, in their own unit), u of the contacts, the nodes' velocities v, and z, what contacts do to
// the other bodies. The same bits for any number of threads.
TdlStatus strain_solve(StrainSolver* solver, const StrainProblem* problem, const StrainAim* aim,
                       double* r, double* u, double* v, double* z, StrainInfo* info);

#endif
