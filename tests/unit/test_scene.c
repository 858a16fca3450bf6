#include "io/scene.h"

#include "capture.h"
#include "test.h"

#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

// --- a folder for files of a test
// -----------------------------------------------------------------

static char folder[64];

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/tendril-scene-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        abort();
    }
    if (chdir(folder) != 0) { // so that messages have short names
        abort();
    }
}

static void put(const char* name, const char* text) {
    FILE* file = fopen(name, "w");
    if (file == NULL) {
        abort();
    }
    fputs(text, file);
    fclose(file);
}

static void drop(const char* first, ...) {
    va_list names;
    va_start(names, first);
    for (const char* name = first; name != NULL; name = va_arg(names, const char*)) {
        unlink(name);
    }
    va_end(names);
    CHECK(chdir("/") == 0);
    CHECK(rmdir(folder) == 0); // nothing else was left behind
}

static char* slurp(const char* name) {
    static char text[2][65536];
    static int turn;
    turn = !turn;
    FILE* file = fopen(name, "r");
    size_t size = file == NULL ? 0 : fread(text[turn], 1, sizeof text[0] - 1, file);
    text[turn][size] = '\0';
    if (file != NULL) {
        fclose(file);
    }
    return text[turn];
}

// --- mistakes
// -------------------------------------------------------------------------------------

// A good scene, line by line; a mistake replaces some lines.
#define TIME "time: {end: 1}\n"
#define HAIR "materials: [{name: hair, young: 1e9}]\n"
#define ROD "rods:\n  - {name: a, material: hair, length: 1, radius: 0.1}\n"
#define LONG_ROD "rods:\n  - name: a\n    material: hair\n    length: 1\n    radius: 0.1\n"

static void check_fails(const char* text, const char* message) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    CHECK_INT(scene_load_text(&host, "s", text, strlen(text), NULL, 0, &scene),
              TDL_STATUS_BAD_INPUT);
    CHECK(scene == NULL);
    CHECK_INT(capture.errors, 1);
    CHECK_TEXT(capture.first, message);
}

TEST(the_least_scene_is_fine) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    static const char TEXT[] = TIME HAIR ROD;
    REQUIRE(scene_load_text(&host, "s", TEXT, strlen(TEXT), NULL, 0, &scene) == TDL_STATUS_OK);
    TdlSceneInfo info = tdl_scene_info(scene);
    CHECK_TEXT(info.title, "untitled");
    CHECK(info.step == 1e-3 && info.end == 1.0 && info.frame_period == 0.01 && !info.settle);
    CHECK_INT(info.rod_count, 1);
    CHECK_INT(info.element_count, 10);
    CHECK_INT(info.dof_count, 30);
    CHECK_INT(info.collider_count, 0);
    CHECK_INT(capture.errors, 0);
    tdl_scene_destroy(scene);
    tdl_scene_destroy(NULL);
}

TEST(each_mistake_is_told_at_its_place) {
    // the file as a whole
    check_fails("", "s:1:1: there is nothing here");
    check_fails("- a\n", "s:1:1: a scene is a group of keys, such as 'title: ...' and 'rods: ...'");
    check_fails(HAIR ROD, "s:1:1: the scene needs the key 'time'");
    check_fails(TIME ROD, "s:3:25: no material is named 'hair'");
    check_fails(TIME HAIR, "s:1:1: the scene needs the key 'rods' or the key 'bodies'");
    check_fails("# x\n\ngravty: [0, 0, 0]\n" TIME HAIR ROD,
                "s:3:1: unknown key 'gravty' in the scene; did you mean 'gravity'?");
    check_fails("include: x.yaml\n" TIME HAIR ROD, "s:1:10: only a file can include another");
    check_fails("title: \"\\e[1m\"\n" TIME HAIR ROD,
                "s:1:8: title must be one line of printable characters");
    check_fails("title: |\n  a\n  b\n" TIME HAIR ROD,
                "s:1:8: title must be one line of printable characters");
    // times
    check_fails("time: {step: 1e-9, end: 2}\n" HAIR ROD,
                "s:1:14: 2 s in steps of 1e-09 s are more than 1e+09 steps");
    check_fails("time: {step: 0, end: 2}\n" HAIR ROD,
                "s:1:14: step must be in [1e-12, 1e6] s, not 0");
    check_fails("time: {step: 0.1, end: 2}\noutput: {frame: 0.05}\n" HAIR ROD,
                "s:2:17: frame must be at least a step, 0.1 s");
    check_fails("start: setled\n" TIME HAIR ROD,
                "s:1:8: start must be one of as-placed|settled, not 'setled'; did you mean "
                "'settled'?");
    // names and references
    check_fails(TIME "materials: [{name: a, young: 1}, {name: a, young: 2}]\n" ROD,
                "s:2:41: the name 'a' is already taken");
    check_fails(TIME HAIR ROD "  - {name: a, material: hair, length: 1, radius: 0.1}\n",
                "s:5:12: the name 'a' is already taken");
    check_fails(TIME "materials: [{name: hairs, young: 1}]\n" ROD,
                "s:4:25: no material is named 'hair'; did you mean 'hairs'?");
    check_fails(TIME "materials: [{name: steel, young: 1}]\n" ROD,
                "s:4:25: no material is named 'hair'");
    check_fails(TIME "materials: [{name: hair, density: 1}]\n" ROD,
                "s:4:25: the material 'hair' has no young, which a rod needs");
    char models[512];
    snprintf(models, sizeof models,
             "s:8:12: model must be one of %s, not 'superhelix'; did you mean 'super-helix'?",
             tdl_rod_models());
    check_fails(TIME HAIR LONG_ROD "    model: superhelix\n", models);
    // lists that do not fit
    check_fails(TIME HAIR LONG_ROD "    elements: 3\n    natural_curvature: [[1, 2, 3]]\n",
                "s:9:24: natural_curvature has 1 vectors for 3 elements; give one each, or one "
                "for all");
    check_fails(TIME HAIR LONG_ROD "    elements: 2\n    curvature: [[1,2,3],[1,2,3],[1,2,3]]\n",
                "s:9:16: curvature has 3 vectors for 2 elements; give one each, or one for all");
    // found by fuzzing: building a helix of millions of turns took minutes
    check_fails(TIME HAIR LONG_ROD "    natural_curvature: [0, 100, 1e9]\n",
                "s:8:24: an element of 0.1 m would turn by 1e+08 rad, at most 1000: take a smaller "
                "curvature or more elements");
    check_fails(TIME HAIR LONG_ROD "    elements: 2\n    curvature: [[0, 0, 0], [0, 3e3, 0]]\n",
                "s:9:28: an element of 0.5 m would turn by 1.5e+03 rad, at most 1000: take a "
                "smaller curvature or more elements");
    // directions
    check_fails(TIME HAIR LONG_ROD "    clamp: {direction: [0, 0, 0]}\n",
                "s:8:24: direction must not be zero");
    check_fails(TIME HAIR LONG_ROD "    clamp: {direction: [0, 1, 2], normal: [0, -2, -4]}\n",
                "s:8:43: normal must not lie along direction");
    check_fails(TIME HAIR LONG_ROD "    clamp: {direction: [1e-200, 0, 0], normal: [1, 0, 0]}\n",
                "s:8:48: normal must not lie along direction");
    // motions
    check_fails(TIME HAIR LONG_ROD "    clamp: {motion: {keyframes: [{time: 1}, {time: 1}]}}\n",
                "s:8:52: the times of keyframes must grow: 1 is not after 1");
    check_fails(TIME HAIR LONG_ROD "    clamp: {motion: {keyframes: []}}\n",
                "s:8:33: keyframes is empty");
    check_fails(TIME HAIR LONG_ROD "    clamp: {motion: {}}\n",
                "s:8:21: the motion needs the key 'keyframes'");
    // repetitions
    check_fails(TIME HAIR LONG_ROD "    repeat: {count: [0, 1, 1]}\n",
                "s:8:22: count must be in [1, 1e6], not 0");
    check_fails(TIME HAIR LONG_ROD "    repeat: {count: [1, 2, 1]}\n",
                "s:8:13: copies along y would lie in one place: give a spacing or a jitter");
    check_fails(TIME HAIR LONG_ROD
                "    repeat: {count: [1000000, 1000000, 1000000], spacing: [1, 1, 1]}\n",
                "s:8:21: 1000000000000000000 copies of 'a' with 10 elements bring the scene above "
                "100000000 elements");
    check_fails(TIME HAIR LONG_ROD
                "    elements: 100000\n    repeat: {count: [1001, 1, 1], spacing: [1, 1, 1]}\n",
                "s:9:21: 1001 copies of 'a' with 100000 elements bring the scene above 100000000 "
                "elements");
    check_fails(TIME HAIR LONG_ROD "    repeat: {count: [5000000, 1, 1], spacing: [1, 1, 1]}\n",
                "s:8:22: count must be in [1, 1e6], not 5000000");
    check_fails(TIME HAIR LONG_ROD
                "    repeat: {count: [2, 1, 1], spacing: [1, 1, 1], jitter: [-1, 0, 0]}\n",
                "s:8:61: jitter must be in [0, 1e9] m, not -1");
    // colliders
    check_fails(TIME HAIR ROD "colliders: [{name: c, shape: ball, radius: 1}]\n",
                "s:5:30: shape must be one of "
                "plane|sphere|cylinder|capsule|plate|comb|curves|mesh, not 'ball'");
    check_fails(TIME HAIR ROD "colliders: [{name: c, shape: sphere}]\n",
                "s:5:13: the sphere needs the key 'radius'");
    check_fails(TIME HAIR ROD "colliders: [{name: c, shape: capsule, radius: 1}]\n",
                "s:5:13: the capsule needs the key 'length'");
    check_fails(TIME HAIR ROD "colliders: [{name: c, shape: plane, radius: 1}]\n",
                "s:5:37: a plane has no radius");
    check_fails(TIME HAIR ROD
                "colliders: [{name: c, shape: sphere, radius: 1, direction: [1, 0, 0]}]\n",
                "s:5:49: a sphere has no direction");
    check_fails(TIME HAIR ROD "colliders: [{name: c, shape: plane, motion: {keyframes: [{time: 2},"
                              " {time: 1}]}}]\n",
                "s:5:76: the times of keyframes must grow: 1 is not after 2");
    check_fails(TIME HAIR ROD "colliders:\n  - {name: c, shape: plane}\n"
                              "  - {name: c, shape: plane}\n",
                "s:7:12: the name 'c' is already taken");
}

