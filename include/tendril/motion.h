// Scripted motion: where a moved thing is at which time, and the vertices of a mesh.
#ifndef TENDRIL_MOTION_H
#define TENDRIL_MOTION_H

#include "tendril/math.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TdlInterpolation {
    TDL_INTERPOLATION_SMOOTH = 0, // from rest to rest between keys, with the least jerk
    TDL_INTERPOLATION_LINEAR,     // constant velocity between keys
} TdlInterpolation;

/// Where a moved thing is at one moment, relative to where it was placed.
typedef struct TdlKeyframe {
    double time;      // s, growing from key to key
    TdlVec3 position; // m, displacement from the placed position, world axes
    TdlVec3 rotation; // rad, rotation vector applied to the placed orientation, world axes
} TdlKeyframe;

/// Two vectors that are a function of the time (s) alone, or what follows from it cannot be
/// repeated: of a motion displacement (m) and rotation vector (rad), of a load force (N) and torque
/// (N m). It is asked from one thread, at any times.
typedef struct TdlTimeFn {
    void (*at)(const void* data, double time, TdlVec3 out[2]); // null: there is none
    const void* data;                                          // handed to it
    size_t size; // bytes of data, copied; 0: it is handed on as it is, and must stay
} TdlTimeFn;

/// A function that goes through keys as a motion does: what they have as position and rotation are
/// its two vectors. Before the first and after the last it stays. Given back by tdl_time_fn_free.
TDL_API TdlStatus tdl_time_fn_of_keys(const TdlHost* host, const TdlKeyframe* keys, int key_count,
                                      TdlInterpolation interpolation, TdlTimeFn* out);

/// Of functions that the library made.
TDL_API void tdl_time_fn_free(const TdlHost* host, TdlTimeFn* fn);

/// A scripted motion. Before the first key and after the last, the thing stands still there.
typedef struct TdlMotionDef {
    const TdlKeyframe* keys; // [key_count], copied; null: the thing does not move
    int key_count;
    TdlInterpolation interpolation;
    bool about_point; // rotations turn its place too, about the point `about` of the world, before
    TdlVec3 about;    // it is displaced; default: they turn it about its own place
    TdlTimeFn fn;     // in place of keys; default: none
} TdlMotionDef;

/// Triangles. Where every edge joins two of them the same way round the surface is closed: it is
/// touched from the side from which their corners run counterclockwise, and what gets behind it is
/// pushed out. Else it is a sheet, touched from both sides.
typedef struct TdlMesh {
    const TdlVec3* vertices; // [vertex_count], m; those at the same place count as one
    int vertex_count;
    const int* triangles; // [3 triangle_count] vertices from 0; each triangle has an area
    int triangle_count;
} TdlMesh;

/// Places of a mesh's vertices at even times; on straight lines between them, still before the
/// first and after the last. Every triangle has an area in every sample.
typedef struct TdlVertexMotion {
    const TdlVec3* samples; // [sample_count][vertex_count], m, in the frame of the mesh; copied
    int sample_count;       // 2 or more; 0: the vertices stay
    double start;           // s, of the first sample
    double period;          // s, > 0, from sample to sample
} TdlVertexMotion;

/// The first thing that is wrong with a mesh; null: nothing. `triangle` receives where, or -1.
TDL_API const char* tdl_mesh_fault(const TdlMesh* mesh, int* triangle);

/// The same of the motion of a mesh without fault; `sample` and `triangle` receive where, or -1.
TDL_API const char* tdl_vertex_motion_fault(const TdlVertexMotion* def, const TdlMesh* mesh,
                                            int* sample, int* triangle);

#ifdef __cplusplus
}
#endif

#endif
