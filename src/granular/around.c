// Beds that go on where they began: the last layer of nodes along such an axis is the first one
// again. Sums over particles reach both; what is found for the first is told the last. (A.36)
#include "granular/bed.h"

typedef void (*NodePairFn)(Bed* bed, void* data, int first, int last);

// All pairs of nodes along an axis that are one.
static void for_pairs(Bed* bed, int axis, NodePairFn act, void* data) {
    const GrainGrid* grid = &bed->grid;
    for (int i = 0; i < grid->node_count; ++i) {
        if (grid_index(grid->node_step, grid->nodes, axis, i) == grid->cells[axis]) {
            act(bed, data, i - grid->cells[axis] * grid->node_step[axis], i);
        }
    }
}

static void add_node(Bed* bed, void* data, int first, int last) {
    (void)data;
    bed->node_volume[first] += bed->node_volume[last];
    for (int k = 0; k < 3; ++k) {
        bed->v_free[3 * first + k] += bed->v_free[3 * last + k];
    }
}

static void copy_node(Bed* bed, void* data, int first, int last) {
    (void)data;
    bed->node_volume[last] = bed->node_volume[first];
    for (int k = 0; k < 3; ++k) {
        bed->v_free[3 * last + k] = bed->v_free[3 * first + k];
    }
}

static void copy_vector(Bed* bed, void* data, int first, int last) {
    (void)bed;
    double* v = data;
    for (int k = 0; k < 3; ++k) {
        v[3 * last + k] = v[3 * first + k];
    }
}

static void copy_index(Bed* bed, void* data, int first, int last) {
    (void)bed;
    ((int*)data)[last] = ((const int*)data)[first];
}

static void for_all(Bed* bed, NodePairFn act, void* data) {
    for (int a = bed->grid.axes - 1; a >= 0; --a) {
        if (bed->grid.around[a]) {
            for_pairs(bed, a, act, data);
        }
    }
}

void bed_fold(Bed* bed) {
    for_all(bed, add_node, NULL);
    for_all(bed, copy_node, NULL);
}

void bed_copy_around(Bed* bed, double* v) {
    for_all(bed, copy_vector, v);
}

void bed_index_around(Bed* bed, int* of_nodes) {
    for_all(bed, copy_index, of_nodes);
}

bool bed_is_again(const Bed* bed, int node) {
    bool again = false;
    for (int a = 0; a < bed->grid.axes; ++a) {
        int at = grid_index(bed->grid.node_step, bed->grid.nodes, a, node);
        again = again || (bed->grid.around[a] && at == bed->grid.cells[a]);
    }
    return again;
}

bool bed_wrap_particles(Bed* bed) {
    const GrainGrid* grid = &bed->grid;
    bool any = false;
    for (int a = 0; a < grid->axes; ++a) {
        double length = grid->cells[a] * grid->spacing;
        for (int p = 0; grid->around[a] && p < bed->ledger.count; ++p) {
            double* x = &bed->particle[p].x[a];
            double turns = floor((*x - grid->low[a]) / length);
            *x -= length * turns;
            any = any || turns != 0.0;
        }
    }
    return any;
}
