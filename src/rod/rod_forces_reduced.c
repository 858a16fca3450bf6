// What acts on the pieces of a super-model in a step: weight and wind, less the change of momentum
// of the fields that the step is a balance of. docs/theory/rod-forces.md
//
// The fields are those of the step itself: the velocities that it found, in the shape that it
// started from, and those brought along from the shape before (H.18). Each element's share is an
// integral over twelve Gauss points, right to rounding for elements of up to two turns. O(N).
#include "math/gauss.h"
#include "math/rotation.h"
#include "rod/losses.h"
#include "rod/rod_forces.h"

#include <string.h>

// How a start moves: as it is led, and by the last of v.
static Twist start_motion(const Rod* rod, Twist rate, const double* v) {
    RodStep led = {.base_rate = rate};
    if (rod->start_hold == TDL_HOLD_FREE) {
        led.base_rate = (Twist){0};
    }
    return loss_root(rod, &led, v);
}

// Where an element of a field ends, and how that moves.
static void carry(const RodLocal* end, double l, TdlPose* start, Twist* at) {
    TdlMat3 R = start->rotation;
    TdlVec3 span = tdl_scale3(l, tdl_mul33_3(R, end->position));
    TdlVec3 slide = tdl_scale3(l, tdl_mul33_3(R, end->linear));
    at->linear = tdl_add3(tdl_add3(at->linear, tdl_cross3(at->angular, span)), slide);
    at->angular = tdl_add3(at->angular, tdl_mul33_3(R, end->angular));
    start->position = tdl_add3(start->position, span);
    start->rotation = tdl_rotation_nearest(tdl_mul33(R, end->rotation));
}

// The turning of an element in the mean, as tension feels it: both ends of a super-helix count the
// same, of a super-clothoid the joint at the start twice. (H.33)
static TdlVec3 mean_turning(const Rod* rod, const double* q, const double* d, TdlPose start,
                            Twist at) {
    RodLocal all, first;
    rod->model->local(q, d, 1.0, &all);
    TdlVec3 own = tdl_scale3(0.5, all.angular);
    if (!rod->model->mean_spin) {
        const double alone[6] = {d[0], d[1], d[2]};
        rod->model->local(q, alone, 1.0, &first);
        own = tdl_scale3(1.0 / 3.0, tdl_add3(all.angular, first.angular));
    }
    return tdl_add3(at.angular, tdl_mul33_3(start.rotation, own));
}

// Adds the velocities of a field and the spins of its sections, times what they count with.
// `turning` (may be null) receives how the elements turn.
static void add_field(const Rod* rod, const RodField* field, TdlVec3* turning, RodForces* out) {
    TdlPose start = field->start;
    Twist at = field->at;
    for (int e = 0; e < rod->element_count; ++e) {
        const double *q = field->q + 3 * (ptrdiff_t)e, *d = field->v + 3 * (ptrdiff_t)e;
        RodLocal p;
        for (int k = 0; k < GAUSS12_COUNT; ++k) {
            int i = GAUSS12_COUNT * e + k;
            rod->model->local(q, d, GAUSS12_POINT[k], &p);
            TdlVec3 arm = tdl_scale3(field->l, tdl_mul33_3(start.rotation, p.position));
            TdlVec3 own = tdl_scale3(field->l, tdl_mul33_3(start.rotation, p.linear));
            TdlVec3 u = tdl_add3(tdl_add3(at.linear, tdl_cross3(at.angular, arm)), own);
            TdlVec3 w = tdl_add3(tdl_tmul33_3(start.rotation, at.angular), p.angular);
            out->change[i] = tdl_axpy3(out->change[i], field->sum, u);
            out->spin[i] += field->sum * tdl_dot3(p.rotation.cx, w);
        }
        if (turning != NULL) {
            turning[e] = mean_turning(rod, q, d, start, at);
        }
        rod->model->local(q, d, 1.0, &p);
        carry(&p, field->l, &start, &at);
    }
}

