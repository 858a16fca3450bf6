// The narrow phase of a pair: the distance method asked for, and a contact site for each minimum.
#include "detect/narrow.h"

#include "detect/bore.h"
#include "detect/obstacle.h"
#include "detect/search.h"

#include <float.h>

// Curves whose centrelines come nearer than this share of their radii are in each other, as no step
// leaves them: some places are enough to part them.
static const double DEEP_IN = 0.25;

// More minima than this of one pair are not kept; with spread points a pair has few.
enum { MAX_MINIMA = ROUND_POINTS, STEPS = 4 };

// Of an element's length: points of stiff bodies this near are one (corners agree to rounding), and
// a contact of a stiff body that moved less than eight times this is the same as before.
static const double SAME_POINT = 1.0e-6, STIFF_WIDTH = 0.05;
// Of the elements' lengths: two fibres that lie along each other touch on both sides of a joint,
// and what they do to the fibres at places this near differs by some thousandths only.
static const double SAME_SHARE = 0.02;

// Straight elements that cross at a smaller sine than this may touch along a stretch.
static const double SIDE_BY_SIDE = 0.1;

void site_list_clear(SiteList* list) {
    list->count = 0;
    list->failed = false;
    list->status = TDL_STATUS_OK;
    list->pairs = list->accepted = 0;
    list->certified = true;
}

void site_list_free(const TdlAllocator* mem, SiteList* list) {
    tdl_free(mem, list->site);
    *list = (SiteList){0};
}

bool site_list_reserve(const TdlAllocator* mem, SiteList* list, int capacity) {
    if (capacity <= list->capacity) {
        return true;
    }
    void* grown = tdl_grow_array(mem, list->site, (size_t)capacity, sizeof *list->site);
    if (grown == NULL) {
        list->failed = true;
        return false;
    }
    list->site = grown;
    list->capacity = capacity;
    return true;
}

void site_list_add(const TdlAllocator* mem, SiteList* list, const ContactSite* site) {
    if (list->count < list->capacity || site_list_reserve(mem, list, 2 * list->capacity + 32)) {
        list->site[list->count++] = *site;
    }
}

static bool at_end(const TdlCurve* c, double s) {
    return s <= 0.0 || s >= c->end;
}

// Straight elements: of boxes and capsules, and between the nodes of nodal rods.
static bool straight(const TdlCurve* c) {
    return c->kind == TDL_CURVE_SEGMENT && c->end > 0.0;
}

// How far duplicates of a contact may be apart. Along a fibre they are: within its width, whatever
// it touches. The points on which stiff bodies stand are all wanted; only corners, where edges
// meet, are the same point, and along a chain the joints are found twice. (X.22)
static void set_widths(ContactSite* site, const Element* a, const TdlCurve* cb, bool stiff_b,
                       const double s[2]) {
    double ra = tdl_curve_radius(a->curve, s[0]), rb = tdl_curve_radius(cb, s[1]);
    double longest = fmax(a->curve->end, cb->end);
    site->width = 2.0 * fmax(ra, rb);
    site->merge = site->width;
    site->bends = !a->stiff && !stiff_b;
    if (site->bends) {
        site->along = (float)(SAME_SHARE * fmin(a->curve->end, cb->end));
    } else if (a->stiff && stiff_b) {
        bool both = straight(a->curve) && straight(cb);
        site->width = fmax(site->width, STIFF_WIDTH * longest);
        site->merge = fmax(both ? 0.0 : 2.0 * fmin(ra, rb), SAME_POINT * longest);
    } else {
        site->merge = 2.0 * (a->stiff ? rb : ra);
    }
}

// `stiff`: whether the second body is.
static ContactSite make_site(const Element* a, const TdlCurve* cb, bool stiff,
                             const TdlDistance* d) {
    ContactSite site = {.contact = {.body = {a->fibre, 0},
                                    .element = {a->place, 0},
                                    .u = {d->s[0], d->s[1]},
                                    .point = {d->point[0], d->point[1]},
                                    .gap = d->gap,
                                    .previous = -1},
                        .arc = {a->arc + d->s[0], d->s[1]}};
    TdlVec3 ta = curve_eval(a->curve, d->s[0]).d1, tb = curve_eval(cb, d->s[1]).d1;
    int ends = at_end(a->curve, d->s[0]) + at_end(cb, d->s[1]);
    site.contact.basis = contact_basis(ta, tb, tdl_sub3(d->point[1], d->point[0]), ends);
    set_widths(&site, a, cb, stiff, d->s);
    return site;
}

