// Cloth: sheets of quads and triangles that hardly stretch. It lives in a world (world.h).
#ifndef TENDRIL_CLOTH_H
#define TENDRIL_CLOTH_H

#include "tendril/body.h"
#include "tendril/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Faces of a sheet. Quads are best: their edges keep their lengths, and one shear at the centre
/// keeps their angles, which leaves a sheet free to bend. Triangles keep theirs by their edges.
typedef struct TdlClothMesh {
    const TdlVec3* vertices; // [vertex_count], m
    int vertex_count;
    const int* faces; // [4 face_count] corners in turn, from 0; the fourth of a triangle is -1
    int face_count;
} TdlClothMesh;

/// What is wrong with a mesh, first; null: nothing. `face` receives where, or -1.
TDL_API const char* tdl_cloth_mesh_fault(const TdlClothMesh* mesh, int* face);

/// A rectangle in the plane of the first two axes, its middle at the origin: columns * rows
/// vertices, row by row, and (columns - 1)(rows - 1) quads, into vertices[columns * rows] and
/// faces[4 (columns - 1)(rows - 1)]. Columns run along the first axis.
TDL_API TdlClothMesh tdl_cloth_rectangle(double width, double height, int columns, int rows,
                                         TdlVec3* vertices, int* faces);

/// A tube about the third axis, its middle at the origin: around * along vertices, ring by ring
/// from below, each from the first axis on, and around (along - 1) quads. A prism: it has the area
/// 2 around radius sin(pi / around) length. around >= 3, along >= 2.
TDL_API TdlClothMesh tdl_cloth_tube(double radius, double length, int around, int along,
                                    TdlVec3* vertices, int* faces);

/// A pair of shorts: a trunk about the third axis that parts into two legs at the crotch, which is
/// at the origin. All faces are quads.
typedef struct TdlClothShorts {
    double width, depth; // m, of the trunk along the first and the second axis; width > depth > 0
    double rise, legs;   // m, > 0: heights of the trunk above the crotch and of the legs below
    double spread;       // m, > 0: how far out the legs go, each
    int across;          // >= 1: columns of the front of one leg between crotch and side
    int rise_rows, leg_rows; // >= 1: rows of quads
} TdlClothShorts;

/// Of a ring of 4 across + 4 vertices, of which a leg has its half and the crotch: the vertices
/// (4 across + 4)(rise_rows + 1) + 2 (2 across + 3) leg_rows and the quads
/// (4 across + 4) rise_rows + 2 (2 across + 3) leg_rows.
TDL_API void tdl_cloth_shorts_counts(const TdlClothShorts* shorts, int* vertex_count,
                                     int* face_count);

/// Rings from the waist down, then those of the right leg (towards the first axis) from below the
/// crotch down, then of the left. A ring of the trunk goes from the middle of the front (towards
/// minus the second axis) by the right side to the middle of the back and by the left side to the
/// front again; one of a leg from the front by its side to the back.
TDL_API TdlClothMesh tdl_cloth_shorts(const TdlClothShorts* shorts, TdlVec3* vertices, int* faces);

/// Vertices that are sewn, from[k] to to[k]. Those that are not farther apart than `within` become
/// one. The others are drawn together till the time `time`, as near as sheets of their thickness
/// may be; without a time they are a fault. Each side keeps its own lengths at rest; across a seam
/// of pieces that do not join at rest the cloth wants to be flat.
typedef struct TdlClothSeam {
    const int *from, *to; // [count], copied
    int count;
    double within; // m, >= 0
    double time;   // s, >= 0 of the world's clock; 0: nothing is drawn
} TdlClothSeam;

/// How a sheet stretches.
typedef enum TdlClothModel {
    TDL_CLOTH_INEXTENSIBLE, // hardly: edges and angles are kept
    TDL_CLOTH_ELASTIC,      // as an elastic membrane of two threads
} TdlClothModel;

/// Vertices that are held: they go, as one rigid thing, where the motion takes them, turning about
/// the place that they have in the mean at first.
typedef struct TdlClothHold {
    const int* vertices; // [count], copied
    int count;
    TdlMotionDef motion; // default: they stay where they are
} TdlClothHold;

/// How a sheet keeps its lengths and angles.
typedef enum TdlClothIsometry {
    TDL_ISOMETRY_EDGES = 0, // every edge, and every quad's angle
    TDL_ISOMETRY_S3, // of a flat sheet of rectangles the mean of its metric about every inner
                     // vertex, and the edges of its rim: lengths in between may change by percents
} TdlClothIsometry;

