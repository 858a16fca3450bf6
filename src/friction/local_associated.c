// One contact without shift: the least of r'W r / 2 + b'r over the cone |r_T| <= mu r_N.
// inverse-contacts.md (V.61)
//
// For a given normal impulse n the tangential one is the least of a convex quadratic in the disc of
// radius mu n, r_T = -(W_TT + a)^-1 (w n + b_T), w = W_TN, with a >= 0 from a secular equation that
// Newton's method solves from one side. What is left is convex in n, and its slope
// u_N - mu a |r_T|, u_N = W_NN n + w'r_T + b_N, has one root, which is bracketed. Some
// microseconds.
#include "friction/local.h"

#include <float.h>

// Eigenvalues of W_TT below this part of trace(W) count as zero: about 50 machine epsilons.
static const double SINGULAR_PART = 1.0e-14;
// Steps of either iteration; Newton's takes less than ten, bisection about 60.
enum { MAX_STEPS = 200 };
// Factor of n while no upper end of the bracket is known.
static const double GROWTH = 8.0;
// Beyond so many times what b asks for there is no least: W does not resist.
static const double ENDLESS = 1.0e30;
// |t| is the radius to rounding.
static const double ROUNDING = 4.0 * DBL_EPSILON;
// The slope is zero to rounding: so much of its parts. Where W does not resist, and b does not
// draw, it is nothing else all along. Of that more is let pass where there is nothing better.
static const double FLAT = 1.0e-14, NEARLY_FLAT = 1.0e-10;

void local_prepare_associated(int d, const double* w, double* prep) {
    int m = d - 1;
    double tangential[25], trace = 0.0;
    for (int k = 0; k < d; ++k) {
        trace += fabs(w[k * d + k]);
    }
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            tangential[i * m + j] = w[(j + 1) * d + i + 1];
        }
    }
    double* s = prep + PREP_S;
    double *wt = s + m, *q = wt + m, floor = SINGULAR_PART * trace;
    local_eigen(m, tangential, q);
    for (int k = 0; k < m; ++k) {
        s[k] = tangential[k * m + k] > floor ? tangential[k * m + k] : 0.0;
        wt[k] = 0.0;
        for (int j = 0; j < m; ++j) {
            wt[k] += q[k * m + j] * w[(j + 1) * d];
        }
    }
    prep[PREP_WNN] = w[0] > floor ? w[0] : 0.0;
    prep[PREP_FLOOR] = floor > 0.0 ? floor : DBL_MIN;
    prep[PREP_ALPHA] = 0.0;
}

// The disc of one normal impulse.
typedef struct Disc {
    double t[CONE_MAX]; // r_T in the eigenvectors of W_TT
    double a;           // its multiplier; 0: inside
    double slope, turn; // of the whole in n: first and second derivative
    double size;        // of the parts of the slope
} Disc;

// |t(a)|, and the sum of t^2 / (s + a)
static double spread(int m, const double* s, const double* g, double a, double* t, double* sum) {
    double square = 0.0;
    *sum = 0.0;
    for (int k = 0; k < m; ++k) {
        double all = s[k] + a;
        t[k] = g[k] == 0.0 ? 0.0 : -g[k] / all; // infinite where nothing resists
        square += t[k] * t[k];
        *sum += t[k] == 0.0 ? 0.0 : t[k] * t[k] / all;
    }
    return sqrt(square);
}

// t and a of the least in the disc.
static void solve_disc(int m, const double* s, const double* g, double radius, Disc* disc) {
    double sum, most = 0.0, square = 0.0;
    disc->a = 0.0;
    if (spread(m, s, g, 0.0, disc->t, &sum) <= radius) {
        return;
    }
    for (int k = 0; k < m; ++k) {
        most = fmax(most, s[k]);
        square += g[k] * g[k];
    }
    // from the left, where |t| is too large: Newton on 1/|t| does not leave it
    double a = fmax(sqrt(square) / radius - most, 0.0);
    if (!(a > 0.0)) {
        a = DBL_EPSILON * most;
        if (spread(m, s, g, a, disc->t, &sum) < radius) {
            return; // inside but for rounding
        }
    }
    for (int step = 0; step < MAX_STEPS; ++step) {
        double norm = spread(m, s, g, a, disc->t, &sum), off = norm / radius - 1.0;
        if (!(off > ROUNDING)) {
            break;
        }
        double next = a + off * norm * norm / sum;
        if (!(next > a)) {
            break;
        }
        a = next;
    }
    disc->a = a;
}

