// What points see of a body: what it is made of in its present shape, each kind in a table, and the
// address of the place that is nearest. docs/theory/distance.md, section 14
#include "detect/near_point.h"

#include "body/surface.h"
#include "detect/near_parts.h"
#include "math/rotation.h"

// A point is pushed out when it is this near to where it is to be, of the way that it had to go and
// of its size; so often at most.
static const double PUSH_SHARE = 1.0e-9, PUSH_ROUND = 1.0e-14;
enum { MOST_PUSHES = 16 };

// Where a body is touched by a point beside it.
typedef enum SeerTouch {
    TOUCH_POINT,   // it moves as one there: the place is the point
    TOUCH_SECTION, // of a curve with a frame: the point as part of the section
    TOUCH_FOOT,    // at the place itself
} SeerTouch;

typedef bool (*SeerFind)(const PointSeer* seer, TdlVec3 point, double reach, NearFoot* out);

struct PointSeer {
    TdlAllocator mem;
    SeerFind find;     // null: there is nothing to see
    TdlPose pose;      // of what follows
    TdlVec3 low, high; // m, a box about it, in the world
    double thickness;  // m

    Solid solid;
    CurveSet* curves;
    const Surface* surface;
    bool inside; // the surface has one
    const ImplicitSurface* implicit;

    SeerTouch touch;
    int pieces; // curves of an element
    int first;  // element of what is no curve
    bool named; // triangles are elements
};

// --- kinds
// ----------------------------------------------------------------------------------------

static bool find_solid(const PointSeer* s, TdlVec3 point, double reach, NearFoot* out) {
    solid_near(&s->solid, point, out);
    return out->gap < reach;
}

static bool find_curve(const PointSeer* s, TdlVec3 point, double reach, NearFoot* out) {
    return curve_set_near(s->curves, point, reach, out);
}

static bool find_surface(const PointSeer* s, TdlVec3 point, double reach, NearFoot* out) {
    return surface_near(s->surface, s->inside, point, reach, out);
}

static bool find_implicit(const PointSeer* s, TdlVec3 point, double reach, NearFoot* out) {
    return implicit_near(s->implicit, point, reach, out);
}

// A box about that of a part, as turned and moved.
static void set_box(PointSeer* s, TdlVec3 low, TdlVec3 high, double more) {
    Solid box = {.middle = tdl_scale3(0.5, tdl_add3(low, high)),
                 .half = tdl_scale3(0.5, tdl_sub3(high, low)),
                 .round = 0.0};
    TdlVec3 out = {more, more, more};
    solid_box(&box, s->pose, &s->low, &s->high);
    s->low = tdl_sub3(s->low, out);
    s->high = tdl_add3(s->high, out);
}

static void see_solid(PointSeer* s, const Solid* solid) {
    s->find = find_solid;
    s->solid = *solid;
    s->thickness = solid_least(solid);
    solid_box(solid, s->pose, &s->low, &s->high);
}

static void see_surface(PointSeer* s, const Surface* surface) {
    const SurfaceBox* box = &surface->node[0].box;
    s->find = find_surface;
    s->surface = surface;
    s->inside = surface_has_inside(surface);
    s->thickness = surface_least(surface, s->inside);
    set_box(s, box->lo, box->hi, surface->radius);
}

static void see_implicit(PointSeer* s, const ImplicitSurface* implicit) {
    TdlVec3 side = tdl_sub3(implicit->h.high, implicit->h.low);
    s->find = find_implicit;
    s->implicit = implicit;
    s->thickness = fmin(side.x, fmin(side.y, side.z));
    set_box(s, implicit->h.low, implicit->h.high, 0.0);
}

// They are in the world already.
static TdlStatus see_curves(const TdlHost* host, PointSeer* s, Body* body, const BodyShape* shape) {
    size_t count = (size_t)shape->curve_count;
    TdlCurve* curve = tdl_alloc_array(&host->mem, count, sizeof *curve);
    double* bore = tdl_alloc_array(&host->mem, 2 * count, sizeof *bore);
    TdlStatus status = TDL_STATUS_NO_MEMORY;
    if (curve != NULL && bore != NULL) {
        body->kind->curves(body, 0, curve);
        if (shape->hollow) {
            body->kind->bores(body, 0, bore);
        }
        status = curve_set_create(host, curve, shape->curve_count, shape->hollow ? bore : NULL,
                                  &s->curves);
    }
    tdl_free(&host->mem, curve);
    tdl_free(&host->mem, bore);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    s->find = find_curve;
    s->pose = (TdlPose){{0}, tdl_identity33()};
    s->thickness = curve_set_least(s->curves);
    curve_set_box(s->curves, &s->low, &s->high);
    return TDL_STATUS_OK;
}

// Obstacles in closed form. False: it is none.
static bool solid_of(const TdlColliderDef* def, Solid* out) {
    switch (def->shape) {
    case TDL_SHAPE_PLANE:
        *out = (Solid){.kind = SOLID_PLANE};
        return true;
    case TDL_SHAPE_SPHERE:
        *out = (Solid){.round = def->radius};
        return true;
    case TDL_SHAPE_CYLINDER:
        *out = (Solid){SOLID_CYLINDER, .half.x = INFINITY, .radius = def->radius};
        return true;
    case TDL_SHAPE_CAPSULE:
        // its axis starts at the position
        *out = (Solid){
            .middle.x = 0.5 * def->length, .half.x = 0.5 * def->length, .round = def->radius};
        return true;
    case TDL_SHAPE_PLATE:
        *out = (Solid){SOLID_PLATE, .radius = def->length, .round = def->radius};
        return true;
    case TDL_SHAPE_COMB:
    case TDL_SHAPE_CURVES:
    case TDL_SHAPE_MESH:
    case TDL_SHAPE_IMPLICIT:
        break;
    }
    return false;
}

