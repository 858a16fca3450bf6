// One super-clothoid element, in the axes of its start and scaled to unit length: its curvature
// vector times its length goes linearly from q0 to q1. Symbols and equations are those of
// docs/theory/super-clothoid.md.
#ifndef TDL_ROD_CLOTHOID_H
#define TDL_ROD_CLOTHOID_H

#include "tendril/math.h"

// k(s) = q0 + s slope, s in [0, 1]; rad
typedef struct Clothoid {
    TdlVec3 q0, slope;
} Clothoid;

// Largest |q0| and |q1|, rad: some 500 turns. Beyond it everything comes out as NaN.
#define CLOTHOID_MAX_TURNING 3000.0

Clothoid clothoid_make(TdlVec3 q0, TdlVec3 q1);

// All kinematics at one s, in lanes that obey the same equation y' = y x k + source: the rows of
// R, the rotations phi and the displacements rho, in material axes, for changes of the components
// of q0 and q1. Lane i is (y[i], y[LANES + i], y[2 LANES + i]). (C.5)
enum {
    CLOTHOID_ROW = 0,
    CLOTHOID_PHI = 3,
    CLOTHOID_RHO = 9,
    CLOTHOID_LANES = 16, // the last one is not used
    CLOTHOID_P = 3 * CLOTHOID_LANES,
    CLOTHOID_AREA = CLOTHOID_P + 4,
    CLOTHOID_WIDTH = CLOTHOID_AREA + 4
};

typedef struct ClothoidState {
    double y[CLOTHOID_WIDTH]; // lanes; position p; integral of p from the start
} ClothoidState;

static inline TdlVec3 clothoid_lane(const ClothoidState* at, int lane) {
    return (TdlVec3){at->y[lane], at->y[CLOTHOID_LANES + lane], at->y[2 * CLOTHOID_LANES + lane]};
}

// p(s)
static inline TdlVec3 clothoid_position(const ClothoidState* at) {
    return tdl_load3(at->y + CLOTHOID_P, 0);
}

// integral of p from 0 to s
static inline TdlVec3 clothoid_area(const ClothoidState* at) {
    return tdl_load3(at->y + CLOTHOID_AREA, 0);
}

// R(s)
static inline TdlMat3 clothoid_rotation(const ClothoidState* at) {
    return tdl_transpose33(
        (TdlMat3){clothoid_lane(at, 0), clothoid_lane(at, 1), clothoid_lane(at, 2)});
}

// Displacement of p(s) (B) and rotation of the frame at s (T) for a change of q0 (end = 0) or q1
// (end = 1). (C.4)
TdlMat3 clothoid_displacement(const ClothoidState* at, int end);
TdlMat3 clothoid_turn(const ClothoidState* at, int end);

// Most terms a series can need: 46 where the curvature starts from zero, 32 where it is
// constant. (C.7)
enum { CLOTHOID_MAX_TERMS = 52 };

// The power series over one piece [sigma, sigma + length]: sum of term[n] x^n, x in [0, 1]. (C.6)
typedef struct ClothoidSeries {
    int term_count;
    double term[CLOTHOID_MAX_TERMS][CLOTHOID_WIDTH];
} ClothoidSeries;

// How far a series from sigma reaches without loss of digits. (C.8)
double clothoid_reach(const Clothoid* c, double sigma);

// Where the piece that starts at sigma < 1 ends, no further than `reach` from it and at most 1.
static inline double clothoid_piece_end(double sigma, double reach) {
    double end = sigma + reach;
    return end < 1.0 ? end : 1.0;
}

// The state at s = 0.
void clothoid_start(ClothoidState* at);

// The series over [sigma, sigma + length] that continues the state `at` sigma.
void clothoid_expand(const Clothoid* c, const ClothoidState* at, double sigma, double length,
                     ClothoidSeries* series);
void clothoid_sum(const ClothoidSeries* series, double x, ClothoidState* out);

// The state at s in [0, 1], from as many pieces as it takes.
void clothoid_at(const Clothoid* c, double s, ClothoidState* out);

// Inertia of the element for unit mass and length, about its start: kinetic energy is half of
// V'V + 2 V.(w x h) + w'Jw + 2 V.(Bm d) + 2 w.(Hm d) + d'Mqq d, with d = (d0, d1). (C.10)
typedef struct ClothoidInertia {
    TdlVec3 h;      // first moment: mean of p
    TdlMat3 J;      // mean of -[p]x^2
    TdlMat3 Bm[2];  // mean of B
    TdlMat3 Hm[2];  // mean of [p]x B
    TdlMat3 Mqq[3]; // mean of B'B: blocks (0, 0), (1, 0), (1, 1)

    // The same of the spin t.w + phi_x.d of the sections, for unit gyration.
    TdlMat3 spin_J, spin_H[2], spin_M[3];
} ClothoidInertia;

// Also gives the state at s = 1.
void clothoid_inertia(const Clothoid* c, ClothoidInertia* out, ClothoidState* end);

// A moving element of length l, in the axes of its start: velocities of the start, rates of q.
typedef struct ClothoidMotion {
    Clothoid shape;
    double l;
    TdlVec3 V, w, d[2];
    double gyration; // m^2, of its sections
} ClothoidMotion;

// What a field of vectors over an element amounts to: its mean, its mean moment about the start,
// and its mean pairing with the displacements of q0 and q1; with those of the spins.
typedef struct ClothoidLoad {
    TdlVec3 force, moment, generalised[2];
} ClothoidLoad;

// The load on an element of shape c and length l of the velocities of `motion`, which belong to
// another shape of the same element; `axes` takes its axes to those of c. Also the mean
// square of these velocities, and the state of that other shape at s = 1. (C.13)
ClothoidLoad clothoid_momentum(const Clothoid* c, double l, TdlMat3 axes,
                               const ClothoidMotion* motion, double* square, ClothoidState* end);

// Dead forces on an element of length l and what lies beyond `end` on it; own axes. The force F
// and the sum P of r F', with r from the point at `end` to where each part of F acts; and m g,
// spread evenly over the whole element where end = 1 (else m must be 0).
typedef struct ClothoidPull {
    double end, l, m;
    TdlVec3 g, F;
    TdlMat3 P;
} ClothoidPull;

// Adds the second derivatives of -sum of F.x along changes of (q0, q1): blocks (0, 0), (1, 0),
// (1, 1). (C.17)
void clothoid_pull_second(const Clothoid* c, const ClothoidPull* pull, TdlMat3 out[3]);

#endif
