#include "base/rng.h"
#include "rod/rod.h"
#include "test.h"

static TdlStatus try_rod(const TdlRodDef* def) {
    TdlHost host = tdl_host_default();
    Rod* rod = NULL;
    TdlStatus status = rod_create(&host, def, &rod);
    rod_destroy(&host, rod);
    return status;
}

TEST(bad_definitions_are_refused) {
    TdlRodDef good = tdl_rod_def_default();
    CHECK_INT(try_rod(&good), TDL_STATUS_OK);
    double* reals[] = {&good.length, &good.radius[0], &good.radius[1], &good.young, &good.density};
    double bad_values[] = {0.0, -1.0, NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 5; ++i) {
        double keep = *reals[i];
        for (int k = 0; k < 5; ++k) {
            *reals[i] = bad_values[k];
            CHECK_INT(try_rod(&good), TDL_STATUS_BAD_ARGUMENT);
        }
        *reals[i] = keep;
    }
    TdlRodDef bad = good;
    bad.model = "super-noodle";
    CHECK_INT(try_rod(&bad), TDL_STATUS_BAD_ARGUMENT);
    bad = good;
    bad.model = NULL;
    CHECK_INT(try_rod(&bad), TDL_STATUS_BAD_ARGUMENT);
    for (int count = -1; count <= 100001; count += 100002 / 2) {
        bad = good;
        bad.element_count = count <= 0 ? count : 100001;
        CHECK_INT(try_rod(&bad), TDL_STATUS_BAD_ARGUMENT);
    }
    bad = good;
    bad.poisson = -1.0;
    CHECK_INT(try_rod(&bad), TDL_STATUS_BAD_ARGUMENT);
    bad.poisson = 0.51;
    CHECK_INT(try_rod(&bad), TDL_STATUS_BAD_ARGUMENT);
    bad = good;
    bad.damping = -1.0e-9;
    CHECK_INT(try_rod(&bad), TDL_STATUS_BAD_ARGUMENT);
    bad = good;
    bad.natural_curvature.y = NAN;
    CHECK_INT(try_rod(&bad), TDL_STATUS_BAD_ARGUMENT);
    bad = good;
    bad.clamp.rotation.cx.x = 2.0;
    CHECK_INT(try_rod(&bad), TDL_STATUS_BAD_ARGUMENT);
    bad = good;
    TdlVec3 kappa[10] = {{0}};
    kappa[7].z = INFINITY;
    bad.curvature_of = kappa;
    CHECK_INT(try_rod(&bad), TDL_STATUS_BAD_ARGUMENT);
}

TEST(sections_have_the_stiffness_of_the_textbook) {
    TdlHost host = tdl_host_default();
    TdlRodDef def = tdl_rod_def_default();
    const double pi = 3.14159265358979323846;
    Rod* rod;
    REQUIRE(rod_create(&host, &def, &rod) == TDL_STATUS_OK);
    double r4 = pow(50.0e-6, 4);
    CHECK_NEAR(rod->stiffness.y, 1.0e9 * pi * r4 / 4.0, 1.0e-22);
    CHECK_NEAR(rod->stiffness.z, 1.0e9 * pi * r4 / 4.0, 1.0e-22);
    CHECK_NEAR(rod->stiffness.x, 1.0e9 / 2.96 * pi * r4 / 2.0, 1.0e-22);
    CHECK_NEAR(rod_mass(rod), 1000.0 * pi * 2.5e-9 * 0.1, 1.0e-20);
    rod_destroy(&host, rod);

    // a ribbon thin along its third axis bends easily about the second
    def.radius[1] = 5.0e-6;
    REQUIRE(rod_create(&host, &def, &rod) == TDL_STATUS_OK);
    CHECK_NEAR(rod->stiffness.z / rod->stiffness.y, 100.0, 1.0e-10);
    rod_destroy(&host, rod);
}

// Angle of a planar rod, clamped along x, that hangs under its own weight: the exact elastica
// EI theta'' = w (L - s) cos theta with theta(0) = 0, theta'(L) = 0, by shooting with RK4.
static double shoot(double w, double EI, double L, double start_slope, double* x, double* z) {
    enum { STEPS = 4000 };
    double h = L / STEPS, theta = 0.0, slope = start_slope, s = 0.0;
    *x = *z = 0.0;
    for (int i = 0; i < STEPS; ++i) {
        double k[4][4], y[4] = {theta, slope, *x, *z};
        for (int j = 0; j < 4; ++j) {
            double c = j == 0 ? 0.0 : j == 3 ? h : 0.5 * h, t[4];
            for (int m = 0; m < 4; ++m) {
                t[m] = y[m] + (j == 0 ? 0.0 : c * k[j - 1][m]);
            }
            k[j][0] = t[1];
            k[j][1] = w / EI * (L - s - c) * cos(t[0]);
            k[j][2] = cos(t[0]);
            k[j][3] = sin(t[0]);
        }
        for (int m = 0; m < 4; ++m) {
            y[m] += h / 6.0 * (k[0][m] + 2.0 * k[1][m] + 2.0 * k[2][m] + k[3][m]);
        }
        theta = y[0], slope = y[1], *x = y[2], *z = y[3];
        s += h;
    }
    return slope;
}

