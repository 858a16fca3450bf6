// Wall time, for logs and benchmarks; never for results.
#ifndef TDL_BASE_CLOCK_H
#define TDL_BASE_CLOCK_H

#include <time.h>

static inline double clock_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1.0e-9 * (double)t.tv_nsec;
}

#endif
