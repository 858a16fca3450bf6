// The contacts of a step and the bodies that are not linear in it, in turn. docs/theory/world.md,
// section 1
#ifndef TDL_WORLD_ROUNDS_H
#define TDL_WORLD_ROUNDS_H

#include "world/world.h"

typedef struct Rounds {
    int count;
    double residual;       // the largest that is left of a body's own equation, relative
    bool ended;            // it is small enough
    Body* culprit;         // whose it is; null where all are linear
    bool failed;           // it could not be linearised
    const Joint* open;     // a joint that did not close; null: they all did
    ContactsSolved solved; // of the last round; iterations and seconds of all
} Rounds;

// After every body was predicted: adds what joints and contacts do to the bodies' v_free.
TdlStatus rounds_solve(TdlWorld* world, const BodyStep* step, Rounds* out);

#endif
