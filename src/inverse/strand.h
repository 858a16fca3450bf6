// A fibre of given shape under gravity and dead forces: what its rest and its stability are
// computed with, for the three models. docs/theory/inverse.md
//
// Coordinates are blocks of three, x_0 at the clamp to x_{n-1} at the tip:
// - super-helix: q_i = kappa_i l of element i; n = element_count. Those of the rod model.
// - super-clothoid: q_i = kappa_i l at joint i; n = element_count + 1. Those of the rod model.
// - der: a rotation u_i about vertex i of all beyond it, in the axes of the frame before the
//   vertex (the clamp's for i = 0): its edges' frames become R_{i-1} exp(u_i) R_{i-1}' R_k, k >= i;
//   n = element_count. In its rod model these are vertices and angles.
#ifndef TDL_INVERSE_STRAND_H
#define TDL_INVERSE_STRAND_H

#include "base/memory.h"
#include "rod/rod.h"
#include "tendril/inverse.h"

typedef struct StrandKind StrandKind;

typedef struct StrandLoad {
    RodLoad at;
    int next; // load on the same element, or -1
} StrandLoad;

// A strand that was checked. Its arrays lie in the arena it was opened with.
typedef struct Strand {
    const StrandKind* kind;
    const TdlStrand* def;
    TdlVec3 gravity;
    int element_count, block_count;
    double l, m;       // m and kg, of an element
    StrandLoad* loads; // [def->load_count]
    int* first_load;   // [element_count], or -1; null where there is no load
    Arena* arena;
} Strand;

// Opens a strand: BAD_ARGUMENT with a message, or NO_MEMORY. `def` and its arrays stay where they
// are while it is used.
TdlStatus strand_open(const TdlHost* host, Arena* arena, const TdlStrand* def, TdlVec3 gravity,
                      Strand* out);

// The element at arc length u l and the place in it, s in [0, 1].
static inline int strand_element(const Strand* strand, double u, double* s) {
    int last = strand->element_count - 1, element = u < last ? (int)u : last;
    *s = fmin(u - element, 1.0);
    return element;
}

static inline int strand_first_load(const Strand* strand, int element) {
    return strand->first_load != NULL ? strand->first_load[element] : -1;
}

// Gradient G of the potential of gravity and loads, [3 block_count], N m; false without memory.
// What the elastic moments balance. (V.31), (V.35), (V.36)
bool strand_gradient(const Strand* strand, double* G);

// The generalised force of a force F (N) on the place s in [0, 1] of an element, [3 block_count]:
// with the axes of a contact for F, the rows of its place. False without memory. (V.33)
bool strand_force(const Strand* strand, int element, double s, TdlVec3 F, double* out);

// The natural curvature with which K (q - q_rest) + G = extra, [block_count]; extra, [3
// block_count] or null, are generalised forces beside gravity and loads, such as H'r of contacts.
// BAD_ARGUMENT where the model has no such natural curvature. (V.30)
TdlStatus strand_rest(const TdlHost* host, const Strand* strand, const double* extra,
                      TdlVec3* natural);

// --- second derivatives ---------------------------------------------------------------------

// The Hessian of the potential, S + K at the strand's own stiffness, in its equilibrium: S of
// gravity, loads and, for a der, of the moments at its vertices, none of which depend on the
// stiffness. Blocks further apart than neighbours are S_ij = turn_i' W_j, i < j, and K_ij = 0, so
// that all that is done with it takes linear time. A change x turns what lies beyond block i by
// turn_i x_i (world axes). (V.38)
//
// Stability with constraints J x = 0, as of loaded contacts: the number of negative eigenvalues of
// H on the null space of J is strand_factor's count, plus that of -J H^-1 J', less the number of
// rows of J (which are independent). Rows are those of strand_force, or of RodModel.jacobian for
// the super-models, whose coordinates are the same. A force that a contact has counts as a load.
typedef struct StrandHessian {
    int count;              // of blocks
    TdlMat3 *turn, *W;      // [count]
    TdlMat3 *S, *K;         // [count] diagonal blocks, symmetric
    TdlMat3* S_next;        // [count] block (i, i + 1); null: turn_i' W_{i+1}. The last is not used
    TdlMat3* K_next;        // [count] block (i, i + 1), diagonal; null: zero
    double softest;         // N m, the smallest of K3 / l
    double stiffness_floor; // N m, the smallest eigenvalue of K
} StrandHessian;

// S + k K + e I = U D U', from the tip.
typedef struct StrandFactor {
    int count;
    int negative;      // pivots that are not positive: negative eigenvalues, of which it is sure
                       // where there is none
    TdlMat3 *W, *next; // [count] what couples a block with those before: far, and the one before
    double (*D)[6];    // [count] pivot L D L': L_10, L_20, L_21, 1/D_0, 1/D_1, 1/D_2
} StrandFactor;

// The Hessian, and room for a factor; in the strand's arena. False without memory.
bool strand_hessian(const Strand* strand, StrandHessian* out);
bool strand_factor_new(Arena* arena, const StrandHessian* h, StrandFactor* out);

// Factors S + k K + e I. (V.39), (V.40)
void strand_factor(const StrandHessian* h, double k, double e, StrandFactor* out);

// x := (S + k K + e I)^-1 x, [3 count]. (V.41)
void strand_solve(const StrandHessian* h, const StrandFactor* factor, double* x);

// y = (S + k K + e I) x; y = K x.
void strand_apply(const StrandHessian* h, double k, double e, const double* x, double* y);
void strand_apply_stiffness(const StrandHessian* h, const double* x, double* y);

// What makes a model. Functions that return bool fail for want of memory.
struct StrandKind {
    const char* name;
    int extra_blocks; // beyond element_count
    double max_turn;  // rad, below which an element's |kappa| l has to be
    bool (*gradient)(const Strand* strand, double* G);
    // natural from the whole generalised force that elasticity has to balance
    TdlStatus (*rest)(const TdlHost* host, const Strand* strand, const double* G, TdlVec3* natural);
    // optional, else from `gradient`
    bool (*force)(const Strand* strand, int element, double s, TdlVec3 F, double* out);
    // places at arc lengths at[count] that grow; with a change of q, [3 block_count], their rates
    bool (*places)(const Strand* strand, const double* change, int count, const double* at,
                   TdlVec3* out);
    bool neighbours;                                           // has S_next and K_next
    bool (*hessian)(const Strand* strand, StrandHessian* out); // its arrays, and stiffness_floor
};

extern const StrandKind STRAND_HELIX, STRAND_CLOTHOID, STRAND_DER;

#endif
