// Running a scene into a folder of results, which result.h reads.
//
// The folder holds result.h5 (frames, readable while the run goes on and after a kill), log.csv
// (a row a step), summary.json (at the end), scene.yaml (the scene as run) and checkpoint (the
// latest saved state).
#ifndef TENDRIL_RUN_H
#define TENDRIL_RUN_H

#include "tendril/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Called after every step; returns false to stop, after which everything is saved.
typedef bool (*TdlProgressFn)(void* user, const TdlStepInfo* info, long step_total);

/// Called with the world before the first step (`info` is null) and after every step. It may change
/// what a hand may change (world.h); the run waits for it.
typedef void (*TdlWatchFn)(void* user, TdlWorld* world, const TdlStepInfo* info);

/// Called with a new world before its first frame, to load another state for instance; not on a
/// resume. What it returns other than TDL_STATUS_OK ends the run before it has left anything.
typedef TdlStatus (*TdlBeginFn)(void* user, TdlWorld* world);

/// Which contact problems of a run are saved, as files of tdl_friction_problem_write.
typedef struct TdlSaveProblems {
    const char* path; // ends in .dat, .hdf5 or .h5: one file, of the last solve of the last of
                      // the steps that has contacts; else a folder, made when needed, with a
                      // file for every solve and problems.csv; null: none is saved
    long first, last, every; // steps, from 1; every > 0
} TdlSaveProblems;

typedef struct TdlRunDef {
    const char* directory; // of the result; created, must not exist yet
    int thread_count;
    TdlBeginFn begin; // may be null
    void* begin_user;
    TdlProgressFn progress; // may be null
    void* progress_user;
    TdlStopFn stop; // may be null; asked within steps that take long: true ends the run as it was
                    // before the step that is being made, and everything is saved
    void* stop_user;
    TdlWatchFn watch; // may be null
    void* watch_user;
    TdlSaveProblems problems;
    double energy_limit;     // in place of the scene's; 0: the scene's
    TdlSaveProblems queries; // what is asked of collision detection, in one file of its benchmark
    bool other_build;        // a resume goes on with what another build wrote, and tells it
} TdlRunDef;

/// The error of the contact solver, relative, from which on forces are not to be relied on.
#define TDL_UNSOLVED_ERROR 1.0e-3

typedef struct TdlRunInfo {
    long steps, frames;  // in the result as a whole
    long step_total;     // steps the scene asks for
    long steps_here;     // done by this call
    double time;         // s, simulated
    double seconds;      // wall time of this call
    TdlEnergy energy;    // at the end
    double energy_rise;  // largest over the steps of the run, J
    int substeps_max;    // largest over the steps of the run
    uint64_t state_hash; // of the world, tdl_world_state_hash
    bool finished;       // reached the scene's end
    long problems;       // contact problems saved by this call
    long queries;        // queries of collision detection saved by this call
    long unsolved;       // steps with contacts that were not solved to the tolerance
    double error;        // of the contact solver, largest over the steps of the run
    long forced;         // steps kept at the floor of splits though they could not stay
    double nowhere;      // J that came from nowhere, over the steps of the run
    bool failed;         // the step after `steps` failed; a resume tries it again
    char failure[768];   // why and where; empty: it did not
} TdlRunInfo;

/// Whether what was computed can be relied on: it did not fail, no step was kept though it could
/// not stay, and no error of the contact solver is above TDL_UNSOLVED_ERROR.
TDL_API bool tdl_run_is_sound(const TdlRunInfo* info);

/// Runs a scene from its start. TDL_STATUS_STOPPED when the progress function asked to stop.
/// `info` is filled as far as the run came, whatever is returned; steps is -1 when no folder was
/// made.
TDL_API TdlStatus tdl_run(const TdlHost* host, const TdlScene* scene, const TdlRunDef* def,
                          TdlRunInfo* info);

/// Continues the run in def->directory from its last checkpoint, with the same bits as a run that
/// was never interrupted. A finished run is left as it is. TDL_STATUS_BAD_INPUT where its files are
/// not those the checkpoint counts on, and where another build of the library wrote it.
TDL_API TdlStatus tdl_run_resume(const TdlHost* host, const TdlRunDef* def, TdlRunInfo* info);

/// Looks at the folder of a run without changing it. `info` tells of its last checkpoint; `last`
/// (may be null) receives the last row of its log, which may be later; `running` (may be null)
/// tells whether a process is at work in it.
TDL_API TdlStatus tdl_run_inspect(const TdlHost* host, const char* directory, TdlRunInfo* info,
                                  TdlStepInfo* last, bool* running);

/// Whether the checkpoint of a run is whole, and its scene and its log are those that belong to it,
/// byte for byte.
TDL_API TdlStatus tdl_run_verify(const TdlHost* host, const char* directory);

#ifdef __cplusplus
}
#endif

#endif
