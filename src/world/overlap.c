// Bodies that overlap as they are: what detection found, and what it does not look for since it
// judges steps and not placements: things inside closed surfaces, and curves through triangles.
// docs/theory/world.md, section 6
#include "detect/inside.h"
#include "detect/sheet.h"
#include "detect/sheet_crossings.h"
#include "world/contact_data.h"

#include "base/log.h"
#include "curve/curve.h"

#include <stdlib.h>
#include <string.h>

// Overlaps below this share of the thinner radius are rounding.
static const double ROUNDING = 1.0e-6;

// Chords that stand for a curve.
enum { CHORDS = 8 };

typedef struct OverlapList {
    const TdlAllocator* mem;
    TdlOverlap* at;
    int count, capacity;
    bool failed; // memory ran out
    const ClearanceList* clearances;
} OverlapList;

static int compare_ids(const TdlOverlap* a, const TdlOverlap* b) {
    for (int k = 0; k < 2; ++k) {
        if (a->body[k].index != b->body[k].index) {
            return a->body[k].index < b->body[k].index ? -1 : 1;
        }
    }
    return 0;
}

static int compare_pairs(const void* a, const void* b) {
    const TdlOverlap *x = a, *y = b;
    int bodies = compare_ids(x, y);
    return bodies != 0 ? bodies : (x->depth < y->depth) - (x->depth > y->depth);
}

static int compare_depths(const void* a, const void* b) {
    const TdlOverlap *x = a, *y = b;
    int depths = (x->depth < y->depth) - (x->depth > y->depth);
    return depths != 0 ? depths : compare_ids(x, y);
}

static void add(OverlapList* list, const TdlOverlap* overlap) {
    if (list->failed ||
        !tdl_reserve(list->mem, &list->at, &list->capacity, list->count + 1, sizeof *list->at)) {
        list->failed = true;
        return;
    }
    list->at[list->count++] = *overlap;
}

// --- what detection found ---------------------------------------------------------------------

static void add_candidates(const Contacts* c, OverlapList* list) {
    for (int i = 0; i < c->found.count; ++i) {
        const Candidate* x = &c->found.at[i];
        const TdlContact* contact = &x->site.contact;
        if (x->jointed || x->passed_on || !(contact->gap < -ROUNDING * x->radius)) {
            continue;
        }
        BodyPlace a = seen_place(&c->seen, contact, 0), b = seen_place(&c->seen, contact, 1);
        TdlOverlap overlap = {
            .body = {seen_body(&c->seen, contact, 0)->id, seen_body(&c->seen, contact, 1)->id},
            .element = {a.element, b.element},
            .point = seen_touch(&c->seen, contact),
            .depth = -contact->gap};
        add(list, &overlap);
    }
}

// --- what is inside, or passes through ----------------------------------------------------------

// A straight piece of a body, or a point of it.
typedef struct Probe {
    const Body* body;
    int element;
    double radius;
    TdlVec3 from, to;
    bool last; // its end counts, too
} Probe;

static void probe_part(const Probe* probe, const SurfaceBody* other, const Body* owner,
                       OverlapList* list) {
    const Surface* surface = other->surface;
    TdlPose back = pose_inverse(other->pose);
    TdlVec3 ends[2] = {pose_point(back, probe->from), pose_point(back, probe->to)};
    double radii = probe->radius + surface->radius;
    TdlOverlap overlap = {.body = {probe->body->id, owner->id}, .element = {probe->element, 0}};
    for (int k = 0; k < 1 + probe->last; ++k) {
        if (surface_encloses(surface, ends[k])) {
            overlap.depth = surface_distance(surface, ends[k]) + radii;
            overlap.point = k == 0 ? probe->from : probe->to;
            overlap.through = true;
            add(list, &overlap);
        }
    }
    TdlVec3 where;
    int triangle = surface_pierced(surface, ends[0], ends[1], &where);
    if (triangle >= 0) {
        overlap.element[1] = surface->from != NULL ? triangle : 0;
        overlap.depth = radii;
        overlap.point = pose_point(other->pose, where);
        overlap.through = true;
        add(list, &overlap);
    }
}

// But where the two are kept clear of each other.
static void probe_surface(const Probe* probe, const SurfaceBody* other, const Body* owner,
                          OverlapList* list) {
    ClearBall ball[CLEAR_BALLS];
    double part[CLEAR_BALLS + 1][2];
    int balls = clearance_balls(list->clearances, probe->body, owner, ball);
    int count = clearance_outside(ball, balls, probe->from, probe->to, part);
    for (int k = 0; k < count; ++k) {
        Probe own = *probe;
        TdlVec3 way = tdl_sub3(probe->to, probe->from);
        own.from = part[k][0] > 0.0 ? tdl_axpy3(probe->from, part[k][0], way) : probe->from;
        own.to = part[k][1] < 1.0 ? tdl_axpy3(probe->from, part[k][1], way) : probe->to;
        probe_part(&own, other, owner, list);
    }
}

