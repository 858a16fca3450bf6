// Search by levels of congruent boxes, earliest first within a level: the bisection of the
// published method, for any inclusion function. All boxes of a level have the same widths, so a
// level is a flat array and needs no heap.
#ifndef TDL_DETECT_CCD_LEVELS_H
#define TDL_DETECT_CCD_LEVELS_H

#include "detect/ccd.h"

// Bounds of F over the box lo + [0, width], rounded outwards: out_lo, out_hi [3]. Returns early,
// with true, when one axis alone shows that F keeps farther than `separation` from zero.
typedef bool (*CcdInclusionFn)(const CcdForm* form, const double* lo, const double* width,
                               double separation, double* out_lo, double* out_hi);

TdlStatus ccd_search_levels(const TdlCcdQuery* query, const TdlCcdOptions* options,
                            CcdInclusionFn inclusion, TdlCcdResult* result);

// Eight corners, four to a register: the tightest bounds along the axes. (K.4)
bool ccd_inclusion_corners_scalar(const CcdForm* form, const double* lo, const double* width,
                                  double separation, double* out_lo, double* out_hi);
#if defined(__x86_64__)
bool ccd_inclusion_corners_avx2(const CcdForm* form, const double* lo, const double* width,
                                double separation, double* out_lo, double* out_hi);
#endif

#endif
