// What detection sees of the bodies: rods as fibres of curves, rigid bodies and colliders as
// curves, obstacles or surfaces.
#include "world/contact_layout.h"

#include "curve/curve.h"
#include "detect/detector.h"

#include <string.h>

// Elements of a thick rod, which may wind about each other, are cut into pieces of so many radii: a
// pair has one contact, its deepest. Long thin ones, which may run side by side, are cut in two,
// and a pair has a contact at each minimum of its gap.
static const double WINDING_RADII = 3.0;
static const double PIECE_RADII = 60.0;
enum { MAX_WINDING = 5, MAX_PIECES = 2 };

void contacts_free_layout(Contacts* c) {
    void* arrays[] = {c->fibre,       c->first,   c->collider_of, c->curve, c->before,
                      c->rod_curve,   c->travel,  c->node,        c->last,  c->obstacle,
                      c->obstacle_of, c->surface, c->surface_of};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
        tdl_free(&c->host.mem, arrays[i]);
    }
}

static double rod_radius(const Rod* rod) {
    return fmax(rod->radius[0], rod->radius[1]);
}

// Pieces of an element short enough to wind about others; 1 of a long thin one.
static int winding_pieces(const Rod* rod) {
    double pieces = ceil(rod->element_length / (WINDING_RADII * rod_radius(rod)));
    return pieces <= MAX_WINDING ? (int)pieces : 1;
}

bool rod_winds(const Rod* rod) {
    return winding_pieces(rod) > 1;
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

TdlStatus contacts_lay_out(const TdlWorld* world, Contacts* c) {
    if (c->rod_count == world->rod_count && c->rigid_count == world->rigid_count &&
        c->collider_count == world->collider_count && c->fibre != NULL) {
        return TDL_STATUS_OK;
    }
    contacts_free_layout(c);
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

void contacts_take_shape(TdlWorld* world) {
    pool_run(world->pool, world->contacts->fibre_count, 8, fill_fibre, world);
    fill_obstacles(world, world->contacts);
}

void contacts_keep_nodes(Contacts* c) {
    TdlVec3* swap = c->last;
    c->last = c->node;
    c->node = swap;
}

void contacts_keep_curves(Contacts* c) {
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
