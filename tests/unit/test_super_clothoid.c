// The super-clothoid against the slow version in extended precision (ref/clothoid_ref.h), and
// against finite differences of its own energy.
#include "base/rng.h"
#include "math/dense.h"
#include "math/rotation.h"
#include "ref/clothoid_ref.h"
#include "ref/whole_rows.h"
#include "rod/clothoid_element.h"
#include "rod/held_end.h"
#include "rod/super_clothoid.h"
#include "test.h"

enum { MAX_N = 4, MAX_DOF = 3 * (MAX_N + 1) + 6 };
#define REF_POINTS ref_clothoid_points
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

static TdlRodDef random_def(Rng* rng) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = "super-clothoid";
    def.element_count = 1 + rng_below(rng, MAX_N);
    def.length = rng_range(rng, 0.05, 0.5);
    def.radius[0] = rng_range(rng, 1.0e-4, 1.0e-3);
    def.radius[1] = rng_range(rng, 1.0e-4, 1.0e-3);
    def.young = 1.0e7;
    def.clamp.position = random_vector(rng, 0.3);
    def.clamp.rotation = tdl_rotation_exp(random_vector(rng, 2.0));
    def.natural_curvature = random_vector(rng, 20.0);
    return def;
}

static Rod* make_rod(Rng* rng, const TdlRodDef* def) {
    TdlHost host = tdl_host_default();
    Rod* rod;
    if (rod_create(&host, def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    for (int i = 0; i <= rod->element_count; ++i) {
        tdl_store3(rod->q, i, random_vector(rng, random_turning(rng)));
    }
    for (int i = 0; i < rod->dof_count / 3; ++i) {
        tdl_store3(rod->v, i, random_vector(rng, rng_range(rng, 0.1, 10.0)));
    }
    settle_in(rod);
    return rod;
}

static Rod* random_rod(Rng* rng) {
    TdlRodDef def = random_def(rng);
    return make_rod(rng, &def);
}

// A rod whose start may be pinned or free, under point forces. It is bent somewhere: sections have
// no inertia of their own, so a straight rod that is not clamped could spin about its axis for
// nothing, and A would be singular.
static Rod* random_held_rod(Rng* rng) {
    TdlRodDef def = random_def(rng);
    TdlRodLoad loads[3] = {{.at = def.length * rng_unit(rng), .force = random_vector(rng, 1.0e-3)},
                           {.at = def.length * rng_unit(rng), .force = random_vector(rng, 2.0e-3)},
                           {.at = def.length, .force = random_vector(rng, 1.0e-3)}};
    def.start = (TdlHold)rng_below(rng, 3);
    def.loads = loads;
    def.load_count = rng_below(rng, 4);
    Rod* rod = make_rod(rng, &def);
    tdl_store3(rod->q, 0, (TdlVec3){1.0, rng_range(rng, 0.5, 3.0), -1.0});
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
    super_clothoid_mass(rod, M);
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            worst = fmax(worst, fabs(M[j * n + i] - (double)ref->M[i][j]));
            scale = fmax(scale, fabs((double)ref->M[i][j]));
        }
    }
    return worst / scale;
}

// --- tests ----------------------------------------------------------------------------------

TEST(mass_and_gravity_match_the_slow_version) {
    ref_gauss();
    Rng rng = rng_seed(70);
    static Reference ref;
    double worst_mass = 0, worst_gravity = 0;
    for (int trial = 0; trial < REPEATS(200, 20); ++trial) {
        Rod* rod = random_rod(&rng);
        TdlVec3 g = random_vector(&rng, 9.81);
        compute_reference(rod, g, &ref);
        worst_mass = fmax(worst_mass, mass_error(rod, &ref));
        double force[MAX_DOF];
        super_clothoid_forces(rod, g, force);
        worst_gravity = fmax(worst_gravity, relative_error(ref.G, force, ref.dofs));
        destroy(rod);
    }
    printf("  largest relative errors: mass %.1e, gravity %.1e\n", worst_mass, worst_gravity);
    CHECK_BELOW(worst_mass, 1.0e-9);
    CHECK_BELOW(worst_gravity, 1.0e-9);
}

