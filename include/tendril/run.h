// Running a scene into a folder of results, and reading such a folder.
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
    TdlWatchFn watch; // may be null
    void* watch_user;
    TdlSaveProblems problems;
    TdlSaveProblems queries; // what is asked of collision detection, in one file of its benchmark
} TdlRunDef;

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
} TdlRunInfo;

/// Runs a scene from its start. TDL_STATUS_STOPPED when the progress function asked to stop.
/// `info` is filled as far as the run came, whatever is returned; steps is -1 when no folder was
/// made.
TDL_API TdlStatus tdl_run(const TdlHost* host, const TdlScene* scene, const TdlRunDef* def,
                          TdlRunInfo* info);

/// Continues the run in def->directory from its last checkpoint, with the same bits as a run that
/// was never interrupted. A finished run is left as it is.
TDL_API TdlStatus tdl_run_resume(const TdlHost* host, const TdlRunDef* def, TdlRunInfo* info);

/// Looks at the folder of a run without changing it. `info` tells of its last checkpoint; `last`
/// (may be null) receives the last row of its log, which may be later; `running` (may be null)
/// tells whether a process is at work in it.
TDL_API TdlStatus tdl_run_inspect(const TdlHost* host, const char* directory, TdlRunInfo* info,
                                  TdlStepInfo* last, bool* running);

// --- reading results
// ------------------------------------------------------------------------------
typedef struct TdlResult TdlResult;

typedef struct TdlResultInfo {
    char title[256];
    char version[32]; // of the Tendril that wrote it
    int rod_count, collider_count;
    int body_count;  // rigid bodies
    int shape_count; // of colliders and bodies, see tdl_result_shape
    int observer_count;
    int surface_count;       // whose vertices move, see tdl_result_surface
    int surface_point_count; // in all of these, per frame
    int point_count;         // in all rods, per frame
    int dof_count;           // in all rods
    long frame_count;
    double first_time, last_time; // s; 0 when there is no frame
    bool finished;
} TdlResultInfo;

/// Opens a folder of results, or its result.h5; a run may still be writing it.
TDL_API TdlStatus tdl_result_open(const TdlHost* host, const char* path, TdlResult** out);
TDL_API void tdl_result_close(TdlResult* result);

/// Looks again: frames written since, or another file after a resume. On failure nothing changes.
TDL_API TdlStatus tdl_result_refresh(TdlResult* result);
TDL_API TdlResultInfo tdl_result_info(const TdlResult* result);

/// The first point of each rod in a frame's points: [rod_count + 1], the last is point_count.
TDL_API const int* tdl_result_point_start(const TdlResult* result);

enum { TDL_RESULT_WORD_SIZE = 32, TDL_RESULT_NAME_SIZE = 128 };

typedef struct TdlResultRod {
    char model[TDL_RESULT_WORD_SIZE];
    int element_count;
    double length, radius[2], mass;
} TdlResultRod;

TDL_API TdlResultRod tdl_result_rod(const TdlResult* result, int index);

/// A simple shape, of which a collider or a rigid body has one or more.
typedef struct TdlResultShape {
    char shape[TDL_RESULT_WORD_SIZE]; // plane, sphere, cylinder, capsule as TdlShape has them;
                                      // disc: normal along the third axis; box; mesh
    int body;                         // which it moves with: colliders from 0, then rigid bodies
    double size[3]; // radius, then length of a capsule between its cap centres; radius of a disc,
                    // then of its round rim; half sizes of a box; thickness of a mesh to each
                    // side
    TdlPose pose;   // in the frame of the body
    TdlMesh mesh;   // of a mesh; belongs to whom the shape comes from. Else empty
} TdlResultShape;

TDL_API TdlResultShape tdl_result_shape(const TdlResult* result, int index);

/// The shapes of a collider or a rigid body, for those who draw a world that runs. Returns how many
/// there are; with a null `out` they are only counted.
TDL_API int tdl_collider_shapes(const TdlColliderDef* def, int body, TdlResultShape* out);
TDL_API int tdl_rigid_shapes(const TdlRigidDef* def, int body, TdlResultShape* out);

/// Where colliders and rigid bodies are in a frame: poses[collider_count + body_count].
TDL_API TdlStatus tdl_result_read_poses(TdlResult* result, long frame, TdlPose* poses);

/// A surface of triangles whose vertices move from frame to frame: a collider's mesh with a cache.
/// Such a collider has no shapes.
typedef struct TdlResultSurface {
    int body;             // the collider that it is; -1: none
    double radius;        // m, it is so thick to each side
    int first_point;      // of its vertices among those of all surfaces
    int point_count;      // vertices
    const int* triangles; // [3 triangle_count], vertices from 0; belongs to whom it comes from
    int triangle_count;
} TdlResultSurface;

TDL_API TdlResultSurface tdl_result_surface(const TdlResult* result, int index);

/// Where the vertices of all surfaces are in a frame, in the world: points[surface_point_count].
TDL_API TdlStatus tdl_result_read_surfaces(TdlResult* result, long frame, TdlVec3* points);

/// The surfaces of a world that runs, and where their vertices are. The first returns how many
/// there are; with a null `out` they are only counted.
TDL_API int tdl_world_surfaces(const TdlWorld* world, TdlResultSurface* out);
TDL_API void tdl_world_surface_points(const TdlWorld* world, TdlVec3* out);

/// What a scene observes; see docs/scene.md. The log has it for every step, the result for every
/// frame.
typedef struct TdlResultObserver {
    char name[TDL_RESULT_NAME_SIZE];
    char quantity[TDL_RESULT_WORD_SIZE];
    char unit[TDL_RESULT_WORD_SIZE];
} TdlResultObserver;

TDL_API TdlResultObserver tdl_result_observer(const TdlResult* result, int index);

/// What the observers saw in the step before a frame: values[observer_count].
TDL_API TdlStatus tdl_result_read_observed(TdlResult* result, long frame, TdlVec3* values);

/// The contacts of a frame, those of the step before it. They belong to the result and last until
/// the next call.
TDL_API TdlStatus tdl_result_read_contacts(TdlResult* result, long frame,
                                           const TdlContactForce** contacts, int* count);

/// One frame: its time and the centreline points of all rods, [3 point_count]; either may be null.
TDL_API TdlStatus tdl_result_read_frame(TdlResult* result, long frame, double* time,
                                        double* points);

#ifdef __cplusplus
}
#endif

#endif
