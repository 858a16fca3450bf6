#include "math/polynomial.h"

#include "base/rng.h"
#include "test.h"

__extension__ typedef __float128 Quad;

static const double EPS = 0x1p-52;

static int roots_of(int degree, const double* a, double* roots) {
    return degree == 2   ? tdl_roots_quadratic(a, roots)
           : degree == 3 ? tdl_roots_cubic(a, roots)
                         : tdl_roots_quartic(a, roots);
}

// The coefficients of lead (x - r_0) ... with `pairs` factors (x - u)^2 + v^2 behind, multiplied
// in quad precision and rounded once.
static void expand(double lead, const double* r, int count, const double* u, const double* v,
                   int pairs, double* a) {
    Quad c[5] = {lead};
    int degree = 0;
    for (int i = 0; i < count; ++i) {
        for (int k = ++degree; k >= 0; --k) {
            c[k] = (k > 0 ? c[k - 1] : 0) - (k < degree ? r[i] * c[k] : 0);
        }
    }
    for (int i = 0; i < pairs; ++i) {
        Quad b = -2 * (Quad)u[i], d = (Quad)u[i] * u[i] + (Quad)v[i] * v[i];
        degree += 2;
        for (int k = degree; k >= 0; --k) {
            c[k] = (k > 1 ? c[k - 2] : 0) + (k > 0 && k < degree ? b * c[k - 1] : 0) +
                   (k < degree - 1 ? d * c[k] : 0);
        }
    }
    for (int k = 0; k <= degree; ++k) {
        a[k] = (double)c[k];
    }
}

// |p(x)| / sum |a_i x^i| in quad precision
static double backward_error(int degree, const double* a, double x) {
    Quad p = 0, size = 0, power = 1;
    for (int i = 0; i <= degree; ++i) {
        p += a[i] * power;
        size += (a[i] * power < 0 ? -1 : 1) * (a[i] * power);
        power *= x;
    }
    return size == 0 ? 0.0 : fabs((double)(p / size));
}

static void check_sorted_and_exact(int degree, const double* a, const double* roots, int count) {
    for (int i = 0; i < count; ++i) {
        CHECK_BELOW(backward_error(degree, a, roots[i]), 10.0 * EPS);
        CHECK(i == 0 || roots[i - 1] < roots[i]);
    }
}

static void sort(double* r, int count) {
    for (int i = 1; i < count; ++i) {
        for (int k = i; k > 0 && r[k - 1] > r[k]; --k) {
            double t = r[k];
            r[k] = r[k - 1];
            r[k - 1] = t;
        }
    }
}

static double random_real(Rng* rng, double decades) {
    double sign = rng_below(rng, 2) == 0 ? -1.0 : 1.0;
    return sign * pow(10.0, rng_range(rng, -decades, decades));
}

TEST(no_roots_and_all_roots) {
    double roots[4];
    CHECK_INT(tdl_roots_quartic((double[]){0, 0, 0, 0, 0}, roots), TDL_ROOTS_ALL);
    CHECK_INT(tdl_roots_quartic((double[]){3, 0, 0, 0, 0}, roots), 0);
    CHECK_INT(tdl_roots_quadratic((double[]){1, 0, 1}, roots), 0);
    CHECK_INT(tdl_roots_quartic((double[]){1, 0, 2, 0, 1}, roots), 0);
    CHECK_INT(tdl_roots_cubic((double[]){NAN, 1, 1, 1}, roots), 0);
    CHECK_INT(tdl_roots_cubic((double[]){1, 1, INFINITY, 1}, roots), 0);
}

TEST(roots_at_zero_appear_once) {
    double roots[4];
    CHECK_INT(tdl_roots_quartic((double[]){0, 0, 0, 0, 5}, roots), 1);
    CHECK(roots[0] == 0.0);
    CHECK_INT(tdl_roots_quartic((double[]){0, 0, -1, 0, 1}, roots), 3);
    CHECK(roots[0] == -1.0 && roots[1] == 0.0 && roots[2] == 1.0);
    CHECK_INT(tdl_roots_cubic((double[]){0, -6, 1, 1}, roots), 3);
    CHECK_NEAR(roots[0], -3.0, 4 * EPS);
    CHECK(roots[1] == 0.0);
    CHECK_NEAR(roots[2], 2.0, 4 * EPS);
    CHECK_INT(tdl_roots_quadratic((double[]){0, 2, 0}, roots), 1);
}

