// The scene language: rods. How they are held and loaded, along which curves, at rest in which
// shape.
#include "scene/scene.h"

#define ANY_LENGTH                                                                                 \
    { -1.0e9, 1.0e9, false, false }
#define ANY_CURVATURE                                                                              \
    { -1.0e9, 1.0e9, false, false }

#define AT(type, member) .offset = offsetof(type, member)

// in the order of TdlHold
static const char* hold_choices(void) {
    return "clamped|pinned|free";
}

static const Field CLAMP_FIELDS[] = {
    {.key = "position",
     .kind = FIELD_VEC3,
     AT(ClampSpec, position),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 0]",
     .help = "Where the rod starts."},
    {.key = "direction",
     .kind = FIELD_DIRECTION,
     AT(ClampSpec, direction),
     .range = ANY_LENGTH,
     .fallback = "[1, 0, 0]",
     .help = "Where the rod's tangent points at its start; any length."},
    {.key = "normal",
     .kind = FIELD_DIRECTION,
     AT(ClampSpec, normal),
     .range = ANY_LENGTH,
     .fallback_note = "chosen",
     .help = "The second axis of the rod's frame, about which `k1` bends, lies as near to this "
             "as it can; not along `direction`."},
    {.key = "motion",
     .kind = FIELD_GROUP,
     AT(ClampSpec, motion),
     .group = &MOTION_GROUP,
     .fallback_note = "still",
     .help = "How the clamp moves."},
    {0},
};

static const Group CLAMP_GROUP = {
    .name = "clamp",
    .help = "Where and how the start of a rod is held.",
    .size = sizeof(ClampSpec),
    .fields = CLAMP_FIELDS,
};
static const Field LOAD_FIELDS[] = {
    {.key = "at",
     .kind = FIELD_REAL,
     AT(LoadSpec, at),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .required = true,
     .help = "Where it acts: arc length from the start, at most the rod's length."},
    {.key = "force",
     .kind = FIELD_VEC3,
     AT(LoadSpec, force),
     .unit = "N",
     .range = {-1.0e12, 1.0e12, false, false},
     .fallback = "[0, 0, 0]",
     .help = "Keeps its direction in the world."},
    {.key = "torque",
     .kind = FIELD_VEC3,
     AT(LoadSpec, torque),
     .unit = "N m",
     .range = {-1.0e12, 1.0e12, false, false},
     .fallback = "[0, 0, 0]",
     .help = "Keeps its direction in the world; it has no potential, so `start: settled` refuses "
             "it."},
    {0},
};

static const Group LOAD_GROUP = {
    .name = "load",
    .help = "A force and a torque on one point of a rod.",
    .size = sizeof(LoadSpec),
    .fields = LOAD_FIELDS,
};

static const char* rest_choices(void) {
    return "shape|inverse";
}

static const Field CURVES_FIELDS[] = {
    {.key = "file",
     .kind = FIELD_PATH,
     AT(CurvesSpec, file),
     .required = true,
     .help = "A .hair, .obj (polylines), .csv (columns x, y, z and `curve`) or .h5 (strands), "
             "relative to this file."},
    {.key = "every",
     .kind = FIELD_INT,
     AT(CurvesSpec, every),
     .range = {1, 2147483647, false, false},
     .fallback = "1",
     .help = "Takes the first curve and then each so-manieth."},
    {.key = "limit",
     .kind = FIELD_INT,
     AT(CurvesSpec, limit),
     .range = {1, 2147483647, false, false},
     .fallback_note = "all",
     .help = "Takes at most so many."},
    {.key = "cut",
     .kind = FIELD_REAL,
     AT(CurvesSpec, cut),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .fallback_note = "not cut",
     .help = "Of a file of strands: where each is cut off, at the nearest end of an element."},
    {.key = "rest",
     .kind = FIELD_CHOICE,
     AT(CurvesSpec, rest),
     .choices = rest_choices,
     .fallback = "shape",
     .help = "`shape`: without forces the rods are as the curves. `inverse`: with its forces each "
             "rests in its curve; natural curvatures are found, see [inverse.md](inverse.md)."},
    IMPORT_FIELDS(CurvesSpec),
    {0},
};

static const Group CURVES_GROUP = {
    .name = "curves",
    .help = "Curves from a file of another program. Each becomes a rod that starts at its first "
            "point; curvatures are fitted to it, see [see.md](see.md). Strands are rods already, "
            "taken bit for bit: their file tells `model`, `elements`, `natural_curvature`, how "
            "much stiffer each is than its material, and knows no `scale` and `up`; see "
            "[inverse.md](inverse.md).",
    .size = sizeof(CurvesSpec),
    .fields = CURVES_FIELDS,
};

