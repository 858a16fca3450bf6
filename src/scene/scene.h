// What a scene file says, after parsing: the structs that the tables of scene_tables.c describe.
#ifndef TDL_SCENE_SCENE_H
#define TDL_SCENE_SCENE_H

#include "formats/curves.h"
#include "formats/strands.h"
#include "scene/schema.h"
#include "tendril/cloth.h"
#include "tendril/collider.h"
#include "tendril/scene.h"
#include "tendril/shell.h"

typedef struct TimeSpec {
    const Node* node;
    double step, end;              // s
    double settle, settle_damping; // s, 1/s
    bool settle_loosely;
    int integrator;
    double energy_limit;
    double error; // 1/s; 0: steps have one length
} TimeSpec;

typedef struct OutputSpec {
    const Node* node;
    double frame;      // s
    double checkpoint; // s of wall time
    int samples;
    bool contacts;
} OutputSpec;

typedef struct MaterialSpec {
    const Node* node;
    const char* name;
    double young, poisson, density, damping, mass_damping;
} MaterialSpec;

typedef struct KeyframeSpec {
    const Node* node;
    double time;
    TdlVec3 position, rotation;
} KeyframeSpec;

typedef struct RecordingSpec {
    const Node* node; // null: none
    const char* file;
    const char* marker; // null: columns have no name before theirs
    double scale;
    int up;           // 0: z, 1: y
    int from;         // 0: the first place of the recording, 1: the origin of its axes
    const char* hash; // null: any
} RecordingSpec;

typedef struct MotionSpec {
    const Node* node;
    int interpolation; // a TdlInterpolation
    GroupList
        keyframes; // of KeyframeSpec; those of a recording are filled in by scene_check_motion
    RecordingSpec recording;
} MotionSpec;

typedef struct ClampSpec {
    const Node* node;
    TdlVec3 position, direction, normal;
    MotionSpec motion;
} ClampSpec;

typedef struct RepeatSpec {
    const Node* node;
    int count[3];
    TdlVec3 spacing, jitter;
    int seed;
    bool centred;
} RepeatSpec;

typedef struct LoadSpec {
    const Node* node;
    double at; // m
    TdlVec3 force, torque;
} LoadSpec;

// What rods along curves are like without forces.
typedef enum RestChoice { REST_SHAPE = 0, REST_INVERSE } RestChoice;

typedef struct CurvesSpec {
    const Node* node; // null: the rod is described by its other keys
    const char* file;
    int every, limit;
    double cut; // m, of strands; 0: not cut
    double scale;
    int up;           // 0: z, 1: y
    const char* hash; // null: any
    TdlCurves set; // filled by scene_read_curves: those chosen, in the scene's axes, in the arena
    int rest;      // a RestChoice
    TdlStrands strands; // or, where the file has these, so many as the set counts: no points, but
                        // where the curvatures of each start
} CurvesSpec;

typedef struct RodSpec {
    const Node* node;
    const char *name, *material;
    const char* parent; // null: none
    double parent_at;
    int model; // in tdl_rod_models()
    double length, radius[2];
    int elements;
    VecList natural_curvature, curvature;
    double drag;
    ClampSpec clamp;
    int start, end; // a TdlHold each
    MotionSpec end_motion;
    GroupList loads; // of LoadSpec
    RepeatSpec repeat;
    CurvesSpec curves; // length is then that of the shortest
} RodSpec;

typedef struct PieceSpec {
    const Node* node;
    double length;
    TdlVec3 curvature;
} PieceSpec;

typedef struct BodySpec {
    const Node* node;
    const char *name, *material; // null: none
    int shape;                   // a TdlRigidShape
    double radius, length;
    TdlVec3 half;
    GroupList pieces; // of PieceSpec
    double density;
    TdlVec3 position, direction, normal;
    TdlVec3 velocity, angular_velocity;
    RepeatSpec repeat;
} BodySpec;

typedef struct CacheSpec {
    const Node* node; // null: none
    const char* file;
    double fps, start;      // 1/s, s
    const char* hash;       // null: any
    TdlVertexMotion motion; // filled by scene_read_mesh, like the mesh
} CacheSpec;

typedef struct MeshSpec {
    const Node* node; // null: none
    const char* file;
    CacheSpec cache;
    double scale;
    int up;           // 0: z, 1: y
    const char* hash; // null: any
    TdlMesh mesh;     // filled by scene_read_mesh: in the scene's axes, in the arena
} MeshSpec;