TEST(exact_multiple_roots) {
    for (int m = 1; m <= 4; ++m) {
        for (int degree = m < 2 ? 2 : m; degree <= 4; ++degree) {
            for (int k = -20; k <= 20; ++k) {
                double center = k * 0.7183, r[4] = {center, center, center, center};
                for (int i = m; i < degree; ++i) {
                    r[i] = center + 3.1 * (i - m + 1);
                }
                double a[5], roots[4];
                expand(1.7, r, degree, NULL, NULL, 0, a);
                int count = roots_of(degree, a, roots);
                check_sorted_and_exact(degree, a, roots, count);
                CHECK(count >= degree - m + 1);
                double nearest = INFINITY;
                for (int i = 0; i < count; ++i) {
                    nearest = fmin(nearest, fabs(roots[i] - center));
                }
                // eps^(1/m), with the conditioning of the neighbours (at most 10 for each)
                double scale = 1.0 + fabs(center);
                CHECK_BELOW(nearest, scale * pow(2000.0 * EPS, 1.0 / m));
            }
        }
    }
}

// Clusters of m roots `gap` apart: found one by one when the gap is well above eps^(1/m); in any
// case every true root has a computed one within the attainable distance.
TEST(clusters) {
    Rng rng = rng_seed(1);
    double worst = 0.0;
    for (int trial = 0; trial < 30000; ++trial) {
        int m = 2 + rng_below(&rng, 3);
        int degree = m + rng_below(&rng, 5 - m);
        double gap = pow(10.0, rng_range(&rng, -12.0, -3.0)), r[4], a[5], roots[4];
        double center = rng_range(&rng, 0.5, 2.0);
        for (int i = 0; i < m; ++i) {
            r[i] = center + gap * i;
        }
        for (int i = m; i < degree; ++i) {
            r[i] = center - 1.0 - 1.5 * (i - m);
        }
        expand(random_real(&rng, 3.0), r, degree, NULL, NULL, 0, a);
        int count = roots_of(degree, a, roots);
        check_sorted_and_exact(degree, a, roots, count);
        double attainable = pow(EPS, 1.0 / m);
        for (int i = 0; i < degree; ++i) {
            double nearest = INFINITY;
            for (int k = 0; k < count; ++k) {
                nearest = fmin(nearest, fabs(roots[k] - r[i]));
            }
            worst = fmax(worst, i < m ? nearest / (attainable * center) : 0.0);
            CHECK_BELOW(nearest, i < m ? 20.0 * attainable : 1.0e-11);
        }
        if (gap > 100.0 * attainable) {
            CHECK_INT(count, degree);
        }
    }
    printf("  worst distance of a clustered root: %.2f eps^(1/m)\n", worst);
}

TEST(well_separated_roots_of_every_kind) {
    Rng rng = rng_seed(2);
    double worst = 0.0;
    for (int trial = 0; trial < 60000; ++trial) {
        int degree = 2 + rng_below(&rng, 3), pairs = rng_below(&rng, degree / 2 + 1);
        int real = degree - 2 * pairs;
        double scale = random_real(&rng, 60.0), r[4], u[2], v[2], a[5], roots[4];
        bool apart = true;
        for (int i = 0; i < real; ++i) {
            r[i] = scale * rng_range(&rng, -1.0, 1.0);
            for (int k = 0; k < i; ++k) {
                apart = apart && fabs(r[i] - r[k]) > 0.01 * fabs(scale);
            }
        }
        for (int i = 0; i < pairs; ++i) {
            u[i] = scale * rng_range(&rng, -1.0, 1.0);
            v[i] = scale * rng_range(&rng, 0.05, 1.0);
        }
        expand(random_real(&rng, 30.0), r, real, u, v, pairs, a);
        sort(r, real);
        int count = roots_of(degree, a, roots);
        check_sorted_and_exact(degree, a, roots, count);
        if (!apart) {
            continue;
        }
        CHECK_INT(count, real);
        for (int i = 0; i < real && count == real; ++i) {
            worst = fmax(worst, fabs(roots[i] - r[i]) / fabs(scale));
        }
    }
    printf("  worst error relative to the scale of the roots: %.3g\n", worst);
    CHECK_BELOW(worst, 1.0e-9); // roots 0.01 apart: conditioning up to 0.01^-3, times 10 eps
}

