// Joints as a result keeps them, and as files, pictures and the page's head show them: through the
// command, as a user meets it.
#include "command.h"
#include "test.h"

#include "tendril/result.h"
#include "tendril/run.h"

// A bob on an arm that falls, a load that is too much for its thread, and one that is caught.
static const char SCENE[] =
    "time: {step: 1e-3, end: 0.05}\n"
    "output: {frame: 0.01}\n"
    "bodies:\n"
    "  - {name: bob, shape: sphere, radius: 0.01, density: 1000, position: [0.1, 0, 0]}\n"
    "  - {name: load, shape: sphere, radius: 0.01, density: 1000, position: [0.5, 0, -0.2]}\n"
    "  - {name: spare, shape: sphere, radius: 0.01, density: 1000, position: [0, 1, 0]}\n"
    "joints:\n"
    "  - {name: pin, kind: hinge, from: {of: bob}, point: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: thread, kind: distance, from: {of: load, place: [0, 0, 0]}, point: [0.5, 0, 0],\n"
    "     breaks: {force: 0.02}}\n"
    "  - {name: late, kind: ball, from: {of: spare, place: [0, 0, 0]}, during: [0.03, 1]}\n";

static const double MASS = 1000.0 * 4.0 / 3.0 * 3.14159265358979323846 * 1.0e-6, REACH = 0.1,
                    G = 9.81;

static void run_and_open(const Scratch* scratch, TdlResult** out) {
    scratch_write(scratch_path(scratch, "scene.yaml"), SCENE, strlen(SCENE));
    CHECK_INT(COMMAND(scratch, "run", "scene.yaml", "-o", "out", NULL), 0);
    TdlHost host = tdl_host_default();
    REQUIRE(tdl_result_open(&host, scratch_path(scratch, "out"), out) == TDL_STATUS_OK);
}

// The pin carries what gravity and the circle ask: along the arm m (g sin a + w^2 l), with
// w^2 = 2 g l sin a / (l^2 + 2 r^2 / 5) by energy.
TEST(a_result_keeps_them) {
    Scratch scratch = scratch_make();
    TdlResult* result = NULL;
    run_and_open(&scratch, &result);
    REQUIRE(tdl_result_info(result).joint_count == 3);
    CHECK_TEXT(tdl_result_joint(result, 0).name, "pin");
    CHECK_TEXT(tdl_result_joint(result, 1).kind, "distance");
    TdlResultJointState joint[3];
    REQUIRE(tdl_result_read_joints(result, 5, joint) == TDL_STATUS_OK);
    CHECK_NEAR(tdl_norm3(joint[0].point), 0.0, 1.0e-9); // of what a joint leaves open, m
    double a = joint[0].coordinate, inertia = REACH * REACH + 0.4 * 1.0e-4;
    double spin = 2.0 * G * REACH * sin(a) / inertia;
    double along = MASS * (G * sin(a) + spin * REACH);
    TdlVec3 arm = {cos(a), 0.0, -sin(a)};
    // a mean over the step before: half a step earlier, and first order, so 4 % of the 50 steps
    CHECK_NEAR(-tdl_dot3(joint[0].force, arm), along, 0.04 * along);
    CHECK(!joint[0].broken);
    // 0.041 N are more than 0.02 N: after the first step the load falls, 49 steps of Euler's
    CHECK(joint[1].broken);
    CHECK_NEAR(joint[1].point.z, -0.2 - G * 1.0e-6 * 49.0 * 50.0 / 2.0, 1.0e-12); // roundings
    // what was caught hangs still: m g, to what the step's solver leaves
    CHECK(!joint[2].idle && !joint[2].broken);
    CHECK_NEAR3(joint[2].force, ((TdlVec3){0.0, 0.0, MASS * G}), 1.0e-9);
    REQUIRE(tdl_result_read_joints(result, 2, joint) == TDL_STATUS_OK);
    CHECK(joint[2].idle && !joint[2].broken);
    REQUIRE(tdl_result_read_joints(result, 0, joint) == TDL_STATUS_OK);
    CHECK(!joint[1].broken && joint[1].coordinate == 0.2);
    tdl_result_close(result);
    scratch_remove(&scratch);
}

TEST(files_pictures_and_the_page_show_them) {
    Scratch scratch = scratch_make();
    TdlResult* result = NULL;
    run_and_open(&scratch, &result);
    tdl_result_close(result);
    CHECK_INT(COMMAND(&scratch, "export", "out", "-f", "csv", "-o", "a.csv", NULL), 0);
    char* csv = scratch_read(scratch_path(&scratch, "a-joints.csv"), NULL);
    CHECK(csv != NULL && strstr(csv, "\n5,0.05,0,\"pin\",hinge,") != NULL);
    CHECK(csv != NULL && strstr(csv, "\n0,0,1,\"thread\",distance,0.5,0,-0.2,") != NULL);
    free(csv);
    CHECK_INT(COMMAND(&scratch, "info", "out", NULL), 0);
    CHECK(command_wrote(&scratch, "stdout", "joints      3\n"));
    CHECK_INT(COMMAND(&scratch, "render", "out", "-o", "a.png", NULL), 0);
    CHECK_INT(COMMAND(&scratch, "view", "out", "-o", "a.html", NULL), 0);
    char* page = scratch_read(scratch_path(&scratch, "a.html"), NULL);
    CHECK(page != NULL && strstr(page, "\"joints\":[{\"name\":\"pin\",\"kind\":\"hinge\"},"
                                       "{\"name\":\"thread\",\"kind\":\"distance\"},"
                                       "{\"name\":\"late\",\"kind\":\"ball\"}]") != NULL);
    free(page);
    scratch_remove(&scratch);
}

static bool stop_in_the_middle(void* user, const TdlStepInfo* info, long total) {
    (void)user;
    (void)total;
    return info->step < 23;
}

// What is resumed has the same joints in all of its frames.
TEST(a_resume_keeps_them) {
    Scratch scratch = scratch_make();
    TdlResult* result = NULL;
    run_and_open(&scratch, &result);
    tdl_result_close(result);
    TdlHost host = tdl_host_default();
    TdlScene* scene = NULL;
    REQUIRE(tdl_scene_load(&host, scratch_path(&scratch, "scene.yaml"), NULL, 0, &scene) ==
            TDL_STATUS_OK);
    char half[4096];
    snprintf(half, sizeof half, "%.4000s", scratch_path(&scratch, "half"));
    TdlRunDef def = {.directory = half, .thread_count = 1, .progress = stop_in_the_middle};
    TdlRunInfo info;
    CHECK_INT(tdl_run(&host, scene, &def, &info), TDL_STATUS_STOPPED);
    CHECK_INT(info.frames, 3);
    tdl_scene_destroy(scene);
    CHECK_INT(COMMAND(&scratch, "run", "--resume", "half", NULL), 0);
    CHECK_INT(COMMAND(&scratch, "export", "half", "-f", "csv", "-o", "b.csv", NULL), 0);
    CHECK_INT(COMMAND(&scratch, "export", "out", "-f", "csv", "-o", "a.csv", NULL), 0);
    char* a = scratch_read(scratch_path(&scratch, "a-joints.csv"), NULL);
    char* b = scratch_read(scratch_path(&scratch, "b-joints.csv"), NULL);
    REQUIRE(a != NULL && b != NULL);
    CHECK_TEXT(a, b);
    free(a);
    free(b);
    scratch_remove(&scratch);
}
