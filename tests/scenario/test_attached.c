// Rods whose starts grow from rigid bodies: each is held by a joint, so that forces go both ways.
#include "capture.h"
#include "look.h"
#include "scratch.h"
#include "stage.h"
#include "tendril/joint.h"

enum { HAIRS = 30, POINTS = 6 };
static const double PI = 3.14159265358979323846, G = 9.81, STEP = 1.0e-3;
static const double BALL = 0.05, HAIR = 0.06; // m

static const char HEADER[] = "time: {step: 1e-3, end: 1000}\n"
                             "materials:\n  - {name: hair, young: 1e8, density: 1300}\n";

// Hairs that stand on a ball about (0, 0, 1), as the lines of a file.
static void write_curves(const Scratch* s) {
    static char text[HAIRS * POINTS * 100 + 100];
    int at = snprintf(text, sizeof text, "curve,x,y,z\n");
    for (int i = 0; i < HAIRS; ++i) {
        double z = 0.9 - 1.6 * i / HAIRS, across = sqrt(1.0 - z * z), turn = 2.4 * i;
        for (int k = 0; k < POINTS; ++k) {
            double r = BALL + HAIR * k / (POINTS - 1.0);
            at += snprintf(text + at, sizeof text - (size_t)at, "%d,%.17g,%.17g,%.17g\n", i,
                           r * across * cos(turn), r * across * sin(turn), 1.0 + r * z);
        }
    }
    scratch_write(scratch_path(s, "hairs.csv"), text, (size_t)at);
}

static TdlStatus load(const Scratch* s, const TdlHost* host, const char* text, TdlScene** scene) {
    const char* path = scratch_path(s, "scene.yaml");
    scratch_write(path, text, strlen(text));
    return tdl_scene_load(host, path, NULL, 0, scene);
}

static void open_text(const Scratch* s, const char* body, Stage* out) {
    *out = (Stage){0};
    TdlHost host = tdl_host_default();
    host.mem = counting_allocator(&out->counter);
    char text[4096];
    snprintf(text, sizeof text, "%s%s", HEADER, body);
    if (load(s, &host, text, &out->scene) != TDL_STATUS_OK ||
        tdl_scene_build(out->scene, 1, &out->world) != TDL_STATUS_OK) {
        abort();
    }
}

// Of all that has mass: kg times m.
static TdlVec3 first_moment(const TdlWorld* world, int hairs, double* mass) {
    TdlVec3 sum = {0}, c;
    *mass = 0.0;
    for (int i = 0; i <= hairs; ++i) {
        double own;
        TdlBodyId id = i < hairs ? look_body(world, "rod", i) : look_body(world, "rigid", 0);
        CHECK_INT(tdl_body_centre(world, id, &c, &own), TDL_STATUS_OK);
        sum = tdl_axpy3(sum, own, c);
        *mass += own;
    }
    return sum;
}

#define HAIRY_BALL                                                                                 \
    "bodies:\n  - {name: ball, shape: sphere, radius: 0.05, density: 300, position: [0, 0, 1]}\n"  \
    "rods:\n  - {name: hair, material: hair, radius: 1e-4, elements: 4, attach: ball,\n"           \
    "     curves: {file: hairs.csv}}\n"

// On a ball that flies, spinning, they change the sum of the momenta by nothing: what the root of
// each pulls at the hair pulls at the ball. (They go through each other:
// pushes move centres.)
TEST(hairs_on_a_ball_in_flight_keep_the_momentum) {
    Scratch s = scratch_make();
    write_curves(&s);
    Stage stage;
    open_text(
        &s,
        "bodies:\n  - {name: ball, shape: sphere, radius: 0.05, density: 300, position: [0, 0, "
        "1], velocity: [1, 0, 2], angular_velocity: [3, -8, 2]}\n"
        "rods:\n  - {name: hair, material: hair, radius: 1e-4, elements: 4, attach: ball, "
        "curves: {file: hairs.csv}}\ncontacts: {detection: off}\ngravity: [0, 0, 0]\n",
        &stage);
    double mass, open = 0.0, off = 0.0;
    TdlVec3 before = first_moment(stage.world, HAIRS, &mass), first = {0};
    int joints = tdl_world_joints(stage.world, 0, NULL);
    CHECK_INT(joints, HAIRS);
    CHECK(strcmp(tdl_joint_name(stage.world, tdl_world_joint(stage.world, 7)), "hair.start 7") ==
          0);
    for (int i = 0; i < 100; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(stage.world, &info) == TDL_STATUS_OK);
        TdlVec3 now = first_moment(stage.world, HAIRS, &mass);
        TdlVec3 p = tdl_scale3(1.0 / STEP, tdl_sub3(now, before));
        before = now;
        first = i == 0 ? p : first;
        off = fmax(off, tdl_norm3(tdl_sub3(p, first)) / tdl_norm3(first));
        for (int k = 0; k < joints; ++k) {
            TdlJointState state;
            CHECK_INT(tdl_joint_state(stage.world, tdl_world_joint(stage.world, k), &state),
                      TDL_STATUS_OK);
            open = fmax(open, fmax(state.error, state.error_angle * HAIR));
        }
    }
    printf("  momentum off by %.1e of itself, roots by %.1e m\n", off, open);
    CHECK_BELOW(off, 1.0e-10);
    CHECK_BELOW(open, 1.0e-10);
    close_stage(&stage);
    scratch_remove(&s);
}

