// Values that are allowed and can hardly be meant: one table of what is measured, between which
// bounds it makes sense, and why. A scene is walked once, and every rule asked of what it is about.
#include "scene/scene.h"

#include <math.h>
#include <string.h>

// What a rule is about: an entry of one of the scene's lists, or a part of one.
typedef enum About {
    ABOUT_SCENE = 0,
    ABOUT_TIME,
    ABOUT_OUTPUT,
    ABOUT_CONTACTS,
    ABOUT_PAIR,
    ABOUT_MATERIAL,
    ABOUT_ROD,
    ABOUT_LOAD,
    ABOUT_TENDON,
    ABOUT_BODY,
    ABOUT_CLOTH,
    ABOUT_COLLIDER,
    ABOUT_KEYFRAME,
    ABOUT_JOINT,
    ABOUT_STRENGTH,
    ABOUT_GRAINS,
    ABOUT_GRID,
    ABOUT_FILL,
} About;

// What is looked at, and where it is found.
typedef struct Seen {
    const TdlScene* scene;
    const TdlWorld* world; // as it starts, or null
    double lightest;       // kg, of all that moves by itself
    double reach;          // m, the largest of all that moves by itself
    const char* name;      // of the entry it is of
    const Node* node;      // whose key is doubted
    const void* spec;      // of the kind that the rule is about
    const void* owner;     // the entry that it is part of, or the keyframe before
    TdlBodyId body[2];     // what it is in the world; of a joint both sides
} Seen;

// The number that is to be between the bounds; `told` is what the message tells, the same number
// unless it is changed. NaN: nothing to doubt.
typedef double (*MeasureFn)(const Seen* seen, double* told);

typedef struct Rule {
    About about;
    const char *key, *told, *unit; // key: where it stands; told: what it is called
    MeasureFn measure;
    double low, high;
    const char *below, *above; // why
} Rule;

// --- measures ------------------------------------------------------------------------------------

static double given(double value) {
    return value > 0.0 ? value : NAN;
}

static double gravity(const Seen* seen, double* told) {
    (void)told;
    return tdl_norm3(((const SceneSpec*)seen->spec)->gravity);
}

// In runs.
static double step(const Seen* seen, double* told) {
    const TimeSpec* time = seen->spec;
    *told = time->step;
    return time->end > 0.0 ? time->step / time->end : NAN;
}

static double frame(const Seen* seen, double* told) {
    double end = seen->scene->spec.time.end;
    *told = ((const OutputSpec*)seen->spec)->frame;
    return end > 0.0 ? *told / end : NAN;
}

static double friction(const Seen* seen, double* told) {
    (void)told;
    return ((const ContactsSpec*)seen->spec)->friction;
}

static double pair_friction(const Seen* seen, double* told) {
    (void)told;
    return ((const PairSpec*)seen->spec)->friction;
}

static double tolerance(const Seen* seen, double* told) {
    (void)told;
    return ((const ContactsSpec*)seen->spec)->tolerance;
}

static double young(const Seen* seen, double* told) {
    (void)told;
    return given(((const MaterialSpec*)seen->spec)->young);
}

static double density(const Seen* seen, double* told) {
    (void)told;
    return ((const MaterialSpec*)seen->spec)->density;
}

static double damping(const Seen* seen, double* told) {
    (void)told;
    return ((const MaterialSpec*)seen->spec)->damping;
}

// In lengths.
static double radius(const Seen* seen, double* told) {
    const RodSpec* rod = seen->spec;
    *told = fmax(rod->radius[0], rod->radius[1]);
    return rod->length > 0.0 ? *told / rod->length : NAN;
}

static bool is_nodal(const RodSpec* rod) {
    static const char* const NAMES[] = {"der", "mass-spring", "corde"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; ++i) {
        if (rod->model == choice_index(tdl_rod_models(), NAMES[i])) {
            return true;
        }
    }
    return false;
}

// Rad an element.
static double turn_of_element(const Seen* seen, double* told) {
    const RodSpec* rod = seen->spec;
    double most = 0.0;
    for (int i = 0; i < rod->natural_curvature.count; ++i) {
        most = fmax(most, tdl_norm3(rod->natural_curvature.items[i]));
    }
    *told = most;
    return is_nodal(rod) && rod->elements > 0 ? most * rod->length / rod->elements : NAN;
}

