// Forces and torques that vary in time, on any place of a body (world.h).
#ifndef TENDRIL_LOAD_H
#define TENDRIL_LOAD_H

#include "tendril/body.h"
#include "tendril/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A load. What its function tells is a force (N) and a torque (N m), of the time alone: rods take
/// them at the end of each step or part of one, in its middle where they go by the midpoint rule,
/// rigid bodies at its start, where their places are, cloths at its end. The work that it does is
/// `given`.
typedef struct TdlLoadDef {
    double at;       // m, of a rod: arc length in [0, length]
    int vertex;      // of a cloth, on which a torque does nothing
    TdlVec3 place;   // m, of a rigid body: as seen from its pose, along its axes
    bool turns;      // of a rigid body: force and torque are along its axes too, and turn with it
    TdlTimeFn value; // needed
} TdlLoadDef;

/// Adds a load to a rod, a rigid body or a cloth; others take none. It stays as long as its body.
/// No part of the state: a world that continues from saved bytes needs the same loads.
TDL_API TdlStatus tdl_world_add_load(TdlWorld* world, TdlBodyId body, const TdlLoadDef* def);

#ifdef __cplusplus
}
#endif

#endif
