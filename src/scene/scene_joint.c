// The scene language: joints. Their keys, what the keys cannot say, and how they join the bodies of
// a world.
#include "scene/scene.h"

#include "base/check.h"
#include "base/log.h"
#include "math/rotation.h"

#include <math.h>
#include <string.h>

#define ANY_LENGTH                                                                                 \
    { -1.0e9, 1.0e9, false, false }
#define POSITIVE                                                                                   \
    { 0.0, 1.0e18, true, false }
#define NOT_NEGATIVE                                                                               \
    { 0.0, 1.0e18, false, false }
#define AT(type, member) .offset = offsetof(type, member)

// Places of both sides that are further apart than this, m, or than a rod's radius are a mistake.
static const double APART = 1.0e-6;

static const char* kind_choices(void) {
    return "fixed|ball|hinge|slider|distance";
}

static const Field END_FIELDS[] = {
    {.key = "of",
     .kind = FIELD_NAME,
     AT(JointEndSpec, name),
     .required = true,
     .help = "The name of one of the rods, bodies, cloths or colliders."},
    {.key = "copy",
     .kind = FIELD_INT,
     AT(JointEndSpec, copy),
     .range = {0, 1.0e9, false, false},
     .fallback_note = "all of them, a joint each",
     .help = "Which of its copies, counted from 0."},
    {.key = "at",
     .kind = FIELD_REAL,
     AT(JointEndSpec, at),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .fallback_note = "the end of a rod",
     .help = "The arc length of its place on a rod; of a cloth the number of a vertex, which is "
             "needed."},
    {.key = "place",
     .kind = FIELD_VEC3,
     AT(JointEndSpec, place),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback_note = "none",
     .help = "Its place on a body or a collider, as seen from that: along its axes from its "
             "position."},
    {0},
};

static const Group END_GROUP = {
    .name = "side of a joint",
    .help = "What a joint holds, and where.",
    .size = sizeof(JointEndSpec),
    .fields = END_FIELDS,
};

static const Field SPRING_FIELDS[] = {
    {.key = "stiffness",
     .kind = FIELD_REAL,
     AT(JointSpringSpec, stiffness),
     .unit = "N/m",
     .range = NOT_NEGATIVE,
     .fallback = "0",
     .help = "Of a hinge in N m/rad."},
    {.key = "damping",
     .kind = FIELD_REAL,
     AT(JointSpringSpec, damping),
     .unit = "N s/m",
     .range = NOT_NEGATIVE,
     .fallback = "0",
     .help = "Of a hinge in N m s/rad."},
    {.key = "rest",
     .kind = FIELD_REAL,
     AT(JointSpringSpec, rest),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback = "0",
     .help = "Where it pulls to; of a hinge in rad. 0 is as placed."},
    {0},
};

static const Group SPRING_GROUP = {
    .name = "spring of a joint",
    .help = "Along the free coordinate of a hinge or a slider.",
    .size = sizeof(JointSpringSpec),
    .fields = SPRING_FIELDS,
};

#define MOTOR_TARGET_FIELDS(type, kind_of)                                                         \
    {.key = "speed",                                                                               \
     .kind = kind_of,                                                                              \
     AT(type, speed),                                                                              \
     .unit = "m/s",                                                                                \
     .range = ANY_LENGTH,                                                                          \
     .fallback_note = "none",                                                                      \
     .help = "With which it goes, of a hinge in rad/s: this or `place`."},                         \
    {                                                                                              \
        .key = "place", .kind = kind_of, AT(type, place), .unit = "m", .range = ANY_LENGTH,        \
        .fallback_note = "none",                                                                   \
        .help = "Where it holds its joint, of a hinge in rad; 0 is where the joint was made."      \
    }

static const Field MOTOR_KEY_FIELDS[] = {
    {.key = "time",
     .kind = FIELD_REAL,
     AT(MotorKeySpec, time),
     .unit = "s",
     .range = {-1.0e12, 1.0e12, false, false},
     .required = true,
     .help = "When; later than the keyframe before."},
    MOTOR_TARGET_FIELDS(MotorKeySpec, FIELD_REAL),
    {0},
};

