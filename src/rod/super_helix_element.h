// What the dense super-helix keeps of its elements, shared by its motion and its potential.
#ifndef TDL_ROD_SUPER_HELIX_ELEMENT_H
#define TDL_ROD_SUPER_HELIX_ELEMENT_H

#include "rod/super_helix.h"

// What is kept of an element; vectors and matrices in world axes unless said otherwise.
typedef struct Element {
    HelixAxes axes; // own axes
    HelixGram gram;
    TdlPose start;
    TdlVec3 span;            // from start to end
    TdlVec3 way, mean;       // own axes, unit length: the end, and the mean of all points
    TdlMat3 shift, turn;     // S = [shift; turn]: motion of the end for a change of q
    TdlVec3 h;               // first moment about the start, for unit mass
    TdlMat3 J;               // second moment, for unit mass, with that of the spin
    TdlMat3 Bm, Hm;          // momentum and its moment for a rate of q, for unit mass
    TdlMat3 Mqq;             //
    double end[HELIX_COUNT]; // the scalar functions at s = 1
    double taut;             // of tension.h: what it added to J, Hm and Mqq

    // the velocities, in the shape they were found in: sum of field[f] f(s) at y_before (H.10)
    TdlVec3 field[HELIX_AKK];
    double y_before;
    double spin;         // of the element's sections about their tangents, in the mean (H.24)
    double twist;        // rate of the first of q
    double field_square; // mean of |velocity|^2, and of the spin's share
} Element;

enum { ELEMENT_DOUBLES = (sizeof(Element) + sizeof(double) - 1) / sizeof(double) };

// work: elements; force and moment of each (scratch of super_helix_bias); A in columns
static inline Element* elements_of(const Rod* rod) {
    return (Element*)rod->work;
}

static inline double* wrench_of(const Rod* rod) {
    return rod->work + (size_t)rod->element_count * ELEMENT_DOUBLES;
}

// A block of a matrix of n columns, and what loads on the elements do to their coordinates.
void helix_store_block(double* A, int n, int i, int j, TdlMat3 block);
void helix_store_load(const Element* el, int i, double m, HelixLoad load, double* wrench,
                      double* out);
void helix_gather_loads(const Rod* rod, double* wrench, double* out);
void helix_add_point_loads(const Rod* rod, double scale, double* wrench, double* out);

// K3 of the coordinate i, of those of elements.
static inline double helix_stiffness(const Rod* rod, int i) {
    TdlVec3 K = rod_element_stiffness(rod, i / 3);
    return i % 3 == 0 ? K.x : i % 3 == 1 ? K.y : K.z;
}

double helix_gravity_energy(const Rod* rod, TdlVec3 gravity);
double helix_elastic_energy(const Rod* rod);

// Energy of gravity and elasticity in the present shape, with its gradient and Hessian where asked
// for; the rod model's `potential`.
double super_helix_potential(const Rod* rod, TdlVec3 gravity, double* gradient, double* hessian);

#endif
