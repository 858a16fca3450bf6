// Strands of random shape, and the rods they are.
#ifndef TDL_TESTS_STRANDS_H
#define TDL_TESTS_STRANDS_H

#include "base/rng.h"
#include "math/rotation.h"
#include "rod/nodal.h"
#include "rod/rod.h"
#include "tendril/inverse.h"
#include "test.h"

#include <string.h>

enum { STRAND_MAX = 120 };

static const char* const STRAND_MODELS[3] = {"super-helix", "super-clothoid", "der"};

typedef struct TestStrand {
    TdlRodDef def;
    TdlStrand strand;
    TdlVec3 curvature[STRAND_MAX + 1], natural[STRAND_MAX + 1];
    TdlRodLoad loads[4];
    TdlVec3 gravity;
} TestStrand;

static inline TdlVec3 strand_random_vector(Rng* rng, double size) {
    TdlVec3 v = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
    return tdl_scale3(size / (tdl_norm3(v) + 1.0e-300), v);
}

// A smooth curvature: a mean, and two waves along the fibre; `turns` over its length, about.
static inline void strand_random_shape(Rng* rng, double turns, TestStrand* out) {
    int n = out->def.element_count, count = n + (strcmp(out->def.model, "super-clothoid") == 0);
    double size = 6.3 * turns / out->def.length;
    TdlVec3 mean = strand_random_vector(rng, size * rng_range(rng, 0.0, 1.0));
    TdlVec3 wave[2] = {strand_random_vector(rng, size), strand_random_vector(rng, 0.5 * size)};
    double phase[2] = {rng_range(rng, 0.0, 6.3), rng_range(rng, 0.0, 6.3)};
    for (int i = 0; i < count; ++i) {
        double s = count > n ? (double)i / n : (i + 0.5) / n;
        TdlVec3 kappa = tdl_axpy3(mean, sin(6.3 * s + phase[0]), wave[0]);
        out->curvature[i] = tdl_axpy3(kappa, sin(12.6 * s + phase[1]), wave[1]);
    }
}

// `weight` is w L^3 / EI of the softest bending, about.
static inline void strand_random(Rng* rng, const char* model, int n, double weight,
                                 TestStrand* out) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.element_count = n;
    def.length = rng_range(rng, 0.1, 0.5);
    def.radius[0] = rng_range(rng, 1.0e-4, 1.0e-3);
    def.radius[1] = def.radius[0] * rng_range(rng, 0.6, 1.7);
    double soft = fmin(def.radius[0], def.radius[1]);
    def.young = 4.0 * def.density * 9.81 * pow(def.length, 3.0) / (soft * soft * weight);
    def.clamp.position = strand_random_vector(rng, 0.3);
    def.clamp.rotation = tdl_rotation_exp(strand_random_vector(rng, rng_range(rng, 0.0, 3.1)));
    *out = (TestStrand){.def = def, .gravity = {0.0, 0.0, -9.81}};
    strand_random_shape(rng, rng_range(rng, 0.0, 1.0), out);
}

static inline void strand_add_loads(Rng* rng, int count, TestStrand* out) {
    double weight = 3.14159265358979 * out->def.radius[0] * out->def.radius[1] * out->def.density *
                    out->def.length * 9.81;
    for (int i = 0; i < count; ++i) {
        double at = i == 0 ? 1.0 : i == 1 ? 0.5 : rng_range(rng, 0.0, 1.0);
        out->loads[i] = (TdlRodLoad){.at = at * out->def.length,
                                     .force = strand_random_vector(rng, 0.3 * weight)};
    }
    out->def.loads = out->loads;
    out->def.load_count = count;
}

// Edges as long as their tension makes them, in their directions: what a `der` rests in. Forces are
// told by the model's own dead load.
static inline void strand_stretch_edges(Rod* rod, TdlVec3 gravity) {
    static double load[4 * STRAND_MAX + 3];
    NodalShape shape = nodal_shape(rod);
    int n = rod->element_count;
    double EA = rod_stretch_stiffness(rod), l = rod->element_length;
    TdlVec3 force = {0}, edge[STRAND_MAX];
    nodal_dead_load(&shape, gravity, false, load);
    for (int i = n - 1; i >= 0; --i) {
        force = tdl_axpy3(force, 1.0 / l, tdl_load3(load + 4 * (i + 1), 0));
        TdlVec3 t = tdl_unit3(nodal_edge(&shape, i));
        edge[i] = tdl_scale3(1.0 + tdl_dot3(force, t) / EA, t);
    }
    for (int i = 0; i < n; ++i) {
        TdlVec3 x = tdl_add3(tdl_load3(rod->q + 4 * i, 0), edge[i]);
        tdl_store3(rod->q + 4 * (i + 1), 0, x);
    }
}

