// The contact laws as cones: projections and the De Saxce shift. friction.md (F.3)-(F.5)
//
// Vectors are (normal, tangential...) with `d` components; the small loops unroll when d is known.
#ifndef TDL_FRICTION_CONE_H
#define TDL_FRICTION_CONE_H

#include <math.h>
#include <stdbool.h>

typedef enum ContactLaw {
    LAW_CONE = 0,   // 0 < mu < infinity
    LAW_SMOOTH,     // mu = 0: r_T = 0
    LAW_ROUGH,      // mu = infinity: u_T = 0, normal part unilateral
    LAW_BILATERAL,  // u = 0
    LAW_ASSOCIATED, // a cone without shift: u in its dual, normal to r. inverse-contacts.md (V.60)
} ContactLaw;

// Whether impulses are in a true cone, 0 < mu < infinity.
static inline bool law_has_cone(ContactLaw law) {
    return law == LAW_CONE || law == LAW_ASSOCIATED;
}

enum { CONE_MAX = 6 };

static inline double tangent_norm(int d, const double* a) {
    double sum = 0.0;
    for (int k = 1; k < d; ++k) {
        sum += a[k] * a[k];
    }
    return sqrt(sum);
}

// The normal part of u + mu |u_T| n; the shift matters to a true cone of Coulomb's only.
static inline double shift_of(int d, ContactLaw law, double mu, const double* u) {
    return law == LAW_CONE ? mu * tangent_norm(d, u) : 0.0;
}

// p <- the point nearest to x in the set of admissible impulses. (F.5)
static inline void law_project(int d, ContactLaw law, double mu, const double* x, double* p) {
    if (law_has_cone(law)) {
        double t = tangent_norm(d, x);
        if (t <= mu * x[0]) {
            for (int k = 0; k < d; ++k) {
                p[k] = x[k];
            }
            return;
        }
        if (mu * t <= -x[0]) {
            for (int k = 0; k < d; ++k) {
                p[k] = 0.0;
            }
            return;
        }
        double n = (x[0] + mu * t) / (1.0 + mu * mu);
        double s = mu * n / t;
        p[0] = n;
        for (int k = 1; k < d; ++k) {
            p[k] = s * x[k];
        }
        return;
    }
    p[0] = law == LAW_BILATERAL || x[0] > 0.0 ? x[0] : 0.0;
    for (int k = 1; k < d; ++k) {
        p[k] = law == LAW_SMOOTH ? 0.0 : x[k];
    }
}

// Columns (1, e)/2^(1/2), (1, -e)/2^(1/2), then tangents normal to e: those of a reflection that
// takes the first tangent axis to -+e.
static inline void cone_frame(int d, const double* e, double* f) {
    double h[CONE_MAX] = {0}, half = sqrt(0.5), sum = 0.0;
    for (int k = 0; k < d * d; ++k) {
        f[k] = 0.0;
    }
    f[0] = f[d] = half;
    for (int k = 1; k < d; ++k) {
        f[k] = half * e[k];
        f[d + k] = -half * e[k];
        h[k] = e[k] + (k > 1 ? 0.0 : e[1] >= 0.0 ? 1.0 : -1.0);
        sum += h[k] * h[k];
    }
    for (int c = 2; c < d; ++c) {
        for (int k = 1; k < d; ++k) {
            f[c * d + k] = (k == c ? 1.0 : 0.0) - 2.0 * h[k] * h[c] / sum;
        }
    }
}

// (l + (l^2 + 4 root^2)^(1/2))/2, without cancellation
static inline double smooth_positive(double l, double root) {
    double all = hypot(l, 2.0 * root);
    return l > 0.0 ? 0.5 * (l + all) : 2.0 * root * root / (all - l);
}

// The point inside the Lorentz cone with x - y = z and x o y = root^2 e. (F.68) One number: d = 1.
static inline void cone_centre(int d, const double* z, double root, double* x, double* y) {
    double t = d > 1 ? tangent_norm(d, z) : 0.0, square = root * root;
    double one = smooth_positive(z[0] + t, root), two = smooth_positive(z[0] - t, root);
    x[0] = 0.5 * (one + two);
    y[0] = 0.5 * (square / one + square / two);
    for (int k = 1; k < d; ++k) {
        double e = t > 0.0 ? z[k] / t : 0.0;
        x[k] = 0.5 * (one - two) * e;
        y[k] = 0.5 * (square / one - square / two) * e;
    }
}

#endif
