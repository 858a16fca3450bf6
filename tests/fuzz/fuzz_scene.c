// A libFuzzer target for scenes: the first line of the input is an override (none when empty),
// the rest is the scene. Whatever comes, loading ends with a scene or with exactly one message.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_scene -dict=tests/fuzz/scene.dict CORPUS scenes
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

typedef struct Ear {
    int errors;
} Ear;

static void listen(void* user, TdlLogLevel level, const char* message) {
    Ear* ear = user;
    ear->errors += level == TDL_LOG_ERROR;
    int line, column;
    const char* place = strncmp(message, "--set ", 6) == 0 ? NULL : message;
    if (place != NULL && sscanf(place, "s:%d:%d: ", &line, &column) != 2) {
        abort();
    }
}

// A scene that loads and is small must also build.
static void build(const TdlScene* scene) {
    TdlSceneInfo info = tdl_scene_info(scene);
    TdlSceneGrains grains = info.has_grains ? tdl_scene_grains(scene) : (TdlSceneGrains){0};
    double cells = (double)grains.cells[0] * grains.cells[1] * grains.cells[2];
    if (info.element_count > 200 || cells > 1000.0) {
        return;
    }
    TdlWorld* world;
    if (tdl_scene_build(scene, 1, &world) != TDL_STATUS_OK) {
        abort();
    }
    tdl_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const uint8_t* end = memchr(data, '\n', size);
    size_t first = end == NULL ? 0 : (size_t)(end - data);
    char set[256];
    first = first < sizeof set ? first : sizeof set - 1;
    if (first > 0) {
        memcpy(set, data, first);
    }
    set[first] = '\0';
    const char* override = set;
    size_t skip = end == NULL ? 0 : first + 1;

    Ear ear = {0};
    TdlHost host = tdl_host_default();
    host.log = listen;
    host.log_user = &ear;
    TdlScene* scene;
    TdlStatus status = scene_load_text(&host, "s", (const char*)data + skip, size - skip, &override,
                                       set[0] != '\0', &scene);
    if ((status == TDL_STATUS_OK) != (scene != NULL) || ear.errors != (status != TDL_STATUS_OK)) {
        abort();
    }
    if (scene != NULL) {
        build(scene);
    }
    tdl_scene_destroy(scene);
    return 0;
}
