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

static inline int strand_first_load(const Strand* strand, int element) {
    return strand->first_load != NULL ? strand->first_load[element] : -1;
}

// Gradient G of the potential of gravity and loads, [3 block_count], N m; false without memory.
// What the elastic moments balance. (V.31), (V.35), (V.36)
bool strand_gradient(const Strand* strand, double* G);

// The natural curvature with which K (q - q_rest) + G = extra, [block_count]; extra, [3
// block_count] or null, are generalised forces beside gravity and loads, such as H'r of contacts.
// BAD_ARGUMENT where the model has no such natural curvature. (V.30)
TdlStatus strand_rest(const TdlHost* host, const Strand* strand, const double* extra,
                      TdlVec3* natural);

// What makes a model. Functions that return bool fail for want of memory.
struct StrandKind {
    const char* name;
    int extra_blocks; // beyond element_count
    double max_turn;  // rad, below which an element's |kappa| l has to be
    bool (*gradient)(const Strand* strand, double* G);
    // natural from the whole generalised force that elasticity has to balance
    TdlStatus (*rest)(const TdlHost* host, const Strand* strand, const double* G, TdlVec3* natural);
};

extern const StrandKind STRAND_HELIX, STRAND_CLOTHOID, STRAND_DER;

#endif
