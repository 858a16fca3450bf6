// What holds pull with: weights at rest, a pendulum's pivot, and momentum over a whole motion.
#include "look.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"

static const double PI = 3.14159265358979323846, G = 9.81;
static const char* const MODELS[] = {"super-helix", "super-helix-dense", "super-clothoid",
                                     "der",         "mass-spring",       "corde"};
enum { MODEL_COUNT = 6 };

static TdlWorld* create_world(TdlIntegrator integrator, double dt) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.integrator = integrator;
    def.step = dt;
    def.holds = true;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    return world;
}

static TdlVec3 force_of(const TdlWorld* world, TdlBodyId rod, bool end) {
    TdlVec3 force = {NAN, NAN, NAN};
    CHECK_INT(tdl_rod_hold_force(world, rod, end, &force), TDL_STATUS_OK);
    return force;
}

static TdlRodDef rope(const char* model) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.3;
    def.radius[0] = def.radius[1] = 2.0e-3;
    def.young = 3.0e6;
    def.element_count = 12;
    return def;
}

static double weight_of(const TdlWorld* world, TdlBodyId rod) {
    return look_rod_info(world, rod).mass * G;
}

// A stiff bar that falls about its pin from the horizontal: when it hangs, w^2 = m g L / I, and the
// pin carries m g + m w^2 L/2. With I = m L^2/3 that is 5/2 of its weight; masses at N + 1 vertices
// have I = m L^2 (1/3 + 1/6N^2).
static double hanging(int model, int elements) {
    double lumped = model < 3 ? 0.0 : 1.0 / (6.0 * elements * elements);
    return 1.0 + 0.5 / (1.0 / 3.0 + lumped);
}

TEST(a_pivot_carries_a_bar_that_swings) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        for (int rule = 0; rule < 2; ++rule) {
            double dt = rule == TDL_INTEGRATOR_EULER ? 5.0e-5 : 1.0e-3;
            TdlWorld* world = create_world((TdlIntegrator)rule, dt);
            TdlRodDef def = rope(MODELS[m]);
            def.young = 1.0e10;
            def.radius[0] = def.radius[1] = 5.0e-3;
            def.element_count = 4;
            def.start = TDL_HOLD_PINNED;
            TdlBodyId rod;
            CHECK_INT(tdl_world_add_rod(world, &def, &rod), TDL_STATUS_OK);
            double weight = weight_of(world, rod), x = 1.0;
            TdlVec3 force = {0}, before = {0};
            CHECK_NEAR3(force_of(world, rod, false), force, 0.0);
            for (int i = 0; x > 0.0 && i * dt < 1.0; ++i) {
                REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
                before = force;
                force = force_of(world, rod, false);
                x = look_rod_point(world, rod, 0.3).x;
            }
            force = tdl_scale3(0.5, tdl_add3(force, before)); // a mean over a bar that trembles
            printf("  %-17s %s: %.4f of its weight, and %.1e across\n", MODELS[m],
                   rule == 0 ? "euler" : "midpoint", force.z / weight, force.x / weight);
            CHECK_NEAR(force.z, hanging(m, def.element_count) * weight, 4.0e-3 * weight);
            CHECK_BELOW(fabs(force.x) + fabs(force.y), (rule == 0 ? 5.0e-3 : 0.15) * weight);
            CHECK_NEAR3(force_of(world, rod, true), ((TdlVec3){0}), 0.0);
            tdl_world_destroy(world);
        }
    }
}

// Two ends of a rope on which a ball lands and comes to rest: over the whole time their holds give
// what weighs, and at rest half of it each.
TEST(holds_give_what_weighs) {
    for (int m = 0; m < MODEL_COUNT; ++m) {
        TdlWorld* world = create_world(TDL_INTEGRATOR_EULER, 1.0e-3);
        TdlRodDef def = rope(MODELS[m]);
        def.element_count = m == 2 ? 12 : 13; // so that the ball does not roll
        def.mass_damping = 20.0;
        def.damping = 0.02;
        def.end = TDL_HOLD_CLAMPED;
        TdlBodyId rod, ball;
        CHECK_INT(tdl_world_add_rod(world, &def, &rod), TDL_STATUS_OK);
        TdlRigidDef rigid = tdl_rigid_def_default();
        rigid.radius = 0.01;
        rigid.density = 2000.0;
        rigid.pose.position = (TdlVec3){0.15, 0.0, 0.0121};
        CHECK_INT(tdl_world_add_rigid(world, &rigid, &ball), TDL_STATUS_OK);
        double mass = look_rod_info(world, rod).mass, braked = 0.0;
        double weight = mass * G + 2000.0 * 4.0 / 3.0 * PI * 1.0e-6 * G;
        TdlVec3 sum = {0}, start = {0}, end = {0};
        int steps = 3000, split = 0;
        for (int i = 0; i < steps; ++i) {
            TdlStepInfo info;
            TdlVec3 before, after;
            double unused;
            CHECK_INT(tdl_body_centre(world, rod, &before, &unused), TDL_STATUS_OK);
            REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
            CHECK_INT(tdl_body_centre(world, rod, &after, &unused), TDL_STATUS_OK);
            braked += def.mass_damping * mass * (after.z - before.z);
            start = force_of(world, rod, false);
            end = force_of(world, rod, true);
            sum = tdl_axpy3(sum, 1.0e-3, tdl_add3(start, end));
            split += info.substeps > 1;
        }
        printf("  %-17s ends carry %.6f and %.6f of the weight; over all the time %.5f of it; %d "
               "steps split\n",
               MODELS[m], start.z / weight, end.z / weight,
               (sum.z - braked) / (weight * 1.0e-3 * steps), split);
        CHECK_INT(split, 0);
        CHECK_NEAR(start.z + end.z, weight, 1.0e-4 * weight);
        CHECK_NEAR(start.z, end.z, 1.0e-3 * weight);
        CHECK_NEAR(start.x, -end.x, 1.0e-3 * weight);
        CHECK_NEAR(sum.z - braked, weight * 1.0e-3 * steps, 1.0e-3 * weight);
        tdl_world_destroy(world);
    }
}

TEST(forces_of_holds_are_asked_for) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world;
    CHECK_INT(tdl_world_create(&host, &def, &world), TDL_STATUS_OK);
    TdlRodDef rod_def = rope("der");
    TdlBodyId rod;
    TdlVec3 force;
    CHECK_INT(tdl_world_add_rod(world, &rod_def, &rod), TDL_STATUS_OK);
    CHECK_INT(tdl_rod_hold_force(world, rod, false, &force), TDL_STATUS_BAD_ARGUMENT);
    TdlObserver observer = {TDL_QUANTITY_START, "rod", 0, 1, 0.0};
    CHECK_INT(tdl_world_observe(world, &observer, &force), TDL_STATUS_BAD_ARGUMENT);
    tdl_world_destroy(world);
}