#define BODIES TIME HAIR "bodies:\n  - {name: b, "

TEST(each_mistake_of_bodies_is_told_at_its_place) {
    check_fails(BODIES "shape: cube, half: [1, 1, 1]}\n",
                "s:4:22: shape must be one of sphere|capsule|box|curves, not 'cube'");
    check_fails(BODIES "shape: sphere}\n", "s:4:5: the sphere needs the key 'radius'");
    check_fails(BODIES "shape: sphere, radius: 0}\n", "s:4:5: radius must be positive");
    check_fails(BODIES "shape: sphere, radius: -1}\n",
                "s:4:38: radius must be in [0, 1e9] m, not -1");
    check_fails(BODIES "shape: sphere, radius: nan}\n",
                "s:4:38: radius must be a number, not the text 'nan'");
    check_fails(BODIES "shape: sphere, radius: 1, length: 1}\n", "s:4:41: a sphere has no length");
    check_fails(BODIES "shape: capsule, radius: 1}\n", "s:4:5: the capsule needs the key 'length'");
    check_fails(BODIES "shape: box}\n", "s:4:5: the box needs the key 'half'");
    check_fails(BODIES "shape: box, half: [1, 0, 1]}\n",
                "s:4:37: half must be in [1e-9, 1e9] m, not 0");
    check_fails(BODIES "shape: box, half: [1, 0.2, 1], radius: 0.3}\n",
                "s:4:5: radius must not exceed half");
    check_fails(BODIES "shape: curves, radius: 0.1}\n",
                "s:4:5: the chain of curves needs the key 'pieces'");
    check_fails(BODIES "shape: curves, radius: 0.1, pieces: []}\n", "s:4:51: pieces is empty");
    check_fails(BODIES "shape: curves, radius: 0.1, pieces: [{length: 0}]}\n",
                "s:4:61: length must be in [1e-9, 1e9] m, not 0");
    check_fails(BODIES
                "shape: curves, radius: 0.1, pieces: [{length: 1, curvature: [0, 0, 10]}]}\n",
                "s:4:5: curvature of a piece times radius must be below 1");
    check_fails(BODIES "shape: curves, radius: 1e-6, pieces: [{length: 1, curvature: [1e4, 0, "
                       "0]}]}\n",
                "s:4:76: a piece of 1 m would turn by 1e+04 rad, at most 1000");
    check_fails(BODIES "shape: sphere, radius: 1, material: steel}\n",
                "s:4:51: no material is named 'steel'");
    check_fails(BODIES "shape: sphere, radius: 1, density: 0}\n",
                "s:4:50: density must be in [1e-6, 1e9] kg/m^3, not 0");
    check_fails(BODIES "shape: sphere, radius: 1, direction: [0, 0, 2], normal: [0, 0, 1]}\n",
                "s:4:71: normal must not lie along direction");
    check_fails(BODIES "shape: sphere, radius: 1, velocity: [0, 0]}\n",
                "s:4:51: velocity must be a list of 3 numbers, not a list of 2");
    check_fails(BODIES "shape: sphere, radius: 1, repeat: {count: [2, 1, 1]}}\n",
                "s:4:49: copies along x would lie in one place: give a spacing or a jitter");
    check_fails(BODIES "shape: sphere, radius: 1, repeat: {count: [1001, 1000, 1], spacing: [1, 1, "
                       "1]}}\n",
                "s:4:57: 1001000 copies of 'b' bring the scene above 1000000 bodies");
    check_fails(BODIES "shape: sphere, radius: 1}\n  - {name: b, shape: sphere, radius: 1}\n",
                "s:5:12: the name 'b' is already taken");
}

