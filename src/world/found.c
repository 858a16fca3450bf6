// Finding contacts: how far detection has to look, and what is kept from one step to the next.
//
// Detection runs once a step, at its end: it judges the step (how deep, whether bodies passed each
// other) and its contacts are those of the next step. All that the next step needs is kept with the
// contacts, so that it is the same after a resume.
#include "world/bed.h"
#include "world/contact_data.h"

#include "base/bytes.h"
#include "base/log.h"
#include "curve/curve.h"

#include <float.h>
#include <limits.h>
#include <string.h>

// Candidates are looked for up to so many times what gaps close by in a step, at least this share
// of the thinnest radius and at most so many of the widest.
static const double MARGIN_STEPS = 1.5;
static const double MARGIN_LEAST = 0.5;
static const double MARGIN_MOST = 3.0;
static const double MARGIN_SHEET = 0.5; // or of the distance of a sheet's nodes
static const double MARGIN_KEPT = 0.8;  // of the last step's

// A candidate takes part when its gap is below this share of the radius plus so many times what
// it closes by in a step.
static const double NEAR_RADII = 0.5;
static const double NEAR_STEPS = 2.0;

// Contacts of two bodies nearer than so many widths are one. More, and of the places at which a
// tight knot holds itself apart some are left out, others in the next step, and it shakes.
static const double MERGE_WIDTHS = 0.5;

// A gap that changes by less than this per unit of length, at the end of a curve, has its minimum
// there: the place of a minimum is known to about 1e-8 m, on curves of radii above 1e-2 mm.
static const double LEVEL = 1.0e-6;

// Places of a pair of curves nearer than this share of them count as one: those that lie along each
// other would have hundreds.
static const double MINIMA_SHARE = 0.25;

// What a step loses of a gap is foreseen in the next beyond so many radii; what is foreseen follows
// what was lost by this part in a step, so that forces do not jump with it.
static const double LOST_LEAST = 0.002;
static const double LOST_FOLLOWS = 0.5;

// A place counts as the same while it shifts by less than so many radii along a body; what it slid
// is taken back up to so many.
static const double SAME_PLACE = 0.01;
static const double SLID_MOST = 0.5;

// Within so many radii of a ball in which bodies do not touch, what overlaps came out of it.
static const double BESIDE = 2.0;

// Of bodies placed in each other, an overlap counts as new when it is so many radii deeper than
// any before.
static const double DEEPER = 0.03;

static const Response* const RESPONSES[] = {
    [TDL_RESPONSE_EXACT] = &EXACT_RESPONSE,
    [TDL_RESPONSE_BARRIER] = &BARRIER_RESPONSE,
    [TDL_RESPONSE_S3] = &EXACT_RESPONSE,
};

static TdlStatus create_parts(TdlWorld* world, Contacts* c) {
    const TdlContactDef* def = &world->def.contacts;
    TdlDetectorDef detector = tdl_detector_def_default();
    detector.self = def->self;
    detector.obstacle_ends = true;
    detector.merge = -MERGE_WIDTHS;
    detector.minima_share = MINIMA_SHARE;
    if (def->geometry == TDL_CONTACT_BASELINE) {
        detector.method = TDL_DISTANCE_SEGMENTS;
        detector.tolerance = def->segment_length;
    }
    c->seen.segments = def->geometry == TDL_CONTACT_SEGMENTS ? def->segments : 0;
    c->seen.solid = def->response == TDL_RESPONSE_BARRIER; // whose gaps are between curves
    TdlStatus status = detector_create_lent(&c->host, &detector, world->pool, &c->seen.detector);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    c->response = RESPONSES[def->response];
    return c->response->create(&c->host, &world->def, world->pool, &c->responder);
}

TdlStatus contacts_create(TdlWorld* world, Contacts** out) {
    Contacts* c = tdl_alloc_zero(&world->host.mem, sizeof *c);
    if (c == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    c->host = world->host;
    arena_init(&c->arena, &world->host.mem);
    TdlStatus status = create_parts(world, c);
    if (status != TDL_STATUS_OK) {
        contacts_destroy(c);
        return status;
    }
    *out = c;
    return TDL_STATUS_OK;
}

void contacts_destroy(Contacts* c) {
    if (c == NULL) {
        return;
    }
    const TdlAllocator mem = c->host.mem;
    seen_free(&mem, &c->seen);
    if (c->responder != NULL) {
        c->response->destroy(c->responder);
    }
    arena_destroy(&c->arena);
    crossing_list_free(&mem, &c->retry.missed);
    void* arrays[] = {c->found.at,    c->retry.sunk,     c->retry.asked,
                      c->retry.force, c->retry.velocity, c->forces.at};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
        tdl_free(&mem, arrays[i]);
    }
    tdl_free(&mem, c);
}

// --- how far to look ------------------------------------------------------------------------

