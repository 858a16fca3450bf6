// The barrier problem of all contacts, one factorisation at a time. friction.md section 4.11
#include "friction/barrier.h"

#include <string.h>

// Added to the diagonal of a matrix of unit size: sticking contacts of a singular W have no other.
static const double DIAGONAL = 1.0e-12;
// Stands for r = 0 of contacts without impulse, and r_T = 0 of frictionless ones.
static const double HELD = 1.0e12;

TdlStatus barrier_init(Barrier* p, Run* run) {
    System* sys = run->sys;
    size_t size = run_size(run), d = (size_t)sys->d, n = (size_t)sys->n;
    memset(p, 0, sizeof *p);
    p->run = run;
    p->value = ARENA_NEW(run->arena, double, (size_t)sys->block_count* d* d);
    p->frame = ARENA_NEW(run->arena, double, n* d* d);
    double** vectors[] = {&p->q,     &p->z,      &p->x, &p->y,      &p->stiff, &p->part,
                          &p->shift, &p->offset, &p->g, &p->by_tau, &p->r,     &p->u};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
        *vectors[k] = ARENA_NEW(run->arena, double, size);
        if (*vectors[k] == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        memset(*vectors[k], 0, size * sizeof(double));
    }
    if (p->value == NULL || p->frame == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) {
        double trace = 0.0;
        for (size_t k = 0; k < d; ++k) {
            trace += sys->diag[i * d * d + k * d + k];
        }
        for (size_t k = 0; k < d; ++k) {
            double stretch = k == 0 && sys->law[i] == LAW_CONE ? sys->mu[i] : 1.0;
            p->q[i * d + k] = stretch * sqrt(fmax(trace / (double)d, DIAGONAL));
            double b = sys->b[i * d + k] / p->q[i * d + k];
            sum += b * b;
        }
    }
    p->unit = sum > 0.0 ? sqrt(sum / (double)n) : 1.0;
    BlockPattern pattern = system_pattern(sys);
    return block_lu_analyse(&p->lu, run->arena, &pattern);
}

// --- one contact ---------------------------------------------------------------------------------

// the positive root of x^2 - z x - t
static double half_root(double z, double t) {
    double root = sqrt(z * z + 4.0 * t);
    return z > 0.0 ? 0.5 * (z + root) : 2.0 * t / (root - z);
}

