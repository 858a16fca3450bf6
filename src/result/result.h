// result.h5 from inside: a writer that appends frames, and a reader of whole frames. The public
// part of the reader is in tendril/result.h. HDF5 is called from one thread at a time.
//
//   /                     attributes: format, format_version, tendril_version, title, step,
//                         step_total, samples
//   /rods/*               one row a rod: point_start, dof_start (one more row), element_count,
//                         length, radius, mass, model
//   /colliders/*          one row a collider: shape, radius, length
//   /bodies/*             one row a rigid body: shape
//   /shapes/*             one row a simple shape of a collider or body: shape, body, size, pose
//   /meshes/*             the triangles of the shapes that are meshes; left out when there is none
//   /surfaces/*           surfaces whose vertices move: point_start, triangle_start (one more row),
//                         body, radius, triangles; left out when there is none
//   /cloths/*             the cloths among the surfaces: surface, mass, face_start (one more row),
//                         faces, hold; left out likewise
//   /observers/*          one row an observer of the scene: name, quantity, unit; left out likewise
//   /joints/*             one row a joint: name, kind; left out likewise
//   /contacts/*           one row a contact, frame after frame, see result_contacts.h
//   /grains/*             one row a particle likewise, see result_grains.h; left out when there is
//                         no bed of grains
//   /frames/*             one row a frame: the sets of the table RESULT_SETS of result_format.c
//
// Version 1 has no bodies, shapes and contacts, version 2 no meshes and observers, version 3 no
// surfaces, version 4 no v of contacts, version 5 no cloths, version 6 no starts of rods, version 7
// no grains, version 8 no checksums; they are read as such.
//
// Every dataset has the attributes unit and meaning, those of the tables checksum, which is
// /frames/checksum for the others (result_sums.h). A set without columns (no rods, no colliders)
// is left out.
#ifndef TDL_RESULT_RESULT_H
#define TDL_RESULT_RESULT_H

#include "formats/file.h"
#include "tendril/result.h"

#include "result/result_contacts.h"
#include "result/result_format.h"
#include "result/result_grains.h"
#include "result/result_sums.h"

#include <hdf5.h>

#define RESULT_FORMAT "tendril-result"
enum { RESULT_VERSION = 9, RESULT_OLDEST = 1 };

// The shapes of a collider or a rigid body that is number `body` of both. Returns how many there
// are; with a null `out` they are only counted.
int result_collider_shapes(const TdlColliderDef* def, int body, TdlResultShape* out);
int result_rigid_shapes(const TdlRigidDef* def, int body, TdlResultShape* out);

typedef struct ResultRod {
    const char* model;
    int element_count, point_count, dof_count;
    double length, radius[2], mass;
} ResultRod;

typedef struct ResultCollider {
    TdlShape shape;
    double radius, length;
} ResultCollider;

typedef struct ResultBody {
    TdlRigidShape shape;
} ResultBody;

// What does not change from frame to frame.
typedef struct ResultDef {
    const char* title;
    double step;     // s
    long step_total; // steps of the whole run
    int samples;     // points per element
    int rod_count, collider_count, body_count, shape_count;
    const ResultRod* rods;
    const ResultCollider* colliders;
    const ResultBody* bodies;
    const TdlResultShape* shapes; // of the colliders, then of the bodies
    int observer_count;
    const TdlResultObserver* observers;
    int joint_count;
    const TdlResultJoint* joints;
    int surface_count;
    const TdlResultSurface* surfaces;
    int cloth_count;
    const TdlResultCloth* cloths;  // in the order of their surfaces
    bool forces;                   // inside rods are kept
    const TdlResultGrains* grains; // null: none
} ResultDef;

typedef struct ResultCounts {
    int rods, colliders, bodies, points, dofs, observers, surface_points, cloth_points;
    int forces; // points, or 0 where the forces there are not kept
    int joints;
    int beds; // of grains: 0 or 1
} ResultCounts;

