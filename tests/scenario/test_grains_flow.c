// Grains that flow: through a channel round a cylinder, as in S4, 3.3, and out of a silo.
// granular.md, 8
#include "sand.h"
#include "stage.h"
#include "tendril/grains.h"

#include <math.h>

// Pressures, Pa, of the scene's channel: the least of all, the highest in the cell behind the
// cylinder and the mean before it.
static void channel_pressures(double* least, double* behind, double* before) {
    Stage stage;
    TdlStepInfo info = {0};
    int unsolved = 0, count = 0;
    CHECK_INT(open_stage("channel.yaml", NULL, 1, &stage), TDL_STATUS_OK);
    for (int i = 0; i < 5 && tdl_world_step(stage.world, &info) == TDL_STATUS_OK; ++i) {
        unsolved += info.unsolved;
    }
    CHECK_INT(unsolved, 0);
    TdlGrainsParticles p = {0};
    CHECK_INT(tdl_grains_particles(stage.world, tdl_world_body(stage.world, "grains", 0), &p),
              TDL_STATUS_OK);
    *least = *behind = *before = 0.0;
    for (int i = 0; i < p.count; ++i) {
        double x = p.position[i].x - 0.3;
        bool middle = fabs(p.position[i].z) < 0.01;
        *least = fmin(*least, p.pressure[i]);
        *behind = middle && x > 0.025 && x < 0.03 ? fmax(*behind, p.pressure[i]) : *behind;
        if (middle && x > -0.05 && x < -0.03) {
            *before += p.pressure[i];
            ++count;
        }
    }
    *before /= count > 0 ? count : 1;
    close_stage(&stage);
}

// The flow opens behind the cylinder: a free surface, from which pressure rises again by rho g or
// 147 Pa a cell, three times that at most where grains below slip along walls that hold them. It is
// not negative anywhere, as it is where the flow may not open.
TEST(behind_a_cylinder_in_a_channel_there_is_no_pressure) {
    double least, behind, before;
    channel_pressures(&least, &behind, &before);
    printf("least %.2g Pa, behind at most %.2g, before %.4g\n", least, behind, before);
    CHECK(least >= 0.0);
    CHECK(behind < 450.0);
    CHECK(before > 3000.0);
}

// --- a silo --------------------------------------------------------------------------------------

// kg that went through the gate of the scene's silo by the times of the list.
static void run_silo(const double* times, int count, double* out) {
    Stage stage;
    CHECK_INT(open_stage("silo.yaml", NULL, 1, &stage), TDL_STATUS_OK);
    TdlStatus status = TDL_STATUS_OK;
    TdlVec3 gate = {0.0, 0.0, -0.02}, down = {0.0, 0.0, -1.0};
    for (int k = 0; k < count; ++k) {
        while (status == TDL_STATUS_OK && tdl_world_time(stage.world) < times[k] - 1.0e-9) {
            status = tdl_world_step(stage.world, NULL);
        }
        TdlBodyId bed = tdl_world_body(stage.world, "grains", 0);
        CHECK_INT(tdl_grains_mass_beyond(stage.world, bed, gate, down, &out[k]), TDL_STATUS_OK);
    }
    CHECK_INT(status, TDL_STATUS_OK);
    close_stage(&stage);
}

// What runs out does not depend on the height above, which sinks from 0.38 to 0.25 m meanwhile.
TEST(a_silo_runs_out_evenly) {
    double times[4] = {0.2, 0.3, 0.4, 0.5}, mass[4], low = INFINITY, high = 0.0;
    run_silo(times, 4, mass);
    for (int k = 0; k < 3; ++k) {
        double rate = (mass[k + 1] - mass[k]) / 0.1;
        low = fmin(low, rate);
        high = fmax(high, rate);
    }
    printf("%.1f to %.1f kg/s\n", low, high);
    CHECK(high - low < 0.02 * (high + low));
}

// kg/s through half an opening of a silo that is cut in the middle, from 0.2 to 0.5 s.
static double rate_through(double opening) {
    double h = 0.01, half = 0.2, height = 0.4, from = 0.0, to = 0.0;
    Sand sand = sand_world_to(1.0e-3, 2.0e-3, (TdlVec3){0.0, 0.0, -9.81}, 0.4, 1);
    sand_wall(&sand, (TdlVec3){0}, (TdlVec3){1.0, 0.0, 0.0}, 0.0);
    sand_wall(&sand, (TdlVec3){half, 0.0, 0.0}, (TdlVec3){-1.0, 0.0, 0.0}, 0.4);
    TdlColliderDef rim = tdl_collider_def_default();
    rim.shape = TDL_SHAPE_CAPSULE;
    rim.radius = 0.02;
    rim.length = half;
    rim.pose.position = (TdlVec3){0.5 * opening + rim.radius, 0.0, -rim.radius};
    TdlBodyId id;
    CHECK_INT(tdl_world_add_collider(sand.world, &rim, &id), TDL_STATUS_OK);
    TdlGrainsFill fill = {.high = {half, 0.0, height}};
    TdlGrainsDef def =
        sand_box(h, (TdlVec3){-h, 0.0, -0.08}, (TdlVec3){half + h, 0.0, height + 2.0 * h}, &fill);
    def.stress = TDL_GRAINS_CELLS;
    sand_add(&sand, &def);
    TdlVec3 gate = {0.0, 0.0, -0.02}, down = {0.0, 0.0, -1.0};
    for (int i = 0; i < 250 && sand_step(&sand); ++i) {
        CHECK_INT(
            tdl_grains_mass_beyond(sand.world, sand.grains, gate, down, i < 100 ? &from : &to),
            TDL_STATUS_OK);
    }
    tdl_world_destroy(sand.world);
    return (to - from) / 0.3;
}

// Beverloo: the rate grows as the opening to the power of 1.5; grains have no size here, so none is
// taken from the opening. Between 6 and 12 cells, by the line of least squares through logarithms.
TEST(an_opening_lets_through_as_its_width_to_three_halves) {
    if (getenv("TENDRIL_LONG") == NULL) {
        SKIP("40 s: TENDRIL_LONG=1");
        return;
    }
    double width[3] = {0.06, 0.08, 0.12}, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
    for (int k = 0; k < 3; ++k) {
        double a = log(width[k]), rate = rate_through(width[k]), b = log(rate);
        printf("%g m: %.1f kg/s\n", width[k], rate);
        x += a / 3.0;
        y += b / 3.0;
        xx += a * a / 3.0;
        xy += a * b / 3.0;
    }
    double power = (xy - x * y) / (xx - x * x);
    printf("power %.3f of 1.5\n", power);
    CHECK_NEAR(power, 1.5, 0.05 * 1.5);
}
