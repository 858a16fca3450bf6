// Rigid bodies: checks, the motion between contacts, and the state as bytes.
//
// The turning keeps its angular momentum to rounding and is the same backwards in time, so its
// energy does not drift; it needs one small Newton iteration in a step. docs/theory/rigid.md
#include "rigid/rigid.h"

#include "base/hash.h"
#include "base/log.h"
#include "body/surface.h"
#include "curve/curve.h"
#include "math/dense.h"
#include "math/eigen.h"
#include "math/rotation.h"
#include "math/turning.h"
#include "rigid/cylinder.h"
#include "rigid/shape.h"

#include <string.h>

// rad/s: a turning that is slower does not count as one where errors are relative to it.
static const double STILL = 1.0e-6;

// Of the sum of the principal moments: by so much one may exceed the others, as of a flat body in
// numbers of ten digits.
static const double FLAT_BODY = 1.0e-10;

enum { MAX_PIECES = 100000 };

TdlRigidDef tdl_rigid_def_default(void) {
    return (TdlRigidDef){.shape = TDL_RIGID_SPHERE,
                         .radius = 0.01,
                         .density = 1000.0,
                         .pose.rotation = tdl_identity33()};
}

static bool positive(double x) {
    return isfinite(x) && x > 0.0;
}

static const char* find_chain_fault(const TdlRigidDef* def) {
    if (def->pieces == NULL || def->piece_count < 1 || def->piece_count > MAX_PIECES) {
        return "piece_count must be from 1 to 100000";
    }
    for (int i = 0; i < def->piece_count; ++i) {
        const TdlCurvePiece* piece = &def->pieces[i];
        if (!positive(piece->length) || !tdl_finite3(piece->curvature)) {
            return "length of a piece must be positive, its curvature finite";
        }
        if (!(hypot(piece->curvature.y, piece->curvature.z) * def->radius < 1.0)) {
            return "curvature of a piece times radius must be below 1";
        }
    }
    return NULL;
}

static const char* find_cylinder_fault(const TdlRigidDef* def) {
    if (!positive(def->length)) {
        return "length must be positive";
    }
    if (!(def->rounding >= 0.0 && def->rounding < fmin(def->radius, 0.5 * def->length))) {
        return "rounding must not be negative, and below radius and half the length";
    }
    return def->inner_radius >= 0.0 && def->inner_radius < def->radius &&
                   def->inner_radius <= def->radius - def->rounding
               ? NULL
               : "inner_radius must not be negative, below radius and at most it less rounding";
}

static const char* find_shape_fault(const TdlRigidDef* def) {
    bool may_be_zero = def->shape == TDL_RIGID_BOX || def->shape == TDL_RIGID_MESH;
    if (!positive(def->radius) && !(may_be_zero && def->radius == 0.0)) {
        return may_be_zero ? "radius must not be negative" : "radius must be positive";
    }
    bool cylinder = def->shape == TDL_RIGID_CYLINDER;
    if (def->inner_radius != 0.0 && def->shape != TDL_RIGID_SPHERE && !cylinder) {
        return "inner_radius is of a sphere or a cylinder only";
    }
    if (def->rounding != 0.0 && !cylinder) {
        return "rounding is of a cylinder only";
    }
    switch (def->shape) {
    case TDL_RIGID_SPHERE:
        return def->inner_radius >= 0.0 && def->inner_radius < def->radius
                   ? NULL
                   : "inner_radius must not be negative, and below radius";
    case TDL_RIGID_CAPSULE:
        return isfinite(def->length) && def->length >= 0.0 ? NULL : "length must not be negative";
    case TDL_RIGID_BOX:
        if (!positive(def->half.x) || !positive(def->half.y) || !positive(def->half.z)) {
            return "half must be positive";
        }
        return fmin(def->half.x, fmin(def->half.y, def->half.z)) >= def->radius
                   ? NULL
                   : "radius must not exceed half";
    case TDL_RIGID_CURVES:
        return find_chain_fault(def);
    case TDL_RIGID_MESH:
        return tdl_mesh_fault(&def->mesh, &(int){0});
    case TDL_RIGID_CYLINDER:
        return find_cylinder_fault(def);
    }
    return "shape must be sphere, capsule, box, curves, mesh or cylinder";
}

