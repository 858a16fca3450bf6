// Geometry and energies of the nodal rods. The step is in nodal_step.c, statics in nodal_statics.c.
#include "rod/nodal.h"

#include "math/eigen.h"
#include "math/rotation.h"

#include <string.h>

// Turning of one element, rad, that neighbouring edges still tell from its complement.
static const double MAX_TURNING = 3.0;

// An axis about which a rod has less than this share of its largest moment of inertia is none.
static const double NO_AXIS = 1.0e-14;

// --- sections -------------------------------------------------------------------------------

double nodal_shear_stiffness(const Rod* rod, int edge) {
    return rod->share[edge].shearing * rod->at_rest.shearing;
}

double nodal_polar_inertia(const Rod* rod, int edge) {
    double gyration = rod->share[edge].gyration * rod->gyration;
    return gyration * rod_element_density(rod, edge) * rod->element_length;
}

// Of what the two edges that meet at a vertex have, the mean; at an end, its one's.
static double mean_at(const Rod* rod, int i, double before, double after) {
    return i == 0 ? after : i == rod->element_count ? before : 0.5 * (before + after);
}

// The same of springs in a row: a cell turns by what its halves give way, under one moment.
static double row_at(const Rod* rod, int i, double before, double after) {
    double harmonic = before == after ? after : 2.0 * before * after / (before + after);
    return i == 0 ? after : i == rod->element_count ? before : harmonic;
}

TdlVec3 nodal_cell_stiffness(const Rod* rod, int i) {
    const RodShare* a = &rod->share[i > 0 ? i - 1 : 0];
    const RodShare* b = &rod->share[i < rod->element_count ? i : i - 1];
    TdlVec3 K = rod->stiffness, x = a->stiffness, y = b->stiffness;
    return (TdlVec3){row_at(rod, i, x.x, y.x) * K.x, row_at(rod, i, x.y, y.y) * K.y,
                     row_at(rod, i, x.z, y.z) * K.z};
}

double nodal_cell_factor(const Rod* rod, int i) {
    if (i > 0 && i < rod->element_count) {
        return 1.0;
    }
    return (i == 0 ? rod->start_hold : rod->end_hold) == TDL_HOLD_CLAMPED ? 2.0 : 0.0;
}

// --- shapes ---------------------------------------------------------------------------------

NodalShape nodal_shape(const Rod* rod) {
    return (NodalShape){.rod = rod,
                        .q = rod->q,
                        .start = quat_from_matrix(rod->base.now.rotation),
                        .end = quat_from_matrix(rod->end.now.rotation)};
}

static bool turns_too_much(const TdlRodDef* def, TdlVec3 kappa) {
    return !(tdl_norm3(kappa) * def->length / def->element_count < MAX_TURNING);
}

const char* nodal_find_fault(const TdlRodDef* def) {
    bool fault = false;
    for (int i = 0; i < def->element_count && !fault; ++i) {
        fault =
            turns_too_much(def, def->natural_curvature_of != NULL ? def->natural_curvature_of[i]
                                                                  : def->natural_curvature) ||
            turns_too_much(def, def->curvature_of != NULL ? def->curvature_of[i] : def->curvature);
    }
    return fault ? "curvature times element length must be below 3 for a model made of edges"
                 : NULL;
}

// The rotation between the middles of elements i - 1 and i; from an end, half of one.
static Quat turning(const Rod* rod, const TdlVec3* kappa, int i) {
    double half = 0.5 * rod->at_rest.element_length;
    Quat before = {1.0, 0.0, 0.0, 0.0}, after = before;
    if (i > 0) {
        before = quat_exp(tdl_scale3(half, kappa[i - 1]));
    }
    if (i < rod->element_count) {
        after = quat_exp(tdl_scale3(half, kappa[i]));
    }
    return quat_mul(before, after);
}

