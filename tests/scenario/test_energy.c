// Where the energy of a world of rods goes: the balance of every step, told by its losses.
#include "cables.h"
#include "math/rotation.h"

static TdlWorld* create_world(double dt, bool contacts, bool wind) {
    TdlWorldDef def = cable_world_def(dt, contacts);
    def.wind = (TdlVec3){0.0, wind ? 2.0 : 0.0, 0.0};
    return make_cable_world(&def);
}

static TdlRodDef cable(const char* model) {
    return cable_def(model, 2.0e-3, 8, 1.0e6);
}

typedef struct Ledger {
    double worst; // J, unexplained in a step
    double size;  // J, sum of all that was moved
    TdlStepInfo sum;
} Ledger;

static Ledger keep_books(TdlWorld* world, int steps) {
    Ledger ledger = {0};
    double energy = total_energy(tdl_world_energy(world));
    ledger.size = fabs(energy);
    for (int i = 0; i < steps; ++i) {
        TdlStepInfo x;
        if (tdl_world_step(world, &x) != TDL_STATUS_OK) {
            FAIL("step %d", i);
            break;
        }
        double in = x.work + x.given + x.push;
        double out = x.friction + x.impact + x.damping + x.numerical;
        ledger.worst = fmax(ledger.worst, fabs(energy + in - out - total_energy(x.energy)));
        ledger.size += fabs(x.work) + fabs(x.given) + fabs(x.push) + fabs(x.friction) +
                       fabs(x.impact) + x.damping + fabs(x.numerical);
        ledger.sum.work += x.work;
        ledger.sum.given += x.given;
        ledger.sum.friction += x.friction;
        ledger.sum.damping += x.damping;
        ledger.sum.numerical += x.numerical;
        energy = total_energy(x.energy);
    }
    return ledger;
}

// Damped, blown at, with a torque at its tip.
TEST(the_books_of_a_rod_in_the_wind_close) {
    for (int k = 0; k < MODEL_COUNT; ++k) {
        TdlWorld* world = create_world(1.0e-3, false, true);
        TdlRodDef def = cable(MODELS[k]);
        TdlRodLoad loads[2] = {{.at = 0.3, .torque = {1.0e-5, 2.0e-5, 0.0}},
                               {.at = 0.1, .force = {0.0, 0.0, 2.0e-3}}};
        def.damping = 2.0e-3;
        def.mass_damping = 0.5;
        def.drag = 1.0e-3;
        def.loads = loads;
        def.load_count = 2;
        add_cable(world, &def);
        Ledger ledger = keep_books(world, 300);
        printf("  %-17s damping %.3e, numerical %.3e, given %.3e J, off by %.1e\n", MODELS[k],
               ledger.sum.damping, ledger.sum.numerical, ledger.sum.given,
               ledger.worst / ledger.size);
        CHECK(ledger.sum.damping > 0.0 && ledger.sum.given != 0.0);
        CHECK_BELOW(ledger.worst, 1.0e-12 * ledger.size); // sums of roundings
        tdl_world_destroy(world);
    }
}

// Both ends held, the start led up and turned.
TEST(the_books_of_a_led_rod_close) {
    const TdlKeyframe keys[2] = {
        {.time = 0.0}, {.time = 0.2, .position = {0.02, 0.0, 0.05}, .rotation = {0.3, 0.0, 0.0}}};
    for (int k = 0; k < MODEL_COUNT; ++k) {
        TdlWorld* world = create_world(1.0e-3, false, false);
        TdlRodDef def = cable(MODELS[k]);
        def.damping = 2.0e-3;
        def.motion =
            (TdlMotionDef){.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_SMOOTH};
        def.curvature = def.natural_curvature = (TdlVec3){0.0, 8.0, 0.0};
        def.end = TDL_HOLD_PINNED;
        add_cable(world, &def);
        Ledger ledger = keep_books(world, 300);
        printf("  %-17s damping %.3e, numerical %.3e, given %.3e J, off by %.1e\n", MODELS[k],
               ledger.sum.damping, ledger.sum.numerical, ledger.sum.given,
               ledger.worst / ledger.size);
        CHECK(ledger.sum.given > 0.0);
        CHECK_BELOW(ledger.worst, 1.0e-12 * ledger.size); // sums of roundings
        tdl_world_destroy(world);
    }
}

// Falls on a floor and rubs on it.
TEST(the_books_of_a_rod_on_a_floor_close) {
    for (int k = 0; k < MODEL_COUNT; ++k) {
        TdlWorld* world = create_world(1.0e-3, true, false);
        TdlRodDef def = cable(MODELS[k]);
        def.damping = 2.0e-3;
        def.clamp.position = (TdlVec3){0.0, 0.0, 0.05};
        add_cable(world, &def);
        TdlColliderDef floor = tdl_collider_def_default();
        floor.shape = TDL_SHAPE_PLANE;
        floor.velocity = (TdlVec3){0.0, 0.3, 0.0};
        TdlBodyId id;
        CHECK_INT(tdl_world_add_collider(world, &floor, &id), TDL_STATUS_OK);
        Ledger ledger = keep_books(world, 300);
        printf("  %-17s friction %.3e, damping %.3e, numerical %.3e J, off by %.1e\n", MODELS[k],
               ledger.sum.friction, ledger.sum.damping, ledger.sum.numerical,
               ledger.worst / ledger.size);
        CHECK(ledger.sum.friction > 0.0 && ledger.sum.work > 0.0);
        CHECK_BELOW(ledger.worst, 1.0e-12 * ledger.size); // sums of roundings
        tdl_world_destroy(world);
    }
}

TEST(the_books_of_a_tree_close) {
    TdlWorld* world = create_world(1.0e-3, false, true);
    TdlRodDef def = cable("super-helix");
    def.drag = 1.0e-3;
    TdlBodyId root = add_cable(world, &def);
    def.parent = root;
    def.parent_at = 0.5;
    def.clamp.rotation = tdl_rotation_exp((TdlVec3){0.0, 0.5, 1.0});
    add_cable(world, &def);
    Ledger ledger = keep_books(world, 300);
    CHECK_BELOW(ledger.worst, 1.0e-12 * ledger.size); // sums of roundings
    tdl_world_destroy(world);
}

// What the time step takes is of its first order; what damping takes is not of its making.
TEST(half_the_step_takes_half_as_much) {
    for (int k = 0; k < MODEL_COUNT; ++k) {
        Ledger ledger[3];
        for (int j = 0; j < 3; ++j) {
            TdlWorld* world = create_world(4.0e-4 / (1 << j), false, false);
            TdlRodDef def = cable(MODELS[k]);
            def.mass_damping = 0.2;
            add_cable(world, &def);
            ledger[j] = keep_books(world, 500 << j);
            tdl_world_destroy(world);
        }
        double first = ledger[0].sum.numerical / ledger[1].sum.numerical;
        double second = ledger[1].sum.numerical / ledger[2].sum.numerical;
        double damping = ledger[1].sum.damping / ledger[2].sum.damping;
        printf("  %-17s numerical %.3e J falls %.2f, %.2f times; damping %.3e J, %.3f\n", MODELS[k],
               ledger[0].sum.numerical, first, second, ledger[2].sum.damping, damping);
        CHECK(ledger[2].sum.numerical > 0.0);
        CHECK_NEAR(second, 2.0, 0.3);
        CHECK_NEAR(damping, 1.0, 0.05);
    }
}
