// What the files of the inverse of a world share: its rods, the contacts they lean on, the forces.
// docs/theory/inverse-contacts.md
#ifndef TDL_INVERSE_WORLD_INVERSE_H
#define TDL_INVERSE_WORLD_INVERSE_H

#include "inverse/strand.h"
#include "rod/rod_body.h"
#include "world/contact_data.h"

typedef struct InverseRod {
    RodBody* body;
    Rod* rod;
    TdlStrand strand;  // its shape and loads, with the stiffness that is tried
    int first, n;      // its coordinates among all: three for each curvature
    int place;         // the first of them in the matrix of all that is held; -1: not in it
    TdlVec3 tip;       // natural curvature of its tip times element length: what the guess 0 is
    bool tip_touched;  // contacts have a part in it: the tip is found with the forces
    double* pivot;     // [blocks] of a super-clothoid: of the matrix over its joints; else null
    double stiffening; // factor on its stiffness in the world that is tried
    double least_eigenvalue, least_factor, bound_factor; // beside its neighbours
} InverseRod;

// Contact i of the list: sides 2 i and 2 i + 1 in the arrays of sides.
typedef struct InverseContacts {
    int count;
    int* of;       // [count] candidate of the world
    double* mu;    // [count] of the pair
    int* rod;      // [2 count] whose coordinates move the side; -1: none do
    int* own;      // sides of each rod, rod after rod, and
    int* start;    // [rod_count + 1] where those of a rod begin in `own`
    TdlSpan* span; // [2 count] which of them
    size_t* at;    // [2 count] where its rows are
    double* h;     // rows of H, three a side
    double* roll;  // rows of rolling, two a side
    double* r;     // [3 count] N
    double* gamma; // [count]
    double residual;
} InverseContacts;

typedef struct Inverse {
    TdlWorld* world;
    TdlInverseOptions options;
    Arena arena;
    InverseRod* rod; // [rod_count]
    int rod_count, dof_count;
    int* dof_start;   // [rod_count + 1]
    double* gradient; // [dof_count] G, N m
    double* natural;  // [dof_count] natural curvatures that were found, 1/m
    InverseContacts contacts;
    double guess;    // that is tried
    bool tips_float; // the tips that are touched are sought with the forces
    int loaded_count, sliding_count, free_count;
    int overlap_count;
    double deepest; // m
    bool stable;
    double least_eigenvalue;
} Inverse;

// A row of a side of a contact: 0 to 2 are those of H, 3 and 4 those of rolling.
static inline double* inverse_row(const InverseContacts* c, int side, int axis) {
    double* first = axis < 3 ? c->h + c->at[side] : c->roll + c->at[side] / 3 * 2;
    return first + (ptrdiff_t)(axis < 3 ? axis : axis - 3) * c->span[side].count;
}

static inline bool inverse_is_super(const Rod* rod) {
    return rod->model == &SUPER_HELIX || rod->model == &SUPER_HELIX_DENSE ||
           rod->model == &SUPER_CLOTHOID;
}

// Whether a side is of a body that could move, but not by natural curvatures.
bool inverse_is_free(const Inverse* inverse, int side);

// Before any of it, once: the pivots of a super-clothoid.
void inverse_elastic_prepare(InverseRod* rod);
// K of a super-model in its coordinates, with the stiffness that is tried: x <- K^-1 x, and
// y += scale K x. (V.62)
void inverse_elastic_solve(const InverseRod* rod, double* x);
void inverse_elastic_add(const InverseRod* rod, double scale, const double* x, double* y);

// Lists the contacts within reach with their rows. Nothing touches: none.
TdlStatus inverse_find_contacts(Inverse* inverse);
// Forces with which natural curvatures are nearest to the guess. (V.64)
TdlStatus inverse_find_forces(Inverse* inverse);
// The compliance of a contact along one of its axes, H K^-1 H'; `whole` has the dofs of a rod.
double inverse_compliance(const Inverse* inverse, int contact, int axis, double* whole);
// out += scale H'r over all coordinates.
void inverse_add_pull(const Inverse* inverse, double scale, double* out);

// Fills the rows of rolling of some contacts, which carry. (V.70)
TdlStatus inverse_find_rolling(Inverse* inverse, const int* contacts, int count);

// Whether what was found is stable, rod by rod and all together.
TdlStatus inverse_judge(Inverse* inverse);

#endif
