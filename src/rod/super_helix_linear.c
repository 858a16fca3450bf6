// The super-helix in linear time: the same step as the dense path, solved by an articulated
// recursion in which (dt tau + dt^2) K acts as the inertia of joints. linear-time.md
//
// The recursions themselves are in super_helix_recursion.c; here is what they leave: A^-1, which
// takes O(N) a column, losses, points and energies. Four columns run in the lanes.
#include "rod/super_helix_linear.h"

#include "base/check.h"
#include "rod/held_end.h"
#include "rod/losses.h"
#include "rod/rod_momenta.h"
#include "rod/super_helix.h"
#include "rod/super_helix_recursion.h"

#include <string.h>

static size_t work_count(int dof_count, int element_count) {
    (void)dof_count;
    (void)element_count;
    return 0;
}

static void refresh(Rod* rod) {
    super_helix_refresh_group(rod->group);
}

// --- the step -------------------------------------------------------------------------------

static TdlVec3 chord(const Rod* rod, int element) {
    LanePlace at = lane_place(rod, element);
    return lane_vec_of(&at.e->span, at.lane);
}

// Of a rod and its branches. (H.33)
static void add_tension(Rod* rod, const RodStep* step) {
    double* p = rod->v_free; // not yet in use
    rod->taut = tension_find(rod, step, chord, p);
    for (int i = 0; i < rod->element_count && rod->taut; ++i) {
        LanePlace at = lane_place(rod, i);
        LaneElement* e = at.e;
        TdlMat3 P = tension_tensor(p[i], lane_vec_of(&e->span, at.lane));
        TdlMat3 turn = lane_mat_of(&e->turn, at.lane), turning = tdl_mul33(P, turn);
        TdlMat3 Hm = tdl_axpy33(lane_mat_of(&e->Hm, at.lane), 0.5, turning);
        TdlMat3 Mqq =
            tdl_axpy33(lane_sym_of(&e->Mqq, at.lane), 1.0 / 3.0, tdl_tmul33(turn, turning));
        lane_sym_set(&e->J, at.lane, tdl_add33(lane_sym_of(&e->J, at.lane), P));
        lane_mat_set(&e->Hm, at.lane, Hm);
        lane_sym_set(&e->Mqq, at.lane, Mqq);
        e->taut[at.lane] = p[i];
    }
    for (Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        add_tension(branch, step);
    }
}

static void predict_group(RodGroup* group, const RodStep* const* steps, bool* ok) {
    for (int lane = 0; lane < group->count; ++lane) {
        add_tension(group->rods[lane], steps[lane]);
    }
    super_helix_predict_group(group, steps, ok);
    for (int lane = 0; lane < group->count; ++lane) {
        ok[lane] = ok[lane] && held_end_predict(group->rods[lane], steps[lane]);
    }
}

static bool predict(Rod* rod, const RodStep* step) {
    bool ok;
    TDL_ASSERT(rod->group->count == 1);
    predict_group(rod->group, &step, &ok);
    return ok;
}

static void set_velocities(Rod* rod, const double* v) {
    memmove(rod->v, v + rod->tree_first, (size_t)rod->dof_count * sizeof *v);
    for (Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        set_velocities(branch, v);
    }
}

static void advance(Rod* rod, const RodStep* step, const double* v) {
    TDL_ASSERT(rod->group->count == 1 && rod->parent == NULL);
    set_velocities(rod, v);
    super_helix_advance_group(rod->group, &step);
}

static void move(Rod* rod, const double* change) {
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->q[i] += change[i];
    }
    super_helix_turn_root(rod, change);
    refresh(rod);
}

// --- losses ---------------------------------------------------------------------------------

static RodLosses add_losses(RodLosses a, RodLosses b) {
    return (RodLosses){a.damping + b.damping,      a.numerical + b.numerical, a.work + b.work,
                       a.given + b.given,          a.hold + b.hold,           a.jump + b.jump,
                       tdl_add3(a.start, b.start), tdl_add3(a.end, b.end)};
}

