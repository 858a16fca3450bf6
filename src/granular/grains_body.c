// Beds of grains in a world: the table of their operations, and what the world tells of them.
#include "base/log.h"
#include "body/body.h"
#include "granular/bed.h"

#include <string.h>

typedef struct GrainsBody {
    Body head;
    Bed* bed;

    // what is told of particles
    TdlVec3 *position, *velocity; // [made]
    double *fraction, *pressure, *shear;
    double* volume; // [places]
} GrainsBody;

static Bed* bed_of(const Body* body) {
    return ((const GrainsBody*)body)->bed;
}

static void destroy(const TdlHost* host, Body* body) {
    GrainsBody* gb = (GrainsBody*)body;
    void* all[] = {gb->position, gb->velocity, gb->fraction, gb->pressure, gb->shear, gb->volume};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        tdl_free(&host->mem, all[k]);
    }
    bed_destroy(gb->bed);
    tdl_free(&host->mem, gb);
}

// --- a step ----------------------------------------------------------------------------------

static void predict(Body* body, const BodyStep* t) {
    Bed* bed = bed_of(body);
    body->account.failed = !bed_predict(bed, t->dt, t->gravity);
    bed->step.particles = body->energy.kinetic;
}

static BodyStrain* strain(Body* body) {
    Bed* bed = bed_of(body);
    bed->answered = true;
    return &bed->strain;
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

static void advance(Body* body, const BodyStep* t) {
    Bed* bed = bed_of(body);
    BodyAccount* account = &body->account;
    if (account->failed) {
        return;
    }
    double before = total(body->energy);
    body->energy = bed_advance(bed, t->dt, t->gravity);
    account->push = bed->step.pushed;
    account->supplied = bed->step.weight - bed->step.gone;
    if (t->losses) { // what is left over is the step's own
        account->given = account->supplied;
        account->damping = bed->step.viscous + bed->step.dissipated;
        // `touch` has what rows took as well
        account->numerical = before + body->touch + account->supplied + account->push -
                             bed->step.viscous - total(body->energy);
    }
    account->failed = !isfinite(total(body->energy));
}

static double mass(const Body* body, TdlVec3* centre) {
    const Bed* bed = bed_of(body);
    BedSums sums = bed_sum_alone(bed);
    for (int a = 0; a < bed->grid.axes; ++a) {
        sums.moment[a] /= sums.volume > 0.0 ? sums.volume : 1.0;
    }
    *centre = grid_point(&bed->grid, sums.moment);
    return bed->def.density * sums.volume;
}

static TdlEnergy energy(const Body* body, TdlVec3 gravity) {
    BedSums sums = bed_sum_alone(bed_of(body));
    return bed_energy(bed_of(body), &sums, gravity);
}

// --- the state -------------------------------------------------------------------------------

static size_t state_size(const Body* body) {
    return bed_state_size(bed_of(body));
}

static void save(const Body* body, void* bytes) {
    bed_save(bed_of(body), bytes);
}

static void load(Body* body, const void* bytes) {
    bed_load(bed_of(body), bytes);
}

static uint64_t hash(const Body* body, uint64_t before) {
    return bed_hash(bed_of(body), before);
}

// --- what detection sees ---------------------------------------------------------------------

// Nothing: its nodes are found to touch, as strain.h tells them.
static BodyShape shape(const Body* body, int segments) {
    (void)segments;
    return (BodyShape){.pieces = 1, .size = bed_of(body)->grid.spacing};
}

static TdlStatus copy(const Body* body, TdlWorld* to) {
    TdlBodyId id;
    return tdl_world_add_grains(to, &bed_of(body)->def, &id);
}

// --- beside other bodies -----------------------------------------------------------------------

static BodyLattice lattice(Body* body) {
    return bed_lattice(bed_of(body));
}

typedef struct Moving {
    Bed* bed;
    BodyMoveFn move;
    void* user;
} Moving;

static void move_point(void* user, int p, int worker) {
    (void)worker;
    const Moving* m = user;
    const GrainGrid* grid = &m->bed->grid;
    double* x = m->bed->particle[p].x;
    TdlVec3 point = grid_point(grid, x);
    m->move(m->user, &point);
    for (int a = 0; a < grid->axes; ++a) {
        x[a] = grid_component(grid, point, a);
    }
}

// Of a fixed bed before its first step: grains where a body is there are none, and the domain ends
// at its surface.
static void take_out(void* user, int p, int worker) {
    const Moving* m = user;
    double x[GRID_AXES];
    memcpy(x, m->bed->particle[p].x, sizeof x);
    move_point(user, p, worker);
    if (memcmp(x, m->bed->particle[p].x, sizeof x) != 0) {
        m->bed->particle[p].volume = 0.0;
        memcpy(m->bed->particle[p].x, x, sizeof x);
    }
}

// What that lifts is told as a push.
static void move_points(Body* body, const BodyStep* t, BodyMoveFn move, void* user) {
    Bed* bed = bed_of(body);
    Moving moving = {bed, move, user};
    bool first = t == NULL && bed->ledger.last == 0.0;
    if (first && bed->def.fixed) {
        pool_run(bed->pool, (int)bed->ledger.count, BED_BLOCK, take_out, &moving);
    }
    if (t == NULL || bed->def.fixed) {
        return;
    }
    pool_run(bed->pool, (int)bed->ledger.count, BED_BLOCK, move_point, &moving);
    TdlEnergy now = energy(body, t->gravity);
    body->account.push += total(now) - total(body->energy);
    body->energy = now;
}

static const BodyKind GRAINS_BODY = {
    .name = "grains",
    .destroy = destroy,
    .predict = predict,
    .strain = strain,
    .advance = advance,
    .lattice = lattice,
    .move_points = move_points,
    .mass = mass,
    .energy = energy,
    .state_size = state_size,
    .save = save,
    .load = load,
    .hash = hash,
    .shape = shape,
    .copy = copy,
};

// --- making it -------------------------------------------------------------------------------

static TdlStatus create(const TdlHost* host, const TdlGrainsDef* def, GrainsBody* gb) {
    TdlStatus status = bed_create(host, def, &gb->bed);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    size_t count = (size_t)gb->bed->made;
    gb->position = tdl_alloc_array(&host->mem, count, sizeof *gb->position);
    gb->velocity = tdl_alloc_array(&host->mem, count, sizeof *gb->velocity);
    gb->fraction = tdl_alloc_array(&host->mem, count, sizeof *gb->fraction);
    gb->pressure = tdl_alloc_array(&host->mem, count, sizeof *gb->pressure);
    gb->shear = tdl_alloc_array(&host->mem, count, sizeof *gb->shear);
    gb->volume = tdl_alloc_array(&host->mem, (size_t)gb->bed->place_count, sizeof *gb->volume);
    return gb->position && gb->velocity && gb->fraction && gb->pressure && gb->shear && gb->volume
               ? TDL_STATUS_OK
               : TDL_STATUS_NO_MEMORY;
}

TdlStatus tdl_world_add_grains(TdlWorld* world, const TdlGrainsDef* def, TdlBodyId* out) {
    const TdlHost* host = world_host(world);
    const char* fault = tdl_grains_def_fault(def);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "grains: %s", fault);
    }
    if (world_last_body(world, &GRAINS_BODY) != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "grains: a world has one bed at most");
    }
    GrainsBody* gb = tdl_alloc_zero(&host->mem, sizeof *gb);
    if (gb == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = create(host, def, gb);
    if (status == TDL_STATUS_OK) {
        gb->bed->pool = world_pool(world);
        gb->head = (Body){.kind = &GRAINS_BODY,
                          .dof_count = 3 * gb->bed->grid.node_count,
                          .v_free = gb->bed->v_free,
                          .material = def->material};
        status = world_add_body(world, &gb->head);
    }
    if (status != TDL_STATUS_OK) {
        destroy(host, &gb->head);
        return status;
    }
    *out = gb->head.id;
    return TDL_STATUS_OK;
}