// How far bodies may come in a step of `next`, before anything is known of how they move against
// each other.
static double first_reach(const TdlWorld* world, double next) {
    double fastest = next * tdl_norm3(world->def.gravity);
    for (int i = 0; i < world->body_count; ++i) {
        const Body* body = world->body[i];
        fastest = body->kind->speed == NULL ? fastest : fmax(fastest, body->kind->speed(body));
    }
    return next * fastest;
}

static double most_margin(const Seen* seen) {
    return fmax(MARGIN_MOST * seen->widest, MARGIN_SHEET * seen->spacing);
}

// The fastest closing of a gap among the contacts known so far tells how far to look; what a step
// needed once is forgotten slowly.
static double choose_margin(const TdlWorld* world, const Contacts* c, double next) {
    double felt = c->response->reach == NULL ? 0.0 : c->response->reach(c->responder, c);
    if (world->def.contacts.margin > 0.0) {
        return fmax(world->def.contacts.margin, felt);
    }
    double reach = first_reach(world, next);
    for (int i = 0; i < c->found.count; ++i) {
        reach = fmax(reach, next * c->found.at[i].closing);
    }
    if (!isfinite(c->seen.thinnest)) {
        return felt;
    }
    double kept = MARGIN_KEPT * fmax(c->found.margin - felt, 0.0);
    double least = fmax(MARGIN_LEAST * c->seen.thinnest, kept);
    return felt + fmin(fmax(MARGIN_STEPS * reach, least), most_margin(&c->seen));
}

// --- contacts -------------------------------------------------------------------------------

// Two bodies of one system grow out of each other.
static bool is_jointed(const Seen* seen, const TdlContact* contact) {
    const Body *a = seen_body(seen, contact, 0), *b = seen_body(seen, contact, 1);
    return a != b && a->system == b->system;
}

// Whether it is near where one of them grows from the other, or a joint holds both.
static bool is_cleared(const TdlWorld* world, const TdlContact* contact, double times) {
    const Seen* seen = &world->contacts->seen;
    if (!clearance_any(&world->clearances)) {
        return false;
    }
    // of an obstacle the other place may be its axis or its centre
    const TdlVec3 place[3] = {contact->point[0], seen_touch(seen, contact), contact->point[1]};
    return clearance_covers(&world->clearances, seen_body(seen, contact, 0),
                            seen_body(seen, contact, 1), place, contact->body[1] < 0 ? 2 : 3,
                            times);
}

// How fast the gap shrinks beyond the end of a fibre's curve, on the next one; 0 elsewhere.
static double falls_beyond(const Seen* seen, const TdlContact* contact, int side) {
    int body = contact->body[side], place = contact->element[side];
    if (body < 0 || seen->fibre[body].stiff) {
        return 0.0;
    }
    const TdlCurve* own = &seen->curve[seen->first[body] + place];
    bool start = contact->u[side] <= 0.0, end = contact->u[side] >= own->end;
    int next = end ? place + 1 : place - 1;
    if ((!start && !end) || next < 0 || next >= seen->fibre[body].count) {
        return 0.0;
    }
    const TdlCurve* other = &seen->curve[seen->first[body] + next];
    TdlVec3 t = tdl_unit3(tdl_curve_derivative(other, end ? 0.0 : other->end));
    double outwards = (end ? 1.0 : -1.0) * (side == 0 ? 1.0 : -1.0);
    return fmax(outwards * tdl_dot3(contact->basis.cx, t), 0.0);
}

// Whether a side is a piece of an element that was cut because it may wind about others.
static bool winds(const Seen* seen, const TdlContact* contact, int side) {
    return contact->body[side] >= 0 && seen->shape[contact->body[side]].winds;
}

// A contact at a joint of a fibre's curves, where the gap goes on shrinking, is no minimum: the
// next curve has it, and the slanted normal of this one would stop what slides. It is passed on.
// Between fibres side by side it stays, as one of the places on which they lie, with its normal
// across; and where fibres wind about each other, which are held apart in many places, as it is.
// (W.7)
static bool is_passed_on(const Seen* seen, ContactSite* site) {
    TdlContact* contact = &site->contact;
    bool surface = seen_curve(seen, contact, 0) == NULL || seen_curve(seen, contact, 1) == NULL;
    if (surface || site->wall || (winds(seen, contact, 0) && winds(seen, contact, 1))) {
        return false; // obstacles and bores want these (X.24), surfaces have left them out
    }
    double fall = fmax(falls_beyond(seen, contact, 0), falls_beyond(seen, contact, 1));
    if (fall <= LEVEL) {
        return false;
    }
    TdlVec3 a = seen_tangent(seen, contact, 0), b = seen_tangent(seen, contact, 1);
    if (fall > SIDE_BY_SIDE || tdl_norm3(tdl_cross3(a, b)) > SIDE_BY_SIDE) {
        return true;
    }
    TdlVec3 t = tdl_unit3(tdl_axpy3(a, tdl_dot3(a, b) < 0.0 ? -1.0 : 1.0, b));
    TdlVec3 n = contact->basis.cx;
    n = tdl_unit3(tdl_axpy3(n, -tdl_dot3(n, t), t));
    contact->basis = (TdlMat3){n, t, tdl_cross3(n, t)};
    return false;
}

