// Memory: the caller's allocator, and arenas for the scratch of a step.
#ifndef TDL_BASE_MEMORY_H
#define TDL_BASE_MEMORY_H

#include "tendril/base.h"

// Sizes are remembered in front of each block, so that freeing needs only the pointer.
void* tdl_alloc_zero(const TdlAllocator* mem, size_t size);
void* tdl_alloc_array(const TdlAllocator* mem, size_t count, size_t item_size); // zeroed
// Grows `block` (null or from tdl_alloc_*) to `count` items; null on failure, block kept. The new
// items are not cleared.
void* tdl_grow_array(const TdlAllocator* mem, void* block, size_t count, size_t item_size);
// Makes room for `count` items and half as many more, where `capacity` has less; `array` is the
// address of a pointer from tdl_alloc_*, or of null. False on failure, which leaves all as it was.
bool tdl_reserve(const TdlAllocator* mem, void* array, int* capacity, int count, size_t item_size);
void tdl_free(const TdlAllocator* mem, void* block);

// An arena hands out memory in order and takes it back all at once, or down to a mark. Blocks are
// 64-byte aligned. What is not handed out is poisoned under the address sanitizer, so reading
// scratch after its release is caught. It grows by chunks and keeps them: after a first pass, the
// same pattern of use allocates nothing.
typedef struct Arena {
    TdlAllocator mem;
    struct ArenaChunk* first;
    struct ArenaChunk* current;
    bool failed; // an allocation failed since the last reset
} Arena;

typedef struct ArenaMark {
    struct ArenaChunk* chunk;
    size_t used;
} ArenaMark;

void arena_init(Arena* arena, const TdlAllocator* mem);
void arena_destroy(Arena* arena);
void* arena_alloc(Arena* arena, size_t count, size_t item_size); // not cleared; null on failure
ArenaMark arena_mark(const Arena* arena);
void arena_release(Arena* arena, ArenaMark mark);

#define ARENA_NEW(arena, type, count) ((type*)arena_alloc((arena), (size_t)(count), sizeof(type)))

#endif
