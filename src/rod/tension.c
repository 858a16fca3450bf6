// Tension of a super-model's elements, as rotary inertia.
//
// Forces that act in the shape at the start of a step are explicit. For a rod under tension T that
// is stable only while a wave takes longer than the step along an element. What the tension resists
// is turning: an element of length l that turns by the angle a across it gives T l a^2 / 2 back. So
// to first order the implicit step has dt^2 T l more inertia against it, which is never negative
// and keeps the recursions as they are. O(N), and O(1) for a rod that cannot be so taut. (H.33)
#include "rod/tension.h"

#include <string.h>

// Tension, over m l / dt^2 of an element, that is stable without: what is less stays explicit, and
// is not braked. A straight chain bears a third.
static const double EXPLICIT = 0.3;

void tension_expect(Rod* rod, int element, double s, TdlVec3 force) {
    (void)s; // in the middle of its element is near enough
    double* own = rod->expected + 3 * (ptrdiff_t)element;
    tdl_store3(own, 0, tdl_add3(tdl_load3(own, 0), force));
}

// The force on one element, with what it weighs; `weight` is the mean of all.
static TdlVec3 element_force(const Rod* rod, TdlVec3 weight, int element) {
    TdlVec3 sum = tdl_scale3(rod->share[element].mass, weight);
    for (int k = 0; k < rod->load_count; ++k) {
        if (rod->loads[k].element == element) {
            sum = tdl_add3(sum, rod->loads[k].force);
        }
    }
    return rod->expects ? tdl_add3(sum, tdl_load3(rod->expected, element)) : sum;
}

static TdlVec3 weight_of(const Rod* rod, const RodStep* step) {
    return tdl_scale3(rod->line_density * rod->element_length, rod_pull(rod, step));
}

// All that pulls at a rod and its branches.
static TdlVec3 whole_force(const Rod* rod, const RodStep* step) {
    TdlVec3 sum = rod->held_state.force, weight = weight_of(rod, step);
    for (int i = 0; i < rod->element_count; ++i) {
        sum = tdl_add3(sum, element_force(rod, weight, i));
    }
    for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        sum = tdl_add3(sum, whole_force(branch, step));
    }
    return sum;
}

// No element is under more tension than this.
static double most_tension(const Rod* rod, const RodStep* step) {
    double most = rod->element_count * tdl_norm3(weight_of(rod, step));
    most += tdl_norm3(rod->held_state.force);
    for (int k = 0; k < rod->load_count; ++k) {
        most += tdl_norm3(rod->loads[k].force);
    }
    for (int i = 0; i < rod->element_count && rod->expects; ++i) {
        most += tdl_norm3(tdl_load3(rod->expected, i));
    }
    for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        most += most_tension(branch, step);
    }
    return most;
}

static double least_share(const Rod* rod) {
    double least = 1.0;
    for (int i = 0; i < rod->element_count && rod->varies; ++i) {
        least = fmin(least, rod->share[i].mass);
    }
    return least;
}

bool tension_find(const Rod* rod, const RodStep* step,
                  TdlVec3 (*chord)(const Rod* rod, int element), double* out) {
    double dt = step->dt, l = rod->element_length, m = rod->line_density * l;
    double stable = EXPLICIT * least_share(rod) * m * l / (dt * dt);
    // the midpoint rule takes forces in the middle of the step already
    if (step->middle || most_tension(rod, step) <= stable) {
        return false;
    }
    double unit = dt * dt * l / (m * rod_mass_factor(rod, dt));
    TdlVec3 beyond = rod->held_state.force, weight = weight_of(rod, step);
    if (rod->root_dofs == 6) { // what moves all of it pulls at nothing
        TdlVec3 all = whole_force(rod, step);
        weight = tdl_axpy3(weight, -1.0 / rod->element_count, all);
    }
    bool some = false;
    for (int i = rod->element_count - 1; i >= 0; --i) {
        for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
            if (branch->parent_element == i) {
                beyond = tdl_add3(beyond, whole_force(branch, step));
            }
        }
        TdlVec3 own = element_force(rod, weight, i);
        double share = rod->share[i].mass, bearable = EXPLICIT * share * m * l / (dt * dt);
        double tension = tdl_dot3(tdl_axpy3(beyond, 0.5, own), tdl_unit3(chord(rod, i)));
        out[i] = unit / share * fmax(0.0, tension - bearable);
        some = some || out[i] > 0.0;
        beyond = tdl_add3(beyond, own);
    }
    return some;
}
