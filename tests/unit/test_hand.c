// A hand in the world: what it changes is what a world built that way has from the start.
#include "look.h"
#include "scratch.h"
#include "tendril/tendril.h"

static const TdlVec3 PULL = {1.0e-4, 2.0e-5, 3.0e-4}; // N

// Six rods of one kind, so that they step as a group, with or without a load on the fourth.
static TdlWorld* make_world(const char* model, bool loaded, TdlVec3 gravity) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.gravity = gravity;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    for (int i = 0; i < 6; ++i) {
        TdlRodDef rod = tdl_rod_def_default();
        rod.model = model;
        rod.length = 0.1;
        rod.radius[0] = rod.radius[1] = 5.0e-4;
        rod.young = 1.0e7;
        rod.element_count = 5;
        rod.damping = 0.05;
        rod.mass_damping = 20.0;
        rod.clamp.position.y = 0.05 * i;
        TdlRodLoad load = {.at = 0.1, .force = PULL};
        rod.loads = &load;
        rod.load_count = loaded && i == 3;
        TdlBodyId id;
        if (tdl_world_add_rod(world, &rod, &id) != TDL_STATUS_OK) {
            abort();
        }
    }
    return world;
}

static uint64_t run(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    }
    return tdl_world_state_hash(world);
}

static const TdlVec3 DOWN = {0.0, 0.0, -9.81};

TEST(a_pull_is_a_load) {
    const char* const models[] = {"super-helix", "super-clothoid", "der"};
    for (int m = 0; m < 3; ++m) {
        TdlWorld* loaded = make_world(models[m], true, DOWN);
        TdlWorld* pulled = make_world(models[m], false, DOWN);
        TdlBodyId id = look_body(pulled, "rod", 3);
        TdlPull other = {.at = 0.05, .force = {1.0, 1.0, 1.0}};
        TdlPull pull = {.at = 0.1, .force = PULL};
        CHECK_INT(tdl_body_pull(pulled, id, 1, &other), TDL_STATUS_OK);
        CHECK_INT(tdl_body_pull(pulled, id, 1, &pull), TDL_STATUS_OK); // in the other's place
        CHECK(run(loaded, 50) == run(pulled, 50));
        // let go, it comes to rest where one does that nobody held
        TdlWorld* free_one = make_world(models[m], false, DOWN);
        TdlVec3 far = look_rod_point(pulled, id, 0.1);
        CHECK_INT(tdl_body_pull(pulled, id, 0, NULL), TDL_STATUS_OK);
        run(pulled, 1000);
        run(free_one, 1000);
        TdlVec3 a = look_rod_point(pulled, id, 0.1), b = look_rod_point(free_one, id, 0.1);
        CHECK_BELOW(tdl_norm3(tdl_sub3(a, b)), 1.0e-5); // m
        CHECK(tdl_norm3(tdl_sub3(far, b)) > 1.0e-3);
        tdl_world_destroy(loaded);
        tdl_world_destroy(pulled);
        tdl_world_destroy(free_one);
    }
}

TEST(gravity_can_be_changed) {
    TdlWorld* built = make_world("super-helix", false, (TdlVec3){3.0, 0.0, 5.0});
    TdlWorld* changed = make_world("super-helix", false, DOWN);
    CHECK_INT(tdl_world_set_gravity(changed, (TdlVec3){3.0, 0.0, 5.0}), TDL_STATUS_OK);
    CHECK(run(built, 50) == run(changed, 50));
    CHECK(tdl_world_energy(built).gravity == tdl_world_energy(changed).gravity);
    tdl_world_destroy(built);
    tdl_world_destroy(changed);
}

static TdlStatus lead_start(TdlWorld* world, TdlBodyId id, TdlVec3 to) {
    TdlPose pose = {.rotation = tdl_identity33()};
    CHECK_INT(tdl_body_led_pose(world, id, TDL_LED_START, &pose), TDL_STATUS_OK);
    pose.position = to;
    return tdl_body_move_to(world, id, TDL_LED_START, pose);
}

TEST(a_held_start_is_led_and_the_rod_follows) {
    TdlWorld* world = make_world("super-helix", false, DOWN);
    TdlBodyId id = look_body(world, "rod", 2);
    run(world, 20);
    TdlVec3 place = look_rod_point(world, id, 0.0);
    for (int i = 1; i <= 200; ++i) {
        TdlVec3 to = {place.x + 1.0e-4 * i, place.y, place.z + 2.0e-4 * i};
        CHECK_INT(lead_start(world, id, to), TDL_STATUS_OK);
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
        CHECK_NEAR3(look_rod_point(world, id, 0.0), to, 1.0e-12); // a few roundings
    }
    run(world, 1000);
    TdlVec3 at = look_rod_point(world, id, 0.0);
    CHECK_NEAR3(at, ((TdlVec3){place.x + 0.02, place.y, place.z + 0.04}), 1.0e-12);
    // at rest it hangs as its neighbour does, beside which it has been moved
    TdlVec3 other = look_rod_point(world, look_body(world, "rod", 1), 0.1);
    TdlVec3 moved = tdl_sub3(look_rod_point(world, id, 0.1), (TdlVec3){0.02, 0.05, 0.04});
    CHECK_BELOW(tdl_norm3(tdl_sub3(moved, other)), 1.0e-5); // m
    tdl_world_destroy(world);
}

TEST(what_makes_no_sense_is_refused) {
    Heard heard;
    TdlHost host = scratch_host(&heard);
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    TdlRodDef rod = tdl_rod_def_default();
    TdlBodyId id;
    REQUIRE(tdl_world_add_rod(world, &rod, &id) == TDL_STATUS_OK);
    TdlVec3 zero = {0}, wrong = {NAN, 0.0, 0.0};
    const TdlPull bad[3] = {{.at = -0.1}, {.at = 1.0e9}, {.force = wrong}};
    for (int i = 0; i < 3; ++i) {
        CHECK_INT(tdl_body_pull(world, id, 1, &bad[i]), TDL_STATUS_BAD_ARGUMENT);
    }
    CHECK_INT(tdl_body_pull(world, (TdlBodyId){0}, 1, &bad[0]), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_world_set_gravity(world, wrong), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_world_set_friction(world, -0.1), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_world_set_friction(world, NAN), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(heard.count, 7);
    TdlPose pose = {.rotation = tdl_identity33()}, askew = {.position = wrong};
    CHECK_INT(tdl_body_move_to(world, id, TDL_LED_END, pose),
              TDL_STATUS_BAD_ARGUMENT); // it is free
    CHECK_INT(tdl_body_move_to(world, id, 2, pose), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_body_move_to(world, id, TDL_LED_START, askew), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_body_set_velocity(world, id, TDL_LED_START, zero, wrong),
              TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_body_let_go(world, (TdlBodyId){5, 1}, TDL_LED_START), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(heard.count, 12);
    tdl_world_destroy(world);
}
