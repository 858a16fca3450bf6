// Strings and numbers of JSON.
#include "app/json.h"

#include <math.h>
#include <stdio.h>

void json_text(const char* text) {
    putchar('"');
    for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') {
            printf("\\%c", *c);
        } else if (*c < ' ') {
            printf("\\u%04x", *c);
        } else {
            putchar(*c);
        }
    }
    putchar('"');
}

void json_real(double value) {
    if (isfinite(value)) {
        printf("%.17g", value);
    } else {
        printf("null");
    }
}
