// Rods along curves of a file: what a simulation exports comes back as the same centrelines, and
// files that are not right are refused with one message.
#include "command.h"
#include "result/result.h"
#include "test.h"

#include <sys/stat.h>

static const char SOURCE[] =
    "time: {step: 1e-3, end: 0.1}\n"
    "output: {frame: 0.1, samples: 4}\n"
    "materials: [{name: hair, young: 1e9, poisson: 0.48, density: 1000, damping: 0.2}]\n"
    "rods:\n"
    "  - {name: curl, material: hair, length: 0.305, radius: 5e-5, elements: 12,\n"
    "     natural_curvature: [10, 100, 0], clamp: {position: [0, 0, 0.3]}}\n"
    "  - {name: soft, material: hair, length: 0.2, radius: 5e-5, elements: 12,\n"
    "     natural_curvature: [2, 10, 5],\n"
    "     clamp: {position: [0, 0.1, 0.3], direction: [0, 1, 1]}}\n";

// The same rods from a file: no gravity, so that they stay as they are.
static const char IMPORT[] =
    "gravity: [0, 0, 0]\n"
    "time: {step: 1e-3, end: 0.01}\n"
    "output: {frame: 0.01, samples: 4}\n"
    "materials: [{name: hair, young: 1e9, poisson: 0.48, density: 1000, damping: 0.2}]\n"
    "rods:\n"
    "  - {name: hairs, material: hair, radius: 5e-5, elements: 12, curves: {file: %s}}\n";

static void write_scene(const Scratch* s, const char* name, const char* curves) {
    char text[2048];
    snprintf(text, sizeof text, IMPORT, curves);
    scratch_write(scratch_path(s, name), text, strlen(text));
}

// Points of the last frame of a result; freed by the caller.
static double* last_points(const Scratch* s, const char* run, TdlResultInfo* info) {
    TdlHost host = tdl_host_default();
    TdlResult* result;
    if (tdl_result_open(&host, scratch_path(s, run), &result) != TDL_STATUS_OK) {
        return NULL;
    }
    *info = tdl_result_info(result);
    double* points = malloc(3 * (size_t)info->point_count * sizeof *points);
    if (tdl_result_read_frame(result, info->frame_count - 1, NULL, points) != TDL_STATUS_OK) {
        free(points);
        points = NULL;
    }
    tdl_result_close(result);
    return points;
}

// The largest distance of corresponding points.
static double compare(const Scratch* s, const char* a, const char* b) {
    TdlResultInfo of_a, of_b;
    double *x = last_points(s, a, &of_a), *y = last_points(s, b, &of_b), largest = INFINITY;
    if (x != NULL && y != NULL && of_a.point_count == of_b.point_count) {
        largest = 0.0;
        for (int i = 0; i < of_a.point_count; ++i) {
            largest = fmax(largest, tdl_norm3(tdl_sub3(tdl_load3(x, i), tdl_load3(y, i))));
        }
    }
    free(x);
    free(y);
    return largest;
}

TEST(what_was_exported_comes_back) {
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "source.yaml"), SOURCE, strlen(SOURCE));
    REQUIRE(COMMAND(&s, "run", "source.yaml", "-o", "source", "-q") == 0);
    static const char* const formats[] = {"hair", "obj", "csv"};
    for (int i = 0; i < 3; ++i) {
        char file[32], scene[32], run[32];
        snprintf(file, sizeof file, "a.%s", formats[i]);
        snprintf(scene, sizeof scene, "%s.yaml", formats[i]);
        snprintf(run, sizeof run, "run-%s", formats[i]);
        REQUIRE(COMMAND(&s, "export", "source", "-f", formats[i], "-o", file, "-q") == 0);
        write_scene(&s, scene, file);
        CHECK_INT(COMMAND(&s, "check", scene, "--json"), 0);
        CHECK(command_wrote(&s, "stdout", "\"rod_count\": 2"));
        REQUIRE(COMMAND(&s, "run", scene, "-o", run, "-q") == 0);
        double miss = compare(&s, "source", run);
        printf("  %s: %.2e m of 0.305 m\n", formats[i], miss);
        // docs/see.md promises a thousandth of the length: points of samples 2.5 times coarser in
        // angle than those of test_helix_fit, and the arc length is an estimate
        CHECK_BELOW(miss, 1.0e-3 * 0.305);
    }
    scratch_remove(&s);
}

