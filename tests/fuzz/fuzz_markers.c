// A libFuzzer target for the reader of recordings of markers. Whatever comes, reading ends with
// places or with one message that names line and column; what was read is written and read again.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_markers -dict=tests/fuzz/markers.dict CORPUS
#include "fit/markers.h"

#include "app/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// What the command's own parts ask for.
const Command* const COMMANDS[] = {NULL};

static int read_bytes(void* bytes, size_t size, char text[400], Tracks* out) {
    FILE* in = fmemopen(bytes, size, "r");
    FILE* messages = fmemopen(text, 400, "w");
    if (in == NULL || messages == NULL) {
        abort();
    }
    int code = tracks_read(in, "f", messages, out);
    fclose(messages);
    fclose(in);
    return code;
}

static void check(const Tracks* t) {
    for (int n = 0; n < t->moment_count; ++n) {
        if (!isfinite(t->times[n]) || (n > 0 && !(t->times[n] > t->times[n - 1]))) {
            abort();
        }
    }
    for (size_t k = 0; k < (size_t)t->moment_count * (size_t)t->marker_count; ++k) {
        TdlVec3 p = t->places[k];
        if (isinf(p.x) || isnan(p.x) != isnan(p.y) || isnan(p.x) != isnan(p.z)) {
            abort();
        }
    }
}

// Times that nine digits do not tell apart, and names with quotes, are not read again.
static void go_around(const Tracks* t) {
    char *written = NULL, text[400] = "";
    size_t size = 0;
    FILE* out = open_memstream(&written, &size);
    if (out == NULL || !tracks_write(t, out)) {
        abort();
    }
    fclose(out);
    Tracks again;
    if (read_bytes(written, size, text, &again) == EXIT_DONE) {
        if (again.moment_count != t->moment_count || tracks_lost(&again) != tracks_lost(t)) {
            abort();
        }
        tracks_free(&again);
    }
    free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) {
        return 0;
    }
    char text[400] = "";
    void* bytes = malloc(size); // fmemopen takes no constant ones
    memcpy(bytes, data, size);
    Tracks tracks;
    int code = read_bytes(bytes, size, text, &tracks);
    free(bytes);
    long line = 0;
    int column = 0;
    bool named = sscanf(text, "f:%ld:%d: ", &line, &column) == 2 && line >= 1 && column >= 1;
    if ((code == EXIT_DONE) != (text[0] == '\0') || (code != EXIT_DONE && !named)) {
        abort();
    }
    if (code == EXIT_DONE) {
        check(&tracks);
        go_around(&tracks);
    }
    tracks_free(&tracks);
    return 0;
}
