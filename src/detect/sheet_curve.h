// Curves against the corners and edges of a sheet. docs/theory/distance.md, section 10
#ifndef TDL_DETECT_SHEET_CURVE_H
#define TDL_DETECT_SHEET_CURVE_H

#include "detect/on_surface.h"

// Adds to `count` touches those of the sheet's corners, and of its edges inside, with a curve.
// Returns how many there are then, at most `capacity`; `certified` as in surface_touches.
int sheet_touches(const TdlHost* host, const Surface* sheet, const TdlCurve* curve,
                  const SurfaceAim* aim, int capacity, int count, SurfaceTouch* out,
                  bool* certified);

#endif
