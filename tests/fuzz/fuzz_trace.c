// A libFuzzer target for the reader of recorded narrow phases. Whatever comes, reading ends with
// curves that can be searched or with exactly one message that names a byte.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_trace -dict=tests/fuzz/trace.dict CORPUS
#include "detect/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void listen(void* user, TdlLogLevel level, const char* message) {
    size_t byte;
    *(int*)user += level == TDL_LOG_ERROR;
    if (sscanf(message, "f: byte %zu: ", &byte) != 1) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    int errors = 0;
    TdlHost host = tdl_host_default();
    host.log = listen;
    host.log_user = &errors;
    TdlTrace trace;
    TdlStatus status = trace_parse(&host, "f", data, size, &trace);
    if (errors != (status != TDL_STATUS_OK)) {
        abort();
    }
    for (int i = 0; i < trace.call_count && i < 4; ++i) {
        const TdlTraceCall* c = &trace.calls[i];
        if (c->b < 0) {
            // a plane that is there, with a normal
            if (-1 - c->b >= trace.plane_count ||
                !(fabs(tdl_norm3(trace.planes[-1 - c->b].normal) - 1.0) < 1.0e-6)) {
                abort();
            }
            continue;
        }
        TdlDistanceDef def = tdl_distance_def_default();
        def.bound = c->bound;
        def.box_limit = 1000;
        TdlDistance d;
        if (tdl_curve_distance(&host, &trace.curves[c->a], NULL, &trace.curves[c->b], NULL, &def,
                               &d) != TDL_STATUS_OK ||
            isnan(d.gap)) {
            abort();
        }
    }
    tdl_trace_free(&trace);
    return 0;
}