// An edge has the direction that the curve has in the middle of its element. (D.10)
void nodal_set_curvature(const Rod* rod, const TdlVec3* kappa, double* q) {
    const NodalKind* kind = nodal_kind(rod);
    int n = rod->element_count, stride = nodal_stride(rod);
    if (q == rod->q_rest) {
        for (int i = 0; i <= n; ++i) {
            kind->set_rest(turning(rod, kappa, i), q + 3 * i);
        }
        return;
    }
    TdlVec3 x = tdl_scale3(1.0 / rod->element_length, rod->base.now.position);
    Quat frame = quat_from_matrix(rod->base.now.rotation);
    tdl_store3(q, 0, x);
    for (int i = 0; i < n; ++i) {
        frame = quat_unit(quat_mul(frame, turning(rod, kappa, i)));
        kind->set_frame(rod, i, frame, q + i * stride + 3);
        x = tdl_add3(x, quat_first_axis(frame));
        tdl_store3(q + (i + 1) * stride, 0, x);
    }
}

// The frame of an edge after the last one's; without twist where the model has none.
static TdlMat3 next_frame(const Rod* rod, int edge, TdlMat3 last) {
    if (!rod->model->frameless) {
        return nodal_kind(rod)->frame(rod, edge);
    }
    NodalShape shape = {.rod = rod, .q = rod->q};
    TdlVec3 tangent = nodal_edge(&shape, edge), axis = tdl_cross3(last.cx, tangent);
    double sine = tdl_norm3(axis), cosine = tdl_dot3(last.cx, tangent);
    if (!(sine > 0.0)) {
        return cosine > 0.0 ? last : tdl_frame_from_tangent_hint(tangent, last.cy);
    }
    TdlMat3 turn = tdl_rotation_exp(tdl_scale3(atan2(sine, cosine) / sine, axis));
    return tdl_rotation_nearest(tdl_mul33(turn, last));
}

TdlPose nodal_start(const Rod* rod) {
    TdlPose start = {nodal_point(rod, 0, 0.0), rod->base.now.rotation};
    if (rod->start_hold != TDL_HOLD_CLAMPED) {
        TdlMat3 first = next_frame(rod, 0, start.rotation), turn = tdl_identity33();
        if (rod->element_count > 1) {
            turn = tdl_tmul33(first, next_frame(rod, 1, first));
        }
        TdlMat3 half = tdl_rotation_exp(tdl_scale3(-0.5, tdl_rotation_log(turn)));
        start.rotation = tdl_rotation_nearest(tdl_mul33(first, half));
    }
    return start;
}

// Back from (D.10): what an element turns in its first half is what its vertex turns, less the
// half of the element before.
void nodal_curvature(const Rod* rod, TdlVec3* kappa) {
    TdlMat3 frame = nodal_start(rod).rotation;
    Quat at = quat_from_matrix(frame), half = {1.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < rod->element_count; ++i) {
        frame = next_frame(rod, i, frame);
        Quat next = quat_from_matrix(frame);
        Quat turn = quat_mul(quat_conj(at), next);
        TdlVec3 q = quat_log(quat_mul(quat_conj(half), turn));
        half = quat_exp(q);
        kappa[i] = tdl_scale3(2.0 / rod->at_rest.element_length, q);
        at = next;
    }
}

void nodal_refresh(Rod* rod) {
    nodal_kind(rod)->keep_frames(rod, false);
}

void nodal_curves(const Rod* rod, RodCurve* curves) {
    NodalShape shape = nodal_shape(rod);
    for (int i = 0; i < rod->element_count; ++i) {
        TdlVec3 edge = nodal_edge(&shape, i);
        TdlVec3 second = nodal_kind(rod)->frame(rod, i).cy;
        curves[i] = (RodCurve){
            .start = {nodal_point(rod, i, 0.0), tdl_frame_from_tangent_hint(edge, second)},
            .length = tdl_norm3(edge) * rod->element_length};
    }
}

// Beyond the middle of the last edge the curve turns on, by half of what it turned at the last
// vertex.
TdlMat3 nodal_end_frame(const Rod* rod) {
    const NodalKind* kind = nodal_kind(rod);
    int last = rod->element_count - 1;
    TdlMat3 frame = kind->frame(rod, last);
    if (last == 0) {
        return frame;
    }
    TdlMat3 turn = tdl_tmul33(kind->frame(rod, last - 1), frame);
    TdlMat3 half = tdl_rotation_exp(tdl_scale3(0.5, tdl_rotation_log(turn)));
    return tdl_rotation_nearest(tdl_mul33(frame, half));
}

