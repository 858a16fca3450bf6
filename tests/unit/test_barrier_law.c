// The barrier and its friction: derivatives by differences, ends of the ranges.
#include "test.h"
#include "world/barrier_law.h"

static const double D = 2.0e-4; // m
static const double FLOOR = 1.0e-3 * 2.0e-4;

static double value(double g) {
    return barrier_term(g, D, FLOOR).value;
}

static double first(double g) {
    return barrier_term(g, D, FLOOR).first;
}

static double potential(double speed) {
    return creep_term(speed, 1.0e-3).potential;
}

static double f1(double speed) {
    return creep_term(speed, 1.0e-3).f1;
}

// Central differences at three steps, each half the one before, are wrong by a quarter each time.
static void check_derivative(double (*f)(double), double at, double step, double derivative,
                             double scale) {
    double error[3];
    for (int i = 0; i < 3; ++i, step *= 0.5) {
        error[i] = fabs((f(at + step) - f(at - step)) / (2.0 * step) - derivative);
    }
    bool exact = error[0] < 1.0e-9 * scale; // a parabola: only rounding is left
    for (int i = 0; i < 2 && !exact; ++i) {
        double order = log2(error[i] / error[i + 1]);
        if (!(order > 1.8 && order < 2.2)) {
            FAIL("at %g: errors %.3g %.3g, order %.3f", at, error[i], error[i + 1], order);
        }
    }
    CHECK_BELOW(error[2], 1.0e-2 * scale);
}

TEST(the_barrier_has_its_derivatives) {
    const double shares[] = {0.999, 0.9, 0.5, 0.1, 0.01, 2.0e-3, 5.0e-4, -0.1};
    for (int i = 0; i < 8; ++i) {
        double g = shares[i] * D;
        double step = 0.02 * fmin(fabs(g - FLOOR), D - g); // on one side of either end
        BarrierTerm b = barrier_term(g, D, FLOOR);
        check_derivative(value, g, step, b.first, fabs(b.first));
        check_derivative(first, g, step, b.second, fabs(b.second));
        CHECK(b.value > 0.0 && b.first < 0.0 && b.second > 0.0);
    }
}

// As in the formula, worked out in long double.
TEST(the_barrier_is_as_written) {
    for (int i = 1; i < 1000; ++i) {
        long double g = (long double)D * i / 1000, away = g - (long double)D;
        BarrierTerm b = barrier_term((double)g, D, 1.0e-6 * D);
        double expected = (double)(-away * away * logl(g / (long double)D));
        CHECK_NEAR(b.value, expected, 1.0e-12 * expected); // log of a share near 1: digits of g
    }
}

TEST(the_barrier_ends_smoothly) {
    BarrierTerm beyond = barrier_term(D, D, FLOOR), inside = barrier_term(D * (1 - 1e-9), D, FLOOR);
    CHECK(beyond.value == 0.0 && beyond.first == 0.0 && beyond.second == 0.0);
    CHECK_BELOW(fabs(inside.value), 1.0e-20 * D * D); // third order in what is left
    CHECK_BELOW(fabs(inside.first), 1.0e-15 * D);
    CHECK_BELOW(fabs(inside.second), 1.0e-8);
    // and without bound as it closes; a gap of the floor is on both sides of it
    CHECK(barrier_term(1.0e-9 * D, D, 1.0e-12 * D).first < -0.9e9 * D);
    BarrierTerm above = barrier_term(FLOOR, D, FLOOR);
    BarrierTerm below = barrier_term(FLOOR * (1.0 - 1.0e-13), D, FLOOR);
    CHECK_NEAR(below.value, above.value, 1.0e-11 * above.value);
    CHECK_NEAR(below.first, above.first, 1.0e-11 * fabs(above.first));
    CHECK_NEAR(below.second, above.second, 1.0e-11 * above.second);
}

TEST(friction_has_its_derivatives_and_is_whole_from_the_creep_on) {
    const double speeds[] = {1.0e-5, 3.0e-4, 9.0e-4, 1.5e-3, 0.1};
    for (int i = 0; i < 5; ++i) {
        double step = 0.02 * fmin(speeds[i], fabs(1.0e-3 - speeds[i]));
        CreepTerm c = creep_term(speeds[i], 1.0e-3);
        CHECK_NEAR(c.over_speed * speeds[i], c.f1, 1.0e-15);
        check_derivative(potential, speeds[i], step, c.f1, 1.0);
        check_derivative(f1, speeds[i], step, c.first, 1.0e3);
    }
    CHECK(creep_term(0.0, 1.0e-3).f1 == 0.0);
    CHECK_NEAR(creep_term(0.0, 1.0e-3).over_speed, 2.0e3, 1.0e-9);
    CHECK(creep_term(1.0e-3, 1.0e-3).f1 == 1.0 && creep_term(7.0, 1.0e-3).f1 == 1.0);
    CHECK_NEAR(creep_term(1.0e-3, 1.0e-3).potential, 2.0e-3 / 3.0, 1.0e-18);
}
