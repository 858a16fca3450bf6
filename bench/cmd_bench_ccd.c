// tendril bench ccd: the tables and figures of the collision benchmark, on files of it that are
// named, on generated queries of every degenerate family, on queries recorded from moving cloth and
// a whipped rod, and on those of simulations. Truth of all but the files comes from the exact test.
// CSV, SVG and PNG.
#include "app/ccd_measure.h"
#include "app/command.h"
#include "app/output.h"
#include "app/plot.h"
#include "bench/ccd_generate.h"
#include "bench/ccd_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Runs of each set at most; the best times are kept.
#define REPEATS 3

typedef struct Set {
    const char* name;
    TdlCcdQuery* queries;
    bool* truth;
    int count, capacity;
} Set;

enum { SET_FILES_VF, SET_FILES_EE, SET_GENERATED, SET_RECORDED, SET_SIMULATED, SET_COUNT };

typedef struct Bench {
    const TdlHost* host;
    Set sets[SET_COUNT];
    const char* folder;
    int rival_checks;
    bool failed;
    CcdFigures total; // contract, all sets
    CcdFigures reference;
} Bench;

static void set_add(Bench* bench, int index, const TdlCcdQuery* query, bool truth) {
    Set* set = &bench->sets[index];
    if (set->count == set->capacity) {
        int capacity = set->capacity > 0 ? 2 * set->capacity : 1024;
        TdlCcdQuery* queries = realloc(set->queries, (size_t)capacity * sizeof *queries);
        set->queries = queries != NULL ? queries : set->queries;
        bool* truths = realloc(set->truth, (size_t)capacity * sizeof *truths);
        set->truth = truths != NULL ? truths : set->truth;
        if (queries == NULL || truths == NULL) {
            bench->failed = true;
            return;
        }
        set->capacity = capacity;
    }
    set->queries[set->count] = *query;
    set->truth[set->count++] = truth;
}

static bool exact_truth(const TdlCcdQuery* query) {
    TdlCcdOptions o = tdl_ccd_options_default();
    TdlCcdResult result;
    o.method = TDL_CCD_EXACT;
    return tdl_ccd_query(query, &o, &result) == TDL_STATUS_OK && result.collision;
}

static int load_files(const Args* args, Bench* bench) {
    for (int i = 0; i < args_operand_count(args); ++i) {
        const char* path = args_operand(args, i);
        bool edges = strstr(path, "edge-edge") != NULL;
        if (!edges && strstr(path, "vertex-face") == NULL) {
            return usage_error(args, "'%s' names neither vertex-face nor edge-edge", path);
        }
        TdlCcdFile file;
        TdlStatus status = tdl_ccd_file_read(
            bench->host, path, edges ? TDL_CCD_EDGE_EDGE : TDL_CCD_VERTEX_FACE, &file);
        if (status != TDL_STATUS_OK) {
            return exit_code(status);
        }
        for (int k = 0; k < file.count; ++k) {
            int set = edges ? SET_FILES_EE : SET_FILES_VF;
            set_add(bench, set, &file.queries[k], file.truth[k]);
        }
        tdl_ccd_file_free(&file);
    }
    return EXIT_DONE;
}

static void generate(Bench* bench, int per_family) {
    for (int family = 0; family < CCD_FAMILY_COUNT; ++family) {
        CcdRandom random = {7000u + (uint64_t)family};
        for (int i = 0; i < per_family; ++i) {
            bool touches;
            TdlCcdQuery q = ccd_generate(&random, (CcdFamily)family, &touches);
            set_add(bench, SET_GENERATED, &q, exact_truth(&q));
        }
    }
}

// --- recorded queries
// -------------------------------------------------------------------------------

enum { SIDE = 8, ROD = 30, VERTICES = 2 * (SIDE + 1) * (SIDE + 1) + ROD + 1 };

// Two sheets, the upper one falling and waving, and a rod swept across them.
static void scene_at(double t, double* x) {
    int n = 0;
    for (int layer = 0; layer < 2; ++layer) {
        for (int i = 0; i <= SIDE; ++i) {
            for (int j = 0; j <= SIDE; ++j, ++n) {
                double p = 2.0 * i / SIDE - 1.0, q = 2.0 * j / SIDE - 1.0;
                double fall = layer * (0.25 - 0.4 * t);
                x[3 * n] = p + 0.01 * layer;
                x[3 * n + 1] = q - 0.013 * layer;
                x[3 * n + 2] =
                    fall + 0.06 * sin(3.0 * p + 2.0 * t * (1 + layer)) * cos(2.0 * q + t);
            }
        }
    }
    for (int i = 0; i <= ROD; ++i, ++n) {
        double s = (double)i / ROD;
        x[3 * n] = -1.0 + 2.0 * s;
        x[3 * n + 1] = 0.4 * sin(4.0 * t + s) - 0.1;
        x[3 * n + 2] = 0.5 - t * (0.4 + 0.6 * s * s);
    }
}

