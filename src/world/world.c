// The world: owns the bodies, and tells of them.
//
// The step is in step.c, contacts are in contacts.c and contact_solve.c.
#include "tendril/world.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/threads.h"
#include "collider/shape.h"
#include "math/rotation.h"
#include "world/bodies.h"

#include <string.h>

TdlWorldDef tdl_world_def_default(void) {
    return (TdlWorldDef){.gravity = {0.0, 0.0, -9.81},
                         .step = 1.0e-3,
                         .thread_count = 1,
                         .contacts = {.law = {0.3, 0.0},
                                      .segments = 8,
                                      .segment_length = 1.0e-4,
                                      .self = true,
                                      .solver = TDL_FRICTION_ALTERNATING,
                                      .tolerance = 1.0e-8,
                                      .max_iterations = 1000,
                                      .overlap = 0.5}};
}

TdlColliderDef tdl_collider_def_default(void) {
    return (TdlColliderDef){
        .shape = TDL_SHAPE_SPHERE, .radius = 0.01, .pose.rotation = tdl_identity33()};
}

static bool law_is_good(TdlContactLaw law) {
    return law.mu >= 0.0 && law.restitution >= 0.0 && law.restitution <= 1.0;
}

static const char* find_contact_fault(const TdlContactDef* def) {
    if (!law_is_good(def->law)) {
        return "mu must not be negative and restitution be in [0, 1]";
    }
    if (def->segments < 1 || def->segments > 1000) {
        return "segments must be from 1 to 1000";
    }
    if (!(def->segment_length >= 1.0e-8 && def->segment_length <= 1.0)) {
        return "segment_length must be from 1e-8 to 1 m";
    }
    if (!(def->margin >= 0.0) || isinf(def->margin)) {
        return "margin must not be negative";
    }
    if (!(def->overlap > 0.0 && def->overlap <= 1.0)) {
        return "overlap must be above 0 and at most 1";
    }
    return NULL;
}

static TdlStatus create_laws(TdlWorld* world) {
    size_t count = (size_t)TDL_MATERIAL_LIMIT * TDL_MATERIAL_LIMIT;
    world->laws = tdl_alloc_array(&world->host.mem, count, sizeof *world->laws);
    if (world->laws == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count; ++i) {
        world->laws[i] = world->def.contacts.law;
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_world_set_contact_law(TdlWorld* world, int a, int b, TdlContactLaw law) {
    if (a < 0 || a >= TDL_MATERIAL_LIMIT || b < 0 || b >= TDL_MATERIAL_LIMIT || !law_is_good(law)) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT,
                        "contact law: materials are 0 to %d, mu must not be negative and "
                        "restitution be in [0, 1]",
                        TDL_MATERIAL_LIMIT - 1);
    }
    world->laws[a * TDL_MATERIAL_LIMIT + b] = world->laws[b * TDL_MATERIAL_LIMIT + a] = law;
    return TDL_STATUS_OK;
}

TdlStatus tdl_world_create(const TdlHost* host, const TdlWorldDef* def, TdlWorld** out) {
    if (!tdl_finite3(def->gravity) || !tdl_finite3(def->wind)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "world: gravity and wind must be finite");
    }
    if (!(isfinite(def->step) && def->step > 0.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "world: step must be positive");
    }
    if (!(isfinite(def->settle) && def->settle >= 0.0 && isfinite(def->settle_damping) &&
          def->settle_damping >= 0.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "world: settle and settle_damping must not be negative");
    }
    const char* fault = find_contact_fault(&def->contacts);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "world: contacts: %s", fault);
    }
    TdlWorld* world = tdl_alloc_zero(&host->mem, sizeof *world);
    if (world == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    world->host = *host;
    world->def = *def;
    TdlStatus status = pool_create(host, def->thread_count, &world->pool);
    if (status == TDL_STATUS_OK) {
        status = create_laws(world);
    }
    if (status == TDL_STATUS_OK && !def->contacts.off) {
        status = contacts_create(world, &world->contacts);
    }
    if (status != TDL_STATUS_OK) {
        tdl_world_destroy(world);
        return status;
    }
    *out = world;
    return TDL_STATUS_OK;
}

