// Fits of piecewise helices: known rods are found again, circles and helices are followed.
#include "base/rng.h"
#include "rod/helix.h"
#include "tendril/inverse.h"
#include "test.h"

enum { ELEMENTS_MAX = 64, SAMPLES_MAX = 16 };

// Points of a rod of given curvatures, `samples` to an element, by substeps of exp.
static int rod_points(TdlPose start, double length, const TdlVec3* kappa, int elements, int samples,
                      TdlVec3* out) {
    double l = length / elements;
    int n = 0;
    out[n++] = start.position;
    for (int e = 0; e < elements; ++e) {
        HelixAxes axes = helix_axes(tdl_scale3(l, kappa[e]));
        for (int j = 1; j <= samples; ++j) {
            double f[HELIX_COUNT];
            helix_functions(axes.y, (double)j / samples, f);
            TdlVec3 p = tdl_mul33_3(start.rotation, helix_position(&axes, f));
            out[n++] = tdl_axpy3(start.position, l, p);
        }
        start.position = out[n - 1];
        start.rotation = tdl_mul33(start.rotation, tdl_rotation_exp(axes.q));
    }
    return n;
}

static double largest_distance(const TdlVec3* a, const TdlVec3* b, int count) {
    double largest = 0.0;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, tdl_norm3(tdl_sub3(a[i], b[i])));
    }
    return largest;
}

// How far the fit's own points, made here again, lie from the given ones: over the length.
static double miss(const TdlVec3* points, int count, int elements, TdlHelixFit* fit) {
    static TdlVec3 again[ELEMENTS_MAX * SAMPLES_MAX + 1];
    TdlHost host = tdl_host_default();
    TdlVec3 kappa[ELEMENTS_MAX];
    if (tdl_helix_fit(&host, points, count, elements, kappa, fit) != TDL_STATUS_OK) {
        return INFINITY;
    }
    int samples = (count - 1) / elements;
    rod_points(fit->start, fit->length, kappa, elements, samples, again);
    return largest_distance(points, again, count) / fit->length;
}

static TdlPose random_start(Rng* rng) {
    TdlVec3 turn = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
    return (TdlPose){{rng_normal(rng), rng_normal(rng), rng_normal(rng)}, tdl_rotation_exp(turn)};
}

// Rods as a simulation leaves them: bends that vary from element to element, some twist. The arc
// length is only estimated, to (turn of a sample)^2 / 24 where the curvature jumps; all else is
// found to rounding.
TEST(random_rods_are_followed) {
    static TdlVec3 points[ELEMENTS_MAX * SAMPLES_MAX + 1], kappa[ELEMENTS_MAX];
    static const int sizes[] = {1, 2, 5, 12, 16, 17, 24, 40, 64};
    Rng rng = rng_seed(3);
    double worst = 0.0;
    for (int trial = 0; trial < 90; ++trial) {
        int elements = sizes[trial % 9];
        double l = 0.3 / elements;
        for (int e = 0; e < elements; ++e) { // up to about 1 rad an element
            kappa[e] = (TdlVec3){0.2 / l * rng_normal(&rng), (0.5 + 0.1 * rng_normal(&rng)) / l,
                                 0.1 / l * rng_normal(&rng)};
        }
        int count = rod_points(random_start(&rng), 0.3, kappa, elements, 8, points);
        TdlHelixFit fit;
        double found = miss(points, count, elements, &fit);
        worst = fmax(worst, found);
        CHECK_BELOW(found, 2.0e-4);
        CHECK_BELOW(fit.error / fit.length, 2.0e-4);
        CHECK_NEAR(fit.length, 0.3, 1.0e-4 * 0.3);
    }
    printf("  worst distance / length: %.2e\n", worst);
}

