// The bed of grains of a world that runs, as a result keeps it.
#include "result/result_grains.h"
#include "tendril/grains.h"

#include <stdio.h>
#include <string.h>

static bool find_bed(const TdlWorld* world, TdlBodyId* out) {
    *out = tdl_world_body(world, "grains", 0);
    return out->index > 0;
}

// What is between quotes in what it is called, "grains 'sand'"; or all of that.
static void name_bed(const TdlWorld* world, TdlBodyId id, TdlResultGrains* out) {
    char called[TDL_BODY_NAME_SIZE];
    tdl_body_name(world, id, called);
    const char *first = strchr(called, '\''), *last = strrchr(called, '\'');
    bool quoted = first != NULL && last > first;
    const char* name = quoted ? first + 1 : called;
    int length = quoted ? (int)(last - name) : (int)strlen(called);
    int most = (int)sizeof out->name - 1;
    snprintf(out->name, sizeof out->name, "%.*s", length < most ? length : most, name);
}

bool tdl_world_result_grains(const TdlWorld* world, TdlResultGrains* out) {
    TdlBodyId id;
    TdlGrainsDef def;
    if (!find_bed(world, &id) || tdl_grains_def(world, id, &def) != TDL_STATUS_OK) {
        return false;
    }
    int per_cell = def.per_cell > 0 ? def.per_cell : def.dimension == 2 ? 4 : 2;
    *out = (TdlResultGrains){.dimension = def.dimension,
                             .spacing = def.spacing,
                             .size = def.spacing / per_cell,
                             .depth = def.depth,
                             .packing = def.packing};
    name_bed(world, id, out);
    return true;
}

int tdl_world_particles(const TdlWorld* world, int capacity, TdlResultParticle* out) {
    TdlBodyId id;
    TdlGrainsParticles grains = {0};
    // what is asked for stays as it is: only where it is kept is the world's own
    if (!find_bed(world, &id) ||
        tdl_grains_particles((TdlWorld*)world, id, &grains) != TDL_STATUS_OK) {
        return 0;
    }
    for (int i = 0; i < grains.count && i < capacity; ++i) {
        out[i] = (TdlResultParticle){.number = grains.number[i],
                                     .position = grains.position[i],
                                     .velocity = grains.velocity[i],
                                     .fraction = grains.fraction[i],
                                     .pressure = grains.pressure[i],
                                     .shear = grains.shear[i]};
    }
    return grains.count;
}

TdlResultGrainsState result_bed_state(const TdlWorld* world) {
    TdlBodyId id;
    TdlGrainsInfo info = {0};
    if (find_bed(world, &id)) {
        tdl_grains_info(world, id, &info);
    }
    return (TdlResultGrainsState){.mass = info.mass,
                                  .lost_mass = info.lost_mass,
                                  .volume_kept = info.volume_kept,
                                  .lost = info.lost};
}
