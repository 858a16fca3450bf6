// The nearest place of an implicit surface: Newton's method (X.51) in each of its cells that may
// have it, nearer ones first. docs/theory/distance.md (X.83)
#include "detect/near_parts.h"

#include <float.h>

// Of the surface's size: a place with less from it by Newton's method is on it.
static const double ON_SURFACE = 1.0e-12;

// Of distance and size: so much farther away is still looked at, for roundings.
static const double SAME = 1.0e-9;

enum { MOST_CELLS = 128, DROP_STEPS = 20 };

typedef struct Look {
    const ImplicitSurface* surface;
    TdlVec3 point;
    double best; // m, the least distance so far
    bool found;
    bool coarse; // places of cells will do
    TdlVec3 foot, normal;
    double
        side; // of the surface that the point is on there, where that has a tangent plane; else 0
} Look;

static double beyond(double x, double low, double high) {
    return x < low ? low - x : x > high ? x - high : 0.0;
}

static double cell_distance(const ImplicitCell* c, TdlVec3 p) {
    return tdl_norm3((TdlVec3){beyond(p.x, c->low.x, c->high.x), beyond(p.y, c->low.y, c->high.y),
                               beyond(p.z, c->low.z, c->high.z)});
}

static void keep_foot(Look* l, TdlVec3 foot, TdlVec3 normal, double side) {
    double d = tdl_norm3(tdl_sub3(l->point, foot));
    if (d < l->best) {
        l->best = d;
        l->found = true;
        l->foot = foot;
        l->normal = normal;
        l->side = side;
    }
}

// A place of the surface, downhill from x and no farther from a cell than it is large.
static bool drop(const ImplicitSurface* s, const ImplicitCell* c, TdlVec3* x, TdlVec3* normal) {
    double reach = tdl_norm3(tdl_sub3(c->high, c->low));
    ImplicitFrame f;
    for (int i = 0; i < DROP_STEPS && implicit_frame(s, *x, &f); ++i) {
        *x = tdl_axpy3(*x, -f.away, f.normal);
        *normal = f.normal;
        if (fabs(f.away) <= ON_SURFACE * s->size) {
            return cell_distance(c, *x) <= reach;
        }
    }
    return false;
}

static TdlVec3 middle_of(const ImplicitCell* c) {
    return tdl_scale3(0.5, tdl_add3(c->low, c->high));
}

static void drop_in_cell(Look* l, const ImplicitCell* c) {
    TdlVec3 x = middle_of(c), normal;
    if (drop(l->surface, c, &x, &normal)) {
        keep_foot(l, x, normal, 0.0);
    }
}

// Whether some normal in a cell can lead to the point. (X.84)
static bool may_face(const ImplicitCell* c, TdlVec3 p) {
    TdlVec3 way = tdl_sub3(p, middle_of(c));
    double r = 0.5 * tdl_norm3(tdl_sub3(c->high, c->low));
    TdlVec3 aside = tdl_axpy3(way, -tdl_dot3(way, c->axis), c->axis);
    return tdl_norm3(aside) <= c->spread * (tdl_norm3(way) + r) + r;
}

// No place of the surface is farther away than one to which the point drops.
static void bound_by_drop(Look* l) {
    const ImplicitCell* all = &l->surface->cell[0];
    TdlVec3 x = l->point, normal;
    if (drop(l->surface, all, &x, &normal) && cell_distance(all, x) <= 0.0) {
        const ImplicitSurface* s = l->surface;
        double edge = s->rough_count > 0 ? 2.0 * s->h.finest : 0.0; // it may be on one
        double d = tdl_norm3(tdl_sub3(l->point, x));
        l->best = fmin(l->best, d * (1.0 + SAME) + SAME * s->size + edge);
    }
}

static void look_in_cell(Look* l, const ImplicitCell* c) {
    ImplicitTouch touch;
    ImplicitThing thing = {.point = l->point};
    if (c->rough) {
        keep_foot(l, c->point, c->axis, 0.0);
    } else if (l->coarse) {
        drop_in_cell(l, c);
    } else if (may_face(c, l->point) && implicit_touch(l->surface, &thing, c, 0.0, 0.0, &touch)) {
        keep_foot(l, touch.foot, touch.normal, touch.distance < 0.0 ? -1.0 : 1.0);
    }
}

static void look_in_cells(Look* l) {
    const ImplicitSurface* s = l->surface;
    int stack[MOST_CELLS], depth = 1;
    stack[0] = 0;
    while (depth > 0) {
        const ImplicitCell* c = &s->cell[stack[--depth]];
        if (!(c->child > 0 || c->passed) || cell_distance(c, l->point) >= l->best) {
            continue;
        }
        if (c->child == 0) {
            look_in_cell(l, c);
            continue;
        }
        int near = c->child;
        bool swap =
            cell_distance(&s->cell[near], l->point) > cell_distance(&s->cell[near + 1], l->point);
        stack[depth++] = swap ? near : near + 1;
        stack[depth++] = swap ? near + 1 : near;
    }
}

// Where Newton's method leads to no least distance, as from the middle of a ball: the nearest place
// that cells have, and what is nearest beside it.
static void look_coarsely(Look* l, double far) {
    const ImplicitSurface* s = l->surface;
    l->coarse = true;
    l->best = far;
    look_in_cells(l);
    TdlVec3 half = {s->h.finest, s->h.finest, s->h.finest};
    ImplicitCell about = {.low = tdl_sub3(l->foot, half), .high = tdl_add3(l->foot, half)};
    ImplicitThing thing = {.point = l->point};
    ImplicitTouch touch;
    if (l->found && implicit_touch(s, &thing, &about, 0.0, 0.0, &touch)) {
        keep_foot(l, touch.foot, touch.normal, touch.distance < 0.0 ? -1.0 : 1.0);
    }
}

// Whether a point is in the box, where h tells the side; beyond it the nearest place does.
static bool is_within(const ImplicitSurface* s, TdlVec3 p) {
    return cell_distance(&s->cell[0], p) <= 0.0;
}

static double side_of(const ImplicitSurface* s, TdlVec3 p) {
    TdlImplicitPoint h;
    s->h.at(s->h.data, p, &h);
    return h.value < 0.0 ? -1.0 : 1.0;
}

bool implicit_near(const ImplicitSurface* s, TdlVec3 point, double reach, NearFoot* out) {
    bool within = is_within(s, point);
    double side = within ? side_of(s, point) : 1.0, far = side < 0.0 ? INFINITY : reach;
    Look l = {.surface = s, .point = point, .best = far};
    bound_by_drop(&l);
    look_in_cells(&l);
    if (!l.found && (side < 0.0 || l.best < far)) {
        look_coarsely(&l, far);
    }
    if (!l.found) {
        return false;
    }
    side = l.side != 0.0 ? l.side : side;
    bool on = !(l.best > DBL_EPSILON * s->size);
    TdlVec3 up = tdl_scale3(side / l.best, tdl_sub3(point, l.foot));
    if (l.side != 0.0 || on) {
        up = l.normal;
    }
    *out = (NearFoot){.gap = side * l.best, .normal = tdl_scale3(-1.0, up), .point = l.foot};
    return out->gap < reach;
}
