// The way of the nodal rods to equilibrium, in their band: O(N) a step.
//
// Newton's method with the stress as unknown where it is near, implicit steps from rest to rest
// where it is not (D.16). Whether a shape is a saddle is asked of the Hessian relative to the
// stiffness of the material, in which stretching, however stiff, is not soft and not negative; a
// saddle is left along the mode found. (D.18)
#include "linalg/banded.h"
#include "math/dense.h"
#include "rod/nodal.h"
#include "rod/statics.h"

#include <float.h>
#include <string.h>

// Steps that go to an equilibrium, and the change of a coordinate at which it is near.
enum { APPROACH_STEPS = 400 };
static const double APPROACHED = 1.0e-9;

// A change this small may not lower the energy by more than its rounding.
static const double SAME_ENERGY = 1.0e-5;

// Distance of an end from its hold, over the coordinates at hand, that rounding makes.
static const double PLACED = 1.0e-12;

// Newton's method: iterations, the turning of an edge beyond which it does not count as near, and
// one that is only rounding.
enum { NEWTON_STEPS = 40 };
static const double NEAR = 1.0;
static const double TURNED = 1.0e-12;

// Saddles left behind one after the other; halvings of a way out, and its largest turning.
enum { MAX_ESCAPES = 20, MAX_HALVINGS = 40 };
static const double ESCAPE = 0.3;

// Steps down where the others do not arrive, and what they add of the metric.
enum { DESCENT_STEPS = 300 };
static const double LEAST_SHIFT = 1.0e-10;
static const double MOST_SHIFT = 1.0e6;

// An eigenvalue counts as negative below minus this and what rounding makes. (D.18)
static const double NEGATIVE = 1.0e-6;

// Inverse iterations, and the relative change of an eigenvalue at which they end.
enum { LEAST_INVERSE_STEPS = 5, INVERSE_STEPS = 100 };
static const double SAME_VALUE = 1.0e-6;

// Part of bending stiffness by length with which a motion as a whole counts in the metric.
static const double WHOLE_MOTION = 1.0e-2;

typedef struct Work {
    Rod* rod;
    TdlVec3 gravity;
    int n, element_count;
    double *hessian, *metric, *factor;        // [NODAL_STRIDE n] bands
    double *gradient, *change, *mode, *image; // [n]
    double *force, *lag;                      // [3 elements], [3 (edges + 1)]
    void* start;                              // a saved state
    double noise;                             // N m, of forces
} Work;

static size_t memory_count(const Rod* rod) {
    size_t n = (size_t)rod->dof_count, elements = (size_t)nodal_element_count(rod);
    return 3 * n * NODAL_STRIDE + 4 * n + 3 * elements + 3 * (size_t)(rod->element_count + 1) +
           rod_state_size(rod) / sizeof(double) + 1;
}

// An edge's length is known to the rounding of its ends' places, and stretching is stiff.
static double length_noise(const Rod* rod) {
    double largest = 0.0;
    for (int i = 0; i < rod->dof_count; ++i) {
        largest = fmax(largest, fabs(rod->q[i]));
    }
    return DBL_EPSILON * largest * rod_stretch_stiffness(rod) * rod->element_length;
}

static Work start_work(const Loading* loading, double* memory) {
    Rod* rod = loading->root;
    size_t n = (size_t)rod->dof_count, elements = (size_t)nodal_element_count(rod);
    Work w = {.rod = rod,
              .gravity = loading_gravity(loading),
              .n = rod->dof_count,
              .element_count = (int)elements,
              .noise = 8.0 * length_noise(rod)};
    w.hessian = memory;
    w.metric = w.hessian + n * NODAL_STRIDE;
    w.factor = w.metric + n * NODAL_STRIDE;
    w.gradient = w.factor + n * NODAL_STRIDE;
    w.change = w.gradient + n;
    w.mode = w.change + n;
    w.image = w.mode + n;
    w.force = w.image + n;
    w.lag = w.force + 3 * elements;
    w.start = w.lag + 3 * (rod->element_count + 1);
    return w;
}

static double largest_of(const double* x, int n) {
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        largest = fabs(x[i]) > largest || isnan(x[i]) ? fabs(x[i]) : largest;
    }
    return largest;
}

// --- going there ----------------------------------------------------------------------------

// Takes back the last step.
static void undo(Rod* rod) {
    memcpy(rod->q, rod->q_before, (size_t)rod->dof_count * sizeof(double));
    nodal_kind(rod)->keep_frames(rod, true);
    rod_stop(rod);
}

