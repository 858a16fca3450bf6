// tendril experiment three-point: bends a rod on two supports and compares with the exact force.
#include "app/report.h"
#include "app/terminal.h"
#include "experiment/bending_test.h"

#include <math.h>
#include <string.h>

// Of forces, relative: gaps of a micrometre are known to some 1e-11.
static const double BARRIER_TOLERANCE = 1.0e-8;

static int read_response(const Args* args, TdlThreePointRunDef* def) {
    bool barrier = strcmp(args_text(args, "response", "exact"), "barrier") == 0;
    if (!barrier && (args_has(args, "distance") || args_has(args, "stiffness"))) {
        return usage_error(args, "--distance and --stiffness go with --response barrier");
    }
    if (barrier && args_has(args, "all")) {
        return usage_error(args, "--all is about exact contact");
    }
    if (barrier && def->setup.mu > 0.0) {
        return usage_error(args, "the exact force is known of the barrier without friction");
    }
    def->response = barrier ? TDL_RESPONSE_BARRIER : TDL_RESPONSE_EXACT;
    def->barrier.distance = args_real(args, "distance", 1.0e-3) * def->setup.span;
    def->barrier.stiffness = args_real(args, "stiffness", def->barrier.stiffness);
    def->tolerance = barrier ? BARRIER_TOLERANCE : def->tolerance;
    return EXIT_DONE;
}

// What the options ask for; a usage error's exit code, or EXIT_DONE.
static int read_options(const Args* args, TdlThreePointRunDef* def) {
    *def = tdl_three_point_run_def_default();
    def->model = args_text(args, "model", def->model);
    bool nodal = strcmp(def->model, "der") == 0;
    const char* detection = args_text(args, "detection", nodal ? "segments" : "curves");
    def->geometry = strcmp(detection, "curves") == 0 ? TDL_CONTACT_CURVES : TDL_CONTACT_SEGMENTS;
    if (nodal && def->geometry == TDL_CONTACT_CURVES) {
        return usage_error(args,
                           "a discrete elastic rod is made of segments: --detection segments");
    }
    def->element_count = args_int(args, "elements", nodal ? 100 : def->element_count);
    if (def->geometry == TDL_CONTACT_SEGMENTS) {
        int proxies = args_int(args, "proxies", nodal ? def->element_count : 100);
        if (nodal && proxies != def->element_count) {
            return usage_error(args, "the proxies of a discrete elastic rod are its elements");
        }
        if (proxies % def->element_count != 0) {
            return usage_error(args, "--proxies must be a multiple of --elements, %d",
                               def->element_count);
        }
        def->segments = proxies / def->element_count;
    } else if (args_has(args, "proxies")) {
        return usage_error(args, "--proxies goes with --detection segments");
    }
    def->setup.natural_curvature = args_real(args, "kappa0", 0.0);
    def->setup.mu = args_real(args, "mu", 0.0);
    def->length = args_real(args, "length", def->length);
    def->step = args_real(args, "dt", def->step);
    def->speed = args_real(args, "speed", 0.0);
    def->point_count = args_int(args, "points", def->point_count);
    def->depth = args_real(args, "depth", 0.3) * def->setup.span;
    return read_response(args, def);
}

static void describe(const TdlThreePointRunDef* def, char text[256]) {
    char seen[64] = "smooth curves";
    if (def->geometry == TDL_CONTACT_SEGMENTS) {
        snprintf(seen, sizeof seen, "%d segments", test_proxies(def));
    }
    char barrier[64] = "";
    if (def->response == TDL_RESPONSE_BARRIER) {
        snprintf(barrier, sizeof barrier, " by a barrier of %g m, %g N/m", def->barrier.distance,
                 def->barrier.stiffness);
    }
    snprintf(text, 256, "%s, %d elements, touched as %s%s; kappa0 %g 1/m, mu %g, dt %g s",
             def->model, def->element_count, seen, barrier, def->setup.natural_curvature,
             def->setup.mu, def->step);
}

static void print_plain(const Test* test, const char* folder) {
    char text[256];
    describe(&test->def, text);
    printf("%s\n", text);
    printf("  largest deviation  %.4f %% at indentation %.4f of the span\n",
           100.0 * test->verdict.deviation, test->verdict.at);
    printf("  jump measure       %.4g\n", test->verdict.jump);
    printf("  of the ratio       %.4g\n", test->verdict.ratio_jump);
    printf("  kink measure       %.4g\n", test->verdict.kink);
    if (test->def.response == TDL_RESPONSE_BARRIER) {
        printf("  bias               %.4f %% of the force, by gaps of %.3g m and more\n",
               100.0 * test->verdict.bias, test->verdict.least_gap);
    }
    printf("  lost contacts      %d of %d points\n", test->verdict.lost_contacts,
           test->verdict.count);
    printf("  time               %.3g s\n", test->seconds);
    printf("%s/curve.csv has the curve, %s/report.html the plots\n", folder, folder);
}