// Principal moments a, b, c of any body fulfil a, b, c > 0 and c <= a + b. (B.17)
static bool is_inertia(TdlMat3 j) {
    double value[3];
    if (!tdl_finite3(j.cx) || !tdl_finite3(j.cy) || !tdl_finite3(j.cz) || j.cx.y != j.cy.x ||
        j.cx.z != j.cz.x || j.cy.z != j.cz.y) {
        return false;
    }
    tdl_eigen_3(j, value, &(TdlMat3){0});
    double sum = value[0] + value[1] + value[2];
    return value[0] > 0.0 && 2.0 * value[2] <= sum * (1.0 + FLAT_BODY);
}

static const char* find_mass_fault(const TdlRigidDef* def) {
    if (!positive(def->density)) {
        return "density must be positive";
    }
    if (!(isfinite(def->mass) && def->mass >= 0.0)) {
        return "mass must be positive";
    }
    bool own = rigid_has_inertia(def);
    if (own && !is_inertia(def->inertia)) {
        return "inertia must be symmetric, its principal moments positive and none above the sum "
               "of the others";
    }
    if (def->has_centre && (!own || !tdl_finite3(def->centre))) {
        return own ? "centre must be finite" : "centre needs an inertia about it";
    }
    return NULL;
}

const char* tdl_rigid_def_fault(const TdlRigidDef* def) {
    const char* fault = find_shape_fault(def);
    if (fault != NULL) {
        return fault;
    }
    fault = find_mass_fault(def);
    if (fault != NULL) {
        return fault;
    }
    if (!tdl_pose_is_good(def->pose)) {
        return "pose must be a finite place and a rotation";
    }
    if (!tdl_finite3(def->velocity) || !tdl_finite3(def->angular_velocity)) {
        return "velocity and angular_velocity must be finite";
    }
    if (def->material < 0 || def->material >= TDL_MATERIAL_LIMIT) {
        return "material must be from 0 to 63";
    }
    return NULL;
}

// --- making ----------------------------------------------------------------------------------

static TdlStatus copy_pieces(const TdlHost* host, TdlRigidDef* def) {
    size_t count = (size_t)def->piece_count;
    TdlCurvePiece* pieces = tdl_alloc_array(&host->mem, count, sizeof *pieces);
    if (pieces == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(pieces, def->pieces, count * sizeof *pieces);
    def->pieces = pieces;
    return TDL_STATUS_OK;
}

// Of a mesh that has an inside.
static TdlStatus copy_mesh(const TdlHost* host, TdlRigidDef* def, TdlMesh given) {
    const char* fault = NULL;
    int triangle;
    TdlStatus status = solid_check(host, &given, &fault, &triangle);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (fault != NULL && triangle < 0) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "rigid: %s", fault);
    }
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "rigid: triangle %d: %s", triangle, fault);
    }
    size_t vertices = (size_t)given.vertex_count, corners = 3 * (size_t)given.triangle_count;
    TdlVec3* vertex = tdl_alloc_array(&host->mem, vertices, sizeof *vertex);
    int* corner = tdl_alloc_array(&host->mem, corners, sizeof *corner);
    def->mesh = (TdlMesh){vertex, given.vertex_count, corner, given.triangle_count};
    if (vertex == NULL || corner == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(vertex, given.vertices, vertices * sizeof *vertex);
    memcpy(corner, given.triangles, corners * sizeof *corner);
    return TDL_STATUS_OK;
}

