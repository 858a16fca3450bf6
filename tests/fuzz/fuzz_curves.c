// A libFuzzer target for the readers of curves, meshes and caches: the first byte chooses .hair,
// .obj or .csv, the mesh of an .obj, or a .pc2, the rest is the file. Whatever comes, reading ends
// with curves, a mesh, or with exactly one message, and takes no more memory than the bytes can
// justify; a cache has all the points that it says.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz/fuzz_curves CORPUS
#include "body/surface.h"
#include "formats/curves.h"
#include "formats/obj.h"
#include "formats/pc2.h"

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
    TdlCurves set;
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
    tdl_curves_free(host, &set);
    return status;
}

// What was read as a mesh must be one.
static TdlStatus read_mesh(const TdlHost* host, const char* text, size_t size) {
    TdlMesh mesh;
    int fault;
    TdlStatus status = obj_parse_mesh(host, "f", text, size, &mesh);
    if (status == TDL_STATUS_OK && tdl_mesh_fault(&mesh, &fault) != NULL) {
        abort();
    }
    obj_free_mesh(host, &mesh);
    return status;
}

// The last byte of the last point is the furthest that is looked at.
static void read_cache(const char* text, size_t size) {
    Pc2 cache;
    if (pc2_open(text, size, &cache) == NULL) {
        pc2_point(&cache, 0, 0);
        pc2_point(&cache, cache.sample_count - 1, cache.point_count - 1);
        if ((size_t)cache.sample_count * (size_t)cache.point_count > size / 12) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) {
        return 0;
    }
    if (data[0] % 5 == 4) {
        char* exact = malloc(size);
        memcpy(exact, data + 1, size - 1);
        read_cache(exact, size - 1);
        free(exact);
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
    TdlStatus status = data[0] % 5 == 3
                           ? read_mesh(&host, copy, size - 1)
                           : read_curves(&host, (CurveFormat)(data[0] % 5), copy, size - 1);
    if (watch.errors != (status != TDL_STATUS_OK)) {
        abort();
    }
    free(copy);
    return watch.used == 0 ? 0 : (abort(), 0);
}
