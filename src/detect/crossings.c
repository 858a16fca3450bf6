// Curves that passed through each other in a step. docs/theory/world.md, section 5
//
// Between the two shapes of a step every point of a curve moves on a straight line. Both curves of
// a pair are sampled where the arc stays within a share of the radius of its chord, and the chords
// are followed by conservative collision detection: two centrelines that meet are found, whatever
// the contacts were. A pair is looked at only when it moved far enough against each other to meet.
#include "detect/crossings.h"

#include "base/memory.h"
#include "curve/curve.h"
#include "detect/bore_sweep.h"
#include "detect/on_implicit.h"
#include "detect/sheet.h"
#include "detect/sheet_sweep.h"

#include <float.h>
#include <limits.h>
#include <math.h>

// Chords of a curve, at most.
enum { MAX_CHORDS = 24 };

// What an arc may be off its chord by, and the accuracy of the search, in radii.
static const double ARC_OFF = 0.1;
static const double TOUCH = 0.02;

// Centrelines that come nearer than this share of the two radii go through each other's bodies.
static const double THROUGH = 0.4;

// Arc length within which a fibre cannot come back to itself, in radii: a loop of the smallest
// circle that its thickness allows.
static const double LOOP_RADII = 5.0;

static double curve_radius(const TdlCurve* c) {
    return fmax(c->radius[0], c->radius[1]);
}

static int chord_count(const TdlCurve* before, const TdlCurve* after) {
    double bend = fmax(tdl_curve_second_bound(before, 0.0, before->end),
                       tdl_curve_second_bound(after, 0.0, after->end));
    double off = ARC_OFF * fmax(curve_radius(after), 1.0e-300);
    double count = ceil(after->end * sqrt(bend / (8.0 * off)));
    return (int)fmin(fmax(count, 1.0), MAX_CHORDS);
}

// A curve in the two shapes, as chords.
typedef struct Track {
    int count;                                             // of chords
    TdlVec3 before[MAX_CHORDS + 1], after[MAX_CHORDS + 1]; // their ends
} Track;

static void sample(const TdlCurve* before, const TdlCurve* after, int count, Track* out) {
    out->count = count;
    for (int i = 0; i <= count; ++i) {
        double part = (double)i / count;
        out->before[i] = tdl_curve_point(before, part * before->end);
        out->after[i] = tdl_curve_point(after, part * after->end);
    }
}

// One of its chords, or a part of it.
typedef struct Chord {
    TdlVec3 before[2], after[2];
} Chord;

static TdlVec3 between(TdlVec3 a, TdlVec3 b, double part) {
    return part == 0.0 ? a : part == 1.0 ? b : tdl_axpy3(a, part, tdl_sub3(b, a));
}

static Chord chord_part(const Track* p, int i, const double part[2]) {
    Chord chord;
    for (int k = 0; k < 2; ++k) {
        chord.before[k] = between(p->before[i], p->before[i + 1], part[k]);
        chord.after[k] = between(p->after[i], p->after[i + 1], part[k]);
    }
    return chord;
}

// --- how far curves moved -------------------------------------------------------------------

static TdlVec3 least(TdlVec3 a, TdlVec3 b) {
    return (TdlVec3){fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)};
}

static TdlVec3 most(TdlVec3 a, TdlVec3 b) {
    return (TdlVec3){fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)};
}

// Ways at the ends and the middle of each of the eight parts.
void crossings_measure(const TdlCurve* before, const TdlCurve* after, Travel* out) {
    enum { PARTS = 8, EACH = 2 };
    double way[PARTS * EACH + 1][3];
    for (int i = 0; i <= PARTS * EACH; ++i) {
        double part = (double)i / (PARTS * EACH);
        TdlVec3 w = tdl_sub3(tdl_curve_point(after, part * after->end),
                             tdl_curve_point(before, part * before->end));
        way[i][0] = w.x;
        way[i][1] = w.y;
        way[i][2] = w.z;
    }
    for (int axis = 0; axis < 3; ++axis) {
        for (int k = 0; k < PARTS; ++k) {
            double lo = way[k * EACH][axis], hi = lo;
            for (int i = k * EACH + 1; i <= (k + 1) * EACH; ++i) {
                lo = way[i][axis] < lo ? way[i][axis] : lo;
                hi = way[i][axis] > hi ? way[i][axis] : hi;
            }
            out->lo[axis][k] = (float)(lo - 2.0 * FLT_EPSILON * fabs(lo));
            out->hi[axis][k] = (float)(hi + 2.0 * FLT_EPSILON * fabs(hi));
        }
    }
}

