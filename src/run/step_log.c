// log.csv. Numbers that belong to the simulation are written with 17 digits, so that two runs can
// be compared to the bit; those that end in _seconds are wall time and differ.
#include "run/step_log.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The columns, in order. Reals have all their digits, seconds three.
typedef enum ColumnKind { COLUMN_LONG, COLUMN_INT, COLUMN_REAL, COLUMN_SECONDS } ColumnKind;
typedef struct Column {
    const char* name;
    ColumnKind kind;
    size_t offset; // in TdlStepInfo
} Column;

#define AT(member) offsetof(TdlStepInfo, member)
static const Column COLUMNS[] = {
    {"step", COLUMN_LONG, AT(step)},
    {"time", COLUMN_REAL, AT(time)},
    {"substeps", COLUMN_INT, AT(substeps)},
    {"contacts", COLUMN_INT, AT(contact_count)},
    {"iterations", COLUMN_INT, AT(iterations)},
    {"error", COLUMN_REAL, AT(error)},
    {"unsolved", COLUMN_INT, AT(unsolved)},
    {"deepest", COLUMN_REAL, AT(deepest)},
    {"kinetic", COLUMN_REAL, AT(energy.kinetic)},
    {"elastic", COLUMN_REAL, AT(energy.elastic)},
    {"gravity", COLUMN_REAL, AT(energy.gravity)},
    {"energy_rise", COLUMN_REAL, AT(energy_rise)},
    {"friction", COLUMN_REAL, AT(friction)},
    {"impact", COLUMN_REAL, AT(impact)},
    {"push", COLUMN_REAL, AT(push)},
    {"work", COLUMN_REAL, AT(work)},
    {"damping", COLUMN_REAL, AT(damping)},
    {"numerical", COLUMN_REAL, AT(numerical)},
    {"given", COLUMN_REAL, AT(given)},
    {"predict_seconds", COLUMN_SECONDS, AT(predict_seconds)},
    {"detect_seconds", COLUMN_SECONDS, AT(detect_seconds)},
    {"build_seconds", COLUMN_SECONDS, AT(build_seconds)},
    {"solve_seconds", COLUMN_SECONDS, AT(solve_seconds)},
    {"advance_seconds", COLUMN_SECONDS, AT(advance_seconds)},
    {"residual", COLUMN_REAL, AT(residual)},
    {"rounds", COLUMN_INT, AT(rounds)},
    {"nowhere", COLUMN_REAL, AT(nowhere)},
    {"forced", COLUMN_INT, AT(forced)},
    {"estimate", COLUMN_REAL, AT(estimate)},
    {"stored", COLUMN_REAL, AT(stored)},
    {"joints", COLUMN_REAL, AT(joints)},
    {"joint_error", COLUMN_REAL, AT(joint_error)},
    {"effort", COLUMN_REAL, AT(effort)},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS };

// Longer than any row, that of the names included: those of 64 observers may be 96 bytes each.
enum { ROW_SIZE = 24576 };
static const char* const AXES[3] = {"_x", "_y", "_z"};

static TdlStatus log_fail(const TdlHost* host, const char* path, const char* what) {
    return tdl_fail(host, TDL_STATUS_IO, "%s: %s: %s", path, what, strerror(errno));
}

// The names that every log begins with; their length.
static size_t make_names(char out[ROW_SIZE]) {
    size_t used = 0;
    for (int i = 0; i < COLUMN_COUNT; ++i) {
        used += (size_t)snprintf(out + used, ROW_SIZE - used, "%s%s", i == 0 ? "" : ",",
                                 COLUMNS[i].name);
    }
    return used;
}

// The header line, with its end of line; its length.
static size_t make_header(const TdlScene* scene, char out[ROW_SIZE]) {
    size_t used = make_names(out);
    for (int i = 0; i < tdl_scene_info(scene).observer_count; ++i) {
        TdlSceneObserver observer = tdl_scene_observer(scene, i);
        for (int axis = 0; axis < 3; ++axis) {
            used +=
                (size_t)snprintf(out + used, ROW_SIZE - used, ",%s%s", observer.name, AXES[axis]);
        }
    }
    return used + (size_t)snprintf(out + used, ROW_SIZE - used, "\n");
}