TEST(each_mistake_of_new_colliders_is_told_at_its_place) {
#define COLLIDER TIME HAIR ROD "colliders:\n  - {name: c, "
    check_fails(COLLIDER "shape: comb, radius: 1, length: 1, pitch: 1}\n",
                "s:6:5: the comb needs the key 'teeth'");
    check_fails(COLLIDER "shape: comb, radius: 1, length: 0, pitch: 1, teeth: 3}\n",
                "s:6:47: length of a comb must be above 0");
    check_fails(COLLIDER "shape: comb, radius: 1, length: 1, pitch: 1, teeth: 0}\n",
                "s:6:67: teeth must be in [1, 10000], not 0");
    check_fails(COLLIDER "shape: comb, radius: 1, length: 1, pitch: 1, teeth: 3, direction: [0, 0, "
                         "1], normal: [0, 0, 1]}\n",
                "s:6:100: normal must not lie along direction");
    check_fails(COLLIDER "shape: plate, radius: 1}\n", "s:6:5: the plate needs the key 'length'");
    check_fails(COLLIDER "shape: plate, radius: 1, length: 1, direction: [1, 0, 0]}\n",
                "s:6:51: a plate has no direction");
    check_fails(COLLIDER "shape: curves, radius: 1}\n",
                "s:6:5: the chain of curves needs the key 'pieces'");
    check_fails(COLLIDER "shape: mesh}\n", "s:6:5: the mesh needs the key 'mesh'");
    check_fails(COLLIDER "shape: mesh, mesh: {scale: 2}}\n",
                "s:6:34: the mesh needs the key 'file'");
    check_fails(COLLIDER "shape: mesh, mesh: {file: a.stl}}\n",
                "s:6:41: meshes come from .obj files");
    check_fails(COLLIDER "shape: mesh, mesh: {file: a.obj}}\n",
                "s:6:41: only a file can name another");
    check_fails(COLLIDER "shape: plane, mesh: {file: a.obj}}\n", "s:6:29: a plane has no mesh");
    check_fails(COLLIDER "shape: sphere, radius: 1, teeth: 4}\n", "s:6:41: a sphere has no teeth");
    check_fails(COLLIDER "shape: sphere, radius: 1, material: glas}\n",
                "s:6:51: no material is named 'glas'");
    check_fails(COLLIDER "shape: sphere, radius: 1, velocity: 3}\n",
                "s:6:51: velocity must be a list of 3 numbers, not the text '3'");
    check_fails(COLLIDER "shape: sphere, radius: 1, angular_velocity: [0, 0, 1e9]}\n",
                "s:6:66: angular_velocity must be in [-1e6, 1e6] rad/s, not 1e9");
}

TEST(each_mistake_of_contacts_is_told_at_its_place) {
#define CONTACTS TIME HAIR ROD "contacts: "
    check_fails(
        CONTACTS "{detection: curve}\n",
        "s:5:23: detection must be one of curves|segments|baseline|off, not 'curve'; did you mean "
        "'curves'?");
    check_fails(CONTACTS "{friction: -0.1}\n", "s:5:22: friction must be in [0, 1e6], not -0.1");
    check_fails(CONTACTS "{friction: inf}\n",
                "s:5:22: friction must be a number, not the text 'inf'");
    check_fails(CONTACTS "{restitution: 1.1}\n", "s:5:25: restitution must be in [0, 1], not 1.1");
    check_fails(CONTACTS "{segments: 0}\n", "s:5:22: segments must be in [1, 1000], not 0");
    check_fails(CONTACTS "{margin: -1}\n", "s:5:20: margin must be in [0, 1e6] m, not -1");
    check_fails(CONTACTS "{tolerance: 0}\n", "s:5:23: tolerance must be in [1e-15, 1], not 0");
    check_fails(CONTACTS "{max_iterations: 0}\n",
                "s:5:28: max_iterations must be in [1, 1e8], not 0");
    check_fails(CONTACTS "{self: maybe}\n", "s:5:18: self must be true or false, not the text "
                                            "'maybe'");
    check_fails(CONTACTS "{solver: newtn}\n",
                "s:5:20: solver must be one of auto|gauss-seidel|anderson|newton|proximal|interior|"
                "admm|fixed-point|gradient|alternating|path|wedged|faceted, not 'newtn'; did you "
                "mean 'newton'?");
    check_fails(CONTACTS "{pairs: [{friction: 1}]}\n", "s:5:20: the pair needs the key 'between'");
    check_fails(CONTACTS "{pairs: [{between: hair}]}\n",
                "s:5:30: between must be a list of 2 names, not the text 'hair'");
    check_fails(CONTACTS "{pairs: [{between: [hair]}]}\n",
                "s:5:30: between must be a list of 2 names, not a list of 1");
    check_fails(CONTACTS "{pairs: [{between: [hair, steel]}]}\n",
                "s:5:37: no material is named 'steel'");
    check_fails(CONTACTS "{pairs: [{between: [hair, hair]}, {between: [hair, hair]}]}\n",
                "s:5:55: the pair of 'hair' and 'hair' is given twice");
    check_fails(TIME "materials: [{name: a, young: 1}, {name: b}]\n"
                     "rods:\n  - {name: a, material: a, length: 1, radius: 0.1}\n"
                     "contacts: {pairs: [{between: [a, b]}, {between: [b, a]}]}\n",
                "s:5:49: the pair of 'b' and 'a' is given twice");
    static char many[8192];
    size_t used = (size_t)snprintf(many, sizeof many, TIME "materials:\n");
    for (int i = 0; i < 64; ++i) {
        used += (size_t)snprintf(many + used, sizeof many - used, "  - {name: m%d, young: 1}\n", i);
    }
    snprintf(many + used, sizeof many - used,
             "rods: [{name: a, material: m0, length: 1, radius: 1}]\n");
    check_fails(many, "s:66:5: more than 63 materials");
}

#define OBSERVED                                                                                   \
    TIME HAIR "bodies: [{name: b, shape: sphere, radius: 1, repeat: {count: [2, 1, 1], spacing: "  \
              "[3, 0, 0]}}, {name: wall, shape: sphere, radius: 1}]\n"                             \
              "colliders: [{name: floor, shape: plane}, {name: wall, shape: plane}]\n" ROD         \
              "observe:\n"

TEST(each_mistake_of_observers_is_told_at_its_place) {
    check_fails(OBSERVED "  - {force: flor}\n",
                "s:8:13: nothing is named 'flor' that has a force, rods, bodies or a collider; "
                "did you mean 'floor'?");
    check_fails(OBSERVED "  - {point: b, at: 0}\n",
                "s:8:13: 'b' is one of the bodies: a point is of a rod");
    check_fails(OBSERVED "  - {centre: floor}\n",
                "s:8:14: 'floor' is one of the colliders: a centre is of rods or bodies");
    check_fails(OBSERVED "  - {force: wall}\n",
                "s:8:13: 'wall' is the name of bodies and of colliders: give one of them another");
    check_fails(OBSERVED "  - {centre: zzz}\n",
                "s:8:14: nothing is named 'zzz' that has a centre, rods or bodies");
    check_fails(OBSERVED "  - {at: 1}\n",
                "s:8:5: the observer needs one of the keys 'force', 'torque', 'centre', 'point'");
    check_fails(OBSERVED "  - {force: floor, torque: floor}\n",
                "s:8:20: an observer has one quantity: force and torque are two observers");
    check_fails(OBSERVED "  - {force: floor, at: 0.1}\n", "s:8:20: a force has no at");
    check_fails(OBSERVED "  - {point: a, at: 1.5}\n",
                "s:8:20: a point at 1.5 m lies beyond the end of the rod, at 1 m");
    check_fails(OBSERVED "  - {point: a, at: -1}\n", "s:8:20: at must be in [0, 1e9] m, not -1");
    check_fails(OBSERVED "  - {torque: b}\n",
                "s:8:5: a torque is of a rod, a body or a collider: 'b' has 2 copies, give the "
                "'copy'");
    check_fails(OBSERVED "  - {force: b, copy: 2}\n",
                "s:8:22: there is no copy 2: 'b' has 2, counted from 0");
    check_fails(OBSERVED "  - {force: floor, copy: 1}\n",
                "s:8:26: there is no copy 1: 'floor' has 1, counted from 0");
    check_fails(OBSERVED "  - {force: floor}\n  - {force: floor}\n",
                "s:9:5: the columns 'force_floor' are taken already: give the observer another "
                "name");
    check_fails(OBSERVED "  - {force: floor}\n  - {centre: a, name: force_floor}\n",
                "s:9:23: the columns 'force_floor' are taken already: give the observer another "
                "name");
    check_fails(OBSERVED "  - {centre: a, name: 'a,b'}\n",
                "s:8:23: 'a,b' is not a name: a letter, then letters, digits, '-' and '_', at most "
                "63");
    check_fails(OBSERVED "  - {forc: floor}\n",
                "s:8:6: unknown key 'forc' in the observer; did you mean 'force'?");
    check_fails(OBSERVED "  - force\n",
                "s:8:5: the observer must be a group of keys, not the text 'force'");
    char many[8192] = OBSERVED;
    for (int i = 0; i < 65; ++i) {
        size_t used = strlen(many);
        snprintf(many + used, sizeof many - used, "  - {force: floor, name: n%d}\n", i);
    }
    check_fails(many, "s:72:5: more than 64 observers");
}

