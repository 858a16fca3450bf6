// The discrete elastic rod.
//
// A material frame is the quaternion s h T: h the reference frame, kept from step to step; s the
// smallest rotation that brings its first axis to the edge (parallel transport in time); T the
// turn by theta about the first axis. s can be scaled to be nearly linear in the edge, and strains
// do not see scales, so first and second derivatives are exact and short. (D.5)
#include "rod/discrete_elastic_rod.h"

#include "rod/frame_pair.h"

#include <string.h>

// Cosine between an edge and its reference frame at which a frame that was moved without a step is
// transported: far from 180 degrees, where transport is not defined.
static const double TRANSPORT_COSINE = 0.5;

// What the derivatives of an edge's frame need beside FrameSide.
typedef struct EdgeFrame {
    FrameSide side;
    Quat twisted; // h T
    TdlVec3 t;
    double length;
} EdgeFrame;

static Quat reference(const Rod* rod, int edge) {
    return quat_load(rod->memory + 4 * edge);
}

// The scaled transport from the unit vector a to e: (|e| + a.e, a x e). (D.5)
static Quat transport(TdlVec3 a, TdlVec3 e) {
    TdlVec3 v = tdl_cross3(a, e);
    return (Quat){tdl_norm3(e) + tdl_dot3(a, e), v.x, v.y, v.z};
}

static void edge_frame(const NodalShape* shape, int edge, EdgeFrame* out) {
    Quat h = reference(shape->rod, edge);
    double theta = nodal_edge_dofs(shape, edge)[0];
    TdlVec3 e = nodal_edge(shape, edge), a = quat_first_axis(h);
    out->twisted = quat_mul(h, (Quat){cos(0.5 * theta), sin(0.5 * theta), 0.0, 0.0});
    out->length = tdl_norm3(e);
    out->t = tdl_scale3(1.0 / out->length, e);
    out->side.g = quat_mul(transport(a, e), out->twisted);
    out->side.fixed = false;
    const Quat slope[3] = {{out->t.x + a.x, 0.0, a.z, -a.y},
                           {out->t.y + a.y, -a.z, 0.0, a.x},
                           {out->t.z + a.z, a.y, -a.x, 0.0}};
    for (int c = 0; c < 3; ++c) {
        out->side.slope[c] = quat_mul(slope[c], out->twisted);
    }
    out->side.slope[3] = quat_scale(0.5, quat_times_i(out->side.g));
}

// A clamp's frame, with the sign nearer to its neighbour's.
static void fixed_frame(Quat frame, Quat neighbour, EdgeFrame* out) {
    out->side = (FrameSide){.g = frame, .fixed = true};
    if (quat_dot(frame, neighbour) < 0.0) {
        out->side.g = quat_scale(-1.0, frame);
    }
}

// Adds what the frame's own curvature contributes: mu . (second derivative of its quaternion).
// (D.7)
static void add_frame_second(const EdgeFrame* f, Quat mu, int at,
                             double out[PAIR_DOFS][PAIR_DOFS]) {
    if (f->side.fixed) {
        return;
    }
    const double t[3] = {f->t.x, f->t.y, f->t.z};
    double across = quat_dot(mu, f->twisted) / f->length;
    for (int c = 0; c < 3; ++c) {
        for (int d = 0; d < 3; ++d) {
            out[at + c][at + d] += across * ((c == d ? 1.0 : 0.0) - t[c] * t[d]);
        }
        double mixed = 0.5 * quat_dot(mu, quat_times_i(f->side.slope[c]));
        out[at + c][at + 3] += mixed;
        out[at + 3][at + c] += mixed;
    }
    out[at + 3][at + 3] -= 0.25 * quat_dot(mu, f->side.g);
}

// Coordinates of a pair, (e0, theta0, e1, theta1), as differences of those of three vertices and
// two angles: minus the first list plus the second; -1 is none.
static const int MINUS[PAIR_DOFS] = {0, 1, 2, -1, 4, 5, 6, -1};
static const int PLUS[PAIR_DOFS] = {4, 5, 6, 3, 8, 9, 10, 7};

static void spread_slopes(double slope[3][PAIR_DOFS], NodalElement* out, int shift) {
    for (int k = 0; k < 3; ++k) {
        for (int c = 0; c < PAIR_DOFS; ++c) {
            int minus = MINUS[c] - shift, plus = PLUS[c] - shift;
            if (minus >= 0) {
                out->slope[k][minus] -= slope[k][c];
            }
            if (plus >= 0 && plus < NODAL_MAX_DOFS) {
                out->slope[k][plus] += slope[k][c];
            }
        }
    }
}

static void spread_second(double pair[PAIR_DOFS][PAIR_DOFS], NodalBlock second, int shift) {
    double half[NODAL_MAX_DOFS][PAIR_DOFS] = {{0}};
    for (int c = 0; c < PAIR_DOFS; ++c) {
        for (int d = 0; d < PAIR_DOFS; ++d) {
            if (MINUS[c] >= shift) {
                half[MINUS[c] - shift][d] -= pair[c][d];
            }
            if (PLUS[c] >= shift) {
                half[PLUS[c] - shift][d] += pair[c][d];
            }
        }
    }
    for (int i = 0; i < NODAL_MAX_DOFS; ++i) {
        for (int d = 0; d < PAIR_DOFS; ++d) {
            if (MINUS[d] >= shift) {
                second[i][MINUS[d] - shift] -= half[i][d];
            }
            if (PLUS[d] >= shift) {
                second[i][PLUS[d] - shift] += half[i][d];
            }
        }
    }
}

