// The barrier problem of all contacts: x o y = t e kept exactly, and its Newton matrix.
//
// x = Q r and y, the shifted velocity, both in units of Q^-1 b, come from one unknown z = x - y in
// each contact's frame of eigenvectors. Path and wedges share it. friction.md section 4.11
#ifndef TDL_FRICTION_BARRIER_H
#define TDL_FRICTION_BARRIER_H

#include "friction/space.h"

typedef struct Barrier {
    Run* run;
    Space space;            // S F'(V^2 + C Q^-1 W Q^-1 + eps) F S
    int unknowns;           // that it was planned for
    double* q;              // [n d] Q: x = Q r / unit, y = Q^-1 u / unit
    double unit;            // rms of Q^-1 b, or one
    double first_t, round2; // t0, and the rounding of |y_T| in units of t
    double eps;             // added to Q^-1 W Q^-1
    const bool* out;        // [n] contacts without impulse; null: none
    bool convex;            // without shift
    double *z, tau;         // [n d] x - y, and ln t
    double *x, *y;          // [n d]
    double* stiff;          // [n d] eigenvalues of V^2 = -dy/dx at fixed t
    double* part;           // [n d] S = (1 + V^2)^(-1/2)
    double* frame;          // [n d d] eigenvectors F, by columns
    double* shift;          // [n d] derivative of the shift by y_T
    double* offset;         // [n d] the residual of the first point
    double *g, *by_tau;     // [n d] residual, and what of its change with tau is not through y
    double *r, *u;          // [n d] in the units of the system
} Barrier;

TdlStatus barrier_init(Barrier* p, Run* run);
// g = y - Q^-1 (W r + b) - shift e - eps x - t offset from z and tau; its norm is returned.
double barrier_residual(Barrier* p);
// TDL_STATUS_STOPPED: the factors would be too large or too dear, or the caller asked to stop.
TdlStatus barrier_factor(Barrier* p);
// dx from (V^2 + C Q^-1 W Q^-1 + eps) dx = sign C a + y', and dy = y' - V^2 dx, y' = y or nothing
void barrier_solve(Barrier* p, const double* a, double sign, const double* y, double* dx,
                   double* dy);

#endif
