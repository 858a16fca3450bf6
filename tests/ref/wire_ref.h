// An inextensible wire without weight, clamped at its start, whose tip is held at a place: the
// force on the tip by shooting. In the plane (x, z), with theta the angle of the tangent from x and
// F the force on the tip, EI theta' = M and M = (tip - r) x F, so F alone is sought. taut-rods.md
// (E.6)
#ifndef TDL_TEST_WIRE_REF_H
#define TDL_TEST_WIRE_REF_H

#include <math.h>
#include <stdbool.h>

typedef struct WireProblem {
    double length, bending; // m, N m^2
    double angle;           // rad, of the tangent at the clamp, which is at the origin
    double x, z;            // m, of the tip
} WireProblem;

static inline void wire_slope(const WireProblem* p, const double F[2], const double y[3],
                              double slope[3]) {
    slope[0] = cos(y[2]);
    slope[1] = sin(y[2]);
    slope[2] = ((p->x - y[0]) * F[1] - (p->z - y[1]) * F[0]) / p->bending;
}

// Where the end comes to lie, less where it has to. Runge-Kutta's classical rule.
static inline void wire_miss(const WireProblem* p, const double F[2], double miss[2]) {
    enum { STEPS = 2000 };
    double h = p->length / STEPS, y[3] = {0.0, 0.0, p->angle};
    for (int i = 0; i < STEPS; ++i) {
        double k[4][3], t[3];
        wire_slope(p, F, y, k[0]);
        for (int j = 1; j < 4; ++j) {
            for (int m = 0; m < 3; ++m) {
                t[m] = y[m] + (j == 3 ? h : 0.5 * h) * k[j - 1][m];
            }
            wire_slope(p, F, t, k[j]);
        }
        for (int m = 0; m < 3; ++m) {
            y[m] += h / 6.0 * (k[0][m] + 2.0 * k[1][m] + 2.0 * k[2][m] + k[3][m]);
        }
    }
    miss[0] = y[0] - p->x;
    miss[1] = y[1] - p->z;
}

// Newton's method with differences, from a near force; it moves by at most EI/L^2 at a time.
static inline bool wire_newton(const WireProblem* p, double F[2]) {
    double unit = p->bending / (p->length * p->length), step = 1.0e-6 * unit;
    for (int iteration = 0; iteration < 60; ++iteration) {
        double miss[2], off[2][2];
        wire_miss(p, F, miss);
        for (int k = 0; k < 2; ++k) {
            double moved[2] = {F[0] + (k == 0 ? step : 0.0), F[1] + (k == 1 ? step : 0.0)};
            wire_miss(p, moved, off[k]);
            off[k][0] = (off[k][0] - miss[0]) / step;
            off[k][1] = (off[k][1] - miss[1]) / step;
        }
        double det = off[0][0] * off[1][1] - off[1][0] * off[0][1];
        double d[2] = {-(miss[0] * off[1][1] - off[1][0] * miss[1]) / det,
                       -(off[0][0] * miss[1] - miss[0] * off[0][1]) / det};
        double size = hypot(d[0], d[1]), most = fmin(1.0, unit / size);
        F[0] += most * d[0];
        F[1] += most * d[1];
        if (size < 1.0e-9 * unit && hypot(miss[0], miss[1]) < 1.0e-12 * p->length) {
            return true;
        }
    }
    return false;
}

// Bends the wire from nearly straight: its tip goes first along the tips of arcs, up to the one
// that turns by `arc` (its sign tells to which side), then straight to its place.
static inline bool wire_solve(const WireProblem* def, double arc, double F[2]) {
    enum { PARTS = 10 };
    WireProblem p = *def;
    double c = cos(def->angle), s = sin(def->angle), L = def->length;
    double unit = def->bending / (L * L), u = sqrt(7.0);
    bool found = true;
    // nearly straight it is a beam under a push of about u^2 EI/L^2 along it; the force aside goes
    // with the turn, and below 0 where the push alone would buckle a free tip
    double push = u * u * unit, aside = 0.5 * unit * u * u * u / (tan(u) - u);
    for (int i = 1; found && i <= PARTS; ++i) {
        double turn = arc * i / PARTS, along = L * sin(turn) / turn;
        double across = L * (1.0 - cos(turn)) / turn;
        p.x = c * along - s * across;
        p.z = s * along + c * across;
        F[0] = -push * c - turn * aside * s;
        F[1] = -push * s + turn * aside * c;
        found = wire_newton(&p, F);
        push = -(F[0] * c + F[1] * s);
        aside = (F[1] * c - F[0] * s) / turn;
    }
    double from[2] = {p.x, p.z};
    for (int i = 1; found && i <= PARTS; ++i) {
        p.x = from[0] + (def->x - from[0]) * i / PARTS;
        p.z = from[1] + (def->z - from[1]) * i / PARTS;
        found = wire_newton(&p, F);
    }
    return found;
}

#endif
