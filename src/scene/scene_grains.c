// The scene language: the bed of grains. Its keys, what the keys cannot say, and its definition.
#include "scene/scene.h"

#include "base/check.h"
#include "base/log.h"

#include <math.h>
#include <string.h>

#define ANY_LENGTH                                                                                 \
    { -1.0e9, 1.0e9, false, false }
#define AT(type, member) .offset = offsetof(type, member)

// A grid of more nodes, or a bed of more particles, is not made: a step would take hours and more
// memory than most have. A frame of a result has room for as many particles.
static const double NODES_MAX = 8.0e6, PARTICLES_MAX = 1.0e7;

// Part of a cell by which a grid may miss whole cells for the rounding of its texts.
static const double CELL_SLACK = 1.0e-6;

// in the order of TdlGrainsStress
static const char* stress_choices(void) {
    return "nodes|cells";
}

// in the order of TdlFillShape
static const char* fill_choices(void) {
    return "box|cylinder|ball";
}

static const char* axis_choices(void) {
    return "x|y";
}

static const Field GRID_FIELDS[] = {
    {.key = "low",
     .kind = FIELD_VEC3,
     AT(GrainsGridSpec, low),
     .unit = "m",
     .range = ANY_LENGTH,
     .required = true,
     .help = "Its lowest corner. In two dimensions the bed is at the y of this."},
    {.key = "high",
     .kind = FIELD_VEC3,
     AT(GrainsGridSpec, high),
     .unit = "m",
     .range = ANY_LENGTH,
     .required = true,
     .help =
         "The opposite corner; the grid goes on to the end of the cell in which this is. In two "
         "dimensions its y is not heeded."},
    {.key = "spacing",
     .kind = FIELD_REAL,
     AT(GrainsGridSpec, spacing),
     .unit = "m",
     .range = {1.0e-9, 1.0e6, false, false},
     .required = true,
     .help = "The side of a cell. At most 8e6 nodes."},
    {.key = "periodic",
     .kind = FIELD_CHOICES,
     AT(GrainsGridSpec, periodic),
     .choices = axis_choices,
     .fallback_note = "none",
     .help = "Axes along which what leaves the grid comes back on the other side; there it has a "
             "multiple of 12 cells. Nothing beside grains does so."},
    {0},
};

static const Group GRID_GROUP = {
    .name = "grid",
    .help = "The box in which grains are. It is no wall: grains that leave it are lost, and told; "
            "colliders are walls.",
    .size = sizeof(GrainsGridSpec),
    .fields = GRID_FIELDS,
};

static const Field FAST_FIELDS[] = {
    {.key = "friction",
     .kind = FIELD_REAL,
     AT(GrainsFastSpec, friction),
     .range = {0.0, 100.0, false, false},
     .required = true,
     .help = "In flow of infinite inertial number; at least the `friction` of the bed."},
    {.key = "inertial",
     .kind = FIELD_REAL,
     AT(GrainsFastSpec, inertial),
     .range = {1.0e-9, 1.0e9, false, false},
     .fallback = "0.3",
     .help = "The inertial number at which friction is half way in between."},
    {.key = "grain",
     .kind = FIELD_REAL,
     AT(GrainsFastSpec, grain),
     .unit = "m",
     .range = {1.0e-9, 1.0e6, false, false},
     .fallback = "1e-3",
     .help = "The diameter of a grain, which nothing but the inertial number knows."},
    {0},
};

static const Group FAST_GROUP = {
    .name = "fast flow",
    .help = "The law mu(I): friction that grows with the inertial number, the rate of shear times "
            "the diameter of a grain over the square root of pressure over the density of grains.",
    .size = sizeof(GrainsFastSpec),
    .fields = FAST_FIELDS,
};

