// The figures of the three-point bending test: a campaign of tests, then plots that share them.
//
// Three ways to simulate it: discrete elastic rods touched as their segments, super-helices touched
// as segments, and super-helices touched as the smooth curves they are. S0 figures 5, 6, 8, 20 and
// 22 to 26, with the same for smooth curves, and other time steps (S0 appendix E).
#include "app/json.h"
#include "app/report.h"
#include "app/terminal.h"
#include "experiment/bending_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum Way { DER_SEGMENTS = 0, HELIX_SEGMENTS, HELIX_CURVES } Way;
static const char* const WAY_NAMES[] = {"der, segments", "super-helix, segments",
                                        "super-helix, curves"};
static const char* const WAY_FILES[] = {"der", "segments", "curves"};

static const double CURVATURES[] = {0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0}; // 1/m
static const double FRICTIONS[] = {0.0, 0.1, 0.2, 0.3, 0.4, 0.5};
static const int REFINEMENTS[] = {60, 100, 200, 400};
static const double STEPS[] = {1.0e-4, 1.0e-3, 1.0e-2}; // s
enum { CURVATURE_COUNT = 7, FRICTION_COUNT = 6, REFINEMENT_COUNT = 4, STEP_COUNT = 3 };
enum { MAX_TESTS = 64, MAX_SERIES = 16, USUAL = 100 };
static const double MOST_CURVED = 30.0, USUAL_STEP = 1.0e-4;

typedef struct Campaign {
    TdlThreePointRunDef base;
    Test tests[MAX_TESTS];
    int count;
    Report* report;

    // while they run
    const TdlHost* host;
    TestShow show;
    pthread_mutex_t lock;
    int next;
    TdlStatus status;
} Campaign;

static bool same_test(const TdlThreePointRunDef* a, const TdlThreePointRunDef* b) {
    return strcmp(a->model, b->model) == 0 && a->geometry == b->geometry &&
           a->element_count == b->element_count && test_proxies(a) == test_proxies(b) &&
           a->setup.natural_curvature == b->setup.natural_curvature && a->setup.mu == b->setup.mu &&
           a->step == b->step;
}

// The test of these parameters, listed when it was not; a `proxies` of smooth curves is not used.
static Test* get(Campaign* campaign, Way way, int proxies, double kappa0, double mu, double step) {
    TdlThreePointRunDef def = campaign->base;
    def.model = way == DER_SEGMENTS ? "der" : "super-helix";
    def.geometry = way == HELIX_CURVES ? TDL_CONTACT_CURVES : TDL_CONTACT_SEGMENTS;
    def.element_count = way == DER_SEGMENTS ? proxies : 20;
    def.segments = proxies / def.element_count;
    def.setup.natural_curvature = kappa0;
    def.setup.mu = mu;
    def.step = step;
    for (int i = 0; i < campaign->count; ++i) {
        if (same_test(&campaign->tests[i].def, &def)) {
            return &campaign->tests[i];
        }
    }
    Test* test = &campaign->tests[campaign->count++];
    *test = (Test){.def = def};
    snprintf(test->name, sizeof test->name, "%s", WAY_NAMES[way]);
    return test;
}

static Test* curved(Campaign* campaign, Way way, double kappa0) {
    return get(campaign, way, USUAL, kappa0, 0.0, USUAL_STEP);
}

static Test* rubbed(Campaign* campaign, Way way, double mu) {
    return get(campaign, way, USUAL, MOST_CURVED, mu, USUAL_STEP);
}

static Test* refined(Campaign* campaign, Way way, int proxies) {
    return get(campaign, way, proxies, MOST_CURVED, 0.0, USUAL_STEP);
}

static Test* stepped(Campaign* campaign, double step) {
    return get(campaign, HELIX_CURVES, USUAL, MOST_CURVED, 0.0, step);
}

// Lists every test that a figure needs, the longest first.
static void plan(Campaign* campaign) {
    for (Way way = DER_SEGMENTS; way <= HELIX_CURVES; ++way) {
        for (int i = REFINEMENT_COUNT - 1; i >= 0 && way != HELIX_CURVES; --i) {
            refined(campaign, way, REFINEMENTS[i]);
        }
        for (int i = 0; i < CURVATURE_COUNT; ++i) {
            curved(campaign, way, CURVATURES[i]);
        }
        for (int i = 0; i < FRICTION_COUNT && way != DER_SEGMENTS; ++i) {
            rubbed(campaign, way, FRICTIONS[i]);
        }
    }
    for (int i = 0; i < STEP_COUNT; ++i) {
        stepped(campaign, STEPS[i]);
    }
}

