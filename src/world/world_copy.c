// A world once more, in its own memory: every body adds itself to the other world as it was made,
// and the state is loaded into that.
#include "base/log.h"
#include "world/contact_data.h"

#include <string.h>

static TdlStatus copy_name(TdlWorld* to, const Body* from, Body* body) {
    return from->name == NULL ? TDL_STATUS_OK : tdl_body_set_name(to, body->id, from->name);
}

static TdlStatus copy_bodies(const TdlWorld* from, TdlWorld* to) {
    for (int i = 0; i < from->body_count; ++i) {
        const Body* body = from->body[i];
        if (body->kind->copy == NULL) {
            char name[TDL_BODY_NAME_SIZE];
            world_name_body(body, name);
            return tdl_fail(&from->host, TDL_STATUS_BAD_ARGUMENT,
                            "%s cannot be copied: its kind has no `copy`", name);
        }
        TdlStatus status = body->kind->copy(body, to);
        if (status == TDL_STATUS_OK) {
            status = copy_name(to, body, to->body[i]);
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

// The same ids, and those that are not given again.
static TdlStatus copy_slots(const TdlWorld* from, TdlWorld* to) {
    if (!tdl_reserve(&to->host.mem, &to->slot, &to->slot_capacity, from->slot_count,
                     sizeof *to->slot)) {
        return TDL_STATUS_NO_MEMORY;
    }
    to->slot_count = from->slot_count;
    for (int k = 0; k < from->slot_count; ++k) {
        const Body* body = from->slot[k].body;
        to->slot[k] = (BodySlot){.generation = from->slot[k].generation};
        if (body != NULL) {
            to->slot[k].body = to->body[body->index];
            to->slot[k].body->id = body->id;
        }
    }
    return TDL_STATUS_OK;
}

static TdlStatus copy_state(const TdlWorld* from, TdlWorld* to) {
    size_t size = tdl_world_state_size(from);
    char* bytes = tdl_alloc_array(&from->host.mem, size, 1);
    if (bytes == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    tdl_world_save_state(from, bytes);
    TdlStatus status = tdl_world_load_state(to, bytes, size);
    tdl_free(&from->host.mem, bytes);
    return status;
}

static TdlStatus fill(const TdlWorld* from, TdlWorld* to) {
    size_t laws = (size_t)TDL_MATERIAL_LIMIT * TDL_MATERIAL_LIMIT;
    memcpy(to->laws, from->laws, laws * sizeof *from->laws);
    to->step_count = from->step_count; // bodies are placed where they are by now
    TdlStatus status = copy_bodies(from, to);
    if (status == TDL_STATUS_OK) {
        status = copy_slots(from, to);
    }
    if (status == TDL_STATUS_OK) {
        status = joints_copy(from, to);
    }
    if (status == TDL_STATUS_OK) {
        status = copy_state(from, to);
    }
    if (status != TDL_STATUS_OK || from->contacts == NULL) {
        return status;
    }
    return contacts_copy_told(from->contacts, to->contacts);
}

TdlStatus tdl_world_copy(const TdlWorld* world, TdlWorld** out) {
    TdlWorld* to;
    TdlStatus status = tdl_world_create(&world->host, &world->def, &to);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = fill(world, to);
    if (status != TDL_STATUS_OK) {
        tdl_world_destroy(to);
        return status;
    }
    *out = to;
    return TDL_STATUS_OK;
}
