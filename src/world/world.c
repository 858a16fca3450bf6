// The world: owns the bodies and runs the step.
//
// A step predicts every body, moves it, and judges the result. Gravity is taken at the start of the
// step, so a rod whose clamp stands still may end with a little too much energy: the surplus is
// taken from its velocity. Where it is not little, or the state is not finite, the step is undone
// and done again in two halves, and so on down to a floor. Bodies are spread over threads; each is
// touched by one thread only, and sums run in the order of the bodies, so the bits do not depend on
// the number of threads.
#include "tendril/world.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/threads.h"
#include "collider/motion.h"
#include "math/rotation.h"
#include "rod/rod.h"

#include <string.h>

// A step is halved at most this often.
enum { MAX_HALVINGS = 12 };

// Gain of energy that rounding explains, relative to the energies at play.
static const double ENERGY_SLACK = 1.0e-14;

// Surplus of energy, relative to the kinetic energy, that may be taken from the velocity.
static const double SURPLUS_LIMIT = 0.05;

typedef struct WorldRod {
    Rod* rod;
    Motion motion, end_motion;
    TdlPose placed, end_placed;
    RodStep step;       // of the step under way
    TdlEnergy energy;   // in the present state
    double energy_rise; // J, in the last attempt, more than could be taken from the velocity
    double stability;   // at the last settling
    bool failed;        // in the last attempt: A was singular or the state is not finite
} WorldRod;

typedef struct WorldCollider {
    TdlColliderDef def; // without its keys
    Motion motion;
} WorldCollider;

struct TdlWorld {
    TdlHost host;
    TdlWorldDef def;
    Pool* pool;
    long step_count;
    int rod_count, collider_count;
    WorldRod* rods;
    WorldCollider* colliders;
    size_t state_size;
    size_t reserved_size;
    char *step_start, *attempt_start; // saved states, [reserved_size] each
    double predict_seconds, advance_seconds;
};

TdlWorldDef tdl_world_def_default(void) {
    return (TdlWorldDef){.gravity = {0.0, 0.0, -9.81},
                         .step = 1.0e-3,
                         .thread_count = 1,
                         .contacts = {.law = {0.3, 0.0},
                                      .segments = 8,
                                      .self = true,
                                      .solver = TDL_FRICTION_ANDERSON,
                                      .tolerance = 1.0e-8,
                                      .max_iterations = 1000}};
}

TdlColliderDef tdl_collider_def_default(void) {
    return (TdlColliderDef){
        .shape = TDL_SHAPE_SPHERE, .radius = 0.01, .pose.rotation = tdl_identity33()};
}

TdlStatus tdl_world_create(const TdlHost* host, const TdlWorldDef* def, TdlWorld** out) {
    if (!tdl_finite3(def->gravity) || !tdl_finite3(def->wind)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "world: gravity and wind must be finite");
    }
    if (!(isfinite(def->step) && def->step > 0.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "world: step must be positive");
    }
    TdlWorld* world = tdl_alloc_zero(&host->mem, sizeof *world);
    if (world == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    world->host = *host;
    world->def = *def;
    world->state_size = sizeof(int64_t);
    TdlStatus status = pool_create(host, def->thread_count, &world->pool);
    if (status != TDL_STATUS_OK) {
        tdl_world_destroy(world);
        return status;
    }
    *out = world;
    return TDL_STATUS_OK;
}

void tdl_world_destroy(TdlWorld* world) {
    if (world == NULL) {
        return;
    }
    TdlHost host = world->host;
    for (int i = 0; i < world->rod_count; ++i) {
        rod_destroy(&host, world->rods[i].rod);
        motion_destroy(&host, &world->rods[i].motion);
        motion_destroy(&host, &world->rods[i].end_motion);
    }
    for (int i = 0; i < world->collider_count; ++i) {
        motion_destroy(&host, &world->colliders[i].motion);
    }
    pool_destroy(world->pool);
    tdl_free(&host.mem, world->rods);
    tdl_free(&host.mem, world->colliders);
    tdl_free(&host.mem, world->step_start);
    tdl_free(&host.mem, world->attempt_start);
    tdl_free(&host.mem, world);
}

