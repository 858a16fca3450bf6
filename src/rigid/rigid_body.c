// Rigid bodies in a world: the table of their operations, and what the world tells of them.
#include "base/log.h"
#include "body/body.h"
#include "math/rotation.h"
#include "rigid/rigid.h"
#include "tendril/control.h"

#include <string.h>

// What a turning that is off counts as a residual of the world's rounds, which end at 1e-10: what
// is left is angular momentum from nowhere.
static const double RESIDUAL = 10.0;

typedef struct RigidBody {
    Body head;
    Rigid* rigid;
    double free[RIGID_DOFS]; // velocity before contacts, in this attempt
    TdlPull* pull;           // [pull_count] of a program
    int pull_count;
    LoadList varying;          // loads that are functions of the time
    double pulled[RIGID_DOFS]; // N s, N m s: what both do in this attempt
} RigidBody;

static Rigid* rigid_of(const Body* body) {
    return ((const RigidBody*)body)->rigid;
}

static void destroy(const TdlHost* host, Body* body) {
    RigidBody* rb = (RigidBody*)body;
    rigid_destroy(host, rb->rigid);
    tdl_free(&host->mem, rb->pull);
    load_list_free(host, &rb->varying);
    tdl_free(&host->mem, rb);
}

// --- a step ----------------------------------------------------------------------------------

// What a force and a torque at a place of it do in the present pose, over the time between both
// velocities, as its weight. (B.11)
static void drive_at(RigidBody* rb, double dt, TdlVec3 place, TdlVec3 force, TdlVec3 torque) {
    const Rigid* rigid = rb->rigid;
    TdlPose pose = rigid_pose(rigid);
    double time = 0.5 * (rigid->dt_before + dt);
    TdlVec3 at = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, place));
    torque = tdl_add3(torque, tdl_cross3(tdl_sub3(at, rigid->pose.position), force));
    tdl_store3(rb->pulled, 0, tdl_axpy3(tdl_load3(rb->pulled, 0), time, force));
    tdl_store3(rb->pulled, 1, tdl_axpy3(tdl_load3(rb->pulled, 1), time, torque));
}

static bool is_driven(const RigidBody* rb) {
    return rb->pull_count > 0 || rb->varying.count > 0;
}

static void add_pulls(RigidBody* rb, double dt) {
    memset(rb->pulled, 0, sizeof rb->pulled);
    for (int i = 0; i < rb->pull_count; ++i) {
        const TdlPull* p = &rb->pull[i];
        drive_at(rb, dt, p->point, p->force, p->torque);
    }
    for (int i = 0; i < rb->varying.count; ++i) {
        const VaryingLoad* load = &rb->varying.at[i];
        TdlMat3 axes = load->def.turns ? rigid_pose(rb->rigid).rotation : tdl_identity33();
        drive_at(rb, dt, load->def.place, tdl_mul33_3(axes, load->force),
                 tdl_mul33_3(axes, load->torque));
    }
    rigid_drive(rb->rigid, rb->pulled);
}

// The values of loads at the start of the step, from one thread.
static void prepare(Body* body, const BodyStep* t) {
    RigidBody* rb = (RigidBody*)body;
    body->lasts = 0.5 * (rb->rigid->dt_before + t->dt); // (B.5)
    for (int i = 0; i < rb->varying.count; ++i) {
        load_take(&rb->varying.at[i], t->start, body);
    }
}

static void predict(Body* body, const BodyStep* t) {
    RigidBody* rb = (RigidBody*)body;
    body->account.failed |= !rigid_predict(rb->rigid, t->dt, t->gravity);
    if (is_driven(rb)) {
        add_pulls(rb, t->dt);
    }
    memcpy(rb->free, rb->rigid->v_free, sizeof rb->free);
}

// What turns is linear in the step but for second order: asked again only where joints hold it.
static double residual(const Body* body, const BodyStep* t, const double* v,
                       const double* impulse) {
    return RESIDUAL * rigid_turn_off(rigid_of(body), t->dt, v, impulse, body->pressed * body->size);
}

static void predict_again(Body* body, const BodyStep* t, const double* v) {
    (void)v;
    rigid_turn_again(rigid_of(body), t->dt, body->impulse);
}

static bool correct(const Body* body, double* v_free) {
    TdlVec3 w = tdl_load3(v_free, 1);
    tdl_store3(v_free, 1, tdl_add3(w, tdl_load3(rigid_of(body)->again, 0)));
    return true;
}

