// A discrete elastic rod of given shape: the moments at its vertices, and the natural curvature of
// its elements that gives them.
//
// All beyond a vertex turns about it as one, so the strains there bear its moment alone. Edges keep
// their directions and are as long as their tension makes them; everything is exact for that shape.
// (V.36)
#include "inverse/strand.h"

#include "base/log.h"
#include "math/eigen.h"
#include "rod/frame_pair.h"

// The model's own limit, rad.
#define MAX_TURN 3.0

static const TdlVec3 AXES[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

// Vertex i and the edge behind it.
typedef struct DerJoint {
    Quat between; // from the frame before the vertex to that of the edge
    TdlMat3 R;    // the frame before the vertex
    TdlVec3 edge; // m, to the next vertex
    TdlVec3 F, M; // on the edge's far end and beyond it; its moment about the vertex
} DerJoint;

// exp(kappa_{i-1} l/2) exp(kappa_i l/2). (D.10)
static Quat turn_at(const Strand* strand, const TdlVec3* kappa, int i) {
    Quat after = quat_exp(tdl_scale3(0.5 * strand->l, kappa[i]));
    if (i == 0) {
        return after;
    }
    return quat_mul(quat_exp(tdl_scale3(0.5 * strand->l, kappa[i - 1])), after);
}

// The weight on vertex i, and its share of the loads on the elements beside it.
static TdlVec3 vertex_force(const Strand* strand, int i) {
    bool last = i == strand->element_count;
    TdlVec3 sum = tdl_scale3(last ? 0.5 * strand->m : strand->m, strand->gravity);
    for (int a = 0; a < (last ? 1 : 2); ++a) { // the element before, the one behind
        for (int k = strand_first_load(strand, i - 1 + a); k >= 0; k = strand->loads[k].next) {
            const RodLoad* load = &strand->loads[k].at;
            sum = tdl_axpy3(sum, a == 0 ? load->s : 1.0 - load->s, load->force);
        }
    }
    return sum;
}

// Frames from the clamp, forces from the tip. (V.36)
static DerJoint* walk(const Strand* strand) {
    int n = strand->element_count;
    DerJoint* joint = ARENA_NEW(strand->arena, DerJoint, n);
    if (joint == NULL) {
        return NULL;
    }
    Quat frame = quat_from_matrix(strand->def->start.rotation);
    for (int i = 0; i < n; ++i) {
        joint[i].R = quat_matrix(frame);
        joint[i].between = turn_at(strand, strand->def->curvature, i);
        frame = quat_unit(quat_mul(frame, joint[i].between));
        joint[i].edge = quat_first_axis(frame);
    }
    TdlVec3 force = {0}, moment = {0};
    double soft = strand->def->stretching > 0.0 ? 1.0 / strand->def->stretching : 0.0;
    for (int i = n - 1; i >= 0; --i) {
        force = tdl_add3(force, vertex_force(strand, i + 1));
        double stretch = 1.0 + soft * tdl_dot3(force, joint[i].edge);
        joint[i].edge = tdl_scale3(strand->l * stretch, joint[i].edge);
        moment = tdl_add3(moment, tdl_cross3(joint[i].edge, force));
        joint[i].F = force;
        joint[i].M = moment;
    }
    return joint;
}

static bool gradient(const Strand* strand, double* G) {
    ArenaMark mark = arena_mark(strand->arena);
    DerJoint* joint = walk(strand);
    if (joint == NULL) {
        return false;
    }
    for (int i = 0; i < strand->element_count; ++i) {
        tdl_store3(G, i, tdl_scale3(-1.0, tdl_tmul33_3(joint[i].R, joint[i].M)));
    }
    arena_release(strand->arena, mark);
    return true;
}

// Its moment about each vertex before it; edges keep their lengths. (V.33)
static bool force_at(const Strand* strand, int element, double s, TdlVec3 F, double* out) {
    ArenaMark mark = arena_mark(strand->arena);
    DerJoint* joint = walk(strand);
    if (joint == NULL) {
        return false;
    }
    TdlVec3 arm = {0};
    for (int i = strand->element_count - 1; i >= 0; --i) {
        if (i <= element) {
            arm = tdl_axpy3(arm, i == element ? s : 1.0, joint[i].edge);
        }
        tdl_store3(out, i, tdl_tmul33_3(joint[i].R, tdl_cross3(arm, F)));
    }
    arena_release(strand->arena, mark);
    return true;
}

// Strains at a vertex, and A: their change for a rotation u of all beyond it, strain_k by A[k].u.
static void strain_rates(Quat between, double strain[3], TdlVec3 A[3]) {
    Quat slope[3], half = quat_scale(0.5, between);
    BINORMAL_LAW.value(between, strain, slope);
    Quat rate[3] = {quat_turn(AXES[0], half), quat_turn(AXES[1], half), quat_turn(AXES[2], half)};
    for (int k = 0; k < 3; ++k) {
        A[k] = (TdlVec3){quat_dot(slope[k], rate[0]), quat_dot(slope[k], rate[1]),
                         quat_dot(slope[k], rate[2])};
    }
}

// The stresses f with A'f = b.
static TdlVec3 stresses(const TdlVec3 A[3], TdlVec3 b) {
    TdlVec3 c0 = tdl_cross3(A[1], A[2]), c1 = tdl_cross3(A[2], A[0]), c2 = tdl_cross3(A[0], A[1]);
    double det = tdl_dot3(A[0], c0);
    return (TdlVec3){tdl_dot3(b, c0) / det, tdl_dot3(b, c1) / det, tdl_dot3(b, c2) / det};
}

// The stiffness of the strains at a vertex, N m. (D.9)
static TdlVec3 cell_stiffness(const Strand* strand, int i) {
    return tdl_scale3((i == 0 ? 2.0 : 1.0) / strand->l, strand->def->stiffness);
}

// Natural strains at the vertices, then the elements that turn by them one after the other: h_i =
// h_{i-1}* Q_i with h = exp(kappa l/2). (V.37)
static TdlStatus rest(const TdlHost* host, const Strand* strand, const double* G,
                      TdlVec3* natural) {
    Quat before = {1.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < strand->element_count; ++i) {
        double strain[3];
        TdlVec3 A[3], K = cell_stiffness(strand, i);
        strain_rates(turn_at(strand, strand->def->curvature, i), strain, A);
        TdlVec3 f = stresses(A, tdl_scale3(-1.0, tdl_load3(G, i)));
        double twist = strain[0] - f.x / K.x;
        Quat turn = {cos(0.5 * twist), sin(0.5 * twist), 0.5 * (strain[1] - f.y / K.y),
                     0.5 * (strain[2] - f.z / K.z)};
        Quat half = quat_unit(quat_mul(quat_conj(before), turn));
        TdlVec3 q = tdl_scale3(2.0, quat_log(half));
        if (!(fabs(twist) < 6.28) || !(half.w > 0.0) || !(tdl_norm3(q) < MAX_TURN)) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                            "element %d would need a natural curvature that turns it by 3 rad", i);
        }
        natural[i] = tdl_scale3(1.0 / strand->l, q);
        before = half;
    }
    return TDL_STATUS_OK;
}

