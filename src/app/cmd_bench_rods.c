// tendril bench rods: what a step of each rod model costs, and what accuracy costs.
#include "app/command.h"
#include "app/output.h"
#include "app/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_MODELS = 16, BLOCKS = 5 };
static const int SIZES[] = {5, 12, 20, 50, 100, 200, 500, 1000};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

typedef struct Bench {
    const Args* args;
    char names[256];
    const char* models[MAX_MODELS];
    int model_count;
    int rod_count;
    int only_size;                               // 0: all
    double budget;                               // s for one figure
    double step_seconds[MAX_MODELS][SIZE_COUNT]; // NaN: not measured
} Bench;

// Seconds this thread has worked: other programs on the machine do not count.
static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1.0e-9 * (double)t.tv_nsec;
}

// The names of the models, or the one asked for.
static void list_models(Bench* bench) {
    const char* only = args_text(bench->args, "model", NULL);
    snprintf(bench->names, sizeof bench->names, "%s", only == NULL ? tdl_rod_models() : only);
    for (char* name = strtok(bench->names, "|"); name != NULL; name = strtok(NULL, "|")) {
        if (bench->model_count < MAX_MODELS) {
            bench->models[bench->model_count++] = name;
        }
    }
}

// A hair of S0's kind: naturally curved, clamped, at 30 cm.
static TdlRodDef hair(const char* model, int elements) {
    TdlRodDef def = tdl_rod_def_default();
    def.model = model;
    def.length = 0.3;
    def.element_count = elements;
    def.damping = 1.0e-3;
    def.natural_curvature = (TdlVec3){0.0, 20.0, 1.0};
    def.curvature = (TdlVec3){1.0, 18.0, 0.5};
    return def;
}

static TdlStatus build(const Bench* bench, const TdlRodDef* def, TdlWorld** world) {
    const TdlHost* host = args_host(bench->args);
    TdlWorldDef world_def = tdl_world_def_default();
    world_def.contacts.off = true;
    TdlStatus status = tdl_world_create(host, &world_def, world);
    for (int i = 0; i < bench->rod_count && status == TDL_STATUS_OK; ++i) {
        TdlRodId rod;
        TdlRodDef own = *def;
        own.clamp.position.y = 0.01 * i;
        status = tdl_world_add_rod(*world, &own, &rod);
    }
    return status;
}

// Seconds of one step of one rod: the best of several blocks, each an even share of the budget.
static double time_step(const Bench* bench, TdlWorld* world) {
    double best = INFINITY, started = cpu_now();
    int steps = 1;
    TdlStatus status = tdl_world_step(world, NULL); // warm up
    for (int block = 0; block < BLOCKS && status == TDL_STATUS_OK;) {
        double t = cpu_now();
        for (int i = 0; i < steps && status == TDL_STATUS_OK; ++i) {
            status = tdl_world_step(world, NULL);
        }
        t = cpu_now() - t;
        best = fmin(best, t / steps);
        if (t < 0.5 * bench->budget / BLOCKS) {
            steps *= 2; // too short to be timed
        } else {
            ++block;
        }
        if (cpu_now() - started > 3.0 * bench->budget) {
            break;
        }
    }
    return status == TDL_STATUS_OK ? best / bench->rod_count : NAN;
}

static void measure_model(Bench* bench, int model) {
    bool slow = false;
    for (int k = 0; k < SIZE_COUNT; ++k) {
        TdlRodDef def = hair(bench->models[model], SIZES[k]);
        TdlWorld* world = NULL;
        double* seconds = &bench->step_seconds[model][k];
        *seconds = NAN;
        bool wanted = bench->only_size == 0 || bench->only_size == SIZES[k];
        if (wanted && !slow && build(bench, &def, &world) == TDL_STATUS_OK) {
            *seconds = time_step(bench, world);
        }
        slow = slow || *seconds > bench->budget; // the next size would take minutes
        tdl_world_destroy(world);
    }
}

static void print_number(double x, const char* format) {
    if (isfinite(x)) {
        printf(format, x);
    } else {
        printf("null");
    }
}

