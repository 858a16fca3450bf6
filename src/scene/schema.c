// Reading of nodes into structs by the tables, with checks. Every function reports the first
// mistake at its place and returns. Cost: linear in the nodes, times the fields of a group.
#include "scene/schema.h"

#include "base/check.h"
#include "base/log.h"
#include "formats/number.h"

#include <string.h>

// Bytes of a text, so that results can keep it in a fixed field.
enum { TEXT_MAX = 255, PATH_BYTES_MAX = 4095, NAME_MAX_BYTES = 63, GROUPS_MAX = 1 << 20 };

// --- words for messages
// ---------------------------------------------------------------------------

Phrase schema_say_expected(const Field* field) {
    Phrase p;
    static const char* const TEXTS[] = {
        [FIELD_REAL] = "a number",
        [FIELD_INT] = "a whole number",
        [FIELD_BOOL] = "true or false",
        [FIELD_TEXT] = "a text",
        [FIELD_PATH] = "the path of a file",
        [FIELD_FORMULA] = "an expression",
        [FIELD_NAME] = "a name",
        [FIELD_NAMES] = "a list of 2 names",
        [FIELD_CHOICE] = "one of ",
        [FIELD_VEC3] = "a list of 3 numbers",
        [FIELD_FUNCTION] = "a number or an expression of t",
        [FIELD_FUNCTION3] = "a list of 3 numbers or expressions of t",
        [FIELD_DIRECTION] = "a list of 3 numbers",
        [FIELD_COUNT2] = "a list of 2 whole numbers",
        [FIELD_COUNT3] = "a list of 3 whole numbers",
        [FIELD_INTS] = "a list of whole numbers",
        [FIELD_CHOICES] = "a list of ",
        [FIELD_PAIR] = "a number or a list of 2",
        [FIELD_VEC3S] = "a list of 3 numbers, or a list of such lists",
        [FIELD_GROUP] = "a group of keys",
        [FIELD_GROUPS] = "a list of groups, each behind a '-'",
        [FIELD_INCLUDE] = "a path or a list of paths",
    };
    snprintf(p.text, sizeof p.text, "%s%s%s", TEXTS[field->kind],
             field->choices != NULL ? field->choices()
             : field->word != NULL  ? " or "
                                    : "",
             field->word != NULL ? field->word : "");
    return p;
}

// `item` is what the place takes when it is inside the field's list.
static TdlStatus wrong_item(const SchemaReader* r, const Field* field, const Node* node,
                            const char* item) {
    Phrase expected = schema_say_expected(field), found = say_found(node);
    if (node->key == NULL) {
        return fail_at(r->host, node->mark, "%s takes %s here, not %s", field->key, item,
                       found.text);
    }
    return fail_at(r->host, node->mark, "%s must be %s, not %s", field->key, expected.text,
                   found.text);
}

static TdlStatus wrong_kind(const SchemaReader* r, const Field* field, const Node* node) {
    Phrase expected = schema_say_expected(field);
    return wrong_item(r, field, node, expected.text);
}

// --- values
// ---------------------------------------------------------------------------------------

static TdlStatus number_fault(const SchemaReader* r, const Field* field, const Node* node,
                              NumberFault fault, const char* item) {
    Quote q = quote(node->text);
    switch (fault) {
    case NUMBER_UNIT:
        return fail_at(
            r->host, node->mark, "%s is not a number: numbers are plain, in SI units%s%s", q.text,
            field->unit == NULL ? "" : ", here ", field->unit == NULL ? "" : field->unit);
    case NUMBER_LARGE:
        return fail_at(r->host, node->mark, "%s is too large a number", q.text);
    case NUMBER_SMALL:
        return fail_at(r->host, node->mark, "%s is too small a number to tell from 0", q.text);
    default:
        return wrong_item(r, field, node, item);
    }
}

static TdlStatus out_of_range(const SchemaReader* r, const Field* field, const Node* node) {
    Phrase range = say_range(&field->range);
    Quote q = quote(node->text);
    return fail_at(r->host, node->mark, "%s must be %s%s%s, not %.*s", field->key, range.text,
                   field->unit == NULL ? "" : " ", field->unit == NULL ? "" : field->unit,
                   (int)strlen(q.text) - 2, q.text + 1);
}

