// Overrides, "path.to.key=value": one value of the tree replaced or added. Keys name the maps on
// the way, which are created when missing; items of a list go by their name or by their number
// from 0. The override is a source of its own, so what the schema finds wrong in it later is told
// at its place in the override.
#include "scene/scene.h"

#include "base/log.h"
#include "formats/number.h"

#include <string.h>

typedef struct KeyPath {
    TdlScene* scene;
    const Source* source;
    char* text;     // the source again, cut into steps by zeros
    size_t at, end; // of the current step, in bytes
    bool last;      // nothing follows the current step
} KeyPath;

static Mark path_mark(const KeyPath* path) {
    return source_mark(path->source, path->at);
}

// Goes to the next step and cuts it off.
static TdlStatus next_step(KeyPath* path) {
    path->end = path->at + strcspn(path->text + path->at, ".=");
    path->last = path->text[path->end] == '=';
    if (path->end == path->at) {
        return fail_at(&path->scene->host, path_mark(path), "a key is missing here");
    }
    path->text[path->end] = '\0';
    return TDL_STATUS_OK;
}

// The item of a list that the step names.
static TdlStatus find_item(const KeyPath* path, const Node* list, Node** out) {
    const char* step = path->text + path->at;
    int index;
    if (parse_int(step, &index) == NUMBER_FINE) {
        if (index < 0 || index >= list->count) {
            return fail_at(&path->scene->host, path_mark(path),
                           "there is no item %d: the list has %d, counted from 0", index,
                           list->count);
        }
        *out = node_item(list, index);
        return TDL_STATUS_OK;
    }
    Nearest nearest = nearest_to(step);
    for (Node* item = list->first; item != NULL; item = item->next) {
        const Node* name = item->kind == NODE_MAP ? node_find(item, "name") : NULL;
        if (name != NULL && name->kind == NODE_TEXT) {
            if (strcmp(name->text, step) == 0) {
                *out = item;
                return TDL_STATUS_OK;
            }
            nearest_try(&nearest, name->text, strlen(name->text));
        }
    }
    Quote q = quote(step);
    Hint hint = nearest_hint(&nearest);
    return fail_at(&path->scene->host, path_mark(path), "nothing in the list is named %s%s", q.text,
                   hint.text);
}

// The child of a map that the step names, created as an empty map when it is missing.
static TdlStatus find_child(const KeyPath* path, Node* map, Node** out) {
    const char* step = path->text + path->at;
    *out = node_find(map, step);
    if (*out != NULL) {
        return TDL_STATUS_OK;
    }
    if (map->count == YAML_KEYS_MAX) {
        return fail_at(&path->scene->host, path_mark(path), "more than %d keys in one group",
                       YAML_KEYS_MAX);
    }
    Node* child = node_new(&path->scene->pool, NODE_MAP, path_mark(path));
    if (child == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    child->key = step;
    child->key_mark = child->mark;
    node_append(map, child);
    *out = child;
    return TDL_STATUS_OK;
}

// Walks from the root to the node the path names; *parent is the one it hangs on.
static TdlStatus walk(KeyPath* path, Node** parent, Node** out) {
    Node* node = path->scene->root;
    for (int depth = 0;; ++depth) {
        TdlStatus status = next_step(path);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        if (depth == YAML_DEPTH_MAX) {
            return fail_at(&path->scene->host, path_mark(path), "nested more than %d deep",
                           YAML_DEPTH_MAX);
        }
        if (node->kind == NODE_TEXT) {
            return fail_at(&path->scene->host, path_mark(path), "what stands before has no keys");
        }
        *parent = node;
        status =
            node->kind == NODE_LIST ? find_item(path, node, &node) : find_child(path, node, &node);
        if (status != TDL_STATUS_OK || path->last) {
            *out = node;
            return status;
        }
        path->at = path->end + 1;
    }
}

static const Source* override_source(TdlScene* scene, const char* text) {
    static const char PREFIX[] = "--set ";
    char name[160];
    size_t length = strlen(text);
    snprintf(name, sizeof name, "%s%.120s%s", PREFIX, text, length > 120 ? "..." : "");
    return source_from_text(&scene->arena, name, text, length);
}

TdlStatus scene_override(TdlScene* scene, const char* text) {
    const Source* source = override_source(scene, text);
    char* copy = node_copy_text(&scene->pool, text, strlen(text));
    if (source == NULL || copy == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    const char* equals = strchr(text, '=');
    if (equals == NULL) {
        return fail_at(&scene->host, source_mark(source, source->size),
                       "an override is written path.to.key=value");
    }
    Node* value = NULL;
    size_t start = (size_t)(equals - text) + 1;
    TdlStatus status = yaml_parse(&scene->host, &scene->pool, source, start, &value);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    KeyPath path = {.scene = scene, .source = source, .text = copy};
    Node *parent = NULL, *old = NULL;
    status = walk(&path, &parent, &old);
    if (status == TDL_STATUS_OK) {
        value->key = old->key;
        value->key_mark = path_mark(&path);
        node_replace(parent, old, value);
    }
    return status;
}
