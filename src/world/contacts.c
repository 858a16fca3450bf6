// Finding contacts: what detection sees of the bodies, how far it has to look, and what is kept
// from one step to the next.
//
// Detection runs once a step, at its end: it judges the step (how deep, whether fibres passed each
// other) and its contacts are those of the next step. All that the next step needs is kept with the
// contacts, so that it is the same after a resume.
#include "world/contacts.h"

#include "base/log.h"
#include "curve/curve.h"
#include "detect/detector.h"
#include "world/contact_data.h"
#include "world/crossings.h"

#include <stdlib.h>
#include <string.h>

// Candidates are looked for up to so many times what gaps close by in a step, at least this share
// of the thinnest radius and at most so many of the widest.
static const double MARGIN_STEPS = 1.5;
static const double MARGIN_LEAST = 0.5;
static const double MARGIN_MOST = 3.0;
static const double MARGIN_KEPT = 0.8; // of the last step's

// A contact nearer than so many radii at the end of an undone step was missed by it.
static const double MISSED_RADII = 0.5;

// Overlap in radii from which a place is held when the step is done again, and the part of an older
// one that may be left; an overlap counts as new when a step leaves more of it than that.
static const double SUNK_RADII = 0.015;
static const double RECOVERY = 0.85;

// Elements of a thick rod, which may wind about each other, are cut into pieces of so many radii: a
// pair has one contact, its deepest. Long thin ones, which may run side by side, are cut in two,
// and a pair has a contact at each minimum of its gap.
static const double WINDING_RADII = 3.0;
static const double PIECE_RADII = 60.0;
enum { MAX_WINDING = 5, MAX_PIECES = 2 };

// Contacts of two bodies nearer than so many widths are one. More, and of the places at which a
// tight knot holds itself apart some are left out, others in the next step, and it shakes.
static const double MERGE_WIDTHS = 0.5;

// A gap that changes by less than this per unit of length, at the end of a curve, has its minimum
// there: the place of a minimum is known to about 1e-8 m, on curves of radii above 1e-2 mm.
static const double LEVEL = 1.0e-6;

// Sine of the angle between rods that lie side by side.
static const double SIDE_BY_SIDE = 0.1;

// Places of a pair of curves nearer than this share of them count as one: rods that lie along each
// other would have hundreds.
static const double MINIMA_SHARE = 0.25;

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
    detector.thread_count = world->def.thread_count;
    if (def->geometry == TDL_CONTACT_BASELINE) {
        detector.method = TDL_DISTANCE_SEGMENTS;
        detector.tolerance = def->segment_length;
    }
    TdlFrictionOptions options = tdl_friction_options_default();
    options.solver = def->solver;
    options.tolerance = def->tolerance;
    options.max_iterations = def->max_iterations;
    options.threads = world->def.thread_count;
    TdlStatus status = tdl_detector_create(&c->host, &detector, &c->detector);
    if (status == TDL_STATUS_OK) {
        status = tdl_friction_solver_create(&c->host, &options, &c->solver);
    }
    options.solver = TDL_FRICTION_AUTO;
    if (status == TDL_STATUS_OK) {
        status = tdl_friction_solver_create(&c->host, &options, &c->thorough);
    }
    if (status != TDL_STATUS_OK) {
        contacts_destroy(c);
        return status;
    }
    *out = c;
    return TDL_STATUS_OK;
}

static void free_layout(Contacts* c) {
    void* arrays[] = {c->fibre,       c->first,   c->collider_of, c->curve, c->before,
                      c->rod_curve,   c->travel,  c->node,        c->last,  c->obstacle,
                      c->obstacle_of, c->surface, c->surface_of};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
        tdl_free(&c->host.mem, arrays[i]);
    }
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
    free_layout(c);
    tdl_free(&host.mem, c->found);
    tdl_free(&host.mem, c->missed);
    tdl_free(&host.mem, c->sunk);
    tdl_free(&host.mem, c->tried);
    tdl_free(&host.mem, c->tried_velocity);
    tdl_free(&host.mem, c->passed);
    tdl_free(&host.mem, c->force);
    tdl_free(&host.mem, c);
}

// --- what detection sees --------------------------------------------------------------------

