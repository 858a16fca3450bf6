// tendril experiment comb: combs a wisp of hair and measures the force.
#include "app/json.h"
#include "app/report.h"
#include "app/save_problem.h"
#include "app/trace_option.h"
#include "experiment/combing.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = COMBING_PATH_BYTES };

// What the options ask for; a usage error's exit code, or EXIT_DONE.
static int read_options(const Args* args, TdlCombDef* def) {
    *def = tdl_comb_def_default();
    const char* preset = args_text(args, "preset", NULL);
    if (preset != NULL) {
        tdl_comb_preset(preset, def);
    }
    def->fibre_count = args_int(args, "fibres", def->fibre_count);
    def->natural_curvature = args_real(args, "kappa0", def->natural_curvature);
    def->mu = args_real(args, "mu", def->mu);
    def->element_count = args_int(args, "elements", def->element_count);
    const char* detection = args_text(args, "detection", "curves");
    def->geometry = strcmp(detection, "segments") == 0 ? TDL_CONTACT_SEGMENTS : TDL_CONTACT_CURVES;
    if (strcmp(detection, "curves") == 0 && args_has(args, "proxies")) {
        return usage_error(args, "--proxies goes with --detection segments or both");
    }
    int proxies = args_int(args, "proxies", def->segments * def->element_count);
    if (proxies % def->element_count != 0) {
        return usage_error(args, "--proxies must be a multiple of --elements, %d",
                           def->element_count);
    }
    def->segments = proxies / def->element_count;
    def->length = args_real(args, "length", def->length);
    def->tooth_length = args_real(args, "teeth", def->tooth_length);
    def->spacing = args_real(args, "spacing", def->spacing);
    def->seed = args_int(args, "seed", def->seed);
    def->step = args_real(args, "dt", def->step);
    def->relaxation = args_real(args, "relax", def->relaxation);
    def->settle_damping = args_real(args, "settle", def->settle_damping);
    def->rest_step = args_real(args, "rest-dt", def->rest_step);
    def->settle_loosely = args_has(args, "loosely");
    def->hung = def->hung || args_has(args, "hung");
    def->inside = def->inside || args_has(args, "inside");
    def->speed = args_real(args, "speed", def->speed);
    def->clearance = args_real(args, "clearance", def->clearance);
    def->travel = args_real(args, "travel", def->travel);
    def->depth = args_real(args, "depth", def->depth);
    def->tolerance = args_real(args, "tolerance", def->tolerance);
    def->max_iterations = args_int(args, "max-iterations", def->max_iterations);
    def->overlap = args_real(args, "overlap", def->overlap);
    def->frame_period = args_real(args, "frame", def->frame_period);
    return EXIT_DONE;
}

void combing_tell_options(const TdlCombDef* def, const char* detection, char text[512]) {
    char proxies[48] = "", clearance[48] = "", rest[48] = "";
    if (def->rest_step > 0.0) {
        snprintf(rest, sizeof rest, " --rest-dt %g", def->rest_step);
    }
    if (def->clearance > 0.0) {
        snprintf(clearance, sizeof clearance, " --clearance %g", def->clearance);
    }
    if (strcmp(detection, "curves") != 0) {
        snprintf(proxies, sizeof proxies, " --proxies %d", def->segments * def->element_count);
    }
    snprintf(text, 512,
             "--fibres %d --kappa0 %g --mu %g --elements %d --length %g --detection %s%s --dt %g "
             "--relax %g%s --settle %g%s%s%s --speed %g%s --travel %g --depth %g --teeth %g "
             "--spacing %g --seed %d --tolerance %g --overlap %g",
             def->fibre_count, def->natural_curvature, def->mu, def->element_count, def->length,
             detection, proxies, def->step, def->relaxation, rest, def->settle_damping,
             def->hung ? " --hung" : "", def->settle_loosely ? " --loosely" : "",
             def->inside ? " --inside" : "", def->speed, clearance, def->travel, def->depth,
             def->tooth_length, def->spacing, def->seed, def->tolerance, def->overlap);
}

