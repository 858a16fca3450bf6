// What the curvature of the error tells, on trajectories that are linear in the parameters, where
// least squares have the answer in closed form.
#include "fit/fit.h"

#include "base/rng.h"
#include "test.h"

// What the command's own parts ask for.
const Command* const COMMANDS[] = {NULL};

enum { MOMENTS = 600, MARKERS = 8, ALL = MOMENTS * MARKERS, COUNT = 2 };

// x = a t e_x + b t^2 e_y at marker i times (1 + i/10), beside noise.
typedef struct Line {
    Fit fit;
    Trial best;
    Slopes slopes;
} Line;

static TdlVec3 line_at(double a, double b, int n, int i) {
    double t = (double)n / MOMENTS, far = 1.0 + 0.1 * i;
    return (TdlVec3){a * t * far, b * t * t * far, 0.3 * a * t};
}

static void fill(TdlVec3* places, double a, double b) {
    for (int k = 0; k < ALL; ++k) {
        places[k] = line_at(a, b, k / MARKERS, k % MARKERS);
    }
}

// Masses differ unless `alike`; a seventh of the places is lost.
static Line line_make(double noise, double a, double b, bool alike) {
    Line l = {.slopes = {.count = COUNT}};
    Rng rng = rng_seed(11);
    if (!tracks_create(MARKERS, MOMENTS, &l.fit.data) || !trial_create(&l.fit, &l.best)) {
        FAIL("no memory");
    }
    l.fit.markers.count = MARKERS;
    l.fit.markers.items = calloc(MARKERS, sizeof *l.fit.markers.items);
    for (int i = 0; i < MARKERS; ++i) {
        l.fit.markers.items[i].mass = alike ? 0.3 : 0.1 + 0.05 * i;
    }
    fill(l.fit.data.places, 1.0, 2.0);
    for (int k = 0; k < ALL; ++k) {
        TdlVec3 shift = {rng_normal(&rng), rng_normal(&rng), rng_normal(&rng)};
        l.fit.data.places[k] =
            k % 7 == 0 ? (TdlVec3){NAN, NAN, NAN} : tdl_axpy3(l.fit.data.places[k], noise, shift);
    }
    fill(l.best.places, a, b);
    l.best.reached = MOMENTS;
    l.fit.reach = 9.0;
    trial_judge(&l.fit, &l.best);
    const double h = 0.01;
    for (int p = 0; p < COUNT; ++p) {
        l.slopes.lower[p] = calloc(ALL, sizeof(TdlVec3));
        l.slopes.upper[p] = calloc(ALL, sizeof(TdlVec3));
        fill(l.slopes.lower[p], a - (p == 0 ? h : 0.0), b - (p == 1 ? h : 0.0));
        fill(l.slopes.upper[p], a + (p == 0 ? h : 0.0), b + (p == 1 ? h : 0.0));
        l.slopes.width[p] = 2.0 * h;
    }
    return l;
}

static void line_free(Line* l) {
    for (int p = 0; p < COUNT; ++p) {
        free(l->slopes.lower[p]);
        free(l->slopes.upper[p]);
    }
    trial_free(&l->best);
    markers_free(&l->fit.markers);
    tracks_free(&l->fit.data);
}

// (G.2) to (G.4) again, plainly.
TEST(errors_are_means_by_mass_over_seen_markers) {
    Line l = line_make(0.01, 1.1, 2.0, false);
    double errors = 0.0, spreads = 0.0;
    for (int n = 0; n < MOMENTS; ++n) {
        double mass = 0.0, squares = 0.0, mean = 0.0, variance = 0.0;
        int seen = 0;
        for (int i = 0; i < MARKERS; ++i) {
            TdlVec3 d = tdl_sub3(line_at(1.1, 2.0, n, i), l.fit.data.places[n * MARKERS + i]);
            if (!isnan(d.x)) {
                mass += l.fit.markers.items[i].mass;
                squares += l.fit.markers.items[i].mass * (d.x * d.x + d.y * d.y + d.z * d.z);
                mean += tdl_norm3(d);
                ++seen;
            }
        }
        mean /= seen;
        for (int i = 0; i < MARKERS; ++i) {
            TdlVec3 d = tdl_sub3(line_at(1.1, 2.0, n, i), l.fit.data.places[n * MARKERS + i]);
            variance += isnan(d.x) ? 0.0 : pow(tdl_norm3(d) - mean, 2.0) / seen;
        }
        CHECK_NEAR(l.best.curve[n], sqrt(squares / mass), 1e-15);
        errors += sqrt(squares / mass) / MOMENTS;
        spreads += sqrt(variance) / MOMENTS;
    }
    CHECK_NEAR(l.best.error, errors, 1e-14);
    CHECK_NEAR(l.best.spread, spreads, 1e-9); // differences of squares
    // a run that ends early counts with the reach from there on
    l.best.reached = MOMENTS / 2;
    trial_judge(&l.fit, &l.best);
    CHECK(l.best.curve[MOMENTS / 2] == 9.0 && l.best.error > 4.5);
    line_free(&l);
}

