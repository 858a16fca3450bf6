// Steps of a nonsmooth Newton method on the Alart-Curnier function, of the problem itself or of a
// regularised one around a centre. friction.md section 4.4
#ifndef TDL_FRICTION_NEWTON_H
#define TDL_FRICTION_NEWTON_H

#include "friction/run.h"
#include "linalg/block_lu.h"

typedef struct Newton {
    Run* run;
    BlockLu lu;
    double* value;         // [blocks d d] the Jacobian
    bool* idle;            // [n] rows that are the identity
    double *rho_n, *rho_t; // [n] steps of the maps
    double *r, *u;         // [n d] iterate and its velocity W r + b (+ the proximal term)
    double* f;             // [n d] F
    double *step, *du;     // [n d] direction and W step
    double *trial, *u_trial;
    double* center; // [n d] proximal centre
    double* weight; // [n] D
    double eps;     // 0: plain Newton
    bool original;  // disc of radius mu max(0, r_N - rho u_N) instead of mu r_N
} Newton;

// Ready at run->start, or at the best iterate. TDL_STATUS_STOPPED: the factors would be too large.
TdlStatus newton_init(Newton* nw, Run* run);
// u <- W r + b + eps D (r - center)
void newton_velocity(Newton* nw, const double* r, double* u);
// Half the squared norm of F, which is left in f unless that is null.
double newton_merit(const Newton* nw, const double* u, const double* r, double* f);
// A step from r, u, f of merit q0. Returns the new merit, or a negative number when it failed.
double newton_step(Newton* nw, double q0);

#endif
