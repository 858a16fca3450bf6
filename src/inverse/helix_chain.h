// A chain of short helices with common tangents, near given points and tangents.
// inverse-fit.md (V.15) to (V.20)
#ifndef TDL_INVERSE_HELIX_CHAIN_H
#define TDL_INVERSE_HELIX_CHAIN_H

#include "base/memory.h"
#include "tendril/inverse.h"

typedef struct HelixChain {
    int count;        // elements
    bool closed;      // node `count` is node 0
    double l;         // m, the length that an element should have
    TdlVec3 *p, *t;   // [count + 1] nodes and their tangents
    TdlVec3* turn;    // [count] rad, of an element, world axes
    double length;    // m, of all helices
    int arc_count;    // elements that became plain arcs
    struct Row* rows; // [count] of the constraints
} HelixChain;

bool helix_chain_reserve(Arena* arena, int count, bool closed, HelixChain* out);

// Moves nodes and tangents as little as can be, so that helices join them, and finds those.
void helix_chain_fit(HelixChain* chain, TdlFitMethod method);

#endif
