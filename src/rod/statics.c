// Static equilibrium of one rod or tree of rods: Newton's method on the potential energy.
//
// Where the Hessian has a negative eigenvalue, the step is Newton's with a shift that makes it
// positive definite, plus a move along the eigenvector, downhill. So the method also leaves
// saddles, such as a curl hanging in its own plane, and ends at a stable shape. O(n^3) a step.
#include "base/log.h"
#include "math/dense.h"
#include "math/eigen.h"
#include "rod/held_statics.h"
#include "rod/taut_statics.h"

#include <string.h>

enum { MAX_STEPS = 500, MAX_HALVINGS = 40 };

// Residual at which the iteration stops, and the largest one that still counts as equilibrium.
static const double TARGET = 1.0e-14;
static const double ACCEPTED = 1.0e-9;

// Largest change of a coordinate in one step (rad for the super-models): beyond it the quadratic
// model of gravity means nothing.
static const double STEP_LIMIT = 1.0;

// A fall of the energy below this part of it cannot be told from rounding.
static const double ROUNDING = 1.0e-14;

// How far to go along a direction of negative curvature, before the line search (rad).
static const double ESCAPE_STEP = 0.3;

// An eigenvalue counts as negative below minus this, relative to the largest entry.
static const double NEGATIVE = 1.0e-10;

typedef struct Newton {
    Rod* rod;
    TdlVec3 gravity;
    HeldStatics held;
    int n; // coordinates that are free; those of the rod unless its far end is held
    double *gradient, *step, *mode; // [n]; room for all coordinates
    double *whole, *change;         // of all coordinates: the step, and a part of it
    void* start;                    // saved state
    double* scratch;                // [3 n]
    double *hessian, *factor;       // [n n]
} Newton;

// --- trees ----------------------------------------------------------------------------------

// The rod after this one in the tree below `root`, or null.
static Rod* next_rod(const Rod* root, const Rod* rod) {
    if (rod->child != NULL) {
        return rod->child;
    }
    while (rod != root && rod->sibling == NULL) {
        rod = rod->parent;
    }
    return rod == root ? NULL : rod->sibling;
}

static size_t tree_state_size(Rod* root) {
    size_t size = 0;
    for (Rod* rod = root; rod != NULL; rod = next_rod(root, rod)) {
        size += rod_state_size(rod);
    }
    return size;
}

static void save_tree(Rod* root, void* bytes) {
    char* at = bytes;
    for (Rod* rod = root; rod != NULL; rod = next_rod(root, rod)) {
        rod_save_state(rod, at);
        at += rod_state_size(rod);
    }
}

static void load_tree(Rod* root, const void* bytes) {
    const char* at = bytes;
    for (Rod* rod = root; rod != NULL; rod = next_rod(root, rod)) {
        rod_load_state(rod, at);
        at += rod_state_size(rod);
    }
}

static void stop_tree(Rod* root) {
    for (Rod* rod = root; rod != NULL; rod = next_rod(root, rod)) {
        rod_stop(rod);
    }
}

// --- Newton's method ------------------------------------------------------------------------

static double max_abs(const double* x, int n) {
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(x[i]));
    }
    return largest;
}

// The energy, its gradient, and its Hessian if that is asked for.
static double evaluate(Newton* w, bool second) {
    bool held = w->held.count > 0;
    double energy = w->rod->model->potential(w->rod, w->gravity, w->gradient,
                                             second && !held ? w->hessian : NULL);
    held_statics_reduce(&w->held, w->gravity, w->gradient, second ? w->hessian : NULL);
    return energy;
}

// Factors H + shift I.
static bool factor_shifted(Newton* w, double shift) {
    int n = w->n;
    memcpy(w->factor, w->hessian, (size_t)n * (size_t)n * sizeof(double));
    for (int i = 0; i < n; ++i) {
        w->factor[(size_t)i * (size_t)n + (size_t)i] += shift;
    }
    return tdl_cholesky(n, w->factor, n) == n;
}

// The eigenvector of the smallest eigenvalue, by inverse iteration with a factor at hand; scaled
// to ESCAPE_STEP and pointing downhill.
static void find_mode(Newton* w) {
    int n = w->n;
    for (int i = 0; i < n; ++i) {
        w->mode[i] = 1.0 + 0.1 * (i % 7); // anything that is not orthogonal to it
    }
    for (int k = 0; k < 4; ++k) {
        tdl_cholesky_solve(n, w->factor, n, 1, w->mode, n);
        double scale = ESCAPE_STEP / max_abs(w->mode, n);
        for (int i = 0; i < n; ++i) {
            w->mode[i] *= scale;
        }
    }
    double sign = tdl_dot(n, w->gradient, w->mode) > 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < n; ++i) {
        w->mode[i] *= sign;
    }
}

// Whether the factor at hand has a pivot that rounding may have made: there is a motion that costs
// no energy, such as the roll of a round rod, and a step along it means nothing.
static bool nearly_singular(const Newton* w, double largest) {
    bool some = false;
    for (int i = 0; i < w->n; ++i) {
        double pivot = w->factor[(size_t)i * (size_t)w->n + (size_t)i];
        some = some || pivot * pivot < NEGATIVE * largest;
    }
    return some;
}

