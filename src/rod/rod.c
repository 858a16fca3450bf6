// What all rod models share: definitions, their checks, sections, and the state as bytes.
#include "rod/rod.h"

#include "base/hash.h"
#include "base/log.h"
#include "math/rotation.h"
#include "rod/corde.h"
#include "rod/discrete_elastic_rod.h"
#include "rod/held_end.h"
#include "rod/mass_spring.h"
#include "rod/rod_drive.h"
#include "rod/section.h"

#include <string.h>

enum { MAX_ELEMENTS = 100000 };

// Largest turning of one element, rad: integrals over it take work in proportion.
static const double MAX_TURNING = 3000.0;

// In the order of tdl_rod_models.
static const RodModel* const MODELS[] = {
    &SUPER_HELIX,     &SUPER_CLOTHOID, &DISCRETE_ELASTIC_ROD.rod,
    &MASS_SPRING.rod, &CORDE.rod,      &SUPER_HELIX_DENSE};
enum { MODEL_COUNT = sizeof MODELS / sizeof *MODELS };

const char* tdl_rod_models(void) {
    return "super-helix|super-clothoid|der|mass-spring|corde|super-helix-dense";
}

const RodModel* rod_model_find(const char* name) {
    for (int i = 0; i < MODEL_COUNT; ++i) {
        if (strcmp(MODELS[i]->name, name) == 0) {
            return MODELS[i];
        }
    }
    return NULL;
}

TdlRodDef tdl_rod_def_default(void) {
    return (TdlRodDef){
        .model = "super-helix",
        .length = 0.1,
        .radius = {50.0e-6, 50.0e-6},
        .element_count = 10,
        .young = 1.0e9,
        .poisson = 0.48,
        .density = 1000.0,
        .stiffening = 1.0,
        .clamp.rotation = tdl_identity33(),
        .parent_at = 1.0,
        .start = TDL_HOLD_CLAMPED,
        .end = TDL_HOLD_FREE,
    };
}

static bool not_negative(double x) {
    return isfinite(x) && x >= 0.0;
}

static bool positive(double x) {
    return isfinite(x) && x > 0.0;
}

// How far the columns are from orthonormal.
static bool turning_sane(const TdlRodDef* def, TdlVec3 kappa) {
    return tdl_norm3(kappa) * def->length / def->element_count < MAX_TURNING;
}

static bool all_sane(const TdlRodDef* def, const TdlVec3* kappa, int count) {
    bool sane = true;
    for (int i = 0; i < count && kappa != NULL; ++i) {
        sane = sane && turning_sane(def, kappa[i]);
    }
    return sane;
}

static const char* find_curvature_fault(const TdlRodDef* def) {
    int n = def->element_count;
    bool at_joints = def->natural_curvature_at != NULL || def->curvature_at != NULL;
    if (at_joints && !rod_model_find(def->model)->at_joints) {
        return "only the super-clothoid has curvatures at its joints";
    }
    if ((def->natural_curvature_at != NULL && def->natural_curvature_of != NULL) ||
        (def->curvature_at != NULL && def->curvature_of != NULL)) {
        return "curvatures are those of the elements or those at the joints, not both";
    }
    bool sane =
        turning_sane(def, def->natural_curvature) && turning_sane(def, def->curvature) &&
        all_sane(def, def->natural_curvature_of, n) && all_sane(def, def->curvature_of, n) &&
        all_sane(def, def->natural_curvature_at, n + 1) && all_sane(def, def->curvature_at, n + 1);
    return sane ? NULL : "curvature times element length must be finite and below 3000";
}

static bool hold_sane(TdlHold hold) {
    return hold == TDL_HOLD_CLAMPED || hold == TDL_HOLD_PINNED || hold == TDL_HOLD_FREE;
}