// What a pull would strain a rod by, were it straight: of its material, where that tells.
static double strain(const RodSpec* rod, const TdlScene* scene, double force) {
    const MaterialSpec* material =
        rod->material == NULL ? NULL : scene_find_material(scene, rod->material);
    double area = 3.14159265358979323846 * rod->radius[0] * rod->radius[1];
    return material != NULL && rod->sections.count == 0 && material->young > 0.0 && area > 0.0
               ? force / (material->young * area)
               : NAN;
}

static double load(const Seen* seen, double* told) {
    const LoadSpec* spec = seen->spec;
    const Formula* f = spec->force;
    *told = tdl_norm3((TdlVec3){f[0].value, f[1].value, f[2].value});
    return spec->varies ? NAN : strain(seen->owner, seen->scene, *told);
}

static double tension(const Seen* seen, double* told) {
    *told = ((const TendonSpec*)seen->spec)->tension;
    return strain(seen->owner, seen->scene, *told);
}

static double mass_of(const Seen* seen, int side) {
    TdlVec3 centre;
    double mass = 0.0;
    bool there = seen->world != NULL && seen->body[side].index != 0;
    return there && tdl_body_centre(seen->world, seen->body[side], &centre, &mass) == TDL_STATUS_OK
               ? mass
               : 0.0;
}

// Against the lightest thing that it may touch.
static double mass(const Seen* seen, double* told) {
    bool touches = seen->scene->spec.contacts.detection != DETECTION_OFF;
    *told = mass_of(seen, 0);
    return touches && *told > 0.0 ? *told / seen->lightest : NAN;
}

static double body_density(const Seen* seen, double* told) {
    (void)told;
    return given(((const BodySpec*)seen->spec)->density);
}

static double body_speed(const Seen* seen, double* told) {
    (void)told;
    return tdl_norm3(((const BodySpec*)seen->spec)->velocity);
}

static double body_spin(const Seen* seen, double* told) {
    (void)told;
    return tdl_norm3(((const BodySpec*)seen->spec)->angular_velocity);
}

static double cloth_density(const Seen* seen, double* told) {
    (void)told;
    return ((const ClothSpec*)seen->spec)->density;
}

