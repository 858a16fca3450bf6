// Observers against what they observe, computed in another way: weights, parabolas, points, sums by
// hand; and as columns of log.csv.
#include "look.h"
#include "run/step_log.h"
#include "run_folder.h"
#include "scene/scene.h"

static const double G = 9.81;
static const double PI = 3.14159265358979323846;

static TdlScene* load(const char* text) {
    TdlHost host = tdl_host_default();
    TdlScene* scene = NULL;
    scene_load_text(&host, "s", text, strlen(text), NULL, 0, &scene);
    return scene;
}

static TdlWorld* build(const TdlScene* scene) {
    TdlWorld* world = NULL;
    tdl_scene_build(scene, 1, &world);
    return world;
}

static void go(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        if (tdl_world_step(world, NULL) != TDL_STATUS_OK) {
            FAIL("step %d failed", i);
            return;
        }
    }
}

// --- forces --------------------------------------------------------------------------------------

TEST(what_rests_weighs_on_what_it_rests_on) {
    TdlScene* scene = load("time: {end: 1}\n"
                           "bodies:\n"
                           "  - {name: ball, shape: sphere, radius: 0.1, density: 500,\n"
                           "     position: [0.3, 0.2, 0.1]}\n"
                           "  - {name: far, shape: sphere, radius: 0.2, density: 300,\n"
                           "     position: [3, 0, 0.2], repeat: {count: [1, 3, 1],\n"
                           "     spacing: [0, 1, 0]}}\n"
                           "colliders: [{name: floor, shape: plane}]\n"
                           "observe:\n"
                           "  - {force: floor}\n"
                           "  - {force: ball}\n"
                           "  - {force: far}\n"
                           "  - {force: far, copy: 2}\n"
                           "  - {torque: floor}\n"
                           "  - {torque: ball}\n");
    REQUIRE(scene != NULL);
    TdlWorld* world = build(scene);
    go(world, 50);
    double ball = 500.0 * 4.0 / 3.0 * PI * 1.0e-3 * G, far = 300.0 * 4.0 / 3.0 * PI * 8.0e-3 * G;
    double sum = ball + 3.0 * far;
    double tolerance = 1.0e-6 * sum; // of the contact solver, with room
    CHECK_NEAR3(tdl_scene_observe(scene, 0, world), ((TdlVec3){0, 0, -sum}), tolerance);
    CHECK_NEAR3(tdl_scene_observe(scene, 1, world), ((TdlVec3){0, 0, ball}), tolerance);
    CHECK_NEAR3(tdl_scene_observe(scene, 2, world), ((TdlVec3){0, 0, 3.0 * far}), tolerance);
    CHECK_NEAR3(tdl_scene_observe(scene, 3, world), ((TdlVec3){0, 0, far}), tolerance);
    // about the origin, where the plane was placed: x F
    TdlVec3 torque = {-0.2 * ball, 0.3 * ball + 3.0 * (3.0 * far), 0.0};
    CHECK_NEAR3(tdl_scene_observe(scene, 4, world), torque, 10.0 * tolerance);
    CHECK_NEAR3(tdl_scene_observe(scene, 5, world), ((TdlVec3){0}), tolerance);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}

