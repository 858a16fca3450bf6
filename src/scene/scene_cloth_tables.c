// The scene language: cloth. Rectangles, meshes of files, what is held.
#include "scene/scene.h"

#define ANY_LENGTH                                                                                 \
    { -1.0e9, 1.0e9, false, false }
#define AT(type, member) .offset = offsetof(type, member)

// in the order of the corners of scene_cloth.c
static const char* corner_choices(void) {
    return "bottom-left|bottom-right|top-left|top-right";
}

// in the order of scene_edge_vertices
static const char* edge_choices(void) {
    return "left|right|bottom|top";
}

// in the order of scene_rim_vertices
static const char* rim_choices(void) {
    return "bottom|top|waist|right|left";
}

// in the order of TdlClothModel
static const char* model_choices(void) {
    return "inextensible|elastic";
}

static const Field RECTANGLE_FIELDS[] = {
    {.key = "size",
     .kind = FIELD_PAIR,
     AT(RectangleSpec, size),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .required = true,
     .help = "Along the first and the second axis; one number is a square."},
    {.key = "nodes",
     .kind = FIELD_COUNT2,
     AT(RectangleSpec, nodes),
     .range = {2, 100000, false, false},
     .required = true,
     .help = "Columns along the first axis, rows along the second: vertices, row by row from the "
             "bottom, each from the left."},
    {0},
};

static const Group RECTANGLE_GROUP = {
    .name = "rectangle",
    .help = "A flat sheet of quads, its middle at the position. Left and bottom are where the "
            "first and the second axis begin.",
    .size = sizeof(RectangleSpec),
    .fields = RECTANGLE_FIELDS,
};

static const Field TUBE_FIELDS[] = {
    {.key = "radius",
     .kind = FIELD_REAL,
     AT(TubeSpec, radius),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .required = true,
     .help = "From the axis to the vertices."},
    {.key = "length",
     .kind = FIELD_REAL,
     AT(TubeSpec, length),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .required = true,
     .help = "Along the third axis."},
    {.key = "nodes",
     .kind = FIELD_COUNT2,
     AT(TubeSpec, nodes),
     .range = {2, 100000, false, false},
     .required = true,
     .help = "Vertices around, 3 or more, and rings along: ring by ring from the bottom, each from "
             "the first axis on."},
    {0},
};

static const Group TUBE_GROUP = {
    .name = "tube",
    .help = "A prism of quads about the third axis, its middle at the position.",
    .size = sizeof(TubeSpec),
    .fields = TUBE_FIELDS,
};

static const Field SHORTS_FIELDS[] = {
    {.key = "width",
     .kind = FIELD_REAL,
     AT(ShortsSpec, width),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .required = true,
     .help = "Of the trunk, along the first axis."},
    {.key = "depth",
     .kind = FIELD_REAL,
     AT(ShortsSpec, depth),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .required = true,
     .help = "From front to back, along the second axis; less than the width."},
    {.key = "rise",
     .kind = FIELD_REAL,
     AT(ShortsSpec, rise),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .required = true,
     .help = "From the crotch up to the waist, along the third axis."},
    {.key = "legs",
     .kind = FIELD_REAL,
     AT(ShortsSpec, legs),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .required = true,
     .help = "From the crotch down."},
    {.key = "spread",
     .kind = FIELD_REAL,
     AT(ShortsSpec, spread),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .required = true,
     .help = "How far out each leg has gone at its end."},
    {.key = "nodes",
     .kind = FIELD_COUNT3,
     AT(ShortsSpec, nodes),
     .range = {1, 1000, false, false},
     .required = true,
     .help = "Columns of quads from the middle to a side; rows of the rise; rows of the legs. "
             "Rings from the waist down, then those of the right leg and of the left, below the "
             "crotch."},
    {0},
};

static const Group SHORTS_GROUP = {
    .name = "shorts",
    .help = "A trunk that parts into two legs, all of quads, the crotch at the position. Front is "
            "towards minus the second axis, right towards the first.",
    .size = sizeof(ShortsSpec),
    .fields = SHORTS_FIELDS,
};

static const Field SHEET_FIELDS[] = {
    {.key = "file",
     .kind = FIELD_PATH,
     AT(SheetSpec, file),
     .required = true,
     .help = "An .obj with faces, relative to this file."},
    {.key = "group",
     .kind = FIELD_TEXT,
     AT(SheetSpec, group),
     .fallback_note = "all faces",
     .help = "Takes the faces under `g` or `o` lines of this name, and their vertices alone."},
    IMPORT_FIELDS(SheetSpec),
    {0},
};