// The most that a point of one curve moved against a point of the other.
static double relative_travel(const Travel* a, const Travel* b) {
    double square = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
        float lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k < 8; ++k) {
            lo[0] = a->lo[axis][k] < lo[0] ? a->lo[axis][k] : lo[0];
            hi[0] = a->hi[axis][k] > hi[0] ? a->hi[axis][k] : hi[0];
            lo[1] = b->lo[axis][k] < lo[1] ? b->lo[axis][k] : lo[1];
            hi[1] = b->hi[axis][k] > hi[1] ? b->hi[axis][k] : hi[1];
        }
        double way = (double)fmaxf(hi[0] - lo[1], hi[1] - lo[0]);
        square += way * way;
    }
    return sqrt(square);
}

// --- one pair -------------------------------------------------------------------------------

// The box of some moving chords, seen from something that moves by `frame`.
typedef struct SweptBox {
    TdlVec3 lo, hi;
} SweptBox;

static SweptBox swept_box(const Track* p, int first, int last, TdlVec3 frame) {
    SweptBox box = {p->before[first], p->before[first]};
    for (int k = first; k <= last; ++k) {
        TdlVec3 end = tdl_sub3(p->after[k], frame);
        box.lo = least(least(box.lo, p->before[k]), end);
        box.hi = most(most(box.hi, p->before[k]), end);
    }
    return box;
}

static SweptBox chord_box(const Chord* chord, TdlVec3 frame) {
    SweptBox box = {chord->before[0], chord->before[0]};
    for (int k = 0; k < 2; ++k) {
        TdlVec3 end = tdl_sub3(chord->after[k], frame);
        box.lo = least(least(box.lo, chord->before[k]), end);
        box.hi = most(most(box.hi, chord->before[k]), end);
    }
    return box;
}

static bool boxes_meet(const SweptBox* a, const SweptBox* b, double near) {
    return a->lo.x <= b->hi.x + near && b->lo.x <= a->hi.x + near && a->lo.y <= b->hi.y + near &&
           b->lo.y <= a->hi.y + near && a->lo.z <= b->hi.z + near && b->lo.z <= a->hi.z + near;
}

Nearness crossing_nearness(double radii, double radius) {
    return (Nearness){THROUGH * radii, TOUCH * (radius > 0.0 ? radius : radii)};
}

bool crossing_query_meets(const Moved* m, const TdlCcdQuery* query, const Nearness* near) {
    TdlCcdOptions options = tdl_ccd_options_default();
    options.norm = TDL_CCD_NORM_EUCLID;
    options.tolerance = near->tolerance;
    options.min_separation = near->apart;
    TdlCcdResult result;
    bool met = tdl_ccd_query(query, &options, &result) != TDL_STATUS_OK ||
               (result.collision && result.time > 0.0); // else they were placed in each other:
                                                        // nothing can be kept apart
    if (m->watch != NULL) {
        m->watch(m->watch_user, query, met);
    }
    return met;
}

// Positions from `origin`, which moves by `frame`: small numbers, small errors.
static bool chords_meet(const Moved* m, const Chord* a, const Chord* b, TdlVec3 origin,
                        TdlVec3 frame, const Nearness* near) {
    TdlCcdQuery query = {.kind = TDL_CCD_EDGE_EDGE};
    for (int k = 0; k < 4; ++k) {
        const Chord* p = k < 2 ? a : b;
        query.start[k] = tdl_sub3(p->before[k % 2], origin);
        query.end[k] = tdl_sub3(tdl_sub3(p->after[k % 2], origin), frame);
    }
    return crossing_query_meets(m, &query, near);
}

// Where the bodies of a pair do not touch.
typedef struct Balls {
    ClearBall at[CLEAR_BALLS];
    int count;
} Balls;

static Balls find_balls(const Moved* m, int a, int b) {
    Balls balls;
    balls.count = m->clear == NULL ? 0 : m->clear(m->clear_user, a, b, balls.at);
    return balls;
}

typedef double Parts[CLEAR_BALLS + 1][2];

// What of a chord is outside of them after the step.
static int find_parts(const Track* p, int i, const Balls* balls, Parts out) {
    return clearance_outside(balls->at, balls->count, p->after[i], p->after[i + 1], out);
}

