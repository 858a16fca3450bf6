// A step has a budget of work, counted and not timed: steps end within it by a told rule, with the
// same bits on any number of threads, and who does not ask for one sees nothing of it.
#include "scratch.h"
#include "test.h"

#include "tendril/scene.h"

// Two layers of rods that fall across each other onto a floor: contacts that are hard to solve when
// they begin, and easy when all lies.
static const char FALLING[] =
    "time: {step: 4e-3, end: 1}\n"
    "materials: [{name: soft, young: 1e6, density: 1000, damping: 0.01}]\n"
    "rods:\n"
    "  - {name: along, material: soft, length: 0.3, radius: 3e-3, elements: 8,\n"
    "     start: free, repeat: {count: [1, 8, 1], spacing: [0, 0.03, 0]}}\n"
    "  - {name: across, material: soft, length: 0.3, radius: 3e-3, elements: 8,\n"
    "     start: free, clamp: {position: [0.01, -0.02, 0.0061], direction: [0, 1, 0]},\n"
    "     repeat: {count: [8, 1, 1], spacing: [0.03, 0, 0]}}\n"
    "colliders: [{name: floor, shape: plane, position: [0, 0, -0.004]}]\n"
    "contacts: {friction: 0.4}\n";

enum { STEPS = 12 };

typedef struct Log {
    int count;
    char last[1024];
} Log;

static void hear(void* user, TdlLogLevel level, const char* message) {
    Log* log = user;
    if (level <= TDL_LOG_WARNING && strstr(message, "budget") != NULL) {
        ++log->count;
        snprintf(log->last, sizeof log->last, "%s", message);
    }
}

static TdlWorld* build(double budget, const char* spent, int threads, Log* log) {
    Scratch scratch = scratch_make();
    const char* path = scratch_path(&scratch, "scene.yaml");
    scratch_write(path, FALLING, strlen(FALLING));
    char set[2][64];
    snprintf(set[0], sizeof set[0], "time.budget=%.17g", budget);
    snprintf(set[1], sizeof set[1], "time.spent=%s", spent);
    const char* const sets[] = {set[1], set[0]};
    TdlHost host = tdl_host_default();
    host.log = hear;
    host.log_user = log;
    TdlScene* scene = NULL;
    TdlWorld* world = NULL;
    if (tdl_scene_load(&host, path, sets, budget > 0.0 ? 2 : 1, &scene) != TDL_STATUS_OK ||
        tdl_scene_build(scene, threads, &world) != TDL_STATUS_OK) {
        abort();
    }
    tdl_scene_destroy(scene);
    scratch_remove(&scratch);
    return world;
}

// What steps take without a budget: the efforts, and the hash at the end.
static uint64_t measure(double effort[STEPS]) {
    Log log = {0};
    TdlWorld* world = build(0.0, "keep", 1, &log);
    for (int i = 0; i < STEPS; ++i) {
        TdlStepInfo info;
        if (tdl_world_step(world, &info) != TDL_STATUS_OK) {
            abort();
        }
        CHECK(!info.spent);
        effort[i] = info.effort;
    }
    uint64_t hash = tdl_world_state_hash(world);
    tdl_world_destroy(world);
    return hash;
}

static double largest(const double effort[STEPS]) {
    double most = 0.0;
    for (int i = 0; i < STEPS; ++i) {
        most = fmax(most, effort[i]);
    }
    return most;
}

TEST(a_budget_that_is_never_spent_changes_nothing) {
    double effort[STEPS];
    uint64_t hash = measure(effort);
    CHECK(largest(effort) > 0.0);
    Log log = {0};
    TdlWorld* world = build(1.1 * largest(effort), "end", 2, &log);
    for (int i = 0; i < STEPS; ++i) {
        TdlStepInfo info;
        CHECK_INT(tdl_world_step(world, &info), TDL_STATUS_OK);
        CHECK(!info.spent && info.effort == effort[i]); // however many threads there are
    }
    CHECK(tdl_world_state_hash(world) == hash && log.count == 0);
    tdl_world_destroy(world);
}

TEST(steps_end_within_it_and_are_told) {
    double effort[STEPS], budget;
    measure(effort);
    budget = 0.25 * largest(effort);
    Log log[2] = {{0}, {0}};
    TdlWorld* world[2] = {build(budget, "keep", 1, &log[0]), build(budget, "keep", 2, &log[1])};
    int spent = 0, unsolved = 0;
    for (int i = 0; i < STEPS; ++i) {
        TdlStepInfo info[2];
        for (int k = 0; k < 2; ++k) {
            CHECK_INT(tdl_world_step(world[k], &info[k]), TDL_STATUS_OK);
        }
        // the attempt that spends it, then 14 parts with a sixteenth each, and what methods finish
        CHECK(info[0].effort <= 3.0 * budget);
        CHECK(info[0].effort == info[1].effort);
        CHECK(tdl_world_state_hash(world[0]) == tdl_world_state_hash(world[1]));
        spent += info[0].spent;
        unsolved += info[0].spent && info[0].unsolved > 0;
    }
    CHECK(spent > 0 && unsolved > 0 && log[0].count == spent);
    CHECK(strstr(log[0].last, "its budget of ") != NULL);
    CHECK(strstr(log[0].last, "the hardest between ") != NULL);
    CHECK(strstr(log[0].last, "rod 'a") != NULL); // along or across
    tdl_world_destroy(world[0]);
    tdl_world_destroy(world[1]);
}

TEST(a_step_may_fail_instead) {
    double effort[STEPS], budget;
    measure(effort);
    budget = 0.25 * largest(effort);
    Log log = {0};
    TdlWorld* world = build(budget, "end", 1, &log);
    TdlStatus status = TDL_STATUS_OK;
    uint64_t before = 0;
    TdlStepInfo info = {0};
    for (int i = 0; i < STEPS && status == TDL_STATUS_OK; ++i) {
        before = tdl_world_state_hash(world);
        status = tdl_world_step(world, &info);
    }
    CHECK_INT(status, TDL_STATUS_DIVERGED);
    CHECK(tdl_world_state_hash(world) == before);
    CHECK_TEXT(info.reason, "its budget of work is spent (time.budget)");
    CHECK(tdl_body_index(world, info.fault.body) >= 0);
    CHECK(strstr(log.last, "could not be made: its budget of work is spent (time.budget): rod 'a"));
    tdl_world_destroy(world);
}
