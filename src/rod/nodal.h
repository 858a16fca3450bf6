// What the nodal rod models share: vertices joined by straight edges, coordinates in the order
// x0, (edge 0), x1, (edge 1), ..., xN, an elastic energy that is a sum of squares of strains of
// neighbours, and the implicit step. discrete-elastic-rod.md (D.9) to (D.16)
//
// Places are counted in element lengths: x = position / l. So all coordinates are numbers near one,
// and generalised forces are moments, as those of the super-models.
//
// Ends that are held keep their coordinates in q and v, with the velocity the hold prescribes; A^-1
// gives them no change. So H v is the whole velocity of a point, whatever moves the ends.
#ifndef TDL_ROD_NODAL_H
#define TDL_ROD_NODAL_H

#include "rod/quaternion.h"
#include "rod/rod.h"
#include "rod/statics.h"

enum { NODAL_MAX_DOFS = 11, NODAL_WIDTH = 10, NODAL_STRIDE = NODAL_WIDTH + 1 };

// A shape: the coordinates, and the frames its clamps prescribe.
typedef struct NodalShape {
    const Rod* rod;
    const double* q;
    Quat start, end;
    const double* lag; // of NodalKind.lag, for the energy that lies above; null: the energy itself
} NodalShape;

// Up to three strains that depend on q[first .. first + dof_count). Energy: the sum of
// stiffness (value - rest)^2 / 2. A count of 0 is an element that is not there.
typedef struct NodalElement {
    int first, dof_count, count;
    double value[3], rest[3], stiffness[3];
    double slope[3][NODAL_MAX_DOFS];
} NodalElement;

typedef double NodalBlock[NODAL_MAX_DOFS][NODAL_MAX_DOFS];

// What makes one nodal model. Vertices and stretching are common to all.
typedef struct NodalKind {
    int edge_dofs; // coordinates of an edge beside its ends

    // Elements beyond the N stretched edges. Fills `second`, unless null, with the second
    // derivatives of force . value; a null force means stiffness (value - rest).
    int (*element_count)(int edge_count);
    void (*element)(const NodalShape* shape, int index, const double* force, NodalElement* out,
                    NodalBlock second);

    // Inertia of each coordinate of an edge, kg m^2.
    double (*edge_inertia)(const Rod* rod, int edge);

    // Rates of an edge's coordinates when the rod turns about `axis`; generalised force of a torque
    // on it (beside the forces on its ends that make up the rest of the torque).
    void (*spin)(const NodalShape* shape, int edge, TdlVec3 axis, double* rates);
    void (*torque)(const NodalShape* shape, int edge, TdlVec3 torque, double* force);
    // Optional, else `spin`: the same rates in a shape that the frames were not yet taken to.
    void (*spin_after)(const NodalShape* shape, int edge, TdlVec3 axis, double* rates);

    // Natural strains at vertex i of the quaternion that the natural curvature makes there.
    void (*set_rest)(Quat between, double rest[3]);

    // Gives an edge a frame; keeps frames in order after coordinates were moved (`stepped`) or
    // written to.
    void (*set_frame)(const Rod* rod, int edge, Quat frame, double* q);
    void (*keep_frames)(Rod* rod, bool stepped);
    void (*tidy)(const Rod* rod, double* q); // optional: what keep_frames does to stepped ones

    // Optional, where the energy is not smooth enough for every step: three numbers a vertex, [3 (N
    // + 1)], of another energy that is, touches this one in a shape and lies above it elsewhere.
    void (*lag)(const NodalShape* shape, double* out);
    TdlMat3 (*frame)(const Rod* rod, int edge);
} NodalKind;

typedef struct NodalModel {
    RodModel rod; // first: a Rod's model points here
    NodalKind kind;
} NodalModel;

// --- for the models' tables -----------------------------------------------------------------

static inline const NodalKind* nodal_kind(const Rod* rod) {
    return &((const NodalModel*)rod->model)->kind;
}

static inline int nodal_stride(const Rod* rod) {
    return 3 + nodal_kind(rod)->edge_dofs;
}

static inline TdlVec3 nodal_vertex(const NodalShape* shape, int i) {
    return tdl_load3(shape->q + i * nodal_stride(shape->rod), 0);
}

static inline TdlVec3 nodal_edge(const NodalShape* shape, int i) {
    return tdl_sub3(nodal_vertex(shape, i + 1), nodal_vertex(shape, i));
}

static inline const double* nodal_edge_dofs(const NodalShape* shape, int i) {
    return shape->q + i * nodal_stride(shape->rod) + 3;
}

// The rod's present shape.
NodalShape nodal_shape(const Rod* rod);

// Stiffness of an edge against shearing, N.
double nodal_shear_stiffness(const Rod* rod, int edge);

// K3 at a vertex: the harmonic mean of the two edges that meet there.
TdlVec3 nodal_cell_stiffness(const Rod* rod, int i);

// Polar moment of inertia of an edge, kg m^2.
double nodal_polar_inertia(const Rod* rod, int edge);

