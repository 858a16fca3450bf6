// Writing of files, with messages. The library writes beside the target and renames; here is what
// is open, and what must not be written over: each file that was read, by device and inode so that
// no link helps, and what a run keeps in its folder.
#include "app/output.h"

#include "app/command.h"
#include "app/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_MOST = 32 };

typedef struct FileId {
    dev_t device;
    ino_t inode;
} FileId;

static struct {
    pthread_mutex_t lock;
    FileId* read; // [count]
    int count, capacity;
} files = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    FILE* file;
    TdlOutput place;
} open_files[OPEN_MOST];

static TdlStatus last_status; // of what was opened or closed
static bool any_failed;       // of all that was

// --- what is read
// ---------------------------------------------------------------------------------

static bool was_read(const struct stat* info) {
    for (int i = 0; i < files.count; ++i) {
        if (files.read[i].device == info->st_dev && files.read[i].inode == info->st_ino) {
            return true;
        }
    }
    return false;
}

static void note_read(const struct stat* info) {
    if (was_read(info)) {
        return;
    }
    if (files.count == files.capacity) {
        int capacity = 2 * files.capacity + 64;
        FileId* grown = realloc(files.read, (size_t)capacity * sizeof *grown);
        if (grown == NULL) {
            fprintf(stderr, "tendril: not enough memory\n");
            _exit(EXIT_FAILED); // better than to forget a file that must not be written over
        }
        files.read = grown;
        files.capacity = capacity;
    }
    files.read[files.count++] = (FileId){info->st_dev, info->st_ino};
}

