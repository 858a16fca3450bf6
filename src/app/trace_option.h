// --trace-detection and --trace-steps: recording the narrow phase of a run.
#ifndef TDL_APP_TRACE_OPTION_H
#define TDL_APP_TRACE_OPTION_H

#include "app/command.h"

typedef struct TraceOption {
    TdlTraceWriter* writer; // null: not asked for
    const char* path;
    long first, last; // steps
    TdlWatchFn watch; // the run's own, which goes on watching
    void* watch_user;
} TraceOption;

#define TRACE_OPTIONS                                                                              \
    {"trace-detection",                                                                            \
     0,                                                                                            \
     OPTION_OUTPUT,                                                                                \
     "F",                                                                                          \
     0,                                                                                            \
     0,                                                                                            \
     "record there every pair of curves that reached the narrow phase, for bench detection",       \
     false},                                                                                       \
    {                                                                                              \
        "trace-steps", 0, OPTION_TEXT, "A-B", 0, 0,                                                \
            "of --trace-detection: only steps A to B, or the one step A; default all", false       \
    }

// Reads the options, opens the file and has the run watched; EXIT_DONE, or the exit code.
int trace_begin(const Args* args, TdlRunDef* def, TraceOption* trace);

// Closes the file and says what it has; `code` is what the run came to, and is returned unless the
// file could not be written.
int trace_end(const Args* args, TraceOption* trace, int code);

#endif
