// Checks of colliders, and the curves of combs, chains and rims.
#include "collider/shape.h"

#include "body/surface.h"
#include "collider/implicit.h"

#include "curve/curve.h"

TdlColliderDef tdl_collider_def_default(void) {
    return (TdlColliderDef){
        .shape = TDL_SHAPE_SPHERE, .radius = 0.01, .pose.rotation = tdl_identity33()};
}

static const double PI = 3.14159265358979323846;

enum { RIM_ARCS = 4, MAX_CURVES = 100000 };

static bool positive(double x) {
    return isfinite(x) && x > 0.0;
}

static const char* find_chain_fault(const TdlColliderDef* def) {
    if (def->pieces == NULL || def->piece_count < 1 || def->piece_count > MAX_CURVES) {
        return "piece_count must be from 1 to 100000";
    }
    for (int i = 0; i < def->piece_count; ++i) {
        TdlVec3 kappa = def->pieces[i].curvature;
        if (!positive(def->pieces[i].length) || !tdl_finite3(kappa)) {
            return "length of a piece must be positive, its curvature finite";
        }
        if (def->inner_radius > 0.0 && !(hypot(kappa.y, kappa.z) * def->radius < 1.0)) {
            return "a tube must not bend more sharply than its radius";
        }
    }
    return NULL;
}

static const char* find_shape_fault(const TdlColliderDef* def) {
    switch (def->shape) {
    case TDL_SHAPE_PLANE:
    case TDL_SHAPE_SPHERE:
    case TDL_SHAPE_CYLINDER:
        return NULL;
    case TDL_SHAPE_CAPSULE:
        return isfinite(def->length) && def->length >= 0.0 ? NULL : "length must not be negative";
    case TDL_SHAPE_PLATE:
        return positive(def->length) ? NULL : "length must be positive";
    case TDL_SHAPE_COMB:
        if (def->teeth < 1 || def->teeth >= MAX_CURVES) {
            return "teeth must be from 1 to 99999";
        }
        if (!positive(def->pitch)) {
            return "pitch must be positive";
        }
        return positive(def->length) ? NULL : "length must be positive";
    case TDL_SHAPE_CURVES:
        return find_chain_fault(def);
    case TDL_SHAPE_MESH: {
        const char* fault = tdl_mesh_fault(&def->mesh, &(int){0});
        return fault != NULL
                   ? fault
                   : tdl_vertex_motion_fault(&def->vertex_motion, &def->mesh, &(int){0}, &(int){0});
    }
    case TDL_SHAPE_IMPLICIT:
        return implicit_find_fault(&def->implicit);
    }
    return "shape must be plane, sphere, cylinder, capsule, plate, comb, curves, mesh or implicit";
}

const char* collider_find_fault(const TdlColliderDef* def) {
    bool round = def->shape != TDL_SHAPE_PLANE && def->shape != TDL_SHAPE_IMPLICIT;
    bool may_be_zero = def->shape == TDL_SHAPE_MESH && def->radius == 0.0;
    if (def->shape != TDL_SHAPE_MESH && def->vertex_motion.sample_count != 0) {
        return "only the vertices of a mesh can move";
    }
    if (round && !positive(def->radius) && !may_be_zero) {
        return "radius must be positive";
    }
    bool tube = def->shape == TDL_SHAPE_CURVES && def->inner_radius >= 0.0 &&
                def->inner_radius < def->radius;
    if (def->inner_radius != 0.0 && !tube) {
        return "inner_radius is of a chain of curves alone, at least 0 and less than its radius";
    }
    const char* fault = find_shape_fault(def);
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

int collider_curve_count(const TdlColliderDef* def) {
    switch (def->shape) {
    case TDL_SHAPE_PLANE:
    case TDL_SHAPE_SPHERE:
    case TDL_SHAPE_CYLINDER:
    case TDL_SHAPE_CAPSULE:
    case TDL_SHAPE_MESH:
    case TDL_SHAPE_IMPLICIT:
        break;
    case TDL_SHAPE_PLATE:
        return RIM_ARCS;
    case TDL_SHAPE_COMB:
        return def->teeth + 1;
    case TDL_SHAPE_CURVES:
        return def->piece_count;
    }
    return 0;
}

static TdlStatus comb_curves(const TdlHost* host, const TdlColliderDef* def, TdlCurve* out) {
    double half = 0.5 * (def->teeth - 1) * def->pitch;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i <= def->teeth && status == TDL_STATUS_OK; ++i) {
        bool handle = i == def->teeth;
        double radius = handle ? 2.0 * def->radius : def->radius;
        TdlVec3 from = {handle ? -half : i * def->pitch - half, 0.0, 0.0};
        TdlVec3 to = handle ? (TdlVec3){half, 0.0, 0.0} : (TdlVec3){from.x, 0.0, -def->length};
        status = tdl_curve_segment(host, from, to, &out[i]);
        if (status == TDL_STATUS_OK) {
            status = tdl_curve_set_radius(host, radius, radius, &out[i]);
        }
    }
    return status;
}

TdlStatus collider_curves(const TdlHost* host, const TdlColliderDef* def, TdlCurve* out) {
    TdlPose start = {{0.0, 0.0, 0.0}, tdl_identity33()};
    if (def->shape == TDL_SHAPE_COMB) {
        return comb_curves(host, def, out);
    }
    if (def->shape == TDL_SHAPE_CURVES) {
        return curve_chain(host, "collider", start, def->pieces, def->piece_count, def->radius,
                           out);
    }
    if (def->shape == TDL_SHAPE_PLATE) {
        // a circle about the third axis, from (0, -length) on
        TdlCurvePiece arc = {0.5 * PI * def->length, {0.0, 0.0, 1.0 / def->length}};
        TdlCurvePiece arcs[RIM_ARCS] = {arc, arc, arc, arc};
        start.position.y = -def->length;
        return curve_chain(host, "collider", start, arcs, RIM_ARCS, def->radius, out);
    }
    return TDL_STATUS_OK;
}

TdlStatus collider_motion(const TdlHost* host, const TdlColliderDef* def, Motion* out) {
    TdlStatus status = motion_create(host, &def->motion, out);
    out->velocity = def->velocity;
    out->angular_velocity = def->angular_velocity;
    return status;
}
