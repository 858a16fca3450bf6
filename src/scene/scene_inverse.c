// Rods that are to rest in the shapes they are given: what of a scene may ask for it, how its world
// gets their natural curvatures, and the scene with these instead of the shapes.
#include "scene/scene.h"

#include "base/log.h"
#include "base/memory.h"
#include "scene/words.h"
#include "tendril/formats.h"
#include "tendril/inverse.h"

#include <string.h>

// --- checks -----------------------------------------------------------------------------------

static bool rests(const RodSpec* rod) {
    return rod->curves.node != NULL && rod->curves.rest == REST_INVERSE;
}

// Whether a load of it has no potential.
static bool is_driven(const RodSpec* rod) {
    const LoadSpec* loads = rod->loads.items;
    bool found = false;
    for (int i = 0; i < rod->loads.count && !found; ++i) {
        const Formula* t = loads[i].torque;
        found = loads[i].varies || t[0].value != 0.0 || t[1].value != 0.0 || t[2].value != 0.0;
    }
    return found;
}

static bool model_is(const RodSpec* rod, const char* name) {
    return rod->model == choice_index(tdl_rod_models(), name);
}

TdlStatus scene_check_inverse(const TdlScene* scene, const RodSpec* rod) {
    if (!rests(rod)) {
        return TDL_STATUS_OK;
    }
    bool known = model_is(rod, "super-helix") || model_is(rod, "super-helix-dense") ||
                 model_is(rod, "super-clothoid") || model_is(rod, "der");
    const char* fault =
        !known ? "is told of a super-helix, a super-clothoid and a der only"
        : rod->start != TDL_HOLD_CLAMPED || rod->end != TDL_HOLD_FREE
            ? "is told of rods that are clamped at their start and free at their end"
        : is_driven(rod) ? "has no answer under a torque, or a load that varies, without potential"
        : node_find(rod->node, "natural_curvature") != NULL
            ? "tells the natural curvature: it cannot be given too"
            : NULL;
    return fault == NULL ? TDL_STATUS_OK
                         : fail_at(&scene->host, node_find(rod->curves.node, "rest")->mark,
                                   "'rest: inverse' %s", fault);
}

// --- asking ------------------------------------------------------------------------------------

bool scene_has_inverse(const TdlScene* scene) {
    const RodSpec* rods = scene->spec.rods.items;
    bool found = false;
    for (int i = 0; i < scene->spec.rods.count && !found; ++i) {
        found = rests(&rods[i]);
    }
    return found;
}

// Whether the rods of an entry are to rest: all are where no entry says so.
static bool is_wanted(const TdlScene* scene, const RodSpec* rod) {
    return rests(rod) || !scene_has_inverse(scene);
}

int tdl_scene_rest_rods(const TdlScene* scene, const TdlWorld* world, int capacity,
                        TdlBodyId* out) {
    const RodSpec* rods = scene->spec.rods.items;
    int count = 0, first = 0;
    for (int i = 0; i < scene->spec.rods.count; ++i) {
        int copies = scene_copy_count(&rods[i]);
        for (int k = 0; k < copies && is_wanted(scene, &rods[i]); ++k, ++count) {
            if (count < capacity) {
                out[count] = tdl_world_body(world, "rod", first + k);
            }
        }
        first += copies;
    }
    return count;
}

TdlInverseOptions tdl_scene_inverse(const TdlScene* scene) {
    const InverseSpec* spec = &scene->spec.inverse;
    const RodSpec* rods = scene->spec.rods.items;
    TdlInverseOptions options = tdl_inverse_options_default();
    options.contacts = spec->contacts;
    options.mu_share = spec->friction_share;
    options.guess = spec->guess;
    options.stiffen = spec->stiffen;
    double captured = INFINITY;
    for (int i = 0; i < scene->spec.rods.count; ++i) {
        if (rods[i].curves.node != NULL && !scene_has_strands(&rods[i])) {
            captured =
                fmin(captured, TDL_CAPTURED_REACH * fmin(rods[i].radius[0], rods[i].radius[1]));
        }
    }
    options.reach = spec->reach > 0.0 ? spec->reach : isfinite(captured) ? captured : options.reach;
    return options;
}

// --- a world whose rods rest ---------------------------------------------------------------------

