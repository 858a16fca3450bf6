// The super-helix: curvature uniform on each element, clamped at the start. super-helix.md
//
// This is the dense path, the reference. A change of q_i moves everything beyond element i
// rigidly, so the mass matrix comes from mass, first and second moments accumulated from the tip
// (composite bodies), O(N^2) small operations; forces take one pass, O(N). The factorisation of A
// is O(N^3). Moments are taken about each element's own start, which keeps the digits of long rods.
//
// A step keeps the velocities of the material points, as they were found in the shape before, and
// projects that field on the motions of the present shape. A projection never adds kinetic energy,
// so inertia and elasticity together are stable for any time step. (H.18)
#include "rod/super_helix_element.h"

#include "math/dense.h"
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
    return wrench_of(rod) + 6 * (size_t)rod->element_count;
}

static size_t work_count(int dof_count, int element_count) {
    size_t n = (size_t)element_count, dofs = (size_t)dof_count;
    return n * ELEMENT_DOUBLES + 6 * n + dofs * dofs;
}

// --- geometry -------------------------------------------------------------------------------

// R m R'
static TdlMat3 rotate_tensor(TdlMat3 R, TdlMat3 m) {
    TdlMat3 Rm = tdl_mul33(R, m);
    return tdl_mul33(Rm, tdl_transpose33(R));
}

static double gyration_of(const Rod* rod, const Element* el) {
    return rod->share[el - elements_of(rod)].gyration * rod->gyration;
}

// Adds the spin of the sections to the inertia of an element, own axes. (H.24)
static void add_spin_inertia(double r2, const Element* el, HelixInertia* own) {
    own->J = tdl_axpy33(own->J, r2, tdl_outer3(el->way, el->way));
    own->Hm = tdl_axpy33(own->Hm, r2, tdl_outer3(el->way, el->mean));
    own->Mqq = tdl_axpy33(own->Mqq, r2, tdl_outer3(el->mean, el->mean));
    own->Mqq.cx.x += HELIX_TWIST_SHARE * r2;
}

static void refresh_element(const Rod* rod, Element* el, TdlPose start, TdlVec3 q) {
    double l = rod->element_length, r2 = gyration_of(rod, el);
    TdlMat3 R = start.rotation;
    el->start = start;
    el->axes = helix_axes(q);
    helix_gram(el->axes.y, &el->gram);
    helix_functions(el->axes.y, 1.0, el->end);

    // motion of the end
    el->way = helix_position(&el->axes, el->end);
    el->span = tdl_scale3(l, tdl_mul33_3(R, el->way));
    el->shift = tdl_scale33(l, tdl_mul33(R, helix_displacement(&el->axes, el->end)));
    el->turn = tdl_mul33(R, helix_rotation_rate(&el->axes, el->end));

    // inertia
    HelixInertia own;
    helix_inertia(&el->axes, &el->gram, &own);
    el->h = tdl_scale3(l, tdl_mul33_3(R, own.h));
    el->mean = own.h;
    own.J = tdl_scale33(l * l, own.J);
    own.Hm = tdl_scale33(l * l, own.Hm);
    own.Mqq = tdl_scale33(l * l, own.Mqq);
    add_spin_inertia(r2, el, &own);
    el->J = rotate_tensor(R, own.J);
    el->Bm = tdl_scale33(l, tdl_mul33(R, own.Bm));
    el->Hm = tdl_mul33(R, own.Hm);
    el->Mqq = own.Mqq;
    el->taut = 0.0;
}

// The frame after an element. Rounding accumulates over thousands of them: keep it a rotation.
static TdlMat3 next_frame(TdlMat3 frame, TdlVec3 q) {
    return tdl_rotation_nearest(tdl_mul33(frame, tdl_rotation_exp(q)));
}

// The velocities of an element in the shape before, from the motion of its start.
static void set_field(const Rod* rod, Element* el, const HelixAxes* axes, TdlMat3 R, Twist at,
                      TdlVec3 d) {
    TdlVec3 w = tdl_tmul33_3(R, at.angular);
    HelixGram gram;
    helix_gram(axes->y, &gram);
    double l = rod->held_state.stretch_before * rod->at_rest.element_length;
    helix_velocity(axes, l, tdl_tmul33_3(R, at.linear), w, d, el->field);
    el->y_before = axes->y;
    double end[HELIX_COUNT];
    helix_functions(axes->y, 1.0, end);
    el->spin = tdl_dot3(helix_position(axes, end), w) +
               tdl_dot3(helix_position(axes, gram.g[HELIX_ONE]), d);
    el->twist = d.x;
    el->field_square = gyration_of(rod, el) * (el->spin * el->spin + HELIX_TWIST_SHARE * d.x * d.x);
    for (int i = 0; i < HELIX_AKK; ++i) {
        for (int j = 0; j < HELIX_AKK; ++j) {
            el->field_square += gram.g[i][j] * tdl_dot3(el->field[i], el->field[j]);
        }
    }
    for (int i = 0; i < HELIX_AKK; ++i) {
        el->field[i] = tdl_mul33_3(R, el->field[i]);
    }
}

