// Numbers of a scene by their key path: what was given, defaults, and what is wrong with a path.
#include "scene/scene.h"

#include "capture.h"
#include "test.h"

static const char SCENE[] =
    "gravity: [0, 0, -5]\n"
    "time: {end: 1}\n"
    "materials: [{name: hair, young: 1e9}, {name: soft, young: 2e6, damping: 0.1}]\n"
    "rods:\n"
    "  - {name: a, material: hair, length: 1, radius: 0.1, natural_curvature: [1, 2, 3]}\n"
    "  - {name: b, material: soft, length: 2, radius: [0.1, 0.2],\n"
    "     clamp: {position: [0, 3, 0],\n"
    "             motion: {keyframes: [{time: 0}, {time: 0.5, position: [7, 8, 9]}]}}}\n"
    "cloths:\n"
    "  - {name: towel, rectangle: {size: [0.5, 0.7], nodes: [3, 3]}, position: [0, 0, 9],\n"
    "     weight: 0.25}\n"
    "  - {name: other, rectangle: {size: [0.5, 0.7], nodes: [3, 3]}, position: [0, 0, 19]}\n";

static TdlScene* load(Capture* heard) {
    TdlHost host = capture_host(heard);
    TdlScene* scene = NULL;
    if (scene_load_text(&host, "s", SCENE, strlen(SCENE), NULL, 0, &scene) != TDL_STATUS_OK) {
        FAIL("%s", heard->text);
    }
    return scene;
}

TEST(what_is_given_and_what_is_not) {
    static const struct {
        const char* path;
        double value;
    } GOOD[] = {
        {"gravity.2", -5.0},
        {"wind.0", 0.0},
        {"time.end", 1.0},
        {"time.step", 1e-3},
        {"materials.soft.young", 2e6},
        {"materials.1.damping", 0.1},
        {"materials.hair.damping", 0.0},
        {"rods.a.natural_curvature.1", 2.0},
        {"rods.b.radius.1", 0.2},
        {"rods.a.radius.1", 0.1},
        {"rods.b.clamp.position.1", 3.0},
        {"rods.b.clamp.motion.keyframes.1.position.2", 9.0},
        {"cloths.towel.weight", 0.25},
        {"cloths.towel.damping", 0.1},
        {"contacts.friction", 0.3},
    };
    Capture heard;
    TdlScene* scene = load(&heard);
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; ++i) {
        double value;
        CHECK_INT(tdl_scene_number(scene, GOOD[i].path, &value), TDL_STATUS_OK);
        CHECK_NEAR(value, GOOD[i].value, 0.0);
    }
    // the density stands for it, which is no default of its own
    double value = 0.0;
    CHECK_INT(tdl_scene_number(scene, "cloths.other.weight", &value), TDL_STATUS_OK);
    CHECK(isnan(value));
    CHECK_INT(heard.errors, 0);
    tdl_scene_destroy(scene);
}

// As given to a scene that has it as an override, a number comes back.
TEST(overrides_and_numbers_have_the_same_paths) {
    static const char* const SETS[] = {"cloths.other.bending=0.125", "rods.b.clamp.position.1=4"};
    Capture heard;
    TdlHost host = capture_host(&heard);
    TdlScene* scene = NULL;
    REQUIRE(scene_load_text(&host, "s", SCENE, strlen(SCENE), SETS, 2, &scene) == TDL_STATUS_OK);
    double bending, place;
    CHECK_INT(tdl_scene_number(scene, "cloths.other.bending", &bending), TDL_STATUS_OK);
    CHECK_INT(tdl_scene_number(scene, "rods.b.clamp.position.1", &place), TDL_STATUS_OK);
    CHECK(bending == 0.125 && place == 4.0);
    tdl_scene_destroy(scene);
}

TEST(wrong_paths_are_told_with_their_column) {
    static const struct {
        const char *path, *message;
    } BAD[] = {
        {"", ":1:1: a key is missing here"},
        {"cloths", "cloths:1:7: a key is missing here"},
        {"cloths.towel", "cloths.towel:1:13: a key is missing here"},
        {"cloths.towel.", "cloths.towel.:1:14: a key is missing here"},
        {"tme.end", "tme.end:1:1: a scene has no key 'tme'; did you mean 'time'?"},
        {"cloths.towl.damping",
         "cloths.towl.damping:1:8: the list has no cloth 'towl'; did you mean 'towel'?"},
        {"cloths.2.damping", "cloths.2.damping:1:8: the list has no cloth '2'"},
        {"cloths.-1.damping", "cloths.-1.damping:1:8: the list has no cloth '-1'"},
        {"cloths.towel.dampng",
         "cloths.towel.dampng:1:14: a cloth has no key 'dampng'; did you mean 'damping'?"},
        {"cloths.towel.damping.x", "cloths.towel.damping.x:1:22: what stands before has no keys"},
        {"cloths.towel.name", "cloths.towel.name:1:18: this is no number"},
        {"rods.a.elements", "rods.a.elements:1:16: a count cannot vary: a real number is wanted"},
        {"gravity", "gravity:1:8: which of its numbers, from 0?"},
        {"gravity.3", "gravity.3:1:9: which of its numbers, from 0?"},
        {"gravity.1.2", "gravity.1.2:1:9: which of its numbers, from 0?"},
        {"bodies.die.density", "bodies.die.density:1:8: the list has no body 'die'"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        Capture heard;
        TdlScene* scene = load(&heard);
        double value;
        CHECK_INT(tdl_scene_number(scene, BAD[i].path, &value), TDL_STATUS_BAD_INPUT);
        CHECK_INT(heard.errors, 1);
        CHECK_TEXT(heard.text, BAD[i].message);
        tdl_scene_destroy(scene);
    }
}