static void print_json(const Bench* bench) {
    printf("{\"rods\": %d, \"models\": [", bench->rod_count);
    for (int m = 0; m < bench->model_count; ++m) {
        printf("%s{\"model\": \"%s\", \"steps\": [", m == 0 ? "" : ", ", bench->models[m]);
        for (int k = 0; k < SIZE_COUNT; ++k) {
            printf("%s{\"elements\": %d, \"seconds\": ", k == 0 ? "" : ", ", SIZES[k]);
            print_number(bench->step_seconds[m][k], "%.4g");
            printf("}");
        }
        printf("]}");
    }
    printf("]}\n");
}

static const double* row_of(const Bench* bench, const char* model) {
    for (int m = 0; m < bench->model_count; ++m) {
        if (strcmp(bench->models[m], model) == 0) {
            return bench->step_seconds[m];
        }
    }
    return NULL;
}

static void print_plain(const Bench* bench) {
    printf("microseconds a step (and an element), one of %d rods\n%-20s", bench->rod_count, "");
    for (int k = 0; k < SIZE_COUNT; ++k) {
        printf("%16d", SIZES[k]);
    }
    for (int m = 0; m < bench->model_count; ++m) {
        printf("\n%-20s", bench->models[m]);
        for (int k = 0; k < SIZE_COUNT; ++k) {
            double us = 1.0e6 * bench->step_seconds[m][k];
            if (isfinite(us)) {
                printf("%9.1f (%4.2f)", us, us / SIZES[k]);
            } else {
                printf("%16s", "-");
            }
        }
    }
    const double *dense = row_of(bench, "super-helix-dense"),
                 *linear = row_of(bench, "super-helix");
    if (dense != NULL && linear != NULL) {
        printf("\n%-20s", "dense / linear");
        for (int k = 0; k < SIZE_COUNT; ++k) {
            isfinite(dense[k]) ? printf("%16.1f", dense[k] / linear[k]) : printf("%16s", "-");
        }
    }
    printf("\n");
}

// --- accuracy against cost ------------------------------------------------------------------

enum { POINTS = 50, REFERENCE_ELEMENTS = 100 };
static const double CURL_LENGTH = 0.2; // m
static const int ACCURACY_SIZES[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48};
enum { ACCURACY_COUNT = sizeof ACCURACY_SIZES / sizeof *ACCURACY_SIZES };

// A heavy curl at rest: its points, and the seconds it took to find.
static TdlStatus settle(const Bench* bench, const char* model, int elements,
                        TdlVec3 points[POINTS + 1], double* seconds) {
    TdlRodDef def = hair(model, elements);
    TdlWorld* world = NULL;
    def.length = CURL_LENGTH;
    def.natural_curvature = def.curvature = (TdlVec3){2.0, 25.0, 0.0};
    TdlStatus status = build(bench, &def, &world);
    double started = cpu_now();
    if (status == TDL_STATUS_OK) {
        status = tdl_world_settle(world, NULL);
    }
    *seconds = cpu_now() - started;
    for (int i = 0; i <= POINTS && status == TDL_STATUS_OK; ++i) {
        points[i] = tdl_rod_point(world, tdl_world_rod(world, 0), def.length * i / POINTS);
    }
    tdl_world_destroy(world);
    return status;
}

static double largest_distance(const TdlVec3* a, const TdlVec3* b) {
    double largest = 0.0;
    for (int i = 0; i <= POINTS; ++i) {
        largest = fmax(largest, tdl_norm3(tdl_sub3(a[i], b[i])));
    }
    return largest;
}

typedef struct Accuracy {
    int count;
    double seconds[ACCURACY_COUNT], error[ACCURACY_COUNT];
} Accuracy;

// One model from few elements to many; sizes at which it does not settle are left out.
static Accuracy measure_accuracy(const Bench* bench, const char* model, const TdlVec3* reference,
                                 FILE* csv) {
    TdlVec3 points[POINTS + 1];
    Accuracy found = {0};
    for (int k = 0; k < ACCURACY_COUNT; ++k) {
        double seconds, other;
        TdlStatus status = settle(bench, model, ACCURACY_SIZES[k], points, &seconds);
        for (int again = 0; again < 2; ++again) { // the best of three
            settle(bench, model, ACCURACY_SIZES[k], points, &other);
            seconds = fmin(seconds, other);
        }
        if (status == TDL_STATUS_OK) {
            double error = largest_distance(points, reference) / CURL_LENGTH;
            fprintf(csv, "%s,%d,%.3e,%.3e\n", model, ACCURACY_SIZES[k], error, seconds);
            found.seconds[found.count] = seconds;
            found.error[found.count++] = error;
        }
    }
    return found;
}