void super_helix_read_root(Rod* rod) {
    if (rod->root_dofs >= 3) {
        rod->base.rate.angular = tdl_load3(rod->v, rod->element_count);
    }
    if (rod->root_dofs == 6) {
        rod->base.rate.linear = tdl_load3(rod->v, rod->element_count + 1);
    }
}

static void refresh_fields(Rod* rod) {
    Element* el = elements_of(rod);
    double l = rod->held_state.stretch_before * rod->at_rest.element_length;
    Twist at = rod->base.rate;
    TdlMat3 R = rod->base.before.rotation;
    for (int i = 0; i < rod->element_count; ++i) {
        TdlVec3 q = tdl_load3(rod->q_before, i), d = tdl_load3(rod->v, i);
        HelixAxes axes = helix_axes(q);
        set_field(rod, &el[i], &axes, R, at, d);

        // motion of the end
        double f[HELIX_COUNT];
        helix_functions(axes.y, 1.0, f);
        TdlVec3 span = tdl_scale3(l, tdl_mul33_3(R, helix_position(&axes, f)));
        TdlVec3 slide = tdl_scale3(l, tdl_mul33_3(helix_displacement(&axes, f), d));
        TdlVec3 turn = tdl_mul33_3(helix_rotation_rate(&axes, f), d);
        at.linear = tdl_add3(at.linear, tdl_cross3(at.angular, span));
        at.linear = tdl_add3(at.linear, tdl_mul33_3(R, slide));
        at.angular = tdl_add3(at.angular, tdl_mul33_3(R, turn));
        R = next_frame(R, q);
    }
}

static void refresh(Rod* rod) {
    Element* el = elements_of(rod);
    super_helix_read_root(rod);
    TdlPose start = rod->base.now;
    for (int i = 0; i < rod->element_count; ++i) {
        TdlVec3 q = tdl_load3(rod->q, i);
        refresh_element(rod, &el[i], start, q);
        start.position = tdl_add3(start.position, el[i].span);
        start.rotation = next_frame(start.rotation, q);
    }
    refresh_fields(rod);
}

static TdlVec3 end_point(const Element* el) {
    return tdl_add3(el->start.position, el->span);
}

void super_helix_store_turning(const Rod* rod, int i, TdlMat3 turn, double* rows) {
    TdlMat3 by_rows = tdl_transpose33(turn);
    int n = rod->dof_count;
    tdl_store3(rows, i, by_rows.cx);
    tdl_store3(rows + n, i, by_rows.cy);
    tdl_store3(rows + 2 * (size_t)n, i, by_rows.cz);
}

static TdlMat3 end_frame(const Rod* rod) {
    const Element* last = &elements_of(rod)[rod->element_count - 1];
    return next_frame(last->start.rotation, last->axes.q);
}

TdlPose super_helix_pose_at(const Rod* rod, const double* q, TdlPose start, double l, int element,
                            double s) {
    (void)rod;
    for (int i = 0; i <= element; ++i) {
        HelixAxes axes = helix_axes(tdl_load3(q, i));
        double f[HELIX_COUNT], to = i < element ? 1.0 : s;
        helix_functions(axes.y, to, f);
        TdlVec3 span = tdl_mul33_3(start.rotation, helix_position(&axes, f));
        start.position = tdl_axpy3(start.position, l, span);
        start.rotation = next_frame(start.rotation, tdl_scale3(to, axes.q));
    }
    return start;
}

void super_helix_local(const double* q, const double* d, double s, RodLocal* out) {
    HelixAxes axes = helix_axes(tdl_load3(q, 0));
    TdlVec3 rate = tdl_load3(d, 0);
    double f[HELIX_COUNT];
    helix_functions(axes.y, s, f);
    *out = (RodLocal){.position = helix_position(&axes, f),
                      .linear = tdl_mul33_3(helix_displacement(&axes, f), rate),
                      .angular = tdl_mul33_3(helix_rotation_rate(&axes, f), rate),
                      .rotation = tdl_rotation_exp(tdl_scale3(s, axes.q))};
}

static void end_turning(const Rod* rod, double* rows) {
    int n = rod->dof_count;
    memset(rows, 0, 3 * (size_t)n * sizeof *rows);
    for (int i = 0; i < rod->element_count; ++i) {
        super_helix_store_turning(rod, i, elements_of(rod)[i].turn, rows);
    }
    if (rod->root_dofs >= 3) {
        super_helix_store_turning(rod, rod->element_count, tdl_identity33(), rows);
    }
}