// On a ball that swings on a pin: roots stay closed, and what the root of a hair pulls is told.
TEST(a_ball_swings_with_hairs_on_it) {
    Scratch s = scratch_make();
    write_curves(&s);
    Stage stage;
    open_text(&s,
              HAIRY_BALL
              "joints:\n  - {name: pin, kind: ball, from: {of: ball}, point: [0.1, 0, 1.15]}\n"
              "observe:\n  - {reaction: hair.start, copy: 3}\n  - {reaction: pin}\n"
              "  - {power: hair.start, copy: 3}\n",
              &stage);
    double open = 0.0;
    TdlJointId third = tdl_world_joint(stage.world, 4); // after the pin
    CHECK(strcmp(tdl_joint_name(stage.world, third), "hair.start 3") == 0);
    for (int i = 0; i < 60; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(stage.world, &info) == TDL_STATUS_OK);
        CHECK_INT(info.forced, 0);
        TdlJointState state;
        for (int k = 0; k <= HAIRS; ++k) {
            CHECK_INT(tdl_joint_state(stage.world, tdl_world_joint(stage.world, k), &state),
                      TDL_STATUS_OK);
            open = fmax(open, fmax(state.error, state.error_angle * HAIR));
        }
        CHECK_INT(tdl_joint_state(stage.world, third, &state), TDL_STATUS_OK);
        TdlVec3 told = tdl_scene_observe(stage.scene, 0, stage.world);
        CHECK_NEAR3(told, state.force, 0.0);
        CHECK(tdl_norm3(told) > 0.0);
    }
    printf("  roots and pin open by %.1e m\n", open);
    CHECK_BELOW(open, 1.0e-10);
    CHECK(strcmp(tdl_scene_observer(stage.scene, 0).name, "reaction_hair_start_3") == 0);
    close_stage(&stage);
    scratch_remove(&s);
}

// A grid of three on three balls, and a rod of one start that is pinned: it carries its weight.
TEST(copies_grow_from_copies) {
    Scratch s = scratch_make();
    Stage stage;
    open_text(&s,
              "bodies:\n  - {name: ball, shape: sphere, radius: 0.02, position: [0, 0, 1], "
              "repeat: {count: [3, 1, 1], spacing: [0.1, 0, 0]}}\n"
              "  - {name: nail, shape: sphere, radius: 0.02, position: [1, 0, 1]}\n"
              "rods:\n  - {name: tail, material: hair, length: 0.05, radius: 1e-3, elements: 3, "
              "attach: {to: ball, clear: 0.01}, clamp: {position: [0, 0, 0.98], direction: [0, 0, "
              "-1]}, repeat: {count: [3, 1, 1], spacing: [0.1, 0, 0]}}\n"
              "  - {name: cord, material: hair, length: 0.05, radius: 1e-3, elements: 3, start: "
              "pinned, attach: nail, clamp: {position: [1, 0, 0.98], direction: [0, 0, -1]}}\n"
              "joints:\n  - {name: hook, kind: fixed, from: {of: ball, place: [0, 0, 0]}}\n"
              "  - {name: wall, kind: fixed, from: {of: nail, place: [0, 0, 0]}}\n"
              "observe:\n  - {reaction: tail.start, copy: 1}\n  - {reaction: cord.start}\n",
              &stage);
    CHECK_INT(tdl_world_joints(stage.world, 0, NULL), 8);
    double weight = 1300.0 * PI * 1.0e-6 * 0.05 * G;
    for (int i = 0; i < 50; ++i) {
        REQUIRE(tdl_world_step(stage.world, NULL) == TDL_STATUS_OK);
    }
    for (int k = 0; k < 2; ++k) {
        TdlVec3 told = tdl_scene_observe(stage.scene, k, stage.world);
        CHECK_NEAR3(told, ((TdlVec3){0.0, 0.0, weight}), 1.0e-9 * weight);
    }
    for (int k = 4; k < 8; ++k) {
        TdlJointDef def;
        CHECK_INT(tdl_joint_def(stage.world, tdl_world_joint(stage.world, k), &def), TDL_STATUS_OK);
        CHECK_INT(def.kind, k < 7 ? TDL_JOINT_FIXED : TDL_JOINT_BALL);
        CHECK_NEAR(def.clear, k < 7 ? 0.01 : 2.5e-3, 1.0e-12);
    }
    close_stage(&stage);
    scratch_remove(&s);
}

static void check_refused(const Scratch* s, const char* body, const char* why) {
    Capture heard;
    TdlHost host = capture_host(&heard);
    TdlScene* scene;
    char text[4096];
    snprintf(text, sizeof text, "%s%s", HEADER, body);
    CHECK_INT(load(s, &host, text, &scene), TDL_STATUS_BAD_INPUT);
    if (strstr(heard.first, why) == NULL) {
        FAIL("'%s' and not '%s'", heard.first, why);
    }
}

#define BALLS(count)                                                                               \
    "bodies:\n  - {name: ball, shape: sphere, radius: 0.02, repeat: {count: [" count               \
    ", 1, 1], spacing: [1, 0, 0]}}\n"
#define TAILS                                                                                      \
    "rods:\n  - {name: tail, material: hair, length: 0.05, radius: 1e-3, elements: 3, attach: "    \
    "ball, repeat: {count: [3, 1, 1], spacing: [0.1, 0, 0]}}\n"

TEST(what_does_not_fit_is_refused_by_name) {
    Scratch s = scratch_make();
    check_refused(&s, BALLS("2") TAILS, "'ball' has 2 copies and 'tail' 3: as many, or one body");
    check_refused(&s, BALLS("1") TAILS "contacts: {response: barrier}\n",
                  "joints need the response exact or s3");
    check_refused(&s, BALLS("1") TAILS "colliders:\n  - {name: ball, shape: plane}\n",
                  "'ball' is the name of a collider and of a body");
    scratch_remove(&s);
}
