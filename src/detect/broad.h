// The broad phase: which elements may be near each other. docs/theory/distance.md, section 6
#ifndef TDL_DETECT_BROAD_H
#define TDL_DETECT_BROAD_H

#include "base/memory.h"
#include "base/threads.h"
#include "tendril/detect.h"

#include <float.h>
#include <stdlib.h>

// Bounds on the ways that the points of an element's eight parts, those of its sub-capsules, went
// in a step, by axis, m. Rounded outwards.
typedef struct Travel {
    float lo[3][8], hi[3][8];
} Travel;

// None of its points moved by more, m.
static inline double travel_most(const Travel* t) {
    double square = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        double most = 0.0;
        for (int k = 0; k < 8; ++k) {
            most = fmax(most, fmax(fabs((double)t->lo[axis][k]), fabs((double)t->hi[axis][k])));
        }
        square += most * most;
    }
    return sqrt(square);
}

// What the broad phase knows of the elements; all arrays [count].
typedef struct BroadInput {
    int count;
    const TdlCurveCapsules* capsules;
    const int* fibre; // the fibre of each element
    const int* place; // its place on the fibre
    double margin;    // m, gap up to which pairs are wanted
    bool self;        // pairs of one fibre too
    const int* skip;  // [fibre_count] elements up to so many places apart never touch; negative:
                      // a fixed fibre
    const Travel* travel; // null, or pairs are wanted too whose gap is not above what they moved
    double thinnest;      // against each other, less this radius of each
} BroadInput;

// A growing list of pairs (lower element in the upper half).
typedef struct PairList {
    uint64_t* pair;
    long count, capacity;
    uint64_t* spare; // of sorting
    long spare_capacity;
    bool failed;
} PairList;

// The lists of workers, which find pairs in any order: they are sorted when they are joined.
typedef struct PairParts {
    PairList* part; // [count]
    int count;
} PairParts;

static inline bool broad_wants(const BroadInput* in, int i, int j) {
    int a = in->fibre[i], b = in->fibre[j];
    if (a != b) {
        return in->skip[a] >= 0 || in->skip[b] >= 0;
    }
    return in->self && in->skip[a] >= 0 && abs(in->place[i] - in->place[j]) > in->skip[a];
}

// Twice a radius in single precision, rounded down.
static inline float broad_thin(double radius) {
    return (float)(2.0 * radius * (1.0 - 2.0 * FLT_EPSILON));
}

static inline uint64_t pair_of(int i, int j) {
    return (uint64_t)(i < j ? i : j) << 32 | (uint64_t)(i < j ? j : i);
}

void pair_list_add(const TdlAllocator* mem, PairList* list, uint64_t pair);
void pair_list_free(const TdlAllocator* mem, PairList* list);

// An empty list for each worker; then all of them joined, sorted, each pair once. False when memory
// ran out.
bool pair_parts_start(const TdlAllocator* mem, PairParts* parts, int workers);
bool pair_parts_join(const TdlAllocator* mem, const PairParts* parts, PairList* out);
void pair_parts_free(const TdlAllocator* mem, PairParts* parts);

typedef struct Sweep Sweep;
typedef struct CapsuleTree CapsuleTree;

// Each keeps what it can from one call to the next. `out` receives every pair that may be closer
// than the margin, sorted, once.
TdlStatus sweep_create(const TdlHost* host, Sweep** out);
void sweep_destroy(Sweep* sweep);
TdlStatus sweep_pairs(Sweep* sweep, Pool* pool, const BroadInput* in, PairList* out);

TdlStatus capsule_tree_create(const TdlHost* host, CapsuleTree** out);
void capsule_tree_destroy(CapsuleTree* tree);
TdlStatus capsule_tree_pairs(CapsuleTree* tree, Pool* pool, const BroadInput* in, PairList* out);

#endif
