// Source texts and places in them: what a message about a scene points at.
#ifndef TDL_FORMATS_SOURCE_H
#define TDL_FORMATS_SOURCE_H

#include "base/memory.h"

// A text that was read: a file, or an override from the command line.
typedef struct Source {
    const char* name; // as shown in messages, without unprintable characters
    const char* text; // [size], with a zero behind it
    size_t size;
} Source;

// A place in a source. A line ends with LF, CR or CR LF; a column is one code point.
typedef struct Mark {
    const Source* source;
    int line, column; // from 1
} Mark;

enum { SOURCE_SIZE_MAX = 64 << 20 }; // bytes

// Copies a text (and its name) into the arena; null when out of memory.
Source* source_from_text(Arena* arena, const char* name, const char* text, size_t size);

// Reads a whole file. On failure it logs nothing: `reason` (which may be any text of the caller's,
// 128 bytes) says why, as an end of "cannot be read: ".
TdlStatus source_from_file(const TdlHost* host, Arena* arena, const char* path, const Source** out,
                           char* reason);

// The code point at `text`, of which `size` bytes are there: its length in bytes, or 0 when it is
// not UTF-8 in its shortest form.
size_t utf8_decode(const char* text, size_t size, unsigned* code);

// Printable, or white space that every editor takes for the same.
bool utf8_is_plain(unsigned code);

// Bytes of the byte-order mark some editors put at the start: 3 or 0. Columns do not count it.
size_t source_start(const Source* source);

// The place of the byte at `offset`.
Mark source_mark(const Source* source, size_t offset);

// Logs one error, "name:line:column: text", then the line and a caret under the column, and
// returns TDL_STATUS_BAD_INPUT.
TdlStatus fail_at(const TdlHost* host, Mark mark, const char* format, ...) TDL_PRINTF(3, 4);

// A stranger's text made fit for a message: in quotes, cut when long, and '?' for what is not
// printable.
enum { QUOTE_SIZE = 64 };
typedef struct Quote {
    char text[QUOTE_SIZE];
} Quote;
Quote quote(const char* text);

#endif
