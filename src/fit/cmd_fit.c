// tendril fit: finds values of a scene with which it follows a recording.
#include "app/json.h"
#include "app/output.h"
#include "app/report.h"
#include "app/terminal.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Correlations beyond this are told: the recording hardly tells the two apart.
static const double TIED = 0.98;

// An error less than this share of the least of the search shows that that was not the least.
static const double BETTER = 0.995;

// A value this near to its bound, as z, lies on it.
static const double AT_BOUND = 1.0e-3;

enum { LIST_SIZE = 4096 };

// --- parameters ----------------------------------------------------------------------------------

static int add_parameter(Fit* fit, const TdlScene* scene, const char* text) {
    if (fit->parameter_count == PARAMETERS_MAX) {
        return usage_error(fit->args, "more than %d parameters", PARAMETERS_MAX);
    }
    Parameter* p = &fit->parameters[fit->parameter_count];
    int code = parameter_read(fit->args, scene, text, p);
    for (int i = 0; i < fit->parameter_count && code == EXIT_DONE; ++i) {
        if (strcmp(fit->parameters[i].path, p->path) == 0) {
            return usage_error(fit->args, "%s is a parameter twice", p->path);
        }
    }
    fit->parameter_count += code == EXIT_DONE;
    return code;
}

// The scene must take both bounds, so that a mistake shows before anything runs.
static int check_ends(const Fit* fit, const Parameter* p) {
    for (int side = 0; side < 2; ++side) {
        char text[PARAMETER_PATH_SIZE + 40];
        snprintf(text, sizeof text, "%s=%.17g", p->path, side == 0 ? p->low : p->high);
        fit->sets[fit->set_count] = text;
        TdlScene* scene = NULL;
        TdlStatus status =
            tdl_scene_load(args_host(fit->args), fit->scene, fit->sets, fit->set_count + 1, &scene);
        tdl_scene_destroy(scene);
        if (status != TDL_STATUS_OK) {
            return exit_code(status);
        }
    }
    return EXIT_DONE;
}

static int read_parameters(Fit* fit, const TdlScene* scene) {
    int code = EXIT_DONE;
    for (int i = 0; i < args_count(fit->args, "params") && code == EXIT_DONE; ++i) {
        char list[LIST_SIZE];
        snprintf(list, sizeof list, "%s", args_text_at(fit->args, "params", i));
        for (char *rest = NULL, *word = strtok_r(list, ", ", &rest);
             word != NULL && code == EXIT_DONE; word = strtok_r(NULL, ", ", &rest)) {
            code = add_parameter(fit, scene, word);
        }
    }
    for (int i = 0; i < args_count(fit->args, "param") && code == EXIT_DONE; ++i) {
        code = add_parameter(fit, scene, args_text_at(fit->args, "param", i));
    }
    if (code == EXIT_DONE && fit->parameter_count == 0) {
        return usage_error(fit->args, "say what is sought with --param PATH=LOW:HIGH or --params "
                                      "NAME,NAME");
    }
    for (int i = 0; i < fit->parameter_count && code == EXIT_DONE; ++i) {
        code = check_ends(fit, &fit->parameters[i]);
    }
    return code;
}

// --- what was found ------------------------------------------------------------------------------

static bool at_bound(const Parameter* p, double value) {
    double z = parameter_place(p, value);
    return z < AT_BOUND || z > 1.0 - AT_BOUND;
}

static void print_found(const Fit* fit, const Found* found, const char* folder) {
    printf("%s after %d evaluations: %s\n", found->converged ? "converged" : "not converged",
           found->evaluations, found->end);
    printf("  error    %.4g mm on the mean, %.4g mm at the start; %.4g mm over markers\n",
           1.0e3 * found->best.error, 1.0e3 * found->first.error, 1.0e3 * found->best.spread);
    for (int i = 0; i < fit->parameter_count; ++i) {
        printf("  %-32s %.6g", fit->parameters[i].path, found->values[i]);
        if (!isnan(found->deviations[i])) {
            printf(" +- %.2g", found->deviations[i]);
        }
        printf("%s\n",
               at_bound(&fit->parameters[i], found->values[i]) ? "  (at its bound: widen it)" : "");
    }
    printf("%s/report.html has the plots, %s/scene.yaml the scene with these values\n", folder,
           folder);
}

