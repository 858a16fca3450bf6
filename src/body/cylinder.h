// A cylinder with flat ends as detection sees it: all that is within its rounding of a core.
#ifndef TDL_BODY_CYLINDER_H
#define TDL_BODY_CYLINDER_H

#include "tendril/math.h"

struct Surface;

// Each of its two rims is a ring of so many arcs, the elements of its body: first those at the
// start of the axis, then those at its end.
enum { CYLINDER_ARCS = 8 };

typedef struct Cylinder {
    double radius, half;        // m, of the core
    double round;               // m, the rounding
    TdlVec3 middle;             // m, in the frame of its body, whose first axis is its own
    const struct Surface* ends; // triangles about the flat ends of the core
} Cylinder;

#endif
