// Scene files: YAML in SI units, checked against one schema, made into a world.
#ifndef TENDRIL_SCENE_H
#define TENDRIL_SCENE_H

#include "tendril/inverse.h"
#include "tendril/world.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TdlScene TdlScene;

/// Reads and checks a scene. `overrides` are texts such as "time.step=1e-4" or
/// "rods.curl.radius=1e-4" (list items by name or by number from 0), applied in order. On
/// TDL_STATUS_BAD_INPUT the log has one message that starts with file:line:column.
TDL_API TdlStatus tdl_scene_load(const TdlHost* host, const char* path,
                                 const char* const* overrides, int override_count, TdlScene** out);
TDL_API void tdl_scene_destroy(TdlScene* scene);

/// The number to which a key path leads, written as of overrides: "cloths.towel.damping",
/// "gravity.2". As it was given, or its default; NaN where it was not given and its default is no
/// number. TDL_STATUS_BAD_INPUT, with one message: there is no such number.
TDL_API TdlStatus tdl_scene_number(const TdlScene* scene, const char* path, double* out);

/// What a scene asks for, beside the world itself.
typedef struct TdlSceneInfo {
    const char* title;
    double step, end;         // s
    double error;             // 1/s, that is wanted; then steps are shorter where needed; else 0
    double frame_period;      // s between frames of the result
    double checkpoint_period; // s of wall time between checkpoints
    int samples;              // points per element in the result
    bool contacts;            // kept in the result
    bool forces;              // inside rods: so are they
    bool settle;              // start from static equilibrium
    int rod_count, rigid_count, collider_count, element_count, dof_count;
    int rod_group_count;  // entries under `rods`, before repetition
    int body_group_count; // entries under `bodies`, before repetition
    int observer_count;   // entries under `observe`
    int cloth_count;
    int cloth_vertex_count; // of all of them
    int shell_count, shell_vertex_count;
    bool has_grains; // see tdl_scene_grains
} TdlSceneInfo;

TDL_API TdlSceneInfo tdl_scene_info(const TdlScene* scene);

/// One entry under `rods`. Texts live as long as the scene.
enum { TDL_SCENE_MODEL_SIZE = 32 };
typedef struct TdlSceneRods {
    const char *name, *material;
    char model[TDL_SCENE_MODEL_SIZE];
    int count;         // of copies
    int element_count; // of each; of strands that differ the least
    double length, radius[2];
} TdlSceneRods;

TDL_API TdlSceneRods tdl_scene_rods(const TdlScene* scene, int index); // 0 <= index < group count

/// One entry under `bodies`.
typedef struct TdlSceneBodies {
    const char *name, *shape;
    const char* material; // null: none
    int count;            // of copies
    double density;       // kg/m^3
    double mass;          // kg, of each, given in its place; else 0
} TdlSceneBodies;

TDL_API TdlSceneBodies tdl_scene_bodies(const TdlScene* scene, int index); // < body_group_count

/// One entry under `cloths`.
typedef struct TdlSceneCloth {
    const char* name;
    const char* material; // null: none
    const char* isometry; // "edges" or "s3"
    int vertex_count, face_count;
    int held_count;    // vertices that are held
    double area, mass; // m^2, kg, of the rest shape
    /// Which of the holds has a vertex, from 0; -1: none. [vertex_count], lives as long as the
    /// scene.
    const int* hold_of;
} TdlSceneCloth;

TDL_API TdlSceneCloth tdl_scene_cloth(const TdlScene* scene, int index); // < cloth_count

/// One entry under `shells`. They touch nothing, whatever `contacts` says.
typedef struct TdlSceneShell {
    const char *name, *material;
    int vertex_count;
    double area, mass; // m^2, kg
} TdlSceneShell;

TDL_API TdlSceneShell tdl_scene_shell(const TdlScene* scene, int index); // < shell_count

/// What is under `grains`. Particles and mass are known to the world (grains.h).
typedef struct TdlSceneGrains {
    const char* name;
    const char* material; // null: none
    int dimension;        // 2 or 3
    int cells[3];         // of the grid, along x, y and z
    double spacing;       // m
    double friction;
    double density; // kg/m^3, of the bulk
} TdlSceneGrains;

