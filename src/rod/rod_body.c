// Rods as bodies: their table, places, state, and how one is added. The step is in rod_step.c.
#include "rod/rod_body.h"

#include "base/hash.h"
#include "base/log.h"
#include "math/rotation.h"
#include "rod/held_end.h"
#include "rod/rod_drive.h"
#include "rod/rod_reach.h"

#include <string.h>

static void destroy(const TdlHost* host, Body* body) {
    RodBody* rb = (RodBody*)body;
    rod_destroy(host, rb->rod);
    rod_drive_destroy(host, rb->drive);
    motion_destroy(host, &rb->motion);
    motion_destroy(host, &rb->end_motion);
    load_list_free(host, &rb->varying);
    tdl_free(&host->mem, rb->scratch);
    tdl_free(&host->mem, rb->trial);
    tdl_free(&host->mem, rb->middle);
    rod_forces_destroy(host, rb->forces);
    tdl_free(&host->mem, rb);
}

static TdlEnergy energy(const Body* body, TdlVec3 gravity) {
    return rod_energy(rod_of(body), gravity);
}

// --- A and places ----------------------------------------------------------------------------

static void solve(const Body* body, int count, double* X) {
    const Rod* rod = rod_of(body);
    if (rod->held != NULL) {
        held_end_solve(rod, count, X);
        return;
    }
    if (rod->model->solve_columns != NULL && rod->child == NULL) {
        rod->model->solve_columns(rod, count, X);
        return;
    }
    for (int k = 0; k < count; ++k) {
        rod->model->solve(rod, X + (size_t)k * (size_t)rod->tree_dofs);
    }
}

static BodyRoot root(const Body* body) {
    const Rod* rod = rod_of(body->system);
    if (rod->model->root != NULL) {
        return rod->model->root->root(rod);
    }
    bool whitens = rod->model->whiten != NULL && rod->end_hold == TDL_HOLD_FREE;
    return (BodyRoot){.count = whitens ? rod->tree_dofs : 0};
}

static BodySupport support(const Body* body, const BodyPlace* place) {
    const Rod* rod = rod_of(body);
    if (rod->held != NULL) { // with its stretch, the last of them
        return (BodySupport){0, rod->dof_count + 1, NULL};
    }
    TdlSpan span = rod->model->movers(rod, place->element);
    return (BodySupport){span.first, span.count, NULL};
}

static BodySupport root_support(const Body* body, const BodyPlace* place) {
    const Rod* rod = rod_of(body);
    return rod->model->root != NULL ? rod->model->root->support(rod, place->element)
                                    : support(body, place);
}

static void whiten(const Body* body, const BodyPlace* place, const double* h, double* g) {
    const Rod* rod = rod_of(body);
    if (rod->model->root != NULL) {
        rod->model->root->whiten(rod, place->element, h, g);
        return;
    }
    const Rod* all = rod_of(body->system);
    int used = rod->model->movers(rod, place->element).count;
    memcpy(g, h, 3 * (size_t)used * sizeof *g);
    all->model->whiten(all, used, 3, g);
}

static void unwhiten(const Body* body, const double* z, double* v) {
    const Rod* rod = rod_of(body);
    if (rod->model->root != NULL) {
        rod->model->root->unwhiten(rod, z, v);
        return;
    }
    memcpy(v, z, (size_t)rod->tree_dofs * sizeof *v);
    rod->model->unwhiten(rod, v);
}

// From rows of the first `used` coordinates of a held rod to rows of all, with its stretch.
static void widen_rows(const Rod* rod, const BodyPlace* place, TdlMat3 basis, int used,
                       double* out) {
    int n = rod->dof_count;
    TdlVec3 axes[3] = {basis.cx, basis.cy, basis.cz};
    TdlVec3 stretching = held_end_stretching(rod, rod->model->point(rod, place->element, place->u));
    for (int k = 2; k >= 0; --k) {
        double* row = out + (ptrdiff_t)k * (n + 1);
        memmove(row, out + (ptrdiff_t)k * used, (size_t)used * sizeof *row);
        memset(row + used, 0, (size_t)(n - used) * sizeof *row);
        row[n] = tdl_dot3(axes[k], stretching);
    }
}

