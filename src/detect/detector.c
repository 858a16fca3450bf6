// Detection among many fibres: broad phase, narrow phase, then sorting, merging and matching.
//
// Pairs are cut into blocks of fixed size, each block writes its own list, and the lists are joined
// in order: the contacts have the same bits for any number of threads. Lists and trees are kept
// from update to update.
#include "detect/detector.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "curve/curve.h"
#include "detect/broad.h"
#include "detect/narrow.h"
#include "detect/on_cylinder.h"
#include "detect/on_implicit.h"
#include "detect/sheet_pairs.h"
#include "detect/tree.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PAIR_BLOCK = 256, ELEMENT_BLOCK = 64 };

// A contact that moved less than so many widths along its fibres is the same as in the last step.
static const double MATCH_WIDTHS = 8.0;

// Points of a fibre nearer along it than this share of half a turn do not touch. (X.19)
static const double SELF_TURN = 0.75 * 3.141592653589793;

// Nor do points nearer along it than so many radii, however sharply it is bent: more than pi.
static const double SELF_RADII = 4.0;

struct TdlDetector {
    TdlHost host;
    TdlDetectorDef def;
    Pool *pool, *own_pool; // the second null: the first is lent
    Sweep* sweep;
    CapsuleTree* tree;

    int element_count, element_capacity;
    Element* element;
    TdlCurveCapsules* capsules;
    int *fibre, *place; // [element_count]
    int* skip;          // [fibre_count]
    int fibre_capacity;
    PairList pairs;
    const Travel* travel;
    double thinnest; // m, radius

    const TdlColliderDef* collider;
    int collider_count;
    const SurfaceBody* surface;
    int surface_count;
    int* own_surface; // [fibre_count] of a fibre, or -1
    int* fibre_size;  // [fibre_count] elements
    const TdlFibre* fibres;
    SiteList* block; // one per block of work
    int block_capacity;
    SiteList sites, last;
    unsigned char* mark;
    int mark_capacity;
    ContactBrief* open; // for merging
    int open_capacity;
    TdlContact* contact;
    int contact_count, contact_capacity;
    Stop stop;
    atomic_bool stopped; // the caller asked to: what is left of the blocks is passed over
};

TdlDetectorDef tdl_detector_def_default(void) {
    return (TdlDetectorDef){.method = TDL_DISTANCE_FAST,
                            .tolerance = 1.0e-12,
                            .proxy_segments = 8,
                            .self = true,
                            .merge = -1.0,
                            .broad = TDL_BROAD_TREE,
                            .thread_count = 1};
}

static TdlStatus check_def(const TdlHost* host, const TdlDetectorDef* def) {
    if (!(def->margin >= 0.0) || isinf(def->margin)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "detector: margin is %g, must be >= 0",
                        def->margin);
    }
    if (!(def->tolerance > 0.0) || isinf(def->tolerance) || def->proxy_segments < 1) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "detector: tolerance %g and proxy segments %d must be > 0", def->tolerance,
                        def->proxy_segments);
    }
    if (!(def->minima_share >= 0.0 && def->minima_share <= 1.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "detector: minima share %g is not in 0 to 1",
                        def->minima_share);
    }
    if (!(def->spacing >= 0.0) || isinf(def->spacing) || isnan(def->merge)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "detector: spacing %g or merge %g is wrong",
                        def->spacing, def->merge);
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_detector_create(const TdlHost* host, const TdlDetectorDef* def, TdlDetector** out) {
    return detector_create_lent(host, def, NULL, out);
}

