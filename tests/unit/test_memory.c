#include "base/memory.h"
#include "counting_allocator.h"
#include "test.h"

#include <stdint.h>
#include <string.h>

TEST(blocks_know_their_size_and_come_back) {
    AllocCounter counter = {0};
    TdlAllocator mem = counting_allocator(&counter);
    int* a = tdl_alloc_array(&mem, 10, sizeof *a);
    for (int i = 0; i < 10; ++i) {
        CHECK_INT(a[i], 0);
        a[i] = i;
    }
    a = tdl_grow_array(&mem, a, 1000, sizeof *a);
    CHECK_INT(a[9], 9);
    CHECK(counter.live > 0);
    tdl_free(&mem, a);
    tdl_free(&mem, NULL);
    CHECK_INT(counter.live, 0);
}

TEST(sizes_that_overflow_are_refused) {
    TdlHost host = tdl_host_default();
    CHECK(tdl_alloc_array(&host.mem, SIZE_MAX / 2, 3) == NULL);
    Arena arena;
    arena_init(&arena, &host.mem);
    CHECK(arena_alloc(&arena, SIZE_MAX / 4, 8) == NULL);
    CHECK(arena.failed);
    arena_destroy(&arena);
}

TEST(arena_blocks_are_aligned_and_apart) {
    TdlHost host = tdl_host_default();
    Arena arena;
    arena_init(&arena, &host.mem);
    unsigned char* last = NULL;
    for (int i = 0; i < 200; ++i) {
        size_t size = (size_t)(1 + 37 * i);
        unsigned char* block = arena_alloc(&arena, size, 1);
        REQUIRE(block != NULL);
        CHECK_INT((uintptr_t)block % 64, 0);
        memset(block, i, size);
        if (last != NULL) {
            CHECK_INT(last[0], i - 1);
        }
        last = block;
    }
    arena_destroy(&arena);
}

TEST(arena_reuses_released_memory_without_allocating) {
    AllocCounter counter = {0};
    TdlAllocator mem = counting_allocator(&counter);
    Arena arena;
    arena_init(&arena, &mem);
    long calls_after_first = 0;
    for (int pass = 0; pass < 5; ++pass) {
        ArenaMark start = arena_mark(&arena);
        double* outer = ARENA_NEW(&arena, double, 100);
        outer[99] = 1.0;
        for (int i = 0; i < 50; ++i) {
            ArenaMark inner = arena_mark(&arena);
            ARENA_NEW(&arena, double, 10000)[9999] = 2.0;
            if (i % 2 == 0) {
                arena_release(&arena, inner);
            }
        }
        CHECK(outer[99] == 1.0);
        arena_release(&arena, start);
        if (pass == 0) {
            calls_after_first = counter.calls;
        }
    }
    CHECK_INT(counter.calls, calls_after_first);
    arena_destroy(&arena);
    CHECK_INT(counter.live, 0);
}

TEST(arena_survives_a_failed_allocation) {
    for (long fail_at = 1; fail_at < 6; ++fail_at) {
        AllocCounter counter = {.fail_at = fail_at};
        TdlAllocator mem = counting_allocator(&counter);
        Arena arena;
        arena_init(&arena, &mem);
        int failures = 0;
        for (int i = 0; i < 8; ++i) {
            char* block = arena_alloc(&arena, 30000u << i, 1);
            failures += block == NULL;
        }
        CHECK_INT(failures, counter.calls >= fail_at);
        arena_destroy(&arena);
        CHECK_INT(counter.live, 0);
    }
}

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
TEST(released_scratch_is_poisoned) {
    TdlHost host = tdl_host_default();
    Arena arena;
    arena_init(&arena, &host.mem);
    ArenaMark mark = arena_mark(&arena);
    double* block = ARENA_NEW(&arena, double, 5);
    CHECK(!__asan_address_is_poisoned(&block[4]));
    CHECK(__asan_address_is_poisoned(&block[5]));
    arena_release(&arena, mark);
    CHECK(__asan_address_is_poisoned(&block[0]));
    arena_destroy(&arena);
}
#endif
