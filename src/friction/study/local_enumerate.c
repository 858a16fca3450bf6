// One contact by exact enumeration: take-off, stick, slide through a quartic (S4 3.2.3).
//
// In the prepared basis sliding is (S + alpha I) t = -c with |t| = mu n(alpha); clearing
// denominators and squaring gives a quartic in alpha (F.20), whose positive roots with n > 0 are
// all the sliding solutions. Where S is singular the sticking solutions form a line or a plane,
// which is searched for the point deepest in the cone (F.21). When every case is empty, no solution
// exists; that needs a singular block (friction.md, theorem 1).
#include "friction/study/study.h"
#include "math/polynomial.h"

#include <string.h>

// Part of |c| that counts as zero along a direction without stiffness: some hundreds of roundings.
static const double RANGE_PART = 1.0e-13;

// The unit-free problem in the eigenbasis.
typedef struct Unit {
    double wnn, mu, bn;
    double s[2], w[2], c[2];
} Unit;

static double normal_of(const Unit* p, const double* t) {
    return -(p->bn + p->w[0] * t[0] + p->w[1] * t[1]) / p->wnn;
}

static bool inside(const Unit* p, const double* t) {
    double n = normal_of(p, t);
    return n >= 0.0 && hypot(t[0], t[1]) <= p->mu * n * (1.0 + 1.0e-14);
}

// Moves t along direction z, which changes no velocity, to the point deepest in the cone. (F.21)
static bool stick_along(const Unit* p, const double z[2], double* t) {
    double along = t[0] * z[0] + t[1] * z[1];
    double base[2] = {t[0] - along * z[0], t[1] - along * z[1]};
    double kappa = -p->mu * (p->w[0] * z[0] + p->w[1] * z[1]) / p->wnn;
    double rest = hypot(base[0], base[1]);
    if (fabs(kappa) < 1.0) {
        double best = kappa * rest / sqrt(1.0 - kappa * kappa);
        t[0] = base[0] + best * z[0];
        t[1] = base[1] + best * z[1];
        return inside(p, t);
    }
    // the cone opens faster than the line leaves it: go out until inside
    double far = kappa > 0.0 ? 1.0 : -1.0;
    for (int k = 0; k < 100; ++k, far *= 2.0) {
        t[0] = base[0] + far * z[0];
        t[1] = base[1] + far * z[1];
        if (inside(p, t)) {
            return true;
        }
    }
    return false;
}

static bool try_stick(const Unit* p, double* t) {
    double zero = RANGE_PART * (hypot(p->c[0], p->c[1]) + fabs(p->bn));
    int free_count = 0;
    for (int k = 0; k < 2; ++k) {
        if (p->s[k] > 0.0) {
            t[k] = -p->c[k] / p->s[k];
        } else if (fabs(p->c[k]) <= zero) {
            t[k] = 0.0;
            ++free_count;
        } else {
            return false; // this velocity cannot be stopped
        }
    }
    if (free_count == 0 || inside(p, t)) {
        return inside(p, t);
    }
    if (free_count == 1) {
        double z[2] = {p->s[0] > 0.0 ? 0.0 : 1.0, p->s[0] > 0.0 ? 1.0 : 0.0};
        return stick_along(p, z, t);
    }
    double w = hypot(p->w[0], p->w[1]);
    if (w == 0.0) {
        return false;
    }
    return stick_along(p, (double[2]){p->w[0] / w, p->w[1] / w}, t);
}

// mu^2 A(alpha)^2 - W_NN^2 |adj(S + alpha I) c|^2. (F.20)
static void sliding_quartic(const Unit* p, double poly[5]) {
    double wc0 = p->w[0] * p->c[0], wc1 = p->w[1] * p->c[1], s0 = p->s[0], s1 = p->s[1];
    double a2 = p->bn, a1 = p->bn * (s0 + s1) - wc0 - wc1;
    double a0 = p->bn * s0 * s1 - wc0 * s1 - wc1 * s0;
    double m2 = p->mu * p->mu, w2 = p->wnn * p->wnn;
    double e0 = p->c[0] * p->c[0], e1 = p->c[1] * p->c[1];
    poly[0] = m2 * a0 * a0 - w2 * (e0 * s1 * s1 + e1 * s0 * s0);
    poly[1] = 2.0 * m2 * a0 * a1 - 2.0 * w2 * (e0 * s1 + e1 * s0);
    poly[2] = m2 * (a1 * a1 + 2.0 * a0 * a2) - w2 * (e0 + e1);
    poly[3] = 2.0 * m2 * a1 * a2;
    poly[4] = m2 * a2 * a2;
}