// --- adding things --------------------------------------------------------------------------

// Makes room for one more item; capacity is the next power of two.
static bool grow(TdlWorld* world, void** items, int count, size_t item_size) {
    if (count > 0 && (count & (count - 1)) != 0) {
        return true;
    }
    void* grown =
        tdl_grow_array(&world->host.mem, *items, count == 0 ? 1 : 2 * (size_t)count, item_size);
    if (grown == NULL) {
        return false;
    }
    *items = grown;
    return true;
}

// Makes a rod a branch, if its definition names a parent.
static TdlStatus attach_rod(TdlWorld* world, const TdlRodDef* def, Rod* rod) {
    if (def->parent.index == 0) {
        return TDL_STATUS_OK;
    }
    if (def->parent.index < 0 || def->parent.index > world->rod_count || def->motion.keys != NULL) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT,
                        "rod: parent must be a rod of this world, which then moves its branches");
    }
    return rod_attach(&world->host, rod, world->rods[def->parent.index - 1].rod, def->parent_at);
}

TdlStatus tdl_world_add_rod(TdlWorld* world, const TdlRodDef* def, TdlRodId* out) {
    void* rods = world->rods;
    if (!grow(world, &rods, world->rod_count, sizeof *world->rods)) {
        return TDL_STATUS_NO_MEMORY;
    }
    world->rods = rods;
    WorldRod added = {.placed = def->clamp, .stability = NAN};
    TdlStatus status = motion_create(&world->host, &def->motion, &added.motion);
    if (status == TDL_STATUS_OK) {
        TdlRodDef moved = *def;
        moved.clamp = motion_pose(&added.motion, def->clamp, tdl_world_time(world));
        status = rod_create(&world->host, &moved, &added.rod);
    }
    if (status == TDL_STATUS_OK) {
        status = motion_create(&world->host, &def->end_motion, &added.end_motion);
    }
    if (status != TDL_STATUS_OK) {
        rod_destroy(&world->host, added.rod);
        motion_destroy(&world->host, &added.motion);
        return status;
    }
    status = attach_rod(world, def, added.rod);
    if (status != TDL_STATUS_OK) {
        rod_destroy(&world->host, added.rod);
        motion_destroy(&world->host, &added.motion);
        motion_destroy(&world->host, &added.end_motion);
        return status;
    }
    if (world->rod_count > 0 && added.rod->parent == NULL) {
        rod_join(&world->host, added.rod, world->rods[world->rod_count - 1].rod);
    }
    added.end_placed = rod_end(added.rod);
    added.energy = added.rod->model->energy(added.rod, world->def.gravity);
    world->rods[world->rod_count++] = added;
    world->state_size += rod_state_size(added.rod);
    *out = (TdlRodId){world->rod_count, 1};
    return TDL_STATUS_OK;
}

TdlStatus tdl_world_add_collider(TdlWorld* world, const TdlColliderDef* def, TdlColliderId* out) {
    bool round = def->shape != TDL_SHAPE_PLANE;
    if (round && !(isfinite(def->radius) && def->radius > 0.0)) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "collider: radius must be positive");
    }
    if (def->shape == TDL_SHAPE_CAPSULE && !(isfinite(def->length) && def->length >= 0.0)) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT,
                        "collider: length must not be negative");
    }
    void* colliders = world->colliders;
    if (!grow(world, &colliders, world->collider_count, sizeof *world->colliders)) {
        return TDL_STATUS_NO_MEMORY;
    }
    world->colliders = colliders;
    WorldCollider added = {.def = *def};
    added.def.motion = (TdlMotionDef){0};
    TdlStatus status = motion_create(&world->host, &def->motion, &added.motion);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    world->colliders[world->collider_count++] = added;
    *out = (TdlColliderId){world->collider_count, 1};
    return TDL_STATUS_OK;
}

// --- the step -------------------------------------------------------------------------------

// Items of work for one body are small; enough of them make a block worth a lock.
enum { GRAIN = 4 };

