// Kinematics and inertia of one super-clothoid element, by power series.
//
// Rows of the frame, rotations and displacements for changes of the curvatures all obey
// y' = y x k + source, with k linear in s: one recursion of second order gives the terms of all of
// them (S4 eq. 2.13, and its derivative). Terms grow before they fall, the more the curve turns,
// so the element is cut into pieces over which they hardly grow (S4 eq. 2.15). Integrals of
// products take 12 Gauss points a piece, which is to rounding there.
#include "rod/clothoid.h"

#include "math/gauss.h"

#include <string.h>

// Bound on |k| h + |slope| h^2 over a piece of length h. No term is then above 3.2, and Gauss's
// rule is exact to 1e-18 for products of two solutions (C.9). S4's bound M = 10 in its norm allows
// terms of 26 and more.
static const double PIECE_TURN = 2.5;

// A term whose majorant is below this no longer counts.
static const double TERM_TOL = 1.0e-17;

// Orders by which rho, the highest integral of the frame, lags behind the frame.
enum { LAG = 4 };

Clothoid clothoid_make(TdlVec3 q0, TdlVec3 q1) {
    double turning = fmax(tdl_norm3(q0), tdl_norm3(q1));
    if (!(turning <= CLOTHOID_MAX_TURNING)) {
        q0 = q1 = (TdlVec3){NAN, NAN, NAN};
    }
    return (Clothoid){q0, tdl_sub3(q1, q0)};
}

// Three lanes as the columns of a matrix.
static TdlMat3 lanes(const ClothoidState* at, int first) {
    return (TdlMat3){clothoid_lane(at, first), clothoid_lane(at, first + 1),
                     clothoid_lane(at, first + 2)};
}

TdlMat3 clothoid_displacement(const ClothoidState* at, int end) {
    return tdl_mul33(clothoid_rotation(at), lanes(at, CLOTHOID_RHO + 3 * end));
}

TdlMat3 clothoid_turn(const ClothoidState* at, int end) {
    return tdl_mul33(clothoid_rotation(at), lanes(at, CLOTHOID_PHI + 3 * end));
}

// --- series ---------------------------------------------------------------------------------

double clothoid_reach(const Clothoid* c, double sigma) {
    double k = tdl_norm3(tdl_axpy3(c->q0, sigma, c->slope)), slope = tdl_norm3(c->slope);
    // the positive root of slope h^2 + k h = PIECE_TURN, without cancellation
    return 2.0 * PIECE_TURN / (k + sqrt(k * k + 4.0 * PIECE_TURN * slope));
}

void clothoid_start(ClothoidState* at) {
    memset(at, 0, sizeof *at);
    for (int i = 0; i < 3; ++i) {
        at->y[i * CLOTHOID_LANES + CLOTHOID_ROW + i] = 1.0;
    }
}

// Terms until the majorant m_(n+1) = (a m_n + b m_(n-1)) / (n+1) has fallen below rounding. (C.7)
static int count_terms(double a, double b) {
    double before = 0.0, now = 1.0;
    int n = 0;
    while (n < CLOTHOID_MAX_TERMS - LAG - 1 && now + before > TERM_TOL) {
        double next = (a * now + b * before) / (n + 1);
        before = now;
        now = next;
        ++n;
    }
    return n + LAG;
}

// out = y x K + y_before x G in all lanes
static void turn_lanes(const double* y, const double* y_before, TdlVec3 K, TdlVec3 G,
                       double* restrict out) {
    const double *x0 = y, *y0 = y + CLOTHOID_LANES, *z0 = y + 2 * CLOTHOID_LANES;
    const double *x1 = y_before, *y1 = x1 + CLOTHOID_LANES, *z1 = x1 + 2 * CLOTHOID_LANES;
    for (int i = 0; i < CLOTHOID_LANES; ++i) {
        out[i] = y0[i] * K.z - z0[i] * K.y + (y1[i] * G.z - z1[i] * G.y);
        out[CLOTHOID_LANES + i] = z0[i] * K.x - x0[i] * K.z + (z1[i] * G.x - x1[i] * G.z);
        out[2 * CLOTHOID_LANES + i] = x0[i] * K.y - y0[i] * K.x + (x1[i] * G.y - y1[i] * G.x);
    }
}

