// Kinematics and inertia of one super-helix element.
//
// Everything is a combination of eight scalar functions of arc length with constant vectors, so
// every integral over the element is an entry of their Gram matrix, found once per element.
#include "rod/helix.h"

#include "math/gauss.h"

#include <string.h>

// Turning (rad) that one panel of Gauss points integrates to rounding. The integrands oscillate
// with at most twice the frequency |q|; for cos(2 x s) the rule's error is about 3e-31 x^24, which
// is 3e-18 at this x.
static const double PANEL_TURN = 3.5;

static const TdlVec3 UNIT[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

TdlMat3 helix_displacement(const HelixAxes* x, const double f[HELIX_COUNT]) {
    TdlVec3 grow = tdl_axpy3(tdl_scale3(f[HELIX_AK], x->e1), f[HELIX_BK], x->e2);
    TdlMat3 b = tdl_outer3(grow, x->q);
    TdlVec3 column[3] = {b.cx, b.cy, b.cz};
    for (int i = 0; i < 3; ++i) {
        column[i] = tdl_axpy3(column[i], f[HELIX_A], helix_cross_e(UNIT[i]));
        column[i] = tdl_axpy3(column[i], f[HELIX_B], helix_e2_rate(x, UNIT[i]));
    }
    return (TdlMat3){column[0], column[1], column[2]};
}

TdlMat3 helix_rotation_rate(const HelixAxes* x, const double f[HELIX_COUNT]) {
    // K^2 = q q' - y I
    TdlMat3 t = tdl_scale33(f[HELIX_B], tdl_outer3(x->q, x->q));
    t = tdl_axpy33(t, f[HELIX_S] - f[HELIX_B] * x->y, tdl_identity33());
    return tdl_axpy33(t, f[HELIX_A], tdl_skew3(x->q));
}

TdlVec3 helix_second(const HelixAxes* x, const double f[HELIX_COUNT], TdlVec3 d1, TdlVec3 d2) {
    double s1 = tdl_dot3(x->q, d1), s2 = tdl_dot3(x->q, d2), dd = tdl_dot3(d1, d2);
    TdlVec3 c1 = helix_cross_e(d1), c2 = helix_cross_e(d2);
    TdlVec3 p = tdl_scale3(f[HELIX_AKK] * s1 * s2 + f[HELIX_AK] * dd, x->e1);
    p = tdl_axpy3(p, f[HELIX_AK] * s1, c2);
    p = tdl_axpy3(p, f[HELIX_AK] * s2, c1);
    p = tdl_axpy3(p, f[HELIX_BKK] * s1 * s2 + f[HELIX_BK] * dd, x->e2);
    p = tdl_axpy3(p, f[HELIX_BK] * s1, helix_e2_rate(x, d2));
    p = tdl_axpy3(p, f[HELIX_BK] * s2, helix_e2_rate(x, d1));
    return tdl_axpy3(p, f[HELIX_B], tdl_add3(tdl_cross3(d1, c2), tdl_cross3(d2, c1)));
}

TdlVec3 helix_rotation_second(const HelixAxes* x, const double f[HELIX_COUNT], TdlVec3 d1,
                              TdlVec3 d2) {
    double s2 = tdl_dot3(x->q, d2);
    TdlVec3 kd = tdl_cross3(x->q, d1), dd = tdl_cross3(d2, d1);
    TdlVec3 t = tdl_scale3(s2 * f[HELIX_AK], kd);
    t = tdl_axpy3(t, s2 * f[HELIX_BK], tdl_cross3(x->q, kd));
    t = tdl_axpy3(t, f[HELIX_A], dd);
    return tdl_axpy3(t, f[HELIX_B], tdl_add3(tdl_cross3(d2, kd), tdl_cross3(x->q, dd)));
}

// c_8, to rounding: by its series, or from c_6 where that loses nothing.
static double c8(double y, double c6) {
    if (y >= TDL_C_SERIES_LIMIT) {
        return (1.0 / 720.0 - c6) / y;
    }
    double sum = 1.0;
    for (int n = 12; n > 0; --n) {
        sum = 1.0 - y / ((2 * n + 7) * (2 * n + 8)) * sum;
    }
    return sum / 40320.0;
}

void helix_means(double y, double mean[HELIX_COUNT]) {
    double c[8], end[HELIX_AKK];
    tdl_c_series(y, c);
    helix_end_and_mean(c, end, mean);
    mean[HELIX_AKK] = 15.0 * c[7] - 7.0 * c[6] + c[5];
    mean[HELIX_BKK] = 24.0 * c8(y, c[6]) - 9.0 * c[7] + c[6];
}

static int panel_count(double y) {
    return 1 + (int)(fmin(sqrt(y), HELIX_MAX_TURNING) / PANEL_TURN);
}

void helix_gram(double y, HelixGram* gram) {
    memset(gram, 0, sizeof *gram);
    int panels = panel_count(y);
    for (int panel = 0; panel < panels; ++panel) {
        for (int k = 0; k < GAUSS12_COUNT; ++k) {
            double f[HELIX_COUNT], w = GAUSS12_WEIGHT[k] / panels;
            helix_functions(y, (panel + GAUSS12_POINT[k]) / panels, f);
            for (int i = 0; i < HELIX_COUNT; ++i) {
                for (int j = 0; j <= i; ++j) {
                    gram->g[i][j] += w * f[i] * f[j];
                }
            }
        }
    }
    for (int i = 0; i < HELIX_COUNT; ++i) {
        for (int j = 0; j < i; ++j) {
            gram->g[j][i] = gram->g[i][j];
        }
    }
}

void helix_mixed_gram(double y, double y_old, HelixGram* gram) {
    memset(gram, 0, sizeof *gram);
    int panels = panel_count(fmax(y, y_old));
    for (int panel = 0; panel < panels; ++panel) {
        for (int k = 0; k < GAUSS12_COUNT; ++k) {
            double f[HELIX_COUNT], old[HELIX_COUNT], w = GAUSS12_WEIGHT[k] / panels;
            double s = (panel + GAUSS12_POINT[k]) / panels;
            helix_functions(y, s, f);
            helix_functions(y_old, s, old);
            for (int i = 0; i < HELIX_AKK; ++i) {
                for (int j = 0; j < HELIX_AKK; ++j) {
                    gram->g[i][j] += w * f[i] * old[j];
                }
            }
        }
    }
}

// The constant vectors that B d is made of: B d = a c[0] + b c[1] + ak c[2] + bk c[3]. (H.5)
static void displacement_parts(const HelixAxes* x, TdlVec3 d, TdlVec3 c[4]) {
    double sigma = tdl_dot3(x->q, d);
    c[0] = helix_cross_e(d);
    c[1] = helix_e2_rate(x, d);
    c[2] = tdl_scale3(sigma, x->e1);
    c[3] = tdl_scale3(sigma, x->e2);
}

void helix_inertia(const HelixAxes* x, const HelixGram* gram, HelixInertia* out) {
    const TdlVec3 r[3] = {UNIT[0], x->e1, x->e2}; // p = s r0 + a r1 + b r2
    const double(*g)[HELIX_COUNT] = gram->g;
    out->h = helix_position(x, g[HELIX_ONE]);

    // J = tr(P) I - P with P = mean of p p'
    TdlMat3 P = {0};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            P = tdl_axpy33(P, g[HELIX_S + i][HELIX_S + j], tdl_outer3(r[i], r[j]));
        }
    }
    double trace = P.cx.x + P.cy.y + P.cz.z;
    out->J = tdl_sub33(tdl_scale33(trace, tdl_identity33()), P);

    // B, [p]x B and B'B column by column; the functions a, b, ak, bk follow s in order
    TdlVec3 c[3][4], Bm[3], Hm[3];
    double M[3][3];
    for (int i = 0; i < 3; ++i) {
        displacement_parts(x, UNIT[i], c[i]);
        Bm[i] = Hm[i] = (TdlVec3){0};
        for (int k = 0; k < 4; ++k) {
            TdlVec3 p = {0};
            for (int j = 0; j < 3; ++j) {
                p = tdl_axpy3(p, g[HELIX_S + j][HELIX_A + k], r[j]);
            }
            Bm[i] = tdl_axpy3(Bm[i], g[HELIX_ONE][HELIX_A + k], c[i][k]);
            Hm[i] = tdl_add3(Hm[i], tdl_cross3(p, c[i][k]));
        }
    }
    for (int i = 0; i < 3; ++i) {
        TdlVec3 weighted[4];
        for (int k = 0; k < 4; ++k) {
            weighted[k] = (TdlVec3){0};
            for (int m = 0; m < 4; ++m) {
                weighted[k] = tdl_axpy3(weighted[k], g[HELIX_A + k][HELIX_A + m], c[i][m]);
            }
        }
        for (int j = 0; j <= i; ++j) {
            M[i][j] = M[j][i] = tdl_dot3(weighted[0], c[j][0]) + tdl_dot3(weighted[1], c[j][1]) +
                                tdl_dot3(weighted[2], c[j][2]) + tdl_dot3(weighted[3], c[j][3]);
        }
    }
    out->Bm = (TdlMat3){Bm[0], Bm[1], Bm[2]};
    out->Hm = (TdlMat3){Hm[0], Hm[1], Hm[2]};
    memcpy(&out->Mqq, M, sizeof M); // symmetric
}

