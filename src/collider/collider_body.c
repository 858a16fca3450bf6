// Colliders in a world: bodies without coordinates, which go where their motion takes them.
#include "base/hash.h"
#include "base/log.h"
#include "body/body.h"
#include "body/lead.h"
#include "body/surface.h"
#include "collider/implicit.h"
#include "collider/shape.h"
#include "curve/curve.h"
#include "math/rotation.h"

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
    TdlPose pose, next;    // in the present state, at the end of the step under way
    Lead lead;             // of a program
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

// Where it is at the end of a step, or part of one, that starts now.
static TdlPose next_pose(const ColliderBody* cb, double now, double end) {
    return lead_is_on(&cb->lead) ? lead_pose(&cb->lead, cb->pose, now, end)
                                 : motion_pose(&cb->motion, cb->def.pose, end);
}

static void prepare(Body* body, const BodyStep* t) {
    ColliderBody* cb = (ColliderBody*)body;
    cb->next = next_pose(cb, t->start, t->end);
    motion_check(&cb->motion, cb->next, body);
    cb->rate = lead_twist(cb->pose, cb->next, t->dt);
    if (cb->vertex_rate != NULL) {
        cb->fastest = surface_rates(cb->surface, &cb->vertices, t->end, t->dt, cb->vertex_rate);
    }
}

static void advance(Body* body, const BodyStep* t) {
    (void)t;
    ColliderBody* cb = (ColliderBody*)body;
    cb->pose = cb->next;
}

// Fails where its vertices leave a triangle without area.
static TdlStatus place(const TdlHost* host, Body* body, double time) {
    ColliderBody* cb = (ColliderBody*)body;
    if (!lead_is_on(&cb->lead)) { // else it is where the state has it
        cb->pose = motion_pose(&cb->motion, cb->def.pose, time);
    }
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

// --- leading it, and the state ---------------------------------------------------------------

static Lead* lead(Body* body, int part, TdlPose* now) {
    ColliderBody* cb = (ColliderBody*)body;
    *now = cb->pose;
    return part == 0 ? &cb->lead : NULL;
}

// Its motion tells where it is, unless it is led.
typedef struct ColliderState {
    Lead lead;
    TdlPose pose;
} ColliderState;

static size_t state_size(const Body* body) {
    (void)body;
    return sizeof(ColliderState);
}

static ColliderState state_of(const Body* body) {
    const ColliderBody* cb = (const ColliderBody*)body;
    return lead_is_on(&cb->lead) ? (ColliderState){cb->lead, cb->pose} : (ColliderState){0};
}

static void save(const Body* body, void* bytes) {
    ColliderState state = state_of(body);
    memcpy(bytes, &state, sizeof state);
}

static void load(Body* body, const void* bytes) {
    ColliderBody* cb = (ColliderBody*)body;
    ColliderState state;
    memcpy(&state, bytes, sizeof state);
    cb->lead = state.lead;
    if (lead_is_on(&cb->lead)) {
        cb->pose = state.pose;
    }
}

static uint64_t hash(const Body* body, uint64_t before) {
    ColliderState state = state_of(body);
    return lead_is_on(&state.lead) ? hash_bytes(before, &state, sizeof state) : before;
}

// --- what detection sees ---------------------------------------------------------------------

static BodyShape shape(const Body* body, int segments) {
    (void)segments;
    const ColliderBody* cb = (const ColliderBody*)body;
    return (BodyShape){.curve_count = cb->curve_count,
                       .pieces = 1,
                       .stiff = true,
                       .hollow = cb->def.inner_radius > 0.0,
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

static void bores(const Body* body, int segments, double* out) {
    (void)segments;
    const ColliderBody* cb = (const ColliderBody*)body;
    for (int i = 0; i < 2 * cb->curve_count; ++i) {
        out[i] = cb->def.inner_radius;
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

static bool frame(const Body* body, const BodyPlace* at, TdlPose* out) {
    (void)at;
    *out = pose(body);
    return true;
}

// It goes where its motion takes it, by the rate of the step.
static bool frame_after(const Body* body, const BodyPlace* at, double dt, const double* v,
                        TdlPose* out) {
    (void)at;
    (void)v;
    const ColliderBody* cb = (const ColliderBody*)body;
    TdlMat3 turn = tdl_rotation_exp(tdl_scale3(dt, cb->rate.angular));
    *out = (TdlPose){tdl_axpy3(cb->pose.position, dt, cb->rate.linear),
                     tdl_mul33(turn, cb->pose.rotation)};
    return true;
}

// The corners of a triangle of a mesh whose vertices move, in the world.
static void find_corners(const ColliderBody* cb, int triangle, TdlPose pose, double time,
                         TdlVec3 out[3]) {
    const int* v = cb->surface->corner + 3 * (size_t)triangle;
    for (int k = 0; k < 3; ++k) {
        TdlVec3 own = vertex_motion_at(&cb->vertices, cb->surface->from[v[k]], time);
        out[k] = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, own));
    }
}

// Of what an anchor is on, where the collider is at `pose`.
static TdlPose frame_at(const ColliderBody* cb, const Anchor* anchor, TdlPose pose, double time) {
    TdlVec3 corner[3];
    if (anchor->triangle < 0) {
        return pose;
    }
    find_corners(cb, anchor->triangle, pose, time, corner);
    return anchor_frame(corner, anchor->share);
}

// On the nearest triangle where the vertices move; those are where they are now.
static void hold_fast(const Body* body, TdlPose pose, double now, Anchor* out) {
    const ColliderBody* cb = (const ColliderBody*)body;
    *out = (Anchor){.triangle = -1};
    if (cb->vertices.samples != NULL) {
        TdlPose inside = anchor_seen(cb->pose, pose);
        out->triangle = anchor_find(cb->surface, inside.position, out->share);
    }
    out->local = anchor_seen(frame_at(cb, out, cb->pose, now), pose);
}

static TdlPose carry(const Body* body, const Anchor* anchor, double now, double end) {
    const ColliderBody* cb = (const ColliderBody*)body;
    TdlPose pose = end > now ? next_pose(cb, now, end) : cb->pose;
    return anchor_pose(frame_at(cb, anchor, pose, end), anchor->local);
}

static double speed(const Body* body) {
    const ColliderBody* cb = (const ColliderBody*)body;
    return tdl_norm3(cb->rate.linear) + cb->fastest;
}

// From its own definition; a mesh whose vertices move is put where they are by the time.
static TdlStatus copy(const Body* body, TdlWorld* to) {
    const ColliderBody* cb = (const ColliderBody*)body;
    TdlColliderDef def = cb->def;
    def.motion = motion_def(&cb->motion);
    def.vertex_motion.samples = cb->vertices.samples;
    TdlBodyId id;
    return tdl_world_add_collider(to, &def, &id);
}

static const BodyKind COLLIDER_BODY = {
    .name = "collider",
    .destroy = destroy,
    .prepare = prepare,
    .advance = advance,
    .place = place,
    .prescribed = prescribed,
    .velocity = velocity,
    .frame = frame,
    .frame_after = frame_after,
    .hold_fast = hold_fast,
    .carry = carry,
    .shape = shape,
    .curves = curves,
    .bores = bores,
    .obstacle = obstacle,
    .pose = pose,
    .speed = speed,
    .lead = lead,
    .copy = copy,
    .state_size = state_size,
    .save = save,
    .load = load,
    .hash = hash,
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
