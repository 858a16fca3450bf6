// The natural curvature of a given shape, judged by the gradient of the rod models' own potential.
#include "counting_allocator.h"
#include "inverse/strand.h"
#include "rod/helix.h"
#include "strands.h"

// Largest generalised force left, over weight times length.
static double residual(const TestStrand* t, const Rod* rod) {
    static double gradient[4 * STRAND_MAX + 3];
    double worst = 0.0, scale = rod_mass(rod) * tdl_norm3(t->gravity) * rod_length(rod);
    rod->model->potential(rod, t->gravity, gradient, NULL);
    for (int i = 0; i < rod->dof_count; ++i) {
        bool held = strcmp(t->def.model, "der") == 0 && nodal_is_held(rod, i);
        worst = fmax(worst, held ? 0.0 : fabs(gradient[i]));
    }
    return worst / scale;
}

TEST(means_of_the_helix_functions_are_those_of_the_gram_matrix) {
    double worst = 0.0;
    for (double y = 0.0; y < 4.0e4; y = y == 0.0 ? 1.0e-6 : 1.7 * y) {
        HelixGram gram;
        double mean[HELIX_COUNT];
        helix_gram(y, &gram);
        helix_means(y, mean);
        for (int f = 0; f < HELIX_COUNT; ++f) {
            // the functions of high order are differences of terms this large
            double size = fmax(fabs(mean[f]), 1.0 / (720.0 * (1.0 + y)));
            worst = fmax(worst, fabs(mean[f] - gram.g[HELIX_ONE][f]) / size);
        }
    }
    printf("  means: %.1e\n", worst);
    CHECK(worst < 1.0e-12); // cancellation in 24 c8 - 9 c7 + c6, and in Gauss's sum over panels
}

TEST(the_shape_is_an_equilibrium_of_the_model) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2301);
    for (int m = 0; m < 3; ++m) {
        double worst = 0.0;
        for (int round = 0; round < 60; ++round) {
            TestStrand t;
            strand_random(&rng, STRAND_MODELS[m], 4 + rng_below(&rng, 30), 10.0, &t);
            strand_add_loads(&rng, round % 3 == 0 ? 0 : 4, &t);
            Rod* rod = strand_make(&t);
            REQUIRE(rod != NULL);
            // stretching is stiff: places rounded to eps make forces of eps EA l
            double noise = m == 2 ? rod_stretch_stiffness(rod) * rod->element_length /
                                        (rod_mass(rod) * 9.81 * rod_length(rod))
                                  : 0.0;
            worst = fmax(worst, residual(&t, rod) / (1.0 + noise));
            rod_destroy(&host, rod);
        }
        printf("  %s: residual %.1e\n", STRAND_MODELS[m], worst);
        CHECK(worst < 2.0e-14); // some roundings of sums over 34 elements
    }
}

TEST(elements_of_many_turns_and_a_straight_fibre) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2302);
    for (int m = 0; m < 2; ++m) {
        double worst = 0.0;
        for (int round = 0; round < 20; ++round) {
            TestStrand t;
            strand_random(&rng, STRAND_MODELS[m], 3, 10.0, &t);
            for (int i = 0; i < 4; ++i) {
                double angle = round == 0 ? 0.0 : round == 1 ? 6.283185307179586 : 1.5 * round;
                t.curvature[i] = strand_random_vector(&rng, 3.0 * angle / t.def.length);
            }
            Rod* rod = strand_make(&t);
            REQUIRE(rod != NULL);
            worst = fmax(worst, residual(&t, rod));
            rod_destroy(&host, rod);
        }
        printf("  %s: residual %.1e\n", STRAND_MODELS[m], worst);
        CHECK(worst < 1.0e-14);
    }
}

TEST(forces_beside_gravity_are_balanced_too) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2303);
    for (int m = 0; m < 2; ++m) {
        TestStrand t;
        strand_random(&rng, STRAND_MODELS[m], 7, 10.0, &t);
        Rod* rod = strand_make(&t);
        REQUIRE(rod != NULL);
        Arena arena;
        Strand strand;
        double extra[24], gradient[24];
        for (int i = 0; i < 24; ++i) {
            extra[i] = 1.0e-6 * rng_normal(&rng);
        }
        arena_init(&arena, &host.mem);
        CHECK_INT(strand_open(&host, &arena, &t.strand, t.gravity, &strand), TDL_STATUS_OK);
        CHECK_INT(strand_rest(&host, &strand, extra, t.natural), TDL_STATUS_OK);
        arena_destroy(&arena);
        strand_shape_rod(&t, rod);
        rod->model->potential(rod, t.gravity, gradient, NULL);
        for (int i = 0; i < rod->dof_count; ++i) {
            CHECK(fabs(gradient[i] - extra[i]) < 1.0e-14 * rod->stiffness.x / rod->element_length);
        }
        rod_destroy(&host, rod);
    }
}