// Boxes for two elements of one fibre that keep points closer than `apart` along it out: between
// half a turn and a contact's width any limit will do, so stairs may stand for the slope. (X.19)
static int self_boxes(const Element* a, const Element* b, SearchBox boxes[STEPS]) {
    double length = a->curve->end, end = b->curve->end;
    double gap = b->arc - (a->arc + length);
    int count = 0;
    for (int k = 0; k < STEPS; ++k) {
        double low = length * k / STEPS, high = length * (k + 1) / STEPS;
        double from = fmax(0.0, a->apart - gap - (length - 0.5 * (low + high)));
        if (from < end) {
            boxes[count++] = (SearchBox){0.5 * (low + high), 0.5 * (high - low), 0.5 * (from + end),
                                         0.5 * (end - from), 0.0};
        }
    }
    return count;
}

static TdlDistanceDef distance_def(const TdlDetectorDef* def) {
    TdlDistanceDef out = tdl_distance_def_default();
    out.method = def->method;
    out.bound = def->margin;
    out.tolerance = def->tolerance;
    out.proxy_segments = def->proxy_segments;
    return out;
}

// The least gap of a pair by the fast method: what most pairs need, without the public checks.
static bool least_fast(const TdlDetectorDef* def, const TdlCurve* a, const TdlCurve* b,
                       uint64_t near, const SearchBox* boxes, int box_count, TdlDistance* out) {
    Search search;
    search_init(&search, a, b, def->tolerance);
    search.best = def->margin + search.radii;
    search_fast(&search, near, boxes, box_count);
    search_report(&search, TDL_DISTANCE_FAST, out);
    return out->below;
}

// Of minima, the lowest first, keeps those that are not near a kept one along both curves.
static int thin_out(TdlDistance* found, int count, double apart_a, double apart_b) {
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        bool near = false;
        for (int k = 0; k < kept && !near; ++k) {
            near = fabs(found[i].s[0] - found[k].s[0]) < apart_a &&
                   fabs(found[i].s[1] - found[k].s[1]) < apart_b;
        }
        if (!near) {
            found[kept++] = found[i];
        }
    }
    return kept;
}

// All minima wanted of a pair; returns how many were written.
static int find_minima(const TdlHost* host, const TdlDetectorDef* def, const Element* a,
                       const TdlCurve* b, uint64_t near, double arc, TdlDistance found[MAX_MINIMA],
                       SiteList* out) {
    TdlDistanceDef here = distance_def(def);
    if (def->all_minima && def->method == TDL_DISTANCE_FAST) {
        int count;
        bool certified;
        double offset = def->spacing > 0.0 ? -fmod(arc, def->spacing) : 0.0;
        here.meeting = DEEP_IN;
        TdlStatus status = tdl_curve_minima(host, a->curve, b, &here, def->spacing, offset,
                                            MAX_MINIMA, found, &count, &certified);
        out->status = status != TDL_STATUS_OK ? status : out->status;
        out->certified = out->certified && certified && count <= MAX_MINIMA;
        count = count < MAX_MINIMA ? count : MAX_MINIMA;
        return thin_out(found, count, def->minima_share * a->curve->end,
                        def->minima_share * b->end);
    }
    TdlStatus status = TDL_STATUS_OK;
    if (def->method == TDL_DISTANCE_FAST) {
        least_fast(def, a->curve, b, near, NULL, 0, found);
    } else {
        status = tdl_curve_distance(host, a->curve, NULL, b, NULL, &here, found);
    }
    if (status != TDL_STATUS_OK) {
        out->status = status;
        return 0;
    }
    out->certified = out->certified && found[0].certified;
    return found[0].below;
}