static void print_plain(const Combing* combing) {
    CombFigures f = combing_figures(combing);
    printf("%s, %s: %d steps, %d since the comb moved, %d of them pulled\n", combing->name,
           combing->def.geometry == TDL_CONTACT_CURVES ? "curves" : "segments", combing->count,
           f.steps, f.pulled);
    if (f.steps == 0) {
        return; // all that follows is about the comb
    }
    printf("  speed at rest        %.3g m/s, root of the mean square, when the comb started\n",
           f.rest_speed);
    printf("  contacts             %.0f in the mean, at most %.0f\n", f.contacts, f.most);
    if (f.pulled > 0) {
        printf("  force of the comb    %.4g N in the mean, at most %.4g; roughness %.3g\n", f.force,
               f.most_force, f.roughness);
    }
    printf("  deepest overlap      %.3g m, %.3g %% of a radius\n", -f.deepest,
           -100.0 * f.deepest / combing->def.radius);
    printf("  solver               error at most %.2g, %.0f iterations in the mean, %d steps not "
           "solved\n",
           f.error, f.iterations, f.unsolved);
    printf(
        "  hands                of %.0f hairs curls change from one to the other before the comb "
        "comes, of %.0f at most, of %.0f at the end\n",
        combing->hands.before, combing->hands.most, combing->hands.last);
    printf("  a step takes         %.4g s: detection %.4g, construction %.4g, solve %.4g\n",
           f.seconds, f.detect, f.build, f.solve);
    printf("  processor time       %.4g s a step, of all threads\n",
           combing->processor / combing->processor_steps);
}

// One experiment; its report is left in its folder, whether it came to its end or was stopped.
static int run_one(const Args* args, Combing* combing) {
    bool resume = args_has(args, "resume");
    int code = combing_rest(args, resume, combing);
    if (code == EXIT_DONE) {
        bool begun = combing->relaxed != combing->rest || access(combing->folder, F_OK) == 0;
        code = combing_run(args, resume && begun, combing);
    }
    if (code != EXIT_DONE) {
        return code;
    }
    bool good = combing_read(args, combing) && combing_report(args, combing);
    return good ? EXIT_DONE : EXIT_FAILED;
}

static int run_both(const Args* args, const TdlCombDef* def, const char* name, const char* folder) {
    char path[2][PATH_BYTES + 16];
    Combing both[2] = {0};
    int code = EXIT_DONE;
    for (int i = 0; i < 2 && code == EXIT_DONE; ++i) {
        snprintf(path[i], sizeof path[i], "%s/%s", folder, i == 0 ? "curves" : "segments");
        both[i] = (Combing){.def = *def,
                            .folder = path[i],
                            .step_limit = args_int(args, "steps", 0),
                            .relaxed = args_text(args, "relaxed", NULL)};
        both[i].def.geometry = i == 0 ? TDL_CONTACT_CURVES : TDL_CONTACT_SEGMENTS;
        snprintf(both[i].name, sizeof both[i].name, "%s", name);
        code = run_one(args, &both[i]);
    }
    if (code == EXIT_DONE) {
        code = combing_compare(&both[0], &both[1], folder) ? EXIT_DONE : EXIT_FAILED;
        double ratio = combing_figures(&both[1]).roughness / combing_figures(&both[0]).roughness;
        CombNoise noise = combing_noise(&both[0], &both[1]);
        if (args_has(args, "json")) {
            printf("{\"curves\": {");
            combing_print_json(&both[0]);
            printf("}, \"segments\": {");
            combing_print_json(&both[1]);
            printf("}, \"noise_ratio\": ");
            json_real(ratio);
            printf(", \"quiet_noise_ratio\": ");
            json_real(noise.median_ratio);
            printf(", \"jump_slope\": ");
            json_real(noise.slope);
            printf(", \"jump_r2\": ");
            json_real(noise.r2);
            printf("}\n");
        } else {
            print_plain(&both[0]);
            print_plain(&both[1]);
            printf("with segments the force is %.4g times as rough; in %d windows of the pull "
                   "without an impact %.4g times, in the median\n",
                   ratio, noise.count, noise.median_ratio);
            printf("its jumps grow with curvature by %.3g m, R^2 = %.3f\n", noise.slope, noise.r2);
            printf("%s/report.html compares them\n", folder);
        }
    }
    combing_free(&both[0]);
    combing_free(&both[1]);
    return code;
}

