#include "base/rng.h"
#include "counting_allocator.h"
#include "look.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"

static const TdlKeyframe WHIP[] = {
    {.time = 0.0},
    {.time = 0.05, .position = {0.02, 0.0, 0.01}, .rotation = {0.0, 0.5, 0.3}},
    {.time = 0.1, .rotation = {0.0, -0.4, 0.0}},
};

// A small wisp: some fibres still, some with moving clamps.
static TdlStatus make_wisp(const TdlHost* host, int threads, TdlWorld** world) {
    TdlWorldDef def = tdl_world_def_default();
    def.contacts.off = true;
    def.thread_count = threads;
    TdlStatus status = tdl_world_create(host, &def, world);
    Rng rng = rng_seed(5);
    for (int i = 0; i < 23 && status == TDL_STATUS_OK; ++i) {
        TdlRodDef rod = tdl_rod_def_default();
        rod.length = rng_range(&rng, 0.05, 0.2);
        rod.element_count = 3 + i % 5;
        rod.natural_curvature = (TdlVec3){rng_normal(&rng), 30.0 * rng_normal(&rng), 0.0};
        rod.damping = 0.01;
        rod.clamp.position.x = 0.01 * i;
        if (i % 3 == 0) {
            rod.motion = (TdlMotionDef){
                .keys = WHIP, .key_count = 3, .interpolation = TDL_INTERPOLATION_SMOOTH};
        }
        TdlBodyId id;
        status = tdl_world_add_rod(*world, &rod, &id);
    }
    if (status == TDL_STATUS_OK) {
        TdlColliderDef ball = tdl_collider_def_default();
        ball.motion =
            (TdlMotionDef){.keys = WHIP, .key_count = 3, .interpolation = TDL_INTERPOLATION_LINEAR};
        TdlBodyId id;
        status = tdl_world_add_collider(*world, &ball, &id);
    }
    return status;
}

static uint64_t run_steps(TdlWorld* world, int count) {
    for (int i = 0; i < count; ++i) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    }
    return tdl_world_state_hash(world);
}

TEST(the_bits_do_not_depend_on_the_number_of_threads) {
    TdlHost host = tdl_host_default();
    uint64_t first = 0;
    for (int threads = 1; threads <= 4; ++threads) {
        TdlWorld* world;
        REQUIRE(make_wisp(&host, threads, &world) == TDL_STATUS_OK);
        uint64_t hash = run_steps(world, 150);
        first = threads == 1 ? hash : first;
        CHECK(hash == first);
        tdl_world_destroy(world);
    }
}

TEST(a_loaded_state_continues_with_the_same_bits) {
    TdlHost host = tdl_host_default();
    TdlWorld *whole, *again;
    REQUIRE(make_wisp(&host, 1, &whole) == TDL_STATUS_OK);
    REQUIRE(make_wisp(&host, 2, &again) == TDL_STATUS_OK);
    run_steps(whole, 40);
    size_t size = tdl_world_state_size(whole);
    char* state = malloc(size);
    tdl_world_save_state(whole, state);
    CHECK_INT(tdl_world_load_state(again, state, size), TDL_STATUS_OK);
    CHECK(tdl_world_state_hash(again) == tdl_world_state_hash(whole));
    CHECK(run_steps(again, 40) == run_steps(whole, 40));
    CHECK_INT(tdl_world_load_state(again, state, size - 1), TDL_STATUS_BAD_INPUT);
    memset(state, 0xff, 8);
    CHECK_INT(tdl_world_load_state(again, state, size), TDL_STATUS_BAD_INPUT);
    free(state);
    tdl_world_destroy(whole);
    tdl_world_destroy(again);
}

TEST(a_step_allocates_nothing_after_the_first) {
    AllocCounter counter = {0};
    TdlHost host = tdl_host_default();
    host.mem = counting_allocator(&counter);
    TdlWorld* world;
    REQUIRE(make_wisp(&host, 2, &world) == TDL_STATUS_OK);
    run_steps(world, 1);
    long calls = counter.calls;
    run_steps(world, 100);
    CHECK_INT(counter.calls, calls);
    tdl_world_destroy(world);
    CHECK_INT(counter.live, 0);
}

