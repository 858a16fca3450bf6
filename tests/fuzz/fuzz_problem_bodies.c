// A libFuzzer target for problems in velocity space, and for FCLIB's, in HDF5: a good file of ours
// in which the input changes bytes and numbers. From nothing no fuzzer finds its way into that
// format.
#include "fuzz_problem.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

enum { FILES = 2, MOST_BYTES = 1 << 16 };

typedef struct Good {
    size_t size;
    char bytes[MOST_BYTES + 1];
} Good;

// Two bodies, one of which touches itself, rows over spans and a list; one contact of each law.
static TdlStatus make(const TdlHost* host, TdlFrictionProblem** out) {
    static const int start[] = {0, 4, 7}, body[] = {0, 1, 0, -1, 1, 1, 0, -1};
    static const TdlSpan span[] = {{0, 2}, {0, 3}, {1, 2}, {0, 0}, {0, 3}, {1, 1}, {0, 2}, {0, 0}};
    static const int pair[] = {0, 3};
    static const int* const list[8] = {pair};
    static const double mu[] = {0.3, 0.0, 0.7, INFINITY};
    static const unsigned char bilateral[] = {0, 1, 0, 0};
    static double h[3 * 13], y[3 * 18], velocity[7], u_free[12], guess[12];
    for (int k = 0; k < 3 * 18; ++k) {
        y[k] = cos(3.0 * k);
        h[k % 39] = sin(5.0 * k);
        velocity[k % 7] = sin(7.0 * k);
        u_free[k % 12] = -cos(1.0 + k);
        guess[k % 12] = k % 3 == 0 ? 1.0 : 0.0;
    }
    TdlFrictionBodiesDef def = {.laws = {.block_size = 3,
                                         .contact_count = 4,
                                         .mu = mu,
                                         .bilateral = bilateral,
                                         .guess = guess},
                                .body_count = 2,
                                .dof_start = start,
                                .velocity = velocity,
                                .u_free = u_free,
                                .body = body,
                                .span = span,
                                .list = list,
                                .h = h,
                                .y = y};
    return tdl_friction_problem_create_bodies(host, &def, out);
}

static bool write_and_load(const TdlFrictionProblem* problem, const char* end, Good* good) {
    TdlHost host = tdl_host_default();
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz-%d%s", (int)getpid(), end);
    if (tdl_friction_problem_write(&host, path, problem, NULL) != TDL_STATUS_OK) {
        return false;
    }
    FILE* file = fopen(path, "rb");
    good->size = file == NULL ? 0 : fread(good->bytes, 1, MOST_BYTES, file);
    if (file != NULL) {
        fclose(file);
    }
    remove(path);
    return good->size > 0;
}

static void prepare(Good good[FILES]) {
    TdlHost host = tdl_host_default();
    TdlFrictionProblem* problem;
    char text[] = "3 2 1 6 6 2 2 2 3 6 3 6 3 2 0 1 2 0 1 0 1 0 0 0 1 0 0 0 1 1 2 0 0 0 2 0 0 0 2 "
                  "-1 0 0 -1 0 0 0.5 0.5";
    if (make(&host, &problem) != TDL_STATUS_OK || !write_and_load(problem, ".hdf5", &good[0])) {
        abort();
    }
    tdl_friction_problem_destroy(problem);
    if (problem_from_bytes(&host, "problem", text, sizeof text - 1, &problem) != TDL_STATUS_OK ||
        !write_and_load(problem, ".hdf5", &good[1])) {
        abort();
    }
    tdl_friction_problem_destroy(problem);
}

// Four bytes of input are a change: where (two bytes), what, and with which value.
static size_t change(char* bytes, size_t size, const uint8_t* input) {
    static const double numbers[] = {0.0, 1.0, -1.0, 2.0, 4.0, 1.0e300, INFINITY, NAN};
    size_t at = (size_t)(input[0] | input[1] << 8) % size;
    uint64_t whole = input[3] < 128 ? input[3] : UINT64_MAX << (input[3] - 128) / 2;
    switch (input[2] % 5) {
    case 0:
        bytes[at] = (char)input[3];
        break;
    case 1:
        bytes[at] = (char)(bytes[at] ^ 1 << input[3] % 8);
        break;
    case 2:
        at &= ~(size_t)7;
        memcpy(bytes + at, &numbers[input[3] % 8], size - at < 8 ? size - at : 8);
        break;
    case 3:
        memcpy(bytes + at, &whole, size - at < 8 ? size - at : 8);
        break;
    default:
        return at < 16 ? size : at; // cut
    }
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static Good good[FILES];
    static char bytes[MOST_BYTES];
    if (good[0].size == 0) {
        prepare(good);
    }
    if (size < 1) {
        return -1;
    }
    const Good* from = &good[data[0] % FILES];
    size_t left = from->size;
    memcpy(bytes, from->bytes, left);
    for (size_t k = 1; k + 4 <= size && k < 200; k += 4) {
        left = change(bytes, left, data + k);
    }
    return fuzz_problem((const uint8_t*)bytes, left, true);
}
