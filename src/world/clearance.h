// The clearances of a world: which places of which bodies do not touch. docs/theory/world.md,
// section 4
#ifndef TDL_WORLD_CLEARANCE_H
#define TDL_WORLD_CLEARANCE_H

#include "base/memory.h"
#include "body/body.h"
#include "body/clearance.h"

// A ball in which two bodies do not touch in the present shape, since an end of the one is held
// inside the other. (W.35)
typedef struct RootedPair {
    const Body* body[2];
    ClearBall ball;
} RootedPair;

typedef struct ClearanceList {
    Clearance* at; // by the ids of their bodies once `sorted`
    int count, capacity;
    bool sorted;
    RootedPair* rooted; // the same
    int rooted_count, rooted_capacity;
} ClearanceList;

void clearance_free(const TdlAllocator* mem, ClearanceList* list);

// Before they are asked for by several threads.
void clearance_sort(ClearanceList* list);

// The balls in which two bodies do not touch, as they are now: how many, at most CLEAR_BALLS.
int clearance_balls(const ClearanceList* list, const Body* a, const Body* b,
                    ClearBall out[CLEAR_BALLS]);

// Whether one of `count` places is in one of them, made larger so many times.
bool clearance_covers(const ClearanceList* list, const Body* a, const Body* b,
                      const TdlVec3* places, int count, double times);

// Pairs that are rooted in the present shape: found anew with its contacts.
void clearance_unroot(ClearanceList* list);
bool clearance_add_rooted(const TdlAllocator* mem, ClearanceList* list, const RootedPair* pair);
// Whether a pair has a clearance of its own.
bool clearance_knows(const ClearanceList* list, const Body* a, const Body* b);

// Whether there is any.
static inline bool clearance_any(const ClearanceList* list) {
    return list->count + list->rooted_count > 0;
}

// A body goes, and what is about it.
void clearance_forget(ClearanceList* list, const Body* body);

#endif
