// The checkpoint file: magic, version, sizes, fixed fields of 8 bytes, the state, a checksum.
//
//   0   8  magic "TDLCHECK"
//   8   8  format version
//   16  8  size of the fixed fields
//   24  8  size of the state
//   32  .  fixed fields (struct Checkpoint), then the state
//   .   8  FNV-1a of everything before
//
// Version 3 has fewer fixed fields. Its head is proved before memory is asked for the rest.
//
// Numbers are in the machine's order: a checkpoint continues with the same bits only on the kind
// of machine that wrote it. A file of the other order fails at its version.
#include "result/checkpoint.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "formats/file.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define CHECKPOINT_VERSION 4u
#define CHECKPOINT_OLDEST 3u

static const char MAGIC[8] = {'T', 'D', 'L', 'C', 'H', 'E', 'C', 'K'};

// No state of ours comes near this; it stops an absurd file before memory is asked for.
static const size_t SIZE_LIMIT = (size_t)1 << 40;

typedef struct FileHead {
    char magic[8];
    uint64_t version, fields_size, state_size;
    Checkpoint fields;
} FileHead;

_Static_assert(sizeof(FileHead) == 32 + sizeof(Checkpoint), "no padding in the file's head");
_Static_assert(sizeof(Checkpoint) == 19 * 8 + CHECKPOINT_FAILURE + CHECKPOINT_BUILD,
               "no padding in a checkpoint's fields");

enum { PLAIN_HEAD = 32 }; // bytes before the fields

TdlStatus checkpoint_write(const TdlHost* host, const char* path, const Checkpoint* checkpoint,
                           const void* state, size_t state_size) {
    FileHead head = {.version = CHECKPOINT_VERSION,
                     .fields_size = sizeof(Checkpoint),
                     .state_size = state_size,
                     .fields = *checkpoint};
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    size_t size = sizeof head + state_size + sizeof(uint64_t);
    char* bytes = tdl_alloc_array(&host->mem, size, 1);
    if (bytes == NULL) {
        return tdl_fail(host, TDL_STATUS_NO_MEMORY, "%s: no memory for %zu bytes", path, size);
    }
    memcpy(bytes, &head, sizeof head);
    if (state_size > 0) {
        memcpy(bytes + sizeof head, state, state_size);
    }
    uint64_t sum = hash_bytes(HASH_START, bytes, sizeof head + state_size);
    memcpy(bytes + sizeof head + state_size, &sum, sizeof sum);
    TdlStatus status = file_replace(host, path, bytes, size);
    tdl_free(&host->mem, bytes);
    return status;
}

static bool fields_make_sense(const Checkpoint* c) {
    return c->step >= 0 && c->step <= c->step_total && c->frame_count >= 1 &&
           c->frame_count <= c->step + 1 && c->log_size >= 0 && c->substeps_max >= 0 &&
           c->unsolved >= 0 && c->forced >= 0 && isfinite(c->time) && isfinite(c->seconds) &&
           memchr(c->failure, '\0', sizeof c->failure) != NULL && c->other_builds >= 0 &&
           memchr(c->build, '\0', sizeof c->build) != NULL;
}

static size_t fields_of(uint64_t version) {
    return version < 4 ? offsetof(Checkpoint, log_hash) : sizeof(Checkpoint);
}

// A file of `total` bytes by its first ones.
static const char* judge_head(const char* bytes, size_t size, uint64_t total) {
    uint64_t version = 0, fields, state;
    if (size < sizeof MAGIC || memcmp(bytes, MAGIC, sizeof MAGIC) != 0) {
        return "not a checkpoint of Tendril";
    }
    if (size >= 16) {
        memcpy(&version, bytes + 8, sizeof version);
        if (version < CHECKPOINT_OLDEST || version > CHECKPOINT_VERSION) {
            return "written by another version of Tendril, which this one cannot continue";
        }
    }
    if (total < PLAIN_HEAD + fields_of(version) + sizeof(uint64_t)) {
        return "incomplete";
    }
    memcpy(&fields, bytes + 16, sizeof fields);
    memcpy(&state, bytes + 24, sizeof state);
    if (fields != fields_of(version) || state != total - PLAIN_HEAD - fields - sizeof(uint64_t)) {
        return "incomplete: its size is not the one it states";
    }
    return NULL;
}

// Proves the bytes of a checkpoint; what is wrong with them, or null. *head is its size with the
// fields.
static const char* find_fault(const char* bytes, size_t size, Checkpoint* out, size_t* head) {
    const char* fault = judge_head(bytes, size, size); // it may have changed since
    if (fault != NULL) {
        return fault;
    }
    uint64_t sum, fields;
    memcpy(&fields, bytes + 16, sizeof fields);
    *head = PLAIN_HEAD + (size_t)fields;
    *out = (Checkpoint){0};
    memcpy(out, bytes + PLAIN_HEAD, (size_t)fields);
    memcpy(&sum, bytes + size - sizeof sum, sizeof sum);
    if (sum != hash_bytes(HASH_START, bytes, size - sizeof sum)) {
        return "damaged: its checksum is wrong";
    }
    return fields_make_sense(out) ? NULL : "damaged: its counts contradict each other";
}

TdlStatus checkpoint_read(const TdlHost* host, const char* path, Checkpoint* out, char** state,
                          size_t* state_size) {
    char* bytes;
    size_t size;
    TdlStatus status = file_read(host, path, SIZE_LIMIT, judge_head, &bytes, &size);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    size_t head = 0;
    const char* fault = find_fault(bytes, size, out, &head);
    if (fault != NULL) {
        tdl_free(&host->mem, bytes);
        return tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: %s", path, fault);
    }
    if (state == NULL) {
        tdl_free(&host->mem, bytes);
        return TDL_STATUS_OK;
    }
    *state_size = size - head - sizeof(uint64_t);
    memmove(bytes, bytes + head, *state_size);
    *state = bytes;
    return TDL_STATUS_OK;
}
