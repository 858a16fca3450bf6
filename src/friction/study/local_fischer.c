// One contact by semismooth Newton on the modified Fischer-Burmeister function (S4 3.2.4).
//
// x = (mu r_N, r_T) and y = (u_N + mu |u_T|, mu u_T) lie in the Lorentz cone and are orthogonal
// exactly at a solution; F = x + y - (x^2 + y^2)^(1/2) in the cone's Jordan algebra. The problem is
// first made unit-free with trace(W)/d and |b|. The derivative of the square root solves an arrow
// system; near the cone's boundary that is singular, and a slightly smoothed root is derived
// instead. Newton with backtracking on |F|^2, typically 4 to 8 steps.
#include "friction/error.h"
#include "friction/study/study.h"

#include <string.h>

// Newton steps; 4 to 8 are usual, and what takes more than these does not converge.
enum { MAX_STEPS = 40 };
// Accepted |F| in unit-free terms, relative to |b| + |W r|: some tens of roundings.
static const double TOLERANCE = 2.0e-14;
// Accepted natural map relative to |r|: friction must be right even where impulses are small.
static const double MAP_TOLERANCE = 1.0e-13;
// Unit-free impulses beyond this run off to infinity, where no solution is: not for Newton to say.
static const double MAX_IMPULSE = 1.0e5;
// Added to the root, relative to its size, before it is derived: some hundreds of roundings.
static const double SMOOTHING = 1.0e-13;

typedef struct Frame {
    int d;
    double mu;
    const double* w; // unit-free block
    const double* b;
} Frame;

static void evaluate(const Frame* f, const double* r, double* u, double* x, double* y, double* z) {
    int d = f->d;
    for (int i = 0; i < d; ++i) {
        u[i] = f->b[i];
        for (int j = 0; j < d; ++j) {
            u[i] += f->w[j * d + i] * r[j];
        }
    }
    x[0] = f->mu * r[0];
    y[0] = u[0] + f->mu * tangent_norm(d, u);
    for (int k = 1; k < d; ++k) {
        x[k] = r[k];
        y[k] = f->mu * u[k];
    }
    fischer_burmeister(d, x, y, z);
}

// a <- L_z^-1 a for the arrow matrix [z0 zT'; zT z0 I]
static void arrow_solve(int d, const double* z, double det, double* a) {
    double dot = 0.0;
    for (int k = 1; k < d; ++k) {
        dot += z[k] * a[k];
    }
    double first = (z[0] * a[0] - dot) / det;
    a[0] = first;
    for (int k = 1; k < d; ++k) {
        a[k] = (a[k] - z[k] * first) / z[0];
    }
}

// a <- L_x v
static void arrow_multiply(int d, const double* x, const double* v, double* a) {
    a[0] = 0.0;
    for (int k = 0; k < d; ++k) {
        a[0] += x[k] * v[k];
    }
    for (int k = 1; k < d; ++k) {
        a[k] = x[k] * v[0] + x[0] * v[k];
    }
}

// the column j of dF/dr
static void jacobian_column(const Frame* f, const double* u, const double* x, const double* y,
                            const double* z, double det, int j, double* column) {
    int d = f->d;
    double dx[CONE_MAX] = {0}, dy[CONE_MAX], a[CONE_MAX], c[CONE_MAX];
    dx[j] = j == 0 ? f->mu : 1.0;
    double t = tangent_norm(d, u);
    dy[0] = f->w[j * d];
    for (int k = 1; k < d; ++k) {
        dy[0] += t > 0.0 ? f->mu * u[k] / t * f->w[j * d + k] : 0.0;
        dy[k] = f->mu * f->w[j * d + k];
    }
    arrow_multiply(d, x, dx, a);
    arrow_multiply(d, y, dy, c);
    for (int k = 0; k < d; ++k) {
        a[k] += c[k];
    }
    arrow_solve(d, z, det, a);
    for (int k = 0; k < d; ++k) {
        column[k] = dx[k] + dy[k] - a[k];
    }
}

// Gaussian elimination with partial pivoting; a by columns. False when singular.
static bool solve_small(int d, double* a, double* rhs) {
    for (int k = 0; k < d; ++k) {
        int pivot = k;
        for (int i = k + 1; i < d; ++i) {
            if (fabs(a[k * d + i]) > fabs(a[k * d + pivot])) {
                pivot = i;
            }
        }
        if (!(fabs(a[k * d + pivot]) > 1.0e-300)) {
            return false;
        }
        for (int j = 0; j < d && pivot != k; ++j) {
            double swap = a[j * d + k];
            a[j * d + k] = a[j * d + pivot];
            a[j * d + pivot] = swap;
        }
        double swap = rhs[k];
        rhs[k] = rhs[pivot];
        rhs[pivot] = swap;
        for (int i = k + 1; i < d; ++i) {
            double l = a[k * d + i] / a[k * d + k];
            for (int j = k; j < d; ++j) {
                a[j * d + i] -= l * a[j * d + k];
            }
            rhs[i] -= l * rhs[k];
        }
    }
    for (int k = d - 1; k >= 0; --k) {
        for (int j = k + 1; j < d; ++j) {
            rhs[k] -= a[j * d + k] * rhs[j];
        }
        rhs[k] /= a[k * d + k];
    }
    return true;
}