static const Field FILL_FIELDS[] = {
    {.key = "shape",
     .kind = FIELD_CHOICE,
     AT(GrainsFillSpec, shape),
     .choices = fill_choices,
     .fallback = "box",
     .help = "A cylinder stands upright."},
    {.key = "low",
     .kind = FIELD_VEC3,
     AT(GrainsFillSpec, low),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback_note = "required for box",
     .help = "Of a box only: its lowest corner."},
    {.key = "high",
     .kind = FIELD_VEC3,
     AT(GrainsFillSpec, high),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback_note = "required for box",
     .help = "Of a box only: the opposite one. In two dimensions no y is heeded."},
    {.key = "centre",
     .kind = FIELD_VEC3,
     AT(GrainsFillSpec, centre),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback_note = "required for cylinder and ball",
     .help = "Of a ball; or of the lower end of a cylinder."},
    {.key = "radius",
     .kind = FIELD_REAL,
     AT(GrainsFillSpec, radius),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .fallback_note = "required for cylinder and ball",
     .help = "Of these."},
    {.key = "height",
     .kind = FIELD_REAL,
     AT(GrainsFillSpec, height),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .fallback_note = "required for cylinder",
     .help = "Of a cylinder only."},
    {.key = "fraction",
     .kind = FIELD_REAL,
     AT(GrainsFillSpec, fraction),
     .range = {1.0e-6, 1.0, false, false},
     .fallback_note = "the `packing`",
     .help = "Share of the volume that is grains, at most the packing."},
    {.key = "velocity",
     .kind = FIELD_VEC3,
     AT(GrainsFillSpec, velocity),
     .unit = "m/s",
     .range = {-1.0e6, 1.0e6, false, false},
     .fallback = "[0, 0, 0]",
     .help = "At the start."},
    {0},
};

static const Group FILL_GROUP = {
    .name = "fill",
    .help = "A shape that is full of grains at the start. Where several cover a place, the first "
            "one has it; what is beyond the grid is not filled.",
    .size = sizeof(GrainsFillSpec),
    .fields = FILL_FIELDS,
};

static const Field GRAINS_FIELDS[] = {
    {.key = "name",
     .kind = FIELD_NAME,
     AT(GrainsSpec, name),
     .fallback = "grains",
     .help = "What messages and observers call it."},
    {.key = "material",
     .kind = FIELD_NAME,
     AT(GrainsSpec, material),
     .fallback_note = "none",
     .help = "The name of one of the `materials`: of how it touches, and perhaps its density. The "
             "friction with what it touches is that of the pair, in `contacts`."},
    {.key = "dimension",
     .kind = FIELD_INT,
     AT(GrainsSpec, dimension),
     .range = {2, 3, false, false},
     .fallback = "3",
     .help = "2: the bed lies in a plane of x and z, and nothing of it moves along y."},
    {.key = "depth",
     .kind = FIELD_REAL,
     AT(GrainsSpec, depth),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .fallback = "1",
     .help = "In two dimensions only: how thick the bed is along y. Its mass and all forces are "
             "those of that thickness."},
    {.key = "grid",
     .kind = FIELD_GROUP,
     AT(GrainsSpec, grid),
     .group = &GRID_GROUP,
     .required = true,
     .help = "Where grains can be, and how finely they are seen."},
    {.key = "fill",
     .kind = FIELD_GROUPS,
     AT(GrainsSpec, fills),
     .group = &FILL_GROUP,
     .required = true,
     .help = "Where grains are at the start."},
    {.key = "friction",
     .kind = FIELD_REAL,
     AT(GrainsSpec, friction),
     .range = {0.0, 100.0, false, false},
     .fallback = "0.5",
     .help =
         "Within the bed: shear stress is at most so much of the pressure. It is the tangent of "
         "an angle: 0.5 is 26.6 degrees, and 30 degrees are 0.577."},
    {.key = "fast",
     .kind = FIELD_GROUP,
     AT(GrainsSpec, fast),
     .group = &FAST_GROUP,
     .fallback_note = "friction is the same at any rate",
     .help = "More friction in fast flow."},
    {.key = "density",
     .kind = FIELD_REAL,
     AT(GrainsSpec, density),
     .unit = "kg/m^3",
     .range = {1.0e-6, 1.0e9, false, false},
     .fallback_note = "the material's, or 1500",
     .help = "Of the bulk where it is packed: grains and what is between them."},
    {.key = "packing",
     .kind = FIELD_REAL,
     AT(GrainsSpec, packing),
     .range = {1.0e-6, 1.0, false, false},
     .fallback = "0.6",
     .help = "The share of its volume that is grains where it is packed: it cannot be more, and "
             "only where it is as much there is pressure."},
    {.key = "viscosity",
     .kind = FIELD_REAL,
     AT(GrainsSpec, viscosity),
     .unit = "Pa s",
     .range = {0.0, 1.0e12, false, false},
     .fallback = "0",
     .help = "A shear stress of twice this times the rate of strain, beside friction."},
    {.key = "cohesion",
     .kind = FIELD_REAL,
     AT(GrainsSpec, cohesion),
     .unit = "Pa",
     .range = {0.0, 1.0e12, false, false},
     .fallback = "0",
     .help = "The tension that a packed bed bears."},
    {.key = "per_cell",
     .kind = FIELD_INT,
     AT(GrainsSpec, per_cell),
     .range = {1, 8, false, false},
     .fallback_note = "2, in two dimensions 4",
     .help = "Particles of a full cell along each axis. At most 1e7 in all."},
    {.key = "jitter",
     .kind = FIELD_REAL,
     AT(GrainsSpec, jitter),
     .range = {0.0, 1.0, false, false},
     .fallback = "0",
     .help =
         "At the start particles are up to half of this part of their distance from their places, "
         "along each axis."},
    {.key = "seed",
     .kind = FIELD_INT,
     AT(GrainsSpec, seed),
     .range = {0, 2147483647, false, false},
     .fallback = "1",
     .help = "Of the jitter."},
    {.key = "stress",
     .kind = FIELD_CHOICE,
     AT(GrainsSpec, stress),
     .choices = stress_choices,
     .fallback = "nodes",
     .help =
         "Where stress lives: at nodes of the grid, linear between them, or one for each cell."},
    {.key = "fixed",
     .kind = FIELD_BOOL,
     AT(GrainsSpec, fixed),
     .fallback = "false",
     .help = "Whether it fills its shapes for ever: its velocity changes, and nothing else (dense "
             "flow in a given domain)."},
    {0},
};

