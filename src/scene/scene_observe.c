// What a scene observes: names resolved when it is loaded, values told while it runs.
#include "scene/scene.h"

#include "base/check.h"
#include "base/log.h"
#include "scene/schema.h"
#include "scene/words.h"

#include <string.h>

// Columns stay as many as a reader of log.csv wants to see.
enum { OBSERVERS_MAX = 64, COLUMN_NAME_SIZE = 96 };

// Of the particles, that a run-out leaves out the farthest few of.
static const double RUN_OUT_SHARE = 0.99;

// Which kinds of things have it, as bits of 1 << SceneKind.
enum {
    RODS = 1 << SCENE_ROD,
    BODIES = 1 << SCENE_BODY,
    CLOTHS = 1 << SCENE_CLOTH,
    SHELLS = 1 << SCENE_SHELL,
    COLLIDERS = 1 << SCENE_COLLIDER,
    JOINTS = 1 << SCENE_JOINT,
    GRAINS = 1 << SCENE_GRAINS,
    ENDS = RODS | JOINTS,
    ANYTHING = RODS | BODIES | CLOTHS | COLLIDERS | GRAINS, // but shells, which touch nothing
};

static const char HOLDING[] = "an end of a rod or a joint";

static const struct QuantityRow {
    const char *key, *unit;
    int kinds;
    const char* whose; // in messages
    bool of_one;       // not of several copies at once
} QUANTITIES[SCENE_QUANTITY_COUNT] = {
    [TDL_QUANTITY_FORCE] = {"force", "N", ANYTHING, "rods, bodies, a cloth, grains or a collider",
                            false},
    [TDL_QUANTITY_TORQUE] = {"torque", "N m", RODS | BODIES | COLLIDERS,
                             "a rod, a body or a collider", true},
    [TDL_QUANTITY_CENTRE] = {"centre", "m", RODS | BODIES | CLOTHS | SHELLS | GRAINS,
                             "rods, bodies, a cloth, a shell or grains", false},
    [TDL_QUANTITY_POINT] = {"point", "m", RODS, "a rod", true},
    [TDL_QUANTITY_START] = {"start_hold", "N", RODS, "a rod", true},
    [TDL_QUANTITY_END] = {"end_hold", "N", RODS, "a rod", true},
    [TDL_QUANTITY_TENSION] = {"tension", "N", RODS, "a rod", true},
    [TDL_QUANTITY_SHEAR] = {"shear", "N", RODS, "a rod", true},
    [TDL_QUANTITY_MOMENT] = {"moment", "N m", RODS, "a rod", true},
    [TDL_QUANTITY_TWIST] = {"twist", "rad", RODS, "a rod", true},
    [TDL_QUANTITY_FRAME] = {"frame", "rad", RODS, "a rod", true},
    [TDL_QUANTITY_START_FORCE] = {"reaction", "N", ENDS, HOLDING, true},
    [TDL_QUANTITY_START_MOMENT] = {"reaction_moment", "N m", ENDS, HOLDING, true},
    [TDL_QUANTITY_START_POWER] = {"power", "W", ENDS, HOLDING, true},
    [TDL_QUANTITY_START_WORK] = {"work", "J", ENDS, HOLDING, true},
    [SCENE_QUANTITY_STRAIN] = {"strain", "1", CLOTHS, "a cloth", true},
    [SCENE_QUANTITY_HOLD] = {"hold", "N", CLOTHS, "a cloth", true},
    [SCENE_QUANTITY_COORDINATE] = {"coordinate", "1", JOINTS, "a joint", true},
    [SCENE_QUANTITY_MASS_BEYOND] = {"mass_beyond", "kg", GRAINS, "grains", true},
    [SCENE_QUANTITY_RUN_OUT] = {"run_out", "m", GRAINS, "grains", true},
    [SCENE_QUANTITY_VOLUME_KEPT] = {"volume_kept", "1", GRAINS, "grains", true},
    [SCENE_QUANTITY_LOST] = {"lost", "kg", GRAINS, "grains", true},
};

// Told of a section of a rod, and of an end of it.
static bool is_of_section(int asked) {
    return asked >= TDL_QUANTITY_TENSION && asked <= TDL_QUANTITY_FRAME;
}

static bool is_of_end(int asked) {
    return asked >= TDL_QUANTITY_START_FORCE && asked <= TDL_QUANTITY_START_WORK;
}

