// Mass and energy of a bed. A particle's velocity is affine, and so is what it has of kinetic
// energy: (A.18), which no transfer between particles and grid can raise.
#include "granular/bed.h"

static inline void add_particle(const int axes, const GrainGrid* grid, const Particle* p,
                                BedSums* sums) {
    double square = 0.0, width[GRID_AXES];
    for (int a = 0; a < axes; ++a) {
        double at;
        grid_cell_along(grid, p->x, a, &at);
        width[a] = grid->spacing * grid->spacing * at * (1.0 - at);
    }
    for (int a = 0; a < axes; ++a) {
        square += p->v[a] * p->v[a];
        sums->moment[a] += p->volume * p->x[a];
        for (int b = 0; b < axes; ++b) {
            square += width[b] * p->c[a][b] * p->c[a][b];
        }
    }
    sums->square += p->volume * square;
    sums->volume += p->volume;
}

static inline BedSums sum_run(const int axes, const Bed* bed, int first, int end) {
    BedSums sums = {0};
    for (int p = first; p < end; ++p) {
        add_particle(axes, &bed->grid, bed->particle + p, &sums);
    }
    return sums;
}

static BedSums sum_block(const Bed* bed, int block) {
    int first = block * BED_BLOCK, left = (int)bed->ledger.count - first;
    int end = first + (left < BED_BLOCK ? left : BED_BLOCK);
    return bed->grid.axes == 2 ? sum_run(2, bed, first, end) : sum_run(3, bed, first, end);
}

static void add_sums(BedSums* to, const BedSums* from) {
    to->volume += from->volume;
    to->square += from->square;
    for (int a = 0; a < GRID_AXES; ++a) {
        to->moment[a] += from->moment[a];
    }
}

static void take_block(void* user, int block, int worker) {
    (void)worker;
    Bed* bed = user;
    bed->blocks[block] = sum_block(bed, block);
}

static int block_count(const Bed* bed) {
    return (int)((bed->ledger.count + BED_BLOCK - 1) / BED_BLOCK);
}

BedSums bed_sum(Bed* bed) {
    BedSums sums = {0};
    pool_run(bed->pool, block_count(bed), 1, take_block, bed);
    for (int k = 0; k < block_count(bed); ++k) {
        add_sums(&sums, bed->blocks + k);
    }
    return sums;
}

BedSums bed_sum_alone(const Bed* bed) {
    BedSums sums = {0};
    for (int k = 0; k < block_count(bed); ++k) {
        BedSums own = sum_block(bed, k);
        add_sums(&sums, &own);
    }
    return sums;
}

double bed_grid_kinetic(const Bed* bed, const double* v) {
    double sum = 0.0;
    for (int i = 0; i < bed->node_count; ++i) {
        TdlVec3 a = tdl_load3(v + bed->coordinate[i], 0);
        sum += 0.5 * bed->mass[i] * tdl_dot3(a, a);
    }
    return sum;
}

TdlEnergy bed_energy(const Bed* bed, const BedSums* sums, TdlVec3 gravity) {
    if (bed->def.fixed) {
        return (TdlEnergy){.kinetic = bed_grid_kinetic(bed, bed->flow)};
    }
    double density = bed->def.density, fall = 0.0;
    for (int a = 0; a < bed->grid.axes; ++a) {
        fall += grid_component(&bed->grid, gravity, a) * sums->moment[a];
    }
    if (bed->grid.axes == 2) {
        fall += gravity.y * bed->grid.plane * sums->volume;
    }
    return (TdlEnergy){.kinetic = 0.5 * density * sums->square, .gravity = -density * fall};
}
