// A run under way, for the files that make it.
#ifndef TDL_RUN_RUN_PARTS_H
#define TDL_RUN_RUN_PARTS_H

#include "result/checkpoint.h"
#include "result/result.h"
#include "run/folder.h"
#include "run/problem_save.h"
#include "run/step_log.h"
#include "tendril/run.h"

typedef struct Run {
    TdlHost host;
    const TdlRunDef* def;
    Folder folder;
    TdlScene* scene;
    TdlSceneInfo plan;
    TdlWorld* world;
    ResultWriter* writer;
    ResultFrame frame;
    TdlVec3* points;             // scratch of one rod, or of all surfaces
    TdlVec3* forces;             // and of the forces and moments at all points, where they are kept
    TdlResultJointState* joints; // and of all joints
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

static inline const char* run_path(const Run* run, const char* name, char buffer[PATH_SIZE]) {
    path_join(buffer, run->folder.path, name);
    return buffer;
}

// run_result.c: a new result of this name in the folder; the present state as a frame of it; and
// the one of a run that is gone on with, cut to the frames that its checkpoint counts.
TdlStatus run_create_result(Run* run, const char* name);
TdlStatus run_write_frame(Run* run);
TdlStatus run_reopen_result(Run* run);

#endif
