// `tendril bench detection`: S0 figures 17 and 18 on recorded narrow-phase calls: time against the
// error that was reached, accepted and rejected pairs apart, time against the gap, and what the
// segment baseline costs where it reaches the same error.
#include "app/command.h"
#include "app/output.h"
#include "app/plot.h"
#include "bench/wisp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { REPEATS = 3, MAX_POINTS = 12, GROUPS = 48, ERRORS = 7 };

// Calls a method is timed on, at most: the slow ones take fewer.
enum { PLAIN_CALLS = 1500, SEGMENT_CALLS = 300 };

typedef struct Call {
    const TdlCurve *a, *b;
    TdlCurveCapsules ca, cb;
    double bound;
    TdlDistance truth; // at 1e-12
    double gap;        // whatever the bound
} Call;

// The calls of a kind, accepted or rejected, in the order in which they were made.
typedef struct Calls {
    int count;
    Call* call;
} Calls;

typedef struct Point {
    double tolerance;
    double error, median;      // of the parameters, mean and median over accepted pairs
    double accepted, rejected; // us a call
    int accepted_calls, rejected_calls, missed; // missed: accepted ones that it did not find
} Point;

typedef struct Series {
    const char* name;
    TdlDistanceMethod method;
    int count;
    Point point[MAX_POINTS];
} Series;

// --- the calls ------------------------------------------------------------------------------

// Decides a call, and measures its gap.
static bool decide(const TdlHost* host, Call* call) {
    TdlDistanceDef def = tdl_distance_def_default();
    def.bound = call->bound;
    tdl_curve_capsules(call->a, &call->ca);
    tdl_curve_capsules(call->b, &call->cb);
    if (tdl_curve_distance(host, call->a, &call->ca, call->b, &call->cb, &def, &call->truth) !=
        TDL_STATUS_OK) {
        return false;
    }
    call->gap = call->truth.gap;
    if (!call->truth.below) {
        TdlDistance d;
        def.bound = INFINITY;
        def.tolerance = 1.0e-8;
        if (tdl_curve_distance(host, call->a, NULL, call->b, NULL, &def, &d) != TDL_STATUS_OK) {
            return false;
        }
        call->gap = d.gap;
    }
    return true;
}

static bool add_call(const TdlHost* host, Calls calls[2], const TdlCurve* a, const TdlCurve* b,
                     double bound) {
    Call call = {.a = a, .b = b, .bound = bound};
    if (!decide(host, &call)) {
        return false;
    }
    Calls* to = &calls[call.truth.below];
    to->call[to->count++] = call;
    return true;
}

static bool make_room(Calls calls[2], int count) {
    for (int k = 0; k < 2; ++k) {
        calls[k].count = 0;
        calls[k].call = malloc(((size_t)count + 1) * sizeof *calls[k].call);
    }
    return calls[0].call != NULL && calls[1].call != NULL;
}

// Leaves calls with planes out, which are in closed form whatever the method; returns their number.
static int drop_planes(TdlTrace* trace) {
    int kept = 0, count = trace->call_count;
    for (int i = 0; i < count; ++i) {
        if (trace->calls[i].b >= 0) {
            trace->calls[kept++] = trace->calls[i];
        }
    }
    trace->call_count = kept;
    return count - kept;
}

// Every so many of the calls of the trace, at most `limit`.
static bool take_trace(const TdlHost* host, const TdlTrace* trace, int limit, Calls calls[2]) {
    int taken = trace->call_count < limit ? trace->call_count : limit;
    if (!make_room(calls, taken)) {
        return false;
    }
    for (int i = 0; i < taken; ++i) {
        const TdlTraceCall* c = &trace->calls[(long)i * trace->call_count / taken];
        if (!add_call(host, calls, &trace->curves[c->a], &trace->curves[c->b], c->bound)) {
            return false;
        }
    }
    return true;
}

// The pairs of a packed wisp whose boxes overlap.
static bool take_wisp(const TdlHost* host, const Wisp* wisp, int limit, Calls calls[2]) {
    int count;
    WispPair* pair = wisp_box_pairs(wisp, &count);
    int taken = count < limit ? count : limit;
    bool good = pair != NULL && make_room(calls, taken);
    for (int i = 0; i < taken && good; ++i) {
        const WispPair* p = &pair[(long)i * count / taken];
        good = add_call(host, calls, &wisp->curve[p->a], &wisp->curve[p->b], 0.0);
    }
    free(pair);
    return good;
}

// --- timing ---------------------------------------------------------------------------------