// The nodes of the shape of `q`, the Gauss points and, in `tangent`, the tangents there.
static void place_pieces(const Rod* rod, TdlPose start, RodForces* out, TdlVec3* tangent) {
    static const double STILL[6];
    for (int e = 0; e < rod->element_count; ++e) {
        const double* q = out->q + 3 * (ptrdiff_t)e;
        Twist at = {0};
        RodLocal p;
        out->node[e] = start;
        for (int k = 0; k < GAUSS12_COUNT; ++k) {
            int i = GAUSS12_COUNT * e + k;
            rod->model->local(q, STILL, GAUSS12_POINT[k], &p);
            TdlVec3 arm = tdl_mul33_3(start.rotation, p.position);
            out->place[i] = tdl_axpy3(start.position, out->l, arm);
            tangent[i] = tdl_mul33_3(start.rotation, p.rotation.cx);
        }
        rod->model->local(q, STILL, 1.0, &p);
        carry(&p, out->l, &start, &at);
    }
    out->node[rod->element_count] = start;
}

// What the pieces of an element feel. The sections of a super-helix spin as one about the mean of
// their tangents, those of a super-clothoid each about its own.
static void find_element(const Rod* rod, const RodStep* step, int e, RodForces* out) {
    const RodShare* share = &rod->share[e];
    double m = share->mass * rod->line_density * out->l, per_time = 1.0 / step->dt;
    double r2 = share->gyration * rod->gyration;
    TdlVec3 way =
        tdl_scale3(1.0 / out->l, tdl_sub3(out->node[e + 1].position, out->node[e].position));
    TdlVec3 pull = rod_pull(rod, step), couple = {0};
    for (int k = 0; k < GAUSS12_COUNT; ++k) {
        int i = GAUSS12_COUNT * e + k;
        double mass = m * GAUSS12_WEIGHT[k];
        TdlVec3 about = rod->model->mean_spin ? way : out->force[i]; // its tangent, until now
        couple = tdl_axpy3(couple, -mass * r2 * per_time * out->spin[i], about);
        out->force[i] = tdl_scale3(mass, tdl_axpy3(pull, -per_time, out->change[i]));
    }
    out->couple[e] = couple;
}

static TdlVec3 chord(const Rod* rod, int element) {
    return tdl_sub3(rod->model->point(rod, element, 1.0), rod->model->point(rod, element, 0.0));
}

// Tension that resists turning in the step is felt as a couple. (H.33)
static void add_tension(const Rod* rod, const RodStep* step, RodForces* out) {
    if (!rod->taut || !tension_find(rod, step, chord, out->taut)) {
        return;
    }
    double c = rod_mass_factor(rod, step->dt), m = rod->line_density * rod->element_length;
    for (int e = 0; e < rod->element_count; ++e) {
        if (out->taut[e] > 0.0) {
            TdlMat3 P = tension_tensor(out->taut[e], chord(rod, e));
            TdlVec3 resists = tdl_mul33_3(P, out->turning[e]);
            double share = rod->share[e].mass;
            out->couple[e] = tdl_axpy3(out->couple[e], -c * share * m / step->dt, resists);
        }
    }
}

static void clear(const RodForces* f) {
    memset(f->change, 0, (size_t)f->piece_count * sizeof *f->change);
    memset(f->spin, 0, (size_t)f->piece_count * sizeof *f->spin);
}

void rod_forces_reduced(const Rod* rod, const RodStep* step, RodForces* out) {
    const RodField now = {.q = rod->q,
                          .v = rod->v_free,
                          .start = rod->base.now,
                          .at = loss_root(rod, step, rod->v_free),
                          .l = rod->element_length,
                          .sum = rod_mass_factor(rod, step->dt)};
    const RodField before = {.q = rod->q_before,
                             .v = rod->v,
                             .start = rod->base.before,
                             .at = start_motion(rod, rod->base.rate, rod->v),
                             .l = rod->held_state.stretch_before * rod->at_rest.element_length,
                             .sum = -1.0};
    clear(out);
    add_field(rod, &before, NULL, out);
    add_field(rod, &now, out->turning, out);
    memcpy(out->q, rod->q, (size_t)rod->dof_count * sizeof *out->q);
    out->l = rod->element_length;
    place_pieces(rod, rod->base.now, out, out->force);
    for (int e = 0; e < rod->element_count; ++e) {
        find_element(rod, step, e, out);
    }
    add_tension(rod, step, out);
}

