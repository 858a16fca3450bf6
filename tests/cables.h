// Worlds of soft cables of every model, whose losses are told.
#ifndef TDL_TEST_CABLES_H
#define TDL_TEST_CABLES_H

#include "tendril/world.h"
#include "test.h"

#include <stdlib.h>

static const char* const MODELS[] = {"super-helix", "super-helix-dense", "super-clothoid",
                                     "der",         "mass-spring",       "corde"};
enum { MODEL_COUNT = 6 };

// The default with so long steps, and contacts or none.
static inline TdlWorldDef cable_world_def(double dt, bool contacts) {
    TdlWorldDef def = tdl_world_def_default();
    def.losses = true;
    def.step = dt;
    def.contacts.off = !contacts;
    return def;
}

static inline TdlWorld* make_cable_world(const TdlWorldDef* def) {
    TdlHost host = tdl_host_default();
    TdlWorld* world;
    if (tdl_world_create(&host, def, &world) != TDL_STATUS_OK) {
        abort();
    }
    return world;
}

static inline TdlRodDef cable_def(const char* model, double radius, int elements, double young) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.3;
    def.radius[0] = def.radius[1] = radius;
    def.element_count = elements;
    def.young = young;
    return def;
}

static inline TdlBodyId add_cable(TdlWorld* world, const TdlRodDef* def) {
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rod(world, def, &id), TDL_STATUS_OK);
    return id;
}

static inline double total_energy(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

#endif