// From corner to corner of its box, m.
static double extent(const TdlMesh* mesh) {
    TdlVec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < mesh->vertex_count; ++i) {
        TdlVec3 p = mesh->vertices[i];
        low = (TdlVec3){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
        high = (TdlVec3){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
    }
    return mesh->vertex_count > 0 ? tdl_norm3(tdl_sub3(high, low)) : 0.0;
}

// In reaches of what moves.
static double mesh_size(const Seen* seen, double* told) {
    *told = extent(&((const ColliderSpec*)seen->spec)->mesh.mesh);
    return seen->reach > 0.0 ? *told / seen->reach : NAN;
}

// In steps after the one before.
static double key_gap(const Seen* seen, double* told) {
    const KeyframeSpec *key = seen->spec, *before = seen->owner;
    *told = before == NULL ? NAN : key->time - before->time;
    return *told / seen->scene->spec.time.step;
}

// s after the end of the run, of the keyframe before: then it moves nothing.
static double key_beyond(const Seen* seen, double* told) {
    const KeyframeSpec* before = seen->owner;
    *told = ((const KeyframeSpec*)seen->spec)->time;
    return before == NULL ? NAN : before->time - seen->scene->spec.time.end;
}

static double key_speed(const Seen* seen, double* told) {
    const KeyframeSpec *key = seen->spec, *before = seen->owner;
    if (before == NULL || !(key->time > before->time)) {
        return NAN;
    }
    *told = tdl_norm3(tdl_sub3(key->position, before->position)) / (key->time - before->time);
    return *told;
}

// 1 where it is one of the angles that are said in degrees.
static double key_degrees(const Seen* seen, double* told) {
    double angle = tdl_norm3(((const KeyframeSpec*)seen->spec)->rotation);
    *told = angle;
    return angle >= 30.0 && angle <= 360.0 && fmod(angle, 15.0) == 0.0;
}

static double joined_masses(const Seen* seen, double* told) {
    double a = mass_of(seen, 0), b = mass_of(seen, 1);
    *told = a > 0.0 && b > 0.0 ? fmax(a, b) / fmin(a, b) : NAN;
    return *told;
}

// In weights of what hangs on what stands still. Of one end of a rod, its whole weight is more than
// it may have to bear, so only bodies are asked.
static double strength(const Seen* seen, double* told) {
    double a = mass_of(seen, 0), b = mass_of(seen, 1), mass = fmax(a, b);
    const char* kind = seen->world == NULL || mass == 0.0
                           ? ""
                           : tdl_body_kind(seen->world, seen->body[a > 0.0 ? 0 : 1]);
    *told = ((const JointBreaksSpec*)seen->spec)->force;
    double weight = mass * tdl_norm3(seen->scene->spec.gravity);
    bool hangs = (a == 0.0) != (b == 0.0) && strcmp(kind, "rigid") == 0;
    return hangs && weight > 0.0 ? *told / weight : NAN;
}

// --- measures of grains --------------------------------------------------------------------------

static double grains_friction(const Seen* seen, double* told) {
    (void)told;
    return ((const GrainsSpec*)seen->spec)->friction;
}

static double grains_density(const Seen* seen, double* told) {
    (void)told;
    return given(((const GrainsSpec*)seen->spec)->density);
}

static double grains_packing(const Seen* seen, double* told) {
    (void)told;
    return ((const GrainsSpec*)seen->spec)->packing;
}

static double grains_per_cell(const Seen* seen, double* told) {
    (void)told;
    return ((const GrainsSpec*)seen->spec)->per_cell;
}

// In cells.
static double grain_size(const Seen* seen, double* told) {
    const GrainsSpec* grains = seen->spec;
    *told = grains->fast.grain;
    return grains->fast.node == NULL ? NAN : *told / grains->grid.spacing;
}

// The box around all fills.
static void fills_box(const GrainsSpec* grains, TdlVec3* low, TdlVec3* high) {
    *low = (TdlVec3){INFINITY, INFINITY, INFINITY};
    *high = (TdlVec3){-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < grains->fills.count; ++i) {
        TdlVec3 from, to;
        scene_fill_box((const GrainsFillSpec*)grains->fills.items + i, &from, &to);
        *low = (TdlVec3){fmin(low->x, from.x), fmin(low->y, from.y), fmin(low->z, from.z)};
        *high = (TdlVec3){fmax(high->x, to.x), fmax(high->y, to.y), fmax(high->z, to.z)};
    }
}

// In weights of the bed over its area.
static double grains_cohesion(const Seen* seen, double* told) {
    const GrainsSpec* grains = seen->spec;
    TdlVec3 low, high;
    fills_box(grains, &low, &high);
    *told = grains->cohesion;
    double weight = tdl_norm3(seen->scene->spec.gravity) * (high.z - low.z) *
                    (grains->density > 0.0 ? grains->density : 1500.0);
    return weight > 0.0 ? *told / weight : NAN;
}

// Of all that is filled, along the axis in which there are the fewest.
static double cells_across(const Seen* seen, double* told) {
    const GrainsSpec* grains = seen->owner;
    TdlVec3 low, high;
    fills_box(grains, &low, &high);
    double least = fmin(high.x - low.x, high.z - low.z);
    least = grains->dimension == 3 ? fmin(least, high.y - low.y) : least;
    *told = grains->grid.spacing;
    return least / grains->grid.spacing;
}

// Cells that grains which fell to the bottom of the grid go in a step.
static double cells_a_step(const Seen* seen, double* told) {
    const GrainsSpec* grains = seen->owner;
    const SceneSpec* scene = &seen->scene->spec;
    TdlVec3 low, high;
    fills_box(grains, &low, &high);
    double fall = fmax(0.0, high.z - grains->grid.low.z);
    double speed = sqrt(2.0 * tdl_norm3(scene->gravity) * fall);
    *told = speed * scene->time.step / grains->grid.spacing;
    return grains->fixed ? NAN : *told;
}

// m by which it reaches beyond the grid.
static double fill_beyond(const Seen* seen, double* told) {
    const GrainsSpec* grains = seen->owner;
    TdlVec3 low, high;
    scene_fill_box(seen->spec, &low, &high);
    double most = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        if (axis != 1 || grains->dimension == 3) {
            most = fmax(most, (&grains->grid.low.x)[axis] - (&low.x)[axis]);
            most = fmax(most, (&high.x)[axis] - (&grains->grid.high.x)[axis]);
        }
    }
    *told = most;
    return most / grains->grid.spacing;
}

// In cells a step.
static double fill_speed(const Seen* seen, double* told) {
    const GrainsSpec* grains = seen->owner;
    *told = tdl_norm3(((const GrainsFillSpec*)seen->spec)->velocity);
    return *told * seen->scene->spec.time.step / grains->grid.spacing;
}