TdlStatus step_log_create(const TdlHost* host, const char* path, const TdlScene* scene,
                          StepLog* out) {
    *out = (StepLog){.host = *host, .scene = scene, .file = fopen(path, "w+e")};
    out->mark = (LogMark){.rows = -1, .hash = HASH_START};
    snprintf(out->path, sizeof out->path, "%s", path);
    if (out->file == NULL) {
        return log_fail(host, path, "could not be created");
    }
    char header[ROW_SIZE];
    make_header(scene, header);
    fputs(header, out->file);
    return step_log_flush(out);
}

// Goes on with a mark over the bytes up to `size`; false where there are fewer, with errno 0, or
// they cannot be read.
static bool grow_mark(int fd, int64_t size, LogMark* mark) {
    char block[1 << 16];
    while (mark->size < size) {
        int64_t left = size - mark->size;
        size_t most = left < (int64_t)sizeof block ? (size_t)left : sizeof block;
        errno = 0;
        ssize_t got = pread(fd, block, most, (off_t)mark->size);
        if (got <= 0) {
            return false;
        }
        for (const char* c = block; (c = memchr(c, '\n', (size_t)(block + got - c))) != NULL; ++c) {
            ++mark->rows;
        }
        mark->hash = hash_bytes(mark->hash, block, (size_t)got);
        mark->size += got;
    }
    return true;
}

static TdlStatus check_open(const TdlHost* host, const char* path, int fd, const LogMark* mark,
                            bool hashed) {
    LogMark found = {.rows = -1, .hash = HASH_START}; // the header is no row
    char head[ROW_SIZE], names[ROW_SIZE], last = '\0';
    size_t length = make_names(names);
    if (pread(fd, head, length, 0) != (ssize_t)length || memcmp(head, names, length) != 0) {
        return tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: not a log of Tendril", path);
    }
    if (!grow_mark(fd, mark->size, &found)) {
        return errno != 0 ? log_fail(host, path, "could not be read")
                          : tdl_fail(host, TDL_STATUS_BAD_INPUT,
                                     "%s: not the log that the checkpoint belongs to: it was cut "
                                     "at %lld of %lld bytes",
                                     path, (long long)found.size, (long long)mark->size);
    }
    if (pread(fd, &last, 1, (off_t)mark->size - 1) != 1 || last != '\n' ||
        found.rows != mark->rows) {
        return tdl_fail(host, TDL_STATUS_BAD_INPUT,
                        "%s: not the log that the checkpoint belongs to: its first %lld bytes "
                        "are not %lld whole rows",
                        path, (long long)mark->size, (long long)mark->rows);
    }
    if (hashed && found.hash != mark->hash) {
        return tdl_fail(host, TDL_STATUS_BAD_INPUT,
                        "%s: damaged, or not the log that the checkpoint belongs to", path);
    }
    return TDL_STATUS_OK;
}

TdlStatus step_log_check(const TdlHost* host, const char* path, const LogMark* mark, bool hashed) {
    char reason[INPUT_REASON];
    int fd = input_open(host, path, reason);
    if (fd < 0) {
        return tdl_fail(host, TDL_STATUS_IO, "%s: could not be opened: %s", path, reason);
    }
    TdlStatus status = check_open(host, path, fd, mark, hashed);
    close(fd);
    return status;
}

// Whether it begins with the scene's header.
static bool has_header(const TdlScene* scene, int fd) {
    char header[ROW_SIZE], head[ROW_SIZE];
    size_t length = make_header(scene, header);
    return pread(fd, head, length, 0) == (ssize_t)length && memcmp(head, header, length) == 0;
}

TdlStatus step_log_resume(const TdlHost* host, const char* path, const TdlScene* scene,
                          const LogMark* mark, StepLog* out) {
    *out = (StepLog){.host = *host, .scene = scene, .mark = {.rows = -1, .hash = HASH_START}};
    snprintf(out->path, sizeof out->path, "%s", path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return log_fail(host, path, "could not be opened");
    }
    TdlStatus status = TDL_STATUS_OK;
    if (!has_header(scene, fd) || !grow_mark(fd, mark->size, &out->mark)) {
        status =
            tdl_fail(host, TDL_STATUS_BAD_INPUT,
                     "%s: not the log that the checkpoint belongs to: it has other columns", path);
    } else if (ftruncate(fd, (off_t)mark->size) != 0 || lseek(fd, 0, SEEK_END) < 0) {
        status = log_fail(host, path, "could not be written");
    } else if ((out->file = fdopen(fd, "a")) == NULL) {
        status = TDL_STATUS_NO_MEMORY;
    }
    if (status != TDL_STATUS_OK) {
        close(fd);
    }
    return status;
}

