// result.h5 from inside: a writer that appends frames, and a reader of whole frames. The public
// part of the reader is in tendril/run.h. HDF5 is called from one thread at a time.
//
//   /                     attributes: format, format_version, tendril_version, title, step,
//                         step_total, samples
//   /rods/*               one row a rod: point_start, dof_start (one more row), element_count,
//                         length, radius, mass, model
//   /colliders/*          one row a collider: shape, radius, length
//   /frames/*             one row a frame: the sets of the table RESULT_SETS
//
// Every dataset has the attributes unit and meaning. A set without columns (no rods, no colliders)
// is left out.
#ifndef TDL_IO_RESULT_H
#define TDL_IO_RESULT_H

#include "io/file.h"
#include "tendril/run.h"

#include <hdf5.h>

#define RESULT_FORMAT "tendril-result"
enum { RESULT_VERSION = 1 };

typedef struct ResultRod {
    const char* model;
    int element_count, point_count, dof_count;
    double length, radius[2], mass;
} ResultRod;

typedef struct ResultCollider {
    TdlShape shape;
    double radius, length;
} ResultCollider;

// What does not change from frame to frame.
typedef struct ResultDef {
    const char* title;
    double step;     // s
    long step_total; // steps of the whole run
    int samples;     // points per element
    int rod_count, collider_count;
    const ResultRod* rods;
    const ResultCollider* colliders;
} ResultDef;

typedef struct ResultCounts {
    int rods, colliders, points, dofs;
} ResultCounts;

// One frame. The arrays belong to whoever made them.
typedef struct ResultFrame {
    double time;
    int64_t step;
    double energy[3]; // kinetic, elastic, gravity
    float* points;    // [3 points]
    double *q, *v;    // [dofs]
    double* poses;    // [12 colliders]: position, then the columns of the rotation
} ResultFrame;

TdlStatus result_frame_create(const TdlHost* host, ResultCounts counts, ResultFrame* out);
void result_frame_destroy(const TdlHost* host, ResultFrame* frame);

// --- the sets of a frame -------------------------------------------------------------------------
// `time` comes last: it is extended and flushed after all others, so that its length is the number
// of whole frames at any moment.
typedef enum ResultSet {
    RESULT_STEP = 0,
    RESULT_ENERGY,
    RESULT_POINTS,
    RESULT_Q,
    RESULT_V,
    RESULT_POSES,
    RESULT_TIME,
    RESULT_SET_COUNT,
} ResultSet;

typedef enum ResultPer { PER_FRAME, PER_POINT, PER_DOF, PER_COLLIDER } ResultPer;
typedef enum ResultType { TYPE_INT64, TYPE_FLOAT32, TYPE_FLOAT64 } ResultType;

typedef struct ResultSetSpec {
    const char *name, *unit, *meaning;
    ResultType type;
    ResultPer per;
    int columns; // numbers per frame, point, dof or collider
} ResultSetSpec;

extern const ResultSetSpec RESULT_SETS[RESULT_SET_COUNT];

// The extents of a set: [frame], [frame][items], [frame][columns] or [frame][items][columns].
// Returns the rank; dims[0] is 1. A set with an extent of 0 has rank 0 and is left out.
int result_set_dims(ResultSet set, ResultCounts counts, hsize_t dims[3]);
hid_t result_file_type(ResultType type);
hid_t result_memory_type(ResultType type);
void* result_frame_data(const ResultFrame* frame, ResultSet set);

// --- the library's messages ----------------------------------------------------------------------
// HDF5 prints its errors by default; between begin and end it does not.
typedef struct Hdf5Quiet {
    H5E_auto2_t print;
    void* user;
} Hdf5Quiet;

Hdf5Quiet hdf5_quiet_begin(void);
void hdf5_quiet_end(Hdf5Quiet quiet);

// The cause of the first call that failed since begin, in a few words.
const char* hdf5_reason(void);

// --- writing -------------------------------------------------------------------------------------
typedef struct ResultWriter ResultWriter;

// Creates the file with all its datasets and no frame.
TdlStatus result_writer_create(const TdlHost* host, const char* path, const ResultDef* def,
                               ResultWriter** out);
ResultCounts result_writer_counts(const ResultWriter* writer);
long result_writer_frame_count(const ResultWriter* writer);

// From now on the file can be read while it is written, and each frame appended is flushed.
TdlStatus result_writer_go_live(ResultWriter* writer);
TdlStatus result_writer_append(ResultWriter* writer, const ResultFrame* frame);

// The file was renamed: messages use the new path.
void result_writer_moved(ResultWriter* writer, const char* path);

// Closes the file and frees the writer; accepts null.
TdlStatus result_writer_close(ResultWriter* writer);

// --- reading -------------------------------------------------------------------------------------
ResultCounts result_counts(const TdlResult* result);
TdlStatus result_read(TdlResult* result, long frame, ResultFrame* out);

#endif
