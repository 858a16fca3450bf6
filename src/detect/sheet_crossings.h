// Triangles that go through each other, decided exactly. docs/theory/distance.md, section 10
#ifndef TDL_DETECT_SHEET_CROSSINGS_H
#define TDL_DETECT_SHEET_CROSSINGS_H

#include "detect/on_surface.h"

// Whether a segment and a triangle, borders included, have a point in common.
bool segment_meets_triangle(TdlVec3 from, TdlVec3 to, const TdlVec3 triangle[3]);

// Pairs of triangles that go through each other: an edge of the first meets the second, of which it
// has no corner. Looks at every pair. Returns their number; those up to `capacity` are told.
int sheet_crossings(const TdlVec3* vertices, const int* triangles, int triangle_count, int capacity,
                    int (*out)[2]);

// The first edge of a sheet, in the order of its edges, that goes through another surface or, where
// that is the same, itself: the triangles and the place, in the world's frame.
typedef struct SheetCrossing {
    int triangle[2];
    TdlVec3 point;
} SheetCrossing;
bool sheet_goes_through(const SurfaceBody* sheet, const SurfaceBody* other, SheetCrossing* out);

#endif
