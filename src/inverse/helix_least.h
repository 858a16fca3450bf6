// A rod of helices nearest to given points, by nonlinear least squares in linear time.
// inverse-fit.md (V.24) to (V.27)
#ifndef TDL_INVERSE_HELIX_LEAST_H
#define TDL_INVERSE_HELIX_LEAST_H

#include "base/memory.h"
#include "tendril/math.h"

// Points of the curve to an element, the last at its end.
enum { LEAST_SAMPLES = 4 };

typedef struct LeastRod {
    int count;        // elements
    double l;         // m, of each
    TdlVec3 position; // where it begins; stays
    TdlMat3 rotation; // and with which frame
    TdlVec3* q;       // [count] curvature times l, in axes of the material
} LeastRod;

// A first guess of rotation and q from tangents, `steps` times an element and at its start:
// [count steps + 1]. In a frame carried along without twist the bends of a helix turn by one phase
// from step to step, which is its twist. (V.23)
void helix_guess(const TdlVec3* tangents, int steps, LeastRod* rod);

// Makes the squared distances from target[count LEAST_SAMPLES] least, from the rod given: rotation
// and q change. False when there is no memory.
bool helix_least(Arena* arena, LeastRod* rod, const TdlVec3* target);

#endif
