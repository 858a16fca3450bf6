// Shapes filled with particles. A cell is cut into parts, per_cell along each axis, and each part
// that a shape has gets a particle: in its middle with all of its volume, or, where the shape has
// some of it, with so much of it and in the middle of that. What a box has of a part is exact; of
// other shapes, and where shapes meet, it is found by samples. docs/theory/granular.md, 2
#include "base/rng.h"
#include "granular/bed.h"

enum { SAMPLES = 4 }; // of a part along each axis: 64 in three dimensions, 2 % of one that is cut

// A part of a cell that is cut.
typedef struct Part {
    double low[GRID_AXES], size; // m
} Part;

// What a shape has of one: its share, and the middle.
typedef struct Piece {
    double share, middle[GRID_AXES];
    double size[GRID_AXES]; // m, within which it may be moved; 0: it may not
} Piece;

static double square(double a) {
    return a * a;
}

static bool has_point(const TdlGrainsFill* fill, const GrainGrid* grid, const double* x) {
    TdlVec3 p = grid_point(grid, x);
    bool flat = grid->axes == 2;
    bool above = p.z >= fill->low.z && p.z <= fill->high.z;
    double aside = flat ? 0.0 : square(p.y - fill->centre.y);
    double away = square(p.x - fill->centre.x) + aside;
    switch (fill->shape) {
    case TDL_FILL_BOX:
        return above && p.x >= fill->low.x && p.x <= fill->high.x &&
               (flat || (p.y >= fill->low.y && p.y <= fill->high.y));
    case TDL_FILL_CYLINDER:
        return above && away <= square(fill->radius);
    case TDL_FILL_BALL:
        return away + square(p.z - fill->centre.z) <= square(fill->radius);
    }
    return false;
}

// The box about a shape, by axes.
static void box_of(const TdlGrainsFill* fill, const GrainGrid* grid, double* low, double* high) {
    TdlVec3 r = {fill->radius, fill->radius, fill->radius};
    TdlVec3 from = tdl_sub3(fill->centre, r), to = tdl_add3(fill->centre, r);
    if (fill->shape == TDL_FILL_CYLINDER) {
        from.z = fill->low.z;
        to.z = fill->high.z;
    } else if (fill->shape == TDL_FILL_BOX) {
        from = fill->low;
        to = fill->high;
    }
    for (int a = 0; a < grid->axes; ++a) {
        low[a] = grid_component(grid, from, a);
        high[a] = grid_component(grid, to, a);
    }
}

// What the box about a shape has of a part.
static Piece piece_of_box(const TdlGrainsFill* fill, const GrainGrid* grid, const Part* part) {
    double low[GRID_AXES], high[GRID_AXES];
    Piece out = {.share = 1.0};
    box_of(fill, grid, low, high);
    for (int a = 0; a < grid->axes; ++a) {
        double from = fmax(low[a], part->low[a]), to = fmin(high[a], part->low[a] + part->size);
        // a sliver that is there by rounding alone is none
        double width = to - from > 1.0e-9 * part->size ? to - from : 0.0;
        width = width < (1.0 - 1.0e-9) * part->size ? width : part->size;
        out.share *= width / part->size;
        out.middle[a] = 0.5 * (from + to);
        out.size[a] = width;
    }
    return out;
}

// Shapes are convex: one that has all corners of a part has all of it.
static bool has_all(const TdlGrainsFill* fill, const GrainGrid* grid, const Part* part) {
    for (int k = 0; k < 1 << grid->axes; ++k) {
        double x[GRID_AXES] = {0};
        for (int a = 0; a < grid->axes; ++a) {
            x[a] = part->low[a] + (k >> a & 1) * part->size;
        }
        if (!has_point(fill, grid, x)) {
            return false;
        }
    }
    return true;
}

static int first_with(const TdlGrainsDef* def, const GrainGrid* grid, const double* x) {
    int f = 0;
    while (f < def->fill_count && !has_point(&def->fills[f], grid, x)) {
        ++f;
    }
    return f;
}

static Piece piece_by_samples(const TdlGrainsDef* def, const GrainGrid* grid, int fill,
                              const Part* part) {
    Piece out = {0};
    int all = grid->axes == 3 ? SAMPLES * SAMPLES * SAMPLES : SAMPLES * SAMPLES, hits = 0;
    for (int k = 0; k < all; ++k) {
        double x[GRID_AXES] = {0};
        for (int a = 0, rest = k; a < grid->axes; ++a, rest /= SAMPLES) {
            x[a] = part->low[a] + part->size * (rest % SAMPLES + 0.5) / SAMPLES;
        }
        bool own = first_with(def, grid, x) == fill;
        hits += own;
        for (int a = 0; a < grid->axes && own; ++a) {
            out.middle[a] += x[a];
        }
    }
    for (int a = 0; a < grid->axes && hits > 0; ++a) {
        out.middle[a] /= hits;
    }
    out.share = (double)hits / all;
    return out;
}

