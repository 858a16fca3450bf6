// The one interface of all rod models: what the world knows of a rod.
//
// In a time step a rod is the linear problem A v = f of DESIGN's one idea, with
// A = M + dt D + dt^2 K. `predict` assembles and factors A and finds the velocity the rod would
// have if nothing touched it; `solve` applies A^-1; `advance` moves the rod with a velocity.
//
// A tree of rods is one such problem: its coordinates are those of its root, then those of the
// branches. Vectors of velocities and rows of Jacobians run over all of them, tree_dofs; those of
// a rod begin at tree_first. A rod that is alone is a tree of itself.
#ifndef TDL_ROD_ROD_H
#define TDL_ROD_ROD_H

#include "base/memory.h"
#include "base/stop.h"
#include "body/body.h"
#include "body/motion.h"
#include "tendril/curve.h"
#include "tendril/rod.h"

typedef struct RodModel RodModel;
typedef struct RodStatics RodStatics; // of statics.h

typedef struct RodBase {
    TdlPose now, before;
    Twist rate;
} RodBase;

// Of a super-model whose far end is held: how far it is stretched, evenly, and what holds it.
// Everything else of these models is inextensible.
typedef struct RodHeld {
    double stretch, stretch_before; // present length over that at rest; in the shape before
    TdlVec3 force;                  // N, of the hold on the end, in the last step
} RodHeld;

// What an element has of the rod's mean (of `stretching`: of the whole rod's): 1 each where
// sections do not vary. section.c
typedef struct RodShare {
    double mass, gyration, stretching, shearing;
    TdlVec3 stiffness;
} RodShare;

// A point load: at s in [0, 1] of an element.
typedef struct RodLoad {
    int element;
    double s;
    TdlVec3 force, torque;
    bool given; // it has no potential: all that it does is given from outside, as torques are
} RodLoad;

// A force, N, and a torque, N m; or their impulses.
typedef struct RodWrench {
    TdlVec3 force, torque;
} RodWrench;

// Rods that a model advances together, one in each lane. They have the same number of elements and
// the same kinds of ends.
enum { ROD_GROUP_SIZE = 4 };
typedef struct RodGroup {
    int count, users;
    struct Rod* rods[ROD_GROUP_SIZE];
    double* work; // belongs to the model
} RodGroup;

// A rod of any model. The arrays are one allocation; `work` belongs to the model.
typedef struct Rod {
    const RodModel* model;
    int element_count, dof_count;
    double element_length; // m, as all three now: a held rod is stretched
    double line_density;   // kg/m
    double radius[2];      // m, the mean
    double gyration;       // m^2, of a section that spins: its polar second moment over its area
    double damping;        // s
    double mass_damping;   // 1/s
    double settling;       // 1/s, beside mass_damping while the world settles; set by the step
    double drag;           // N s/m^2
    TdlVec3 stiffness;     // diagonal of K3: twist, bending about the second and third axes, N m^2
    struct {
        double element_length, line_density;
        TdlVec3 stiffness;
        double stretching, shearing;             // N
    } at_rest;                                   // not stretched
    TdlVec3 section_stiffness;                   // K3 of its section alone
    double section_stretching, section_shearing; // N; 0: follow from K3 as of a solid section
    double stiffening;                           // factor on these in `at_rest`
    bool varies;                                 // along its length; the means stand above
    RodShare* share;                             // [element_count]
    double* thick; // [element_count + 1] m, at the joints: the larger half-axis
    double* bore;  // [element_count + 1] m, at the joints: the smaller half-axis of the hole
    bool hollow;   // it has one all along

    TdlHold start_hold, end_hold;
    int root_dofs;  // velocities of a start that is not clamped, said below
    RodLoad* loads; // [load_count], and room for the hold in statics
    int load_count;

    // The state: coordinates, velocities, and the shape in which these velocities were found; the
    // clamp now and in that shape, and its velocity then.
    // Where the model has a root of its own (the super-models), the velocities of a start that is
    // not clamped are the last of v: its angular velocity, and for a free start its linear velocity
    // too, in world axes. Its place is then base.now, and the last of q only count its turning.
    double *q, *v, *q_before; // [dof_count] each, one after the other
    double* memory;           // [model->memory_count] more of the model's state, next to them
    RodBase base;
    RodBase end; // where a held end has to be (now), and how it moves
    RodHeld held_state;
    double* q_rest;   // [dof_count] natural coordinates
    TdlVec3* natural; // [rod_curvature_count] natural curvatures, of which they were made
    double* expected; // [dof_count] forces that contacts are expected to have in the step, as the
                      // model keeps them (`expect`); those of no contact unless `expects`
    bool expects;
    bool taut;      // tension counts in this step (tension.h)
    double* v_free; // [tree_dofs] velocity without contacts, found by predict; a branch's lies in
                    // its tree's; where `held` is there, the rate of the stretch behind it
    double* work;
    double* held; // of held_end.h, where the model asks for it; else null

    // A branch of a tree, and its branches. Rods of a tree are alone in their groups.
    struct Rod *parent, *child, *sibling;
    int tree_dofs, tree_first; // coordinates of the whole tree, and where this rod's begin
    double* tree_v_free;       // of a root with branches; else null
    int parent_element;        // at whose end it is clamped
    TdlMat3 mount;             // from the parent's frame there to its own

    RodGroup* group; // null where the model has no groups
    int lane;        // in the group

    void* owner; // the body that steps it
} Rod;

