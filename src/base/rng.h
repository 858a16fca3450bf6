// A small random generator (SplitMix64): the same numbers everywhere for a seed.
#ifndef TDL_BASE_RNG_H
#define TDL_BASE_RNG_H

#include <math.h>
#include <stdint.h>

typedef struct Rng {
    uint64_t state;
} Rng;

static inline Rng rng_seed(uint64_t seed) {
    return (Rng){seed};
}

static inline uint64_t rng_next(Rng* rng) {
    uint64_t z = (rng->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// uniform in [0, 1)
static inline double rng_unit(Rng* rng) {
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

static inline double rng_range(Rng* rng, double low, double high) {
    return low + (high - low) * rng_unit(rng);
}

// uniform in [0, count)
static inline int rng_below(Rng* rng, int count) {
    return (int)(rng_unit(rng) * count);
}

// standard normal, by Box and Muller
static inline double rng_normal(Rng* rng) {
    double u = 1.0 - rng_unit(rng);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * rng_unit(rng));
}

#endif
