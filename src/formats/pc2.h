// Point caches (.pc2): the places of a mesh's points, sample after sample, as 3D programs write
// them.
#ifndef TDL_FORMATS_PC2_H
#define TDL_FORMATS_PC2_H

#include "tendril/world.h"

#include <stddef.h>

typedef struct Pc2 {
    int point_count, sample_count;
    double start, period; // in frames: of the first sample, from sample to sample
    const char* points;   // as in the file
} Pc2;

// Looks at a whole file. What is wrong with it, in words that go on "the cache ...", or null: then
// all its points are there.
const char* pc2_open(const char* data, size_t size, Pc2* out);

// May be not finite.
TdlVec3 pc2_point(const Pc2* cache, int sample, int point);

#endif