static int run_comb(const Args* args) {
    TdlCombDef def;
    int code = read_options(args, &def);
    if (code != EXIT_DONE) {
        return code;
    }
    const char* name = args_text(args, "preset", "comb");
    char folder[PATH_BYTES];
    snprintf(folder, sizeof folder, "out/%s", name);
    snprintf(folder, sizeof folder, "%s", args_text(args, "out", folder));
    if (strcmp(args_text(args, "detection", ""), "both") == 0) {
        if (args_has(args, "save-problem")) {
            return usage_error(args, "--save-problem needs one way of detection, not both");
        }
        if (args_has(args, "trace-detection")) {
            return usage_error(args, "--trace-detection records one run: not --detection both");
        }
        return run_both(args, &def, name, folder);
    }
    Combing combing = {.def = def,
                       .folder = folder,
                       .step_limit = args_int(args, "steps", 0),
                       .relaxed = args_text(args, "relaxed", NULL)};
    snprintf(combing.name, sizeof combing.name, "%s", name);
    code = run_one(args, &combing);
    if (code == EXIT_DONE && args_has(args, "json")) {
        printf("{");
        combing_print_json(&combing);
        printf("}\n");
    } else if (code == EXIT_DONE) {
        print_plain(&combing);
        printf("%s/report.html has the plots; %s is a result as of tendril run\n", folder, folder);
    }
    combing_free(&combing);
    return code;
}

static const Option OPTIONS[] = {
    {"preset", 'p', OPTION_CHOICE,
     "comb-1-wavy|comb-25-wavy|comb-2025-straight|comb-2025-wavy|comb-2025-curly|"
     "comb-2025-wavy-dirty|comb-100-coiled",
     0, 0, "where to start from; the other options change it", false},
    {"fibres", 'n', OPTION_INT, "COUNT", 1, 1000000,
     "rooted on the squarest grid of so many; default 25", false},
    {"kappa0", 'k', OPTION_REAL, "1/M", 0, 10000, "natural curvature, 1/m; default 60", false},
    {"mu", 0, OPTION_REAL, "MU", 0, 10, "friction of hair on hair and on the comb; default 0.1",
     false},
    {"detection", 0, OPTION_CHOICE, "curves|segments|both", 0, 0,
     "what contact sees of the hair; both runs one after the other and compares; default curves",
     false},
    {"proxies", 0, OPTION_INT, "COUNT", 1, 100000,
     "segments a hair, a multiple of the elements; default 8 an element", false},
    {"elements", 'e', OPTION_INT, "COUNT", 1, 10000, "of a hair; default 12", false},
    {"length", 0, OPTION_REAL, "M", 0.001, 10, "of a hair, m; default 0.305", false},
    {"spacing", 0, OPTION_REAL, "M", 1e-5, 1, "of the roots, m; default 5e-4", false},
    {"seed", 0, OPTION_INT, "SEED", 0, 2147483647, "of the roots' random offsets; default 1",
     false},
    {"dt", 0, OPTION_REAL, "S", 1e-6, 1, "time step, s; default 1e-3", false},
    {"relax", 0, OPTION_REAL, "S", 1e-6, 1000, "time to come to rest, s; default 4", false},
    {"rest-dt", 0, OPTION_REAL, "S", 0, 1,
     "time step in which hair comes to rest in a run of its own, DIR-rest, with the solver at 1e-3 "
     "or looser; the combing then starts from there; default 0: one run, one time step",
     false},
    {"settle", 0, OPTION_REAL, "1/S", 0, 1e6,
     "damping of all motion at the start, which falls to 0 before the comb comes, 1/s; default "
     "2000",
     false},
    {"hung", 0, OPTION_SWITCH, NULL, 0, 0,
     "hair starts as it hangs with a weight at its tip that draws its curls out, near its rest, "
     "and "
     "not straight",
     false},
    {"loosely", 0, OPTION_SWITCH, NULL, 0, 0,
     "hair may pass through hair while that damping lasts: faster, for a look at the rest; whole "
     "hairs are still in each other when the comb comes",
     false},
    {"speed", 0, OPTION_REAL, "M/S", 1e-6, 10, "of the comb, m/s; default 0.05", false},
    {"clearance", 0, OPTION_REAL, "M", 0, 1,
     "between the teeth and the outermost roots at first, m; default 0: as far as hair may curl, "
     "and 2 cm",
     false},
    {"inside", 0, OPTION_SWITCH, NULL, 0, 0,
     "the comb is in the wisp from the start, roots in the middle of its gaps; --spacing is a "
     "multiple of 2.3e-3",
     false},
    {"travel", 0, OPTION_REAL, "M", 1e-6, 10, "how far the comb is pulled, m; default 0.3", false},
    {"depth", 0, OPTION_REAL, "M", 1e-4, 10,
     "where the comb enters, m below the roots; default 0.03", false},
    {"teeth", 0, OPTION_REAL, "M", 1e-4, 1, "length of the teeth, m; default 0.04", false},
    {"tolerance", 0, OPTION_REAL, "ERROR", 1e-14, 1, "of the contact solver; default 1e-8", false},
    {"max-iterations", 0, OPTION_INT, "COUNT", 1, 1000000, "of the contact solver; default 1000",
     false},
    {"overlap", 0, OPTION_REAL, "RADII", 1e-3, 1,
     "new overlap, in radii, at which a step is made again in parts; default 0.05", false},
    {"frame", 0, OPTION_REAL, "S", 1e-6, 1000, "between frames of the result, s; default 0.02",
     false},
    {"steps", 0, OPTION_INT, "COUNT", 1, 1000000000,
     "stop after so many steps of this call, as if interrupted; --resume goes on", false},
    {"relaxed", 0, OPTION_FILE, "DIR", 0, 0,
     "start with the hair at rest of another experiment with as many hairs and elements: its "
     "relaxed.state, written when its comb started",
     false},
    {"resume", 'r', OPTION_SWITCH, NULL, 0, 0,
     "go on with an experiment that was stopped or killed; give the same options again", false},
    {"save-problem", 0, OPTION_TEXT, "STEPS=PATH", 0, 0, SAVE_PROBLEM_HELP, false},
    {"out", 'o', OPTION_OUTPUT, "DIR", 0, 0,
     "folder of the result, the report and the plots; default out/<preset>", false},
    TRACE_OPTIONS,
    {0},
};

