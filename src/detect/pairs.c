// Lists of pairs: growing, and sorting with removal of duplicates.
#include "detect/broad.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(const TdlAllocator* mem, PairList* list, long count) {
    if (count <= list->capacity) {
        return true;
    }
    long capacity = count + count / 2 + 1024;
    void* grown = tdl_grow_array(mem, list->pair, (size_t)capacity, sizeof *list->pair);
    if (grown == NULL) {
        list->failed = true;
        return false;
    }
    list->pair = grown;
    list->capacity = capacity;
    return true;
}

void pair_list_add(const TdlAllocator* mem, PairList* list, uint64_t pair) {
    if (list->count < list->capacity || reserve(mem, list, list->count + 1)) {
        list->pair[list->count++] = pair;
    }
}

void pair_list_free(const TdlAllocator* mem, PairList* list) {
    tdl_free(mem, list->pair);
    tdl_free(mem, list->spare);
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

// Sorts the pairs and removes duplicates; false when memory runs out.
static bool pair_list_sort(const TdlAllocator* mem, PairList* list) {
    if (list->count < 2) {
        return true;
    }
    if (list->spare_capacity < list->capacity) {
        tdl_free(mem, list->spare);
        list->spare = tdl_alloc_array(mem, (size_t)list->capacity, sizeof *list->spare);
        list->spare_capacity = list->spare == NULL ? 0 : list->capacity;
    }
    if (list->spare == NULL) {
        return false;
    }
    for (int shift = 0; shift < 64; shift += 11) {
        if (pass(list->pair, list->spare, list->count, shift)) {
            uint64_t* swap = list->pair;
            long capacity = list->capacity;
            list->pair = list->spare;
            list->capacity = list->spare_capacity;
            list->spare = swap;
            list->spare_capacity = capacity;
        }
    }
    long kept = 1;
    for (long k = 1; k < list->count; ++k) {
        if (list->pair[k] != list->pair[kept - 1]) {
            list->pair[kept++] = list->pair[k];
        }
    }
    list->count = kept;
    return true;
}

bool pair_parts_start(const TdlAllocator* mem, PairParts* parts, int workers) {
    if (workers > parts->count) {
        PairList* grown = tdl_grow_array(mem, parts->part, (size_t)workers, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        memset(grown + parts->count, 0, (size_t)(workers - parts->count) * sizeof *grown);
        *parts = (PairParts){grown, workers};
    }
    for (int i = 0; i < parts->count; ++i) {
        parts->part[i].count = 0;
        parts->part[i].failed = false;
    }
    return true;
}

bool pair_parts_join(const TdlAllocator* mem, const PairParts* parts, PairList* out) {
    for (int i = 0; i < parts->count; ++i) {
        const PairList* part = &parts->part[i];
        if (part->failed || (part->count > 0 && !reserve(mem, out, out->count + part->count))) {
            return false;
        }
        if (part->count > 0) {
            memcpy(out->pair + out->count, part->pair, (size_t)part->count * sizeof *part->pair);
            out->count += part->count;
        }
    }
    return pair_list_sort(mem, out);
}

void pair_parts_free(const TdlAllocator* mem, PairParts* parts) {
    for (int i = 0; i < parts->count; ++i) {
        pair_list_free(mem, &parts->part[i]);
    }
    tdl_free(mem, parts->part);
    *parts = (PairParts){0};
}
