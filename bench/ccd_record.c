// Collision queries recorded from simulations: segments of rods between the two shapes of a step.
#include "bench/ccd_record.h"

#include <stdlib.h>
#include <string.h>

typedef struct Polylines {
    int point_count, edge_count;
    double *start, *end; // [3 point_count]
    TdlVec3* point;      // scratch of one rod
    int* edges;
} Polylines;

static void free_polylines(Polylines* p) {
    free(p->start);
    free(p->end);
    free(p->point);
    free(p->edges);
}

static int count_rods(const TdlWorld* world) {
    return tdl_world_bodies(world, "rod", 0, NULL);
}

static int count_elements(const TdlWorld* world, int rod) {
    TdlRodInfo info = {0};
    tdl_rod_info(world, tdl_world_body(world, "rod", rod), &info);
    return info.element_count;
}

static bool make_polylines(const TdlWorld* world, Polylines* p) {
    int most = 1;
    *p = (Polylines){0};
    for (int i = 0; i < count_rods(world); ++i) {
        int count = count_elements(world, i);
        p->point_count += count + 1;
        p->edge_count += count;
        most = count + 1 > most ? count + 1 : most;
    }
    size_t size = 3 * (size_t)p->point_count + 1;
    p->start = calloc(size, sizeof(double));
    p->end = calloc(size, sizeof(double));
    p->point = calloc((size_t)most, sizeof *p->point);
    p->edges = calloc(2 * (size_t)p->edge_count + 1, sizeof(int));
    if (p->start == NULL || p->end == NULL || p->point == NULL || p->edges == NULL) {
        return false;
    }
    int at = 0, edge = 0;
    for (int i = 0; i < count_rods(world); ++i) {
        int count = count_elements(world, i);
        for (int k = 0; k < count; ++k, ++edge) {
            p->edges[2 * edge] = at + k;
            p->edges[2 * edge + 1] = at + k + 1;
        }
        at += count + 1;
    }
    return true;
}

static void take_shape(const TdlWorld* world, Polylines* p, double* x) {
    for (int i = 0; i < count_rods(world); ++i) {
        int count = count_elements(world, i) + 1;
        tdl_rod_points(world, tdl_world_body(world, "rod", i), 1, p->point);
        memcpy(x, p->point, 3 * (size_t)count * sizeof(double));
        x += 3 * (size_t)count;
    }
}

typedef struct Taker {
    CcdRecordFn fn;
    void* user;
    int left; // queries that may still be taken in this step
} Taker;

static void take_crossing(void* user, long step, const TdlCcdQuery* query, bool collision) {
    (void)step;
    (void)collision;
    Taker* taker = user;
    if (taker->left > 0) {
        --taker->left;
        taker->fn(taker->user, query);
    }
}

// Every so many of the candidates, as many as are left.
static TdlStatus take_candidates(const TdlHost* host, const Polylines* p, Taker* taker) {
    TdlCcdMesh mesh = {.vertex_count = p->point_count,
                       .edge_count = p->edge_count,
                       .start = p->start,
                       .end = p->end,
                       .edges = p->edges};
    TdlCcdSet set;
    TdlStatus status = tdl_ccd_candidates(host, &mesh, 0.0, &set);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    int stride = taker->left > 0 ? set.count / taker->left + 1 : 1;
    for (int i = 0; i < set.count && taker->left > 0; i += stride, --taker->left) {
        TdlCcdQuery query = tdl_ccd_mesh_query(&mesh, set.contacts[i].pair);
        taker->fn(taker->user, &query);
    }
    tdl_ccd_set_free(&set);
    return TDL_STATUS_OK;
}

TdlStatus ccd_record_world(const TdlHost* host, TdlWorld* world, int steps, int limit,
                           CcdRecordFn fn, void* user) {
    Polylines p;
    TdlStatus status = make_polylines(world, &p) ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
    Taker taker = {.fn = fn, .user = user};
    tdl_world_watch_crossings(world, take_crossing, &taker);
    for (int k = 0; k < steps && status == TDL_STATUS_OK; ++k) {
        taker.left = (int)((k + 1.0) * limit / steps) - (int)((double)k * limit / steps);
        take_shape(world, &p, p.start);
        status = tdl_world_step(world, NULL);
        take_shape(world, &p, p.end);
        if (status == TDL_STATUS_OK) {
            status = take_candidates(host, &p, &taker);
        }
    }
    tdl_world_watch_crossings(world, NULL, NULL);
    free_polylines(&p);
    return status;
}

TdlStatus ccd_record_scene(const TdlHost* host, const char* path, int steps, int limit,
                           CcdRecordFn fn, void* user) {
    TdlScene* scene;
    TdlWorld* world = NULL;
    TdlStatus status = tdl_scene_load(host, path, NULL, 0, &scene);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_scene_build(scene, 1, &world);
    if (status == TDL_STATUS_OK) {
        status = ccd_record_world(host, world, steps, limit, fn, user);
    }
    tdl_world_destroy(world);
    tdl_scene_destroy(scene);
    return status;
}

TdlStatus ccd_record_heap(const TdlHost* host, int steps, int limit, CcdRecordFn fn, void* user) {
    enum { LAYERS = 6, EACH = 6 };
    TdlWorldDef def = tdl_world_def_default();
    def.step = 2.0e-3;
    TdlWorld* world;
    TdlStatus status = tdl_world_create(host, &def, &world);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlColliderDef floor = tdl_collider_def_default();
    TdlBodyId id;
    status = tdl_world_add_collider(world, &floor, &id);
    for (int i = 0; i < LAYERS * EACH && status == TDL_STATUS_OK; ++i) {
        TdlRodDef rod = tdl_rod_def_default();
        TdlBodyId unused;
        double aside = 0.012 * (i % EACH - 0.5 * (EACH - 1)), high = 0.01 + 0.012 * (i / EACH);
        bool turned = i / EACH % 2 != 0;
        rod.model = "der";
        rod.length = 0.12;
        rod.radius[0] = rod.radius[1] = 1.5e-3;
        rod.element_count = 12;
        rod.young = 5.0e5;
        rod.density = 1100.0;
        rod.damping = 0.01;
        rod.start = TDL_HOLD_FREE;
        rod.natural_curvature = (TdlVec3){0.0, 0.0, 6.0 * (i % 3 - 1)};
        rod.clamp.position = turned ? (TdlVec3){aside, -0.06, high} : (TdlVec3){-0.06, aside, high};
        if (turned) {
            rod.clamp.rotation = (TdlMat3){{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}};
        }
        status = tdl_world_add_rod(world, &rod, &unused);
    }
    if (status == TDL_STATUS_OK) {
        status = ccd_record_world(host, world, steps, limit, fn, user);
    }
    tdl_world_destroy(world);
    return status;
}