static void destroy_collider(const TdlHost* host, WorldCollider* wc) {
    motion_destroy(host, &wc->motion);
    surface_destroy(host, wc->surface);
    vertex_motion_destroy(host, &wc->vertices);
    tdl_free(&host->mem, wc->vertex_rate);
    tdl_free(&host->mem, wc->curves);
    tdl_free(&host->mem, (void*)wc->def.pieces);
    tdl_free(&host->mem, (void*)wc->def.mesh.vertices);
    tdl_free(&host->mem, (void*)wc->def.mesh.triangles);
}

void tdl_world_destroy(TdlWorld* world) {
    if (world == NULL) {
        return;
    }
    TdlHost host = world->host;
    for (int i = 0; i < world->rod_count; ++i) {
        rod_destroy(&host, world->rods[i].rod);
        motion_destroy(&host, &world->rods[i].motion);
        motion_destroy(&host, &world->rods[i].end_motion);
    }
    for (int i = 0; i < world->rigid_count; ++i) {
        rigid_destroy(&host, world->rigids[i].rigid);
        surface_destroy(&host, world->rigids[i].surface);
    }
    for (int i = 0; i < world->collider_count; ++i) {
        destroy_collider(&host, &world->colliders[i]);
    }
    contacts_destroy(world->contacts);
    pool_destroy(world->pool);
    void* arrays[] = {world->rods, world->rigids,           world->colliders,
                      world->laws, world->step_start.bytes, world->attempt_start.bytes};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
        tdl_free(&host.mem, arrays[i]);
    }
    tdl_free(&host.mem, world);
}

// --- adding things --------------------------------------------------------------------------

// Makes room for one more item; capacity is the next power of two.
static bool grow(TdlWorld* world, void** items, int count, size_t item_size) {
    if (count > 0 && (count & (count - 1)) != 0) {
        return true;
    }
    void* grown =
        tdl_grow_array(&world->host.mem, *items, count == 0 ? 1 : 2 * (size_t)count, item_size);
    if (grown == NULL) {
        return false;
    }
    *items = grown;
    return true;
}

// Makes a rod a branch, if its definition names a parent.
static TdlStatus attach_rod(TdlWorld* world, const TdlRodDef* def, Rod* rod) {
    if (def->parent.index == 0) {
        return TDL_STATUS_OK;
    }
    if (def->parent.index < 0 || def->parent.index > world->rod_count || def->motion.keys != NULL) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT,
                        "rod: parent must be a rod of this world, which then moves its branches");
    }
    return rod_attach(&world->host, rod, world->rods[def->parent.index - 1].rod, def->parent_at);
}

static TdlStatus check_material(const TdlWorld* world, int material) {
    if (material >= 0 && material < TDL_MATERIAL_LIMIT) {
        return TDL_STATUS_OK;
    }
    return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "material %d is not in 0 to %d",
                    material, TDL_MATERIAL_LIMIT - 1);
}

// Bodies were added or moved from outside: contacts have to be looked for again.
static void forget_contacts(TdlWorld* world) {
    if (world->contacts != NULL) {
        contacts_forget(world->contacts);
    }
}

TdlStatus tdl_world_add_rod(TdlWorld* world, const TdlRodDef* def, TdlRodId* out) {
    if (check_material(world, def->material) != TDL_STATUS_OK) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    void* rods = world->rods;
    if (!grow(world, &rods, world->rod_count, sizeof *world->rods)) {
        return TDL_STATUS_NO_MEMORY;
    }
    world->rods = rods;
    WorldRod added = {.placed = def->clamp, .material = def->material, .stability = NAN};
    TdlStatus status = motion_create(&world->host, &def->motion, &added.motion);
    if (status == TDL_STATUS_OK) {
        TdlRodDef moved = *def;
        moved.clamp = motion_pose(&added.motion, def->clamp, tdl_world_time(world));
        status = rod_create(&world->host, &moved, &added.rod);
    }
    if (status == TDL_STATUS_OK) {
        status = motion_create(&world->host, &def->end_motion, &added.end_motion);
    }
    if (status != TDL_STATUS_OK) {
        rod_destroy(&world->host, added.rod);
        motion_destroy(&world->host, &added.motion);
        return status;
    }
    status = attach_rod(world, def, added.rod);
    if (status != TDL_STATUS_OK) {
        rod_destroy(&world->host, added.rod);
        motion_destroy(&world->host, &added.motion);
        motion_destroy(&world->host, &added.end_motion);
        return status;
    }
    if (world->rod_count > 0 && added.rod->parent == NULL) {
        rod_join(&world->host, added.rod, world->rods[world->rod_count - 1].rod);
    }
    added.end_placed = rod_end(added.rod);
    added.energy = added.rod->model->energy(added.rod, world->def.gravity);
    added.root =
        added.rod->parent == NULL ? world->rod_count : world->rods[def->parent.index - 1].root;
    world->rods[world->rod_count++] = added;
    world->bodies_size += rod_state_size(added.rod);
    forget_contacts(world);
    *out = (TdlRodId){world->rod_count, 1};
    return TDL_STATUS_OK;
}

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

