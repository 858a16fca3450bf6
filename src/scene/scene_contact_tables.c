// The scene language: what touches. Bodies, colliders, and how contacts are found and solved.
#include "scene/scene.h"

#define ANY_LENGTH                                                                                 \
    { -1.0e9, 1.0e9, false, false }
#define AT(type, member) .offset = offsetof(type, member)

// in the order of TdlRigidShape
static const char* body_choices(void) {
    return "sphere|capsule|box|curves|mesh|cylinder";
}

// in the order of TdlShape
static const char* shape_choices(void) {
    return "plane|sphere|cylinder|capsule|plate|comb|curves|mesh|implicit";
}

// in the order of DetectionChoice
static const char* detection_choices(void) {
    return "curves|segments|baseline|off";
}

// In the order of TdlContactResponse.
static const char* response_choices(void) {
    return "exact|barrier|s3";
}

// In the order of TdlContactStart.
static const char* start_choices(void) {
    return "separate|refuse|keep";
}

// In the order of TdlFrictionSolverKind.
static const char* solver_choices(void) {
    return "auto|gauss-seidel|anderson|newton|proximal|interior|admm|fixed-point|gradient|"
           "alternating|path|wedged|faceted|nodal|active-set|normal-interior";
}

static const Field SOLID_FIELDS[] = {
    {.key = "file",
     .kind = FIELD_PATH,
     AT(MeshSpec, file),
     .required = true,
     .help = "An .obj with faces, relative to this file."},
    IMPORT_FIELDS(MeshSpec),
    {0},
};

static const Group SOLID_GROUP = {
    .name = "body-mesh",
    .help = "The surface of a body, from a file of another program; it may have hollows. Faces "
            "with more corners must be convex. Every edge must join two faces the same way round, "
            "their corners counterclockwise as seen from outside: what it encloses has the mass.",
    .size = sizeof(MeshSpec),
    .fields = SOLID_FIELDS,
};