static TdlDistanceDef query_def(TdlDistanceMethod method, double tolerance) {
    TdlDistanceDef def = tdl_distance_def_default();
    def.method = method;
    def.tolerance = tolerance;
    def.box_limit = method == TDL_DISTANCE_PLAIN ? 50000 : def.box_limit;
    return def;
}

static void query(const TdlHost* host, const Call* call, TdlDistanceDef* def, TdlDistance* out) {
    bool fast = def->method == TDL_DISTANCE_FAST;
    def->bound = call->bound;
    tdl_curve_distance(host, call->a, fast ? &call->ca : NULL, call->b, fast ? &call->cb : NULL,
                       def, out);
}

// us a call over the calls [first, first + step, ...), `count` of them: the best of three rounds,
// or one round of what takes long.
static double time_calls(const TdlHost* host, const Calls* calls, int first, int step, int count,
                         TdlDistanceDef def) {
    double best = INFINITY;
    for (int round = 0; round < REPEATS && best > -1.0; ++round) {
        double start = wisp_clock();
        for (int i = 0; i < count; ++i) {
            TdlDistance d;
            query(host, &calls->call[first + i * step], &def, &d);
        }
        double taken = wisp_clock() - start;
        best = fmin(best, taken);
        if (taken > 1.0) {
            break;
        }
    }
    return count > 0 ? 1.0e6 * best / count : NAN;
}

