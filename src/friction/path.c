// The central path from a convex problem to the frictional one, followed through its turns.
//
// x = s (mu r_N, r_T) and y, the shifted velocity, keep x o y = t e exactly: both come from one
// unknown z = x - y in each contact's frame of eigenvectors. As t falls from t0 to zero the shift
// of De Saxce comes in (none at t0, where the problem is convex and its solution unique) and the
// residual of the first point goes out. Generically such a curve ends in a solution and nowhere
// else; since the problem is not monotone it turns back in t on its way, which stops every method
// that wants t to fall. Here ln t is an unknown like the others: steps go along the tangent, its
// sense given by the sign of the determinant, with Newton corrections across. One factorisation a
// step, some hundreds in all; the proximal method gives the last digits. friction.md section 4.11
#include "base/rng.h"
#include "friction/block_lu.h"
#include "friction/run.h"

#include <string.h>

// Lengths of paths differ much and by chance, so that many are tried, short ones first. They differ
// in the width over which |y_T| is rounded (its square in units of t: wide is smooth and late), in
// the size of the first y against that of x, and from the second round on in a factor for each
// contact, at random from a fixed seed.
enum { WIDTHS = 4, SHORT_PATHS = 24, PATHS = 32 };
static const double WIDTH2[WIDTHS] = {0.001, 0.01, 0.1, 1.0};
static const double RATIO[2] = {1.0, 10.0};
static const double SPREAD = 1.0; // logarithm of the largest factor
// Factorisations a path may take, besides one for every two contacts.
static const int STEPS_SHORT = 250, STEPS_LONG = 1500;
// Multiplications of all paths together: some minutes.
static const double WORK_MOST = 1.0e12;
// Values of ln t at which the proximal method is tried, and the steps it has.
static const double TRIES[] = {-12.0, -15.0, -18.0, -21.0};
enum { TRY_STEPS = 40 };
// A point is on the path when its residual is below this part of what t leaves of the first.
static const double ON_PATH = 0.4;
// Lengths of a step along the path: first, most, least.
static const double STEP_FIRST = 0.3, STEP_MOST = 3.0, STEP_LEAST = 1.0e-6;
enum { MAX_CORRECTIONS = 5 };
// ln t may not rise by more than this above its first value.
static const double RISE_MOST = 3.0;
// Added to the diagonal of a matrix of unit size: sticking contacts of a singular W have no other.
static const double DIAGONAL = 1.0e-12;
// Stands for r_T = 0 of frictionless contacts.
static const double HELD = 1.0e12;

typedef struct Path {
    Run* run;
    BlockLu lu;
    double* value;          // S F'(V^2 + C Q^-1 W Q^-1) F S in the pattern of W
    double* q;              // [n d] Q: x = Q r / unit, y = Q^-1 u / unit
    double unit;            // rms of Q^-1 b
    double first_t, round2; // t0, and the rounding of |y_T| in units of t
    double *z, tau;         // [n d] x - y, and ln t
    double *x, *y;          // [n d]
    double* barrier;        // [n d] eigenvalues of V^2 = -dy/dx at fixed t
    double* part;           // [n d] S = (1 + V^2)^(-1/2)
    double* frame;          // [n d d] eigenvectors F, by columns
    double* shift;          // [n d] derivative of the shift by y_T
    double* offset;         // [n d] the residual of the first point
    double *g, *by_tau;     // [n d] residual, and what of its change with tau is not through y
    double offset_norm;
    double *r, *u;   // [n d] in the units of the system
    double *xg, *yg; // [n d] the Newton step at fixed tau
    double *xt, *yt; // [n d] the change with tau
    double *tx, *ty; // [n d] unit tangent at the base
    double tangent;  // its part in tau
    double wx, wy;   // weights of x and y in lengths
    double* base;    // [n d] z of the last point on the path
    double base_tau, step;
} Path;

