// Sweeps of nonlinear Gauss-Seidel, shared by the plain and the accelerated solver.
#ifndef TDL_FRICTION_GAUSS_SEIDEL_H
#define TDL_FRICTION_GAUSS_SEIDEL_H

#include "friction/run.h"
#include "friction/single_rows.h"

// Sweeps from one true measure of the error to the next, which costs about a sweep.
enum { MEASURE_EVERY = 25 };

typedef struct Sweeper {
    Run* run;
    double* prep;             // [n] prepared diagonal blocks
    double* part;             // [tasks] squared errors met, reduced in order
    long long* counts;        // [2 tasks] fail-safes and unsolvable problems
    double omega;             // relaxation, 1: none
    const SingleRows* single; // rows of sweeps through bodies; null: those of the problem
    double* r;                // the iterate being swept
    int first_task;           // of the phase under way
} Sweeper;

TdlStatus sweeper_init(Sweeper* sweeper, Run* run);

// One sweep over r in place, v of the system being that of r. Returns the norm of the caller's
// error map as met on the way: each contact with the velocity it had when visited.
double sweeper_sweep(Sweeper* sweeper, double* r);

#endif
