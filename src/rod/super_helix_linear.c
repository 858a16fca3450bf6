// The super-helix in linear time: the same step as the dense path, solved by an articulated
// recursion in which (dt tau + dt^2) K acts as the inertia of joints. linear-time.md
//
// From the tip to the root, what lies beyond an element is one articulated body of 6 x 6 inertia;
// eliminating the element's q gives the body beyond its start. A^-1 takes O(N), a step 2 passes
// from the root and 1 from the tip. Four rods run in the lanes; a lone rod fills all four with
// itself, or with four of its elements, so that its bits do not depend on its company.
#include "rod/super_helix_linear.h"

#include "base/check.h"
#include "math/dense.h"
#include "rod/held_end.h"
#include "rod/lane_element.h"
#include "rod/losses.h"
#include "rod/super_helix.h"

#include <string.h>

// Articulated body about a point: momentum = [A B; B' C] (linear, angular), and its impulse.
typedef struct Body {
    LaneSym A, C;
    LaneMat B;
    LaneVec force, moment;
} Body;

// What a group keeps besides its elements.
typedef struct LaneRoot {
    Lane l, m, k[3], gyration;     // element length and mass, K3 / l
    Lane square, elastic;          // sums over elements: |velocity|^2, k strain^2
    LaneVec centre;                // sum of the elements' centres
    double factor[LANE_COUNT][36]; // inertia of a root that moves, factored
    Body body;                     // beyond the root, as predict found it
} LaneRoot;

enum {
    ALIGN_DOUBLES = 8,
    ROOT_DOUBLES = sizeof(LaneRoot) / sizeof(double),
    ELEMENT_DOUBLES = sizeof(LaneElement) / sizeof(double),
    LOAD_DOUBLES = 9 * LANE_COUNT, // of point loads, an element
};

static size_t group_work_count(int element_count) {
    return ALIGN_DOUBLES + ROOT_DOUBLES + (size_t)element_count * (ELEMENT_DOUBLES + LOAD_DOUBLES);
}

static LaneRoot* root_of(const RodGroup* group) {
    uintptr_t at = (uintptr_t)group->work;
    return (LaneRoot*)((at + 63) & ~(uintptr_t)63);
}

static LaneElement* elements_of(const RodGroup* group) {
    return (LaneElement*)(root_of(group) + 1);
}

// Force, moment about the start and generalised force of the point loads: [3 element_count]
static LaneVec* loads_of(const RodGroup* group) {
    return (LaneVec*)(elements_of(group) + group->rods[0]->element_count);
}

static size_t work_count(int dof_count, int element_count) {
    (void)dof_count;
    (void)element_count;
    return 0;
}

// The rod in a lane; lanes without one repeat the first.
static Rod* rod_in(const RodGroup* group, int lane) {
    return group->rods[lane < group->count ? lane : 0];
}

static void set_curvature(const Rod* rod, const TdlVec3* kappa, double* q) {
    for (int i = 0; i < rod->element_count; ++i) {
        tdl_store3(q, i, tdl_scale3(rod->element_length, kappa[i]));
    }
}

LANE_INLINE LaneVec gather(const double* const p[LANE_COUNT], int i) {
    const double *a = p[0] + 3 * i, *b = p[1] + 3 * i, *c = p[2] + 3 * i, *d = p[3] + 3 * i;
    return (LaneVec){{a[0], b[0], c[0], d[0]}, {a[1], b[1], c[1], d[1]}, {a[2], b[2], c[2], d[2]}};
}

// --- shape and momentum ---------------------------------------------------------------------

static void read_constants(const RodGroup* group, LaneRoot* root) {
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        const Rod* rod = rod_in(group, lane);
        double l = rod->element_length;
        root->l[lane] = l;
        root->gyration[lane] = rod->gyration;
        root->m[lane] = rod->line_density * l;
        root->k[0][lane] = rod->stiffness.x / l;
        root->k[1][lane] = rod->stiffness.y / l;
        root->k[2][lane] = rod->stiffness.z / l;
    }
}

static LanePose base_pose(const RodGroup* group, bool before) {
    LanePose pose;
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        const RodBase* base = &rod_in(group, lane)->base;
        lane_vec_set(&pose.position, lane, before ? base->before.position : base->now.position);
        lane_mat_set(&pose.R, lane, before ? base->before.rotation : base->now.rotation);
    }
    return pose;
}

static void advance_branches(Rod* rod, int element, const LaneTwist* at, const LanePose* end,
                             double dt);

