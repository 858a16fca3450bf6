// Scenes with mistakes: each is told once, at its place.
#include "scene/scene.h"

#include "capture.h"
#include "ref/scene_text.h"
#include "test.h"

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
    check_fails(TIME HAIR,
                "s:1:1: the scene needs the key 'rods', 'bodies', 'cloths', 'shells' or 'grains'");
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
                "s:8:21: the motion needs the key 'keyframes', 'recording' or 'position'");
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
                "plane|sphere|cylinder|capsule|plate|comb|curves|mesh|implicit, not 'ball'");
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
                "s:4:22: shape must be one of sphere|capsule|box|curves|mesh|cylinder, not 'cube'");
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

TEST(each_mistake_of_masses_is_told_at_its_place) {
    check_fails(BODIES "shape: sphere, radius: 1, mass: 0}\n",
                "s:4:47: mass must be in [1e-12, 1e12] kg, not 0");
    check_fails(BODIES "shape: sphere, radius: 1, mass: 1, density: 2}\n",
                "s:4:50: a body has a mass or a density, not both");
    check_fails(BODIES "shape: sphere, radius: 1, inertia: [1, 2, 3.5]}\n",
                "s:4:50: inertia must be symmetric, its principal moments positive and none above "
                "the sum of the others");
    check_fails(BODIES "shape: sphere, radius: 1, inertia: [1, 1, 0]}\n",
                "s:4:57: inertia must be in (0, 1e18] kg m^2, not 0");
    check_fails(BODIES
                "shape: sphere, radius: 1, inertia: [1, 1, 1], inertia_products: [1.5, 0, 0]}\n",
                "s:4:50: inertia must be symmetric, its principal moments positive and none above "
                "the sum of the others");
    check_fails(BODIES "shape: sphere, radius: 1, inertia_products: [0.1, 0, 0]}\n",
                "s:4:41: inertia_products need an inertia");
    check_fails(BODIES "shape: sphere, radius: 1, centre: [0, 0, 0.1]}\n",
                "s:4:49: centre needs an inertia about it");
    check_fails(BODIES "shape: sphere, radius: 1, centre: [0, nan, 0.1]}\n",
                "s:4:53: centre takes a number here, not the text 'nan'");
    check_fails(BODIES "shape: sphere, radius: 1, inner_radius: 1}\n",
                "s:4:55: inner_radius must not be negative, and below radius");
    check_fails(BODIES "shape: sphere, radius: 1, inner_radius: -1}\n",
                "s:4:55: inner_radius must be in [0, 1e9] m, not -1");
    check_fails(BODIES "shape: box, half: [1, 1, 1], inner_radius: 0.1}\n",
                "s:4:44: a box has no inner_radius");
    check_fails(BODIES "shape: cylinder, radius: 1}\n",
                "s:4:5: the cylinder needs the key 'length'");
    check_fails(BODIES "shape: cylinder, radius: 1, length: 0}\n",
                "s:4:5: length must be positive");
    check_fails(BODIES "shape: cylinder, radius: 1, length: 1, rounding: 0.5}\n",
                "s:4:64: rounding must not be negative, and below radius and half the length");
    check_fails(BODIES
                "shape: cylinder, radius: 1, length: 1, rounding: 0.1, inner_radius: 0.95}\n",
                "s:4:83: inner_radius must not be negative, below radius and at most it less "
                "rounding");
    check_fails(BODIES "shape: capsule, radius: 1, length: 1, rounding: 0.1}\n",
                "s:4:53: a capsule has no rounding");
    check_fails(BODIES "shape: mesh}\n", "s:4:5: the mesh needs the key 'mesh'");
    check_fails(BODIES "shape: mesh, mesh: {file: a.obj}}\n",
                "s:4:41: only a file can name another");
    check_fails(BODIES "shape: sphere, radius: 1, mesh: {file: a.obj}}\n",
                "s:4:41: a sphere has no mesh");
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

TEST(each_mistake_of_implicit_colliders_is_told_at_its_place) {
#define IMPLICIT COLLIDER "shape: implicit, "
#define BOX ", box: {from: [-1, -1, -1], to: [1, 1, 1]}}\n"
    check_fails(IMPLICIT "expression: z}\n", "s:6:5: the implicit surface needs the key 'box'");
    check_fails(
        IMPLICIT "expression: z - sni(x)" BOX,
        "s:6:44: expression, at character 5: 'sni' is not x, y, z, pi, sin, cos, exp, sqrt, "
        "abs, min or max");
    check_fails(IMPLICIT "expression: z + 5" BOX,
                "s:6:44: h is nowhere 0 in the box of the implicit surface");
    check_fails(IMPLICIT "expression: z - sin(1e4*x)*sin(1e4*y)" BOX,
                "s:6:44: the implicit surface is too rough for its box, it needs more than 524288 "
                "cells; a smaller box helps, or a larger finest size");
    check_fails(IMPLICIT "expression: z, box: {from: [0, 0, 0], to: [1, 0, 1]}}\n",
                "s:6:74: the box must have a size: every number of `to` above that of `from`");
    check_fails(IMPLICIT "expression: z, radius: 1" BOX,
                "s:6:47: an implicit surface has no radius");
    check_fails(COLLIDER "shape: plane, expression: z}\n", "s:6:29: a plane has no expression");
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
    check_fails(CONTACTS "{barrier: {distance: 1e-4}}\n",
                "s:5:21: 'barrier' goes with 'response: barrier'");
    check_fails(CONTACTS "{response: barrier, barrier: {distance: 0}}\n",
                "s:5:51: distance must be in (0, 1e6] m, not 0");
    check_fails(CONTACTS "{response: barrier, barrier: {creep: -1}}\n",
                "s:5:48: creep must be in (0, 1e6] m/s, not -1");
    check_fails(CONTACTS "{response: barrier, restitution: 0.5}\n",
                "s:5:44: the barrier has no restitution");
    check_fails(CONTACTS "{response: barrier, solver: auto}\n",
                "s:5:39: 'solver' goes with 'response: exact'");
    check_fails(CONTACTS "{segments: 0}\n", "s:5:22: segments must be in [1, 1000], not 0");
    check_fails(CONTACTS "{margin: -1}\n", "s:5:20: margin must be in [0, 1e6] m, not -1");
    check_fails(CONTACTS "{tolerance: 0}\n", "s:5:23: tolerance must be in [1e-15, 1], not 0");
    check_fails(CONTACTS "{max_iterations: 0}\n",
                "s:5:28: max_iterations must be in [1, 1e8], not 0");
    check_fails(CONTACTS "{self: maybe}\n", "s:5:18: self must be true or false, not the text "
                                            "'maybe'");
    check_fails(CONTACTS "{solver: newtn}\n",
                "s:5:20: solver must be one of auto|gauss-seidel|anderson|newton|proximal|interior|"
                "admm|fixed-point|gradient|alternating|path|wedged|faceted|nodal|active-set|"
                "normal-interior, not 'newtn'; did you mean 'newton'?");
    check_fails(CONTACTS "{response: s3, solver: auto}\n",
                "s:5:34: 'response: s3' has the solver active-set or normal-interior");
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
    check_fails(OBSERVED "  - {force: flor}\n", "s:8:13: nothing is named 'flor' that has a force, "
                                                "rods, bodies, a cloth, grains or a collider; "
                                                "did you mean 'floor'?");
    check_fails(OBSERVED "  - {point: b, at: 0}\n",
                "s:8:13: 'b' is one of the bodies: a point is of a rod");
    check_fails(OBSERVED "  - {centre: floor}\n",
                "s:8:14: 'floor' is one of the colliders: a centre is of rods, bodies, a cloth, a "
                "shell or grains");
    check_fails(OBSERVED "  - {force: wall}\n",
                "s:8:13: 'wall' is the name of bodies and of colliders: give one of them another");
    check_fails(OBSERVED "  - {centre: zzz}\n", "s:8:14: nothing is named 'zzz' that has a centre, "
                                                "rods, bodies, a cloth, a shell or grains");
    check_fails(OBSERVED "  - {at: 1}\n",
                "s:8:5: the observer needs one of the keys 'force', 'torque', 'centre', 'point', "
                "'start_hold', 'end_hold', 'tension', 'shear', 'moment', 'twist', 'frame', "
                "'reaction', 'reaction_moment', 'power', 'work', 'strain', 'hold', 'coordinate', "
                "'mass_beyond', 'run_out', 'volume_kept', 'lost'");
    check_fails(OBSERVED "  - {reaction: a}\n", "s:8:16: a reaction is of a joint or of an end of "
                                                "a rod, such as 'rope.start' or 'rope.end', not "
                                                "of 'a'");
    check_fails(OBSERVED "  - {work: a.strat}\n", "s:8:12: a work is of a joint or of an end of a "
                                                  "rod, such as 'rope.start' or 'rope.end', not of "
                                                  "'a.strat'");
    check_fails(
        OBSERVED "  - {power: aa.end}\n",
        "s:8:13: nothing is named 'aa' that has a power, an end of a rod or a joint; did you mean "
        "'a'?");
    check_fails(OBSERVED "  - {reaction: a.end, at: 0.1}\n", "s:8:23: a reaction has no at");
    check_fails(OBSERVED "  - {tension: floor}\n",
                "s:8:15: 'floor' is one of the colliders: a tension is of a rod");
    check_fails(OBSERVED "  - {moment: a, at: 1.5}\n",
                "s:8:21: a moment at 1.5 m lies beyond the end of the rod, at 1 m");
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

#define BALL "colliders: [{name: head, shape: sphere, radius: 0.1, position: [0, 0, -0.1]}]\n"
#define RIDES(keys)                                                                                \
    TIME HAIR "rods: [{name: r, material: hair, length: 0.1, radius: 5e-5, " keys "}]\n"

TEST(what_cannot_ride_is_told_at_its_place) {
    check_fails(RIDES("attach: haed") BALL,
                "s:3:69: no collider or body is named 'haed'; did you mean 'head'?");
    check_fails(RIDES("attach: {to: haed}") BALL,
                "s:3:74: no collider or body is named 'haed'; did you mean 'head'?");
    check_fails(RIDES("attach: {too: head}") BALL,
                "s:3:70: unknown key 'too' in the attach; did you mean 'to'?");
    check_fails(RIDES("attach: {clear: 1e-3}") BALL, "s:3:69: the attach needs the key 'to'");
    check_fails(RIDES("attach: [head]") BALL,
                "s:3:69: the attach must be a group of keys, not a list of 1");
    check_fails(
        RIDES("attach: 7") BALL,
        "s:3:69: '7' is not a name: a letter, then letters, digits, '-' and '_', at most 63");
    check_fails(RIDES("attach: r") BALL, "s:3:69: 'r' bends: use a joint");
    check_fails(RIDES("attach: head, start: free") BALL,
                "s:3:69: a start that is free rides on nothing");
    check_fails(RIDES("attach: head, clamp: {motion: {keyframes: [{time: 0}]}}") BALL,
                "s:3:91: a start that rides has no motion of its own");
}

// --- what varies in time -------------------------------------------------------------------------

#define LOAD TIME HAIR LONG_ROD "    loads:\n      - {at: 1, "
#define MOVE TIME HAIR LONG_ROD "    clamp: {motion: {"
#define ROUND "bodies: [{name: ball, shape: sphere, radius: 0.1"
#define HINGE                                                                                      \
    TIME ROUND "}]\njoints:\n  - {name: pin, kind: hinge, from: {of: ball}, axis: [1, 0, 0], "     \
               "point: [0, 0, 1],\n     "

#define JOINT TIME ROUND "}]\njoints:\n  - {name: pin, from: {of: ball}, kind: "

TEST(each_mistake_of_what_varies_is_told_at_its_place) {
    // inside expressions
    check_fails(LOAD "force: [\"0.1*sin(2*pi*x)\", 0, 0]}\n",
                "s:9:39: expression, at character 14: 'x' is not t, pi, sin, cos, exp, sqrt, abs, "
                "min or max, nor tan, tanh, log, floor, step, ramp or smooth");
    check_fails(LOAD "force: [0, 3 N, 0]}\n",
                "s:9:30: expression, at character 3: an operation belongs here: + - * / or ^");
    check_fails(LOAD "force: ['2*(t', 0, 0]}\n",
                "s:9:30: expression, at character 5: ')' is missing");
    check_fails(
        LOAD "force: [0, \"\\x32*x\", 0]}\n",
        "s:9:28: expression, at character 3: 'x' is not t, pi, sin, cos, exp, sqrt, abs, min or "
        "max, nor tan, tanh, log, floor, step, ramp or smooth"); // not as it stands in the file
    check_fails(LOAD "force: [\"1/t\", 0, 0]}\n",
                "s:9:25: this expression has no finite value at t = 0");
    check_fails(LOAD "force: [0, log(t), 0]}\n",
                "s:9:28: this expression has no finite value at t = 0");
    check_fails(LOAD "force: [0, \"\", 0]}\n",
                "s:9:28: force takes a number or an expression of t here, not the quoted text ''");
    check_fails(LOAD "force: [0, [1], 0]}\n",
                "s:9:28: force takes a number or an expression of t here, not a list of 1");
    check_fails(LOAD "force: [0, 1e13, 0]}\n",
                "s:9:28: force must be in [-1e12, 1e12] N, not 1e13");
    check_fails(LOAD "force: [0, \"1e200\", 0]}\n",
                "s:9:28: force must be in [-1e12, 1e12] N, and is 1e+200 at t = 0");
    check_fails(LOAD "force: [0, 0, -2e12*cos(t)]}\n",
                "s:9:31: force must be in [-1e12, 1e12] N, and is -2e+12 at t = 0");
    check_fails(LOAD "force: [1, 2]}\n",
                "s:9:24: force must be a list of 3 numbers or expressions of t, not a list of 2");
    check_fails(
        LOAD "force: sin(t)}\n",
        "s:9:24: force must be a list of 3 numbers or expressions of t, not the text 'sin(t)'");
    // loads
    check_fails(LOAD "force: [0, 0, 1], keyframes: [{time: 0}]}\n",
                "s:9:9: a load has one of: force and torque, keyframes, a file");
    check_fails(LOAD "keyframes: [{time: 1}, {time: 0.5}]}\n",
                "s:9:47: the times of keyframes must grow: 0.5 is not after 1");
    check_fails(LOAD "keyframes: [{time: 1, froce: [0, 0, 0]}]}\n",
                "s:9:39: unknown key 'froce' in the load keyframe; did you mean 'force'?");
    check_fails(LOAD "force: [0, 0, 1], interpolation: linear}\n",
                "s:9:9: 'interpolation' and 'hash' go with keyframes or a file");
    check_fails(LOAD "file: pull.txt}\n", "s:9:23: loads come from .csv files");
    check_fails(LOAD "file: pull.csv}\n", "s:9:23: only a file can name another");
    check_fails("start: settled\n" LOAD "force: [t, 0, 0]}\n",
                "s:10:9: a rod under a load that varies has no potential energy to settle in: "
                "leave out 'start: settled'");
    check_fails(TIME ROUND ", loads: [{at: 1}]}]\n",
                "s:2:60: unknown key 'at' in the load of a body; its keys are place, turns, "
                "torque, force, keyframes, interpolation, file, hash");
    check_fails(TIME ROUND ", loads: [{turns: maybe}]}]\n",
                "s:2:67: turns must be true or false, not the text 'maybe'");
    check_fails(TIME
                "cloths: [{name: a, rectangle: {size: [1, 1], nodes: [3, 3]}, loads: [{vertex: "
                "9, force: [0, 0, 1]}]}]\n",
                "s:2:79: there is no vertex 9: 'a' has 9, counted from 0");
    check_fails(TIME
                "cloths: [{name: a, rectangle: {size: [1, 1], nodes: [3, 3]}, loads: [{vertex: "
                "8, keyframes: [{time: 0, torque: [0, 0, 1]}]}]}]\n",
                "s:2:112: a torque does nothing to a vertex");
    // motions
    check_fails(MOVE "position: [0, 0, t], keyframes: [{time: 0}]}}\n",
                "s:8:21: a motion has one of: keyframes, a recording, position and rotation");
    check_fails(MOVE "position: [0, 0, t*y]}}\n",
                "s:8:41: expression, at character 3: 'y' is not t, pi, sin, cos, exp, sqrt, abs, "
                "min or max, nor tan, tanh, log, floor, step, ramp or smooth");
    check_fails(MOVE "rotation: [0, sin(t)/t, 0]}}\n",
                "s:8:36: this expression has no finite value at t = 0");
    // joints
    check_fails(HINGE "during: [0.5, 0.2]}\n",
                "s:5:14: a joint is made before it lets go: 0.5 is not before 0.2");
    check_fails(HINGE "during: 0.5}\n",
                "s:5:14: a joint is made before it lets go: 0.5 is not before 0.5");
    check_fails(HINGE "during: [0, 1], every: 0.5}\n",
                "s:5:29: every 0.5 s is sooner than it lets go, after 1 s");
    check_fails(HINGE "every: 0.5}\n", "s:5:6: 'every' goes with 'during'");
    check_fails(HINGE "as_placed: true}\n", "s:5:6: 'as_placed' goes with 'during'");
    check_fails(HINGE "motor: {}}\n",
                "s:5:13: a motor has one of: a 'speed', a 'place', keyframes, a file");
    check_fails(HINGE "motor: {speed: 1, place: t}}\n",
                "s:5:13: a motor has one of: a 'speed', a 'place', keyframes, a file");
    check_fails(HINGE "motor: {speed: 1 + }}\n",
                "s:5:24: expression, at character 4: it ends too early");
    check_fails(HINGE "motor: {speed: 1, interpolation: linear}}\n",
                "s:5:13: 'interpolation' and 'hash' go with keyframes or a file");
    check_fails(HINGE "motor: {keyframes: [{time: 0, speed: 1}, {time: 1, place: 1}]}}\n",
                "s:5:47: each keyframe of a motor has a 'speed', or each a 'place'");
    check_fails(HINGE "motor: {keyframes: [{time: 0}]}}\n",
                "s:5:26: each keyframe of a motor has a 'speed', or each a 'place'");
    check_fails(HINGE "motor: {keyframes: [{time: 0, place: 1}, {time: 0, place: 2}]}}\n",
                "s:5:54: the times of keyframes must grow: 0 is not after 0");
    check_fails(HINGE "motor: {keyframes: [{time: 0, place: t}]}}\n",
                "s:5:43: place must be a number, not the text 't'");
    check_fails(HINGE "motor: {speed: 1e10 + t}}\n",
                "s:5:21: speed must be in [-1e9, 1e9] m/s, and is 1e+10 at t = 0");
}

TEST(keys_of_a_joint_that_say_nothing_are_refused) {
    check_fails(HINGE "damping: 1}\n", "s:5:6: 'damping' goes with 'stiffness'");
    check_fails(HINGE "turning_damping: 1}\n",
                "s:5:6: 'turning_damping' goes with 'turning_stiffness'");
    check_fails(JOINT "ball, turning_damping: 1}\n",
                "s:4:47: 'turning_damping' is of what holds turns");
    check_fails(JOINT "distance, length: 1, range: [0, 1]}\n",
                "s:4:62: a distance has a 'length' or a 'range'");
    check_fails(JOINT "distance, range: [-1, 0]}\n",
                "s:4:58: a distance goes to more than 0, not to 0 m");
}

TEST(a_joint_of_a_name_of_two_kinds_is_refused) {
    check_fails(TIME ROUND "}]\ncolliders: [{name: ball, shape: plane}]\njoints:\n"
                           "  - {name: pin, kind: ball, from: {of: ball}, point: [0, 0, 1]}\n",
                "s:5:40: 'ball' is the name of a body and of a collider: give one of them another");
    check_fails(TIME ROUND "}]\njoints:\n"
                           "  - {name: pin, kind: ball, from: {of: bal}, point: [0, 0, 1]}\n",
                "s:4:40: no rod, body, cloth or collider is named 'bal'; did you mean 'ball'?");
}