static TdlStatus see(const TdlHost* host, PointSeer* s, Body* body, const BodyShape* shape) {
    TdlColliderDef def = {.shape = TDL_SHAPE_MESH};
    Solid solid;
    if (shape->obstacle) {
        body->kind->obstacle(body, &def);
    }
    if (shape->solid != NULL) {
        see_solid(s, shape->solid);
    } else if (solid_of(&def, &solid)) {
        see_solid(s, &solid);
    } else if (shape->surface != NULL) {
        see_surface(s, shape->surface);
    } else if (def.shape == TDL_SHAPE_IMPLICIT) {
        see_implicit(s, def.found);
    } else if (shape->curve_count > 0) {
        return see_curves(host, s, body, shape);
    }
    return TDL_STATUS_OK;
}

// --- life
// -----------------------------------------------------------------------------------------

TdlStatus point_seer_create(const TdlHost* host, Body* body, PointSeer** out) {
    PointSeer* s = tdl_alloc_zero(&host->mem, sizeof *s);
    if (s == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    BodyShape shape = body->kind->shape(body, 0);
    bool deforms = shape.surface != NULL && shape.surface->from != NULL;
    *s = (PointSeer){.mem = host->mem,
                     .pose = body_pose(body),
                     .low = {INFINITY, INFINITY, INFINITY},
                     .high = {-INFINITY, -INFINITY, -INFINITY},
                     .thickness = INFINITY,
                     .pieces = shape.pieces > 0 ? shape.pieces : 1,
                     .named = deforms};
    bool bends = shape.curve_count > 0 && !shape.stiff;
    s->touch = deforms || (bends && shape.frameless) ? TOUCH_FOOT
               : bends                               ? TOUCH_SECTION
                                                     : TOUCH_POINT;
    s->first = body->system->dof_count > 0 ? shape.curve_count / s->pieces : 0;
    TdlStatus status = see(host, s, body, &shape);
    if (status != TDL_STATUS_OK) {
        point_seer_destroy(s);
        return status;
    }
    *out = s;
    return TDL_STATUS_OK;
}

void point_seer_destroy(PointSeer* s) {
    if (s != NULL) {
        TdlAllocator mem = s->mem;
        curve_set_destroy(&mem, s->curves);
        tdl_free(&mem, s);
    }
}

void point_seer_box(const PointSeer* s, TdlVec3* low, TdlVec3* high) {
    *low = s->low;
    *high = s->high;
}

double point_seer_thickness(const PointSeer* s) {
    return s->thickness;
}

// --- questions
// ------------------------------------------------------------------------------------

static bool may_reach(const PointSeer* s, TdlVec3 p, double reach) {
    double r = fmax(reach, 0.0);
    return s->find != NULL && p.x > s->low.x - r && p.x < s->high.x + r && p.y > s->low.y - r &&
           p.y < s->high.y + r && p.z > s->low.z - r && p.z < s->high.z + r;
}

// As seen_place has the addresses of contacts.
static BodyPlace place_of(const PointSeer* s, TdlVec3 point, const NearFoot* foot) {
    TdlVec3 own = tdl_add3(s->pose.position, tdl_mul33_3(s->pose.rotation, foot->point));
    BodyPlace place = {.element = s->first, .u = foot->u, .v = foot->v, .point = own, .touch = own};
    if (s->find == find_curve) {
        place.element = foot->element / s->pieces;
        place.u = (foot->element % s->pieces + foot->u) / s->pieces;
    } else if (s->named) {
        place.element = foot->element;
    }
    place.touch = s->touch == TOUCH_FOOT ? own : point;
    place.point = s->touch == TOUCH_POINT ? point : own;
    return place;
}

bool point_seer_find(const PointSeer* s, TdlVec3 point, double reach, NearPoint* out) {
    NearFoot foot;
    if (!may_reach(s, point, reach)) {
        return false;
    }
    TdlVec3 seen = tdl_tmul33_3(s->pose.rotation, tdl_sub3(point, s->pose.position));
    if (!s->find(s, seen, reach, &foot)) {
        return false;
    }
    out->gap = foot.gap;
    out->normal = tdl_mul33_3(s->pose.rotation, foot.normal);
    out->place = place_of(s, point, &foot);
    return true;
}

bool point_seer_push(const PointSeer* s, double keep, TdlVec3* point) {
    NearPoint near;
    TdlVec3 at = *point;
    double allowed = PUSH_ROUND * (tdl_norm3(at) + keep);
    for (int i = 0; i <= MOST_PUSHES; ++i) {
        if (!point_seer_find(s, at, keep, &near) || keep - near.gap <= allowed) {
            *point = at;
            return true;
        }
        allowed = fmax(allowed, i == 0 ? PUSH_SHARE * (keep - near.gap) : 0.0);
        at = tdl_axpy3(at, near.gap - keep, near.normal);
    }
    return false;
}