// One frame. The arrays belong to whoever made them.
typedef struct ResultFrame {
    double time;
    int64_t step;
    double energy[3];        // kinetic, elastic, gravity
    float* points;           // [3 points]
    double *q, *v;           // [dofs]
    double* starts;          // [12 rods]: position, then the columns of the rotation
    double* poses;           // [12 colliders], in the same way
    double* body_poses;      // [12 bodies]
    double* observed;        // [3 observers]
    float* surface_points;   // [3 surface_points]
    float* strains;          // [cloth_points]
    float *forces, *moments; // [3 forces]: tension and shear; twist and bending
    double *joint_points, *joint_forces, *joint_torques; // [3 joints]
    double* joint_coordinates;                           // [joints]
    int32_t* joint_broken;                               // [joints]
    int contact_count;                                   //
    TdlResultContact* contacts;                          // [contact_count]
    int contact_capacity;
    int64_t contact_end; // rows of /contacts up to this frame; the writer counts them itself
    double bed[RESULT_BED_NUMBERS];
    int particle_count;
    TdlResultParticle* particles; // [particle_count]
    int particle_capacity;
    int64_t grain_end; // rows of /grains, likewise
} ResultFrame;

TdlStatus result_frame_create(const TdlHost* host, ResultCounts counts, ResultFrame* out);
// Makes room for `count` contacts or particles, keeping none.
TdlStatus result_frame_reserve(const TdlHost* host, ResultFrame* frame, int count);
TdlStatus result_frame_reserve_particles(const TdlHost* host, ResultFrame* frame, int count);
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
    RESULT_STARTS,
    RESULT_POSES,
    RESULT_BODY_POSES,
    RESULT_OBSERVED,
    RESULT_SURFACE_POINTS,
    RESULT_STRAINS,
    RESULT_FORCES,
    RESULT_MOMENTS,
    RESULT_JOINT_POINTS,
    RESULT_JOINT_FORCES,
    RESULT_JOINT_TORQUES,
    RESULT_JOINT_COORDINATES,
    RESULT_JOINT_BROKEN,
    RESULT_CONTACT_END,
    RESULT_GRAINS_STATE,
    RESULT_GRAIN_END,
    RESULT_TIME,
    RESULT_SET_COUNT,
} ResultSet;

typedef enum ResultPer {
    PER_FRAME,
    PER_POINT,
    PER_DOF,
    PER_ROD,
    PER_COLLIDER,
    PER_BODY,
    PER_OBSERVER,
    PER_SURFACE_POINT,
    PER_CLOTH_POINT,
    PER_FORCE,
    PER_JOINT,
    PER_BED
} ResultPer;

typedef struct ResultSetSpec {
    const char *name, *unit, *meaning;
    ResultType type;
    ResultPer per;
    int columns; // numbers per frame, point, dof, rod, collider and so on
    int since;   // version of the format
} ResultSetSpec;

extern const ResultSetSpec RESULT_SETS[RESULT_SET_COUNT];

// The extents of a set: [frame], [frame][items], [frame][columns] or [frame][items][columns].
// Returns the rank; dims[0] is 1. A set with an extent of 0 has rank 0 and is left out.
int result_set_dims(ResultSet set, ResultCounts counts, hsize_t dims[3]);
// The bytes of a frame in it, in memory and in the file.
size_t result_set_bytes(ResultSet set, ResultCounts counts);
// A pose as 12 numbers: position, then the columns of the rotation.
void result_pack_pose(TdlPose pose, double out[12]);
TdlPose result_unpack_pose(const double numbers[12]);

void* result_frame_data(const ResultFrame* frame, ResultSet set);

// Writes what does not change from frame to frame. When HDF5 fails: TDL_STATUS_IO, and *what could
// not be written.
TdlStatus result_write_tables(const TdlHost* host, hid_t file, const ResultDef* def,
                              const char** what);

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
