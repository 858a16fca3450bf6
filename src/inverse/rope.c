// Ropes: wires wound about an axis, or about axes that are wound themselves, as wide as they need
// to be. ropes.md
//
// The axis of the rope is a row of places with frames that do not twist about it. Winding makes
// another such row of one, so levels nest. Rods are fitted to the wires; then the gaps are measured
// between the rods themselves, in a world, and the radii of the helices mended until the least gap
// at each level is the one that was asked for: so it holds for every model, whatever its elements
// make of a helix. O(wires * places) a pass, and the detection of overlaps.
#include "tendril/rope.h"

#include "base/log.h"
#include "base/memory.h"
#include "inverse/spline.h"
#include "math/rotation.h"
#include "tendril/inverse.h"
#include "tendril/world.h"

#include <string.h>

static const double PI = 3.14159265358979323846;

// Places a turn of the shortest lay, and an element: a chord of a 128th of a turn is off the helix
// by 3e-4 of its radius, and the spline through them by 1e-8.
enum { PLACES_TURN = 128, PLACES_ELEMENT = 8, PLACES_MOST = 200000, PASSES = 40, COUNT_MOST = 40 };

// Gaps are seen as overlaps of wires that are thicker by so many radii, or by the gap that is
// wanted where that is more; larger ones are not seen.
static const double INFLATED = 0.05;

// How far from the gap that was asked for the least may be.
static const double MET = 0.6;

// --- rows of places -------------------------------------------------------------------------

// A curve as places with frames: the tangent first; the frame does not twist about it.
typedef struct Row {
    int count; // of places, less one
    TdlVec3* x;
    TdlMat3* frame;
    double* s; // m, arc length
} Row;

typedef struct Laying {
    const TdlHost* host;
    const TdlRopeDef* def;
    const TdlRodDef* wire;
    Arena arena;
    Row axis, sub, wound; // the rope's, of one of its strands, of one wire
    double radius[TDL_ROPE_LEVELS];
    TdlRope* rope;
} Laying;

static bool reserve_row(Arena* arena, int count, Row* out) {
    *out = (Row){.count = count,
                 .x = ARENA_NEW(arena, TdlVec3, count + 1),
                 .frame = ARENA_NEW(arena, TdlMat3, count + 1),
                 .s = ARENA_NEW(arena, double, count + 1)};
    return out->x != NULL && out->frame != NULL && out->s != NULL;
}

// The tangent at a place from its neighbours: fourth order inside.
static TdlVec3 tangent_of(const Row* row, int i) {
    int n = row->count;
    const TdlVec3* x = row->x;
    if (i >= 2 && i + 2 <= n) {
        TdlVec3 near = tdl_sub3(x[i + 1], x[i - 1]), far = tdl_sub3(x[i + 2], x[i - 2]);
        return tdl_unit3(tdl_axpy3(tdl_scale3(8.0, near), -1.0, far));
    }
    int a = i < 2 ? 0 : n - 2;
    double u = i - a; // of the parabola through three
    TdlVec3 d = tdl_scale3(2.0 * u - 3.0, x[a]);
    d = tdl_axpy3(d, 4.0 - 4.0 * u, x[a + 1]);
    return tdl_unit3(tdl_axpy3(d, 2.0 * u - 1.0, x[a + 2]));
}

// Frames that do not twist, by two reflections from place to place: fourth order. (U.6)
static void frame_row(Row* row, TdlVec3 hint) {
    row->frame[0] = tdl_frame_from_tangent_hint(tangent_of(row, 0), hint);
    row->s[0] = 0.0;
    for (int i = 0; i < row->count; ++i) {
        TdlVec3 way = tdl_sub3(row->x[i + 1], row->x[i]), t = tangent_of(row, i + 1);
        double square = tdl_dot3(way, way);
        TdlVec3 n = row->frame[i].cy, old = row->frame[i].cx;
        n = tdl_axpy3(n, -2.0 / square * tdl_dot3(way, n), way);
        old = tdl_axpy3(old, -2.0 / square * tdl_dot3(way, old), way);
        TdlVec3 turn = tdl_sub3(t, old);
        double size = tdl_dot3(turn, turn);
        n = size > 0.0 ? tdl_axpy3(n, -2.0 / size * tdl_dot3(turn, n), turn) : n;
        row->frame[i + 1] = tdl_frame_from_tangent_hint(t, n);
        row->s[i + 1] = row->s[i] + sqrt(square);
    }
}

