// --own FILE of the commands that solve contact problems: a solver from a shared object.
#ifndef TDL_APP_OWN_SOLVER_H
#define TDL_APP_OWN_SOLVER_H

#include "app/command.h"

#define OWN_SOLVER_HELP                                                                            \
    "a shared object that defines tdl_friction_own, a solver of one's own (docs/problems.md)"

// Loads what --own names, null where it was not given. A message and its exit code where it cannot
// be loaded, else EXIT_DONE. It stays loaded to the end.
int own_solver_option(const Args* args, TdlFrictionOwnFn* out);

#endif
