// The super-helix against the slow version in extended precision (ref/rod_ref.h), and against
// finite differences of its own energy.
#include "base/rng.h"
#include "math/rotation.h"
#include "ref/rod_ref.h"
#include "ref/whole_rows.h"
#include "rod/super_helix.h"
#include "test.h"

enum { MAX_N = 4, MAX_DOF = 3 * MAX_N };
#define REF_POINTS ref_points
#define REF_MEAN_SPIN
#include "ref/rod_terms_ref.h"

static TdlVec3 random_vector(Rng* rng, double size) {
    TdlVec3 v = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
    return tdl_scale3(size / (tdl_norm3(v) + 1.0e-300), v);
}

// Turning of an element, over all scales: exactly zero, tiny, ordinary, several turns.
static double random_turning(Rng* rng) {
    switch (rng_below(rng, 5)) {
    case 0:
        return 0.0;
    case 1:
        return pow(10.0, rng_range(rng, -12.0, -1.0));
    case 2:
        return rng_range(rng, 6.3, 20.0); // one to three turns
    default:
        return rng_range(rng, 0.0, 6.3);
    }
}

// Makes the velocities belong to the present shape.
static void settle_in(Rod* rod) {
    memcpy(rod->q_before, rod->q, (size_t)rod->dof_count * sizeof(double));
    rod->base.before = rod->base.now;
    rod->model->refresh(rod);
}

static Rod* random_rod(Rng* rng) {
    TdlHost host = tdl_host_default();
    TdlRodDef def = tdl_rod_def_default();
    def.model = "super-helix-dense";
    def.element_count = 1 + rng_below(rng, MAX_N);
    def.length = rng_range(rng, 0.05, 0.5);
    def.radius[0] = rng_range(rng, 1.0e-4, 1.0e-3);
    def.radius[1] = rng_range(rng, 1.0e-4, 1.0e-3);
    def.young = 1.0e7;
    def.clamp.position = random_vector(rng, 0.3);
    def.clamp.rotation = tdl_rotation_exp(random_vector(rng, 2.0));
    def.natural_curvature = random_vector(rng, 20.0);
    Rod* rod;
    if (rod_create(&host, &def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    for (int i = 0; i < rod->element_count; ++i) {
        tdl_store3(rod->q, i, random_vector(rng, random_turning(rng)));
        tdl_store3(rod->v, i, random_vector(rng, rng_range(rng, 0.1, 10.0)));
    }
    settle_in(rod);
    return rod;
}

static void destroy(Rod* rod) {
    TdlHost host = tdl_host_default();
    rod_destroy(&host, rod);
}

// --- comparisons ----------------------------------------------------------------------------

static double relative_error(const Real* expected, const double* actual, int n) {
    Real worst = 0, scale = 0;
    for (int i = 0; i < n; ++i) {
        worst = fmaxl(worst, fabsl(expected[i] - actual[i]));
        scale = fmaxl(scale, fabsl(expected[i]));
    }
    return (double)(worst / scale);
}

static double mass_error(const Rod* rod, const Reference* ref) {
    double M[MAX_DOF * MAX_DOF], worst = 0.0, scale = 0.0;
    int n = ref->dofs;
    super_helix_mass(rod, M);
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            worst = fmax(worst, fabs(M[j * n + i] - (double)ref->M[i][j]));
            scale = fmax(scale, fabs((double)ref->M[i][j]));
        }
    }
    return worst / scale;
}

// Error of x' M x for unit vectors x = e_i and e_i + e_j, through the kinetic energy.
static double energy_mass_error(Rod* rod, const Reference* ref) {
    double worst = 0.0, scale = 0.0, keep[MAX_DOF];
    memcpy(keep, rod->v, sizeof(double) * (size_t)ref->dofs);
    for (int i = 0; i < ref->dofs; ++i) {
        for (int j = 0; j <= i; ++j) {
            memset(rod->v, 0, sizeof(double) * (size_t)ref->dofs);
            rod->v[i] += 1.0;
            rod->v[j] += 1.0;
            settle_in(rod);
            double twice = 2.0 * rod->model->energy(rod, (TdlVec3){0}).kinetic;
            Real expected = ref->M[i][i] + 2 * ref->M[i][j] + ref->M[j][j];
            worst = fmax(worst, fabs(twice - (double)expected));
            scale = fmax(scale, (double)expected);
        }
    }
    memcpy(rod->v, keep, sizeof(double) * (size_t)ref->dofs);
    settle_in(rod);
    return worst / scale;
}