// The curve that winds about `axis` at a radius, from an angle on. (U.5)
static void wind(const Row* axis, double radius, double lay, double from, Row* out) {
    for (int i = 0; i <= axis->count; ++i) {
        double angle = from + 2.0 * PI * axis->s[i] / lay;
        TdlVec3 side =
            tdl_axpy3(tdl_scale3(cos(angle), axis->frame[i].cy), sin(angle), axis->frame[i].cz);
        out->x[i] = tdl_axpy3(axis->x[i], radius, side);
    }
    frame_row(out, axis->frame[0].cy);
}

// The axis of the rope: straight, or along the spline through its points.
static TdlStatus make_axis(Laying* l) {
    const TdlRopeDef* def = l->def;
    double length = def->length, shortest = INFINITY;
    Spline spline = {0};
    if (def->point_count > 0) {
        bool there = spline_knots(&l->arena, def->point, def->point_count, false, &spline);
        if (there && spline.count == 0) {
            return tdl_fail(l->host, TDL_STATUS_BAD_ARGUMENT, "rope: its points coincide");
        }
        spline_chords(&spline);
        if (!there || !spline_make(&l->arena, SPLINE_FREE, &spline)) {
            return TDL_STATUS_NO_MEMORY;
        }
        length = spline.s[spline.count];
    }
    for (int k = 0; k < def->level_count; ++k) {
        shortest = fmin(shortest, fabs(def->level[k].lay));
    }
    double places = fmax(PLACES_TURN * length / shortest, PLACES_ELEMENT * l->wire->element_count);
    if (!(places < PLACES_MOST)) {
        return tdl_fail(l->host, TDL_STATUS_BAD_ARGUMENT,
                        "rope: a lay of %g m is too short for a length of %g m", shortest, length);
    }
    int count = (int)ceil(places), piece = 0;
    if (!reserve_row(&l->arena, count, &l->axis) || !reserve_row(&l->arena, count, &l->sub) ||
        !reserve_row(&l->arena, count, &l->wound)) {
        return TDL_STATUS_NO_MEMORY;
    }
    for (int i = 0; i <= count; ++i) {
        double s = length * i / count;
        l->axis.x[i] = def->point_count > 0
                           ? spline_at(&spline, s, &piece).x
                           : tdl_axpy3(def->start.position, s, def->start.rotation.cx);
    }
    frame_row(&l->axis, def->start.rotation.cy);
    return TDL_STATUS_OK;
}

// --- wires ----------------------------------------------------------------------------------

// From six on one is the core.
static int around_of(int count) {
    return count >= 6 ? count - 1 : count;
}

// One of a level as seen from its axis: the core, or one of those around.
static const Row* member(const Row* axis, const TdlRopeLevel* level, double radius, int index,
                         Row* room) {
    int around = around_of(level->count), core = level->count - around;
    if (index < core) {
        return axis;
    }
    wind(axis, radius, level->lay, 2.0 * PI * (index - core) / around, room);
    return room;
}

static int wires_of(const TdlRopeDef* def) {
    return def->level[0].count * (def->level_count > 1 ? def->level[1].count : 1);
}