// Sets the step, and returns the curvature of the energy along the escape from a saddle: negative,
// or 0 where the Hessian is positive definite and the step is Newton's.
static double find_direction(Newton* w) {
    int n = w->n;
    double lowest = 0.0, largest = max_abs(w->hessian, n * n);
    bool flat = false;
    if (factor_shifted(w, 0.0)) {
        flat = nearly_singular(w, largest);
    } else {
        memcpy(w->factor, w->hessian, (size_t)n * (size_t)n * sizeof(double));
        lowest = tdl_smallest_eigenvalue(n, w->factor, n, w->scratch);
        if (lowest < -NEGATIVE * largest) {
            factor_shifted(w, -1.01 * lowest);
            find_mode(w);
        } else {
            flat = true;
            lowest = 0.0;
        }
    }
    double shift = flat ? 2.0 * NEGATIVE * largest : -2.0 * lowest;
    if (shift > 0.0) {
        factor_shifted(w, shift);
    }
    for (int i = 0; i < n; ++i) {
        w->step[i] = -w->gradient[i];
    }
    tdl_cholesky_solve(n, w->factor, n, 1, w->step, n);
    for (int i = 0; i < n && lowest < 0.0; ++i) {
        w->step[i] += w->mode[i];
    }
    double longest = max_abs(w->step, n);
    for (int i = 0; i < n && longest > STEP_LIMIT; ++i) {
        w->step[i] *= STEP_LIMIT / longest;
    }
    return lowest < 0.0 ? lowest * tdl_dot(n, w->mode, w->mode) : 0.0;
}

// From the start by t times the step, and back to where a held end has to be. False when it does
// not get there.
static bool move_to(Newton* w, double t) {
    Rod* rod = w->rod;
    load_tree(rod, w->start);
    for (int i = 0; i < rod->tree_dofs; ++i) {
        w->change[i] = t * w->whole[i];
    }
    if (rod->model->move != NULL) {
        rod->model->move(rod, w->change);
        return t == 0.0 || held_statics_restore(&w->held);
    }
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->q[i] += w->change[i];
    }
    rod->model->refresh(rod);
    return true;
}

static double force_scale(const Rod* root, TdlVec3 gravity) {
    double weight = 0.0, stiffness = 0.0;
    for (const Rod* rod = root; rod != NULL; rod = next_rod(root, rod)) {
        double length = rod_length(rod);
        double stiffest = fmax(rod->stiffness.x, fmax(rod->stiffness.y, rod->stiffness.z));
        weight += rod_mass(rod) * tdl_norm3(gravity) * length;
        stiffness = fmax(stiffness, stiffest / length);
    }
    return weight > 0.0 ? weight : stiffness;
}

// Moves along the direction until the energy has fallen enough. False when it cannot, which near
// the minimum means that rounding hides the fall.
static bool search_line(Newton* w, double energy, double curvature) {
    int n = w->n;
    double slope = tdl_dot(n, w->gradient, w->step), t = 1.0;
    bool hidden = -slope < ROUNDING * fmax(fabs(energy), force_scale(w->rod, w->gravity));
    save_tree(w->rod, w->start);
    held_statics_expand(&w->held, w->step, w->whole);
    for (int k = 0; k < MAX_HALVINGS && !(hidden && curvature == 0.0); ++k, t *= 0.5) {
        bool there = move_to(w, t);
        double next = w->rod->model->potential(w->rod, w->gravity, NULL, NULL);
        if (there && next <= energy + 1.0e-4 * t * (slope + 0.5 * t * curvature)) {
            return true;
        }
    }
    // below the rounding of the energy the gradient is still good: judge by it
    double before = max_abs(w->gradient, n);
    bool there = move_to(w, 1.0);
    if (there) {
        evaluate(w, false);
        there = max_abs(w->gradient, n) < 0.5 * before;
    }
    if (there) {
        return true;
    }
    move_to(w, 0.0);
    return false;
}

// Generalised force that rounding makes.
static double force_noise(const Rod* rod) {
    return rod->model->force_noise != NULL ? rod->model->force_noise(rod) : 0.0;
}

static double iterate(Newton* w) {
    int n = w->n;
    double scale = force_scale(w->rod, w->gravity), residual = INFINITY;
    double target = fmax(TARGET, force_noise(w->rod) / scale);
    for (int k = 0; k < MAX_STEPS; ++k) {
        double energy = evaluate(w, true);
        residual = max_abs(w->gradient, n) / scale;
        if (!isfinite(energy)) {
            return INFINITY;
        }
        double curvature = find_direction(w);
        if (residual <= target && curvature == 0.0) {
            break;
        }
        if (!search_line(w, energy, curvature)) {
            break;
        }
    }
    return residual;
}

// What counts as equilibrium, unless rounding makes more.
static double accepted_residual(const Rod* rod, TdlVec3 gravity) {
    return fmax(ACCEPTED, force_noise(rod) / force_scale(rod, gravity));
}

