// Points of rods of helices, in the axes of super-helix.md, and distances of points.
#ifndef TDL_TESTS_ROD_POINTS_H
#define TDL_TESTS_ROD_POINTS_H

#include "base/rng.h"
#include "rod/helix.h"

// Points of a rod of given curvatures, `samples` to an element and its start; with their tangents
// when there is a place for them. Returns how many.
static inline int rod_points(TdlPose start, double length, const TdlVec3* kappa, int elements,
                             int samples, TdlVec3* out, TdlVec3* tangents) {
    double l = length / elements;
    int n = 0;
    for (int e = 0; e < elements; ++e) {
        HelixAxes axes = helix_axes(tdl_scale3(l, kappa[e]));
        for (int j = 0; j < samples + (e + 1 == elements); ++j) {
            double f[HELIX_COUNT], s = (double)j / samples;
            helix_functions(axes.y, s, f);
            TdlVec3 p = tdl_mul33_3(start.rotation, helix_position(&axes, f));
            if (tangents != NULL) {
                TdlMat3 turn = tdl_rotation_exp(tdl_scale3(s, axes.q));
                tangents[n] = tdl_mul33_3(start.rotation, turn.cx);
            }
            out[n++] = tdl_axpy3(start.position, l, p);
        }
        double f[HELIX_COUNT];
        helix_functions(axes.y, 1.0, f);
        TdlVec3 end = tdl_mul33_3(start.rotation, helix_position(&axes, f));
        start.position = tdl_axpy3(start.position, l, end);
        start.rotation = tdl_mul33(start.rotation, tdl_rotation_exp(axes.q));
    }
    return n;
}

static inline double largest_distance(const TdlVec3* a, const TdlVec3* b, int count) {
    double largest = 0.0;
    for (int i = 0; i < count; ++i) {
        largest = fmax(largest, tdl_norm3(tdl_sub3(a[i], b[i])));
    }
    return largest;
}

static inline TdlPose random_start(Rng* rng) {
    TdlVec3 turn = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
    return (TdlPose){{rng_normal(rng), rng_normal(rng), rng_normal(rng)}, tdl_rotation_exp(turn)};
}

// The largest angle by which an element turns, rad.
static inline double largest_turn(const TdlVec3* kappa, int elements, double length) {
    double largest = 0.0;
    for (int e = 0; e < elements; ++e) {
        largest = fmax(largest, tdl_norm3(kappa[e]) * length / elements);
    }
    return largest;
}

#endif
