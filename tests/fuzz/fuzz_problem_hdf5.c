// A libFuzzer target for contact problems in HDF5; as fuzz_problem_text.c. Seeds: any problem
// written by `tendril dfcp FILE --save-problem seed.hdf5`.
#include "fuzz_problem.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    return fuzz_problem(data, size, true);
}
