// The recursions of the linear-time super-helix: elimination and the way back. linear-time.md
//
// From the tip to the root, what lies beyond an element is one articulated body of 6 x 6 inertia;
// eliminating the element's q gives the body beyond its start. O(N).
#include "rod/super_helix_recursion.h"

#include "math/dense.h"
#include "rod/lane_batch.h"
#include "rod/super_helix.h"

#include <string.h>

enum {
    ALIGN_DOUBLES = 8,
    ROOT_DOUBLES = sizeof(LaneRoot) / sizeof(double),
    ELEMENT_DOUBLES = sizeof(LaneElement) / sizeof(double),
    LOAD_DOUBLES = 9 * LANE_COUNT, // of point loads, an element
};

size_t super_helix_group_work_count(int element_count) {
    return ALIGN_DOUBLES + ROOT_DOUBLES + (size_t)element_count * (ELEMENT_DOUBLES + LOAD_DOUBLES);
}

// Force, moment about the start and generalised force of the point loads: 3 to an element or block
static LaneVec* loads_of(const RodGroup* group) {
    return (LaneVec*)(lane_elements_of(group) + group->rods[0]->element_count);
}

// --- the step -------------------------------------------------------------------------------

// What predict needs of the steps, lane by lane.
typedef struct LaneStep {
    Lane dt, mass_factor, joint; // joint: dt tau + dt^2
    LaneVec gain;                // velocity that gravity and wind add
    LaneTwist base;              // c times the velocity of the base
    LaneVec base_position;
} LaneStep;

static LaneStep gather_steps(const RodGroup* group, const RodStep* const* steps) {
    LaneStep s;
    for (int lane = 0; lane < group->count; ++lane) {
        const RodStep* step = steps[lane];
        const Rod* rod = group->rods[lane];
        double dt = step->dt, c = rod_mass_factor(rod, dt), joint = dt * rod->damping + dt * dt;
        TdlVec3 gain = tdl_scale3(dt, rod_pull(rod, step));
        TdlVec3 linear = tdl_scale3(c, step->base_rate.linear);
        TdlVec3 angular = tdl_scale3(c, step->base_rate.angular);
        TdlVec3 position = rod->base.now.position;
        if (lane == 0) { // lanes without a rod repeat the first
            s = (LaneStep){lane_all(dt),
                           lane_all(c),
                           lane_all(joint),
                           lane_vec_all(gain),
                           {lane_vec_all(linear), lane_vec_all(angular)},
                           lane_vec_all(position)};
            continue;
        }
        s.dt[lane] = dt;
        s.mass_factor[lane] = c;
        s.joint[lane] = joint;
        lane_vec_set(&s.gain, lane, gain);
        lane_vec_set(&s.base.linear, lane, linear);
        lane_vec_set(&s.base.angular, lane, angular);
        lane_vec_set(&s.base_position, lane, position);
    }
    return s;
}

// Impulses of the point loads. (H.23)
static bool set_point_loads(const RodGroup* group, const RodStep* const* steps) {
    LaneVec* loads = loads_of(group);
    bool some = false;
    for (int lane = 0; lane < group->count; ++lane) {
        some = some || group->rods[lane]->load_count > 0;
    }
    for (int i = 0; i < 3 * group->rods[0]->element_count && some; ++i) {
        loads[i] = (LaneVec){0};
    }
    for (int lane = 0; lane < group->count; ++lane) {
        const Rod* rod = group->rods[lane];
        for (int k = 0; k < rod->load_count; ++k) {
            const RodLoad* load = &rod->loads[k];
            LanePlace at = lane_place(rod, load->element);
            HelixLoad own =
                super_helix_point_load(lane_vec_of(&at.e->q, at.lane),
                                       lane_mat_of(&at.e->R, at.lane), rod->element_length, load);
            LaneVec* to = &loads[3 * (at.e - lane_elements_of(group))];
            const TdlVec3 impulse[3] = {own.force, own.moment, own.generalised};
            for (int c = 0; c < 3; ++c) {
                TdlVec3 sum = tdl_axpy3(lane_vec_of(&to[c], at.lane), steps[lane]->dt, impulse[c]);
                lane_vec_set(&to[c], at.lane, sum);
            }
        }
    }
    return some;
}

