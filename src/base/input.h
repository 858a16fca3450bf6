// Files that are read: opened in one way, and judged by their first bytes.
#ifndef TDL_BASE_INPUT_H
#define TDL_BASE_INPUT_H

#include "tendril/base.h"

enum { INPUT_REASON = 128 };

// A descriptor of a regular file, of which the host is told; or -1, and why.
int input_open(const TdlHost* host, const char* path, char reason[INPUT_REASON]);

// What is wrong with a file of `total` bytes that begins with these `size`; null: nothing.
typedef const char* (*InputJudge)(const char* head, size_t size, uint64_t total);

// At most so many bytes are shown to a judge.
enum { INPUT_HEAD = 4096 };

// A text has no zero byte.
const char* input_judge_text(const char* head, size_t size, uint64_t total);

// The whole content of a file of at most `limit` bytes, once it was judged; with a zero byte
// behind, freed with tdl_free.
TdlStatus file_read(const TdlHost* host, const char* path, size_t limit, InputJudge judge,
                    char** data, size_t* size);

#endif