TdlVec3 nodal_point(const Rod* rod, int element, double s) {
    NodalShape shape = {.rod = rod, .q = rod->q};
    TdlVec3 x = tdl_axpy3(nodal_vertex(&shape, element), s, nodal_edge(&shape, element));
    return tdl_scale3(rod->element_length, x);
}

void nodal_shift(Rod* rod, TdlVec3 by) {
    by = tdl_scale3(1.0 / rod->element_length, by);
    for (int i = 0; i <= rod->element_count; ++i) {
        double *now = rod->q + i * nodal_stride(rod),
               *before = rod->q_before + i * nodal_stride(rod);
        tdl_store3(now, 0, tdl_add3(tdl_load3(now, 0), by));
        tdl_store3(before, 0, tdl_add3(tdl_load3(before, 0), by));
    }
}

// The angular momentum of places of vertices that move so, in element lengths, about the origin.
static TdlVec3 moment_of(const Rod* rod, const double* places, TdlVec3 frame) {
    TdlVec3 sum = {0};
    for (int i = 0; i <= rod->element_count; ++i) {
        int at = i * nodal_stride(rod);
        TdlVec3 v = tdl_sub3(tdl_load3(rod->v + at, 0), frame);
        TdlVec3 p = tdl_scale3(nodal_mass(rod, at), v);
        sum = tdl_add3(sum, tdl_cross3(tdl_load3(places + at, 0), p));
    }
    return sum;
}

static TdlVec3 centre_of(const Rod* rod) {
    TdlVec3 sum = {0};
    double total = 0.0;
    for (int i = 0; i <= rod->element_count; ++i) {
        int at = i * nodal_stride(rod);
        sum = tdl_axpy3(sum, nodal_mass(rod, at), tdl_load3(rod->q + at, 0));
        total += nodal_mass(rod, at);
    }
    return tdl_scale3(1.0 / total, sum);
}

// Velocities of vertex i and edge i when the rod turns about its centre as w tells; the frames are
// those of the shape in which velocities were found. (D.14)
static void turn_at(const Rod* rod, int i, TdlVec3 centre, TdlVec3 w, double out[7]) {
    NodalShape before = {.rod = rod, .q = rod->q_before};
    TdlVec3 arm = tdl_sub3(tdl_load3(rod->q + i * nodal_stride(rod), 0), centre);
    tdl_store3(out, 0, tdl_cross3(w, arm));
    if (nodal_kind(rod)->edge_dofs > 0 && i < rod->element_count) {
        nodal_kind(rod)->spin(&before, i, w, out + 3);
    }
}

