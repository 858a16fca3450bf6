// Files as the caller sees them: read if they are regular, written whole or not at all.
//
// A file is written under another name in the same folder and renamed, which is atomic: until then
// what was there stays, also what is being read under another name. What is no regular file cannot
// be replaced by a name and is written as it is; so is what a standard stream was redirected to.
#include "base/input.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_KEPT = 200, ATTEMPTS = 1000 };
static const long LINE_MOST = 64L << 20;

static TdlStatus cannot_write(const TdlHost* host, const char* path) {
    return tdl_fail(host, TDL_STATUS_IO, "%s: could not be written: %s", path, strerror(errno));
}

static bool is_stream(const struct stat* file) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        struct stat stream;
        if (fstat(fd, &stream) == 0 && stream.st_dev == file->st_dev &&
            stream.st_ino == file->st_ino) {
            return true;
        }
    }
    return false;
}

// out->path for `path`, which a link may stand for.
static bool find_place(const char* path, TdlOutput* out) {
    struct stat link;
    if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode)) {
        snprintf(out->path, sizeof out->path, "%s", path);
        return true;
    }
    char* real = realpath(path, NULL);
    bool fits = real != NULL && strlen(real) < sizeof out->path;
    snprintf(out->path, sizeof out->path, "%s", fits ? real : "");
    errno = real != NULL && !fits ? ENAMETOOLONG : errno;
    free(real);
    return fits;
}

// A file of our own in the same folder; its name has the same end. -1 and errno when it cannot be.
static int create_beside(TdlOutput* out) {
    const char* slash = strrchr(out->path, '/');
    const char* name = slash == NULL ? out->path : slash + 1;
    size_t length = strlen(name), cut = length > NAME_KEPT ? length - NAME_KEPT : 0;
    int fd = -1;
    errno = EEXIST;
    for (int i = 0; i < ATTEMPTS && fd < 0 && errno == EEXIST; ++i) {
        int size = snprintf(out->beside, sizeof out->beside, "%.*s.part-%ld-%d-%s",
                            (int)(name - out->path), out->path, (long)getpid(), i, name + cut);
        if (size >= (int)sizeof out->beside) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(out->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return fd;
}

static TdlStatus begin_beside(const TdlHost* host, const struct stat* old, TdlOutput* out) {
    if (old != NULL && access(out->path, W_OK) != 0) {
        return cannot_write(host, out->path);
    }
    int fd = create_beside(out);
    if (fd < 0) {
        return cannot_write(host, out->path);
    }
    if (old != NULL) {
        fchmod(fd, old->st_mode & 0777); // where it cannot be, it is one's own
    }
    close(fd);
    return TDL_STATUS_OK;
}

TdlStatus tdl_output_begin(const TdlHost* host, const char* path, TdlOutput* out) {
    struct stat old;
    bool there = stat(path, &old) == 0;
    if (there && S_ISDIR(old.st_mode)) {
        errno = EISDIR;
        return cannot_write(host, path);
    }
    if (strlen(path) >= TDL_PATH_SIZE) {
        errno = ENAMETOOLONG;
        return cannot_write(host, path);
    }
    bool plain = !there || (S_ISREG(old.st_mode) && !is_stream(&old));
    if (!plain) {
        snprintf(out->path, sizeof out->path, "%s", path);
    } else if (!find_place(path, out)) {
        return cannot_write(host, path);
    }
    if (host->file != NULL && !host->file(host->file_user, out->path, TDL_FILE_WRITTEN)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    if (!plain) {
        snprintf(out->beside, sizeof out->beside, "%s", path);
        return TDL_STATUS_OK;
    }
    return begin_beside(host, there ? &old : NULL, out);
}

TdlStatus tdl_output_end(const TdlHost* host, const TdlOutput* out, bool good) {
    if (strcmp(out->path, out->beside) == 0) {
        return TDL_STATUS_OK;
    }
    // asked again: meanwhile the same file may have been read
    bool may =
        !good || host->file == NULL || host->file(host->file_user, out->path, TDL_FILE_WRITTEN);
    TdlStatus status = may ? TDL_STATUS_OK : TDL_STATUS_BAD_ARGUMENT;
    if (good && may && rename(out->beside, out->path) != 0) {
        status = cannot_write(host, out->path);
    }
    if (!good || status != TDL_STATUS_OK) {
        unlink(out->beside);
    }
    return status;
}

TdlStatus tdl_input_open(const TdlHost* host, const char* path, FILE** out) {
    char reason[INPUT_REASON];
    int fd = input_open(host, path, reason);
    *out = NULL;
    if (fd < 0) {
        return tdl_fail(host, TDL_STATUS_IO, "%s: could not be opened: %s", path, reason);
    }
    *out = fdopen(fd, "rb");
    if (*out == NULL) {
        close(fd);
        return TDL_STATUS_NO_MEMORY;
    }
    return TDL_STATUS_OK;
}

// Room for one more byte than `used`, and a zero behind it.
static bool reserve_line(char** line, size_t* capacity, size_t used) {
    if (used + 2 <= *capacity) {
        return true;
    }
    size_t room = 2 * used + 256;
    char* grown = realloc(*line, room);
    if (grown != NULL) {
        *line = grown;
        *capacity = room;
    }
    return grown != NULL;
}

long tdl_input_line(FILE* in, char** line, size_t* capacity) {
    long used = 0;
    int c = 0;
    while (c != '\n' && (c = getc_unlocked(in)) != EOF) {
        if (used == LINE_MOST || !reserve_line(line, capacity, (size_t)used)) {
            return -1;
        }
        (*line)[used++] = (char)c;
        if (c == '\0') {
            return used; // longer than strlen tells
        }
    }
    if (used == 0) {
        return -1;
    }
    (*line)[used] = '\0';
    return used;
}
