// tendril bench rods: what a step of each rod model costs, and what accuracy costs.
#include "app/command.h"
#include "app/output.h"
#include "app/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_MODELS = 16, BLOCKS = 40 };

// Rods that run four at a time, and the hairs of S0's wisp.
enum { COMPANY = 64, HAIRS = 2025, HAIR_ELEMENTS = 12 };
static const int SIZES[] = {5, 12, 20, 50, 100, 200, 500, 1000};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

typedef struct Bench {
    const Args* args;
    char names[256];
    const char* models[MAX_MODELS];
    int model_count;
    int rod_count;
    int only_size; // 0: all
    double budget; // s for one figure
    // NaN: not measured
    double step_seconds[MAX_MODELS][SIZE_COUNT];
    double company_seconds[SIZE_COUNT]; // of the super-helix, one of COMPANY
    double hairs_seconds;               // of all hairs of a wisp
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

static TdlStatus build(const Bench* bench, const TdlRodDef* def, int rods, TdlWorld** world) {
    const TdlHost* host = args_host(bench->args);
    TdlWorldDef world_def = tdl_world_def_default();
    world_def.contacts.off = true;
    TdlStatus status = tdl_world_create(host, &world_def, world);
    for (int i = 0; i < rods && status == TDL_STATUS_OK; ++i) {
        TdlBodyId rod;
        TdlRodDef own = *def;
        own.clamp.position.y = 0.01 * i;
        status = tdl_world_add_rod(*world, &own, &rod);
    }
    return status;
}

// Seconds of one step: the best of many short blocks, each an even share of the budget, so that
// some fall between what else the machine does.
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
    return status == TDL_STATUS_OK ? best : NAN;
}

// Seconds of a step of so many rods.
static double measure(const Bench* bench, const char* model, int elements, int rods) {
    TdlRodDef def = hair(model, elements);
    TdlWorld* world = NULL;
    double seconds = NAN;
    if (build(bench, &def, rods, &world) == TDL_STATUS_OK) {
        seconds = time_step(bench, world);
    }
    tdl_world_destroy(world);
    return seconds;
}

// Fills a row with the seconds of a step of one rod among so many.
static void measure_row(const Bench* bench, const char* model, int rods, double* row) {
    bool slow = false;
    for (int k = 0; k < SIZE_COUNT; ++k) {
        bool wanted = bench->only_size == 0 || bench->only_size == SIZES[k];
        row[k] = wanted && !slow ? measure(bench, model, SIZES[k], rods) : NAN;
        slow = slow || row[k] > bench->budget; // the next size would take minutes
        row[k] /= rods;
    }
}

static bool is_linear(const char* model) {
    return strcmp(model, "super-helix") == 0;
}

static void measure_all(Bench* bench) {
    for (int k = 0; k < SIZE_COUNT; ++k) {
        bench->company_seconds[k] = NAN;
    }
    bench->hairs_seconds = NAN;
    for (int m = 0; m < bench->model_count; ++m) {
        const char* model = bench->models[m];
        measure_row(bench, model, bench->rod_count, bench->step_seconds[m]);
        if (is_linear(model) && bench->rod_count == 1) {
            measure_row(bench, model, COMPANY, bench->company_seconds);
            if (bench->only_size == 0 || bench->only_size == HAIR_ELEMENTS) {
                bench->hairs_seconds = measure(bench, model, HAIR_ELEMENTS, HAIRS);
            }
        }
    }
}

static void print_number(double x, const char* format) {
    if (isfinite(x)) {
        printf(format, x);
    } else {
        printf("null");
    }
}

static void print_json_row(const char* name, const char* value, const double* row) {
    printf("{\"%s\": \"%s\", \"steps\": [", name, value);
    for (int k = 0; k < SIZE_COUNT; ++k) {
        printf("%s{\"elements\": %d, \"seconds\": ", k == 0 ? "" : ", ", SIZES[k]);
        print_number(row[k], "%.4g");
        printf("}");
    }
    printf("]}");
}

static void print_json(const Bench* bench) {
    printf("{\"rods\": %d, \"models\": [", bench->rod_count);
    for (int m = 0; m < bench->model_count; ++m) {
        printf("%s", m == 0 ? "" : ", ");
        print_json_row("model", bench->models[m], bench->step_seconds[m]);
    }
    printf("], \"one_of_%d\": ", COMPANY);
    print_json_row("model", "super-helix", bench->company_seconds);
    printf(", \"hairs_%d_seconds\": ", HAIRS);
    print_number(bench->hairs_seconds, "%.4g");
    printf("}\n");
}

static const double* row_of(const Bench* bench, const char* model) {
    for (int m = 0; m < bench->model_count; ++m) {
        if (strcmp(bench->models[m], model) == 0) {
            return bench->step_seconds[m];
        }
    }
    return NULL;
}