// Adds the point abreast of the one at `s` on curve `from`, if there is one.
static int add_abreast(const TdlDetectorDef* def, const TdlCurve* pair[2], int from, double s,
                       TdlDistance* found, int count) {
    const TdlCurve *c = pair[from], *other = pair[1 - from];
    TdlVec3 p = tdl_curve_point(c, s);
    double t = tdl_dot3(other->helix.t, tdl_sub3(p, other->origin));
    double slack = SAME_POINT * fmax(c->end, other->end);
    if (t < -slack || t > other->end + slack) {
        return count;
    }
    t = fmin(fmax(t, 0.0), other->end);
    TdlDistance d = {.below = true, .certified = true};
    d.s[from] = s;
    d.s[1 - from] = t;
    d.point[from] = p;
    d.point[1 - from] = tdl_curve_point(other, t);
    d.distance = tdl_norm3(tdl_sub3(d.point[1], d.point[0]));
    d.gap = d.distance - tdl_curve_radius(c, s) - tdl_curve_radius(other, t);
    if (d.gap < def->margin) {
        found[count++] = d;
    }
    return count;
}

// The place at s and what it is nearest to of an obstacle's axis.
static TdlDistance held_place(const TdlCurve* a, const TdlCurve* obstacle, double s) {
    TdlVec3 p = tdl_curve_point(a, s);
    double t = tdl_dot3(obstacle->helix.t, tdl_sub3(p, obstacle->origin));
    t = fmin(fmax(t, 0.0), obstacle->end);
    TdlDistance d = {.below = true, .certified = true, .s = {s, t}};
    d.point[0] = p;
    d.point[1] = tdl_axpy3(obstacle->origin, t, obstacle->helix.t);
    d.distance = tdl_norm3(tdl_sub3(d.point[1], p));
    d.gap = d.distance - tdl_curve_radius(a, s) - obstacle->radius[0];
    return d;
}

// Adds the places of an element that are to be held as well as the nearest ones, where they are
// within the margin of a round obstacle: the ends, more where the curvature changes (X.24), the
// middle where it lies level (X.36). `seat` receives where that is, or -1.
static int add_held(const TdlDetectorDef* def, const Element* element, const TdlCurve* obstacle,
                    TdlDistance found[MAX_MINIMA], int count, double* seat) {
    static const double INNER = 0.27639320225002103; // (1 - 1/sqrt 5)/2
    const TdlCurve* a = element->curve;
    TdlDistance place[5] = {held_place(a, obstacle, 0.0), held_place(a, obstacle, a->end)};
    int places = 2;
    if (!curve_is_helix(a)) {
        place[places++] = held_place(a, obstacle, INNER * a->end);
        place[places++] = held_place(a, obstacle, (1.0 - INNER) * a->end);
    }
    *seat = -1.0;
    if (element->seat >= 0.0) {
        TdlDistance middle = held_place(a, obstacle, element->seat);
        double level = SEAT_LEVEL * a->radius[0];
        if (fabs(place[0].gap - middle.gap) <= level && fabs(place[1].gap - middle.gap) <= level) {
            *seat = element->seat;
            place[places] = middle;
            places += *seat > 0.0 && *seat < a->end;
        }
    }
    for (int k = 0; k < places && count < MAX_MINIMA; ++k) {
        if (place[k].gap < def->margin) {
            found[count++] = place[k];
        }
    }
    return count;
}

// Two straight elements: the least gap and, side by side, both ends of the stretch.
// Where the ends are as near as the least gap, that is any point between them and left out. (X.23)
static int find_stretch(const TdlDetectorDef* def, const TdlCurve* a, const TdlCurve* b,
                        uint64_t near, TdlDistance found[MAX_MINIMA], SiteList* out) {
    bool below = least_fast(def, a, b, near, NULL, 0, &found[0]);
    out->certified = out->certified && found[0].certified;
    if (!below || tdl_norm3(tdl_cross3(a->helix.t, b->helix.t)) > SIDE_BY_SIDE) {
        return below;
    }
    const TdlCurve* pair[2] = {a, b};
    int count = 1;
    double least = INFINITY;
    for (int k = 0; k < 4; ++k) {
        count = add_abreast(def, pair, k / 2, k % 2 == 0 ? 0.0 : pair[k / 2]->end, found, count);
    }
    for (int k = 1; k < count; ++k) {
        least = fmin(least, found[k].gap);
    }
    if (count > 2 && least <= found[0].gap + SAME_POINT * (found[0].distance + def->margin)) {
        found[0] = found[--count];
    }
    return count;
}