// --- the table -----------------------------------------------------------------------------------

static const Rule RULES[] = {
    {ABOUT_SCENE, "gravity", "gravity", "m/s^2", gravity, 0.0, 300.0, NULL,
     "more than on the sun (274); 9810 mm/s^2 are 9.81"},
    {ABOUT_TIME, "step", "the step", "s", step, 0.0, 1.0 + 1.0e-9, NULL, "longer than the run"},
    {ABOUT_OUTPUT, "frame", "the time between frames", "s", frame, 0.0, 1.0 + 1.0e-9, NULL,
     "longer than the run: the result has its start and its end only"},
    {ABOUT_CONTACTS, "friction", "friction", "", friction, 0.0, 5.0, NULL,
     "more than rubber on rubber (4)"},
    {ABOUT_CONTACTS, "tolerance", "the tolerance", "", tolerance, 0.0, 1.0e-3, NULL,
     "forces with an error above 1e-3 are not to be relied on, and the run ends with status 1"},
    {ABOUT_PAIR, "friction", "friction", "", pair_friction, 0.0, 5.0, NULL,
     "more than rubber on rubber (4)"},
    {ABOUT_MATERIAL, "young", "young", "Pa", young, 1.0e3, 2.0e12,
     "softer than any gel (1e3); 5 GPa are 5e9", "stiffer than diamond (1.2e12)"},
    {ABOUT_MATERIAL, "density", "density", "kg/m^3", density, 25.0, 3.0e4,
     "lighter than foam; 1.3 g/cm^3 are 1300", "heavier than any metal (22600)"},
    {ABOUT_MATERIAL, "damping", "damping", "s", damping, 0.0, 10.0, NULL,
     "a time: what is bent would creep back for so long; damping in 1/s is mass_damping"},
    {ABOUT_ROD, "radius", "radius", "m", radius, 0.0, 0.1, NULL,
     "a rod is at least ten radii long; 0.05 mm are 5e-5"},
    {ABOUT_ROD, "natural_curvature", "natural curvature", "1/m", turn_of_element, 0.0,
     1.5707963267948966, NULL,
     "an element turns by more than a quarter, which its two nodes cannot show; more elements, or "
     "a super-helix"},
    {ABOUT_ROD, "name", "its mass", "kg", mass, 0.0, 1.0e6, NULL,
     "a million times that of the lightest thing it may touch: their contacts are known to few "
     "digits"},
    {ABOUT_LOAD, "force", "a force", "N", load, 0.0, 10.0, NULL,
     "ten times what stretches its material to twice its length"},
    {ABOUT_TENDON, "tension", "a tension", "N", tension, 0.0, 1.0, NULL,
     "presses its material to nothing"},
    {ABOUT_BODY, "density", "density", "kg/m^3", body_density, 25.0, 3.0e4,
     "lighter than foam; 1.3 g/cm^3 are 1300", "heavier than any metal (22600)"},
    {ABOUT_BODY, "velocity", "its speed", "m/s", body_speed, 0.0, 1000.0, NULL,
     "three times that of sound"},
    {ABOUT_BODY, "angular_velocity", "its spin", "rad/s", body_spin, 0.0, 1.0e4, NULL,
     "1600 turns a second"},
    {ABOUT_BODY, "name", "its mass", "kg", mass, 0.0, 1.0e6, NULL,
     "a million times that of the lightest thing it may touch: their contacts are known to few "
     "digits"},
    {ABOUT_CLOTH, "density", "density", "kg/m^2", cloth_density, 1.0e-3, 50.0,
     "lighter than the thinnest foil (0.003)",
     "per area: 1 mm of what has 1000 kg/m^3 are 1 kg/m^2"},
    {ABOUT_COLLIDER, "mesh", "its size", "m", mesh_size, 0.0, 500.0, NULL,
     "500 times that of all that moves; is its file in mm (scale: 0.001)?"},
    {ABOUT_KEYFRAME, "time", "the time after the keyframe before", "s", key_gap, 1.0 - 1.0e-9,
     INFINITY, "less than a step: what it does between is not seen", NULL},
    {ABOUT_KEYFRAME, "time", "its time", "s", key_beyond, -INFINITY, -1.0e-12, NULL,
     "the keyframe before is at the end of the run already: this one moves nothing"},
    {ABOUT_KEYFRAME, "position", "its speed from the keyframe before", "m/s", key_speed, 0.0,
     1000.0, NULL, "three times that of sound; mm are 1e-3 m"},
    {ABOUT_KEYFRAME, "rotation", "its angle", "rad", key_degrees, 0.0, 0.5, NULL,
     "an angle that is said in degrees; 90 degrees are 1.5708"},
    {ABOUT_JOINT, "name", "the ratio of the masses that it joins", "", joined_masses, 0.0, 1.0e6,
     NULL, "their joint is known to few digits"},
    {ABOUT_STRENGTH, "force", "what it bears", "N", strength, 1.0, INFINITY,
     "less than the weight that hangs on it", NULL},
    {ABOUT_GRAINS, "friction", "friction", "", grains_friction, 0.05, 1.5,
     "of a pile that is hardly one: 3 degrees", "the tangent of an angle: 30 degrees are 0.577"},
    {ABOUT_GRAINS, "density", "density", "kg/m^3", grains_density, 25.0, 3.0e4,
     "lighter than foam; 1.5 g/cm^3 are 1500", "heavier than any metal (22600)"},
    {ABOUT_GRAINS, "packing", "packing", "", grains_packing, 0.3, 0.91,
     "looser than any bed that stands (0.5)",
     "denser than spheres (0.74) and discs (0.907) can be"},
    {ABOUT_GRAINS, "per_cell", "the number of particles along a cell", "", grains_per_cell, 2.0,
     INFINITY, "holes open between them as soon as they move; 2, in two dimensions 4", NULL},
    {ABOUT_GRAINS, "fast", "the diameter of a grain", "m", grain_size, 0.0, 1.0, NULL,
     "more than a cell: it is not a continuum there"},
    {ABOUT_GRAINS, "cohesion", "cohesion", "Pa", grains_cohesion, 0.0, 10.0, NULL,
     "ten times what its own weight presses the bed with: it is a solid"},
    {ABOUT_GRID, "spacing", "the spacing", "m", cells_across, 3.0, INFINITY,
     "what is filled is less than three cells across, which no flow is seen in", NULL},
    {ABOUT_GRID, "spacing", "the number of cells that grains go in a step", "", cells_a_step, 0.0,
     1.0, NULL, "when they have fallen to the bottom; one at most, by a shorter time.step"},
    {ABOUT_FILL, "high", "its reach beyond the grid", "m", fill_beyond, 0.0, 1.0, NULL,
     "what is out there is not filled"},
    {ABOUT_FILL, "centre", "its reach beyond the grid", "m", fill_beyond, 0.0, 1.0, NULL,
     "what is out there is not filled"},
    {ABOUT_FILL, "velocity", "its speed", "m/s", fill_speed, 0.0, 1.0, NULL,
     "more than a cell a step; take a shorter time.step"},
};

