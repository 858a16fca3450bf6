// Whose fault it is: bodies that messages name.
#ifndef TDL_WORLD_CULPRITS_H
#define TDL_WORLD_CULPRITS_H

#include "world/world.h"

// What a body's account has of one fault.
typedef double (*FaultFn)(const BodyAccount*);
double fault_failed(const BodyAccount* account);
double fault_missed(const BodyAccount* account);
double fault_energy(const BodyAccount* account);

// The body with most of it; null: none has any.
Body* culprit_find(const TdlWorld* world, FaultFn fault);

// The two that press on each other most in the last attempt; null: nothing does.
void culprits_find_pressed(const TdlWorld* world, Body* out[2]);

// Warnings of a step that starts at a time: which hold gave way in the part that was kept, and that
// energy rose, most of it that of `riser`, which may be null.
void culprits_tell_giving(const TdlWorld* world, double start);
void culprits_tell_rise(const TdlWorld* world, double start, double rise, const Body* riser);

#endif
