// Super-clothoids in a world: a curl let go, a free rod, a pinned one under loads, a moving clamp.
#include "look.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"

static TdlWorld* make_world(double dt, const TdlRodDef* rod, TdlBodyId* id) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.contacts.off = true;
    def.step = dt;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK ||
        tdl_world_add_rod(world, rod, id) != TDL_STATUS_OK) {
        abort();
    }
    return world;
}

static void step(TdlWorld* world, int count) {
    for (int i = 0; i < count; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

TEST(a_curl_let_go_never_gains_energy_and_ends_at_equilibrium) {
    const double steps[] = {3.0e-3, 1.0e-2};
    TdlRodDef def = tdl_rod_def_default();
    def.model = "super-clothoid";
    def.length = 0.305;
    def.element_count = 8;
    def.natural_curvature = (TdlVec3){0.0, 100.0, 0.0};
    def.curvature = (TdlVec3){0.0, 100.0, 1.0}; // a little out of the plane, where it has a saddle
    def.damping = 0.18;
    for (int k = 0; k < 2; ++k) {
        TdlBodyId id;
        TdlWorld *moving = make_world(steps[k], &def, &id), *still = make_world(1.0, &def, &id);
        CHECK_INT(tdl_world_settle(still, NULL), TDL_STATUS_OK);
        double energy = total(tdl_world_energy(moving));
        double scale = look_rod_info(still, id).mass * 9.81 * def.length;
        for (int i = 0; i < lround(10.0 / steps[k]); ++i) {
            TdlStepInfo info;
            REQUIRE(tdl_world_step(moving, &info) == TDL_STATUS_OK);
            CHECK(total(info.energy) <= energy + 1.0e-13 * scale); // rounding of the sum
            energy = total(info.energy);
        }
        TdlVec3 rest = look_rod_point(still, id, def.length);
        double off = tdl_norm3(tdl_sub3(look_rod_point(moving, id, def.length), rest));
        printf("  dt %g: tip off by %.1e L after 10 s\n", steps[k], off / def.length);
        CHECK_BELOW(off, 1.0e-5 * def.length);
        tdl_world_destroy(moving);
        tdl_world_destroy(still);
    }
}

TEST(both_super_models_swing_alike) {
    // the same curl with more and more elements: the clothoid's path is the helix's limit
    TdlRodDef def = tdl_rod_def_default();
    def.length = 0.15;
    def.natural_curvature = (TdlVec3){5.0, 40.0, 10.0};
    def.damping = 0.02;
    TdlVec3 tip[3];
    const char* models[] = {"super-clothoid", "super-helix", "super-helix"};
    const int counts[] = {16, 24, 48};
    for (int k = 0; k < 3; ++k) {
        TdlBodyId id;
        def.model = models[k];
        def.element_count = counts[k];
        TdlWorld* world = make_world(2.0e-3, &def, &id);
        step(world, 60);
        tip[k] = look_rod_point(world, id, def.length);
        tdl_world_destroy(world);
    }
    double coarse = tdl_norm3(tdl_sub3(tip[1], tip[0])) / def.length;
    double fine = tdl_norm3(tdl_sub3(tip[2], tip[0])) / def.length;
    printf("  at 0.12 s the helix of 24 elements is %.1e L away, that of 48 %.1e L\n", coarse,
           fine);
    CHECK_BELOW(fine, 0.35 * coarse); // second order: a quarter
    CHECK_BELOW(fine, 2.0e-3);
}

static TdlRodDef bent(TdlHold start) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = "super-clothoid";
    def.length = 0.2;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.young = 1.0e7;
    def.density = 1200.0;
    def.element_count = 5;
    def.natural_curvature = (TdlVec3){3.0, 10.0, -4.0};
    def.curvature = tdl_scale3(1.4, def.natural_curvature);
    def.clamp.rotation = tdl_rotation_exp((TdlVec3){0.3, -0.5, 0.9});
    def.start = start;
    return def;
}

static TdlVec3 centre(const TdlWorld* world, TdlBodyId rod) {
    enum { SAMPLES = 40, COUNT = 5 * SAMPLES };
    TdlVec3 points[COUNT + 1], sum = {0};
    look_rod_points(world, rod, SAMPLES, points);
    for (int i = 0; i <= COUNT; ++i) { // Simpson
        double weight = i == 0 || i == COUNT ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
        sum = tdl_axpy3(sum, weight / (3.0 * COUNT), points[i]);
    }
    return sum;
}

TEST(a_free_rod_falls_as_a_stone_while_it_wobbles) {
    double dt = 2.0e-4;
    TdlRodDef def = bent(TDL_HOLD_FREE);
    TdlBodyId rod;
    TdlWorld* world = make_world(dt, &def, &rod);
    TdlVec3 before = centre(world, rod);
    step(world, 500);
    TdlVec3 fallen = tdl_sub3(centre(world, rod), before);
    // velocity n dt g in step n; positions advance along chords of turning parts, hence order dt
    double expected = -0.5 * 9.81 * dt * dt * 500.0 * 501.0;
    CHECK_NEAR(fallen.z, expected, 4.0e-3 * fabs(expected));
    CHECK_NEAR(hypot(fallen.x, fallen.y), 0.0, 4.0e-3 * fabs(expected));
    tdl_world_destroy(world);
}

TEST(a_loaded_pinned_rod_comes_to_rest_where_statics_puts_it) {
    TdlRodLoad loads[2] = {{.at = 0.2, .force = {0.02, 0.01, 0.0}},
                           {.at = 0.09, .force = {0.0, -0.03, 0.01}}};
    TdlRodDef def = bent(TDL_HOLD_PINNED);
    def.loads = loads;
    def.load_count = 2;
    def.mass_damping = 20.0;
    def.damping = 0.01;
    TdlVec3 tip[2];
    for (int k = 0; k < 2; ++k) {
        TdlBodyId rod;
        TdlWorld* world = make_world(5.0e-3, &def, &rod);
        if (k == 0) {
            step(world, 800);
        } else {
            CHECK_INT(tdl_world_settle(world, NULL), TDL_STATUS_OK);
        }
        tip[k] = look_rod_point(world, rod, 0.2);
        CHECK_NEAR3(look_rod_point(world, rod, 0.0), ((TdlVec3){0}), 0.0);
        tdl_world_destroy(world);
    }
    CHECK_NEAR3(tip[0], tip[1], 1.0e-8);
}

TEST(a_clamp_that_moves_takes_the_rod_along) {
    // 0.1 m aside and a half turn about the vertical in 0.5 s, then rest
    TdlKeyframe keys[2] = {{.time = 0.0},
                           {.time = 0.5, .position = {0.1, 0.0, 0.0}, .rotation = {0.0, 0.0, 3.0}}};
    TdlRodDef def = bent(TDL_HOLD_CLAMPED), still = def;
    TdlMat3 turn = tdl_rotation_exp(keys[1].rotation);
    def.motion =
        (TdlMotionDef){.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_SMOOTH};
    def.damping = 0.05;
    def.mass_damping = 20.0;
    TdlBodyId rod, other;
    TdlWorld *world = make_world(3.0e-3, &def, &rod), *settled = make_world(1.0, &still, &other);
    step(world, 1000);
    CHECK_INT(tdl_world_settle(settled, NULL), TDL_STATUS_OK);
    TdlVec3 expected = tdl_mul33_3(turn, look_rod_point(settled, other, 0.2));
    expected = tdl_add3(expected, keys[1].position);
    CHECK_NEAR3(look_rod_point(world, rod, 0.2), expected, 1.0e-7);
    tdl_world_destroy(world);
    tdl_world_destroy(settled);
}
