// Error maps of one contact, generic in the block size. friction.md (F.9)-(F.12)
#ifndef TDL_FRICTION_ERROR_H
#define TDL_FRICTION_ERROR_H

#include "friction/cone.h"
#include "tendril/friction.h"

// f <- the map of `kind` at (u, r) with step rho; zero exactly where the law holds.
void error_map(TdlFrictionError kind, int d, ContactLaw law, double mu, double rho, const double* u,
               const double* r, double* f);

// The norm of the map over all contacts, from the velocities u at r.
double error_norm(const TdlFrictionProblem* p, TdlFrictionError kind, bool relative,
                  const double* r, const double* u);

// z <- x + y - (x^2 + y^2)^(1/2) in the Jordan algebra of the Lorentz cone.
void fischer_burmeister(int d, const double* x, const double* y, double* z);

#endif
