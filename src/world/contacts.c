// Finding contacts: how far detection has to look, and what is kept from one step to the next.
//
// Detection runs once a step, at its end: it judges the step (how deep, whether fibres passed each
// other) and its contacts are those of the next step. All that the next step needs is kept with the
// contacts, so that it is the same after a resume.
#include "world/contacts.h"

#include "base/log.h"
#include "curve/curve.h"
#include "detect/detector.h"
#include "friction/solver.h"
#include "world/contact_layout.h"
#include "world/crossings.h"

#include <stdlib.h>
#include <string.h>

// Candidates are looked for up to so many times what gaps close by in a step, at least this share
// of the thinnest radius and at most so many of the widest.
static const double MARGIN_STEPS = 1.5;
static const double MARGIN_LEAST = 0.5;
static const double MARGIN_MOST = 3.0;
static const double MARGIN_KEPT = 0.8; // of the last step's

// Contacts of two bodies nearer than so many widths are one. More, and of the places at which a
// tight knot holds itself apart some are left out, others in the next step, and it shakes.
static const double MERGE_WIDTHS = 0.5;

// A gap that changes by less than this per unit of length, at the end of a curve, has its minimum
// there: the place of a minimum is known to about 1e-8 m, on curves of radii above 1e-2 mm.
static const double LEVEL = 1.0e-6;

// Places of a pair of curves nearer than this share of them count as one: rods that lie along each
// other would have hundreds.
static const double MINIMA_SHARE = 0.25;

// What a step loses of a gap is foreseen in the next beyond so many radii, and up to so many; what
// is foreseen follows what was lost by this part in a step, so that forces do not jump with it.
static const double LOST_LEAST = 0.002;
static const double LOST_MOST = 0.25;
static const double LOST_FOLLOWS = 0.5;

