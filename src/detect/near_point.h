// The place of a body that is nearest to a point, for what fills space: nodes of a grid beside
// obstacles, rigid bodies, rods and sheets.
#ifndef TDL_DETECT_NEAR_POINT_H
#define TDL_DETECT_NEAR_POINT_H

#include "base/memory.h"
#include "body/body.h"

typedef struct NearPoint {
    double gap;      // m, from the surface; negative inside
    TdlVec3 normal;  // unit, from the point to the body: outside towards it, inside away from its
                     // nearest surface
    BodyPlace place; // on the body; `touch` is the point itself where the body moves as one there,
                     // or its section does; of sheets, moving meshes and curves without a frame it
                     // is `point`
} NearPoint;

// A body as points see it in its present shape.
typedef struct PointSeer PointSeer;
// It looks at the body's own surface, which stays until that moves.
TdlStatus point_seer_create(const TdlHost* host, Body* body, PointSeer** out);
void point_seer_destroy(PointSeer* seer);

// A box about it, m; infinite where it is endless.
void point_seer_box(const PointSeer* seer, TdlVec3* low, TdlVec3* high);

// Thickness, m: what is thinner than a grid can see is taken as this thick.
double point_seer_thickness(const PointSeer* seer);

// False when nothing of it is nearer than `reach`. Called from several threads.
bool point_seer_find(const PointSeer* seer, TdlVec3 point, double reach, NearPoint* out);

// Moves a point that is nearer to the surface than `keep` (m, >= 0) out along the normal until it
// is not. False: some steps led to no such place, and it stays where it is.
bool point_seer_push(const PointSeer* seer, double keep, TdlVec3* point);

#endif
