// The stability of given shapes against dense Hessians of the rod models' own potentials.
#include "counting_allocator.h"
#include "inverse/strand.h"
#include "math/dense.h"
#include "math/eigen.h"
#include "strands.h"

enum { MAX_DOF = 4 * 30 + 3 };

// The dense Hessian of the rod's potential with K3 times `factor`, in the equilibrium that belongs
// to it: the natural curvature is found again.
static void dense_hessian(TestStrand* t, Rod* rod, double factor, double* H) {
    TdlHost host = tdl_host_default();
    TdlVec3 K = rod->stiffness;
    TdlStrand strand = t->strand;
    TestStrand scaled = *t;
    double EA = rod_stretch_stiffness(rod);
    strand.stiffness = tdl_scale3(factor, K);
    strand.curvature = t->curvature;
    CHECK_INT(tdl_strand_rest(&host, &strand, t->gravity, scaled.natural), TDL_STATUS_OK);
    rod->stiffness = strand.stiffness;
    strand_shape_rod(&scaled, rod);
    CHECK_NEAR(rod_stretch_stiffness(rod), EA, 1.0e-12 * EA); // of the material, as it was
    rod->model->potential(rod, t->gravity, NULL, H);
    rod->stiffness = K;
}

// x' H x of the form against the dense Hessian, S and K apart; only super-models share coordinates.
TEST(the_form_is_the_dense_hessian) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2311);
    static double H[MAX_DOF * MAX_DOF], x[MAX_DOF], y[MAX_DOF], z[MAX_DOF];
    for (int m = 0; m < 2; ++m) {
        double worst = 0.0;
        for (int round = 0; round < 40; ++round) {
            TestStrand t;
            strand_random(&rng, STRAND_MODELS[m], 1 + rng_below(&rng, 25), 30.0, &t);
            strand_add_loads(&rng, round % 2 == 0 ? 0 : 4, &t);
            Rod* rod = strand_make(&t);
            REQUIRE(rod != NULL);
            Arena arena;
            Strand strand;
            StrandHessian h;
            StrandFactor factor;
            arena_init(&arena, &host.mem);
            CHECK_INT(strand_open(&host, &arena, &t.strand, t.gravity, &strand), TDL_STATUS_OK);
            REQUIRE(strand_hessian(&strand, &h) && strand_factor_new(&arena, &h, &factor));
            double k = rng_range(&rng, 0.1, 3.0);
            dense_hessian(&t, rod, k, H);
            int n = rod->dof_count;
            double size = 0.0, off = 0.0;
            for (int i = 0; i < n; ++i) {
                x[i] = rng_normal(&rng);
            }
            strand_apply(&h, k, 0.0, x, y);
            for (int i = 0; i < n; ++i) {
                z[i] = -y[i];
                for (int j = 0; j < n; ++j) {
                    z[i] += H[i + (ptrdiff_t)j * n] * x[j];
                    size = fmax(size, fabs(H[i + (ptrdiff_t)j * n]));
                }
                off = fmax(off, fabs(z[i]));
            }
            worst = fmax(worst, off / size);

            // the solve undoes it
            double e = size * rng_range(&rng, 0.0, 1.0), back = 0.0;
            strand_apply(&h, k, e, x, y);
            strand_factor(&h, k, e, &factor);
            strand_solve(&h, &factor, y);
            strand_apply(&h, k, e, y, z);
            strand_apply(&h, k, e, x, y);
            for (int i = 0; i < n; ++i) {
                back = fmax(back, fabs(z[i] - y[i]));
            }
            worst = fmax(worst, factor.negative == 0 ? back / size : 0.0);
            arena_destroy(&arena);
            rod_destroy(&host, rod);
        }
        printf("  %s: %.1e\n", STRAND_MODELS[m], worst);
        CHECK(worst < 1.0e-12); // sums of up to 78 terms of size one, times x of size three
    }
}

// Eigenvalues of the free part of a dense Hessian that are below zero, by the signs of L D L'.
static int count_negative(const Rod* rod, double* H) {
    int n = rod->dof_count, negative = 0;
    CHECK_INT(tdl_ldl(n, H, n), n);
    for (int i = 0; i < n; ++i) {
        negative += H[i + (ptrdiff_t)i * n] < 0.0;
    }
    return negative;
}

