// The world: owns the bodies, and tells of them.
//
// The step is in step.c; contacts are in found.c, retry.c and, answered, in exact.c.
#include "world/world.h"

#include "base/hash.h"
#include "base/log.h"
#include "world/balance.h"

#include <limits.h>
#include <string.h>

TdlWorldDef tdl_world_def_default(void) {
    return (TdlWorldDef){.gravity = {0.0, 0.0, -9.81},
                         .step = 1.0e-3,
                         .thread_count = 1,
                         .energy_limit = 0.05,
                         .contacts = {.law = {0.3, 0.0},
                                      .segments = 8,
                                      .segment_length = 1.0e-4,
                                      .self = true,
                                      .solver = TDL_FRICTION_ALTERNATING,
                                      .tolerance = 1.0e-8,
                                      .max_iterations = 1000,
                                      .overlap = 0.1,
                                      .barrier = {.creep = 1.0e-3}}};
}

static bool law_is_good(TdlContactLaw law) {
    return law.mu >= 0.0 && law.restitution >= 0.0 && law.restitution <= 1.0;
}

// The barrier has no impacts, and friction that grows with the normal force.
static const char BARRIER_CANNOT[] = "the barrier has a finite mu and no restitution";

static bool barrier_can(TdlContactLaw law) {
    return isfinite(law.mu) && law.restitution == 0.0;
}

static const char* find_contact_fault(const TdlContactDef* def) {
    if (!law_is_good(def->law)) {
        return "mu must not be negative and restitution be in [0, 1]";
    }
    if ((int)def->response < 0 || def->response > TDL_RESPONSE_S3) {
        return "response must be exact, barrier or s3";
    }
    const TdlBarrierDef* barrier = &def->barrier;
    if (!(barrier->distance >= 0.0 && isfinite(barrier->distance)) ||
        !(barrier->stiffness >= 0.0 && isfinite(barrier->stiffness)) ||
        !(barrier->creep > 0.0 && isfinite(barrier->creep))) {
        return "barrier: distance and stiffness must not be negative, and creep be positive";
    }
    if (def->response == TDL_RESPONSE_BARRIER && !barrier_can(def->law)) {
        return BARRIER_CANNOT;
    }
    if (def->response == TDL_RESPONSE_S3 && isinf(def->law.mu)) {
        return "response s3 has no friction without limit";
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
    if (def->start != TDL_START_SEPARATE && def->start != TDL_START_REFUSE &&
        def->start != TDL_START_KEEP) {
        return "start must be separate, refuse or keep";
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
    if (world->def.contacts.response == TDL_RESPONSE_BARRIER && !barrier_can(law)) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "contact law: %s", BARRIER_CANNOT);
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
    if (def->integrator != TDL_INTEGRATOR_EULER && def->integrator != TDL_INTEGRATOR_MIDPOINT) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "world: integrator must be one of its kinds");
    }
    if (!(isfinite(def->error) && def->error >= 0.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "world: error must not be negative");
    }
    if (!(def->energy_limit > 0.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "world: energy_limit must be positive");
    }
    if (!(isfinite(def->budget) && def->budget >= 0.0) || (int)def->spent < TDL_SPENT_KEEP ||
        def->spent > TDL_SPENT_END) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "world: budget must not be negative, and spent be keep or end");
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
    arena_init(&world->joints.arena, &world->host.mem);
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

void tdl_world_destroy(TdlWorld* world) {
    if (world == NULL) {
        return;
    }
    TdlHost host = world->host;
    for (int i = 0; i < world->body_count; ++i) {
        tdl_free(&host.mem, world->body[i]->name);
        body_destroy(&host, world->body[i]);
    }
    for (int i = 0; i < world->kind_count; ++i) {
        tdl_free(&host.mem, world->kind[i].body);
    }
    contacts_destroy(world->contacts);
    joints_destroy(world);
    clearance_free(&world->host.mem, &world->clearances);
    pool_destroy(world->pool);
    void* arrays[] = {world->body,
                      world->kind,
                      world->slot,
                      world->laws,
                      world->step_start.bytes,
                      world->part_start.bytes,
                      world->free_velocity};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
        tdl_free(&host.mem, arrays[i]);
    }
    tdl_free(&host.mem, world);
}

// --- bodies come and go ---------------------------------------------------------------------

const TdlHost* world_host(const TdlWorld* world) {
    return &world->host;
}

Pool* world_pool(const TdlWorld* world) {
    return world->pool;
}

