// The corner bounds with four corners to a register; same bits as the definition.
#if defined(__x86_64__)
#define CCD_AVX2
#include "detect/ccd_corners.h"

bool ccd_inclusion_corners_avx2(const CcdForm* form, const double* lo, const double* width,
                                double separation, double* out_lo, double* out_hi) {
    return corners(form, lo, width, separation, out_lo, out_hi);
}
#else
typedef int ccd_corners_avx2_unused;
#endif