TEST(inertia_is_that_of_the_dense_hessian) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2312);
    static double H[MAX_DOF * MAX_DOF];
    for (int m = 0; m < 3; ++m) {
        int counts[4] = {0};
        for (int round = 0; round < 60; ++round) {
            TestStrand t;
            int least = m == 2 ? 10 : 2; // edges may not turn by 3 rad
            strand_random(&rng, STRAND_MODELS[m], least + rng_below(&rng, 20), 5.0, &t);
            strand_add_loads(&rng, round % 2 == 0 ? 0 : 4, &t);
            Rod* rod = strand_make(&t);
            REQUIRE(rod != NULL);
            Arena arena;
            Strand strand;
            StrandHessian h;
            StrandFactor factor;
            arena_init(&arena, &host.mem);
            CHECK_INT(strand_open(&host, &arena, &t.strand, t.gravity, &strand), TDL_STATUS_OK);
            REQUIRE(strand_hessian(&strand, &h) && strand_factor_new(&arena, &h, &factor));
            double k = pow(10.0, rng_range(&rng, m == 2 ? -0.7 : -2.5, 0.0));
            strand_factor(&h, k, 0.0, &factor);
            dense_hessian(&t, rod, k, H);
            CHECK_INT(factor.negative, count_negative(rod, H));
            ++counts[factor.negative < 3 ? factor.negative : 3];
            arena_destroy(&arena);
            rod_destroy(&host, rod);
        }
        printf("  %s: 0, 1, 2, more negative: %d %d %d %d\n", STRAND_MODELS[m], counts[0],
               counts[1], counts[2], counts[3]);
        CHECK(counts[0] > 0 && counts[1] > 0);
    }
}

// Smallest eigenvalue of the pencil (A, B), B positive definite; both are overwritten.
static double dense_lowest(int n, double* A, double* B) {
    static double C[MAX_DOF * MAX_DOF], scratch[3 * MAX_DOF];
    CHECK_INT(tdl_cholesky(n, B, n), n);
    tdl_lower_solve(n, B, n, false, n, A, n);
    for (int i = 0; i < n * n; ++i) {
        C[i] = A[i % n * n + i / n];
    }
    tdl_lower_solve(n, B, n, false, n, C, n);
    return tdl_smallest_eigenvalue(n, C, n, scratch);
}

// S and K of the super-models, from Hessians at two stiffnesses.
static void split_hessian(TestStrand* t, Rod* rod, double* S, double* K) {
    int n = rod->dof_count;
    dense_hessian(t, rod, 1.0, S);
    dense_hessian(t, rod, 2.0, K);
    for (int i = 0; i < n * n; ++i) {
        K[i] -= S[i];
        S[i] -= K[i];
    }
}

TEST(least_factor_is_the_dense_generalised_eigenvalue) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2313);
    static double S[MAX_DOF * MAX_DOF], K[MAX_DOF * MAX_DOF], A[MAX_DOF * MAX_DOF],
        B[MAX_DOF * MAX_DOF], scratch[3 * MAX_DOF];
    for (int m = 0; m < 2; ++m) {
        double worst[3] = {0.0, 0.0, 0.0}, loose[2] = {INFINITY, 0.0};
        int none = 0;
        for (int round = 0; round < 60; ++round) {
            TestStrand t;
            TdlStability found;
            strand_random(&rng, STRAND_MODELS[m], 1 + rng_below(&rng, 25), 30.0, &t);
            strand_add_loads(&rng, round % 2 == 0 ? 0 : 4, &t);
            Rod* rod = strand_make(&t);
            REQUIRE(rod != NULL);
            CHECK_INT(tdl_strand_stability(&host, &t.strand, t.gravity, &found), TDL_STATUS_OK);
            int n = rod->dof_count;
            size_t bytes = (size_t)(n * n) * sizeof(double);
            split_hessian(&t, rod, S, K);
            memcpy(A, S, bytes);
            memcpy(B, K, bytes);
            double least = fmax(0.0, -dense_lowest(n, A, B)), scale = fmax(1.0, least);
            worst[0] = fmax(worst[0], fabs(found.least_factor - least) / scale);
            CHECK(found.stable == (least < 1.0));
            none += found.least_factor == 0.0;

            // (4.6) of S4, each matrix by itself
            memcpy(A, S, bytes);
            memcpy(B, K, bytes);
            double weight = tdl_smallest_eigenvalue(n, A, n, scratch);
            double bound = fmax(0.0, -weight / tdl_smallest_eigenvalue(n, B, n, scratch));
            worst[1] = fmax(worst[1], fabs(found.bound_factor - bound) / fmax(1.0, bound));
            CHECK(found.bound_factor >= found.least_factor);
            if (found.least_factor > 0.1) {
                loose[0] = fmin(loose[0], found.bound_factor / found.least_factor);
                loose[1] = fmax(loose[1], found.bound_factor / found.least_factor);
            }

            dense_hessian(&t, rod, 1.0, A);
            TdlVec3 K3 = rod->stiffness;
            double unit = fmin(K3.x, fmin(K3.y, K3.z)) / rod->element_length;
            double lowest = tdl_smallest_eigenvalue(n, A, n, scratch) / unit;
            worst[2] = fmax(worst[2], fabs(found.least_eigenvalue - lowest) / scale);
            rod_destroy(&host, rod);
        }
        printf("  %s: least factor %.1e, bound %.1e, eigenvalue %.1e; none %d; bound over least "
               "%.2f to %.2f\n",
               STRAND_MODELS[m], worst[0], worst[1], worst[2], none, loose[0], loose[1]);
        CHECK(worst[0] < 1.0e-9); // the width of the bracket
        CHECK(worst[1] < 1.0e-9);
        CHECK(worst[2] < 1.0e-9);
    }
}

