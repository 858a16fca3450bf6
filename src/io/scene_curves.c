// Rods along the curves of a file: reading, choosing, fitting.
#include "io/scene.h"

#include "base/hash.h"
#include "inverse/helix_fit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { REASON_SIZE = 128, HASH_SIZE = 17 };

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

// The full path of the file, beside the scene that names it.
static TdlStatus find_file(const TdlScene* scene, const Node* node, char** out) {
    const char *name = node->mark.source->name, *slash = strrchr(name, '/');
    size_t folder = slash == NULL || node->text[0] == '/' ? 0 : (size_t)(slash - name) + 1;
    size_t length = strlen(node->text);
    char* joined = ARENA_NEW((Arena*)(uintptr_t)&scene->arena, char, folder + length + 1);
    if (joined == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memcpy(joined, name, folder);
    memcpy(joined + folder, node->text, length + 1);
    struct stat info;
    *out = realpath(joined, NULL);
    if (*out == NULL || stat(*out, &info) != 0 || !S_ISREG(info.st_mode)) {
        free(*out);
        Quote q = quote(joined);
        return fail_at(&scene->host, node->mark, "%s cannot be read: there is no such file",
                       q.text);
    }
    return TDL_STATUS_OK;
}

// Keeps the hash of the file in the tree, or compares it with the one that is there.
static TdlStatus check_hash(TdlScene* scene, RodSpec* rod, Node* map, const Source* source) {
    char hash[HASH_SIZE];
    snprintf(hash, sizeof hash, "%016" PRIx64, hash_bytes(HASH_START, source->text, source->size));
    if (rod->curves.hash != NULL) {
        return strcmp(rod->curves.hash, hash) == 0
                   ? TDL_STATUS_OK
                   : fail_at(&scene->host, node_find(map, "hash")->mark,
                             "the file of the curves is not the one of this scene any more: its "
                             "hash is %s",
                             hash);
    }
    Node* node = node_new(&scene->pool, NODE_TEXT, map->mark);
    if (node == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    node->key = "hash";
    node->key_mark = map->mark;
    node->quoted = true;
    node->text = node_copy_text(&scene->pool, hash, strlen(hash));
    node_append(map, node);
    return node->text == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

// --- choosing -------------------------------------------------------------------------------

static TdlVec3 to_scene(const CurvesSpec* spec, TdlVec3 p) {
    p = tdl_scale3(spec->scale, p);
    return spec->up == 0 ? p : (TdlVec3){p.x, -p.z, p.y};
}

static double chord_sum(const TdlVec3* points, int count) {
    double sum = 0.0;
    for (int i = 1; i < count; ++i) {
        sum += tdl_norm3(tdl_sub3(points[i], points[i - 1]));
    }
    return sum;
}

// Copies the curves asked for into the scene.
static TdlStatus choose(TdlScene* scene, RodSpec* rod, const CurveSet* all, const char* name) {
    CurvesSpec* spec = &rod->curves;
    CurveSet* set = &spec->set;
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
            set->points[at++] = to_scene(spec, all->points[k]);
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

static TdlStatus read_source(TdlScene* scene, const Node* file, const char* path,
                             const Source** out) {
    char reason[REASON_SIZE] = "";
    TdlStatus status = source_from_file(&scene->arena, path, out, reason);
    if (status != TDL_STATUS_IO) {
        return status;
    }
    Quote q = quote(path);
    return fail_at(&scene->host, file->mark, "%s cannot be read: %s", q.text, reason);
}

TdlStatus scene_read_curves(TdlScene* scene, RodSpec* rod) {
    // the tree is the scene's own: it is changed where it says too little
    Node* map = (Node*)(uintptr_t)rod->curves.node;
    Node* file = node_find(map, "file");
    TdlStatus status = check_keys(scene, rod);
    CurveFormat format;
    if (status == TDL_STATUS_OK && !scene->from_file) {
        status = fail_at(&scene->host, file->mark, "only a file can name another");
    }
    if (status == TDL_STATUS_OK && !curves_format(file->text, &format)) {
        status = fail_at(&scene->host, file->mark, "curves come from .hair, .obj or .csv files");
    }
    char* path = NULL;
    const Source* source = NULL;
    status = status == TDL_STATUS_OK ? find_file(scene, file, &path) : status;
    status = status == TDL_STATUS_OK ? read_source(scene, file, path, &source) : status;
    status = status == TDL_STATUS_OK ? check_hash(scene, rod, map, source) : status;
    CurveSet all = {0};
    if (status == TDL_STATUS_OK) {
        status = curves_parse(&scene->host, source->name, format, source->text, source->size, &all);
    }
    if (status == TDL_STATUS_OK) {
        status = choose(scene, rod, &all, source->name);
    }
    if (status == TDL_STATUS_OK) {
        file->text = node_copy_text(&scene->pool, path, strlen(path));
        file->quoted = true;
        rod->curves.file = file->text;
        status = file->text == NULL ? TDL_STATUS_NO_MEMORY : status;
    }
    curves_free(&scene->host, &all);
    free(path);
    return status;
}

// --- fitting --------------------------------------------------------------------------------

TdlStatus scene_fit_curve(const TdlScene* scene, Arena* arena, const RodSpec* rod, int index,
                          TdlRodDef* def) {
    const CurveSet* set = &rod->curves.set;
    int from = set->start[index], to = set->start[index + 1];
    HelixFit fit;
    TdlStatus status = helix_fit(arena, set->points + from, to - from, rod->elements, &fit);
    for (int e = 0; status == TDL_STATUS_OK && e < rod->elements; ++e) {
        double turn = tdl_norm3(fit.curvature_of[e]) * fit.length / rod->elements;
        if (!(turn <= TURN_MAX)) {
            return fail_at(&scene->host, rod->curves.node->mark,
                           "curve %d of '%s' would make an element turn by %.3g rad, at most %g: "
                           "take more elements",
                           index, rod->name, turn, TURN_MAX);
        }
    }
    def->length = fit.length;
    def->clamp = fit.start;
    def->curvature_of = fit.curvature_of;
    if (node_find(rod->node, "natural_curvature") == NULL) {
        def->natural_curvature_of = fit.curvature_of;
    }
    return status;
}