TdlStatus detector_create_lent(const TdlHost* host, const TdlDetectorDef* def, Pool* pool,
                               TdlDetector** out) {
    TdlStatus status = check_def(host, def);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlDetector* d = tdl_alloc_zero(&host->mem, sizeof *d);
    if (d == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    d->host = *host;
    d->def = *def;
    if (pool == NULL) {
        status = pool_create(host, def->thread_count, &d->own_pool);
    }
    d->pool = pool == NULL ? d->own_pool : pool;
    if (status == TDL_STATUS_OK) {
        status = sweep_create(host, &d->sweep);
    }
    if (status == TDL_STATUS_OK) {
        status = capsule_tree_create(host, &d->tree);
    }
    if (status != TDL_STATUS_OK) {
        tdl_detector_destroy(d);
        return status;
    }
    *out = d;
    return TDL_STATUS_OK;
}

void tdl_detector_destroy(TdlDetector* d) {
    if (d == NULL) {
        return;
    }
    TdlAllocator mem = d->host.mem;
    pool_destroy(d->own_pool);
    sweep_destroy(d->sweep);
    capsule_tree_destroy(d->tree);
    pair_list_free(&mem, &d->pairs);
    for (int i = 0; i < d->block_capacity; ++i) {
        site_list_free(&mem, &d->block[i]);
    }
    site_list_free(&mem, &d->sites);
    site_list_free(&mem, &d->last);
    void* arrays[] = {d->element, d->capsules, d->fibre,   d->place,       d->skip,      d->block,
                      d->open,    d->mark,     d->contact, d->own_surface, d->fibre_size};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
        tdl_free(&mem, arrays[i]);
    }
    tdl_free(&mem, d);
}

// Makes room for `count` items in an array that may move; new items are cleared.
static bool reserve(const TdlAllocator* mem, void* array, int* capacity, int count, size_t size) {
    if (count <= *capacity) {
        return true;
    }
    char* block; // `array` points to a pointer of some type: copied, not cast
    memcpy(&block, array, sizeof block);
    char* grown = tdl_grow_array(mem, block, (size_t)count, size);
    if (grown == NULL) {
        return false;
    }
    memset(grown + (size_t)*capacity * size, 0, (size_t)(count - *capacity) * size);
    memcpy(array, &grown, sizeof grown);
    *capacity = count;
    return true;
}

static bool reserve_elements(TdlDetector* d, int elements, int fibres) {
    const TdlAllocator* mem = &d->host.mem;
    int was = d->element_capacity, a = was, b = was, c = was, e = was;
    int f = d->fibre_capacity, g = f;
    bool good = reserve(mem, &d->element, &a, elements, sizeof *d->element) &&
                reserve(mem, &d->capsules, &b, elements, sizeof *d->capsules) &&
                reserve(mem, &d->fibre, &c, elements, sizeof *d->fibre) &&
                reserve(mem, &d->place, &e, elements, sizeof *d->place) &&
                reserve(mem, &d->own_surface, &f, fibres, sizeof *d->own_surface) &&
                reserve(mem, &d->fibre_size, &g, fibres, sizeof *d->fibre_size) &&
                reserve(mem, &d->skip, &d->fibre_capacity, fibres, sizeof *d->skip);
    if (good && elements > was) {
        d->element_capacity = elements;
    }
    return good;
}

// What matters of a fibre when it touches itself.
typedef struct FibreShape {
    double bend;     // largest curvature, with what it turns at joints spread over their elements
    double longest;  // element
    double radius;   // largest
    bool arc_length; // parameters are arc length
} FibreShape;

static FibreShape fibre_shape(const TdlFibre* fibre) {
    FibreShape shape = {.arc_length = true};
    for (int i = 0; i < fibre->count; ++i) {
        const TdlCurve *c = &fibre->curves[i], *before = i > 0 ? c - 1 : NULL;
        double turn = 0.0;
        if (before != NULL && c->end > 0.0 && before->end > 0.0) {
            TdlVec3 a = tdl_curve_derivative(before, before->end), b = tdl_curve_derivative(c, 0.0);
            turn = atan2(tdl_norm3(tdl_cross3(a, b)), tdl_dot3(a, b)) / fmin(c->end, before->end);
        }
        double own = curve_bend(c, 0.0, c->end);
        double next = before == NULL ? 0.0 : curve_bend(before, 0.0, before->end);
        shape.bend = fmax(shape.bend, turn + fmax(own, next));
        shape.longest = fmax(shape.longest, c->end);
        shape.radius = fmax(shape.radius, fmax(c->radius[0], c->radius[1]));
        shape.arc_length = shape.arc_length && c->kind <= TDL_CURVE_CLOTHOID;
    }
    return shape;
}

// Where the seat of an element is on its i-th curve; a joint is on both sides. (X.36)
static double seat_on(const TdlFibre* fibre, int i) {
    int pieces = fibre->pieces > 0 ? fibre->pieces : 1;
    double end = fibre->curves[i].end;
    if (fibre->seats == TDL_SEATS_JOINTS) {
        return i % pieces == 0 ? 0.0 : i % pieces == pieces - 1 ? end : -1.0;
    }
    int place = fibre->seats == TDL_SEATS_MIDDLES ? 2 * (i % pieces) - pieces : 1;
    return place == -2 ? end : place == -1 ? 0.5 * end : place == 0 ? 0.0 : -1.0;
}