TEST(a_helix_of_many_turns_is_followed) {
    static TdlVec3 points[40 * 16 + 1], kappa[40];
    for (int e = 0; e < 40; ++e) {
        kappa[e] = (TdlVec3){20.0, 100.0, 0.0}; // five turns in 0.3 m
    }
    int count = rod_points((TdlPose){{0}, tdl_identity33()}, 0.3, kappa, 40, 16, points);
    static const int sizes[] = {8, 10, 20, 40};
    for (int i = 0; i < 4; ++i) {
        TdlHelixFit fit;
        double found = miss(points, count, sizes[i], &fit);
        printf("  %2d elements: %.2e\n", sizes[i], found);
        CHECK_BELOW(found, 1.0e-6);
    }
}

// More elements than the points can tell about, and fewer: smooth curves in between.
TEST(an_arc_of_a_parabola_converges) {
    static TdlVec3 points[257];
    double before = INFINITY;
    for (int i = 0; i <= 256; ++i) {
        double u = i / 256.0;
        points[i] = (TdlVec3){u, u * u, 0.3 * u * u * u};
    }
    for (int elements = 2; elements <= 16; elements *= 2) {
        TdlHelixFit fit;
        double found = miss(points, 257, elements, &fit);
        (void)found; // its points are not evenly spaced; the fit's own figure is
        printf("  %2d elements: %.2e\n", elements, fit.error);
        // curvature constant on an element: the miss falls with the cube of its length
        CHECK_BELOW(fit.error, elements == 2 ? 2.0e-2 : before / 5.0);
        before = fit.error;
    }
}

TEST(few_points) {
    TdlHost host = tdl_host_default();
    TdlHelixFit fit;
    TdlVec3 kappa[20];
    TdlVec3 two[] = {{1, 0, 0}, {1, 0, 0}, {1, 2, 0}};
    CHECK_INT(tdl_helix_fit(&host, two, 3, 7, kappa, &fit), TDL_STATUS_OK);
    CHECK_NEAR(fit.length, 2.0, 1.0e-12);
    CHECK_BELOW(fit.error, 1.0e-12);
    for (int e = 0; e < 7; ++e) {
        CHECK_NEAR3(kappa[e], ((TdlVec3){0, 0, 0}), 1.0e-9);
    }
    CHECK_NEAR3(fit.start.rotation.cx, ((TdlVec3){0, 1, 0}), 1.0e-12);
    // a quarter of a circle by three points, in one element
    double r = 0.5;
    TdlVec3 three[] = {{r, 0, 0}, {r * sqrt(0.5), r * sqrt(0.5), 0}, {0, r, 0}};
    CHECK_INT(tdl_helix_fit(&host, three, 3, 1, kappa, &fit), TDL_STATUS_OK);
    CHECK_NEAR(fit.length, r * acos(0.0), 1.0e-12);
    CHECK_NEAR(tdl_norm3(kappa[0]), 1.0 / r, 0.05 / r);
    // a corner, a cusp, a point that comes back
    TdlVec3 corner[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}},
            cusp[] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 0}};
    CHECK_INT(tdl_helix_fit(&host, corner, 3, 20, kappa, &fit), TDL_STATUS_OK);
    CHECK_BELOW(fit.error, 0.1); // no smooth curve of even speed has a corner: it is cut
    CHECK_INT(tdl_helix_fit(&host, cusp, 3, 20, kappa, &fit), TDL_STATUS_OK);
    for (int e = 0; e < 20; ++e) {
        CHECK(tdl_finite3(kappa[e]));
    }
    TdlVec3 none[] = {{1, 2, 3}, {1, 2, 3}};
    CHECK_INT(tdl_helix_fit(&host, none, 2, 3, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_helix_fit(&host, none, 1, 3, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    // what is not points
    TdlVec3 bad[] = {{0, 0, 0}, {NAN, 0, 0}};
    CHECK_INT(tdl_helix_fit(&host, bad, 2, 3, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_helix_fit(&host, corner, 0, 3, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_helix_fit(&host, corner, 3, 0, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
}
