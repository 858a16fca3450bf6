// What iterations come to, for whoever watches a solve.
#ifndef TDL_FRICTION_HISTORY_H
#define TDL_FRICTION_HISTORY_H

#include "friction/run.h"

typedef struct History {
    TdlFrictionWatchFn watch;
    void* user;
    double unit;         // the caller's error is so many of an island's in SI
    int island;          // that is being solved
    unsigned char* mode; // [problem n] where each contact was last
    double *u, *v; // [problem n d], [problem dofs] scratch of its own: a solve goes on as it would
    double begin, spent; // s, the start of the solve, and time of the history's own
} History;

// Memory comes from the arena.
TdlStatus history_begin(History* history, Arena* arena, const TdlFrictionProblem* problem,
                        const TdlFrictionOptions* options, double begin);

#endif