// What predict is told about the coming step.
typedef struct RodStep {
    double dt;        // s
    TdlVec3 gravity;  // m/s^2
    TdlVec3 wind;     // m/s
    Twist base_rate;  // velocity of the start during the step, as far as it is held; else zero
    TdlPose base_end; // where the start is at its end
    Twist end_rate;   // the same of the rod's end
    TdlPose end_end;
    bool middle; // half a step of the midpoint rule: what it ends with is gone on with
} RodStep;

// Where the energy of a step goes. Kinetic and elastic energy together change by
// work + hold - damping - numerical, and by what contacts do.
typedef struct RodLosses {
    double damping;   // J, taken by internal and mass damping and by drag
    double numerical; // J, taken by the step itself, for it is implicit; never negative for the
                      // super-models
    double work;      // J, done by gravity, wind and point loads as the step counts them, in the
                      // shape it starts from
    double given;     // J, the part of that work which has no potential: of wind and torques
    double hold;      // J, done by the holds of ends that move
    double jump;      // J, of the change of velocity in the step: |V - V_n|^2 / 2
    TdlVec3 start;    // N s, done at the start by its hold; of a super-model all that its momentum
                      // asks for: with what contacts and the hold of the far end do
    TdlVec3 end;      // N s, at the far end, with contacts too; zero for super-models
} RodLosses;

// Momenta of a rod, and its mass and moments, about its start.
typedef struct RodMomenta {
    TdlVec3 linear, angular;
    double mass;
    TdlVec3 first;
    TdlMat3 second; // of inertia
    double size;    // of all that `angular` is the sum of
} RodMomenta;

// The curve of one element: from `start`, whose rotation's first column is the tangent, over
// `length` with a curvature (twist, k1, k2) that goes linearly from kappa to kappa_end.
typedef struct RodCurve {
    TdlPose start;
    TdlVec3 kappa;     // 1/m
    double length;     // m
    TdlVec3 kappa_end; // 1/m
} RodCurve;

// An element of unit length seen from its start: the place and the frame at s, and how they move
// while its coordinates change.
typedef struct RodLocal {
    TdlVec3 position, linear, angular;
    TdlMat3 rotation;
} RodLocal;

// A^-1 in halves by rows that are short: what a body's `root` and the operations beside it do for a
// place of an element. `find` goes before, after predict or predict_again.
typedef struct RodRoot {
    void (*find)(Rod* rod);
    BodyRoot (*root)(const Rod* rod);
    BodySupport (*support)(const Rod* rod, int element);
    void (*whiten)(const Rod* rod, int element, const double* h, double* g);
    void (*unwhiten)(const Rod* rod, const double* z, double* v);
} RodRoot;

