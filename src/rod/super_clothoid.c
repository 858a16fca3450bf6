// The super-clothoid: curvature continuous and linear on each element. super-clothoid.md
//
// The coordinates are the curvature vectors at the joints times the element length, 3 (N + 1) of
// them, and after them the velocities of a start that is not clamped. An element knows how its own
// two joints move its end; all beyond follows rigidly, so the mass matrix comes from mass, first
// and second moments accumulated from the tip, O(N^2) small operations, as for the super-helix. The
// factorisation of A is dense, O(N^3). Moments are taken about each element's own start, which
// keeps the digits of long rods.
//
// A step keeps the velocities of the material points, as they were found in the shape before, and
// projects that field on the motions of the present shape. A projection never adds kinetic energy,
// so inertia and elasticity together are stable for any time step. (C.13)
#include "rod/super_clothoid.h"

#include "math/dense.h"
#include "math/rotation.h"
#include "rod/clothoid_element.h"
#include "rod/held_end.h"
#include "rod/losses.h"
#include "rod/rod_momenta.h"

#include <string.h>

// A rigid body: mass, first and second moments about a point.
typedef struct Moments {
    double m;
    TdlVec3 h;
    TdlMat3 J;
} Moments;

static double* matrix_of(const Rod* rod) {
    return rod->work + (size_t)rod->element_count * CLOTHOID_ELEMENT_DOUBLES;
}

static size_t work_count(int dof_count, int element_count) {
    return (size_t)element_count * CLOTHOID_ELEMENT_DOUBLES + (size_t)dof_count * (size_t)dof_count;
}

// --- geometry -------------------------------------------------------------------------------

// R m R'
static TdlMat3 rotate_tensor(TdlMat3 R, TdlMat3 m) {
    TdlMat3 Rm = tdl_mul33(R, m);
    return tdl_mul33(Rm, tdl_transpose33(R));
}

static Clothoid shape_of(const double* q, int i) {
    return clothoid_make(tdl_load3(q, i), tdl_load3(q, i + 1));
}

static double gyration_of(const Rod* rod, const ClothoidElement* el) {
    return rod->share[el - elements_of(rod)].gyration * rod->gyration;
}

static void refresh_element(const Rod* rod, ClothoidElement* el, TdlPose start) {
    double l = rod->element_length;
    TdlMat3 R = start.rotation;
    ClothoidInertia own;
    ClothoidState end;
    clothoid_inertia(&el->shape, &own, &end);
    el->start = start;
    el->end_turn = clothoid_rotation(&end);
    el->span = tdl_scale3(l, tdl_mul33_3(R, clothoid_position(&end)));
    el->h = tdl_scale3(l, tdl_mul33_3(R, own.h));
    double r2 = gyration_of(rod, el);
    el->J = rotate_tensor(R, tdl_axpy33(tdl_scale33(l * l, own.J), r2, own.spin_J));
    for (int a = 0; a < 2; ++a) {
        el->shift[a] = tdl_scale33(l, tdl_mul33(R, clothoid_displacement(&end, a)));
        el->turn[a] = tdl_mul33(R, clothoid_turn(&end, a));
        el->Bm[a] = tdl_scale33(l, tdl_mul33(R, own.Bm[a]));
        el->Hm[a] = tdl_mul33(R, tdl_axpy33(tdl_scale33(l * l, own.Hm[a]), r2, own.spin_H[a]));
    }
    for (int k = 0; k < 3; ++k) {
        el->Mqq[k] = tdl_axpy33(tdl_scale33(l * l, own.Mqq[k]), r2, own.spin_M[k]);
    }
}

// The frame after an element. Rounding accumulates over thousands of them: keep it a rotation.
static TdlMat3 next_frame(TdlMat3 frame, TdlMat3 turn) {
    return tdl_rotation_nearest(tdl_mul33(frame, turn));
}

static bool at_rest(const Rod* rod) {
    double sum = tdl_norm3(rod->base.rate.linear) + tdl_norm3(rod->base.rate.angular);
    for (int i = 0; i < rod->dof_count; ++i) {
        sum += fabs(rod->v[i]);
    }
    return sum == 0.0;
}

// A start that is not clamped has its velocity from the last of v.
static void read_root(Rod* rod) {
    if (rod->root_dofs >= 3) {
        rod->base.rate.angular = tdl_load3(rod->v, root_of(rod));
    }
    if (rod->root_dofs == 6) {
        rod->base.rate.linear = tdl_load3(rod->v, root_of(rod) + 1);
    }
}