static const Group MOTOR_KEY_GROUP = {
    .name = "motor keyframe",
    .help = "What a motor is to do at one moment: all keyframes tell a speed, or all a place.",
    .size = sizeof(MotorKeySpec),
    .fields = MOTOR_KEY_FIELDS,
};

static const Field MOTOR_FIELDS[] = {
    MOTOR_TARGET_FIELDS(JointMotorSpec, FIELD_FUNCTION),
    {.key = "keyframes",
     .kind = FIELD_GROUPS,
     AT(JointMotorSpec, keyframes),
     .group = &MOTOR_KEY_GROUP,
     .fallback_note = "none",
     .help = "The one or the other at some times. Before the first and after the last it stays."},
    {.key = "interpolation",
     .kind = FIELD_CHOICE,
     AT(JointMotorSpec, interpolation),
     .choices = scene_interpolation_choices,
     .fallback = "smooth",
     .help = "Between keyframes: as those of a motion go, or evenly; of a file evenly unless this "
             "is given."},
    {.key = "file",
     .kind = FIELD_PATH,
     AT(JointMotorSpec, file),
     .fallback_note = "none",
     .help = "A .csv with the columns time (s), and speed or place, relative to this file, as "
             "keyframes."},
    IMPORT_HASH(JointMotorSpec),
    {.key = "most",
     .kind = FIELD_REAL,
     AT(JointMotorSpec, most),
     .unit = "N",
     .range = POSITIVE,
     .fallback_note = "as much as it takes",
     .help = "What it can do, of a hinge in N m."},
    {0},
};

static const Group MOTOR_GROUP = {
    .name = "motor of a joint",
    .help = "What drives the free coordinate of a hinge or a slider: the second side against the "
            "first. A speed or a place that is an [expression](#expressions) of the time is taken "
            "in the middle of each step, or at its end.",
    .size = sizeof(JointMotorSpec),
    .fields = MOTOR_FIELDS,
};

static const Field BREAKS_FIELDS[] = {
    {.key = "force",
     .kind = FIELD_REAL,
     AT(JointBreaksSpec, force),
     .unit = "N",
     .range = POSITIVE,
     .fallback_note = "at none",
     .help = "Above which it breaks."},
    {.key = "torque",
     .kind = FIELD_REAL,
     AT(JointBreaksSpec, torque),
     .unit = "N m",
     .range = POSITIVE,
     .fallback_note = "at none",
     .help = "About its place, above which it breaks."},
    {0},
};

static const Group BREAKS_GROUP = {
    .name = "strength of a joint",
    .help = "What a joint bears. Broken it holds nothing for the rest of the run.",
    .size = sizeof(JointBreaksSpec),
    .fields = BREAKS_FIELDS,
};

