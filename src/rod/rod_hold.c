// The forces of what holds the ends of a rod, from the step's own equation.
//
// What is left of the equation of a held vertex is the impulse of its hold. A super-model has no
// equation for a start that is held: there it is what its momentum changes by, less what weight,
// loads, contacts and the hold of the far end give. (H.35)
#include "rod/losses.h"
#include "rod/rod_body.h"

static bool by_middle(const RodBody* rb) {
    return rb->middle != NULL && rb->middle->taken;
}

static TdlVec3 momentum_of(const Rod* rod) {
    RodStep still = {.base_rate = rod->base.rate};
    return rod->model->momenta(rod, loss_root(rod, &still, rod->v), rod->v).linear;
}

void rod_hold_start(RodBody* rb) {
    if (rb->rod->model->reduced) {
        rb->momentum = momentum_of(rb->rod);
    }
}

void rod_hold_find(RodBody* rb) {
    const Rod* rod = rb->rod;
    const double* impulse = rb->head.impulse;
    double per_time = 1.0 / rb->step.dt, l = rod->element_length;
    rb->hold[0] = tdl_scale3(per_time, rb->losses.start);
    rb->hold[1] = tdl_scale3(per_time, rb->losses.end);
    if (impulse != NULL && !rod->model->reduced) {
        int last = rod->dof_count - 3;
        rb->hold[0] = tdl_axpy3(rb->hold[0], -per_time / l, tdl_load3(impulse, 0));
        rb->hold[1] = tdl_axpy3(rb->hold[1], -per_time / l, tdl_load3(impulse + last, 0));
    }
}

// Of a step by the midpoint rule; damping and wind are taken in its middle.
static void find_middle(RodBody* rb) {
    const Rod* rod = rb->rod;
    double dt = rb->step.dt, slowed = rod_mass_factor(rod, dt) - 1.0;
    if (!rod->model->reduced) { // the losses are those of twice half a step
        rb->hold[0] = tdl_scale3(1.0 / dt, rb->middle->losses.start);
        rb->hold[1] = tdl_scale3(1.0 / dt, rb->middle->losses.end);
        return;
    }
    TdlVec3 after = momentum_of(rod), gain = tdl_sub3(after, rb->momentum);
    gain = tdl_axpy3(gain, 0.5 * slowed, tdl_add3(after, rb->momentum));
    rb->hold[0] = tdl_scale3(1.0 / dt, gain);
    rb->hold[0] = tdl_axpy3(rb->hold[0], -rod_mass(rod), rod_pull(rod, &rb->step));
    for (int k = 0; k < rod->load_count; ++k) {
        rb->hold[0] = tdl_sub3(rb->hold[0], rod->loads[k].force);
    }
}

void rod_hold_end(RodBody* rb) {
    const Rod* rod = rb->rod;
    if (by_middle(rb)) {
        find_middle(rb);
    }
    if (rod->held != NULL) {
        rb->hold[0] = tdl_sub3(rb->hold[0], rod->held_state.force);
        rb->hold[1] = rod->held_state.force;
    }
}

static TdlVec3 contact_force(const TdlWorld* world, const Rod* rod) {
    TdlVec3 sum = world_contact_force(world, &rod_owner(rod)->head);
    for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        sum = tdl_add3(sum, contact_force(world, branch));
    }
    return sum;
}

TdlVec3 rod_hold_force(const TdlWorld* world, const Body* body, bool end) {
    const RodBody* rb = (const RodBody*)body;
    const Rod* rod = rb->rod;
    TdlHold hold = end ? rod->end_hold : rod->start_hold;
    if (hold == TDL_HOLD_FREE || rod->parent != NULL) {
        return (TdlVec3){0};
    }
    bool told = end || !rod->model->reduced || by_middle(rb); // without contacts already
    return told ? rb->hold[end] : tdl_sub3(rb->hold[0], contact_force(world, rod));
}