static void add_load_power(const Rod* rod, int element, Twist at, TdlVec3 d, LossSum* sum) {
    LanePlace place = lane_place(rod, element);
    for (int k = 0; k < rod->load_count; ++k) {
        if (rod->loads[k].element == element) {
            super_helix_load_power(tdl_load3(rod->q, element), lane_mat_of(&place.e->R, place.lane),
                                   rod->element_length, &rod->loads[k], at, d, sum);
        }
    }
}

// Of a rod whose start moves with `at`, and of its branches. (H.27)
static RodLosses losses_from(const Rod* rod, const RodStep* step, const double* v, Twist at) {
    const LaneRoot* root = lane_root_of(rod->group);
    RodLosses branches = {0};
    LossSum sum = {0};
    for (int i = 0; i < rod->element_count; ++i) {
        LanePlace place = lane_place(rod, i);
        const LaneElement* e = place.e;
        int lane = place.lane;
        const RodShare* share = &rod->share[i];
        const double k[3] = {share->stiffness.x * root->k[0][rod->lane],
                             share->stiffness.y * root->k[1][rod->lane],
                             share->stiffness.z * root->k[2][rod->lane]};
        TdlVec3 d = tdl_load3(v + rod->tree_first, i),
                shift = tdl_mul33_3(lane_mat_of(&e->shift, lane), d);
        LossElement own = {.share = share->mass,
                           .h = lane_vec_of(&e->h, lane),
                           .J = lane_sym_of(&e->J, lane),
                           .linear = tdl_mul33_3(lane_mat_of(&e->Bm, lane), d),
                           .angular = tdl_mul33_3(lane_mat_of(&e->Hm, lane), d),
                           .square = tdl_dot3(d, tdl_mul33_3(lane_sym_of(&e->Mqq, lane), d))};
        loss_add(&sum, at, &own);
        loss_add_tension(&sum, share->mass, e->taut[lane], lane_vec_of(&e->span, lane), at,
                         tdl_mul33_3(lane_mat_of(&e->turn, lane), d));
        sum.brought += share->mass * (loss_power(at, lane_vec_of(&e->force, lane),
                                                 lane_vec_of(&e->moment, lane)) +
                                      tdl_dot3(lane_vec_of(&e->own, lane), d));
        sum.carried = tdl_axpy3(sum.carried, share->mass, lane_vec_of(&e->force, lane));
        sum.bending += k[0] * d.x * d.x + k[1] * d.y * d.y + k[2] * d.z * d.z;
        TdlVec3 strain = tdl_sub3(tdl_load3(rod->q, i), tdl_load3(rod->q_rest, i));
        sum.stress += k[0] * d.x * strain.x + k[1] * d.y * strain.y + k[2] * d.z * strain.z;
        add_load_power(rod, i, at, d, &sum);
        TdlVec3 swing = tdl_cross3(at.angular, lane_vec_of(&e->span, lane));
        at.linear = tdl_add3(at.linear, tdl_add3(swing, shift));
        at.angular = tdl_add3(at.angular, tdl_mul33_3(lane_mat_of(&e->turn, lane), d));
        for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
            if (branch->parent_element == i) {
                branches = add_losses(branches, losses_from(branch, step, v, at));
            }
        }
    }
    double kinetic = 0.5 * root->m[rod->lane] * root->square[rod->lane];
    return add_losses(loss_total(rod, step, &sum, kinetic), branches);
}

static RodLosses losses(const Rod* rod, const RodStep* step, const double* v, double touch) {
    RodLosses all = losses_from(rod, step, v, loss_root(rod, step, v));
    return loss_without_contacts(rod, step, all, touch);
}