static TdlStatus take_fibre(TdlDetector* d, const TdlFibre* fibre, int index) {
    double arc = 0.0;
    FibreShape shape = fibre_shape(fibre);
    double apart = shape.bend > 0.0 ? SELF_TURN / shape.bend : INFINITY;
    apart = fmax(apart, SELF_RADII * shape.radius);
    double never = shape.longest > 0.0 ? apart / shape.longest : INFINITY;
    d->skip[index] = never < 1.0e9 ? (int)never - 1 : INT_MAX;
    d->skip[index] = d->skip[index] < 0 ? 0 : d->skip[index];
    if (!shape.arc_length) {
        d->skip[index] = 1; // parameters tell nothing of arc length: neighbours do not touch
        apart = 0.0;
    }
    bool stiff = fibre->stiff || fibre->fixed;
    if (stiff) {
        d->skip[index] = fibre->fixed ? -1 : INT_MAX;
    }
    for (int i = 0; i < fibre->count; ++i) {
        const TdlCurve* c = &fibre->curves[i];
        if (!curve_finite(c) || c->radius[0] < 0.0 || c->radius[1] < 0.0) {
            return tdl_fail(&d->host, TDL_STATUS_BAD_ARGUMENT,
                            "detector: element %d of fibre %d is not finite", i, index);
        }
        if (stiff && i > 0) {
            // elements that do not join, such as the edges of a box, are apart along it too
            const TdlCurve* before = &fibre->curves[i - 1];
            arc += tdl_norm3(tdl_sub3(c->origin, tdl_curve_point(before, before->end)));
        }
        int n = d->element_count++;
        d->thinnest = fmin(d->thinnest, fmin(c->radius[0], c->radius[1]));
        d->element[n] = (Element){.curve = c,
                                  .fibre = index,
                                  .place = i,
                                  .arc = arc,
                                  .apart = apart,
                                  .seat = stiff ? -1.0 : seat_on(fibre, i),
                                  .stiff = stiff,
                                  .fixed = fibre->fixed,
                                  .faced = d->own_surface[index] >= 0,
                                  .bore = fibre->bore == NULL ? NULL : fibre->bore + 2 * i,
                                  .count = fibre->count};
        d->fibre[n] = index;
        d->place[n] = i;
        arc += c->end;
    }
    return TDL_STATUS_OK;
}