// The standard deviations of least squares, noise^2 (J'J)^-1 over seen places, are those of (G.7)
// but for what 600 moments know of the noise: some 3 % each, and 2 % for the root (fit.md).
TEST(deviations_are_those_of_least_squares) {
    const double noise = 0.01;
    Line l = line_make(noise, 1.0, 2.0, true);
    Curvature c;
    REQUIRE(fit_curvature(&l.fit, &l.best, &l.slopes, &c));
    double jj[3] = {0};
    for (int k = 0; k < ALL; ++k) {
        if (!isnan(l.fit.data.places[k].x)) {
            double t = (double)(k / MARKERS) / MOMENTS, far = 1.0 + 0.1 * (k % MARKERS);
            jj[0] += t * far * t * far + 0.09 * t * t;
            jj[2] += t * t * far * t * t * far;
        }
    }
    double da = noise / sqrt(jj[0]), db = noise / sqrt(jj[2]);
    double ga = sqrt(curvature_covariance(&c, 0, 0)), gb = sqrt(curvature_covariance(&c, 1, 1));
    printf("  least squares %.3e and %.3e, found %.3e and %.3e\n", da, db, ga, gb);
    CHECK_NEAR(ga, da, 0.1 * da);
    CHECK_NEAR(gb, db, 0.1 * db);
    // different directions: not correlated
    CHECK(fabs(curvature_covariance(&c, 0, 1)) < 0.1 * ga * gb);
    line_free(&l);
}

// Steps lead to within the noise of the truth. The trajectories are linear, so the error never
// rises (fit.md), from far off as well; and what is left of the slope falls with each to some 1/d,
// d being about 21 coordinates a moment.
TEST(steps_lead_to_the_least_error) {
    const double noise = 0.01;
    double a = 3.0, b = -1.0, last = INFINITY, slopes[8];
    Curvature c;
    for (int k = 0; k < 8; ++k) {
        Line l = line_make(noise, a, b, false);
        CHECK(l.best.error <= last * (1.0 + 1e-14));
        last = l.best.error;
        REQUIRE(fit_curvature(&l.fit, &l.best, &l.slopes, &c));
        slopes[k] = hypot(c.slope[0], c.slope[1]);
        printf("  error %.6e, slope %.2e\n", last, slopes[k]);
        a += curvature_step(&c, 0);
        b += curvature_step(&c, 1);
        line_free(&l);
    }
    CHECK(slopes[4] < 0.15 * slopes[3] && slopes[5] < 0.15 * slopes[4]);
    CHECK_NEAR(a, 1.0, 4.0 * sqrt(curvature_covariance(&c, 0, 0)));
    CHECK_NEAR(b, 2.0, 4.0 * sqrt(curvature_covariance(&c, 1, 1)));
}

// The slope is that of the error by differences at three sizes.
TEST(slopes_are_those_of_the_error) {
    const double noise = 0.01;
    Line l = line_make(noise, 1.002, 1.997, false);
    Curvature c;
    REQUIRE(fit_curvature(&l.fit, &l.best, &l.slopes, &c));
    double last = 0.0;
    for (int k = 0; k < 3; ++k) {
        double h = 4e-3 / (1 << k);
        Line up = line_make(noise, 1.002 + h, 1.997, false);
        Line down = line_make(noise, 1.002 - h, 1.997, false);
        double slope = MOMENTS * (up.best.error - down.best.error) / (2.0 * h);
        double off = fabs(slope - c.slope[0]);
        printf("  h %.0e: slope %.8f, off by %.2e\n", h, slope, off);
        // second order: a fourth each time
        CHECK(k == 0 || (off < 0.3 * last && off > 0.2 * last));
        last = off;
        line_free(&up);
        line_free(&down);
    }
    line_free(&l);
}

TEST(parameters_without_effect_or_tied_have_no_curvature) {
    Line l = line_make(0.01, 1.0, 2.0, true);
    Curvature c;
    memcpy(l.slopes.upper[1], l.slopes.lower[1], ALL * sizeof(TdlVec3));
    CHECK(!fit_curvature(&l.fit, &l.best, &l.slopes, &c)); // without effect
    memcpy(l.slopes.upper[1], l.slopes.upper[0], ALL * sizeof(TdlVec3));
    memcpy(l.slopes.lower[1], l.slopes.lower[0], ALL * sizeof(TdlVec3));
    CHECK(!fit_curvature(&l.fit, &l.best, &l.slopes, &c)); // twice the same
    line_free(&l);
}

TEST(scales_meet_their_bounds) {
    const Parameter linear = {.low = -2.0, .high = 6.0},
                    ratios = {.low = 1e-3, .high = 10.0, .log = true};
    CHECK(parameter_value(&linear, 0.0) == -2.0 && parameter_value(&linear, 1.0) == 6.0);
    CHECK(parameter_value(&ratios, 0.0) == 1e-3 && parameter_value(&ratios, 1.0) == 10.0);
    CHECK_NEAR(parameter_value(&linear, 0.25), 0.0, 1e-15);
    CHECK_NEAR(parameter_value(&ratios, 0.5), 0.1, 1e-15);
    for (int k = 1; k < 10; ++k) {
        CHECK_NEAR(parameter_place(&linear, parameter_value(&linear, 0.1 * k)), 0.1 * k, 1e-14);
        CHECK_NEAR(parameter_place(&ratios, parameter_value(&ratios, 0.1 * k)), 0.1 * k, 1e-14);
    }
}
