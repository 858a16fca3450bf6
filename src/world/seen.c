// What detection sees of the bodies. Those that have coordinates come first, each a fibre; of the
// others those are fibres that are made of curves.
#include "world/seen.h"

#include "curve/curve.h"
#include "detect/detector.h"

static void free_layout(const TdlAllocator* mem, Seen* s) {
    void* arrays[] = {s->fibre,    s->fibre_body,      s->shape,        s->first,
                      s->family,   s->obstacle_body,   s->surface_body, s->curve,
                      s->before,   s->travel,          s->node,         s->last,
                      s->obstacle, s->obstacle_before, s->surface,      s->bore};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
        tdl_free(mem, arrays[i]);
    }
    *s = (Seen){.detector = s->detector, .segments = s->segments, .solid = s->solid};
}

void seen_free(const TdlAllocator* mem, Seen* s) {
    free_layout(mem, s);
    tdl_detector_destroy(s->detector);
}

// --- the layout -----------------------------------------------------------------------------

static bool has_coordinates(const Body* body) {
    return body->system->dof_count > 0;
}

static bool is_fibre(const Body* body, const BodyShape* shape) {
    return has_coordinates(body) || shape->curve_count > 0;
}

static void count_shapes(Seen* s, Body* const* bodies, int body_count) {
    for (int i = 0; i < body_count; ++i) {
        BodyShape shape = bodies[i]->kind->shape(bodies[i], s->segments);
        s->fibre_count += is_fibre(bodies[i], &shape);
        s->curve_count += shape.curve_count;
        s->obstacle_count += shape.obstacle;
        s->surface_count += shape.surface != NULL;
    }
}

static bool allocate(const TdlAllocator* mem, Seen* s) {
    size_t fibres = (size_t)s->fibre_count + 1, curves = (size_t)s->curve_count + 1;
    size_t obstacles = (size_t)s->obstacle_count + 1, surfaces = (size_t)s->surface_count + 1;
    s->fibre = tdl_alloc_array(mem, fibres, sizeof *s->fibre);
    s->fibre_body = tdl_alloc_array(mem, fibres, sizeof *s->fibre_body);
    s->shape = tdl_alloc_array(mem, fibres, sizeof *s->shape);
    s->first = tdl_alloc_array(mem, fibres, sizeof *s->first);
    s->family = tdl_alloc_array(mem, fibres, sizeof *s->family);
    s->obstacle_body = tdl_alloc_array(mem, obstacles, sizeof *s->obstacle_body);
    s->surface_body = tdl_alloc_array(mem, surfaces, sizeof *s->surface_body);
    s->curve = tdl_alloc_array(mem, curves, sizeof *s->curve);
    s->before = tdl_alloc_array(mem, curves, sizeof *s->before);
    s->travel = tdl_alloc_array(mem, curves, sizeof *s->travel);
    s->node = tdl_alloc_array(mem, curves + fibres, sizeof *s->node);
    s->last = tdl_alloc_array(mem, curves + fibres, sizeof *s->last);
    s->obstacle = tdl_alloc_array(mem, obstacles, sizeof *s->obstacle);
    s->obstacle_before = tdl_alloc_array(mem, obstacles, sizeof *s->obstacle_before);
    s->surface = tdl_alloc_array(mem, surfaces, sizeof *s->surface);
    s->bore = tdl_alloc_array(mem, 2 * curves, sizeof *s->bore);
    return s->fibre && s->fibre_body && s->shape && s->first && s->family && s->obstacle_body &&
           s->surface_body && s->curve && s->before && s->travel && s->node && s->last &&
           s->obstacle && s->obstacle_before && s->surface && s->bore;
}

// Numbers of the next ones.
typedef struct Counter {
    int fibre, curve, obstacle, surface;
} Counter;

static void place_body(Seen* s, Body* body, Counter* next) {
    BodyShape shape = body->kind->shape(body, s->segments);
    bool moves = has_coordinates(body);
    int fibre = next->fibre;
    if (is_fibre(body, &shape)) {
        s->fibre_body[fibre] = body;
        s->shape[fibre] = shape;
        s->first[fibre] = next->curve;
        s->family[fibre] = body->system->index;
        s->fibre[fibre] = (TdlFibre){.curves = s->curve + next->curve,
                                     .count = shape.curve_count,
                                     .seats = shape.seats,
                                     .pieces = shape.pieces,
                                     .stiff = shape.stiff,
                                     .fixed = !moves};
        if (shape.hollow && !s->solid) {
            s->fibre[fibre].bore = s->bore + 2 * (size_t)next->curve;
            body->kind->bores(body, s->segments, s->bore + 2 * (size_t)next->curve);
        }
        next->curve += shape.curve_count;
        ++next->fibre;
    }
    if (shape.surface != NULL) {
        s->surface_body[next->surface] = body;
        s->surface[next->surface++] =
            moves ? (SurfaceBody){shape.surface, .body = fibre, .element = shape.curve_count,
                                  .self = !shape.stiff, .cylinder = shape.cylinder}
                  : (SurfaceBody){shape.surface, .body = -1 - next->obstacle};
    }
    if (shape.obstacle) {
        s->obstacle_body[next->obstacle++] = body;
    }
    if (moves && shape.size > 0.0) {
        s->thinnest = fmin(s->thinnest, shape.size);
        s->widest = fmax(s->widest, shape.size);
        s->spacing = fmax(s->spacing, shape.spacing);
    }
}