// Turns and moves the root by the last of a change of the coordinates.
static void turn_root(Rod* rod, double scale, const double* change) {
    TdlPose* root = &rod->base.now;
    if (rod->root_dofs >= 3) {
        TdlVec3 turn = tdl_scale3(scale, tdl_load3(change, root_of(rod)));
        root->rotation = tdl_rotation_nearest(tdl_mul33(tdl_rotation_exp(turn), root->rotation));
    }
    if (rod->root_dofs == 6) {
        root->position = tdl_axpy3(root->position, scale, tdl_load3(change, root_of(rod) + 1));
    }
}

// The velocities of the shape before, element by element from the start. (C.12)
static void refresh_fields(Rod* rod) {
    ClothoidElement* el = elements_of(rod);
    Twist at = rod->base.rate;
    TdlMat3 R = rod->base.before.rotation;
    double l = rod->held_state.stretch_before * rod->at_rest.element_length;
    for (int i = 0; i < rod->element_count; ++i) {
        ClothoidMotion own = {.shape = shape_of(rod->q_before, i),
                              .l = l,
                              .V = tdl_tmul33_3(R, at.linear),
                              .w = tdl_tmul33_3(R, at.angular),
                              .d = {tdl_load3(rod->v, i), tdl_load3(rod->v, i + 1)},
                              .gyration = gyration_of(rod, &el[i])};
        ClothoidState end;
        el[i].brought =
            clothoid_momentum(&el[i].shape, rod->element_length,
                              tdl_tmul33(el[i].start.rotation, R), &own, &el[i].field_square, &end);

        // motion of the end
        TdlVec3 swing = tdl_cross3(own.w, clothoid_position(&end));
        for (int a = 0; a < 2; ++a) {
            swing = tdl_add3(swing, tdl_mul33_3(clothoid_displacement(&end, a), own.d[a]));
            TdlVec3 turn = tdl_mul33_3(clothoid_turn(&end, a), own.d[a]);
            at.angular = tdl_add3(at.angular, tdl_mul33_3(R, turn));
        }
        at.linear = tdl_axpy3(at.linear, own.l, tdl_mul33_3(R, swing));
        R = next_frame(R, clothoid_rotation(&end));
    }
}

static void refresh(Rod* rod) {
    ClothoidElement* el = elements_of(rod);
    read_root(rod);
    TdlPose start = rod->base.now;
    for (int i = 0; i < rod->element_count; ++i) {
        el[i].shape = shape_of(rod->q, i);
        refresh_element(rod, &el[i], start);
        start.position = tdl_add3(start.position, el[i].span);
        start.rotation = next_frame(start.rotation, el[i].end_turn);
        el[i].brought = (ClothoidLoad){0};
        el[i].field_square = 0.0;
        el[i].taut = 0.0;
    }
    if (!at_rest(rod)) {
        refresh_fields(rod);
    }
}

static TdlVec3 end_point(const ClothoidElement* el) {
    return tdl_add3(el->start.position, el->span);
}

static TdlMat3 end_frame(const Rod* rod) {
    const ClothoidElement* last = &elements_of(rod)[rod->element_count - 1];
    return next_frame(last->start.rotation, last->end_turn);
}

// Adds the turning of the end for a change of joint i to the three rows.
static void add_turning(const Rod* rod, int i, TdlMat3 turn, double* rows) {
    TdlMat3 by_rows = tdl_transpose33(turn);
    size_t n = (size_t)rod->dof_count;
    add3(rows, i, by_rows.cx);
    add3(rows + n, i, by_rows.cy);
    add3(rows + 2 * n, i, by_rows.cz);
}

static void end_turning(const Rod* rod, double* rows) {
    const ClothoidElement* el = elements_of(rod);
    memset(rows, 0, 3 * (size_t)rod->dof_count * sizeof *rows);
    for (int i = 0; i < rod->element_count; ++i) {
        add_turning(rod, i, el[i].turn[0], rows);
        add_turning(rod, i + 1, el[i].turn[1], rows);
    }
    if (rod->root_dofs >= 3) {
        add_turning(rod, root_of(rod), tdl_identity33(), rows);
    }
}

static TdlPose pose_at(const Rod* rod, const double* q, TdlPose start, double l, int element,
                       double s) {
    (void)rod;
    for (int i = 0; i <= element; ++i) {
        Clothoid shape = shape_of(q, i);
        ClothoidState end;
        clothoid_at(&shape, i < element ? 1.0 : s, &end);
        TdlVec3 span = tdl_mul33_3(start.rotation, clothoid_position(&end));
        start.position = tdl_axpy3(start.position, l, span);
        start.rotation = next_frame(start.rotation, clothoid_rotation(&end));
    }
    return start;
}

