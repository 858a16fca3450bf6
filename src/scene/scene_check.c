// What the tables cannot say about a scene: names are unique, references lead somewhere, times
// grow, lists fit, and the whole is not too large. Sums are bounded before anything is allocated
// for them.
#include "scene/scene.h"

#include "base/log.h"
#include "formats/expression.h"
#include "tendril/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double STEPS_MAX = 1.0e9;
static const int64_t ELEMENTS_MAX = 100000000;

// The most an element may turn, rad. The cost of a helix grows with its turns; a rod worth
// simulating makes a few in an element, not hundreds.
static const double TURN_MAX = 1000.0;

// Slack in comparing two times, for the rounding of their decimal texts.
static const double TIME_SLACK = 1.0e-12;

Mark scene_mark_of(const Node* map, const char* key) {
    const Node* node = node_find(map, key);
    return node == NULL ? map->mark : node->mark;
}

// --- names
// ----------------------------------------------------------------------------------------

typedef struct NameEntry {
    const char* name;
    Mark mark;
    int index;
} NameEntry;

// By name, then in the order written, so that the later of two is the one reported.
static int compare_names(const void* a, const void* b) {
    const NameEntry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

// The names of a list, sorted. `list` holds structs of `size` bytes that begin with their node.
static NameEntry* sort_names(TdlScene* scene, const GroupList* list, size_t size) {
    NameEntry* entries = ARENA_NEW(&scene->arena, NameEntry, list->count);
    for (int i = 0; entries != NULL && i < list->count; ++i) {
        const Node* node;
        memcpy(&node, (const char*)list->items + (size_t)i * size, sizeof node);
        const Node* name = node_find(node, "name");
        entries[i] = (NameEntry){name->text, name->mark, i};
    }
    if (entries != NULL) {
        qsort(entries, (size_t)list->count, sizeof *entries, compare_names);
    }
    return entries;
}

static TdlStatus check_names(TdlScene* scene, const GroupList* list, size_t size,
                             const NameEntry** out) {
    const NameEntry* entries = sort_names(scene, list, size);
    if (entries == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    const NameEntry* twin = NULL;
    for (int i = 1; i < list->count; ++i) {
        bool same = strcmp(entries[i - 1].name, entries[i].name) == 0;
        if (same && (twin == NULL || entries[i].index < twin->index)) {
            twin = &entries[i];
        }
    }
    if (twin != NULL) {
        return fail_at(&scene->host, twin->mark, "the name '%s' is already taken", twin->name);
    }
    *out = entries;
    return TDL_STATUS_OK;
}

static int compare_to_name(const void* name, const void* entry) {
    return strcmp(name, ((const NameEntry*)entry)->name);
}

const MaterialSpec* scene_find_material(const TdlScene* scene, const char* name) {
    const GroupList* list = &scene->spec.materials;
    const NameEntry* found = bsearch(name, scene->materials_by_name, (size_t)list->count,
                                     sizeof *found, compare_to_name);
    return found == NULL ? NULL : (const MaterialSpec*)list->items + found->index;
}

int scene_material_number(const TdlScene* scene, const char* name) {
    const MaterialSpec* first = scene->spec.materials.items;
    return name == NULL ? 0 : 1 + (int)(scene_find_material(scene, name) - first);
}

TdlStatus scene_check_material(const TdlScene* scene, const char* name, Mark mark) {
    if (name == NULL || scene_find_material(scene, name) != NULL) {
        return TDL_STATUS_OK;
    }
    const MaterialSpec* materials = scene->spec.materials.items;
    Nearest nearest = nearest_to(name);
    for (int i = 0; i < scene->spec.materials.count; ++i) {
        nearest_try(&nearest, materials[i].name, strlen(materials[i].name));
    }
    Hint hint = nearest_hint(&nearest);
    return fail_at(&scene->host, mark, "no material is named '%s'%s", name, hint.text);
}

static TdlStatus check_rod_material(const TdlScene* scene, const RodSpec* rod) {
    Mark mark = scene_mark_of(rod->node, "material");
    TdlStatus status = scene_check_material(scene, rod->material, mark);
    if (status == TDL_STATUS_OK && scene_find_material(scene, rod->material)->young == 0.0) {
        return fail_at(&scene->host, mark, "the material '%s' has no young, which a rod needs",
                       rod->material);
    }
    return status;
}

static TdlStatus check_materials(TdlScene* scene) {
    const MaterialSpec* materials = scene->spec.materials.items;
    if (scene->spec.materials.count >= TDL_MATERIAL_LIMIT) {
        return fail_at(&scene->host, materials[TDL_MATERIAL_LIMIT - 1].node->mark,
                       "more than %d materials", TDL_MATERIAL_LIMIT - 1);
    }
    return check_names(scene, &scene->spec.materials, sizeof(MaterialSpec),
                       &scene->materials_by_name);
}

// --- parts
// ----------------------------------------------------------------------------------------

TdlStatus scene_check_motion(TdlScene* scene, MotionSpec* motion) {
    if (motion->node == NULL) {
        return TDL_STATUS_OK;
    }
    bool given = motion->keyframes.count > 0, recorded = motion->recording.node != NULL;
    bool told =
        node_find(motion->node, "position") != NULL || node_find(motion->node, "rotation") != NULL;
    if (given + recorded + told != 1) {
        return fail_at(&scene->host, motion->node->mark,
                       given || recorded || told
                           ? "a motion has one of: keyframes, a recording, position and rotation"
                           : "the motion needs the key 'keyframes', 'recording' or 'position'");
    }
    if (recorded) {
        return scene_read_recording(scene, motion);
    }
    if (told) {
        const Formula* const part[2] = {motion->position, motion->rotation};
        return scene_time_formulas(scene, part, &motion->fn);
    }
    const KeyframeSpec* keys = motion->keyframes.items;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 1; i < motion->keyframes.count && status == TDL_STATUS_OK; ++i) {
        status = scene_check_growing(scene, keys[i].node, keys[i - 1].time, keys[i].time);
    }
    return status;
}

TdlStatus scene_check_axes(const TdlScene* scene, const Node* node, TdlVec3 d, TdlVec3 n) {
    const Node* normal = node_find(node, "normal");
    if (normal == NULL) {
        return TDL_STATUS_OK;
    }
    // scaled first: squares of tiny components would vanish
    d = tdl_scale3(1.0 / fmax(fmax(fabs(d.x), fabs(d.y)), fabs(d.z)), d);
    n = tdl_scale3(1.0 / fmax(fmax(fabs(n.x), fabs(n.y)), fabs(n.z)), n);
    double sine = tdl_norm3(tdl_cross3(d, n)) / (tdl_norm3(d) * tdl_norm3(n));
    if (!(sine > 1.0e-6)) {
        return fail_at(&scene->host, normal->mark, "normal must not lie along direction");
    }
    return TDL_STATUS_OK;
}

static TdlStatus check_clamp(TdlScene* scene, ClampSpec* clamp) {
    if (clamp->node == NULL) {
        return TDL_STATUS_OK;
    }
    TdlStatus status = scene_check_axes(scene, clamp->node, clamp->direction, clamp->normal);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return scene_check_motion(scene, &clamp->motion);
}

static TdlStatus check_list(const TdlScene* scene, const RodSpec* rod, const VecList* list,
                            const char* key) {
    char model[TDL_SCENE_MODEL_SIZE];
    TdlRodDef def = scene_make_rod(scene, rod, model);
    int joints = tdl_rod_def_curvature_count(&def);
    if (list->each && list->count != rod->elements && list->count != joints) {
        return fail_at(&scene->host, scene_mark_of(rod->node, key),
                       "%s has %d vectors for %d elements; give one each%s, or one for all", key,
                       list->count, rod->elements,
                       joints > rod->elements ? ", one for each of their joints and ends" : "");
    }
    for (int i = 0; i < list->count; ++i) {
        double turn = tdl_norm3(list->items[i]) * rod->length / rod->elements;
        if (!(turn <= TURN_MAX)) {
            const Node* node = node_find(rod->node, key);
            return fail_at(&scene->host, list->each ? node_item(node, i)->mark : node->mark,
                           "an element of %g m would turn by %.3g rad, at most %g: take a smaller "
                           "curvature or more elements",
                           rod->length / rod->elements, turn, TURN_MAX);
        }
    }
    return TDL_STATUS_OK;
}

TdlStatus scene_check_repeat(const TdlScene* scene, const RepeatSpec* repeat) {
    static const char* const AXES[] = {"x", "y", "z"};
    for (int axis = 0; axis < 3; ++axis) {
        double spacing = (&repeat->spacing.x)[axis], jitter = (&repeat->jitter.x)[axis];
        if (repeat->count[axis] > 1 && spacing == 0.0 && jitter == 0.0) {
            return fail_at(&scene->host, repeat->node->mark,
                           "copies along %s would lie in one place: give a spacing or a jitter",
                           AXES[axis]);
        }
    }
    return TDL_STATUS_OK;
}

// Number of an earlier rod with that name, or -1.
static int find_earlier(const TdlScene* scene, const RodSpec* rod, const char* name) {
    const RodSpec* rods = scene->spec.rods.items;
    for (int i = 0; &rods[i] != rod; ++i) {
        if (strcmp(rods[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

// A branch: its parent is there already, and the two fit.
static TdlStatus check_parent(const TdlScene* scene, const RodSpec* rod) {
    if (rod->parent == NULL) {
        return TDL_STATUS_OK;
    }
    Mark mark = scene_mark_of(rod->node, "parent");
    int index = find_earlier(scene, rod, rod->parent);
    if (index < 0) {
        return fail_at(&scene->host, mark, "no earlier rod is named '%s'", rod->parent);
    }
    const RodSpec* parent = (const RodSpec*)scene->spec.rods.items + index;
    int copies = scene_copy_count(parent), branches = scene_copy_count(rod);
    if (copies != 1 && copies != branches) {
        return fail_at(&scene->host, mark, "%d branches on %d copies of '%s'", branches, copies,
                       rod->parent);
    }
    if (rod->model != 0 || parent->model != 0) {
        return fail_at(&scene->host, mark, "only rods of the model super-helix make trees");
    }
    if (rod->start != TDL_HOLD_CLAMPED || rod->end != TDL_HOLD_FREE ||
        parent->end != TDL_HOLD_FREE || scene_moves(&rod->clamp.motion)) {
        return fail_at(&scene->host, mark,
                       "a branch is clamped on its parent and moves with it, and no end of a tree "
                       "is held");
    }
    return TDL_STATUS_OK;
}

// Both ends of a rod can be where they are held. Rods of a file of curves are asked when the world
// is built.
static TdlStatus check_reach(TdlScene* scene, const RodSpec* rod) {
    if (rod->start == TDL_HOLD_FREE || rod->end == TDL_HOLD_FREE || rod->curves.node != NULL) {
        return TDL_STATUS_OK;
    }
    char model[TDL_SCENE_MODEL_SIZE];
    TdlRodDef def = scene_make_rod(scene, rod, model);
    TdlRodReach reach;
    TdlStatus status = scene_make_motion(&scene->arena, &rod->clamp.motion, &def.motion);
    if (status == TDL_STATUS_OK) {
        status = scene_make_motion(&scene->arena, &rod->end_motion, &def.end_motion);
    }
    if (status == TDL_STATUS_OK) {
        status = tdl_rod_def_reach(&scene->host, &def, 0.0, &reach);
    }
    if (status != TDL_STATUS_OK || reach.ok) {
        return status;
    }
    const char* key = rod->end_motion.node != NULL ? "end_motion" : "end";
    return fail_at(&scene->host, scene_mark_of(rod->node, key),
                   "the rod '%s' cannot be held so: %s", rod->name, reach.text);
}

// Of all copies.
static int64_t count_elements(const RodSpec* rod, int64_t copies) {
    if (!scene_has_strands(rod)) {
        return copies * rod->elements;
    }
    int64_t sum = 0;
    for (int i = 0; i < copies; ++i) {
        sum += rod->curves.strands.element_count[i];
    }
    return sum;
}

// Adds a rod's copies to the sums. Each count is at most 1e6, so their product fits 64 bits.
static TdlStatus add_rod(TdlScene* scene, const RodSpec* rod) {
    const int* n = rod->repeat.count;
    int64_t copies = rod->curves.node != NULL ? rod->curves.set.count : (int64_t)n[0] * n[1] * n[2];
    // too many copies for their elements to be counted
    int64_t elements = copies <= ELEMENTS_MAX ? count_elements(rod, copies) : 0;
    bool fits = copies <= ELEMENTS_MAX && elements <= ELEMENTS_MAX - (int64_t)scene->element_count;
    if (!fits) {
        const Node* at = rod->repeat.node == NULL ? rod->node : rod->repeat.node;
        return fail_at(&scene->host, scene_mark_of(at, "count"),
                       "%lld copies of '%s' with %d elements bring the scene above %lld elements",
                       (long long)copies, rod->name, rod->elements, (long long)ELEMENTS_MAX);
    }
    scene->rod_count += (int)copies;
    scene->element_count += (int)elements;
    // what only the model knows: whether it can do this, and its number of coordinates
    char model[TDL_SCENE_MODEL_SIZE];
    TdlRodDef def = scene_make_rod(scene, rod, model);
    const char* fault = tdl_rod_def_fault(&def);
    if (fault != NULL) {
        return fail_at(&scene->host, scene_mark_of(rod->node, "model"), "%s", fault);
    }
    for (int i = 0; i < copies && scene_has_strands(rod); ++i) {
        def.element_count = rod->curves.strands.element_count[i];
        scene->dof_count += tdl_rod_def_dof_count(&def);
    }
    if (!scene_has_strands(rod)) {
        scene->dof_count += (int)copies * tdl_rod_def_dof_count(&def);
    }
    return check_reach(scene, rod);
}

// The rows of its sections next to each other, as a definition has them.
static TdlStatus make_sections(TdlScene* scene, RodSpec* rod) {
    const SectionSpec* from = rod->sections.items;
    int count = rod->sections.count;
    if (count == 0) {
        return TDL_STATUS_OK;
    }
    TdlRodSection* rows = ARENA_NEW(&scene->arena, TdlRodSection, count);
    if (rows == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < count; ++i) {
        rows[i] = from[i].section;
    }
    rod->section = rows;
    char model[TDL_SCENE_MODEL_SIZE];
    TdlRodDef def = scene_make_rod(scene, rod, model);
    for (def.section_count = 1; def.section_count <= count; ++def.section_count) {
        const char* fault = tdl_rod_sections_fault(&def);
        if (fault != NULL) {
            return fail_at(&scene->host, from[def.section_count - 1].node->mark, "%s", fault);
        }
    }
    return TDL_STATUS_OK;
}

// What a rod is like, read from its file of curves if it has one.
static TdlStatus check_rod_form(TdlScene* scene, RodSpec* rod) {
    TdlStatus status = check_rod_material(scene, rod);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (rod->rope.node != NULL) {
        status = scene_lay_rope(scene, rod);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    } else if (rod->curves.node == NULL && node_find(rod->node, "length") == NULL) {
        return fail_at(&scene->host, rod->node->mark, "the rod needs the key 'length'");
    }
    bool file = rod->curves.node != NULL && rod->rope.node == NULL;
    status = file ? scene_read_curves(scene, rod) : TDL_STATUS_OK;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = make_sections(scene, rod);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_list(scene, rod, &rod->natural_curvature, "natural_curvature");
    if (status != TDL_STATUS_OK || rod->pieces.count > 0) {
        return status == TDL_STATUS_OK ? scene_lay_pieces(scene, rod) : status;
    }
    return check_list(scene, rod, &rod->curvature, "curvature");
}

// How it is held, loaded and repeated.
static TdlStatus check_rod_ends(TdlScene* scene, RodSpec* rod) {
    TdlStatus status = check_clamp(scene, &rod->clamp);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_check_motion(scene, &rod->end_motion);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_check_loads(scene, &rod->loads, rod->length);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_check_drive(scene, rod);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = scene_check_inverse(scene, rod);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    bool repeats = rod->repeat.node != NULL && rod->parent == NULL;
    return repeats ? scene_check_repeat(scene, &rod->repeat) : TDL_STATUS_OK;
}

static TdlStatus check_rod(TdlScene* scene, RodSpec* rod) {
    TdlStatus status = check_rod_form(scene, rod);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_rod_ends(scene, rod);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = add_rod(scene, rod);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return check_parent(scene, rod);
}

static bool has_key(const char* const* keys, const char* key) {
    while (*keys != NULL && strcmp(*keys, key) != 0) {
        ++keys;
    }
    return *keys != NULL;
}

TdlStatus scene_check_keys(const TdlScene* scene, const Node* map, const ShapeKeys* shape,
                           const char* const* of_shapes) {
    for (const char* const* key = of_shapes; *key != NULL; ++key) {
        const Node* node = node_find(map, *key);
        bool needed = has_key(shape->needs, *key);
        if (node == NULL && needed) {
            return fail_at(&scene->host, map->mark, "the %s needs the key '%s'", shape->name, *key);
        }
        if (node != NULL && !needed && !has_key(shape->takes, *key)) {
            const char* article = strchr("aeiou", *shape->name) != NULL ? "an" : "a";
            return fail_at(&scene->host, node->key_mark, "%s %s has no %s", article, shape->name,
                           *key);
        }
    }
    return TDL_STATUS_OK;
}

static const char* const COLLIDER_KEYS[] = {"normal",     "direction", "radius",       "length",
                                            "teeth",      "pitch",     "pieces",       "mesh",
                                            "expression", "box",       "inner_radius", NULL};
static const ShapeKeys COLLIDER_SHAPES[] = {
    [TDL_SHAPE_PLANE] = {"plane", {0}, {"normal"}},
    [TDL_SHAPE_SPHERE] = {"sphere", {"radius"}, {0}},
    [TDL_SHAPE_CYLINDER] = {"cylinder", {"radius"}, {"direction"}},
    [TDL_SHAPE_CAPSULE] = {"capsule", {"radius", "length"}, {"direction"}},
    [TDL_SHAPE_PLATE] = {"plate", {"radius", "length"}, {"normal"}},
    [TDL_SHAPE_COMB] = {"comb", {"radius", "length", "teeth", "pitch"}, {"normal", "direction"}},
    [TDL_SHAPE_CURVES] = {"chain of curves",
                          {"radius", "pieces"},
                          {"normal", "direction", "inner_radius"}},
    [TDL_SHAPE_MESH] = {"mesh", {"mesh"}, {"normal", "direction", "radius"}},
    [TDL_SHAPE_IMPLICIT] = {"implicit surface", {"expression", "box"}, {"normal", "direction"}},
};

// Reads the expression; its data goes to the arena.
static TdlStatus check_implicit(TdlScene* scene, ColliderSpec* collider) {
    const TdlHost* host = &scene->host;
    ExpressionFault fault = {0};
    TdlImplicit parsed = {0};
    TdlVec3 side = tdl_sub3(collider->box.to, collider->box.from);
    if (!(side.x > 0.0 && side.y > 0.0 && side.z > 0.0)) {
        return fail_at(host, scene_mark_of(collider->box.node, "to"),
                       "the box must have a size: every number of `to` above that of `from`");
    }
    const char* what = expression_parse(host, collider->expression, &parsed, &fault);
    if (what != NULL && fault.what[0] == '\0') {
        return TDL_STATUS_NO_MEMORY;
    }
    if (what != NULL) {
        return fail_at(host, scene_mark_of(collider->node, "expression"),
                       "expression, at character %d: %s", fault.place + 1, what);
    }
    void* data = arena_alloc(&scene->arena, 1, parsed.size);
    if (data != NULL) {
        memcpy(data, parsed.data, parsed.size);
    }
    collider->implicit = (TdlImplicit){.at = parsed.at,
                                       .over = parsed.over,
                                       .data = data,
                                       .size = parsed.size,
                                       .low = collider->box.from,
                                       .high = collider->box.to,
                                       .finest = collider->box.finest};
    tdl_implicit_free(host, &parsed);
    if (data == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    what = tdl_implicit_fault(host, &collider->implicit);
    return what == NULL ? TDL_STATUS_OK
                        : fail_at(host, scene_mark_of(collider->node, "expression"), "%s", what);
}

static TdlStatus check_collider_shape(TdlScene* scene, ColliderSpec* collider) {
    int shape = collider->shape;
    TdlStatus status =
        scene_check_keys(scene, collider->node, &COLLIDER_SHAPES[shape], COLLIDER_KEYS);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if ((shape == TDL_SHAPE_PLATE || shape == TDL_SHAPE_COMB) && collider->length == 0.0) {
        return fail_at(&scene->host, scene_mark_of(collider->node, "length"),
                       "length of a %s must be above 0", COLLIDER_SHAPES[shape].name);
    }
    if (shape > TDL_SHAPE_PLATE) {
        status = scene_check_axes(scene, collider->node, collider->direction, collider->normal);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    status = scene_check_pieces(scene, &collider->pieces);
    if (status == TDL_STATUS_OK) {
        status = scene_check_tube(scene, collider);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (shape == TDL_SHAPE_IMPLICIT) {
        return check_implicit(scene, collider);
    }
    return shape == TDL_SHAPE_MESH ? scene_read_mesh(scene, &collider->mesh) : TDL_STATUS_OK;
}

static TdlStatus check_collider(TdlScene* scene, ColliderSpec* collider) {
    TdlStatus status = check_collider_shape(scene, collider);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status =
        scene_check_material(scene, collider->material, scene_mark_of(collider->node, "material"));
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return scene_check_motion(scene, &collider->motion);
}

static bool same_pair(const PairSpec* a, const PairSpec* b) {
    int crossed = strcmp(a->between[0], b->between[0]) != 0;
    return strcmp(a->between[0], b->between[crossed]) == 0 &&
           strcmp(a->between[1], b->between[!crossed]) == 0;
}

static TdlStatus check_pairs(TdlScene* scene) {
    const PairSpec* pairs = scene->spec.contacts.pairs.items;
    for (int i = 0; i < scene->spec.contacts.pairs.count; ++i) {
        const Node* names = node_find(pairs[i].node, "between");
        for (int k = 0; k < 2; ++k) {
            TdlStatus status =
                scene_check_material(scene, pairs[i].between[k], node_item(names, k)->mark);
            if (status != TDL_STATUS_OK) {
                return status;
            }
        }
        for (int j = 0; j < i; ++j) {
            if (same_pair(&pairs[i], &pairs[j])) {
                return fail_at(&scene->host, names->mark,
                               "the pair of '%s' and '%s' is given twice", pairs[i].between[0],
                               pairs[i].between[1]);
            }
        }
    }
    return TDL_STATUS_OK;
}

static TdlStatus check_times(TdlScene* scene) {
    TimeSpec* time = &scene->spec.time;
    OutputSpec* output = &scene->spec.output;
    if (time->step == 0.0 && time->error == 0.0) {
        return fail_at(&scene->host, scene_mark_of(time->node, "step"),
                       "a step that is chosen needs the key 'error'");
    }
    time->step = time->step == 0.0 ? output->frame : time->step;
    if (time->end / time->step > STEPS_MAX) {
        return fail_at(&scene->host, scene_mark_of(time->node, "step"),
                       "%.3g s in steps of %.3g s are more than %.0e steps", time->end, time->step,
                       STEPS_MAX);
    }
    const Node* frame = output->node == NULL ? NULL : node_find(output->node, "frame");
    if (output->frame < time->step * (1.0 - TIME_SLACK)) {
        if (frame != NULL) {
            return fail_at(&scene->host, frame->mark, "frame must be at least a step, %g s",
                           time->step);
        }
        output->frame = time->step;
    }
    return TDL_STATUS_OK;
}

static TdlStatus check_all_names(TdlScene* scene) {
    const SceneSpec* spec = &scene->spec;
    const NameEntry* names;
    TdlStatus status = check_materials(scene);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_names(scene, &spec->rods, sizeof(RodSpec), &names);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_names(scene, &spec->bodies, sizeof(BodySpec), &names);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_names(scene, &spec->cloths, sizeof(ClothSpec), &names);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_names(scene, &spec->shells, sizeof(ShellSpec), &names);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return check_names(scene, &spec->colliders, sizeof(ColliderSpec), &names);
}

static TdlStatus check_rods(TdlScene* scene) {
    RodSpec* rods = scene->spec.rods.items;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; status == TDL_STATUS_OK && i < scene->spec.rods.count; ++i) {
        status = check_rod(scene, &rods[i]);
    }
    return status;
}

static TdlStatus check_bodies(TdlScene* scene) {
    BodySpec* bodies = scene->spec.bodies.items;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; status == TDL_STATUS_OK && i < scene->spec.bodies.count; ++i) {
        status = scene_check_body(scene, &bodies[i]);
    }
    return status;
}

static TdlStatus check_cloths(TdlScene* scene) {
    ClothSpec* cloths = scene->spec.cloths.items;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; status == TDL_STATUS_OK && i < scene->spec.cloths.count; ++i) {
        status = scene_check_cloth(scene, &cloths[i]);
    }
    return status;
}

static TdlStatus check_colliders(TdlScene* scene) {
    ColliderSpec* colliders = scene->spec.colliders.items;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; status == TDL_STATUS_OK && i < scene->spec.colliders.count; ++i) {
        status = check_collider(scene, &colliders[i]);
    }
    return status;
}

// What the barrier does not heed is not to be asked of it, nor what is its own of another response.
static TdlStatus check_response(TdlScene* scene) {
    const ContactsSpec* contacts = &scene->spec.contacts;
    const PairSpec* pairs = contacts->pairs.items;
    bool barrier = contacts->response == TDL_RESPONSE_BARRIER;
    if (!barrier && contacts->barrier.node != NULL) {
        return fail_at(&scene->host, contacts->barrier.node->mark,
                       "'barrier' goes with 'response: barrier'");
    }
    if (barrier && contacts->restitution > 0.0) {
        return fail_at(&scene->host, scene_mark_of(contacts->node, "restitution"),
                       "the barrier has no restitution");
    }
    for (int i = 0; i < contacts->pairs.count && barrier; ++i) {
        if (pairs[i].restitution > 0.0) {
            return fail_at(&scene->host, scene_mark_of(pairs[i].node, "restitution"),
                           "the barrier has no restitution");
        }
    }
    for (int i = 0; i < 2 && barrier; ++i) {
        static const char* const OF_SOLVER[] = {"solver", "max_iterations"};
        const Node* given = contacts->node == NULL ? NULL : node_find(contacts->node, OF_SOLVER[i]);
        if (given != NULL) {
            return fail_at(&scene->host, given->mark, "'%s' goes with 'response: exact'",
                           OF_SOLVER[i]);
        }
    }
    return TDL_STATUS_OK;
}

// Ways to rest that nothing rests by.
static TdlStatus check_inverse(TdlScene* scene) {
    const InverseSpec* inverse = &scene->spec.inverse;
    if (inverse->node == NULL) {
        return TDL_STATUS_OK;
    }
    if (!scene_has_inverse(scene)) {
        return fail_at(&scene->host, inverse->node->mark,
                       "'inverse' goes with rods whose curves have 'rest: inverse'");
    }
    if (inverse->contacts && scene->spec.contacts.detection == DETECTION_OFF) {
        return fail_at(&scene->host, scene_mark_of(inverse->node, "contacts"),
                       "nothing touches: 'contacts.detection' is off");
    }
    return TDL_STATUS_OK;
}

// S3's law is solved by its own solvers alone.
static TdlStatus check_s3(TdlScene* scene) {
    const ContactsSpec* contacts = &scene->spec.contacts;
    bool s3 = contacts->response == TDL_RESPONSE_S3;
    const Node* solver = s3 ? node_find(contacts->node, "solver") : NULL;
    if (solver != NULL && contacts->solver != TDL_FRICTION_ACTIVE_SET &&
        contacts->solver != TDL_FRICTION_NORMAL_INTERIOR) {
        return fail_at(&scene->host, solver->mark,
                       "'response: s3' has the solver active-set or normal-interior");
    }
    return TDL_STATUS_OK;
}

TdlStatus scene_check(TdlScene* scene) {
    const SceneSpec* spec = &scene->spec;
    if (spec->rods.count + spec->bodies.count + spec->cloths.count + spec->shells.count == 0 &&
        spec->grains.node == NULL) {
        return fail_at(&scene->host, spec->node->mark,
                       "the scene needs the key 'rods', 'bodies', 'cloths', 'shells' or 'grains'");
    }
    // in this order: each may rely on those before
    static TdlStatus (*const CHECKS[])(TdlScene*) = {
        check_times,        check_all_names,    check_rods,           check_bodies,
        check_cloths,       check_colliders,    scene_check_attached, check_pairs,
        check_response,     check_s3,           check_inverse,        scene_check_grains,
        scene_check_shells, scene_check_joints, scene_check_observers};
    TdlStatus status = TDL_STATUS_OK;
    for (size_t i = 0; status == TDL_STATUS_OK && i < sizeof CHECKS / sizeof *CHECKS; ++i) {
        status = CHECKS[i](scene);
    }
    return status;
}