static void place_all(Seen* s, Body* const* bodies, int body_count) {
    Counter next = {0};
    s->thinnest = INFINITY;
    s->widest = s->spacing = 0.0;
    for (int turn = 0; turn < 2; ++turn) { // those with coordinates first
        for (int i = 0; i < body_count; ++i) {
            if (has_coordinates(bodies[i]) == (turn == 0)) {
                place_body(s, bodies[i], &next);
            }
        }
        s->moving_count = turn == 0 ? next.fibre : s->moving_count;
    }
    int bends = 0, slender = 0;
    for (int i = 0; i < s->moving_count; ++i) {
        bool bending = !s->shape[i].stiff && s->shape[i].curve_count > 0;
        bends += bending;
        slender += bending && s->shape[i].slender;
    }
    s->slender = bends > 0 && slender == bends;
    detector_set_surfaces(s->detector, s->surface, s->surface_count);
    detector_set_minima(s->detector, s->slender);
}

TdlStatus seen_lay_out(const TdlHost* host, Seen* s, Body* const* bodies, int body_count) {
    if (s->laid_out) {
        return TDL_STATUS_OK;
    }
    free_layout(&host->mem, s);
    count_shapes(s, bodies, body_count);
    if (!allocate(&host->mem, s)) {
        free_layout(&host->mem, s);
        return TDL_STATUS_NO_MEMORY;
    }
    place_all(s, bodies, body_count);
    s->laid_out = true;
    return TDL_STATUS_OK;
}

// --- the present shape ----------------------------------------------------------------------

// The ends of a fibre's curves, one more than it has curves.
static void fill_nodes(Seen* s, int fibre) {
    const TdlFibre* f = &s->fibre[fibre];
    TdlVec3* node = s->node + s->first[fibre] + fibre;
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
    Seen* s = user;
    if (s->fibre[index].count > 0) {
        Body* body = s->fibre_body[index];
        body->kind->curves(body, s->segments, s->curve + s->first[index]);
    }
    fill_nodes(s, index);
}

void seen_take_shape(Pool* pool, Seen* s) {
    pool_run(pool, s->fibre_count, 8, fill_fibre, s);
    for (int i = 0; i < s->obstacle_count; ++i) {
        s->obstacle_body[i]->kind->obstacle(s->obstacle_body[i], &s->obstacle[i]);
    }
    for (int i = 0; i < s->surface_count; ++i) {
        s->surface[i].pose = body_pose(s->surface_body[i]);
        surface_body_measure(&s->surface[i]);
    }
}

void seen_keep_nodes(Seen* s) {
    TdlVec3* swap = s->last;
    s->last = s->node;
    s->node = swap;
}

void seen_keep_curves(Seen* s) {
    TdlCurve* swap = s->before;
    s->before = s->curve;
    s->curve = swap;
    for (int i = 0; i < s->fibre_count; ++i) {
        s->fibre[i].curves = s->curve + s->first[i];
    }
    for (int i = 0; i < s->surface_count; ++i) {
        s->surface[i].before = s->surface[i].pose;
    }
    for (int i = 0; i < s->obstacle_count; ++i) {
        s->obstacle_before[i] = s->obstacle[i];
    }
}

static void measure_curve(void* user, int curve, int worker) {
    (void)worker;
    Seen* s = user;
    crossings_measure(&s->before[curve], &s->curve[curve], &s->travel[curve]);
}

void seen_measure_travel(Pool* pool, Seen* s) {
    pool_run(pool, s->curve_count, 64, measure_curve, s);
}

// --- a contact ------------------------------------------------------------------------------

BodyPlace seen_place(const Seen* s, const TdlContact* x, int side) {
    const TdlCurve* curve = seen_curve(s, x, side);
    int body = x->body[side];
    BodyPlace place = {.element = x->element[side], .point = x->point[side]};
    if (curve == NULL) {
        // those of a surface follow those of the curves
        int each = body < 0 ? 1 : s->shape[body].pieces;
        place.element -= body < 0 ? 0 : s->fibre[body].count - s->fibre[body].count / each;
        place.u = x->u[side];
        place.v = x->v[side];
        return place;
    }
    int each = s->shape[body].pieces;
    double u = curve->end > 0.0 ? x->u[side] / curve->end : 0.0;
    place.u = (x->element[side] % each + fmin(fmax(u, 0.0), 1.0)) / each;
    place.element = x->element[side] / each;
    return place;
}