const Group GRAINS_GROUP = {
    .name = "bed",
    .help = "A bed of grains, such as sand, gravel or powder: a continuum with the law of Drucker "
            "and Prager, which particles carry and a grid moves. It touches rods, bodies, "
            "cloths and colliders with exact friction. A scene has one at most.",
    .size = sizeof(GrainsSpec),
    .fields = GRAINS_FIELDS,
};

// --- sizes ---------------------------------------------------------------------------------------

// Cells along an axis, whole ones.
static double count_cells(const GrainsSpec* grains, int axis) {
    const GrainsGridSpec* grid = &grains->grid;
    double length = (&grid->high.x)[axis] - (&grid->low.x)[axis];
    return axis == 1 && grains->dimension == 2 ? 1.0 : ceil(length / grid->spacing - CELL_SLACK);
}

void scene_fill_box(const GrainsFillSpec* fill, TdlVec3* low, TdlVec3* high) {
    TdlVec3 r = {fill->radius, fill->radius, fill->radius}, c = fill->centre;
    *low = fill->shape == TDL_FILL_BOX ? fill->low : tdl_sub3(c, r);
    *high = fill->shape == TDL_FILL_BOX ? fill->high : tdl_add3(c, r);
    if (fill->shape == TDL_FILL_CYLINDER) {
        low->z = c.z;
        high->z = c.z + fill->height;
    }
}

// Its part of the grid along an axis, m; 0 or less: none.
static double overlap(const GrainsSpec* grains, const GrainsFillSpec* fill, int axis) {
    const GrainsGridSpec* grid = &grains->grid;
    TdlVec3 low, high;
    scene_fill_box(fill, &low, &high);
    double from = fmax((&low.x)[axis], (&grid->low.x)[axis]);
    double end = (&grid->low.x)[axis] + count_cells(grains, axis) * grid->spacing;
    return fmin((&high.x)[axis], end) - from;
}

// At most so many particles: those of the box around the shape, as far as it is in the grid.
static double count_particles(const GrainsSpec* grains, const GrainsFillSpec* fill) {
    double product = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        if (axis != 1 || grains->dimension == 3) {
            double along = overlap(grains, fill, axis) / grains->grid.spacing * grains->per_cell;
            product *= fmax(0.0, ceil(along));
        }
    }
    return product;
}

// --- checks --------------------------------------------------------------------------------------

static TdlStatus check_grid(const TdlScene* scene, const GrainsSpec* grains) {
    const GrainsGridSpec* grid = &grains->grid;
    TdlVec3 size = tdl_sub3(grid->high, grid->low);
    bool flat = grains->dimension == 2;
    if (!(size.x > 0.0 && size.z > 0.0 && (flat || size.y > 0.0))) {
        return fail_at(&scene->host, scene_mark_of(grid->node, "high"),
                       "the grid must have a size: every number of `high` above that of `low`%s",
                       flat ? ", but for y" : "");
    }
    double nodes = (count_cells(grains, 0) + 1.0) * (count_cells(grains, 2) + 1.0);
    nodes *= flat ? 1.0 : count_cells(grains, 1) + 1.0;
    return nodes <= NODES_MAX ? TDL_STATUS_OK
                              : fail_at(&scene->host, scene_mark_of(grid->node, "spacing"),
                                        "the grid would have %.3g nodes, more than %g: take a "
                                        "larger spacing",
                                        nodes, NODES_MAX);
}