static int compare_reals(const void* a, const void* b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// The error reached: the larger of both parameters' differences from the truth.
static void measure_error(const TdlHost* host, const Calls* calls, int step, int count,
                          TdlDistanceDef def, Point* out) {
    double* error = malloc(((size_t)count + 1) * sizeof *error);
    int found = 0;
    double sum = 0.0;
    for (int i = 0; i < count && error != NULL; ++i) {
        const Call* call = &calls->call[i * step];
        TdlDistance d = {0};
        query(host, call, &def, &d);
        if (d.below) {
            error[found] = fmax(fabs(d.s[0] - call->truth.s[0]), fabs(d.s[1] - call->truth.s[1]));
            sum += error[found++];
        }
    }
    out->missed = count - found;
    out->error = found > 0 ? sum / found : NAN;
    if (found > 0) {
        qsort(error, (size_t)found, sizeof *error, compare_reals);
        out->median = error[found / 2];
    }
    free(error);
}

static Point measure(const TdlHost* host, const Calls calls[2], TdlDistanceMethod method,
                     double tolerance, int limit) {
    TdlDistanceDef def = query_def(method, tolerance);
    Point p = {.tolerance = tolerance, .median = NAN};
    int count[2], step[2];
    for (int k = 0; k < 2; ++k) {
        count[k] = calls[k].count < limit ? calls[k].count : limit;
        step[k] = count[k] > 0 ? calls[k].count / count[k] : 1;
    }
    measure_error(host, &calls[1], step[1], count[1], def, &p);
    p.accepted = time_calls(host, &calls[1], 0, step[1], count[1], def);
    p.rejected = time_calls(host, &calls[0], 0, step[0], count[0], def);
    p.accepted_calls = count[1];
    p.rejected_calls = count[0];
    return p;
}

// --- figure 17 ------------------------------------------------------------------------------

static void measure_series(const TdlHost* host, const Calls calls[2], double finest, Series* s) {
    // plain branch and bound cannot tell values apart that differ by rounding: below 1e-10 it
    // only splits
    double last = s->method == TDL_DISTANCE_SEGMENTS ? finest
                  : s->method == TDL_DISTANCE_PLAIN  ? 1.0e-10
                                                     : 1.0e-12;
    for (double tolerance = 1.0e-2; tolerance > 0.5 * last && s->count < MAX_POINTS;
         tolerance *= 0.1) {
        int limit = s->method == TDL_DISTANCE_FAST    ? 1 << 30
                    : s->method == TDL_DISTANCE_PLAIN ? PLAIN_CALLS
                    : tolerance > 2.0e-5              ? SEGMENT_CALLS
                    : tolerance > 2.0e-6              ? SEGMENT_CALLS / 5
                    : tolerance > 2.0e-8              ? SEGMENT_CALLS / 20
                                                      : SEGMENT_CALLS / 60;
        s->point[s->count++] = measure(host, calls, s->method, tolerance, limit);
    }
}

// Smaller errors, and none at all, are drawn as this.
static const double LEAST_ERROR = 1.0e-16;

static bool draw_errors(const Series* series, int count, const char* note, const char* folder) {
    double x[6][MAX_POINTS], y[6][MAX_POINTS];
    PlotSeries drawn[6];
    char name[6][64];
    for (int s = 0; s < count; ++s) {
        for (int k = 0; k < 2; ++k) {
            int at = 2 * s + k;
            for (int i = 0; i < series[s].count; ++i) {
                const Point* p = &series[s].point[i];
                x[at][i] = fmax(p->error, LEAST_ERROR);
                y[at][i] = k == 0 ? p->accepted : p->rejected;
            }
            snprintf(name[at], sizeof name[at], "%s, %s", series[s].name,
                     k == 0 ? "accept" : "reject");
            drawn[at] = (PlotSeries){.name = name[at],
                                     .x = x[at],
                                     .y = y[at],
                                     .count = series[s].count,
                                     .look = PLOT_MARKED_LINE};
        }
    }
    Plot plot = {.title = "Time against the error reached",
                 .note = note,
                 .x = {.label = "mean error of the parameters", .unit = "m", .log = true},
                 .y = {.label = "time a call", .unit = "us", .log = true},
                 .series = drawn,
                 .series_count = 2 * count};
    char path[OUTPUT_PATH_SIZE];
    snprintf(path, sizeof path, "%s/error.svg", folder);
    bool good = plot_write(&plot, path);
    snprintf(path, sizeof path, "%s/error.png", folder);
    return good && plot_write_png(&plot, path);
}

static bool write_points(const Series* series, int count, const char* folder) {
    char path[OUTPUT_PATH_SIZE];
    snprintf(path, sizeof path, "%s/methods.csv", folder);
    FILE* out = output_open(path);
    if (out == NULL) {
        return false;
    }
    fprintf(out, "method,tolerance,mean_error,median_error,accepted_us,rejected_us,accepted_calls,"
                 "rejected_calls,missed\n");
    for (int s = 0; s < count; ++s) {
        for (int i = 0; i < series[s].count; ++i) {
            const Point* p = &series[s].point[i];
            fprintf(out, "%s,%g,%.6g,%.6g,%.6g,%.6g,%d,%d,%d\n", series[s].name, p->tolerance,
                    p->error, p->median, p->accepted, p->rejected, p->accepted_calls,
                    p->rejected_calls, p->missed);
        }
    }
    return output_close(out, true);
}

// --- equal error ----------------------------------------------------------------------------

// us an accepted call where the mean error is `error`, between the points around it on logarithmic
// axes; the cheapest point that is better where there is none above; NAN beyond the last.
static double time_at_error(const Series* s, double error) {
    double best = INFINITY;
    for (int i = 0; i < s->count; ++i) {
        if (s->point[i].error <= error) {
            best = fmin(best, s->point[i].accepted);
        }
    }
    for (int i = 0; i + 1 < s->count; ++i) {
        const Point *a = &s->point[i], *b = &s->point[i + 1];
        if (a->error >= error && b->error < error && b->error > 0.0) {
            double part = log(a->error / error) / log(a->error / b->error);
            best = fmin(best, a->accepted * pow(b->accepted / a->accepted, part));
        }
    }
    return isfinite(best) ? best : NAN;
}

static bool write_ratios(const Series* series, const char* folder, double ratio[ERRORS]) {
    char path[OUTPUT_PATH_SIZE];
    snprintf(path, sizeof path, "%s/ratio.csv", folder);
    FILE* out = output_open(path);
    if (out == NULL) {
        return false;
    }
    fprintf(out, "error,fast_us,plain_us,segments_us,plain_over_fast,segments_over_fast\n");
    for (int k = 0; k < ERRORS; ++k) {
        double error = pow(10.0, -3 - k), us[3];
        for (int s = 0; s < 3; ++s) {
            us[s] = time_at_error(&series[s], error);
        }
        ratio[k] = us[2] / us[0];
        fprintf(out, "%g,%.6g,%.6g,%.6g,%.6g,%.6g\n", error, us[0], us[1], us[2], us[1] / us[0],
                ratio[k]);
    }
    return output_close(out, true);
}

// --- figure 18 ------------------------------------------------------------------------------

static int compare_gaps(const void* a, const void* b) {
    const Call *x = a, *y = b;
    return (x->gap > y->gap) - (x->gap < y->gap);
}

// Groups of as many calls each, by their gap: accepted and rejected apart. The calls are sorted.
static int group_gaps(const TdlHost* host, Calls calls[2], TdlDistanceMethod method, double* x,
                      double* y) {
    TdlDistanceDef def = query_def(method, 1.0e-8);
    int groups = 0, most = method == TDL_DISTANCE_FAST ? 1 << 30 : 40;
    for (int k = 1; k >= 0; --k) {
        Calls* c = &calls[k];
        qsort(c->call, (size_t)c->count, sizeof *c->call, compare_gaps);
        int each = c->count / (GROUPS / 2) + 1;
        for (int first = 0; first < c->count; first += each) {
            int count = c->count - first < each ? c->count - first : each;
            double sum = 0.0;
            for (int i = 0; i < count; ++i) {
                sum += c->call[first + i].gap;
            }
            int used = count < most ? count : most;
            x[groups] = 1.0e3 * sum / count;
            y[groups++] = time_calls(host, c, first, count / used, used, def);
        }
    }
    return groups;
}

static bool draw_gaps(const TdlHost* host, Calls calls[2], const char* note, const char* folder) {
    static const TdlDistanceMethod methods[2] = {TDL_DISTANCE_FAST, TDL_DISTANCE_PLAIN};
    double x[2][GROUPS + 2], y[2][GROUPS + 2];
    PlotSeries drawn[2];
    for (int s = 0; s < 2; ++s) {
        int count = group_gaps(host, calls, methods[s], x[s], y[s]);
        drawn[s] = (PlotSeries){.name = s == 0 ? "fast" : "plain algorithm 1",
                                .x = x[s],
                                .y = y[s],
                                .count = count,
                                .look = PLOT_MARKED_LINE};
    }
    Plot plot = {.title = "Time against the gap, tolerance 1e-8",
                 .note = note,
                 .x = {.label = "gap", .unit = "mm"},
                 .y = {.label = "time a call", .unit = "us", .log = true},
                 .series = drawn,
                 .series_count = 2};
    char path[OUTPUT_PATH_SIZE];
    snprintf(path, sizeof path, "%s/gap.svg", folder);
    bool good = plot_write(&plot, path);
    snprintf(path, sizeof path, "%s/gap.png", folder);
    return good && plot_write_png(&plot, path);
}

// --- the command ----------------------------------------------------------------------------

static void print_json(const Series* series, const Calls calls[2], const double ratio[ERRORS]) {
    printf("{\"bench\": \"detection\", \"accepted\": %d, \"rejected\": %d, \"methods\": [",
           calls[1].count, calls[0].count);
    for (int s = 0; s < 3; ++s) {
        for (int i = 0; i < series[s].count; ++i) {
            const Point* p = &series[s].point[i];
            printf("%s\n  {\"method\": \"%s\", \"tolerance\": %g, \"error\": %.6g, "
                   "\"accepted_us\": %.6g, \"rejected_us\": %.6g, \"missed\": %d}",
                   s + i > 0 ? "," : "", series[s].name, p->tolerance,
                   isfinite(p->error) ? p->error : -1.0, isfinite(p->accepted) ? p->accepted : -1.0,
                   isfinite(p->rejected) ? p->rejected : -1.0, p->missed);
        }
    }
    printf("\n], \"segments_over_fast\": {");
    for (int k = 0; k < ERRORS; ++k) {
        printf("%s\"1e-%d\": ", k > 0 ? ", " : "", 3 + k);
        isfinite(ratio[k]) ? printf("%.6g", ratio[k]) : printf("null");
    }
    printf("}}\n");
}

static void print_plain(const Series* series, const Calls calls[2], const double ratio[ERRORS]) {
    printf("%d calls accepted, %d rejected; us a call\n", calls[1].count, calls[0].count);
    printf("%-10s %-10s %-12s %-12s %-10s %s\n", "method", "tolerance", "mean error", "median",
           "accept", "reject");
    for (int s = 0; s < 3; ++s) {
        for (int i = 0; i < series[s].count; ++i) {
            const Point* p = &series[s].point[i];
            printf("%-10s %-10g %-12.3g %-12.3g %-10.4g %.4g\n", series[s].name, p->tolerance,
                   p->error, p->median, p->accepted, p->rejected);
        }
    }
    printf("segments over fast at equal error:");
    for (int k = 0; k < ERRORS; ++k) {
        printf(" 1e-%d: %.3g", 3 + k, ratio[k]);
    }
    printf("\n");
}

static int bench_calls(const Args* args, Calls calls[2], const char* note) {
    const TdlHost* host = args_host(args);
    const char* folder = args_text(args, "out", "out/bench-detection");
    if (!args_has(args, "out")) {
        mkdir("out", 0777); // where it fails, so does the next
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "tendril: %s: %s\n", folder, strerror(errno));
        return EXIT_FAILED;
    }
    Series series[3] = {{.name = "fast", .method = TDL_DISTANCE_FAST},
                        {.name = "plain", .method = TDL_DISTANCE_PLAIN},
                        {.name = "segments", .method = TDL_DISTANCE_SEGMENTS}};
    for (int s = 0; s < 3; ++s) {
        measure_series(host, calls, args_real(args, "finest", 1.0e-8), &series[s]);
    }
    double ratio[ERRORS];
    bool good = write_points(series, 3, folder) && draw_errors(series, 3, note, folder) &&
                write_ratios(series, folder, ratio) && draw_gaps(host, calls, note, folder);
    if (!good) {
        return EXIT_FAILED;
    }
    if (args_has(args, "json")) {
        print_json(series, calls, ratio);
    } else {
        print_plain(series, calls, ratio);
        printf("%s has methods.csv, ratio.csv, and error and gap as .csv, .svg and .png\n", folder);
    }
    return EXIT_DONE;
}

