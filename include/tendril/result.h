// Reading the folder of results that a run (run.h) makes.
#ifndef TENDRIL_RESULT_H
#define TENDRIL_RESULT_H

#include "tendril/formats.h"
#include "tendril/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TdlResult TdlResult;

typedef struct TdlResultInfo {
    char title[256];
    char version[32]; // of the Tendril that wrote it
    int rod_count, collider_count;
    int body_count;  // rigid bodies
    int shape_count; // of colliders and bodies, see tdl_result_shape
    int observer_count;
    int joint_count;         // see tdl_result_joint
    int surface_count;       // whose vertices move, see tdl_result_surface
    int surface_point_count; // in all of these, per frame
    int cloth_count;         // among the surfaces, see tdl_result_cloth
    int cloth_point_count;   // vertices of all of these
    int point_count;         // in all rods, per frame
    int dof_count;           // in all rods
    long frame_count;
    double first_time, last_time; // s; 0 when there is no frame
    bool finished;
    bool has_forces;    // inside the rods, see tdl_result_read_forces
    bool has_grains;    // see tdl_result_grains
    bool has_checksums; // what is read of a frame is proved; files before version 9 have none
} TdlResultInfo;

/// Opens a folder of results, or its result.h5; a run may still be writing it.
TDL_API TdlStatus tdl_result_open(const TdlHost* host, const char* path, TdlResult** out);
TDL_API void tdl_result_close(TdlResult* result);

/// Looks again: frames written since, or another file after a resume. On failure nothing changes.
TDL_API TdlStatus tdl_result_refresh(TdlResult* result);
TDL_API TdlResultInfo tdl_result_info(const TdlResult* result);

/// Reads all frames, and compares them with their checksums where there are any. `frame` receives
/// how many were good.
TDL_API TdlStatus tdl_result_verify(TdlResult* result, long* frame);

/// The first point of each rod in a frame's points: [rod_count + 1], the last is point_count.
TDL_API const int* tdl_result_point_start(const TdlResult* result);

/// The first coordinate of each rod, in the same way: [rod_count + 1], the last is dof_count.
TDL_API const int* tdl_result_dof_start(const TdlResult* result);

enum { TDL_RESULT_WORD_SIZE = 32, TDL_RESULT_NAME_SIZE = 128 };

typedef struct TdlResultRod {
    char model[TDL_RESULT_WORD_SIZE];
    int element_count;
    double length, radius[2], mass;
} TdlResultRod;

TDL_API TdlResultRod tdl_result_rod(const TdlResult* result, int index);

/// The shape of all rods in a frame: coordinates as tdl_rod_coordinates has them, q[dof_count], and
/// place and material frame of each start, starts[rod_count]. Files before version 7 have no
/// starts: TDL_STATUS_BAD_INPUT.
TDL_API TdlStatus tdl_result_read_coordinates(TdlResult* result, long frame, double* q);
TDL_API TdlStatus tdl_result_read_starts(TdlResult* result, long frame, TdlPose* starts);

/// The same as strands, until tdl_strands_free with the host of the result. Their natural curvature
/// is that of the shape, and none is stiffer than its material, since a result does not tell of
/// either. TDL_STATUS_BAD_INPUT where rods are not all super-helices or all super-clothoids.
TDL_API TdlStatus tdl_result_read_strands(TdlResult* result, long frame, TdlStrands* out);

/// A simple shape, of which a collider or a rigid body has one or more.
typedef struct TdlResultShape {
    char shape[TDL_RESULT_WORD_SIZE]; // plane, sphere, cylinder, capsule as TdlShape has them;
                                      // disc: normal along the third axis; box; mesh
    int body;                         // which it moves with: colliders from 0, then rigid bodies
    double size[3]; // radius, then length of a capsule between its cap centres or of a cylinder,
                    // 0: endless, then its inner radius; radius of a disc,
                    // then of its round rim; half sizes of a box; thickness of a mesh to each
                    // side
    TdlPose pose;   // in the frame of the body
    TdlMesh mesh;   // of a mesh; belongs to whom the shape comes from. Else empty
} TdlResultShape;

TDL_API TdlResultShape tdl_result_shape(const TdlResult* result, int index);

/// The shapes of all colliders, then of all rigid bodies of a world, for those who draw one that
/// runs. Returns how many there are; with a null `out` they are only counted.
TDL_API int tdl_world_shapes(const TdlWorld* world, TdlResultShape* out);

/// Where colliders and rigid bodies are in a frame: poses[collider_count + body_count].
TDL_API TdlStatus tdl_result_read_poses(TdlResult* result, long frame, TdlPose* poses);

