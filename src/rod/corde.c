// CoRdE: positions and quaternions.
//
// Three energies beside stretching: edge against frame (the shear stiffness of the section), frame
// against frame (bending and twist), and the length of a quaternion against one. Strains do not see
// that length, and it is set back to one after every step.
#include "rod/corde.h"

#include "math/rotation.h"
#include "rod/frame_pair.h"

// How much stiffer the length of a quaternion is than the tie between edge and frame.
static const double LENGTH_FACTOR = 4.0;

static Quat edge_quat(const NodalShape* shape, int edge) {
    return quat_load(nodal_edge_dofs(shape, edge));
}

// --- edge against frame ---------------------------------------------------------------------

// Second derivatives of f.t, t = e/|e|. (Q.5)
static void tangent_second(TdlVec3 e, TdlVec3 f, NodalBlock out) {
    double length = tdl_norm3(e), square = length * length;
    double t[3] = {e.x / length, e.y / length, e.z / length}, a[3] = {f.x, f.y, f.z};
    double along = tdl_dot3(f, e) / length;
    for (int c = 0; c < 3; ++c) {
        for (int d = 0; d < 3; ++d) {
            double same = c == d ? 1.0 : 0.0;
            double h = -(a[c] * t[d] + t[c] * a[d] + along * (same - 3.0 * t[c] * t[d])) / square;
            out[c][d] = out[7 + c][7 + d] = h;
            out[c][7 + d] = out[7 + c][d] = -h;
        }
    }
}

// Half the derivative by p of f.(p i p*), which is linear in p. (Q.6)
static Quat axis_form(TdlVec3 f, Quat p) {
    return quat_scale(-1.0, quat_times_i(quat_turn(f, p)));
}

// Derivatives by p of f.d, d = p i p* / |p|^2. (Q.6)
static Quat axis_slope(TdlVec3 f, Quat p) {
    double square = quat_dot(p, p);
    Quat form = axis_form(f, p);
    double value = quat_dot(form, p) / square;
    return quat_scale(2.0 / square, quat_axpy(form, -value, p));
}

// Second derivatives of -f.d, into the rows and columns of p.
static void axis_second(TdlVec3 f, Quat p, NodalBlock out) {
    double square = quat_dot(p, p), P[4], S[4], form[4];
    double value = quat_dot(axis_form(f, p), p) / square;
    quat_store(P, p);
    quat_store(S, axis_slope(f, p));
    for (int j = 0; j < 4; ++j) {
        double unit[4] = {j == 0, j == 1, j == 2, j == 3};
        quat_store(form, axis_form(f, quat_load(unit)));
        for (int i = 0; i < 4; ++i) {
            double h = form[i] - value * unit[i] - P[i] * S[j] - S[i] * P[j];
            out[3 + i][3 + j] = -2.0 / square * h;
        }
    }
}