static int run_bench_detection(const Args* args) {
    const TdlHost* host = args_host(args);
    const char* path = args_text(args, "trace", NULL);
    int limit = args_int(args, "calls", 18000), code = EXIT_DONE;
    char note[200];
    Calls calls[2] = {{0}, {0}};
    TdlTrace trace = {0};
    Wisp wisp = {0};
    bool good = true;
    if (path != NULL) {
        TdlStatus status = tdl_trace_load(host, path, &trace);
        if (status != TDL_STATUS_OK) {
            return exit_code(status);
        }
        int planes = drop_planes(&trace);
        good = take_trace(host, &trace, limit, calls);
        const char* slash = strrchr(path, '/');
        snprintf(note, sizeof note, "%d calls of %.100s", calls[0].count + calls[1].count,
                 slash == NULL ? path : slash + 1);
        if (planes > 0) {
            fprintf(stderr, "tendril: %d calls with planes, in closed form, are left out\n",
                    planes);
        }
    } else {
        good = wisp_create(host, 2025, WISP_CURVATURE, WISP_DISORDER, &wisp) &&
               take_wisp(host, &wisp, limit, calls);
        snprintf(note, sizeof note, "%d pairs of a packed wisp whose boxes overlap",
                 calls[0].count + calls[1].count);
    }
    if (!good) {
        fprintf(stderr, "tendril: not enough memory\n");
        code = EXIT_FAILED;
    } else if (calls[1].count == 0) {
        fprintf(stderr, "tendril: no pair of the trace is nearer than it was asked for\n");
        code = EXIT_INPUT;
    } else {
        code = bench_calls(args, calls, note);
    }
    free(calls[0].call);
    free(calls[1].call);
    tdl_trace_free(&trace);
    wisp_destroy(&wisp);
    return code;
}

