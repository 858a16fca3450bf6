// Bodies placed inside closed surfaces, or through triangles, which no contact parts: before the
// first step they are put beside each other, at rest as they are. docs/theory/world.md, section 6
#include "base/log.h"
#include "curve/curve.h"
#include "world/contact_data.h"

// After so many turns, each of which moves every body once at most, what is still inside is
// refused.
enum { TURNS_MOST = 16 };

// Directions that a surface is asked for, at most; points of a curve that stand for it.
enum { DIRECTIONS_MOST = 128, CURVE_POINTS = 9 };

// Bodies are put so many of the thinner radii apart.
static const double BESIDE = 1.0e-3;

// How far a body reaches along a direction.
typedef struct Extent {
    double low, high;
} Extent;

static void reach(Extent* e, TdlVec3 n, TdlVec3 point, double radius) {
    double along = tdl_dot3(n, point);
    e->low = fmin(e->low, along - radius);
    e->high = fmax(e->high, along + radius);
}

static void reach_curve(Extent* e, TdlVec3 n, const TdlCurve* curve) {
    // between two points a curve bends away by less than k h^2 / 8
    double h = curve->end / (CURVE_POINTS - 1), more = curve_bend(curve, 0.0, curve->end) * h * h;
    for (int k = 0; k < CURVE_POINTS; ++k) {
        double s = k * h;
        reach(e, n, tdl_curve_point(curve, s), tdl_curve_radius(curve, s) + 0.125 * more);
    }
}

static void reach_obstacle(Extent* e, TdlVec3 n, const TdlColliderDef* o) {
    double length = o->shape == TDL_SHAPE_CAPSULE ? o->length : 0.0;
    if (o->shape == TDL_SHAPE_SPHERE || o->shape == TDL_SHAPE_CAPSULE) {
        reach(e, n, o->pose.position, o->radius);
        reach(e, n, tdl_axpy3(o->pose.position, length, o->pose.rotation.cx), o->radius);
    }
}

static Extent extent(const Seen* s, const Body* body, TdlVec3 n) {
    Extent e = {INFINITY, -INFINITY};
    for (int i = 0; i < s->fibre_count; ++i) {
        for (int k = 0; k < s->fibre[i].count && s->fibre_body[i] == body; ++k) {
            reach_curve(&e, n, &s->curve[s->first[i] + k]);
        }
    }
    for (int i = 0; i < s->surface_count; ++i) {
        const SurfaceBody* own = &s->surface[i];
        for (int k = 0; k < own->surface->vertex_count && s->surface_body[i] == body; ++k) {
            reach(&e, n, pose_point(own->pose, own->surface->vertex[k]), own->surface->radius);
        }
    }
    for (int i = 0; i < s->obstacle_count; ++i) {
        if (s->obstacle_body[i] == body) {
            reach_obstacle(&e, n, &s->obstacle[i]);
        }
    }
    return e;
}

// The shortest way, so far, that takes `mover` beyond all of `other`, along the normals of a
// surface of one of them.
static void try_surface(const Seen* s, const SurfaceBody* surface, const Body* mover,
                        const Body* other, TdlVec3* best) {
    int count = surface->surface->triangle_count, stride = count / DIRECTIONS_MOST + 1;
    for (int k = 0; k < 2 * count; k += k % 2 == 0 ? 1 : 2 * stride - 1) {
        TdlVec3 n = tdl_mul33_3(surface->pose.rotation, surface->surface->normal[k / 2]);
        n = tdl_scale3(k % 2 == 0 ? 1.0 : -1.0, n);
        double way = extent(s, other, n).high - extent(s, mover, n).low;
        if (isfinite(way) && way < tdl_norm3(*best)) {
            *best = tdl_scale3(way, n);
        }
    }
}

static TdlVec3 shortest_way(const Seen* s, const Body* mover, const Body* other) {
    TdlVec3 best = {INFINITY, 0.0, 0.0};
    for (int i = 0; i < s->surface_count; ++i) {
        if (s->surface_body[i] == mover || s->surface_body[i] == other) {
            try_surface(s, &s->surface[i], mover, other, &best);
        }
    }
    return best;
}

static bool can_move(Body* body) {
    return body->kind->shift != NULL && body->kind->shift(body, (TdlVec3){0});
}

// The lighter of those that can be moved; null when none can.
static Body* choose_mover(Body* const pair[2]) {
    bool can[2] = {can_move(pair[0]), can_move(pair[1])};
    if (can[0] && can[1]) {
        return pair[0]->mass <= pair[1]->mass ? pair[0] : pair[1];
    }
    return can[0] ? pair[0] : can[1] ? pair[1] : NULL;
}

