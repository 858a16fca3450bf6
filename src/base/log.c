// Status texts, and messages to the host.
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

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

static void log_list(const TdlHost* host, TdlLogLevel level, const char* format, va_list args) {
    if (host->log == NULL || level > host->log_level) {
        return;
    }
    char text[4096];
    vsnprintf(text, sizeof text, format, args);
    host->log(host->log_user, level, text);
}

void tdl_log(const TdlHost* host, TdlLogLevel level, const char* format, ...) {
    va_list args;
    va_start(args, format);
    log_list(host, level, format, args);
    va_end(args);
}

TdlStatus tdl_fail(const TdlHost* host, TdlStatus status, const char* format, ...) {
    va_list args;
    va_start(args, format);
    log_list(host, TDL_LOG_ERROR, format, args);
    va_end(args);
    return status;
}