static void rows(const Body* body, const BodyPlace* place, TdlMat3 basis, double* out) {
    const Rod* rod = rod_of(body);
    rod->model->jacobian(rod, place->element, place->u, basis, out);
    TdlVec3 arm = tdl_sub3(place->touch, place->point);
    if (tdl_dot3(arm, arm) > 0.0) {
        const TdlVec3 torque[3] = {tdl_cross3(arm, basis.cx), tdl_cross3(arm, basis.cy),
                                   tdl_cross3(arm, basis.cz)};
        rod->model->add_torques(rod, place->element, place->u, torque, out);
    }
    if (rod->held != NULL) {
        widen_rows(rod, place, basis, rod->model->movers(rod, place->element).count, out);
    }
}

static TdlVec3 prescribed(const Body* body, const BodyPlace* place) {
    const RodBody* root = (const RodBody*)body->system;
    if (!root->rod->model->reduced) {
        return (TdlVec3){0};
    }
    Twist rate = root->step.base_rate;
    TdlVec3 arm = tdl_sub3(place->touch, root->rod->base.now.position);
    return tdl_add3(rate.linear, tdl_cross3(rate.angular, arm));
}

static TdlPose pose(const Body* body) {
    return rod_of(body)->base.now;
}

static bool shift(Body* body, TdlVec3 by) {
    Rod* rod = rod_of(body);
    bool held = rod->start_hold != TDL_HOLD_FREE || rod->end_hold != TDL_HOLD_FREE;
    if (held || rod->parent != NULL || rod->child != NULL) {
        return false;
    }
    if (tdl_dot3(by, by) > 0.0) {
        rod_shift(rod, by);
    }
    return true;
}

// --- the state -------------------------------------------------------------------------------

// What a body's state has beside that of its rod: of the midpoint rule, of momenta that are kept,
// the work of its holds where it is asked for, and how held ends are led. Which of them there are
// stays as it is.
enum { MORE_DOUBLES = 4 + ROD_KEPT_DOUBLES + 2 * LEAD_DOUBLES };

static bool has_momenta(const Rod* rod) {
    return rod->model->momenta != NULL && rod->root_dofs == 6;
}

static size_t pack_more(const RodBody* rb, double more[MORE_DOUBLES]) {
    size_t count = 0;
    if (rb->middle != NULL) {
        more[count++] = rb->middle->excess;
        more[count++] = rb->middle->swings ? 1.0 : 0.0;
    }
    if (has_momenta(rb->rod)) {
        rod_kept_save(&rb->kept, more + count);
        count += ROD_KEPT_DOUBLES;
    }
    for (int end = 0; end < 2 && rb->forces != NULL; ++end) {
        more[count++] = rb->forces->work[end];
    }
    return count;
}

// Those of ends that are held come last.
static size_t pack_leads(const RodBody* rb, double* more) {
    size_t count = 0;
    for (int part = 0; part < 2; ++part) {
        if (rod_end_is_held(rb->rod, part)) {
            memcpy(more + count, &rb->lead[part], sizeof(Lead));
            count += LEAD_DOUBLES;
        }
    }
    return count;
}

static void unpack_leads(RodBody* rb, const double* more) {
    for (int part = 0; part < 2; ++part) {
        if (rod_end_is_held(rb->rod, part)) {
            memcpy(&rb->lead[part], more, sizeof(Lead));
            more += LEAD_DOUBLES;
        }
    }
}

static size_t state_size(const Body* body) {
    double more[MORE_DOUBLES];
    size_t count = pack_more((const RodBody*)body, more);
    count += pack_leads((const RodBody*)body, more + count);
    return rod_state_size(rod_of(body)) + count * sizeof(double);
}

static void save(const Body* body, void* bytes) {
    double more[MORE_DOUBLES];
    size_t count = pack_more((const RodBody*)body, more);
    count += pack_leads((const RodBody*)body, more + count);
    rod_save_state(rod_of(body), bytes);
    memcpy((char*)bytes + rod_state_size(rod_of(body)), more, count * sizeof(double));
}

static void load(Body* body, const void* bytes) {
    RodBody* rb = (RodBody*)body;
    double more[MORE_DOUBLES];
    size_t leads = pack_more(rb, more), count = leads + pack_leads(rb, more + leads), at = 0;
    memcpy(more, (const char*)bytes + rod_state_size(rb->rod), count * sizeof(double));
    rod_load_state(rb->rod, bytes); // a group is right once its last rod is in
    if (rb->middle != NULL) {
        rb->middle->excess = more[at++];
        rb->middle->swings = more[at++] != 0.0;
    }
    if (has_momenta(rb->rod)) {
        rod_kept_load(&rb->kept, more + at);
        at += ROD_KEPT_DOUBLES;
    }
    for (int end = 0; end < 2 && rb->forces != NULL; ++end) {
        rb->forces->work[end] = more[at++];
    }
    unpack_leads(rb, more + leads);
}