// Columns (1, e)/2^(1/2), (1, -e)/2^(1/2), then tangents normal to e: those of a reflection that
// takes the first tangent axis to -+e.
static void frame_of(int d, const double* e, double* f) {
    double h[CONE_MAX] = {0}, half = sqrt(0.5), sum = 0.0;
    memset(f, 0, (size_t)(d * d) * sizeof(double));
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

// A contact without impulse.
static void spread_nothing(Barrier* p, int i) {
    int d = p->run->sys->d;
    double* f = p->frame + i * d * d;
    memset(f, 0, (size_t)(d * d) * sizeof(double));
    for (int k = 0; k < d; ++k) {
        p->x[i * d + k] = p->y[i * d + k] = 0.0;
        p->stiff[i * d + k] = HELD;
        f[k * d + k] = 1.0;
    }
}

// A contact without a cone: a ray, or nothing to keep to.
static void spread_plain(Barrier* p, int i, double t) {
    const System* sys = p->run->sys;
    int d = sys->d;
    double *x = p->x + i * d, *y = p->y + i * d, *f = p->frame + i * d * d;
    memset(f, 0, (size_t)(d * d) * sizeof(double));
    for (int k = 0; k < d; ++k) {
        bool held = sys->law[i] == LAW_SMOOTH && k > 0;
        x[k] = held ? 0.0 : p->z[i * d + k];
        y[k] = 0.0;
        p->stiff[i * d + k] = held ? HELD : 0.0;
        f[k * d + k] = 1.0;
    }
    if (sys->law[i] != LAW_BILATERAL) {
        x[0] = half_root(p->z[i * d], t);
        y[0] = t / x[0];
        p->stiff[i * d] = y[0] / x[0];
    }
}

// x, y, V^2 and its frame at one cone: eigenvalues of x solve x^2 - z x = t, of y are t/x
static void spread_cone(Barrier* p, int i, double t) {
    int d = p->run->sys->d;
    double *z = p->z + i * d, *x = p->x + i * d, *y = p->y + i * d, *v = p->stiff + i * d;
    double norm = tangent_norm(d, z), e[CONE_MAX] = {0};
    for (int k = 1; k < d; ++k) {
        e[k] = norm > 0.0 ? z[k] / norm : k == 1 ? 1.0 : 0.0;
    }
    double x1 = half_root(z[0] + norm, t), x2 = half_root(z[0] - norm, t);
    double across = t / (x1 * x2), tangent = norm / (1.0 + across); // (x1 - x2)/2
    x[0] = 0.5 * (x1 + x2);
    y[0] = 0.5 * (t / x1 + t / x2);
    v[0] = t / (x1 * x1);
    v[1] = t / (x2 * x2);
    for (int k = 1; k < d; ++k) {
        x[k] = tangent * e[k];
        y[k] = -across * tangent * e[k];
        v[k] = k > 1 ? across : v[1];
    }
    frame_of(d, e, p->frame + i * d * d);
}

// The shift theta ((|y_T|^2 + s^2)^(1/2) - s), s^2 = round2 t, theta = 1 - t/t0, and its
// derivatives
static double shift_cone(Barrier* p, int i, double t, double* by_tau) {
    int d = p->run->sys->d;
    const double* y = p->y + i * d;
    double norm = tangent_norm(d, y), s = sqrt(p->round2 * t), root = sqrt(norm * norm + s * s);
    double theta = p->convex ? 0.0 : 1.0 - t / p->first_t, value = norm * norm / (root + s);
    for (int k = 1; k < d; ++k) {
        p->shift[i * d + k] = theta * y[k] / root;
    }
    *by_tau = theta * 0.5 * s * (s / root - 1.0) - t / p->first_t * value;
    return theta * value;
}

// --- all contacts --------------------------------------------------------------------------------

static bool is_out(const Barrier* p, int i) {
    return p->out != NULL && p->out[i];
}

double barrier_residual(Barrier* p) {
    System* sys = p->run->sys;
    int d = sys->d;
    double t = exp(p->tau), sum = 0.0;
    for (int i = 0; i < sys->n; ++i) {
        if (is_out(p, i)) {
            spread_nothing(p, i);
        } else if (sys->law[i] == LAW_CONE) {
            spread_cone(p, i, t);
        } else {
            spread_plain(p, i, t);
        }
    }
    for (size_t k = 0; k < run_size(p->run); ++k) {
        p->r[k] = p->x[k] * p->unit / p->q[k];
        p->part[k] = 1.0 / sqrt(1.0 + p->stiff[k]);
    }
    system_velocity(sys, p->r, p->u);
    for (int i = 0; i < sys->n; ++i) {
        double by_tau = 0.0, shift = sys->law[i] == LAW_CONE ? shift_cone(p, i, t, &by_tau) : 0.0;
        for (int k = i * d; k < (i + 1) * d; ++k) {
            bool held = is_out(p, i) || (sys->law[i] == LAW_SMOOTH && k > i * d);
            double all = p->y[k] - p->u[k] / (p->q[k] * p->unit) - (k == i * d ? shift : 0.0) -
                         p->eps * p->x[k];
            p->g[k] = held ? 0.0 : all - t * p->offset[k];
            p->by_tau[k] = t * p->offset[k] + (k == i * d ? by_tau : 0.0);
            sum += p->g[k] * p->g[k];
        }
    }
    return isfinite(sum) ? sqrt(sum) : INFINITY;
}

// In the eigenvectors' frames stiff directions touch no other entries, and scaled by S no entry is
// larger than those of Q^-1 W Q^-1: nothing is lost as t falls.
void barrier_factor(Barrier* p) {
    System* sys = p->run->sys;
    int d = sys->d, d2 = d * d;
    for (int i = 0; i < sys->n; ++i) {
        double left[CONE_MAX * CONE_MAX]; // S F' C Q^-1 by rows
        for (int k = 0; k < d2; ++k) {
            const double* f = p->frame + i * d2 + k / d * d;
            left[k] = p->part[i * d + k / d] * (f[k % d] + f[0] * p->shift[i * d + k % d]) /
                      p->q[i * d + k % d];
        }
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            double *a = p->value + (size_t)e * (size_t)d2, half[CONE_MAX];
            const double* w = sys->blocks + (size_t)e * (size_t)d2;
            int j = sys->column[e];
            for (int c = 0; c < d; ++c) {
                memset(half, 0, sizeof half); // a column of W Q^-1 F S
                for (int m = 0; m < d; ++m) {
                    double right = p->part[j * d + c] * p->frame[j * d2 + c * d + m];
                    for (int k = 0; k < d; ++k) {
                        half[k] += w[m * d + k] * (right / p->q[j * d + m]);
                    }
                }
                for (int k = 0; k < d; ++k) {
                    double sum = 0.0;
                    for (int m = 0; m < d; ++m) {
                        sum += left[k * d + m] * half[m];
                    }
                    a[c * d + k] = sum;
                }
                if (i == j) {
                    double v = p->stiff[i * d + c];
                    a[c * d + c] += (v + p->eps) / (1.0 + v) + DIAGONAL;
                }
            }
        }
    }
    block_lu_factor(&p->lu, p->value, NULL, false);
    p->run->work += p->lu.flops;
}

void barrier_solve(Barrier* p, const double* a, double sign, const double* y, double* dx,
                   double* dy) {
    const System* sys = p->run->sys;
    int d = sys->d;
    for (int i = 0; i < sys->n; ++i) {
        double v[CONE_MAX];
        for (int k = 0; k < d; ++k) {
            v[k] = sign * a[i * d + k] + (y != NULL ? y[i * d + k] : 0.0);
        }
        for (int k = 1; k < d; ++k) {
            v[0] += sign * p->shift[i * d + k] * a[i * d + k];
        }
        for (int k = 0; k < d; ++k) {
            const double* f = p->frame + i * d * d + k * d;
            dx[i * d + k] = 0.0;
            for (int c = 0; c < d; ++c) {
                dx[i * d + k] += p->part[i * d + k] * f[c] * v[c];
            }
        }
    }
    block_lu_solve(&p->lu, dx);
    for (int i = 0; i < sys->n; ++i) {
        double v[CONE_MAX];
        for (int k = 0; k < d; ++k) {
            v[k] = p->part[i * d + k] * dx[i * d + k];
        }
        for (int k = 0; k < d; ++k) {
            double x = 0.0, back = 0.0;
            for (int c = 0; c < d; ++c) {
                double f = p->frame[i * d * d + c * d + k] * v[c];
                x += f;
                back += p->stiff[i * d + c] * f;
            }
            dx[i * d + k] = x;
            dy[i * d + k] = (y != NULL ? y[i * d + k] : 0.0) - back;
        }
    }
}
