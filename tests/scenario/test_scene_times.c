// Scenes with loads, motions, motors and joints that vary in time: against paper, each way of
// writing a function against the others, resumed in the middle, and what goes wrong on the way.
#include "look.h"
#include "scene/scene.h"

#include "capture.h"
#include "scratch.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

static TdlWorld* build(const char* text, Capture* heard) {
    TdlHost host = capture_host(heard);
    TdlScene* scene;
    TdlWorld* world = NULL;
    if (scene_load_text(&host, "s", text, strlen(text), NULL, 0, &scene) != TDL_STATUS_OK ||
        tdl_scene_build(scene, 1, &world) != TDL_STATUS_OK) {
        fprintf(stderr, "%s\n", heard->text);
        abort();
    }
    tdl_scene_destroy(scene);
    return world;
}

static double rigid_x(const TdlWorld* world, int index, double* mass) {
    TdlVec3 centre = {0};
    CHECK_INT(tdl_body_centre(world, look_body(world, "rigid", index), &centre, mass),
              TDL_STATUS_OK);
    return centre.x;
}

static TdlVec3 rigid_velocity(const TdlWorld* world, int index) {
    TdlVec3 v = {0}, w;
    CHECK_INT(tdl_rigid_velocity(world, look_body(world, "rigid", index), &v, &w), TDL_STATUS_OK);
    return v;
}

static TdlJointState joint_at(const TdlWorld* world, int index) {
    TdlJointState state = {0};
    CHECK_INT(tdl_joint_state(world, tdl_world_joint(world, index), &state), TDL_STATUS_OK);
    return state;
}

// --- an oscillator -------------------------------------------------------------------------------

// A ball on a slider with a spring and a damper, driven at a share of its resonance: what it does
// once its own motion is gone, as A sin(w t - phase), from its products with sine and cosine over
// whole periods.
static void drive_oscillator(double share, int per_period, double* amplitude, double* phase) {
    const double k = 20.0, mass = 1000.0 * 4.0 / 3.0 * PI * 8.0e-6, w = share * sqrt(k / mass);
    const double dt = 2.0 * PI / w / per_period;
    char text[1024];
    snprintf(text, sizeof text,
             "time: {step: %.17g, end: 1000}\ngravity: [0, 0, 0]\n"
             "bodies:\n  - name: ball\n    shape: sphere\n    radius: 0.02\n    density: 1000\n"
             "    loads: [{force: [\"0.01*sin(%.17g*t)\", 0, 0]}]\n"
             "joints:\n  - {name: rail, kind: slider, from: {of: ball}, axis: [1, 0, 0], "
             "point: [0, 0, 0], spring: {stiffness: 20, damping: 0.1}}\n",
             dt, w);
    Capture heard;
    TdlWorld* world = build(text, &heard);
    int settle = 40 * per_period, last = 4 * per_period;
    double s = 0.0, c = 0.0;
    for (int i = 1; i <= settle + last; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        if (i > settle) {
            double x = rigid_x(world, 0, &(double){0.0});
            s += 2.0 / last * x * sin(w * info.time);
            c += 2.0 / last * x * cos(w * info.time);
        }
    }
    *amplitude = hypot(s, c);
    *phase = atan2(-c, s);
    tdl_world_destroy(world);
}