static uint64_t hash(const Body* body, uint64_t before) {
    double more[MORE_DOUBLES];
    const RodBody* rb = (const RodBody*)body;
    size_t count = pack_more(rb, more);
    if (lead_is_on(&rb->lead[0]) || lead_is_on(&rb->lead[1])) {
        count += pack_leads(rb, more + count);
    }
    return hash_bytes(rod_state_hash(rod_of(body), before), more, count * sizeof(double));
}

// What the tree's root tells of its coordinates.
static void share_system(Rod* rod) {
    Rod* root = (Rod*)rod_tree_root(rod);
    Body *own = &rod_owner(rod)->head, *system = &rod_owner(root)->head;
    own->system = system;
    own->dof_count = rod == root ? rod->tree_dofs + (rod->held != NULL) : 0;
    own->v_free = rod->v_free;
    for (Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        share_system(branch);
    }
}

static TdlStatus leave(const TdlHost* host, Body* body) {
    Rod *rod = rod_of(body), *root = (Rod*)rod_tree_root(rod);
    if (rod->child != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "a rod with branches stays until they are removed");
    }
    rod_part(host, rod);
    share_system(root);
    rod_ride_end((RodBody*)body);
    return TDL_STATUS_OK;
}

// One rod at a time: this allocates, and the caller's allocator need not be safe to use from
// several threads.
static TdlStatus settle(const TdlHost* host, Body* body, TdlVec3 gravity, Stop stop,
                        double* residual) {
    RodBody* rb = (RodBody*)body;
    if (rb->rod->parent != NULL) { // its tree was settled as a whole, at its root
        rb->stability = ((RodBody*)body->system)->stability;
        return TDL_STATUS_OK;
    }
    rb->kept.known = false;
    return rod_settle_until(host, rb->rod, gravity, stop, residual, &rb->stability);
}

const BodyKind ROD_BODY = {
    .name = "rod",
    .destroy = destroy,
    .leave = leave,
    .prepare = rod_body_prepare,
    .expect = rod_body_expect,
    .predict = rod_body_predict,
    .advance = rod_body_advance,
    .place = rod_drive_place,
    .residual = rod_body_residual,
    .predict_again = rod_body_predict_again,
    .correct = rod_body_correct,
    .solve = solve,
    .root = root,
    .root_support = root_support,
    .whiten = whiten,
    .unwhiten = unwhiten,
    .support = support,
    .rows = rows,
    .prescribed = prescribed,
    .locate = rod_locate,
    .frame = rod_frame,
    .frame_after = rod_frame_after,
    .add_load = rod_add_load,
    .held = rod_held_ends,
    .mass = rod_centre,
    .energy = energy,
    .point = rod_point,
    .hold = rod_hold_force,
    .feel = rod_body_feel,
    .observe = rod_body_observe,
    .shift = shift,
    .state_size = state_size,
    .save = save,
    .load = load,
    .hash = hash,
    .shape = rod_shape,
    .curves = rod_curves,
    .bores = rod_bores,
    .pose = pose,
    .settle = settle,
    .lead = rod_lead,
    .pull_fault = rod_pull_fault,
    .pull = rod_pull_at,
    .copy = rod_copy,
};

// --- adding one ------------------------------------------------------------------------------

// Makes a rod a branch, if its definition names a parent.
static TdlStatus attach(TdlWorld* world, const TdlRodDef* def, Rod* rod) {
    if (def->parent.index == 0) {
        return TDL_STATUS_OK;
    }
    Body* parent = world_find_body(world, def->parent, &ROD_BODY);
    if (def->natural_key_count > 0 || def->tendon_count > 0) {
        return tdl_fail(world_host(world), TDL_STATUS_BAD_ARGUMENT,
                        "rod: no branch has natural_keys or tendons");
    }
    if (parent == NULL || motion_moves(&rod_owner(rod)->motion)) {
        return tdl_fail(world_host(world), TDL_STATUS_BAD_ARGUMENT,
                        "rod: parent must be a rod of this world, which then moves its branches");
    }
    return rod_attach(world_host(world), rod, rod_of(parent), def->parent_at);
}

