// A libFuzzer target for log.csv: read for the plots of a page, and for its last row. Whatever
// comes, the first ends with whole columns, the second with a row or exactly one message.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_log CORPUS
#include "app/page_log.h"
#include "fuzz/fuzz_bytes.h"
#include "run/step_log.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void count_error(void* user, TdlLogLevel level, const char* message) {
    (void)message;
    *(int*)user += level == TDL_LOG_ERROR;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    char path[64];
    int handle = fuzz_make_file(data, size, path), errors = 0;
    TdlHost host = tdl_host_default();
    host.log = count_error;
    host.log_user = &errors;
    TdlStepInfo info;
    if (step_log_last(&host, path, &info) == TDL_STATUS_OK ? errors != 0 : errors != 1) {
        abort();
    }
    PageLog log;
    double sum = 0.0;
    if (page_log_read(path, &log) != TDL_STATUS_OK || log.column_count > PAGE_LOG_COLUMNS) {
        abort();
    }
    for (int c = 0; c < log.column_count; ++c) {
        if (memchr(log.names[c], '\0', PAGE_LOG_NAME) == NULL) {
            abort();
        }
        for (long i = 0; i < log.row_count; ++i) {
            sum += log.values[c * log.row_count + i];
        }
    }
    volatile double seen = sum; // every value was read
    (void)seen;
    page_log_free(&log);
    fuzz_remove_file(handle);
    return 0;
}