static void local(const double* q, const double* d, double s, RodLocal* out) {
    Clothoid shape = shape_of(q, 0);
    ClothoidState at;
    clothoid_at(&shape, s, &at);
    *out = (RodLocal){.position = clothoid_position(&at), .rotation = clothoid_rotation(&at)};
    for (int a = 0; a < 2; ++a) {
        TdlVec3 rate = tdl_load3(d, a);
        TdlVec3 moved = tdl_mul33_3(clothoid_displacement(&at, a), rate);
        out->linear = tdl_add3(out->linear, moved);
        out->angular = tdl_add3(out->angular, tdl_mul33_3(clothoid_turn(&at, a), rate));
    }
}

static void curves(const Rod* rod, RodCurve* out) {
    const ClothoidElement* el = elements_of(rod);
    double l = rod->element_length;
    for (int i = 0; i < rod->element_count; ++i) {
        out[i] = (RodCurve){el[i].start, tdl_scale3(1.0 / l, tdl_load3(rod->q, i)), l,
                            tdl_scale3(1.0 / l, tdl_load3(rod->q, i + 1))};
    }
}

TdlVec3 super_clothoid_point(const Rod* rod, int element, double s) {
    const ClothoidElement* el = &elements_of(rod)[element];
    ClothoidState at;
    clothoid_at(&el->shape, s, &at);
    TdlVec3 p = tdl_mul33_3(el->start.rotation, clothoid_position(&at));
    return tdl_axpy3(el->start.position, rod->element_length, p);
}

// The root's share of a force and a moment about it.
static void store_root(const Rod* rod, TdlVec3 force, TdlVec3 moment, double* row) {
    if (rod->root_dofs >= 3) {
        tdl_store3(row, root_of(rod), moment);
    }
    if (rod->root_dofs == 6) {
        tdl_store3(row, root_of(rod) + 1, force);
    }
}

static TdlSpan movers(const Rod* rod, int element) {
    return (TdlSpan){0, rod->root_dofs == 0 ? 3 * (element + 2) : rod->dof_count};
}

static void jacobian(const Rod* rod, int element, double s, TdlMat3 basis, double* rows) {
    size_t n = (size_t)movers(rod, element).count;
    const ClothoidElement *el = elements_of(rod), *own = &el[element];
    ClothoidState at;
    clothoid_at(&own->shape, s, &at);
    TdlVec3 p = tdl_mul33_3(own->start.rotation, clothoid_position(&at));
    TdlVec3 x = tdl_axpy3(own->start.position, rod->element_length, p);
    TdlVec3 force[3] = {basis.cx, basis.cy, basis.cz};
    TdlMat3 B[2] = {clothoid_displacement(&at, 0), clothoid_displacement(&at, 1)};
    memset(rows, 0, 3 * n * sizeof *rows);
    for (int k = 0; k < 3; ++k) {
        double* row = rows + (size_t)k * n;
        for (int i = 0; i < element; ++i) {
            TdlVec3 moment = tdl_cross3(tdl_sub3(x, end_point(&el[i])), force[k]);
            for (int a = 0; a < 2; ++a) {
                add3(row, i + a, tdl_tmul33_3(el[i].shift[a], force[k]));
                add3(row, i + a, tdl_tmul33_3(el[i].turn[a], moment));
            }
        }
        TdlVec3 local =
            tdl_scale3(rod->element_length, tdl_tmul33_3(own->start.rotation, force[k]));
        add3(row, element, tdl_tmul33_3(B[0], local));
        add3(row, element + 1, tdl_tmul33_3(B[1], local));
        store_root(rod, force[k], tdl_cross3(tdl_sub3(x, rod->base.now.position), force[k]), row);
    }
}

static void add_torques(const Rod* rod, int element, double s, const TdlVec3 torque[3],
                        double* rows) {
    size_t n = (size_t)movers(rod, element).count;
    const ClothoidElement *el = elements_of(rod), *own = &el[element];
    ClothoidState at;
    clothoid_at(&own->shape, s, &at);
    for (int k = 0; k < 3; ++k) {
        double* row = rows + (size_t)k * n;
        TdlVec3 local = tdl_tmul33_3(own->start.rotation, torque[k]);
        for (int a = 0; a < 2; ++a) {
            for (int i = 0; i < element; ++i) {
                add3(row, i + a, tdl_tmul33_3(el[i].turn[a], torque[k]));
            }
            add3(row, element + a, tdl_tmul33_3(clothoid_turn(&at, a), local));
        }
        if (rod->root_dofs >= 3) {
            add3(row, root_of(rod), torque[k]);
        }
    }
}

