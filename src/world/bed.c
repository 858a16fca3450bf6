// Which nodes of a bed meet which bodies.
#include "world/bed.h"

#include "detect/near_point.h"
#include "math/rotation.h"

#include <math.h>

// Bodies that one node meets at most: where three walls make a corner, and something lies in it.
enum { NODE_MEETS = 4 };

// Nodes of a block of work.
enum { GRAIN = 64 };

// Nodes nearer than this part of their distance to a body may come to it whatever their velocity
// without impulses is: pressure moves them.
static const double NEAR_BY = 0.25;

// Between a node that a body holds and one that it does not velocities are in between: nodes are
// held from nearly half of their distance on, so that in the mean the surface is where it is. A
// surface half way between two nodes holds the one behind it.
static const double SEEN_FROM = 0.499;

// Points of a bed are kept off bodies by this part of the nodes' distance: enough for rounding.
static const double KEPT_OFF = 1.0e-6;

// A body beside a bed.
typedef struct Beside {
    Body* body;
    PointSeer* seer;
    TdlVec3 low, high; // m, about it
    double speed;      // m/s, how fast it may come
} Beside;

typedef struct Search {
    TdlWorld* world;
    const BodyStrain* strain;
    const double* v; // of the bed's coordinates
    double dt;
    Beside* beside;
    int beside_count;
    BedContact* met; // [node_count NODE_MEETS]
    int* met_count;  // [node_count]
    Body* bed;
    BodyLattice lattice;
    const BodyStep* step;
} Search;

Body* bed_body(const TdlWorld* world) {
    for (int i = 0; i < world->body_count; ++i) {
        if (world->body[i]->kind->strain != NULL) {
            return world->body[i];
        }
    }
    return NULL;
}

static void forget_beside(Search* s) {
    for (int i = 0; i < s->beside_count; ++i) {
        point_seer_destroy(s->beside[i].seer);
    }
    s->beside_count = 0;
}

static bool has_shape(const Body* body) {
    return body->kind->shape != NULL && body->kind->strain == NULL;
}

static TdlStatus see_body(Search* s, Body* body) {
    Beside* beside = &s->beside[s->beside_count];
    TdlStatus status = point_seer_create(&s->world->host, body, &beside->seer);
    if (status != TDL_STATUS_OK || beside->seer == NULL) {
        return status;
    }
    ++s->beside_count;
    beside->body = body;
    beside->speed = body->kind->speed == NULL ? 0.0 : body->kind->speed(body);
    point_seer_box(beside->seer, &beside->low, &beside->high);
    return TDL_STATUS_OK;
}

static TdlStatus see_bodies(Search* s, Arena* arena) {
    s->beside = ARENA_NEW(arena, Beside, s->world->body_count + 1);
    if (s->beside == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < s->world->body_count && status == TDL_STATUS_OK; ++i) {
        Body* body = s->world->body[i];
        status = has_shape(body) ? see_body(s, body) : TDL_STATUS_OK;
    }
    return status;
}

static bool is_within(const Beside* beside, TdlVec3 point, double reach) {
    const double *low = &beside->low.x, *high = &beside->high.x, *p = &point.x;
    for (int k = 0; k < 3; ++k) {
        if (p[k] < low[k] - reach || p[k] > high[k] + reach) {
            return false;
        }
    }
    return true;
}

// Whether a node meets a body in a step: it is in it, or may come to it.
static bool meets(const Search* s, const Beside* beside, int node, BedContact* out) {
    TdlVec3 place = s->strain->place[node];
    TdlVec3 v = tdl_load3(s->v + s->strain->coordinate[node], 0);
    double fast = s->dt * (tdl_norm3(v) + beside->speed);
    double spacing = s->strain->spacing, most = fast + NEAR_BY * spacing;
    double reach = most + SEEN_FROM * spacing;
    NearPoint near;
    if (!is_within(beside, place, reach) || !point_seer_find(beside->seer, place, reach, &near)) {
        return false;
    }
    double gap = near.gap - SEEN_FROM * spacing;
    if (gap > most) {
        return false;
    }
    *out = (BedContact){.node = node,
                        .other = beside->body,
                        .place = near.place,
                        .gap = gap,
                        .basis = tdl_frame_from_tangent(near.normal)};
    return true;
}

// Rounds over the bodies that a node meets: two across each other take one.
enum { SHARE_ROUNDS = 8 };

// Lays an impulse on the contacts' normals, as far as they bear it; what is left is across.
static TdlVec3 share_normals(BedContact* own, int count, TdlVec3 rest) {
    for (int turn = 0; turn < SHARE_ROUNDS; ++turn) {
        for (int k = 0; k < count; ++k) {
            TdlVec3 n = own[k].basis.cx;
            double had = tdl_dot3(own[k].guess, n);
            double more = fmax(tdl_dot3(rest, n), -had);
            own[k].guess = tdl_axpy3(own[k].guess, more, n);
            rest = tdl_axpy3(rest, -more, n);
        }
    }
    return rest;
}

// The part of what is left that a contact can bear by friction.
static TdlVec3 bearable(const Search* s, const BedContact* x, TdlVec3 rest) {
    double mu = contact_law(s->world, s->bed, x->other).mu;
    TdlVec3 n = x->basis.cx, across = tdl_axpy3(rest, -tdl_dot3(rest, n), n);
    double size = tdl_norm3(across), most = isinf(mu) ? size : mu * tdl_dot3(x->guess, n);
    return tdl_scale3(size > most ? most / size : 1.0, across);
}

