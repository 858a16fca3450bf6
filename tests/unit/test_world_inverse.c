// Natural curvatures of the rods of a world: shapes that stay, forces in their cones, what is
// refused. Wisps of curls are in test_inverse_wisp.
#include "capture.h"
#include "inverse/world_inverse.h"
#include "math/rotation.h"
#include "wisps.h"

// --- without contacts ----------------------------------------------------------------------------

// Rods side by side in shapes of their own, far enough apart not to touch.
static TdlWorld* free_world(const TdlHost* host, const char* model, int count, TdlBodyId* rods,
                            double young) {
    TdlWorldDef def = tdl_world_def_default();
    def.step = 1.0e-3;
    TdlWorld* world = NULL;
    if (tdl_world_create(host, &def, &world) != TDL_STATUS_OK) {
        return NULL;
    }
    Rng rng = rng_seed(3);
    for (int i = 0; i < count; ++i) {
        TdlVec3 kappa[12];
        for (int k = 0; k < 12; ++k) {
            double s = (k + 0.5) / 12.0;
            kappa[k] = (TdlVec3){5.0 * s, 20.0 + 10.0 * sin(3.0 * s + i), 15.0 * s - 5.0};
        }
        TdlRodDef rod = tdl_rod_def_default();
        rod.model = model;
        rod.young = young;
        rod.element_count = 12;
        rod.curvature_of = kappa;
        rod.damping = 1.0e-3;
        rod.clamp.position = (TdlVec3){0.5 * i, 0.0, 0.0};
        rod.clamp.rotation = tdl_rotation_exp((TdlVec3){rng_normal(&rng), rng_normal(&rng), 0.3});
        if (tdl_world_add_rod(world, &rod, &rods[i]) != TDL_STATUS_OK) {
            tdl_world_destroy(world);
            return NULL;
        }
    }
    return world;
}

static double drift_of(TdlWorld* world, const TdlBodyId* rods, int count, int steps) {
    TdlVec3 before[4][13], now[13];
    double most = 0.0;
    for (int i = 0; i < count; ++i) {
        tdl_rod_points(world, rods[i], 1, before[i]);
    }
    for (int s = 0; s < steps; ++s) {
        CHECK_INT(tdl_world_step(world, NULL), TDL_STATUS_OK);
    }
    for (int i = 0; i < count; ++i) {
        tdl_rod_points(world, rods[i], 1, now);
        for (int k = 0; k < 13; ++k) {
            most = fmax(most, tdl_norm3(tdl_sub3(now[k], before[i][k])));
        }
    }
    return most;
}

TEST(rods_stay_in_their_shapes) {
    static const char* const models[] = {"super-helix", "super-helix-dense", "super-clothoid",
                                         "der"};
    TdlHost host = tdl_host_default();
    for (int m = 0; m < 4; ++m) {
        TdlBodyId rods[4];
        TdlWorld* world = free_world(&host, models[m], 4, rods, 4.0e9);
        TdlInverseOptions options = tdl_inverse_options_default();
        TdlInverseReport report;
        REQUIRE(world != NULL);
        CHECK(drift_of(world, rods, 4, 50) > 1.0e-3); // it sags as it is
        tdl_world_destroy(world);
        world = free_world(&host, models[m], 4, rods, 4.0e9);
        REQUIRE(tdl_world_inverse(world, &options, &report) == TDL_STATUS_OK);
        CHECK(report.stable);
        CHECK_INT(report.strand_count, 4);
        for (int i = 0; i < 4; ++i) {
            CHECK(m == 3 || report.strands[i].residual < 1.0e-14); // a few roundings
            CHECK(report.strands[i].stable && report.strands[i].least_factor < 1.0);
            CHECK(report.strands[i].bound_factor >= report.strands[i].least_factor);
            CHECK_NEAR(report.strands[i].stiffening, 1.0, 0.0);
        }
        double drift = drift_of(world, rods, 4, 300);
        printf("  %s: drift %.2g m\n", models[m], drift);
        // edges of a der are stretched by their weight first, 1e-7 of the length
        CHECK_BELOW(drift, m == 3 ? 1.0e-6 : 1.0e-12);
        tdl_inverse_report_free(world, &report);
        tdl_world_destroy(world);
    }
}

