// What every rod model has to do: torques, holds at both ends, drag, damping; and what becomes of
// the momenta and the energy of a free one in ten seconds.
#include "look.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"

static const char* const MODELS[] = {"super-helix", "super-helix-dense", "super-clothoid",
                                     "der",         "mass-spring",       "corde"};
enum { MODEL_COUNT = 6 };

static TdlWorld* create_world(double dt, TdlVec3 gravity, TdlVec3 wind) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.step = dt;
    def.contacts.off = true;
    def.gravity = gravity;
    def.wind = wind;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    return world;
}

static TdlRodDef cable(const char* model, int elements) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.3;
    def.radius[0] = def.radius[1] = 2.0e-3;
    def.element_count = elements;
    def.young = 1.0e6;
    return def;
}

static TdlBodyId add(TdlWorld* world, const TdlRodDef* def) {
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rod(world, def, &id), TDL_STATUS_OK);
    return id;
}

static void run(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        if (tdl_world_step(world, NULL) != TDL_STATUS_OK) {
            FAIL("step %d", i);
            return;
        }
    }
}

// How far a clamped rod with a torque at its tip ends from the arc of curvature torque / EI, over
// its length.
static double off_the_arc(const char* model, int elements) {
    TdlWorld* world = create_world(4.0e-3, (TdlVec3){0}, (TdlVec3){0});
    TdlRodDef def = cable(model, elements);
    def.young = 1.0e8; // its slowest swing is at 12 rad/s
    double bending = def.young * 0.78539816339744831 * pow(def.radius[0], 4.0);
    double kappa = 1.5 / def.length;
    TdlRodLoad load = {.at = def.length, .torque = {0.0, 0.0, bending * kappa}};
    def.loads = &load;
    def.load_count = 1;
    def.damping = 0.01;
    def.mass_damping = 10.0;
    TdlBodyId rod = add(world, &def);
    run(world, 1250);
    TdlVec3 tip = look_rod_point(world, rod, def.length);
    TdlVec3 arc = {sin(1.5) / kappa, (1.0 - cos(1.5)) / kappa, 0.0};
    tdl_world_destroy(world);
    return tdl_norm3(tdl_sub3(tip, arc)) / def.length;
}

// An arc is a shape of the super-models; chains come to it with their order.
TEST(a_torque_at_the_tip_makes_an_arc) {
    for (int k = 0; k < MODEL_COUNT; ++k) {
        double off[2] = {off_the_arc(MODELS[k], 12), off_the_arc(MODELS[k], 24)};
        printf("  %-17s tip off by %.1e, %.1e L\n", MODELS[k], off[0], off[1]);
        if (k < 3) {
            CHECK_BELOW(off[1], 1.0e-9); // what is left of the swing
        } else {
            CHECK_NEAR(log2(off[0] / off[1]), 2.0, 0.2);
        }
    }
}

// Between two holds, one of which is led away and back: the ends are where they have to be, and in
// the end the rod hangs where statics puts it.
TEST(both_ends_held_and_one_led) {
    const TdlKeyframe keys[3] = {{.time = 0.0},
                                 {.time = 0.2, .position = {0.02, 0.01, 0.03}},
                                 {.time = 0.4, .position = {-0.01, 0.0, 0.01}}};
    static const TdlHold HOLDS[2] = {TDL_HOLD_CLAMPED, TDL_HOLD_PINNED};
    for (int k = 0; k < MODEL_COUNT; ++k) {
        double off[2], hung[2];
        for (int h = 0; h < 2; ++h) {
            TdlWorld* world = create_world(2.0e-3, (TdlVec3){0.0, 0.0, -9.81}, (TdlVec3){0});
            TdlRodDef def = cable(MODELS[k], 8);
            def.damping = 0.01;
            def.mass_damping = 8.0;
            def.start = def.end = HOLDS[h];
            def.curvature = def.natural_curvature = (TdlVec3){0.0, 6.0, 0.0};
            def.end_motion = (TdlMotionDef){
                .keys = keys, .key_count = 3, .interpolation = TDL_INTERPOLATION_SMOOTH};
            TdlBodyId rod = add(world, &def);
            TdlVec3 start = look_rod_point(world, rod, 0.0), end = look_rod_point(world, rod, 0.3);
            off[h] = 0.0;
            for (int i = 0; i < 4; ++i) {
                run(world, 50);
                off[h] = fmax(off[h], tdl_norm3(tdl_sub3(look_rod_point(world, rod, 0.0), start)));
            }
            TdlVec3 led = tdl_add3(end, keys[2].position);
            run(world, 1300);
            off[h] = fmax(off[h], tdl_norm3(tdl_sub3(look_rod_point(world, rod, 0.3), led)));
            TdlVec3 middle = look_rod_point(world, rod, 0.15);
            CHECK_INT(tdl_world_settle(world, NULL), TDL_STATUS_OK);
            hung[h] = tdl_norm3(tdl_sub3(look_rod_point(world, rod, 0.15), middle));
            tdl_world_destroy(world);
        }
        printf(
            "  %-17s ends off by %.1e m (clamped), %.1e m (pinned); off statics by %.1e, %.1e m\n",
            MODELS[k], off[0], off[1], hung[0], hung[1]);
        for (int h = 0; h < 2; ++h) {
            CHECK_BELOW(off[h], 1.0e-10);
            CHECK_BELOW(hung[h], 2.0e-6); // what is left of the swing
        }
    }
}