// a x v + w x (w x v): acceleration of v carried by a rotation
static TdlVec3 carried(const HelixMotion* m, TdlVec3 v) {
    return tdl_add3(tdl_cross3(m->alpha, v), tdl_cross3(m->w, tdl_cross3(m->w, v)));
}

// Acceleration at s: sum over the functions f of f(s) A[f]. (H.13)
static void acceleration_parts(const HelixAxes* x, double l, const HelixMotion* m,
                               TdlVec3 A[HELIX_COUNT]) {
    double sigma = tdl_dot3(x->q, m->d), dd = tdl_dot3(m->d, m->d);
    TdlVec3 de = helix_cross_e(m->d), de2 = helix_e2_rate(x, m->d);
    A[HELIX_S] = carried(m, UNIT[0]);
    A[HELIX_A] = tdl_axpy3(carried(m, x->e1), 2.0, tdl_cross3(m->w, de));
    A[HELIX_B] =
        tdl_axpy3(carried(m, x->e2), 2.0, tdl_add3(tdl_cross3(m->w, de2), tdl_cross3(m->d, de)));
    A[HELIX_AK] =
        tdl_axpy3(tdl_scale3(dd, x->e1), 2.0 * sigma, tdl_add3(tdl_cross3(m->w, x->e1), de));
    A[HELIX_BK] =
        tdl_axpy3(tdl_scale3(dd, x->e2), 2.0 * sigma, tdl_add3(tdl_cross3(m->w, x->e2), de2));
    A[HELIX_AKK] = tdl_scale3(sigma * sigma, x->e1);
    A[HELIX_BKK] = tdl_scale3(sigma * sigma, x->e2);
    A[HELIX_ONE] = m->a;
    for (int f = HELIX_S; f < HELIX_COUNT; ++f) {
        A[f] = tdl_scale3(l, A[f]);
    }
}