static TdlMat3 inertia_of(const Rod* rod, TdlVec3 centre) {
    const TdlVec3 axis[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    double J[3][3] = {{0.0}};
    int stride = nodal_stride(rod);
    for (int i = 0; i <= rod->element_count; ++i) {
        double turn[3][7];
        for (int k = 0; k < 3; ++k) {
            turn_at(rod, i, centre, axis[k], turn[k]);
        }
        for (int c = 0; c < (i < rod->element_count ? stride : 3); ++c) {
            double m = nodal_mass(rod, i * stride + c);
            for (int k = 0; k < 9; ++k) {
                J[k / 3][k % 3] += m * turn[k / 3][c] * turn[k % 3][c];
            }
        }
    }
    return (TdlMat3){tdl_load3(J[0], 0), tdl_load3(J[1], 0), tdl_load3(J[2], 0)};
}

void nodal_keep_pushed(Rod* rod, const double* moved, TdlVec3 frame) {
    frame = tdl_scale3(1.0 / rod->element_length, frame);
    TdlVec3 lost = moment_of(rod, moved, frame), centre = centre_of(rod), w = {0};
    double values[3], turn[7];
    TdlMat3 axes;
    tdl_eigen_3(inertia_of(rod, centre), values, &axes);
    const TdlVec3 axis[3] = {axes.cx, axes.cy, axes.cz};
    for (int k = 0; k < 3; ++k) {
        bool turns = values[k] > NO_AXIS * values[2];
        w = tdl_axpy3(w, turns ? -tdl_dot3(lost, axis[k]) / values[k] : 0.0, axis[k]);
    }
    for (int i = 0; i <= rod->element_count; ++i) {
        int stride = nodal_stride(rod);
        turn_at(rod, i, centre, w, turn);
        for (int c = 0; c < (i < rod->element_count ? stride : 3); ++c) {
            rod->v[i * stride + c] += turn[c];
        }
    }
    if (nodal_kind(rod)->tidy != NULL) {
        nodal_kind(rod)->tidy(rod, rod->q);
    }
}

TdlSpan nodal_movers(const Rod* rod, int element) {
    int stride = nodal_stride(rod);
    return (TdlSpan){element * stride, stride + 3};
}

void nodal_jacobian(const Rod* rod, int element, double s, TdlMat3 basis, double* rows) {
    int n = nodal_movers(rod, element).count, stride = nodal_stride(rod);
    TdlVec3 axis[3] = {basis.cx, basis.cy, basis.cz};
    for (int k = 0; k < 3; ++k) {
        double *row = rows + (ptrdiff_t)k * n, l = rod->element_length;
        memset(row, 0, (size_t)n * sizeof *row);
        tdl_store3(row, 0, tdl_scale3((1.0 - s) * l, axis[k]));
        tdl_store3(row + stride, 0, tdl_scale3(s * l, axis[k]));
    }
}

// --- elements -------------------------------------------------------------------------------

int nodal_element_count(const Rod* rod) {
    return rod->element_count + nodal_kind(rod)->element_count(rod->element_count);
}

// Stretch: |e| - 1, with slope t and second derivative (I - t t') / |e|. (D.3)
static void stretch_element(const NodalShape* shape, int i, const double* force, NodalElement* out,
                            NodalBlock second) {
    int stride = nodal_stride(shape->rod);
    TdlVec3 edge = nodal_edge(shape, i);
    double length = tdl_norm3(edge);
    double t[3] = {edge.x / length, edge.y / length, edge.z / length};
    *out = (NodalElement){.first = i * stride, .dof_count = stride + 3, .count = 1};
    out->value[0] = length - 1.0;
    out->stiffness[0] = shape->rod->share[i].stretching * rod_stretch_stiffness(shape->rod) *
                        shape->rod->element_length;
    double tension = force != NULL ? force[0] : out->stiffness[0] * out->value[0];
    for (int c = 0; c < 3; ++c) {
        out->slope[0][c] = -t[c];
        out->slope[0][stride + c] = t[c];
        for (int d = 0; d < 3 && second != NULL; ++d) {
            double h = tension * ((c == d ? 1.0 : 0.0) - t[c] * t[d]) / length;
            second[c][d] = second[stride + c][stride + d] = h;
            second[c][stride + d] = second[stride + c][d] = -h;
        }
    }
}

void nodal_element(const NodalShape* shape, int index, const double* force, NodalElement* out,
                   NodalBlock second) {
    if (second != NULL) {
        memset(second, 0, sizeof(NodalBlock));
    }
    if (index < shape->rod->element_count) {
        stretch_element(shape, index, force, out, second);
        return;
    }
    nodal_kind(shape->rod)->element(shape, index - shape->rod->element_count, force, out, second);
}

// --- loads and inertia ----------------------------------------------------------------------

double nodal_mass(const Rod* rod, int dof) {
    int stride = nodal_stride(rod);
    if (dof % stride >= 3) {
        return nodal_kind(rod)->edge_inertia(rod, dof / stride);
    }
    double l = rod->element_length, m = rod->line_density * l * l * l;
    int i = dof / stride, n = rod->element_count;
    double share =
        mean_at(rod, i, rod->share[i > 0 ? i - 1 : 0].mass, rod->share[i < n ? i : n - 1].mass);
    return share * (i == 0 || i == n ? 0.5 * m : m);
}

bool nodal_is_held(const Rod* rod, int dof) {
    return (dof < 3 && rod->start_hold != TDL_HOLD_FREE) ||
           (dof >= rod->dof_count - 3 && rod->end_hold != TDL_HOLD_FREE);
}

// A torque across an edge is a pair of forces on its ends; along it, it acts on its frame. (D.11)
// `out` begins with the coordinates of the edge's first vertex.
static void add_torque(const NodalShape* shape, int element, TdlVec3 torque, double* out) {
    const NodalKind* kind = nodal_kind(shape->rod);
    TdlVec3 edge = nodal_edge(shape, element);
    if (kind->edge_dofs < 4) { // the frame does not carry all of it
        TdlVec3 pair = tdl_scale3(1.0 / tdl_dot3(edge, edge), tdl_cross3(torque, edge));
        tdl_store3(out, 0, tdl_sub3(tdl_load3(out, 0), pair));
        double* next = out + nodal_stride(shape->rod);
        tdl_store3(next, 0, tdl_add3(tdl_load3(next, 0), pair));
    }
    if (kind->edge_dofs > 0) {
        kind->torque(shape, element, torque, out + 3);
    }
}

void nodal_add_torques(const Rod* rod, int element, double s, const TdlVec3 torque[3],
                       double* rows) {
    (void)s;
    NodalShape shape = nodal_shape(rod);
    int n = nodal_movers(rod, element).count;
    for (int k = 0; k < 3; ++k) {
        add_torque(&shape, element, torque[k], rows + (ptrdiff_t)k * n);
    }
}

void nodal_dead_load(const NodalShape* shape, TdlVec3 pull, bool torques, double* out) {
    const Rod* rod = shape->rod;
    int stride = nodal_stride(rod);
    memset(out, 0, (size_t)rod->dof_count * sizeof *out);
    for (int i = 0; i <= rod->element_count; ++i) {
        double weight = nodal_mass(rod, i * stride) / rod->element_length;
        tdl_store3(out + i * stride, 0, tdl_scale3(weight, pull));
    }
    for (int i = 0; i < rod->load_count; ++i) {
        const RodLoad* load = &rod->loads[i];
        if (load->given && !torques) {
            continue;
        }
        double *a = out + load->element * stride, *b = a + stride, l = rod->element_length;
        tdl_store3(a, 0, tdl_axpy3(tdl_load3(a, 0), (1.0 - load->s) * l, load->force));
        tdl_store3(b, 0, tdl_axpy3(tdl_load3(b, 0), load->s * l, load->force));
        if (torques && tdl_dot3(load->torque, load->torque) > 0.0) {
            add_torque(shape, load->element, load->torque, out + load->element * stride);
        }
    }
}

// --- energies -------------------------------------------------------------------------------

double nodal_elastic_energy(const NodalShape* shape) {
    double sum = 0.0;
    NodalElement el;
    for (int e = 0; e < nodal_element_count(shape->rod); ++e) {
        nodal_element(shape, e, NULL, &el, NULL);
        for (int k = 0; k < el.count; ++k) {
            double strain = el.value[k] - el.rest[k];
            sum += 0.5 * el.stiffness[k] * strain * strain;
        }
    }
    return sum;
}

static double gravity_energy(const Rod* rod, TdlVec3 gravity) {
    double height = 0.0;
    for (int e = 0; e < rod->element_count; ++e) {
        height -= rod->share[e].mass * tdl_dot3(gravity, nodal_point(rod, e, 0.5));
    }
    return height * rod->line_density * rod->element_length;
}

TdlEnergy nodal_energy(const Rod* rod, TdlVec3 gravity) {
    NodalShape shape = nodal_shape(rod);
    TdlEnergy energy = {.elastic = nodal_elastic_energy(&shape),
                        .gravity = gravity_energy(rod, gravity) + rod_load_energy(rod)};
    for (int i = 0; i < rod->dof_count; ++i) {
        energy.kinetic += 0.5 * nodal_mass(rod, i) * rod->v[i] * rod->v[i];
    }
    return energy;
}
