// Contacts split into connected groups, and the order within a group. S1 figure 5
#ifndef TDL_FRICTION_ISLANDS_H
#define TDL_FRICTION_ISLANDS_H

#include "base/memory.h"
#include "friction/problem.h"

typedef struct Islands {
    int count;
    int* start;   // [count + 1] largest island first, ties by lowest contact
    int* contact; // [n] contacts of each island, ascending
} Islands;

// Two contacts are coupled when W has a block for them, or when they share a body.
TdlStatus islands_find(Arena* arena, const TdlFrictionProblem* problem, bool split, Islands* out);

// Reorders one island in place: by colour (greedy, in the given order), or at random.
typedef struct Colours {
    int count;
    int* start; // [count + 1]
} Colours;
TdlStatus islands_colour(Arena* arena, const TdlFrictionProblem* problem, int* contact, int n,
                         Colours* out);
void islands_shuffle(int* contact, int n, uint64_t seed);

#endif
