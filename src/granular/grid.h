// The grid of a bed of grains: a box of cells, and what is linear along each axis between their
// corners. Axes are x, y, z, or x, z in two dimensions. docs/theory/granular.md
#ifndef TDL_GRANULAR_GRID_H
#define TDL_GRANULAR_GRID_H

#include "tendril/grains.h"

#include <math.h>

enum { GRID_AXES = 3, GRID_CORNERS = 8 };

typedef struct GrainGrid {
    int axes;                                       // 2 or 3
    int cells[GRID_AXES], nodes[GRID_AXES];         // along each axis
    int cell_step[GRID_AXES], node_step[GRID_AXES]; // from one to the next along it
    int cell_count, node_count;
    int slow;               // the axis along which steps are longest
    bool around[GRID_AXES]; // it goes on where it began
    double spacing;         // m
    double low[GRID_AXES];  // m
    double depth;           // m, in two dimensions; else 1
    double plane;           // m, y in two dimensions
    double cell_volume;     // m^3
} GrainGrid;

// Of a definition without fault.
GrainGrid grid_of(const TdlGrainsDef* def);

// Cells along each of the axes of a definition, as a real number.
void grid_measure(const TdlGrainsDef* def, double cells[GRID_AXES]);

TdlVec3 grid_node_place(const GrainGrid* grid, int node);

// The place of a cell or a node along an axis, from its index and the steps.
static inline int grid_index(const int* step, const int* count, int axis, int index) {
    return index / step[axis] % count[axis];
}

static inline double grid_component(const GrainGrid* grid, TdlVec3 a, int axis) {
    return axis == 0 ? a.x : axis == 1 && grid->axes == 3 ? a.y : a.z;
}

// The component of three that belongs to an axis.
static inline int grid_slot(int axes, int axis) {
    return axes == 2 && axis == 1 ? 2 : axis;
}

static inline TdlVec3 grid_vector(const GrainGrid* grid, const double* a) {
    return grid->axes == 3 ? (TdlVec3){a[0], a[1], a[2]} : (TdlVec3){a[0], 0.0, a[1]};
}

static inline TdlVec3 grid_point(const GrainGrid* grid, const double* x) {
    return grid->axes == 3 ? (TdlVec3){x[0], x[1], x[2]} : (TdlVec3){x[0], grid->plane, x[1]};
}

// Nearer than so many spacings to a face of its cell a particle counts as being that near. What is
// on the far side then has at least this share of it: where it is the first to enter a cell, the
// nodes beyond it have a mass and a velocity, and rows of strain a bounded diagonal. (A.3)
static const double GRID_EDGE = 1.0e-4;

// Where a point is in its cell, from 0 to 1 along an axis, and the cell.
static inline int grid_cell_along(const GrainGrid* grid, const double* x, int axis, double* at) {
    double place = (x[axis] - grid->low[axis]) / grid->spacing;
    int last = grid->cells[axis] - 1; // of a point outside: the first or the last
    int cell = place < 0.0 ? 0 : place < last ? (int)place : last;
    double within = place - cell;
    *at = within < GRID_EDGE ? GRID_EDGE : within > 1.0 - GRID_EDGE ? 1.0 - GRID_EDGE : within;
    return cell;
}

static inline int grid_cell(const GrainGrid* grid, const double* x, double* at) {
    int cell = 0;
    for (int a = 0; a < grid->axes; ++a) {
        cell += grid->cell_step[a] * grid_cell_along(grid, x, a, at + a);
    }
    return cell;
}

// The node at the lowest corner of a cell.
static inline int grid_first_node(const GrainGrid* grid, int cell) {
    int node = 0;
    for (int a = 0; a < grid->axes; ++a) {
        node += grid->node_step[a] * grid_index(grid->cell_step, grid->cells, a, cell);
    }
    return node;
}

// From a cell's lowest corner to corner k, whose bits tell the side along each axis.
static inline int grid_corner_step(const GrainGrid* grid, int k) {
    int step = 0;
    for (int a = 0; a < grid->axes; ++a) {
        step += (k >> a & 1) * grid->node_step[a];
    }
    return step;
}

#endif
