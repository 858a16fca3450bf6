// The implicit step of the nodal rods.
//
// The velocity of a step minimises inertia plus energy at the end of the step (backward Euler), by
// Newton's method in which the stress is an unknown of its own: the geometric stiffness then uses
// the stress that the last linear solve predicts instead of the one that a not yet converged shape
// would have, so that edges may be thousands of times stiffer in stretch than in bending and a step
// may turn them far, for the same few iterations. (D.12) A rod that nothing holds also keeps its
// angular momentum, by three multipliers. (D.15) Everything is banded: O(N).
#include "linalg/banded.h"
#include "math/dense.h"
#include "math/eigen.h"
#include "rod/nodal_work.h"

#include <string.h>

enum { MAX_ITERATIONS = 120, CAREFUL_FROM = 60, MAX_HALVINGS = 10 };

// Iterations after which a model that knows a smoother energy above its own goes over to it, and
// how often it then takes another one; fewer where a coordinate changes by less than this.
enum { LAG_AFTER = 20, MAX_LAGS = 8 };
static const double LAGGED = 1.0e-6;

// What a change of a coordinate counts as a residual of the world's rounds, which end at 1e-10.
static const double RESIDUAL = 1.0e-2;

// With contacts it goes back to its own where rounds have come so near (element lengths, rad).
static const double OWN_ENERGY = 1.0e-2;

// Change of a coordinate (element lengths, rad) below which Newton's method, which squares it next,
// has converged; and where it converges linearly, without the geometric stiffness.
static const double CONVERGED = 1.0e-8;
static const double CONVERGED_LINEARLY = 1.0e-11;

// Change of a coordinate above which the energy tells whether it was too long.
static const double SEARCHED = 1.0e-5;

// Largest change of a coordinate in one iteration.
static const double MAX_CHANGE = 0.5;

// An axis about which the rod has less than this share of its largest moment of inertia is none.
static const double NO_AXIS = 1.0e-14;

enum {
    ELEMENT_DOUBLES = (sizeof(NodalElement) + sizeof(double) - 1) / sizeof(double),
    KEPT_DOUBLES = (sizeof(NodalKept) + sizeof(double) - 1) / sizeof(double),
};

size_t nodal_work_count(const NodalKind* kind, int element_count) {
    size_t n = (size_t)(element_count * (3 + kind->edge_dofs) + 3);
    size_t elements = (size_t)(element_count + kind->element_count(element_count));
    return 2 * n * NODAL_STRIDE + 14 * n + elements * (6 + ELEMENT_DOUBLES) +
           4 * (size_t)(element_count + 1) + KEPT_DOUBLES + nodal_root_doubles(kind, element_count);
}

NodalWork nodal_work(const Rod* rod) {
    size_t n = (size_t)rod->dof_count, elements = (size_t)nodal_element_count(rod);
    NodalWork w = {.n = rod->dof_count, .element_count = (int)elements};
    w.elements = (NodalElement*)rod->work;
    w.band = rod->work + elements * ELEMENT_DOUBLES;
    w.whole = w.band + n * NODAL_STRIDE;
    w.u = w.whole + n * NODAL_STRIDE;
    w.change = w.u + n;
    w.q = w.change + n;
    w.load = w.q + n;
    w.mass = w.load + n;
    w.turn = w.mass + n;
    w.response = w.turn + 3 * n;
    w.rotation = w.response + 3 * n;
    w.force = w.rotation + 3 * n;
    w.rest = w.force + 3 * elements;
    w.lag = w.rest + 3 * elements;
    w.kept = (NodalKept*)(w.lag + 4 * (size_t)(rod->element_count + 1));
    w.root = (double*)w.kept + KEPT_DOUBLES;
    return w;
}

bool nodal_is_free(const Rod* rod) {
    return rod->start_hold == TDL_HOLD_FREE && rod->end_hold == TDL_HOLD_FREE;
}

// --- the linear problem ---------------------------------------------------------------------

// Stiffness and natural strains of the step: damping pulls a strain back to where it was. (D.13)
static void damp(NodalElement* el, const double* rest, double gain) {
    for (int k = 0; k < el->count; ++k) {
        el->stiffness[k] *= gain;
        el->rest[k] = rest[k];
    }
}