// What a whole step may lose of the gap that it is to leave, from what the step of length dt lost;
// `was`, number `index`, is the contact that this step had. (W.9)
static double foresee_loss(const TdlWorld* world, const Candidate* was, int index,
                           const Candidate* x, double dt) {
    const Contacts* c = world->contacts;
    const TdlContact *then = &was->site.contact, *now = &x->site.contact;
    bool curves = seen_curve(&c->seen, now, 0) != NULL && seen_curve(&c->seen, now, 1) != NULL;
    if (!curves || !(tdl_dot3(was->force, then->basis.cx) > 0.0)) {
        return 0.0;
    }
    double whole = world->def.step / dt;
    double lost = c->retry.asked[index] + RECOVERY * fmin(then->gap, 0.0) - now->gap;
    lost = whole * whole * fmin(lost, LOST_MOST * x->radius) - LOST_LEAST * x->radius;
    return fmax(was->loss + LOST_FOLLOWS * (lost - was->loss), 0.0);
}

// What the second body slid along the first at a place where it stuck, beyond what it was asked to
// slide back. `was` is the contact before the step. (W.14)
static TdlVec3 find_slid(const Seen* seen, const Candidate* was, const Candidate* x, double dt) {
    const TdlContact* contact = &x->site.contact;
    TdlVec3 moved[2], none = {0};
    if (seen_body(seen, contact, 0)->system->dof_count > 0 &&
        seen_body(seen, contact, 1)->system->dof_count > 0) {
        return none; // they may roll on each other
    }
    for (int side = 0; side < 2; ++side) {
        bool curve = seen_curve(seen, contact, side) != NULL;
        double shift = curve ? fabs(x->site.arc[side] - was->site.arc[side]) : 0.0;
        if (!was->sticks || shift > SAME_PLACE * x->radius ||
            !seen_displacement(seen, contact, side, dt, &moved[side])) {
            return none;
        }
    }
    TdlVec3 slid = tdl_add3(was->slid, tdl_sub3(moved[1], moved[0])), n = contact->basis.cx;
    slid = tdl_axpy3(slid, -tdl_dot3(slid, n), n);
    return tdl_norm3(slid) < SLID_MOST * x->radius ? slid : none;
}

// A site as a candidate; `old` are those of the last update.
static void make_candidate(const TdlWorld* world, const ContactSite* site, const Candidate* old,
                           int old_count, double dt, Candidate* x) {
    const Seen* seen = &world->contacts->seen;
    *x = (Candidate){.site = *site, .radius = seen_radius(seen, &site->contact), .fresh = true};
    x->jointed = is_jointed(seen, &site->contact) || is_cleared(world, &site->contact, 1.0);
    x->passed_on = is_passed_on(seen, &x->site);
    if (x->jointed || x->passed_on) {
        x->fresh = false;
        return;
    }
    // what comes out of there may overlap already
    x->beside = site->contact.gap < 0.0 && is_cleared(world, &site->contact, BESIDE);
    int previous = site->contact.previous;
    if (previous >= 0 && previous < old_count) {
        const Candidate* was = &old[previous];
        x->force = was->force;
        x->closing = was->closing;
        x->fresh = site->contact.gap < RECOVERY * was->site.contact.gap;
        x->loss = dt > 0.0 ? foresee_loss(world, was, previous, x, dt) : was->loss;
        x->slid = dt > 0.0 ? find_slid(seen, was, x, dt) : was->slid;
    }
    if (dt > 0.0) {
        TdlVec3 apart = tdl_sub3(seen_velocity(seen, &site->contact, 0, dt),
                                 seen_velocity(seen, &site->contact, 1, dt));
        x->closing = tdl_dot3(apart, site->contact.basis.cx);
    }
}

// --- bodies placed in each other --------------------------------------------------------------

// The candidates of two bodies, and what is known of them.
typedef struct PairRange {
    int end;        // behind the last of them
    bool apart;     // one of them is marked so
    bool beside;    // one that is sunk is beside a place where they do not touch
    double deepest; // m, the least gap; 0 when there is none
    bool sunk;      // by more than the slop
    bool deep;      // by more than a step may leave
} PairRange;

