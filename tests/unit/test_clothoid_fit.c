// Fits of super-clothoids: poor input, and the fourth order on five smooth curves, with the rod
// integrated here by the series of the element itself.
#include "ref/smooth_curves.h"
#include "rod/clothoid.h"
#include "tendril/inverse.h"
#include "test.h"

enum { ELEMENTS_MAX = 256, POINTS_MAX = 4001 };

TEST(poor_input) {
    TdlHost host = tdl_host_default();
    TdlHelixFit fit;
    TdlVec3 kappa[8], two[] = {{0, 0, 1}, {0, 0, 3}}, same[] = {{1, 1, 1}, {1, 1, 1}};
    TdlFitOptions options = tdl_fit_options_default();
    CHECK_INT(tdl_clothoid_fit(&host, two, 2, &options, kappa, &fit), TDL_STATUS_OK);
    CHECK_NEAR3(kappa[0], ((TdlVec3){0}), 0.0);
    CHECK_NEAR3(kappa[1], ((TdlVec3){0}), 0.0);
    CHECK_NEAR(fit.length, 2.0, 1.0e-15);
    CHECK_INT(tdl_clothoid_fit(&host, same, 2, &options, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    options.closed = true;
    CHECK_INT(tdl_clothoid_fit(&host, two, 2, &options, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    options.closed = false;
    options.tolerance = 1.0e-3;
    CHECK_INT(tdl_clothoid_fit(&host, two, 2, &options, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
}

// --- many points --------------------------------------------------------------------------------

// The largest distance from the curve at equal arc length, at the ends of elements and halfway.
static double walk_error(const SmoothCurve* curve, const TdlHelixFit* fit, const TdlVec3* kappa) {
    int n = fit->element_count;
    double l = fit->length / n, worst = 0.0;
    TdlPose at = fit->start;
    for (int e = 0; e < n; ++e) {
        Clothoid c = clothoid_make(tdl_scale3(l, kappa[e]), tdl_scale3(l, kappa[e + 1]));
        for (int j = 1; j <= 2; ++j) {
            ClothoidState state;
            clothoid_at(&c, 0.5 * j, &state);
            TdlVec3 p = tdl_mul33_3(at.rotation, clothoid_position(&state));
            TdlVec3 x = tdl_axpy3(at.position, l, p);
            TdlVec3 y = smooth_curve_at(curve, curve->length * (e + 0.5 * j) / n).x;
            worst = fmax(worst, tdl_norm3(tdl_sub3(x, y)));
            if (j == 2) {
                at = (TdlPose){x, tdl_mul33(at.rotation, clothoid_rotation(&state))};
            }
        }
    }
    return worst;
}

// --- few points ---------------------------------------------------------------------------------

// The largest distance of given points from a rod, by the model's own kinematics: a point's place
// along the rod is where it is nearest.
static double points_error(const TdlHelixFit* fit, const TdlVec3* kappa, const TdlVec3* points,
                           int count) {
    enum { PARTS = 64 };
    int n = fit->element_count;
    double l = fit->length / n, worst = 0.0;
    double* nearest = malloc((size_t)count * sizeof *nearest);
    TdlPose at = fit->start;
    for (int i = 0; i < count; ++i) {
        nearest[i] = tdl_norm3(tdl_sub3(points[i], at.position));
    }
    for (int e = 0; e < n; ++e) {
        Clothoid c = clothoid_make(tdl_scale3(l, kappa[e]), tdl_scale3(l, kappa[e + 1]));
        ClothoidState state;
        for (int j = 1; j <= PARTS; ++j) {
            clothoid_at(&c, (double)j / PARTS, &state);
            TdlVec3 x =
                tdl_axpy3(at.position, l, tdl_mul33_3(at.rotation, clothoid_position(&state)));
            for (int i = 0; i < count; ++i) {
                nearest[i] = fmin(nearest[i], tdl_norm3(tdl_sub3(points[i], x)));
            }
        }
        at.position =
            tdl_axpy3(at.position, l, tdl_mul33_3(at.rotation, clothoid_position(&state)));
        at.rotation = tdl_mul33(at.rotation, clothoid_rotation(&state));
    }
    for (int i = 0; i < count; ++i) {
        worst = fmax(worst, nearest[i]);
    }
    free(nearest);
    return worst;
}

// Curls of twelve points a turn, whose radius grows and whose way bends.
TEST(curls_of_few_points_are_followed_by_least_squares) {
    enum { POINTS = 61 };
    TdlHost host = tdl_host_default();
    TdlVec3 points[POINTS], kappa[61];
    for (int i = 0; i < POINTS; ++i) {
        double s = i / (POINTS - 1.0), a = 31.0 * s, r = 0.03 * s * s * (3.0 - 2.0 * s);
        points[i] = (TdlVec3){0.5 * s + 0.01, r * cos(a), r * sin(a) - 0.2 * s * s};
    }
    for (int n = 15; n <= 60; n *= 2) {
        TdlFitOptions options = tdl_fit_options_default();
        options.element_count = n;
        TdlHelixFit direct, fit;
        REQUIRE(tdl_clothoid_fit(&host, points, POINTS, &options, kappa, &direct) == TDL_STATUS_OK);
        options.least_squares = true;
        REQUIRE(tdl_clothoid_fit(&host, points, POINTS, &options, kappa, &fit) == TDL_STATUS_OK);
        double error = points_error(&fit, kappa, points, POINTS);
        // between the places looked at: half a 64th of an element
        double grain = 0.5 * fit.length / n / 64.0;
        printf("  %d elements: %.2e, told %.2e; direct %.2e\n", n, error, fit.error, direct.error);
        CHECK(error <= fit.error + grain);
        CHECK_BELOW(fit.error, 0.01 * direct.error); // 300 times better was measured, and more
    }
}

// A rod of clothoids is found again from points close together, and where nothing is to be gained
// nothing is lost.
TEST(least_squares_do_not_lose) {
    static TdlVec3 points[POINTS_MAX], kappa[ELEMENTS_MAX + 1];
    TdlHost host = tdl_host_default();
    for (int kind = 0; kind < SMOOTH_CURVES; ++kind) {
        for (int i = 0; i < 257; ++i) {
            points[i] = smooth_point(kind, i / 256.0).x;
        }
        TdlFitOptions options = tdl_fit_options_default();
        options.element_count = 16;
        TdlHelixFit direct, fit;
        REQUIRE(tdl_clothoid_fit(&host, points, 257, &options, kappa, &direct) == TDL_STATUS_OK);
        options.least_squares = true;
        REQUIRE(tdl_clothoid_fit(&host, points, 257, &options, kappa, &fit) == TDL_STATUS_OK);
        SmoothCurve curve = smooth_curve(kind);
        double error = walk_error(&curve, &fit, kappa);
        printf("  %-20s %.2e, told %.2e; direct %.2e\n", SMOOTH_NAMES[kind], error, fit.error,
               direct.error);
        CHECK(fit.error <= direct.error);
        // the told one is from the spline, at places of its own
        CHECK_NEAR(error, fit.error, 0.2 * fit.error);
    }
}

TEST(smooth_curves_are_followed_to_fourth_order) {
    static TdlVec3 points[POINTS_MAX], kappa[ELEMENTS_MAX + 1];
    TdlHost host = tdl_host_default();
    for (int kind = 0; kind < SMOOTH_CURVES; ++kind) {
        SmoothCurve curve = smooth_curve(kind);
        double before = 0.0, order = 0.0, error = 0.0;
        for (int n = 16; n <= 128; n *= 2) {
            int count = 16 * n + 1;
            for (int i = 0; i < count; ++i) {
                points[i] = smooth_point(kind, (double)i / (count - 1)).x;
            }
            TdlFitOptions options = tdl_fit_options_default();
            options.element_count = n;
            TdlHelixFit fit;
            REQUIRE(tdl_clothoid_fit(&host, points, count, &options, kappa, &fit) == TDL_STATUS_OK);
            error = walk_error(&curve, &fit, kappa);
            order = log2(before / error);
            before = error;
            printf("  %-20s %3d elements: %.2e, told %.2e, order %.2f\n", SMOOTH_NAMES[kind], n,
                   error, fit.error, order);
            for (int i = 0; i <= n; ++i) {
                CHECK(kappa[i].x == 0.0);
            }
        }
        CHECK(order > 3.7);
    }
}
