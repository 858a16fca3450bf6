// Whether the caller of something long wants no more of it.
#ifndef TDL_BASE_STOP_H
#define TDL_BASE_STOP_H

#include "tendril/base.h"

// Multiplications from one question to the next: some milliseconds.
static const double STOP_EVERY = 1.0e7;

typedef struct Stop {
    TdlStopFn asked; // null: never
    void* user;
} Stop;

static inline bool stop_asked(Stop stop) {
    return stop.asked != NULL && stop.asked(stop.user);
}

#endif
