// Running a combing experiment, and reading what it left.
//
// The experiment is a scene, run as any other, so that a folder is a normal result and a run goes
// on after any kind of end. The measurements of the comb, comb.csv, are a row a step; when steps
// are done again after a resume, their old rows are cut off first.
#include "experiment/combing.h"

#include "app/json.h"
#include "app/output.h"
#include "app/report.h"
#include "app/save_problem.h"
#include "app/terminal.h"
#include "app/trace_option.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = COMBING_PATH_BYTES, LINE_BYTES = 4096 };

static const char HEADING[] = "step,time,indentation,force_x,force_y,force_z,touches,curvature\n";

static const char* const COLUMN_NAMES[COMB_COLUMNS] = {
    "contacts",      "iterations",    "error",          "unsolved",        "deepest",
    "kinetic",       "elastic",       "gravity",        "predict_seconds", "detect_seconds",
    "build_seconds", "solve_seconds", "advance_seconds"};

// --- while it runs --------------------------------------------------------------------------

typedef struct Watch {
    Combing* combing;
    TdlCombTimes times;
    bool quiet, failed, kept; // kept: relaxed.state is written
    long steps;               // of this call
    clock_t clock;            // at the end of the last
    FILE* file;               // comb.csv, opened at the first step
} Watch;

static void join(char path[PATH_BYTES + 64], const char* folder, const char* name) {
    snprintf(path, PATH_BYTES + 64, "%.*s/%s", PATH_BYTES - 1, folder, name);
}

// A file that an experiment left, to be read; null where there is none.
static FILE* open_own(const char* path) {
    TdlHost silent = tdl_host_default();
    FILE* file;
    silent.file = output_guard;
    tdl_input_open(&silent, path, &file);
    return file;
}

// Opens comb.csv for rows from `step` on: behind the rows before it, or anew.
static FILE* open_rows(const char* folder, long step) {
    char path[PATH_BYTES + 64], line[LINE_BYTES];
    join(path, folder, "comb.csv");
    if (step == 1) {
        FILE* fresh = output_open(path);
        if (fresh == NULL || !output_close(fresh, fputs(HEADING, fresh) >= 0)) {
            return NULL;
        }
    }
    FILE* file = fopen(path, "r+");
    if (file == NULL) {
        fprintf(stderr, "tendril: cannot go on with %s: %s\n", path, strerror(errno));
        return NULL;
    }
    long kept = 0;
    while (fgets(line, sizeof line, file) != NULL && strchr(line, '\n') != NULL &&
           strtol(line, NULL, 10) < step) { // the heading counts as 0
        kept = ftell(file);
    }
    if (fseek(file, kept, SEEK_SET) != 0 || ftruncate(fileno(file), kept) != 0) {
        fprintf(stderr, "tendril: cannot go on with %s: %s\n", path, strerror(errno));
        fclose(file);
        return NULL;
    }
    return file;
}

static bool keep_relaxed(const char* folder, const TdlWorld* world) {
    char path[PATH_BYTES + 64];
    join(path, folder, "relaxed.state");
    size_t size = tdl_world_state_size(world);
    void* bytes = malloc(size);
    FILE* file = bytes == NULL ? NULL : output_open(path);
    bool good = file != NULL;
    if (good) {
        tdl_world_save_state(world, bytes);
        good = fwrite(bytes, 1, size, file) == size;
        good = output_close(file, good) && good;
    }
    free(bytes);
    return good;
}

// The state of hair that touches is larger than that of a new world, by what contacts are kept.
static const long STATE_GROWTH = 1000;

// Puts the hair where that of another experiment came to rest; the time stays 0.
static TdlStatus take_relaxed(void* user, TdlWorld* world) {
    const Combing* combing = user;
    char path[PATH_BYTES + 64];
    join(path, combing->relaxed, "relaxed.state");
    FILE* file = open_own(path);
    long size = -1, most = STATE_GROWTH * (long)tdl_world_state_size(world);
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
        rewind(file);
    }
    bool fits = size > (long)sizeof(int64_t) && size <= most;
    char* bytes = fits ? malloc((size_t)size) : NULL;
    bool good = bytes != NULL && fread(bytes, 1, (size_t)size, file) == (size_t)size;
    if (file != NULL) {
        fclose(file);
    }
    if (good) {
        memset(bytes, 0, sizeof(int64_t)); // the count of steps
        good = tdl_world_load_state(world, bytes, (size_t)size) == TDL_STATUS_OK;
    }
    if (!good) {
        fprintf(stderr, "tendril: %s is not the state of this hair at rest\n", path);
    }
    free(bytes);
    return good ? TDL_STATUS_OK : TDL_STATUS_BAD_INPUT;
}

