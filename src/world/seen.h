// What detection sees of the bodies of a world: fibres of curves, surfaces, obstacles.
#ifndef TDL_WORLD_SEEN_H
#define TDL_WORLD_SEEN_H

#include "base/memory.h"
#include "base/threads.h"
#include "body/body.h"
#include "body/surface.h"
#include "detect/contact.h"
#include "detect/crossings.h"
#include "math/rotation.h"
#include "tendril/collider.h"

typedef struct Seen {
    TdlDetector* detector;
    int segments; // an element, of bodies that bend; 0: curves
    bool solid;   // tubes are seen as if they had no bore

    // made anew when bodies were added or removed
    bool laid_out;
    int fibre_count, curve_count, obstacle_count, surface_count;
    int moving_count;        // fibres of bodies that have coordinates: the first ones
    TdlFibre* fibre;         // [fibre_count]
    double* bore;            // [2 curve_count] m, of tubes at both ends of their curves
    Body** fibre_body;       // [fibre_count]
    BodyShape* shape;        // [fibre_count]
    int* first;              // [fibre_count] first curve
    int* family;             // [fibre_count] the system that a fibre belongs to
    Body** obstacle_body;    // [obstacle_count]
    Body** surface_body;     // [surface_count]
    double thinnest, widest; // m, of bodies that have coordinates
    double spacing;          // m, the widest of sheets' nodes; 0: there are none
    bool slender;            // all bodies that bend have long thin elements

    // as of the present shape, and of the one before the step
    TdlCurve *curve, *before; // [curve_count]
    Travel* travel;           // [curve_count] from the one to the other
    TdlVec3 *node, *last;     // [curve_count + fibre_count] ends of curves, now and the last time
    TdlColliderDef *obstacle, *obstacle_before; // [obstacle_count]
    SurfaceBody* surface;                       // [surface_count]
} Seen;

// Sees the bodies as they are now.
TdlStatus seen_lay_out(const TdlHost* host, Seen* seen, Body* const* bodies, int body_count);
void seen_free(const TdlAllocator* mem, Seen* seen);
void seen_take_shape(Pool* pool, Seen* seen);

// What was seen so far becomes the shape before the step; and its nodes those of the last time.
void seen_keep_curves(Seen* seen);
void seen_keep_nodes(Seen* seen);

// Measures how far curves moved from the shape before the step to the present one.
void seen_measure_travel(Pool* pool, Seen* seen);

// The body on a side of a contact.
static inline Body* seen_body(const Seen* seen, const TdlContact* x, int side) {
    int body = x->body[side];
    return body < 0 ? seen->obstacle_body[-1 - body] : seen->fibre_body[body];
}

// The curve on a side of a contact; null when it is an obstacle or a surface.
static inline const TdlCurve* seen_curve(const Seen* seen, const TdlContact* x, int side) {
    int body = x->body[side];
    bool curve = body >= 0 && x->element[side] < seen->fibre[body].count;
    return curve ? &seen->curve[seen->first[body] + x->element[side]] : NULL;
}

static inline TdlVec3 seen_tangent(const Seen* seen, const TdlContact* x, int side) {
    const TdlCurve* curve = &seen->curve[seen->first[x->body[side]] + x->element[side]];
    return tdl_unit3(tdl_curve_derivative(curve, x->u[side]));
}

// The place on a side of a contact; where it is touched is not told yet.
// How far a place of a curve that bends, or one that a script moves, came in the step that led
// here; false for others.
bool seen_displacement(const Seen* seen, const TdlContact* contact, int side, double dt,
                       TdlVec3* out);

BodyPlace seen_place(const Seen* seen, const TdlContact* contact, int side);

// Whether it is inside of a tube or at its mouth.
static inline bool seen_in_tube(const TdlContact* contact) {
    return contact->tube[0] || contact->tube[1];
}

// Where a contact acts: between the two surfaces.
TdlVec3 seen_touch(const Seen* seen, const TdlContact* contact);

// Where it acts on a side: on both in one place, so that they exchange no angular momentum out of
// nothing. (W.23)
TdlVec3 seen_acting(const Seen* seen, const TdlContact* contact, int side);

// The smaller of the two radii.
double seen_radius(const Seen* seen, const TdlContact* contact);

// Velocity of a contact's side as the last step of `dt` tells it, m/s.
TdlVec3 seen_velocity(const Seen* seen, const TdlContact* contact, int side, double dt);

// Whether a contact of a saved state is about places that are there.
bool seen_has(const Seen* seen, const TdlContact* contact);

// The surface of a body that is a sheet; null: it is none, or an obstacle.
static inline const Surface* seen_sheet(const Seen* seen, int body) {
    return body >= 0 && seen->shape[body].spacing > 0.0 ? seen->shape[body].surface : NULL;
}

#endif