// With the elements in the shape before, and the velocities found in it: root to tip, finds the
// motion of each element there, then gives it its present shape, its inertia, and the momentum it
// brings along. Takes the branches along by branch_dt, unless that is 0. (L.1)
static void carry(RodGroup* group, double branch_dt) {
    LaneRoot* root = root_of(group);
    LaneElement* el = elements_of(group);
    const double *q[LANE_COUNT], *v[LANE_COUNT], *rest[LANE_COUNT];
    LaneTwist at;
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        const Rod* rod = rod_in(group, lane);
        q[lane] = rod->q;
        v[lane] = rod->v;
        rest[lane] = rod->q_rest;
        lane_vec_set(&at.linear, lane, rod->base.rate.linear);
        lane_vec_set(&at.angular, lane, rod->base.rate.angular);
    }
    LanePose start = base_pose(group, false);
    Lane l = root->l, square = lane_all(0.0), elastic = square;
    LaneVec centre = {0};
    // elements whose inertia and momentum are found in one call: those of a rod that is alone
    int n = group->rods[0]->element_count, some = group->count == 1 ? LANE_COUNT : 1;
    for (int first = 0; first < n; first += some) {
        LaneField field[LANE_COUNT];
        LaneMat R_before[LANE_COUNT];
        Lane squares[LANE_COUNT];
        int count = n - first < some ? n - first : some;
        for (int k = 0; k < count; ++k) {
            LaneElement* e = &el[first + k];
            LaneVec d = gather(v, first + k), q_new = gather(q, first + k);
            R_before[k] = e->R;
            lane_element_field(e, &l, &at, &d, &field[k]);
            at.linear = lane_add_mul(lane_add_cross(at.linear, at.angular, e->span), e->shift, d);
            at.angular = lane_add_mul(at.angular, e->turn, d);
            lane_element_shape(e, &q_new, &l, &start);
            if (branch_dt > 0.0 && group->rods[0]->child != NULL) {
                advance_branches(group->rods[0], first + k, &at, &start, branch_dt);
            }
        }
        if (some == 1) {
            lane_element_load(&el[first], &l, &root->gyration, field, R_before, squares);
        } else {
            lane_element_load_alone(&el[first], count, &l, &root->gyration, field, R_before,
                                    squares);
        }
        for (int k = 0; k < count; ++k) {
            const LaneElement* e = &el[first + k];
            LaneVec strain = lane_sub(e->q, gather(rest, first + k));
            elastic += root->k[0] * strain.x * strain.x + root->k[1] * strain.y * strain.y +
                       root->k[2] * strain.z * strain.z;
            centre = lane_add(centre, lane_add(e->position, e->h));
            square += squares[k];
        }
    }
    root->square = square;
    root->elastic = elastic;
    root->centre = centre;
}

static void refresh_group(RodGroup* group) {
    LaneRoot* root = root_of(group);
    LaneElement* el = elements_of(group);
    read_constants(group, root);
    const double* q[LANE_COUNT];
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        super_helix_read_root(rod_in(group, lane));
        q[lane] = rod_in(group, lane)->q_before;
    }
    LanePose start = base_pose(group, true);
    for (int i = 0; i < group->rods[0]->element_count; ++i) {
        LaneVec q_before = gather(q, i);
        lane_element_shape(&el[i], &q_before, &root->l, &start);
    }
    carry(group, 0.0);
}

static void refresh(Rod* rod) {
    refresh_group(rod->group);
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
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        const RodStep* step = steps[lane < group->count ? lane : 0];
        const Rod* rod = rod_in(group, lane);
        double dt = step->dt, c = rod_mass_factor(rod, dt);
        s.dt[lane] = dt;
        s.mass_factor[lane] = c;
        s.joint[lane] = dt * rod->damping + dt * dt;
        lane_vec_set(&s.gain, lane, tdl_scale3(dt, rod_pull(rod, step)));
        lane_vec_set(&s.base.linear, lane, tdl_scale3(c, step->base_rate.linear));
        lane_vec_set(&s.base.angular, lane, tdl_scale3(c, step->base_rate.angular));
        lane_vec_set(&s.base_position, lane, rod->base.now.position);
    }
    return s;
}

// Impulses of the point loads, lane by lane. (H.23)
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
            HelixLoad own = super_helix_point_load(
                lane_vec_of(&elements_of(group)[load->element].q, lane),
                lane_mat_of(&elements_of(group)[load->element].R, lane), rod->element_length, load);
            LaneVec* to = &loads[3 * load->element];
            double dt = steps[lane]->dt;
            lane_vec_set(&to[0], lane, tdl_axpy3(lane_vec_of(&to[0], lane), dt, own.force));
            lane_vec_set(&to[1], lane, tdl_axpy3(lane_vec_of(&to[1], lane), dt, own.moment));
            lane_vec_set(&to[2], lane, tdl_axpy3(lane_vec_of(&to[2], lane), dt, own.generalised));
        }
    }
    return some;
}

