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
// Multiplications that a solve may take beside the budgets of its methods; default: any. Islands of
// 1000 contacts or more share it one after the other, each of the others may take what these leave.
void friction_solver_set_budget(TdlFrictionSolver* solver, double budget);

#endif
