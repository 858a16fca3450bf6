// Bounds of F over a box from its eight corners: the body of ccd_corners_scalar.c and
// ccd_corners_avx2.c. F is linear along each parameter, so it lies in the convex hull of the
// corners, and their box is the tightest along the axes. (K.4)
#include "detect/ccd_lanes.h"
#include "detect/ccd_levels.h"

// Smallest and largest lane.
static inline void lane_range(V4 a, double* low, double* high) {
    double x[4];
    v4_store(x, a);
    double l0 = x[0] < x[1] ? x[0] : x[1], l1 = x[2] < x[3] ? x[2] : x[3];
    double h0 = x[0] > x[1] ? x[0] : x[1], h1 = x[2] > x[3] ? x[2] : x[3];
    *low = l0 < l1 ? l0 : l1;
    *high = h0 > h1 ? h0 : h1;
}

static inline bool corners(const CcdForm* form, const double* lo, const double* width,
                           double separation, double* out_lo, double* out_hi) {
    double t[2] = {lo[0], lo[0] + width[0]};
    V4 u = v4_set(lo[1], lo[1] + width[1], lo[1], lo[1] + width[1]);
    V4 v = v4_set(lo[2], lo[2], lo[2] + width[2], lo[2] + width[2]);
    for (int axis = 0; axis < 3; ++axis) {
        V4 f[2];
        for (int end = 0; end < 2; ++end) {
            double a = form->a0[axis] + t[end] * form->da[axis];
            double b = form->b0[axis] + t[end] * form->db[axis];
            double c = form->c0[axis] + t[end] * form->dc[axis];
            f[end] = v4_add(v4_add(v4_all(a), v4_mul(u, v4_all(b))), v4_mul(v, v4_all(c)));
        }
        double low, high, unused;
        lane_range(v4_min(f[0], f[1]), &low, &unused);
        lane_range(v4_max(f[0], f[1]), &unused, &high);
        double margin = CCD_K_AXIS * CCD_U * (form->size[axis] + separation) + form->tiny * 64.0;
        out_lo[axis] = low - margin;
        out_hi[axis] = high + margin;
        if (out_lo[axis] > separation || out_hi[axis] < -separation) {
            return true;
        }
    }
    return false;
}
