// The linear-time super-helix against the dense one, and against itself in other company.
#include "base/rng.h"
#include "math/dense.h"
#include "math/rotation.h"
#include "rod/helix_lanes.h"
#include "rod/super_helix.h"
#include "rod/super_helix_linear.h"
#include "test.h"

enum { MAX_N = 200, MAX_DOF = 3 * MAX_N + 6 };

static TdlVec3 random_vector(Rng* rng, double size) {
    TdlVec3 v = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
    return tdl_scale3(size / (tdl_norm3(v) + 1.0e-300), v);
}

// Turning of an element, over all scales, up to three turns.
static double random_turning(Rng* rng) {
    switch (rng_below(rng, 9)) {
    case 0:
        return 0.0;
    case 1:
        return pow(10.0, rng_range(rng, -12.0, -1.0));
    case 2:
        return rng_range(rng, 3.0, 20.0);
    case 3:
        return rng_range(rng, 1.0, 3.5);
    default:
        return rng_range(rng, 0.0, 1.0);
    }
}

static TdlRodDef random_def(Rng* rng, int n, TdlHold start) {
    TdlRodDef def = tdl_rod_def_default();
    def.element_count = n;
    def.length = rng_range(rng, 0.05, 0.5);
    def.radius[0] = rng_range(rng, 1.0e-4, 1.0e-3);
    def.radius[1] = rng_range(rng, 1.0e-4, 1.0e-3);
    def.young = pow(10.0, rng_range(rng, 8.0, 10.0));
    def.damping = rng_range(rng, 0.0, 0.01);
    def.mass_damping = rng_range(rng, 0.0, 3.0);
    def.drag = rng_range(rng, 0.0, 0.01);
    def.clamp.position = random_vector(rng, 0.3);
    def.clamp.rotation = tdl_rotation_exp(random_vector(rng, 2.0));
    def.natural_curvature = random_vector(rng, 20.0);
    def.start = start;
    return def;
}

static Rod* create(TdlRodDef def, const char* model) {
    TdlHost host = tdl_host_default();
    Rod* rod;
    def.model = model;
    if (rod_create(&host, &def, &rod) != TDL_STATUS_OK) {
        abort();
    }
    return rod;
}

static void destroy(Rod* rod) {
    TdlHost host = tdl_host_default();
    rod_destroy(&host, rod);
}

// A state in the middle of a motion: the shape before differs from the present one.
static void randomise(Rng* rng, Rod* rod) {
    for (int i = 0; i < rod->element_count; ++i) {
        TdlVec3 q = random_vector(rng, random_turning(rng));
        tdl_store3(rod->q_before, i, q);
        tdl_store3(rod->q, i, tdl_add3(q, random_vector(rng, rng_range(rng, 0.0, 0.1))));
        tdl_store3(rod->v, i, random_vector(rng, rng_range(rng, 0.1, 10.0)));
    }
    for (int i = 3 * rod->element_count; i < rod->dof_count; ++i) {
        rod->v[i] = rng_normal(rng);
    }
    rod->base.before = rod->base.now;
    rod->base.now.position = tdl_add3(rod->base.now.position, random_vector(rng, 0.01));
    rod->base.now.rotation =
        tdl_mul33(tdl_rotation_exp(random_vector(rng, 0.1)), rod->base.now.rotation);
    rod->base.rate = (Twist){random_vector(rng, 0.3), random_vector(rng, 2.0)};
    rod->model->refresh(rod);
}

static void copy_state(const Rod* from, Rod* to) {
    static char bytes[3 * MAX_DOF * sizeof(double) + 2 * sizeof(RodBase) + sizeof(RodHeld)];
    rod_save_state(from, bytes);
    rod_load_state(to, bytes);
}

static RodStep random_step(Rng* rng, const Rod* rod, double dt) {
    RodStep step = {.dt = dt, .gravity = {0.3, -0.2, -9.7}, .wind = random_vector(rng, 3.0)};
    if (rod->start_hold != TDL_HOLD_FREE) {
        step.base_rate.linear = random_vector(rng, 0.5);
    }
    if (rod->start_hold == TDL_HOLD_CLAMPED) {
        step.base_rate.angular = random_vector(rng, 3.0);
    }
    step.base_end = rod->base.now;
    return step;
}

