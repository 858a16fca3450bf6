// The scene language: forces and torques on places of rods, bodies and cloths. Their keys, what the
// keys cannot say, and how a world takes them.
#include "scene/scene.h"

#include "base/log.h"

#include <string.h>

#define ANY_FORCE                                                                                  \
    { -1.0e12, 1.0e12, false, false }
#define AT(type, member) .offset = offsetof(type, member)

static const Field LOAD_KEY_FIELDS[] = {
    {.key = "time",
     .kind = FIELD_REAL,
     AT(LoadKeySpec, time),
     .unit = "s",
     .range = ANY_FORCE,
     .required = true,
     .help = "When; later than the keyframe before."},
    {.key = "force",
     .kind = FIELD_VEC3,
     AT(LoadKeySpec, force),
     .unit = "N",
     .range = ANY_FORCE,
     .fallback = "[0, 0, 0]",
     .help = "What it is then."},
    {.key = "torque",
     .kind = FIELD_VEC3,
     AT(LoadKeySpec, torque),
     .unit = "N m",
     .range = ANY_FORCE,
     .fallback = "[0, 0, 0]",
     .help = "The same."},
    {0},
};

static const Group LOAD_KEY_GROUP = {
    .name = "load keyframe",
    .help = "A force and a torque at one moment.",
    .size = sizeof(LoadKeySpec),
    .fields = LOAD_KEY_FIELDS,
};

// What all loads say of how they go.
#define LOAD_VALUE_FIELDS                                                                          \
    {.key = "force",                                                                               \
     .kind = FIELD_FUNCTION3,                                                                      \
     AT(LoadSpec, force),                                                                          \
     .unit = "N",                                                                                  \
     .range = ANY_FORCE,                                                                           \
     .fallback = "[0, 0, 0]",                                                                      \
     .help = "Along the axes of the world; each a number, or an [expression](#expressions) of "    \
             "the time such as \"0.1*sin(2*pi*5*t)\"."},                                           \
        {.key = "keyframes",                                                                       \
         .kind = FIELD_GROUPS,                                                                     \
         AT(LoadSpec, keyframes),                                                                  \
         .group = &LOAD_KEY_GROUP,                                                                 \
         .fallback_note = "none",                                                                  \
         .help = "Both at some times instead. Before the first and after the last they stay."},    \
        {.key = "interpolation",                                                                   \
         .kind = FIELD_CHOICE,                                                                     \
         AT(LoadSpec, interpolation),                                                              \
         .choices = scene_interpolation_choices,                                                   \
         .fallback = "smooth",                                                                     \
         .help = "Between keyframes: as those of a motion go, or evenly; of a file evenly unless " \
                 "this is given."},                                                                \
        {.key = "file",                                                                            \
         .kind = FIELD_PATH,                                                                       \
         AT(LoadSpec, file),                                                                       \
         .fallback_note = "none",                                                                  \
         .help = "A .csv with the columns time (s), fx, fy and fz (N), and perhaps tx, ty and tz " \
                 "(N m), relative to this file, as keyframes. Rows with gaps are left out."},      \
        IMPORT_HASH(LoadSpec)

#define LOAD_TORQUE_FIELD                                                                          \
    {                                                                                              \
        .key = "torque", .kind = FIELD_FUNCTION3, AT(LoadSpec, torque), .unit = "N m",             \
        .range = ANY_FORCE, .fallback = "[0, 0, 0]",                                               \
        .help = "As `force`. Like a load that varies it has no potential: `start: settled` "       \
                "refuses both on rods."                                                            \
    }

static const Field ROD_LOAD_FIELDS[] = {
    {.key = "at",
     .kind = FIELD_REAL,
     AT(LoadSpec, at),
     .unit = "m",
     .range = {0.0, 1.0e9, false, false},
     .required = true,
     .help = "Where it acts: arc length from the start, at most the rod's length."},
    LOAD_TORQUE_FIELD,
    LOAD_VALUE_FIELDS,
    {0},
};

const Group ROD_LOAD_GROUP = {
    .name = "load",
    .help = "A force and a torque on one point of a rod, the same at all times or as they are told "
            "to vary: then taken at the end of each step, by the midpoint rule in its middle.",
    .size = sizeof(LoadSpec),
    .fields = ROD_LOAD_FIELDS,
};

static const Field BODY_LOAD_FIELDS[] = {
    {.key = "place",
     .kind = FIELD_VEC3,
     AT(LoadSpec, place),
     .unit = "m",
     .range = {-1.0e9, 1.0e9, false, false},
     .fallback = "[0, 0, 0]",
     .help = "Where it acts, as seen from the body: along its axes from its position."},
    {.key = "turns",
     .kind = FIELD_BOOL,
     AT(LoadSpec, turns),
     .fallback = "false",
     .help = "Whether force and torque are along the axes of the body, and turn with it."},
    LOAD_TORQUE_FIELD,
    LOAD_VALUE_FIELDS,
    {0},
};

const Group BODY_LOAD_GROUP = {
    .name = "load of a body",
    .help = "A force and a torque on a place of a body, taken at the start of each step.",
    .size = sizeof(LoadSpec),
    .fields = BODY_LOAD_FIELDS,
};

static const Field CLOTH_LOAD_FIELDS[] = {
    {.key = "vertex",
     .kind = FIELD_INT,
     AT(LoadSpec, vertex),
     .range = {0, 2147483647, false, false},
     .required = true,
     .help = "On which vertex it acts, counted from 0."},
    LOAD_VALUE_FIELDS,
    {0},
};

const Group CLOTH_LOAD_GROUP = {
    .name = "load of a cloth",
    .help = "A force on a vertex of a cloth, taken at the end of each step.",
    .size = sizeof(LoadSpec),
    .fields = CLOTH_LOAD_FIELDS,
};

