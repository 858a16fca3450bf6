// Points of things: each kind of thing is a row of a table, which finds a point, tells where it is,
// and shares out the mass of the thing among its markers.
#include "fit/markers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What a place says, taken apart.
typedef struct Place {
    char thing[MARKER_NAME_SIZE];
    int copy;          // -1: not said
    char mark;         // ':', '@' or 0
    double numbers[3]; // behind it
    int number_count;
    bool fine;      // it is written as one
    TdlBodyId body; // that is meant
} Place;

struct MarkerKind {
    const char *body, *form; // as a world calls it; how a place on one is written
    bool (*find)(const Place* place, const TdlWorld* world, Marker* out, char* fault);
    TdlVec3 (*locate)(const Marker* marker, const TdlWorld* world, const MarkerSet* set);
    void (*weigh)(MarkerSet* set, const TdlWorld* world, int first);
};

// --- cloth ---------------------------------------------------------------------------------------

static double clamp(double x, double low, double high) {
    return fmin(fmax(x, low), high);
}

// The weights of the point of a segment that is nearest to p; returns the distance.
static double nearest_on_edge(const TdlVec3 x[3], int a, int b, TdlVec3 p, double weights[3]) {
    TdlVec3 d = tdl_sub3(x[b], x[a]);
    double t = clamp(tdl_dot3(tdl_sub3(p, x[a]), d) / fmax(tdl_dot3(d, d), 1.0e-300), 0.0, 1.0);
    weights[0] = weights[1] = weights[2] = 0.0;
    weights[a] = 1.0 - t;
    weights[b] = t;
    return tdl_norm3(tdl_sub3(p, tdl_axpy3(x[a], t, d)));
}

// The same of a triangle: within it, else on one of its edges.
static double nearest_on_triangle(const TdlVec3 x[3], TdlVec3 p, double weights[3]) {
    TdlVec3 n = tdl_cross3(tdl_sub3(x[1], x[0]), tdl_sub3(x[2], x[0]));
    double area = tdl_dot3(n, n);
    bool inside = area > 0.0;
    for (int k = 0; k < 3 && inside; ++k) {
        TdlVec3 b = x[(k + 1) % 3], c = x[(k + 2) % 3];
        weights[k] = tdl_dot3(n, tdl_cross3(tdl_sub3(c, b), tdl_sub3(p, b))) / area;
        inside = weights[k] >= 0.0;
    }
    if (inside) {
        return fabs(tdl_dot3(n, tdl_sub3(p, x[0]))) / sqrt(area);
    }
    double best = INFINITY;
    for (int k = 0; k < 3; ++k) {
        double trial[3], distance = nearest_on_edge(x, k, (k + 1) % 3, p, trial);
        if (distance < best) {
            best = distance;
            memcpy(weights, trial, sizeof trial);
        }
    }
    return best;
}

static void find_on_triangles(const TdlVec3* x, const int* triangles, int count, TdlVec3 p,
                              Marker* out) {
    double best = INFINITY;
    for (int t = 0; t < count; ++t) {
        const int* v = triangles + 3 * (size_t)t;
        TdlVec3 corners[3] = {x[v[0]], x[v[1]], x[v[2]]};
        double weights[3], distance = nearest_on_triangle(corners, p, weights);
        if (distance < best) {
            best = distance;
            memcpy(out->vertices, v, sizeof out->vertices);
            memcpy(out->weights, weights, sizeof weights);
        }
    }
}

// The point of the faces, where they are now, that is nearest to a place.
static bool find_nearest(const Place* place, const TdlWorld* world, int vertex_count, Marker* out) {
    const int* triangles;
    int count;
    TdlVec3* x = calloc((size_t)vertex_count, sizeof *x);
    bool good = x != NULL && tdl_cloth_state(world, place->body, x, NULL) == TDL_STATUS_OK &&
                tdl_cloth_triangles(world, place->body, &triangles, &count) == TDL_STATUS_OK;
    if (good) {
        const double* p = place->numbers;
        find_on_triangles(x, triangles, count, (TdlVec3){p[0], p[1], p[2]}, out);
    }
    free(x);
    return good;
}