static const char TABLE[] = "curve,x,y,z\n"
                            "0,0,0,0\n0,0,1,0\n0,0,2,0\n"
                            "1,1,0,0\n1,1,1,0\n"
                            "2,2,0,0\n2,2,1,0\n"
                            "3,3,0,0\n3,3,1,0\n";

TEST(curves_are_chosen_scaled_and_turned) {
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "t.csv"), TABLE, strlen(TABLE));
    write_scene(&s, "s.yaml", "t.csv, every: 2, scale: 0.1, up: y");
    REQUIRE(COMMAND(&s, "run", "s.yaml", "-o", "run", "-q") == 0);
    TdlResultInfo info;
    double* x = last_points(&s, "run", &info);
    REQUIRE(x != NULL && info.rod_count == 2 && info.point_count == 2 * 49);
    CHECK_NEAR3(tdl_load3(x, 0), ((TdlVec3){0.0, 0.0, 0.0}), 1.0e-7);
    CHECK_NEAR3(tdl_load3(x, 48), ((TdlVec3){0.0, 0.0, 0.2}), 1.0e-7);
    CHECK_NEAR3(tdl_load3(x, 49), ((TdlVec3){0.2, 0.0, 0.0}), 1.0e-7);
    CHECK_NEAR3(tdl_load3(x, 97), ((TdlVec3){0.2, 0.0, 0.1}), 1.0e-7);
    free(x);
    write_scene(&s, "s.yaml", "t.csv, limit: 3");
    CHECK_INT(COMMAND(&s, "check", "s.yaml"), 0);
    CHECK(command_wrote(&s, "stdout", "3 x super-helix of 12 elements, hair, length 1 m"));
    // another natural shape than the first one: straight wires, as they were drawn
    CHECK_INT(COMMAND(&s, "run", "s.yaml", "-o", "bent", "-q", "--set",
                      "rods.hairs.natural_curvature=[0, 2, 0]"),
              0);
    CHECK(compare(&s, "run", "bent") > 0.0);
    scratch_remove(&s);
}

TEST(a_run_goes_on_from_anywhere_but_not_with_another_file) {
    Scratch s = scratch_make();
    mkdir(scratch_path(&s, "deep"), 0777);
    scratch_write(scratch_path(&s, "deep/t.csv"), TABLE, strlen(TABLE));
    write_scene(&s, "deep/s.yaml", "t.csv");
    REQUIRE(COMMAND(&s, "run", "deep/s.yaml", "-o", "run", "-q") == 0);
    // the scene as run loads from where it lies now
    CHECK_INT(COMMAND(&s, "check", "run/scene.yaml", "--json"), 0);
    CHECK(command_wrote(&s, "stdout", "\"rod_count\": 4"));
    CHECK_INT(COMMAND(&s, "run", "run/scene.yaml", "-o", "again", "-q"), 0);
    CHECK(compare(&s, "run", "again") == 0.0);
    scratch_write(scratch_path(&s, "deep/t.csv"), TABLE, strlen(TABLE) - 8);
    CHECK_INT(COMMAND(&s, "check", "run/scene.yaml"), 3);
    CHECK(command_wrote(&s, "stderr", "not the one of this scene any more"));
    scratch_remove(&s);
}

TEST(what_is_wrong_is_told) {
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "t.csv"), TABLE, strlen(TABLE));
    scratch_write(scratch_path(&s, "cut.hair"), "HAIR\1\0\0\0", 8);
    scratch_write(scratch_path(&s, "same.csv"), "x,y,z\n1,1,1\n1,1,1\n", 18);
    REQUIRE(mkdir(scratch_path(&s, "dir.csv"), 0700) == 0);
    static const struct {
        const char *curves, *message;
    } cases[] = {
        {"none.hair", "s.yaml:6:"},
        {"none.hair", "cannot be read: there is no such file"},
        {"dir.csv", "cannot be read: there is no such file"},
        {"., every: 1", "curves come from .hair, .obj, .csv or .h5 (strands)"},
        {"t.csv, every: 0", "every"},
        {"t.csv, limit: -1", "limit"},
        {"t.csv, scale: 0", "scale"},
        {"t.csv, up: x", "up"},
        {"t.csv, hash: abc", "hash"},
        {"t.csv, scale: 1e9", "1e-9 to 1e9 m are allowed"},
        {"cut.hair", "cut.hair: is cut off within its head"},
        {"same.csv", "is 0 m long"},
        {"t.csv}, length: 1, drag: 0", "rods along curves have no length"},
        {"t.csv}, repeat: {count: [1, 1, 1]}, drag: 0", "have no repeat"},
        {"t.csv}, clamp: {position: [0, 0, 1]}, drag: 0", "have no position"},
        {"t.csv}, loads: [{at: 1.5, force: [0, 0, 1]}], drag: 0", "beyond the end of the rod"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[1024];
        size_t length = (size_t)snprintf(text, sizeof text, IMPORT, cases[i].curves);
        if (strchr(cases[i].curves, '}') != NULL) { // the case closes the group itself
            char* end = strstr(text, "drag: 0");
            length = (size_t)(end - text) + (size_t)sprintf(end, "drag: 0}\n");
        }
        scratch_write(scratch_path(&s, "s.yaml"), text, length);
        CHECK_INT(COMMAND(&s, "run", "s.yaml", "-o", "run", "-q"), 3);
        CHECK(command_wrote(&s, "stderr", cases[i].message));
        CHECK(access(scratch_path(&s, "run"), F_OK) != 0);
    }
    scratch_remove(&s);
}