static const Group SHEET_GROUP = {
    .name = "cloth-mesh",
    .help = "A sheet from a file of another program: quads, which are best, and triangles. At an "
            "edge two faces meet at most.",
    .size = sizeof(SheetSpec),
    .fields = SHEET_FIELDS,
};

static const Group REST_GROUP = {
    .name = "rest",
    .help = "A shape of the same vertices, whose lengths and angles a cloth keeps and in which it "
            "is not bent. Where it is does not matter, nor do its faces.",
    .size = sizeof(SheetSpec),
    .fields = SHEET_FIELDS,
};

// In the order of TdlClothIsometry.
static const char* isometry_choices(void) {
    return "edges|s3";
}

static const Field HOLD_FIELDS[] = {
    {.key = "vertices",
     .kind = FIELD_INTS,
     AT(HoldSpec, vertices),
     .range = {0, 2147483647, false, false},
     .fallback_note = "one of these five",
     .help = "Which are held, from 0 in the order of the mesh."},
    {.key = "corners",
     .kind = FIELD_CHOICES,
     AT(HoldSpec, corners),
     .choices = corner_choices,
     .fallback_note = "one of these five",
     .help = "Of a rectangle."},
    {.key = "edge",
     .kind = FIELD_CHOICE,
     AT(HoldSpec, edge),
     .choices = edge_choices,
     .fallback_note = "one of these five",
     .help = "Of a rectangle: all vertices along it."},
    {.key = "rim",
     .kind = FIELD_CHOICE,
     AT(HoldSpec, rim),
     .choices = rim_choices,
     .fallback_note = "one of these five",
     .help = "Of a tube (bottom, top) or of shorts (waist, right, left): all vertices around it."},
    {.key = "near",
     .kind = FIELD_VEC3,
     AT(HoldSpec, near),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback_note = "one of these five",
     .help = "The vertex that is nearest to this place of the world at first."},
    {.key = "motion",
     .kind = FIELD_GROUP,
     AT(HoldSpec, motion),
     .group = &MOTION_GROUP,
     .fallback_note = "still",
     .help = "How they move, as one rigid thing that turns about the mean of their first places."},
    {0},
};

static const Group HOLD_GROUP = {
    .name = "hold",
    .help = "Vertices of a cloth that go where they are led. None is held twice.",
    .size = sizeof(HoldSpec),
    .fields = HOLD_FIELDS,
};

// Where a shape is, of which `struct` has one.
#define PLACE_FIELDS(type)                                                                         \
    {.key = "position",                                                                            \
     .kind = FIELD_VEC3,                                                                           \
     AT(type, shape.position),                                                                     \
     .unit = "m",                                                                                  \
     .range = ANY_LENGTH,                                                                          \
     .fallback = "[0, 0, 0]",                                                                      \
     .help = "Of the middle of a rectangle or a tube, of the crotch of shorts, of the origin of "  \
             "a mesh or of pieces."},                                                              \
        {.key = "direction",                                                                       \
         .kind = FIELD_DIRECTION,                                                                  \
         AT(type, shape.direction),                                                                \
         .range = ANY_LENGTH,                                                                      \
         .fallback = "[1, 0, 0]",                                                                  \
         .help = "Its first axis; any length."},                                                   \
    {                                                                                              \
        .key = "normal", .kind = FIELD_DIRECTION, AT(type, shape.normal), .range = ANY_LENGTH,     \
        .fallback = "[0, 0, 1]",                                                                   \
        .help = "Its third axis, across a rectangle and along a tube, lies as near to this as "    \
                "it can."                                                                          \
    }

#define SHAPE_FIELDS(type)                                                                         \
    {.key = "rectangle",                                                                           \
     .kind = FIELD_GROUP,                                                                          \
     AT(type, shape.rectangle),                                                                    \
     .group = &RECTANGLE_GROUP,                                                                    \
     .fallback_note = "one of these",                                                              \
     .help = "Makes it a flat rectangle."},                                                        \
        {.key = "tube",                                                                            \
         .kind = FIELD_GROUP,                                                                      \
         AT(type, shape.tube),                                                                     \
         .group = &TUBE_GROUP,                                                                     \
         .fallback_note = "one of these",                                                          \
         .help = "Makes it a tube, open at both ends."},                                           \
        {.key = "shorts",                                                                          \
         .kind = FIELD_GROUP,                                                                      \
         AT(type, shape.shorts),                                                                   \
         .group = &SHORTS_GROUP,                                                                   \
         .fallback_note = "one of these",                                                          \
         .help = "Makes it a pair of shorts."},                                                    \
    {                                                                                              \
        .key = "mesh", .kind = FIELD_GROUP, AT(type, shape.mesh), .group = &SHEET_GROUP,           \
        .fallback_note = "one of these", .help = "Takes its faces from a file."                    \
    }

