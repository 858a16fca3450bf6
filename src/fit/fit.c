// One run of a scene beside a recording, and its error. Cost: that of the run; markers add one look
// at the world a step.
#include "fit/fit.h"

#include "app/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OVERRIDE_SIZE = PARAMETER_PATH_SIZE + 40 };

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1.0e-9 * (double)t.tv_nsec;
}

bool trial_create(const Fit* fit, Trial* out) {
    size_t moments = (size_t)fit->data.moment_count, markers = (size_t)fit->data.marker_count;
    *out = (Trial){.places = calloc(moments * markers + 1, sizeof *out->places),
                   .curve = calloc(moments + 1, sizeof *out->curve)};
    return out->places != NULL && out->curve != NULL;
}

void trial_free(Trial* trial) {
    free(trial->places);
    free(trial->curve);
    *trial = (Trial){0};
}

// --- the run -------------------------------------------------------------------------------------

// The first error that is told is why a run failed; the rest is not of interest.
static void keep_first(void* user, TdlLogLevel level, const char* message) {
    Trial* trial = user;
    if (level == TDL_LOG_ERROR && trial->reason[0] == '\0') {
        snprintf(trial->reason, sizeof trial->reason, "%s", message);
    }
}

static void fail(Trial* trial, const char* why) {
    trial->outcome = TRIAL_FAILED;
    if (trial->reason[0] == '\0') {
        snprintf(trial->reason, sizeof trial->reason, "%s", why);
    }
}

static TdlScene* load(const Fit* fit, const double* values, Trial* trial) {
    char texts[PARAMETERS_MAX][OVERRIDE_SIZE];
    TdlHost host = *args_host(fit->args);
    host.log = keep_first;
    host.log_user = trial;
    int count = fit->set_count;
    for (int i = 0; i < fit->parameter_count && values != NULL; ++i) {
        snprintf(texts[i], OVERRIDE_SIZE, "%s=%.17g", fit->parameters[i].path, values[i]);
        fit->sets[count++] = texts[i];
    }
    TdlScene* scene = NULL;
    TdlStatus status = tdl_scene_load(&host, fit->scene, fit->sets, count, &scene);
    if (status != TDL_STATUS_OK) {
        fail(trial, tdl_status_string(status));
    }
    return scene;
}

// As a run starts: at rest where the scene asks for it, and refused where it refuses overlaps.
static TdlStatus start(const TdlScene* scene, TdlWorld* world, Trial* trial) {
    double residual;
    int overlaps = 0;
    TdlStatus status =
        tdl_scene_info(scene).settle ? tdl_world_settle(world, &residual) : TDL_STATUS_OK;
    if (status == TDL_STATUS_OK && tdl_scene_contacts(scene).refuse_overlap) {
        status = tdl_world_overlaps(world, 0, NULL, &overlaps);
    }
    if (overlaps > 0) {
        fail(trial, "things overlap at the start, which the scene refuses");
        return TDL_STATUS_BAD_INPUT;
    }
    return status;
}

static bool asked_to_stop(void* user) {
    (void)user;
    return terminal_stop_asked();
}

// Places at the moments up to now, between those before the step and after it. (G.1)
static void note_moments(const Fit* fit, Trial* trial, double before, double now, bool last,
                         const TdlVec3* from, const TdlVec3* to) {
    int markers = fit->data.marker_count;
    // a moment that rounding puts behind the end of the step is at its end
    double slack = 1.0e-6 * (now - before);
    for (; trial->reached < fit->data.moment_count; ++trial->reached) {
        double t = fit->data.times[trial->reached];
        if (t > now + (last ? slack : 0.0)) {
            break;
        }
        double share = now > before ? fmin((t - before) / (now - before), 1.0) : 1.0;
        TdlVec3* out = trial->places + (size_t)trial->reached * (size_t)markers;
        for (int i = 0; i < markers; ++i) {
            out[i] = tdl_axpy3(tdl_scale3(1.0 - share, from[i]), share, to[i]);
        }
    }
}

static void note_doubts(const TdlStepInfo* info, Trial* trial) {
    bool forced = info->forced > 0, unsolved = info->error > TDL_UNSOLVED_ERROR;
    if ((forced || unsolved) && trial->outcome == TRIAL_SOUND) {
        trial->outcome = TRIAL_DOUBTFUL;
        snprintf(trial->reason, sizeof trial->reason, "%s at %.4g s",
                 forced ? "a step was kept though it could not stay" : "contacts were not solved",
                 info->time);
    }
}

// Steps until all moments were met.
static void follow(Fit* fit, TdlScene* scene, TdlWorld* world, TdlVec3* from, TdlVec3* to,
                   Trial* trial) {
    TdlSceneInfo plan = tdl_scene_info(scene);
    long total = lround(plan.end / plan.step);
    markers_locate(&fit->markers, world, to);
    note_moments(fit, trial, 0.0, 0.0, false, to, to);
    for (long step = 0; step < total && trial->reached < fit->data.moment_count; ++step) {
        TdlStepInfo info;
        TdlVec3* swap = from;
        from = to;
        to = swap;
        double before = tdl_world_time(world);
        TdlStatus status = tdl_world_step(world, &info);
        if (status == TDL_STATUS_STOPPED || terminal_stop_asked()) {
            trial->outcome = TRIAL_STOPPED;
            return;
        }
        if (status != TDL_STATUS_OK) {
            if (status == TDL_STATUS_DIVERGED) {
                tdl_world_tell_fault(world, &info, sizeof trial->reason, trial->reason);
            }
            fail(trial, tdl_status_string(status));
            return;
        }
        note_doubts(&info, trial);
        markers_locate(&fit->markers, world, to);
        note_moments(fit, trial, before, tdl_world_time(world), step + 1 == total, from, to);
    }
}

