// The barrier response: forces that grow without bound as a gap closes. docs/theory/barrier.md
//
// Forces are those of the gaps at the end of the step, so every attempt at it is a step of Newton's
// method: contacts are linearised in the shape that the attempt before led to (first, in the one
// that the step begins with), solved with the bodies' A, and the step is made again with the
// velocities found. It stays when the forces of its last shape are those that it was made with. An
// attempt in which bodies would pass through each other is shortened.
#include "base/clock.h"
#include "base/log.h"
#include "curve/curve.h"
#include "world/answer.h"
#include "world/barrier_mix.h"
#include "world/barrier_model.h"

#include <string.h>

// Attempts at a part of a step, and how often one is shortened by half.
enum { MAX_TURNS = 60, MAX_SHORTENINGS = 30 };

// From this attempt on, places that were contacts stay so.
enum { KEEP_TURNS = 4 };

// The least gap that bodies may begin with, over the distance.
static const double START_SHARE = 1.0e-3;

// Curves that came nearer than this share of their radii passed through each other. world.md,
// section 5
static const double MET_SHARE = 0.4;

typedef struct BarrierResponse {
    TdlHost host;
    BarrierRule rule;
    BarrierModel model[2];
    int used;    // the model that velocities are found with
    bool known;  // it is of a shape that an attempt at this part led to
    bool solved; // it was solved in this attempt
    int turns, shortenings;
    int iterations; // of this part
    double stored;  // J, before it
    double share;   // of the way from `base` to `aim`, where that is looked at; else 0
    // velocities: of the last shape that can be, where it is of this part; of one that cannot;
    // of the attempt
    Velocities base, aim, now;
    bool based;
    TdlCurve* curve; // [curve_count] of the shape of `base`
    int curve_capacity;
    Mixing mixing;
} BarrierResponse;

static void destroy(void* self) {
    BarrierResponse* br = self;
    TdlHost host = br->host;
    for (int i = 0; i < 2; ++i) {
        arena_destroy(&br->model[i].contacts.arena);
    }
    Velocities* all[] = {&br->base, &br->aim, &br->now};
    for (int i = 0; i < 3; ++i) {
        velocities_free(&host.mem, all[i]);
    }
    barrier_mix_free(&host.mem, &br->mixing);
    tdl_free(&host.mem, br->curve);
    tdl_free(&host.mem, br);
}

