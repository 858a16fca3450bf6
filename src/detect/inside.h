// What is inside a surface of triangles, and what passes through it, in its own frame.
// docs/theory/distance.md, section 9
#ifndef TDL_DETECT_INSIDE_H
#define TDL_DETECT_INSIDE_H

#include "body/surface.h"

// Whether a closed surface encloses a point: more triangles are left through than entered on the
// way out, on the ways of two directions out of three. A surface that is not closed, and one that
// is a room, turned inside out, encloses nothing.
bool surface_encloses(const Surface* surface, TdlVec3 point);

// How far a point is from the triangles, m, to a millionth of that.
double surface_distance(const Surface* surface, TdlVec3 point);

// The triangle that a segment passes through first, and where; -1: none.
int surface_pierced(const Surface* surface, TdlVec3 from, TdlVec3 to, TdlVec3* where);

#endif