TEST(the_sum_of_all_rods_is_bounded) {
    check_fails(TIME HAIR
                "rods:\n"
                "  - {name: a, material: hair, length: 1, radius: 0.1, elements: 100000,"
                " repeat: {count: [999, 1, 1], spacing: [1, 0, 0]}}\n"
                "  - {name: b, material: hair, length: 1, radius: 0.1, elements: 100000}\n"
                "  - {name: c, material: hair, length: 1, radius: 0.1, elements: 1}\n",
                "s:6:5: 1 copies of 'c' with 1 elements bring the scene above 100000000 elements");
}

TEST(a_long_step_lengthens_the_default_frame) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    static const char TEXT[] = "time: {step: 0.5, end: 1}\n" HAIR ROD;
    REQUIRE(scene_load_text(&host, "s", TEXT, strlen(TEXT), NULL, 0, &scene) == TDL_STATUS_OK);
    CHECK(tdl_scene_info(scene).frame_period == 0.5);
    tdl_scene_destroy(scene);
}

// --- overrides
// ------------------------------------------------------------------------------------

static const char TWO_RODS[] =
    TIME HAIR "rods:\n  - {name: a, material: hair, length: 1, radius: 0.1}\n"
              "  - {name: b, material: hair, length: 2, radius: [0.1, 0.2]}\n";

static TdlScene* load_with(Capture* capture, const char* set) {
    TdlHost host = capture_host(capture);
    TdlScene* scene;
    scene_load_text(&host, "s", TWO_RODS, strlen(TWO_RODS), &set, 1, &scene);
    return scene;
}

TEST(overrides_change_and_add_values) {
    static const struct {
        const char* set;
        int rod;
        double length;
        int elements;
        double step;
    } SETS[] = {
        {"rods.b.length=3", 1, 3.0, 10, 1e-3},
        {"rods.1.length=4", 1, 4.0, 10, 1e-3},
        {"rods.0.elements=7", 0, 1.0, 7, 1e-3},
        {"time.step=1e-4", 0, 1.0, 10, 1e-4},
        {"time={step: 0.01, end: 3}", 0, 1.0, 10, 0.01},
        {"rods.b={name: b, material: hair, length: 9, radius: 1}", 1, 9.0, 10, 1e-3},
        {"rods.a.clamp.motion.keyframes=[{time: 1}]", 0, 1.0, 10, 1e-3},
    };
    for (size_t i = 0; i < sizeof SETS / sizeof *SETS; ++i) {
        Capture capture;
        TdlScene* scene = load_with(&capture, SETS[i].set);
        if (scene == NULL) {
            FAIL("%s: %s", SETS[i].set, capture.text);
            continue;
        }
        TdlSceneRods rods = tdl_scene_rods(scene, SETS[i].rod);
        CHECK(rods.length == SETS[i].length);
        CHECK_INT(rods.element_count, SETS[i].elements);
        CHECK(tdl_scene_info(scene).step == SETS[i].step);
        tdl_scene_destroy(scene);
    }
}

TEST(losses_are_told_when_asked_for) {
    static const char* const TEXT[2] = {TIME HAIR ROD, "losses: true\n" TIME HAIR ROD};
    for (int asked = 0; asked < 2; ++asked) {
        Capture capture;
        TdlHost host = capture_host(&capture);
        TdlScene* scene;
        TdlWorld* world;
        REQUIRE(scene_load_text(&host, "s", TEXT[asked], strlen(TEXT[asked]), NULL, 0, &scene) ==
                TDL_STATUS_OK);
        REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
        CHECK(tdl_world_def(world).losses == (asked == 1));
        tdl_world_destroy(world);
        tdl_scene_destroy(scene);
    }
}

TEST(a_group_does_not_grow_without_end) {
    static char sets[YAML_KEYS_MAX][16];
    static const char* list[YAML_KEYS_MAX];
    for (int i = 0; i < YAML_KEYS_MAX; ++i) {
        snprintf(sets[i], sizeof sets[i], "k%d=1", i);
        list[i] = sets[i];
    }
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    CHECK_INT(scene_load_text(&host, "s", TWO_RODS, strlen(TWO_RODS), list, YAML_KEYS_MAX, &scene),
              TDL_STATUS_BAD_INPUT);
    CHECK_TEXT(capture.first, "--set k997=1:1:1: more than 1000 keys in one group");
}

TEST(long_names_and_texts_are_cut_in_messages) {
    static char name[3001], text[3100], expected[1200];
    memset(name, 'n', 3000);
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    memset(text, 'x', 3000);
    snprintf(text + 3000, sizeof text - 3000, ": 1\n");
    CHECK_INT(scene_load_text(&host, name, text, strlen(text), NULL, 0, &scene),
              TDL_STATUS_BAD_INPUT);
    snprintf(expected, sizeof expected, "...%s:1:", name + 3000 - 1024);
    CHECK(strncmp(capture.first, expected, strlen(expected)) == 0);
    CHECK(strlen(capture.text) < 2000 && strchr(capture.text, '^') != NULL);
    // a title is read whole before its length is judged
    snprintf(text, sizeof text, "title: %s\n" TIME, name);
    CHECK_INT(scene_load_text(&host, "s", text, strlen(text), NULL, 0, &scene),
              TDL_STATUS_BAD_INPUT);
    CHECK_TEXT(capture.first, "s:1:8: title is longer than 255 bytes");
}

TEST(overrides_come_in_order) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    static const char* const SETS[] = {"output.samples=2", "rods.0.name=z", "output.samples=9",
                                       "rods.z.length=5", "title='x: y'"};
    TdlScene* scene;
    REQUIRE(scene_load_text(&host, "s", TWO_RODS, strlen(TWO_RODS), SETS, 5, &scene) ==
            TDL_STATUS_OK);
    CHECK_INT(tdl_scene_info(scene).samples, 9);
    CHECK_TEXT(tdl_scene_info(scene).title, "x: y");
    CHECK(tdl_scene_rods(scene, 0).length == 5.0);
    tdl_scene_destroy(scene);
}