TEST(every_failed_allocation_is_reported_and_leaks_nothing) {
    long total = 0;
    for (long fail_at = 1; fail_at == 1 || fail_at <= total; ++fail_at) {
        AllocCounter counter = {.fail_at = fail_at};
        TdlHost host = tdl_host_default();
        host.mem = counting_allocator(&counter);
        TdlWorld* world = NULL;
        TdlStatus status = make_wisp(&host, 1, &world);
        if (status == TDL_STATUS_OK) {
            status = tdl_world_step(world, NULL);
        }
        CHECK_INT(status, TDL_STATUS_NO_MEMORY);
        tdl_world_destroy(world);
        CHECK_INT(counter.live, 0);
        if (fail_at == 1) { // count what a whole run needs
            AllocCounter all = {0};
            host.mem.user = &all;
            REQUIRE(make_wisp(&host, 1, &world) == TDL_STATUS_OK);
            run_steps(world, 1);
            total = all.calls;
            tdl_world_destroy(world);
        }
    }
    CHECK(total > 50);
}

TEST(a_clamp_that_accelerates_feels_like_gravity) {
    // a rod pulled by its clamp with constant acceleration, seen from the clamp, moves like a rod
    // with a still clamp under the opposite gravity
    TdlHost host = tdl_host_default();
    enum { STEPS = 200 };
    const double dt = 1.0e-3, a = 5.0;
    static TdlKeyframe keys[STEPS + 1];
    for (int i = 0; i <= STEPS; ++i) {
        // the scheme takes mean velocities: x_n = a dt^2 n (n + 1) / 2 gives it steps of a dt
        keys[i] = (TdlKeyframe){.time = i * dt, .position.z = 0.5 * a * dt * dt * i * (i + 1)};
    }
    TdlVec3 tip[2];
    for (int k = 0; k < 2; ++k) {
        TdlWorldDef def = tdl_world_def_default();
        def.contacts.off = true;
        def.gravity = k == 0 ? (TdlVec3){0} : (TdlVec3){0.0, 0.0, -a};
        TdlRodDef rod = tdl_rod_def_default();
        rod.natural_curvature = (TdlVec3){2.0, 20.0, 10.0};
        rod.damping = 0.01;
        if (k == 0) {
            rod.motion = (TdlMotionDef){
                .keys = keys, .key_count = STEPS + 1, .interpolation = TDL_INTERPOLATION_LINEAR};
        }
        TdlWorld* world;
        TdlBodyId id;
        REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        REQUIRE(tdl_world_add_rod(world, &rod, &id) == TDL_STATUS_OK);
        run_steps(world, STEPS);
        tip[k] = tdl_sub3(look_rod_point(world, id, 0.1), look_rod_point(world, id, 0.0));
        tdl_world_destroy(world);
    }
    CHECK_NEAR3(tip[0], tip[1], 1.0e-9);
}

// A swinging rod's tip after some steps, with damping of its material or while the world settles.
static TdlVec3 settled_tip(double mass_damping, double settle, double settle_damping) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.contacts.off = true;
    def.settle = settle;
    def.settle_damping = settle_damping;
    TdlWorld* world;
    CHECK_INT(tdl_world_create(&host, &def, &world), TDL_STATUS_OK);
    TdlRodDef rod = tdl_rod_def_default();
    rod.mass_damping = mass_damping;
    TdlBodyId id;
    CHECK_INT(tdl_world_add_rod(world, &rod, &id), TDL_STATUS_OK);
    run_steps(world, 50);
    TdlVec3 tip = look_rod_point(world, id, look_rod_info(world, id).length);
    tdl_world_destroy(world);
    return tip;
}

TEST(settling_damps_as_a_material_does_and_ends) {
    TdlVec3 free = settled_tip(0.0, 0.0, 0.0), slow = settled_tip(30.0, 0.0, 0.0);
    CHECK(tdl_norm3(tdl_sub3(free, slow)) > 1.0e-3);
    // it falls by 5e-14 of itself in these steps
    CHECK_NEAR3(settled_tip(0.0, 1.0e12, 30.0), slow, 1.0e-12);
    CHECK_NEAR3(settled_tip(10.0, 1.0e12, 20.0), slow, 1.0e-12);
    // over after the first step: no more than that step's loss
    CHECK(tdl_norm3(tdl_sub3(settled_tip(0.0, 1.0e-3, 30.0), free)) <
          0.1 * tdl_norm3(tdl_sub3(slow, free)));
    CHECK(tdl_norm3(tdl_sub3(settled_tip(0.0, 0.025, 30.0), free)) > 1.0e-4);
}