// --- tests ----------------------------------------------------------------------------------

TEST(mass_gravity_and_velocity_products_match_the_slow_version) {
    ref_gauss();
    Rng rng = rng_seed(20);
    static Reference ref;
    double worst_mass = 0, worst_energy = 0, worst_gravity = 0, worst_product = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        Rod* rod = random_rod(&rng);
        TdlVec3 g = random_vector(&rng, 9.81);
        compute_reference(rod, g, &ref);

        worst_energy = fmax(worst_energy, energy_mass_error(rod, &ref));
        worst_mass = fmax(worst_mass, mass_error(rod, &ref));
        double force[MAX_DOF];
        super_helix_bias(rod, (HelixMotion){.a = tdl_scale3(-1.0, g)}, NULL, force);
        worst_gravity = fmax(worst_gravity, relative_error(ref.G, force, ref.dofs));
        super_helix_bias(rod, (HelixMotion){0}, rod->v, force);
        worst_product = fmax(worst_product, relative_error(ref.A, force, ref.dofs));
        destroy(rod);
    }
    printf("  largest relative errors: mass %.1e (through the kinetic energy %.1e), gravity %.1e, "
           "velocity products %.1e\n",
           worst_mass, worst_energy, worst_gravity, worst_product);
    CHECK_BELOW(worst_energy, 1.0e-9);
    CHECK_BELOW(worst_mass, 1.0e-9);
    CHECK_BELOW(worst_gravity, 1.0e-9);
    CHECK_BELOW(worst_product, 1.0e-9);
}

// Position and frame of a clamp that starts at `pose` with velocity `rate` and acceleration
// (a, alpha), at time t.
static TdlPose moved_clamp(TdlPose pose, Twist rate, TdlVec3 a, TdlVec3 alpha, double t) {
    TdlVec3 x = tdl_axpy3(tdl_axpy3(pose.position, t, rate.linear), 0.5 * t * t, a);
    TdlVec3 turn = tdl_axpy3(tdl_scale3(t, rate.angular), 0.5 * t * t, alpha);
    return (TdlPose){x, tdl_mul33(tdl_rotation_exp(turn), pose.rotation)};
}

TEST(a_moving_clamp_adds_its_accelerations) {
    ref_gauss();
    Rng rng = rng_seed(21);
    static Reference ref;
    static RefVec at[5][MAX_N * REF_ROW], first[MAX_N * REF_ROW], second[MAX_N * REF_ROW];
    static const Real w1[5] = {1.0L / 12, -2.0L / 3, 0, 2.0L / 3, -1.0L / 12};
    static const Real w2[5] = {-1.0L / 12, 4.0L / 3, -5.0L / 2, 4.0L / 3, -1.0L / 12};
    const double h = 2.0e-3;
    double worst = 0.0;
    for (int trial = 0; trial < 50; ++trial) {
        Rod* rod = random_rod(&rng);
        Twist rate = {random_vector(&rng, 1.0), random_vector(&rng, 2.0)};
        TdlVec3 a = random_vector(&rng, 3.0), alpha = random_vector(&rng, 5.0);
        compute_reference(rod, (TdlVec3){0}, &ref);
        for (int k = 0; k < 5; ++k) {
            double t = (k - 2) * h;
            Real q[MAX_DOF];
            for (int j = 0; j < ref.dofs; ++j) {
                q[j] = rod->q[j] + (Real)t * rod->v[j];
            }
            set_pose(&ref, moved_clamp(rod->base.now, rate, a, alpha, t));
            ref_points(ref.n, q, ref.l, ref.R, ref.x0, at[k]);
        }
        for (int p = 0; p < ref.n * REF_ROW; ++p) {
            for (int i = 0; i < 3; ++i) {
                first[p].v[i] = second[p].v[i] = 0;
                for (int k = 0; k < 5; ++k) {
                    first[p].v[i] += w1[k] * at[k][p].v[i] / h;
                    second[p].v[i] += w2[k] * at[k][p].v[i] / (h * h);
                }
            }
        }
        Real expected[MAX_DOF];
        for (int i = 0; i < ref.dofs; ++i) {
            expected[i] = weighted_dot(&ref, ref.J[i], second) + swung_spins(&ref, ref.J[i], first);
        }
        double force[MAX_DOF];
        super_helix_bias(rod, (HelixMotion){.w = rate.angular, .alpha = alpha, .a = a}, rod->v,
                         force);
        worst = fmax(worst, relative_error(expected, force, ref.dofs));
        destroy(rod);
    }
    // fourth-order differences of motions of up to 20 rad/s over 2 ms, in poses of double precision
    CHECK_BELOW(worst, 1.0e-6);
}