static const Field ROD_FIELDS[] = {
    {.key = "name",
     .kind = FIELD_NAME,
     AT(RodSpec, name),
     .required = true,
     .help = "What messages and overrides call it."},
    {.key = "material",
     .kind = FIELD_NAME,
     AT(RodSpec, material),
     .required = true,
     .help = "The name of one of the `materials`."},
    {.key = "model",
     .kind = FIELD_CHOICE,
     AT(RodSpec, model),
     .choices = tdl_rod_models,
     .fallback = "super-helix",
     .help = "How the rod is made discrete."},
    {.key = "length",
     .kind = FIELD_REAL,
     AT(RodSpec, length),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .fallback_note = "required without `curves`",
     .help = "Of the centreline; the rod does not stretch."},
    {.key = "radius",
     .kind = FIELD_PAIR,
     AT(RodSpec, radius),
     .unit = "m",
     .range = {1.0e-12, 1.0e6, false, false},
     .required = true,
     .help = "Of the section; two numbers are the half-axes of an ellipse along the second and "
             "the third axis of the rod's frame."},
    {.key = "elements",
     .kind = FIELD_INT,
     AT(RodSpec, elements),
     .range = {1, 100000, false, false},
     .fallback = "10",
     .help = "Pieces of equal length."},
    {.key = "natural_curvature",
     .kind = FIELD_VEC3S,
     AT(RodSpec, natural_curvature),
     .unit = "1/m",
     .range = ANY_CURVATURE,
     .fallback = "[0, 0, 0]",
     .help = "At rest without forces: (twist, k1, k2) about the axes of the rod's frame, for the "
             "whole rod or for each element; of a super-clothoid also at each joint, one more. An "
             "element may turn by at most 1000 rad."},
    {.key = "curvature",
     .kind = FIELD_VEC3S,
     AT(RodSpec, curvature),
     .unit = "1/m",
     .range = ANY_CURVATURE,
     .fallback_note = "the natural curvature",
     .help = "At the start of the simulation, written in the same way."},
    {.key = "clamp",
     .kind = FIELD_GROUP,
     AT(RodSpec, clamp),
     .group = &CLAMP_GROUP,
     .fallback_note = "at the origin, along x",
     .help = "Where its start is, and how that is moved."},
    {.key = "parent",
     .kind = FIELD_NAME,
     AT(RodSpec, parent),
     .fallback_note = "none",
     .help = "The name of an earlier super-helix on which this one is a branch, clamped with the "
             "`direction` of its clamp. Copies go one by one, or all on a parent without copies."},
    {.key = "parent_at",
     .kind = FIELD_REAL,
     AT(RodSpec, parent_at),
     .range = {1.0e-6, 1.0, false, false},
     .fallback = "1",
     .help = "Where on the parent, as a share of its length: the nearest end of an element."},
    {.key = "start",
     .kind = FIELD_CHOICE,
     AT(RodSpec, start),
     .choices = hold_choices,
     .fallback = "clamped",
     .help = "What is held of its start: place and frame, the place only, or nothing."},
    {.key = "end",
     .kind = FIELD_CHOICE,
     AT(RodSpec, end),
     .choices = hold_choices,
     .fallback = "free",
     .help =
         "What is held of its end, where the first shape puts it. Ends that are held further apart "
         "than the rod is long are refused (der, mass-spring, corde: with 1 % of strain)."},
    {.key = "end_motion",
     .kind = FIELD_GROUP,
     AT(RodSpec, end_motion),
     .group = &MOTION_GROUP,
     .fallback_note = "still",
     .help = "Moves a held end by keyframes."},
    {.key = "drag",
     .kind = FIELD_REAL,
     AT(RodSpec, drag),
     .unit = "N s/m^2",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "0",
     .help = "Drag of the air: force per length and per velocity relative to the `wind`."},
    {.key = "loads",
     .kind = FIELD_GROUPS,
     AT(RodSpec, loads),
     .group = &LOAD_GROUP,
     .fallback_note = "none",
     .help = "Forces and torques on points."},
    {.key = "repeat",
     .kind = FIELD_GROUP,
     AT(RodSpec, repeat),
     .group = &REPEAT_GROUP,
     .fallback_note = "one rod",
     .help = "Makes a grid of copies."},
    {.key = "curves",
     .kind = FIELD_GROUP,
     AT(RodSpec, curves),
     .group = &CURVES_GROUP,
     .fallback_note = "none",
     .help = "Makes a rod along each curve of a file, in place of `length`, `curvature` and the "
             "place of the `clamp`; its natural curvature is its first unless another is given."},
    {0},
};

const Group ROD_GROUP = {
    .name = "rod",
    .help = "An elastic rod, held at its start unless said otherwise.",
    .size = sizeof(RodSpec),
    .fields = ROD_FIELDS,
};

static const Field INVERSE_FIELDS[] = {
    {.key = "contacts",
     .kind = FIELD_BOOL,
     AT(InverseSpec, contacts),
     .fallback = "false",
     .help = "Whether rods lean on what they touch: then forces are sought with which natural "
             "curvatures are simplest. Without it nothing carries them but their clamps."},
    {.key = "guess",
     .kind = FIELD_REAL,
     AT(InverseSpec, guess),
     .range = {0.0, 1.0, false, false},
     .fallback = "tip",
     .word = "tip",
     .help = "What natural curvatures are to be near where contacts leave a choice: `tip`, which "
             "is 0, everywhere as at the tip of the rod; 1, as the shape. It moves to the tip "
             "where the rest is not stable."},
    {.key = "friction_share",
     .kind = FIELD_REAL,
     AT(InverseSpec, friction_share),
     .range = {0.0, 1.0, true, false},
     .fallback = "0.8",
     .help = "The part of each friction coefficient that forces may use, so that all sticks."},
    {.key = "reach",
     .kind = FIELD_REAL,
     AT(InverseSpec, reach),
     .unit = "m",
     .range = {0.0, 1.0, true, false},
     .fallback_note = "1e-7, with curves that are fitted a fifth of the radius",
     .help = "The gap below which two things touch."},
    {.key = "stiffen",
     .kind = FIELD_BOOL,
     AT(InverseSpec, stiffen),
     .fallback = "false",
     .help = "Raises Young's modulus of each rod until its shape is stable."},
    {0},
};

const Group INVERSE_GROUP = {
    .name = "inverse",
    .help = "How rods whose curves have `rest: inverse` come to rest in them. What is not stable "
            "so is told, see [inverse.md](inverse.md).",
    .size = sizeof(InverseSpec),
    .fields = INVERSE_FIELDS,
};