typedef struct BoxSpec {
    const Node* node; // null: none
    TdlVec3 from, to;
    double finest;
} BoxSpec;

typedef struct ColliderSpec {
    const Node* node;
    const char *name, *material; // null: none
    int shape;                   // a TdlShape
    TdlVec3 position, direction, normal;
    double radius, length, pitch;
    int teeth;
    GroupList pieces; // of PieceSpec
    MeshSpec mesh;
    const char* expression; // null: none
    BoxSpec box;
    TdlImplicit implicit; // filled by the checks, its data in the arena
    MotionSpec motion;
    TdlVec3 velocity, angular_velocity;
} ColliderSpec;

typedef struct RectangleSpec {
    const Node* node; // null: none
    double size[2];   // m
    int nodes[2];     // columns, rows
} RectangleSpec;

typedef struct TubeSpec {
    const Node* node;      // null: none
    double radius, length; // m
    int nodes[2];          // around, along
} TubeSpec;

typedef struct ShortsSpec {
    const Node* node; // null: none
    double width, depth, rise, legs, spread;
    int nodes[3]; // across, rows of the rise, of the legs
} ShortsSpec;

typedef struct SheetSpec {
    const Node* node; // null: none
    const char* file;
    const char* group; // null: all
    double scale;
    int up;           // 0: z, 1: y
    const char* hash; // null: any
} SheetSpec;

// One of these, and where it is.
typedef struct ShapeSpec {
    RectangleSpec rectangle;
    TubeSpec tube;
    ShortsSpec shorts;
    SheetSpec mesh;
    TdlVec3 position, direction, normal;
} ShapeSpec;

typedef struct ClothPieceSpec {
    const Node* node;
    ShapeSpec shape;
    int first; // filled by scene_make_sheet: its vertices among those of all
} ClothPieceSpec;

typedef struct SeamSpec {
    const Node* node;
    IntList from, to;
    IntList edges; // two of a rectangle's
    int pieces[2]; // that have them
    bool reversed;
    double within, time;
    TdlClothSeam sewn; // filled by scene_make_sheet
} SeamSpec;

typedef struct HoldSpec {
    const Node* node;
    IntList vertices, corners; // the latter of the choices of a rectangle's corners
    TdlVec3 near;
    int edge; // of a rectangle's
    int rim;  // of a tube's or of shorts
    MotionSpec motion;
    IntList held; // filled by scene_check_cloth: the vertices that one of these says
} HoldSpec;

typedef struct ClothSpec {
    const Node* node;
    const char *name, *material; // null: none
    ShapeSpec shape;
    GroupList pieces, seams; // of ClothPieceSpec, SeamSpec
    SheetSpec rest;
    int model;    // a TdlClothModel
    int isometry; // a TdlClothIsometry
    double density, weight, damping, stretch, shear, weft, poisson, bending, bending_damping, drag,
        thickness;
    bool self;
    TdlVec3 velocity, warp;
    GroupList holds; // of HoldSpec
    // filled by scene_check_cloth, in the arena: where it is at first, and its rest shape or null
    TdlClothMesh placed;
    const TdlVec3* rest_shape;
    TdlClothSeam* sewn; // [seams.count]
    int* number;        // [placed.vertex_count] of each in the sewn sheet
    int sewn_count;     // vertices of that
    const int* hold_of; // [sewn_count] which hold has a vertex; -1: none
} ClothSpec;

typedef struct ShellSpec {
    const Node* node;
    const char *name, *material;
    double size[2], thickness;
    TdlVec3 position, direction, normal;
    TdlVec3 natural; // b11, b12, b22
    double curvature, angle;
    int nodes[2];
} ShellSpec;

typedef struct PairSpec {
    const Node* node;
    const char* between[2];
    double friction, restitution;
} PairSpec;

typedef enum DetectionChoice {
    DETECTION_CURVES = 0,
    DETECTION_SEGMENTS,
    DETECTION_BASELINE,
    DETECTION_OFF,
} DetectionChoice;

typedef struct BarrierSpec {
    const Node* node;
    double distance, stiffness, creep; // m, N/m, m/s; 0: chosen
} BarrierSpec;

typedef struct ContactsSpec {
    const Node* node;
    int detection; // a DetectionChoice
    double friction, restitution;
    GroupList pairs; // of PairSpec
    int segments;
    double segment_length;
    bool self;
    double margin;
    int response; // a TdlContactResponse
    BarrierSpec barrier;
    int solver; // a TdlFrictionSolverKind
    double tolerance;
    int max_iterations;
    double overlap; // radii
    int start;      // a TdlContactStart
} ContactsSpec;

