// Rigid bodies in a world: the table of their operations, and what the world tells of them.
#include "base/log.h"
#include "body/body.h"
#include "body/surface.h"
#include "math/rotation.h"
#include "rigid/rigid.h"

#include <string.h>

typedef struct RigidBody {
    Body head;
    Rigid* rigid;
    Surface* surface;        // of a box; null: none
    double free[RIGID_DOFS]; // velocity before contacts, in this attempt
} RigidBody;

static Rigid* rigid_of(const Body* body) {
    return ((const RigidBody*)body)->rigid;
}

static void destroy(const TdlHost* host, Body* body) {
    RigidBody* rb = (RigidBody*)body;
    rigid_destroy(host, rb->rigid);
    surface_destroy(host, rb->surface);
    tdl_free(&host->mem, rb);
}

// --- a step ----------------------------------------------------------------------------------

static void predict(Body* body, const BodyStep* t) {
    RigidBody* rb = (RigidBody*)body;
    body->account.failed = !rigid_predict(rb->rigid, t->dt, t->gravity);
    memcpy(rb->free, rb->rigid->v_free, sizeof rb->free);
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

// The angular momentum that was I w before it was turned, less what moving its centre gave. (W.25)
static void keep_pushed(Body* body, TdlVec3 momentum) {
    Rigid* rigid = rigid_of(body);
    TdlVec3 from = tdl_sub3(tdl_load3(rigid->v, 0), body->push_frame);
    TdlVec3 lost = tdl_scale3(rigid->mass, tdl_cross3(tdl_load3(body->push, 0), from));
    double x[RIGID_DOFS] = {0};
    tdl_store3(x, 1, tdl_sub3(momentum, lost));
    rigid_solve(rigid, x);
    tdl_store3(rigid->v, 1, tdl_load3(x, 1));
}

static TdlVec3 spin_of(const Rigid* rigid) {
    TdlVec3 w = tdl_tmul33_3(rigid->pose.rotation, tdl_load3(rigid->v, 1));
    return tdl_mul33_3(rigid->pose.rotation, tdl_mul33_3(rigid->inertia, w));
}

// Moves it out of what it overlaps; its velocity stays.
static void push(Body* body, const BodyStep* t) {
    Rigid* rigid = rigid_of(body);
    double before = total(rigid_energy(rigid, t->gravity));
    TdlVec3 spin = spin_of(rigid);
    TdlMat3 turn = tdl_rotation_exp(tdl_load3(body->push, 1));
    rigid->pose.position = tdl_add3(rigid->pose.position, tdl_load3(body->push, 0));
    rigid->pose.rotation = tdl_rotation_nearest(tdl_mul33(turn, rigid->pose.rotation));
    if (body->push_free) {
        keep_pushed(body, spin);
    }
    body->account.push = total(rigid_energy(rigid, t->gravity)) - before;
}

static void advance(Body* body, const BodyStep* t) {
    RigidBody* rb = (RigidBody*)body;
    Rigid* rigid = rb->rigid;
    body->account.numerical = t->losses ? rigid_step_loss(rigid, t->gravity, rb->free) : 0.0;
    body->account.error = t->estimate ? rigid_step_error(rigid) : 0.0;
    rigid_advance(rigid, t->dt, rigid->v_free);
    if (body->push != NULL) {
        push(body, t);
    }
    body->energy = rigid_energy(rigid, t->gravity);
    body->account.failed = body->account.failed || !rigid_state_finite(rigid);
}

static double mass(const Body* body, TdlVec3* centre) {
    *centre = rigid_of(body)->pose.position;
    return rigid_of(body)->mass;
}

static TdlEnergy energy(const Body* body, TdlVec3 gravity) {
    return rigid_energy(rigid_of(body), gravity);
}

// --- A and places ----------------------------------------------------------------------------

static void solve(const Body* body, int count, double* X) {
    for (int k = 0; k < count; ++k) {
        rigid_solve(rigid_of(body), X + (ptrdiff_t)k * RIGID_DOFS);
    }
}

static BodyRoot root(const Body* body) {
    (void)body;
    return (BodyRoot){.count = RIGID_DOFS};
}

static void whiten(const Body* body, const BodyPlace* place, const double* h, double* g) {
    (void)place;
    memcpy(g, h, 3 * RIGID_DOFS * sizeof *g);
    for (int k = 0; k < 3; ++k) {
        rigid_whiten(rigid_of(body), g + (ptrdiff_t)k * RIGID_DOFS);
    }
}

static void unwhiten(const Body* body, const double* z, double* v) {
    memcpy(v, z, RIGID_DOFS * sizeof *v);
    rigid_unwhiten(rigid_of(body), v);
}

static BodySupport support(const Body* body, const BodyPlace* place) {
    (void)body;
    (void)place;
    return (BodySupport){0, RIGID_DOFS, NULL};
}

static void rows(const Body* body, const BodyPlace* place, TdlMat3 basis, double* out) {
    rigid_jacobian(rigid_of(body), place->touch, basis, out);
}

static TdlVec3 velocity(const Body* body, const BodyPlace* place) {
    const Rigid* rigid = rigid_of(body);
    TdlVec3 arm = tdl_sub3(place->point, rigid->pose.position);
    return tdl_add3(tdl_load3(rigid->v, 0), tdl_cross3(tdl_load3(rigid->v, 1), arm));
}

// --- the state -------------------------------------------------------------------------------

static size_t state_size(const Body* body) {
    return rigid_state_size(rigid_of(body));
}

static void save(const Body* body, void* bytes) {
    rigid_save_state(rigid_of(body), bytes);
}

static void load(Body* body, const void* bytes) {
    rigid_load_state(rigid_of(body), bytes);
}

static uint64_t hash(const Body* body, uint64_t before) {
    return rigid_state_hash(rigid_of(body), before);
}

// --- what detection sees ---------------------------------------------------------------------

// What it may overlap by is measured against this, m.
static double size_of(const Rigid* rigid) {
    TdlVec3 half = rigid->def.half;
    bool box = rigid->def.shape == TDL_RIGID_BOX;
    return box ? fmin(half.x, fmin(half.y, half.z)) : rigid->def.radius;
}

static BodyShape shape(const Body* body, int segments) {
    (void)segments;
    const RigidBody* rb = (const RigidBody*)body;
    return (BodyShape){.curve_count = rb->rigid->curve_count,
                       .pieces = 1,
                       .stiff = true,
                       .size = size_of(rb->rigid),
                       .surface = rb->surface};
}

static void curves(Body* body, int segments, TdlCurve* out) {
    (void)segments;
    rigid_curves(rigid_of(body), out);
}

static TdlPose pose(const Body* body) {
    return rigid_of(body)->pose;
}

static bool shift(Body* body, TdlVec3 by) {
    Rigid* rigid = rigid_of(body);
    rigid->pose.position = tdl_add3(rigid->pose.position, by);
    return true;
}

static double speed(const Body* body) {
    return tdl_norm3(tdl_load3(rigid_of(body)->v, 0));
}

static const BodyKind RIGID_BODY = {
    .name = "rigid",
    .destroy = destroy,
    .predict = predict,
    .advance = advance,
    .solve = solve,
    .root = root,
    .whiten = whiten,
    .unwhiten = unwhiten,
    .support = support,
    .rows = rows,
    .velocity = velocity,
    .mass = mass,
    .energy = energy,
    .shift = shift,
    .state_size = state_size,
    .save = save,
    .load = load,
    .hash = hash,
    .shape = shape,
    .curves = curves,
    .pose = pose,
    .speed = speed,
};

// --- the world's functions -------------------------------------------------------------------

// The faces, edges and corners of the core that the rounding goes about; none of a core without
// thickness, whose edges are enough.
static TdlStatus make_box_surface(const TdlHost* host, const TdlRigidDef* def, Surface** out) {
    TdlVec3 vertices[8], r = {def->radius, def->radius, def->radius};
    int triangles[36], fault;
    TdlMesh mesh = surface_box_mesh(tdl_sub3(def->half, r), vertices, triangles);
    if (tdl_mesh_fault(&mesh, &fault) != NULL) {
        return TDL_STATUS_OK;
    }
    return surface_create(host, &mesh, &(VertexMotion){0}, def->radius, out);
}

TdlStatus tdl_world_add_rigid(TdlWorld* world, const TdlRigidDef* def, TdlBodyId* out) {
    const TdlHost* host = world_host(world);
    RigidBody* rb = tdl_alloc_zero(&host->mem, sizeof *rb);
    if (rb == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = rigid_create(host, def, &rb->rigid);
    if (status == TDL_STATUS_OK && def->shape == TDL_RIGID_BOX) {
        status = make_box_surface(host, def, &rb->surface);
    }
    if (status == TDL_STATUS_OK) {
        rb->head = (Body){.kind = &RIGID_BODY,
                          .dof_count = RIGID_DOFS,
                          .v_free = rb->rigid->v_free,
                          .material = def->material,
                          .bounces = true};
        status = world_add_body(world, &rb->head);
    }
    if (status != TDL_STATUS_OK) {
        destroy(host, &rb->head);
        return status;
    }
    *out = rb->head.id;
    return TDL_STATUS_OK;
}

static const Rigid* find(const TdlWorld* world, TdlBodyId id) {
    const Body* body = world_find_body(world, id, &RIGID_BODY);
    return body == NULL ? NULL : rigid_of(body);
}

TdlStatus tdl_rigid_def(const TdlWorld* world, TdlBodyId id, TdlRigidDef* out) {
    const Rigid* rigid = find(world, id);
    if (rigid == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = rigid->def;
    return TDL_STATUS_OK;
}

TdlStatus tdl_rigid_pose(const TdlWorld* world, TdlBodyId id, TdlPose* out) {
    const Rigid* rigid = find(world, id);
    if (rigid == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = rigid_pose(rigid);
    return TDL_STATUS_OK;
}

TdlStatus tdl_rigid_velocity(const TdlWorld* world, TdlBodyId id, TdlVec3* linear,
                             TdlVec3* angular) {
    const Rigid* rigid = find(world, id);
    if (rigid == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *linear = tdl_load3(rigid->v, 0);
    *angular = tdl_load3(rigid->v, 1);
    return TDL_STATUS_OK;
}