static bool is_near(const SurfaceBody* other, TdlVec3 centre, double size) {
    return tdl_norm3(tdl_sub3(centre, other->centre)) <= other->ball + size;
}

static void probe_curves(const Seen* s, int fibre, const SurfaceBody* other, const Body* owner,
                         OverlapList* list) {
    const TdlFibre* f = &s->fibre[fibre];
    Probe probe = {.body = s->fibre_body[fibre]};
    for (int i = 0; i < f->count; ++i) {
        const TdlCurve* curve = &s->curve[s->first[fibre] + i];
        if (!is_near(other, curve->origin, curve_size(curve))) {
            continue;
        }
        int chords = curve->end > 0.0 ? CHORDS : 1;
        probe.element = i / s->shape[fibre].pieces;
        probe.radius = curve->radius[0];
        for (int k = 0; k < chords; ++k) {
            probe.from = tdl_curve_point(curve, k * curve->end / chords);
            probe.to = tdl_curve_point(curve, (k + 1) * curve->end / chords);
            probe.last = i + 1 == f->count && k + 1 == chords && curve->end > 0.0;
            probe_surface(&probe, other, owner, list);
        }
    }
}

// The corners and edges of a surface against another.
static void probe_edges(const SurfaceBody* own, const Body* body, const SurfaceBody* other,
                        const Body* owner, OverlapList* list) {
    const Surface* surface = own->surface;
    Probe probe = {.body = body, .radius = surface->radius, .last = true};
    for (int i = 0; i < surface->edge_count && is_near(other, own->centre, own->ball); ++i) {
        probe.from = pose_point(own->pose, surface->vertex[surface->edge[i].vertex[0]]);
        probe.to = pose_point(own->pose, surface->vertex[surface->edge[i].vertex[1]]);
        probe_surface(&probe, other, owner, list);
    }
}

// Balls and capsules that are placed: their middles may be inside, where they touch nothing.
static void probe_obstacle(const TdlColliderDef* o, const Body* body, const SurfaceBody* other,
                           const Body* owner, OverlapList* list) {
    bool capsule = o->shape == TDL_SHAPE_CAPSULE;
    if (!capsule && o->shape != TDL_SHAPE_SPHERE) {
        return;
    }
    TdlVec3 to = tdl_axpy3(o->pose.position, capsule ? o->length : 0.0, o->pose.rotation.cx);
    Probe probe = {
        .body = body, .radius = o->radius, .from = o->pose.position, .to = to, .last = capsule};
    probe_surface(&probe, other, owner, list);
}

static void probe_all(const Seen* s, int surface, OverlapList* list) {
    const SurfaceBody* other = &s->surface[surface];
    const Body* owner = s->surface_body[surface];
    bool moves = other->body >= 0;
    for (int i = 0; i < (moves ? s->fibre_count : s->moving_count); ++i) {
        if (s->fibre_body[i]->system != owner->system) {
            probe_curves(s, i, other, owner, list);
        }
    }
    for (int i = 0; i < s->surface_count; ++i) {
        bool pair = moves || s->surface[i].body >= 0;
        bool sheet = surface_is_sheet(other) || surface_is_sheet(&s->surface[i]);
        if (pair && !sheet && s->surface_body[i]->system != owner->system) {
            probe_edges(&s->surface[i], s->surface_body[i], other, owner, list);
        }
    }
    for (int i = 0; i < s->obstacle_count && moves; ++i) {
        probe_obstacle(&s->obstacle[i], s->obstacle_body[i], other, owner, list);
    }
}

// --- what is inside an implicit surface
// -----------------------------------------------------------

static void probe_inside(const TdlColliderDef* o, const Body* owner, const Body* body, int element,
                         TdlVec3 point, double radius, OverlapList* list) {
    TdlVec3 x = pose_point(pose_inverse(o->pose), point), low = o->implicit.low,
            high = o->implicit.high;
    TdlImplicitPoint h;
    o->implicit.at(o->implicit.data, x, &h);
    if (!(h.value < 0.0) || x.x < low.x || x.y < low.y || x.z < low.z || x.x > high.x ||
        x.y > high.y || x.z > high.z) {
        return;
    }
    if (clearance_covers(list->clearances, owner, body, &point, 1, 1.0)) {
        return;
    }
    double steep = tdl_norm3(h.gradient);
    TdlOverlap overlap = {.body = {body->id, owner->id},
                          .element = {element, 0},
                          .depth = radius + (steep > 0.0 ? -h.value / steep : 0.0),
                          .point = point,
                          .through = true};
    add(list, &overlap);
}

