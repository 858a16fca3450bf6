// From libyaml's events to nodes, by recursive descent with a depth limit.
//
// libyaml sees only texts that passed the checks below, so its reader never fails; what its
// scanner and parser refuse is told with their own words and place. Cost: linear in the text,
// times the keys of a map for the search of repeated ones.
#include "scene/yaml.h"

#include "base/check.h"
#include "base/log.h"

#include <string.h>
#include <yaml.h>

enum { NODES_PER_BLOCK = 64, TEXT_BLOCK = 4096 };

typedef struct Reader {
    const TdlHost* host;
    NodePool* pool;
    const Source* source;
    size_t start; // in bytes
    Mark first;   // of the start
    Mark end;     // of the source
    yaml_parser_t parser;
} Reader;

// --- nodes
// ----------------------------------------------------------------------------------------

Node* node_new(NodePool* pool, NodeKind kind, Mark mark) {
    if (pool->nodes_left == 0) {
        pool->nodes = ARENA_NEW(pool->arena, Node, NODES_PER_BLOCK);
        pool->nodes_left = pool->nodes == NULL ? 0 : NODES_PER_BLOCK;
    }
    if (pool->nodes == NULL) {
        return NULL;
    }
    Node* node = pool->nodes++;
    --pool->nodes_left;
    ++pool->count;
    *node = (Node){.kind = kind, .mark = mark};
    return node;
}

char* node_copy_text(NodePool* pool, const char* text, size_t length) {
    char* copy;
    if (length + 1 > TEXT_BLOCK / 4) {
        copy = ARENA_NEW(pool->arena, char, length + 1);
    } else {
        if (pool->text_left < length + 1) {
            pool->text = ARENA_NEW(pool->arena, char, TEXT_BLOCK);
            pool->text_left = pool->text == NULL ? 0 : TEXT_BLOCK;
        }
        copy = pool->text;
        if (copy != NULL) {
            pool->text += length + 1;
            pool->text_left -= length + 1;
        }
    }
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

Node* node_find(const Node* map, const char* key) {
    for (Node* child = map->first; child != NULL; child = child->next) {
        if (child->key != NULL && strcmp(child->key, key) == 0) {
            return child;
        }
    }
    return NULL;
}

Node* node_item(const Node* list, int index) {
    Node* child = list->first;
    for (; index > 0; --index) {
        child = child->next;
    }
    return child;
}

void node_append(Node* parent, Node* child) {
    child->next = NULL;
    *(parent->last == NULL ? &parent->first : &parent->last->next) = child;
    parent->last = child;
    ++parent->count;
}

// The link that leads to `child`; *before is its elder sibling, or null.
static Node** find_link(Node* parent, const Node* child, Node** before) {
    Node** link = &parent->first;
    *before = NULL;
    while (*link != child) {
        *before = *link;
        link = &(*link)->next;
    }
    return link;
}

void node_remove(Node* parent, const Node* child) {
    Node* before;
    Node** link = find_link(parent, child, &before);
    *link = child->next;
    if (parent->last == child) {
        parent->last = before;
    }
    --parent->count;
}

void node_replace(Node* parent, const Node* old_child, Node* new_child) {
    Node* before;
    Node** link = find_link(parent, old_child, &before);
    new_child->next = old_child->next;
    *link = new_child;
    if (parent->last == old_child) {
        parent->last = new_child;
    }
}

// --- checks of the text as a whole
// ----------------------------------------------------------------

static TdlStatus check_text(Reader* r) {
    const char* text = r->source->text;
    size_t size = r->source->size;
    for (size_t i = r->start; i < size;) {
        unsigned code = 0;
        size_t length = utf8_decode(text + i, size - i, &code);
        if (length == 0) {
            return fail_at(r->host, source_mark(r->source, i), "this byte, 0x%02x, is not UTF-8",
                           (unsigned char)text[i]);
        }
        if (!utf8_is_plain(code)) {
            return fail_at(r->host, source_mark(r->source, i),
                           "the control character U+%04X has no place in a scene", code);
        }
        i += length;
    }
    return TDL_STATUS_OK;
}

// --- events
// ---------------------------------------------------------------------------------------

// libyaml ends every text with a line break; a place behind one that is not there is the end.
static Mark mark_from(const Reader* r, yaml_mark_t m) {
    int line = (int)m.line + r->first.line, column = (int)m.column + 1;
    if (line > r->end.line) {
        return r->end;
    }
    column += m.line == 0 ? r->first.column - 1 : 0;
    return (Mark){r->source, line, column};
}

static TdlStatus parser_failed(Reader* r) {
    const yaml_parser_t* p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR) {
        return TDL_STATUS_NO_MEMORY;
    }
    const char* problem = p->problem == NULL ? "this is not YAML" : p->problem;
    if (p->error == YAML_READER_ERROR) {
        return fail_at(r->host, source_mark(r->source, r->start + p->problem_offset), "%s",
                       problem);
    }
    // the place of the problem, and of the construct around it when that began on another line
    Mark mark = mark_from(r, p->problem_mark), around = mark_from(r, p->context_mark);
    if (p->context == NULL) {
        return fail_at(r->host, mark, "%s", problem);
    }
    if (around.line == mark.line) {
        return fail_at(r->host, mark, "%s, %s", problem, p->context);
    }
    return fail_at(r->host, mark, "%s, %s of line %d", problem, p->context, around.line);
}

static TdlStatus next_event(Reader* r, yaml_event_t* event) {
    return yaml_parser_parse(&r->parser, event) ? TDL_STATUS_OK : parser_failed(r);
}