TdlStatus tdl_world_add_rigid(TdlWorld* world, const TdlRigidDef* def, TdlRigidId* out) {
    void* rigids = world->rigids;
    if (!grow(world, &rigids, world->rigid_count, sizeof *world->rigids)) {
        return TDL_STATUS_NO_MEMORY;
    }
    world->rigids = rigids;
    WorldRigid added = {0};
    TdlStatus status = rigid_create(&world->host, def, &added.rigid);
    if (status == TDL_STATUS_OK && def->shape == TDL_RIGID_BOX) {
        status = make_box_surface(&world->host, def, &added.surface);
    }
    if (status != TDL_STATUS_OK) {
        rigid_destroy(&world->host, added.rigid);
        return status;
    }
    world->rigids[world->rigid_count++] = added;
    world->bodies_size += rigid_state_size(added.rigid);
    forget_contacts(world);
    *out = (TdlRigidId){world->rigid_count, 1};
    return TDL_STATUS_OK;
}

static TdlStatus own_mesh(const TdlHost* host, WorldCollider* wc) {
    TdlMesh given = wc->def.mesh;
    wc->def.mesh = (TdlMesh){0};
    if (wc->def.shape != TDL_SHAPE_MESH) {
        return TDL_STATUS_OK;
    }
    size_t vertices = (size_t)given.vertex_count, corners = 3 * (size_t)given.triangle_count;
    TdlVec3* vertex = tdl_alloc_array(&host->mem, vertices, sizeof *vertex);
    int* corner = tdl_alloc_array(&host->mem, corners, sizeof *corner);
    wc->def.mesh = (TdlMesh){vertex, given.vertex_count, corner, given.triangle_count};
    if (vertex == NULL || corner == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(vertex, given.vertices, vertices * sizeof *vertex);
    memcpy(corner, given.triangles, corners * sizeof *corner);
    TdlStatus status =
        vertex_motion_create(host, &wc->def.vertex_motion, given.vertex_count, &wc->vertices);
    wc->def.vertex_motion.samples = wc->vertices.samples;
    if (status == TDL_STATUS_OK) {
        status = surface_create(host, &wc->def.mesh, &wc->vertices, wc->def.radius, &wc->surface);
    }
    if (status == TDL_STATUS_OK && wc->vertices.samples != NULL) {
        wc->vertex_rate =
            tdl_alloc_array(&host->mem, (size_t)wc->surface->vertex_count, sizeof *wc->vertex_rate);
        status = wc->vertex_rate == NULL ? TDL_STATUS_NO_MEMORY : status;
    }
    return status;
}

// Copies what the definition points to, and makes the collider's curves and surface.
static TdlStatus own_collider(const TdlHost* host, WorldCollider* wc) {
    const TdlCurvePiece* pieces = wc->def.pieces;
    size_t count = pieces == NULL ? 0 : (size_t)wc->def.piece_count;
    wc->def.pieces = NULL;
    TdlStatus status = own_mesh(host, wc);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlCurvePiece* copy = tdl_alloc_array(&host->mem, count + 1, sizeof *copy);
    wc->def.pieces = copy;
    wc->curve_count = collider_curve_count(&wc->def);
    wc->curves = tdl_alloc_array(&host->mem, (size_t)wc->curve_count + 1, sizeof *wc->curves);
    if (copy == NULL || wc->curves == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (count > 0) {
        memcpy(copy, pieces, count * sizeof *copy);
    }
    return collider_curves(host, &wc->def, wc->curves);
}

TdlStatus collider_place(const TdlWorld* world, WorldCollider* wc, double time) {
    wc->pose = motion_pose(&wc->motion, wc->def.pose, time);
    if (wc->vertices.samples == NULL) {
        return TDL_STATUS_OK;
    }
    TdlVec3* vertices = (TdlVec3*)(uintptr_t)wc->def.mesh.vertices; // the world's own
    for (int i = 0; i < wc->vertices.vertex_count; ++i) {
        vertices[i] = vertex_motion_at(&wc->vertices, i, time);
    }
    int triangle = surface_move(wc->surface, &wc->vertices, time);
    if (triangle < 0) {
        return TDL_STATUS_OK;
    }
    return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT,
                    "a mesh whose vertices move: its triangle %d has no area at %.6g s; it needs "
                    "more samples there",
                    triangle, time);
}

TdlVec3 collider_velocity(const WorldCollider* wc, TdlVec3 at, int triangle) {
    TdlVec3 arm = tdl_sub3(at, wc->pose.position);
    TdlVec3 v = tdl_add3(wc->rate.linear, tdl_cross3(wc->rate.angular, arm));
    if (wc->vertex_rate == NULL) {
        return v;
    }
    TdlVec3 inside = tdl_tmul33_3(wc->pose.rotation, arm);
    TdlVec3 own = surface_velocity(wc->surface, triangle, inside, wc->vertex_rate);
    return tdl_add3(v, tdl_mul33_3(wc->pose.rotation, own));
}

TdlStatus tdl_world_add_collider(TdlWorld* world, const TdlColliderDef* def, TdlColliderId* out) {
    const char* fault = collider_find_fault(def);
    if (fault != NULL) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "collider: %s", fault);
    }
    void* colliders = world->colliders;
    if (!grow(world, &colliders, world->collider_count, sizeof *world->colliders)) {
        return TDL_STATUS_NO_MEMORY;
    }
    world->colliders = colliders;
    WorldCollider added = {.def = *def};
    added.def.motion = (TdlMotionDef){0};
    TdlStatus status = own_collider(&world->host, &added);
    if (status == TDL_STATUS_OK) {
        status = collider_motion(&world->host, def, &added.motion);
    }
    if (status == TDL_STATUS_OK) {
        status = collider_place(world, &added, tdl_world_time(world));
    }
    if (status != TDL_STATUS_OK) {
        destroy_collider(&world->host, &added);
        return status;
    }
    world->colliders[world->collider_count++] = added;
    forget_contacts(world);
    *out = (TdlColliderId){world->collider_count, 1};
    return TDL_STATUS_OK;
}

