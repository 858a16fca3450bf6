// `tendril inverse`: shapes in, a scene whose rods rest in them out, and whether they will stay.
#include "app/inverse_check.h"
#include "app/inverse_input.h"
#include "app/json.h"
#include "app/output.h"
#include "app/terminal.h"

#include <stdlib.h>
#include <string.h>

enum { SET_MAX = 4096, TELL_MOST = 10 };

// Time that --check runs without a number, s.
static const double CHECK_SECONDS = 2.0;

typedef struct Design {
    const Args* args;
    InverseInput input;
    TdlScene* scene;
    TdlWorld* world;
    TdlBodyId* rods; // [count] that are to rest
    int* number;     // [count] of each among the rods of the scene
    bool* stable;    // [count]
    int count;
    TdlInverseReport report;
    InverseCheck check; // count 0: was not asked for
} Design;

// --- options ------------------------------------------------------------------------------------

static bool read_guess(const char* text, double* out) {
    char* end;
    if (strcmp(text, "tip") == 0 || strcmp(text, "shape") == 0) {
        *out = text[0] == 's';
        return true;
    }
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= 0.0 && *out <= 1.0;
}

static int read_options(const Design* d, TdlInverseOptions* o) {
    const Args* args = d->args;
    *o = tdl_scene_inverse(d->scene);
    o->contacts = o->contacts || args_has(args, "contacts");
    o->stiffen = o->stiffen || args_has(args, "stiffen");
    if (args_has(args, "guess") && !read_guess(args_text(args, "guess", ""), &o->guess)) {
        return usage_error(args, "--guess is tip, shape or a number from 0 to 1");
    }
    if (d->input.fit_error != NULL) {
        o->reach = TDL_CAPTURED_REACH * args_real(args, "radius", 50.0e-6);
    }
    o->reach = args_real(args, "reach", o->reach);
    if (!o->contacts && (args_has(args, "guess") || args_has(args, "reach"))) {
        return usage_error(args, "--guess and --reach belong to --contacts");
    }
    if (o->contacts && strcmp(tdl_scene_contacts(d->scene).detection, "off") == 0) {
        return usage_error(args, "--contacts: in this scene nothing touches (contacts.detection)");
    }
    o->rods = d->rods;
    o->rod_count = d->count;
    return EXIT_DONE;
}

// --- the world ----------------------------------------------------------------------------------

static TdlStatus load_scene(Design* d) {
    static const char* overrides[SET_MAX];
    int count = args_count(d->args, "set");
    for (int i = 0; i < count && i < SET_MAX; ++i) {
        overrides[i] = args_text_at(d->args, "set", i);
    }
    return tdl_scene_load(args_host(d->args), d->input.scene, overrides, count, &d->scene);
}

// The rods that are to rest, and which of the scene's they are.
static TdlStatus list_rods(Design* d) {
    d->count = tdl_scene_rest_rods(d->scene, d->world, 0, NULL);
    size_t n = (size_t)d->count + 1;
    d->rods = calloc(n, sizeof *d->rods);
    d->number = calloc(n, sizeof *d->number);
    d->stable = calloc(n, sizeof *d->stable);
    if (!d->rods || !d->number || !d->stable) {
        return TDL_STATUS_NO_MEMORY;
    }
    tdl_scene_rest_rods(d->scene, d->world, d->count, d->rods);
    for (int i = 0; i < d->count; ++i) {
        d->number[i] = tdl_body_index(d->world, d->rods[i]);
    }
    return TDL_STATUS_OK;
}

static bool asked_to_stop(void* user) {
    (void)user;
    return terminal_stop_asked();
}

static int open_world(Design* d) {
    TdlStatus status = load_scene(d);
    if (status == TDL_STATUS_OK) {
        status = tdl_scene_build(d->scene, args_int(d->args, "threads", 0), &d->world);
    }
    if (status == TDL_STATUS_OK) {
        tdl_world_watch_stop(d->world, asked_to_stop, NULL);
        status = list_rods(d);
    }
    if (status == TDL_STATUS_OK && d->count == 0) {
        fprintf(stderr, "tendril: %s has no rods\n", args_operand(d->args, 0));
        return EXIT_INPUT;
    }
    return exit_code(status);
}