// Mean velocity between two poses.
static Twist rate_between(TdlPose from, TdlPose to, double dt) {
    TdlMat3 turn = tdl_mul33(to.rotation, tdl_transpose33(from.rotation));
    return (Twist){tdl_scale3(1.0 / dt, tdl_sub3(to.position, from.position)),
                   tdl_scale3(1.0 / dt, tdl_rotation_log(turn))};
}

static void prepare_step(const TdlWorld* world, WorldRod* wr, double start, double dt) {
    const Rod* rod = wr->rod;
    wr->step = (RodStep){.dt = dt,
                         .gravity = world->def.gravity,
                         .wind = world->def.wind,
                         .base_end = rod->base.now,
                         .end_end = rod->end.now};
    if (wr->motion.keys != NULL && rod->start_hold != TDL_HOLD_FREE) {
        wr->step.base_end = motion_pose(&wr->motion, wr->placed, start + dt);
        wr->step.base_rate = rate_between(rod->base.now, wr->step.base_end, dt);
        if (rod->start_hold == TDL_HOLD_PINNED) {
            wr->step.base_rate.angular = (TdlVec3){0};
        }
    }
    if (wr->end_motion.keys != NULL && rod->end_hold != TDL_HOLD_FREE) {
        wr->step.end_end = motion_pose(&wr->end_motion, wr->end_placed, start + dt);
        wr->step.end_rate = rate_between(rod->end.now, wr->step.end_end, dt);
    }
}

// The rods of a group follow each other; the first one's task does the work of all.
static int group_count(const Rod* rod) {
    if (rod->parent != NULL) {
        return 0; // its tree's root does the work
    }
    return rod->group == NULL ? 1 : rod->lane == 0 ? rod->group->count : 0;
}

