// Wisps: curls that grow out of a ball, fell on it and on each other, and came to rest.
#ifndef TDL_TEST_WISPS_H
#define TDL_TEST_WISPS_H

#include "base/rng.h"
#include "math/rotation.h"
#include "tendril/tendril.h"
#include "test.h"

typedef struct WispDef {
    const char* model; // "super-helix" or "super-clothoid"
    int curls, elements;
    double length, ball; // m, of a curl, and the ball's radius
    double mu;
    uint64_t seed;
    double step, settle, rest; // s: of a step, until which all is slowed down, and then
} WispDef;

static inline WispDef wisp_default(int curls) {
    return (WispDef){.model = "super-helix",
                     .curls = curls,
                     .elements = 30,
                     .length = 0.15,
                     .ball = 0.05,
                     .mu = 0.3,
                     .seed = 1,
                     .step = 1.0e-3,
                     .settle = 1.0,
                     .rest = 4.0};
}

// Curvatures of a curl: of its elements, or at its joints.
static inline int wisp_each(const WispDef* w) {
    return w->elements + (strcmp(w->model, "super-clothoid") == 0);
}

// What is taken of a wisp: shapes, and the truth that is forgotten but to compare with.
typedef struct Wisp {
    WispDef def;
    TdlPose* start;              // [curls]
    TdlVec3 *kappa, *true_kappa; // [curls each]
    double speed;                // m/s, the fastest tip that is left
    int contacts;
} Wisp;

static inline TdlRodDef wisp_rod(const WispDef* w) {
    TdlRodDef rod = tdl_rod_def_default();
    rod.model = w->model;
    rod.length = w->length;
    rod.element_count = w->elements;
    rod.damping = 1.0e-3;
    rod.mass_damping = 5.0; // kicks die away; no part of the rest itself
    return rod;
}

static inline TdlWorld* wisp_world(const WispDef* w, bool settles) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.step = w->step;
    def.contacts.law.mu = w->mu;
    def.settle = settles ? w->settle : 0.0;
    def.settle_damping = settles ? 50.0 : 0.0;
    TdlWorld* world = NULL;
    CHECK_INT(tdl_world_create(&host, &def, &world), TDL_STATUS_OK);
    TdlColliderDef ball = tdl_collider_def_default();
    ball.shape = TDL_SHAPE_SPHERE;
    ball.radius = w->ball;
    TdlBodyId id;
    CHECK_INT(tdl_world_add_collider(world, &ball, &id), TDL_STATUS_OK);
    return world;
}

// A root on the upper part of the ball: it grows outwards, leaning to one side.
static inline TdlPose wisp_root(const WispDef* w, int i, Rng* rng) {
    double around = 2.399963 * i, out = 0.25 * sqrt((i + 0.5) / w->curls); // rad from the top
    TdlVec3 up = {sin(out) * cos(around), sin(out) * sin(around), cos(out)};
    TdlVec3 side = tdl_unit3((TdlVec3){1.0, 0.3 * rng_normal(rng), 0.0});
    TdlVec3 t = tdl_unit3(tdl_axpy3(up, 1.0, side));
    TdlVec3 b = tdl_unit3(tdl_cross3(t, up));
    TdlPose pose = {.position = tdl_scale3(w->ball + 1.0e-3, up),
                    .rotation = {t, b, tdl_cross3(t, b)}};
    return pose;
}

static inline double wisp_speed(TdlWorld* world, const TdlBodyId* rods, int curls, int dofs) {
    double most = 0.0;
    for (int i = 0; i < curls; ++i) {
        const double* v;
        tdl_rod_velocities(world, rods[i], &v);
        for (int j = 0; j < dofs; ++j) {
            most = fmax(most, fabs(v[j]));
        }
    }
    return most;
}

