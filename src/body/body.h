// What a body is to a world: a head that all bodies share, and a table of operations. Rods, rigid
// bodies and colliders are kinds of it; a new kind is a table in a file of its own.
//
// In a step a body is the linear problem A v = f + H' r of the design's one idea. `predict` finds A
// and the velocity v_free = A^-1 f that it has if nothing touches it; contacts add A^-1 H' r;
// `advance` moves it with the sum.
#ifndef TDL_BODY_BODY_H
#define TDL_BODY_BODY_H

#include "base/memory.h"
#include "body/motion.h"
#include "tendril/body.h"
#include "tendril/curve.h"

typedef struct Body Body;
typedef struct BodyKind BodyKind;
struct Surface;
struct TdlColliderDef;

// A step, or a part of one.
typedef struct BodyStep {
    double start, end, dt; // s; `end` is the time that the world then tells, to the last bit
    TdlVec3 gravity;       // m/s^2
    TdlVec3 wind;          // m/s
    double settling;       // 1/s, damping of all motion beside the materials' own
    bool losses;           // where energy goes is asked for
    bool hurried;          // the step has had its share of work: contacts as they come
    bool estimate;         // `error` of the account is
    bool holds;            // so are the forces of what holds bodies
} BodyStep;

// A place on a body: (u, v) in its element, each in [0, 1]. Of curves u runs along the element; of
// triangles u and v are the shares of the second and the third corner.
typedef struct BodyPlace {
    int element;
    double u, v;
    TdlVec3 point; // m, of the place itself: on a curve's centreline, on a surface
    TdlVec3 touch; // m, where it is touched, as part of the body; it may be beside `point`
} BodyPlace;

// The coordinates that move a place: a list of `count` in rising order or, where it is null, those
// from `first` on.
typedef struct BodySupport {
    int first, count;
    const int* list; // stays as long as the body and the place's element
} BodySupport;

// Coordinates z of a body's A^-1 in halves; 0: there are none. Those of `minus` count with -1.
typedef struct BodyRoot {
    int count;
    TdlSpan minus;
} BodyRoot;

// What detection sees of a body: curves, a surface of triangles, or a round or flat obstacle.
// Curves touch everything. A surface is touched by curves, and of a body with coordinates also by
// the edges of surfaces that have none. One whose vertices move and that is of a body with
// coordinates is a sheet, in the world's frame: it touches everything too. Obstacles are of bodies
// without coordinates, and so is every surface of such a body.
typedef struct BodyShape {
    int curve_count;               // the elements of one fibre; 0: none
    int pieces;                    // curves that make one element of the body; at least 1
    bool stiff;                    // its curves do not bend: it never touches itself
    bool winds;                    // its elements are short and thick enough to wind about others
    bool slender;                  // its elements are long and thin
    bool frameless;                // a torque does nothing to its places: touched at `point`
    TdlSeats seats;                // where its elements hold it off what it lies along (W.26)
    double size;                   // m, what an overlap is measured against; 0: it does not count
    double spacing;                // m, of the nodes of a sheet; 0: it is none
    const struct Surface* surface; // null: none
    bool obstacle;                 // it has a round or flat shape, told by `obstacle`
} BodyShape;

// Where energy went in the last attempt at a step, J; and whether the attempt can stay.
typedef struct BodyAccount {
    double energy_rise;               // more than could be taken from the velocity
    double push;                      // put in by moving it out of overlaps
    double damping, numerical, given; // where losses are asked for
    double supplied; // done by ends that are moved, wind and torques; always counted
    double error;    // 1/s: half its change of velocity over its size, where asked for. (W.22)
    bool failed;     // A was singular, or the state is not finite
    bool missed;     // a held place is not where it has to be
    double gave;     // N, what a hold that gave way pulls with; else 0
    bool swings;     // its rule does not take energy; what it has swings about that
    bool taut;       // forces that it expects change what it does, see BodyKind.expect
} BodyAccount;

// What a body, or the system that it is the head of, did with energy since it was added, J. Part of
// the state. world.md (W.21)
typedef struct BodyLedger {
    double
        gained;  // from nowhere, less what was lost since; not below 0 where energy does not swing
    double peak; // most that it had of kinetic and elastic energy
    double supplied; // to it
} BodyLedger;

// The same of the attempt under way, of a whole system at its head.
typedef struct BodyBalance {
    double gained;        // from nowhere; what was lost is negative
    double before, after; // kinetic and elastic
    double supplied, push;
    double least; // what is at play anyway
} BodyBalance;

