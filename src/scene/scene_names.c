// The bodies of a world by the names that its scene has for them.
#include "scene/scene.h"

#include <string.h>

// A list of the scene and the kind of body that its entries make.
typedef struct NamedList {
    const char *kind, *key;
    int count;
} NamedList;

// The name of an entry, and how many bodies it makes.
static const char* name_of(const SceneSpec* spec, int list, int index, int* copies) {
    switch (list) {
    case SCENE_ROD: {
        const RodSpec* rod = (const RodSpec*)spec->rods.items + index;
        *copies = scene_copy_count(rod);
        return rod->name;
    }
    case SCENE_BODY: {
        const BodySpec* body = (const BodySpec*)spec->bodies.items + index;
        *copies = scene_body_copy_count(body);
        return body->name;
    }
    default:
        *copies = 1;
        return ((const ColliderSpec*)spec->colliders.items + index)->name;
    }
}

void tdl_scene_body_name(const TdlScene* scene, const TdlWorld* world, TdlBodyId id,
                         char out[TDL_BODY_NAME_SIZE]) {
    const SceneSpec* spec = &scene->spec;
    const NamedList lists[] = {[SCENE_ROD] = {"rod", "rods", spec->rods.count},
                               [SCENE_BODY] = {"rigid", "bodies", spec->bodies.count},
                               [SCENE_COLLIDER] = {"collider", "colliders", spec->colliders.count}};
    const char* kind = tdl_body_kind(world, id);
    int number = tdl_body_index(world, id);
    for (int list = 0; list <= SCENE_COLLIDER && kind != NULL; ++list) {
        if (strcmp(kind, lists[list].kind) != 0) {
            continue;
        }
        for (int i = 0, first = 0, copies = 0; i < lists[list].count; ++i, first += copies) {
            const char* name = name_of(spec, list, i, &copies);
            if (number >= first + copies) {
                continue;
            }
            if (copies == 1) {
                snprintf(out, TDL_BODY_NAME_SIZE, "%s.%s", lists[list].key, name);
            } else {
                snprintf(out, TDL_BODY_NAME_SIZE, "%s.%s[%d]", lists[list].key, name,
                         number - first);
            }
            return;
        }
    }
    snprintf(out, TDL_BODY_NAME_SIZE, "%s %d", kind == NULL ? "a body" : kind, number);
}

void tdl_scene_overlap_text(const TdlScene* scene, const TdlWorld* world, const TdlOverlap* overlap,
                            char out[TDL_SCENE_OVERLAP_SIZE]) {
    char a[TDL_BODY_NAME_SIZE], b[TDL_BODY_NAME_SIZE];
    tdl_scene_body_name(scene, world, overlap->body[0], a);
    tdl_scene_body_name(scene, world, overlap->body[1], b);
    bool self = overlap->body[0].index == overlap->body[1].index;
    TdlVec3 p = overlap->point;
    snprintf(out, TDL_SCENE_OVERLAP_SIZE,
             "%s%s%s, by %.3g m at (%.4g, %.4g, %.4g), elements %d and %d%s", a,
             self ? " and itself" : " and ", self ? "" : b, overlap->depth, p.x, p.y, p.z,
             overlap->element[0], overlap->element[1],
             overlap->through ? "; they part only through a surface" : "");
}
