// Rods that are not only clamped: free, pinned, loaded, dragged.
#include "look.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"

#include <string.h>

static TdlWorld* create_world(TdlVec3 gravity, TdlVec3 wind, double step) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.contacts.off = true;
    def.gravity = gravity;
    def.wind = wind;
    def.step = step;
    TdlWorld* world;
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    return world;
}

static TdlRodDef curl(void) {
    TdlRodDef def = tdl_rod_def_default();
    def.length = 0.2;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.young = 1.0e7;
    def.density = 1200.0;
    def.element_count = 6;
    def.natural_curvature = (TdlVec3){3.0, 10.0, -4.0};
    def.curvature = (TdlVec3){1.0, -6.0, 2.0};
    def.clamp.rotation = tdl_rotation_exp((TdlVec3){0.3, -0.5, 0.9});
    return def;
}

static TdlVec3 centre(const TdlWorld* world, TdlBodyId rod) {
    enum { SAMPLES = 40, ELEMENTS = 6 };
    TdlVec3 points[ELEMENTS * SAMPLES + 1], sum = {0};
    look_rod_points(world, rod, SAMPLES, points);
    for (int i = 0; i <= ELEMENTS * SAMPLES; ++i) { // Simpson
        double weight = i == 0 || i == ELEMENTS * SAMPLES ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
        sum = tdl_axpy3(sum, weight / (3.0 * ELEMENTS * SAMPLES), points[i]);
    }
    return sum;
}

