// What a solve may cost: multiplications, counted roughly and never timed, so that the same problem
// always ends at the same place; and whether the caller wants no more of it.
#ifndef TDL_FRICTION_EFFORT_H
#define TDL_FRICTION_EFFORT_H

#include "base/stop.h"

typedef struct Effort {
    double work;   // so far
    double budget; // the most
    Stop stop;
} Effort;

static inline void effort_add(Effort* effort, double work) {
    if (effort != NULL) {
        effort->work += work;
    }
}

// Whether so much more may be done. Null: anything.
static inline bool effort_allows(const Effort* effort, double next) {
    return effort == NULL || (effort->work + next <= effort->budget && !stop_asked(effort->stop));
}

#endif
