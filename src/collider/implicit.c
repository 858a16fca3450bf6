// Implicit surfaces. A box is cut in two again and again where the surface may pass; a cell is
// small enough when the normals in it differ by less than half a rad and it bends all over nearly
// alike: then Newton's method from it finds the one place at which something straight touches it.
// Bounds come from the caller's `over`. docs/theory/distance.md, section 11
#include "collider/implicit.h"

#include "base/log.h"
#include "curve/curve.h"
#include "math/dense.h"

#include <float.h>
#include <string.h>

// Sine of the angle by which normals of a cell may be off its axis: half a rad.
static const double MOST_SPREAD = 0.479;

// Second derivatives of a cell may be off their middle by this share of it; bumps that are lower
// than this share of the box do not count.
static const double ALIKE = 0.35, FLAT = 1.0e-5;

// The finest cell of the box's diagonal, where that is not given.
static const double FINEST = 1.0 / 500.0;

// Of the box's diagonal: a place beyond a cell by less is in it; nearer ones are one.
static const double SAME = 1.0e-9;

// Tangent planes in a cell are two, or three, where their normals span at least this.
static const double PLANES_APART = 0.1;

enum { MOST_CELLS = 524288, NEWTON_STEPS = 20 };

static double lane_of(TdlVec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static double norm_of_most(TdlVec3 low, TdlVec3 high) {
    return tdl_norm3((TdlVec3){fmax(fabs(low.x), fabs(high.x)), fmax(fabs(low.y), fabs(high.y)),
                               fmax(fabs(low.z), fabs(high.z))});
}

const char* implicit_find_fault(const TdlImplicit* h) {
    if (h->at == NULL || h->over == NULL) {
        return "an implicit surface needs both its functions";
    }
    TdlVec3 side = tdl_sub3(h->high, h->low);
    if (!tdl_finite3(h->low) || !tdl_finite3(h->high) || !(side.x > 0.0) || !(side.y > 0.0) ||
        !(side.z > 0.0)) {
        return "the box of an implicit surface must have a size";
    }
    return h->finest >= 0.0 && isfinite(h->finest) ? NULL : "finest must not be negative";
}

bool implicit_frame(const ImplicitSurface* s, TdlVec3 place, ImplicitFrame* out) {
    TdlImplicitPoint p;
    s->h.at(s->h.data, place, &p);
    double g = tdl_norm3(p.gradient);
    if (!(g > DBL_MIN) || !isfinite(g) || !isfinite(p.value)) {
        return false;
    }
    const double* h = p.second;
    TdlVec3 column[3] = {{h[0], h[3], h[4]}, {h[3], h[1], h[5]}, {h[4], h[5], h[2]}};
    out->normal = tdl_scale3(1.0 / g, p.gradient);
    out->away = p.value / g;
    for (int k = 0; k < 3; ++k) {
        double along = tdl_dot3(out->normal, column[k]);
        column[k] = tdl_scale3(1.0 / g, tdl_axpy3(column[k], -along, out->normal));
    }
    out->turn = (TdlMat3){column[0], column[1], column[2]};
    return tdl_finite3(column[0]) && tdl_finite3(column[1]) && tdl_finite3(column[2]);
}

// --- cells ----------------------------------------------------------------------------------

// Whether the surface may pass: bounds on h itself, or from its middle with those of the gradient.
static bool may_pass(const ImplicitSurface* s, const ImplicitCell* c, const TdlImplicitBounds* b) {
    if (b->low > 0.0 || b->high < 0.0) {
        return false;
    }
    TdlVec3 middle = tdl_scale3(0.5, tdl_add3(c->low, c->high)),
            half = tdl_scale3(0.5 * (1.0 + 1.0e-12), tdl_sub3(c->high, c->low));
    TdlImplicitPoint p;
    s->h.at(s->h.data, middle, &p);
    double change = half.x * fmax(fabs(b->gradient_low.x), fabs(b->gradient_high.x)) +
                    half.y * fmax(fabs(b->gradient_low.y), fabs(b->gradient_high.y)) +
                    half.z * fmax(fabs(b->gradient_low.z), fabs(b->gradient_high.z));
    return !(fabs(p.value) > change * (1.0 + 1.0e-12));
}

// Sets the cone of normals; false: they differ by too much.
static bool set_cone(ImplicitCell* c, const TdlImplicitBounds* b) {
    TdlVec3 middle = tdl_scale3(0.5, tdl_add3(b->gradient_low, b->gradient_high)),
            half = tdl_scale3(0.5, tdl_sub3(b->gradient_high, b->gradient_low));
    double most = tdl_norm3(middle), off = tdl_norm3(half);
    if (!isfinite(most) || !isfinite(off) || !(off <= MOST_SPREAD * most)) {
        return false;
    }
    c->axis = tdl_scale3(1.0 / most, middle);
    c->spread = off / most + 4.0 * DBL_EPSILON;
    return most > 0.0;
}

// Whether the surface bends nearly alike all over the cell, or hardly; sets whether it is hollow.
static bool set_bend(const ImplicitSurface* s, ImplicitCell* c, const TdlImplicitBounds* b) {
    static const int ROW[3][2] = {{3, 4}, {3, 5}, {4, 5}};
    double most[6], middle = 0.0, off = 0.0, upper = -INFINITY;
    for (int k = 0; k < 6; ++k) {
        double m = 0.5 * (b->second_low[k] + b->second_high[k]),
               r = 0.5 * (b->second_high[k] - b->second_low[k]), weight = k < 3 ? 1.0 : 2.0;
        most[k] = fmax(fabs(b->second_low[k]), fabs(b->second_high[k]));
        middle += weight * m * m;
        off += weight * r * r;
    }
    for (int i = 0; i < 3; ++i) { // no eigenvalue is above its row's sum
        upper = fmax(upper, b->second_high[i] + most[ROW[i][0]] + most[ROW[i][1]]);
    }
    middle = sqrt(middle);
    off = sqrt(off);
    c->hollow = upper <= 0.0;
    double diagonal = tdl_norm3(tdl_sub3(c->high, c->low));
    double least = norm_of_most(b->gradient_low, b->gradient_high) * (1.0 - 2.0 * c->spread);
    bool flat = (middle + off) * diagonal * diagonal <= 8.0 * FLAT * s->size * fmax(least, 0.0);
    return c->hollow || off <= ALIKE * middle || flat;
}

// A point of the surface in a cell that is not cut further. False: there is none.
static bool set_point(const ImplicitSurface* s, ImplicitCell* c) {
    TdlVec3 x = tdl_scale3(0.5, tdl_add3(c->low, c->high)), from = x;
    double reach = tdl_norm3(tdl_sub3(c->high, c->low));
    ImplicitFrame f;
    TdlVec3 aside = tdl_scale3(1.0e-3, tdl_sub3(c->high, x)); // off an edge that is in the middle
    for (int i = 0; i < NEWTON_STEPS; ++i) {
        if (!implicit_frame(s, x, &f) && !implicit_frame(s, tdl_add3(x, aside), &f)) {
            return false;
        }
        x = tdl_axpy3(x, -f.away, f.normal);
        if (fabs(f.away) <= 1.0e-12 * s->size) {
            c->point = x;
            c->axis = f.normal;
            return tdl_norm3(tdl_sub3(x, from)) <= reach;
        }
        if (!(tdl_norm3(tdl_sub3(x, from)) <= 4.0 * reach)) {
            return false;
        }
    }
    return false;
}

// A place on the surface near another, with its normal. False: there is none within reach.
static bool drop_to_surface(const ImplicitSurface* s, TdlVec3 from, double reach, TdlVec3* out,
                            TdlVec3* normal) {
    ImplicitFrame f;
    TdlVec3 x = from;
    for (int i = 0; i < NEWTON_STEPS && implicit_frame(s, x, &f); ++i) {
        x = tdl_axpy3(x, -f.away, f.normal);
        if (fabs(f.away) <= 1.0e-12 * s->size) {
            *out = x;
            *normal = f.normal;
            return tdl_norm3(tdl_sub3(x, from)) <= reach;
        }
    }
    return false;
}

// Up to three tangent planes of the surface in a rough cell that differ: from its corners.
static int find_planes(const ImplicitSurface* s, const ImplicitCell* c, TdlVec3 p[3],
                       TdlVec3 n[3]) {
    double diagonal = tdl_norm3(tdl_sub3(c->high, c->low));
    int count = 1;
    p[0] = c->point;
    n[0] = c->axis;
    for (int k = 0; k < 8 && count < 3; ++k) {
        TdlVec3 corner = {k & 1 ? c->high.x : c->low.x, k & 2 ? c->high.y : c->low.y,
                          k & 4 ? c->high.z : c->low.z};
        if (!drop_to_surface(s, corner, diagonal, &p[count], &n[count])) {
            continue;
        }
        double apart = count == 1 ? tdl_norm3(tdl_cross3(n[0], n[1]))
                                  : fabs(tdl_dot3(n[2], tdl_cross3(n[0], n[1])));
        count += apart > PLANES_APART;
    }
    return count;
}

// Moves the point of a rough cell to where its tangent planes meet: onto an edge or a tip.
static void set_on_edge(const ImplicitSurface* s, ImplicitCell* c) {
    TdlVec3 p[3], n[3], y = c->point;
    double gram[9], share[3];
    int count = find_planes(s, c, p, n);
    for (int i = 0; i < count; ++i) {
        share[i] = tdl_dot3(n[i], tdl_sub3(p[i], p[0]));
        for (int j = 0; j < count; ++j) {
            gram[i + j * count] = tdl_dot3(n[i], n[j]);
        }
    }
    if (count < 2 || !tdl_gauss_solve(count, gram, count, share)) {
        return;
    }
    for (int i = 0; i < count; ++i) {
        y = tdl_axpy3(y, share[i], n[i]);
    }
    TdlVec3 side = tdl_sub3(c->high, c->low), slack = tdl_scale3(0.1, side), beside;
    bool inside = y.x >= c->low.x - slack.x && y.x <= c->high.x + slack.x &&
                  y.y >= c->low.y - slack.y && y.y <= c->high.y + slack.y &&
                  y.z >= c->low.z - slack.z && y.z <= c->high.z + slack.z;
    TdlImplicitPoint h;
    s->h.at(s->h.data, y, &h);
    double steep = tdl_norm3(h.gradient);
    if (!(steep > DBL_MIN)) { // a tip
        beside = tdl_axpy3(y, 1.0e-6 * s->size, c->axis);
        s->h.at(s->h.data, beside, &h);
        steep = tdl_norm3(h.gradient);
        h.value -= tdl_dot3(h.gradient, tdl_sub3(beside, y));
    }
    if (inside && fabs(h.value) <= 1.0e-3 * tdl_norm3(side) * steep) {
        c->point = y;
    }
}

// Bounds on the gradient from its middle with those of the second derivatives, where tighter.
static void tighten(const ImplicitSurface* s, TdlVec3 from, TdlVec3 to, TdlImplicitBounds* b) {
    static const int ENTRY[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    TdlVec3 half = tdl_scale3(0.5 * (1.0 + 1.0e-12), tdl_sub3(to, from));
    TdlImplicitPoint p;
    s->h.at(s->h.data, tdl_scale3(0.5, tdl_add3(from, to)), &p);
    double* low[3] = {&b->gradient_low.x, &b->gradient_low.y, &b->gradient_low.z};
    double* high[3] = {&b->gradient_high.x, &b->gradient_high.y, &b->gradient_high.z};
    for (int i = 0; i < 3; ++i) {
        double g = lane_of(p.gradient, i), change = 1.0e-12 * fabs(g);
        for (int j = 0; j < 3; ++j) {
            int k = ENTRY[i][j];
            change += lane_of(half, j) * fmax(fabs(b->second_low[k]), fabs(b->second_high[k]));
        }
        if (isfinite(g) && isfinite(change)) {
            *low[i] = fmax(*low[i], g - change);
            *high[i] = fmin(*high[i], g + change);
        }
    }
}

// What is known of a cell; true: it has to be cut.
static bool look_into(const ImplicitSurface* s, ImplicitCell* c, double finest) {
    TdlImplicitBounds b;
    s->h.over(s->h.data, c->low, c->high, &b);
    tighten(s, c->low, c->high, &b);
    c->passed = may_pass(s, c, &b);
    if (!c->passed) {
        return false;
    }
    bool narrow = set_cone(c, &b);
    if (narrow && set_bend(s, c, &b)) {
        return false;
    }
    TdlVec3 side = tdl_sub3(c->high, c->low);
    if (fmax(side.x, fmax(side.y, side.z)) > finest) {
        return true;
    }
    c->rough = !narrow; // else smooth enough for Newton's method
    c->hollow = false;
    c->passed = narrow || set_point(s, c);
    if (c->rough && c->passed) {
        set_on_edge(s, c);
    }
    c->unsure = !c->passed;
    return false;
}

static bool cut(const TdlHost* host, ImplicitSurface* s, int index) {
    if (!tdl_reserve(&host->mem, &s->cell, &s->capacity, s->count + 2, sizeof *s->cell)) {
        return false;
    }
    ImplicitCell *c = &s->cell[index], *part = &s->cell[s->count];
    TdlVec3 side = tdl_sub3(c->high, c->low);
    int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
    double middle = 0.5 * (lane_of(c->low, axis) + lane_of(c->high, axis));
    part[0] = part[1] = (ImplicitCell){.low = c->low, .high = c->high};
    *(axis == 0 ? &part[0].high.x : axis == 1 ? &part[0].high.y : &part[0].high.z) = middle;
    *(axis == 0 ? &part[1].low.x : axis == 1 ? &part[1].low.y : &part[1].low.z) = middle;
    c->child = s->count;
    s->count += 2;
    return true;
}

static const char TOO_ROUGH[] =
    "the implicit surface is too rough for its box, it needs more than 524288 cells; a smaller box "
    "helps, or a larger finest size";
static const char NO_MEMORY[] = "no memory";

// Cells in the order in which they are cut, larger ones first. Returns null, or what is wrong.
static const char* cut_all(const TdlHost* host, ImplicitSurface* s) {
    double finest = s->h.finest = s->h.finest > 0.0 ? s->h.finest : FINEST * s->size;
    if (!tdl_reserve(&host->mem, &s->cell, &s->capacity, 64, sizeof *s->cell)) {
        return NO_MEMORY;
    }
    s->cell[0] = (ImplicitCell){.low = s->h.low, .high = s->h.high};
    s->count = 1;
    for (int i = 0; i < s->count; ++i) {
        bool open = look_into(s, &s->cell[i], finest);
        if (open && s->count + 2 > MOST_CELLS) {
            return TOO_ROUGH;
        }
        if (open && !cut(host, s, i)) {
            return NO_MEMORY;
        }
        bool leaf = s->cell[i].passed && !open;
        s->leaf_count += leaf;
        s->rough_count += leaf && s->cell[i].rough;
    }
    return s->leaf_count > 0 ? NULL : "h is nowhere 0 in the box of the implicit surface";
}

// Shares the data of the definition.
static const char* build(const TdlHost* host, const TdlImplicit* def, ImplicitSurface* s) {
    *s = (ImplicitSurface){.h = *def, .size = tdl_norm3(tdl_sub3(def->high, def->low))};
    return cut_all(host, s);
}

const char* tdl_implicit_fault(const TdlHost* host, const TdlImplicit* def) {
    ImplicitSurface surface;
    const char* fault = implicit_find_fault(def);
    if (fault == NULL) {
        fault = build(host, def, &surface);
        tdl_free(&host->mem, surface.cell);
    }
    return fault;
}

TdlStatus implicit_create(const TdlHost* host, const TdlImplicit* def, ImplicitSurface** out) {
    ImplicitSurface* s = tdl_alloc_zero(&host->mem, sizeof *s);
    void* data = def->size == 0 ? NULL : tdl_alloc_array(&host->mem, def->size, 1);
    if (s == NULL || (def->size > 0 && data == NULL)) {
        tdl_free(&host->mem, s);
        tdl_free(&host->mem, data);
        return TDL_STATUS_NO_MEMORY;
    }
    TdlImplicit own = *def;
    if (data != NULL) {
        memcpy(data, def->data, def->size);
        own.data = data;
    }
    const char* fault = build(host, &own, s);
    if (fault != NULL) {
        implicit_destroy(host, s);
        return fault == NO_MEMORY ? TDL_STATUS_NO_MEMORY
                                  : tdl_fail(host, TDL_STATUS_BAD_INPUT, "collider: %s", fault);
    }
    *out = s;
    return TDL_STATUS_OK;
}

void implicit_destroy(const TdlHost* host, ImplicitSurface* s) {
    if (s == NULL) {
        return;
    }
    if (s->h.size > 0) {
        tdl_free(&host->mem, (void*)(uintptr_t)s->h.data);
    }
    tdl_free(&host->mem, s->cell);
    tdl_free(&host->mem, s);
}

static bool meets(const ImplicitCell* c, TdlVec3 low, TdlVec3 high) {
    return c->low.x <= high.x && low.x <= c->high.x && c->low.y <= high.y && low.y <= c->high.y &&
           c->low.z <= high.z && low.z <= c->high.z;
}

void implicit_each_near(const ImplicitSurface* s, TdlVec3 low, TdlVec3 high, ImplicitFn fn,
                        void* user) {
    int stack[64], depth = 1; // each cut halves a side: 2^21 cells would need no more
    stack[0] = 0;
    while (depth > 0) {
        const ImplicitCell* c = &s->cell[stack[--depth]];
        if (!c->passed || !meets(c, low, high)) {
            continue;
        }
        if (c->child == 0) {
            fn(user, c);
        } else if (depth + 2 <= (int)(sizeof stack / sizeof *stack)) {
            stack[depth++] = c->child + 1;
            stack[depth++] = c->child;
        }
    }
}

// --- bounds ---------------------------------------------------------------------------------

// Whether a box lies in that of the surface and in cells through which it does not pass.
static bool is_empty(const ImplicitSurface* s, TdlVec3 low, TdlVec3 high) {
    const TdlImplicit* h = &s->h;
    int stack[64], depth = 1;
    stack[0] = 0;
    if (low.x < h->low.x || low.y < h->low.y || low.z < h->low.z || high.x > h->high.x ||
        high.y > h->high.y || high.z > h->high.z) {
        return false;
    }
    while (depth > 0) {
        const ImplicitCell* c = &s->cell[stack[--depth]];
        if ((!c->passed && !c->unsure) || !meets(c, low, high)) {
            continue;
        }
        if (c->child == 0 || depth + 2 > (int)(sizeof stack / sizeof *stack)) {
            return false;
        }
        stack[depth++] = c->child + 1;
        stack[depth++] = c->child;
    }
    return true;
}

double implicit_hull_distance(const ImplicitSurface* s, const TdlVec3* p, int count, double most) {
    TdlVec3 low = p[0], high = p[0], middle = {0}, grow = {most, most, most};
    for (int i = 0; i < count; ++i) {
        low = (TdlVec3){fmin(low.x, p[i].x), fmin(low.y, p[i].y), fmin(low.z, p[i].z)};
        high = (TdlVec3){fmax(high.x, p[i].x), fmax(high.y, p[i].y), fmax(high.z, p[i].z)};
        middle = tdl_axpy3(middle, 1.0 / count, p[i]);
    }
    TdlImplicitBounds b;
    TdlImplicitPoint at;
    low = tdl_sub3(low, grow);
    high = tdl_add3(high, grow);
    s->h.at(s->h.data, middle, &at);
    if (is_empty(s, low, high)) {
        return at.value > 0.0 ? most : -1.0; // h has one sign in the grown box
    }
    s->h.over(s->h.data, low, high, &b);
    if (b.low > 0.0) {
        return most; // however steep
    }
    tighten(s, low, high, &b);
    double steepest = norm_of_most(b.gradient_low, b.gradient_high), change = 0.0;
    for (int i = 0; i < count; ++i) {
        TdlVec3 d = tdl_sub3(p[i], middle);
        double least = 0.0;
        for (int k = 0; k < 3; ++k) {
            double x = lane_of(d, k);
            least += x * (x > 0.0 ? lane_of(b.gradient_low, k) : lane_of(b.gradient_high, k));
        }
        change = fmin(change, least);
    }
    double lower = at.value + change * (1.0 + 1.0e-12);
    return lower > 0.0 && steepest > 0.0 ? fmin(lower / steepest, most) : -1.0;
}

// --- touching -------------------------------------------------------------------------------

typedef struct ThingPoint {
    TdlVec3 p, d[2], d2;
} ThingPoint;

static ThingPoint thing_at(const ImplicitThing* t, double u, double v) {
    if (t->curve != NULL) {
        CurvePoint c = curve_eval(t->curve, u);
        return (ThingPoint){tdl_add3(t->curve->origin, c.p), {c.d1}, c.d2};
    }
    TdlVec3 p = tdl_axpy3(tdl_axpy3(t->point, u, t->side[0]), v, t->side[1]);
    return (ThingPoint){.p = p, .d = {t->side[0], t->side[1]}};
}

// What is unknown: the foot, the distance, and the place on the thing.
typedef struct Guess {
    TdlVec3 x;
    double d, u[2];
} Guess;

// One step of Newton's method on (X.51); z receives it. False where it is singular.
static bool newton(const ImplicitFrame* f, const ThingPoint* q, int sides, const Guess* g,
                   double z[6]) {
    int n = 4 + sides;
    double a[36] = {0};
    TdlVec3 r = tdl_sub3(tdl_axpy3(g->x, g->d, f->normal), q->p);
    for (int j = 0; j < 3; ++j) {
        const TdlVec3* turn = j == 0 ? &f->turn.cx : j == 1 ? &f->turn.cy : &f->turn.cz;
        for (int i = 0; i < 3; ++i) {
            a[i + j * n] = (i == j) + g->d * lane_of(*turn, i);
        }
        a[3 + j * n] = lane_of(f->normal, j);
        for (int k = 0; k < sides; ++k) {
            a[4 + k + j * n] = tdl_dot3(q->d[k], *turn);
            a[j + (4 + k) * n] = -lane_of(q->d[k], j);
        }
        a[j + 3 * n] = lane_of(f->normal, j);
        z[j] = -lane_of(r, j);
    }
    z[3] = -f->away;
    for (int k = 0; k < sides; ++k) {
        z[4 + k] = -tdl_dot3(q->d[k], f->normal);
    }
    if (sides == 1) {
        a[4 + 4 * n] = tdl_dot3(q->d2, f->normal);
    }
    return tdl_gauss_solve(n, a, n, z);
}

// Whether the foot is nearest to the place, and the distance least along the thing. (X.51)
static bool is_least(const ImplicitFrame* f, const ThingPoint* q, int sides, double d) {
    TdlVec3 across = tdl_mul33_3(f->turn, f->normal);
    TdlMat3 w = tdl_sub33(f->turn, tdl_outer3(across, f->normal));
    double m[9] = {1.0 + d * w.cx.x, d * w.cx.y, d * w.cx.z, 0.0,
                   1.0 + d * w.cy.y, d * w.cy.z, 0.0,        0.0,
                   1.0 + d * w.cz.z};
    if (tdl_cholesky(3, m, 3) != 3) {
        return false;
    }
    double form[2][2] = {{0}};
    for (int k = 0; k < sides; ++k) {
        TdlVec3 y = q->d[k];
        tdl_cholesky_solve(3, m, 3, 1, &y.x, 3);
        for (int j = 0; j < sides; ++j) {
            form[k][j] = tdl_dot3(y, tdl_mul33_3(w, q->d[j]));
        }
    }
    form[0][0] += sides == 1 ? tdl_dot3(q->d2, f->normal) : 0.0;
    if (sides == 2) {
        return form[0][0] > 0.0 && form[0][0] * form[1][1] > form[0][1] * form[1][0];
    }
    return sides == 0 || form[0][0] > 0.0;
}

static TdlVec3 clamp(TdlVec3 p, TdlVec3 low, TdlVec3 high) {
    return (TdlVec3){fmin(fmax(p.x, low.x), high.x), fmin(fmax(p.y, low.y), high.y),
                     fmin(fmax(p.z, low.z), high.z)};
}

static bool in_cell(const ImplicitSurface* s, const ImplicitCell* c, TdlVec3 x, double beyond) {
    double slack = SAME * s->size + beyond;
    return tdl_norm3(tdl_sub3(x, clamp(x, c->low, c->high))) <= slack;
}

bool implicit_touch(const ImplicitSurface* s, const ImplicitThing* t, const ImplicitCell* cell,
                    double u, double v, ImplicitTouch* out) {
    Guess g = {.u = {u, v}};
    ThingPoint q = thing_at(t, u, v);
    double diagonal = tdl_norm3(tdl_sub3(cell->high, cell->low)), last = INFINITY;
    g.x = clamp(q.p, cell->low, cell->high);
    ImplicitFrame f;
    if (!implicit_frame(s, g.x, &f)) {
        return false;
    }
    g.x = clamp(tdl_axpy3(g.x, -f.away, f.normal), cell->low, cell->high);
    if (!implicit_frame(s, g.x, &f)) {
        return false;
    }
    g.d = tdl_dot3(f.normal, tdl_sub3(q.p, g.x));
    for (int i = 0; i < NEWTON_STEPS; ++i) {
        double z[6];
        if (!newton(&f, &q, t->sides, &g, z)) {
            return false;
        }
        TdlVec3 dx = {z[0], z[1], z[2]};
        double size = tdl_norm3(dx), share = size > diagonal ? diagonal / size : 1.0;
        g.x = tdl_axpy3(g.x, share, dx);
        g.d += share * z[3];
        for (int k = 0; k < t->sides; ++k) {
            g.u[k] += share * z[4 + k];
        }
        if (t->curve != NULL) {
            g.u[0] = fmin(fmax(g.u[0], 0.0), t->curve->end);
        }
        if (!in_cell(s, cell, g.x, diagonal) || !implicit_frame(s, g.x, &f)) {
            return false;
        }
        q = thing_at(t, g.u[0], g.u[1]);
        if (size <= 1.0e-13 * s->size || (size <= 1.0e-9 * s->size && size >= last)) {
            TdlVec3 r = tdl_sub3(tdl_axpy3(g.x, g.d, f.normal), q.p);
            *out = (ImplicitTouch){q.p, g.x, f.normal, g.d, g.u[0], g.u[1]};
            return tdl_norm3(r) <= SAME * s->size && in_cell(s, cell, g.x, 0.0) &&
                   is_least(&f, &q, t->sides, g.d);
        }
        last = size;
    }
    return false;
}

// --- peaks ----------------------------------------------------------------------------------

typedef struct PeakWalk {
    const TdlHost* host;
    const ImplicitSurface* surface;
    TdlVec3 up, side[2];
    int capacity, count;
    TdlPeak* out;
    bool failed;
} PeakWalk;

static void add_peak(PeakWalk* w, TdlVec3 point, double radius) {
    for (int i = 0; i < w->count; ++i) {
        if (tdl_norm3(tdl_sub3(w->out[i].point, point)) <= 10.0 * SAME * w->surface->size) {
            return; // on the border of two cells
        }
    }
    if (tdl_reserve(&w->host->mem, &w->out, &w->capacity, w->count + 1, sizeof *w->out)) {
        w->out[w->count++] = (TdlPeak){point, radius};
    } else {
        w->failed = true;
    }
}

typedef struct Higher {
    const ImplicitCell* than;
    TdlVec3 up;
    bool found;
} Higher;

static void look_for_higher(void* user, const ImplicitCell* c) {
    Higher* h = user;
    if (c->rough && c != h->than) {
        double rise = tdl_dot3(h->up, tdl_sub3(c->point, h->than->point));
        h->found = h->found || rise > 0.0 || (rise == 0.0 && c < h->than);
    }
}

// A rough place that is higher than those beside it.
static void peak_of_point(PeakWalk* w, const ImplicitCell* c) {
    TdlVec3 grow = tdl_scale3(2.0, tdl_sub3(c->high, c->low));
    Higher higher = {c, w->up, false};
    implicit_each_near(w->surface, tdl_sub3(c->low, grow), tdl_add3(c->high, grow), look_for_higher,
                       &higher);
    if (!higher.found) {
        add_peak(w, c->point, 0.0);
    }
}

// Radius of the sharper bend at a place where the sides lie in the surface.
static double bend_radius(const PeakWalk* w, const ImplicitFrame* f) {
    double a = tdl_dot3(w->side[0], tdl_mul33_3(f->turn, w->side[0])),
           b = tdl_dot3(w->side[0], tdl_mul33_3(f->turn, w->side[1])),
           c = tdl_dot3(w->side[1], tdl_mul33_3(f->turn, w->side[1]));
    return 1.0 / (0.5 * (a + c) + hypot(0.5 * (a - c), b));
}

// Touched by a plane from above.
static void peak_of_cell(void* user, const ImplicitCell* c) {
    PeakWalk* w = user;
    if (c->rough) {
        peak_of_point(w, c);
        return;
    }
    double cosine = sqrt(fmax(0.0, 1.0 - c->spread * c->spread));
    if (c->hollow || tdl_dot3(c->axis, w->up) < cosine - 1.0e-12) {
        return;
    }
    TdlVec3 middle = tdl_scale3(0.5, tdl_add3(c->low, c->high)),
            half = tdl_scale3(0.5, tdl_sub3(c->high, c->low));
    double above = fabs(half.x * w->up.x) + fabs(half.y * w->up.y) + fabs(half.z * w->up.z);
    ImplicitThing plane = {
        .point = tdl_axpy3(middle, above, w->up), .side = {w->side[0], w->side[1]}, .sides = 2};
    ImplicitTouch touch;
    ImplicitFrame f;
    if (implicit_touch(w->surface, &plane, c, 0.0, 0.0, &touch) &&
        tdl_dot3(touch.normal, w->up) > 0.0 && implicit_frame(w->surface, touch.foot, &f)) {
        add_peak(w, touch.foot, bend_radius(w, &f));
    }
}

TdlStatus implicit_peaks(const TdlHost* host, const ImplicitSurface* s, TdlVec3 up, TdlPeak** out,
                         int* count) {
    TdlMat3 frame = tdl_frame_from_tangent(up);
    PeakWalk w = {.host = host, .surface = s, .up = up, .side = {frame.cy, frame.cz}};
    implicit_each_near(s, s->h.low, s->h.high, peak_of_cell, &w);
    *out = w.out;
    *count = w.count;
    return w.failed ? TDL_STATUS_NO_MEMORY : TDL_STATUS_OK;
}
