// The nonsmooth Newton method of S1 as it stands (its algorithms 1 and 2), on the Alart-Curnier
// function and without regularisation.
//
// F(r) = 0 with u = W r + b; the generalised Jacobian is G_u W + G_r, a matrix with the block
// pattern of W. Along a direction u is affine, so that a trial of the Goldstein-Price search costs
// O(n) and no product. Steps of the maps are 1/W_NN and 1/W_TT per contact, which makes F unit-free
// and independent of how contacts are scaled. friction.md section 4.4
#include "friction/study/study.h"
#include "linalg/block_lu.h"

#include <string.h>

// Goldstein-Price bounds of S1 algorithm 2, in units of the slope, and its limit of trials.
static const double SEARCH_LOW = 0.1, SEARCH_HIGH = 0.9;
enum { MAX_TRIALS = 30 };

typedef struct Newton {
    Run* run;
    BlockLu lu;
    double* value;         // [blocks d d] the Jacobian
    bool* idle;            // [n] rows that are the identity
    double *rho_n, *rho_t; // [n] steps of the maps
    double *r, *u;         // [n d] iterate and its velocity W r + b
    double* f;             // [n d] F
    double *step, *du;     // [n d] direction and W step
    double *trial, *u_trial;
} Newton;

// Ready at run->start, or at the best iterate. TDL_STATUS_STOPPED: the factors would be too large.
static TdlStatus newton_init(Newton* nw, Run* run) {
    System* sys = run->sys;
    size_t n = (size_t)sys->n, size = run_size(run), d = (size_t)sys->d;
    memset(nw, 0, sizeof *nw);
    nw->run = run;
    nw->value = ARENA_NEW(run->arena, double, (size_t)sys->block_count* d* d);
    nw->idle = ARENA_NEW(run->arena, bool, n);
    nw->rho_n = ARENA_NEW(run->arena, double, n);
    nw->rho_t = ARENA_NEW(run->arena, double, n);
    double** vectors[] = {&nw->r, &nw->u, &nw->f, &nw->step, &nw->du, &nw->trial, &nw->u_trial};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
        *vectors[k] = ARENA_NEW(run->arena, double, size);
        if (*vectors[k] == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    if (!nw->value || !nw->idle || !nw->rho_n || !nw->rho_t) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < n; ++i) {
        const double* w = sys->diag + i * d * d;
        double tangent = 0.0;
        for (size_t k = 1; k < d; ++k) {
            tangent += w[k * d + k] / (double)(d - 1);
        }
        double least = 1.0e-12 * (fabs(w[0]) + fabs(tangent)) + 1.0e-300;
        nw->rho_n[i] = 1.0 / fmax(w[0], least);
        nw->rho_t[i] = 1.0 / fmax(tangent, least);
    }
    memcpy(nw->r, run->start != NULL ? run->start : run->best, size * sizeof(double));
    BlockPattern pattern = system_pattern(sys);
    return block_lu_analyse(&nw->lu, run->arena, &pattern);
}

// The parts of F and of its derivatives at one contact.
typedef struct Piece {
    double f[CONE_MAX];
    double gu[CONE_MAX * CONE_MAX], gr[CONE_MAX * CONE_MAX]; // by columns
    bool idle;                                               // F = r
} Piece;

// The tangential part of a sliding contact: F_T = r_T - delta y/|y|. S1 section 4.3 as corrected
static void slide_piece(const Newton* nw, int d, int i, const double* y, double norm, double delta,
                        double mu, Piece* p) {
    for (int k = 1; k < d; ++k) {
        double yk = y[k] / norm;
        p->gr[0 * d + k] = -mu * yk;
        for (int c = 1; c < d; ++c) {
            double across = delta / norm * ((c == k ? 1.0 : 0.0) - yk * y[c] / norm);
            p->gr[c * d + k] = (c == k ? 1.0 : 0.0) - across;
            p->gu[c * d + k] = nw->rho_t[i] * across;
        }
    }
}

// F at one contact; with derivatives when `p->gu` is wanted
static void piece_of(const Newton* nw, int i, const double* u, const double* r, bool derive,
                     Piece* p) {
    const System* sys = nw->run->sys;
    int d = sys->d;
    ContactLaw law = sys->law[i];
    double mu = sys->mu[i], y[CONE_MAX] = {0};
    double yn = r[0] - nw->rho_n[i] * u[0];
    bool pressed = law == LAW_BILATERAL || yn > 0.0;
    p->f[0] = pressed ? nw->rho_n[i] * u[0] : r[0];
    for (int k = 1; k < d; ++k) {
        y[k] = r[k] - nw->rho_t[i] * u[k];
    }
    double norm = tangent_norm(d, y), delta = law == LAW_CONE ? mu * fmax(r[0], 0.0) : 0.0;
    bool stick = law == LAW_ROUGH || law == LAW_BILATERAL || (law == LAW_CONE && norm <= delta);
    bool slide = law == LAW_CONE && !stick && delta > 0.0;
    for (int k = 1; k < d; ++k) {
        p->f[k] = stick ? nw->rho_t[i] * u[k] : slide ? r[k] - delta * y[k] / norm : r[k];
    }
    p->idle = !pressed && !stick && !slide;
    if (!derive) {
        return;
    }
    memset(p->gu, 0, sizeof p->gu);
    memset(p->gr, 0, sizeof p->gr);
    p->gu[0] = pressed ? nw->rho_n[i] : 0.0;
    p->gr[0] = pressed ? 0.0 : 1.0;
    if (slide) {
        slide_piece(nw, d, i, y, norm, delta, mu, p);
        return;
    }
    for (int k = 1; k < d; ++k) {
        p->gu[k * d + k] = stick ? nw->rho_t[i] : 0.0;
        p->gr[k * d + k] = stick ? 0.0 : 1.0;
    }
}

