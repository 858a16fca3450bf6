// Where two bodies do not touch although they meet: near the place where one grows from the other,
// or where a joint holds them together.
//
// A kind of body, or what joins bodies, hands these to its world, which leaves out every contact of
// the two whose place is in the ball, and what passes through there in a step.
#ifndef TDL_BODY_CLEARANCE_H
#define TDL_BODY_CLEARANCE_H

#include "tendril/body.h"
#include "tendril/math.h"

struct Body; // of body.h

typedef struct Clearance {
    const struct Body* body[2]; // in any order
    double length;              // m, > 0: radius of the ball
    // Its centre as the bodies are now; false: there is none, and they touch. A function of the
    // state, or a resumed run would see other contacts.
    bool (*anchor)(const void* owner, TdlVec3* out);
    const void* owner; // handed to it; what is taken away by it
} Clearance;

// May be called between any two steps. What is near the anchor then no longer touches; and after
// the end of one what overlaps there is parted slowly, as bodies placed in each other are. A body
// that is removed takes its own with it.
TdlStatus world_keep_clear(TdlWorld* world, const Clearance* clearance);
void world_end_clearances(TdlWorld* world, const void* owner);

// Balls that a straight line is cut by.
enum { CLEAR_BALLS = 16 };

typedef struct ClearBall {
    TdlVec3 centre;
    double radius;
} ClearBall;

// What of the line from a to b is outside of all balls, as shares of it: parts[k] from [0] to [1].
// Returns how many parts there are, at most count + 1.
int clearance_outside(const ClearBall* balls, int count, TdlVec3 a, TdlVec3 b,
                      double parts[CLEAR_BALLS + 1][2]);

#endif
