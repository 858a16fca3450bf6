// The short helix with given ends: limits first, then known helices found again, whose ends are
// integrated here, and the fast way against bisection in extended precision.
#include "base/rng.h"
#include "math/gauss.h"
#include "math/rotation.h"
#include "tendril/inverse.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

static TdlVec3 random_unit(Rng* rng) {
    return tdl_unit3((TdlVec3){rng_normal(rng), rng_normal(rng), rng_normal(rng)});
}

// The end of a helix of length 1: the integral of its tangent, by Gauss points in `panels` parts.
static TdlVec3 integrate(TdlVec3 turn, TdlVec3 t0, int panels) {
    TdlVec3 sum = {0};
    for (int p = 0; p < panels; ++p) {
        for (int g = 0; g < GAUSS12_COUNT; ++g) {
            double s = (p + GAUSS12_POINT[g]) / panels;
            TdlVec3 t = tdl_mul33_3(tdl_rotation_exp(tdl_scale3(s, turn)), t0);
            sum = tdl_axpy3(sum, GAUSS12_WEIGHT[g] / panels, t);
        }
    }
    return sum;
}

static double distance(TdlVec3 a, TdlVec3 b) {
    return tdl_norm3(tdl_sub3(a, b));
}

// How far the ends of the helix told are from those asked for, over its length and 1.
static double ends_miss(TdlShortHelix helix, TdlVec3 d, TdlVec3 t0, TdlVec3 t1) {
    TdlVec3 end = tdl_scale3(helix.length, integrate(helix.turn, t0, 2));
    TdlVec3 tangent = tdl_mul33_3(tdl_rotation_exp(helix.turn), t0);
    return fmax(distance(end, d) / helix.length, distance(tangent, t1));
}

TEST(limits) {
    TdlVec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1}, back = {-1, 0, 0};
    // straight: exact; beside itself, backwards or nowhere: nothing
    TdlShortHelix helix = tdl_helix_between((TdlVec3){3, 0, 0}, x, x);
    CHECK(helix.converged);
    CHECK_NEAR3(helix.turn, ((TdlVec3){0}), 0.0);
    CHECK_NEAR(helix.length, 3.0, 0.0);
    CHECK(!tdl_helix_between((TdlVec3){3, 1, 0}, x, x).converged);
    CHECK(!tdl_helix_between((TdlVec3){-3, 0, 0}, x, x).converged);
    CHECK(!tdl_helix_between((TdlVec3){0, 0, 0}, x, x).converged);
    CHECK(!tdl_helix_between((TdlVec3){0, 0, 0}, x, y).converged);
    // half a circle, in every plane
    for (int i = 0; i < 16; ++i) {
        TdlVec3 d = {0, cos(0.4 * i), sin(0.4 * i)};
        helix = tdl_helix_between(d, x, back);
        CHECK(helix.converged);
        CHECK_NEAR(helix.length, 0.5 * PI, 4.0e-16);
        CHECK_NEAR3(helix.turn, tdl_scale3(PI, tdl_cross3(x, d)), 1.0e-15); // two roundings of pi
    }
    // a quarter, and three quarters
    helix = tdl_helix_between((TdlVec3){1, 1, 0}, x, y);
    CHECK(helix.converged);
    CHECK_NEAR3(helix.turn, tdl_scale3(0.5 * PI, z), 1.0e-15);
    CHECK_NEAR(helix.length, 0.5 * PI, 1.0e-15);
    helix = tdl_helix_between((TdlVec3){-1, -1, 0}, x, y);
    CHECK(helix.converged);
    CHECK_NEAR3(helix.turn, tdl_scale3(-1.5 * PI, z), 4.0e-15);
    CHECK_NEAR(helix.length, 1.5 * PI, 4.0e-15);
    // what is not asked for along t1 - t0 is told
    helix = tdl_helix_between((TdlVec3){1.5, 0.5, 0}, x, y);
    CHECK_NEAR(helix.miss, sqrt(0.5), 1.0e-15);
    CHECK_NEAR3(helix.turn, tdl_scale3(0.5 * PI, z), 1.0e-15);
    // nor is the length of the tangents
    helix = tdl_helix_between((TdlVec3){1, 1, 0}, tdl_scale3(7.0, x), tdl_scale3(1.0e-3, y));
    CHECK_NEAR3(helix.turn, tdl_scale3(0.5 * PI, z), 1.0e-15);
    // what is no input
    TdlVec3 bad = {NAN, 0, 0}, far = {INFINITY, 0, 0}, none = {0};
    CHECK(!tdl_helix_between(bad, x, y).converged);
    CHECK(!tdl_helix_between(far, x, y).converged);
    CHECK(!tdl_helix_between(x, bad, y).converged);
    CHECK(!tdl_helix_between(x, x, none).converged);
    CHECK_NEAR3(tdl_helix_between(x, x, bad).turn, none, 0.0);
}

