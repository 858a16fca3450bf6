// tendril bench inverse: what it costs to find the fibre that rests in a given shape. All rows come
// from one run on one thread, so that their ratios hold on any machine.
#include "app/command.h"

#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { ENDS = 4096, STRANDS = 1000, POINTS = 100, REPEATS_MIN = 3, REPEATS_MAX = 1000 };

// Elements of a strand: one between two points, the most that they may be worth.
enum { ELEMENTS = POINTS - 1 };

static const TdlVec3 GRAVITY = {0.0, 0.0, -9.81};
static const double LENGTH = 0.3; // m, about, of a strand

// A helix by its ends.
typedef struct Ends {
    TdlVec3 d, t0, t1;
} Ends;

typedef struct Bench {
    const TdlHost* host;
    double budget;          // s, of a row
    int strand_count;       // of the rows that take them all
    Ends* ends[3];          // [ENDS] of three ranges of angle
    TdlVec3* points;        // [strand_count POINTS]
    TdlVec3* natural;       // [POINTS] where results go
    TdlVec3* curvature;     // [strand_count ELEMENTS] of helices fitted to the points
    TdlHelixFit* fits;      // [strand_count]
    TdlVec3 joints[POINTS]; // the first strand as a super-clothoid
    TdlHelixFit joint_fit;  // its pose and length
    double sink;            // what is computed is used
    TdlStatus status;       // the first failure
} Bench;

// --- shapes -----------------------------------------------------------------------------------

static TdlVec3 random_direction(Rng* rng) {
    for (;;) {
        TdlVec3 v = {rng_normal(rng), rng_normal(rng), rng_normal(rng)};
        double size = tdl_norm3(v);
        if (size > 1.0e-3) {
            return tdl_scale3(1.0 / size, v);
        }
    }
}

// v turned by `angle` about a unit axis.
static TdlVec3 turned(TdlVec3 v, TdlVec3 axis, double angle) {
    TdlVec3 along = tdl_scale3((1.0 - cos(angle)) * tdl_dot3(axis, v), axis);
    TdlVec3 side = tdl_scale3(sin(angle), tdl_cross3(axis, v));
    return tdl_add3(along, tdl_axpy3(side, cos(angle), v));
}

// The ends of a helix of length 1 that turns by an angle from `low` to `high`, rad.
static Ends random_ends(Rng* rng, double low, double high) {
    double angle = rng_range(rng, low, high);
    TdlVec3 axis = random_direction(rng), t0 = random_direction(rng);
    TdlVec3 along = tdl_scale3(tdl_dot3(axis, t0), axis), across = tdl_sub3(t0, along);
    TdlVec3 d = tdl_axpy3(along, sin(angle) / angle, across);
    d = tdl_axpy3(d, (1.0 - cos(angle)) / angle, tdl_cross3(axis, t0));
    return (Ends){d, t0, turned(t0, axis, angle)};
}

// A hair: a curl of changing radius about a line that bends.
static void random_strand(Rng* rng, TdlVec3* points) {
    double turns = rng_range(rng, 2.0, 6.0), radius = rng_range(rng, 2.0e-3, 8.0e-3);
    double droop = rng_range(rng, 0.1, 0.4), phase = rng_range(rng, 0.0, 6.28);
    double change = rng_range(rng, 0.3, 1.0);
    for (int i = 0; i < POINTS; ++i) {
        double u = (double)i / ELEMENTS, angle = phase + 6.283185307179586 * turns * u;
        double r = radius * (1.0 - 0.5 * change * u) * u / (0.2 + u);
        points[i] = (TdlVec3){LENGTH * u * (1.0 - droop * u) + r * sin(angle), r * cos(angle),
                              -LENGTH * droop * u * u};
    }
}

// --- rows -------------------------------------------------------------------------------------

static void note(Bench* bench, TdlStatus status) {
    bench->status = bench->status == TDL_STATUS_OK ? status : bench->status;
}