// What they do is along the mean of the velocities before and after.
static double work_of_pulls(const RigidBody* rb) {
    double work = 0.0;
    for (int k = 0; k < RIGID_DOFS && is_driven(rb); ++k) {
        work += 0.5 * rb->pulled[k] * (rb->rigid->v[k] + rb->rigid->v_free[k]);
    }
    return work;
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
    if (body->linkage != NULL && body->impulse != NULL) {
        rigid_turn_end(rigid, t->dt, body->impulse);
    }
    double before = total(body->energy);
    body->account.supplied = work_of_pulls(rb);
    if (t->losses) {
        body->account.numerical = body->linkage != NULL
                                      ? rigid_way_loss(rigid, t->gravity) + rigid_turn_loss(rigid)
                                      : rigid_step_loss(rigid, t->gravity, rb->free);
    }
    body->account.error = t->estimate ? rigid_step_error(rigid) : 0.0;
    rigid_advance(rigid, t->dt, rigid->v_free);
    if (t->losses && is_driven(rb)) { // it is what is left over
        body->account.given = body->account.supplied;
        body->account.numerical =
            before + body->touch + body->account.supplied - total(rigid_energy(rigid, t->gravity));
    }
    if (body->push != NULL) {
        push(body, t);
    }
    body->energy = rigid_energy(rigid, t->gravity);
    body->account.failed = body->account.failed || !rigid_state_finite(rigid);
}

static TdlStatus add_load(const TdlHost* host, Body* body, const TdlLoadDef* def, double now) {
    (void)now;
    return load_list_add(host, &((RigidBody*)body)->varying, def);
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

static bool frame(const Body* body, const BodyPlace* place, TdlPose* out) {
    (void)place;
    *out = rigid_of(body)->pose;
    return true;
}

static bool frame_after(const Body* body, const BodyPlace* place, double dt, const double* v,
                        TdlPose* out) {
    (void)place;
    *out = rigid_pose_after(rigid_of(body), dt, v);
    return true;
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

static BodyShape shape(const Body* body, int segments) {
    (void)segments;
    const Rigid* rigid = rigid_of(body);
    return (BodyShape){.curve_count = rigid->curve_count,
                       .pieces = 1,
                       .stiff = true,
                       .size = rigid->size,
                       .surface = rigid->surface,
                       .cylinder = rigid->ends == NULL ? NULL : &rigid->cylinder,
                       .solid = rigid->has_solid ? &rigid->solid : NULL};
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

// --- from a program, and in another world ----------------------------------------------------

static const char* pull_fault(const Body* body, const TdlPull* pull) {
    (void)body;
    return tdl_finite3(pull->point) ? NULL : "`point` must be finite";
}

static TdlStatus pull(const TdlHost* host, Body* body, int count, const TdlPull* pulls) {
    RigidBody* rb = (RigidBody*)body;
    if (count > rb->pull_count) {
        TdlPull* grown = tdl_grow_array(&host->mem, rb->pull, (size_t)count, sizeof *grown);
        if (grown == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        rb->pull = grown;
    }
    for (int i = 0; i < count; ++i) {
        rb->pull[i] = pulls[i];
    }
    rb->pull_count = count;
    return TDL_STATUS_OK;
}

static TdlStatus copy(const Body* body, TdlWorld* to);

static const BodyKind RIGID_BODY = {
    .name = "rigid",
    .destroy = destroy,
    .prepare = prepare,
    .predict = predict,
    .add_load = add_load,
    .advance = advance,
    .residual = residual,
    .predict_again = predict_again,
    .correct = correct,
    .solve = solve,
    .root = root,
    .whiten = whiten,
    .unwhiten = unwhiten,
    .support = support,
    .rows = rows,
    .velocity = velocity,
    .frame = frame,
    .frame_after = frame_after,
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
    .pull_fault = pull_fault,
    .pull = pull,
    .copy = copy,
};

static TdlStatus copy(const Body* body, TdlWorld* to) {
    const RigidBody* rb = (const RigidBody*)body;
    TdlBodyId id;
    TdlStatus status = tdl_world_add_rigid(to, &rb->rigid->def, &id);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    RigidBody* own = (RigidBody*)world_find_body(to, id, &RIGID_BODY);
    status = load_list_copy(world_host(to), &rb->varying, &own->varying);
    return status == TDL_STATUS_OK ? pull(world_host(to), &own->head, rb->pull_count, rb->pull)
                                   : status;
}

// --- the world's functions -------------------------------------------------------------------

TdlStatus tdl_world_add_rigid(TdlWorld* world, const TdlRigidDef* def, TdlBodyId* out) {
    const TdlHost* host = world_host(world);
    RigidBody* rb = tdl_alloc_zero(&host->mem, sizeof *rb);
    if (rb == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = rigid_create(host, def, &rb->rigid);
    if (status == TDL_STATUS_OK) {
        rb->head = (Body){.kind = &RIGID_BODY,
                          .dof_count = RIGID_DOFS,
                          .v_free = rb->rigid->v_free,
                          .material = def->material,
                          .bounces = true,
                          .nearly = true};
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