// From the balance of a step, which the world has to keep for it.
static bool is_of_balance(int asked) {
    return is_of_end(asked) || (asked >= TDL_QUANTITY_TENSION && asked <= TDL_QUANTITY_MOMENT);
}

// --- loading -------------------------------------------------------------------------------------

// A plane and what a run-out is about go with these alone.
static TdlStatus check_place(const TdlScene* scene, const ObserverSpec* o) {
    static const struct {
        const char* key;
        int of;
    } PLACES[] = {{"plane", SCENE_QUANTITY_MASS_BEYOND}, {"about", SCENE_QUANTITY_RUN_OUT}};
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; ++i) {
        const Node* given = node_find(o->node, PLACES[i].key);
        if (given != NULL && o->asked != PLACES[i].of) {
            return fail_at(&scene->host, given->key_mark, "a %s has no %s",
                           QUANTITIES[o->asked].key, PLACES[i].key);
        }
    }
    return o->asked != SCENE_QUANTITY_MASS_BEYOND || o->plane.node != NULL
               ? TDL_STATUS_OK
               : fail_at(&scene->host, o->node->mark, "a mass_beyond needs the key 'plane'");
}

// Finds the quantity: exactly one is given.
static TdlStatus find_quantity(const TdlScene* scene, ObserverSpec* o) {
    int found = SCENE_QUANTITY_COUNT;
    for (int i = 0; i < SCENE_QUANTITY_COUNT; ++i) {
        if (o->of[i] != NULL && found < SCENE_QUANTITY_COUNT) {
            return fail_at(&scene->host, node_find(o->node, QUANTITIES[i].key)->key_mark,
                           "an observer has one quantity: %s and %s are two observers",
                           QUANTITIES[found].key, QUANTITIES[i].key);
        }
        found = o->of[i] != NULL ? i : found;
    }
    if (found == SCENE_QUANTITY_COUNT) {
        return fail_at(&scene->host, o->node->mark,
                       "the observer needs one of the keys 'force', 'torque', 'centre', 'point', "
                       "'start_hold', 'end_hold', 'tension', 'shear', 'moment', 'twist', 'frame', "
                       "'reaction', 'reaction_moment', 'power', 'work', 'strain', 'hold', "
                       "'coordinate', 'mass_beyond', 'run_out', 'volume_kept', 'lost'");
    }
    o->asked = o->quantity = found;
    const Node* at = node_find(o->node, "at");
    if (at != NULL && found != TDL_QUANTITY_POINT && !is_of_section(found)) {
        return fail_at(&scene->host, at->key_mark, "a %s has no at", QUANTITIES[found].key);
    }
    return check_place(scene, o);
}