static double rod_radius(const Rod* rod) {
    return fmax(rod->radius[0], rod->radius[1]);
}

// Pieces of an element short enough to wind about others; 1 of a long thin one.
static int winding_pieces(const Rod* rod) {
    double pieces = ceil(rod->element_length / (WINDING_RADII * rod_radius(rod)));
    return pieces <= MAX_WINDING ? (int)pieces : 1;
}

// Curves that stand for an element.
static int curves_each(const TdlWorld* world, const Rod* rod) {
    if (!rod->model->carried) {
        return 1;
    }
    if (world->def.contacts.geometry == TDL_CONTACT_SEGMENTS) {
        return world->def.contacts.segments;
    }
    double radii = rod->element_length / rod_radius(rod);
    int winding = winding_pieces(rod), side_by_side = (int)fmin(radii / PIECE_RADII, MAX_PIECES);
    int pieces = winding > 1 ? winding : side_by_side;
    return rod->model == &SUPER_CLOTHOID || pieces < 1 ? 1 : pieces;
}

static int rod_curve_count(const TdlWorld* world, const Rod* rod) {
    return rod->element_count * curves_each(world, rod);
}

// What detection sees as such, not as a fibre. (A mesh is one for the sake of its number.)
static bool is_obstacle(const WorldCollider* wc) {
    return wc->def.shape <= TDL_SHAPE_PLATE || wc->surface != NULL;
}

static void count_fibres(const TdlWorld* world, Contacts* c) {
    c->rod_count = world->rod_count;
    c->rigid_count = world->rigid_count;
    c->collider_count = world->collider_count;
    c->fibre_count = world->rod_count + world->rigid_count;
    c->curve_count = c->obstacle_count = c->surface_count = 0;
    for (int i = 0; i < world->rod_count; ++i) {
        c->curve_count += rod_curve_count(world, world->rods[i].rod);
    }
    for (int i = 0; i < world->rigid_count; ++i) {
        c->curve_count += world->rigids[i].rigid->curve_count;
        c->surface_count += world->rigids[i].surface != NULL;
    }
    for (int i = 0; i < world->collider_count; ++i) {
        const WorldCollider* wc = &world->colliders[i];
        c->curve_count += wc->curve_count;
        c->fibre_count += wc->curve_count > 0;
        c->obstacle_count += is_obstacle(wc);
        c->surface_count += wc->surface != NULL;
    }
}

static void place_fibre(Contacts* c, int fibre, int curves, int* curve) {
    c->first[fibre] = *curve;
    c->fibre[fibre] = (TdlFibre){.curves = c->curve + *curve, .count = curves};
    *curve += curves;
}

static void place_fibres(const TdlWorld* world, Contacts* c) {
    int curve = 0, fibre = 0, obstacle = 0, surface = 0;
    c->slender = world->rod_count > 0;
    c->thinnest = INFINITY;
    c->widest = 0.0;
    for (int i = 0; i < world->rod_count; ++i) {
        const Rod* rod = world->rods[i].rod;
        place_fibre(c, fibre++, rod_curve_count(world, rod), &curve);
        c->slender = c->slender && rod->element_length > PIECE_RADII * rod_radius(rod);
        c->thinnest = fmin(c->thinnest, rod_radius(rod));
        c->widest = fmax(c->widest, rod_radius(rod));
    }
    for (int i = 0; i < world->rigid_count; ++i) {
        const Rigid* rigid = world->rigids[i].rigid;
        c->thinnest = fmin(c->thinnest, rigid_size(rigid));
        c->widest = fmax(c->widest, rigid_size(rigid));
        place_fibre(c, fibre, rigid->curve_count, &curve);
        if (world->rigids[i].surface != NULL) {
            c->surface_of[surface] = i;
            c->surface[surface++] = (SurfaceBody){world->rigids[i].surface, .body = fibre,
                                                  .element = rigid->curve_count};
        }
        c->fibre[fibre++].rigid = true;
    }
    for (int i = 0; i < world->collider_count; ++i) {
        const WorldCollider* wc = &world->colliders[i];
        if (wc->curve_count > 0) {
            c->collider_of[fibre] = i;
            place_fibre(c, fibre, wc->curve_count, &curve);
            c->fibre[fibre].rigid = c->fibre[fibre].fixed = true;
            ++fibre;
        }
        if (wc->surface != NULL) {
            c->surface_of[surface] = i;
            c->surface[surface++] = (SurfaceBody){wc->surface, .body = -1 - obstacle};
        }
        if (is_obstacle(wc)) {
            c->obstacle_of[obstacle++] = i;
        }
    }
    detector_set_surfaces(c->detector, c->surface, c->surface_count);
    detector_set_minima(c->detector, c->slender);
}