// Adds what drives phi, rho, p and the integral of p, over a piece of length h from sigma.
static void add_sources(int n, double sigma, double h, const double* y, double* next) {
    // phi: (1 - s) e_i for q0, s e_i for q1
    if (n < 2) {
        double first = n == 0 ? h * (1.0 - sigma) : -h * h, second = n == 0 ? h * sigma : h * h;
        for (int i = 0; i < 3; ++i) {
            next[i * CLOTHOID_LANES + CLOTHOID_PHI + i] += first;
            next[i * CLOTHOID_LANES + CLOTHOID_PHI + 3 + i] += second;
        }
    }
    // rho: phi x e
    for (int i = 0; i < 6; ++i) {
        next[CLOTHOID_LANES + CLOTHOID_RHO + i] += h * y[2 * CLOTHOID_LANES + CLOTHOID_PHI + i];
        next[2 * CLOTHOID_LANES + CLOTHOID_RHO + i] -= h * y[CLOTHOID_LANES + CLOTHOID_PHI + i];
    }
    // p: R e, whose components are the first of each row
    for (int i = 0; i < 3; ++i) {
        next[CLOTHOID_P + i] = h * y[CLOTHOID_ROW + i];
        next[CLOTHOID_AREA + i] = h * y[CLOTHOID_P + i];
    }
    next[CLOTHOID_P + 3] = next[CLOTHOID_AREA + 3] = 0.0;
}

void clothoid_expand(const Clothoid* c, const ClothoidState* at, double sigma, double length,
                     ClothoidSeries* series) {
    static const double none[CLOTHOID_WIDTH];
    TdlVec3 K = tdl_scale3(length, tdl_axpy3(c->q0, sigma, c->slope));
    TdlVec3 G = tdl_scale3(length * length, c->slope);
    series->term_count = count_terms(tdl_norm3(K), tdl_norm3(G));
    memcpy(series->term[0], at->y, sizeof at->y);
    for (int n = 0; n + 1 < series->term_count; ++n) {
        double* next = series->term[n + 1];
        turn_lanes(series->term[n], n > 0 ? series->term[n - 1] : none, K, G, next);
        add_sources(n, sigma, length, series->term[n], next);
        double scale = 1.0 / (n + 1);
        for (int i = 0; i < CLOTHOID_WIDTH; ++i) {
            next[i] *= scale;
        }
    }
}

void clothoid_sum(const ClothoidSeries* series, double x, ClothoidState* out) {
    double sum[CLOTHOID_WIDTH];
    memcpy(sum, series->term[series->term_count - 1], sizeof sum);
    for (int n = series->term_count - 2; n >= 0; --n) {
        const double* term = series->term[n];
        for (int i = 0; i < CLOTHOID_WIDTH; ++i) {
            sum[i] = sum[i] * x + term[i];
        }
    }
    memcpy(out->y, sum, sizeof sum);
}

void clothoid_at(const Clothoid* c, double s, ClothoidState* out) {
    ClothoidSeries series;
    clothoid_start(out);
    for (double sigma = 0.0; sigma < s;) {
        double end = fmin(clothoid_piece_end(sigma, clothoid_reach(c, sigma)), s);
        clothoid_expand(c, out, sigma, end - sigma, &series);
        clothoid_sum(&series, 1.0, out);
        sigma = end;
    }
}

// --- integrals ------------------------------------------------------------------------------

// c + w a' b
static TdlMat3 add_tmul(TdlMat3 c, double w, TdlMat3 a, TdlMat3 b) {
    return tdl_axpy33(c, w, tdl_tmul33(a, b));
}

// c + w [p]x b
static TdlMat3 add_cross(TdlMat3 c, double w, TdlVec3 p, TdlMat3 b) {
    TdlMat3 pb = {tdl_cross3(p, b.cx), tdl_cross3(p, b.cy), tdl_cross3(p, b.cz)};
    return tdl_axpy33(c, w, pb);
}

// How the sections spin about their tangents for rates of q0 or q1: the first row of phi.
static TdlVec3 spin_row(const ClothoidState* at, int end) {
    return tdl_load3(at->y + CLOTHOID_PHI + 3 * end, 0);
}

static TdlVec3 tangent(const ClothoidState* at) {
    return tdl_load3(at->y + CLOTHOID_ROW, 0);
}

