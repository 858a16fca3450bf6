// Rods as bodies of a world.
#ifndef TDL_ROD_ROD_BODY_H
#define TDL_ROD_ROD_BODY_H

#include "body/body.h"
#include "body/lead.h"
#include "rod/rod.h"
#include "rod/rod_forces.h"
#include "rod/rod_midpoint.h"
#include "rod/rod_momenta.h"
#include "tendril/control.h"

typedef struct RodBody {
    Body head;
    Rod* rod;
    Motion motion, end_motion;
    TdlPose placed, end_placed;
    const Body* carrier; // what its start rides on; null: nothing
    Anchor anchor;       // on it
    TdlRodDef def;       // as given, without what it points to
    Lead lead[2];        // of a program: its start, its end
    LoadList varying;    // of its loads, those that vary in time, before
    int pull_count;      // the last of its loads, which are a program's
    double gave;         // N, what a nodal rod that is led too far is pulled with; else 0
    bool moved;          // its ends are moved in this step, or were in the last
    RodStep step;        // of the step under way
    RodLosses losses;    // of the last attempt, of a whole tree at its root; zero unless asked for
    double stability;    // at the last settling
    RodCurve* scratch;   // [element_count]
    double* trial;       // [dof_count] coordinates at the end of a step
    RodMiddle* middle;   // where the world goes by the midpoint rule; else null
    RodKept kept;        // of a rod that keeps its momenta so
    TdlVec3 hold[2];     // N, at start and end in the last attempt, where asked for: rod_hold.c
    RodForces* forces;   // where the world asks for the forces inside; else null
    struct RodDrive* drive; // what drives it from inside; null: nothing. rod_drive.h
    TdlVec3 momentum;       // kg m/s, at the start of a step by the midpoint rule, where that is
} RodBody;

extern const BodyKind ROD_BODY;

static inline RodBody* rod_owner(const Rod* rod) {
    return rod->owner;
}

// A start that rides. rod_ride.c: where it is at the end of a step, or part of one, that starts
// now; and before the rod is taken out of its world.
TdlPose rod_ride_pose(const RodBody* rb, double now, double end);
void rod_ride_end(RodBody* rb);

// Loads that vary in time. rod_loads.c: one more; their values at a time; whether a rod or a branch
// of it has any; and their forces' power while the coordinates of a tree go with v.
TdlStatus rod_add_load(const TdlHost* host, Body* body, const TdlLoadDef* def, double now);
void rod_loads_take(RodBody* rb, double time);
bool rod_loads_vary(const Rod* rod);

// Its held ends, with the length within which each touches nothing that it is held in.
int rod_held_ends(const Body* body, ClearBall out[2]);

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

// What is asked of the forces inside: rod_forces.c, rod_forces_api.c
TdlStatus rod_body_feel(const TdlHost* host, Body* body, const BodyPlace* place, TdlVec3 impulse,
                        TdlVec3 torque);
bool rod_body_observe(const TdlWorld* world, const Body* body, TdlQuantity quantity, double at,
                      TdlVec3* out);
// What a program does to it. rod_control.c: whether an end is held, so that it can be led; the ends
// that are led, in the step that was prepared; and room for so many loads.
bool rod_end_is_held(const Rod* rod, int part);
Lead* rod_lead(Body* body, int part, TdlPose* now);
void rod_follow_leads(RodBody* rb, const BodyStep* t);
const char* rod_pull_fault(const Body* body, const TdlPull* pull);
TdlStatus rod_pull_at(const TdlHost* host, Body* body, int count, const TdlPull* pulls);
bool rod_reserve_loads(const TdlHost* host, RodBody* rb, int count);

// The same rod in another world. rod_copy.c
TdlStatus rod_copy(const Body* body, TdlWorld* to);
// Adds a rod; as one of another world is where `like` is not null.
TdlStatus rod_add(TdlWorld* world, const TdlRodDef* def, const RodBody* like, RodBody** out);

// What detection sees of a rod.
BodyShape rod_shape(const Body* body, int segments);
void rod_curves(Body* body, int segments, TdlCurve* out);
void rod_bores(const Body* body, int segments, double* out);

// Its places. rod_places.c
bool rod_locate(const Body* body, double at, BodyPlace* out);
bool rod_frame(const Body* body, const BodyPlace* place, TdlPose* out);
bool rod_frame_after(const Body* body, const BodyPlace* place, double dt, const double* v,
                     TdlPose* out);

// Its mass, kg, and where its centre is.
double rod_centre(const Body* body, TdlVec3* centre);

// Its point at an arc length, within its ends.
TdlVec3 rod_point(const Body* body, double at);

static inline Rod* rod_of(const Body* body) {
    return ((const RodBody*)body)->rod;
}

#endif