// --- mass -----------------------------------------------------------------------------------

// Moments about a point that is `p` before the one `b` is about. (H.15)
static Moments shift_moments(Moments b, TdlVec3 p) {
    TdlVec3 h = tdl_axpy3(b.h, b.m, p);
    // J - [h]x[p]x - [p]x[h]x - m [p]x[p]x, written with a = h + m p / 2: -[a]x[p]x - [p]x[a]x
    TdlVec3 a = tdl_axpy3(b.h, 0.5 * b.m, p);
    TdlMat3 ap = tdl_add33(tdl_outer3(a, p), tdl_outer3(p, a));
    TdlMat3 J = tdl_axpy33(b.J, 2.0 * tdl_dot3(a, p), tdl_identity33());
    return (Moments){b.m, h, tdl_sub33(J, ap)};
}

// Momentum and its moment for a rate of the coordinates of one joint.
typedef struct Momentum {
    TdlMat3 linear, angular;
} Momentum;

// shift' linear + turn' angular, and the like for the transpose
static TdlMat3 paired(TdlMat3 shift, TdlMat3 turn, const Momentum* p) {
    return tdl_add33(tdl_tmul33(shift, p->linear), tdl_tmul33(turn, p->angular));
}

static TdlMat3 paired_transposed(const Momentum* p, TdlMat3 shift, TdlMat3 turn) {
    return tdl_add33(tdl_tmul33(p->linear, shift), tdl_tmul33(p->angular, turn));
}

// The same momentum about a point that is `p` before.
static void shift_momentum(Momentum* m, TdlVec3 p) {
    m->angular = tdl_add33(m->angular, tdl_mul33(tdl_skew3(p), m->linear));
}

// Momentum of what lies beyond the end of e for a rate of its joint a, about that end.
static Momentum carried_momentum(const ClothoidElement* e, int a, const Moments* beyond) {
    TdlMat3 H = tdl_skew3(beyond->h);
    Momentum p;
    p.linear = tdl_sub33(tdl_scale33(beyond->m, e->shift[a]), tdl_mul33(H, e->turn[a]));
    p.angular = tdl_add33(tdl_mul33(H, e->shift[a]), tdl_mul33(beyond->J, e->turn[a]));
    return p;
}

// Rows of a root that turns, and of one that also moves: against joint i, and its own.
static void add_root_momentum(const Rod* rod, int i, const Momentum* p, double* A) {
    if (rod->root_dofs >= 3) {
        add_block(A, rod->dof_count, root_of(rod), i, p->angular);
    }
    if (rod->root_dofs == 6) {
        add_block(A, rod->dof_count, root_of(rod) + 1, i, p->linear);
    }
}

static void add_root_mass(const Rod* rod, const Moments* all, double* A) {
    int root = root_of(rod), n = rod->dof_count;
    if (rod->root_dofs >= 3) {
        add_block(A, n, root, root, all->J);
    }
    if (rod->root_dofs == 6) {
        add_block(A, n, root + 1, root, tdl_skew3(tdl_scale3(-1.0, all->h)));
        add_block(A, n, root + 1, root + 1, tdl_scale33(all->m, tdl_identity33()));
    }
}

// The element's diagonal blocks, from the momenta of what it carries.
static void add_own_mass(const Rod* rod, int i, const Momentum p[2], double* A) {
    const ClothoidElement* e = &elements_of(rod)[i];
    double m = rod_element_density(rod, i) * rod->element_length;
    for (int a = 0; a < 2; ++a) {
        for (int b = 0; b <= a; ++b) {
            TdlMat3 block = paired(e->shift[a], e->turn[a], &p[b]);
            add_block(A, rod->dof_count, i + a, i + b, tdl_axpy33(block, m, e->Mqq[a + b]));
        }
    }
}