// A der has other coordinates: its Hessian loses its definiteness at the least factor.
TEST(a_der_is_about_to_give_way_at_its_least_factor) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2314);
    static double H[MAX_DOF * MAX_DOF];
    int some = 0;
    for (int round = 0; round < 60; ++round) {
        TestStrand t;
        TdlStability found;
        strand_random(&rng, "der", 10 + rng_below(&rng, 20), 4.0, &t);
        strand_add_loads(&rng, round % 2 == 0 ? 0 : 4, &t);
        Rod* rod = strand_make(&t);
        REQUIRE(rod != NULL);
        CHECK_INT(tdl_strand_stability(&host, &t.strand, t.gravity, &found), TDL_STATUS_OK);
        CHECK(found.bound_factor >= found.least_factor);
        CHECK(found.stable == (found.least_eigenvalue > 0.0));
        if (found.least_factor > 0.15) { // softer, edges would turn too far
            // vertices are rounded to eps of the length, with the stiffness of stretching: 1e-6
            dense_hessian(&t, rod, found.least_factor * (1.0 + 1.0e-6), H);
            CHECK_INT(count_negative(rod, H), 0);
            dense_hessian(&t, rod, found.least_factor * (1.0 - 1.0e-6), H);
            CHECK_INT(count_negative(rod, H), 1);
            ++some;
        }
        rod_destroy(&host, rod);
    }
    printf("  %d of 60 have a factor\n", some);
    CHECK(some > 10);
}

// An upright column of uniform weight buckles at w L^3 / EI = 7.837347; one that hangs never.
TEST(columns_buckle_where_greenhill_says) {
    TdlHost host = tdl_host_default();
    static TdlVec3 straight[401];
    for (int m = 0; m < 3; ++m) {
        double error[3];
        for (int k = 0; k < 3; ++k) {
            TdlStrand strand = {
                .model = STRAND_MODELS[m],
                .start = {{0}, tdl_rotation_exp((TdlVec3){0.0, -1.5707963267948966, 0.0})},
                .length = 0.3,
                .element_count = 10 << k,
                .curvature = straight,
                .stiffness = {3.0e-4, 2.0e-4, 2.5e-4},
                .line_density = 1.0e-3};
            TdlStability found;
            double w = 1.0e-3 * 9.81 * 0.3 * 0.3 * 0.3 / 2.0e-4;
            TdlVec3 g = {0.0, 0.0, -9.81};
            CHECK_INT(tdl_strand_stability(&host, &strand, g, &found), TDL_STATUS_OK);
            error[k] = w / found.least_factor - 7.837347438;
            g.z = 9.81;
            CHECK_INT(tdl_strand_stability(&host, &strand, g, &found), TDL_STATUS_OK);
            CHECK(found.least_factor == 0.0 && found.bound_factor == 0.0 && found.stable);
            g.z = 0.0;
            CHECK_INT(tdl_strand_stability(&host, &strand, g, &found), TDL_STATUS_OK);
            CHECK(found.least_factor == 0.0 && found.bound_factor == 0.0);
            CHECK_NEAR(found.least_eigenvalue, m == 1 ? found.least_eigenvalue : 1.0, 1.0e-9);
        }
        double order = log2(error[0] / error[1]);
        printf("  %s: off by %.1e %.1e %.1e, order %.2f\n", STRAND_MODELS[m], error[0], error[1],
               error[2], order);
        // energies over curvature: order 2 for constant, 4 for linear
        CHECK_NEAR(order, m == 1 ? 4.0 : 2.0, 0.3);
    }
}

