// A step of a bed: particles to the grid, gravity and what is known before friction, rows of
// strain; and, with the velocities that these and all that touches it leave, back. granular.md, 3
#include "granular/bed.h"

#include "base/clock.h"

#include <string.h>

// Particles are lost where they are so much of a spacing outside: at a wall along the grid's face
// they come as near to it as nodes are at rest.
static const double LEAVE = 0.01;

// --- before --------------------------------------------------------------------------------------

static void add_gravity(Bed* bed, double dt, TdlVec3 gravity) {
    TdlVec3 fall = tdl_scale3(dt, gravity);
    fall.y = bed->grid.axes == 2 ? 0.0 : fall.y;
    bed->step.fall = tdl_norm3(fall);
    for (int i = 0; i < bed->node_count; ++i) {
        double* v = bed->v_free + bed->coordinate[i];
        tdl_store3(v, 0, tdl_add3(tdl_load3(v, 0), fall));
    }
}

// Nodes, rows and g of particles where they are now.
static bool list_all(Bed* bed) {
    double start = clock_now();
    bed_sort(bed);
    double sorted = clock_now();
    bed_gather(bed);
    double gathered = clock_now();
    if (!bed_list_nodes(bed)) {
        return false;
    }
    if (!bed_list_rows(bed)) {
        return false;
    }
    bed_assemble(bed);
    bed->seconds[0] = sorted - start;
    bed->seconds[1] = gathered - sorted;
    bed->seconds[2] = clock_now() - gathered;
    bed->listed = bed->def.fixed;
    return true;
}

static void hand_over(Bed* bed) {
    bed->strain.rows.count = bed->row_count;
    bed->strain.rows.node = bed->row_node;
    bed->strain.rows.g = bed->g;
    bed->strain.rows.mu = bed->mu;
    bed->strain.rows.bias = bed->bias;
    bed->strain.rows.impulse = bed->guess;
    bed->strain.node_count = bed->node_count;
    bed->strain.place = bed->place;
    bed->strain.mass = bed->mass;
    bed->strain.coordinate = bed->coordinate;
    bed->strain.reaction = bed->reacted;
    bed->strain.met = bed->met;
}

bool bed_predict(Bed* bed, double dt, TdlVec3 gravity) {
    size_t size = 3 * (size_t)bed->grid.node_count * sizeof *bed->v_free;
    bed->answered = false;
    bed->step = (BedStep){.dt = dt};
    bed_find_rooms(bed);
    if (!bed->listed && !list_all(bed)) {
        return false;
    }
    if (bed->def.fixed) {
        memcpy(bed->v_free, bed->flow, size);
    }
    bed->step.grid = bed_grid_kinetic(bed, bed->v_free);
    add_gravity(bed, dt, gravity);
    bed->step.weight = bed->def.fixed ? bed_grid_kinetic(bed, bed->v_free) - bed->step.grid : 0.0;
    bed_renew_rows(bed, dt);
    bed_hold_together(bed, dt);
    if (!bed_slow(bed, dt)) {
        return false;
    }
    memcpy(bed->before, bed->v_free, size);
    hand_over(bed);
    return true;
}

// --- after ---------------------------------------------------------------------------------------

static bool has_left(const GrainGrid* grid, const Particle* p) {
    for (int a = 0; a < grid->axes; ++a) {
        double at = (p->x[a] - grid->low[a]) / grid->spacing;
        if (!grid->around[a] && !(at >= -LEAVE && at <= grid->cells[a] + LEAVE)) {
            return true;
        }
    }
    return false;
}

// Puts those that left behind the others, which keep their order.
static void part_lost(Bed* bed, int lost) {
    int kept = 0, count = (int)bed->ledger.count, gone = count - lost;
    for (int p = 0; p < count; ++p) {
        int to = has_left(&bed->grid, bed->particle + p) ? gone++ : kept++;
        bed->other[to] = bed->particle[p];
        bed->other_number[to] = bed->number[p];
    }
    memcpy(bed->particle, bed->other, (size_t)count * sizeof *bed->other);
    memcpy(bed->number, bed->other_number, (size_t)count * sizeof *bed->other_number);
    bed->ledger.count = kept;
}

static bool drop_lost(Bed* bed) {
    int lost = 0;
    for (int p = 0; p < bed->ledger.count; ++p) {
        lost += has_left(&bed->grid, bed->particle + p);
    }
    if (lost > 0) {
        part_lost(bed, lost);
    }
    return lost > 0;
}

// J, that moving nodes by `way` beside their velocities takes.
static double work_of_way(const Bed* bed, TdlVec3 gravity) {
    double sum = 0.0;
    for (int i = 0; i < bed->node_count && bed->spreads; ++i) {
        sum -= bed->mass[i] * tdl_dot3(gravity, tdl_load3(bed->way + bed->coordinate[i], 0));
    }
    return sum;
}

// Particles that have the grid's velocities, moved; those that left the grid are gone.
static TdlEnergy move(Bed* bed, double dt, TdlVec3 gravity) {
    double grid = bed_grid_kinetic(bed, bed->v_free), start = clock_now();
    bed_scatter(bed, dt);
    bed->seconds[3] = clock_now() - start;
    BedSums sums = bed_sum(bed);
    TdlEnergy all = bed_energy(bed, &sums, gravity);
    bed->ledger.transfer += bed->step.particles - bed->step.grid + grid - all.kinetic;
    if (!isfinite(all.kinetic + all.gravity)) {
        return all;
    }
    bool changed = bed_wrap_particles(bed);
    changed = drop_lost(bed) || changed;
    if (!changed) {
        return all;
    }
    sums = bed_sum(bed);
    TdlEnergy left = bed_energy(bed, &sums, gravity);
    bed->step.gone = all.kinetic + all.gravity - left.kinetic - left.gravity;
    return left;
}

TdlEnergy bed_advance(Bed* bed, double dt, TdlVec3 gravity) {
    if (!bed->answered) { // nobody solved the rows: they do nothing
        for (int k = 0; k < bed->row_count * bed->components; ++k) {
            bed->guess[k] = 0.0;
        }
    }
    bed_keep_impulses(bed);
    bed_find_way(bed);
    bed->step.pushed = work_of_way(bed, gravity);
    bed->ledger.plastic += bed->step.dissipated;
    if (!bed->def.fixed) {
        return move(bed, dt, gravity);
    }
    memcpy(bed->flow, bed->v_free, 3 * (size_t)bed->grid.node_count * sizeof *bed->flow);
    bed_scatter(bed, dt);
    return bed_energy(bed, NULL, gravity);
}
