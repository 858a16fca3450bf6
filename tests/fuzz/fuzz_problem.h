// What all targets for problem files do with their bytes.
#ifndef TDL_FUZZ_PROBLEM_H
#define TDL_FUZZ_PROBLEM_H

#include "formats/hdf5_reader.h"
#include "formats/problem_io.h"

#include <stdlib.h>
#include <string.h>

typedef struct FuzzHost {
    TdlAllocator real;
    size_t used, limit;
    int errors;
} FuzzHost;

static void fuzz_listen(void* user, TdlLogLevel level, const char* message) {
    FuzzHost* host = user;
    host->errors += level == TDL_LOG_ERROR;
    if (strncmp(message, "problem:", 8) != 0) {
        abort(); // a message without its place
    }
}

static void* fuzz_resize(void* user, void* block, size_t old_size, size_t new_size) {
    FuzzHost* host = user;
    if (host->used - old_size + new_size > host->limit) {
        abort(); // more memory than the input can justify
    }
    void* result = host->real.resize(host->real.user, block, old_size, new_size);
    host->used = host->used - old_size + new_size;
    return result;
}

// A problem that reads and is small is also solved for a moment: nothing in it may trip a solver.
static void fuzz_solve(const TdlFrictionProblem* problem) {
    TdlFrictionSize size = tdl_friction_problem_size(problem);
    if (size.contact_count > 20) {
        return;
    }
    TdlHost host = tdl_host_default();
    TdlFrictionOptions options = tdl_friction_options_default();
    options.max_iterations = 5;
    TdlFrictionSolver* solver;
    if (tdl_friction_solver_create(&host, &options, &solver) != TDL_STATUS_OK) {
        abort();
    }
    double r[20 * 6] = {0};
    TdlFrictionInfo info;
    tdl_friction_solver_solve(solver, problem, r, NULL, &info);
    if (info.outcome == TDL_FRICTION_CONVERGED && !(info.error <= options.tolerance)) {
        abort();
    }
    tdl_friction_solver_destroy(solver);
}

static int fuzz_problem(const uint8_t* data, size_t size, bool hdf5) {
    TdlHost host = tdl_host_default();
    // global problems may hold dense factors of small bodies besides
    FuzzHost meter = {host.mem, 0, 2000 * size + ((size_t)1 << 26), 0};
    host.mem = (TdlAllocator){fuzz_resize, &meter};
    host.log = fuzz_listen;
    host.log_user = &meter;
    if (hdf5_looks_like(data, size) != hdf5) {
        return -1;
    }
    char* bytes = malloc(size + 1);
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    TdlFrictionProblem* problem = NULL;
    TdlStatus status = problem_from_bytes(&host, "problem", bytes, size, &problem);
    free(bytes);
    if (status == TDL_STATUS_OK) {
        fuzz_solve(problem);
        tdl_friction_problem_destroy(problem);
    }
    if (meter.errors != (status == TDL_STATUS_OK || status == TDL_STATUS_NO_MEMORY ? 0 : 1) ||
        meter.used != 0) {
        abort();
    }
    return 0;
}

#endif