// Takes the next test until there is none; each thread does so.
static void* work(void* user) {
    Campaign* campaign = user;
    for (;;) {
        pthread_mutex_lock(&campaign->lock);
        int i = campaign->status == TDL_STATUS_OK ? campaign->next++ : campaign->count;
        pthread_mutex_unlock(&campaign->lock);
        if (i >= campaign->count) {
            return NULL;
        }
        TdlStatus status = test_run(campaign->host, &campaign->show, &campaign->tests[i]);
        pthread_mutex_lock(&campaign->lock);
        if (campaign->status == TDL_STATUS_OK) {
            campaign->status = status;
        }
        pthread_mutex_unlock(&campaign->lock);
    }
}

// Tests do not know of each other, so their figures do not depend on the number of threads.
static void run_all(Campaign* campaign, int thread_count) {
    pthread_t threads[MAX_TESTS];
    int started = 0, wanted = thread_count > 0 ? thread_count : (int)sysconf(_SC_NPROCESSORS_ONLN);
    campaign->show.total = campaign->count * campaign->base.point_count;
    while (started < wanted - 1 && started < campaign->count - 1 &&
           pthread_create(&threads[started], NULL, work, campaign) == 0) {
        ++started;
    }
    work(campaign);
    for (int i = 0; i < started; ++i) {
        pthread_join(threads[i], NULL);
    }
    terminal_end_progress();
}

// --- fits -----------------------------------------------------------------------------------

typedef struct Fit {
    double slope, offset, r2;
} Fit;

// The line of least squares; r2 is its coefficient of determination.
static Fit fit_line(const double* x, const double* y, int count) {
    double mx = 0.0, my = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
    for (int i = 0; i < count; ++i) {
        mx += x[i] / count;
        my += y[i] / count;
    }
    for (int i = 0; i < count; ++i) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
        yy += (y[i] - my) * (y[i] - my);
    }
    double slope = xy / xx;
    return (Fit){slope, my - slope * mx, yy > 0.0 ? xy * xy / (xx * yy) : 1.0};
}

static Fit fit_curvature(Campaign* campaign, Way way, double jumps[CURVATURE_COUNT]) {
    for (int i = 0; i < CURVATURE_COUNT; ++i) {
        jumps[i] = curved(campaign, way, CURVATURES[i])->verdict.jump;
    }
    return fit_line(CURVATURES, jumps, CURVATURE_COUNT);
}

// Jumps against what chords make of them, (T.15).
static Fit fit_chords(Campaign* campaign, Way way, double chords[CURVATURE_COUNT]) {
    double jumps[CURVATURE_COUNT];
    for (int i = 0; i < CURVATURE_COUNT; ++i) {
        chords[i] = curved(campaign, way, CURVATURES[i])->verdict.chord_jump;
        jumps[i] = curved(campaign, way, CURVATURES[i])->verdict.jump;
    }
    return fit_line(chords, jumps, CURVATURE_COUNT);
}

static Fit fit_friction(Campaign* campaign, Way way, double jumps[FRICTION_COUNT],
                        double chords[FRICTION_COUNT]) {
    for (int i = 0; i < FRICTION_COUNT; ++i) {
        jumps[i] = rubbed(campaign, way, FRICTIONS[i])->verdict.jump;
        chords[i] = rubbed(campaign, way, FRICTIONS[i])->verdict.chord_jump;
    }
    return fit_line(FRICTIONS, jumps, FRICTION_COUNT);
}

// Jumps against segment length, both over those of the finest; the slope is that of the logarithms.
static Fit fit_refinement(Campaign* campaign, Way way, double lengths[REFINEMENT_COUNT],
                          double jumps[REFINEMENT_COUNT]) {
    double log_length[REFINEMENT_COUNT], log_jump[REFINEMENT_COUNT];
    double finest = refined(campaign, way, REFINEMENTS[REFINEMENT_COUNT - 1])->verdict.jump;
    for (int i = 0; i < REFINEMENT_COUNT; ++i) {
        lengths[i] = (double)REFINEMENTS[REFINEMENT_COUNT - 1] / REFINEMENTS[i];
        jumps[i] = refined(campaign, way, REFINEMENTS[i])->verdict.jump / finest;
        log_length[i] = log(lengths[i]);
        log_jump[i] = log(jumps[i]);
    }
    return fit_line(log_length, log_jump, REFINEMENT_COUNT);
}

