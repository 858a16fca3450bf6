// tendril run: runs a scene into a folder, or continues one.
#include "app/browser.h"
#include "app/command.h"
#include "app/live.h"
#include "app/save_problem.h"
#include "app/terminal.h"
#include "app/trace_option.h"
#include "app/view_page.h"

#include <string.h>

enum { SET_MAX = 4096, PATH_MAX_BYTES = 4096 };

static bool show_progress(void* user, const TdlStepInfo* info, long step_total) {
    const bool* quiet = user;
    if (!*quiet) {
        char remark[64];
        snprintf(remark, sizeof remark, "t = %.4g s", info->time);
        terminal_progress((double)info->step, (double)step_total, "steps", remark);
    }
    return !terminal_stop_asked();
}

// out/<name of the scene without folder and extension>
static void default_directory(const char* scene, char out[PATH_MAX_BYTES]) {
    const char* slash = strrchr(scene, '/');
    const char* name = slash == NULL ? scene : slash + 1;
    const char* dot = strrchr(name, '.');
    bool yaml =
        dot != NULL && dot != name && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
    int length = (int)(yaml ? (size_t)(dot - name) : strlen(name));
    snprintf(out, PATH_MAX_BYTES, "out/%.*s", length, name);
}

static void print_summary(const char* directory) {
    char path[PATH_MAX_BYTES + 16], buffer[4096];
    snprintf(path, sizeof path, "%s/summary.json", directory);
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        return;
    }
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        fwrite(buffer, 1, got, stdout);
    }
    fclose(file);
}

// What a run that reached its end is to be told for: steps that did not come out as they should.
static void tell_doubts(const TdlRunInfo* info) {
    if (info->unsolved > 0) {
        fprintf(stderr,
                "%ld steps have contacts that were not solved to the tolerance; the error is "
                "at most %.2g%s\n",
                info->unsolved, info->error,
                info->error > TDL_UNSOLVED_ERROR ? ": these forces are not to be relied on" : "");
    }
    if (info->forced > 0) {
        fprintf(stderr,
                "%ld steps were kept though they could not stay, even in the smallest parts: "
                "column forced of log.csv\n",
                info->forced);
    }
}

// Says in a line or two how the run ended and what can be done next.
static void tell_end(const char* directory, TdlStatus status, const TdlRunInfo* info) {
    if (status == TDL_STATUS_OK && info->steps_here == 0 && info->step_total > 0) {
        fprintf(stderr, "%s is finished already: %ld steps, %ld frames\n", directory, info->steps,
                info->frames);
    } else if (status == TDL_STATUS_OK) {
        fprintf(stderr, "%s: %ld steps, %ld frames, %.6g s simulated in %.3g s\n", directory,
                info->steps, info->frames, info->time, info->seconds);
    } else {
        fprintf(stderr, "%s at step %ld of %ld; what was computed is in %s\n",
                status == TDL_STATUS_STOPPED ? "stopped"
                : info->failed               ? "failed"
                                             : "ended",
                info->steps, info->step_total, directory);
    }
    tell_doubts(info);
    if (status == TDL_STATUS_OK) {
        fprintf(stderr, "look at it with: tendril info %s\n", directory);
    } else if (status != TDL_STATUS_DIVERGED) {
        fprintf(stderr, "continue with: tendril run --resume %s\n", directory);
    } else if (info->failed) {
        fprintf(stderr,
                "the last good state is saved; to go on from it in spite of this: tendril run "
                "--resume %s --energy-limit X\n",
                directory);
    }
}

// The library says nothing where an allocation of its own fails.
static void tell_memory(TdlStatus status) {
    if (status == TDL_STATUS_NO_MEMORY && !terminal_told_error()) {
        fprintf(stderr, "tendril: not enough memory\n");
    }
}