TEST(wrong_overrides_are_named) {
    static const struct {
        const char *set, *message;
    } BAD[] = {
        {"rods.0.radius=x", "--set rods.0.radius=x:1:15: radius must be a number or a list of 2, "
                            "not the text 'x'"},
        {"rods.0.raduis=1", "--set rods.0.raduis=1:1:8: unknown key 'raduis' in the rod; did you "
                            "mean 'radius'?"},
        {"tme.step=1",
         "--set tme.step=1:1:1: unknown key 'tme' in the scene; did you mean 'time'?"},
        {"rods.2.radius=1",
         "--set rods.2.radius=1:1:6: there is no item 2: the list has 2, counted from 0"},
        {"rods.-1.radius=1",
         "--set rods.-1.radius=1:1:6: there is no item -1: the list has 2, counted from 0"},
        {"rods.curl.radius=1", "--set rods.curl.radius=1:1:6: nothing in the list is named 'curl'"},
        {"rods.a.length.x=1", "--set rods.a.length.x=1:1:15: what stands before has no keys"},
        {"time.step", "--set time.step:1:10: an override is written path.to.key=value"},
        {"", "--set :1:1: an override is written path.to.key=value"},
        {"=1", "--set =1:1:1: a key is missing here"},
        {"time..step=1", "--set time..step=1:1:6: a key is missing here"},
        {"time.=1", "--set time.=1:1:6: a key is missing here"},
        {"time.step=", "--set time.step=:1:11: there is nothing here"},
        {"time.step=[1", "--set time.step=[1:1:13: did not find expected ',' or ']', while "
                         "parsing a flow sequence"},
        {"time.step=&a 1", "--set time.step=&a 1:1:11: anchors (&name) are not part of the scene "
                           "language"},
        {"time.step=\n x", "--set time.step=? x:2:2: step must be a number, not the text 'x'"},
        {"include=a.yaml", "--set include=a.yaml:1:1: only a file can include another"},
        {"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g=1",
         "--set a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g=1:1:65: nested "
         "more than 32 deep"},
        {"title=\xff", "--set title=?:1:7: this byte, 0xff, is not UTF-8"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        Capture capture;
        TdlScene* scene = load_with(&capture, BAD[i].set);
        CHECK(scene == NULL);
        CHECK_INT(capture.errors, 1);
        CHECK_TEXT(capture.first, BAD[i].message);
        tdl_scene_destroy(scene);
    }
}

TEST(a_mistake_in_an_override_shows_the_override) {
    Capture capture;
    CHECK(load_with(&capture, "rods.0.radius=x") == NULL);
    CHECK_TEXT(capture.text, "--set rods.0.radius=x:1:15: radius must be a number or a list of 2, "
                             "not the text 'x'\n    rods.0.radius=x\n                  ^");
}

// --- includes
// -------------------------------------------------------------------------------------

static void check_file_fails(const char* name, TdlStatus status, const char* message) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    CHECK_INT(tdl_scene_load(&host, name, NULL, 0, &scene), status);
    CHECK(scene == NULL);
    CHECK_INT(capture.errors, 1);
    CHECK_TEXT(capture.first, message);
}

TEST(included_files_merge) {
    make_folder();
    CHECK(mkdir("sub", 0700) == 0);
    put("sub/deep.yaml", "gravity: [1, 2, 3]\ntitle: deep\n");
    put("sub/base.yaml", "include: deep.yaml\noutput: {samples: 7, frame: 0.5}\n" HAIR);
    put("more.yaml", "time: {step: 0.1, end: 9}\nmaterials: [{name: steel, young: 2e11}]\n");
    put("top.yaml", "include: [sub/base.yaml, more.yaml]\ntime: {end: 4}\n"
                    "output: {samples: 3}\n" ROD);
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    if (tdl_scene_load(&host, "top.yaml", NULL, 0, &scene) != TDL_STATUS_OK) {
        FAIL("%s", capture.text);
    } else {
        TdlSceneInfo info = tdl_scene_info(scene);
        CHECK_TEXT(info.title, "deep");
        CHECK(info.step == 0.1 && info.end == 4.0 && info.frame_period == 0.5);
        CHECK_INT(info.samples, 3);
        CHECK_NEAR3(scene->spec.gravity, ((TdlVec3){1.0, 2.0, 3.0}), 0.0);
        REQUIRE(scene->spec.materials.count == 2);
        CHECK_TEXT(((MaterialSpec*)scene->spec.materials.items)[0].name, "hair");
        CHECK_TEXT(((MaterialSpec*)scene->spec.materials.items)[1].name, "steel");
        tdl_scene_destroy(scene);
    }
    // vectors are replaced, not appended; names may clash across files
    put("top.yaml", "include: sub/deep.yaml\ngravity: [4, 5, 6]\n" TIME HAIR ROD);
    REQUIRE(tdl_scene_load(&host, "top.yaml", NULL, 0, &scene) == TDL_STATUS_OK);
    CHECK_NEAR3(scene->spec.gravity, ((TdlVec3){4.0, 5.0, 6.0}), 0.0);
    tdl_scene_destroy(scene);
    put("top.yaml", "include: sub/base.yaml\n" TIME HAIR ROD);
    check_file_fails("top.yaml", TDL_STATUS_BAD_INPUT,
                     "top.yaml:3:20: the name 'hair' is already "
                     "taken");
    unlink("sub/deep.yaml");
    unlink("sub/base.yaml");
    rmdir("sub");
    drop("more.yaml", "top.yaml", NULL);
}

TEST(a_scene_without_a_path_is_the_callers_mistake) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    CHECK_INT(tdl_scene_load(&host, NULL, NULL, 0, &scene), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_scene_load(&host, "x", NULL, 1, &scene), TDL_STATUS_BAD_ARGUMENT);
    CHECK(scene == NULL);
}

TEST(wrong_includes_are_told_where_they_are_asked_for) {
    make_folder();
    check_file_fails("none.yaml", TDL_STATUS_IO,
                     "none.yaml: cannot be read: there is no such file");
    check_file_fails(".", TDL_STATUS_IO, ".: cannot be read: it is a folder");
    put("a.yaml", "title: x\ninclude: none.yaml\n");
    check_file_fails("a.yaml", TDL_STATUS_BAD_INPUT,
                     "a.yaml:2:10: 'none.yaml' cannot be read: there is no such file");
    put("a.yaml", "include: [.]\n");
    check_file_fails("a.yaml", TDL_STATUS_BAD_INPUT,
                     "a.yaml:1:11: '.' cannot be read: it is a folder");
    put("a.yaml", "include: /dev/zero\n");
    check_file_fails("a.yaml", TDL_STATUS_BAD_INPUT,
                     "a.yaml:1:10: '/dev/zero' cannot be read: it is not a file");
    put("a.yaml", "include: {x: y}\n");
    check_file_fails("a.yaml", TDL_STATUS_BAD_INPUT,
                     "a.yaml:1:10: include must be a path or a list of paths");
    put("a.yaml", "include:\n");
    check_file_fails("a.yaml", TDL_STATUS_BAD_INPUT,
                     "a.yaml:1:1: include must be a path or a list of paths");
    // itself, and by a detour
    put("a.yaml", "include: ./a.yaml\n");
    check_file_fails("a.yaml", TDL_STATUS_BAD_INPUT,
                     "a.yaml:1:10: this file is already being included");
    put("a.yaml", "include: b.yaml\n");
    put("b.yaml", "title: b\ninclude: [a.yaml]\n");
    check_file_fails("a.yaml", TDL_STATUS_BAD_INPUT,
                     "b.yaml:2:11: this file is already being included");
    // a mistake inside an included file
    put("b.yaml", "\ngravity: down\n");
    put("a.yaml", "include: b.yaml\n" TIME HAIR ROD);
    check_file_fails("a.yaml", TDL_STATUS_BAD_INPUT,
                     "b.yaml:2:10: gravity must be a list of 3 numbers, not the text 'down'");
    put("b.yaml", "- 1\n");
    check_file_fails(
        "a.yaml", TDL_STATUS_BAD_INPUT,
        "b.yaml:1:1: a scene is a group of keys, such as 'title: ...' and 'rods: ...'");
    drop("a.yaml", "b.yaml", NULL);
}

