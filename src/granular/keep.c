// The volume of a bed, kept. Rows keep grains from closing to first order in a step, and what is
// left gathers; where they are packed denser than they can be they are led apart. That is a matter
// of places: it moves particles and leaves their velocities. The least such way, by masses, has
// pressures that push and do not pull, and is found by sweeps over rows: (A.30) to (A.32). A sweep
// costs half of one of the solver of rows.
#include "granular/bed.h"

#include <string.h>

// Share of the excess that goes in a step; the rest is for the next, as sampling is noisy.
static const double SPREAD = 0.5;

// A push goes through as many cells; deeper beds take some steps.
enum { SWEEPS = 20, ROWS_A_TASK = 256 };

// Excess that is noise of sampling by n particles a cell, times n: at nodes each has a share in
// many places, in cells they enter and leave one by one. Columns that fell come to rest with these.
static const double NOISE_NODES = 0.08, NOISE_CELLS = 1.0;

// --- what is wanted ------------------------------------------------------------------------------

static double noise(const Bed* bed) {
    double count = pow(bed->def.per_cell, bed->grid.axes);
    return (bed->def.stress == TDL_GRAINS_CELLS ? NOISE_CELLS : NOISE_NODES) / count;
}

// (A.30); false: nothing is too dense.
static bool aim_rows(Bed* bed) {
    double most = 1.0 + noise(bed);
    bool any = false;
    for (int j = 0; j < bed->row_count; ++j) {
        int place = bed->row_place[j];
        double excess = bed_volume_at(bed, place) - most * bed->place_room[place];
        bed->aim[j] = excess > 0.0 ? SPREAD * excess : excess;
        bed->push[j] = 0.0;
        any = any || excess > 0.0;
    }
    return any;
}

// Nodes at bodies and in them stay: grains are not led through walls.
static void hold_walls(Bed* bed) {
    for (int i = 0; i < bed->node_count; ++i) {
        bed->ease[i] = bed->met[i] ? 0.0 : 1.0 / bed->mass[i];
    }
}

// --- sweeps --------------------------------------------------------------------------------------

// How far the way of its nodes opens a row, and how far a push of 1 does.
static void measure(const Bed* bed, int row, double* opens, double* size) {
    int near = bed->strain.rows.near, axes = bed->grid.axes;
    const int* node = bed->row_node + (ptrdiff_t)row * near;
    const double* g = bed->g + (ptrdiff_t)row * near * axes;
    *opens = *size = 0.0;
    for (int k = 0; k < near; ++k, g += axes) {
        if (node[k] < 0) {
            continue;
        }
        const double* way = bed->way + 3 * (ptrdiff_t)bed->node[node[k]];
        double square = 0.0;
        for (int a = 0; a < axes; ++a) {
            *opens += g[a] * way[grid_slot(axes, a)];
            square += g[a] * g[a];
        }
        *size += square * bed->ease[node[k]];
    }
}

static void move_nodes(Bed* bed, int row, double by) {
    int near = bed->strain.rows.near, axes = bed->grid.axes;
    const int* node = bed->row_node + (ptrdiff_t)row * near;
    const double* g = bed->g + (ptrdiff_t)row * near * axes;
    for (int k = 0; k < near; ++k, g += axes) {
        if (node[k] < 0) {
            continue;
        }
        double* way = bed->way + 3 * (ptrdiff_t)bed->node[node[k]];
        for (int a = 0; a < axes; ++a) {
            way[grid_slot(axes, a)] += by * bed->ease[node[k]] * g[a];
        }
    }
}

typedef struct SweepTask {
    Bed* bed;
    int first;
} SweepTask;

// (A.32)
static void visit(void* user, int index, int worker) {
    (void)worker;
    const SweepTask* task = user;
    Bed* bed = task->bed;
    int row = task->first + index;
    double opens, size;
    measure(bed, row, &opens, &size);
    double push = size > 0.0 ? bed->push[row] + (bed->aim[row] - opens) / size : 0.0;
    double more = fmax(push, 0.0) - bed->push[row];
    if (more != 0.0) {
        bed->push[row] += more;
        move_nodes(bed, row, more);
    }
}

static void sweep(Bed* bed) {
    for (int c = 0; c < bed->strain.rows.colour_count; ++c) {
        int first = bed->colour_start[c], count = bed->colour_start[c + 1] - first;
        SweepTask task = {bed, first};
        pool_run(bed->pool, count, ROWS_A_TASK, visit, &task);
    }
}

void bed_find_way(Bed* bed) {
    bed->spreads = !bed->def.fixed && aim_rows(bed);
    if (!bed->spreads) {
        return;
    }
    memset(bed->way, 0, 3 * (size_t)bed->grid.node_count * sizeof *bed->way);
    hold_walls(bed);
    for (int k = 0; k < SWEEPS; ++k) {
        sweep(bed);
    }
}
