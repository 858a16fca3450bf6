// Newton steps for rows of strain: the problem as one body of the friction room, whose solvers
// factor over nodes.
#ifndef TDL_FRICTION_STRAIN_NEWTON_H
#define TDL_FRICTION_STRAIN_NEWTON_H

#include "friction/strain_system.h"

typedef struct StrainNewton {
    const StrainAim* aim;    // of the solve under way
    TdlFrictionSolver* near; // from a start that is good
    TdlFrictionSolver* far;  // from nothing
} StrainNewton;

TdlStatus strain_newton_create(StrainNewton* newton, const TdlHost* host, Pool* pool);
void strain_newton_destroy(StrainNewton* newton);

// Multiplications of all steps of a solve, about; infinite where other bodies are not in whitened
// coordinates or factors do not fit.
double strain_newton_work(const StrainSystem* s);

// By one of the solvers, from r, which is replaced. TDL_STATUS_OK says nothing of its error.
TdlStatus strain_newton_solve(TdlFrictionSolver* solver, const StrainSystem* s, Arena* arena,
                              const TdlHost* host, double tolerance, double budget, double* r,
                              TdlFrictionInfo* info);

#endif
