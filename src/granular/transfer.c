// Between particles and grid: mass and velocity to nodes (A.4), volumes in place of integrals to
// rows of strain (A.8), velocities back (A.5). Particles are sorted by cell, so that all of a cell
// goes to sums of its own first. Slabs of cells, every second one at a time, share no nodes: their
// order, and not that of threads, is the order of all sums. One particle in three dimensions takes
// 80 multiplications to nodes, 270 to rows and 50 back, in lanes.
#include "granular/bed.h"

#include <string.h>

enum { SLAB = 2 }; // cells, of a slab: few, as flat beds have few

// --- shape functions -----------------------------------------------------------------------------

// By corner: 1 - side, and 2 side - 1.
static const double LOW[GRID_AXES][GRID_CORNERS] = {
    {1, 0, 1, 0, 1, 0, 1, 0}, {1, 1, 0, 0, 1, 1, 0, 0}, {1, 1, 1, 1, 0, 0, 0, 0}};
static const double RISE[GRID_AXES][GRID_CORNERS] = {
    {-1, 1, -1, 1, -1, 1, -1, 1}, {-1, -1, 1, 1, -1, -1, 1, 1}, {-1, -1, -1, -1, 1, 1, 1, 1}};

// (A.1)
static inline void find_weights(const int axes, const double* at, double* out) {
    for (int k = 0; k < 1 << axes; ++k) {
        double along = (LOW[0][k] + RISE[0][k] * at[0]) * (LOW[1][k] + RISE[1][k] * at[1]);
        out[k] = axes == 3 ? along * (LOW[2][k] + RISE[2][k] * at[2]) : along;
    }
}

static inline void find_place(const int axes, const GrainGrid* grid, const Particle* p,
                              double* at) {
    for (int a = 0; a < axes; ++a) {
        grid_cell_along(grid, p->x, a, at + a);
    }
}

// --- tasks ---------------------------------------------------------------------------------------

typedef struct SlabTask {
    Bed* bed;
    void (*cell)(Bed* bed, int cell);
    int parity;
} SlabTask;

static int slab_count(const GrainGrid* grid) {
    return (grid->cells[grid->slow] + SLAB - 1) / SLAB;
}

static void sweep_slab(void* user, int index, int worker) {
    (void)worker;
    const SlabTask* task = user;
    Bed* bed = task->bed;
    int layer = bed->grid.cell_step[bed->grid.slow], most = bed->grid.cell_count;
    int first = (2 * index + task->parity) * SLAB * layer, end = first + SLAB * layer;
    for (int c = first; c < end && c < most; ++c) {
        if (bed->cell_start[c + 1] > bed->cell_start[c]) {
            task->cell(bed, c);
        }
    }
}

// Of all cells with particles, those of a slab in order.
static void sweep_cells(Bed* bed, void (*cell)(Bed* bed, int cell)) {
    int slabs = slab_count(&bed->grid);
    for (int parity = 0; parity < 2; ++parity) {
        SlabTask task = {bed, cell, parity};
        pool_run(bed->pool, (slabs + 1 - parity) / 2, 1, sweep_slab, &task);
    }
}

// --- sorting -------------------------------------------------------------------------------------

static int block_count(const Bed* bed) {
    return (int)((bed->ledger.count + BED_BLOCK - 1) / BED_BLOCK);
}

static int block_end(const Bed* bed, int block) {
    long long end = (block + 1LL) * BED_BLOCK;
    return (int)(end < bed->ledger.count ? end : bed->ledger.count);
}

static void find_cells(void* user, int block, int worker) {
    (void)worker;
    Bed* bed = user;
    double at[GRID_AXES];
    for (int p = block * BED_BLOCK; p < block_end(bed, block); ++p) {
        bed->cell_of[p] = grid_cell(&bed->grid, bed->particle[p].x, at);
    }
}