static int scene_edges(int* edges) {
    int count = 0;
    for (int layer = 0; layer < 2; ++layer) {
        for (int i = 0; i <= SIDE; ++i) {
            for (int j = 0; j <= SIDE; ++j) {
                int a = layer * (SIDE + 1) * (SIDE + 1) + i * (SIDE + 1) + j;
                int to[3] = {a + SIDE + 1, a + 1, a + SIDE + 2};
                bool there[3] = {i < SIDE, j < SIDE, i < SIDE && j < SIDE};
                for (int k = 0; k < 3; ++k) {
                    if (there[k]) {
                        edges[2 * count] = a;
                        edges[2 * count++ + 1] = to[k];
                    }
                }
            }
        }
    }
    int first = 2 * (SIDE + 1) * (SIDE + 1);
    for (int i = 0; i < ROD; ++i) {
        edges[2 * count] = first + i;
        edges[2 * count++ + 1] = first + i + 1;
    }
    return count;
}

static int scene_triangles(int* triangles) {
    int count = 0;
    for (int layer = 0; layer < 2; ++layer) {
        for (int i = 0; i < SIDE; ++i) {
            for (int j = 0; j < SIDE; ++j) {
                int a = layer * (SIDE + 1) * (SIDE + 1) + i * (SIDE + 1) + j;
                int corners[6] = {a, a + SIDE + 1, a + SIDE + 2, a, a + SIDE + 2, a + 1};
                memcpy(&triangles[3 * count], corners, sizeof corners);
                count += 2;
            }
        }
    }
    return count;
}

static void record(Bench* bench, int steps) {
    static double from[3 * VERTICES], to[3 * VERTICES];
    static int edges[8 * VERTICES], triangles[8 * VERTICES];
    TdlCcdMesh mesh = {VERTICES, scene_edges(edges), scene_triangles(triangles), from, to,
                       edges,    triangles};
    for (int step = 0; step < steps && !bench->failed; ++step) {
        scene_at((double)step / steps, from);
        scene_at((double)(step + 1) / steps, to);
        TdlCcdSet set;
        if (tdl_ccd_candidates(bench->host, &mesh, 0.0, &set) != TDL_STATUS_OK) {
            bench->failed = true;
            return;
        }
        for (int i = 0; i < set.count; ++i) {
            TdlCcdQuery q = tdl_ccd_mesh_query(&mesh, set.contacts[i].pair);
            set_add(bench, SET_RECORDED, &q, exact_truth(&q));
        }
        tdl_ccd_set_free(&set);
    }
}

static void add_simulated(void* user, const TdlCcdQuery* query) {
    set_add(user, SET_SIMULATED, query, exact_truth(query));
}

// From the scenes that are named, or else from a heap of rods.
static int simulate(const Args* args, Bench* bench) {
    int steps = args_int(args, "steps", 200), count = args_count(args, "scene");
    int limit = args_int(args, "recorded", 1000);
    TdlStatus status = TDL_STATUS_OK;
    if (count == 0) {
        status = ccd_record_heap(bench->host, steps, limit, add_simulated, bench);
    }
    for (int i = 0; i < count && status == TDL_STATUS_OK; ++i) {
        status = ccd_record_scene(bench->host, args_text_at(args, "scene", i), steps, limit / count,
                                  add_simulated, bench);
    }
    return exit_code(status);
}

// The simulated queries as files of the benchmark, for other programs.
static void write_recorded(Bench* bench) {
    char path[4200];
    const Set* set = &bench->sets[SET_SIMULATED];
    snprintf(path, sizeof path, "%.4096s/edge-edge-simulated.csv", bench->folder);
    FILE* file = output_open(path);
    bool good = file != NULL;
    for (int i = 0; i < set->count && good; ++i) {
        good = tdl_ccd_query_write(file, &set->queries[i], set->truth[i]);
    }
    good = file != NULL && output_close(file, good);
    bench->failed = bench->failed || !good;
}