// Copies of rods that lie on each other: what they do to each other is no force on them as a whole.
TEST(forces_between_copies_are_not_on_the_whole) {
    TdlScene* scene = load(
        "time: {end: 1}\n"
        "materials: [{name: soft, young: 1e6, damping: 0.02, mass_damping: 5}]\n"
        "rods:\n"
        "  - {name: one, material: soft, length: 0.1, radius: 5e-3, elements: 3, start: free,\n"
        "     clamp: {position: [-0.05, 0, 0.005], direction: [1, 0, 0]}}\n"
        "  - {name: stack, material: soft, length: 0.1, radius: 5e-3, elements: 3,\n"
        "     start: free, clamp: {position: [-0.05, 0.1, 0.005], direction: [1, 0, 0]},\n"
        "     repeat: {count: [1, 1, 2], spacing: [0, 0, 0.0101], centred: false}}\n"
        "colliders: [{name: floor, shape: plane}]\n"
        "contacts: {friction: 1}\n"
        "observe: [{force: floor}, {force: one}, {force: stack}]\n");
    REQUIRE(scene != NULL);
    TdlWorld* world = build(scene);
    double mutual = 0.0;
    for (int step = 0; step < 100; ++step) {
        go(world, 1);
        const TdlVec3 sum[2] = {look_contact_wrench(world, "rod", 1).force,
                                look_contact_wrench(world, "rod", 2).force};
        TdlVec3 stack = tdl_scene_observe(scene, 2, world);
        double scale = tdl_norm3(sum[0]) + tdl_norm3(sum[1]);
        CHECK_NEAR3(stack, tdl_add3(sum[0], sum[1]), 1.0e-12 * scale);
        TdlVec3 all = tdl_add3(tdl_add3(tdl_scene_observe(scene, 0, world), stack),
                               tdl_scene_observe(scene, 1, world));
        CHECK_NEAR3(all, ((TdlVec3){0}), 1.0e-12 * scale); // to every force there is an opposite
        mutual = fmax(mutual, tdl_norm3(sum[1]));
    }
    CHECK(mutual > 0.01); // the upper one did lie on the lower
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}

// --- places --------------------------------------------------------------------------------------

// Two free rods fall; a step uses the velocity of its end for the whole of it, so that after n
// steps the height has changed by -g dt^2 n (n + 1) / 2. With `swinging` they are bent at first.
// Nodal rods keep their momentum to rounding even so; the super-models only while they keep their
// shape.
static void check_fall(const char* model, bool swinging) {
    char text[1024];
    snprintf(text, sizeof text,
             "time: {end: 1, step: 1e-3}\n"
             "materials: [{name: wire, young: 1e8}]\n"
             "rods:\n"
             "  - {name: wires, material: wire, model: %s, length: 0.3, radius: 1e-3,\n"
             "     elements: 6, start: free, %s: [2, 10, 3], repeat: {count: [1, 2, 1],\n"
             "     spacing: [0, 1, 0]}}\n"
             "observe: [{centre: wires}, {centre: wires, copy: 1}]\n",
             model, swinging ? "curvature" : "natural_curvature");
    TdlScene* scene = load(text);
    REQUIRE(scene != NULL);
    TdlWorld* world = build(scene);
    TdlBodyId rod = look_body(world, "rod", 0);
    TdlVec3 start = tdl_scene_observe(scene, 0, world), other = tdl_scene_observe(scene, 1, world);
    TdlVec3 end = tdl_sub3(look_rod_point(world, rod, 0.3), start);
    CHECK_NEAR3(tdl_sub3(other, start), ((TdlVec3){0.0, 0.5, 0.0}),
                1.0e-12); // the first is in the mean
    double off = 0.0, swing = 0.0;
    for (int step = 1; step <= 200; ++step) {
        go(world, 1);
        TdlVec3 fall = {0.0, 0.0, -0.5 * G * 1.0e-6 * step * (step + 1)};
        TdlVec3 centre = tdl_scene_observe(scene, 0, world);
        off = fmax(off, tdl_norm3(tdl_sub3(tdl_sub3(centre, start), fall)));
        off = fmax(off,
                   tdl_norm3(tdl_sub3(tdl_sub3(tdl_scene_observe(scene, 1, world), other), fall)));
        TdlVec3 now = tdl_sub3(look_rod_point(world, rod, 0.3), centre);
        swing = fmax(swing, tdl_norm3(tdl_sub3(now, end)));
    }
    printf("  %s: off by %.2g m, the end swings by %.2g m\n", model, off, swing);
    CHECK_BELOW(off, 1.0e-10);
    CHECK(swinging == (swing > 0.01));
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}

