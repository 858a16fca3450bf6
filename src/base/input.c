// Reading files that may be anything. A name may lead to a pipe, on which open and read wait, or to
// a device, which has no end; and a file with a hole may be larger than all memory while it takes
// no room on disk. So only regular files are opened, and memory is asked for only after the first
// bytes were seen.
#include "base/input.h"

#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int input_open(const TdlHost* host, const char* path, char reason[INPUT_REASON]) {
    // without waiting for the other end of a pipe; on a regular file O_NONBLOCK has no effect
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
        snprintf(reason, INPUT_REASON, "%s", strerror(errno));
    } else if (!S_ISREG(info.st_mode)) {
        snprintf(reason, INPUT_REASON, "%s",
                 S_ISDIR(info.st_mode) ? "it is a folder" : "it is not a regular file");
    } else {
        if (host->file != NULL) {
            host->file(host->file_user, path, TDL_FILE_READ);
        }
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

const char* input_judge_text(const char* head, size_t size, uint64_t total) {
    (void)total;
    return memchr(head, '\0', size) == NULL ? NULL : "is not a text: it has a zero byte";
}

// Fills data[from, to) as far as the file goes; the bytes there are then, or -1.
static ssize_t read_upto(int fd, char* data, size_t from, size_t to) {
    while (from < to) {
        ssize_t got = read(fd, data + from, to - from);
        if (got < 0 && errno != EINTR) {
            return -1;
        }
        if (got == 0) {
            break;
        }
        from += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)from;
}

static TdlStatus judge_file(const TdlHost* host, const char* path, int fd, size_t limit,
                            InputJudge judge, uint64_t total) {
    char head[INPUT_HEAD];
    ssize_t got = pread(fd, head, sizeof head, 0);
    const char* fault = judge == NULL || got < 0 ? NULL : judge(head, (size_t)got, total);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: %s", path, fault);
    }
    if (total > limit) {
        return tdl_fail(host, TDL_STATUS_BAD_INPUT, "%s: larger than %zu bytes", path, limit);
    }
    return TDL_STATUS_OK;
}

static TdlStatus read_whole(const TdlHost* host, const char* path, int fd, size_t capacity,
                            char** data, size_t* size) {
    char* block = tdl_alloc_array(&host->mem, capacity + 1, 1);
    if (block == NULL) {
        return tdl_fail(host, TDL_STATUS_NO_MEMORY, "%s: no memory for %zu bytes", path, capacity);
    }
    ssize_t used = read_upto(fd, block, 0, capacity);
    if (used < 0) {
        TdlStatus status =
            tdl_fail(host, TDL_STATUS_IO, "%s: could not be read: %s", path, strerror(errno));
        tdl_free(&host->mem, block);
        return status;
    }
    block[used] = '\0';
    *data = block;
    *size = (size_t)used;
    return TDL_STATUS_OK;
}

TdlStatus file_read(const TdlHost* host, const char* path, size_t limit, InputJudge judge,
                    char** data, size_t* size) {
    char reason[INPUT_REASON];
    struct stat info = {0};
    int fd = input_open(host, path, reason);
    if (fd < 0) {
        return tdl_fail(host, TDL_STATUS_IO, "%s: could not be opened: %s", path, reason);
    }
    fstat(fd, &info); // it was asked before
    uint64_t total = (uint64_t)info.st_size;
    TdlStatus status = judge_file(host, path, fd, limit, judge, total);
    if (status == TDL_STATUS_OK) {
        status = read_whole(host, path, fd, (size_t)total, data, size);
    }
    close(fd);
    return status;
}