/// A sheet obeys rho a = -delta g - (alpha + beta K) v - kappa K x per area, and keeps its lengths.
typedef struct TdlClothDef {
    TdlClothMesh mesh;   // copied; where it is at first
    const TdlVec3* rest; // [mesh.vertex_count], m: the shape whose lengths and angles it keeps, and
                         // in which it is not bent, copied; null: the mesh itself
    const TdlVec3* rest_corners; // [4 mesh.face_count], m, the same by face and corner, copied:
                                 // faces of one vertex may have it at different places; null: rest
    const TdlClothSeam* seams;   // [seam_count]; holds and seams count vertices as the mesh does
    int seam_count;
    TdlClothModel model;       // default: inextensible
    TdlClothIsometry isometry; // default edges; the other is to compare with
    double density;            // rho, kg/m^2, > 0: what inertia sees; default 0.15
    double weight;             // delta, kg/m^2, what gravity sees; negative (default): the density
    double damping;            // alpha, kg/(m^2 s), >= 0; default 0.1
    double stretch; // Y, N/m, > 0: tension over strain; default 1e6. Elastic: along the warp
    double shear;   // G, N/m: shear force over the change of a quad's angle; negative (default): Y,
                    // so that angles are kept as lengths are; woven cloth has far less. Elastic:
                    // negative is sqrt(stretch * weft) / (2 (1 + poisson)), as of no direction
    double weft;    // N/m, elastic only: across the warp; negative (default): as stretch
    double poisson; // elastic only: what is pulled along the warp narrows by so much of its strain,
                    // 0 <= poisson < sqrt(stretch / weft); default 0.3
    TdlVec3 warp;   // elastic only: where its threads go in the rest shape, as near as faces let
                    // them, which it must not be across; default the first axis
    double bending; // kappa, N m, >= 0; default 1e-5
    double bending_damping; // beta over kappa, s, >= 0; default 0.02
    double drag; // kg/(m^2 s), >= 0, across the sheet, of its velocity against the world's wind;
                 // default 0
    double thickness;          // m, > 0, of the sheet as contacts see it; default 1e-3
    bool self;                 // it touches itself; default true
    const TdlClothHold* holds; // [hold_count]
    int hold_count;
    TdlVec3 velocity; // m/s, of what is not held, at first
    int material;     // 0 to TDL_MATERIAL_LIMIT - 1; default 0
} TdlClothDef;

TDL_API TdlClothDef tdl_cloth_def_default(void);

/// What is wrong with the seams of a definition whose mesh has no fault; null: nothing. `seam` and
/// `pair` receive where; -1: not of one.
TDL_API const char* tdl_cloth_seam_fault(const TdlClothDef* def, int* seam, int* pair);

/// Which vertex of the sewn sheet each of the mesh becomes, [mesh.vertex_count]; returns how many
/// there are. Those of the world are numbered so.
TDL_API int tdl_cloth_sewn_vertices(const TdlClothDef* def, int* number);

/// The first thing that is wrong with a definition; null: nothing.
TDL_API const char* tdl_cloth_def_fault(const TdlClothDef* def);

TDL_API TdlStatus tdl_world_add_cloth(TdlWorld* world, const TdlClothDef* def, TdlBodyId* out);

// Those that follow refuse an id that is not a cloth of the world: TDL_STATUS_BAD_ARGUMENT.

/// As given, sewn, with the mesh and the rest shape by corners in the world's own memory, the
/// vertices where they are now, and without its holds. Its seams are those that are drawn.
TDL_API TdlStatus tdl_cloth_def(const TdlWorld* world, TdlBodyId cloth, TdlClothDef* out);

/// The triangles that stand for it in contact and in pictures: of a quad two, about the diagonal
/// from its first corner. [3 triangle_count] corners, in the world's own memory.
TDL_API TdlStatus tdl_cloth_triangles(const TdlWorld* world, TdlBodyId cloth, const int** triangles,
                                      int* triangle_count);

/// Where its vertices are, m, and their velocities, m/s: [vertex_count]; null: not asked for.
TDL_API TdlStatus tdl_cloth_state(const TdlWorld* world, TdlBodyId cloth, TdlVec3* positions,
                                  TdlVec3* velocities);

/// What it is stretched by. An edge that is shorter than at rest counts as well.
typedef struct TdlClothStrain {
    double largest; // the largest change of an edge's length over its length and, where shear is
                    // not softer than stretch, of an angle, rad; elastic: the largest principal
                    // strain of a face; with S3's isometry of any edge, whether it keeps it or not
    double area;    // relative change of the area of all faces
} TdlClothStrain;
TDL_API TdlStatus tdl_cloth_strain(const TdlWorld* world, TdlBodyId cloth, TdlClothStrain* out);

/// The strain of each vertex: the largest of its edges and faces, [vertex_count].
TDL_API TdlStatus tdl_cloth_vertex_strains(const TdlWorld* world, TdlBodyId cloth, double* out);

/// The force of what holds a vertex, N, in the last step; 0 of one that is not held.
TDL_API TdlStatus tdl_cloth_hold_force(const TdlWorld* world, TdlBodyId cloth, int vertex,
                                       TdlVec3* out);

#ifdef __cplusplus
}
#endif

#endif
