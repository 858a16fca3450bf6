// The recursions of the linear-time super-helix: shapes and momenta from the root to the tip,
// elimination from the tip to the root, and back. linear-time.md
//
// Four rods run in the lanes of a group. A rod that is alone has four of its own elements in the
// lanes of a block instead: what its elements do apart from each other is done for four at once,
// and it takes a quarter of the memory.
#ifndef TDL_ROD_SUPER_HELIX_RECURSION_H
#define TDL_ROD_SUPER_HELIX_RECURSION_H

#include "rod/lane_element.h"
#include "rod/rod.h"

#include <stdint.h>

// Articulated body about a point: momentum = [A B; B' C] (linear, angular), and its impulse.
typedef struct LaneBody {
    LaneSym A, C;
    LaneMat B;
    LaneVec force, moment;
} LaneBody;

// What a group keeps besides its elements; a lane for each rod.
typedef struct LaneRoot {
    Lane l, m, k[3], gyration;     // element length and mass, K3 / l; where `varies`, their means
    bool varies;                   // some rod does
    Lane l_before;                 // in the shape before
    Lane square, elastic;          // sums over elements: |velocity|^2, k strain^2
    LaneVec centre;                // sum of the elements' centres
    double factor[LANE_COUNT][36]; // inertia of a root that moves, factored
    LaneBody body;                 // beyond the root, as elimination found it
} LaneRoot;

static inline LaneRoot* lane_root_of(const RodGroup* group) {
    uintptr_t at = (uintptr_t)group->work;
    return (LaneRoot*)((at + 63) & ~(uintptr_t)63);
}

static inline LaneElement* lane_elements_of(const RodGroup* group) {
    return (LaneElement*)(lane_root_of(group) + 1);
}

// Where element i of a rod is.
typedef struct LanePlace {
    LaneElement* e;
    int lane;
} LanePlace;

static inline LanePlace lane_place(const Rod* rod, int i) {
    bool alone = rod->group->count == 1;
    LaneElement* el = lane_elements_of(rod->group);
    return (LanePlace){el + (alone ? i / LANE_COUNT : i), alone ? i % LANE_COUNT : rod->lane};
}

size_t super_helix_group_work_count(int element_count);

// Recomputes everything from the rods' states. super_helix_carry.c
void super_helix_refresh_group(RodGroup* group);
void super_helix_advance_group(RodGroup* group, const RodStep* const* steps); // with each rod's v

// Finds v_free of rods whose far ends are free. ok[lane] is false where A is not positive definite.
void super_helix_predict_group(RodGroup* group, const RodStep* const* steps, bool* ok);

// Velocity of a root that is not clamped for an impulse on it; in place, angular then linear.
void super_helix_solve_root(const Rod* rod, double x[6]);
// The same in halves: L^-1 and L'^-1 of its inertia L L'.
void super_helix_whiten_root(const Rod* rod, double x[6]);
void super_helix_unwhiten_root(const Rod* rod, double x[6]);

// D^-1 of a joint in two halves: diag^-1 L^-1 b, of which L^-1 b is left in `t`; and L'^-1.
LANE_INLINE LaneVec joint_down(const Lane low[3], const Lane inverse[3], LaneVec b, LaneVec* t) {
    Lane y = lane_fnma(low[0], b.x, b.y);
    Lane z = lane_fnma(low[2], y, lane_fnma(low[1], b.x, b.z));
    *t = (LaneVec){b.x, y, z};
    return (LaneVec){inverse[0] * b.x, inverse[1] * y, inverse[2] * z};
}

LANE_INLINE LaneVec joint_up(const Lane low[3], LaneVec b) {
    Lane y = lane_fnma(low[2], b.z, b.y);
    return (LaneVec){lane_fnma(low[0], y, lane_fnma(low[1], b.z, b.x)), y, b.z};
}

#endif
