// Random numbers and vectors of a test, which begin at RANDOM_SEED.
#ifndef TDL_TEST_RANDOM_VECTORS_H
#define TDL_TEST_RANDOM_VECTORS_H

#include "tendril/math.h"

static unsigned random_state = RANDOM_SEED;

static inline double random_between(double low, double high) {
    random_state = random_state * 1664525u + 1013904223u;
    return low + (high - low) * (random_state >> 8) / 16777216.0;
}

static inline TdlVec3 random_vector(double size) {
    double x = random_between(-size, size), y = random_between(-size, size);
    return (TdlVec3){x, y, random_between(-size, size)};
}

#endif