// Impulse on an element: what it brings, what gravity adds, less what the base's motion takes.
// The result is force, moment about the start and generalised. (L.3)
LANE_INLINE void element_impulse(const LaneElement* e, const LaneStep* s, Lane m, LaneVec out[3]) {
    LaneVec arm = lane_sub(e->position, s->base_position);
    LaneVec w = lane_scale(lane_all(-1.0), s->base.angular);
    LaneVec G = lane_sub(s->gain, lane_add_cross(s->base.linear, s->base.angular, arm));
    out[0] = lane_scale(m, lane_add_cross(lane_add(e->force, G), w, e->h));
    LaneVec moment = lane_add(lane_add_cross(e->moment, e->h, G), lane_sym_mul(e->J, w));
    out[1] = lane_scale(m, moment);
    out[2] = lane_scale(m, lane_add_tmul(lane_add_tmul(e->own, e->Bm, G), e->Hm, w));
}

// D = L diag L', false lanes where a pivot is not positive.
LANE_INLINE LaneMask factor_joint(LaneElement* e, LaneSym D) {
    Lane i0 = 1.0 / D.xx, l10 = D.xy * i0, l20 = D.xz * i0;
    Lane d1 = D.yy - l10 * D.xy, t = D.yz - l10 * D.xz;
    Lane i1 = 1.0 / d1, l21 = t * i1;
    Lane d2 = D.zz - l20 * D.xz - l21 * t;
    e->low[0] = l10;
    e->low[1] = l20;
    e->low[2] = l21;
    e->inverse[0] = i0;
    e->inverse[1] = i1;
    e->inverse[2] = 1.0 / d2;
    return (D.xx > 0.0) & (d1 > 0.0) & (d2 > 0.0);
}

LANE_INLINE LaneVec solve_joint(const Lane low[3], const Lane inverse[3], LaneVec b) {
    Lane y = b.y - low[0] * b.x, z = b.z - low[1] * b.x - low[2] * y;
    z = z * inverse[2];
    y = y * inverse[1] - low[2] * z;
    return (LaneVec){b.x * inverse[0] - low[0] * y - low[1] * z, y, z};
}

// Columns of U D^-1: row r of U against the factor.
LANE_INLINE LaneMat divide_by_joint(const LaneElement* e, LaneMat U) {
    LaneVec rx = solve_joint(e->low, e->inverse, (LaneVec){U.cx.x, U.cy.x, U.cz.x});
    LaneVec ry = solve_joint(e->low, e->inverse, (LaneVec){U.cx.y, U.cy.y, U.cz.y});
    LaneVec rz = solve_joint(e->low, e->inverse, (LaneVec){U.cx.z, U.cy.z, U.cz.z});
    return (LaneMat){{rx.x, ry.x, rz.x}, {rx.y, ry.y, rz.y}, {rx.z, ry.z, rz.z}};
}

// Moves the point a body is said about back over `p`: X' I X. (L.2)
LANE_INLINE void shift_body(Body* b, LaneVec p) {
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
    b->C.xx += Q.cx.x;
    b->C.xy += 0.5 * (Q.cy.x + Q.cx.y);
    b->C.xz += 0.5 * (Q.cz.x + Q.cx.z);
    b->C.yy += Q.cy.y;
    b->C.yz += 0.5 * (Q.cz.y + Q.cy.z);
    b->C.zz += Q.cz.z;
    b->B = B;
    b->moment = lane_add_cross(b->moment, p, b->force);
}

// Adds an element's own inertia, m times [1, -[h]x; [h]x, J].
LANE_INLINE void add_own_inertia(Body* b, const LaneElement* e, Lane m) {
    LaneVec h = lane_scale(m, e->h);
    b->A.xx += m;
    b->A.yy += m;
    b->A.zz += m;
    b->B.cx.y -= h.z;
    b->B.cx.z += h.y;
    b->B.cy.x += h.z;
    b->B.cy.z -= h.x;
    b->B.cz.x -= h.y;
    b->B.cz.y += h.x;
    b->C = lane_sym_axpy(b->C, m, e->J);
}

// Subtracts W U' from the inertia: the part that q follows by itself.
LANE_INLINE void release_joint(Body* b, LaneMat W_linear, LaneMat W_angular, LaneMat U_linear,
                               LaneMat U_angular) {
    b->A = lane_sym_sub_productt(b->A, W_linear, U_linear);
    b->C = lane_sym_sub_productt(b->C, W_angular, U_angular);
    b->B = lane_sub_productt(b->B, W_linear, U_angular);
}

// Momentum of a body for the motion of its point, three columns at once.
LANE_INLINE LaneMat linear_momentum(const Body* b, LaneMat shift, LaneMat turn) {
    return (LaneMat){lane_add_mul(lane_sym_mul(b->A, shift.cx), b->B, turn.cx),
                     lane_add_mul(lane_sym_mul(b->A, shift.cy), b->B, turn.cy),
                     lane_add_mul(lane_sym_mul(b->A, shift.cz), b->B, turn.cz)};
}

