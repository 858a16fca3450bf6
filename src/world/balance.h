// What comes from nowhere: the energy that a body has after a step and nothing gave it. world.md
// (W.20, W.21)
#ifndef TDL_WORLD_BALANCE_H
#define TDL_WORLD_BALANCE_H

#include "world/world.h"

// Before an attempt, of one body.
void balance_begin(Body* body);

// After its `advance`s: counts what every system gained. The head of the one that gained most, over
// what it may in a step; null: none did.
Body* balance_judge(TdlWorld* world, const BodyStep* step);

// After that: how much of what is at play joints feigned, the most of a linkage, and whose.
double balance_feigned(const TdlWorld* world, Body** whose);

// The attempt stays: enters it into the ledgers. Returns what came from nowhere.
double balance_keep(TdlWorld* world);

// The head of the system that has gained most over what it may; null: none has.
Body* balance_find_leak(TdlWorld* world);

double balance_at_play(const Body* head); // J

// The ledgers as bytes of a saved state.
size_t balance_size(const TdlWorld* world);
char* balance_save(const TdlWorld* world, char* bytes);
const char* balance_load(TdlWorld* world, const char* bytes);

// Where a failed attempt went wrong: which element of a system moved furthest. The first half in
// the state that failed, the second when that was undone.
typedef struct FaultPlace {
    Body* head;
    TdlVec3* points; // [count] the middles of all curves of the system
    int count;
} FaultPlace;

FaultPlace balance_note_failed(TdlWorld* world, Body* head);
void balance_locate(TdlWorld* world, FaultPlace* failed, TdlStepFault* out);

#endif
