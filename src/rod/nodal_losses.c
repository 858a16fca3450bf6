// Where the energy of a nodal rod goes in a step. discrete-elastic-rod.md (D.17)
#include "math/dense.h"
#include "rod/nodal_work.h"

// Adds what the strains of an element lose, and their impulses to `push`. `before` and `still` are
// the element at the start of the step, and at its end but with clamps that did not turn. (D.17)
static void add_strain_losses(const Rod* rod, double dt, const double* v,
                              const NodalElement* before, const NodalElement* still,
                              const NodalElement* el, RodLosses* out, double* push) {
    for (int k = 0; k < el->count; ++k) {
        double stiffness = el->stiffness[k], change = el->value[k] - before->value[k];
        double braked = rod->damping / dt * stiffness * change;
        double force = stiffness * (el->value[k] - el->rest[k]) + braked;
        double turned = el->value[k] - still->value[k];
        double along = dt * tdl_dot(el->dof_count, el->slope[k], v + el->first);
        out->damping += braked * change;
        out->hold += force * turned;
        out->numerical += 0.5 * stiffness * change * change + force * (along + turned - change);
        for (int i = 0; i < el->dof_count; ++i) {
            push[el->first + i] += dt * force * el->slope[k][i];
        }
    }
}

RodLosses nodal_losses(const Rod* rod, const RodStep* step, const double* v, double touch) {
    NodalWork w = nodal_work(rod);
    double dt = step->dt, factor = rod_mass_factor(rod, dt), *push = w.change, *fall = w.turn;
    NodalShape now = nodal_shape(rod), end = nodal_end_shape(rod, step, w.q), still = now;
    RodLosses out = {0};
    still.q = w.q;

    // inertia, drag and dead loads
    nodal_dead_load(&now, step->gravity, false, fall);
    for (int i = 0; i < w.n; ++i) {
        double change = v[i] - rod->v[i];
        w.q[i] = rod->q[i] + dt * v[i];
        push[i] = w.mass[i] * (factor * v[i] - rod->v[i]) - dt * w.load[i];
        out.numerical += 0.5 * w.mass[i] * change * change;
        out.jump += 0.5 * w.mass[i] * change * change;
        out.damping += (factor - 1.0) * w.mass[i] * v[i] * v[i];
        out.work += dt * w.load[i] * v[i];
        out.given += dt * (w.load[i] - fall[i]) * v[i];
    }
    for (int e = 0; e < w.element_count; ++e) {
        NodalElement el[3];
        nodal_element(&now, e, NULL, &el[0], NULL);
        nodal_element(&still, e, NULL, &el[1], NULL);
        nodal_element(&end, e, NULL, &el[2], NULL);
        add_strain_losses(rod, dt, v, &el[0], &el[1], &el[2], &out, push);
    }

    // what is left of the equation of motion: impulses of contacts, of the holds, and the step's
    // own
    out.numerical += touch;
    for (int i = 0; i < w.n; ++i) {
        double power = push[i] * v[i];
        bool held = nodal_is_held(rod, i);
        out.hold += held ? power : 0.0;
        out.numerical -= held ? 0.0 : power;
    }
    double l = rod->element_length; // places are counted in it
    out.start = tdl_scale3(1.0 / l, tdl_load3(push, 0));
    out.end = tdl_scale3(1.0 / l, tdl_load3(push + w.n - 3, 0));
    if (nodal_kind(rod)->tidy != NULL) {
        out.numerical += nodal_elastic_energy(&end);
        nodal_kind(rod)->tidy(rod, w.q);
        out.numerical -= nodal_elastic_energy(&end);
    }
    return out;
}
