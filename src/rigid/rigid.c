// Rigid bodies: checks, the motion between contacts, and the state as bytes.
//
// The turning keeps its angular momentum to rounding and is the same backwards in time, so its
// energy does not drift; it needs one small Newton iteration in a step. docs/theory/rigid.md
#include "rigid/rigid.h"

#include "base/hash.h"
#include "base/log.h"
#include "curve/curve.h"
#include "math/dense.h"
#include "math/rotation.h"
#include "rigid/shape.h"

#include <float.h>
#include <string.h>

enum { MAX_PIECES = 100000, NEWTON_LIMIT = 50, HALVING_LIMIT = 30 };

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

static const char* find_shape_fault(const TdlRigidDef* def) {
    bool box = def->shape == TDL_RIGID_BOX;
    if (!positive(def->radius) && !(box && def->radius == 0.0)) {
        return box ? "radius must not be negative" : "radius must be positive";
    }
    switch (def->shape) {
    case TDL_RIGID_SPHERE:
        return NULL;
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
    }
    return "shape must be sphere, capsule, box or curves";
}

const char* tdl_rigid_def_fault(const TdlRigidDef* def) {
    const char* fault = find_shape_fault(def);
    if (fault != NULL) {
        return fault;
    }
    if (!positive(def->density)) {
        return "density must be positive";
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

static TdlStatus copy_shape(const TdlHost* host, Rigid* rigid) {
    TdlRigidDef* def = &rigid->def;
    const TdlCurvePiece* given = def->pieces;
    def->pieces = NULL;
    if (def->shape == TDL_RIGID_CURVES) {
        TdlCurvePiece* pieces =
            tdl_alloc_array(&host->mem, (size_t)def->piece_count, sizeof *pieces);
        if (pieces == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        memcpy(pieces, given, (size_t)def->piece_count * sizeof *pieces);
        def->pieces = pieces;
    } else {
        def->piece_count = 0;
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
    memcpy(rigid->inertia_factor, &mass.inertia, sizeof rigid->inertia_factor);
    for (int i = 0; i < rigid->curve_count; ++i) {
        rigid->curves[i].origin = tdl_sub3(rigid->curves[i].origin, mass.centre);
    }
    return isfinite(mass.mass) && mass.mass > 0.0 && tdl_cholesky_3(rigid->inertia_factor) == 3;
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
        tdl_free(&host->mem, (void*)(uintptr_t)rigid->def.pieces);
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

// The matrix m^-1 applied to b, by Cramer's rule; m is a rotation times a positive matrix or near.
static TdlVec3 solve_33(TdlMat3 m, TdlVec3 b) {
    double det = tdl_det33(m);
    TdlVec3 x = {tdl_dot3(b, tdl_cross3(m.cy, m.cz)), tdl_dot3(b, tdl_cross3(m.cz, m.cx)),
                 tdl_dot3(b, tdl_cross3(m.cx, m.cy))};
    return tdl_scale3(1.0 / det, x);
}

static TdlVec3 momentum_misfit(const Rigid* rigid, TdlVec3 w, double h, TdlVec3 l) {
    TdlVec3 y = tdl_mul33_3(tdl_rotation_exp(tdl_scale3(h, w)), tdl_mul33_3(rigid->inertia, w));
    return tdl_sub3(y, l);
}

// The rate w, body axes, with exp(h w) J w = l: the momentum l seen half a step ahead. (B.6)
// Newton's method with halving; (B.7) a solution always exists.
static TdlVec3 find_rate(const Rigid* rigid, TdlVec3 l, TdlVec3 guess, double h) {
    TdlVec3 w = guess, f = momentum_misfit(rigid, w, h, l);
    double size = tdl_norm3(f), noise = 4.0 * DBL_EPSILON * tdl_norm3(l);
    for (int i = 0; i < NEWTON_LIMIT && size > noise; ++i) {
        TdlVec3 q = tdl_scale3(h, w), y = tdl_add3(f, l);
        TdlMat3 slope = tdl_axpy33(tdl_mul33(tdl_rotation_exp(q), rigid->inertia), -h,
                                   tdl_mul33(tdl_skew3(y), tdl_left_jacobian(q)));
        TdlVec3 step = solve_33(slope, f);
        double share = 1.0, was = size;
        for (int k = 0; k < HALVING_LIMIT; ++k, share *= 0.5) {
            TdlVec3 next = tdl_axpy3(w, -share, step), g = momentum_misfit(rigid, next, h, l);
            if (tdl_norm3(g) < size) {
                w = next;
                f = g;
                size = tdl_norm3(g);
                break;
            }
        }
        if (!(size < was)) {
            break; // at rounding, or nowhere lower
        }
    }
    return w;
}

bool rigid_predict(Rigid* rigid, double dt, TdlVec3 gravity) {
    // weight over the time between both velocities (B.5)
    TdlVec3 v = tdl_axpy3(tdl_load3(rigid->v, 0), 0.5 * (rigid->dt_before + dt), gravity);

    // momentum as the body sees it now, and the rate that carries it (B.6)
    TdlMat3 r = rigid->pose.rotation;
    TdlVec3 before = tdl_tmul33_3(r, tdl_load3(rigid->v, 1));
    TdlMat3 back = tdl_rotation_exp(tdl_scale3(-0.5 * rigid->dt_before, before));
    TdlVec3 l = tdl_mul33_3(back, tdl_mul33_3(rigid->inertia, before));
    TdlVec3 w = find_rate(rigid, l, before, 0.5 * dt);

    tdl_store3(rigid->v_free, 0, v);
    tdl_store3(rigid->v_free, 1, tdl_mul33_3(r, w));
    return tdl_finite3(v) && tdl_finite3(w);
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

void rigid_advance(Rigid* rigid, double dt, const double v[RIGID_DOFS]) {
    TdlVec3 turn = tdl_scale3(dt, tdl_load3(v, 1));
    rigid->pose.position = tdl_axpy3(rigid->pose.position, dt, tdl_load3(v, 0));
    if (tdl_dot3(turn, turn) > 0.0) {
        TdlMat3 r = tdl_mul33(tdl_rotation_exp(turn), rigid->pose.rotation);
        rigid->pose.rotation = tdl_rotation_nearest(r);
    }
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

double rigid_step_loss(const Rigid* rigid, TdlVec3 gravity, const double free[RIGID_DOFS]) {
    TdlVec3 jump = tdl_sub3(tdl_load3(rigid->v_free, 0), tdl_load3(rigid->v, 0));
    TdlVec3 weight = tdl_scale3(rigid->dt_before, gravity);
    TdlVec3 spun = tdl_load3(free, 1), turned = tdl_sub3(tdl_load3(rigid->v_free, 1), spun);
    return 0.5 * rigid->mass * tdl_dot3(jump, tdl_sub3(jump, weight)) +
           spin_energy(rigid, tdl_load3(rigid->v, 1)) - spin_energy(rigid, spun) +
           spin_energy(rigid, turned);
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