double world_now(const TdlWorld* world) {
    return tdl_world_time(world);
}

TdlIntegrator world_integrator(const TdlWorld* world) {
    return world->def.integrator;
}

bool world_finds_holds(const TdlWorld* world) {
    return world->def.holds;
}

bool world_finds_forces(const TdlWorld* world) {
    return world->def.forces;
}

TdlVec3 world_contact_force(const TdlWorld* world, const Body* body) {
    TdlWrench wrench = {0};
    tdl_body_contact_wrench(world, body->id, &wrench);
    return wrench.force;
}

void world_count_energy(const TdlWorld* world, Body* body) {
    if (body->kind->energy != NULL) {
        body->energy = body->kind->energy(body, world->def.gravity);
    }
}

// Bodies were added, removed or moved from outside: contacts have to be looked for again.
static void lay_out_contacts(TdlWorld* world) {
    joints_lay_out_again(world);
    if (world->contacts != NULL) {
        contacts_lay_out_again(world->contacts);
    }
}

// A slot that no body has, with its next generation; -1: no memory.
static int free_slot(TdlWorld* world) {
    for (int i = 0; i < world->slot_count && world->body_count < world->slot_count; ++i) {
        if (world->slot[i].body == NULL && world->slot[i].generation < INT_MAX) {
            return i;
        }
    }
    if (!tdl_reserve(&world->host.mem, &world->slot, &world->slot_capacity, world->slot_count + 1,
                     sizeof *world->slot)) {
        return -1;
    }
    world->slot[world->slot_count] = (BodySlot){0};
    return world->slot_count++;
}

// The bodies of a kind, by its table or by its name; null: there never were any.
static KindList* find_list(const TdlWorld* world, const BodyKind* kind, const char* name) {
    for (int i = 0; i < world->kind_count; ++i) {
        KindList* list = &world->kind[i];
        if (list->kind == kind || (name != NULL && strcmp(list->kind->name, name) == 0)) {
            return list;
        }
    }
    return NULL;
}

// With room for one more; null: no memory.
static KindList* reserve_list(TdlWorld* world, const BodyKind* kind) {
    const TdlAllocator* mem = &world->host.mem;
    KindList* list = find_list(world, kind, NULL);
    if (list == NULL) {
        if (!tdl_reserve(mem, &world->kind, &world->kind_capacity, world->kind_count + 1,
                         sizeof *world->kind)) {
            return NULL;
        }
        list = &world->kind[world->kind_count++];
        *list = (KindList){.kind = kind};
    }
    bool room = tdl_reserve(mem, &list->body, &list->capacity, list->count + 1, sizeof *list->body);
    return room ? list : NULL;
}

TdlStatus world_add_body(TdlWorld* world, Body* body) {
    if (body->material < 0 || body->material >= TDL_MATERIAL_LIMIT) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "material %d is not in 0 to %d",
                        body->material, TDL_MATERIAL_LIMIT - 1);
    }
    const KindList* same = find_list(world, NULL, body->kind->name);
    if (same != NULL && same->kind != body->kind) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "there is another kind of body '%s'",
                        body->kind->name);
    }
    int slot = free_slot(world);
    KindList* list = reserve_list(world, body->kind);
    if (slot < 0 || list == NULL ||
        !tdl_reserve(&world->host.mem, &world->body, &world->body_capacity, world->body_count + 1,
                     sizeof *world->body)) {
        return TDL_STATUS_NO_MEMORY;
    }
    body->system = body->system == NULL ? body : body->system;
    body->index = world->body_count;
    body->id = (TdlBodyId){slot + 1, ++world->slot[slot].generation};
    world->slot[slot].body = body;
    world->body[world->body_count++] = body;
    body->kind_index = list->count;
    list->body[list->count++] = body;
    TdlVec3 centre;
    body->mass = body->kind->mass == NULL ? 0.0 : body->kind->mass(body, &centre);
    body->size = body->kind->shape == NULL ? 0.0 : body->kind->shape(body, 0).size;
    world_count_energy(world, body);
    lay_out_contacts(world);
    return TDL_STATUS_OK;
}

static Body* body_of(const TdlWorld* world, TdlBodyId id) {
    if (id.index < 1 || id.index > world->slot_count) {
        return NULL;
    }
    const BodySlot* slot = &world->slot[id.index - 1];
    return slot->generation == id.generation ? slot->body : NULL;
}

