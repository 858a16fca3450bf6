#include "io/problem_io.h"
#include "base/log.h"
#include <string.h>
bool problem_looks_like_hdf5(const unsigned char* data, size_t size) { return size>=8 && memcmp(data,"\x89HDF\r\n\x1a\n",8)==0; }
TdlStatus problem_parse_hdf5(const TdlHost* host, const char* name, const unsigned char* data,
                             size_t size, RawProblem* raw) {(void)data;(void)size;(void)raw; return tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: todo", name);}
TdlStatus problem_write_hdf5(const TdlHost* host, const char* path, const TdlFrictionProblem* p) {(void)p; return tdl_fail(host, TDL_STATUS_IO, "%s todo", path);}