static TdlStatus create(const TdlHost* host, const TdlWorldDef* def, Pool* pool, void** out) {
    (void)pool;
    BarrierResponse* br = tdl_alloc_zero(&host->mem, sizeof *br);
    if (br == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    br->host = *host;
    br->rule = (BarrierRule){def->contacts.barrier, def->contacts.tolerance};
    for (int i = 0; i < 2; ++i) {
        br->model[i].contacts.host = *host;
        arena_init(&br->model[i].contacts.arena, &host->mem);
    }
    *out = br;
    return TDL_STATUS_OK;
}

static BarrierModel* used_model(BarrierResponse* br) {
    return &br->model[br->used];
}

static double reach(const void* self, const Contacts* c) {
    return barrier_reach(&((const BarrierResponse*)self)->rule, c);
}

// --- solving ---------------------------------------------------------------------------------

// change = sum of Y r
static void find_change(Problem* p) {
    memset(p->change, 0, (size_t)p->dof_start[p->body_count] * sizeof *p->change);
    for (int side = 0; side < 2 * p->count; ++side) {
        bool again = side % 2 == 1 && problem_touches_itself(p, side / 2);
        if (p->body[side] < 0 || again) {
            continue;
        }
        int n = problem_dofs(p, p->body[side]);
        double* change = p->change + p->dof_start[p->body[side]];
        for (int k = 0; k < 3 * n; ++k) {
            change[k % n] += p->y[p->y_at[side] + (size_t)k] * p->r[3 * (side / 2) + k / n];
        }
    }
}

// What the impulses do, in the log's terms, and the list of forces.
static TdlStatus note_forces(BarrierModel* m, ContactsSolved* out) {
    const Problem* p = &m->problem;
    Contacts* c = p->world->contacts;
    Forces* forces = &c->forces;
    int first = forces->kept;
    if (!tdl_reserve(&c->host.mem, &forces->at, &forces->capacity, first + p->count,
                     sizeof *forces->at)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < p->count; ++i) {
        TdlVec3 r = tdl_load3(p->r, i), own = tdl_load3(p->u, i), w = tdl_load3(p->fixed, i);
        TdlVec3 u = tdl_add3(own, w);
        forces->at[first + i] = answer_force(p, i, r);
        forces->at[first + i].gap = m->barrier.offset[i] + p->dt * own.x;
        out->friction -= r.y * u.y + r.z * u.z;
        out->impact -= r.x * u.x;
        out->work -= tdl_dot3(r, w);
    }
    forces->count = first + p->count;
    return TDL_STATUS_OK;
}

// --- velocities of all bodies ----------------------------------------------------------------

// Bodies that are not linear look for their own velocities in rounds.
static bool all_linear(const TdlWorld* world) {
    for (int i = 0; i < world->body_count; ++i) {
        if (body_has_rounds(world->body[i])) {
            return false;
        }
    }
    return true;
}

static bool reserve_all(BarrierResponse* br, int dofs) {
    Velocities* all[] = {&br->base, &br->aim, &br->now};
    bool reserved = true;
    for (int i = 0; i < 3; ++i) {
        reserved = reserved && velocities_reserve(&br->host.mem, all[i], dofs);
    }
    return reserved;
}

// The velocities that were found, mixed with those of the attempts before. (P.15)
static TdlStatus mix(BarrierResponse* br, TdlWorld* world, const Problem* p) {
    int dofs = p->dof_start[p->body_count];
    Velocities* now = &br->now;
    world_gather_free(world, now->v);
    memset(now->impulse, 0, (size_t)dofs * sizeof *now->impulse);
    for (int side = 0; side < 2 * p->count; ++side) {
        if (p->body[side] >= 0) {
            answer_add_impulse(p, side, now->impulse + p->dof_start[p->body[side]]);
        }
    }
    now->known = all_linear(world);
    br->mixing.moved = 0.0;
    if (!br->known || !now->known || br->turns + 1 >= MAX_TURNS) {
        return TDL_STATUS_OK; // what may have to be kept is as it was found
    }
    if (!barrier_mix_add(&br->host.mem, &br->mixing, dofs, &br->base, now)) {
        return TDL_STATUS_NO_MEMORY;
    }
    world_hand_free(world, now->v);
    return TDL_STATUS_OK;
}

static TdlStatus solve_model(BarrierResponse* br, BarrierModel* m, bool same, ContactsSolved* out) {
    Problem* p = &m->problem;
    barrier_model_columns(m, same);
    BarrierSolved solved;
    ArenaMark mark = arena_mark(&m->contacts.arena);
    TdlStatus status = barrier_newton(&m->barrier, &m->contacts.arena, &solved);
    arena_release(&m->contacts.arena, mark);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    br->iterations += solved.iterations;
    out->error = solved.error;
    out->converged = solved.converged;
    find_change(p);
    status = answer_change_velocities(p);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = note_forces(m, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    status = answer_hand_out(p);
    return status == TDL_STATUS_OK ? mix(br, p->world, p) : status;
}

static TdlStatus solve(void* self, TdlWorld* world, const BodyStep* step,
                       const ContactsRound* round, ContactsSolved* out) {
    BarrierResponse* br = self;
    Contacts* c = world->contacts;
    *out = (ContactsSolved){.converged = true};
    c->forces.count = c->forces.kept;
    int dofs = world_dof_count(world);
    if (!reserve_all(br, dofs)) {
        return TDL_STATUS_NO_MEMORY;
    }
    br->now.known = false;
    if (br->share > 0.0) {
        velocities_between(br->based ? &br->base : NULL, &br->aim, br->share, dofs, &br->now);
        world_hand_free(world, br->now.v);
        out->imposed = true;
        return answer_clear_forces(c);
    }
    double start = clock_now();
    if (!br->known && !br->solved) {
        TdlStatus status =
            barrier_model_make(&br->rule, world, step->dt, NULL, NULL, used_model(br));
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    br->solved = true;
    BarrierModel* m = used_model(br);
    out->count = m->problem.count;
    out->skipped = c->found.count - m->problem.count;
    out->build_seconds = clock_now() - start;
    TdlStatus status = answer_clear_forces(c);
    if (status != TDL_STATUS_OK || m->problem.count == 0) {
        return status;
    }
    start = clock_now();
    status = solve_model(br, m, round->same, out);
    out->solve_seconds = clock_now() - start;
    return status;
}

static TdlStatus push(void* self) {
    (void)self;
    return TDL_STATUS_OK; // nothing overlaps
}

// --- what an attempt led to ------------------------------------------------------------------

static void begin(void* self, const TdlWorld* world) {
    BarrierResponse* br = self;
    br->known = br->solved = br->based = false;
    br->turns = br->shortenings = br->iterations = 0;
    br->share = 0.0;
    br->now.known = false;
    barrier_mix_forget(&br->mixing);
    br->stored = barrier_stored(&br->rule, world);
}

static bool knows_more(const void* self) {
    const BarrierResponse* br = self;
    return br->known || br->share > 0.0;
}

// Whether what came this way may have passed through a round or flat thing without coordinates,
// from which it is now `gap` apart: these are not followed as curves and surfaces are. If they met,
// they are no further apart now than they moved. (P.13)
static bool may_have_met(const TdlColliderDef* obstacle, double radius, double way, double gap) {
    return way > gap + (1.0 - MET_SHARE) * (radius + obstacle->radius);
}

static bool is_followed(const TdlColliderDef* obstacle) {
    // the gap to a plane tells on which side of it things are
    return obstacle->shape == TDL_SHAPE_PLANE || obstacle->shape >= TDL_SHAPE_COMB;
}

// A bound on how near a curve is to an obstacle.
static double least_gap(const TdlColliderDef* o, const TdlCurve* curve) {
    TdlVec3 from = tdl_sub3(curve->origin, o->pose.position), axis = o->pose.rotation.cx;
    double along = tdl_dot3(from, axis), around = curve_size(curve) + o->radius;
    if (o->shape == TDL_SHAPE_CAPSULE) {
        along = fmin(fmax(along, 0.0), o->length);
    } else if (o->shape != TDL_SHAPE_CYLINDER) {
        along = 0.0;
        around += o->shape == TDL_SHAPE_PLATE ? o->length : 0.0;
    }
    double radius = fmax(curve->radius[0], curve->radius[1]);
    return tdl_norm3(tdl_axpy3(from, -along, axis)) - around - radius;
}

// How far a curve came from the last shape that can be, and an obstacle at a place, m. In all
// shapes but the one that the step begins with obstacles are where it ends.
static double curve_way(const BarrierResponse* br, const Seen* seen, int curve) {
    Travel travel;
    const TdlCurve* before = br->based ? br->curve : seen->before;
    crossings_measure(&before[curve], &seen->curve[curve], &travel);
    return travel_most(&travel);
}

static double obstacle_way(const BarrierResponse* br, const Seen* seen, int obstacle, TdlVec3 at,
                           double dt) {
    if (br->based) {
        return 0.0;
    }
    const Body* body = seen->obstacle_body[obstacle];
    BodyPlace place = {.point = at};
    return dt * tdl_norm3(body->kind->velocity(body, &place));
}

// Of a curve and all obstacles. Those that detection found are at least as far as it says, all
// others further than its margin.
static bool curve_may_have_met(const BarrierResponse* br, const Contacts* c, int curve, double dt) {
    const Seen* seen = &c->seen;
    const TdlCurve* own = &seen->curve[curve];
    double way = curve_way(br, seen, curve), radius = fmin(own->radius[0], own->radius[1]);
    for (int i = 0; i < seen->obstacle_count; ++i) {
        const TdlColliderDef* o = &seen->obstacle[i];
        double gap = fmax(c->found.margin, least_gap(o, own));
        if (!is_followed(o) &&
            may_have_met(o, radius, way + obstacle_way(br, seen, i, own->origin, dt), gap)) {
            return true;
        }
    }
    return false;
}

static bool contact_may_have_met(const BarrierResponse* br, const Seen* seen, const TdlContact* x,
                                 double dt) {
    const TdlCurve* curve = seen_curve(seen, x, 0);
    int obstacle = -1 - x->body[1];
    if (curve == NULL || obstacle < 0 || is_followed(&seen->obstacle[obstacle])) {
        return false;
    }
    double way = curve_way(br, seen, seen->first[x->body[0]] + x->element[0]);
    way += obstacle_way(br, seen, obstacle, x->point[1], dt);
    return may_have_met(&seen->obstacle[obstacle], tdl_curve_radius(curve, x->u[0]), way, x->gap);
}

static bool may_cross(const BarrierResponse* br, const TdlWorld* world, const ContactsFound* found,
                      double dt) {
    const Contacts* c = world->contacts;
    bool some = found->crossed > 0;
    for (int i = 0; i < c->found.count && !some; ++i) {
        some = contact_may_have_met(br, &c->seen, &c->found.at[i].site.contact, dt);
    }
    int moving = c->seen.moving_count < c->seen.fibre_count ? c->seen.first[c->seen.moving_count]
                                                            : c->seen.curve_count;
    for (int i = 0; i < moving && !some && c->seen.moving_count > 0; ++i) {
        some = curve_may_have_met(br, c, i, dt);
    }
    return some;
}

// The contacts that the next step begins with know their forces.
static void tell_candidates(const BarrierModel* m, Contacts* c) {
    for (int i = 0; i < m->problem.count; ++i) {
        int at = m->source[m->problem.of[i]];
        if (at >= 0) {
            c->found.at[at].force = barrier_model_force(m, i);
        }
    }
}

static void swap(Velocities* a, Velocities* b) {
    Velocities x = *a;
    *a = *b;
    *b = x;
}

// The attempt led to a shape that can be.
static bool keep_shape(BarrierResponse* br, const Seen* seen) {
    if (!tdl_reserve(&br->host.mem, &br->curve, &br->curve_capacity, seen->curve_count + 1,
                     sizeof *br->curve)) {
        return false;
    }
    memcpy(br->curve, seen->curve, (size_t)seen->curve_count * sizeof *br->curve);
    swap(&br->base, &br->now);
    br->based = true;
    return true;
}

// The attempt went too far: half as far is looked at. False when that was done often enough.
static bool shorten(BarrierResponse* br) {
    br->share = br->share > 0.0 ? 0.5 * br->share : 0.5;
    return ++br->shortenings <= MAX_SHORTENINGS;
}

// Of an attempt in which bodies may have passed through each other.
static void go_back(BarrierResponse* br, ContactsVerdict* out) {
    if (!(br->share > 0.0)) {
        swap(&br->aim, &br->now);
    }
    *out = br->turns < MAX_TURNS && shorten(br) ? CONTACTS_AGAIN : CONTACTS_REFUSED;
}

// The contacts of the shape that can be, and how far their forces are from those that led to it.
static TdlStatus read_shape(BarrierResponse* br, TdlWorld* world, double dt, double* error) {
    bool keeps = br->known && br->turns >= KEEP_TURNS;
    const BarrierModel* from = used_model(br);
    BarrierModel* now = &br->model[1 - br->used];
    if (!keep_shape(br, &world->contacts->seen)) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlStatus status =
        barrier_model_make(&br->rule, world, dt, br->base.v, keeps ? from : NULL, now);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    bool* taken = ARENA_NEW(&now->contacts.arena, bool, from->problem.count + 1);
    if (taken == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    barrier_model_impulses(now, br->base.v);
    *error = barrier_model_compare(br->solved ? from : NULL, now, taken);
    *error = br->solved ? fmax(*error, br->mixing.moved) : *error;
    if (now->problem.count != from->problem.count) {
        barrier_mix_forget(&br->mixing); // it was about others
    }
    return TDL_STATUS_OK;
}

static TdlStatus check(void* self, TdlWorld* world, const BodyStep* step,
                       const ContactsFound* found, ContactsSolved* solved, ContactsVerdict* out) {
    BarrierResponse* br = self;
    ++br->turns;
    solved->iterations = br->iterations;
    if (!reserve_all(br, world_dof_count(world))) {
        return TDL_STATUS_NO_MEMORY;
    }
    world_gather_free(world, br->now.v); // as they were made use of
    if (may_cross(br, world, found, step->dt)) {
        go_back(br, out);
        return TDL_STATUS_OK;
    }
    bool imposed = br->share > 0.0, found_all = !br->solved || solved->converged;
    br->share = 0.0;
    TdlStatus status = read_shape(br, world, step->dt, &solved->error);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    const BarrierModel* now = &br->model[1 - br->used];
    bool apart = barrier_model_apart(now);
    solved->converged = !imposed && found_all && apart && solved->error <= br->rule.tolerance;
    if (!solved->converged && br->turns < MAX_TURNS) {
        br->used = 1 - br->used;
        br->known = true;
        br->solved = false;
        *out = CONTACTS_AGAIN;
        return TDL_STATUS_OK;
    }
    *out = solved->converged ? CONTACTS_STAY : apart ? CONTACTS_UNSOLVED : CONTACTS_REFUSED;
    tell_candidates(now, world->contacts);
    solved->stored = barrier_stored(&br->rule, world);
    solved->impact -= solved->stored - br->stored;
    return TDL_STATUS_OK;
}

// --- the start -------------------------------------------------------------------------------

static TdlStatus refuse(const TdlWorld* world, const Body* a, const Body* b, double gap,
                        double least) {
    char name[2][TDL_BODY_NAME_SIZE];
    world_name_body(a, name[0]);
    world_name_body(b, name[1]);
    return tdl_fail(&world->host, TDL_STATUS_BAD_INPUT,
                    "%s and %s are %.3g m apart at %.6g s, before the step: the barrier needs more "
                    "than %.3g m",
                    name[0], a == b ? "itself" : name[1], gap, tdl_world_time(world), least);
}

static TdlStatus look_at_start(const void* self, const TdlWorld* world, const TdlOverlap* worst) {
    const Contacts* c = world->contacts;
    double least = START_SHARE * reach(self, c);
    if (worst != NULL) {
        const Body* body[2];
        for (int k = 0; k < 2; ++k) {
            body[k] = world_find_body(world, worst->body[k], NULL);
        }
        return refuse(world, body[0], body[1], -worst->depth, least);
    }
    const Candidate* nearest = NULL;
    for (int i = 0; i < c->found.count; ++i) {
        const Candidate* x = &c->found.at[i];
        bool nearer = nearest == NULL || x->site.contact.gap < nearest->site.contact.gap;
        if (nearer && barrier_counts(&c->seen, x) && !(x->site.contact.gap > least)) {
            nearest = x;
        }
    }
    if (nearest == NULL) {
        return TDL_STATUS_OK;
    }
    const TdlContact* x = &nearest->site.contact;
    return refuse(world, seen_body(&c->seen, x, 0), seen_body(&c->seen, x, 1), x->gap, least);
}

const Response BARRIER_RESPONSE = {create, destroy,    solve, push,         reach,
                                   begin,  knows_more, check, look_at_start};