// `apart` is the arc length from the start of a to the start of b on one fibre; infinite for two.
static bool tracks_meet(const Moved* m, const Track* a, double step_a, const Track* b,
                        double step_b, double apart, double radius, const Nearness* near,
                        const Balls* balls) {
    static const double WHOLE[2] = {0.0, 1.0};
    TdlVec3 frame = tdl_scale3(
        0.5, tdl_add3(tdl_sub3(a->after[0], a->before[0]), tdl_sub3(b->after[0], b->before[0])));
    double reach = near->apart + near->tolerance;
    SweptBox whole = swept_box(b, 0, b->count, frame);
    for (int i = 0; i < a->count; ++i) {
        Parts parts;
        for (int k = find_parts(a, i, balls, parts) - 1; k >= 0; --k) {
            Chord own = chord_part(a, i, parts[k]);
            SweptBox box = chord_box(&own, frame);
            for (int j = 0; j < b->count && boxes_meet(&box, &whole, reach); ++j) {
                double gap = apart + j * step_b - (i + 1) * step_a;
                Chord other = chord_part(b, j, WHOLE);
                SweptBox theirs = chord_box(&other, frame);
                if (gap >= LOOP_RADII * radius && boxes_meet(&box, &theirs, reach) &&
                    chords_meet(m, &own, &other, a->before[0], frame, near)) {
                    return true;
                }
            }
        }
    }
    return false;
}

typedef struct Pair {
    int fibre[2], element[2];
} Pair;

// Whether two curves of known length are too far apart to have met on a way of `travel`.
static bool far_apart(const TdlCurve* a, const TdlCurve* b, double travel) {
    if (a->kind > TDL_CURVE_CLOTHOID || b->kind > TDL_CURVE_CLOTHOID) {
        return false; // their parameter is no length
    }
    TdlVec3 between = tdl_sub3(tdl_curve_point(a, 0.5 * a->end), tdl_curve_point(b, 0.5 * b->end));
    double reach = 0.5 * (a->end + b->end) + travel + curve_radius(a) + curve_radius(b);
    return tdl_norm3(between) > reach;
}

static bool pair_crossed(const Moved* m, Pair pair) {
    int a = m->first[pair.fibre[0]] + pair.element[0],
        b = m->first[pair.fibre[1]] + pair.element[1];
    double ra = curve_radius(&m->curve[a]), rb = curve_radius(&m->curve[b]);
    double travel = relative_travel(&m->travel[a], &m->travel[b]);
    if (travel < CROSSING_DEEP_SHARE * fmin(ra, rb)) {
        return false;
    }
    BoreWay way = bore_way(m, pair.fibre, pair.element);
    if (way == BORE_THROUGH || way == BORE_CLEAR) {
        return way == BORE_THROUGH;
    }
    if (travel < CROSSING_DEEP_SHARE * (ra + rb) || far_apart(&m->curve[a], &m->curve[b], travel)) {
        return false;
    }
    double apart = INFINITY;
    if (pair.fibre[0] == pair.fibre[1]) {
        apart = 0.0;
        for (int i = a; i < b; ++i) {
            apart += m->curve[i].end;
        }
    }
    Track track[2];
    sample(&m->before[a], &m->curve[a], chord_count(&m->before[a], &m->curve[a]), &track[0]);
    sample(&m->before[b], &m->curve[b], chord_count(&m->before[b], &m->curve[b]), &track[1]);
    double radius = fmin(ra, rb) > 0.0 ? fmin(ra, rb) : fmax(ra, rb);
    Nearness near = crossing_nearness(ra + rb, radius);
    Balls balls = {.count = 0};
    if (pair.fibre[0] != pair.fibre[1]) {
        balls = find_balls(m, pair.fibre[0], pair.fibre[1]);
    }
    return tracks_meet(m, &track[0], m->curve[a].end / track[0].count, &track[1],
                       m->curve[b].end / track[1].count, apart, radius, &near, &balls);
}

// --- a curve and a surface ------------------------------------------------------------------

// The chords of a curve as seen from a surface, which stands still then but for vertices that move.
typedef struct SurfaceTrack {
    const Moved* moved;
    const Surface* surface;
    Track track;
    Chord chord; // that is looked at
    bool begins; // its start was not looked at as the end of another
    Nearness near;
    bool met;
} SurfaceTrack;