static bool any_finite(const double* row) {
    bool some = false;
    for (int k = 0; k < SIZE_COUNT; ++k) {
        some = some || isfinite(row[k]);
    }
    return some;
}

// How a table looks: for people, or for a page.
typedef struct Style {
    const char *label, *small, *large, *each, *none, *end; // small: below 10
} Style;

static const Style PLAIN = {"%-24s", "%9.1f", "%9.1f", " (%4.2f)", "%16s", "\n"};
static const Style MARKDOWN = {"| %s ", "| %.1f ", "| %.0f ", "", "| %s ", "|\n"};

// A row of numbers, and what each is for an element.
static void print_row(const Style* style, const char* label, const double* x, double scale) {
    printf(style->label, label);
    for (int k = 0; k < SIZE_COUNT; ++k) {
        double number = scale * x[k];
        if (!isfinite(number)) {
            printf(style->none, "-");
            continue;
        }
        printf(number < 10.0 ? style->small : style->large, number);
        printf(style->each, number / SIZES[k]);
    }
    printf("%s", style->end);
}

static void print_head(const Bench* bench, bool markdown) {
    if (!markdown) {
        printf("microseconds a step (and an element), one of %d rods\n%-24s", bench->rod_count, "");
    } else {
        printf("| elements ");
    }
    for (int k = 0; k < SIZE_COUNT; ++k) {
        printf(markdown ? "| %d " : "%16d", SIZES[k]);
    }
    printf("%s", markdown ? "|\n|---|---|---|---|---|---|---|---|---|\n" : "\n");
}

static void print_table(const Bench* bench, bool markdown) {
    const Style* style = markdown ? &MARKDOWN : &PLAIN;
    const double *dense = row_of(bench, "super-helix-dense"),
                 *linear = row_of(bench, "super-helix");
    print_head(bench, markdown);
    for (int m = 0; m < bench->model_count; ++m) {
        bool alone = is_linear(bench->models[m]) && bench->rod_count == 1;
        print_row(style, alone ? "super-helix, alone" : bench->models[m], bench->step_seconds[m],
                  1.0e6);
        if (alone && any_finite(bench->company_seconds)) {
            print_row(style, "super-helix, one of 64", bench->company_seconds, 1.0e6);
        }
    }
    if (dense != NULL && linear != NULL) {
        double ratio[SIZE_COUNT];
        Style plain = *style;
        for (int k = 0; k < SIZE_COUNT; ++k) {
            ratio[k] = dense[k] / linear[k];
        }
        plain.small = plain.large = markdown ? "| %.0f " : "%16.1f";
        plain.each = "";
        print_row(&plain, "dense / linear", ratio, 1.0);
    }
    if (linear != NULL && isfinite(linear[SIZE_COUNT - 1]) && bench->only_size == 0) {
        printf("%sfrom 100 to 1000 elements the super-helix takes %.1f times as long\n",
               markdown ? "\n" : "", linear[SIZE_COUNT - 1] / linear[SIZE_COUNT - 4]);
    }
    if (isfinite(bench->hairs_seconds)) {
        printf("%d hairs of %d elements take %.1f ms a step\n", HAIRS, HAIR_ELEMENTS,
               1.0e3 * bench->hairs_seconds);
    }
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
    TdlStatus status = build(bench, &def, 1, &world);
    double started = cpu_now();
    if (status == TDL_STATUS_OK) {
        status = tdl_world_settle(world, NULL);
    }
    *seconds = cpu_now() - started;
    for (int i = 0; i <= POINTS && status == TDL_STATUS_OK; ++i) {
        status = tdl_rod_point(world, tdl_world_body(world, "rod", 0), def.length * i / POINTS,
                               &points[i]);
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
    bool written = output_close(csv, true);
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
        measure_all(bench);
        args_has(args, "json") ? print_json(bench) : print_table(bench, args_has(args, "markdown"));
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
    {"markdown", 0, OPTION_SWITCH, NULL, 0, 0, "print the table as docs/rods.md has it", false},
    {"accuracy", 'a', OPTION_OUTPUT, "CSV", 0, 0,
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
            "left out. Unless --rods says otherwise, rods are alone; super-helices, which run four "
            "at a time, are also timed as one of 64, and as a wisp of 2025 hairs.\n\n"
            "With --accuracy, settles a heavy curl instead and writes the largest distance from "
            "a fine solution, over the rod's length, against the time it took, as CSV and SVG.",
    .example = "tendril bench rods\n"
               "tendril bench rods --rods 64 --json\n"
               "tendril bench rods --accuracy accuracy.csv",
    .options = OPTIONS,
    .run = run_bench_rods,
};