TEST(the_centre_of_a_free_rod_falls_as_a_stone) {
    check_fall("super-helix", false);
    check_fall("super-clothoid", false);
    check_fall("der", true);
    check_fall("corde", true);
}

// A helix of six turns in one element, against the integral of its formula.
TEST(the_centre_of_a_tight_helix_is_its_formula) {
    TdlScene* scene = load("time: {end: 1}\n"
                           "materials: [{name: wire, young: 1e8}]\n"
                           "rods:\n"
                           "  - {name: curl, material: wire, length: 0.3, radius: 1e-4,\n"
                           "     elements: 1, natural_curvature: [30, 120, 0]}\n"
                           "observe: [{centre: curl}]\n");
    REQUIRE(scene != NULL);
    TdlWorld* world = build(scene);
    // e1(s) turns about the Darboux vector w = (30, 120, 0) in the frame of the start:
    // r(s) = (t.u) u s + sin(w s)/w t' - (cos(w s) - 1)/w u x t', t' = t - (t.u) u
    double w = hypot(30.0, 120.0), length = 0.3, along = 30.0 / w;
    TdlVec3 u = {30.0 / w, 120.0 / w, 0.0}, t = {1.0, 0.0, 0.0};
    TdlVec3 across = tdl_axpy3(t, -along, u), third = tdl_cross3(u, across);
    TdlVec3 mean = tdl_scale3(0.5 * along * length, u);
    mean = tdl_axpy3(mean, (1.0 - cos(w * length)) / (w * w * length), across);
    mean = tdl_axpy3(mean, (1.0 - sin(w * length) / (w * length)) / w, third);
    // the clamp's second axis is chosen by the scene: compare along the tangent and in length
    TdlVec3 seen = tdl_scene_observe(scene, 0, world);
    CHECK_NEAR(seen.x, mean.x, 1.0e-11);
    CHECK_NEAR(tdl_norm3(seen), tdl_norm3(mean), 1.0e-11);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}

TEST(the_centre_of_a_body_is_where_its_mass_is) {
    // Half a ring from the origin, tangent along x: the centre lies R beside, and 2 Rc / pi along,
    // where Rc = R + a^2 / (4 R), for the outer half of a tube of radius a has more of the mass.
    TdlScene* scene =
        load("time: {end: 1}\n"
             "gravity: [0, 0, 0]\n"
             "bodies:\n"
             "  - {name: hoop, shape: curves, radius: 1e-3, velocity: [0, 1, 0],\n"
             "     pieces: [{length: 0.3141592653589793, curvature: [0, 0, 10]}]}\n"
             "  - {name: balls, shape: sphere, radius: 0.1, position: [5, 0, 0],\n"
             "     repeat: {count: [2, 1, 1], spacing: [1, 0, 0], centred: false}}\n"
             "observe: [{centre: hoop}, {centre: balls}, {centre: balls, copy: 1}]\n");
    REQUIRE(scene != NULL);
    TdlWorld* world = build(scene);
    TdlVec3 hoop = tdl_scene_observe(scene, 0, world);
    // the axis it bends about is chosen by the scene
    CHECK_NEAR(hoop.x, 2.0 / PI * (0.1 + 1.0e-6 / 0.4), 1.0e-12);
    CHECK_NEAR(hypot(hoop.y, hoop.z), 0.1, 1.0e-12);
    CHECK_NEAR3(tdl_scene_observe(scene, 1, world), ((TdlVec3){5.5, 0.0, 0.0}), 1.0e-14);
    CHECK_NEAR3(tdl_scene_observe(scene, 2, world), ((TdlVec3){6.0, 0.0, 0.0}), 1.0e-14);
    go(world, 10);
    TdlVec3 moved = tdl_sub3(tdl_scene_observe(scene, 0, world), hoop);
    CHECK_NEAR3(moved, ((TdlVec3){0.0, 0.01, 0.0}), 1.0e-12);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}