// Strains and stresses at the start.
static void start_elements(NodalWork* w, const NodalShape* shape, double ratio) {
    for (int e = 0; e < w->element_count; ++e) {
        NodalElement* el = &w->elements[e];
        nodal_element(shape, e, NULL, el, NULL);
        for (int k = 0; k < el->count; ++k) {
            double value = el->value[k], rest = el->rest[k];
            w->rest[3 * e + k] = (rest + ratio * value) / (1.0 + ratio);
            w->force[3 * e + k] = el->stiffness[k] * (value - rest);
        }
    }
}

static void add_stress(const NodalElement* el, double dt, double* out) {
    for (int k = 0; k < el->count; ++k) {
        double force = dt * el->stiffness[k] * (el->value[k] - el->rest[k]);
        for (int i = 0; i < el->dof_count; ++i) {
            out[el->first + i] -= force * el->slope[k][i];
        }
    }
}

// A and minus the residual (in `change`) at the velocity u. (D.12)
static void assemble(const Rod* rod, const RodStep* step, NodalWork* w, const NodalShape* shape,
                     double gain, bool geometric) {
    double dt = step->dt, factor = rod_mass_factor(rod, dt);
    NodalBlock second;
    memset(w->band, 0, (size_t)w->n * NODAL_STRIDE * sizeof(double));
    for (int i = 0; i < w->n; ++i) {
        w->q[i] = rod->q[i] + dt * w->u[i];
        w->band[(ptrdiff_t)i * NODAL_STRIDE] = factor * w->mass[i];
        w->change[i] = w->mass[i] * (rod->v[i] - factor * w->u[i]) + dt * w->load[i];
    }
    for (int e = 0; e < w->element_count; ++e) {
        NodalElement* el = &w->elements[e];
        nodal_element(shape, e, w->force + 3 * e, el, geometric ? second : NULL);
        damp(el, w->rest + 3 * e, gain);
        nodal_add_band(el, geometric ? second : NULL, dt * dt, w->band);
        add_stress(el, dt, w->change);
    }
    nodal_hold_band(rod, w->band);
    nodal_hold_vector(rod, w->change);
}

static double longest(const double* x, int n) {
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        largest = fabs(x[i]) > largest || isnan(x[i]) ? fabs(x[i]) : largest;
    }
    return largest;
}

// --- angular momentum of a free rod ---------------------------------------------------------

// M times the velocities of the rod's rotations about its centre of mass: of the vertices in one
// shape, of the edges' frames in another. (D.14)
static void find_rotations(const NodalShape* shape, const NodalShape* frames, const double* mass,
                           double* out) {
    const Rod* rod = shape->rod;
    const NodalKind* kind = nodal_kind(rod);
    int n = rod->dof_count, stride = nodal_stride(rod);
    const TdlVec3 axis[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    TdlVec3 centre = {0};
    double total = 0.0;
    for (int i = 0; i <= rod->element_count; ++i) {
        centre = tdl_axpy3(centre, mass[i * stride], nodal_vertex(shape, i));
        total += mass[i * stride];
    }
    centre = tdl_scale3(1.0 / total, centre);
    for (int k = 0; k < 3; ++k) {
        double* row = out + (ptrdiff_t)k * n;
        for (int i = 0; i <= rod->element_count; ++i) {
            TdlVec3 arm = tdl_sub3(nodal_vertex(shape, i), centre);
            tdl_store3(row + i * stride, 0, tdl_cross3(axis[k], arm));
            if (kind->edge_dofs > 0 && i < rod->element_count) {
                kind->spin(frames, i, axis[k], row + i * stride + 3);
            }
        }
        for (int i = 0; i < n; ++i) {
            row[i] *= mass[i];
        }
    }
}

static TdlMat3 symmetric(double G[3][3]) {
    return (TdlMat3){
        {G[0][0], G[1][0], G[2][0]}, {G[0][1], G[1][1], G[2][1]}, {G[0][2], G[1][2], G[2][2]}};
}

// G^-1 for a symmetric G, without the axes the rod has no inertia about.
static TdlMat3 inverse_on_axes(TdlMat3 G) {
    double values[3];
    TdlMat3 vectors, inverse = tdl_scale33(0.0, tdl_identity33());
    tdl_eigen_3(G, values, &vectors);
    const TdlVec3 axis[3] = {vectors.cx, vectors.cy, vectors.cz};
    for (int k = 0; k < 3; ++k) {
        if (values[k] > NO_AXIS * values[2]) {
            inverse = tdl_axpy33(inverse, 1.0 / values[k], tdl_outer3(axis[k], axis[k]));
        }
    }
    return inverse;
}

TdlVec3 nodal_dots(const double* columns, ptrdiff_t n, int count, const double* x) {
    return (TdlVec3){tdl_dot(count, columns, x), tdl_dot(count, columns + n, x),
                     tdl_dot(count, columns + 2 * n, x)};
}

// Angular momentum of velocities.
static TdlVec3 momentum_of(const NodalWork* w, const double* u) {
    return nodal_dots(w->turn, w->n, w->n, u);
}

// R' x: the torque of generalised forces.
static TdlVec3 torque_of(const NodalWork* w, const double* x) {
    double sum[3] = {0.0};
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < w->n; ++i) {
            sum[k] += w->turn[(ptrdiff_t)k * w->n + i] * x[i] / w->mass[i];
        }
    }
    return (TdlVec3){sum[0], sum[1], sum[2]};
}

