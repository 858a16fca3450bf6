// A libFuzzer target for results: the first byte as in fuzz_bytes.h. Whatever comes, a result opens
// or is refused with exactly one message; what it says it has can be read, or is refused so.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_result CORPUS
#include "fuzz/fuzz_run.h"
#include "tendril/result.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
const char* __lsan_default_suppressions(void);

// HDF5 loses some of its own memory on damaged files.
__attribute__((visibility("default"))) const char* __lsan_default_suppressions(void) {
    return "leak:libhdf5";
}

static void count_error(void* user, TdlLogLevel level, const char* message) {
    (void)message;
    *(int*)user += level == TDL_LOG_ERROR;
}

// More than these bytes cannot say.
enum { MOST = 1 << 20 };

static void* room(long count, size_t size) {
    if (count < 0 || count > MOST) {
        abort();
    }
    return calloc((size_t)count + 1, size);
}

static void read_frame(TdlResult* result, long frame) {
    TdlResultInfo info = tdl_result_info(result);
    double* q = room(info.dof_count, sizeof *q);
    TdlPose* poses = room(info.rod_count + info.collider_count + info.body_count, sizeof *poses);
    TdlVec3* points = room(info.surface_point_count, sizeof *points);
    double* strains = room(info.cloth_point_count, sizeof *strains);
    TdlVec3* observed = room(info.observer_count, sizeof *observed);
    tdl_result_read_coordinates(result, frame, q);
    tdl_result_read_starts(result, frame, poses);
    tdl_result_read_poses(result, frame, poses);
    tdl_result_read_surfaces(result, frame, points);
    tdl_result_read_strains(result, frame, strains);
    tdl_result_read_observed(result, frame, observed);
    TdlStrands strands;
    TdlHost host = tdl_host_default();
    if (tdl_result_read_strands(result, frame, &strands) == TDL_STATUS_OK) {
        tdl_strands_free(&host, &strands);
    }
    free(q);
    free(poses);
    free(points);
    free(strains);
    free(observed);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static uint8_t* good;
    static size_t good_size;
    if (good == NULL) {
        good = fuzz_good_file("result.h5", &good_size);
    }
    if (size == 0) {
        return 0;
    }
    uint8_t* bytes = fuzz_make_bytes(data, &size, good, good_size);
    char path[64];
    int handle = fuzz_make_file(bytes, size, path), errors = 0;
    TdlHost host = tdl_host_default();
    host.log = count_error;
    host.log_user = &errors;
    TdlResult* result = NULL;
    TdlStatus status = tdl_result_open(&host, path, &result);
    if (errors != (status != TDL_STATUS_OK)) {
        abort();
    }
    if (status == TDL_STATUS_OK) {
        TdlResultInfo info = tdl_result_info(result);
        for (long frame = 0; frame < info.frame_count && frame < 4; ++frame) {
            read_frame(result, frame);
        }
        tdl_result_refresh(result);
        tdl_result_close(result);
    }
    fuzz_remove_file(handle);
    free(bytes);
    return 0;
}