static void tell_doubts(const Fit* fit, const Found* found) {
    if (found->stopped) {
        fprintf(stderr, "stopped: %s\n",
                found->evaluations == found->history_count
                    ? "this is the best so far"
                    : "what follows the search is not whole");
    }
    if (found->best.outcome == TRIAL_DOUBTFUL) {
        fprintf(stderr, "the best run is not to be relied on: %s\n", found->best.reason);
    }
    if (fit->failed > 0) {
        fprintf(stderr,
                "%d of %d runs failed and counted as bad: column outcome of "
                "evaluations.csv\n",
                fit->failed, fit->count);
    }
    for (int i = 0; i < fit->parameter_count; ++i) {
        for (int k = 0; k < i; ++k) {
            if (fabs(found->correlations[i][k]) > TIED) {
                fprintf(stderr, "the recording hardly tells %s and %s apart: correlation %.3f\n",
                        fit->parameters[k].path, fit->parameters[i].path,
                        found->correlations[i][k]);
            }
        }
    }
}

static void json_member(const char* name, double value) {
    printf(", \"%s\": ", name);
    json_real(value);
}

static void json_found(const Fit* fit, const Found* found, const char* folder) {
    printf("{\"scene\": ");
    json_text(fit->scene);
    printf(", \"data\": ");
    json_text(args_text(fit->args, "data", ""));
    printf(", \"converged\": %s, \"end\": ", found->converged ? "true" : "false");
    json_text(found->end);
    printf(", \"evaluations\": %d, \"runs\": %d, \"failed\": %d, \"sound\": %s", found->evaluations,
           fit->count, fit->failed, found->best.outcome == TRIAL_SOUND ? "true" : "false");
    json_member("error", found->best.error);
    json_member("error_at_start", found->first.error);
    json_member("spread", found->best.spread);
    printf(", \"markers\": %d, \"moments\": %d, \"lost\": %ld, \"parameters\": [",
           fit->data.marker_count, fit->data.moment_count, tracks_lost(&fit->data));
    for (int i = 0; i < fit->parameter_count; ++i) {
        const Parameter* p = &fit->parameters[i];
        printf("%s{\"path\": ", i == 0 ? "" : ", ");
        json_text(p->path);
        json_member("value", found->values[i]);
        json_member("deviation", found->deviations[i]);
        json_member("start", p->start);
        json_member("low", p->low);
        json_member("high", p->high);
        printf(", \"log\": %s, \"at_bound\": %s}", p->log ? "true" : "false",
               at_bound(p, found->values[i]) ? "true" : "false");
    }
    printf("], \"output\": ");
    json_text(folder);
    printf("}\n");
}

// --- the command ---------------------------------------------------------------------------------

static bool open_table(Fit* fit, const char* folder, char path[OUTPUT_PATH_SIZE]) {
    output_path(path, folder, "", "/evaluations.csv");
    fit->table = output_open_growing(path);
    if (fit->table == NULL) {
        return false;
    }
    fprintf(fit->table, "evaluation,phase");
    for (int i = 0; i < fit->parameter_count; ++i) {
        fprintf(fit->table, ",%s", fit->parameters[i].path);
    }
    fprintf(fit->table, ",error,outcome,seconds\n");
    return true;
}

// Whether the search and what follows it were whole; tells what was found.
static int tell_end(const Fit* fit, const Found* found, const char* folder) {
    if (!found->any) {
        fprintf(stderr,
                found->stopped ? "stopped before any run was made\n"
                               : "no run came to its end: %s\n",
                found->first.reason);
        return EXIT_FAILED;
    }
    bool written = fit_report(fit, found, folder);
    if (args_has(fit->args, "json")) {
        json_found(fit, found, folder);
    } else {
        print_found(fit, found, folder);
    }
    tell_doubts(fit, found);
    bool good = found->converged && !found->stopped && found->best.outcome == TRIAL_SOUND;
    return written && good ? EXIT_DONE : EXIT_FAILED;
}