static const char* find_load_fault(const TdlRodDef* def) {
    if (!not_negative(def->mass_damping)) {
        return "mass_damping must not be negative";
    }
    if (!not_negative(def->drag)) {
        return "drag must not be negative";
    }
    if (!hold_sane(def->start) || !hold_sane(def->end)) {
        return "start and end must be clamped, pinned or free";
    }
    if (def->load_count < 0 || (def->load_count > 0 && def->loads == NULL)) {
        return "load_count must count loads";
    }
    for (int i = 0; i < def->load_count; ++i) {
        const TdlRodLoad* load = &def->loads[i];
        if (!(load->at >= 0.0 && load->at <= def->length) || !tdl_finite3(load->force) ||
            !tdl_finite3(load->torque)) {
            return "a load must be finite and act at an arc length from 0 to length";
        }
    }
    return NULL;
}

const char* tdl_rod_def_fault(const TdlRodDef* def) {
    if (def->model == NULL || rod_model_find(def->model) == NULL) {
        return "model is not one of those tdl_rod_models() lists";
    }
    if (!positive(def->length)) {
        return "length must be positive";
    }
    if (!positive(def->radius[0]) || !positive(def->radius[1])) {
        return "radius must be positive";
    }
    if (def->element_count < 1 || def->element_count > MAX_ELEMENTS) {
        return "element_count must be from 1 to 100000";
    }
    if (!positive(def->young)) {
        return "young must be positive";
    }
    if (!(def->poisson > -1.0 && def->poisson <= 0.5)) {
        return "poisson must be above -1 and at most 0.5";
    }
    if (!positive(def->density)) {
        return "density must be positive";
    }
    if (!not_negative(def->damping)) {
        return "damping must not be negative";
    }
    if (!positive(def->stiffening) || !positive(def->stiffening * def->young)) {
        return "stiffening must be positive";
    }
    const char* fault = find_curvature_fault(def);
    if (fault == NULL) {
        fault = tdl_rod_sections_fault(def);
    }
    if (fault == NULL) {
        fault = rod_drive_fault(def);
    }
    if (fault != NULL) {
        return fault;
    }
    if (!tdl_pose_is_good(def->clamp)) {
        return "clamp must be a finite place and a rotation";
    }
    fault = find_load_fault(def);
    const RodModel* model = rod_model_find(def->model);
    return fault == NULL && model->find_fault != NULL ? model->find_fault(def) : fault;
}

static int root_dofs(TdlHold start) {
    return start == TDL_HOLD_CLAMPED ? 0 : start == TDL_HOLD_PINNED ? 3 : 6;
}

int tdl_rod_def_dof_count(const TdlRodDef* def) {
    const RodModel* model = rod_model_find(def->model);
    return model->dof_count != NULL ? model->dof_count(def)
                                    : def->element_count * model->dofs_per_element +
                                          model->extra_dofs + root_dofs(def->start);
}

int tdl_rod_def_curvature_count(const TdlRodDef* def) {
    return def->element_count + (rod_model_find(def->model)->at_joints ? 1 : 0);
}

// On failure the rod keeps the group it has.
static bool allocate_group(const TdlHost* host, Rod* rod, int element_count) {
    if (rod->model->group_work_count == NULL) {
        return true;
    }
    size_t count = rod->model->group_work_count(element_count);
    RodGroup* group = tdl_alloc_zero(&host->mem, sizeof *group);
    if (group == NULL) {
        return false;
    }
    *group = (RodGroup){.count = 1, .users = 1, .rods = {rod}};
    group->work = tdl_alloc_array(&host->mem, count, sizeof(double));
    if (group->work == NULL) {
        tdl_free(&host->mem, group);
        return false;
    }
    rod->group = group;
    return true;
}

static void leave_group(const TdlHost* host, Rod* rod) {
    if (rod->group != NULL && --rod->group->users == 0) {
        tdl_free(&host->mem, rod->group->work);
        tdl_free(&host->mem, rod->group);
    }
    rod->group = NULL;
}