static const Field BODY_FIELDS[] = {
    {.key = "name",
     .kind = FIELD_NAME,
     AT(BodySpec, name),
     .required = true,
     .help = "What messages and overrides call it."},
    {.key = "shape",
     .kind = FIELD_CHOICE,
     AT(BodySpec, shape),
     .choices = body_choices,
     .required = true,
     .help =
         "A capsule is a cylinder with round caps, along the first axis. Curves are a chain that "
         "starts at the position, along the first axis. A mesh is what a closed surface of "
         "triangles from a file encloses. A cylinder has flat ends, and its axis is the first."},
    {.key = "radius",
     .kind = FIELD_REAL,
     AT(BodySpec, radius),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback_note = "required but for a box or mesh",
     .help = "Of a sphere, a capsule, a cylinder or a chain's tube; of a box, by which its edges "
             "are rounded "
             "(0 when not given: then it touches only planes well, and passes through meshes that "
             "are not closed and have no radius either); of a mesh, by which it stands out beyond "
             "its triangles, without mass (the same)."},
    {.key = "inner_radius",
     .kind = FIELD_REAL,
     AT(BodySpec, inner_radius),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "0",
     .help = "Of a sphere or a cylinder: it is hollow within, and is touched from outside alone."},
    {.key = "rounding",
     .kind = FIELD_REAL,
     AT(BodySpec, rounding),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "0",
     .help =
         "Of a cylinder only: by which its rims are rounded; above 0 where sharp edges or meshes "
         "that are not closed and have no radius are to touch them: it passes through those."},
    {.key = "length",
     .kind = FIELD_REAL,
     AT(BodySpec, length),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback_note = "required for a capsule or cylinder",
     .help = "Of a capsule: between the centres of its caps; of a cylinder: of all of it."},
    {.key = "half",
     .kind = FIELD_VEC3,
     AT(BodySpec, half),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .fallback_note = "required for a box",
     .help = "Of a box only: half its sizes along its axes, rounding included."},
    {.key = "pieces",
     .kind = FIELD_GROUPS,
     AT(BodySpec, pieces),
     .group = &PIECE_GROUP,
     .fallback_note = "required for curves",
     .help = "Of curves only: the chain."},
    {.key = "mesh",
     .kind = FIELD_GROUP,
     AT(BodySpec, mesh),
     .group = &SOLID_GROUP,
     .fallback_note = "required for a mesh",
     .help = "Of a mesh only: where its triangles are."},
    {.key = "material",
     .kind = FIELD_NAME,
     AT(BodySpec, material),
     .fallback_note = "none",
     .help = "The name of one of the `materials`: of its density and of how it touches."},
    {.key = "density",
     .kind = FIELD_REAL,
     AT(BodySpec, density),
     .unit = "kg/m^3",
     .range = {1.0e-6, 1.0e9, false, false},
     .fallback_note = "of its material, or 1000",
     .help = "Mass per volume."},
    {.key = "mass",
     .kind = FIELD_REAL,
     AT(BodySpec, mass),
     .unit = "kg",
     .range = {1.0e-12, 1.0e12, false, false},
     .fallback_note = "of its density",
     .help = "Of one body, in place of a density."},
    {.key = "inertia",
     .kind = FIELD_VEC3,
     AT(BodySpec, inertia),
     .unit = "kg m^2",
     .range = {0.0, 1.0e18, true, false},
     .fallback_note = "of its shape, even in density",
     .help = "About axes through its centre of mass along its own: xx, yy, zz."},
    {.key = "inertia_products",
     .kind = FIELD_VEC3,
     AT(BodySpec, inertia_products),
     .unit = "kg m^2",
     .range = {-1.0e18, 1.0e18, false, false},
     .fallback = "[0, 0, 0]",
     .help = "The other entries of the same matrix: xy, xz, yz, of which xy is minus the integral "
             "of x y over the mass."},
    {.key = "centre",
     .kind = FIELD_VEC3,
     AT(BodySpec, centre),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback_note = "of its shape, even in density",
     .help = "Its centre of mass, in its axes from its `position`; needs an `inertia` about it."},
    {.key = "position",
     .kind = FIELD_VEC3,
     AT(BodySpec, position),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 0]",
     .help = "Of its middle, which is its centre of mass unless a `centre` is given; of a chain's "
             "start; of a mesh's origin."},
    {.key = "direction",
     .kind = FIELD_DIRECTION,
     AT(BodySpec, direction),
     .range = ANY_LENGTH,
     .fallback = "[1, 0, 0]",
     .help = "Its first axis; any length."},
    {.key = "normal",
     .kind = FIELD_DIRECTION,
     AT(BodySpec, normal),
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 1]",
     .help = "Its third axis lies as near to this as it can."},
    {.key = "velocity",
     .kind = FIELD_VEC3,
     AT(BodySpec, velocity),
     .unit = "m/s",
     .range = {-1.0e6, 1.0e6, false, false},
     .fallback = "[0, 0, 0]",
     .help = "Of its centre of mass, at the start."},
    {.key = "angular_velocity",
     .kind = FIELD_VEC3,
     AT(BodySpec, angular_velocity),
     .unit = "rad/s",
     .range = {-1.0e6, 1.0e6, false, false},
     .fallback = "[0, 0, 0]",
     .help = "At the start, about the axes of the world."},
    {.key = "loads",
     .kind = FIELD_GROUPS,
     AT(BodySpec, loads),
     .group = &BODY_LOAD_GROUP,
     .fallback_note = "none",
     .help = "Forces and torques on it, on every copy."},
    {.key = "repeat",
     .kind = FIELD_GROUP,
     AT(BodySpec, repeat),
     .group = &REPEAT_GROUP,
     .fallback_note = "one body",
     .help = "Makes a grid of copies."},
    {0},
};

const Group BODY_GROUP = {
    .name = "body",
    .help = "A rigid body of even density, or with mass, centre of mass and inertia of its own.",
    .size = sizeof(BodySpec),
    .fields = BODY_FIELDS,
};

