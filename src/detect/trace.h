// Recordings of the narrow phase, read from memory.
#ifndef TDL_DETECT_TRACE_H
#define TDL_DETECT_TRACE_H

#include "tendril/trace.h"

// tdl_trace_load for what is in memory; `name` stands for the file in messages.
TdlStatus trace_parse(const TdlHost* host, const char* name, const void* data, size_t size,
                      TdlTrace* out);

#endif
