// Shapes of a rod as curvatures, natural and present, and how stiff it is: read out, and changed
// while its world goes on.
//
// A step reads natural coordinates and stiffness anew; only groups keep stiffness, until they are
// refreshed. What changes here changes the elastic energy from outside, so it is counted anew.
#include "base/log.h"
#include "base/quotient.h"
#include "rod/rod_body.h"
#include "rod/section.h"

#include <string.h>

int rod_curvature_count(const Rod* rod) {
    return rod->element_count + (rod->model->at_joints ? 1 : 0);
}

TdlPose rod_start(const Rod* rod) {
    return rod->model->start != NULL ? rod->model->start(rod) : rod->base.now;
}

void rod_set_natural(Rod* rod, const TdlVec3* kappa) {
    if (kappa != rod->natural) {
        memcpy(rod->natural, kappa, (size_t)rod_curvature_count(rod) * sizeof *kappa);
    }
    rod->model->set_curvature(rod, rod->natural, rod->q_rest);
}

void rod_set_stiffening(Rod* rod, double factor) {
    section_stiffen(rod, factor);
    rod_set_stretch(rod);
    rod->model->refresh(rod);
}

void rod_scale_curvature(const Rod* rod, const TdlVec3* kappa, double* q) {
    for (int i = 0; i < rod_curvature_count(rod); ++i) {
        tdl_store3(q, i, tdl_scale3(rod->at_rest.element_length, kappa[i]));
    }
}

void rod_unscale_curvature(const Rod* rod, TdlVec3* kappa) {
    double l = rod->at_rest.element_length;
    for (int i = 0; i < rod_curvature_count(rod); ++i) {
        const double* q = rod->q + 3 * i;
        kappa[i] = (TdlVec3){quotient_of(q[0], l), quotient_of(q[1], l), quotient_of(q[2], l)};
    }
}

// --- in a world ------------------------------------------------------------------------------

static RodBody* find(const TdlWorld* world, TdlBodyId id) {
    return (RodBody*)world_find_body(world, id, &ROD_BODY);
}

TdlStatus tdl_rod_start(const TdlWorld* world, TdlBodyId id, TdlPose* out) {
    const RodBody* rb = find(world, id);
    if (rb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = rod_start(rb->rod);
    return TDL_STATUS_OK;
}

TdlStatus tdl_rod_curvature(const TdlWorld* world, TdlBodyId id, TdlVec3* out) {
    const RodBody* rb = find(world, id);
    if (rb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    rb->rod->model->curvature(rb->rod, out);
    return TDL_STATUS_OK;
}

TdlStatus tdl_rod_natural_curvature(const TdlWorld* world, TdlBodyId id, TdlVec3* out) {
    const RodBody* rb = find(world, id);
    if (rb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    memcpy(out, rb->rod->natural, (size_t)rod_curvature_count(rb->rod) * sizeof *out);
    return TDL_STATUS_OK;
}

// What a definition with these would be refused for.
static const char* find_fault(const Rod* rod, const TdlVec3* kappa, double stiffening) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = rod->model->name;
    def.length = rod_length(rod);
    def.element_count = rod->element_count;
    def.stiffening = stiffening;
    *(rod->model->at_joints ? &def.natural_curvature_at : &def.natural_curvature_of) = kappa;
    return tdl_rod_def_fault(&def);
}

const char* rod_natural_fault(const Rod* rod, const TdlVec3* kappa) {
    return find_fault(rod, kappa, 1.0);
}

TdlStatus tdl_rod_set_natural_curvature(TdlWorld* world, TdlBodyId id, const TdlVec3* kappa) {
    RodBody* rb = find(world, id);
    if (rb == NULL || kappa == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const char* fault = find_fault(rb->rod, kappa, 1.0);
    if (fault != NULL) {
        return tdl_fail(world_host(world), TDL_STATUS_BAD_ARGUMENT, "natural curvature: %s", fault);
    }
    rod_set_natural(rb->rod, kappa);
    world_count_energy(world, &rb->head);
    return TDL_STATUS_OK;
}

TdlStatus tdl_rod_set_stiffening(TdlWorld* world, TdlBodyId id, double factor) {
    RodBody* rb = find(world, id);
    if (rb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const char* fault = find_fault(rb->rod, NULL, factor);
    if (fault != NULL) {
        return tdl_fail(world_host(world), TDL_STATUS_BAD_ARGUMENT, "%s", fault);
    }
    rod_set_stiffening(rb->rod, factor);
    world_count_energy(world, &rb->head);
    return TDL_STATUS_OK;
}
