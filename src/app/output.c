// Writing of files, with messages.
#include "app/output.h"

#include <errno.h>
#include <string.h>

FILE* output_open(const char* path) {
    FILE* file = fopen(path, "wb");
    if (file == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    }
    return file;
}

bool output_close(FILE* file, const char* path, bool good) {
    bool written = !ferror(file);
    written = fclose(file) == 0 && written;
    if (good && !written) {
        fprintf(stderr, "%s: could not be written: %s\n", path, strerror(errno));
    }
    if (!good || !written) {
        remove(path);
    }
    return good && written;
}

void output_path(char out[OUTPUT_PATH_SIZE], const char* path, const char* ending,
                 const char* suffix) {
    size_t stem = strlen(path), tail = strlen(ending);
    if (stem > tail && strcmp(path + stem - tail, ending) == 0) {
        stem -= tail;
    }
    snprintf(out, OUTPUT_PATH_SIZE, "%.*s%s", (int)(stem > 4096 ? 4096 : stem), path, suffix);
}