static void print_field(FILE* file, const Column* column, const TdlStepInfo* info) {
    const char* at = (const char*)info + column->offset;
    switch (column->kind) {
    case COLUMN_LONG:
        fprintf(file, "%ld", *(const long*)(const void*)at);
        break;
    case COLUMN_INT:
        fprintf(file, "%d", *(const int*)(const void*)at);
        break;
    case COLUMN_REAL:
        fprintf(file, "%.17g", *(const double*)(const void*)at);
        break;
    case COLUMN_SECONDS:
        fprintf(file, "%.3g", *(const double*)(const void*)at);
        break;
    }
}

TdlStatus step_log_append(StepLog* log, const TdlStepInfo* info, const TdlWorld* world) {
    for (int i = 0; i < COLUMN_COUNT; ++i) {
        if (i > 0) {
            fputc(',', log->file);
        }
        print_field(log->file, &COLUMNS[i], info);
    }
    for (int i = 0; i < tdl_scene_info(log->scene).observer_count; ++i) {
        TdlVec3 value = tdl_scene_observe(log->scene, i, world);
        fprintf(log->file, ",%.17g,%.17g,%.17g", value.x, value.y, value.z);
    }
    fputc('\n', log->file);
    return ferror(log->file) == 0 ? TDL_STATUS_OK
                                  : log_fail(&log->host, log->path, "could not be written");
}

TdlStatus step_log_flush(StepLog* log) {
    return fflush(log->file) == 0 ? TDL_STATUS_OK
                                  : log_fail(&log->host, log->path, "could not be written");
}

TdlStatus step_log_mark(StepLog* log) {
    struct stat info;
    TdlStatus status = step_log_flush(log);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (fstat(fileno(log->file), &info) != 0 ||
        !grow_mark(fileno(log->file), info.st_size, &log->mark)) {
        return log_fail(&log->host, log->path, "could not be read again");
    }
    return TDL_STATUS_OK;
}

TdlStatus step_log_close(StepLog* log) {
    FILE* file = log->file;
    log->file = NULL;
    if (file == NULL || fclose(file) == 0) {
        return TDL_STATUS_OK;
    }
    return log_fail(&log->host, log->path, "could not be written");
}

// What observers saw is passed over, if it is numbers.
static bool skip_observed(const char* row) {
    while (*row == ',') {
        char* end;
        strtod(row + 1, &end);
        if (end == row + 1) {
            return false;
        }
        row = end;
    }
    return *row == '\0';
}

static bool parse_row(const char* row, TdlStepInfo* out) {
    TdlStepInfo info = {0};
    for (int i = 0; i < COLUMN_COUNT; ++i) {
        char *at = (char*)&info + COLUMNS[i].offset, *end;
        switch (COLUMNS[i].kind) {
        case COLUMN_LONG:
            *(long*)(void*)at = strtol(row, &end, 10);
            break;
        case COLUMN_INT:
            *(int*)(void*)at = (int)strtol(row, &end, 10);
            break;
        case COLUMN_REAL:
        case COLUMN_SECONDS:
            *(double*)(void*)at = strtod(row, &end);
            break;
        }
        if (end == row || (i + 1 < COLUMN_COUNT && *end != ',')) {
            return false;
        }
        row = i + 1 < COLUMN_COUNT ? end + 1 : end;
    }
    if (!skip_observed(row)) {
        return false;
    }
    *out = info;
    return true;
}

TdlStatus step_log_last(const TdlHost* host, const char* path, TdlStepInfo* out) {
    *out = (TdlStepInfo){0};
    FILE* file;
    TdlStatus status = tdl_input_open(host, path, &file);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    // the end of the file holds the last whole row and perhaps a part of the next
    char tail[2 * ROW_SIZE + 1];
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fseek(file, size > 2 * ROW_SIZE ? size - 2 * ROW_SIZE : 0, SEEK_SET);
    size_t length = fread(tail, 1, 2 * ROW_SIZE, file);
    fclose(file);
    while (length > 0 && tail[length - 1] != '\n') {
        --length;
    }
    if (length == 0 || memchr(tail, '\0', length) != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: not a log of Tendril", path);
    }
    tail[length - 1] = '\0';
    const char* before = strrchr(tail, '\n');
    const char* row = before == NULL ? tail : before + 1;
    char names[ROW_SIZE];
    if (parse_row(row, out) || strncmp(row, names, make_names(names)) == 0) {
        return TDL_STATUS_OK;
    }
    return tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: its last row is not one of Tendril's", path);
}