// The Show of it: any rotation below 2 pi about any axis, and any size. Half the difference k of
// the tangents is what the rotation is read from, so that its error is that of the ends over k.
TEST(random_helices_are_found_again) {
    Rng rng = rng_seed(11);
    double worst = 0.0, worst_ends = 0.0, worst_scaled = 0.0, worst_length = 0.0;
    int wide = 0;
    for (int trial = 0; trial < 200000; ++trial) {
        double angle = rng_range(&rng, 0.0, 0.99 * 2.0 * PI), l = exp(rng_range(&rng, -7.0, 7.0));
        TdlVec3 turn = tdl_scale3(angle, random_unit(&rng)), t0 = random_unit(&rng);
        TdlVec3 d = tdl_scale3(l, tdl_mul33_3(tdl_left_jacobian(turn), t0));
        TdlVec3 t1 = tdl_mul33_3(tdl_rotation_exp(turn), t0);
        TdlShortHelix helix = tdl_helix_between(d, t0, t1);
        double k = 0.5 * distance(t0, t1), off = distance(helix.turn, turn);
        CHECK(helix.converged);
        CHECK_BELOW(helix.miss / l, 1.0e-13 + 1.0e-15 / k);
        wide += k > 1.0e-3;
        worst = fmax(worst, k > 1.0e-3 ? off : 0.0);
        worst_scaled = fmax(worst_scaled, k * off);
        worst_length = fmax(worst_length, k * fabs(helix.length / l - 1.0));
        if (trial % 8 == 0) {
            worst_ends = fmax(worst_ends, ends_miss(helix, d, t0, t1));
        }
    }
    printf("  turn off by %.1e (%d with k > 1e-3), k times it %.1e, k times the length's %.1e\n",
           worst, wide, worst_scaled, worst_length);
    printf("  ends off by %.1e\n", worst_ends);
    CHECK_BELOW(worst, 1.0e-11);
    CHECK_BELOW(worst_scaled, 2.0e-14); // some tens of roundings
    CHECK_BELOW(worst_length, 2.0e-14);
    CHECK_BELOW(worst_ends, 1.0e-13); // the quadrature's own roundings among them
}

// The root of (V.4) by bisection of the axis' angle, in extended precision. Half the angle.
static long double bisected(long double h, long double k, long double d2, long double d3,
                            long double* beta) {
    long double low = 0.0L, high = 3.14159265358979323846264L;
    for (int i = 0; i < 120; ++i) {
        *beta = 0.5L * (low + high);
        long double s = sinl(*beta), c = cosl(*beta), phi = atan2l(k, h * c);
        long double y2 = h * s * s + c * k / phi, y3 = s * (k / phi - h * c);
        *(d3 * y2 - d2 * y3 > 0.0L ? &low : &high) = *beta;
    }
    return atan2l(k, h * cosl(*beta));
}

// Every pair of a tangents' angle and a direction of d, from tiny to nearly pi: both ways of the
// code, and where they meet.
TEST(corners_agree_with_bisection) {
    Rng rng = rng_seed(12);
    double worst = 0.0;
    for (int trial = 0; trial < 20000; ++trial) {
        // half the angle of the tangents, and of d, near 0, near their largest, or anywhere
        int kind = trial % 9;
        double tiny = exp(rng_range(&rng, -16.0, 0.0)), wide = exp(rng_range(&rng, -16.0, 0.0));
        double half = kind / 3 == 0 ? tiny : kind / 3 == 1 ? 0.5 * PI - tiny : 1.5 * rng_unit(&rng);
        double k = sin(half), h = kind / 3 == 1 ? sin(tiny) : cos(half);
        double delta = kind % 3 == 0 ? wide * k : kind % 3 == 1 ? PI - wide : PI * rng_unit(&rng);
        if (h <= 0.0 || k <= 1.0e-9) {
            continue;
        }
        TdlVec3 t0 = {-k, h, 0}, t1 = {k, h, 0}, d = {0, cos(delta), sin(delta)};
        TdlShortHelix helix = tdl_helix_between(d, t0, t1);
        long double beta, phi = bisected(h, k, d.y, d.z, &beta);
        TdlVec3 turn = {0, (double)(2.0L * phi * sinl(beta)), (double)(-2.0L * phi * cosl(beta))};
        CHECK(helix.converged);
        worst = fmax(worst, k * distance(helix.turn, turn));
        CHECK_BELOW(k * distance(helix.turn, turn), 1.0e-14);
        CHECK_BELOW(ends_miss(helix, d, t0, t1), 1.0e-13);
        // the mirror image turns the other way about e2
        d.z = -d.z;
        turn.y = -turn.y;
        CHECK_BELOW(k * distance(tdl_helix_between(d, t0, t1).turn, turn), 1.0e-14);
    }
    printf("  k times the turn off by %.1e\n", worst);
}