static double difference(const double* a, const double* b, int n) {
    double top = 0.0, size = 0.0;
    for (int i = 0; i < n; ++i) {
        top = fmax(top, fabs(a[i] - b[i]));
        size = fmax(size, fmax(fabs(a[i]), fabs(b[i])));
    }
    return size > 0.0 ? top / size : 0.0;
}

static int random_size(Rng* rng, int k) {
    return k % 40 == 0 ? MAX_N : k % 10 == 0 ? 1 + rng_below(rng, 60) : 1 + rng_below(rng, 14);
}

// Of A x = b, with A from the dense terms: each entry relative to the sum of its terms' sizes.
static double backward_error(const Rod* dense, double dt, const double* x, const double* b) {
    static double A[MAX_DOF * MAX_DOF];
    int n = dense->dof_count;
    const double K3[3] = {dense->stiffness.x, dense->stiffness.y, dense->stiffness.z};
    double worst = 0.0, factor = rod_mass_factor(dense, dt);
    super_helix_mass(dense, A);
    for (int i = 0; i < n; ++i) {
        double sum = -b[i], size = fabs(b[i]);
        for (int j = 0; j < n; ++j) {
            double a = factor * (i >= j ? A[i + j * n] : A[j + i * n]);
            if (i == j && i < 3 * dense->element_count) {
                a += (dt * dense->damping + dt * dt) * K3[i % 3] / dense->element_length;
            }
            sum += a * x[j];
            size += fabs(a * x[j]);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    return worst;
}

typedef struct Agreement {
    double forward, backward; // difference of the two paths; residual of the linear one
} Agreement;

// Compares v_free, and A^-1 applied to a random vector.
static Agreement compare(Rng* rng, double dt, int n, TdlHold start) {
    TdlRodDef def = random_def(rng, n, start);
    TdlRodLoad loads[2] = {
        {rng_range(rng, 0.0, def.length), random_vector(rng, 1e-3), random_vector(rng, 1e-5)},
        {def.length, random_vector(rng, 1e-3), random_vector(rng, 1e-5)}};
    def.loads = loads;
    def.load_count = rng_below(rng, 3);
    Rod *dense = create(def, "super-helix-dense"), *linear = create(def, "super-helix");
    randomise(rng, dense);
    copy_state(dense, linear);
    RodStep step = random_step(rng, dense, dt);
    CHECK(dense->model->predict(dense, &step));
    CHECK(linear->model->predict(linear, &step));
    Agreement a = {.forward = difference(dense->v_free, linear->v_free, dense->dof_count)};
    double x[2][MAX_DOF], b[MAX_DOF];
    for (int i = 0; i < dense->dof_count; ++i) {
        x[0][i] = x[1][i] = b[i] = rng_normal(rng);
    }
    dense->model->solve(dense, x[0]);
    linear->model->solve(linear, x[1]);
    a.forward = fmax(a.forward, difference(x[0], x[1], dense->dof_count));
    a.backward = backward_error(dense, dt, x[1], b);
    destroy(dense);
    destroy(linear);
    return a;
}

static Agreement worst_agreement(double dt, int count, TdlHold start, uint64_t seed) {
    Rng rng = rng_seed(seed);
    Agreement worst = {0};
    for (int k = 0; k < count; ++k) {
        Agreement a = compare(&rng, dt, random_size(&rng, k), start);
        worst.forward = fmax(worst.forward, a.forward);
        worst.backward = fmax(worst.backward, a.backward);
    }
    printf("  %d states, dt %g: paths differ by %.1e, residual %.1e\n", count, dt, worst.forward,
           worst.backward);
    return worst;
}

TEST(dense_and_linear_steps_agree) {
    Agreement a = worst_agreement(1.0e-3, 1000, TDL_HOLD_CLAMPED, 1);
    CHECK_BELOW(a.forward, 1.0e-10);
    CHECK_BELOW(a.backward, 1.0e-12);
    // a smaller step leaves A closer to M, whose conditioning then limits both paths
    a = worst_agreement(1.0e-5, 200, TDL_HOLD_CLAMPED, 2);
    CHECK_BELOW(a.backward, 1.0e-12);
}

// The inertia of a nearly straight rod that rolls about itself is that of its spins, small beside
// the rest: some digits less than clamped.
TEST(dense_and_linear_steps_agree_with_a_root_that_moves) {
    const TdlHold holds[2] = {TDL_HOLD_PINNED, TDL_HOLD_FREE};
    for (int k = 0; k < 2; ++k) {
        Agreement a = worst_agreement(1.0e-3, 300, holds[k], 3 + (uint64_t)k);
        CHECK_BELOW(a.forward, 1.0e-9);
        CHECK_BELOW(a.backward, 1.0e-12);
    }
}

TEST(dense_and_linear_rods_are_the_same_rod) {
    Rng rng = rng_seed(7);
    static double rows[2][3 * MAX_DOF];
    for (int k = 0; k < 100; ++k) {
        TdlRodDef def = random_def(&rng, 1 + rng_below(&rng, 20),
                                   k % 2 == 0 ? TDL_HOLD_FREE : TDL_HOLD_CLAMPED);
        TdlRodLoad load = {0.7 * def.length, {1.0e-3, 2.0e-3, 0.0}, {0.0, 0.0, 0.0}};
        def.loads = &load;
        def.load_count = 1;
        Rod *dense = create(def, "super-helix-dense"), *linear = create(def, "super-helix");
        randomise(&rng, dense);
        copy_state(dense, linear);
        int n = def.element_count, dofs = dense->dof_count;
        for (int e = 0; e < n; ++e) {
            double s = rng_range(&rng, 0.0, 1.0);
            CHECK_NEAR3(dense->model->point(dense, e, s), linear->model->point(linear, e, s),
                        1.0e-13 * (1.0 + def.length));
        }
        TdlMat3 basis = tdl_rotation_exp(random_vector(&rng, 1.0));
        dense->model->jacobian(dense, n - 1, 0.4, basis, rows[0]);
        linear->model->jacobian(linear, n - 1, 0.4, basis, rows[1]);
        CHECK_BELOW(difference(rows[0], rows[1], 3 * dofs), 1.0e-12);
        TdlMat3 off = tdl_sub33(dense->model->end_frame(dense), linear->model->end_frame(linear));
        CHECK_BELOW(tdl_norm3(off.cx) + tdl_norm3(off.cy) + tdl_norm3(off.cz), 1.0e-12);

        TdlVec3 g = {0.0, 1.0, -9.81};
        TdlEnergy a = dense->model->energy(dense, g), b = linear->model->energy(linear, g);
        CHECK_NEAR(a.kinetic, b.kinetic, 1.0e-12 * a.kinetic);
        CHECK_NEAR(a.elastic, b.elastic, 1.0e-12 * a.elastic);
        CHECK_NEAR(a.gravity, b.gravity,
                   1.0e-12 * (rod_mass(dense) * 10.0 + 3.0e-3) * (1.0 + def.length));
        destroy(dense);
        destroy(linear);
    }
}

// M from unit impulses: A^-1 applied to the dense A's columns gives the unit matrix.
TEST(solving_many_columns_is_solving_each) {
    Rng rng = rng_seed(11);
    for (int k = 0; k < 20; ++k) {
        TdlRodDef def = random_def(&rng, 1 + rng_below(&rng, 12), TDL_HOLD_FREE);
        Rod* rod = create(def, "super-helix");
        randomise(&rng, rod);
        RodStep step = random_step(&rng, rod, 1.0e-3);
        CHECK(rod->model->predict(rod, &step));
        static double many[7 * MAX_DOF], one[MAX_DOF];
        int dofs = rod->dof_count;
        for (int i = 0; i < 7 * dofs; ++i) {
            many[i] = rng_normal(&rng);
        }
        static double keep[7 * MAX_DOF];
        memcpy(keep, many, sizeof keep);
        super_helix_solve_columns(rod, 7, many);
        for (int c = 0; c < 7; ++c) {
            memcpy(one, keep + c * dofs, (size_t)dofs * sizeof *one);
            rod->model->solve(rod, one);
            CHECK(memcmp(one, many + c * dofs, (size_t)dofs * sizeof *one) == 0);
        }
        destroy(rod);
    }
}

// x L'^-1 times y L'^-1 is x A^-1 y, one half after the other is A^-1, and short columns do as long
// ones with zeros.
TEST(solving_in_halves_is_solving) {
    Rng rng = rng_seed(12);
    for (int k = 0; k < 30; ++k) {
        int n = 1 + rng_below(&rng, 12), used = 3 * (1 + rng_below(&rng, n));
        TdlRodDef def = random_def(&rng, n, TDL_HOLD_FREE);
        def.start = k % 3 == 0 ? TDL_HOLD_CLAMPED : k % 3 == 1 ? TDL_HOLD_PINNED : TDL_HOLD_FREE;
        Rod* rod = create(def, "super-helix");
        randomise(&rng, rod);
        RodStep step = random_step(&rng, rod, 1.0e-3);
        CHECK(rod->model->predict(rod, &step));
        int dofs = rod->dof_count;
        used = rod->root_dofs == 0 ? used : dofs;
        static double x[5 * MAX_DOF], half[5 * MAX_DOF], whole[5 * MAX_DOF];
        memset(x, 0, sizeof x);
        for (int c = 0; c < 5; ++c) {
            for (int i = 0; i < used; ++i) {
                x[c * dofs + i] = half[c * used + i] = rng_normal(&rng);
            }
        }
        memcpy(whole, x, sizeof whole);
        super_helix_solve_columns(rod, 5, whole);
        rod->model->whiten(rod, used, 5, half);
        for (int c = 0; c < 25; ++c) {
            double want = tdl_dot(dofs, x + c / 5 * dofs, whole + c % 5 * dofs);
            double size = sqrt(tdl_dot(dofs, x + c / 5 * dofs, whole + c / 5 * dofs) *
                               tdl_dot(dofs, x + c % 5 * dofs, whole + c % 5 * dofs));
            CHECK_NEAR(tdl_dot(used, half + c / 5 * used, half + c % 5 * used), want, 1e-12 * size);
        }
        double both[MAX_DOF] = {0}, largest = 0.0;
        memcpy(both, half, (size_t)used * sizeof *both);
        rod->model->unwhiten(rod, both);
        for (int i = 0; i < dofs; ++i) {
            largest = fmax(largest, fabs(whole[i]));
        }
        for (int i = 0; i < dofs; ++i) {
            CHECK_NEAR(both[i], whole[i], 1e-11 * largest);
        }
        destroy(rod);
    }
}

// In lanes with others or alone, stepped to or loaded from bytes: the same bits.
TEST(the_bits_of_a_rod_do_not_depend_on_its_company) {
    Rng rng = rng_seed(5);
    TdlHost host = tdl_host_default();
    for (int k = 0; k < 30; ++k) {
        int n = 1 + rng_below(&rng, 10), count = 2 + rng_below(&rng, 3);
        TdlHold start = k % 3 == 0   ? TDL_HOLD_FREE
                        : k % 3 == 1 ? TDL_HOLD_PINNED
                                     : TDL_HOLD_CLAMPED;
        Rod *mates[4], *alone[4];
        RodStep step[4];
        const RodStep* steps[4];
        bool ok[4];
        for (int i = 0; i < count; ++i) {
            TdlRodDef def = random_def(&rng, n, start);
            TdlRodLoad load = {rng_range(&rng, 0.0, def.length), random_vector(&rng, 1.0e-3),
                               random_vector(&rng, 1.0e-5)};
            def.loads = &load;
            def.load_count = rng_below(&rng, 2);
            mates[i] = create(def, "super-helix");
            alone[i] = create(def, "super-helix");
            CHECK(i == 0 || rod_join(&host, mates[i], mates[0]));
            randomise(&rng, mates[i]);
            step[i] = random_step(&rng, mates[i], 1.0e-3);
            steps[i] = &step[i];
        }
        for (int i = 0; i < count; ++i) {
            copy_state(mates[i], alone[i]);
        }
        for (int t = 0; t < 3; ++t) {
            mates[0]->model->predict_group(mates[0]->group, steps, ok);
            for (int i = 0; i < count; ++i) {
                size_t size = (size_t)mates[i]->dof_count * sizeof(double);
                CHECK(alone[i]->model->predict(alone[i], &step[i]) && ok[i]);
                CHECK(memcmp(alone[i]->v_free, mates[i]->v_free, size) == 0);
                memcpy(mates[i]->v, mates[i]->v_free, size);
            }
            mates[0]->model->advance_group(mates[0]->group, steps);
            for (int i = 0; i < count; ++i) {
                alone[i]->model->advance(alone[i], &step[i], alone[i]->v_free);
                CHECK(rod_state_hash(alone[i], 1) == rod_state_hash(mates[i], 1));
                copy_state(mates[i], alone[i]); // by refresh instead of advance
            }
        }
        for (int i = 0; i < count; ++i) {
            destroy(mates[i]);
            destroy(alone[i]);
        }
    }
}

TEST(a_step_without_gravity_never_adds_energy_however_long) {
    Rng rng = rng_seed(21);
    for (int k = 0; k < 300; ++k) {
        TdlRodDef def =
            random_def(&rng, 1 + rng_below(&rng, 8), k % 2 == 0 ? TDL_HOLD_FREE : TDL_HOLD_CLAMPED);
        def.mass_damping = def.drag = def.damping = 0.0;
        Rod* rod = create(def, "super-helix");
        randomise(&rng, rod);
        rod->base.now = rod->base.before;
        rod->base.rate = (Twist){0};
        rod->model->refresh(rod);
        RodStep step = {.dt = pow(10.0, rng_range(&rng, -6.0, 0.0)), .base_end = rod->base.now};
        for (int t = 0; t < 5; ++t) {
            TdlEnergy before = rod->model->energy(rod, (TdlVec3){0});
            CHECK(rod->model->predict(rod, &step));
            rod->model->advance(rod, &step, rod->v_free);
            TdlEnergy after = rod->model->energy(rod, (TdlVec3){0});
            double sum = before.kinetic + before.elastic;
            CHECK_BELOW(after.kinetic + after.elastic - sum, 1.0e-12 * sum);
        }
        destroy(rod);
    }
}

TEST(coefficients_give_the_integrals_of_panels) {
    double worst = 0.0;
    for (int i = 0; i <= 900; ++i) { // by the first polynomials, and by all
        bool brief = i <= 300;
        double y = brief ? LANE_Y_BRIEF * i / 300.0 : (LANE_Y_LIMIT - 1.0e-9) * (i - 300) / 600.0;
        int count = brief ? BRIEF_COUNT : MODE_COUNT;
        Lane c[8];
        LaneModes modes;
        LaneGram g;
        lane_c_terms(lane_all(y), brief ? BRIEF_C_TERMS : C_TERMS, c);
        lane_modes(lane_all(y), c, count, brief ? BRIEF_TAIL_TERMS : TAIL_TERMS, &modes);
        lane_gram(&modes, count, &g);
        HelixGram G;
        helix_gram(y, &G);
        const double lanes[17] = {g.a[0],   g.b[0],   g.ak[0],  g.bk[0],   g.sa[0],  g.sb[0],
                                  g.sak[0], g.sbk[0], g.aa[0],  g.ab[0],   g.bb[0],  g.aak[0],
                                  g.abk[0], g.bak[0], g.bbk[0], g.akak[0], g.bkbk[0]};
        static const int I[17] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 2, 2, 3, 3, 4, 5};
        static const int J[17] = {2, 3, 4, 5, 2, 3, 4, 5, 2, 3, 3, 4, 5, 4, 5, 4, 5};
        for (int k = 0; k < 17; ++k) {
            double scale = sqrt(G.g[I[k]][I[k]] * G.g[J[k]][J[k]]);
            worst = fmax(worst, fabs(lanes[k] - G.g[I[k]][J[k]]) / scale);
        }
    }
    printf("  integrals differ by at most %.1e\n", worst);
    CHECK_BELOW(worst, 1.0e-14);
}