// S4 fig. 2.6: error at equilibrium against time, as CSV and as a picture beside it.
static int run_accuracy(Bench* bench, const char* path) {
    static TdlVec3 reference[POINTS + 1];
    static Accuracy found[MAX_MODELS];
    PlotSeries series[MAX_MODELS];
    char picture[OUTPUT_PATH_SIZE];
    double seconds;
    bench->rod_count = 1;
    TdlStatus status = settle(bench, "super-clothoid", REFERENCE_ELEMENTS, reference, &seconds);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    FILE* csv = output_open(path);
    if (csv == NULL) {
        return EXIT_FAILED;
    }
    fprintf(csv, "model,elements,relative_error,seconds\n");
    for (int m = 0; m < bench->model_count; ++m) {
        found[m] = measure_accuracy(bench, bench->models[m], reference, csv);
        series[m] = (PlotSeries){bench->models[m], found[m].seconds, found[m].error, found[m].count,
                                 PLOT_MARKED_LINE};
    }
    bool written = output_close(csv, path, true);
    Plot plot = {.title = "A heavy curl at rest",
                 .x = {.label = "processor time to equilibrium", .unit = "s", .log = true},
                 .y = {.label = "largest error of the shape / length", .log = true},
                 .series = series,
                 .series_count = bench->model_count};
    output_path(picture, path, ".csv", ".svg");
    return plot_write_picture(&plot, picture) && written ? EXIT_DONE : EXIT_FAILED;
}

// Whether the words a|b|c hold this one.
static bool has_word(const char* words, const char* word) {
    size_t size = strlen(word);
    for (const char* at = words; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, word, size) == 0 && (at[size] == '|' || at[size] == '\0')) {
            return true;
        }
    }
    return false;
}

static int run_bench_rods(const Args* args) {
    const char* only = args_text(args, "model", NULL);
    if (only != NULL && !has_word(tdl_rod_models(), only)) {
        return usage_error(args, "no rod model is called '%s'; there are %s", only,
                           tdl_rod_models());
    }
    Bench* bench = calloc(1, sizeof *bench);
    if (bench == NULL) {
        return EXIT_FAILED;
    }
    bench->args = args;
    bench->rod_count = args_int(args, "rods", 1);
    bench->budget = args_real(args, "seconds", 0.1);
    bench->only_size = atoi(args_text(args, "elements", "0"));
    list_models(bench);
    int code = EXIT_DONE;
    if (args_has(args, "accuracy")) {
        code = run_accuracy(bench, args_text(args, "accuracy", ""));
    } else {
        for (int m = 0; m < bench->model_count; ++m) {
            measure_model(bench, m);
        }
        args_has(args, "json") ? print_json(bench) : print_plain(bench);
    }
    free(bench);
    return code;
}

static const Option OPTIONS[] = {
    {"model", 'm', OPTION_TEXT, "MODEL", 0, 0, "only this model; default: all", false},
    {"elements", 'e', OPTION_CHOICE, "5|12|20|50|100|200|500|1000", 0, 0,
     "only this number of elements; default: all", false},
    {"rods", 'n', OPTION_INT, "COUNT", 1, 100000, "equal rods in the world; default 1", false},
    {"seconds", 's', OPTION_REAL, "S", 0.001, 60, "time for one figure, s; default 0.1", false},
    {"accuracy", 'a', OPTION_FILE, "CSV", 0, 0,
     "write the error at equilibrium against time instead, and a .svg beside it", false},
    {0},
};

const Command BENCH_RODS_COMMAND = {
    .name = "bench rods",
    .operands = "",
    .summary = "Measure what a step of each rod model costs",
    .text = "Times free steps of a clamped hair, for every model and 5 to 1000 elements, on one "
            "thread, and prints the cost of a step, of an element, and the ratio of the dense to "
            "the linear-time super-helix. Sizes at which a step takes longer than a figure may are "
            "left out.\n\n"
            "With --accuracy, settles a heavy curl instead and writes the largest distance from "
            "a fine solution, over the rod's length, against the time it took, as CSV and SVG.",
    .example = "tendril bench rods\n"
               "tendril bench rods --rods 64 --json\n"
               "tendril bench rods --accuracy accuracy.csv",
    .options = OPTIONS,
    .run = run_bench_rods,
};