static PairRange look_at_pair(const Candidate* all, int first, int count) {
    PairRange r = {.end = first};
    for (; r.end < count && contacts_same_bodies(&all[first], &all[r.end]); ++r.end) {
        const Candidate* x = &all[r.end];
        double gap = x->site.contact.gap;
        r.apart = r.apart || x->apart;
        if (!x->jointed && !x->passed_on) {
            r.deepest = fmin(r.deepest, gap);
            r.sunk = r.sunk || gap < -SLOP * x->radius;
            r.beside = r.beside || (x->beside && gap < -SLOP * x->radius);
            r.deep = r.deep || gap < -CONTACTS_DEEP * x->radius;
        }
    }
    return r;
}

// Marks the contacts of bodies that are in each other from the start (`placed`), or since a step
// that had to be kept, until they are apart. Of these an overlap is new when it is the deepest.
static void mark_apart(const TdlWorld* world, Candidates* found, const Candidate* old,
                       int old_count, bool placed) {
    const TdlWorldDef* def = &world->def;
    bool loose = def->settle_loosely && tdl_world_time(world) < def->settle;
    int at = 0; // in the old ones; both lists are sorted by bodies
    for (int i = 0; i < found->count;) {
        PairRange now = look_at_pair(found->at, i, found->count);
        while (at < old_count && !contacts_same_bodies(&old[at], &found->at[i]) &&
               contact_compare(&old[at].site, &found->at[i].site) < 0) {
            ++at;
        }
        bool known = at < old_count && contacts_same_bodies(&old[at], &found->at[i]);
        PairRange before = known ? look_at_pair(old, at, old_count) : (PairRange){0};
        bool apart = now.sunk && (before.apart || placed || now.beside || (now.deep && !loose));
        for (; i < now.end; ++i) {
            Candidate* x = &found->at[i];
            x->apart = apart;
            if (apart && (before.apart || placed)) {
                double limit = placed ? -INFINITY : before.deepest - DEEPER * x->radius;
                x->fresh = x->fresh && x->site.contact.gap < limit;
            }
            x->fresh = x->fresh && !x->beside;
        }
    }
}

// --- ends that are held in something ----------------------------------------------------------

// Whether the place of a held end is in the other body, as a site at it tells, and no site beyond
// the ball about it is deep in there: else one was placed in the other.
static bool is_rooted(const Seen* seen, const ContactSite* sites, int count, int side,
                      const ClearBall* ball) {
    bool rooted = false;
    for (int i = 0; i < count; ++i) {
        const TdlContact* contact = &sites[i].contact;
        double radius = seen_radius(seen, contact);
        double away = tdl_norm3(tdl_sub3(contact->point[side], ball->centre));
        rooted = rooted || (contact->gap < -SLOP * radius && away <= radius);
        if (contact->gap < -CONTACTS_DEEP * radius && away > ball->radius) {
            return false;
        }
    }
    return rooted;
}

// Of the sites of two bodies: where a held end of the one is in the other, which a script moves.
static bool root_pair(TdlWorld* world, const ContactSite* sites, int count) {
    const Seen* seen = &world->contacts->seen;
    for (int side = 0; side < 2; ++side) {
        const Body *own = seen_body(seen, &sites->contact, side),
                   *other = seen_body(seen, &sites->contact, 1 - side);
        ClearBall ball[2];
        bool asks = own->kind->held != NULL && other->system->dof_count == 0 &&
                    !clearance_knows(&world->clearances, own, other);
        int balls = asks ? own->kind->held(own, ball) : 0;
        for (int k = 0; k < balls; ++k) {
            RootedPair pair = {{own, other}, ball[k]};
            if (is_rooted(seen, sites, count, side, &ball[k]) &&
                !clearance_add_rooted(&world->host.mem, &world->clearances, &pair)) {
                return false;
            }
        }
    }
    return true;
}

// Finds them anew; false: no memory. (W.35)
static bool find_rooted(TdlWorld* world, const ContactSite* sites, int count) {
    clearance_sort(&world->clearances);
    clearance_unroot(&world->clearances);
    for (int i = 0; i < count;) {
        const int* body = sites[i].contact.body;
        int end = i;
        while (end < count && sites[end].contact.body[0] == body[0] &&
               sites[end].contact.body[1] == body[1]) {
            ++end;
        }
        if (!root_pair(world, &sites[i], end - i)) {
            return false;
        }
        i = end;
    }
    clearance_sort(&world->clearances);
    return true;
}

