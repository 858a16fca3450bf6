// Slow, obvious distances for collision queries.
#ifndef TDL_REF_CCD_REF_H
#define TDL_REF_CCD_REF_H

#include "tendril/ccd.h"

#include <math.h>

// F at (t, u, v) straight from the definition.
static inline TdlVec3 ref_difference(const TdlCcdQuery* q, double t, double u, double v) {
    TdlVec3 p[4];
    for (int k = 0; k < 4; ++k) {
        p[k] = tdl_axpy3(tdl_scale3(1.0 - t, q->start[k]), t, q->end[k]);
    }
    if (q->kind == TDL_CCD_VERTEX_FACE) {
        TdlVec3 g = tdl_axpy3(tdl_scale3(1.0 - u - v, p[1]), u, p[2]);
        return tdl_sub3(p[0], tdl_axpy3(g, v, p[3]));
    }
    TdlVec3 a = tdl_axpy3(tdl_scale3(1.0 - u, p[0]), u, p[1]);
    return tdl_sub3(a, tdl_axpy3(tdl_scale3(1.0 - v, p[2]), v, p[3]));
}

static inline double ref_max_norm(TdlVec3 f) {
    return fmax(fabs(f.x), fmax(fabs(f.y), fabs(f.z)));
}

// Smallest |F|_max over the domain at time t. The function is the largest of six linear ones, so
// its minimum lies at a crossing of two of the lines f_i = f_j, f_i = -f_j, f_i = 0 and the sides.
static inline double ref_max_distance(const TdlCcdQuery* q, double t) {
    bool face = q->kind == TDL_CCD_VERTEX_FACE;
    TdlVec3 f0 = ref_difference(q, t, 0.0, 0.0);
    TdlVec3 fu = tdl_sub3(ref_difference(q, t, 1.0, 0.0), f0);
    TdlVec3 fv = tdl_sub3(ref_difference(q, t, 0.0, 1.0), f0);
    double a[3] = {f0.x, f0.y, f0.z}, b[3] = {fu.x, fu.y, fu.z}, c[3] = {fv.x, fv.y, fv.z};

    // lines r + s u + w v = 0
    double lines[16][3] = {{0, 1, 0}, {0, 0, 1}, {-1, 1, 0}, {-1, 0, 1}, {-1, 1, 1}};
    int count = 5;
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3;
        double rows[3][3] = {{a[i], b[i], c[i]},
                             {a[i] - a[j], b[i] - b[j], c[i] - c[j]},
                             {a[i] + a[j], b[i] + b[j], c[i] + c[j]}};
        for (int k = 0; k < 3; ++k) {
            for (int m = 0; m < 3; ++m) {
                lines[count][m] = rows[k][m];
            }
            ++count;
        }
    }
    double best = INFINITY;
    for (int i = 0; i < count; ++i) {
        for (int j = i + 1; j < count; ++j) {
            const double *l = lines[i], *m = lines[j];
            double det = l[1] * m[2] - l[2] * m[1];
            double u = (l[2] * m[0] - l[0] * m[2]) / det, v = (l[0] * m[1] - l[1] * m[0]) / det;
            if (!(u >= -1.0e-9 && v >= -1.0e-9 && (face ? u + v : fmax(u, v)) <= 1.0 + 1.0e-9)) {
                continue;
            }
            u = fmin(1.0, fmax(0.0, u));
            v = fmin(face ? 1.0 - u : 1.0, fmax(0.0, v));
            best = fmin(best, ref_max_norm(ref_difference(q, t, u, v)));
        }
    }
    return best;
}

#endif