static void run_between(Bench* bench, int range) {
    for (int i = 0; i < ENDS; ++i) {
        const Ends* e = &bench->ends[range][i];
        TdlShortHelix helix = tdl_helix_between(e->d, e->t0, e->t1);
        bench->sink += helix.length;
        note(bench, helix.converged ? TDL_STATUS_OK : TDL_STATUS_DIVERGED);
    }
}

static void fit_first(Bench* bench, TdlFitOptions options, bool joined) {
    TdlHelixFit fit;
    options.element_count = ELEMENTS;
    TdlStatus status =
        joined
            ? tdl_clothoid_fit(bench->host, bench->points, POINTS, &options, bench->natural, &fit)
            : tdl_helix_fit(bench->host, bench->points, POINTS, &options, bench->natural, &fit);
    note(bench, status);
    bench->sink += fit.error;
}

static void run_floating(Bench* bench, int unused) {
    (void)unused;
    fit_first(bench, tdl_fit_options_default(), false);
}

static void run_s4(Bench* bench, int unused) {
    (void)unused;
    fit_first(bench, (TdlFitOptions){.method = TDL_FIT_S4}, false);
}

static void run_least_squares(Bench* bench, int unused) {
    (void)unused;
    fit_first(bench, (TdlFitOptions){.least_squares = true}, false);
}

static void run_smoothed(Bench* bench, int smoothing) {
    fit_first(bench, (TdlFitOptions){.smoothing = (TdlSmoothing)smoothing, .noise = 1.0e-4}, false);
}

static void run_clothoid(Bench* bench, int unused) {
    (void)unused;
    fit_first(bench, tdl_fit_options_default(), true);
}

static const char* const MODELS[] = {"super-helix", "super-clothoid", "der"};
enum { MODEL_COUNT = sizeof MODELS / sizeof *MODELS };

// A hair of 0.1 mm, 2 GPa: it holds most curls.
static TdlStrand strand_of(const Bench* bench, int model, int index) {
    bool joined = model == 1;
    const TdlHelixFit* fit = joined ? &bench->joint_fit : &bench->fits[index];
    const TdlVec3* curvature = bench->curvature + (size_t)index * ELEMENTS;
    return (TdlStrand){.model = MODELS[model],
                       .start = fit->start,
                       .length = fit->length,
                       .element_count = ELEMENTS,
                       .curvature = joined ? bench->joints : curvature,
                       .stiffness = {6.5e-9, 9.8e-9, 9.8e-9},
                       .line_density = 1.0e-5};
}

static void run_rest(Bench* bench, int model) {
    TdlStrand strand = strand_of(bench, model, 0);
    note(bench, tdl_strand_rest(bench->host, &strand, GRAVITY, bench->natural));
    bench->sink += bench->natural[0].y;
}

static void run_stability(Bench* bench, int model) {
    TdlStrand strand = strand_of(bench, model, 0);
    TdlStability found;
    note(bench, tdl_strand_stability(bench->host, &strand, GRAVITY, &found));
    bench->sink += found.least_factor;
}

enum { FIT = 0, REST, FACTORS };

// All strands: fitted, then inverted, then with their least factors.
static void run_all(Bench* bench, int upto) {
    TdlFitOptions options = {.element_count = ELEMENTS};
    for (int i = 0; i < bench->strand_count; ++i) {
        TdlVec3* curvature = bench->curvature + (size_t)i * ELEMENTS;
        note(bench, tdl_helix_fit(bench->host, bench->points + (size_t)i * POINTS, POINTS, &options,
                                  curvature, &bench->fits[i]));
        TdlStrand strand = strand_of(bench, 0, i);
        if (upto >= REST) {
            note(bench, tdl_strand_rest(bench->host, &strand, GRAVITY, bench->natural));
        }
        TdlStability found = {0};
        if (upto >= FACTORS) {
            note(bench, tdl_strand_stability(bench->host, &strand, GRAVITY, &found));
        }
        bench->sink += bench->natural[0].y + found.least_factor;
    }
}