void nodal_add_columns(const double* columns, int n, TdlVec3 weight, double* x) {
    for (int i = 0; i < n; ++i) {
        x[i] += weight.x * columns[i] + weight.y * columns[n + i] + weight.z * columns[2 * n + i];
    }
}

// The angular momentum that the step has to end with: what there is, and what loads add.
static TdlVec3 wanted_momentum(const Rod* rod, const RodStep* step, NodalWork* w) {
    NodalShape before = nodal_shape(rod), now = before;
    before.q = rod->q_before;
    find_rotations(&now, &before, w->mass, w->turn);
    TdlVec3 L = momentum_of(w, rod->v);
    find_rotations(&now, &now, w->mass, w->turn);
    L = tdl_axpy3(L, step->dt, torque_of(w, w->load));
    return tdl_scale3(1.0 / rod_mass_factor(rod, step->dt), L);
}

// With A factored: its answer to rotations, A^-1 M R.
static void find_response(NodalWork* w) {
    int n = w->n;
    double G[3][3];
    memcpy(w->response, w->turn, 3 * (size_t)n * sizeof(double));
    banded_solve(n, NODAL_WIDTH, w->band, 3, w->response, n);
    for (int k = 0; k < 3; ++k) {
        for (int j = 0; j <= k; ++j) {
            G[k][j] = tdl_dot(n, w->turn + (ptrdiff_t)k * n, w->response + (ptrdiff_t)j * n);
            G[j][k] = G[k][j];
        }
    }
    w->kept->lock = inverse_on_axes(symmetric(G));
}

// Adds to a change what gives it the angular momentum L. (D.15)
static void keep_momentum(const NodalWork* w, TdlVec3 L, double* change) {
    TdlVec3 y = tdl_mul33_3(w->kept->lock, tdl_sub3(L, momentum_of(w, change)));
    nodal_add_columns(w->response, w->n, y, change);
}

// --- the step -------------------------------------------------------------------------------

// Stresses that the linear solve predicts. (D.12)
static void predict_forces(NodalWork* w, double dt) {
    for (int e = 0; e < w->element_count; ++e) {
        const NodalElement* el = &w->elements[e];
        for (int k = 0; k < el->count; ++k) {
            double strain = el->value[k] - el->rest[k], rate = 0.0;
            for (int i = 0; i < el->dof_count; ++i) {
                rate += el->slope[k][i] * w->change[el->first + i];
            }
            w->force[3 * e + k] = el->stiffness[k] * (strain + dt * rate);
        }
    }
}

