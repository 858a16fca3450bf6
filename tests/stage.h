// A world from one of our scenes, whose memory is counted.
#ifndef TDL_STAGE_H
#define TDL_STAGE_H

#include "counting_allocator.h"
#include "tendril/run.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Stage {
    AllocCounter counter;
    TdlScene* scene;
    TdlWorld* world;
} Stage;

// `overrides`: `count` of them, as after --set.
static inline TdlStatus open_stage_with(const char* name, const char* const* overrides, int count,
                                        int threads, Stage* out) {
    char path[4096];
    const char* folder = getenv("TENDRIL_SOURCE");
    snprintf(path, sizeof path, "%s/scenes/%s", folder == NULL ? "." : folder, name);
    *out = (Stage){0};
    TdlHost host = tdl_host_default();
    host.mem = counting_allocator(&out->counter);
    TdlStatus status = tdl_scene_load(&host, path, overrides, count, &out->scene);
    return status == TDL_STATUS_OK ? tdl_scene_build(out->scene, threads, &out->world) : status;
}

static inline TdlStatus open_stage(const char* name, const char* override, int threads,
                                   Stage* out) {
    return open_stage_with(name, &override, override == NULL ? 0 : 1, threads, out);
}

static inline void close_stage(Stage* stage) {
    tdl_world_destroy(stage->world);
    tdl_scene_destroy(stage->scene);
    CHECK_INT(stage->counter.live, 0);
}

#endif
