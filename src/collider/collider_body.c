// Colliders in a world: bodies without coordinates, which go where their motion takes them.
#include "base/log.h"
#include "body/body.h"
#include "body/surface.h"
#include "collider/implicit.h"
#include "collider/shape.h"
#include "curve/curve.h"

#include <string.h>

typedef struct ColliderBody {
    Body head;
    TdlColliderDef def; // what it points to is its own; without its keys
    Motion motion;
    TdlCurve* curves; // [curve_count] in its own frame, where it is made of curves
    int curve_count;
    Surface* surface;          // of a mesh; null: none
    ImplicitSurface* implicit; // null: none
    TdlPeak* peak;             // [peak_count] of it
    int peak_count;
    VertexMotion vertices; // of a mesh; its vertices in `def` and `surface` are the present ones
    TdlPose pose;          // in the present state
    Twist rate;            // in the step under way, at its position
    TdlVec3* vertex_rate;  // [surface->vertex_count] in it, in its own frame; null: they stay
    double fastest;        // m/s, of these
} ColliderBody;

static void destroy(const TdlHost* host, Body* body) {
    ColliderBody* cb = (ColliderBody*)body;
    motion_destroy(host, &cb->motion);
    surface_destroy(host, cb->surface);
    implicit_destroy(host, cb->implicit);
    tdl_free(&host->mem, cb->peak);
    vertex_motion_destroy(host, &cb->vertices);
    tdl_free(&host->mem, cb->vertex_rate);
    tdl_free(&host->mem, cb->curves);
    tdl_free(&host->mem, (void*)cb->def.pieces);
    tdl_free(&host->mem, (void*)cb->def.mesh.vertices);
    tdl_free(&host->mem, (void*)cb->def.mesh.triangles);
    tdl_free(&host->mem, cb);
}

// --- a step ----------------------------------------------------------------------------------

static void prepare(Body* body, const BodyStep* t) {
    ColliderBody* cb = (ColliderBody*)body;
    TdlPose end = motion_pose(&cb->motion, cb->def.pose, t->end);
    cb->rate = twist_between(cb->pose, end, t->dt);
    if (cb->vertex_rate != NULL) {
        cb->fastest = surface_rates(cb->surface, &cb->vertices, t->end, t->dt, cb->vertex_rate);
    }
}

// Fails where its vertices leave a triangle without area.
static TdlStatus place(const TdlHost* host, Body* body, double time) {
    ColliderBody* cb = (ColliderBody*)body;
    cb->pose = motion_pose(&cb->motion, cb->def.pose, time);
    if (cb->vertices.samples == NULL) {
        return TDL_STATUS_OK;
    }
    TdlVec3* vertices = (TdlVec3*)(uintptr_t)cb->def.mesh.vertices; // its own
    for (int i = 0; i < cb->vertices.vertex_count; ++i) {
        vertices[i] = vertex_motion_at(&cb->vertices, i, time);
    }
    int triangle = surface_move(cb->surface, &cb->vertices, time);
    if (triangle < 0) {
        return TDL_STATUS_OK;
    }
    return tdl_fail(host, TDL_STATUS_BAD_INPUT,
                    "a mesh whose vertices move: its triangle %d has no area at %.6g s; it needs "
                    "more samples there",
                    triangle, time);
}

static TdlVec3 velocity_at(const ColliderBody* cb, TdlVec3 at, int triangle) {
    TdlVec3 arm = tdl_sub3(at, cb->pose.position);
    TdlVec3 v = tdl_add3(cb->rate.linear, tdl_cross3(cb->rate.angular, arm));
    if (cb->vertex_rate == NULL) {
        return v;
    }
    TdlVec3 inside = tdl_tmul33_3(cb->pose.rotation, arm);
    TdlVec3 own = surface_velocity(cb->surface, triangle, inside, cb->vertex_rate);
    return tdl_add3(v, tdl_mul33_3(cb->pose.rotation, own));
}

static TdlVec3 prescribed(const Body* body, const BodyPlace* at) {
    return velocity_at((const ColliderBody*)body, at->touch, at->element);
}

static TdlVec3 velocity(const Body* body, const BodyPlace* at) {
    return velocity_at((const ColliderBody*)body, at->point, at->element);
}

// --- what detection sees ---------------------------------------------------------------------

static BodyShape shape(const Body* body, int segments) {
    (void)segments;
    const ColliderBody* cb = (const ColliderBody*)body;
    return (BodyShape){.curve_count = cb->curve_count,
                       .pieces = 1,
                       .stiff = true,
                       .surface = cb->surface,
                       .obstacle = cb->def.shape <= TDL_SHAPE_PLATE || cb->surface != NULL ||
                                   cb->implicit != NULL};
}

static void curves(Body* body, int segments, TdlCurve* out) {
    (void)segments;
    const ColliderBody* cb = (const ColliderBody*)body;
    for (int i = 0; i < cb->curve_count; ++i) {
        out[i] = curve_moved(&cb->curves[i], cb->pose);
    }
}

static void obstacle(const Body* body, TdlColliderDef* out) {
    const ColliderBody* cb = (const ColliderBody*)body;
    *out = cb->def;
    out->pose = cb->pose;
}

static TdlPose pose(const Body* body) {
    return ((const ColliderBody*)body)->pose;
}

static double speed(const Body* body) {
    const ColliderBody* cb = (const ColliderBody*)body;
    return tdl_norm3(cb->rate.linear) + cb->fastest;
}

static const BodyKind COLLIDER_BODY = {
    .name = "collider",
    .destroy = destroy,
    .prepare = prepare,
    .place = place,
    .prescribed = prescribed,
    .velocity = velocity,
    .shape = shape,
    .curves = curves,
    .obstacle = obstacle,
    .pose = pose,
    .speed = speed,
};

