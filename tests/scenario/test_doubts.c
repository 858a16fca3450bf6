// Values that can hardly be meant: `tendril check` warns of each with its place, and is silent
// about the same scene with what was meant, and about all that is shipped.
#include "command.h"
#include "test.h"

#include "tendril/scene.h"

#include <dirent.h>

static const char SCENE[] =
    "time: {step: 1e-3, end: 0.5}\n"
    "gravity: [0, 0, -9.81]\n"
    "output: {frame: 0.1}\n"
    "materials:\n"
    "  - {name: rubber, young: 5e6, density: 1100, damping: 0.02}\n"
    "contacts: {friction: 0.5, tolerance: 1e-6, pairs: [{between: [rubber, rubber], friction: "
    "1}]}\n"
    "rods:\n"
    "  - name: hair\n"
    "    material: rubber\n"
    "    model: der\n"
    "    length: 0.3\n"
    "    radius: 1e-3\n"
    "    elements: 12\n"
    "    natural_curvature: [0, 45, 0]\n"
    "    clamp: {motion: {keyframes: [{time: 0}, {time: 0.1, position: [0, 0, 1]}, {time: 1}]}}\n"
    "    loads: [{at: 0.3, force: [0, 0, 1]}]\n"
    "bodies:\n"
    "  - {name: bead, shape: sphere, radius: 0.005, density: 1000, position: [2, 0, 0]}\n"
    "  - {name: rock, shape: sphere, radius: 0.05, density: 2700, position: [8, 0, 0],\n"
    "     velocity: [1, 0, 0], angular_velocity: [0, 0, 10]}\n"
    "cloths:\n"
    "  - {name: towel, rectangle: {size: [0.4, 0.5], nodes: [3, 3]}, density: 0.3, position: [0, "
    "3, "
    "0]}\n"
    "joints:\n"
    "  - {name: tie, kind: ball, from: {of: bead}, to: {of: rock}, point: [3, 0, 0]}\n"
    "  - {name: hook, kind: ball, from: {of: rock}, point: [8, 0, 1], breaks: {force: 100}}\n";

// What is written in place of what, with a ^ where the warning stands, and what it says there.
// Without one it stands elsewhere, and what is said has the place.
static const struct {
    const char *meant, *written, *said;
} CASES[] = {
    {"step: 1e-3, end: 0.5", "step: ^0.1, end: 0.05", "the step is 0.1 s: longer than the run"},
    {"[0, 0, -9.81]", "^[0, 0, -9810]", "gravity is 9810 m/s^2: more than on the sun"},
    {"frame: 0.1", "frame: ^2", "the time between frames is 2 s: longer than the run"},
    {"young: 5e6", "young: ^5", "'rubber': young is 5 Pa: softer than any gel"},
    {"young: 5e6", "young: ^5e14", "'rubber': young is 5e+14 Pa: stiffer than diamond"},
    {"density: 1100", "density: ^1.1", "'rubber': density is 1.1 kg/m^3: lighter than foam"},
    {"density: 1100", "density: ^1.1e6", "'rubber': density is 1.1e+06 kg/m^3: heavier than"},
    {"damping: 0.02", "damping: ^20", "'rubber': damping is 20 s: a time"},
    {"friction: 0.5", "friction: ^50", "friction is 50: more than rubber on rubber"},
    {"tolerance: 1e-6", "tolerance: ^0.1", "the tolerance is 0.1: forces with an error above"},
    {"friction: 1}", "friction: ^9}", "friction is 9: more than rubber on rubber"},
    {"radius: 1e-3", "radius: ^0.05", "'hair': radius is 0.05 m: a rod is at least ten radii"},
    {"elements: 12", "elements: 6",
     "14:24: warning: 'hair': natural curvature is 45 1/m: an element turns by more than"},
    {"time: 0.1,", "time: ^5e-4,",
     "'hair': the time after the keyframe before is 0.0005 s: less than a step"},
    {"position: [0, 0, 1]}", "position: ^[0, 0, 900]}",
     "'hair': its speed from the keyframe before is 9000 m/s"},
    {"position: [0, 0, 1]}", "rotation: ^[0, 90, 0]}",
     "'hair': its angle is 90 rad: an angle that"},
    {"{time: 1}", "{time: 1}, {time: ^2}",
     "'hair': its time is 2 s: the keyframe before is at the end of the run already"},
    {"force: [0, 0, 1]", "force: ^[0, 0, 1e4]", "'hair': a force is 10000 N: ten times"},
    {"radius: 0.005", "radius: 1e-5",
     "19:12: warning: 'rock': its mass is 1.41372 kg: a million times that of the lightest"},
    {"radius: 0.005", "radius: 1e-5", "'tie': the ratio of the masses that it joins is"},
    {"density: 2700", "density: ^2.7", "'rock': density is 2.7 kg/m^3: lighter than foam"},
    {"velocity: [1, 0, 0]", "velocity: ^[5e3, 0, 0]", "'rock': its speed is 5000 m/s: three times"},
    {"[0, 0, 10]", "^[0, 0, 1e5]", "'rock': its spin is 100000 rad/s"},
    {"density: 0.3", "density: ^300", "'towel': density is 300 kg/m^2: per area"},
    {"force: 100}", "force: ^1}", "'hook': what it bears is 1 N: less than the weight"},
};