// --- the walk ------------------------------------------------------------------------------------

typedef struct Doubts {
    TdlSceneDoubt* out;
    int count, capacity;
} Doubts;

static void note(Doubts* doubts, const Seen* seen, const Rule* rule, double told, const char* why) {
    if (doubts->count < doubts->capacity) {
        Mark mark = scene_mark_of(seen->node, rule->key);
        TdlSceneDoubt* doubt = &doubts->out[doubts->count];
        *doubt = (TdlSceneDoubt){
            .file = mark.source->name, .line = mark.line, .column = mark.column, .value = told};
        snprintf(doubt->text, sizeof doubt->text, "%s%s%s%s is %.6g%s%s: %s",
                 seen->name == NULL ? "" : "'", seen->name == NULL ? "" : seen->name,
                 seen->name == NULL ? "" : "': ", rule->told, told,
                 rule->unit[0] == '\0' ? "" : " ", rule->unit, why);
    }
    ++doubts->count;
}

// Asks every rule about it. A key that was not given has a default, which is not doubted.
static void ask(Doubts* doubts, About about, const Seen* seen) {
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; ++i) {
        const Rule* rule = &RULES[i];
        if (rule->about != about || seen->node == NULL ||
            node_find(seen->node, rule->key) == NULL) {
            continue;
        }
        double told = NAN, value = rule->measure(seen, &told);
        told = isnan(told) ? value : told;
        if (value < rule->low) {
            note(doubts, seen, rule, told, rule->below);
        } else if (value > rule->high) {
            note(doubts, seen, rule, told, rule->above);
        }
    }
}

static void ask_part(Doubts* doubts, About about, Seen seen, const Node* node, const void* spec,
                     const void* owner) {
    seen.node = node;
    seen.spec = spec;
    seen.owner = owner;
    ask(doubts, about, &seen);
}

