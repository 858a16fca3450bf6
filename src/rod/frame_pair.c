// Strains of two frames g0, g1 through Q = g0* g1. Q is linear in each, so chain rules are short,
// and all strains are homogeneous of degree zero in Q, so no frame needs unit length.
#include "rod/frame_pair.h"

#include <string.h>

// --- laws -----------------------------------------------------------------------------------

// m = 2 atan2(x, w), kappa = 2 (y, z) / sqrt(w^2 + x^2). (D.4)
static void binormal_value(Quat q, double strain[3], Quat slope[3]) {
    double square = q.w * q.w + q.x * q.x, r = sqrt(square), c = 2.0 / (square * r);
    strain[0] = 2.0 * atan2(q.x, q.w);
    strain[1] = 2.0 * q.y / r;
    strain[2] = 2.0 * q.z / r;
    slope[0] = (Quat){-2.0 * q.x / square, 2.0 * q.w / square, 0.0, 0.0};
    slope[1] = (Quat){-c * q.y * q.w, -c * q.y * q.x, 2.0 / r, 0.0};
    slope[2] = (Quat){-c * q.z * q.w, -c * q.z * q.x, 0.0, 2.0 / r};
}

static void binormal_second(Quat q, const double force[3], double out[4][4]) {
    double square = q.w * q.w + q.x * q.x, r = sqrt(square);
    double c3 = 2.0 / (square * r), c5 = 3.0 * c3 / square;
    double bend = force[1] * q.y + force[2] * q.z, twist = 2.0 * force[0] / (square * square);
    memset(out, 0, 16 * sizeof(double));
    out[0][0] = 2.0 * twist * q.x * q.w + bend * (c5 * q.w * q.w - c3);
    out[1][1] = -2.0 * twist * q.x * q.w + bend * (c5 * q.x * q.x - c3);
    out[0][1] = twist * (q.x * q.x - q.w * q.w) + bend * c5 * q.w * q.x;
    for (int k = 0; k < 2; ++k) {
        out[0][2 + k] = -c3 * q.w * force[1 + k];
        out[1][2 + k] = -c3 * q.x * force[1 + k];
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < i; ++j) {
            out[i][j] = out[j][i];
        }
    }
}

const StrainLaw BINORMAL_LAW = {binormal_value, binormal_second};

// s = 4 (x, y, z) / b with b = |Q| + w. (Q.3)
static void difference_value(Quat q, double strain[3], Quat slope[3]) {
    double r = sqrt(quat_dot(q, q)), b = r + q.w, v[3] = {q.x, q.y, q.z};
    Quat growth = quat_scale(1.0 / r, q); // derivative of b
    growth.w += 1.0;
    const Quat unit[3] = {{0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int k = 0; k < 3; ++k) {
        strain[k] = 4.0 * v[k] / b;
        slope[k] = quat_axpy(quat_scale(4.0 / b, unit[k]), -strain[k] / b, growth);
    }
}

static void difference_second(Quat q, const double force[3], double out[4][4]) {
    double r = sqrt(quat_dot(q, q)), b = r + q.w, Q[4] = {q.w, q.x, q.y, q.z};
    double f[4] = {0.0, force[0], force[1], force[2]}, growth[4];
    double along = f[1] * q.x + f[2] * q.y + f[3] * q.z;
    for (int i = 0; i < 4; ++i) {
        growth[i] = Q[i] / r + (i == 0 ? 1.0 : 0.0);
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            double curve = ((i == j ? 1.0 : 0.0) - Q[i] * Q[j] / (r * r)) / r;
            out[i][j] = 4.0 / (b * b) *
                        (-f[i] * growth[j] - growth[i] * f[j] - along * curve +
                         2.0 * along * growth[i] * growth[j] / b);
        }
    }
}

const StrainLaw DIFFERENCE_LAW = {difference_value, difference_second};

// --- chain rule -----------------------------------------------------------------------------

// Derivatives by the coordinates of one side of a strain whose derivative by its quaternion is mu.
static void pull_back(const FrameSide* side, Quat mu, double out[FRAME_DOFS]) {
    for (int c = 0; c < FRAME_DOFS; ++c) {
        out[c] = side->fixed ? 0.0 : quat_dot(side->slope[c], mu);
    }
}

void frame_pair_strain(const StrainLaw* law, const FrameSide* a, const FrameSide* b,
                       double strain[3], double slope[3][PAIR_DOFS]) {
    Quat by_between[3];
    law->value(quat_mul(quat_conj(a->g), b->g), strain, by_between);
    for (int k = 0; k < 3; ++k) {
        pull_back(a, quat_mul(b->g, quat_conj(by_between[k])), slope[k]);
        pull_back(b, quat_mul(a->g, by_between[k]), slope[k] + FRAME_DOFS);
    }
}

static void store_column(double out[PAIR_DOFS][4], int c, Quat q) {
    quat_store(out[c], q);
}

void frame_pair_second(const StrainLaw* law, const FrameSide* a, const FrameSide* b,
                       const double force[3], double out[PAIR_DOFS][PAIR_DOFS], Quat mu[2]) {
    Quat between = quat_mul(quat_conj(a->g), b->g), by_between[3], sum = {0};
    double strain[3], second[4][4], rate[PAIR_DOFS][4] = {{0}}, half[PAIR_DOFS][4];
    law->value(between, strain, by_between);
    law->second(between, force, second);
    for (int k = 0; k < 3; ++k) {
        sum = quat_axpy(sum, force[k], by_between[k]);
    }
    mu[0] = quat_mul(b->g, quat_conj(sum));
    mu[1] = quat_mul(a->g, sum);

    // change of Q for each coordinate, and second times it
    for (int c = 0; c < FRAME_DOFS; ++c) {
        if (!a->fixed) {
            store_column(rate, c, quat_mul(quat_conj(a->slope[c]), b->g));
        }
        if (!b->fixed) {
            store_column(rate, FRAME_DOFS + c, quat_mul(quat_conj(a->g), b->slope[c]));
        }
    }
    for (int i = 0; i < PAIR_DOFS; ++i) {
        for (int r = 0; r < 4; ++r) {
            half[i][r] = second[r][0] * rate[i][0] + second[r][1] * rate[i][1] +
                         second[r][2] * rate[i][2] + second[r][3] * rate[i][3];
        }
    }
    for (int i = 0; i < PAIR_DOFS; ++i) {
        for (int j = 0; j <= i; ++j) {
            out[i][j] = out[j][i] = half[i][0] * rate[j][0] + half[i][1] * rate[j][1] +
                                    half[i][2] * rate[j][2] + half[i][3] * rate[j][3];
        }
    }

    // both frames change at once
    for (int d = 0; d < FRAME_DOFS && !a->fixed && !b->fixed; ++d) {
        Quat seen = quat_mul(b->slope[d], quat_conj(sum));
        for (int c = 0; c < FRAME_DOFS; ++c) {
            double cross = quat_dot(a->slope[c], seen);
            out[c][FRAME_DOFS + d] += cross;
            out[FRAME_DOFS + d][c] += cross;
        }
    }
}