// How far a step's curve is from that of the usual step, relative as the verdict's deviation is.
static double step_change(Campaign* campaign, double step) {
    const Test *a = stepped(campaign, step), *b = stepped(campaign, USUAL_STEP);
    double change = 0.0, largest = 0.0;
    for (int i = 0; i < b->def.point_count; ++i) {
        largest = fmax(largest, b->exact[i]);
    }
    for (int i = 0; i < b->def.point_count; ++i) {
        if (b->depth[i] >= 0.02) {
            double share = b->exact[i] / fmax(b->exact[i], 0.1 * largest);
            change = fmax(change, share * fabs(a->ratio[i] - b->ratio[i]));
        }
    }
    return change;
}

// --- figures --------------------------------------------------------------------------------

typedef enum Quantity { FORCE, RATIO, SLOPE } Quantity;
static const char* const QUANTITY_LABELS[] = {"F span² / (48 B)", "force / exact force",
                                              "derivative of force - exact force"};
static const char* const QUANTITY_FILES[] = {"force", "ratio", "derivative"};

// One line for each test, named by its name; for forces, the exact ones too.
static void plot_tests(Campaign* campaign, const char* title, const char* file, Quantity quantity,
                       Test* const* tests, int count) {
    PlotSeries series[MAX_SERIES];
    int n = 0;
    for (int i = 0; i < count; ++i) {
        const Test* t = tests[i];
        const double* y = quantity == FORCE ? t->force : quantity == RATIO ? t->ratio : t->slope;
        series[n++] = (PlotSeries){t->name, t->depth, y, t->def.point_count, PLOT_LINE};
    }
    for (int i = 0; i < count && quantity == FORCE; ++i) {
        const Test* t = tests[i];
        bool again = i > 0 &&
                     t->def.setup.natural_curvature == tests[i - 1]->def.setup.natural_curvature &&
                     t->def.setup.mu == tests[i - 1]->def.setup.mu;
        if (!again) {
            series[n++] = (PlotSeries){i == 0 ? "exact" : "", t->depth, t->exact,
                                       t->def.point_count, PLOT_DASHED};
        }
    }
    // what happens at first contact would hide the rest
    PlotAxis x = {.label = "indentation / span",
                  .min = quantity == FORCE ? 0.0 : 0.02,
                  .max = campaign->base.depth / campaign->base.setup.span};
    Plot plot = {.title = title,
                 .x = x,
                 .y = {.label = QUANTITY_LABELS[quantity]},
                 .series = series,
                 .series_count = n};
    if (quantity != FORCE) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < series[i].count; ++j) {
                if (series[i].x[j] >= x.min) {
                    low = fmin(low, series[i].y[j]);
                    high = fmax(high, series[i].y[j]);
                }
            }
        }
        plot.y.min = low - 0.04 * (high - low);
        plot.y.max = high + 0.04 * (high - low);
    }
    report_plot(campaign->report, &plot, file);
}

// S0 fig. 5 and 6, top: four curvatures.
static void plot_curvatures(Campaign* campaign, Way way, Quantity quantity) {
    Test* tests[4];
    char title[128], file[64];
    for (int i = 0; i < 4; ++i) {
        tests[i] = curved(campaign, way, CURVATURES[2 * i]);
        snprintf(tests[i]->name, sizeof tests[i]->name, "κ₀ = %g 1/m", CURVATURES[2 * i]);
    }
    snprintf(title, sizeof title, "%s: %s", WAY_NAMES[way], QUANTITY_LABELS[quantity]);
    snprintf(file, sizeof file, "%s-%s", QUANTITY_FILES[quantity], WAY_FILES[way]);
    plot_tests(campaign, title, file, quantity, tests, 4);
}

// S0 fig. 22 to 24: all frictions.
static void plot_frictions(Campaign* campaign, Way way, Quantity quantity) {
    Test* tests[FRICTION_COUNT];
    char title[128], file[64];
    for (int i = 0; i < FRICTION_COUNT; ++i) {
        tests[i] = rubbed(campaign, way, FRICTIONS[i]);
        snprintf(tests[i]->name, sizeof tests[i]->name, "μ = %g", FRICTIONS[i]);
    }
    snprintf(title, sizeof title, "%s, κ₀ = 30 1/m: %s", WAY_NAMES[way], QUANTITY_LABELS[quantity]);
    snprintf(file, sizeof file, "friction-%s-%s", QUANTITY_FILES[quantity], WAY_FILES[way]);
    plot_tests(campaign, title, file, quantity, tests, FRICTION_COUNT);
}