static TdlStatus copy_shape(const TdlHost* host, Rigid* rigid) {
    TdlRigidDef* def = &rigid->def;
    TdlRigidDef given = *def;
    def->pieces = NULL;
    def->piece_count = 0;
    def->mesh = (TdlMesh){0};
    TdlStatus status = TDL_STATUS_OK;
    if (def->shape == TDL_RIGID_CURVES) {
        status = copy_pieces(host, &given);
        def->pieces = status == TDL_STATUS_OK ? given.pieces : NULL;
        def->piece_count = given.piece_count;
    } else if (def->shape == TDL_RIGID_MESH) {
        status = copy_mesh(host, def, given.mesh);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    rigid->curve_count = rigid_shape_curve_count(def);
    rigid->curves = tdl_alloc_array(&host->mem, (size_t)rigid->curve_count, sizeof *rigid->curves);
    return rigid->curves == NULL ? TDL_STATUS_NO_MEMORY
                                 : rigid_shape_curves(host, def, rigid->curves);
}

static bool set_mass(Rigid* rigid) {
    RigidMass mass = rigid_shape_mass(&rigid->def, rigid->curves, rigid->curve_count);
    rigid->mass = mass.mass;
    rigid->centre = mass.centre;
    rigid->inertia = mass.inertia;
    rigid->size = rigid_shape_size(&rigid->def);
    memcpy(rigid->inertia_factor, &mass.inertia, sizeof rigid->inertia_factor);
    for (int i = 0; i < rigid->curve_count; ++i) {
        rigid->curves[i].origin = tdl_sub3(rigid->curves[i].origin, mass.centre);
    }
    return isfinite(mass.mass) && mass.mass > 0.0 && tdl_cholesky_3(rigid->inertia_factor) == 3;
}

// What is touched in the place of curves, and the curves of a mesh: the edges of its surface.
static TdlStatus make_surface(const TdlHost* host, Rigid* rigid) {
    rigid->has_solid = rigid_shape_solid(&rigid->def, rigid->centre, &rigid->solid);
    TdlStatus status = rigid_shape_surface(host, &rigid->def, rigid->centre, &rigid->surface);
    if (status == TDL_STATUS_OK && rigid->def.shape == TDL_RIGID_CYLINDER) {
        rigid->cylinder = cylinder_core(&rigid->def, rigid->centre);
        status = cylinder_ends(host, &rigid->cylinder, &rigid->ends);
        rigid->cylinder.ends = rigid->ends;
    }
    if (status != TDL_STATUS_OK || rigid->def.shape != TDL_RIGID_MESH) {
        return status;
    }
    tdl_free(&host->mem, rigid->curves);
    rigid->curve_count = rigid_surface_edges(host, rigid->surface, NULL);
    rigid->curves = tdl_alloc_array(&host->mem, (size_t)rigid->curve_count, sizeof *rigid->curves);
    if (rigid->curves == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    rigid_surface_edges(host, rigid->surface, rigid->curves);
    return TDL_STATUS_OK;
}

TdlStatus rigid_create(const TdlHost* host, const TdlRigidDef* def, Rigid** out) {
    const char* fault = tdl_rigid_def_fault(def);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "rigid: %s", fault);
    }
    Rigid* rigid = tdl_alloc_zero(&host->mem, sizeof *rigid);
    if (rigid == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    rigid->def = *def;
    TdlStatus status = copy_shape(host, rigid);
    if (status == TDL_STATUS_OK && !set_mass(rigid)) {
        status = tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "rigid: mass is %g kg, inertia too small",
                          rigid->mass);
    }
    if (status == TDL_STATUS_OK) {
        status = make_surface(host, rigid);
    }
    if (status != TDL_STATUS_OK) {
        rigid_destroy(host, rigid);
        return status;
    }
    rigid->pose.rotation = def->pose.rotation;
    rigid->pose.position =
        tdl_add3(def->pose.position, tdl_mul33_3(def->pose.rotation, rigid->centre));
    tdl_store3(rigid->v, 0, def->velocity);
    tdl_store3(rigid->v, 1, def->angular_velocity);
    *out = rigid;
    return TDL_STATUS_OK;
}

