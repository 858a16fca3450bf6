// What walls bear of grains: one that yields, and those of a silo. granular.md, 9
#include "sand.h"

static const double TOLERANCE = 1.0e-6, WEIGHT = 1500.0 * 9.81; // N/m^3

// The mean thrust on a smooth wall across 10 cells of depth, over half rho g H^2. It yields by less
// than 0.1 mm: as it shifts, or as it turns about its toe.
static double thrust(TdlGrainsStress stress, double shift, double turn) {
    Sand sand = sand_world_to(TOLERANCE, 2.0e-3, (TdlVec3){0.0, 0.0, -9.81}, 0.5, 1);
    sand_wall(&sand, (TdlVec3){0}, (TdlVec3){0.0, 0.0, 1.0}, 0.5);
    sand_wall(&sand, (TdlVec3){-0.6, 0.0, 0.0}, (TdlVec3){1.0, 0.0, 0.0}, 0.0);
    TdlBodyId wall = sand_turning_wall(&sand, (TdlVec3){0}, (TdlVec3){-1.0, 0.0, 0.0}, 0.0,
                                       (TdlVec3){shift, 0.0, 0.0}, (TdlVec3){0.0, turn, 0.0});
    TdlGrainsFill fill = {.low = {-0.6, 0.0, 0.0}, .high = {0.0, 0.0, 0.2}};
    TdlGrainsDef def =
        sand_box(0.02, (TdlVec3){-0.64, 0.0, -0.02}, (TdlVec3){0.2, 0.0, 0.32}, &fill);
    def.stress = stress;
    sand_add(&sand, &def);
    double sum = 0.0;
    for (int i = 0; i < 20 && sand_step(&sand); ++i) {
        sum += i < 10 ? 0.0 : sand_force(&sand, wall).x;
    }
    tdl_world_destroy(sand.world);
    return sum / 10.0 / (0.5 * WEIGHT * 0.2 * 0.2);
}

// Beside a wall that turns about its toe strain is the same all over the wedge at 45 degrees, and
// stress is Rankine's: (A.62). With stress at nodes the toe's row reaches a cell into what stands:
// first order, 2.9 % of the thrust with ten cells, 5.7 with five.
TEST(a_wall_that_turns_about_its_toe_bears_what_rankine_says) {
    double active = thrust(TDL_GRAINS_CELLS, 0.0, 0.01);
    double passive = thrust(TDL_GRAINS_CELLS, 0.0, -0.01);
    double nodes = thrust(TDL_GRAINS_NODES, 0.0, 0.01);
    printf("active %.4f, %.4f at nodes, of 0.3333; passive %.4f of 3\n", active, nodes, passive);
    CHECK_NEAR(active, 1.0 / 3.0, 0.01 / 3.0);
    CHECK_NEAR(passive, 3.0, 0.01 * 3.0);
    CHECK_NEAR(nodes, 1.0 / 3.0, 0.035 / 3.0);
}

// Beside one that shifts a wedge may slide as a whole along a band, which bears less: (A.64). What
// is found is between that and Rankine's state, but for the width of the grid's bands.
TEST(a_wall_that_shifts_bears_between_a_wedge_and_rankine) {
    double s = 0.5 / sqrt(1.25), wedge = (1.0 - s) / (1.0 + s);
    double active = thrust(TDL_GRAINS_NODES, 2.0e-3, 0.0);
    double passive = thrust(TDL_GRAINS_NODES, -2.0e-3, 0.0);
    printf("active %.4f of 0.3333 to %.4f, passive %.4f of %.4f to 3\n", active, wedge, passive,
           1.0 / wedge);
    CHECK(active > 0.99 / 3.0 && active < 1.01 * wedge);
    CHECK(passive > 0.99 / wedge && passive < 1.05 * 3.0);
}

// --- a silo --------------------------------------------------------------------------------------

enum { PARTS = 5 }; // of its height, as high as it is wide

static const double WIDTH = 0.2, WALL_FRICTION = 0.3, INSIDE_FRICTION = 0.5;

// What a silo's walls and floor bear, N, mean over ten steps; walls by parts, from above.
typedef struct SiloForces {
    double floor, friction, pressure[PARTS];
} SiloForces;