static double newton_merit(const Newton* nw, const double* u, const double* r, double* f) {
    const System* sys = nw->run->sys;
    int d = sys->d;
    double sum = 0.0;
    Piece p;
    for (int i = 0; i < sys->n; ++i) {
        piece_of(nw, i, u + i * d, r + i * d, false, &p);
        for (int k = 0; k < d; ++k) {
            sum += p.f[k] * p.f[k];
            if (f != NULL) {
                f[i * d + k] = p.f[k];
            }
        }
    }
    return 0.5 * sum;
}

// c <- a b, all d x d by columns
static inline void multiply(int d, const double* a, const double* b, double* c) {
    for (int j = 0; j < d; ++j) {
        for (int k = 0; k < d; ++k) {
            double sum = 0.0;
            for (int m = 0; m < d; ++m) {
                sum += a[m * d + k] * b[j * d + m];
            }
            c[j * d + k] = sum;
        }
    }
}

static void jacobian(Newton* nw) {
    System* sys = nw->run->sys;
    int d = sys->d, d2 = d * d;
    Piece p;
    for (int i = 0; i < sys->n; ++i) {
        piece_of(nw, i, nw->u + i * d, nw->r + i * d, true, &p);
        nw->idle[i] = p.idle;
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            double* a = nw->value + (size_t)e * (size_t)d2;
            if (p.idle) {
                memset(a, 0, (size_t)d2 * sizeof(double));
            } else if (d == 3) {
                multiply(3, p.gu, sys->blocks + (size_t)e * 9, a);
            } else {
                multiply(d, p.gu, sys->blocks + (size_t)e * (size_t)d2, a);
            }
            if (sys->column[e] == i) {
                for (int k = 0; k < d2; ++k) {
                    a[k] += p.gr[k];
                }
            }
        }
    }
}

static double merit_at(Newton* nw, double alpha) {
    size_t size = run_size(nw->run);
    for (size_t k = 0; k < size; ++k) {
        nw->trial[k] = nw->r[k] + alpha * nw->step[k];
        nw->u_trial[k] = nw->u[k] + alpha * nw->du[k];
    }
    return newton_merit(nw, nw->u_trial, nw->trial, NULL);
}

// S1 algorithm 2. The slope of the merit along a Newton direction is -2 q0. Returns the best
// length met, 0 when none decreases the merit.
static double goldstein_price(Newton* nw, double q0) {
    double low = 0.0, high = INFINITY, alpha = 1.0, best = 0.0, best_q = q0;
    double slope = -2.0 * q0;
    for (int k = 0; k < MAX_TRIALS; ++k) {
        double q = merit_at(nw, alpha), secant = (q - q0) / alpha;
        if (q < best_q) {
            best_q = q;
            best = alpha;
        }
        if (secant >= SEARCH_HIGH * slope && secant <= SEARCH_LOW * slope) {
            return alpha;
        }
        if (secant < SEARCH_HIGH * slope) {
            low = alpha;
        } else {
            high = alpha;
        }
        alpha = isfinite(high) ? 0.5 * (low + high) : 10.0 * alpha;
        if (alpha > 1.0e3 || alpha < 1.0e-6) {
            break;
        }
    }
    return best;
}

static double newton_step(Newton* nw, double q0) {
    size_t size = run_size(nw->run);
    jacobian(nw);
    block_lu_factor(&nw->lu, nw->value, nw->idle, false);
    run_spend(nw->run, nw->lu.flops);
    for (size_t k = 0; k < size; ++k) {
        nw->step[k] = -nw->f[k];
    }
    block_lu_solve(&nw->lu, nw->step);
    for (size_t k = 0; k < size; ++k) {
        if (!isfinite(nw->step[k])) {
            return -1.0;
        }
    }
    system_product(nw->run->sys, nw->step, nw->du);
    double alpha = goldstein_price(nw, q0);
    if (alpha == 0.0) {
        return -1.0;
    }
    for (size_t k = 0; k < size; ++k) {
        nw->r[k] += alpha * nw->step[k];
    }
    system_velocity(nw->run->sys, nw->r, nw->u);
    return newton_merit(nw, nw->u, nw->r, nw->f);
}

TdlStatus run_newton(Run* run) {
    ArenaMark mark = arena_mark(run->arena);
    Newton nw;
    TdlStatus status = newton_init(&nw, run);
    if (status != TDL_STATUS_OK) {
        arena_release(run->arena, mark);
        return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
    }
    system_velocity(run->sys, nw.r, nw.u);
    double q = newton_merit(&nw, nw.u, nw.r, nw.f);
    for (int k = 0; k < run->limit && !run_done(run) && !run_spent(run, nw.lu.flops); ++k) {
        q = newton_step(&nw, q);
        run_count(run, TDL_FRICTION_NEWTON, nw.r);
        if (q < 0.0) {
            break;
        }
        run_offer(run, nw.u, nw.r);
    }
    arena_release(run->arena, mark);
    return TDL_STATUS_OK;
}
