// What a world tells of its rods.
#include "base/log.h"
#include "rod/rod_body.h"

// A centre of mass is right to about a hundredth of this, times the length.
static const double CENTRE_TOL = 1.0e-9;
enum { CENTRE_PIECES_MAX = 256 }; // of an element; helices of a thousand turns need no more

// The mean place of a rod's mass by Gauss's rule of four points on each of so many pieces of an
// element. Straight edges, as the nodal models have, are exact with one.
static TdlVec3 mean_point(const Rod* rod, int pieces) {
    static const double PLACE[2] = {0.33998104358485626, 0.86113631159405258};
    static const double SHARE[2] = {0.32607257743127307, 0.17392742256872693};
    TdlVec3 sum = {0};
    for (int i = 0; i < rod->element_count * pieces; ++i) {
        double mass = rod->share[i / pieces].mass;
        for (int k = 0; k < 4; ++k) {
            double offset = (k % 2 == 0 ? -0.5 : 0.5) * PLACE[k / 2];
            double s = (i % pieces + 0.5 + offset) / pieces;
            sum = tdl_axpy3(sum, mass * SHARE[k / 2], rod->model->point(rod, i / pieces, s));
        }
    }
    return tdl_scale3(1.0 / (rod->element_count * pieces), sum);
}

double rod_centre(const Body* body, TdlVec3* centre) {
    const Rod* rod = rod_of(body);
    TdlVec3 coarse = mean_point(rod, 1);
    for (int pieces = 2;; pieces *= 2) {
        *centre = mean_point(rod, pieces);
        if (tdl_norm3(tdl_sub3(*centre, coarse)) <= CENTRE_TOL * rod_length(rod) ||
            pieces >= CENTRE_PIECES_MAX) {
            return rod_mass(rod);
        }
        coarse = *centre;
    }
}

TdlVec3 rod_point(const Body* body, double at) {
    const Rod* rod = rod_of(body);
    double u = fmin(fmax(at / rod->at_rest.element_length, 0.0), rod->element_count);
    int element = u < rod->element_count ? (int)u : rod->element_count - 1;
    return rod->model->point(rod, element, u - element);
}

static RodBody* find(const TdlWorld* world, TdlBodyId id) {
    return (RodBody*)world_find_body(world, id, &ROD_BODY);
}

TdlStatus tdl_rod_info(const TdlWorld* world, TdlBodyId id, TdlRodInfo* out) {
    const RodBody* rb = find(world, id);
    if (rb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const Rod* rod = rb->rod;
    *out = (TdlRodInfo){rod->model->name,
                        rod->element_count,
                        rod->dof_count,
                        rod_length(rod),
                        {rod->radius[0], rod->radius[1]},
                        rod_mass(rod),
                        rod_curvature_count(rod),
                        rod->stiffening,
                        rod->at_rest.stiffness};
    return TDL_STATUS_OK;
}

TdlStatus tdl_rod_hold_force(const TdlWorld* world, TdlBodyId id, bool end, TdlVec3* out) {
    const RodBody* rb = find(world, id);
    if (rb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    if (!world_finds_holds(world)) {
        return tdl_fail(world_host(world), TDL_STATUS_BAD_ARGUMENT,
                        "the world does not find the forces of holds (TdlWorldDef.holds)");
    }
    *out = rod_hold_force(world, &rb->head, end);
    return TDL_STATUS_OK;
}

TdlStatus tdl_rod_stability(const TdlWorld* world, TdlBodyId id, double* out) {
    const RodBody* rb = find(world, id);
    if (rb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = rb->stability;
    return TDL_STATUS_OK;
}

TdlStatus tdl_rod_point(const TdlWorld* world, TdlBodyId id, double s, TdlVec3* out) {
    const RodBody* rb = find(world, id);
    if (rb == NULL || isnan(s)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = rod_point(&rb->head, s);
    return TDL_STATUS_OK;
}

TdlStatus tdl_rod_points(const TdlWorld* world, TdlBodyId id, int samples, TdlVec3* out) {
    const RodBody* rb = find(world, id);
    if (rb == NULL || samples < 1) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const Rod* rod = rb->rod;
    for (int e = 0; e < rod->element_count; ++e) {
        for (int k = 0; k < samples; ++k) {
            *out++ = rod->model->point(rod, e, (double)k / samples);
        }
    }
    *out = rod->model->point(rod, rod->element_count - 1, 1.0);
    return TDL_STATUS_OK;
}

TdlStatus tdl_rod_coordinates(const TdlWorld* world, TdlBodyId id, const double** q) {
    const RodBody* rb = find(world, id);
    *q = rb == NULL ? NULL : rb->rod->q;
    return rb == NULL ? TDL_STATUS_BAD_ARGUMENT : TDL_STATUS_OK;
}

TdlStatus tdl_rod_velocities(const TdlWorld* world, TdlBodyId id, const double** v) {
    const RodBody* rb = find(world, id);
    *v = rb == NULL ? NULL : rb->rod->v;
    return rb == NULL ? TDL_STATUS_BAD_ARGUMENT : TDL_STATUS_OK;
}