// Largest entry of a - b, relative to the largest of b.
static double difference(const double* a, const double* b, int n) {
    double worst = 0.0, scale = 0.0;
    for (int i = 0; i < n; ++i) {
        worst = fmax(worst, fabs(a[i] - b[i]));
        scale = fmax(scale, fabs(b[i]));
    }
    return worst / scale;
}

// Moves coordinate j by h and recomputes.
static void nudge(Rod* rod, int j, double h) {
    rod->q[j] += h;
    rod->model->refresh(rod);
}

static const TdlVec3 GRAVITY = {1.0, -2.0, -9.0};

// The three derivatives below are central differences: with steps h, h/2, h/4 their error falls by
// 4 each time until rounding; the order is taken over the two halvings.
static double order_of(const double error[3]) {
    return 0.5 * log2(error[0] / error[2]);
}

TEST(jacobian_is_the_derivative_of_point) {
    Rng rng = rng_seed(22);
    double worst[3] = {0};
    for (int trial = 0; trial < 100; ++trial) {
        Rod* rod = random_rod(&rng);
        int element = rng_below(&rng, rod->element_count), n = rod->dof_count;
        double s = rng_unit(&rng), rows[3 * MAX_DOF], differences[3 * MAX_DOF];
        TdlMat3 basis = tdl_rotation_exp(random_vector(&rng, 1.0));
        whole_rows(rod, element, s, basis, rows);
        for (int k = 0; k < 3; ++k) {
            double h = 4.0e-3 / (1 << k);
            for (int j = 0; j < n; ++j) {
                nudge(rod, j, h);
                TdlVec3 plus = rod->model->point(rod, element, s);
                nudge(rod, j, -2.0 * h);
                TdlVec3 minus = rod->model->point(rod, element, s);
                nudge(rod, j, h);
                TdlVec3 d = tdl_scale3(0.5 / h, tdl_sub3(plus, minus));
                differences[j] = tdl_dot3(basis.cx, d);
                differences[n + j] = tdl_dot3(basis.cy, d);
                differences[2 * n + j] = tdl_dot3(basis.cz, d);
            }
            worst[k] = fmax(worst[k], difference(rows, differences, 3 * n));
        }
        destroy(rod);
    }
    CHECK_NEAR(order_of(worst), 2.0, 0.1);
    CHECK_BELOW(worst[2], 1.0e-5);
}

