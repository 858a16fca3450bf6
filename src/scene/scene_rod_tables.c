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

static const Field NATURAL_KEY_FIELDS[] = {
    {.key = "time",
     .kind = FIELD_REAL,
     AT(NaturalKeySpec, time),
     .unit = "s",
     .range = {-1.0e12, 1.0e12, false, false},
     .required = true,
     .help = "When; later than the keyframe before."},
    {.key = "curvature",
     .kind = FIELD_VEC3S,
     AT(NaturalKeySpec, curvature),
     .unit = "1/m",
     .range = ANY_CURVATURE,
     .required = true,
     .help = "Written as `natural_curvature` is."},
    {0},
};

static const Group NATURAL_KEY_GROUP = {
    .name = "natural keyframe",
    .help = "The natural curvature at one moment.",
    .size = sizeof(NaturalKeySpec),
    .fields = NATURAL_KEY_FIELDS,
};

static const Field NATURAL_MOTION_FIELDS[] = {
    {.key = "interpolation",
     .kind = FIELD_CHOICE,
     AT(NaturalMotionSpec, interpolation),
     .choices = scene_interpolation_choices,
     .fallback = "smooth",
     .help = "Between keyframes: from rest to rest, or evenly."},
    {.key = "keyframes",
     .kind = FIELD_GROUPS,
     AT(NaturalMotionSpec, keyframes),
     .group = &NATURAL_KEY_GROUP,
     .required = true,
     .help = "Before the first and after the last it stays."},
    {0},
};

static const Group NATURAL_MOTION_GROUP = {
    .name = "natural motion",
    .help = "A natural curvature that changes in time, in the place of `natural_curvature`: a "
            "muscle, or a heated strip. What it does is counted as given.",
    .size = sizeof(NaturalMotionSpec),
    .fields = NATURAL_MOTION_FIELDS,
};

static const Field TENSION_KEY_FIELDS[] = {
    {.key = "time",
     .kind = FIELD_REAL,
     AT(TensionKeySpec, time),
     .unit = "s",
     .range = {-1.0e12, 1.0e12, false, false},
     .required = true,
     .help = "When; later than the keyframe before."},
    {.key = "tension",
     .kind = FIELD_REAL,
     AT(TensionKeySpec, tension),
     .unit = "N",
     .range = {0.0, 1.0e12, false, false},
     .required = true,
     .help = "How hard it is pulled then."},
    {0},
};

static const Group TENSION_KEY_GROUP = {
    .name = "tension keyframe",
    .help = "The tension of a tendon at one moment.",
    .size = sizeof(TensionKeySpec),
    .fields = TENSION_KEY_FIELDS,
};

static const Field TENDON_FIELDS[] = {
    {.key = "guides",
     .kind = FIELD_INT,
     AT(TendonSpec, guides),
     .range = {2, 100000, false, false},
     .fallback_note = "one at each joint between elements",
     .help = "So many, evenly from `from` to `to`."},
    {.key = "from",
     .kind = FIELD_REAL,
     AT(TendonSpec, from),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "0",
     .help = "Arc length of the first guide, from which it is pulled."},
    {.key = "to",
     .kind = FIELD_REAL,
     AT(TendonSpec, to),
     .unit = "m",
     .range = {0.0, 1.0e9, true, false},
     .fallback_note = "the rod's end",
     .help = "Of the last guide, to which it is fixed."},
    {.key = "offset",
     .kind = FIELD_PAIR,
     AT(TendonSpec, offset),
     .unit = "m",
     .range = ANY_LENGTH,
     .required = true,
     .help = "Of the guides from the centreline, along the second and the third axis of the rod's "
             "frame: [y, z]."},
    {.key = "turns",
     .kind = FIELD_REAL,
     AT(TendonSpec, turns),
     .range = {-1.0e6, 1.0e6, false, false},
     .fallback = "0",
     .help = "So often it winds about the rod, from the first guide to the last."},
    {.key = "tension",
     .kind = FIELD_REAL,
     AT(TendonSpec, tension),
     .unit = "N",
     .range = {0.0, 1.0e12, false, false},
     .fallback_note = "required without `keyframes`",
     .help = "At all times."},
    {.key = "keyframes",
     .kind = FIELD_GROUPS,
     AT(TendonSpec, keyframes),
     .group = &TENSION_KEY_GROUP,
     .fallback_note = "none",
     .help = "The tension at some times instead. Before the first and after the last it stays."},
    {.key = "interpolation",
     .kind = FIELD_CHOICE,
     AT(TendonSpec, interpolation),
     .choices = scene_interpolation_choices,
     .fallback = "smooth",
     .help = "Between keyframes: from rest to rest, or evenly."},
    {0},
};

