// Sheets against surfaces of triangles, other sheets and themselves, feature by feature.
// docs/theory/distance.md, section 10
#ifndef TDL_DETECT_SHEET_PAIRS_H
#define TDL_DETECT_SHEET_PAIRS_H

#include "detect/sheet.h"

// Triangles of a sheet that are one piece of work.
enum { SHEET_BLOCK = 64 };

// Adds the contacts of a block's corners with the faces of another surface, which may be the sheet
// itself, and of its edges with the other's where the other does not look for them. (X.39)
void sheet_on_surface(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* sheet,
                      int block, const SurfaceBody* other, SiteList* out);

// Adds those of the corners of a surface that is no sheet with the faces of a sheet.
void sheet_under_corners(const TdlHost* host, const TdlDetectorDef* def, const SurfaceBody* sheet,
                         const SurfaceBody* other, SiteList* out);

// Whether a corner and a triangle, or two edges, of one sheet are neighbours. (X.41)
bool sheet_corner_is_near(const Surface* surface, int vertex, int triangle);
bool sheet_edges_are_near(const Surface* surface, int a, int b);

#endif