static TdlStatus path_init(Path* p, Run* run) {
    System* sys = run->sys;
    size_t size = run_size(run), d = (size_t)sys->d, n = (size_t)sys->n;
    memset(p, 0, sizeof *p);
    p->run = run;
    p->value = ARENA_NEW(run->arena, double, (size_t)sys->block_count* d* d);
    p->frame = ARENA_NEW(run->arena, double, n* d* d);
    double** vectors[] = {&p->q,      &p->z,  &p->x,      &p->y,  &p->barrier, &p->part, &p->shift,
                          &p->offset, &p->g,  &p->by_tau, &p->r,  &p->u,       &p->xg,   &p->yg,
                          &p->xt,     &p->yt, &p->tx,     &p->ty, &p->base};
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
    p->unit = sqrt(sum / (double)n);
    return block_lu_analyse(&p->lu, run->arena, sys);
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

// A contact without a cone: a ray, or nothing to keep to.
static void spread_plain(Path* p, int i, double t) {
    const System* sys = p->run->sys;
    int d = sys->d;
    double *x = p->x + i * d, *y = p->y + i * d, *f = p->frame + i * d * d;
    memset(f, 0, (size_t)(d * d) * sizeof(double));
    for (int k = 0; k < d; ++k) {
        bool held = sys->law[i] == LAW_SMOOTH && k > 0;
        x[k] = held ? 0.0 : p->z[i * d + k];
        y[k] = 0.0;
        p->barrier[i * d + k] = held ? HELD : 0.0;
        f[k * d + k] = 1.0;
    }
    if (sys->law[i] != LAW_BILATERAL) {
        x[0] = half_root(p->z[i * d], t);
        y[0] = t / x[0];
        p->barrier[i * d] = y[0] / x[0];
    }
}

// x, y, V^2 and its frame at one cone: eigenvalues of x solve x^2 - z x = t, of y are t/x
static void spread_cone(Path* p, int i, double t) {
    int d = p->run->sys->d;
    double *z = p->z + i * d, *x = p->x + i * d, *y = p->y + i * d, *v = p->barrier + i * d;
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
static double shift_cone(Path* p, int i, double t, double* by_tau) {
    int d = p->run->sys->d;
    const double* y = p->y + i * d;
    double norm = tangent_norm(d, y), s = sqrt(p->round2 * t), root = sqrt(norm * norm + s * s);
    double theta = 1.0 - t / p->first_t, value = norm * norm / (root + s);
    for (int k = 1; k < d; ++k) {
        p->shift[i * d + k] = theta * y[k] / root;
    }
    *by_tau = theta * 0.5 * s * (s / root - 1.0) - t / p->first_t * value;
    return theta * value;
}

// --- all contacts --------------------------------------------------------------------------------

// g = y - Q^-1 (W r + b) - shift e - t offset, whose norm is returned
static double residual(Path* p) {
    System* sys = p->run->sys;
    int d = sys->d;
    double t = exp(p->tau), sum = 0.0;
    for (int i = 0; i < sys->n; ++i) {
        if (sys->law[i] == LAW_CONE) {
            spread_cone(p, i, t);
        } else {
            spread_plain(p, i, t);
        }
    }
    for (size_t k = 0; k < run_size(p->run); ++k) {
        p->r[k] = p->x[k] * p->unit / p->q[k];
        p->part[k] = 1.0 / sqrt(1.0 + p->barrier[k]);
    }
    system_velocity(sys, p->r, p->u);
    for (int i = 0; i < sys->n; ++i) {
        double by_tau = 0.0, shift = sys->law[i] == LAW_CONE ? shift_cone(p, i, t, &by_tau) : 0.0;
        for (int k = i * d; k < (i + 1) * d; ++k) {
            bool held = sys->law[i] == LAW_SMOOTH && k > i * d;
            double all = p->y[k] - p->u[k] / (p->q[k] * p->unit) - (k == i * d ? shift : 0.0);
            p->g[k] = held ? 0.0 : all - t * p->offset[k];
            p->by_tau[k] = t * p->offset[k] + (k == i * d ? by_tau : 0.0);
            sum += p->g[k] * p->g[k];
        }
    }
    return isfinite(sum) ? sqrt(sum) : INFINITY;
}

// offset += g / t: the point at hand is then on the path
static void absorb(Path* p) {
    double t = exp(p->tau);
    for (size_t k = 0; k < run_size(p->run); ++k) {
        p->offset[k] += p->g[k] / t;
        p->by_tau[k] += p->g[k];
        p->g[k] = 0.0;
    }
}

// In the eigenvectors' frames stiff directions touch no other entries, and scaled by S no entry is
// larger than those of Q^-1 W Q^-1: nothing is lost as t falls.
static void factor_all(Path* p) {
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
                    double v = p->barrier[i * d + c];
                    a[c * d + c] += v / (1.0 + v) + DIAGONAL;
                }
            }
        }
    }
    block_lu_factor(&p->lu, sys, p->value, NULL, false);
    p->run->work += p->lu.flops;
}