TDL_API TdlSceneGrains tdl_scene_grains(const TdlScene* scene); // of one that has_grains

/// One entry under `colliders`.
typedef struct TdlSceneCollider {
    const char *name, *shape;
    const char* material; // null: none
    bool moves;           // has a motion, a velocity or a cache
} TdlSceneCollider;

TDL_API TdlSceneCollider tdl_scene_collider(const TdlScene* scene, int index);

/// How things touch.
typedef struct TdlSceneContacts {
    const char* detection;        // "curves", "segments" or "off"
    const char* response;         // "exact", "barrier" or "s3"
    double friction, restitution; // of all pairs of materials but `pair_count`
    int pair_count;
    bool refuse_overlap; // at the start
} TdlSceneContacts;

TDL_API TdlSceneContacts tdl_scene_contacts(const TdlScene* scene);

/// One entry under `observe`: a vector of every step.
typedef struct TdlSceneObserver {
    const char* name;     // its columns in log.csv are name_x, name_y and name_z
    const char* quantity; // "force", "torque", "centre" or "point"
    const char* unit;     // "N", "N m" or "m"
} TdlSceneObserver;

TDL_API TdlSceneObserver tdl_scene_observer(const TdlScene* scene, int index); // < observer_count

/// Its value now, in a world that tdl_scene_build made of this scene.
TDL_API TdlVec3 tdl_scene_observe(const TdlScene* scene, int index, const TdlWorld* world);

/// Has `fn` asked while worlds are built of the scene, which takes long where many rods are fitted
/// or sought at rest, and by these worlds from then on as by tdl_world_watch_stop; null: nobody.
/// True ends it with TDL_STATUS_STOPPED.
TDL_API void tdl_scene_watch_stop(TdlScene* scene, TdlStopFn fn, void* user);

/// Builds the world the scene describes.
TDL_API TdlStatus tdl_scene_build(const TdlScene* scene, int thread_count, TdlWorld** out);

/// A value that is allowed and can hardly be meant, such as young: 5 in place of 5e9.
typedef struct TdlSceneDoubt {
    const char* file; // where it stands; lives as long as the scene
    int line, column;
    double value;   // that is doubted, or what follows from it
    char text[512]; // whose, what, and why
} TdlSceneDoubt;

/// Those of a scene, in its order. `world` was built of it and not stepped; null: what needs masses
/// is not asked. Returns how many there are and fills out[capacity] as far as it goes.
TDL_API int tdl_scene_doubts(const TdlScene* scene, const TdlWorld* world, int capacity,
                             TdlSceneDoubt* out);

/// Of those the ones that a run tells too: bodies with sharp edges and open meshes without
/// thickness, which pass through each other. The value is 0, their roundness in m.
TDL_API int tdl_scene_sharp_pairs(const TdlScene* scene, int capacity, TdlSceneDoubt* out);

/// How the scene has its rods rest in their shapes; rods are not listed.
TDL_API TdlInverseOptions tdl_scene_inverse(const TdlScene* scene);

/// The rods that are to rest: of a world that tdl_scene_build made of this scene, those along
/// curves with `rest: inverse`; where there are none, all rods. Returns how many there are and
/// fills out[capacity] as far as it goes.
TDL_API int tdl_scene_rest_rods(const TdlScene* scene, const TdlWorld* world, int capacity,
                                TdlBodyId* out);

/// Writes the scene with these rods as they are in the world now: their shapes and natural
/// curvatures go into files of strands beside it, NAME.h5, or NAME-RODS.h5 where several entries
/// under `rods` have some. It loads to that world, at rest and at time 0.
TDL_API TdlStatus tdl_scene_write_at_rest(const TdlScene* scene, const TdlWorld* world,
                                          const char* path);

/// Writes the scene as one YAML file, includes and overrides merged in; it loads to the same world.
TDL_API TdlStatus tdl_scene_write(const TdlScene* scene, const char* path);

/// Writes the reference of all keys, in Markdown.
TDL_API void tdl_scene_reference(FILE* out);

#ifdef __cplusplus
}
#endif

#endif
