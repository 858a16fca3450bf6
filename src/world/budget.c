// The budget of a step.
#include "world/budget.h"

#include "base/log.h"

#include <math.h>

// Multiplications for each coordinate, to predict, move and judge it, and for each contact, to find
// it, build its rows and look back: 48,600 coordinates take 40 ms and 25,000 contacts 0.2 s at 1e9
// a second.
static const double COORDINATE_EACH = 800.0, CONTACT_EACH = 8000.0;

// Of the budget, for the contacts of each part that is left once it is spent. At most 14 parts are.
static const double LAST_SHARE = 1.0 / 16.0;

double budget_of_attempt(const TdlWorld* world, int contact_count) {
    return COORDINATE_EACH * world_dof_count(world) + CONTACT_EACH * contact_count;
}

bool budget_is_spent(const TdlWorld* world, double effort) {
    return world->def.budget > 0.0 && effort >= world->def.budget;
}

double budget_allowed(const TdlWorld* world, double effort) {
    double budget = world->def.budget;
    return budget > 0.0 ? fmax(budget - effort, LAST_SHARE * budget) : INFINITY;
}

void budget_tell(const TdlWorld* world, double start, int attempts, int contact_count,
                 Body* const pair[2]) {
    char name[2][TDL_BODY_NAME_SIZE], who[2 * TDL_BODY_NAME_SIZE + 32] = "";
    for (int k = 0; k < 2 && pair[0] != NULL; ++k) {
        world_name_body(pair[k], name[k]);
    }
    if (pair[0] != NULL) {
        snprintf(who, sizeof who, ", the hardest between %s and %s", name[0], name[1]);
    }
    tdl_log(
        &world->host, TDL_LOG_WARNING,
        "step %ld at %.6g s: its budget of %.3g is spent after %d attempts, with %d contacts%s; "
        "what is left of it is made as it is",
        world->step_count + 1, start, world->def.budget, attempts, contact_count, who);
}
