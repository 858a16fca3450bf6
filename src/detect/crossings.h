// Curves and surfaces that passed through each other between two shapes. docs/theory/world.md,
// section 5
#ifndef TDL_DETECT_CROSSINGS_H
#define TDL_DETECT_CROSSINGS_H

#include "base/threads.h"
#include "body/clearance.h"
#include "detect/detector.h"
#include "tendril/ccd.h"

// Is told every question that is asked of collision detection, and the answer.
typedef void (*CrossingWatchFn)(void* user, const TdlCcdQuery* query, bool collision);

// The balls in which two bodies, by the detector's numbers, do not touch.
typedef int (*CrossingClearFn)(const void* user, int a, int b, ClearBall out[CLEAR_BALLS]);

// What moved, from `before` to `curve`; the detector's last update has seen it.
typedef struct Moved {
    const TdlDetector* detector;
    const TdlFibre* fibre;
    int fibre_count, curve_count;
    const int* first;  // [fibre_count] first curve of each
    const int* family; // [fibre_count] fibres of one family grow out of each other: apart from
                       // a fibre and itself they do not meet
    const TdlCurve *before, *curve; // [curve_count]
    const Travel* travel;           // [curve_count]
    const SurfaceBody* surface;
    int surface_count;
    const TdlColliderDef *obstacle_before, *obstacle; // [obstacle_count]
    int obstacle_count;
    bool self;             // a fibre may meet itself
    CrossingClearFn clear; // null: everywhere they touch
    const void* clear_user;
    CrossingWatchFn watch; // null: nobody looks
    void* watch_user;
} Moved;

// Two places that met, by the detector's numbers.
typedef struct Crossing {
    int body[2], element[2];
} Crossing;

typedef struct CrossingList {
    Crossing* at;
    int count, capacity;
    bool* met; // scratch, by pair
    int met_capacity;
    int* hit; // scratch, by triangle of a sheet and surface
    int hit_capacity;
} CrossingList;

// How near two things come that pass through each other's bodies, and to what accuracy, m.
typedef struct Nearness {
    double apart, tolerance;
} Nearness;

// A pair that moved against each other by less than this share of the two radii did not get there,
// but from an overlap that the depth tells already.
static const double CROSSING_DEEP_SHARE = 0.25;

// Of things of so many radii together; `radius` is what the accuracy is a share of.
Nearness crossing_nearness(double radii, double radius);

// Asks collision detection. A query that fails counts as a meeting: what cannot be excluded is not
// kept; things that were as near at first were placed in each other and did not meet.
bool crossing_query_meets(const Moved* moved, const TdlCcdQuery* query, const Nearness* near);

void crossing_list_free(const TdlAllocator* mem, CrossingList* list);
// False when memory runs out.
bool crossing_list_add(const TdlAllocator* mem, CrossingList* list, Crossing crossing);

// How far the points of a curve moved.
void crossings_measure(const TdlCurve* before, const TdlCurve* after, Travel* out);

// Adds the pairs that met on the way; `found` receives their number.
TdlStatus crossings_find(const TdlAllocator* mem, Pool* pool, const Moved* moved, CrossingList* out,
                         int* found);

#endif