// Strain t - d: what keeps the frame's first axis along the edge. (Q.2)
static void tie_element(const NodalShape* shape, int i, const double* force, NodalElement* out,
                        NodalBlock second) {
    Quat p = edge_quat(shape, i);
    TdlVec3 e = nodal_edge(shape, i), t = tdl_scale3(1.0 / tdl_norm3(e), e);
    TdlVec3 d = tdl_scale3(1.0 / quat_dot(p, p), quat_first_axis(p)), lag = tdl_sub3(t, d);
    double k = nodal_shear_stiffness(shape->rod, i) * shape->rod->element_length;
    const TdlVec3 unit[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    *out = (NodalElement){.first = 7 * i,
                          .dof_count = 10,
                          .count = 3,
                          .value = {lag.x, lag.y, lag.z},
                          .stiffness = {k, k, k}};
    for (int c = 0; c < 3; ++c) {
        TdlVec3 row = tdl_axpy3(unit[c], -tdl_dot3(unit[c], t), t);
        row = tdl_scale3(1.0 / tdl_norm3(e), row);
        tdl_store3(out->slope[c], 0, tdl_scale3(-1.0, row));
        tdl_store3(out->slope[c] + 7, 0, row);
        quat_store(out->slope[c] + 3, quat_scale(-1.0, axis_slope(unit[c], p)));
    }
    if (second != NULL) {
        TdlVec3 f = force != NULL ? tdl_load3(force, 0) : tdl_scale3(k, lag);
        tangent_second(e, f, second);
        axis_second(f, p, second);
    }
}

// --- length ---------------------------------------------------------------------------------

// Strain (|p|^2 - 1) / 2. (Q.4)
static void length_element(const NodalShape* shape, int i, const double* force, NodalElement* out,
                           NodalBlock second) {
    const Rod* rod = shape->rod;
    Quat p = edge_quat(shape, i);
    double k = LENGTH_FACTOR * nodal_shear_stiffness(rod, i) * rod->element_length;
    *out = (NodalElement){.first = 7 * i + 3,
                          .dof_count = 4,
                          .count = 1,
                          .value = {0.5 * (quat_dot(p, p) - 1.0)},
                          .stiffness = {k}};
    quat_store(out->slope[0], p);
    for (int c = 0; c < 4 && second != NULL; ++c) {
        second[c][c] = force != NULL ? force[0] : k * out->value[0];
    }
}

// --- frame against frame --------------------------------------------------------------------

static void set_side(FrameSide* side, Quat p) {
    *side = (FrameSide){p, {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}, false};
}

// A clamp's frame, with the sign nearer to its neighbour's.
static void set_fixed_side(FrameSide* side, Quat frame, Quat neighbour) {
    *side = (FrameSide){.g = frame, .fixed = true};
    if (quat_dot(frame, neighbour) < 0.0) {
        side->g = quat_scale(-1.0, frame);
    }
}

// Where the coordinates of a pair (first frame, second frame) lie in the element, -1 for none: the
// vertex between them is not part of it.
static int pair_place(int c, bool start) {
    int place = c < FRAME_DOFS ? c : c + 3;
    return start ? place - 7 : place;
}

static void bend_element(const NodalShape* shape, int i, const double* force, NodalElement* out,
                         NodalBlock second) {
    const Rod* rod = shape->rod;
    int n = rod->element_count;
    bool start = i == 0;
    double factor = nodal_cell_factor(rod, i) / rod->element_length;
    TdlVec3 K3 = nodal_cell_stiffness(rod, i);
    double K[3] = {K3.x, K3.y, K3.z};
    *out = (NodalElement){.first = start ? 3 : 7 * (i - 1) + 3,
                          .dof_count = start || i == n ? 4 : 11,
                          .count = factor > 0.0 ? 3 : 0};
    if (factor == 0.0) {
        return;
    }
    FrameSide a, b;
    if (i > 0) {
        set_side(&a, edge_quat(shape, i - 1));
    }
    if (i < n) {
        set_side(&b, edge_quat(shape, i));
    } else {
        set_fixed_side(&b, shape->end, a.g);
    }
    if (start) {
        set_fixed_side(&a, shape->start, b.g);
    }
    double slope[3][PAIR_DOFS], own[3], pair[PAIR_DOFS][PAIR_DOFS];
    frame_pair_strain(&DIFFERENCE_LAW, &a, &b, out->value, slope);
    for (int k = 0; k < 3; ++k) {
        out->rest[k] = nodal_rest(rod, i)[k];
        out->stiffness[k] = factor * K[k];
        own[k] = out->stiffness[k] * (out->value[k] - out->rest[k]);
        for (int c = start ? FRAME_DOFS : 0; c < (i == n ? FRAME_DOFS : PAIR_DOFS); ++c) {
            out->slope[k][pair_place(c, start)] = slope[k][c];
        }
    }
    if (second == NULL) {
        return;
    }
    Quat mu[2]; // not needed: a quaternion is linear in itself
    frame_pair_second(&DIFFERENCE_LAW, &a, &b, force != NULL ? force : own, pair, mu);
    for (int c = start ? FRAME_DOFS : 0; c < (i == n ? FRAME_DOFS : PAIR_DOFS); ++c) {
        for (int d = start ? FRAME_DOFS : 0; d < (i == n ? FRAME_DOFS : PAIR_DOFS); ++d) {
            second[pair_place(c, start)][pair_place(d, start)] = pair[c][d];
        }
    }
}

static int element_count(int edge_count) {
    return 3 * edge_count + 1;
}

static void element(const NodalShape* shape, int index, const double* force, NodalElement* out,
                    NodalBlock second) {
    int n = shape->rod->element_count;
    if (index < n) {
        tie_element(shape, index, force, out, second);
    } else if (index < 2 * n) {
        length_element(shape, index - n, force, out, second);
    } else {
        bend_element(shape, index - 2 * n, force, out, second);
    }
}

// --- frames ---------------------------------------------------------------------------------

// A quaternion's rate is half the angular velocity times it, so its inertia is four times that of
// the edge; all axes have the polar one. (Q.7)
static double edge_inertia(const Rod* rod, int edge) {
    return 4.0 * nodal_polar_inertia(rod, edge);
}

static void spin(const NodalShape* shape, int edge, TdlVec3 axis, double* rates) {
    quat_store(rates, quat_scale(0.5, quat_turn(axis, edge_quat(shape, edge))));
}

static void torque(const NodalShape* shape, int edge, TdlVec3 torque, double* force) {
    // the edge turns by twice the change of its quaternion times its inverse
    Quat push = quat_scale(2.0, quat_turn(torque, edge_quat(shape, edge)));
    quat_store(force, quat_axpy(quat_load(force), 1.0, push));
}

static void set_rest(Quat between, double rest[3]) {
    Quat slope[3];
    DIFFERENCE_LAW.value(between, rest, slope);
}

static void set_frame(const Rod* rod, int edge, Quat frame, double* q) {
    (void)rod;
    Quat last = edge > 0 ? quat_load(q - 7) : frame;
    quat_store(q, quat_dot(last, frame) < 0.0 ? quat_scale(-1.0, frame) : frame);
}

static void tidy(const Rod* rod, double* q) {
    for (int i = 0; i < rod->element_count; ++i) {
        double* p = q + 7 * i + 3;
        quat_store(p, quat_unit(quat_load(p)));
    }
}

static void keep_frames(Rod* rod, bool stepped) {
    if (stepped) {
        tidy(rod, rod->q);
    }
}

static TdlMat3 frame(const Rod* rod, int edge) {
    NodalShape shape = {.rod = rod, .q = rod->q};
    return quat_matrix(quat_unit(edge_quat(&shape, edge)));
}

static int dof_count(const TdlRodDef* def) {
    return 7 * def->element_count + 3;
}

static size_t work_count(int dofs, int edge_count) {
    (void)dofs;
    return nodal_work_count(&CORDE.kind, edge_count);
}

const NodalModel CORDE = {
    .rod = {.name = "corde", .work_count = work_count, .dof_count = dof_count, NODAL_FUNCTIONS},
    .kind = {.edge_dofs = 4,
             .element_count = element_count,
             .element = element,
             .edge_inertia = edge_inertia,
             .spin = spin,
             .torque = torque,
             .set_rest = set_rest,
             .set_frame = set_frame,
             .keep_frames = keep_frames,
             .tidy = tidy,
             .frame = frame},
};
