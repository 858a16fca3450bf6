// What a step takes from the energy of a super-model: what they share.
#include "rod/losses.h"

Twist loss_root(const Rod* rod, const RodStep* step, const double* v) {
    const double* root = v + rod->dof_count - rod->root_dofs;
    Twist at = step->base_rate;
    if (rod->root_dofs >= 3) {
        at.angular = tdl_load3(root, 0);
    }
    if (rod->root_dofs == 6) {
        at.linear = tdl_load3(root, 1);
    }
    return at;
}

RodLosses loss_total(const Rod* rod, const RodStep* step, const LossSum* sum, double kinetic) {
    double m = rod->line_density * rod->element_length, dt = step->dt;
    double slowed = rod_mass_factor(rod, dt) - 1.0;
    double carried = 0.5 * m * sum->square + kinetic - m * sum->brought;
    return (RodLosses){.damping = slowed * m * sum->square + dt * rod->damping * sum->bending,
                       .numerical = carried + 0.5 * dt * dt * sum->bending,
                       .work =
                           dt * (m * tdl_dot3(rod_pull(rod, step), sum->motion) + sum->pointing)};
}
