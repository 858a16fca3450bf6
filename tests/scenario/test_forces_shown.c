// The forces inside rods as a result keeps them, and as pictures and files show them: through the
// command, as a user meets it.
#include "command.h"
#include "test.h"

#include "tendril/result.h"
#include "tendril/run.h"

// A cantilever that hangs from its clamp, light at rest: weight below is w (L - s).
static const char SCENE[] =
    "time: {step: 1e-3, end: 0.02}\n"
    "start: settled\n"
    "output: {frame: 0.01, samples: 2, forces: true}\n"
    "materials: [{name: soft, young: 1e6, density: 1000, damping: 0.02}]\n"
    "rods:\n"
    "  - {name: rope, material: soft, length: 0.3, radius: 2e-3, elements: 6,\n"
    "     clamp: {direction: [0, 0, -1]}}\n"
    "  - {name: spring, material: soft, model: der, length: 0.2, radius: 2e-3, elements: 4,\n"
    "     clamp: {position: [0, 1, 0], direction: [0, 0, -1]}}\n";

static const double PI = 3.14159265358979323846;

static void write_scene(const Scratch* scratch, const char* text) {
    scratch_write(scratch_path(scratch, "scene.yaml"), text, strlen(text));
}

TEST(a_result_keeps_them) {
    Scratch scratch = scratch_make();
    write_scene(&scratch, SCENE);
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "out", NULL), 0);
    TdlHost host = tdl_host_default();
    TdlResult* result = NULL;
    REQUIRE(tdl_result_open(&host, scratch_path(&scratch, "out"), &result) == TDL_STATUS_OK);
    TdlResultInfo info = tdl_result_info(result);
    const int* start = tdl_result_point_start(result);
    CHECK(info.has_forces);
    REQUIRE(info.point_count == 13 + 9 && info.frame_count == 3);
    TdlVec3 force[22], moment[22];
    CHECK_INT(tdl_result_read_forces(result, 0, force, moment), TDL_STATUS_OK);
    CHECK_NEAR3(force[0], ((TdlVec3){0}), 0.0); // before the first step
    CHECK_INT(tdl_result_read_forces(result, 2, force, moment), TDL_STATUS_OK);
    double w = 1000.0 * PI * 4.0e-6 * 9.81;
    for (int rod = 0; rod < 2; ++rod) {
        double length = rod == 0 ? 0.3 : 0.2;
        int count = start[rod + 1] - start[rod];
        for (int i = 0; i < count; ++i) {
            double weight = w * length * (1.0 - (double)i / (count - 1));
            // of single precision, and of what a settled spring still swings
            CHECK_NEAR3(force[start[rod] + i], ((TdlVec3){weight, 0.0, 0.0}), 1.0e-6 * w * length);
        }
    }
    tdl_result_close(result);
    scratch_remove(&scratch);
}

TEST(files_and_pictures_show_them) {
    Scratch scratch = scratch_make();
    write_scene(&scratch, SCENE);
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "out", NULL), 0);
    CHECK_INT(COMMAND(&scratch, "export", "out", "--format", "csv", "-o", "a.csv", NULL), 0);
    char* csv = scratch_read(scratch_path(&scratch, "a.csv"), NULL);
    CHECK(csv != NULL && strstr(csv, "curvature,tension,shear_2,shear_3,twist_moment,moment_2,"
                                     "moment_3\n") != NULL);
    free(csv);
    CHECK_INT(COMMAND(&scratch, "export", "out", "--format", "usda", "-o", "a.usda", NULL), 0);
    char* usd = scratch_read(scratch_path(&scratch, "a.usda"), NULL);
    CHECK(usd != NULL && strstr(usd, "float3[] primvars:force.timeSamples") != NULL &&
          strstr(usd, "float3[] primvars:moment.timeSamples") != NULL);
    free(usd);
    CHECK_INT(COMMAND(&scratch, "export", "out", "--format", "vtp", "-o", "a.pvd", NULL), 0);
    char* vtp = scratch_read(scratch_path(&scratch, "a-0002.vtp"), NULL);
    CHECK(vtp != NULL && strstr(vtp, "Name=\"force\"") != NULL &&
          strstr(vtp, "Name=\"moment\"") != NULL);
    free(vtp);
    CHECK_INT(COMMAND(&scratch, "render", "out", "-o", "a.png", "--colour", "tension", NULL), 0);
    CHECK(command_wrote(&scratch, "stderr", "Red is a tension of 0.037 N"));
    CHECK_INT(COMMAND(&scratch, "render", "out", "-o", "a.png", "--colour", "tensoin", NULL), 2);
    CHECK_INT(COMMAND(&scratch, "render", "out", "-o", "a.svg", "--colour", "tension", NULL), 2);
    scratch_remove(&scratch);
}

TEST(who_did_not_ask_is_told_so) {
    Scratch scratch = scratch_make();
    write_scene(&scratch, SCENE);
    CHECK_INT(
        COMMAND(&scratch, "run", "scene.yaml", "-o", "out", "--set", "output.forces=false", NULL),
        0);
    CHECK_INT(COMMAND(&scratch, "render", "out", "-o", "a.png", "--colour", "twist", NULL), 3);
    CHECK(command_wrote(&scratch, "stderr", "run its scene with --set output.forces=true"));
    TdlHost host = tdl_host_default();
    TdlResult* result = NULL;
    REQUIRE(tdl_result_open(&host, scratch_path(&scratch, "out"), &result) == TDL_STATUS_OK);
    TdlVec3 force[22], moment[22];
    CHECK(!tdl_result_info(result).has_forces);
    CHECK_INT(tdl_result_read_forces(result, 0, force, moment), TDL_STATUS_BAD_INPUT);
    tdl_result_close(result);
    scratch_remove(&scratch);
}

TEST(trees_are_refused_by_name) {
    Scratch scratch = scratch_make();
    static const char TREE[] = "time: {end: 0.01}\n"
                               "output: {forces: true}\n"
                               "materials: [{name: soft, young: 1e6}]\n"
                               "rods:\n"
                               "  - {name: stem, material: soft, length: 0.3, radius: 2e-3}\n"
                               "  - {name: twig, material: soft, length: 0.1, radius: 2e-3,\n"
                               "     parent: stem}\n";
    write_scene(&scratch, TREE);
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", NULL), 3);
    CHECK(command_wrote(&scratch, "stderr",
                        "scene.yaml:2:18: 'stem' is part of a tree, inside which forces are not "
                        "told"));
    scratch_remove(&scratch);
}