// Implicit steps from rest to rest, longer and longer: their limit is Newton's method on the
// potential energy with the stress as unknown. A step that fails or does not go downhill is undone
// and shortened. (D.16)
static void approach(Loading* loading) {
    Rod* rod = loading->root;
    TdlVec3 gravity = loading_gravity(loading);
    double length = rod_length(rod), soft = fmin(rod->stiffness.y, rod->stiffness.z);
    double dt = 0.1 * length * length * sqrt(rod->line_density / soft), least = 1.0e-6 * dt;
    double energy = nodal_potential(rod, gravity, NULL, NULL), change = INFINITY, growth = 4.0;
    for (int k = 0; k < APPROACH_STEPS && change > APPROACHED && dt > least; ++k) {
        if (loading_stopped(loading)) {
            return;
        }
        RodStep step = {
            .dt = dt, .gravity = gravity, .base_end = rod->base.now, .end_end = rod->end.now};
        if (!nodal_find_step(rod, &step, false)) {
            dt *= 0.25;
            growth = 1.2;
            continue;
        }
        nodal_advance(rod, &step, rod->v_free);
        double next = nodal_potential(rod, gravity, NULL, NULL);
        change = 0.0;
        for (int i = 0; i < rod->dof_count; ++i) {
            change = fmax(change, dt * fabs(rod->v[i]));
        }
        if (next > energy) {
            undo(rod);
            dt = change < SAME_ENERGY ? 0.0 : 0.25 * dt;
            growth = 1.2;
            continue;
        }
        rod_stop(rod);
        energy = next;
        dt *= growth;
        growth = fmin(4.0, 1.2 * growth);
    }
}

// The largest turning or stretch of an edge, or change of its own coordinates.
static double largest_turning(const Rod* rod, const double* change) {
    int stride = nodal_stride(rod);
    double largest = 0.0;
    for (int i = 0; i < rod->element_count; ++i) {
        const double* at = change + i * stride;
        double turn = tdl_norm3(tdl_sub3(tdl_load3(at + stride, 0), tdl_load3(at, 0)));
        turn = fmax(turn, largest_of(at + 3, stride - 3));
        largest = turn > largest || isnan(turn) ? turn : largest;
    }
    return largest;
}

// Stresses in the shape, and those that the linear solve predicts. (D.12)
static void find_forces(Work* w, const double* change) {
    NodalShape shape = nodal_shape(w->rod);
    NodalElement el;
    for (int e = 0; e < w->element_count; ++e) {
        nodal_element(&shape, e, NULL, &el, NULL);
        for (int k = 0; k < el.count; ++k) {
            double strain = el.value[k] - el.rest[k];
            if (change != NULL) {
                strain += tdl_dot(el.dof_count, el.slope[k], change + el.first);
            }
            w->force[3 * e + k] = el.stiffness[k] * strain;
        }
    }
}

static void add_change(Rod* rod, const double* change) {
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->q[i] += change[i];
    }
    nodal_kind(rod)->keep_frames(rod, true);
}

static void find_metric(Work* w);
static bool factor_shifted(Work* w, double shift);

// What costs nothing, as the spin of a straight rod between pins, may come out negative.
static bool factor_near(Work* w) {
    memcpy(w->factor, w->hessian, (size_t)w->n * NODAL_STRIDE * sizeof(double));
    if (banded_cholesky(w->n, NODAL_WIDTH, w->factor) == w->n) {
        return true;
    }
    find_metric(w);
    return factor_shifted(w, LEAST_SHIFT);
}

// Newton's method with the stress as unknown, the limit of (D.16) for endless steps. False, and the
// rod back where it was, where it does not lead to a minimum near by.
static bool find_near(Work* w) {
    Rod* rod = w->rod;
    double way = 0.0, turn = INFINITY;
    rod_save_state(rod, w->start);
    find_forces(w, NULL);
    for (int k = 0; k < NEWTON_STEPS; ++k) {
        nodal_derive(rod, w->gravity, w->force, w->gradient, w->hessian);
        if (!factor_near(w)) {
            break;
        }
        if (turn <= TURNED || (turn < SAME_ENERGY && largest_of(w->gradient, w->n) <= w->noise)) {
            return true;
        }
        for (int i = 0; i < w->n; ++i) {
            w->change[i] = -w->gradient[i];
        }
        banded_solve(w->n, NODAL_WIDTH, w->factor, 1, w->change, w->n);
        turn = largest_turning(rod, w->change);
        way += turn;
        if (!(way < NEAR)) {
            break;
        }
        find_forces(w, w->change);
        add_change(rod, w->change);
    }
    if (turn < SAME_ENERGY && largest_of(w->gradient, w->n) <= w->noise) {
        return true;
    }
    rod_load_state(rod, w->start);
    return false;
}