static void measure(void* user, TdlWorld* world, const TdlStepInfo* info) {
    Watch* watch = user;
    if (info == NULL) { // before the first step
        watch->clock = clock();
        return;
    }
    ++watch->steps;
    clock_t now_clock = clock();
    if (info->time > watch->times.start + 1.0e-9) {
        watch->combing->processor += (double)(now_clock - watch->clock) / CLOCKS_PER_SEC;
        ++watch->combing->processor_steps;
    }
    watch->clock = now_clock;
    if (!watch->kept && info->time >= watch->times.start - 1.0e-9) {
        bool now = info->time < watch->times.start + watch->combing->def.step - 1.0e-9;
        watch->kept = true;
        watch->failed = now && !keep_relaxed(watch->combing->folder, world);
    }
    TdlCombSample s = tdl_comb_measure(world, &watch->combing->def);
    if (watch->file == NULL && !watch->failed) {
        watch->file = open_rows(watch->combing->folder, s.step);
        watch->failed = watch->file == NULL;
    }
    if (watch->file != NULL) {
        fprintf(watch->file, "%ld,%.17g,%.17g,%.17g,%.17g,%.17g,%d,%.17g\n", s.step, s.time,
                s.indentation, s.force.x, s.force.y, s.force.z, s.touches, s.curvature);
        // a row must not be behind the checkpoint that may follow
        fflush(watch->file);
    }
}

static bool has_enough(const Watch* watch) {
    const Combing* combing = watch->combing;
    return (combing->rest_only && watch->kept) ||
           (combing->step_limit > 0 && watch->steps >= combing->step_limit);
}

static bool show_progress(void* user, const TdlStepInfo* info, long step_total) {
    const Watch* watch = user;
    if (!watch->quiet) {
        const char* phase = info->time <= watch->times.start  ? "coming to rest"
                            : info->time <= watch->times.pull ? "comb comes"
                                                              : "combing";
        char remark[96];
        snprintf(remark, sizeof remark, "t = %.4g s, %s, %d contacts", info->time, phase,
                 info->contact_count);
        terminal_progress((double)info->step, (double)step_total, "steps", remark);
    }
    return !terminal_stop_asked() && !watch->failed && !has_enough(watch);
}

static bool asked_within_a_step(void* user) {
    (void)user;
    return terminal_stop_asked();
}

// --- the scene ------------------------------------------------------------------------------