static RodMomenta momenta(const Rod* rod, Twist at, const double* v) {
    RodMomenta sum = {0};
    for (int i = 0; i < rod->element_count; ++i) {
        double m = rod_element_density(rod, i) * rod->element_length;
        LanePlace place = lane_place(rod, i);
        const LaneElement* e = place.e;
        int lane = place.lane;
        TdlVec3 d = tdl_load3(v, i);
        TdlVec3 arm = tdl_sub3(lane_vec_of(&e->position, lane), rod->base.now.position);
        TdlVec3 span = lane_vec_of(&e->span, lane),
                turn = tdl_mul33_3(lane_mat_of(&e->turn, lane), d);
        TdlVec3 angular = tdl_mul33_3(lane_mat_of(&e->Hm, lane), d);
        TdlMat3 J = lane_sym_of(&e->J, lane);
        tension_leave_out(e->taut[lane], span, turn, &J, &angular);
        rod_momenta_add(&sum, arm, m, lane_vec_of(&e->h, lane), J, at,
                        tdl_mul33_3(lane_mat_of(&e->Bm, lane), d), angular);
        TdlVec3 shift = tdl_mul33_3(lane_mat_of(&e->shift, lane), d);
        at.linear = tdl_add3(at.linear, tdl_add3(tdl_cross3(at.angular, span), shift));
        at.angular = tdl_add3(at.angular, turn);
    }
    return sum;
}

// --- A^-1 -----------------------------------------------------------------------------------

// Columns over a tree, and a rod's part of them.
typedef struct Columns {
    double* x[LANE_COUNT];
} Columns;

static Columns columns_of(const Rod* rod, const Columns* all) {
    Columns own;
    for (int k = 0; k < LANE_COUNT; ++k) {
        own.x[k] = all->x[k] + rod->tree_first;
    }
    return own;
}

LANE_INLINE LaneVec load_columns(const Columns* own, int i) {
    const double *a = own->x[0] + 3 * i, *b = own->x[1] + 3 * i;
    const double *c = own->x[2] + 3 * i, *d = own->x[3] + 3 * i;
    return (LaneVec){{a[0], b[0], c[0], d[0]}, {a[1], b[1], c[1], d[1]}, {a[2], b[2], c[2], d[2]}};
}

LANE_INLINE void store_columns(const Columns* own, int i, LaneVec a) {
    for (int k = LANE_COUNT - 1; k >= 0; --k) { // the first one last: others may repeat it
        tdl_store3(own->x[k], i, lane_vec_of(&a, k));
    }
}

LANE_INLINE void spread_joint(LanePlace at, bool half, Lane low[3], Lane inverse[3]) {
    for (int k = 0; k < 3; ++k) {
        double d = at.e->inverse[k][at.lane];
        low[k] = lane_all(at.e->low[k][at.lane]);
        inverse[k] = lane_all(half ? sqrt(d) : d);
    }
}

// Tip to root over the right-hand sides, which end after `used` coordinates of the tree and are
// zero beyond: x := diag^-1 L^-1 u, or diag^-1/2 L^-1 u when this is half of it. Returns the
// impulse that reaches the root.
static LaneTwist gather_impulses(const Rod* rod, int used, bool half, const Columns* all) {
    LaneVec force = {0}, moment = {0}, t;
    Columns own = columns_of(rod, all);
    int there = (used - rod->tree_first) / 3;
    int count = there < rod->element_count ? there : rod->element_count;
    for (int i = count - 1; i >= 0; --i) {
        LanePlace at = lane_place(rod, i);
        const LaneElement* e = at.e;
        for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
            if (branch->parent_element == i && branch->tree_first < used) {
                LaneTwist impulse = gather_impulses(branch, used, half, all);
                force = lane_add(force, impulse.linear);
                moment = lane_add(moment, impulse.angular);
            }
        }
        LaneVec u = load_columns(&own, i);
        u = lane_add_tmul(u, lane_mat_spread(&e->shift, at.lane), force);
        u = lane_add_tmul(u, lane_mat_spread(&e->turn, at.lane), moment);
        Lane low[3], inverse[3];
        spread_joint(at, half, low, inverse);
        store_columns(&own, i, joint_down(low, inverse, u, &t));
        moment = lane_add_cross(moment, lane_vec_spread(&e->span, at.lane), force);
        force = lane_sub_mul(force, lane_mat_spread(&e->Z_linear, at.lane), t);
        moment = lane_sub_mul(moment, lane_mat_spread(&e->Z_angular, at.lane), t);
    }
    return (LaneTwist){force, moment};
}