// The momenta are those of the two shapes, and forces act in the middle between them. Its far end
// is free and its start stands still, or is free, too.
void rod_forces_reduced_middle(const Rod* rod, const RodStep* step, RodForces* out) {
    double slowed = 0.5 * (rod_mass_factor(rod, step->dt) - 1.0);
    const RodField now = {.q = rod->q,
                          .v = rod->v,
                          .start = rod->base.now,
                          .at = start_motion(rod, rod->base.rate, rod->v),
                          .l = rod->element_length,
                          .sum = 1.0 + slowed};
    const RodField before = {.q = out->q_before,
                             .v = out->v_before,
                             .start = out->start_before,
                             .at = start_motion(rod, out->rate_before, out->v_before),
                             .l = rod->element_length,
                             .sum = slowed - 1.0};
    clear(out);
    add_field(rod, &before, NULL, out);
    add_field(rod, &now, NULL, out);
    for (int i = 0; i < rod->dof_count; ++i) {
        out->q[i] = 0.5 * (out->q_before[i] + rod->q[i]);
    }
    TdlPose a = out->start_before, b = rod->base.now;
    TdlVec3 half = tdl_scale3(0.5, tdl_rotation_log(tdl_tmul33(a.rotation, b.rotation)));
    TdlPose middle = {tdl_scale3(0.5, tdl_add3(a.position, b.position)),
                      tdl_mul33(a.rotation, tdl_rotation_exp(half))};
    out->l = rod->element_length;
    place_pieces(rod, middle, out, out->force);
    for (int e = 0; e < rod->element_count; ++e) {
        find_element(rod, step, e, out);
    }
}

// --- a section --------------------------------------------------------------------------------

// The share of what is at each Gauss point that lies beyond x: the integral from there on of the
// polynomial that is 1 at this point and 0 at the others, over that of all of it.
static void find_shares(double x, double out[GAUSS12_COUNT]) {
    double y = 2.0 * x - 1.0, P[GAUSS12_COUNT + 1] = {1.0, y};
    for (int j = 1; j < GAUSS12_COUNT; ++j) {
        P[j + 1] = ((2 * j + 1) * y * P[j] - j * P[j - 1]) / (j + 1);
    }
    for (int k = 0; k < GAUSS12_COUNT; ++k) {
        double t = 2.0 * GAUSS12_POINT[k] - 1.0, before = 1.0, now = t;
        out[k] = 1.0 - x;
        for (int j = 1; j < GAUSS12_COUNT; ++j) {
            out[k] += 0.5 * now * (P[j - 1] - P[j + 1]);
            double next = ((2 * j + 1) * t * now - j * before) / (j + 1);
            before = now;
            now = next;
        }
    }
}

RodWrench rod_forces_reduced_at(const RodForces* f, const Rod* rod, int element, double u,
                                TdlPose* at) {
    static const double STILL[6];
    RodLocal p;
    TdlPose start = f->node[element], end = f->node[element + 1];
    rod->model->local(f->q + 3 * (ptrdiff_t)element, STILL, u, &p);
    TdlVec3 arm = tdl_mul33_3(start.rotation, p.position);
    *at = (TdlPose){tdl_axpy3(start.position, f->l, arm), tdl_mul33(start.rotation, p.rotation)};
    RodWrench sum = rod_forces_about(f->beyond[element + 1], end.position, at->position);
    double share[GAUSS12_COUNT];
    find_shares(u, share);
    for (int k = 0; k < GAUSS12_COUNT; ++k) {
        int i = GAUSS12_COUNT * element + k;
        TdlVec3 own = tdl_scale3(share[k], f->force[i]);
        TdlVec3 moment = tdl_cross3(tdl_sub3(f->place[i], at->position), own);
        sum.force = tdl_add3(sum.force, own);
        sum.torque = tdl_add3(sum.torque, moment);
    }
    sum.torque = tdl_axpy3(sum.torque, 1.0 - u, f->couple[element]);
    return sum;
}
