// For targets of binary files: changes to a good one, as from nothing a fuzzer does not find one;
// and files in memory for readers that want a path.
#ifndef TDL_FUZZ_BYTES_H
#define TDL_FUZZ_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// The file of an input, of exactly its size, freed with free. Its first byte chooses: the rest is
// the file, or changes to a good one, each of four bytes: place (low byte first) and value.
static inline uint8_t* fuzz_make_bytes(const uint8_t* data, size_t* size, const uint8_t* good,
                                       size_t good_size) {
    bool changes = data[0] % 4 != 0;
    size_t rest = *size - 1;
    *size = changes ? good_size : rest;
    uint8_t* copy = malloc(*size == 0 ? 1 : *size);
    memcpy(copy, changes ? good : data + 1, *size);
    for (size_t k = 0; changes && 4 * k + 4 <= rest; ++k) {
        const uint8_t* change = data + 1 + 4 * k;
        size_t place = change[0] | (size_t)change[1] << 8 | (size_t)change[2] << 16;
        copy[place % *size] = change[3];
    }
    return copy;
}

// Makes a file of bytes; `path` receives how to open it until `fuzz_remove_file`.
static inline int fuzz_make_file(const void* bytes, size_t size, char path[64]) {
    int handle = memfd_create("fuzz", 0);
    if (handle < 0 || (size > 0 && write(handle, bytes, size) != (ssize_t)size)) {
        abort();
    }
    snprintf(path, 64, "/proc/self/fd/%d", handle);
    return handle;
}

static inline void fuzz_remove_file(int handle) {
    close(handle);
}

// The whole of a file, kept until the end.
static inline uint8_t* fuzz_read_file(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        abort();
    }
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t* bytes = malloc(*size);
    if (bytes == NULL || fread(bytes, 1, *size, file) != *size || fclose(file) != 0) {
        abort();
    }
    return bytes;
}

#endif
