// Error maps of one contact, generic in the block size. friction.md (F.9)-(F.12)
#ifndef TDL_FRICTION_ERROR_H
#define TDL_FRICTION_ERROR_H

#include "friction/cone.h"
#include "tendril/friction.h"

// f <- r - P_K(r - rho (u + mu |u_T| n)). (F.9) Here, since sweeps ask at every visit.
static inline void natural_map(int d, ContactLaw law, double mu, double rho, const double* u,
                               const double* r, double* f) {
    double x[CONE_MAX] = {0}, p[CONE_MAX];
    for (int k = 0; k < d; ++k) {
        x[k] = r[k] - rho * u[k];
    }
    x[0] -= rho * shift_of(d, law, mu, u);
    law_project(d, law, mu, x, p);
    for (int k = 0; k < d; ++k) {
        f[k] = r[k] - p[k];
    }
}

// The same of Alart and Curnier, or of Fischer and Burmeister.
void other_map(TdlFrictionError kind, int d, ContactLaw law, double mu, double rho, const double* u,
               const double* r, double* f);

// f <- the map of `kind` at (u, r) with step rho; zero exactly where the law holds.
static inline void error_map(TdlFrictionError kind, int d, ContactLaw law, double mu, double rho,
                             const double* u, const double* r, double* f) {
    if (kind == TDL_FRICTION_ERROR_NATURAL) {
        natural_map(d, law, mu, rho, u, r, f);
    } else {
        other_map(kind, d, law, mu, rho, u, r, f);
    }
}

// The norm of the map over all contacts, from the velocities u at r.
double error_norm(const TdlFrictionProblem* p, TdlFrictionError kind, bool relative,
                  const double* r, const double* u);

// z <- x + y - (x^2 + y^2)^(1/2) in the Jordan algebra of the Lorentz cone.
void fischer_burmeister(int d, const double* x, const double* y, double* z);

#endif
