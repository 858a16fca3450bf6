// Loads that vary in time, as a body keeps them.
#ifndef TDL_BODY_LOAD_H
#define TDL_BODY_LOAD_H

#include "body/time_fn.h"
#include "tendril/load.h"

struct Body;

typedef struct VaryingLoad {
    TdlLoadDef def;        // its data are its own
    int slot;              // for its body
    TdlVec3 force, torque; // N, N m, at the time that was last taken
} VaryingLoad;

typedef struct LoadList {
    VaryingLoad* at;
    int count, capacity;
} LoadList;

void load_list_free(const TdlHost* host, LoadList* list);
TdlStatus load_list_add(const TdlHost* host, LoadList* list, const TdlLoadDef* def);

// The same loads for the same body of another world.
TdlStatus load_list_copy(const TdlHost* host, const LoadList* from, LoadList* to);

// Takes the values at a time; the account of the body tells when they are not finite.
void load_take(VaryingLoad* load, double time, struct Body* body);

#endif
