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
    float uu = (ux * ux + uy * uy) + uz * uz, vv = (vx * vx + vy * vy) + vz * vz;
    float uv = (ux * vx + uy * vy) + uz * vz;
    float ru = (rx * ux + ry * uy) + rz * uz, rv = (rx * vx + ry * vy) + rz * vz;
    float det = fmaxf(uu * vv - uv * uv, CAPSULE_LEAST_DET * (uu * vv) + FLT_MIN);
    float x = fminf(1.0F, fmaxf(-1.0F, (uv * rv - vv * ru) / det));
    float y = fminf(1.0F, fmaxf(-1.0F, (uv * x + rv) / (vv + FLT_MIN)));
    x = fminf(1.0F, fmaxf(-1.0F, (uv * y - ru) / (uu + FLT_MIN)));
    float nx = (rx + x * ux) - y * vx, ny = (ry + x * uy) - y * vy, nz = (rz + x * uz) - y * vz;
    float nr = (nx * rx + ny * ry) + nz * rz;
    float nu = fabsf((nx * ux + ny * uy) + nz * uz), nv = fabsf((nx * vx + ny * vy) + nz * vz);
    float n = sqrtf((nx * nx + ny * ny) + nz * nz);
    float reach = ((a->radius[i] + b->radius[j]) + limit) + error;
    return !((nr - nu) - nv > reach * n);
}

uint64_t capsules_near_scalar(const TdlCurveCapsules* a, const TdlCurveCapsules* b, double margin) {
    float limit = capsule_limit(margin), error = a->error + b->error;
    float reach = ((a->reach + b->reach) + limit) + error, square = reach * reach;
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) {
            float rx = a->cx[i] - b->cx[j], ry = a->cy[i] - b->cy[j], rz = a->cz[i] - b->cz[j];
            bool near = !((rx * rx + ry * ry) + rz * rz > square);
            if (near && pair_near(a, i, b, j, limit, error)) {
                bits |= 1ULL << (8 * i + j);
            }
        }
    }
    return bits;
}

#ifndef __AVX2__
uint64_t capsules_near(const TdlCurveCapsules* a, const TdlCurveCapsules* b, double margin) {
    return capsules_near_scalar(a, b, margin);
}
#endif