// Room for what detection sees; made anew when bodies were added.
static TdlStatus lay_out(const TdlWorld* world, Contacts* c) {
    if (c->rod_count == world->rod_count && c->rigid_count == world->rigid_count &&
        c->collider_count == world->collider_count && c->fibre != NULL) {
        return TDL_STATUS_OK;
    }
    free_layout(c);
    count_fibres(world, c);
    const TdlAllocator* mem = &c->host.mem;
    size_t fibres = (size_t)c->fibre_count + 1, curves = (size_t)c->curve_count + 1;
    c->fibre = tdl_alloc_array(mem, fibres, sizeof *c->fibre);
    c->first = tdl_alloc_array(mem, fibres, sizeof *c->first);
    c->collider_of = tdl_alloc_array(mem, fibres, sizeof *c->collider_of);
    c->curve = tdl_alloc_array(mem, curves, sizeof *c->curve);
    c->before = tdl_alloc_array(mem, curves, sizeof *c->before);
    c->travel = tdl_alloc_array(mem, curves, sizeof *c->travel);
    c->rod_curve = tdl_alloc_array(mem, curves, sizeof *c->rod_curve);
    c->node = tdl_alloc_array(mem, curves + fibres, sizeof *c->node);
    c->last = tdl_alloc_array(mem, curves + fibres, sizeof *c->last);
    c->obstacle = tdl_alloc_array(mem, (size_t)c->obstacle_count + 1, sizeof *c->obstacle);
    c->obstacle_of = tdl_alloc_array(mem, (size_t)c->obstacle_count + 1, sizeof *c->obstacle_of);
    c->surface = tdl_alloc_array(mem, (size_t)c->surface_count + 1, sizeof *c->surface);
    c->surface_of = tdl_alloc_array(mem, (size_t)c->surface_count + 1, sizeof *c->surface_of);
    if (!c->surface || !c->surface_of || !c->fibre || !c->first || !c->collider_of || !c->curve ||
        !c->before || !c->travel || !c->rod_curve || !c->node || !c->last || !c->obstacle ||
        !c->obstacle_of) {
        tdl_free(mem, c->fibre);
        c->fibre = NULL;
        return TDL_STATUS_NO_MEMORY;
    }
    place_fibres(world, c);
    return TDL_STATUS_OK;
}

// Chords of an element's curve.
static void make_proxies(const TdlCurve* smooth, int count, TdlCurve* out) {
    TdlVec3 from = tdl_curve_point(smooth, 0.0);
    for (int k = 0; k < count; ++k) {
        TdlVec3 to = tdl_curve_point(smooth, smooth->end * (k + 1) / count);
        tdl_curve_segment(&(TdlHost){0}, from, to, &out[k]);
        from = to;
    }
}

// Cuts the helix in curve[0] into equal ones.
static void cut_helix(TdlCurve* curve, int count) {
    TdlCurve whole = *curve;
    double length = whole.end / count;
    for (int k = 0; k < count; ++k) {
        curve[k] = whole;
        curve[k].end = length;
        if (k > 0) {
            TdlVec3 w = whole.helix.w, t = tdl_unit3(tdl_curve_derivative(&whole, k * length));
            curve[k].origin = tdl_curve_point(&whole, k * length);
            curve[k].helix.t = t;
            curve[k].helix.e1 = tdl_cross3(w, t);
            curve[k].helix.e2 = tdl_cross3(w, curve[k].helix.e1);
        }
    }
}