// One of two that goes into the bore of the other, which is the tube: met on the wall in the place
// of what else was found there. Returns how many are left of that.
static int meet_bore(const TdlHost* host, const TdlDetectorDef* def, const Element* a,
                     const Element* b, TdlDistance* found, int count, SiteList* out) {
    const Element* tube = bore_takes(a->bore, b->curve) ? a : b;
    if (a->fibre == b->fibre || !bore_takes(tube->bore, (tube == a ? b : a)->curve)) {
        return count;
    }
    TubePiece piece = tube_piece(tube->curve, tube->bore, tube->place, tube->count);
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        if (bore_leaves(&piece, &found[i], tube == b)) {
            found[kept++] = found[i];
        }
    }
    narrow_bore(host, def, tube == a ? b : a, tube, &piece, out);
    return kept;
}

void narrow_pair(const TdlHost* host, const TdlDetectorDef* def, const Element* a,
                 const TdlCurveCapsules* ca, const Element* b, const TdlCurveCapsules* cb,
                 SiteList* out) {
    ++out->pairs;
    uint64_t near = capsules_near(ca, cb, def->margin, b->curve);
    if (near == 0) {
        return;
    }
    TdlDistance found[MAX_MINIMA];
    int count;
    double between = b->arc - (a->arc + a->curve->end);
    if (a->fibre == b->fibre && between < a->apart) {
        // stairs that keep neighbours apart; always the fast method
        SearchBox boxes[STEPS];
        count = self_boxes(a, b, boxes);
        if (count > 0) {
            count = least_fast(def, a->curve, b->curve, near, boxes, count, found);
            out->certified = out->certified && found[0].certified;
            // what is least at the edge of the stairs is followed down, to neighbours
            double along = between + a->curve->end - found[0].s[0] + found[0].s[1];
            count = along < a->apart - a->curve->end / STEPS ? 0 : count;
        }
    } else if (def->method == TDL_DISTANCE_FAST && straight(a->curve) && straight(b->curve)) {
        count = find_stretch(def, a->curve, b->curve, near, found, out);
    } else {
        count = find_minima(host, def, a, b->curve, near, b->arc, found, out);
    }
    if (a->bore != NULL || b->bore != NULL) {
        count = meet_bore(host, def, a, b, found, count, out);
    }
    out->accepted += count > 0;
    for (int i = 0; i < count; ++i) {
        ContactSite site = make_site(a, b->curve, b->stiff, &found[i]);
        site.contact.body[1] = b->fibre;
        site.contact.element[1] = b->place;
        site.arc[1] += b->arc;
        site_list_add(&host->mem, out, &site);
    }
}

static void narrow_plane(const TdlHost* host, const TdlDetectorDef* def, const Element* a,
                         const TdlColliderDef* plane, int index, SiteList* out) {
    double s[MAX_MINIMA], gap[MAX_MINIMA];
    PlanePoints points = a->stiff || def->obstacle_ends ? PLANE_ENDS
                         : def->all_minima              ? PLANE_MINIMA
                                                        : PLANE_LEAST;
    double seat = obstacle_plane_seat(plane, a->curve, a->seat);
    int count = obstacle_plane(plane, a->curve, def->margin, def->tolerance, points, seat,
                               MAX_MINIMA, s, gap);
    out->accepted += count > 0;
    for (int i = 0; i < count; ++i) {
        TdlVec3 down = tdl_scale3(-1.0, plane->pose.rotation.cz);
        TdlVec3 at = tdl_curve_point(a->curve, s[i]);
        double height = gap[i] + tdl_curve_radius(a->curve, s[i]);
        ContactSite site = {.contact = {.body = {a->fibre, -1 - index},
                                        .element = {a->place, 0},
                                        .u = {s[i], 0.0},
                                        .point = {at, tdl_axpy3(at, height, down)},
                                        .gap = gap[i],
                                        .previous = -1},
                            .arc = {a->arc + s[i], 0.0},
                            .width = 2.0 * tdl_curve_radius(a->curve, s[i])};
        site.bends = !a->stiff;
        site.seat = s[i] == seat;
        site.merge = a->stiff ? fmax(SAME_POINT * a->curve->end, DBL_MIN) : site.width;
        site.width = a->stiff ? fmax(site.width, STIFF_WIDTH * a->curve->end) : site.width;
        site.contact.basis =
            tdl_frame_from_tangent_hint(down, tdl_curve_derivative(a->curve, s[i]));
        site_list_add(&host->mem, out, &site);
    }
}