// And back. In halves what is there is multiplied by diag^-1/2 first.
static void spread_motion(const Rod* rod, LaneTwist at, bool half, const Columns* all) {
    Columns own = columns_of(rod, all);
    for (int i = 0; i < rod->element_count; ++i) {
        LanePlace place = lane_place(rod, i);
        const LaneElement* e = place.e;
        int lane = place.lane;
        Lane low[3], inverse[3];
        spread_joint(place, half, low, inverse);
        LaneVec x = load_columns(&own, i);
        if (half) {
            x = (LaneVec){inverse[0] * x.x, inverse[1] * x.y, inverse[2] * x.z};
        }
        x = lane_sub_tmul(x, lane_mat_spread(&e->Z_linear, lane), at.linear);
        x = joint_up(low, lane_sub_tmul(x, lane_mat_spread(&e->Z_angular, lane), at.angular));
        store_columns(&own, i, x);
        at.linear = lane_add_cross(at.linear, at.angular, lane_vec_spread(&e->span, lane));
        at.linear = lane_add_mul(at.linear, lane_mat_spread(&e->shift, lane), x);
        at.angular = lane_add_mul(at.angular, lane_mat_spread(&e->turn, lane), x);
        for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
            if (branch->parent_element == i) {
                spread_motion(branch, at, half, all);
            }
        }
    }
}

// At most four columns, `apart` doubles from each other.
static Columns four_columns(int count, int apart, double* X) {
    Columns all;
    for (int k = 0; k < LANE_COUNT; ++k) {
        all.x[k] = X + (ptrdiff_t)(k < count ? k : 0) * apart;
    }
    return all;
}

static void down(const Rod* rod, int used, int count, bool half, const Columns* all) {
    LaneTwist impulse = gather_impulses(rod, used, half, all);
    for (int k = 0; k < count && rod->root_dofs > 0; ++k) {
        double* own = all->x[k] + 3 * rod->element_count;
        TdlVec3 moment = lane_vec_of(&impulse.angular, k), force = lane_vec_of(&impulse.linear, k);
        tdl_store3(own, 0, tdl_add3(tdl_load3(own, 0), moment));
        if (rod->root_dofs == 6) {
            tdl_store3(own, 1, tdl_add3(tdl_load3(own, 1), force));
        }
        super_helix_whiten_root(rod, own);
    }
}

static void up(const Rod* rod, int count, bool half, const Columns* all) {
    LaneTwist at = {0};
    for (int k = 0; k < count && rod->root_dofs > 0; ++k) {
        double* own = all->x[k] + 3 * rod->element_count;
        super_helix_unwhiten_root(rod, own);
        lane_vec_set(&at.angular, k, tdl_load3(own, 0));
        lane_vec_set(&at.linear, k, rod->root_dofs == 6 ? tdl_load3(own, 1) : (TdlVec3){0});
    }
    spread_motion(rod, at, half, all);
}

static void solve_four(const Rod* rod, int count, double* X) {
    Columns all = four_columns(count, rod->tree_dofs, X);
    down(rod, rod->tree_dofs, count, false, &all);
    up(rod, count, false, &all);
}

static void whiten(const Rod* rod, int used, int count, double* X) {
    TDL_ASSERT(rod->end_hold == TDL_HOLD_FREE);
    for (int k = 0; k < count; k += LANE_COUNT) {
        int some = count - k < LANE_COUNT ? count - k : LANE_COUNT;
        Columns all = four_columns(some, used, X + (ptrdiff_t)k * used);
        down(rod, used, some, true, &all);
    }
}

