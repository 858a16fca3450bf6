// Bodies of meshes as a user meets them: read, run and exported, and files that have no
// inside refused with one message.
#include "command.h"
#include "tendril/result.h"
#include "test.h"

static const char SCENE[] =
    "time: {step: 1e-3, end: 0.2}\n"
    "output: {frame: 0.1}\n"
    "bodies:\n"
    "  - {name: die, shape: mesh, mesh: {%s}, position: [0, 0, 0.03], %s,\n"
    "     angular_velocity: [3, 1, 2], repeat: {count: [2, 1, 1], spacing: [0.1, 0, 0]}}\n"
    "colliders: [{name: floor, shape: plane}]\n";

// A cube of 20 mm, from its least corner; in millimetres.
static const char CUBE[] = "v 0 0 0\nv 20 0 0\nv 20 20 0\nv 0 20 0\n"
                           "v 0 0 20\nv 20 0 20\nv 20 20 20\nv 0 20 20\n"
                           "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

static void write_scene(const Scratch* s, const char* mesh, const char* more) {
    char text[1024];
    size_t length = (size_t)snprintf(text, sizeof text, SCENE, mesh, more);
    scratch_write(scratch_path(s, "m.yaml"), text, length);
}

static void read_poses(const Scratch* s, const char* run, TdlPose out[3]) {
    TdlHost host = tdl_host_default();
    TdlResult* result;
    REQUIRE(tdl_result_open(&host, scratch_path(s, run), &result) == TDL_STATUS_OK);
    TdlResultInfo info = tdl_result_info(result);
    CHECK_INT(info.body_count, 2);
    CHECK_INT(info.shape_count, 3);
    TdlResultShape shape = tdl_result_shape(result, 2);
    CHECK_TEXT(shape.shape, "mesh");
    CHECK_INT(shape.mesh.triangle_count, 12);
    REQUIRE(tdl_result_read_poses(result, info.frame_count - 1, out) == TDL_STATUS_OK);
    tdl_result_close(result);
}

TEST(a_mesh_is_run_and_exported) {
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "cube.obj"), CUBE, strlen(CUBE));
    write_scene(&s, "file: cube.obj, scale: 1e-3", "density: 2000, radius: 5e-4");
    CHECK_INT(COMMAND(&s, "check", "m.yaml"), 0);
    CHECK(command_wrote(&s, "stdout", "2 x mesh, 2000 kg/m^3"));
    REQUIRE(COMMAND(&s, "run", "m.yaml", "-o", "whole", "-q") == 0);
    TdlPose whole[3], again[3];
    read_poses(&s, "whole", whole);
    CHECK(whole[1].position.z < 0.021 && whole[2].position.z < 0.021); // they fell on the floor
    CHECK(whole[1].position.z > -0.025);                               // and not through it
    CHECK_INT(COMMAND(&s, "run", "--resume", "whole", "-q"), 0);       // its folder tells all
    REQUIRE(COMMAND(&s, "run", "m.yaml", "-o", "two", "-q", "-t", "2") == 0);
    read_poses(&s, "two", again);
    CHECK(memcmp(whole, again, sizeof whole) == 0);
    static const char* const FORMATS[] = {"obj", "usda", "vtp"};
    for (int i = 0; i < 3; ++i) {
        char file[32];
        snprintf(file, sizeof file, "m.%s", FORMATS[i]);
        CHECK_INT(COMMAND(&s, "export", "whole", "-f", FORMATS[i], "-o", file, "-q"), 0);
    }
    char* obj = scratch_read(scratch_path(&s, "m.obj"), NULL);
    int vertices = 0;
    for (const char* at = obj; at != NULL && (at = strstr(at, "\nv ")) != NULL; ++at) {
        ++vertices;
    }
    CHECK(vertices >= 2 * 8); // those of both cubes, beside the floor's
    free(obj);
    scratch_remove(&s);
}

TEST(a_mesh_with_its_own_mass_is_run) {
    Scratch s = scratch_make();
    scratch_write(scratch_path(&s, "cube.obj"), CUBE, strlen(CUBE));
    write_scene(&s, "file: cube.obj, scale: 1e-3",
                "mass: 0.1, inertia: [1e-5, 1e-5, 1e-5], centre: [0.01, 0.01, 0.004]");
    CHECK_INT(COMMAND(&s, "check", "m.yaml", "--json"), 0);
    CHECK(command_wrote(&s, "stdout", "\"mass\": 0.1"));
    CHECK_INT(COMMAND(&s, "check", "m.yaml"), 0);
    CHECK(command_wrote(&s, "stdout", "2 x mesh, 0.1 kg each"));
    CHECK_INT(COMMAND(&s, "run", "m.yaml", "-o", "run", "-q"), 0);
    scratch_remove(&s);
}

TEST(a_mesh_without_an_inside_is_refused) {
    static const char FACES[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    static const struct {
        const char *faces, *mesh, *more, *message;
    } CASES[] = {
        {"f 1 3 2\nf 1 2 4\nf 1 4 3\n", "file: x.obj", "density: 1",
         "m.yaml:4:43: triangle 2 of the mesh: mesh must be closed: nothing joins a side of this "
         "triangle"},
        {"f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 4 3\n", "file: x.obj", "density: 1",
         "m.yaml:4:43: triangle 2 of the mesh: mesh must be closed: a triangle beside this one "
         "faces the other way"},
        {"f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n", "file: x.obj", "density: 1",
         "m.yaml:4:43: mesh is inside out: its normals point inwards"},
        {"f 1 2 3\nf 1 3 2\n", "file: x.obj", "density: 1", "m.yaml:4:43: mesh must have a volume"},
        {"f 1 2 9\n", "file: x.obj", "density: 1", "x.obj:5: a face names vertex 9"},
        {"", "file: x.obj", "density: 1", "x.obj: has no faces"},
        {"f 1 3 2\n", "file: y.obj", "density: 1", "m.yaml:4:43: 'y.obj' cannot be read"},
        {"f 1 3 2\n", "file: x.stl", "density: 1", "m.yaml:4:43: meshes come from .obj files"},
        {"f 1 3 2\n", "file: x.obj, cache: {file: x.pc2}", "density: 1",
         "unknown key 'cache' in the body-mesh"},
        {"f 1 3 2\n", "scale: 2", "density: 1", "the body-mesh needs the key 'file'"},
        {"f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", "file: x.obj", "inertia: [1, 2, 3.1]",
         "m.yaml:4:84: inertia must be symmetric, its principal moments positive and none above "
         "the sum of the others"},
    };
    Scratch s = scratch_make();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
        char text[256];
        size_t length = (size_t)snprintf(text, sizeof text, "%s%s", FACES, CASES[i].faces);
        scratch_write(scratch_path(&s, "x.obj"), text, length);
        scratch_write(scratch_path(&s, "x.stl"), text, length);
        write_scene(&s, CASES[i].mesh, CASES[i].more);
        CHECK_INT(COMMAND(&s, "run", "m.yaml", "-o", "run", "-q"), 3);
        CHECK(command_wrote(&s, "stderr", CASES[i].message));
        CHECK(access(scratch_path(&s, "run"), F_OK) != 0);
    }
    scratch_remove(&s);
}
