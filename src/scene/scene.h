// What a scene file says, after parsing: the structs that the tables of scene_tables.c describe.
#ifndef TDL_SCENE_SCENE_H
#define TDL_SCENE_SCENE_H

#include "base/stop.h"
#include "formats/curves.h"
#include "formats/recording.h"
#include "formats/strands.h"
#include "scene/schema.h"
#include "tendril/cloth.h"
#include "tendril/collider.h"
#include "tendril/grains.h"
#include "tendril/joint.h"
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
    double budget;
    int spent; // a TdlSpent
} TimeSpec;

typedef struct OutputSpec {
    const Node* node;
    double frame;      // s
    double checkpoint; // s of wall time
    int samples;
    bool contacts, forces;
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
    Formula position[3], rotation[3];
    GroupList
        keyframes; // of KeyframeSpec; those of a recording are filled in by scene_check_motion
    RecordingSpec recording;
    TdlVec3 about;
    TdlTimeFn fn; // filled by scene_check_motion where it is told by expressions, in the arena
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

typedef struct AttachSpec {
    const Node* node; // null: none
    const char* to;
    double clear; // m
    // filled by scene_check_attached
    bool joined;     // to a body, by joints; else it rides on a collider
    int first, step; // of a body: its first copy in the world; 0: all starts grow from that, 1:
                     // each from one of its own
} AttachSpec;

typedef struct LoadKeySpec {
    const Node* node;
    double time;
    TdlVec3 force, torque;
} LoadKeySpec;

// On a rod, a body or a cloth: each has its own keys for where it acts.
typedef struct LoadSpec {
    const Node* node;
    double at; // m
    int vertex;
    TdlVec3 place;
    bool turns;
    Formula force[3], torque[3];
    GroupList keyframes; // of LoadKeySpec
    int interpolation;   // a TdlInterpolation
    const char* file;    // null: none
    const char* hash;    // null: any
    // filled by scene_check_loads
    bool varies, file_turns; // it has an expression, keyframes or a file; the file has torques
    TdlTimeFn value;         // in the arena
} LoadSpec;

typedef struct SectionSpec {
    const Node* node;
    TdlRodSection section;
} SectionSpec;

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

typedef struct NaturalKeySpec {
    const Node* node;
    double time;
    VecList curvature;
} NaturalKeySpec;

typedef struct NaturalMotionSpec {
    const Node* node;    // null: it stays
    int interpolation;   // a TdlInterpolation
    GroupList keyframes; // of NaturalKeySpec
} NaturalMotionSpec;

typedef struct TensionKeySpec {
    const Node* node;
    double time, tension;
} TensionKeySpec;

typedef struct TendonSpec {
    const Node* node;
    double from, to, offset[2], turns, tension;
    int guides;
    int interpolation;   // a TdlInterpolation
    GroupList keyframes; // of TensionKeySpec
} TendonSpec;

typedef struct RopeSpec {
    const Node* node; // null: none
    IntList strands;
    double lay[2], gap;
    int laid; // a LaidChoice
    VecList through;
} RopeSpec;

typedef enum LaidChoice { LAID_STRESS_FREE = 0, LAID_BENT } LaidChoice;

typedef struct RodSpec {
    const Node* node;
    const char *name, *material;
    const char* parent; // null: none
    double parent_at;
    int model; // in tdl_rod_models()
    double length, radius[2];
    int elements;
    VecList natural_curvature, curvature; // the second of `pieces` filled by the checks
    GroupList pieces;                     // of PieceSpec
    GroupList sections;                   // of SectionSpec
    const TdlRodSection* section;         // [sections.count], filled by the checks, in the arena
    double drag;
    ClampSpec clamp;
    int start, end; // a TdlHold each
    MotionSpec end_motion;
    GroupList loads; // of LoadSpec
    RepeatSpec repeat;
    NaturalMotionSpec natural_motion;
    GroupList tendons; // of TendonSpec
    // filled by scene_check_drive, in the arena
    const TdlNaturalKey* natural_key; // [natural_motion.keyframes.count]
    const TdlTendonDef* tendon;       // [tendons.count]
    CurvesSpec curves;                // length is then that of the shortest
    RopeSpec rope;                    // its wires become the strands of `curves`
    AttachSpec attach;
} RodSpec;

typedef struct PieceSpec {
    const Node* node;
    double length;
    TdlVec3 curvature;
} PieceSpec;

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

typedef struct BodySpec {
    const Node* node;
    const char *name, *material; // null: none
    int shape;                   // a TdlRigidShape
    double radius, inner_radius, rounding, length;
    TdlVec3 half;
    GroupList pieces; // of PieceSpec
    MeshSpec mesh;
    double density, mass; // 0: not given
    TdlVec3 inertia, inertia_products, centre;
    TdlVec3 position, direction, normal;
    TdlVec3 velocity, angular_velocity;
    GroupList loads; // of LoadSpec
    RepeatSpec repeat;
} BodySpec;

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
    double radius, inner_radius, length, pitch;
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
    GroupList loads; // of LoadSpec
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

typedef struct GrainsGridSpec {
    const Node* node;
    TdlVec3 low, high;
    double spacing;
    IntList periodic; // axes, 0: x, 1: y
} GrainsGridSpec;

typedef struct GrainsFastSpec {
    const Node* node; // null: friction is the same at any rate
    double friction, inertial, grain;
} GrainsFastSpec;

typedef struct GrainsFillSpec {
    const Node* node;
    int shape; // a TdlFillShape
    TdlVec3 low, high, centre, velocity;
    double radius, height;
    double fraction; // the packing when it is not given, filled by scene_check_grains
} GrainsFillSpec;

typedef struct GrainsSpec {
    const Node* node; // null: none
    const char *name, *material;
    int dimension;
    GrainsGridSpec grid;
    GrainsFastSpec fast;
    GroupList fills; // of GrainsFillSpec
    double friction, density, packing, viscosity, cohesion, jitter, depth;
    int per_cell; // filled likewise
    int seed;
    int stress; // a TdlGrainsStress
    bool fixed;
} GrainsSpec;

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

typedef struct JointEndSpec {
    const Node* node; // null: the world
    const char* name; // of the thing
    int copy;
    double at; // m or a vertex; infinite: the end of a rod
    TdlVec3 place;
    // filled by scene_check_joints: what the world calls it
    const char* kind;
    int first, count;
} JointEndSpec;

typedef struct JointSpringSpec {
    const Node* node; // null: none
    double stiffness, damping, rest;
} JointSpringSpec;

typedef struct MotorKeySpec {
    const Node* node;
    double time, speed, place; // one of the latter two
} MotorKeySpec;

typedef struct JointMotorSpec {
    const Node* node;     // null: none
    Formula speed, place; // one of them, or
    GroupList keyframes;  // of MotorKeySpec, or
    int interpolation;    // a TdlInterpolation
    const char* file;     // null: none
    const char* hash;     // null: any
    double most;
    // filled by scene_check_joints
    TdlMotorMode mode;
    TdlTimeFn target; // in the arena; `at` null: a number
} JointMotorSpec;

typedef struct JointBreaksSpec {
    const Node* node; // null: never
    double force, torque;
} JointBreaksSpec;

typedef struct JointSpec {
    const Node* node;
    const char* name;
    int kind; // a TdlJointKind
    JointEndSpec end[2];
    bool next;
    TdlVec3 point, axis;
    double length, stiffness, damping, turning_stiffness, turning_damping, clear;
    JointSpringSpec spring;
    JointMotorSpec motor;
    double range[2], during[2], every;
    bool as_placed;
    JointBreaksSpec breaks;
    int count; // filled by scene_check_joints: of joints, one for each copy
} JointSpec;

// What a scene has lists of.
typedef enum SceneKind {
    SCENE_ROD = 0,
    SCENE_BODY,
    SCENE_CLOTH,
    SCENE_SHELL,
    SCENE_COLLIDER,
    SCENE_JOINT,
    SCENE_GRAINS,
    SCENE_KIND_COUNT,
} SceneKind;

// What can be observed: a TdlQuantity, or what only a cloth, a joint or a bed of grains has.
enum {
    SCENE_QUANTITY_STRAIN = TDL_QUANTITY_COUNT,
    SCENE_QUANTITY_HOLD,
    SCENE_QUANTITY_COORDINATE,  // of a joint
    SCENE_QUANTITY_MASS_BEYOND, // of grains, as those below
    SCENE_QUANTITY_RUN_OUT,
    SCENE_QUANTITY_VOLUME_KEPT,
    SCENE_QUANTITY_LOST,
    SCENE_QUANTITY_COUNT,
};

typedef struct PlaneSpec {
    const Node* node; // null: none
    TdlVec3 point, normal;
} PlaneSpec;

typedef struct ObserverSpec {
    const Node* node;
    const char* of[SCENE_QUANTITY_COUNT]; // the name of what is observed; null but for one
    const char* name;                     // of the columns
    double at;                            // m
    int copy;
    PlaneSpec plane; // of a mass beyond it
    TdlVec3 about;   // of a run-out
    // filled by scene_check_observers
    int asked;    // which of `of`
    int quantity; // the same, but that of an end of a rod says which
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
    GrainsSpec grains;
    GroupList materials, rods, bodies, cloths, shells, colliders, joints, observers;
} SceneSpec;

int scene_copy_count(const RodSpec* rod);
int scene_body_copy_count(const BodySpec* body);

extern const Group SCENE_GROUP;
extern const Group ROD_GROUP, INVERSE_GROUP;                          // scene_rod_tables.c
extern const Group ATTACH_GROUP;                                      // scene_attach.c
extern const Group MOTION_GROUP, REPEAT_GROUP;                        // scene_tables.c
extern const Group ROD_LOAD_GROUP, BODY_LOAD_GROUP, CLOTH_LOAD_GROUP; // scene_load.c
extern const Group BODY_GROUP, COLLIDER_GROUP, CONTACTS_GROUP;        // scene_contact_tables.c
extern const Group PIECE_GROUP;                                       // scene_pieces.c
extern const Group CLOTH_GROUP;                                       // scene_cloth_tables.c
extern const Group SHELL_GROUP;                                       // scene_shell.c
extern const Group JOINT_GROUP;                                       // scene_joint.c
extern const Group GRAINS_GROUP;                                      // scene_grains.c
const char* scene_up_choices(void);
const char* scene_interpolation_choices(void);

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
    Stop stop; // asked while a world is built, and by it
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

// Reads a .csv that the group names; a warning where rows have gaps. recording_free gives it back.
TdlStatus scene_read_csv(TdlScene* scene, const Node* group, const char* hash, const char* what,
                         const RecordingKind* kind, const char* marker, Recording* out);

// Functions of the time, their data in the arena: of two vectors each a number or an expression
// (null: 0); through keys; of a file. What has no number at time 0 is refused. scene_time.c
TdlStatus scene_time_formulas(TdlScene* scene, const Formula* const part[2], TdlTimeFn* out);
TdlStatus scene_time_formula(TdlScene* scene, const Formula* formula, TdlTimeFn* out);
TdlStatus scene_time_keys(TdlScene* scene, const TdlKeyframe* keys, int count, int interpolation,
                          TdlTimeFn* out);
TdlStatus scene_check_growing(const TdlScene* scene, const Node* key, double before, double time);

// How it goes between moments: as told, or evenly what was read from a file.
int scene_interpolation(const Node* node, int told);

// Loads of a rod of a length, a body or a cloth (whose mesh is there); and in a world.
TdlStatus scene_check_loads(TdlScene* scene, GroupList* loads, double length);
TdlStatus scene_check_cloth_loads(TdlScene* scene, ClothSpec* cloth);
TdlStatus scene_make_loads(const GroupList* loads, bool constant, const int* number,
                           TdlWorld* world, TdlBodyId body);

// Whether it is moved at all.
static inline bool scene_moves(const MotionSpec* motion) {
    return motion->keyframes.count > 0 || motion->fn.at != NULL;
}

// Reads the keyframes of a recorded motion.
TdlStatus scene_read_recording(TdlScene* scene, MotionSpec* motion);

// Reads the files of a collider's mesh.
TdlStatus scene_read_mesh(TdlScene* scene, MeshSpec* spec);

// The same of strands, which tell the model and the elements too.
TdlStatus scene_read_strands(TdlScene* scene, RodSpec* rod);
bool scene_has_strands(const RodSpec* rod);

// The keys of a rod's natural shape and its tendons, as its definition has them. scene_drive.c
TdlStatus scene_check_drive(TdlScene* scene, RodSpec* rod);

// The pieces of a chain in the arena, which the world copies; null when there is no memory. What is
// wrong with some, or with those of a tube; and what a rod has of them as its first shape.
// scene_pieces.c
TdlCurvePiece* scene_make_pieces(Arena* arena, const GroupList* list);
TdlStatus scene_check_pieces(const TdlScene* scene, const GroupList* list);
TdlStatus scene_check_tube(const TdlScene* scene, const ColliderSpec* tube);
TdlStatus scene_lay_pieces(TdlScene* scene, RodSpec* rod);

// Lays the rope of a rod: its wires are the rod's strands from then on. scene_rope.c
TdlStatus scene_lay_rope(TdlScene* scene, RodSpec* rod);

// Room for the strands of a rod, with so many curvatures in all. False: no memory.
bool scene_reserve_strands(TdlScene* scene, CurvesSpec* spec, int count, size_t curvatures);

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
TdlStatus scene_check_repeat(const TdlScene* scene, const RepeatSpec* repeat);

// Keys of a shape: those that it needs must be there, those that it may have may be; any other that
// belongs to some shape must not. Lists end with null.
enum { SHAPE_KEYS_MAX = 8 };
typedef struct ShapeKeys {
    const char* name; // of the shape, in messages
    const char* needs[SHAPE_KEYS_MAX];
    const char* takes[SHAPE_KEYS_MAX];
} ShapeKeys;

TdlStatus scene_check_keys(const TdlScene* scene, const Node* map, const ShapeKeys* shape,
                           const char* const* of_shapes);

// One entry under `bodies`; reads the file of its mesh.
TdlStatus scene_check_body(TdlScene* scene, BodySpec* body);

// The same for a cloth; makes or reads its mesh, and finds what is held of it.
TdlStatus scene_check_cloth(TdlScene* scene, ClothSpec* cloth);

// The same for shells, when all that may be touched is known to be right.
TdlStatus scene_check_shells(TdlScene* scene);

// The same for grains; and their definition, whose fills are in `arena`. The box around a fill.
// scene_grains.c
TdlStatus scene_check_grains(TdlScene* scene);
TdlStatus scene_make_grains(const TdlScene* scene, Arena* arena, TdlGrainsDef* out);
void scene_fill_box(const GrainsFillSpec* fill, TdlVec3* low, TdlVec3* high);

// The same for joints, when all that they may join is known to be right; and joins what is there.
TdlStatus scene_check_joints(TdlScene* scene);
TdlStatus scene_make_joints(const TdlScene* scene, TdlWorld* world);

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
bool scene_observes_forces(const TdlScene* scene); // inside rods

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

// Rods whose starts ride on colliders: what is said of them, and in a world where all is there.
TdlStatus scene_check_attached(TdlScene* scene);
TdlStatus scene_attach_rods(const TdlScene* scene, TdlWorld* world);
// The joints of starts on bodies follow those of the scene: of how many copies of all rods, and of
// those before the rod number `rod`.
int scene_attached_joints(const TdlScene* scene, int rod);
TdlStatus scene_join_rods(const TdlScene* scene, TdlWorld* world);

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