// One rod at a time: rod_settle allocates, and the caller's allocator need not be safe to use from
// several threads.
TdlStatus tdl_world_settle(TdlWorld* world, double* residual) {
    double worst = 0.0;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < world->rod_count && status == TDL_STATUS_OK; ++i) {
        WorldRod* wr = &world->rods[i];
        double remains = 0.0;
        if (wr->rod->parent != NULL) { // its tree was settled as a whole, at its root
            wr->stability = world->rods[wr->root].stability;
            continue;
        }
        status = rod_settle(&world->host, wr->rod, world->def.gravity, &remains, &wr->stability);
        worst = fmax(worst, remains);
    }
    for (int i = 0; i < world->rod_count; ++i) {
        WorldRod* wr = &world->rods[i];
        wr->energy = wr->rod->model->energy(wr->rod, world->def.gravity);
    }
    forget_contacts(world);
    if (residual != NULL) {
        *residual = worst;
    }
    return status;
}

// --- what is there --------------------------------------------------------------------------

TdlWorldDef tdl_world_def(const TdlWorld* world) {
    return world->def;
}

double tdl_world_time(const TdlWorld* world) {
    return (double)world->step_count * world->def.step;
}

long tdl_world_step_count(const TdlWorld* world) {
    return world->step_count;
}

TdlEnergy tdl_world_energy(const TdlWorld* world) {
    TdlEnergy sum = {0};
    for (int i = 0; i < world->rod_count; ++i) {
        sum.kinetic += world->rods[i].energy.kinetic;
        sum.elastic += world->rods[i].energy.elastic;
        sum.gravity += world->rods[i].energy.gravity;
    }
    for (int i = 0; i < world->rigid_count; ++i) {
        TdlEnergy own = rigid_energy(world->rigids[i].rigid, world->def.gravity);
        sum.kinetic += own.kinetic;
        sum.elastic += own.elastic;
        sum.gravity += own.gravity;
    }
    return sum;
}

int tdl_world_rod_count(const TdlWorld* world) {
    return world->rod_count;
}

int tdl_world_collider_count(const TdlWorld* world) {
    return world->collider_count;
}

TdlRodId tdl_world_rod(const TdlWorld* world, int index) {
    TDL_ASSERT(index >= 0 && index < world->rod_count);
    return (TdlRodId){index + 1, 1};
}

