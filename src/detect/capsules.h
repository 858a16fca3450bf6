// Constants that the scalar and the wide prefilter share. docs/theory/distance.md (X.16)
#ifndef TDL_DETECT_CAPSULES_H
#define TDL_DETECT_CAPSULES_H

#include <float.h>
#include <math.h>

// Error allowed per capsule, relative to its largest coordinate: its own rounding to single
// precision (half an epsilon in each of six coordinates) and its share of the test's roundings.
#define CAPSULE_ROUNDING (24.0 * FLT_EPSILON)

// Coordinates beyond this, m, are not for single precision: squares must not overflow.
#define CAPSULE_LARGEST 1.0e17

// Below this relative determinant the axes count as parallel; any value is safe.
#define CAPSULE_LEAST_DET 1.0e-6F

// a b + c, fused where the processor can: in one build the same everywhere.
static inline float capsule_fma(float a, float b, float c) {
#ifdef __FMA__
    return fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

static inline float capsule_dot(float ax, float ay, float az, float bx, float by, float bz) {
    return capsule_fma(az, bz, capsule_fma(ay, by, ax * bx));
}

// Squares are compared, whose rounding this covers.
#define CAPSULE_SQUARE (1.0F + 16.0F * FLT_EPSILON)

// The margin as a float, rounded up.
static inline float capsule_limit(double margin) {
    if (!(margin < CAPSULE_LARGEST)) {
        return INFINITY;
    }
    return (float)(margin + 4.0 * FLT_EPSILON * fabs(margin)) + FLT_MIN;
}

#endif