static void unwhiten(const Rod* rod, double* x) {
    Columns all = four_columns(1, rod->tree_dofs, x);
    up(rod, 1, true, &all);
}

void super_helix_solve_columns(const Rod* rod, int count, double* X) {
    for (int k = 0; k < count; k += LANE_COUNT) {
        int some = count - k < LANE_COUNT ? count - k : LANE_COUNT;
        solve_four(rod, some, X + (size_t)k * (size_t)rod->tree_dofs);
    }
}

static void solve(const Rod* rod, double* x) {
    solve_four(rod, 1, x);
}

// --- what is there --------------------------------------------------------------------------

static void end_turning(const Rod* rod, double* rows) {
    memset(rows, 0, 3 * (size_t)rod->dof_count * sizeof *rows);
    for (int i = 0; i < rod->element_count; ++i) {
        LanePlace at = lane_place(rod, i);
        TdlMat3 turn = lane_mat_of(&at.e->turn, at.lane);
        super_helix_store_turning(rod, i, turn, rows);
    }
    if (rod->root_dofs >= 3) {
        super_helix_store_turning(rod, rod->element_count, tdl_identity33(), rows);
    }
}

static TdlPose start_of(const Rod* rod, int element) {
    LanePlace at = lane_place(rod, element);
    return (TdlPose){lane_vec_of(&at.e->position, at.lane), lane_mat_of(&at.e->R, at.lane)};
}

static TdlPose node(const Rod* rod, int element) {
    LanePlace at = lane_place(rod, element);
    TdlPose start = start_of(rod, element);
    TdlMat3 turned = tdl_mul33(start.rotation, tdl_rotation_exp(tdl_load3(rod->q, element)));
    return (TdlPose){tdl_add3(start.position, lane_vec_of(&at.e->span, at.lane)),
                     tdl_rotation_nearest(turned)};
}

static TdlMat3 end_frame(const Rod* rod) {
    return node(rod, rod->element_count - 1).rotation;
}

static void curves(const Rod* rod, RodCurve* out) {
    double l = rod->element_length;
    for (int i = 0; i < rod->element_count; ++i) {
        TdlVec3 kappa = tdl_scale3(1.0 / l, tdl_load3(rod->q, i));
        out[i] = (RodCurve){start_of(rod, i), kappa, l, kappa};
    }
}

static TdlVec3 point(const Rod* rod, int element, double s) {
    TdlPose start = start_of(rod, element);
    HelixAxes axes = helix_axes(tdl_load3(rod->q, element));
    double f[HELIX_COUNT];
    helix_functions(axes.y, s, f);
    TdlVec3 p = tdl_mul33_3(start.rotation, helix_position(&axes, f));
    return tdl_axpy3(start.position, rod->element_length, p);
}

// What a force at x, beyond the first `count` elements of a rod, does to these, and to all that
// carries the rod.
static void add_carriers(const Rod* rod, int count, TdlVec3 x, TdlVec3 force, double* row) {
    for (; rod != NULL; count = rod->parent_element + 1, rod = rod->parent) {
        for (int i = 0; i < count; ++i) {
            LanePlace at = lane_place(rod, i);
            TdlMat3 shift = lane_mat_of(&at.e->shift, at.lane);
            TdlMat3 turn = lane_mat_of(&at.e->turn, at.lane);
            TdlVec3 end =
                tdl_add3(lane_vec_of(&at.e->position, at.lane), lane_vec_of(&at.e->span, at.lane));
            TdlVec3 moment = tdl_cross3(tdl_sub3(x, end), force);
            tdl_store3(row + rod->tree_first, i,
                       tdl_add3(tdl_tmul33_3(shift, force), tdl_tmul33_3(turn, moment)));
        }
        TdlVec3 arm = tdl_sub3(x, rod->base.now.position);
        super_helix_store_root(rod, force, tdl_cross3(arm, force), row + rod->tree_first);
    }
}