static int end_run(const Args* args, const char* directory, TdlStatus status,
                   const TdlRunInfo* info) {
    terminal_end_progress();
    bool made = info->steps >= 0;
    tell_memory(status);
    if (!made && status == TDL_STATUS_STOPPED) {
        fprintf(stderr, "stopped before the first step: nothing was written\n");
    }
    bool sound = made && tdl_run_is_sound(info);
    bool refused = status != TDL_STATUS_OK && info->seconds == 0.0; // it was told why
    if (made && !refused && (status != TDL_STATUS_OK || !sound || !args_has(args, "quiet"))) {
        tell_end(directory, status, info);
    }
    if (made && args_has(args, "json")) {
        print_summary(directory);
    }
    // once the scene is read, and a resume goes on, what fails is writing
    bool begun = info->seconds > 0.0 || !args_has(args, "resume");
    bool failed = status == TDL_STATUS_OK ? made && !sound : begun && status == TDL_STATUS_IO;
    return failed ? EXIT_FAILED : exit_code(status);
}

static TdlStatus load_scene(const Args* args, TdlScene** out) {
    static const char* overrides[SET_MAX];
    int count = args_count(args, "set");
    for (int i = 0; i < count && i < SET_MAX; ++i) {
        overrides[i] = args_text_at(args, "set", i);
    }
    return tdl_scene_load(args_host(args), args_operand(args, 0), overrides, count, out);
}

static bool asked_to_stop(void) {
    return terminal_stop_asked();
}

static bool asked_within_a_step(void* user) {
    (void)user;
    return terminal_stop_asked();
}

// Runs or resumes, with a page on it when asked for; `scene` is null for a resume.
static int run_watched(const Args* args, const TdlScene* scene, TdlRunDef* def) {
    Live* live = NULL;
    if (args_has(args, "live")) {
        TdlSceneInfo plan = scene == NULL ? (TdlSceneInfo){.title = def->directory, .samples = 4}
                                          : tdl_scene_info(scene);
        LiveDef watched = {.port = args_int(args, "port", 0),
                           .samples = plan.samples,
                           .title = plan.title == NULL ? "" : plan.title,
                           .scene = scene,
                           .speed = args_real(args, "speed", 1.0),
                           .asked_to_stop = asked_to_stop};
        live = view_page_available() ? live_start(&watched) : NULL;
        if (live == NULL) {
            return EXIT_FAILED;
        }
        fprintf(stderr, "open %s\nthe run begins when a browser has; Ctrl-C stops it\n",
                live_url(live));
        if (args_has(args, "open")) {
            browser_open(live_url(live)); // if not, the address is still there
        }
        def->watch = live_watch;
        def->watch_user = live;
    }
    TraceOption trace;
    int begun = trace_begin(args, def, &trace);
    if (begun != EXIT_DONE) {
        live_stop(live);
        return begun;
    }
    TdlRunInfo info;
    TdlStatus status = scene == NULL ? tdl_run_resume(args_host(args), def, &info)
                                     : tdl_run(args_host(args), scene, def, &info);
    live_stop(live);
    if (info.steps >= 0 && !args_has(args, "quiet")) {
        terminal_end_progress();
        save_problem_tell(&def->problems, &info);
        if (def->queries.path != NULL) {
            fprintf(stderr, "%s: %ld collision queries saved\n", def->queries.path, info.queries);
        }
    }
    return trace_end(args, &trace, end_run(args, def->directory, status, &info));
}

static int run_resume(const Args* args, TdlRunDef* def) {
    if (args_operand_count(args) > 0 || args_has(args, "output") || args_has(args, "set")) {
        return usage_error(args, "--resume continues a run as it was begun: it takes no scene, "
                                 "no --output and no --set");
    }
    def->directory = args_text(args, "resume", NULL);
    return run_watched(args, NULL, def);
}

