// What the files of the super-clothoid share: what is kept of its elements, and how blocks of
// joints are added to vectors and matrices.
#ifndef TDL_ROD_CLOTHOID_ELEMENT_H
#define TDL_ROD_CLOTHOID_ELEMENT_H

#include "rod/clothoid.h"
#include "rod/rod.h"

// What is kept of an element; vectors and matrices in world axes unless said otherwise. Index a of
// an array [2] is the joint: 0 for the element's start, 1 for its end.
typedef struct ClothoidElement {
    Clothoid shape; // own axes
    TdlPose start;
    TdlMat3 end_turn;          // R(1), own axes
    TdlVec3 span;              // from start to end
    TdlMat3 shift[2], turn[2]; // motion of the end for a change of q
    TdlVec3 h;                 // first moment about the start, for unit mass
    TdlMat3 J;                 // second moment, for unit mass, with that of the spin
    TdlMat3 Bm[2], Hm[2];      // momentum and its moment for a rate of q, for unit mass
    TdlMat3 Mqq[3];            // blocks (0, 0), (1, 0), (1, 1)

    // the velocities, in the shape they were found in: their load on the present shape and their
    // mean square, for unit mass
    ClothoidLoad brought;
    double field_square;
    double taut; // of tension.h: what it added to J, Hm and Mqq
} ClothoidElement;

enum { CLOTHOID_ELEMENT_DOUBLES = sizeof(ClothoidElement) / sizeof(double) };

// They are the first of the rod's work.
static inline ClothoidElement* elements_of(const Rod* rod) {
    return (ClothoidElement*)rod->work;
}

// The place of the root's coordinates, as a joint.
static inline int root_of(const Rod* rod) {
    return rod->element_count + 1;
}

// row_i += a
static inline void add3(double* row, int i, TdlVec3 a) {
    tdl_store3(row, i, tdl_add3(tdl_load3(row, i), a));
}

// Adds to block (i, j), i >= j, of a symmetric matrix: entry (r, c) at row 3i + r, column 3j + c.
static inline void add_block(double* A, int n, int i, int j, TdlMat3 block) {
    TdlVec3 column[3] = {block.cx, block.cy, block.cz};
    for (int c = 0; c < 3; ++c) {
        add3(A + (size_t)(3 * j + c) * (size_t)n, i, column[c]);
    }
}

// The same for a pair of elements: where they meet in joint i = j, it counts as (i, j) and (j, i).
static inline void add_pair(double* A, int n, int i, int j, TdlMat3 block) {
    add_block(A, n, i, j, i == j ? tdl_add33(block, tdl_transpose33(block)) : block);
}

// Dead forces on all that lies beyond a point: their sum, and the sum P of r F' with r from that
// point to where F acts.
typedef struct ClothoidBeyond {
    TdlVec3 F;
    TdlMat3 P;
} ClothoidBeyond;

// What an element gives the Hessian of dead forces inside itself, blocks (0, 0), (1, 0), (1, 1),
// and W: the sum of F x (displacement for a change of each of its joints), over all forces on it
// and beyond it.
typedef struct ClothoidShare {
    TdlMat3 own[3], W[2];
} ClothoidShare;

// The share of gravity on an element of length l and mass m and of the forces beyond it, to a
// share that is zero; and a point force on it. Both return the forces beyond its start. Of the
// element they read shape, start, span, shift, turn, h and Bm. (C.17)
ClothoidBeyond clothoid_share_gravity(const ClothoidElement* e, double l, double m, TdlVec3 g,
                                      ClothoidBeyond beyond, ClothoidShare* share);
ClothoidBeyond clothoid_share_load(const ClothoidElement* e, double l, const RodLoad* load,
                                   ClothoidBeyond beyond, ClothoidShare* share);

// Gradient of the potential of gravity and point forces. (C.14), (C.15)
void super_clothoid_forces(const Rod* rod, TdlVec3 gravity, double* out);

// y += scale K (q - q_rest); A += scale K, lower triangle. (C.2)
void super_clothoid_add_elastic(const Rod* rod, double scale, double* y);
void super_clothoid_add_stiffness(const Rod* rod, double scale, double* A);

TdlVec3 super_clothoid_point(const Rod* rod, int element, double s);
TdlEnergy super_clothoid_energy(const Rod* rod, TdlVec3 gravity);
double super_clothoid_potential(const Rod* rod, TdlVec3 gravity, double* gradient, double* hessian);

#endif
