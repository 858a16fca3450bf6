// What a sweep is made of: axes of values, and the folder that knows them again.
#include "app/output.h"
#include "app/report.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// --- values --------------------------------------------------------------------------------------

static bool add_value(SweepAxis* axis, const char* text, size_t length) {
    char(*grown)[SWEEP_TEXT_SIZE] =
        realloc(axis->values, ((size_t)axis->count + 1) * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    axis->values = grown;
    memcpy(grown[axis->count], text, length);
    grown[axis->count++][length] = '\0';
    return true;
}

// LOW:HIGH:COUNT, evenly spread, or evenly in the logarithm with :log behind.
static int read_range(const Args* args, const char* text, SweepAxis* axis) {
    double low, high;
    int count, used = 0;
    if (sscanf(text, "%lf:%lf:%d%n", &low, &high, &count, &used) != 3) {
        return usage_error(args, "--vary: '%s' is neither LOW:HIGH:COUNT nor a list", text);
    }
    bool log_scale = strcmp(text + used, ":log") == 0;
    if (text[used] != '\0' && !log_scale) {
        return usage_error(args, "--vary: '%s' behind '%.*s'", text + used, used, text);
    }
    if (!isfinite(low) || !isfinite(high) || count < 2 || count > SWEEP_RUNS_MAX ||
        (log_scale && !(low > 0.0 && high > 0.0))) {
        return usage_error(args, "--vary: '%s' needs two finite ends%s and a count from 2 to %d",
                           text, log_scale ? " above 0" : "", SWEEP_RUNS_MAX);
    }
    for (int i = 0; i < count; ++i) {
        double u = (double)i / (count - 1);
        double value = log_scale ? low * pow(high / low, u) : low + u * (high - low);
        char word[SWEEP_TEXT_SIZE];
        int length = snprintf(word, sizeof word, "%.12g", i == count - 1 ? high : value);
        if (!add_value(axis, word, (size_t)length)) {
            return exit_code(TDL_STATUS_NO_MEMORY);
        }
    }
    return EXIT_DONE;
}

static int read_list(const Args* args, const char* text, SweepAxis* axis) {
    for (const char* word = text;; ++word) {
        size_t length = strcspn(word, ",");
        if (length == 0 || length >= SWEEP_TEXT_SIZE) {
            return usage_error(args, "--vary: a value of '%s' is %s", text,
                               length == 0 ? "empty" : "too long");
        }
        if (!add_value(axis, word, length)) {
            return exit_code(TDL_STATUS_NO_MEMORY);
        }
        word += length;
        if (*word == '\0') {
            return EXIT_DONE;
        }
    }
}

static int read_axis(const Args* args, const char* text, SweepAxis* axis) {
    const char* equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0') {
        return usage_error(args, "--vary: '%s' is not PATH=VALUES", text);
    }
    axis->path = text;
    axis->path_length = (int)(equals - text);
    return strchr(equals, ',') == NULL && strchr(equals, ':') != NULL
               ? read_range(args, equals + 1, axis)
               : read_list(args, equals + 1, axis);
}

// --- seeds ---------------------------------------------------------------------------------------

// Loads the scene as it is, with an override more or (null) none, and says nothing.
static TdlStatus load_quietly(const SweepPlan* plan, const char* more, TdlScene** out) {
    TdlHost silent = tdl_host_default();
    int count = args_count(plan->args, "set");
    const char** sets = malloc(((size_t)count + 1) * sizeof *sets);
    TdlStatus status = sets == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    if (status == TDL_STATUS_OK) {
        for (int i = 0; i < count; ++i) {
            sets[i] = args_text_at(plan->args, "set", i);
        }
        sets[count] = more;
        status = tdl_scene_load(&silent, plan->scene, sets, count + (more != NULL), out);
    }
    free(sets);
    return status;
}

// Keeps a key path if the scene takes a seed there.
static void add_seeded(SweepPlan* plan, const char* path) {
    char text[SWEEP_PATH_SIZE + 8];
    snprintf(text, sizeof text, "%s=1", path);
    TdlScene* scene = NULL;
    if (load_quietly(plan, text, &scene) == TDL_STATUS_OK) {
        char* place = plan->seeded_text + (size_t)plan->seeded_count * SWEEP_PATH_SIZE;
        snprintf(place, SWEEP_PATH_SIZE, "%s", path);
        plan->seeded[plan->seeded_count++] = place;
    }
    tdl_scene_destroy(scene);
}

