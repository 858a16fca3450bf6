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