LANE_INLINE LaneMat angular_momentum(const Body* b, LaneMat shift, LaneMat turn) {
    return (LaneMat){lane_add_tmul(lane_sym_mul(b->C, turn.cx), b->B, shift.cx),
                     lane_add_tmul(lane_sym_mul(b->C, turn.cy), b->B, shift.cy),
                     lane_add_tmul(lane_sym_mul(b->C, turn.cz), b->B, shift.cz)};
}

// One element on the way from the tip: eliminates its q. `b` is the body beyond its end on entry
// and beyond its start on return; x receives D^-1 u. (L.2), (L.3)
LANE_INLINE LaneMask eliminate(LaneElement* e, Body* b, LaneSym joint, Lane m,
                               const LaneVec impulse[3], LaneVec* x) {
    // momentum of the body for a rate of q
    LaneMat linear = linear_momentum(b, e->shift, e->turn);
    LaneMat angular = angular_momentum(b, e->shift, e->turn);
    LaneSym D = lane_sym_axpy(joint, m, e->Mqq);
    D = lane_sym_add_tproduct(lane_sym_add_tproduct(D, e->shift, linear), e->turn, angular);
    LaneMask fine = factor_joint(e, D);
    LaneVec u = lane_add_tmul(lane_add_tmul(impulse[2], e->shift, b->force), e->turn, b->moment);

    // the same about the start, with the element's own share
    LaneMat U_linear = lane_axpy_mat(linear, m, e->Bm);
    LaneMat U_angular = lane_axpy_mat(lane_add_skew(angular, e->span, linear), m, e->Hm);
    e->W_linear = divide_by_joint(e, U_linear);
    e->W_angular = divide_by_joint(e, U_angular);
    shift_body(b, e->span);
    add_own_inertia(b, e, m);
    release_joint(b, e->W_linear, e->W_angular, U_linear, U_angular);
    LaneVec down = lane_scale(lane_all(-1.0), u);
    b->force = lane_add_mul(lane_add(b->force, impulse[0]), e->W_linear, down);
    b->moment = lane_add_mul(lane_add(b->moment, impulse[1]), e->W_angular, down);
    *x = solve_joint(e->low, e->inverse, u);
    return fine;
}