// Edges of a der are chords: how far the points are from what the rod is in the world.
static double distance_to_rod(const Design* d, int index) {
    TdlRodInfo info;
    tdl_rod_info(d->world, d->rods[index], &info);
    const TdlCurves* curves = &d->input.curves;
    TdlVec3* node = calloc((size_t)info.element_count + 1, sizeof *node);
    double worst = node == NULL ? NAN : 0.0;
    if (node != NULL) {
        tdl_rod_points(d->world, d->rods[index], 1, node);
    }
    for (int i = curves->start[index]; i < curves->start[index + 1] && node != NULL; ++i) {
        double near = INFINITY;
        for (int k = 0; k < info.element_count; ++k) {
            TdlVec3 edge = tdl_sub3(node[k + 1], node[k]);
            TdlVec3 off = tdl_sub3(curves->points[i], node[k]);
            double s = fmin(1.0, fmax(0.0, tdl_dot3(off, edge) / tdl_dot3(edge, edge)));
            near = fmin(near, tdl_norm3(tdl_axpy3(off, -s, edge)));
        }
        worst = fmax(worst, near);
    }
    free(node);
    return worst;
}

// --- what is found ------------------------------------------------------------------------------

static int invert(Design* d) {
    TdlInverseOptions options;
    int code = read_options(d, &options);
    if (code != EXIT_DONE) {
        return code;
    }
    TdlStatus status = tdl_world_inverse(d->world, &options, &d->report);
    for (int i = 0; i < d->report.strand_count && status == TDL_STATUS_OK; ++i) {
        d->stable[i] = d->report.strands[i].stable && (!options.contacts || d->report.stable);
    }
    for (int i = 0; i < d->count && d->input.fit_error != NULL && status == TDL_STATUS_OK; ++i) {
        if (strcmp(args_text(d->args, "model", ""), "der") == 0) {
            d->input.fit_error[i] = distance_to_rod(d, i);
        }
    }
    // a rod that cannot rest is a fault of the scene, not of the call
    return status == TDL_STATUS_BAD_ARGUMENT ? EXIT_INPUT : exit_code(status);
}

// Shapes may need more bending than anything can have: far too soft for what they carry.
static int refuse_too_soft(const Design* d) {
    static const double MOST = 3000.0; // rad an element, as files of strands have it
    for (int i = 0; i < d->count; ++i) {
        TdlRodInfo info;
        tdl_rod_info(d->world, d->rods[i], &info);
        TdlVec3* natural = calloc((size_t)info.curvature_count, sizeof *natural);
        double most = natural == NULL ? INFINITY : 0.0;
        if (natural != NULL) {
            tdl_rod_natural_curvature(d->world, d->rods[i], natural);
        }
        for (int k = 0; k < info.curvature_count && natural != NULL; ++k) {
            double turn = tdl_norm3(natural[k]) * info.length / info.element_count;
            most = turn <= most ? most : turn; // a NaN stays
        }
        free(natural);
        if (!(most <= MOST)) {
            char name[TDL_BODY_NAME_SIZE];
            tdl_body_name(d->world, d->rods[i], name);
            fprintf(stderr,
                    "tendril: %s is far too soft for its shape: without forces its elements would "
                    "turn by %.2g rad; --stiffen, or a larger --young\n",
                    name, most);
            return EXIT_FAILED;
        }
    }
    return EXIT_DONE;
}

static int check(Design* d, const char* output) {
    double seconds = args_real(d->args, "check", CHECK_SECONDS);
    return args_has(d->args, "check")
               ? inverse_check(d->args, output, seconds, d->number, d->stable, d->count, &d->check)
               : EXIT_DONE;
}

// --- telling ------------------------------------------------------------------------------------

// What the scene calls a rod.
static void name_of(const Design* d, int i, char out[TDL_BODY_NAME_SIZE]) {
    char text[TDL_BODY_NAME_SIZE];
    tdl_body_name(d->world, d->rods[i], text);
    const char* from = strchr(text, '\'');
    const char* to = strrchr(text, '\'');
    bool quoted = from != NULL && to > from;
    snprintf(out, TDL_BODY_NAME_SIZE, "%.*s", quoted ? (int)(to - from - 1) : 250,
             quoted ? from + 1 : text);
}

