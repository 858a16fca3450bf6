// Files of collision queries, read from memory.
#ifndef TDL_DETECT_CCD_FILE_H
#define TDL_DETECT_CCD_FILE_H

#include "tendril/ccd.h"

// tdl_ccd_file_read for text in memory; `name` stands for the path in messages.
TdlStatus ccd_file_parse(const TdlHost* host, const char* name, const char* text, size_t size,
                         TdlCcdKind kind, TdlCcdFile* out);

#endif
