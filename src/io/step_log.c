// log.csv. Numbers that belong to the simulation are written with 17 digits, so that two runs can
// be compared to the bit; the seconds at the end of a row are wall time and differ.
#include "io/step_log.h"

#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char HEADER[] = "step,time,substeps,contacts,iterations,error,kinetic,elastic,gravity,"
                             "energy_rise,predict_seconds,detect_seconds,solve_seconds,"
                             "advance_seconds\n";

// Longer than any row.
enum { ROW_SIZE = 1024 };

static TdlStatus log_fail(const TdlHost* host, const char* path, const char* what) {
    return tdl_fail(host, TDL_STATUS_IO, "%s: %s: %s", path, what, strerror(errno));
}

TdlStatus step_log_create(const TdlHost* host, const char* path, StepLog* out) {
    *out = (StepLog){.host = *host, .file = fopen(path, "we")};
    snprintf(out->path, sizeof out->path, "%s", path);
    if (out->file == NULL) {
        return log_fail(host, path, "could not be created");
    }
    fputs(HEADER, out->file);
    return step_log_flush(out, NULL);
}

// Whether the first `size` bytes are a header and whole rows.
static bool ends_a_row(int fd, int64_t size) {
    char head[sizeof HEADER], last = 0;
    size_t length = sizeof HEADER - 1;
    return size >= (int64_t)length && pread(fd, head, length, 0) == (ssize_t)length &&
           memcmp(head, HEADER, length) == 0 && pread(fd, &last, 1, (off_t)size - 1) == 1 &&
           last == '\n';
}

TdlStatus step_log_resume(const TdlHost* host, const char* path, int64_t size, StepLog* out) {
    *out = (StepLog){.host = *host};
    snprintf(out->path, sizeof out->path, "%s", path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return log_fail(host, path, "could not be opened");
    }
    TdlStatus status = TDL_STATUS_OK;
    if (!ends_a_row(fd, size)) {
        status = tdl_fail(host, TDL_STATUS_BAD_INPUT,
                          "%s: not the log that the checkpoint belongs to; its first %lld bytes "
                          "are not whole rows",
                          path, (long long)size);
    } else if (ftruncate(fd, (off_t)size) != 0 || lseek(fd, 0, SEEK_END) < 0) {
        status = log_fail(host, path, "could not be written");
    } else if ((out->file = fdopen(fd, "a")) == NULL) {
        status = TDL_STATUS_NO_MEMORY;
    }
    if (status != TDL_STATUS_OK) {
        close(fd);
    }
    return status;
}

TdlStatus step_log_append(StepLog* log, const TdlStepInfo* info) {
    int done = fprintf(
        log->file, "%ld,%.17g,%d,%d,%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.3g,%.3g,%.3g,%.3g\n",
        info->step, info->time, info->substeps, info->contact_count, info->iterations, info->error,
        info->energy.kinetic, info->energy.elastic, info->energy.gravity, info->energy_rise,
        info->predict_seconds, info->detect_seconds, info->solve_seconds, info->advance_seconds);
    return done > 0 ? TDL_STATUS_OK : log_fail(&log->host, log->path, "could not be written");
}

TdlStatus step_log_flush(StepLog* log, int64_t* size) {
    if (fflush(log->file) != 0) {
        return log_fail(&log->host, log->path, "could not be written");
    }
    struct stat info;
    if (size != NULL && fstat(fileno(log->file), &info) != 0) {
        return log_fail(&log->host, log->path, "could not be written");
    }
    if (size != NULL) {
        *size = info.st_size;
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

static bool parse_row(const char* row, TdlStepInfo* out) {
    TdlStepInfo i = {0};
    int used = 0;
    int fields =
        sscanf(row, "%ld,%lf,%d,%d,%d,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf%n", &i.step, &i.time,
               &i.substeps, &i.contact_count, &i.iterations, &i.error, &i.energy.kinetic,
               &i.energy.elastic, &i.energy.gravity, &i.energy_rise, &i.predict_seconds,
               &i.detect_seconds, &i.solve_seconds, &i.advance_seconds, &used);
    if (fields == 14 && row[used] == '\0') {
        *out = i;
        return true;
    }
    return false;
}

TdlStatus step_log_last(const TdlHost* host, const char* path, TdlStepInfo* out) {
    *out = (TdlStepInfo){0};
    FILE* file = fopen(path, "re");
    if (file == NULL) {
        return log_fail(host, path, "could not be opened");
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
    if (length == 0) {
        return tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: not a log of Tendril", path);
    }
    tail[length - 1] = '\0';
    const char* before = strrchr(tail, '\n');
    const char* row = before == NULL ? tail : before + 1;
    if (parse_row(row, out) || (strncmp(row, HEADER, sizeof HEADER - 2) == 0)) {
        return TDL_STATUS_OK;
    }
    return tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: its last row is not one of Tendril's", path);
}