static const Field CACHE_FIELDS[] = {
    {.key = "file",
     .kind = FIELD_PATH,
     AT(CacheSpec, file),
     .required = true,
     .help =
         "A .pc2 with as many points as the .obj has vertices, in their order; relative to this "
         "file."},
    {.key = "fps",
     .kind = FIELD_REAL,
     AT(CacheSpec, fps),
     .unit = "1/s",
     .range = {1.0e-6, 1.0e9, false, false},
     .fallback = "24",
     .help = "Frames in a second: a .pc2 counts its samples in frames."},
    {.key = "start",
     .kind = FIELD_REAL,
     AT(CacheSpec, start),
     .unit = "s",
     .range = {-1.0e9, 1.0e9, false, false},
     .fallback = "0",
     .help = "When its frame 0 is."},
    IMPORT_HASH(CacheSpec),
    {0},
};

static const Group CACHE_GROUP = {
    .name = "cache",
    .help =
        "A point cache (Point Cache 2) of another program, which moves every vertex of a mesh: a "
        "body that hair touches. Between its samples vertices move evenly; before the first and "
        "after the last they stay. `scale` and `up` are those of the mesh, whose `motion` comes "
        "on top. Every triangle must have an area at all times.",
    .size = sizeof(CacheSpec),
    .fields = CACHE_FIELDS,
};

static const Field MESH_FIELDS[] = {
    {.key = "file",
     .kind = FIELD_PATH,
     AT(MeshSpec, file),
     .required = true,
     .help = "An .obj with faces, relative to this file."},
    {.key = "cache",
     .kind = FIELD_GROUP,
     AT(MeshSpec, cache),
     .group = &CACHE_GROUP,
     .fallback_note = "the vertices stay",
     .help = "How the vertices move."},
    IMPORT_FIELDS(MeshSpec),
    {0},
};

static const Group MESH_GROUP = {
    .name = "mesh",
    .help = "A surface of triangles from a file of another program. Faces with more corners must "
            "be convex. Where every edge joins two faces the same way round it is closed: touched "
            "from the side to which its normals point (from which the corners of a face run "
            "counterclockwise), and what gets behind it is pushed out. Else it is a sheet, touched "
            "from both sides; boxes, meshes and cylinders with sharp edges (without a radius or "
            "rounding) pass through a sheet without a radius.",
    .size = sizeof(MeshSpec),
    .fields = MESH_FIELDS,
};

static const Field BOX_FIELDS[] = {
    {.key = "from",
     .kind = FIELD_VEC3,
     AT(BoxSpec, from),
     .unit = "m",
     .range = ANY_LENGTH,
     .required = true,
     .help = "Its least x, y and z, in the frame of the collider."},
    {.key = "to",
     .kind = FIELD_VEC3,
     AT(BoxSpec, to),
     .unit = "m",
     .range = ANY_LENGTH,
     .required = true,
     .help = "Its largest."},
    {.key = "finest",
     .kind = FIELD_REAL,
     AT(BoxSpec, finest),
     .unit = "m",
     .range = {1.0e-9, 1.0e9, false, false},
     .fallback_note = "1/500 of the diagonal",
     .help = "Edges and points of the surface, which have no one normal, are seen as points so far "
             "apart."},
    {0},
};

static const Group BOX_GROUP = {
    .name = "box",
    .help = "The box in which an implicit surface is; beyond it there is nothing. Things must not "
            "come in from its sides.",
    .size = sizeof(BoxSpec),
    .fields = BOX_FIELDS,
};

