// Loads that vary in time: the list that a body keeps of them, and the call of the world.
#include "body/load.h"

#include "base/log.h"
#include "body/body.h"

void load_list_free(const TdlHost* host, LoadList* list) {
    for (int i = 0; i < list->count; ++i) {
        time_fn_destroy(host, &list->at[i].def.value);
    }
    tdl_free(&host->mem, list->at);
    *list = (LoadList){0};
}

TdlStatus load_list_add(const TdlHost* host, LoadList* list, const TdlLoadDef* def) {
    if (!tdl_reserve(&host->mem, &list->at, &list->capacity, list->count + 1, sizeof *list->at)) {
        return TDL_STATUS_NO_MEMORY;
    }
    VaryingLoad* load = &list->at[list->count];
    *load = (VaryingLoad){.def = *def};
    TdlStatus status = time_fn_create(host, &def->value, &load->def.value);
    list->count += status == TDL_STATUS_OK;
    return status;
}

TdlStatus load_list_copy(const TdlHost* host, const LoadList* from, LoadList* to) {
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < from->count && status == TDL_STATUS_OK; ++i) {
        status = load_list_add(host, to, &from->at[i].def);
        if (status == TDL_STATUS_OK) {
            to->at[i].slot = from->at[i].slot;
        }
    }
    return status;
}

void load_take(VaryingLoad* load, double time, Body* body) {
    TdlVec3 value[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    load->def.value.at(load->def.value.data, time, value);
    load->force = value[0];
    load->torque = value[1];
    if (!tdl_finite3(value[0]) || !tdl_finite3(value[1])) {
        body->account.senseless = "a load";
    }
}

TdlStatus tdl_world_add_load(TdlWorld* world, TdlBodyId id, const TdlLoadDef* def) {
    Body* body = world_find_body(world, id, NULL);
    const TdlHost* host = world_host(world);
    if (body == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    if (body->kind->add_load == NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "load: a %s takes none", body->kind->name);
    }
    if (def->value.at == NULL || !tdl_finite3(def->place) || !isfinite(def->at)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "load: it needs a function of the time and a finite place");
    }
    TdlStatus status = body->kind->add_load(host, body, def, world_now(world));
    world_count_energy(world, body);
    return status;
}
