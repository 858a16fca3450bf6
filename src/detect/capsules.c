// Sub-capsules: eight short capsules about a curve, in single precision and rounded outwards, and
// the test of all pairs of two curves' capsules. The AVX2 version stands in capsules_avx2.c; this
// one defines what it computes. docs/theory/distance.md, section 5. Built without contraction.
#include "detect/search.h"

#include "detect/capsules.h"

#include <float.h>

// The third derivative's bound of a helix is |w| times its curvature; the others do without.
static double shift_radius(const TdlCurve* curve, double low, double high, CurvePoint* mid,
                           TdlVec3* centre) {
    double h = 0.5 * (high - low), bend = curve_bend(curve, low, high);
    if (!curve_is_helix(curve)) {
        *centre = mid->p;
        return 0.5 * bend * h * h;
    }
    // shifted towards the curve by half its sagitta (X.5)
    *centre = tdl_axpy3(mid->p, 0.25 * h * h, mid->d2);
    return h * h * bend * (0.25 + sqrt(curve->helix.w2) * h / 6.0);
}

void tdl_curve_capsules(const TdlCurve* curve, TdlCurveCapsules* out) {
    double largest = 0.0, reach = 0.0;
    double fat = fmax(curve->radius[0], curve->radius[1]);
    for (int i = 0; i < 8; ++i) {
        double low = 0.125 * i * curve->end, high = 0.125 * (i + 1) * curve->end;
        CurvePoint mid = curve_eval(curve, 0.5 * (low + high));
        TdlVec3 centre, u = tdl_scale3(0.5 * (high - low), mid.d1);
        double radius = shift_radius(curve, low, high, &mid, &centre);
        centre = tdl_add3(centre, curve->origin);
        double size = fmax(fmax(fabs(centre.x), fabs(centre.y)), fabs(centre.z));
        largest = fmax(largest, size + tdl_norm3(u));
        reach = fmax(reach, tdl_norm3(u) + radius + fat);
        out->cx[i] = (float)centre.x;
        out->cy[i] = (float)centre.y;
        out->cz[i] = (float)centre.z;
        out->ux[i] = (float)u.x;
        out->uy[i] = (float)u.y;
        out->uz[i] = (float)u.z;
        out->radius[i] = (float)((radius + fat) * (1.0 + 4.0 * FLT_EPSILON)) + FLT_MIN;
    }
    out->reach = (float)(reach * (1.0 + 4.0 * FLT_EPSILON)) + FLT_MIN;
    out->error = (float)(CAPSULE_ROUNDING * largest) + FLT_MIN;
    if (!(largest + reach < CAPSULE_LARGEST)) {
        out->reach = INFINITY; // single precision cannot tell: never reject
    }
}

// One pair of capsules. (X.16)
static bool pair_near(const TdlCurveCapsules* a, int i, const TdlCurveCapsules* b, int j,
                      float limit, float error) {
    float rx = a->cx[i] - b->cx[j], ry = a->cy[i] - b->cy[j], rz = a->cz[i] - b->cz[j];
    float ux = a->ux[i], uy = a->uy[i], uz = a->uz[i];
    float vx = b->ux[j], vy = b->uy[j], vz = b->uz[j];
    float uu = capsule_dot(ux, uy, uz, ux, uy, uz), vv = capsule_dot(vx, vy, vz, vx, vy, vz);
    float uv = capsule_dot(ux, uy, uz, vx, vy, vz);
    float ru = capsule_dot(rx, ry, rz, ux, uy, uz), rv = capsule_dot(rx, ry, rz, vx, vy, vz);
    float product = uu * vv, det = capsule_fma(-uv, uv, product);
    det = fmaxf(det, capsule_fma(CAPSULE_LEAST_DET, product, FLT_MIN));
    float x = fminf(1.0F, fmaxf(-1.0F, capsule_fma(uv, rv, -(vv * ru)) / det));
    float y = fminf(1.0F, fmaxf(-1.0F, capsule_fma(uv, x, rv) * (1.0F / (vv + FLT_MIN))));
    x = fminf(1.0F, fmaxf(-1.0F, capsule_fma(uv, y, -ru) * (1.0F / (uu + FLT_MIN))));
    float nx = capsule_fma(-y, vx, capsule_fma(x, ux, rx));
    float ny = capsule_fma(-y, vy, capsule_fma(x, uy, ry));
    float nz = capsule_fma(-y, vz, capsule_fma(x, uz, rz));
    float nu = fabsf(capsule_dot(nx, ny, nz, ux, uy, uz));
    float nv = fabsf(capsule_dot(nx, ny, nz, vx, vy, vz));
    float gap = (capsule_dot(nx, ny, nz, rx, ry, rz) - nu) - nv;
    float nn = capsule_dot(nx, ny, nz, nx, ny, nz) * CAPSULE_SQUARE;
    float reach = fmaxf(((a->radius[i] + b->radius[j]) + limit) + error, 0.0F);
    return !(gap > 0.0F && gap * gap > (reach * reach) * nn);
}

uint64_t capsules_near_scalar(const TdlCurveCapsules* a, const TdlCurveCapsules* b, double margin) {
    float limit = capsule_limit(margin), error = a->error + b->error;
    float reach = ((a->reach + b->reach) + limit) + error, square = reach * reach;
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) {
            float rx = b->cx[j] - a->cx[i], ry = b->cy[j] - a->cy[i], rz = b->cz[j] - a->cz[i];
            bool near = !(capsule_dot(rx, ry, rz, rx, ry, rz) > square);
            if (near && pair_near(a, i, b, j, limit, error)) {
                bits |= 1ULL << (8 * i + j);
            }
        }
    }
    return bits;
}

#ifndef __AVX2__
uint64_t capsules_near(const TdlCurveCapsules* a, const TdlCurveCapsules* b, double margin,
                       const TdlCurve* soon) {
    (void)soon;
    return capsules_near_scalar(a, b, margin);
}
#endif