bool rod_join(const TdlHost* host, Rod* rod, Rod* mate) {
    RodGroup* group = mate->group;
    if (group == NULL || rod->group == NULL || rod->model != mate->model ||
        rod->group->count != 1 || group->count == ROD_GROUP_SIZE ||
        rod->element_count != mate->element_count || rod->start_hold != mate->start_hold ||
        rod->end_hold != mate->end_hold || mate->child != NULL || mate->parent != NULL) {
        return false;
    }
    leave_group(host, rod);
    rod->group = group;
    rod->lane = group->count;
    group->rods[group->count++] = rod;
    ++group->users;
    rod->model->refresh(rod);
    return true;
}

// Gives every rod of a group a group of its own.
static bool dissolve_group(const TdlHost* host, RodGroup* group) {
    bool whole = true, many = group->count > 1;
    while (whole && group->count > 1) {
        Rod* rod = group->rods[group->count - 1];
        whole = allocate_group(host, rod, rod->element_count);
        if (whole) {
            rod->lane = 0;
            --group->count;
            --group->users;
            rod->model->refresh(rod);
        }
    }
    if (many) {
        group->rods[0]->model->refresh(group->rods[0]); // its company may decide how it is laid out
    }
    return whole;
}

const Rod* rod_tree_root(const Rod* rod) {
    while (rod->parent != NULL) {
        rod = rod->parent;
    }
    return rod;
}

static int count_tree(const Rod* rod) {
    int count = rod->dof_count;
    for (const Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        count += count_tree(branch);
    }
    return count;
}

// Gives a rod and its branches their places in the vectors of the tree. Returns the place after.
static int place_tree(Rod* rod, int dofs, int first, double* v_free) {
    rod->tree_dofs = dofs;
    rod->tree_first = first;
    rod->v_free = v_free + first;
    first += rod->dof_count;
    for (Rod* branch = rod->child; branch != NULL; branch = branch->sibling) {
        first = place_tree(branch, dofs, first, v_free);
    }
    return first;
}

TdlStatus rod_attach(const TdlHost* host, Rod* rod, Rod* parent, double at) {
    if (parent->model->node == NULL || rod->model != parent->model) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "rod: only super-helices make trees");
    }
    if (rod->start_hold != TDL_HOLD_CLAMPED || rod->end_hold != TDL_HOLD_FREE ||
        parent->end_hold != TDL_HOLD_FREE) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "rod: a branch is clamped at its start, and no end of a tree is held");
    }
    if (!(at > 0.0 && at <= 1.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "rod: parent_at must be above 0 and at most 1");
    }
    Rod* root = (Rod*)rod_tree_root(parent);
    int dofs = count_tree(root) + count_tree(rod);
    double* v_free = tdl_alloc_array(&host->mem, (size_t)dofs, sizeof *v_free);
    if (v_free == NULL || !dissolve_group(host, parent->group)) {
        tdl_free(&host->mem, v_free);
        return TDL_STATUS_NO_MEMORY;
    }
    tdl_free(&host->mem, root->tree_v_free);
    tdl_free(&host->mem, rod->tree_v_free);
    rod->tree_v_free = NULL;
    root->tree_v_free = v_free;
    int node = (int)fmax(1.0, nearbyint(at * parent->element_count));
    rod->parent = parent;
    rod->parent_element = node - 1;
    TdlPose pose = parent->model->node(parent, node - 1);
    rod->mount = tdl_tmul33(pose.rotation, rod->base.now.rotation);
    rod->base.now.position = pose.position;
    rod->sibling = parent->child;
    parent->child = rod;
    place_tree(root, dofs, 0, v_free);
    rod_stop(rod);
    rod->end.now = rod->end.before = rod_end(rod);
    return TDL_STATUS_OK;
}

static void leave_tree(const TdlHost* host, Rod* rod) {
    Rod* root = (Rod*)rod_tree_root(rod);
    Rod** link = &rod->parent->child;
    while (*link != rod) {
        link = &(*link)->sibling;
    }
    *link = rod->sibling;
    rod->parent = rod->sibling = NULL;
    if (root->child == NULL) {
        // alone again: its velocities lie where they did at first
        tdl_free(&host->mem, root->tree_v_free);
        root->tree_v_free = NULL;
        place_tree(root, root->dof_count, 0, root->q_rest + root->dof_count);
    } else {
        place_tree(root, count_tree(root), 0, root->tree_v_free);
    }
    place_tree(rod, rod->dof_count, 0, rod->q_rest + rod->dof_count);
    root->model->refresh(root);
}

