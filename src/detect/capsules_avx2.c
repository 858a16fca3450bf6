// The prefilter of capsules.c with eight pairs at a time. A first pass compares enclosing spheres;
// the few pairs that survive are gathered and their capsules tested, eight at once. The operations
// and their order are those of the scalar version, so the bits are the same.
#include "detect/search.h"

#include "detect/capsules.h"

#ifdef __AVX2__
#include <immintrin.h>
#include <stddef.h>

typedef struct Lanes {
    __m256 cx, cy, cz, ux, uy, uz, radius;
} Lanes;

// a b + c, as capsule_fma does.
static inline __m256 fma8(__m256 a, __m256 b, __m256 c) {
#ifdef __FMA__
    return _mm256_fmadd_ps(a, b, c);
#else
    return _mm256_add_ps(_mm256_mul_ps(a, b), c);
#endif
}

static inline __m256 negative(__m256 x) {
    return _mm256_xor_ps(_mm256_set1_ps(-0.0F), x);
}

static inline __m256 dot(__m256 ax, __m256 ay, __m256 az, __m256 bx, __m256 by, __m256 bz) {
    return fma8(az, bz, fma8(ay, by, _mm256_mul_ps(ax, bx)));
}

static inline __m256 clamp_unit(__m256 x) {
    return _mm256_min_ps(_mm256_set1_ps(1.0F), _mm256_max_ps(_mm256_set1_ps(-1.0F), x));
}

static inline __m256 absolute(__m256 x) {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x);
}

// r + x u - y v
static inline __m256 along(__m256 r, __m256 x, __m256 u, __m256 y, __m256 v) {
    return fma8(negative(y), v, fma8(x, u, r));
}

// Bit per lane: the capsules may be near. (X.16)
static inline unsigned lanes_near(const Lanes* a, const Lanes* b, __m256 limit, __m256 error) {
    const __m256 tiny = _mm256_set1_ps(FLT_MIN), one = _mm256_set1_ps(1.0F);
    __m256 rx = _mm256_sub_ps(a->cx, b->cx), ry = _mm256_sub_ps(a->cy, b->cy);
    __m256 rz = _mm256_sub_ps(a->cz, b->cz);
    __m256 uu = dot(a->ux, a->uy, a->uz, a->ux, a->uy, a->uz);
    __m256 vv = dot(b->ux, b->uy, b->uz, b->ux, b->uy, b->uz);
    __m256 uv = dot(a->ux, a->uy, a->uz, b->ux, b->uy, b->uz);
    __m256 ru = dot(rx, ry, rz, a->ux, a->uy, a->uz), rv = dot(rx, ry, rz, b->ux, b->uy, b->uz);
    __m256 product = _mm256_mul_ps(uu, vv);
    __m256 least = fma8(_mm256_set1_ps(CAPSULE_LEAST_DET), product, tiny);
    __m256 det = _mm256_max_ps(fma8(negative(uv), uv, product), least);
    __m256 x = clamp_unit(_mm256_div_ps(fma8(uv, rv, negative(_mm256_mul_ps(vv, ru))), det));
    __m256 iv = _mm256_div_ps(one, _mm256_add_ps(vv, tiny));
    __m256 iu = _mm256_div_ps(one, _mm256_add_ps(uu, tiny));
    __m256 y = clamp_unit(_mm256_mul_ps(fma8(uv, x, rv), iv));
    x = clamp_unit(_mm256_mul_ps(fma8(uv, y, negative(ru)), iu));
    __m256 nx = along(rx, x, a->ux, y, b->ux), ny = along(ry, x, a->uy, y, b->uy);
    __m256 nz = along(rz, x, a->uz, y, b->uz);
    __m256 nu = absolute(dot(nx, ny, nz, a->ux, a->uy, a->uz));
    __m256 nv = absolute(dot(nx, ny, nz, b->ux, b->uy, b->uz));
    __m256 nn = _mm256_mul_ps(dot(nx, ny, nz, nx, ny, nz), _mm256_set1_ps(CAPSULE_SQUARE));
    __m256 reach = _mm256_add_ps(_mm256_add_ps(_mm256_add_ps(a->radius, b->radius), limit), error);
    reach = _mm256_max_ps(reach, _mm256_setzero_ps());
    __m256 gap = _mm256_sub_ps(_mm256_sub_ps(dot(nx, ny, nz, rx, ry, rz), nu), nv);
    __m256 square = _mm256_mul_ps(_mm256_mul_ps(reach, reach), nn);
    __m256 far = _mm256_cmp_ps(_mm256_mul_ps(gap, gap), square, _CMP_GT_OQ);
    far = _mm256_and_ps(far, _mm256_cmp_ps(gap, _mm256_setzero_ps(), _CMP_GT_OQ));
    return ~(unsigned)_mm256_movemask_ps(far) & 0xffU;
}