static int run_run(const Args* args) {
    bool quiet = args_has(args, "quiet");
    TdlRunDef def = {.thread_count = args_int(args, "threads", 0),
                     .energy_limit = args_real(args, "energy-limit", 0.0),
                     .progress = show_progress,
                     .progress_user = &quiet,
                     .stop = asked_within_a_step,
                     .other_build = args_has(args, "other-build")};
    if (!args_has(args, "live") &&
        (args_has(args, "port") || args_has(args, "speed") || args_has(args, "open"))) {
        return usage_error(args, "--open, --port and --speed belong to --live");
    }
    if (def.other_build && !args_has(args, "resume")) {
        return usage_error(args, "--other-build belongs to --resume");
    }
    int asked = save_problem_option(args, &def.problems);
    asked = asked == EXIT_DONE ? save_queries_option(args, &def.queries) : asked;
    if (asked != EXIT_DONE) {
        return asked;
    }
    if (args_has(args, "resume")) {
        terminal_catch_stop();
        return run_resume(args, &def);
    }
    if (args_operand_count(args) == 0) {
        return usage_error(args, "missing SCENE, or --resume DIR to continue a run");
    }
    char directory[PATH_MAX_BYTES];
    default_directory(args_operand(args, 0), directory);
    def.directory = args_text(args, "output", directory);
    TdlScene* scene;
    TdlStatus status = load_scene(args, &scene);
    if (status != TDL_STATUS_OK) {
        tell_memory(status);
        return exit_code(status);
    }
    terminal_catch_stop(); // before, there was nothing to save
    int code = run_watched(args, scene, &def);
    tdl_scene_destroy(scene);
    return code;
}

static const Option RUN_OPTIONS[] = {
    {"output", 'o', OPTION_OUTPUT, "DIR", 0, 0,
     "folder of the result, which must not exist yet; default out/<name of the scene>", false},
    {"set", 's', OPTION_TEXT, "PATH=VALUE", 0, 0,
     "override one value of the scene, such as time.step=1e-4 or rods.curl.elements=20", true},
    {"resume", 'r', OPTION_FILE, "DIR", 0, 0,
     "continue the run in DIR from its last checkpoint, with the same bits", false},
    {"other-build", 0, OPTION_SWITCH, NULL, 0, 0,
     "of --resume: go on also where another build of tendril began, with which the last bits may "
     "differ",
     false},
    {"energy-limit", 0, OPTION_REAL, "X", 1e-9, 1e300,
     "in place of the scene's time.energy_limit, also where --resume goes on after a failure",
     false},
    {"live", 'l', OPTION_SWITCH, NULL, 0, 0,
     "serve a page on this machine that shows the run and takes a hand in it", false},
    {"open", 0, OPTION_SWITCH, NULL, 0, 0, "of --live: open it in the browser, by xdg-open", false},
    {"port", 'p', OPTION_INT, "N", 1, 65535, "of --live; default any that is free", false},
    {"speed", 0, OPTION_REAL, "X", 1e-6, 1e6,
     "of --live: simulated seconds a second, at most; default 1", false},
    {"save-problem", 0, OPTION_TEXT, "STEPS=PATH", 0, 0, SAVE_PROBLEM_HELP, false},
    TRACE_OPTIONS,
    {"save-queries", 0, OPTION_TEXT, "STEPS=PATH", 0, 0, SAVE_QUERIES_HELP, false},
    {0},
};

const Command RUN_COMMAND = {
    .name = "run",
    .operands = "[SCENE]",
    .summary = "Run a scene, or continue a run that was interrupted",
    .text = "The folder receives result.h5 (the frames, readable while the run goes on), log.csv "
            "(a row a step), summary.json (at the end), scene.yaml (the scene as run) and "
            "checkpoint.\nCtrl-C stops after the current step, or before it if it takes long, and "
            "saves; whatever ended a run, "
            "--resume goes on with it, and the result is the same as if it had not been "
            "interrupted.\nA run that fails (energy came from nowhere, a state is not finite) ends "
            "with "
            "exit status 1 and tells the body, its element and place; its last good state is the "
            "checkpoint. The status is also 1 where a step was kept though it could not stay, or "
            "the contact solver's error was above 1e-3: summary.json then has \"sound\": false.\n"
            "With --live a page shows the run while it goes on: pause it, change "
            "gravity and friction, drag ends of fibres. What a hand did is in the result, but a "
            "resume cannot repeat it.",
    .example = "tendril run scenes/hanging-curl.yaml -o out/curl --set time.step=5e-4\n"
               "tendril run scenes/wavy-hair.yaml -o out/hair --trace-detection hair.trace\n"
               "tendril run --resume out/curl\n"
               "tendril run --live scenes/ropes-over-ball.yaml --set time.end=1e4\n"
               "tendril run scenes/knot.yaml -o out/knot --save-problem 100-200/10=out/problems",
    .options = RUN_OPTIONS,
    .run = run_run,
};