// Velocity of the ends as they are held; the rest starts from rest, in the shape that is known to
// be sound.
static void start_velocity(const Rod* rod, const RodStep* step, double* u) {
    double l = rod->element_length;
    int n = rod->dof_count;
    memset(u, 0, (size_t)n * sizeof *u);
    TdlVec3 start = tdl_scale3(1.0 / l, step->base_end.position);
    TdlVec3 end = tdl_scale3(1.0 / l, step->end_end.position);
    if (rod->start_hold != TDL_HOLD_FREE) {
        tdl_store3(u, 0, tdl_scale3(1.0 / step->dt, tdl_sub3(start, tdl_load3(rod->q, 0))));
    }
    if (rod->end_hold != TDL_HOLD_FREE) {
        TdlVec3 x = tdl_load3(rod->q + n - 3, 0);
        tdl_store3(u + n - 3, 0, tdl_scale3(1.0 / step->dt, tdl_sub3(end, x)));
    }
}

// What the step minimises: inertia and energy at the velocity u. (D.12)
static double incremental_energy(const Rod* rod, const RodStep* step, NodalWork* w,
                                 const NodalShape* shape, double gain) {
    double dt = step->dt, factor = rod_mass_factor(rod, dt), sum = 0.0;
    NodalElement el;
    for (int i = 0; i < w->n; ++i) {
        double given = w->mass[i] * rod->v[i] + dt * w->load[i];
        sum += (0.5 * factor * w->mass[i] * w->u[i] - given) * w->u[i];
        w->q[i] = rod->q[i] + dt * w->u[i];
    }
    for (int e = 0; e < w->element_count; ++e) {
        nodal_element(shape, e, NULL, &el, NULL);
        damp(&el, w->rest + 3 * e, gain);
        for (int k = 0; k < el.count; ++k) {
            double strain = el.value[k] - el.rest[k];
            sum += 0.5 * el.stiffness[k] * strain * strain;
        }
    }
    return sum;
}

// Shortens a change that does not lead downhill.
static void search_line(const Rod* rod, const RodStep* step, NodalWork* w, const NodalShape* shape,
                        double gain) {
    double before = incremental_energy(rod, step, w, shape, gain);
    for (int k = 0; k < MAX_HALVINGS; ++k) {
        for (int i = 0; i < w->n; ++i) {
            w->u[i] += w->change[i];
        }
        double after = incremental_energy(rod, step, w, shape, gain);
        for (int i = 0; i < w->n; ++i) {
            w->u[i] -= w->change[i];
        }
        if (after <= before) {
            return;
        }
        for (int i = 0; i < w->n; ++i) {
            w->change[i] *= 0.5;
        }
    }
}

// A, for the factor that contacts need.
static void keep_whole(const NodalWork* w) {
    memcpy(w->whole, w->band, (size_t)w->n * NODAL_STRIDE * sizeof(double));
    w->kept->rooted = false;
}

// A at the velocity u, factored, and minus the residual there. Where A is not positive definite the
// geometric stiffness is left out, and `geometric` tells.
static bool linearise(const Rod* rod, const RodStep* step, NodalWork* w, const NodalShape* shape,
                      bool* geometric) {
    double gain = 1.0 + rod->damping / step->dt;
    *geometric = true;
    assemble(rod, step, w, shape, gain, true);
    keep_whole(w);
    if (banded_cholesky(w->n, NODAL_WIDTH, w->band) == w->n) {
        return true;
    }
    *geometric = false;
    assemble(rod, step, w, shape, gain, false);
    keep_whole(w);
    return banded_cholesky(w->n, NODAL_WIDTH, w->band) == w->n;
}

// One Newton iteration; returns the largest change of a coordinate relative to what counts as
// converged, or NaN.
static double iterate(const Rod* rod, const RodStep* step, NodalWork* w, const NodalShape* shape,
                      const TdlVec3* momentum, bool careful) {
    double dt = step->dt, gain = 1.0 + rod->damping / dt;
    bool geometric;
    if (!linearise(rod, step, w, shape, &geometric)) {
        return NAN;
    }
    banded_solve(w->n, NODAL_WIDTH, w->band, 1, w->change, w->n);
    if (momentum != NULL) {
        find_response(w);
        keep_momentum(w, tdl_sub3(*momentum, momentum_of(w, w->u)), w->change);
    }
    double change = dt * longest(w->change, w->n), scale = fmin(1.0, MAX_CHANGE / change);
    for (int i = 0; i < w->n; ++i) {
        w->change[i] *= scale;
    }
    if (careful && change > SEARCHED && momentum == NULL) {
        search_line(rod, step, w, shape, gain);
    }
    for (int i = 0; i < w->n; ++i) {
        w->u[i] += w->change[i];
    }
    predict_forces(w, dt);
    return change / (geometric ? CONVERGED : CONVERGED_LINEARLY);
}