// Tip to root. (C.11)
void super_clothoid_mass(const Rod* rod, double* A) {
    const ClothoidElement* el = elements_of(rod);
    int n = rod->dof_count;
    Moments beyond = {0};
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    for (int i = rod->element_count - 1; i >= 0; --i) {
        const ClothoidElement* e = &el[i];
        double m = rod_element_density(rod, i) * rod->element_length;
        Momentum p[2] = {carried_momentum(e, 0, &beyond), carried_momentum(e, 1, &beyond)};
        add_own_mass(rod, i, p, A);
        // about the start, with the element's own share; then down to the root
        for (int a = 0; a < 2; ++a) {
            shift_momentum(&p[a], e->span);
            p[a].linear = tdl_axpy33(p[a].linear, m, e->Bm[a]);
            p[a].angular = tdl_axpy33(p[a].angular, m, e->Hm[a]);
            for (int j = i - 1; j >= 0; --j) {
                for (int b = 0; b < 2; ++b) {
                    add_pair(A, n, i + a, j + b,
                             paired_transposed(&p[a], el[j].shift[b], el[j].turn[b]));
                }
                shift_momentum(&p[a], el[j].span);
            }
            add_root_momentum(rod, i + a, &p[a], A);
        }
        beyond = shift_moments(beyond, e->span);
        beyond.m += m;
        beyond.h = tdl_axpy3(beyond.h, m, e->h);
        beyond.J = tdl_axpy33(beyond.J, m, e->J);
    }
    add_root_mass(rod, &beyond, A);
}

// --- loads ----------------------------------------------------------------------------------

// What an element and all beyond it have to bear: force and moment about a point.
typedef struct Wrench {
    TdlVec3 force, moment;
} Wrench;

// Adds the load of element i to the coordinates of its joints, with that of all beyond, which
// `sum` holds about the element's end; then takes sum to the element's start. (C.14)
static void gather_load(const ClothoidElement* e, int i, const ClothoidLoad* load, Wrench* sum,
                        double* out) {
    for (int a = 0; a < 2; ++a) {
        add3(out, i + a, load->generalised[a]);
        add3(out, i + a, tdl_tmul33_3(e->shift[a], sum->force));
        add3(out, i + a, tdl_tmul33_3(e->turn[a], sum->moment));
    }
    sum->moment = tdl_add3(sum->moment, tdl_cross3(e->span, sum->force));
    sum->moment = tdl_add3(sum->moment, load->moment);
    sum->force = tdl_add3(sum->force, load->force);
}

// Load of m times a rigid velocity field: `at` is said of the element's start.
static ClothoidLoad rigid_load(const ClothoidElement* e, double m, Twist at) {
    ClothoidLoad load;
    load.force = tdl_scale3(m, tdl_add3(at.linear, tdl_cross3(at.angular, e->h)));
    load.moment =
        tdl_scale3(m, tdl_add3(tdl_cross3(e->h, at.linear), tdl_mul33_3(e->J, at.angular)));
    for (int a = 0; a < 2; ++a) {
        TdlVec3 sum =
            tdl_add3(tdl_tmul33_3(e->Bm[a], at.linear), tdl_tmul33_3(e->Hm[a], at.angular));
        load.generalised[a] = tdl_scale3(m, sum);
    }
    return load;
}

// Adds `scale` times the point loads of element i, or what has no potential of them alone. (C.15)
static void add_point_loads(const Rod* rod, int i, double scale, bool forces, ClothoidLoad* sum) {
    const ClothoidElement* e = &elements_of(rod)[i];
    TdlMat3 R = e->start.rotation;
    double l = rod->element_length;
    for (int k = 0; k < rod->load_count; ++k) {
        const RodLoad* load = &rod->loads[k];
        if (load->element != i) {
            continue;
        }
        ClothoidState at;
        clothoid_at(&e->shape, load->s, &at);
        TdlVec3 force = tdl_scale3(forces || load->given ? scale : 0.0, load->force);
        TdlVec3 torque = tdl_scale3(scale, load->torque);
        TdlVec3 arm = tdl_scale3(l, tdl_mul33_3(R, clothoid_position(&at)));
        TdlVec3 own_force = tdl_tmul33_3(R, force), own_torque = tdl_tmul33_3(R, torque);
        sum->force = tdl_add3(sum->force, force);
        sum->moment = tdl_add3(sum->moment, tdl_add3(torque, tdl_cross3(arm, force)));
        for (int a = 0; a < 2; ++a) {
            TdlVec3 g = tdl_scale3(l, tdl_tmul33_3(clothoid_displacement(&at, a), own_force));
            g = tdl_add3(g, tdl_tmul33_3(clothoid_turn(&at, a), own_torque));
            sum->generalised[a] = tdl_add3(sum->generalised[a], g);
        }
    }
}

void super_clothoid_forces(const Rod* rod, TdlVec3 gravity, double* out) {
    const ClothoidElement* el = elements_of(rod);
    Wrench sum = {0};
    memset(out, 0, (size_t)rod->dof_count * sizeof *out);
    for (int i = rod->element_count - 1; i >= 0; --i) {
        double m = rod_element_density(rod, i) * rod->element_length;
        ClothoidLoad load = rigid_load(&el[i], -m, (Twist){.linear = gravity});
        add_point_loads(rod, i, -1.0, true, &load);
        gather_load(&el[i], i, &load, &sum, out);
    }
    store_root(rod, sum.force, sum.moment, out);
}

