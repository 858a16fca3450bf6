// The recording that a scene is to follow: its markers are given their places in the scene, and of
// its moments those are kept that the run has.
#include "fit/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_TOLD = 8 };

// Which of the recorded moments and places were not used.
typedef struct LeftOut {
    int markers, early, late, empty;
    char names[300]; // of the first of these markers
} LeftOut;

// Where the scene has a marker: as --marker says, else its name is the place.
static const char* place_of(const Args* args, const char* name) {
    size_t length = strlen(name);
    for (int i = 0; i < args_count(args, "marker"); ++i) {
        const char* text = args_text_at(args, "marker", i);
        if (strncmp(text, name, length) == 0 && text[length] == '=') {
            return text + length + 1;
        }
    }
    return name;
}

// An option --marker that no column of the recording has is a mistake.
static int check_given(const Args* args, const Tracks* tracks) {
    for (int i = 0; i < args_count(args, "marker"); ++i) {
        const char* text = args_text_at(args, "marker", i);
        size_t length = strcspn(text, "=");
        bool there = false;
        for (int k = 0; k < tracks->marker_count && text[length] == '='; ++k) {
            there = there || (strlen(tracks->names[k]) == length &&
                              strncmp(tracks->names[k], text, length) == 0);
        }
        if (text[length] != '=') {
            return usage_error(args, "with a recording --marker is written NAME=PLACE: '%.100s'",
                               text);
        }
        if (!there) {
            return usage_error(args, "the recording has no marker '%.*s'", (int)length, text);
        }
    }
    return EXIT_DONE;
}

// Finds the places of the markers; kept[i] is one's number among those found, or -1.
static int place_markers(Fit* fit, const TdlScene* scene, TdlWorld* world, const Tracks* tracks,
                         int* kept, LeftOut* left) {
    for (int i = 0; i < tracks->marker_count; ++i) {
        char fault[MARKER_FAULT_SIZE];
        const char *name = tracks->names[i], *place = place_of(fit->args, name);
        MarkerAnswer answer = markers_add(&fit->markers, scene, world, name, place, fault);
        if (answer == MARKER_WRONG || (answer == MARKER_UNKNOWN && place != name)) {
            fprintf(stderr, "%s:1: marker '%s': %s\n", args_text(fit->args, "data", ""), name,
                    fault);
            return EXIT_INPUT;
        }
        kept[i] = answer == MARKER_FOUND ? fit->markers.count - 1 : -1;
        if (kept[i] < 0 && left->markers++ < NAMES_TOLD) {
            size_t used = strlen(left->names);
            snprintf(left->names + used, sizeof left->names - used, "%s%.30s", used > 0 ? ", " : "",
                     name);
        }
    }
    if (fit->markers.count > 0) {
        return EXIT_DONE;
    }
    fprintf(stderr,
            "%s:1: none of the markers is a place of the scene: call columns as places, such as "
            "towel:12.x, or say --marker NAME=PLACE\n",
            args_text(fit->args, "data", ""));
    return EXIT_INPUT;
}

// A recorded place in the scene's units and axes.
static TdlVec3 turn_place(TdlVec3 p, double scale, bool y_up) {
    p = tdl_scale3(scale, p);
    return y_up ? (TdlVec3){p.x, -p.z, p.y} : p;
}

// Copies what was recorded of the markers that have a place, at moments of the run.
static int choose_moments(Fit* fit, const Tracks* tracks, const int* kept, double end,
                          LeftOut* left) {
    const Args* args = fit->args;
    double scale = args_real(args, "scale", 1.0), delay = args_real(args, "delay", 0.0);
    bool y_up = strcmp(args_text(args, "up", "z"), "y") == 0;
    if (!tracks_create(fit->markers.count, tracks->moment_count, &fit->data)) {
        return exit_code(TDL_STATUS_NO_MEMORY);
    }
    int count = 0;
    for (int n = 0; n < tracks->moment_count; ++n) {
        double time = tracks->times[n] + delay;
        TdlVec3* row = fit->data.places + (size_t)count * (size_t)fit->markers.count;
        int seen = 0;
        for (int i = 0; i < tracks->marker_count; ++i) {
            TdlVec3 p = tracks->places[(size_t)n * (size_t)tracks->marker_count + (size_t)i];
            if (kept[i] >= 0) {
                row[kept[i]] = turn_place(p, scale, y_up);
                seen += !isnan(p.x);
            }
        }
        bool early = !(time > 0.0), late = time > end * (1.0 + 1.0e-9);
        left->early += early;
        left->late += late;
        left->empty += !early && !late && seen == 0;
        fit->data.times[count] = time;
        count += !early && !late && seen > 0;
    }
    fit->data.moment_count = count;
    for (int i = 0; i < fit->markers.count; ++i) {
        memcpy(fit->data.names[i], fit->markers.items[i].name, MARKER_NAME_SIZE);
    }
    if (count == 0) {
        fprintf(stderr, "%s: nothing was recorded between 0 and %g s, the end of the scene\n",
                args_text(args, "data", ""), end);
        return EXIT_INPUT;
    }
    return EXIT_DONE;
}

// The diagonal of a box around all that was recorded.
static double reach_of(const Tracks* data) {
    TdlVec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t k = 0; k < (size_t)data->moment_count * (size_t)data->marker_count; ++k) {
        TdlVec3 p = data->places[k]; // fmin and fmax pass over NaN
        low = (TdlVec3){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
        high = (TdlVec3){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
    }
    return fmax(tdl_norm3(tdl_sub3(high, low)), 1.0e-3);
}

static void tell_data(const Fit* fit, const LeftOut* left) {
    long places = (long)fit->data.moment_count * fit->data.marker_count;
    fprintf(stderr, "%d markers at %d moments; %ld of %ld places are lost and left out (%.3g %%)\n",
            fit->data.marker_count, fit->data.moment_count, tracks_lost(&fit->data), places,
            100.0 * (double)tracks_lost(&fit->data) / (double)places);
    if (left->early + left->late + left->empty > 0) {
        fprintf(stderr,
                "moments left out: %d at or before 0 s, %d after the end of the scene, %d without "
                "any marker\n",
                left->early, left->late, left->empty);
    }
    if (left->markers > 0) {
        fprintf(stderr, "markers without a place in the scene, left out: %s%s (%d)\n", left->names,
                left->markers > NAMES_TOLD ? ", ..." : "", left->markers);
    }
}

int fit_read_data(Fit* fit, const TdlScene* scene, TdlWorld* world) {
    const char* path = args_text(fit->args, "data", NULL);
    FILE* in;
    TdlStatus status = tdl_input_open(args_host(fit->args), path, &in);
    if (status != TDL_STATUS_OK) {
        return exit_code(status);
    }
    Tracks tracks;
    LeftOut left = {0};
    int code = tracks_read(in, path, stderr, &tracks);
    fclose(in);
    if (code != EXIT_DONE) {
        return code;
    }
    int* kept = calloc((size_t)tracks.marker_count + 1, sizeof *kept);
    code = kept == NULL ? exit_code(TDL_STATUS_NO_MEMORY) : check_given(fit->args, &tracks);
    code = code == EXIT_DONE ? place_markers(fit, scene, world, &tracks, kept, &left) : code;
    code = code == EXIT_DONE ? choose_moments(fit, &tracks, kept, tdl_scene_info(scene).end, &left)
                             : code;
    if (code == EXIT_DONE) {
        markers_weigh(&fit->markers, world);
        fit->reach = reach_of(&fit->data);
        tell_data(fit, &left); // also where quiet: what is left out is no detail
    }
    free(kept);
    tracks_free(&tracks);
    return code;
}