static const Field COLLIDER_FIELDS[] = {
    {.key = "name",
     .kind = FIELD_NAME,
     AT(ColliderSpec, name),
     .required = true,
     .help = "What messages and overrides call it."},
    {.key = "shape",
     .kind = FIELD_CHOICE,
     AT(ColliderSpec, shape),
     .choices = shape_choices,
     .required = true,
     .help =
         "A cylinder has no ends; a capsule is a cylinder with round caps. A plate is a disc, "
         "touched from above, with a round rim that stands out by its `radius`. A comb has "
         "`teeth`, capsules in a row along `direction` that point against `normal`, and a "
         "handle of twice their radius across their tops. Curves are a chain of tubes, such as "
         "a rail. A mesh is a surface of triangles from a file. An implicit surface is where an "
         "`expression` is 0 in a `box`."},
    {.key = "position",
     .kind = FIELD_VEC3,
     AT(ColliderSpec, position),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 0]",
     .help = "A point of the plane or of a cylinder's axis; the centre of a sphere, a plate or a "
             "comb's handle; the start of a capsule's axis or of a chain; the origin of a mesh or "
             "of x, y and z of "
             "an expression."},
    {.key = "normal",
     .kind = FIELD_DIRECTION,
     AT(ColliderSpec, normal),
     .range = ANY_LENGTH,
     .fallback = "[0, 0, 1]",
     .help = "Of a plane or plate: where its free side faces; any length. Of a comb, chain or "
             "mesh: its third axis lies as near to this as it can."},
    {.key = "direction",
     .kind = FIELD_DIRECTION,
     AT(ColliderSpec, direction),
     .range = ANY_LENGTH,
     .fallback = "[1, 0, 0]",
     .help = "Of a cylinder or capsule: its axis; of a comb: the row of its teeth; of a chain: its "
             "tangent at the start; of a mesh: its first axis. Any length."},
    {.key = "radius",
     .kind = FIELD_REAL,
     AT(ColliderSpec, radius),
     .unit = "m",
     .range = {1.0e-12, 1.0e9, false, false},
     .fallback_note = "required but for a plane or mesh",
     .help = "Of a sphere, cylinder or capsule; of the tube of a plate's rim, a comb's teeth or a "
             "chain. A mesh has none unless it is given: then it is so thick to each side."},
    {.key = "inner_radius",
     .kind = FIELD_REAL,
     AT(ColliderSpec, inner_radius),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback = "0",
     .help = "Of curves only: makes them a tube, open at both ends, whose bore thinner rods, "
             "spheres, capsules and chains touch from inside. Less than the radius. Boxes, meshes, "
             "cylinders and cloth meet it as solid, and so does all with `response: barrier`."},
    {.key = "length",
     .kind = FIELD_REAL,
     AT(ColliderSpec, length),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback_note = "required for a capsule, plate or comb",
     .help =
         "Of a capsule: between the centres of its caps; of a plate: the radius of its disc; of "
         "a comb: of its teeth."},
    {.key = "teeth",
     .kind = FIELD_INT,
     AT(ColliderSpec, teeth),
     .range = {1, 10000, false, false},
     .fallback_note = "required for a comb",
     .help = "Of a comb only: how many."},
    {.key = "pitch",
     .kind = FIELD_REAL,
     AT(ColliderSpec, pitch),
     .unit = "m",
     .range = {1.0e-12, 1.0e9, false, false},
     .fallback_note = "required for a comb",
     .help = "Of a comb only: from tooth to tooth, between their axes."},
    {.key = "pieces",
     .kind = FIELD_GROUPS,
     AT(ColliderSpec, pieces),
     .group = &PIECE_GROUP,
     .fallback_note = "required for curves",
     .help = "Of curves only: the chain."},
    {.key = "mesh",
     .kind = FIELD_GROUP,
     AT(ColliderSpec, mesh),
     .group = &MESH_GROUP,
     .fallback_note = "required for a mesh",
     .help = "Of a mesh only: where its triangles are."},
    {.key = "expression",
     .kind = FIELD_FORMULA,
     AT(ColliderSpec, expression),
     .fallback_note = "required for implicit",
     .help = "Of an implicit surface only: h(x, y, z), which is 0 on the surface and positive "
             "where it is free, such as \"z - 0.1*sin(20*x)\". It need not be a distance. Numbers, "
             "`pi`, `+ - * /`, `^` to a constant power, parentheses, `sin`, `cos`, `exp`, `sqrt`, "
             "`abs`, `min`, `max`."},
    {.key = "box",
     .kind = FIELD_GROUP,
     AT(ColliderSpec, box),
     .group = &BOX_GROUP,
     .fallback_note = "required for implicit",
     .help = "Of an implicit surface only: where it is."},
    {.key = "material",
     .kind = FIELD_NAME,
     AT(ColliderSpec, material),
     .fallback_note = "none",
     .help = "The name of one of the `materials`: of how it touches."},
    {.key = "motion",
     .kind = FIELD_GROUP,
     AT(ColliderSpec, motion),
     .group = &MOTION_GROUP,
     .fallback_note = "still",
     .help = "How it moves."},
    {.key = "velocity",
     .kind = FIELD_VEC3,
     AT(ColliderSpec, velocity),
     .unit = "m/s",
     .range = {-1.0e6, 1.0e6, false, false},
     .fallback = "[0, 0, 0]",
     .help = "Constant, on top of its motion."},
    {.key = "angular_velocity",
     .kind = FIELD_VEC3,
     AT(ColliderSpec, angular_velocity),
     .unit = "rad/s",
     .range = {-1.0e6, 1.0e6, false, false},
     .fallback = "[0, 0, 0]",
     .help = "Constant, on top of its motion: about its position and the axes of the world."},
    {0},
};