// Impulse on an element: what it brings, what gravity adds, less what the base's motion and its own
// strain take. The result is force, moment about the start and generalised. (L.3)
LANE_INLINE void element_impulse(const LaneElement* e, const LaneStep* s, const LaneSection* own,
                                 LaneVec strain, LaneVec out[3]) {
    Lane m = own->m;
    LaneVec arm = lane_sub(e->position, s->base_position);
    LaneVec w = lane_scale(lane_all(-1.0), s->base.angular);
    LaneVec G = lane_sub(s->gain, lane_add_cross(s->base.linear, s->base.angular, arm));
    out[0] = lane_scale(m, lane_add_cross(lane_add(e->force, G), w, e->h));
    LaneVec moment = lane_add(lane_add_cross(e->moment, e->h, G), lane_sym_mul(e->J, w));
    out[1] = lane_scale(m, moment);
    out[2] = lane_scale(m, lane_add_tmul(lane_add_tmul(e->own, e->Bm, G), e->Hm, w));
    out[2].x = lane_fnma(s->dt * own->k[0], strain.x, out[2].x);
    out[2].y = lane_fnma(s->dt * own->k[1], strain.y, out[2].y);
    out[2].z = lane_fnma(s->dt * own->k[2], strain.z, out[2].z);
}

// The factor of one joint: D = L diag L'.
typedef struct Joint {
    Lane low[3], inverse[3];
    LaneMask fine; // no lane where a pivot is not positive
} Joint;

LANE_INLINE Joint factor_joint(LaneSym D) {
    Lane i0 = 1.0 / D.xx, l10 = D.xy * i0, l20 = D.xz * i0;
    Lane d1 = lane_fnma(l10, D.xy, D.yy), t = lane_fnma(l10, D.xz, D.yz);
    Lane i1 = 1.0 / d1, l21 = t * i1;
    Lane d2 = lane_fnma(l21, t, lane_fnma(l20, D.xz, D.zz));
    return (Joint){{l10, l20, l21}, {i0, i1, 1.0 / d2}, (D.xx > 0.0) & (d1 > 0.0) & (d2 > 0.0)};
}

// Y = U L'^-1, row by row, and Z = Y diag^-1.
LANE_INLINE LaneMat divide_by_joint(const Joint* j, LaneMat U, LaneMat* Z) {
    LaneMat Y = {U.cx, lane_axpy(U.cy, -j->low[0], U.cx), U.cz};
    Y.cz = lane_axpy(lane_axpy(Y.cz, -j->low[1], Y.cx), -j->low[2], Y.cy);
    *Z = (LaneMat){lane_scale(j->inverse[0], Y.cx), lane_scale(j->inverse[1], Y.cy),
                   lane_scale(j->inverse[2], Y.cz)};
    return Y;
}

// Moves the point a body is said about back over `p`: X' I X. (L.2)
LANE_INLINE void shift_body(LaneBody* b, LaneVec p) {
    // v_end = v - [p]x w: B := B - A [p]x, C := C + [p]x B_old + (that)' - [p]x A [p]x
    LaneMat A = {
        {b->A.xx, b->A.xy, b->A.xz}, {b->A.xy, b->A.yy, b->A.yz}, {b->A.xz, b->A.yz, b->A.zz}};
    // columns of A [p]x: p_z A_y - p_y A_z, and so on around
    LaneVec less = lane_scale(lane_all(-1.0), p);
    LaneMat B = {lane_axpy(lane_axpy(b->B.cx, p.y, A.cz), less.z, A.cy),
                 lane_axpy(lane_axpy(b->B.cy, p.z, A.cx), less.x, A.cz),
                 lane_axpy(lane_axpy(b->B.cz, p.x, A.cy), less.y, A.cx)};
    // [p]x (B_old + B) / 2 plus its transpose is the change of C
    LaneMat both = lane_add_mat(b->B, B);
    LaneMat Q = {lane_cross(p, both.cx), lane_cross(p, both.cy), lane_cross(p, both.cz)};
    Lane half = lane_all(0.5);
    b->C.xx += Q.cx.x;
    b->C.xy = lane_fma(half, Q.cy.x + Q.cx.y, b->C.xy);
    b->C.xz = lane_fma(half, Q.cz.x + Q.cx.z, b->C.xz);
    b->C.yy += Q.cy.y;
    b->C.yz = lane_fma(half, Q.cz.y + Q.cy.z, b->C.yz);
    b->C.zz += Q.cz.z;
    b->B = B;
    b->moment = lane_add_cross(b->moment, p, b->force);
}