void rod_part(const TdlHost* host, Rod* rod) {
    if (rod->parent != NULL) {
        leave_tree(host, rod);
    }
    RodGroup* group = rod->group;
    if (group == NULL || group->count == 1) {
        return;
    }
    // the others move up; the memory is its own too until it is destroyed
    --group->count;
    for (int i = rod->lane; i < group->count; ++i) {
        group->rods[i] = group->rods[i + 1];
        group->rods[i]->lane = i;
    }
    for (int i = 0; i < group->count; ++i) {
        group->rods[i]->model->refresh(group->rods[i]);
    }
}

// Lays the arrays out in one allocation.
static bool allocate(const TdlHost* host, Rod* rod, const TdlRodDef* def) {
    const RodModel* model = rod->model;
    int n = def->element_count;
    rod->root_dofs = model->dof_count != NULL ? 0 : root_dofs(def->start);
    rod->dof_count = rod->tree_dofs = tdl_rod_def_dof_count(def);
    size_t dofs = (size_t)rod->dof_count;
    size_t memory = model->memory_count != NULL ? model->memory_count(n) : 0;
    size_t work = model->work_count(rod->dof_count, n);
    size_t held = model->end_turning != NULL ? held_end_count(def->end, rod->dof_count) : 0;
    size_t natural = 3 * (size_t)tdl_rod_def_curvature_count(def);
    size_t sections = (size_t)n * (sizeof(RodShare) / sizeof(double) + 2) + 2;
    double* block = tdl_alloc_array(
        &host->mem, 6 * dofs + 1 + memory + work + held + natural + sections, sizeof(double));
    rod->q = block;
    // one more: for the hold in statics
    size_t loads = (size_t)def->load_count + (size_t)rod_drive_load_count(def) + 1;
    rod->loads = tdl_alloc_array(&host->mem, loads, sizeof *rod->loads);
    if (block == NULL || rod->loads == NULL || !allocate_group(host, rod, n)) {
        return false;
    }
    rod->v = block + dofs;
    rod->q_before = block + 2 * dofs;
    rod->memory = block + 3 * dofs;
    rod->q_rest = rod->memory + memory;
    rod->v_free = rod->q_rest + dofs;
    rod->expected = rod->v_free + dofs + 1;
    rod->work = rod->expected + dofs;
    rod->held = held > 0 ? rod->work + work : NULL;
    rod->natural = (TdlVec3*)(rod->work + work + held);
    rod->share = (RodShare*)(rod->natural + natural / 3);
    rod->thick = (double*)(rod->share + n);
    rod->bore = rod->thick + n + 1;
    if (held > 0) {
        memset(rod->held, 0, held * sizeof(double));
    }
    return true;
}

static void set_loads(Rod* rod, const TdlRodDef* def) {
    rod->load_count = def->load_count + rod_drive_load_count(def);
    for (int i = 0; i < def->load_count; ++i) {
        double u = def->loads[i].at / rod->element_length;
        int element = (int)fmin(u, rod->element_count - 1);
        rod->loads[i] = (RodLoad){.element = element,
                                  .s = fmin(u - element, 1.0),
                                  .force = def->loads[i].force,
                                  .torque = def->loads[i].torque};
    }
}

// The curvatures by which the model is told: the given ones, or the same for all. Those of elements
// become those at joints by the mean of the two that meet there. (C.3)
static void fill_curvatures(const Rod* rod, const TdlVec3* of, const TdlVec3* at, TdlVec3 same,
                            TdlVec3* kappa) {
    int n = rod->element_count;
    for (int i = 0; i < rod_curvature_count(rod); ++i) {
        if (at != NULL) {
            kappa[i] = at[i];
        } else if (of == NULL) {
            kappa[i] = same;
        } else if (rod->model->at_joints) {
            kappa[i] = tdl_scale3(0.5, tdl_add3(of[i > 0 ? i - 1 : 0], of[i < n ? i : n - 1]));
        } else {
            kappa[i] = of[i];
        }
    }
}