// What is timed, and how many things a call does: ENDS, elements, or all strands (0).
typedef struct Row {
    const char *key, *label;
    void (*run)(Bench* bench, int which);
    int which, things;
} Row;

static const Row ROWS[] = {
    {"between_0.1", "helix from its ends, turns below 0.1 rad", run_between, 0, ENDS},
    {"between_1.2", "helix from its ends, 0.1 to 1.2 rad", run_between, 1, ENDS},
    {"between_6.2", "helix from its ends, 1.2 to 6.2 rad", run_between, 2, ENDS},
    {"fit", "fit of helices", run_floating, 0, ELEMENTS},
    {"fit_s4", "fit of helices, tangents kept (S4)", run_s4, 0, ELEMENTS},
    {"fit_least_squares", "fit of helices, least squares", run_least_squares, 0, ELEMENTS},
    {"fit_noise", "fit of helices, noise given", run_smoothed, TDL_SMOOTHING_NOISE, ELEMENTS},
    {"fit_cross_validation", "fit of helices, cross validation", run_smoothed,
     TDL_SMOOTHING_CROSS_VALIDATION, ELEMENTS},
    {"fit_clothoid", "fit of a super-clothoid", run_clothoid, 0, ELEMENTS},
    {"rest_super-helix", "rest, super-helix", run_rest, 0, ELEMENTS},
    {"rest_super-clothoid", "rest, super-clothoid", run_rest, 1, ELEMENTS},
    {"rest_der", "rest, discrete elastic rod", run_rest, 2, ELEMENTS},
    {"factors_super-helix", "least factor, super-helix", run_stability, 0, ELEMENTS},
    {"factors_super-clothoid", "least factor, super-clothoid", run_stability, 1, ELEMENTS},
    {"factors_der", "least factor, discrete elastic rod", run_stability, 2, ELEMENTS},
    {"strands_fit", "all strands fitted", run_all, FIT, 0},
    {"strands_rest", "all strands fitted and inverted", run_all, REST, 0},
    {"strands_factors", "the same with least factors", run_all, FACTORS, 0},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS, ROW_FIT = 3 };

// Seconds this thread has worked: other programs on the machine do not count.
static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1.0e-9 * (double)t.tv_nsec;
}

// Seconds of a call, the best of many within the budget.
static double time_row(Bench* bench, const Row* row) {
    double best = INFINITY, spent = 0.0;
    row->run(bench, row->which); // warm up
    for (int i = 0; i < REPEATS_MIN || (i < REPEATS_MAX && spent < bench->budget); ++i) {
        double t = cpu_now();
        row->run(bench, row->which);
        t = cpu_now() - t;
        spent += t;
        best = fmin(best, t);
    }
    return best;
}

// --- the run ----------------------------------------------------------------------------------

static void* make_array(Bench* bench, size_t count, size_t size) {
    void* array = calloc(count, size);
    note(bench, array == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK);
    return array;
}

static void make_shapes(Bench* bench) {
    static const double RANGES[3][2] = {{1.0e-3, 0.1}, {0.1, 1.2}, {1.2, 6.2}};
    size_t strands = (size_t)bench->strand_count;
    Rng rng = rng_seed(1);
    for (int range = 0; range < 3; ++range) {
        bench->ends[range] = make_array(bench, ENDS, sizeof(Ends));
        for (int i = 0; i < ENDS && bench->ends[range] != NULL; ++i) {
            bench->ends[range][i] = random_ends(&rng, RANGES[range][0], RANGES[range][1]);
        }
    }
    bench->points = make_array(bench, strands * POINTS, sizeof(TdlVec3));
    bench->curvature = make_array(bench, strands * ELEMENTS, sizeof(TdlVec3));
    bench->natural = make_array(bench, POINTS, sizeof(TdlVec3));
    bench->fits = make_array(bench, strands, sizeof(TdlHelixFit));
    if (bench->status != TDL_STATUS_OK) {
        return;
    }
    for (size_t i = 0; i < strands; ++i) {
        random_strand(&rng, bench->points + i * POINTS);
    }
    TdlFitOptions options = {.element_count = ELEMENTS};
    note(bench, tdl_clothoid_fit(bench->host, bench->points, POINTS, &options, bench->joints,
                                 &bench->joint_fit));
    run_all(bench, FIT);
}

