// Loads of rods that vary in time. They stand among the loads of the rod, with what their functions
// tell of the step under way; but they have no potential, and what they do is work that is given.
#include "base/log.h"
#include "rod/rod_body.h"

#include <string.h>

// Behind all others but those of a program, which stay the last.
static bool make_room(const TdlHost* host, RodBody* rb) {
    Rod* rod = rb->rod;
    if (!rod_reserve_loads(host, rb, rod->load_count + 1)) {
        return false;
    }
    RodLoad* pulls = rod->loads + rod->load_count - rb->pull_count;
    memmove(pulls + 1, pulls, (size_t)rb->pull_count * sizeof *pulls);
    ++rod->load_count;
    return true;
}

static void take(RodBody* rb, VaryingLoad* load, double time) {
    RodLoad* own = &rb->rod->loads[load->slot];
    load_take(load, time, &rb->head);
    own->force = load->force;
    own->torque = load->torque;
}

TdlStatus rod_add_load(const TdlHost* host, Body* body, const TdlLoadDef* def, double now) {
    RodBody* rb = (RodBody*)body;
    Rod* rod = rb->rod;
    if (!(def->at >= 0.0 && def->at <= rod_length(rod))) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "load: it lies beyond the ends of its rod");
    }
    TdlStatus status = load_list_add(host, &rb->varying, def);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    VaryingLoad* load = &rb->varying.at[rb->varying.count - 1];
    if (!make_room(host, rb)) {
        time_fn_destroy(host, &load->def.value);
        --rb->varying.count;
        return TDL_STATUS_NO_MEMORY;
    }
    double u = def->at / rod->at_rest.element_length;
    int element = (int)fmin(u, rod->element_count - 1);
    load->slot = rod->load_count - 1 - rb->pull_count;
    rod->loads[load->slot] =
        (RodLoad){.element = element, .s = fmin(u - element, 1.0), .given = true};
    take(rb, load, now);
    return TDL_STATUS_OK;
}

void rod_loads_take(RodBody* rb, double time) {
    for (int i = 0; i < rb->varying.count; ++i) {
        take(rb, &rb->varying.at[i], time);
    }
}

bool rod_loads_vary(const Rod* rod) {
    bool varies = rod_owner(rod)->varying.count > 0;
    for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        varies = varies || rod_loads_vary(branch);
    }
    return varies;
}
