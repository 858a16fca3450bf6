// Branch and bound over boxes of parameters, for any two curves.
//
// A box is dropped when its capsules are too far apart or when the gradient points out of it
// everywhere; it is settled by Newton's method when the Hessian is certified definite over it, or
// by the ridge; otherwise it is split. The box with the least bound comes first, from a heap of
// fixed size; when it is nearly full its last leaf comes first, which keeps it from overflowing.
// docs/theory/distance.md, sections 2 and 3. This file is built without contraction.
#include "detect/search.h"

#include <float.h>

// Newton's method converges in four to eight steps where it converges; the rest is for descents
// that start outside its reach.
enum { MAX_DESCENT = 40 };

// Half-widths below this share of a curve are not split: rounding rules there.
static const double LEAST_WIDTH = 1.0e-15;

void search_init(Search* search, const TdlCurve* a, const TdlCurve* b, double tolerance) {
    search->a = a;
    search->b = b;
    search->offset = tdl_sub3(b->origin, a->origin);
    search->taper_a = a->end > 0.0 ? (a->radius[1] - a->radius[0]) / a->end : 0.0;
    search->taper_b = b->end > 0.0 ? (b->radius[1] - b->radius[0]) / b->end : 0.0;
    search->tapered = search->taper_a != 0.0 || search->taper_b != 0.0;
    search->radii = a->radius[0] + b->radius[0];
    double away = tdl_norm3(search->offset);
    double round_a = curve_rounding(a), round_b = curve_rounding(b);
    search->slack = round_a * curve_size(a) + round_b * curve_size(b) +
                    8.0 * DBL_EPSILON * (away + search->radii);
    search->rounding = round_a + round_b;
    search->tolerance = tolerance;
    search->wa = search->wb = 0.0;
    if (curve_is_helix(a) && curve_is_helix(b)) {
        search->wa = sqrt(a->helix.w2);
        search->wb = sqrt(b->helix.w2);
        search->cross = tdl_norm3(tdl_cross3(a->helix.w, b->helix.w));
        search->shear[0] = tdl_norm3(tdl_sub3(b->helix.w, a->helix.w));
        search->shear[1] = tdl_norm3(tdl_add3(b->helix.w, a->helix.w));
    }
    search->found = false;
    search->complete = true;
    search->boxes = 0;
    search->limit = 200000;
    search->collect = false;
    search->count = 0;
}

static double clamp_unit(double x) {
    return fmin(1.0, fmax(-1.0, x));
}

double search_axis_gap(TdlVec3 r, TdlVec3 u, TdlVec3 v, double* x_out, double* y_out) {
    // near-best x and y: any would do for the bound
    double uu = tdl_dot3(u, u), vv = tdl_dot3(v, v), uv = tdl_dot3(u, v);
    double ru = tdl_dot3(r, u), rv = tdl_dot3(r, v);
    double det = uu * vv - uv * uv;
    double x = det > 1.0e-12 * uu * vv ? clamp_unit((uv * rv - vv * ru) / det) : 0.0;
    double y = vv > 0.0 ? clamp_unit((uv * x + rv) / vv) : 0.0;
    x = uu > 0.0 ? clamp_unit((uv * y - ru) / uu) : 0.0;
    *x_out = x;
    *y_out = y;

    // the support of both segments along n = r + x u - y v
    TdlVec3 n = tdl_axpy3(tdl_axpy3(r, x, u), -y, v);
    double length = tdl_norm3(n);
    if (!(length > 0.0)) {
        return 0.0;
    }
    double reach = fabs(tdl_dot3(n, u)) + fabs(tdl_dot3(n, v));
    double rounding = 32.0 * DBL_EPSILON * (tdl_norm3(r) + sqrt(uu) + sqrt(vv));
    return fmax(0.0, (tdl_dot3(n, r) - reach) / length - rounding);
}

double search_value(const Search* search, double s, double t) {
    CurvePoint a = curve_eval(search->a, s), b = curve_eval(search->b, t);
    return tdl_norm3(search_difference(search, &a, &b)) - search_taper(search, s, t);
}

// --- local descent
// --------------------------------------------------------------------------------

