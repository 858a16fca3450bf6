// What a step may take, in multiplications: counted from what was solved and from the sizes of what
// was moved, never timed, so that the same step ends at the same place anywhere. (W.50)
#ifndef TDL_WORLD_BUDGET_H
#define TDL_WORLD_BUDGET_H

#include "world/world.h"

// What an attempt takes beside solving its contacts.
double budget_of_attempt(const TdlWorld* world, int contact_count);

bool budget_is_spent(const TdlWorld* world, double effort);

// What the contacts of the next attempt may take: what is left, and once that is little a last
// share for each of the parts that are still to be made.
double budget_allowed(const TdlWorld* world, double effort);

// The warning that it is spent, in a part that starts at a time; `pair` presses hardest, or is
// null.
void budget_tell(const TdlWorld* world, double start, int attempts, int contact_count,
                 Body* const pair[2]);

#endif
