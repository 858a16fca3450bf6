// An allocator that counts what is alive and can let one call fail, or all from one on, for tests
// of failure paths. The library's threads may call it at once.
#ifndef TDL_COUNTING_ALLOCATOR_H
#define TDL_COUNTING_ALLOCATOR_H

#include "tendril/base.h"

#include <stdlib.h>

typedef struct AllocCounter {
    _Atomic long live, calls;
    long fail_at;   // the call that fails; 0 for none
    long fail_from; // the first of those that fail; 0 for none
} AllocCounter;

static inline void* counting_allocator_resize(void* user, void* block, size_t old_size,
                                              size_t new_size) {
    AllocCounter* counter = user;
    long call = new_size > 0 ? ++counter->calls : 0;
    bool fails = counter->fail_from > 0 && call >= counter->fail_from;
    if (call > 0 && (call == counter->fail_at || fails)) {
        return NULL;
    }
    counter->live += (long)new_size - (long)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

static inline TdlAllocator counting_allocator(AllocCounter* counter) {
    return (TdlAllocator){counting_allocator_resize, counter};
}

#endif