// --- stability ------------------------------------------------------------------------------

// A shape in which the strains have no direction of their own (M.5): its stiffness is the metric's.
static NodalShape metric_shape(const Work* w) {
    NodalShape shape = nodal_shape(w->rod);
    if (nodal_kind(w->rod)->lag != NULL) {
        nodal_kind(w->rod)->lag(&shape, w->lag);
        shape.lag = w->lag;
    }
    return shape;
}

// What a motion of the whole rod counts: that of a vertex or of an edge's own coordinates. (D.18)
static double whole_motion(const Rod* rod, int dof) {
    double count = rod->element_count, soft = fmin(rod->stiffness.y, rod->stiffness.z);
    double unit = WHOLE_MOTION * soft / rod_length(rod) / count;
    return dof % nodal_stride(rod) < 3 ? unit / (count * count) : unit;
}

// The stiffness of the material in the present shape.
static void find_metric(Work* w) {
    NodalShape shape = metric_shape(w);
    NodalElement el;
    memset(w->metric, 0, (size_t)w->n * NODAL_STRIDE * sizeof(double));
    for (int e = 0; e < w->element_count; ++e) {
        nodal_element(&shape, e, NULL, &el, NULL);
        nodal_add_band(&el, NULL, 1.0, w->metric);
    }
    for (int i = 0; i < w->n; ++i) {
        w->metric[(ptrdiff_t)i * NODAL_STRIDE] += whole_motion(w->rod, i);
    }
    nodal_hold_band(w->rod, w->metric);
}

// out := metric x
static void apply_metric(const Work* w, const double* x, double* out) {
    memset(out, 0, (size_t)w->n * sizeof *out);
    for (int j = 0; j < w->n; ++j) {
        const double* column = w->metric + (ptrdiff_t)j * NODAL_STRIDE;
        out[j] += column[0] * x[j];
        for (int i = 1; i <= NODAL_WIDTH && j + i < w->n; ++i) {
            out[j + i] += column[i] * x[j];
            out[j] += column[i] * x[j + i];
        }
    }
}

// Whether hessian + shift metric is positive definite; then it is factored.
static bool factor_shifted(Work* w, double shift) {
    for (int i = 0; i < w->n * NODAL_STRIDE; ++i) {
        w->factor[i] = w->hessian[i] + shift * w->metric[i];
    }
    return banded_cholesky(w->n, NODAL_WIDTH, w->factor) == w->n;
}

// A shift that is large enough, and not by much.
static bool find_shift(Work* w) {
    if (factor_shifted(w, 0.0)) {
        return true;
    }
    double enough = 1.0e-2 * NEGATIVE;
    while (!factor_shifted(w, enough)) {
        enough *= 4.0;
        if (!(enough < 1.0e12)) {
            return false;
        }
    }
    double short_of = 0.25 * enough;
    for (int k = 0; k < 3; ++k) {
        double middle = sqrt(short_of * enough);
        *(factor_shifted(w, middle) ? &enough : &short_of) = middle;
    }
    return factor_shifted(w, enough);
}

// Second derivative of the energy along the mode, and the mode's metric, element by element: in the
// sum of a band, stretching would leave more rounding than bending is stiff. (D.18)
static double rayleigh(const Work* w, double* turning) {
    NodalShape shape = nodal_shape(w->rod), smooth = metric_shape(w);
    double energy = 0.0, metric = 0.0, turned = 0.0;
    NodalBlock second;
    for (int e = 0; e < w->element_count; ++e) {
        NodalElement el[2];
        nodal_element(&shape, e, NULL, &el[0], second);
        nodal_element(&smooth, e, NULL, &el[1], NULL);
        const double* at = w->mode + el[0].first;
        for (int j = 0; j < el[0].dof_count; ++j) {
            energy += at[j] * tdl_dot(el[0].dof_count, second[j], at);
        }
        for (int side = 0; side < 2; ++side) {
            for (int k = 0; k < el[side].count; ++k) {
                double strain = tdl_dot(el[side].dof_count, el[side].slope[k], at);
                *(side == 0 ? &energy : &metric) += el[side].stiffness[k] * strain * strain;
            }
        }
    }
    for (int i = 0; i < w->n; ++i) {
        metric += whole_motion(w->rod, i) * w->mode[i] * w->mode[i];
    }
    for (int i = 0, stride = nodal_stride(w->rod); i < w->rod->element_count; ++i) {
        const double* at = w->mode + i * stride;
        TdlVec3 turn = tdl_sub3(tdl_load3(at + stride, 0), tdl_load3(at, 0));
        turned += tdl_dot3(turn, turn);
    }
    *turning = turned / metric;
    return energy / metric;
}