static bool find_on_cloth(const Place* place, const TdlWorld* world, Marker* out, char* fault) {
    TdlClothDef def;
    if (tdl_cloth_def(world, place->body, &def) != TDL_STATUS_OK) {
        return false;
    }
    if (place->mark == '@' && place->number_count == 3) {
        return find_nearest(place, world, def.mesh.vertex_count, out);
    }
    double x = place->numbers[0];
    if (place->mark != ':' || place->number_count != 1 || x != floor(x)) {
        return false;
    }
    if (x < 0.0 || x >= def.mesh.vertex_count) {
        snprintf(fault, MARKER_FAULT_SIZE, "there is no vertex %g: it has %d, counted from 0", x,
                 def.mesh.vertex_count);
        return false;
    }
    out->vertices[0] = out->vertices[1] = out->vertices[2] = (int)x;
    out->weights[0] = 1.0;
    return true;
}

static TdlVec3 mix(const Marker* m, const TdlVec3* x) {
    TdlVec3 sum = {0};
    for (int k = 0; k < 3; ++k) {
        sum = tdl_axpy3(sum, m->weights[k], x[m->vertices[k]]);
    }
    return sum;
}

static TdlVec3 locate_on_cloth(const Marker* m, const TdlWorld* world, const MarkerSet* set) {
    (void)world;
    return mix(m, set->vertices); // which markers_locate has filled
}

// Adds a mass to the marker of the same thing that is nearest by `distance`.
static void give_nearest(MarkerSet* set, int first, double mass, const TdlVec3* rest, TdlVec3 p,
                         double at) {
    int nearest = first;
    double least = INFINITY;
    for (int i = first; i < set->count; ++i) {
        const Marker* m = &set->items[i];
        if (m->kind != set->items[first].kind || m->index != set->items[first].index) {
            continue;
        }
        double distance = rest != NULL ? tdl_norm3(tdl_sub3(mix(m, rest), p)) : fabs(m->at - at);
        if (distance < least) {
            least = distance;
            nearest = i;
        }
    }
    set->items[nearest].mass += mass;
}

// Faces of the rest shape give their mass to their corners in equal parts, these to the markers.
static void weigh_cloth(MarkerSet* set, const TdlWorld* world, int first) {
    TdlClothDef def;
    if (tdl_cloth_def(world, tdl_world_body(world, "cloth", set->items[first].index), &def) !=
        TDL_STATUS_OK) {
        return;
    }
    // a world has it of every cloth; vertices that are sewn are where one of their faces has them
    const TdlVec3* rest = def.rest_corners;
    for (int i = 0; i < 4 * def.mesh.face_count; ++i) {
        if (def.mesh.faces[i] >= 0) {
            set->vertices[def.mesh.faces[i]] = rest[i];
        }
    }
    for (int f = 0; f < def.mesh.face_count; ++f) {
        const int* v = def.mesh.faces + 4 * (size_t)f;
        const TdlVec3* x = rest + 4 * (size_t)f;
        int corners = v[3] < 0 ? 3 : 4;
        TdlVec3 a = tdl_sub3(x[2], x[0]);
        TdlVec3 b = tdl_sub3(x[corners == 4 ? 3 : 2], x[1]);
        // half the cross product of the diagonals, or of two edges
        double area = 0.5 * tdl_norm3(tdl_cross3(a, b));
        for (int k = 0; k < corners; ++k) {
            double mass = def.density * area / corners;
            give_nearest(set, first, mass, set->vertices, set->vertices[v[k]], 0.0);
        }
    }
}

// --- rods ----------------------------------------------------------------------------------------

static bool find_on_rod(const Place* place, const TdlWorld* world, Marker* out, char* fault) {
    TdlRodInfo info;
    if (tdl_rod_info(world, place->body, &info) != TDL_STATUS_OK || place->number_count != 1) {
        return false;
    }
    bool element = place->mark == ':';
    double most = element ? info.element_count : info.length, x = place->numbers[0];
    if (!(x >= 0.0 && x <= most * (1.0 + 1.0e-12))) {
        snprintf(fault, MARKER_FAULT_SIZE, "%g lies beyond the rod, which has %g %s", x, most,
                 element ? "elements" : "m");
        return false;
    }
    out->at = fmin(element ? x * info.length / info.element_count : x, info.length);
    return true;
}

