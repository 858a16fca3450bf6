// Inside of continuous collision detection. Every method works on the same form, (K.1):
//   F(t, u, v) = A(t) + u B(t) + v C(t), with A, B, C linear in t,
// which holds for a vertex and a face as for two edges; only the domain of (u, v) differs.
#ifndef TDL_DETECT_CCD_H
#define TDL_DETECT_CCD_H

#include "tendril/ccd.h"

// Unit roundoff.
#define CCD_U 0x1p-53
// Margin of F and of its radius over a box, in roundings of the size S. (K.7)
#define CCD_K_AXIS 48.0
// Margin of a row y.F, in roundings of Y.S. (K.11)
#define CCD_K_ROW 64.0
// Margin of a flat row z.F, in roundings of Z.S. (K.17)
#define CCD_K_FLAT 128.0
// Outward rounding of a contracted parameter in [0, 1]. (K.13)
#define CCD_SLACK 0x1p-50
// Boxes checked when the caller does not say: below a millisecond for the contracting search.
#define CCD_CHECKS_CONTRACT 3000
#define CCD_CHECKS_OTHERS 1000000
// Absolute floor of the margins against underflow, for coefficients scaled into [2^-100, 2^100].
#define CCD_TINY 0x1p-700

// fmin and fmax without their care for NaN, which costs a call.
static inline double lesser(double a, double b) {
    return a < b ? a : b;
}

static inline double greater(double a, double b) {
    return a > b ? a : b;
}

// The form scaled by a power of two: values[i] = 2^exponent (true value), per axis; the fourth
// lane is zero.
typedef struct CcdForm {
    _Alignas(32) double a0[4], da[4], b0[4], db[4], c0[4], dc[4];
    double a1[4], b1[4], c1[4];
    double size[4]; // S: |A| + |B| + |C| at most, over t in [0, 1]
    double tiny;    // absolute error left by the scaling
    int exponent;
    bool triangle; // u + v <= 1
} CcdForm;

// Options in the units of the scaled form.
typedef struct CcdLimits {
    double separation, tolerance, max_time;
    int max_checks, refine_checks;
    bool euclid;
} CcdLimits;

// Builds the scaled form of a query with finite coordinates. False: F is zero throughout. (K.2)
bool ccd_form_scaled(const TdlCcdQuery* query, const TdlCcdOptions* options, CcdForm* form,
                     CcdLimits* limits);

// True when F certainly keeps farther than `separation` from 0 along one axis. No rounding is
// involved: the subtractions are monotone. (K.3)
bool ccd_swept_apart(const TdlCcdQuery* query, double separation);

bool ccd_query_finite(const TdlCcdQuery* query);

// One whole query by contraction; false when a coordinate is NaN or infinite.
typedef bool (*CcdContractFn)(const TdlCcdQuery* query, const TdlCcdOptions* options,
                              TdlCcdResult* result);
bool ccd_contract_scalar(const TdlCcdQuery* query, const TdlCcdOptions* options,
                         TdlCcdResult* result);
#if defined(__x86_64__)
bool ccd_contract_avx2(const TdlCcdQuery* query, const TdlCcdOptions* options,
                       TdlCcdResult* result);
#endif

// The other methods; coordinates finite, options valid.
TdlStatus ccd_bisect(const TdlCcdQuery* query, const TdlCcdOptions* options, TdlCcdResult* result);
TdlStatus ccd_interval(const TdlCcdQuery* query, const TdlCcdOptions* options,
                       TdlCcdResult* result);
TdlStatus ccd_univariate(const TdlCcdQuery* query, const TdlCcdOptions* options,
                         TdlCcdResult* result);
TdlStatus ccd_cubic(const TdlCcdQuery* query, const TdlCcdOptions* options, TdlCcdResult* result);
TdlStatus ccd_sextic(const TdlCcdQuery* query, const TdlCcdOptions* options, TdlCcdResult* result);
TdlStatus ccd_parity(const TdlCcdQuery* query, const TdlCcdOptions* options, TdlCcdResult* result);
TdlStatus ccd_exact(const TdlCcdQuery* query, const TdlCcdOptions* options, TdlCcdResult* result);

// Distance of the two parts at time t, in long double, Euclidean norm; the place in *u, *v.
double ccd_distance(const TdlCcdQuery* query, double t, double* u, double* v);

#endif
