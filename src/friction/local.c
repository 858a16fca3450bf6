// One contact by the secular equation: the default one-contact solver.
//
// With u_N = 0 and u_T = -alpha r_T, alpha >= 0, elimination of the normal direction leaves
// (S + alpha I) r_T = -c, so r_T and r_N are explicit functions of the scalar alpha, and sliding is
// the root of h(alpha) = mu r_N / |r_T| - 1. For b_N < 0 the sign of h at 0 and at infinity
// brackets a root whenever the contact does not stick, so the solver cannot fail; h is nearly
// linear, and a safeguarded Newton iteration needs two or three steps. Cost about 100 to 200 ns.
#include "friction/local.h"

#include "friction/study/study.h"

#include <float.h>
#include <string.h>

// Steps before the bracket is trusted instead; bisection in the logarithm needs about 60.
enum { MAX_STEPS = 200 };

void local_eigen(int m, double* a, double* q) {
    for (int i = 0; i < m * m; ++i) {
        q[i] = i % (m + 1) == 0 ? 1.0 : 0.0;
    }
    for (int sweep = 0; sweep < 30; ++sweep) {
        double off = 0.0, all = 0.0;
        for (int i = 0; i < m * m; ++i) {
            all += a[i] * a[i];
            off += i % (m + 1) == 0 ? 0.0 : a[i] * a[i];
        }
        if (off <= 1.0e-30 * all) {
            return;
        }
        for (int i = 0; i < m; ++i) {
            for (int j = i + 1; j < m; ++j) {
                double aij = a[i * m + j];
                if (aij == 0.0) {
                    continue;
                }
                double theta = (a[j * m + j] - a[i * m + i]) / (2.0 * aij);
                double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
                double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < m; ++k) {
                    double x = a[k * m + i], y = a[k * m + j];
                    a[k * m + i] = c * x - s * y;
                    a[k * m + j] = s * x + c * y;
                }
                for (int k = 0; k < m; ++k) {
                    double x = a[i * m + k], y = a[j * m + k];
                    a[i * m + k] = c * x - s * y;
                    a[j * m + k] = s * x + c * y;
                    double p = q[i * m + k], o = q[j * m + k];
                    q[i * m + k] = c * p - s * o;
                    q[j * m + k] = s * p + c * o;
                }
            }
        }
    }
}

static inline void prepare(int d, const double* w, double* prep) {
    int m = d - 1;
    double schur[25], trace = 0.0;
    for (int k = 0; k < d; ++k) {
        trace += fabs(w[k * d + k]);
    }
    double floor = LOCAL_SINGULAR * trace;
    double wnn = w[0] > floor ? w[0] : floor;
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < m; ++j) {
            // without a normal stiffness there can be no coupling either
            double coupling = w[0] > floor ? w[(i + 1) * d] * w[(j + 1) * d] / wnn : 0.0;
            schur[i * m + j] = w[(j + 1) * d + i + 1] - coupling;
        }
    }
    double* s = prep + PREP_S;
    double *wt = s + m, *q = wt + m;
    if (m == 2) {
        local_eigen2(schur, q);
    } else {
        local_eigen(m, schur, q);
    }
    for (int k = 0; k < m; ++k) {
        s[k] = schur[k * m + k] > floor ? schur[k * m + k] : 0.0;
        wt[k] = 0.0;
        for (int j = 0; j < m && w[0] > floor; ++j) {
            wt[k] += q[k * m + j] * w[(j + 1) * d];
        }
    }
    prep[PREP_WNN] = w[0] > floor ? wnn : 0.0;
    prep[PREP_FLOOR] = floor > 0.0 ? floor : DBL_MIN;
    prep[PREP_ALPHA] = 0.0;
}

void local_prepare(int d, const double* w, double* prep) {
    if (d == 3) {
        prepare(3, w, prep);
    } else {
        prepare(d, w, prep);
    }
}

// t(alpha), n(alpha), and h with its derivative. (F.17)
static inline double secular(int m, const double* prep, double mu, double bn, const double* c,
                             double alpha, double* t, double* n, double* slope) {
    const double *s = prep + PREP_S, *wt = s + m;
    double square = 0.0, square_slope = 0.0, wn = bn, wn_slope = 0.0;
    for (int k = 0; k < m; ++k) {
        double inverse = 1.0 / (s[k] + alpha);
        t[k] = -c[k] * inverse;
        square += t[k] * t[k];
        square_slope += t[k] * t[k] * inverse;
        wn += wt[k] * t[k];
        wn_slope += wt[k] * t[k] * inverse;
    }
    double norm = sqrt(square);
    *n = -wn / prep[PREP_WNN];
    double ratio = mu / norm;
    *slope = ratio * (wn_slope / prep[PREP_WNN] + *n * square_slope / square);
    return *n * ratio - 1.0;
}