static void move_sorted(void* user, int block, int worker) {
    (void)worker;
    Bed* bed = user;
    for (int p = block * BED_BLOCK; p < block_end(bed, block); ++p) {
        bed->other[p] = bed->particle[bed->order[p]];
        bed->other_number[p] = bed->number[bed->order[p]];
    }
}

static void swap_particles(Bed* bed) {
    Particle* particle = bed->particle;
    int* number = bed->number;
    bed->particle = bed->other;
    bed->number = bed->other_number;
    bed->other = particle;
    bed->other_number = number;
}

// By counting, which keeps the order within a cell.
void bed_sort(Bed* bed) {
    int *start = bed->cell_start, count = (int)bed->ledger.count, cells = bed->grid.cell_count;
    pool_run(bed->pool, block_count(bed), 1, find_cells, bed);
    memset(start, 0, ((size_t)cells + 1) * sizeof *start);
    for (int p = 0; p < count; ++p) {
        ++start[bed->cell_of[p] + 1];
    }
    for (int c = 0; c < cells; ++c) {
        start[c + 1] += start[c];
    }
    for (int p = 0; p < count; ++p) {
        bed->order[start[bed->cell_of[p]]++] = p;
    }
    // each start went to the next
    memmove(start + 1, start, (size_t)cells * sizeof *start);
    start[0] = 0;
    pool_run(bed->pool, block_count(bed), 1, move_sorted, bed);
    size_t left = (size_t)(bed->made - count);
    memcpy(bed->other + count, bed->particle + count, left * sizeof *bed->other);
    memcpy(bed->other_number + count, bed->number + count, left * sizeof *bed->other_number);
    swap_particles(bed);
}

// --- to the grid ---------------------------------------------------------------------------------

// Of a cell: volumes of its corners, and these times velocities.
typedef struct CellSums {
    double all;
    double volume[GRID_CORNERS];
    double momentum[GRID_AXES][GRID_CORNERS];
} CellSums;

// (A.4)
static inline void add_particle(const int axes, const GrainGrid* grid, const Particle* p,
                                CellSums* sums) {
    double at[GRID_AXES], share[GRID_CORNERS];
    find_place(axes, grid, p, at);
    find_weights(axes, at, share);
    for (int k = 0; k < 1 << axes; ++k) {
        share[k] *= p->volume;
        sums->volume[k] += share[k];
    }
    for (int a = 0; a < axes; ++a) {
        double v = p->v[a], by[GRID_AXES];
        for (int b = 0; b < axes; ++b) {
            by[b] = grid->spacing * p->c[a][b];
            v -= by[b] * at[b];
        }
        for (int k = 0; k < 1 << axes; ++k) {
            double far = (1.0 - LOW[0][k]) * by[0] + (1.0 - LOW[1][k]) * by[1];
            far += axes == 3 ? (1.0 - LOW[2][k]) * by[2] : 0.0;
            sums->momentum[a][k] += share[k] * (v + far);
        }
    }
    sums->all += p->volume;
}

static inline void gather_cell(const int axes, Bed* bed, int cell) {
    CellSums sums = {0};
    for (int p = bed->cell_start[cell]; p < bed->cell_start[cell + 1]; ++p) {
        add_particle(axes, &bed->grid, bed->particle + p, &sums);
    }
    bed->cell_volume[cell] = sums.all;
    int first = grid_first_node(&bed->grid, cell);
    for (int k = 0; k < 1 << axes; ++k) {
        int node = first + grid_corner_step(&bed->grid, k);
        bed->node_volume[node] += sums.volume[k];
        for (int a = 0; a < axes; ++a) {
            bed->v_free[3 * node + grid_slot(axes, a)] += sums.momentum[a][k];
        }
    }
}

static void gather_cell_2(Bed* bed, int cell) {
    gather_cell(2, bed, cell);
}

static void gather_cell_3(Bed* bed, int cell) {
    gather_cell(3, bed, cell);
}