TEST(gradient_is_the_derivative_of_the_potential) {
    Rng rng = rng_seed(23);
    double worst[3] = {0};
    for (int trial = 0; trial < 100; ++trial) {
        Rod* rod = random_rod(&rng);
        int n = rod->dof_count;
        double gradient[MAX_DOF], differences[MAX_DOF];
        rod->stiffness = tdl_scale3(1.0e-4, rod->stiffness); // let gravity matter
        rod->model->potential(rod, GRAVITY, gradient, NULL);
        for (int k = 0; k < 3; ++k) {
            double h = 8.0e-3 / (1 << k);
            for (int j = 0; j < n; ++j) {
                nudge(rod, j, h);
                double plus = rod->model->potential(rod, GRAVITY, NULL, NULL);
                nudge(rod, j, -2.0 * h);
                double minus = rod->model->potential(rod, GRAVITY, NULL, NULL);
                nudge(rod, j, h);
                differences[j] = 0.5 * (plus - minus) / h;
            }
            worst[k] = fmax(worst[k], difference(gradient, differences, n));
        }
        destroy(rod);
    }
    CHECK_NEAR(order_of(worst), 2.0, 0.1);
    CHECK_BELOW(worst[2], 1.0e-4);
}

TEST(hessian_is_the_derivative_of_the_gradient) {
    Rng rng = rng_seed(24);
    double worst[3] = {0};
    for (int trial = 0; trial < 100; ++trial) {
        Rod* rod = random_rod(&rng);
        int n = rod->dof_count;
        double hessian[MAX_DOF * MAX_DOF], differences[MAX_DOF * MAX_DOF];
        double plus[MAX_DOF], minus[MAX_DOF];
        rod->stiffness = tdl_scale3(1.0e-4, rod->stiffness);
        rod->model->potential(rod, GRAVITY, NULL, hessian);
        for (int k = 0; k < 3; ++k) {
            double h = 8.0e-3 / (1 << k);
            for (int j = 0; j < n; ++j) {
                nudge(rod, j, h);
                rod->model->potential(rod, GRAVITY, plus, NULL);
                nudge(rod, j, -2.0 * h);
                rod->model->potential(rod, GRAVITY, minus, NULL);
                nudge(rod, j, h);
                for (int i = 0; i < n; ++i) {
                    differences[j * n + i] = 0.5 * (plus[i] - minus[i]) / h;
                }
            }
            worst[k] = fmax(worst[k], difference(hessian, differences, n * n));
        }
        destroy(rod);
    }
    CHECK_NEAR(order_of(worst), 2.0, 0.1);
    CHECK_BELOW(worst[2], 1.0e-4);
}

TEST(elements_join_with_a_common_tangent) {
    Rng rng = rng_seed(25);
    for (int trial = 0; trial < 200; ++trial) {
        Rod* rod = random_rod(&rng);
        RodCurve curves[MAX_N];
        rod->model->curves(rod, curves);
        CHECK_NEAR3(rod->model->point(rod, 0, 0.0), rod->base.now.position, 0.0);
        for (int e = 0; e + 1 < rod->element_count; ++e) {
            TdlVec3 q = tdl_scale3(curves[e].length, curves[e].kappa);
            TdlVec3 end = rod->model->point(rod, e, 1.0);
            CHECK_NEAR3(end, curves[e + 1].start.position, 1.0e-15);
            TdlVec3 tangent = tdl_mul33_3(curves[e].start.rotation, tdl_rotation_exp(q).cx);
            CHECK_NEAR3(tangent, curves[e + 1].start.rotation.cx, 1.0e-14);
        }
        destroy(rod);
    }
}

// Entry (i, j) of a symmetric matrix whose lower triangle is stored in columns.
static double entry(const double* M, int n, int i, int j) {
    return j <= i ? M[j * n + i] : M[i * n + j];
}

