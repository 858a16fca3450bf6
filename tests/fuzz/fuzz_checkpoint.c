// A libFuzzer target for checkpoints: the first byte as in fuzz_bytes.h; the checksum of what was
// changed is made right, so that what lies behind it is reached. Whatever comes, reading ends with
// exactly one message or with a state, which a world takes and steps from, or refuses.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_checkpoint CORPUS
#include "base/hash.h"
#include "base/memory.h"
#include "fuzz/fuzz_run.h"
#include "result/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void count_error(void* user, TdlLogLevel level, const char* message) {
    (void)message;
    *(int*)user += level == TDL_LOG_ERROR;
}

static void be_silent(void* user, TdlLogLevel level, const char* message) {
    (void)user;
    (void)level;
    (void)message;
}

// Contacts of a wild state may take long; a run can be stopped within a step.
static bool stop(void* user) {
    return ++*(int*)user > 20;
}

// A step from what was loaded may fail, but must return.
static void go_on(const char* state, size_t size) {
    static TdlScene* scene;
    TdlHost host = tdl_host_default();
    host.log = be_silent;
    if (scene == NULL) {
        scene = fuzz_scene(&host);
    }
    TdlWorld* world;
    if (tdl_scene_build(scene, 1, &world) != TDL_STATUS_OK) {
        abort();
    }
    TdlStepInfo info;
    int asked = 0;
    tdl_world_watch_stop(world, stop, &asked);
    if (tdl_world_load_state(world, state, size) == TDL_STATUS_OK) {
        tdl_world_step(world, &info);
    }
    tdl_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static uint8_t* good;
    static size_t good_size;
    if (good == NULL) {
        good = fuzz_good_file("checkpoint", &good_size);
    }
    if (size == 0) {
        return 0;
    }
    uint8_t* bytes = fuzz_make_bytes(data, &size, good, good_size);
    if (data[0] % 2 == 1 && size > sizeof(uint64_t)) {
        uint64_t sum = hash_bytes(HASH_START, bytes, size - sizeof sum);
        memcpy(bytes + size - sizeof sum, &sum, sizeof sum);
    }
    char path[64];
    int handle = fuzz_make_file(bytes, size, path), errors = 0;
    TdlHost host = tdl_host_default();
    host.log = count_error;
    host.log_user = &errors;
    Checkpoint checkpoint;
    char* state = NULL;
    size_t state_size = 0;
    TdlStatus status = checkpoint_read(&host, path, &checkpoint, &state, &state_size);
    if (errors != (status != TDL_STATUS_OK)) {
        abort();
    }
    if (status == TDL_STATUS_OK) {
        go_on(state, state_size);
        tdl_free(&host.mem, state);
    }
    fuzz_remove_file(handle);
    free(bytes);
    return 0;
}