// The damper of a joint goes by the rate of the step, half a step later than the rest: to first
// order the ball is heavier by d dt/2. What is left is of second order.
TEST(a_driven_oscillator_has_its_amplitude_and_phase) {
    static const double SHARE[] = {0.5, 0.9, 1.0, 1.5};
    for (int i = 0; i < 4; ++i) {
        double k = 20.0, d = 0.1, mass = 1000.0 * 4.0 / 3.0 * PI * 8.0e-6;
        double w = SHARE[i] * sqrt(k / mass), off[2], late[2], plain = 0.0;
        for (int n = 0; n < 2; ++n) {
            double a, p, m = mass + 0.5 * d * 2.0 * PI / w / (100 << n);
            drive_oscillator(SHARE[i], 100 << n, &a, &p);
            off[n] = a / (0.01 / hypot(k - m * w * w, d * w)) - 1.0;
            late[n] = p - atan2(d * w, k - m * w * w);
            plain = a / (0.01 / hypot(k - mass * w * w, d * w)) - 1.0;
        }
        printf("  at %.1f of it: amplitude off by %.1e and %.1e (without that mass %.1e), phase by "
               "%.1e and %.1e\n",
               SHARE[i], off[0], off[1], plain, late[0], late[1]);
        // (w dt)^2 = 1e-3, and at the resonance over the damping, d w/k = 0.12
        double small = 0.25 * pow(2.0 * PI / 200.0, 2.0) / 0.12;
        CHECK_BELOW(fabs(off[1]), small);
        CHECK_BELOW(fabs(late[1]), small);
        CHECK_NEAR(hypot(off[1], late[1]) / hypot(off[0], late[0]), 0.25, 0.03);
    }
}

// --- one function, written in three ways ---------------------------------------------------------

#define HANGING                                                                                    \
    "time: {step: 1e-3, end: 1}\ngravity: [0, 0, 0]\n"                                             \
    "materials: [{name: m, young: 1e9, density: 1000, damping: 1e-3}]\n"                           \
    "rods:\n  - name: rod\n    material: m\n    length: 0.2\n    radius: 1e-3\n    model: der\n"

static const double OMEGA = 31.0;

// Where the tip of a rod is in every step, driven by the keys that `load` tells.
static uint64_t drive_tip(TdlWorld* world, TdlVec3 out[200]) {
    for (int i = 0; i < 200; ++i) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
        out[i] = look_rod_point(world, look_body(world, "rod", 0), 0.2);
    }
    uint64_t hash = tdl_world_state_hash(world);
    tdl_world_destroy(world);
    return hash;
}

// Straight between so many moments a second it is off by (w h)^2/8 at most.
static void write_keys(double h, char* text, size_t size, bool csv) {
    size_t used = (size_t)snprintf(text, size, csv ? "time,fx,fy,fz\n" : "");
    for (int i = 0; i * h <= 0.25; ++i) {
        used +=
            (size_t)snprintf(text + used, size - used,
                             csv ? "%.17g,0,%.17g,0\n" : "{time: %.17g, force: [0, %.17g, 0]}, ",
                             i * h, 0.02 * sin(OMEGA * i * h));
    }
}

static void put(const Scratch* s, const char* name, const char* text) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", s->path, name);
    FILE* file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0);
    fclose(file);
}

static TdlWorld* build_file(const Scratch* s, const char* name, const char* again) {
    char path[600], copy[600];
    Capture heard;
    TdlHost host = capture_host(&heard);
    TdlScene* scene = NULL;
    TdlWorld* world = NULL;
    snprintf(path, sizeof path, "%s/%s", s->path, name);
    snprintf(copy, sizeof copy, "%s/%s", s->path, again);
    if (tdl_scene_load(&host, path, NULL, 0, &scene) != TDL_STATUS_OK ||
        tdl_scene_write(scene, copy) != TDL_STATUS_OK ||
        tdl_scene_build(scene, 1, &world) != TDL_STATUS_OK) {
        fprintf(stderr, "%s\n", heard.text);
        abort();
    }
    tdl_scene_destroy(scene);
    return world;
}

