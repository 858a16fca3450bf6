// The runs of a sweep: a process each, of this same program, as many at once as asked for. What
// there is of a run that was interrupted is gone on with.
#include "app/terminal.h"
#include "sweep/sweep.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// ms between two looks at what has ended, and whether to stop; a thousandth of the shortest runs.
enum { WAIT = 5 };

const char* sweep_state_name(SweepState state) {
    static const char* const NAMES[] = {"waits", "runs", "done", "doubtful", "failed"};
    return NAMES[state];
}

static bool is_there(const char* folder, const char* name) {
    char path[SWEEP_PATH_SIZE + 32];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) == 0;
}

// What was left by a run that was killed before its first checkpoint, which nothing can go on from.
static void clear_folder(const char* folder) {
    static const char* const FILES[] = {"result.h5", "log.csv", "scene.yaml", "summary.json"};
    char path[SWEEP_PATH_SIZE + 32];
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; ++i) {
        snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
        unlink(path);
    }
    rmdir(folder);
}

// In the child: its words, and nothing of ours but a file for what it says.
static void become_run(const SweepPlan* plan, int run, const char* folder, bool resume) {
    int count = sweep_override_count(plan);
    char** words = calloc(2 * (size_t)count + 16, sizeof *words);
    char said[SWEEP_PATH_SIZE + 8];
    snprintf(said, sizeof said, "%s.txt", folder);
    int out = open(said, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (words == NULL || out < 0 || dup2(out, STDERR_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0) {
        _exit(EXIT_FAILED);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); // it can be gone on with, and must not write on unseen
    int n = 0;
    words[n++] = "tendril";
    words[n++] = "run";
    words[n++] = "--quiet";
    words[n++] = "--threads=1";
    if (resume) {
        words[n++] = "--resume";
        words[n++] = (char*)folder;
    } else {
        words[n++] = (char*)plan->scene;
        words[n++] = "--output";
        words[n++] = (char*)folder;
        for (int i = 0; i < count; ++i) {
            char* text = malloc(SWEEP_PATH_SIZE);
            if (text == NULL) {
                _exit(EXIT_FAILED);
            }
            sweep_override(plan, run, i, text);
            words[n++] = "--set";
            words[n++] = text;
        }
    }
    execv("/proc/self/exe", words);
    _exit(EXIT_FAILED);
}

// What its folder tells: whether there is nothing more to do.
static bool is_finished(const char* folder, SweepRun* out) {
    TdlHost silent = tdl_host_default();
    TdlRunInfo info;
    if (tdl_run_inspect(&silent, folder, &info, NULL, NULL) != TDL_STATUS_OK ||
        info.steps < info.step_total || !is_there(folder, "summary.json")) {
        return false;
    }
    out->state = tdl_run_is_sound(&info) ? SWEEP_DONE : SWEEP_DOUBTFUL;
    return true;
}

static bool start_run(const SweepPlan* plan, int run, SweepRun* out) {
    char folder[SWEEP_PATH_SIZE];
    sweep_run_folder(plan, run, folder);
    bool resume = is_there(folder, "checkpoint");
    if (!resume) {
        clear_folder(folder);
    }
    fflush(NULL);
    out->process = fork();
    if (out->process == 0) {
        become_run(plan, run, folder, resume);
    }
    out->state = out->process < 0 ? SWEEP_FAILED : SWEEP_RUNS;
    ++out->tries;
    return out->process > 0;
}

// The last line that it said.
static void read_reason(const char* folder, SweepRun* out) {
    char path[SWEEP_PATH_SIZE + 8], line[sizeof out->reason];
    snprintf(path, sizeof path, "%s.txt", folder);
    FILE* file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '\0') {
            memcpy(out->reason, line, sizeof line);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static void end_run(const SweepPlan* plan, int run, int status, int retries, SweepRun* out) {
    char folder[SWEEP_PATH_SIZE];
    sweep_run_folder(plan, run, folder);
    out->process = 0;
    if (is_finished(folder, out)) {
        return;
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    snprintf(out->reason, sizeof out->reason, "ended with %d",
             WIFSIGNALED(status) ? 128 + WTERMSIG(status) : code);
    read_reason(folder, out);
    bool again = out->tries <= retries && code != EXIT_USAGE && code != EXIT_INPUT;
    out->state = again ? SWEEP_WAITS : SWEEP_FAILED;
    if (!again) {
        fprintf(stderr, "run %05d failed: %s\n", run, out->reason);
    }
}

// Which one ended, if one does within a while; else -1.
static int wait_for_one(const SweepPlan* plan, SweepRun* runs, int* status) {
    pid_t ended = waitpid(-1, status, WNOHANG);
    if (ended == 0) {
        poll(NULL, 0, WAIT);
    }
    for (int run = 0; ended > 0 && run < plan->run_count; ++run) {
        if (runs[run].process == ended) {
            return run;
        }
    }
    return -1;
}

static void stop_runs(const SweepPlan* plan, SweepRun* runs) {
    for (int run = 0; run < plan->run_count; ++run) {
        if (runs[run].process > 0) {
            kill(runs[run].process, SIGTERM);
        }
    }
}

bool sweep_make(const SweepPlan* plan, int jobs, int retries, bool quiet, SweepRun* runs) {
    int running = 0, ended = 0;
    for (int run = 0; run < plan->run_count; ++run) {
        char folder[SWEEP_PATH_SIZE];
        sweep_run_folder(plan, run, folder);
        ended += is_finished(folder, &runs[run]);
    }
    for (bool told = false; ended < plan->run_count;) {
        bool stop = terminal_stop_asked();
        for (int run = 0; run < plan->run_count && running < jobs && !stop; ++run) {
            running += runs[run].state == SWEEP_WAITS && start_run(plan, run, &runs[run]);
        }
        if (stop && !told) {
            stop_runs(plan, runs);
            told = true;
        }
        if (running == 0) {
            return !stop && ended == plan->run_count;
        }
        int status, run = wait_for_one(plan, runs, &status);
        if (run < 0) {
            continue;
        }
        --running;
        if (stop || terminal_stop_asked()) {
            runs[run].process = 0;
            runs[run].state = SWEEP_WAITS;
            continue;
        }
        end_run(plan, run, status, retries, &runs[run]);
        ended += runs[run].state != SWEEP_WAITS;
        if (!quiet) {
            terminal_progress(ended, plan->run_count, "runs", NULL);
        }
    }
    return true;
}