static void curves(const Rod* rod, RodCurve* out) {
    const Element* el = elements_of(rod);
    double l = rod->element_length;
    for (int i = 0; i < rod->element_count; ++i) {
        TdlVec3 kappa = tdl_scale3(1.0 / l, el[i].axes.q);
        out[i] = (RodCurve){el[i].start, kappa, l, kappa};
    }
}

static TdlVec3 point(const Rod* rod, int element, double s) {
    const Element* el = &elements_of(rod)[element];
    double f[HELIX_COUNT];
    helix_functions(el->axes.y, s, f);
    TdlVec3 p = tdl_mul33_3(el->start.rotation, helix_position(&el->axes, f));
    return tdl_axpy3(el->start.position, rod->element_length, p);
}

void super_helix_store_root(const Rod* rod, TdlVec3 force, TdlVec3 moment, double* row) {
    if (rod->root_dofs >= 3) {
        tdl_store3(row, rod->element_count, moment);
    }
    if (rod->root_dofs == 6) {
        tdl_store3(row, rod->element_count + 1, force);
    }
}

TdlSpan super_helix_movers(const Rod* rod, int element) {
    bool first_ones = rod->root_dofs == 0 && rod->parent == NULL;
    return (TdlSpan){0, first_ones ? 3 * (element + 1) : rod->tree_dofs};
}

void super_helix_add_torque(double* row, int i, TdlMat3 turn, TdlVec3 torque) {
    tdl_store3(row, i, tdl_add3(tdl_load3(row, i), tdl_tmul33_3(turn, torque)));
}

static void jacobian(const Rod* rod, int element, double s, TdlMat3 basis, double* rows) {
    size_t n = (size_t)super_helix_movers(rod, element).count;
    const Element* el = elements_of(rod);
    TdlVec3 x = point(rod, element, s), force[3] = {basis.cx, basis.cy, basis.cz};
    double f[HELIX_COUNT];
    helix_functions(el[element].axes.y, s, f);
    TdlMat3 B = helix_displacement(&el[element].axes, f);
    for (int k = 0; k < 3; ++k) {
        double* row = rows + (size_t)k * n;
        memset(row, 0, n * sizeof *row);
        for (int i = 0; i < element; ++i) {
            TdlVec3 moment = tdl_cross3(tdl_sub3(x, end_point(&el[i])), force[k]);
            tdl_store3(
                row, i,
                tdl_add3(tdl_tmul33_3(el[i].shift, force[k]), tdl_tmul33_3(el[i].turn, moment)));
        }
        TdlVec3 own = tdl_tmul33_3(el[element].start.rotation, force[k]);
        tdl_store3(row, element, tdl_scale3(rod->element_length, tdl_tmul33_3(B, own)));
        super_helix_store_root(rod, force[k],
                               tdl_cross3(tdl_sub3(x, rod->base.now.position), force[k]), row);
    }
}

