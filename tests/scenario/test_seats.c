// Rods that lie along colliders: as many contacts as their gap has numbers, and held by these all
// along. world.md (W.26)
#include "look.h"
#include "tendril/world.h"
#include "test.h"
#include "things.h"

static const double RADIUS = 2.0e-3, LENGTH = 0.4, DENSITY = 1100.0, G = 9.81;
enum { ELEMENTS = 16, SAMPLES = 64 };

static TdlWorld* make_world(double mu) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    TdlWorld* world = NULL;
    def.step = 1.0e-3;
    def.contacts.law.mu = mu;
    CHECK(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
    return world;
}

// Free, soft, slowed down; along x from its start, above the origin, bent about z.
static TdlBodyId add_rope(TdlWorld* world, const char* model, double height, double bend) {
    TdlRodDef def = tdl_rod_def_default();
    TdlBodyId id = {0};
    def.model = model;
    def.length = LENGTH;
    def.radius[0] = def.radius[1] = RADIUS;
    def.element_count = ELEMENTS;
    def.young = 1.0e6;
    def.density = DENSITY;
    def.damping = 0.02;
    def.mass_damping = 5.0;
    def.start = TDL_HOLD_FREE;
    def.clamp.position = (TdlVec3){-0.5 * LENGTH, 0.0, height};
    def.curvature = def.natural_curvature = (TdlVec3){0.0, 0.0, bend};
    CHECK(tdl_world_add_rod(world, &def, &id) == TDL_STATUS_OK);
    return id;
}

static void run(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

static double weight(void) {
    return DENSITY * M_PI * RADIUS * RADIUS * LENGTH * G;
}

// The deepest place of the rope, sampled, in radii: below the plane z = 0, or in a ball about a
// centre where its radius is not 0.
static double deepest(const TdlWorld* world, TdlBodyId rope, double ball, TdlVec3 centre) {
    static TdlVec3 point[ELEMENTS * SAMPLES + 1];
    look_rod_points(world, rope, SAMPLES, point);
    double least = INFINITY;
    for (int i = 0; i <= ELEMENTS * SAMPLES; ++i) {
        double away = ball > 0.0 ? tdl_norm3(tdl_sub3(point[i], centre)) - ball : point[i].z;
        least = fmin(least, away - RADIUS);
    }
    return least / RADIUS;
}

// How far the impulses of elements in the middle of the rope are from their share of its weight.
static double unevenness(const TdlWorld* world) {
    int count;
    const TdlContactForce* f = tdl_world_contact_forces(world, &count);
    double element[ELEMENTS] = {0}, most = 0.0, own = weight() / ELEMENTS;
    for (int i = 0; i < count; ++i) {
        // a joint counts half for either side
        double force = -tdl_dot3(f[i].force, (TdlVec3){0.0, 0.0, 1.0}), u = f[i].u[0];
        int e = f[i].element[0], beside = u < 1.0e-6 ? e - 1 : u > 1.0 - 1.0e-6 ? e + 1 : e;
        element[e] += 0.5 * force;
        element[beside < 0 || beside >= ELEMENTS ? e : beside] += 0.5 * force;
    }
    for (int e = 4; e < ELEMENTS - 4; ++e) {
        most = fmax(most, fabs(element[e] / own - 1.0));
    }
    return most;
}

// N elements of one curvature each have a gap of N + 2 numbers, of linear curvature N + 3; the
// pieces of the first and last ones are held too. In the middle each carries its own weight.
TEST(a_rope_on_a_floor_is_held_by_as_many_contacts_as_its_gap_has_numbers) {
    const char* const models[] = {"super-helix", "super-helix-dense", "super-clothoid"};
    for (int k = 0; k < 3; ++k) {
        TdlWorld* world = make_world(0.3);
        TdlBodyId rope = add_rope(world, models[k], 1.2 * RADIUS, 4.0);
        add_floor(world);
        run(world, 500);
        int count;
        tdl_world_contact_forces(world, &count);
        double carried = look_contact_wrench(world, "rod", 0).force.z / weight();
        double deep = deepest(world, rope, 0.0, (TdlVec3){0}), uneven = unevenness(world);
        printf(
            "  %-17s %d contacts, carry %.6f of the weight, deepest %.4f radii, uneven by %.1e\n",
            models[k], count, carried, deep, uneven);
        CHECK(count >= ELEMENTS + 2 && count <= ELEMENTS + (k < 2 ? 14 : 3));
        CHECK_NEAR(carried, 1.0, 1.0e-3); // it still comes to rest
        CHECK_BELOW(-deep, 0.01);         // a tenth of what a step may overlap by
        CHECK_BELOW(uneven, 0.02);
        tdl_world_destroy(world);
    }
}

// It lies on the upper part of a ball and hangs down: where it lifts off all places are held.
TEST(a_rope_over_a_ball_is_held_all_along) {
    const char* const models[] = {"super-helix", "super-clothoid"};
    for (int k = 0; k < 2; ++k) {
        TdlWorld* world = make_world(0.6);
        TdlVec3 centre = {0.0, 0.0, -0.13};
        TdlColliderDef ball = tdl_collider_def_default();
        TdlBodyId id, rope = add_rope(world, models[k], 1.1 * RADIUS, 0.0);
        ball.shape = TDL_SHAPE_SPHERE;
        ball.radius = 0.13;
        ball.pose.position = centre;
        CHECK(tdl_world_add_collider(world, &ball, &id) == TDL_STATUS_OK);
        double deep = 0.0;
        int most = 0, count;
        for (int i = 0; i < 6; ++i) {
            run(world, 100);
            deep = fmin(deep, deepest(world, rope, ball.radius, centre));
            tdl_world_contact_forces(world, &count);
            most = count > most ? count : most;
        }
        double carried = look_contact_wrench(world, "rod", 0).force.z / weight();
        printf("  %-17s %d contacts, at most %d, carry %.6f of the weight, deepest %.4f radii\n",
               models[k], count, most, carried, deep);
        CHECK(count <= ELEMENTS + 20); // ten more places beside where it lifts off, at either end
        CHECK_NEAR(carried, 1.0, 1.0e-2);
        CHECK_BELOW(-deep, 0.05);
        tdl_world_destroy(world);
    }
}
