// Places along a rod: at an arc length, with the frame that a joint holds to, now and after a step.
#include "math/rotation.h"
#include "rod/nodal.h"
#include "rod/rod_body.h"
#include "rod/rod_momenta.h"

bool rod_locate(const Body* body, double at, BodyPlace* out) {
    const Rod* rod = rod_of(body);
    double length = rod_length(rod);
    if (!(at >= 0.0 && at <= length)) {
        return false;
    }
    double u = at / length * rod->element_count;
    int element = (int)fmin(u, rod->element_count - 1);
    *out = (BodyPlace){.element = element, .u = fmin(u - element, 1.0)};
    out->point = out->touch = rod->model->point(rod, element, out->u);
    return true;
}

// Of a nodal rod the frame of its edge, in other coordinates than its own.
static TdlPose nodal_pose(const Rod* rod, double* q, const BodyPlace* place) {
    Rod other = *rod;
    other.q = q;
    TdlPose pose = {nodal_point(&other, place->element, place->u), tdl_identity33()};
    if (!rod->model->frameless) {
        pose.rotation = nodal_kind(rod)->frame(&other, place->element);
    }
    return pose;
}

bool rod_frame(const Body* body, const BodyPlace* place, TdlPose* out) {
    const RodBody* rb = (const RodBody*)body;
    const Rod* rod = rb->rod;
    if (!rod->model->reduced) {
        *out = nodal_pose(rod, rod->q, place);
        return !rod->model->frameless;
    }
    if (rod->parent == NULL) {
        double l = rod->element_length;
        *out = rod->model->pose_at(rod, rod->q, rod->base.now, l, place->element, place->u);
        return true;
    }
    rod->model->curves(rod, rb->scratch);
    const RodCurve* own = &rb->scratch[place->element];
    // only super-helices have parents: their curvature is even along an element
    TdlMat3 turn = tdl_rotation_exp(tdl_scale3(place->u * own->length, own->kappa));
    *out = (TdlPose){rod->model->point(rod, place->element, place->u),
                     tdl_mul33(own->start.rotation, turn)};
    return true;
}

TdlPose rod_start_after(const Rod* rod, const RodStep* step, const double* v) {
    const double* root = v + rod->dof_count - rod->root_dofs;
    TdlPose start = step->base_end;
    if (rod->root_dofs >= 3) {
        TdlVec3 turn = tdl_scale3(step->dt, tdl_load3(root, 0));
        start.rotation = tdl_mul33(tdl_rotation_exp(turn), rod->base.now.rotation);
    }
    if (rod->root_dofs == 6) {
        start.position = tdl_axpy3(rod->base.now.position, step->dt, tdl_load3(root, 1));
    }
    return start;
}

bool rod_frame_after(const Body* body, const BodyPlace* place, double dt, const double* v,
                     TdlPose* out) {
    const RodBody* rb = (const RodBody*)body;
    const Rod* rod = rb->rod;
    if (rod->parent != NULL || rod->child != NULL) {
        return false; // of a tree the coordinates are those of all
    }
    for (int i = 0; i < rod->dof_count; ++i) {
        rb->trial[i] = rod->q[i] + dt * v[i];
    }
    if (!rod->model->reduced) {
        *out = nodal_pose(rod, rb->trial, place);
        return true;
    }
    double l = rod->element_length;
    if (rod->held != NULL) {
        l = (rod->held_state.stretch + dt * v[rod->dof_count]) * rod->at_rest.element_length;
    }
    TdlPose start = rod_start_after(rod, &rb->step, v);
    if (rod_keeps(rod)) { // it goes as its momentum says. (H.34)
        TdlVec3 more = rod_kept_ahead(&rb->kept, rod, v, rb->trial, start, dt);
        start.position = tdl_add3(start.position, more);
    }
    *out = rod->model->pose_at(rod, rb->trial, start, l, place->element, place->u);
    return true;
}