Body* world_find_body(const TdlWorld* world, TdlBodyId id, const BodyKind* kind) {
    Body* body = body_of(world, id);
    if (body == NULL) {
        tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "id (%d, %d) is no body of this world",
                 id.index, id.generation);
        return NULL;
    }
    if (kind != NULL && body->kind != kind) {
        tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "id (%d, %d) is a %s, not a %s", id.index,
                 id.generation, body->kind->name, kind->name);
        return NULL;
    }
    return body;
}

Body* world_last_body(const TdlWorld* world, const BodyKind* kind) {
    const KindList* list = find_list(world, kind, NULL);
    return list == NULL || list->count == 0 ? NULL : list->body[list->count - 1];
}

TdlStatus tdl_world_remove(TdlWorld* world, TdlBodyId id) {
    Body* body = world_find_body(world, id, NULL);
    if (body == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    if (body->riders > 0) {
        char name[TDL_BODY_NAME_SIZE];
        world_name_body(body, name);
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT,
                        "%s stays until the %d bodies that ride on it are removed", name,
                        body->riders);
    }
    if (body->kind->leave != NULL) {
        TdlStatus status = body->kind->leave(&world->host, body);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    for (int i = body->index; i + 1 < world->body_count; ++i) {
        world->body[i] = world->body[i + 1];
        world->body[i]->index = i;
    }
    --world->body_count;
    KindList* list = find_list(world, body->kind, NULL);
    for (int i = body->kind_index; i + 1 < list->count; ++i) {
        list->body[i] = list->body[i + 1];
        list->body[i]->kind_index = i;
    }
    --list->count;
    world->slot[id.index - 1].body = NULL;
    joints_forget_body(world, body);
    clearance_forget(&world->clearances, body);
    lay_out_contacts(world);
    tdl_free(&world->host.mem, body->name);
    body_destroy(&world->host, body);
    return TDL_STATUS_OK;
}

// --- what is there --------------------------------------------------------------------------

// The bodies of a kind by its name, or all.
static int list_bodies(const TdlWorld* world, const char* kind, Body* const** out) {
    const KindList* list = kind == NULL ? NULL : find_list(world, NULL, kind);
    *out = kind == NULL ? world->body : list == NULL ? NULL : list->body;
    return kind == NULL ? world->body_count : list == NULL ? 0 : list->count;
}

int tdl_world_bodies(const TdlWorld* world, const char* kind, int capacity, TdlBodyId* out) {
    Body* const* body;
    int count = list_bodies(world, kind, &body);
    for (int i = 0; i < count && i < capacity; ++i) {
        out[i] = body[i]->id;
    }
    return count;
}

TdlBodyId tdl_world_body(const TdlWorld* world, const char* kind, int index) {
    Body* const* body;
    int count = list_bodies(world, kind, &body);
    return index >= 0 && index < count ? body[index]->id : (TdlBodyId){0};
}

int tdl_body_index(const TdlWorld* world, TdlBodyId id) {
    const Body* body = body_of(world, id);
    return body == NULL ? -1 : body->kind_index;
}

const char* tdl_body_kind(const TdlWorld* world, TdlBodyId id) {
    const Body* body = body_of(world, id);
    return body == NULL ? NULL : body->kind->name;
}

enum { NAME_MOST = 200 };

TdlStatus tdl_body_set_name(TdlWorld* world, TdlBodyId id, const char* name) {
    Body* body = world_find_body(world, id, NULL);
    size_t length = name == NULL ? 0 : strlen(name);
    if (body == NULL || length > NAME_MOST) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    char* copy = NULL;
    if (name != NULL) {
        copy = tdl_alloc_array(&world->host.mem, length + 1, 1);
        if (copy == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        memcpy(copy, name, length + 1);
    }
    tdl_free(&world->host.mem, body->name);
    body->name = copy;
    return TDL_STATUS_OK;
}

TdlBodyId tdl_world_find(const TdlWorld* world, const char* name) {
    for (int i = 0; i < world->body_count; ++i) {
        const Body* body = world->body[i];
        if (name != NULL && body->name != NULL && strcmp(body->name, name) == 0) {
            return body->id;
        }
    }
    return (TdlBodyId){0};
}

int world_lay_out_coordinates(TdlWorld* world) {
    int used = 0;
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        const Body* head = linkage_head(body);
        body->dof_at = head == body ? used : head->dof_at + body->linked_at;
        used += linkage_dofs(body);
    }
    return used;
}

void world_gather_free(const TdlWorld* world, double* v) {
    for (int i = 0; i < world->body_count; ++i) {
        const Body* body = world->body[i];
        if (body->dof_count > 0) {
            memcpy(v + body->dof_at, body->v_free, (size_t)body->dof_count * sizeof *v);
        }
    }
}

void world_hand_free(TdlWorld* world, const double* v) {
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        if (body->dof_count > 0) {
            memcpy(body->v_free, v + body->dof_at, (size_t)body->dof_count * sizeof *v);
        }
    }
}

