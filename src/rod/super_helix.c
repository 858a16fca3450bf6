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
#include "rod/super_helix.h"

#include "math/dense.h"

#include <string.h>

// What is kept of an element; vectors and matrices in world axes unless said otherwise.
typedef struct Element {
    HelixAxes axes; // own axes
    HelixGram gram;
    TdlPose start;
    TdlVec3 span;            // from start to end
    TdlMat3 shift, turn;     // S = [shift; turn]: motion of the end for a change of q
    TdlVec3 h;               // first moment about the start, for unit mass
    TdlMat3 J;               // second moment, for unit mass
    TdlMat3 Bm, Hm;          // momentum and its moment for a rate of q, for unit mass
    TdlMat3 Mqq;             //
    double end[HELIX_COUNT]; // the scalar functions at s = 1

    // the velocities, in the shape they were found in: sum of field[f] f(s) at y_before (H.10)
    TdlVec3 field[HELIX_AKK];
    double y_before;
    double field_square; // mean of |velocity|^2
} Element;

// A rigid body: mass, first and second moments about a point.
typedef struct Moments {
    double m;
    TdlVec3 h;
    TdlMat3 J;
} Moments;

enum { ELEMENT_DOUBLES = (sizeof(Element) + sizeof(double) - 1) / sizeof(double) };

// work: elements; force and moment of each (scratch of super_helix_bias); A in columns
static Element* elements_of(const Rod* rod) {
    return (Element*)rod->work;
}

static double* wrench_of(const Rod* rod) {
    return rod->work + (size_t)rod->element_count * ELEMENT_DOUBLES;
}

static double* matrix_of(const Rod* rod) {
    return wrench_of(rod) + 6 * (size_t)rod->element_count;
}

static size_t work_count(int element_count) {
    size_t n = (size_t)element_count, dofs = 3 * n;
    return n * ELEMENT_DOUBLES + 6 * n + dofs * dofs;
}

static void set_curvature(const Rod* rod, const TdlVec3* kappa, double* q) {
    for (int i = 0; i < rod->element_count; ++i) {
        tdl_store3(q, i, tdl_scale3(rod->element_length, kappa[i]));
    }
}

// --- geometry -------------------------------------------------------------------------------

// R m R'
static TdlMat3 rotate_tensor(TdlMat3 R, TdlMat3 m) {
    TdlMat3 Rm = tdl_mul33(R, m);
    return tdl_mul33(Rm, tdl_transpose33(R));
}

static void refresh_element(Element* el, TdlPose start, TdlVec3 q, double l) {
    TdlMat3 R = start.rotation;
    el->start = start;
    el->axes = helix_axes(q);
    helix_gram(el->axes.y, &el->gram);
    helix_functions(el->axes.y, 1.0, el->end);

    // motion of the end
    el->span = tdl_scale3(l, tdl_mul33_3(R, helix_position(&el->axes, el->end)));
    el->shift = tdl_scale33(l, tdl_mul33(R, helix_displacement(&el->axes, el->end)));
    el->turn = tdl_mul33(R, helix_rotation_rate(&el->axes, el->end));

    // inertia
    HelixInertia own;
    helix_inertia(&el->axes, &el->gram, &own);
    el->h = tdl_scale3(l, tdl_mul33_3(R, own.h));
    el->J = tdl_scale33(l * l, rotate_tensor(R, own.J));
    el->Bm = tdl_scale33(l, tdl_mul33(R, own.Bm));
    el->Hm = tdl_scale33(l * l, tdl_mul33(R, own.Hm));
    el->Mqq = tdl_scale33(l * l, own.Mqq);
}

// The frame after an element. Rounding accumulates over thousands of them: keep it a rotation.
static TdlMat3 next_frame(TdlMat3 frame, TdlVec3 q) {
    return tdl_rotation_nearest(tdl_mul33(frame, tdl_rotation_exp(q)));
}

