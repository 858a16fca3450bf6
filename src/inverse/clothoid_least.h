// A rod of clothoids nearest to given points, by nonlinear least squares in linear time.
// inverse-fit.md (V.46), (V.47)
#ifndef TDL_INVERSE_CLOTHOID_LEAST_H
#define TDL_INVERSE_CLOTHOID_LEAST_H

#include "inverse/helix_least.h"

typedef struct ClothoidRod {
    int count;        // elements
    double l;         // m, of each
    TdlVec3 position; // where it begins; stays
    TdlMat3 rotation; // and with which frame
    TdlVec3* q;       // [count + 1] curvature at the joints times l, in axes of the material
} ClothoidRod;

// Makes the squared distances from target[count LEAST_SAMPLES] least, from the rod given: rotation
// and q change. False when there is no memory.
bool clothoid_least(Arena* arena, ClothoidRod* rod, const TdlVec3* target);

#endif