static const Field JOINT_FIELDS[] = {
    {.key = "name",
     .kind = FIELD_NAME,
     AT(JointSpec, name),
     .required = true,
     .help = "What messages and observers call it."},
    {.key = "kind",
     .kind = FIELD_CHOICE,
     AT(JointSpec, kind),
     .choices = kind_choices,
     .required = true,
     .help = "What it holds: place and turn; the place; all but the turn about its axis; all but "
             "the way along it; the distance of two places."},
    {.key = "from",
     .kind = FIELD_GROUP,
     AT(JointSpec, end[0]),
     .group = &END_GROUP,
     .required = true,
     .help = "Its first side."},
    {.key = "to",
     .kind = FIELD_GROUP,
     AT(JointSpec, end[1]),
     .group = &END_GROUP,
     .fallback_note = "the world, which stands still",
     .help = "Its second side, which coordinates and forces are of. Without it that is `from`, and "
             "the first is the world."},
    {.key = "next",
     .kind = FIELD_BOOL,
     AT(JointSpec, next),
     .fallback = "false",
     .help = "Each copy of the first side is joined to the next copy of the second: a chain."},
    {.key = "point",
     .kind = FIELD_VEC3,
     AT(JointSpec, point),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback_note = "the place of a side",
     .help = "Where it is at the start, where no side tells. Of a distance: its other end in the "
             "world."},
    {.key = "axis",
     .kind = FIELD_DIRECTION,
     AT(JointSpec, axis),
     .range = ANY_LENGTH,
     .fallback_note = "needed by a hinge and a slider",
     .help = "Of a hinge or a slider at the start; any length."},
    {.key = "length",
     .kind = FIELD_REAL,
     AT(JointSpec, length),
     .unit = "m",
     .range = POSITIVE,
     .fallback_note = "as it is at the start",
     .help = "Of a distance without a `range`."},
    {.key = "stiffness",
     .kind = FIELD_REAL,
     AT(JointSpec, stiffness),
     .unit = "N/m",
     .range = POSITIVE,
     .fallback_note = "exact",
     .help = "Of the places that it holds, in place of holding them exactly."},
    {.key = "damping",
     .kind = FIELD_REAL,
     AT(JointSpec, damping),
     .unit = "N s/m",
     .range = NOT_NEGATIVE,
     .fallback = "0",
     .help = "Goes with `stiffness`."},
    {.key = "turning_stiffness",
     .kind = FIELD_REAL,
     AT(JointSpec, turning_stiffness),
     .unit = "N m/rad",
     .range = POSITIVE,
     .fallback_note = "exact",
     .help = "Of the turns that it holds."},
    {.key = "turning_damping",
     .kind = FIELD_REAL,
     AT(JointSpec, turning_damping),
     .unit = "N m s/rad",
     .range = NOT_NEGATIVE,
     .fallback = "0",
     .help = "Goes with `turning_stiffness`."},
    {.key = "spring",
     .kind = FIELD_GROUP,
     AT(JointSpec, spring),
     .group = &SPRING_GROUP,
     .fallback_note = "none",
     .help = "Along the free coordinate of a hinge or a slider."},
    {.key = "motor",
     .kind = FIELD_GROUP,
     AT(JointSpec, motor),
     .group = &MOTOR_GROUP,
     .fallback_note = "none",
     .help = "The same."},
    {.key = "range",
     .kind = FIELD_PAIR,
     AT(JointSpec, range),
     .unit = "m",
     .range = ANY_LENGTH,
     .fallback_note = "without end",
     .help =
         "From where to where it goes, of a hinge in rad; of a distance: from [0, 0.3] on it is "
         "a rope of 0.3 m, which only pulls."},
    {.key = "breaks",
     .kind = FIELD_GROUP,
     AT(JointSpec, breaks),
     .group = &BREAKS_GROUP,
     .fallback_note = "never",
     .help = "What it bears."},
    {.key = "during",
     .kind = FIELD_PAIR,
     AT(JointSpec, during),
     .unit = "s",
     .range = {-1.0e12, 1.0e12, false, false},
     .fallback_note = "always",
     .help = "From when to when it holds, to whole steps. It joins both sides as they are by then, "
             "its place and axis moved with the side that tells its place (with `from` where both "
             "do), and then lets go."},
    {.key = "every",
     .kind = FIELD_REAL,
     AT(JointSpec, every),
     .unit = "s",
     .range = {0.0, 1.0e12, true, false},
     .fallback_note = "once",
     .help = "With `during`: and again each time after so much."},
    {.key = "as_placed",
     .kind = FIELD_BOOL,
     AT(JointSpec, as_placed),
     .fallback = "false",
     .help = "With `during`: both sides are brought together as they were placed, in one step."},
    {.key = "clear",
     .kind = FIELD_REAL,
     AT(JointSpec, clear),
     .unit = "m",
     .range = NOT_NEGATIVE,
     .fallback_note = "4 radii of a rod; of bodies: anywhere",
     .help = "How far from it its two sides do not touch."},
    {0},
};

const Group JOINT_GROUP = {
    .name = "joint",
    .help = "What holds a place of one thing to a place of another, exactly where it has no "
            "stiffness. Sides with several copies make several joints, one each.",
    .size = sizeof(JointSpec),
    .fields = JOINT_FIELDS,
};

// --- checks --------------------------------------------------------------------------------------