HelixLoad helix_bias(const HelixAxes* x, const HelixGram* gram, double l,
                     const HelixMotion* motion) {
    TdlVec3 A[HELIX_COUNT], P[HELIX_AKK];
    acceleration_parts(x, l, motion, A);
    for (int f = 0; f < HELIX_AKK; ++f) {
        P[f] = (TdlVec3){0};
        for (int k = 0; k < HELIX_COUNT; ++k) {
            P[f] = tdl_axpy3(P[f], gram->g[f][k], A[k]);
        }
    }
    return helix_load(x, l, P);
}

void helix_velocity(const HelixAxes* x, double l, TdlVec3 V, TdlVec3 w, TdlVec3 d,
                    TdlVec3 U[HELIX_AKK]) {
    TdlVec3 c[4];
    displacement_parts(x, d, c);
    U[HELIX_ONE] = V;
    U[HELIX_S] = tdl_scale3(l, helix_cross_e(w));
    U[HELIX_A] = tdl_scale3(l, tdl_add3(tdl_cross3(w, x->e1), c[0]));
    U[HELIX_B] = tdl_scale3(l, tdl_add3(tdl_cross3(w, x->e2), c[1]));
    U[HELIX_AK] = tdl_scale3(l, c[2]);
    U[HELIX_BK] = tdl_scale3(l, c[3]);
}

HelixLoad helix_load(const HelixAxes* x, double l, const TdlVec3 P[HELIX_AKK]) {
    HelixLoad load = {.force = P[HELIX_ONE]};

    // p x field, with e x P = -(P x e)
    TdlVec3 moment = tdl_add3(tdl_cross3(x->e1, P[HELIX_A]), tdl_cross3(x->e2, P[HELIX_B]));
    load.moment = tdl_scale3(l, tdl_sub3(moment, helix_cross_e(P[HELIX_S])));

    // B' field, with (d x e).P = d.(e x P), and the like for the rate of e2 = q x (q x e)
    TdlVec3 Pq = tdl_cross3(P[HELIX_B], x->q);
    TdlVec3 sum = tdl_sub3(tdl_cross3(x->e1, P[HELIX_B]), helix_cross_e(tdl_add3(P[HELIX_A], Pq)));
    double grow = tdl_dot3(x->e1, P[HELIX_AK]) + tdl_dot3(x->e2, P[HELIX_BK]);
    load.generalised = tdl_scale3(l, tdl_axpy3(sum, grow, x->q));
    return load;
}