// dx from (V^2 + C Q^-1 W Q^-1) dx = sign C a + y', and dy = y' - V^2 dx, y' = y or nothing
static void solve_for(Path* p, const double* a, double sign, const double* y, double* dx,
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
                back += p->barrier[i * d + c] * f;
            }
            dx[i * d + k] = x;
            dy[i * d + k] = (y != NULL ? y[i * d + k] : 0.0) - back;
        }
    }
}

// the product of two changes of (x, y), weighted
static double product(const Path* p, const double* ax, const double* ay, const double* bx,
                      const double* by) {
    size_t size = run_size(p->run);
    return p->wx * dot_product(size, ax, bx) + p->wy * dot_product(size, ay, by);
}

// --- along the path ------------------------------------------------------------------------------

static void step_from_base(Path* p) {
    for (size_t k = 0; k < run_size(p->run); ++k) {
        p->z[k] = p->base[k] + p->step * (p->tx[k] - p->ty[k]);
    }
    p->tau = p->base_tau + p->step * p->tangent;
}

// The point at hand becomes the base; the tangent points where tau falls if the determinant is
// positive, as it is at the start, and rises if it is not. (F.27)
static void set_base(Path* p) {
    size_t size = run_size(p->run);
    p->wx = 1.0 / dot_product(size, p->x, p->x);
    p->wy = 1.0 / dot_product(size, p->y, p->y);
    double part = 1.0 / sqrt(1.0 + product(p, p->xt, p->yt, p->xt, p->yt));
    p->tangent = p->lu.sign > 0 ? -part : part;
    for (size_t k = 0; k < size; ++k) {
        p->tx[k] = p->tangent * p->xt[k];
        p->ty[k] = p->tangent * p->yt[k];
    }
    memcpy(p->base, p->z, size * sizeof(double));
    p->base_tau = p->tau;
}

// a Newton step across the tangent
static void correct(Path* p) {
    double along = product(p, p->xg, p->yg, p->tx, p->ty);
    double slope = p->tangent + product(p, p->xt, p->yt, p->tx, p->ty);
    double dtau = slope != 0.0 ? fmax(-1.0, fmin(1.0, -along / slope)) : 0.0;
    for (size_t k = 0; k < run_size(p->run); ++k) {
        p->z[k] += p->xg[k] - p->yg[k] + dtau * (p->xt[k] - p->yt[k]);
    }
    p->tau += dtau;
}