TEST(expressions_keys_and_files_of_a_function_agree) {
    static char keys[40000], text[50000];
    static TdlVec3 expected[200], now[200];
    Capture heard;
    drive_tip(build(HANGING "    loads: [{at: 0.2, force: [0, 0.02*sin(31*t), 0]}]\n", &heard),
              expected);
    double largest = 0.0, off[2];
    for (int i = 0; i < 200; ++i) {
        largest = fmax(largest, fabs(expected[i].y));
    }
    Scratch s = scratch_make();
    for (int n = 0; n < 2; ++n) {
        double h = 0.01 / (1 << n);
        write_keys(h, keys, sizeof keys, false);
        snprintf(text, sizeof text,
                 HANGING "    loads: [{at: 0.2, interpolation: linear, "
                         "keyframes: [%s]}]\n",
                 keys);
        uint64_t hash = drive_tip(build(text, &heard), now);
        off[n] = 0.0;
        for (int i = 0; i < 200; ++i) {
            off[n] = fmax(off[n], tdl_norm3(tdl_sub3(now[i], expected[i])) / largest);
        }
        CHECK_BELOW(off[n], 3.0 * pow(OMEGA * h, 2.0) / 8.0); // the tip swings up to so much more
        write_keys(h, keys, sizeof keys, true);
        put(&s, "pull.csv", keys);
        put(&s, "scene.yaml", HANGING "    loads: [{at: 0.2, file: pull.csv}]\n");
        CHECK(drive_tip(build_file(&s, "scene.yaml", "copy.yaml"), now) == hash);
        CHECK(drive_tip(build_file(&s, "copy.yaml", "again.yaml"), now) == hash);
    }
    printf("  tip off by %.1e and %.1e of its way\n", off[0], off[1]);
    CHECK_NEAR(off[0] / off[1], 4.0, 1.0);
    put(&s, "pull.csv", "time,fx,fy,fz\n0,0,0,0\n"); // not the file of the copy any more
    char path[600];
    TdlScene* scene;
    TdlHost host = capture_host(&heard);
    snprintf(path, sizeof path, "%s/copy.yaml", s.path);
    CHECK_INT(tdl_scene_load(&host, path, NULL, 0, &scene), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(heard.first, "the file of the load is not the one of this scene") != NULL);
    scratch_remove(&s);
}