void bed_gather(Bed* bed) {
    memset(bed->node_volume, 0, (size_t)bed->grid.node_count * sizeof *bed->node_volume);
    memset(bed->cell_volume, 0, (size_t)bed->grid.cell_count * sizeof *bed->cell_volume);
    memset(bed->v_free, 0, 3 * (size_t)bed->grid.node_count * sizeof *bed->v_free);
    sweep_cells(bed, bed->grid.axes == 2 ? gather_cell_2 : gather_cell_3);
    bed_fold(bed);
    for (int i = 0; i < bed->grid.node_count; ++i) {
        double volume = bed->node_volume[i];
        for (int k = 0; k < 3 && volume > 0.0; ++k) {
            bed->v_free[3 * i + k] /= volume;
        }
    }
}

// --- volumes alone, of particles in any order ----------------------------------------------------

void bed_volumes(const Bed* bed, double* out) {
    const GrainGrid* grid = &bed->grid;
    memset(out, 0, (size_t)bed->place_count * sizeof *out);
    for (int p = 0; p < bed->ledger.count; ++p) {
        const Particle* from = bed->particle + p;
        double at[GRID_AXES];
        int cell = grid_cell(grid, from->x, at), first = grid_first_node(grid, cell);
        if (bed->def.stress == TDL_GRAINS_CELLS) {
            out[cell] += from->volume;
            continue;
        }
        for (int k = 0; k < 1 << grid->axes; ++k) {
            double share = from->volume;
            for (int a = 0; a < grid->axes; ++a) {
                share *= k >> a & 1 ? at[a] : 1.0 - at[a];
            }
            out[first + grid_corner_step(grid, k)] += share;
        }
    }
}

// --- rows ----------------------------------------------------------------------------------------

// Where among a row's nodes corner `to` is, seen from corner `from`: 1 in the middle of three. Of a
// row of a cell, `to` alone.
static inline int near_index(int axes, int from, int to) {
    int near = 0;
    for (int a = axes - 1; a >= 0; --a) {
        near = 3 * near + (to >> a & 1) - (from >> a & 1) + 1;
    }
    return near;
}

// Slopes of corners one after the other, each by axes: as they stand in a row, where two corners
// that differ along the first axis follow each other.
enum { SLOPES = GRID_AXES * GRID_CORNERS };

// (A.2) is a product of a + b at_k over the axes k, with a, b of the values or, of its own axis, 0
// in b.
typedef struct SlopeTable {
    double a[GRID_AXES][SLOPES], b[GRID_AXES][SLOPES];
} SlopeTable;

static void make_slopes(const GrainGrid* grid, SlopeTable* out) {
    for (int q = 0; q < grid->axes << grid->axes; ++q) {
        int corner = q / grid->axes, own = q % grid->axes;
        for (int k = 0; k < grid->axes; ++k) {
            double rise = RISE[k][corner];
            out->a[k][q] = k == own ? rise / grid->spacing : LOW[k][corner];
            out->b[k][q] = k == own ? 0.0 : rise;
        }
    }
}

static inline void find_slopes(const int axes, const SlopeTable* t, const double* at, double* out) {
    for (int q = 0; q < axes << axes; ++q) {
        double along = (t->a[0][q] + t->b[0][q] * at[0]) * (t->a[1][q] + t->b[1][q] * at[1]);
        out[q] = axes == 3 ? along * (t->a[2][q] + t->b[2][q] * at[2]) : along;
    }
}

// Pairs of corners along the first axis are next to each other in both.
static inline void add_to_row(const int axes, double* restrict g, int from,
                              const double* restrict sums) {
    for (int to = 0; to < 1 << axes; to += 2) {
        double* restrict pair = g + axes * (from < 0 ? to : near_index(axes, from, to));
        const double* restrict own = sums + axes * to;
        for (int q = 0; q < 2 * axes; ++q) {
            pair[q] += own[q];
        }
    }
}