// The softest is named.
static void tell_unstable(const TdlScene* scene, const TdlWorld* world,
                          const TdlInverseReport* report) {
    char name[TDL_BODY_NAME_SIZE] = "";
    double most = 0.0;
    int count = 0;
    for (int i = 0; i < report->strand_count; ++i) {
        const TdlInverseStrand* x = &report->strands[i];
        count += !x->stable;
        if (!x->stable && x->least_factor >= most) {
            most = x->least_factor;
            tdl_body_name(world, x->rod, name);
        }
    }
    if (count > 0) {
        tdl_log(&scene->host, TDL_LOG_WARNING,
                "%d of %d rods would not stay in their shapes at the first touch: %s would from "
                "%.3g times its stiffness on ('inverse: {stiffen: true}')",
                count, report->strand_count, name, most);
    } else if (!report->stable && report->sliding_count + report->free_count > 0) {
        tdl_log(&scene->host, TDL_LOG_WARNING,
                "nothing is promised of the rods' rest: %d contacts slide, and %d carry on bodies "
                "that are free to move",
                report->sliding_count, report->free_count);
    } else if (!report->stable) {
        tdl_log(&scene->host, TDL_LOG_WARNING,
                "the rods would not stay in their shapes at the first touch, each by itself would "
                "('inverse: {stiffen: true}')");
    }
}