// A free rod falls with the wind at g rho / drag, or against a mass damping at g / alpha.
TEST(drag_and_damping_make_a_terminal_velocity) {
    for (int k = 0; k < MODEL_COUNT; ++k) {
        for (int dragged = 0; dragged < 2; ++dragged) {
            TdlVec3 wind = {0.0, dragged ? 1.5 : 0.0, 0.0};
            TdlWorld* world = create_world(2.0e-3, (TdlVec3){0.0, 0.0, -9.81}, wind);
            TdlRodDef def = cable(MODELS[k], 6);
            double line = def.density * 3.14159265358979323846 * def.radius[0] * def.radius[0];
            def.start = TDL_HOLD_FREE;
            def.mass_damping = dragged ? 0.0 : 20.0;
            def.drag = dragged ? 20.0 * line : 0.0;
            TdlBodyId rod = add(world, &def);
            run(world, 1000); // 40 times the time constant
            TdlVec3 from = look_rod_point(world, rod, 0.15);
            run(world, 1);
            TdlVec3 moved = tdl_sub3(look_rod_point(world, rod, 0.15), from);
            TdlVec3 velocity = tdl_scale3(1.0 / 2.0e-3, moved);
            CHECK_NEAR3(velocity, ((TdlVec3){0.0, wind.y, -9.81 / 20.0}), 1.0e-9);
            tdl_world_destroy(world);
        }
    }
}

// Ten seconds of free flight of a rod that is let go bent and spinning about itself by what its
// bending gives. The nodal models keep their momenta; what becomes of the energy is told.
TEST(ten_seconds_of_free_flight) {
    for (int k = 0; k < MODEL_COUNT; ++k) {
        TdlWorld* world = create_world(2.0e-3, (TdlVec3){0}, (TdlVec3){0});
        TdlRodDef def = cable(MODELS[k], 6);
        def.start = TDL_HOLD_FREE;
        def.curvature = (TdlVec3){3.0, 5.0, 1.0};
        TdlBodyId rod = add(world, &def);
        TdlEnergy first = tdl_world_energy(world);
        TdlVec3 centre[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        double highest = 0.0;
        for (int part = 0; part < 2; ++part) {
            for (int i = 0; i <= 300; ++i) {
                TdlVec3 p = look_rod_point(world, rod, 0.3 * i / 300.0);
                centre[part] = tdl_axpy3(centre[part], (i % 300 == 0 ? 0.5 : 1.0) / 300.0, p);
            }
            for (int i = 0; i < 5000 && part == 0; ++i) {
                TdlStepInfo info;
                REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
                highest = fmax(highest, info.energy.kinetic + info.energy.elastic);
            }
        }
        TdlEnergy last = tdl_world_energy(world);
        double start = first.elastic + first.kinetic, end = last.elastic + last.kinetic;
        double moved = tdl_norm3(tdl_sub3(centre[1], centre[0]));
        printf(
            "  %-17s energy %.4e -> %.4e J (%+.1f %%), at most %+.1e of it above the start; centre "
            "moved by %.1e m\n",
            MODELS[k], start, end, 100.0 * (end / start - 1.0), highest / start - 1.0, moved);
        CHECK_BELOW(highest, start * (1.0 + (k < 3 ? 1.0e-12 : 1.0e-4)));
        CHECK_BELOW(moved,
                    k < 3 ? 1.0e-2 : 1.0e-12); // a root drifts with the first order of the step
        tdl_world_destroy(world);
    }
}
