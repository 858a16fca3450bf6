// YAML as a tree of nodes that know where they stand in their source. The part of YAML that a
// scene needs: one document of maps, lists and texts; anchors, aliases, tags, repeated keys and
// keys that are not text are refused.
#ifndef TDL_SCENE_YAML_H
#define TDL_SCENE_YAML_H

#include "formats/source.h"

typedef enum NodeKind {
    NODE_TEXT,
    NODE_LIST,
    NODE_MAP,
} NodeKind;

typedef struct Node {
    NodeKind kind;
    bool quoted;               // a text that was written in quotes, so never a number
    Mark mark;                 // of the value
    const char* text;          // of a text
    const char* key;           // under which the node stands in a map; else null
    Mark key_mark;             //
    int count;                 // of children
    struct Node *first, *last; // children
    struct Node* next;         // sibling
} Node;

// Limits of what is read, far beyond any sensible scene.
enum { YAML_DEPTH_MAX = 32, YAML_KEYS_MAX = 1000, YAML_NODES_MAX = 4 << 20 };

// Where nodes come from; one for all files of a scene, so that the limit holds for their sum.
typedef struct NodePool {
    Arena* arena;
    int count; // nodes handed out
    Node* nodes;
    int nodes_left;
    char* text;
    size_t text_left;
} NodePool;

// Parses the bytes of `source` from `start` on. Columns in the first line count from the start of
// the source, so that a value behind "path=" has its true place.
TdlStatus yaml_parse(const TdlHost* host, NodePool* pool, const Source* source, size_t start,
                     Node** out);

Node* node_new(NodePool* pool, NodeKind kind, Mark mark); // null when out of memory
char* node_copy_text(NodePool* pool, const char* text, size_t length);
Node* node_find(const Node* map, const char* key); // null when not there
Node* node_item(const Node* list, int index);      // 0 <= index < count
void node_append(Node* parent, Node* child);
void node_remove(Node* parent, const Node* child);
void node_replace(Node* parent, const Node* old_child, Node* new_child); // takes its place

// Writes a tree as YAML; it parses to the same tree. Vectors and short maps go on one line.
TdlStatus yaml_write(const TdlHost* host, const Node* root, const char* path);

#endif
