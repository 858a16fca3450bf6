// Allocation through the caller's table, and arenas.
//
// A block carries its size in a 16-byte header, which keeps the alignment malloc gives. An arena
// is a list of chunks, each twice the size of the one before; release moves a cursor, O(1) per
// chunk passed.
#include "base/memory.h"

#include "base/check.h"

#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define TDL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TDL_ASAN 1
#endif
#endif

#ifdef TDL_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum { HEADER_SIZE = 16, ARENA_ALIGN = 64, FIRST_CHUNK = 1 << 14 };

static size_t block_size(const void* block) {
    size_t size;
    memcpy(&size, (const char*)block - HEADER_SIZE, sizeof size);
    return size;
}

void* tdl_grow_array(const TdlAllocator* mem, void* block, size_t count, size_t item_size) {
    if (item_size != 0 && count > (SIZE_MAX - HEADER_SIZE) / item_size) {
        return NULL;
    }
    size_t size = HEADER_SIZE + count * item_size;
    char* old = block == NULL ? NULL : (char*)block - HEADER_SIZE;
    char* raw = mem->resize(mem->user, old, old == NULL ? 0 : block_size(block), size);
    if (raw == NULL) {
        return NULL;
    }
    memcpy(raw, &size, sizeof size);
    return raw + HEADER_SIZE;
}

void* tdl_alloc_array(const TdlAllocator* mem, size_t count, size_t item_size) {
    void* block = tdl_grow_array(mem, NULL, count, item_size);
    if (block != NULL) {
        memset(block, 0, count * item_size);
    }
    return block;
}

void* tdl_alloc_zero(const TdlAllocator* mem, size_t size) {
    return tdl_alloc_array(mem, 1, size);
}

bool tdl_reserve(const TdlAllocator* mem, void* array, int* capacity, int count, size_t item_size) {
    if (count <= *capacity) {
        return true;
    }
    void* block;
    memcpy(&block, array, sizeof block);
    int room = count + count / 2 + 16;
    void* grown = tdl_grow_array(mem, block, (size_t)room, item_size);
    if (grown == NULL) {
        return false;
    }
    memcpy(array, &grown, sizeof grown);
    *capacity = room;
    return true;
}

void tdl_free(const TdlAllocator* mem, void* block) {
    if (block != NULL) {
        mem->resize(mem->user, (char*)block - HEADER_SIZE, block_size(block), 0);
    }
}

typedef struct ArenaChunk {
    struct ArenaChunk* next;
    size_t size, used;
    char* data; // aligned
} ArenaChunk;

void arena_init(Arena* arena, const TdlAllocator* mem) {
    *arena = (Arena){.mem = *mem};
}

void arena_destroy(Arena* arena) {
    for (ArenaChunk* chunk = arena->first; chunk != NULL;) {
        ArenaChunk* next = chunk->next;
        UNPOISON(chunk->data, chunk->size);
        tdl_free(&arena->mem, chunk);
        chunk = next;
    }
    arena->first = arena->current = NULL;
}

static ArenaChunk* new_chunk(Arena* arena, size_t size) {
    if (size > SIZE_MAX - sizeof(ArenaChunk) - ARENA_ALIGN) {
        return NULL;
    }
    ArenaChunk* chunk = tdl_grow_array(&arena->mem, NULL, sizeof *chunk + ARENA_ALIGN + size, 1);
    if (chunk == NULL) {
        return NULL;
    }
    uintptr_t data = ((uintptr_t)(chunk + 1) + ARENA_ALIGN - 1) & ~(uintptr_t)(ARENA_ALIGN - 1);
    *chunk = (ArenaChunk){.size = size, .data = (char*)data};
    POISON(chunk->data, chunk->size);
    return chunk;
}

// The next chunk that holds `size` bytes: a kept one, or a new one put behind the current.
static ArenaChunk* advance_chunk(Arena* arena, size_t size) {
    ArenaChunk* last = arena->current;
    for (ArenaChunk* chunk = last == NULL ? arena->first : last->next; chunk != NULL;
         chunk = chunk->next) {
        chunk->used = 0;
        last = chunk;
        if (chunk->size >= size) {
            return chunk;
        }
    }
    size_t grown = last == NULL ? FIRST_CHUNK : 2 * last->size;
    ArenaChunk* chunk = new_chunk(arena, grown > size ? grown : size);
    if (chunk != NULL) {
        *(last == NULL ? &arena->first : &last->next) = chunk;
    }
    return chunk;
}

void* arena_alloc(Arena* arena, size_t count, size_t item_size) {
    if (item_size != 0 && count > (SIZE_MAX / 2) / item_size) {
        arena->failed = true;
        return NULL;
    }
    size_t size = (count * item_size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (arena->current == NULL || arena->current->size - arena->current->used < size) {
        ArenaChunk* chunk = advance_chunk(arena, size);
        if (chunk == NULL) {
            arena->failed = true;
            return NULL;
        }
        arena->current = chunk;
    }
    char* block = arena->current->data + arena->current->used;
    arena->current->used += size;
    UNPOISON(block, count * item_size);
    return block;
}

ArenaMark arena_mark(const Arena* arena) {
    ArenaChunk* chunk = arena->current;
    return (ArenaMark){chunk, chunk == NULL ? 0 : chunk->used};
}

void arena_release(Arena* arena, ArenaMark mark) {
    ArenaChunk* chunk = mark.chunk == NULL ? arena->first : mark.chunk;
    if (chunk == NULL) {
        return;
    }
    TDL_ASSERT(mark.used <= chunk->used);
    chunk->used = mark.used;
    POISON(chunk->data + mark.used, chunk->size - mark.used);
    for (ArenaChunk* later = chunk->next; later != NULL; later = later->next) {
        later->used = 0;
        POISON(later->data, later->size);
    }
    arena->current = chunk;
}
