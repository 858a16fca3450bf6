// Four doubles side by side: x, y, z and a spare. With CCD_AVX2 defined they are one register,
// otherwise an array; both do the same IEEE operations and give the same bits.
#ifndef TDL_DETECT_CCD_LANES_H
#define TDL_DETECT_CCD_LANES_H

#include <math.h>

#ifdef CCD_AVX2

#include <immintrin.h>

typedef __m256d V4;

static inline V4 v4_load(const double* p) {
    return _mm256_loadu_pd(p);
}
static inline V4 v4_load3(const double* p) {
    return _mm256_maskload_pd(p, _mm256_setr_epi64x(-1, -1, -1, 0));
}
static inline void v4_store(double* p, V4 a) {
    _mm256_storeu_pd(p, a);
}
static inline V4 v4_all(double a) {
    return _mm256_set1_pd(a);
}
static inline V4 v4_set(double x, double y, double z, double w) {
    return _mm256_setr_pd(x, y, z, w);
}
static inline V4 v4_add(V4 a, V4 b) {
    return _mm256_add_pd(a, b);
}
static inline V4 v4_sub(V4 a, V4 b) {
    return _mm256_sub_pd(a, b);
}
static inline V4 v4_mul(V4 a, V4 b) {
    return _mm256_mul_pd(a, b);
}
static inline V4 v4_div(V4 a, V4 b) {
    return _mm256_div_pd(a, b);
}
static inline V4 v4_min(V4 a, V4 b) {
    return _mm256_min_pd(a, b);
}
static inline V4 v4_max(V4 a, V4 b) {
    return _mm256_max_pd(a, b);
}
static inline V4 v4_abs(V4 a) {
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}
static inline V4 v4_neg(V4 a) {
    return _mm256_xor_pd(_mm256_set1_pd(-0.0), a);
}
// bit i is set where a[i] > b[i]
static inline int v4_above(V4 a, V4 b) {
    return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ));
}
// a > b ? x : y, lane by lane
static inline V4 v4_pick_above(V4 a, V4 b, V4 x, V4 y) {
    return _mm256_blendv_pd(y, x, _mm256_cmp_pd(a, b, _CMP_GT_OQ));
}
static inline V4 v4_yzx(V4 a) {
    return _mm256_permute4x64_pd(a, 0xc9);
}
static inline V4 v4_spread0(V4 a) {
    return _mm256_permute4x64_pd(a, 0x00);
}
static inline V4 v4_spread1(V4 a) {
    return _mm256_permute4x64_pd(a, 0x55);
}
static inline V4 v4_spread2(V4 a) {
    return _mm256_permute4x64_pd(a, 0xaa);
}
// largest of the lanes x, y, z
static inline double v4_top3(V4 a) {
    __m128d low = _mm256_castpd256_pd128(a), high = _mm256_extractf128_pd(a, 1);
    __m128d m = _mm_max_sd(low, _mm_unpackhi_pd(low, low));
    return _mm_cvtsd_f64(_mm_max_sd(m, high));
}
// columns of the matrix with rows a, b, c, 0
static inline void v4_transpose(V4 a, V4 b, V4 c, V4* x, V4* y, V4* z) {
    V4 zero = _mm256_setzero_pd();
    V4 ab_low = _mm256_unpacklo_pd(a, b), ab_high = _mm256_unpackhi_pd(a, b);
    V4 c_low = _mm256_unpacklo_pd(c, zero), c_high = _mm256_unpackhi_pd(c, zero);
    *x = _mm256_permute2f128_pd(ab_low, c_low, 0x20);
    *y = _mm256_permute2f128_pd(ab_high, c_high, 0x20);
    *z = _mm256_permute2f128_pd(ab_low, c_low, 0x31);
}

#else

typedef struct V4 {
    double lane[4];
} V4;

#define V4_EACH(expression)                                                                        \
    V4 out;                                                                                        \
    for (int i = 0; i < 4; ++i) {                                                                  \
        out.lane[i] = (expression);                                                                \
    }                                                                                              \
    return out

static inline V4 v4_load(const double* p) {
    V4_EACH(p[i]);
}
static inline V4 v4_load3(const double* p) {
    return (V4){{p[0], p[1], p[2], 0.0}};
}
static inline void v4_store(double* p, V4 a) {
    for (int i = 0; i < 4; ++i) {
        p[i] = a.lane[i];
    }
}
static inline V4 v4_all(double a) {
    return (V4){{a, a, a, a}};
}
static inline V4 v4_set(double x, double y, double z, double w) {
    return (V4){{x, y, z, w}};
}
static inline V4 v4_add(V4 a, V4 b) {
    V4_EACH(a.lane[i] + b.lane[i]);
}
static inline V4 v4_sub(V4 a, V4 b) {
    V4_EACH(a.lane[i] - b.lane[i]);
}
static inline V4 v4_mul(V4 a, V4 b) {
    V4_EACH(a.lane[i] * b.lane[i]);
}
static inline V4 v4_div(V4 a, V4 b) {
    V4_EACH(a.lane[i] / b.lane[i]);
}
static inline V4 v4_min(V4 a, V4 b) {
    V4_EACH(a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline V4 v4_max(V4 a, V4 b) {
    V4_EACH(a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]);
}
static inline V4 v4_abs(V4 a) {
    V4_EACH(fabs(a.lane[i]));
}
static inline V4 v4_neg(V4 a) {
    V4_EACH(-a.lane[i]);
}
// bit i is set where a[i] > b[i]
static inline int v4_above(V4 a, V4 b) {
    int mask = 0;
    for (int i = 0; i < 4; ++i) {
        mask |= (a.lane[i] > b.lane[i]) << i;
    }
    return mask;
}
// a > b ? x : y, lane by lane
static inline V4 v4_pick_above(V4 a, V4 b, V4 x, V4 y) {
    V4_EACH(a.lane[i] > b.lane[i] ? x.lane[i] : y.lane[i]);
}
static inline V4 v4_yzx(V4 a) {
    return (V4){{a.lane[1], a.lane[2], a.lane[0], a.lane[3]}};
}
static inline V4 v4_spread0(V4 a) {
    return v4_all(a.lane[0]);
}
static inline V4 v4_spread1(V4 a) {
    return v4_all(a.lane[1]);
}
static inline V4 v4_spread2(V4 a) {
    return v4_all(a.lane[2]);
}
// largest of the lanes x, y, z
static inline double v4_top3(V4 a) {
    double m = a.lane[0] > a.lane[1] ? a.lane[0] : a.lane[1];
    return m > a.lane[2] ? m : a.lane[2];
}
// columns of the matrix with rows a, b, c, 0
static inline void v4_transpose(V4 a, V4 b, V4 c, V4* x, V4* y, V4* z) {
    *x = (V4){{a.lane[0], b.lane[0], c.lane[0], 0.0}};
    *y = (V4){{a.lane[1], b.lane[1], c.lane[1], 0.0}};
    *z = (V4){{a.lane[2], b.lane[2], c.lane[2], 0.0}};
}

#endif

// a x b, spare lane 0 when both spare lanes are finite
static inline V4 v4_cross(V4 a, V4 b) {
    return v4_yzx(v4_sub(v4_mul(a, v4_yzx(b)), v4_mul(v4_yzx(a), b)));
}

// |a| x |b| with all signs plus: what bounds the terms of the cross product
static inline V4 v4_cross_abs(V4 a, V4 b) {
    V4 p = v4_abs(a), q = v4_abs(b);
    return v4_yzx(v4_add(v4_mul(p, v4_yzx(q)), v4_mul(v4_yzx(p), q)));
}

#endif