// Rows of a cell are far from each other in memory, by colours: they are asked for before the work
// on particles, which hides half of the way.
static inline void ask_for_rows(const int axes, const Bed* bed, int first, int* row) {
    size_t size = (size_t)(bed->strain.rows.near * axes);
    for (int j = 0; j < 1 << axes; ++j) {
        row[j] = bed->row_of[first + grid_corner_step(&bed->grid, j)];
        const double* g = bed->g + (size_t)(row[j] < 0 ? 0 : row[j]) * size;
        for (int to = 0; to < 1 << axes; to += 2) {
            const double* pair = g + axes * near_index(axes, j, to);
            __builtin_prefetch(pair, 1);
            __builtin_prefetch(pair + 2 * axes - 1, 1);
        }
    }
}

// (A.8) with N_j of nodes
static inline void assemble_nodes(const int axes, Bed* bed, int cell) {
    double sums[GRID_CORNERS][SLOPES] = {{0}};
    int row[GRID_CORNERS];
    ask_for_rows(axes, bed, grid_first_node(&bed->grid, cell), row);
    const SlopeTable* table = bed->slopes;
    for (int p = bed->cell_start[cell]; p < bed->cell_start[cell + 1]; ++p) {
        const Particle* from = bed->particle + p;
        double at[GRID_AXES], weight[GRID_CORNERS], slope[SLOPES];
        find_place(axes, &bed->grid, from, at);
        find_weights(axes, at, weight);
        find_slopes(axes, table, at, slope);
        for (int j = 0; j < 1 << axes; ++j) {
            double share = from->volume * weight[j];
            for (int q = 0; q < axes << axes; ++q) {
                sums[j][q] += share * slope[q];
            }
        }
    }
    size_t size = (size_t)(bed->strain.rows.near * axes);
    for (int j = 0; j < 1 << axes; ++j) {
        if (row[j] >= 0) {
            add_to_row(axes, bed->g + (size_t)row[j] * size, j, sums[j]);
        }
    }
}

// (A.8) with N_j = 1
static inline void assemble_one(const int axes, Bed* bed, int cell) {
    double sums[SLOPES] = {0};
    int row = bed->row_of[cell];
    for (int p = bed->cell_start[cell]; p < bed->cell_start[cell + 1] && row >= 0; ++p) {
        const Particle* from = bed->particle + p;
        double at[GRID_AXES], slope[SLOPES];
        find_place(axes, &bed->grid, from, at);
        find_slopes(axes, bed->slopes, at, slope);
        for (int q = 0; q < axes << axes; ++q) {
            sums[q] += from->volume * slope[q];
        }
    }
    if (row >= 0) {
        add_to_row(axes, bed->g + (size_t)row * (size_t)(bed->strain.rows.near * axes), -1, sums);
    }
}

static void assemble_nodes_2(Bed* bed, int cell) {
    assemble_nodes(2, bed, cell);
}

static void assemble_nodes_3(Bed* bed, int cell) {
    assemble_nodes(3, bed, cell);
}

static void assemble_one_2(Bed* bed, int cell) {
    assemble_one(2, bed, cell);
}

static void assemble_one_3(Bed* bed, int cell) {
    assemble_one(3, bed, cell);
}

void bed_assemble(Bed* bed) {
    if (bed->row_count == 0) {
        return;
    }
    static void (*const CELL[2][2])(Bed*, int) = {{assemble_nodes_2, assemble_nodes_3},
                                                  {assemble_one_2, assemble_one_3}};
    size_t size = (size_t)(bed->strain.rows.near * bed->grid.axes);
    if (bed->row_count == 0) {
        return;
    }
    memset(bed->g, 0, (size_t)bed->row_count * size * sizeof *bed->g);
    SlopeTable slopes;
    make_slopes(&bed->grid, &slopes);
    bed->slopes = &slopes;
    sweep_cells(bed, CELL[bed->def.stress == TDL_GRAINS_CELLS][bed->grid.axes - 2]);
    bed->slopes = NULL;
}

// --- to particles --------------------------------------------------------------------------------

