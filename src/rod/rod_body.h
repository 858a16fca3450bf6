// Rods as bodies of a world.
#ifndef TDL_ROD_ROD_BODY_H
#define TDL_ROD_ROD_BODY_H

#include "body/body.h"
#include "rod/rod.h"
#include "rod/rod_midpoint.h"
#include "rod/rod_momenta.h"

typedef struct RodBody {
    Body head;
    Rod* rod;
    Motion motion, end_motion;
    TdlPose placed, end_placed;
    bool led[2];       // a hand has moved the placed start, end
    bool pulled;       // the last of its loads is a hand's
    double gave;       // N, what a nodal rod that is led too far is pulled with; else 0
    bool moved;        // its ends are moved in this step, or were in the last
    RodStep step;      // of the step under way
    RodLosses losses;  // of the last attempt, of a whole tree at its root; zero unless asked for
    double stability;  // at the last settling
    RodCurve* scratch; // [element_count]
    RodMiddle* middle; // where the world goes by the midpoint rule; else null
    RodKept kept;      // of a rod that keeps its momenta so
    TdlVec3 hold[2];   // N, at start and end in the last attempt, where asked for: rod_hold.c
    TdlVec3 momentum;  // kg m/s, at the start of a step by the midpoint rule, where that is
} RodBody;

extern const BodyKind ROD_BODY;

static inline RodBody* rod_owner(const Rod* rod) {
    return rod->owner;
}

// Of its table: the step. rod_step.c
void rod_body_prepare(Body* body, const BodyStep* t);
void rod_body_expect(Body* body, const BodyPlace* place, TdlVec3 force);
void rod_body_predict(Body* body, const BodyStep* t);
double rod_body_residual(const Body* body, const BodyStep* t, const double* v,
                         const double* impulse);
void rod_body_predict_again(Body* body, const BodyStep* t, const double* v);
bool rod_body_correct(const Body* body, double* v_free);
void rod_body_advance(Body* body, const BodyStep* t);

// The forces of holds. rod_hold.c: before a step by the midpoint rule, after the losses of one by
// Euler's were found, and after the rod was advanced. And what they are.
void rod_hold_start(RodBody* rb);
void rod_hold_find(RodBody* rb);
void rod_hold_end(RodBody* rb);
TdlVec3 rod_hold_force(const TdlWorld* world, const Body* body, bool end);

// What detection sees of a rod.
BodyShape rod_shape(const Body* body, int segments);
void rod_curves(Body* body, int segments, TdlCurve* out);

// Its mass, kg, and where its centre is.
double rod_centre(const Body* body, TdlVec3* centre);

// Its point at an arc length, within its ends.
TdlVec3 rod_point(const Body* body, double at);

static inline Rod* rod_of(const Body* body) {
    return ((const RodBody*)body)->rod;
}

#endif
