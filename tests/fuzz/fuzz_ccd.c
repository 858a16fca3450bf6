// A libFuzzer target for the reader of collision queries. Whatever comes, reading ends with queries
// or with exactly one message that names a line; what was read is finite and answered alike by both
// versions of the search, and never missed when the exact test sees a collision.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_ccd -dict=tests/fuzz/ccd.dict CORPUS
#include "detect/ccd.h"
#include "detect/ccd_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void listen(void* user, TdlLogLevel level, const char* message) {
    int line;
    *(int*)user += level == TDL_LOG_ERROR;
    if (sscanf(message, "f:%d: ", &line) != 1 || line < 1) {
        abort();
    }
}

static void answer(const TdlCcdQuery* query) {
    TdlCcdOptions o = tdl_ccd_options_default(), exact = o;
    exact.method = TDL_CCD_EXACT;
    TdlCcdResult wide, plain, truth;
    TdlStatus a = tdl_ccd_query(query, &o, &wide);
    o.scalar = true;
    TdlStatus b = tdl_ccd_query(query, &o, &plain);
    TdlStatus c = tdl_ccd_query(query, &exact, &truth);
    if (a != TDL_STATUS_OK || b != TDL_STATUS_OK || c != TDL_STATUS_OK) {
        abort();
    }
    if (wide.collision != plain.collision || wide.time != plain.time) {
        abort();
    }
    if (truth.collision && !(wide.collision && wide.time <= truth.time)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    int errors = 0;
    TdlHost host = tdl_host_default();
    host.log = listen;
    host.log_user = &errors;
    TdlCcdFile file;
    TdlCcdKind kind = size % 2 == 0 ? TDL_CCD_VERTEX_FACE : TDL_CCD_EDGE_EDGE;
    TdlStatus status = ccd_file_parse(&host, "f", (const char*)data, size, kind, &file);
    if (errors != (status != TDL_STATUS_OK)) {
        abort();
    }
    for (int i = 0; i < file.count && i < 4; ++i) {
        answer(&file.queries[i]);
    }
    tdl_ccd_file_free(&file);
    return 0;
}
