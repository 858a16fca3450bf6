// Siconos as a peer to measure against: found when the bench runs, never linked.
#ifndef TDL_BENCH_SICONOS_H
#define TDL_BENCH_SICONOS_H

#include <stdbool.h>

typedef enum SiconosSolver {
    SICONOS_NSGS,
    SICONOS_NEWTON,
    SICONOS_ADMM,
    SICONOS_COUNT
} SiconosSolver;

const char* siconos_name(SiconosSolver solver);

// Loads the library; false when it is not installed.
bool siconos_available(void);

// Solves a problem written as text, from r = 0, towards `tolerance` by its own relative measure
// (which divides by the largest of |q|, |r|, |u|). Returns false when the file could not be loaded.
bool siconos_solve(SiconosSolver solver, const char* path, double tolerance, int max_iterations,
                   double* r, int size, int* iterations, double* seconds);

#endif
