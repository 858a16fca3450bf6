// What a world tells of the forces inside its rods.
#include "base/log.h"
#include "math/rotation.h"
#include "rod/rod_body.h"

static TdlRodForce section_of(const RodBody* rb, double s) {
    TdlRodForce out = {0};
    const RodForces* f = rb->forces;
    if (!f->known) {
        out.frame = rod_end(rb->rod);
        return out;
    }
    RodWrench w = rod_forces_at(rb->rod, f, s, &out.frame);
    out.force = w.force;
    out.moment = w.torque;
    out.inner = tdl_tmul33_3(out.frame.rotation, w.force);
    out.bending = tdl_tmul33_3(out.frame.rotation, w.torque);
    return out;
}

static bool is_told(const Rod* rod) {
    return rod->parent == NULL && rod->child == NULL;
}

// The rod of an id, where it can tell; else null, and the log says why.
static const RodBody* find(const TdlWorld* world, TdlBodyId id) {
    const RodBody* rb = (RodBody*)world_find_body(world, id, &ROD_BODY);
    if (rb == NULL) {
        return NULL;
    }
    if (rb->forces == NULL) {
        tdl_fail(world_host(world), TDL_STATUS_BAD_ARGUMENT,
                 "the world does not find the forces inside rods (TdlWorldDef.forces)");
        return NULL;
    }
    if (!is_told(rb->rod)) {
        tdl_fail(world_host(world), TDL_STATUS_BAD_ARGUMENT,
                 "the forces inside rods that are part of a tree are not told");
        return NULL;
    }
    return rb;
}