// Keeps the sites of the last update, with what is known of the contacts they continue.
static TdlStatus keep_sites(TdlWorld* world, Contacts* c, double dt, bool placed,
                            ContactsFound* out) {
    Candidates* found = &c->found;
    int count, before = found->count;
    const ContactSite* sites = detector_sites(c->seen.detector, &count);
    ArenaMark mark = arena_mark(&c->arena);
    Candidate* old = ARENA_NEW(&c->arena, Candidate, before + 1);
    if (old == NULL ||
        !tdl_reserve(&c->host.mem, &found->at, &found->capacity, count, sizeof *found->at) ||
        !find_rooted(world, sites, count)) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (before > 0) {
        memcpy(old, found->at, (size_t)before * sizeof *old);
    }
    found->count = out->count = count;
    for (int i = 0; i < count; ++i) {
        make_candidate(world, &sites[i], old, before, dt, &found->at[i]);
    }
    mark_apart(world, found, old, before, placed);
    if (contacts_mark_spare(c) != TDL_STATUS_OK) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < count; ++i) {
        const Candidate* x = &found->at[i];
        if (x->jointed || x->passed_on) {
            continue;
        }
        double gap = x->site.contact.gap;
        out->closing = fmax(out->closing, x->closing);
        out->deepest = fmin(out->deepest, gap);
        if (gap / x->radius < out->worst && (!x->apart || x->fresh)) {
            out->worst = gap / x->radius;
            out->pair[0] = seen_body(&c->seen, &x->site.contact, 0);
            out->pair[1] = seen_body(&c->seen, &x->site.contact, 1);
        }
        out->fresh = x->fresh ? fmin(out->fresh, gap / x->radius) : out->fresh;
    }
    arena_release(&c->arena, mark);
    return TDL_STATUS_OK;
}

static void tell_crossing(void* user, const TdlCcdQuery* query, bool collision) {
    const TdlWorld* world = user;
    world->watch.crossing(world->watch.crossing_user, world->step_count + 1, query, collision);
}

// The body of one of the detector's numbers.
static const Body* numbered(const Seen* s, int body) {
    return body < 0 ? s->obstacle_body[-1 - body] : s->fibre_body[body];
}

static int tell_clear(const void* user, int a, int b, ClearBall out[CLEAR_BALLS]) {
    const TdlWorld* world = user;
    const Seen* s = &world->contacts->seen;
    return clearance_balls(&world->clearances, numbered(s, a), numbered(s, b), out);
}

// What passed through each other in the step that led here; it joins what was missed.
static TdlStatus find_crossings(TdlWorld* world, Contacts* c, ContactsFound* out) {
    const Seen* s = &c->seen;
    Moved moved = {.detector = s->detector,
                   .fibre = s->fibre,
                   .fibre_count = s->fibre_count,
                   .curve_count = s->curve_count,
                   .first = s->first,
                   .family = s->family,
                   .before = s->before,
                   .curve = s->curve,
                   .travel = s->travel,
                   .surface = s->surface,
                   .surface_count = s->surface_count,
                   .obstacle_before = s->obstacle_before,
                   .obstacle = s->obstacle,
                   .obstacle_count = s->obstacle_count,
                   .self = world->def.contacts.self,
                   .clear = clearance_any(&world->clearances) ? tell_clear : NULL,
                   .clear_user = world,
                   .watch = world->watch.crossing == NULL ? NULL : tell_crossing,
                   .watch_user = world};
    TdlStatus status =
        crossings_find(&c->host.mem, world->pool, &moved, &c->retry.missed, &out->crossed);
    if (status == TDL_STATUS_OK && out->crossed > 0) {
        const int* body = c->retry.missed.at[c->retry.missed.count - 1].body;
        for (int k = 0; k < 2; ++k) {
            out->pair[k] = body[k] < 0 ? s->obstacle_body[-1 - body[k]] : s->fibre_body[body[k]];
        }
    }
    return status;
}