static TdlVec3 locate_on_rod(const Marker* m, const TdlWorld* world, const MarkerSet* set) {
    TdlVec3 p = {0};
    (void)set;
    tdl_rod_point(world, tdl_world_body(world, "rod", m->index), m->at, &p);
    return p;
}

static void weigh_rod(MarkerSet* set, const TdlWorld* world, int first) {
    enum { PARTS = 1000 };
    TdlRodInfo info;
    if (tdl_rod_info(world, tdl_world_body(world, "rod", set->items[first].index), &info) !=
        TDL_STATUS_OK) {
        return;
    }
    for (int k = 0; k < PARTS; ++k) {
        give_nearest(set, first, info.mass / PARTS, NULL, (TdlVec3){0},
                     info.length * (k + 0.5) / PARTS);
    }
}

// --- rigid bodies --------------------------------------------------------------------------------

static bool find_on_rigid(const Place* place, const TdlWorld* world, Marker* out, char* fault) {
    (void)world;
    (void)fault;
    out->point = (TdlVec3){place->numbers[0], place->numbers[1], place->numbers[2]};
    return place->mark == '\0' || (place->mark == '@' && place->number_count == 3);
}

static TdlVec3 locate_on_rigid(const Marker* m, const TdlWorld* world, const MarkerSet* set) {
    TdlPose pose = {.rotation = tdl_identity33()};
    (void)set;
    tdl_rigid_pose(world, tdl_world_body(world, "rigid", m->index), &pose);
    return tdl_add3(pose.position, tdl_mul33_3(pose.rotation, m->point));
}

// All to the first; they share alike.
static void weigh_rigid(MarkerSet* set, const TdlWorld* world, int first) {
    TdlVec3 centre;
    Marker* m = &set->items[first];
    tdl_body_centre(world, tdl_world_body(world, "rigid", m->index), &centre, &m->mass);
}

// --- what a place says ---------------------------------------------------------------------------

enum { KIND_ROD, KIND_RIGID, KIND_CLOTH, KIND_COUNT };

static const MarkerKind KINDS[KIND_COUNT] = {
    [KIND_ROD] = {"rod", "NAME@METRES or NAME:ELEMENT", find_on_rod, locate_on_rod, weigh_rod},
    [KIND_RIGID] = {"rigid", "NAME or NAME@X Y Z", find_on_rigid, locate_on_rigid, weigh_rigid},
    [KIND_CLOTH] = {"cloth", "NAME:VERTEX or NAME@X Y Z", find_on_cloth, locate_on_cloth,
                    weigh_cloth},
};

