// What a body is to a world: a head that all bodies share, and a table of operations. Rods, rigid
// bodies and colliders are kinds of it; a new kind is a table in a file of its own.
//
// In a step a body is the linear problem A v = f + H' r of the design's one idea. `predict` finds A
// and the velocity v_free = A^-1 f that it has if nothing touches it; contacts add A^-1 H' r;
// `advance` moves it with the sum.
#ifndef TDL_BODY_BODY_H
#define TDL_BODY_BODY_H

#include "base/memory.h"
#include "base/stop.h"
#include "body/anchor.h"
#include "body/clearance.h"
#include "body/load.h"
#include "body/motion.h"
#include "tendril/body.h"
#include "tendril/curve.h"

#include <math.h>

typedef struct Body Body;
typedef struct BodyKind BodyKind;
struct Cylinder;
struct Solid;
struct Surface;
struct Linkage;
struct Lead;
struct BodyLattice;
struct BodyStrain;
struct TdlPull;
struct TdlColliderDef;

// A step, or a part of one.
typedef struct BodyStep {
    double start, end, dt; // s; `end` is the time that the world then tells, to the last bit
    TdlVec3 gravity;       // m/s^2
    TdlVec3 wind;          // m/s
    double settling;       // 1/s, damping of all motion beside the materials' own
    bool losses;           // where energy goes is asked for
    bool hurried;          // the step has had its share of work: contacts as they come
    double allowed;        // multiplications that solving contacts may take
    bool estimate;         // `error` of the account is
    bool holds;            // so are the forces of what holds bodies
    bool forces;           // and those inside them
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
// without coordinates, and so is every surface of such a body. A cylinder is its rims, which are
// curves, and touches everything.
typedef struct BodyShape {
    int curve_count;                 // the elements of one fibre; 0: none
    int pieces;                      // curves that make one element of the body; at least 1
    bool stiff;                      // its curves do not bend: it never touches itself
    bool hollow;                     // it is a tube: `bores` tells how wide
    bool winds;                      // its elements are short and thick enough to wind about others
    bool slender;                    // its elements are long and thin
    bool frameless;                  // a torque does nothing to its places: touched at `point`
    TdlSeats seats;                  // where its elements hold it off what it lies along (W.26)
    double size;                     // m, what an overlap is measured against; 0: it does not count
    double spacing;                  // m, of the nodes of a sheet; 0: it is none
    const struct Surface* surface;   // null: none
    const struct Cylinder* cylinder; // it is one, for which the surface stands in; null: none
    bool obstacle;                   // it has a round or flat shape, told by `obstacle`
    const struct Solid* solid; // as points see it, where that has a closed form; null: as above
} BodyShape;

// Where energy went in the last attempt at a step, J; and whether the attempt can stay.
typedef struct BodyAccount {
    double energy_rise;               // more than could be taken from the velocity
    double push;                      // put in by moving it out of overlaps
    double damping, numerical, given; // where losses are asked for
    double supplied; // done by ends that are moved, wind and torques; always counted
    double error;    // 1/s: half its change of velocity over its size, where asked for. (W.22)
    const char* senseless; // what it is told by a function of the time and is no number: the step
                           // cannot be made; null: nothing
    bool failed;           // A was singular, or the state is not finite
    bool missed;           // a held place is not where it has to be
    double gave;           // N, what a hold that gave way pulls with; else 0
    bool swings;           // its rule does not take energy; what it has swings about that
    bool taut;             // forces that it expects change what it does, see BodyKind.expect
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
    double least;   // what is at play anyway
    double feigned; // work of joints that is an error of the step, without its signs
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
    bool nearly;     // but for second order: it is asked again only where joints hold it
    bool hears;      // `impulse` is handed to it also when it is linear

    struct Linkage* linkage; // the bodies that joints hold together, this system among them; null
    int linked_at;           // where its coordinates are among theirs
    int dof_at;              // and among those of all bodies

    int riders;      // rods whose starts ride on it: it stays while there are any
    bool near;       // contacts that may take part in this attempt are at it, or joints
    bool expects;    // it was told of forces in this attempt, see BodyKind.expect
    double residual; // of the round under way

    // what the contacts of this attempt do to it
    bool touched;
    double touch;    // J, to its velocities
    double lasts;    // s, from its velocity before to the one that the attempt finds, of a kind
                     // whose velocities do not live where steps end; 0: as long as the attempt
    double lasted;   // s, the sum of that over the parts of the step that stay
    double* impulse; // [dof_count] H' r, of a body that is not linear in the step or `hears`; else
                     // null: nothing
    double pressed;  // N s, the sum of the sizes of impulses on it, which may cancel
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

// Moves a point, m; from any thread.
typedef void (*BodyMoveFn)(void* user, TdlVec3* point);

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

    // Optional, of a body that fills space: after predict, what holds inside it, by rows of strain
    // (body/strain.h). It is touched at its nodes, and nowhere else; what is found goes to v_free
    // and to the rows' impulses.
    struct BodyStrain* (*strain)(Body* body);
    // Both with it: its places, of which the world tells before each prediction what is open; and
    // after `advance` what it carries is moved out of bodies that it got into. Before, with a null
    // step, what does not move may be taken out of bodies that are there from the start.
    struct BodyLattice (*lattice)(Body* body);
    void (*move_points)(Body* body, const BodyStep* step, BodyMoveFn move, void* user);

    // --- places, of bodies that are touched. What a part of a tree tells of itself is about the
    // coordinates of its system. rows[k * count + j] = basis_k . d velocity / d v_j.
    BodySupport (*support)(const Body* body, const BodyPlace* place);
    void (*rows)(const Body* body, const BodyPlace* place, TdlMat3 basis, double* rows);
    // Optional: the velocity of a place that a script gives it in this step, beside what its
    // coordinates do, m/s.
    TdlVec3 (*prescribed)(const Body* body, const BodyPlace* place);
    // The present velocity at a place of a surface or an obstacle, m/s; needed where it has one.
    TdlVec3 (*velocity)(const Body* body, const BodyPlace* place);

    // Optional, for joints: the place at an arc length or of a vertex; false where there is none
    // such. The frame of a place now, with its position; and where it is at the end of the step
    // under way when the coordinates of its system go with v (null, and the linear motion of its
    // rows is taken). False: it has no frame, and a position alone is told.
    bool (*locate)(const Body* body, double at, BodyPlace* out);
    bool (*frame)(const Body* body, const BodyPlace* place, TdlPose* out);
    bool (*frame_after)(const Body* body, const BodyPlace* place, double dt, const double* v,
                        TdlPose* out);

    // Optional, both, of what a script or a program moves: what a pose that it has now is fixed to,
    // and where it has that at the end of a step, or part of one, that starts now. Who rides may be
    // prepared before it or after it, but is before it advances.
    void (*hold_fast)(const Body* body, TdlPose pose, double now, Anchor* out);
    TdlPose (*carry)(const Body* body, const Anchor* anchor, double now, double end);

    // Optional: takes a load that varies in time, and its value now.
    TdlStatus (*add_load)(const TdlHost* host, Body* body, const TdlLoadDef* def, double now);

    // Optional: the ends of it that scripts hold, at most two, each with the length within which it
    // touches nothing that it is held in. (W.35)
    int (*held)(const Body* body, ClearBall out[2]);

    // --- mass, kg, and its centre; optional. Energy in the present state; optional
    double (*mass)(const Body* body, TdlVec3* centre);
    TdlEnergy (*energy)(const Body* body, TdlVec3 gravity);
    TdlVec3 (*point)(const Body* body, double at); // optional: at an arc length, m
    // Optional: the force of what holds it at its start or its end, N, in the last step, where that
    // is asked for.
    TdlVec3 (*hold)(const TdlWorld* world, const Body* body, bool end);
    // Optional: what a contact or a joint does at a place (at its `touch`) in the step under way,
    // N s and N m s, where forces inside bodies are asked for: after it was solved and before
    // advance, in order and from one thread. A null place: what was told in this attempt is void.
    TdlStatus (*feel)(const TdlHost* host, Body* body, const BodyPlace* place, TdlVec3 impulse,
                      TdlVec3 torque);
    // Optional: a quantity that only this kind has, at an arc length; false where it is not to be
    // had.
    bool (*observe)(const TdlWorld* world, const Body* body, TdlQuantity quantity, double at,
                    TdlVec3* out);
    // Optional: what of it is led by a program, and where that is now; null: there is no such part.
    struct Lead* (*lead)(Body* body, int part, TdlPose* now);
    // Optional, both: what is wrong with a pull with finite forces, or null; and pulls at it from
    // now on, as often as told.
    const char* (*pull_fault)(const Body* body, const struct TdlPull* pull);
    TdlStatus (*pull)(const TdlHost* host, Body* body, int count, const struct TdlPull* pulls);
    // Optional: adds a body to another world that was made as this one was and changed from outside
    // as it was; its state is loaded then. Those that were added before it are there.
    TdlStatus (*copy)(const Body* body, TdlWorld* to);
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
    // Of tubes: the radii of the bore at both ends of each curve, m, which never change.
    void (*bores)(const Body* body, int segments, double* out); // [2 curve_count]
    // Optional: its frame, else the world's; moments are about its position.
    TdlPose (*pose)(const Body* body);
    double (*speed)(const Body* body); // optional: m/s, how fast it comes as a whole

    // --- statics, optional: brings it to rest; `residual` is relative to its weight. Asks `stop`
    // where it takes long: TDL_STATUS_STOPPED
    TdlStatus (*settle)(const TdlHost* host, Body* body, TdlVec3 gravity, Stop stop,
                        double* residual);
};

// Whether it is asked again in a step with contacts.
static inline bool body_has_rounds(const Body* body) {
    bool counts = !body->nearly || body->linkage != NULL;
    return body->kind->residual != NULL && !body->linear && counts;
}

// How long what two bodies do to each other acts, s; either may be null. Of those whose velocities
// do not live where steps end the shorter time, since what rests on another is the younger; else
// `dt`. (W.51)
static inline double shorter_lasting(double a, double b, double dt) {
    double less = fmin(a, b), more = fmax(a, b);
    return less > 0.0 ? less : more > 0.0 ? more : dt;
}

static inline double body_lasts(const Body* a, const Body* b, double dt) {
    return shorter_lasting(a == NULL ? 0.0 : a->system->lasts, b == NULL ? 0.0 : b->system->lasts,
                           dt);
}

// The same of the parts of a step that were kept, which take `dt` in all.
static inline double body_lasted(const Body* a, const Body* b, double dt) {
    return shorter_lasting(a == NULL ? 0.0 : a->system->lasted, b == NULL ? 0.0 : b->system->lasted,
                           dt);
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
struct Pool* world_pool(const TdlWorld* world); // its threads; null: one

double world_now(const TdlWorld* world); // s, its time
TdlIntegrator world_integrator(const TdlWorld* world);
bool world_finds_holds(const TdlWorld* world);  // BodyStep.holds
bool world_finds_forces(const TdlWorld* world); // BodyStep.forces

// The sum of all contact forces on a body, N.
TdlVec3 world_contact_force(const TdlWorld* world, const Body* body);

// The energy of a body was changed from outside the step.
void world_count_energy(const TdlWorld* world, Body* body);

#endif
