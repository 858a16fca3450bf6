// What a program does to a world between two steps, whatever the kind of the body.
#include "tendril/control.h"

#include "base/log.h"
#include "body/lead.h"
#include "math/rotation.h"
#include "world/world.h"

// What of a body is led; null, and told, where there is nothing such.
static Lead* find_lead(const TdlWorld* world, TdlBodyId id, int part, TdlPose* now) {
    Body* body = world_find_body(world, id, NULL);
    if (body == NULL) {
        return NULL;
    }
    Lead* lead = body->kind->lead == NULL ? NULL : body->kind->lead(body, part, now);
    if (lead == NULL) {
        char name[TDL_BODY_NAME_SIZE];
        world_name_body(body, name);
        tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "%s has nothing to be led as part %d", name,
                 part);
    }
    return lead;
}

TdlStatus tdl_body_led_pose(const TdlWorld* world, TdlBodyId id, int part, TdlPose* out) {
    return find_lead(world, id, part, out) == NULL ? TDL_STATUS_BAD_ARGUMENT : TDL_STATUS_OK;
}

TdlStatus tdl_body_move_to(TdlWorld* world, TdlBodyId id, int part, TdlPose pose) {
    TdlPose now;
    Lead* lead = find_lead(world, id, part, &now);
    if (lead == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    if (!tdl_pose_is_good(pose)) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT,
                        "what is led goes to a finite place and a rotation");
    }
    // when the coming step ends, to the last bit
    double arrival = (double)(world->step_count + 1) * world->def.step;
    *lead = (Lead){.mode = LEAD_TO, .arrival = arrival, .target = pose};
    return TDL_STATUS_OK;
}

TdlStatus tdl_body_set_velocity(TdlWorld* world, TdlBodyId id, int part, TdlVec3 linear,
                                TdlVec3 angular) {
    TdlPose now;
    Lead* lead = find_lead(world, id, part, &now);
    if (lead == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    if (!tdl_finite3(linear) || !tdl_finite3(angular)) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT,
                        "what is led goes with a finite velocity");
    }
    *lead = (Lead){.mode = LEAD_WITH, .rate = {linear, angular}};
    return TDL_STATUS_OK;
}

TdlStatus tdl_body_let_go(TdlWorld* world, TdlBodyId id, int part) {
    TdlPose now;
    Lead* lead = find_lead(world, id, part, &now);
    if (lead == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *lead = (Lead){0};
    return TDL_STATUS_OK;
}

TdlStatus tdl_body_pull(TdlWorld* world, TdlBodyId id, int count, const TdlPull* pulls) {
    Body* body = world_find_body(world, id, NULL);
    if (body == NULL || count < 0 || (count > 0 && pulls == NULL)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    char name[TDL_BODY_NAME_SIZE];
    world_name_body(body, name);
    if (body->kind->pull == NULL) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "nothing can pull at %s", name);
    }
    for (int i = 0; i < count; ++i) {
        const TdlPull* p = &pulls[i];
        const char* fault = tdl_finite3(p->force) && tdl_finite3(p->torque)
                                ? body->kind->pull_fault(body, p)
                                : "a force and a torque are finite";
        if (fault != NULL) {
            return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "pull %d at %s: %s", i, name,
                            fault);
        }
    }
    TdlStatus status = body->kind->pull(&world->host, body, count, pulls);
    if (status == TDL_STATUS_OK) {
        world_count_energy(world, body);
    }
    return status;
}

TdlStatus tdl_body_contacts(const TdlWorld* world, TdlBodyId id, int capacity, TdlContactForce* out,
                            int* count) {
    *count = 0;
    if (world_find_body(world, id, NULL) == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    int all;
    const TdlContactForce* force = tdl_world_contact_forces(world, &all);
    for (int i = 0; i < all; ++i) {
        bool own =
            tdl_body_id_equal(force[i].body[0], id) || tdl_body_id_equal(force[i].body[1], id);
        if (own && *count < capacity) {
            out[*count] = force[i];
        }
        *count += own;
    }
    return TDL_STATUS_OK;
}
