// The balance of a rod from its tip: what is at single places, sums, and what a section tells of
// it. O(N) a step, and O(1) a section beside what is at single places. docs/theory/rod-forces.md
#include "rod/rod_forces.h"

#include "math/gauss.h"
#include "rod/held_end.h"
#include "rod/rod_body.h"

#include <string.h>

static int piece_count(const Rod* rod) {
    return rod->model->reduced ? GAUSS12_COUNT * rod->element_count : rod->element_count + 1;
}

// What the arrays take; `at` null: only counted.
static size_t lay_out(const Rod* rod, RodForces* f, char* at) {
    size_t n = (size_t)rod->element_count, pieces = (size_t)piece_count(rod), used = 0;
    size_t dofs = (size_t)rod->dof_count;
    const struct {
        void** array;
        size_t size;
    } PARTS[] = {
        {(void**)&f->node, (n + 1) * sizeof *f->node},
        {(void**)&f->beyond, (n + 1) * sizeof *f->beyond},
        {(void**)&f->turning, n * sizeof *f->turning},
        {(void**)&f->couple, n * sizeof *f->couple},
        {(void**)&f->place, pieces * sizeof *f->place},
        {(void**)&f->force, pieces * sizeof *f->force},
        {(void**)&f->change, pieces * sizeof *f->change},
        {(void**)&f->spin, pieces * sizeof *f->spin},
        {(void**)&f->taut, n * sizeof *f->taut},
        {(void**)&f->q, dofs * sizeof *f->q},
        {(void**)&f->q_before, dofs * sizeof *f->q_before},
        {(void**)&f->v_before, dofs * sizeof *f->v_before},
    };
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; ++i) {
        if (at != NULL) {
            *PARTS[i].array = at + used;
        }
        used += PARTS[i].size;
    }
    return used;
}

