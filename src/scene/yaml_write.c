// From nodes to a YAML file, through libyaml's emitter. Texts keep their letters, so numbers lose
// no digit. The file appears whole or not at all: it is written beside its place and renamed.
#include "scene/yaml.h"

#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

// Maps with at most this many texts go on one line.
enum { FLOW_MAP_MAX = 6 };

static bool has_only_texts(const Node* node) {
    for (const Node* child = node->first; child != NULL; child = child->next) {
        if (child->kind != NODE_TEXT || strlen(child->text) > 16) {
            return false;
        }
    }
    return true;
}

// `event` goes to the emitter, which frees it in any case.
static bool emit(yaml_emitter_t* emitter, yaml_event_t* event, int made) {
    return made && yaml_emitter_emit(emitter, event);
}

static bool emit_text(yaml_emitter_t* emitter, const char* text, bool quoted) {
    yaml_event_t event;
    yaml_scalar_style_t style = quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;
    return emit(emitter, &event,
                yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t*)text,
                                             (int)strlen(text), 1, 1, style));
}

static bool emit_node(yaml_emitter_t* emitter, const Node* node) {
    yaml_event_t event;
    if (node->kind == NODE_TEXT) {
        return emit_text(emitter, node->text, node->quoted);
    }
    bool flow = has_only_texts(node);
    bool done;
    if (node->kind == NODE_LIST) {
        yaml_sequence_style_t style = flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE;
        done = emit(emitter, &event,
                    yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, style));
    } else {
        flow = flow && node->count <= FLOW_MAP_MAX;
        yaml_mapping_style_t style = flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE;
        done = emit(emitter, &event,
                    yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, style));
    }
    for (const Node* child = node->first; done && child != NULL; child = child->next) {
        done = (node->kind == NODE_LIST || emit_text(emitter, child->key, false)) &&
               emit_node(emitter, child);
    }
    return done && emit(emitter, &event,
                        node->kind == NODE_LIST ? yaml_sequence_end_event_initialize(&event)
                                                : yaml_mapping_end_event_initialize(&event));
}

static bool emit_document(yaml_emitter_t* emitter, const Node* root) {
    yaml_event_t event;
    return emit(emitter, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING)) &&
           emit(emitter, &event,
                yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1)) &&
           emit_node(emitter, root) &&
           emit(emitter, &event, yaml_document_end_event_initialize(&event, 1)) &&
           emit(emitter, &event, yaml_stream_end_event_initialize(&event));
}

static TdlStatus emit_file(FILE* file, const Node* root) {
    yaml_emitter_t emitter;
    if (!yaml_emitter_initialize(&emitter)) {
        return TDL_STATUS_NO_MEMORY;
    }
    yaml_emitter_set_output_file(&emitter, file);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    bool done = emit_document(&emitter, root);
    TdlStatus status = done                                 ? TDL_STATUS_OK
                       : emitter.error == YAML_MEMORY_ERROR ? TDL_STATUS_NO_MEMORY
                                                            : TDL_STATUS_IO;
    yaml_emitter_delete(&emitter);
    return status;
}

TdlStatus yaml_write(const TdlHost* host, const Node* root, const char* path) {
    TdlOutput out;
    TdlStatus status = tdl_output_begin(host, path, &out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    FILE* file = fopen(out.beside, "we");
    status = file == NULL ? TDL_STATUS_IO : emit_file(file, root);
    if (file != NULL) {
        bool flushed = fflush(file) == 0 && (fsync(fileno(file)) == 0 || errno == EINVAL);
        bool closed = fclose(file) == 0;
        status = status == TDL_STATUS_OK && !(flushed && closed) ? TDL_STATUS_IO : status;
    }
    if (status == TDL_STATUS_IO) {
        tdl_fail(host, status, "%s: could not be written: %s", path, strerror(errno));
    }
    TdlStatus ended = tdl_output_end(host, &out, status == TDL_STATUS_OK);
    return status == TDL_STATUS_OK ? ended : status;
}