static TdlStatus find_within(TdlWorld* world, double dt, bool placed, double margin,
                             ContactsFound* out) {
    Contacts* c = world->contacts;
    Seen* s = &c->seen;
    c->found.margin = margin;
    if (dt > 0.0) {
        seen_measure_travel(world->pool, s);
    }
    detector_set_margin(s->detector, margin, dt > 0.0 ? s->travel : NULL);
    detector_set_stop(s->detector, (Stop){world->watch.stop, world->watch.stop_user});
    TdlStatus status = tdl_detector_update(s->detector, s->fibre, s->fibre_count, s->obstacle,
                                           s->obstacle_count, NULL);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (world->watch.detection != NULL) {
        world->watch.detection(world->watch.detection_user, s->detector, world->step_count + 1);
    }
    status = keep_sites(world, c, dt, placed, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (dt > 0.0) {
        status = world_asked_to_stop(world) ? TDL_STATUS_STOPPED : find_crossings(world, c, out);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    seen_keep_nodes(s);
    c->found.ready = true;
    return TDL_STATUS_OK;
}

static TdlStatus lay_out(TdlWorld* world) {
    return seen_lay_out(&world->host, &world->contacts->seen, world->body, world->body_count);
}

TdlStatus contacts_find(TdlWorld* world, double dt, double next, ContactsFound* out) {
    Contacts* c = world->contacts;
    *out = (ContactsFound){0};
    c->found.ready = false;
    TdlStatus status = lay_out(world);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (dt > 0.0) {
        seen_keep_curves(&c->seen);
    }
    seen_take_shape(world->pool, &c->seen);
    if (c->seen.moving_count == 0) {
        c->found.count = 0;
        c->found.ready = true;
        return TDL_STATUS_OK;
    }
    return find_within(world, dt, !(dt > 0.0), choose_margin(world, c, next), out);
}

TdlStatus contacts_find_near(TdlWorld* world, double reach) {
    Contacts* c = world->contacts;
    ContactsFound found = {0};
    TdlStatus status =
        c->found.ready ? TDL_STATUS_OK : contacts_find(world, 0.0, world->def.step, &found);
    if (status != TDL_STATUS_OK || c->seen.moving_count == 0 || c->found.margin >= reach) {
        return status;
    }
    return find_within(world, 0.0, false, reach, &found);
}

TdlStatus contacts_widen(TdlWorld* world, double reach) {
    Contacts* c = world->contacts;
    ContactsFound found = {0};
    double most = 2.0 * most_margin(&c->seen), before = c->found.margin;
    contacts_guess_tried(c);
    seen_take_shape(world->pool, &c->seen);
    double margin = fmax(before, fmin(MARGIN_STEPS * reach, most));
    TdlStatus status = find_within(world, 0.0, false, margin, &found);
    contacts_mark_missed(c);
    return status;
}

bool contacts_take_part(const Candidate* x, double dt) {
    double near = NEAR_RADII * x->radius + NEAR_STEPS * dt * fmax(0.0, x->closing);
    bool missed = x->missed && !(x->site.feature && x->spare);
    bool asked = missed || x->held || (!x->spare && x->site.contact.gap <= near);
    return !x->jointed && !x->passed_on && asked;
}

void contacts_expect(Contacts* c, double dt) {
    for (int i = 0; i < c->found.count; ++i) {
        const Candidate* x = &c->found.at[i];
        if (!contacts_take_part(x, dt) || tdl_dot3(x->force, x->force) == 0.0) {
            continue;
        }
        for (int side = 0; side < 2; ++side) {
            Body* body = seen_body(&c->seen, &x->site.contact, side);
            if (body->kind->expect != NULL) {
                BodyPlace place = seen_place(&c->seen, &x->site.contact, side);
                body->expects = true;
                body->kind->expect(body, &place, tdl_scale3(side == 0 ? -1.0 : 1.0, x->force));
            }
        }
    }
}

TdlStatus contacts_solve(TdlWorld* world, const BodyStep* step, const ContactsRound* round,
                         ContactsSolved* out) {
    Contacts* c = world->contacts;
    return c->response->solve(c->responder, world, step, round, out);
}

TdlStatus contacts_push(TdlWorld* world) {
    return world->contacts->response->push(world->contacts->responder);
}

bool contacts_has_sheets(const Contacts* c) {
    return c->seen.spacing > 0.0;
}

bool contacts_ask(const Contacts* c) {
    return c->found.count > 0 || c->bed ||
           (contacts_look_back(c) && c->response->knows_more(c->responder));
}

bool contacts_look_back(const Contacts* c) {
    return c->response->check != NULL;
}

TdlStatus contacts_check(TdlWorld* world, const BodyStep* step, const ContactsFound* found,
                         ContactsSolved* solved, ContactsVerdict* out) {
    const Contacts* c = world->contacts;
    return c->response->check(c->responder, world, step, found, solved, out);
}

bool contacts_ready(const Contacts* c) {
    return c->found.ready;
}

void contacts_forget(Contacts* c) {
    c->found.ready = c->told = false;
    c->found.count = c->forces.count = c->forces.kept = 0;
    c->found.margin = 0.0;
}

void contacts_lay_out_again(Contacts* c) {
    contacts_forget(c);
    c->seen.laid_out = false;
    c->retry.missed.count = c->retry.sunk_count = 0;
    c->retry.force_count = c->retry.dof_count = 0;
}

int contacts_count(const Contacts* c) {
    return c->found.count;
}

void contacts_tell_near(TdlWorld* world) {
    if (world->contacts == NULL) {
        return; // nothing ever is
    }
    Contacts* c = world->contacts;
    c->bed = bed_body(world) != NULL;
    for (int i = 0; i < world->body_count; ++i) {
        world->body[i]->near = c->bed; // what meets a bed is not known before the step
    }
    for (int i = 0; i < c->found.count; ++i) {
        const Candidate* x = &c->found.at[i];
        for (int side = 0; side < 2 && !x->jointed && !x->passed_on; ++side) {
            seen_body(&c->seen, &x->site.contact, side)->near = true;
        }
    }
}

double contacts_worst(const Contacts* c) {
    double worst = 0.0;
    for (int i = 0; i < c->found.count; ++i) {
        const Candidate* x = &c->found.at[i];
        if (!x->jointed && !x->passed_on) {
            worst = fmin(worst, x->site.contact.gap / x->radius);
        }
    }
    return worst;
}

void contacts_clear_again(TdlWorld* world, const Body* a, const Body* b) {
    Contacts* c = world->contacts;
    clearance_sort(&world->clearances);
    for (int i = 0; i < c->found.count && c->found.ready; ++i) {
        Candidate* x = &c->found.at[i];
        const TdlContact* contact = &x->site.contact;
        const Body *p = seen_body(&c->seen, contact, 0), *q = seen_body(&c->seen, contact, 1);
        if (!(p == a && q == b) && !(p == b && q == a)) {
            continue; // what else is kept clear goes by the shape in which it was found
        }
        bool before = x->jointed;
        x->jointed = is_jointed(&c->seen, contact) || is_cleared(world, contact, 1.0);
        if (before && !x->jointed) { // what overlaps there did so on purpose
            x->apart = contact->gap < -SLOP * x->radius;
        }
        x->force = x->jointed ? (TdlVec3){0} : x->force;
    }
}

void contacts_start_step(Contacts* c) {
    c->forces.count = c->forces.kept = 0;
}

void contacts_start_attempt(Contacts* c) {
    c->forces.count = c->forces.kept;
}

void contacts_keep_attempt(Contacts* c) {
    c->forces.kept = c->forces.count;
}

void contacts_end_step(TdlWorld* world) {
    Forces* forces = &world->contacts->forces;
    for (int i = 0; i < forces->count; ++i) {
        TdlContactForce* own = &forces->at[i];
        const Body* a = world_find_body(world, own->body[0], NULL);
        const Body* b = world_find_body(world, own->body[1], NULL);
        double lasts = body_lasted(a, b, world->def.step);
        own->force = tdl_scale3(own->lasts / lasts, own->force);
        own->lasts = lasts;
    }
}

const TdlContactForce* contacts_forces(const Contacts* c, int* count) {
    *count = c->forces.count;
    return c->forces.at;
}

TdlStatus contacts_copy_told(const Contacts* from, Contacts* to) {
    const Forces* own = &from->forces;
    Forces* forces = &to->forces;
    if (!tdl_reserve(&to->host.mem, &forces->at, &forces->capacity, own->count,
                     sizeof *forces->at)) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (own->count > 0) {
        memcpy(forces->at, own->at, (size_t)own->count * sizeof *own->at);
    }
    forces->count = own->count;
    forces->kept = own->kept;
    to->told = from->told;
    return TDL_STATUS_OK;
}

// --- state ----------------------------------------------------------------------------------

// Doubles and whole numbers of a candidate, eight bytes each.
enum { CANDIDATE_DOUBLES = 4 + 6 + 1 + 9 + 4 + 1 + 3 + 4 + 3, CANDIDATE_INTS = 6 };
static const size_t CANDIDATE_BYTES = 8 * (CANDIDATE_DOUBLES + CANDIDATE_INTS);

static void save_candidate(const Candidate* x, ByteWriter* out) {
    const ContactSite* site = &x->site;
    const TdlContact* c = &site->contact;
    for (int side = 0; side < 2; ++side) {
        put_int(out, c->body[side]);
        put_int(out, c->element[side]);
    }
    put_int(out, c->previous);
    put_int(out, (site->bends << 0) | (site->faced << 1) | (x->fresh << 2) | (x->missed << 3) |
                     (x->jointed << 4) | (x->passed_on << 5) | (x->apart << 6) | (x->spare << 7) |
                     (site->feature << 8) | (site->wall << 9) | (c->tube[0] << 10) |
                     (c->tube[1] << 11));
    const TdlMat3* b = &c->basis;
    const double all[CANDIDATE_DOUBLES] = {
        c->u[0],       c->u[1],       c->v[0],       c->v[1],       c->point[0].x,
        c->point[0].y, c->point[0].z, c->point[1].x, c->point[1].y, c->point[1].z,
        c->gap,        b->cx.x,       b->cx.y,       b->cx.z,       b->cy.x,
        b->cy.y,       b->cy.z,       b->cz.x,       b->cz.y,       b->cz.z,
        site->arc[0],  site->arc[1],  site->width,   site->merge,   (double)site->along,
        x->force.x,    x->force.y,    x->force.z,    x->closing,    x->radius,
        x->sunk,       x->loss,       x->slid.x,     x->slid.y,     x->slid.z};
    put_doubles(out, all, CANDIDATE_DOUBLES);
}

static TdlVec3 vec(const double* x) {
    return (TdlVec3){x[0], x[1], x[2]};
}

// A number that no index is where it does not fit an int.
static int get_index(ByteReader* in) {
    int64_t x = get_int(in);
    return x > INT_MAX || x < INT_MIN ? INT_MIN : (int)x;
}

static Candidate load_candidate(ByteReader* in) {
    Candidate x = {0};
    ContactSite* site = &x.site;
    TdlContact* c = &site->contact;
    for (int side = 0; side < 2; ++side) {
        c->body[side] = get_index(in);
        c->element[side] = get_index(in);
    }
    c->previous = get_index(in);
    int64_t flags = get_int(in);
    site->bends = flags & 1;
    site->faced = flags >> 1 & 1;
    x.fresh = flags >> 2 & 1;
    x.missed = flags >> 3 & 1;
    x.jointed = flags >> 4 & 1;
    x.passed_on = flags >> 5 & 1;
    x.apart = flags >> 6 & 1;
    x.spare = flags >> 7 & 1;
    site->feature = flags >> 8 & 1;
    site->wall = flags >> 9 & 1;
    c->tube[0] = flags >> 10 & 1;
    c->tube[1] = flags >> 11 & 1;
    double all[CANDIDATE_DOUBLES];
    get_doubles(in, all, CANDIDATE_DOUBLES);
    memcpy(c->u, all, sizeof c->u);
    memcpy(c->v, all + 2, sizeof c->v);
    c->point[0] = vec(all + 4);
    c->point[1] = vec(all + 7);
    c->gap = all[10];
    c->basis = (TdlMat3){vec(all + 11), vec(all + 14), vec(all + 17)};
    memcpy(site->arc, all + 20, sizeof site->arc);
    site->width = all[22];
    site->merge = all[23];
    site->along = (float)fmin(fmax(all[24], 0.0), (double)FLT_MAX);
    x.force = vec(all + 25);
    x.closing = all[28];
    x.radius = all[29];
    x.sunk = all[30];
    x.loss = all[31];
    x.slid = vec(all + 32);
    return x;
}

size_t contacts_state_size(const Contacts* c) {
    return c->found.ready ? sizeof(double) + (size_t)c->found.count * CANDIDATE_BYTES : 0;
}

void contacts_save_state(const Contacts* c, void* bytes) {
    if (!c->found.ready) {
        return;
    }
    ByteWriter out = {bytes};
    put_doubles(&out, &c->found.margin, 1);
    for (int i = 0; i < c->found.count; ++i) {
        save_candidate(&c->found.at[i], &out);
    }
}

// The candidates of a state; TDL_STATUS_BAD_INPUT where they do not fit the world.
static TdlStatus load_candidates(Contacts* c, ByteReader* in, int count) {
    Candidates* found = &c->found;
    ArenaMark mark = arena_mark(&c->arena);
    ContactSite* sites = ARENA_NEW(&c->arena, ContactSite, count + 1);
    if (sites == NULL ||
        !tdl_reserve(&c->host.mem, &found->at, &found->capacity, count, sizeof *found->at)) {
        return TDL_STATUS_NO_MEMORY;
    }
    bool whole = found->margin >= 0.0 && isfinite(found->margin);
    for (int i = 0; i < count && whole; ++i) {
        found->at[i] = load_candidate(in);
        sites[i] = found->at[i].site;
        whole = seen_has(&c->seen, &sites[i].contact);
    }
    TdlStatus status =
        whole ? detector_set_last(c->seen.detector, sites, count) : TDL_STATUS_BAD_INPUT;
    arena_release(&c->arena, mark);
    return status;
}

TdlStatus contacts_load_state(TdlWorld* world, const void* bytes, size_t size) {
    Contacts* c = world->contacts;
    int kept = c->forces.kept; // a step under way keeps what its parts did
    contacts_forget(c);
    c->forces.kept = kept;
    if (size == 0) {
        return TDL_STATUS_OK; // saved before the first step
    }
    if (size < sizeof(double) || (size - sizeof(double)) % CANDIDATE_BYTES != 0) {
        return TDL_STATUS_BAD_INPUT;
    }
    TdlStatus status = lay_out(world);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    ByteReader in = {bytes};
    get_doubles(&in, &c->found.margin, 1);
    int count = (int)((size - sizeof(double)) / CANDIDATE_BYTES);
    status = load_candidates(c, &in, count);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    seen_take_shape(world->pool, &c->seen);
    seen_keep_nodes(&c->seen);
    c->found.count = count;
    c->found.ready = true;
    return TDL_STATUS_OK;
}

// --- those who look on ------------------------------------------------------------------------

void tdl_world_watch_detection(TdlWorld* world, TdlDetectionFn fn, void* user) {
    world->watch.detection = fn;
    world->watch.detection_user = user;
}

void tdl_world_watch_crossings(TdlWorld* world, TdlCrossingFn fn, void* user) {
    world->watch.crossing = fn;
    world->watch.crossing_user = user;
}

void tdl_world_watch_stop(TdlWorld* world, TdlStopFn fn, void* user) {
    world->watch.stop = fn;
    world->watch.stop_user = user;
}

void tdl_world_watch_problems(TdlWorld* world, TdlContactProblemFn fn, void* user) {
    world->watch.problem = fn;
    world->watch.problem_user = user;
}