// The key paths of all that is random in the scene.
static int find_seeded(SweepPlan* plan) {
    TdlScene* scene = NULL;
    if (load_quietly(plan, NULL, &scene) != TDL_STATUS_OK) {
        return EXIT_DONE; // which is told in a moment, with its message
    }
    int groups = tdl_scene_info(scene).rod_group_count;
    plan->seeded = calloc((size_t)groups + 1, sizeof *plan->seeded);
    plan->seeded_text = calloc((size_t)groups + 1, SWEEP_PATH_SIZE);
    bool good = plan->seeded != NULL && plan->seeded_text != NULL;
    for (int i = 0; good && i < groups; ++i) {
        char path[SWEEP_PATH_SIZE];
        snprintf(path, sizeof path, "rods.%.3000s.repeat.seed", tdl_scene_rods(scene, i).name);
        add_seeded(plan, path);
    }
    if (good && tdl_scene_info(scene).has_grains) {
        add_seeded(plan, "grains.seed");
    }
    tdl_scene_destroy(scene);
    return !good ? exit_code(TDL_STATUS_NO_MEMORY)
           : plan->seeded_count == 0
               ? usage_error(plan->args, "--seeds: nothing in %s is random", plan->scene)
               : EXIT_DONE;
}

// --- the plan ------------------------------------------------------------------------------------

static int count_runs(SweepPlan* plan) {
    double count = plan->seeds > 0 ? plan->seeds : 1;
    for (int i = 0; i < plan->axis_count; ++i) {
        count *= plan->axes[i].count;
    }
    if (count > SWEEP_RUNS_MAX) {
        return usage_error(plan->args, "%.0f runs: at most %d", count, SWEEP_RUNS_MAX);
    }
    plan->run_count = (int)count;
    return EXIT_DONE;
}

int sweep_plan_read(const Args* args, SweepPlan* out) {
    *out = (SweepPlan){.args = args,
                       .scene = args_operand(args, 0),
                       .folder = args_text(args, "output", NULL),
                       .axis_count = args_count(args, "vary"),
                       .seeds = args_int(args, "seeds", 0)};
    if (out->axis_count > SWEEP_AXES_MAX) {
        return usage_error(args, "--vary: at most %d times", SWEEP_AXES_MAX);
    }
    if (out->axis_count == 0 && out->seeds == 0) {
        return usage_error(args, "nothing is varied: --vary PATH=VALUES or --seeds N");
    }
    int code = EXIT_DONE;
    for (int i = 0; i < out->axis_count && code == EXIT_DONE; ++i) {
        code = read_axis(args, args_text_at(args, "vary", i), &out->axes[i]);
    }
    if (code == EXIT_DONE && out->seeds > 0) {
        code = find_seeded(out);
    }
    return code == EXIT_DONE ? count_runs(out) : code;
}

void sweep_plan_free(SweepPlan* plan) {
    for (int i = 0; i < SWEEP_AXES_MAX; ++i) {
        free(plan->axes[i].values);
    }
    free(plan->seeded);
    free(plan->seeded_text);
}

int sweep_seed(const SweepPlan* plan, int run) {
    return plan->seeds > 0 ? run % plan->seeds + 1 : 0;
}

int sweep_value(const SweepPlan* plan, int run, int axis) {
    int rest = plan->seeds > 0 ? run / plan->seeds : run;
    for (int i = plan->axis_count - 1; i > axis; --i) {
        rest /= plan->axes[i].count;
    }
    return rest % plan->axes[axis].count;
}

int sweep_override_count(const SweepPlan* plan) {
    return args_count(plan->args, "set") + plan->axis_count + plan->seeded_count;
}

void sweep_override(const SweepPlan* plan, int run, int index, char out[SWEEP_PATH_SIZE]) {
    int sets = args_count(plan->args, "set");
    if (index < sets) {
        snprintf(out, SWEEP_PATH_SIZE, "%s", args_text_at(plan->args, "set", index));
    } else if (index < sets + plan->axis_count) {
        const SweepAxis* axis = &plan->axes[index - sets];
        snprintf(out, SWEEP_PATH_SIZE, "%.*s=%s", axis->path_length, axis->path,
                 axis->values[sweep_value(plan, run, index - sets)]);
    } else {
        const char* path = plan->seeded[index - sets - plan->axis_count];
        int room = SWEEP_PATH_SIZE - 16;
        snprintf(out, SWEEP_PATH_SIZE, "%.*s=%d", room, path, sweep_seed(plan, run));
    }
}

void sweep_run_folder(const SweepPlan* plan, int run, char out[SWEEP_PATH_SIZE]) {
    snprintf(out, SWEEP_PATH_SIZE, "%.4000s/run-%05d", plan->folder, run);
}

// --- the folder ----------------------------------------------------------------------------------

