// Running a scene into a folder, and going on after any kind of end.
//
// What makes a resumed run the same, bit for bit:
// - A run always builds its world from the scene.yaml it has written, as a resumed one does.
// - A checkpoint is written only when all frames and rows it counts have been handed to the
//   system, so result.h5 and log.csv are never behind the checkpoint. A resume cuts what is ahead.
// - Frames fall on whole numbers of steps, never on sums of times.
// - When a step is done, a frame written or a checkpoint due has no influence on the state.
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "run/build.h"
#include "run/run_parts.h"
#include "run/summary.h"

#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Nobody waits for more steps than this; it keeps counts of steps in exact doubles.
static const double MAX_STEPS = 1.0e15;

// No scene we write comes near this.
static const size_t SCENE_LIMIT = (size_t)1 << 32;

static void run_init(Run* run, const TdlHost* host, const TdlRunDef* def) {
    *run = (Run){.host = *host, .def = def, .folder = {.fd = -1}, .started = clock_now()};
    run->saved_when = run->started;
    run->saved_step = -1;
}

static void run_destroy(Run* run) {
    result_writer_close(run->writer);
    step_log_close(&run->log);
    result_frame_destroy(&run->host, &run->frame);
    tdl_free(&run->host.mem, run->points);
    tdl_free(&run->host.mem, run->forces);
    tdl_free(&run->host.mem, run->joints);
    tdl_free(&run->host.mem, run->state);
    tdl_world_destroy(run->world);
    tdl_scene_destroy(run->scene);
    folder_close(&run->folder);
}

// --- scene and world -----------------------------------------------------------------------------

static TdlStatus hash_scene(const TdlHost* host, const char* directory, uint64_t* out) {
    char path[PATH_SIZE];
    char* text;
    size_t size;
    path_join(path, directory, "scene.yaml");
    TdlStatus status = file_read(host, path, SCENE_LIMIT, input_judge_text, &text, &size);
    if (status == TDL_STATUS_OK) {
        *out = hash_bytes(HASH_START, text, size);
        tdl_free(&host->mem, text);
    }
    return status;
}

// scene.yaml as it was when the run began.
static TdlStatus check_scene(const TdlHost* host, const char* directory, const Checkpoint* at) {
    uint64_t hash = 0;
    TdlStatus status = hash_scene(host, directory, &hash);
    if (status == TDL_STATUS_OK && hash != at->scene_hash) {
        status = tdl_fail(host, TDL_STATUS_BAD_INPUT,
                          "%s/scene.yaml: was changed after the run began, so the run cannot go "
                          "on as it was; run the changed scene into another folder",
                          directory);
    }
    return status;
}

static TdlStatus count_steps(Run* run) {
    double steps = run->plan.end / run->plan.step;
    double stride = run->plan.frame_period / run->plan.step;
    if (!(steps >= 0.0 && steps < MAX_STEPS)) {
        return tdl_fail(&run->host, TDL_STATUS_BAD_INPUT,
                        "%s: an end of %g s in steps of %g s is more than can be done",
                        run->folder.final_path, run->plan.end, run->plan.step);
    }
    run->at.step_total = llround(steps);
    run->frame_stride = stride >= 1.0 ? llround(fmin(stride, MAX_STEPS)) : 1;
    return TDL_STATUS_OK;
}