static void run_scene(Fit* fit, TdlScene* scene, Trial* out) {
    size_t markers = (size_t)fit->data.marker_count;
    TdlVec3* room = calloc(2 * markers + 1, sizeof *room);
    TdlWorld* world = NULL;
    TdlStatus status = room == NULL
                           ? TDL_STATUS_NO_MEMORY
                           : tdl_scene_build(scene, args_int(fit->args, "threads", 0), &world);
    if (status == TDL_STATUS_OK) {
        tdl_world_watch_stop(world, asked_to_stop, NULL);
        status = start(scene, world, out);
    }
    if (status == TDL_STATUS_OK) {
        follow(fit, scene, world, room, room + markers, out);
    } else {
        fail(out, tdl_status_string(status));
    }
    tdl_world_destroy(world);
    free(room);
}

void trial_run(Fit* fit, const double* values, Trial* out) {
    double begun = cpu_now();
    out->outcome = TRIAL_SOUND;
    out->reason[0] = '\0';
    out->reached = 0;
    TdlScene* scene = load(fit, values, out);
    if (scene != NULL) {
        run_scene(fit, scene, out);
    }
    tdl_scene_destroy(scene);
    trial_judge(fit, out);
    out->seconds = cpu_now() - begun;
}

// --- its error -----------------------------------------------------------------------------------

// The error of one moment and the standard deviation over its markers, (G.2) and (G.4).
static void judge_moment(const Fit* fit, const TdlVec3* here, const TdlVec3* there, double* error,
                         double* spread) {
    double mass = 0.0, squares = 0.0, sum = 0.0, sum_squares = 0.0;
    int seen = 0;
    for (int i = 0; i < fit->data.marker_count; ++i) {
        if (isnan(there[i].x)) {
            continue;
        }
        double m = fit->markers.items[i].mass, d = tdl_norm3(tdl_sub3(here[i], there[i]));
        mass += m;
        squares += m * d * d;
        sum += d;
        sum_squares += d * d;
        ++seen;
    }
    *error = seen == 0 ? NAN : sqrt(squares / mass);
    *spread = seen == 0 ? NAN : sqrt(fmax(sum_squares / seen - sum / seen * (sum / seen), 0.0));
}

void trial_judge(const Fit* fit, Trial* trial) {
    double errors = 0.0, spreads = 0.0;
    int count = fit->data.moment_count;
    for (int n = 0; n < count; ++n) {
        size_t row = (size_t)n * (size_t)fit->data.marker_count;
        double spread;
        judge_moment(fit, trial->places + row, fit->data.places + row, &trial->curve[n], &spread);
        if (n >= trial->reached) {
            trial->curve[n] = fit->reach;
            spread = 0.0;
        }
        errors += trial->curve[n];
        spreads += spread;
    }
    trial->error = errors / count;
    trial->spread = spreads / count;
}

// --- telling -------------------------------------------------------------------------------------

static const char* const OUTCOMES[] = {"sound", "doubtful", "failed", "stopped"};

// The end of a path that tells which parameter it is: "damping", "velocity.0".
static const char* short_name(const char* path) {
    const char* at = path + strlen(path);
    while (at > path && (at[-1] != '.' || (*at >= '0' && *at <= '9'))) {
        --at;
    }
    return at;
}

static void tell_line(const Fit* fit, const char* phase, const double* values, const Trial* trial) {
    fprintf(stderr, "%4d %-6s error %.4g mm, best %.4g mm; ", fit->count, phase,
            1.0e3 * trial->error, 1.0e3 * fit->best);
    for (int i = 0; i < fit->parameter_count; ++i) {
        fprintf(stderr, "%s %.5g, ", short_name(fit->parameters[i].path), values[i]);
    }
    fprintf(stderr, "%.2g s", trial->seconds);
    if (trial->outcome != TRIAL_SOUND) {
        fprintf(stderr, "; %s: %s", OUTCOMES[trial->outcome], trial->reason);
    }
    fputc('\n', stderr);
}

static void tell_row(const Fit* fit, const char* phase, const double* values, const Trial* trial) {
    fprintf(fit->table, "%d,%s", fit->count, phase);
    for (int i = 0; i < fit->parameter_count; ++i) {
        fprintf(fit->table, ",%.17g", values[i]);
    }
    fprintf(fit->table, ",%.17g,%s,%.3g\n", trial->error, OUTCOMES[trial->outcome], trial->seconds);
    fflush(fit->table); // it can be read while the search goes on
}

void trial_tell(Fit* fit, const char* phase, const double* values, Trial* out) {
    trial_run(fit, values, out);
    if (out->outcome == TRIAL_STOPPED) {
        return;
    }
    ++fit->count;
    fit->failed += out->outcome == TRIAL_FAILED;
    if (out->outcome != TRIAL_FAILED) {
        fit->best = fmin(fit->best, out->error); // which passes over NaN
        fit->reach = fmax(fit->reach, 2.0 * out->error);
    }
    if (!args_has(fit->args, "quiet")) {
        tell_line(fit, phase, values, out);
    }
    if (fit->table != NULL) {
        tell_row(fit, phase, values, out);
    }
}