// The root of h in (0, high] from a first guess; h(0) < 0 <= h(high).
static inline double secular_root(int m, const double* prep, double mu, double bn, const double* c,
                                  double alpha, double high, double* t, double* n) {
    double low = 0.0, slope;
    if (!(alpha > 0.0 && alpha < high)) {
        alpha = prep[PREP_FLOOR] < high ? prep[PREP_FLOOR] : 0.5 * high;
    }
    for (int step = 0; step < MAX_STEPS; ++step) {
        double h = secular(m, prep, mu, bn, c, alpha, t, n, &slope);
        if (fabs(h) <= 2.0 * DBL_EPSILON) {
            break;
        }
        if (h < 0.0) {
            low = alpha;
        } else {
            high = alpha;
        }
        double next = alpha - h / slope;
        if (!(slope > 0.0 && next > low && next < high)) {
            // bisect, in the logarithm when the bracket spans decades
            next = low > 0.0 && high > 4.0 * low ? sqrt(low) * sqrt(high)
                   : low == 0.0                  ? 0.125 * high
                                                 : 0.5 * (low + high);
        }
        if (fabs(next - alpha) <= DBL_EPSILON * alpha || next == low || next == high) {
            secular(m, prep, mu, bn, c, next, t, n, &slope);
            return next;
        }
        alpha = next;
    }
    return alpha;
}

static inline double tangent_of(int m, const double* t) {
    double sum = 0.0;
    for (int k = 0; k < m; ++k) {
        sum += t[k] * t[k];
    }
    return sqrt(sum);
}

// r_T back from the eigenbasis
static inline void turn_back(int m, const double* q, const double* t, double* r) {
    for (int j = 0; j < m; ++j) {
        r[1 + j] = 0.0;
        for (int k = 0; k < m; ++k) {
            r[1 + j] += q[k * m + j] * t[k];
        }
    }
}

// t = -S^-1 c with singular directions at the floor; returns r_N of the sticking contact
static inline double stick(int m, const double* prep, double bn, const double* c, double* t) {
    const double *s = prep + PREP_S, *wt = s + m;
    double wn = bn;
    for (int k = 0; k < m; ++k) {
        t[k] = -c[k] / (s[k] > prep[PREP_FLOOR] ? s[k] : prep[PREP_FLOOR]);
        wn += wt[k] * t[k];
    }
    return -wn / prep[PREP_WNN];
}

// (W_TT) t = -b_T without a normal impulse, by Sherman and Morrison on W_TT = S + w w'/W_NN
static inline void stick_tangent(int m, const double* prep, const double* bt, double* t) {
    const double *s = prep + PREP_S, *wt = s + m;
    double sb = 0.0, sw = 0.0;
    for (int k = 0; k < m; ++k) {
        double inverse = 1.0 / (s[k] > prep[PREP_FLOOR] ? s[k] : prep[PREP_FLOOR]);
        sb += wt[k] * inverse * bt[k];
        sw += wt[k] * inverse * wt[k];
    }
    double factor = prep[PREP_WNN] > 0.0 ? sb / (prep[PREP_WNN] + sw) : 0.0;
    for (int k = 0; k < m; ++k) {
        double inverse = 1.0 / (s[k] > prep[PREP_FLOOR] ? s[k] : prep[PREP_FLOOR]);
        t[k] = -inverse * (bt[k] - wt[k] * factor);
    }
}

// Laws that are not cones: closed forms.
static LocalResult solve_simple(int m, const double* prep, ContactLaw law, const double* b,
                                const double* bt, const double* c, double* r) {
    double t[CONE_MAX] = {0};
    bool pushed = prep[PREP_WNN] > 0.0;
    if (law == LAW_SMOOTH) {
        for (int k = 1; k <= m; ++k) {
            r[k] = 0.0;
        }
        r[0] = b[0] < 0.0 && pushed ? -b[0] / prep[PREP_WNN] : 0.0;
        return b[0] < 0.0 && !pushed ? LOCAL_NONE : LOCAL_SOLVED;
    }
    double n = pushed ? stick(m, prep, b[0], c, t) : 0.0;
    if (law == LAW_ROUGH && !(n > 0.0)) {
        n = 0.0;
        stick_tangent(m, prep, bt, t);
    }
    r[0] = n;
    turn_back(m, prep + PREP_S + 2 * m, t, r);
    return LOCAL_SOLVED;
}