// A ball about the element against the obstacle's axis: most elements are far from most obstacles.
static bool obstacle_is_far(const TdlDetectorDef* def, const TdlCurve* c, const TdlCurve* o) {
    double size = curve_size(c) * (1.0 + 1.0e-9);
    double fat = fmax(c->radius[0], c->radius[1]) + o->radius[0] + def->margin;
    TdlVec3 r = tdl_sub3(c->origin, o->origin);
    double along = fmin(o->end, fmax(0.0, tdl_dot3(r, o->helix.t)));
    double away = tdl_norm3(tdl_axpy3(r, -along, o->helix.t));
    return away * (1.0 - 1.0e-9) > size + fat;
}

bool narrow_meets(const TdlDetectorDef* def, const Element* a, const TdlColliderDef* obstacle) {
    switch (obstacle->shape) {
    case TDL_SHAPE_PLANE:
    case TDL_SHAPE_PLATE:
        return true;
    case TDL_SHAPE_COMB:
    case TDL_SHAPE_CURVES:
    case TDL_SHAPE_MESH:
    case TDL_SHAPE_IMPLICIT:
        return false;
    case TDL_SHAPE_SPHERE:
    case TDL_SHAPE_CYLINDER:
    case TDL_SHAPE_CAPSULE:
        break;
    }
    TdlCurve curve = obstacle_curve(obstacle, a->curve);
    return !obstacle_is_far(def, a->curve, &curve);
}

void narrow_obstacle(const TdlHost* host, const TdlDetectorDef* def, const Element* a,
                     const TdlCurveCapsules* ca, const TdlColliderDef* obstacle, int index,
                     SiteList* out) {
    switch (obstacle->shape) {
    case TDL_SHAPE_PLANE:
    case TDL_SHAPE_PLATE:
        ++out->pairs;
        narrow_plane(host, def, a, obstacle, index, out);
        return;
    case TDL_SHAPE_COMB:
    case TDL_SHAPE_CURVES:
        return; // fixed fibres
    case TDL_SHAPE_MESH:
    case TDL_SHAPE_IMPLICIT:
        return; // surfaces
    case TDL_SHAPE_SPHERE:
    case TDL_SHAPE_CYLINDER:
    case TDL_SHAPE_CAPSULE:
        break;
    }
    TdlCurve curve = obstacle_curve(obstacle, a->curve);
    if (obstacle_is_far(def, a->curve, &curve)) {
        return;
    }
    ++out->pairs;
    TdlDistance found[MAX_MINIMA];
    int count;
    if (!a->stiff && def->method == TDL_DISTANCE_FAST && obstacle_is_round(obstacle, a->curve)) {
        count = obstacle_round(obstacle, &curve, a->curve, def->margin, def->tolerance,
                               def->all_minima, found);
        out->certified = out->certified && (count == 0 || found[0].certified);
        count = thin_out(found, count, def->minima_share * a->curve->end,
                         def->minima_share * curve.end);
    } else {
        TdlCurveCapsules cb;
        tdl_curve_capsules(&curve, &cb);
        uint64_t near = capsules_near(ca, &cb, def->margin, &curve);
        if (near == 0) {
            return;
        }
        count = a->stiff && straight(a->curve) && straight(&curve)
                    ? find_stretch(def, a->curve, &curve, near, found, out)
                    : find_minima(host, def, a, &curve, near, 0.0, found, out);
    }
    out->accepted += count > 0;
    double seat = -1.0;
    if (count > 0 && def->obstacle_ends && !a->stiff) {
        count = add_held(def, a, &curve, found, count, &seat);
    }
    for (int i = 0; i < count; ++i) {
        ContactSite site = make_site(a, &curve, true, &found[i]);
        site.contact.body[1] = -1 - index;
        site.seat = found[i].s[0] == seat;
        // the abreast part of an endless axis moves with the element: count from the place given
        if (obstacle->shape == TDL_SHAPE_CYLINDER) {
            TdlVec3 from = tdl_sub3(found[i].point[1], obstacle->pose.position);
            site.arc[1] = site.contact.u[1] = tdl_dot3(from, obstacle->pose.rotation.cx);
        }
        site_list_add(&host->mem, out, &site);
    }
}