static void jacobian(const Rod* rod, int element, double s, TdlMat3 basis, double* rows) {
    TdlVec3 x = point(rod, element, s), force[3] = {basis.cx, basis.cy, basis.cz};
    HelixAxes axes = helix_axes(tdl_load3(rod->q, element));
    double f[HELIX_COUNT];
    helix_functions(axes.y, s, f);
    TdlMat3 R = start_of(rod, element).rotation;
    TdlMat3 B = tdl_scale33(rod->element_length, tdl_mul33(R, helix_displacement(&axes, f)));
    size_t n = (size_t)super_helix_movers(rod, element).count;
    memset(rows, 0, 3 * n * sizeof *rows);
    for (int k = 0; k < 3; ++k) {
        double* row = rows + (size_t)k * n;
        add_carriers(rod, element, x, force[k], row);
        tdl_store3(row + rod->tree_first, element, tdl_tmul33_3(B, force[k]));
    }
}

static void add_torques(const Rod* rod, int element, double s, const TdlVec3 torque[3],
                        double* rows) {
    HelixAxes axes = helix_axes(tdl_load3(rod->q, element));
    double f[HELIX_COUNT];
    helix_functions(axes.y, s, f);
    TdlMat3 own = tdl_mul33(start_of(rod, element).rotation, helix_rotation_rate(&axes, f));
    size_t n = (size_t)super_helix_movers(rod, element).count;
    for (int k = 0; k < 3; ++k) {
        double* row = rows + (size_t)k * n;
        super_helix_add_torque(row + rod->tree_first, element, own, torque[k]);
        int count = element;
        for (const Rod* at = rod; at != NULL; count = at->parent_element + 1, at = at->parent) {
            for (int i = 0; i < count; ++i) {
                LanePlace place = lane_place(at, i);
                super_helix_add_torque(row + at->tree_first, i,
                                       lane_mat_of(&place.e->turn, place.lane), torque[k]);
            }
            if (at->root_dofs >= 3) {
                super_helix_add_torque(row + at->tree_first, at->element_count, tdl_identity33(),
                                       torque[k]);
            }
        }
    }
}

static TdlEnergy energy(const Rod* rod, TdlVec3 gravity) {
    const LaneRoot* root = lane_root_of(rod->group);
    double m = root->m[rod->lane];
    TdlVec3 centre = lane_vec_of(&root->centre, rod->lane);
    TdlEnergy e = {0.5 * m * root->square[rod->lane], 0.5 * root->elastic[rod->lane],
                   -m * tdl_dot3(gravity, centre)};
    for (int k = 0; k < rod->load_count; ++k) {
        const RodLoad* load = &rod->loads[k];
        if (!load->given) {
            e.gravity -= tdl_dot3(load->force, point(rod, load->element, load->s));
        }
    }
    return e;
}

const RodModel SUPER_HELIX = {
    .name = "super-helix",
    .dofs_per_element = 3,
    .reduced = true,
    .seats = TDL_SEATS_MIDDLES,
    .work_count = work_count,
    .set_curvature = rod_scale_curvature,
    .curvature = rod_unscale_curvature,
    .group_work_count = super_helix_group_work_count,
    .predict_group = predict_group,
    .advance_group = super_helix_advance_group,
    .statics = &SUPER_HELIX_DENSE,
    .refresh = refresh,
    .expect = tension_expect,
    .predict = predict,
    .solve = solve,
    .solve_columns = super_helix_solve_columns,
    .whiten = whiten,
    .unwhiten = unwhiten,
    .advance = advance,
    .losses = losses,
    .momenta = momenta,
    .curves = curves,
    .end_frame = end_frame,
    .end_turning = end_turning,
    .pose_at = super_helix_pose_at,
    .local = super_helix_local,
    .mean_spin = true,
    .node = node,
    .point = point,
    .movers = super_helix_movers,
    .jacobian = jacobian,
    .add_torques = add_torques,
    .energy = energy,
    .move = move,
};