// A shape that is not the present one, and a moving clamp in it.
static void randomise_before(Rod* rod, Rng* rng) {
    for (int i = 0; i < rod->dof_count; ++i) {
        rod->q_before[i] = rod->q[i] + rng_normal(rng);
    }
    rod->base.rate = (Twist){random_vector(rng, 1.0), random_vector(rng, 5.0)};
    rod->base.before.position = tdl_add3(rod->base.now.position, random_vector(rng, 0.1));
    rod->base.before.rotation =
        tdl_mul33(tdl_rotation_exp(random_vector(rng, 0.5)), rod->base.now.rotation);
    rod->model->refresh(rod);
}

// Velocities of the shape before, by sixth-order differences in time. The spins of that shape are
// said of the present frames.
static void reference_velocities(const Rod* rod, Reference* ref, RefVec* out) {
    static RefVec at[7][MAX_N * REF_ROW];
    static const Real w1[7] = {-1.0L / 60, 3.0L / 20,  -3.0L / 4, 0,
                               3.0L / 4,   -3.0L / 20, 1.0L / 60};
    const double h = 1.0e-3;
    for (int k = 0; k < 7; ++k) {
        double t = (k - 3) * h;
        TdlPose pose = rod->base.before;
        pose.position = tdl_axpy3(pose.position, t, rod->base.rate.linear);
        TdlVec3 turn = tdl_scale3(t, rod->base.rate.angular);
        pose.rotation = tdl_mul33(tdl_rotation_exp(turn), pose.rotation);
        Real q[MAX_DOF];
        for (int j = 0; j < ref->dofs; ++j) {
            q[j] = rod->q_before[j] + (Real)t * rod->v[j];
        }
        set_pose(ref, pose);
        ref_clothoid_points(ref->n, q, ref->l, ref->R, ref->x0, at[k]);
    }
    for (int p = 0; p < ref->n * REF_ROW; ++p) {
        for (int i = 0; i < 3; ++i) {
            out[p].v[i] = 0;
            for (int k = 0; k < 7; ++k) {
                out[p].v[i] += w1[k] * at[k][p].v[i] / h;
            }
        }
    }
    for (int section = 0; section < ref->n * REF_GAUSS; ++section) {
        int e = section / REF_GAUSS, k = section % REF_GAUSS;
        int y = e * REF_ROW + REF_FRAME + 3 * k + 1, z = y + 1;
        Real spin = ref_dot(out[y], at[3][z]);
        for (int i = 0; i < 3; ++i) {
            out[y].v[i] = spin * ref->points[z].v[i];
        }
    }
}

// Adds dt g and takes away the velocities that the clamp's motion gives the present shape.
static void take_base_away(const Rod* rod, const RodStep* step, const Reference* ref,
                           RefVec* velocity) {
    TdlVec3 lift = tdl_axpy3(step->base_rate.linear, -step->dt, step->gravity);
    for (int p = 0; p < ref->n * REF_ROW; ++p) {
        const Real* x = ref->points[p].v;
        TdlVec3 at = {(double)x[0], (double)x[1], (double)x[2]};
        bool is_point = p % REF_ROW < REF_GAUSS;
        TdlVec3 taken = tdl_cross3(step->base_rate.angular,
                                   is_point ? tdl_sub3(at, rod->base.now.position) : at);
        taken = is_point ? tdl_add3(taken, lift) : taken;
        velocity[p].v[0] -= taken.x;
        velocity[p].v[1] -= taken.y;
        velocity[p].v[2] -= taken.z;
    }
}