static const Rod* find_rod(const TdlWorld* world, TdlRodId id) {
    TDL_ASSERT(id.index >= 1 && id.index <= world->rod_count && id.generation == 1);
    return world->rods[id.index - 1].rod;
}

TdlRodInfo tdl_rod_info(const TdlWorld* world, TdlRodId id) {
    const Rod* rod = find_rod(world, id);
    return (TdlRodInfo){rod->model->name,
                        rod->element_count,
                        rod->dof_count,
                        rod_length(rod),
                        {rod->radius[0], rod->radius[1]},
                        rod_mass(rod)};
}

double tdl_rod_stability(const TdlWorld* world, TdlRodId id) {
    find_rod(world, id);
    return world->rods[id.index - 1].stability;
}

TdlVec3 tdl_rod_point(const TdlWorld* world, TdlRodId id, double s) {
    const Rod* rod = find_rod(world, id);
    double u = fmin(fmax(s / rod->element_length, 0.0), rod->element_count);
    int element = u < rod->element_count ? (int)u : rod->element_count - 1;
    return rod->model->point(rod, element, u - element);
}

void tdl_rod_points(const TdlWorld* world, TdlRodId id, int samples, TdlVec3* out) {
    const Rod* rod = find_rod(world, id);
    for (int e = 0; e < rod->element_count; ++e) {
        for (int k = 0; k < samples; ++k) {
            *out++ = rod->model->point(rod, e, (double)k / samples);
        }
    }
    *out = rod->model->point(rod, rod->element_count - 1, 1.0);
}

const double* tdl_rod_coordinates(const TdlWorld* world, TdlRodId id) {
    return find_rod(world, id)->q;
}

const double* tdl_rod_velocities(const TdlWorld* world, TdlRodId id) {
    return find_rod(world, id)->v;
}

int tdl_world_rigid_count(const TdlWorld* world) {
    return world->rigid_count;
}

static const Rigid* find_rigid(const TdlWorld* world, int index) {
    TDL_ASSERT(index >= 0 && index < world->rigid_count);
    return world->rigids[index].rigid;
}

TdlRigidDef tdl_rigid_def(const TdlWorld* world, int index) {
    return find_rigid(world, index)->def;
}

TdlPose tdl_rigid_pose(const TdlWorld* world, int index) {
    return rigid_pose(find_rigid(world, index));
}

TdlVec3 tdl_rigid_velocity(const TdlWorld* world, int index) {
    return tdl_load3(find_rigid(world, index)->v, 0);
}

TdlVec3 tdl_rigid_angular_velocity(const TdlWorld* world, int index) {
    return tdl_load3(find_rigid(world, index)->v, 1);
}

const TdlContactForce* tdl_world_contact_forces(const TdlWorld* world, int* count) {
    *count = 0;
    return world->contacts == NULL ? NULL : contacts_forces(world->contacts, count);
}

static TdlVec3 wrench_centre(const TdlWorld* world, TdlBodyKind kind, int index) {
    switch (kind) {
    case TDL_BODY_ROD:
        return world->rods[index].rod->base.now.position;
    case TDL_BODY_RIGID:
        return world->rigids[index].rigid->pose.position;
    case TDL_BODY_COLLIDER:
        break;
    }
    return world->colliders[index].pose.position;
}

TdlWrench tdl_world_contact_wrench(const TdlWorld* world, TdlBodyKind kind, int index) {
    int count;
    const TdlContactForce* force = tdl_world_contact_forces(world, &count);
    TdlVec3 centre = wrench_centre(world, kind, index);
    TdlWrench sum = {0};
    for (int i = 0; i < count; ++i) {
        for (int side = 0; side < 2; ++side) {
            if (force[i].kind[side] == kind && force[i].index[side] == index) {
                TdlVec3 f = tdl_scale3(side == 0 ? -1.0 : 1.0, force[i].force);
                sum.force = tdl_add3(sum.force, f);
                sum.torque = tdl_add3(sum.torque, tdl_cross3(tdl_sub3(force[i].point, centre), f));
            }
        }
    }
    return sum;
}

TdlColliderDef tdl_collider_def(const TdlWorld* world, int index) {
    TDL_ASSERT(index >= 0 && index < world->collider_count);
    return world->colliders[index].def;
}

TdlPose tdl_collider_pose(const TdlWorld* world, int index) {
    TDL_ASSERT(index >= 0 && index < world->collider_count);
    return world->colliders[index].pose;
}

