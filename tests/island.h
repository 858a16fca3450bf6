// One island of a generated problem, all its contacts, ready for any solver from inside.
#ifndef TDL_TESTS_ISLAND_H
#define TDL_TESTS_ISLAND_H

#include "bench/friction_cases.h"
#include "friction/run.h"

typedef struct Island {
    FrictionCase c; // filled by the caller before it is opened
    TdlFrictionProblem* problem;
    Arena arena;
    int *contact, *local_of;
    double *shared_v, *best, *zero;
    Effort effort; // without bounds
    System sys;
    TdlFrictionOptions options;
    Run run; // at zero
} Island;

// With the problem that is there.
static inline bool island_ready(Island* f) {
    TdlHost host = tdl_host_default();
    size_t n = (size_t)f->problem->n, d = (size_t)f->problem->d;
    arena_init(&f->arena, &host.mem);
    f->contact = malloc(n * sizeof *f->contact);
    f->local_of = malloc(n * sizeof *f->local_of);
    f->shared_v = calloc((size_t)f->problem->dof_count, sizeof *f->shared_v);
    f->best = calloc(d * n, sizeof *f->best);
    f->zero = calloc(d * n, sizeof *f->zero);
    for (int i = 0; i < f->problem->n; ++i) {
        f->contact[i] = i;
    }
    f->effort = (Effort){.budget = INFINITY};
    SystemSetup setup = {.tolerance = 1.0e-10,
                         .shared_v = f->shared_v,
                         .sweep_bodies = true,
                         .local_of = f->local_of,
                         .effort = &f->effort};
    if (system_build(&f->sys, &f->arena, f->problem, f->contact, f->problem->n, &setup) !=
        TDL_STATUS_OK) {
        return false;
    }
    f->options = tdl_friction_options_default();
    f->run = (Run){.sys = &f->sys,
                   .arena = &f->arena,
                   .options = &f->options,
                   .best = f->best,
                   .zero = f->zero,
                   .error = system_error(&f->sys, f->sys.b, f->best),
                   .limit = 400,
                   .worth = INFINITY};
    return true;
}

static inline bool island_open(Island* f) {
    TdlHost host = tdl_host_default();
    return case_problem(&f->c, &host, &f->problem) == TDL_STATUS_OK && island_ready(f);
}

static inline void island_close(Island* f) {
    arena_destroy(&f->arena);
    tdl_friction_problem_destroy(f->problem);
    case_free(&f->c);
    free(f->contact);
    free(f->local_of);
    free(f->shared_v);
    free(f->best);
    free(f->zero);
}

// Returns the sign of the determinant; b <- a^-1 b, by elimination with rows exchanged.
static inline int solve_dense(int n, double* a, double* b) {
    int sign = 1;
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i) {
            best = fabs(a[i * n + k]) > fabs(a[best * n + k]) ? i : best;
        }
        sign = best != k ? -sign : sign;
        for (int j = 0; j < n && best != k; ++j) {
            double keep = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = keep;
        }
        double keep = b[k];
        b[k] = b[best];
        b[best] = keep;
        sign = a[k * n + k] < 0.0 ? -sign : sign;
        for (int i = k + 1; i < n; ++i) {
            double part = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; ++j) {
                a[i * n + j] -= part * a[k * n + j];
            }
            b[i] -= part * b[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) {
            b[k] -= a[k * n + j] * b[j];
        }
        b[k] /= a[k * n + k];
    }
    return sign;
}

#endif