// What the definition points to is the caller's: a copy of the rod finds it in the rod.
static void keep_def(const TdlRodDef* def, TdlRodDef* out) {
    *out = *def;
    out->model = rod_model_find(def->model)->name;
    out->natural_curvature_of = out->curvature_of = NULL;
    out->natural_curvature_at = out->curvature_at = NULL;
    out->motion.keys = out->end_motion.keys = NULL;
    out->loads = NULL;
    out->load_count = out->motion.key_count = out->end_motion.key_count = 0;
}

// All but its place in the world.
static TdlStatus create(TdlWorld* world, const TdlRodDef* def, RodBody* rb) {
    const TdlHost* host = world_host(world);
    TdlStatus status = motion_create(host, &def->motion, &rb->motion);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlRodDef moved = *def;
    moved.clamp = motion_pose(&rb->motion, def->clamp, world_now(world));
    status = rod_create(host, &moved, &rb->rod);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    rb->rod->owner = rb;
    status = rod_drive_create(host, def, rb->rod, &rb->drive);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = motion_create(host, &def->end_motion, &rb->end_motion);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (world_integrator(world) == TDL_INTEGRATOR_MIDPOINT) {
        status = rod_middle_create(host, rb->rod, &rb->middle);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    if (world_finds_forces(world)) {
        status = rod_forces_create(host, rb->rod, &rb->forces);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    size_t elements = (size_t)rb->rod->element_count;
    rb->scratch = tdl_alloc_array(&host->mem, elements, sizeof *rb->scratch);
    rb->trial = tdl_alloc_array(&host->mem, (size_t)rb->rod->dof_count, sizeof *rb->trial);
    bool got = rb->scratch != NULL && rb->trial != NULL;
    return got ? attach(world, def, rb->rod) : TDL_STATUS_NO_MEMORY;
}

static TdlStatus check_reach(const TdlHost* host, const RodBody* rb, double now) {
    RodHolds holds = {&rb->motion, &rb->end_motion, rb->placed, rod_end(rb->rod), now};
    TdlRodReach reach = rod_reach(rb->rod, &holds);
    char text[ROD_REACH_TEXT];
    return reach.ok
               ? TDL_STATUS_OK
               : tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "rod: %s", rod_reach_text(&reach, text));
}

// A rod of a copied world has been where it is now, whatever its motions ask for at the start.
static TdlStatus make(TdlWorld* world, const TdlRodDef* def, const RodBody* like, RodBody* rb) {
    TdlStatus status = create(world, def, rb);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return like != NULL ? TDL_STATUS_OK : check_reach(world_host(world), rb, world_now(world));
}

TdlStatus rod_add(TdlWorld* world, const TdlRodDef* def, const RodBody* like, RodBody** out) {
    const TdlHost* host = world_host(world);
    RodBody* rb = tdl_alloc_zero(&host->mem, sizeof *rb);
    if (rb == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    rb->head.kind = &ROD_BODY;
    rb->head.material = def->material;
    rb->placed = def->clamp;
    rb->stability = NAN;
    TdlStatus status = make(world, def, like, rb);
    if (status != TDL_STATUS_OK) {
        destroy(host, &rb->head);
        return status;
    }
    const Body* last = world_last_body(world, &ROD_BODY);
    if (last != NULL && rb->rod->parent == NULL) {
        rod_join(host, rb->rod, rod_of(last));
    }
    keep_def(def, &rb->def);
    rb->end_placed = rod_end(rb->rod);
    rod_drive_place(host, &rb->head, world_now(world));
    rb->head.linear = rb->rod->model->residual == NULL && rb->rod->held == NULL;
    rb->head.hears = rb->rod->held != NULL;
    share_system((Rod*)rod_tree_root(rb->rod));
    status = world_add_body(world, &rb->head);
    if (status != TDL_STATUS_OK) {
        Rod* root = (Rod*)rod_tree_root(rb->rod);
        rod_part(host, rb->rod);
        share_system(root);
        destroy(host, &rb->head);
        return status;
    }
    *out = rb;
    return TDL_STATUS_OK;
}

TdlStatus tdl_world_add_rod(TdlWorld* world, const TdlRodDef* def, TdlBodyId* out) {
    RodBody* rb;
    TdlStatus status = rod_add(world, def, NULL, &rb);
    if (status == TDL_STATUS_OK) {
        *out = rb->head.id;
    }
    return status;
}