// A contact on the border of two parts counts for both by half.
static void add_forces(const Sand* sand, SiloForces* sum) {
    int count;
    const TdlContactForce* f = tdl_world_contact_forces(sand->world, &count);
    for (int i = 0; i < count; ++i) {
        if (fabs(f[i].normal.z) > 0.5) {
            sum->floor -= 0.1 * f[i].force.z;
            continue;
        }
        double depth = PARTS - f[i].point.z / WIDTH;
        sum->friction -= 0.1 * f[i].force.z;
        for (int k = 0; k < PARTS; ++k) {
            double share = depth > k - 0.01 && depth < k + 1.01 ? 0.1 : 0.0;
            bool border = (k > 0 && depth < k + 0.01) || (k < PARTS - 1 && depth > k + 0.99);
            sum->pressure[k] += (border ? 0.5 : 1.0) * share * fabs(f[i].force.x);
        }
    }
}

// A silo ten cells wide, whose walls give way a little, so that grains go down along them.
static SiloForces find_silo(void) {
    Sand sand = sand_world_to(1.0e-5, 2.0e-3, (TdlVec3){0.0, 0.0, -9.81}, 0.5, 1);
    double half = 0.5 * WIDTH, height = PARTS * WIDTH;
    for (int k = 0; k < 2; ++k) {
        double side = k == 0 ? -1.0 : 1.0;
        sand_moving_wall(&sand, (TdlVec3){side * half, 0.0, 0.0}, (TdlVec3){-side, 0.0, 0.0},
                         WALL_FRICTION, (TdlVec3){side * 1.0e-3, 0.0, 0.0});
    }
    sand_wall(&sand, (TdlVec3){0}, (TdlVec3){0.0, 0.0, 1.0}, 0.5);
    TdlGrainsFill fill = {.low = {-half, 0.0, 0.0}, .high = {half, 0.0, height}};
    TdlGrainsDef def = sand_box(0.02, (TdlVec3){-half - 0.04, 0.0, -0.04},
                                (TdlVec3){half + 0.04, 0.0, height + 0.08}, &fill);
    def.stress = TDL_GRAINS_CELLS;
    sand_add(&sand, &def);
    SiloForces sum = {0};
    for (int i = 0; i < 20 && sand_step(&sand); ++i) {
        if (i >= 10) {
            add_forces(&sand, &sum);
        }
    }
    CHECK_INT(sand.unsolved, 0);
    tdl_world_destroy(sand.world);
    return sum;
}

// The pressure across over the mean one along, of grains that give way across everywhere and slide
// down along the walls. (A.66)
static double janssen_ratio(void) {
    double s = INSIDE_FRICTION, sum = 0.0;
    int n = 1000;
    for (int i = 0; i < n; ++i) {
        double t = WALL_FRICTION * (i + 0.5) / n;
        double mean = (1.0 + t * t) / (1.0 - sqrt(s * s - t * t * (1.0 - s * s)));
        sum += (2.0 * mean - 1.0) / n;
    }
    return 1.0 / sum;
}

// Janssen's profile (A.67) by parts. In the first one shear is not there yet, a matter of cells:
// 9 % less with ten, 5 with twenty.
TEST(walls_of_a_silo_bear_what_janssen_says) {
    SiloForces found = find_silo();
    double weight = WEIGHT * WIDTH * WIDTH * PARTS, along = weight / PARTS; // of a part
    double length = 1.0 / (2.0 * WALL_FRICTION * janssen_ratio());          // in widths
    double across = 0.0, share = length / PARTS * (1.0 - exp(-PARTS / length));
    printf("K %.4f, floor %.4f of the weight, by Janssen %.4f; walls by parts over his:",
           janssen_ratio(), found.floor / weight, share);
    for (int k = 0; k < PARTS; ++k) {
        double held = along * (1.0 - length * (exp(-k / length) - exp(-(k + 1) / length)));
        double ratio = WALL_FRICTION * found.pressure[k] / held;
        printf(" %.3f", ratio);
        CHECK_NEAR(ratio, 1.0, k == 0 ? 0.12 : 0.05);
        across += found.pressure[k];
    }
    printf("\n");
    CHECK_NEAR(found.floor, share * weight, 0.02 * share * weight);
    CHECK_NEAR(found.floor + found.friction, weight, 1.0e-3 * weight);
    CHECK_NEAR(found.friction, WALL_FRICTION * across, 1.0e-3 * found.friction);
}