static TdlStatus take_fibres(TdlDetector* d, const TdlFibre* fibres, int count) {
    long total = 0;
    for (int i = 0; i < count; ++i) {
        total += fibres[i].count;
    }
    if (count < 0 || total > INT_MAX / 32) {
        return tdl_fail(&d->host, TDL_STATUS_BAD_ARGUMENT, "detector: %ld elements are too many",
                        total);
    }
    d->element_count = 0;
    d->thinnest = INFINITY;
    if (!reserve_elements(d, (int)total, count)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i < count; ++i) {
        d->own_surface[i] = -1;
        d->fibre_size[i] = fibres[i].count;
    }
    for (int k = 0; k < d->surface_count; ++k) {
        if (d->surface[k].body >= 0) {
            d->own_surface[d->surface[k].body] = k;
        }
    }
    for (int i = 0; i < count; ++i) {
        TdlStatus status = take_fibre(d, &fibres[i], i);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

static TdlStatus check_colliders(TdlDetector* d, const TdlColliderDef* colliders, int count) {
    for (int i = 0; i < count; ++i) {
        const TdlColliderDef* c = &colliders[i];
        TdlMat3 r = c->pose.rotation;
        bool plane = c->shape == TDL_SHAPE_PLANE || c->shape == TDL_SHAPE_MESH ||
                     (c->shape == TDL_SHAPE_IMPLICIT && c->found != NULL);
        bool long_one = c->shape == TDL_SHAPE_CAPSULE || c->shape == TDL_SHAPE_PLATE;
        if (!tdl_finite3(c->pose.position) || !(fabs(tdl_det33(r) - 1.0) < 1.0e-6) ||
            (!plane && !(c->radius > 0.0 && isfinite(c->radius))) ||
            (long_one && !(c->length >= 0.0 && isfinite(c->length)))) {
            return tdl_fail(&d->host, TDL_STATUS_BAD_ARGUMENT, "detector: collider %d is wrong", i);
        }
    }
    return TDL_STATUS_OK;
}

// --- the phases
// -----------------------------------------------------------------------------------

static void capsules_block(void* user, int block, int worker) {
    (void)worker;
    TdlDetector* d = user;
    int end = (block + 1) * ELEMENT_BLOCK;
    end = end < d->element_count ? end : d->element_count;
    for (int i = block * ELEMENT_BLOCK; i < end; ++i) {
        tdl_curve_capsules(d->element[i].curve, &d->capsules[i]);
    }
}

static TdlStatus broad(TdlDetector* d) {
    int blocks = (d->element_count + ELEMENT_BLOCK - 1) / ELEMENT_BLOCK;
    pool_run(d->pool, blocks, 1, capsules_block, d);
    BroadInput in = {.count = d->element_count,
                     .capsules = d->capsules,
                     .fibre = d->fibre,
                     .place = d->place,
                     .margin = d->def.margin,
                     .self = d->def.self,
                     .skip = d->skip,
                     .travel = d->travel,
                     .thinnest = d->thinnest};
    d->pairs.failed = false;
    return d->def.broad == TDL_BROAD_SWEEP ? sweep_pairs(d->sweep, d->pool, &in, &d->pairs)
                                           : capsule_tree_pairs(d->tree, d->pool, &in, &d->pairs);
}

static int pair_blocks(const TdlDetector* d) {
    return (int)((d->pairs.count + PAIR_BLOCK - 1) / PAIR_BLOCK);
}

static int element_blocks(const TdlDetector* d) {
    bool alone = d->collider_count + d->surface_count == 0;
    return alone ? 0 : (d->element_count + ELEMENT_BLOCK - 1) / ELEMENT_BLOCK;
}

// The surface that a fibre's edges are of; null where it has none, as of a cylinder.
static const SurfaceBody* own_faces(const TdlDetector* d, int fibre) {
    int own = d->own_surface[fibre];
    return own < 0 || d->surface[own].cylinder != NULL ? NULL : &d->surface[own];
}

// An element and all surfaces but its own; things that are moved do not touch each other.
static void narrow_surfaces(const TdlDetector* d, int i, SiteList* out) {
    const Element* e = &d->element[i];
    int own = d->own_surface[e->fibre];
    const SurfaceBody* faces = own_faces(d, e->fibre);
    bool first = e->stiff || e->place == 0;
    bool last = e->stiff || e->place == d->fibre_size[e->fibre] - 1;
    const TdlCurve* const beside[2] = {first ? NULL : e[-1].curve, last ? NULL : e[1].curve};
    for (int k = 0; k < d->surface_count; ++k) {
        const SurfaceBody* other = &d->surface[k];
        if (k == own || (e->fixed && other->body < 0)) {
            continue;
        }
        if (surface_is_sheet(other) && faces != NULL) {
            continue; // the surface is met
        }
        if (other->cylinder != NULL) {
            cylinder_on_element(&d->host, &d->def, other, d->fibres[other->body].curves, e,
                                own < 0 ? NULL : &d->surface[own], out);
            continue;
        }
        if (surface_is_sheet(other) && sheet_knows_element(e)) {
            sheet_on_element(&d->host, &d->def, other, e, out);
        } else {
            narrow_surface(&d->host, &d->def, e, beside, faces, other, out);
        }
    }
}

// An element and round, flat or implicit colliders.
static void narrow_obstacles(const TdlDetector* d, int i, SiteList* out) {
    const Element* e = &d->element[i];
    for (int c = 0; c < d->collider_count && !e->fixed; ++c) {
        if (d->collider[c].shape == TDL_SHAPE_IMPLICIT) {
            implicit_on_element(&d->host, &d->def, e, own_faces(d, e->fibre), &d->collider[c], c,
                                out);
        } else {
            narrow_obstacle(&d->host, &d->def, e, &d->capsules[i], &d->collider[c], c, out);
        }
    }
}

// An element and all that is no curve.
static void narrow_element(const TdlDetector* d, int i, SiteList* out) {
    const Element* e = &d->element[i];
    int own = d->own_surface[e->fibre], first = out->count;
    narrow_obstacles(d, i, out);
    narrow_surfaces(d, i, out);
    if (own >= 0 && d->surface[own].cylinder != NULL) {
        cylinder_keep_rim(&d->surface[own], e, d->collider, first, out);
    }
}

// The side and the ends of a cylinder.
static void narrow_cylinder_block(const TdlDetector* d, int i, SiteList* out) {
    const SurfaceBody* own = &d->surface[i];
    for (int c = 0; c < d->collider_count; ++c) {
        cylinder_on_obstacle(&d->host, &d->def, own, &d->collider[c], c, out);
    }
    for (int k = 0; k < d->surface_count; ++k) {
        const SurfaceBody* other = &d->surface[k];
        if (surface_is_sheet(other)) {
            cylinder_on_sheet(&d->host, &d->def, own, other, out);
        } else if (other->cylinder != NULL && k > i) {
            cylinder_on_cylinder(&d->host, &d->def, own, other, out);
        } else if (other->body < 0) {
            cylinder_on_edges(&d->host, &d->def, own, other, out);
        }
    }
}

// A sheet and round, flat or implicit colliders; of another surface, where it is of a fibre, its
// faces on round ones and the edges of colliders' meshes, and its corners under sheets.
static void narrow_surface_block(const TdlDetector* d, int i, SiteList* out) {
    const SurfaceBody* own = &d->surface[i];
    if (own->cylinder != NULL) {
        narrow_cylinder_block(d, i, out);
        return;
    }
    bool sheet = surface_is_sheet(own);
    for (int c = 0; c < d->collider_count; ++c) {
        if (d->collider[c].shape == TDL_SHAPE_IMPLICIT && own->body >= 0) {
            implicit_on_surface(&d->host, &d->def, own, &d->collider[c], c, out);
        } else if (sheet) {
            sheet_on_obstacle(&d->host, &d->def, own, &d->collider[c], c, out);
        } else if (own->body >= 0) {
            narrow_surface_obstacle(&d->host, &d->def, own, &d->collider[c], c, out);
        }
    }
    for (int k = 0; k < d->surface_count && !sheet; ++k) {
        const SurfaceBody* other = &d->surface[k];
        if (surface_is_sheet(other)) {
            sheet_under_corners(&d->host, &d->def, other, own, out);
        } else if (own->body >= 0 && other->body < 0) {
            narrow_surface_edges(&d->host, &d->def, own, other, out);
        }
    }
}

static int sheet_blocks(const SurfaceBody* surface) {
    int count = surface->surface->triangle_count;
    return surface_is_sheet(surface) ? (count + SHEET_BLOCK - 1) / SHEET_BLOCK : 0;
}

static int all_sheet_blocks(const TdlDetector* d) {
    int count = 0;
    for (int i = 0; i < d->surface_count; ++i) {
        count += sheet_blocks(&d->surface[i]);
    }
    return count;
}

// Some triangles of a sheet and all surfaces.
static void narrow_sheet_block(const TdlDetector* d, int block, SiteList* out) {
    int i = 0;
    for (; block >= sheet_blocks(&d->surface[i]); ++i) {
        block -= sheet_blocks(&d->surface[i]);
    }
    for (int k = 0; k < d->surface_count; ++k) {
        bool met = k != i && d->surface[k].cylinder == NULL;
        if (met || (k == i && d->def.self && d->surface[i].self)) {
            sheet_on_surface(&d->host, &d->def, &d->surface[i], block, &d->surface[k], out);
        }
    }
}

// Blocks of pairs, then of elements, then one for every surface, then blocks of sheets.
static void narrow_block(void* user, int block, int worker) {
    TdlDetector* d = user;
    SiteList* out = &d->block[block];
    site_list_clear(out);
    if (atomic_load(&d->stopped)) {
        return;
    }
    if (worker == 0 && stop_asked(d->stop)) { // the thread that called
        atomic_store(&d->stopped, true);
        return;
    }
    int blocks = pair_blocks(d), last = blocks + element_blocks(d);
    if (block >= last + d->surface_count) {
        narrow_sheet_block(d, block - last - d->surface_count, out);
        return;
    }
    if (block >= last) {
        narrow_surface_block(d, block - last, out);
        return;
    }
    if (block < blocks) {
        long end = (long)(block + 1) * PAIR_BLOCK;
        end = end < d->pairs.count ? end : d->pairs.count;
        for (long k = (long)block * PAIR_BLOCK; k < end; ++k) {
            int i = (int)(d->pairs.pair[k] >> 32), j = (int)(d->pairs.pair[k] & 0xffffffffU);
            int soon = (int)(d->pairs.pair[k + 4 < end ? k + 4 : k] & 0xffffffffU);
            for (int line = 0; line < (int)sizeof *d->capsules; line += 64) {
                __builtin_prefetch((const char*)&d->capsules[soon] + line);
            }
            if (!d->element[i].faced && !d->element[j].faced) {
                narrow_pair(&d->host, &d->def, &d->element[i], &d->capsules[i], &d->element[j],
                            &d->capsules[j], out);
            }
        }
        return;
    }
    int end = (block - blocks + 1) * ELEMENT_BLOCK;
    end = end < d->element_count ? end : d->element_count;
    for (int i = (block - blocks) * ELEMENT_BLOCK; i < end; ++i) {
        narrow_element(d, i, out);
    }
}

static TdlStatus narrow(TdlDetector* d, TdlDetectInfo* info) {
    int blocks = pair_blocks(d) + element_blocks(d) + d->surface_count + all_sheet_blocks(d);
    if (!reserve(&d->host.mem, &d->block, &d->block_capacity, blocks, sizeof *d->block)) {
        return TDL_STATUS_NO_MEMORY;
    }
    atomic_store(&d->stopped, stop_asked(d->stop));
    pool_run(d->pool, blocks, 1, narrow_block, d);
    if (atomic_load(&d->stopped)) {
        return TDL_STATUS_STOPPED;
    }
    site_list_clear(&d->sites);
    info->certified = true;
    for (int b = 0; b < blocks; ++b) {
        const SiteList* part = &d->block[b];
        for (int i = 0; i < part->count; ++i) {
            site_list_add(&d->host.mem, &d->sites, &part->site[i]);
        }
        info->pair_count += part->pairs;
        info->accepted_count += part->accepted;
        info->certified = info->certified && part->certified;
        if (part->status != TDL_STATUS_OK) {
            return part->status;
        }
        d->sites.failed = d->sites.failed || part->failed;
    }
    return d->sites.failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

static TdlStatus finish(TdlDetector* d) {
    SiteList *sites = &d->sites, *last = &d->last;
    int room = sites->count > last->count ? sites->count : last->count;
    // the two take turns: what one has grown to the other will need
    if (!site_list_reserve(&d->host.mem, last, sites->capacity) ||
        !reserve(&d->host.mem, &d->mark, &d->mark_capacity, room, 1) ||
        !reserve(&d->host.mem, &d->open, &d->open_capacity, sites->count, sizeof *d->open) ||
        !reserve(&d->host.mem, &d->contact, &d->contact_capacity, sites->count,
                 sizeof *d->contact)) {
        return TDL_STATUS_NO_MEMORY;
    }
    if (sites->count > 0) {
        qsort(sites->site, (size_t)sites->count, sizeof *sites->site, contact_compare);
        sites->count = contact_merge(sites->site, sites->count, d->def.merge, d->open, d->mark);
        contact_match(sites->site, sites->count, last->site, last->count, MATCH_WIDTHS, d->mark);
    }
    for (int i = 0; i < sites->count; ++i) {
        d->contact[i] = sites->site[i].contact;
    }
    d->contact_count = sites->count;
    SiteList swap = *sites;
    *sites = *last;
    *last = swap;
    return TDL_STATUS_OK;
}

TdlStatus tdl_detector_update(TdlDetector* d, const TdlFibre* fibres, int fibre_count,
                              const TdlColliderDef* colliders, int collider_count,
                              TdlDetectInfo* info) {
    TdlDetectInfo here = {0};
    d->contact_count = 0;
    d->fibres = fibres;
    d->collider = colliders;
    d->collider_count = collider_count;
    double start = clock_now();
    TdlStatus status = take_fibres(d, fibres, fibre_count);
    if (status == TDL_STATUS_OK) {
        status = check_colliders(d, colliders, collider_count);
    }
    if (status == TDL_STATUS_OK) {
        status = broad(d);
    }
    double middle = clock_now(), end = middle;
    here.broad_seconds = middle - start;
    if (status == TDL_STATUS_OK) {
        status = narrow(d, &here);
        end = clock_now();
    }
    here.narrow_seconds = end - middle;
    if (status == TDL_STATUS_OK) {
        status = finish(d);
    }
    here.finish_seconds = clock_now() - end;
    here.contact_count = d->contact_count;
    if (info != NULL) {
        *info = here;
    }
    return status;
}

void detector_set_stop(TdlDetector* d, Stop stop) {
    d->stop = stop;
}

void detector_set_margin(TdlDetector* d, double margin, const Travel* travel) {
    TDL_ASSERT(margin >= 0.0 && isfinite(margin));
    d->def.margin = margin;
    d->travel = travel;
}

void detector_set_surfaces(TdlDetector* d, const SurfaceBody* surfaces, int count) {
    d->surface = surfaces;
    d->surface_count = count;
}

void detector_set_minima(TdlDetector* d, bool all) {
    d->def.all_minima = all;
}

long detector_pair_count(const TdlDetector* d) {
    return d->pairs.count;
}

int detector_element_count(const TdlDetector* d) {
    return d->element_count;
}

double detector_margin(const TdlDetector* d) {
    return d->def.margin;
}

DetectorPair detector_get_pair(const TdlDetector* d, long index) {
    int a = (int)(d->pairs.pair[index] >> 32), b = (int)(d->pairs.pair[index] & 0xffffffffU);
    return (DetectorPair){{a, b}, d->element[a].curve, d->element[b].curve};
}

const TdlCurve* detector_curve(const TdlDetector* d, int element) {
    return d->element[element].curve;
}

const TdlColliderDef* detector_colliders(const TdlDetector* d, int* count) {
    *count = d->collider_count;
    return d->collider;
}

bool detector_meets(const TdlDetector* d, int element, int collider) {
    const Element* e = &d->element[element];
    return !e->fixed && narrow_meets(&d->def, e, &d->collider[collider]);
}

bool detector_pair_may_have_met(const TdlDetector* d, long index) {
    int a = (int)(d->pairs.pair[index] >> 32), b = (int)(d->pairs.pair[index] & 0xffffffffU);
    const Travel *ta = &d->travel[a], *tb = &d->travel[b];
    double radius[2];
    for (int k = 0; k < 2; ++k) {
        const TdlCurve* c = d->element[k == 0 ? a : b].curve;
        radius[k] = fmin(c->radius[0], c->radius[1]);
    }
    float thin = broad_thin(0.5 * (radius[0] + radius[1]));
    CapsuleBlock others;
    for (int k = 0; k < BLOCK; ++k) {
        block_set(&others, k, capsule_of_part(&d->capsules[b], k));
    }
    for (int i = 0; i < BLOCK; ++i) {
        TravelQuery q = {.capsule = capsule_of_part(&d->capsules[a], i)};
        for (int axis = 0; axis < 3; ++axis) {
            q.lo[axis] = ta->lo[axis][i];
            q.hi[axis] = ta->hi[axis][i];
        }
        if (travel_block_near(&others, tb, &q, -INFINITY, thin) != 0) {
            return true;
        }
    }
    return false;
}

const ContactSite* detector_sites(const TdlDetector* d, int* count) {
    *count = d->last.count;
    return d->last.site;
}

TdlStatus detector_set_last(TdlDetector* d, const ContactSite* sites, int count) {
    site_list_clear(&d->last);
    for (int i = 0; i < count; ++i) {
        site_list_add(&d->host.mem, &d->last, &sites[i]);
    }
    d->contact_count = 0;
    return d->last.failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}

const TdlContact* tdl_detector_contacts(const TdlDetector* d, int* count) {
    *count = d->contact_count;
    return d->contact;
}

int tdl_detector_pair(const TdlDetector* d, long index, int fibre[2], int element[2]) {
    if (index < 0 || index >= d->pairs.count) {
        return 0;
    }
    int n[2] = {(int)(d->pairs.pair[index] >> 32), (int)(d->pairs.pair[index] & 0xffffffffU)};
    for (int k = 0; k < 2; ++k) {
        fibre[k] = d->fibre[n[k]];
        element[k] = d->place[n[k]];
    }
    return 1;
}