// The call that gives the same, with every option said.
static void tell_command(const TdlThreePointRunDef* def, char text[512]) {
    char proxies[64] = "";
    if (def->geometry == TDL_CONTACT_SEGMENTS) {
        snprintf(proxies, sizeof proxies, " --proxies %d", test_proxies(def));
    }
    char barrier[128] = "";
    if (def->response == TDL_RESPONSE_BARRIER) {
        snprintf(barrier, sizeof barrier, " --response barrier --distance %g --stiffness %g",
                 def->barrier.distance / def->setup.span, def->barrier.stiffness);
    }
    char speed[64] = "";
    if (def->speed > 0.0) {
        snprintf(speed, sizeof speed, " --speed %g", def->speed);
    }
    snprintf(text, 512,
             "tendril experiment three-point --model %s --detection %s --elements %d%s --kappa0 %g "
             "--mu %g --dt %g --length %g --depth %g --points %d%s%s --out three-point",
             def->model, def->geometry == TDL_CONTACT_CURVES ? "curves" : "segments",
             def->element_count, proxies, def->setup.natural_curvature, def->setup.mu, def->step,
             def->length, def->depth / def->setup.span, def->point_count, barrier, speed);
}

static bool write_report(const Test* test, const char* folder) {
    Report* report = report_open(folder, "Three-point bending");
    if (report == NULL) {
        return false;
    }
    char text[512];
    describe(&test->def, text);
    report_text(report, "%s.", text);
    report_text(
        report,
        "Largest deviation from the exact force, between indentations of 0.02 and 0.3 "
        "spans: %.4f %%, at %.4f. Jump measure, the L1 norm of the derivative of force less "
        "exact force: %.4g; of force over exact force: %.4g. Kink measure, the sum of "
        "second differences: %.4g. Points without a contact: %d.",
        100.0 * test->verdict.deviation, test->verdict.at, test->verdict.jump,
        test->verdict.ratio_jump, test->verdict.kink, test->verdict.lost_contacts);
    // what happens at first contact would hide the rest of the ratio
    int count = test->def.point_count, from = 0;
    while (from < count - 1 && test->depth[count - 1] > 0.02 && test->depth[from] < 0.02) {
        ++from;
    }
    PlotSeries force[] = {{"measured", test->depth, test->force, count, PLOT_LINE},
                          {"exact", test->depth, test->exact, count, PLOT_DASHED}};
    PlotSeries ratio[] = {{"", test->depth + from, test->ratio + from, count - from, PLOT_LINE}};
    PlotSeries slope[] = {{"", test->depth + from, test->slope + from, count - from, PLOT_LINE}};
    const PlotAxis depth = {.label = "indentation / span"};
    report_plot(report,
                &(Plot){.title = "Force",
                        .x = depth,
                        .y = {.label = "F span² / (48 B)"},
                        .series = force,
                        .series_count = 2},
                "force");
    report_plot(report,
                &(Plot){.title = "Force over the exact force",
                        .x = depth,
                        .y = {.label = "measured / exact"},
                        .series = ratio,
                        .series_count = 1},
                "ratio");
    report_plot(report,
                &(Plot){.title = "Derivative of the force less the exact force",
                        .x = depth,
                        .y = {.label = "d (measured - exact)"},
                        .series = slope,
                        .series_count = 1},
                "derivative");
    report_heading(report, "Again");
    tell_command(&test->def, text);
    report_command(report, text);
    return report_close(report);
}

static int run_three_point(const Args* args) {
    TdlThreePointRunDef def;
    int code = read_options(args, &def);
    if (code != EXIT_DONE) {
        return code;
    }
    const char* folder = args_text(args, "out", "out/three-point");
    if (args_has(args, "all")) {
        return bending_figures(args, &def, folder);
    }
    if (!report_make_folder(folder)) {
        return EXIT_INPUT;
    }
    Test test = {.def = def};
    TestShow show = {args_has(args, "quiet"), 0, def.point_count, PTHREAD_MUTEX_INITIALIZER};
    snprintf(test.name, sizeof test.name, "%s", def.model);
    TdlStatus status = test_run(args_host(args), &show, &test);
    terminal_end_progress();
    code = exit_code(status);
    if (status == TDL_STATUS_OK) {
        bool written = write_report(&test, folder) && test_write_curve(&test, folder);
        if (args_has(args, "json")) {
            printf("{");
            test_print_json(&test);
            printf("}\n");
        } else if (written) {
            print_plain(&test, folder);
        }
        code = written ? EXIT_DONE : EXIT_INPUT;
    }
    test_free(&test);
    return code;
}