// The mode, by inverse iteration from what a force on every coordinate does: that is soft.
static void find_mode(Work* w) {
    double last = INFINITY;
    for (int i = 0; i < w->n; ++i) {
        w->mode[i] = (double)((i * 37) % 101) / 101.0 - 0.3; // orthogonal to no mode
    }
    nodal_hold_vector(w->rod, w->mode);
    for (int k = 0; k < INVERSE_STEPS; ++k) {
        if (k > 0) {
            apply_metric(w, w->mode, w->image);
            memcpy(w->change, w->mode, (size_t)w->n * sizeof(double));
            memcpy(w->mode, w->image, (size_t)w->n * sizeof(double));
        }
        banded_solve(w->n, NODAL_WIDTH, w->factor, 1, w->mode, w->n);
        double value = k == 0
                           ? INFINITY
                           : tdl_dot(w->n, w->image, w->change) / tdl_dot(w->n, w->image, w->mode);
        double scale = 1.0 / largest_of(w->mode, w->n);
        for (int i = 0; i < w->n; ++i) {
            w->mode[i] *= scale;
        }
        if (k > LEAST_INVERSE_STEPS && fabs(value - last) <= SAME_VALUE * value) {
            break;
        }
        last = value;
    }
}

// The smallest eigenvalue of the Hessian in the metric, and what rounding of the edges' tension may
// add to it.
static double find_lowest(Work* w, double* tolerance) {
    double turned = 0.0;
    nodal_derive(w->rod, w->gravity, NULL, w->gradient, w->hessian);
    find_metric(w);
    *tolerance = 0.0;
    if (!find_shift(w)) {
        return NAN;
    }
    find_mode(w);
    double value = rayleigh(w, &turned);
    *tolerance = turned * length_noise(w->rod);
    return value;
}

// --- downhill -------------------------------------------------------------------------------

// From the start along the mode: edges that turn keep their length, unless the far end is held.
static void move_along(Work* w, double t) {
    Rod* rod = w->rod;
    int stride = nodal_stride(rod);
    rod_load_state(rod, w->start);
    NodalShape shape = nodal_shape(rod);
    TdlVec3 x = tdl_load3(rod->q, 0);
    for (int i = 0; i < rod->dof_count; ++i) {
        w->change[i] = t * w->mode[i];
    }
    tdl_store3(w->image, 0, tdl_add3(x, tdl_load3(w->change, 0)));
    for (int i = 0; i < rod->element_count; ++i) {
        const double* at = w->change + i * stride;
        TdlVec3 edge = nodal_edge(&shape, i),
                turn = tdl_sub3(tdl_load3(at + stride, 0), tdl_load3(at, 0));
        double length = tdl_norm3(edge), stretched = length + tdl_dot3(edge, turn) / length;
        TdlVec3 moved = tdl_add3(edge, turn);
        if (rod->end_hold == TDL_HOLD_FREE) {
            moved = tdl_scale3(stretched / tdl_norm3(moved), moved);
        }
        TdlVec3 from = tdl_load3(w->image + i * stride, 0);
        tdl_store3(w->image + (i + 1) * stride, 0, tdl_add3(from, moved));
        for (int k = 3; k < stride; ++k) {
            w->image[i * stride + k] = rod->q[i * stride + k] + at[k];
        }
    }
    memcpy(rod->q, w->image, (size_t)w->n * sizeof(double));
    nodal_kind(rod)->keep_frames(rod, true);
}