// The motion of a root that is not clamped, lane by lane: 6 x 6, or 3 x 3 for a pinned one.
static bool factor_root(const Body* b, const Rod* rod, int lane, double* factor) {
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

// Velocity of the root for an impulse on it; in place, angular then linear.
static void solve_root(const double* factor, int root_dofs, double x[6]) {
    if (root_dofs == 3) {
        tdl_cholesky_3_solve(factor, x);
    } else {
        tdl_cholesky_6_solve(factor, x);
    }
}

static LaneMask find_root_motion(RodGroup* group, const Body* b, LaneTwist* at) {
    LaneMask fine = {-1, -1, -1, -1};
    LaneRoot* root = root_of(group);
    *at = (LaneTwist){0};
    // the first rod last: lanes may repeat it
    for (int lane = LANE_COUNT - 1; lane >= 0 && group->rods[0]->root_dofs > 0; --lane) {
        Rod* rod = rod_in(group, lane);
        double x[6];
        tdl_store3(x, 0, lane_vec_of(&b->moment, lane));
        tdl_store3(x, 1, lane_vec_of(&b->force, lane));
        fine[lane] = factor_root(b, rod, lane, root->factor[lane]) ? -1 : 0;
        solve_root(root->factor[lane], rod->root_dofs, x);
        lane_vec_set(&at->angular, lane, tdl_load3(x, 0));
        lane_vec_set(&at->linear, lane, rod->root_dofs == 6 ? tdl_load3(x, 1) : (TdlVec3){0});
        memcpy(rod->v_free + 3 * rod->element_count, x, (size_t)rod->root_dofs * sizeof *x);
    }
    return fine;
}

LANE_INLINE void scatter(double* const p[LANE_COUNT], int i, LaneVec a) {
    for (int lane = LANE_COUNT - 1; lane >= 0; --lane) { // the first rod last: lanes may repeat it
        p[lane][3 * i] = a.x[lane];
        p[lane][3 * i + 1] = a.y[lane];
        p[lane][3 * i + 2] = a.z[lane];
    }
}

// Root to tip: x = D^-1 u - W' V, V+ = X V + S x. (L.3)
static void substitute(RodGroup* group, LaneTwist at, double* const v[LANE_COUNT]) {
    const LaneElement* e = elements_of(group);
    const Rod* first = group->rods[0];
    for (int i = 0; i < first->element_count; ++i, ++e) {
        LaneVec x = gather((const double* const*)v, i);
        x = lane_sub(x, lane_add_tmul(lane_tmul(e->W_linear, at.linear), e->W_angular, at.angular));
        scatter(v, i, x);
        at.linear = lane_add_mul(lane_add_cross(at.linear, at.angular, e->span), e->shift, x);
        at.angular = lane_add_mul(at.angular, e->turn, x);
        for (Rod* branch = first->child; branch != NULL; branch = branch->sibling) {
            if (branch->parent_element == i) {
                double* own = branch->v_free;
                substitute(branch->group, at, (double* const[]){own, own, own, own});
            }
        }
    }
}

static void solve_unheld(const Rod* rod, int count, double* X);

// --- trees ----------------------------------------------------------------------------------

static LaneMask eliminate_group(RodGroup* group, const RodStep* const* steps);

// The branches at the end of an element are part of the body beyond it. Each is eliminated first,
// with the tree's base motion as it reaches the branch. (L.12)
static LaneMask add_branches(const Rod* rod, int element, const RodStep* step, Body* body) {
    LaneMask fine = {-1, -1, -1, -1};
    for (Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        if (branch->parent_element != element) {
            continue;
        }
        RodStep own = *step;
        TdlVec3 arm = tdl_sub3(branch->base.now.position, rod->base.now.position);
        own.base_rate.linear =
            tdl_add3(step->base_rate.linear, tdl_cross3(step->base_rate.angular, arm));
        fine &= eliminate_group(branch->group, (const RodStep* const[]){&own, &own, &own, &own});
        const Body* b = &root_of(branch->group)->body;
        body->A = lane_sym_axpy(body->A, lane_all(1.0), b->A);
        body->B = lane_add_mat(body->B, b->B);
        body->C = lane_sym_axpy(body->C, lane_all(1.0), b->C);
        body->force = lane_add(body->force, b->force);
        body->moment = lane_add(body->moment, b->moment);
    }
    return fine;
}

// Moves the branches at the end of an element, which had the motion `at` in the shape before and
// is now at `end`.
static void advance_branches(Rod* rod, int element, const LaneTwist* at, const LanePose* end,
                             double dt) {
    for (Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        if (branch->parent_element != element) {
            continue;
        }
        branch->base.before = branch->base.now;
        branch->base.rate = (Twist){lane_vec_of(&at->linear, 0), lane_vec_of(&at->angular, 0)};
        branch->base.now.position = lane_vec_of(&end->position, 0);
        branch->base.now.rotation = tdl_mul33(lane_mat_of(&end->R, 0), branch->mount);
        for (int i = 0; i < branch->dof_count; ++i) {
            branch->q_before[i] = branch->q[i];
            branch->q[i] += dt * branch->v[i];
        }
        carry(branch->group, dt);
    }
}

// Tip to root: factors, and leaves D^-1 u in v_free and the body beyond the root in its place.
static LaneMask eliminate_group(RodGroup* group, const RodStep* const* steps) {
    LaneRoot* root = root_of(group);
    LaneStep s = gather_steps(group, steps);
    bool loaded = set_point_loads(group, steps);
    const double *q[LANE_COUNT], *rest[LANE_COUNT];
    double* v[LANE_COUNT];
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        Rod* rod = rod_in(group, lane);
        q[lane] = rod->q;
        rest[lane] = rod->q_rest;
        v[lane] = rod->v_free;
    }
    Lane mass = root->m * s.mass_factor, zero = lane_all(0.0);
    LaneSym joint = {s.joint * root->k[0], zero, zero,
                     s.joint * root->k[1], zero, s.joint * root->k[2]};
    Body body = {0};
    LaneMask fine = {-1, -1, -1, -1};
    for (int i = group->rods[0]->element_count - 1; i >= 0; --i) {
        LaneElement* e = &elements_of(group)[i];
        LaneVec impulse[3], x, strain = lane_sub(gather(q, i), gather(rest, i));
        if (group->rods[0]->child != NULL) {
            fine &= add_branches(group->rods[0], i, steps[0], &body);
        }
        element_impulse(e, &s, root->m, impulse);
        impulse[2].x -= s.dt * root->k[0] * strain.x;
        impulse[2].y -= s.dt * root->k[1] * strain.y;
        impulse[2].z -= s.dt * root->k[2] * strain.z;
        for (int k = 0; k < 3 && loaded; ++k) {
            impulse[k] = lane_add(impulse[k], loads_of(group)[3 * i + k]);
        }
        fine &= eliminate(e, &body, joint, mass, impulse, &x);
        scatter(v, i, x);
    }
    root->body = body;
    return fine;
}