static Place take_apart(const char* text) {
    static const char LETTERS[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    Place p = {.copy = -1, .fine = true};
    size_t length = strspn(text, LETTERS);
    p.fine = length > 0 && length < sizeof p.thing;
    snprintf(p.thing, sizeof p.thing, "%.*s", (int)(p.fine ? length : 0), text);
    const char* at = text + length;
    char* end;
    if (*at == '[') {
        long copy = strtol(at + 1, &end, 10);
        p.fine = p.fine && end > at + 1 && *end == ']' && copy >= 0 && copy < 1000000000;
        p.copy = p.fine ? (int)copy : 0;
        at = p.fine ? end + 1 : at;
    }
    if (*at == ':' || *at == '@') {
        p.mark = *at++;
        for (; p.number_count < 3 && *at != '\0'; ++p.number_count, at = end) {
            p.numbers[p.number_count] = strtod(at, &end);
            if (end == at || !isfinite(p.numbers[p.number_count])) {
                break;
            }
        }
    }
    p.fine = p.fine && *at == '\0';
    return p;
}

// One entry of a list of the scene.
typedef struct Entry {
    const char* name;
    int count; // of copies
} Entry;

static int entry_count(const TdlSceneInfo* info, int kind) {
    return kind == KIND_ROD     ? info->rod_group_count
           : kind == KIND_RIGID ? info->body_group_count
                                : info->cloth_count;
}

static Entry entry_at(const TdlScene* scene, int kind, int index) {
    if (kind == KIND_ROD) {
        TdlSceneRods rods = tdl_scene_rods(scene, index);
        return (Entry){rods.name, rods.count};
    }
    if (kind == KIND_RIGID) {
        TdlSceneBodies bodies = tdl_scene_bodies(scene, index);
        return (Entry){bodies.name, bodies.count};
    }
    return (Entry){tdl_scene_cloth(scene, index).name, 1};
}

// The thing of that name: its kind or -1, and its first place among those in the world.
static int find_thing(const TdlScene* scene, const char* name, int* first, int* count) {
    TdlSceneInfo info = tdl_scene_info(scene);
    for (int kind = 0; kind < KIND_COUNT; ++kind) {
        *first = 0;
        for (int i = 0; i < entry_count(&info, kind); ++i) {
            Entry entry = entry_at(scene, kind, i);
            *count = entry.count;
            if (strcmp(entry.name, name) == 0) {
                return kind;
            }
            *first += entry.count;
        }
    }
    return -1;
}

static bool is_collider(const TdlScene* scene, const char* name) {
    bool found = false;
    for (int i = 0; i < tdl_scene_info(scene).collider_count; ++i) {
        found = found || strcmp(tdl_scene_collider(scene, i).name, name) == 0;
    }
    return found;
}

static bool grow(MarkerSet* set, const TdlWorld* world, const Marker* marker) {
    if ((set->count & (set->count - 1)) == 0) {
        size_t room = set->count == 0 ? 1 : 2 * (size_t)set->count;
        Marker* items = realloc(set->items, room * sizeof *items);
        if (items == NULL) {
            return false;
        }
        set->items = items;
    }
    set->items[set->count++] = *marker;
    TdlClothDef def;
    if (marker->kind == &KINDS[KIND_CLOTH] &&
        tdl_cloth_def(world, tdl_world_body(world, "cloth", marker->index), &def) ==
            TDL_STATUS_OK &&
        def.mesh.vertex_count > set->vertex_count) {
        TdlVec3* x = realloc(set->vertices, (size_t)def.mesh.vertex_count * sizeof *x);
        if (x == NULL) {
            return false;
        }
        set->vertices = x;
        set->vertex_count = def.mesh.vertex_count;
    }
    return true;
}

MarkerAnswer markers_add(MarkerSet* set, const TdlScene* scene, TdlWorld* world, const char* name,
                         const char* place, char fault[MARKER_FAULT_SIZE]) {
    Place p = take_apart(place);
    int first = 0, count = 0;
    int kind = find_thing(scene, p.thing, &first, &count);
    if (kind < 0) {
        bool collider = is_collider(scene, p.thing);
        snprintf(fault, MARKER_FAULT_SIZE,
                 collider ? "'%.100s' goes where the scene says"
                          : "nothing to mark is named '%.100s'",
                 collider ? p.thing : place);
        return collider ? MARKER_WRONG : MARKER_UNKNOWN;
    }
    if (p.copy >= count || (p.copy < 0 && count > 1)) {
        snprintf(fault, MARKER_FAULT_SIZE, "'%.100s' has %d copies: %.100s[0] is the first",
                 p.thing, count, p.thing);
        return MARKER_WRONG;
    }
    Marker m = {.kind = &KINDS[kind], .index = first + (p.copy < 0 ? 0 : p.copy)};
    snprintf(m.name, sizeof m.name, "%s", name);
    p.body = tdl_world_body(world, m.kind->body, m.index);
    fault[0] = '\0';
    if (!p.fine || !m.kind->find(&p, world, &m, fault)) {
        if (fault[0] == '\0') {
            snprintf(fault, MARKER_FAULT_SIZE, "a point of a %s is written %s", m.kind->body,
                     m.kind->form);
        }
        return MARKER_WRONG;
    }
    if (!grow(set, world, &m)) {
        snprintf(fault, MARKER_FAULT_SIZE, "not enough memory");
        return MARKER_WRONG;
    }
    return MARKER_FOUND;
}

// Adds NAME or NAME[COPY] followed by `tail` and a number; of a rigid body without.
static bool add_one(MarkerSet* set, const TdlScene* scene, TdlWorld* world, Entry entry, int copy,
                    int number) {
    char place[MARKER_NAME_SIZE + 32], copied[24] = "", tail[24] = "", fault[MARKER_FAULT_SIZE];
    if (entry.count > 1) {
        snprintf(copied, sizeof copied, "[%d]", copy);
    }
    if (number >= 0) {
        snprintf(tail, sizeof tail, ":%d", number);
    }
    snprintf(place, sizeof place, "%.100s%s%s", entry.name, copied, tail);
    return markers_add(set, scene, world, place, place, fault) == MARKER_FOUND;
}

static bool add_entry(MarkerSet* set, const TdlScene* scene, TdlWorld* world, int kind, int index) {
    Entry entry = entry_at(scene, kind, index);
    const int* hold_of = kind == KIND_CLOTH ? tdl_scene_cloth(scene, index).hold_of : NULL;
    int from = kind == KIND_RIGID ? -1 : 0;
    int to = kind == KIND_CLOTH ? tdl_scene_cloth(scene, index).vertex_count - 1
             : kind == KIND_ROD ? tdl_scene_rods(scene, index).element_count
                                : -1;
    bool good = true;
    for (int copy = 0; copy < entry.count && good; ++copy) {
        for (int k = from; k <= to && good; ++k) {
            good =
                (hold_of != NULL && hold_of[k] >= 0) || add_one(set, scene, world, entry, copy, k);
        }
    }
    return good;
}

bool markers_add_all(MarkerSet* set, const TdlScene* scene, TdlWorld* world) {
    TdlSceneInfo info = tdl_scene_info(scene);
    bool good = true;
    for (int kind = 0; kind < KIND_COUNT; ++kind) {
        for (int i = 0; i < entry_count(&info, kind) && good; ++i) {
            good = add_entry(set, scene, world, kind, i);
        }
    }
    return good;
}

// Where a marker is nearest to nothing, all on its thing share alike.
static void share_alike(MarkerSet* set, int first) {
    double sum = 0.0;
    int sharing = 0;
    bool none = false;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = first; i < set->count; ++i) {
            Marker* m = &set->items[i];
            bool same = m->kind == set->items[first].kind && m->index == set->items[first].index;
            if (same && pass == 0) {
                sum += m->mass;
                none = none || m->mass == 0.0;
                ++sharing;
            } else if (same && none) {
                m->mass = sum / sharing;
            }
        }
    }
}

void markers_weigh(MarkerSet* set, const TdlWorld* world) {
    for (int i = 0; i < set->count; ++i) {
        set->items[i].mass = 0.0;
    }
    for (int i = 0; i < set->count; ++i) {
        bool first = true;
        for (int k = 0; k < i && first; ++k) {
            first = set->items[k].kind != set->items[i].kind ||
                    set->items[k].index != set->items[i].index;
        }
        if (first) {
            set->items[i].kind->weigh(set, world, i);
            share_alike(set, i);
        }
    }
}

void markers_locate(MarkerSet* set, const TdlWorld* world, TdlVec3* out) {
    int cloth = -1; // whose vertices are there
    for (int i = 0; i < set->count; ++i) {
        const Marker* m = &set->items[i];
        if (m->kind == &KINDS[KIND_CLOTH] && m->index != cloth) {
            cloth = m->index;
            tdl_cloth_state(world, tdl_world_body(world, "cloth", cloth), set->vertices, NULL);
        }
        out[i] = m->kind->locate(m, world, set);
    }
}

void markers_free(MarkerSet* set) {
    free(set->items);
    free(set->vertices);
    *set = (MarkerSet){0};
}