static double fit_error(const Design* d, int i) {
    return d->input.fit_error == NULL ? NAN : d->input.fit_error[i];
}

static void print_json_strands(const Design* d) {
    for (int i = 0; i < d->count; ++i) {
        const TdlInverseStrand* x = &d->report.strands[i];
        TdlRodInfo info;
        char name[TDL_BODY_NAME_SIZE];
        tdl_rod_info(d->world, d->rods[i], &info);
        name_of(d, i, name);
        printf("%s{\"name\": ", i == 0 ? "" : ", ");
        json_text(name);
        printf(", \"elements\": %d, \"fit_error\": ", info.element_count);
        json_real(fit_error(d, i));
        printf(", \"least_factor\": ");
        json_real(x->least_factor);
        printf(", \"bound_factor\": ");
        json_real(x->bound_factor);
        printf(", \"stable\": %s, \"residual\": ", x->stable ? "true" : "false");
        json_real(x->residual);
        printf(", \"stiffening\": ");
        json_real(x->stiffening);
        if (d->check.count > 0) {
            printf(", \"drift\": ");
            json_real(d->check.drift_of[i]);
            printf(", \"left\": %s", d->check.left[i] ? "true" : "false");
        }
        printf("}");
    }
}

static void print_json(const Design* d, const char* output) {
    const TdlInverseReport* r = &d->report;
    printf("{\"output\": ");
    json_text(output);
    printf(", \"strands\": [");
    print_json_strands(d);
    printf("], \"contacts\": {\"count\": %d, \"loaded\": %d, \"sliding\": %d, \"residual\": ",
           r->contact_count, r->loaded_count, r->sliding_count);
    json_real(r->contact_residual);
    printf(", \"largest_force\": ");
    json_real(r->largest_force);
    printf(", \"guess\": %.17g, \"overlaps\": %d, \"deepest\": ", r->guess, r->overlap_count);
    json_real(r->deepest);
    printf(", \"free\": %d}, \"stable\": %s, \"least_eigenvalue\": ", r->free_count,
           r->stable ? "true" : "false");
    json_real(r->least_eigenvalue);
    if (d->check.count > 0) {
        printf(", \"check\": {\"seconds\": %.17g, \"drift\": %.17g, \"left\": %d, \"wrong\": %d}",
               d->check.seconds, d->check.drift, d->check.left_count, d->check.wrong_count);
    }
    printf(", \"seconds\": %.6g}\n", r->seconds);
}

static int count_unstable(const Design* d) {
    int count = 0;
    for (int i = 0; i < d->count; ++i) {
        count += !d->report.strands[i].stable;
    }
    return count;
}

static void print_strands(const Design* d) {
    printf("  %-24s %8s %10s %8s %8s %s\n", "rod", "elements", "fit, m", "least", "bound", "");
    for (int i = 0; i < d->count && i < TELL_MOST; ++i) {
        const TdlInverseStrand* x = &d->report.strands[i];
        TdlRodInfo info;
        char name[TDL_BODY_NAME_SIZE], fit[32] = "-", more[48] = "";
        tdl_rod_info(d->world, d->rods[i], &info);
        name_of(d, i, name);
        if (isfinite(fit_error(d, i))) {
            snprintf(fit, sizeof fit, "%.2e", fit_error(d, i));
        }
        if (x->stiffening != 1.0) {
            snprintf(more, sizeof more, ", %.3g times as stiff", x->stiffening);
        }
        printf("  %-24s %8d %10s %8.3g %8.3g %s%s\n", name, info.element_count, fit,
               x->least_factor, x->bound_factor, x->stable ? "stays" : "leaves", more);
    }
    if (d->count > TELL_MOST) {
        printf("  ... %d more: --json has all\n", d->count - TELL_MOST);
    }
}

