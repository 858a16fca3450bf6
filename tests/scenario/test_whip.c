// A cable whipped on a grating of wires, segments all: nothing passes, as the exact test sees it.
#include "bench/ccd_record.h"
#include "command.h"
#include "test.h"

typedef struct Judge {
    int asked, passed;
    int contacts; // solved for, over all steps
} Judge;

static void count_contacts(void* user, const TdlContactProblem* solved) {
    Judge* j = user;
    j->contacts += tdl_friction_problem_size(solved->problem).contact_count;
}

static void judge(void* user, const TdlCcdQuery* query) {
    Judge* j = user;
    TdlCcdOptions exact = tdl_ccd_options_default();
    TdlCcdResult truth;
    exact.method = TDL_CCD_EXACT;
    CHECK_INT(tdl_ccd_query(query, &exact, &truth), TDL_STATUS_OK);
    ++j->asked;
    j->passed += truth.collision;
}

// Every pair of segments whose swept boxes overlap in a step of the scene.
static void watch(const char* override, int steps, Judge* j) {
    char path[1024];
    snprintf(path, sizeof path, "%s/scenes/whip-grating.yaml", getenv("TENDRIL_SOURCE"));
    TdlHost host = tdl_host_default();
    TdlScene* scene;
    TdlWorld* world;
    REQUIRE(tdl_scene_load(&host, path, &override, override == NULL ? 0 : 1, &scene) ==
            TDL_STATUS_OK);
    REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
    tdl_world_watch_problems(world, count_contacts, j);
    CHECK_INT(ccd_record_world(&host, world, steps, 1000000, judge, j), TDL_STATUS_OK);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}

TEST(a_whipped_cable_does_not_pass_a_grating) {
    Judge held = {0}, loose = {0};
    watch(NULL, 250, &held);
    watch("contacts.detection=off", 250, &loose);
    printf("  %d contacts, %d passed; without contacts %d of %d pairs of segments\n", held.contacts,
           held.passed, loose.passed, loose.asked);
    CHECK(held.contacts > 50);
    CHECK_INT(held.passed, 0);
    CHECK(loose.passed > 10); // the scene asks for something
}

TEST(queries_of_a_run_can_be_saved) {
    Scratch scratch = scratch_make();
    char scene[1024];
    snprintf(scene, sizeof scene, "%s/scenes/wavy-hair.yaml", getenv("TENDRIL_SOURCE"));
    CHECK_INT(COMMAND(&scratch, "run", scene, "-o", "a", "--set", "time.end=0.2", "--save-queries",
                      "all=edge-edge.csv"),
              0);
    CHECK(command_wrote(&scratch, "stderr", "edge-edge.csv: "));
    CHECK_INT(COMMAND(&scratch, "ccd", "edge-edge.csv", "--json"), 0);
    CHECK(command_wrote(&scratch, "stdout", "\"false_negatives\": 0"));
    CHECK_INT(COMMAND(&scratch, "run", scene, "-o", "b", "--save-queries", "edge-edge.csv"), 2);
    scratch_remove(&scratch);
}