static TdlStatus check_periodic(const TdlScene* scene, const GrainsSpec* grains) {
    enum { CELLS_EACH = 12 }; // what is done in parallel goes by so many
    static const char AXES[] = "xy";
    const IntList* axes = &grains->grid.periodic;
    for (int i = 0; i < axes->count; ++i) {
        int axis = axes->items[i];
        double cells = count_cells(grains, axis);
        if (axis == 1 && grains->dimension == 2) {
            return fail_at(&scene->host, scene_mark_of(grains->grid.node, "periodic"),
                           "in two dimensions there is no y to be periodic along");
        }
        if (fmod(cells, CELLS_EACH) != 0.0) {
            return fail_at(&scene->host, scene_mark_of(grains->grid.node, "periodic"),
                           "a grid that is periodic along %c has a multiple of %d cells there, not "
                           "%g",
                           AXES[axis], CELLS_EACH, cells);
        }
    }
    return TDL_STATUS_OK;
}

static TdlStatus check_fast(const TdlScene* scene, const GrainsSpec* grains) {
    const GrainsFastSpec* fast = &grains->fast;
    return fast->node == NULL || fast->friction >= grains->friction
               ? TDL_STATUS_OK
               : fail_at(&scene->host, scene_mark_of(fast->node, "friction"),
                         "friction in fast flow must be at least that of the bed, %g",
                         grains->friction);
}

static const char* const FILL_KEYS[] = {"low", "high", "centre", "radius", "height", NULL};
static const ShapeKeys FILL_SHAPES[] = {
    [TDL_FILL_BOX] = {"box", {"low", "high"}, {0}},
    [TDL_FILL_CYLINDER] = {"cylinder", {"centre", "radius", "height"}, {0}},
    [TDL_FILL_BALL] = {"ball", {"centre", "radius"}, {0}},
};

static TdlStatus check_fill(const TdlScene* scene, const GrainsSpec* grains, GrainsFillSpec* fill) {
    const TdlHost* host = &scene->host;
    TdlStatus status = scene_check_keys(scene, fill->node, &FILL_SHAPES[fill->shape], FILL_KEYS);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlVec3 low, high;
    scene_fill_box(fill, &low, &high);
    bool flat = grains->dimension == 2;
    if (!(high.x > low.x && high.z > low.z && (flat || high.y > low.y))) {
        return fail_at(host, scene_mark_of(fill->node, "high"),
                       "the box must have a size: every number of `high` above that of `low`%s",
                       flat ? ", but for y" : "");
    }
    if (node_find(fill->node, "fraction") == NULL) {
        fill->fraction = grains->packing;
    }
    if (fill->fraction > grains->packing) {
        return fail_at(host, scene_mark_of(fill->node, "fraction"),
                       "fraction must be at most the packing, %g", grains->packing);
    }
    return count_particles(grains, fill) > 0.0
               ? TDL_STATUS_OK
               : fail_at(host, fill->node->mark, "the %s is beyond the grid",
                         FILL_SHAPES[fill->shape].name);
}

