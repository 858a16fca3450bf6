// A bed of grains at rest between walls, in two and three dimensions: its floor bears its weight,
// it does not creep, and it falls as anything falls.
#include "sand.h"

// A box of whole cells between four walls, filled to a height.
static Sand make_bed(int dimension, double wall_friction, double height, TdlBodyId* floor) {
    Sand sand = sand_world(2.0e-3, (TdlVec3){0.0, 0.0, -9.81}, 0.5);
    *floor = sand_wall(&sand, (TdlVec3){0}, (TdlVec3){0.0, 0.0, 1.0}, 0.5);
    sand_wall(&sand, (TdlVec3){-0.1, 0.0, 0.0}, (TdlVec3){1.0, 0.0, 0.0}, wall_friction);
    sand_wall(&sand, (TdlVec3){0.1, 0.0, 0.0}, (TdlVec3){-1.0, 0.0, 0.0}, wall_friction);
    TdlGrainsFill fill = {.low = {-0.1, -0.06, 0.0}, .high = {0.1, 0.06, height}};
    TdlGrainsDef def =
        sand_box(0.02, (TdlVec3){-0.12, -0.08, -0.02}, (TdlVec3){0.12, 0.08, 0.2}, &fill);
    def.dimension = dimension;
    if (dimension == 3) {
        def.per_cell = 2;
        sand_wall(&sand, (TdlVec3){0.0, -0.06, 0.0}, (TdlVec3){0.0, 1.0, 0.0}, wall_friction);
        sand_wall(&sand, (TdlVec3){0.0, 0.06, 0.0}, (TdlVec3){0.0, -1.0, 0.0}, wall_friction);
    }
    sand_add(&sand, &def);
    return sand;
}

// What the bed does downwards to all that it touches.
static double all_forces(const Sand* sand) {
    int count;
    const TdlContactForce* forces = tdl_world_contact_forces(sand->world, &count);
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum -= forces[i].force.z;
    }
    return sum;
}

static void bears_its_weight(int dimension, double wall_friction) {
    TdlBodyId floor;
    Sand sand = make_bed(dimension, wall_friction, 0.1, &floor);
    double weight = sand_info(&sand).mass * 9.81;
    CHECK_NEAR(sand_info(&sand).mass, 1500.0 * 0.2 * 0.1 * (dimension == 2 ? 1.0 : 0.12),
               1.0e-12 * weight);
    for (int i = 0; i < 100 && sand_step(&sand); ++i) {
    }
    double force = -sand_force(&sand, floor).z, still = sand_speed(&sand);
    printf("%d D, walls %g: floor %.9f of the weight, speed %.2g m/s, kept %.4f, error %.2g, %d "
           "unsolved\n",
           dimension, wall_friction, force / weight, still, sand_info(&sand).volume_kept,
           sand.worst_error, sand.unsolved);
    CHECK_INT(sand.unsolved, 0);
    CHECK(still < 1.0e-8);
    // which part walls with friction bear is a matter of how the bed came there
    CHECK_NEAR(wall_friction == 0.0 ? force : all_forces(&sand), weight, 1.0e-6 * weight);
    tdl_world_destroy(sand.world);
}

TEST(a_bed_in_two_dimensions_rests_on_its_floor) {
    bears_its_weight(2, 0.0);
    bears_its_weight(2, 0.4);
}

TEST(a_bed_in_three_dimensions_rests_on_its_floor) {
    bears_its_weight(3, 0.0);
}
