// How much room grains have at a place of stress: what its function has of the grid that is not
// behind the surface of a body, which the world tells. (A.34)
#include "granular/bed.h"

BodyLattice bed_lattice(const Bed* bed) {
    const GrainGrid* grid = &bed->grid;
    bool cells = bed->def.stress == TDL_GRAINS_CELLS;
    double first[GRID_AXES];
    BodyLattice out = {
        .spacing = grid->spacing, .count = {1, 1, 1}, .falling = !cells, .open = bed->open};
    for (int a = 0; a < grid->axes; ++a) {
        int slot = grid_slot(grid->axes, a);
        first[a] = grid->low[a] + (cells ? 0.5 * grid->spacing : 0.0);
        out.count[slot] = bed->places[a];
        out.step[slot] = bed->place_step[a];
        out.around[slot] = grid->around[a];
    }
    out.first = grid_point(grid, first);
    return out;
}

void bed_empty_rooms(Bed* bed) {
    BodyLattice x = bed_lattice(bed);
    for (int k = 0; k < x.count[2]; ++k) {
        for (int j = 0; j < x.count[1]; ++j) {
            for (int i = 0; i < x.count[0]; ++i) {
                int at[3] = {i, j, k};
                double clear[LATTICE_SIDES];
                lattice_clear(&x, at, clear);
                x.open[i * x.step[0] + j * x.step[1] + k * x.step[2]] = lattice_open(clear);
            }
        }
    }
    bed_find_rooms(bed);
}

void bed_find_rooms(Bed* bed) {
    for (int j = 0; j < bed->place_count; ++j) {
        bed->place_room[j] = bed->open[j] * bed->grid.cell_volume;
    }
}