// Gradient and Hessian of half the squared distance, or with tapered curves of the value itself.
typedef struct Local {
    double value;      // |a - b| less the taper
    double g[2], h[3]; // h: ss, st, tt
} Local;

static Local local_of(const Search* search, const CurvePoint* a, const CurvePoint* b, double s,
                      double t) {
    TdlVec3 r = search_difference(search, a, b);
    double d = tdl_norm3(r);
    Local l = {.value = d - search_taper(search, s, t),
               .g = {tdl_dot3(r, a->d1), -tdl_dot3(r, b->d1)},
               .h = {tdl_dot3(a->d1, a->d1) + tdl_dot3(r, a->d2), -tdl_dot3(a->d1, b->d1),
                     tdl_dot3(b->d1, b->d1) - tdl_dot3(r, b->d2)}};
    if (search->tapered && d > 0.0) {
        double u = l.g[0] / d, v = l.g[1] / d;
        l.h[0] = (l.h[0] - u * u) / d;
        l.h[1] = (l.h[1] - u * v) / d;
        l.h[2] = (l.h[2] - v * v) / d;
        l.g[0] = u - search->taper_a;
        l.g[1] = v - search->taper_b;
    }
    return l;
}

static Local local_at(const Search* search, double s, double t) {
    CurvePoint a = curve_eval(search->a, s), b = curve_eval(search->b, t);
    return local_of(search, &a, &b, s, t);
}

// The variables that are not held at an end by the gradient.
static void free_variables(const Local* l, const double at[2], const double low[2],
                           const double high[2], bool free[2]) {
    for (int i = 0; i < 2; ++i) {
        free[i] = high[i] > low[i] && !(at[i] <= low[i] && l->g[i] >= 0.0) &&
                  !(at[i] >= high[i] && l->g[i] <= 0.0);
    }
}

// The Newton step on the free variables, made a descent step where the Hessian is not definite.
static void local_step(const Local* l, const bool free[2], double step[2]) {
    double a = free[0] ? l->h[0] : 1.0, c = free[1] ? l->h[2] : 1.0;
    double b = free[0] && free[1] ? l->h[1] : 0.0;
    double g0 = free[0] ? l->g[0] : 0.0, g1 = free[1] ? l->g[1] : 0.0;
    double det = a * c - b * b, trace = fabs(a) + fabs(c);
    if (!(a > 0.0) || !(c > 0.0) || !(det > 1.0e-14 * a * c)) {
        double shift = fabs(b) + 1.0e-6 * trace + DBL_MIN;
        a = fabs(a) + shift;
        c = fabs(c) + shift;
        det = a * c - b * b;
    }
    step[0] = free[0] ? -(c * g0 - b * g1) / det : 0.0;
    step[1] = free[1] ? -(a * g1 - b * g0) / det : 0.0;
}

static double clamp_to(double x, double low, double high) {
    return fmin(high, fmax(low, x));
}

double search_descend(const Search* search, const SearchBox* box, double* s, double* t,
                      double* slope) {
    double ends[2] = {search->a->end, search->b->end};
    double low[2] = {search_edge(box->s - box->x, ends[0]), search_edge(box->t - box->y, ends[1])};
    double high[2] = {search_edge(box->s + box->x, ends[0]), search_edge(box->t + box->y, ends[1])};
    double at[2] = {clamp_to(*s, low[0], high[0]), clamp_to(*t, low[1], high[1])};
    Local l = local_at(search, at[0], at[1]);
    for (int iter = 0; iter < MAX_DESCENT; ++iter) {
        bool free[2];
        free_variables(&l, at, low, high, free);
        double step[2];
        local_step(&l, free, step);

        // halve the step until the value falls
        bool moved = false;
        for (double scale = 1.0; scale > 1.0e-4 && !moved; scale *= 0.25) {
            double to[2];
            for (int i = 0; i < 2; ++i) {
                to[i] = clamp_to(at[i] + scale * step[i], low[i], high[i]);
            }
            double size = fabs(to[0] - at[0]) * (1.0 + search->wa) + fabs(to[1] - at[1]);
            if (size <= 2.0 * DBL_EPSILON * (high[0] - low[0] + high[1] - low[1])) {
                break;
            }
            // values closer than rounding are told apart by the slope that is left
            Local next = local_at(search, to[0], to[1]);
            double fall = l.value - next.value;
            double left = (free[0] ? fabs(next.g[0]) : 0.0) + (free[1] ? fabs(next.g[1]) : 0.0);
            double had = (free[0] ? fabs(l.g[0]) : 0.0) + (free[1] ? fabs(l.g[1]) : 0.0);
            if (fall > search->slack || (fall > -search->slack && left < 0.5 * had)) {
                at[0] = to[0];
                at[1] = to[1];
                l = next;
                moved = true;
            }
        }
        if (!moved) {
            break;
        }
    }
    *s = search_edge(at[0], ends[0]);
    *t = search_edge(at[1], ends[1]);
    if (slope != NULL) {
        *slope = 0.0;
        for (int i = 0; i < 2; ++i) {
            double down = l.g[i] > 0.0 ? at[i] - low[i] : high[i] - at[i];
            *slope += fabs(l.g[i]) * down;
        }
    }
    return l.value;
}