TdlStatus rod_forces_create(const TdlHost* host, const Rod* rod, RodForces** out) {
    RodForces counted;
    size_t size = sizeof(RodForces) + lay_out(rod, &counted, NULL);
    RodForces* f = tdl_alloc_zero(&host->mem, size);
    if (f == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    lay_out(rod, f, (char*)(f + 1));
    f->piece_count = piece_count(rod);
    *out = f;
    return rod_forces_reserve(host, f, rod->load_count) ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

bool rod_forces_reserve(const TdlHost* host, RodForces* f, int loads) {
    // one of a hand, and the hold of its far end
    return tdl_reserve(&host->mem, &f->touch, &f->touch_capacity, loads + 2, sizeof *f->touch);
}

void rod_forces_destroy(const TdlHost* host, RodForces* f) {
    if (f != NULL) {
        tdl_free(&host->mem, f->touch);
        tdl_free(&host->mem, f);
    }
}

// --- what acts in single places ---------------------------------------------------------------

TdlStatus rod_body_feel(const TdlHost* host, Body* body, const BodyPlace* place, TdlVec3 impulse,
                        TdlVec3 torque) {
    RodForces* f = ((RodBody*)body)->forces;
    if (f == NULL || place == NULL) {
        if (f != NULL) {
            f->touch_count = 0;
        }
        return TDL_STATUS_OK;
    }
    int most = f->touch_count + rod_of(body)->load_count + 3;
    if (!tdl_reserve(&host->mem, &f->touch, &f->touch_capacity, most, sizeof *f->touch)) {
        return TDL_STATUS_NO_MEMORY;
    }
    f->touch[f->touch_count++] = (RodTouch){.element = place->element,
                                            .u = place->u,
                                            .arm = tdl_sub3(place->touch, place->point),
                                            .force = impulse,
                                            .couple = torque};
    return TDL_STATUS_OK;
}

// Contacts were told as impulses; loads and the hold of the far end join them.
static void gather_touches(const Rod* rod, double dt, const RodWrench* hold, RodForces* f) {
    for (int i = 0; i < f->touch_count; ++i) {
        RodTouch* t = &f->touch[i];
        t->force = tdl_scale3(1.0 / dt, t->force);
        t->couple = tdl_scale3(1.0 / dt, t->couple);
    }
    for (int k = 0; k < rod->load_count; ++k) {
        const RodLoad* load = &rod->loads[k];
        f->touch[f->touch_count++] = (RodTouch){
            .element = load->element, .u = load->s, .force = load->force, .couple = load->torque};
    }
    if (rod->end_hold != TDL_HOLD_FREE) {
        f->touch[f->touch_count++] = (RodTouch){.element = rod->element_count - 1,
                                                .u = 1.0,
                                                .force = hold->force,
                                                .couple = hold->torque};
    }
}

// --- sums -------------------------------------------------------------------------------------

static RodWrench distributed_at(const Rod* rod, const RodForces* f, int element, double u,
                                TdlPose* at) {
    return rod->model->reduced ? rod_forces_reduced_at(f, rod, element, u, at)
                               : rod_forces_nodal_at(f, rod, element, u, at);
}

// From the tip: what is spread over elements, or is at vertices.
static void sum_up(const Rod* rod, RodForces* f) {
    int n = rod->element_count, each = rod->model->reduced ? GAUSS12_COUNT : 1;
    f->beyond[n] = (RodWrench){0};
    if (!rod->model->reduced) {
        f->beyond[n].force = f->force[n];
    }
    for (int i = n - 1; i >= 0; --i) {
        TdlVec3 own = f->node[i].position;
        RodWrench sum = rod_forces_about(f->beyond[i + 1], f->node[i + 1].position, own);
        for (int k = each * i; k < each * (i + 1); ++k) {
            TdlVec3 arm = tdl_sub3(f->place[k], own);
            sum.force = tdl_add3(sum.force, f->force[k]);
            sum.torque = tdl_add3(sum.torque, tdl_cross3(arm, f->force[k]));
        }
        sum.torque = tdl_add3(sum.torque, f->couple[i]);
        f->beyond[i] = sum;
    }
}

static void place_touches(const Rod* rod, RodForces* f) {
    for (int i = 0; i < f->touch_count; ++i) {
        RodTouch* t = &f->touch[i];
        TdlPose at;
        distributed_at(rod, f, t->element, t->u, &at);
        t->place = tdl_add3(at.position, t->arm);
    }
}

RodWrench rod_forces_at(const Rod* rod, const RodForces* f, double s, TdlPose* at) {
    double x = fmin(fmax(s / rod_length(rod), 0.0), 1.0) * rod->element_count;
    int element = (int)fmin(x, rod->element_count - 1);
    RodWrench sum = distributed_at(rod, f, element, x - element, at);
    for (int i = 0; i < f->touch_count; ++i) {
        const RodTouch* t = &f->touch[i];
        if (t->element + t->u < x) {
            continue;
        }
        TdlVec3 arm = tdl_sub3(t->place, at->position);
        sum.force = tdl_add3(sum.force, t->force);
        sum.torque = tdl_add3(sum.torque, tdl_add3(t->couple, tdl_cross3(arm, t->force)));
    }
    return sum;
}

RodWrench rod_forces_reaction(const Rod* rod, const RodForces* f, bool end) {
    TdlPose at;
    TdlHold hold = end ? rod->end_hold : rod->start_hold;
    if (!f->known || hold == TDL_HOLD_FREE) {
        return (RodWrench){0};
    }
    if (end) { // the last that was gathered
        const RodTouch* t = &f->touch[f->touch_count - 1];
        return (RodWrench){t->force, t->couple};
    }
    RodWrench w = rod_forces_at(rod, f, 0.0, &at);
    bool turns = hold == TDL_HOLD_CLAMPED;
    return (RodWrench){tdl_scale3(-1.0, w.force), tdl_scale3(turns ? -1.0 : 0.0, w.torque)};
}

// --- in a step --------------------------------------------------------------------------------

static bool by_middle(const RodBody* rb) {
    return rb->middle != NULL && rb->middle->taken;
}

static bool is_alone(const Rod* rod) {
    return rod->parent == NULL && rod->child == NULL;
}

void rod_forces_prepare(RodForces* f) {
    if (f != NULL) {
        f->touch_count = 0;
        f->known = false;
    }
}

void rod_forces_start(RodBody* rb) {
    RodForces* f = rb->forces;
    const Rod* rod = rb->rod;
    if (f == NULL || !rod->model->reduced) {
        return;
    }
    size_t size = (size_t)rod->dof_count * sizeof(double);
    memcpy(f->q_before, rod->q, size);
    memcpy(f->v_before, rod->v, size);
    f->start_before = rod->base.now;
    f->rate_before = rod->base.rate;
}

void rod_forces_find(RodBody* rb) {
    RodForces* f = rb->forces;
    const Rod* rod = rb->rod;
    bool middle = by_middle(rb);
    if (f == NULL || !is_alone(rod)) {
        return;
    }
    double dt = rb->step.dt;
    RodWrench hold = {.force = rb->hold[1]};
    if (!rod->model->reduced) {
        rod_forces_nodal(rod, middle ? &rb->middle->half : &rb->step, f, &hold.torque);
        hold.force = middle ? tdl_scale3(1.0 / dt, rb->middle->losses.end) : hold.force;
    } else if (!middle) {
        rod_forces_reduced(rod, &rb->step, f);
    }
    if (rod->held != NULL) {
        RodWrench impulse = held_end_impulse(rod);
        hold.force = tdl_scale3(1.0 / dt, impulse.force);
        hold.torque = tdl_scale3(1.0 / dt, impulse.torque);
    }
    gather_touches(rod, dt, &hold, f);
}

// What the holds do on ends that they lead.
static void count_power(RodBody* rb) {
    RodForces* f = rb->forces;
    const Twist rate[2] = {rb->step.base_rate, rb->step.end_rate};
    for (int end = 0; end < 2; ++end) {
        RodWrench w = rod_forces_reaction(rb->rod, f, end == 1);
        f->power[end] = tdl_dot3(w.force, rate[end].linear) + tdl_dot3(w.torque, rate[end].angular);
        f->work[end] += rb->step.dt * f->power[end];
    }
}

void rod_forces_end(RodBody* rb) {
    RodForces* f = rb->forces;
    const Rod* rod = rb->rod;
    if (f == NULL || !is_alone(rod)) {
        return;
    }
    if (!rod->model->reduced) {
        rod_forces_nodal_frames(rod, rb->scratch, f);
    } else if (by_middle(rb)) {
        rod_forces_reduced_middle(rod, &rb->step, f);
    }
    sum_up(rod, f);
    place_touches(rod, f);
    f->known = true;
    count_power(rb);
}
