// The midpoint rule where more happens than a vibration: large swings, free flight, contacts,
// holds; its books of energy, and its state.
#include "cables.h"
#include "look.h"
#include "math/rotation.h"

static TdlWorld* create_world(TdlIntegrator integrator, double dt, TdlVec3 gravity, bool contacts) {
    TdlWorldDef def = cable_world_def(dt, contacts);
    def.integrator = integrator;
    def.gravity = gravity;
    return make_cable_world(&def);
}

static TdlRodDef cable(const char* model) {
    return cable_def(model, 3.0e-3, 6, 5.0e5);
}

// Three large motions: a rod let go from the horizontal, clamped or pinned, and one that was bent
// and twisted and flies.
static TdlRodDef swing(const char* model, int kind) {
    TdlRodDef def = cable(model);
    def.start = kind == 0 ? TDL_HOLD_CLAMPED : kind == 1 ? TDL_HOLD_PINNED : TDL_HOLD_FREE;
    def.curvature = kind == 2 ? (TdlVec3){2.0, 5.0, 3.0} : (TdlVec3){0.0, 0.5, 1.0};
    return def;
}

static TdlVec3 tip_after(const char* model, int kind, TdlIntegrator integrator, double dt,
                         double time) {
    TdlVec3 gravity = {0.0, 0.0, kind == 2 ? 0.0 : -9.81};
    TdlWorld* world = create_world(integrator, dt, gravity, false);
    TdlRodDef def = swing(model, kind);
    TdlBodyId rod = add_cable(world, &def);
    for (long i = lround(time / dt); i > 0; --i) {
        CHECK(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    TdlVec3 tip = look_rod_point(world, rod, def.length);
    tdl_world_destroy(world);
    return tip;
}

TEST(large_swings_are_of_the_order_of_the_rule) {
    static const char* const KINDS[] = {"clamped", "pinned", "free"};
    for (int m = 0; m < MODEL_COUNT; ++m) {
        for (int kind = 0; kind < REPEATS(3, 1); ++kind) {
            printf("  %-17s %-7s", MODELS[m], KINDS[kind]);
            for (int rule = REPEATS(0, 1); rule < 2; ++rule) {
                TdlVec3 tip[4];
                for (int j = 0; j < 4; ++j) {
                    double dt = 1.0e-3 / (1 << j);
                    tip[j] = tip_after(MODELS[m], kind, (TdlIntegrator)rule, dt, 0.15);
                }
                double first = tdl_norm3(tdl_sub3(tip[2], tip[1]));
                double second = tdl_norm3(tdl_sub3(tip[3], tip[2])), order = log2(first / second);
                printf("  %s: order %.2f (%.1e m)", rule == 0 ? "euler" : "midpoint", order,
                       second);
                if (rule == TDL_INTEGRATOR_MIDPOINT && kind < 2) {
                    CHECK_NEAR(order, 2.0, 0.2);
                    CHECK_BELOW(second, 1.0e-5);
                } else if (rule == TDL_INTEGRATOR_MIDPOINT) {
                    // edges of nodal rods ring, undamped, by this little
                    CHECK(second < 1.0e-6 || order > 1.8);
                }
            }
            printf("\n");
        }
    }
}

// A soft rope that whips about for three seconds without any damping. What there is of its energy
// is held between the swings that the rule is allowed (I.6) and what Euler's rule leaves.
TEST(the_energy_of_large_swings_does_not_grow) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        for (int kind = 0; kind < 3; ++kind) {
            TdlVec3 gravity = {0.0, 0.0, kind == 2 ? 0.0 : -9.81};
            TdlWorld* world = create_world(TDL_INTEGRATOR_MIDPOINT, 1.0e-3, gravity, false);
            TdlRodDef def = swing(MODELS[m], kind);
            TdlBodyId rod = add_cable(world, &def);
            double scale = kind == 2 ? total_energy(tdl_world_energy(world))
                                     : look_rod_info(world, rod).mass * 9.81 * def.length;
            double start = total_energy(tdl_world_energy(world)), most = start, least = start;
            for (int i = 0; i < REPEATS(3000, 300); ++i) {
                TdlStepInfo info;
                REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
                most = fmax(most, total_energy(info.energy));
                least = fmin(least, total_energy(info.energy));
            }
            printf("  %-17s %d: from %+.1e to %+.1e of what is at play; %+.1e at the end\n",
                   MODELS[m], kind, (least - start) / scale, (most - start) / scale,
                   (total_energy(tdl_world_energy(world)) - start) / scale);
            CHECK_BELOW(most - start, 0.06 * scale); // 0.02 of what falls, moves and bends, twice
            CHECK_BELOW(start - least, (m < 3 ? 0.25 : 0.02) * scale);
            tdl_world_destroy(world);
        }
    }
}