TdlStatus schema_check_start(const TdlHost* host, const Field* field, const Node* node,
                             double value) {
    Phrase range = say_range(&field->range);
    return range_holds(&field->range, value)
               ? TDL_STATUS_OK
               : fail_at(host, node->mark, "%s must be %s%s%s, and is %g at t = 0", field->key,
                         range.text, field->unit == NULL ? "" : " ",
                         field->unit == NULL ? "" : field->unit, value);
}

static TdlStatus read_real(const SchemaReader* r, const Field* field, const Node* node,
                           double* out) {
    if (node->kind != NODE_TEXT || node->quoted) {
        return wrong_item(r, field, node, "a number");
    }
    if (field->word != NULL && strcmp(node->text, field->word) == 0) {
        *out = 0.0;
        return TDL_STATUS_OK;
    }
    NumberFault fault = parse_real(node->text, out);
    if (fault != NUMBER_FINE) {
        return number_fault(r, field, node, fault, "a number");
    }
    return range_holds(&field->range, *out) ? TDL_STATUS_OK : out_of_range(r, field, node);
}

static TdlStatus read_int(const SchemaReader* r, const Field* field, const Node* node, int* out) {
    if (node->kind != NODE_TEXT || node->quoted) {
        return wrong_item(r, field, node, "a whole number");
    }
    NumberFault fault = parse_int(node->text, out);
    if (fault != NUMBER_FINE) {
        return number_fault(r, field, node, fault, "a whole number");
    }
    return range_holds(&field->range, *out) ? TDL_STATUS_OK : out_of_range(r, field, node);
}

static TdlStatus read_bool(const SchemaReader* r, const Field* field, const Node* node, bool* out) {
    int index =
        node->kind == NODE_TEXT && !node->quoted ? choice_index("false|true", node->text) : -1;
    *out = index == 1;
    return index < 0 ? wrong_kind(r, field, node) : TDL_STATUS_OK;
}