// Adds an element's own inertia, m times [1, -[h]x; [h]x, J].
LANE_INLINE void add_own_inertia(LaneBody* b, LaneVec own, LaneSym J, Lane m) {
    LaneVec h = lane_scale(m, own);
    b->A.xx += m;
    b->A.yy += m;
    b->A.zz += m;
    b->B.cx.y -= h.z;
    b->B.cx.z += h.y;
    b->B.cy.x += h.z;
    b->B.cy.z -= h.x;
    b->B.cz.x -= h.y;
    b->B.cz.y += h.x;
    b->C = lane_sym_axpy(b->C, m, J);
}

// Momentum of a body for the motion of its point, three columns at once.
LANE_INLINE LaneMat linear_momentum(const LaneBody* b, LaneMat shift, LaneMat turn) {
    return (LaneMat){lane_add_mul(lane_sym_mul(b->A, shift.cx), b->B, turn.cx),
                     lane_add_mul(lane_sym_mul(b->A, shift.cy), b->B, turn.cy),
                     lane_add_mul(lane_sym_mul(b->A, shift.cz), b->B, turn.cz)};
}

LANE_INLINE LaneMat angular_momentum(const LaneBody* b, LaneMat shift, LaneMat turn) {
    return (LaneMat){lane_add_tmul(lane_sym_mul(b->C, turn.cx), b->B, shift.cx),
                     lane_add_tmul(lane_sym_mul(b->C, turn.cy), b->B, shift.cy),
                     lane_add_tmul(lane_sym_mul(b->C, turn.cz), b->B, shift.cz)};
}

// One element on the way from the tip: eliminates its q. `b` is the body beyond its end on entry
// and beyond its start on return; x receives diag^-1 L^-1 u. (L.2), (L.3)
LANE_INLINE LaneMask eliminate(LaneElement* e, int lane, bool alone, LaneBody* b, LaneSym stiffness,
                               Lane m, const LaneVec impulse[3], LaneVec* x) {
    // momentum of the body for a rate of q
    LaneMat shift = take_mat(&e->shift, lane, alone), turn = take_mat(&e->turn, lane, alone);
    LaneMat linear = linear_momentum(b, shift, turn), angular = angular_momentum(b, shift, turn);
    LaneSym D = lane_sym_axpy(stiffness, m, take_sym(&e->Mqq, lane, alone));
    D = lane_sym_add_tproduct(lane_sym_add_tproduct(D, shift, linear), turn, angular);
    Joint j = factor_joint(D);
    LaneVec u = take_vec(&impulse[2], lane, alone), t;
    u = lane_add_tmul(lane_add_tmul(u, shift, b->force), turn, b->moment);
    *x = joint_down(j.low, j.inverse, u, &t);
    for (int k = 0; k < 3; ++k) {
        put(&e->low[k], lane, alone, j.low[k]);
        put(&e->inverse[k], lane, alone, j.inverse[k]);
    }

    // the same about the start, with the element's own share
    LaneVec span = take_vec(&e->span, lane, alone);
    LaneMat U_linear = lane_axpy_mat(linear, m, take_mat(&e->Bm, lane, alone));
    LaneMat U_angular =
        lane_axpy_mat(lane_add_skew(angular, span, linear), m, take_mat(&e->Hm, lane, alone));
    shift_body(b, span);
    add_own_inertia(b, take_vec(&e->h, lane, alone), take_sym(&e->J, lane, alone), m);

    // without the part that q follows by itself
    LaneMat Z_linear, Z_angular;
    LaneMat Y_linear = divide_by_joint(&j, U_linear, &Z_linear);
    LaneMat Y_angular = divide_by_joint(&j, U_angular, &Z_angular);
    b->A = lane_sym_sub_productt(b->A, Z_linear, Y_linear);
    b->C = lane_sym_sub_productt(b->C, Z_angular, Y_angular);
    b->B = lane_sub_productt(b->B, Z_linear, Y_angular);
    b->force = lane_sub_mul(lane_add(b->force, take_vec(&impulse[0], lane, alone)), Z_linear, t);
    b->moment = lane_sub_mul(lane_add(b->moment, take_vec(&impulse[1], lane, alone)), Z_angular, t);
    put_mat(&e->Z_linear, lane, alone, Z_linear);
    put_mat(&e->Z_angular, lane, alone, Z_angular);
    return j.fine;
}

static LaneMask add_branches(const Rod* rod, int element, const RodStep* step, LaneBody* body);

