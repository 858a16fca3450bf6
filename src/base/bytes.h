// States as bytes: numbers one after the other, each in its eight bytes, so that a layout does not
// depend on how a compiler pads structs.
#ifndef TDL_BASE_BYTES_H
#define TDL_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct ByteWriter {
    char* at;
} ByteWriter;

typedef struct ByteReader {
    const char* at;
} ByteReader;

static inline void put_doubles(ByteWriter* out, const double* x, size_t count) {
    memcpy(out->at, x, count * sizeof *x);
    out->at += count * sizeof *x;
}

static inline void get_doubles(ByteReader* in, double* x, size_t count) {
    memcpy(x, in->at, count * sizeof *x);
    in->at += count * sizeof *x;
}

static inline void put_int(ByteWriter* out, int64_t x) {
    memcpy(out->at, &x, sizeof x);
    out->at += sizeof x;
}

static inline int64_t get_int(ByteReader* in) {
    int64_t x;
    memcpy(&x, in->at, sizeof x);
    in->at += sizeof x;
    return x;
}

#endif