// m times the velocities brought along, in world axes, plus `load`.
static ClothoidLoad add_brought(const ClothoidElement* e, double m, ClothoidLoad load) {
    TdlMat3 R = e->start.rotation;
    load.force = tdl_axpy3(load.force, m, tdl_mul33_3(R, e->brought.force));
    load.moment = tdl_axpy3(load.moment, m, tdl_mul33_3(R, e->brought.moment));
    for (int a = 0; a < 2; ++a) {
        load.generalised[a] = tdl_axpy3(load.generalised[a], m, e->brought.generalised[a]);
    }
    return load;
}

void super_clothoid_momentum(const Rod* rod, const RodStep* step, double* out) {
    const ClothoidElement* el = elements_of(rod);
    double factor = rod_mass_factor(rod, step->dt);
    TdlVec3 gain = tdl_scale3(step->dt, rod_pull(rod, step));
    Wrench sum = {0};
    memset(out, 0, (size_t)rod->dof_count * sizeof *out);
    for (int i = rod->element_count - 1; i >= 0; --i) {
        TdlVec3 arm = tdl_sub3(el[i].start.position, rod->base.now.position);
        Twist base = {tdl_scale3(factor, step->base_rate.linear),
                      tdl_scale3(factor, step->base_rate.angular)};
        base.linear = tdl_add3(base.linear, tdl_cross3(base.angular, arm));
        base.linear = tdl_sub3(base.linear, gain);
        double m = rod_element_density(rod, i) * rod->element_length;
        ClothoidLoad load = add_brought(&el[i], m, rigid_load(&el[i], -m, base));
        add_point_loads(rod, i, step->dt, true, &load);
        gather_load(&el[i], i, &load, &sum, out);
    }
    store_root(rod, sum.force, sum.moment, out);
}

// --- the step -------------------------------------------------------------------------------

// A += scale K, lower triangle: each element adds l/3 to its joints and l/6 between them, here in
// coordinates kappa l. (C.2)
void super_clothoid_add_stiffness(const Rod* rod, double scale, double* A) {
    for (int i = 0; i < rod->element_count; ++i) {
        TdlMat3 third = tdl_scale33(scale / (3.0 * rod->element_length),
                                    tdl_diag33(rod_element_stiffness(rod, i)));
        add_block(A, rod->dof_count, i, i, third);
        add_block(A, rod->dof_count, i + 1, i, tdl_scale33(0.5, third));
        add_block(A, rod->dof_count, i + 1, i + 1, third);
    }
}

// y += scale K (q - q_rest)
void super_clothoid_add_elastic(const Rod* rod, double scale, double* y) {
    double third = 1.0 / (3.0 * rod->element_length);
    for (int i = 0; i < rod->element_count; ++i) {
        TdlMat3 K3 = tdl_scale33(scale * third, tdl_diag33(rod_element_stiffness(rod, i)));
        TdlVec3 d0 = tdl_sub3(tdl_load3(rod->q, i), tdl_load3(rod->q_rest, i));
        TdlVec3 d1 = tdl_sub3(tdl_load3(rod->q, i + 1), tdl_load3(rod->q_rest, i + 1));
        add3(y, i, tdl_mul33_3(K3, tdl_axpy3(d0, 0.5, d1)));
        add3(y, i + 1, tdl_mul33_3(K3, tdl_axpy3(d1, 0.5, d0)));
    }
}

static TdlVec3 chord(const Rod* rod, int element) {
    return elements_of(rod)[element].span;
}

// The joints turn an element by 2 s - s^2 and s^2 of what they turn its end by: means of these, of
// their squares and of their product. (H.33)
static void add_tension(Rod* rod, const RodStep* step) {
    static const double MEAN[2] = {2.0 / 3.0, 1.0 / 3.0};
    static const double PRODUCT[3] = {8.0 / 15.0, 3.0 / 10.0, 1.0 / 5.0};
    double* p = rod->v_free; // not yet in use
    rod->taut = tension_find(rod, step, chord, p);
    if (!rod->taut) {
        return;
    }
    for (int i = 0; i < rod->element_count; ++i) {
        ClothoidElement* e = &elements_of(rod)[i];
        TdlMat3 P = tension_tensor(p[i], e->span);
        e->J = tdl_add33(e->J, P);
        e->taut = p[i];
        for (int a = 0; a < 2; ++a) {
            TdlMat3 turning = tdl_mul33(P, e->turn[a]);
            e->Hm[a] = tdl_axpy33(e->Hm[a], MEAN[a], turning);
            for (int b = a; b < 2; ++b) {
                e->Mqq[a + b] =
                    tdl_axpy33(e->Mqq[a + b], PRODUCT[a + b], tdl_tmul33(e->turn[b], turning));
            }
        }
    }
}