// Tip to root: factors, and leaves diag^-1 L^-1 u in v_free and the body beyond the root in its
// place.
static LaneMask eliminate_group(RodGroup* group, const RodStep* const* steps) {
    LaneRoot* root = lane_root_of(group);
    LaneStep s = gather_steps(group, steps);
    bool loaded = set_point_loads(group, steps), branches = group->rods[0]->child != NULL;
    const double *q[LANE_COUNT], *rest[LANE_COUNT];
    double* v[LANE_COUNT];
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        Rod* rod = rod_in(group, lane);
        q[lane] = rod->q;
        rest[lane] = rod->q_rest;
        v[lane] = rod->v_free;
    }
    LaneBody body = {0};
    LaneMask fine = {-1, -1, -1, -1};
    int n = group->rods[0]->element_count, size = batch_size(group), last = (n - 1) / size;
    for (int block = last; block >= 0; --block) {
        Batch batch = batch_at(group, block * size);
        LaneElement* e = &lane_elements_of(group)[block];
        LaneVec impulse[3], x, strain = lane_sub(gather(q, batch), gather(rest, batch));
        LaneSection own = section_in(group, root, batch);
        Lane mass = own.m * s.mass_factor, zero = lane_all(0.0);
        LaneSym stiffness = {s.joint * own.k[0], zero, zero,
                             s.joint * own.k[1], zero, s.joint * own.k[2]};
        element_impulse(e, &s, &own, strain, impulse);
        for (int k = 0; k < 3 && loaded; ++k) {
            impulse[k] = lane_add(impulse[k], loads_of(group)[3 * block + k]);
        }
        if (!batch.alone) {
            fine &= eliminate(e, 0, false, &body, stiffness, mass, impulse, &x);
            scatter(v, block, x);
            continue;
        }
        for (int k = batch.count - 1; k >= 0; --k) {
            if (branches) {
                fine &= add_branches(group->rods[0], batch.first + k, steps[0], &body);
            }
            fine &= eliminate(e, k, true, &body, take_sym(&stiffness, k, true), lane_all(mass[k]),
                              impulse, &x);
            tdl_store3(v[0], batch.first + k, lane_vec_of(&x, 0));
        }
    }
    root->body = body;
    return fine;
}

// --- roots that move ------------------------------------------------------------------------

// The inertia of a root that is not clamped: 6 x 6, or 3 x 3 for a pinned one.
static bool factor_root(const LaneBody* b, const Rod* rod, int lane, double* factor) {
    const LaneSym *A = &b->A, *C = &b->C;
    const double lower_A[6] = {A->xx[lane], A->xy[lane], A->xz[lane],
                               A->yy[lane], A->yz[lane], A->zz[lane]};
    const double lower_C[6] = {C->xx[lane], C->xy[lane], C->xz[lane],
                               C->yy[lane], C->yz[lane], C->zz[lane]};
    TdlMat3 B = lane_mat_of(&b->B, lane);
    int n = rod->root_dofs;
    for (int c = 0, k = 0; c < 3; ++c) {
        for (int r = c; r < 3; ++r, ++k) {
            factor[r + c * n] = lower_C[k];
            if (n == 6) {
                factor[r + 3 + (c + 3) * n] = lower_A[k];
            }
        }
    }
    if (n == 3) {
        return tdl_cholesky_3(factor) == 3;
    }
    for (int c = 0; c < 3; ++c) { // linear rows, angular columns
        tdl_store3(factor + 3 + 6 * c, 0, c == 0 ? B.cx : c == 1 ? B.cy : B.cz);
    }
    return tdl_cholesky_6(factor) == 6;
}

void super_helix_whiten_root(const Rod* rod, double x[6]) {
    tdl_lower_solve_fixed(rod->root_dofs, lane_root_of(rod->group)->factor[rod->lane], x);
}

void super_helix_unwhiten_root(const Rod* rod, double x[6]) {
    tdl_lower_transpose_solve_fixed(rod->root_dofs, lane_root_of(rod->group)->factor[rod->lane], x);
}

void super_helix_solve_root(const Rod* rod, double x[6]) {
    super_helix_whiten_root(rod, x);
    super_helix_unwhiten_root(rod, x);
}