static const Field PIECE_FIELDS[] = {
    SHAPE_FIELDS(ClothPieceSpec),
    PLACE_FIELDS(ClothPieceSpec),
    {0},
};

static const Group CLOTH_PIECE_GROUP = {
    .name = "cloth-piece",
    .help = "A part of a cloth, in the axes of the cloth. Seams join them; what they do not join "
            "hangs apart.",
    .size = sizeof(ClothPieceSpec),
    .fields = PIECE_FIELDS,
};

static const Field SEAM_FIELDS[] = {
    {.key = "edges",
     .kind = FIELD_CHOICES,
     AT(SeamSpec, edges),
     .choices = edge_choices,
     .fallback_note = "required without `from` and `to`",
     .help = "Two edges of rectangles with as many vertices, the first with the first: from the "
             "bottom or from the left."},
    {.key = "pieces",
     .kind = FIELD_COUNT2,
     AT(SeamSpec, pieces),
     .range = {0, 2147483647, false, false},
     .fallback = "[0, 0]",
     .help = "Which pieces have these edges, from 0."},
    {.key = "from",
     .kind = FIELD_INTS,
     AT(SeamSpec, from),
     .range = {0, 2147483647, false, false},
     .fallback_note = "required without `edges`",
     .help = "Vertices, from 0 in the order of the mesh or of the pieces one after another."},
    {.key = "to",
     .kind = FIELD_INTS,
     AT(SeamSpec, to),
     .range = {0, 2147483647, false, false},
     .fallback_note = "required without `edges`",
     .help = "As many, which they are sewn to."},
    {.key = "reversed",
     .kind = FIELD_BOOL,
     AT(SeamSpec, reversed),
     .fallback = "false",
     .help = "Sews the first to the last."},
    {.key = "within",
     .kind = FIELD_REAL,
     AT(SeamSpec, within),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "1e-6",
     .help = "Vertices that are no farther apart become one, half way."},
    {.key = "time",
     .kind = FIELD_REAL,
     AT(SeamSpec, time),
     .unit = "s",
     .range = {0.0, 1.0e9, false, false},
     .fallback_note = "those farther apart are refused",
     .help = "Those farther apart are drawn together till then, to 1.5 thicknesses."},
    {0},
};

static const Group SEAM_GROUP = {
    .name = "seam",
    .help = "Vertices of a cloth that are sewn together. Each side keeps its own lengths. Holds "
            "count vertices as before sewing, results as after.",
    .size = sizeof(SeamSpec),
    .fields = SEAM_FIELDS,
};