static void predict_group(void* user, int index, int worker) {
    (void)worker;
    WorldRod* wr = &((TdlWorld*)user)->rods[index];
    int count = group_count(wr->rod);
    const RodStep* steps[ROD_GROUP_SIZE];
    bool ok[ROD_GROUP_SIZE];
    for (int i = 0; i < count; ++i) {
        steps[i] = &wr[i].step;
    }
    if (count > 1) {
        wr->rod->model->predict_group(wr->rod->group, steps, ok);
    } else if (count == 1) {
        ok[0] = wr->rod->model->predict(wr->rod, &wr->step);
    }
    for (int i = 0; i < count; ++i) {
        wr[i].failed = !ok[i];
    }
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

static bool is_zero(Twist t) {
    return tdl_dot3(t.linear, t.linear) == 0.0 && tdl_dot3(t.angular, t.angular) == 0.0;
}

// Whether nothing can give the rod energy: its held ends stand still, and what acts on it has a
// potential. A free rod that keeps its momenta is not asked: to take energy would take momentum.
static bool is_closed(const WorldRod* wr, TdlVec3 wind) {
    const Rod* rod = wr->rod;
    if (rod->parent != NULL || rod->child != NULL) {
        return false; // the rods of a tree pass energy on to each other
    }
    bool still = is_zero(wr->step.end_rate) && is_zero(wr->step.base_rate);
    if (rod->start_hold == TDL_HOLD_CLAMPED) {
        still = still && is_zero(rod->base.rate);
    } else if (rod->start_hold == TDL_HOLD_PINNED) {
        still = still && tdl_dot3(rod->base.rate.linear, rod->base.rate.linear) == 0.0;
    }
    for (int i = 0; i < rod->load_count; ++i) {
        still = still && tdl_dot3(rod->loads[i].torque, rod->loads[i].torque) == 0.0;
    }
    if (rod->start_hold == TDL_HOLD_FREE && rod->end_hold == TDL_HOLD_FREE) {
        still = still && !rod->model->keeps_momenta;
    }
    return still && (rod->drag == 0.0 || tdl_dot3(wind, wind) == 0.0);
}

// Takes a gain of energy from the velocity, of which kinetic energy is a quadratic form while the
// clamp stands still. Returns what was too much to take.
static double take_surplus(WorldRod* wr, double surplus) {
    if (surplus > SURPLUS_LIMIT * wr->energy.kinetic) {
        return surplus;
    }
    double factor = sqrt(1.0 - surplus / wr->energy.kinetic);
    for (int i = 0; i < wr->rod->dof_count; ++i) {
        wr->rod->v[i] *= factor;
    }
    wr->energy.kinetic -= surplus;
    return 0.0;
}

// Judges the energy of a rod that was advanced. True when its velocity was changed.
static bool judge_rod(const TdlWorld* world, WorldRod* wr, bool closed) {
    const Rod* rod = wr->rod;
    TdlEnergy before = wr->energy;
    wr->energy = rod->model->energy(rod, world->def.gravity);
    wr->failed = wr->failed || !rod_state_finite(rod) || !isfinite(total(wr->energy));
    wr->energy_rise = 0.0;
    double reach = rod_mass(rod) * tdl_norm3(world->def.gravity) * rod_length(rod);
    double slack = ENERGY_SLACK * (reach + fabs(before.gravity) + before.elastic + before.kinetic);
    double surplus = total(wr->energy) - total(before);
    if (!closed || !(surplus > slack)) {
        return false;
    }
    wr->energy_rise = take_surplus(wr, surplus);
    return wr->energy_rise == 0.0;
}

static void advance_group(void* user, int index, int worker) {
    (void)worker;
    TdlWorld* world = user;
    WorldRod* wr = &world->rods[index];
    int count = group_count(wr->rod);
    const RodStep* steps[ROD_GROUP_SIZE];
    bool closed[ROD_GROUP_SIZE], changed = false;
    for (int i = 0; i < count; ++i) {
        Rod* rod = wr[i].rod;
        steps[i] = &wr[i].step;
        closed[i] = is_closed(&wr[i], world->def.wind);
        memcpy(rod->v, rod->v_free, (size_t)rod->dof_count * sizeof *rod->v);
    }
    if (count > 1) {
        wr->rod->model->advance_group(wr->rod->group, steps);
    } else if (count == 1) {
        wr->rod->model->advance(wr->rod, &wr->step, wr->rod->v_free);
    }
    for (int i = 0; i < count; ++i) {
        changed = judge_rod(world, &wr[i], closed[i]) || changed;
    }
    if (changed) {
        wr->rod->model->refresh(wr->rod);
    }
}

// Nothing touches: both halves of the step while a group's data is in the cache.
static void step_group(void* user, int index, int worker) {
    predict_group(user, index, worker);
    advance_group(user, index, worker);
}

static void save_rods(const TdlWorld* world, char* bytes) {
    for (int i = 0; i < world->rod_count; ++i) {
        rod_save_state(world->rods[i].rod, bytes);
        bytes += rod_state_size(world->rods[i].rod);
    }
}

static void load_rods(TdlWorld* world, const char* bytes) {
    for (int i = 0; i < world->rod_count; ++i) {
        rod_load_state(world->rods[i].rod, bytes); // a group is right once its last rod is in
        bytes += rod_state_size(world->rods[i].rod);
    }
    for (int i = 0; i < world->rod_count; ++i) {
        WorldRod* wr = &world->rods[i];
        wr->energy = wr->rod->model->energy(wr->rod, world->def.gravity);
    }
}

typedef struct Attempt {
    bool finite;
    double energy_rise; // J
} Attempt;

static Attempt attempt_step(TdlWorld* world, double start, double dt) {
    double t0 = clock_now();
    for (int i = 0; i < world->rod_count; ++i) {
        prepare_step(world, &world->rods[i], start, dt);
    }
    pool_run(world->pool, world->rod_count, GRAIN, step_group, world);
    world->advance_seconds += clock_now() - t0;

    Attempt result = {.finite = true};
    for (int i = 0; i < world->rod_count; ++i) {
        if (world->rods[i].rod->parent != NULL) {
            world->rods[i].failed = false;
            judge_rod(world, &world->rods[i], false);
        }
        result.finite = result.finite && !world->rods[i].failed;
        result.energy_rise += world->rods[i].energy_rise;
    }
    return result;
}

// One interval, halved as often as it needs. `info` counts the substeps.
static TdlStatus advance_interval(TdlWorld* world, double start, double dt, int halvings,
                                  TdlStepInfo* info) {
    // the whole step's start is saved already
    char* saved = halvings == 0 ? world->step_start : world->attempt_start;
    if (halvings > 0) {
        save_rods(world, saved);
    }
    Attempt attempt = attempt_step(world, start, dt);
    bool floor = halvings == MAX_HALVINGS;
    if (attempt.finite && (attempt.energy_rise == 0.0 || floor)) {
        ++info->substeps;
        info->energy_rise += attempt.energy_rise;
        return TDL_STATUS_OK;
    }
    if (floor) {
        return TDL_STATUS_DIVERGED;
    }
    load_rods(world, saved);
    TdlStatus status = advance_interval(world, start, 0.5 * dt, halvings + 1, info);
    if (status == TDL_STATUS_OK) {
        status = advance_interval(world, start + 0.5 * dt, 0.5 * dt, halvings + 1, info);
    }
    return status;
}

// Room for the two saved states; grows only after bodies were added.
static bool reserve_states(TdlWorld* world) {
    if (world->reserved_size == world->state_size) {
        return true;
    }
    char* a = tdl_grow_array(&world->host.mem, world->step_start, world->state_size, 1);
    world->step_start = a == NULL ? world->step_start : a;
    char* b = tdl_grow_array(&world->host.mem, world->attempt_start, world->state_size, 1);
    world->attempt_start = b == NULL ? world->attempt_start : b;
    bool whole = a != NULL && b != NULL;
    world->reserved_size = whole ? world->state_size : 0;
    return whole;
}

TdlStatus tdl_world_step(TdlWorld* world, TdlStepInfo* info) {
    TdlStepInfo local;
    info = info == NULL ? &local : info;
    *info = (TdlStepInfo){0};
    if (!reserve_states(world)) {
        return TDL_STATUS_NO_MEMORY;
    }
    world->predict_seconds = world->advance_seconds = 0.0;
    save_rods(world, world->step_start);
    double start = tdl_world_time(world);
    TdlStatus status = advance_interval(world, start, world->def.step, 0, info);
    if (status != TDL_STATUS_OK) {
        load_rods(world, world->step_start);
        return tdl_fail(&world->host, status,
                        "step %ld at %.6g s did not stay finite after %d halvings",
                        world->step_count + 1, start, MAX_HALVINGS);
    }
    if (info->energy_rise > 0.0) {
        tdl_log(&world->host, TDL_LOG_WARNING, "step %ld at %.6g s: energy rose by %.3g J",
                world->step_count + 1, start, info->energy_rise);
    }
    ++world->step_count;
    info->step = world->step_count;
    info->time = tdl_world_time(world);
    info->energy = tdl_world_energy(world);
    info->predict_seconds = world->predict_seconds;
    info->advance_seconds = world->advance_seconds;
    return TDL_STATUS_OK;
}

// One rod at a time: rod_settle allocates, and the caller's allocator need not be safe to use from
// several threads.
TdlStatus tdl_world_settle(TdlWorld* world, double* residual) {
    double worst = 0.0;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < world->rod_count; ++i) {
        if (world->rods[i].rod->parent != NULL) {
            return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT,
                            "a tree of rods is brought to rest by damping only");
        }
    }
    for (int i = 0; i < world->rod_count && status == TDL_STATUS_OK; ++i) {
        WorldRod* wr = &world->rods[i];
        double remains = 0.0;
        status = rod_settle(&world->host, wr->rod, world->def.gravity, &remains, &wr->stability);
        wr->energy = wr->rod->model->energy(wr->rod, world->def.gravity);
        worst = fmax(worst, remains);
    }
    if (residual != NULL) {
        *residual = worst;
    }
    return status;
}