struct RodModel {
    const char* name;
    int dofs_per_element, extra_dofs;
    size_t (*work_count)(int dof_count, int element_count); // doubles of work

    // Optional. Number of coordinates (else dofs_per_element each, extra_dofs, and the root's);
    // doubles of `memory` (else none); what the model cannot do of a definition, in words (else
    // anything).
    int (*dof_count)(const TdlRodDef* def);
    size_t (*memory_count)(int element_count);
    const char* (*find_fault)(const TdlRodDef* def);

    // Reduced coordinates: points move with a held start, and `jacobian` tells of their motion
    // relative to it.
    bool reduced;

    // A rod that nothing holds keeps its momenta to rounding, while its energy may swing a little:
    // the world leaves such a rod's velocities alone.
    bool keeps_momenta;

    // Sets q (or q_rest) from curvatures, [rod_curvature_count]; and finds those of the present
    // shape, with which it starts at `rod_start`.
    void (*set_curvature)(const Rod* rod, const TdlVec3* kappa, double* q);
    void (*curvature)(const Rod* rod, TdlVec3* kappa);
    TdlPose (*start)(const Rod* rod); // optional: where its base does not tell
    bool at_joints;                   // its curvatures are those at the joints

    // Optional: a model that works on groups. Doubles of a group's work; the two halves of a step
    // for all its rods at once. Then `predict` and `advance` serve rods that are alone, and a rod's
    // result is the same, bit for bit, in any group.
    size_t (*group_work_count)(int element_count);
    void (*predict_group)(RodGroup* group, const RodStep* const* steps, bool* ok);
    void (*advance_group)(RodGroup* group, const RodStep* const* steps); // with each rod's v

    // Optional: the model with the same coordinates that knows `potential`, where this one does
    // not.
    const struct RodModel* statics;

    // Recomputes what the model keeps of the state; called whenever the state was written to.
    void (*refresh)(Rod* rod);

    // Optional: before predict, a force (N) that a contact had in the last step at (element, s)
    // joins those in `expected`, which are zero where `expects` is false.
    void (*expect)(Rod* rod, int element, double s, TdlVec3 force);

    // Optional, all, of a model that is not linear in the step: see BodyKind.
    double (*residual)(const Rod* rod, const RodStep* step, const double* v, const double* impulse);
    bool (*predict_again)(Rod* rod, const RodStep* step, const double* v, const double* impulse);
    void (*correct)(const Rod* rod, double* v_free);

    // False when A is not positive definite or something is not finite.
    bool (*predict)(Rod* rod, const RodStep* step);
    // x := A^-1 x, after predict; at the root of a tree. Without the hold of an end that is left to
    // held_end.h
    void (*solve)(const Rod* rod, double* x);
    // Optional: the same for `count` columns, one after the other. Needed for held_end.h
    void (*solve_columns)(const Rod* rod, int count, double* X);
    // Optional: A^-1 in halves, A = L L' from the tip to the root. X := L^-1 X for `count` columns
    // of `used` coordinates each, the others being zero before and after: as many as `movers` tells
    // of some element. And x := L'^-1 x over all. Not for rods with a held end.
    void (*whiten)(const Rod* rod, int used, int count, double* X);
    void (*unwhiten)(const Rod* rod, double* x);
    const RodRoot* root; // optional, in its place
    void (*advance)(Rod* rod, const RodStep* step, const double* v);

    // What the step with the velocity v does to the energy, when contacts do the work `touch` (J)
    // on v. After predict and before advance. A tree is asked at its root, which answers for all
    // branches.
    RodLosses (*losses)(const Rod* rod, const RodStep* step, const double* v, double touch);

    // Optional: of the velocities v in the present shape, whose start moves with `root`.
    RodMomenta (*momenta)(const Rod* rod, Twist root, const double* v);

    // Geometry in the present state. `curves` fills [element_count].
    void (*curves)(const Rod* rod, RodCurve* curves);