// Of a load that is straight between steps, and nothing at both ends, a body has the integral.
TEST(the_impulse_of_a_file_is_its_integral) {
    Scratch s = scratch_make();
    put(&s, "push.csv",
        "time,fx,fy,fz,tx,ty,tz\n0.1,0,0,0,0,0,0\n0.15,2,1,0,0,0,0.01\n"
        "0.3,0,0,0,0,0,0\n");
    put(&s, "scene.yaml",
        "time: {step: 1e-3, end: 1}\ngravity: [0, 0, 0]\nbodies:\n"
        "  - {name: ball, shape: sphere, radius: 0.02, density: 1000, "
        "loads: [{file: push.csv}]}\n");
    TdlWorld* world = build_file(&s, "scene.yaml", "copy.yaml");
    for (int i = 0; i < 400; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    double mass;
    rigid_x(world, 0, &mass);
    TdlVec3 v, w;
    REQUIRE(tdl_rigid_velocity(world, look_body(world, "rigid", 0), &v, &w) == TDL_STATUS_OK);
    CHECK_NEAR3(tdl_scale3(mass, v), ((TdlVec3){0.2, 0.1, 0.0}), 1.0e-14); // 400 roundings
    CHECK_NEAR(w.z * 0.4 * mass * 4.0e-4, 1.0e-3, 1.0e-15);
    tdl_world_destroy(world);
    scratch_remove(&s);
}

// --- motions -------------------------------------------------------------------------------------

TEST(things_go_where_expressions_have_them) {
    Capture heard;
    TdlWorld* world =
        build("time: {step: 1e-3, end: 1}\nmaterials: [{name: m, young: 1e9}]\n"
              "rods:\n  - name: rod\n    material: m\n    length: 0.2\n    radius: 1e-3\n"
              "    model: der\n    end: pinned\n"
              "    clamp: {motion: {position: [0.01*sin(9*t), 0, 0.02*t^2]}}\n"
              "    end_motion: {position: [\"-0.05*smooth(t/0.1)\", 0, 0]}\n"
              "cloths:\n  - name: sheet\n    rectangle: {size: [0.1, 0.1], nodes: [3, 3]}\n"
              "    position: [0, 1, 0]\n"
              "    holds: [{edge: top, motion: {position: [0, 0, 0.01*sin(5*t)]}}]\n"
              "colliders:\n  - {name: ball, shape: sphere, radius: 0.01, position: [0, 0, -1], "
              "motion: {rotation: [0, 0.3*t, 0], about: [0, 0, 0]}}\n",
              &heard);
    for (int i = 1; i <= 150; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        double t = tdl_world_time(world), u = fmin(t / 0.1, 1.0);
        TdlVec3 start = look_rod_point(world, look_body(world, "rod", 0), 0.0);
        TdlVec3 end = look_rod_point(world, look_body(world, "rod", 0), 0.2), v[9];
        CHECK_NEAR3(start, ((TdlVec3){0.01 * sin(9.0 * t), 0.0, 0.02 * t * t}), 1.0e-16);
        u = u * u * u * (10.0 + u * (6.0 * u - 15.0));
        CHECK_NEAR3(end, ((TdlVec3){0.2 - 0.05 * u, 0.0, 0.0}), 1.0e-12); // a hold's equation
        TdlPose pose;
        REQUIRE(tdl_collider_pose(world, look_body(world, "collider", 0), &pose) == TDL_STATUS_OK);
        CHECK_NEAR3(pose.position, ((TdlVec3){-sin(0.3 * t), 0.0, -cos(0.3 * t)}), 1.0e-15);
        REQUIRE(tdl_cloth_state(world, look_body(world, "cloth", 0), v, NULL) == TDL_STATUS_OK);
        CHECK_NEAR(v[7].z, 0.01 * sin(5.0 * t), 1.0e-9); // 150 steps, each to an end of its own
    }
    tdl_world_destroy(world);
}

// --- joints --------------------------------------------------------------------------------------

// A hand goes along a slider, takes a ball, and lets it go: from then on that flies with the speed
// that the hand had.
TEST(what_a_hand_lets_go_flies_on) {
    Capture heard;
    TdlWorld* world =
        build("time: {step: 1e-3, end: 1}\ngravity: [0, 0, 0]\ncontacts: {detection: off}\n"
              "bodies:\n  - {name: hand, shape: box, half: [0.02, 0.02, 0.02]}\n"
              "  - {name: ball, shape: sphere, radius: 0.02, position: [0.3, 0.1, 0]}\n"
              "joints:\n  - {name: arm, kind: slider, from: {of: hand}, axis: [1, 0, 0], "
              "point: [0, 0, 0], motor: {interpolation: linear, keyframes: [{time: 0.1, place: 0}, "
              "{time: 0.4, place: 0.3}, {time: 0.6, place: 0.9}, {time: 0.9, place: 0.9}]}}\n"
              "  - {name: grip, kind: fixed, from: {of: hand, place: [0, 0.05, 0]}, to: {of: ball, "
              "place: [0, -0.02, 0]}, during: [0.4, 0.5]}\n",
              &heard);
    double at = 0.0;
    for (int i = 1; i <= 800; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        double hand = rigid_x(world, 0, &(double){0.0}), ball = rigid_x(world, 1, &(double){0.0});
        double t = tdl_world_time(world);
        double wanted = t < 0.1 ? 0.0 : t < 0.4 ? t - 0.1 : t < 0.6 ? 3.0 * t - 0.9 : 0.9;
        CHECK_NEAR(hand, wanted, 1.0e-12);
        CHECK_INT(joint_at(world, 1).idle, i <= 400 || i > 500);
        if (i == 400) {
            at = ball - hand; // it is taken as it is
            CHECK_NEAR(ball, 0.3, 0.0);
        } else if (i > 400 && i <= 500) {
            CHECK_NEAR(ball - hand, at, 1.0e-12);
        } else if (i > 500) {
            CHECK_NEAR3(rigid_velocity(world, 1), ((TdlVec3){3.0, 0.0, 0.0}), 1.0e-9);
        }
    }
    tdl_world_destroy(world);
}

static TdlVec3 held_point(const TdlWorld* world, int which) {
    TdlVec3 v[16] = {{0}};
    if (which == 0) {
        CHECK_INT(tdl_cloth_state(world, look_body(world, "cloth", 0), v, NULL), TDL_STATUS_OK);
        return v[0];
    }
    return look_rod_point(world, look_body(world, "rod", which - 1), 0.1);
}

// What has no frame is held at its own place, wherever the hand is by then: a corner of a sheet and
// the end of a chain of masses; and rods with one beside it.
TEST(a_hand_takes_what_is_there) {
    Capture heard;
    TdlWorld* world = build(
        "time: {step: 1e-3, end: 1}\ngravity: [0, 0, 0]\ncontacts: {detection: off}\n"
        "materials: [{name: m, young: 1e7, density: 1000, damping: 1e-3}]\n"
        "bodies:\n  - {name: hand, shape: box, half: [0.02, 0.02, 0.02]}\n"
        "cloths:\n  - name: sheet\n    rectangle: {size: [0.1, 0.1], nodes: [4, 4]}\n"
        "    position: [0.3, 0.1, 0]\n"
        "rods:\n  - {name: chain, material: m, model: mass-spring, length: 0.1, radius: 2e-3, "
        "start: free, clamp: {position: [0.3, -0.1, 0]}}\n"
        "  - {name: helix, material: m, length: 0.1, radius: 2e-3, start: free, clamp: {position: "
        "[0.3, -0.1, 0.1]}}\n"
        "joints:\n  - {name: arm, kind: slider, from: {of: hand}, axis: [1, 0, 0], point: [0, 0, "
        "0], motor: {speed: \"smooth(t/0.1)*(1 - smooth((t - 0.3)/0.05))\"}}\n"
        "  - {name: one, kind: ball, from: {of: hand}, to: {of: sheet, at: 0}, during: [0.2, "
        "0.3]}\n"
        "  - {name: two, kind: ball, from: {of: hand}, to: {of: chain}, during: [0.2, 0.3]}\n"
        "  - {name: three, kind: fixed, from: {of: hand, place: [0.02, 0, 0]}, to: {of: helix}, "
        "during: [0.2, 0.3]}\n",
        &heard);
    TdlVec3 seen[3] = {{0}};
    double worst[3] = {0};
    for (int i = 1; i <= 400; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        double hand = rigid_x(world, 0, &(double){0.0});
        for (int k = 0; k < 3; ++k) {
            TdlVec3 now = tdl_sub3(held_point(world, k), (TdlVec3){hand, 0.0, 0.0});
            seen[k] = i == 200 ? now : seen[k];
            double way = tdl_norm3(tdl_sub3(now, seen[k]));
            worst[k] = i > 200 && i <= 300 ? fmax(worst[k], way) : worst[k];
            CHECK(i != 400 || way > 0.03); // let go, they fly on, and the hand stops
        }
    }
    printf("  held to %.1e, %.1e, %.1e m\n", worst[0], worst[1], worst[2]);
    CHECK_BELOW(fmax(worst[0], fmax(worst[1], worst[2])), 1.0e-11);
    tdl_world_destroy(world);
}

// A motor is where its expression has it, however that is written.
TEST(motors_follow_expressions_keys_and_files) {
    static const char HEAD[] = "time: {step: 1e-3, end: 1}\n"
                               "bodies: [{name: bar, shape: box, half: [0.05, 0.01, 0.01]}]\n"
                               "joints:\n  - {name: crank, kind: hinge, from: {of: bar}, axis: [0, "
                               "0, 1], point: [0.05, 0, 0], motor: {%s}}\n";
    static const char* const WAYS[] = {
        "place: \"0.5*sin(6*t)\"",
        "speed: \"3*cos(6*t)\"",
        "file: crank.csv",
        "keyframes: [{time: 0, speed: 0}, {time: 0.4, speed: 2}]",
    };
    Scratch s = scratch_make();
    char rows[4000] = "time,place\n", text[1000];
    for (int i = 0; i <= 40; ++i) {
        size_t used = strlen(rows);
        snprintf(rows + used, sizeof rows - used, "%.17g,%.17g\n", 0.01 * i,
                 0.5 * sin(6.0 * 0.01 * i));
    }
    put(&s, "crank.csv", rows);
    for (int way = 0; way < 4; ++way) {
        snprintf(text, sizeof text, HEAD, WAYS[way]);
        put(&s, "scene.yaml", text);
        TdlWorld* world = build_file(&s, "scene.yaml", "copy.yaml");
        double worst = 0.0, drive = 0.0;
        for (int i = 0; i < 400; ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
            double t = tdl_world_time(world), u = t / 0.4;
            double wanted = 0.5 * sin(6.0 * t);
            if (way == 3) { // the integral of the quintic
                wanted = 0.8 * u * u * u * u * (2.5 + u * (u - 3.0));
            }
            worst = fmax(worst, fabs(joint_at(world, 0).coordinate - wanted));
            drive = fmax(drive, fabs(joint_at(world, 0).drive));
        }
        printf("  %-60s off by %.1e rad\n", WAYS[way], worst);
        CHECK(drive > 1.0e-3);
        // the first by roundings; the second and the last by the middle of steps, w^3 A dt^2 t/24;
        // between the moments of a file (w h)^2/8 of the amplitude
        CHECK_BELOW(worst, way == 0 ? 1.0e-12 : way == 2 ? 0.5 * 0.06 * 0.06 / 8.0 : 2.0e-6);
        tdl_world_destroy(world);
    }
    scratch_remove(&s);
}

// --- the same bits, and what goes wrong ----------------------------------------------------------

static const char ALL[] =
    "time: {step: 1e-3, end: 1}\n"
    "materials: [{name: m, young: 1e8, density: 1000, damping: 1e-3}]\n"
    "rods:\n  - name: rope\n    material: m\n    length: 0.2\n    radius: 2e-3\n    model: der\n"
    "    loads: [{at: 0.1, force: [0, 0.01*sin(40*t), 0]}, {at: 0.2, force: [0, 0, -0.001]}]\n"
    "    clamp: {motion: {position: [0, 0, 0.01*sin(20*t)]}}\n"
    "bodies:\n  - {name: hand, shape: box, half: [0.02, 0.02, 0.02], position: [0.3, 0, 0.1]}\n"
    "  - {name: ball, shape: sphere, radius: 0.02, position: [0.3, 0.1, 0.1], "
    "loads: [{place: [0, 0.02, 0], turns: true, force: [0.1*t, 0, 0]}]}\n"
    "cloths:\n  - name: sheet\n    rectangle: {size: [0.2, 0.2], nodes: [4, 4]}\n"
    "    position: [0, 1, 0]\n    loads: [{vertex: 5, keyframes: [{time: 0}, {time: 0.2, force: "
    "[0, 0, 0.1]}]}]\n    holds: [{edge: top, motion: {position: [0.05*t, 0, 0]}}]\n"
    "joints:\n  - {name: arm, kind: hinge, from: {of: hand}, axis: [0, 1, 0], point: [0.3, 0, "
    "0.2], "
    "motor: {speed: \"3*sin(30*t)\"}}\n"
    "  - {name: grip, kind: fixed, from: {of: hand}, to: {of: rope}, during: [0.03, 0.07], every: "
    "0.06}\n"
    "  - {name: leash, kind: distance, from: {of: hand, place: [0, 0, 0]}, to: {of: ball, "
    "place: [0, 0, 0]}, during: [0.05, 0.12]}\n";

TEST(what_varies_goes_on_with_the_same_bits) {
    Capture heard;
    for (int at = 20; at <= 100; at += 40) { // before, while and after things are held
        TdlWorld *one = build(ALL, &heard), *two = build(ALL, &heard), *three;
        for (int i = 0; i < at; ++i) {
            REQUIRE(tdl_world_step(one, NULL) == TDL_STATUS_OK);
        }
        size_t size = tdl_world_state_size(one);
        void* bytes = malloc(size);
        REQUIRE(bytes != NULL);
        tdl_world_save_state(one, bytes);
        REQUIRE(tdl_world_load_state(two, bytes, size) == TDL_STATUS_OK);
        REQUIRE(tdl_world_copy(one, &three) == TDL_STATUS_OK);
        for (int i = 0; i < 60; ++i) {
            REQUIRE(tdl_world_step(one, NULL) == TDL_STATUS_OK);
            REQUIRE(tdl_world_step(two, NULL) == TDL_STATUS_OK);
            REQUIRE(tdl_world_step(three, NULL) == TDL_STATUS_OK);
        }
        CHECK(tdl_world_state_hash(one) == tdl_world_state_hash(two));
        CHECK(tdl_world_state_hash(one) == tdl_world_state_hash(three));
        free(bytes);
        tdl_world_destroy(one);
        tdl_world_destroy(two);
        tdl_world_destroy(three);
    }
}

TEST(what_has_no_value_at_some_time_fails_by_name) {
#define BALL "time: {end: 1}\nbodies:\n  - {name: ball, shape: sphere, radius: 0.02"
    static const struct {
        const char *text, *who;
    } BAD[] = {
        {BALL ", loads: [{force: [log(0.0105 - t), 0, 0]}]}\n", "rigid 'ball' is told a load"},
        {BALL
         "}\ncolliders: [{name: wall, shape: sphere, radius: 0.1, position: [9, 0, 0], motion: "
         "{position: [sqrt(0.0105 - t), 0, 0]}}]\n",
         "collider 'wall' is told a motion"},
        {BALL
         "}\njoints: [{name: hinge, kind: hinge, from: {of: ball}, point: [0, 0, 1], axis: [1, "
         "0, 0], motor: {place: sqrt(0.0105 - t)}}]\n",
         "the motor of joint 'hinge' is told a place"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        Capture heard;
        TdlWorld* world = build(BAD[i].text, &heard);
        TdlStatus status = TDL_STATUS_OK;
        for (int k = 0; k < 20 && status == TDL_STATUS_OK; ++k) {
            status = tdl_world_step(world, NULL);
        }
        CHECK_INT(status, TDL_STATUS_BAD_INPUT);
        CHECK(strstr(heard.text, BAD[i].who) != NULL &&
              strstr(heard.text, "that is not a number") != NULL);
        // with the last good state; loads of bodies are taken at the start of a step
        CHECK_NEAR(tdl_world_time(world), i == 0 ? 0.011 : 0.010, 1.0e-12);
        tdl_world_destroy(world);
    }
}

// What is wrong in files is told with their own line.
TEST(each_mistake_of_a_file_is_told_with_its_line) {
    static const struct {
        const char *csv, *message;
        bool motor;
    } BAD[] = {
        {"time,fx,fy\n0,1,2\n", "x.csv:1: a load has the columns time, fx, fy and fz", false},
        {"time,fx,fy,fz,tx\n", "x.csv:1: of tx, ty and tz all are there or none", false},
        {"time,fx,fy,fz\n0,0,0,0\n1,0,0,0\n1,0,0,0\n",
         "x.csv:4: the times of a recording must grow", false},
        {"time,fx,fy,fz\n0,0,0,1 N\n", "x.csv:2: '1 N' is not a number", false},
        {"time,fx,fy,fz\n0,0,0,1e13\n", "x.csv:2: a number is too large", false},
        {"time,fx,fy,fz\n", "x.csv: has no row without gaps", false},
        {"", "x.csv: has no row without gaps", false},
        {"time,angle\n0,1\n", "x.csv:1: a motor has the columns time, and speed or place", true},
        {"time,speed,place\n0,1,1\n", "x.csv:1: a motor has one of the columns speed and place",
         true},
    };
    Scratch s = scratch_make();
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; ++i) {
        Capture heard;
        TdlHost host = capture_host(&heard);
        TdlScene* scene;
        char path[600];
        put(&s, "x.csv", BAD[i].csv);
        put(&s, "scene.yaml",
            BAD[i].motor ? BALL "}\njoints: [{name: j, kind: hinge, from: {of: ball}, axis: [1, 0, "
                                "0], point: [0, 0, 1], motor: {file: x.csv}}]\n"
                         : BALL ", loads: [{file: x.csv}]}\n");
        snprintf(path, sizeof path, "%s/scene.yaml", s.path);
        CHECK_INT(tdl_scene_load(&host, path, NULL, 0, &scene), TDL_STATUS_BAD_INPUT);
        CHECK_INT(heard.errors, 1);
        CHECK(strstr(heard.first, BAD[i].message) != NULL);
    }
    scratch_remove(&s);
}