// The mode has no energy at the least factor, and turns some section by 1 rad.
TEST(the_mode_costs_nothing_at_the_least_factor) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2315);
    for (int m = 0; m < 3; ++m) {
        double worst = 0.0;
        for (int round = 0; round < 20; ++round) {
            TestStrand t;
            TdlStability found;
            static double mode[MAX_DOF], y[MAX_DOF];
            strand_random(&rng, STRAND_MODELS[m], 12 + rng_below(&rng, 10), 8.0, &t);
            Rod* rod = strand_make(&t);
            REQUIRE(rod != NULL);
            Arena arena;
            Strand strand;
            StrandHessian h;
            arena_init(&arena, &host.mem);
            CHECK_INT(strand_open(&host, &arena, &t.strand, t.gravity, &strand), TDL_STATUS_OK);
            REQUIRE(strand_hessian(&strand, &h));
            CHECK_INT(tdl_strand_stability(&host, &t.strand, t.gravity, &found), TDL_STATUS_OK);
            CHECK_INT(tdl_strand_mode(&host, &t.strand, t.gravity, mode), TDL_STATUS_OK);
            TdlVec3 turned = {0};
            double most = 0.0, left = 0.0, size = 0.0;
            bool some = found.least_factor > 0.0;
            strand_apply(&h, some ? found.least_factor : 1.0,
                         some ? 0.0 : -found.least_eigenvalue * h.softest, mode, y);
            for (int i = 0; i < h.count; ++i) {
                turned = tdl_add3(turned, tdl_mul33_3(h.turn[i], tdl_load3(mode, i)));
                most = fmax(most, tdl_norm3(turned));
                left = fmax(left, tdl_norm3(tdl_load3(y, i)));
                size = fmax(size, tdl_norm3(tdl_load3(mode, i)) * h.softest *
                                      fmax(1.0, found.least_factor));
            }
            CHECK_NEAR(most, 1.0, 1.0e-12);
            worst = fmax(worst, left / size);
            arena_destroy(&arena);
            rod_destroy(&host, rod);
        }
        printf("  %s: residual %.1e\n", STRAND_MODELS[m], worst);
        CHECK(worst < 1.0e-7); // the bracket, over the gap to the next mode
    }
}

TEST(without_memory_nothing_is_told) {
    Rng rng = rng_seed(2316);
    for (int m = 0; m < 3; ++m) {
        TdlHost plain = tdl_host_default();
        TestStrand t;
        TdlStability found;
        static double mode[MAX_DOF];
        strand_random(&rng, STRAND_MODELS[m], 12, 10.0, &t);
        strand_add_loads(&rng, 2, &t);
        rod_destroy(&plain, strand_make(&t));
        for (int what = 0; what < 2; ++what) {
            TdlStatus status = TDL_STATUS_NO_MEMORY;
            for (int call = 1; status == TDL_STATUS_NO_MEMORY && call < 20; ++call) {
                AllocCounter counter = {.fail_at = call};
                TdlHost host = {.mem = counting_allocator(&counter)};
                status = what == 0 ? tdl_strand_stability(&host, &t.strand, t.gravity, &found)
                                   : tdl_strand_mode(&host, &t.strand, t.gravity, mode);
                CHECK_INT(counter.live, 0);
            }
            CHECK_INT(status, TDL_STATUS_OK);
        }
        t.strand.length = -1.0;
        CHECK_INT(tdl_strand_stability(&plain, &t.strand, t.gravity, &found),
                  TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(tdl_strand_mode(&plain, &t.strand, t.gravity, mode), TDL_STATUS_BAD_ARGUMENT);
    }
}

// The energy of the rod along random changes of the strand's coordinates, by second differences.
// The lengths of a der's edges follow their tension, as the Hessian says.
TEST(the_hessian_is_that_of_the_energy) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2317);
    for (int m = 0; m < 3; ++m) {
        double worst = 0.0, order[2] = {INFINITY, -INFINITY};
        for (int round = 0; round < 20; ++round) {
            TestStrand t;
            static double x[MAX_DOF], y[MAX_DOF];
            strand_random(&rng, STRAND_MODELS[m], 12, 5.0, &t);
            strand_add_loads(&rng, round % 2 == 0 ? 0 : 3, &t);
            Rod* rod = strand_make(&t);
            REQUIRE(rod != NULL);
            Arena arena;
            Strand strand;
            StrandHessian h;
            arena_init(&arena, &host.mem);
            REQUIRE(strand_open(&host, &arena, &t.strand, t.gravity, &strand) == TDL_STATUS_OK);
            REQUIRE(strand_hessian(&strand, &h));
            double expected = 0.0, size = 0.0, error[3];
            for (int i = 0; i < 3 * h.count; ++i) {
                x[i] = rng_normal(&rng);
                size += x[i] * x[i] * h.softest;
            }
            strand_apply(&h, 1.0, 0.0, x, y);
            for (int i = 0; i < 3 * h.count; ++i) {
                expected += x[i] * y[i];
            }
            double here = rod->model->potential(rod, t.gravity, NULL, NULL);
            for (int k = 0; k < 3; ++k) {
                double step = 0.04 / (1 << k), second = -2.0 * here;
                for (int way = -1; way <= 1; way += 2) {
                    strand_shape_rod(&t, rod);
                    strand_kick(&t, rod, x, way * step);
                    if (m == 2) {
                        strand_stretch_edges(rod, t.gravity);
                        rod->model->refresh(rod);
                    }
                    second += rod->model->potential(rod, t.gravity, NULL, NULL);
                }
                error[k] = fabs(second / (step * step) - expected);
            }
            worst = fmax(worst, error[2] / size);
            double p = log2(error[1] / error[2]);
            if (error[2] > 1.0e-6 * size) { // else rounding counts
                order[0] = fmin(order[0], p);
                order[1] = fmax(order[1], p);
            }
            arena_destroy(&arena);
            rod_destroy(&host, rod);
        }
        printf("  %s: off by %.1e at 0.01, order %.2f to %.2f\n", STRAND_MODELS[m], worst, order[0],
               order[1]);
        CHECK(worst < 1.0e-2);
        CHECK(order[0] > 1.8 && order[1] < 2.2);
    }
}