// From the start of the path: small numbers, small errors.
static void set_moving(const SurfaceTrack* x, int end, TdlCcdQuery* query, int place) {
    query->start[place] = tdl_sub3(x->chord.before[end], x->track.before[0]);
    query->end[place] = tdl_sub3(x->chord.after[end], x->track.before[0]);
}

static void set_vertex(const SurfaceTrack* x, int vertex, TdlCcdQuery* query, int place) {
    const Surface* s = x->surface;
    query->end[place] = tdl_sub3(s->vertex[vertex], x->track.before[0]);
    query->start[place] = query->end[place];
    if (s->before != NULL) {
        query->start[place] = tdl_sub3(s->before[vertex], x->track.before[0]);
    }
}

// A chord meets a triangle first with an end on its inside, or on one of its edges.
static void meet_triangle(void* user, int triangle) {
    SurfaceTrack* x = user;
    const Surface* surface = x->surface;
    const int* corner = surface->corner + 3 * (size_t)triangle;
    for (int end = x->begins ? 0 : 1; end < 2 && !x->met; ++end) {
        TdlCcdQuery query = {.kind = TDL_CCD_VERTEX_FACE};
        set_moving(x, end, &query, 0);
        for (int k = 0; k < 3; ++k) {
            set_vertex(x, corner[k], &query, 1 + k);
        }
        x->met = crossing_query_meets(x->moved, &query, &x->near);
    }
    for (int k = 0; k < 3 && !x->met; ++k) {
        const SurfaceEdge* edge = &surface->edge[surface->edge_of[3 * triangle + k]];
        if (surface->edge_side[edge->first] == 3 * triangle + k) { // once
            TdlCcdQuery query = {.kind = TDL_CCD_EDGE_EDGE};
            set_moving(x, 0, &query, 0);
            set_moving(x, 1, &query, 1);
            set_vertex(x, edge->vertex[0], &query, 2);
            set_vertex(x, edge->vertex[1], &query, 3);
            x->met = crossing_query_meets(x->moved, &query, &x->near);
        }
    }
}

// `balls` are those in which the curve and the surface do not touch, in the world.
static bool surface_crossed(const Moved* m, const TdlCurve* before, const TdlCurve* after,
                            const SurfaceBody* other, const Balls* balls) {
    double r = curve_radius(after), radii = r + other->surface->radius;
    TdlPose was = pose_inverse(other->before), is = pose_inverse(other->pose);
    SurfaceTrack x = {.moved = m, .surface = other->surface};
    x.near = crossing_nearness(radii, r);
    double reach = x.near.apart + x.near.tolerance;
    // a box about the places of the whole curve on its way
    TdlVec3 from = pose_point(was, before->origin), to = pose_point(is, after->origin);
    reach += other->surface->travel; // boxes are about where the triangles are after the step
    double size = fmax(curve_size(before), curve_size(after)) + reach;
    TdlVec3 round = {size, size, size};
    SurfaceBox whole = {tdl_sub3(least(from, to), round), tdl_add3(most(from, to), round)};
    if (radii == 0.0 || !surface_boxes_meet(&whole, &other->surface->node[0].box)) {
        return false;
    }
    sample(before, after, chord_count(before, after), &x.track);
    double travel = other->surface->travel;
    for (int i = 0; i <= x.track.count; ++i) {
        x.track.before[i] = pose_point(was, x.track.before[i]);
        x.track.after[i] = pose_point(is, x.track.after[i]);
        double way = tdl_norm3(tdl_sub3(x.track.after[i], x.track.before[i]));
        travel = fmax(travel, way + other->surface->travel);
    }
    Balls clear = *balls;
    for (int k = 0; k < clear.count; ++k) {
        clear.at[k].centre = pose_point(is, clear.at[k].centre);
    }
    TdlVec3 grow = {reach, reach, reach};
    for (int i = 0; i < x.track.count && travel >= CROSSING_DEEP_SHARE * radii; ++i) {
        Parts parts;
        int count = find_parts(&x.track, i, &clear, parts);
        for (int k = 0; k < count && !x.met; ++k) {
            x.chord = chord_part(&x.track, i, parts[k]);
            x.begins = i == 0 || parts[k][0] > 0.0;
            SweptBox box = chord_box(&x.chord, (TdlVec3){0});
            surface_each_near(x.surface,
                              (SurfaceBox){tdl_sub3(box.lo, grow), tdl_add3(box.hi, grow)},
                              meet_triangle, &x);
        }
    }
    return x.met;
}