// --- the world's functions -------------------------------------------------------------------

static GrainsBody* find(const TdlWorld* world, TdlBodyId id) {
    return (GrainsBody*)world_find_body(world, id, &GRAINS_BODY);
}

TdlStatus tdl_grains_def(const TdlWorld* world, TdlBodyId id, TdlGrainsDef* out) {
    const GrainsBody* gb = find(world, id);
    if (gb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = gb->bed->def;
    return TDL_STATUS_OK;
}

static double volume_kept(const Bed* bed, const double* volume) {
    double kept = 0.0, all = 0.0;
    for (int j = 0; j < bed->place_count; ++j) {
        kept += fmin(volume[j], bed->place_room[j]);
        all += volume[j];
    }
    return all > 0.0 ? kept / all : 1.0;
}

static double lost_volume(const Bed* bed) {
    double sum = 0.0;
    for (int p = (int)bed->ledger.count; p < bed->made; ++p) {
        sum += bed->particle[p].volume;
    }
    return sum;
}

TdlStatus tdl_grains_info(const TdlWorld* world, TdlBodyId id, TdlGrainsInfo* out) {
    const GrainsBody* gb = find(world, id);
    if (gb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const Bed* bed = gb->bed;
    const TdlAllocator* mem = &world_host(world)->mem;
    double* volume = tdl_alloc_array(mem, (size_t)bed->place_count, sizeof *volume);
    if (volume == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    bed_volumes(bed, volume);
    *out = (TdlGrainsInfo){.particle_count = (int)bed->ledger.count,
                           .active_nodes = bed->node_count,
                           .rows = bed->row_count,
                           .lost = bed->made - bed->ledger.count,
                           .mass = bed->def.density * bed_sum_alone(bed).volume,
                           .lost_mass = bed->def.density * lost_volume(bed),
                           .volume_kept = volume_kept(bed, volume),
                           .iterations = bed->strain.iterations,
                           .error = bed->strain.error,
                           .plastic = bed->ledger.plastic,
                           .transfer = bed->ledger.transfer};
    memcpy(out->seconds, bed->seconds, sizeof out->seconds);
    tdl_free(mem, volume);
    return TDL_STATUS_OK;
}

// Places of stress about a point, and the weight of each: corners of its cell, or that alone.
static int find_places(const Bed* bed, const double* x, int* place, double* weight) {
    double at[GRID_AXES];
    int cell = grid_cell(&bed->grid, x, at), corners = 1 << bed->grid.axes;
    place[0] = cell;
    weight[0] = 1.0;
    if (bed->def.stress == TDL_GRAINS_CELLS) {
        return 1;
    }
    int first = grid_first_node(&bed->grid, cell);
    for (int k = 0; k < corners; ++k) {
        place[k] = first + grid_corner_step(&bed->grid, k);
        weight[k] = 1.0;
        for (int a = 0; a < bed->grid.axes; ++a) {
            weight[k] *= k >> a & 1 ? at[a] : 1.0 - at[a];
        }
    }
    return corners;
}

// Volume fraction and stress at a particle, from those at places of stress. (A.15)
static void tell_particle(GrainsBody* gb, int p) {
    const Bed* bed = gb->bed;
    const Particle* from = bed->particle + p;
    int place[GRID_CORNERS], d = bed->components;
    double weight[GRID_CORNERS], full = 0.0, room = 0.0, stress[BED_COMPONENTS] = {0}, square = 0.0;
    int count = find_places(bed, from->x, place, weight);
    for (int k = 0; k < count; ++k) {
        full += weight[k] * gb->volume[place[k]];
        room += weight[k] * bed->place_room[place[k]];
        for (int i = 0; i < d; ++i) {
            stress[i] += weight[k] * bed->impulse[(ptrdiff_t)place[k] * d + i];
        }
    }
    double per = bed->ledger.last > 0.0 ? 1.0 / bed->ledger.last : 0.0;
    for (int i = 1; i < d; ++i) {
        square += stress[i] * stress[i];
    }
    gb->position[p] = grid_point(&bed->grid, from->x);
    gb->velocity[p] = grid_vector(&bed->grid, from->v);
    // a particle that was pressed to a wall may be where there is no room at all
    gb->fraction[p] = bed->def.packing * (room > 0.0 ? full / room : 1.0);
    gb->pressure[p] = per * stress[0] * sqrt(2.0 / bed->grid.axes);
    gb->shear[p] = per * sqrt(square);
}

TdlStatus tdl_grains_particles(TdlWorld* world, TdlBodyId id, TdlGrainsParticles* out) {
    GrainsBody* gb = find(world, id);
    if (gb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    bed_volumes(gb->bed, gb->volume);
    for (int p = 0; p < gb->bed->ledger.count; ++p) {
        tell_particle(gb, p);
    }
    *out = (TdlGrainsParticles){.count = (int)gb->bed->ledger.count,
                                .number = gb->bed->number,
                                .position = gb->position,
                                .velocity = gb->velocity,
                                .fraction = gb->fraction,
                                .pressure = gb->pressure,
                                .shear = gb->shear};
    return TDL_STATUS_OK;
}

TdlStatus tdl_grains_mass_beyond(const TdlWorld* world, TdlBodyId id, TdlVec3 point, TdlVec3 normal,
                                 double* out) {
    const GrainsBody* gb = find(world, id);
    if (gb == NULL || !tdl_finite3(point) || !tdl_finite3(normal)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const Bed* bed = gb->bed;
    double sum = 0.0;
    for (int p = 0; p < bed->made; ++p) {
        TdlVec3 away = tdl_sub3(grid_point(&bed->grid, bed->particle[p].x), point);
        sum += tdl_dot3(away, normal) > 0.0 ? bed->particle[p].volume : 0.0;
    }
    *out = bed->def.density * sum;
    return TDL_STATUS_OK;
}