TEST(a_heavy_cantilever_settles_on_the_elastica) {
    TdlHost host = tdl_host_default();
    TdlRodDef def = tdl_rod_def_default();
    def.element_count = 80; // the tip error is of second order: 9e-5 L at the heaviest
    for (double weight = 1.0e-2; weight < 1.0e3; weight *= 10.0) {
        // weight-to-stiffness ratio w L^3 / EI, set through Young's modulus
        double L = def.length, w = def.density * 3.14159265358979323846 * 2.5e-9 * 9.81;
        double I = 3.14159265358979323846 / 4.0 * pow(50.0e-6, 4), x, z;
        def.young = w * L * L * L / (weight * I);
        double low = -weight / L, high = 0.0; // theta'(L) grows with the slope at the start
        for (int k = 0; k < 100; ++k) {
            double middle = 0.5 * (low + high);
            *(shoot(w, def.young * I, L, middle, &x, &z) > 0.0 ? &high : &low) = middle;
        }
        Rod* rod;
        REQUIRE(rod_create(&host, &def, &rod) == TDL_STATUS_OK);
        double residual, stability;
        CHECK_INT(rod_settle(&host, rod, (TdlVec3){0.0, 0.0, -9.81}, &residual, &stability),
                  TDL_STATUS_OK);
        TdlVec3 tip = rod->model->point(rod, def.element_count - 1, 1.0);
        printf("  wL^3/EI %g: tip off by %.1e L, residual %.1e\n", weight,
               tdl_norm3(tdl_sub3(tip, (TdlVec3){x, 0.0, z})) / L, residual);
        CHECK_NEAR3(tip, ((TdlVec3){x, 0.0, z}), 1.0e-4 * L);
        rod_destroy(&host, rod);
    }
}

TEST(settling_ends_at_a_stable_shape_even_from_a_saddle) {
    // a curl that hangs in its own plane is at a saddle: out of it there is a lower shape
    TdlHost host = tdl_host_default();
    TdlRodDef def = tdl_rod_def_default();
    def.model = "super-helix-dense"; // which knows the potential
    def.length = 0.305;
    def.element_count = 12;
    def.natural_curvature = def.curvature = (TdlVec3){0.0, 100.0, 0.0};
    Rod* rod;
    REQUIRE(rod_create(&host, &def, &rod) == TDL_STATUS_OK);
    TdlVec3 g = {0.0, 0.0, -9.81};
    double residual, stability, hessian[36 * 36], gradient[36];
    CHECK_INT(rod_settle(&host, rod, g, &residual, &stability), TDL_STATUS_OK);
    CHECK_BELOW(residual, 1.0e-12);
    CHECK(stability > 0.0);
    TdlVec3 tip = rod->model->point(rod, 11, 1.0);
    CHECK(fabs(tip.y) > 1.0e-5);
    // every small change costs energy
    double lowest = rod->model->potential(rod, g, gradient, hessian);
    Rng rng = rng_seed(3);
    for (int k = 0; k < 200; ++k) {
        double keep[36];
        memcpy(keep, rod->q, sizeof keep);
        for (int i = 0; i < 36; ++i) {
            rod->q[i] += 1.0e-2 * rng_normal(&rng);
        }
        rod->model->refresh(rod);
        CHECK(rod->model->potential(rod, g, NULL, NULL) > lowest);
        memcpy(rod->q, keep, sizeof keep);
    }
    rod_destroy(&host, rod);
}

TEST(without_gravity_a_rod_settles_at_its_natural_shape) {
    TdlHost host = tdl_host_default();
    TdlRodDef def = tdl_rod_def_default();
    def.natural_curvature = (TdlVec3){3.0, 40.0, -20.0};
    Rod* rod;
    REQUIRE(rod_create(&host, &def, &rod) == TDL_STATUS_OK);
    double residual, stability;
    CHECK_INT(rod_settle(&host, rod, (TdlVec3){0}, &residual, &stability), TDL_STATUS_OK);
    for (int i = 0; i < rod->dof_count; ++i) {
        CHECK_NEAR(rod->q[i], rod->q_rest[i], 1.0e-14);
    }
    rod_destroy(&host, rod);
}
