// What drives a rod from inside, in scenes: keys of its natural shape, and tendons.
#include "scene/scene.h"

static const double PI = 3.14159265358979323846;

// A list for all elements, or joints, of one that may be for all or for the other. (C.3)
static TdlVec3* spread(TdlScene* scene, const RodSpec* rod, const VecList* list, int count) {
    TdlVec3* out = ARENA_NEW(&scene->arena, TdlVec3, count);
    int n = rod->elements;
    for (int i = 0; i < count && out != NULL; ++i) {
        if (!list->each) {
            out[i] = list->items[0];
        } else if (list->count == count) {
            out[i] = list->items[i];
        } else {
            TdlVec3 a = list->items[i > 0 ? i - 1 : 0], b = list->items[i < n ? i : n - 1];
            out[i] = tdl_scale3(0.5, tdl_add3(a, b));
        }
    }
    return out;
}

static TdlStatus make_natural(TdlScene* scene, RodSpec* rod) {
    const GroupList* list = &rod->natural_motion.keyframes;
    const NaturalKeySpec* from = list->items;
    if (rod->natural_motion.node == NULL) {
        return TDL_STATUS_OK;
    }
    const Node* other = node_find(rod->node, "natural_curvature");
    if (other != NULL || rod->rope.node != NULL || rod->curves.node != NULL) {
        return fail_at(&scene->host, rod->natural_motion.node->mark,
                       "a natural_motion is for a rod without natural_curvature, curves and rope");
    }
    TdlNaturalKey* keys = ARENA_NEW(&scene->arena, TdlNaturalKey, list->count);
    if (keys == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    char model[TDL_SCENE_MODEL_SIZE];
    TdlRodDef def = scene_make_rod(scene, rod, model);
    int count = tdl_rod_def_curvature_count(&def);
    for (int k = 0; k < list->count; ++k) {
        const VecList* own = &from[k].curvature;
        if (own->each && own->count != rod->elements && own->count != count) {
            return fail_at(&scene->host, scene_mark_of(from[k].node, "curvature"),
                           "curvature has %d vectors for %d elements", own->count, rod->elements);
        }
        keys[k] =
            (TdlNaturalKey){.time = from[k].time, .curvature_of = spread(scene, rod, own, count)};
        if (keys[k].curvature_of == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    rod->natural_key = keys;
    def = scene_make_rod(scene, rod, model);
    const char* fault = tdl_rod_def_fault(&def);
    return fault == NULL ? TDL_STATUS_OK
                         : fail_at(&scene->host, rod->natural_motion.node->mark, "%s", fault);
}

// Guides in a row, winding about the rod where that is asked for.
static TdlStatus make_guides(TdlScene* scene, const RodSpec* rod, const TendonSpec* spec,
                             TdlTendonDef* out) {
    int count = spec->guides > 0 ? spec->guides : rod->elements + 1;
    double to = spec->to > 0.0 ? spec->to : rod->length;
    TdlTendonGuide* guides = ARENA_NEW(&scene->arena, TdlTendonGuide, count);
    if (guides == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (to > rod->length || !(to > spec->from)) {
        return fail_at(&scene->host, spec->node->mark,
                       "a tendon goes from one arc length to a larger one, at most %g m",
                       rod->length);
    }
    for (int i = 0; i < count; ++i) {
        double u = (double)i / (count - 1), a = 2.0 * PI * spec->turns * u;
        double y = spec->offset[0], z = spec->offset[1];
        guides[i] = (TdlTendonGuide){i + 1 < count ? spec->from + u * (to - spec->from) : to,
                                     {cos(a) * y - sin(a) * z, sin(a) * y + cos(a) * z}};
    }
    out->guides = guides;
    out->guide_count = count;
    return TDL_STATUS_OK;
}

static TdlStatus make_tension(TdlScene* scene, const TendonSpec* spec, TdlTendonDef* out) {
    const TensionKeySpec* from = spec->keyframes.items;
    bool given = node_find(spec->node, "tension") != NULL;
    int count = given ? 1 : spec->keyframes.count;
    if (given == (spec->keyframes.count > 0)) {
        return fail_at(&scene->host, spec->node->mark,
                       "a tendon has the key 'tension' or the key 'keyframes'");
    }
    TdlTensionKey* keys = ARENA_NEW(&scene->arena, TdlTensionKey, count);
    if (keys == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int k = 0; k < count; ++k) {
        keys[k] = given ? (TdlTensionKey){0.0, spec->tension}
                        : (TdlTensionKey){from[k].time, from[k].tension};
    }
    out->keys = keys;
    out->key_count = count;
    out->interpolation = (TdlInterpolation)spec->interpolation;
    return TDL_STATUS_OK;
}

static TdlStatus make_tendons(TdlScene* scene, RodSpec* rod) {
    const TendonSpec* from = rod->tendons.items;
    int count = rod->tendons.count;
    if (count == 0) {
        return TDL_STATUS_OK;
    }
    if (scene->spec.start == START_SETTLED) {
        return fail_at(&scene->host, from->node->mark,
                       "a rod with tendons has no potential energy to settle in: leave out "
                       "'start: settled'");
    }
    TdlTendonDef* all = ARENA_NEW(&scene->arena, TdlTendonDef, count);
    if (all == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < count; ++i) {
        TdlStatus status = make_guides(scene, rod, &from[i], &all[i]);
        if (status == TDL_STATUS_OK) {
            status = make_tension(scene, &from[i], &all[i]);
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    rod->tendon = all;
    char model[TDL_SCENE_MODEL_SIZE];
    TdlRodDef def = scene_make_rod(scene, rod, model);
    const char* fault = tdl_rod_def_fault(&def);
    return fault == NULL ? TDL_STATUS_OK : fail_at(&scene->host, from->node->mark, "%s", fault);
}

TdlStatus scene_check_drive(TdlScene* scene, RodSpec* rod) {
    bool some = rod->natural_motion.node != NULL || rod->tendons.count > 0;
    if (some && rod->parent != NULL) {
        return fail_at(&scene->host, scene_mark_of(rod->node, "parent"),
                       "a branch has no natural_motion and no tendons");
    }
    TdlStatus status = make_natural(scene, rod);
    return status == TDL_STATUS_OK ? make_tendons(scene, rod) : status;
}
