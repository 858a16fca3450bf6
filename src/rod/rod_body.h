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
    RodStep step;      // of the step under way
    RodLosses losses;  // of the last attempt, of a whole tree at its root; zero unless asked for
    double stability;  // at the last settling
    RodCurve* scratch; // [element_count]
    RodMiddle* middle; // where the world goes by the midpoint rule; else null
    RodKept kept;      // of a rod that keeps its momenta so
} RodBody;

extern const BodyKind ROD_BODY;

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