// --- measuring
// --------------------------------------------------------------------------------------

static FILE* open_csv(Bench* bench, const char* name, const char* header) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.csv", bench->folder, name);
    FILE* file = output_open(path);
    if (file == NULL) {
        bench->failed = true;
        return NULL;
    }
    fprintf(file, "# tendril %s\n%s\n", tdl_version(), header);
    return file;
}

static CcdFigures measure(Bench* bench, const Set* set, const TdlCcdOptions* options) {
    CcdFigures figures = {0};
    size_t count = (size_t)set->count + 1;
    TdlCcdResult* results = malloc(count * sizeof *results);
    double* seconds = malloc(count * sizeof *seconds);
    if (results == NULL || seconds == NULL ||
        ccd_measure(bench->host, set->queries, set->truth, set->count, options, 1, REPEATS, results,
                    seconds, &figures) != TDL_STATUS_OK) {
        bench->failed = true;
    }
    free(results);
    free(seconds);
    return figures;
}

// The published limit for the bisection on the files; a lower one elsewhere and for the slower
// ones.
static TdlCcdOptions method_options(const Bench* bench, TdlCcdMethod method, const Set* set) {
    TdlCcdOptions o = tdl_ccd_options_default();
    o.method = method;
    bool files = set == &bench->sets[SET_FILES_VF] || set == &bench->sets[SET_FILES_EE];
    bool slow = method == TDL_CCD_INTERVAL || method == TDL_CCD_UNIVARIATE ||
                (method == TDL_CCD_BISECT && !files);
    o.max_checks = slow ? bench->rival_checks : 0;
    return o;
}

static void write_figures(FILE* csv, const CcdFigures* f) {
    fprintf(csv, "%d,%d,%d,%d,%.5g,%.5g,%.5g,%d,%.4g\n", f->queries, f->positives,
            f->false_positives, f->false_negatives, f->mean_us, f->max_us, f->mean_boxes,
            f->limited, f->largest_tolerance);
}

#define FIGURES_HEADER                                                                             \
    "queries,positives,false_positives,false_negatives,mean_us,max_us,mean_boxes,limited,"         \
    "largest_tolerance"

// Every method on every set.
static void table1(Bench* bench, bool quiet) {
    FILE* csv = open_csv(bench, "ccd-table1", "set,method," FIGURES_HEADER);
    for (int s = 0; s < SET_COUNT && csv != NULL; ++s) {
        const Set* set = &bench->sets[s];
        for (int m = 0; m < TDL_CCD_METHOD_COUNT && set->count > 0; ++m) {
            TdlCcdOptions o = method_options(bench, (TdlCcdMethod)m, set);
            CcdFigures f = measure(bench, set, &o);
            fprintf(csv, "%s,%s,", set->name, tdl_ccd_method_name((TdlCcdMethod)m));
            write_figures(csv, &f);
            if (!quiet) {
                printf("%-12s %-10s %8d queries %6d false+ %6d false- %12.3f us, at most %.1f\n",
                       set->name, tdl_ccd_method_name((TdlCcdMethod)m), f.queries,
                       f.false_positives, f.false_negatives, f.mean_us, f.max_us);
                fflush(stdout);
            }
            if (m == TDL_CCD_CONTRACT) {
                ccd_figures_add(&bench->total, &f);
            } else if (m == TDL_CCD_BISECT) {
                ccd_figures_add(&bench->reference, &f);
            }
        }
    }
    if (csv != NULL) {
        output_close(csv, true);
    }
}

// Minimum separation.
static void table2(Bench* bench) {
    static const double DISTANCES[] = {1.0e-2, 1.0e-3, 1.0e-6, 1.0e-12, 1.0e-100};
    static const struct {
        const char* name;
        TdlCcdMethod method;
        TdlCcdNorm norm;
    } WAYS[] = {{"contract-max", TDL_CCD_CONTRACT, TDL_CCD_NORM_MAX},
                {"contract-euclid", TDL_CCD_CONTRACT, TDL_CCD_NORM_EUCLID},
                {"bisect-max", TDL_CCD_BISECT, TDL_CCD_NORM_MAX},
                {"sextic", TDL_CCD_SEXTIC, TDL_CCD_NORM_EUCLID}};
    FILE* csv = open_csv(bench, "ccd-table2", "set,separation,method," FIGURES_HEADER);
    for (int s = 0; s < SET_COUNT && csv != NULL; ++s) {
        for (int i = 0; i < 5 && bench->sets[s].count > 0; ++i) {
            for (int w = 0; w < 4; ++w) {
                TdlCcdOptions o = method_options(bench, WAYS[w].method, &bench->sets[s]);
                o.min_separation = DISTANCES[i];
                o.norm = WAYS[w].norm;
                o.max_checks = w == 2 ? bench->rival_checks : 0;
                CcdFigures f = measure(bench, &bench->sets[s], &o);
                fprintf(csv, "%s,%g,%s,", bench->sets[s].name, DISTANCES[i], WAYS[w].name);
                write_figures(csv, &f);
            }
        }
    }
    if (csv != NULL) {
        output_close(csv, true);
    }
}

