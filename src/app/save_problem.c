// --save-problem STEPS=PATH of the commands that run a simulation.
#include "app/save_problem.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// A whole number > 0 at *text, which moves behind it; 0 when there is none.
static long read_step(const char** text) {
    char* end;
    if (!isdigit((unsigned char)**text)) {
        return 0;
    }
    errno = 0;
    long value = strtol(*text, &end, 10);
    *text = end;
    return errno == 0 ? value : 0;
}

// all=, N=, N-M= or N-M/EVERY=; returns what follows, null when it is none of these
static const char* read_steps(const char* text, TdlSaveProblems* out) {
    if (strncmp(text, "all=", 4) == 0) {
        *out = (TdlSaveProblems){.first = 1, .last = LONG_MAX, .every = 1};
        return text + 4;
    }
    out->first = out->last = read_step(&text);
    out->every = 1;
    if (*text == '-') {
        ++text;
        out->last = read_step(&text);
        if (*text == '/') {
            ++text;
            out->every = read_step(&text);
        }
    }
    bool good = out->first > 0 && out->last >= out->first && out->every > 0 && *text == '=';
    return good ? text + 1 : NULL;
}

static int read_option(const Args* args, const char* name, const char* example,
                       TdlSaveProblems* out) {
    *out = (TdlSaveProblems){0};
    const char* text = args_text(args, name, NULL);
    if (text == NULL) {
        return EXIT_DONE;
    }
    const char* path = read_steps(text, out);
    if (path == NULL || *path == '\0') {
        return usage_error(args, "--%s takes STEPS=PATH, such as %s, not '%s'", name, example,
                           text);
    }
    out->path = path;
    return EXIT_DONE;
}

int save_problem_option(const Args* args, TdlSaveProblems* out) {
    return read_option(args, "save-problem", "120=p.hdf5, 100-200=dir, 1-1000/50=dir or all=dir",
                       out);
}

int save_queries_option(const Args* args, TdlSaveProblems* out) {
    return read_option(args, "save-queries", "100-200=edge-edge.csv or all=edge-edge.csv", out);
}

void save_problem_tell(const TdlSaveProblems* def, const TdlRunInfo* info) {
    if (def->path == NULL) {
        return;
    }
    if (info->problems == 0) {
        fprintf(stderr, "no contact problem was saved: none of the steps asked for has contacts "
                        "that a solver answered\n");
    } else {
        fprintf(stderr, "%s: %ld contact problem%s saved\n", def->path, info->problems,
                info->problems == 1 ? "" : "s");
    }
}
