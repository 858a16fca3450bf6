// Running a scene into a folder, and going on after any kind of end.
//
// What makes a resumed run the same, bit for bit:
// - A run always builds its world from the scene.yaml it has written, as a resumed one does.
// - A checkpoint is written only when all frames and rows it counts have been handed to the
//   system, so result.h5 and log.csv are never behind the checkpoint. A resume cuts what is ahead.
// - Frames fall on whole numbers of steps, never on sums of times.
// - When a step is done, a frame written or a checkpoint due has no influence on the state.
#include "tendril/run.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "result/checkpoint.h"
#include "result/result.h"
#include "run/folder.h"
#include "run/problem_save.h"
#include "run/step_log.h"
#include "run/summary.h"

#include <limits.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

// Nobody waits for more steps than this; it keeps counts of steps in exact doubles.
static const double MAX_STEPS = 1.0e15;

// A frame keeps so many contacts at most; log.csv counts all.
enum { MAX_CONTACTS = 1000000 };

// No scene we write comes near this.
static const size_t SCENE_LIMIT = (size_t)1 << 32;

typedef struct Run {
    TdlHost host;
    const TdlRunDef* def;
    Folder folder;
    TdlScene* scene;
    TdlSceneInfo plan;
    TdlWorld* world;
    ResultWriter* writer;
    ResultFrame frame;
    TdlVec3* points; // scratch of one rod, or of all surfaces
    StepLog log;
    void* state; // scratch for the world's bytes
    size_t state_size;
    int64_t frame_stride; // steps between frames
    Checkpoint at;        // where the run stands now
    int64_t saved_step;   // of the checkpoint on disk
    double started, saved_when, earlier_seconds;
    int64_t first_step;
    ProblemSaver saver;
    QuerySaver query_saver;
} Run;

static const char* run_path(const Run* run, const char* name, char buffer[PATH_SIZE]) {
    path_join(buffer, run->folder.path, name);
    return buffer;
}

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
    tdl_free(&run->host.mem, run->state);
    tdl_world_destroy(run->world);
    tdl_scene_destroy(run->scene);
    folder_close(&run->folder);
}

// --- scene and world -----------------------------------------------------------------------------

