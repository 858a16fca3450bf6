// The scene language: every key, with its kind, unit, range, default and meaning. Rods, what
// touches, and cloths are in scene_rod_tables.c, scene_contact_tables.c and scene_cloth_tables.c.
#include "scene/scene.h"

#include <math.h>

// Bounds keep every product of two or three values far from overflow; within them, a scene may
// still be as odd as its author likes.
#define ANY_LENGTH                                                                                 \
    { -1.0e9, 1.0e9, false, false }

static const char* start_choices(void) {
    return "as-placed|settled";
}

// in the order of TdlInterpolation
const char* scene_interpolation_choices(void) {
    return "smooth|linear";
}

const char* scene_up_choices(void) {
    return "z|y";
}

#define AT(type, member) .offset = offsetof(type, member)

// in the order of TdlIntegrator
static const char* spent_choices(void) {
    return "keep|end";
}

static const char* integrator_choices(void) {
    return "euler|midpoint";
}

static const Field TIME_FIELDS[] = {
    {.key = "step",
     .kind = FIELD_REAL,
     AT(TimeSpec, step),
     .unit = "s",
     .range = {1.0e-12, 1.0e6, false, false},
     .fallback = "1e-3",
     .word = "auto",
     .help =
         "Length of a time step; with `error`, the longest. `auto` with `error`: a frame of the "
         "`output`, and shorter where the error asks for it."},
    {.key = "error",
     .kind = FIELD_REAL,
     AT(TimeSpec, error),
     .unit = "1/s",
     .range = {1.0e-12, 1.0e6, false, false},
     .fallback_note = "steps have one length",
     .help =
         "Share of its length by which a body may go wrong a second, as it is estimated: steps are "
         "halved, up to ten times over, where it is more."},
    {.key = "end",
     .kind = FIELD_REAL,
     AT(TimeSpec, end),
     .unit = "s",
     .range = {0.0, 1.0e12, false, false},
     .required = true,
     .help = "Time at which the simulation ends; it starts at 0. At most 10^9 steps."},
    {.key = "settle",
     .kind = FIELD_REAL,
     AT(TimeSpec, settle),
     .unit = "s",
     .range = {0.0, 1.0e12, false, false},
     .fallback = "0",
     .help = "Time until which rods settle, slowed down by `settle_damping`."},
    {.key = "settle_damping",
     .kind = FIELD_REAL,
     AT(TimeSpec, settle_damping),
     .unit = "1/s",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "0",
     .help = "Damping of all motion beside the materials' `mass_damping`; of the share "
             "x of the time left until `settle` there is 0.975 x^16 + 0.025 x."},
    {.key = "settle_loosely",
     .kind = FIELD_BOOL,
     AT(TimeSpec, settle_loosely),
     .fallback = "false",
     .help = "Until `settle`, a step is kept though bodies passed through each other in it or "
             "overlap: faster, for a rest whose history does not matter."},
    {.key = "integrator",
     .kind = FIELD_CHOICE,
     AT(TimeSpec, integrator),
     .choices = integrator_choices,
     .fallback = "euler",
     .help = "How rods go through time. `euler`: backward Euler, first order; takes energy from "
             "vibrations (of a mode, 1 - exp(-4 pi^2/n) in a period of n steps). `midpoint`: the "
             "implicit midpoint rule, second order for motions of any size; keeps the energy of "
             "vibrations; a step of a super-model costs six times as much, of the others the same. "
             "A rod near a contact, one that settles, whose ends are led, that is part of a tree, "
             "or a super-model held at its "
             "far end goes by `euler` all the same. Rigid bodies have a rule of second order of "
             "their own."},
    {.key = "energy_limit",
     .kind = FIELD_REAL,
     AT(TimeSpec, energy_limit),
     .range = {1.0e-9, 1.0e300, false, false},
     .fallback = "0.05",
     .help =
         "Share of the energy at play that a body may gain from nowhere, in a step or little by "
         "little, before the run fails."},
    {.key = "budget",
     .kind = FIELD_REAL,
     AT(TimeSpec, budget),
     .range = {1.0, 1.0e18, false, false},
     .fallback_note = "any",
     .help = "Multiplications that a step may take, 1e9 to 4e9 a second. They are counted "
             "roughly and never timed, so that results do not depend on the machine; the column "
             "`effort` of log.csv tells what steps take."},
    {.key = "spent",
     .kind = FIELD_CHOICE,
     AT(TimeSpec, spent),
     .choices = spent_choices,
     .fallback = "keep",
     .help = "What becomes of a step whose `budget` is spent. `keep`: what is left of it is made "
             "as it is, in one attempt each and with contacts as they come, and told: with its "
             "error, in the column `unsolved`. `end`: the run fails there, by name."},
    {0},
};