static bool same(TdlVec3 a, TdlVec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static void fill_rod(const TdlWorld* world, Contacts* c, int index) {
    const Rod* rod = world->rods[index].rod;
    const TdlFibre* fibre = &c->fibre[index];
    if (fibre->count == 0) {
        return;
    }
    RodCurve* shape = c->rod_curve + c->first[index];
    TdlCurve* curve = c->curve + c->first[index];
    int each = fibre->count / rod->element_count;
    double radius = rod_radius(rod);
    rod->model->curves(rod, shape);
    for (int e = 0; e < rod->element_count; ++e) {
        TdlCurve* own = &curve[e * each];
        TdlHost silent = {.log_level = TDL_LOG_ERROR};
        if (same(shape[e].kappa, shape[e].kappa_end)) {
            tdl_curve_helix(&silent, shape[e].start, shape[e].kappa, shape[e].length, own);
        } else {
            tdl_curve_clothoid(&silent, shape[e].start, shape[e].kappa, shape[e].kappa_end,
                               shape[e].length, own);
        }
        if (world->def.contacts.geometry == TDL_CONTACT_SEGMENTS) {
            TdlCurve smooth = *own;
            make_proxies(&smooth, each, own);
        } else if (each > 1) {
            cut_helix(own, each);
        }
        for (int k = 0; k < each; ++k) {
            own[k].radius[0] = own[k].radius[1] = radius;
        }
    }
}

// The ends of a fibre's curves, one more than it has curves.
static void fill_nodes(Contacts* c, int fibre) {
    const TdlFibre* f = &c->fibre[fibre];
    TdlVec3* node = c->node + c->first[fibre] + fibre;
    for (int i = 0; i < f->count; ++i) {
        node[i] = f->curves[i].origin;
    }
    if (f->count > 0) {
        const TdlCurve* tip = &f->curves[f->count - 1];
        node[f->count] = tdl_curve_point(tip, tip->end);
    }
}

static void fill_fibre(void* user, int index, int worker) {
    (void)worker;
    const TdlWorld* world = user;
    Contacts* c = world->contacts;
    int rigid = index - c->rod_count, fixed = rigid - c->rigid_count;
    TdlCurve* curve = c->curve + c->first[index];
    if (rigid < 0) {
        fill_rod(world, c, index);
    } else if (fixed < 0) {
        rigid_curves(world->rigids[rigid].rigid, curve);
    } else {
        const WorldCollider* wc = &world->colliders[c->collider_of[index]];
        for (int i = 0; i < wc->curve_count; ++i) {
            curve[i] = curve_moved(&wc->curves[i], wc->pose);
        }
    }
    fill_nodes(c, index);
}

static void fill_obstacles(const TdlWorld* world, Contacts* c) {
    for (int i = 0; i < c->obstacle_count; ++i) {
        const WorldCollider* wc = &world->colliders[c->obstacle_of[i]];
        c->obstacle[i] = wc->def;
        c->obstacle[i].pose = wc->pose;
    }
    for (int i = 0; i < c->surface_count; ++i) {
        int of = c->surface_of[i];
        c->surface[i].pose =
            c->surface[i].body < 0 ? world->colliders[of].pose : world->rigids[of].rigid->pose;
        surface_body_measure(&c->surface[i]);
    }
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

static double site_radius(const Contacts* c, const TdlContact* contact) {
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

static TdlVec3 side_tangent(const Contacts* c, const TdlContact* contact, int side) {
    const TdlCurve* curve = &c->curve[c->first[contact->body[side]] + contact->element[side]];
    return tdl_unit3(tdl_curve_derivative(curve, contact->s[side]));
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
    return body >= 0 && body < world->rod_count && winding_pieces(world->rods[body].rod) > 1;
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

static void keep_nodes(Contacts* c) {
    TdlVec3* swap = c->last;
    c->last = c->node;
    c->node = swap;
}

// The shape so far becomes the one before the step.
static void keep_curves(Contacts* c) {
    TdlCurve* swap = c->before;
    c->before = c->curve;
    c->curve = swap;
    for (int i = 0; i < c->fibre_count; ++i) {
        c->fibre[i].curves = c->curve + c->first[i];
    }
    for (int i = 0; i < c->surface_count; ++i) {
        c->surface[i].before = c->surface[i].pose;
    }
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
        keep_nodes(c);
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
    TdlStatus status = lay_out(world, c);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    if (dt > 0.0) {
        keep_curves(c);
    }
    pool_run(world->pool, c->fibre_count, 8, fill_fibre, world);
    fill_obstacles(world, c);
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

static int compare_bodies(const TdlContact* a, const TdlContact* b) {
    int k = a->body[0] != b->body[0] ? 0 : 1;
    return (a->body[k] > b->body[k]) - (a->body[k] < b->body[k]);
}

static int compare_missed(const void* a, const void* b) {
    return compare_bodies(a, b);
}

void contacts_start_interval(Contacts* c) {
    c->missed_count = 0;
}

TdlStatus contacts_note_missed(Contacts* c) {
    if (contacts_room_for_missed(c, c->missed_count + c->count) == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < c->count; ++i) {
        if (c->found[i].site.contact.gap < MISSED_RADII * c->found[i].radius) {
            c->missed[c->missed_count++] = c->found[i].site.contact;
        }
    }
    qsort(c->missed, (size_t)c->missed_count, sizeof *c->missed, compare_missed);
    return TDL_STATUS_OK;
}

// Whether two contacts of the same bodies are of the same curves, or of neighbours.
static bool same_place(const TdlContact* a, const TdlContact* b) {
    bool there = a->body[1] < 0 || abs(a->element[1] - b->element[1]) <= 1;
    return there && abs(a->element[0] - b->element[0]) <= 1;
}

// Both lists are sorted by bodies.
static void mark_missed(Contacts* c) {
    int from = 0;
    for (int i = 0; i < c->count; ++i) {
        const TdlContact* x = &c->found[i].site.contact;
        while (from < c->missed_count && compare_bodies(&c->missed[from], x) < 0) {
            ++from;
        }
        for (int k = from; k < c->missed_count && compare_bodies(&c->missed[k], x) == 0; ++k) {
            c->found[i].missed = c->found[i].missed || same_place(&c->missed[k], x);
        }
    }
}

TdlStatus contacts_note_sunk(Contacts* c) {
    c->sunk_count = 0;
    for (int i = 0; i < c->count; ++i) {
        const Candidate* x = &c->found[i];
        const TdlContact* contact = &x->site.contact;
        bool curves = side_curve(c, contact, 0) != NULL && side_curve(c, contact, 1) != NULL;
        bool sunk = x->fresh && contact->gap < -SUNK_RADII * x->radius;
        if (!sunk || x->jointed || x->passed_on || !curves) {
            continue; // where obstacles and surfaces are touched does not run away
        }
        if (!contacts_reserve(&c->host.mem, &c->sunk, &c->sunk_capacity, c->sunk_count + 1,
                              sizeof *c->sunk)) {
            return TDL_STATUS_NO_MEMORY;
        }
        c->sunk[c->sunk_count++] = x->site;
    }
    return TDL_STATUS_OK;
}

// The nearest place on a curve from a guess that is not far: three steps along the tangent.
static double foot(const TdlCurve* curve, TdlVec3 from, double s) {
    for (int k = 0; k < 3; ++k) {
        TdlVec3 t = tdl_curve_derivative(curve, s);
        double along = tdl_dot3(tdl_sub3(from, tdl_curve_point(curve, s)), t) / tdl_dot3(t, t);
        s = fmin(fmax(s + along, 0.0), curve->end);
    }
    return s;
}

static bool is_end(const TdlCurve* curve, double s) {
    return s <= 0.0 || s >= curve->end;
}

// The place of a site in the present shape: the same on the first body, the nearest on the second,
// and the gap across both. False when the bodies are turned too much for that.
static bool hold_place(const Contacts* c, ContactSite* site) {
    TdlContact* x = &site->contact;
    const TdlCurve* a = &c->curve[c->first[x->body[0]] + x->element[0]];
    const TdlCurve* b = &c->curve[c->first[x->body[1]] + x->element[1]];
    x->point[0] = tdl_curve_point(a, x->s[0]);
    x->s[1] = foot(b, x->point[0], x->s[1]);
    x->point[1] = tdl_curve_point(b, x->s[1]);
    TdlVec3 ta = side_tangent(c, x, 0), tb = side_tangent(c, x, 1), last = x->basis.cx;
    TdlVec3 between = tdl_sub3(x->point[1], x->point[0]), n = tdl_cross3(ta, tb), t = ta;
    if (tdl_norm3(n) > SIDE_BY_SIDE) {
        bool end = is_end(a, x->s[0]) || is_end(b, x->s[1]);
        n = end ? between : tdl_scale3(tdl_dot3(n, last) < 0.0 ? -1.0 : 1.0, n);
    } else {
        t = tdl_unit3(tdl_axpy3(ta, tdl_dot3(ta, tb) < 0.0 ? -1.0 : 1.0, tb));
        n = tdl_axpy3(between, -tdl_dot3(between, t), t);
    }
    n = tdl_unit3(n);
    t = fabs(tdl_dot3(n, t)) < 0.9 ? t : tb;
    t = tdl_unit3(tdl_axpy3(t, -tdl_dot3(n, t), n));
    x->basis = (TdlMat3){n, t, tdl_cross3(n, t)};
    x->gap = tdl_dot3(between, n) - tdl_curve_radius(a, x->s[0]) - tdl_curve_radius(b, x->s[1]);
    x->previous = -1;
    return tdl_dot3(n, last) > 0.5;
}

static int compare_candidates(const void* a, const void* b) {
    return contact_compare(&((const Candidate*)a)->site, &((const Candidate*)b)->site);
}

// The first of the candidates at a site, within a radius along both; where there is none, the
// count. Those of its bodies begin at `from`.
static int find_near(const Contacts* c, int from, int known, const ContactSite* site) {
    for (int i = from; i < known && compare_bodies(&c->found[i].site.contact, &site->contact) == 0;
         ++i) {
        const Candidate* x = &c->found[i];
        if (!x->passed_on && fabs(x->site.arc[0] - site->arc[0]) < x->radius &&
            fabs(x->site.arc[1] - site->arc[1]) < x->radius) {
            return i;
        }
    }
    return c->count;
}

TdlStatus contacts_hold_sunk(TdlWorld* world) {
    Contacts* c = world->contacts;
    int count = c->count + c->sunk_count;
    ArenaMark mark = arena_mark(&c->arena);
    ContactSite* sites = ARENA_NEW(&c->arena, ContactSite, count + 1);
    if (sites == NULL ||
        !contacts_reserve(&c->host.mem, &c->found, &c->capacity, count, sizeof *c->found)) {
        return TDL_STATUS_NO_MEMORY;
    }
    // the attempt before is a good guess
    for (int i = 0; i < c->count && c->tried_count == c->count; ++i) {
        c->found[i].force = c->tried[i];
    }
    // both lists are sorted by bodies
    for (int i = 0, from = 0, known = c->count; i < c->sunk_count; ++i) {
        ContactSite site = c->sunk[i];
        while (from < known && compare_bodies(&c->found[from].site.contact, &site.contact) < 0) {
            ++from;
        }
        double later = site.contact.gap;
        if (!hold_place(c, &site)) {
            continue;
        }
        int at = find_near(c, from, known, &site);
        if (at == c->count) {
            c->found[c->count++] =
                (Candidate){.site = site, .radius = site_radius(c, &site.contact), .missed = true};
        }
        double sunk = RECOVERY * fmin(c->found[at].site.contact.gap, 0.0) - later;
        c->found[at].sunk = fmax(c->found[at].sunk, sunk);
    }
    qsort(c->found, (size_t)c->count, sizeof *c->found, compare_candidates);
    for (int i = 0; i < c->count; ++i) {
        sites[i] = c->found[i].site;
    }
    TdlStatus status = detector_set_last(c->detector, sites, c->count);
    arena_release(&c->arena, mark);
    return status;
}

TdlStatus contacts_widen(TdlWorld* world, double reach) {
    Contacts* c = world->contacts;
    ContactsFound found = {0};
    double most = 2.0 * MARGIN_MOST * c->widest, before = c->margin;
    pool_run(world->pool, c->fibre_count, 8, fill_fibre, world);
    fill_obstacles(world, c);
    double margin = fmax(before, fmin(MARGIN_STEPS * reach, most));
    TdlStatus status = find_within(world, 0.0, margin, &found);
    mark_missed(c);
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
    TdlStatus status = lay_out(world, c);
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
    pool_run(world->pool, c->fibre_count, 8, fill_fibre, world);
    fill_obstacles(world, c);
    keep_nodes(c);
    c->count = count;
    c->ready = true;
    return TDL_STATUS_OK;
}