    // Optional. The material frame of the far end; and how it turns: rows[k * dof_count + j] is the
    // angular velocity about world axis k for a unit rate of q_j. A model that has both may leave a
    // held end to held_end.h.
    TdlMat3 (*end_frame)(const Rod* rod);
    void (*end_turning)(const Rod* rod, double* rows);

    // Optional: the pose at (element, s) for other coordinates, of a rod that starts at `start`
    // with elements of length l. Needed for held_end.h.
    TdlPose (*pose_at)(const Rod* rod, const double* q, TdlPose start, double l, int element,
                       double s);

    // Optional, of a super-model: the place at s of an element of unit length with the coordinates
    // from q on, which change at the rates from d on.
    void (*local)(const double* q, const double* d, double s, RodLocal* out);
    bool mean_spin; // its elements spin as one (H.24)

    // Optional: the pose at the end of an element; a model that has it can carry branches.
    TdlPose (*node)(const Rod* rod, int element);
    TdlVec3 (*point)(const Rod* rod, int element, double s); // s in [0, 1] along the element

    // The coordinates of the tree that move the points of an element.
    TdlSpan (*movers)(const Rod* rod, int element);

    // Generalised force of a unit force along each axis of `basis` at the point (element, s):
    // rows[k * movers.count + j] = basis_k . d point / d q_(movers.first + j), k = 0, 1, 2.
    void (*jacobian)(const Rod* rod, int element, double s, TdlMat3 basis, double* rows);

    // Adds to such rows what torques on the section at (element, s) do, one a row: torque_k times
    // the angular velocity of the section for a unit rate of q_(movers.first + j).
    void (*add_torques)(const Rod* rod, int element, double s, const TdlVec3 torque[3],
                        double* rows);
    TdlSeats seats; // where its elements hold it off what it lies along
    bool frameless; // sections do not turn about the tangent: a torque along it does nothing

    TdlEnergy (*energy)(const Rod* rod, TdlVec3 gravity);

    // Optional: moves the state by a change of the coordinates (else q += change) and refreshes;
    // for statics at the root of a tree, with the coordinates of all.
    void (*move)(Rod* rod, const double* change);

    // Optional: moves all coordinates that are places, now and before, by a displacement.
    void (*shift)(Rod* rod, TdlVec3 by);

    // Optional: after the coordinates of a free rod were moved: turns it, so that its angular
    // momentum, as seen from a frame, is what it was. (W.25)
    void (*keep_pushed)(Rod* rod, const double* moved, TdlVec3 frame);

    // Optional: the model's own way to equilibrium (else Newton's method with the dense Hessian).
    const RodStatics* own_statics;

    // Potential energy at rest, its gradient [dof] and Hessian [dof * dof, column-major]; either
    // may be null. Torques count as no load. At the root of a tree, of the whole tree.
    double (*potential)(const Rod* rod, TdlVec3 gravity, double* gradient, double* hessian);
};

extern const RodModel SUPER_HELIX;       // linear time
extern const RodModel SUPER_HELIX_DENSE; // the reference
extern const RodModel SUPER_CLOTHOID;

// Null when no model has that name.
const RodModel* rod_model_find(const char* name);

// Checks a definition; on failure the log says which field is wrong.
TdlStatus rod_create(const TdlHost* host, const TdlRodDef* def, Rod** out);

// Puts a rod into the group of another, if the two can be advanced together.
bool rod_join(const TdlHost* host, Rod* rod, Rod* mate);

// Clamps a rod on the end of an element of another one, keeping its present frame. Both are
// super-helices in linear time, which solve a tree as one system; the rod's start is clamped, and
// no far end of a tree is held. The parent lives at least as long.
TdlStatus rod_attach(const TdlHost* host, Rod* rod, Rod* parent, double at);
void rod_destroy(const TdlHost* host, Rod* rod);

// Takes a rod out of its group, and a branch off its tree, before it is destroyed. It has no
// branches itself.
void rod_part(const TdlHost* host, Rod* rod);