TEST(a_probe_is_the_point_of_the_rod) {
    TdlScene* scene = load("time: {end: 1}\n"
                           "materials: [{name: wire, young: 1e8}]\n"
                           "rods:\n"
                           "  - {name: first, material: wire, length: 0.1, radius: 1e-3,\n"
                           "     clamp: {position: [0, 5, 0]}}\n"
                           "  - {name: strand, material: wire, length: 0.3, radius: 1e-3,\n"
                           "     elements: 5, repeat: {count: [1, 3, 1], spacing: [0, 1, 0]}}\n"
                           "observe:\n"
                           "  - {point: strand, at: 0.1234, copy: 2, name: probe}\n"
                           "  - {point: first}\n"
                           "  - {point: strand, at: 0, copy: 0}\n");
    REQUIRE(scene != NULL);
    CHECK_INT(tdl_scene_info(scene).observer_count, 3);
    static const char* const NAMES[] = {"probe", "point_first", "point_strand_0"};
    for (int i = 0; i < 3; ++i) {
        CHECK_TEXT(tdl_scene_observer(scene, i).name, NAMES[i]);
        CHECK_TEXT(tdl_scene_observer(scene, i).quantity, "point");
        CHECK_TEXT(tdl_scene_observer(scene, i).unit, "m");
    }
    TdlWorld* world = build(scene);
    for (int step = 0; step < 20; ++step) {
        go(world, 1);
        const TdlVec3 expected[] = {look_rod_point(world, look_body(world, "rod", 3), 0.1234),
                                    look_rod_point(world, look_body(world, "rod", 0), 0.1),
                                    look_rod_point(world, look_body(world, "rod", 1), 0.0)};
        for (int i = 0; i < 3; ++i) {
            TdlVec3 seen = tdl_scene_observe(scene, i, world);
            CHECK(memcmp(&seen, &expected[i], sizeof seen) == 0);
        }
    }
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
}

// --- log.csv -------------------------------------------------------------------------------------

static const char RUN_OBSERVERS[] = "observe:\n"
                                    "  - {force: ball}\n"
                                    "  - {torque: ball}\n"
                                    "  - {centre: a}\n"
                                    "  - {point: shaken, at: 0.15}\n";

// brings the ball under one of the rods
static const char* const SET[] = {"colliders.ball.position=[0, 0.1, -0.051]"};

static bool stop_at_70(void* user, const TdlStepInfo* info, long step_total) {
    (void)user;
    (void)step_total;
    return info->step != 70;
}

static TdlStatus run_into(const TdlHost* host, const Scratch* scratch, const char* folder,
                          bool stopped, TdlRunInfo* info) {
    TdlScene* scene;
    TdlStatus status = tdl_scene_load(host, scratch_path(scratch, "scene.yaml"), SET, 1, &scene);
    if (status == TDL_STATUS_OK) {
        TdlRunDef def = {
            .directory = folder, .thread_count = 1, .progress = stopped ? stop_at_70 : NULL};
        status = tdl_run(host, scene, &def, info);
        tdl_scene_destroy(scene);
    }
    return status;
}

static void write_scene(const Scratch* scratch) {
    char text[4096];
    int size = snprintf(text, sizeof text, "%s%s", RUN_SCENE, RUN_OBSERVERS);
    scratch_write(scratch_path(scratch, "scene.yaml"), text, (size_t)size);
}

// The last `count` numbers of a row that ends at `end`.
static void last_numbers(const char* end, int count, double* out) {
    for (int i = count - 1; i >= 0; --i) {
        do {
            --end;
        } while (*end != ',');
        out[i] = strtod(end + 1, NULL);
    }
}