// S0 fig. 8 and 26: the ways side by side.
static void plot_ways(Campaign* campaign, Way first, double mu, Quantity quantity,
                      const char* title, const char* file) {
    Test* tests[3];
    int count = 0;
    for (Way way = first; way <= HELIX_CURVES; ++way) {
        tests[count] = rubbed(campaign, way, mu);
        snprintf(tests[count]->name, sizeof tests[count]->name, "%s", WAY_NAMES[way]);
        ++count;
    }
    plot_tests(campaign, title, file, quantity, tests, count);
}

// A measure against what was varied, with its fit and, where given, what chords make of it.
static void plot_measure(Campaign* campaign, const char* title, const char* file, PlotAxis x,
                         const double* xs, const double* ys, const double* chords, int count,
                         Fit fit) {
    double ends[2] = {xs[0], xs[count - 1]};
    double line[2] = {fit.offset + fit.slope * ends[0], fit.offset + fit.slope * ends[1]};
    if (x.log) {
        line[0] = exp(fit.offset) * pow(ends[0], fit.slope);
        line[1] = exp(fit.offset) * pow(ends[1], fit.slope);
    }
    char name[96];
    snprintf(name, sizeof name, "line: slope %.3g, R² = %.3f", fit.slope, fit.r2);
    PlotSeries series[] = {{"measured", xs, ys, count, PLOT_MARKS},
                           {name, ends, line, 2, PLOT_DASHED},
                           {"chords (T.15)", xs, chords, count, PLOT_LINE}};
    report_plot(campaign->report,
                &(Plot){.title = title,
                        .x = x,
                        .y = {.label = "jump measure", .log = x.log},
                        .series = series,
                        .series_count = chords == NULL ? 2 : 3},
                file);
}

static void write_jumps(Campaign* campaign) {
    char title[128], file[64];
    for (Way way = DER_SEGMENTS; way <= HELIX_CURVES; ++way) {
        double jumps[CURVATURE_COUNT], chords[CURVATURE_COUNT];
        Fit fit = fit_curvature(campaign, way, jumps);
        fit_chords(campaign, way, chords);
        snprintf(title, sizeof title, "%s: jumps against natural curvature", WAY_NAMES[way]);
        snprintf(file, sizeof file, "jumps-%s", WAY_FILES[way]);
        plot_measure(campaign, title, file, (PlotAxis){.label = "κ₀", .unit = "1/m"}, CURVATURES,
                     jumps, way == HELIX_CURVES ? NULL : chords, CURVATURE_COUNT, fit);
    }
}

static void write_refinement(Campaign* campaign) {
    char title[128], file[64];
    for (Way way = DER_SEGMENTS; way <= HELIX_SEGMENTS; ++way) {
        double lengths[REFINEMENT_COUNT], jumps[REFINEMENT_COUNT];
        Fit fit = fit_refinement(campaign, way, lengths, jumps);
        snprintf(title, sizeof title, "%s: jumps under refinement, over those of the finest",
                 WAY_NAMES[way]);
        snprintf(file, sizeof file, "refinement-%s", WAY_FILES[way]);
        plot_measure(campaign, title, file,
                     (PlotAxis){.label = "segment length over the finest", .log = true}, lengths,
                     jumps, NULL, REFINEMENT_COUNT, fit);
    }
}

static void write_friction(Campaign* campaign) {
    for (Way way = HELIX_SEGMENTS; way <= HELIX_CURVES; ++way) {
        double jumps[FRICTION_COUNT], chords[FRICTION_COUNT];
        char title[128], file[64];
        for (Quantity q = FORCE; q <= SLOPE; ++q) {
            plot_frictions(campaign, way, q);
        }
        Fit fit = fit_friction(campaign, way, jumps, chords);
        snprintf(title, sizeof title, "%s: jumps against friction", WAY_NAMES[way]);
        snprintf(file, sizeof file, "friction-jumps-%s", WAY_FILES[way]);
        plot_measure(campaign, title, file, (PlotAxis){.label = "μ"}, FRICTIONS, jumps,
                     way == HELIX_CURVES ? NULL : chords, FRICTION_COUNT, fit);
    }
    plot_ways(campaign, HELIX_SEGMENTS, 0.5, FORCE, "κ₀ = 30 1/m, μ = 0.5", "friction-both");
}

