// Rods along the curves of a file: reading, choosing, fitting.
#include "scene/scene.h"

#include "tendril/inverse.h"

// The most an element may turn, rad; as of curvatures that are written down.
static const double TURN_MAX = 1000.0;

// --- reading --------------------------------------------------------------------------------

// Keys that say what the curves say already.
static TdlStatus check_keys(const TdlScene* scene, const RodSpec* rod) {
    static const char* const KEYS[] = {"length", "curvature", "repeat", "parent"};
    static const char* const CLAMP_KEYS[] = {"position", "direction", "normal"};
    const Node* found = NULL;
    for (int i = 0; i < 4 && found == NULL; ++i) {
        found = node_find(rod->node, KEYS[i]);
    }
    for (int i = 0; i < 3 && found == NULL && rod->clamp.node != NULL; ++i) {
        found = node_find(rod->clamp.node, CLAMP_KEYS[i]);
    }
    return found == NULL ? TDL_STATUS_OK
                         : fail_at(&scene->host, found->key_mark,
                                   "rods along curves have no %s: the file tells", found->key);
}

// --- choosing -------------------------------------------------------------------------------

static double chord_sum(const TdlVec3* points, int count) {
    double sum = 0.0;
    for (int i = 1; i < count; ++i) {
        sum += tdl_norm3(tdl_sub3(points[i], points[i - 1]));
    }
    return sum;
}

// Copies the curves asked for into the scene.
static TdlStatus choose(TdlScene* scene, RodSpec* rod, const TdlCurves* all, const char* name) {
    CurvesSpec* spec = &rod->curves;
    TdlCurves* set = &spec->set;
    int count = (all->count - 1) / spec->every + 1, total = 0;
    count = spec->limit > 0 && spec->limit < count ? spec->limit : count;
    for (int i = 0; i < count; ++i) {
        total += all->start[i * spec->every + 1] - all->start[i * spec->every];
    }
    set->start = ARENA_NEW(&scene->arena, int, count + 1);
    set->points = ARENA_NEW(&scene->arena, TdlVec3, total);
    if (set->start == NULL || set->points == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    rod->length = INFINITY;
    int at = 0;
    for (int i = 0; i < count; ++i) {
        int from = all->start[i * spec->every], to = all->start[i * spec->every + 1];
        set->start[i] = at;
        for (int k = from; k < to; ++k) {
            set->points[at++] = scene_import_point(all->points[k], spec->scale, spec->up);
        }
        double length = chord_sum(set->points + set->start[i], to - from);
        if (!(length >= 1.0e-9 && length <= 1.0e9)) { // as of a length that is written down
            return fail_at(&scene->host, spec->node->mark,
                           "curve %d (from 0) of %s is %.3g m long; 1e-9 to 1e9 m are allowed",
                           i * spec->every, name, length);
        }
        rod->length = fmin(rod->length, length);
    }
    set->start[count] = at;
    set->count = count;
    return TDL_STATUS_OK;
}

TdlStatus scene_read_curves(TdlScene* scene, RodSpec* rod) {
    const Node* map = rod->curves.node;
    const Node* file = node_find(map, "file");
    TdlStatus status = check_keys(scene, rod);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (strands_named(file->text)) {
        return scene_read_strands(scene, rod);
    }
    const Node* cut = node_find(map, "cut");
    if (cut != NULL) {
        return fail_at(&scene->host, cut->key_mark, "only strands (.h5) can be cut");
    }
    CurveFormat format = CURVES_HAIR;
    if (!curves_format(file->text, &format)) {
        return fail_at(&scene->host, file->mark,
                       "curves come from .hair, .obj, .csv or .h5 (strands) files");
    }
    const Source* source = NULL;
    status = scene_import(scene, map, rod->curves.hash, "curves", &source);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    rod->curves.file = file->text;
    TdlCurves all = {0};
    status = curves_parse(&scene->host, source->name, format, source->text, source->size, &all);
    if (status == TDL_STATUS_OK) {
        status = choose(scene, rod, &all, source->name);
    }
    tdl_curves_free(&scene->host, &all);
    return status;
}

// --- fitting --------------------------------------------------------------------------------

TdlStatus scene_fit_curve(const TdlScene* scene, Arena* arena, const RodSpec* rod, int index,
                          TdlRodDef* def) {
    const TdlCurves* set = &rod->curves.set;
    int from = set->start[index], to = set->start[index + 1];
    if (scene_has_strands(rod)) {
        strands_shape(&rod->curves.strands, index, (size_t)from, def);
        return TDL_STATUS_OK;
    }
    int count = tdl_rod_def_curvature_count(def);
    TdlVec3* curvature = ARENA_NEW(arena, TdlVec3, count);
    if (curvature == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    bool at_joints = count > rod->elements;
    TdlFitOptions options = tdl_fit_options_default();
    options.element_count = rod->elements;
    options.least_squares = true; // whoever made the file may have had few elements
    TdlHelixFit fit;
    TdlStatus status = (at_joints ? tdl_clothoid_fit : tdl_helix_fit)(
        &scene->host, set->points + from, to - from, &options, curvature, &fit);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    for (int e = 0; e < count; ++e) {
        double turn = tdl_norm3(curvature[e]) * fit.length / rod->elements;
        if (!(turn <= TURN_MAX)) {
            return fail_at(&scene->host, rod->curves.node->mark,
                           "curve %d of '%s' would make an element turn by %.3g rad, at most %g: "
                           "take more elements",
                           index, rod->name, turn, TURN_MAX);
        }
    }
    def->length = fit.length;
    def->clamp = fit.start;
    *(at_joints ? &def->curvature_at : &def->curvature_of) = curvature;
    if (node_find(rod->node, "natural_curvature") == NULL) {
        *(at_joints ? &def->natural_curvature_at : &def->natural_curvature_of) = curvature;
    }
    return TDL_STATUS_OK;
}