// What a scene has lists of.
typedef enum SceneKind {
    SCENE_ROD = 0,
    SCENE_BODY,
    SCENE_CLOTH,
    SCENE_SHELL,
    SCENE_COLLIDER,
} SceneKind;

// What can be observed: a TdlQuantity, or of cloth what a world does not have of any body.
enum {
    SCENE_QUANTITY_STRAIN = TDL_QUANTITY_COUNT,
    SCENE_QUANTITY_HOLD,
    SCENE_QUANTITY_COUNT,
};

typedef struct ObserverSpec {
    const Node* node;
    const char* of[SCENE_QUANTITY_COUNT]; // the name of what is observed; null but for one
    const char* name;                     // of the columns
    double at;                            // m
    int copy;
    // filled by scene_check_observers
    int quantity;
    SceneKind kind;
    int first, count; // in the world, within the kind
} ObserverSpec;

typedef enum StartChoice {
    START_AS_PLACED = 0,
    START_SETTLED,
} StartChoice;

typedef struct InverseSpec {
    const Node* node;
    bool contacts, stiffen;
    double friction_share, guess;
    double reach; // m; 0: as the shapes are known
} InverseSpec;

typedef struct SceneSpec {
    const Node* node;
    const char* title;
    TdlVec3 gravity, wind;
    TimeSpec time;
    int start; // a StartChoice
    bool losses;
    OutputSpec output;
    ContactsSpec contacts;
    InverseSpec inverse;
    GroupList materials, rods, bodies, cloths, shells, colliders, observers;
} SceneSpec;

int scene_copy_count(const RodSpec* rod);
int scene_body_copy_count(const BodySpec* body);

extern const Group SCENE_GROUP;
extern const Group ROD_GROUP, INVERSE_GROUP;                   // scene_rod_tables.c
extern const Group MOTION_GROUP, REPEAT_GROUP;                 // scene_tables.c
extern const Group BODY_GROUP, COLLIDER_GROUP, CONTACTS_GROUP; // scene_contact_tables.c
extern const Group CLOTH_GROUP;                                // scene_cloth_tables.c
extern const Group SHELL_GROUP;                                // scene_shell.c
const char* scene_up_choices(void);

// What groups that name a file of another program have in common.
#define IMPORT_FIELDS(type)                                                                        \
    {.key = "scale",                                                                               \
     .kind = FIELD_REAL,                                                                           \
     AT(type, scale),                                                                              \
     .unit = "m",                                                                                  \
     .range = {1.0e-9, 1.0e9, false, false},                                                       \
     .fallback = "1",                                                                              \
     .help = "What one unit of the file is."},                                                     \
        {.key = "up",                                                                              \
         .kind = FIELD_CHOICE,                                                                     \
         AT(type, up),                                                                             \
         .choices = scene_up_choices,                                                              \
         .fallback = "z",                                                                          \
         .help = "The axis of the file that points up; y becomes z."},                             \
        IMPORT_HASH(type)

#define IMPORT_HASH(type)                                                                          \
    {                                                                                              \
        .key = "hash", .kind = FIELD_TEXT, AT(type, hash), .fallback_note = "any",                 \
        .help = "Of the file; a run writes it into its copy of the scene, and a file that was "    \
                "changed since is refused."                                                        \
    }

extern const char SCENE_EXAMPLE[]; // the one of the reference page

struct TdlScene {
    TdlHost host;
    Arena arena; // holds all below
    NodePool pool;
    Node* root;     // includes and overrides merged in
    bool from_file; // other files may be named
    SceneSpec spec;
    const struct NameEntry* materials_by_name; // [spec.materials.count], sorted
    int rod_count, element_count, dof_count;   // with repetitions
    int rigid_count;                           // the same
    int cloth_vertex_count, shell_vertex_count;
};

// --- stages of loading
// ----------------------------------------------------------------------------

// Parses the file and the files it includes into one tree. A null path: `text` instead, which
// messages call `name` and which may not include anything.
TdlStatus scene_read_tree(TdlScene* scene, const char* path, const char* name, const char* text,
                          size_t size);

// Applies one override, "path.to.key=value", to the tree.
TdlStatus scene_override(TdlScene* scene, const char* text);

// Reads the file that the group names under `file`. The tree then has the file's full path and its
// hash, so that the scene loads to the same world from elsewhere; a given hash must be the file's.
TdlStatus scene_import(TdlScene* scene, const Node* group, const char* hash, const char* what,
                       const Source** out);