TEST(bad_strands_are_refused) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2304);
    TestStrand t;
    strand_random(&rng, "super-helix", 5, 10.0, &t);
    rod_destroy(&host, strand_make(&t));
    TdlVec3 natural[6], g = t.gravity;
    TdlStrand bad = t.strand;
    double* fields[] = {&bad.length, &bad.stiffness.x, &bad.stiffness.y, &bad.stiffness.z};
    for (int i = 0; i < 4; ++i) {
        double values[] = {0.0, -1.0, NAN, INFINITY}, keep = *fields[i];
        for (int k = 0; k < 4; ++k) {
            *fields[i] = values[k];
            CHECK_INT(tdl_strand_rest(&host, &bad, g, natural), TDL_STATUS_BAD_ARGUMENT);
        }
        *fields[i] = keep;
    }
    const char* models[] = {NULL, "mass-spring", ""};
    for (int i = 0; i < 3; ++i) {
        bad.model = models[i];
        CHECK_INT(tdl_strand_rest(&host, &bad, g, natural), TDL_STATUS_BAD_ARGUMENT);
    }
    bad = t.strand;
    bad.element_count = 0;
    CHECK_INT(tdl_strand_rest(&host, &bad, g, natural), TDL_STATUS_BAD_ARGUMENT);
    bad = t.strand;
    bad.line_density = -1.0;
    CHECK_INT(tdl_strand_rest(&host, &bad, g, natural), TDL_STATUS_BAD_ARGUMENT);
    bad = t.strand;
    bad.start.rotation.cx.x += 0.5;
    CHECK_INT(tdl_strand_rest(&host, &bad, g, natural), TDL_STATUS_BAD_ARGUMENT);
    bad = t.strand;
    bad.stretching = 1.0e-30;
    CHECK_INT(tdl_strand_rest(&host, &bad, g, natural), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_strand_rest(&host, &t.strand, (TdlVec3){NAN, 0.0, 0.0}, natural),
              TDL_STATUS_BAD_ARGUMENT);
    TdlRodLoad load = {.at = 0.1 * bad.length, .torque = {0.0, 1.0, 0.0}};
    bad = t.strand;
    bad.loads = &load;
    bad.load_count = 1;
    CHECK_INT(tdl_strand_rest(&host, &bad, g, natural), TDL_STATUS_BAD_ARGUMENT);
    load = (TdlRodLoad){.at = 1.1 * bad.length};
    CHECK_INT(tdl_strand_rest(&host, &bad, g, natural), TDL_STATUS_BAD_ARGUMENT);
    t.curvature[3].y = NAN;
    CHECK_INT(tdl_strand_rest(&host, &t.strand, g, natural), TDL_STATUS_BAD_ARGUMENT);
}

TEST(a_der_that_would_have_to_turn_too_far_is_refused) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2305);
    TestStrand t;
    strand_random(&rng, "der", 5, 10.0, &t);
    rod_destroy(&host, strand_make(&t));
    t.strand.stiffness = tdl_scale3(1.0e-4, t.strand.stiffness);
    CHECK_INT(tdl_strand_rest(&host, &t.strand, t.gravity, t.natural), TDL_STATUS_BAD_ARGUMENT);
}

TEST(without_memory_nothing_is_done) {
    Rng rng = rng_seed(2306);
    for (int m = 0; m < 3; ++m) {
        TdlHost plain = tdl_host_default();
        TestStrand t;
        strand_random(&rng, STRAND_MODELS[m], 6, 10.0, &t);
        strand_add_loads(&rng, 2, &t);
        rod_destroy(&plain, strand_make(&t));
        TdlStatus status = TDL_STATUS_NO_MEMORY;
        for (int call = 1; status == TDL_STATUS_NO_MEMORY && call < 20; ++call) {
            AllocCounter counter = {.fail_at = call};
            TdlHost host = {.mem = counting_allocator(&counter)};
            status = tdl_strand_rest(&host, &t.strand, t.gravity, t.natural);
            CHECK_INT(counter.live, 0);
        }
        CHECK_INT(status, TDL_STATUS_OK);
    }
}

// Rows of a place: those of the models, or differences of the place itself.
TEST(the_force_on_a_place_is_that_of_the_model) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(2307);
    for (int round = 0; round < 40; ++round) {
        TestStrand t;
        bool der = round % 3 == 2;
        strand_random(&rng, STRAND_MODELS[round % 3], 8, 10.0, &t);
        Rod* rod = strand_make(&t);
        REQUIRE(rod != NULL);
        Arena arena;
        Strand strand;
        double out[27], rows[3 * 27], mode[27];
        int element = rng_below(&rng, 8);
        double s = round < 6 ? round % 2 : rng_range(&rng, 0.0, 1.0);
        TdlVec3 F = strand_random_vector(&rng, 1.0);
        arena_init(&arena, &host.mem);
        REQUIRE(strand_open(&host, &arena, &t.strand, t.gravity, &strand) == TDL_STATUS_OK);
        CHECK(strand_force(&strand, element, s, F, out));
        arena_destroy(&arena);
        double L = rod_length(rod);
        if (!der) {
            TdlSpan movers = rod->model->movers(rod, element);
            TdlMat3 basis = tdl_frame_from_tangent(F);
            rod->model->jacobian(rod, element, s, basis, rows);
            for (int i = 0; i < rod->dof_count; ++i) {
                bool moves = i >= movers.first && i < movers.first + movers.count;
                CHECK_NEAR(out[i], moves ? rows[i - movers.first] : 0.0, 1.0e-14 * L);
            }
            rod_destroy(&host, rod);
            continue;
        }
        double expected = 0.0, error[3];
        for (int i = 0; i < 24; ++i) {
            mode[i] = rng_normal(&rng);
            expected += out[i] * mode[i];
        }
        for (int k = 0; k < 3; ++k) {
            double h = 0.02 / (1 << k), there[2];
            for (int way = 0; way < 2; ++way) {
                strand_shape_rod(&t, rod);
                strand_kick(&t, rod, mode, way == 0 ? h : -h);
                there[way] = tdl_dot3(F, rod->model->point(rod, element, s));
            }
            error[k] = fabs((there[0] - there[1]) / (2.0 * h) - expected);
        }
        CHECK(error[2] < 1.0e-2 * L);
        if (error[2] > 1.0e-10 * L) { // else it does not move
            CHECK_NEAR(log2(error[1] / error[2]), 2.0, 0.2);
        }
        rod_destroy(&host, rod);
    }
}
