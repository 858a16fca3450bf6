// A sheet: nodes joined by elements that keep its lengths and angles, and bend.
// docs/theory/cloth.md
#ifndef TDL_CLOTH_CLOTH_H
#define TDL_CLOTH_CLOTH_H

#include "base/memory.h"
#include "body/lead.h"
#include "body/load.h"
#include "linalg/node_cholesky.h"
#include "tendril/cloth.h"
#include "tendril/control.h"

enum { CLOTH_MOST = 9 }; // nodes of an element

typedef enum ClothStrain {
    CLOTH_EDGE,         // change of an edge's length over its length
    CLOTH_SHEAR,        // of the angle between a quad's middle lines, where that is small
    CLOTH_HINGE,        // of the angle between two triangles
    CLOTH_PANEL,        // of an elastic face: a sum of the three at its middle
    CLOTH_TWIST,        // of an elastic quad: what its sides differ by
    CLOTH_METRIC,       // S3's: of the mean of E or G about a node
    CLOTH_METRIC_SHEAR, // of that of F; its form lies between those of E and G
} ClothStrain;

// One strain c of a few nodes, with the energy `stiffness` c^2 / 2. (N.1) to (N.4)
typedef struct ClothElement {
    ClothStrain kind;
    int count, node[CLOTH_MOST];
    double rest, scale;             // see strain.c
    const struct ClothPanel* panel; // of elastic faces, with weights of its strains
    double weight[3];
    const double* form; // [count count] of a metric
    double stiffness;   // J
    int first;          // of its gradients
    int* place;         // [count count] of its blocks among those of A
} ClothElement;

// Two nodes that a seam draws together. (N.51)
typedef struct ClothStitch {
    int node[2];
    double first, last, time; // m at first, m in the end, s
} ClothStitch;

// A node that is pulled from outside.
typedef struct ClothPull {
    int node;
    TdlVec3 force; // N
} ClothPull;

// How a program leads a grip, and where that is once it was led in a step; else all zero, and its
// motion tells.
typedef struct ClothLead {
    Lead lead;
    TdlPose now;
} ClothLead;

typedef struct ClothGrip {
    ClothLead* led;  // of the state
    int* node;       // [count]
    TdlVec3* placed; // [count] from the middle, at first
    int count;
    TdlPose middle; // at first
    Motion motion;
} ClothGrip;

// Where a step is linearised, or was tried: the velocity, the stresses and what is left of their
// own equation c = stress / stiffness. (N.7)
typedef struct ClothBase {
    double* v;             // [3 node_count]
    double *stress, *left; // [element_count]
} ClothBase;

typedef struct Cloth {
    TdlClothDef def; // what it points to is its own; without its holds
    Arena arena;     // everything of a fixed size
    int* number;     // [vertices as given] which node each became
    int node_count, element_count;
    int strain_count; // of the elements, the first: what stretches it
    int bend_count;   // of those that follow: hinges
    int slope_count;  // nodes of all elements
    ClothElement* element;
    ClothStitch* stitch; // [stitch_count], of the last elements
    int stitch_count;
    int* triangle; // [3 triangle_count]
    int triangle_count;
    double* area;          // [node_count] m^2, at rest
    double reach;          // m, the mean length of an edge
    bool *held, *strained; // [node_count]
    ClothGrip* grip;       // [grip_count]
    int grip_count;

    // state, in one array
    double *x, *v, *stress; // [3 node_count] m, m/s; [element_count] J
    int state_count;        // behind them how its grips are led

    ClothPull* pull; // [pull_count]
    int pull_count;
    LoadList varying; // loads that are functions of the time; their slots are nodes

    // the step under way
    double *free, *expected; // [3 node_count] v before contacts; N s
    double gave;             // N, what holds that gave way pull with; 0: none did
    double* aim;             // [3 node_count] m/s, of held nodes; 0 of others
    TdlVec3* normal;         // [node_count] unit, at the start
    double* rest;            // [element_count] with what damping adds, (N.6)
    double* gain;            // [element_count] by how much it stiffens
    ClothBase base, tried;
    TdlVec3* slope;           // [slope_count] gradients where it is linearised
    double* missing;          // [3 node_count] what Newton's method would change, at `tried`
    double* force;            // [3 node_count] N, of holds, in the last step
    BlockPattern pattern;     // of A
    double *blocks, *bending; // of A; entries of K, the same for all three coordinates
    NodeCholesky factor;
    int careful, patience; // which share of the negative geometric stiffness, and for how long
    int buckled;           // linearisations that it was not the whole of
} Cloth;

