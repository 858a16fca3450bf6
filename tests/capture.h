// A host that keeps what the library says, for tests of messages.
#ifndef TDL_TEST_CAPTURE_H
#define TDL_TEST_CAPTURE_H

#include "tendril/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Capture {
    int errors;       // messages of level error
    char text[4096];  // the last one
    char first[4096]; // its first line
} Capture;

static inline void capture_log(void* user, TdlLogLevel level, const char* message) {
    Capture* capture = user;
    if (level == TDL_LOG_ERROR) {
        ++capture->errors;
        snprintf(capture->text, sizeof capture->text, "%s", message);
        snprintf(capture->first, sizeof capture->first, "%.*s", (int)strcspn(message, "\n"),
                 message);
    }
}

static inline TdlHost capture_host(Capture* capture) {
    TdlHost host = tdl_host_default();
    *capture = (Capture){0};
    host.log = capture_log;
    host.log_user = capture;
    return host;
}

// An allocator that counts, and fails at one call.
typedef struct FailingMemory {
    long live, calls;
    long fail_at; // 0: never
} FailingMemory;

static inline void* failing_resize(void* user, void* block, size_t old_size, size_t new_size) {
    FailingMemory* memory = user;
    if (new_size > 0 && ++memory->calls == memory->fail_at) {
        return NULL;
    }
    memory->live += (long)new_size - (long)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

#endif