// What the scene calls a thing: its kind and the first of its copies in the world.
typedef struct Thing {
    const char* kind;  // what the world calls it; null: there is none
    const char* other; // a second kind that has the name, or null
    int first, count;
    double length; // m, of a rod
} Thing;

// Only of a name that nothing has the nearest is wanted: null where it is not known yet.
static bool look_at(Thing* thing, Nearest* nearest, const char* wanted, const char* name,
                    const char* kind, int first, int count) {
    bool same = strcmp(name, wanted) == 0;
    if (same && thing->kind != NULL) {
        thing->other = kind;
    } else if (same) {
        thing->kind = kind;
        thing->first = first;
        thing->count = count;
    }
    if (nearest != NULL) {
        nearest_try(nearest, name, strlen(name));
    }
    return same;
}

static Thing find_thing(const SceneSpec* spec, const char* wanted, Nearest* nearest) {
    const RodSpec* rods = spec->rods.items;
    const BodySpec* bodies = spec->bodies.items;
    const ClothSpec* cloths = spec->cloths.items;
    const ColliderSpec* colliders = spec->colliders.items;
    Thing thing = {0};
    for (int i = 0, first = 0; i < spec->rods.count; ++i) {
        int count = scene_copy_count(&rods[i]);
        if (look_at(&thing, nearest, wanted, rods[i].name, "rod", first, count)) {
            thing.length = rods[i].length;
        }
        first += count;
    }
    for (int i = 0, first = 0; i < spec->bodies.count; ++i) {
        int count = scene_body_copy_count(&bodies[i]);
        look_at(&thing, nearest, wanted, bodies[i].name, "rigid", first, count);
        first += count;
    }
    for (int i = 0; i < spec->cloths.count; ++i) {
        look_at(&thing, nearest, wanted, cloths[i].name, "cloth", i, 1);
    }
    for (int i = 0; i < spec->colliders.count; ++i) {
        look_at(&thing, nearest, wanted, colliders[i].name, "collider", i, 1);
    }
    return thing;
}

// What the scene calls what the world calls so.
static const char* say_kind(const char* kind) {
    return strcmp(kind, "rigid") == 0 ? "body" : kind;
}

// The one thing of that name.
static TdlStatus find_side(const TdlScene* scene, const JointEndSpec* end, Thing* out) {
    *out = find_thing(&scene->spec, end->name, NULL);
    Mark mark = scene_mark_of(end->node, "of");
    if (out->kind == NULL) {
        Nearest nearest = nearest_to(end->name);
        find_thing(&scene->spec, end->name, &nearest);
        Hint hint = nearest_hint(&nearest);
        return fail_at(&scene->host, mark, "no rod, body, cloth or collider is named '%s'%s",
                       end->name, hint.text);
    }
    return out->other == NULL
               ? TDL_STATUS_OK
               : fail_at(&scene->host, mark,
                         "'%s' is the name of a %s and of a %s: give one of them another",
                         end->name, say_kind(out->kind), say_kind(out->other));
}

static bool is_given(const Node* node, const char* key) {
    return node_find(node, key) != NULL;
}

static TdlStatus check_end(const TdlScene* scene, JointEndSpec* end) {
    const TdlHost* host = &scene->host;
    Thing thing;
    TdlStatus status = find_side(scene, end, &thing);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    bool rod = strcmp(thing.kind, "rod") == 0, cloth = strcmp(thing.kind, "cloth") == 0;
    if (is_given(end->node, "at") && !rod && !cloth) {
        return fail_at(host, scene_mark_of(end->node, "at"),
                       "'at' is of rods and cloths: of '%s' the 'place' is told", end->name);
    }
    if (is_given(end->node, "place") && (rod || cloth)) {
        return fail_at(host, scene_mark_of(end->node, "place"),
                       "'place' is of bodies and colliders: of '%s' it is told by 'at'", end->name);
    }
    if (cloth && !is_given(end->node, "at")) {
        return fail_at(host, end->node->mark, "a joint of the cloth '%s' needs 'at', a vertex",
                       end->name);
    }
    if (rod && end->at > thing.length) {
        return fail_at(host, scene_mark_of(end->node, "at"),
                       "a place at %g m lies beyond the end of the rod, at %g m", end->at,
                       thing.length);
    }
    if (is_given(end->node, "copy") && end->copy >= thing.count) {
        return fail_at(host, scene_mark_of(end->node, "copy"),
                       "there is no copy %d: '%s' has %d, counted from 0", end->copy, end->name,
                       thing.count);
    }
    bool one = is_given(end->node, "copy");
    end->kind = thing.kind;
    end->first = thing.first + (one ? end->copy : 0);
    end->count = one ? 1 : thing.count;
    end->at = rod && !is_given(end->node, "at") ? INFINITY : end->at;
    return TDL_STATUS_OK;
}