TEST(the_log_has_a_column_for_each_component) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    write_scene(&scratch);
    const char* folder = scratch_path(&scratch, "run");
    TdlRunInfo info;
    REQUIRE(run_into(&host, &scratch, folder, false, &info) == TDL_STATUS_OK);
    char* text = scratch_read(in_folder(folder, "log.csv"), NULL);
    REQUIRE(text != NULL);
    char* line_end = strchr(text, '\n');
    static const char NAMES[] = ",joint_error,effort,force_ball_x,force_ball_y,force_ball_z,"
                                "torque_ball_x,torque_ball_y,torque_ball_z,centre_a_x,centre_a_y,"
                                "centre_a_z,point_shaken_x,point_shaken_y,point_shaken_z";
    CHECK(line_end - text > (long)strlen(NAMES) &&
          strncmp(line_end - strlen(NAMES), NAMES, strlen(NAMES)) == 0);

    // the same scene stepped by hand has the same numbers, to the bit
    TdlScene* scene;
    REQUIRE(tdl_scene_load(&host, scratch_path(&scratch, "scene.yaml"), SET, 1, &scene) ==
            TDL_STATUS_OK);
    TdlWorld* world = build(scene);
    double force = 0.0, torque = 0.0;
    for (int step = 0; step < 200; ++step) {
        go(world, 1);
        line_end = strchr(line_end + 1, '\n');
        REQUIRE(line_end != NULL);
        double row[12];
        last_numbers(line_end, 12, row);
        for (int i = 0; i < 4; ++i) {
            TdlVec3 value = tdl_scene_observe(scene, i, world);
            CHECK(memcmp(&value, row + 3 * i, sizeof value) == 0);
        }
        force = fmax(force, fabs(row[2]));
        torque = fmax(torque, fabs(row[4]));
    }
    CHECK(force > 0.0 && torque > 0.0); // it was touched
    free(text);
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);

    // and who reads only the last row still can
    TdlStepInfo last;
    REQUIRE(tdl_run_inspect(&host, folder, &info, &last, NULL) == TDL_STATUS_OK);
    CHECK_INT(last.step, 200);
    CHECK(last.energy.kinetic == info.energy.kinetic);
    scratch_remove(&scratch);
}

// The number after so many commas of the row of a step, from 1.
static double log_number(const char* text, int step, int column) {
    for (int i = 0; i < step; ++i) {
        text = strchr(text, '\n') + 1;
    }
    for (int i = 0; i < column; ++i) {
        text = strchr(text, ',') + 1;
    }
    return strtod(text, NULL);
}

TEST(the_result_has_what_the_log_has_at_its_frames) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    write_scene(&scratch);
    const char* folder = scratch_path(&scratch, "run");
    TdlRunInfo run;
    REQUIRE(run_into(&host, &scratch, folder, false, &run) == TDL_STATUS_OK);
    char* text = scratch_read(in_folder(folder, "log.csv"), NULL);
    TdlResult* result;
    REQUIRE(text != NULL && tdl_result_open(&host, folder, &result) == TDL_STATUS_OK);
    TdlResultInfo info = tdl_result_info(result);
    REQUIRE(info.observer_count == 4 && info.frame_count == 21);
    CHECK_TEXT(tdl_result_observer(result, 0).name, "force_ball");
    CHECK_TEXT(tdl_result_observer(result, 1).quantity, "torque");
    CHECK_TEXT(tdl_result_observer(result, 3).unit, "m");
    int before = 0; // columns of every step
    for (const char* at = text; strncmp(at, "force_ball_x", 12) != 0; at = strchr(at, ',') + 1) {
        ++before;
    }
    for (int frame = 1; frame < 21; ++frame) { // every ten steps
        TdlVec3 values[4];
        REQUIRE(tdl_result_read_observed(result, frame, values) == TDL_STATUS_OK);
        for (int i = 0; i < 4; ++i) {
            TdlVec3 row = {log_number(text, 10 * frame, before + 3 * i),
                           log_number(text, 10 * frame, before + 3 * i + 1),
                           log_number(text, 10 * frame, before + 3 * i + 2)};
            CHECK(memcmp(&row, &values[i], sizeof row) == 0);
        }
    }
    tdl_result_close(result);
    free(text);
    scratch_remove(&scratch);
}

