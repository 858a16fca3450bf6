// Bodies: whatever lives in a world (world.h) and touches. Rods, rigid bodies and colliders are
// kinds of them, each with a header of its own.
#ifndef TENDRIL_BODY_H
#define TENDRIL_BODY_H

#include "tendril/base.h"
#include "tendril/curve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TdlWorld TdlWorld;

/// How bodies go through time where nothing is near them; what is near a contact, settles, is led
/// by its ends, is part of a tree or is a super-model held at its far end goes by Euler's rule.
/// Rigid bodies have a rule of their own, of second order.
typedef enum TdlIntegrator {
    TDL_INTEGRATOR_EULER,    // backward Euler: first order, stable, takes energy from vibrations
    TDL_INTEGRATOR_MIDPOINT, // implicit midpoint: second order, keeps the energy of vibrations
} TdlIntegrator;

/// A body of a world, of any kind; an all-zero id is null. An id is never given twice: one whose
/// body was removed is refused wherever it is used.
typedef struct TdlBodyId {
    int index;      // from 1
    int generation; // from 1
} TdlBodyId;

static inline bool tdl_body_id_equal(TdlBodyId a, TdlBodyId b) {
    return a.index == b.index && a.generation == b.generation;
}

/// What can be observed of bodies: a vector that a step may change. Those from the tension on are
/// of rods in a world that is to find `forces`; of one number, it is the first and the others are
/// zero.
typedef enum TdlQuantity {
    TDL_QUANTITY_FORCE = 0, // N, the sum of all contact forces on them
    TDL_QUANTITY_TORQUE,    // N m, of these on the first, about its position
    TDL_QUANTITY_CENTRE,    // m, their common centre of mass
    TDL_QUANTITY_POINT,     // m, of the first: its point at an arc length
    TDL_QUANTITY_START,     // N, of the first, the force of what holds its start, where the world
    TDL_QUANTITY_END,       // is to find `holds`; and its end
    TDL_QUANTITY_TENSION,   // N, at an arc length: one number
    TDL_QUANTITY_SHEAR,     // N, there: its size, and along the second and third material axis
    TDL_QUANTITY_MOMENT,    // N m, there: of twist, and of bending about these axes
    TDL_QUANTITY_TWIST,     // rad, there: how far the section is twisted against the start; anytime
    TDL_QUANTITY_FRAME,     // rad, there: the rotation of the material frame, as a vector; anytime
    TDL_QUANTITY_START_FORCE,  // N, of what holds the start; its moment about the start, N m;
    TDL_QUANTITY_START_MOMENT, // the power that it gives an end that it leads, W; its work from
    TDL_QUANTITY_START_POWER,  // the first step on, J
    TDL_QUANTITY_START_WORK,
    TDL_QUANTITY_END_FORCE, // the same of the end
    TDL_QUANTITY_END_MOMENT,
    TDL_QUANTITY_END_POWER,
    TDL_QUANTITY_END_WORK,
    TDL_QUANTITY_COUNT
} TdlQuantity;

/// The bodies of a kind ("rod", "rigid", "collider"; null: of any), in the order in which they were
/// added: the first `capacity` of them. Returns how many there are.
TDL_API int tdl_world_bodies(const TdlWorld* world, const char* kind, int capacity, TdlBodyId* out);

/// The one with that place in their order, from 0; a null id beyond the last.
TDL_API TdlBodyId tdl_world_body(const TdlWorld* world, const char* kind, int index);

/// The kind of a body, and its place among those of its kind; null and -1 when the world has no
/// such body.
TDL_API const char* tdl_body_kind(const TdlWorld* world, TdlBodyId body);
TDL_API int tdl_body_index(const TdlWorld* world, TdlBodyId body);

/// A name for messages, of at most 200 bytes; null: none, and messages tell its kind and its place
/// among those. The world copies it.
TDL_API TdlStatus tdl_body_set_name(TdlWorld* world, TdlBodyId body, const char* name);

/// The first body of that name; a null id when there is none. A scene names its bodies as its file
/// does; of several copies the first is "name[0]".
TDL_API TdlBodyId tdl_world_find(const TdlWorld* world, const char* name);

/// What messages call a body: its kind and its name, or its place among those of its kind.
enum { TDL_BODY_NAME_SIZE = 256 };
TDL_API void tdl_body_name(const TdlWorld* world, TdlBodyId body, char out[TDL_BODY_NAME_SIZE]);

/// The curves that stand for it in detection, as they are now, each with its radius: what it takes
/// to draw a body of any kind that is not a surface or a round or flat obstacle. The first
/// `capacity` of them; `count` receives how many there are.
TDL_API TdlStatus tdl_body_curves(TdlWorld* world, TdlBodyId body, int capacity, TdlCurve* out,
                                  int* count);

/// Its mass, kg, and the centre of it, m; refused of a body that has none, as a collider.
TDL_API TdlStatus tdl_body_centre(const TdlWorld* world, TdlBodyId body, TdlVec3* centre,
                                  double* mass);

/// Its energy in the present state.
TDL_API TdlStatus tdl_body_energy(const TdlWorld* world, TdlBodyId body, TdlEnergy* out);

/// Takes a body out of its world and frees it. What touched it is no longer touched; the list of
/// contact forces is empty until the next step. A rod with branches is refused.
TDL_API TdlStatus tdl_world_remove(TdlWorld* world, TdlBodyId body);

#ifdef __cplusplus
}
#endif

#endif