static const Group TENDON_GROUP = {
    .name = "tendon",
    .help =
        "A cable along or about a rod, through guides without friction, under a tension that "
        "is given: see [theory/actuation.md](theory/actuation.md). It weighs nothing and "
        "touches nothing. Not for mass-spring, and for super-models only where the end is free.",
    .size = sizeof(TendonSpec),
    .fields = TENDON_FIELDS,
};

// in the order of LaidChoice
static const char* laid_choices(void) {
    return "stress-free|bent";
}

static const Field ROPE_FIELDS[] = {
    {.key = "strands",
     .kind = FIELD_INTS,
     AT(RopeSpec, strands),
     .range = {2, 40, false, false},
     .required = true,
     .help = "How many are laid about one axis; from six on one of them is the core, so [7] is six "
             "around one. Two numbers, inner first: [7, 7] is seven strands of seven wires."},
    {.key = "lay",
     .kind = FIELD_PAIR,
     AT(RopeSpec, lay),
     .unit = "m",
     .range = {-1.0e6, 1.0e6, false, false},
     .required = true,
     .help = "Along the axis, for one turn; negative: of a left hand. Two numbers are of the two "
             "levels."},
    {.key = "gap",
     .kind = FIELD_REAL,
     AT(RopeSpec, gap),
     .unit = "m",
     .range = {0.0, 1.0e6, true, false},
     .fallback_note = "5e-4 of the radius",
     .help = "Least gap between two wires, met within 60 %."},
    {.key = "laid",
     .kind = FIELD_CHOICE,
     AT(RopeSpec, laid),
     .choices = laid_choices,
     .fallback = "stress-free",
     .help =
         "`stress-free`: the wires' natural shape is the one they are laid in. `bent`: they are "
         "straight by nature, and twisted as they lie."},
    {.key = "through",
     .kind = FIELD_VEC3S,
     AT(RopeSpec, through),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback_note = "straight, from the `clamp` on, of the `length`",
     .help = "Points of a smooth curve that is the axis of the rope."},
    {0},
};

static const Group ROPE_GROUP = {
    .name = "rope",
    .help =
        "Makes the rods wires of a twisted rope, laid in helices as near to each other as they "
        "may be without overlap, as the model makes them; `length` and `clamp` are those of the "
        "rope. Copy 0 is the core. See [theory/ropes.md](theory/ropes.md).",
    .size = sizeof(RopeSpec),
    .fields = ROPE_FIELDS,
};