/// A surface of triangles whose vertices move from frame to frame: a collider's mesh with a cache,
/// or a cloth. Such a collider has no shapes.
typedef struct TdlResultSurface {
    int body;             // the collider that it is; -1: none, as of a cloth
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

/// A cloth: the surface that it is, and what that does not tell. Shell patches are told as cloths
/// too, behind these: nothing touches them, and their strain is 0.
typedef struct TdlResultCloth {
    int surface;      // of those of the result or of the world
    int first_point;  // of its vertices among those of all cloths
    int point_count;  // vertices
    double mass;      // kg
    const int* faces; // [4 face_count], vertices from 0; the fourth of a triangle is -1
    int face_count;
    const int* holds; // [point_count] which hold of the scene has a vertex, from 0; -1: none. Null:
                      // not known
} TdlResultCloth;

TDL_API TdlResultCloth tdl_result_cloth(const TdlResult* result, int index);

/// What the cloths are stretched by at each vertex in a frame: strains[cloth_point_count].
TDL_API TdlStatus tdl_result_read_strains(TdlResult* result, long frame, double* strains);

/// The same of a world that runs. The first returns how many there are; with a null `out` they are
/// only counted.
TDL_API int tdl_world_cloths(const TdlWorld* world, TdlResultCloth* out);
TDL_API void tdl_world_strains(const TdlWorld* world, double* out);

/// What the rods bear at their points in a frame, forces[point_count] and moments[point_count]:
/// tension and the two shears, N; the moment of twist and the two of bending, N m.
/// TDL_STATUS_BAD_INPUT where the scene did not ask for it.
TDL_API TdlStatus tdl_result_read_forces(TdlResult* result, long frame, TdlVec3* forces,
                                         TdlVec3* moments);

/// The same of a world that runs and finds them, with so many points an element.
TDL_API TdlStatus tdl_world_rod_forces(const TdlWorld* world, int samples, TdlVec3* forces,
                                       TdlVec3* moments);

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

/// A joint, and what it did in the step before a frame.
typedef struct TdlResultJoint {
    char name[TDL_RESULT_NAME_SIZE]; // as in the scene
    char kind[TDL_RESULT_WORD_SIZE]; // fixed, ball, hinge, slider or distance
} TdlResultJoint;

typedef struct TdlResultJointState {
    TdlVec3 point;     // m
    TdlVec3 force;     // N, on the second body
    TdlVec3 torque;    // N m, on the second body, about the point
    double coordinate; // rad or m, of a hinge or slider; m, the length of a distance
    bool broken;       // it bore more than it can, and holds nothing since
    bool idle;         // its time is not now
} TdlResultJointState;

TDL_API TdlResultJoint tdl_result_joint(const TdlResult* result, int index);

/// All joints in a frame: joints[joint_count].
TDL_API TdlStatus tdl_result_read_joints(TdlResult* result, long frame,
                                         TdlResultJointState* joints);

/// The same of a world that runs. Both return how many there are; with a null `out` they are only
/// counted.
TDL_API int tdl_world_result_joints(const TdlWorld* world, TdlResultJoint* out);
TDL_API int tdl_world_joint_states(const TdlWorld* world, TdlResultJointState* out);

/// What a contact of a result is between.
typedef enum TdlResultKind {
    TDL_RESULT_ROD = 0,
    TDL_RESULT_BODY, // a rigid one
    TDL_RESULT_COLLIDER,
    TDL_RESULT_CLOTH,  // its element is one of its surface's triangles
    TDL_RESULT_GRAINS, // its element is a node of its grid
} TdlResultKind;

/// A contact as TdlContactForce, its bodies by kind and place among those of their kind, from 0.
typedef struct TdlResultContact {
    TdlResultKind kind[2];
    int index[2];
    int element[2];
    double u[2], v[2];
    TdlVec3 point, normal, force; // m, 1, N
    double gap, mu;               // m, 1
    bool sliding;
} TdlResultContact;

/// The contacts of a world's last step as a result keeps them: the first `capacity` of them.
/// Returns how many there are. Contacts of bodies of other kinds are left out.
TDL_API int tdl_world_result_contacts(const TdlWorld* world, int capacity, TdlResultContact* out);

/// The contacts of a frame, those of the step before it. They belong to the result and last until
/// the next call.
TDL_API TdlStatus tdl_result_read_contacts(TdlResult* result, long frame,
                                           const TdlResultContact** contacts, int* count);

/// The bed of grains.
typedef struct TdlResultGrains {
    char name[TDL_RESULT_NAME_SIZE]; // as in the scene
    int dimension;                   // 2: all particles have one y
    double spacing;                  // m, of the grid
    double size;                     // m, from particle to particle where it was filled
    double depth;                    // m, along y, in two dimensions
    double packing;                  // fraction where it is packed
} TdlResultGrains;

typedef struct TdlResultParticle {
    int number;       // which it is, from 0: its own for good
    TdlVec3 position; // m
    TdlVec3 velocity; // m/s
    double fraction;  // volume fraction of grains there
    double pressure;  // Pa, in the step before
    double shear;     // Pa, the size of the deviator
} TdlResultParticle;

typedef struct TdlResultGrainsState {
    double mass, lost_mass; // kg
    double volume_kept;     // see TdlGrainsInfo
    long long lost;         // particles
} TdlResultGrainsState;

TDL_API TdlResultGrains tdl_result_grains(const TdlResult* result); // of one that has_grains

/// The particles of a frame, in any order. They belong to the result and last until the next call.
TDL_API TdlStatus tdl_result_read_particles(TdlResult* result, long frame,
                                            const TdlResultParticle** particles, int* count);
TDL_API TdlStatus tdl_result_read_grains_state(TdlResult* result, long frame,
                                               TdlResultGrainsState* out);

/// The same of a world that runs. The first is false where it has none. The second returns how many
/// particles there are and fills out[capacity] as far as it goes.
TDL_API bool tdl_world_result_grains(const TdlWorld* world, TdlResultGrains* out);
TDL_API int tdl_world_particles(const TdlWorld* world, int capacity, TdlResultParticle* out);

/// One frame: its time and the centreline points of all rods, [3 point_count]; either may be null.
TDL_API TdlStatus tdl_result_read_frame(TdlResult* result, long frame, double* time,
                                        double* points);

/// Whether this thread is inside the HDF5 library, which may crash when an allocation of its own
/// fails: for a handler of signals, which can then say so. What a run has saved is whole.
TDL_API bool tdl_result_inside_hdf5(void);

#ifdef __cplusplus
}
#endif

#endif