static const Option BENCH_DETECTION_OPTIONS[] = {
    {"trace", 0, OPTION_FILE, "F", 0, 0,
     "calls recorded with --trace-detection; default the pairs of a packed wisp of 2025 fibres",
     false},
    {"calls", 0, OPTION_INT, "N", 1, 10000000, "take at most so many, evenly; default 18000",
     false},
    {"finest", 0, OPTION_REAL, "D", 1.0e-8, 1.0e-2,
     "m, smallest tolerance for segments, of which a curve then has length/D; default 1e-8", false},
    {"out", 'o', OPTION_OUTPUT, "DIR", 0, 0,
     "folder of the tables and figures; default out/bench-detection", false},
    {0},
};

const Command BENCH_DETECTION_COMMAND = {
    .name = "bench detection",
    .operands = "",
    .summary = "Time the narrow phase on recorded calls, against segments",
    .text = "Takes pairs of curves and the gaps they were asked for up to, and times on them the "
            "fast method, plain branch and bound, and the segment baseline (segments no longer "
            "than the tolerance, in trees of boxes), for tolerances from 1e-2 down: S0 figures 17 "
            "and 18. The error reached is the larger of the differences of both parameters from "
            "those at 1e-12, in the mean over the accepted pairs.\n"
            "methods.csv has a row a method and tolerance; error.* draws time against error, "
            "accepted and rejected pairs apart; gap.* time against gap; ratio.csv tells what plain "
            "branch and bound and segments cost over the fast method at equal error, from 1e-3 to "
            "1e-9. Times are processor time, the best of three rounds.",
    .example = "tendril experiment comb --preset comb-25-wavy --out out/comb "
               "--trace-detection comb.trace --trace-steps 1800\n"
               "tendril bench detection --trace comb.trace --out out/detection",
    .options = BENCH_DETECTION_OPTIONS,
    .run = run_bench_detection,
};
