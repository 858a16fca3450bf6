// Checks that hold for every nodal rod model, used by the models' unit tests.
#ifndef TDL_TEST_NODAL_CHECKS_H
#define TDL_TEST_NODAL_CHECKS_H

#include "base/rng.h"
#include "math/rotation.h"
#include "ref/whole_rows.h"
#include "rod/nodal.h"
#include "test.h"

enum { CHECK_MAX_N = 5, CHECK_MAX_DOF = 7 * CHECK_MAX_N + 3 };

static inline TdlVec3 check_vector(Rng* rng, double size) {
    TdlVec3 v = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
    return tdl_scale3(size / (tdl_norm3(v) + 1.0e-300), v);
}

static inline void check_destroy(Rod* rod) {
    TdlHost host = tdl_host_default();
    rod_destroy(&host, rod);
}

static inline Rod* check_create(const TdlRodDef* def) {
    TdlHost host = tdl_host_default();
    Rod* rod;
    if (rod_create(&host, def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    rod->end.now = rod->end.before = rod_end(rod);
    return rod;
}

// A rod of random section, size, shape, place and holds, off its natural shape in every strain.
static inline Rod* check_random_rod(Rng* rng, const char* model) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.element_count = 1 + rng_below(rng, CHECK_MAX_N);
    def.length = rng_range(rng, 0.05, 0.5);
    def.radius[0] = rng_range(rng, 0.05, 0.2) * def.length;
    def.radius[1] = rng_range(rng, 0.05, 0.2) * def.length;
    def.young = 1.0e7;
    def.clamp.position = check_vector(rng, 0.3);
    def.clamp.rotation = tdl_rotation_exp(check_vector(rng, 2.0));
    double l = def.length / def.element_count;
    def.natural_curvature = check_vector(rng, rng_range(rng, 0.0, 1.0) / l);
    def.curvature = check_vector(rng, rng_range(rng, 0.0, 1.0) / l);
    if (rng_below(rng, 3) == 0) {
        def.natural_curvature = (TdlVec3){0};
    }
    def.start = (TdlHold)rng_below(rng, 3);
    def.end = (TdlHold)rng_below(rng, 3);
    TdlRodLoad load = {rng_unit(rng) * def.length, check_vector(rng, 2.0), {0.0, 0.0, 0.0}};
    def.loads = &load;
    def.load_count = 1;
    Rod* rod = check_create(&def);
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->q[i] += 0.15 * rng_normal(rng);
    }
    rod->model->refresh(rod);
    return rod;
}

// Largest entry of a - b, relative to the largest of b.
static inline double check_difference(const double* a, const double* b, int n) {
    double worst = 0.0, scale = 0.0;
    for (int i = 0; i < n; ++i) {
        worst = fmax(worst, fabs(a[i] - b[i]));
        scale = fmax(scale, fabs(b[i]));
    }
    return scale > 0.0 ? worst / scale : worst;
}

static inline void check_nudge(Rod* rod, int j, double h) {
    rod->q[j] += h;
    rod->model->refresh(rod);
}

static const TdlVec3 CHECK_GRAVITY = {1.0, -2.0, -9.0};

