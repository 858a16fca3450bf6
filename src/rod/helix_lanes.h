// The scalar functions of a super-helix element for four rods at once, as coefficients of Legendre
// polynomials over the element. linear-time.md (L.5)-(L.9)
//
// With orthonormal polynomials every integral of a product of two functions, of the same shape or
// of two shapes, is a sum of products of coefficients. The coefficients of a sine over an interval
// are spherical Bessel functions, found by their recurrence downwards: no cancellation, and about
// twenty operations a polynomial.
#ifndef TDL_ROD_HELIX_LANES_H
#define TDL_ROD_HELIX_LANES_H

#include "rod/helix.h"
#include "rod/lanes.h"

// Largest y = |q|^2 of the expansion: |q| up to 3.46. With 11 polynomials the part of a product
// left out is below 1e-15 of it there. Up to the second limit, |q| = 1.58, the first 9 will do, and
// fewer terms of the series they come from.
#define LANE_Y_LIMIT 12.0
#define LANE_Y_BRIEF 2.5
enum { MODE_COUNT = 11, BRIEF_COUNT = 9, TAIL_TERMS = 9, C_TERMS = 12 };
enum { BRIEF_TAIL_TERMS = 7, BRIEF_C_TERMS = 9 };

typedef struct LaneModes {
    Lane a[MODE_COUNT], b[MODE_COUNT], ak[MODE_COUNT], bk[MODE_COUNT];
} LaneModes;

// Factors of the coefficients of a: sqrt(2m+1)/4 with their signs. (L.7)
static const double MODE_A[MODE_COUNT] = {0.0,
                                          0.43301270189221932338,
                                          0.5590169943749474241,
                                          -0.66143782776614764763,
                                          -0.75,
                                          0.82915619758884996228,
                                          0.90138781886599732328,
                                          -0.96824583655185422129,
                                          -1.0307764064044151375,
                                          1.0897247358851683881,
                                          1.1456439237389600016};
static const double SQRT_3 = 1.7320508075688772935;

// Lanes of a where the mask is set, else of b.
LANE_INLINE Lane lane_pick(LaneMask mask, Lane a, Lane b) {
    return (Lane)((mask & (LaneMask)a) | (~mask & (LaneMask)b));
}

LANE_INLINE LaneMask lane_brief(Lane y) {
    return y < LANE_Y_BRIEF;
}

LANE_INLINE bool lane_any(LaneMask m) {
    return (m[0] | m[1] | m[2] | m[3]) != 0;
}

// c_2 .. c_7 by so many terms. rotations.md (R.1)-(R.3)
LANE_INLINE void lane_c_terms(Lane y, int terms, Lane c[8]) {
    Lane s6 = lane_all(1.0), s7 = s6;
    for (int n = terms - 1; n >= 0; --n) {
        s6 = 1.0 - y * (1.0 / ((7 + 2 * n) * (8 + 2 * n))) * s6;
        s7 = 1.0 - y * (1.0 / ((8 + 2 * n) * (9 + 2 * n))) * s7;
    }
    c[6] = s6 * (1.0 / 720.0);
    c[7] = s7 * (1.0 / 5040.0);
    c[5] = 1.0 / 120.0 - y * c[7];
    c[4] = 1.0 / 24.0 - y * c[6];
    c[3] = 1.0 / 6.0 - y * c[5];
    c[2] = 0.5 - y * c[4];
}

// j_m(z) / z^m for m = -1 .. count (at index m + 1) as functions of x = z^2. (L.6)
LANE_INLINE void lane_bessel(Lane x, int count, int tail, Lane j[MODE_COUNT + 2]) {
    Lane low = lane_all(1.0), high = low;
    for (int k = tail; k >= 1; --k) {
        low = 1.0 - x * (1.0 / (2 * k * (2 * count + 1 + 2 * k))) * low;
        high = 1.0 - x * (1.0 / (2 * k * (2 * count + 3 + 2 * k))) * high;
    }
    double first = 1.0; // 1 / (2 count + 1)!!
    for (int k = 1; k <= count; ++k) {
        first /= 2 * k + 1;
    }
    Lane above = high * (first / (2 * count + 3));
    j[count + 1] = low * first;
    for (int m = count; m >= 0; --m) {
        j[m] = (2.0 * m + 1.0) * j[m + 1] - x * above;
        above = j[m + 1];
    }
}

