// The reference page of a schema, in Markdown: a table per group, from the same fields that the
// reader uses.
#include "scene/schema.h"

#include "base/check.h"

static void document_value(const Field* f, FILE* out) {
    if (f->choices != NULL) {
        size_t length;
        fputs(f->kind == FIELD_CHOICES ? "a list of " : "", out);
        const char* word;
        for (int i = 0; (word = choice_at(f->choices(), i, &length)) != NULL; ++i) {
            fprintf(out, "%s`%.*s`", i == 0 ? "" : " or ", (int)length, word);
        }
        return;
    }
    Phrase expected = schema_say_expected(f);
    fputs(expected.text, out);
    if (f->kind == FIELD_GROUP && f->group->brief != NULL) {
        fprintf(out, " or its `%s`", f->group->brief);
    }
    if (f->kind == FIELD_GROUP || f->kind == FIELD_GROUPS) {
        fprintf(out, ", see [%s](#%s)", f->group->name, f->group->name);
    }
    if (f->unit != NULL) {
        fprintf(out, ", %s", f->unit);
    }
    if (range_is_given(&f->range)) {
        Phrase range = say_range(&f->range);
        fprintf(out, ", %s", range.text);
    }
    if (f->kind == FIELD_DIRECTION) {
        fputs(", not zero", out);
    }
}

static void document_group(const Group* group, FILE* out) {
    fprintf(out,
            "\n## %s\n\n%s\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n",
            group->name, group->help);
    for (const Field* f = group->fields; f->key != NULL; ++f) {
        fprintf(out, "| `%s` | ", f->key);
        document_value(f, out);
        if (f->required) {
            fputs(" | **required**", out);
        } else if (f->fallback != NULL) {
            fprintf(out, " | `%s`", f->fallback);
        } else {
            fprintf(out, " | %s", f->fallback_note == NULL ? "" : f->fallback_note);
        }
        fprintf(out, " | %s |\n", f->help);
    }
}

// Collects the groups below `group`, each once, in the order they are met.
static int collect(const Group* group, const Group** found, int count) {
    for (int i = 0; i < count; ++i) {
        if (found[i] == group) {
            return count;
        }
    }
    TDL_ASSERT(count < SCHEMA_GROUPS_MAX);
    found[count++] = group;
    for (const Field* f = group->fields; f->key != NULL; ++f) {
        count = f->group == NULL ? count : collect(f->group, found, count);
    }
    return count;
}

void schema_document(const Group* group, FILE* out) {
    const Group* found[SCHEMA_GROUPS_MAX];
    int count = collect(group, found, 0);
    for (int i = 0; i < count; ++i) {
        document_group(found[i], out);
    }
}