// The scene with `written`, and where the ^ was as it is told; empty where there was none.
static void write_scene(const Scratch* scratch, const char* meant, const char* written,
                        char place[64]) {
    char text[8192];
    const char* at = strstr(SCENE, meant);
    REQUIRE(at != NULL);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - SCENE), SCENE, written, at + strlen(meant));
    char* mark = strchr(text, '^');
    place[0] = '\0';
    if (mark != NULL) {
        int line = 1, column = 1;
        for (const char* c = text; c < mark; ++c) {
            line += *c == '\n';
            column = *c == '\n' ? 1 : column + 1;
        }
        snprintf(place, 64, "scene.yaml:%d:%d: warning: ", line, column);
        memmove(mark, mark + 1, strlen(mark));
    }
    scratch_write(scratch_path(scratch, "scene.yaml"), text, strlen(text));
}

TEST(what_can_hardly_be_meant_is_told_with_its_place) {
    Scratch scratch = scratch_make();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
        char place[64], said[512];
        write_scene(&scratch, CASES[i].meant, CASES[i].written, place);
        CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", NULL), 0);
        snprintf(said, sizeof said, "%s%s", place, CASES[i].said);
        CHECK(command_wrote(&scratch, "stderr", said));
    }
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--json", NULL), 0);
    CHECK(command_wrote(&scratch, "stdout",
                        "\"doubt_count\": 1, \"doubts\": [{\"file\": \"scene.yaml\", \"line\": 25, "
                        "\"column\": 82, \"value\": 1, \"text\": \"'hook': what it bears is"));
    scratch_remove(&scratch);
}

TEST(what_was_meant_is_not_doubted) {
    Scratch scratch = scratch_make();
    char place[64];
    write_scene(&scratch, "time", "time", place);
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--json", NULL), 0);
    CHECK(command_wrote(&scratch, "stdout", "\"doubt_count\": 0, \"doubts\": []"));
    char* said = scratch_read(scratch_path(&scratch, "stderr"), NULL);
    CHECK_TEXT(said, "");
    free(said);
    // what is not given has a default, which is not doubted: frames every 0.01 s of a shorter run
    static const char SHORT[] =
        "time: {step: 1e-4, end: 1e-3}\nmaterials: [{name: a, young: 1e6}]\n"
        "rods: [{name: r, material: a, length: 0.1, radius: 1e-3}]\n";
    scratch_write(scratch_path(&scratch, "scene.yaml"), SHORT, strlen(SHORT));
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--json", NULL), 0);
    CHECK(command_wrote(&scratch, "stdout", "\"doubt_count\": 0"));
    scratch_remove(&scratch);
}