static void solve_columns(const Rod* rod, int count, double* X) {
    int n = rod->dof_count;
    tdl_cholesky_solve(n, matrix_of(rod), n, count, X, n);
}

// (c M + (dt tau + dt^2) K) v = momentum - dt K (q - q_rest), with c for drag. (C.13)
static bool predict(Rod* rod, const RodStep* step) {
    double dt = step->dt, tau = rod->damping, *A = matrix_of(rod), *v = rod->v_free;
    double factor = rod_mass_factor(rod, dt);
    int n = rod->dof_count;
    add_tension(rod, step);
    super_clothoid_momentum(rod, step, v);
    super_clothoid_add_elastic(rod, -dt, v);
    super_clothoid_mass(rod, A);
    for (size_t i = 0; i < (size_t)n * (size_t)n; ++i) {
        A[i] *= factor;
    }
    super_clothoid_add_stiffness(rod, dt * tau + dt * dt, A);
    if (tdl_cholesky(n, A, n) != n) {
        return false;
    }
    solve_columns(rod, 1, v);
    return held_end_predict(rod, step);
}

static void solve(const Rod* rod, double* x) {
    solve_columns(rod, 1, x);
}

static void advance(Rod* rod, const RodStep* step, const double* v) {
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->q_before[i] = rod->q[i];
        rod->v[i] = v[i];
        rod->q[i] += step->dt * v[i];
    }
    // a start that is not held goes its own way
    RodBase* base = &rod->base;
    base->before = base->now;
    base->rate = step->base_rate;
    base->now.rotation = rod->root_dofs >= 3 ? base->before.rotation : step->base_end.rotation;
    base->now.position = rod->root_dofs == 6 ? base->before.position : step->base_end.position;
    turn_root(rod, step->dt, v);
    rod->end = (RodBase){step->end_end, rod->end.now, step->end_rate};
    held_end_advance(rod, step);
    refresh(rod);
}

// a'Kb of an element, for changes a and b of its joints. (C.2)
static double bending_of(const Rod* rod, int i, const TdlVec3 a[2], const TdlVec3 b[2]) {
    TdlMat3 K3 =
        tdl_scale33(1.0 / (3.0 * rod->element_length), tdl_diag33(rod_element_stiffness(rod, i)));
    return tdl_dot3(a[0], tdl_mul33_3(K3, tdl_axpy3(b[0], 0.5, b[1]))) +
           tdl_dot3(a[1], tdl_mul33_3(K3, tdl_axpy3(b[1], 0.5, b[0])));
}

// v'Pv of an element. (H.33)
static void add_taut_losses(const ClothoidElement* e, double share, Twist at, const TdlVec3 d[2],
                            LossSum* sum) {
    if (e->taut > 0.0) {
        TdlMat3 P = tension_tensor(e->taut, e->span);
        TdlVec3 w = at.angular, a = tdl_mul33_3(e->turn[0], d[0]),
                b = tdl_mul33_3(e->turn[1], d[1]);
        TdlVec3 twice = tdl_axpy3(tdl_scale3(4.0 / 3.0, a), 2.0 / 3.0, b);
        sum->taut += share * tdl_dot3(w, tdl_mul33_3(P, tdl_add3(w, twice)));
        sum->taut +=
            share * tdl_dot3(a, tdl_mul33_3(P, tdl_axpy3(tdl_scale3(8.0 / 15.0, a), 0.6, b)));
        sum->taut += share * (0.2 * tdl_dot3(b, tdl_mul33_3(P, b)));
    }
}

