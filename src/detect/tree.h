// The tree of capsules: what its building (tree.c) and its walking (tree_walk.c) share.
#ifndef TDL_DETECT_TREE_H
#define TDL_DETECT_TREE_H

#include "detect/broad.h"

#include <float.h>
#include <math.h>

// Capsules come in blocks of eight; a task of the walk takes so many leaves.
enum { BLOCK = 8, MAX_LEVELS = 12, WALK_LEAVES = 64 };

// A run of an element's sub-capsules under one capsule.
typedef struct Piece {
    int element;
    short first, count;
} Piece;

typedef struct Capsule {
    float c[3], u[3];  // centre and half axis
    float radius;      // m, outwards rounded
    float half, slope; // |u| and about 1/|u|^2
} Capsule;

// Eight capsules side by side: one is tested against all of them at once.
typedef struct CapsuleBlock {
    float cx[BLOCK], cy[BLOCK], cz[BLOCK]; // centres
    float ux[BLOCK], uy[BLOCK], uz[BLOCK]; // half axes
    float radius[BLOCK];                   // m, outwards rounded
    float half[BLOCK], slope[BLOCK];       // |u| and about 1/|u|^2
} CapsuleBlock;

// A level of the tree. Capsule i of one level holds capsules 8 i to 8 i + 7 of the level below; on
// the lowest level are the pieces.
typedef struct TreeLevel {
    int count;           // of capsules
    CapsuleBlock* block; // [count / 8, rounded up]
    Travel* travel;      // the same: of what is under the capsules
} TreeLevel;

struct CapsuleTree {
    TdlAllocator mem;
    int element_count, piece_count, capacity; // the last: of pieces
    Piece* piece;                             // [piece_count] in tree order
    int level_count;
    TreeLevel level[MAX_LEVELS];
    CapsuleBlock* blocks; // of all levels
    Travel* travels;      // the same
    Piece* cut;           // scratch of building, all [piece_count]: pieces in order of elements,
    Capsule* shape;       // their capsules,
    float* key;           // places along a direction, in tree order,
    int* order;           // and whose they are
    double fresh_size;    // summed radii when built
    PairParts parts;      // of the walk
};

static inline Capsule capsule_make(const float c[3], const float u[3], float radius) {
    float uu = (u[0] * u[0] + u[1] * u[1]) + u[2] * u[2];
    return (Capsule){.c = {c[0], c[1], c[2]},
                     .u = {u[0], u[1], u[2]},
                     .radius = radius,
                     .half = sqrtf(uu),
                     .slope = 1.0F / (uu + FLT_MIN)};
}

// One of an element's sub-capsules. What single precision cannot hold is everywhere.
static inline Capsule capsule_of_part(const TdlCurveCapsules* c, int k) {
    if (!isfinite(c->reach)) {
        return (Capsule){.radius = INFINITY, .slope = 1.0F};
    }
    const float m[3] = {c->cx[k], c->cy[k], c->cz[k]}, u[3] = {c->ux[k], c->uy[k], c->uz[k]};
    return capsule_make(m, u, c->radius[k] + c->error);
}

static inline void block_set(CapsuleBlock* b, int k, Capsule c) {
    b->cx[k] = c.c[0];
    b->cy[k] = c.c[1];
    b->cz[k] = c.c[2];
    b->ux[k] = c.u[0];
    b->uy[k] = c.u[1];
    b->uz[k] = c.u[2];
    b->radius[k] = c.radius;
    b->half[k] = c.half;
    b->slope[k] = c.slope;
}

static inline Capsule block_get(const CapsuleBlock* b, int k) {
    return (Capsule){.c = {b->cx[k], b->cy[k], b->cz[k]},
                     .u = {b->ux[k], b->uy[k], b->uz[k]},
                     .radius = b->radius[k],
                     .half = b->half[k],
                     .slope = b->slope[k]};
}

// Bit k: the k-th capsule of the block may come within margin[k] of c. What is not a number may.
unsigned capsule_block_near(const CapsuleBlock* block, const Capsule* c, const float* margin);
unsigned capsule_block_near_scalar(const CapsuleBlock* block, const Capsule* c,
                                   const float* margin);

// What moves against what: a capsule, and bounds on the ways of the points under it.
typedef struct TravelQuery {
    Capsule capsule;
    float lo[3], hi[3];
} TravelQuery;

// Bit k: what is under the k-th capsule of the block may come within the margin of the query, or
// may have met it on the way: it is within what they moved against each other, less `thin`. (X.26)
unsigned travel_block_near(const CapsuleBlock* block, const Travel* travel, const TravelQuery* q,
                           float margin, float thin);

// Finds the pairs of a tree that is fitted to `in`.
TdlStatus capsule_tree_walk(CapsuleTree* tree, Pool* pool, const BroadInput* in, PairList* out);

#endif
