// The three-point bending test by shooting: the slow and obvious way, with forces and arc length.
#ifndef TDL_TEST_THREE_POINT_REF_H
#define TDL_TEST_THREE_POINT_REF_H

#include "experiment/three_point.h"

#include <math.h>
#include <string.h>

// What is guessed: the curvature at the clamp, the force on the rod over the bending stiffness, and
// the arc length to the contact; all with lengths in spans.
enum { SHOT_CURVATURE, SHOT_FX, SHOT_FY, SHOT_LENGTH, SHOT_COUNT };

typedef struct Shot {
    double theta, kappa, x, y; // at the contact
} Shot;

static inline void shot_slope(const double* guess, const double y[4], double slope[4]) {
    slope[0] = y[1];
    slope[1] = -(cos(y[0]) * guess[SHOT_FY] - sin(y[0]) * guess[SHOT_FX]); // moments balance
    slope[2] = cos(y[0]);
    slope[3] = sin(y[0]);
}

// Integrates from the clamp by RK4.
static inline Shot shoot(const double* guess) {
    enum { STEPS = 400 };
    double h = guess[SHOT_LENGTH] / STEPS, y[4] = {0.0, guess[SHOT_CURVATURE], 0.0, 0.0};
    for (int i = 0; i < STEPS; ++i) {
        double k[4][4], t[4];
        shot_slope(guess, y, k[0]);
        for (int j = 1; j < 4; ++j) {
            for (int m = 0; m < 4; ++m) {
                t[m] = y[m] + (j == 3 ? h : 0.5 * h) * k[j - 1][m];
            }
            shot_slope(guess, t, k[j]);
        }
        for (int m = 0; m < 4; ++m) {
            y[m] += h / 6.0 * (k[0][m] + 2.0 * k[1][m] + 2.0 * k[2][m] + k[3][m]);
        }
    }
    return (Shot){y[0], y[1], y[2], y[3]};
}

// How far the rod is from touching the disc, from bending as it should at the contact, and from
// the friction cone's edge.
static inline void shot_residual(const TdlThreePointDef* def, double height, const double* guess,
                                 double residual[SHOT_COUNT]) {
    Shot end = shoot(guess);
    double d = (def->rod_radius + def->support_radius) / def->span;
    double normal_x = -sin(end.theta), normal_y = cos(end.theta);
    double normal = guess[SHOT_FX] * normal_x + guess[SHOT_FY] * normal_y;
    double along = guess[SHOT_FX] * normal_y - guess[SHOT_FY] * normal_x;
    double couple = def->surface_friction ? def->rod_radius / def->span * along : 0.0;
    residual[0] = end.x - (0.5 + d * normal_x);
    residual[1] = end.y - (height + d * normal_y);
    residual[2] = end.kappa - def->natural_curvature * def->span - couple;
    residual[3] = along - def->mu * normal; // the rod is drawn inwards over the disc
}

// Gauss elimination with row exchange; a is column-major and lost.
static inline void shot_linear_solve(double* a, double* b) {
    enum { N = SHOT_COUNT };
    for (int j = 0; j < N; ++j) {
        int pivot = j;
        for (int i = j + 1; i < N; ++i) {
            pivot = fabs(a[j * N + i]) > fabs(a[j * N + pivot]) ? i : pivot;
        }
        for (int c = 0; c <= N; ++c) {
            double* column = c == N ? b : a + c * N;
            double kept = column[j];
            column[j] = column[pivot];
            column[pivot] = kept;
        }
        for (int i = j + 1; i < N; ++i) {
            double factor = a[j * N + i] / a[j * N + j];
            for (int c = j; c < N; ++c) {
                a[c * N + i] -= factor * a[c * N + j];
            }
            b[i] -= factor * b[j];
        }
    }
    for (int j = N - 1; j >= 0; --j) {
        b[j] /= a[j * N + j];
        for (int i = 0; i < j; ++i) {
            b[i] -= a[j * N + i] * b[j];
        }
    }
}

// Solves by Newton with differences, stepping up from first contact. False when it fails.
static inline bool shot_solve(const TdlThreePointDef* def, double indentation, int steps,
                              TdlThreePoint* out) {
    double k = def->natural_curvature * def->span;
    double d = (def->rod_radius + def->support_radius) / def->span;
    double first_angle = asin(0.5 * k / (1.0 + k * d));
    double first_height = k > 0.0 ? 1.0 / k - (1.0 / k + d) * cos(first_angle) : -d;
    double guess[SHOT_COUNT] = {k, 0.0, 0.0, k > 0.0 ? first_angle / k : 0.5};
    double residual[SHOT_COUNT], size = INFINITY;
    for (int step = 1; step <= steps; ++step) {
        double height = first_height + indentation / def->span * step / steps;
        for (int iteration = 0; iteration < 30; ++iteration) {
            double a[SHOT_COUNT * SHOT_COUNT], right[SHOT_COUNT];
            shot_residual(def, height, guess, residual);
            size = 0.0;
            for (int j = 0; j < SHOT_COUNT; ++j) {
                size = fmax(size, fabs(residual[j]));
                double moved[SHOT_COUNT], up[SHOT_COUNT], down[SHOT_COUNT];
                double h = 1.0e-5 * fmax(1.0, fabs(guess[j]));
                memcpy(moved, guess, sizeof moved);
                moved[j] = guess[j] + h;
                shot_residual(def, height, moved, up);
                moved[j] = guess[j] - h;
                shot_residual(def, height, moved, down);
                for (int i = 0; i < SHOT_COUNT; ++i) {
                    a[j * SHOT_COUNT + i] = (up[i] - down[i]) / (2.0 * h);
                }
            }
            if (size < 1.0e-12) {
                break;
            }
            memcpy(right, residual, sizeof right);
            shot_linear_solve(a, right);
            for (int j = 0; j < SHOT_COUNT; ++j) {
                guess[j] -= right[j];
            }
        }
    }
    Shot end = shoot(guess);
    *out = (TdlThreePoint){.indentation = indentation,
                           .force = 2.0 * guess[SHOT_FY] * def->bending / (def->span * def->span),
                           .angle = end.theta,
                           .arc_length = guess[SHOT_LENGTH] * def->span,
                           .middle_curve = guess[SHOT_CURVATURE] / def->span};
    return size < 1.0e-11;
}

#endif
