// CoRdE: derivatives, momenta.
#include "rod/corde.h"

#include "ref/nodal_checks.h"

TEST(derivatives_are_exact) {
    check_derivatives("corde");
    check_jacobian("corde");
}

// Spin of an edge: four times its inertia times the rate of its quaternion, turned into a vector.
static TdlVec3 edge_spin(const Rod* rod, int i) {
    double a = rod->radius[0], b = rod->radius[1];
    double J = rod->line_density * rod->element_length * (a * a + b * b) / 4.0;
    Quat p = quat_load(rod->q_before + 7 * i + 3), rate = quat_load(rod->v + 7 * i + 3);
    Quat w = quat_mul(rate, quat_conj(p));
    return (TdlVec3){2.0 * J * w.x, 2.0 * J * w.y, 2.0 * J * w.z};
}

TEST(a_free_rod_keeps_its_momenta) {
    check_free_flights("corde", edge_spin);
}