static double norm_of(int d, const double* a) {
    double sum = 0.0;
    for (int k = 0; k < d; ++k) {
        sum += a[k] * a[k];
    }
    return sqrt(sum);
}

// d <- -J^-1 F; false when J is singular
static bool newton_direction(const Frame* f, const double* u, const double* x, const double* y,
                             const double* value, double* direction) {
    int d = f->d;
    // the square root itself, smoothed so that L_z is regular
    double z[CONE_MAX], jacobian[CONE_MAX * CONE_MAX];
    for (int k = 0; k < d; ++k) {
        z[k] = x[k] + y[k] - value[k];
    }
    double scale = z[0] > 0.0 ? z[0] : 1.0;
    z[0] += SMOOTHING * scale;
    double t = tangent_norm(d, z), det = (z[0] - t) * (z[0] + t);
    if (det < SMOOTHING * scale * scale) {
        det = SMOOTHING * scale * scale;
    }
    for (int j = 0; j < d; ++j) {
        jacobian_column(f, u, x, y, z, det, j, jacobian + j * d);
    }
    for (int k = 0; k < d; ++k) {
        direction[k] = -value[k];
    }
    return solve_small(d, jacobian, direction);
}

static bool newton(const Frame* f, double* r) {
    int d = f->d;
    double u[CONE_MAX], x[CONE_MAX], y[CONE_MAX], z[CONE_MAX], step[CONE_MAX], trial[CONE_MAX];
    evaluate(f, r, u, x, y, z);
    for (int count = 0; count < MAX_STEPS; ++count) {
        double error = norm_of(d, z);
        double scale = (1.0 + f->mu) * (1.0 + norm_of(d, u)) + norm_of(d, x);
        if (error <= TOLERANCE * scale) {
            return true;
        }
        if (!newton_direction(f, u, x, y, z, step)) {
            return false;
        }
        double length = 1.0, before = error;
        for (int half = 0; half < 20; ++half, length *= 0.5) {
            for (int k = 0; k < d; ++k) {
                trial[k] = r[k] + length * step[k];
            }
            evaluate(f, trial, u, x, y, z);
            error = norm_of(d, z);
            if (error < (1.0 - 1.0e-4 * length) * before) {
                break;
            }
        }
        if (!(error < before)) {
            return false;
        }
        memcpy(r, trial, sizeof(double) * (size_t)d);
    }
    return false;
}

// F is flat near the cone's boundary: a tiny F can hide half the digits. The natural map cannot.
static bool truly_solved(const Frame* f, const double* r) {
    double u[CONE_MAX], x[CONE_MAX], y[CONE_MAX], z[CONE_MAX], map[CONE_MAX];
    evaluate(f, r, u, x, y, z);
    error_map(TDL_FRICTION_ERROR_NATURAL, f->d, LAW_CONE, f->mu, 1.0, u, r, map);
    double size = norm_of(f->d, r);
    return size <= MAX_IMPULSE && norm_of(f->d, map) <= MAP_TOLERANCE * size;
}

LocalResult local_fischer(int d, const double* w, double mu, const double* b, double* r) {
    double trace = 0.0, size = norm_of(d, b);
    for (int k = 0; k < d; ++k) {
        trace += w[k * d + k] / d;
    }
    if (b[0] >= 0.0) {
        memset(r, 0, sizeof(double) * (size_t)d);
        return LOCAL_SOLVED;
    }
    if (!(trace > 0.0)) {
        return LOCAL_FAILED;
    }
    // unit-free copies
    double unit_w[CONE_MAX * CONE_MAX], unit_b[CONE_MAX], unit_r[CONE_MAX];
    for (int k = 0; k < d * d; ++k) {
        unit_w[k] = w[k] / trace;
    }
    for (int k = 0; k < d; ++k) {
        unit_b[k] = b[k] / size;
        unit_r[k] = r[k] * (trace / size);
    }
    if (!(unit_r[0] > 0.0)) {
        memset(unit_r, 0, sizeof unit_r);
        unit_r[0] = unit_w[0] > 1.0e-12 ? -unit_b[0] / unit_w[0] : 1.0;
    }
    Frame frame = {d, mu, unit_w, unit_b};
    bool good = newton(&frame, unit_r) && truly_solved(&frame, unit_r);
    if (good) {
        for (int k = 0; k < d; ++k) {
            r[k] = unit_r[k] * (size / trace);
        }
    }
    return good ? LOCAL_SOLVED : LOCAL_FAILED;
}
