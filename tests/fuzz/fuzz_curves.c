// A libFuzzer target for the readers of curves and meshes: the first byte chooses .hair, .obj or
// .csv, or the mesh of an .obj, the rest is the file. Whatever comes, reading ends with curves, a
// mesh, or with exactly one message, and takes no more memory than the bytes can justify.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_curves CORPUS
#include "collider/surface.h"
#include "io/curves.h"
#include "io/obj.h"

#include <stdlib.h>
#include <string.h>

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

static TdlStatus read_curves(const TdlHost* host, CurveFormat format, const char* text,
                             size_t size) {
    CurveSet set;
    TdlStatus status = curves_parse(host, "f", format, text, size, &set);
    if ((status == TDL_STATUS_OK) != (set.points != NULL)) {
        abort();
    }
    for (int i = 0; i < set.count; ++i) {
        for (int k = set.start[i]; k < set.start[i + 1]; ++k) {
            if (!tdl_finite3(set.points[k])) {
                abort();
            }
        }
    }
    curves_free(host, &set);
    return status;
}

// What was read as a mesh must be one.
static TdlStatus read_mesh(const TdlHost* host, const char* text, size_t size) {
    TdlMesh mesh;
    int fault;
    TdlStatus status = obj_parse_mesh(host, "f", text, size, &mesh);
    if (status == TDL_STATUS_OK && surface_find_fault(&mesh, &fault) != NULL) {
        abort();
    }
    obj_free_mesh(host, &mesh);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) {
        return 0;
    }
    TdlHost host = tdl_host_default();
    Watch watch = {.real = host.mem, .limit = 65536 + 64 * size};
    host.mem = (TdlAllocator){resize, &watch};
    host.log = listen;
    host.log_user = &watch;
    char* copy = malloc(size);
    memcpy(copy, data + 1, size - 1);
    copy[size - 1] = '\0';
    TdlStatus status = data[0] % 4 == 3
                           ? read_mesh(&host, copy, size - 1)
                           : read_curves(&host, (CurveFormat)(data[0] % 4), copy, size - 1);
    if (watch.errors != (status != TDL_STATUS_OK)) {
        abort();
    }
    free(copy);
    return watch.used == 0 ? 0 : (abort(), 0);
}
