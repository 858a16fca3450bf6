// The way of the super-models to equilibrium: Newton's method on the potential energy with its
// dense Hessian.
//
// Where the Hessian has a negative eigenvalue, the step is Newton's with a shift that makes it
// positive definite, plus a move along the eigenvector, downhill. So the method also leaves
// saddles, such as a curl hanging in its own plane, and ends at a stable shape. O(n^3) a step.
#include "math/dense.h"
#include "math/eigen.h"
#include "rod/held_statics.h"
#include "rod/statics.h"

#include <string.h>

enum { MAX_STEPS = 500, MAX_HALVINGS = 40 };

// Largest force, over the scale of forces, at which the iteration stops; and under a part of the
// load, whose equilibrium is only passed.
static const double TARGET = 1.0e-14;
static const double TARGET_PASSED = 1.0e-8;

// Largest change of a coordinate in one step (rad for the super-models): beyond it the quadratic
// model of gravity means nothing.
static const double STEP_LIMIT = 1.0;

// A fall of the energy below this part of it cannot be told from rounding.
static const double ROUNDING = 1.0e-14;

// How far to go along a direction of negative curvature, before the line search (rad).
static const double ESCAPE_STEP = 0.3;

// Between holds it is halved, down to this, while it gains less than this part of what its
// curvature promised: to turn about the line of the holds looks downhill as long as the rest has
// not settled.
static const double LEAST_ESCAPE = 1.0e-3;
static const double KEPT_PROMISE = 0.25;

// An eigenvalue counts as negative below minus this, relative to the largest entry.
static const double NEGATIVE = 1.0e-10;

typedef struct Newton {
    Rod* rod;
    TdlVec3 gravity;
    double scale, target; // of forces, N m: what counts as one, and as none
    double escape;        // how far along a direction of negative curvature, rad
    HeldStatics held;
    int n; // coordinates that are free; those of the rod unless its far end is held
    double *gradient, *step, *mode; // [n]; room for all coordinates
    double *whole, *change;         // of all coordinates: the step, and a part of it
    void* start;                    // saved state
    double* scratch;                // [3 n]
    double *hessian, *factor;       // [n n]
} Newton;

// --- states of trees --------------------------------------------------------------------------

static size_t tree_state_size(const Rod* root) {
    size_t size = 0;
    for (const Rod* rod = root; rod != NULL; rod = tree_next(root, rod)) {
        size += rod_state_size(rod);
    }
    return size;
}

static void save_tree(Rod* root, void* bytes) {
    char* at = bytes;
    for (Rod* rod = root; rod != NULL; rod = tree_next(root, rod)) {
        rod_save_state(rod, at);
        at += rod_state_size(rod);
    }
}