// What is frameless without curves is a sheet.
static bool is_stiff(const Seen* s, const TdlContact* x, int side) {
    int body = x->body[side];
    bool surface = seen_curve(s, x, side) == NULL && !(body >= 0 && s->shape[body].frameless);
    return surface || (body >= 0 && s->fibre[body].stiff && !s->shape[body].frameless);
}

// Whether contacts hold two bodies that do not bend where they overlap, and will part them.
static bool contacts_part(const Contacts* c, const TdlOverlap* overlap) {
    for (int i = 0; i < c->found.count; ++i) {
        const Candidate* x = &c->found.at[i];
        const TdlContact* contact = &x->site.contact;
        TdlBodyId a = seen_body(&c->seen, contact, 0)->id, b = seen_body(&c->seen, contact, 1)->id;
        bool same =
            (tdl_body_id_equal(a, overlap->body[0]) && tdl_body_id_equal(b, overlap->body[1])) ||
            (tdl_body_id_equal(a, overlap->body[1]) && tdl_body_id_equal(b, overlap->body[0]));
        if (same && contact->gap < 0.0 && is_stiff(&c->seen, contact, 0) &&
            is_stiff(&c->seen, contact, 1)) {
            return true;
        }
    }
    return false;
}

static bool part_pair(TdlWorld* world, const TdlOverlap* overlap) {
    const Seen* s = &world->contacts->seen;
    Body* pair[2] = {world_find_body(world, overlap->body[0], NULL),
                     world_find_body(world, overlap->body[1], NULL)};
    Body* mover = choose_mover(pair);
    if (mover == NULL || pair[0] == pair[1]) {
        return false; // what goes through itself is not parted by moving it
    }
    TdlVec3 way = shortest_way(s, mover, mover == pair[0] ? pair[1] : pair[0]);
    double length = tdl_norm3(way);
    if (!isfinite(length) || !(length > 0.0)) {
        return false;
    }
    way = tdl_scale3(1.0 + BESIDE * s->thinnest / length, way);
    mover->kind->shift(mover, way);
    world_count_energy(world, mover);
    char text[TDL_OVERLAP_TEXT_SIZE], name[TDL_BODY_NAME_SIZE];
    tdl_overlap_text(world, overlap, text);
    world_name_body(mover, name);
    tdl_log(&world->host, TDL_LOG_WARNING,
            "placed in each other: %s; %s is put (%.4g, %.4g, %.4g) m beside", text, name, way.x,
            way.y, way.z);
    return true;
}

static TdlStatus refuse(const TdlWorld* world, const TdlOverlap* overlap) {
    char text[TDL_OVERLAP_TEXT_SIZE];
    tdl_overlap_text(world, overlap, text);
    return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT,
                    "placed in each other: %s, and cannot be put beside each other (contacts: "
                    "{start: keep} leaves them so)",
                    text);
}

static double total(TdlEnergy e) {
    return e.kinetic + e.elastic + e.gravity;
}

// Of overlaps, the first that detection does not part is parted, and the others of which no body
// was moved yet. `moved` receives whether there was one.
static TdlStatus part_some(TdlWorld* world, const TdlOverlap* all, int count, bool last,
                           bool* moved) {
    *moved = false;
    for (int i = 0; i < count; ++i) {
        bool again = false;
        for (int k = 0; k < i && !again; ++k) {
            again = all[k].through && (tdl_body_id_equal(all[k].body[0], all[i].body[0]) ||
                                       tdl_body_id_equal(all[k].body[0], all[i].body[1]) ||
                                       tdl_body_id_equal(all[k].body[1], all[i].body[0]) ||
                                       tdl_body_id_equal(all[k].body[1], all[i].body[1]));
        }
        if (!all[i].through || again || contacts_part(world->contacts, &all[i])) {
            continue;
        }
        if (last || !part_pair(world, &all[i])) {
            return refuse(world, &all[i]);
        }
        *moved = true;
    }
    return TDL_STATUS_OK;
}

TdlStatus contacts_part_placed(TdlWorld* world, double* energy) {
    double before = total(tdl_world_energy(world));
    bool moved = true;
    TdlStatus status = TDL_STATUS_OK;
    for (int turn = 0; turn <= TURNS_MOST && moved && status == TDL_STATUS_OK; ++turn) {
        int count = 0, again;
        status = tdl_world_overlaps(world, 0, NULL, &count);
        if (status != TDL_STATUS_OK || count == 0) {
            break;
        }
        TdlOverlap* all = tdl_alloc_array(&world->host.mem, (size_t)count, sizeof *all);
        status = all == NULL ? TDL_STATUS_NO_MEMORY : tdl_world_overlaps(world, count, all, &again);
        if (status == TDL_STATUS_OK) {
            status = part_some(world, all, count, turn == TURNS_MOST, &moved);
        }
        tdl_free(&world->host.mem, all);
        if (moved) {
            contacts_forget(world->contacts);
        }
    }
    *energy = total(tdl_world_energy(world)) - before;
    return status;
}
