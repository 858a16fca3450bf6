// Nodal rods in a world: energy, holds, threads, saved states.
#include "look.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"

static const char* const MODELS[] = {"der", "mass-spring", "corde"};
static const TdlVec3 DOWN = {0.0, 0.0, -9.81};

static TdlWorld* create_world(double dt, int threads, TdlVec3 gravity) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.contacts.off = true;
    def.step = dt;
    def.thread_count = threads;
    def.gravity = gravity;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    return world;
}

static TdlBodyId add(TdlWorld* world, const TdlRodDef* def) {
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rod(world, def, &id), TDL_STATUS_OK);
    return id;
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

// A curl of hair, clamped horizontally, a little out of its plane.
static TdlRodDef curl(const char* model, double damping) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.305;
    def.element_count = 40;
    def.natural_curvature = (TdlVec3){0.0, 100.0, 0.0};
    def.curvature = (TdlVec3){0.0, 100.0, 1.0};
    def.damping = damping;
    return def;
}

// Steps until `end`, checks that no energy is gained, and returns the largest number of substeps.
static int run(TdlWorld* world, double dt, double end, double scale) {
    int substeps = 1;
    double energy = total(tdl_world_energy(world));
    for (long n = lround(end / dt); n > 0; --n) {
        TdlStepInfo info;
        TdlStatus status = tdl_world_step(world, &info);
        double next = total(info.energy);
        if (status != TDL_STATUS_OK || !(next <= energy + 1.0e-13 * scale)) {
            FAIL("dt %g: %s at %g s, energy rose by %g of %g", dt, tdl_status_string(status),
                 info.time, next - energy, scale);
            break;
        }
        energy = next;
        substeps = info.substeps > substeps ? info.substeps : substeps;
    }
    return substeps;
}

// The chain without frames has many equilibria as a curl: it is only watched for energy.
TEST(a_curl_let_go_never_gains_energy_and_ends_at_equilibrium) {
    const double steps[] = {1.0e-4, 1.0e-3, 1.0e-2}, ends[] = {0.05, 2.0, 8.0};
    for (int m = 0; m < 3; ++m) {
        for (int i = REPEATS(0, 2); i < 3; ++i) {
            TdlRodDef def = curl(MODELS[m], 0.18);
            TdlWorld *moving = create_world(steps[i], 1, DOWN), *still = create_world(1.0, 1, DOWN);
            TdlBodyId id = add(moving, &def), other = add(still, &def);
            double scale = look_rod_info(moving, id).mass * 9.81 * def.length;
            int substeps = run(moving, steps[i], ends[i], scale);
            CHECK_INT(tdl_world_settle(still, NULL), TDL_STATUS_OK);
            double left = total(tdl_world_energy(moving)) - total(tdl_world_energy(still));
            TdlVec3 rest = look_rod_point(still, other, def.length);
            double off = tdl_norm3(tdl_sub3(look_rod_point(moving, id, def.length), rest));
            printf("  %s, dt %g: tip off by %.1e L, energy by %.1e after %g s, at most %d "
                   "substeps\n",
                   MODELS[m], steps[i], off / def.length, left / scale, ends[i], substeps);
            CHECK(m == 1 || substeps == 1);
            CHECK(m == 1 || i == 0 || off < (i == 1 ? 1.0e-2 : 1.0e-6) * def.length);
            tdl_world_destroy(moving);
            tdl_world_destroy(still);
        }
    }
}

TEST(an_undamped_curl_never_gains_energy_either) {
    const double steps[] = {1.0e-4, 1.0e-3, 1.0e-2}, ends[] = {0.05, 0.3, 1.0};
    for (int m = 0; m < 3; ++m) {
        for (int i = REPEATS(0, 2); i < 3; ++i) {
            TdlRodDef def = curl(MODELS[m], 0.0);
            def.curvature = (TdlVec3){0.0, 0.0, 5.0}; // nearly straight: it snaps back
            TdlWorld* world = create_world(steps[i], 1, DOWN);
            TdlBodyId id = add(world, &def);
            double start = total(tdl_world_energy(world));
            double scale = look_rod_info(world, id).mass * 9.81 * def.length;
            int substeps = run(world, steps[i], ends[i], scale);
            printf("  %s, dt %g: energy lost %.1f %%, at most %d substeps\n", MODELS[m], steps[i],
                   100.0 * (start - total(tdl_world_energy(world))) / start, substeps);
            CHECK(m == 1 || substeps == 1);
            tdl_world_destroy(world);
        }
    }
}