// Brings the rod to rest at a stable equilibrium; at the root of a tree, the whole tree. From its
// natural shape on a clamp along the path of a load that grows (H.32), else downhill from its
// present shape. `residual` receives the largest remaining generalised force over weight times
// length (over bending stiffness by length when there is no gravity). `stability` receives the
// smallest eigenvalue of the Hessian of the potential energy: over the smallest bending or twisting
// stiffness of an element (K3 / l), for nodal models in the metric of the material (D.18). It is
// positive at a stable shape. TDL_STATUS_DIVERGED when the residual stays above 1e-9, or the shape
// is a saddle
// (`stability` below -1e-6 and rounding); the shape reached is kept. TDL_STATUS_STOPPED where it
// was asked to, once an iteration: then the shape is none.
TdlStatus rod_settle_until(const TdlHost* host, Rod* rod, TdlVec3 gravity, Stop stop,
                           double* residual, double* stability);

static inline TdlStatus rod_settle(const TdlHost* host, Rod* rod, TdlVec3 gravity, double* residual,
                                   double* stability) {
    return rod_settle_until(host, rod, gravity, (Stop){0}, residual, stability);
}

// Drag and mass damping are forces in proportion to mass: implicit, they multiply the mass in A by
// this factor, and the wind adds to gravity. (H.22)
double rod_mass_factor(const Rod* rod, double dt);
TdlVec3 rod_pull(const Rod* rod, const RodStep* step); // m/s^2, gravity with the wind

// The root of the tree that a rod belongs to: itself when it is alone.
const Rod* rod_tree_root(const Rod* rod);

double rod_length(const Rod* rod); // m, at rest

// Its shapes as curvatures, and its stiffness: rod_rest.c. Factors and curvatures are sane.
int rod_curvature_count(const Rod* rod);
TdlPose rod_start(const Rod* rod);
void rod_set_natural(Rod* rod, const TdlVec3* kappa);
const char* rod_natural_fault(const Rod* rod, const TdlVec3* kappa);
void rod_set_stiffening(Rod* rod, double factor); // refreshes

// For the tables of super-models, whose coordinates are curvatures times the element length.
void rod_scale_curvature(const Rod* rod, const TdlVec3* kappa, double* q);
void rod_unscale_curvature(const Rod* rod, TdlVec3* kappa);

// Gives the rod the length that held_state tells.
void rod_set_stretch(Rod* rod);

// Stiffness of the whole rod against stretching, N.
double rod_stretch_stiffness(const Rod* rod);

// Mass of an element over its length at rest, K3 of an element as it is stretched now.
static inline double rod_element_density(const Rod* rod, int i) {
    return rod->share[i].mass * rod->line_density;
}

static inline TdlVec3 rod_element_stiffness(const Rod* rod, int i) {
    TdlVec3 of = rod->share[i].stiffness, K = rod->stiffness;
    return (TdlVec3){of.x * K.x, of.y * K.y, of.z * K.z};
}

// The model's energy, with that of a held rod's stretching.
TdlEnergy rod_energy(const Rod* rod, TdlVec3 gravity);

// The far end: place, and frame where the model knows it (else the identity).
TdlPose rod_end(const Rod* rod);
double rod_mass(const Rod* rod);

// Potential energy of the point forces, zero at the origin.
double rod_load_energy(const Rod* rod);

// Moves a free rod as a whole.
void rod_shift(Rod* rod, TdlVec3 by);

// Puts the rod at rest in its present shape.
void rod_stop(Rod* rod);

// Of a super-model: where its start is at the end of a step with the velocities v.
TdlPose rod_start_after(const Rod* rod, const RodStep* step, const double* v);

// What a step may change, as bytes.
size_t rod_state_size(const Rod* rod);
void rod_save_state(const Rod* rod, void* bytes);
void rod_load_state(Rod* rod, const void* bytes); // refreshes
bool rod_state_finite(const Rod* rod);
uint64_t rod_state_hash(const Rod* rod, uint64_t hash);

#endif