// Draws one figure of the measured rows: each series is a method.
static void draw(Bench* bench, const char* name, const char* title, PlotAxis x, PlotAxis y,
                 const PlotSeries* series, int series_count) {
    char path[4200];
    Plot plot = {.title = title, .x = x, .y = y, .series = series, .series_count = series_count};
    snprintf(path, sizeof path, "%.4096s/%s.svg", bench->folder, name);
    bench->failed = !plot_write_picture(&plot, path) || bench->failed;
}

// Time and false positives against the tolerance, for the methods that have one (figures 8, 15).
static void tolerances(Bench* bench) {
    static const double TOLERANCES[] = {1.0,    1.0e-1, 1.0e-2, 1.0e-3, 1.0e-4,
                                        1.0e-5, 1.0e-6, 1.0e-7, 1.0e-8};
    static const TdlCcdMethod METHODS[] = {TDL_CCD_CONTRACT, TDL_CCD_BISECT, TDL_CCD_INTERVAL,
                                           TDL_CCD_UNIVARIATE};
    enum { METHOD_COUNT = 4, ROWS = sizeof TOLERANCES / sizeof *TOLERANCES };
    double times[METHOD_COUNT][ROWS], wrong[METHOD_COUNT][ROWS];
    PlotSeries fig8[METHOD_COUNT], fig15[METHOD_COUNT];
    const Set* set = &bench->sets[SET_RECORDED];
    FILE* csv = open_csv(bench, "ccd-fig8-15", "method,tolerance," FIGURES_HEADER);
    if (csv == NULL) {
        return;
    }
    for (int m = 0; m < METHOD_COUNT; ++m) {
        const char* name = tdl_ccd_method_name(METHODS[m]);
        for (int i = 0; i < ROWS; ++i) {
            TdlCcdOptions o = method_options(bench, METHODS[m], set);
            o.tolerance = TOLERANCES[i];
            CcdFigures f = measure(bench, set, &o);
            fprintf(csv, "%s,%g,", name, TOLERANCES[i]);
            write_figures(csv, &f);
            times[m][i] = f.mean_us;
            wrong[m][i] = f.false_positives + 1.0;
        }
        fig8[m] = (PlotSeries){name, TOLERANCES, times[m], ROWS, PLOT_MARKED_LINE};
        fig15[m] = (PlotSeries){name, TOLERANCES, wrong[m], ROWS, PLOT_MARKED_LINE};
    }
    output_close(csv, true);
    PlotAxis tolerance = {.label = "tolerance", .unit = "m", .log = true};
    draw(bench, "ccd-fig8", "Time against tolerance", tolerance,
         (PlotAxis){.label = "mean time", .unit = "\xc2\xb5s", .log = true}, fig8, METHOD_COUNT);
    draw(bench, "ccd-fig15", "False positives against tolerance", tolerance,
         (PlotAxis){.label = "false positives + 1", .log = true}, fig15, METHOD_COUNT);
}