// --- what is there --------------------------------------------------------------------------

double tdl_world_time(const TdlWorld* world) {
    return (double)world->step_count * world->def.step;
}

long tdl_world_step_count(const TdlWorld* world) {
    return world->step_count;
}

TdlEnergy tdl_world_energy(const TdlWorld* world) {
    TdlEnergy sum = {0};
    for (int i = 0; i < world->rod_count; ++i) {
        sum.kinetic += world->rods[i].energy.kinetic;
        sum.elastic += world->rods[i].energy.elastic;
        sum.gravity += world->rods[i].energy.gravity;
    }
    return sum;
}

int tdl_world_rod_count(const TdlWorld* world) {
    return world->rod_count;
}

int tdl_world_collider_count(const TdlWorld* world) {
    return world->collider_count;
}

TdlRodId tdl_world_rod(const TdlWorld* world, int index) {
    TDL_ASSERT(index >= 0 && index < world->rod_count);
    return (TdlRodId){index + 1, 1};
}

static const Rod* find_rod(const TdlWorld* world, TdlRodId id) {
    TDL_ASSERT(id.index >= 1 && id.index <= world->rod_count && id.generation == 1);
    return world->rods[id.index - 1].rod;
}

TdlRodInfo tdl_rod_info(const TdlWorld* world, TdlRodId id) {
    const Rod* rod = find_rod(world, id);
    return (TdlRodInfo){rod->model->name,
                        rod->element_count,
                        rod->dof_count,
                        rod_length(rod),
                        {rod->radius[0], rod->radius[1]},
                        rod_mass(rod)};
}