void search_refine(Search* search, CurvePoint* a, CurvePoint* b) {
    SearchBox domain = search_domain(search);
    double at[2] = {search->s, search->t};
    double low[2] = {0.0, 0.0}, high[2] = {search->a->end, search->b->end};
    *a = curve_eval(search->a, at[0]);
    *b = curve_eval(search->b, at[1]);
    Local l = local_of(search, a, b, at[0], at[1]);
    bool free[2];
    free_variables(&l, at, low, high, free);
    double step[2];
    local_step(&l, free, step);
    double size = fabs(step[0]) / (high[0] + DBL_MIN) + fabs(step[1]) / (high[1] + DBL_MIN);
    if (size <= 1.0e-9) {
        // as good as converged: move the points along their tangents
        search->s = search_edge(at[0] + step[0], high[0]);
        search->t = search_edge(at[1] + step[1], high[1]);
        a->p = tdl_axpy3(a->p, search->s - at[0], a->d1);
        b->p = tdl_axpy3(b->p, search->t - at[1], b->d1);
        return;
    }
    search_descend(search, &domain, &search->s, &search->t, NULL);
    *a = curve_eval(search->a, search->s);
    *b = curve_eval(search->b, search->t);
}

// --- one box
// --------------------------------------------------------------------------------------

// What is known of a box from its midpoint and the bounds on the second derivatives.
typedef struct BoxFacts {
    CurvePoint a, b;
    TdlVec3 r;             // a - b at the midpoint
    double bend_a, bend_b; // |second derivative| over the box
    double bulge;          // how far the curves leave their tangents
    double la, lb, d;      // |a'|, |b'|, |r| at the midpoint
    double reach;          // largest |a - b|
} BoxFacts;

static BoxFacts box_facts(const Search* search, const SearchBox* box) {
    BoxFacts f = {.a = curve_eval(search->a, box->s), .b = curve_eval(search->b, box->t)};
    f.r = search_difference(search, &f.a, &f.b);
    f.bend_a = curve_bend(search->a, box->s - box->x, box->s + box->x);
    f.bend_b = curve_bend(search->b, box->t - box->y, box->t + box->y);
    f.bulge = 0.5 * (f.bend_a * box->x * box->x + f.bend_b * box->y * box->y) + search->slack;
    f.la = tdl_norm3(f.a.d1);
    f.lb = tdl_norm3(f.b.d1);
    f.d = tdl_norm3(f.r);
    f.reach = f.d + f.la * box->x + f.lb * box->y + f.bulge;
    return f;
}

// -1, 0 or 1: the sign of the derivative of the value along one parameter wherever it is in the
// box. (X.8) `own` and `other` are the half-widths along this and the other parameter.
static int slope_sign(const Search* search, const BoxFacts* f, bool on_a, double own,
                      double other) {
    const TdlVec3 d1 = on_a ? f->a.d1 : tdl_scale3(-1.0, f->b.d1);
    double length = on_a ? f->la : f->lb, bend = on_a ? f->bend_a : f->bend_b;
    double taper = on_a ? search->taper_a : search->taper_b;
    double slope = tdl_dot3(f->r, d1) - taper * f->d;
    double cross = fabs(tdl_dot3(f->a.d1, f->b.d1));
    double spread = length * length * own + cross * other + length * f->bulge +
                    f->reach * bend * own + fabs(taper) * (f->reach - f->d);
    spread += 16.0 * DBL_EPSILON * (fabs(slope) + f->reach * length + spread);
    return slope > spread ? 1 : slope < -spread ? -1 : 0;
}