static void write_table(Campaign* campaign) {
    Report* report = campaign->report;
    report_table(report, 11,
                 (const char*[]){"model", "segments", "κ₀ (1/m)", "μ", "dt (s)",
                                 "largest deviation", "at", "jumps", "ratio jumps", "kinks",
                                 "time (s)"});
    for (int i = 0; i < campaign->count; ++i) {
        const Test* t = &campaign->tests[i];
        enum { WIDTH = 32 };
        char cell[10][WIDTH];
        int proxies = test_proxies(&t->def);
        snprintf(cell[0], WIDTH, "%d", proxies);
        snprintf(cell[1], WIDTH, "%g", t->def.setup.natural_curvature);
        snprintf(cell[2], WIDTH, "%g", t->def.setup.mu);
        snprintf(cell[3], WIDTH, "%g", t->def.step);
        snprintf(cell[4], WIDTH, "%.3f %%", 100.0 * t->verdict.deviation);
        snprintf(cell[5], WIDTH, "%.3f", t->verdict.at);
        snprintf(cell[6], WIDTH, "%.4g", t->verdict.jump);
        snprintf(cell[7], WIDTH, "%.4g", t->verdict.ratio_jump);
        snprintf(cell[8], WIDTH, "%.4g", t->verdict.kink);
        snprintf(cell[9], WIDTH, "%.2f", t->seconds);
        report_row(report,
                   (const char*[]){t->def.model, proxies > 0 ? cell[0] : "curves", cell[1], cell[2],
                                   cell[3], cell[4], cell[5], cell[6], cell[7], cell[8], cell[9]});
    }
}

static bool write_report(Campaign* campaign, const char* folder) {
    Report* report = campaign->report = report_open(folder, "Three-point bending: all figures");
    if (report == NULL) {
        return false;
    }
    report_text(report, "A rod on two discs, pressed in the middle, against the exact elastica. "
                        "Dashed: exact. The jump measure is the L1 norm of the derivative of the "
                        "force less the exact force, both F span² / (48 B), for indentations of "
                        "0.02 to 0.3 spans; ratio jumps are the same of force over exact force.");
    report_heading(report, "Forces (S0 figures 5 and 6)");
    for (Way way = DER_SEGMENTS; way <= HELIX_CURVES; ++way) {
        for (Quantity q = FORCE; q <= SLOPE; ++q) {
            plot_curvatures(campaign, way, q);
        }
    }
    report_heading(report, "Jumps against curvature (S0 figure 6)");
    write_jumps(campaign);
    report_heading(report, "Side by side (S0 figure 8)");
    plot_ways(campaign, DER_SEGMENTS, 0.0, FORCE, "κ₀ = 30 1/m", "ways-force");
    plot_ways(campaign, DER_SEGMENTS, 0.0, RATIO, "κ₀ = 30 1/m", "ways-ratio");
    report_heading(report, "Refinement (S0 figure 20)");
    write_refinement(campaign);
    report_heading(report, "Friction (S0 figures 22 to 26)");
    write_friction(campaign);
    report_heading(report, "Time steps (S0 appendix E)");
    for (int i = 1; i < STEP_COUNT; ++i) {
        report_text(report, "dt = %g s against %g s: the force changes by at most %.4f %%.",
                    STEPS[i], USUAL_STEP, 100.0 * step_change(campaign, STEPS[i]));
    }
    report_heading(report, "All tests");
    write_table(campaign);
    report_heading(report, "Again");
    report_command(report, "tendril experiment three-point --all --out three-point");
    return report_close(report);
}

static void print_fit(const char* name, const char* of, Fit fit) {
    printf("{\"of\": \"%s\", \"against\": \"%s\", \"slope\": ", name, of);
    json_real(fit.slope);
    printf(", \"offset\": ");
    json_real(fit.offset);
    printf(", \"r2\": ");
    json_real(fit.r2);
    printf("}");
}