// h = mu n / |t| - 1 and its derivative at alpha
static double mismatch(const Unit* p, double alpha, double* t, double* n, double* slope) {
    double i0 = 1.0 / (p->s[0] + alpha), i1 = 1.0 / (p->s[1] + alpha);
    t[0] = -p->c[0] * i0;
    t[1] = -p->c[1] * i1;
    *n = normal_of(p, t);
    double norm2 = t[0] * t[0] + t[1] * t[1];
    double dn = (p->w[0] * t[0] * i0 + p->w[1] * t[1] * i1) / p->wnn;
    double dt = (t[0] * t[0] * i0 + t[1] * t[1] * i1) / norm2;
    *slope = p->mu / sqrt(norm2) * (dn + *n * dt);
    return p->mu * *n / sqrt(norm2) - 1.0;
}

// Squaring cost half the digits: a few Newton steps on h give them back.
static double polish(const Unit* p, double alpha, double* t, double* n) {
    double slope, h = mismatch(p, alpha, t, n, &slope);
    for (int k = 0; k < 20 && h != 0.0; ++k) {
        double next = alpha - h / slope, next_slope;
        if (!(next > 0.0)) {
            break;
        }
        double next_h = mismatch(p, next, t, n, &next_slope);
        if (!(fabs(next_h) < fabs(h))) {
            break;
        }
        alpha = next;
        h = next_h;
        slope = next_slope;
    }
    return fabs(mismatch(p, alpha, t, n, &slope));
}

// The sliding solution that fits best; returns its mismatch, infinite when there is none.
static double try_slide(const Unit* p, double* t) {
    double poly[5], roots[4], best = INFINITY;
    sliding_quartic(p, poly);
    int count = tdl_roots_quartic(poly, roots);
    for (int k = 0; k < count; ++k) {
        double trial[2], n;
        if (!(roots[k] > 0.0)) {
            continue;
        }
        double miss = polish(p, roots[k], trial, &n);
        if (n > 0.0 && miss < best) {
            best = miss;
            t[0] = trial[0];
            t[1] = trial[1];
        }
    }
    return best;
}

LocalResult local_enumerate(const double* prep, double mu, const double* b, double* r) {
    const double *s = prep + PREP_S, *w = s + 2, *q = w + 2;
    memset(r, 0, 3 * sizeof(double));
    if (b[0] >= 0.0) {
        return LOCAL_SOLVED; // take-off
    }
    if (!(prep[PREP_WNN] > 0.0)) {
        return LOCAL_NONE; // pushed in, and no impulse can push back
    }
    double unit_w = fmax(prep[PREP_WNN], fmax(s[0], s[1])), unit_b = 0.0;
    for (int k = 0; k < 3; ++k) {
        unit_b = fmax(unit_b, fabs(b[k]));
    }
    Unit p = {.wnn = prep[PREP_WNN] / unit_w, .mu = mu, .bn = b[0] / unit_b};
    for (int k = 0; k < 2; ++k) {
        p.s[k] = s[k] / unit_w;
        p.w[k] = w[k] / unit_w;
        p.c[k] = (q[2 * k] * b[1] + q[2 * k + 1] * b[2] - w[k] * b[0] / prep[PREP_WNN]) / unit_b;
    }
    double t[2], back = unit_b / unit_w;
    if (try_stick(&p, t)) {
        r[0] = back * normal_of(&p, t);
    } else if (try_slide(&p, t) <= 1.0e-9) {
        r[0] = back * hypot(t[0], t[1]) / mu; // on the cone, where u_N = 0 would cancel
    } else {
        return LOCAL_NONE;
    }
    r[1] = back * (q[0] * t[0] + q[2] * t[1]);
    r[2] = back * (q[1] * t[0] + q[3] * t[1]);
    return LOCAL_SOLVED;
}
