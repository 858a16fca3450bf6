// The barrier of contacts whose gaps are linear in the velocities: a convex problem in their
// impulses. docs/theory/barrier.md, section 3
#ifndef TDL_WORLD_BARRIER_NEWTON_H
#define TDL_WORLD_BARRIER_NEWTON_H

#include "base/memory.h"
#include "tendril/math.h"

typedef struct BarrierProblem {
    int count;               // of contacts
    double dt;               // s
    double distance;         // m, gaps below it are felt
    double creep;            // m/s, see creep_term
    double tolerance;        // of impulses, relative, as velocities
    double floor;            // m, of barrier_term; lowered where gaps come to lie below it
    const double* W;         // [3 count][3 count]
    const double* free;      // [3 count] m/s, relative velocity without impulses
    const double* fixed;     // [3 count] m/s, prescribed beside that; its tangential parts are used
    const double* offset;    // [count] m: a gap is offset + dt u_N
    const double* stiffness; // [count] N/m
    const double* mu;        // [count]
    double* lambda;          // [count] N, normal forces that friction goes by: guess and result
    double* r;               // [3 count] N s, impulses: guess and result
    double* u;               // [3 count] m/s, free + W r
} BarrierProblem;

typedef struct BarrierSolved {
    int iterations; // Newton steps
    double error;   // of the last, relative
    bool converged; // and no gap is below the floor
} BarrierSolved;

TdlStatus barrier_newton(BarrierProblem* problem, Arena* arena, BarrierSolved* out);

// The impulse of contact i at a velocity u, with friction by the normal force lambda, N.
TdlVec3 barrier_impulse(const BarrierProblem* problem, int i, TdlVec3 u, double lambda);

#endif
