// One capsule against a block of eight: the support along a near-best direction, as in (X.16), with
// the rounding of the dot products added to the radii; compared by squares. The AVX2 version stands
// below the scalar one, which defines what it computes: the same operations in the same order, so
// the bits are the same. Built without contraction; fused where it says so.
#include "detect/tree.h"

#include "detect/capsules.h"

// Relative rounding of the three dot products and of the squares.
#define DOT_ROUNDING (16.0F * FLT_EPSILON)
#define SQUARE_ROUNDING (1.0F + 16.0F * FLT_EPSILON)

static inline float dot3(float ax, float ay, float az, float bx, float by, float bz) {
    return fmaf(az, bz, fmaf(ay, by, ax * bx));
}

static inline float clamp_unit(float x) {
    float up = x > -1.0F ? x : -1.0F;
    return up < 1.0F ? up : 1.0F;
}

static bool near_scalar(const CapsuleBlock* b, int k, const Capsule* c, const float* margin) {
    float rx = c->c[0] - b->cx[k], ry = c->c[1] - b->cy[k], rz = c->c[2] - b->cz[k];
    float ux = c->u[0], uy = c->u[1], uz = c->u[2];
    float vx = b->ux[k], vy = b->uy[k], vz = b->uz[k];
    float uu = dot3(ux, uy, uz, ux, uy, uz), vv = dot3(vx, vy, vz, vx, vy, vz);
    float uv = dot3(ux, uy, uz, vx, vy, vz);
    float ru = dot3(rx, ry, rz, ux, uy, uz), rv = dot3(rx, ry, rz, vx, vy, vz);
    float product = uu * vv, det = fmaf(-uv, uv, product);
    float least = fmaf(CAPSULE_LEAST_DET, product, FLT_MIN);
    det = det > least ? det : least;
    float x = clamp_unit(fmaf(uv, rv, -(vv * ru)) / det);
    float y = clamp_unit(fmaf(uv, x, rv) * b->slope[k]);
    x = clamp_unit(fmaf(uv, y, -ru) * c->slope);
    float nx = fmaf(-y, vx, fmaf(x, ux, rx)), ny = fmaf(-y, vy, fmaf(x, uy, ry));
    float nz = fmaf(-y, vz, fmaf(x, uz, rz));
    float gap = dot3(nx, ny, nz, rx, ry, rz) - fabsf(dot3(nx, ny, nz, ux, uy, uz));
    gap = gap - fabsf(dot3(nx, ny, nz, vx, vy, vz));
    float size = (fabsf(rx) + fabsf(ry)) + (fabsf(rz) + (c->half + b->half[k]));
    float reach = fmaf(DOT_ROUNDING, size, (c->radius + margin[k]) + b->radius[k]);
    float square = (dot3(nx, ny, nz, nx, ny, nz) * SQUARE_ROUNDING) * (reach * reach);
    return !(gap > 0.0F && gap * gap > square);
}

unsigned capsule_block_near_scalar(const CapsuleBlock* b, const Capsule* c, const float* margin) {
    unsigned bits = 0;
    for (int k = 0; k < BLOCK; ++k) {
        bits |= (near_scalar(b, k, c, margin) ? 1U : 0U) << k;
    }
    return bits;
}

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

typedef struct Lanes3 {
    __m256 x, y, z;
} Lanes3;

static inline __m256 wide_dot(Lanes3 a, Lanes3 b) {
    return _mm256_fmadd_ps(a.z, b.z, _mm256_fmadd_ps(a.y, b.y, _mm256_mul_ps(a.x, b.x)));
}

static inline __m256 wide_clamp(__m256 x) {
    return _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(-1.0F)), _mm256_set1_ps(1.0F));
}

static inline __m256 wide_abs(__m256 x) {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x);
}

static inline Lanes3 spread(const float v[3]) {
    return (Lanes3){_mm256_set1_ps(v[0]), _mm256_set1_ps(v[1]), _mm256_set1_ps(v[2])};
}