// --- settling -------------------------------------------------------------------------------

static bool has_torque(const Rod* root) {
    bool some = false;
    for (const Rod* rod = root; rod != NULL; rod = next_rod(root, rod)) {
        for (int i = 0; i < rod->load_count; ++i) {
            some = some || tdl_dot3(rod->loads[i].torque, rod->loads[i].torque) > 0.0;
        }
    }
    return some;
}

// Makes a twin of each rod of a tree, in the order of next_rod, linked as they are.
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
static TdlStatus settle_twin(const TdlHost* host, Rod* root, TdlVec3 gravity, double* residual,
                             double* stability) {
    size_t count = 0;
    int used = 0;
    for (const Rod* rod = root; rod != NULL; rod = next_rod(root, rod)) {
        ++count;
    }
    Rod* twins = tdl_alloc_array(&host->mem, count, sizeof *twins);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (twins != NULL && make_twins(host, root, NULL, twins, &used)) {
        status = rod_settle(host, twins, gravity, residual, stability);
        const Rod* twin = twins;
        for (Rod* rod = root; rod != NULL; rod = next_rod(root, rod)) {
            rod->base = (twin++)->base;
            rod_stop(rod);
        }
    }
    for (int i = 0; i < used; ++i) {
        tdl_free(&host->mem, twins[i].work);
    }
    tdl_free(&host->mem, twins);
    return status;
}

// An eigenvalue over the smallest bending or twisting stiffness of an element: a pure number,
// positive at a stable shape.
static double stability_of(const Rod* root, double lowest) {
    double soft = INFINITY;
    for (const Rod* rod = root; rod != NULL; rod = next_rod(root, rod)) {
        double own = fmin(rod->stiffness.x, fmin(rod->stiffness.y, rod->stiffness.z));
        soft = fmin(soft, own / rod->element_length);
    }
    return lowest / soft;
}

static double find_stability(Newton* w) {
    evaluate(w, true);
    return stability_of(w->rod, tdl_smallest_eigenvalue(w->n, w->hessian, w->n, w->scratch));
}

TdlStatus rod_settle(const TdlHost* host, Rod* rod, TdlVec3 gravity, double* residual,
                     double* stability) {
    *residual = *stability = NAN;
    if (has_torque(rod)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "a rod under a torque has no potential energy to settle in");
    }
    if (rod->dof_count <= held_statics_conditions(rod)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "a rod of %d elements between holds has no way to move",
                        rod->element_count);
    }
    if (rod->model->potential == NULL) {
        return settle_twin(host, rod, gravity, residual, stability);
    }
    Tautness taut = taut_find(rod);
    if (taut == TAUT_TOO_FAR || taut == TAUT_ACROSS) {
        return tdl_fail(host, TDL_STATUS_DIVERGED,
                        taut == TAUT_TOO_FAR
                            ? "no equilibrium: the ends are held further apart than the rod is long"
                            : "no equilibrium: the ends are held as far apart as the rod is long, "
                              "and a clamp does not look along the line between them");
    }
    size_t n = (size_t)rod->tree_dofs;
    size_t held = held_statics_size(rod);
    double* block = tdl_alloc_array(&host->mem, 2 * n * n + 8 * n + held, sizeof(double));
    void* start = tdl_alloc_array(&host->mem, tree_state_size(rod), 1);
    if (block == NULL || start == NULL) {
        tdl_free(&host->mem, block);
        tdl_free(&host->mem, start);
        return TDL_STATUS_NO_MEMORY;
    }
    stop_tree(rod);
    if (rod->model->approach != NULL) {
        rod->model->approach(rod, gravity);
    }
    Newton work = {.rod = rod,
                   .gravity = gravity,
                   .held = held_statics_start(rod, block + 8 * n + 2 * n * n, start),
                   .n = (int)n - held_statics_conditions(rod),
                   .gradient = block,
                   .step = block + n,
                   .change = block + 2 * n,
                   .mode = block + 3 * n,
                   .start = start,
                   .scratch = block + 4 * n,
                   .whole = block + 7 * n,
                   .hessian = block + 8 * n,
                   .factor = block + 8 * n + n * n};
    if (taut == TAUT_STRAIGHT) {
        taut_settle(rod);
        *residual = taut_residual(rod, gravity, work.gradient) / force_scale(rod, gravity);
        *stability = stability_of(rod, taut_stiffness(rod, gravity, work.hessian, work.scratch));
    } else {
        *residual = held_statics_restore(&work.held) ? iterate(&work) : INFINITY;
        *stability = find_stability(&work);
    }
    tdl_free(&host->mem, block);
    tdl_free(&host->mem, start);
    stop_tree(rod);
    if (!(*residual <= accepted_residual(rod, gravity))) {
        return tdl_fail(host, TDL_STATUS_DIVERGED,
                        "no equilibrium: residual %.2g of weight times length remains", *residual);
    }
    return TDL_STATUS_OK;
}
