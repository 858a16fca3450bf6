// Life of a run's folder.
//
// The lock is flock on the folder itself, so it needs no file, stays with the folder when that is
// renamed, and ends with the process. A folder DIR is built as DIR.part and renamed when it can be
// resumed: whoever sees DIR sees a whole one. A DIR.part that nobody locks is left over from a
// kill and is removed by the next run to the same DIR.
#include "run/folder.h"

#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Everything we ever put into a folder, also with an ending such as ".tmp" while it is written;
// nothing else is removed.
static const char* const OWN_NAMES[] = {"scene.yaml", "checkpoint", "result.h5", "log.csv",
                                        "summary.json"};

enum { OWN_NAME_COUNT = sizeof OWN_NAMES / sizeof OWN_NAMES[0], ATTEMPTS = 20 };

static bool is_own(const char* name) {
    if (strncmp(name, ".part-", 6) == 0) {
        return true; // of tdl_output_begin
    }
    for (int i = 0; i < OWN_NAME_COUNT; ++i) {
        size_t length = strlen(OWN_NAMES[i]);
        if (strncmp(name, OWN_NAMES[i], length) == 0 &&
            (name[length] == '\0' || name[length] == '.')) {
            return true;
        }
    }
    return false;
}

static int open_folder(const char* path) {
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool try_lock(int fd) {
    int result;
    do {
        result = flock(fd, LOCK_EX | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

// Whether the path still names the folder behind fd.
static bool is_same(int fd, const char* path) {
    struct stat a, b;
    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

// Removes the folder and our files in it; false when something else is in it.
static bool remove_folder(const char* path) {
    DIR* folder = opendir(path);
    for (struct dirent* e; folder != NULL && (e = readdir(folder)) != NULL;) {
        if (is_own(e->d_name)) {
            unlinkat(dirfd(folder), e->d_name, 0);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return rmdir(path) == 0;
}

static TdlStatus exists_already(const TdlHost* host, const char* path) {
    char checkpoint[PATH_SIZE];
    path_join(checkpoint, path, "checkpoint");
    if (path_exists(checkpoint)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "%s exists already and holds a run; continue it with 'tendril run --resume "
                        "%s', or choose another folder",
                        path, path);
    }
    return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                    "%s exists already; nothing is written over, choose another folder", path);
}

// Creates and locks folder->path; false with errno when it could not be had this time.
static bool create_locked(Folder* folder) {
    if (mkdir(folder->path, 0777) != 0) {
        return false;
    }
    folder->fd = open_folder(folder->path);
    if (folder->fd >= 0 && try_lock(folder->fd) && is_same(folder->fd, folder->path)) {
        return true;
    }
    // another run took the new folder for a left-over one in the moment before it was locked
    if (folder->fd >= 0) {
        close(folder->fd);
        folder->fd = -1;
    }
    errno = EEXIST;
    return false;
}

// Removes a left-over folder of that name, if nobody uses it.
static TdlStatus clear_remains(const TdlHost* host, const char* path) {
    int fd = open_folder(path);
    if (fd < 0) {
        return errno == ENOENT
                   ? TDL_STATUS_OK
                   : tdl_fail(host, TDL_STATUS_IO, "%s is in the way: %s", path, strerror(errno));
    }
    TdlStatus status = TDL_STATUS_OK;
    if (!try_lock(fd)) {
        status =
            tdl_fail(host, TDL_STATUS_IO, "%s: another run to this folder is being started", path);
    } else if (is_same(fd, path) && !remove_folder(path) && errno != ENOENT) {
        status = tdl_fail(host, TDL_STATUS_IO, "%s is in the way and holds other files; remove it",
                          path);
    }
    close(fd);
    return status;
}

TdlStatus folder_begin(const TdlHost* host, const char* path, Folder* out) {
    TdlStatus status = path_check(host, path);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    *out = (Folder){.host = *host, .fd = -1};
    snprintf(out->final_path, sizeof out->final_path, "%s", path);
    for (size_t n = strlen(out->final_path); n > 1 && out->final_path[n - 1] == '/'; --n) {
        out->final_path[n - 1] = '\0';
    }
    if (path_exists(out->final_path)) {
        return exists_already(host, out->final_path);
    }
    snprintf(out->path, sizeof out->path, "%.*s.part", PATH_SIZE - NAME_ROOM, out->final_path);
    status = path_make_parents(host, out->path);
    for (int i = 0; status == TDL_STATUS_OK && i < ATTEMPTS; ++i) {
        if (create_locked(out)) {
            return TDL_STATUS_OK;
        }
        if (errno != EEXIST) {
            return tdl_fail(host, TDL_STATUS_IO, "%s: could not create the folder: %s",
                            out->final_path, strerror(errno));
        }
        status = clear_remains(host, out->path);
    }
    return status != TDL_STATUS_OK
               ? status
               : tdl_fail(host, TDL_STATUS_IO, "%s: other runs keep starting there",
                          out->final_path);
}

TdlStatus folder_publish(Folder* folder) {
    TdlStatus status = file_sync(&folder->host, folder->path);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    int result = renameat2(AT_FDCWD, folder->path, AT_FDCWD, folder->final_path, RENAME_NOREPLACE);
    if (result != 0 && (errno == EINVAL || errno == ENOSYS)) {
        // a file system without that flag; rename replaces nothing but an empty folder
        result = rename(folder->path, folder->final_path);
    }
    if (result != 0) {
        if (errno == EEXIST || errno == ENOTEMPTY) {
            return exists_already(&folder->host, folder->final_path);
        }
        return tdl_fail(&folder->host, TDL_STATUS_IO, "%s: could not create the folder: %s",
                        folder->final_path, strerror(errno));
    }
    snprintf(folder->path, sizeof folder->path, "%s", folder->final_path);
    char parent[PATH_SIZE];
    path_parent(parent, folder->path);
    return file_sync(&folder->host, parent);
}

TdlStatus folder_lock(const TdlHost* host, const char* path, Folder* out) {
    TdlStatus status = path_check(host, path);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    *out = (Folder){.host = *host, .fd = open_folder(path)};
    snprintf(out->path, sizeof out->path, "%s", path);
    snprintf(out->final_path, sizeof out->final_path, "%s", path);
    if (out->fd < 0) {
        return tdl_fail(host, TDL_STATUS_IO, "%s: could not be opened as a folder: %s", path,
                        strerror(errno));
    }
    // somebody who only asks whether a run goes on holds the lock for a moment
    bool locked = try_lock(out->fd);
    for (int i = 0; i < ATTEMPTS && !locked; ++i) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        locked = try_lock(out->fd);
    }
    if (!locked) {
        folder_close(out);
        return tdl_fail(host, TDL_STATUS_IO, "%s: another process is running in this folder", path);
    }
    return TDL_STATUS_OK;
}

bool folder_is_busy(const char* path) {
    int fd = open_folder(path);
    if (fd < 0) {
        return false;
    }
    // a shared lock, so that two who ask at once do not take each other for a run
    bool busy = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return busy;
}

void folder_close(Folder* folder) {
    if (folder->fd < 0) {
        return;
    }
    if (strcmp(folder->path, folder->final_path) != 0) {
        remove_folder(folder->path);
    }
    close(folder->fd);
    folder->fd = -1;
}