// Keyframes of a recording are as they were recorded.
static void ask_motion(Doubts* doubts, const Seen* seen, const MotionSpec* motion) {
    const KeyframeSpec* keys = motion->keyframes.items;
    bool written = motion->node != NULL && motion->recording.node == NULL;
    for (int i = 0; written && i < motion->keyframes.count; ++i) {
        ask_part(doubts, ABOUT_KEYFRAME, *seen, keys[i].node, &keys[i],
                 i > 0 ? &keys[i - 1] : NULL);
    }
}

static void ask_rods(Doubts* doubts, Seen seen) {
    const GroupList* list = &seen.scene->spec.rods;
    const RodSpec* rods = list->items;
    int first = 0;
    for (int i = 0; i < list->count; first += scene_copy_count(&rods[i++])) {
        const RodSpec* rod = &rods[i];
        const LoadSpec* loads = rod->loads.items;
        const TendonSpec* tendons = rod->tendons.items;
        seen.name = rod->name;
        if (seen.world != NULL) {
            seen.body[0] = tdl_world_body(seen.world, "rod", first);
        }
        ask_part(doubts, ABOUT_ROD, seen, rod->node, rod, NULL);
        for (int k = 0; k < rod->loads.count; ++k) {
            ask_part(doubts, ABOUT_LOAD, seen, loads[k].node, &loads[k], rod);
        }
        for (int k = 0; k < rod->tendons.count; ++k) {
            ask_part(doubts, ABOUT_TENDON, seen, tendons[k].node, &tendons[k], rod);
        }
        ask_motion(doubts, &seen, &rod->clamp.motion);
        ask_motion(doubts, &seen, &rod->end_motion);
    }
}

static void ask_bodies(Doubts* doubts, Seen seen) {
    const GroupList* list = &seen.scene->spec.bodies;
    const BodySpec* bodies = list->items;
    int first = 0;
    for (int i = 0; i < list->count; first += scene_body_copy_count(&bodies[i++])) {
        seen.name = bodies[i].name;
        if (seen.world != NULL) {
            seen.body[0] = tdl_world_body(seen.world, "rigid", first);
        }
        ask_part(doubts, ABOUT_BODY, seen, bodies[i].node, &bodies[i], NULL);
    }
}

static void ask_surfaces(Doubts* doubts, Seen seen) {
    const SceneSpec* spec = &seen.scene->spec;
    const ClothSpec* cloths = spec->cloths.items;
    const ColliderSpec* colliders = spec->colliders.items;
    for (int i = 0; i < spec->cloths.count; ++i) {
        const HoldSpec* holds = cloths[i].holds.items;
        seen.name = cloths[i].name;
        ask_part(doubts, ABOUT_CLOTH, seen, cloths[i].node, &cloths[i], NULL);
        for (int k = 0; k < cloths[i].holds.count; ++k) {
            ask_motion(doubts, &seen, &holds[k].motion);
        }
    }
    for (int i = 0; i < spec->colliders.count; ++i) {
        seen.name = colliders[i].name;
        ask_part(doubts, ABOUT_COLLIDER, seen, colliders[i].node, &colliders[i], NULL);
        ask_motion(doubts, &seen, &colliders[i].motion);
    }
}

static void ask_joints(Doubts* doubts, Seen seen) {
    const GroupList* list = &seen.scene->spec.joints;
    const JointSpec* joints = list->items;
    for (int i = 0; i < list->count; ++i) {
        const JointSpec* joint = &joints[i];
        seen.name = joint->name;
        for (int k = 0; k < 2; ++k) {
            const JointEndSpec* end = &joint->end[k];
            bool there = seen.world != NULL && end->kind != NULL;
            seen.body[k] =
                there ? tdl_world_body(seen.world, end->kind, end->first) : (TdlBodyId){0};
        }
        ask_part(doubts, ABOUT_JOINT, seen, joint->node, joint, NULL);
        ask_part(doubts, ABOUT_STRENGTH, seen, joint->breaks.node, &joint->breaks, joint);
    }
}

static void ask_grains(Doubts* doubts, Seen seen) {
    const GrainsSpec* grains = &seen.scene->spec.grains;
    const GrainsFillSpec* fills = grains->fills.items;
    seen.name = grains->name;
    ask_part(doubts, ABOUT_GRAINS, seen, grains->node, grains, NULL);
    ask_part(doubts, ABOUT_GRID, seen, grains->grid.node, &grains->grid, grains);
    for (int i = 0; i < grains->fills.count; ++i) {
        ask_part(doubts, ABOUT_FILL, seen, fills[i].node, &fills[i], grains);
    }
}

