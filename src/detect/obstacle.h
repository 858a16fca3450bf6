// Curves against obstacles: spheres, capsules and endless cylinders as curves, planes in closed
// form.
#ifndef TDL_DETECT_OBSTACLE_H
#define TDL_DETECT_OBSTACLE_H

#include "tendril/detect.h"

// The curve that stands for an obstacle as the curve `c` sees it: a point, a segment, or the part
// of an endless axis that lies abreast of c. Not for planes.
TdlCurve obstacle_curve(const TdlColliderDef* obstacle, const TdlCurve* c);

// Whether the next function knows the pair: a helix or a clothoid of one radius, and a sphere or a
// cylinder.
bool obstacle_is_round(const TdlColliderDef* obstacle, const TdlCurve* c);

enum { ROUND_POINTS = 64 };

// The least gap to it, or all local minima of the gap, where below `bound`; to the tolerance. Not
// certified where there are more than ROUND_POINTS: these are the lowest. `axis` is what
// obstacle_curve gave. Returns how many, the lowest first.
int obstacle_round(const TdlColliderDef* obstacle, const TdlCurve* axis, const TdlCurve* c,
                   double bound, double tolerance, bool all, TdlDistance found[ROUND_POINTS]);

// Which points of a curve are wanted above a plane.
typedef enum PlanePoints {
    PLANE_LEAST,  // the lowest
    PLANE_MINIMA, // all local minima
    PLANE_ENDS,   // these, and both ends
} PlanePoints;

// Radii by which the gaps at the ends and in the middle of an element may differ for it to lie
// level on an obstacle: a tenth of what a step may overlap by. (X.36)
static const double SEAT_LEVEL = 0.01;

// `seat` where the curve lies level on a plane, with its middle there; else -1.
double obstacle_plane_seat(const TdlColliderDef* plane, const TdlCurve* c, double seat);

// The points of the curve whose height above the plane (less the radius) is below `bound`, at most
// `capacity`, lowest first, that at `seat` too where the ends are. `s` receives their parameters,
// `gap` the heights. Returns their number. A plate is a plane that ends at its disc's edge; what is
// further below it than its rim is thick is on its other side.
int obstacle_plane(const TdlColliderDef* plane, const TdlCurve* c, double bound, double tolerance,
                   PlanePoints points, double seat, int capacity, double* s, double* gap);

#endif