// A mesh of the size of the rod in mm, whose file says no unit.
TEST(a_mesh_in_millimetres_is_doubted) {
    Scratch scratch = scratch_make();
    static const char MESH[] = "v 0 0 0\nv 300 0 0\nv 0 300 0\nf 1 2 3\n";
    static const char TEXT[] =
        "time: {step: 1e-3, end: 1}\n"
        "materials: [{name: a, young: 1e6}]\n"
        "rods: [{name: r, material: a, length: 0.3, radius: 1e-3}]\n"
        "colliders:\n"
        "  - {name: head, shape: mesh, mesh: {file: head.obj}, position: [0, "
        "0, -1]}\n";
    scratch_write(scratch_path(&scratch, "head.obj"), MESH, strlen(MESH));
    scratch_write(scratch_path(&scratch, "scene.yaml"), TEXT, strlen(TEXT));
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", NULL), 0);
    CHECK(command_wrote(&scratch, "stderr",
                        "scene.yaml:5:37: warning: 'head': its size is 424.264 "
                        "m: 500 times that of all that moves"));
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--set", "colliders.head.mesh.scale=1e-3",
                      "--json", NULL),
              0);
    CHECK(command_wrote(&scratch, "stdout", "\"doubt_count\": 0"));
    scratch_remove(&scratch);
}

// Nothing keeps sharp things and sheets apart: all three fall through, and two of them through each
// other; what is round, closed, thick or kept away by the barrier is not told of.
TEST(sharp_bodies_and_open_meshes_are_told_of) {
    Scratch scratch = scratch_make();
    static const char SHEET[] = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3 4\n";
    static const char TETRAHEDRON[] = "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\n"
                                      "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    static const char TEXT[] =
        "time: {step: 1e-3, end: 2e-3}\noutput: {frame: 1e-3}\nbodies:\n"
        "  - {name: a, shape: box, half: [0.1, 0.1, 0.1], position: [0, 0, 1]}\n"
        "  - {name: b, shape: mesh, mesh: {file: body.obj}, position: [0.5, 0, 1]}\n"
        "  - {name: c, shape: cylinder, radius: 0.1, length: 0.1, position: [0, 0.5, 1]}\n"
        "  - {name: d, shape: sphere, radius: 0.1, position: [-0.5, 0, 1]}\n"
        "  - {name: e, shape: box, half: [0.1, 0.1, 0.1], radius: 1e-3, position: [0, -0.5, 1]}\n"
        "colliders:\n"
        "  - {name: sheet, shape: mesh, mesh: {file: sheet.obj}}\n"
        "  - {name: stone, shape: mesh, mesh: {file: body.obj}, position: [0, 0, -1]}\n";
    static const char* const REMEDIES[] = {"contacts.response=barrier", "contacts.detection=off"};
    scratch_write(scratch_path(&scratch, "sheet.obj"), SHEET, strlen(SHEET));
    scratch_write(scratch_path(&scratch, "body.obj"), TETRAHEDRON, strlen(TETRAHEDRON));
    scratch_write(scratch_path(&scratch, "scene.yaml"), TEXT, strlen(TEXT));
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--json", NULL), 0);
    CHECK(command_wrote(&scratch, "stdout", "\"doubt_count\": 4"));
    CHECK(command_wrote(&scratch, "stdout", "\"line\": 6, \"column\": 12"));
    CHECK(command_wrote(&scratch, "stderr",
                        "scene.yaml:4:12: warning: 'a' has sharp edges and 'sheet' is an open mesh "
                        "without thickness: they pass through each other; give 'a' a radius or "
                        "'sheet' a radius"));
    CHECK(command_wrote(&scratch, "stderr", "scene.yaml:5:12: warning: 'b' has sharp edges"));
    CHECK(command_wrote(&scratch, "stderr", "give 'c' a rounding or 'sheet' a radius"));
    CHECK(command_wrote(&scratch, "stderr",
                        "scene.yaml:5:12: warning: 'a' and 'b' have sharp edges: they pass through "
                        "each other; give one of them a radius"));
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "run", NULL), 0);
    CHECK(command_wrote(&scratch, "stderr", "'a' has sharp edges and 'sheet' is an open mesh"));
    CHECK(command_wrote(&scratch, "stderr", "give 'c' a rounding or 'sheet' a radius"));
    // as many as there is room for
    TdlHost host = tdl_host_default();
    TdlScene* scene;
    TdlSceneDoubt one;
    REQUIRE(tdl_scene_load(&host, scratch_path(&scratch, "scene.yaml"), NULL, 0, &scene) ==
            TDL_STATUS_OK);
    CHECK_INT(tdl_scene_sharp_pairs(scene, 1, &one), 4);
    CHECK_INT(one.line, 4);
    CHECK(strstr(one.text, "'a' has sharp edges") == one.text);
    tdl_scene_destroy(scene);
    for (size_t i = 0; i < sizeof REMEDIES / sizeof *REMEDIES; ++i) {
        CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--json", "--set", REMEDIES[i], NULL),
                  0);
        CHECK(command_wrote(&scratch, "stdout", "\"doubt_count\": 0"));
    }
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--json", "--set",
                      "colliders.sheet.radius=1e-3", "--set", "bodies.a.radius=1e-3", NULL),
              0);
    CHECK(command_wrote(&scratch, "stdout", "\"doubt_count\": 0"));
    scratch_remove(&scratch);
}

