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
#include "friction/barrier.h"

#include <string.h>

// Lengths of paths differ much and by chance, so that many are tried, short ones first. They differ
// in the width over which |y_T| is rounded (its square in units of t: wide is smooth and late), in
// the size of the first y against that of x, and from the second round on in a factor for each
// contact, at random from a fixed seed. Within what is left of wedges fewer are tried: these may be
// held in another way.
enum { WIDTHS = 4, SHORT_PATHS = 24, PATHS = 32, PATHS_WITHIN = 16 };
static const double WIDTH2[WIDTHS] = {0.1, 1.0, 10.0, 100.0};
static const double RATIO[2] = {1.0, 10.0};
static const double SPREAD = 1.0; // logarithm of the largest factor
// Factorisations a path may take, besides one for every two contacts.
static const int STEPS_SHORT = 250, STEPS_LONG = 1500;
// Multiplications of all paths together: some minutes.
static const double WORK_MOST = 1.0e12;
// Values of ln t at which the proximal method is tried, and the steps it has.
static const double TRIES[] = {-12.0, -15.0, -18.0, -21.0, -24.0, -27.0, -30.0};
enum { TRY_STEPS = 40 };
// A point is on the path when its residual is below this part of what t leaves of the first.
static const double ON_PATH = 0.4;
// Lengths of a step along the path: first, most, least.
static const double STEP_FIRST = 0.3, STEP_MOST = 3.0, STEP_LEAST = 1.0e-6;
enum { MAX_CORRECTIONS = 5 };
// ln t may not rise by more than this above its first value.
static const double RISE_MOST = 3.0;
typedef struct Path {
    Run* run;
    Barrier at; // the point at hand
    double offset_norm;
    double *xg, *yg; // [n d] the Newton step at fixed tau
    double *xt, *yt; // [n d] the change with tau
    double *tx, *ty; // [n d] unit tangent at the base
    double tangent;  // its part in tau
    double wx, wy;   // weights of x and y in lengths
    double* base;    // [n d] z of the last point on the path
    double base_tau, step;
} Path;