static void print_contacts(const Design* d) {
    const TdlInverseReport* r = &d->report;
    if (r->contact_count > 0) {
        printf("  contacts   %d, of which %d carry, at most %.3g N; natural curvature near %s\n",
               r->contact_count, r->loaded_count, r->largest_force,
               r->guess == 0.0   ? "the tip's"
               : r->guess == 1.0 ? "the shape's"
                                 : "the guess");
    }
}

static void print_report(const Design* d, const char* output) {
    const TdlInverseReport* r = &d->report;
    double fit = 0.0, least = 0.0;
    for (int i = 0; i < d->count; ++i) {
        fit = fmax(fit, fit_error(d, i));
        least = fmax(least, r->strands[i].least_factor);
    }
    print_strands(d);
    if (d->input.fit_error != NULL) {
        printf("  fit        at most %.3g m from the curves\n", fit);
    }
    print_contacts(d);
    printf("  stiffness  the softest shape stays from %.4g times the stiffness on\n", least);
    printf("  stable     %s, least eigenvalue %.4g\n", r->stable ? "yes" : "no",
           r->least_eigenvalue);
    if (d->check.count > 0) {
        printf(
            "  check      %.3g s: drift %.2g of the length; kicked, %d left, of %d that were told "
            "to\n",
            d->check.seconds, d->check.drift, d->check.left_count, d->check.unstable_count);
    }
    printf("Wrote %s in %.3g s; run it with: tendril run %s\n", output, r->seconds, output);
}

// What is not as it was asked for. Some of it is no answer: then the status is not 0.
static int tell_doubts(const Design* d) {
    int unstable = count_unstable(d), code = EXIT_DONE;
    if (unstable > 0) {
        fprintf(stderr,
                "tendril: %d of %d rods would not stay in their shapes at the first touch: "
                "%s\n",
                unstable, d->count,
                args_has(d->args, "stiffen") ? "even stiffened"
                                             : "--stiffen, or a larger --young, holds them");
    } else if (!d->report.stable) {
        fprintf(stderr, "tendril: all rods together would not stay in their shapes%s\n",
                d->report.sliding_count > 0 ? ": some contacts slide"
                : d->report.free_count > 0  ? ": some lean on bodies that are free to move"
                                            : "");
    }
    if (args_has(d->args, "stiffen") && !d->report.stable) {
        code = EXIT_FAILED;
    }
    if (d->input.missed_count > 0) {
        fprintf(stderr, "tendril: %d curves need more elements for the tolerance\n",
                d->input.missed_count);
        code = EXIT_FAILED;
    }
    if (d->check.wrong_count > 0) {
        fprintf(stderr, "tendril: %d rods that were told to stay did not\n", d->check.wrong_count);
        code = EXIT_FAILED;
    }
    return code;
}

// --- all
// ------------------------------------------------------------------------------------------

// NAME.rest.yaml in the folder one is in.
static void default_output(const char* operand, char out[OUTPUT_PATH_SIZE]) {
    const char* slash = strrchr(operand, '/');
    const char* name = slash == NULL ? operand : slash + 1;
    const char* dot = strrchr(name, '.');
    int length = dot == NULL || dot == name ? (int)strlen(name) : (int)(dot - name);
    snprintf(out, OUTPUT_PATH_SIZE, "%.*s.rest.yaml", length > 200 ? 200 : length, name);
}

// Neither the scene nor the strands that are written may be what is read.
static int check_output(const Args* args, const char* output) {
    char strands[OUTPUT_PATH_SIZE];
    size_t length = strlen(output);
    if (length < 6 || strcmp(output + length - 5, ".yaml") != 0) {
        return usage_error(args, "--output is a scene: its name ends in .yaml");
    }
    output_path(strands, output, ".yaml", ".h5");
    bool may = output_guard(NULL, output, TDL_FILE_WRITTEN) &&
               output_guard(NULL, strands, TDL_FILE_WRITTEN);
    return may ? EXIT_DONE : EXIT_USAGE;
}

static int run_design(Design* d, const char* output) {
    int code = open_world(d);
    code = code == EXIT_DONE ? invert(d) : code;
    code = code == EXIT_DONE ? refuse_too_soft(d) : code;
    if (code == EXIT_DONE) {
        code = output_code(tdl_scene_write_at_rest(d->scene, d->world, output));
    }
    code = code == EXIT_DONE ? check(d, output) : code;
    if (code != EXIT_DONE) {
        return code;
    }
    if (args_has(d->args, "json")) {
        print_json(d, output);
    } else if (!args_has(d->args, "quiet")) {
        print_report(d, output);
    }
    return tell_doubts(d);
}