TEST(includes_are_bounded) {
    make_folder();
    char name[32], text[64];
    // a chain longer than the depth allows
    for (int i = 0; i < 20; ++i) {
        snprintf(name, sizeof name, "c%d.yaml", i);
        snprintf(text, sizeof text, "include: c%d.yaml\n", i + 1);
        put(name, text);
    }
    check_file_fails("c0.yaml", TDL_STATUS_BAD_INPUT,
                     "c16.yaml:1:10: more than 16 files include each other, or 256 are included in "
                     "all");
    // each file twice the next: without a bound on the number, 2^12 readings
    for (int i = 0; i < 20; ++i) {
        snprintf(name, sizeof name, "c%d.yaml", i);
        snprintf(text, sizeof text, "include: [c%d.yaml, c%d.yaml]\n", i + 1, i + 1);
        put(name, i == 12 ? "title: x\n" : text);
    }
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    CHECK_INT(tdl_scene_load(&host, "c0.yaml", NULL, 0, &scene), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(capture.first, "256 are included in all") != NULL);
    for (int i = 0; i < 20; ++i) {
        snprintf(name, sizeof name, "c%d.yaml", i);
        unlink(name);
    }
    drop(NULL, NULL);
}

TEST(a_file_that_is_too_large_is_refused) {
    make_folder();
    put("a.yaml", "title: x\n");
    CHECK(truncate("a.yaml", (off_t)SOURCE_SIZE_MAX + 1) == 0); // a hole, not bytes
    check_file_fails("a.yaml", TDL_STATUS_IO, "a.yaml: cannot be read: it is larger than 64 MB");
    drop("a.yaml", NULL);
}

// --- writing
// --------------------------------------------------------------------------------------

static const char* source_root(void) {
    const char* root = getenv("TENDRIL_SOURCE");
    return root == NULL ? "." : root;
}

TEST(a_written_scene_loads_to_the_same_world) {
    static const char* const SCENES[] = {"hanging-curl", "wisp", "whipped-cable",
                                         "ropes-over-ball"};
    static const char* const SET[] = {"rods.0.elements=3", "title='a: b'"};
    make_folder();
    for (int i = 0; i < 4; ++i) {
        Capture capture;
        TdlHost host = capture_host(&capture);
        char path[4096];
        snprintf(path, sizeof path, "%s/scenes/%s.yaml", source_root(), SCENES[i]);
        TdlScene *scene, *again;
        REQUIRE(tdl_scene_load(&host, path, SET, 2, &scene) == TDL_STATUS_OK);
        REQUIRE(tdl_scene_write(scene, "one.yaml") == TDL_STATUS_OK);
        REQUIRE(tdl_scene_load(&host, "one.yaml", NULL, 0, &again) == TDL_STATUS_OK);
        REQUIRE(tdl_scene_write(again, "two.yaml") == TDL_STATUS_OK);
        CHECK_TEXT(slurp("one.yaml"), slurp("two.yaml"));
        CHECK(strstr(slurp("one.yaml"), "include") == NULL);
        TdlWorld *world, *world_again;
        REQUIRE(tdl_scene_build(scene, 1, &world) == TDL_STATUS_OK);
        REQUIRE(tdl_scene_build(again, 1, &world_again) == TDL_STATUS_OK);
        CHECK(tdl_world_state_hash(world) == tdl_world_state_hash(world_again));
        CHECK_INT(tdl_world_rod_count(world), tdl_scene_info(scene).rod_count);
        tdl_world_destroy(world);
        tdl_world_destroy(world_again);
        tdl_scene_destroy(scene);
        tdl_scene_destroy(again);
    }
    drop("one.yaml", "two.yaml", NULL);
}

TEST(numbers_keep_their_letters) {
    make_folder();
    put("a.yaml", "title: \"12\"\ntime: {step: 1.000e-3, end: +2.}\n" HAIR ROD);
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    REQUIRE(tdl_scene_load(&host, "a.yaml", NULL, 0, &scene) == TDL_STATUS_OK);
    REQUIRE(tdl_scene_write(scene, "b.yaml") == TDL_STATUS_OK);
    CHECK(strstr(slurp("b.yaml"), "title: \"12\"\ntime: {step: 1.000e-3, end: +2.}\n") != NULL);
    tdl_scene_destroy(scene);
    drop("a.yaml", "b.yaml", NULL);
}

// --- building
// -------------------------------------------------------------------------------------

static TdlWorld* build(const char* text) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    TdlScene* scene;
    TdlWorld* world = NULL;
    if (scene_load_text(&host, "s", text, strlen(text), NULL, 0, &scene) != TDL_STATUS_OK ||
        tdl_scene_build(scene, 1, &world) != TDL_STATUS_OK) {
        FAIL("%s", capture.text);
    }
    tdl_scene_destroy(scene);
    return world;
}

// the clamp of rod `index`
static TdlVec3 root_of(const TdlWorld* world, int index) {
    return tdl_rod_point(world, tdl_world_rod(world, index), 0.0);
}

TEST(a_grid_is_centred_and_jittered_within_bounds) {
    TdlWorld* world = build(TIME HAIR LONG_ROD
                            "    clamp: {position: [10, 20, 30]}\n"
                            "    repeat: {count: [3, 4, 5], spacing: [1, 2, 3], jitter: [0.1, 0.2, "
                            "0], seed: 7}\n");
    REQUIRE(world != NULL);
    REQUIRE(tdl_world_rod_count(world) == 60);
    TdlVec3 spread = {0.0, 0.0, 0.0};
    for (int n = 0; n < 60; ++n) {
        int i = n % 3, j = n / 3 % 4, k = n / 12;
        TdlVec3 grid = {10.0 + (i - 1), 20.0 + 2.0 * (j - 1.5), 30.0 + 3.0 * (k - 2)};
        TdlVec3 d = tdl_sub3(root_of(world, n), grid);
        CHECK(fabs(d.x) <= 0.1 && fabs(d.y) <= 0.2 && fabs(d.z) < 1e-12);
        spread.x += d.x * d.x / 60.0;
        spread.y += d.y * d.y / 60.0;
    }
    // a uniform distribution on [-w, w] has the variance w^2/3; 60 samples tell it to 3 x 12 %
    CHECK_NEAR(spread.x / (0.01 / 3.0), 1.0, 0.36);
    CHECK_NEAR(spread.y / (0.04 / 3.0), 1.0, 0.36);
    tdl_world_destroy(world);

    world = build(TIME HAIR LONG_ROD "    repeat: {count: [2, 1, 1], spacing: [1, 0, 0], centred: "
                                     "false}\n");
    REQUIRE(world != NULL);
    CHECK_NEAR3(root_of(world, 0), ((TdlVec3){0.0, 0.0, 0.0}), 0.0);
    CHECK_NEAR3(root_of(world, 1), ((TdlVec3){1.0, 0.0, 0.0}), 0.0);
    tdl_world_destroy(world);
}