// From straight to many turns, one element to thousands, with weights that differ by millions: the
// factorisation is positive just above the least factor, and not below it.
TEST(the_least_factor_parts_what_stays_from_what_leaves) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2318);
    static TdlVec3 kappa[2001];
    int some = 0;
    for (int round = 0; round < 300; ++round) {
        int m = round % 3, n = 1 + (int)pow(10.0, rng_range(&rng, 0.0, m == 0 ? 3.3 : 1.5));
        int shape = rng_below(&rng, 4);
        double L = rng_range(&rng, 0.05, 1.0), turn = pow(10.0, rng_range(&rng, -3.0, 0.4));
        turn = m == 2 ? turn : 10.0 * turn;
        TdlVec3 a = strand_random_vector(&rng, turn), b = strand_random_vector(&rng, turn);
        n = n > 2000 ? 2000 : n;
        for (int i = 0; i <= n; ++i) {
            kappa[i] = tdl_scale3(1.0 / L, tdl_axpy3(a, sin(6.0 * i / n), b));
            if (shape == 0) { // straight
                kappa[i] = (TdlVec3){0};
            } else if (shape == 1) { // plane
                kappa[i].x = kappa[i].y = 0.0;
            } else if (shape == 2 && m != 2) { // each element a circle
                kappa[i] = (TdlVec3){0.0, 0.0, 6.283185307179586 * n / L};
            }
        }
        double K = pow(10.0, rng_range(&rng, -8.0, -2.0));
        TdlStrand def = {.model = STRAND_MODELS[m],
                         .start = {{0}, tdl_rotation_exp(strand_random_vector(&rng, 2.0))},
                         .length = L,
                         .element_count = n,
                         .curvature = kappa,
                         .stiffness = {1.2 * K, K, round % 5 == 0 ? K : 0.3 * K},
                         .line_density = 1.0e-3,
                         .stretching = 1.0e3};
        TdlVec3 g = {0.0, 0.0, -9.81};
        TdlStability found;
        TdlStatus status = tdl_strand_stability(&host, &def, g, &found);
        if (status == TDL_STATUS_BAD_ARGUMENT && m == 2) {
            continue; // turns too much for edges
        }
        CHECK_INT(status, TDL_STATUS_OK);
        CHECK(found.stable == (found.least_eigenvalue > 0.0));
        Arena arena;
        Strand strand;
        StrandHessian h;
        StrandFactor factor;
        arena_init(&arena, &host.mem);
        REQUIRE(strand_open(&host, &arena, &def, g, &strand) == TDL_STATUS_OK);
        REQUIRE(strand_hessian(&strand, &h) && strand_factor_new(&arena, &h, &factor));
        if (found.least_factor > 0.0) {
            strand_factor(&h, found.least_factor * (1.0 + 1.0e-8), 0.0, &factor);
            CHECK_INT(factor.negative, 0);
            strand_factor(&h, found.least_factor * (1.0 - 1.0e-8), 0.0, &factor);
            CHECK(factor.negative > 0);
            ++some;
        }
        arena_destroy(&arena);
    }
    printf("  %d of 300 have a factor\n", some);
    CHECK(some > 200);
}

