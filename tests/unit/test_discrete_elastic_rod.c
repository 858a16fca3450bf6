// The discrete elastic rod: derivatives, invariance, momenta, twist.
#include "rod/discrete_elastic_rod.h"

#include "ref/nodal_checks.h"

TEST(derivatives_are_exact) {
    check_derivatives("der");
    check_jacobian("der");
}

// Spin of an edge about itself, as the shape in which the velocities were found has it.
static TdlVec3 edge_spin(const Rod* rod, int i) {
    double a = rod->radius[0], b = rod->radius[1];
    double J = rod->line_density * rod->element_length * (a * a + b * b) / 4.0;
    TdlVec3 e =
        tdl_sub3(tdl_load3(rod->q_before + 4 * (i + 1), 0), tdl_load3(rod->q_before + 4 * i, 0));
    return tdl_scale3(J * rod->v[4 * i + 3] / tdl_norm3(e), e);
}

TEST(a_free_rod_keeps_its_momenta) {
    check_free_flights("der", edge_spin);
}