// A helix has the same curvature all along: where the axis is straight and one level winds about
// it, nothing is to be fitted. (U.7)
static void tell_helix(const Laying* l, int index, TdlVec3* kappa, TdlPose* start, double* length) {
    const TdlRopeLevel* level = &l->def->level[0];
    int around = around_of(level->count), core = level->count - around;
    double c = level->lay / (2.0 * PI), R = index < core ? 0.0 : l->radius[0];
    double angle = 2.0 * PI * (index - core) / around, per = 1.0 / (R * R + c * c);
    const TdlMat3* F = &l->axis.frame[0];
    TdlVec3 out = tdl_axpy3(tdl_scale3(cos(angle), F->cy), sin(angle), F->cz);
    TdlVec3 side = tdl_cross3(F->cx, out), in = tdl_scale3(-1.0, out);
    TdlVec3 t = tdl_unit3(tdl_axpy3(tdl_scale3(c, F->cx), R, side));
    t = c < 0.0 ? tdl_scale3(-1.0, t) : t;
    *start = (TdlPose){tdl_axpy3(l->axis.x[0], R, out), {t, in, tdl_cross3(t, in)}};
    *length = l->def->length * sqrt(R * R + c * c) / fabs(c);
    for (int i = 0; i < l->rope->curvature_count; ++i) {
        kappa[i] = R > 0.0 ? (TdlVec3){c * per, 0.0, R * per} : (TdlVec3){0};
    }
}

static TdlStatus fit_wire(const Laying* l, const Row* row, TdlVec3* kappa, TdlPose* start,
                          double* length) {
    bool at_joints = l->rope->curvature_count > l->wire->element_count;
    TdlFitOptions options = tdl_fit_options_default();
    TdlHelixFit fit;
    options.element_count = l->wire->element_count;
    options.least_squares = true;
    TdlStatus status = (at_joints ? tdl_clothoid_fit : tdl_helix_fit)(
        l->host, row->x, row->count + 1, &options, kappa, &fit);
    *start = fit.start;
    *length = fit.length;
    return status;
}

