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
    double square = sum->square - sum->taut;
    double carried = 0.5 * m * square + kinetic - m * sum->brought;
    double bending = sum->bending, work = m * tdl_dot3(rod_pull(rod, step), sum->motion);
    double blown = m * tdl_dot3(tdl_sub3(rod_pull(rod, step), step->gravity), sum->motion);
    RodLosses out = {.damping = slowed * m * square + dt * rod->damping * bending,
                     .numerical =
                         carried + 0.5 * dt * dt * bending + (1.0 + slowed) * m * sum->taut,
                     .work = dt * (work + sum->pointing),
                     .given = dt * (blown + sum->turning),
                     .jump = carried};
    // the equation of motion, tested with v
    out.hold = (1.0 + slowed) * m * sum->square - m * sum->brought - out.work + dt * sum->stress +
               dt * (rod->damping + dt) * bending;
    TdlVec3 gain = tdl_axpy3(tdl_scale3(-1.0, sum->carried), 1.0 + slowed, sum->motion);
    out.start = tdl_scale3(m, gain);
    out.start = tdl_axpy3(out.start, -dt * m * rod->element_count, rod_pull(rod, step));
    for (int k = 0; k < rod->load_count; ++k) {
        out.start = tdl_axpy3(out.start, -dt, rod->loads[k].force);
    }
    return out;
}

static bool is_zero(TdlVec3 v) {
    return tdl_dot3(v, v) == 0.0;
}

RodLosses loss_without_contacts(const Rod* rod, const RodStep* step, RodLosses all, double touch) {
    bool still = rod->end_hold == TDL_HOLD_FREE && is_zero(step->base_rate.linear) &&
                 is_zero(step->base_rate.angular);
    all.hold = still ? 0.0 : all.hold - touch;
    return all;
}
