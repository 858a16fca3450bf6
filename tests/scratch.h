// For tests that write files: a temporary folder that is removed again, and a host that counts
// and keeps the library's errors.
#ifndef TDL_TEST_SCRATCH_H
#define TDL_TEST_SCRATCH_H

#include "test.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Scratch {
    char path[512];
} Scratch;

static inline int scratch_remove_one(const char* path, const struct stat* info, int kind,
                                     struct FTW* walk) {
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline void scratch_remove_tree(const char* path) {
    nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline Scratch scratch_make(void) {
    Scratch scratch;
    const char* root = getenv("TMPDIR");
    snprintf(scratch.path, sizeof scratch.path, "%.400s/tendril-test-XXXXXX",
             root == NULL || root[0] == '\0' ? "/tmp" : root);
    if (mkdtemp(scratch.path) == NULL) {
        perror(scratch.path);
        abort();
    }
    return scratch;
}

static inline void scratch_remove(const Scratch* scratch) {
    scratch_remove_tree(scratch->path);
}

// The path of `name` in the folder; good until the 32nd next call.
static inline const char* scratch_path(const Scratch* scratch, const char* name) {
    static char paths[32][1024];
    static int next;
    char* path = paths[next++ % 32];
    snprintf(path, sizeof paths[0], "%s/%s", scratch->path, name);
    return path;
}

typedef struct Heard {
    int count;
    char last[4096];
} Heard;

static inline void scratch_hear(void* user, TdlLogLevel level, const char* message) {
    Heard* heard = user;
    if (level == TDL_LOG_ERROR) {
        ++heard->count;
        snprintf(heard->last, sizeof heard->last, "%s", message);
    }
}

static inline TdlHost scratch_host(Heard* heard) {
    TdlHost host = tdl_host_default();
    *heard = (Heard){0};
    host.log = scratch_hear;
    host.log_user = heard;
    return host;
}

// The content of a file, with a zero byte behind; freed with free. Null when there is none.
static inline char* scratch_read(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    if (size != NULL) {
        *size = 0;
    }
    if (file == NULL) {
        return NULL;
    }
    size_t used = 0, capacity = 1 << 16;
    char* data = malloc(capacity);
    size_t got;
    while ((got = fread(data + used, 1, capacity - used - 1, file)) > 0) {
        used += got;
        if (capacity - used < 2) {
            data = realloc(data, capacity *= 2);
        }
    }
    fclose(file);
    data[used] = '\0';
    if (size != NULL) {
        *size = used;
    }
    return data;
}

static inline void scratch_write(const char* path, const void* data, size_t size) {
    FILE* file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        abort();
    }
}

#endif