static void ask_whole(Doubts* doubts, Seen seen) {
    const SceneSpec* spec = &seen.scene->spec;
    const MaterialSpec* materials = spec->materials.items;
    const PairSpec* pairs = spec->contacts.pairs.items;
    ask_part(doubts, ABOUT_SCENE, seen, spec->node, spec, NULL);
    ask_part(doubts, ABOUT_TIME, seen, spec->time.node, &spec->time, NULL);
    ask_part(doubts, ABOUT_OUTPUT, seen, spec->output.node, &spec->output, NULL);
    ask_part(doubts, ABOUT_CONTACTS, seen, spec->contacts.node, &spec->contacts, NULL);
    for (int i = 0; i < spec->contacts.pairs.count; ++i) {
        ask_part(doubts, ABOUT_PAIR, seen, pairs[i].node, &pairs[i], NULL);
    }
    for (int i = 0; i < spec->materials.count; ++i) {
        seen.name = materials[i].name;
        ask_part(doubts, ABOUT_MATERIAL, seen, materials[i].node, &materials[i], NULL);
    }
}

// The lightest of all that moves by itself.
static double find_lightest(const TdlWorld* world) {
    static const char* const KINDS[] = {"rod", "rigid", "cloth"};
    double lightest = INFINITY;
    for (size_t kind = 0; world != NULL && kind < sizeof KINDS / sizeof *KINDS; ++kind) {
        int count = tdl_world_bodies(world, KINDS[kind], 0, NULL);
        for (int i = 0; i < count; ++i) {
            TdlVec3 centre;
            double mass = 0.0;
            tdl_body_centre(world, tdl_world_body(world, KINDS[kind], i), &centre, &mass);
            lightest = mass > 0.0 ? fmin(lightest, mass) : lightest;
        }
    }
    return lightest;
}

static double body_reach(const BodySpec* body) {
    const PieceSpec* pieces = body->pieces.items;
    double reach = 2.0 * (body->radius + tdl_norm3(body->half)) + body->length;
    for (int i = 0; i < body->pieces.count; ++i) {
        reach += pieces[i].length;
    }
    return reach + extent(&body->mesh.mesh);
}

static double find_reach(const SceneSpec* spec) {
    const RodSpec* rods = spec->rods.items;
    const ClothSpec* cloths = spec->cloths.items;
    const BodySpec* bodies = spec->bodies.items;
    double reach = 0.0;
    for (int i = 0; i < spec->rods.count; ++i) {
        reach = fmax(reach, rods[i].length);
    }
    for (int i = 0; i < spec->bodies.count; ++i) {
        reach = fmax(reach, body_reach(&bodies[i]));
    }
    if (spec->grains.node != NULL) {
        TdlVec3 low, high;
        fills_box(&spec->grains, &low, &high);
        reach = fmax(reach, fmax(high.x - low.x, high.z - low.z));
    }
    for (int i = 0; i < spec->cloths.count; ++i) {
        const TdlClothMesh* mesh = &cloths[i].placed;
        for (int k = 1; k < mesh->vertex_count; ++k) {
            reach = fmax(reach, tdl_norm3(tdl_sub3(mesh->vertices[k], mesh->vertices[0])));
        }
    }
    return reach;
}

// --- edges without roundness ---------------------------------------------------------------------

// The key that rounds its edges, where nothing does; null of others.
static const char* missing_roundness(const BodySpec* body) {
    bool edges = body->shape == TDL_RIGID_BOX || body->shape == TDL_RIGID_MESH;
    if (body->shape == TDL_RIGID_CYLINDER) {
        return body->rounding > 0.0 ? NULL : "rounding";
    }
    return edges && body->radius == 0.0 ? "radius" : NULL;
}

static void note_sharp(Doubts* doubts, const BodySpec* body, const ColliderSpec* sheet) {
    const char* key = missing_roundness(body);
    if (key != NULL && doubts->count < doubts->capacity) {
        Mark mark = scene_mark_of(body->node, "name");
        TdlSceneDoubt* doubt = &doubts->out[doubts->count];
        *doubt = (TdlSceneDoubt){mark.source->name, mark.line, mark.column, 0.0, ""};
        snprintf(doubt->text, sizeof doubt->text,
                 "'%s' has sharp edges and '%s' is an open mesh without thickness: they pass "
                 "through each other; give '%s' a %s or '%s' a radius",
                 body->name, sheet->name, body->name, key, sheet->name);
    }
    doubts->count += key != NULL;
}

