// Points and things in closed form. Seen from its middle, what a body is made of is symmetric: a
// box in its axes, a cylinder and a plate about theirs, so that places of a half plane tell all of
// them. docs/theory/distance.md, section 14
#include "detect/near_parts.h"

// Below this length, m, of which the square is no number, a difference has no direction.
static const double NOWHERE = 1.0e-150;

static double sign_of(double x) {
    return x < 0.0 ? -1.0 : 1.0;
}

// A point of a half plane: along the axis and away from it; and what the gap grows along there.
typedef struct Half {
    double gap, along, away;
} Half;

static Half nearer(Half a, Half b) {
    return a.gap <= b.gap ? a : b;
}

static Half deeper(Half a, Half b) {
    return a.gap >= b.gap ? a : b;
}

static Half from_point(double along, double away) {
    double d = hypot(along, away);
    return d > NOWHERE ? (Half){d, along / d, away / d} : (Half){0.0, 1.0, 0.0};
}

// From a rectangle that begins at the axis, its sizes h along and a away from it. (X.71)
static Half from_rectangle(double x, double rho, double h, double a) {
    double along = fabs(x) - h, away = rho - a;
    Half out;
    if (along > 0.0 && away > 0.0) {
        out = from_point(along, away);
    } else if (along > away) {
        out = (Half){along, 1.0, 0.0};
    } else {
        out = (Half){away, 0.0, 1.0};
    }
    out.along *= sign_of(x);
    return out;
}

// From what is left when all within the bore is taken away. (X.74)
static Half from_bored(const Solid* s, double x, double rho, Half outside) {
    double end = s->half.x + s->round, beyond = fabs(x) - end;
    if (rho >= s->cavity || beyond <= 0.0) {
        return deeper(outside, (Half){s->cavity - rho, 0.0, -1.0});
    }
    Half rim = from_point(beyond, rho - s->cavity);
    rim.along *= sign_of(x);
    return rim;
}

// --- the kinds: the gap, and its gradient
// ---------------------------------------------------------

static double in_cavity(const Solid* s, TdlVec3 p, double gap, TdlVec3* up) {
    double d = tdl_norm3(p);
    if (s->cavity - d <= gap || s->cavity <= 0.0) {
        return gap;
    }
    *up = d > NOWHERE ? tdl_scale3(-1.0 / d, p) : (TdlVec3){1.0, 0.0, 0.0};
    return s->cavity - d;
}

// Outside of the core the distance from its nearest place, inside the nearest face. (X.73)
static double near_box(const Solid* s, TdlVec3 p, TdlVec3* up) {
    TdlVec3 q = {fabs(p.x) - s->half.x, fabs(p.y) - s->half.y, fabs(p.z) - s->half.z};
    TdlVec3 out = {fmax(q.x, 0.0), fmax(q.y, 0.0), fmax(q.z, 0.0)};
    double d = tdl_norm3(out), face = fmax(q.x, fmax(q.y, q.z));
    if (d > NOWHERE) {
        out = tdl_scale3(1.0 / d, out);
    } else {
        out = q.z == face   ? (TdlVec3){0.0, 0.0, 1.0}
              : q.y == face ? (TdlVec3){0.0, 1.0, 0.0}
                            : (TdlVec3){1.0, 0.0, 0.0};
        d = face;
    }
    *up = (TdlVec3){sign_of(p.x) * out.x, sign_of(p.y) * out.y, sign_of(p.z) * out.z};
    return in_cavity(s, p, d - s->round, up);
}

static double near_cylinder(const Solid* s, TdlVec3 p, TdlVec3* up) {
    double rho = hypot(p.y, p.z);
    TdlVec3 away = {0.0, 1.0, 0.0};
    if (rho > NOWHERE) {
        away = (TdlVec3){0.0, p.y / rho, p.z / rho};
    }
    Half at = from_rectangle(p.x, rho, s->half.x, s->radius);
    at.gap -= s->round;
    at = s->cavity > 0.0 ? from_bored(s, p.x, rho, at) : at;
    *up = (TdlVec3){at.along, at.away * away.y, at.away * away.z};
    return at.gap;
}

static double near_plane(const Solid* s, TdlVec3 p, TdlVec3* up) {
    (void)s;
    *up = (TdlVec3){0.0, 0.0, 1.0};
    return p.z;
}

// The disc is as thick as its rim is high, downwards; of both the nearer. (X.75)
static double near_plate(const Solid* s, TdlVec3 p, TdlVec3* up) {
    double rho = hypot(p.x, p.y), half = 0.5 * s->round;
    TdlVec3 away = {1.0, 0.0, 0.0};
    if (rho > NOWHERE) {
        away = (TdlVec3){p.x / rho, p.y / rho, 0.0};
    }
    Half rim = from_point(p.z, rho - s->radius);
    rim.gap -= s->round;
    Half at = nearer(from_rectangle(p.z + half, rho, half, s->radius), rim);
    *up = (TdlVec3){at.away * away.x, at.away * away.y, at.along};
    return at.gap;
}

void solid_near(const Solid* s, TdlVec3 point, NearFoot* out) {
    static double (*const KIND[SOLID_KINDS])(const Solid*, TdlVec3,
                                             TdlVec3*) = {[SOLID_BOX] = near_box,
                                                          [SOLID_CYLINDER] = near_cylinder,
                                                          [SOLID_PLANE] = near_plane,
                                                          [SOLID_PLATE] = near_plate};
    TdlVec3 up;
    *out = (NearFoot){.point = point};
    out->gap = KIND[s->kind](s, tdl_sub3(point, s->middle), &up);
    out->normal = tdl_scale3(-1.0, up);
}

// --- sizes
// ----------------------------------------------------------------------------------------

static TdlVec3 outer_half(const Solid* s) {
    double r = s->round, a = s->radius + r;
    TdlVec3 box = {s->half.x + r, s->half.y + r, s->half.z + r};
    return s->kind == SOLID_BOX        ? box
           : s->kind == SOLID_CYLINDER ? (TdlVec3){s->half.x + r, a, a}
           : s->kind == SOLID_PLATE    ? (TdlVec3){a, a, r}
                                       : (TdlVec3){INFINITY, INFINITY, INFINITY};
}

void solid_box(const Solid* s, TdlPose pose, TdlVec3* low, TdlVec3* high) {
    TdlVec3 h = outer_half(s), half = {INFINITY, INFINITY, INFINITY};
    TdlMat3 r = pose.rotation;
    if (tdl_finite3(h)) {
        half = (TdlVec3){fabs(r.cx.x) * h.x + fabs(r.cy.x) * h.y + fabs(r.cz.x) * h.z,
                         fabs(r.cx.y) * h.x + fabs(r.cy.y) * h.y + fabs(r.cz.y) * h.z,
                         fabs(r.cx.z) * h.x + fabs(r.cy.z) * h.y + fabs(r.cz.z) * h.z};
    }
    TdlVec3 middle = tdl_add3(pose.position, tdl_mul33_3(r, s->middle));
    *low = tdl_sub3(middle, half);
    *high = tdl_add3(middle, half);
}

double solid_least(const Solid* s) {
    TdlVec3 h = outer_half(s);
    double least = 2.0 * fmin(h.x, fmin(h.y, h.z));
    if (s->kind == SOLID_PLATE) {
        return s->round;
    }
    double wall = s->kind == SOLID_CYLINDER ? h.y - s->cavity : h.x - s->cavity;
    return s->cavity > 0.0 ? fmin(least, wall) : least;
}