// A shape that the step ends with.
NodalShape nodal_end_shape(const Rod* rod, const RodStep* step, const double* q) {
    return (NodalShape){.rod = rod,
                        .q = q,
                        .start = quat_from_matrix(step->base_end.rotation),
                        .end = quat_from_matrix(step->end_end.rotation)};
}

// Newton's method from the velocity u, for at most `limit` iterations and as long as coordinates
// change by no more than `largest`. True when it converged.
static bool solve_step(const Rod* rod, const RodStep* step, NodalWork* w, const NodalShape* end,
                       const TdlVec3* momentum, int limit, double largest) {
    double change = INFINITY;
    for (int k = 0; k < limit && change > 1.0; ++k) {
        change = iterate(rod, step, w, end, momentum, k >= CAREFUL_FROM);
        limit = change * CONVERGED > largest ? 0 : limit;
    }
    return change <= 1.0;
}

// Goes over to the energy that touches the model's own in the shape at the end: natural strains get
// the direction that the strains have there. (M.5)
static void lag_strains(const Rod* rod, NodalWork* w, NodalShape* end, double gain) {
    const double* natural = w->lag + 3 * (rod->element_count + 1);
    end->lag = NULL;
    nodal_kind(rod)->lag(end, w->lag);
    end->lag = w->lag;
    for (int i = 0; i <= rod->element_count; ++i) {
        int e = rod->element_count + i;
        NodalElement el;
        nodal_element(end, e, NULL, &el, NULL);
        for (int k = 0; k < el.count && nodal_rest(rod, i)[0] > 0.0; ++k) {
            w->rest[3 * e + k] = natural[i] * w->lag[3 * i + k];
            w->force[3 * e + k] = gain * el.stiffness[k] * (el.value[k] - w->rest[3 * e + k]);
        }
    }
}

// The step by a row of energies that lie above the model's own, each of which touches it where the
// last one was left, and the last of which is solved: the true energy ends below it. With the
// angular momentum of a free rod to keep it is not quite downhill: only one is taken, for want of
// better.
static bool solve_lagging(const Rod* rod, const RodStep* step, NodalWork* w, NodalShape* end,
                          const TdlVec3* momentum) {
    double* natural = w->lag + 3 * (rod->element_count + 1);
    double change = INFINITY, gain = 1.0 + rod->damping / step->dt;
    NodalShape now = nodal_shape(rod);
    start_elements(w, &now, rod->damping / step->dt);
    start_velocity(rod, step, w->u);
    for (int i = 0; i <= rod->element_count; ++i) {
        natural[i] = w->rest[3 * (rod->element_count + i)];
    }
    for (int i = 0; i < w->n; ++i) {
        w->q[i] = rod->q[i] + step->dt * w->u[i];
    }
    for (int k = 0; k < MAX_LAGS && change > LAGGED && momentum == NULL; ++k) {
        memcpy(rod->v_free, w->u, (size_t)w->n * sizeof(double));
        lag_strains(rod, w, end, gain);
        solve_step(rod, step, w, end, momentum, k == 0 ? 2 : 1, INFINITY);
        change = 0.0;
        for (int i = 0; i < w->n; ++i) {
            w->q[i] = rod->q[i] + step->dt * w->u[i];
            change = fmax(change, step->dt * fabs(w->u[i] - rod->v_free[i]));
        }
    }
    lag_strains(rod, w, end, gain);
    return solve_step(rod, step, w, end, momentum, MAX_ITERATIONS, INFINITY);
}