static void add_spin_inertia(const ClothoidState* at, double w, ClothoidInertia* sum) {
    TdlVec3 t = tangent(at), row[2] = {spin_row(at, 0), spin_row(at, 1)};
    sum->spin_J = tdl_axpy33(sum->spin_J, w, tdl_outer3(t, t));
    for (int a = 0; a < 2; ++a) {
        sum->spin_H[a] = tdl_axpy33(sum->spin_H[a], w, tdl_outer3(t, row[a]));
        sum->spin_M[2 * a] = tdl_axpy33(sum->spin_M[2 * a], w, tdl_outer3(row[a], row[a]));
    }
    sum->spin_M[1] = tdl_axpy33(sum->spin_M[1], w, tdl_outer3(row[1], row[0]));
}

static void add_inertia(const ClothoidState* at, double w, ClothoidInertia* sum, TdlMat3* square) {
    TdlVec3 p = clothoid_position(at);
    TdlMat3 B[2] = {clothoid_displacement(at, 0), clothoid_displacement(at, 1)};
    *square = tdl_axpy33(*square, w, tdl_outer3(p, p));
    for (int a = 0; a < 2; ++a) {
        sum->Bm[a] = tdl_axpy33(sum->Bm[a], w, B[a]);
        sum->Hm[a] = add_cross(sum->Hm[a], w, p, B[a]);
        sum->Mqq[2 * a] = add_tmul(sum->Mqq[2 * a], w, B[a], B[a]);
    }
    sum->Mqq[1] = add_tmul(sum->Mqq[1], w, B[1], B[0]);
    add_spin_inertia(at, w, sum);
}

void clothoid_inertia(const Clothoid* c, ClothoidInertia* out, ClothoidState* end) {
    ClothoidSeries series;
    TdlMat3 square = {0}; // mean of p p'
    *out = (ClothoidInertia){0};
    clothoid_start(end);
    for (double sigma = 0.0; sigma < 1.0;) {
        double next = clothoid_piece_end(sigma, clothoid_reach(c, sigma)), h = next - sigma;
        clothoid_expand(c, end, sigma, h, &series);
        for (int k = 0; k < GAUSS12_COUNT; ++k) {
            ClothoidState at;
            clothoid_sum(&series, GAUSS12_POINT[k], &at);
            add_inertia(&at, h * GAUSS12_WEIGHT[k], out, &square);
        }
        clothoid_sum(&series, 1.0, end);
        sigma = next;
    }
    out->h = clothoid_area(end);
    double trace = square.cx.x + square.cy.y + square.cz.z;
    out->J = tdl_sub33(tdl_scale33(trace, tdl_identity33()), square);
}

// Velocity at a point of a moving element. (C.12)
static TdlVec3 velocity_at(const ClothoidMotion* m, const ClothoidState* at) {
    TdlVec3 own = tdl_mul33_3(lanes(at, CLOTHOID_RHO), m->d[0]);
    own = tdl_add3(own, tdl_mul33_3(lanes(at, CLOTHOID_RHO + 3), m->d[1]));
    TdlVec3 swing = tdl_cross3(m->w, clothoid_position(at));
    swing = tdl_add3(swing, tdl_mul33_3(clothoid_rotation(at), own));
    return tdl_axpy3(m->V, m->l, swing);
}

// Spin of the section there. (H.24)
static double spin_at(const ClothoidMotion* m, const ClothoidState* at) {
    return tdl_dot3(tangent(at), m->w) + tdl_dot3(spin_row(at, 0), m->d[0]) +
           tdl_dot3(spin_row(at, 1), m->d[1]);
}

static void add_spin_load(const ClothoidState* at, double spin, ClothoidLoad* sum) {
    sum->moment = tdl_axpy3(sum->moment, spin, tangent(at));
    for (int a = 0; a < 2; ++a) {
        sum->generalised[a] = tdl_axpy3(sum->generalised[a], spin, spin_row(at, a));
    }
}

static void add_load(const ClothoidState* at, double l, TdlVec3 field, ClothoidLoad* sum) {
    // B' field = rho' (R' field)
    TdlVec3 own = tdl_tmul33_3(clothoid_rotation(at), field);
    sum->force = tdl_add3(sum->force, field);
    sum->moment = tdl_axpy3(sum->moment, l, tdl_cross3(clothoid_position(at), field));
    for (int a = 0; a < 2; ++a) {
        TdlVec3 paired = tdl_tmul33_3(lanes(at, CLOTHOID_RHO + 3 * a), own);
        sum->generalised[a] = tdl_axpy3(sum->generalised[a], l, paired);
    }
}

