// Fits of piecewise helices: what is one is found again, smooth curves are followed to third order,
// and the slow fit by least squares is hardly nearer. Poor input first.
#include "counting_allocator.h"
#include "ref/helix_fit_ref.h"
#include "ref/rod_points.h"
#include "ref/smooth_curves.h"
#include "test.h"

#include <time.h>

enum { ELEMENTS_MAX = 512, SAMPLES_MAX = 20 };

static TdlFitOptions options_of(int elements) {
    TdlFitOptions options = tdl_fit_options_default();
    options.element_count = elements;
    return options;
}

TEST(few_points) {
    TdlHost host = tdl_host_default();
    TdlHelixFit fit;
    TdlVec3 kappa[20];
    TdlFitOptions options = options_of(7);
    TdlVec3 two[] = {{1, 0, 0}, {1, 0, 0}, {1, 2, 0}};
    CHECK_INT(tdl_helix_fit(&host, two, 3, &options, kappa, &fit), TDL_STATUS_OK);
    CHECK_NEAR(fit.length, 2.0, 1.0e-15);
    CHECK_BELOW(fit.error, 1.0e-15);
    CHECK_INT(fit.element_count, 7);
    for (int e = 0; e < 7; ++e) {
        CHECK_NEAR3(kappa[e], ((TdlVec3){0, 0, 0}), 1.0e-12); // roundings over an element
    }
    CHECK_NEAR3(fit.start.rotation.cx, ((TdlVec3){0, 1, 0}), 1.0e-15);
    // a quarter of a circle by three points, in one element: their circle
    double r = 0.5;
    TdlVec3 three[] = {{r, 0, 0}, {r * sqrt(0.5), r * sqrt(0.5), 0}, {0, r, 0}};
    options.element_count = 1;
    CHECK_INT(tdl_helix_fit(&host, three, 3, &options, kappa, &fit), TDL_STATUS_OK);
    CHECK_NEAR(fit.length, r * acos(0.0), 1.0e-5); // the end tangents of a spline of 32 pieces
    CHECK_NEAR(tdl_norm3(kappa[0]), 1.0 / r, 1.0e-4);
    // a corner, a cusp: finite, and not far from the points
    TdlVec3 corner[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}};
    TdlVec3 cusp[] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 0}};
    options.element_count = 20;
    for (int least = 0; least < 2; ++least) {
        options.least_squares = least == 1;
        CHECK_INT(tdl_helix_fit(&host, corner, 3, &options, kappa, &fit), TDL_STATUS_OK);
        CHECK_BELOW(fit.error, 1.0e-3);
        CHECK_INT(tdl_helix_fit(&host, cusp, 3, &options, kappa, &fit), TDL_STATUS_OK);
        CHECK_BELOW(fit.error, 0.2); // no rod turns on the spot: two elements do it
        for (int e = 0; e < 20; ++e) {
            CHECK(tdl_finite3(kappa[e]));
        }
        CHECK_BELOW(largest_turn(kappa, 20, fit.length), 3.2); // half a turn
    }
}

