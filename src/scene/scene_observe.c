// What a scene observes: names resolved when it is loaded, values told while it runs.
#include "scene/scene.h"

#include "base/check.h"
#include "base/log.h"

#include <string.h>

// Columns stay as many as a reader of log.csv wants to see.
enum { OBSERVERS_MAX = 64, COLUMN_NAME_SIZE = 96 };

// Which kinds of things have it, as bits of 1 << SceneKind.
enum {
    RODS = 1 << SCENE_ROD,
    BODIES = 1 << SCENE_BODY,
    CLOTHS = 1 << SCENE_CLOTH,
    SHELLS = 1 << SCENE_SHELL,
    COLLIDERS = 1 << SCENE_COLLIDER,
    ANYTHING = RODS | BODIES | CLOTHS | COLLIDERS, // but shells, which touch nothing
};

static const struct QuantityRow {
    const char *key, *unit;
    int kinds;
    const char* whose; // in messages
    bool of_one;       // not of several copies at once
} QUANTITIES[SCENE_QUANTITY_COUNT] = {
    [TDL_QUANTITY_FORCE] = {"force", "N", ANYTHING, "rods, bodies, a cloth or a collider", false},
    [TDL_QUANTITY_TORQUE] = {"torque", "N m", RODS | BODIES | COLLIDERS,
                             "a rod, a body or a collider", true},
    [TDL_QUANTITY_CENTRE] = {"centre", "m", RODS | BODIES | CLOTHS | SHELLS,
                             "rods, bodies, a cloth or a shell", false},
    [TDL_QUANTITY_POINT] = {"point", "m", RODS, "a rod", true},
    [TDL_QUANTITY_START] = {"start_hold", "N", RODS, "a rod", true},
    [TDL_QUANTITY_END] = {"end_hold", "N", RODS, "a rod", true},
    [SCENE_QUANTITY_STRAIN] = {"strain", "1", CLOTHS, "a cloth", true},
    [SCENE_QUANTITY_HOLD] = {"hold", "N", CLOTHS, "a cloth", true},
};

// --- loading -------------------------------------------------------------------------------------

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
                       "'start_hold', 'end_hold', 'strain', 'hold'");
    }
    o->quantity = found;
    const Node* at = node_find(o->node, "at");
    if (at != NULL && o->quantity != TDL_QUANTITY_POINT) {
        return fail_at(&scene->host, at->key_mark, "a %s has no at", QUANTITIES[found].key);
    }
    return TDL_STATUS_OK;
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
    case SCENE_COLLIDER:
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
    case SCENE_COLLIDER:
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
    static const char* const KINDS[] = {"rods", "bodies", "cloths", "shells", "colliders"};
    const struct QuantityRow* quantity = &QUANTITIES[o->quantity];
    const char* name = o->of[o->quantity];
    Mark mark = node_find(o->node, quantity->key)->mark;
    Nearest nearest = nearest_to(name), unused = nearest_to(name);
    int other = -1; // a kind that has the name but not the quantity
    *entry = -1;
    for (int kind = SCENE_ROD; kind <= SCENE_COLLIDER; ++kind) {
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
    const struct QuantityRow* quantity = &QUANTITIES[o->quantity];
    const Node* copy = node_find(o->node, "copy");
    if (copy != NULL && o->copy >= copies) {
        return fail_at(&scene->host, copy->mark, "there is no copy %d: '%s' has %d, counted from 0",
                       o->copy, o->of[o->quantity], copies);
    }
    if (copy == NULL && quantity->of_one && copies > 1) {
        return fail_at(&scene->host, o->node->mark,
                       "a %s is of %s: '%s' has %d copies, give the 'copy'", quantity->key,
                       quantity->whose, o->of[o->quantity], copies);
    }
    o->first += copy == NULL ? 0 : o->copy;
    o->count = copy == NULL ? copies : 1;
    return TDL_STATUS_OK;
}

// A point lies on its rod; without `at` it is the end, wherever that is.
static TdlStatus check_at(const TdlScene* scene, ObserverSpec* o, int entry) {
    const Node* at = node_find(o->node, "at");
    if (o->quantity != TDL_QUANTITY_POINT || at == NULL) {
        o->at = INFINITY;
        return TDL_STATUS_OK;
    }
    const RodSpec* rod = (const RodSpec*)scene->spec.rods.items + entry;
    if (o->at > rod->length) {
        return fail_at(&scene->host, at->mark,
                       "a point at %g m lies beyond the end of the rod, at %g m", o->at,
                       rod->length);
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
        int length = snprintf(text, sizeof text, "%s_%s%s", QUANTITIES[o->quantity].key,
                              o->of[o->quantity], copy);
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

static TdlStatus check_observer(TdlScene* scene, ObserverSpec* o) {
    int entry = -1;
    TdlStatus status = find_quantity(scene, o);
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
    status = check_at(scene, o, entry);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return name_columns(scene, o, scene->spec.observers.items);
}

TdlStatus scene_check_observers(TdlScene* scene) {
    ObserverSpec* observers = scene->spec.observers.items;
    int count = scene->spec.observers.count;
    if (count > OBSERVERS_MAX) {
        return fail_at(&scene->host, observers[OBSERVERS_MAX].node->mark, "more than %d observers",
                       OBSERVERS_MAX);
    }
    TdlStatus status = TDL_STATUS_OK;
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

TdlSceneObserver tdl_scene_observer(const TdlScene* scene, int index) {
    const ObserverSpec* o = observer_at(scene, index);
    return (TdlSceneObserver){o->name, QUANTITIES[o->quantity].key, QUANTITIES[o->quantity].unit};
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

TdlVec3 tdl_scene_observe(const TdlScene* scene, int index, const TdlWorld* world) {
    // what the world calls a kind
    static const char* const NAMES[] = {[SCENE_ROD] = "rod",
                                        [SCENE_BODY] = "rigid",
                                        [SCENE_CLOTH] = "cloth",
                                        [SCENE_SHELL] = "shell",
                                        [SCENE_COLLIDER] = "collider"};
    const ObserverSpec* o = observer_at(scene, index);
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