static const Field SECTION_FIELDS[] = {
    {.key = "at",
     .kind = FIELD_REAL,
     AT(SectionSpec, section.at),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "0",
     .help = "Arc length from the start: 0 in the first section, ascending in those that follow."},
    {.key = "radius",
     .kind = FIELD_PAIR,
     AT(SectionSpec, section.radius),
     .unit = "m",
     .range = {0.0, 1.0e6, true, false},
     .fallback_note = "the rod's",
     .help = "Of the section, in the place of the `radius` of the rod: how thick it is to the "
             "touch; two numbers are half-axes."},
    {.key = "inner_radius",
     .kind = FIELD_REAL,
     AT(SectionSpec, section.inner_radius),
     .unit = "m",
     .range = {0.0, 1.0e6, true, false},
     .fallback_note = "not hollow",
     .help = "Of a hole of the same shape: its half-axis along the second axis of the frame. What "
             "is thinner and of another rod or body touches it from inside; with `response: "
             "barrier` it is solid."},
    {.key = "bending",
     .kind = FIELD_PAIR,
     AT(SectionSpec, section.bending),
     .unit = "N m^2",
     .range = {0.0, 1.0e30, true, false},
     .fallback_note = "from `young` and the radius",
     .help = "EI about the second and the third axis of the frame; one number for both."},
    {.key = "twisting",
     .kind = FIELD_REAL,
     AT(SectionSpec, section.twisting),
     .unit = "N m^2",
     .range = {0.0, 1.0e30, true, false},
     .fallback_note = "from `young`, `poisson` and the radius",
     .help = "GJ. Not of mass-spring, which has no twist."},
    {.key = "stretching",
     .kind = FIELD_REAL,
     AT(SectionSpec, section.stretching),
     .unit = "N",
     .range = {0.0, 1.0e30, true, false},
     .fallback_note = "from `young` and the radius",
     .help = "EA. Super-models stretch only between two held ends."},
    {.key = "shearing",
     .kind = FIELD_REAL,
     AT(SectionSpec, section.shearing),
     .unit = "N",
     .range = {0.0, 1.0e30, true, false},
     .fallback_note = "from `young`, `poisson` and the radius",
     .help = "GA; of corde alone, which shears."},
    {.key = "mass_per_length",
     .kind = FIELD_REAL,
     AT(SectionSpec, section.mass_per_length),
     .unit = "kg/m",
     .range = {0.0, 1.0e12, true, false},
     .fallback_note = "from `density` and the radius",
     .help = "Where it varies the rod has no `drag`."},
    {.key = "rotary_inertia",
     .kind = FIELD_REAL,
     AT(SectionSpec, section.rotary_inertia),
     .unit = "kg m",
     .range = {0.0, 1.0e12, true, false},
     .fallback_note = "of a section of this mass, radius and hole",
     .help = "About the axis, per length. Not of mass-spring."},
    {0},
};

static const Group SECTION_GROUP = {
    .name = "section",
    .help = "The section of a rod at one place, as data sheets give it. One section is that of the "
            "whole rod; between several all goes linearly, and after the last it stays. What is "
            "given takes the place of what follows from the material and the radius, and is given "
            "in all sections of a rod or in none. An element has the mean over its length.",
    .size = sizeof(SectionSpec),
    .fields = SECTION_FIELDS,
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
    {.key = "sections",
     .kind = FIELD_GROUPS,
     AT(RodSpec, sections),
     .group = &SECTION_GROUP,
     .fallback_note = "solid, of the material and the `radius`, all along",
     .help = "How stiff, heavy and thick it is, where this is not said by the material and the "
             "`radius`, or varies along the rod."},
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
    {.key = "pieces",
     .kind = FIELD_GROUPS,
     AT(RodSpec, pieces),
     .group = &PIECE_GROUP,
     .fallback_note = "none",
     .help = "In the place of `curvature`: pieces of the rod from its start on, such as straight "
             "lengths and arcs; beyond them it is straight. Every element has the mean of its "
             "own."},
    {.key = "natural_motion",
     .kind = FIELD_GROUP,
     AT(RodSpec, natural_motion),
     .group = &NATURAL_MOTION_GROUP,
     .fallback_note = "it stays as it is",
     .help = "How the natural curvature changes in time."},
    {.key = "tendons",
     .kind = FIELD_GROUPS,
     AT(RodSpec, tendons),
     .group = &TENDON_GROUP,
     .fallback_note = "none",
     .help = "Cables that pull on it through guides."},
    {.key = "clamp",
     .kind = FIELD_GROUP,
     AT(RodSpec, clamp),
     .group = &CLAMP_GROUP,
     .fallback_note = "at the origin, along x",
     .help = "Where its start is, and how that is moved."},
    {.key = "attach",
     .kind = FIELD_GROUP,
     AT(RodSpec, attach),
     .group = &ATTACH_GROUP,
     .fallback_note = "none",
     .help = "The collider or body that its start grows from, as all copies and curves do, from "
             "where the "
             "`clamp` or the file has them."},
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
     .help = "Moves a held end."},
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
     .group = &ROD_LOAD_GROUP,
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
    {.key = "rope",
     .kind = FIELD_GROUP,
     AT(RodSpec, rope),
     .group = &ROPE_GROUP,
     .fallback_note = "none",
     .help = "Makes the wires of a twisted rope."},
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