// A point of such a file in the scene's units and axes.
TdlVec3 scene_import_point(TdlVec3 p, double scale, int up);

// Reads the file of a rod's curves and chooses from it.
TdlStatus scene_read_curves(TdlScene* scene, RodSpec* rod);

// Reads the keyframes of a recorded motion.
TdlStatus scene_read_recording(TdlScene* scene, MotionSpec* motion);

// Reads the files of a collider's mesh.
TdlStatus scene_read_mesh(TdlScene* scene, MeshSpec* spec);

// The same of strands, which tell the model and the elements too.
TdlStatus scene_read_strands(TdlScene* scene, RodSpec* rod);
bool scene_has_strands(const RodSpec* rod);

// The definition of the rod along curve `index`, out of `def` for all; arrays are in the arena.
TdlStatus scene_fit_curve(const TdlScene* scene, Arena* arena, const RodSpec* rod, int index,
                          TdlRodDef* def);

// Rods that are to rest in their shapes: whether one can, whether there are any, and their natural
// curvatures in a world that was built.
TdlStatus scene_check_inverse(const TdlScene* scene, const RodSpec* rod);
bool scene_has_inverse(const TdlScene* scene);
TdlStatus scene_make_rest(const TdlScene* scene, TdlWorld* world);

// What the schema cannot say: names, references, counts, sums; fills the sums.
TdlStatus scene_check(TdlScene* scene);

// Parts of it. Where a key of a group was written, or the group itself when the key was not given;
// a null name of a material is fine; a normal that was given does not lie along the direction; the
// times of keyframes grow, and those of a recording are read.
Mark scene_mark_of(const Node* map, const char* key);
TdlStatus scene_check_material(const TdlScene* scene, const char* name, Mark mark);
TdlStatus scene_check_axes(const TdlScene* scene, const Node* node, TdlVec3 direction,
                           TdlVec3 normal);
TdlStatus scene_check_motion(TdlScene* scene, MotionSpec* motion);

// The same for a cloth; makes or reads its mesh, and finds what is held of it.
TdlStatus scene_check_cloth(TdlScene* scene, ClothSpec* cloth);

// The same for shells, when all that may be touched is known to be right.
TdlStatus scene_check_shells(TdlScene* scene);

// Makes or reads the mesh of a cloth, puts it where it is at first, and finds its seams.
TdlStatus scene_make_sheet(TdlScene* scene, ClothSpec* cloth);

// Vertices along an edge of a rectangle, in the order of the choices; into `out`, null: none.
int scene_edge_vertices(const RectangleSpec* rectangle, int edge, int* out);

// Vertices of a rim of a tube or of shorts, in the order of the choices; into `out`, null: none.
// 0: it has no such rim.
int scene_rim_vertices(const ShapeSpec* shape, int rim, int* out);

// The same for what is observed, when the rest is known to be right.
TdlStatus scene_check_observers(TdlScene* scene);
bool scene_observes_holds(const TdlScene* scene);

// As tdl_scene_load, but from memory and without includes. Messages call it `name`.
TdlStatus scene_load_text(const TdlHost* host, const char* name, const char* text, size_t size,
                          const char* const* overrides, int override_count, TdlScene** out);

// The definition of the rod at its clamp, without loads, motions and parent; `model` holds the name
// it points to.
TdlRodDef scene_make_rod(const TdlScene* scene, const RodSpec* rod,
                         char model[TDL_SCENE_MODEL_SIZE]);

// The keys of a motion in the arena.
TdlStatus scene_make_motion(Arena* arena, const MotionSpec* spec, TdlMotionDef* out);

// The definition of a body where it is placed. Its pieces are in `arena`: null when that has no
// memory left.
TdlRigidDef scene_make_body(const TdlScene* scene, const BodySpec* body, Arena* arena);

// First axis along `direction`, third as near to `normal` as it can be.
TdlMat3 scene_axes(TdlVec3 direction, TdlVec3 normal);

// The definition of a cloth where it is placed. Its holds and their motions are in `arena`.
TdlStatus scene_make_cloth(const TdlScene* scene, const ClothSpec* cloth, Arena* arena,
                           TdlClothDef* out);

// The definition of a shell whose material is there.
TdlShellPatchDef scene_make_shell(const TdlScene* scene, const ShellSpec* shell);

// The material of that name; null when there is none.
const MaterialSpec* scene_find_material(const TdlScene* scene, const char* name);

// What the world calls a material: 1 for the first, 0 for a null name.
int scene_material_number(const TdlScene* scene, const char* name);

#endif