static void predict_group(RodGroup* group, const RodStep* const* steps, bool* ok) {
    LaneMask fine = eliminate_group(group, steps);
    double* v[LANE_COUNT];
    for (int lane = 0; lane < LANE_COUNT; ++lane) {
        v[lane] = rod_in(group, lane)->v_free;
    }
    LaneTwist at;
    fine &= find_root_motion(group, &root_of(group)->body, &at);
    substitute(group, at, v);
    for (int lane = 0; lane < group->count; ++lane) {
        ok[lane] =
            fine[lane] != 0 && held_end_predict(group->rods[lane], steps[lane], solve_unheld);
    }
}

static void advance_group(RodGroup* group, const RodStep* const* steps) {
    for (int lane = 0; lane < group->count; ++lane) {
        Rod* rod = group->rods[lane];
        memcpy(rod->q_before, rod->q, (size_t)rod->dof_count * sizeof *rod->q);
        for (int i = 0; i < rod->dof_count; ++i) {
            rod->q[i] += steps[lane]->dt * rod->v[i];
        }
        super_helix_move_root(rod, steps[lane]);
    }
    carry(group, steps[0]->dt);
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
    advance_group(rod->group, &step);
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
    return (RodLosses){a.damping + b.damping, a.numerical + b.numerical, a.work + b.work,
                       a.given + b.given, a.hold + b.hold};
}

static void add_load_power(const Rod* rod, int element, Twist at, TdlVec3 d, LossSum* sum) {
    const LaneElement* e = &elements_of(rod->group)[element];
    for (int k = 0; k < rod->load_count; ++k) {
        if (rod->loads[k].element == element) {
            super_helix_load_power(lane_vec_of(&e->q, rod->lane), lane_mat_of(&e->R, rod->lane),
                                   rod->element_length, &rod->loads[k], at, d, sum);
        }
    }
}

// Of a rod whose start moves with `at`, and of its branches. (H.27)
static RodLosses losses_from(const Rod* rod, const RodStep* step, const double* v, Twist at) {
    const LaneRoot* root = root_of(rod->group);
    RodLosses branches = {0};
    LossSum sum = {0};
    int lane = rod->lane;
    for (int i = 0; i < rod->element_count; ++i) {
        const LaneElement* e = &elements_of(rod->group)[i];
        TdlVec3 d = tdl_load3(v + rod->tree_first, i),
                shift = tdl_mul33_3(lane_mat_of(&e->shift, lane), d);
        LossElement own = {.h = lane_vec_of(&e->h, lane),
                           .J = lane_sym_of(&e->J, lane),
                           .linear = tdl_mul33_3(lane_mat_of(&e->Bm, lane), d),
                           .angular = tdl_mul33_3(lane_mat_of(&e->Hm, lane), d),
                           .square = tdl_dot3(d, tdl_mul33_3(lane_sym_of(&e->Mqq, lane), d))};
        loss_add(&sum, at, &own);
        sum.brought += loss_power(at, lane_vec_of(&e->force, lane), lane_vec_of(&e->moment, lane)) +
                       tdl_dot3(lane_vec_of(&e->own, lane), d);
        sum.bending += root->k[0][lane] * d.x * d.x + root->k[1][lane] * d.y * d.y +
                       root->k[2][lane] * d.z * d.z;
        TdlVec3 strain = tdl_sub3(tdl_load3(rod->q, i), tdl_load3(rod->q_rest, i));
        sum.stress += root->k[0][lane] * d.x * strain.x + root->k[1][lane] * d.y * strain.y +
                      root->k[2][lane] * d.z * strain.z;
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
    double kinetic = 0.5 * root->m[lane] * root->square[lane];
    return add_losses(loss_total(rod, step, &sum, kinetic), branches);
}

static RodLosses losses(const Rod* rod, const RodStep* step, const double* v, double touch) {
    RodLosses all = losses_from(rod, step, v, loss_root(rod, step, v));
    return loss_without_contacts(rod, step, all, touch);
}

// --- A^-1 -----------------------------------------------------------------------------------

LANE_INLINE LaneVec spread_vec(const LaneVec* a, int lane) {
    return (LaneVec){lane_all(a->x[lane]), lane_all(a->y[lane]), lane_all(a->z[lane])};
}

LANE_INLINE LaneMat spread_mat(const LaneMat* a, int lane) {
    return (LaneMat){spread_vec(&a->cx, lane), spread_vec(&a->cy, lane), spread_vec(&a->cz, lane)};
}

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

// Tip to root over the right-hand sides: x := D^-1 u. Returns the impulse that reaches the root.
static LaneTwist gather_impulses(const Rod* rod, const Columns* all) {
    LaneVec force = {0}, moment = {0};
    Columns own = columns_of(rod, all);
    double* const* x = own.x;
    for (int i = rod->element_count - 1; i >= 0; --i) {
        const LaneElement* e = &elements_of(rod->group)[i];
        int lane = rod->lane;
        for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
            if (branch->parent_element == i) {
                LaneTwist impulse = gather_impulses(branch, all);
                force = lane_add(force, impulse.linear);
                moment = lane_add(moment, impulse.angular);
            }
        }
        LaneVec u = gather((const double*const*)x, i), span = spread_vec(&e->span, lane);
        u = lane_add(u, lane_tmul(spread_mat(&e->shift, lane), force));
        u = lane_add(u, lane_tmul(spread_mat(&e->turn, lane), moment));
        LaneVec down = lane_scale(lane_all(-1.0), u);
        moment = lane_add_cross(moment, span, force);
        force = lane_add_mul(force, spread_mat(&e->W_linear, lane), down);
        moment = lane_add_mul(moment, spread_mat(&e->W_angular, lane), down);
        Lane low[3], inverse[3];
        for (int k = 0; k < 3; ++k) {
            low[k] = lane_all(e->low[k][lane]);
            inverse[k] = lane_all(e->inverse[k][lane]);
        }
        scatter(x, i, solve_joint(low, inverse, u));
    }
    return (LaneTwist){force, moment};
}