// (H.27)
static RodLosses losses(const Rod* rod, const RodStep* step, const double* v, double touch) {
    Twist at = loss_root(rod, step, v);
    LossSum sum = {0};
    for (int i = 0; i < rod->element_count; ++i) {
        const ClothoidElement* e = &elements_of(rod)[i];
        const TdlVec3 d[2] = {tdl_load3(v, i), tdl_load3(v, i + 1)};
        const TdlVec3 strain[2] = {
            tdl_sub3(tdl_load3(rod->q, i), tdl_load3(rod->q_rest, i)),
            tdl_sub3(tdl_load3(rod->q, i + 1), tdl_load3(rod->q_rest, i + 1))};
        ClothoidLoad brought = add_brought(e, 1.0, (ClothoidLoad){0}), loads = {0}, torques = {0};
        add_point_loads(rod, i, 1.0, true, &loads);
        add_point_loads(rod, i, 1.0, false, &torques);
        double share = rod->share[i].mass;
        LossElement own = {.share = share, .h = e->h, .J = e->J};
        Twist end = {tdl_add3(at.linear, tdl_cross3(at.angular, e->span)), at.angular};
        for (int a = 0; a < 2; ++a) {
            own.linear = tdl_add3(own.linear, tdl_mul33_3(e->Bm[a], d[a]));
            own.angular = tdl_add3(own.angular, tdl_mul33_3(e->Hm[a], d[a]));
            own.square += tdl_dot3(d[a], tdl_mul33_3(e->Mqq[2 * a], d[a]));
            sum.brought += share * tdl_dot3(brought.generalised[a], d[a]);
            sum.pointing += tdl_dot3(loads.generalised[a], d[a]);
            sum.turning += tdl_dot3(torques.generalised[a], d[a]);
            end.linear = tdl_add3(end.linear, tdl_mul33_3(e->shift[a], d[a]));
            end.angular = tdl_add3(end.angular, tdl_mul33_3(e->turn[a], d[a]));
        }
        own.square += 2.0 * tdl_dot3(d[1], tdl_mul33_3(e->Mqq[1], d[0]));
        loss_add(&sum, at, &own);
        add_taut_losses(e, share, at, d, &sum);
        sum.brought += share * loss_power(at, brought.force, brought.moment);
        sum.carried = tdl_axpy3(sum.carried, share, brought.force);
        sum.pointing += loss_power(at, loads.force, loads.moment);
        sum.turning += loss_power(at, torques.force, torques.moment);
        sum.bending += bending_of(rod, i, d, d);
        sum.stress += bending_of(rod, i, d, strain);
        at = end;
    }
    RodLosses all = loss_total(rod, step, &sum, super_clothoid_energy(rod, (TdlVec3){0}).kinetic);
    return loss_without_contacts(rod, step, all, touch);
}

static void move(Rod* rod, const double* change) {
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->q[i] += change[i];
    }
    turn_root(rod, 1.0, change);
    refresh(rod);
}

static RodMomenta momenta(const Rod* rod, Twist at, const double* v) {
    RodMomenta sum = {0};
    for (int i = 0; i < rod->element_count; ++i) {
        double m = rod_element_density(rod, i) * rod->element_length;
        const ClothoidElement* e = &elements_of(rod)[i];
        TdlVec3 linear = {0}, angular = {0}, own = {0};
        TdlMat3 J = e->J;
        Twist end = {tdl_add3(at.linear, tdl_cross3(at.angular, e->span)), at.angular};
        for (int a = 0; a < 2; ++a) {
            TdlVec3 d = tdl_load3(v, i + a);
            linear = tdl_add3(linear, tdl_mul33_3(e->Bm[a], d));
            angular = tdl_add3(angular, tdl_mul33_3(e->Hm[a], d));
            end.linear = tdl_add3(end.linear, tdl_mul33_3(e->shift[a], d));
            TdlVec3 turn = tdl_mul33_3(e->turn[a], d);
            end.angular = tdl_add3(end.angular, turn);
            own = tdl_axpy3(own, a == 0 ? 4.0 / 3.0 : 2.0 / 3.0, turn); // twice the mean
        }
        tension_leave_out(e->taut, e->span, own, &J, &angular);
        TdlVec3 arm = tdl_sub3(e->start.position, rod->base.now.position);
        rod_momenta_add(&sum, arm, m, e->h, J, at, linear, angular);
        at = end;
    }
    return sum;
}

const RodModel SUPER_CLOTHOID = {
    .name = "super-clothoid",
    .dofs_per_element = 3,
    .reduced = true,
    .seats = TDL_SEATS_JOINTS,
    .extra_dofs = 3,
    .work_count = work_count,
    .set_curvature = rod_scale_curvature,
    .curvature = rod_unscale_curvature,
    .at_joints = true,
    .refresh = refresh,
    .expect = tension_expect,
    .predict = predict,
    .solve = solve,
    .solve_columns = solve_columns,
    .advance = advance,
    .losses = losses,
    .momenta = momenta,
    .curves = curves,
    .end_frame = end_frame,
    .end_turning = end_turning,
    .pose_at = pose_at,
    .local = local,
    .point = super_clothoid_point,
    .movers = movers,
    .jacobian = jacobian,
    .add_torques = add_torques,
    .energy = super_clothoid_energy,
    .move = move,
    .potential = super_clothoid_potential,
};
