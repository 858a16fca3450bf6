// Slopes: a slab of grains below the angle of friction stands still; above it the middle of a long
// one slides as a plug, by g (sin a - mu cos a). granular.md
#include "sand.h"

static const double PI = 3.14159265358979323846;
static const double MU = 0.5; // 26.565 degrees

// A slab without ends. Gravity is turned, the bed stays level.
static Sand make_slope(int dimension, double degrees, TdlGrainsStress stress) {
    double a = degrees * PI / 180.0;
    Sand sand = sand_world(5.0e-3, (TdlVec3){9.81 * sin(a), 0.0, -9.81 * cos(a)}, 2.0);
    sand_wall(&sand, (TdlVec3){0}, (TdlVec3){0.0, 0.0, 1.0}, 2.0);
    TdlGrainsFill fill = {.low = {0.0, 0.0, 0.0}, .high = {0.48, 0.24, 0.1}};
    TdlGrainsDef def =
        sand_box(0.02, (TdlVec3){0.0, 0.0, -0.02}, (TdlVec3){0.48, 0.24, 0.16}, &fill);
    def.dimension = dimension;
    def.per_cell = dimension == 2 ? 4 : 2;
    def.mu = MU;
    def.stress = stress;
    def.periodic[0] = def.periodic[1] = true;
    sand_add(&sand, &def);
    return sand;
}

static void stands(int dimension, double degrees, TdlGrainsStress stress) {
    Sand sand = make_slope(dimension, degrees, stress);
    double most = 0.0;
    bool all = getenv("TENDRIL_LONG") != NULL;
    int steps = all ? 2000 : dimension == 2 ? REPEATS(2000, 60) : 200; // 10 s
    for (int i = 0; i < steps && sand_step(&sand); ++i) {
        most = i < 20 ? 0.0 : fmax(most, sand_speed(&sand));
    }
    printf("%d D, %g degrees, %s: at most %.2g m/s after 0.1 s, %d unsolved, error %.2g\n",
           dimension, degrees, stress == TDL_GRAINS_NODES ? "nodes" : "cells", most, sand.unsolved,
           sand.worst_error);
    CHECK(most < 1.0e-8);
    CHECK_INT(sand.unsolved, 0);
    tdl_world_destroy(sand.world);
}

// The mean velocity along the slope above the lowest cells, and its spread.
static double plug_speed(const Sand* sand, double* spread) {
    TdlGrainsParticles p = sand_particles(sand);
    double sum = 0.0, low = INFINITY, high = -INFINITY;
    int count = 0;
    for (int i = 0; i < p.count; ++i) {
        if (p.position[i].z > 0.02) {
            sum += p.velocity[i].x;
            low = fmin(low, p.velocity[i].x);
            high = fmax(high, p.velocity[i].x);
            ++count;
        }
    }
    *spread = high - low;
    return sum / count;
}

static void slides(int dimension, double degrees, TdlGrainsStress stress) {
    Sand sand = make_slope(dimension, degrees, stress);
    double a = degrees * PI / 180.0, spread = 0.0;
    for (int i = 0; i < 20 && sand_step(&sand); ++i) {
    }
    double time = tdl_world_time(sand.world);
    double speed = plug_speed(&sand, &spread);
    double expected = 9.81 * (sin(a) - MU * cos(a)) * time;
    printf("%d D, %g degrees, %s: %.6f m/s, %.5f of what it must be, spread %.2g, %d unsolved\n",
           dimension, degrees, stress == TDL_GRAINS_NODES ? "nodes" : "cells", speed,
           speed / expected, spread, sand.unsolved);
    CHECK_NEAR(speed, expected, 3.0e-3 * expected);
    tdl_world_destroy(sand.world);
}

TEST(slabs_below_the_angle_of_friction_stand) {
    stands(2, 24.0, TDL_GRAINS_NODES);
    stands(2, 26.0, TDL_GRAINS_NODES);
    stands(2, 26.0, TDL_GRAINS_CELLS);
}

TEST(slabs_above_the_angle_of_friction_slide_as_plugs) {
    slides(2, 28.0, TDL_GRAINS_NODES);
    slides(2, 29.5, TDL_GRAINS_NODES);
    slides(2, 31.0, TDL_GRAINS_NODES);
    slides(2, 31.0, TDL_GRAINS_CELLS);
}

TEST(slabs_in_three_dimensions_stand_and_slide) {
    if (!SANITIZED) { // a step of what slides is the same code
        stands(3, 24.0, TDL_GRAINS_NODES);
    }
    slides(3, 31.0, TDL_GRAINS_NODES);
}

TEST(slabs_at_all_angles_in_three_dimensions) {
    if (getenv("TENDRIL_LONG") == NULL) {
        SKIP("minutes: TENDRIL_LONG=1");
        return;
    }
    stands(3, 26.0, TDL_GRAINS_NODES);
    slides(3, 28.0, TDL_GRAINS_NODES);
    slides(3, 29.5, TDL_GRAINS_NODES);
}