static const Field CLOTH_FIELDS[] = {
    {.key = "name",
     .kind = FIELD_NAME,
     AT(ClothSpec, name),
     .required = true,
     .help = "What messages and overrides call it."},
    SHAPE_FIELDS(ClothSpec),
    {.key = "pieces",
     .kind = FIELD_GROUPS,
     AT(ClothSpec, pieces),
     .group = &CLOTH_PIECE_GROUP,
     .fallback_note = "one of these",
     .help = "Makes it of several."},
    {.key = "seams",
     .kind = FIELD_GROUPS,
     AT(ClothSpec, seams),
     .group = &SEAM_GROUP,
     .fallback_note = "none",
     .help = "What is sewn of it."},
    {.key = "rest",
     .kind = FIELD_GROUP,
     AT(ClothSpec, rest),
     .group = &REST_GROUP,
     .fallback_note = "the shape that it has at first",
     .help = "Its shape without forces."},
    PLACE_FIELDS(ClothSpec),
    {.key = "velocity",
     .kind = FIELD_VEC3,
     AT(ClothSpec, velocity),
     .unit = "m/s",
     .range = {-1.0e6, 1.0e6, false, false},
     .fallback = "[0, 0, 0]",
     .help = "Of what is not held, at the start."},
    {.key = "isometry",
     .kind = FIELD_CHOICE,
     AT(ClothSpec, isometry),
     .choices = isometry_choices,
     .fallback = "edges",
     .help =
         "What of its metric it keeps: `edges`, the length of every edge and the angle of every "
         "quad; `s3`, to compare with, of a flat sheet of rectangles the mean of the metric "
         "about every inner vertex and the edges of the rim, which leaves its area and the "
         "edges within free to change by percents."},
    {.key = "density",
     .kind = FIELD_REAL,
     AT(ClothSpec, density),
     .unit = "kg/m^2",
     .range = {1.0e-9, 1.0e9, false, false},
     .fallback = "0.15",
     .help = "Mass per area, as inertia sees it."},
    {.key = "weight",
     .kind = FIELD_REAL,
     AT(ClothSpec, weight),
     .unit = "kg/m^2",
     .range = {0.0, 1.0e9, false, false},
     .fallback_note = "the density",
     .help = "The same as gravity sees it: less of a sheet that the air carries."},
    {.key = "damping",
     .kind = FIELD_REAL,
     AT(ClothSpec, damping),
     .unit = "kg/(m^2 s)",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "0.1",
     .help = "Force per area against the velocity, over it."},
    {.key = "model",
     .kind = FIELD_CHOICE,
     AT(ClothSpec, model),
     .choices = model_choices,
     .fallback = "inextensible",
     .help = "Whether it keeps the lengths of edges and the angles of quads, or is an elastic "
             "membrane of two threads."},
    {.key = "stretch",
     .kind = FIELD_REAL,
     AT(ClothSpec, stretch),
     .unit = "N/m",
     .range = {1.0e-6, 1.0e12, false, false},
     .fallback = "1e6",
     .help = "Tension over strain: what is pulled by 10 N/m grows by 10^-5 at the default. "
             "Elastic: along the warp."},
    {.key = "shear",
     .kind = FIELD_REAL,
     AT(ClothSpec, shear),
     .unit = "N/m",
     .range = {1.0e-6, 1.0e12, false, false},
     .fallback_note = "as stretch",
     .help =
         "Shear force over the change of a quad's angle: far less in woven cloth, which drapes by "
         "it; at the default a sheet bends as paper does. Elastic: without it, what a sheet of no "
         "direction has."},
    {.key = "weft",
     .kind = FIELD_REAL,
     AT(ClothSpec, weft),
     .unit = "N/m",
     .range = {1.0e-6, 1.0e12, false, false},
     .fallback_note = "as stretch",
     .help = "Elastic: tension over strain across the warp."},
    {.key = "poisson",
     .kind = FIELD_REAL,
     AT(ClothSpec, poisson),
     .range = {0.0, 1.0e6, false, false},
     .fallback = "0.3",
     .help = "Elastic: what is pulled along the warp narrows by so much of its strain; below "
             "sqrt(stretch / weft)."},
    {.key = "warp",
     .kind = FIELD_DIRECTION,
     AT(ClothSpec, warp),
     .range = ANY_LENGTH,
     .fallback = "[1, 0, 0]",
     .help = "Elastic: where the warp goes, in the axes of the cloth (of the rest shape where that "
             "is given); it must not be across a face."},
    {.key = "bending",
     .kind = FIELD_REAL,
     AT(ClothSpec, bending),
     .unit = "N m",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "1e-5",
     .help = "Bending stiffness: moment per width over curvature."},
    {.key = "bending_damping",
     .kind = FIELD_REAL,
     AT(ClothSpec, bending_damping),
     .unit = "s",
     .range = {0.0, 1.0e6, false, false},
     .fallback = "0.02",
     .help = "That moment grows by this time times its rate."},
    {.key = "drag",
     .kind = FIELD_REAL,
     AT(ClothSpec, drag),
     .unit = "kg/(m^2 s)",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "0",
     .help =
         "Drag of the air: force per area across the sheet, over its velocity there relative to "
         "the `wind`."},
    {.key = "thickness",
     .kind = FIELD_REAL,
     AT(ClothSpec, thickness),
     .unit = "m",
     .range = {1.0e-12, 1.0e6, false, false},
     .fallback = "1e-3",
     .help = "As contacts see it, half to each side."},
    {.key = "self",
     .kind = FIELD_BOOL,
     AT(ClothSpec, self),
     .fallback = "true",
     .help = "Whether it touches itself."},
    {.key = "material",
     .kind = FIELD_NAME,
     AT(ClothSpec, material),
     .fallback_note = "none",
     .help = "The name of one of the `materials`: of how it touches, and of nothing else."},
    {.key = "holds",
     .kind = FIELD_GROUPS,
     AT(ClothSpec, holds),
     .group = &HOLD_GROUP,
     .fallback_note = "none",
     .help = "What is held of it."},
    {.key = "loads",
     .kind = FIELD_GROUPS,
     AT(ClothSpec, loads),
     .group = &CLOTH_LOAD_GROUP,
     .fallback_note = "none",
     .help = "Forces on its vertices."},
    {0},
};

const Group CLOTH_GROUP = {
    .name = "cloth",
    .help = "A sheet that hardly stretches and bends easily.",
    .size = sizeof(ClothSpec),
    .fields = CLOTH_FIELDS,
};
