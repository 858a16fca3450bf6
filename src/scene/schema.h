// The schema layer: tables of fields from which scenes are parsed, checked and documented.
//
// A Group describes one map of the scene language and the struct it is read into. The struct
// begins with `const Node* node`, the map it was read from (null when it was not given). To add a
// key to the language, add a member to the struct and a line to the table: parsing, ranges,
// defaults, messages and docs/scene.md follow.
#ifndef TDL_SCENE_SCHEMA_H
#define TDL_SCENE_SCHEMA_H

#include "scene/words.h"
#include "tendril/math.h"

#include <stdio.h>

typedef enum FieldKind { //  read into
    FIELD_REAL,          // double
    FIELD_INT,           // int
    FIELD_BOOL,          // bool
    FIELD_TEXT,          // const char*, at most 255 bytes
    FIELD_PATH,          // const char*: of a file, at most 4095 bytes
    FIELD_FORMULA,       // const char*: an expression, at most 4095 bytes
    FIELD_NAME,          // const char*: a letter, then letters, digits, '-' and '_'
    FIELD_NAMES,         // const char*[2]: two such names
    FIELD_CHOICE,        // int: which of `choices`
    FIELD_VEC3,          // TdlVec3
    FIELD_FUNCTION,      // Formula: a number or an expression of the time
    FIELD_FUNCTION3,     // Formula[3]
    FIELD_DIRECTION,     // TdlVec3, not zero; of any length
    FIELD_COUNT2,        // int[2]
    FIELD_COUNT3,        // int[3]
    FIELD_INTS,          // IntList: one number or more
    FIELD_CHOICES,       // IntList: one or more of `choices`
    FIELD_PAIR,          // double[2]: one number for both, or a list of two
    FIELD_VEC3S,         // VecList: one vector, or a list of vectors
    FIELD_GROUP,         // the struct of `group`, in place
    FIELD_GROUPS,        // GroupList: a list of maps
    FIELD_INCLUDE,       // nothing: includes are resolved before the schema is applied
} FieldKind;

typedef struct Formula {
    const Node* node;          // of its text
    const struct Field* field; // that it is of
    double value;              // where it is a number
    bool varies;               // it is an expression
} Formula;

typedef struct VecList {
    TdlVec3* items;
    int count;
    bool each; // given as a list of vectors, even of one
} VecList;

typedef struct IntList {
    int* items;
    int count;
} IntList;

typedef struct GroupList {
    void* items; // [count] of the group's struct
    int count;
} GroupList;

typedef struct Field {
    const char* key; // a null key ends the table
    FieldKind kind;
    size_t offset;
    const char* unit; // null: none
    Range range;      // of each number
    bool required;
    const char* fallback;         // default, written as in a scene; null: zero, "not given"
    const char* fallback_note;    // what not giving it means, when that is no value
    const char* (*choices)(void); // "a|b|c"
    const char* word;             // of a REAL: what may stand for a number, read as 0; null: none
    const struct Group* group;    // of a GROUP or GROUPS
    const char* help;             // one sentence
} Field;

typedef struct Group {
    const char* name; // "rod": what one is called in messages and titles
    const char* help; // a paragraph
    size_t size;      // of the struct
    const Field* fields;
    const char* brief; // the key that a value in place of the map is of; null: none
} Group;

// Defaults of the groups met so far, so that each is parsed once.
enum { SCHEMA_GROUPS_MAX = 64 };
typedef struct SchemaCache {
    const Group* group[SCHEMA_GROUPS_MAX];
    void* defaults[SCHEMA_GROUPS_MAX];
    int count;
} SchemaCache;

typedef struct SchemaReader {
    const TdlHost* host;
    NodePool* pool; // its arena holds what is read
    SchemaCache cache;
} SchemaReader;

// Reads `map` into the struct at `out`; reports the first mistake.
TdlStatus schema_read(SchemaReader* reader, const Group* group, const Node* map, void* out);

// Fills the struct at `out` with the group's defaults, as when nothing was given.
TdlStatus schema_defaults(SchemaReader* reader, const Group* group, void* out);

// Whether a number that the text of a node comes to at t = 0 is in the range of its field.
TdlStatus schema_check_start(const TdlHost* host, const Field* field, const Node* node,
                             double value);

// What a field takes, for messages and the page: "a number", "one of a|b".
Phrase schema_say_expected(const Field* field);

// Writes the tables of a group and of all groups below it, in Markdown.
void schema_document(const Group* group, FILE* out);

// Whether a text of so many bytes can be a name.
bool schema_is_name(const char* text, size_t length);

#endif