const Group COLLIDER_GROUP = {
    .name = "collider",
    .help = "An obstacle that goes where its motion takes it.",
    .size = sizeof(ColliderSpec),
    .fields = COLLIDER_FIELDS,
};

static const Field PAIR_FIELDS[] = {
    {.key = "between",
     .kind = FIELD_NAMES,
     AT(PairSpec, between),
     .required = true,
     .help = "Two of the `materials`, or one of them twice."},
    {.key = "friction",
     .kind = FIELD_REAL,
     AT(PairSpec, friction),
     .range = {0.0, 1.0e6, false, false},
     .fallback_note = "as for the others",
     .help = "Coulomb's coefficient."},
    {.key = "restitution",
     .kind = FIELD_REAL,
     AT(PairSpec, restitution),
     .range = {0.0, 1.0, false, false},
     .fallback_note = "as for the others",
     .help = "Of rigid bodies: how much of its velocity an impact gives back."},
    {0},
};

static const Group PAIR_GROUP = {
    .name = "pair",
    .help = "How two materials touch.",
    .size = sizeof(PairSpec),
    .fields = PAIR_FIELDS,
};

static const Field BARRIER_FIELDS[] = {
    {.key = "distance",
     .kind = FIELD_REAL,
     AT(BarrierSpec, distance),
     .unit = "m",
     .range = {0.0, 1.0e6, true, false},
     .fallback_note = "a tenth of the thinnest radius",
     .help = "Gaps below it are felt. Things must begin further apart than a thousandth of it."},
    {.key = "stiffness",
     .kind = FIELD_REAL,
     AT(BarrierSpec, stiffness),
     .unit = "N/m",
     .range = {0.0, 1.0e18, true, false},
     .fallback_note = "of each contact, the mass of the lighter thing over the square of the step",
     .help =
         "k of the energy -k (g - d)^2 ln(g/d) of a gap g below the distance d. The stiffer, the "
         "nearer to the distance things come to rest; at half of it they carry 1.19 k d."},
    {.key = "creep",
     .kind = FIELD_REAL,
     AT(BarrierSpec, creep),
     .unit = "m/s",
     .range = {0.0, 1.0e6, true, false},
     .fallback = "1e-3",
     .help = "Sliding speed below which friction is less than Coulomb's: what would stick creeps, "
             "slower than this."},
    {0},
};

static const Group BARRIER_GROUP = {
    .name = "barrier",
    .help = "Forces of gaps, in place of exact contact.",
    .size = sizeof(BarrierSpec),
    .fields = BARRIER_FIELDS,
};