static void load_tree(Rod* root, const void* bytes) {
    const char* at = bytes;
    for (Rod* rod = root; rod != NULL; rod = tree_next(root, rod)) {
        rod_load_state(rod, at);
        at += rod_state_size(rod);
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
    return energy + held_statics_energy(&w->held);
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
// to the escape and pointing downhill.
static void find_mode(Newton* w) {
    int n = w->n;
    for (int i = 0; i < n; ++i) {
        w->mode[i] = 1.0 + 0.1 * (i % 7); // anything that is not orthogonal to it
    }
    for (int k = 0; k < 4; ++k) {
        tdl_cholesky_solve(n, w->factor, n, 1, w->mode, n);
        double scale = w->escape / max_abs(w->mode, n);
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

// The step that the factor at hand makes of the gradient.
static void solve_step(Newton* w) {
    for (int i = 0; i < w->n; ++i) {
        w->step[i] = -w->gradient[i];
    }
    tdl_cholesky_solve(w->n, w->factor, w->n, 1, w->step, w->n);
}

// Sets the step, and returns the curvature of the energy along the escape from a saddle: negative,
// or 0 where the Hessian is positive definite, or nothing escapes, and the step is Newton's.
static double find_direction(Newton* w, bool escapes) {
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
    solve_step(w);
    while (shift > 0.0 && shift < largest && max_abs(w->step, n) > STEP_LIMIT) {
        shift *= 16.0; // or the softest motion would take all of the step
        factor_shifted(w, shift);
        solve_step(w);
    }
    for (int i = 0; i < n && lowest < 0.0 && escapes; ++i) {
        w->step[i] += w->mode[i];
    }
    double longest = max_abs(w->step, n);
    for (int i = 0; i < n && longest > STEP_LIMIT; ++i) {
        w->step[i] *= STEP_LIMIT / longest;
    }
    return lowest < 0.0 && escapes ? lowest * tdl_dot(n, w->mode, w->mode) : 0.0;
}

// From the start by t times the step, and back to where a held end has to be. False when it does
// not get there.
static bool move_to(Newton* w, double t) {
    Rod* rod = w->rod;
    load_tree(rod, w->start);
    for (int i = 0; i < w->held.n; ++i) {
        w->change[i] = t * w->whole[i];
    }
    if (rod->model->move != NULL) {
        held_statics_move(&w->held, w->change);
        return t == 0.0 || held_statics_restore(&w->held);
    }
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->q[i] += w->change[i];
    }
    rod->model->refresh(rod);
    return true;
}

// Moves along the direction until the energy has fallen enough. False when it cannot, which near
// the minimum means that rounding hides the fall.
static bool search_line(Newton* w, double energy, double curvature) {
    int n = w->n;
    double slope = tdl_dot(n, w->gradient, w->step), t = 1.0;
    bool hidden = -slope < ROUNDING * fmax(fabs(energy), w->scale);
    save_tree(w->rod, w->start);
    held_statics_expand(&w->held, w->step, w->whole);
    for (int k = 0; k < MAX_HALVINGS && !(hidden && curvature == 0.0); ++k, t *= 0.5) {
        bool there = move_to(w, t);
        double next = w->rod->model->potential(w->rod, w->gravity, NULL, NULL) +
                      held_statics_energy(&w->held);
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

// Newton's method. Returns the largest force that is left, or infinity.
static double iterate(Newton* w, Loading* loading) {
    double force = INFINITY, promised = -INFINITY;
    w->escape = ESCAPE_STEP;
    for (int k = 0; k < MAX_STEPS && !loading_stopped(loading); ++k) {
        double energy = evaluate(w, true);
        if (!isfinite(energy)) {
            return INFINITY;
        }
        bool kept = energy <= promised || promised == -INFINITY || w->held.count == 0;
        w->escape = kept ? fmin(ESCAPE_STEP, 2.0 * w->escape) : fmax(LEAST_ESCAPE, 0.5 * w->escape);
        force = max_abs(w->gradient, w->n);
        double curvature = find_direction(w, true);
        if (force <= w->target && curvature == 0.0) {
            break;
        }
        double gain = -tdl_dot(w->n, w->gradient, w->step) - 0.5 * curvature;
        promised = curvature < 0.0 ? energy - KEPT_PROMISE * gain : -INFINITY;
        if (search_line(w, energy, curvature)) {
            continue;
        }
        if (curvature == 0.0) {
            break;
        }
        // a motion that costs nothing looks downhill by rounding: the rest goes on without it
        evaluate(w, true);
        find_direction(w, false);
        if (!search_line(w, energy, 0.0)) {
            break;
        }
    }
    return force;
}

// --- the way ----------------------------------------------------------------------------------

static size_t state_doubles(const Rod* root) {
    return tree_state_size(root) / sizeof(double) + 1;
}

static size_t memory_count(const Rod* root) {
    size_t n = (size_t)held_statics_coordinates(root);
    return 2 * n * n + 8 * n + held_statics_size(root) + state_doubles(root);
}

static Newton start_newton(Loading* loading, double* memory) {
    Rod* rod = loading->root;
    size_t n = (size_t)held_statics_coordinates(rod), square = n * n;
    double scale = statics_force_scale(rod, loading->gravity);
    double *bottom = memory + 8 * n + 2 * square, *start = bottom + held_statics_size(rod);
    return (Newton){.rod = rod,
                    .gravity = loading_gravity(loading),
                    .scale = scale,
                    .target = scale * (loading->factor == 1.0 ? TARGET : TARGET_PASSED),
                    .held = held_statics_start(rod, bottom, start),
                    .n = (int)n - held_statics_conditions(rod),
                    .gradient = memory,
                    .step = memory + n,
                    .change = memory + 2 * n,
                    .mode = memory + 3 * n,
                    .start = start,
                    .scratch = memory + 4 * n,
                    .whole = memory + 7 * n,
                    .hessian = memory + 8 * n,
                    .factor = memory + 8 * n + square};
}

static Equilibrium relax(Loading* loading, double* memory) {
    Newton w = start_newton(loading, memory);
    Equilibrium at = {.force = held_statics_restore(&w.held) ? iterate(&w, loading) : INFINITY};
    if (loading->factor < 1.0 || loading->stopped) {
        return at;
    }
    evaluate(&w, true);
    double largest = max_abs(w.hessian, w.n * w.n), unit = statics_softest(w.rod);
    at.lowest = tdl_smallest_eigenvalue(w.n, w.hessian, w.n, w.scratch) / unit;
    at.tolerance = NEGATIVE * largest / unit;
    return at;
}

// Sum of the turnings of a rod's elements; of a tree, the largest of its rods'.
static double sum_turning(const Rod* root, const double* change) {
    double most = 0.0;
    for (const Rod* rod = root; rod != NULL; rod = tree_next(root, rod)) {
        double sum = 0.0;
        for (int i = 0; i + 3 <= rod->dof_count; i += 3) {
            sum += tdl_norm3(tdl_load3(change + rod->tree_first + i, 0));
        }
        most = fmax(most, sum);
    }
    return most;
}

static double turning(Loading* loading, double* memory) {
    Newton w = start_newton(loading, memory);
    double factor = loading->factor;
    evaluate(&w, true);
    bool definite = factor_shifted(&w, 0.0);
    loading_set(loading, 1.0);
    w.rod->model->potential(w.rod, loading->gravity, w.step, NULL);
    loading_set(loading, factor);
    for (int i = 0; i < w.n; ++i) {
        w.step[i] -= w.gradient[i];
    }
    if (!definite) {
        return INFINITY;
    }
    tdl_cholesky_solve(w.n, w.factor, w.n, 1, w.step, w.n);
    return sum_turning(w.rod, w.step);
}

const RodStatics DENSE_STATICS = {memory_count, relax, turning};
