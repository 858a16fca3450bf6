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

// Contacts of an island in tasks, one after the other; the tasks of a phase share no body and may
// run at the same time. Neither depends on the number of threads.
typedef struct Phases {
    int count;       // 0: one task with all
    int* first_task; // [count + 1]
    int* start;      // [tasks + 1] of the contacts of each task
} Phases;

// Reorder one island in place: by colour (greedy, in the given order), where no two contacts of a
// phase are coupled; by groups of bodies, each in itself and then in rounds with each other, which
// keeps what is near together and makes long tasks; or at random.
TdlStatus islands_colour(Arena* arena, const TdlFrictionProblem* problem, int* contact, int n,
                         Phases* out);
TdlStatus islands_group(Arena* arena, const TdlFrictionProblem* problem, int* contact, int n,
                        Phases* out);
void islands_shuffle(int* contact, int n, uint64_t seed);

#endif