TEST(velocities_of_one_shape_are_projected_on_another) {
    ref_gauss();
    Rng rng = rng_seed(71);
    static Reference ref;
    static RefVec velocity[MAX_N * REF_ROW];
    double worst = 0.0, worst_energy = 0.0;
    for (int trial = 0; trial < REPEATS(60, 10); ++trial) {
        Rod* rod = random_rod(&rng);
        randomise_before(rod, &rng);
        compute_reference(rod, (TdlVec3){0}, &ref);
        reference_velocities(rod, &ref, velocity);
        Real twice = weighted_dot(&ref, velocity, velocity);
        double kinetic = rod->model->energy(rod, (TdlVec3){0}).kinetic;
        worst_energy = fmax(worst_energy, fabs(2.0 * kinetic / (double)twice - 1.0));

        RodStep step = {.dt = 0.01,
                        .gravity = random_vector(&rng, 9.81),
                        .base_rate = {random_vector(&rng, 1.0), random_vector(&rng, 5.0)},
                        .base_end = rod->base.now};
        take_base_away(rod, &step, &ref, velocity);
        Real expected[MAX_DOF];
        double found[MAX_DOF];
        for (int i = 0; i < ref.dofs; ++i) {
            expected[i] = weighted_dot(&ref, ref.J[i], velocity);
        }
        super_clothoid_momentum(rod, &step, found);
        worst = fmax(worst, relative_error(expected, found, ref.dofs));
        destroy(rod);
    }
    printf("  largest relative errors: momentum %.1e, kinetic energy %.1e\n", worst, worst_energy);
    // poses of double precision, differentiated over 1 ms
    CHECK_BELOW(worst, 1.0e-10);
    CHECK_BELOW(worst_energy, 1.0e-10);
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
    double change[MAX_DOF] = {0};
    change[j] = h;
    rod->model->move(rod, change);
}

static const TdlVec3 GRAVITY = {1.0, -2.0, -9.0};

// The three derivatives below are central differences: with steps h, h/2, h/4 their error falls by
// 4 each time until rounding; the order is taken over the two halvings.
static double order_of(const double error[3]) {
    return 0.5 * log2(error[0] / error[2]);
}