static TdlStatus hash_scene(Run* run, uint64_t* out) {
    char path[PATH_SIZE];
    char* text;
    size_t size;
    TdlStatus status =
        file_read(&run->host, run_path(run, "scene.yaml", path), SCENE_LIMIT, &text, &size);
    if (status == TDL_STATUS_OK) {
        *out = hash_bytes(HASH_START, text, size);
        tdl_free(&run->host.mem, text);
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

// --- result --------------------------------------------------------------------------------------

static int count_bodies(const TdlWorld* world, const char* kind) {
    return tdl_world_bodies(world, kind, 0, NULL);
}

static void describe_bodies(const Run* run, ResultRod* rods, ResultCollider* colliders,
                            ResultBody* bodies, int* points_most) {
    *points_most = 1;
    for (int i = 0; i < count_bodies(run->world, "rod"); ++i) {
        TdlRodInfo info = {0};
        tdl_rod_info(run->world, tdl_world_body(run->world, "rod", i), &info);
        rods[i] = (ResultRod){.model = info.model,
                              .element_count = info.element_count,
                              .point_count = info.element_count * run->plan.samples + 1,
                              .dof_count = info.dof_count,
                              .length = info.length,
                              .radius = {info.radius[0], info.radius[1]},
                              .mass = info.mass};
        *points_most = rods[i].point_count > *points_most ? rods[i].point_count : *points_most;
    }
    for (int i = 0; i < count_bodies(run->world, "collider"); ++i) {
        TdlColliderDef def = {0};
        tdl_collider_def(run->world, tdl_world_body(run->world, "collider", i), &def);
        bool plane = def.shape == TDL_SHAPE_PLANE;
        colliders[i] = (ResultCollider){def.shape, plane ? 0.0 : def.radius,
                                        def.shape == TDL_SHAPE_CAPSULE ? def.length : 0.0};
    }
    for (int i = 0; i < count_bodies(run->world, "rigid"); ++i) {
        TdlRigidDef def = {0};
        tdl_rigid_def(run->world, tdl_world_body(run->world, "rigid", i), &def);
        bodies[i] = (ResultBody){def.shape};
    }
}

static void describe_observers(const Run* run, TdlResultObserver* out) {
    for (int i = 0; i < run->plan.observer_count; ++i) {
        TdlSceneObserver observer = tdl_scene_observer(run->scene, i);
        snprintf(out[i].name, sizeof out[i].name, "%s", observer.name);
        snprintf(out[i].quantity, sizeof out[i].quantity, "%s", observer.quantity);
        snprintf(out[i].unit, sizeof out[i].unit, "%s", observer.unit);
    }
}

// Creates the result file under the given name, without frames, and the scratch for frames.
static TdlStatus create_result(Run* run, const char* name) {
    size_t rod_count = (size_t)count_bodies(run->world, "rod");
    size_t collider_count = (size_t)count_bodies(run->world, "collider");
    ResultRod* rods = tdl_alloc_array(&run->host.mem, rod_count, sizeof *rods);
    ResultCollider* colliders = tdl_alloc_array(&run->host.mem, collider_count, sizeof *colliders);
    size_t body_count = (size_t)count_bodies(run->world, "rigid");
    ResultBody* bodies = tdl_alloc_array(&run->host.mem, body_count, sizeof *bodies);
    int shape_count = tdl_world_shapes(run->world, NULL);
    TdlResultShape* shapes = tdl_alloc_array(&run->host.mem, (size_t)shape_count, sizeof *shapes);
    int observer_count = run->plan.observer_count;
    TdlResultObserver* observers =
        tdl_alloc_array(&run->host.mem, (size_t)observer_count, sizeof *observers);
    int surface_count = tdl_world_surfaces(run->world, NULL);
    TdlResultSurface* surfaces =
        tdl_alloc_array(&run->host.mem, (size_t)surface_count, sizeof *surfaces);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (rods != NULL && colliders != NULL && bodies != NULL && shapes != NULL &&
        observers != NULL && surfaces != NULL) {
        int points_most;
        describe_observers(run, observers);
        describe_bodies(run, rods, colliders, bodies, &points_most);
        tdl_world_shapes(run->world, shapes);
        tdl_world_surfaces(run->world, surfaces);
        ResultDef def = {.title = run->plan.title,
                         .step = run->plan.step,
                         .step_total = run->at.step_total,
                         .samples = run->plan.samples,
                         .rod_count = (int)rod_count,
                         .collider_count = (int)collider_count,
                         .body_count = (int)body_count,
                         .shape_count = shape_count,
                         .rods = rods,
                         .colliders = colliders,
                         .bodies = bodies,
                         .shapes = shapes,
                         .observer_count = observer_count,
                         .observers = observers,
                         .surface_count = surface_count,
                         .surfaces = surfaces};
        char path[PATH_SIZE];
        status = result_writer_create(&run->host, run_path(run, name, path), &def, &run->writer);
        int vertices =
            status == TDL_STATUS_OK ? result_writer_counts(run->writer).surface_points : 0;
        points_most = vertices > points_most ? vertices : points_most;
        run->points = tdl_alloc_array(&run->host.mem, (size_t)points_most, sizeof *run->points);
    }
    if (status == TDL_STATUS_OK) {
        status = result_frame_create(&run->host, result_writer_counts(run->writer), &run->frame);
    }
    if (status == TDL_STATUS_OK && run->points == NULL) {
        status = TDL_STATUS_NO_MEMORY;
    }
    tdl_free(&run->host.mem, surfaces);
    tdl_free(&run->host.mem, observers);
    tdl_free(&run->host.mem, shapes);
    tdl_free(&run->host.mem, bodies);
    tdl_free(&run->host.mem, rods);
    tdl_free(&run->host.mem, colliders);
    return status;
}

static void observe_rods(Run* run) {
    float* p = run->frame.points;
    double *q = run->frame.q, *v = run->frame.v;
    for (int i = 0; i < count_bodies(run->world, "rod"); ++i) {
        TdlBodyId rod = tdl_world_body(run->world, "rod", i);
        TdlRodInfo info = {0};
        const double *own_q, *own_v;
        tdl_rod_info(run->world, rod, &info);
        tdl_rod_coordinates(run->world, rod, &own_q);
        tdl_rod_velocities(run->world, rod, &own_v);
        int count = info.element_count * run->plan.samples + 1;
        tdl_rod_points(run->world, rod, run->plan.samples, run->points);
        for (int k = 0; k < count; ++k) {
            *p++ = (float)run->points[k].x;
            *p++ = (float)run->points[k].y;
            *p++ = (float)run->points[k].z;
        }
        size_t size = (size_t)info.dof_count * sizeof(double);
        memcpy(q, own_q, size);
        memcpy(v, own_v, size);
        q += info.dof_count;
        v += info.dof_count;
    }
}

static void observe_surfaces(Run* run) {
    float* p = run->frame.surface_points;
    int count = result_writer_counts(run->writer).surface_points;
    tdl_world_surface_points(run->world, run->points);
    for (int k = 0; k < count; ++k) {
        *p++ = (float)run->points[k].x;
        *p++ = (float)run->points[k].y;
        *p++ = (float)run->points[k].z;
    }
}

static void observe_poses(Run* run) {
    TdlPose pose = {0};
    for (int i = 0; i < count_bodies(run->world, "collider"); ++i) {
        tdl_collider_pose(run->world, tdl_world_body(run->world, "collider", i), &pose);
        result_pack_pose(pose, run->frame.poses + 12 * i);
    }
    for (int i = 0; i < count_bodies(run->world, "rigid"); ++i) {
        tdl_rigid_pose(run->world, tdl_world_body(run->world, "rigid", i), &pose);
        result_pack_pose(pose, run->frame.body_poses + 12 * i);
    }
}

static TdlStatus observe_contacts(Run* run) {
    int count = tdl_world_result_contacts(run->world, 0, NULL);
    count = !run->plan.contacts ? 0 : count > MAX_CONTACTS ? MAX_CONTACTS : count;
    TdlStatus status = result_frame_reserve(&run->host, &run->frame, count);
    if (status == TDL_STATUS_OK) {
        tdl_world_result_contacts(run->world, count, run->frame.contacts);
        run->frame.contact_count = count;
    }
    return status;
}

static TdlStatus write_frame(Run* run) {
    TdlEnergy energy = tdl_world_energy(run->world);
    run->frame.time = tdl_world_time(run->world);
    run->frame.step = tdl_world_step_count(run->world);
    run->frame.energy[0] = energy.kinetic;
    run->frame.energy[1] = energy.elastic;
    run->frame.energy[2] = energy.gravity;
    observe_rods(run);
    observe_surfaces(run);
    observe_poses(run);
    for (int i = 0; i < run->plan.observer_count; ++i) {
        tdl_store3(run->frame.observed, i, tdl_scene_observe(run->scene, i, run->world));
    }
    TdlStatus status = observe_contacts(run);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = result_writer_append(run->writer, &run->frame);
    run->at.frame_count = result_writer_frame_count(run->writer);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    // rows reach the log at least as often as frames reach the result
    return step_log_flush(&run->log, NULL);
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
    TdlStatus status = step_log_flush(&run->log, &run->at.log_size);
    if (status != TDL_STATUS_OK) {
        return status;
    }
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
    return hash_scene(run, &run->at.scene_hash);
}

static TdlStatus settle(Run* run) {
    double residual = 0.0;
    TdlStatus status = tdl_world_settle(run->world, &residual);
    if (status != TDL_STATUS_OK) {
        return tdl_fail(&run->host, status,
                        "no stable equilibrium to start from was found: residual %.3g of weight "
                        "times length",
                        residual);
    }
    return status;
}

// Tells which bodies overlap, by name, and fails where the scene refuses that.
static TdlStatus tell_overlaps(Run* run) {
    enum { TELL_MOST = 5 };
    TdlOverlap worst[TELL_MOST];
    int count;
    TdlStatus status = tdl_world_overlaps(run->world, TELL_MOST, worst, &count);
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
    const TdlRunDef* def = run->def;
    status = def->begin != NULL ? def->begin(def->begin_user, run->world) : TDL_STATUS_OK;
    return status == TDL_STATUS_OK ? tell_overlaps(run) : status;
}

static TdlStatus start_files(Run* run) {
    char path[PATH_SIZE];
    TdlStatus status = create_result(run, "result.h5");
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
    static TdlStatus (*const STAGES[])(Run*) = {start_world, start_files, write_frame,
                                                save_checkpoint, publish};
    TdlStatus status = start_folder(run, scene);
    for (size_t i = 0; status == TDL_STATUS_OK && i < sizeof STAGES / sizeof *STAGES; ++i) {
        status = STAGES[i](run);
    }
    return status;
}

// Copies the frames the checkpoint counts into a new file and puts it in the old one's place. A
// file left by a kill is never written again.
static TdlStatus copy_frames(Run* run, TdlResult* old) {
    ResultCounts a = result_counts(old), b = result_writer_counts(run->writer);
    if (a.rods != b.rods || a.colliders != b.colliders || a.bodies != b.bodies ||
        a.points != b.points || a.dofs != b.dofs || a.observers != b.observers ||
        tdl_result_info(old).frame_count < run->at.frame_count) {
        return tdl_fail(&run->host, TDL_STATUS_BAD_INPUT,
                        "%s/result.h5: not the result that the checkpoint belongs to",
                        run->folder.path);
    }
    for (long i = 0; i < run->at.frame_count; ++i) {
        TdlStatus status = result_read(old, i, &run->frame);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        status = result_writer_append(run->writer, &run->frame);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

// The same as result.h5.tmp, whole.
static TdlStatus copy_result(Run* run, const char* path) {
    TdlResult* old;
    TdlStatus status = tdl_result_open(&run->host, path, &old);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = create_result(run, "result.h5.tmp");
    if (status == TDL_STATUS_OK) {
        status = copy_frames(run, old);
    }
    tdl_result_close(old);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return result_writer_go_live(run->writer);
}

static TdlStatus reopen_result(Run* run) {
    char path[PATH_SIZE], temporary[PATH_SIZE];
    run_path(run, "result.h5", path);
    run_path(run, "result.h5.tmp", temporary);
    TdlStatus status = copy_result(run, path);
    if (status == TDL_STATUS_OK) {
        status = file_rename(&run->host, temporary, path);
    }
    if (status != TDL_STATUS_OK) {
        unlink(temporary);
        return status;
    }
    result_writer_moved(run->writer, path);
    return TDL_STATUS_OK;
}

// Brings the folder back to its checkpoint. `state` is the world's.
static TdlStatus reopen(Run* run, const char* state, size_t state_size) {
    char path[PATH_SIZE];
    uint64_t scene_hash = 0;
    TdlStatus status = hash_scene(run, &scene_hash);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (scene_hash != run->at.scene_hash) {
        return tdl_fail(&run->host, TDL_STATUS_BAD_INPUT,
                        "%s/scene.yaml: was changed after the run began, so the run cannot go "
                        "on as it was; run the changed scene into another folder",
                        run->folder.path);
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
    // from here on files are changed; each change can be repeated after a kill
    unlink(run_path(run, "summary.json", path));
    status = reopen_result(run);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return step_log_resume(&run->host, run_path(run, "log.csv", path), run->scene, run->at.log_size,
                           &run->log);
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
    return due ? write_frame(run) : TDL_STATUS_OK;
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
                       .threads = thread_count(run->def)};
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

static bool is_finished(const char* directory, const Checkpoint* at) {
    char path[PATH_SIZE];
    path_join(path, directory, "summary.json");
    return at->step == at->step_total && path_exists(path);
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