// --- all pairs ------------------------------------------------------------------------------

// Curves of one fibre that lie so near along it that detection does not ask: those that bend back.
enum { NEAR_PLACES = 8 };
static const double BACK = 3.141592653589793; // rad, the least that a closed loop turns

// Memory of a search, and its answers.
typedef struct Search {
    const Moved* moved;
    bool* met; // by pair
} Search;

static bool may_meet(const Moved* m, Pair pair) {
    int a = pair.fibre[0], b = pair.fibre[1];
    const TdlCurve* curve[2] = {&m->curve[m->first[a] + pair.element[0]],
                                &m->curve[m->first[b] + pair.element[1]]};
    if (curve_radius(curve[0]) + curve_radius(curve[1]) == 0.0) {
        return false; // edges of boxes: they have no inside to pass
    }
    return a == b || m->family[a] != m->family[b];
}

static void look_at_pair(void* user, int index, int worker) {
    (void)worker;
    const Search* search = user;
    const Moved* m = search->moved;
    Pair pair;
    tdl_detector_pair(m->detector, index, pair.fibre, pair.element);
    search->met[index] = may_meet(m, pair) && detector_pair_may_have_met(m->detector, index) &&
                         pair_crossed(m, pair);
}

static int fibre_of(const Moved* m, int curve) {
    int low = 0, high = m->fibre_count;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        *(m->first[middle] <= curve ? &low : &high) = middle;
    }
    return low;
}

// Whether a fibre has a surface, which a sheet meets in the place of its curves.
static bool sheet_is_met(const Moved* m, int fibre, const SurfaceBody* other) {
    bool found = false;
    for (int k = 0; k < m->surface_count && surface_is_sheet(other); ++k) {
        found = found || m->surface[k].body == fibre;
    }
    return found;
}

// A curve against the surfaces that it may have met on its way: `met` has a place for each.
static void look_at_surfaces(void* user, int curve, int worker) {
    (void)worker;
    const Search* search = user;
    const Moved* m = search->moved;
    const TdlCurve* after = &m->curve[curve];
    int fibre = fibre_of(m, curve);
    double reach = curve_size(after) + curve_radius(after) + travel_most(&m->travel[curve]);
    for (int k = 0; k < m->surface_count; ++k) {
        const SurfaceBody* other = &m->surface[k];
        bool fixed = m->fibre[fibre].fixed && other->body < 0;
        bool far = tdl_norm3(tdl_sub3(after->origin, other->centre)) >
                   (reach + other->ball + other->travel) * (1.0 + 1.0e-6);
        bool* met = &search->met[(size_t)curve * (size_t)m->surface_count + (size_t)k];
        *met = !far && !fixed && other->body != fibre && !sheet_is_met(m, fibre, other);
        if (*met) {
            Balls balls = find_balls(m, fibre, other->body);
            *met = surface_crossed(m, &m->before[curve], after, other, &balls);
        }
    }
}

void crossing_list_free(const TdlAllocator* mem, CrossingList* list) {
    tdl_free(mem, list->at);
    tdl_free(mem, list->met);
    tdl_free(mem, list->hit);
}

bool crossing_list_add(const TdlAllocator* mem, CrossingList* list, Crossing crossing) {
    if (!tdl_reserve(mem, &list->at, &list->capacity, list->count + 1, sizeof *list->at)) {
        return false;
    }
    list->at[list->count++] = crossing;
    return true;
}

static bool add_pair(const TdlAllocator* mem, CrossingList* list, Pair pair) {
    return crossing_list_add(
        mem, list, (Crossing){{pair.fibre[0], pair.fibre[1]}, {pair.element[0], pair.element[1]}});
}

// The pairs of neighbours on a fibre, which bend far enough to meet.
static bool look_along(const TdlAllocator* mem, const Moved* m, int fibre, CrossingList* out) {
    const TdlFibre* f = &m->fibre[fibre];
    for (int i = 0; i < f->count; ++i) {
        double turn = 0.0;
        for (int j = i; j < f->count && j <= i + NEAR_PLACES; ++j) {
            const TdlCurve *before = &m->before[m->first[fibre] + j], *after = &f->curves[j];
            turn += fmax(before->end * tdl_curve_second_bound(before, 0.0, before->end),
                         after->end * tdl_curve_second_bound(after, 0.0, after->end));
            Pair pair = {{fibre, fibre}, {i, j}};
            if (turn >= BACK && pair_crossed(m, pair) && !add_pair(mem, out, pair)) {
                return false;
            }
        }
    }
    return true;
}

