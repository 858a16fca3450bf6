// Messages to the host.
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

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