static int search(Fit* fit, const char* folder) {
    SearchDef def = {.algorithm = args_text(fit->args, "algorithm", "bobyqa"),
                     .tolerance = args_real(fit->args, "tolerance", 1.0e-3),
                     .step = args_real(fit->args, "first-step", 0.1),
                     .most = args_int(fit->args, "evaluations", 300)};
    char path[OUTPUT_PATH_SIZE];
    if (!report_make_folder(folder) || !open_table(fit, folder, path)) {
        return EXIT_FAILED;
    }
    Found found;
    int sweeps = args_int(fit->args, "sweep", 9);
    bool good = fit_search(fit, &def, &found);
    if (good && found.converged) {
        fit_polish(fit, &found);
    }
    if (good && found.any && !found.stopped && sweeps > 1) {
        fit_sweep(fit, sweeps, &found);
    }
    if (found.converged && fit->best < BETTER * found.best.error) {
        found.converged = false;
        found.end = "but runs beside it are better: see evaluations.csv, and start from there";
    }
    bool written = output_close(fit->table, true);
    int code = good ? tell_end(fit, &found, folder) : exit_code(TDL_STATUS_NO_MEMORY);
    found_free(&found);
    return written ? code : EXIT_FAILED;
}

static int run_search(Fit* fit, const TdlScene* scene, TdlWorld* world) {
    const Args* args = fit->args;
    const char* folder = args_text(args, "output", NULL);
    if (folder == NULL) {
        return usage_error(args, "say with --output DIR where the result goes");
    }
    if (access(folder, F_OK) == 0) {
        fprintf(stderr, "%s: is there already: name a new folder\n", folder);
        return EXIT_INPUT;
    }
    int code = read_parameters(fit, scene);
    code = code == EXIT_DONE ? fit_read_data(fit, scene, world) : code;
    return code == EXIT_DONE ? search(fit, folder) : code;
}

static int run_with_scene(Fit* fit, const TdlScene* scene) {
    const char* recording = args_text(fit->args, "make-recording", NULL);
    TdlWorld* world = NULL;
    TdlStatus status = tdl_scene_build(scene, 1, &world);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    int code = recording != NULL ? make_recording(fit, scene, world, recording)
                                 : run_search(fit, scene, world);
    tdl_world_destroy(world);
    return code;
}

static int run_fit(const Args* args) {
    bool makes = args_has(args, "make-recording");
    if (makes == args_has(args, "data")) {
        return usage_error(args, "say either --data FILE, to fit, or --make-recording FILE");
    }
    if (!makes && (args_has(args, "noise") || args_has(args, "lose") || args_has(args, "period"))) {
        return usage_error(args, "--noise, --lose and --period go with --make-recording");
    }
    terminal_catch_stop();
    Fit fit = {.args = args,
               .scene = args_operand(args, 0),
               .set_count = args_count(args, "set"),
               .best = NAN};
    fit.sets = calloc((size_t)fit.set_count + PARAMETERS_MAX, sizeof *fit.sets);
    if (fit.sets == NULL) {
        return exit_code(TDL_STATUS_NO_MEMORY);
    }
    for (int i = 0; i < fit.set_count; ++i) {
        fit.sets[i] = args_text_at(args, "set", i);
    }
    TdlScene* scene = NULL;
    TdlStatus status = tdl_scene_load(args_host(args), fit.scene, fit.sets, fit.set_count, &scene);
    int code = status == TDL_STATUS_OK ? run_with_scene(&fit, scene) : exit_code(status);
    tdl_scene_destroy(scene);
    markers_free(&fit.markers);
    tracks_free(&fit.data);
    free(fit.sets);
    return code;
}