unsigned capsule_block_near(const CapsuleBlock* b, const Capsule* c, const float* margin) {
    Lanes3 u = spread(c->u), at = spread(c->c);
    Lanes3 v = {_mm256_loadu_ps(b->ux), _mm256_loadu_ps(b->uy), _mm256_loadu_ps(b->uz)};
    Lanes3 r = {_mm256_sub_ps(at.x, _mm256_loadu_ps(b->cx)),
                _mm256_sub_ps(at.y, _mm256_loadu_ps(b->cy)),
                _mm256_sub_ps(at.z, _mm256_loadu_ps(b->cz))};
    __m256 uu = wide_dot(u, u), vv = wide_dot(v, v), uv = wide_dot(u, v);
    __m256 ru = wide_dot(r, u), rv = wide_dot(r, v), product = _mm256_mul_ps(uu, vv);
    __m256 least =
        _mm256_fmadd_ps(_mm256_set1_ps(CAPSULE_LEAST_DET), product, _mm256_set1_ps(FLT_MIN));
    __m256 det = _mm256_max_ps(_mm256_fnmadd_ps(uv, uv, product), least);
    __m256 x = wide_clamp(_mm256_div_ps(_mm256_fmsub_ps(uv, rv, _mm256_mul_ps(vv, ru)), det));
    __m256 y = wide_clamp(_mm256_mul_ps(_mm256_fmadd_ps(uv, x, rv), _mm256_loadu_ps(b->slope)));
    x = wide_clamp(_mm256_mul_ps(_mm256_fmsub_ps(uv, y, ru), _mm256_set1_ps(c->slope)));
    Lanes3 n = {_mm256_fnmadd_ps(y, v.x, _mm256_fmadd_ps(x, u.x, r.x)),
                _mm256_fnmadd_ps(y, v.y, _mm256_fmadd_ps(x, u.y, r.y)),
                _mm256_fnmadd_ps(y, v.z, _mm256_fmadd_ps(x, u.z, r.z))};
    __m256 gap = _mm256_sub_ps(wide_dot(n, r), wide_abs(wide_dot(n, u)));
    gap = _mm256_sub_ps(gap, wide_abs(wide_dot(n, v)));
    __m256 half = _mm256_add_ps(_mm256_set1_ps(c->half), _mm256_loadu_ps(b->half));
    __m256 size = _mm256_add_ps(_mm256_add_ps(wide_abs(r.x), wide_abs(r.y)),
                                _mm256_add_ps(wide_abs(r.z), half));
    __m256 radii = _mm256_add_ps(_mm256_add_ps(_mm256_set1_ps(c->radius), _mm256_loadu_ps(margin)),
                                 _mm256_loadu_ps(b->radius));
    __m256 reach = _mm256_fmadd_ps(_mm256_set1_ps(DOT_ROUNDING), size, radii);
    __m256 square = _mm256_mul_ps(_mm256_mul_ps(wide_dot(n, n), _mm256_set1_ps(SQUARE_ROUNDING)),
                                  _mm256_mul_ps(reach, reach));
    __m256 far = _mm256_cmp_ps(_mm256_mul_ps(gap, gap), square, _CMP_GT_OQ);
    far = _mm256_and_ps(far, _mm256_cmp_ps(gap, _mm256_setzero_ps(), _CMP_GT_OQ));
    return ~(unsigned)_mm256_movemask_ps(far) & 0xffU;
}
#else
unsigned capsule_block_near(const CapsuleBlock* b, const Capsule* c, const float* margin) {
    return capsule_block_near_scalar(b, c, margin);
}
#endif

unsigned travel_block_near(const CapsuleBlock* block, const Travel* travel, const TravelQuery* q,
                           float margin, float thin) {
    float margins[BLOCK];
    for (int k = 0; k < BLOCK; ++k) {
        float square = 0.0F;
        for (int axis = 0; axis < 3; ++axis) {
            float up = q->hi[axis] - travel->lo[axis][k], down = travel->hi[axis][k] - q->lo[axis];
            float way = up > down ? up : down;
            square += way * way;
        }
        float gap = sqrtf(square) * (1.0F + 8.0F * FLT_EPSILON) - thin;
        margins[k] = gap > margin ? gap : margin;
    }
    return capsule_block_near(block, &q->capsule, margins);
}