// Gives a rod the shape of the strand and the natural curvature found for it.
static inline void strand_shape_rod(const TestStrand* t, Rod* rod) {
    double l = rod->element_length;
    if (strcmp(t->def.model, "der") == 0) {
        rod->model->set_curvature(rod, t->curvature, rod->q);
        rod->model->set_curvature(rod, t->natural, rod->q_rest);
        strand_stretch_edges(rod, t->gravity);
    }
    for (int i = 0; strcmp(t->def.model, "der") != 0 && i < rod->dof_count / 3; ++i) {
        tdl_store3(rod->q, i, tdl_scale3(l, t->curvature[i]));
        tdl_store3(rod->q_rest, i, tdl_scale3(l, t->natural[i]));
    }
    memcpy(rod->q_before, rod->q, (size_t)rod->dof_count * sizeof(double));
    rod->model->refresh(rod);
}

// The strand of a definition, with stiffness and density as the rod has them; the rod itself, in
// the model that knows its potential. Null, and the test fails, where it cannot be made.
static inline Rod* strand_make(TestStrand* t) {
    TdlHost host = tdl_host_default();
    TdlRodDef def = t->def;
    if (strcmp(def.model, "super-helix") == 0) {
        def.model = "super-helix-dense";
    }
    Rod* rod = NULL;
    if (rod_create(&host, &def, &rod) != TDL_STATUS_OK) {
        FAIL("no rod");
        return NULL;
    }
    t->strand = (TdlStrand){.model = t->def.model,
                            .start = def.clamp,
                            .length = def.length,
                            .element_count = def.element_count,
                            .curvature = t->curvature,
                            .stiffness = rod->stiffness,
                            .line_density = rod->line_density,
                            .stretching = rod_stretch_stiffness(rod),
                            .loads = def.loads,
                            .load_count = def.load_count};
    if (tdl_strand_rest(&host, &t->strand, t->gravity, t->natural) != TDL_STATUS_OK) {
        FAIL("no natural curvature");
    }
    strand_shape_rod(t, rod);
    return rod;
}

// Frames and vertices of a der whose joints turn by the angles of a mode.
static inline void strand_kick_der(Rod* rod, const double* mode, double kick) {
    NodalShape shape = nodal_shape(rod);
    const NodalKind* kind = nodal_kind(rod);
    int n = rod->element_count;
    static double old[4 * STRAND_MAX + 3];
    TdlMat3 frames[STRAND_MAX];
    memcpy(old, rod->q, (size_t)rod->dof_count * sizeof *old);
    shape.q = old;
    for (int i = 0; i < n; ++i) {
        frames[i] = kind->frame(rod, i);
    }
    Quat before = shape.start, turned = shape.start;
    for (int i = 0; i < n; ++i) {
        Quat now = quat_from_matrix(frames[i]), between = quat_mul(quat_conj(before), now);
        Quat kicked = quat_mul(quat_exp(tdl_scale3(kick, tdl_load3(mode, i))), between);
        turned = quat_unit(quat_mul(turned, kicked));
        before = now;
        kind->set_frame(rod, i, turned, rod->q + 4 * i + 3);
        TdlVec3 edge = tdl_scale3(tdl_norm3(nodal_edge(&shape, i)), quat_first_axis(turned));
        tdl_store3(rod->q + 4 * (i + 1), 0, tdl_add3(tdl_load3(rod->q + 4 * i, 0), edge));
    }
}

static inline void strand_kick(const TestStrand* t, Rod* rod, const double* mode, double kick) {
    if (strcmp(t->def.model, "der") == 0) {
        strand_kick_der(rod, mode, kick);
    } else {
        for (int i = 0; i < rod->dof_count; ++i) {
            rod->q[i] += kick * mode[i];
        }
    }
    memcpy(rod->q_before, rod->q, (size_t)rod->dof_count * sizeof(double));
    rod->model->refresh(rod);
}

#endif