// Looks `count` times at what leaves `each` answers; `met` tells what came out.
static TdlStatus look_at_all(const TdlAllocator* mem, Pool* pool, const Moved* m, long count,
                             int each, PoolFn look, CrossingList* out) {
    if (count > INT_MAX / each ||
        !tdl_reserve(mem, &out->met, &out->met_capacity, (int)count * each, sizeof *out->met)) {
        return TDL_STATUS_NO_MEMORY;
    }
    Search search = {m, out->met};
    if (m->watch == NULL) {
        pool_run(pool, (int)count, 256, look, &search);
    }
    for (int i = 0; i < (int)count && m->watch != NULL; ++i) {
        look(&search, i, 0); // who looks on is told by one thread
    }
    return TDL_STATUS_OK;
}

static TdlStatus find_through_surfaces(const TdlAllocator* mem, Pool* pool, const Moved* m,
                                       CrossingList* out) {
    if (m->surface_count == 0) {
        return TDL_STATUS_OK;
    }
    TdlStatus status =
        look_at_all(mem, pool, m, m->curve_count, m->surface_count, look_at_surfaces, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    for (int i = 0; i < m->curve_count * m->surface_count; ++i) {
        if (!out->met[i]) {
            continue;
        }
        int curve = i / m->surface_count, fibre = fibre_of(m, curve);
        const SurfaceBody* other = &m->surface[i % m->surface_count];
        Pair pair = {{fibre, other->body}, {curve - m->first[fibre], other->element}};
        if (other->body >= 0 && other->body < fibre) { // as of contacts
            pair = (Pair){{pair.fibre[1], pair.fibre[0]}, {pair.element[1], pair.element[0]}};
        }
        if (!add_pair(mem, out, pair)) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    return TDL_STATUS_OK;
}

// --- sheets ---------------------------------------------------------------------------------

typedef struct SheetSearch {
    const Moved* moved;
    int sheet;
    int* hit; // [triangles][surfaces] the triangle that was met; -1: none
} SheetSearch;

static bool far_surfaces(const SurfaceBody* a, const SurfaceBody* b) {
    double reach = a->ball + b->ball + a->travel + b->travel;
    return tdl_norm3(tdl_sub3(a->centre, b->centre)) > reach * (1.0 + 1.0e-6);
}

// Of two sheets the lower looks.
static void look_at_triangle(void* user, int triangle, int worker) {
    (void)worker;
    const SheetSearch* search = user;
    const Moved* m = search->moved;
    const SurfaceBody* sheet = &m->surface[search->sheet];
    for (int k = 0; k < m->surface_count; ++k) {
        const SurfaceBody* other = &m->surface[k];
        bool once = !surface_is_sheet(other) || sheet->body < other->body ||
                    (sheet == other && m->self && sheet->self);
        search->hit[(size_t)triangle * (size_t)m->surface_count + (size_t)k] =
            once && !far_surfaces(sheet, other) ? sheet_sweep(m, sheet, triangle, other) : -1;
    }
}

static bool add_surfaces(const TdlAllocator* mem, CrossingList* out, const SurfaceBody* sheet,
                         int triangle, const SurfaceBody* other, int met) {
    int theirs = other->element + (other->surface->from != NULL ? met : 0);
    Pair pair = {{sheet->body, other->body}, {sheet->element + triangle, theirs}};
    if (other->body >= 0 && other->body < sheet->body) {
        pair = (Pair){{pair.fibre[1], pair.fibre[0]}, {pair.element[1], pair.element[0]}};
    }
    return add_pair(mem, out, pair);
}

static TdlStatus find_through_sheet(const TdlAllocator* mem, Pool* pool, const Moved* m, int sheet,
                                    CrossingList* out) {
    const SurfaceBody* own = &m->surface[sheet];
    int triangles = own->surface->triangle_count;
    if (triangles > INT_MAX / m->surface_count ||
        !tdl_reserve(mem, &out->hit, &out->hit_capacity, triangles * m->surface_count,
                     sizeof *out->hit)) {
        return TDL_STATUS_NO_MEMORY;
    }
    SheetSearch search = {m, sheet, out->hit};
    if (m->watch == NULL) {
        pool_run(pool, triangles, 64, look_at_triangle, &search);
    }
    for (int i = 0; i < triangles && m->watch != NULL; ++i) {
        look_at_triangle(&search, i, 0);
    }
    for (int i = 0; i < triangles * m->surface_count; ++i) {
        if (out->hit[i] >= 0 && !add_surfaces(mem, out, own, i / m->surface_count,
                                              &m->surface[i % m->surface_count], out->hit[i])) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    return TDL_STATUS_OK;
}

// The axis of a round obstacle as a curve, cut to what is abreast of a sheet; false: it has none.
static bool obstacle_axis(const TdlColliderDef* o, const SurfaceBody* sheet, TdlCurve* out) {
    bool endless = o->shape == TDL_SHAPE_CYLINDER;
    if (!endless && o->shape != TDL_SHAPE_SPHERE && o->shape != TDL_SHAPE_CAPSULE) {
        return false;
    }
    TdlVec3 axis = o->pose.rotation.cx, start = o->pose.position;
    double length = o->shape == TDL_SHAPE_CAPSULE ? o->length : 0.0;
    if (endless) {
        double reach = sheet->ball + sheet->travel;
        double middle = tdl_dot3(axis, tdl_sub3(sheet->centre, start));
        start = tdl_axpy3(start, middle - reach, axis);
        length = 2.0 * reach;
    }
    *out = (TdlCurve){.kind = TDL_CURVE_SEGMENT, .end = length, .origin = start};
    out->helix.t = axis;
    out->radius[0] = out->radius[1] = o->radius;
    return true;
}

// Round obstacles that a sheet went through: they are few.
static TdlStatus find_through_obstacles(const TdlAllocator* mem, const Moved* m,
                                        const SurfaceBody* sheet, CrossingList* out) {
    for (int i = 0; i < m->obstacle_count; ++i) {
        TdlCurve before, after;
        if (!obstacle_axis(&m->obstacle_before[i], sheet, &before) ||
            !obstacle_axis(&m->obstacle[i], sheet, &after)) {
            continue;
        }
        Pair pair = {{sheet->body, -1 - i}, {sheet->element, 0}};
        Balls balls = find_balls(m, sheet->body, -1 - i);
        if (surface_crossed(m, &before, &after, sheet, &balls) && !add_pair(mem, out, pair)) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    return TDL_STATUS_OK;
}

// --- implicit surfaces ----------------------------------------------------------------------

typedef struct ImplicitSearch {
    const Moved* moved;
    int index; // of the obstacle
    const TdlColliderDef *before, *after;
    TdlPose was, is; // into its frame
    const SurfaceBody* sheet;
    bool* met; // by triangle of the sheet, or by curve
} ImplicitSearch;

static bool swept_is_met(const ImplicitSearch* x, TdlVec3* from, TdlVec3* to, int count,
                         double radius) {
    Nearness near = crossing_nearness(radius, radius);
    double travel = 0.0;
    for (int k = 0; k < count; ++k) {
        from[k] = pose_point(x->was, from[k]);
        to[k] = pose_point(x->is, to[k]);
        travel = fmax(travel, tdl_norm3(tdl_sub3(to[k], from[k])));
    }
    return radius > 0.0 && travel >= CROSSING_DEEP_SHARE * radius &&
           implicit_is_met(x->after->found, from, to, count, &near);
}

static void look_at_implicit_triangle(void* user, int triangle, int worker) {
    (void)worker;
    const ImplicitSearch* x = user;
    const Surface* s = x->sheet->surface;
    TdlVec3 from[3], to[3];
    for (int k = 0; k < 3; ++k) {
        int v = s->corner[3 * triangle + k];
        from[k] = pose_point(x->sheet->before, s->before == NULL ? s->vertex[v] : s->before[v]);
        to[k] = pose_point(x->sheet->pose, s->vertex[v]);
    }
    x->met[triangle] = swept_is_met(x, from, to, 3, s->radius);
}

static void look_at_implicit_curve(void* user, int curve, int worker) {
    (void)worker;
    const ImplicitSearch* x = user;
    const TdlCurve *before = &x->moved->before[curve], *after = &x->moved->curve[curve];
    double radius = curve_radius(after);
    Track track;
    x->met[curve] = false;
    if (radius == 0.0 || x->moved->fibre[fibre_of(x->moved, curve)].fixed) {
        return;
    }
    sample(before, after, chord_count(before, after), &track);
    Balls balls = find_balls(x->moved, fibre_of(x->moved, curve), -1 - x->index);
    for (int i = 0; i < track.count && !x->met[curve]; ++i) {
        Parts parts;
        int count = find_parts(&track, i, &balls, parts);
        for (int k = 0; k < count && !x->met[curve]; ++k) {
            Chord chord = chord_part(&track, i, parts[k]);
            x->met[curve] = swept_is_met(x, chord.before, chord.after, 2, radius);
        }
    }
}

// Curves, and triangles of sheets, that went into one.
static TdlStatus find_into_implicit(const TdlAllocator* mem, Pool* pool, const Moved* m, int index,
                                    CrossingList* out) {
    ImplicitSearch x = {.moved = m,
                        .index = index,
                        .before = &m->obstacle_before[index],
                        .after = &m->obstacle[index]};
    x.was = pose_inverse(x.before->pose);
    x.is = pose_inverse(x.after->pose);
    for (int k = -1; k < m->surface_count; ++k) {
        x.sheet = k < 0 ? NULL : &m->surface[k];
        if (x.sheet != NULL && !surface_is_sheet(x.sheet)) {
            continue;
        }
        int count = k < 0 ? m->curve_count : x.sheet->surface->triangle_count;
        if (!tdl_reserve(mem, &out->met, &out->met_capacity, count, sizeof *out->met)) {
            return TDL_STATUS_NO_MEMORY;
        }
        x.met = out->met;
        pool_run(pool, count, 16, k < 0 ? look_at_implicit_curve : look_at_implicit_triangle, &x);
        for (int i = 0; i < count; ++i) {
            int fibre = k < 0 && out->met[i] ? fibre_of(m, i) : 0;
            Pair pair = {{k < 0 ? fibre : x.sheet->body, -1 - index},
                         {k < 0 ? i - m->first[fibre] : x.sheet->element + i, 0}};
            if (out->met[i] && !add_pair(mem, out, pair)) {
                return TDL_STATUS_NO_MEMORY;
            }
        }
    }
    return TDL_STATUS_OK;
}

static TdlStatus find_into_implicits(const TdlAllocator* mem, Pool* pool, const Moved* m,
                                     CrossingList* out) {
    TdlStatus status = TDL_STATUS_OK;
    for (int i = 0; i < m->obstacle_count && status == TDL_STATUS_OK; ++i) {
        if (m->obstacle[i].shape == TDL_SHAPE_IMPLICIT) {
            status = find_into_implicit(mem, pool, m, i, out);
        }
    }
    return status;
}

static TdlStatus find_through_sheets(const TdlAllocator* mem, Pool* pool, const Moved* m,
                                     CrossingList* out) {
    for (int k = 0; k < m->surface_count; ++k) {
        if (!surface_is_sheet(&m->surface[k])) {
            continue;
        }
        TdlStatus status = find_through_sheet(mem, pool, m, k, out);
        if (status == TDL_STATUS_OK) {
            status = find_through_obstacles(mem, m, &m->surface[k], out);
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
    }
    return TDL_STATUS_OK;
}

TdlStatus crossings_find(const TdlAllocator* mem, Pool* pool, const Moved* m, CrossingList* out,
                         int* found) {
    long count = detector_pair_count(m->detector);
    int before = out->count;
    TdlStatus status = look_at_all(mem, pool, m, count, 1, look_at_pair, out);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    for (int i = 0; i < (int)count; ++i) {
        Pair pair;
        if (out->met[i]) {
            tdl_detector_pair(m->detector, i, pair.fibre, pair.element);
            if (!add_pair(mem, out, pair)) {
                return TDL_STATUS_NO_MEMORY;
            }
        }
    }
    for (int fibre = 0; fibre < m->fibre_count && m->self; ++fibre) {
        bool bends = !m->fibre[fibre].stiff && !m->fibre[fibre].fixed;
        if (bends && !look_along(mem, m, fibre, out)) {
            return TDL_STATUS_NO_MEMORY;
        }
    }
    status = find_through_surfaces(mem, pool, m, out);
    if (status == TDL_STATUS_OK) {
        status = find_through_sheets(mem, pool, m, out);
    }
    if (status == TDL_STATUS_OK) {
        status = find_into_implicits(mem, pool, m, out);
    }
    *found = out->count - before;
    return status;
}
