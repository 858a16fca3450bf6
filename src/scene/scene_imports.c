// Files of other programs that a scene names: where they are, whether they are still the same, and
// the meshes, their caches and recorded motions among them.
#include "scene/scene.h"

#include "base/hash.h"
#include "base/log.h"
#include "formats/obj.h"
#include "formats/pc2.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { REASON_SIZE = 128, HASH_SIZE = 17 };

// The full path of the file, beside the scene that names it; freed by the caller, also where this
// fails.
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
        Quote q = quote(joined);
        return fail_at(&scene->host, node->mark, "%s cannot be read: there is no such file",
                       q.text);
    }
    return TDL_STATUS_OK;
}

// Keeps the hash of the file in the tree, or compares it with the one that is there.
static TdlStatus check_hash(TdlScene* scene, const char* given, const char* what, Node* map,
                            const Source* source) {
    char hash[HASH_SIZE];
    snprintf(hash, sizeof hash, "%016" PRIx64, hash_bytes(HASH_START, source->text, source->size));
    if (given != NULL) {
        return strcmp(given, hash) == 0
                   ? TDL_STATUS_OK
                   : fail_at(&scene->host, node_find(map, "hash")->mark,
                             "the file of the %s is not the one of this scene any more: its "
                             "hash is %s",
                             what, hash);
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

static TdlStatus read_source(TdlScene* scene, const Node* file, const char* path,
                             const Source** out) {
    char reason[REASON_SIZE] = "";
    TdlStatus status = source_from_file(&scene->host, &scene->arena, path, out, reason);
    if (status != TDL_STATUS_IO) {
        return status;
    }
    Quote q = quote(path);
    return fail_at(&scene->host, file->mark, "%s cannot be read: %s", q.text, reason);
}

// Reads the file at `path` and notes the path in the tree.
static TdlStatus import_file(TdlScene* scene, Node* map, const char* path, const char* hash,
                             const char* what, const Source** out) {
    Node* file = node_find(map, "file");
    TdlStatus status = read_source(scene, file, path, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_hash(scene, hash, what, map, *out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    file->text = node_copy_text(&scene->pool, path, strlen(path));
    file->quoted = true;
    return file->text == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

TdlStatus scene_import(TdlScene* scene, const Node* from, const char* hash, const char* what,
                       const Source** out) {
    // the tree is the scene's own: it is changed where it says too little
    Node* map = (Node*)(uintptr_t)from;
    Node* file = node_find(map, "file");
    if (!scene->from_file) {
        return fail_at(&scene->host, file->mark, "only a file can name another");
    }
    char* path = NULL;
    TdlStatus status = find_file(scene, file, &path);
    if (status == TDL_STATUS_OK) {
        status = import_file(scene, map, path, hash, what, out);
    }
    free(path);
    return status;
}

TdlVec3 scene_import_point(TdlVec3 p, double scale, int up) {
    p = tdl_scale3(scale, p);
    return up == 0 ? p : (TdlVec3){p.x, -p.z, p.y};
}

// Copies the mesh into the scene, in its axes.
static TdlStatus take_mesh(TdlScene* scene, MeshSpec* spec, const TdlMesh* all) {
    TdlVec3* vertices = ARENA_NEW(&scene->arena, TdlVec3, all->vertex_count);
    int* triangles = ARENA_NEW(&scene->arena, int, 3 * (size_t)all->triangle_count);
    if (vertices == NULL || triangles == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < all->vertex_count; ++i) {
        vertices[i] = scene_import_point(all->vertices[i], spec->scale, spec->up);
    }
    memcpy(triangles, all->triangles, 3 * (size_t)all->triangle_count * sizeof *triangles);
    spec->mesh = (TdlMesh){vertices, all->vertex_count, triangles, all->triangle_count};
    return TDL_STATUS_OK;
}

static bool ends_in(const char* text, const char* ending) {
    size_t length = strlen(text), size = strlen(ending);
    return length > size && strcmp(text + length - size, ending) == 0;
}

// Copies the places of all samples into the scene, in its axes.
static TdlStatus take_samples(TdlScene* scene, MeshSpec* spec, const Pc2* cache, Mark mark) {
    CacheSpec* c = &spec->cache;
    size_t count = (size_t)cache->sample_count * (size_t)cache->point_count;
    TdlVec3* samples = ARENA_NEW(&scene->arena, TdlVec3, count);
    if (samples == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count; ++i) {
        int sample = (int)(i / (size_t)cache->point_count),
            point = (int)(i % (size_t)cache->point_count);
        TdlVec3 p = pc2_point(cache, sample, point);
        if (!tdl_finite3(p)) {
            return fail_at(&scene->host, mark,
                           "sample %d of the cache has a place of point %d that is not a number",
                           sample, point);
        }
        samples[i] = scene_import_point(p, spec->scale, spec->up);
    }
    c->motion = (TdlVertexMotion){samples, cache->sample_count, c->start + cache->start / c->fps,
                                  cache->period / c->fps};
    int sample, triangle;
    const char* fault = tdl_vertex_motion_fault(&c->motion, &spec->mesh, &sample, &triangle);
    if (fault != NULL) {
        return fail_at(&scene->host, mark, "sample %d of the cache, triangle %d of the mesh: %s",
                       sample, triangle, fault);
    }
    return TDL_STATUS_OK;
}

static TdlStatus read_cache(TdlScene* scene, MeshSpec* spec) {
    CacheSpec* c = &spec->cache;
    const Node* file = node_find(c->node, "file");
    if (!ends_in(file->text, ".pc2")) {
        return fail_at(&scene->host, file->mark, "caches come from .pc2 files");
    }
    const Source* source = NULL;
    TdlStatus status = scene_import(scene, c->node, c->hash, "cache", &source);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    c->file = file->text;
    Pc2 cache;
    const char* fault = pc2_open(source->text, source->size, &cache);
    if (fault != NULL) {
        return fail_at(&scene->host, file->mark, "the cache %s", fault);
    }
    if (cache.point_count != spec->mesh.vertex_count) {
        return fail_at(&scene->host, file->mark,
                       "the cache has %d points, the mesh that it moves %d vertices",
                       cache.point_count, spec->mesh.vertex_count);
    }
    return take_samples(scene, spec, &cache, file->mark);
}

TdlStatus scene_read_mesh(TdlScene* scene, MeshSpec* spec) {
    const Node* file = node_find(spec->node, "file");
    if (!ends_in(file->text, ".obj")) {
        return fail_at(&scene->host, file->mark, "meshes come from .obj files");
    }
    const Source* source = NULL;
    TdlStatus status = scene_import(scene, spec->node, spec->hash, "mesh", &source);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    spec->file = file->text;
    TdlMesh all = {0};
    status = obj_parse_mesh(&scene->host, source->name, source->text, source->size, &all);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = take_mesh(scene, spec, &all);
    obj_free_mesh(&scene->host, &all);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return spec->cache.node != NULL ? read_cache(scene, spec) : TDL_STATUS_OK;
}

// Copies the keys into the scene, in its axes.
static TdlStatus take_keys(TdlScene* scene, MotionSpec* motion, const Recording* all) {
    const RecordingSpec* spec = &motion->recording;
    KeyframeSpec* keys = ARENA_NEW(&scene->arena, KeyframeSpec, all->count);
    if (keys == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlVec3 from = spec->from == 0 ? all->keys[0].position : (TdlVec3){0};
    for (int i = 0; i < all->count; ++i) {
        const TdlKeyframe* key = &all->keys[i];
        keys[i] = (KeyframeSpec){
            .node = spec->node,
            .time = key->time,
            .position = scene_import_point(tdl_sub3(key->position, from), spec->scale, spec->up),
            .rotation = scene_import_point(key->rotation, 1.0, spec->up)};
    }
    motion->keyframes = (GroupList){keys, all->count};
    motion->interpolation = scene_interpolation(motion->node, motion->interpolation);
    return TDL_STATUS_OK;
}

TdlStatus scene_read_csv(TdlScene* scene, const Node* group, const char* hash, const char* what,
                         const RecordingKind* kind, const char* marker, Recording* out) {
    const Node* file = node_find(group, "file");
    *out = (Recording){0};
    if (!ends_in(file->text, ".csv")) {
        return fail_at(&scene->host, file->mark, "%ss come from .csv files", what);
    }
    const Source* source = NULL;
    TdlStatus status = scene_import(scene, group, hash, what, &source);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status =
        recording_parse(&scene->host, source->name, kind, marker, source->text, source->size, out);
    if (status == TDL_STATUS_OK && out->gap_count > 0) {
        tdl_log(&scene->host, TDL_LOG_WARNING, "%s: %d of %d rows have gaps and are left out",
                source->name, out->gap_count, out->gap_count + out->count);
    }
    return status;
}

TdlStatus scene_read_recording(TdlScene* scene, MotionSpec* motion) {
    const RecordingSpec* spec = &motion->recording;
    Recording all;
    TdlStatus status = scene_read_csv(scene, spec->node, spec->hash, "recording", &RECORDING_MOTION,
                                      spec->marker, &all);
    if (status == TDL_STATUS_OK) {
        status = take_keys(scene, motion, &all);
    }
    recording_free(&scene->host, &all);
    return status;
}