static void add_torques(const Rod* rod, int element, double s, const TdlVec3 torque[3],
                        double* rows) {
    size_t n = (size_t)super_helix_movers(rod, element).count;
    const Element* el = elements_of(rod);
    double f[HELIX_COUNT];
    helix_functions(el[element].axes.y, s, f);
    TdlMat3 own = tdl_mul33(el[element].start.rotation, helix_rotation_rate(&el[element].axes, f));
    for (int k = 0; k < 3; ++k) {
        double* row = rows + (size_t)k * n;
        for (int i = 0; i <= element; ++i) {
            super_helix_add_torque(row, i, i < element ? el[i].turn : own, torque[k]);
        }
        if (rod->root_dofs >= 3) {
            super_helix_add_torque(row, rod->element_count, tdl_identity33(), torque[k]);
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

// Writes block (i, j) of the lower triangle: entry (r, c) at row 3i + r, column 3j + c.
void helix_store_block(double* A, int n, int i, int j, TdlMat3 block) {
    TdlVec3 column[3] = {block.cx, block.cy, block.cz};
    for (int c = 0; c < 3; ++c) {
        tdl_store3(A + (size_t)(3 * j + c) * (size_t)n + 3 * (size_t)i, 0, column[c]);
    }
}

// Rows of a root that turns, and of one that also moves.
static void store_root_mass(const Rod* rod, Moments all, double* A) {
    int n = rod->element_count, dofs = rod->dof_count;
    if (rod->root_dofs >= 3) {
        helix_store_block(A, dofs, n, n, all.J);
    }
    if (rod->root_dofs == 6) {
        helix_store_block(A, dofs, n + 1, n, tdl_skew3(tdl_scale3(-1.0, all.h)));
        helix_store_block(A, dofs, n + 1, n + 1, tdl_scale33(all.m, tdl_identity33()));
    }
}

// Tip to root.
void super_helix_mass(const Rod* rod, double* A) {
    const Element* el = elements_of(rod);
    double l = rod->element_length;
    Moments beyond = {0};
    for (int i = rod->element_count - 1; i >= 0; --i) {
        const Element* e = &el[i];
        double m = rod_element_density(rod, i) * l;

        // momentum of what lies beyond for a rate of q_i, about the element's end
        TdlMat3 linear =
            tdl_sub33(tdl_scale33(beyond.m, e->shift), tdl_mul33(tdl_skew3(beyond.h), e->turn));
        TdlMat3 angular =
            tdl_add33(tdl_mul33(tdl_skew3(beyond.h), e->shift), tdl_mul33(beyond.J, e->turn));
        TdlMat3 block = tdl_add33(tdl_tmul33(e->shift, linear), tdl_tmul33(e->turn, angular));
        helix_store_block(A, rod->dof_count, i, i, tdl_axpy33(block, m, e->Mqq));

        // the same about its start, with the element's own share; then down to the root
        angular = tdl_add33(angular, tdl_mul33(tdl_skew3(e->span), linear));
        linear = tdl_axpy33(linear, m, e->Bm);
        angular = tdl_axpy33(angular, m, e->Hm);
        for (int j = i - 1; j >= 0; --j) {
            const Element* below = &el[j];
            block = tdl_add33(tdl_tmul33(linear, below->shift), tdl_tmul33(angular, below->turn));
            helix_store_block(A, rod->dof_count, i, j, block);
            angular = tdl_add33(angular, tdl_mul33(tdl_skew3(below->span), linear));
        }
        if (rod->root_dofs >= 3) {
            helix_store_block(A, rod->dof_count, rod->element_count, i, angular);
        }
        if (rod->root_dofs == 6) {
            helix_store_block(A, rod->dof_count, rod->element_count + 1, i, linear);
        }
        beyond = shift_moments(beyond, e->span);
        beyond.m += m;
        beyond.h = tdl_axpy3(beyond.h, m, e->h);
        beyond.J = tdl_axpy33(beyond.J, m, e->J);
    }
    store_root_mass(rod, beyond, A);
}

// --- gravity and velocity products ----------------------------------------------------------

// Motion of the end of an element from that of its start. (H.14)
static HelixMotion carry_motion(const Element* e, double l, HelixMotion motion, TdlVec3 d) {
    TdlMat3 R = e->start.rotation;
    TdlVec3 turn = tdl_mul33_3(e->turn, d), slide = tdl_mul33_3(e->shift, d);
    TdlVec3 second = tdl_scale3(l, tdl_mul33_3(R, helix_second(&e->axes, e->end, d, d)));
    TdlVec3 turn_rate = tdl_mul33_3(R, helix_rotation_second(&e->axes, e->end, d, d));
    TdlVec3 swing = tdl_axpy3(tdl_cross3(motion.w, e->span), 2.0, slide);
    HelixMotion out;
    out.a = tdl_add3(motion.a, tdl_cross3(motion.alpha, e->span));
    out.a = tdl_add3(out.a, tdl_add3(tdl_cross3(motion.w, swing), second));
    out.alpha = tdl_add3(tdl_add3(motion.alpha, tdl_cross3(motion.w, turn)), turn_rate);
    out.w = tdl_add3(motion.w, turn);
    out.d = (TdlVec3){0};
    return out;
}

// Sums loads from the tip: what element i has to bear is its own generalised share, and the force
// and moment of all beyond through the motion of its end. `wrench` holds each element's force and
// moment about its start, and receives those of the whole rod in the place of the first; branches
// were asked before. out holds the own shares on entry. (H.14)
void helix_gather_loads(const Rod* rod, double* wrench, double* out) {
    const Element* el = elements_of(rod);
    TdlVec3 force = {0}, moment = {0};
    for (int i = rod->element_count - 1; i >= 0; --i) {
        for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
            if (branch->parent_element == i) {
                force = tdl_add3(force, tdl_load3(wrench_of(branch), 0));
                moment = tdl_add3(moment, tdl_load3(wrench_of(branch), 1));
            }
        }
        TdlVec3 from_beyond =
            tdl_add3(tdl_tmul33_3(el[i].shift, force), tdl_tmul33_3(el[i].turn, moment));
        tdl_store3(out, i, tdl_add3(tdl_load3(out, i), from_beyond));
        moment = tdl_add3(moment, tdl_cross3(el[i].span, force));
        force = tdl_add3(force, tdl_load3(wrench, 2 * i));
        moment = tdl_add3(moment, tdl_load3(wrench, 2 * i + 1));
    }
    tdl_store3(wrench, 0, force);
    tdl_store3(wrench, 1, moment);
    super_helix_store_root(rod, force, moment, out);
}

// Puts an element's load, said in its own axes, in its places.
void helix_store_load(const Element* el, int i, double m, HelixLoad load, double* wrench,
                      double* out) {
    TdlMat3 R = el->start.rotation;
    tdl_store3(wrench, 2 * i, tdl_scale3(m, tdl_mul33_3(R, load.force)));
    tdl_store3(wrench, 2 * i + 1, tdl_scale3(m, tdl_mul33_3(R, load.moment)));
    tdl_store3(out, i, tdl_scale3(m, load.generalised));
}

HelixLoad super_helix_point_load(TdlVec3 q, TdlMat3 R, double l, const RodLoad* load) {
    HelixAxes axes = helix_axes(q);
    double f[HELIX_COUNT];
    helix_functions(axes.y, load->s, f);
    TdlVec3 own_force = tdl_tmul33_3(R, load->force), own_torque = tdl_tmul33_3(R, load->torque);
    TdlVec3 arm = tdl_scale3(l, tdl_mul33_3(R, helix_position(&axes, f)));
    TdlVec3 slide = tdl_scale3(l, tdl_tmul33_3(helix_displacement(&axes, f), own_force));
    TdlVec3 turn = tdl_tmul33_3(helix_rotation_rate(&axes, f), own_torque);
    return (HelixLoad){load->force, tdl_add3(load->torque, tdl_cross3(arm, load->force)),
                       tdl_add3(slide, turn)};
}

// Adds `scale` times the point loads. (H.23)
void helix_add_point_loads(const Rod* rod, double scale, double* wrench, double* out) {
    const Element* el = elements_of(rod);
    for (int k = 0; k < rod->load_count; ++k) {
        const RodLoad* load = &rod->loads[k];
        int i = load->element;
        HelixLoad own =
            super_helix_point_load(el[i].axes.q, el[i].start.rotation, rod->element_length, load);
        tdl_store3(out, i, tdl_axpy3(tdl_load3(out, i), scale, own.generalised));
        tdl_store3(wrench, 2 * i, tdl_axpy3(tdl_load3(wrench, 2 * i), scale, own.force));
        tdl_store3(wrench, 2 * i + 1, tdl_axpy3(tdl_load3(wrench, 2 * i + 1), scale, own.moment));
    }
}

// The load of the spin for a motion without accelerations of q, own axes. (H.26)
static void add_spin_bias(const Rod* rod, const Element* el, const HelixMotion* m,
                          HelixLoad* load) {
    double l = rod->element_length, r2 = gyration_of(rod, el);
    TdlMat3 R = el->start.rotation;
    TdlMat3 B = helix_displacement(&el->axes, el->end);
    TdlMat3 Bm = tdl_scale33(1.0 / l, tdl_tmul33(R, el->Bm));
    TdlVec3 ahead = tdl_mul33_3(B, m->d), mean_rate = tdl_mul33_3(Bm, m->d);
    double spin = tdl_dot3(el->way, m->w) + tdl_dot3(el->mean, m->d);
    double rate = tdl_dot3(ahead, m->w) + tdl_dot3(el->way, m->alpha) + tdl_dot3(mean_rate, m->d);
    TdlVec3 swung = tdl_add3(tdl_cross3(m->w, el->way), ahead);
    TdlVec3 bent = tdl_sub3(mean_rate, tdl_tmul33_3(Bm, m->d));
    bent = tdl_sub3(bent, tdl_tmul33_3(B, m->w));
    load->moment = tdl_axpy3(load->moment, r2 * rate, el->way);
    load->moment = tdl_axpy3(load->moment, r2 * spin, swung);
    load->generalised = tdl_axpy3(load->generalised, r2 * rate, el->mean);
    load->generalised = tdl_axpy3(load->generalised, r2 * spin, bent);
}

void super_helix_bias(const Rod* rod, HelixMotion root, const double* v, double* out) {
    const Element* el = elements_of(rod);
    double l = rod->element_length, *wrench = wrench_of(rod);
    HelixMotion motion = root;
    for (int i = 0; i < rod->element_count; ++i) {
        TdlMat3 R = el[i].start.rotation;
        TdlVec3 d = v == NULL ? (TdlVec3){0} : tdl_load3(v, i);
        HelixMotion local = {tdl_tmul33_3(R, motion.w), tdl_tmul33_3(R, motion.alpha),
                             tdl_tmul33_3(R, motion.a), d};
        HelixLoad load = helix_bias(&el[i].axes, &el[i].gram, l, &local);
        add_spin_bias(rod, &el[i], &local, &load);
        helix_store_load(&el[i], i, rod_element_density(rod, i) * l, load, wrench, out);
        motion = carry_motion(&el[i], l, motion, d);
    }
    helix_gather_loads(rod, wrench, out);
}

// --- the step -------------------------------------------------------------------------------

// Load, in the element's own axes, of the velocities it brings along, less those of the rigid
// motion `base` of its present shape. (H.19)
static HelixLoad momentum_load(const Rod* rod, const Element* el, Twist base) {
    double l = rod->element_length, r2 = gyration_of(rod, el);
    TdlMat3 R = el->start.rotation;
    TdlVec3 P[HELIX_AKK], brought[HELIX_AKK], given[HELIX_AKK];
    HelixGram mixed;
    helix_mixed_gram(el->axes.y, el->y_before, &mixed);
    TdlVec3 w = tdl_tmul33_3(R, base.angular);
    helix_velocity(&el->axes, l, tdl_tmul33_3(R, base.linear), w, (TdlVec3){0}, given);
    for (int k = 0; k < HELIX_AKK; ++k) {
        brought[k] = tdl_tmul33_3(R, el->field[k]);
    }
    for (int f = 0; f < HELIX_AKK; ++f) {
        P[f] = (TdlVec3){0};
        for (int k = 0; k < HELIX_AKK; ++k) {
            P[f] = tdl_axpy3(P[f], mixed.g[f][k], brought[k]);
            P[f] = tdl_axpy3(P[f], -el->gram.g[f][k], given[k]);
        }
    }
    HelixLoad load = helix_load(&el->axes, l, P);
    double spin = r2 * (el->spin - tdl_dot3(el->way, w));
    load.moment = tdl_axpy3(load.moment, spin, el->way); // (H.25)
    load.generalised = tdl_axpy3(load.generalised, spin, el->mean);
    load.generalised.x += HELIX_TWIST_SHARE * r2 * el->twist;
    if (el->taut > 0.0) {
        TdlVec3 resists = tdl_mul33_3(tension_tensor(el->taut, el->span), base.angular);
        load.moment = tdl_sub3(load.moment, tdl_tmul33_3(R, resists));
        load.generalised = tdl_axpy3(load.generalised, -0.5, tdl_tmul33_3(el->turn, resists));
    }
    return load;
}

void super_helix_momentum(const Rod* rod, const RodStep* step, double* out) {
    const Element* el = elements_of(rod);
    double l = rod->element_length, *wrench = wrench_of(rod);
    double factor = rod_mass_factor(rod, step->dt);
    TdlVec3 gain = tdl_scale3(step->dt, rod_pull(rod, step));
    for (int i = 0; i < rod->element_count; ++i) {
        TdlVec3 arm = tdl_sub3(el[i].start.position, rod->base.now.position);
        Twist base = {tdl_scale3(factor, step->base_rate.linear),
                      tdl_scale3(factor, step->base_rate.angular)};
        base.linear = tdl_add3(base.linear, tdl_cross3(base.angular, arm));
        base.linear = tdl_sub3(base.linear, gain);
        double m = rod_element_density(rod, i) * l;
        helix_store_load(&el[i], i, m, momentum_load(rod, &el[i], base), wrench, out);
    }
    helix_add_point_loads(rod, step->dt, wrench, out);
    helix_gather_loads(rod, wrench, out);
}

static TdlVec3 chord(const Rod* rod, int element) {
    return elements_of(rod)[element].span;
}

// (H.33)
static void add_tension(Rod* rod, const RodStep* step) {
    double* p = rod->v_free; // not yet in use
    rod->taut = tension_find(rod, step, chord, p);
    if (!rod->taut) {
        return;
    }
    for (int i = 0; i < rod->element_count; ++i) {
        Element* e = &elements_of(rod)[i];
        TdlMat3 P = tension_tensor(p[i], e->span), turning = tdl_mul33(P, e->turn);
        e->J = tdl_add33(e->J, P);
        e->Hm = tdl_axpy33(e->Hm, 0.5, turning);
        e->Mqq = tdl_axpy33(e->Mqq, 1.0 / 3.0, tdl_tmul33(e->turn, turning));
        e->taut = p[i];
    }
}

static void solve_columns(const Rod* rod, int count, double* X) {
    int n = rod->dof_count;
    tdl_cholesky_solve(n, matrix_of(rod), n, count, X, n);
}

// (c M + (dt tau + dt^2) K) v = momentum - dt K (q - q_rest), with c for drag. (H.18), (H.22)
static bool predict(Rod* rod, const RodStep* step) {
    double dt = step->dt, tau = rod->damping, *A = matrix_of(rod), *v = rod->v_free;
    int n = rod->dof_count;
    add_tension(rod, step);
    super_helix_momentum(rod, step, v);
    super_helix_mass(rod, A);
    double factor = rod_mass_factor(rod, dt);
    for (size_t i = 0; i < (size_t)n * (size_t)n; ++i) {
        A[i] *= factor;
    }
    for (int i = 0; i < 3 * rod->element_count; ++i) {
        double k = helix_stiffness(rod, i) / rod->element_length;
        A[(size_t)i * (size_t)n + (size_t)i] += (dt * tau + dt * dt) * k;
        v[i] -= dt * k * (rod->q[i] - rod->q_rest[i]);
    }
    if (tdl_cholesky(n, A, n) != n) {
        return false;
    }
    tdl_cholesky_solve(n, A, n, 1, v, n);
    return held_end_predict(rod, step);
}

static void solve(const Rod* rod, double* x) {
    solve_columns(rod, 1, x);
}

void super_helix_move_root(Rod* rod, const RodStep* step) {
    rod->base.before = rod->base.now;
    rod->base.now = step->base_end;
    rod->base.rate = step->base_rate;
    super_helix_read_root(rod);
    TdlPose before = rod->base.before;
    if (rod->root_dofs >= 3) {
        TdlVec3 turn = tdl_scale3(step->dt, rod->base.rate.angular);
        rod->base.now.rotation =
            tdl_rotation_nearest(tdl_mul33(tdl_rotation_exp(turn), before.rotation));
    }
    if (rod->root_dofs == 6) {
        rod->base.now.position = tdl_axpy3(before.position, step->dt, rod->base.rate.linear);
    }
    rod->end.before = rod->end.now;
    rod->end.now = step->end_end;
    rod->end.rate = step->end_rate;
}

void super_helix_turn_root(Rod* rod, const double* change) {
    int n = rod->element_count;
    if (rod->root_dofs >= 3) {
        TdlMat3 turned = tdl_mul33(tdl_rotation_exp(tdl_load3(change, n)), rod->base.now.rotation);
        rod->base.now.rotation = tdl_rotation_nearest(turned);
    }
    if (rod->root_dofs == 6) {
        rod->base.now.position = tdl_add3(rod->base.now.position, tdl_load3(change, n + 1));
    }
}

// Brings the branches of a tree to where their parents carry them.
static void place_branches(Rod* rod) {
    for (Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        const Element* e = &elements_of(rod)[branch->parent_element];
        TdlMat3 frame = next_frame(e->start.rotation, e->axes.q);
        branch->base.now = branch->base.before =
            (TdlPose){end_point(e), tdl_mul33(frame, branch->mount)};
        refresh(branch);
        place_branches(branch);
    }
}

static void add_change(Rod* rod, const double* change) {
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->q[i] += change[rod->tree_first + i];
    }
    for (Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        add_change(branch, change);
    }
}

static void move(Rod* rod, const double* change) {
    add_change(rod, change);
    super_helix_turn_root(rod, change);
    refresh(rod);
    place_branches(rod);
}

static void advance(Rod* rod, const RodStep* step, const double* v) {
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->q_before[i] = rod->q[i];
        rod->v[i] = v[i];
        rod->q[i] += step->dt * v[i];
    }
    super_helix_move_root(rod, step);
    held_end_advance(rod, step);
    refresh(rod);
}