// The nonlinear step under the loads in `load`; its velocity is left in u, A factored next to it.
static bool find_velocity(const Rod* rod, const RodStep* step, NodalWork* w, bool lagging) {
    NodalShape now = nodal_shape(rod), end = nodal_end_shape(rod, step, w->q);
    bool free = nodal_is_free(rod) && !step->middle; // that rule itself keeps it, of second order
    if (free) {
        w->kept->momentum = wanted_momentum(rod, step, w);
    }
    const TdlVec3* momentum = free ? &w->kept->momentum : NULL;
    start_elements(w, &now, rod->damping / step->dt);
    start_velocity(rod, step, w->u);
    bool soon = lagging && !free;
    w->kept->lagging = false;
    if (solve_step(rod, step, w, &end, momentum, soon ? LAG_AFTER : MAX_ITERATIONS,
                   soon ? MAX_CHANGE : INFINITY)) {
        return true;
    }
    w->kept->lagging = lagging;
    return lagging && solve_lagging(rod, step, w, &end, momentum);
}

static bool find_step(Rod* rod, const RodStep* step, bool lagging, const double* expected) {
    NodalWork w = nodal_work(rod);
    NodalShape now = nodal_shape(rod);
    for (int i = 0; i < w.n; ++i) {
        w.mass[i] = nodal_mass(rod, i);
    }
    nodal_dead_load(&now, rod_pull(rod, step), true, w.load);
    for (int i = 0; i < w.n && expected != NULL; ++i) {
        w.load[i] += expected[i];
    }
    bool found = find_velocity(rod, step, &w, lagging && nodal_kind(rod)->lag != NULL);
    memcpy(rod->v_free, w.u, (size_t)w.n * sizeof(double));
    return found;
}

bool nodal_find_step(Rod* rod, const RodStep* step, bool lagging) {
    return find_step(rod, step, lagging, NULL);
}

// --- contacts ---------------------------------------------------------------------------------

// X := A^-1 X; ends that are held do not move.
static void respond(const Rod* rod, const NodalWork* w, int count, double* X) {
    for (int k = 0; k < count; ++k) {
        double* x = X + (ptrdiff_t)k * w->n;
        for (int i = 0; i < 3; ++i) {
            x[i] = nodal_is_held(rod, i) ? 0.0 : x[i];
            x[w->n - 1 - i] = nodal_is_held(rod, w->n - 1 - i) ? 0.0 : x[w->n - 1 - i];
        }
    }
    banded_solve(w->n, NODAL_WIDTH, w->band, count, X, w->n);
}

// Adds to columns what momentum makes of them; rows by rows, so that the vectors stay near.
static void add_turning(const NodalWork* w, int count, const TdlVec3* bent, const TdlVec3* turning,
                        double* X) {
    enum { ROWS = 256 };
    const double *c = w->response, *r = w->rotation;
    int n = w->n;
    for (int first = 0; first < n; first += ROWS) {
        int end = first + ROWS < n ? first + ROWS : n;
        for (int k = 0; k < count; ++k) {
            TdlVec3 b = bent[k], t = turning[k];
            double* x = X + (ptrdiff_t)k * n;
            for (int i = first; i < end; ++i) {
                x[i] += b.x * c[i] + b.y * c[n + i] + b.z * c[2 * n + i] +
                        (t.x * r[i] + t.y * r[n + i] + t.z * r[2 * n + i]);
            }
        }
    }
}

// A free rod turns under an impulse as a rigid body does, and what it bends by has no angular
// momentum. (D.19)
void nodal_solve_columns(const Rod* rod, int count, double* X) {
    enum { SOME = 12 };
    NodalWork w = nodal_work(rod);
    if (!nodal_is_free(rod)) {
        respond(rod, &w, count, X);
        return;
    }
    for (int first = 0; first < count; first += SOME) {
        int some = count - first < SOME ? count - first : SOME, n = w.n;
        double* x = X + (ptrdiff_t)first * n;
        TdlVec3 turning[SOME], bent[SOME];
        for (int k = 0; k < some; ++k) { // R'M A^-1 h is (A^-1 M R)' h, and h is short
            const double* h = x + (ptrdiff_t)k * n;
            int from = 0, end = n;
            for (; from < end && h[from] == 0.0; ++from) {
            }
            for (; from < end && h[end - 1] == 0.0; --end) {
            }
            TdlVec3 torque = nodal_dots(w.rotation + from, n, end - from, h + from);
            TdlVec3 momentum = nodal_dots(w.response + from, n, end - from, h + from);
            torque = tdl_scale3(1.0 / w.kept->mass_factor, torque);
            turning[k] = tdl_mul33_3(w.kept->inverse_inertia, torque);
            bent[k] = tdl_scale3(-1.0, tdl_mul33_3(w.kept->lock, momentum));
        }
        respond(rod, &w, some, x);
        add_turning(&w, some, bent, turning, x);
    }
}

