// What a program does to a rod between two steps: it leads its ends and pulls at its places.
//
// A force that changes gives energy, which the judgement of a step must not take for its own: the
// world counts the energy of the rod anew.
#include "base/log.h"
#include "rod/rod_body.h"

#include <string.h>

bool rod_end_is_held(const Rod* rod, int part) {
    TdlHold hold = part == TDL_LED_START ? rod->start_hold : rod->end_hold;
    return (part == TDL_LED_START || part == TDL_LED_END) && hold != TDL_HOLD_FREE &&
           rod->parent == NULL;
}

Lead* rod_lead(Body* body, int part, TdlPose* now) {
    RodBody* rb = (RodBody*)body;
    bool rides = part == TDL_LED_START && rb->carrier != NULL;
    if (!rod_end_is_held(rb->rod, part) || rides) {
        return NULL;
    }
    *now = part == TDL_LED_START ? rb->rod->base.now : rb->rod->end.now;
    return &rb->lead[part];
}

// Where an end is at the end of a step in which it is led, and how fast it goes.
static Twist follow(const Lead* lead, TdlHold hold, TdlPose now, const BodyStep* t,
                    TdlPose* arrived) {
    *arrived = lead_pose(lead, now, t->start, t->end);
    if (hold == TDL_HOLD_PINNED) { // it turns as it likes
        arrived->rotation = now.rotation;
    }
    return lead_twist(now, *arrived, t->dt);
}

void rod_follow_leads(RodBody* rb, const BodyStep* t) {
    const Rod* rod = rb->rod;
    RodStep* step = &rb->step;
    if (lead_is_on(&rb->lead[TDL_LED_START])) {
        step->base_rate =
            follow(&rb->lead[TDL_LED_START], rod->start_hold, rod->base.now, t, &step->base_end);
    }
    if (lead_is_on(&rb->lead[TDL_LED_END])) {
        step->end_rate =
            follow(&rb->lead[TDL_LED_END], rod->end_hold, rod->end.now, t, &step->end_end);
    }
}

// --- pulls -----------------------------------------------------------------------------------

const char* rod_pull_fault(const Body* body, const TdlPull* pull) {
    bool on_it = pull->at >= 0.0 && pull->at <= rod_length(rod_of(body));
    return on_it ? NULL : "`at` is an arc length on the rod, from 0 to its length";
}

bool rod_reserve_loads(const TdlHost* host, RodBody* rb, int count) {
    Rod* rod = rb->rod;
    if (rb->forces != NULL && !rod_forces_reserve(host, rb->forces, count)) {
        return false;
    }
    size_t room = (size_t)count + 1; // statics adds the hold
    RodLoad* loads = tdl_grow_array(&host->mem, rod->loads, room, sizeof *loads);
    if (loads != NULL) {
        rod->loads = loads;
    }
    return loads != NULL;
}

TdlStatus rod_pull_at(const TdlHost* host, Body* body, int count, const TdlPull* pulls) {
    RodBody* rb = (RodBody*)body;
    Rod* rod = rb->rod;
    int own = rod->load_count - rb->pull_count;
    if (count > rb->pull_count && !rod_reserve_loads(host, rb, own + count)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < count; ++i) {
        double u = pulls[i].at / rod->at_rest.element_length;
        int element = (int)fmin(u, rod->element_count - 1);
        rod->loads[own + i] = (RodLoad){.element = element,
                                        .s = fmin(u - element, 1.0),
                                        .force = pulls[i].force,
                                        .torque = pulls[i].torque};
    }
    rod->load_count = own + count;
    rb->pull_count = count;
    return TDL_STATUS_OK;
}