TEST(the_seed_decides_the_offsets) {
#define GRID(seed)                                                                                 \
    TIME HAIR LONG_ROD "    repeat: {count: [5, 1, 1], jitter: [1, 1, 1], seed: " seed "}\n"
    TdlWorld *a = build(GRID("1")), *b = build(GRID("1")), *c = build(GRID("2"));
    REQUIRE(a != NULL && b != NULL && c != NULL);
    for (int i = 0; i < 5; ++i) {
        CHECK_NEAR3(root_of(a, i), root_of(b, i), 0.0);
        CHECK(tdl_norm3(tdl_sub3(root_of(a, i), root_of(c, i))) > 1e-3);
    }
    tdl_world_destroy(a);
    tdl_world_destroy(b);
    tdl_world_destroy(c);
}

TEST(directions_and_curvatures_reach_the_rod) {
    // a half circle about the second axis, which is the hint
    TdlWorld* world = build(TIME HAIR LONG_ROD
                            "    elements: 2\n    natural_curvature: [0, 3.14159265358979, 0]\n"
                            "    clamp: {direction: [0, 0, 5], normal: [0, 2, 0]}\n");
    REQUIRE(world != NULL);
    TdlRodId rod = tdl_world_rod(world, 0);
    // r' = R e_x and R' = R [kappa]x give t' = -k1 b with b the third axis, t x n = z x y = -x
    CHECK_NEAR3(tdl_rod_point(world, rod, 1.0), ((TdlVec3){2.0 / 3.14159265358979, 0.0, 0.0}),
                1e-12);
    const double* q = tdl_rod_coordinates(world, rod);
    CHECK_NEAR(q[1], 3.14159265358979 / 2.0, 1e-15);
    tdl_world_destroy(world);

    world = build(TIME HAIR LONG_ROD "    elements: 2\n    natural_curvature: [[1, 2, 3], [4, 5, "
                                     "6]]\n    curvature: [7, 8, 9]\n");
    REQUIRE(world != NULL);
    q = tdl_rod_coordinates(world, tdl_world_rod(world, 0));
    for (int i = 0; i < 6; ++i) {
        CHECK_NEAR(q[i], 0.5 * (7.0 + i % 3), 1e-15);
    }
    tdl_world_destroy(world);
}

TEST(colliders_face_where_they_are_told) {
    TdlWorld* world = build(
        TIME HAIR ROD "colliders:\n"
                      "  - {name: p, shape: plane, position: [1, 2, 3], normal: [0, 3, 4]}\n"
                      "  - {name: c, shape: capsule, radius: 2, length: 5, direction: [0, -2, "
                      "0], motion: {interpolation: linear, keyframes: [{time: 0}, {time: 1, "
                      "position: [1, 0, 0]}]}}\n");
    REQUIRE(world != NULL);
    REQUIRE(tdl_world_collider_count(world) == 2);
    TdlPose plane = tdl_collider_pose(world, 0);
    CHECK_NEAR3(plane.position, ((TdlVec3){1.0, 2.0, 3.0}), 0.0);
    CHECK_NEAR3(plane.rotation.cz, ((TdlVec3){0.0, 0.6, 0.8}), 1e-15);
    CHECK_NEAR(tdl_det33(plane.rotation), 1.0, 1e-14);
    TdlColliderDef capsule = tdl_collider_def(world, 1);
    CHECK(capsule.shape == TDL_SHAPE_CAPSULE && capsule.radius == 2.0 && capsule.length == 5.0);
    CHECK_NEAR3(capsule.pose.rotation.cx, ((TdlVec3){0.0, -1.0, 0.0}), 1e-15);
    // a step of 1 ms on the way at 1 m/s
    CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    CHECK_NEAR3(tdl_collider_pose(world, 1).position, ((TdlVec3){1e-3, 0.0, 0.0}), 1e-15);
    tdl_world_destroy(world);
}

TEST(bodies_stand_where_they_are_told) {
    TdlWorld* world = build(
        TIME "materials: [{name: steel, density: 7800}]\n"
             "bodies:\n"
             "  - {name: grid, shape: sphere, radius: 0.1, material: steel, position: [1, 2, 3],\n"
             "     repeat: {count: [2, 1, 3], spacing: [1, 0, 2], centred: false}}\n"
             "  - {name: box, shape: box, half: [1, 2, 3], radius: 0.5, density: 5,\n"
             "     direction: [0, 3, 0], normal: [2, 1, 0], velocity: [1, 2, 3],\n"
             "     angular_velocity: [4, 5, 6]}\n"
             "  - {name: hook, shape: curves, radius: 0.1, pieces: [{length: 1}, {length: 2, "
             "curvature: [0, 0, 3]}]}\n");
    REQUIRE(world != NULL);
    REQUIRE(tdl_world_rigid_count(world) == 8);
    for (int i = 0; i < 6; ++i) {
        TdlRigidDef def = tdl_rigid_def(world, i);
        CHECK(def.shape == TDL_RIGID_SPHERE && def.radius == 0.1 && def.density == 7800.0);
        CHECK_INT(def.material, 1);
        CHECK_NEAR3(tdl_rigid_pose(world, i).position,
                    ((TdlVec3){1.0 + i % 2, 2.0, 3.0 + 2.0 * (i / 2)}), 0.0);
    }
    TdlRigidDef box = tdl_rigid_def(world, 6);
    CHECK(box.shape == TDL_RIGID_BOX && box.radius == 0.5 && box.density == 5.0);
    CHECK_NEAR3(box.half, ((TdlVec3){1, 2, 3}), 0.0);
    CHECK_INT(box.material, 0);
    TdlPose pose = tdl_rigid_pose(world, 6);
    CHECK_NEAR3(pose.rotation.cx, ((TdlVec3){0, 1, 0}), 1e-15);
    CHECK_NEAR3(pose.rotation.cz, ((TdlVec3){1, 0, 0}), 1e-15);
    CHECK_NEAR3(tdl_rigid_velocity(world, 6), ((TdlVec3){1, 2, 3}), 0.0);
    CHECK_NEAR3(tdl_rigid_angular_velocity(world, 6), ((TdlVec3){4, 5, 6}), 0.0);
    TdlRigidDef hook = tdl_rigid_def(world, 7);
    REQUIRE(hook.shape == TDL_RIGID_CURVES && hook.piece_count == 2);
    CHECK(hook.pieces[1].length == 2.0 && hook.pieces[1].curvature.z == 3.0);
    CHECK_NEAR(hook.density, 1000.0, 0.0);
    CHECK_NEAR3(tdl_rigid_pose(world, 7).position, ((TdlVec3){0}), 1e-15);
    tdl_world_destroy(world);
}

