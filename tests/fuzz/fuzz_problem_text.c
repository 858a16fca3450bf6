// A libFuzzer target for contact problems as text. Whatever comes, reading ends with a problem or
// with exactly one message, and memory stays within a multiple of the input.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_problem_text -dict=tests/fuzz/problem.dict CORPUS
#include "fuzz_problem.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    return fuzz_problem(data, size, false);
}
