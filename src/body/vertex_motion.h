// Vertices of a mesh that move from sample to sample.
#ifndef TDL_BODY_VERTEX_MOTION_H
#define TDL_BODY_VERTEX_MOTION_H

#include "base/memory.h"
#include "tendril/motion.h"

typedef struct VertexMotion {
    TdlVec3* samples; // [sample_count][vertex_count]; null: they stay
    int sample_count, vertex_count;
    double start, period; // s
} VertexMotion;

// Copies a motion without fault.
TdlStatus vertex_motion_create(const TdlHost* host, const TdlVertexMotion* def, int vertex_count,
                               VertexMotion* out);
void vertex_motion_destroy(const TdlHost* host, VertexMotion* motion);

// Where a vertex is at a time: on the straight line between two samples; before the first and after
// the last it stays. Only the time matters, so it is the same after a resume.
TdlVec3 vertex_motion_at(const VertexMotion* motion, int vertex, double time);

#endif