TEST(a_free_step_solves_the_equation_it_claims) {
    // velocities that belong to the present shape bring the momentum M v: residual of
    // (M + (dt tau + dt^2) K) v+ = M v - dt (K (q - q_rest) + G), M and G from their own functions
    Rng rng = rng_seed(26);
    for (int trial = 0; trial < 100; ++trial) {
        Rod* rod = random_rod(&rng);
        int n = rod->dof_count;
        double dt = 1.0e-3, tau = rod->damping = 0.02, M[MAX_DOF * MAX_DOF], G[MAX_DOF];
        double K3[3] = {rod->stiffness.x, rod->stiffness.y, rod->stiffness.z}, x[MAX_DOF];
        RodStep step = {.dt = dt, .gravity = GRAVITY, .base_end = rod->base.now};
        REQUIRE(rod->model->predict(rod, &step));
        super_helix_mass(rod, M);
        super_helix_bias(rod, (HelixMotion){.a = tdl_scale3(-1.0, GRAVITY)}, NULL, G);
        double worst = 0.0, size = 0.0;
        for (int i = 0; i < n; ++i) {
            double k = K3[i % 3] / rod->element_length;
            double pull = dt * (k * (rod->q[i] - rod->q_rest[i]) + G[i]);
            double sum = pull + (dt * tau + dt * dt) * k * rod->v_free[i];
            x[i] = -pull;
            for (int j = 0; j < n; ++j) {
                double m = entry(M, n, i, j);
                sum += m * (rod->v_free[j] - rod->v[j]);
                x[i] += m * rod->v[j];
                size = fmax(size, fabs(m * rod->v_free[j]) + fabs(m * rod->v[j]));
            }
            worst = fmax(worst, fabs(sum));
        }
        CHECK_BELOW(worst, 1.0e-13 * size);
        // solve applies the inverse of the same matrix
        rod->model->solve(rod, x);
        double largest = 0.0;
        for (int i = 0; i < n; ++i) {
            largest = fmax(largest, fabs(rod->v_free[i]));
        }
        for (int i = 0; i < n; ++i) {
            CHECK_NEAR(x[i], rod->v_free[i], 1.0e-8 * largest); // A is badly conditioned
        }
        destroy(rod);
    }
}

TEST(momentum_carried_to_the_next_shape_holds_the_velocity_products) {
    // it is M v - dt A + O(dt^2) with M at the new shape: the difference from A falls like dt
    Rng rng = rng_seed(27);
    double worst[3] = {0};
    for (int trial = 0; trial < 50; ++trial) {
        Rod* rod = random_rod(&rng);
        rod->gyration = 0.0; // what spins ask for across the tangent is left out (H.26)
        rod->model->refresh(rod);
        int n = rod->dof_count;
        double M[MAX_DOF * MAX_DOF], A[MAX_DOF], p[MAX_DOF], found[MAX_DOF];
        RodStep still = {.dt = 1.0, .base_end = rod->base.now};
        super_helix_bias(rod, (HelixMotion){0}, rod->v, A);
        for (int k = 0; k < 3; ++k) {
            double dt = 4.0e-5 / (1 << k);
            for (int i = 0; i < n; ++i) {
                rod->q[i] = rod->q_before[i] + dt * rod->v[i];
            }
            rod->model->refresh(rod);
            super_helix_momentum(rod, &still, p);
            super_helix_mass(rod, M);
            for (int i = 0; i < n; ++i) {
                found[i] = -p[i] / dt;
                for (int j = 0; j < n; ++j) {
                    found[i] += entry(M, n, i, j) * rod->v[j] / dt;
                }
            }
            worst[k] = fmax(worst[k], difference(found, A, n));
        }
        destroy(rod);
    }
    CHECK_NEAR(order_of(worst), 1.0, 0.1);
    CHECK_BELOW(worst[2], 1.0e-2);
}

TEST(a_step_without_gravity_never_adds_energy_however_long) {
    Rng rng = rng_seed(28);
    for (int trial = 0; trial < 500; ++trial) {
        Rod* rod = random_rod(&rng);
        RodStep step = {.dt = pow(10.0, rng_range(&rng, -5.0, 1.0)), .base_end = rod->base.now};
        double energy = INFINITY;
        for (int k = 0; k < 10 && rod->model->predict(rod, &step); ++k) {
            rod->model->advance(rod, &step, rod->v_free);
            TdlEnergy e = rod->model->energy(rod, (TdlVec3){0});
            CHECK(e.kinetic + e.elastic <= energy * (1.0 + 1.0e-12));
            energy = e.kinetic + e.elastic;
        }
        destroy(rod);
    }
}