// Differences of the potential (order 0) or of its gradient (order 1), against what it says. The
// three errors are for steps h, h/2, h/4.
static inline void check_potential(const char* model, uint64_t seed, bool second, double worst[3]) {
    Rng rng = rng_seed(seed);
    for (int trial = 0; trial < 200; ++trial) {
        Rod* rod = check_random_rod(&rng, model);
        int n = rod->dof_count;
        static double gradient[CHECK_MAX_DOF], hessian[CHECK_MAX_DOF * CHECK_MAX_DOF];
        static double plus[CHECK_MAX_DOF], minus[CHECK_MAX_DOF];
        static double differences[CHECK_MAX_DOF * CHECK_MAX_DOF];
        rod->model->potential(rod, CHECK_GRAVITY, gradient, hessian);
        for (int k = 0; k < 3; ++k) {
            double h = 2.0e-3 / (1 << k);
            for (int j = 0; j < n; ++j) {
                if (nodal_is_held(rod, j)) { // taken out: nothing to compare
                    differences[j] = gradient[j];
                    for (int i = 0; i < n && second; ++i) {
                        differences[j * n + i] = hessian[j * n + i];
                    }
                    continue;
                }
                check_nudge(rod, j, h);
                double high = rod->model->potential(rod, CHECK_GRAVITY, plus, NULL);
                check_nudge(rod, j, -2.0 * h);
                double low = rod->model->potential(rod, CHECK_GRAVITY, minus, NULL);
                check_nudge(rod, j, h);
                if (!second) {
                    differences[j] = 0.5 * (high - low) / h;
                }
                for (int i = 0; i < n && second; ++i) {
                    differences[j * n + i] = 0.5 * (plus[i] - minus[i]) / h;
                }
            }
            double error = second ? check_difference(hessian, differences, n * n)
                                  : check_difference(gradient, differences, n);
            worst[k] = fmax(worst[k], error);
        }
        check_destroy(rod);
    }
}

static inline void check_derivatives(const char* model) {
    double first[3] = {0}, second[3] = {0};
    check_potential(model, 41, false, first);
    check_potential(model, 42, true, second);
    double order1 = 0.5 * log2(first[0] / first[2]), order2 = 0.5 * log2(second[0] / second[2]);
    printf("  gradient off by %.1e %.1e %.1e (order %.2f), Hessian by %.1e %.1e %.1e (%.2f)\n",
           first[0], first[1], first[2], order1, second[0], second[1], second[2], order2);
    CHECK_NEAR(order1, 2.0, 0.1);
    CHECK_NEAR(order2, 2.0, 0.1);
    CHECK_BELOW(first[2], 1.0e-3);
    CHECK_BELOW(second[2], 1.0e-3);
}

static inline void check_jacobian(const char* model) {
    Rng rng = rng_seed(43);
    double worst = 0.0;
    for (int trial = 0; trial < 50; ++trial) {
        Rod* rod = check_random_rod(&rng, model);
        int element = rng_below(&rng, rod->element_count), n = rod->dof_count;
        double s = rng_unit(&rng), rows[3 * CHECK_MAX_DOF], differences[3 * CHECK_MAX_DOF];
        TdlMat3 basis = tdl_rotation_exp(check_vector(&rng, 1.0));
        whole_rows(rod, element, s, basis, rows);
        for (int j = 0; j < n; ++j) {
            check_nudge(rod, j, 0.5);
            TdlVec3 plus = rod->model->point(rod, element, s);
            check_nudge(rod, j, -1.0);
            TdlVec3 d = tdl_sub3(plus, rod->model->point(rod, element, s));
            check_nudge(rod, j, 0.5);
            differences[j] = tdl_dot3(basis.cx, d);
            differences[n + j] = tdl_dot3(basis.cy, d);
            differences[2 * n + j] = tdl_dot3(basis.cz, d);
        }
        worst = fmax(worst, check_difference(rows, differences, 3 * n));
        check_destroy(rod);
    }
    CHECK_BELOW(worst, 1.0e-12); // a point is linear in the coordinates
}

// --- free motion ----------------------------------------------------------------------------

typedef struct CheckMomentum {
    TdlVec3 linear, angular;
    double linear_scale, angular_scale; // sums of the sizes of all parts
} CheckMomentum;