void nodal_solve(const Rod* rod, double* x) {
    nodal_solve_columns(rod, 1, x);
}

// The rotations themselves, and the inertia against them.
static void find_inertia(NodalWork* w) {
    double J[3][3];
    ptrdiff_t n = w->n;
    for (ptrdiff_t i = 0; i < 3 * n; ++i) {
        w->rotation[i] = w->turn[i] / w->mass[i % n];
    }
    for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < 3; ++j) {
            J[k][j] = tdl_dot(w->n, w->turn + k * n, w->rotation + j * n);
        }
    }
    w->kept->inverse_inertia = inverse_on_axes(symmetric(J));
}

void nodal_expect(Rod* rod, int element, double s, TdlVec3 force) {
    double *a = rod->expected + element * nodal_stride(rod), *b = a + nodal_stride(rod);
    double l = rod->element_length;
    tdl_store3(a, 0, tdl_axpy3(tdl_load3(a, 0), (1.0 - s) * l, force));
    tdl_store3(b, 0, tdl_axpy3(tdl_load3(b, 0), s * l, force));
}

// Forgets the forces that were expected: dead loads and angular momentum are those without, and so
// is the velocity, to first order. (W.13)
static void take_out_expected(Rod* rod, const RodStep* step, NodalWork* w) {
    NodalShape now = nodal_shape(rod);
    nodal_dead_load(&now, rod_pull(rod, step), true, w->load);
    if (nodal_is_free(rod)) {
        TdlVec3 torque = torque_of(w, rod->expected);
        w->kept->momentum = tdl_axpy3(w->kept->momentum, -step->dt / w->kept->mass_factor, torque);
    }
    memcpy(w->change, rod->expected, (size_t)w->n * sizeof(double));
    nodal_solve(rod, w->change);
    for (int i = 0; i < w->n; ++i) {
        rod->v_free[i] -= step->dt * w->change[i];
    }
}

// The natural strains of the model's own energy again.
static void restore_rest(const Rod* rod, NodalWork* w) {
    const double* natural = w->lag + 3 * (rod->element_count + 1);
    for (int i = 0; i <= rod->element_count && w->kept->lagging; ++i) {
        w->rest[3 * (rod->element_count + i)] = natural[i];
    }
}

// Stresses of the model's own energy in the shape that the velocity u leads to.
static void find_forces(const Rod* rod, const RodStep* step, NodalWork* w, const NodalShape* end) {
    double gain = 1.0 + rod->damping / step->dt;
    for (int e = 0; e < w->element_count; ++e) {
        NodalElement el;
        nodal_element(end, e, NULL, &el, NULL);
        for (int k = 0; k < el.count; ++k) {
            w->force[3 * e + k] = gain * el.stiffness[k] * (el.value[k] - w->rest[3 * e + k]);
        }
    }
}

// A at the velocity u, for contacts. Where the step needed the smoother energy, and as long as much
// is left, A is that of the one which touches the model's own there: the residual is the same, it
// only converges slower. (M.5)
static bool linearise_for_contacts(const Rod* rod, const RodStep* step, NodalWork* w) {
    NodalShape end = nodal_end_shape(rod, step, w->q);
    bool geometric;
    if (!w->kept->lagging) {
        return linearise(rod, step, w, &end, &geometric);
    }
    for (int i = 0; i < w->n; ++i) {
        w->q[i] = rod->q[i] + step->dt * w->u[i];
    }
    if (w->kept->left < OWN_ENERGY) {
        find_forces(rod, step, w, &end);
        return linearise(rod, step, w, &end, &geometric);
    }
    lag_strains(rod, w, &end, 1.0 + rod->damping / step->dt);
    bool fine = linearise(rod, step, w, &end, &geometric);
    restore_rest(rod, w);
    return fine;
}