static void probe_implicit(const Seen* s, int obstacle, OverlapList* list) {
    const TdlColliderDef* o = &s->obstacle[obstacle];
    const Body* owner = s->obstacle_body[obstacle];
    for (int i = 0; i < s->moving_count; ++i) {
        for (int k = 0; k < s->fibre[i].count; ++k) {
            const TdlCurve* curve = &s->curve[s->first[i] + k];
            for (int n = 0; n <= CHORDS; ++n) {
                double at = n * curve->end / CHORDS;
                probe_inside(o, owner, s->fibre_body[i], k / s->shape[i].pieces,
                             tdl_curve_point(curve, at), tdl_curve_radius(curve, at), list);
            }
        }
    }
    for (int i = 0; i < s->surface_count; ++i) {
        const SurfaceBody* own = &s->surface[i];
        for (int v = 0; own->body >= 0 && v < own->surface->vertex_count; ++v) {
            int triangle = own->surface->from != NULL ? own->surface->vertex_triangle[v] : 0;
            probe_inside(o, owner, s->surface_body[i], triangle > 0 ? triangle : 0,
                         pose_point(own->pose, own->surface->vertex[v]), own->surface->radius,
                         list);
        }
    }
}

// A sheet and a surface, or itself, of which an edge of either goes through a face of the other:
// the faces are told.
static void probe_sheet(const Seen* s, int sheet, int surface, OverlapList* list) {
    const SurfaceBody* side[2] = {&s->surface[sheet], &s->surface[surface]};
    SheetCrossing found;
    bool turned = false, met = sheet_goes_through(side[0], side[1], &found);
    if (!met && sheet != surface) {
        met = turned = sheet_goes_through(side[1], side[0], &found);
    }
    double depth = side[0]->surface->radius + side[1]->surface->radius;
    if (!met && sheet != surface) { // else all of it is inside, or nothing
        found = (SheetCrossing){.point = pose_point(side[0]->pose, side[0]->surface->vertex[0])};
        TdlVec3 there = pose_point(pose_inverse(side[1]->pose), found.point);
        met = surface_encloses(side[1]->surface, there);
        depth += met ? surface_distance(side[1]->surface, there) : 0.0;
    }
    if (met) {
        TdlOverlap overlap = {.body = {s->surface_body[sheet]->id, s->surface_body[surface]->id},
                              .element = {found.triangle[turned], found.triangle[!turned]},
                              .point = found.point,
                              .depth = depth,
                              .through = true};
        add(list, &overlap);
    }
}

// Of two sheets the first asks; a sheet asks itself where it may touch itself.
static void probe_sheets(const Seen* s, int sheet, OverlapList* list) {
    for (int k = 0; k < s->surface_count && surface_is_sheet(&s->surface[sheet]); ++k) {
        bool once = surface_is_sheet(&s->surface[k]) ? k > sheet : k != sheet;
        if (once || (k == sheet && s->surface[k].self)) {
            probe_sheet(s, sheet, k, list);
        }
    }
}

// --- all ----------------------------------------------------------------------------------------

// One for each pair of bodies, the deepest; the deepest pair first.
static void sort_out(OverlapList* list) {
    int kept = 0;
    for (int i = 0; i < list->count; ++i) {
        TdlOverlap* x = &list->at[i];
        if (x->body[0].index > x->body[1].index) {
            TdlBodyId id = x->body[0];
            int element = x->element[0];
            x->body[0] = x->body[1];
            x->body[1] = id;
            x->element[0] = x->element[1];
            x->element[1] = element;
        }
    }
    if (list->count > 0) {
        qsort(list->at, (size_t)list->count, sizeof *list->at, compare_pairs);
    }
    for (int i = 0; i < list->count; ++i) {
        if (kept > 0 && compare_ids(&list->at[kept - 1], &list->at[i]) == 0) {
            list->at[kept - 1].through = list->at[kept - 1].through || list->at[i].through;
        } else {
            list->at[kept++] = list->at[i];
        }
    }
    list->count = kept;
    if (kept > 0) {
        qsort(list->at, (size_t)kept, sizeof *list->at, compare_depths);
    }
}