// Cuts the box down to its edge when the value is monotone along a parameter; false when the edge
// lies inside the domain, where no minimum can be.
static bool follow_slope(const Search* search, const BoxFacts* f, SearchBox* box) {
    int sign_a = box->x > 0.0 ? slope_sign(search, f, true, box->x, box->y) : 0;
    int sign_b = box->y > 0.0 ? slope_sign(search, f, false, box->y, box->x) : 0;
    if (sign_a != 0) {
        double edge = search_edge(box->s - sign_a * box->x, search->a->end);
        if (sign_a > 0 ? edge > 0.0 : edge < search->a->end) {
            return false;
        }
        *box = (SearchBox){edge, 0.0, box->t, box->y, box->lower};
    }
    if (sign_b != 0) {
        double edge = search_edge(box->t - sign_b * box->y, search->b->end);
        if (sign_b > 0 ? edge > 0.0 : edge < search->b->end) {
            return false;
        }
        *box = (SearchBox){box->s, box->x, edge, 0.0, box->lower};
    }
    return true;
}

// True when half the squared distance is certified convex over the box. (X.10)
static bool box_is_convex(const BoxFacts* f, const SearchBox* box) {
    double ea = f->bend_a * box->x, eb = f->bend_b * box->y;
    double la = fmax(0.0, f->la - ea), lb = fmax(0.0, f->lb - eb);
    double haa = la * la - f->reach * f->bend_a, hbb = lb * lb - f->reach * f->bend_b;
    double hab = fabs(tdl_dot3(f->a.d1, f->b.d1)) + f->la * eb + f->lb * ea + ea * eb;
    const double safe = 1.0 + 1.0e-13;
    if (box->x <= 0.0 || box->y <= 0.0) {
        return (box->x <= 0.0 || haa > 1.0e-13 * f->la * f->la) &&
               (box->y <= 0.0 || hbb > 1.0e-13 * f->lb * f->lb);
    }
    return haa > 0.0 && hbb > 0.0 && haa * hbb > safe * hab * hab;
}

// The same for the distance itself, which is what remains when the taper, being linear, is left
// out: only what is across the line between the curves counts. (X.10b)
static bool distance_is_convex(const BoxFacts* f, const SearchBox* box) {
    double moved = f->la * box->x + f->lb * box->y + f->bulge;
    if (!(moved < 0.25 * f->d)) {
        return false;
    }
    double turned = 2.0 * moved / (f->d - moved); // of the projection across the line
    TdlVec3 n = tdl_scale3(1.0 / f->d, f->r);
    TdlVec3 pa = tdl_axpy3(f->a.d1, -tdl_dot3(n, f->a.d1), n);
    TdlVec3 pb = tdl_axpy3(f->b.d1, -tdl_dot3(n, f->b.d1), n);
    double ea = f->bend_a * box->x + f->la * turned, eb = f->bend_b * box->y + f->lb * turned;
    double na = tdl_norm3(pa), nb = tdl_norm3(pb);
    double la = fmax(0.0, na - ea), lb = fmax(0.0, nb - eb);
    double haa = la * la - f->reach * f->bend_a, hbb = lb * lb - f->reach * f->bend_b;
    double hab = fabs(tdl_dot3(pa, pb)) + na * eb + nb * ea + ea * eb;
    if (box->x <= 0.0 || box->y <= 0.0) {
        return (box->x <= 0.0 || haa > 1.0e-13 * f->la * f->la) &&
               (box->y <= 0.0 || hbb > 1.0e-13 * f->lb * f->lb);
    }
    return haa > 0.0 && hbb > 0.0 && haa * hbb > (1.0 + 1.0e-13) * hab * hab;
}

// Settles a convex box; false when Newton's method did not reach the minimum to the tolerance.
static bool settle_convex(Search* search, const SearchBox* box) {
    double s = box->s, t = box->t, slope;
    double value = search_descend(search, box, &s, &t, &slope);
    double d = value + search_taper(search, s, t);
    double least = search->tapered ? d - slope : sqrt(fmax(0.0, d * d - 2.0 * slope));
    if (d - least > search_allowance(search, d)) {
        return false;
    }
    if (value < search->best) {
        search_offer(search, s, t, value);
    }
    return true;
}

