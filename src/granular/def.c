// Definitions of beds: defaults, and what is wrong with one.
#include "granular/bed.h"

// A node takes 200 bytes and a row 800, a particle 270: 8 GB in all for as many as these.
static const double MOST_NODES = 1 << 23, MOST_PARTICLES = 1 << 24;

// Of a cell: how far from whole the grid may be, as it is given by decimal numbers.
static const double WHOLE = 1.0e-6;

TdlGrainsDef tdl_grains_def_default(void) {
    return (TdlGrainsDef){.dimension = 3,
                          .depth = 1.0,
                          .density = 1500.0,
                          .packing = 0.6,
                          .mu = 0.5,
                          .inertial = 0.3,
                          .grain = 1.0e-3};
}

static bool positive(double a) {
    return a > 0.0 && isfinite(a);
}

static bool not_negative(double a) {
    return a >= 0.0 && isfinite(a);
}

// --- the grid ------------------------------------------------------------------------------------

// Cells along an axis that goes around: colours of rows, every second or third place, and slabs of
// cells that share no nodes, four at a time, fit into it.
enum { AROUND = 12 };

static const char* grid_fault(const TdlGrainsDef* def) {
    double cells[GRID_AXES], nodes = 1.0;
    if (!tdl_finite3(def->low) || !tdl_finite3(def->high)) {
        return "`low` and `high` must be finite";
    }
    if (!positive(def->spacing)) {
        return "`spacing` must be positive";
    }
    grid_measure(def, cells);
    for (int a = 0; a < def->dimension; ++a) {
        if (!(cells[a] > 0.5)) {
            return "`high` must be above `low` along each axis, by a cell at least";
        }
        nodes *= cells[a] + 1.0;
        if (!(nodes <= MOST_NODES)) {
            return "the grid from `low` to `high` has more than 8 million nodes of `spacing`";
        }
        if (!(fabs(cells[a] - round(cells[a])) <= WHOLE * cells[a])) {
            return "`high` less `low` must be whole cells of `spacing` along each axis";
        }
    }
    for (int a = 0; a < 2; ++a) {
        bool around = def->periodic[a] && !(a == 1 && def->dimension == 2);
        if (around && lround(cells[a]) % AROUND != 0) {
            return "the grid must have a multiple of 12 cells along axes that are `periodic`";
        }
    }
    return NULL;
}

// --- fills ---------------------------------------------------------------------------------------

static const char* shape_fault(const TdlGrainsDef* def, const TdlGrainsFill* fill) {
    bool flat = def->dimension == 2;
    TdlVec3 size = tdl_sub3(fill->high, fill->low);
    switch (fill->shape) {
    case TDL_FILL_BOX:
        return tdl_finite3(fill->low) && tdl_finite3(fill->high) && size.x > 0.0 && size.z > 0.0 &&
                       (flat || size.y > 0.0)
                   ? NULL
                   : "`high` of a fill must be above its `low` along each axis";
    case TDL_FILL_CYLINDER:
        if (!isfinite(fill->low.z) || !isfinite(fill->high.z) || !(size.z > 0.0)) {
            return "`high` of a filled cylinder must be above its `low`";
        }
        break;
    case TDL_FILL_BALL:
        break;
    default:
        return "the `shape` of a fill must be a box, a cylinder or a ball";
    }
    return tdl_finite3(fill->centre) && positive(fill->radius)
               ? NULL
               : "a filled cylinder or ball must have a finite `centre` and a positive `radius`";
}

static const char* fill_fault(const TdlGrainsDef* def, const TdlGrainsFill* fill) {
    const char* fault = shape_fault(def, fill);
    if (fault != NULL) {
        return fault;
    }
    if (!(fill->fraction >= 0.0 && fill->fraction <= def->packing)) {
        return "the `fraction` of a fill must be from 0 to the `packing`";
    }
    return tdl_finite3(fill->velocity) ? NULL : "the `velocity` of a fill must be finite";
}

// --- numbers -------------------------------------------------------------------------------------

static const char* law_fault(const TdlGrainsDef* def) {
    if (!not_negative(def->mu)) {
        return "`mu` must be 0 or more";
    }
    if (def->mu_fast != 0.0 && !(def->mu_fast >= def->mu && isfinite(def->mu_fast))) {
        return "`mu_fast` must be `mu` or more, or 0 for `mu` always";
    }
    if (!positive(def->inertial) || !positive(def->grain)) {
        return "`inertial` and `grain` must be positive";
    }
    if (!not_negative(def->viscosity)) {
        return "`viscosity` must be 0 or more";
    }
    return not_negative(def->cohesion) ? NULL : "`cohesion` must be 0 or more";
}

static const char* number_fault(const TdlGrainsDef* def) {
    if (def->per_cell < 0 || def->per_cell > 8) {
        return "`per_cell` must be from 1 to 8, or 0 for as many as the dimension asks for";
    }
    if (!positive(def->density)) {
        return "`density` must be positive";
    }
    if (!(def->packing > 0.0 && def->packing <= 1.0)) {
        return "`packing` must be above 0 and at most 1";
    }
    if (def->stress != TDL_GRAINS_NODES && def->stress != TDL_GRAINS_CELLS) {
        return "`stress` must be at nodes or in cells";
    }
    if (!(def->jitter >= 0.0 && def->jitter <= 1.0)) {
        return "`jitter` must be from 0 to 1";
    }
    return def->material >= 0 && def->material < TDL_MATERIAL_LIMIT ? NULL
                                                                    : "`material` is out of range";
}

static const char* fills_fault(const TdlGrainsDef* def) {
    if (def->fill_count < 1 || def->fills == NULL) {
        return "there must be at least one fill";
    }
    for (int f = 0; f < def->fill_count; ++f) {
        const char* fault = fill_fault(def, &def->fills[f]);
        if (fault != NULL) {
            return fault;
        }
    }
    GrainGrid grid = grid_of(def);
    double particles = bed_fill_most(def, &grid);
    if (!(particles <= MOST_PARTICLES)) {
        return "the fills have more than 16 million particles";
    }
    return bed_fill_any(def, &grid) ? NULL : "the fills have nothing inside the grid";
}

const char* tdl_grains_def_fault(const TdlGrainsDef* def) {
    if (def->dimension != 2 && def->dimension != 3) {
        return "`dimension` must be 2 or 3";
    }
    if (def->dimension == 2 && !positive(def->depth)) {
        return "`depth` must be positive";
    }
    const char* fault = grid_fault(def);
    fault = fault != NULL ? fault : number_fault(def);
    fault = fault != NULL ? fault : law_fault(def);
    return fault != NULL ? fault : fills_fault(def);
}
