// FNV-1a with 64 bits: state hashes and checksums of files we wrote. Not for adversaries.
#ifndef TDL_BASE_HASH_H
#define TDL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START 0xcbf29ce484222325u

static inline uint64_t hash_bytes(uint64_t hash, const void* data, size_t size) {
    const unsigned char* bytes = data;
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

// The same for much: eight bytes at a time, turned so that every bit reaches every other.
static inline uint64_t hash_words(uint64_t hash, const void* data, size_t size) {
    const unsigned char* bytes = data;
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash = hash << 29 | hash >> 35;
    }
    return hash_bytes(hash, bytes, size);
}

#endif
