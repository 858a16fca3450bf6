// Messages to the host, formatted only when somebody listens.
#ifndef TDL_BASE_LOG_H
#define TDL_BASE_LOG_H

#include "tendril/base.h"

void tdl_log(const TdlHost* host, TdlLogLevel level, const char* format, ...) TDL_PRINTF(3, 4);

// Logs an error and returns `status`, so that a failure is told in one line.
TdlStatus tdl_fail(const TdlHost* host, TdlStatus status, const char* format, ...) TDL_PRINTF(3, 4);

#endif
