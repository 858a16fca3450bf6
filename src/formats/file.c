// Replacing files atomically.
//
// A replacement is written under a temporary name in the same folder, synced, and renamed: rename
// is atomic within a folder, so a kill leaves the old file or the new one, never a part. The sync
// before it keeps that true after a power cut as well.
#include "formats/file.h"

#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TdlStatus path_check(const TdlHost* host, const char* path) {
    if (path == NULL || path[0] == '\0') {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "the path of the folder is empty");
    }
    if (strlen(path) + NAME_ROOM > PATH_SIZE) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "the path %.40s... is too long", path);
    }
    return TDL_STATUS_OK;
}

void path_join(char out[PATH_SIZE], const char* dir, const char* name) {
    snprintf(out, PATH_SIZE, "%.*s/%s", PATH_SIZE - NAME_ROOM, dir, name);
}

void path_parent(char out[PATH_SIZE], const char* path) {
    snprintf(out, PATH_SIZE, "%s", path);
    char* slash = strrchr(out, '/');
    if (slash == NULL) {
        snprintf(out, PATH_SIZE, ".");
    } else {
        slash[slash == out] = '\0'; // "/x" lies in "/"
    }
}

bool path_exists(const char* path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

TdlStatus path_make_parents(const TdlHost* host, const char* path) {
    char part[PATH_SIZE];
    snprintf(part, sizeof part, "%s", path);
    for (char* slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) {
            return tdl_fail(host, TDL_STATUS_IO, "%s: could not create the folder: %s", part,
                            strerror(errno));
        }
        *slash = '/';
    }
    return TDL_STATUS_OK;
}

static bool write_all(int fd, const char* data, size_t size) {
    while (size > 0) {
        ssize_t done = write(fd, data, size);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            return false;
        }
        data += done;
        size -= (size_t)done;
    }
    return true;
}

static TdlStatus write_failed(const TdlHost* host, const char* path) {
    return tdl_fail(host, TDL_STATUS_IO, "%s: could not be written: %s", path, strerror(errno));
}

TdlStatus file_sync(const TdlHost* host, const char* path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    // some file systems cannot sync a folder and say so: nothing more can be done there
    TdlStatus status = good || errno == EINVAL ? TDL_STATUS_OK : write_failed(host, path);
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

static TdlStatus rename_synced(const TdlHost* host, const char* from, const char* to) {
    if (rename(from, to) != 0) {
        return write_failed(host, to);
    }
    char folder[PATH_SIZE];
    path_parent(folder, to);
    return file_sync(host, folder);
}

TdlStatus file_rename(const TdlHost* host, const char* from, const char* to) {
    TdlStatus status = file_sync(host, from);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return rename_synced(host, from, to);
}

TdlStatus file_replace(const TdlHost* host, const char* path, const void* data, size_t size) {
    char temporary[PATH_SIZE];
    snprintf(temporary, sizeof temporary, "%.*s.tmp", PATH_SIZE - 8, path);
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        return write_failed(host, path);
    }
    if (!write_all(fd, data, size) || fsync(fd) != 0) {
        TdlStatus status = write_failed(host, path);
        close(fd);
        unlink(temporary);
        return status;
    }
    if (close(fd) != 0) {
        unlink(temporary);
        return write_failed(host, path);
    }
    return rename_synced(host, temporary, path);
}
