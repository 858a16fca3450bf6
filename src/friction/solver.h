// What the world asks of a contact solver beside the public calls.
#ifndef TDL_FRICTION_SOLVER_H
#define TDL_FRICTION_SOLVER_H

#include "base/threads.h"
#include "tendril/friction.h"

// A solver that works with a pool of its owner's, which must outlive it, instead of
// options->threads threads of its own; null: with these.
TdlStatus friction_solver_create_lent(const TdlHost* host, const TdlFrictionOptions* options,
                                      Pool* pool, TdlFrictionSolver** out);

// Of the solves that follow.
void friction_solver_set_tolerance(TdlFrictionSolver* solver, double tolerance);

#endif