static const Option FIT_OPTIONS[] = {
    {"data", 'd', OPTION_FILE, "FILE", 0, 0,
     "the recording: a .csv with time and NAME.x, NAME.y, NAME.z of each marker", false},
    {"param", 'p', OPTION_TEXT, "PATH=LOW:HIGH", 0, 0,
     "a value that is sought and its bounds; then :START, default the scene's value, and :log or "
     ":linear, default log where the bounds differ tenfold",
     true},
    {"params", 0, OPTION_TEXT, "NAME,NAME", 0, 0,
     "several, each as above or without bounds: a tenth to ten times of the scene's value. alpha, "
     "delta, rho and kappa are damping, weight, density and bending of the only cloth, mu is "
     "contacts.friction",
     true},
    {"output", 'o', OPTION_OUTPUT, "DIR", 0, 0, "folder of what is found, which must not exist yet",
     false},
    {"set", 's', OPTION_TEXT, "PATH=VALUE", 0, 0,
     "override one value of the scene, such as time.end=0.5", true},
    {"marker", 'm', OPTION_TEXT, "NAME=PLACE", 0, 0,
     "where the scene has a marker of the recording; default: its name says", true},
    {"scale", 0, OPTION_REAL, "X", 1e-9, 1e9, "metres of one unit of the recording; default 1",
     false},
    {"up", 0, OPTION_CHOICE, "z|y", 0, 0, "its axis that points up; y becomes z", false},
    {"delay", 0, OPTION_REAL, "S", -1e12, 1e12, "added to its times, s; default 0", false},
    {"algorithm", 0, OPTION_CHOICE, FIT_ALGORITHMS, 0, 0,
     "of NLopt; default bobyqa; direct and crs look everywhere, and use all evaluations", false},
    {"tolerance", 0, OPTION_REAL, "X", 1e-12, 0.1,
     "of parameters, as a share of their range on their scale; default 1e-3", false},
    {"first-step", 0, OPTION_REAL, "X", 1e-6, 0.5, "the same of the first steps; default 0.1",
     false},
    {"evaluations", 0, OPTION_INT, "N", 1, 1e6, "of the search at most; default 300", false},
    {"sweep", 0, OPTION_INT, "N", 0, 1000,
     "points of the sensitivity sweep of each parameter; default 9, 0: none", false},
    {"make-recording", 0, OPTION_OUTPUT, "FILE", 0, 0,
     "write the markers of a run of the scene in place of fitting it", false},
    {"period", 0, OPTION_REAL, "S", 1e-9, 1e12,
     "of --make-recording: s between moments; default the scene's output.frame", false},
    {"noise", 0, OPTION_REAL, "M", 0, 1e6,
     "of --make-recording: standard deviation of each coordinate, m; default 0", false},
    {"lose", 0, OPTION_REAL, "SHARE", 0, 0.99,
     "of --make-recording: share of the places that are lost, in gaps; default 0", false},
    {"seed", 0, OPTION_INT, "N", 0, 2e9, "of --make-recording: of noise and gaps; default 1",
     false},
    {0},
};

const Command FIT_COMMAND = {
    .name = "fit",
    .operands = "SCENE",
    .summary = "Find values of a scene with which it follows a recording",
    .text =
        "Runs the scene again and again and changes the parameters until its markers are where "
        "they\nwere recorded: the error is the distance, root mean square over markers by the "
        "mass each stands\nfor, mean over time. Lost markers (empty fields) are left out.\n"
        "A column NAME.x is of the marker NAME, which is a PLACE of the scene or is given one by\n"
        "--marker: towel:12 is a vertex of a cloth and towel@0.1 0 1 its point nearest to a place "
        "at\nthe start, curl@0.25 a point of a rod at an arc length and curl:3.5 one within its "
        "element 3,\ndie the origin of a rigid body and die@0.01 0 0 a point of its frame; "
        "ropes[2] is a copy.\n"
        "The folder receives report.html with plots (error.svg over time, search.svg over "
        "evaluations,\nsweep.svg with one parameter changed), evaluations.csv, markers.csv (of "
        "the best run) and\nscene.yaml with the values found. Standard deviations come from the "
        "curvature of the error: what\nnoise leaves uncertain. A run that fails counts as bad "
        "and is told. Ctrl-C ends the search; the\nbest so far is told. Exit status 1: not "
        "converged, or the best run is not sound.",
    .example =
        "tendril fit scenes/thrown-napkin.yaml --data scenes/recordings/thrown-napkin.csv --params "
        "alpha,delta,mu -o out/napkin\n"
        "tendril fit scenes/cantilever.yaml --make-recording bar.csv --noise 1e-4 --lose 0.1\n"
        "tendril fit scenes/cantilever.yaml --data bar.csv --param "
        "materials.steel.young=1e10:1e12 -o out/bar",
    .options = FIT_OPTIONS,
    .run = run_fit,
};