TdlStatus contacts_create(TdlWorld* world, Contacts** out) {
    Contacts* c = tdl_alloc_zero(&world->host.mem, sizeof *c);
    if (c == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    c->host = world->host;
    arena_init(&c->arena, &world->host.mem);
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
    TdlFrictionOptions options = tdl_friction_options_default();
    options.solver = def->solver;
    options.tolerance = def->tolerance;
    options.max_iterations = def->max_iterations;
    TdlStatus status = detector_create_lent(&c->host, &detector, world->pool, &c->detector);
    if (status == TDL_STATUS_OK) {
        status = friction_solver_create_lent(&c->host, &options, world->pool, &c->solver);
    }
    options.solver = TDL_FRICTION_AUTO;
    if (status == TDL_STATUS_OK) {
        status = friction_solver_create_lent(&c->host, &options, world->pool, &c->thorough);
    }
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
    TdlHost host = c->host;
    tdl_detector_destroy(c->detector);
    tdl_friction_solver_destroy(c->solver);
    tdl_friction_solver_destroy(c->thorough);
    arena_destroy(&c->arena);
    contacts_free_layout(c);
    tdl_free(&host.mem, c->found);
    tdl_free(&host.mem, c->missed);
    tdl_free(&host.mem, c->sunk);
    tdl_free(&host.mem, c->asked);
    tdl_free(&host.mem, c->tried);
    tdl_free(&host.mem, c->tried_velocity);
    tdl_free(&host.mem, c->passed);
    tdl_free(&host.mem, c->force);
    tdl_free(&host.mem, c);
}

// --- how far to look ------------------------------------------------------------------------

// How far bodies may come in a step of `next` relative to a collider, or before anything is known
// of how they move.
static double first_reach(const TdlWorld* world, double next) {
    double fastest = next * tdl_norm3(world->def.gravity);
    for (int i = 0; i < world->rigid_count; ++i) {
        const double* v = world->rigids[i].rigid->v;
        fastest = fmax(fastest, tdl_norm3(tdl_load3(v, 0)));
    }
    for (int i = 0; i < world->collider_count; ++i) {
        const WorldCollider* wc = &world->colliders[i];
        fastest = fmax(fastest, tdl_norm3(wc->rate.linear) + wc->fastest);
    }
    return next * fastest;
}

// The fastest closing of a gap among the contacts known so far tells how far to look; what a step
// needed once is forgotten slowly.
static double choose_margin(const TdlWorld* world, const Contacts* c, double next) {
    if (world->def.contacts.margin > 0.0) {
        return world->def.contacts.margin;
    }
    double reach = first_reach(world, next);
    for (int i = 0; i < c->count; ++i) {
        reach = fmax(reach, next * c->found[i].closing);
    }
    if (!isfinite(c->thinnest)) {
        return 0.0;
    }
    double least = fmax(MARGIN_LEAST * c->thinnest, MARGIN_KEPT * c->margin);
    return fmin(fmax(MARGIN_STEPS * reach, least), MARGIN_MOST * c->widest);
}

// --- contacts -------------------------------------------------------------------------------

Side contact_side(const TdlWorld* world, const TdlContact* contact, int side) {
    const Contacts* c = world->contacts;
    int body = contact->body[side], rigid = body - c->rod_count, fixed = rigid - c->rigid_count;
    if (body < 0) {
        return (Side){TDL_BODY_COLLIDER, c->obstacle_of[-1 - body], contact->element[side], 0.0};
    }
    if (fixed >= 0) {
        return (Side){TDL_BODY_COLLIDER, c->collider_of[body], contact->element[side], 0.0};
    }
    if (rigid >= 0) {
        return (Side){TDL_BODY_RIGID, rigid, contact->element[side], 0.0};
    }
    int each = c->fibre[body].count / world->rods[body].rod->element_count;
    const TdlCurve* curve = &c->curve[c->first[body] + contact->element[side]];
    double s = curve->end > 0.0 ? contact->s[side] / curve->end : 0.0;
    return (Side){TDL_BODY_ROD, body, contact->element[side] / each,
                  (contact->element[side] % each + fmin(fmax(s, 0.0), 1.0)) / each};
}

int side_material(const TdlWorld* world, Side side) {
    switch (side.kind) {
    case TDL_BODY_ROD:
        return world->rods[side.index].material;
    case TDL_BODY_RIGID:
        return world->rigids[side.index].rigid->def.material;
    case TDL_BODY_COLLIDER:
        break;
    }
    return world->colliders[side.index].def.material;
}

// Velocity of a contact's side as the last step tells it, m/s.
static TdlVec3 side_rate(const TdlWorld* world, const TdlContact* contact, int side, double dt) {
    const Contacts* c = world->contacts;
    int body = contact->body[side];
    if (body < 0) {
        return collider_velocity(&world->colliders[c->obstacle_of[-1 - body]], contact->point[side],
                                 contact->element[side]);
    }
    const TdlCurve* curve = side_curve(c, contact, side);
    if (curve == NULL) {
        const Rigid* rigid = world->rigids[body - c->rod_count].rigid;
        TdlVec3 arm = tdl_sub3(contact->point[side], rigid->pose.position);
        return tdl_add3(tdl_load3(rigid->v, 0), tdl_cross3(tdl_load3(rigid->v, 1), arm));
    }
    double s = curve->end > 0.0 ? contact->s[side] / curve->end : 0.0;
    int i = c->first[body] + body + contact->element[side];
    TdlVec3 a = tdl_sub3(c->node[i], c->last[i]), b = tdl_sub3(c->node[i + 1], c->last[i + 1]);
    return tdl_scale3(1.0 / dt, tdl_axpy3(tdl_scale3(1.0 - s, a), s, b));
}

double site_radius(const Contacts* c, const TdlContact* contact) {
    double least = INFINITY;
    for (int side = 0; side < 2; ++side) {
        int body = contact->body[side];
        const TdlCurve* curve = side_curve(c, contact, side);
        if (curve != NULL && body < c->rod_count + c->rigid_count) {
            double own = fmax(curve->radius[0], curve->radius[1]);
            least = own > 0.0 ? fmin(least, own) : least;
        }
    }
    return isfinite(least) ? least : c->thinnest;
}

bool contacts_reserve(const TdlAllocator* mem, void* array, int* capacity, int count, size_t size) {
    if (count <= *capacity) {
        return true;
    }
    void* block;
    memcpy(&block, array, sizeof block);
    int room = count + count / 2 + 16;
    void* grown = tdl_grow_array(mem, block, (size_t)room, size);
    if (grown == NULL) {
        return false;
    }
    memcpy(array, &grown, sizeof grown);
    *capacity = room;
    return true;
}

static bool is_jointed(const TdlWorld* world, const TdlContact* contact) {
    int a = contact->body[0], b = contact->body[1];
    return a != b && b >= 0 && b < world->rod_count && world->rods[a].root == world->rods[b].root;
}

// How fast the gap shrinks beyond the end of a rod's curve, on the next one; 0 elsewhere.
static double falls_beyond(const TdlWorld* world, const Contacts* c, const TdlContact* contact,
                           int side) {
    int body = contact->body[side], place = contact->element[side];
    if (body < 0 || body >= world->rod_count) {
        return 0.0;
    }
    const TdlCurve* own = &c->curve[c->first[body] + place];
    bool start = contact->s[side] <= 0.0, end = contact->s[side] >= own->end;
    int next = end ? place + 1 : place - 1;
    if ((!start && !end) || next < 0 || next >= c->fibre[body].count) {
        return 0.0;
    }
    const TdlCurve* other = &c->curve[c->first[body] + next];
    TdlVec3 t = tdl_unit3(tdl_curve_derivative(other, end ? 0.0 : other->end));
    double outwards = (end ? 1.0 : -1.0) * (side == 0 ? 1.0 : -1.0);
    return fmax(outwards * tdl_dot3(contact->basis.cx, t), 0.0);
}

// Whether a side is a piece of an element that was cut because it may wind about others.
static bool winds(const TdlWorld* world, const TdlContact* contact, int side) {
    int body = contact->body[side];
    return body >= 0 && body < world->rod_count && rod_winds(world->rods[body].rod);
}

// A contact at a joint of a rod's curves, where the gap goes on shrinking, is no minimum: the next
// curve has it, and the slanted normal of this one would stop what slides. It is passed on. Between
// rods side by side it stays, as one of the places on which they lie, with its normal across; and
// where rods wind about each other, which are held apart in many places, as it is. (W.7)
static bool is_passed_on(const TdlWorld* world, const Contacts* c, TdlContact* contact) {
    bool surface = side_curve(c, contact, 0) == NULL || side_curve(c, contact, 1) == NULL;
    if (surface || (winds(world, contact, 0) && winds(world, contact, 1))) {
        return false; // obstacles want these (X.24), surfaces have left them out
    }
    double fall = fmax(falls_beyond(world, c, contact, 0), falls_beyond(world, c, contact, 1));
    if (fall <= LEVEL) {
        return false;
    }
    TdlVec3 a = side_tangent(c, contact, 0), b = side_tangent(c, contact, 1);
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
    bool curves = side_curve(c, now, 0) != NULL && side_curve(c, now, 1) != NULL;
    if (!curves || !(tdl_dot3(was->force, then->basis.cx) > 0.0)) {
        return 0.0;
    }
    double whole = world->def.step / dt;
    double lost = c->asked[index] + RECOVERY * fmin(then->gap, 0.0) - now->gap;
    lost = fmin(lost * whole * whole, LOST_MOST * x->radius) - LOST_LEAST * x->radius;
    double foreseen = fmax(-was->sunk, 0.0);
    return fmax(foreseen + LOST_FOLLOWS * (lost - foreseen), 0.0);
}

// Keeps the sites of the last update, with what is known of the contacts they continue.
static TdlStatus keep_sites(TdlWorld* world, Contacts* c, double dt, ContactsFound* out) {
    int count, before = c->count;
    const ContactSite* sites = detector_sites(c->detector, &count);
    ArenaMark mark = arena_mark(&c->arena);
    Candidate* old = ARENA_NEW(&c->arena, Candidate, before + 1);
    if (old == NULL ||
        !contacts_reserve(&c->host.mem, &c->found, &c->capacity, count, sizeof *c->found)) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (before > 0) {
        memcpy(old, c->found, (size_t)before * sizeof *old);
    }
    for (int i = 0; i < count; ++i) {
        const TdlContact* contact = &sites[i].contact;
        Candidate* x = &c->found[i];
        *x = (Candidate){.site = sites[i], .radius = site_radius(c, contact)};
        x->jointed = is_jointed(world, contact);
        x->passed_on = is_passed_on(world, c, &x->site.contact);
        if (x->jointed || x->passed_on) {
            continue;
        }
        if (contact->previous >= 0 && contact->previous < before) {
            const Candidate* was = &old[contact->previous];
            x->force = was->force;
            x->closing = was->closing;
            x->fresh = contact->gap < RECOVERY * was->site.contact.gap;
            x->sunk = dt > 0.0 ? -foresee_loss(world, was, contact->previous, x, dt)
                               : fmin(was->sunk, 0.0);
        } else {
            x->fresh = true;
        }
        if (dt > 0.0) {
            TdlVec3 apart =
                tdl_sub3(side_rate(world, contact, 0, dt), side_rate(world, contact, 1, dt));
            x->closing = tdl_dot3(apart, contact->basis.cx);
        }
        out->closing = fmax(out->closing, x->closing);
        out->deepest = fmin(out->deepest, contact->gap);
        out->worst = fmin(out->worst, contact->gap / x->radius);
        out->fresh = x->fresh ? fmin(out->fresh, contact->gap / x->radius) : out->fresh;
    }
    c->count = out->count = count;
    arena_release(&c->arena, mark);
    return TDL_STATUS_OK;
}

static void measure_curve(void* user, int curve, int worker) {
    (void)worker;
    crossings_measure(user, curve);
}

static TdlStatus find_within(TdlWorld* world, double dt, double margin, ContactsFound* out) {
    Contacts* c = world->contacts;
    c->margin = margin;
    if (dt > 0.0) {
        pool_run(world->pool, c->curve_count, 64, measure_curve, c);
    }
    detector_set_margin(c->detector, margin, dt > 0.0 ? c->travel : NULL);
    TdlStatus status = tdl_detector_update(c->detector, c->fibre, c->fibre_count, c->obstacle,
                                           c->obstacle_count, NULL);
    if (status == TDL_STATUS_OK && world->detection_fn != NULL) {
        world->detection_fn(world->detection_user, c->detector, (long)world->step_count + 1);
    }
    if (status == TDL_STATUS_OK) {
        status = keep_sites(world, c, dt, out);
    }
    if (status == TDL_STATUS_OK && dt > 0.0) {
        status = crossings_find(world, c, &out->crossed);
    }
    if (status == TDL_STATUS_OK) {
        contacts_keep_nodes(c);
        c->ready = true;
    }
    return status;
}

void tdl_world_watch_detection(TdlWorld* world, TdlDetectionFn fn, void* user) {
    world->detection_fn = fn;
    world->detection_user = user;
}

TdlStatus contacts_find(TdlWorld* world, double dt, double next, ContactsFound* out) {
    Contacts* c = world->contacts;
    *out = (ContactsFound){0};
    c->ready = false;
    TdlStatus status = contacts_lay_out(world, c);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (dt > 0.0) {
        contacts_keep_curves(c);
    }
    contacts_take_shape(world);
    if (c->rod_count + c->rigid_count == 0) {
        c->count = 0;
        c->ready = true;
        return TDL_STATUS_OK;
    }
    return find_within(world, dt, choose_margin(world, c, next), out);
}

TdlContact* contacts_room_for_missed(Contacts* c, int count) {
    bool room =
        contacts_reserve(&c->host.mem, &c->missed, &c->missed_capacity, count, sizeof *c->missed);
    return room ? c->missed : NULL;
}

bool contacts_room_for_passed(Contacts* c, int count) {
    return contacts_reserve(&c->host.mem, &c->passed, &c->passed_capacity, count,
                            sizeof *c->passed);
}

TdlStatus contacts_widen(TdlWorld* world, double reach) {
    Contacts* c = world->contacts;
    ContactsFound found = {0};
    double most = 2.0 * MARGIN_MOST * c->widest, before = c->margin;
    contacts_guess_tried(c);
    contacts_take_shape(world);
    double margin = fmax(before, fmin(MARGIN_STEPS * reach, most));
    TdlStatus status = find_within(world, 0.0, margin, &found);
    contacts_mark_missed(c);
    return status;
}

bool contacts_ready(const Contacts* c) {
    return c->ready;
}

void contacts_forget(Contacts* c) {
    c->ready = false;
    c->count = c->force_count = c->force_kept = 0;
    c->margin = 0.0;
}

int contacts_count(const Contacts* c) {
    return c->count;
}

double contacts_worst(const Contacts* c) {
    double worst = 0.0;
    for (int i = 0; i < c->count; ++i) {
        if (!c->found[i].jointed && !c->found[i].passed_on) {
            worst = fmin(worst, c->found[i].site.contact.gap / c->found[i].radius);
        }
    }
    return worst;
}

void contacts_start_step(Contacts* c) {
    c->force_count = c->force_kept = 0;
}

void contacts_start_attempt(Contacts* c) {
    c->force_count = c->force_kept;
}

void contacts_keep_attempt(Contacts* c) {
    c->force_kept = c->force_count;
}

const TdlContactForce* contacts_forces(const Contacts* c, int* count) {
    *count = c->force_count;
    return c->force;
}

// --- state ----------------------------------------------------------------------------------

size_t contacts_state_size(const Contacts* c) {
    return c->ready ? sizeof c->margin + (size_t)c->count * sizeof *c->found : 0;
}

void contacts_save_state(const Contacts* c, void* bytes) {
    if (c->ready) {
        memcpy(bytes, &c->margin, sizeof c->margin);
        if (c->count > 0) {
            memcpy((char*)bytes + sizeof c->margin, c->found, (size_t)c->count * sizeof *c->found);
        }
    }
}

// A fibre's curves and, last, its surface; the triangles of a mesh whose vertices move, or one.
static int elements_of(const Contacts* c, int body) {
    int count = body < 0 ? 1 : c->fibre[body].count;
    for (int i = 0; i < c->surface_count; ++i) {
        const Surface* surface = c->surface[i].surface;
        if (c->surface[i].body == body) {
            count = body >= 0 ? count + 1 : surface->from != NULL ? surface->triangle_count : 1;
        }
    }
    return count;
}

static bool fits(const Contacts* c, const TdlContact* contact) {
    for (int side = 0; side < 2; ++side) {
        int body = contact->body[side], element = contact->element[side];
        bool obstacle = side == 1 && body < 0 && body >= -c->obstacle_count;
        bool fibre = body >= 0 && body < c->fibre_count;
        if ((!obstacle && !fibre) || element < 0 || element >= elements_of(c, body)) {
            return false;
        }
    }
    return contact->body[0] < c->rod_count + c->rigid_count;
}

TdlStatus contacts_load_state(TdlWorld* world, const void* bytes, size_t size) {
    Contacts* c = world->contacts;
    int kept = c->force_kept; // a step under way keeps what its parts did
    contacts_forget(c);
    c->force_kept = kept;
    if (size == 0) {
        return TDL_STATUS_OK; // saved before the first step
    }
    if (size < sizeof c->margin || (size - sizeof c->margin) % sizeof *c->found != 0) {
        return TDL_STATUS_BAD_INPUT;
    }
    TdlStatus status = contacts_lay_out(world, c);
    memcpy(&c->margin, bytes, sizeof c->margin);
    const char* rest = (const char*)bytes + sizeof c->margin;
    int count = (int)((size - sizeof c->margin) / sizeof *c->found);
    if (status != TDL_STATUS_OK ||
        !contacts_reserve(&c->host.mem, &c->found, &c->capacity, count, sizeof *c->found)) {
        return TDL_STATUS_NO_MEMORY;
    }
    ArenaMark mark = arena_mark(&c->arena);
    ContactSite* sites = ARENA_NEW(&c->arena, ContactSite, count + 1);
    if (sites == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    bool whole = c->margin >= 0.0 && isfinite(c->margin);
    for (int i = 0; i < count && whole; ++i) {
        memcpy(&c->found[i], rest + (size_t)i * sizeof *c->found, sizeof *c->found);
        sites[i] = c->found[i].site;
        whole = fits(c, &sites[i].contact);
    }
    status = whole ? detector_set_last(c->detector, sites, count) : TDL_STATUS_BAD_INPUT;
    arena_release(&c->arena, mark);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    contacts_take_shape(world);
    contacts_keep_nodes(c);
    c->count = count;
    c->ready = true;
    return TDL_STATUS_OK;
}