// --- checks --------------------------------------------------------------------------------------

static TdlStatus take_keys(TdlScene* scene, LoadSpec* load) {
    const LoadKeySpec* from = load->keyframes.items;
    int count = load->keyframes.count;
    TdlKeyframe* keys = ARENA_NEW(&scene->arena, TdlKeyframe, count);
    if (keys == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < count; ++i) {
        keys[i] = (TdlKeyframe){from[i].time, from[i].force, from[i].torque};
        TdlStatus status =
            i == 0 ? TDL_STATUS_OK
                   : scene_check_growing(scene, from[i].node, from[i - 1].time, from[i].time);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return scene_time_keys(scene, keys, count, load->interpolation, &load->value);
}

static TdlStatus take_file(TdlScene* scene, LoadSpec* load) {
    Recording all;
    TdlStatus status =
        scene_read_csv(scene, load->node, load->hash, "load", &RECORDING_LOAD, NULL, &all);
    if (status == TDL_STATUS_OK) {
        int how = scene_interpolation(load->node, load->interpolation);
        load->file_turns = all.has[4];
        status = scene_time_keys(scene, all.keys, all.count, how, &load->value);
    }
    recording_free(&scene->host, &all);
    return status;
}

static bool is_expression(const LoadSpec* load) {
    bool found = false;
    for (int k = 0; k < 3; ++k) {
        found = found || load->force[k].varies || load->torque[k].varies;
    }
    return found;
}

static bool is_given(const LoadSpec* load, const char* key) {
    return node_find(load->node, key) != NULL;
}

// How it goes: told in one way.
static TdlStatus check_value(TdlScene* scene, LoadSpec* load) {
    bool told = is_given(load, "force") || is_given(load, "torque");
    bool keys = load->keyframes.count > 0, file = load->file != NULL;
    if (told + keys + file > 1) {
        return fail_at(&scene->host, load->node->mark,
                       "a load has one of: force and torque, keyframes, a file");
    }
    load->varies = keys || file || is_expression(load);
    if (keys || file) {
        return keys ? take_keys(scene, load) : take_file(scene, load);
    }
    if (is_given(load, "interpolation") || is_given(load, "hash")) {
        return fail_at(&scene->host, load->node->mark,
                       "'interpolation' and 'hash' go with keyframes or a file");
    }
    const Formula* const part[2] = {load->force, load->torque};
    return scene_time_formulas(scene, part, &load->value);
}

static bool has_torque(const LoadSpec* load) {
    const Formula* t = load->torque;
    return t[0].value != 0.0 || t[1].value != 0.0 || t[2].value != 0.0;
}

TdlStatus scene_check_loads(TdlScene* scene, GroupList* list, double length) {
    LoadSpec* loads = list->items;
    bool settled = scene->spec.start == START_SETTLED && isfinite(length);
    for (int i = 0; i < list->count; ++i) {
        TdlStatus status = check_value(scene, &loads[i]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        if (loads[i].at > length) {
            return fail_at(&scene->host, scene_mark_of(loads[i].node, "at"),
                           "a load at %g m lies beyond the end of the rod, at %g m", loads[i].at,
                           length);
        }
        if (settled && (loads[i].varies || has_torque(&loads[i]))) {
            return fail_at(&scene->host, scene_mark_of(loads[i].node, "torque"),
                           "a rod under %s has no potential energy to settle in: leave out "
                           "'start: settled'",
                           loads[i].varies ? "a load that varies" : "a torque");
        }
    }
    return TDL_STATUS_OK;
}

static TdlStatus check_no_torque(const TdlScene* scene, const LoadSpec* load) {
    const LoadKeySpec* keys = load->keyframes.items;
    for (int i = 0; i < load->keyframes.count; ++i) {
        if (node_find(keys[i].node, "torque") != NULL) {
            return fail_at(&scene->host, scene_mark_of(keys[i].node, "torque"),
                           "a torque does nothing to a vertex");
        }
    }
    if (load->file_turns) {
        return fail_at(&scene->host, scene_mark_of(load->node, "file"),
                       "the file has torques, which do nothing to a vertex");
    }
    return TDL_STATUS_OK;
}

TdlStatus scene_check_cloth_loads(TdlScene* scene, ClothSpec* cloth) {
    const LoadSpec* loads = cloth->loads.items;
    for (int i = 0; i < cloth->loads.count; ++i) {
        if (loads[i].vertex >= cloth->placed.vertex_count) {
            return fail_at(&scene->host, scene_mark_of(loads[i].node, "vertex"),
                           "there is no vertex %d: '%s' has %d, counted from 0", loads[i].vertex,
                           cloth->name, cloth->placed.vertex_count);
        }
    }
    TdlStatus status = scene_check_loads(scene, &cloth->loads, INFINITY);
    for (int i = 0; i < cloth->loads.count && status == TDL_STATUS_OK; ++i) {
        status = check_no_torque(scene, &loads[i]);
    }
    return status;
}

// --- the world -----------------------------------------------------------------------------------

TdlStatus scene_make_loads(const GroupList* list, bool constant, const int* number, TdlWorld* world,
                           TdlBodyId body) {
    const LoadSpec* loads = list->items;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < list->count && status == TDL_STATUS_OK; ++i) {
        const LoadSpec* load = &loads[i];
        TdlLoadDef def = {.at = load->at,
                          .vertex = number == NULL ? load->vertex : number[load->vertex],
                          .place = load->place,
                          .turns = load->turns,
                          .value = load->value};
        if (constant || load->varies) {
            status = tdl_world_add_load(world, body, &def);
        }
    }
    return status;
}