// A velocity, and a register.
enum { LANES = 4 };
typedef double Lanes __attribute__((vector_size(8 * LANES)));

// A multilinear function of the place in a cell by its coefficients, those of corners k in the
// order of their bits: 1, x, y, xy, z, xz, yz, xyz.
typedef struct CellNodes {
    Lanes v[GRID_CORNERS], way[GRID_CORNERS];
} CellNodes;

static inline Lanes all_lanes(double a) {
    return (Lanes){a, a, a, a};
}

static inline void load_nodes(const int axes, const Bed* bed, int cell, const double* from,
                              Lanes* out) {
    int first = grid_first_node(&bed->grid, cell);
    for (int k = 0; k < 1 << axes; ++k) {
        const double* at = from + 3 * (ptrdiff_t)(first + grid_corner_step(&bed->grid, k));
        out[k] = axes == 3 ? (Lanes){at[0], at[1], at[2], 0.0} : (Lanes){at[0], at[2], 0.0, 0.0};
    }
    for (int a = 0; a < axes; ++a) {
        for (int k = 0; k < 1 << axes; ++k) {
            if (k >> a & 1) {
                out[k] -= out[k - (1 << a)];
            }
        }
    }
}

// Its value, and where asked for its slope times the spacing.
static inline Lanes value_at(const int axes, const Lanes* n, const double* at, Lanes* slope) {
    Lanes x = all_lanes(at[0]), y = all_lanes(at[1]), z = all_lanes(axes == 3 ? at[2] : 0.0);
    Lanes near = n[0] + x * n[1], by_y = n[2] + x * n[3];
    if (axes == 2) {
        if (slope != NULL) {
            slope[0] = n[1] + y * n[3];
            slope[1] = by_y;
        }
        return near + y * by_y;
    }
    Lanes far = n[4] + x * n[5], far_by_y = n[6] + x * n[7];
    Lanes by_z = far + y * far_by_y;
    if (slope != NULL) {
        slope[0] = n[1] + y * n[3] + z * (n[5] + y * n[7]);
        slope[1] = by_y + z * far_by_y;
        slope[2] = by_z;
    }
    return near + y * by_y + z * by_z;
}

// (A.5)
static inline void scatter_cell(const int axes, Bed* bed, int cell) {
    CellNodes nodes;
    double dt = bed->def.fixed ? 0.0 : bed->ledger.last;
    load_nodes(axes, bed, cell, bed->v_free, nodes.v);
    if (bed->spreads) {
        load_nodes(axes, bed, cell, bed->way, nodes.way);
    }
    Lanes inverse = all_lanes(1.0 / bed->grid.spacing);
    for (int i = bed->cell_start[cell]; i < bed->cell_start[cell + 1]; ++i) {
        Particle* p = bed->particle + i;
        double at[GRID_AXES];
        find_place(axes, &bed->grid, p, at);
        Lanes slope[GRID_AXES], v = value_at(axes, nodes.v, at, slope);
        Lanes way = all_lanes(dt) * v;
        way += bed->spreads ? value_at(axes, nodes.way, at, NULL) : all_lanes(0.0);
        for (int b = 0; b < axes; ++b) {
            slope[b] *= inverse;
        }
        for (int a = 0; a < axes; ++a) {
            p->v[a] = v[a];
            p->x[a] += way[a];
            for (int b = 0; b < axes; ++b) {
                p->c[a][b] = slope[b][a];
            }
        }
    }
}

static void scatter_cell_2(Bed* bed, int cell) {
    scatter_cell(2, bed, cell);
}

static void scatter_cell_3(Bed* bed, int cell) {
    scatter_cell(3, bed, cell);
}

void bed_scatter(Bed* bed, double dt) {
    bed->ledger.last = dt;
    bed_copy_around(bed, bed->v_free);
    bed_copy_around(bed, bed->way);
    sweep_cells(bed, bed->grid.axes == 2 ? scatter_cell_2 : scatter_cell_3);
}