static const Field CONTACTS_FIELDS[] = {
    {.key = "detection",
     .kind = FIELD_CHOICE,
     AT(ContactsSpec, detection),
     .choices = detection_choices,
     .fallback = "curves",
     .help =
         "What is looked for contacts: smooth `curves`, where a model has them; `segments` in "
         "their place, the usual proxy; `baseline`: curves, whose distance is that of many short "
         "segments, slow and to compare with; or `off`: things pass through each other."},
    {.key = "friction",
     .kind = FIELD_REAL,
     AT(ContactsSpec, friction),
     .range = {0.0, 1.0e6, false, false},
     .fallback = "0.3",
     .help = "Coulomb's coefficient between things whose materials are not among the `pairs`."},
    {.key = "restitution",
     .kind = FIELD_REAL,
     AT(ContactsSpec, restitution),
     .range = {0.0, 1.0, false, false},
     .fallback = "0",
     .help = "Of rigid bodies: how much of its velocity an impact gives back, for the same."},
    {.key = "pairs",
     .kind = FIELD_GROUPS,
     AT(ContactsSpec, pairs),
     .group = &PAIR_GROUP,
     .fallback_note = "none",
     .help = "Pairs of materials that touch in their own way."},
    {.key = "segments",
     .kind = FIELD_INT,
     AT(ContactsSpec, segments),
     .range = {1, 1000, false, false},
     .fallback = "8",
     .help = "How many stand for an element, with `detection: segments`."},
    {.key = "segment_length",
     .kind = FIELD_REAL,
     AT(ContactsSpec, segment_length),
     .unit = "m",
     .range = {1.0e-8, 1.0, false, false},
     .fallback = "1e-4",
     .help = "The longest segment, with `detection: baseline`."},
    {.key = "self",
     .kind = FIELD_BOOL,
     AT(ContactsSpec, self),
     .fallback = "true",
     .help = "Whether a rod touches itself."},
    {.key = "margin",
     .kind = FIELD_REAL,
     AT(ContactsSpec, margin),
     .unit = "m",
     .range = {0.0, 1.0e6, false, false},
     .fallback = "0",
     .help =
         "Gap up to which things are looked at; 0: chosen in every step by how far they moved."},
    {.key = "response",
     .kind = FIELD_CHOICE,
     AT(ContactsSpec, response),
     .choices = response_choices,
     .fallback = "exact",
     .help =
         "How contacts answer: `exact`, by impulses that fulfil Signorini's and Coulomb's laws, "
         "to the `tolerance` of the `solver`; `barrier`, by forces that grow without bound as a "
         "gap closes, and friction that is smooth about rest; `s3`, by normal impulses and "
         "friction "
         "that always slides and never holds: both to compare with."},
    {.key = "barrier",
     .kind = FIELD_GROUP,
     AT(ContactsSpec, barrier),
     .group = &BARRIER_GROUP,
     .fallback_note = "as said there",
     .help = "Of `response: barrier`, and of it alone."},
    {.key = "solver",
     .kind = FIELD_CHOICE,
     AT(ContactsSpec, solver),
     .choices = solver_choices,
     .fallback = "alternating",
     .help = "How the impulses are found. Of `response: s3` it is `active-set`, or "
             "`normal-interior` where that is given."},
    {.key = "tolerance",
     .kind = FIELD_REAL,
     AT(ContactsSpec, tolerance),
     .range = {1.0e-15, 1.0, false, false},
     .fallback = "1e-8",
     .help = "Relative error at which the solver stops; of the barrier, how far forces may be from "
             "those of the gaps."},
    {.key = "max_iterations",
     .kind = FIELD_INT,
     AT(ContactsSpec, max_iterations),
     .range = {1, 100000000, false, false},
     .fallback = "1000",
     .help = "After which the solver stops anyway; the log tells."},
    {.key = "overlap",
     .kind = FIELD_REAL,
     AT(ContactsSpec, overlap),
     .range = {1.0e-3, 1.0, false, false},
     .fallback = "0.1",
     .help = "New overlap, over the radius of the thinner of two things, at which a step is made "
             "again in parts."},
    {.key = "start",
     .kind = FIELD_CHOICE,
     AT(ContactsSpec, start),
     .choices = start_choices,
     .fallback = "separate",
     .help =
         "What is done about things that overlap at the start, which `check` and `run` tell of: "
         "`separate` moves them apart, by at most a tenth of the thinner radius a step and "
         "without giving them velocity, as far as clamps let them, and puts what is inside boxes "
         "and closed meshes or through triangles beside them before the first step, which fails "
         "where nothing of it can be moved; `keep` leaves that so; `refuse` ends the run with "
         "exit status 3 before anything is written."},
    {0},
};

const Group CONTACTS_GROUP = {
    .name = "contacts",
    .help = "How contacts are found and solved.",
    .size = sizeof(ContactsSpec),
    .fields = CONTACTS_FIELDS,
};