static void close_design(Design* d) {
    if (d->world != NULL) {
        tdl_inverse_report_free(d->world, &d->report);
    }
    tdl_world_destroy(d->world);
    tdl_scene_destroy(d->scene);
    inverse_check_free(&d->check);
    inverse_input_close(d->args, &d->input);
    free(d->rods);
    free(d->number);
    free(d->stable);
}

static int run_inverse(const Args* args) {
    char path[OUTPUT_PATH_SIZE];
    default_output(args_operand(args, 0), path);
    const char* output = args_text(args, "output", path);
    Design d = {.args = args};
    int code = check_output(args, output);
    if (code != EXIT_DONE) {
        return code;
    }
    terminal_catch_stop();
    code = inverse_input_open(args, output, &d.input);
    code = code == EXIT_DONE ? run_design(&d, output) : code;
    close_design(&d);
    return code;
}

static const Option INVERSE_OPTIONS[] = {
    {"output", 'o', OPTION_OUTPUT, "FILE.yaml", 0, 0,
     "the scene to be written; natural curvatures go into files .h5 beside it; default "
     "NAME.rest.yaml, here",
     false},
    {"set", 's', OPTION_TEXT, "PATH=VALUE", 0, 0,
     "override one value of the scene, such as contacts.friction=0.2", true},
    INVERSE_INPUT_OPTIONS,
    {"contacts", 'c', OPTION_SWITCH, NULL, 0, 0,
     "rods lean on what they touch: forces of contacts are found too", false},
    {"guess", 0, OPTION_TEXT, "tip|shape|X", 0, 0,
     "of --contacts: natural curvature is to be near that of the tip, the shape's, or between "
     "(0 to 1); default tip",
     false},
    {"reach", 0, OPTION_REAL, "M", 0, 1,
     "of --contacts: m, gap below which two things touch; default 1e-7, for curves that are "
     "fitted a fifth of the radius",
     false},
    {"stiffen", 0, OPTION_SWITCH, NULL, 0, 0, "raises Young's modulus of rods until all is stable",
     false},
    {"check", 0, OPTION_MAYBE_REAL, "[S]", 1e-3, 1e6,
     "run the scene that was written for so many seconds, kick it and run it again: does it stay "
     "as told? (What the scene moves by then does not.) Default 2",
     false},
    {0},
};

const Command INVERSE_COMMAND = {
    .name = "inverse",
    .operands = "INPUT",
    .summary = "Find fibres that rest in given shapes, and whether they will stay",
    .text =
        "INPUT is curves (.hair, polylines of .obj, .csv with columns x, y, z and curve), to which "
        "rods are fitted, clamped at their first point; a file of strands (.h5); or a scene, whose "
        "rods along curves with 'rest: inverse' are taken, or all. Out comes a scene in whose "
        "files the natural curvature of each rod is such that its shape is an equilibrium under "
        "gravity and loads, to rounding, and with --contacts under forces of contacts inside their "
        "friction cones.\nNot every equilibrium is stable. 'least' is the factor on the stiffness "
        "from which on the shape stays when it is touched, exactly: below 1 it stays as it is. "
        "'bound' is what the smallest eigenvalues alone would ask for. Exit status 1 where "
        "--stiffen could not make it stable, a --tolerance needs more elements, or --check finds "
        "that something that was told to stay did not.\n'tendril inverse helix' and 'tendril "
        "inverse stiffness' are commands of their own.",
    .example =
        "tendril inverse scenes/curves/signature.csv -o signature.yaml --radius 4e-4 --check\n"
        "tendril inverse pony.hair --scale 0.004 --up y --young 4e9 --stiffen -o pony.yaml\n"
        "tendril inverse wisp.yaml --contacts -o wisp-at-rest.yaml --json",
    .options = INVERSE_OPTIONS,
    .run = run_inverse,
};
