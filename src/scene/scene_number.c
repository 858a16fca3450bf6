// Numbers of a scene by their key path, "cloths.towel.damping": the tables of the schema lead from
// the scene as it was read to the number, so that defaults are found as well as what was given.
#include "scene/scene.h"

#include "base/log.h"
#include "formats/number.h"

#include <math.h>
#include <string.h>

enum { STEP_SIZE = 256 };

// Where a path has come to: a group and the struct it was read into.
typedef struct Walk {
    const TdlScene* scene;
    const char *path, *at; // the whole, and what is left of it
    const Group* group;
    const char* base;
    char step[STEP_SIZE]; // the last that was taken
} Walk;

static TdlStatus walk_fail(const Walk* w, const char* what, const char* hint) {
    return tdl_fail(&w->scene->host, TDL_STATUS_BAD_INPUT, "%s:1:%d: %s%s", w->path,
                    1 + (int)(w->at - w->path), what, hint);
}

// Takes the next step; false when the path is over.
static bool next_step(Walk* w) {
    size_t length = strcspn(w->at, ".");
    snprintf(w->step, STEP_SIZE, "%.*s", (int)(length < STEP_SIZE ? length : STEP_SIZE - 1), w->at);
    return length > 0;
}

static void leave_step(Walk* w) {
    w->at += strcspn(w->at, ".");
    w->at += *w->at == '.';
}

static TdlStatus find_field(Walk* w, const Field** out) {
    char text[STEP_SIZE + 64];
    Nearest nearest = nearest_to(w->step);
    for (const Field* f = w->group->fields; f->key != NULL; ++f) {
        if (strcmp(f->key, w->step) == 0) {
            *out = f;
            return TDL_STATUS_OK;
        }
        nearest_try(&nearest, f->key, strlen(f->key));
    }
    Quote q = quote(w->step);
    snprintf(text, sizeof text, "a %s has no key %s", w->group->name, q.text);
    return walk_fail(w, text, nearest_hint(&nearest).text);
}

// The struct of the item of a list that the step names, by its name or by its number.
static TdlStatus find_item(Walk* w, const Group* group, const GroupList* list) {
    char text[STEP_SIZE + 64];
    int index = -1, number;
    if (parse_int(w->step, &number) == NUMBER_FINE) {
        index = number < list->count ? number : -1;
    }
    Nearest nearest = nearest_to(w->step);
    for (int i = 0; i < list->count && index < 0; ++i) {
        const char* item = (const char*)list->items + (size_t)i * group->size;
        const Node* name = node_find(*(const Node* const*)(const void*)item, "name");
        if (name != NULL && name->kind == NODE_TEXT) {
            index = strcmp(name->text, w->step) == 0 ? i : -1;
            nearest_try(&nearest, name->text, strlen(name->text));
        }
    }
    if (index < 0) {
        Quote q = quote(w->step);
        snprintf(text, sizeof text, "the list has no %s %s", group->name, q.text);
        return walk_fail(w, text, nearest_hint(&nearest).text);
    }
    w->base = (const char*)list->items + (size_t)index * group->size;
    w->group = group;
    return TDL_STATUS_OK;
}

// The numbers of a field that has a few of them; null: it has none.
static const double* field_numbers(const Field* field, const void* value, int* count) {
    switch (field->kind) {
    case FIELD_VEC3:
    case FIELD_DIRECTION:
        *count = 3;
        return &((const TdlVec3*)value)->x;
    case FIELD_PAIR:
        *count = 2;
        return value;
    case FIELD_VEC3S: {
        const VecList* list = value;
        *count = list->count == 1 && !list->each ? 3 : 0;
        return *count == 0 ? NULL : &list->items->x;
    }
    default:
        return NULL;
    }
}

static bool is_given(const Walk* w, const Field* field) {
    const Node* map = *(const Node* const*)(const void*)w->base;
    return map != NULL && node_find(map, field->key) != NULL;
}

// The number at the end of the path, which `field` has.
static TdlStatus read_field(Walk* w, const Field* field, double* out) {
    const void* value = w->base + field->offset;
    int count = 0, index = 0;
    const double* numbers = field_numbers(field, value, &count);
    bool given = is_given(w, field) || field->fallback != NULL;
    bool more = next_step(w);
    if (field->kind == FIELD_REAL && !more) {
        *out = given ? *(const double*)value : NAN;
        return TDL_STATUS_OK;
    }
    if (numbers != NULL && more && parse_int(w->step, &index) == NUMBER_FINE && index >= 0 &&
        index < count && strchr(w->at, '.') == NULL) {
        *out = given ? numbers[index] : NAN;
        return TDL_STATUS_OK;
    }
    if (numbers != NULL) {
        return walk_fail(w, "which of its numbers, from 0?", "");
    }
    return walk_fail(w,
                     field->kind == FIELD_INT ? "a count cannot vary: a real number is wanted"
                     : more                   ? "what stands before has no keys"
                                              : "this is no number",
                     "");
}

TdlStatus tdl_scene_number(const TdlScene* scene, const char* path, double* out) {
    Walk w = {scene, path, path, &SCENE_GROUP, (const char*)&scene->spec, ""};
    *out = NAN;
    while (next_step(&w)) {
        const Field* field = NULL;
        TdlStatus status = find_field(&w, &field);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        leave_step(&w);
        if (field->kind == FIELD_GROUP) {
            w.base += field->offset;
            w.group = field->group;
        } else if (field->kind != FIELD_GROUPS) {
            return read_field(&w, field, out);
        } else if (!next_step(&w)) {
            break;
        } else {
            status = find_item(&w, field->group, (const void*)(w.base + field->offset));
            if (status != TDL_STATUS_OK) {
                return status;
            }
            leave_step(&w);
        }
    }
    return walk_fail(&w, "a key is missing here", "");
}