static void print_json(Campaign* campaign) {
    double a[CURVATURE_COUNT], b[CURVATURE_COUNT];
    printf("{\"tests\": [");
    for (int i = 0; i < campaign->count; ++i) {
        printf("%s{", i == 0 ? "" : ", ");
        test_print_json(&campaign->tests[i]);
        printf("}");
    }
    printf("], \"fits\": [");
    for (Way way = DER_SEGMENTS; way <= HELIX_CURVES; ++way) {
        printf("%s", way == DER_SEGMENTS ? "" : ", ");
        print_fit(WAY_NAMES[way], "curvature", fit_curvature(campaign, way, a));
        if (way != HELIX_CURVES) {
            printf(", ");
            print_fit(WAY_NAMES[way], "chords", fit_chords(campaign, way, a));
            printf(", ");
            print_fit(WAY_NAMES[way], "refinement", fit_refinement(campaign, way, a, b));
        }
        if (way != DER_SEGMENTS) {
            printf(", ");
            print_fit(WAY_NAMES[way], "friction", fit_friction(campaign, way, a, b));
        }
    }
    printf("], \"steps\": [");
    for (int i = 1; i < STEP_COUNT; ++i) {
        printf("%s{\"dt\": %g, \"change\": ", i == 1 ? "" : ", ", STEPS[i]);
        json_real(step_change(campaign, STEPS[i]));
        printf("}");
    }
    printf("]}\n");
}

static void print_plain(Campaign* campaign, const char* folder) {
    double a[CURVATURE_COUNT], b[CURVATURE_COUNT];
    printf("%-12s %8s %7s %4s %7s %12s %8s %10s %10s %10s\n", "model", "segments", "kappa0", "mu",
           "dt", "deviation", "at", "jumps", "of ratio", "kinks");
    for (int i = 0; i < campaign->count; ++i) {
        const Test* t = &campaign->tests[i];
        printf("%-12s %8d %7g %4g %7g %10.4f %% %8.4f %10.4g %10.4g %10.4g\n", t->def.model,
               test_proxies(&t->def), t->def.setup.natural_curvature, t->def.setup.mu, t->def.step,
               100.0 * t->verdict.deviation, t->verdict.at, t->verdict.jump, t->verdict.ratio_jump,
               t->verdict.kink);
    }
    for (Way way = DER_SEGMENTS; way <= HELIX_CURVES; ++way) {
        Fit fit = fit_curvature(campaign, way, a);
        printf("%s: jumps grow by %.4g for each 1/m of curvature, R2 %.4f\n", WAY_NAMES[way],
               fit.slope, fit.r2);
        if (way != HELIX_CURVES) {
            fit = fit_chords(campaign, way, a);
            printf("%s: jumps are %.3f times what chords make of them, R2 %.4f\n", WAY_NAMES[way],
                   fit.slope, fit.r2);
            fit = fit_refinement(campaign, way, a, b);
            printf("%s: jumps fall with the power %.3f of the segments' length, R2 %.4f\n",
                   WAY_NAMES[way], fit.slope, fit.r2);
        }
    }
    for (int i = 1; i < STEP_COUNT; ++i) {
        printf("dt %g s against %g s: the force changes by %.4f %%\n", STEPS[i], USUAL_STEP,
               100.0 * step_change(campaign, STEPS[i]));
    }
    printf("%s/report.html shows everything\n", folder);
}

int bending_figures(const Args* args, const TdlThreePointRunDef* base, const char* folder) {
    static const char* const FIXED[] = {"model", "detection", "elements", "proxies", "kappa0",
                                        "mu",    "dt",        "speed",    "depth"};
    for (size_t i = 0; i < sizeof FIXED / sizeof *FIXED; ++i) {
        if (args_has(args, FIXED[i])) {
            return usage_error(args, "--all chooses --%s itself", FIXED[i]);
        }
    }
    if (!report_make_folder(folder)) {
        return EXIT_INPUT;
    }
    Campaign* campaign = calloc(1, sizeof *campaign);
    if (campaign == NULL) {
        return EXIT_FAILED;
    }
    campaign->base = *base;
    campaign->host = args_host(args);
    campaign->show.quiet = args_has(args, "quiet");
    pthread_mutex_init(&campaign->lock, NULL);
    pthread_mutex_init(&campaign->show.lock, NULL);
    plan(campaign);
    run_all(campaign, args_int(args, "threads", 0));
    int code = exit_code(campaign->status);
    if (campaign->status == TDL_STATUS_OK) {
        code = write_report(campaign, folder) ? EXIT_DONE : EXIT_INPUT;
        args_has(args, "json") ? print_json(campaign) : print_plain(campaign, folder);
    }
    for (int i = 0; i < campaign->count; ++i) {
        test_free(&campaign->tests[i]);
    }
    free(campaign);
    return code;
}
