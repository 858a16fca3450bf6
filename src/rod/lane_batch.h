// How a pass over a group walks along its elements: one of each rod at a time, or four of a rod
// that is alone. For the files of the linear-time super-helix.
//
// Code written with `take` and `put` is inlined twice: for four rods in the lanes, and for a rod
// that is alone, whose numbers fill all lanes. Products and sums are fused where lanes.h says so
// and nowhere else, so both have the same bits.
#ifndef TDL_ROD_LANE_BATCH_H
#define TDL_ROD_LANE_BATCH_H

#include "rod/super_helix_recursion.h"

static inline bool is_alone(const RodGroup* group) {
    return group->count == 1;
}

// The rod in a lane; lanes without one repeat the first.
static inline Rod* rod_in(const RodGroup* group, int lane) {
    return group->rods[lane < group->count ? lane : 0];
}

// What one turn of a loop works on: an element of each rod, or up to four elements of one.
typedef struct Batch {
    int first, count;
    bool alone;
} Batch;

static inline Batch batch_at(const RodGroup* group, int first) {
    int left = group->rods[0]->element_count - first;
    bool alone = is_alone(group);
    return (Batch){first, alone ? (left < LANE_COUNT ? left : LANE_COUNT) : 1, alone};
}

static inline int batch_size(const RodGroup* group) {
    return is_alone(group) ? LANE_COUNT : 1;
}

// Three numbers an element, as lanes; where elements are lacking, the last one again.
LANE_INLINE LaneVec gather(const double* const p[LANE_COUNT], Batch batch) {
    const double* at[LANE_COUNT];
    for (int k = 0; k < LANE_COUNT; ++k) {
        int own = k < batch.count ? k : batch.count - 1;
        at[k] = batch.alone ? p[0] + 3 * (batch.first + own) : p[k] + 3 * batch.first;
    }
    return (LaneVec){{at[0][0], at[1][0], at[2][0], at[3][0]},
                     {at[0][1], at[1][1], at[2][1], at[3][1]},
                     {at[0][2], at[1][2], at[2][2], at[3][2]}};
}

// Mass, K3 / l and gyration of the elements of a batch. Rods that do not vary have shares of 1, so
// a rod has the same bits in any company.
typedef struct LaneSection {
    Lane m, k[3], gyration, share; // share: of the mean mass
} LaneSection;

LANE_INLINE LaneSection section_in(const RodGroup* group, const LaneRoot* root, Batch batch) {
    LaneSection out = {
        root->m, {root->k[0], root->k[1], root->k[2]}, root->gyration, lane_all(1.0)};
    for (int lane = 0; lane < LANE_COUNT && root->varies; ++lane) {
        int own = lane < batch.count ? lane : batch.count - 1;
        const RodShare* share = &rod_in(group, batch.alone ? 0 : lane)
                                     ->share[batch.alone ? batch.first + own : batch.first];
        out.share[lane] = share->mass;
        out.m[lane] *= share->mass;
        out.gyration[lane] *= share->gyration;
        out.k[0][lane] *= share->stiffness.x;
        out.k[1][lane] *= share->stiffness.y;
        out.k[2][lane] *= share->stiffness.z;
    }
    return out;
}

LANE_INLINE void scatter(double* const p[LANE_COUNT], int i, LaneVec a) {
    for (int lane = LANE_COUNT - 1; lane >= 0; --lane) { // the first rod last: lanes may repeat it
        p[lane][3 * i] = a.x[lane];
        p[lane][3 * i + 1] = a.y[lane];
        p[lane][3 * i + 2] = a.z[lane];
    }
}

// The number of an element that a pass has come to: of four rods, or of one in all lanes.
LANE_INLINE LaneVec take_vec(const LaneVec* a, int lane, bool alone) {
    return alone ? lane_vec_spread(a, lane) : *a;
}

LANE_INLINE LaneMat take_mat(const LaneMat* a, int lane, bool alone) {
    return alone ? lane_mat_spread(a, lane) : *a;
}

LANE_INLINE LaneSym take_sym(const LaneSym* a, int lane, bool alone) {
    return alone ? lane_sym_spread(a, lane) : *a;
}

LANE_INLINE void put(Lane* to, int lane, bool alone, Lane a) {
    if (alone) {
        ((double*)to)[lane] = a[0];
    } else {
        *to = a;
    }
}

LANE_INLINE void put_vec(LaneVec* to, int lane, bool alone, LaneVec a) {
    put(&to->x, lane, alone, a.x);
    put(&to->y, lane, alone, a.y);
    put(&to->z, lane, alone, a.z);
}

LANE_INLINE void put_mat(LaneMat* to, int lane, bool alone, LaneMat a) {
    put_vec(&to->cx, lane, alone, a.cx);
    put_vec(&to->cy, lane, alone, a.cy);
    put_vec(&to->cz, lane, alone, a.cz);
}

#endif
