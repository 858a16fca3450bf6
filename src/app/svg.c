// The frame of an SVG picture, and text that is safe in XML.
#include "app/svg.h"

#include <stdbool.h>
#include <stdint.h>

void svg_open(FILE* out, int width, int height) {
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height);
}

void svg_close(FILE* out) {
    fprintf(out, "</svg>\n");
}

// The bytes of the character at `c` when it is whole UTF-8 that XML allows, else 0.
static int character_size(const unsigned char* c) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int size = c[0] < 0x80 ? 1 : c[0] >> 5 == 6 ? 2 : c[0] >> 4 == 14 ? 3 : c[0] >> 3 == 30 ? 4 : 0;
    uint32_t code = size < 2 ? c[0] : c[0] & (0x7fu >> size);
    for (int i = 1; i < size; ++i) {
        if (c[i] >> 6 != 2) {
            return 0;
        }
        code = code << 6 | (c[i] & 0x3fu);
    }
    bool allowed = code == '\t' || code == '\n' || (code >= ' ' && code < 0xd800) ||
                   (code >= 0xe000 && code < 0xfffe) || (code >= 0x10000 && code < 0x110000);
    return size > 0 && code >= least[size] && allowed ? size : 0;
}

void svg_text(FILE* out, const char* text) {
    const unsigned char* c = (const unsigned char*)text;
    while (*c != '\0') {
        int size = character_size(c);
        if (size == 0) {
            fputc('?', out);
        } else if (*c == '<') {
            fputs("&lt;", out);
        } else if (*c == '>') {
            fputs("&gt;", out); // ]]> ends more than it may
        } else if (*c == '&') {
            fputs("&amp;", out);
        } else if (*c == '"') {
            fputs("&quot;", out);
        } else {
            fwrite(c, 1, (size_t)size, out);
        }
        c += size == 0 ? 1 : size;
    }
}
