// tendril fit --make-recording: the markers of a run of a scene, with noise and gaps if asked for.
#include "app/json.h"
#include "app/output.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// More moments than this nobody reads.
static const double MOMENTS_MAX = 1.0e7;

// Those that --marker says, as PLACE or NAME=PLACE; else all.
static int choose_markers(Fit* fit, const TdlScene* scene, TdlWorld* world) {
    const Args* args = fit->args;
    for (int i = 0; i < args_count(args, "marker"); ++i) {
        const char *text = args_text_at(args, "marker", i), *equals = strchr(text, '=');
        char fault[MARKER_FAULT_SIZE], name[MARKER_NAME_SIZE];
        size_t length = equals == NULL ? strlen(text) : (size_t)(equals - text);
        snprintf(name, sizeof name, "%.*s", (int)(length < 100 ? length : 100), text);
        if (markers_add(&fit->markers, scene, world, name, equals == NULL ? text : equals + 1,
                        fault) != MARKER_FOUND) {
            return usage_error(args, "--marker %.100s: %s", text, fault);
        }
    }
    if (fit->markers.count == 0 && !markers_add_all(&fit->markers, scene, world)) {
        return exit_code(TDL_STATUS_NO_MEMORY);
    }
    if (fit->markers.count == 0) {
        fprintf(stderr, "%s: has nothing to mark\n", fit->scene);
        return EXIT_INPUT;
    }
    return EXIT_DONE;
}

static int choose_moments(Fit* fit, const TdlScene* scene) {
    TdlSceneInfo plan = tdl_scene_info(scene);
    double period = args_real(fit->args, "period", plan.frame_period);
    double moments = floor(plan.end / period + 1.0e-9) + 1.0;
    if (!(moments <= MOMENTS_MAX)) {
        return usage_error(fit->args, "%g moments are more than can be recorded", moments);
    }
    if (!tracks_create(fit->markers.count, (int)moments, &fit->data)) {
        return exit_code(TDL_STATUS_NO_MEMORY);
    }
    for (int n = 0; n < fit->data.moment_count; ++n) {
        fit->data.times[n] = n * period;
    }
    for (int i = 0; i < fit->markers.count; ++i) {
        memcpy(fit->data.names[i], fit->markers.items[i].name, MARKER_NAME_SIZE);
    }
    return EXIT_DONE;
}

// Runs the scene and puts its places into the data.
static int record(Fit* fit) {
    Trial trial;
    if (!trial_create(fit, &trial)) {
        trial_free(&trial);
        return exit_code(TDL_STATUS_NO_MEMORY);
    }
    trial_run(fit, NULL, &trial);
    TdlVec3* unused = fit->data.places;
    fit->data.places = trial.places;
    trial.places = unused;
    bool sound = trial.outcome == TRIAL_SOUND;
    if (!sound) {
        fprintf(stderr, "the run is not to be relied on, and nothing was written: %s\n",
                trial.outcome == TRIAL_STOPPED ? "it was stopped" : trial.reason);
    }
    trial_free(&trial);
    return sound ? EXIT_DONE : EXIT_FAILED;
}

static int write_data(const Fit* fit, const char* path) {
    const Tracks* data = &fit->data;
    FILE* file = output_open(path);
    if (file == NULL || !output_close(file, tracks_write(data, file))) {
        return output_failure();
    }
    if (args_has(fit->args, "json")) {
        printf("{\"output\": ");
        json_text(path);
        printf(", \"markers\": %d, \"moments\": %d, \"lost\": %ld}\n", data->marker_count,
               data->moment_count, tracks_lost(data));
    } else if (!args_has(fit->args, "quiet")) {
        fprintf(stderr, "Wrote %d markers at %d moments to %s; %ld places are lost\n",
                data->marker_count, data->moment_count, path, tracks_lost(data));
    }
    return EXIT_DONE;
}

int make_recording(Fit* fit, const TdlScene* scene, TdlWorld* world, const char* path) {
    int code = choose_markers(fit, scene, world);
    code = code == EXIT_DONE ? choose_moments(fit, scene) : code;
    code = code == EXIT_DONE ? record(fit) : code;
    if (code != EXIT_DONE) {
        return code;
    }
    tracks_spoil(&fit->data, args_real(fit->args, "noise", 0.0), args_real(fit->args, "lose", 0.0),
                 (unsigned)args_int(fit->args, "seed", 1));
    return write_data(fit, path);
}
