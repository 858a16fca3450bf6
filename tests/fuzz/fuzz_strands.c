// A libFuzzer target for files of strands: the first byte as in fuzz_bytes.h. Whatever comes,
// reading ends with strands that a world would take, or with exactly one message, and takes no more
// memory than the bytes can justify.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_strands CORPUS
#include "fuzz/fuzz_bytes.h"
#include "ref/strands_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

typedef struct Watch {
    TdlAllocator real;
    size_t used, limit;
    int errors;
} Watch;

static void listen(void* user, TdlLogLevel level, const char* message) {
    Watch* watch = user;
    watch->errors += level == TDL_LOG_ERROR;
    if (strncmp(message, "f:", 2) != 0) {
        abort(); // a message without its place
    }
}

static void* resize(void* user, void* block, size_t old_size, size_t new_size) {
    Watch* watch = user;
    if (watch->used - old_size + new_size > watch->limit) {
        abort();
    }
    watch->used = watch->used - old_size + new_size;
    return watch->real.resize(watch->real.user, block, old_size, new_size);
}

// The bytes of a good file, made once.
static const uint8_t* good_file(size_t* size) {
    static uint8_t* bytes;
    static size_t count;
    if (count == 0) {
        char path[] = "/tmp/fuzz-strands-XXXXXX";
        int handle = mkstemp(path);
        TdlHost host = tdl_host_default();
        StrandsSample sample;
        strands_sample(&sample, "super-clothoid");
        if (handle < 0 || tdl_strands_write(&host, path, &sample.strands) != TDL_STATUS_OK) {
            abort();
        }
        bytes = fuzz_read_file(path, &count);
        close(handle);
        unlink(path);
    }
    *size = count;
    return bytes;
}

static void check_strands(const TdlStrands* strands) {
    size_t first = 0;
    for (int i = 0; i < strands->count; ++i) {
        TdlRodDef def = tdl_rod_def_default();
        first += (size_t)strands_shape(strands, i, first, &def);
        if (tdl_rod_def_fault(&def) != NULL) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) {
        return 0;
    }
    size_t good_size;
    const uint8_t* good = good_file(&good_size);
    uint8_t* file = fuzz_make_bytes(data, &size, good, good_size);
    TdlHost host = tdl_host_default();
    Watch watch = {.real = host.mem, .limit = 65536 + 8 * size};
    host.mem = (TdlAllocator){resize, &watch};
    host.log = listen;
    host.log_user = &watch;
    TdlStrands strands;
    TdlStatus status = strands_parse(&host, "f", file, size, &strands);
    if (status == TDL_STATUS_OK) {
        check_strands(&strands);
    }
    if (watch.errors != (status != TDL_STATUS_OK) ||
        (status != TDL_STATUS_OK && status != TDL_STATUS_BAD_INPUT)) {
        abort();
    }
    tdl_strands_free(&host, &strands);
    free(file);
    return watch.used == 0 ? 0 : (abort(), 0);
}