TEST(roots_of_very_different_scales) {
    Rng rng = rng_seed(3);
    for (int trial = 0; trial < 20000; ++trial) {
        int degree = 2 + rng_below(&rng, 3);
        double r[4], a[5], roots[4];
        for (int i = 0; i < degree; ++i) {
            r[i] = random_real(&rng, 40.0);
        }
        sort(r, degree);
        bool apart = true;
        for (int i = 1; i < degree; ++i) {
            apart = apart && fabs(r[i] - r[i - 1]) > 0.1 * fabs(r[i]);
        }
        expand(random_real(&rng, 20.0), r, degree, NULL, NULL, 0, a);
        int count = roots_of(degree, a, roots);
        check_sorted_and_exact(degree, a, roots, count);
        if (apart) {
            CHECK_INT(count, degree);
            for (int i = 0; i < degree && count == degree; ++i) {
                CHECK_NEAR(roots[i] / r[i], 1.0, 1.0e-12); // conditioning up to 1e3
            }
        }
    }
}

TEST(random_coefficients_of_wild_scales) {
    Rng rng = rng_seed(4);
    for (int trial = 0; trial < 60000; ++trial) {
        int degree = 2 + rng_below(&rng, 3);
        double a[5], roots[4];
        for (int i = 0; i <= degree; ++i) {
            a[i] = rng_below(&rng, 6) == 0 ? 0.0 : random_real(&rng, trial % 2 == 0 ? 1.0 : 100.0);
        }
        int count = roots_of(degree, a, roots);
        check_sorted_and_exact(degree, a, roots, count);
        // the parity: an odd number of sign changes over the line, unless a root touches
        if (degree == 3 && a[3] != 0.0) {
            CHECK(count >= 1);
        }
        if (degree % 2 == 0 && a[degree] * (a[0] < 0.0 ? -1.0 : a[0] > 0.0) < 0.0) {
            CHECK(count >= 2);
        }
    }
}

// A leading coefficient that fades away: the other roots stay, the lost one goes to infinity.
TEST(vanishing_leading_coefficients) {
    double r[3] = {-2.0, 0.5, 3.0}, a[5], roots[4];
    expand(1.0, r, 3, NULL, NULL, 0, a);
    for (double lead = 1.0e-4; lead >= 0.0; lead = lead < 1.0e-320 ? lead - 1.0 : lead * 1.0e-4) {
        // p = cubic * (1 - lead x)
        double b[5] = {a[0], a[1] - lead * a[0], a[2] - lead * a[1], a[3] - lead * a[2], -lead};
        int count = tdl_roots_quartic(b, roots);
        bool far_is_finite = lead > 0.0 && isfinite(1.0 / lead);
        CHECK_INT(count, far_is_finite ? 4 : 3);
        for (int i = 0; i < 3 && count >= 3; ++i) {
            CHECK_NEAR(roots[i], r[i], 1.0e-14);
        }
        if (far_is_finite && lead > 1.0e-300) {
            CHECK_NEAR(roots[3] * lead, 1.0, 1.0e-12);
        }
    }
    CHECK_INT(tdl_roots_quadratic((double[]){-1.0, 1.0e-8, 0.0}, roots), 1);
    CHECK_NEAR(roots[0] * 1.0e-8, 1.0, 2 * EPS);
}

TEST(quadratics_lose_no_digits) {
    double roots[2];
    // x^2 - 2e8 x + 1: the small root by the naive formula has no digits
    CHECK_INT(tdl_roots_quadratic((double[]){1.0, -2.0e8, 1.0}, roots), 2);
    CHECK_NEAR(roots[0] / 5.0000000000000001e-9, 1.0, 2 * EPS);
    // discriminant 1 of terms near 2^104: needs the exact product
    double b = 0x1p52 + 1.0, c = 0x1p52 * (0x1p52 + 2.0); // (x - 2^52)(x - 2^52 - 2)
    CHECK_INT(tdl_roots_quadratic((double[]){c, -2.0 * b, 1.0}, roots), 2);
    CHECK_NEAR(roots[0], 0x1p52, 1.0);
    CHECK_NEAR(roots[1], 0x1p52 + 2.0, 1.0);
    // extremes of the range
    CHECK_INT(tdl_roots_quadratic((double[]){-1.0e300, 0.0, 1.0e-300}, roots), 2);
    CHECK_NEAR(roots[1] / 1.0e300, 1.0, 4 * EPS);
    CHECK_INT(tdl_roots_quadratic((double[]){1.0e308, 1.5e308, 1.0e307}, roots), 2);
    CHECK_BELOW(backward_error(2, (double[]){1.0, 1.5, 0.1}, roots[0]), 4 * EPS);
}
