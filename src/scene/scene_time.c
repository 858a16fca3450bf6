// The scene language: values that vary in time. Expressions, keys and files become functions of the
// time whose data lie in the arena.
#include "scene/scene.h"

#include "base/log.h"
#include "formats/expression.h"

#include <string.h>

// Takes over what the library made.
static TdlStatus keep(TdlScene* scene, TdlTimeFn* made, TdlTimeFn* out) {
    void* data = arena_alloc(&scene->arena, 1, made->size);
    if (data != NULL) {
        memcpy(data, made->data, made->size);
        *out = (TdlTimeFn){made->at, data, made->size};
    }
    tdl_time_fn_free(&scene->host, made);
    return data == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

// Where a line of a source begins; its end where there is none such.
static const char* find_line(const Source* source, int line) {
    const char *at = source->text + source_start(source), *end = source->text + source->size;
    for (int k = 1; k < line && at < end; ++at) {
        k += *at == '\n' || (*at == '\r' && at[1] != '\n');
    }
    return at;
}

// The place of a byte of a text, where it stands in the source as it is; else that of the text.
static Mark mark_inside(const Node* node, int place) {
    Mark mark = node->mark;
    const char* at = find_line(mark.source, mark.line);
    const char* end = mark.source->text + mark.source->size;
    for (int k = 1; k < mark.column && at < end; ++k) {
        unsigned code;
        size_t length = utf8_decode(at, (size_t)(end - at), &code);
        at += length > 0 ? length : 1;
    }
    int quoted = at < end && (*at == '"' || *at == '\'');
    at += quoted;
    bool same = end - at >= place && memcmp(at, node->text, (size_t)place) == 0;
    mark.column += same ? quoted + place : 0;
    return mark;
}

// A function that has no number where a run begins, at time 0, or one its key does not take.
static TdlStatus check_start(const TdlScene* scene, const Formula* const part[TIME_PARTS],
                             const TdlTimeFn* fn) {
    TdlVec3 value[2];
    fn->at(fn->data, 0.0, value);
    for (int k = 0; k < TIME_PARTS; ++k) {
        const TdlVec3* v = &value[k / 3];
        double x = k % 3 == 0 ? v->x : k % 3 == 1 ? v->y : v->z;
        if (!isfinite(x)) {
            return fail_at(&scene->host, part[k]->node->mark,
                           "this expression has no finite value at t = 0");
        }
        if (part[k] != NULL && part[k]->varies) {
            TdlStatus status = schema_check_start(&scene->host, part[k]->field, part[k]->node, x);
            if (status != TDL_STATUS_OK) {
                return status;
            }
        }
    }
    return TDL_STATUS_OK;
}

static TdlStatus make(TdlScene* scene, const Formula* const part[TIME_PARTS], TdlTimeFn* out) {
    const char* text[TIME_PARTS];
    for (int k = 0; k < TIME_PARTS; ++k) {
        text[k] = part[k] == NULL || part[k]->node == NULL ? NULL : part[k]->node->text;
    }
    TdlTimeFn made;
    ExpressionFault fault = {0};
    const char* what = expression_parse_time(&scene->host, text, &made, &fault);
    if (what != NULL) {
        return fault.what[0] == '\0'
                   ? TDL_STATUS_NO_MEMORY
                   : fail_at(&scene->host, mark_inside(part[fault.part]->node, fault.place),
                             "expression, at character %d: %s", fault.place + 1, what);
    }
    TdlStatus status = check_start(scene, part, &made);
    if (status != TDL_STATUS_OK) {
        tdl_time_fn_free(&scene->host, &made);
        return status;
    }
    return keep(scene, &made, out);
}

TdlStatus scene_time_formulas(TdlScene* scene, const Formula* const part[2], TdlTimeFn* out) {
    const Formula* each[TIME_PARTS];
    for (int k = 0; k < TIME_PARTS; ++k) {
        each[k] = part[k / 3] == NULL ? NULL : &part[k / 3][k % 3];
    }
    return make(scene, each, out);
}

TdlStatus scene_time_formula(TdlScene* scene, const Formula* formula, TdlTimeFn* out) {
    const Formula* const part[TIME_PARTS] = {formula};
    return make(scene, part, out);
}

TdlStatus scene_time_keys(TdlScene* scene, const TdlKeyframe* keys, int count, int interpolation,
                          TdlTimeFn* out) {
    TdlTimeFn made;
    TdlStatus status =
        tdl_time_fn_of_keys(&scene->host, keys, count, (TdlInterpolation)interpolation, &made);
    return status == TDL_STATUS_OK ? keep(scene, &made, out) : status;
}

TdlStatus scene_check_growing(const TdlScene* scene, const Node* key, double before, double time) {
    return time > before
               ? TDL_STATUS_OK
               : fail_at(&scene->host, scene_mark_of(key, "time"),
                         "the times of keyframes must grow: %g is not after %g", time, before);
}

int scene_interpolation(const Node* node, int told) {
    return node_find(node, "interpolation") != NULL ? told : TDL_INTERPOLATION_LINEAR;
}