TEST(jacobian_is_the_derivative_of_point) {
    Rng rng = rng_seed(72);
    double worst[3] = {0};
    for (int trial = 0; trial < REPEATS(60, 15); ++trial) {
        Rod* rod = random_held_rod(&rng);
        rod_stop(rod);
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
    Rng rng = rng_seed(73);
    double worst[3] = {0};
    for (int trial = 0; trial < REPEATS(60, 15); ++trial) {
        Rod* rod = random_held_rod(&rng);
        rod_stop(rod);
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

// With roots that turn, compared after symmetrisation.
TEST(hessian_is_the_derivative_of_the_gradient) {
    Rng rng = rng_seed(74);
    double worst[3] = {0};
    for (int trial = 0; trial < REPEATS(60, 15); ++trial) {
        Rod* rod = random_held_rod(&rng);
        rod_stop(rod);
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
            // the gradient along turns of the root is said in axes that turn with it, which adds an
            // antisymmetric part
            for (int i = 0; i < n * n; ++i) {
                if (i % n > i / n) {
                    double mean = 0.5 * (differences[i] + differences[(i % n) * n + i / n]);
                    differences[i] = differences[(i % n) * n + i / n] = mean;
                }
            }
            worst[k] = fmax(worst[k], difference(hessian, differences, n * n));
        }
        destroy(rod);
    }
    CHECK_NEAR(order_of(worst), 2.0, 0.1);
    CHECK_BELOW(worst[2], 1.0e-4);
}

TEST(elements_join_with_a_common_frame_and_curvature) {
    Rng rng = rng_seed(75);
    for (int trial = 0; trial < REPEATS(200, 20); ++trial) {
        Rod* rod = random_rod(&rng);
        RodCurve curves[MAX_N];
        rod->model->curves(rod, curves);
        CHECK_NEAR3(rod->model->point(rod, 0, 0.0), rod->base.now.position, 0.0);
        for (int e = 0; e + 1 < rod->element_count; ++e) {
            double l = curves[e].length;
            CHECK_NEAR3(curves[e].kappa_end, curves[e + 1].kappa, 0.0);
            TdlVec3 end = rod->model->point(rod, e, 1.0);
            CHECK_NEAR3(end, curves[e + 1].start.position, 1.0e-15);
            Clothoid c =
                clothoid_make(tdl_scale3(l, curves[e].kappa), tdl_scale3(l, curves[e].kappa_end));
            ClothoidState at;
            clothoid_at(&c, 1.0, &at);
            TdlMat3 frame = tdl_mul33(curves[e].start.rotation, clothoid_rotation(&at));
            CHECK_NEAR3(frame.cx, curves[e + 1].start.rotation.cx, 1.0e-14);
            CHECK_NEAR3(frame.cy, curves[e + 1].start.rotation.cy, 1.0e-14);
        }
        destroy(rod);
    }
}

// Entry (i, j) of a symmetric matrix whose lower triangle is stored in columns.
static double entry(const double* M, int n, int i, int j) {
    return j <= i ? M[j * n + i] : M[i * n + j];
}

// K by Simpson's rule, which is exact for products of the linear shape functions.
static void stiffness(const Rod* rod, double* K) {
    static const double at[3] = {0.0, 0.5, 1.0}, weight[3] = {1.0 / 6, 4.0 / 6, 1.0 / 6};
    double K3[3] = {rod->stiffness.x, rod->stiffness.y, rod->stiffness.z};
    int n = rod->dof_count;
    memset(K, 0, (size_t)(n * n) * sizeof *K);
    for (int e = 0; e < rod->element_count; ++e) {
        for (int j = 0; j < 36; ++j) {
            int a = j % 6, b = j / 6; // component a % 3 of joint e + a / 3
            for (int k = 0; k < 3 && a % 3 == b % 3; ++k) {
                double fa = a < 3 ? 1.0 - at[k] : at[k], fb = b < 3 ? 1.0 - at[k] : at[k];
                K[(3 * e + b) * n + 3 * e + a] +=
                    weight[k] * fa * fb * K3[a % 3] / rod->element_length;
            }
        }
    }
}

TEST(the_elastic_energy_is_that_of_the_stiffness) {
    Rng rng = rng_seed(78);
    for (int trial = 0; trial < 50; ++trial) {
        Rod* rod = random_rod(&rng);
        int n = rod->dof_count;
        double K[MAX_DOF * MAX_DOF], twice = 0.0;
        stiffness(rod, K);
        for (int i = 0; i < n * n; ++i) {
            int a = i % n, b = i / n;
            twice += K[i] * (rod->q[a] - rod->q_rest[a]) * (rod->q[b] - rod->q_rest[b]);
        }
        double elastic = rod->model->energy(rod, (TdlVec3){0}).elastic;
        CHECK_NEAR(elastic, 0.5 * twice, 1.0e-14 * twice);
        destroy(rod);
    }
}

TEST(joints_take_the_mean_curvature_of_their_elements) {
    TdlHost host = tdl_host_default();
    TdlRodDef def = tdl_rod_def_default();
    TdlVec3 kappa[2] = {{1.0, 10.0, 0.0}, {3.0, 0.0, -8.0}};
    def.model = "super-clothoid";
    def.element_count = 2;
    def.natural_curvature_of = kappa;
    Rod* rod;
    REQUIRE(rod_create(&host, &def, &rod) == TDL_STATUS_OK);
    CHECK_INT(rod->dof_count, 9);
    double l = rod->element_length;
    CHECK_NEAR3(tdl_load3(rod->q_rest, 0), tdl_scale3(l, kappa[0]), 1.0e-16);
    CHECK_NEAR3(tdl_load3(rod->q_rest, 1), ((TdlVec3){2.0 * l, 5.0 * l, -4.0 * l}), 1.0e-16);
    CHECK_NEAR3(tdl_load3(rod->q_rest, 2), tdl_scale3(l, kappa[1]), 1.0e-16);
    rod_destroy(&host, rod);
}

TEST(a_free_step_solves_the_equation_it_claims) {
    // velocities that belong to the present shape bring the momentum M v: residual of
    // (c M + (dt tau + dt^2) K) v+ = M v - dt (K (q - q_rest) + G), M and G from their own
    // functions, c = 1 + dt mass_damping
    Rng rng = rng_seed(76);
    for (int trial = 0; trial < 100; ++trial) {
        Rod* rod = random_held_rod(&rng);
        int n = rod->dof_count;
        double dt = 1.0e-3, tau = rod->damping = 0.02, c = 1.0 + dt * 30.0, M[MAX_DOF * MAX_DOF],
               G[MAX_DOF];
        double K[MAX_DOF * MAX_DOF], x[MAX_DOF];
        RodStep step = {.dt = dt, .gravity = GRAVITY, .base_end = rod->base.now};
        rod->mass_damping = 30.0;
        REQUIRE(rod->model->predict(rod, &step));
        super_clothoid_mass(rod, M);
        rod->model->potential(rod, GRAVITY, G, NULL);
        stiffness(rod, K);
        for (int i = 0; i < n * n; ++i) { // G is what the gradient holds beside elasticity
            G[i % n] -= K[i] * (rod->q[i / n] - rod->q_rest[i / n]);
        }
        double worst = 0.0, size = 0.0;
        for (int i = 0; i < n; ++i) {
            double pull = dt * G[i], sum = 0.0;
            for (int j = 0; j < n; ++j) {
                pull += dt * K[j * n + i] * (rod->q[j] - rod->q_rest[j]);
                sum += (dt * tau + dt * dt) * K[j * n + i] * rod->v_free[j];
            }
            sum += pull;
            x[i] = -pull;
            for (int j = 0; j < n; ++j) {
                double m = entry(M, n, i, j);
                sum += m * (c * rod->v_free[j] - rod->v[j]);
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

TEST(a_torque_works_on_the_turn_of_its_section) {
    Rng rng = rng_seed(79);
    double worst[3] = {0};
    for (int trial = 0; trial < 50; ++trial) {
        TdlRodDef def = random_def(&rng);
        TdlRodLoad load = {.at = def.length, .torque = random_vector(&rng, 1.0)};
        def.start = (TdlHold)rng_below(&rng, 3);
        def.loads = &load;
        def.load_count = 1;
        Rod* rod = make_rod(&rng, &def);
        int n = rod->dof_count;
        double with[MAX_DOF], without[MAX_DOF], share[MAX_DOF];
        RodStep step = {.dt = 1.0, .base_end = rod->base.now};
        super_clothoid_momentum(rod, &step, with);
        rod->load_count = 0;
        super_clothoid_momentum(rod, &step, without);
        for (int j = 0; j < n; ++j) {
            share[j] = with[j] - without[j];
        }
        rod_stop(rod);
        for (int k = 0; k < 3; ++k) {
            double h = 8.0e-3 / (1 << k), differences[MAX_DOF];
            for (int j = 0; j < n; ++j) {
                nudge(rod, j, h);
                TdlMat3 plus = rod->model->end_frame(rod);
                nudge(rod, j, -2.0 * h);
                TdlMat3 minus = rod->model->end_frame(rod);
                nudge(rod, j, h);
                TdlVec3 turn = tdl_rotation_log(tdl_mul33(plus, tdl_transpose33(minus)));
                differences[j] = 0.5 / h * tdl_dot3(turn, load.torque);
            }
            worst[k] = fmax(worst[k], difference(share, differences, n));
        }
        destroy(rod);
    }
    CHECK_NEAR(order_of(worst), 2.0, 0.1);
    CHECK_BELOW(worst[2], 1.0e-4);
}

TEST(mass_of_any_start_is_that_of_the_kinetic_energy) {
    Rng rng = rng_seed(80);
    for (int trial = 0; trial < REPEATS(200, 20); ++trial) {
        Rod* rod = random_held_rod(&rng);
        int n = rod->dof_count;
        double M[MAX_DOF * MAX_DOF], twice = 0.0;
        super_clothoid_mass(rod, M);
        for (int i = 0; i < n * n; ++i) {
            twice += entry(M, n, i % n, i / n) * rod->v[i % n] * rod->v[i / n];
        }
        double kinetic = rod->model->energy(rod, (TdlVec3){0}).kinetic;
        CHECK_NEAR(2.0 * kinetic, twice, 1.0e-11 * twice); // both are sums of larger terms
        destroy(rod);
    }
}

// Rotation vector from one frame to another.
static TdlVec3 turned(TdlMat3 from, TdlMat3 to) {
    return tdl_rotation_log(tdl_mul33(to, tdl_transpose33(from)));
}

TEST(end_turning_is_the_derivative_of_the_end_frame) {
    Rng rng = rng_seed(81);
    double worst[3] = {0};
    for (int trial = 0; trial < 30; ++trial) {
        Rod* rod = random_held_rod(&rng);
        double rows[3 * MAX_DOF];
        int n = rod->dof_count;
        rod->model->end_turning(rod, rows);
        for (int j = 0; j < n; ++j) {
            for (int k = 0; k < 3; ++k) {
                double h = 1.0e-2 / (1 << k);
                nudge(rod, j, h);
                TdlMat3 after = rod->model->end_frame(rod);
                nudge(rod, j, -2.0 * h);
                TdlVec3 turn = turned(rod->model->end_frame(rod), after);
                nudge(rod, j, h);
                TdlVec3 expected = {rows[j], rows[n + j], rows[2 * n + j]};
                TdlVec3 off = tdl_axpy3(expected, -0.5 / h, turn);
                worst[k] = fmax(worst[k], tdl_norm3(off));
            }
        }
        destroy(rod);
    }
    CHECK_NEAR(order_of(worst), 2.0, 0.1);
    CHECK_BELOW(worst[2], 1.0e-4);
}

static Rod* random_rod_between_holds(Rng* rng, int trial) {
    TdlHost host = tdl_host_default();
    TdlRodDef def = tdl_rod_def_default();
    def.model = "super-clothoid";
    def.element_count = 3 + rng_below(rng, MAX_N - 2);
    def.radius[0] = def.radius[1] = 1.0e-3;
    def.young = 1.0e7;
    def.damping = 0.01;
    const TdlHold starts[3] = {TDL_HOLD_CLAMPED, TDL_HOLD_PINNED, TDL_HOLD_FREE};
    def.start = starts[trial % 3];
    def.end = trial % 2 == 0 ? TDL_HOLD_CLAMPED : TDL_HOLD_PINNED;
    def.curvature = random_vector(rng, rng_range(rng, 2.0, 20.0));
    Rod* rod;
    if (rod_create(&host, &def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    return rod;
}

// A step ends where the hold is, however long it is. (L.16)
TEST(a_held_end_stays_where_it_is) {
    Rng rng = rng_seed(82);
    double sum[3] = {0};
    for (int trial = 0; trial < 12; ++trial) {
        Rod* rod = random_rod_between_holds(&rng, trial);
        TdlPose end = rod_end(rod);
        char start[3 * MAX_DOF * sizeof(double) + 2 * sizeof(RodBase) + sizeof(RodHeld)];
        rod_save_state(rod, start);
        for (int k = 0; k < 3; ++k) {
            RodStep step = {.dt = 5.0e-4 / (1 << k), .gravity = GRAVITY, .end_end = end};
            rod_load_state(rod, start);
            for (int t = 0; t < 40 << k; ++t) {
                step.base_end = rod->base.now;
                REQUIRE(rod->model->predict(rod, &step));
                rod->model->advance(rod, &step, rod->v_free);
            }
            TdlPose now = rod_end(rod);
            sum[k] += tdl_norm3(tdl_sub3(now.position, end.position)) / rod_length(rod);
            if (rod->end_hold == TDL_HOLD_CLAMPED) {
                sum[k] += tdl_norm3(turned(end.rotation, now.rotation));
            }
        }
        destroy(rod);
    }
    printf("  ends are off by %.1e, %.1e, %.1e\n", sum[0] / 12, sum[1] / 12, sum[2] / 12);
    for (int k = 0; k < 3; ++k) {
        CHECK_BELOW(sum[k] / 12, 2.0e-11); // place and turning are each closed to 1e-11
    }
}

// A^-1 of a held rod, its stretch included, is symmetric and does not move the end. (L.11)
TEST(forces_do_not_move_a_held_end) {
    Rng rng = rng_seed(83);
    for (int trial = 0; trial < REPEATS(60, 15); ++trial) {
        Rod* rod = random_rod_between_holds(&rng, trial);
        double rows[6 * MAX_DOF], x[2][MAX_DOF + 1], b[2][MAX_DOF + 1];
        RodStep step = {
            .dt = 1.0e-3, .gravity = GRAVITY, .base_end = rod->base.now, .end_end = rod_end(rod)};
        int n = rod->dof_count, held = rod->end_hold == TDL_HOLD_CLAMPED ? 6 : 3;
        REQUIRE(rod->model->predict(rod, &step));
        for (int k = 0; k < 2; ++k) {
            for (int i = 0; i <= n; ++i) {
                x[k][i] = b[k][i] = rng_normal(&rng);
            }
            held_end_solve(rod, 1, x[k]);
        }
        double size = sqrt(tdl_dot(n + 1, b[0], x[0]) * tdl_dot(n + 1, b[1], x[1]));
        CHECK_NEAR(tdl_dot(n + 1, b[1], x[0]), tdl_dot(n + 1, b[0], x[1]), 1.0e-8 * size);
        whole_rows(rod, rod->element_count - 1, 1.0, tdl_identity33(), rows);
        rod->model->end_turning(rod, rows + 3 * n);
        double moved[6] = {0.0}, terms[6] = {0.0};
        for (int r = 0; r < held; ++r) {
            for (int i = 0; i < n; ++i) {
                moved[r] += rows[r * n + i] * x[0][i];
                terms[r] += fabs(rows[r * n + i] * x[0][i]);
            }
        }
        TdlVec3 stretch = tdl_scale3(x[0][n], held_end_stretching(rod, rod_end(rod).position));
        TdlVec3 place = tdl_add3(tdl_load3(moved, 0), stretch);
        double scale = tdl_norm3(tdl_load3(terms, 0)) + tdl_norm3(stretch);
        CHECK_NEAR3(place, ((TdlVec3){0}), 1.0e-8 * scale); // the slack of the held end is 1e-12
        for (int r = 3; r < held; ++r) {
            CHECK_NEAR(moved[r], 0.0, 1.0e-8 * terms[r]);
        }
        destroy(rod);
    }
}

TEST(momentum_carried_to_the_next_shape_holds_the_velocity_products) {
    // it is M v - dt A + O(dt^2) with M at the new shape: the difference from A falls like dt
    ref_gauss();
    Rng rng = rng_seed(77);
    static Reference ref;
    double worst[3] = {0};
    for (int trial = 0; trial < 20; ++trial) {
        Rod* rod = random_rod(&rng);
        rod->gyration = 0.0; // what spins ask for across the tangent is left out (H.26)
        rod->model->refresh(rod);
        int n = rod->dof_count;
        double M[MAX_DOF * MAX_DOF], A[MAX_DOF], p[MAX_DOF], found[MAX_DOF];
        compute_reference(rod, (TdlVec3){0}, &ref);
        RodStep still = {.dt = 1.0, .base_end = rod->base.now};
        for (int i = 0; i < n; ++i) {
            A[i] = (double)ref.A[i];
        }
        for (int k = 0; k < 3; ++k) {
            double dt = 4.0e-5 / (1 << k);
            for (int i = 0; i < n; ++i) {
                rod->q[i] = rod->q_before[i] + dt * rod->v[i];
            }
            rod->model->refresh(rod);
            super_clothoid_momentum(rod, &still, p);
            super_clothoid_mass(rod, M);
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
    Rng rng = rng_seed(78);
    for (int trial = 0; trial < REPEATS(300, 60); ++trial) {
        Rod* rod = random_held_rod(&rng);
        rod->load_count = 0;
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