// Both shapes are walked in the same pieces, the shorter of what each allows.
ClothoidLoad clothoid_momentum(const Clothoid* c, double l, TdlMat3 axes,
                               const ClothoidMotion* motion, double* square, ClothoidState* end) {
    const Clothoid* old = &motion->shape;
    ClothoidSeries series, old_series;
    ClothoidState start, at;
    ClothoidLoad load = {0};
    *square = 0.0;
    clothoid_start(&start);
    clothoid_start(end);
    for (double sigma = 0.0; sigma < 1.0;) {
        double reach = fmin(clothoid_reach(c, sigma), clothoid_reach(old, sigma));
        double next = clothoid_piece_end(sigma, reach), h = next - sigma;
        clothoid_expand(c, &start, sigma, h, &series);
        clothoid_expand(old, end, sigma, h, &old_series);
        for (int k = 0; k < GAUSS12_COUNT; ++k) {
            double w = h * GAUSS12_WEIGHT[k];
            clothoid_sum(&old_series, GAUSS12_POINT[k], &at);
            TdlVec3 u = velocity_at(motion, &at);
            double spin = spin_at(motion, &at), r2 = motion->gyration;
            *square += w * (tdl_dot3(u, u) + r2 * spin * spin);
            clothoid_sum(&series, GAUSS12_POINT[k], &at);
            add_load(&at, l, tdl_scale3(w, tdl_mul33_3(axes, u)), &load);
            add_spin_load(&at, w * r2 * spin, &load);
        }
        clothoid_sum(&series, 1.0, &start);
        clothoid_sum(&old_series, 1.0, end);
        sigma = next;
    }
    return load;
}

// --- second derivatives ---------------------------------------------------------------------

// Sum of r F' with r from p(s) to where each force beyond s acts. (C.16)
static TdlMat3 pull_from(const ClothoidPull* pull, const ClothoidState* at,
                         const ClothoidState* end, double s) {
    TdlVec3 p = clothoid_position(at);
    TdlVec3 arm = tdl_scale3(pull->l, tdl_sub3(clothoid_position(end), p));
    TdlVec3 own = tdl_axpy3(tdl_sub3(clothoid_area(end), clothoid_area(at)), s - 1.0, p);
    TdlMat3 P = tdl_add33(pull->P, tdl_outer3(arm, pull->F));
    return tdl_axpy33(P, pull->m * pull->l, tdl_outer3(own, pull->g));
}

// sum of F x (Omega x r) for the three columns of Omega = weight R
static TdlMat3 swung(TdlMat3 P, TdlMat3 R, double weight) {
    double trace = P.cx.x + P.cy.y + P.cz.z;
    return tdl_scale33(weight, tdl_sub33(tdl_scale33(trace, R), tdl_mul33(P, R)));
}

void clothoid_pull_second(const Clothoid* c, const ClothoidPull* pull, TdlMat3 out[3]) {
    ClothoidSeries series;
    ClothoidState start, at, end;
    TdlMat3 half[2][2] = {0}; // half[a][b]: integral of T_a' (F x (Omega_b x r))
    clothoid_at(c, pull->end, &end);
    clothoid_start(&start);
    for (double sigma = 0.0; sigma < pull->end;) {
        double next = fmin(clothoid_piece_end(sigma, clothoid_reach(c, sigma)), pull->end);
        double h = next - sigma;
        clothoid_expand(c, &start, sigma, h, &series);
        for (int k = 0; k < GAUSS12_COUNT; ++k) {
            double s = sigma + h * GAUSS12_POINT[k], w = h * GAUSS12_WEIGHT[k];
            clothoid_sum(&series, GAUSS12_POINT[k], &at);
            TdlMat3 z = swung(pull_from(pull, &at, &end, s), clothoid_rotation(&at), w);
            for (int a = 0; a < 2; ++a) {
                TdlMat3 T = clothoid_turn(&at, a);
                half[a][0] = add_tmul(half[a][0], 1.0 - s, T, z);
                half[a][1] = add_tmul(half[a][1], s, T, z);
            }
        }
        clothoid_sum(&series, 1.0, &start);
        sigma = next;
    }
    out[0] = tdl_add33(out[0], tdl_add33(half[0][0], tdl_transpose33(half[0][0])));
    out[1] = tdl_add33(out[1], tdl_add33(half[1][0], tdl_transpose33(half[0][1])));
    out[2] = tdl_add33(out[2], tdl_add33(half[1][1], tdl_transpose33(half[1][1])));
}