static inline LocalResult solve_secular(int m, double* prep, ContactLaw law, double mu,
                                        const double* b, double* r) {
    const double *wt = prep + PREP_S + m, *q = wt + m;
    if (law == LAW_CONE && b[0] >= 0.0) {
        for (int k = 0; k <= m; ++k) {
            r[k] = 0.0;
        }
        return LOCAL_SOLVED;
    }
    // c = Q (b_T - W_TN b_N / W_NN)
    double bt[CONE_MAX], c[CONE_MAX], t[CONE_MAX];
    double inverse = prep[PREP_WNN] > 0.0 ? 1.0 / prep[PREP_WNN] : 0.0;
    double square = 0.0, wc = 0.0;
    for (int k = 0; k < m; ++k) {
        bt[k] = 0.0;
        for (int j = 0; j < m; ++j) {
            bt[k] += q[k * m + j] * b[1 + j];
        }
        c[k] = bt[k] - wt[k] * b[0] * inverse;
        square += c[k] * c[k];
        wc += wt[k] * wt[k];
    }
    if (law != LAW_CONE) {
        return solve_simple(m, prep, law, b, bt, c, r);
    }
    if (inverse == 0.0) {
        for (int k = 0; k <= m; ++k) {
            r[k] = 0.0;
        }
        return LOCAL_NONE;
    }
    double n = stick(m, prep, b[0], c, t);
    double tt = 0.0;
    for (int k = 0; k < m; ++k) {
        tt += t[k] * t[k];
    }
    if (!(n >= 0.0 && tt <= mu * mu * n * n)) {
        // beyond this alpha the cone is certainly satisfied, (F.18)
        double high = 1.01 * sqrt(square) * (prep[PREP_WNN] / mu + sqrt(wc)) / -b[0];
        prep[PREP_ALPHA] = secular_root(m, prep, mu, b[0], c, prep[PREP_ALPHA], high, t, &n);
        // n from u_N = 0 cancels where the block is badly scaled; on the cone it does not
        n = tangent_of(m, t) / mu;
    }
    r[0] = n;
    turn_back(m, q, t, r);
    return LOCAL_SOLVED;
}

LocalResult local_secular3(double* prep, ContactLaw law, double mu, const double* b, double* r) {
    if (law == LAW_ASSOCIATED) {
        return local_associated(3, prep, mu, b, r);
    }
    return solve_secular(2, prep, law, mu, b, r);
}

LocalResult local_secular6(double* prep, ContactLaw law, double mu, const double* b, double* r) {
    if (law == LAW_ASSOCIATED) {
        return local_associated(6, prep, mu, b, r);
    }
    return solve_secular(5, prep, law, mu, b, r);
}

LocalResult local_solve(TdlFrictionLocal kind, int d, const double* w, double* prep, ContactLaw law,
                        double mu, const double* b, double* r, long long* failsafe) {
    if (kind == TDL_FRICTION_LOCAL_SECULAR || law != LAW_CONE) {
        return d == 3 ? local_secular3(prep, law, mu, b, r) : local_secular6(prep, law, mu, b, r);
    }
    if (kind == TDL_FRICTION_LOCAL_ENUMERATE && d == 3) {
        return local_enumerate(prep, mu, b, r);
    }
    LocalResult result = local_fischer(d, w, mu, b, r);
    if (result != LOCAL_FAILED || kind == TDL_FRICTION_LOCAL_FISCHER) {
        return result;
    }
    ++*failsafe;
    return d == 3 ? local_enumerate(prep, mu, b, r) : local_secular6(prep, law, mu, b, r);
}

const char* tdl_friction_local_name(TdlFrictionLocal kind) {
    switch (kind) {
    case TDL_FRICTION_LOCAL_SECULAR:
        return "secular";
    case TDL_FRICTION_LOCAL_HYBRID:
        return "hybrid";
    case TDL_FRICTION_LOCAL_FISCHER:
        return "fischer-burmeister";
    case TDL_FRICTION_LOCAL_ENUMERATE:
        return "enumerate";
    case TDL_FRICTION_LOCAL_COUNT:
        break;
    }
    return "unknown";
}
