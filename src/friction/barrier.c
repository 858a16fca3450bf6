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
    if (p->frame == NULL) {
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
    return space_init(&p->space, run);
}

// --- one contact ---------------------------------------------------------------------------------

// the positive root of x^2 - z x - t
static double half_root(double z, double t) {
    double root = sqrt(z * z + 4.0 * t);
    return z > 0.0 ? 0.5 * (z + root) : 2.0 * t / (root - z);
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
    cone_frame(d, e, p->frame + i * d * d);
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

// The parts of a contact: T = Q^-1 F S and S' = S F' C Q^-1. In the eigenvectors' frames stiff
// directions touch no other entries, and scaled by S no entry is larger than those of Q^-1 W Q^-1:
// nothing is lost as t falls. Returns how many unknowns there are.
static int fill_part(Barrier* p, int i) {
    const System* sys = p->run->sys;
    int d = sys->d, size = is_out(p, i) ? 0 : sys->law[i] == LAW_SMOOTH ? 1 : d;
    Part a = space_part(&p->space, i);
    *a.size = size;
    for (int k = 0; k < size; ++k) {
        const double* f = p->frame + (i * d + k) * d;
        double s = p->part[i * d + k], v = p->stiff[i * d + k];
        for (int c = 0; c < d; ++c) {
            double q = p->q[i * d + c], turn = c > 0 ? f[0] * p->shift[i * d + c] : 0.0;
            a.trial[k * d + c] = s * f[c] / q;
            a.test[k * d + c] = s * (f[c] + turn) / q;
        }
        a.add[k * (d + 1)] = (v + p->eps) / (1.0 + v) + DIAGONAL;
    }
    return size;
}

TdlStatus barrier_factor(Barrier* p) {
    int unknowns = 0;
    for (int i = 0; i < p->run->sys->n; ++i) {
        unknowns += fill_part(p, i);
    }
    if (unknowns != p->unknowns) { // none comes in again
        p->unknowns = unknowns;
        TdlStatus status = space_plan(&p->space);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return run_spent(p->run, p->space.flops) ? TDL_STATUS_STOPPED : space_factor(&p->space);
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
        Part part = space_part(&p->space, i);
        for (int k = 0; k < d; ++k) { // S F' v
            dx[i * d + k] = 0.0;
            for (int c = 0; c < d && k < *part.size; ++c) {
                dx[i * d + k] += part.trial[k * d + c] * p->q[i * d + c] * v[c];
            }
        }
    }
    space_solve(&p->space, dx);
    for (int i = 0; i < sys->n; ++i) {
        double v[CONE_MAX];
        for (int k = 0; k < d; ++k) {
            v[k] = k < *space_part(&p->space, i).size ? p->part[i * d + k] * dx[i * d + k] : 0.0;
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
