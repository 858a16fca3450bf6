// Grains that flow: through a channel round a cylinder, as in S4, 3.3. granular.md, 10
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
