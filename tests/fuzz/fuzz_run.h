// A good run with a little of all, whose files the targets of results and checkpoints change.
#ifndef TDL_FUZZ_RUN_H
#define TDL_FUZZ_RUN_H

#include "fuzz/fuzz_bytes.h"
#include "scene/scene.h"
#include "tendril/run.h"

static const char FUZZ_SCENE[] =
    "title: a little of all\n"
    "time: {step: 2e-3, end: 0.02}\n"
    "output: {frame: 4e-3, checkpoint: 0.01, forces: true}\n"
    "materials: [{name: hair, young: 1e8, density: 1000, damping: 0.01}]\n"
    "rods:\n"
    "  - {name: a, material: hair, length: 0.1, radius: 1e-3, elements: 3}\n"
    "  - {name: b, material: hair, model: der, length: 0.1, radius: 1e-3, elements: 3,\n"
    "     clamp: {position: [0, 0.01, 2e-3], direction: [1, 0, 0]}}\n"
    "bodies: [{name: ball, shape: sphere, radius: 0.01, density: 500, position: [0, 0, 0.1]}]\n"
    "colliders: [{name: floor, shape: plane, position: [0, 0, -5e-4]}]\n"
    "cloths: [{name: towel, rectangle: {size: [0.1, 0.1], nodes: [3, 3]}, position: [0, 0, 1],\n"
    "          holds: [{edge: top}]}]\n"
    "observe: [{name: tip, point: a, at: 0.1}]\n";

static inline TdlScene* fuzz_scene(const TdlHost* host) {
    TdlScene* scene;
    if (scene_load_text(host, "s", FUZZ_SCENE, sizeof FUZZ_SCENE - 1, NULL, 0, &scene) !=
        TDL_STATUS_OK) {
        abort();
    }
    return scene;
}

// Runs the scene; reads one of the files it leaves and removes them all.
static inline uint8_t* fuzz_good_file(const char* name, size_t* size) {
    static const char* const LEFT[] = {"result.h5",  "log.csv",    "summary.json",
                                       "scene.yaml", "checkpoint", "lock"};
    char folder[] = "/tmp/fuzz-run-XXXXXX", run[64], path[128];
    if (mkdtemp(folder) == NULL) {
        abort();
    }
    snprintf(run, sizeof run, "%s/run", folder);
    TdlHost host = tdl_host_default();
    TdlScene* scene = fuzz_scene(&host);
    TdlRunDef def = {.directory = run, .thread_count = 1};
    TdlRunInfo info;
    if (tdl_run(&host, scene, &def, &info) != TDL_STATUS_OK) {
        abort();
    }
    tdl_scene_destroy(scene);
    snprintf(path, sizeof path, "%s/%s", run, name);
    uint8_t* bytes = fuzz_read_file(path, size);
    for (size_t i = 0; i < sizeof LEFT / sizeof *LEFT; ++i) {
        snprintf(path, sizeof path, "%s/%s", run, LEFT[i]);
        unlink(path);
    }
    rmdir(run);
    rmdir(folder);
    return bytes;
}

#endif