static void step(TdlWorld* world, int count) {
    for (int i = 0; i < count; ++i) {
        CHECK(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

TEST(a_free_rod_falls_as_a_stone_while_it_wobbles) {
    double dt = 1.0e-4;
    TdlWorld* world = create_world((TdlVec3){0.0, 0.0, -9.81}, (TdlVec3){0}, dt);
    TdlRodDef def = curl();
    def.start = TDL_HOLD_FREE;
    // aligned with its natural curvature: sections have hardly any inertia about their axis, so a
    // free end that is not aligned rolls there at once, in jumps as long as the misalignment
    def.curvature = tdl_scale3(1.4, def.natural_curvature);
    TdlBodyId rod;
    CHECK(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
    TdlVec3 before = centre(world, rod);
    step(world, 1000);
    TdlVec3 fallen = tdl_sub3(centre(world, rod), before);
    // velocity n dt g in step n; positions advance along chords of turning parts, hence order dt
    double expected = -0.5 * 9.81 * dt * dt * 1000.0 * 1001.0;
    CHECK_NEAR(fallen.z, expected, 2.0e-3 * fabs(expected));
    CHECK_NEAR(hypot(fallen.x, fallen.y), 0.0, 2.0e-3 * fabs(expected));
    tdl_world_destroy(world);
}

TEST(a_free_rod_without_forces_never_gains_energy) {
    TdlWorld* world = create_world((TdlVec3){0}, (TdlVec3){0}, 1.0e-3);
    TdlRodDef def = curl();
    def.start = TDL_HOLD_FREE;
    TdlBodyId rod;
    CHECK(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
    TdlStepInfo info;
    TdlEnergy start = tdl_world_energy(world);
    double last = start.kinetic + start.elastic;
    for (int i = 0; i < 500; ++i) {
        CHECK(tdl_world_step(world, &info) == TDL_STATUS_OK);
        double energy = info.energy.kinetic + info.energy.elastic;
        CHECK(energy <= last * (1.0 + 1.0e-13));
        CHECK(info.substeps == 1);
        last = energy;
    }
    tdl_world_destroy(world);
}

// Drag is linear, so a free rod ends at the wind's velocity plus weight over drag.
TEST(a_free_rod_falls_with_the_wind_at_terminal_velocity) {
    double dt = 2.0e-3;
    TdlVec3 wind = {2.0, -1.0, 0.0};
    TdlWorld* world = create_world((TdlVec3){0.0, 0.0, -9.81}, wind, dt);
    TdlRodDef def = curl();
    def.start = TDL_HOLD_FREE;
    def.damping = 1.0e-2;
    def.drag = 0.05;
    TdlBodyId rod;
    CHECK(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
    step(world, 2000);
    TdlVec3 before = centre(world, rod);
    step(world, 1);
    TdlVec3 velocity = tdl_scale3(1.0 / dt, tdl_sub3(centre(world, rod), before));
    double line_density = def.density * 3.14159265358979323846 * 1.0e-6;
    TdlVec3 expected = {2.0, -1.0, -9.81 * line_density / def.drag};
    CHECK_NEAR3(velocity, expected, 1.0e-9);
    tdl_world_destroy(world);
}

// The generalised force of a point force is minus the gradient of its potential, so a damped rod
// ends where statics puts it.
TEST(a_loaded_pinned_rod_comes_to_rest_where_statics_puts_it) {
    TdlRodLoad loads[2] = {{.at = 0.2, .force = {0.02, 0.01, 0.0}},
                           {.at = 0.09, .force = {0.0, -0.03, 0.01}}};
    TdlVec3 tip[2];
    for (int k = 0; k < 2; ++k) {
        TdlWorld* world = create_world((TdlVec3){0.0, 0.0, -9.81}, (TdlVec3){0}, 5.0e-3);
        TdlRodDef def = curl();
        def.start = TDL_HOLD_PINNED;
        def.loads = loads;
        def.load_count = 2;
        def.mass_damping = 20.0;
        def.damping = 0.01;
        TdlBodyId rod;
        CHECK(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
        if (k == 0) {
            step(world, 2000);
        } else {
            CHECK(tdl_world_settle(world, NULL) == TDL_STATUS_OK);
        }
        tip[k] = look_rod_point(world, rod, 0.2);
        CHECK_NEAR3(look_rod_point(world, rod, 0.0), ((TdlVec3){0}), 0.0);
        tdl_world_destroy(world);
    }
    CHECK_NEAR3(tip[0], tip[1], 1.0e-8);
}

// A rope between two pins, heavy and without stiffness to speak of, hangs as a catenary.
static void check_catenary(const char* model, int element_count) {
    TdlWorld* world = create_world((TdlVec3){0.0, 0.0, -9.81}, (TdlVec3){0}, 1.0e-2);
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 1.0;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.young = 1.0e5;
    def.element_count = element_count;
    def.mass_damping = 3.0;
    def.damping = 0.1;
    // a half circle that hangs down, from the origin to (2/pi, 0, 0)
    def.clamp.rotation =
        tdl_frame_from_tangent_hint((TdlVec3){0.0, 0.0, -1.0}, (TdlVec3){0.0, 1.0, 0.0});
    def.curvature = (TdlVec3){0.0, -3.14159265358979323846, 0.0};
    def.start = def.end = TDL_HOLD_PINNED;
    TdlBodyId rod;
    CHECK(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
    TdlVec3 pin = look_rod_point(world, rod, 1.0);
    step(world, 1500);
    CHECK_NEAR3(look_rod_point(world, rod, 1.0), pin, 1.0e-7);

    // the elastic catenary of half length S: the half span gives the horizontal force H
    double d = 0.5 * tdl_norm3(pin), S = 0.5, area = 3.14159265358979323846e-6;
    double EA = def.young * area, w = def.density * area * 9.81, low = 1.0e-6, high = 10.0;
    for (int i = 0; i < 200; ++i) {
        double H = 0.5 * (low + high);
        *(H * S / EA + H / w * asinh(w * S / H) < d ? &low : &high) = H;
    }
    double sag = 0.5 * w * S * S / EA + low / w * (hypot(1.0, w * S / low) - 1.0);
    TdlVec3 middle = look_rod_point(world, rod, 0.5);
    printf("  %s: sag %.6f m, of the catenary %.6f m\n", model, -middle.z, sag);
    CHECK_NEAR(-middle.z, sag, 2.0e-3 * sag); // bending stiffness and few elements
    tdl_world_destroy(world);
}

TEST(a_rope_between_two_pins_hangs_as_a_catenary) {
    check_catenary("super-helix", 40);
    check_catenary("super-clothoid", 12);
}

// Both ends clamped, the far one turned and moved by keyframes: it follows.
TEST(a_clamped_end_follows_its_keyframes) {
    const char* models[3] = {"super-helix", "super-helix-dense", "super-clothoid"};
    for (int k = 0; k < 3; ++k) {
        TdlWorld* world = create_world((TdlVec3){0.0, 0.0, -9.81}, (TdlVec3){0}, 1.0e-3);
        TdlRodDef def = curl();
        def.model = models[k];
        def.damping = 0.02;
        def.clamp.rotation = tdl_identity33(); // the end moves towards the start
        TdlKeyframe keys[2] = {{0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                               {0.5, {-0.03, -0.01, 0.01}, {0.3, -0.2, 0.1}}};
        def.end = TDL_HOLD_CLAMPED;
        def.end_motion =
            (TdlMotionDef){.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_SMOOTH};
        TdlBodyId rod;
        CHECK(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
        TdlVec3 before = look_rod_point(world, rod, 0.2),
                back = look_rod_point(world, rod, 0.2 - 1e-6);
        step(world, 1000);
        TdlVec3 after = look_rod_point(world, rod, 0.2);
        CHECK_NEAR3(tdl_sub3(after, before), keys[1].position, 1.0e-8);
        TdlVec3 tangent = tdl_sub3(before, back);
        TdlVec3 turned = tdl_sub3(after, look_rod_point(world, rod, 0.2 - 1e-6));
        TdlVec3 expected = tdl_mul33_3(tdl_rotation_exp(keys[1].rotation), tangent);
        CHECK_NEAR3(tdl_unit3(turned), tdl_unit3(expected), 2.0e-5); // chords of 1e-6 m
        tdl_world_destroy(world);
    }
}

static void keep_message(void* user, TdlLogLevel level, const char* message) {
    (void)level;
    snprintf(user, 512, "%s", message);
}

// EA/4 of this rod, N.
static const double GIVES_WAY = 0.25e6 * 3.14159265358979323846e-6;

static TdlBodyId add_pinned_rod(TdlWorld* world, const char* model) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.3;
    def.young = 1.0e6;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.mass_damping = 50.0;
    def.damping = 0.02;
    def.end = TDL_HOLD_PINNED;
    TdlBodyId rod = {0};
    CHECK(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
    return rod;
}

static TdlStatus lead_end(TdlWorld* world, TdlBodyId rod, TdlVec3 place) {
    TdlPose pose = {place, tdl_identity33()};
    return tdl_body_move_to(world, rod, TDL_LED_END, pose);
}

// An end that is led beyond what the rod can be stretched to: it follows as far as its hold may
// pull, straight and in time still, and every step tells.
TEST(a_hold_that_cannot_be_met_gives_way_and_says_so) {
    const char* models[6] = {"super-helix", "super-helix-dense", "super-clothoid",
                             "der",         "mass-spring",       "corde"};
    for (int k = 0; k < 6; ++k) {
        char heard[512] = "";
        TdlHost host = tdl_host_default();
        host.log = keep_message;
        host.log_user = heard;
        TdlWorldDef world_def = tdl_world_def_default();
        world_def.step = 2.0e-3;
        world_def.holds = true;
        TdlWorld* world;
        CHECK(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
        TdlBodyId rod = add_pinned_rod(world, models[k]);
        TdlStepInfo info;
        for (int i = 0; i < 1000; ++i) {
            double way = fmin(1.0, i / 200.0);
            CHECK(lead_end(world, rod, (TdlVec3){0.3 + 0.15 * way, 0.0, 0.0}) == TDL_STATUS_OK);
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        }
        // the hold pulls with EA / 4, which stretches the rod by a quarter
        double end = look_rod_point(world, rod, 0.3).x;
        printf("  %s: led to 0.45 m, held at %.5f m\n", models[k], end);
        CHECK_NEAR(end, 1.25 * 0.3, 1.0e-3 * 0.3);
        CHECK_BELOW(info.energy.kinetic, 1.0e-12);
        CHECK(info.forced > 0);
        CHECK(strstr(heard, "the hold of rod 0 gives way: it pulls with 0.785 N") != NULL);
        TdlVec3 force;
        CHECK(tdl_rod_hold_force(world, rod, true, &force) == TDL_STATUS_OK);
        double most = GIVES_WAY;
        CHECK_NEAR3(force, ((TdlVec3){most, 0.0, force.z}), 1.0e-3 * most);
        tdl_world_destroy(world);
    }
}

// The same, and back again: the end comes back no faster than its hold may pull, nothing comes from
// nowhere, and then it is held as before.
TEST(a_hold_that_gave_way_is_met_again) {
    const char* models[6] = {"super-helix", "super-helix-dense", "super-clothoid",
                             "der",         "mass-spring",       "corde"};
    for (int k = 0; k < 6; ++k) {
        TdlHost host = tdl_host_default();
        TdlWorldDef world_def = tdl_world_def_default();
        world_def.step = 2.0e-3;
        world_def.losses = true;
        TdlWorld* world;
        CHECK(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
        TdlBodyId rod = add_pinned_rod(world, models[k]);
        TdlStepInfo info;
        double nowhere = 0.0, limit = GIVES_WAY;
        int forced = 0, last_forced = 0;
        TdlVec3 place = {0};
        for (int i = 0; i < 1000; ++i) {
            double way = i < 200 ? i / 200.0 : i < 400 ? 1.0 : fmax(0.0, 2.0 - i / 300.0);
            place = (TdlVec3){0.29 + 0.15 * way, 0.0, 0.0};
            CHECK(lead_end(world, rod, place) == TDL_STATUS_OK);
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            nowhere = fmax(nowhere, info.nowhere);
            forced += info.forced;
            last_forced = info.forced > 0 ? i : last_forced;
        }
        double off = tdl_norm3(tdl_sub3(look_rod_point(world, rod, 0.3), place));
        printf("  %s: gave way in %d steps, at last in step %d; then off by %.1e m; %.1e J from "
               "nowhere in a step, of %.1e J\n",
               models[k], forced, last_forced, off, nowhere, limit * 0.3 * 0.125);
        CHECK(forced > 100 && last_forced < 700);
        CHECK_BELOW(off, 1.0e-12);
        CHECK_BELOW(nowhere, 1.0e-9 * limit * 0.3);
        tdl_world_destroy(world);
    }
}

// A ball that lies on a held rope: the rope carries its weight, and nothing comes from nowhere.
TEST(a_held_rope_carries_a_ball) {
    const char* models[3] = {"super-helix", "super-clothoid", "der"};
    for (int k = 0; k < 6; ++k) {
        TdlHost host = tdl_host_default();
        TdlWorldDef world_def = tdl_world_def_default();
        TdlWorld* world;
        CHECK(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
        TdlRodDef def = tdl_rod_def_default();
        def.model = models[k % 3];
        def.length = 0.3;
        def.young = k < 3 ? 3.0e6 : 1.0e9;
        def.radius[0] = def.radius[1] = 1.0e-3;
        def.damping = 0.01;
        def.mass_damping = 60.0;
        def.element_count = 20;
        def.end = TDL_HOLD_CLAMPED;
        TdlBodyId rod, ball;
        CHECK(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
        TdlRigidDef rigid = tdl_rigid_def_default();
        rigid.radius = 0.01;
        rigid.density = 3000.0;
        rigid.pose.position = (TdlVec3){0.15, 0.0, 0.0111};
        CHECK(tdl_world_add_rigid(world, &rigid, &ball) == TDL_STATUS_OK);
        TdlStepInfo info;
        double nowhere = 0.0;
        for (int i = 0; i < 2000; ++i) {
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            nowhere += info.nowhere;
        }
        double weight = 3000.0 * 4.0 / 3.0 * 3.14159265358979323846 * 1.0e-6 * 9.81;
        double force = look_contact_wrench(world, "rigid", 0).force.z;
        printf("  %s, %.0e Pa: carries %.5f of %.5f N, %.1e J from nowhere\n", models[k % 3],
               def.young, force, weight, nowhere);
        CHECK_NEAR(force, weight, 0.02 * weight); // it may still swing a little
        tdl_world_destroy(world);
    }
}

typedef struct Dip {
    double lowest, nowhere, impact, given; // m, J
    int failed;
} Dip;

// A ball falls on a soft rope without damping, and is thrown back.
static Dip dip(const char* model, double young) {
    TdlHost host = tdl_host_default();
    TdlWorldDef world_def = tdl_world_def_default();
    world_def.losses = true;
    TdlWorld* world;
    CHECK(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.3;
    def.young = young;
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.element_count = 20;
    def.end = TDL_HOLD_CLAMPED;
    TdlBodyId rod, ball;
    CHECK(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
    TdlRigidDef rigid = tdl_rigid_def_default();
    rigid.radius = 0.01;
    rigid.density = 3000.0;
    rigid.pose.position = (TdlVec3){0.15, 0.0, 0.0111};
    CHECK(tdl_world_add_rigid(world, &rigid, &ball) == TDL_STATUS_OK);
    Dip out = {0};
    for (int i = 0; i < 400 && out.failed == 0; ++i) {
        TdlStepInfo info;
        out.failed = tdl_world_step(world, &info) == TDL_STATUS_OK ? 0 : i + 1;
        out.nowhere += info.nowhere;
        out.impact += info.impact;
        out.given += fabs(info.given);
        out.lowest = fmin(out.lowest, look_rod_point(world, rod, 0.15).z);
    }
    tdl_world_destroy(world);
    return out;
}

// Contacts know how a held rope stretches: the ball sinks as deep as on a rope of springs, contact
// makes no energy, and holds that stand still do no work.
TEST(a_ball_on_a_soft_rope_without_damping) {
    const char* models[3] = {"super-helix", "super-helix-dense", "super-clothoid"};
    double weight = 3000.0 * 4.0 / 3.0 * 3.14159265358979323846 * 1.0e-6 * 9.81;
    for (int soft = 0; soft < 2; ++soft) {
        double young = soft ? 1.0e6 : 3.0e6;
        Dip like = dip("der", young);
        for (int k = 0; k < 3; ++k) {
            Dip own = dip(models[k], young);
            double fall = -weight * like.lowest;
            printf("  %s, %.0e Pa: sinks by %.4f m, der by %.4f m; of its fall %.1e from nowhere, "
                   "%.1e lost in contact, %.1e given\n",
                   models[k], young, -own.lowest, -like.lowest, own.nowhere / fall,
                   own.impact / fall, own.given / fall);
            CHECK(own.failed == 0);
            CHECK_NEAR(own.lowest, like.lowest, 0.04 * fabs(like.lowest)); // of few elements
            CHECK_BELOW(own.nowhere / fall, 2.0 * like.nowhere / fall + 1.0e-6);
            CHECK_BELOW(-own.impact / fall, 0.02);
            CHECK_BELOW(own.given / fall, 1.0e-9);
        }
    }
}

// Wind that stretches a held rope gives it what it has then, and what the step itself loses goes
// with the step.
TEST(wind_on_a_held_rope_gives_what_its_stretch_holds) {
    const char* models[3] = {"super-helix", "super-helix-dense", "super-clothoid"};
    for (int k = 0; k < 6; ++k) {
        TdlHost host = tdl_host_default();
        TdlWorldDef world_def = tdl_world_def_default();
        world_def.gravity = (TdlVec3){0};
        world_def.wind = (TdlVec3){0.0, 0.0, 4.0};
        world_def.losses = true;
        world_def.step = k < 3 ? 1.0e-3 : 2.5e-4;
        TdlWorld* world;
        CHECK(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
        TdlRodDef def = tdl_rod_def_default();
        def.model = models[k % 3];
        def.length = 0.3;
        def.young = 1.0e5;
        def.radius[0] = def.radius[1] = 1.0e-3;
        def.drag = 0.05;
        def.element_count = 12;
        def.start = def.end = TDL_HOLD_PINNED;
        TdlBodyId rod;
        CHECK(tdl_world_add_rod(world, &def, &rod) == TDL_STATUS_OK);
        double given = 0.0, damping = 0.0, numerical = 0.0;
        TdlStepInfo info;
        for (int i = 0; i < (k < 3 ? 200 : 800); ++i) {
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            given += info.given;
            damping += info.damping;
            numerical += info.numerical;
        }
        double has = info.energy.kinetic + info.energy.elastic;
        printf(
            "  %s, steps of %.2f ms: has %.2e J, was given %.2e J, %.2e J were damped and %.1e J "
            "lost by the step\n",
            models[k % 3], 1.0e3 * world_def.step, has, given, damping, numerical);
        CHECK_NEAR(given, has + damping + numerical, 1.0e-9 * given);
        CHECK(numerical > 0.0);
        CHECK_BELOW(numerical, (k < 3 ? 0.1 : 0.025) * given);
        tdl_world_destroy(world);
    }
}