// --- energies -------------------------------------------------------------------------------

double helix_elastic_energy(const Rod* rod) {
    double sum = 0.0;
    for (int i = 0; i < 3 * rod->element_count; ++i) {
        double strain = rod->q[i] - rod->q_rest[i];
        sum += helix_stiffness(rod, i) * strain * strain;
    }
    return 0.5 * sum / rod->element_length;
}

double helix_gravity_energy(const Rod* rod, TdlVec3 gravity) {
    const Element* el = elements_of(rod);
    double height = 0.0, m = rod->line_density * rod->element_length;
    for (int i = 0; i < rod->element_count; ++i) {
        double up = -tdl_dot3(gravity, tdl_add3(el[i].start.position, el[i].h));
        height += rod->share[i].mass * up;
    }
    return m * height;
}

static TdlEnergy energy(const Rod* rod, TdlVec3 gravity) {
    const Element* el = elements_of(rod);
    double square = 0.0, m = rod->line_density * rod->element_length;
    for (int i = 0; i < rod->element_count; ++i) {
        square += rod->share[i].mass * el[i].field_square;
    }
    return (TdlEnergy){0.5 * m * square, helix_elastic_energy(rod),
                       helix_gravity_energy(rod, gravity) + rod_load_energy(rod)};
}

void super_helix_load_power(TdlVec3 q, TdlMat3 R, double l, const RodLoad* load, Twist at,
                            TdlVec3 d, LossSum* sum) {
    RodLoad torque = *load;
    torque.force = load->given ? load->force : (TdlVec3){0};
    HelixLoad all = super_helix_point_load(q, R, l, load);
    HelixLoad turning = super_helix_point_load(q, R, l, &torque);
    sum->pointing += loss_power(at, all.force, all.moment) + tdl_dot3(all.generalised, d);
    sum->turning +=
        loss_power(at, turning.force, turning.moment) + tdl_dot3(turning.generalised, d);
}