// The model's own gradient of its own potential, which is where the rod was made.
TEST(the_gradient_of_the_models_own_potential_vanishes) {
    static const char* const models[] = {"super-helix-dense", "super-clothoid"};
    TdlHost host = tdl_host_default();
    for (int m = 0; m < 2; ++m) {
        TdlBodyId rods[4];
        TdlWorld* world = free_world(&host, models[m], 4, rods, 1.0e9);
        TdlInverseOptions options = tdl_inverse_options_default();
        REQUIRE(world != NULL && tdl_world_inverse(world, &options, NULL) == TDL_STATUS_OK);
        for (int i = 0; i < 4; ++i) {
            const Rod* rod = rod_of(world_find_body(world, rods[i], &ROD_BODY));
            double gradient[39], weight = rod_mass(rod) * 9.81;
            rod->model->potential(rod, tdl_world_def(world).gravity, gradient, NULL);
            for (int k = 0; k < rod->dof_count; ++k) {
                CHECK_NEAR(gradient[k], 0.0, 1.0e-14 * weight * rod_length(rod));
            }
        }
        tdl_world_destroy(world);
    }
}

TEST(soft_rods_are_stiffened_until_they_stay) {
    TdlHost host = tdl_host_default();
    TdlBodyId rods[4];
    TdlWorld* world = free_world(&host, "super-helix", 4, rods, 4.0e7);
    TdlInverseOptions options = tdl_inverse_options_default();
    TdlInverseReport report;
    REQUIRE(world != NULL && tdl_world_inverse(world, &options, &report) == TDL_STATUS_OK);
    CHECK(!report.stable && report.least_eigenvalue < 0.0);
    double least[4];
    for (int i = 0; i < 4; ++i) {
        least[i] = report.strands[i].least_factor;
    }
    tdl_inverse_report_free(world, &report);
    options.stiffen = true;
    REQUIRE(tdl_world_inverse(world, &options, &report) == TDL_STATUS_OK);
    CHECK(report.stable);
    for (int i = 0; i < 4; ++i) {
        double asked = fmax(1.0, 1.02 * least[i]);
        CHECK_NEAR(report.strands[i].stiffening, least[i] < 1.0 ? 1.0 : asked, 1.0e-9 * asked);
        TdlRodInfo info;
        tdl_rod_info(world, rods[i], &info);
        CHECK_NEAR(info.stiffening, report.strands[i].stiffening, 0.0);
    }
    CHECK_BELOW(drift_of(world, rods, 4, 300), 1.0e-9);
    tdl_inverse_report_free(world, &report);
    tdl_world_destroy(world);
}

// --- what is refused -------------------------------------------------------------------------

TEST(bad_options_and_rods_are_refused_by_name) {
    Capture log;
    TdlHost host = capture_host(&log);
    TdlBodyId rods[4];
    TdlWorld* world = free_world(&host, "super-helix", 2, rods, 1.0e9);
    REQUIRE(world != NULL);
    TdlInverseOptions bad[] = {
        tdl_inverse_options_default(), tdl_inverse_options_default(), tdl_inverse_options_default(),
        tdl_inverse_options_default(), tdl_inverse_options_default(), tdl_inverse_options_default(),
    };
    bad[0].mu_share = 0.0;
    bad[1].mu_share = 1.5;
    bad[2].gamma = -1.0;
    bad[3].gamma = NAN;
    bad[4].guess = 1.1;
    bad[5].reach = INFINITY;
    uint64_t before = tdl_world_state_hash(world);
    for (int k = 0; k < 6; ++k) {
        CHECK_INT(tdl_world_inverse(world, &bad[k], NULL), TDL_STATUS_BAD_ARGUMENT);
    }
    TdlInverseOptions good = tdl_inverse_options_default();
    TdlRodDef def = tdl_rod_def_default();
    def.end = TDL_HOLD_PINNED;
    def.clamp.position.y = 1.0;
    TdlBodyId odd;
    CHECK_INT(tdl_world_add_rod(world, &def, &odd), TDL_STATUS_OK);
    tdl_body_set_name(world, odd, "odd one");
    before = tdl_world_state_hash(world);
    CHECK_INT(tdl_world_inverse(world, &good, NULL), TDL_STATUS_BAD_ARGUMENT);
    CHECK(strstr(log.text, "odd one") != NULL);
    CHECK(before == tdl_world_state_hash(world));
    tdl_world_destroy(world);
    // an empty world has nothing to ask for
    world = free_world(&host, "super-helix", 0, rods, 1.0e9);
    TdlInverseReport report;
    REQUIRE(world != NULL && tdl_world_inverse(world, &good, &report) == TDL_STATUS_OK);
    CHECK_INT(report.strand_count, 0);
    CHECK(report.stable);
    tdl_inverse_report_free(world, &report);
    tdl_world_destroy(world);
}
