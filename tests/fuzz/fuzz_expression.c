// A libFuzzer target for expressions. Whatever comes, parsing ends with an expression or with
// exactly one message; an expression can be evaluated anywhere, and its bounds hold what it is in
// the middle of a box. The same text is tried as a function of the time, too.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_expression -dict=tests/fuzz/expression.dict CORPUS
#include "tendril/formats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void count_error(void* user, TdlLogLevel level, const char* message) {
    (void)message;
    *(int*)user += level == TDL_LOG_ERROR;
}

static void try_time(const TdlHost* host, const char* text, const int* errors) {
    const char* const texts[6] = {text, NULL, NULL, NULL, NULL, text};
    int before = *errors;
    TdlTimeFn fn;
    TdlStatus status = tdl_time_fn_parse(host, texts, &fn);
    if (*errors - before != (status != TDL_STATUS_OK)) {
        abort();
    }
    if (status == TDL_STATUS_OK) {
        TdlVec3 value[2];
        fn.at(fn.data, 0.25, value);
        if (memcmp(&value[0].x, &value[1].z, sizeof(double)) != 0) { // each runs for itself
            abort();
        }
        tdl_time_fn_free(host, &fn);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    int errors = 0;
    TdlHost host = tdl_host_default();
    host.log = count_error;
    host.log_user = &errors;
    char* text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    TdlImplicit h = {0};
    TdlStatus status = tdl_implicit_parse(&host, text, &h);
    if (errors != (status != TDL_STATUS_OK)) {
        abort();
    }
    if (status == TDL_STATUS_OK) {
        TdlImplicitPoint p;
        TdlImplicitBounds b;
        h.at(h.data, (TdlVec3){0.25, -0.5, 1.0}, &p);
        h.over(h.data, (TdlVec3){0.0, -1.0, 0.5}, (TdlVec3){0.5, 0.0, 1.5}, &b);
        if (isfinite(p.value) && !(b.low <= p.value && p.value <= b.high)) {
            abort();
        }
        tdl_implicit_free(&host, &h);
    }
    try_time(&host, text, &errors);
    free(text);
    return 0;
}