// The step under the forces that contacts are expected to have, so that A is taken near the shape
// that the step ends in.
bool nodal_predict(Rod* rod, const RodStep* step) {
    NodalWork w = nodal_work(rod);
    w.kept->mass_factor = rod_mass_factor(rod, step->dt);
    bool expected = rod->expects && find_step(rod, step, true, rod->expected);
    if (!expected && !find_step(rod, step, true, NULL)) {
        return false;
    }
    if (nodal_is_free(rod) && !step->middle) {
        find_inertia(&w);
    }
    restore_rest(rod, &w);
    if (expected) {
        take_out_expected(rod, step, &w);
    }
    return true;
}

// The step's own equation at a velocity, under impulses: minus its residual, in `change`; and what
// Newton's method would change, with the factor at hand.
static void find_change(const Rod* rod, const RodStep* step, NodalWork* w, const double* v,
                        const double* impulse) {
    double dt = step->dt, gain = 1.0 + rod->damping / dt, factor = w->kept->mass_factor;
    NodalShape end = nodal_end_shape(rod, step, w->q);
    for (int i = 0; i < w->n; ++i) {
        w->q[i] = rod->q[i] + dt * v[i];
        w->change[i] = w->mass[i] * (rod->v[i] - factor * v[i]) + dt * w->load[i];
        w->change[i] += impulse == NULL ? 0.0 : impulse[i];
    }
    for (int e = 0; e < w->element_count; ++e) {
        NodalElement el;
        nodal_element(&end, e, NULL, &el, NULL);
        damp(&el, w->rest + 3 * e, gain);
        add_stress(&el, dt, w->change);
    }
    respond(rod, w, 1, w->change);
    if (nodal_is_free(rod)) {
        TdlVec3 torque = impulse == NULL ? (TdlVec3){0} : torque_of(w, impulse);
        TdlVec3 L = tdl_axpy3(w->kept->momentum, 1.0 / factor, torque);
        keep_momentum(w, tdl_sub3(L, momentum_of(w, v)), w->change);
    }
}

// In element lengths and rad, of which a hundredth counts: rounds then end where the step's own
// iteration does, and at rest at rounding.
double nodal_residual(const Rod* rod, const RodStep* step, const double* v, const double* impulse) {
    NodalWork w = nodal_work(rod);
    find_change(rod, step, &w, v, impulse);
    w.kept->left = step->dt * longest(w.change, w.n);
    return RESIDUAL * w.kept->left;
}

void nodal_correct(const Rod* rod, double* v_free) {
    const NodalWork w = nodal_work(rod);
    for (int i = 0; i < w.n; ++i) {
        v_free[i] += w.change[i];
    }
}

bool nodal_predict_again(Rod* rod, const RodStep* step, const double* v, const double* impulse) {
    NodalWork w = nodal_work(rod);
    for (int i = 0; i < w.n; ++i) {
        w.change[i] = v[i] - w.u[i];
    }
    predict_forces(&w, step->dt);
    memcpy(w.u, v, (size_t)w.n * sizeof *v);
    if (!linearise_for_contacts(rod, step, &w)) {
        return false;
    }
    if (nodal_is_free(rod)) {
        find_response(&w);
    }
    find_change(rod, step, &w, w.u, impulse);
    for (int i = 0; i < w.n; ++i) {
        rod->v_free[i] = w.u[i] + w.change[i];
    }
    if (impulse == NULL) {
        return true;
    }
    memcpy(w.change, impulse, (size_t)w.n * sizeof *impulse);
    nodal_solve(rod, w.change);
    for (int i = 0; i < w.n; ++i) {
        rod->v_free[i] -= w.change[i];
    }
    return true;
}

static void advance_hold(RodBase* hold, TdlPose end, Twist rate) {
    hold->before = hold->now;
    hold->now = end;
    hold->rate = rate;
}

void nodal_advance(Rod* rod, const RodStep* step, const double* v) {
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->q_before[i] = rod->q[i];
        rod->v[i] = v[i];
        rod->q[i] += step->dt * v[i];
    }
    advance_hold(&rod->base, step->base_end, step->base_rate);
    advance_hold(&rod->end, step->end_end, step->end_rate);
    nodal_kind(rod)->keep_frames(rod, true);
}