static const Group TIME_GROUP = {
    .name = "time",
    .help = "How long to simulate, and in which steps.",
    .size = sizeof(TimeSpec),
    .fields = TIME_FIELDS,
};

static const Field OUTPUT_FIELDS[] = {
    {.key = "frame",
     .kind = FIELD_REAL,
     AT(OutputSpec, frame),
     .unit = "s",
     .range = {1.0e-12, 1.0e12, false, false},
     .fallback = "0.01",
     .help = "Simulated time between two frames of the result, at least a step; when it is not "
             "given, the step if that is longer than the default."},
    {.key = "samples",
     .kind = FIELD_INT,
     AT(OutputSpec, samples),
     .range = {1, 1000, false, false},
     .fallback = "4",
     .help = "Points per element of a rod in the result."},
    {.key = "contacts",
     .kind = FIELD_BOOL,
     AT(OutputSpec, contacts),
     .fallback = "true",
     .help = "Whether frames keep the contacts of their step: bodies, place, force; at most a "
             "million a frame."},
    {.key = "forces",
     .kind = FIELD_BOOL,
     AT(OutputSpec, forces),
     .fallback = "false",
     .help = "Whether frames keep the tension, shear and moments at every point of the rods, from "
             "the balance of the step before; not of rods with branches or that are some."},
    {.key = "checkpoint",
     .kind = FIELD_REAL,
     AT(OutputSpec, checkpoint),
     .unit = "s",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "10",
     .help = "Wall time between two checkpoints, from which a run can resume."},
    {0},
};

static const Group OUTPUT_GROUP = {
    .name = "output",
    .help = "What the result keeps.",
    .size = sizeof(OutputSpec),
    .fields = OUTPUT_FIELDS,
};

static const Field MATERIAL_FIELDS[] = {
    {.key = "name",
     .kind = FIELD_NAME,
     AT(MaterialSpec, name),
     .required = true,
     .help = "What rods, bodies, cloths, shells, grains and colliders call it."},
    {.key = "young",
     .kind = FIELD_REAL,
     AT(MaterialSpec, young),
     .unit = "Pa",
     .range = {1.0e-6, 1.0e15, false, false},
     .fallback_note = "required for rods and shells",
     .help = "Young's modulus."},
    {.key = "poisson",
     .kind = FIELD_REAL,
     AT(MaterialSpec, poisson),
     .range = {-1.0, 0.5, true, false},
     .fallback = "0.48",
     .help = "Poisson's ratio."},
    {.key = "density",
     .kind = FIELD_REAL,
     AT(MaterialSpec, density),
     .unit = "kg/m^3",
     .range = {1.0e-6, 1.0e9, false, false},
     .fallback = "1000",
     .help = "Mass per volume."},
    {.key = "damping",
     .kind = FIELD_REAL,
     AT(MaterialSpec, damping),
     .unit = "s",
     .range = {0.0, 1.0e6, false, false},
     .fallback = "0",
     .help = "Internal damping: the elastic moment grows by this time times its rate."},
    {.key = "mass_damping",
     .kind = FIELD_REAL,
     AT(MaterialSpec, mass_damping),
     .unit = "1/s",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "0",
     .help = "Damping of all motion: a force against the velocity, in proportion to mass."},
    {0},
};

static const Group MATERIAL_GROUP = {
    .name = "material",
    .help = "What things are made of. At most 63.",
    .size = sizeof(MaterialSpec),
    .fields = MATERIAL_FIELDS,
};

static const Field KEYFRAME_FIELDS[] = {
    {.key = "time",
     .kind = FIELD_REAL,
     AT(KeyframeSpec, time),
     .unit = "s",
     .range = {-1.0e12, 1.0e12, false, false},
     .required = true,
     .help = "When; later than the keyframe before."},
    {.key = "position",
     .kind = FIELD_VEC3,
     AT(KeyframeSpec, position),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 0]",
     .help = "Displacement from where the thing was placed, along the axes of the world."},
    {.key = "rotation",
     .kind = FIELD_VEC3,
     AT(KeyframeSpec, rotation),
     .unit = "rad",
     .range = {-1.0e6, 1.0e6, false, false},
     .fallback = "[0, 0, 0]",
     .help = "Rotation from how it was placed, about its own position: the axis in the world, "
             "times the angle."},
    {0},
};