void rigid_destroy(const TdlHost* host, Rigid* rigid) {
    if (rigid != NULL) {
        surface_destroy(host, rigid->surface);
        surface_destroy(host, rigid->ends);
        tdl_free(&host->mem, (void*)(uintptr_t)rigid->def.pieces);
        tdl_free(&host->mem, (void*)(uintptr_t)rigid->def.mesh.vertices);
        tdl_free(&host->mem, (void*)(uintptr_t)rigid->def.mesh.triangles);
        tdl_free(&host->mem, rigid->curves);
        tdl_free(&host->mem, rigid);
    }
}

TdlPose rigid_pose(const Rigid* rigid) {
    TdlPose pose = rigid->pose;
    pose.position = tdl_sub3(pose.position, tdl_mul33_3(pose.rotation, rigid->centre));
    return pose;
}

// --- the step --------------------------------------------------------------------------------

static TdlVec3 solve_inertia(const Rigid* rigid, TdlVec3 l) {
    double x[3] = {l.x, l.y, l.z};
    tdl_cholesky_3_solve(rigid->inertia_factor, x);
    return tdl_load3(x, 0);
}

bool rigid_predict(Rigid* rigid, double dt, TdlVec3 gravity) {
    // weight over the time between both velocities (B.5)
    TdlVec3 v = tdl_axpy3(tdl_load3(rigid->v, 0), 0.5 * (rigid->dt_before + dt), gravity);

    // momentum as the body sees it now, and the rate that carries it (B.6)
    TdlMat3 r = rigid->pose.rotation;
    TdlVec3 before = tdl_tmul33_3(r, tdl_load3(rigid->v, 1));
    TdlMat3 back = tdl_rotation_exp(tdl_scale3(-0.5 * rigid->dt_before, before));
    TdlVec3 l = tdl_mul33_3(back, tdl_mul33_3(rigid->inertia, before));
    TdlVec3 w = tdl_turning_rate(rigid->inertia, l, before, 0.5 * dt);

    rigid->straight = v;
    rigid->turning = l;
    tdl_store3(rigid->v_free, 0, v);
    tdl_store3(rigid->v_free, 1, tdl_mul33_3(r, w));
    return tdl_finite3(v) && tdl_finite3(w);
}

void rigid_drive(Rigid* rigid, const double impulse[RIGID_DOFS]) {
    double change[RIGID_DOFS];
    memcpy(change, impulse, sizeof change);
    rigid_solve(rigid, change);
    for (int k = 0; k < RIGID_DOFS; ++k) {
        rigid->v_free[k] += change[k];
    }
    TdlVec3 torque = tdl_tmul33_3(rigid->pose.rotation, tdl_load3(impulse, 1));
    rigid->straight = tdl_add3(rigid->straight, tdl_load3(change, 0));
    rigid->turning = tdl_add3(rigid->turning, torque);
}

// The angular velocity with a torque's impulse, world axes. (B.12)
static TdlVec3 turned_by(const Rigid* rigid, double dt, TdlVec3 impulse) {
    TdlMat3 r = rigid->pose.rotation;
    TdlVec3 l = tdl_add3(rigid->turning, tdl_tmul33_3(r, impulse));
    return tdl_mul33_3(r, tdl_turning_rate(rigid->inertia, l, solve_inertia(rigid, l), 0.5 * dt));
}

double rigid_turn_off(Rigid* rigid, double dt, const double v[RIGID_DOFS],
                      const double impulse[RIGID_DOFS], double pressed) {
    TdlVec3 w = tdl_load3(v, 1), torque = impulse == NULL ? (TdlVec3){0} : tdl_load3(impulse, 1);
    TdlVec3 off = tdl_sub3(turned_by(rigid, dt, torque), w);
    tdl_store3(rigid->again, 0, off);
    double each = pressed / sqrt(3.0);
    TdlVec3 most = solve_inertia(rigid, (TdlVec3){each, each, each});
    return tdl_norm3(off) / (tdl_norm3(w) + tdl_norm3(most) + STILL);
}

