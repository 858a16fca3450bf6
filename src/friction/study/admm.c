// Alternating directions: min 1/2 r'W r + (b + E s)'r over r, with r = z in the cones.
//
// r comes from one factorisation of W + R (R a penalty per contact, 0.1 of its own stiffness), z
// from projections, and the friction shift s from the dual variable of the iteration before. A step
// costs one solve. Penalties are rescaled when primal and dual residuals drift apart, which costs a
// new factorisation and is done ever more rarely. friction.md section 4.5
#include "friction/study/study.h"
#include "linalg/block_lu.h"

#include <string.h>

// Penalty in units of a contact's stiffness, and over-relaxation, as usual in the literature.
static const double PENALTY = 0.1, RELAXATION = 1.6;
// Residuals further apart than this factor change the penalty, for the first time after so many
// iterations; the error is measured every so many.
static const double IMBALANCE = 5.0;
enum { FIRST_BALANCE = 30, MEASURE_EVERY = 10 };

typedef struct Admm {
    Run* run;
    BlockLu lu;
    double* value;   // [blocks] W + R
    double* penalty; // [n]
    double *r, *z, *y, *u, *z_last;
} Admm;

static TdlStatus admm_init(Admm* a, Run* run) {
    System* sys = run->sys;
    size_t size = run_size(run), d = (size_t)sys->d;
    a->run = run;
    a->value = ARENA_NEW(run->arena, double, (size_t)sys->block_count* d* d);
    a->penalty = ARENA_NEW(run->arena, double, sys->n);
    double** vectors[] = {&a->r, &a->z, &a->y, &a->u, &a->z_last};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
        *vectors[k] = ARENA_NEW(run->arena, double, size);
        if (*vectors[k] == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        memset(*vectors[k], 0, size * sizeof(double));
    }
    if (a->value == NULL || a->penalty == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < sys->n; ++i) {
        double trace = 0.0;
        for (size_t k = 0; k < d; ++k) {
            trace += sys->diag[(size_t)i * d * d + k * d + k];
        }
        a->penalty[i] = PENALTY * fmax(trace / (double)d, 1.0e-3);
    }
    memcpy(a->z, run->best, size * sizeof(double));
    BlockPattern pattern = system_pattern(sys);
    return block_lu_analyse(&a->lu, run->arena, &pattern);
}

static void refactor(Admm* a) {
    System* sys = a->run->sys;
    int d = sys->d, d2 = d * d;
    memcpy(a->value, sys->blocks, (size_t)sys->block_count * (size_t)d2 * sizeof(double));
    for (int i = 0; i < sys->n; ++i) {
        for (int e = sys->start[i]; e < sys->start[i + 1]; ++e) {
            for (int k = 0; k < d && sys->column[e] == i; ++k) {
                a->value[(size_t)e * (size_t)d2 + (size_t)(k * d + k)] += a->penalty[i];
            }
        }
    }
    block_lu_factor(&a->lu, a->value, NULL, true);
    run_spend(a->run, 0.5 * a->lu.flops);
}

// r = (W + R)^-1 (R (z - y) - b - E s), with s = mu |u_T| and u + E s = -R y
static void update_primal(Admm* a) {
    System* sys = a->run->sys;
    int d = sys->d;
    for (int i = 0; i < sys->n; ++i) {
        for (int k = 0; k < d; ++k) {
            int at = i * d + k;
            a->r[at] = a->penalty[i] * (a->z[at] - a->y[at]) - sys->b[at];
        }
        a->r[i * d] -= a->penalty[i] * shift_of(d, sys->law[i], sys->mu[i], a->y + i * d);
    }
    block_lu_solve(&a->lu, a->r);
}

static void project_cones(Admm* a) {
    System* sys = a->run->sys;
    int d = sys->d;
    memcpy(a->z_last, a->z, run_size(a->run) * sizeof(double));
    for (int i = 0; i < sys->n; ++i) {
        double x[CONE_MAX] = {0};
        for (int k = 0; k < d; ++k) {
            int at = i * d + k;
            double relaxed = RELAXATION * a->r[at] + (1.0 - RELAXATION) * a->z_last[at];
            x[k] = relaxed + a->y[at];
        }
        law_project(d, sys->law[i], sys->mu[i], x, a->z + i * d);
        for (int k = 0; k < d; ++k) {
            a->y[i * d + k] = x[k] - a->z[i * d + k];
        }
    }
}

// Rescales the penalty towards equal residuals |r - z| and |z - z_last|, both weighted by it.
static bool balance(Admm* a) {
    System* sys = a->run->sys;
    int d = sys->d;
    double primal = 0.0, dual = 0.0;
    for (size_t k = 0; k < run_size(a->run); ++k) {
        primal += (a->r[k] - a->z[k]) * (a->r[k] - a->z[k]);
        dual += (a->z[k] - a->z_last[k]) * (a->z[k] - a->z_last[k]);
    }
    double ratio = sqrt(primal / (dual + 1.0e-300));
    if (ratio < IMBALANCE && ratio > 1.0 / IMBALANCE) {
        return false;
    }
    double factor = fmin(fmax(sqrt(ratio), 0.1), 10.0);
    for (int i = 0; i < sys->n; ++i) {
        a->penalty[i] *= factor;
        for (int k = 0; k < d; ++k) {
            a->y[i * d + k] /= factor;
        }
    }
    refactor(a);
    return true;
}

TdlStatus run_admm(Run* run) {
    ArenaMark mark = arena_mark(run->arena);
    Admm a;
    TdlStatus status = admm_init(&a, run);
    if (status != TDL_STATUS_OK) {
        arena_release(run->arena, mark);
        return status == TDL_STATUS_STOPPED ? TDL_STATUS_OK : status;
    }
    // a solve costs about what is stored
    double solve = 2.0 * a.lu.start[a.lu.n] * a.lu.d * a.lu.d;
    if (run_spent(run, a.lu.flops)) {
        arena_release(run->arena, mark);
        return TDL_STATUS_OK;
    }
    refactor(&a);
    int next_balance = FIRST_BALANCE;
    for (int k = 1; k <= run->limit && !run_done(run) && !run_spent(run, solve); ++k) {
        run_spend(run, solve);
        update_primal(&a);
        project_cones(&a);
        run_count(run, TDL_FRICTION_ADMM, a.z);
        if (k % MEASURE_EVERY == 0 || k == run->limit) {
            system_velocity(run->sys, a.z, a.u);
            run_offer(run, a.u, a.z);
        }
        if (k == next_balance && !run_spent(run, a.lu.flops)) {
            balance(&a);
            next_balance = 2 * next_balance;
        }
    }
    arena_release(run->arena, mark);
    return TDL_STATUS_OK;
}