static const Group KEYFRAME_GROUP = {
    .name = "keyframe",
    .help = "Where a moved thing is at one moment.",
    .size = sizeof(KeyframeSpec),
    .fields = KEYFRAME_FIELDS,
};

static const char* from_choices(void) {
    return "first|origin";
}

static const Field RECORDING_FIELDS[] = {
    {.key = "file",
     .kind = FIELD_PATH,
     AT(RecordingSpec, file),
     .required = true,
     .help = "A .csv with the columns time (s), x, y and z, and perhaps rx, ry and rz (as the "
             "rotation of a keyframe), relative to this file. A row in which a field is empty or "
             "nan is a gap: it is left out, and told."},
    {.key = "marker",
     .kind = FIELD_TEXT,
     AT(RecordingSpec, marker),
     .fallback_note = "none",
     .help =
         "Of a file with many markers, as `tendril fit` takes it: which, so that its columns are "
         "called NAME.x, NAME.y and NAME.z."},
    {.key = "from",
     .kind = FIELD_CHOICE,
     AT(RecordingSpec, from),
     .choices = from_choices,
     .fallback = "first",
     .help = "Places are displacements from the `first` of them, or from the `origin`, as those of "
             "keyframes."},
    IMPORT_FIELDS(RecordingSpec),
    {0},
};

static const Group RECORDING_GROUP = {
    .name = "recording",
    .help = "A motion that was recorded, as keyframes from a file. Between them it goes evenly, "
            "unless the `interpolation` is given.",
    .size = sizeof(RecordingSpec),
    .fields = RECORDING_FIELDS,
};

static const Field MOTION_FIELDS[] = {
    {.key = "interpolation",
     .kind = FIELD_CHOICE,
     AT(MotionSpec, interpolation),
     .choices = scene_interpolation_choices,
     .fallback = "smooth",
     .help = "`smooth` goes from rest to rest between keyframes with the least jerk; `linear` "
             "keeps a constant velocity."},
    {.key = "keyframes",
     .kind = FIELD_GROUPS,
     AT(MotionSpec, keyframes),
     .group = &KEYFRAME_GROUP,
     .fallback_note = "this, `recording`, or `position` and `rotation`",
     .help = "Before the first and after the last the thing stands still."},
    {.key = "position",
     .kind = FIELD_FUNCTION3,
     AT(MotionSpec, position),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 0]",
     .help = "In place of keyframes: what they say, each number an [expression](#expressions) of "
             "the time such as \"0.02*sin(2*pi*3*t)\"."},
    {.key = "rotation",
     .kind = FIELD_FUNCTION3,
     AT(MotionSpec, rotation),
     .unit = "rad",
     .range = {-1.0e6, 1.0e6, false, false},
     .fallback = "[0, 0, 0]",
     .help = "The same."},
    {.key = "recording",
     .kind = FIELD_GROUP,
     AT(MotionSpec, recording),
     .group = &RECORDING_GROUP,
     .fallback_note = "none",
     .help = "Keyframes from a file, a plain .csv."},
    {.key = "about",
     .kind = FIELD_VEC3,
     AT(MotionSpec, about),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback_note = "its own position",
     .help = "The point of the world about which rotations turn it, its place too, as first "
             "placed; then it is displaced. So all copies and curves turn about one point."},
    {0},
};

const Group MOTION_GROUP = {
    .name = "motion",
    .help = "A scripted motion of a clamp, a collider or what holds a cloth.",
    .size = sizeof(MotionSpec),
    .fields = MOTION_FIELDS,
};

static const Field REPEAT_FIELDS[] = {
    {.key = "count",
     .kind = FIELD_COUNT3,
     AT(RepeatSpec, count),
     .range = {1, 1000000, false, false},
     .required = true,
     .fallback = "[1, 1, 1]",
     .help = "Copies along x, y and z."},
    {.key = "spacing",
     .kind = FIELD_VEC3,
     AT(RepeatSpec, spacing),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 0]",
     .help = "Between neighbours."},
    {.key = "jitter",
     .kind = FIELD_VEC3,
     AT(RepeatSpec, jitter),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "[0, 0, 0]",
     .help = "Each copy is moved by a random offset, uniform between minus and plus this."},
    {.key = "seed",
     .kind = FIELD_INT,
     AT(RepeatSpec, seed),
     .range = {0, 2147483647, false, false},
     .fallback = "1",
     .help = "Of the random offsets: the same seed gives the same scene everywhere."},
    {.key = "centred",
     .kind = FIELD_BOOL,
     AT(RepeatSpec, centred),
     .fallback = "true",
     .help = "Whether the grid has its centre, or its first copy, at the position of the clamp or "
             "body."},
    {0},
};

