// Rows of strain: what holds inside a body that fills space, as a step's contact problem sees it.
// docs/theory/granular.md
//
// Row j is the law of Drucker and Prager for one stress. It is Coulomb's law in d = 3 components
// (in two dimensions) or 6 (in three): with chi of (F.61)
//     u_j = 2 chi^-1(sym sum_i v_i x g_ji) + b_j n,   m_i dv_i = chi(dr_j) g_ji,   (u_j, r_j) in
//     C(mu_j)
// so that r_j is the impulse dt lambda_j, in Pa s, and u_j the rate of strain summed over the row's
// volume, times two, in m^3/s. g has the components along x, y, z, or along x, z in two dimensions.
#ifndef TDL_BODY_STRAIN_H
#define TDL_BODY_STRAIN_H

#include "tendril/math.h"

#include <stdbool.h>

struct BodyStrain;

typedef struct StrainRows {
    int dimension;      // 2 or 3
    int count;          // of rows
    int near;           // nodes of a row, at most: 4 or 9, 8 or 27
    const int* node;    // [count near], -1 where there is none
    const double* g;    // [count near dimension] m^2
    const double* mu;   // [count] of the cone: mu (2/dimension)^(1/2)
    const double* bias; // [count] b, m^3/s
    const int* start;   // [colour_count + 1] rows of a colour have no node in common: they follow
    int colour_count;   // each other
    double* impulse;    // [count d] Pa s: the guess, then what was found
} StrainRows;

// Places of stress of a body that fills space, on a lattice, and the share of the room of each that
// it may fill: the rest is beyond the lattice or behind surfaces of other bodies. Each has a
// function of its own, 1 within half a spacing or falling to 0 within a whole one. granular.md
// (A.34)
typedef struct BodyLattice {
    TdlVec3 first;         // m
    double spacing;        // m
    int count[3], step[3]; // along x, y, z, and from one to the next
    bool falling;          // as its functions are; else they are 1
    bool around[3];        // it goes on where it began
    double* open;          // in [0, 1]
} BodyLattice;

enum { LATTICE_SIDES = 6 }; // before and after along each axis

// Share of a function on this side of a plane across an axis, whose distance is told in spacings.
static inline double lattice_share(bool falling, double distance) {
    double most = falling ? 1.0 : 0.5;
    double t = distance < -most ? -most : distance > most ? most : distance;
    if (!falling) {
        return 0.5 + t;
    }
    return t < 0.0 ? 0.5 * (1.0 + t) * (1.0 + t) : 1.0 - 0.5 * (1.0 - t) * (1.0 - t);
}

// Of a place: what the ends of the lattice leave of it on each side.
static inline void lattice_clear(const BodyLattice* x, const int at[3],
                                 double clear[LATTICE_SIDES]) {
    for (int side = 0; side < LATTICE_SIDES; ++side) {
        int a = side / 2;
        bool end = at[a] == (side % 2 == 0 ? 0 : x->count[a] - 1);
        clear[side] = x->falling && x->count[a] > 1 && !x->around[a] && end ? 0.5 : 1.0;
    }
}

static inline double lattice_open(const double clear[LATTICE_SIDES]) {
    double all = 1.0;
    for (int a = 0; a < 3; ++a) {
        double left = clear[2 * a] + clear[2 * a + 1] - 1.0;
        all *= left > 0.0 ? left : 0.0;
    }
    return all;
}

typedef struct BodyStrain {
    StrainRows rows;
    int node_count;        // with mass
    const TdlVec3* place;  // [node_count] m
    const double* mass;    // [node_count] kg
    const int* coordinate; // [node_count] first of a node's three in v_free
    double* reaction;      // [3 node_count] N s, what all that touches did to each node: of the
                           // last step, then of this one
    bool* met;             // [node_count] it is at a body or in it: told by who finds contacts
    double spacing;        // m, of nodes
    double iterations;     // of the last solve, told by who solves; and its relative error
    double error;
} BodyStrain;

#endif
