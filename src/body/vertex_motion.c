// Vertices that move from sample to sample.
#include "body/vertex_motion.h"

#include "body/surface.h"

#include <string.h>

const char* tdl_vertex_motion_fault(const TdlVertexMotion* def, const TdlMesh* mesh, int* sample,
                                    int* triangle) {
    *sample = *triangle = -1;
    if (def->sample_count == 0) {
        return NULL;
    }
    if (def->samples == NULL || def->sample_count < 2) {
        return "vertices move through two samples or more";
    }
    if (!isfinite(def->start) || !isfinite(def->period) || !(def->period > 0.0)) {
        return "samples must start at a time and have a time between them";
    }
    for (int k = 0; k < def->sample_count; ++k) {
        TdlMesh there = *mesh;
        there.vertices = def->samples + (size_t)k * (size_t)mesh->vertex_count;
        const char* fault = tdl_mesh_fault(&there, triangle);
        if (fault != NULL) {
            *sample = k;
            return fault;
        }
    }
    *triangle = -1;
    return NULL;
}

TdlStatus vertex_motion_create(const TdlHost* host, const TdlVertexMotion* def, int vertex_count,
                               VertexMotion* out) {
    *out = (VertexMotion){0};
    if (def->sample_count == 0) {
        return TDL_STATUS_OK;
    }
    size_t count = (size_t)def->sample_count * (size_t)vertex_count;
    out->samples = tdl_alloc_array(&host->mem, count, sizeof *out->samples);
    if (out->samples == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(out->samples, def->samples, count * sizeof *out->samples);
    out->sample_count = def->sample_count;
    out->vertex_count = vertex_count;
    out->start = def->start;
    out->period = def->period;
    return TDL_STATUS_OK;
}

void vertex_motion_destroy(const TdlHost* host, VertexMotion* motion) {
    tdl_free(&host->mem, motion->samples);
    *motion = (VertexMotion){0};
}

TdlVec3 vertex_motion_at(const VertexMotion* m, int vertex, double time) {
    double u = fmin(fmax((time - m->start) / m->period, 0.0), m->sample_count - 1.0);
    int k = u < m->sample_count - 1 ? (int)u : m->sample_count - 2;
    const TdlVec3* a = m->samples + (size_t)k * (size_t)m->vertex_count + (size_t)vertex;
    const TdlVec3* b = a + m->vertex_count;
    return k + 1 == u ? *b : tdl_axpy3(*a, u - k, tdl_sub3(*b, *a));
}