static void free_shapes(Bench* bench) {
    for (int range = 0; range < 3; ++range) {
        free(bench->ends[range]);
    }
    free(bench->points);
    free(bench->curvature);
    free(bench->natural);
    free(bench->fits);
}

static void print_json(const Bench* bench, const double* seconds) {
    printf("{\"strands\": %d, \"points\": %d, \"elements\": %d, \"rows\": [", bench->strand_count,
           POINTS, ELEMENTS);
    for (int i = 0; i < ROW_COUNT; ++i) {
        printf("%s{\"name\": \"%s\", \"%s\": %.4g}", i == 0 ? "" : ", ", ROWS[i].key,
               ROWS[i].things > 0 ? "ns_each" : "seconds",
               ROWS[i].things > 0 ? 1.0e9 * seconds[i] / ROWS[i].things : seconds[i]);
    }
    printf("]}\n");
}

static void print_table(const Bench* bench, const double* seconds) {
    double unit = seconds[ROW_FIT] / ROWS[ROW_FIT].things;
    printf("%d strands of %d points and %d elements, one thread\n", bench->strand_count, POINTS,
           ELEMENTS);
    printf("%-42s %12s %14s\n", "", "ns each", "fit = 1");
    for (int i = 0; i < ROW_COUNT; ++i) {
        const Row* row = &ROWS[i];
        int things = row->things > 0 ? row->things : bench->strand_count * ELEMENTS;
        double each = seconds[i] / things;
        printf("%-42s %12.1f %14.2f", row->label, 1.0e9 * each, each / unit);
        row->things > 0 ? printf("\n") : printf("  %.1f ms\n", 1.0e3 * seconds[i]);
    }
    printf("each: a helix, or an element\n");
}

static int run_bench_inverse(const Args* args) {
    Bench bench = {.host = args_host(args),
                   .budget = args_real(args, "seconds", 0.3),
                   .strand_count = args_int(args, "strands", STRANDS)};
    double seconds[ROW_COUNT];
    make_shapes(&bench);
    for (int i = 0; i < ROW_COUNT && bench.status == TDL_STATUS_OK; ++i) {
        seconds[i] = time_row(&bench, &ROWS[i]);
    }
    if (bench.status == TDL_STATUS_OK) {
        args_has(args, "json") ? print_json(&bench, seconds) : print_table(&bench, seconds);
    }
    free_shapes(&bench);
    return isfinite(bench.sink) ? exit_code(bench.status) : EXIT_FAILED;
}

static const Option OPTIONS[] = {
    {"strands", 'n', OPTION_INT, "COUNT", 1, 100000, "strands of the last rows; default 1000",
     false},
    {"seconds", 's', OPTION_REAL, "S", 0.001, 60, "time for one figure, s; default 0.3", false},
    {0},
};

const Command BENCH_INVERSE_COMMAND = {
    .name = "bench inverse",
    .operands = "",
    .summary = "Measure what it costs to find the fibre that rests in a shape",
    .text = "Times, on one thread: helices from their ends, fits of helices and super-clothoids to "
            "curls of 100 points with an element between two of them, the natural curvature and "
            "the least stiffness of each rod model, and all of it for 1000 strands. Prints the "
            "best of several calls, for an element and beside the plain fit.",
    .example = "tendril bench inverse\n"
               "tendril bench inverse --strands 100 --json",
    .options = OPTIONS,
    .run = run_bench_inverse,
};
