// Ropes in scenes: the wires that are laid become strands, as those of a file are.
#include "scene/scene.h"

#include "tendril/rope.h"

#include <string.h>

enum { WHY_SIZE = 256 };

// Keys that say what the rope says already.
static TdlStatus check_keys(const TdlScene* scene, const RodSpec* rod) {
    static const char* const KEYS[] = {"curves", "curvature", "natural_curvature",
                                       "repeat", "parent",    "sections"};
    static const char* const CLAMP_KEYS[] = {"position", "direction", "normal"};
    const Node* found = NULL;
    bool through = rod->rope.through.count > 0;
    for (int i = 0; i < 6 && found == NULL; ++i) {
        found = node_find(rod->node, KEYS[i]);
    }
    if (found == NULL && through) {
        found = node_find(rod->node, "length");
    }
    for (int i = 0; i < 3 && found == NULL && through && rod->clamp.node != NULL; ++i) {
        found = node_find(rod->clamp.node, CLAMP_KEYS[i]);
    }
    if (found != NULL) {
        return fail_at(&scene->host, found->key_mark, "the wires of a rope have no %s: it tells",
                       found->key);
    }
    if (!through && node_find(rod->node, "length") == NULL) {
        return fail_at(&scene->host, rod->node->mark, "the rope needs the key 'length'");
    }
    return TDL_STATUS_OK;
}

// The wires into the scene; straight ones by nature keep their twist alone.
static TdlStatus take_wires(TdlScene* scene, RodSpec* rod, const TdlRodDef* wire,
                            const TdlRope* rope) {
    CurvesSpec* spec = &rod->curves;
    TdlStrands* to = &spec->strands;
    size_t each = (size_t)rope->curvature_count, all = each * (size_t)rope->count;
    if (!scene_reserve_strands(scene, spec, rope->count, all)) {
        return TDL_STATUS_NO_MEMORY;
    }
    snprintf(to->model, sizeof to->model, "%s", wire->model);
    rod->length = INFINITY;
    for (int i = 0; i < rope->count; ++i) {
        to->element_count[i] = wire->element_count;
        to->length[i] = rope->length[i];
        to->start[i] = rope->start[i];
        to->stiffening[i] = 1.0;
        spec->set.start[i] = i * rope->curvature_count;
        rod->length = fmin(rod->length, rope->length[i]);
    }
    memcpy(to->curvature, rope->curvature, all * sizeof *to->curvature);
    for (size_t i = 0; i < all; ++i) {
        TdlVec3 kappa = rope->curvature[i];
        to->natural_curvature[i] =
            rod->rope.laid == LAID_BENT ? (TdlVec3){kappa.x, 0.0, 0.0} : kappa;
    }
    spec->node = rod->rope.node;
    return TDL_STATUS_OK;
}

// Messages get their place in the file.
static void keep_text(void* user, TdlLogLevel level, const char* text) {
    (void)level;
    snprintf(user, WHY_SIZE, "%s", text);
}

TdlStatus scene_lay_rope(TdlScene* scene, RodSpec* rod) {
    const RopeSpec* spec = &rod->rope;
    TdlStatus status = check_keys(scene, rod);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (spec->strands.count > TDL_ROPE_LEVELS) {
        return fail_at(&scene->host, scene_mark_of(spec->node, "strands"),
                       "a rope has one level or two");
    }
    status = rod->clamp.node == NULL ? TDL_STATUS_OK
                                     : scene_check_axes(scene, rod->clamp.node,
                                                        rod->clamp.direction, rod->clamp.normal);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    char model[TDL_SCENE_MODEL_SIZE];
    TdlRodDef wire = scene_make_rod(scene, rod, model);
    TdlRopeDef def = tdl_rope_def_default();
    def.level_count = spec->strands.count;
    def.length = rod->length;
    def.start = wire.clamp;
    def.point = spec->through.items;
    def.point_count = spec->through.count;
    def.gap = spec->gap;
    for (int k = 0; k < def.level_count; ++k) {
        def.level[k] = (TdlRopeLevel){spec->strands.items[k], spec->lay[k]};
    }
    char why[WHY_SIZE] = "it cannot be laid";
    TdlHost quiet = scene->host;
    quiet.log = keep_text;
    quiet.log_user = why;
    quiet.log_level = TDL_LOG_ERROR;
    TdlRope rope;
    wire.length = wire.length > 0.0 ? wire.length : 1.0;
    wire.drag = 0.0;
    status = tdl_rope_lay(&quiet, &def, &wire, &rope);
    if (status == TDL_STATUS_NO_MEMORY) {
        return status;
    }
    if (status != TDL_STATUS_OK) {
        return fail_at(&scene->host, spec->node->mark, "%s", why);
    }
    status = take_wires(scene, rod, &wire, &rope);
    tdl_rope_free(&scene->host, &rope);
    return status;
}