TdlStatus scene_make_rest(const TdlScene* scene, TdlWorld* world) {
    if (!scene_has_inverse(scene)) {
        return TDL_STATUS_OK;
    }
    const TdlHost* host = &scene->host;
    int count = tdl_scene_rest_rods(scene, world, 0, NULL);
    TdlBodyId* rods = tdl_alloc_array(&host->mem, (size_t)count + 1, sizeof *rods);
    if (rods == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    tdl_scene_rest_rods(scene, world, count, rods);
    TdlInverseOptions options = tdl_scene_inverse(scene);
    options.rods = rods;
    options.rod_count = count;
    TdlInverseReport report = {0};
    TdlStatus status = tdl_world_inverse(world, &options, &report);
    if (status == TDL_STATUS_OK) {
        tell_unstable(scene, world, &report);
        tdl_inverse_report_free(world, &report);
    }
    tdl_free(&host->mem, rods);
    return status == TDL_STATUS_BAD_ARGUMENT ? TDL_STATUS_BAD_INPUT : status;
}

// --- the scene with what was found --------------------------------------------------------------

enum { PATH_ROOM = 4096 };

// Where the strands of an entry go, beside the scene; its name in the folder is told in `file`.
static bool name_strands(const RodSpec* rod, const char* scene_path, int entries,
                         char path[PATH_ROOM], const char** file) {
    size_t length = strlen(scene_path);
    const char* slash = strrchr(scene_path, '/');
    const char* dot = strrchr(slash == NULL ? scene_path : slash, '.');
    int stem = (int)(dot == NULL ? length : (size_t)(dot - scene_path));
    int used = snprintf(path, PATH_ROOM, "%.*s%s%s.h5", stem, scene_path, entries > 1 ? "-" : "",
                        entries > 1 ? rod->name : "");
    *file = path + (slash == NULL ? 0 : slash - scene_path + 1);
    return used < PATH_ROOM;
}

static bool is_one_of(const char* const* words, const char* word) {
    while (*words != NULL && strcmp(*words, word) != 0) {
        ++words;
    }
    return *words != NULL;
}

// A map with the same children, which it shares, but for those named; null: no memory.
static Node* copy_without(NodePool* pool, const Node* map, const char* const* keys) {
    Node* copy = node_new(pool, map->kind, map->mark);
    if (copy == NULL) {
        return NULL;
    }
    copy->key = map->key;
    for (const Node* child = map->first; child != NULL; child = child->next) {
        if (child->key != NULL && is_one_of(keys, child->key)) {
            continue;
        }
        Node* twin = node_new(pool, child->kind, child->mark);
        if (twin == NULL) {
            return NULL;
        }
        *twin = *child;
        twin->next = NULL;
        node_append(copy, twin);
    }
    return copy;
}

static Node* new_text(NodePool* pool, Mark mark, const char* key, const char* text) {
    Node* node = node_new(pool, NODE_TEXT, mark);
    if (node != NULL) {
        node->key = key;
        node->quoted = true;
        node->text = node_copy_text(pool, text, strlen(text));
    }
    return node != NULL && node->text != NULL ? node : NULL;
}

// The entry with its file of strands in place of what that tells.
static Node* make_entry(NodePool* pool, const Node* entry, const char* file) {
    static const char* const TOLD[] = {"length", "elements", "curvature", "natural_curvature",
                                       "repeat", "curves",   "clamp",     NULL};
    static const char* const OF_CLAMP[] = {"position", "direction", "normal", NULL};
    Node* copy = copy_without(pool, entry, TOLD);
    Node* curves = node_new(pool, NODE_MAP, entry->mark);
    Node* name = new_text(pool, entry->mark, "file", file);
    const Node* held = node_find(entry, "clamp");
    Node* clamp = held == NULL ? NULL : copy_without(pool, held, OF_CLAMP);
    if (copy == NULL || curves == NULL || name == NULL || (held != NULL && clamp == NULL)) {
        return NULL;
    }
    if (clamp != NULL && clamp->count > 0) {
        node_append(copy, clamp);
    }
    curves->key = "curves";
    node_append(curves, name);
    node_append(copy, curves);
    return copy;
}

static TdlStatus write_strands(const TdlScene* scene, const TdlWorld* world, int first, int count,
                               const char* path) {
    const TdlHost* host = &scene->host;
    TdlBodyId* rods = tdl_alloc_array(&host->mem, (size_t)count + 1, sizeof *rods);
    if (rods == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < count; ++i) {
        rods[i] = tdl_world_body(world, "rod", first + i);
    }
    TdlStrands strands;
    TdlStatus status = tdl_strands_from_world(host, world, rods, count, &strands);
    if (status == TDL_STATUS_OK) {
        status = tdl_strands_write(host, path, &strands);
        tdl_strands_free(host, &strands);
    }
    tdl_free(&host->mem, rods);
    return status;
}

// Replaces an entry in the list by one with a file of strands, which is written.
static TdlStatus write_entry(const TdlScene* scene, const TdlWorld* world, const RodSpec* rod,
                             int first, int entries, const char* scene_path, Node* list) {
    NodePool* pool = (NodePool*)(uintptr_t)&scene->pool;
    char path[PATH_ROOM];
    const char* file = NULL;
    if (!name_strands(rod, scene_path, entries, path, &file)) {
        return tdl_fail(&scene->host, TDL_STATUS_BAD_ARGUMENT, "the path is too long");
    }
    Node* entry = make_entry(pool, rod->node, file);
    if (entry == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    node_append(list, entry);
    return write_strands(scene, world, first, scene_copy_count(rod), path);
}

static TdlStatus write_entries(const TdlScene* scene, const TdlWorld* world, const char* path,
                               Node* list) {
    static const char* const NONE[] = {NULL};
    NodePool* pool = (NodePool*)(uintptr_t)&scene->pool;
    const RodSpec* rods = scene->spec.rods.items;
    int count = scene->spec.rods.count, entries = 0, first = 0;
    for (int i = 0; i < count; ++i) {
        entries += is_wanted(scene, &rods[i]);
    }
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < count && status == TDL_STATUS_OK; ++i) {
        if (is_wanted(scene, &rods[i])) {
            status = write_entry(scene, world, &rods[i], first, entries, path, list);
        } else {
            Node* copy = copy_without(pool, rods[i].node, NONE);
            status = copy == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
            if (copy != NULL) {
                node_append(list, copy);
            }
        }
        first += scene_copy_count(&rods[i]);
    }
    return status;
}

TdlStatus tdl_scene_write_at_rest(const TdlScene* scene, const TdlWorld* world, const char* path) {
    static const char* const TOLD[] = {"inverse", "rods", NULL};
    NodePool* pool = (NodePool*)(uintptr_t)&scene->pool;
    Node* root = copy_without(pool, scene->root, TOLD);
    Node* list = node_new(pool, NODE_LIST, scene->root->mark);
    if (root == NULL || list == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    list->key = "rods";
    TdlStatus status = write_entries(scene, world, path, list);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    node_append(root, list);
    return yaml_write(&scene->host, root, path);
}