static TdlStatus read_text(const SchemaReader* r, const Field* field, const Node* node,
                           const char** out) {
    if (node->kind != NODE_TEXT || (node->text[0] == '\0' && !node->quoted)) {
        return wrong_kind(r, field, node);
    }
    size_t size = strlen(node->text);
    bool long_one = field->kind == FIELD_PATH || field->kind == FIELD_FORMULA ||
                    field->kind == FIELD_FUNCTION || field->kind == FIELD_FUNCTION3;
    int limit = long_one ? PATH_BYTES_MAX : TEXT_MAX;
    if (size > (size_t)limit) {
        return fail_at(r->host, node->mark, "%s is longer than %d bytes", field->key, limit);
    }
    // escapes in quotes can make characters that the file itself may not have
    for (size_t i = 0; i < size;) {
        unsigned code = 0;
        size_t length = utf8_decode(node->text + i, size - i, &code);
        if (length == 0 || !utf8_is_plain(code) || code == '\n' || code == '\r') {
            return fail_at(r->host, node->mark, "%s must be one line of printable characters",
                           field->key);
        }
        i += length;
    }
    *out = node->text;
    return TDL_STATUS_OK;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool schema_is_name(const char* text, size_t length) {
    bool fine = length > 0 && is_letter(text[0]) && length <= NAME_MAX_BYTES;
    for (size_t i = 0; fine && i < length; ++i) {
        char c = text[i];
        fine = is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
    }
    return fine;
}

static TdlStatus read_name(const SchemaReader* r, const Field* field, const Node* node,
                           const char** out) {
    TdlStatus status = read_text(r, field, node, out);
    if (status == TDL_STATUS_OK && !schema_is_name(node->text, strlen(node->text))) {
        Quote q = quote(node->text);
        return fail_at(r->host, node->mark,
                       "%s is not a name: a letter, then letters, digits, '-' and '_', at most %d",
                       q.text, NAME_MAX_BYTES);
    }
    return status;
}

static TdlStatus read_names(const SchemaReader* r, const Field* field, const Node* node,
                            const char** out) {
    if (node->kind != NODE_LIST || node->count != 2) {
        return wrong_kind(r, field, node);
    }
    TdlStatus status = read_name(r, field, node->first, &out[0]);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return read_name(r, field, node->first->next, &out[1]);
}

static TdlStatus read_choice(const SchemaReader* r, const Field* field, const Node* node,
                             int* out) {
    *out = node->kind == NODE_TEXT ? choice_index(field->choices(), node->text) : -1;
    if (*out >= 0) {
        return TDL_STATUS_OK;
    }
    if (node->kind != NODE_TEXT || node->text[0] == '\0') {
        return wrong_kind(r, field, node);
    }
    Nearest nearest = nearest_to(node->text);
    size_t length;
    const char* word;
    for (int i = 0; (word = choice_at(field->choices(), i, &length)) != NULL; ++i) {
        nearest_try(&nearest, word, length);
    }
    Quote q = quote(node->text);
    Hint hint = nearest_hint(&nearest);
    return fail_at(r->host, node->mark, "%s must be one of %s, not %s%s", field->key,
                   field->choices(), q.text, hint.text);
}

// `count` numbers of a list
static TdlStatus read_reals(const SchemaReader* r, const Field* field, const Node* node, int count,
                            double* out) {
    if (node->kind != NODE_LIST || node->count != count) {
        return wrong_item(r, field, node, "a list of 3 numbers");
    }
    TdlStatus status = TDL_STATUS_OK;
    for (const Node* item = node->first; status == TDL_STATUS_OK && item != NULL;
         item = item->next) {
        status = read_real(r, field, item, out++);
    }
    return status;
}

static TdlStatus read_vec3(const SchemaReader* r, const Field* field, const Node* node,
                           TdlVec3* out) {
    double x[3] = {0.0, 0.0, 0.0};
    TdlStatus status = read_reals(r, field, node, 3, x);
    *out = tdl_load3(x, 0);
    return status;
}

static TdlStatus read_function(const SchemaReader* r, const Field* field, const Node* node,
                               Formula* out) {
    const char* item = "a number or an expression of t";
    if (node->kind != NODE_TEXT || node->text[0] == '\0') {
        return wrong_item(r, field, node, item);
    }
    *out = (Formula){.node = node, .field = field};
    NumberFault fault = node->quoted ? NUMBER_NOT : parse_real(node->text, &out->value);
    if (fault == NUMBER_LARGE || fault == NUMBER_SMALL) {
        return number_fault(r, field, node, fault, item);
    }
    if (fault == NUMBER_FINE) {
        return range_holds(&field->range, out->value) ? TDL_STATUS_OK
                                                      : out_of_range(r, field, node);
    }
    const char* text;
    out->varies = true;
    return read_text(r, field, node, &text);
}

static TdlStatus read_functions(const SchemaReader* r, const Field* field, const Node* node,
                                Formula* out) {
    if (node->kind != NODE_LIST || node->count != 3) {
        return wrong_kind(r, field, node);
    }
    TdlStatus status = TDL_STATUS_OK;
    for (const Node* item = node->first; status == TDL_STATUS_OK && item != NULL;
         item = item->next) {
        status = read_function(r, field, item, out++);
    }
    return status;
}

static TdlStatus read_direction(const SchemaReader* r, const Field* field, const Node* node,
                                TdlVec3* out) {
    TdlStatus status = read_vec3(r, field, node, out);
    if (status == TDL_STATUS_OK && out->x == 0.0 && out->y == 0.0 && out->z == 0.0) {
        return fail_at(r->host, node->mark, "%s must not be zero", field->key);
    }
    return status;
}

// All that a list holds, whole numbers or choices.
static TdlStatus read_items(const SchemaReader* r, const Field* field, const Node* node, int* out) {
    TdlStatus status = TDL_STATUS_OK;
    for (const Node* item = node->first; status == TDL_STATUS_OK && item != NULL;
         item = item->next) {
        status = field->kind == FIELD_CHOICES ? read_choice(r, field, item, out)
                                              : read_int(r, field, item, out);
        ++out;
    }
    return status;
}

static TdlStatus read_counts(const SchemaReader* r, const Field* field, const Node* node, int count,
                             int* out) {
    if (node->kind != NODE_LIST || node->count != count) {
        return wrong_kind(r, field, node);
    }
    return read_items(r, field, node, out);
}

static TdlStatus read_list(const SchemaReader* r, const Field* field, const Node* node,
                           IntList* out) {
    if (node->kind != NODE_LIST) {
        return wrong_kind(r, field, node);
    }
    if (node->count == 0) {
        return fail_at(r->host, node->mark, "%s is empty", field->key);
    }
    out->count = node->count;
    out->items = ARENA_NEW(r->pool->arena, int, node->count);
    return out->items == NULL ? TDL_STATUS_NO_MEMORY : read_items(r, field, node, out->items);
}

static TdlStatus read_pair(const SchemaReader* r, const Field* field, const Node* node,
                           double* out) {
    if (node->kind == NODE_LIST) {
        return read_reals(r, field, node, 2, out);
    }
    TdlStatus status = read_real(r, field, node, &out[0]);
    out[1] = out[0];
    return status;
}

static TdlStatus read_vec3s(const SchemaReader* r, const Field* field, const Node* node,
                            VecList* out) {
    bool many = node->kind == NODE_LIST && node->count > 0 && node->first->kind == NODE_LIST;
    out->each = many;
    out->count = many ? node->count : 1;
    out->items = ARENA_NEW(r->pool->arena, TdlVec3, out->count);
    if (out->items == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (!many) {
        return read_vec3(r, field, node, out->items);
    }
    TdlStatus status = TDL_STATUS_OK;
    TdlVec3* next = out->items;
    for (const Node* item = node->first; status == TDL_STATUS_OK && item != NULL;
         item = item->next) {
        status = read_vec3(r, field, item, next++);
    }
    return status;
}

static TdlStatus read_groups(SchemaReader* r, const Field* field, const Node* node,
                             GroupList* out) {
    if (node->kind != NODE_LIST) {
        return wrong_kind(r, field, node);
    }
    if (node->count > GROUPS_MAX) {
        return fail_at(r->host, node->mark, "%s has more than %d entries", field->key, GROUPS_MAX);
    }
    if (node->count == 0) {
        return fail_at(r->host, node->mark, "%s is empty", field->key);
    }
    out->count = node->count;
    out->items = arena_alloc(r->pool->arena, (size_t)node->count, field->group->size);
    if (out->items == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = TDL_STATUS_OK;
    char* target = out->items;
    for (const Node* item = node->first; status == TDL_STATUS_OK && item != NULL;
         item = item->next) {
        status = schema_read(r, field->group, item, target);
        target += field->group->size;
    }
    return status;
}

static TdlStatus read_field(SchemaReader* r, const Field* field, const Node* node, void* target) {
    switch (field->kind) {
    case FIELD_REAL:
        return read_real(r, field, node, target);
    case FIELD_INT:
        return read_int(r, field, node, target);
    case FIELD_BOOL:
        return read_bool(r, field, node, target);
    case FIELD_TEXT:
    case FIELD_PATH:
    case FIELD_FORMULA:
        return read_text(r, field, node, target);
    case FIELD_NAME:
        return read_name(r, field, node, target);
    case FIELD_NAMES:
        return read_names(r, field, node, target);
    case FIELD_CHOICE:
        return read_choice(r, field, node, target);
    case FIELD_VEC3:
        return read_vec3(r, field, node, target);
    case FIELD_FUNCTION:
        return read_function(r, field, node, target);
    case FIELD_FUNCTION3:
        return read_functions(r, field, node, target);
    case FIELD_DIRECTION:
        return read_direction(r, field, node, target);
    case FIELD_COUNT2:
        return read_counts(r, field, node, 2, target);
    case FIELD_COUNT3:
        return read_counts(r, field, node, 3, target);
    case FIELD_INTS:
    case FIELD_CHOICES:
        return read_list(r, field, node, target);
    case FIELD_PAIR:
        return read_pair(r, field, node, target);
    case FIELD_VEC3S:
        return read_vec3s(r, field, node, target);
    case FIELD_GROUP:
        return schema_read(r, field->group, node, target);
    case FIELD_GROUPS:
        return read_groups(r, field, node, target);
    case FIELD_INCLUDE:
        return fail_at(r->host, node->key_mark, "only a file can include another");
    }
    return TDL_STATUS_BAD_ARGUMENT;
}

// --- groups
// ---------------------------------------------------------------------------------------

static TdlStatus unknown_key(const SchemaReader* r, const Group* group, const Node* node) {
    Nearest nearest = nearest_to(node->key);
    char keys[512];
    size_t used = 0;
    for (const Field* f = group->fields; f->key != NULL && used < sizeof keys; ++f) {
        nearest_try(&nearest, f->key, strlen(f->key));
        used += (size_t)snprintf(keys + used, sizeof keys - used, "%s%s",
                                 f == group->fields ? "" : ", ", f->key);
    }
    Quote q = quote(node->key);
    if (nearest.best != NULL) {
        Hint hint = nearest_hint(&nearest);
        return fail_at(r->host, node->key_mark, "unknown key %s in the %s%s", q.text, group->name,
                       hint.text);
    }
    return fail_at(r->host, node->key_mark, "unknown key %s in the %s; its keys are %s", q.text,
                   group->name, keys);
}

static const Field* find_field(const Group* group, const char* key) {
    for (const Field* f = group->fields; f->key != NULL; ++f) {
        if (strcmp(f->key, key) == 0) {
            return f;
        }
    }
    return NULL;
}

static TdlStatus check_required(const SchemaReader* r, const Group* group, const Node* map) {
    for (const Field* f = group->fields; f->key != NULL; ++f) {
        if (f->required && node_find(map, f->key) == NULL) {
            return fail_at(r->host, map->mark, "the %s needs the key '%s'", group->name, f->key);
        }
    }
    return TDL_STATUS_OK;
}

// The default of one field, from its text by the same functions as a value from a file.
static TdlStatus default_field(SchemaReader* r, const Field* field, char* target) {
    if (field->kind == FIELD_GROUP) {
        return schema_defaults(r, field->group, target);
    }
    if (field->fallback == NULL) {
        return TDL_STATUS_OK;
    }
    const Source* source =
        source_from_text(r->pool->arena, field->key, field->fallback, strlen(field->fallback));
    if (source == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    Node* node = NULL;
    TdlStatus status = yaml_parse(r->host, r->pool, source, 0, &node);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return read_field(r, field, node, target);
}

TdlStatus schema_defaults(SchemaReader* r, const Group* group, void* out) {
    for (int i = 0; i < r->cache.count; ++i) {
        if (r->cache.group[i] == group) {
            memcpy(out, r->cache.defaults[i], group->size);
            return TDL_STATUS_OK;
        }
    }
    char* defaults = arena_alloc(r->pool->arena, 1, group->size);
    if (defaults == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    memset(defaults, 0, group->size);
    for (const Field* f = group->fields; f->key != NULL; ++f) {
        TdlStatus status = default_field(r, f, defaults + f->offset);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    TDL_ASSERT(r->cache.count < SCHEMA_GROUPS_MAX);
    r->cache.group[r->cache.count] = group;
    r->cache.defaults[r->cache.count++] = defaults;
    memcpy(out, defaults, group->size);
    return TDL_STATUS_OK;
}

TdlStatus schema_read(SchemaReader* r, const Group* group, const Node* map, void* out) {
    if (map->kind != NODE_MAP && (group->brief == NULL || map->kind != NODE_TEXT)) {
        Phrase found = say_found(map);
        return fail_at(r->host, map->mark, "the %s must be a group of keys, not %s", group->name,
                       found.text);
    }
    TdlStatus status = schema_defaults(r, group, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    memcpy(out, &map, sizeof map);
    if (map->kind == NODE_TEXT) {
        const Field* field = find_field(group, group->brief);
        return read_field(r, field, map, (char*)out + field->offset);
    }
    for (const Node* child = map->first; child != NULL; child = child->next) {
        const Field* field = find_field(group, child->key);
        status = field == NULL ? unknown_key(r, group, child)
                               : read_field(r, field, child, (char*)out + field->offset);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return check_required(r, group, map);
}