// Natural strains at vertex i (0 and N are the half cells next to clamps).
static inline const double* nodal_rest(const Rod* rod, int i) {
    return rod->q_rest + 3 * i;
}

// The share of a rod's stiffness over its length at vertex i: 1 inside, 2 in a half cell, 0 where
// there is no clamp to bend against. (D.9)
double nodal_cell_factor(const Rod* rod, int i);

// Energy, and the generalised forces of all strains, in a shape: for tests.
double nodal_elastic_energy(const NodalShape* shape);

int nodal_element_count(const Rod* rod);
void nodal_element(const NodalShape* shape, int index, const double* force, NodalElement* out,
                   NodalBlock second);

// Inertia of a coordinate, kg m^2, and whether an end's hold prescribes it.
double nodal_mass(const Rod* rod, int dof);
bool nodal_is_held(const Rod* rod, int dof);

// Generalised force of a uniform pull (m/s^2) and of the point loads, with or without torques.
void nodal_dead_load(const NodalShape* shape, TdlVec3 pull, bool torques, double* out);

size_t nodal_work_count(const NodalKind* kind, int element_count);
const char* nodal_find_fault(const TdlRodDef* def);
void nodal_set_curvature(const Rod* rod, const TdlVec3* kappa, double* q);
void nodal_curvature(const Rod* rod, TdlVec3* kappa);
TdlPose nodal_start(const Rod* rod);
void nodal_refresh(Rod* rod);
bool nodal_predict(Rod* rod, const RodStep* step);

// The same; a model that has a smoother energy (NodalKind.lag) may go over to it, or not.
bool nodal_find_step(Rod* rod, const RodStep* step, bool lagging);
void nodal_solve(const Rod* rod, double* x);
void nodal_solve_columns(const Rod* rod, int count, double* X);
void nodal_expect(Rod* rod, int element, double s, TdlVec3 force);
double nodal_residual(const Rod* rod, const RodStep* step, const double* v, const double* impulse);
bool nodal_predict_again(Rod* rod, const RodStep* step, const double* v, const double* impulse);
void nodal_correct(const Rod* rod, double* v_free);
void nodal_advance(Rod* rod, const RodStep* step, const double* v);
RodLosses nodal_losses(const Rod* rod, const RodStep* step, const double* v, double touch);
void nodal_curves(const Rod* rod, RodCurve* curves);
TdlMat3 nodal_end_frame(const Rod* rod);
TdlVec3 nodal_point(const Rod* rod, int element, double s);
void nodal_shift(Rod* rod, TdlVec3 by);
void nodal_keep_pushed(Rod* rod, const double* moved, TdlVec3 frame);
TdlSpan nodal_movers(const Rod* rod, int element);
void nodal_jacobian(const Rod* rod, int element, double s, TdlMat3 basis, double* rows);
void nodal_add_torques(const Rod* rod, int element, double s, const TdlVec3 torque[3],
                       double* rows);
TdlEnergy nodal_energy(const Rod* rod, TdlVec3 gravity);
double nodal_potential(const Rod* rod, TdlVec3 gravity, double* gradient, double* hessian);

// --- for statics: matrices as lower bands of NODAL_STRIDE numbers a column, see linalg/banded.h
// ---

// The gradient of the potential, and unless null the band of its Hessian, with the given stresses
// (null: those that the shape has) in the geometric part.
void nodal_derive(const Rod* rod, TdlVec3 gravity, const double* force, double* gradient,
                  double* band);

// Adds `scale` times the stiffness of an element, and unless null its second derivatives. Ends that
// are held do not move: no force on them, and no stiffness towards the rest.
void nodal_add_band(const NodalElement* el, NodalBlock second, double scale, double* band);
void nodal_hold_band(const Rod* rod, double* band);
void nodal_hold_vector(const Rod* rod, double* x);

extern const RodRoot NODAL_ROOT; // nodal_root.c

#define NODAL_FUNCTIONS                                                                            \
    .keeps_momenta = true, .find_fault = nodal_find_fault, .set_curvature = nodal_set_curvature,   \
    .curvature = nodal_curvature, .start = nodal_start, .refresh = nodal_refresh,                  \
    .predict = nodal_predict, .solve = nodal_solve, .solve_columns = nodal_solve_columns,          \
    .expect = nodal_expect, .residual = nodal_residual, .predict_again = nodal_predict_again,      \
    .correct = nodal_correct, .advance = nodal_advance, .losses = nodal_losses,                    \
    .curves = nodal_curves, .end_frame = nodal_end_frame, .point = nodal_point,                    \
    .movers = nodal_movers, .jacobian = nodal_jacobian, .add_torques = nodal_add_torques,          \
    .energy = nodal_energy, .shift = nodal_shift, .keep_pushed = nodal_keep_pushed,                \
    .potential = nodal_potential, .own_statics = &NODAL_STATICS, .root = &NODAL_ROOT

#endif
