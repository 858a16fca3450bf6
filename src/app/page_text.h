// What goes into a page: texts of its JSON, and bytes packed with zlib and written in base64.
#ifndef TDL_APP_PAGE_TEXT_H
#define TDL_APP_PAGE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

// A JSON string that cannot end the script it stands in.
void page_put_text(FILE* out, const char* text);

// False when memory is short; failures to write are left in `out`.
bool page_put_packed(FILE* out, const unsigned char* bytes, size_t size);

#endif
