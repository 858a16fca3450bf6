// The program of the desktop that opens things, with signals as at the start, in a group of its own
// (so that Ctrl-C here does not reach a browser) and with nothing to say in this terminal.
#include "app/browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

// It ends at once, or runs as long as the browser: by then it is known which.
static const int WAIT_MILLISECONDS = 2000;

static int start(const char* target, pid_t* child) {
    posix_spawnattr_t how;
    posix_spawn_file_actions_t files;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDERR_FILENO);
    char program[] = "xdg-open", argument[4200];
    snprintf(argument, sizeof argument, "%s", target);
    char* const words[] = {program, argument, NULL};
    int error = posix_spawnp(child, program, &files, &how, words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return error;
}

bool browser_open(const char* target) {
    pid_t child;
    int error = start(target, &child), state = 0;
    if (error != 0) {
        fprintf(stderr, "%s: could not be opened: xdg-open: %s\n", target, strerror(error));
        return false;
    }
    for (int waited = 0; waited < WAIT_MILLISECONDS; waited += 10) {
        if (waitpid(child, &state, WNOHANG) == child) {
            bool good = WIFEXITED(state) && WEXITSTATUS(state) == 0;
            if (!good) {
                fprintf(stderr, "%s: could not be opened: xdg-open found no browser for it\n",
                        target);
            }
            return good;
        }
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return true;
}