// Negative eigenvalues where some rows are held: from the factor and solves, as strand.h says, and
// from H + b J'J with b so large that what leaves the null space of J costs too much.
TEST(rows_that_are_held_leave_fewer_ways_to_give_way) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2319);
    enum { ROWS = 3 };
    static double H[MAX_DOF * MAX_DOF], J[ROWS][MAX_DOF], answer[MAX_DOF];
    int changed = 0;
    for (int round = 0; round < 40; ++round) {
        TestStrand t;
        strand_random(&rng, STRAND_MODELS[round % 2], 10, 100.0, &t);
        Rod* rod = strand_make(&t);
        REQUIRE(rod != NULL);
        Arena arena;
        Strand strand;
        StrandHessian h;
        StrandFactor factor;
        arena_init(&arena, &host.mem);
        REQUIRE(strand_open(&host, &arena, &t.strand, t.gravity, &strand) == TDL_STATUS_OK);
        REQUIRE(strand_hessian(&strand, &h) && strand_factor_new(&arena, &h, &factor));
        strand_factor(&h, 1.0, 0.0, &factor);
        double schur[ROWS * ROWS];
        int n = rod->dof_count, element = 3 + rng_below(&rng, 7), negative = factor.negative;
        const TdlVec3 axes[ROWS] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
        for (int r = 0; r < ROWS; ++r) {
            CHECK(strand_force(&strand, element, 0.7, axes[r], J[r]));
        }
        for (int r = 0; r < ROWS; ++r) {
            memcpy(answer, J[r], (size_t)n * sizeof *answer);
            strand_solve(&h, &factor, answer);
            for (int c = 0; c < ROWS; ++c) {
                schur[r * ROWS + c] = -tdl_dot(n, answer, J[c]);
            }
        }
        CHECK_INT(tdl_ldl(ROWS, schur, ROWS), ROWS);
        for (int r = 0; r < ROWS; ++r) {
            negative += (schur[r * ROWS + r] < 0.0) - 1;
        }
        dense_hessian(&t, rod, 1.0, H);
        double b = 1.0e7 * h.softest / (rod->element_length * rod->element_length);
        for (int i = 0; i < n * n; ++i) {
            for (int r = 0; r < ROWS; ++r) {
                H[i] += b * J[r][i % n] * J[r][i / n];
            }
        }
        CHECK_INT(negative, count_negative(rod, H));
        changed += negative < factor.negative;
        arena_destroy(&arena);
        rod_destroy(&host, rod);
    }
    printf("  held, %d of 40 have fewer\n", changed);
    CHECK(changed > 5);
}

// Statics finds a stable shape where it is, and tells the same eigenvalue.
TEST(settling_tells_the_same_eigenvalue) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2320);
    int some = 0;
    for (int round = 0; round < 20; ++round) {
        TestStrand t;
        TdlStability found;
        strand_random(&rng, STRAND_MODELS[round % 2], 10, 4.0, &t);
        Rod* rod = strand_make(&t);
        REQUIRE(rod != NULL);
        CHECK_INT(tdl_strand_stability(&host, &t.strand, t.gravity, &found), TDL_STATUS_OK);
        if (found.stable) {
            double residual, stability;
            CHECK_INT(rod_settle(&host, rod, t.gravity, &residual, &stability), TDL_STATUS_OK);
            CHECK_NEAR(stability, found.least_eigenvalue, 1.0e-9); // that of the bracket
            for (int i = 0; i < rod->dof_count; ++i) {
                TdlVec3 given = tdl_scale3(rod->element_length, t.curvature[i / 3]);
                const double q[3] = {given.x, given.y, given.z};
                // residuals of 1e-15 over the least eigenvalue of these
                CHECK_NEAR(rod->q[i], q[i % 3], 1.0e-11);
            }
            ++some;
        }
        rod_destroy(&host, rod);
    }
    CHECK(some >= 10);
}
