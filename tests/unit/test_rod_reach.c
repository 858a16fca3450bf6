// Ends that are held further apart than a rod is long are refused before they are tried.
#include "command.h"
#include "tendril/world.h"
#include "test.h"

static TdlRodDef held_rod(const char* model, TdlHold start, TdlHold end) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.3;
    def.radius[0] = def.radius[1] = 2.0e-3;
    def.young = 1.0e7;
    def.start = start;
    def.end = end;
    return def;
}

static TdlRodReach reach_of(const TdlRodDef* def) {
    TdlHost host = tdl_host_default();
    TdlRodReach reach;
    CHECK(tdl_rod_def_reach(&host, def, 0.0, &reach) == TDL_STATUS_OK);
    return reach;
}

// Whether a world takes the rod; it must agree.
static bool is_taken(const TdlRodDef* def) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlWorldDef world_def = tdl_world_def_default();
    TdlWorld* world;
    TdlBodyId id;
    CHECK(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
    TdlStatus status = tdl_world_add_rod(world, def, &id);
    CHECK(status == TDL_STATUS_OK || status == TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_world_bodies(world, NULL, 0, NULL), status == TDL_STATUS_OK);
    tdl_world_destroy(world);
    return status == TDL_STATUS_OK;
}

TEST(an_end_that_is_led_too_far_is_refused_with_its_time) {
    static const char* const MODELS[] = {"super-helix", "super-clothoid", "der", "mass-spring",
                                         "corde"};
    for (int i = 0; i < 5; ++i) {
        // bent into an arc first: its ends are 2/k sin(k L/2) apart
        TdlRodDef def = held_rod(MODELS[i], TDL_HOLD_CLAMPED, TDL_HOLD_PINNED);
        def.curvature = (TdlVec3){0.0, 0.0, 6.0};
        TdlKeyframe keys[] = {{0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                              {1.0, {0.0, 0.0, 0.4}, {0.0, 0.0, 0.0}}};
        def.end_motion =
            (TdlMotionDef){.interpolation = TDL_INTERPOLATION_LINEAR, .keys = keys, .key_count = 2};
        TdlRodReach reach = reach_of(&def);
        CHECK(!reach.ok && !reach.across && !is_taken(&def));
        // out of the plane of the arc: d^2 + (0.4 t)^2 = most^2; nodes of a chain are on no arc
        double most = i < 2 ? 0.3 : 0.303, d = 2.0 / 6.0 * sin(0.9);
        double tolerance = i < 2 ? 1.0e-6 : 2.0e-3;
        CHECK_NEAR(reach.time, sqrt(most * most - d * d) / 0.4, tolerance);
        CHECK_NEAR(reach.distance, most, 1.0e-6);
        CHECK_NEAR(reach.length, 0.3, 0.0);
        CHECK(strstr(reach.text, "its ends are held more than"));
        keys[1].position.z = 0.05;
        CHECK(reach_of(&def).ok && is_taken(&def));
    }
}

TEST(a_rod_at_full_stretch_may_be_held_along_its_line_only) {
    TdlRodDef def = held_rod("super-helix", TDL_HOLD_CLAMPED, TDL_HOLD_CLAMPED);
    CHECK(reach_of(&def).ok && is_taken(&def));
    // about the line it may turn, about another axis not
    TdlKeyframe keys[] = {{0.5, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                          {1.0, {0.0, 0.0, 0.0}, {2.0, 0.0, 0.0}}};
    def.end_motion = (TdlMotionDef){.keys = keys, .key_count = 2};
    CHECK(reach_of(&def).ok && is_taken(&def));
    keys[1].rotation = (TdlVec3){0.0, 0.1, 0.0};
    TdlRodReach reach = reach_of(&def);
    CHECK(!reach.ok && reach.across && !is_taken(&def));
    CHECK(reach.time >= 0.5 && reach.time < 0.52);
    CHECK(strstr(reach.text, "a clamp does not look along their line"));
    // a pin does not look anywhere, and what stretches may be held so
    def.end = TDL_HOLD_PINNED;
    CHECK(reach_of(&def).ok && is_taken(&def));
    def = held_rod("der", TDL_HOLD_CLAMPED, TDL_HOLD_CLAMPED);
    def.end_motion = (TdlMotionDef){.keys = keys, .key_count = 2};
    CHECK(reach_of(&def).ok && is_taken(&def));
}

// Both ends go the same way at other times: near at all keyframes of the end, too far between.
TEST(ends_are_followed_between_keyframes) {
    TdlRodDef def = held_rod("super-helix", TDL_HOLD_PINNED, TDL_HOLD_PINNED);
    def.curvature = (TdlVec3){0.0, 0.0, 3.0};
    TdlKeyframe start[] = {{0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                           {0.4, {0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}},
                           {1.0, {0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}}};
    TdlKeyframe end[] = {{0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                         {1.0, {0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}}};
    def.motion =
        (TdlMotionDef){.interpolation = TDL_INTERPOLATION_LINEAR, .keys = start, .key_count = 3};
    def.end_motion =
        (TdlMotionDef){.interpolation = TDL_INTERPOLATION_LINEAR, .keys = end, .key_count = 2};
    TdlRodReach reach = reach_of(&def);
    double d = 2.0 / 3.0 * sin(0.45);
    CHECK(!reach.ok && !is_taken(&def));
    CHECK_NEAR(reach.time, sqrt(0.09 - d * d) / (1.0 / 0.4 - 1.0), 1.0e-6);
    start[1] = (TdlKeyframe){0.4, {0.0, 0.0, 0.4}, {0.0, 0.0, 0.0}};
    CHECK(reach_of(&def).ok && is_taken(&def));
    // smooth from rest to rest, both in the same time: no nearer and no further
    start[1].time = 0.99;
    start[1].position.z = 1.0;
    start[2].position.z = 1.0;
    def.motion.interpolation = def.end_motion.interpolation = TDL_INTERPOLATION_SMOOTH;
    CHECK(reach_of(&def).ok && is_taken(&def));
    // an end that is free is anywhere
    def = held_rod("super-helix", TDL_HOLD_CLAMPED, TDL_HOLD_FREE);
    def.end_motion = (TdlMotionDef){.keys = end, .key_count = 2};
    CHECK(reach_of(&def).ok);
}

TEST(check_refuses_what_cannot_be_held_with_file_and_line) {
    static const char SCENE[] = "time: {end: 1}\n"
                                "materials: [{name: m, young: 1e7}]\n"
                                "rods:\n"
                                "  - name: rope\n"
                                "    material: m\n"
                                "    length: 0.3\n"
                                "    radius: 2e-3\n"
                                "    end: pinned\n"
                                "    end_motion:\n"
                                "      keyframes: [{time: 0}, {time: 1, position: [0.05, 0, 0]}]\n";
    Scratch scratch = scratch_make();
    scratch_write(scratch_path(&scratch, "scene.yaml"), SCENE, strlen(SCENE));
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml"), 3);
    CHECK(command_wrote(&scratch, "stderr", "scene.yaml:10:"));
    CHECK(command_wrote(&scratch, "stderr", "the rod 'rope' cannot be held so: from "));
    CHECK(command_wrote(&scratch, "stderr", "it is 0.3 m long"));
    CHECK_INT(COMMAND(&scratch, "run", "scene.yaml", "-o", "run"), 3);
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--set", "rods.rope.model=der"), 3);
    CHECK(command_wrote(&scratch, "stderr", "may stretch by 1 %"));
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--set", "rods.rope.model=der", "--set",
                      "rods.rope.end_motion.keyframes.1.position=[2e-3, 0, 0]"),
              0);
    CHECK_INT(COMMAND(&scratch, "check", "scene.yaml", "--set",
                      "rods.rope.end_motion.keyframes.1.position=[-0.05, 0, 0]"),
              0);
    scratch_remove(&scratch);
}
