// The definition of the corner bounds, on plain arrays of four.
#include "detect/ccd_corners.h"

bool ccd_inclusion_corners_scalar(const CcdForm* form, const double* lo, const double* width,
                                  double separation, double* out_lo, double* out_hi) {
    return corners(form, lo, width, separation, out_lo, out_hi);
}