// A rod that flies against a ball and onto a floor, and a clamped one that falls on it.
static TdlWorld* crash(const char* model, TdlIntegrator integrator, int threads) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.integrator = integrator;
    def.losses = true;
    def.thread_count = threads;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    TdlRodDef rod = cable(model);
    rod.damping = 1.0e-3;
    rod.clamp.position = (TdlVec3){0.0, 0.0, 0.1};
    add_cable(world, &rod);
    rod.clamp.position = (TdlVec3){0.0, 0.1, 0.05};
    rod.start = TDL_HOLD_FREE;
    rod.curvature = (TdlVec3){0.0, 0.0, 3.0};
    if (strcmp(model, "super-clothoid") != 0) { // on a floor its steps do not end, by either rule
        add_cable(world, &rod);
    }
    TdlRigidDef ball = tdl_rigid_def_default();
    ball.radius = 0.02;
    ball.pose.position = (TdlVec3){0.05, 0.1, 0.12};
    TdlColliderDef floor = tdl_collider_def_default();
    floor.shape = TDL_SHAPE_PLANE;
    TdlBodyId id;
    CHECK_INT(tdl_world_add_rigid(world, &ball, &id), TDL_STATUS_OK);
    CHECK_INT(tdl_world_add_collider(world, &floor, &id), TDL_STATUS_OK);
    return world;
}

TEST(with_contacts_the_books_close_and_energy_does_not_rise) {
    for (int m = 0; m < 2 * MODEL_COUNT; ++m) {
        TdlWorld* world = crash(MODELS[m / 2], (TdlIntegrator)(m % 2), 1);
        double energy = total_energy(tdl_world_energy(world)), start = energy, lowest = energy;
        double size = fabs(energy), worst = 0.0, rise = 0.0;
        int touching = 0;
        for (int i = 0; i < 400; ++i) {
            TdlStepInfo x;
            REQUIRE(tdl_world_step(world, &x) == TDL_STATUS_OK);
            double in = x.work + x.given + x.push;
            double out = x.friction + x.impact + x.damping + x.numerical;
            worst = fmax(worst, fabs(energy + in - out - total_energy(x.energy)));
            size += fabs(x.friction) + fabs(x.impact) + x.damping + fabs(x.numerical);
            energy = total_energy(x.energy);
            lowest = fmin(lowest, energy);
            rise = fmax(rise, energy - lowest);
            touching += x.contact_count > 0;
        }
        printf("  %-17s %-8s %d steps touch; energy %.3e -> %.3e J, rises by at most %.1e of it; "
               "books "
               "off by %.1e\n",
               MODELS[m / 2], m % 2 == 0 ? "euler" : "midpoint", touching, start, energy,
               rise / start, worst / size);
        CHECK(touching > 50);
        CHECK_BELOW(worst, 1.0e-12 * size);
        CHECK_BELOW(rise, 1.0e-2 * start);
        tdl_world_destroy(world);
    }
}

TEST(the_state_has_all_that_the_rule_needs_and_threads_do_not_matter) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        TdlWorld* first = crash(MODELS[m], TDL_INTEGRATOR_MIDPOINT, 1);
        TdlWorld* second = crash(MODELS[m], TDL_INTEGRATOR_MIDPOINT, 2);
        TdlWorld* resumed = crash(MODELS[m], TDL_INTEGRATOR_MIDPOINT, 1);
        for (int i = 0; i < 200; ++i) {
            REQUIRE(tdl_world_step(first, NULL) == TDL_STATUS_OK);
            REQUIRE(tdl_world_step(second, NULL) == TDL_STATUS_OK);
            if (i % 40 == 37) {
                size_t size = tdl_world_state_size(first);
                void* bytes = malloc(size);
                tdl_world_save_state(first, bytes);
                REQUIRE(tdl_world_load_state(resumed, bytes, size) == TDL_STATUS_OK);
                free(bytes);
            } else if (i > 37) {
                REQUIRE(tdl_world_step(resumed, NULL) == TDL_STATUS_OK);
                CHECK(tdl_world_state_hash(resumed) == tdl_world_state_hash(first));
            }
            CHECK(tdl_world_state_hash(second) == tdl_world_state_hash(first));
        }
        tdl_world_destroy(first);
        tdl_world_destroy(second);
        tdl_world_destroy(resumed);
    }
}