double tdl_rod_stability(const TdlWorld* world, TdlRodId id) {
    find_rod(world, id);
    return world->rods[id.index - 1].stability;
}

TdlVec3 tdl_rod_point(const TdlWorld* world, TdlRodId id, double s) {
    const Rod* rod = find_rod(world, id);
    double u = fmin(fmax(s / rod->element_length, 0.0), rod->element_count);
    int element = u < rod->element_count ? (int)u : rod->element_count - 1;
    return rod->model->point(rod, element, u - element);
}

void tdl_rod_points(const TdlWorld* world, TdlRodId id, int samples, TdlVec3* out) {
    const Rod* rod = find_rod(world, id);
    for (int e = 0; e < rod->element_count; ++e) {
        for (int k = 0; k < samples; ++k) {
            *out++ = rod->model->point(rod, e, (double)k / samples);
        }
    }
    *out = rod->model->point(rod, rod->element_count - 1, 1.0);
}

const double* tdl_rod_coordinates(const TdlWorld* world, TdlRodId id) {
    return find_rod(world, id)->q;
}

const double* tdl_rod_velocities(const TdlWorld* world, TdlRodId id) {
    return find_rod(world, id)->v;
}

TdlColliderDef tdl_collider_def(const TdlWorld* world, int index) {
    TDL_ASSERT(index >= 0 && index < world->collider_count);
    return world->colliders[index].def;
}

TdlPose tdl_collider_pose(const TdlWorld* world, int index) {
    TDL_ASSERT(index >= 0 && index < world->collider_count);
    const WorldCollider* wc = &world->colliders[index];
    return motion_pose(&wc->motion, wc->def.pose, tdl_world_time(world));
}

// --- the whole state ------------------------------------------------------------------------

size_t tdl_world_state_size(const TdlWorld* world) {
    return world->state_size;
}

void tdl_world_save_state(const TdlWorld* world, void* bytes) {
    int64_t steps = world->step_count;
    memcpy(bytes, &steps, sizeof steps);
    save_rods(world, (char*)bytes + sizeof steps);
}

TdlStatus tdl_world_load_state(TdlWorld* world, const void* bytes, size_t size) {
    int64_t steps;
    if (size != world->state_size) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT,
                        "a state of %zu bytes does not fit a world of %zu", size,
                        world->state_size);
    }
    memcpy(&steps, bytes, sizeof steps);
    if (steps < 0) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT, "a state with a negative step count");
    }
    world->step_count = (long)steps;
    load_rods(world, (const char*)bytes + sizeof steps);
    return TDL_STATUS_OK;
}

uint64_t tdl_world_state_hash(const TdlWorld* world) {
    int64_t steps = world->step_count;
    uint64_t hash = hash_bytes(HASH_START, &steps, sizeof steps);
    for (int i = 0; i < world->rod_count; ++i) {
        hash = rod_state_hash(world->rods[i].rod, hash);
    }
    return hash;
}
