// Files that are written whole or not at all.
#ifndef TDL_APP_OUTPUT_H
#define TDL_APP_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

// Opens a file for writing; says on stderr why it cannot and returns null.
FILE* output_open(const char* path);

// Closes it. When something could not be written, or `good` is false, the file is removed; the
// former is said on stderr. Returns whether the file stands.
bool output_close(FILE* file, const char* path, bool good);

enum { OUTPUT_PATH_SIZE = 4200 };

// `path` with `suffix` in place of its ending `ending` (such as ".svg"), or behind it when it ends
// otherwise.
void output_path(char out[OUTPUT_PATH_SIZE], const char* path, const char* ending,
                 const char* suffix);

#endif