static TdlStatus make_scene(const Args* args, const Combing* combing, char** text) {
    size_t size;
    FILE* memory = open_memstream(text, &size);
    if (memory == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = tdl_comb_write_scene(args_host(args), &combing->def, combing->name, memory);
    return fclose(memory) == 0 ? status : TDL_STATUS_NO_MEMORY;
}

static bool same_text(const char* path, const char* text) {
    FILE* file = open_own(path);
    size_t length = strlen(text), got = 0;
    char* old = malloc(length + 2);
    if (file != NULL && old != NULL) {
        got = fread(old, 1, length + 1, file);
    }
    bool same = old != NULL && got == length && memcmp(old, text, length) == 0;
    free(old);
    if (file != NULL) {
        fclose(file);
    }
    return same;
}

// The scene's file beside the folder: written, or for a resume compared.
static int place_scene(const Args* args, bool resume, const Combing* combing,
                       char path[PATH_BYTES + 64]) {
    char* text = NULL;
    snprintf(path, PATH_BYTES + 64, "%.*s.yaml", PATH_BYTES, combing->folder);
    TdlStatus status = make_scene(args, combing, &text);
    int code = exit_code(status);
    if (status == TDL_STATUS_BAD_ARGUMENT) {
        code = EXIT_USAGE;
    } else if (status == TDL_STATUS_OK && resume && !same_text(path, text)) {
        fprintf(stderr,
                "tendril: %s is not the scene of this experiment: --resume takes the same "
                "options again\n",
                path);
        code = EXIT_INPUT;
    } else if (status == TDL_STATUS_OK && !resume) {
        char parent[PATH_BYTES];
        snprintf(parent, sizeof parent, "%s", combing->folder);
        char* slash = strrchr(parent, '/');
        if (slash != NULL && slash != parent) {
            *slash = '\0';
            code = report_make_folder(parent) ? EXIT_DONE : EXIT_FAILED;
        }
        FILE* file = code == EXIT_DONE ? output_open(path) : NULL;
        code = file == NULL ? output_failure() : EXIT_DONE;
        if (file != NULL) {
            code = output_close(file, fputs(text, file) >= 0) ? EXIT_DONE : output_failure();
        }
    }
    free(text);
    return code;
}

int combing_run(const Args* args, bool resume, Combing* combing) {
    char path[PATH_BYTES + 64];
    if (!resume && access(combing->folder, F_OK) == 0) {
        fprintf(stderr,
                "tendril: %s is there already; --resume goes on with it, --out names another\n",
                combing->folder);
        return EXIT_USAGE;
    }
    TdlSaveProblems problems = {0};
    int code = combing->rest_only ? EXIT_DONE : save_problem_option(args, &problems);
    code = code == EXIT_DONE ? place_scene(args, resume, combing, path) : code;
    if (code != EXIT_DONE) {
        return code;
    }
    terminal_catch_stop();
    Watch watch = {.combing = combing,
                   .times = tdl_comb_times(&combing->def),
                   .quiet = args_has(args, "quiet")};
    TdlRunDef def = {.directory = combing->folder,
                     .thread_count = args_int(args, "threads", 0),
                     .begin = combing->relaxed != NULL ? take_relaxed : NULL,
                     .begin_user = combing,
                     .progress = show_progress,
                     .progress_user = &watch,
                     .stop = asked_within_a_step,
                     .watch = measure,
                     .watch_user = &watch,
                     .problems = problems};
    TraceOption trace;
    code = combing->rest_only ? EXIT_DONE : trace_begin(args, &def, &trace);
    if (code != EXIT_DONE) {
        return code;
    }
    TdlRunInfo info = {0};
    TdlStatus status;
    if (resume) {
        status = tdl_run_resume(args_host(args), &def, &info);
    } else {
        TdlScene* scene;
        status = tdl_scene_load(args_host(args), path, NULL, 0, &scene);
        if (status == TDL_STATUS_OK) {
            status = tdl_run(args_host(args), scene, &def, &info);
            tdl_scene_destroy(scene);
        }
    }
    terminal_end_progress();
    if (!watch.quiet) {
        save_problem_tell(&def.problems, &info);
    }
    if (watch.file != NULL && fclose(watch.file) != 0) {
        watch.failed = true;
    }
    if (status == TDL_STATUS_STOPPED && has_enough(&watch) && !terminal_stop_asked()) {
        status = TDL_STATUS_OK;
    }
    if (status == TDL_STATUS_STOPPED && !watch.failed) {
        fprintf(stderr, "stopped at step %ld of %ld; the same call with --resume goes on\n",
                info.steps, info.step_total);
    }
    code = watch.failed ? EXIT_FAILED : exit_code(status);
    return combing->rest_only ? code : trace_end(args, &trace, code);
}

int combing_rest(const Args* args, bool resume, Combing* combing) {
    if (!(combing->def.rest_step > 0.0) || combing->relaxed != NULL) {
        return EXIT_DONE;
    }
    char state[PATH_BYTES + 64], scene[PATH_BYTES + 64];
    Combing rest = {
        .def = tdl_comb_rest(&combing->def), .folder = combing->rest, .rest_only = true};
    snprintf(rest.name, sizeof rest.name, "%.50s, at rest", combing->name);
    snprintf(combing->rest, PATH_BYTES, "%.*s-rest", PATH_BYTES - 16, combing->folder);
    combing->relaxed = combing->rest;
    join(state, combing->rest, "relaxed.state");
    bool there = access(combing->rest, F_OK) == 0;
    if (there && access(state, F_OK) == 0) {
        return place_scene(args, true, &rest, scene); // the same hair, then
    }
    return combing_run(args, resume && there, &rest);
}

// --- reading --------------------------------------------------------------------------------

static void* grown(void* array, int count, int* capacity, size_t size) {
    if (count < *capacity) {
        return array;
    }
    *capacity = 2 * *capacity + 1024;
    void* more = realloc(array, (size_t)*capacity * size);
    if (more == NULL) {
        free(array);
    }
    return more;
}

static bool read_samples(Combing* combing, FILE* file, char* line) {
    int capacity = 0;
    while (fgets(line, LINE_BYTES, file) != NULL) {
        TdlCombSample s;
        if (sscanf(line, "%ld,%lf,%lf,%lf,%lf,%lf,%d,%lf", &s.step, &s.time, &s.indentation,
                   &s.force.x, &s.force.y, &s.force.z, &s.touches, &s.curvature) != 8) {
            continue;
        }
        combing->samples = grown(combing->samples, combing->count, &capacity, sizeof s);
        if (combing->samples == NULL) {
            return false;
        }
        combing->samples[combing->count++] = s;
    }
    return true;
}

// The place of each column in the heading, or -1.
static void find_columns(char* line, int place[COMB_COLUMNS]) {
    memset(place, -1, COMB_COLUMNS * sizeof *place);
    line[strcspn(line, "\r\n")] = '\0';
    int at = 0;
    for (char* name = strtok(line, ","); name != NULL; name = strtok(NULL, ","), ++at) {
        for (int c = 0; c < COMB_COLUMNS; ++c) {
            place[c] = strcmp(name, COLUMN_NAMES[c]) == 0 ? at : place[c];
        }
    }
}

// Rows of log.csv beside the samples; where it has fewer, the rest of the samples is dropped.
static bool read_log(Combing* combing, FILE* file, char* line) {
    int place[COMB_COLUMNS], row = 0;
    for (int c = 0; c < COMB_COLUMNS; ++c) {
        combing->column[c] = calloc((size_t)combing->count + 1, sizeof(double));
        if (combing->column[c] == NULL) {
            return false;
        }
    }
    if (fgets(line, LINE_BYTES, file) == NULL) {
        return false;
    }
    find_columns(line, place);
    while (row < combing->count && fgets(line, LINE_BYTES, file) != NULL) {
        const char* field = line;
        for (int at = 0; field != NULL; ++at) {
            for (int c = 0; c < COMB_COLUMNS; ++c) {
                if (place[c] == at) {
                    combing->column[c][row] = strtod(field, NULL);
                }
            }
            field = strchr(field, ',');
            field = field == NULL ? NULL : field + 1;
        }
        ++row;
    }
    combing->count = row;
    return true;
}

bool combing_read(const Args* args, Combing* combing) {
    static char line[LINE_BYTES];
    char path[PATH_BYTES + 64];
    join(path, combing->folder, "comb.csv");
    FILE* file = open_own(path);
    bool good = file != NULL && read_samples(combing, file, line);
    if (file != NULL) {
        fclose(file);
    }
    if (good) {
        join(path, combing->folder, "log.csv");
        file = open_own(path);
        good = file != NULL && read_log(combing, file, line);
        if (file != NULL) {
            fclose(file);
        }
    }
    if (!good) {
        fprintf(stderr, "tendril: cannot read %s\n", path);
    }
    good = good && combing_read_hands(args, combing);
    combing->finished =
        good && combing->count > 0 &&
        combing->samples[combing->count - 1].time >= tdl_comb_times(&combing->def).end - 1.0e-9;
    return good;
}

void combing_free(Combing* combing) {
    free(combing->samples);
    combing->samples = NULL;
    free(combing->hands.time);
    combing->hands = (CombHands){0};
    for (int c = 0; c < COMB_COLUMNS; ++c) {
        free(combing->column[c]);
        combing->column[c] = NULL;
    }
}

// --- figures --------------------------------------------------------------------------------

int combing_first(const Combing* combing, bool pulled) {
    TdlCombTimes t = tdl_comb_times(&combing->def);
    double from = (pulled ? t.pull : t.start) + 1.0e-9;
    int i = 0;
    while (i < combing->count && combing->samples[i].time <= from) {
        ++i;
    }
    return i;
}

CombFigures combing_figures(const Combing* combing) {
    const TdlCombDef* def = &combing->def;
    double* const* column = combing->column;
    int first = combing_first(combing, false), pulled = combing_first(combing, true);
    CombFigures f = {.steps = combing->count - first, .pulled = combing->count - pulled};
    double area = 3.14159265358979323846 * def->radius * def->radius;
    double mass = def->fibre_count * area * def->length * def->density;
    f.rest_speed = first > 0 ? sqrt(2.0 * column[COMB_KINETIC][first - 1] / mass) : NAN;
    for (int i = first; i < combing->count; ++i) {
        double build = column[COMB_BUILD_SECONDS][i] + column[COMB_PREDICT_SECONDS][i];
        f.contacts += column[COMB_CONTACTS][i];
        f.most = fmax(f.most, column[COMB_CONTACTS][i]);
        f.detect += column[COMB_DETECT_SECONDS][i];
        f.build += build;
        f.solve += column[COMB_SOLVE_SECONDS][i];
        f.seconds += column[COMB_DETECT_SECONDS][i] + build + column[COMB_SOLVE_SECONDS][i] +
                     column[COMB_ADVANCE_SECONDS][i];
        f.deepest = fmin(f.deepest, column[COMB_DEEPEST][i]);
        f.error = fmax(f.error, column[COMB_ERROR][i]);
        f.iterations += column[COMB_ITERATIONS][i];
        f.unsolved += column[COMB_UNSOLVED][i] > 0.0;
    }
    f.contacts /= f.steps;
    f.detect /= f.steps;
    f.build /= f.steps;
    f.solve /= f.steps;
    f.seconds /= f.steps;
    f.iterations /= f.steps;
    for (int i = pulled; i < combing->count; ++i) {
        double size = tdl_norm3(combing->samples[i].force);
        f.force += size;
        f.most_force = fmax(f.most_force, size);
    }
    f.force /= f.pulled;
    f.roughness = tdl_comb_roughness(combing->samples + pulled, f.pulled);
    return f;
}

static void member(const char* name, double value) {
    printf(", \"%s\": ", name);
    json_real(value);
}

void combing_print_json(const Combing* combing) {
    const TdlCombDef* def = &combing->def;
    CombFigures f = combing_figures(combing);
    bool curves = def->geometry == TDL_CONTACT_CURVES;
    printf("\"name\": ");
    json_text(combing->name);
    printf(", \"detection\": \"%s\", \"fibres\": %d, \"elements\": %d, \"proxies\": %d",
           curves ? "curves" : "segments", def->fibre_count, def->element_count,
           curves ? 0 : def->element_count * def->segments);
    member("kappa0", def->natural_curvature);
    member("mu", def->mu);
    member("dt", def->step);
    printf(", \"finished\": %s, \"steps\": %d, \"combing_steps\": %d, \"pulled_steps\": %d",
           combing->finished ? "true" : "false", combing->count, f.steps, f.pulled);
    member("rest_speed", f.rest_speed);
    member("contacts_mean", f.contacts);
    member("contacts_most", f.most);
    member("seconds_per_step", f.seconds);
    member("processor_seconds_per_step", combing->processor / combing->processor_steps);
    member("detection_seconds", f.detect);
    member("construction_seconds", f.build);
    member("solve_seconds", f.solve);
    member("deepest_gap", f.deepest);
    member("solver_error", f.error);
    member("iterations_mean", f.iterations);
    printf(", \"unsolved_steps\": %d", f.unsolved);
    member("force_mean", f.force);
    member("force_most", f.most_force);
    member("roughness", f.roughness);
    member("hand_changes_before", combing->hands.before);
    member("hand_changes_most", combing->hands.most);
    member("hand_changes_last", combing->hands.last);
}
