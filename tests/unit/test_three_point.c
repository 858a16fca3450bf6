// The exact three-point bending test, against shooting, limits on paper, and itself.
#include "ref/three_point_ref.h"
#include "test.h"

static const TdlHost HOST = {0}; // silent

static TdlThreePoint solve(const TdlThreePointDef* def, double indentation) {
    TdlThreePoint answer = {.force = NAN};
    TdlStatus status = tdl_three_point_solve(&HOST, def, indentation, &answer);
    if (status != TDL_STATUS_OK) {
        FAIL("indentation %g: %s", indentation, tdl_status_string(status));
    }
    return answer;
}

// F span^2 / (48 B)
static double scaled(const TdlThreePointDef* def, double force) {
    return force * def->span * def->span / (48.0 * def->bending);
}

static void check_against_shooting(const TdlThreePointDef* def, double depth, double* worst) {
    TdlThreePoint shot, exact = solve(def, depth * def->span);
    if (!shot_solve(def, depth * def->span, 12, &shot)) {
        FAIL("shooting failed at %g, kappa0 %g, mu %g", depth, def->natural_curvature, def->mu);
        return;
    }
    // asked: 1e-6. RK4 with 400 steps is good for about 1e-10
    double off = fabs(exact.force / shot.force - 1.0);
    *worst = fmax(*worst, off);
    CHECK_BELOW(off, 1.0e-8);
    CHECK_NEAR(exact.angle, shot.angle, 1.0e-8);
    CHECK_NEAR(exact.arc_length / shot.arc_length, 1.0, 1.0e-8);
    CHECK_NEAR(exact.middle_curve / shot.middle_curve, 1.0, 1.0e-8);
}

TEST(frictionless_is_what_shooting_finds) {
    double worst = 0.0;
    for (int k = 0; k <= 3; ++k) {
        TdlThreePointDef def = tdl_three_point_def_default();
        def.natural_curvature = 10.0 * k;
        for (int i = 0; i < 4; ++i) {
            check_against_shooting(&def, (const double[]){0.002, 0.02, 0.11, 0.3}[i], &worst);
        }
    }
    printf("  largest deviation of the force: %.2g\n", worst);
}

TEST(frictional_is_what_shooting_finds) {
    double worst = 0.0;
    for (int i = 0; i < 12; ++i) {
        TdlThreePointDef def = tdl_three_point_def_default();
        def.natural_curvature = i % 2 == 0 ? 30.0 : 0.0;
        def.mu = (const double[]){0.1, 0.3, 0.5}[i / 2 % 3];
        def.surface_friction = i >= 6;
        check_against_shooting(&def, 0.02, &worst);
        check_against_shooting(&def, 0.3, &worst);
    }
    printf("  largest deviation of the force: %.2g\n", worst);
}

// A thick rod on a thick disc, as curved as it may nearly be.
TEST(thick_and_curved_is_what_shooting_finds) {
    double worst = 0.0;
    TdlThreePointDef def = tdl_three_point_def_default();
    def.rod_radius = 2.0e-3;
    def.support_radius = 5.0e-3;
    def.natural_curvature = 45.0; // upright at 55.6
    def.mu = 0.4;
    check_against_shooting(&def, 0.05, &worst);
    def.surface_friction = true;
    check_against_shooting(&def, 0.05, &worst);
}

// Fbar = deltabar where the deflection is small; the next term is of second order for a thin rod.
TEST(small_deflections_of_a_straight_rod) {
    TdlThreePointDef def = tdl_three_point_def_default();
    def.rod_radius = def.support_radius = 0.0;
    double before = 0.0;
    for (int i = 0; i < 3; ++i) {
        double depth = (const double[]){1.0e-2, 1.0e-3, 1.0e-4}[i];
        TdlThreePoint at = solve(&def, depth * def.span);
        double off = fabs(scaled(&def, at.force) / depth - 1.0);
        CHECK_BELOW(off, 11.0 * depth * depth); // 72/7 depth^2
        CHECK(i == 0 || fabs(before / off - 100.0) < 2.0);
        before = off;
        CHECK_NEAR(at.angle / (3.0 * depth), 1.0,
                   10.0 * depth * depth); // tip slope of a cantilever
        CHECK_NEAR(at.middle_curve * def.span / (12.0 * depth), 1.0, 20.0 * depth * depth);
    }
}

// A circular arc pressed along its normal n: u_n = P (alpha/2 - sin(2 alpha)/4) / (B kappa0^3),
// from the bending energy; the disc's rise delta asks for u_n = delta cos(alpha), and F = 2 P
// cos(alpha).
TEST(small_deflections_of_a_curved_rod) {
    for (int k = 1; k <= 3; ++k) {
        TdlThreePointDef def = tdl_three_point_def_default();
        double kappa = def.natural_curvature = 10.0 * k;
        double alpha = asin(0.5 * def.span / (1.0 / kappa + def.rod_radius + def.support_radius));
        double compliance =
            (0.5 * alpha - 0.25 * sin(2.0 * alpha)) / (def.bending * kappa * kappa * kappa);
        double slope = 2.0 * cos(alpha) * cos(alpha) / compliance, before = 0.0;
        for (int i = 0; i < 3; ++i) {
            double depth = (const double[]){1.0e-3, 1.0e-4, 1.0e-5}[i];
            double indentation = depth * def.span;
            double off = fabs(solve(&def, indentation).force / (slope * indentation) - 1.0);
            CHECK_BELOW(off, 10.0 * depth);
            CHECK(i == 0 || fabs(before / off - 10.0) < 0.5); // first order
            before = off;
        }
    }
}

