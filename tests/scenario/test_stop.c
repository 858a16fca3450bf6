// Asked to stop, anything that takes long ends after bounded work, however far it came: told by how
// often it asks, which no busy machine changes. And what was stopped can be done again.
#include "run_folder.h"
#include "test.h"

#include "tendril/run.h"

typedef struct Asker {
    long calls, stop_at; // from that call on, and for good; 0: never
} Asker;

static bool ask(void* user) {
    Asker* asker = user;
    ++asker->calls;
    return asker->stop_at > 0 && asker->calls >= asker->stop_at;
}

static TdlScene* load(const char* text) {
    char path[] = "/tmp/tendril-stop-XXXXXX";
    int file = mkstemp(path);
    TdlHost host = tdl_host_default();
    TdlScene* scene = NULL;
    bool written = write(file, text, strlen(text)) == (ssize_t)strlen(text);
    close(file);
    if (!written || tdl_scene_load(&host, path, NULL, 0, &scene) != TDL_STATUS_OK) {
        abort();
    }
    unlink(path);
    return scene;
}

// --- statics -------------------------------------------------------------------------------------

static const char RESTING[] =
    "time: {step: 1e-3, end: 0.02}\n"
    "start: settled\n"
    "output: {frame: 0.01}\n"
    "materials: [{name: soft, young: 1e6, density: 1000, damping: 0.02}]\n"
    "rods:\n"
    "  - {name: curl, material: soft, length: 0.3, radius: 1e-3, elements: 20,\n"
    "     natural_curvature: [5, 30, 0], repeat: {count: [1, 3, 1], spacing: [0, 0.5, 0]}}\n"
    "  - {name: bow, material: soft, model: der, length: 0.3, radius: 1e-3, elements: 20,\n"
    "     natural_curvature: [0, 10, 0], clamp: {position: [0, -1, 0]}}\n"
    "  - {name: held, material: soft, length: 0.3, radius: 1e-3, elements: 12, end: pinned,\n"
    "     clamp: {position: [0, -2, 0]}, curvature: [0, 5, 0]}\n";

// Settles the scene's world, asked by `asker`.
static TdlStatus settle(const TdlScene* scene, Asker* asker, uint64_t* hash) {
    TdlWorld* world = NULL;
    if (tdl_scene_build(scene, 1, &world) != TDL_STATUS_OK) {
        abort();
    }
    tdl_world_watch_stop(world, ask, asker);
    TdlStatus status = tdl_world_settle(world, NULL);
    *hash = tdl_world_state_hash(world);
    tdl_world_destroy(world);
    return status;
}

TEST(settling_asks_for_every_rod_and_iteration) {
    TdlScene* scene = load(RESTING);
    Asker asker = {0};
    uint64_t hash, first;
    CHECK_INT(settle(scene, &asker, &first), TDL_STATUS_OK);
    long all = asker.calls;
    CHECK(all > 5 * 10); // of five rods, some iterations each
    const long at[] = {1, 2, all / 4, all / 2, all};
    for (int i = 0; i < 5; ++i) {
        asker = (Asker){0, at[i]};
        CHECK_INT(settle(scene, &asker, &hash), TDL_STATUS_STOPPED);
        CHECK_INT(asker.calls, at[i]); // said once, it is not asked again
    }
    asker = (Asker){0, all + 1};
    CHECK_INT(settle(scene, &asker, &hash), TDL_STATUS_OK);
    CHECK(hash == first);
    tdl_scene_destroy(scene);
}

// --- a run that starts ---------------------------------------------------------------------------

TEST(a_run_that_is_stopped_while_it_starts_leaves_nothing) {
    Scratch scratch = scratch_make();
    TdlScene* scene = load(RESTING);
    TdlHost host = tdl_host_default();
    char folder[4200], part[4300];
    snprintf(folder, sizeof folder, "%.4000s/out", scratch.path);
    snprintf(part, sizeof part, "%s.part", folder);
    Asker asker = {0};
    TdlRunDef def = {.directory = folder, .thread_count = 1, .stop = ask, .stop_user = &asker};
    TdlRunInfo info;
    CHECK_INT(tdl_run(&host, scene, &def, &info), TDL_STATUS_OK);
    uint64_t whole = info.state_hash;
    scratch_remove_tree(folder);
    const long at[] = {1, 5, 40};
    for (int i = 0; i < 3; ++i) {
        asker = (Asker){0, at[i]};
        CHECK_INT(tdl_run(&host, scene, &def, &info), TDL_STATUS_STOPPED);
        CHECK_INT(info.steps, -1);
        CHECK_INT(asker.calls, at[i]);
        CHECK(access(folder, F_OK) != 0 && access(part, F_OK) != 0);
    }
    asker = (Asker){0};
    CHECK_INT(tdl_run(&host, scene, &def, &info), TDL_STATUS_OK);
    CHECK(info.state_hash == whole);
    tdl_scene_destroy(scene);
    scratch_remove(&scratch);
}

