// Static equilibrium of one rod or tree of rods: a stable shape, by the way of its model.
//
// A rod that starts in its natural shape is loaded bit by bit, each time from the equilibrium
// before, so that of several stable shapes it ends in the one that a hand would reach which lets go
// of it slowly. super-helix.md (H.32)
#include "rod/statics.h"

#include "base/log.h"
#include "rod/held_statics.h"

#include <string.h>

// Largest force, over the scale of forces, that still counts as equilibrium.
static const double ACCEPTED = 1.0e-9;

// A smallest eigenvalue above minus this counts as none: a load within about a millionth of a
// critical one, or a motion that costs nothing, such as the roll of a round rod.
static const double NEUTRAL = 1.0e-6;

// Distance of two holds, over the length, that is too far by more than rounding.
static const double REACH = 1.0e-9;

// Turning of a cross-section, rad, that a part of the load may make, and the smallest part.
static const double PART_TURNING = 1.0;
static const double LEAST_PART = 1.0 / 64.0;

// Elastic energy, over a stiffness of an element, that rounding makes of a natural shape.
static const double NATURAL = 1.0e-16;

// --- trees ----------------------------------------------------------------------------------

Rod* tree_next(const Rod* root, const Rod* rod) {
    if (rod->child != NULL) {
        return rod->child;
    }
    while (rod != root && rod->sibling == NULL) {
        rod = rod->parent;
    }
    return rod == root ? NULL : rod->sibling;
}

static void stop_tree(Rod* root) {
    for (Rod* rod = root; rod != NULL; rod = tree_next(root, rod)) {
        rod_stop(rod);
    }
}

double statics_force_scale(const Rod* root, TdlVec3 gravity) {
    double weight = 0.0, stiffness = 0.0;
    for (const Rod* rod = root; rod != NULL; rod = tree_next(root, rod)) {
        double length = rod_length(rod);
        double stiffest = fmax(rod->stiffness.x, fmax(rod->stiffness.y, rod->stiffness.z));
        weight += rod_mass(rod) * tdl_norm3(gravity) * length;
        stiffness = fmax(stiffness, stiffest / length);
    }
    return weight > 0.0 ? weight : stiffness;
}

double statics_softest(const Rod* root) {
    double soft = INFINITY;
    for (const Rod* rod = root; rod != NULL; rod = tree_next(root, rod)) {
        double own = fmin(rod->stiffness.x, fmin(rod->stiffness.y, rod->stiffness.z));
        soft = fmin(soft, own / rod->element_length);
    }
    return soft;
}

// --- loads ----------------------------------------------------------------------------------

static int count_loads(const Rod* root) {
    int count = 0;
    for (const Rod* rod = root; rod != NULL; rod = tree_next(root, rod)) {
        count += rod->load_count;
    }
    return count;
}

static void keep_loads(Loading* loading) {
    TdlVec3* force = loading->force;
    for (Rod* rod = loading->root; rod != NULL; rod = tree_next(loading->root, rod)) {
        for (int i = 0; i < rod->load_count; ++i) {
            *force++ = rod->loads[i].force;
        }
    }
}

void loading_set(Loading* loading, double factor) {
    const TdlVec3* force = loading->force;
    for (Rod* rod = loading->root; rod != NULL; rod = tree_next(loading->root, rod)) {
        for (int i = 0; i < rod->load_count; ++i) {
            rod->loads[i].force = tdl_scale3(factor, *force++);
        }
    }
    loading->factor = factor;
}

bool loading_stopped(Loading* loading) {
    loading->stopped = loading->stopped || stop_asked(loading->stop);
    return loading->stopped;
}

TdlVec3 loading_gravity(const Loading* loading) {
    return tdl_scale3(loading->factor, loading->gravity);
}

// Whether a tree hangs on a clamp, with nothing else held, and no strain in it.
static bool starts_natural(const Rod* root) {
    bool natural = root->start_hold == TDL_HOLD_CLAMPED;
    for (const Rod* rod = root; rod != NULL; rod = tree_next(root, rod)) {
        double energy = rod->model->energy(rod, (TdlVec3){0}).elastic;
        natural = natural && rod->end_hold == TDL_HOLD_FREE &&
                  energy <= NATURAL * rod->element_count * rod->stiffness.y / rod->element_length;
    }
    return natural;
}

// The whole load at once, or part by part. (H.32)
static Equilibrium follow_load(const RodStatics* way, Loading* loading, double* memory) {
    Equilibrium at = {0};
    loading_set(loading, starts_natural(loading->root) ? 0.0 : 1.0);
    if (loading->factor == 1.0) {
        return way->relax(loading, memory);
    }
    while (loading->factor < 1.0 && !loading_stopped(loading)) {
        double rest = 1.0 - loading->factor, turning = way->turning(loading, memory);
        double part = fmax(LEAST_PART, rest * PART_TURNING / turning);
        if (loading->factor == 0.0 && turning == INFINITY) {
            part = rest; // nothing keeps it in its natural shape: there is no path to follow
        }
        loading_set(loading, part < rest ? loading->factor + part : 1.0);
        at = way->relax(loading, memory);
    }
    return at;
}

// --- settling -------------------------------------------------------------------------------