static void spread_motion(const Rod* rod, LaneTwist at, const Columns* all) {
    Columns own = columns_of(rod, all);
    double* const* x = own.x;
    for (int i = 0; i < rod->element_count; ++i) {
        const LaneElement* e = &elements_of(rod->group)[i];
        int lane = rod->lane;
        LaneVec y = gather((const double*const*)x, i), span = spread_vec(&e->span, lane);
        y = lane_sub(y, lane_tmul(spread_mat(&e->W_linear, lane), at.linear));
        y = lane_sub(y, lane_tmul(spread_mat(&e->W_angular, lane), at.angular));
        scatter(x, i, y);
        at.linear = lane_add_cross(at.linear, at.angular, span);
        at.linear = lane_add_mul(at.linear, spread_mat(&e->shift, lane), y);
        at.angular = lane_add_mul(at.angular, spread_mat(&e->turn, lane), y);
        for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
            if (branch->parent_element == i) {
                spread_motion(branch, at, all);
            }
        }
    }
}

static void solve_four(const Rod* rod, int count, double* X) {
    Columns all;
    for (int k = 0; k < LANE_COUNT; ++k) {
        all.x[k] = X + (size_t)(k < count ? k : 0) * (size_t)rod->tree_dofs;
    }
    LaneTwist impulse = gather_impulses(rod, &all), at = {0};
    for (int k = 0; k < count && rod->root_dofs > 0; ++k) {
        double* own = all.x[k] + 3 * rod->element_count;
        TdlVec3 moment = lane_vec_of(&impulse.angular, k), force = lane_vec_of(&impulse.linear, k);
        tdl_store3(own, 0, tdl_add3(tdl_load3(own, 0), moment));
        if (rod->root_dofs == 6) {
            tdl_store3(own, 1, tdl_add3(tdl_load3(own, 1), force));
        }
        solve_root(root_of(rod->group)->factor[rod->lane], rod->root_dofs, own);
        lane_vec_set(&at.angular, k, tdl_load3(own, 0));
        lane_vec_set(&at.linear, k, rod->root_dofs == 6 ? tdl_load3(own, 1) : (TdlVec3){0});
    }
    spread_motion(rod, at, &all);
}

static void solve_unheld(const Rod* rod, int count, double* X) {
    for (int k = 0; k < count; k += LANE_COUNT) {
        int some = count - k < LANE_COUNT ? count - k : LANE_COUNT;
        solve_four(rod, some, X + (size_t)k * (size_t)rod->tree_dofs);
    }
}

void super_helix_solve_columns(const Rod* rod, int count, double* X) {
    solve_unheld(rod, count, X);
    for (int k = 0; k < count && rod->end_hold != TDL_HOLD_FREE; ++k) {
        held_end_project(rod, X + (size_t)k * (size_t)rod->dof_count);
    }
}

static void solve(const Rod* rod, double* x) {
    solve_four(rod, 1, x);
    held_end_project(rod, x);
}

// --- what is there --------------------------------------------------------------------------

static TdlMat3 end_frame(const Rod* rod) {
    const LaneElement* last = &elements_of(rod->group)[rod->element_count - 1];
    TdlMat3 turned = tdl_mul33(lane_mat_of(&last->R, rod->lane),
                               tdl_rotation_exp(lane_vec_of(&last->q, rod->lane)));
    return tdl_rotation_nearest(turned);
}

static void end_turning(const Rod* rod, double* rows) {
    memset(rows, 0, 3 * (size_t)rod->dof_count * sizeof *rows);
    for (int i = 0; i < rod->element_count; ++i) {
        TdlMat3 turn = lane_mat_of(&elements_of(rod->group)[i].turn, rod->lane);
        super_helix_store_turning(rod, i, turn, rows);
    }
    if (rod->root_dofs >= 3) {
        super_helix_store_turning(rod, rod->element_count, tdl_identity33(), rows);
    }
}