// Of an end of a rod: 'rope.end' is 'rope', and which end.
static TdlStatus split_end(TdlScene* scene, ObserverSpec* o) {
    static const int AFTER = TDL_QUANTITY_END_FORCE - TDL_QUANTITY_START_FORCE;
    const char *name = o->of[o->asked], *dot = strrchr(name, '.');
    bool start = dot != NULL && strcmp(dot, ".start") == 0;
    bool end = dot != NULL && strcmp(dot, ".end") == 0;
    if ((!start && !end) || !schema_is_name(name, (size_t)(dot - name))) {
        Quote q = quote(name);
        return fail_at(
            &scene->host, node_find(o->node, QUANTITIES[o->asked].key)->mark,
            "a %s is of a joint or of an end of a rod, such as 'rope.start' or 'rope.end', "
            "not of %s",
            QUANTITIES[o->asked].key, q.text);
    }
    o->quantity = o->asked + (end ? AFTER : 0);
    o->of[o->asked] = node_copy_text(&scene->pool, name, (size_t)(dot - name));
    return o->of[o->asked] == NULL ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

// The things of a kind: name and copies of each entry.
typedef struct Entry {
    const char* name;
    int count;
} Entry;

static int entry_count(const SceneSpec* spec, SceneKind kind) {
    switch (kind) {
    case SCENE_ROD:
        return spec->rods.count;
    case SCENE_BODY:
        return spec->bodies.count;
    case SCENE_CLOTH:
        return spec->cloths.count;
    case SCENE_SHELL:
        return spec->shells.count;
    case SCENE_JOINT:
        return spec->joints.count;
    case SCENE_GRAINS:
        return spec->grains.node != NULL;
    case SCENE_COLLIDER:
    case SCENE_KIND_COUNT:
        break;
    }
    return spec->colliders.count;
}

static Entry entry_at(const SceneSpec* spec, SceneKind kind, int index) {
    switch (kind) {
    case SCENE_ROD: {
        const RodSpec* rod = (const RodSpec*)spec->rods.items + index;
        return (Entry){rod->name, scene_copy_count(rod)};
    }
    case SCENE_BODY: {
        const BodySpec* body = (const BodySpec*)spec->bodies.items + index;
        return (Entry){body->name, scene_body_copy_count(body)};
    }
    case SCENE_CLOTH:
        return (Entry){((const ClothSpec*)spec->cloths.items + index)->name, 1};
    case SCENE_SHELL:
        return (Entry){((const ShellSpec*)spec->shells.items + index)->name, 1};
    case SCENE_JOINT: {
        const JointSpec* joint = (const JointSpec*)spec->joints.items + index;
        return (Entry){joint->name, joint->count};
    }
    case SCENE_GRAINS:
        return (Entry){spec->grains.name, 1};
    case SCENE_COLLIDER:
    case SCENE_KIND_COUNT:
        break;
    }
    return (Entry){((const ColliderSpec*)spec->colliders.items + index)->name, 1};
}

// The entry of that name within a kind, or -1; `first` receives its place in the world.
static int find_entry(const SceneSpec* spec, SceneKind kind, const char* name, int* first,
                      Nearest* nearest) {
    *first = 0;
    for (int i = 0; i < entry_count(spec, kind); ++i) {
        Entry entry = entry_at(spec, kind, i);
        if (strcmp(entry.name, name) == 0) {
            return i;
        }
        nearest_try(nearest, entry.name, strlen(entry.name));
        *first += entry.count;
    }
    return -1;
}

// Finds what is observed; *entry is its place in its list.
static TdlStatus find_target(const TdlScene* scene, ObserverSpec* o, int* entry) {
    static const char* const KINDS[SCENE_KIND_COUNT] = {"rods",      "bodies", "cloths", "shells",
                                                        "colliders", "joints", "grains"};
    const struct QuantityRow* quantity = &QUANTITIES[o->asked];
    const char* name = o->of[o->asked];
    Mark mark = node_find(o->node, quantity->key)->mark;
    Nearest nearest = nearest_to(name), unused = nearest_to(name);
    int other = -1; // a kind that has the name but not the quantity
    *entry = -1;
    for (int kind = SCENE_ROD; kind < SCENE_KIND_COUNT; ++kind) {
        bool fits = (quantity->kinds >> kind & 1) != 0;
        int first;
        int found =
            find_entry(&scene->spec, (SceneKind)kind, name, &first, fits ? &nearest : &unused);
        if (found >= 0 && fits && *entry >= 0) {
            return fail_at(&scene->host, mark,
                           "'%s' is the name of %s and of %s: give one of them another", name,
                           KINDS[o->kind], KINDS[kind]);
        }
        if (found >= 0 && fits) {
            *entry = found;
            o->kind = (SceneKind)kind;
            o->first = first;
        }
        other = found >= 0 && !fits ? kind : other;
    }
    if (*entry >= 0) {
        return TDL_STATUS_OK;
    }
    if (other >= 0) {
        return fail_at(&scene->host, mark, "'%s' is one of the %s: a %s is of %s", name,
                       KINDS[other], quantity->key, quantity->whose);
    }
    Hint hint = nearest_hint(&nearest);
    return fail_at(&scene->host, mark, "nothing is named '%s' that has a %s, %s%s", name,
                   quantity->key, quantity->whose, hint.text);
}

static TdlStatus choose_copy(const TdlScene* scene, ObserverSpec* o, int copies) {
    const struct QuantityRow* quantity = &QUANTITIES[o->asked];
    const Node* copy = node_find(o->node, "copy");
    if (copy != NULL && o->copy >= copies) {
        return fail_at(&scene->host, copy->mark, "there is no copy %d: '%s' has %d, counted from 0",
                       o->copy, o->of[o->asked], copies);
    }
    if (copy == NULL && quantity->of_one && copies > 1) {
        return fail_at(&scene->host, o->node->mark,
                       "a %s is of %s: '%s' has %d copies, give the 'copy'", quantity->key,
                       quantity->whose, o->of[o->asked], copies);
    }
    o->first += copy == NULL ? 0 : o->copy;
    o->count = copy == NULL ? copies : 1;
    return TDL_STATUS_OK;
}

// Whether a rod is part of a tree.
static bool is_in_tree(const SceneSpec* spec, const RodSpec* rod) {
    bool some = rod->parent != NULL;
    for (int i = 0; i < spec->rods.count; ++i) {
        const RodSpec* other = (const RodSpec*)spec->rods.items + i;
        some = some || (other->parent != NULL && strcmp(other->parent, rod->name) == 0);
    }
    return some;
}

// What a rod does not tell: forces inside a tree, and the frame of a chain that has none.
static TdlStatus check_rod(const TdlScene* scene, const ObserverSpec* o, int entry) {
    if (o->kind != SCENE_ROD) {
        return TDL_STATUS_OK;
    }
    const RodSpec* rod = (const RodSpec*)scene->spec.rods.items + entry;
    Mark mark = node_find(o->node, QUANTITIES[o->asked].key)->mark;
    if (is_of_balance(o->asked) && is_in_tree(&scene->spec, rod)) {
        return fail_at(&scene->host, mark,
                       "'%s' is part of a tree, inside which forces are not told", rod->name);
    }
    bool frameless = rod->model == choice_index(tdl_rod_models(), "mass-spring");
    bool framed = o->asked == TDL_QUANTITY_TWIST || o->asked == TDL_QUANTITY_FRAME;
    if (framed && frameless) {
        return fail_at(&scene->host, mark, "'%s' is a mass-spring chain, which has no frame",
                       rod->name);
    }
    return TDL_STATUS_OK;
}

// A point lies on its rod; without `at` it is the end, wherever that is.
static TdlStatus check_at(const TdlScene* scene, ObserverSpec* o, int entry) {
    const Node* at = node_find(o->node, "at");
    if ((o->asked != TDL_QUANTITY_POINT && !is_of_section(o->asked)) || at == NULL) {
        o->at = INFINITY;
        return TDL_STATUS_OK;
    }
    const RodSpec* rod = (const RodSpec*)scene->spec.rods.items + entry;
    if (o->at > rod->length) {
        return fail_at(&scene->host, at->mark,
                       "a %s at %g m lies beyond the end of the rod, at %g m",
                       QUANTITIES[o->asked].key, o->at, rod->length);
    }
    return TDL_STATUS_OK;
}

static TdlStatus name_columns(TdlScene* scene, ObserverSpec* o, const ObserverSpec* earlier) {
    const Node* given = node_find(o->node, "name");
    if (given == NULL) {
        char text[COLUMN_NAME_SIZE], copy[16] = "";
        if (node_find(o->node, "copy") != NULL) {
            snprintf(copy, sizeof copy, "_%d", o->copy);
        }
        bool whole = !is_of_end(o->asked) || o->kind == SCENE_JOINT;
        const char* end = whole ? "" : o->quantity > o->asked ? "_end" : "_start";
        int length = snprintf(text, sizeof text, "%s_%s%s%s", QUANTITIES[o->asked].key,
                              o->of[o->asked], end, copy);
        o->name = node_copy_text(&scene->pool, text, (size_t)length);
        if (o->name == NULL) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    for (const ObserverSpec* other = earlier; other != o; ++other) {
        if (strcmp(other->name, o->name) == 0) {
            return fail_at(&scene->host, given == NULL ? o->node->mark : given->mark,
                           "the columns '%s' are taken already: give the observer another name",
                           o->name);
        }
    }
    return TDL_STATUS_OK;
}

static bool is_joint(const TdlScene* scene, const ObserverSpec* o) {
    int first;
    Nearest unused = nearest_to(o->of[o->asked]);
    return find_entry(&scene->spec, SCENE_JOINT, o->of[o->asked], &first, &unused) >= 0;
}

// The start of a rod on a body is held by a joint, which tells what it does to the rod.
static void ask_joint(const TdlScene* scene, ObserverSpec* o, int entry) {
    const RodSpec* rods = scene->spec.rods.items;
    const JointSpec* joints = scene->spec.joints.items;
    bool start =
        o->quantity == TDL_QUANTITY_START || (is_of_end(o->asked) && o->quantity == o->asked);
    if (o->kind != SCENE_ROD || !start || !rods[entry].attach.joined) {
        return;
    }
    o->kind = SCENE_JOINT;
    o->quantity = o->quantity == TDL_QUANTITY_START ? TDL_QUANTITY_START_FORCE : o->quantity;
    o->first =
        scene_attached_joints(scene, entry) + (node_find(o->node, "copy") != NULL ? o->copy : 0);
    for (int i = 0; i < scene->spec.joints.count; ++i) {
        o->first += joints[i].count;
    }
}

static TdlStatus check_observer(TdlScene* scene, ObserverSpec* o) {
    int entry = -1;
    TdlStatus status = find_quantity(scene, o);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = is_of_end(o->asked) && !is_joint(scene, o) ? split_end(scene, o) : TDL_STATUS_OK;
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = find_target(scene, o, &entry);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = choose_copy(scene, o, entry_at(&scene->spec, o->kind, entry).count);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_rod(scene, o, entry);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = check_at(scene, o, entry);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = name_columns(scene, o, scene->spec.observers.items);
    ask_joint(scene, o, entry);
    return status;
}

// Frames keep the forces inside all rods, or none.
static TdlStatus check_forces(const TdlScene* scene) {
    const SceneSpec* spec = &scene->spec;
    for (int i = 0; i < spec->rods.count && spec->output.forces; ++i) {
        const RodSpec* rod = (const RodSpec*)spec->rods.items + i;
        if (is_in_tree(spec, rod)) {
            return fail_at(&scene->host, node_find(spec->output.node, "forces")->mark,
                           "'%s' is part of a tree, inside which forces are not told", rod->name);
        }
    }
    return TDL_STATUS_OK;
}

TdlStatus scene_check_observers(TdlScene* scene) {
    ObserverSpec* observers = scene->spec.observers.items;
    int count = scene->spec.observers.count;
    if (count > OBSERVERS_MAX) {
        return fail_at(&scene->host, observers[OBSERVERS_MAX].node->mark, "more than %d observers",
                       OBSERVERS_MAX);
    }
    TdlStatus status = check_forces(scene);
    for (int i = 0; status == TDL_STATUS_OK && i < count; ++i) {
        status = check_observer(scene, &observers[i]);
    }
    return status;
}

// --- asking --------------------------------------------------------------------------------------

static const ObserverSpec* observer_at(const TdlScene* scene, int index) {
    TDL_ASSERT(index >= 0 && index < scene->spec.observers.count);
    return (const ObserverSpec*)scene->spec.observers.items + index;
}

bool scene_observes_holds(const TdlScene* scene) {
    bool some = false;
    for (int i = 0; i < scene->spec.observers.count; ++i) {
        int quantity = observer_at(scene, i)->quantity;
        some = some || quantity == TDL_QUANTITY_START || quantity == TDL_QUANTITY_END ||
               quantity == SCENE_QUANTITY_HOLD;
    }
    return some;
}

bool scene_observes_forces(const TdlScene* scene) {
    bool some = false;
    for (int i = 0; i < scene->spec.observers.count; ++i) {
        const ObserverSpec* o = observer_at(scene, i);
        some = some || (is_of_balance(o->asked) && o->kind == SCENE_ROD);
    }
    return some;
}

TdlSceneObserver tdl_scene_observer(const TdlScene* scene, int index) {
    const ObserverSpec* o = observer_at(scene, index);
    return (TdlSceneObserver){o->name, QUANTITIES[o->asked].key, QUANTITIES[o->asked].unit};
}

// What only cloth has: its strain, as its largest and of its area; the sum of what holds it.
static TdlVec3 observe_cloth(const TdlScene* scene, const ObserverSpec* o, const TdlWorld* world) {
    TdlBodyId id = tdl_world_body(world, "cloth", o->first);
    TdlVec3 sum = {0};
    if (o->quantity == SCENE_QUANTITY_STRAIN) {
        TdlClothStrain strain = {0};
        tdl_cloth_strain(world, id, &strain);
        return (TdlVec3){strain.largest, strain.area, 0.0};
    }
    const ClothSpec* cloth = (const ClothSpec*)scene->spec.cloths.items + o->first;
    for (int i = 0; i < cloth->sewn_count; ++i) {
        TdlVec3 force = {0};
        if (cloth->hold_of[i] >= 0) {
            tdl_cloth_hold_force(world, id, i, &force);
        }
        sum = tdl_add3(sum, force);
    }
    return sum;
}

// Of a coordinate its rate and what drives it, too.
static TdlVec3 observe_joint(const ObserverSpec* o, const TdlWorld* world) {
    TdlJointState state = {0};
    tdl_joint_state(world, tdl_world_joint(world, o->first), &state);
    switch (o->quantity) {
    case TDL_QUANTITY_START_FORCE:
        return state.force;
    case TDL_QUANTITY_START_MOMENT:
        return state.torque;
    case TDL_QUANTITY_START_POWER:
        return (TdlVec3){state.power, 0.0, 0.0};
    case TDL_QUANTITY_START_WORK:
        return (TdlVec3){state.work, 0.0, 0.0};
    default:
        return (TdlVec3){state.coordinate, state.rate, state.drive};
    }
}

// The distance within which a share of some numbers from 0 to `most` are: the upper end of the bin
// in which it is, of BINS, then of BINS of that one. No memory is asked for, and their order does
// not matter.
enum { BINS = 4096 };

static double reach_of(const ObserverSpec* o, bool flat, TdlVec3 p) {
    TdlVec3 d = tdl_sub3(p, o->about);
    return flat ? fabs(d.x) : hypot(d.x, d.y);
}

static double find_share(const ObserverSpec* o, bool flat, const TdlGrainsParticles* grains,
                         double share, double most) {
    double low = 0.0, width = most;
    for (int look = 0; look < 2 && width > 0.0; ++look) {
        long in[BINS] = {0}, below = 0;
        for (int i = 0; i < grains->count; ++i) {
            double at = (reach_of(o, flat, grains->position[i]) - low) / width * BINS;
            below += at < 0.0;
            if (at >= 0.0 && at < BINS + 1.0) { // the farthest of all is at the end
                ++in[at < BINS ? (int)at : BINS - 1];
            }
        }
        int bin = 0;
        for (; bin + 1 < BINS && (double)(below + in[bin]) < share * grains->count; ++bin) {
            below += in[bin];
        }
        low += width / BINS * bin;
        width /= BINS;
    }
    return low + width;
}

static TdlVec3 observe_run_out(const TdlScene* scene, const ObserverSpec* o,
                               const TdlGrainsParticles* grains) {
    bool flat = scene->spec.grains.dimension == 2;
    double most = 0.0, top = -INFINITY;
    for (int i = 0; i < grains->count; ++i) {
        most = fmax(most, reach_of(o, flat, grains->position[i]));
        top = fmax(top, grains->position[i].z - o->about.z);
    }
    return grains->count == 0
               ? (TdlVec3){0}
               : (TdlVec3){find_share(o, flat, grains, RUN_OUT_SHARE, most), most, top};
}

static TdlVec3 observe_grains(const TdlScene* scene, const ObserverSpec* o, const TdlWorld* world) {
    TdlBodyId id = tdl_world_body(world, "grains", o->first);
    TdlGrainsInfo info = {0};
    TdlGrainsParticles particles = {0};
    TdlVec3 value = {0};
    switch (o->quantity) {
    case SCENE_QUANTITY_MASS_BEYOND:
        tdl_grains_mass_beyond(world, id, o->plane.point, o->plane.normal, &value.x);
        return value;
    case SCENE_QUANTITY_RUN_OUT:
        tdl_grains_particles((TdlWorld*)world, id, &particles);
        return observe_run_out(scene, o, &particles);
    default:
        tdl_grains_info(world, id, &info);
        return o->quantity == SCENE_QUANTITY_LOST
                   ? (TdlVec3){info.lost_mass, (double)info.lost, 0.0}
                   : (TdlVec3){info.volume_kept, 0.0, 0.0};
    }
}

TdlVec3 tdl_scene_observe(const TdlScene* scene, int index, const TdlWorld* world) {
    // what the world calls a kind
    static const char* const NAMES[] = {
        [SCENE_ROD] = "rod",     [SCENE_BODY] = "rigid",        [SCENE_CLOTH] = "cloth",
        [SCENE_SHELL] = "shell", [SCENE_COLLIDER] = "collider", [SCENE_GRAINS] = "grains"};
    const ObserverSpec* o = observer_at(scene, index);
    if (o->kind == SCENE_JOINT) {
        return observe_joint(o, world);
    }
    if (o->kind == SCENE_GRAINS && o->quantity >= SCENE_QUANTITY_MASS_BEYOND) {
        return observe_grains(scene, o, world);
    }
    if (o->quantity >= SCENE_QUANTITY_STRAIN) {
        return observe_cloth(scene, o, world);
    }
    TdlObserver observer = {(TdlQuantity)o->quantity, NAMES[o->kind], o->first, o->count, o->at};
    TdlVec3 value = {0};
    TdlStatus status = tdl_world_observe(world, &observer, &value);
    TDL_ASSERT(status == TDL_STATUS_OK); // it was checked when the scene was loaded
    (void)status;
    return value;
}
