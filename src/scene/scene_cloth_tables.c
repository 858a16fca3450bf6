// The scene language: cloth. Rectangles, meshes of files, what is held.
#include "scene/scene.h"

#define ANY_LENGTH                                                                                 \
    { -1.0e9, 1.0e9, false, false }
#define AT(type, member) .offset = offsetof(type, member)

// in the order of the corners of scene_cloth.c
static const char* corner_choices(void) {
    return "bottom-left|bottom-right|top-left|top-right";
}

// in the order of the edges of scene_cloth.c
static const char* edge_choices(void) {
    return "left|right|bottom|top";
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

static const Field SHEET_FIELDS[] = {
    {.key = "file",
     .kind = FIELD_PATH,
     AT(SheetSpec, file),
     .required = true,
     .help = "An .obj with faces, relative to this file."},
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

static const Field HOLD_FIELDS[] = {
    {.key = "vertices",
     .kind = FIELD_INTS,
     AT(HoldSpec, vertices),
     .range = {0, 2147483647, false, false},
     .fallback_note = "one of these four",
     .help = "Which are held, from 0 in the order of the mesh."},
    {.key = "corners",
     .kind = FIELD_CHOICES,
     AT(HoldSpec, corners),
     .choices = corner_choices,
     .fallback_note = "one of these four",
     .help = "Of a rectangle."},
    {.key = "edge",
     .kind = FIELD_CHOICE,
     AT(HoldSpec, edge),
     .choices = edge_choices,
     .fallback_note = "one of these four",
     .help = "Of a rectangle: all vertices along it."},
    {.key = "near",
     .kind = FIELD_VEC3,
     AT(HoldSpec, near),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback_note = "one of these four",
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

static const Field CLOTH_FIELDS[] = {
    {.key = "name",
     .kind = FIELD_NAME,
     AT(ClothSpec, name),
     .required = true,
     .help = "What messages and overrides call it."},
    {.key = "rectangle",
     .kind = FIELD_GROUP,
     AT(ClothSpec, rectangle),
     .group = &RECTANGLE_GROUP,
     .fallback_note = "required without `mesh`",
     .help = "Makes it a flat rectangle."},
    {.key = "mesh",
     .kind = FIELD_GROUP,
     AT(ClothSpec, mesh),
     .group = &SHEET_GROUP,
     .fallback_note = "required without `rectangle`",
     .help = "Takes its faces from a file."},
    {.key = "rest",
     .kind = FIELD_GROUP,
     AT(ClothSpec, rest),
     .group = &REST_GROUP,
     .fallback_note = "the shape that it has at first",
     .help = "Its shape without forces."},
    {.key = "position",
     .kind = FIELD_VEC3,
     AT(ClothSpec, position),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 0]",
     .help = "Of the middle of a rectangle, of the origin of a mesh."},
    {.key = "direction",
     .kind = FIELD_DIRECTION,
     AT(ClothSpec, direction),
     .range = ANY_LENGTH,
     .fallback = "[1, 0, 0]",
     .help = "Its first axis; any length."},
    {.key = "normal",
     .kind = FIELD_DIRECTION,
     AT(ClothSpec, normal),
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 1]",
     .help = "Its third axis, across a rectangle, lies as near to this as it can."},
    {.key = "velocity",
     .kind = FIELD_VEC3,
     AT(ClothSpec, velocity),
     .unit = "m/s",
     .range = {-1.0e6, 1.0e6, false, false},
     .fallback = "[0, 0, 0]",
     .help = "Of what is not held, at the start."},
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
    {.key = "stretch",
     .kind = FIELD_REAL,
     AT(ClothSpec, stretch),
     .unit = "N/m",
     .range = {1.0e-6, 1.0e12, false, false},
     .fallback = "1e6",
     .help = "Tension over strain: what is pulled by 10 N/m grows by 10^-5 at the default."},
    {.key = "shear",
     .kind = FIELD_REAL,
     AT(ClothSpec, shear),
     .unit = "N/m",
     .range = {1.0e-6, 1.0e12, false, false},
     .fallback_note = "as stretch",
     .help =
         "Shear force over the change of a quad's angle: far less in woven cloth, which drapes by "
         "it; at the default a sheet bends as paper does."},
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
    {0},
};

const Group CLOTH_GROUP = {
    .name = "cloth",
    .help = "A sheet that hardly stretches and bends easily.",
    .size = sizeof(ClothSpec),
    .fields = CLOTH_FIELDS,
};