// --- meshes ---------------------------------------------------------------------------------

static const char MESH_SCENE[] =
    "time: {step: 1e-3, end: 0.05}\n"
    "output: {frame: 0.01}\n"
    "bodies: [{name: ball, shape: sphere, radius: 0.02, position: [0.1, 0.1, 0.021]}]\n"
    "colliders: [{name: plate, shape: mesh, mesh: {file: %s}}]\n";

static int run_mesh(const Scratch* s, const char* mesh, const char* run) {
    char text[1024];
    size_t length = (size_t)snprintf(text, sizeof text, MESH_SCENE, mesh);
    scratch_write(scratch_path(s, "m.yaml"), text, length);
    return COMMAND(s, "run", "m.yaml", "-o", run, "-q");
}

TEST(meshes_are_read_scaled_and_turned) {
    static const char PLATE[] = "v 0 0 0\nv 0 0 -300\nv 300 0 -300\nv 300 0 0\nf 1 4 3 2\n";
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "plate.obj"), PLATE, strlen(PLATE));
    // y up: (x, y, z) becomes (x, -z, y); in millimetres
    REQUIRE(run_mesh(&s, "plate.obj, scale: 1e-3, up: y", "run") == 0);
    TdlHost host = tdl_host_default();
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, scratch_path(&s, "run"), &result) == TDL_STATUS_OK);
    TdlResultInfo info = tdl_result_info(result);
    CHECK_INT(info.collider_count, 1);
    TdlPose poses[2];
    REQUIRE(tdl_result_read_poses(result, info.frame_count - 1, poses) == TDL_STATUS_OK);
    CHECK_NEAR3(poses[1].position, ((TdlVec3){0.1, 0.1, 0.02}), 5.0e-5);
    tdl_result_close(result);
    // the folder goes on by itself, and not with another file
    CHECK_INT(COMMAND(&s, "run", "--resume", "run", "-q"), 0);
    scratch_write(scratch_path(&s, "plate.obj"), PLATE, strlen(PLATE) - 1);
    CHECK_INT(COMMAND(&s, "run", "run/scene.yaml", "-o", "again", "-q"), 3);
    CHECK(
        command_wrote(&s, "stderr", "the file of the mesh is not the one of this scene any more"));
    scratch_remove(&s);
}

TEST(what_is_wrong_with_a_mesh_is_told) {
    Scratch s = scratch_make();
    static const struct {
        const char *file, *mesh, *message;
    } cases[] = {
        {"v 0 0 0\n", "none.obj", "m.yaml:4:"},
        {"v 0 0 0\n", "none.obj", "cannot be read: there is no such file"},
        {"v 0 0 0\n", "x.obj", "x.obj: has no faces"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "x.obj", "x.obj:4: a face names vertex 4"},
        {"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "x.obj", "x.obj:4: a triangle has no area"},
        {"v 0 0 0\nv 1 0 zero\n", "x.obj", "x.obj:2: 'zero' is not a number"},
        {"v 0 0 0\n", "'x.obj', scale: 0", "scale"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        scratch_write(scratch_path(&s, "x.obj"), cases[i].file, strlen(cases[i].file));
        CHECK_INT(run_mesh(&s, cases[i].mesh, "run"), 3);
        CHECK(command_wrote(&s, "stderr", cases[i].message));
        CHECK(access(scratch_path(&s, "run"), F_OK) != 0);
    }
    scratch_remove(&s);
}