// The scene with the values of a run.
static TdlStatus load_run(const SweepPlan* plan, int run, TdlScene** out) {
    int count = sweep_override_count(plan);
    char* text = malloc((size_t)(count + 1) * SWEEP_PATH_SIZE);
    const char** sets = malloc((size_t)(count + 1) * sizeof *sets);
    TdlStatus status = text == NULL || sets == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    if (status == TDL_STATUS_OK) {
        for (int i = 0; i < count; ++i) {
            sets[i] = text + (size_t)i * SWEEP_PATH_SIZE;
            sweep_override(plan, run, i, text + (size_t)i * SWEEP_PATH_SIZE);
        }
        status = tdl_scene_load(args_host(plan->args), plan->scene, sets, count, out);
    }
    free(text);
    free(sets);
    return status;
}

// Every combination is tried at the border: a value that the scene refuses is told before the first
// run, with the scene's own message.
static int check_runs(const SweepPlan* plan) {
    TdlStatus status = TDL_STATUS_OK;
    for (int run = 0; run < plan->run_count && status == TDL_STATUS_OK; ++run) {
        TdlScene* scene = NULL;
        status = load_run(plan, run, &scene);
        tdl_scene_destroy(scene);
    }
    return exit_code(status);
}

// What the sweep is, in lines: the same text is the same sweep.
static void write_plan(const SweepPlan* plan, FILE* out) {
    fprintf(out, "tendril %s\nscene %s\nseeds %d\n", tdl_version(), plan->scene, plan->seeds);
    for (int i = 0; i < args_count(plan->args, "set"); ++i) {
        fprintf(out, "set %s\n", args_text_at(plan->args, "set", i));
    }
    for (int i = 0; i < plan->axis_count; ++i) {
        const SweepAxis* axis = &plan->axes[i];
        fprintf(out, "vary %.*s", axis->path_length, axis->path);
        for (int k = 0; k < axis->count; ++k) {
            fprintf(out, " %s", axis->values[k]);
        }
        fprintf(out, "\n");
    }
}

static char* read_file(const char* path, size_t* size) {
    char* text = NULL;
    FILE *in = fopen(path, "rb"), *out = in == NULL ? NULL : open_memstream(&text, size);
    char block[4096];
    for (size_t got; out != NULL && (got = fread(block, 1, sizeof block, in)) > 0;) {
        fwrite(block, 1, got, out);
    }
    if (out != NULL) {
        fclose(out);
    }
    if (in != NULL) {
        fclose(in);
    }
    return text;
}

static bool same_files(const char* path_a, const char* path_b) {
    size_t size_a = 0, size_b = 0;
    char *a = read_file(path_a, &size_a), *b = read_file(path_b, &size_b);
    bool same = a != NULL && b != NULL && size_a == size_b && memcmp(a, b, size_a) == 0;
    free(a);
    free(b);
    return same;
}

// The two files by which a sweep is known: its axes, and the scene of its first run.
static int write_identity(const SweepPlan* plan, const char* axes, const char* scene_path) {
    FILE* file = output_open(axes);
    if (file == NULL) {
        return EXIT_FAILED;
    }
    write_plan(plan, file);
    if (!output_close(file, true)) {
        return EXIT_FAILED;
    }
    TdlScene* scene = NULL;
    TdlStatus status = load_run(plan, 0, &scene);
    status = status == TDL_STATUS_OK ? tdl_scene_write(scene, scene_path) : status;
    tdl_scene_destroy(scene);
    return exit_code(status);
}

static int go_on(const SweepPlan* plan, char (*paths)[SWEEP_PATH_SIZE + 16]) {
    int code = write_identity(plan, paths[2], paths[3]);
    if (code == EXIT_DONE && !(same_files(paths[0], paths[2]) && same_files(paths[1], paths[3]))) {
        code = usage_error(plan->args, "%s is there and not of this sweep", plan->folder);
    }
    unlink(paths[2]);
    unlink(paths[3]);
    return code;
}

int sweep_begin(const SweepPlan* plan) {
    static const char* const NAMES[] = {"sweep.txt", "scene.yaml", ".sweep.txt", ".scene.yaml"};
    char paths[4][SWEEP_PATH_SIZE + 16];
    for (int i = 0; i < 4; ++i) {
        snprintf(paths[i], sizeof paths[i], "%.4000s/%s", plan->folder, NAMES[i]);
    }
    int code = check_runs(plan);
    struct stat there;
    if (code != EXIT_DONE) {
        return code;
    }
    if (stat(plan->folder, &there) != 0) {
        return report_make_folder(plan->folder) ? write_identity(plan, paths[0], paths[1])
                                                : EXIT_FAILED;
    }
    if (stat(paths[0], &there) != 0) {
        return usage_error(plan->args, "%s is there and is no sweep", plan->folder);
    }
    return go_on(plan, paths);
}
