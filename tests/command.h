// For tests of the command as a user meets it: starts $TENDRIL_COMMAND with its output in files.
#ifndef TDL_TEST_COMMAND_H
#define TDL_TEST_COMMAND_H

#include "scratch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

enum { COMMAND_WORDS = 32 };

// Starts `tendril` with words up to a null; its output goes to the files stdout and stderr of the
// scratch folder, which is also where it works. `prepare`, which may be null, changes what the new
// process is given.
static inline pid_t command_start_prepared(const Scratch* scratch, void (*prepare)(void),
                                           const char* const* words) {
    const char* argv[COMMAND_WORDS + 2] = {getenv("TENDRIL_COMMAND")};
    if (argv[0] == NULL) {
        fprintf(stderr, "TENDRIL_COMMAND is not set; run through ctest\n");
        abort();
    }
    for (int i = 0; i < COMMAND_WORDS && words[i] != NULL; ++i) {
        argv[i + 1] = words[i];
    }
    fflush(stdout);
    pid_t child = fork();
    if (child != 0) {
        return child;
    }
    int out = open(scratch_path(scratch, "stdout"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = open(scratch_path(scratch, "stderr"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (chdir(scratch->path) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2) {
        close(out);
        close(err);
        if (prepare != NULL) {
            prepare();
        }
        execv(argv[0], (char* const*)(uintptr_t)argv);
    }
    _exit(127);
}

static inline pid_t command_start(const Scratch* scratch, const char* const* words) {
    return command_start_prepared(scratch, NULL, words);
}

// The exit code, or -signal.
static inline int command_wait(pid_t child) {
    int outcome = 0;
    waitpid(child, &outcome, 0);
    return WIFEXITED(outcome) ? WEXITSTATUS(outcome) : -WTERMSIG(outcome);
}

// Whether it has ended; it can still be waited for.
static inline bool command_ended(pid_t child) {
    siginfo_t state = {0};
    return waitid(P_PID, (id_t)child, &state, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           state.si_pid == child;
}

// Waits until a file is longer than `size`; false when the command ends before. What never comes is
// ended by the time that ctest gives a test.
static inline bool command_wait_for(pid_t child, const char* path, long long size) {
    for (;;) {
        bool ended = command_ended(child);
        struct stat info;
        if (stat(path, &info) == 0 && info.st_size > size) {
            return true;
        }
        if (ended) {
            return false;
        }
        poll(NULL, 0, 1);
    }
}

#define COMMAND_START(scratch, ...)                                                                \
    command_start((scratch), (const char* const[COMMAND_WORDS]){__VA_ARGS__})
#define COMMAND_PREPARED(scratch, prepare, ...)                                                    \
    command_wait(command_start_prepared((scratch), (prepare),                                      \
                                        (const char* const[COMMAND_WORDS]){__VA_ARGS__}))
#define COMMAND(scratch, ...) command_wait(COMMAND_START(scratch, __VA_ARGS__))

// Whether the last command wrote `text` to "stdout" or "stderr"; prints what it wrote if not.
static inline bool command_wrote(const Scratch* scratch, const char* stream, const char* text) {
    char* data = scratch_read(scratch_path(scratch, stream), NULL);
    bool found = data != NULL && strstr(data, text) != NULL;
    if (!found) {
        printf("  %s holds no \"%s\" but:\n%s\n", stream, text, data == NULL ? "" : data);
    }
    free(data);
    return found;
}

#endif