static inline void wisp_make(const WispDef* w, Wisp* out) {
    size_t n = (size_t)w->curls, e = (size_t)wisp_each(w);
    Rng rng = rng_seed(w->seed);
    *out = (Wisp){.def = *w};
    out->start = calloc(n, sizeof *out->start);
    out->kappa = calloc(n * e, sizeof *out->kappa);
    out->true_kappa = calloc(n * e, sizeof *out->true_kappa);
    TdlBodyId* rods = calloc(n, sizeof *rods);
    TdlWorld* world = wisp_world(w, true);
    for (int i = 0; i < w->curls; ++i) {
        TdlRodDef rod = wisp_rod(w);
        // curls of one kind, each a little its own
        rod.natural_curvature = (TdlVec3){10.0 + rng_normal(&rng), 60.0 + 3.0 * rng_normal(&rng),
                                          20.0 + 3.0 * rng_normal(&rng)};
        rod.clamp = wisp_root(w, i, &rng);
        rod.mass_damping = 20.0; // until it is at rest: no part of the rest itself
        rod.curvature = (TdlVec3){0.0, 2.0, 0.0};
        CHECK_INT(tdl_world_add_rod(world, &rod, &rods[i]), TDL_STATUS_OK);
        for (size_t k = 0; k < e; ++k) {
            out->true_kappa[(size_t)i * e + k] = rod.natural_curvature;
        }
    }
    TdlStepInfo info = {0};
    for (double t = 0.0, speed = 1.0; t < w->settle + w->rest && speed > 1.0e-9; t += w->step) {
        TdlStatus status = tdl_world_step(world, &info);
        if (status != TDL_STATUS_OK) {
            FAIL("step at %g s: %s", t, tdl_status_string(status));
            break;
        }
        speed = t > w->settle ? wisp_speed(world, rods, w->curls, 3 * wisp_each(w)) : 1.0;
    }
    out->contacts = info.contact_count;
    out->speed = wisp_speed(world, rods, w->curls, 3 * wisp_each(w));
    for (int i = 0; i < w->curls; ++i) {
        tdl_rod_start(world, rods[i], &out->start[i]);
        tdl_rod_curvature(world, rods[i], out->kappa + (size_t)i * e);
    }
    tdl_world_destroy(world);
    free(rods);
}

static inline Wisp wisp_copy(const Wisp* w) {
    size_t n = (size_t)w->def.curls, e = n * (size_t)wisp_each(&w->def);
    Wisp out = *w;
    out.start = calloc(n, sizeof *out.start);
    out.kappa = calloc(e, sizeof *out.kappa);
    out.true_kappa = calloc(e, sizeof *out.true_kappa);
    memcpy(out.start, w->start, n * sizeof *out.start);
    memcpy(out.kappa, w->kappa, e * sizeof *out.kappa);
    memcpy(out.true_kappa, w->true_kappa, e * sizeof *out.true_kappa);
    return out;
}

static inline void wisp_free(Wisp* w) {
    free(w->start);
    free(w->kappa);
    free(w->true_kappa);
}

// A world of rods in the shapes of a wisp, which are their natural ones until told otherwise.
static inline TdlWorld* wisp_again(const Wisp* w, TdlBodyId* rods) {
    TdlWorld* world = wisp_world(&w->def, false);
    for (int i = 0; i < w->def.curls; ++i) {
        TdlRodDef rod = wisp_rod(&w->def);
        rod.clamp = w->start[i];
        const TdlVec3* kappa = w->kappa + (ptrdiff_t)i * wisp_each(&w->def);
        bool joints = wisp_each(&w->def) > w->def.elements;
        rod.curvature_of = rod.natural_curvature_of = joints ? NULL : kappa;
        rod.curvature_at = rod.natural_curvature_at = joints ? kappa : NULL;
        CHECK_INT(tdl_world_add_rod(world, &rod, &rods[i]), TDL_STATUS_OK);
    }
    return world;
}

// The largest distance of a node from where it was, over the length.
static inline double wisp_drift(TdlWorld* world, const TdlBodyId* rods, const Wisp* w,
                                const TdlVec3* before) {
    double most = 0.0;
    int points = w->def.elements + 1;
    TdlVec3* now = calloc((size_t)points, sizeof *now);
    for (int i = 0; i < w->def.curls; ++i) {
        tdl_rod_points(world, rods[i], 1, now);
        for (int k = 0; k < points; ++k) {
            most = fmax(most, tdl_norm3(tdl_sub3(now[k], before[i * points + k])));
        }
    }
    free(now);
    return most / w->def.length;
}

static inline TdlVec3* wisp_points(TdlWorld* world, const TdlBodyId* rods, const Wisp* w) {
    int points = w->def.elements + 1;
    TdlVec3* out = calloc((size_t)(points * w->def.curls), sizeof *out);
    for (int i = 0; i < w->def.curls; ++i) {
        tdl_rod_points(world, rods[i], 1, out + (ptrdiff_t)i * points);
    }
    return out;
}

#endif
