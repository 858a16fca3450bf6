// Rods that a file of strands tells of: reading, choosing. There is nothing to fit: the world has
// the numbers of the file.
#include "scene/scene.h"

#include "scene/words.h"

#include <string.h>

bool scene_has_strands(const RodSpec* rod) {
    return rod->curves.strands.count > 0;
}

// Keys that say what strands say already.
static TdlStatus check_keys(const TdlScene* scene, const RodSpec* rod) {
    static const char* const KEYS[] = {"elements", "natural_curvature"};
    static const char* const CURVES_KEYS[] = {"scale", "up"};
    const Node* found = NULL;
    for (int i = 0; i < 2 && found == NULL; ++i) {
        found = node_find(rod->node, KEYS[i]);
    }
    for (int i = 0; i < 2 && found == NULL; ++i) {
        found = node_find(rod->curves.node, CURVES_KEYS[i]);
    }
    return found == NULL
               ? TDL_STATUS_OK
               : fail_at(&scene->host, found->key_mark,
                         "rods from a file of strands have no %s: the file tells", found->key);
}

// The model is that of the file; where the scene names one, it must be the same.
static TdlStatus take_model(const TdlScene* scene, RodSpec* rod, const TdlStrands* all) {
    const Node* given = node_find(rod->node, "model");
    int model = choice_index(tdl_rod_models(), all->model);
    if (given != NULL && model != rod->model) {
        return fail_at(&scene->host, given->mark, "the file has strands of the model %s",
                       all->model);
    }
    rod->model = model;
    return TDL_STATUS_OK;
}

bool scene_reserve_strands(TdlScene* scene, CurvesSpec* spec, int count, size_t curvatures) {
    TdlStrands* to = &spec->strands;
    to->element_count = ARENA_NEW(&scene->arena, int, count);
    to->length = ARENA_NEW(&scene->arena, double, count);
    to->start = ARENA_NEW(&scene->arena, TdlPose, count);
    to->stiffening = ARENA_NEW(&scene->arena, double, count);
    to->curvature = ARENA_NEW(&scene->arena, TdlVec3, curvatures);
    to->natural_curvature = ARENA_NEW(&scene->arena, TdlVec3, curvatures);
    spec->set.start = ARENA_NEW(&scene->arena, int, count + 1);
    to->count = spec->set.count = count;
    return to->element_count != NULL && to->length != NULL && to->start != NULL &&
           to->stiffening != NULL && to->curvature != NULL && to->natural_curvature != NULL &&
           spec->set.start != NULL;
}

// Elements that are left of a strand where it is cut.
static int kept_elements(const CurvesSpec* spec, const TdlStrands* all, int index) {
    int n = all->element_count[index];
    double share = spec->cut > 0.0 ? spec->cut / all->length[index] : 1.0;
    return share < 1.0 ? (int)fmax(1.0, round(share * n)) : n;
}

// Their curvatures: as many fewer as elements.
static size_t kept_curvatures(const CurvesSpec* spec, const TdlStrands* all, int index, int own) {
    return (size_t)(own - all->element_count[index] + kept_elements(spec, all, index));
}

static int curvature_count(const TdlStrands* all, int index) {
    TdlRodDef def = tdl_rod_def_default();
    return strands_shape(all, index, 0, &def);
}

// Copies strand i of the file, whose curvatures begin at `from`, and so many of these, behind those
// that are there; returns how many.
static size_t take_strand(CurvesSpec* spec, const TdlStrands* all, int i, size_t from, size_t kept,
                          size_t at) {
    TdlStrands* to = &spec->strands;
    int k = i / spec->every, n = kept_elements(spec, all, i);
    to->element_count[k] = n;
    to->length[k] =
        n < all->element_count[i] ? all->length[i] / all->element_count[i] * n : all->length[i];
    to->start[k] = all->start[i];
    to->stiffening[k] = all->stiffening[i];
    memcpy(to->curvature + at, all->curvature + from, kept * sizeof(TdlVec3));
    memcpy(to->natural_curvature + at, all->natural_curvature + from, kept * sizeof(TdlVec3));
    spec->set.start[k] = (int)at;
    return kept;
}

// Copies the strands asked for into the scene.
static TdlStatus choose(TdlScene* scene, RodSpec* rod, const TdlStrands* all) {
    CurvesSpec* spec = &rod->curves;
    TdlStrands* to = &spec->strands;
    int count = (all->count - 1) / spec->every + 1;
    count = spec->limit > 0 && spec->limit < count ? spec->limit : count;
    size_t from = 0, at = 0;
    for (int i = 0; i < count; ++i) {
        int k = i * spec->every;
        at += kept_curvatures(spec, all, k, curvature_count(all, k));
    }
    if (!scene_reserve_strands(scene, spec, count, at)) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(to->model, all->model, sizeof to->model);
    rod->length = INFINITY;
    rod->elements = all->element_count[0];
    at = 0;
    for (int i = 0; i < all->count && i / spec->every < count; ++i) {
        int own = curvature_count(all, i);
        if (i % spec->every == 0) {
            at += take_strand(spec, all, i, from, kept_curvatures(spec, all, i, own), at);
            int k = i / spec->every;
            rod->length = fmin(rod->length, to->length[k]);
            rod->elements =
                to->element_count[k] < rod->elements ? to->element_count[k] : rod->elements;
        }
        from += (size_t)own;
    }
    spec->set.start[count] = (int)at;
    return TDL_STATUS_OK;
}

TdlStatus scene_read_strands(TdlScene* scene, RodSpec* rod) {
    const Node *map = rod->curves.node, *file = node_find(map, "file");
    TdlStatus status = check_keys(scene, rod);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    const Source* source = NULL;
    status = scene_import(scene, map, rod->curves.hash, "strands", &source);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    rod->curves.file = file->text;
    TdlStrands all;
    status = strands_parse(&scene->host, source->name, source->text, source->size, &all);
    if (status == TDL_STATUS_OK && all.count == 0) {
        status = fail_at(&scene->host, file->mark, "the file has no strands");
    }
    if (status == TDL_STATUS_OK) {
        status = take_model(scene, rod, &all);
    }
    if (status == TDL_STATUS_OK) {
        status = choose(scene, rod, &all);
    }
    tdl_strands_free(&scene->host, &all);
    return status;
}