void world_name_body(const Body* body, char out[TDL_BODY_NAME_SIZE]) {
    if (body == NULL) {
        snprintf(out, TDL_BODY_NAME_SIZE, "no body");
    } else if (body->name != NULL) {
        snprintf(out, TDL_BODY_NAME_SIZE, "%.32s '%s'", body->kind->name, body->name);
    } else {
        snprintf(out, TDL_BODY_NAME_SIZE, "%.32s %d", body->kind->name, body->kind_index);
    }
}

void tdl_body_name(const TdlWorld* world, TdlBodyId id, char out[TDL_BODY_NAME_SIZE]) {
    world_name_body(body_of(world, id), out);
}

void tdl_world_tell_fault(const TdlWorld* world, const TdlStepInfo* info, size_t size, char* out) {
    const TdlStepFault* fault = &info->fault;
    const Body* body = body_of(world, fault->body);
    char name[TDL_BODY_NAME_SIZE], element[32] = "", where[400] = "", much[160] = "";
    char joint[TDL_BODY_NAME_SIZE + 8] = "";
    joints_tell_fault(world, fault->joint, joint);
    if (fault->element >= 0) {
        snprintf(element, sizeof element, ", element %d", fault->element);
    }
    if (body != NULL) {
        world_name_body(body, name);
        snprintf(where, sizeof where, ": %s%s, at (%.6g, %.6g, %.6g)", name, element,
                 fault->place.x, fault->place.y, fault->place.z);
    }
    if (fault->gained != 0.0) {
        snprintf(much, sizeof much,
                 ", has %.3g J that nothing gave it, with %.3g J at play (limit "
                 "%g of that)",
                 fault->gained, fault->at_play, world->def.energy_limit);
    }
    snprintf(out, size, "%s%s%s%s", info->reason == NULL ? "unknown" : info->reason, joint, where,
             much);
}

