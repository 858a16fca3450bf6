// The exact shape of a heavy cantilever: a planar elastica, clamped along x, under its own weight.
#ifndef TDL_TEST_ELASTICA_H
#define TDL_TEST_ELASTICA_H

#include "tendril/math.h"

// With lengths in units of L: theta'' = weight (1 - s) cos theta, theta(0) = 0, theta'(1) = 0,
// where weight = w L^3 / EI. Returns theta'(1) for a slope at the start, by RK4.
static inline double elastica_shoot(double weight, double slope, double* x, double* z) {
    enum { STEPS = 4000 };
    double h = 1.0 / STEPS, y[4] = {0.0, slope, 0.0, 0.0};
    for (int i = 0; i < STEPS; ++i) {
        double k[4][4], s = i * h;
        for (int j = 0; j < 4; ++j) {
            double c = j == 0 ? 0.0 : j == 3 ? h : 0.5 * h, t[4];
            for (int m = 0; m < 4; ++m) {
                t[m] = y[m] + (j == 0 ? 0.0 : c * k[j - 1][m]);
            }
            k[j][0] = t[1];
            k[j][1] = weight * (1.0 - s - c) * cos(t[0]);
            k[j][2] = cos(t[0]);
            k[j][3] = sin(t[0]);
        }
        for (int m = 0; m < 4; ++m) {
            y[m] += h / 6.0 * (k[0][m] + 2.0 * k[1][m] + 2.0 * k[2][m] + k[3][m]);
        }
    }
    *x = y[2];
    *z = y[3];
    return y[1];
}

static inline TdlVec3 elastica_tip(double weight, double length) {
    double low = -weight, high = 0.0, x, z; // theta'(1) grows with the slope at the start
    for (int k = 0; k < 100; ++k) {
        double middle = 0.5 * (low + high);
        *(elastica_shoot(weight, middle, &x, &z) > 0.0 ? &high : &low) = middle;
    }
    return (TdlVec3){x * length, 0.0, z * length};
}

#endif