// Natural shape and first one. Room for the second is lent.
static void set_shapes(Rod* rod, const TdlRodDef* def, TdlVec3* kappa) {
    fill_curvatures(rod, def->natural_curvature_of, def->natural_curvature_at,
                    def->natural_curvature, rod->natural);
    rod_set_natural(rod, rod->natural);
    fill_curvatures(rod, def->curvature_of, def->curvature_at, def->curvature, kappa);
    rod->model->set_curvature(rod, kappa, rod->q);
}

TdlStatus rod_create(const TdlHost* host, const TdlRodDef* def, Rod** out) {
    const char* fault = tdl_rod_def_fault(def);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "rod: %s", fault);
    }
    Rod* rod = tdl_alloc_zero(&host->mem, sizeof *rod);
    TdlVec3* kappa = tdl_alloc_array(&host->mem, (size_t)def->element_count + 1, sizeof *kappa);
    if (rod != NULL) {
        rod->model = rod_model_find(def->model);
    }
    if (rod == NULL || kappa == NULL || !allocate(host, rod, def)) {
        rod_destroy(host, rod);
        tdl_free(&host->mem, kappa);
        return TDL_STATUS_NO_MEMORY;
    }
    rod->element_count = def->element_count;
    rod->element_length = def->length / def->element_count;
    rod->damping = def->damping;
    rod->mass_damping = def->mass_damping;
    rod->drag = def->drag;
    rod->start_hold = def->start;
    rod->end_hold = def->end;
    rod->base.now = def->clamp;
    section_set(rod, def);
    rod->at_rest.element_length = rod->element_length;
    rod->at_rest.line_density = rod->line_density;
    rod->held_state.stretch = rod->held_state.stretch_before = 1.0;
    set_loads(rod, def);
    set_shapes(rod, def, kappa);
    tdl_free(&host->mem, kappa);
    rod_stop(rod);
    rod->end.now = rod->end.before = rod_end(rod);
    *out = rod;
    return TDL_STATUS_OK;
}

void rod_destroy(const TdlHost* host, Rod* rod) {
    if (rod != NULL) {
        leave_group(host, rod);
        tdl_free(&host->mem, rod->q);
        tdl_free(&host->mem, rod->loads);
        tdl_free(&host->mem, rod->tree_v_free);
        tdl_free(&host->mem, rod);
    }
}

double rod_mass_factor(const Rod* rod, double dt) {
    return 1.0 + dt * (rod->mass_damping + rod->settling + rod->drag / rod->line_density);
}

TdlVec3 rod_pull(const Rod* rod, const RodStep* step) {
    return tdl_axpy3(step->gravity, rod->drag / rod->line_density, step->wind);
}

double rod_length(const Rod* rod) {
    return rod->at_rest.element_length * rod->element_count;
}

// Mass, and stiffness of an element against bending, stay.
void rod_set_stretch(Rod* rod) {
    double stretch = rod->held_state.stretch;
    rod->element_length = stretch * rod->at_rest.element_length;
    rod->line_density = rod->at_rest.line_density / stretch;
    rod->stiffness = tdl_scale3(stretch, rod->at_rest.stiffness);
}

double rod_stretch_stiffness(const Rod* rod) {
    return rod->at_rest.stretching;
}

TdlEnergy rod_energy(const Rod* rod, TdlVec3 gravity) {
    TdlEnergy energy = rod->model->energy(rod, gravity);
    double strain = rod->held_state.stretch - 1.0;
    energy.elastic += 0.5 * rod_stretch_stiffness(rod) * rod_length(rod) * strain * strain;
    return energy;
}

