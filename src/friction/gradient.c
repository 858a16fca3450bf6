// Accelerated projected gradient with the friction shift renewed in every step (S4 eq. 3.13).
//
// min 1/2 r'W r + (b + E s)'r over the cones, by Nesterov's method with steps 1/(L D_i), D_i the
// contact's own stiffness and L the largest eigenvalue of D^-1/2 W D^-1/2 from a power iteration,
// raised when a step proves it too small; momentum restarts when it points uphill. The shift s
// follows every iterate. Needs only products W r, so it works through bodies too.
#include "friction/gradient.h"

#include <string.h>

// Steps of the power iteration: L to some per cent, which growth makes good.
enum { POWER_STEPS = 12 };
// Factors of L when the sufficient decrease fails, and slowly otherwise.
static const double L_GROWTH = 1.5, L_DECAY = 0.995;

static double stiffness(const System* sys, int i) {
    double trace = 0.0;
    for (int k = 0; k < sys->d; ++k) {
        trace += sys->diag[i * sys->d * sys->d + k * sys->d + k];
    }
    return fmax(trace / sys->d, 1.0e-6);
}

// u <- W x
static void apply(Gradient* g, const double* x, double* u) {
    System* sys = g->run->sys;
    system_velocity(sys, x, u);
    for (size_t k = 0; k < run_size(g->run); ++k) {
        u[k] -= sys->b[k];
    }
}

// the largest eigenvalue of D^-1 W by the power method from a fixed start
static double largest_eigenvalue(Gradient* g) {
    size_t size = run_size(g->run), d = (size_t)g->run->sys->d;
    double value = 1.0;
    for (size_t k = 0; k < size; ++k) {
        g->y[k] = 1.0 + 0.1 * (double)(k % 7);
    }
    for (int step = 0; step < POWER_STEPS; ++step) {
        apply(g, g->y, g->u_y);
        double square = 0.0, norm = sqrt(dot_product(size, g->y, g->y));
        for (size_t k = 0; k < size; ++k) {
            g->u_y[k] *= g->weight[k / d];
            square += g->u_y[k] * g->u_y[k];
        }
        value = sqrt(square) / norm;
        if (!(square > 0.0)) {
            return 1.0;
        }
        for (size_t k = 0; k < size; ++k) {
            g->y[k] = g->u_y[k] / sqrt(square);
        }
    }
    return fmax(1.1 * value, 1.0);
}

TdlStatus gradient_init(Gradient* g, Run* run) {
    System* sys = run->sys;
    size_t size = run_size(run);
    g->run = run;
    g->weight = ARENA_NEW(run->arena, double, sys->n);
    g->s = ARENA_NEW(run->arena, double, sys->n);
    double** vectors[] = {&g->r, &g->r_last, &g->y, &g->u_y, &g->u_r};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
        *vectors[k] = ARENA_NEW(run->arena, double, size);
        if (*vectors[k] == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    if (g->weight == NULL || g->s == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < sys->n; ++i) {
        g->weight[i] = 1.0 / stiffness(sys, i);
    }
    g->lipschitz = largest_eigenvalue(g);
    memcpy(g->r, run->best, size * sizeof(double));
    memcpy(g->y, g->r, size * sizeof(double));
    g->theta = 1.0;
    return TDL_STATUS_OK;
}

void gradient_renew_shift(Gradient* g, const double* u) {
    System* sys = g->run->sys;
    for (int i = 0; i < sys->n; ++i) {
        g->s[i] = shift_of(sys->d, sys->law[i], sys->mu[i], u + i * sys->d);
    }
}

// r <- P(y - (u_y + E s) / (L D))
static void descend(Gradient* g) {
    System* sys = g->run->sys;
    int d = sys->d;
    for (int i = 0; i < sys->n; ++i) {
        double x[CONE_MAX] = {0}, step = g->weight[i] / g->lipschitz;
        for (int k = 0; k < d; ++k) {
            x[k] = g->y[i * d + k] - step * (g->u_y[i * d + k] + (k == 0 ? g->s[i] : 0.0));
        }
        law_project(d, sys->law[i], sys->mu[i], x, g->r + i * d);
    }
}

// (r - y)'W (r - y) <= L |r - y|_D^2: was the step short enough?
static bool step_fits(Gradient* g) {
    size_t size = run_size(g->run), d = (size_t)g->run->sys->d;
    double energy = 0.0, square = 0.0;
    for (size_t k = 0; k < size; ++k) {
        double dr = g->r[k] - g->y[k];
        energy += dr * (g->u_r[k] - g->u_y[k]);
        square += dr * dr / g->weight[k / d];
    }
    return energy <= g->lipschitz * square * (1.0 + 1.0e-12);
}

// the next extrapolated point; momentum that points uphill is dropped
static void extrapolate(Gradient* g) {
    size_t size = run_size(g->run), d = (size_t)g->run->sys->d;
    double uphill = 0.0;
    for (size_t k = 0; k < size; ++k) {
        uphill += (g->y[k] - g->r[k]) * (g->r[k] - g->r_last[k]) / g->weight[k / d];
    }
    double theta = uphill > 0.0 ? 1.0 : g->theta;
    double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * theta * theta));
    double beta = uphill > 0.0 ? 0.0 : (theta - 1.0) / next;
    for (size_t k = 0; k < size; ++k) {
        g->y[k] = g->r[k] + beta * (g->r[k] - g->r_last[k]);
    }
    g->theta = next;
}

void gradient_step(Gradient* g, bool follow) {
    System* sys = g->run->sys;
    size_t size = run_size(g->run);
    memcpy(g->r_last, g->r, size * sizeof(double));
    system_velocity(sys, g->y, g->u_y);
    if (follow) {
        gradient_renew_shift(g, g->u_y);
    }
    for (int trial = 0; trial < 20; ++trial) {
        descend(g);
        system_velocity(sys, g->r, g->u_r);
        if (step_fits(g)) {
            break;
        }
        g->lipschitz *= L_GROWTH;
    }
    g->lipschitz *= L_DECAY;
    extrapolate(g);
}

TdlStatus run_gradient(Run* run) {
    ArenaMark mark = arena_mark(run->arena);
    Gradient g;
    if (gradient_init(&g, run) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    double work = run_sweep_work(run);
    for (int k = 0; k < run->limit && !run_done(run) && !run_spent(run, work); ++k) {
        gradient_step(&g, true);
        run_spend(run, work);
        run_count(run, TDL_FRICTION_GRADIENT, g.r);
        run_offer(run, g.u_r, g.r);
    }
    arena_release(run->arena, mark);
    return TDL_STATUS_OK;
}