static void add_load_power(const Rod* rod, int element, Twist at, TdlVec3 d, LossSum* sum) {
    const Element* e = &elements_of(rod)[element];
    for (int k = 0; k < rod->load_count; ++k) {
        if (rod->loads[k].element == element) {
            super_helix_load_power(e->axes.q, e->start.rotation, rod->element_length,
                                   &rod->loads[k], at, d, sum);
        }
    }
}

// (H.27)
static RodLosses losses(const Rod* rod, const RodStep* step, const double* v, double touch) {
    Twist at = loss_root(rod, step, v);
    LossSum sum = {0};
    for (int i = 0; i < rod->element_count; ++i) {
        const Element* e = &elements_of(rod)[i];
        TdlVec3 d = tdl_load3(v, i);
        TdlVec3 K3 = tdl_scale3(1.0 / rod->element_length, rod_element_stiffness(rod, i));
        double share = rod->share[i].mass;
        LossElement own = {share,
                           e->h,
                           e->J,
                           tdl_mul33_3(e->Bm, d),
                           tdl_mul33_3(e->Hm, d),
                           tdl_dot3(d, tdl_mul33_3(e->Mqq, d))};
        loss_add(&sum, at, &own);
        loss_add_tension(&sum, share, e->taut, e->span, at, tdl_mul33_3(e->turn, d));
        HelixLoad brought = momentum_load(rod, e, (Twist){0});
        TdlMat3 R = e->start.rotation;
        sum.brought +=
            share * loss_power(at, tdl_mul33_3(R, brought.force), tdl_mul33_3(R, brought.moment));
        sum.brought += share * tdl_dot3(brought.generalised, d);
        sum.carried = tdl_axpy3(sum.carried, share, tdl_mul33_3(R, brought.force));
        sum.bending += tdl_dot3(d, tdl_mul33_3(tdl_diag33(K3), d));
        TdlVec3 strain = tdl_sub3(e->axes.q, tdl_load3(rod->q_rest, i));
        sum.stress += tdl_dot3(d, tdl_mul33_3(tdl_diag33(K3), strain));
        add_load_power(rod, i, at, d, &sum);
        at.linear = tdl_add3(at.linear, tdl_cross3(at.angular, e->span));
        at.linear = tdl_add3(at.linear, tdl_mul33_3(e->shift, d));
        at.angular = tdl_add3(at.angular, tdl_mul33_3(e->turn, d));
    }
    RodLosses all = loss_total(rod, step, &sum, energy(rod, (TdlVec3){0}).kinetic);
    return loss_without_contacts(rod, step, all, touch);
}

