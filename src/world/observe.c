// Observers: vectors that are told of the bodies of a world in every step.
#include "world/world.h"

#include <string.h>

static bool is_observed(const TdlObserver* o, const Body* body) {
    return body->kind_index >= o->first && body->kind_index < o->first + o->count &&
           strcmp(body->kind->name, o->kind) == 0;
}

static TdlVec3 observe_force(const TdlWorld* world, const TdlObserver* o) {
    int count;
    const TdlContactForce* force = tdl_world_contact_forces(world, &count);
    TdlVec3 sum = {0};
    for (int i = 0; i < count; ++i) {
        for (int side = 0; side < 2; ++side) {
            if (is_observed(o, world_find_body(world, force[i].body[side], NULL))) {
                sum = tdl_axpy3(sum, side == 0 ? -1.0 : 1.0, force[i].force);
            }
        }
    }
    return sum;
}

static TdlStatus observe_centre(const TdlWorld* world, const TdlObserver* o, TdlVec3* out) {
    TdlVec3 sum = {0};
    double all = 0.0;
    for (int i = o->first; i < o->first + o->count; ++i) {
        TdlVec3 centre;
        double mass;
        TdlStatus status =
            tdl_body_centre(world, tdl_world_body(world, o->kind, i), &centre, &mass);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        sum = tdl_axpy3(sum, mass, centre);
        all += mass;
    }
    *out = tdl_scale3(all > 0.0 ? 1.0 / all : 0.0, sum); // 0: nothing of it is left
    return TDL_STATUS_OK;
}

TdlStatus tdl_world_observe(const TdlWorld* world, const TdlObserver* o, TdlVec3* out) {
    int there = o->kind == NULL ? 0 : tdl_world_bodies(world, o->kind, 0, NULL);
    if (o->first < 0 || o->count < 1 || o->first >= there || o->count > there - o->first) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    TdlBodyId id = tdl_world_body(world, o->kind, o->first);
    const Body* body = world_find_body(world, id, NULL);
    TdlWrench wrench;
    switch (o->quantity) {
    case TDL_QUANTITY_FORCE:
        *out = observe_force(world, o);
        return TDL_STATUS_OK;
    case TDL_QUANTITY_TORQUE:
        tdl_body_contact_wrench(world, id, &wrench);
        *out = wrench.torque;
        return TDL_STATUS_OK;
    case TDL_QUANTITY_CENTRE:
        return observe_centre(world, o, out);
    case TDL_QUANTITY_POINT:
        if (body->kind->point != NULL && !isnan(o->at)) {
            *out = body->kind->point(body, o->at);
            return TDL_STATUS_OK;
        }
        break;
    case TDL_QUANTITY_START:
    case TDL_QUANTITY_END:
        if (body->kind->hold != NULL && world->def.holds) {
            *out = body->kind->hold(world, body, o->quantity == TDL_QUANTITY_END);
            return TDL_STATUS_OK;
        }
        break;
    default:
        if (body->kind->observe != NULL &&
            body->kind->observe(world, body, o->quantity, o->at, out)) {
            return TDL_STATUS_OK;
        }
        break;
    }
    return TDL_STATUS_BAD_ARGUMENT;
}