static bool has_torque(const Rod* root) {
    bool some = false;
    for (const Rod* rod = root; rod != NULL; rod = tree_next(root, rod)) {
        for (int i = 0; i < rod->load_count; ++i) {
            double torque = tdl_dot3(rod->loads[i].torque, rod->loads[i].torque);
            some = some || torque > 0.0 || rod->loads[i].given;
        }
    }
    return some;
}

// Makes a twin of each rod of a tree, in the order of tree_next, linked as they are.
static bool make_twins(const TdlHost* host, const Rod* rod, Rod* parent, Rod* twins, int* used) {
    Rod *twin = &twins[(*used)++], **link = &twin->child;
    *twin = *rod;
    twin->model = rod->model->statics;
    twin->group = NULL;
    twin->parent = parent;
    twin->child = twin->sibling = NULL;
    size_t count = twin->model->work_count(twin->dof_count, twin->element_count);
    twin->work = tdl_alloc_array(&host->mem, count, sizeof(double));
    bool whole = twin->work != NULL;
    for (const Rod* branch = rod->child; branch != NULL && whole; branch = branch->sibling) {
        *link = &twins[*used];
        whole = make_twins(host, branch, twin, twins, used);
        link = &(*link)->sibling;
    }
    return whole;
}

// A model without a potential lends its coordinates to the one that has it.
static TdlStatus settle_twin(const TdlHost* host, Rod* root, TdlVec3 gravity, Stop stop,
                             double* residual, double* stability) {
    size_t count = 0;
    int used = 0;
    for (const Rod* rod = root; rod != NULL; rod = tree_next(root, rod)) {
        ++count;
    }
    Rod* twins = tdl_alloc_array(&host->mem, count, sizeof *twins);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (twins != NULL && make_twins(host, root, NULL, twins, &used)) {
        status = rod_settle_until(host, twins, gravity, stop, residual, stability);
        const Rod* twin = twins;
        for (Rod* rod = root; rod != NULL; rod = tree_next(root, rod)) {
            rod->base = twin->base;
            rod->held_state = (twin++)->held_state;
            rod_set_stretch(rod);
            rod_stop(rod);
        }
    }
    for (int i = 0; i < used; ++i) {
        tdl_free(&host->mem, twins[i].work);
    }
    tdl_free(&host->mem, twins);
    return status;
}

// Whether the ends of a super-model are held further apart than it is long.
static bool is_out_of_reach(const Rod* rod) {
    TdlVec3 chord = tdl_sub3(rod->end.now.position, rod->base.now.position);
    return rod->held != NULL && rod->start_hold != TDL_HOLD_FREE &&
           tdl_norm3(chord) > (1.0 + REACH) * rod_length(rod);
}

// What was reached, in the numbers that are told; and whether it is a stable equilibrium.
static TdlStatus judge(const TdlHost* host, const Loading* loading, const Equilibrium* at,
                       double* residual, double* stability) {
    double scale = statics_force_scale(loading->root, loading->gravity);
    *residual = at->force / scale;
    *stability = at->lowest;
    if (!(*residual <= fmax(ACCEPTED, at->noise / scale))) {
        return tdl_fail(host, TDL_STATUS_DIVERGED,
                        "no equilibrium: residual %.2g of weight times length remains", *residual);
    }
    if (!(at->lowest >= -NEUTRAL - at->tolerance)) {
        return tdl_fail(host, TDL_STATUS_DIVERGED,
                        "no stable equilibrium: the shape reached is a saddle, whose smallest "
                        "eigenvalue is %.3g of a stiffness",
                        at->lowest);
    }
    return TDL_STATUS_OK;
}

TdlStatus rod_settle_until(const TdlHost* host, Rod* rod, TdlVec3 gravity, Stop stop,
                           double* residual, double* stability) {
    *residual = *stability = NAN;
    if (has_torque(rod)) {
        return tdl_fail(
            host, TDL_STATUS_BAD_ARGUMENT,
            "a rod under a torque or with tendons has no potential energy to settle in");
    }
    if (rod->dof_count <= held_statics_conditions(rod)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "a rod of %d elements between holds has no way to move",
                        rod->element_count);
    }
    if (rod->model->potential == NULL) {
        return settle_twin(host, rod, gravity, stop, residual, stability);
    }
    if (is_out_of_reach(rod)) {
        return tdl_fail(host, TDL_STATUS_DIVERGED,
                        "no equilibrium: the ends are held further apart than the rod is long");
    }
    rod->held_state = (RodHeld){.stretch = 1.0, .stretch_before = 1.0};
    rod_set_stretch(rod);
    const RodStatics* way =
        rod->model->own_statics != NULL ? rod->model->own_statics : &DENSE_STATICS;
    size_t count = way->memory_count(rod), forces = (size_t)count_loads(rod) + 1;
    double* memory = tdl_alloc_array(&host->mem, count, sizeof(double));
    Loading loading = {.root = rod,
                       .gravity = gravity,
                       .force = tdl_alloc_array(&host->mem, forces, sizeof(TdlVec3)),
                       .factor = 1.0,
                       .stop = stop};
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (memory != NULL && loading.force != NULL) {
        stop_tree(rod);
        keep_loads(&loading);
        Equilibrium at = follow_load(way, &loading, memory);
        stop_tree(rod);
        loading_set(&loading, 1.0);
        status =
            loading.stopped ? TDL_STATUS_STOPPED : judge(host, &loading, &at, residual, stability);
    }
    tdl_free(&host->mem, memory);
    tdl_free(&host->mem, loading.force);
    return status;
}
