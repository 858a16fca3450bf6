// Sheets that went through surfaces, or through themselves, in a step. docs/theory/world.md,
// section 5
#ifndef TDL_DETECT_SHEET_SWEEP_H
#define TDL_DETECT_SHEET_SWEEP_H

#include "detect/crossings.h"

// The first triangle of `other` that a triangle of a sheet met on its way; -1: none. Of two sheets,
// or of one, each pair is asked once: with the triangle of the lower, and the lower triangle.
// (W.29)
int sheet_sweep(const Moved* moved, const SurfaceBody* sheet, int triangle,
                const SurfaceBody* other);

#endif