const Group REPEAT_GROUP = {
    .name = "repeat",
    .help = "A grid of copies of a rod or a body along the axes of the world.",
    .size = sizeof(RepeatSpec),
    .fields = REPEAT_FIELDS,
};

static const Field PLANE_FIELDS[] = {
    {.key = "point",
     .kind = FIELD_VEC3,
     AT(PlaneSpec, point),
     .unit = "m",
     .range = ANY_LENGTH,
     .required = true,
     .help = "Where it is."},
    {.key = "normal",
     .kind = FIELD_DIRECTION,
     AT(PlaneSpec, normal),
     .range = ANY_LENGTH,
     .required = true,
     .help = "The side that is beyond it; any length."},
    {0},
};

static const Group PLANE_GROUP = {
    .name = "plane",
    .help = "A plane without a thing in it, such as a gate.",
    .size = sizeof(PlaneSpec),
    .fields = PLANE_FIELDS,
};

static const Field OBSERVER_FIELDS[] = {
    {.key = "force",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[TDL_QUANTITY_FORCE]),
     .fallback_note = "one of these twenty-two",
     .help = "Of rods, bodies, a cloth, grains or a collider: the sum of all contact forces on it, "
             "N; as a contact's force, the mean over the step."},
    {.key = "torque",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[TDL_QUANTITY_TORQUE]),
     .fallback_note = "one of these twenty-two",
     .help = "Of one rod, body or collider: the torque of the same forces, N m, about the start of "
             "the rod, the centre of mass of the body, the position of the collider."},
    {.key = "centre",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[TDL_QUANTITY_CENTRE]),
     .fallback_note = "one of these twenty-two",
     .help = "Of rods, bodies, a cloth, a shell or grains: their common centre of mass, m."},
    {.key = "point",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[TDL_QUANTITY_POINT]),
     .fallback_note = "one of these twenty-two",
     .help = "Of one rod: the place of a point of its centreline, m."},
    {.key = "start_hold",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[TDL_QUANTITY_START]),
     .fallback_note = "one of these twenty-two",
     .help = "Of one rod: the force of what holds its start, N, the mean over the step, or over "
             "the last part of one that was split; zero where the start is free."},
    {.key = "end_hold",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[TDL_QUANTITY_END]),
     .fallback_note = "one of these twenty-two",
     .help = "Of one rod: the same of its end."},
    {.key = "tension",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[TDL_QUANTITY_TENSION]),
     .fallback_note = "one of these twenty-two",
     .help = "Of one rod: the force along its tangent in the section at `at`, N, as x: positive "
             "where it is pulled. From the balance of the step, as the four that follow; of rods "
             "without branches that are none."},
    {.key = "shear",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[TDL_QUANTITY_SHEAR]),
     .fallback_note = "one of these twenty-two",
     .help = "Of one rod: the force across it there, N: its size, and along the second and third "
             "material axes."},
    {.key = "moment",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[TDL_QUANTITY_MOMENT]),
     .fallback_note = "one of these twenty-two",
     .help = "Of one rod: the moment there, N m: of twist, and of bending about these axes."},
    {.key = "twist",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[TDL_QUANTITY_TWIST]),
     .fallback_note = "one of these twenty-two",
     .help = "Of one rod that has a frame: the angle by which it is twisted from its start to "
             "`at`, rad, as x."},
    {.key = "frame",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[TDL_QUANTITY_FRAME]),
     .fallback_note = "one of these twenty-two",
     .help = "Of one rod that has a frame: the rotation of the frame at `at`, as a vector, rad."},
    {.key = "reaction",
     .kind = FIELD_TEXT,
     AT(ObserverSpec, of[TDL_QUANTITY_START_FORCE]),
     .fallback_note = "one of these twenty-two",
     .help = "Of an end of one rod, `rope.start` or `rope.end`: the force of what holds it, N; "
             "zero where it is free. Of a joint, `pin`: its force on its second side."},
    {.key = "reaction_moment",
     .kind = FIELD_TEXT,
     AT(ObserverSpec, of[TDL_QUANTITY_START_MOMENT]),
     .fallback_note = "one of these twenty-two",
     .help = "Of these: the moment of what holds it, about it, N m."},
    {.key = "power",
     .kind = FIELD_TEXT,
     AT(ObserverSpec, of[TDL_QUANTITY_START_POWER]),
     .fallback_note = "one of these twenty-two",
     .help = "Of an end of one rod: what a hold that moves gives it, W, as x; of a joint: what it "
             "gives both its sides."},
    {.key = "work",
     .kind = FIELD_TEXT,
     AT(ObserverSpec, of[TDL_QUANTITY_START_WORK]),
     .fallback_note = "one of these twenty-two",
     .help = "Of these: the work since the start, J, as x."},
    {.key = "strain",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[SCENE_QUANTITY_STRAIN]),
     .fallback_note = "one of these twenty-two",
     .help = "Of a cloth: x is the largest change of an edge's length over its length, or of an "
             "angle of a face, rad; y the relative change of its area; z is 0."},
    {.key = "hold",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[SCENE_QUANTITY_HOLD]),
     .fallback_note = "one of these twenty-two",
     .help = "Of a cloth: the sum of the forces of all that holds it, N, in the step."},
    {.key = "coordinate",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[SCENE_QUANTITY_COORDINATE]),
     .fallback_note = "one of these twenty-two",
     .help = "Of a hinge or a slider: x is how far its second side is, rad or m, from where it was "
             "placed, or of a distance how long it is; y the rate of that, z what motor, spring "
             "and range do along it, N m or N."},
    {.key = "mass_beyond",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[SCENE_QUANTITY_MASS_BEYOND]),
     .fallback_note = "one of these twenty-two",
     .help = "Of grains: the mass beyond a `plane`, kg, as x: of what went through a gate, and by "
             "its change the rate. What left the grid counts on the side where it left."},
    {.key = "run_out",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[SCENE_QUANTITY_RUN_OUT]),
     .fallback_note = "one of these twenty-two",
     .help = "Of grains: x is the horizontal distance from `about` within which 99 % of their "
             "particles are, m, y that of the farthest, z how high above it the highest is."},
    {.key = "volume_kept",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[SCENE_QUANTITY_VOLUME_KEPT]),
     .fallback_note = "one of these twenty-two",
     .help = "Of grains: the share of their volume that is not packed beyond the packing, as x."},
    {.key = "lost",
     .kind = FIELD_NAME,
     AT(ObserverSpec, of[SCENE_QUANTITY_LOST]),
     .fallback_note = "one of these twenty-two",
     .help = "Of grains: x is the mass that left the grid, kg, y the number of its particles."},
    {.key = "plane",
     .kind = FIELD_GROUP,
     AT(ObserverSpec, plane),
     .group = &PLANE_GROUP,
     .fallback_note = "required for mass_beyond",
     .help = "Of a mass beyond it."},
    {.key = "about",
     .kind = FIELD_VEC3,
     AT(ObserverSpec, about),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 0]",
     .help = "Of a run-out: from where; distances are along x and y, in two dimensions along x."},
    {.key = "at",
     .kind = FIELD_REAL,
     AT(ObserverSpec, at),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback_note = "the rod's end",
     .help = "Where a point is, or a section whose force, moment, twist or frame is told: arc "
             "length from the start, at most the rod's length. Where a force acts in a place, the "
             "section just before it is told."},
    {.key = "copy",
     .kind = FIELD_INT,
     AT(ObserverSpec, copy),
     .range = {0, 2147483647, false, false},
     .fallback_note = "all",
     .help = "Which copy of a repeated rod or body, or which curve of a file, from 0; a torque and "
             "whatever is told of a rod's places and ends are of one."},
    {.key = "name",
     .kind = FIELD_NAME,
     AT(ObserverSpec, name),
     .fallback_note = "such as `force_comb`, or `point_hair_3` with a `copy`",
     .help = "What its columns are called."},
    {0},
};