// Whether the boxes about two shapes share some of a part.
static bool meets_before(const TdlGrainsDef* def, const GrainGrid* grid, int fill,
                         const Part* part) {
    for (int f = 0; f < fill; ++f) {
        if (piece_of_box(&def->fills[f], grid, part).share > 0.0) {
            return true;
        }
    }
    return false;
}

static Piece piece_of(const TdlGrainsDef* def, const GrainGrid* grid, int fill, const Part* part) {
    const TdlGrainsFill* shape = &def->fills[fill];
    Piece box = piece_of_box(shape, grid, part);
    if (box.share == 0.0) {
        return box;
    }
    bool whole = shape->shape == TDL_FILL_BOX || has_all(shape, grid, part);
    return whole && !meets_before(def, grid, fill, part) ? box
                                                         : piece_by_samples(def, grid, fill, part);
}

static Particle make_particle(const TdlGrainsDef* def, const GrainGrid* grid, int fill,
                              const Piece* piece, Rng* rng) {
    const TdlGrainsFill* shape = &def->fills[fill];
    int n = def->per_cell, parts = grid->axes == 3 ? n * n * n : n * n;
    double fraction = shape->fraction > 0.0 ? shape->fraction / def->packing : 1.0;
    Particle p = {.volume = fraction * piece->share * grid->cell_volume / parts};
    for (int a = 0; a < grid->axes; ++a) {
        double away = def->jitter > 0.0 ? def->jitter * (rng_unit(rng) - 0.5) : 0.0;
        p.x[a] = piece->middle[a] + away * piece->size[a];
        p.v[a] = grid_component(grid, shape->velocity, a);
    }
    return p;
}

static int fill_part(const TdlGrainsDef* def, const GrainGrid* grid, const Part* part, Rng* rng,
                     Particle* out) {
    int count = 0;
    for (int f = 0; f < def->fill_count; ++f) {
        Piece piece = piece_of(def, grid, f, part);
        if (piece.share > 0.0) {
            if (out != NULL) {
                out[count] = make_particle(def, grid, f, &piece, rng);
            }
            ++count;
        }
    }
    return count;
}

static bool is_empty(const TdlGrainsDef* def, const GrainGrid* grid, const Part* cell) {
    return !meets_before(def, grid, def->fill_count, cell);
}

static int fill_cell(const TdlGrainsDef* def, const GrainGrid* grid, const Part* cell, Rng* rng,
                     Particle* out) {
    int n = def->per_cell, all = grid->axes == 3 ? n * n * n : n * n, count = 0;
    for (int k = 0; k < all; ++k) {
        Part part = {.size = cell->size / n};
        for (int a = 0, rest = k; a < grid->axes; ++a, rest /= n) {
            part.low[a] = cell->low[a] + part.size * (rest % n);
        }
        count += fill_part(def, grid, &part, rng, out == NULL ? NULL : out + count);
    }
    return count;
}

int bed_fill(const TdlGrainsDef* def, const GrainGrid* grid, Particle* out) {
    Rng rng = rng_seed(def->seed);
    int count = 0;
    for (int c = 0; c < grid->cell_count; ++c) {
        Part cell = {.size = grid->spacing};
        for (int a = 0; a < grid->axes; ++a) {
            int at = grid_index(grid->cell_step, grid->cells, a, c);
            cell.low[a] = grid->low[a] + grid->spacing * at;
        }
        if (!is_empty(def, grid, &cell)) {
            count += fill_cell(def, grid, &cell, &rng, out == NULL ? NULL : out + count);
        }
    }
    return count;
}

int bed_per_cell(const TdlGrainsDef* def) {
    return def->per_cell != 0 ? def->per_cell : def->dimension == 2 ? 4 : 2;
}

// Parts that the box about a shape touches, of the grid.
static double most_of(const TdlGrainsDef* def, const GrainGrid* grid, const TdlGrainsFill* fill) {
    double low[GRID_AXES], high[GRID_AXES], count = 1.0;
    box_of(fill, grid, low, high);
    for (int a = 0; a < grid->axes; ++a) {
        double part = grid->spacing / bed_per_cell(def), end = grid->cells[a] * grid->spacing;
        double from = fmax(low[a] - grid->low[a], 0.0), to = fmin(high[a] - grid->low[a], end);
        count *= to > from ? (to - from) / part + 2.0 : 0.0;
    }
    return count;
}

double bed_fill_most(const TdlGrainsDef* def, const GrainGrid* grid) {
    double sum = 0.0;
    for (int f = 0; f < def->fill_count; ++f) {
        sum += most_of(def, grid, &def->fills[f]);
    }
    return sum;
}

bool bed_fill_any(const TdlGrainsDef* def, const GrainGrid* grid) {
    TdlGrainsDef whole = *def;
    whole.per_cell = bed_per_cell(def);
    return bed_fill(&whole, grid, NULL) > 0;
}
