// What acts on the vertices of a nodal rod in a step, and the couples on its edges: dead loads,
// less what changes their momentum. docs/theory/rod-forces.md
//
// The strains do not change when what they belong to turns as a whole, so all that is beyond a
// vertex feels no torque from strains that lie beyond it: the balance from the tip tells the moment
// that the strain at that vertex makes, and so do the strains themselves. O(N).
#include "math/rotation.h"
#include "rod/nodal_work.h"
#include "rod/rod_forces.h"

#include <string.h>

static const TdlVec3 AXIS[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

static void find_spin(const NodalShape* shape, int edge, TdlVec3 axis, double* rates) {
    const NodalKind* kind = nodal_kind(shape->rod);
    if (kind->spin_after != NULL) {
        kind->spin_after(shape, edge, axis, rates);
    } else if (kind->edge_dofs > 0) {
        kind->spin(shape, edge, axis, rates);
    }
}

// Torque on an edge of generalised forces on its own coordinates.
static TdlVec3 edge_couple(const NodalShape* shape, int edge, const double* force) {
    const NodalKind* kind = nodal_kind(shape->rod);
    double sum[3] = {0.0}, rates[NODAL_MAX_DOFS];
    for (int k = 0; k < 3; ++k) {
        find_spin(shape, edge, AXIS[k], rates);
        for (int i = 0; i < kind->edge_dofs; ++i) {
            sum[k] += rates[i] * force[i];
        }
    }
    return (TdlVec3){sum[0], sum[1], sum[2]};
}

// The moment of a clamp at the far end about it: what strains do when all but that end turns about
// it, damping included. (D.13) Only the one next to the clamp does anything then.
static TdlVec3 end_moment(const Rod* rod, const RodStep* step, const NodalShape* end) {
    NodalShape now = nodal_shape(rod);
    int last = rod->element_count, stride = nodal_stride(rod), first = rod->dof_count - stride - 3;
    TdlVec3 edge = nodal_edge(end, last - 1);
    double sum[3] = {0.0}, rates[3][NODAL_MAX_DOFS] = {{0.0}};
    for (int k = 0; k < 3; ++k) { // of the last edge; those before do not meet the clamp
        tdl_store3(rates[k], 0, tdl_scale3(-1.0, tdl_cross3(AXIS[k], edge)));
        find_spin(end, last - 1, AXIS[k], rates[k] + 3);
    }
    for (int e = last; e < nodal_element_count(rod); ++e) {
        NodalElement el, before;
        nodal_element(end, e, NULL, &el, NULL);
        nodal_element(&now, e, NULL, &before, NULL);
        if (el.count == 0 || el.first < first) { // it meets an edge before: not the clamp's
            continue;
        }
        for (int c = 0; c < el.count; ++c) {
            double braked = rod->damping / step->dt * (el.value[c] - before.value[c]);
            double force = el.stiffness[c] * (el.value[c] - el.rest[c] + braked);
            for (int i = 0; i < el.dof_count; ++i) {
                int at = el.first + i - first;
                for (int k = 0; k < 3 && at < stride; ++k) {
                    sum[k] -= force * el.slope[c][i] * rates[k][at];
                }
            }
        }
    }
    return (TdlVec3){sum[0], sum[1], sum[2]};
}

void rod_forces_nodal(const Rod* rod, const RodStep* step, RodForces* out, TdlVec3* clamp) {
    double l = rod->element_length, dt = step->dt, c = rod_mass_factor(rod, dt);
    int stride = nodal_stride(rod), n = rod->element_count;
    const double *v = rod->v_free, *v_before = rod->v;
    TdlVec3 pull = rod_pull(rod, step);
    out->l = l;
    for (int i = 0; i < rod->dof_count; ++i) {
        out->q[i] = rod->q[i] + dt * v[i];
    }
    NodalShape end = nodal_end_shape(rod, step, out->q);
    for (int j = 0; j <= n; ++j) {
        double m = nodal_mass(rod, j * stride) / (l * l);
        TdlVec3 change = tdl_sub3(tdl_scale3(c, tdl_load3(v + (ptrdiff_t)j * stride, 0)),
                                  tdl_load3(v_before + (ptrdiff_t)j * stride, 0));
        out->place[j] = out->node[j].position = tdl_scale3(l, nodal_vertex(&end, j));
        out->force[j] = tdl_scale3(m, tdl_axpy3(pull, -l / dt, change));
    }
    for (int e = 0; e < n; ++e) {
        double force[NODAL_MAX_DOFS];
        for (int k = 0; k < stride - 3; ++k) {
            int i = e * stride + 3 + k;
            force[k] = -nodal_mass(rod, i) * (c * v[i] - v_before[i]) / dt;
        }
        out->couple[e] = edge_couple(&end, e, force);
    }
    *clamp = rod->end_hold == TDL_HOLD_CLAMPED ? end_moment(rod, step, &end) : (TdlVec3){0};
}

// The frame of each edge goes to the node at its start; that of the far end is not used.
void rod_forces_nodal_frames(const Rod* rod, RodCurve* scratch, RodForces* out) {
    rod->model->curves(rod, scratch);
    for (int e = 0; e < rod->element_count; ++e) {
        TdlVec3 edge = tdl_sub3(out->node[e + 1].position, out->node[e].position);
        out->node[e].rotation = tdl_frame_from_tangent_hint(edge, scratch[e].start.rotation.cy);
    }
    out->node[rod->element_count].rotation = out->node[rod->element_count - 1].rotation;
}

// The frame at u of an edge: those of edges stand in their middles; half an edge from an end it
// turns on as between the two next to it.
static TdlMat3 frame_at(const RodForces* f, int count, int edge, double u) {
    if (count == 1) {
        return f->node[0].rotation;
    }
    double x = fmax(edge + u - 0.5, 0.0);
    int a = (int)fmin(x, count - 2);
    double way = edge + u - 0.5 - a;
    TdlMat3 A = f->node[a].rotation, turn = tdl_tmul33(A, f->node[a + 1].rotation);
    return tdl_mul33(A, tdl_rotation_exp(tdl_scale3(way, tdl_rotation_log(turn))));
}

// Forces on a vertex are spread over its cell, half an edge to either side; moments are those of
// forces at vertices.
RodWrench rod_forces_nodal_at(const RodForces* f, const Rod* rod, int element, double u,
                              TdlPose* at) {
    int n = rod->element_count;
    TdlPose a = f->node[element], b = f->node[element + 1];
    TdlVec3 way = tdl_sub3(b.position, a.position);
    at->position = tdl_axpy3(a.position, u, way);
    at->rotation = frame_at(f, n, element, u);
    RodWrench sum = rod_forces_about(f->beyond[element + 1], b.position, at->position);
    sum.torque = tdl_axpy3(sum.torque, 1.0 - u, f->couple[element]);
    if (u < 0.5) {
        double share = element == 0 ? 1.0 - 2.0 * u : 0.5 - u;
        sum.force = tdl_axpy3(sum.force, share, f->force[element]);
    } else {
        double share = element == n - 1 ? 2.0 * u - 1.0 : u - 0.5;
        sum.force = tdl_axpy3(sum.force, -share, f->force[element + 1]);
    }
    return sum;
}