static TdlPose node(const Rod* rod, int element) {
    const LaneElement* e = &elements_of(rod->group)[element];
    TdlMat3 turned =
        tdl_mul33(lane_mat_of(&e->R, rod->lane), tdl_rotation_exp(lane_vec_of(&e->q, rod->lane)));
    TdlVec3 position = lane_vec_of(&e->position, rod->lane);
    return (TdlPose){tdl_add3(position, lane_vec_of(&e->span, rod->lane)),
                     tdl_rotation_nearest(turned)};
}

static TdlPose start_of(const Rod* rod, const LaneElement* e) {
    return (TdlPose){lane_vec_of(&e->position, rod->lane), lane_mat_of(&e->R, rod->lane)};
}

static void curves(const Rod* rod, RodCurve* out) {
    double l = rod->element_length;
    for (int i = 0; i < rod->element_count; ++i) {
        const LaneElement* e = &elements_of(rod->group)[i];
        TdlVec3 kappa = tdl_scale3(1.0 / l, tdl_load3(rod->q, i));
        out[i] = (RodCurve){start_of(rod, e), kappa, l, kappa};
    }
}

static TdlVec3 point(const Rod* rod, int element, double s) {
    TdlPose start = start_of(rod, &elements_of(rod->group)[element]);
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
        const LaneElement* el = elements_of(rod->group);
        for (int i = 0; i < count; ++i) {
            TdlMat3 shift = lane_mat_of(&el[i].shift, rod->lane);
            TdlMat3 turn = lane_mat_of(&el[i].turn, rod->lane);
            TdlVec3 end = tdl_add3(lane_vec_of(&el[i].position, rod->lane),
                                   lane_vec_of(&el[i].span, rod->lane));
            TdlVec3 moment = tdl_cross3(tdl_sub3(x, end), force);
            tdl_store3(row + rod->tree_first, i,
                       tdl_add3(tdl_tmul33_3(shift, force), tdl_tmul33_3(turn, moment)));
        }
        TdlVec3 arm = tdl_sub3(x, rod->base.now.position);
        super_helix_store_root(rod, force, tdl_cross3(arm, force), row + rod->tree_first);
    }
}

static void jacobian(const Rod* rod, int element, double s, TdlMat3 basis, double* rows) {
    const LaneElement* el = elements_of(rod->group);
    TdlVec3 x = point(rod, element, s), force[3] = {basis.cx, basis.cy, basis.cz};
    HelixAxes axes = helix_axes(tdl_load3(rod->q, element));
    double f[HELIX_COUNT];
    helix_functions(axes.y, s, f);
    TdlMat3 R = lane_mat_of(&el[element].R, rod->lane);
    TdlMat3 B = tdl_scale33(rod->element_length, tdl_mul33(R, helix_displacement(&axes, f)));
    memset(rows, 0, 3 * (size_t)rod->tree_dofs * sizeof *rows);
    for (int k = 0; k < 3; ++k) {
        double* row = rows + (size_t)k * (size_t)rod->tree_dofs;
        add_carriers(rod, element, x, force[k], row);
        tdl_store3(row + rod->tree_first, element, tdl_tmul33_3(B, force[k]));
    }
}

static TdlEnergy energy(const Rod* rod, TdlVec3 gravity) {
    const LaneRoot* root = root_of(rod->group);
    double m = root->m[rod->lane];
    TdlVec3 centre = lane_vec_of(&root->centre, rod->lane);
    TdlEnergy e = {0.5 * m * root->square[rod->lane], 0.5 * root->elastic[rod->lane],
                   -m * tdl_dot3(gravity, centre)};
    for (int k = 0; k < rod->load_count; ++k) {
        const RodLoad* load = &rod->loads[k];
        e.gravity -= tdl_dot3(load->force, point(rod, load->element, load->s));
    }
    return e;
}

const RodModel SUPER_HELIX = {
    .name = "super-helix",
    .dofs_per_element = 3,
    .carried = true,
    .work_count = work_count,
    .set_curvature = set_curvature,
    .group_work_count = group_work_count,
    .predict_group = predict_group,
    .advance_group = advance_group,
    .statics = &SUPER_HELIX_DENSE,
    .refresh = refresh,
    .predict = predict,
    .solve = solve,
    .solve_columns = super_helix_solve_columns,
    .advance = advance,
    .losses = losses,
    .curves = curves,
    .end_frame = end_frame,
    .end_turning = end_turning,
    .node = node,
    .point = point,
    .jacobian = jacobian,
    .energy = energy,
    .move = move,
};
