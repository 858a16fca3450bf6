// Features of two surfaces against each other, the slow and obvious way: every pair, by searching
// the least distance over the parameters.
#ifndef TDL_TEST_REF_SHEET_FEATURES_H
#define TDL_TEST_REF_SHEET_FEATURES_H

#include "tendril/math.h"

#include <math.h>
#include <stdbool.h>

// Nearest point of a segment to a point: its share.
static inline double ref_on_segment(TdlVec3 a, TdlVec3 b, TdlVec3 p) {
    TdlVec3 ab = tdl_sub3(b, a);
    double t = tdl_dot3(tdl_sub3(p, a), ab) / tdl_dot3(ab, ab);
    return fmin(fmax(t, 0.0), 1.0);
}

static inline TdlVec3 ref_between(TdlVec3 a, TdlVec3 b, double t) {
    return tdl_axpy3(tdl_scale3(1.0 - t, a), t, b);
}

// Least distance of two segments, which is convex over the first's share: by sections.
static inline double ref_segments(const TdlVec3 a[2], const TdlVec3 b[2], double* s, double* t) {
    double low = 0.0, high = 1.0;
    for (int i = 0; i < 200; ++i) {
        double m[2] = {low + (high - low) / 3.0, high - (high - low) / 3.0}, d[2];
        for (int k = 0; k < 2; ++k) {
            TdlVec3 p = ref_between(a[0], a[1], m[k]);
            d[k] = tdl_norm3(tdl_sub3(p, ref_between(b[0], b[1], ref_on_segment(b[0], b[1], p))));
        }
        *(d[0] < d[1] ? &high : &low) = d[0] < d[1] ? m[1] : m[0];
    }
    *s = 0.5 * (low + high);
    TdlVec3 p = ref_between(a[0], a[1], *s);
    *t = ref_on_segment(b[0], b[1], p);
    return tdl_norm3(tdl_sub3(p, ref_between(b[0], b[1], *t)));
}

// Height of a point over a triangle, and the least share of the three corners at its foot.
static inline double ref_height(const TdlVec3 v[3], TdlVec3 p, double* least) {
    TdlVec3 n = tdl_cross3(tdl_sub3(v[1], v[0]), tdl_sub3(v[2], v[0]));
    double nn = tdl_dot3(n, n);
    *least = INFINITY;
    for (int k = 0; k < 3; ++k) {
        TdlVec3 a = tdl_sub3(v[(k + 1) % 3], p), b = tdl_sub3(v[(k + 2) % 3], p);
        *least = fmin(*least, tdl_dot3(tdl_cross3(a, b), n) / nn);
    }
    return tdl_dot3(tdl_sub3(p, v[0]), n) / sqrt(nn);
}

static inline bool ref_inside(double share) {
    return share > 1.0e-7 && share < 1.0 - 1.0e-7;
}

#endif
