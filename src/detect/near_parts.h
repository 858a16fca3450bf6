// What points see of the parts that bodies are made of, each in its own frame.
// docs/theory/distance.md, section 14
#ifndef TDL_DETECT_NEAR_PARTS_H
#define TDL_DETECT_NEAR_PARTS_H

#include "base/memory.h"
#include "body/solid.h"
#include "body/surface.h"
#include "collider/implicit.h"
#include "tendril/curve.h"

// The place of a part that is nearest to a point.
typedef struct NearFoot {
    double gap;     // m, negative inside
    TdlVec3 normal; // unit, -grad gap
    int element;    // curve or triangle; 0 of others
    double u, v;    // share of the curve; of the second and third corner
    TdlVec3 point;  // on the centreline or the triangle
} NearFoot;

// --- in closed form
void solid_near(const Solid* solid, TdlVec3 point, NearFoot* out);
void solid_box(const Solid* solid, TdlPose pose, TdlVec3* low, TdlVec3* high);
double solid_least(const Solid* solid); // m, its smallest thickness

// --- curves of helices, segments and clothoids, end to end where they are a tube: then `bore`
// tells its radii, [2 count], else it is null.
typedef struct CurveSet CurveSet;
TdlStatus curve_set_create(const TdlHost* host, const TdlCurve* curves, int count,
                           const double* bore, CurveSet** out);
void curve_set_destroy(const TdlAllocator* mem, CurveSet* set);
void curve_set_box(const CurveSet* set, TdlVec3* low, TdlVec3* high);
double curve_set_least(const CurveSet* set);
// False: nothing is nearer than `reach`.
bool curve_set_near(const CurveSet* set, TdlVec3 point, double reach, NearFoot* out);

// --- surfaces: `solid` when it has an inside
bool surface_has_inside(const Surface* surface);
bool surface_near(const Surface* surface, bool solid, TdlVec3 point, double reach, NearFoot* out);
double surface_least(const Surface* surface, bool solid);

bool implicit_near(const ImplicitSurface* surface, TdlVec3 point, double reach, NearFoot* out);

#endif