// A floor of 100 m is no doubt beside a mesh or a chain that moves of 1 m, however thin it is.
TEST(meshes_and_chains_that_move_are_as_long_as_they_are) {
    Scratch scratch = scratch_make();
    static const char FLOOR[] = "v 0 0 0\nv 100 0 0\nv 0 100 0\nf 1 2 3\n";
    static const char TETRAHEDRON[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                      "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    static const char* const BODIES[] = {
        "shape: mesh, radius: 1e-3, mesh: {file: body.obj}",
        "shape: curves, radius: 1e-3, pieces: [{length: 0.5}, {length: 0.5}]",
        "shape: sphere, radius: 1e-3",
    };
    scratch_write(scratch_path(&scratch, "floor.obj"), FLOOR, strlen(FLOOR));
    scratch_write(scratch_path(&scratch, "body.obj"), TETRAHEDRON, strlen(TETRAHEDRON));
    for (int i = 0; i < 3; ++i) {
        char text[512];
        snprintf(text, sizeof text,
                 "time: {step: 1e-3, end: 1}\nbodies: [{name: a, position: [9, 9, 1], %s}]\n"
                 "colliders: [{name: floor, shape: mesh, mesh: {file: floor.obj}}]\n",
                 BODIES[i]);
        scratch_write(scratch_path(&scratch, "scene.yaml"), text, strlen(text));
        CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--json", NULL), 0);
        CHECK(
            command_wrote(&scratch, "stdout", i < 2 ? "\"doubt_count\": 0" : "\"doubt_count\": 1"));
    }
    scratch_remove(&scratch);
}

// 100 N on a rod of 3.1 N of EA.
TEST(a_tendon_too_strong_is_doubted) {
    Scratch scratch = scratch_make();
    static const char TEXT[] = "time: {step: 1e-3, end: 1}\n"
                               "materials: [{name: a, young: 1e6}]\n"
                               "rods:\n"
                               "  - {name: r, material: a, length: 0.3, radius: 1e-3, tendons: [\n"
                               "     {offset: [5e-4, 0], tension:\n"
                               "      100}]}\n";
    scratch_write(scratch_path(&scratch, "scene.yaml"), TEXT, strlen(TEXT));
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", NULL), 0);
    CHECK(command_wrote(&scratch, "stderr",
                        "scene.yaml:6:7: warning: 'r': a tension is 100 N: presses its material"));
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--json", "--set",
                      "rods.r.tendons.0.tension=0.1", NULL),
              0);
    CHECK(command_wrote(&scratch, "stdout", "\"doubt_count\": 0"));
    scratch_remove(&scratch);
}

TEST(shipped_scenes_are_not_doubted) {
    const char* root = getenv("TENDRIL_SOURCE");
    if (root == NULL) {
        SKIP("TENDRIL_SOURCE is not set");
    }
    char path[8192];
    snprintf(path, sizeof path, "%s/scenes", root);
    DIR* folder = opendir(path);
    REQUIRE(folder != NULL);
    TdlHost host = tdl_host_default();
    int count = 0;
    for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        TdlScene* scene = NULL;
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".yaml") != 0) {
            continue;
        }
        snprintf(path, sizeof path, "%s/scenes/%s", root, entry->d_name);
        REQUIRE(tdl_scene_load(&host, path, NULL, 0, &scene) == TDL_STATUS_OK);
        TdlSceneDoubt doubt = {0};
        if (tdl_scene_doubts(scene, NULL, 1, &doubt) > 0) {
            FAIL("%s:%d:%d: %s", doubt.file, doubt.line, doubt.column, doubt.text);
        }
        tdl_scene_destroy(scene);
        ++count;
    }
    closedir(folder);
    CHECK(count > 40);
}