static const Group OBSERVER_GROUP = {
    .name = "observer",
    .help = "A vector that `log.csv` tells for every step, behind its other columns, such as "
            "`force_comb_x`, `force_comb_y` and `force_comb_z` for `{force: comb}`. At most 64.",
    .size = sizeof(ObserverSpec),
    .fields = OBSERVER_FIELDS,
};

static const Field SCENE_FIELDS[] = {
    {.key = "title",
     .kind = FIELD_TEXT,
     AT(SceneSpec, title),
     .fallback = "untitled",
     .help = "One line for people; at most 255 bytes."},
    {.key = "include",
     .kind = FIELD_INCLUDE,
     .fallback_note = "none",
     .help = "Other scene files to start from, relative to this one."},
    {.key = "gravity",
     .kind = FIELD_VEC3,
     AT(SceneSpec, gravity),
     .unit = "m/s^2",
     .range = {-1.0e9, 1.0e9, false, false},
     .fallback = "[0, 0, -9.81]",
     .help = "Acceleration of free fall."},
    {.key = "wind",
     .kind = FIELD_VEC3,
     AT(SceneSpec, wind),
     .unit = "m/s",
     .range = {-1.0e6, 1.0e6, false, false},
     .fallback = "[0, 0, 0]",
     .help = "Velocity of the air, the same everywhere, for rods and cloths with a `drag`."},
    {.key = "time",
     .kind = FIELD_GROUP,
     AT(SceneSpec, time),
     .group = &TIME_GROUP,
     .required = true,
     .help = "Steps and end of the simulation."},
    {.key = "start",
     .kind = FIELD_CHOICE,
     AT(SceneSpec, start),
     .choices = start_choices,
     .fallback = "as-placed",
     .help = "Let rods go as they were placed, or find a stable static equilibrium first."},
    {.key = "losses",
     .kind = FIELD_BOOL,
     AT(SceneSpec, losses),
     .fallback = "false",
     .help =
         "Whether `log.csv` tells where energy goes. In every step `kinetic` + "
         "`elastic` + `gravity` then changes by `work` + `given` (by wind, torques, moved ends) "
         "+ `push` - `friction` - `impact` - `damping` - `numerical` (taken by the time step)."},
    {.key = "output",
     .kind = FIELD_GROUP,
     AT(SceneSpec, output),
     .group = &OUTPUT_GROUP,
     .fallback_note = "its defaults",
     .help = "What the result keeps."},
    {.key = "materials",
     .kind = FIELD_GROUPS,
     AT(SceneSpec, materials),
     .group = &MATERIAL_GROUP,
     .fallback_note = "none",
     .help = "What rods, bodies, cloths, shells, grains and colliders are made of."},
    {.key = "rods",
     .kind = FIELD_GROUPS,
     AT(SceneSpec, rods),
     .group = &ROD_GROUP,
     .fallback_note = "none",
     .help = "The rods. A scene has rods, bodies, cloths, shells or grains."},
    {.key = "bodies",
     .kind = FIELD_GROUPS,
     AT(SceneSpec, bodies),
     .group = &BODY_GROUP,
     .fallback_note = "none",
     .help = "The rigid bodies."},
    {.key = "cloths",
     .kind = FIELD_GROUPS,
     AT(SceneSpec, cloths),
     .group = &CLOTH_GROUP,
     .fallback_note = "none",
     .help = "The sheets of cloth."},
    {.key = "shells",
     .kind = FIELD_GROUPS,
     AT(SceneSpec, shells),
     .group = &SHELL_GROUP,
     .fallback_note = "none",
     .help = "The shell patches, which touch nothing."},
    {.key = "grains",
     .kind = FIELD_GROUP,
     AT(SceneSpec, grains),
     .group = &GRAINS_GROUP,
     .fallback_note = "none",
     .help = "The bed of grains."},
    {.key = "colliders",
     .kind = FIELD_GROUPS,
     AT(SceneSpec, colliders),
     .group = &COLLIDER_GROUP,
     .fallback_note = "none",
     .help = "The obstacles."},
    {.key = "joints",
     .kind = FIELD_GROUPS,
     AT(SceneSpec, joints),
     .group = &JOINT_GROUP,
     .fallback_note = "none",
     .help = "What holds them together."},
    {.key = "contacts",
     .kind = FIELD_GROUP,
     AT(SceneSpec, contacts),
     .group = &CONTACTS_GROUP,
     .fallback_note = "its defaults",
     .help = "How things touch."},
    {.key = "inverse",
     .kind = FIELD_GROUP,
     AT(SceneSpec, inverse),
     .group = &INVERSE_GROUP,
     .fallback_note = "its defaults",
     .help = "How rods come to rest in the shapes they are given."},
    {.key = "observe",
     .kind = FIELD_GROUPS,
     AT(SceneSpec, observers),
     .group = &OBSERVER_GROUP,
     .fallback_note = "none",
     .help = "Forces and places to be told in `log.csv`."},
    {0},
};

const Group SCENE_GROUP = {
    .name = "scene",
    .help = "The file as a whole.",
    .size = sizeof(SceneSpec),
    .fields = SCENE_FIELDS,
};