void rigid_turn_again(Rigid* rigid, double dt, const double impulse[RIGID_DOFS]) {
    double x[RIGID_DOFS] = {0.0};
    TdlVec3 torque = impulse == NULL ? (TdlVec3){0} : tdl_load3(impulse, 1);
    TdlVec3 v = rigid->straight, w = turned_by(rigid, dt, torque);
    tdl_store3(x, 1, torque);
    rigid_solve(rigid, x);
    tdl_store3(rigid->v_free, 0, v);
    tdl_store3(rigid->v_free, 1, tdl_sub3(w, tdl_load3(x, 1)));
}

void rigid_turn_end(Rigid* rigid, double dt, const double impulse[RIGID_DOFS]) {
    tdl_store3(rigid->v_free, 1, turned_by(rigid, dt, tdl_load3(impulse, 1)));
}

double rigid_turn_loss(const Rigid* rigid) {
    TdlMat3 r = rigid->pose.rotation;
    TdlVec3 w = tdl_tmul33_3(r, tdl_load3(rigid->v_free, 1));
    TdlVec3 before = tdl_tmul33_3(r, tdl_load3(rigid->v, 1));
    return 0.5 * tdl_dot3(w, tdl_mul33_3(rigid->inertia, w)) +
           0.5 * tdl_dot3(before, tdl_mul33_3(rigid->inertia, before)) -
           tdl_dot3(w, rigid->turning);
}

void rigid_jacobian(const Rigid* rigid, TdlVec3 point, TdlMat3 basis, double rows[18]) {
    TdlVec3 arm = tdl_sub3(point, rigid->pose.position);
    const TdlVec3 axis[3] = {basis.cx, basis.cy, basis.cz};
    for (int k = 0; k < 3; ++k) {
        tdl_store3(rows, 2 * k, axis[k]);
        tdl_store3(rows, 2 * k + 1, tdl_cross3(arm, axis[k]));
    }
}

void rigid_solve(const Rigid* rigid, double x[RIGID_DOFS]) {
    TdlVec3 l = tdl_tmul33_3(rigid->pose.rotation, tdl_load3(x, 1));
    tdl_store3(x, 0, tdl_scale3(1.0 / rigid->mass, tdl_load3(x, 0)));
    tdl_store3(x, 1, tdl_mul33_3(rigid->pose.rotation, solve_inertia(rigid, l)));
}

void rigid_whiten(const Rigid* rigid, double x[RIGID_DOFS]) {
    tdl_store3(x, 0, tdl_scale3(1.0 / sqrt(rigid->mass), tdl_load3(x, 0)));
    tdl_store3(x, 1, tdl_tmul33_3(rigid->pose.rotation, tdl_load3(x, 1)));
    tdl_lower_solve_fixed(3, rigid->inertia_factor, x + 3);
}

void rigid_unwhiten(const Rigid* rigid, double x[RIGID_DOFS]) {
    tdl_store3(x, 0, tdl_scale3(1.0 / sqrt(rigid->mass), tdl_load3(x, 0)));
    tdl_lower_transpose_solve_fixed(3, rigid->inertia_factor, x + 3);
    tdl_store3(x, 1, tdl_mul33_3(rigid->pose.rotation, tdl_load3(x, 1)));
}

TdlPose rigid_pose_after(const Rigid* rigid, double dt, const double v[RIGID_DOFS]) {
    TdlPose pose = rigid->pose;
    TdlVec3 turn = tdl_scale3(dt, tdl_load3(v, 1));
    pose.position = tdl_axpy3(pose.position, dt, tdl_load3(v, 0));
    if (tdl_dot3(turn, turn) > 0.0) {
        pose.rotation = tdl_rotation_nearest(tdl_mul33(tdl_rotation_exp(turn), pose.rotation));
    }
    return pose;
}

