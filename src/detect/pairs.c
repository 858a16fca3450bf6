// Lists of pairs: growing, and sorting with removal of duplicates.
#include "detect/broad.h"

#include <stdlib.h>
#include <string.h>

void pair_list_add(const TdlAllocator* mem, PairList* list, int i, int j) {
    if (list->count == list->capacity) {
        long capacity = 2 * list->capacity + 1024;
        void* grown = tdl_grow_array(mem, list->pair, (size_t)capacity, sizeof *list->pair);
        if (grown == NULL) {
            list->failed = true;
            return;
        }
        list->pair = grown;
        list->capacity = capacity;
    }
    uint64_t low = (uint64_t)(i < j ? i : j), high = (uint64_t)(i < j ? j : i);
    list->pair[list->count++] = low << 32 | high;
}

void pair_list_free(const TdlAllocator* mem, PairList* list) {
    tdl_free(mem, list->pair);
    *list = (PairList){0};
}

// One pass of a counting sort by the 11 bits from `shift` on; false when all keys agree there.
static bool pass(const uint64_t* from, uint64_t* to, long count, int shift) {
    enum { BUCKETS = 2048 };
    long start[BUCKETS] = {0};
    for (long k = 0; k < count; ++k) {
        ++start[from[k] >> shift & (BUCKETS - 1)];
    }
    if (start[from[0] >> shift & (BUCKETS - 1)] == count) {
        return false;
    }
    long sum = 0;
    for (int b = 0; b < BUCKETS; ++b) {
        long here = start[b];
        start[b] = sum;
        sum += here;
    }
    for (long k = 0; k < count; ++k) {
        to[start[from[k] >> shift & (BUCKETS - 1)]++] = from[k];
    }
    return true;
}

bool pair_list_sort(const TdlAllocator* mem, PairList* list) {
    if (list->count < 2) {
        return true;
    }
    uint64_t* other = tdl_alloc_array(mem, (size_t)list->capacity, sizeof *other);
    if (other == NULL) {
        return false;
    }
    for (int shift = 0; shift < 64; shift += 11) {
        if (pass(list->pair, other, list->count, shift)) {
            uint64_t* swap = list->pair;
            list->pair = other;
            other = swap;
        }
    }
    tdl_free(mem, other);
    long kept = 1;
    for (long k = 1; k < list->count; ++k) {
        if (list->pair[k] != list->pair[kept - 1]) {
            list->pair[kept++] = list->pair[k];
        }
    }
    list->count = kept;
    return true;
}