// What the midpoint rule leaves to Euler's has the same bits by both: trees, held far ends of
// super-models, ends that are led, and all that settles.
TEST(what_is_left_to_euler_has_its_bits) {
    const TdlKeyframe keys[2] = {{.time = 0.0}, {.time = 0.2, .position = {0.02, 0.0, 0.05}}};
    for (int kind = 0; kind < 3; ++kind) {
        TdlVec3 tip[2];
        for (int rule = 0; rule < 2; ++rule) {
            TdlWorld* world =
                create_world((TdlIntegrator)rule, 1.0e-3, (TdlVec3){0.0, 0.0, -9.81}, false);
            TdlRodDef def = cable("super-helix");
            def.motion = kind == 0 ? (TdlMotionDef){.keys = keys,
                                                    .key_count = 2,
                                                    .interpolation = TDL_INTERPOLATION_SMOOTH}
                                   : (TdlMotionDef){0};
            def.curvature = (TdlVec3){0.0, 5.0, 0.0};
            def.end = kind == 1 ? TDL_HOLD_PINNED : TDL_HOLD_FREE;
            TdlBodyId rod = add_cable(world, &def);
            if (kind == 2) {
                def.parent = rod;
                def.parent_at = 0.5;
                def.clamp.rotation = tdl_rotation_exp((TdlVec3){0.0, 0.5, 1.0});
                add_cable(world, &def);
            }
            for (int i = 0; i < 100; ++i) {
                REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
            }
            tip[rule] = look_rod_point(world, rod, 0.2);
            tdl_world_destroy(world);
        }
        CHECK(tip[0].x == tip[1].x && tip[0].y == tip[1].y && tip[0].z == tip[1].z);
    }
}

// What a taut rod that is led, and so goes by Euler's rule, loses in its steps, J; beside others of
// its group that rest.
static double taut_losses(int company, double* kinetic) {
    TdlWorld* world = create_world(TDL_INTEGRATOR_MIDPOINT, 5.0e-3, (TdlVec3){0}, false);
    TdlRodDef def = cable("super-helix");
    TdlKeyframe keys[2] = {{0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                           {1.0, {0.0, 0.5, 0.2}, {0.0, 0.4, 0.0}}};
    TdlRodLoad load = {.at = def.length, .force = {20.0, 0.0, 0.0}};
    def.motion =
        (TdlMotionDef){.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_SMOOTH};
    def.loads = &load;
    def.load_count = 1;
    add_cable(world, &def);
    def.motion = (TdlMotionDef){0};
    def.load_count = 0;
    for (int i = 0; i < company; ++i) {
        def.clamp.position.z -= 1.0;
        add_cable(world, &def);
    }
    double lost = 0.0;
    TdlStepInfo info = {0};
    for (int i = 0; i < 40; ++i) {
        CHECK_INT(tdl_world_step(world, &info), TDL_STATUS_OK);
        lost += info.numerical;
    }
    *kinetic = info.energy.kinetic;
    tdl_world_destroy(world);
    return lost;
}

TEST(the_books_of_a_taut_rod_do_not_depend_on_its_company) {
    double alone_moves, moves, alone = taut_losses(0, &alone_moves), lost = taut_losses(3, &moves);
    printf("  alone: loses %.6e J, has %.6e J; in company: loses %.6e J, has %.6e J\n", alone,
           alone_moves, lost, moves);
    CHECK(alone_moves == moves);
    CHECK_NEAR(lost, alone, 1.0e-12 * fabs(alone));
}

// A rod whose start is led, by Euler's rule, and then stands, by the midpoint rule: what its energy
// changes by in the step that goes over and in the next, relative. Nothing else acts on it.
static void change_over(const char* model, double dt, double change[2]) {
    TdlWorld* world = create_world(TDL_INTEGRATOR_MIDPOINT, dt, (TdlVec3){0}, false);
    TdlRodDef def = cable(model);
    TdlKeyframe keys[2] = {{0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                           {0.1, {0.0, 0.1, 0.05}, {0.0, 0.0, 0.5}}};
    def.motion =
        (TdlMotionDef){.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_LINEAR};
    add_cable(world, &def);
    TdlStepInfo info = {0};
    int led = (int)lround(0.1 / dt) + 1; // the last one from the moving start to the still one
    for (int i = 0; i < led + 2; ++i) {
        double before = total_energy(info.energy);
        CHECK_INT(tdl_world_step(world, &info), TDL_STATUS_OK);
        if (i >= led) {
            change[i - led] = (total_energy(info.energy) - before) / before;
        }
    }
    tdl_world_destroy(world);
}

TEST(a_rod_that_comes_from_eulers_rule_keeps_its_energy) {
    for (int m = 0; m < 3; ++m) {
        double whole[2], quarter[2];
        change_over(MODELS[m], 1.0e-3, whole);
        change_over(MODELS[m], 2.5e-4, quarter);
        printf("  %-17s %.1e then %.1e at 1 ms, %.1e then %.1e at 0.25 ms\n", MODELS[m], whole[0],
               whole[1], quarter[0], quarter[1]);
        CHECK_BELOW(fabs(whole[0]), 3.0e-3);
        CHECK_BELOW(fabs(quarter[0]), fabs(whole[0]) / 8.0);
        CHECK_BELOW(fabs(whole[1]), 1.0e-3); // by Euler's rule 2e-3
        CHECK_BELOW(fabs(quarter[1]), 2.0e-5);
    }
}