TEST(bad_input_is_refused) {
    TdlHost host = tdl_host_default();
    TdlHelixFit fit;
    TdlVec3 kappa[20], corner[] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}};
    TdlVec3 none[] = {{1, 2, 3}, {1, 2, 3}}, bad[] = {{0, 0, 0}, {NAN, 0, 0}};
    TdlVec3 far[] = {{-1e308, 0, 0}, {1e308, 0, 0}};
    TdlFitOptions good = options_of(3);
    CHECK_INT(tdl_helix_fit(&host, none, 2, &good, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_helix_fit(&host, none, 1, &good, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_helix_fit(&host, bad, 2, &good, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_helix_fit(&host, far, 2, &good, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_helix_fit(&host, corner, 0, &good, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    const TdlFitOptions wrong[] = {
        {.element_count = 0},
        {.element_count = 3, .tolerance = -1.0},
        {.element_count = 3, .tolerance = NAN},
        {.element_count = 3, .method = (TdlFitMethod)7},
        {.element_count = 3, .smoothing = (TdlSmoothing)7},
        {.element_count = 3, .smoothing = TDL_SMOOTHING_NOISE},
        {.element_count = 3, .smoothing = TDL_SMOOTHING_NOISE, .noise = INFINITY},
        {.element_count = 3, .closed = true, .least_squares = true},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        CHECK_INT(tdl_helix_fit(&host, corner, 3, &wrong[i], kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    }
    // two points are no closed curve
    good.closed = true;
    CHECK_INT(tdl_helix_fit(&host, corner, 2, &good, kappa, &fit), TDL_STATUS_BAD_ARGUMENT);
    // samples
    TdlVec3 along[] = {{1, 0, 0}, {1, 0, 0}, {0, 0, 0}};
    TdlFitOptions plain = options_of(2);
    CHECK_INT(tdl_helix_fit_samples(&host, corner, along, 2.0, &plain, kappa, &fit),
              TDL_STATUS_BAD_ARGUMENT);
    along[2].y = 1.0;
    CHECK_INT(tdl_helix_fit_samples(&host, corner, along, 0.0, &plain, kappa, &fit),
              TDL_STATUS_BAD_ARGUMENT);
    plain.tolerance = 1.0;
    CHECK_INT(tdl_helix_fit_samples(&host, corner, along, 2.0, &plain, kappa, &fit),
              TDL_STATUS_BAD_ARGUMENT);
}

TEST(lack_of_memory_is_told) {
    TdlVec3 points[400], kappa[100];
    for (int i = 0; i < 400; ++i) {
        points[i] = smooth_point(3, i / 399.0).x;
    }
    TdlFitOptions options = options_of(100);
    options.smoothing = TDL_SMOOTHING_CROSS_VALIDATION;
    for (int kind = 0; kind < 2; ++kind) {
        options.element_count = kind == 0 ? 100 : 20;
        options.least_squares = kind == 1;
        bool done = false;
        for (long at = 1; at < 100 && !done; ++at) {
            AllocCounter counter = {.fail_from = at};
            TdlHost host = tdl_host_default();
            host.mem = counting_allocator(&counter);
            TdlHelixFit fit;
            TdlStatus status = tdl_helix_fit(&host, points, 400, &options, kappa, &fit);
            CHECK(status == TDL_STATUS_OK || status == TDL_STATUS_NO_MEMORY);
            CHECK_INT(counter.live, 0);
            done = status == TDL_STATUS_OK;
        }
        CHECK(done);
    }
}

// --- what is a piecewise helix ----------------------------------------------------------------

static void random_rod(Rng* rng, int elements, double length, TdlVec3* kappa) {
    double l = length / elements;
    for (int e = 0; e < elements; ++e) { // up to about 1 rad an element
        kappa[e] = (TdlVec3){0.2 / l * rng_normal(rng), (0.5 + 0.1 * rng_normal(rng)) / l,
                             0.1 / l * rng_normal(rng)};
    }
}

static const int SIZES[] = {1, 2, 5, 12, 16, 17, 24, 40, 64};

// With the tangents of its nodes a rod is found as it is, however far its elements turn.
TEST(rods_are_found_from_points_and_tangents) {
    static TdlVec3 points[65], tangents[65], kappa[64], found[64], again[65];
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(4);
    double worst = 0.0;
    for (int trial = 0; trial < 900; ++trial) {
        int elements = SIZES[trial % 9];
        TdlFitOptions options = options_of(elements);
        options.method = trial % 2 == 0 ? TDL_FIT_FLOATING : TDL_FIT_S4;
        random_rod(&rng, elements, 0.3, kappa);
        for (int e = 0; trial >= 450 && e < elements; ++e) { // up to 5 rad
            kappa[e] = tdl_scale3(rng_range(&rng, 1.0, 5.0) * elements / 0.3,
                                  tdl_unit3((TdlVec3){rng_normal(&rng), 1.0, rng_normal(&rng)}));
        }
        int count = rod_points(random_start(&rng), 0.3, kappa, elements, 1, points, tangents);
        TdlHelixFit fit;
        REQUIRE(tdl_helix_fit_samples(&host, points, tangents, 0.3, &options, found, &fit) ==
                TDL_STATUS_OK);
        rod_points(fit.start, fit.length, found, elements, 1, again, NULL);
        worst = fmax(worst, largest_distance(points, again, count) / 0.3);
        CHECK_BELOW(fit.error / 0.3, 1.0e-12);
        CHECK_NEAR(fit.length, 0.3, 1.0e-13);
        CHECK_INT(fit.arc_count, 0);
    }
    printf("  worst distance / length: %.1e\n", worst);
    CHECK_BELOW(worst, 1.0e-12); // 64 times roundings of an element
}

// How far a fit's own points, made here again, lie from the given ones: over the length.
static double miss(const TdlVec3* points, int count, const TdlFitOptions* options,
                   TdlHelixFit* fit) {
    static TdlVec3 again[64 * SAMPLES_MAX + 1];
    TdlHost host = tdl_host_default();
    TdlVec3 kappa[64];
    if (tdl_helix_fit(&host, points, count, options, kappa, fit) != TDL_STATUS_OK) {
        return INFINITY;
    }
    int samples = (count - 1) / options->element_count;
    rod_points(fit->start, fit->length, kappa, options->element_count, samples, again, NULL);
    return largest_distance(points, again, count) / fit->length;
}

// From points alone: the arc length is only estimated, and tangents where the curvature jumps.
TEST(random_rods_are_followed) {
    static TdlVec3 points[64 * SAMPLES_MAX + 1], kappa[64];
    Rng rng = rng_seed(3);
    double worst[2] = {0.0, 0.0};
    for (int trial = 0; trial < 180; ++trial) {
        int elements = SIZES[trial % 9];
        random_rod(&rng, elements, 0.3, kappa);
        int samples = trial < 90 ? 8 : 20;
        int count = rod_points(random_start(&rng), 0.3, kappa, elements, samples, points, NULL);
        TdlFitOptions options = options_of(elements);
        TdlHelixFit fit;
        if (samples == 20) {
            worst[0] = fmax(worst[0], miss(points, count, &options, &fit));
        }
        options.least_squares = true;
        double found = miss(points, count, &options, &fit);
        worst[1] = fmax(worst[1], found);
        CHECK_BELOW(found, 2.0e-4);
        CHECK_BELOW(fit.error / fit.length, 2.0e-4);
        CHECK_NEAR(fit.length, 0.3, 1.0e-4 * 0.3);
    }
    printf("  worst distance / length: %.1e, of the chain alone %.1e\n", worst[1], worst[0]);
    // the tangents at 20 points an element are off by 0.144 of a jump over 20: some mrad
    CHECK_BELOW(worst[0], 1.0e-3);
}

TEST(a_helix_of_many_turns_is_followed) {
    static TdlVec3 points[40 * 16 + 1], kappa[40];
    for (int e = 0; e < 40; ++e) {
        kappa[e] = (TdlVec3){20.0, 100.0, 0.0}; // five turns in 0.3 m
    }
    TdlPose start = {{0}, tdl_identity33()};
    int count = rod_points(start, 0.3, kappa, 40, 16, points, NULL);
    static const int sizes[] = {8, 10, 20, 40};
    for (int i = 0; i < 4; ++i) {
        TdlFitOptions options = options_of(sizes[i]);
        options.least_squares = true;
        TdlHelixFit fit;
        double found = miss(points, count, &options, &fit);
        printf("  %2d elements: %.2e\n", sizes[i], found);
        CHECK_BELOW(found, 1.0e-8); // the spline's own error over 0.047 rad a piece
    }
}

// --- smooth curves ----------------------------------------------------------------------------

typedef struct Figures {
    double error, turn; // the largest distance at equal arc length, m; the largest angle, rad
    TdlHelixFit fit;
} Figures;

// The error as told by an independent walk along the rod.
static double walk_error(const SmoothCurve* curve, const TdlHelixFit* fit, const TdlVec3* kappa,
                         int elements) {
    enum { WALK = 6 };
    static TdlVec3 x[ELEMENTS_MAX * WALK + 1];
    int count = rod_points(fit->start, fit->length, kappa, elements, WALK, x, NULL);
    double worst = 0.0;
    for (int i = 0; i < count; ++i) {
        TdlVec3 y = smooth_curve_at(curve, curve->length * i / (count - 1)).x;
        worst = fmax(worst, tdl_norm3(tdl_sub3(x[i], y)));
    }
    return worst;
}

// `per` points an element, evenly in the curve's parameter, not in its length.
static Figures figures(const SmoothCurve* curve, const TdlFitOptions* options, int per, bool slow) {
    static TdlVec3 points[ELEMENTS_MAX * SAMPLES_MAX + 1], kappa[ELEMENTS_MAX];
    int elements = options->element_count, count = per * elements + 1;
    TdlHost host = tdl_host_default();
    for (int i = 0; i < count; ++i) {
        points[i] = smooth_point(curve->kind, (double)i / (count - 1)).x;
    }
    Figures out = {.error = INFINITY};
    TdlStatus status = slow ? helix_fit_ref(&host, points, count, elements, kappa, &out.fit)
                            : tdl_helix_fit(&host, points, count, options, kappa, &out.fit);
    if (status == TDL_STATUS_OK) {
        out.error = walk_error(curve, &out.fit, kappa, elements);
        out.turn = largest_turn(kappa, elements, out.fit.length);
    }
    return out;
}

TEST(smooth_curves_are_followed_to_third_order) {
    for (int kind = 0; kind < SMOOTH_CURVES; ++kind) {
        SmoothCurve curve = smooth_curve(kind);
        double before = 0.0, order = 0.0, ratio = 0.0, turn = 0.0;
        for (int n = 32; n <= 256; n *= 2) {
            TdlFitOptions options = options_of(n);
            Figures got = figures(&curve, &options, 4, false);
            double l = curve.length / n, constant = sqrt(3.0) / 216.0 * curve.steepest * l * l * l;
            order = log2(before / got.error);
            ratio = got.error / constant;
            before = got.error;
            // the fit's own figure: at the knots and where the error of an element is largest
            CHECK_NEAR(got.fit.error, got.error, 0.1 * got.error);
            CHECK_INT(got.fit.arc_count, 0);
            CHECK_NEAR(got.fit.turning, curve.turning, 0.01 * curve.turning);
            // no spurious turn: angles fall with the length of an element
            CHECK(n == 32 || got.turn < 0.55 * turn);
            turn = got.turn;
        }
        printf("  %-20s order %.3f, over the constant %.3f, angle %.3f\n", SMOOTH_NAMES[kind],
               order, ratio, turn);
        CHECK_NEAR(order, 3.0, 0.05);
        CHECK_BELOW(ratio, 1.05); // the constant is the limit
    }
}

// Seconds of a fit through 4 points an element.
static double fit_seconds(int kind, const TdlFitOptions* options, bool slow) {
    static TdlVec3 points[4 * ELEMENTS_MAX + 1], kappa[ELEMENTS_MAX];
    int count = 4 * options->element_count + 1, repeats = slow ? 1 : 100;
    TdlHost host = tdl_host_default();
    TdlHelixFit fit;
    for (int i = 0; i < count; ++i) {
        points[i] = smooth_point(kind, i / (count - 1.0)).x;
    }
    clock_t begin = clock();
    for (int i = 0; i < repeats; ++i) {
        slow ? helix_fit_ref(&host, points, count, options->element_count, kappa, &fit)
             : tdl_helix_fit(&host, points, count, options, kappa, &fit);
    }
    return (double)(clock() - begin) / CLOCKS_PER_SEC / repeats;
}

TEST(least_squares_are_hardly_nearer) {
    double seconds[2] = {0.0, 0.0}; // told, not judged
    for (int kind = 0; kind < SMOOTH_CURVES; ++kind) {
        SmoothCurve curve = smooth_curve(kind);
        for (int n = 16; n <= 64; n *= 4) {
            TdlFitOptions options = options_of(n);
            double slow = figures(&curve, &options, 20, true).error;
            double fast = figures(&curve, &options, 20, false).error;
            seconds[0] += fit_seconds(kind, &options, true);
            seconds[1] += fit_seconds(kind, &options, false);
            options.least_squares = true;
            double least = figures(&curve, &options, 20, false).error;
            printf("  %-20s %2d elements: %.2f of the slow fit's error, %.2f with least squares\n",
                   SMOOTH_NAMES[kind], n, fast / slow, least / slow);
            CHECK_BELOW(fast / slow, n == 16 ? 2.5 : 1.5);
            CHECK_BELOW(least / slow, 1.2); // the same minimum, or the chain where that is enough
        }
    }
    printf("  the slow fit takes %.0f times as long\n", seconds[0] / seconds[1]);
}

// Tangents kept: second order, and elements that turn far where the curve bends the other way.
TEST(s4s_own_way_is_of_second_order) {
    SmoothCurve curve = smooth_curve(4);
    double before = 0.0, order = 0.0, turn = 0.0;
    for (int n = 32; n <= 256; n *= 2) {
        TdlFitOptions options = options_of(n);
        options.method = TDL_FIT_S4;
        Figures got = figures(&curve, &options, 4, false);
        order = log2(before / got.error);
        before = got.error;
        turn = got.turn;
    }
    printf("  order %.3f, an element of 256 turns by %.2f rad\n", order, turn);
    CHECK_NEAR(order, 2.0, 0.05);
    CHECK(turn > 2.0);
}

TEST(a_tolerance_gives_the_number_of_elements) {
    for (int kind = 0; kind < SMOOTH_CURVES; ++kind) {
        SmoothCurve curve = smooth_curve(kind);
        static TdlVec3 points[2001], kappa[ELEMENTS_MAX];
        TdlHost host = tdl_host_default();
        for (int i = 0; i <= 2000; ++i) {
            points[i] = smooth_point(kind, i / 2000.0).x;
        }
        for (double tolerance = 1.0e-2; tolerance > 1.0e-7; tolerance *= 0.1) {
            TdlFitOptions options = options_of(ELEMENTS_MAX);
            options.tolerance = tolerance;
            TdlHelixFit fit, fewer;
            REQUIRE(tdl_helix_fit(&host, points, 2001, &options, kappa, &fit) == TDL_STATUS_OK);
            double error = walk_error(&curve, &fit, kappa, fit.element_count);
            CHECK_BELOW(error, 1.05 * tolerance); // six places an element against all knots
            // a quarter fewer would not do
            if (fit.element_count > 4) {
                options = options_of(3 * fit.element_count / 4);
                REQUIRE(tdl_helix_fit(&host, points, 2001, &options, kappa, &fewer) ==
                        TDL_STATUS_OK);
                CHECK(fewer.error > tolerance);
            }
        }
    }
    // more than there may be: as near as it comes
    TdlVec3 arc[] = {{0, 0, 0}, {1, 0.3, 0}, {2, 0, 1}, {3, 1, 0}}, kappa[2];
    TdlFitOptions options = options_of(2);
    options.tolerance = 1.0e-9;
    TdlHost host = tdl_host_default();
    TdlHelixFit fit;
    CHECK_INT(tdl_helix_fit(&host, arc, 4, &options, kappa, &fit), TDL_STATUS_OK);
    CHECK_INT(fit.element_count, 2);
    CHECK(fit.error > options.tolerance);
}

// A closed curve: the rod comes back to where it began, with the tangent with which it began.
TEST(closed_curves_close) {
    TdlHost host = tdl_host_default();
    double before = 0.0;
    for (int n = 16; n <= 512; n *= 2) {
        static TdlVec3 points[2048], kappa[512], ends[2];
        for (int i = 0; i < 4 * n; ++i) {
            double a = 1.5707963267948966 * i / n;
            points[i] = (TdlVec3){cos(a) + 0.1 * sin(2.0 * a), 0.6 * sin(a), 0.2 * cos(3.0 * a)};
        }
        TdlFitOptions options = options_of(n);
        options.closed = true;
        TdlHelixFit fit;
        REQUIRE(tdl_helix_fit(&host, points, 4 * n, &options, kappa, &fit) == TDL_STATUS_OK);
        TdlVec3 all[513], tangents[513];
        rod_points(fit.start, fit.length, kappa, n, 1, all, tangents);
        ends[0] = all[0];
        ends[1] = all[n];
        double gap = largest_distance(&ends[0], &ends[1], 1);
        printf("  %3d elements: error %.2e, gap %.2e, order %.2f\n", n, fit.error, gap,
               log2(before / fit.error));
        CHECK_BELOW(gap, 1.01 * fit.error);
        CHECK_NEAR3(tangents[n], tangents[0], 1.0e-9); // rounds of Newton end at 1e-11 an element
        CHECK(n < 512 || fabs(log2(before / fit.error) - 3.0) < 0.2);
        before = fit.error;
    }
}

// --- noise ------------------------------------------------------------------------------------

TEST(noise_does_not_become_turns) {
    TdlHost host = tdl_host_default();
    for (int kind = 0; kind < SMOOTH_CURVES; ++kind) {
        SmoothCurve curve = smooth_curve(kind);
        double sums[2] = {0.0, 0.0}, worst = 0.0, rough = 0.0;
        enum { TRIALS = 20 };
        for (int trial = 0; trial < TRIALS; ++trial) {
            Rng rng = rng_seed(100 + (uint64_t)trial);
            TdlVec3 points[30], kappa[30];
            double noise = 1.0e-3 * curve.length;
            for (int i = 0; i < 30; ++i) {
                TdlVec3 by = {rng_normal(&rng), rng_normal(&rng), rng_normal(&rng)};
                points[i] =
                    tdl_axpy3(smooth_curve_at(&curve, curve.length * i / 29.0).x, noise, by);
            }
            for (int by_noise = 0; by_noise < 2; ++by_noise) {
                TdlFitOptions options = options_of(30);
                options.smoothing =
                    by_noise == 1 ? TDL_SMOOTHING_NOISE : TDL_SMOOTHING_CROSS_VALIDATION;
                options.noise = sqrt(3.0) * noise;
                TdlHelixFit fit;
                REQUIRE(tdl_helix_fit(&host, points, 30, &options, kappa, &fit) == TDL_STATUS_OK);
                sums[by_noise] += fit.turning / curve.turning / TRIALS;
                worst = fmax(worst, fit.turning / curve.turning);
            }
            TdlFitOptions options = options_of(30);
            TdlHelixFit fit;
            REQUIRE(tdl_helix_fit(&host, points, 30, &options, kappa, &fit) == TDL_STATUS_OK);
            rough += fit.turning / curve.turning / TRIALS;
        }
        printf("  %-20s turning: %.3f by cross validation, %.3f by the noise, worst %.2f; %.2f "
               "without\n",
               SMOOTH_NAMES[kind], sums[0], sums[1], worst, rough);
        CHECK_BELOW(sums[0], 1.5);
        CHECK_BELOW(worst, 1.5);
        CHECK(sums[0] > 0.8);
    }
}
