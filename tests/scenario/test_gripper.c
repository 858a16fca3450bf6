// A rope between two plates that a program leads. It is crimped where they grasp it, so that it
// presses against both, and friction alone holds it: for a minute without a drift, and down to the
// friction coefficient at which all of it slides, mu N = W with N the sum over both plates.
#include "look.h"
#include "tendril/tendril.h"

enum { ELEMENTS = 24, PLATES = 2, MOST = 64 };
static const double STEP = 2.0e-3, RADIUS = 3.0e-3, GAP = 1.5e-3, OPEN = 0.02, MIDDLE = 0.045;

typedef struct Grip {
    TdlWorld* world;
    TdlBodyId rope, plate[PLATES];
    double weight; // N
} Grip;

// Third axis towards the rope, from the side of y that the sign tells.
static TdlMat3 facing(double side) {
    return (TdlMat3){{1.0, 0.0, 0.0}, {0.0, 0.0, side}, {0.0, -side, 0.0}};
}

static void put_plates(const Grip* grip, double apart) {
    for (int k = 0; k < PLATES; ++k) {
        double side = k == 0 ? -1.0 : 1.0;
        TdlPose pose = {{0.0, side * apart, 0.0}, facing(side)};
        CHECK_INT(tdl_body_move_to(grip->world, grip->plate[k], 0, pose), TDL_STATUS_OK);
    }
}

static void add_rope(Grip* grip, const char* model) {
    TdlVec3 crimp[ELEMENTS] = {{0.0, 0.0, 0.0}};
    for (int i = 0; i < 6; ++i) {
        crimp[i].z = (i + 1) / 2 % 2 == 0 ? 20.0 : -20.0;
    }
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.36;
    def.element_count = ELEMENTS;
    def.radius[0] = def.radius[1] = RADIUS;
    def.young = 1.0e7;
    def.density = 3000.0;
    def.damping = 0.02;
    def.mass_damping = 10.0;
    def.start = TDL_HOLD_FREE;
    def.natural_curvature_of = def.curvature_of = crimp;
    def.clamp.position.z = MIDDLE;
    def.clamp.rotation = (TdlMat3){{0.0, 0.0, -1.0}, {0.0, 1.0, 0.0}, {1.0, 0.0, 0.0}};
    REQUIRE(tdl_world_add_rod(grip->world, &def, &grip->rope) == TDL_STATUS_OK);
    grip->weight = 9.81 * look_rod_info(grip->world, grip->rope).mass;
}

static void wait_for(const Grip* grip, double time) {
    for (int i = 0; i < time / STEP; ++i) {
        REQUIRE(tdl_world_step(grip->world, NULL) == TDL_STATUS_OK);
    }
}

// Closed about the rope, which then hangs and comes to rest.
static Grip grasp(const char* model, double mu, double tolerance) {
    Grip grip = {0};
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.step = STEP;
    def.gravity = (TdlVec3){0.0, 0.0, 0.0};
    def.contacts.law.mu = mu;
    def.contacts.tolerance = tolerance;
    if (tdl_world_create(&host, &def, &grip.world) != TDL_STATUS_OK) {
        abort();
    }
    add_rope(&grip, model);
    for (int k = 0; k < PLATES; ++k) {
        TdlColliderDef plate = tdl_collider_def_default();
        plate.shape = TDL_SHAPE_PLATE;
        plate.length = 0.06;
        plate.radius = 1.0e-3;
        double side = k == 0 ? -1.0 : 1.0;
        plate.pose = (TdlPose){{0.0, side * OPEN, 0.0}, facing(side)};
        CHECK_INT(tdl_world_add_collider(grip.world, &plate, &grip.plate[k]), TDL_STATUS_OK);
    }
    for (int i = 1; i <= 150; ++i) {
        put_plates(&grip, OPEN + i / 150.0 * (RADIUS + GAP - OPEN));
        wait_for(&grip, STEP);
    }
    wait_for(&grip, 0.5);
    CHECK_INT(tdl_world_set_gravity(grip.world, (TdlVec3){0.0, 0.0, -9.81}), TDL_STATUS_OK);
    wait_for(&grip, 10.0);
    return grip;
}