// Copies a definition without fault.
TdlStatus cloth_create(const TdlHost* host, const TdlClothDef* def, Cloth** out);
void cloth_destroy(const TdlHost* host, Cloth* cloth);

// --- from a program, and in another world: cloth_control.c

// Where a grip is between two steps, or two parts of one.
TdlPose cloth_grip_pose(const ClothGrip* grip, double time);

// How a grip is led, null where there is none such, and where it is.
Lead* cloth_lead(Cloth* cloth, int part, double time, TdlPose* now);
TdlStatus cloth_pull_at(const TdlHost* host, Cloth* cloth, int count, const TdlPull* pulls);

// The same cloth, but for its state.
TdlStatus cloth_create_copy(const TdlHost* host, const Cloth* cloth, Cloth** out);

// --- elements

// The strain of an element of a sheet with nodes at x, and its gradient by node.
double cloth_strain(const ClothElement* el, const double* x, TdlVec3 slope[CLOTH_MOST]);

// What an element counts as stretched by, a share: of an elastic face the largest there.
double cloth_stretched(const ClothElement* el, const double* x);

// blocks += factor * stress * the second derivative of the strain, with a share of its negative
// part. (N.8)
void cloth_add_geometric(const ClothElement* el, const double* x, double stress, double factor,
                         double share, double* blocks);

// S3's isometry instead of edges and shears: what is wrong with a definition that has it; its
// elements but for the rim's edges, false when memory runs out; their strains and stiffness.
const char* cloth_s3_fault(const TdlClothDef* def);
bool cloth_add_s3(Cloth* cloth);
double cloth_metric_strain(const ClothElement* el, const double* x, TdlVec3 slope[CLOTH_MOST]);
void cloth_metric_geometric(const ClothElement* el, double stress, double factor, double share,
                            double* blocks);

// --- seams

// The first face that is the third at an edge, with vertices numbered anew (null: as they are);
// -1: none.
int cloth_third_face(const int* faces, int face_count, const int* number);

// What seams draw, as stitches and as seams of its nodes. False when memory runs out.
bool cloth_copy_seams(Cloth* cloth, const TdlClothDef* def);

// Elements that are stitches, from the first on.
static inline int cloth_stitch_first(const Cloth* cloth) {
    return cloth->element_count - cloth->stitch_count;
}

// Makes the elements, node areas and bending of the mesh. False when memory runs out.
bool cloth_build(Cloth* cloth);

// --- the step

typedef struct ClothStep {
    double dt, end, settling;
    TdlVec3 gravity, wind;
} ClothStep;

void cloth_prepare(Cloth* cloth, const ClothStep* step);

// Linearises at the velocity v: factors A, and free <- what v becomes without contacts. False: A
// has no factor.
bool cloth_linearise(Cloth* cloth, const ClothStep* step, const double* v);

// What the step's equation still changes at v with the impulses given (null: none), as a share of
// an edge; it stays in `missing`.
double cloth_residual(Cloth* cloth, const ClothStep* step, const double* v, const double* impulse);

// Goes on from where cloth_residual was asked, with A as it is.
void cloth_rebase(Cloth* cloth);

// Newton's method to the end, with what is expected; then `free` is without it. False: none.
bool cloth_predict(Cloth* cloth, const ClothStep* step);

// Moves it with `free`, which contacts with `impulse` (null: none) led to. The work of its holds
// and of the wind, J.
double cloth_advance(Cloth* cloth, const ClothStep* step, const double* impulse);

// What would move held nodes is taken out of x.
void cloth_clear_held(const Cloth* cloth, double* x);

TdlEnergy cloth_energy(const Cloth* cloth, TdlVec3 gravity);

#endif
