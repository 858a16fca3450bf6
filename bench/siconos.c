// Siconos 4.4 through dlopen: nothing of it is needed to build or to install Tendril.
#include "bench/siconos.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1.0e-9 * (double)t.tv_nsec;
}

const char* siconos_name(SiconosSolver solver) {
    static const char* const names[] = {"siconos-nsgs", "siconos-newton", "siconos-admm"};
    return names[solver];
}

// The few names used, declared as in the library's public headers (4.4).
typedef struct SiconosOptions {
    int solver_id;
    bool is_set;
    int iparam_count;
    int* iparam;
    int dparam_count;
    double* dparam;
} SiconosOptions;

typedef struct Siconos {
    void* library;
    void* (*load)(const char* path);
    void (*free_problem)(void* problem);
    SiconosOptions* (*create)(int id);
    void (*delete_options)(SiconosOptions* options);
    int (*drive)(void* problem, double* r, double* u, SiconosOptions* options);
} Siconos;

static Siconos siconos;

static bool find(const char* name, void* function) {
    void* symbol = dlsym(siconos.library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool siconos_available(void) {
    if (siconos.library != NULL) {
        return siconos.drive != NULL;
    }
    // one thread, as ours; its linear algebra would take all
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    setenv("OMP_NUM_THREADS", "1", 0);
    siconos.library = dlopen("libsiconos_numerics.so.7", RTLD_NOW | RTLD_LOCAL);
    return siconos.library != NULL && find("frictionContact_new_from_filename", &siconos.load) &&
           find("frictionContactProblem_free", &siconos.free_problem) &&
           find("solver_options_create", &siconos.create) &&
           find("solver_options_delete", &siconos.delete_options) &&
           find("fc3d_driver", &siconos.drive);
}

bool siconos_solve(SiconosSolver solver, const char* path, double tolerance, int max_iterations,
                   double* r, int size, int* iterations, double* seconds) {
    static const int ids[SICONOS_COUNT] = {500, 504, 523};
    void* problem = siconos.load(path);
    SiconosOptions* options = siconos.create(ids[solver]);
    double* u = calloc((size_t)size + 1, sizeof(double));
    bool good = problem != NULL && options != NULL && u != NULL;
    if (good) {
        options->dparam[0] = tolerance;
        // its Newton, when it wanders, takes seconds a step: 200 are plenty
        options->iparam[0] =
            solver == SICONOS_NEWTON && max_iterations > 200 ? 200 : max_iterations;
        memset(r, 0, (size_t)size * sizeof(double));
        double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
        siconos.drive(problem, r, u, options);
        cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
        *seconds = fmin(now(CLOCK_MONOTONIC) - begin, cpu); // waiting for a processor is no work
        *iterations = options->iparam[1];
    }
    free(u);
    if (options != NULL) {
        siconos.delete_options(options);
    }
    if (problem != NULL) {
        siconos.free_problem(problem);
    }
    return good;
}