static void split(Search* search, const SearchBox* box, const BoxFacts* f, double lower, double x,
                  double y) {
    SearchBox near = *box, far = *box;
    if (box->x * f->la >= box->y * f->lb) {
        double half = 0.5 * box->x, side = x < 0.0 ? -half : half;
        near.x = far.x = half;
        near.s = box->s + side;
        far.s = box->s - side;
    } else {
        double half = 0.5 * box->y, side = y < 0.0 ? -half : half;
        near.y = far.y = half;
        near.t = box->t + side;
        far.t = box->t - side;
    }
    near.lower = far.lower = lower;
    search_push(search, far);
    search_push(search, near);
}

// A point on the curves near the capsules' nearest points; a better one is polished.
static void sample(Search* search, const SearchBox* box, double x, double y) {
    double s = box->s + x * box->x, t = box->t + y * box->y;
    double value = search_value(search, s, t);
    if (value < search->best) {
        SearchBox domain = search_domain(search);
        double polished = search_descend(search, &domain, &s, &t, NULL);
        search_offer(search, s, t, fmin(value, polished));
    }
}

static void handle_box(Search* search, SearchBox box) {
    ++search->boxes;
    BoxFacts f = box_facts(search, &box);
    double x, y;
    TdlVec3 u = tdl_scale3(box.x, f.a.d1), v = tdl_scale3(box.y, f.b.d1);
    double lower = search_axis_gap(f.r, u, v, &x, &y) - f.bulge;
    lower -= search_taper(search, box.s, box.t) + fabs(search->taper_a) * box.x +
             fabs(search->taper_b) * box.y;
    if (search_prunes(search, lower)) {
        return;
    }
    SearchBox cut = box;
    if (!follow_slope(search, &f, &cut)) {
        return;
    }
    if (cut.x < box.x || cut.y < box.y) {
        search_push(search, cut);
        return;
    }
    bool convex = search->tapered ? distance_is_convex(&f, &box) : box_is_convex(&f, &box);
    if (convex && settle_convex(search, &box)) {
        return;
    }
    if (!search->collect) {
        sample(search, &box, x, y);
    }
    if (!search->tapered && box.x > 0.0 && box.y > 0.0 && search_ridge(search, &box, box.s)) {
        return;
    }
    double least = search->collect ? search->grain : 0.0;
    if (box.x <= fmax(least, LEAST_WIDTH * search->a->end) &&
        box.y <= fmax(least, LEAST_WIDTH * search->b->end)) {
        // nothing smaller can be told apart
        if (search->collect) {
            search_offer(search, box.s, box.t, f.d);
            search->complete = false;
        }
        return;
    }
    split(search, &box, &f, lower, x, y);
}

// --- the heap
// -------------------------------------------------------------------------------------

void search_push(Search* search, SearchBox box) {
    if (search->count == SEARCH_HEAP) {
        search->complete = false;
        return;
    }
    SearchBox* heap = search->heap;
    int i = search->count++;
    for (; i > 0 && heap[(i - 1) / 2].lower > box.lower; i = (i - 1) / 2) {
        heap[i] = heap[(i - 1) / 2];
    }
    heap[i] = box;
}

static SearchBox pop(Search* search) {
    SearchBox *heap = search->heap, top = heap[0], last = heap[--search->count];
    if (search->count > SEARCH_HEAP - 64) {
        return last;
    }
    int i = 0;
    for (int child = 1; child < search->count; child = 2 * i + 1) {
        child += child + 1 < search->count && heap[child + 1].lower < heap[child].lower;
        if (heap[child].lower >= last.lower) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

void search_run(Search* search) {
    while (search->count > 0 && search->boxes < search->limit) {
        handle_box(search, pop(search));
    }
    search->complete &= search->count == 0;
    search->count = 0;
    if (!search->complete && !search->found && !search->collect) {
        // the ridge may have spent all boxes on proofs
        SearchBox domain = search_domain(search);
        sample(search, &domain, 0.0, 0.0);
    }
}