TEST(colliders_of_all_shapes_are_made) {
    TdlWorld* world = build(
        TIME
        "materials: [{name: a}, {name: b}]\n"
        "bodies: [{name: ball, shape: sphere, radius: 0.1, position: [0, 0, 9]}]\n"
        "colliders:\n"
        "  - {name: p, shape: plate, radius: 0.01, length: 0.5, normal: [0, 1, 0], material: b}\n"
        "  - {name: c, shape: comb, radius: 0.02, length: 0.3, teeth: 7, pitch: 0.1,\n"
        "     direction: [0, 1, 0], velocity: [1, 0, 0], angular_velocity: [0, 0, 2]}\n"
        "  - {name: r, shape: curves, radius: 0.01, position: [0, 0, 1],\n"
        "     pieces: [{length: 0.4, curvature: [0, 0, 1]}]}\n");
    REQUIRE(world != NULL);
    REQUIRE(tdl_world_collider_count(world) == 3);
    TdlColliderDef plate = tdl_collider_def(world, 0), comb = tdl_collider_def(world, 1);
    CHECK(plate.shape == TDL_SHAPE_PLATE && plate.radius == 0.01 && plate.length == 0.5);
    CHECK_INT(plate.material, 2);
    CHECK_NEAR3(plate.pose.rotation.cz, ((TdlVec3){0, 1, 0}), 1e-15);
    CHECK(comb.shape == TDL_SHAPE_COMB && comb.teeth == 7 && comb.pitch == 0.1);
    CHECK_NEAR3(comb.pose.rotation.cx, ((TdlVec3){0, 1, 0}), 1e-15);
    CHECK_NEAR3(comb.pose.rotation.cz, ((TdlVec3){0, 0, 1}), 1e-15);
    TdlColliderDef rail = tdl_collider_def(world, 2);
    REQUIRE(rail.shape == TDL_SHAPE_CURVES && rail.piece_count == 1);
    CHECK(rail.pieces[0].length == 0.4 && rail.pieces[0].curvature.z == 1.0);
    // a step of 1 ms
    CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    CHECK_NEAR3(tdl_collider_pose(world, 1).position, ((TdlVec3){1e-3, 0, 0}), 1e-17);
    CHECK_NEAR3(tdl_collider_pose(world, 1).rotation.cx, ((TdlVec3){-sin(2e-3), cos(2e-3), 0}),
                1e-15);
    tdl_world_destroy(world);
}

// The force that holds a ball on a slope tells which law acts.
TEST(pairs_of_materials_have_their_own_law) {
#define SLOPE(contacts)                                                                            \
    TIME "materials: [{name: ice}, {name: rubber}]\n"                                              \
         "bodies: [{name: a, shape: sphere, radius: 0.1, position: [0, 0, 0.1], material: ice,\n"  \
         "          velocity: [1, 0, 0]},\n"                                                       \
         "         {name: b, shape: sphere, radius: 0.1, position: [0, 5, 0.1], material: "        \
         "rubber,\n          velocity: [1, 0, 0]}]\n"                                              \
         "colliders: [{name: floor, shape: plane, material: ice}]\n"                               \
         "contacts: " contacts "\n"
    static const struct {
        const char* text;
        double mu[2];
    } CASES[] = {
        {SLOPE("{friction: 0.1}"), {0.1, 0.1}},
        {SLOPE("{friction: 0.1, pairs: [{between: [rubber, ice], friction: 0.2}]}"), {0.1, 0.2}},
        {SLOPE("{pairs: [{between: [ice, ice], friction: 0}]}"), {0.0, 0.3}},
        {SLOPE("{pairs: [{between: [rubber, rubber], friction: 0}]}"), {0.3, 0.3}},
        {SLOPE("{detection: off}"), {0.0, 0.0}},
    };
    for (int i = 0; i < 5; ++i) {
        TdlWorld* world = build(CASES[i].text);
        REQUIRE(world != NULL);
        for (int step = 0; step < 10; ++step) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        for (int k = 0; k < 2; ++k) {
            // nine and a half steps of 1 ms of sliding at mu g
            CHECK_NEAR(1.0 - tdl_rigid_velocity(world, k).x, CASES[i].mu[k] * 9.81 * 9.5e-3, 1e-6);
        }
        tdl_world_destroy(world);
    }
}

// --- the reference page
// ---------------------------------------------------------------------------

TEST(the_committed_reference_is_the_tables) {
    char path[4096], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/docs/scene.md", source_root());
    FILE* out = open_memstream(&text, &size);
    REQUIRE(out != NULL);
    tdl_scene_reference(out);
    fclose(out);
    if (strcmp(text, slurp(path)) != 0) {
        FAIL("docs/scene.md is stale: tendril manual --format scene > docs/scene.md");
    }
    CHECK(strstr(text, SCENE_EXAMPLE) != NULL);
    free(text);
    TdlWorld* world = build(SCENE_EXAMPLE);
    REQUIRE(world != NULL);
    CHECK_INT(tdl_world_rod_count(world), 2);
    tdl_world_destroy(world);
}

// --- memory
// ---------------------------------------------------------------------------------------

TEST(each_allocation_fails_in_turn) {
    char path[4096];
    snprintf(path, sizeof path, "%s/scenes/wisp.yaml", source_root());
    static const char* const SET[] = {"rods.wisp.repeat.count=[1, 3, 3]", "title=x"};
    int failures = 0;
    for (long fail_at = 1;; ++fail_at) {
        Capture capture;
        FailingMemory memory = {.fail_at = fail_at};
        TdlHost host = capture_host(&capture);
        host.mem = (TdlAllocator){failing_resize, &memory};
        TdlScene* scene;
        TdlWorld* world = NULL;
        TdlStatus status = tdl_scene_load(&host, path, SET, 2, &scene);
        if (status == TDL_STATUS_OK) {
            status = tdl_scene_build(scene, 1, &world);
        } else {
            CHECK(scene == NULL);
            CHECK_INT(capture.errors, 1);
        }
        CHECK(world != NULL || status == TDL_STATUS_NO_MEMORY);
        tdl_world_destroy(world);
        tdl_scene_destroy(scene);
        CHECK_INT(memory.live, 0);
        if (memory.calls < fail_at) {
            CHECK_INT(status, TDL_STATUS_OK);
            break;
        }
        CHECK_INT(status, TDL_STATUS_NO_MEMORY);
        ++failures;
    }
    CHECK(failures > 8);
    printf("  %d allocations failed in turn\n", failures);
}

// The arena asks for memory only now and then. A remark of growing length in front of the scene
// moves that moment through every place that asks the arena.
TEST(memory_may_end_at_every_place) {
    static const char SCENE[] = "rods:\n  - {name: a, material: hair, length: 1, radius: 0.1, "
                                "natural_curvature: [[1, 2, 3], [4, 5, 6]], elements: 2}\n"
                                "colliders: [{name: c, shape: plane}]\n"
                                "bodies: [{name: b, shape: sphere, radius: 0.1}]\n"
                                "observe: [{force: c}, {centre: b}]\n" TIME HAIR;
    static const char* const SET[] = {"output.samples=2", "rods.a.clamp.normal=[0, 1, 0]"};
    static char text[20000];
    int failures = 0;
    for (size_t pad = 1; pad < 16384 + 64; pad += 64) {
        memset(text, '#', pad);
        snprintf(text + pad, sizeof text - pad, "\n%s", SCENE);
        for (long fail_at = 1;; ++fail_at) {
            Capture capture;
            FailingMemory memory = {.fail_at = fail_at};
            TdlHost host = capture_host(&capture);
            host.mem = (TdlAllocator){failing_resize, &memory};
            TdlScene* scene;
            TdlStatus status = scene_load_text(&host, "s", text, strlen(text), SET, 2, &scene);
            bool failed = memory.calls >= fail_at;
            CHECK_INT(status, failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK);
            CHECK_INT(capture.errors, failed);
            tdl_scene_destroy(scene);
            CHECK_INT(memory.live, 0);
            failures += failed;
            if (!failed) {
                break;
            }
        }
    }
    printf("  %d allocations failed in turn\n", failures);
    CHECK(failures > 500);
}