void rigid_advance(Rigid* rigid, double dt, const double v[RIGID_DOFS]) {
    rigid->pose = rigid_pose_after(rigid, dt, v);
    memcpy(rigid->v, v, sizeof rigid->v);
    rigid->dt_before = dt;
}

static double spin_energy(const Rigid* rigid, TdlVec3 rate) {
    TdlVec3 w = tdl_tmul33_3(rigid->pose.rotation, rate);
    return 0.5 * tdl_dot3(w, tdl_mul33_3(rigid->inertia, w));
}

TdlEnergy rigid_energy(const Rigid* rigid, TdlVec3 gravity) {
    TdlVec3 v = tdl_load3(rigid->v, 0);
    TdlVec3 half_back = tdl_axpy3(rigid->pose.position, -0.5 * rigid->dt_before, v);
    double spin = spin_energy(rigid, tdl_load3(rigid->v, 1));
    return (TdlEnergy){.kinetic = 0.5 * rigid->mass * tdl_dot3(v, v) + spin,
                       .gravity = -rigid->mass * tdl_dot3(gravity, half_back)};
}

double rigid_way_loss(const Rigid* rigid, TdlVec3 gravity) {
    TdlVec3 jump = tdl_sub3(tdl_load3(rigid->v_free, 0), tdl_load3(rigid->v, 0));
    TdlVec3 weight = tdl_scale3(rigid->dt_before, gravity);
    return 0.5 * rigid->mass * tdl_dot3(jump, tdl_sub3(jump, weight));
}

double rigid_step_loss(const Rigid* rigid, TdlVec3 gravity, const double free[RIGID_DOFS]) {
    TdlVec3 spun = tdl_load3(free, 1), turned = tdl_sub3(tdl_load3(rigid->v_free, 1), spun);
    return rigid_way_loss(rigid, gravity) + spin_energy(rigid, tdl_load3(rigid->v, 1)) -
           spin_energy(rigid, spun) + spin_energy(rigid, turned);
}

double rigid_step_error(const Rigid* rigid) {
    return 0.5 * tdl_norm3(tdl_sub3(tdl_load3(rigid->v_free, 1), tdl_load3(rigid->v, 1)));
}

void rigid_curves(const Rigid* rigid, TdlCurve* out) {
    for (int i = 0; i < rigid->curve_count; ++i) {
        out[i] = curve_moved(&rigid->curves[i], rigid->pose);
    }
}

// --- the state -------------------------------------------------------------------------------

// pose, v and dt_before, packed
enum { STATE_COUNT = 12 + RIGID_DOFS + 1 };

static void pack(const Rigid* rigid, double state[STATE_COUNT]) {
    memcpy(state, &rigid->pose, 12 * sizeof(double));
    memcpy(state + 12, rigid->v, sizeof rigid->v);
    state[STATE_COUNT - 1] = rigid->dt_before;
}

size_t rigid_state_size(const Rigid* rigid) {
    (void)rigid;
    return STATE_COUNT * sizeof(double);
}

void rigid_save_state(const Rigid* rigid, void* bytes) {
    double state[STATE_COUNT];
    pack(rigid, state);
    memcpy(bytes, state, sizeof state);
}

void rigid_load_state(Rigid* rigid, const void* bytes) {
    double state[STATE_COUNT];
    memcpy(state, bytes, sizeof state);
    memcpy(&rigid->pose, state, 12 * sizeof(double));
    memcpy(rigid->v, state + 12, sizeof rigid->v);
    rigid->dt_before = state[STATE_COUNT - 1];
}

bool rigid_state_finite(const Rigid* rigid) {
    double state[STATE_COUNT], sum = 0.0;
    pack(rigid, state);
    for (int i = 0; i < STATE_COUNT; ++i) {
        sum += 0.0 * state[i]; // a NaN or an infinity survives multiplication by zero
    }
    return sum == 0.0;
}

uint64_t rigid_state_hash(const Rigid* rigid, uint64_t hash) {
    double state[STATE_COUNT];
    pack(rigid, state);
    return hash_bytes(hash, state, sizeof state);
}