// Momenta of the vertices, about the origin; and of the edges' spin, by `spin` (may be null).
static inline CheckMomentum check_momentum(const Rod* rod, TdlVec3 (*spin)(const Rod*, int)) {
    CheckMomentum sum = {0};
    int n = rod->element_count, stride = (rod->dof_count - 3) / n;
    double l = rod->element_length;
    for (int i = 0; i <= n; ++i) {
        double m = rod->line_density * l * (i == 0 || i == n ? 0.5 : 1.0);
        TdlVec3 x = tdl_scale3(l, tdl_load3(rod->q + i * stride, 0));
        TdlVec3 p = tdl_scale3(m * l, tdl_load3(rod->v + i * stride, 0));
        sum.linear = tdl_add3(sum.linear, p);
        sum.angular = tdl_add3(sum.angular, tdl_cross3(x, p));
        sum.linear_scale += tdl_norm3(p);
        sum.angular_scale += tdl_norm3(tdl_cross3(x, p));
    }
    for (int i = 0; i < n && spin != NULL; ++i) {
        sum.angular = tdl_add3(sum.angular, spin(rod, i));
    }
    return sum;
}

// A free rod thrown with a spin and out of its natural shape. Returns the largest relative change
// of the momenta; energies[0..1] receive the energy at the start and at the end, rise the largest
// gain in a step relative to the first.
static inline void check_free_flight(const char* model, double dt, double end,
                                     TdlVec3 (*spin)(const Rod*, int), double* linear,
                                     double* angular, double energies[2], double* rise) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.2;
    def.radius[0] = 1.0e-3;
    def.radius[1] = 0.7e-3;
    def.young = 1.0e7;
    def.element_count = 16;
    def.natural_curvature = (TdlVec3){3.0, 10.0, -4.0};
    def.curvature = (TdlVec3){1.0, -6.0, 2.0};
    def.start = def.end = TDL_HOLD_FREE;
    Rod* rod = check_create(&def);
    int stride = (rod->dof_count - 3) / def.element_count;
    TdlVec3 w = {5.0, -9.0, 4.0}, V = {0.3, 0.1, -0.2};
    for (int i = 0; i <= def.element_count; ++i) {
        TdlVec3 x = tdl_load3(rod->q + i * stride, 0);
        TdlVec3 u = tdl_axpy3(tdl_cross3(w, x), 1.0 / rod->element_length, V);
        tdl_store3(rod->v + i * stride, 0, u);
    }
    rod->model->refresh(rod);
    CheckMomentum start = check_momentum(rod, spin);
    TdlEnergy e = rod->model->energy(rod, (TdlVec3){0});
    double last = e.kinetic + e.elastic;
    energies[0] = last;
    *linear = *angular = *rise = 0.0;
    for (long k = lround(end / dt); k > 0; --k) {
        RodStep step = {.dt = dt, .base_end = rod->base.now, .end_end = rod->end.now};
        if (!rod->model->predict(rod, &step)) {
            FAIL("%s: a step of %g s failed with %ld to go", model, dt, k);
            break;
        }
        rod->model->advance(rod, &step, rod->v_free);
        CheckMomentum now = check_momentum(rod, spin);
        *linear = fmax(*linear, tdl_norm3(tdl_sub3(now.linear, start.linear)) / start.linear_scale);
        *angular =
            fmax(*angular, tdl_norm3(tdl_sub3(now.angular, start.angular)) / start.angular_scale);
        e = rod->model->energy(rod, (TdlVec3){0});
        *rise = fmax(*rise, (e.kinetic + e.elastic - last) / energies[0]);
        last = e.kinetic + e.elastic;
    }
    energies[1] = last;
    check_destroy(rod);
}

static inline void check_free_flights(const char* model, TdlVec3 (*spin)(const Rod*, int)) {
    const double steps[] = {1.0e-4, 1.0e-3, 1.0e-2}, ends[] = {0.5, 5.0, 10.0};
    for (int i = 0; i < 3; ++i) {
        double linear, angular, energies[2], rise;
        check_free_flight(model, steps[i], ends[i], spin, &linear, &angular, energies, &rise);
        printf("  dt %-6g over %g s: momentum off by %.1e, angular momentum by %.1e; energy "
               "%.4e to %.4e J, largest rise %.1e\n",
               steps[i], ends[i], linear, angular, energies[0], energies[1], rise);
        CHECK_BELOW(linear, 1.0e-10);
        CHECK_BELOW(angular, 1.0e-10);
    }
}

#endif