// The velocities of an element in the shape before, from the motion of its start.
static void set_field(Element* el, const HelixAxes* axes, TdlMat3 R, double l, Twist at,
                      TdlVec3 d) {
    HelixGram gram;
    helix_gram(axes->y, &gram);
    helix_velocity(axes, l, tdl_tmul33_3(R, at.linear), tdl_tmul33_3(R, at.angular), d, el->field);
    el->y_before = axes->y;
    el->field_square = 0.0;
    for (int i = 0; i < HELIX_AKK; ++i) {
        for (int j = 0; j < HELIX_AKK; ++j) {
            el->field_square += gram.g[i][j] * tdl_dot3(el->field[i], el->field[j]);
        }
    }
    for (int i = 0; i < HELIX_AKK; ++i) {
        el->field[i] = tdl_mul33_3(R, el->field[i]);
    }
}

static void refresh_fields(Rod* rod) {
    Element* el = elements_of(rod);
    double l = rod->element_length;
    Twist at = rod->base.rate;
    TdlMat3 R = rod->base.before.rotation;
    for (int i = 0; i < rod->element_count; ++i) {
        TdlVec3 q = tdl_load3(rod->q_before, i), d = tdl_load3(rod->v, i);
        HelixAxes axes = helix_axes(q);
        set_field(&el[i], &axes, R, l, at, d);

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
    TdlPose start = rod->base.now;
    for (int i = 0; i < rod->element_count; ++i) {
        TdlVec3 q = tdl_load3(rod->q, i);
        refresh_element(&el[i], start, q, rod->element_length);
        start.position = tdl_add3(start.position, el[i].span);
        start.rotation = next_frame(start.rotation, q);
    }
    refresh_fields(rod);
}

static TdlVec3 end_point(const Element* el) {
    return tdl_add3(el->start.position, el->span);
}

static void curves(const Rod* rod, RodCurve* out) {
    const Element* el = elements_of(rod);
    double l = rod->element_length;
    for (int i = 0; i < rod->element_count; ++i) {
        out[i] = (RodCurve){el[i].start, tdl_scale3(1.0 / l, el[i].axes.q), l};
    }
}

static TdlVec3 point(const Rod* rod, int element, double s) {
    const Element* el = &elements_of(rod)[element];
    double f[HELIX_COUNT];
    helix_functions(el->axes.y, s, f);
    TdlVec3 p = tdl_mul33_3(el->start.rotation, helix_position(&el->axes, f));
    return tdl_axpy3(el->start.position, rod->element_length, p);
}

static void jacobian(const Rod* rod, int element, double s, TdlMat3 basis, double* rows) {
    const Element* el = elements_of(rod);
    TdlVec3 x = point(rod, element, s), force[3] = {basis.cx, basis.cy, basis.cz};
    double f[HELIX_COUNT];
    helix_functions(el[element].axes.y, s, f);
    TdlMat3 B = helix_displacement(&el[element].axes, f);
    for (int k = 0; k < 3; ++k) {
        double* row = rows + (size_t)k * (size_t)rod->dof_count;
        memset(row, 0, (size_t)rod->dof_count * sizeof *row);
        for (int i = 0; i < element; ++i) {
            TdlVec3 moment = tdl_cross3(tdl_sub3(x, end_point(&el[i])), force[k]);
            tdl_store3(
                row, i,
                tdl_add3(tdl_tmul33_3(el[i].shift, force[k]), tdl_tmul33_3(el[i].turn, moment)));
        }
        TdlVec3 own = tdl_tmul33_3(el[element].start.rotation, force[k]);
        tdl_store3(row, element, tdl_scale3(rod->element_length, tdl_tmul33_3(B, own)));
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
static void store_block(double* A, int n, int i, int j, TdlMat3 block) {
    TdlVec3 column[3] = {block.cx, block.cy, block.cz};
    for (int c = 0; c < 3; ++c) {
        tdl_store3(A + (size_t)(3 * j + c) * (size_t)n + 3 * (size_t)i, 0, column[c]);
    }
}

// Tip to root.
void super_helix_mass(const Rod* rod, double* A) {
    const Element* el = elements_of(rod);
    double m = rod->line_density * rod->element_length;
    Moments beyond = {0};
    for (int i = rod->element_count - 1; i >= 0; --i) {
        const Element* e = &el[i];

        // momentum of what lies beyond for a rate of q_i, about the element's end
        TdlMat3 linear =
            tdl_sub33(tdl_scale33(beyond.m, e->shift), tdl_mul33(tdl_skew3(beyond.h), e->turn));
        TdlMat3 angular =
            tdl_add33(tdl_mul33(tdl_skew3(beyond.h), e->shift), tdl_mul33(beyond.J, e->turn));
        TdlMat3 block = tdl_add33(tdl_tmul33(e->shift, linear), tdl_tmul33(e->turn, angular));
        store_block(A, rod->dof_count, i, i, tdl_axpy33(block, m, e->Mqq));

        // the same about its start, with the element's own share; then down to the root
        angular = tdl_add33(angular, tdl_mul33(tdl_skew3(e->span), linear));
        linear = tdl_axpy33(linear, m, e->Bm);
        angular = tdl_axpy33(angular, m, e->Hm);
        for (int j = i - 1; j >= 0; --j) {
            const Element* below = &el[j];
            block = tdl_add33(tdl_tmul33(linear, below->shift), tdl_tmul33(angular, below->turn));
            store_block(A, rod->dof_count, i, j, block);
            angular = tdl_add33(angular, tdl_mul33(tdl_skew3(below->span), linear));
        }
        beyond = shift_moments(beyond, e->span);
        beyond.m += m;
        beyond.h = tdl_axpy3(beyond.h, m, e->h);
        beyond.J = tdl_axpy33(beyond.J, m, e->J);
    }
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
// moment about its start; out holds the own shares on entry. (H.14)
static void gather_loads(const Rod* rod, const double* wrench, double* out) {
    const Element* el = elements_of(rod);
    TdlVec3 force = {0}, moment = {0};
    for (int i = rod->element_count - 1; i >= 0; --i) {
        TdlVec3 from_beyond =
            tdl_add3(tdl_tmul33_3(el[i].shift, force), tdl_tmul33_3(el[i].turn, moment));
        tdl_store3(out, i, tdl_add3(tdl_load3(out, i), from_beyond));
        moment = tdl_add3(moment, tdl_cross3(el[i].span, force));
        force = tdl_add3(force, tdl_load3(wrench, 2 * i));
        moment = tdl_add3(moment, tdl_load3(wrench, 2 * i + 1));
    }
}

// Puts an element's load, said in its own axes, in its places.
static void store_load(const Element* el, int i, double m, HelixLoad load, double* wrench,
                       double* out) {
    TdlMat3 R = el->start.rotation;
    tdl_store3(wrench, 2 * i, tdl_scale3(m, tdl_mul33_3(R, load.force)));
    tdl_store3(wrench, 2 * i + 1, tdl_scale3(m, tdl_mul33_3(R, load.moment)));
    tdl_store3(out, i, tdl_scale3(m, load.generalised));
}

void super_helix_bias(const Rod* rod, HelixMotion root, const double* v, double* out) {
    const Element* el = elements_of(rod);
    double l = rod->element_length, m = rod->line_density * l, *wrench = wrench_of(rod);
    HelixMotion motion = root;
    for (int i = 0; i < rod->element_count; ++i) {
        TdlMat3 R = el[i].start.rotation;
        TdlVec3 d = v == NULL ? (TdlVec3){0} : tdl_load3(v, i);
        HelixMotion local = {tdl_tmul33_3(R, motion.w), tdl_tmul33_3(R, motion.alpha),
                             tdl_tmul33_3(R, motion.a), d};
        store_load(&el[i], i, m, helix_bias(&el[i].axes, &el[i].gram, l, &local), wrench, out);
        motion = carry_motion(&el[i], l, motion, d);
    }
    gather_loads(rod, wrench, out);
}

// --- the step -------------------------------------------------------------------------------

// Load, in the element's own axes, of the velocities it brings along plus `gain`, less those that
// the clamp's motion gives its present shape. (H.19)
static HelixLoad momentum_load(const Element* el, double l, Twist base, TdlVec3 gain) {
    TdlMat3 R = el->start.rotation;
    TdlVec3 P[HELIX_AKK], brought[HELIX_AKK], given[HELIX_AKK];
    HelixGram mixed;
    helix_mixed_gram(el->axes.y, el->y_before, &mixed);
    helix_velocity(&el->axes, l, tdl_tmul33_3(R, tdl_sub3(base.linear, gain)),
                   tdl_tmul33_3(R, base.angular), (TdlVec3){0}, given);
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
    return helix_load(&el->axes, l, P);
}

void super_helix_momentum(const Rod* rod, const RodStep* step, double* out) {
    const Element* el = elements_of(rod);
    double l = rod->element_length, m = rod->line_density * l, *wrench = wrench_of(rod);
    TdlVec3 gain = tdl_scale3(step->dt, step->gravity);
    for (int i = 0; i < rod->element_count; ++i) {
        TdlVec3 arm = tdl_sub3(el[i].start.position, rod->base.now.position);
        Twist base = step->base_rate;
        base.linear = tdl_add3(base.linear, tdl_cross3(base.angular, arm));
        store_load(&el[i], i, m, momentum_load(&el[i], l, base, gain), wrench, out);
    }
    gather_loads(rod, wrench, out);
}

// (M + (dt tau + dt^2) K) v = momentum - dt K (q - q_rest). (H.18)
static bool predict(Rod* rod, const RodStep* step) {
    double dt = step->dt, tau = rod->damping, *A = matrix_of(rod), *v = rod->v_free;
    int n = rod->dof_count;
    super_helix_momentum(rod, step, v);
    super_helix_mass(rod, A);
    const double K3[3] = {rod->stiffness.x, rod->stiffness.y, rod->stiffness.z};
    for (int i = 0; i < n; ++i) {
        double k = K3[i % 3] / rod->element_length;
        A[(size_t)i * (size_t)n + (size_t)i] += (dt * tau + dt * dt) * k;
        v[i] -= dt * k * (rod->q[i] - rod->q_rest[i]);
    }
    if (tdl_cholesky(n, A, n) != n) {
        return false;
    }
    tdl_cholesky_solve(n, A, n, 1, v, n);
    return true;
}

static void solve(const Rod* rod, double* x) {
    int n = rod->dof_count;
    tdl_cholesky_solve(n, matrix_of(rod), n, 1, x, n);
}

static void advance(Rod* rod, const RodStep* step, const double* v) {
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->q_before[i] = rod->q[i];
        rod->v[i] = v[i];
        rod->q[i] += step->dt * v[i];
    }
    rod->base.before = rod->base.now;
    rod->base.now = step->base_end;
    rod->base.rate = step->base_rate;
    refresh(rod);
}

// --- energies -------------------------------------------------------------------------------

static double elastic_energy(const Rod* rod) {
    const double K3[3] = {rod->stiffness.x, rod->stiffness.y, rod->stiffness.z};
    double sum = 0.0;
    for (int i = 0; i < rod->dof_count; ++i) {
        double strain = rod->q[i] - rod->q_rest[i];
        sum += K3[i % 3] * strain * strain;
    }
    return 0.5 * sum / rod->element_length;
}

static double gravity_energy(const Rod* rod, TdlVec3 gravity) {
    const Element* el = elements_of(rod);
    double height = 0.0, m = rod->line_density * rod->element_length;
    for (int i = 0; i < rod->element_count; ++i) {
        height -= tdl_dot3(gravity, tdl_add3(el[i].start.position, el[i].h));
    }
    return m * height;
}

static TdlEnergy energy(const Rod* rod, TdlVec3 gravity) {
    const Element* el = elements_of(rod);
    double square = 0.0, m = rod->line_density * rod->element_length;
    for (int i = 0; i < rod->element_count; ++i) {
        square += el[i].field_square;
    }
    return (TdlEnergy){0.5 * m * square, elastic_energy(rod), gravity_energy(rod, gravity)};
}

// Diagonal block of gravity's Hessian: what lies inside the element, and what it carries. (H.21)
static TdlMat3 gravity_block(const Element* e, double l, double m, Moments beyond, TdlVec3 g) {
    TdlMat3 R = e->start.rotation;
    TdlVec3 own_g = tdl_tmul33_3(R, g), own_t = tdl_tmul33_3(R, tdl_cross3(beyond.h, g));
    TdlMat3 turn = tdl_tmul33(R, e->turn), unit = tdl_identity33();
    TdlVec3 own_h = tdl_tmul33_3(R, beyond.h), axis[3] = {unit.cx, unit.cy, unit.cz};
    TdlVec3 column[3];
    for (int c = 0; c < 3; ++c) {
        double value[3];
        for (int r = 0; r < 3; ++r) {
            TdlVec3 mean = helix_second(&e->axes, e->gram.g[HELIX_ONE], axis[r], axis[c]);
            TdlVec3 end = helix_second(&e->axes, e->end, axis[r], axis[c]);
            TdlVec3 sum = tdl_axpy3(tdl_scale3(m, mean), beyond.m, end);
            TdlVec3 twist = helix_rotation_second(&e->axes, e->end, axis[r], axis[c]);
            TdlVec3 tr = tdl_mul33_3(turn, axis[r]), tc = tdl_mul33_3(turn, axis[c]);
            TdlVec3 carried = tdl_cross3(tdl_cross3(tc, own_h), own_g);
            value[r] = -l * tdl_dot3(own_g, sum) - tdl_dot3(twist, own_t) - tdl_dot3(tr, carried);
        }
        column[c] = (TdlVec3){value[0], value[1], value[2]};
    }
    return (TdlMat3){column[0], column[1], column[2]};
}

// Hessian of gravity's potential, tip to root: H_ij = turn_i' [g]x W_j for i < j, where W_j is the
// change of the first moment. (H.20)
static void gravity_hessian(const Rod* rod, TdlVec3 g, double* H) {
    const Element* el = elements_of(rod);
    double l = rod->element_length, m = rod->line_density * l;
    Moments beyond = {0};
    for (int j = rod->element_count - 1; j >= 0; --j) {
        const Element* e = &el[j];
        store_block(H, rod->dof_count, j, j, gravity_block(e, l, m, beyond, g));
        TdlMat3 W = tdl_axpy33(tdl_scale33(beyond.m, e->shift), m, e->Bm);
        W = tdl_sub33(W, tdl_mul33(tdl_skew3(beyond.h), e->turn));
        TdlMat3 gW = tdl_mul33(tdl_skew3(g), W);
        for (int i = j - 1; i >= 0; --i) {
            store_block(H, rod->dof_count, j, i, tdl_tmul33(gW, el[i].turn));
        }
        beyond.h = tdl_axpy3(tdl_axpy3(beyond.h, beyond.m, e->span), m, e->h);
        beyond.m += m;
    }
}

static double potential(const Rod* rod, TdlVec3 gravity, double* gradient, double* hessian) {
    const double K3[3] = {rod->stiffness.x, rod->stiffness.y, rod->stiffness.z};
    int n = rod->dof_count;
    if (gradient != NULL) {
        super_helix_bias(rod, (HelixMotion){.a = tdl_scale3(-1.0, gravity)}, NULL, gradient);
        for (int i = 0; i < n; ++i) {
            gradient[i] += K3[i % 3] / rod->element_length * (rod->q[i] - rod->q_rest[i]);
        }
    }
    if (hessian != NULL) {
        gravity_hessian(rod, gravity, hessian);
        for (int i = 0; i < n; ++i) {
            hessian[(size_t)i * (size_t)n + (size_t)i] += K3[i % 3] / rod->element_length;
            for (int j = 0; j < i; ++j) {
                hessian[(size_t)i * (size_t)n + (size_t)j] =
                    hessian[(size_t)j * (size_t)n + (size_t)i];
            }
        }
    }
    return gravity_energy(rod, gravity) + elastic_energy(rod);
}

const RodModel SUPER_HELIX = {
    .name = "super-helix",
    .dofs_per_element = 3,
    .work_count = work_count,
    .set_curvature = set_curvature,
    .refresh = refresh,
    .predict = predict,
    .solve = solve,
    .advance = advance,
    .curves = curves,
    .point = point,
    .jacobian = jacobian,
    .energy = energy,
    .potential = potential,
};