// Early stops and the tolerance reached against the limit of checks (figure 9).
static void limits(Bench* bench) {
    static const double CHECKS[] = {1, 2, 3, 5, 10, 30, 100, 300, 1000, 3000, 10000, 30000};
    static const TdlCcdMethod METHODS[] = {TDL_CCD_CONTRACT, TDL_CCD_BISECT};
    enum { METHOD_COUNT = 2, ROWS = sizeof CHECKS / sizeof *CHECKS };
    double stopped[METHOD_COUNT][ROWS];
    PlotSeries fig9[METHOD_COUNT];
    const Set* set = &bench->sets[SET_RECORDED];
    FILE* csv = open_csv(bench, "ccd-fig9", "method,max_checks," FIGURES_HEADER);
    if (csv == NULL) {
        return;
    }
    for (int m = 0; m < METHOD_COUNT; ++m) {
        const char* name = tdl_ccd_method_name(METHODS[m]);
        for (int i = 0; i < ROWS; ++i) {
            TdlCcdOptions o = method_options(bench, METHODS[m], set);
            o.max_checks = (int)CHECKS[i];
            CcdFigures f = measure(bench, set, &o);
            fprintf(csv, "%s,%d,", name, o.max_checks);
            write_figures(csv, &f);
            stopped[m][i] = 100.0 * f.limited / f.queries;
        }
        fig9[m] = (PlotSeries){name, CHECKS, stopped[m], ROWS, PLOT_MARKED_LINE};
    }
    output_close(csv, true);
    draw(bench, "ccd-fig9", "Queries stopped early", (PlotAxis){"limit of checks", .log = true},
         (PlotAxis){"stopped early", "%", .log = true}, fig9, METHOD_COUNT);
}

static int run_bench_ccd(const Args* args) {
    static Bench bench;
    bench = (Bench){.host = args_host(args),
                    .sets = {{.name = "files-vf"},
                             {.name = "files-ee"},
                             {.name = "generated"},
                             {.name = "recorded"},
                             {.name = "simulated"}},
                    .folder = args_text(args, "out", "bench/results"),
                    .rival_checks = args_int(args, "rival-checks", 5000)};
    if (mkdir(bench.folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "%s: %s\n", bench.folder, strerror(errno));
        return EXIT_FAILED;
    }
    int code = load_files(args, &bench);
    if (code == EXIT_DONE) {
        code = simulate(args, &bench);
    }
    if (code == EXIT_DONE) {
        generate(&bench, args_int(args, "count", 50));
        record(&bench, 2);
        write_recorded(&bench);
        table1(&bench, args_has(args, "json") || args_has(args, "quiet"));
        table2(&bench);
        tolerances(&bench);
        limits(&bench);
        code = bench.failed ? EXIT_FAILED : EXIT_DONE;
    }
    if (code == EXIT_DONE && args_has(args, "json")) {
        printf("{\"queries\": %d, \"false_positives\": %d, \"false_negatives\": %d, "
               "\"mean_us\": %.6g, \"max_us\": %.6g, \"bisect_mean_us\": %.6g, "
               "\"bisect_max_us\": %.6g}\n",
               bench.total.queries, bench.total.false_positives, bench.total.false_negatives,
               bench.total.mean_us, bench.total.max_us, bench.reference.mean_us,
               bench.reference.max_us);
    }
    for (int i = 0; i < SET_COUNT; ++i) {
        free(bench.sets[i].queries);
        free(bench.sets[i].truth);
    }
    return code;
}

static const Option BENCH_CCD_OPTIONS[] = {
    {"out", 'o', OPTION_OUTPUT, "DIR", 0, 0, "where the tables go; default bench/results", false},
    {"count", 'n', OPTION_INT, "N", 1, 1.0e7, "generated queries a family; default 50", false},
    {"scene", 's', OPTION_FILE, "FILE", 0, 0,
     "simulate this scene for queries (may be given often); default a heap of rods", true},
    {"steps", 0, OPTION_INT, "N", 1, 1.0e6, "of each simulation; default 200", false},
    {"recorded", 0, OPTION_INT, "N", 1, 1.0e7, "queries kept of simulations; default 1000", false},
    {"rival-checks", 0, OPTION_INT, "N", 1, 1.0e9,
     "limit of boxes for the slow rivals; default 5000", false},
    {0},
};

const Command BENCH_CCD_COMMAND = {
    .name = "bench ccd",
    .operands = "[FILE...]",
    .summary = "Measure the methods of collision detection against each other",
    .text = "Every method on benchmark files (their path names vertex-face or edge-edge), on\n"
            "generated queries of eleven families, on queries recorded from moving cloth and a\n"
            "whipped rod, and from simulations (left as edge-edge-simulated.csv): times, false "
            "positives and false negatives, by separation, tolerance\n"
            "and limit of checks. Writes ccd-*.csv, ccd-*.svg and ccd-*.png.",
    .example = "tendril bench ccd --out results data/*/*/*.csv",
    .options = BENCH_CCD_OPTIONS,
    .run = run_bench_ccd,
};