TEST(first_contact) {
    TdlThreePointDef def = tdl_three_point_def_default();
    TdlThreePoint at = solve(&def, 0.0);
    CHECK_NEAR(at.force, 0.0, 0.0);
    CHECK_NEAR(at.angle, 0.0, 0.0);
    CHECK_NEAR(at.arc_length, 0.5 * def.span, 1.0e-17);
    CHECK_NEAR(tdl_three_point_first_height(&def), -3.7e-4, 1.0e-18);
    def.natural_curvature = 30.0;
    at = solve(&def, 0.0);
    CHECK_NEAR(at.force, 0.0, 0.0);
    // the disc touches the circle of radius 1/30 about (0, 1/30)
    CHECK_NEAR(hypot(0.025, 1.0 / 30.0 - tdl_three_point_first_height(&def)), 1.0 / 30.0 + 3.7e-4,
               1.0e-16);
    CHECK_NEAR(at.arc_length * 30.0, at.angle, 1.0e-15);
}

// Nothing jumps on the way to a straight rod, and to an indentation of nothing.
TEST(nearly_straight_is_nearly_the_same) {
    TdlThreePointDef straight = tdl_three_point_def_default(), bent = straight;
    for (int i = 0; i < 4; ++i) {
        double depth = 0.05 * straight.span;
        bent.natural_curvature = (const double[]){1.0e-12, 1.0e-8, 1.0e-5, 1.0e-3}[i];
        double change = solve(&bent, depth).force / solve(&straight, depth).force - 1.0;
        CHECK_BELOW(fabs(change), 1.0e-2 * bent.natural_curvature + 1.0e-13);
        for (int j = 0; j < 4; ++j) {
            double tiny = (const double[]){1.0e-14, 1.0e-12, 1.0e-10, 1.0e-8}[j];
            CHECK_NEAR(scaled(&bent, solve(&bent, tiny * bent.span).force) / tiny, 1.0, 5.0e-2);
        }
    }
}

// The angle grows with the indentation: the inversion is unique. And the rod slides inwards over
// the disc from the first moment on, as the friction of (T.3) supposes: (T.13).
TEST(angle_and_sliding_grow_with_indentation) {
    for (int i = 0; i < 8; ++i) {
        TdlThreePointDef def = tdl_three_point_def_default();
        def.natural_curvature = 10.0 * (i % 4);
        def.mu = i < 4 ? 0.0 : 0.5;
        TdlThreePoint before = solve(&def, 0.0);
        double slid_before = -INFINITY;
        for (int n = 1; n <= 300; ++n) {
            TdlThreePoint at = solve(&def, 0.001 * n * def.span);
            double slid = at.arc_length + (def.rod_radius + def.support_radius) * at.angle;
            CHECK(at.angle > before.angle);
            CHECK(slid > slid_before);
            before = at;
            slid_before = slid;
        }
        CHECK_BELOW(before.arc_length, 0.79 * def.span); // the half rod must be longer
    }
}

TEST(bad_set_ups_are_refused) {
    TdlThreePoint out;
    const struct {
        size_t field;
        double value;
    } bad[] = {
        {offsetof(TdlThreePointDef, span), 0.0},
        {offsetof(TdlThreePointDef, span), -1.0},
        {offsetof(TdlThreePointDef, span), NAN},
        {offsetof(TdlThreePointDef, span), INFINITY},
        {offsetof(TdlThreePointDef, span), 7.0e-4},
        {offsetof(TdlThreePointDef, rod_radius), -1.0e-4},
        {offsetof(TdlThreePointDef, rod_radius), NAN},
        {offsetof(TdlThreePointDef, support_radius), 0.025},
        {offsetof(TdlThreePointDef, bending), 0.0},
        {offsetof(TdlThreePointDef, bending), INFINITY},
        {offsetof(TdlThreePointDef, natural_curvature), -1.0},
        {offsetof(TdlThreePointDef, natural_curvature), 40.61}, // the limit is 40.6009
        {offsetof(TdlThreePointDef, natural_curvature), NAN},
        {offsetof(TdlThreePointDef, mu), -0.1},
        {offsetof(TdlThreePointDef, mu), INFINITY},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        TdlThreePointDef def = tdl_three_point_def_default();
        memcpy((char*)&def + bad[i].field, &bad[i].value, sizeof bad[i].value);
        CHECK_INT(tdl_three_point_solve(&HOST, &def, 1.0e-3, &out), TDL_STATUS_BAD_ARGUMENT);
    }
    TdlThreePointDef def = tdl_three_point_def_default();
    for (int i = 0; i < 4; ++i) {
        double indentation = (const double[]){-1.0e-9, 0.1, NAN, INFINITY}[i];
        CHECK_INT(tdl_three_point_solve(&HOST, &def, indentation, &out), TDL_STATUS_BAD_ARGUMENT);
    }
    def.natural_curvature = 40.6;
    CHECK_INT(tdl_three_point_solve(&HOST, &def, 1.0e-6, &out), TDL_STATUS_OK);
}
