// What a caller meets first: the default host, the words of a status, the version.
#include "tendril/base.h"

#include <stdlib.h>

static void* heap_resize(void* user, void* block, size_t old_size, size_t new_size) {
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

TdlHost tdl_host_default(void) {
    return (TdlHost){.mem = {heap_resize, NULL}, .log_level = TDL_LOG_INFO};
}

const char* tdl_status_string(TdlStatus status) {
    switch (status) {
    case TDL_STATUS_OK:
        return "done";
    case TDL_STATUS_NO_MEMORY:
        return "out of memory";
    case TDL_STATUS_BAD_ARGUMENT:
        return "argument out of range";
    case TDL_STATUS_BAD_INPUT:
        return "bad input";
    case TDL_STATUS_IO:
        return "file could not be read or written";
    case TDL_STATUS_DIVERGED:
        return "the computation did not converge";
    case TDL_STATUS_STOPPED:
        return "stopped on request";
    }
    return "unknown status";
}

const char* tdl_version(void) {
    return TENDRIL_VERSION;
}
