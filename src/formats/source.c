// Reading of source texts, and messages that show the place they speak of.
//
// A text is checked as a whole before anything parses it: it must be UTF-8 (shortest form, no
// surrogates) without control characters, so later stages never meet a NUL or half a character.
#include "formats/source.h"

#include "base/input.h"
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Code points of a line shown at most; more is cut around the caret.
enum { SHOWN_MAX = 96, SHOWN_BEFORE = 64, NAME_MAX_SHOWN = 1024 };

// --- code points
// ----------------------------------------------------------------------------------

size_t utf8_decode(const char* text, size_t size, unsigned* code) {
    static const unsigned LEAST[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char* s = (const unsigned char*)text;
    if (size == 0) {
        return 0;
    }
    size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (length == 0 || length > size || s[0] >= 0xf8) {
        return 0;
    }
    *code = length == 1 ? s[0] : s[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    bool surrogate = *code >= 0xd800 && *code < 0xe000;
    return *code < LEAST[length] || *code > 0x10ffff || surrogate ? 0 : length;
}

// Line breaks beyond ASCII and a byte-order mark inside the text are odd: with them, lines and
// columns would differ from what an editor shows.
bool utf8_is_plain(unsigned code) {
    bool space = code == '\t' || code == '\n' || code == '\r';
    bool control = (code < 0x20 && !space) || (code >= 0x7f && code < 0xa0);
    bool odd =
        code == 0x2028 || code == 0x2029 || code == 0xfeff || code == 0xfffe || code == 0xffff;
    return !control && !odd;
}

// Copies one code point to `out`, '?' for one that does not print; returns the bytes read and
// adds the bytes written to *used.
static size_t copy_printable(const char* text, size_t size, char* out, size_t* used) {
    unsigned code = 0;
    size_t length = utf8_decode(text, size, &code);
    if (length == 0 || !utf8_is_plain(code) || code == '\n' || code == '\r') {
        out[(*used)++] = '?';
        return length == 0 ? 1 : length;
    }
    memcpy(out + *used, text, length);
    *used += length;
    return length;
}

static char* copy_clean_name(Arena* arena, const char* name) {
    size_t size = strlen(name), used = 0;
    char* copy = ARENA_NEW(arena, char, size + 1);
    if (copy == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < size;) {
        i += copy_printable(name + i, size - i, copy, &used);
    }
    copy[used] = '\0';
    return copy;
}

Source* source_from_text(Arena* arena, const char* name, const char* text, size_t size) {
    Source* source = ARENA_NEW(arena, Source, 1);
    char* copy = ARENA_NEW(arena, char, size + 1);
    char* shown = copy_clean_name(arena, name);
    if (source == NULL || copy == NULL || shown == NULL) {
        return NULL;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    *source = (Source){shown, copy, size};
    return source;
}

// Reads from `file` until its end; grows the text as needed, for the file may.
static TdlStatus read_all(const TdlAllocator* mem, int file, char** text, size_t* size,
                          char* reason) {
    size_t capacity = 0;
    *text = NULL;
    *size = 0;
    for (;;) {
        if (*size == capacity) {
            capacity = capacity == 0 ? 1 << 14 : 2 * capacity;
            char* grown = tdl_grow_array(mem, *text, capacity, 1);
            if (grown == NULL) {
                return TDL_STATUS_NO_MEMORY;
            }
            *text = grown;
        }
        ssize_t got = read(file, *text + *size, capacity - *size);
        if (got == 0) {
            return TDL_STATUS_OK;
        }
        if (got < 0 && errno != EINTR) {
            snprintf(reason, 128, "%s", strerror(errno));
            return TDL_STATUS_IO;
        }
        *size += got > 0 ? (size_t)got : 0;
        if (*size > SOURCE_SIZE_MAX) {
            snprintf(reason, 128, "it is larger than %d MB", SOURCE_SIZE_MAX >> 20);
            return TDL_STATUS_IO;
        }
    }
}

TdlStatus source_from_file(const TdlHost* host, Arena* arena, const char* path, const Source** out,
                           char* reason) {
    int file = input_open(host, path, reason);
    if (file < 0) {
        return TDL_STATUS_IO;
    }
    char* text;
    size_t size;
    TdlStatus status = read_all(&arena->mem, file, &text, &size, reason);
    close(file);
    if (status == TDL_STATUS_OK) {
        *out = source_from_text(arena, path, text, size);
        status = *out == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    }
    tdl_free(&arena->mem, text);
    return status;
}

// --- places
// ---------------------------------------------------------------------------------------

// Bytes of the line break at `text`, 0 when there is none. A text ends with a zero.
static size_t break_length(const char* text) {
    return text[0] == '\r' && text[1] == '\n' ? 2 : text[0] == '\n' || text[0] == '\r';
}

static bool starts_code_point(char c) {
    return ((unsigned char)c & 0xc0) != 0x80;
}

size_t source_start(const Source* source) {
    static const char BYTE_ORDER_MARK[] = "\xef\xbb\xbf";
    return strncmp(source->text, BYTE_ORDER_MARK, 3) == 0 ? 3 : 0;
}

Mark source_mark(const Source* source, size_t offset) {
    Mark mark = {source, 1, 1};
    for (size_t i = source_start(source); i < offset && i < source->size;) {
        size_t length = break_length(source->text + i);
        if (length > 0 && i + length <= offset) {
            i += length;
            ++mark.line;
            mark.column = 1;
        } else {
            mark.column += starts_code_point(source->text[i++]);
        }
    }
    return mark;
}

static size_t line_start(const Source* source, int line) {
    size_t i = source_start(source);
    for (int at = 1; at < line && i < source->size;) {
        size_t length = break_length(source->text + i);
        at += length > 0;
        i += length > 0 ? length : 1;
    }
    return i;
}

// Writes the code points [first, first + SHOWN_MAX) of the line, and below it a caret at `column`
// with the same tabs in front, so that it stands under its letter.
static void show_line(const Source* source, Mark mark, char* out, size_t out_size) {
    int first = mark.column > SHOWN_MAX ? mark.column - SHOWN_BEFORE : 1;
    char shown[4 * SHOWN_MAX + 8] = "", below[SHOWN_MAX + 8] = "";
    size_t shown_size = 0, below_size = 0;
    if (first > 1) {
        shown_size = below_size = 3;
        memcpy(shown, "...", 3);
        memcpy(below, "   ", 3);
    }
    int column = 0;
    size_t i = line_start(source, mark.line);
    while (i < source->size && break_length(source->text + i) == 0 &&
           ++column < first + SHOWN_MAX) {
        char skipped[4];
        size_t none = 0;
        bool seen = column >= first;
        if (seen && column < mark.column) {
            below[below_size++] = source->text[i] == '\t' ? '\t' : ' ';
        }
        i += copy_printable(source->text + i, source->size - i, seen ? shown : skipped,
                            seen ? &shown_size : &none);
    }
    bool cut = column >= first + SHOWN_MAX;
    snprintf(out, out_size, "\n    %.*s%s\n    %.*s^", (int)shown_size, shown, cut ? "..." : "",
             (int)below_size, below);
}

TdlStatus fail_at(const TdlHost* host, Mark mark, const char* format, ...) {
    char text[1024], line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    show_line(mark.source, mark, line, sizeof line);
    // a very long path keeps its end, which tells more
    const char* name = mark.source->name;
    size_t length = strlen(name);
    bool cut = length > NAME_MAX_SHOWN;
    return tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s%s:%d:%d: %s%s", cut ? "..." : "",
                    cut ? name + length - NAME_MAX_SHOWN : name, mark.line, mark.column, text,
                    line);
}

Quote quote(const char* text) {
    Quote q = {"'"};
    size_t used = 1, size = strlen(text), i = 0;
    while (i < size && used + 9 <= QUOTE_SIZE) { // 4 bytes of a code point, "...'" and a zero
        i += copy_printable(text + i, size - i, q.text, &used);
    }
    memcpy(q.text + used, i == size ? "'" : "...'", i == size ? 2 : 5);
    return q;
}