TEST(keyframes_are_passed_through_and_held_at_the_ends) {
    TdlHost host = tdl_host_default();
    for (int k = 0; k < 2; ++k) {
        TdlWorldDef def = tdl_world_def_default();
        def.contacts.off = true;
        def.step = 0.025;
        TdlColliderDef ball = tdl_collider_def_default();
        ball.pose.position = (TdlVec3){1.0, 2.0, 3.0};
        ball.motion = (TdlMotionDef){.keys = WHIP,
                                     .key_count = 3,
                                     .interpolation = k == 0 ? TDL_INTERPOLATION_SMOOTH
                                                             : TDL_INTERPOLATION_LINEAR};
        TdlWorld* world;
        TdlBodyId id;
        REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        REQUIRE(tdl_world_add_collider(world, &ball, &id) == TDL_STATUS_OK);
        for (int step = 0; step <= 6; ++step) {
            TdlPose pose = look_collider_pose(world, 0);
            TdlVec3 moved = tdl_sub3(pose.position, ball.pose.position);
            if (step % 2 == 0) {
                const TdlKeyframe* key = &WHIP[step / 2 < 2 ? step / 2 : 2];
                CHECK_NEAR3(moved, key->position, 1.0e-15);
                CHECK_NEAR3(tdl_rotation_log(pose.rotation), key->rotation, 1.0e-15);
            } else if (step == 1) { // half-way in time is half-way in place for both kinds
                CHECK_NEAR3(moved, tdl_scale3(0.5, WHIP[1].position), 1.0e-15);
            }
            tdl_world_step(world, NULL);
        }
        tdl_world_destroy(world);
    }
}

TEST(bodies_are_found_by_their_names) {
    TdlHost host = tdl_host_default();
    TdlWorld* world;
    REQUIRE(make_wisp(&host, 1, &world) == TDL_STATUS_OK);
    TdlBodyId third = tdl_world_body(world, "rod", 2), ball = tdl_world_body(world, "collider", 0);
    CHECK_INT(tdl_world_find(world, "curl").index, 0); // nothing has a name yet
    CHECK_INT(tdl_body_set_name(world, third, "curl"), TDL_STATUS_OK);
    CHECK_INT(tdl_body_set_name(world, ball, "curl"), TDL_STATUS_OK);
    CHECK(tdl_body_id_equal(tdl_world_find(world, "curl"), third)); // the first of that name
    CHECK_INT(tdl_world_find(world, "cur").index, 0);
    CHECK_INT(tdl_world_find(world, NULL).index, 0);
    CHECK_INT(tdl_world_remove(world, third), TDL_STATUS_OK);
    CHECK(tdl_body_id_equal(tdl_world_find(world, "curl"), ball));
    tdl_world_destroy(world);
}

TEST(bad_worlds_and_motions_are_refused) {
    TdlHost host = tdl_host_default();
    TdlWorld* world = NULL;
    TdlWorldDef def = tdl_world_def_default();
    def.contacts.off = true;
    def.step = 0.0;
    CHECK_INT(tdl_world_create(&host, &def, &world), TDL_STATUS_BAD_ARGUMENT);
    def = tdl_world_def_default();
    def.contacts.off = true;
    def.gravity.x = NAN;
    CHECK_INT(tdl_world_create(&host, &def, &world), TDL_STATUS_BAD_ARGUMENT);
    def = tdl_world_def_default();
    def.contacts.off = true;
    def.thread_count = -3;
    CHECK_INT(tdl_world_create(&host, &def, &world), TDL_STATUS_BAD_ARGUMENT);
    def = tdl_world_def_default();
    def.contacts.off = true;
    REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    TdlRodDef rod = tdl_rod_def_default();
    TdlKeyframe backwards[] = {{.time = 1.0}, {.time = 1.0}};
    rod.motion = (TdlMotionDef){
        .keys = backwards, .key_count = 2, .interpolation = TDL_INTERPOLATION_SMOOTH};
    TdlBodyId id;
    CHECK_INT(tdl_world_add_rod(world, &rod, &id), TDL_STATUS_BAD_ARGUMENT);
    TdlColliderDef ball = tdl_collider_def_default();
    ball.radius = -1.0;
    TdlBodyId ball_id;
    CHECK_INT(tdl_world_add_collider(world, &ball, &ball_id), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(look_count(world, "rod"), 0);
    tdl_world_destroy(world);
    tdl_world_destroy(NULL);
}