// --- second derivatives ---------------------------------------------------------------------

// sum of f_k times the second derivatives of strain k along rotations of all beyond. (V.44)
static TdlMat3 strain_second(Quat between, TdlVec3 f) {
    const double force[3] = {f.x, f.y, f.z};
    double second[4][4], rate[3][4], out[9];
    Quat half = quat_scale(0.5, between);
    BINORMAL_LAW.second(between, force, second);
    for (int k = 0; k < 3; ++k) {
        quat_store(rate[k], quat_turn(AXES[k], half));
    }
    for (int k = 0; k < 9; ++k) {
        out[k] = 0.0;
        for (int i = 0; i < 16; ++i) {
            out[k] += rate[k / 3][i / 4] * second[i / 4][i % 4] * rate[k % 3][i % 4];
        }
    }
    return (TdlMat3){tdl_load3(out, 0), tdl_load3(out, 1), tdl_load3(out, 2)};
}

// A' k A
static TdlMat3 strain_stiffness(const TdlVec3 A[3], TdlVec3 k) {
    TdlMat3 sum = tdl_scale33(k.x, tdl_outer3(A[0], A[0]));
    sum = tdl_axpy33(sum, k.y, tdl_outer3(A[1], A[1]));
    return tdl_axpy33(sum, k.z, tdl_outer3(A[2], A[2]));
}

// Z of all beyond vertex i, from that beyond the next: P is the sum of r F', `given` what edges
// give way by stretching. (V.44)
static TdlMat3 swing(const Strand* strand, const DerJoint* joint, TdlMat3* P, TdlMat3* given) {
    *P = tdl_add33(*P, tdl_outer3(joint->edge, joint->F));
    if (strand->def->stretching > 0.0) {
        TdlVec3 t = tdl_scale3(1.0 / tdl_norm3(joint->edge), joint->edge);
        TdlVec3 across = tdl_cross3(t, joint->F);
        double soft = strand->l / strand->def->stretching;
        *given = tdl_axpy33(*given, soft, tdl_outer3(across, across));
    }
    double trace = P->cx.x + P->cy.y + P->cz.z;
    TdlMat3 Z = tdl_sub33(tdl_scale33(trace, tdl_identity33()), *P);
    return tdl_sub33(Z, *given);
}

static bool hessian(const Strand* strand, StrandHessian* out) {
    ArenaMark mark = arena_mark(strand->arena);
    DerJoint* joint = walk(strand);
    if (joint == NULL) {
        return false;
    }
    TdlMat3 P = {0}, given = {0};
    out->stiffness_floor = INFINITY;
    for (int i = strand->element_count - 1; i >= 0; --i) {
        TdlMat3 R = joint[i].R, Z = swing(strand, &joint[i], &P, &given), axes;
        double strain[3], values[3];
        TdlVec3 A[3];
        strain_rates(joint[i].between, strain, A);
        TdlVec3 f = stresses(A, tdl_tmul33_3(R, joint[i].M));
        TdlMat3 own = tdl_tmul33(R, tdl_mul33(Z, R));
        own = tdl_scale33(0.5, tdl_add33(own, tdl_transpose33(own)));
        out->turn[i] = R;
        out->W[i] = tdl_mul33(Z, R);
        out->S[i] = tdl_add33(own, strain_second(joint[i].between, f));
        out->K[i] = strain_stiffness(A, cell_stiffness(strand, i));
        tdl_eigen_3(out->K[i], values, &axes);
        out->stiffness_floor = fmin(out->stiffness_floor, values[0]);
    }
    arena_release(strand->arena, mark);
    return true;
}

const StrandKind STRAND_DER = {.name = "der",
                               .max_turn = MAX_TURN,
                               .gradient = gradient,
                               .rest = rest,
                               .force = force_at,
                               .hessian = hessian};