// Motion of the roots; in lanes without a rod it is that of the first.
static LaneMask find_root_motion(RodGroup* group, LaneTwist* at) {
    LaneMask fine = {-1, -1, -1, -1};
    LaneRoot* root = lane_root_of(group);
    *at = (LaneTwist){0};
    for (int lane = 0; lane < LANE_COUNT && group->rods[0]->root_dofs > 0; ++lane) {
        Rod* rod = rod_in(group, lane);
        double* x = rod->v_free + 3 * rod->element_count;
        if (lane < group->count) {
            double impulse[6];
            tdl_store3(impulse, 0, lane_vec_of(&root->body.moment, lane));
            tdl_store3(impulse, 1, lane_vec_of(&root->body.force, lane));
            fine[lane] = factor_root(&root->body, rod, lane, root->factor[lane]) ? -1 : 0;
            super_helix_solve_root(rod, impulse);
            memcpy(x, impulse, (size_t)rod->root_dofs * sizeof *x);
        }
        lane_vec_set(&at->angular, lane, tdl_load3(x, 0));
        lane_vec_set(&at->linear, lane, rod->root_dofs == 6 ? tdl_load3(x, 1) : (TdlVec3){0});
    }
    return fine;
}

// --- and back -------------------------------------------------------------------------------

// One element on the way from the root: x = L'^-1 (what elimination left - Z' V), V+ = X V + S x.
// (L.3)
LANE_INLINE LaneVec substitute_one(const LaneElement* e, int lane, bool alone, LaneVec x,
                                   LaneTwist* at) {
    Lane low[3];
    for (int k = 0; k < 3; ++k) {
        low[k] = alone ? lane_all(e->low[k][lane]) : e->low[k];
    }
    x = lane_sub(lane_sub_tmul(x, take_mat(&e->Z_linear, lane, alone), at->linear),
                 lane_tmul(take_mat(&e->Z_angular, lane, alone), at->angular));
    x = joint_up(low, x);
    at->linear = lane_add_cross(at->linear, at->angular, take_vec(&e->span, lane, alone));
    at->linear = lane_add_mul(at->linear, take_mat(&e->shift, lane, alone), x);
    at->angular = lane_add_mul(at->angular, take_mat(&e->turn, lane, alone), x);
    return x;
}

static void substitute_alone(const Rod* rod, LaneTwist at, double* v) {
    for (int i = 0; i < rod->element_count; ++i) {
        LanePlace place = lane_place(rod, i);
        TdlVec3 own = tdl_load3(v, i);
        LaneVec x = {lane_all(own.x), lane_all(own.y), lane_all(own.z)};
        x = substitute_one(place.e, place.lane, true, x, &at);
        tdl_store3(v, i, lane_vec_of(&x, 0));
        for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
            if (branch->parent_element == i) {
                substitute_alone(branch, at, branch->v_free);
            }
        }
    }
}

static void substitute_group(RodGroup* group, LaneTwist at) {
    double* v[LANE_COUNT];
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        v[lane] = rod_in(group, lane)->v_free;
    }
    for (int i = 0; i < group->rods[0]->element_count; ++i) {
        LaneVec x = gather((const double* const*)v, (Batch){i, 1, false});
        scatter(v, i, substitute_one(&lane_elements_of(group)[i], 0, false, x, &at));
    }
}

void super_helix_predict_group(RodGroup* group, const RodStep* const* steps, bool* ok) {
    LaneTwist at;
    LaneMask fine = eliminate_group(group, steps);
    fine &= find_root_motion(group, &at);
    if (is_alone(group)) {
        substitute_alone(group->rods[0], at, group->rods[0]->v_free);
    } else {
        substitute_group(group, at);
    }
    for (int lane = 0; lane < group->count; ++lane) {
        ok[lane] = fine[lane] != 0;
    }
}

// --- trees ----------------------------------------------------------------------------------

// The branches at the end of an element are part of the body beyond it. Each is eliminated first,
// with the tree's base motion as it reaches the branch. (L.12)
static LaneMask add_branches(const Rod* rod, int element, const RodStep* step, LaneBody* body) {
    LaneMask fine = {-1, -1, -1, -1};
    for (Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        if (branch->parent_element != element) {
            continue;
        }
        RodStep own = *step;
        const RodStep* steps[1] = {&own};
        TdlVec3 arm = tdl_sub3(branch->base.now.position, rod->base.now.position);
        own.base_rate.linear =
            tdl_add3(step->base_rate.linear, tdl_cross3(step->base_rate.angular, arm));
        fine &= eliminate_group(branch->group, steps);
        const LaneBody* b = &lane_root_of(branch->group)->body;
        body->A = lane_sym_axpy(body->A, lane_all(1.0), b->A);
        body->B = lane_add_mat(body->B, b->B);
        body->C = lane_sym_axpy(body->C, lane_all(1.0), b->C);
        body->force = lane_add(body->force, b->force);
        body->moment = lane_add(body->moment, b->moment);
    }
    return fine;
}