// --- saved states ---------------------------------------------------------------------------

static char* save_bodies(const TdlWorld* world, char* bytes) {
    for (int i = 0; i < world->rod_count; ++i) {
        rod_save_state(world->rods[i].rod, bytes);
        bytes += rod_state_size(world->rods[i].rod);
    }
    for (int i = 0; i < world->rigid_count; ++i) {
        rigid_save_state(world->rigids[i].rigid, bytes);
        bytes += rigid_state_size(world->rigids[i].rigid);
    }
    return bytes;
}

static TdlStatus load_bodies(TdlWorld* world, const char** from, double time) {
    const char* bytes = *from;
    for (int i = 0; i < world->rod_count; ++i) {
        rod_load_state(world->rods[i].rod, bytes); // a group is right once its last rod is in
        bytes += rod_state_size(world->rods[i].rod);
    }
    for (int i = 0; i < world->rigid_count; ++i) {
        rigid_load_state(world->rigids[i].rigid, bytes);
        bytes += rigid_state_size(world->rigids[i].rigid);
    }
    for (int i = 0; i < world->rod_count; ++i) {
        WorldRod* wr = &world->rods[i];
        wr->energy = wr->rod->model->energy(wr->rod, world->def.gravity);
    }
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < world->collider_count && status == TDL_STATUS_OK; ++i) {
        status = collider_place(world, &world->colliders[i], time);
    }
    *from = bytes;
    return status;
}

static size_t contact_bytes(const TdlWorld* world) {
    return world->contacts == NULL ? 0 : contacts_state_size(world->contacts);
}

// Saves bodies and contacts; grows only where there are more contacts than ever before.
bool world_save_state(TdlWorld* world, SavedState* saved) {
    size_t size = world->bodies_size + contact_bytes(world);
    if (size > saved->capacity) {
        size_t room = size + contact_bytes(world) / 2;
        char* grown = tdl_grow_array(&world->host.mem, saved->bytes, room, 1);
        if (grown == NULL) {
            return false;
        }
        saved->bytes = grown;
        saved->capacity = room;
    }
    saved->size = size;
    char* rest = save_bodies(world, saved->bytes);
    if (world->contacts != NULL) {
        contacts_save_state(world->contacts, rest);
    }
    return true;
}

TdlStatus world_load_state(TdlWorld* world, const char* bytes, size_t size, double time) {
    size_t left = size - world->bodies_size;
    TdlStatus status = load_bodies(world, &bytes, time);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (world->contacts == NULL) {
        return left == 0 ? TDL_STATUS_OK : TDL_STATUS_BAD_INPUT;
    }
    return contacts_load_state(world, bytes, left);
}

// --- the whole state ------------------------------------------------------------------------

size_t tdl_world_state_size(const TdlWorld* world) {
    return sizeof(int64_t) + world->bodies_size + contact_bytes(world);
}

void tdl_world_save_state(const TdlWorld* world, void* bytes) {
    int64_t steps = world->step_count;
    memcpy(bytes, &steps, sizeof steps);
    char* rest = save_bodies(world, (char*)bytes + sizeof steps);
    if (world->contacts != NULL) {
        contacts_save_state(world->contacts, rest);
    }
}

TdlStatus tdl_world_load_state(TdlWorld* world, const void* bytes, size_t size) {
    int64_t steps;
    size_t least = sizeof steps + world->bodies_size;
    if (size < least) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT,
                        "a state of %zu bytes does not fit a world of %zu", size, least);
    }
    memcpy(&steps, bytes, sizeof steps);
    if (steps < 0) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT, "a state with a negative step count");
    }
    world->step_count = (long)steps;
    TdlStatus status = world_load_state(world, (const char*)bytes + sizeof steps,
                                        size - sizeof steps, tdl_world_time(world));
    if (status == TDL_STATUS_BAD_INPUT) {
        tdl_fail(&world->host, status, "the contacts of a state do not fit this world");
    }
    return status;
}

uint64_t tdl_world_state_hash(const TdlWorld* world) {
    int64_t steps = world->step_count;
    uint64_t hash = hash_bytes(HASH_START, &steps, sizeof steps);
    for (int i = 0; i < world->rod_count; ++i) {
        hash = rod_state_hash(world->rods[i].rod, hash);
    }
    for (int i = 0; i < world->rigid_count; ++i) {
        hash = rigid_state_hash(world->rigids[i].rigid, hash);
    }
    return hash;
}