TdlStatus tdl_body_curves(TdlWorld* world, TdlBodyId id, int capacity, TdlCurve* out, int* count) {
    Body* body = world_find_body(world, id, NULL);
    *count = 0;
    if (body == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    const TdlContactDef* contacts = &world->def.contacts;
    int segments = contacts->geometry == TDL_CONTACT_SEGMENTS ? contacts->segments : 0;
    *count = body->kind->shape(body, segments).curve_count;
    if (*count == 0 || capacity <= 0) {
        return TDL_STATUS_OK;
    }
    TdlCurve* all = tdl_alloc_array(&world->host.mem, (size_t)*count, sizeof *all);
    if (all == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    body->kind->curves(body, segments, all);
    int most = capacity < *count ? capacity : *count;
    memcpy(out, all, (size_t)most * sizeof *all);
    tdl_free(&world->host.mem, all);
    return TDL_STATUS_OK;
}

TdlStatus tdl_body_centre(const TdlWorld* world, TdlBodyId id, TdlVec3* centre, double* mass) {
    const Body* body = world_find_body(world, id, NULL);
    if (body == NULL || body->kind->mass == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *mass = body->kind->mass(body, centre);
    return TDL_STATUS_OK;
}

TdlStatus tdl_body_energy(const TdlWorld* world, TdlBodyId id, TdlEnergy* out) {
    const Body* body = world_find_body(world, id, NULL);
    if (body == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    *out = body->energy;
    return TDL_STATUS_OK;
}

TdlWorldDef tdl_world_def(const TdlWorld* world) {
    return world->def;
}

double world_next_time(const TdlWorld* world) {
    return (double)(world->step_count + 1) * world->def.step; // as tdl_world_time
}

double tdl_world_time(const TdlWorld* world) {
    return (double)world->step_count * world->def.step;
}

long tdl_world_step_count(const TdlWorld* world) {
    return world->step_count;
}

TdlEnergy tdl_world_energy(const TdlWorld* world) {
    TdlEnergy sum = {0};
    for (int i = 0; i < world->body_count; ++i) {
        const TdlEnergy* own = &world->body[i]->energy;
        sum.kinetic += own->kinetic;
        sum.elastic += own->elastic;
        sum.gravity += own->gravity;
    }
    return sum;
}

const TdlContactForce* tdl_world_contact_forces(const TdlWorld* world, int* count) {
    *count = 0;
    return world->contacts == NULL ? NULL : contacts_forces(world->contacts, count);
}

TdlStatus tdl_body_contact_wrench(const TdlWorld* world, TdlBodyId id, TdlWrench* out) {
    const Body* body = world_find_body(world, id, NULL);
    if (body == NULL) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    int count;
    const TdlContactForce* force = tdl_world_contact_forces(world, &count);
    TdlVec3 centre = body_pose(body).position;
    *out = (TdlWrench){0};
    for (int i = 0; i < count; ++i) {
        for (int side = 0; side < 2; ++side) {
            if (tdl_body_id_equal(force[i].body[side], id)) {
                TdlVec3 f = tdl_scale3(side == 0 ? -1.0 : 1.0, force[i].force);
                TdlVec3 arm = tdl_sub3(force[i].point, centre);
                out->force = tdl_add3(out->force, f);
                out->torque = tdl_add3(out->torque, tdl_cross3(arm, f));
            }
        }
    }
    return TDL_STATUS_OK;
}

// --- changes between two steps --------------------------------------------------------------

// What changes from outside gives energy, which the judgement of a step must not take for its own.
static void count_energies(TdlWorld* world) {
    for (int i = 0; i < world->body_count; ++i) {
        world_count_energy(world, world->body[i]);
    }
}

TdlStatus tdl_world_set_gravity(TdlWorld* world, TdlVec3 gravity) {
    if (!tdl_finite3(gravity)) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "gravity must be finite");
    }
    world->def.gravity = gravity;
    count_energies(world);
    return TDL_STATUS_OK;
}

TdlStatus tdl_world_set_friction(TdlWorld* world, double mu) {
    if (!(mu >= 0.0)) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT,
                        "a friction coefficient must not be negative");
    }
    for (int i = 0; i < TDL_MATERIAL_LIMIT * TDL_MATERIAL_LIMIT; ++i) {
        world->laws[i].mu = mu;
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_world_set_energy_limit(TdlWorld* world, double limit) {
    if (!(limit > 0.0)) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT, "energy_limit must be positive");
    }
    world->def.energy_limit = limit;
    return TDL_STATUS_OK;
}

TdlStatus tdl_world_settle(TdlWorld* world, double* residual) {
    double worst = 0.0;
    TdlStatus status = TDL_STATUS_OK;
    if (world->joints.count > 0) {
        char name[TDL_BODY_NAME_SIZE];
        joint_name(world->joints.at[0], name);
        return tdl_fail(&world->host, TDL_STATUS_BAD_ARGUMENT,
                        "statics knows no joints, as %s is one: let the world go on until it rests",
                        name);
    }
    Stop stop = {world->watch.stop, world->watch.stop_user};
    for (int i = 0; i < world->body_count && status == TDL_STATUS_OK; ++i) {
        Body* body = world->body[i];
        double remains = 0.0;
        if (body->kind->settle != NULL) {
            status = stop_asked(stop) ? TDL_STATUS_STOPPED
                                      : body->kind->settle(&world->host, body, world->def.gravity,
                                                           stop, &remains);
        }
        worst = fmax(worst, remains);
        if (status != TDL_STATUS_OK && status != TDL_STATUS_STOPPED) {
            char name[TDL_BODY_NAME_SIZE];
            world_name_body(body, name);
            tdl_log(&world->host, TDL_LOG_ERROR, "%s could not be brought to rest", name);
        }
    }
    count_energies(world);
    if (world->contacts != NULL) {
        contacts_forget(world->contacts);
    }
    if (residual != NULL) {
        *residual = worst;
    }
    return status;
}

// --- saved states ---------------------------------------------------------------------------

static size_t bodies_size(const TdlWorld* world) {
    size_t size = balance_size(world) + joints_state_size(world);
    for (int i = 0; i < world->body_count; ++i) {
        size += body_state_size(world->body[i]);
    }
    return size;
}

