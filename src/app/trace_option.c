// Recording the narrow phase of a run: the world is watched from its first step on.
#include "app/trace_option.h"

#include "app/output.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void record(void* user, const TdlDetector* detector, long step) {
    TraceOption* trace = user;
    if (step >= trace->first && step <= trace->last) {
        tdl_trace_writer_add(trace->writer, detector, step); // the writer keeps its first failure
    }
}

static void watch(void* user, TdlWorld* world, const TdlStepInfo* info) {
    TraceOption* trace = user;
    if (info == NULL) {
        tdl_world_watch_detection(world, record, trace);
    }
    if (trace->watch != NULL) {
        trace->watch(trace->watch_user, world, info);
    }
}

// "A" or "A-B", from 1.
static bool read_steps(const char* text, TraceOption* trace) {
    char* end;
    trace->first = trace->last = strtol(text, &end, 10);
    if (end == text) {
        return false;
    }
    if (*end == '-') {
        const char* second = end + 1;
        trace->last = strtol(second, &end, 10);
        if (end == second) {
            return false;
        }
    }
    return *end == '\0' && trace->first >= 1 && trace->last >= trace->first;
}

int trace_begin(const Args* args, TdlRunDef* def, TraceOption* trace) {
    *trace = (TraceOption){.path = args_text(args, "trace-detection", NULL),
                           .first = 1,
                           .last = LONG_MAX,
                           .watch = def->watch,
                           .watch_user = def->watch_user};
    const char* steps = args_text(args, "trace-steps", NULL);
    if (steps != NULL && trace->path == NULL) {
        return usage_error(args, "--trace-steps belongs to --trace-detection");
    }
    if (steps != NULL && !read_steps(steps, trace)) {
        return usage_error(args, "--trace-steps %s: give A-B with 1 <= A <= B, or A", steps);
    }
    if (trace->path == NULL) {
        return EXIT_DONE;
    }
    TdlStatus status = tdl_trace_writer_create(args_host(args), trace->path, &trace->writer);
    if (status != TDL_STATUS_OK) {
        return output_code(status);
    }
    def->watch = watch;
    def->watch_user = trace;
    return EXIT_DONE;
}

int trace_end(const Args* args, TraceOption* trace, int code) {
    if (trace->writer == NULL) {
        return code;
    }
    long calls = 0;
    TdlStatus status = tdl_trace_writer_close(trace->writer, &calls);
    trace->writer = NULL;
    if (status != TDL_STATUS_OK) {
        return output_code(status);
    }
    if (!args_has(args, "quiet")) {
        fprintf(stderr, "%s: %ld pairs recorded\n", trace->path, calls);
    }
    return code;
}