// Newton's method with a part of the metric added, more where the energy does not fall: for modes
// so soft that implicit steps do not come to their end.
static void descend(Work* w, Loading* loading) {
    Rod* rod = w->rod;
    double energy = nodal_potential(rod, w->gravity, NULL, NULL), turn = 1.0, shift = LEAST_SHIFT;
    for (int k = 0; k < DESCENT_STEPS && turn > APPROACHED && shift < MOST_SHIFT; ++k) {
        if (loading_stopped(loading)) {
            return;
        }
        nodal_derive(rod, w->gravity, NULL, w->gradient, w->hessian);
        find_metric(w);
        while (!factor_shifted(w, shift) && shift < MOST_SHIFT) {
            shift *= 4.0;
        }
        for (int i = 0; i < w->n; ++i) {
            w->mode[i] = -w->gradient[i];
        }
        banded_solve(w->n, NODAL_WIDTH, w->factor, 1, w->mode, w->n);
        turn = largest_turning(rod, w->mode);
        rod_save_state(rod, w->start);
        move_along(w, fmin(1.0, ESCAPE / turn));
        double next = nodal_potential(rod, w->gravity, NULL, NULL);
        if (next < energy) {
            energy = next;
            shift = fmax(LEAST_SHIFT, 0.2 * shift);
        } else {
            rod_load_state(rod, w->start);
            shift *= 8.0;
        }
    }
}

// --- leaving saddles ------------------------------------------------------------------------

// Goes downhill along the mode, whose eigenvalue is negative. False where no way down is found.
static bool escape(Work* w) {
    Rod* rod = w->rod;
    double energy = nodal_potential(rod, w->gravity, NULL, NULL), unit = ESCAPE;
    unit /= largest_turning(rod, w->mode);
    if (tdl_dot(w->n, w->gradient, w->mode) > 0.0) {
        unit = -unit;
    }
    rod_save_state(rod, w->start);
    for (int k = 0; k < MAX_HALVINGS; ++k, unit *= 0.5) {
        move_along(w, unit);
        if (nodal_potential(rod, w->gravity, NULL, NULL) < energy) {
            return true;
        }
    }
    rod_load_state(rod, w->start);
    return false;
}

// --- the way --------------------------------------------------------------------------------

// Held ends go where they are held, and the vertices between them along.
static void place_ends(Rod* rod) {
    int count = rod->element_count, stride = nodal_stride(rod);
    double scale = 1.0 / rod->element_length;
    TdlVec3 start = tdl_load3(rod->q, 0), end = tdl_load3(rod->q + count * stride, 0), off[2] = {0};
    if (rod->start_hold != TDL_HOLD_FREE) {
        off[0] = tdl_sub3(tdl_scale3(scale, rod->base.now.position), start);
    }
    off[1] = off[0];
    if (rod->end_hold != TDL_HOLD_FREE) {
        off[1] = tdl_sub3(tdl_scale3(scale, rod->end.now.position), end);
        off[0] = rod->start_hold == TDL_HOLD_FREE ? off[1] : off[0];
    }
    if (tdl_norm3(off[0]) + tdl_norm3(off[1]) <= PLACED * (count + tdl_norm3(start))) {
        return;
    }
    for (int i = 0; i <= count; ++i) {
        double* x = rod->q + i * stride;
        TdlVec3 along = tdl_sub3(off[1], off[0]);
        tdl_store3(x, 0, tdl_add3(tdl_load3(x, 0), tdl_axpy3(off[0], (double)i / count, along)));
    }
    nodal_kind(rod)->keep_frames(rod, true);
}

static Equilibrium relax(Loading* loading, double* memory) {
    Work w = start_work(loading, memory);
    Equilibrium at = {.noise = w.noise};
    place_ends(w.rod);
    bool there = find_near(&w);
    for (int k = 0; k <= MAX_ESCAPES && !loading_stopped(loading); ++k) {
        if (!there) {
            approach(loading);
            there = find_near(&w);
        }
        if (!there) {
            descend(&w, loading);
            there = find_near(&w);
        }
        at.lowest = find_lowest(&w, &at.tolerance);
        if (!(at.lowest < -NEGATIVE - at.tolerance) || !escape(&w)) {
            break;
        }
        there = false;
    }
    at.force = largest_of(w.gradient, w.n);
    return at;
}

static double turning(Loading* loading, double* memory) {
    Work w = start_work(loading, memory);
    double factor = loading->factor;
    nodal_derive(w.rod, w.gravity, NULL, w.gradient, w.hessian);
    find_metric(&w);
    bool definite = factor_shifted(&w, -NEGATIVE);
    loading_set(loading, 1.0);
    nodal_derive(w.rod, loading->gravity, NULL, w.change, NULL);
    loading_set(loading, factor);
    for (int i = 0; i < w.n; ++i) {
        w.change[i] -= w.gradient[i];
    }
    if (!definite) {
        return INFINITY;
    }
    banded_solve(w.n, NODAL_WIDTH, w.factor, 1, w.change, w.n);
    return largest_turning(w.rod, w.change);
}

const RodStatics NODAL_STATICS = {memory_count, relax, turning};
