// What walls bear of grains: one that yields, and those of a silo whose floor sinks. granular.md
#include "sand.h"

static const double TOLERANCE = 1.0e-6, WEIGHT = 1500.0 * 9.81; // N/m^3

// The mean thrust on a wall of 10 cells that moves by 4 mm, over half rho g H^2.
static double thrust(double speed) {
    Sand sand = sand_world_to(TOLERANCE, 2.0e-3, (TdlVec3){0.0, 0.0, -9.81}, 0.5, 1);
    sand_wall(&sand, (TdlVec3){0}, (TdlVec3){0.0, 0.0, 1.0}, 0.5);
    sand_wall(&sand, (TdlVec3){-0.6, 0.0, 0.0}, (TdlVec3){1.0, 0.0, 0.0}, 0.0);
    TdlBodyId wall = sand_moving_wall(&sand, (TdlVec3){0}, (TdlVec3){-1.0, 0.0, 0.0}, 0.0,
                                      (TdlVec3){speed, 0.0, 0.0});
    TdlGrainsFill fill = {.low = {-0.6, 0.0, 0.0}, .high = {0.0, 0.0, 0.2}};
    TdlGrainsDef def =
        sand_box(0.02, (TdlVec3){-0.64, 0.0, -0.02}, (TdlVec3){0.2, 0.0, 0.32}, &fill);
    sand_add(&sand, &def);
    double sum = 0.0;
    for (int i = 0; i < 100 && sand_step(&sand); ++i) {
        sum += i < 50 ? 0.0 : sand_force(&sand, wall).x;
    }
    CHECK_INT(sand.unsolved, 0);
    tdl_world_destroy(sand.world);
    return sum / 50.0 / (0.5 * WEIGHT * 0.2 * 0.2);
}

// sin(phi) = mu in two dimensions: Rankine's limits are 1/3 and 3. The grid smears the wedge that
// slides over two of its ten cells, which bears on both.
TEST(a_wall_that_yields_bears_what_rankine_says) {
    double active = thrust(0.02), passive = thrust(-0.02);
    printf("active %.4f of 0.3333, passive %.4f of 3\n", active, passive);
    CHECK_NEAR(active, 1.0 / 3.0, 0.05 / 3.0);
    CHECK_NEAR(passive, 3.0, 0.3);
}

typedef struct Silo {
    Sand sand;
    TdlBodyId wall[2], floor;
    double width, height;
} Silo;

static Silo make_silo(void) {
    Silo silo = {.width = 0.2, .height = 1.0};
    double half = 0.5 * silo.width;
    silo.sand = sand_world_to(TOLERANCE, 2.0e-3, (TdlVec3){0.0, 0.0, -9.81}, 0.5, 1);
    for (int k = 0; k < 2; ++k) {
        double side = k == 0 ? -1.0 : 1.0;
        silo.wall[k] = sand_wall(&silo.sand, (TdlVec3){side * half, 0.0, 0.0},
                                 (TdlVec3){-side, 0.0, 0.0}, 0.3);
    }
    silo.floor = sand_moving_wall(&silo.sand, (TdlVec3){0}, (TdlVec3){0.0, 0.0, 1.0}, 0.5,
                                  (TdlVec3){0.0, 0.0, -5.0e-3});
    TdlGrainsFill fill = {.low = {-half, 0.0, 0.0}, .high = {half, 0.0, silo.height}};
    TdlGrainsDef def =
        sand_box(0.02, (TdlVec3){-0.14, 0.0, -0.04}, (TdlVec3){0.14, 0.0, 1.08}, &fill);
    sand_add(&silo.sand, &def);
    return silo;
}

// As the floor sinks walls bear all the friction that they can, and the floor what Janssen says of
// the mean ratio K of the pressures across and along: W/(2 mu K H) (1 - exp(-2 mu K H/W)).
TEST(walls_of_a_silo_bear_most_of_it) {
    Silo silo = make_silo();
    TdlVec3 push[2];
    memset(push, 0, sizeof push);
    double floor = 0.0;
    for (int i = 0; i < 150 && sand_step(&silo.sand); ++i) {
        for (int k = 0; k < 2 && i >= 50; ++k) {
            TdlVec3 force = sand_force(&silo.sand, silo.wall[k]);
            push[k] = tdl_axpy3(push[k], 0.01, force);
        }
        floor += i < 50 ? 0.0 : -0.01 * sand_force(&silo.sand, silo.floor).z;
    }
    double weight = WEIGHT * silo.width * silo.height, across = push[1].x - push[0].x;
    double along = -(push[0].z + push[1].z);
    printf("floor %.4f of the weight, walls %.4f, friction %.4f of what it can be\n",
           floor / weight, along / weight, along / (0.3 * across));
    CHECK_NEAR(floor + along, weight, 1.0e-2 * weight);
    CHECK_NEAR(along, 0.3 * across, 2.0e-2 * along);
    // K of Janssen from the floor's own share agrees with the walls' mean pressure over the mean
    // vertical one
    double low = 0.1, high = 3.0, share = floor / weight;
    for (int i = 0; i < 60; ++i) {
        double k = 0.5 * (low + high), x = 2.0 * 0.3 * k * silo.height / silo.width;
        *((1.0 - exp(-x)) / x > share ? &low : &high) = k;
    }
    printf("K of the floor's share by Janssen %.3f\n", low);
    CHECK(low > 0.4 && low < 1.0);
    tdl_world_destroy(silo.sand.world);
}