TdlStatus tdl_rod_forces(const TdlWorld* world, TdlBodyId id, int count, const double* at,
                         TdlRodForce* out) {
    const RodBody* rb = find(world, id);
    if (rb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    double length = rod_length(rb->rod), half = 0.5 * length / rb->rod->element_count;
    if (count < 0 || (at == NULL && count != 2 * rb->rod->element_count + 1)) {
        return tdl_fail(world_host(world), TDL_STATUS_BAD_ARGUMENT,
                        "a rod of %d elements has %d nodes and middles, not %d",
                        rb->rod->element_count, 2 * rb->rod->element_count + 1, count);
    }
    for (int i = 0; i < count && at != NULL; ++i) {
        if (!(at[i] >= 0.0 && at[i] <= length)) {
            return tdl_fail(world_host(world), TDL_STATUS_BAD_ARGUMENT,
                            "a section at %g m is not on a rod of %g m", at[i], length);
        }
    }
    for (int i = 0; i < count; ++i) {
        out[i] = section_of(rb, at != NULL ? at[i] : i * half);
    }
    return TDL_STATUS_OK;
}

static TdlRodReaction reaction_of(const RodBody* rb, bool end) {
    const RodForces* f = rb->forces;
    RodWrench w = rod_forces_reaction(rb->rod, f, end);
    return (TdlRodReaction){.frame = section_of(rb, end ? rod_length(rb->rod) : 0.0).frame,
                            .force = w.force,
                            .moment = w.torque,
                            .power = f->known ? f->power[end] : 0.0,
                            .work = f->work[end]};
}

TdlStatus tdl_rod_reaction(const TdlWorld* world, TdlBodyId id, bool end, TdlRodReaction* out) {
    const RodBody* rb = find(world, id);
    if (rb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = reaction_of(rb, end);
    return TDL_STATUS_OK;
}

// --- observers --------------------------------------------------------------------------------

// The turning about the tangent that takes one frame to another, nearly parallel one.
static double twist_from(TdlMat3 a, TdlMat3 b) {
    return tdl_rotation_log(tdl_tmul33(a, b)).x;
}

// Of a nodal rod, whose edges have their frames in their middles; it is even between these.
static double nodal_twist_at(const RodBody* rb, double x) {
    const Rod* rod = rb->rod;
    bool clamped = rod->start_hold == TDL_HOLD_CLAMPED;
    TdlMat3 last = clamped ? rod->base.now.rotation : rb->scratch[0].start.rotation;
    double sum = 0.0, from = 0.0;
    for (int e = 0; e < rod->element_count && from < x; ++e) {
        double own = twist_from(last, rb->scratch[e].start.rotation), to = e + 0.5;
        sum += own * fmin(1.0, (x - from) / (to - from));
        last = rb->scratch[e].start.rotation;
        from = to;
    }
    if (rod->end_hold == TDL_HOLD_CLAMPED && x > from) {
        sum += twist_from(last, rod->end.now.rotation) * (x - from) / 0.5;
    }
    return sum;
}

// The angle about the tangent from the start to an arc length: the integral of the twist.
static double twist_at(const RodBody* rb, double s) {
    const Rod* rod = rb->rod;
    rod->model->curves(rod, rb->scratch);
    double x = s / rod_length(rod) * rod->element_count, sum = 0.0;
    if (!rod->model->reduced) {
        return nodal_twist_at(rb, x);
    }
    for (int e = 0; e < rod->element_count && e < x; ++e) {
        const RodCurve* c = &rb->scratch[e];
        double u = fmin(x - e, 1.0), slope = c->kappa_end.x - c->kappa.x;
        sum += c->length * u * (c->kappa.x + 0.5 * u * slope);
    }
    return sum;
}

static bool observe_place(const RodBody* rb, TdlQuantity quantity, double at, TdlVec3* out) {
    const Rod* rod = rb->rod;
    double s = fmin(fmax(at, 0.0), rod_length(rod));
    if (rod->model->frameless) {
        return false;
    }
    if (quantity == TDL_QUANTITY_TWIST) {
        *out = (TdlVec3){twist_at(rb, s), 0.0, 0.0};
        return true;
    }
    BodyPlace place;
    TdlPose frame;
    if (!rod_locate(&rb->head, s, &place) || !rod_frame(&rb->head, &place, &frame)) {
        return false;
    }
    *out = tdl_rotation_log(frame.rotation);
    return true;
}

static bool observe_hold(const RodBody* rb, TdlQuantity quantity, TdlVec3* out) {
    bool end = quantity >= TDL_QUANTITY_END_FORCE;
    TdlRodReaction r = reaction_of(rb, end);
    switch ((int)quantity - (end ? TDL_QUANTITY_END_FORCE : TDL_QUANTITY_START_FORCE)) {
    case 0:
        *out = r.force;
        return true;
    case 1:
        *out = r.moment;
        return true;
    case 2:
        *out = (TdlVec3){r.power, 0.0, 0.0};
        return true;
    default:
        *out = (TdlVec3){r.work, 0.0, 0.0};
        return true;
    }
}

bool rod_body_observe(const TdlWorld* world, const Body* body, TdlQuantity quantity, double at,
                      TdlVec3* out) {
    (void)world;
    const RodBody* rb = (const RodBody*)body;
    if (isnan(at)) {
        return false;
    }
    if (quantity == TDL_QUANTITY_TWIST || quantity == TDL_QUANTITY_FRAME) {
        return observe_place(rb, quantity, at, out);
    }
    if (rb->forces == NULL || !is_told(rb->rod)) {
        return false;
    }
    if (quantity >= TDL_QUANTITY_START_FORCE) {
        return observe_hold(rb, quantity, out);
    }
    TdlRodForce f = section_of(rb, fmin(fmax(at, 0.0), rod_length(rb->rod)));
    double shear = hypot(f.inner.y, f.inner.z);
    *out = quantity == TDL_QUANTITY_TENSION ? (TdlVec3){f.inner.x, 0.0, 0.0}
           : quantity == TDL_QUANTITY_SHEAR ? (TdlVec3){shear, f.inner.y, f.inner.z}
                                            : f.bending;
    return true;
}
