// Files that are written whole or not at all, and never over what the command reads.
#ifndef TDL_APP_OUTPUT_H
#define TDL_APP_OUTPUT_H

#include "tendril/base.h"

#include <stdbool.h>
#include <stdio.h>

// Notes what is read, and refuses to write over it and over the files of a run's folder: exit 2.
// A TdlFileFn; the host of every command has it.
bool output_guard(void* user, const char* path, TdlFileUse use);

// Opens a file for writing; says on stderr why it cannot and returns null.
FILE* output_open(const char* path);

// One that is read while it grows: emptied at once, then written in its place.
FILE* output_open_growing(const char* path);

// Closes it and puts it in its place. When something could not be written, or `good` is false,
// what was there stays; the former is said on stderr. Returns whether the file stands.
bool output_close(FILE* file, bool good);

// The exit code where output_open or output_close said no: EXIT_USAGE where the file must not be
// written, EXIT_FAILED where it cannot be.
int output_failure(void);

// The exit code of `status` where all that was done with files was to write them.
int output_code(TdlStatus status);

// Ends what was written to stdout. Returns `code`; EXIT_FAILED instead of EXIT_DONE where that,
// which is then said, or a file could not be written.
int output_finish(int code);

// Opens streams that the caller left closed, so that no file takes their place, lets a write beyond
// a limit fail instead of ending the process, and takes the stack that is needed.
void output_prepare(void);

enum { OUTPUT_PATH_SIZE = 4200 };

// `path` with `suffix` in place of its ending `ending` (such as ".svg"), or behind it when it ends
// otherwise.
void output_path(char out[OUTPUT_PATH_SIZE], const char* path, const char* ending,
                 const char* suffix);

#endif
