// The shapes of a frame's rods as strands.
#include "base/log.h"
#include "base/memory.h"
#include "base/quotient.h"
#include "result/result_reader.h"

#include <stdio.h>
#include <string.h>

// Models whose coordinates are curvatures times the length of an element, three each.
static bool has_curvatures(const char* model) {
    return strcmp(model, "super-helix") == 0 || strcmp(model, "super-clothoid") == 0 ||
           strcmp(model, "super-helix-dense") == 0;
}

static int curvature_count(const TdlResultRod* rod) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = rod->model;
    def.element_count = rod->element_count;
    return tdl_rod_def_curvature_count(&def);
}

// What does not change from frame to frame; counts the curvatures.
static TdlStatus describe(const TdlResult* r, TdlStrands* out, size_t* curvatures) {
    const int* dof_start = tdl_result_dof_start(r);
    *curvatures = 0;
    for (int i = 0; i < out->count; ++i) {
        const TdlResultRod* rod = &r->rods[i];
        if (i == 0) {
            snprintf(out->model, sizeof out->model, "%s", rod->model);
        }
        if (!has_curvatures(rod->model) || strcmp(rod->model, out->model) != 0) {
            return tdl_fail(&r->host, TDL_STATUS_BAD_INPUT,
                            "%s: rod %d is of the model %s; strands are of one model whose "
                            "coordinates are curvatures",
                            r->path, i, rod->model);
        }
        int count = curvature_count(rod);
        if (rod->element_count < 1 || count > (dof_start[i + 1] - dof_start[i]) / 3) {
            return result_bad_set(r, "rods", "dof_start", "does not fit the elements");
        }
        out->element_count[i] = rod->element_count;
        out->length[i] = rod->length;
        out->stiffening[i] = 1.0;
        *curvatures += (size_t)count;
    }
    return TDL_STATUS_OK;
}

static bool allocate(const TdlAllocator* mem, size_t curvatures, TdlStrands* out) {
    out->curvature = tdl_alloc_array(mem, curvatures, sizeof *out->curvature);
    out->natural_curvature = tdl_alloc_array(mem, curvatures, sizeof *out->curvature);
    return out->curvature != NULL && out->natural_curvature != NULL;
}

static void find_curvatures(const TdlResult* r, const double* q, size_t curvatures,
                            TdlStrands* out) {
    TdlVec3* kappa = out->curvature;
    for (int i = 0; i < out->count; ++i) {
        double l = out->length[i] / out->element_count[i];
        const double* own = q + tdl_result_dof_start(r)[i];
        for (int e = 0; e < curvature_count(&r->rods[i]); ++e, own += 3) {
            *kappa++ =
                (TdlVec3){quotient_of(own[0], l), quotient_of(own[1], l), quotient_of(own[2], l)};
        }
    }
    memcpy(out->natural_curvature, out->curvature, curvatures * sizeof *kappa);
}

static TdlStatus read_strands(TdlResult* r, long frame, double* q, TdlStrands* out) {
    size_t curvatures;
    TdlStatus status = describe(r, out, &curvatures);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (!allocate(&r->host.mem, curvatures, out)) {
        return TDL_STATUS_NO_MEMORY;
    }
    status = tdl_result_read_starts(r, frame, out->start);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_result_read_coordinates(r, frame, q);
    if (status == TDL_STATUS_OK) {
        find_curvatures(r, q, curvatures, out);
    }
    return status;
}

TdlStatus tdl_result_read_strands(TdlResult* result, long frame, TdlStrands* out) {
    const TdlAllocator* mem = &result->host.mem;
    size_t rods = (size_t)result->counts.rods;
    *out = (TdlStrands){.model = "super-helix",
                        .count = (int)rods,
                        .element_count = tdl_alloc_array(mem, rods, sizeof *out->element_count),
                        .length = tdl_alloc_array(mem, rods, sizeof *out->length),
                        .start = tdl_alloc_array(mem, rods, sizeof *out->start),
                        .stiffening = tdl_alloc_array(mem, rods, sizeof *out->stiffening)};
    double* q = tdl_alloc_array(mem, (size_t)result->counts.dofs, sizeof *q);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (q != NULL && out->element_count != NULL && out->length != NULL && out->start != NULL &&
        out->stiffening != NULL) {
        status = read_strands(result, frame, q, out);
    }
    tdl_free(mem, q);
    if (status != TDL_STATUS_OK) {
        tdl_strands_free(&result->host, out);
    }
    return status;
}