static RodMomenta momenta(const Rod* rod, Twist at, const double* v) {
    RodMomenta sum = {0};
    for (int i = 0; i < rod->element_count; ++i) {
        double m = rod_element_density(rod, i) * rod->element_length;
        const Element* e = &elements_of(rod)[i];
        TdlVec3 d = tdl_load3(v, i), arm = tdl_sub3(e->start.position, rod->base.now.position);
        TdlVec3 angular = tdl_mul33_3(e->Hm, d);
        TdlMat3 J = e->J;
        tension_leave_out(e->taut, e->span, tdl_mul33_3(e->turn, d), &J, &angular);
        rod_momenta_add(&sum, arm, m, e->h, J, at, tdl_mul33_3(e->Bm, d), angular);
        at.linear = tdl_add3(at.linear, tdl_cross3(at.angular, e->span));
        at.linear = tdl_add3(at.linear, tdl_mul33_3(e->shift, d));
        at.angular = tdl_add3(at.angular, tdl_mul33_3(e->turn, d));
    }
    return sum;
}

const RodModel SUPER_HELIX_DENSE = {
    .name = "super-helix-dense",
    .dofs_per_element = 3,
    .reduced = true,
    .seats = TDL_SEATS_MIDDLES,
    .work_count = work_count,
    .set_curvature = rod_scale_curvature,
    .curvature = rod_unscale_curvature,
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
    .pose_at = super_helix_pose_at,
    .local = super_helix_local,
    .mean_spin = true,
    .point = point,
    .movers = super_helix_movers,
    .jacobian = jacobian,
    .add_torques = add_torques,
    .energy = energy,
    .move = move,
    .potential = super_helix_potential,
};
