// What the files of contacts share: what detection sees, finding, solving, doing a step again.
#ifndef TDL_WORLD_CONTACT_DATA_H
#define TDL_WORLD_CONTACT_DATA_H

#include "base/memory.h"
#include "detect/broad.h"
#include "detect/contact.h"
#include "detect/on_surface.h"
#include "math/rotation.h"
#include "world/bodies.h"

// The part of an overlap that may be left: it counts as new when a step leaves more of it than
// that.
static const double RECOVERY = 0.85;

// Sine of the angle between rods that lie side by side.
static const double SIDE_BY_SIDE = 0.1;

// What is kept of a contact from the step that found it to the one that solves it.
typedef struct Candidate {
    ContactSite site;
    TdlVec3 force;  // N on the second body in the last step; the first guess
    double closing; // m/s at which the gap was closing when it was found
    double radius;  // m, the smaller of the two
    double sunk;    // m, > 0: by which it overlapped anew in the attempt before; < 0: less what the
                    // last step lost of its gap and a whole one may lose again; 0: neither
    bool fresh;     // it is new, or as deep as before the step
    bool missed;    // it came close in a step that was undone: it takes part whatever its gap
    bool jointed;   // two rods of one tree, which grow out of each other: they do not touch
    bool passed_on; // at a joint of a rod's curves, beyond which the gap shrinks: the next has it
} Candidate;

struct Contacts {
    TdlHost host;
    TdlDetector* detector;
    TdlFrictionSolver* solver;
    TdlFrictionSolver* thorough; // for what the first one leaves, where there are few contacts
    Arena arena;                 // scratch of a step

    // the fibres that detection sees: rods, rigid bodies, colliders made of curves
    int rod_count, rigid_count, collider_count; // bodies that the layout knows
    int fibre_count, curve_count, obstacle_count;
    TdlFibre* fibre;
    int* first;           // [fibre_count] first curve
    int* collider_of;     // [fibre_count] of a fibre that is part of a collider
    TdlCurve* curve;      // [curve_count]
    TdlCurve* before;     // [curve_count] before the step
    Travel* travel;       // [curve_count] of the step
    RodCurve* rod_curve;  // [curve_count] scratch
    TdlVec3 *node, *last; // [curve_count + fibre_count] ends of curves, now and the last time
    TdlColliderDef* obstacle;
    int* obstacle_of;
    SurfaceBody* surface; // [surface_count] of boxes and meshes
    int surface_count;
    int* surface_of; // [surface_count] rigid body, or collider of those whose body is negative
    double thinnest, widest; // m, radii of rods and rigid bodies
    bool slender;            // all rods have long thin elements

    double margin; // m, of the last search
    Candidate* found;
    int count, capacity;
    bool ready;
    TdlContact* missed; // near contacts at the end of a step that was undone
    int missed_count, missed_capacity;
    ContactSite* sunk; // places that overlap anew at the end of a step that is done again
    int sunk_count, sunk_capacity;
    double* asked; // [count] m by which the last attempt was to open each beyond contact
    int asked_capacity;
    TdlVec3* tried; // [tried_count] N, forces of the candidates in the last attempt
    int tried_count, tried_capacity;
    double* tried_velocity; // [tried_dofs] of all bodies in it
    int tried_dofs, tried_dofs_capacity;
    bool* passed; // pairs of detection that met in the step
    int passed_capacity;

    TdlContactForce* force;
    int force_count, force_capacity;
    int force_kept; // of the parts of the step that stay
};

// What a rigid body may overlap by is measured against this, m.
static inline double rigid_size(const Rigid* rigid) {
    TdlVec3 half = rigid->def.half;
    bool box = rigid->def.shape == TDL_RIGID_BOX;
    return box ? fmin(half.x, fmin(half.y, half.z)) : rigid->def.radius;
}

// One side of a contact.
typedef struct Side {
    TdlBodyKind kind;
    int index; // within its kind
    int element;
    double s; // in [0, 1] along a rod's element
} Side;

// The curve on a side of a contact; null when it is a collider or a surface.
static inline const TdlCurve* side_curve(const Contacts* c, const TdlContact* x, int side) {
    int body = x->body[side];
    bool curve = body >= 0 && x->element[side] < c->fibre[body].count;
    return curve ? &c->curve[c->first[body] + x->element[side]] : NULL;
}

// What lies between the point of a side and its surface; 0 of a collider, where it is not asked.
static inline double side_radius(const Contacts* c, const TdlContact* x, int side) {
    const TdlCurve* curve = side_curve(c, x, side);
    for (int i = 0; i < c->surface_count && curve == NULL && x->body[side] >= 0; ++i) {
        if (c->surface[i].body == x->body[side]) {
            return c->surface[i].surface->radius;
        }
    }
    return curve == NULL ? 0.0 : tdl_curve_radius(curve, x->s[side]);
}

static inline TdlVec3 side_tangent(const Contacts* c, const TdlContact* x, int side) {
    const TdlCurve* curve = &c->curve[c->first[x->body[side]] + x->element[side]];
    return tdl_unit3(tdl_curve_derivative(curve, x->s[side]));
}

// The smaller of the two radii.
double site_radius(const Contacts* contacts, const TdlContact* contact);

// Room for so many; null and false when memory runs out. `array` is the address of a pointer.
bool contacts_reserve(const TdlAllocator* mem, void* array, int* capacity, int count, size_t size);
TdlContact* contacts_room_for_missed(Contacts* contacts, int count);
bool contacts_room_for_passed(Contacts* contacts, int count);

// Those that came close in a step that was undone.
void contacts_mark_missed(Contacts* contacts);
// Takes the forces of the attempt before, over the same candidates, as the guess.
void contacts_guess_tried(Contacts* contacts);

Side contact_side(const TdlWorld* world, const TdlContact* contact, int side);
int side_material(const TdlWorld* world, Side side);

#endif