// --- adding one ------------------------------------------------------------------------------

static TdlStatus own_mesh(const TdlHost* host, ColliderBody* cb) {
    TdlMesh given = cb->def.mesh;
    cb->def.mesh = (TdlMesh){0};
    if (cb->def.shape != TDL_SHAPE_MESH) {
        return TDL_STATUS_OK;
    }
    size_t vertices = (size_t)given.vertex_count, corners = 3 * (size_t)given.triangle_count;
    TdlVec3* vertex = tdl_alloc_array(&host->mem, vertices, sizeof *vertex);
    int* corner = tdl_alloc_array(&host->mem, corners, sizeof *corner);
    cb->def.mesh = (TdlMesh){vertex, given.vertex_count, corner, given.triangle_count};
    if (vertex == NULL || corner == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(vertex, given.vertices, vertices * sizeof *vertex);
    memcpy(corner, given.triangles, corners * sizeof *corner);
    TdlStatus status =
        vertex_motion_create(host, &cb->def.vertex_motion, given.vertex_count, &cb->vertices);
    cb->def.vertex_motion.samples = cb->vertices.samples;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = surface_create(host, &cb->def.mesh, &cb->vertices, cb->def.radius, &cb->surface);
    if (status != TDL_STATUS_OK || cb->vertices.samples == NULL) {
        return status;
    }
    cb->vertex_rate =
        tdl_alloc_array(&host->mem, (size_t)cb->surface->vertex_count, sizeof *cb->vertex_rate);
    return cb->vertex_rate == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

// The surface of one that is implicit, and triangles for pictures of it.
static TdlStatus own_implicit(const TdlHost* host, ColliderBody* cb) {
    TdlImplicit given = cb->def.implicit;
    cb->def.implicit = (TdlImplicit){0};
    cb->def.found = NULL;
    if (cb->def.shape != TDL_SHAPE_IMPLICIT) {
        return TDL_STATUS_OK;
    }
    TdlStatus status = implicit_create(host, &given, &cb->implicit);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    cb->def.implicit = cb->implicit->h;
    cb->def.found = cb->implicit;
    status =
        implicit_peaks(host, cb->implicit, (TdlVec3){0.0, 0.0, 1.0}, &cb->peak, &cb->peak_count);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return implicit_mesh(host, cb->implicit, cb->peak, cb->peak_count, &cb->def.mesh);
}

// Copies what the definition points to, and makes the collider's curves and surface.
static TdlStatus own_parts(const TdlHost* host, ColliderBody* cb) {
    const TdlCurvePiece* pieces = cb->def.pieces;
    size_t count = pieces == NULL ? 0 : (size_t)cb->def.piece_count;
    cb->def.pieces = NULL;
    TdlStatus status = own_mesh(host, cb);
    if (status == TDL_STATUS_OK) {
        status = own_implicit(host, cb);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlCurvePiece* copy = tdl_alloc_array(&host->mem, count + 1, sizeof *copy);
    cb->def.pieces = copy;
    cb->curve_count = collider_curve_count(&cb->def);
    cb->curves = tdl_alloc_array(&host->mem, (size_t)cb->curve_count + 1, sizeof *cb->curves);
    if (copy == NULL || cb->curves == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (count > 0) {
        memcpy(copy, pieces, count * sizeof *copy);
    }
    return collider_curves(host, &cb->def, cb->curves);
}

static TdlStatus create(TdlWorld* world, const TdlColliderDef* def, ColliderBody* cb) {
    const TdlHost* host = world_host(world);
    cb->def = *def;
    cb->def.motion = (TdlMotionDef){0};
    TdlStatus status = own_parts(host, cb);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = collider_motion(host, def, &cb->motion);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = place(host, &cb->head, world_now(world));
    return status == TDL_STATUS_OK ? world_add_body(world, &cb->head) : status;
}

TdlStatus tdl_world_add_collider(TdlWorld* world, const TdlColliderDef* def, TdlBodyId* out) {
    const TdlHost* host = world_host(world);
    const char* fault = collider_find_fault(def);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "collider: %s", fault);
    }
    ColliderBody* cb = tdl_alloc_zero(&host->mem, sizeof *cb);
    if (cb == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    cb->head = (Body){.kind = &COLLIDER_BODY, .material = def->material, .bounces = true};
    TdlStatus status = create(world, def, cb);
    if (status != TDL_STATUS_OK) {
        destroy(host, &cb->head);
        return status;
    }
    *out = cb->head.id;
    return TDL_STATUS_OK;
}

// --- what the world tells --------------------------------------------------------------------

TdlStatus tdl_collider_def(const TdlWorld* world, TdlBodyId id, TdlColliderDef* out) {
    const ColliderBody* cb = (const ColliderBody*)world_find_body(world, id, &COLLIDER_BODY);
    if (cb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = cb->def;
    return TDL_STATUS_OK;
}

TdlStatus tdl_collider_pose(const TdlWorld* world, TdlBodyId id, TdlPose* out) {
    const ColliderBody* cb = (const ColliderBody*)world_find_body(world, id, &COLLIDER_BODY);
    if (cb == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = cb->pose;
    return TDL_STATUS_OK;
}

TdlStatus tdl_collider_peaks(const TdlWorld* world, TdlBodyId id, int capacity, TdlPeak* out,
                             int* count) {
    const ColliderBody* cb = (const ColliderBody*)world_find_body(world, id, &COLLIDER_BODY);
    *count = 0;
    if (cb == NULL || cb->implicit == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *count = cb->peak_count;
    for (int i = 0; i < capacity && i < cb->peak_count; ++i) {
        out[i] = cb->peak[i];
    }
    return TDL_STATUS_OK;
}