// Of boxes and meshes, whose edges meet edges and faces: a cylinder's rims have an inside.
static bool is_all_edges(const BodySpec* body) {
    return body->shape != TDL_RIGID_CYLINDER && missing_roundness(body) != NULL;
}

static void note_sharp_pair(Doubts* doubts, const BodySpec* a, const BodySpec* b) {
    if (doubts->count < doubts->capacity) {
        Mark mark = scene_mark_of(b->node, "name");
        TdlSceneDoubt* doubt = &doubts->out[doubts->count];
        *doubt = (TdlSceneDoubt){mark.source->name, mark.line, mark.column, 0.0, ""};
        if (a == b) {
            snprintf(doubt->text, sizeof doubt->text,
                     "copies of '%s' have sharp edges: they pass through each other; give '%s' a "
                     "radius",
                     a->name, a->name);
        } else {
            snprintf(doubt->text, sizeof doubt->text,
                     "'%s' and '%s' have sharp edges: they pass through each other; give one of "
                     "them a radius",
                     a->name, b->name);
        }
    }
    ++doubts->count;
}

static void ask_sharp_bodies(Doubts* doubts, const SceneSpec* spec) {
    const BodySpec* bodies = spec->bodies.items;
    for (int i = 0; i < spec->bodies.count; ++i) {
        for (int k = 0; k <= i; ++k) {
            bool two = k < i || scene_body_copy_count(&bodies[i]) > 1;
            if (two && is_all_edges(&bodies[i]) && is_all_edges(&bodies[k])) {
                note_sharp_pair(doubts, &bodies[k], &bodies[i]);
            }
        }
    }
}

// A sheet of triangles without thickness.
static bool is_thin(const TdlScene* scene, const ColliderSpec* collider) {
    static const char OPEN[] = "mesh must be closed"; // so the fault begins
    int triangle;
    const char* fault = collider->shape != TDL_SHAPE_MESH || collider->radius > 0.0
                            ? NULL
                            : tdl_solid_fault(&scene->host, &collider->mesh.mesh, &triangle);
    return fault != NULL && strncmp(fault, OPEN, sizeof OPEN - 1) == 0;
}

// Neither has an inside that tells on which side the other is: contacts of sharp things with sheets
// need a radius. The barrier keeps a distance of its own.
static void ask_sharp(Doubts* doubts, const TdlScene* scene) {
    const SceneSpec* spec = &scene->spec;
    const BodySpec* bodies = spec->bodies.items;
    const ColliderSpec* colliders = spec->colliders.items;
    bool touch = spec->contacts.detection != DETECTION_OFF &&
                 spec->contacts.response != TDL_RESPONSE_BARRIER;
    bool sharp = false;
    for (int i = 0; i < spec->bodies.count; ++i) {
        sharp = sharp || missing_roundness(&bodies[i]) != NULL;
    }
    for (int c = 0; c < spec->colliders.count && touch && sharp; ++c) {
        bool thin = is_thin(scene, &colliders[c]);
        for (int i = 0; i < spec->bodies.count && thin; ++i) {
            note_sharp(doubts, &bodies[i], &colliders[c]);
        }
    }
    if (touch) {
        ask_sharp_bodies(doubts, spec);
    }
}

int tdl_scene_sharp_pairs(const TdlScene* scene, int capacity, TdlSceneDoubt* out) {
    Doubts doubts = {.out = out, .capacity = capacity};
    ask_sharp(&doubts, scene);
    return doubts.count;
}

int tdl_scene_doubts(const TdlScene* scene, const TdlWorld* world, int capacity,
                     TdlSceneDoubt* out) {
    Doubts doubts = {.out = out, .capacity = capacity};
    Seen seen = {.scene = scene,
                 .world = world,
                 .lightest = find_lightest(world),
                 .reach = find_reach(&scene->spec)};
    ask_whole(&doubts, seen);
    ask_rods(&doubts, seen);
    ask_bodies(&doubts, seen);
    ask_surfaces(&doubts, seen);
    ask_joints(&doubts, seen);
    ask_grains(&doubts, seen);
    ask_sharp(&doubts, scene);
    return doubts.count;
}