// Whether it is one of the files of a run, in a folder that has a run.
static bool is_of_run(const char* path) {
    static const char* const NAMES[] = {"result.h5", "checkpoint", "log.csv", "scene.yaml",
                                        "summary.json"};
    const char* slash = strrchr(path, '/');
    const char* name = slash == NULL ? path : slash + 1;
    bool ours = false;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; ++i) {
        ours = ours || strcmp(name, NAMES[i]) == 0;
    }
    for (int i = 0; ours && i < 2; ++i) { // the files by which a run is known
        char beside[TDL_PATH_SIZE + 16];
        snprintf(beside, sizeof beside, "%.*s%s", (int)(name - path), path, NAMES[i]);
        if (access(beside, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

bool output_guard(void* user, const char* path, TdlFileUse use) {
    (void)user;
    struct stat info;
    bool there = stat(path, &info) == 0, read = false;
    pthread_mutex_lock(&files.lock);
    if (there && S_ISREG(info.st_mode) && use == TDL_FILE_READ) {
        note_read(&info);
    } else if (there && use == TDL_FILE_WRITTEN) {
        read = was_read(&info);
    }
    pthread_mutex_unlock(&files.lock);
    char* real = use == TDL_FILE_WRITTEN && !read ? realpath(path, NULL) : NULL; // of a link
    bool kept = use == TDL_FILE_WRITTEN && !read && is_of_run(real == NULL ? path : real);
    free(real);
    if (read || kept) {
        fprintf(stderr, "tendril: %s: not written: %s\n", path,
                read ? "it is what is read" : "it is a file of a run");
    }
    return !read && !kept;
}

// --- what is written
// ------------------------------------------------------------------------------

static TdlHost guarded_host(void) {
    TdlHost host = tdl_host_default();
    host.log = terminal_log;
    host.file = output_guard;
    return host;
}

FILE* output_open(const char* path) {
    TdlHost host = guarded_host();
    int i = 0;
    while (i < OPEN_MOST && open_files[i].file != NULL) {
        ++i;
    }
    if (i == OPEN_MOST) {
        fprintf(stderr, "tendril bug: more than %d files are being written\n", OPEN_MOST);
        abort();
    }
    last_status = tdl_output_begin(&host, path, &open_files[i].place);
    if (last_status != TDL_STATUS_OK) {
        any_failed = true;
        return NULL;
    }
    FILE* file = fopen(open_files[i].place.beside, "wbe");
    if (file == NULL) {
        fprintf(stderr, "%s: could not be written: %s\n", path, strerror(errno));
        last_status = TDL_STATUS_IO;
        any_failed = true;
        tdl_output_end(&host, &open_files[i].place, false);
    }
    open_files[i].file = file;
    return file;
}

FILE* output_open_growing(const char* path) {
    FILE* empty = output_open(path);
    if (empty == NULL || !output_close(empty, true)) {
        return NULL;
    }
    int i = 0;
    while (open_files[i].file != NULL) {
        ++i; // that of the empty one at the latest
    }
    TdlOutput* place = &open_files[i].place;
    memcpy(place->beside, place->path, sizeof place->beside);
    return open_files[i].file = fopen(place->path, "r+e");
}

bool output_close(FILE* file, bool good) {
    TdlHost host = guarded_host();
    int i = 0;
    while (open_files[i].file != file) {
        ++i; // it is one of them
    }
    bool written = !ferror(file);
    written = fclose(file) == 0 && written;
    if (good && !written) {
        fprintf(stderr, "%s: could not be written: %s\n", open_files[i].place.path,
                strerror(errno));
    }
    open_files[i].file = NULL;
    last_status = tdl_output_end(&host, &open_files[i].place, good && written);
    last_status = written ? last_status : TDL_STATUS_IO;
    any_failed = any_failed || last_status != TDL_STATUS_OK;
    return good && last_status == TDL_STATUS_OK;
}

// Here and not beside the parser, so that whoever writes files need not have all commands.
int exit_code(TdlStatus status) {
    switch (status) {
    case TDL_STATUS_OK:
        return EXIT_DONE;
    case TDL_STATUS_BAD_ARGUMENT:
        return EXIT_USAGE;
    case TDL_STATUS_BAD_INPUT:
    case TDL_STATUS_IO:
        return EXIT_INPUT;
    case TDL_STATUS_NO_MEMORY:
    case TDL_STATUS_DIVERGED:
    case TDL_STATUS_STOPPED:
        break;
    }
    return EXIT_FAILED;
}

int output_code(TdlStatus status) {
    return status == TDL_STATUS_IO ? EXIT_FAILED : exit_code(status);
}

int output_failure(void) {
    return last_status == TDL_STATUS_OK ? EXIT_FAILED : output_code(last_status);
}

void output_path(char out[OUTPUT_PATH_SIZE], const char* path, const char* ending,
                 const char* suffix) {
    size_t stem = strlen(path), tail = strlen(ending);
    if (stem > tail && strcmp(path + stem - tail, ending) == 0) {
        stem -= tail;
    }
    snprintf(out, OUTPUT_PATH_SIZE, "%.*s%s", (int)(stem > 4096 ? 4096 : stem), path, suffix);
}

// --- the standard streams
// -------------------------------------------------------------------------

int output_finish(int code) {
    bool good = !ferror(stdout);
    good = fclose(stdout) == 0 && good;
    if (!good) {
        fprintf(stderr, "tendril: stdout could not be written: %s\n", strerror(errno));
    }
    return (good && !any_failed) || code != EXIT_DONE ? code : EXIT_FAILED;
}

// The stack grows as it is used, which fails by a signal where no more memory may be had: so this
// much is taken at once.
enum { STACK_TAKEN = 1 << 20 };

static __attribute__((noinline)) void take_stack(void) {
    volatile char pages[STACK_TAKEN];
    for (int i = 0; i < STACK_TAKEN; i += 4096) {
        pages[i] = 0;
    }
    (void)pages[0];
}

void output_prepare(void) {
    take_stack();
    // open takes the lowest number that is free; the wrong way round, so that use of a stream that
    // was closed is still an error
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (fcntl(fd, F_GETFD) < 0) {
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
    signal(SIGXFSZ, SIG_IGN);
}