// Refuses what YAML has and a scene does not.
static TdlStatus check_event(Reader* r, const yaml_event_t* event) {
    const yaml_char_t *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return fail_at(r->host, mark_from(r, event->start_mark),
                       "aliases (*name) are not part of the scene language; write the value again");
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default:
        break;
    }
    if (anchor != NULL) {
        return fail_at(r->host, mark_from(r, event->start_mark),
                       "anchors (&name) are not part of the scene language");
    }
    if (tag != NULL) {
        return fail_at(r->host, mark_from(r, event->start_mark),
                       "tags (!name) are not part of the scene language");
    }
    return TDL_STATUS_OK;
}

static TdlStatus read_node(Reader* r, const yaml_event_t* event, int depth, Node** out);

static TdlStatus read_list(Reader* r, int depth, Node* list) {
    for (;;) {
        yaml_event_t event;
        TdlStatus status = next_event(r, &event);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        Node* item = NULL;
        status = end ? TDL_STATUS_OK : read_node(r, &event, depth + 1, &item);
        yaml_event_delete(&event);
        if (end || status != TDL_STATUS_OK) {
            return status;
        }
        node_append(list, item);
    }
}

// The key of a pair; *out stays null at the end of the map.
static TdlStatus read_key(Reader* r, const Node* map, Node** out) {
    yaml_event_t event;
    TdlStatus status = next_event(r, &event);
    if (status != TDL_STATUS_OK || event.type == YAML_MAPPING_END_EVENT) {
        return status;
    }
    Mark mark = mark_from(r, event.start_mark);
    status = check_event(r, &event);
    if (status == TDL_STATUS_OK && event.type != YAML_SCALAR_EVENT) {
        status = fail_at(r->host, mark, "a key must be a plain word");
    } else if (status == TDL_STATUS_OK) {
        status = read_node(r, &event, 0, out);
    }
    yaml_event_delete(&event);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    Quote key = quote((*out)->text);
    const Node* twin = node_find(map, (*out)->text);
    if (twin != NULL) {
        return fail_at(r->host, mark, "%s is given twice; the first is in line %d", key.text,
                       twin->key_mark.line);
    }
    if (map->count == YAML_KEYS_MAX) {
        return fail_at(r->host, mark, "more than %d keys in one group", YAML_KEYS_MAX);
    }
    return TDL_STATUS_OK;
}

static TdlStatus read_map(Reader* r, int depth, Node* map) {
    for (;;) {
        Node *key = NULL, *value = NULL;
        TdlStatus status = read_key(r, map, &key);
        if (status != TDL_STATUS_OK || key == NULL) {
            return status;
        }
        yaml_event_t event;
        status = next_event(r, &event);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        status = read_node(r, &event, depth + 1, &value);
        yaml_event_delete(&event);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        value->key = key->text;
        value->key_mark = key->mark;
        // nothing written: there is only the key to point at
        if (value->kind == NODE_TEXT && value->text[0] == '\0' && !value->quoted) {
            value->mark = key->mark;
        }
        node_append(map, value);
    }
}

static TdlStatus read_node(Reader* r, const yaml_event_t* event, int depth, Node** out) {
    TdlStatus status = check_event(r, event);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    Mark mark = mark_from(r, event->start_mark);
    if (depth > YAML_DEPTH_MAX) {
        return fail_at(r->host, mark, "nested more than %d deep", YAML_DEPTH_MAX);
    }
    if (r->pool->count >= YAML_NODES_MAX) {
        return fail_at(r->host, mark, "more than %d values", YAML_NODES_MAX);
    }
    bool is_list = event->type == YAML_SEQUENCE_START_EVENT;
    bool is_map = event->type == YAML_MAPPING_START_EVENT;
    Node* node = node_new(r->pool, is_list ? NODE_LIST : is_map ? NODE_MAP : NODE_TEXT, mark);
    if (node == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    *out = node;
    if (is_list) {
        return read_list(r, depth, node);
    }
    if (is_map) {
        return read_map(r, depth, node);
    }
    const char* text = (const char*)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, '\0', length) != NULL) {
        return fail_at(r->host, mark, "a text holds the character NUL");
    }
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text = node_copy_text(r->pool, text, length);
    return node->text == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

// The stream: one document, and nothing behind it.
static TdlStatus read_stream(Reader* r, Node** out) {
    Node* root = NULL;
    for (;;) {
        yaml_event_t event;
        TdlStatus status = next_event(r, &event);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        yaml_event_type_t type = event.type;
        Mark mark = mark_from(r, event.start_mark);
        if (type == YAML_DOCUMENT_START_EVENT && root != NULL) {
            status = fail_at(r->host, mark, "a second document; a scene is only one");
        } else if (type == YAML_STREAM_END_EVENT && root == NULL) {
            status = fail_at(r->host, mark, "there is nothing here");
        } else if (type == YAML_SCALAR_EVENT || type == YAML_SEQUENCE_START_EVENT ||
                   type == YAML_MAPPING_START_EVENT || type == YAML_ALIAS_EVENT) {
            status = read_node(r, &event, 0, &root);
        }
        yaml_event_delete(&event);
        if (status != TDL_STATUS_OK || type == YAML_STREAM_END_EVENT) {
            *out = root;
            return status;
        }
    }
}

TdlStatus yaml_parse(const TdlHost* host, NodePool* pool, const Source* source, size_t start,
                     Node** out) {
    Reader r = {.host = host,
                .pool = pool,
                .source = source,
                .start = start == 0 ? source_start(source) : start,
                .first = source_mark(source, start),
                .end = source_mark(source, source->size)};
    TdlStatus status = check_text(&r);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (!yaml_parser_initialize(&r.parser)) {
        return TDL_STATUS_NO_MEMORY;
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char*)source->text + r.start,
                                 source->size - r.start);
    status = read_stream(&r, out);
    yaml_parser_delete(&r.parser);
    return status;
}