// The head of a body, first member of what a kind allocates.
struct Body {
    const BodyKind* kind;
    TdlBodyId id;
    int index;       // among the bodies of its world
    int kind_index;  // among those of its kind
    Body* system;    // whose coordinates move it: its own, or those of the tree that it is part of
    int dof_count;   // coordinates of its system, where that is its own; else 0
    double* v_free;  // [dof_count] found by `predict`; contacts add what they do
    double* state;   // [state_count] what a step may change, where that is one array and the kind
    int state_count; // has no `save`
    int material;    // how it touches
    bool bounces;    // restitution is heeded
    bool linear;     // of a kind with `residual`: this one is linear in the step all the same
    bool hears;      // `impulse` is handed to it also when it is linear

    bool near;       // contacts that may take part in this attempt are at it
    bool expects;    // it was told of forces in this attempt, see BodyKind.expect
    double residual; // of the round under way

    // what the contacts of this attempt do to it
    bool touched;
    double touch;    // J, to its velocities
    double* impulse; // [dof_count] H' r, of a body that is not linear in the step or `hears`; else
                     // null: nothing
    double* push;    // [dof_count] displacement out of overlaps, which `advance` adds; null: none
    bool push_free;  // all that is pushed with it is free: their angular momentum is kept,
    TdlVec3 push_frame; // m/s, as seen from what moves so. (W.25)

    TdlEnergy energy; // in the present state; a kind with `energy` counts it in `advance`
    BodyAccount account;

    // kept by the world
    char* name;       // null: none
    double mass;      // kg; 0 where its kind tells none
    double size;      // m, of its shape
    TdlEnergy before; // the attempt under way
    BodyBalance balance;
    BodyLedger ledger;
};

// A by rows, of coordinates: start[dof_count + 1], columns and values.
typedef struct BodyMatrix {
    const int *start, *column;
    const double* value;
} BodyMatrix;

struct BodyKind {
    const char* name;
    void (*destroy)(const TdlHost* host, Body* body); // optional; else its memory is freed

    // Optional: before it is taken out of its world, leaves what it shares with others; on failure
    // the log says why it cannot, and it stays.
    TdlStatus (*leave)(const TdlHost* host, Body* body);

    // --- a step. Bodies that are stepped together (rods in SIMD lanes, trees) share the work of
    // `predict` and `advance` out among themselves: one call does it, the others nothing. Both are
    // called from any thread, for each body once; they write to its head and its mates' only.
    void (*prepare)(Body* body, const BodyStep* step); // in order, from one thread
    // Optional: before predict, the force (N) that a contact had at a place in the last step. A
    // body may take A where it leads; v_free is without it all the same.
    void (*expect)(Body* body, const BodyPlace* place, TdlVec3 force); // in order, from one thread
    void (*predict)(Body* body, const BodyStep* step);
    void (*advance)(Body* body, const BodyStep* step); // with v_free and `push`; counts `account`
    // Optional: what moves by script goes where it is at a time; after `advance` and after a load.
    TdlStatus (*place)(const TdlHost* host, Body* body, double time);

    // Optional, both, of a body that is not linear in the step. How far the velocity v is from
    // fulfilling the step's own equation when contacts give `impulse` = H' r, relative; and A and
    // v_free anew, linearised where v leads (which may be v_free itself) under Body.impulse.
    // Contacts are then solved again, in totals. Called from any thread, for each body once.
    double (*residual)(const Body* body, const BodyStep* step, const double* v,
                       const double* impulse);
    void (*predict_again)(Body* body, const BodyStep* step, const double* v);
    // Optional, with these: adds to v_free what Newton's method would change at the velocity that
    // `residual` was asked about last, with A as it is. False: this body is to be linearised anew.
    bool (*correct)(const Body* body, double* v_free);