// The first `count` coefficients of a, b and of their derivatives ak, bk. (L.7), (L.8)
LANE_INLINE void lane_modes(Lane y, const Lane c[8], int count, int tail, LaneModes* out) {
    Lane x = 0.25 * y, j[MODE_COUNT + 2];
    lane_bessel(x, count, tail, j);
    Lane C = j[0], S = j[1], dC = -0.5 * S, dS = -0.5 * j[2];

    // the lowest ones, where 1 - cos and s - sin cancel
    out->a[0] = c[3];
    out->ak[0] = 3.0 * c[5] - c[4];
    out->b[0] = c[4];
    out->bk[0] = 4.0 * c[6] - c[5];
    out->b[1] = SQRT_3 * (c[4] - 2.0 * c[5]);
    out->bk[1] = SQRT_3 * (6.0 * c[6] - c[5] - 10.0 * c[7]);
    out->a[1] = MODE_A[1] * S * j[2];
    out->ak[1] = 0.5 * MODE_A[1] * (dS * j[2] - 0.5 * S * j[3]);

    // pairs of an even and an odd polynomial with the same power x^p; half of a factor of a is that
    // of b, but for a sign
    Lane power = lane_all(1.0), lower = lane_all(0.0); // x^p, p x^(p-1)
    Lane C2 = 0.5 * C, S2 = 0.5 * S, dC2 = 0.5 * dC, dS2 = 0.5 * dS;
    Lane C4 = 0.25 * C, S4 = 0.25 * S, dC4 = 0.25 * dC, dS4 = 0.25 * dS;
    for (int m = 2; m < count; m += 2) {
        Lane even = MODE_A[m] * j[m + 1], next = (0.5 * MODE_A[m]) * j[m + 2];
        Lane g = power * even, dg = lower * even - power * next;
        out->a[m] = C * g;
        out->b[m] = S2 * g;
        out->ak[m] = dC2 * g + C2 * dg;
        out->bk[m] = dS4 * g + S4 * dg;
        if (m + 1 < count) {
            Lane odd = MODE_A[m + 1] * j[m + 2];
            next = (0.5 * MODE_A[m + 1]) * j[m + 3];
            g = power * odd;
            dg = lower * odd - power * next;
            Lane gx = x * g, dgx = g + x * dg;
            out->a[m + 1] = S * gx;
            out->b[m + 1] = -C2 * g;
            out->ak[m + 1] = dS2 * gx + S2 * dgx;
            out->bk[m + 1] = -(dC4 * g + C4 * dg);
        }
        lower = power + x * lower; // (x^(p+1))' = x^p + x p x^(p-1)
        power = x * power;
    }
}

// Means of the functions and of their products, as far as they are needed.
typedef struct LaneGram {
    Lane a, b, ak, bk;     // with 1
    Lane sa, sb, sak, sbk; // with s
    Lane aa, ab, aak, abk, bb, bak, bbk, akak, bkbk;
} LaneGram;

LANE_INLINE Lane lane_mode_dot(const Lane* f, const Lane* g, int count) {
    Lane sum[2] = {f[0] * g[0], f[1] * g[1]};
    for (int m = 2; m < count; ++m) {
        sum[m % 2] = lane_fma(f[m], g[m], sum[m % 2]);
    }
    return sum[0] + sum[1];
}

// s = 1/2 + (sqrt(3)/6) times the first polynomial
LANE_INLINE Lane lane_mode_s(const Lane f[MODE_COUNT]) {
    return 0.5 * f[0] + (SQRT_3 / 6.0) * f[1];
}

LANE_INLINE void lane_gram(const LaneModes* m, int count, LaneGram* g) {
    g->a = m->a[0];
    g->b = m->b[0];
    g->ak = m->ak[0];
    g->bk = m->bk[0];
    g->sa = lane_mode_s(m->a);
    g->sb = lane_mode_s(m->b);
    g->sak = lane_mode_s(m->ak);
    g->sbk = lane_mode_s(m->bk);
    g->aa = lane_mode_dot(m->a, m->a, count);
    g->ab = lane_mode_dot(m->a, m->b, count);
    g->aak = lane_mode_dot(m->a, m->ak, count);
    g->abk = lane_mode_dot(m->a, m->bk, count);
    g->bb = lane_mode_dot(m->b, m->b, count);
    g->bak = lane_mode_dot(m->b, m->ak, count);
    g->bbk = lane_mode_dot(m->b, m->bk, count);
    g->akak = lane_mode_dot(m->ak, m->ak, count);
    g->bkbk = lane_mode_dot(m->bk, m->bk, count);
}

#endif