static const Option OPTIONS[] = {
    {"model", 'm', OPTION_CHOICE, "super-helix|super-clothoid|der", 0, 0,
     "of the rod; default super-helix", false},
    {"detection", 0, OPTION_CHOICE, "curves|segments", 0, 0,
     "what contact sees of the rod; default curves, and segments for der", false},
    {"elements", 'e', OPTION_INT, "COUNT", 1, 10000, "of half the rod; default 20, and 100 for der",
     false},
    {"proxies", 'p', OPTION_INT, "COUNT", 1, 100000,
     "segments that contact sees, a multiple of the elements; default 100", false},
    {"kappa0", 'k', OPTION_REAL, "1/M", 0, 40.6, "natural curvature, 1/m; default 0", false},
    {"mu", 0, OPTION_REAL, "MU", 0, 10, "friction between rod and disc; default 0", false},
    {"response", 0, OPTION_CHOICE, "exact|barrier", 0, 0,
     "how the contact answers; default exact. The force of a barrier is compared with that of the "
     "exact elastica on a disc that is wider by the gap it leaves",
     false},
    {"distance", 0, OPTION_REAL, "SPANS", 1e-6, 0.1, "of the barrier, in spans; default 1e-3",
     false},
    {"stiffness", 0, OPTION_REAL, "N/M", 1e-6, 1e12, "of the barrier; default 100", false},
    {"dt", 0, OPTION_REAL, "S", 1e-7, 1, "time step, s; default 1e-4", false},
    {"speed", 0, OPTION_REAL, "M/S", 1e-9, 1,
     "of the disc, m/s; default 5e-3, or slower, so that it rises at most 1e-5 spans a step",
     false},
    {"length", 0, OPTION_REAL, "M", 0.025, 1, "of half the rod, m; default 0.05", false},
    {"depth", 0, OPTION_REAL, "SPANS", 0.001, 0.6, "last indentation, in spans; default 0.3",
     false},
    {"points", 'n', OPTION_INT, "COUNT", 1, 30000, "indentations recorded; default 1000", false},
    {"all", 'a', OPTION_SWITCH, NULL, 0, 0,
     "every figure: models, curvatures, frictions, refinements and steps", false},
    {"out", 'o', OPTION_OUTPUT, "DIR", 0, 0,
     "folder of curve.csv, report.html and the plots; default out/three-point", false},
    {0},
};

const Command EXPERIMENT_THREE_POINT_COMMAND = {
    .name = "experiment three-point",
    .operands = "",
    .summary = "Bend a rod on two supports and compare the force with the exact one",
    .text =
        "A rod lies on two discs 5 cm apart and is pressed in the middle; it may be curved by "
        "nature, away from the discs, and rub on them. Half of it is simulated: clamped level in "
        "the middle, while the disc under its other half slowly rises. The force of the discs is "
        "compared with that of the exact elastica (docs/theory/three-point.md). Rod, discs and "
        "speed are those of Crespel et al. 2024: radius 0.185 mm both, 83 GPa, 6450 kg/m^3, "
        "5 mm/s.\n\n"
        "curve.csv has a row for each indentation: indentation / span, force F span^2 / (48 B), "
        "exact force, their ratio, arc length to the contact over the span and contact angle, both "
        "measured and exact. Reported are the largest deviation of the force (where the exact "
        "force is below a tenth of its largest, relative to that tenth), the jump measure, the L1 "
        "norm of the derivative of force less exact force (and of their ratio), and the kink "
        "measure, the sum of second differences, which a smooth curve halves with twice the points "
        "and a jump does not; all for indentations of 0.02 to 0.3 spans.\n\n"
        "With --detection segments the contact sees a polyline in place of the rod, and its force "
        "jumps at every corner: the more, the more the rod is curved.",
    .example =
        "tendril experiment three-point --kappa0 30 --out out/smooth\n"
        "tendril experiment three-point --kappa0 30 --detection segments --proxies 100 --out "
        "out/jumps\n"
        "tendril experiment three-point --all --out out/three-point",
    .options = OPTIONS,
    .run = run_three_point,
};