const Command EXPERIMENT_COMB_COMMAND = {
    .name = "experiment comb",
    .operands = "",
    .summary = "Comb a wisp of hair and measure the force",
    .text =
        "Hair rooted on a level grid is let go straight down, curls up and comes to rest; a comb "
        "comes from the side until its teeth are in the wisp, and is then pulled forwards and "
        "down, 30 degrees off the vertical, at constant speed. Hair and comb are those of Crespel "
        "et al. 2024: 30.5 cm of 0.1 mm, 1 GPa; teeth of 1.1 mm, with gaps of 1.2 mm between "
        "them.\n\n"
        "The folder is a result as of tendril run, for view, render and export, with log.csv (a "
        "row a step: contacts, energies, deepest gap, error of the solver, seconds of each phase), "
        "comb.csv (a row a step: how far the comb was pulled, force on it, contacts with it, "
        "curvature of the hair there) and report.html. The scene itself is left beside it, under "
        "the folder's name with .yaml.\n\n"
        "Presets of many curled hairs have roots farther apart and come to rest from --hung with "
        "--rest-dt; their comb moves by a hair's radius in a step, which keeps overlaps small and "
        "the solver's guess good. Options that are given change them.\n\n"
        "Roughness of the force is the mean of its second differences from step to step, over its "
        "mean: what segments add when hair slides over their corners.",
    .example = "tendril experiment comb --preset comb-25-wavy --out out/comb\n"
               "tendril experiment comb --preset comb-1-wavy --detection both --out out/noise\n"
               "tendril experiment comb --preset comb-2025-wavy --resume --out out/wavy",
    .options = OPTIONS,
    .run = run_comb,
};
