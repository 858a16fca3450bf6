// Curves against obstacles: spheres, capsules and endless cylinders as curves, planes in closed
// form.
#ifndef TDL_DETECT_OBSTACLE_H
#define TDL_DETECT_OBSTACLE_H

#include "tendril/detect.h"

// The curve that stands for an obstacle as the curve `c` sees it: a point, a segment, or the part
// of an endless axis that lies abreast of c. Not for planes.
TdlCurve obstacle_curve(const TdlColliderDef* obstacle, const TdlCurve* c);

// The local minima of the height of the curve above the plane (less its radius) that are below
// `bound`, at most `capacity`, lowest first; only the least when `all` is false. `s` receives
// their parameters, `gap` the heights. Returns their number.
int obstacle_plane(const TdlColliderDef* plane, const TdlCurve* c, double bound, double tolerance,
                   bool all, int capacity, double* s, double* gap);

#endif