TdlPose rod_end(const Rod* rod) {
    const RodModel* model = rod->model;
    return (TdlPose){model->point(rod, rod->element_count - 1, 1.0),
                     model->end_frame != NULL ? model->end_frame(rod) : tdl_identity33()};
}

double rod_mass(const Rod* rod) {
    return rod->at_rest.line_density * rod_length(rod);
}

double rod_load_energy(const Rod* rod) {
    double sum = 0.0;
    for (int i = 0; i < rod->load_count; ++i) {
        const RodLoad* load = &rod->loads[i];
        if (!load->given) {
            sum -= tdl_dot3(load->force, rod->model->point(rod, load->element, load->s));
        }
    }
    return sum;
}

void rod_shift(Rod* rod, TdlVec3 by) {
    rod->base.now.position = tdl_add3(rod->base.now.position, by);
    rod->base.before.position = tdl_add3(rod->base.before.position, by);
    if (rod->model->shift != NULL) {
        rod->model->shift(rod, by);
    }
    rod->model->refresh(rod);
}

void rod_stop(Rod* rod) {
    size_t size = (size_t)rod->dof_count * sizeof(double);
    memset(rod->v, 0, size);
    memcpy(rod->q_before, rod->q, size);
    rod->base.before = rod->base.now;
    rod->base.rate = (Twist){0};
    rod->held_state.stretch_before = rod->held_state.stretch;
    rod->model->refresh(rod);
}

// q, v, q_before and memory lie one after the other.
static size_t coordinate_count(const Rod* rod) {
    return (size_t)(rod->q_rest - rod->q);
}

size_t rod_state_size(const Rod* rod) {
    return coordinate_count(rod) * sizeof(double) + 2 * sizeof(RodBase) + sizeof(RodHeld);
}

void rod_save_state(const Rod* rod, void* bytes) {
    size_t size = coordinate_count(rod) * sizeof(double);
    memcpy(bytes, rod->q, size);
    memcpy((char*)bytes + size, &rod->base, sizeof(RodBase));
    memcpy((char*)bytes + size + sizeof(RodBase), &rod->end, sizeof(RodBase));
    memcpy((char*)bytes + size + 2 * sizeof(RodBase), &rod->held_state, sizeof(RodHeld));
}

void rod_load_state(Rod* rod, const void* bytes) {
    size_t size = coordinate_count(rod) * sizeof(double);
    memcpy(rod->q, bytes, size);
    memcpy(&rod->base, (const char*)bytes + size, sizeof(RodBase));
    memcpy(&rod->end, (const char*)bytes + size + sizeof(RodBase), sizeof(RodBase));
    memcpy(&rod->held_state, (const char*)bytes + size + 2 * sizeof(RodBase), sizeof(RodHeld));
    rod_set_stretch(rod);
    rod->model->refresh(rod);
}

uint64_t rod_state_hash(const Rod* rod, uint64_t hash) {
    hash = hash_bytes(hash, rod->q, coordinate_count(rod) * sizeof(double));
    hash = hash_bytes(hash, &rod->base, sizeof rod->base);
    if (rod->end_hold == TDL_HOLD_FREE) {
        return hash;
    }
    hash = hash_bytes(hash, &rod->end, sizeof rod->end);
    return rod->held == NULL ? hash : hash_bytes(hash, &rod->held_state, sizeof rod->held_state);
}

bool rod_state_finite(const Rod* rod) {
    enum { SUMS = 8 }; // that do not wait for each other
    double sum[SUMS] = {0}, all = 0.0;
    size_t i = 0, n = coordinate_count(rod);
    for (; i + SUMS <= n; i += SUMS) { // a NaN or an infinity survives multiplication by zero
        for (size_t k = 0; k < SUMS; ++k) {
            sum[k] += 0.0 * rod->q[i + k];
        }
    }
    for (; i < n; ++i) {
        all += 0.0 * rod->q[i];
    }
    for (size_t k = 0; k < SUMS; ++k) {
        all += sum[k];
    }
    return all == 0.0 && tdl_finite3(rod->base.now.position);
}