// --- a rest that is sought -----------------------------------------------------------------------

// A bowed fibre on a floor is to rest as it is, and leans on what it touches.
static TdlScene* load_shipped(const char* name) {
    char path[4200];
    snprintf(path, sizeof path, "%.4000s/scenes/%s", getenv("TENDRIL_SOURCE"), name);
    TdlHost host = tdl_host_default();
    TdlScene* scene = NULL;
    return tdl_scene_load(&host, path, NULL, 0, &scene) == TDL_STATUS_OK ? scene : NULL;
}

TEST(building_asks_for_every_rod) {
    if (getenv("TENDRIL_SOURCE") == NULL) {
        SKIP("TENDRIL_SOURCE is not set");
    }
    TdlScene* scene = load_shipped("cat-tail.yaml");
    REQUIRE(scene != NULL);
    Asker asker = {0};
    TdlWorld* world = NULL;
    tdl_scene_watch_stop(scene, ask, &asker);
    CHECK_INT(tdl_scene_build(scene, 1, &world), TDL_STATUS_OK);
    uint64_t first = tdl_world_state_hash(world);
    tdl_world_destroy(world);
    long all = asker.calls;
    CHECK(all >= 3);
    for (long k = 1; k <= all; ++k) {
        asker = (Asker){0, k};
        world = NULL;
        CHECK_INT(tdl_scene_build(scene, 1, &world), TDL_STATUS_STOPPED);
        CHECK(world == NULL);
        CHECK(asker.calls <= k + 1); // a solver that was told asks once more at its end
    }
    asker = (Asker){0};
    CHECK_INT(tdl_scene_build(scene, 1, &world), TDL_STATUS_OK);
    CHECK(tdl_world_state_hash(world) == first);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}

// --- a step --------------------------------------------------------------------------------------

// Nodal rods that fall on each other: rounds, solves and detection ask.
static const char FALLING[] =
    "time: {step: 4e-3, end: 1}\n"
    "materials: [{name: soft, young: 1e6, density: 1000, damping: 0.01}]\n"
    "rods:\n"
    "  - {name: along, material: soft, model: der, length: 0.3, radius: 3e-3, elements: 16,\n"
    "     start: free, repeat: {count: [1, 12, 1], spacing: [0, 0.02, 0]}}\n"
    "  - {name: across, material: soft, model: der, length: 0.3, radius: 3e-3, elements: 16,\n"
    "     start: free, clamp: {position: [0.01, -0.02, 0.0061], direction: [0, 1, 0]},\n"
    "     repeat: {count: [12, 1, 1], spacing: [0.02, 0, 0]}}\n"
    "colliders: [{name: floor, shape: plane, position: [0, 0, -0.004]}]\n"
    "contacts: {friction: 0.4}\n";

// On one thread: how often detection asks depends on which thread does what.
TEST(a_step_that_is_stopped_is_as_if_it_had_not_begun) {
    TdlScene* scene = load(FALLING);
    TdlWorld *world = NULL, *trial = NULL;
    REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
    long most = 0;
    for (int step = 0; step < 12; ++step) {
        Asker asker = {0};
        uint64_t before = tdl_world_state_hash(world);
        REQUIRE(tdl_world_copy(world, &trial) == TDL_STATUS_OK);
        tdl_world_watch_stop(trial, ask, &asker);
        REQUIRE(tdl_world_step(trial, NULL) == TDL_STATUS_OK);
        uint64_t after = tdl_world_state_hash(trial);
        tdl_world_destroy(trial);
        long all = asker.calls;
        most = all > most ? all : most;
        for (long k = 1; k <= all; k += all / 7 + 1) {
            REQUIRE(tdl_world_copy(world, &trial) == TDL_STATUS_OK);
            asker = (Asker){0, k};
            tdl_world_watch_stop(trial, ask, &asker);
            CHECK_INT(tdl_world_step(trial, NULL), TDL_STATUS_STOPPED);
            CHECK(asker.calls <= k + 4); // a solve that was told asks once more at its end
            CHECK(tdl_world_state_hash(trial) == before);
            asker = (Asker){0};
            CHECK_INT(tdl_world_step(trial, NULL), TDL_STATUS_OK);
            CHECK(tdl_world_state_hash(trial) == after);
            tdl_world_destroy(trial);
        }
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
        CHECK(tdl_world_state_hash(world) == after);
    }
    CHECK(most > 10);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}