TEST(a_resumed_run_observes_the_same) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    write_scene(&scratch);
    const char *whole = scratch_path(&scratch, "whole"), *parts = scratch_path(&scratch, "parts");
    TdlRunInfo info;
    REQUIRE(run_into(&host, &scratch, whole, false, &info) == TDL_STATUS_OK);
    REQUIRE(run_into(&host, &scratch, parts, true, &info) == TDL_STATUS_STOPPED);
    TdlRunDef def = {.directory = parts, .thread_count = 1};
    REQUIRE(tdl_run_resume(&host, &def, &info) == TDL_STATUS_OK);
    CHECK_INT(info.steps_here, 130);
    CHECK_SAME_RUNS(parts, whole);
    scratch_remove(&scratch);
}

TEST(a_log_of_other_columns_is_not_gone_on_with) {
    Scratch scratch = scratch_make();
    Heard heard;
    TdlHost host = scratch_host(&heard);
    write_scene(&scratch);
    const char* folder = scratch_path(&scratch, "run");
    TdlRunInfo info;
    REQUIRE(run_into(&host, &scratch, folder, true, &info) == TDL_STATUS_STOPPED);
    size_t size;
    char* text = scratch_read(in_folder(folder, "log.csv"), &size);
    char* name = strstr(text, "force_ball_z");
    REQUIRE(name != NULL);
    name[6] = 'f';
    scratch_write(in_folder(folder, "log.csv"), text, size);
    TdlRunDef def = {.directory = folder, .thread_count = 1};
    CHECK_INT(tdl_run_resume(&host, &def, &info), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(heard.last, "not the log that the checkpoint belongs to") != NULL);

    // a last row whose observed part is no number
    char* end = strrchr(text, ',');
    end[1] = 'x';
    scratch_write(in_folder(folder, "log.csv"), text, size);
    TdlStepInfo last;
    CHECK_INT(tdl_run_inspect(&host, folder, &info, &last, NULL), TDL_STATUS_BAD_INPUT);
    CHECK(strstr(heard.last, "its last row is not one of Tendril's") != NULL);
    free(text);
    scratch_remove(&scratch);
}

// --- holds ---------------------------------------------------------------------------------------

TEST(a_hold_carries_what_hangs) {
    static const char* const models[] = {"super-helix", "super-clothoid", "der", "mass-spring",
                                         "corde"};
    for (int k = 0; k < 5; ++k) {
        char text[512];
        snprintf(
            text, sizeof text,
            "time: {end: 1}\n"
            "materials: [{name: r, young: 1e7, density: 1000, damping: 0.01,\n"
            "             mass_damping: 30}]\n"
            "rods:\n"
            "  - {name: rope, material: r, model: %s, length: 0.2, radius: 2e-3, elements: 8,\n"
            "     clamp: {direction: [0, 0, -1]}, loads: [{at: 0.2, force: [0, 0, -0.3]}]}\n"
            "observe:\n"
            "  - {start_hold: rope}\n"
            "  - {end_hold: rope}\n",
            models[k]);
        TdlScene* scene = load(text);
        REQUIRE(scene != NULL);
        TdlWorld* world = build(scene);
        CHECK_NEAR3(tdl_scene_observe(scene, 0, world), ((TdlVec3){0}), 0.0);
        go(world, 600);
        double weight = 1000.0 * PI * 4.0e-6 * 0.2 * G + 0.3;
        CHECK_NEAR3(tdl_scene_observe(scene, 0, world), ((TdlVec3){0, 0, weight}), 1e-6 * weight);
        CHECK_NEAR3(tdl_scene_observe(scene, 1, world), ((TdlVec3){0}), 0.0);
        tdl_world_destroy(world);
        tdl_scene_destroy(scene);
    }
}