// Keys that say nothing without another, or nothing beside it.
static TdlStatus check_together(const TdlScene* scene, const JointSpec* joint) {
    static const char* const DAMPED[][2] = {{"damping", "stiffness"},
                                            {"turning_damping", "turning_stiffness"}};
    for (size_t i = 0; i < sizeof DAMPED / sizeof *DAMPED; ++i) {
        const Node* damping = node_find(joint->node, DAMPED[i][0]);
        if (damping != NULL && !is_given(joint->node, DAMPED[i][1])) {
            return fail_at(&scene->host, damping->key_mark, "'%s' goes with '%s'", DAMPED[i][0],
                           DAMPED[i][1]);
        }
    }
    const Node* range = node_find(joint->node, "range");
    if (joint->kind != TDL_JOINT_DISTANCE || range == NULL) {
        return TDL_STATUS_OK;
    }
    if (is_given(joint->node, "length")) {
        return fail_at(&scene->host, range->key_mark, "a distance has a 'length' or a 'range'");
    }
    return joint->range[1] > 0.0
               ? TDL_STATUS_OK
               : fail_at(&scene->host, range->mark, "a distance goes to more than 0, not to %g m",
                         joint->range[1]);
}

// Keys that only some kinds have.
static TdlStatus check_keys(const TdlScene* scene, const JointSpec* joint) {
    static const struct {
        const char* key;
        bool of[5]; // of the kinds in their order
        const char* whose;
    } KEYS[] = {
        {"axis", {0, 0, 1, 1, 0}, "a hinge or a slider"},
        {"spring", {0, 0, 1, 1, 0}, "a hinge or a slider"},
        {"motor", {0, 0, 1, 1, 0}, "a hinge or a slider"},
        {"range", {0, 0, 1, 1, 1}, "a hinge, a slider or a distance"},
        {"length", {0, 0, 0, 0, 1}, "a distance"},
        {"turning_stiffness", {1, 0, 1, 1, 0}, "what holds turns"},
        {"turning_damping", {1, 0, 1, 1, 0}, "what holds turns"},
    };
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; ++i) {
        const Node* given = node_find(joint->node, KEYS[i].key);
        if (given != NULL && !KEYS[i].of[joint->kind]) {
            return fail_at(&scene->host, given->key_mark, "'%s' is of %s", KEYS[i].key,
                           KEYS[i].whose);
        }
    }
    bool axis = joint->kind == TDL_JOINT_HINGE || joint->kind == TDL_JOINT_SLIDER;
    if (axis && !is_given(joint->node, "axis")) {
        return fail_at(&scene->host, joint->node->mark, "a %s needs the key 'axis'",
                       joint->kind == TDL_JOINT_HINGE ? "hinge" : "slider");
    }
    return check_together(scene, joint);
}

// --- motors -------------------------------------------------------------------------------------

