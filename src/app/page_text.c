// Texts and packed bytes inside a page.
#include "app/page_text.h"

#include <stdlib.h>
#include <zlib.h>

// Higher levels gain some 2 % on frames and take three times as long.
enum { PACK_LEVEL = 6 };

void page_put_text(FILE* out, const char* text) {
    fputc('"', out);
    for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; ++c) {
        if (*c < ' ' || *c == '"' || *c == '\\' || *c == '<' || *c == 0x7f) {
            fprintf(out, "\\u%04x", *c);
        } else {
            fputc(*c, out);
        }
    }
    fputc('"', out);
}

static void put_base64(FILE* out, const unsigned char* bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4 * 1024];
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        unsigned group = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0U) |
                         (left > 2 ? (unsigned)bytes[i + 2] : 0U);
        line[used++] = digits[group >> 18];
        line[used++] = digits[group >> 12 & 63];
        line[used++] = left > 1 ? digits[group >> 6 & 63] : '=';
        line[used++] = left > 2 ? digits[group & 63] : '=';
        if (used == sizeof line) {
            fwrite(line, 1, used, out);
            used = 0;
        }
    }
    fwrite(line, 1, used, out);
}

bool page_put_packed(FILE* out, const unsigned char* bytes, size_t size) {
    uLongf packed_size = compressBound((uLong)size);
    unsigned char* packed = malloc(packed_size);
    if (packed == NULL || compress2(packed, &packed_size, bytes, (uLong)size, PACK_LEVEL) != Z_OK) {
        free(packed);
        return false;
    }
    put_base64(out, packed, packed_size);
    free(packed);
    return true;
}