static TdlStatus check_fills(const TdlScene* scene, GrainsSpec* grains) {
    GrainsFillSpec* fills = grains->fills.items;
    double particles = 0.0;
    for (int i = 0; i < grains->fills.count; ++i) {
        TdlStatus status = check_fill(scene, grains, &fills[i]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        particles += count_particles(grains, &fills[i]);
        if (particles > PARTICLES_MAX) {
            return fail_at(&scene->host, fills[i].node->mark,
                           "its fills would have up to %.3g particles, more than %g: take a larger "
                           "spacing or fewer per_cell",
                           particles, PARTICLES_MAX);
        }
    }
    return TDL_STATUS_OK;
}

// What is asked of contacts that grains do not have.
static TdlStatus check_touch(const TdlScene* scene) {
    const ContactsSpec* contacts = &scene->spec.contacts;
    return contacts->response == TDL_RESPONSE_EXACT
               ? TDL_STATUS_OK
               : fail_at(&scene->host, scene_mark_of(contacts->node, "response"),
                         "grains go with 'response: exact'");
}

TdlStatus scene_check_grains(TdlScene* scene) {
    GrainsSpec* grains = &scene->spec.grains;
    if (grains->node == NULL) {
        return TDL_STATUS_OK;
    }
    if (node_find(grains->node, "per_cell") == NULL) {
        grains->per_cell = grains->dimension == 2 ? 4 : 2;
    }
    const Node* depth = node_find(grains->node, "depth");
    if (depth != NULL && grains->dimension == 3) {
        return fail_at(&scene->host, depth->key_mark, "'depth' goes with 'dimension: 2'");
    }
    TdlStatus status =
        scene_check_material(scene, grains->material, scene_mark_of(grains->node, "material"));
    if (status == TDL_STATUS_OK) {
        status = check_grid(scene, grains);
    }
    if (status == TDL_STATUS_OK) {
        status = check_periodic(scene, grains);
    }
    if (status == TDL_STATUS_OK) {
        status = check_fast(scene, grains);
    }
    if (status == TDL_STATUS_OK) {
        status = check_fills(scene, grains);
    }
    if (status == TDL_STATUS_OK) {
        status = check_touch(scene);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    ArenaMark mark = arena_mark(&scene->arena);
    TdlGrainsDef def;
    status = scene_make_grains(scene, &scene->arena, &def);
    const char* fault = status == TDL_STATUS_OK ? tdl_grains_def_fault(&def) : NULL;
    arena_release(&scene->arena, mark);
    return fault == NULL
               ? status
               : fail_at(&scene->host, grains->node->mark, "grains '%s': %s", grains->name, fault);
}

// --- definition ----------------------------------------------------------------------------------

// Its own, that of its material, or the default.
static double grains_density(const TdlScene* scene, const GrainsSpec* grains) {
    if (grains->density > 0.0 || grains->material == NULL) {
        return grains->density > 0.0 ? grains->density : tdl_grains_def_default().density;
    }
    return scene_find_material(scene, grains->material)->density;
}

static TdlGrainsFill make_fill(const GrainsFillSpec* spec) {
    TdlGrainsFill fill = {.shape = (TdlFillShape)spec->shape,
                          .low = spec->low,
                          .high = spec->high,
                          .centre = spec->centre,
                          .radius = spec->radius,
                          .fraction = spec->fraction,
                          .velocity = spec->velocity};
    if (fill.shape == TDL_FILL_CYLINDER) {
        scene_fill_box(spec, &fill.low, &fill.high);
    }
    return fill;
}

TdlStatus scene_make_grains(const TdlScene* scene, Arena* arena, TdlGrainsDef* out) {
    const GrainsSpec* spec = &scene->spec.grains;
    const GrainsFillSpec* from = spec->fills.items;
    TdlGrainsFill* fills = ARENA_NEW(arena, TdlGrainsFill, spec->fills.count);
    if (fills == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < spec->fills.count; ++i) {
        fills[i] = make_fill(&from[i]);
    }
    TdlGrainsDef def = tdl_grains_def_default();
    def.dimension = spec->dimension;
    def.low = spec->grid.low;
    def.high = spec->grid.high;
    for (int axis = 0; axis < 3; ++axis) {
        if (axis != 1 || spec->dimension == 3) {
            (&def.high.x)[axis] = (&def.low.x)[axis] + count_cells(spec, axis) * spec->grid.spacing;
        }
    }
    def.spacing = spec->grid.spacing;
    for (int i = 0; i < spec->grid.periodic.count; ++i) {
        def.periodic[spec->grid.periodic.items[i]] = true;
    }
    def.depth = spec->depth;
    def.per_cell = spec->per_cell;
    def.density = grains_density(scene, spec);
    def.packing = spec->packing;
    def.mu = spec->friction;
    if (spec->fast.node != NULL) {
        def.mu_fast = spec->fast.friction;
        def.inertial = spec->fast.inertial;
        def.grain = spec->fast.grain;
    }
    def.viscosity = spec->viscosity;
    def.cohesion = spec->cohesion;
    def.stress = (TdlGrainsStress)spec->stress;
    def.jitter = spec->jitter;
    def.seed = (uint64_t)spec->seed;
    def.fixed = spec->fixed;
    def.fills = fills;
    def.fill_count = spec->fills.count;
    def.material = scene_material_number(scene, spec->material);
    *out = def;
    return TDL_STATUS_OK;
}

TdlSceneGrains tdl_scene_grains(const TdlScene* scene) {
    const GrainsSpec* grains = &scene->spec.grains;
    TDL_ASSERT(grains->node != NULL);
    return (TdlSceneGrains){
        .name = grains->name,
        .material = grains->material,
        .dimension = grains->dimension,
        .cells = {(int)count_cells(grains, 0), (int)count_cells(grains, 1),
                  (int)count_cells(grains, 2)},
        .spacing = grains->grid.spacing,
        .friction = grains->friction,
        .density = grains_density(scene, grains),
    };
}
