// Scenes from files: overrides, includes, writing, the reference page, memory.
#include "scene/scene.h"

#include "capture.h"
#include "look.h"
#include "ref/scene_text.h"
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
    static char text[2][1 << 18];
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
        {"time.step=\n x",
         "--set time.step=? x:2:2: step must be a number or auto, not the text 'x'"},
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
        CHECK_INT(look_count(world, "rod"), tdl_scene_info(scene).rod_count);
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
                                "natural_curvature: [[1, 2, 3], [4, 5, 6]], elements: 2, loads: "
                                "[{at: 1, force: [0, 2*t, 0]}, {at: 1, keyframes: [{time: 0}]}]}\n"
                                "colliders: [{name: c, shape: plane}]\n"
                                "bodies: [{name: b, shape: sphere, radius: 0.1}]\n"
                                "joints: [{name: j, kind: hinge, from: {of: b}, axis: [1, 0, 0], "
                                "point: [0, 0, 1], motor: {place: sin(t)}}]\n"
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