static char* save_bodies(const TdlWorld* world, char* bytes) {
    for (int i = 0; i < world->body_count; ++i) {
        body_save(world->body[i], bytes);
        bytes += body_state_size(world->body[i]);
    }
    return joints_save(world, balance_save(world, bytes));
}

TdlStatus world_place_bodies(TdlWorld* world, double time) {
    for (int i = 0; i < world->body_count; ++i) {
        Body* body = world->body[i];
        TdlStatus status =
            body->kind->place == NULL ? TDL_STATUS_OK : body->kind->place(&world->host, body, time);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

static TdlStatus load_bodies(TdlWorld* world, const char** from, double time) {
    const char* bytes = *from;
    for (int i = 0; i < world->body_count; ++i) {
        body_load(world->body[i], bytes);
        bytes += body_state_size(world->body[i]);
    }
    *from = joints_load(world, balance_load(world, bytes));
    count_energies(world); // mates that share data are right once the last one is in
    return world_place_bodies(world, time);
}

static size_t contact_bytes(const TdlWorld* world) {
    return world->contacts == NULL ? 0 : contacts_state_size(world->contacts);
}

// Grows only where there are more contacts than ever before.
bool world_save_state(TdlWorld* world, SavedState* saved) {
    size_t size = bodies_size(world) + contact_bytes(world);
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
    size_t left = size - bodies_size(world);
    TdlStatus status = load_bodies(world, &bytes, time);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (world->contacts == NULL) {
        return left == 0 ? TDL_STATUS_OK : TDL_STATUS_BAD_INPUT;
    }
    return contacts_load_state(world, bytes, left);
}

// Which bodies a state is of: kinds and sizes, in their order.
static int64_t layout_hash(const TdlWorld* world) {
    uint64_t hash = HASH_START;
    for (int i = 0; i < world->body_count; ++i) {
        const char* name = world->body[i]->kind->name;
        uint64_t size = body_state_size(world->body[i]);
        hash = hash_bytes(hash, name, strlen(name) + 1);
        hash = hash_bytes(hash, &size, sizeof size);
    }
    return (int64_t)joints_layout_hash(world, hash);
}

// What a state begins with.
enum { STATE_STEPS = 0, STATE_LAYOUT, STATE_LEVEL, STATE_HEAD };
enum { LEVEL_LIMIT = 10 };                          // as often as steps are halved for their error
static const int64_t MOST_STEPS = (int64_t)1 << 53; // as far as a time is exact

size_t tdl_world_state_size(const TdlWorld* world) {
    return STATE_HEAD * sizeof(int64_t) + bodies_size(world) + contact_bytes(world);
}

void tdl_world_save_state(const TdlWorld* world, void* bytes) {
    int64_t head[STATE_HEAD] = {world->step_count, layout_hash(world), world->level};
    memcpy(bytes, head, sizeof head);
    char* rest = save_bodies(world, (char*)bytes + sizeof head);
    if (world->contacts != NULL) {
        contacts_save_state(world->contacts, rest);
    }
}

TdlStatus tdl_world_load_state(TdlWorld* world, const void* bytes, size_t size) {
    int64_t head[STATE_HEAD];
    size_t least = sizeof head + bodies_size(world);
    if (size < least) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT,
                        "a state of %zu bytes does not fit a world of %zu", size, least);
    }
    memcpy(head, bytes, sizeof head);
    if (head[STATE_STEPS] < 0 || head[STATE_STEPS] > MOST_STEPS) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT,
                        "a state with a negative or absurd step count");
    }
    if (head[STATE_LEVEL] < 0 || head[STATE_LEVEL] > LEVEL_LIMIT) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT, "a state with absurd parts of steps");
    }
    if (head[STATE_LAYOUT] != layout_hash(world)) {
        return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT, "a state of other bodies");
    }
    world->step_count = (long)head[STATE_STEPS];
    world->level = (int)head[STATE_LEVEL];
    TdlStatus status = world_load_state(world, (const char*)bytes + sizeof head, size - sizeof head,
                                        tdl_world_time(world));
    if (status == TDL_STATUS_BAD_INPUT) {
        tdl_fail(&world->host, status, "the contacts of a state do not fit this world");
    }
    return status;
}

uint64_t tdl_world_state_hash(const TdlWorld* world) {
    int64_t steps = world->step_count;
    uint64_t hash = hash_bytes(HASH_START, &steps, sizeof steps);
    for (int i = 0; i < world->body_count; ++i) {
        hash = body_hash(world->body[i], hash);
    }
    return joints_hash(world, hash);
}