// All wires with the radii as they are.
static TdlStatus lay_wires(Laying* l) {
    const TdlRopeDef* def = l->def;
    TdlRope* rope = l->rope;
    bool plain = def->level_count == 1 && def->point_count == 0;
    for (int i = 0; i < rope->count; ++i) {
        TdlVec3* kappa = rope->curvature + (size_t)i * (size_t)rope->curvature_count;
        if (plain) {
            tell_helix(l, i, kappa, &rope->start[i], &rope->length[i]);
            continue;
        }
        const Row* axis = &l->axis;
        int inner = def->level[0].count;
        if (def->level_count > 1) {
            axis = member(axis, &def->level[1], l->radius[1], i / inner, &l->sub);
        }
        const Row* own = member(axis, &def->level[0], l->radius[0], i % inner, &l->wound);
        TdlStatus status = fit_wire(l, own, kappa, &rope->start[i], &rope->length[i]);
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

// --- gaps -----------------------------------------------------------------------------------

static TdlStatus add_wires(const Laying* l, double radius, TdlWorld* world, TdlBodyId* id) {
    const TdlRope* rope = l->rope;
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < rope->count && status == TDL_STATUS_OK; ++i) {
        const TdlVec3* kappa = rope->curvature + (size_t)i * (size_t)rope->curvature_count;
        TdlRodDef def = tdl_rod_def_default();
        bool at_joints = rope->curvature_count > l->wire->element_count;
        def.model = l->wire->model;
        def.element_count = l->wire->element_count;
        def.radius[0] = def.radius[1] = radius;
        def.length = rope->length[i];
        def.clamp = rope->start[i];
        *(at_joints ? &def.curvature_at : &def.curvature_of) = kappa;
        status = tdl_world_add_rod(world, &def, &id[i]);
    }
    return status;
}

static int number_of(const TdlBodyId* id, int count, TdlBodyId wanted) {
    int i = 0;
    while (i < count && id[i].index != wanted.index) {
        ++i;
    }
    return i;
}

// The least gap between wires at each level: of one strand, and of two. What is not seen is as far
// as can be seen.
static TdlStatus measure(const Laying* l, double r, double wanted, double gap[TDL_ROPE_LEVELS]) {
    double thicker = fmax(INFLATED * r, wanted), seen = 2.0 * thicker;
    TdlWorldDef def = tdl_world_def_default();
    int wires = l->rope->count, inner = l->def->level[0].count, most = wires * wires, count = 0;
    TdlWorld* world = NULL;
    TdlOverlap* found = tdl_alloc_array(&l->host->mem, (size_t)most, sizeof *found);
    TdlBodyId* id = tdl_alloc_array(&l->host->mem, (size_t)wires, sizeof *id);
    def.contacts.self = false;
    TdlHost silent = *l->host;
    silent.log_level = TDL_LOG_ERROR;
    TdlStatus status = found == NULL || id == NULL ? TDL_STATUS_NO_MEMORY
                                                   : tdl_world_create(&silent, &def, &world);
    if (status == TDL_STATUS_OK) {
        status = add_wires(l, r + thicker, world, id);
    }
    if (status == TDL_STATUS_OK) {
        status = tdl_world_overlaps(world, most, found, &count);
    }
    for (int k = 0; k < TDL_ROPE_LEVELS; ++k) {
        gap[k] = seen;
    }
    for (int k = 0; k < count && k < most && status == TDL_STATUS_OK; ++k) {
        int a = number_of(id, wires, found[k].body[0]), b = number_of(id, wires, found[k].body[1]);
        int level = a / inner == b / inner ? 0 : 1;
        gap[level] = fmin(gap[level], seen - found[k].depth);
    }
    tdl_world_destroy(world);
    tdl_free(&l->host->mem, found);
    tdl_free(&l->host->mem, id);
    return status;
}

// The radii that straight axes ask for: of wires, and of strands as round as their wires' helices.
static TdlStatus first_radii(Laying* l, double r, double gap) {
    double size = r;
    for (int k = 0; k < l->def->level_count; ++k) {
        const TdlRopeLevel* level = &l->def->level[k];
        int around = around_of(level->count);
        double radius = tdl_helices_radius(around, 2.0 * size + gap, level->lay);
        if (isnan(radius)) {
            return tdl_fail(l->host, TDL_STATUS_BAD_ARGUMENT,
                            "rope: a lay of %g m is too short for %d of radius %g m about one axis",
                            level->lay, around, size);
        }
        l->radius[k] = around < level->count ? fmax(radius, 2.0 * size + gap) : radius;
        size += l->radius[k];
    }
    return TDL_STATUS_OK;
}

// Mends the radii, each by what its gap lacks times what the last change says of that, until both
// gaps are met. (U.8)
static TdlStatus fit_radii(Laying* l, double r, double wanted) {
    double last[TDL_ROPE_LEVELS] = {0}, change[TDL_ROPE_LEVELS] = {0}, gap[TDL_ROPE_LEVELS];
    int levels = l->def->level_count;
    for (int pass = 0; pass < PASSES; ++pass) {
        TdlStatus status = lay_wires(l);
        if (status == TDL_STATUS_OK) {
            status = measure(l, r, wanted, gap);
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
        bool met = true;
        for (int k = 0; k < levels; ++k) {
            met = met && fabs(gap[k] - wanted) <= MET * wanted;
        }
        if (met) {
            l->rope->gap = levels > 1 ? fmin(gap[0], gap[1]) : gap[0];
            return TDL_STATUS_OK;
        }
        for (int k = 0; k < levels; ++k) {
            double rise = fabs(change[k]) > 0.0 ? (gap[k] - last[k]) / change[k] : 1.0;
            rise = rise >= 0.4 && rise <= 4.0 ? rise : 1.0;
            last[k] = gap[k];
            change[k] = fmax(-0.1 * r, fmin(0.5 * r, (wanted - gap[k]) / rise));
            l->radius[k] += change[k];
        }
    }
    return tdl_fail(l->host, TDL_STATUS_DIVERGED,
                    "rope: wires of %d elements do not come to a gap of %g m: take more elements",
                    l->wire->element_count, wanted);
}

// --- definitions ----------------------------------------------------------------------------

TdlRopeDef tdl_rope_def_default(void) {
    return (TdlRopeDef){
        .level_count = 1, .level = {{7, 0.1}, {7, 0.1}}, .start.rotation = tdl_identity33()};
}

static bool positive(double x) {
    return isfinite(x) && x > 0.0;
}

static const char* find_fault(const TdlRopeDef* def, const TdlRodDef* wire) {
    if (def->level_count < 1 || def->level_count > TDL_ROPE_LEVELS) {
        return "a rope has one level or two";
    }
    for (int k = 0; k < def->level_count; ++k) {
        const TdlRopeLevel* level = &def->level[k];
        if (level->count < 2 || level->count > COUNT_MOST) {
            return "2 to 40 are laid about an axis";
        }
        if (!isfinite(level->lay) || level->lay == 0.0) {
            return "a lay is finite and not 0";
        }
    }
    if (!isfinite(def->gap) || def->gap < 0.0) {
        return "gap must not be negative";
    }
    if (def->point_count == 0 && (!positive(def->length) || !tdl_pose_is_good(def->start))) {
        return "length must be positive, and start a finite place and a rotation";
    }
    if (def->point_count != 0 &&
        (def->point == NULL || def->point_count < 2 || def->point_count > TDL_ROPE_POINTS)) {
        return "an axis goes through 2 to 1000 points";
    }
    for (int i = 0; i < def->point_count; ++i) {
        if (!tdl_finite3(def->point[i])) {
            return "points must be finite";
        }
    }
    return wire->radius[0] == wire->radius[1] && wire->section_count == 0
               ? tdl_rod_def_fault(wire)
               : "wires are round, and the same all along";
}

static bool reserve_rope(const TdlHost* host, TdlRope* rope) {
    size_t count = (size_t)rope->count;
    rope->start = tdl_alloc_array(&host->mem, count, sizeof *rope->start);
    rope->length = tdl_alloc_array(&host->mem, count, sizeof *rope->length);
    rope->curvature =
        tdl_alloc_array(&host->mem, count * (size_t)rope->curvature_count, sizeof *rope->curvature);
    return rope->start != NULL && rope->length != NULL && rope->curvature != NULL;
}

TdlStatus tdl_rope_lay(const TdlHost* host, const TdlRopeDef* def, const TdlRodDef* wire,
                       TdlRope* out) {
    *out = (TdlRope){0};
    const char* fault = find_fault(def, wire);
    if (fault != NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "rope: %s", fault);
    }
    Laying l = {.host = host, .def = def, .wire = wire, .rope = out};
    double r = wire->radius[0], gap = def->gap > 0.0 ? def->gap : 5.0e-4 * r;
    out->count = wires_of(def);
    out->curvature_count = tdl_rod_def_curvature_count(wire);
    arena_init(&l.arena, &host->mem);
    TdlStatus status = reserve_rope(host, out) ? make_axis(&l) : TDL_STATUS_NO_MEMORY;
    if (status == TDL_STATUS_OK) {
        status = first_radii(&l, r, gap);
    }
    if (status == TDL_STATUS_OK) {
        status = fit_radii(&l, r, gap);
    }
    memcpy(out->radius, l.radius, sizeof out->radius);
    arena_destroy(&l.arena);
    if (status != TDL_STATUS_OK) {
        tdl_rope_free(host, out);
    }
    return status;
}

void tdl_rope_free(const TdlHost* host, TdlRope* rope) {
    tdl_free(&host->mem, rope->start);
    tdl_free(&host->mem, rope->length);
    tdl_free(&host->mem, rope->curvature);
    *rope = (TdlRope){0};
}