TdlStatus tdl_world_overlaps(TdlWorld* world, int capacity, TdlOverlap* out, int* count) {
    Contacts* c = world->contacts;
    *count = 0;
    if (c == NULL) {
        return TDL_STATUS_OK;
    }
    if (!contacts_ready(c)) {
        ContactsFound found;
        TdlStatus status = contacts_find(world, 0.0, world->def.step, &found);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    clearance_sort(&world->clearances);
    OverlapList list = {.mem = &world->host.mem, .clearances = &world->clearances};
    add_candidates(c, &list);
    for (int i = 0; i < c->seen.surface_count && c->seen.moving_count > 0; ++i) {
        probe_all(&c->seen, i, &list);
        probe_sheets(&c->seen, i, &list);
    }
    for (int i = 0; i < c->seen.obstacle_count; ++i) {
        if (c->seen.obstacle[i].shape == TDL_SHAPE_IMPLICIT) {
            probe_implicit(&c->seen, i, &list);
        }
    }
    sort_out(&list);
    if (!list.failed) {
        *count = list.count;
        for (int i = 0; i < list.count && i < capacity; ++i) {
            out[i] = list.at[i];
        }
        c->told = true;
    }
    TdlStatus status = list.failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
    tdl_free(&world->host.mem, list.at);
    return status;
}

void tdl_overlap_text(const TdlWorld* world, const TdlOverlap* overlap,
                      char out[TDL_OVERLAP_TEXT_SIZE]) {
    char a[TDL_BODY_NAME_SIZE], b[TDL_BODY_NAME_SIZE];
    tdl_body_name(world, overlap->body[0], a);
    tdl_body_name(world, overlap->body[1], b);
    bool self = overlap->body[0].index == overlap->body[1].index;
    TdlVec3 p = overlap->point;
    snprintf(out, TDL_OVERLAP_TEXT_SIZE,
             "%s%s%s, by %.3g m at (%.4g, %.4g, %.4g), elements %d and %d%s", a,
             self ? " and itself" : " and ", self ? "" : b, overlap->depth, p.x, p.y, p.z,
             overlap->element[0], overlap->element[1],
             overlap->through ? "; they part only through a surface" : "");
}

// Tells of them where nobody has asked.
static void tell(const TdlWorld* world, const TdlOverlap* worst, int count) {
    char name[2][TDL_BODY_NAME_SIZE];
    for (int k = 0; k < 2; ++k) {
        tdl_body_name(world, worst->body[k], name[k]);
    }
    tdl_log(&world->host, TDL_LOG_WARNING,
            "bodies overlap at %.6g s, before the step, %d pairs of them: the deepest, %s and %s, "
            "by %.3g m",
            tdl_world_time(world), count, name[0], name[1], worst->depth);
}

// Of a response that has its own idea of how bodies may be placed.
static TdlStatus look_for_response(TdlWorld* world) {
    const Contacts* c = world->contacts;
    if (contacts_ready(c) && world->step_count > 0) {
        return TDL_STATUS_OK;
    }
    TdlOverlap worst;
    int count;
    TdlStatus status = tdl_world_overlaps(world, 1, &worst, &count);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    return c->response->look_at_start(c->responder, world, count > 0 ? &worst : NULL);
}

TdlStatus tdl_world_check_start(TdlWorld* world) {
    const Contacts* c = world->contacts;
    bool asks = c != NULL && c->response->look_at_start != NULL;
    return asks ? look_for_response(world) : TDL_STATUS_OK;
}

TdlStatus contacts_look_at_start(TdlWorld* world, double* energy) {
    Contacts* c = world->contacts;
    *energy = 0.0;
    if (c->response->look_at_start != NULL) {
        return look_for_response(world);
    }
    bool part = world->def.contacts.start == TDL_START_SEPARATE && world->step_count == 0;
    bool refuse = world->def.contacts.start == TDL_START_REFUSE && world->step_count == 0;
    if (contacts_ready(c) && !refuse && !part) {
        return TDL_STATUS_OK;
    }
    bool told = c->told && contacts_ready(c);
    TdlStatus parted = part ? contacts_part_placed(world, energy) : TDL_STATUS_OK;
    if (parted != TDL_STATUS_OK) {
        return parted;
    }
    TdlOverlap worst;
    int count;
    TdlStatus status = tdl_world_overlaps(world, 1, &worst, &count);
    if (status != TDL_STATUS_OK || count == 0) {
        return status;
    }
    if (!told) {
        tell(world, &worst, count);
    }
    return refuse ? TDL_STATUS_BAD_INPUT : TDL_STATUS_OK;
}