// What lies between the point of a side and its surface; 0 of an obstacle, where it is not asked.
static double side_radius(const Seen* s, const TdlContact* x, int side) {
    const TdlCurve* curve = seen_curve(s, x, side);
    for (int i = 0; i < s->surface_count && curve == NULL && x->body[side] >= 0; ++i) {
        if (s->surface[i].body == x->body[side]) {
            return s->surface[i].surface->radius;
        }
    }
    return curve == NULL ? 0.0 : tdl_curve_radius(curve, x->u[side]);
}

TdlVec3 seen_touch(const Seen* s, const TdlContact* x) {
    double ra = side_radius(s, x, 0), rb = side_radius(s, x, 1);
    if (x->tube[0]) {
        return tdl_axpy3(x->point[1], -rb - 0.5 * x->gap, x->basis.cx);
    }
    if (x->body[1] < 0 || x->tube[1]) {
        return tdl_axpy3(x->point[0], ra + 0.5 * x->gap, x->basis.cx);
    }
    TdlVec3 a = tdl_axpy3(x->point[0], ra, x->basis.cx);
    TdlVec3 b = tdl_axpy3(x->point[1], -rb, x->basis.cx);
    return tdl_scale3(0.5, tdl_add3(a, b));
}

static bool bends(const Seen* s, const TdlContact* x, int side) {
    return seen_curve(s, x, side) != NULL && !s->fibre[x->body[side]].stiff;
}

static bool is_frameless(const Seen* s, const TdlContact* x, int side) {
    return x->body[side] >= 0 && s->shape[x->body[side]].frameless;
}

TdlVec3 seen_acting(const Seen* s, const TdlContact* x, int side) {
    bool both = has_coordinates(seen_body(s, x, 0)) && has_coordinates(seen_body(s, x, 1));
    bool frameless[2] = {is_frameless(s, x, 0), is_frameless(s, x, 1)};
    if ((!both && bends(s, x, side)) || frameless[side]) {
        return x->point[side];
    }
    return both && frameless[1 - side] ? x->point[1 - side] : seen_touch(s, x);
}

double seen_radius(const Seen* s, const TdlContact* x) {
    double least = INFINITY;
    for (int side = 0; side < 2; ++side) {
        const TdlCurve* curve = seen_curve(s, x, side);
        double own = 0.0;
        if (curve == NULL && is_frameless(s, x, side)) {
            own = side_radius(s, x, side); // of a sheet
        } else if (curve != NULL && !s->fibre[x->body[side]].fixed) {
            own = fmax(curve->radius[0], curve->radius[1]);
        }
        least = own > 0.0 ? fmin(least, own) : least;
    }
    return isfinite(least) ? least : s->thinnest;
}

TdlVec3 seen_velocity(const Seen* s, const TdlContact* x, int side, double dt) {
    const TdlCurve* curve = seen_curve(s, x, side);
    if (curve == NULL) {
        const Body* body = seen_body(s, x, side);
        BodyPlace place = seen_place(s, x, side);
        return body->kind->velocity(body, &place);
    }
    double u = curve->end > 0.0 ? x->u[side] / curve->end : 0.0;
    int i = s->first[x->body[side]] + x->body[side] + x->element[side];
    TdlVec3 a = tdl_sub3(s->node[i], s->last[i]), b = tdl_sub3(s->node[i + 1], s->last[i + 1]);
    return tdl_scale3(1.0 / dt, tdl_axpy3(tdl_scale3(1.0 - u, a), u, b));
}

bool seen_displacement(const Seen* s, const TdlContact* x, int side, double dt, TdlVec3* out) {
    const TdlCurve* curve = seen_curve(s, x, side);
    if (curve == NULL) {
        *out = tdl_scale3(dt, seen_velocity(s, x, side, dt));
        return seen_body(s, x, side)->system->dof_count == 0;
    }
    if (s->fibre[x->body[side]].stiff) {
        return false; // it may roll
    }
    const TdlCurve* before = &s->before[s->first[x->body[side]] + x->element[side]];
    double share = curve->end > 0.0 ? before->end / curve->end : 0.0;
    *out =
        tdl_sub3(tdl_curve_point(curve, x->u[side]), tdl_curve_point(before, share * x->u[side]));
    return true;
}

// A fibre's curves and, last, its surface: as one, or its triangles where they move by themselves.
static int elements_of(const Seen* s, int body) {
    int count = body < 0 ? 1 : s->fibre[body].count;
    for (int i = 0; i < s->surface_count; ++i) {
        const Surface* surface = s->surface[i].surface;
        if (s->surface[i].body == body) {
            int own = surface->from != NULL ? surface->triangle_count : 1;
            count = body >= 0 ? count + own : own;
        }
    }
    return count;
}

bool seen_has(const Seen* s, const TdlContact* x) {
    for (int side = 0; side < 2; ++side) {
        int body = x->body[side], element = x->element[side];
        bool obstacle = side == 1 && body < 0 && body >= -s->obstacle_count;
        bool fibre = body >= 0 && body < s->fibre_count;
        if ((!obstacle && !fibre) || element < 0 || element >= elements_of(s, body)) {
            return false;
        }
    }
    return x->body[0] < s->moving_count;
}