// Bending and twist at vertex i. A cell at the start lacks the first edge, one at the end the
// second.
static void element(const NodalShape* shape, int i, const double* force, NodalElement* out,
                    NodalBlock second) {
    const Rod* rod = shape->rod;
    int n = rod->element_count, shift = i == 0 ? 4 : 0;
    double factor = nodal_cell_factor(rod, i) / rod->element_length;
    TdlVec3 K3 = nodal_cell_stiffness(rod, i);
    double K[3] = {K3.x, K3.y, K3.z};
    *out = (NodalElement){.first = i == 0 ? 0 : 4 * (i - 1),
                          .dof_count = i == 0 || i == n ? 7 : 11,
                          .count = factor > 0.0 ? 3 : 0};
    if (factor == 0.0) {
        return;
    }
    EdgeFrame a, b;
    if (i > 0) {
        edge_frame(shape, i - 1, &a);
    }
    if (i < n) {
        edge_frame(shape, i, &b);
    } else {
        fixed_frame(shape->end, a.side.g, &b);
    }
    if (i == 0) {
        fixed_frame(shape->start, b.side.g, &a);
    }
    double slope[3][PAIR_DOFS];
    frame_pair_strain(&BINORMAL_LAW, &a.side, &b.side, out->value, slope);
    spread_slopes(slope, out, shift);
    double own[3];
    for (int k = 0; k < 3; ++k) {
        out->rest[k] = nodal_rest(rod, i)[k];
        out->stiffness[k] = factor * K[k];
        own[k] = out->stiffness[k] * (out->value[k] - out->rest[k]);
    }
    if (second != NULL) {
        double pair[PAIR_DOFS][PAIR_DOFS];
        Quat mu[2];
        frame_pair_second(&BINORMAL_LAW, &a.side, &b.side, force != NULL ? force : own, pair, mu);
        add_frame_second(&a, mu[0], 0, pair);
        add_frame_second(&b, mu[1], FRAME_DOFS, pair);
        spread_second(pair, second, shift);
    }
}

static int element_count(int edge_count) {
    return edge_count + 1;
}

// --- frames ---------------------------------------------------------------------------------

static void spin(const NodalShape* shape, int edge, TdlVec3 axis, double* rates) {
    TdlVec3 e = nodal_edge(shape, edge);
    rates[0] = tdl_dot3(axis, e) / tdl_norm3(e);
}

// The reference frame follows the edge by the transport from where it was, which turns it about the
// tangent too; the angle makes good for that: dg = a g / 2 = slope (a x e) + slope_theta rate.
static void spin_after(const NodalShape* shape, int edge, TdlVec3 axis, double* rates) {
    EdgeFrame f;
    edge_frame(shape, edge, &f);
    double swing[3];
    tdl_store3(swing, 0, tdl_cross3(axis, nodal_edge(shape, edge)));
    Quat left = quat_scale(0.5, quat_turn(axis, f.side.g)), about = f.side.slope[3];
    for (int c = 0; c < 3; ++c) {
        left = quat_axpy(left, -swing[c], f.side.slope[c]);
    }
    rates[0] = quat_dot(left, about) / quat_dot(about, about);
}

static void torque(const NodalShape* shape, int edge, TdlVec3 torque, double* force) {
    TdlVec3 e = nodal_edge(shape, edge);
    force[0] += tdl_dot3(torque, e) / tdl_norm3(e);
}

static void set_rest(Quat between, double rest[3]) {
    Quat slope[3];
    BINORMAL_LAW.value(between, rest, slope);
}

// The angle starts from zero: the reference frame is the material frame.
static void set_frame(const Rod* rod, int edge, Quat frame, double* q) {
    Quat last = edge > 0 ? reference(rod, edge - 1) : frame;
    quat_store(rod->memory + 4 * edge,
               quat_dot(last, frame) < 0.0 ? quat_scale(-1.0, frame) : frame);
    q[0] = 0.0;
}

// Transport of the reference frames to the present edges, in time. (D.2)
static void keep_frames(Rod* rod, bool stepped) {
    NodalShape shape = {.rod = rod, .q = rod->q};
    for (int i = 0; i < rod->element_count; ++i) {
        Quat h = reference(rod, i);
        TdlVec3 e = nodal_edge(&shape, i), a = quat_first_axis(h);
        if (stepped || tdl_dot3(a, e) < TRANSPORT_COSINE * tdl_norm3(e)) {
            quat_store(rod->memory + 4 * i, quat_unit(quat_mul(transport(a, e), h)));
        }
    }
}

static TdlMat3 frame(const Rod* rod, int edge) {
    NodalShape shape = {.rod = rod, .q = rod->q};
    EdgeFrame f;
    edge_frame(&shape, edge, &f);
    return quat_matrix(quat_unit(f.side.g));
}

static int dof_count(const TdlRodDef* def) {
    return 4 * def->element_count + 3;
}

static size_t memory_count(int element_count_) {
    return 4 * (size_t)element_count_;
}

static size_t work_count(int dofs, int edge_count) {
    (void)dofs;
    return nodal_work_count(&DISCRETE_ELASTIC_ROD.kind, edge_count);
}

const NodalModel DISCRETE_ELASTIC_ROD = {
    .rod = {.name = "der",
            .work_count = work_count,
            .dof_count = dof_count,
            .memory_count = memory_count,
            NODAL_FUNCTIONS},
    .kind = {.edge_dofs = 1,
             .element_count = element_count,
             .element = element,
             .edge_inertia = nodal_polar_inertia,
             .spin = spin,
             .spin_after = spin_after,
             .torque = torque,
             .set_rest = set_rest,
             .set_frame = set_frame,
             .keep_frames = keep_frames,
             .frame = frame},
};