// Keys of a motor, each with what all of them tell.
static TdlStatus take_motor_keys(TdlScene* scene, JointMotorSpec* motor) {
    const MotorKeySpec* from = motor->keyframes.items;
    int count = motor->keyframes.count;
    bool speed = is_given(from[0].node, "speed");
    TdlKeyframe* keys = ARENA_NEW(&scene->arena, TdlKeyframe, count);
    if (keys == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < count; ++i) {
        const Node* node = from[i].node;
        if (is_given(node, "speed") != speed || is_given(node, "place") == speed) {
            return fail_at(&scene->host, node->mark,
                           "each keyframe of a motor has a 'speed', or each a 'place'");
        }
        keys[i] = (TdlKeyframe){.time = from[i].time};
        keys[i].position.x = speed ? from[i].speed : from[i].place;
        TdlStatus status = i == 0
                               ? TDL_STATUS_OK
                               : scene_check_growing(scene, node, from[i - 1].time, from[i].time);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    motor->mode = speed ? TDL_MOTOR_SPEED : TDL_MOTOR_PLACE;
    return scene_time_keys(scene, keys, count, motor->interpolation, &motor->target);
}

static TdlStatus take_motor_file(TdlScene* scene, JointMotorSpec* motor) {
    Recording all;
    TdlStatus status =
        scene_read_csv(scene, motor->node, motor->hash, "motor", &RECORDING_MOTOR, NULL, &all);
    if (status == TDL_STATUS_OK) {
        bool speed = all.has[1];
        for (int i = 0; i < all.count; ++i) {
            all.keys[i].position.x = speed ? all.keys[i].position.x : all.keys[i].position.y;
        }
        int how = scene_interpolation(motor->node, motor->interpolation);
        motor->mode = speed ? TDL_MOTOR_SPEED : TDL_MOTOR_PLACE;
        status = scene_time_keys(scene, all.keys, all.count, how, &motor->target);
    }
    recording_free(&scene->host, &all);
    return status;
}

// What it is to do: told in one way.
static TdlStatus check_motor(TdlScene* scene, JointMotorSpec* motor) {
    const Node* node = motor->node;
    if (node == NULL) {
        return TDL_STATUS_OK;
    }
    bool speed = is_given(node, "speed"), place = is_given(node, "place");
    bool keys = motor->keyframes.count > 0, file = motor->file != NULL;
    if (speed + place + keys + file != 1) {
        return fail_at(&scene->host, node->mark,
                       "a motor has one of: a 'speed', a 'place', keyframes, a file");
    }
    if (keys || file) {
        return keys ? take_motor_keys(scene, motor) : take_motor_file(scene, motor);
    }
    if (is_given(node, "interpolation") || is_given(node, "hash")) {
        return fail_at(&scene->host, node->mark,
                       "'interpolation' and 'hash' go with keyframes or a file");
    }
    const Formula* told = speed ? &motor->speed : &motor->place;
    motor->mode = speed ? TDL_MOTOR_SPEED : TDL_MOTOR_PLACE;
    return told->varies ? scene_time_formula(scene, told, &motor->target) : TDL_STATUS_OK;
}

static TdlStatus check_during(const TdlScene* scene, const JointSpec* joint) {
    static const char* const KEYS[] = {"every", "as_placed"};
    const Node* during = node_find(joint->node, "during");
    for (int i = 0; i < 2 && during == NULL; ++i) {
        const Node* key = node_find(joint->node, KEYS[i]);
        if (key != NULL) {
            return fail_at(&scene->host, key->key_mark, "'%s' goes with 'during'", KEYS[i]);
        }
    }
    if (during != NULL && !(joint->during[0] < joint->during[1])) {
        return fail_at(&scene->host, during->mark,
                       "a joint is made before it lets go: %g is not before %g", joint->during[0],
                       joint->during[1]);
    }
    double lasts = joint->during[1] - joint->during[0];
    if (is_given(joint->node, "every") && joint->every < lasts) {
        return fail_at(&scene->host, scene_mark_of(joint->node, "every"),
                       "every %g s is sooner than it lets go, after %g s", joint->every, lasts);
    }
    return TDL_STATUS_OK;
}

static TdlStatus check_copies(const TdlScene* scene, JointSpec* joint) {
    int a = joint->end[0].count, b = joint->end[1].node == NULL ? 1 : joint->end[1].count;
    if (joint->next) {
        bool same = joint->end[1].node != NULL &&
                    strcmp(joint->end[0].name, joint->end[1].name) == 0 && a == b && a > 1;
        joint->count = a - 1;
        return same ? TDL_STATUS_OK
                    : fail_at(&scene->host, scene_mark_of(joint->node, "next"),
                              "'next' joins copies of one thing: 'from' and 'to' are of it, and it "
                              "has two at least");
    }
    joint->count = a > b ? a : b;
    return a == b || a == 1 || b == 1
               ? TDL_STATUS_OK
               : fail_at(&scene->host, joint->node->mark,
                         "the sides have %d and %d copies: as many, or one of them 'copy'", a, b);
}

static TdlStatus check_joint(TdlScene* scene, JointSpec* joint) {
    TdlStatus status = check_keys(scene, joint);
    status = status == TDL_STATUS_OK ? check_motor(scene, &joint->motor) : status;
    status = status == TDL_STATUS_OK ? check_during(scene, joint) : status;
    for (int k = 0; k < 2 && status == TDL_STATUS_OK; ++k) {
        if (joint->end[k].node != NULL) {
            status = check_end(scene, &joint->end[k]);
        }
    }
    return status == TDL_STATUS_OK ? check_copies(scene, joint) : status;
}

TdlStatus scene_check_joints(TdlScene* scene) {
    JointSpec* joints = scene->spec.joints.items;
    for (int i = 0; i < scene->spec.joints.count; ++i) {
        TdlStatus status = check_joint(scene, &joints[i]);
        for (int k = 0; k < i && status == TDL_STATUS_OK; ++k) {
            if (strcmp(joints[i].name, joints[k].name) == 0) {
                status = fail_at(&scene->host, scene_mark_of(joints[i].node, "name"),
                                 "there are two joints '%s'", joints[i].name);
            }
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    const SceneSpec* spec = &scene->spec;
    int count = spec->joints.count + scene_attached_joints(scene, spec->rods.count);
    if (count > 0 && spec->contacts.response == TDL_RESPONSE_BARRIER) {
        return fail_at(&scene->host, scene_mark_of(spec->contacts.node, "response"),
                       "joints need the response exact or s3");
    }
    if (count > 0 && spec->start == START_SETTLED) {
        return fail_at(&scene->host, scene_mark_of(spec->node, "start"),
                       "'start: settled' knows no joints: 'time: {settle: ...}' does");
    }
    return TDL_STATUS_OK;
}

// --- the world -----------------------------------------------------------------------------------

static TdlPose pose_of(const TdlWorld* world, TdlBodyId body, const char* kind) {
    TdlPose pose = {.rotation = tdl_identity33()};
    if (strcmp(kind, "rigid") == 0) {
        tdl_rigid_pose(world, body, &pose);
    } else {
        tdl_collider_pose(world, body, &pose);
    }
    return pose;
}

// The side of the joint of one copy; false where its place is not told.
static bool make_end(const TdlWorld* world, const JointEndSpec* spec, int copy, TdlJointEnd* out,
                     TdlVec3* point, double* slack) {
    *out = (TdlJointEnd){.body = tdl_world_body(world, spec->kind, spec->first + copy),
                         .at = spec->at};
    if (strcmp(spec->kind, "rod") == 0) {
        TdlRodInfo info;
        tdl_rod_info(world, out->body, &info);
        out->at = fmin(spec->at, info.length);
        *slack = fmax(*slack, info.radius[0]);
        return tdl_rod_point(world, out->body, out->at, point) == TDL_STATUS_OK;
    }
    if (is_given(spec->node, "place")) {
        TdlPose pose = pose_of(world, out->body, spec->kind);
        *point = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, spec->place));
        return true;
    }
    return false;
}

static TdlJointDef make_def(const JointSpec* joint) {
    TdlJointDef def = tdl_joint_def_default();
    const Node* node = joint->node;
    def.kind = (TdlJointKind)joint->kind;
    def.axis = is_given(node, "axis") ? joint->axis : def.axis;
    def.length = is_given(node, "length") ? joint->length : def.length;
    def.stiffness = is_given(node, "stiffness") ? joint->stiffness : def.stiffness;
    def.turning_stiffness =
        is_given(node, "turning_stiffness") ? joint->turning_stiffness : def.turning_stiffness;
    def.damping = joint->damping;
    def.turning_damping = joint->turning_damping;
    def.axis_stiffness = joint->spring.stiffness;
    def.axis_damping = joint->spring.damping;
    def.axis_rest = joint->spring.rest;
    def.clear = is_given(node, "clear") ? joint->clear : def.clear;
    if (is_given(node, "range")) {
        memcpy(def.range, joint->range, sizeof def.range);
    }
    if (joint->motor.node != NULL) {
        bool speed = joint->motor.mode == TDL_MOTOR_SPEED;
        def.motor.mode = joint->motor.mode;
        def.motor.target = speed ? joint->motor.speed.value : joint->motor.place.value;
        def.target = joint->motor.target;
        def.motor.most = is_given(joint->motor.node, "most") ? joint->motor.most : def.motor.most;
    }
    if (is_given(node, "during")) {
        memcpy(def.during, joint->during, sizeof def.during);
        def.every = joint->every;
        def.as_made = joint->as_placed;
    }
    if (joint->breaks.node != NULL) {
        const Node* breaks = joint->breaks.node;
        def.break_force = is_given(breaks, "force") ? joint->breaks.force : def.break_force;
        def.break_torque = is_given(breaks, "torque") ? joint->breaks.torque : def.break_torque;
    }
    return def;
}

// Sides and points of the joint number `index`.
static TdlStatus place_joint(const TdlScene* scene, const JointSpec* joint, int index,
                             const TdlWorld* world, TdlJointDef* def) {
    bool alone = joint->end[1].node == NULL, told[2] = {false, false};
    double slack = APART;
    for (int k = 0; k < 2; ++k) {
        const JointEndSpec* end = &joint->end[alone ? 0 : k];
        if (alone && k == 0) {
            continue; // the world
        }
        int copy = end->count == 1 ? 0 : index + (joint->next && k == 1);
        told[k] = make_end(world, end, copy, &def->end[k], &def->point[k], &slack);
    }
    if (is_given(joint->node, "point")) {
        int side = told[0] ? 1 : 0;
        bool distance = def->kind == TDL_JOINT_DISTANCE;
        if ((told[0] || told[1]) && !distance) {
            return fail_at(&scene->host, scene_mark_of(joint->node, "point"),
                           "the place of '%s' is told by its sides", joint->name);
        }
        def->point[side] = joint->point;
        return TDL_STATUS_OK;
    }
    double apart = told[0] && told[1] ? tdl_norm3(tdl_sub3(def->point[1], def->point[0])) : 0.0;
    bool later = is_given(joint->node, "during") && !joint->as_placed; // as they are by then
    return def->kind == TDL_JOINT_DISTANCE || later || apart <= slack
               ? TDL_STATUS_OK
               : fail_at(&scene->host, joint->node->mark,
                         "the places that '%s' joins are %.6g m apart: they have to be one",
                         joint->name, apart);
}

static TdlStatus add_joint(const TdlScene* scene, const JointSpec* joint, int index,
                           TdlWorld* world) {
    TdlJointDef def = make_def(joint);
    TdlStatus status = place_joint(scene, joint, index, world, &def);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    const char* fault = tdl_joint_def_fault(&def);
    if (fault == NULL) {
        fault = tdl_world_joint_fault(world, &def);
    }
    if (fault != NULL) {
        return fail_at(&scene->host, joint->node->mark, "joint '%s': %s", joint->name, fault);
    }
    TdlJointId id;
    char name[128];
    snprintf(name, sizeof name, joint->count > 1 ? "%s %d" : "%s", joint->name, index);
    status = tdl_world_add_joint(world, &def, &id);
    return status == TDL_STATUS_OK ? tdl_joint_set_name(world, id, name) : status;
}

TdlStatus scene_make_joints(const TdlScene* scene, TdlWorld* world) {
    const JointSpec* joints = scene->spec.joints.items;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < scene->spec.joints.count; ++i) {
        for (int k = 0; k < joints[i].count && status == TDL_STATUS_OK; ++k) {
            status = add_joint(scene, &joints[i], k, world);
        }
    }
    return status;
}
