// The page of viewer/, as its build bundled it. Empty when it was left out of the build.
#ifndef TDL_APP_PAGE_H
#define TDL_APP_PAGE_H

#include <stddef.h>

extern const unsigned char PAGE_TEMPLATE[];
extern const size_t PAGE_TEMPLATE_SIZE; // 0: left out

#endif
