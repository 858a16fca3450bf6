// The grid: its size and the order of its nodes. The axis with most cells has the longest steps, so
// that a layer across it is small and slabs along it are many.
#include "granular/grid.h"

void grid_measure(const TdlGrainsDef* def, double cells[GRID_AXES]) {
    TdlVec3 size = tdl_scale3(1.0 / def->spacing, tdl_sub3(def->high, def->low));
    cells[0] = size.x;
    cells[1] = def->dimension == 3 ? size.y : size.z;
    cells[2] = size.z;
}

// Axes from the fewest cells to the most; of equal ones the first comes first.
static void order_axes(const GrainGrid* grid, int order[GRID_AXES]) {
    for (int a = 0; a < grid->axes; ++a) {
        int k = a;
        for (; k > 0 && grid->cells[order[k - 1]] > grid->cells[a]; --k) {
            order[k] = order[k - 1];
        }
        order[k] = a;
    }
}

GrainGrid grid_of(const TdlGrainsDef* def) {
    GrainGrid grid = {.axes = def->dimension, .spacing = def->spacing, .plane = def->low.y};
    grid.depth = def->dimension == 2 ? def->depth : 1.0;
    grid.cell_volume = grid.depth * pow(def->spacing, def->dimension);
    double cells[GRID_AXES];
    grid_measure(def, cells);
    for (int a = 0; a < grid.axes; ++a) {
        grid.cells[a] = (int)lround(cells[a]);
        grid.nodes[a] = grid.cells[a] + 1;
        grid.low[a] = grid_component(&grid, def->low, a);
        grid.around[a] = a == 0 ? def->periodic[0] : a == 1 && grid.axes == 3 && def->periodic[1];
    }
    int order[GRID_AXES] = {0};
    order_axes(&grid, order);
    grid.cell_count = grid.node_count = 1;
    for (int k = 0; k < grid.axes; ++k) {
        int a = grid.slow = order[k];
        grid.cell_step[a] = grid.cell_count;
        grid.node_step[a] = grid.node_count;
        grid.cell_count *= grid.cells[a];
        grid.node_count *= grid.nodes[a];
    }
    return grid;
}

TdlVec3 grid_node_place(const GrainGrid* grid, int node) {
    double x[GRID_AXES] = {0};
    for (int a = 0; a < grid->axes; ++a) {
        x[a] = grid->low[a] + grid->spacing * grid_index(grid->node_step, grid->nodes, a, node);
    }
    return grid_point(grid, x);
}
