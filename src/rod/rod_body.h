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
    bool moved;        // its ends are moved in this step, or were in the last
    RodStep step;      // of the step under way
    RodLosses losses;  // of the last attempt, of a whole tree at its root; zero unless asked for
    double stability;  // at the last settling
    RodCurve* scratch; // [element_count]
    RodMiddle* middle; // where the world goes by the midpoint rule; else null
    RodKept kept;      // of a rod that keeps its momenta so
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