static void look_at(int m, const double* prep, double mu, double bn, const double* bt, double n,
                    Disc* disc) {
    const double *s = prep + PREP_S, *wt = s + m;
    double g[CONE_MAX] = {0}, wtt = 0.0, tt = 0.0, ww = 0.0, along = 0.0;
    double all_w = 0.0, all_b = 0.0;
    for (int k = 0; k < m; ++k) {
        all_w = fmax(all_w, fabs(wt[k]));
        all_b = fmax(all_b, fabs(bt[k]));
    }
    for (int k = 0; k < m; ++k) {
        g[k] = wt[k] * n + bt[k];
        // where nothing resists, what is left by rounding does not draw either
        bool rounding = s[k] == 0.0 && fabs(g[k]) <= FLAT * (all_w * n + all_b);
        g[k] = rounding ? 0.0 : g[k];
    }
    solve_disc(m, s, g, mu * n, disc);
    double a = disc->a, shift = mu * mu * a * n;
    for (int k = 0; k < m; ++k) {
        double t = disc->t[k], all = s[k] + a;
        along += wt[k] * t;
        wtt += all > 0.0 ? wt[k] * t / all : 0.0;
        tt += all > 0.0 ? t * t / all : 0.0;
        ww += all > 0.0 ? wt[k] * wt[k] / all : 0.0;
    }
    disc->slope = prep[PREP_WNN] * n + along + bn - shift;
    disc->size = prep[PREP_WNN] * n + fabs(along) + fabs(bn) + shift;
    disc->turn = prep[PREP_WNN] - ww;
    if (a > 0.0 && tt > 0.0) { // with a' from |t| = mu n
        double da = -(mu * mu * n + wtt) / tt;
        disc->turn += -da * wtt - mu * mu * (da * n + a);
    }
}

// The root of the slope; false when it stays below zero.
static bool find_normal(int m, const double* prep, double mu, double bn, const double* bt, double n,
                        Disc* disc, double* out) {
    double low = 0.0, high = INFINITY, first = n, best = INFINITY;
    for (int step = 0; step < MAX_STEPS; ++step) {
        look_at(m, prep, mu, bn, bt, n, disc);
        if (fabs(disc->slope) <= FLAT * disc->size) {
            break;
        }
        if (fabs(disc->slope) < best * disc->size) {
            best = fabs(disc->slope) / disc->size;
            *out = n;
        }
        if (disc->slope < 0.0) {
            low = n;
        } else {
            high = n;
        }
        if (low > ENDLESS * first) {
            look_at(m, prep, mu, bn, bt, *out, disc);
            return best < NEARLY_FLAT;
        }
        double next = n - disc->slope / disc->turn;
        if (!(disc->turn > 0.0 && next > low && next < high)) {
            next = isinf(high)                     ? GROWTH * low
                   : low > 0.0 && high > 4.0 * low ? sqrt(low) * sqrt(high)
                   : low == 0.0                    ? 0.125 * high
                                                   : 0.5 * (low + high);
        } else if (isinf(high)) {
            next = fmin(next, GROWTH * GROWTH * low);
        }
        if (fabs(next - n) <= DBL_EPSILON * n || next == low || next == high) {
            break;
        }
        n = next;
    }
    *out = n;
    return true;
}

LocalResult local_associated(int d, double* prep, double mu, const double* b, double* r) {
    int m = d - 1;
    const double *s = prep + PREP_S, *q = s + 2 * m;
    double bt[CONE_MAX] = {0}, most = prep[PREP_WNN], n = 0.0, guess = r[0];
    double speed = mu * tangent_norm(d, b);
    for (int k = 0; k < d; ++k) {
        r[k] = 0.0;
    }
    if (b[0] >= speed) { // in the dual cone
        return LOCAL_SOLVED;
    }
    for (int k = 0; k < m; ++k) {
        most = fmax(most, s[k] * mu * mu);
        for (int j = 0; j < m; ++j) {
            bt[k] += q[k * m + j] * b[1 + j];
        }
    }
    Disc disc = {0};
    double first = most > 0.0 ? (speed - b[0]) / most : 0.0;
    if (!(first > 0.0 && isfinite(first))) {
        return LOCAL_NONE;
    }
    if (!(guess > first / GROWTH)) {
        guess = first;
    }
    if (!find_normal(m, prep, mu, b[0], bt, guess, &disc, &n)) {
        return LOCAL_NONE;
    }
    // on the cone where it is to be, whatever rounding made of t
    double norm = 0.0;
    for (int k = 0; k < m; ++k) {
        norm += disc.t[k] * disc.t[k];
    }
    norm = sqrt(norm);
    double scale = disc.a > 0.0 && norm > 0.0 ? mu * n / norm : 1.0;
    r[0] = n;
    for (int j = 0; j < m; ++j) {
        for (int k = 0; k < m; ++k) {
            r[1 + j] += scale * q[k * m + j] * disc.t[k];
        }
    }
    return LOCAL_SOLVED;
}