// Loads the folder's scene.yaml and builds its world.
static TdlStatus build_world(Run* run) {
    char path[PATH_SIZE];
    TdlStatus status =
        tdl_scene_load(&run->host, run_path(run, "scene.yaml", path), NULL, 0, &run->scene);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    run->plan = tdl_scene_info(run->scene);
    tdl_scene_watch_stop(run->scene, run->def->stop, run->def->stop_user);
    status = count_steps(run);
    if (status == TDL_STATUS_OK) {
        status = tdl_scene_build(run->scene, run->def->thread_count, &run->world);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (run->def->energy_limit == 0.0) {
        return status;
    }
    return tdl_world_set_energy_limit(run->world, run->def->energy_limit);
}

// --- checkpoints ---------------------------------------------------------------------------------

static void note_position(Run* run) {
    TdlEnergy energy = tdl_world_energy(run->world);
    run->at.step = tdl_world_step_count(run->world);
    run->at.time = tdl_world_time(run->world);
    run->at.kinetic = energy.kinetic;
    run->at.elastic = energy.elastic;
    run->at.gravity = energy.gravity;
    run->at.state_hash = tdl_world_state_hash(run->world);
    run->at.seconds = run->earlier_seconds + clock_now() - run->started;
    snprintf(run->at.build, sizeof run->at.build, "%s", build_name());
}

static TdlStatus write_state(Run* run) {
    char path[PATH_SIZE];
    size_t size = tdl_world_state_size(run->world);
    if (size > run->state_size) {
        void* grown = tdl_grow_array(&run->host.mem, run->state, size, 1);
        if (grown == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
        run->state = grown;
        run->state_size = size;
    }
    tdl_world_save_state(run->world, run->state);
    return checkpoint_write(&run->host, run_path(run, "checkpoint", path), &run->at, run->state,
                            size);
}

static TdlStatus save_checkpoint(Run* run) {
    char path[PATH_SIZE];
    note_position(run);
    // first what the checkpoint counts on
    TdlStatus status = step_log_mark(&run->log);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    run->at.log_size = run->log.mark.size;
    run->at.log_hash = run->log.mark.hash;
    status = file_sync(&run->host, run_path(run, "log.csv", path));
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = file_sync(&run->host, run_path(run, "result.h5", path));
    if (status != TDL_STATUS_OK) {
        return status;
    }
    // then the checkpoint itself
    status = write_state(run);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    run->saved_step = run->at.step;
    run->saved_when = clock_now();
    return TDL_STATUS_OK;
}

static TdlStatus load_state(Run* run, const char* state, size_t size) {
    TdlStatus status = tdl_world_load_state(run->world, state, size);
    if (status == TDL_STATUS_OK && tdl_world_state_hash(run->world) == run->at.state_hash &&
        tdl_world_step_count(run->world) == run->at.step) {
        return TDL_STATUS_OK;
    }
    return tdl_fail(&run->host, TDL_STATUS_BAD_INPUT,
                    "%s/checkpoint: does not fit the world of scene.yaml", run->folder.path);
}

// --- starting ------------------------------------------------------------------------------------

// Makes the folder, with the scene in it that a resume will read.
static TdlStatus start_folder(Run* run, const TdlScene* scene) {
    char path[PATH_SIZE];
    TdlStatus status = folder_begin(&run->host, run->def->directory, &run->folder);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = tdl_scene_write(scene, run_path(run, "scene.yaml", path));
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = file_sync(&run->host, run_path(run, "scene.yaml", path));
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return hash_scene(&run->host, run->folder.path, &run->at.scene_hash);
}

static TdlStatus settle(Run* run) {
    double residual = 0.0;
    TdlStatus status = tdl_world_settle(run->world, &residual);
    if (status != TDL_STATUS_OK && status != TDL_STATUS_STOPPED) {
        return tdl_fail(&run->host, status,
                        "no stable equilibrium to start from was found: residual %.3g of weight "
                        "times length",
                        residual);
    }
    return status;
}

// Tells of the first pairs of things that nothing keeps apart.
static void tell_sharp_pairs(Run* run) {
    enum { TELL_MOST = 5 };
    TdlSceneDoubt pairs[TELL_MOST];
    int count = tdl_scene_sharp_pairs(run->scene, TELL_MOST, pairs);
    for (int i = 0; i < count && i < TELL_MOST; ++i) {
        tdl_log(&run->host, TDL_LOG_WARNING, "%s", pairs[i].text);
    }
    if (count > TELL_MOST) {
        tdl_log(&run->host, TDL_LOG_WARNING, "pass through each other: %d pairs in all", count);
    }
}

// Tells which bodies overlap, by name, and fails where the scene or the barrier refuses that.
static TdlStatus tell_overlaps(Run* run) {
    enum { TELL_MOST = 5 };
    TdlOverlap worst[TELL_MOST];
    int count;
    TdlStatus status = tdl_world_overlaps(run->world, TELL_MOST, worst, &count);
    status = status == TDL_STATUS_OK ? tdl_world_check_start(run->world) : status;
    if (status != TDL_STATUS_OK || count == 0) {
        return status;
    }
    for (int i = 0; i < count && i < TELL_MOST; ++i) {
        char text[TDL_OVERLAP_TEXT_SIZE];
        tdl_overlap_text(run->world, &worst[i], text);
        tdl_log(&run->host, TDL_LOG_WARNING, "overlap at the start: %s", text);
    }
    if (count > TELL_MOST) {
        tdl_log(&run->host, TDL_LOG_WARNING, "overlap at the start: %d pairs in all", count);
    }
    if (tdl_scene_contacts(run->scene).refuse_overlap) {
        return tdl_fail(&run->host, TDL_STATUS_BAD_INPUT,
                        "things overlap at the start, which the scene refuses (contacts: start)");
    }
    return TDL_STATUS_OK;
}

// The world where it starts from: at rest if the scene asks for it, then as the caller wants it.
static TdlStatus start_world(Run* run) {
    TdlStatus status = build_world(run);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = run->plan.settle ? settle(run) : TDL_STATUS_OK;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    tell_sharp_pairs(run);
    const TdlRunDef* def = run->def;
    status = def->begin != NULL ? def->begin(def->begin_user, run->world) : TDL_STATUS_OK;
    return status == TDL_STATUS_OK ? tell_overlaps(run) : status;
}

static TdlStatus start_files(Run* run) {
    char path[PATH_SIZE];
    TdlStatus status = run_create_result(run, "result.h5");
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = step_log_create(&run->host, run_path(run, "log.csv", path), run->scene, &run->log);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return result_writer_go_live(run->writer);
}

static TdlStatus publish(Run* run) {
    char path[PATH_SIZE];
    TdlStatus status = folder_publish(&run->folder);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    result_writer_moved(run->writer, run_path(run, "result.h5", path));
    run_path(run, "log.csv", run->log.path);
    return TDL_STATUS_OK;
}

// Makes the folder with everything a resume needs, then shows it under its name.
static TdlStatus start(Run* run, const TdlScene* scene) {
    static TdlStatus (*const STAGES[])(Run*) = {start_world, start_files, run_write_frame,
                                                save_checkpoint, publish};
    TdlStatus status = start_folder(run, scene);
    for (size_t i = 0; status == TDL_STATUS_OK && i < sizeof STAGES / sizeof *STAGES; ++i) {
        status = STAGES[i](run);
    }
    return status;
}

static LogMark log_mark(const Checkpoint* at) {
    return (LogMark){.size = at->log_size, .rows = at->step, .hash = at->log_hash};
}

static TdlStatus check_log(const TdlHost* host, const char* directory, const Checkpoint* at) {
    char path[PATH_SIZE];
    LogMark mark = log_mark(at);
    path_join(path, directory, "log.csv");
    return step_log_check(host, path, &mark, at->build[0] != '\0');
}

// The same build goes on with the same bits; another one only where that was asked for.
static TdlStatus check_build(Run* run) {
    const char *was = run->at.build[0] == '\0' ? "an older one" : run->at.build, *is = build_name();
    if (strcmp(run->at.build, is) == 0) {
        return TDL_STATUS_OK;
    }
    if (!run->def->other_build) {
        return tdl_fail(&run->host, TDL_STATUS_BAD_INPUT,
                        "%s/checkpoint: written by another build of Tendril (%s), with which this "
                        "one (%s) need not agree to the last bit; --other-build goes on with it",
                        run->folder.path, was, is);
    }
    ++run->at.other_builds;
    tdl_log(&run->host, TDL_LOG_WARNING,
            "%s: from step %lld on by another build of Tendril: %s, until then %s",
            run->folder.path, (long long)run->at.step, is, was);
    return TDL_STATUS_OK;
}

// Brings the folder back to its checkpoint. `state` is the world's.
static TdlStatus reopen(Run* run, const char* state, size_t state_size) {
    char path[PATH_SIZE];
    TdlStatus status = check_scene(&run->host, run->folder.path, &run->at);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    int64_t step_total = run->at.step_total;
    status = build_world(run);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (step_total != run->at.step_total) {
        return tdl_fail(&run->host, TDL_STATUS_BAD_INPUT,
                        "%s/checkpoint: counts other steps than scene.yaml", run->folder.path);
    }
    status = load_state(run, state, state_size);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_log(&run->host, run->folder.path, &run->at);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    // from here on files are changed; each change can be repeated after a kill
    status = run_reopen_result(run);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    LogMark mark = log_mark(&run->at);
    status =
        step_log_resume(&run->host, run_path(run, "log.csv", path), run->scene, &mark, &run->log);
    if (status == TDL_STATUS_OK) {
        unlink(run_path(run, "summary.json", path));
    }
    return status;
}

// --- the loop ------------------------------------------------------------------------------------

static void note_failure(Run* run, const TdlStepInfo* info) {
    snprintf(run->at.failure, sizeof run->at.failure,
             "step %ld at %.6g s: ", tdl_world_step_count(run->world) + 1,
             tdl_world_time(run->world));
    size_t used = strlen(run->at.failure);
    tdl_world_tell_fault(run->world, info, sizeof run->at.failure - used, run->at.failure + used);
}

static TdlStatus do_step(Run* run, TdlStepInfo* info) {
    TdlStatus status = tdl_world_step(run->world, info);
    if (status == TDL_STATUS_DIVERGED) {
        note_failure(run, info);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    run->at.energy_rise = fmax(run->at.energy_rise, info->energy_rise);
    run->at.unsolved += info->unsolved > 0;
    run->at.forced += info->forced > 0;
    run->at.error = fmax(run->at.error, info->error);
    run->at.nowhere += info->nowhere;
    if (info->substeps > run->at.substeps_max) {
        run->at.substeps_max = info->substeps;
    }
    status = step_log_append(&run->log, info, run->world);
    bool due = info->step % run->frame_stride == 0 || info->step == run->at.step_total;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return due ? run_write_frame(run) : TDL_STATUS_OK;
}

static TdlStatus loop(Run* run) {
    const TdlRunDef* def = run->def;
    TdlStatus status = problem_saver_start(&run->saver, &run->host, &def->problems, run->world);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = query_saver_start(&run->query_saver, &run->host, &def->queries, run->world);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (def->watch != NULL) {
        def->watch(def->watch_user, run->world, NULL);
    }
    while (status == TDL_STATUS_OK && tdl_world_step_count(run->world) < run->at.step_total) {
        TdlStepInfo info;
        status = do_step(run, &info);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        if (run->saver.status != TDL_STATUS_OK) {
            return run->saver.status;
        }
        if (def->watch != NULL) {
            def->watch(def->watch_user, run->world, &info);
        }
        bool last = info.step == run->at.step_total;
        if (def->progress != NULL &&
            !def->progress(def->progress_user, &info, (long)run->at.step_total) && !last) {
            status = TDL_STATUS_STOPPED;
        } else if (!last && clock_now() - run->saved_when >= run->plan.checkpoint_period) {
            status = save_checkpoint(run);
        }
    }
    return status;
}

// --- the end -------------------------------------------------------------------------------------

static void tell_position(const Checkpoint* at, TdlRunInfo* info) {
    info->steps = (long)at->step;
    info->step_total = (long)at->step_total;
    info->frames = (long)at->frame_count;
    info->time = at->time;
    info->energy = (TdlEnergy){at->kinetic, at->elastic, at->gravity};
    info->energy_rise = at->energy_rise;
    info->substeps_max = (int)(at->substeps_max < INT_MAX ? at->substeps_max : INT_MAX);
    info->state_hash = at->state_hash;
    info->unsolved = (long)at->unsolved;
    info->error = at->error;
    info->forced = (long)at->forced;
    info->nowhere = at->nowhere;
    info->failed = at->failure[0] != '\0';
    snprintf(info->failure, sizeof info->failure, "%s", at->failure);
}

bool tdl_run_is_sound(const TdlRunInfo* info) {
    return !info->failed && info->forced == 0 && info->error <= TDL_UNSOLVED_ERROR;
}

static int thread_count(const TdlRunDef* def) {
    cpu_set_t set;
    if (def->thread_count == 0 && sched_getaffinity(0, sizeof set, &set) == 0) {
        return CPU_COUNT(&set);
    }
    return def->thread_count;
}

// The first of two that is not good.
static TdlStatus worse(TdlStatus first, TdlStatus second) {
    return first != TDL_STATUS_OK ? first : second;
}

// Saves where the run stands and closes the files. `status` tells how the loop ended.
static TdlStatus finish(Run* run, TdlStatus status, TdlRunInfo* info) {
    info->problems = run->saver.count;
    status = worse(status, problem_saver_end(&run->saver));
    info->queries = run->query_saver.count;
    status = worse(status, query_saver_end(&run->query_saver));
    TdlStatus closing = TDL_STATUS_OK;
    bool savable =
        status == TDL_STATUS_OK || status == TDL_STATUS_STOPPED || status == TDL_STATUS_DIVERGED;
    bool failed = status == TDL_STATUS_DIVERGED;
    if (savable && (failed || run->saved_step != tdl_world_step_count(run->world))) {
        closing = save_checkpoint(run);
    }
    note_position(run);
    tell_position(&run->at, info);
    info->steps_here = (long)(run->at.step - run->first_step);
    info->seconds = clock_now() - run->started;
    closing = worse(closing, result_writer_close(run->writer));
    run->writer = NULL;
    closing = worse(closing, step_log_close(&run->log));
    if (!savable || closing != TDL_STATUS_OK) {
        return savable ? closing : status;
    }
    char path[PATH_SIZE];
    info->finished = run->at.step == run->at.step_total;
    Summary summary = {.title = run->plan.title,
                       .status = status,
                       .info = *info,
                       .seconds = run->at.seconds,
                       .threads = thread_count(run->def),
                       .build = run->at.build,
                       .other_builds = (long)run->at.other_builds,
                       .has_grains = run->plan.has_grains,
                       .grains = result_bed_state(run->world)};
    return worse(summary_write(&run->host, run_path(run, "summary.json", path), &summary), status);
}

TdlStatus tdl_run(const TdlHost* host, const TdlScene* scene, const TdlRunDef* def,
                  TdlRunInfo* info) {
    TdlRunInfo unused;
    info = info == NULL ? &unused : info;
    *info = (TdlRunInfo){.steps = -1};
    Run run;
    run_init(&run, host, def);
    TdlStatus status = start(&run, scene);
    if (status == TDL_STATUS_OK) {
        status = finish(&run, loop(&run), info);
    }
    run_destroy(&run);
    return status;
}

// Whether the files of a finished run are there as far as the checkpoint counts on them.
static bool is_finished(const char* directory, const Checkpoint* at) {
    char path[PATH_SIZE];
    struct stat info;
    TdlHost silent = tdl_host_default();
    TdlResult* result;
    path_join(path, directory, "summary.json");
    if (at->step != at->step_total || !path_exists(path)) {
        return false;
    }
    path_join(path, directory, "log.csv");
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size != at->log_size ||
        tdl_result_open(&silent, directory, &result) != TDL_STATUS_OK) {
        return false;
    }
    bool whole = tdl_result_info(result).frame_count == at->frame_count;
    tdl_result_close(result);
    return whole;
}

static TdlStatus resume_locked(Run* run, TdlRunInfo* info) {
    char path[PATH_SIZE];
    char* state;
    size_t size;
    TdlStatus status =
        checkpoint_read(&run->host, run_path(run, "checkpoint", path), &run->at, &state, &size);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    tell_position(&run->at, info);
    info->finished = is_finished(run->folder.path, &run->at);
    if (info->finished) {
        tdl_free(&run->host.mem, state);
        return TDL_STATUS_OK;
    }
    if (info->failed) {
        tdl_log(&run->host, TDL_LOG_WARNING, "%s failed here before: %s", run->folder.path,
                info->failure);
    }
    status = check_build(run);
    if (status != TDL_STATUS_OK) {
        tdl_free(&run->host.mem, state);
        return status;
    }
    memset(run->at.failure, 0, sizeof run->at.failure);
    run->first_step = run->saved_step = run->at.step;
    run->earlier_seconds = run->at.seconds;
    status = reopen(run, state, size);
    tdl_free(&run->host.mem, state);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return finish(run, loop(run), info);
}

TdlStatus tdl_run_resume(const TdlHost* host, const TdlRunDef* def, TdlRunInfo* info) {
    TdlRunInfo unused;
    info = info == NULL ? &unused : info;
    *info = (TdlRunInfo){.steps = -1};
    Run run;
    run_init(&run, host, def);
    TdlStatus status = folder_lock(host, def->directory, &run.folder);
    if (status == TDL_STATUS_OK) {
        status = resume_locked(&run, info);
    }
    run_destroy(&run);
    return status;
}

TdlStatus tdl_run_inspect(const TdlHost* host, const char* directory, TdlRunInfo* info,
                          TdlStepInfo* last, bool* running) {
    TdlStatus status = path_check(host, directory);
    char path[PATH_SIZE];
    Checkpoint at;
    *info = (TdlRunInfo){0};
    if (status == TDL_STATUS_OK) {
        path_join(path, directory, "checkpoint");
        status = checkpoint_read(host, path, &at, NULL, NULL);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    tell_position(&at, info);
    info->finished = is_finished(directory, &at);
    if (running != NULL) {
        *running = folder_is_busy(directory);
    }
    if (last != NULL) {
        path_join(path, directory, "log.csv");
        status = step_log_last(host, path, last);
    }
    return status;
}

TdlStatus tdl_run_verify(const TdlHost* host, const char* directory) {
    TdlStatus status = path_check(host, directory);
    char path[PATH_SIZE];
    Checkpoint at;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    path_join(path, directory, "checkpoint");
    status = checkpoint_read(host, path, &at, NULL, NULL);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_scene(host, directory, &at);
    return status == TDL_STATUS_OK ? check_log(host, directory, &at) : status;
}