    // --- A, after predict, of bodies with coordinates; called from several threads at once. X has
    // `count` columns one after the other.
    void (*solve)(const Body* body, int count, double* X); // X := A^-1 X over dof_count
    // A^-1 in halves, optional: coordinates z in which it is K, diagonal with entries 1 and -1, so
    // that H A^-1 H' = G K G' with rows of G that are short. Whether there are such now; the
    // coordinates that rows of a place are about (null: those of H, and lists none); its three rows
    // of G from those of H; and A^-1 H' r from K G' r, another array.
    BodyRoot (*root)(const Body* body);
    BodySupport (*root_support)(const Body* body, const BodyPlace* place);
    void (*whiten)(const Body* body, const BodyPlace* place, const double* h, double* g);
    void (*unwhiten)(const Body* body, const double* z, double* v);
    // Of bodies of many nodes of which a contact touches few, and whose z are as many as v: A
    // itself, and z from the impulses f on all coordinates, another array. Null: not given.
    BodyMatrix (*matrix)(const Body* body);
    void (*drive)(const Body* body, const double* f, double* z);

    // --- places, of bodies that are touched. What a part of a tree tells of itself is about the
    // coordinates of its system. rows[k * count + j] = basis_k . d velocity / d v_j.
    BodySupport (*support)(const Body* body, const BodyPlace* place);
    void (*rows)(const Body* body, const BodyPlace* place, TdlMat3 basis, double* rows);
    // Optional: the velocity of a place that a script gives it in this step, beside what its
    // coordinates do, m/s.
    TdlVec3 (*prescribed)(const Body* body, const BodyPlace* place);
    // The present velocity at a place of a surface or an obstacle, m/s; needed where it has one.
    TdlVec3 (*velocity)(const Body* body, const BodyPlace* place);

    // --- mass, kg, and its centre; optional. Energy in the present state; optional
    double (*mass)(const Body* body, TdlVec3* centre);
    TdlEnergy (*energy)(const Body* body, TdlVec3 gravity);
    TdlVec3 (*point)(const Body* body, double at); // optional: at an arc length, m
    // Optional: the force of what holds it at its start or its end, N, in the last step, where that
    // is asked for.
    TdlVec3 (*hold)(const TdlWorld* world, const Body* body, bool end);
    // Optional: moves it as a whole, and its velocity stays; false, and nothing moves, when it is
    // held.
    bool (*shift)(Body* body, TdlVec3 by);

    // --- the state, in a layout of its own; optional, all or none (see Body.state)
    size_t (*state_size)(const Body* body); // bytes
    void (*save)(const Body* body, void* bytes);
    void (*load)(Body* body, const void* bytes);
    uint64_t (*hash)(const Body* body, uint64_t hash);

    // --- what detection sees
    // Bodies that bend are to be seen as polylines of `segments` an element; 0: as curves.
    BodyShape (*shape)(const Body* body, int segments);
    void (*curves)(Body* body, int segments, TdlCurve* out);        // [curve_count], now
    void (*obstacle)(const Body* body, struct TdlColliderDef* out); // now
    // Optional: its frame, else the world's; moments are about its position.
    TdlPose (*pose)(const Body* body);
    double (*speed)(const Body* body); // optional: m/s, how fast it comes as a whole

    // --- statics, optional: brings it to rest; `residual` is relative to its weight
    TdlStatus (*settle)(const TdlHost* host, Body* body, TdlVec3 gravity, double* residual);
};

// Whether it is asked again in a step with contacts.
static inline bool body_has_rounds(const Body* body) {
    return body->kind->residual != NULL && !body->linear;
}

void body_destroy(const TdlHost* host, Body* body);
size_t body_state_size(const Body* body);
void body_save(const Body* body, void* bytes);
void body_load(Body* body, const void* bytes);
uint64_t body_hash(const Body* body, uint64_t hash);
TdlPose body_pose(const Body* body);

// --- what a world does for kinds of bodies, whichever they are -----------------------------------

// Takes over a body whose head has its kind, v_free, dof_count, material and bounces; `system` null
// means itself. On failure the body stays the caller's.
TdlStatus world_add_body(TdlWorld* world, Body* body);

// The body of an id, null when there is none of that kind (null: any); then the log says so.
Body* world_find_body(const TdlWorld* world, TdlBodyId id, const BodyKind* kind);
// The last one of a kind, or null.
Body* world_last_body(const TdlWorld* world, const BodyKind* kind);

const TdlHost* world_host(const TdlWorld* world);

double world_now(const TdlWorld* world); // s, its time
TdlIntegrator world_integrator(const TdlWorld* world);
bool world_finds_holds(const TdlWorld* world); // BodyStep.holds

// The sum of all contact forces on a body, N.
TdlVec3 world_contact_force(const TdlWorld* world, const Body* body);

// The energy of a body was changed from outside the step.
void world_count_energy(const TdlWorld* world, Body* body);

#endif
