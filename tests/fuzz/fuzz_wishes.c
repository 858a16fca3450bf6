// A libFuzzer target for the words of a page that watches a run, a line each. Whatever comes, what
// is noted stays in the ranges in which a run goes on.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_wishes -dict=tests/fuzz/wishes.dict CORPUS
#include "app/wishes.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static bool within(TdlVec3 p, double most) {
    return fabs(p.x) <= most && fabs(p.y) <= most && fabs(p.z) <= most;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Wishes wishes = {.speed = 1.0};
    while (size > 0) {
        const uint8_t* end = memchr(data, '\n', size);
        size_t length = end == NULL ? size : (size_t)(end - data);
        char* words = malloc(length + 1);
        memcpy(words, data, length);
        words[length] = '\0';
        wishes_hear(&wishes, words);
        free(words);
        data += length + (end != NULL);
        size -= length + (end != NULL);
        if (!within(wishes.gravity, 300.0) || !within(wishes.target, 1.0e3) ||
            !(wishes.mu >= 0.0 && wishes.mu <= 10.0) || wishes.point < 0 ||
            !(wishes.speed >= 1.0e-6 && wishes.speed <= 1.0e6) || wishes.single_steps > 1000) {
            abort();
        }
    }
    return 0;
}