// Sums over both plates: of what presses, and of what carries.
static void look(const Grip* grip, double* pressed, double* carried) {
    TdlContactForce touch[MOST];
    *pressed = *carried = 0.0;
    for (int k = 0; k < PLATES; ++k) {
        int count;
        CHECK_INT(tdl_body_contacts(grip->world, grip->plate[k], MOST, touch, &count),
                  TDL_STATUS_OK);
        for (int i = 0; i < count && i < MOST; ++i) {
            *pressed += fabs(touch[i].force.y);
            bool on_rope = tdl_body_id_equal(touch[i].body[1], grip->rope);
            *carried += on_rope ? touch[i].force.z : -touch[i].force.z;
        }
    }
}

enum { MARKS = 7 };

static void mark(const Grip* grip, TdlVec3 out[MARKS]) {
    for (int i = 0; i < MARKS; ++i) {
        out[i] = look_rod_point(grip->world, grip->rope, 2.0 * MIDDLE * i / (MARKS - 1));
    }
}

// Along the plates.
static double drift(const TdlVec3 a[MARKS], const TdlVec3 b[MARKS]) {
    double most = 0.0;
    for (int i = 0; i < MARKS; ++i) {
        most = fmax(most, hypot(b[i].x - a[i].x, b[i].z - a[i].z));
    }
    return most;
}

// What is left is what the solver leaves, tolerance g dt a second at most; a contact on the edge of
// its cone gives way to that in one direction alone.
TEST(a_grip_holds_for_a_minute) {
    const char* const models[2] = {"super-helix", "der"};
    const double tolerance[3] = {1.0e-8, 1.0e-9, 1.0e-12};
    const double time = REPEATS(60.0, 6.0); // s
    for (int k = 0; k < 6; k += REPEATS(1, 5)) {
        double tol = tolerance[k % 3];
        Grip grip = grasp(models[k / 3], 0.5, tol);
        double pressed, carried;
        TdlVec3 before[MARKS], after[MARKS];
        mark(&grip, before);
        wait_for(&grip, time);
        mark(&grip, after);
        double moved = drift(before, after);
        look(&grip, &pressed, &carried);
        printf("  %s, tolerance %.0e: N %.4f N, W %.4f N, carried less W %.1e N, drift in %g s: of "
               "the middle %.1e m, at most %.1e m\n",
               models[k / 3], tol, 0.5 * pressed, grip.weight, carried - grip.weight, time,
               fabs(after[MARKS / 2].z - before[MARKS / 2].z), moved);
        CHECK(0.5 * pressed > grip.weight); // 2 mu N > W
        CHECK_NEAR(carried, grip.weight, 1.0e-6 * grip.weight);
        CHECK_BELOW(fabs(after[MARKS / 2].z - before[MARKS / 2].z), 1.0e-9);
        CHECK_BELOW(moved, tol * 9.81 * STEP * time); // below 1e-9 m in the second case
        tdl_world_destroy(grip.world);
    }
}

static double speed(const Grip* grip) {
    TdlVec3 v;
    double at = MIDDLE;
    CHECK_INT(tdl_rod_point_velocities(grip->world, grip->rope, 1, &at, &v), TDL_STATUS_OK);
    return -v.z;
}

// The friction coefficient falls by 1 % a second, until the rope goes on its own. With half of that
// it falls. (A little less is not enough: what slides may be pressed more further on.)
TEST(a_grip_drops_the_rope_where_friction_ends) {
    const char* const models[2] = {"super-helix", "der"};
    for (int m = 0; m < 2; ++m) {
        Grip grip = grasp(models[m], 0.5, 1.0e-8);
        double mu = m == 0 ? 0.2 : 0.38, share = 0.0, pressed, carried;
        CHECK_INT(tdl_world_set_friction(grip.world, mu), TDL_STATUS_OK);
        wait_for(&grip, 2.0); // stuck places give way to each other
        while (mu > 0.01 && speed(&grip) < 1.0e-4) {
            mu *= 1.0 - 0.01 * STEP;
            CHECK_INT(tdl_world_set_friction(grip.world, mu), TDL_STATUS_OK);
            wait_for(&grip, STEP);
            look(&grip, &pressed, &carried);
            share = mu * pressed / grip.weight;
        }
        printf("  %s: slides at mu = %.5f, where mu N / W = %.5f\n", models[m], mu, share);
        CHECK_NEAR(share, 1.0, 0.01);
        CHECK_INT(tdl_world_set_friction(grip.world, 0.5 * mu), TDL_STATUS_OK);
        wait_for(&grip, 2.0);
        CHECK(look_rod_point(grip.world, grip.rope, MIDDLE).z < -0.1); // it is out of the plates
        tdl_world_destroy(grip.world);
    }
}