// x = f e and y = ratio/f e at every contact, in units of Q^-1 b
static void begin(Path* p, int path) {
    const System* sys = p->run->sys;
    size_t size = run_size(p->run);
    Rng rng = rng_seed((uint64_t)path);
    p->first_t = RATIO[path / WIDTHS % 2];
    p->round2 = WIDTH2[path % WIDTHS];
    p->tau = log(p->first_t);
    p->step = STEP_FIRST;
    memset(p->z, 0, size * sizeof(double));
    memset(p->offset, 0, size * sizeof(double));
    for (int i = 0; i < sys->n; ++i) {
        double f = path < WIDTHS ? 1.0 : exp(rng_range(&rng, -SPREAD, SPREAD));
        if (sys->law[i] != LAW_BILATERAL) {
            p->z[i * sys->d] = f - p->first_t / f;
        }
    }
    residual(p);
    absorb(p);
    p->offset_norm = sqrt(dot_product(size, p->offset, p->offset));
}

// offers r, made admissible
static void offer(Path* p) {
    System* sys = p->run->sys;
    for (int i = 0; i < sys->n; ++i) {
        double r[CONE_MAX];
        memcpy(r, p->r + i * sys->d, (size_t)sys->d * sizeof(double));
        law_project(sys->d, sys->law[i], sys->mu[i], r, p->r + i * sys->d);
    }
    system_velocity(sys, p->r, p->u);
    run_offer(p->run, p->u, p->r);
}

// the last digits by Newton steps, from the point at hand
static TdlStatus finish(Path* p) {
    Run* run = p->run;
    int limit = run->limit;
    offer(p);
    run->start = p->r;
    run->limit = TRY_STEPS;
    TdlStatus status = run_proximal(run);
    run->start = NULL;
    run->limit = limit;
    return status;
}

// Follows one path until its limit, its end, or a solution.
static TdlStatus follow(Path* p, int path, int limit) {
    Run* run = p->run;
    TdlStatus status = TDL_STATUS_OK;
    begin(p, path);
    double first = p->tau, norm = 0.0, before = INFINITY;
    size_t tries = 0, count = sizeof TRIES / sizeof *TRIES;
    int corrections = 0;
    for (int k = 0; k < limit && !run_done(run) && tries < count && p->tau < first + RISE_MOST;
         ++k) {
        ++run->iterations;
        if (norm <= ON_PATH * exp(p->tau) * p->offset_norm) {
            // on the path
            absorb(p);
            factor_all(p);
            solve_for(p, p->by_tau, -1.0, p->y, p->xt, p->yt);
            set_base(p);
            if (p->tau < TRIES[tries]) {
                status = finish(p);
                for (; tries < count && p->tau < TRIES[tries]; ++tries) {
                }
                if (status != TDL_STATUS_OK) {
                    return status;
                }
            }
            p->step *= corrections > 2    ? 0.8
                       : corrections == 2 ? 1.3
                       : corrections == 1 ? 2.0
                                          : 1.0;
            p->step = fmin(p->step, STEP_MOST);
            step_from_base(p);
            corrections = 1;
            before = INFINITY;
        } else if (corrections > MAX_CORRECTIONS || !(norm < 2.0 * before)) {
            p->step *= 0.3;
            if (p->step < STEP_LEAST) {
                break;
            }
            step_from_base(p);
            corrections = 1;
            before = INFINITY;
        } else {
            factor_all(p);
            solve_for(p, p->g, 1.0, NULL, p->xg, p->yg);
            solve_for(p, p->by_tau, -1.0, p->y, p->xt, p->yt);
            correct(p);
            ++corrections;
            before = norm;
        }
        norm = residual(p);
    }
    return status;
}

TdlStatus run_path(Run* run) {
    ArenaMark mark = arena_mark(run->arena);
    Path p;
    TdlStatus status = path_init(&p, run);
    int end = run->iterations + run->limit;
    double work = run->work + WORK_MOST;
    for (int k = 0; status == TDL_STATUS_OK && k < PATHS && !run_done(run); ++k) {
        int left = end - run->iterations, most = k < SHORT_PATHS ? STEPS_SHORT : STEPS_LONG;
        if (left <= 0 || run->work > work) {
            break;
        }
        most += run->sys->n / 2;
        status = follow(&p, k, left < most ? left : most);
    }
    arena_release(run->arena, mark);
    return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
}