// A stiff steel wire, where stretching is ten thousand times stiffer than bending, thrown about by
// its clamp.
TEST(a_stiff_wire_follows_its_clamp) {
    const TdlKeyframe keys[] = {{0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                                {0.1, {0.05, 0.1, 0.0}, {0.0, 1.0, 2.0}},
                                {0.2, {0.0, -0.1, 0.1}, {2.0, 0.0, -1.0}}};
    for (int m = 0; m < 3; ++m) {
        for (double dt = REPEATS(1.0e-4, 1.0e-3); dt < 2.0e-2; dt *= 10.0) {
            TdlRodDef def = tdl_rod_def_default();
            def.model = MODELS[m];
            def.length = 0.3;
            def.radius[0] = def.radius[1] = 0.2e-3;
            def.young = 2.0e11;
            def.poisson = 0.3;
            def.density = 7800.0;
            def.element_count = 30;
            def.motion = (TdlMotionDef){
                .keys = keys, .key_count = 3, .interpolation = TDL_INTERPOLATION_SMOOTH};
            TdlWorld* world = create_world(dt, 1, DOWN);
            TdlBodyId id = add(world, &def);
            int substeps = 0;
            for (long n = lround((dt < 5.0e-4 ? 0.25 : 0.4) / dt); n > 0; --n) {
                TdlStepInfo info;
                REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
                substeps = info.substeps > substeps ? info.substeps : substeps;
            }
            double longest = 0.0;
            for (int i = 0; i < 30; ++i) {
                TdlVec3 a = look_rod_point(world, id, 0.01 * i);
                TdlVec3 b = look_rod_point(world, id, 0.01 * (i + 1));
                longest = fmax(longest, fabs(tdl_norm3(tdl_sub3(b, a)) / 0.01 - 1.0));
            }
            printf("  %s, dt %g: edges stretched by %.1e, at most %d substeps\n", MODELS[m], dt,
                   longest, substeps);
            CHECK_NEAR3(look_rod_point(world, id, 0.0), ((TdlVec3){0.0, -0.1, 0.1}), 1.0e-14);
            CHECK_BELOW(longest, 1.0e-5);
            CHECK_INT(substeps, 1);
            tdl_world_destroy(world);
        }
    }
}

TEST(both_ends_held_make_a_bridge) {
    for (int m = 0; m < 3; ++m) {
        for (int hold = TDL_HOLD_CLAMPED; hold <= TDL_HOLD_PINNED; ++hold) {
            TdlRodDef def = tdl_rod_def_default();
            def.model = MODELS[m];
            def.start = def.end = (TdlHold)hold;
            def.element_count = 20;
            TdlWorld* world = create_world(1.0e-3, 1, DOWN);
            TdlBodyId id = add(world, &def);
            double residual, sag[2];
            CHECK_INT(tdl_world_settle(world, &residual), TDL_STATUS_OK);
            sag[0] = look_rod_point(world, id, 0.05).z;
            for (int k = 0; k < 100; ++k) {
                CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
            }
            sag[1] = look_rod_point(world, id, 0.05).z;
            printf("  %s: sags by %.2e L\n", MODELS[m], -sag[0] / 0.1);
            CHECK(sag[0] < -1.0e-6);
            CHECK_NEAR(sag[1], sag[0], 1.0e-8 * 0.1);
            CHECK_NEAR3(look_rod_point(world, id, 0.1), ((TdlVec3){0.1, 0.0, 0.0}), 1.0e-15);
            tdl_world_destroy(world);
        }
    }
}

// A torque along a straight rod twists it, one across it bends it: as a cantilever's end moment
// does, to an arc of curvature torque / stiffness.
TEST(torques_twist_and_bend) {
    for (int m = 0; m < 3; ++m) {
        TdlRodDef def = tdl_rod_def_default();
        def.model = MODELS[m];
        def.radius[0] = def.radius[1] = 1.0e-3;
        def.young = 1.0e8;
        def.element_count = 40;
        def.damping = 0.05;
        double EI = def.young * 3.14159265358979323846 / 4.0 * 1.0e-12, kappa = 5.0;
        TdlRodLoad load = {def.length, {0.0, 0.0, 0.0}, {0.0, 0.0, kappa * EI}};
        def.loads = &load;
        def.load_count = 1;
        TdlWorld* world = create_world(1.0e-3, 1, (TdlVec3){0});
        TdlBodyId id = add(world, &def);
        for (int k = 0; k < 800; ++k) {
            CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
        }
        double angle = kappa * def.length;
        TdlVec3 tip = {sin(angle) / kappa, (1.0 - cos(angle)) / kappa, 0.0};
        printf("  %s: tip off the arc by %.1e L\n", MODELS[m],
               tdl_norm3(tdl_sub3(look_rod_point(world, id, def.length), tip)) / def.length);
        CHECK_NEAR3(look_rod_point(world, id, def.length), tip, 3.0e-4 * def.length);
        tdl_world_destroy(world);
    }
}

static TdlWorld* create_many(int threads) {
    TdlWorld* world = create_world(1.0e-3, threads, DOWN);
    for (int i = 0; i < 24; ++i) {
        TdlRodDef def = curl(MODELS[i % 3], 0.01);
        def.element_count = 20 + i;
        def.clamp.rotation = tdl_rotation_exp((TdlVec3){0.1 * i, 0.2 * i, -0.1 * i});
        def.start = i % 4 == 3 ? TDL_HOLD_FREE : TDL_HOLD_CLAMPED;
        def.curvature = (TdlVec3){0.0, 0.0, 1.0 + i};
        add(world, &def);
    }
    return world;
}

static void step(TdlWorld* world, int count) {
    for (int k = 0; k < count; ++k) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    }
}

TEST(bits_do_not_depend_on_threads_or_on_saving) {
    TdlWorld* one = create_many(1);
    step(one, 60);
    for (int threads = 2; threads <= 3; ++threads) {
        TdlWorld* many = create_many(threads);
        step(many, 60);
        CHECK(tdl_world_state_hash(many) == tdl_world_state_hash(one));
        tdl_world_destroy(many);
    }
    TdlWorld *first = create_many(1), *second = create_many(2);
    step(first, 25);
    size_t size = tdl_world_state_size(first);
    void* bytes = malloc(size);
    tdl_world_save_state(first, bytes);
    CHECK_INT(tdl_world_load_state(second, bytes, size), TDL_STATUS_OK);
    step(second, 35);
    CHECK(tdl_world_state_hash(second) == tdl_world_state_hash(one));
    free(bytes);
    tdl_world_destroy(first);
    tdl_world_destroy(second);
    tdl_world_destroy(one);
}