static TdlStatus path_init(Path* p, Run* run) {
    memset(p, 0, sizeof *p);
    p->run = run;
    double** vectors[] = {&p->xg, &p->yg, &p->xt, &p->yt, &p->tx, &p->ty, &p->base};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
        *vectors[k] = ARENA_NEW(run->arena, double, run_size(run));
        if (*vectors[k] == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    return barrier_init(&p->at, run);
}

// offset += g / t: the point at hand is then on the path
static void absorb(Path* p) {
    double t = exp(p->at.tau);
    for (size_t k = 0; k < run_size(p->run); ++k) {
        p->at.offset[k] += p->at.g[k] / t;
        p->at.by_tau[k] += p->at.g[k];
        p->at.g[k] = 0.0;
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
        p->at.z[k] = p->base[k] + p->step * (p->tx[k] - p->ty[k]);
    }
    p->at.tau = p->base_tau + p->step * p->tangent;
}

// The point at hand becomes the base; the tangent points where tau falls if the determinant is
// positive, as it is at the start, and rises if it is not. (F.27)
static void set_base(Path* p) {
    size_t size = run_size(p->run);
    p->wx = 1.0 / dot_product(size, p->at.x, p->at.x);
    p->wy = 1.0 / dot_product(size, p->at.y, p->at.y);
    double part = 1.0 / sqrt(1.0 + product(p, p->xt, p->yt, p->xt, p->yt));
    p->tangent = p->at.space.sign > 0 ? -part : part;
    for (size_t k = 0; k < size; ++k) {
        p->tx[k] = p->tangent * p->xt[k];
        p->ty[k] = p->tangent * p->yt[k];
    }
    memcpy(p->base, p->at.z, size * sizeof(double));
    p->base_tau = p->at.tau;
}

// a Newton step across the tangent
static void correct(Path* p) {
    double along = product(p, p->xg, p->yg, p->tx, p->ty);
    double slope = p->tangent + product(p, p->xt, p->yt, p->tx, p->ty);
    double dtau = slope != 0.0 ? fmax(-1.0, fmin(1.0, -along / slope)) : 0.0;
    for (size_t k = 0; k < run_size(p->run); ++k) {
        p->at.z[k] += p->xg[k] - p->yg[k] + dtau * (p->xt[k] - p->yt[k]);
    }
    p->at.tau += dtau;
}

// x = f e and y = ratio/f e at every contact, in units of Q^-1 b
static void begin(Path* p, int path) {
    const System* sys = p->run->sys;
    size_t size = run_size(p->run);
    Rng rng = rng_seed((uint64_t)path);
    p->at.first_t = RATIO[path / WIDTHS % 2];
    p->at.round2 = WIDTH2[path % WIDTHS];
    p->at.tau = log(p->at.first_t);
    p->step = STEP_FIRST;
    memset(p->at.z, 0, size * sizeof(double));
    memset(p->at.offset, 0, size * sizeof(double));
    for (int i = 0; i < sys->n; ++i) {
        double f = path < WIDTHS ? 1.0 : exp(rng_range(&rng, -SPREAD, SPREAD));
        if (sys->law[i] != LAW_BILATERAL) {
            p->at.z[i * sys->d] = f - p->at.first_t / f;
        }
    }
    barrier_residual(&p->at);
    absorb(p);
    p->offset_norm = sqrt(dot_product(size, p->at.offset, p->at.offset));
}

// offers r, made admissible
static void offer(Path* p) {
    System* sys = p->run->sys;
    for (int i = 0; i < sys->n; ++i) {
        double r[CONE_MAX];
        memcpy(r, p->at.r + i * sys->d, (size_t)sys->d * sizeof(double));
        law_project(sys->d, sys->law[i], sys->mu[i], r, p->at.r + i * sys->d);
    }
    system_velocity(sys, p->at.r, p->at.u);
    run_offer(p->run, p->at.u, p->at.r);
}

// the last digits by Newton steps, from the point at hand
static TdlStatus finish(Path* p) {
    Run* run = p->run;
    int limit = run->limit;
    offer(p);
    run->start = p->at.r;
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
    double first = p->at.tau, norm = 0.0, before = INFINITY;
    size_t tries = 0, count = sizeof TRIES / sizeof *TRIES;
    int corrections = 0;
    for (int k = 0; k < limit && !run_done(run) && !run_spent(run, p->at.space.flops) &&
                    tries < count && p->at.tau < first + RISE_MOST;
         ++k) {
        run_count(run, TDL_FRICTION_PATH, p->at.r);
        if (norm <= ON_PATH * exp(p->at.tau) * p->offset_norm) {
            // on the path
            absorb(p);
            status = barrier_factor(&p->at);
            if (status != TDL_STATUS_OK) {
                return status;
            }
            barrier_solve(&p->at, p->at.by_tau, -1.0, p->at.y, p->xt, p->yt);
            set_base(p);
            if (p->at.tau < TRIES[tries]) {
                status = finish(p);
                for (; tries < count && p->at.tau < TRIES[tries]; ++tries) {
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
            status = barrier_factor(&p->at);
            if (status != TDL_STATUS_OK) {
                return status;
            }
            barrier_solve(&p->at, p->at.g, 1.0, NULL, p->xg, p->yg);
            barrier_solve(&p->at, p->at.by_tau, -1.0, p->at.y, p->xt, p->yt);
            correct(p);
            ++corrections;
            before = norm;
        }
        norm = barrier_residual(&p->at);
    }
    return status;
}

TdlStatus run_path(Run* run) {
    ArenaMark mark = arena_mark(run->arena);
    System before = *run->sys; // without the rows of W that are formed on the way
    Path p;
    TdlStatus status = path_init(&p, run);
    int end = run->iterations + run->limit, paths = run->depth > 0 ? PATHS_WITHIN : PATHS;
    double budget = run_allow(run, WORK_MOST);
    for (int k = 0; status == TDL_STATUS_OK && k < paths && !run_done(run); ++k) {
        int left = end - run->iterations, most = k < SHORT_PATHS ? STEPS_SHORT : STEPS_LONG;
        if (left <= 0 || run_spent(run, p.at.space.flops + run_sweep_work(run))) {
            break;
        }
        most += run->sys->n / 2;
        status = follow(&p, k, left < most ? left : most);
    }
    run->sys->effort->budget = budget;
    *run->sys = before;
    arena_release(run->arena, mark);
    return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
}