// What a node bore in the last step. Where it meets several bodies and is at rest the law does not
// say what each of them bears: where walls make a corner each has what is along its normal, as if
// it were a part of it and not a point, and friction only what is left.
static void guess_impulses(const Search* s, int node, int count) {
    TdlVec3 rest = tdl_scale3(-1.0, tdl_load3(s->strain->reaction, node));
    BedContact* own = &s->met[NODE_MEETS * (size_t)node];
    rest = share_normals(own, count, rest);
    for (int k = 0; k < count; ++k) {
        TdlVec3 part = bearable(s, &own[k], rest);
        own[k].guess = tdl_add3(own[k].guess, part);
        rest = tdl_sub3(rest, part);
    }
}

static void find_node(void* user, int node, int worker) {
    (void)worker;
    const Search* s = user;
    int count = 0;
    for (int i = 0; i < s->beside_count && count < NODE_MEETS; ++i) {
        count += meets(s, &s->beside[i], node, &s->met[NODE_MEETS * (size_t)node + (size_t)count]);
    }
    s->met_count[node] = count;
    guess_impulses(s, node, count);
}

static TdlStatus find_contacts(Search* s, Arena* arena, Bed* out) {
    int nodes = s->strain->node_count, count = 0;
    s->met = ARENA_NEW(arena, BedContact, (size_t)nodes * NODE_MEETS + 1);
    s->met_count = ARENA_NEW(arena, int, nodes + 1);
    if (s->met == NULL || s->met_count == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    pool_run(s->world->pool, nodes, GRAIN, find_node, s);
    for (int i = 0; i < nodes; ++i) {
        for (int k = 0; k < s->met_count[i]; ++k) {
            s->met[count] = s->met[NODE_MEETS * (size_t)i + (size_t)k];
            s->strain->met[i] = s->strain->met[i] || s->met[count].gap <= 0.0;
            ++count;
        }
    }
    out->at = s->met;
    out->count = count;
    return TDL_STATUS_OK;
}

TdlStatus bed_find(TdlWorld* world, double dt, Arena* arena, Bed* out) {
    *out = (Bed){.body = bed_body(world)};
    if (out->body == NULL) {
        return TDL_STATUS_OK;
    }
    out->strain = out->body->kind->strain(out->body);
    if (out->strain == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    Search search = {
        .world = world, .bed = out->body, .strain = out->strain, .v = out->body->v_free, .dt = dt};
    TdlStatus status = see_bodies(&search, arena);
    status = status == TDL_STATUS_OK ? find_contacts(&search, arena, out) : status;
    forget_beside(&search);
    return status;
}

// --- beside the contacts of a step ---------------------------------------------------------------

// Sees the bodies beside a bed, has something done with them, and forgets them.
static TdlStatus with_bodies(TdlWorld* world, const BodyStep* step, void (*act)(Search* s)) {
    Search search = {.world = world, .bed = bed_body(world), .step = step};
    if (search.bed == NULL || world->contacts == NULL) {
        return TDL_STATUS_OK;
    }
    Arena arena;
    arena_init(&arena, &world->host.mem);
    search.lattice = search.bed->kind->lattice(search.bed);
    TdlStatus status = see_bodies(&search, &arena);
    if (status == TDL_STATUS_OK) {
        act(&search);
    }
    forget_beside(&search);
    arena_destroy(&arena);
    return status;
}

// What a surface leaves of a place on the side along the axis that its normal is nearest to. Exact
// for planes across the axes; of others it has the mean and the variance of such a plane, and is
// off by 0.02 at most.
static void clear_side(const BodyLattice* x, const NearPoint* near, double clear[LATTICE_SIDES]) {
    const double* n = &near->normal.x;
    int a = fabs(n[1]) > fabs(n[0]) ? 1 : 0;
    a = fabs(n[2]) > fabs(n[a]) ? 2 : a;
    double* side = &clear[2 * a + (n[a] > 0.0)];
    *side = fmin(*side, lattice_share(x->falling, near->gap / x->spacing));
}

static void confine_place(const Search* s, const int at[3]) {
    const BodyLattice* x = &s->lattice;
    TdlVec3 step = {at[0], at[1], at[2]}, place = tdl_axpy3(x->first, x->spacing, step);
    double clear[LATTICE_SIDES];
    lattice_clear(x, at, clear);
    for (int i = 0; i < s->beside_count; ++i) {
        NearPoint near;
        if (is_within(&s->beside[i], place, x->spacing) &&
            point_seer_find(s->beside[i].seer, place, x->spacing, &near)) {
            clear_side(x, &near, clear);
        }
    }
    x->open[at[0] * x->step[0] + at[1] * x->step[1] + at[2] * x->step[2]] = lattice_open(clear);
}

// One layer of places across the third axis.
static void confine_layer(void* user, int layer, int worker) {
    (void)worker;
    const Search* s = user;
    for (int j = 0; j < s->lattice.count[1]; ++j) {
        for (int i = 0; i < s->lattice.count[0]; ++i) {
            confine_place(s, (int[3]){i, j, layer});
        }
    }
}

static void put_out(void* user, TdlVec3* point) {
    const Search* s = user;
    double keep = KEPT_OFF * s->lattice.spacing;
    for (int i = 0; i < s->beside_count; ++i) {
        if (is_within(&s->beside[i], *point, keep)) {
            point_seer_push(s->beside[i].seer, keep, point);
        }
    }
}

static void confine(Search* s) {
    pool_run(s->world->pool, s->lattice.count[2], 1, confine_layer, s);
    s->bed->kind->move_points(s->bed, NULL, put_out, s);
}

TdlStatus bed_confine(TdlWorld* world) {
    return with_bodies(world, NULL, confine);
}

static void put_all_out(Search* s) {
    s->bed->kind->move_points(s->bed, s->step, put_out, s);
}

TdlStatus bed_part(TdlWorld* world, const BodyStep* step) {
    return with_bodies(world, step, put_all_out);
}