static inline __m256 pick(const float* values, __m256i index) {
    return _mm256_permutevar8x32_ps(_mm256_loadu_ps(values), index);
}

static inline Lanes gather(const TdlCurveCapsules* c, __m256i index) {
    return (Lanes){pick(c->cx, index),    pick(c->cy, index), pick(c->cz, index),
                   pick(c->ux, index),    pick(c->uy, index), pick(c->uz, index),
                   pick(c->radius, index)};
}

// The places of the first eight set bits, a byte each, which are taken out; the last one again
// where there are fewer. In one register: memory written in bytes is slow to read back whole.
static inline uint64_t take_eight(uint64_t* bits) {
    uint64_t places = 0, last = 0;
    for (int k = 0; k < 8; ++k) {
        last = *bits != 0 ? (uint64_t)__builtin_ctzll(*bits) : last;
        places |= last << (8 * k);
        *bits &= *bits - 1;
    }
    return places;
}

// Bit 8 i + j: the spheres about sub-capsules i and j may touch.
static inline uint64_t spheres_near(const TdlCurveCapsules* a, const TdlCurveCapsules* b,
                                    float square) {
    __m256 bx = _mm256_loadu_ps(b->cx), by = _mm256_loadu_ps(b->cy), bz = _mm256_loadu_ps(b->cz);
    __m256 limit = _mm256_set1_ps(square);
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) {
        __m256 rx = _mm256_sub_ps(bx, _mm256_set1_ps(a->cx[i]));
        __m256 ry = _mm256_sub_ps(by, _mm256_set1_ps(a->cy[i]));
        __m256 rz = _mm256_sub_ps(bz, _mm256_set1_ps(a->cz[i]));
        // not far, which what is not a number never is
        __m256 close = _mm256_cmp_ps(dot(rx, ry, rz, rx, ry, rz), limit, _CMP_NGT_UQ);
        bits |= (uint64_t)(unsigned)_mm256_movemask_ps(close) << (8 * i);
    }
    return bits;
}

// Tests the first eight pairs in `left`, and takes them out. A call: inlined, all loads are made
// before the first group.
static __attribute__((noinline)) uint64_t test_eight(const TdlCurveCapsules* a,
                                                     const TdlCurveCapsules* b, float limit,
                                                     float error, uint64_t* left) {
    uint64_t places = take_eight(left), near = 0;
    __m256i index = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)places));
    Lanes la = gather(a, _mm256_srli_epi32(index, 3)), lb = gather(b, index);
    unsigned lanes = lanes_near(&la, &lb, _mm256_set1_ps(limit), _mm256_set1_ps(error));
    for (; lanes != 0; lanes &= lanes - 1) {
        near |= 1ULL << (places >> (8 * __builtin_ctz(lanes)) & 63);
    }
    return near;
}

uint64_t capsules_near(const TdlCurveCapsules* a, const TdlCurveCapsules* b, double margin,
                       const TdlCurve* soon) {
    float limit = capsule_limit(margin), error = a->error + b->error;
    float reach = ((a->reach + b->reach) + limit) + error;
    uint64_t left = spheres_near(a, b, reach * reach), near = 0;
    if (left == 0) {
        return 0;
    }
    // many of these end in a search: the curve is on its way meanwhile
    for (size_t at = 0; at < offsetof(TdlCurve, helix) + sizeof soon->helix; at += 64) {
        __builtin_prefetch((const char*)soon + at);
    }
    while (left != 0) {
        near |= test_eight(a, b, limit, error, &left);
    }
    return near;
}
#endif
