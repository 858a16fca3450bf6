// Continuous collision detection by contraction: the body of ccd_contract_scalar.c and
// ccd_contract_avx2.c, which differ only in the lanes they put below it.
//
// Boxes of (t, u, v) wait in a heap, earliest first. A box is dropped when one coordinate of F, or
// one of the rows of the adjugate of its Jacobian times F, keeps away from zero over it (D.6,
// D.10); the same rows bound t, u and v within it to second order (D.12), so that a simple root is
// reached in a few boxes where bisection needs twenty levels; a box is split only where that fails.
// The earliest box that is small enough is the answer. About 30 ns a box.
//
// The bounds hold for the roundings as written: built with -ffp-contract=off.
#include "detect/ccd.h"
#include "detect/ccd_lanes.h"

#include <float.h>
#include <math.h>

// Boxes that may wait; 128 kB, which stays in the second-level cache.
#define QUEUE_MAX 2048
// A contraction must take this share of the largest extent away, or the box is split.
static const double KEEP_MAX = 0.6;
// A box this many margins wide cannot be contracted much further.
static const double NOISE = 8.0;

typedef struct Box {
    double lo[4], hi[4]; // t, u, v, spare
} Box;

// The form in lanes, the margins, and the state of one search.
typedef struct Search {
    V4 a0, da, b0, db, c0, dc; // lanes: x, y, z
    V4 margin;                 // (D.7)
    V4 row_margin;             // lanes: the rows for t, u, v; (D.11)
    V4 gt, gu, gv, size;       // bounds of |F_t|, |F_u|, |F_v| and |F|
    V4 flat_margin[3];         // margins of the flat rows, by the normal chosen; (D.17)
    bool flat_ready;
    double separation, tolerance;
    bool triangle, euclid;
    int max_checks, refine_left, checks;
    bool limited;
    int count;
    TdlCcdResult best;
    Box queue[QUEUE_MAX];
} Search;

// F and its derivatives at the centre of a box.
typedef struct Centre {
    V4 mid, rad;      // lanes: t, u, v
    V4 f, ft, fu, fv; // lanes: x, y, z
    V4 et, eu, ev;    // |ft| tr, |fu| ur, |fv| vr
    V4 extent;        // radius of F over the box

} Centre;

typedef enum Verdict { BOX_EMPTY, BOX_HIT, BOX_AGAIN, BOX_SPLIT } Verdict;

static inline V4 dot_rows(V4 yx, V4 yy, V4 yz, V4 a) {
    return v4_add(v4_add(v4_mul(yx, v4_spread0(a)), v4_mul(yy, v4_spread1(a))),
                  v4_mul(yz, v4_spread2(a)));
}

// (D.5)
static inline void evaluate(const Search* s, const Box* box, Centre* c) {
    V4 lo = v4_load(box->lo), hi = v4_load(box->hi);
    c->mid = v4_mul(v4_all(0.5), v4_add(lo, hi));
    c->rad = v4_max(v4_sub(hi, c->mid), v4_sub(c->mid, lo));
    V4 t = v4_spread0(c->mid), u = v4_spread1(c->mid), v = v4_spread2(c->mid);
    V4 tr = v4_spread0(c->rad), ur = v4_spread1(c->rad), vr = v4_spread2(c->rad);
    c->fu = v4_add(s->b0, v4_mul(t, s->db));
    c->fv = v4_add(s->c0, v4_mul(t, s->dc));
    V4 a = v4_add(s->a0, v4_mul(t, s->da));
    c->f = v4_add(v4_add(a, v4_mul(u, c->fu)), v4_mul(v, c->fv));
    c->ft = v4_add(v4_add(s->da, v4_mul(u, s->db)), v4_mul(v, s->dc));
    c->et = v4_mul(v4_abs(c->ft), tr);
    c->eu = v4_mul(v4_add(v4_abs(c->fu), v4_mul(v4_abs(s->db), tr)), ur);
    c->ev = v4_mul(v4_add(v4_abs(c->fv), v4_mul(v4_abs(s->dc), tr)), vr);
    c->extent = v4_add(v4_add(c->et, c->eu), c->ev);
}

// True when F keeps farther than the separation from zero over the box, by its coordinates. (D.6)
static inline bool apart_by_axes(const Search* s, const Centre* c) {
    V4 gap = v4_sub(v4_sub(v4_abs(c->f), c->extent), s->margin);
    if (v4_above(gap, v4_all(s->separation)) != 0) {
        return true;
    }
    if (!s->euclid || s->separation == 0.0) {
        return false;
    }
    double g[4];
    v4_store(g, v4_max(gap, v4_all(0.0)));
    double square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    return square > s->separation * s->separation * (1.0 + 0x1p-48) + 0x1p-900;
}

// What a separation adds to the right-hand side of a row: its support function. (D.9)
static inline V4 row_support(const Search* s, V4 yx, V4 yy, V4 yz) {
    if (!s->euclid) {
        V4 sum = v4_add(v4_add(v4_abs(yx), v4_abs(yy)), v4_abs(yz));
        return v4_mul(v4_all(s->separation), sum);
    }
    V4 square = v4_add(v4_add(v4_mul(yx, yx), v4_mul(yy, yy)), v4_mul(yz, yz));
    double n[4];
    v4_store(n, square);
    V4 norm = v4_set(sqrt(n[0]), sqrt(n[1]), sqrt(n[2]), 0.0);
    return v4_mul(v4_all(s->separation * (1.0 + 0x1p-48)), norm);
}

// Keeps a vertex-face box within u + v <= 1; false when nothing is left.
static inline bool clip_triangle(Box* box) {
    box->hi[1] = fmin(box->hi[1], (1.0 - box->lo[2]) + CCD_SLACK);
    box->hi[2] = fmin(box->hi[2], (1.0 - box->lo[1]) + CCD_SLACK);
    return box->lo[1] <= box->hi[1] && box->lo[2] <= box->hi[2];
}

// The rows of the adjugate of [F_t F_u F_v] at the centre.
typedef struct Adjugate {
    V4 y[3];
    int regular; // bit i: the factor of unknown i keeps its sign over the box
    int clear;   // bit i: the box is still large against the rounding of row i
} Adjugate;

// Shrinks the box by the three rows of the adjugate; false when nothing is left. (D.10)-(D.13)
static inline bool contract(const Search* s, const Centre* c, Adjugate* adjugate, Box* box) {
    V4 y1 = v4_cross(c->fu, c->fv), y2 = v4_cross(c->fv, c->ft), y3 = v4_cross(c->ft, c->fu);
    *adjugate = (Adjugate){.y = {y1, y2, y3}};
    V4 yx, yy, yz;
    v4_transpose(y1, y2, y3, &yx, &yy, &yz);
    V4 g = dot_rows(yx, yy, yz, c->f);
    V4 p = v4_abs(dot_rows(yx, yy, yz, s->db));
    V4 q = v4_abs(dot_rows(yx, yy, yz, s->dc));
    V4 det = v4_spread0(dot_rows(yx, yy, yz, c->ft));

    // w: what the factor of the unknown may vary by; x: what the others may add
    double r[4];
    v4_store(r, c->rad);
    V4 w = v4_add(v4_mul(p, v4_set(r[1], r[0], 0.0, 0.0)), v4_mul(q, v4_set(r[2], 0.0, r[0], 0.0)));
    V4 x = v4_add(v4_mul(p, v4_set(0.0, 0.0, r[0] * r[1], 0.0)),
                  v4_mul(q, v4_set(0.0, r[0] * r[2], 0.0, 0.0)));
    x = v4_add(x, s->row_margin);
    if (s->separation > 0.0) {
        x = v4_add(x, row_support(s, yx, yy, yz));
    }

    // no point of the box satisfies a row
    V4 d = v4_abs(det);
    V4 d_high = v4_add(d, w), d_low = v4_sub(d, w);
    if (v4_above(v4_sub(v4_abs(g), x), v4_mul(d_high, c->rad)) != 0) {
        return false;
    }

    // bounds of the unknown where its factor keeps its sign
    V4 zero = v4_all(0.0);
    adjugate->regular = v4_above(d_low, zero);
    adjugate->clear = v4_above(v4_mul(d, c->rad), v4_mul(v4_all(NOISE), s->row_margin));
    V4 h = v4_pick_above(det, zero, v4_neg(g), g);
    V4 low = v4_sub(h, x), high = v4_add(h, x);
    V4 known = v4_pick_above(d_low, zero, d_low, v4_all(1.0));
    low = v4_div(low, v4_pick_above(low, zero, d_high, known));
    high = v4_div(high, v4_pick_above(high, zero, known, d_high));
    V4 slack = v4_all(CCD_SLACK);
    low = v4_sub(low, v4_mul(slack, v4_add(v4_all(1.0), v4_abs(low))));
    high = v4_add(high, v4_mul(slack, v4_add(v4_all(1.0), v4_abs(high))));
    low = v4_pick_above(d_low, zero, low, v4_all(-2.0));
    high = v4_pick_above(d_low, zero, high, v4_all(2.0));
    V4 lo = v4_max(v4_load(box->lo), v4_add(c->mid, low));
    V4 hi = v4_min(v4_load(box->hi), v4_add(c->mid, high));
    v4_store(box->lo, lo);
    v4_store(box->hi, hi);
    if ((v4_above(lo, hi) & 7) != 0) {
        return false;
    }
    return !s->triangle || clip_triangle(box);
}

// Margins of the flat rows for each of the three normals. (D.17)
static void set_flat_margins(Search* s) {
    V4 normals[3] = {v4_cross_abs(s->gu, s->gv), v4_cross_abs(s->gv, s->gt),
                     v4_cross_abs(s->gt, s->gu)};
    for (int k = 0; k < 3; ++k) {
        V4 zx, zy, zz;
        v4_transpose(v4_cross_abs(normals[k], s->gt), v4_cross_abs(normals[k], s->gu),
                     v4_cross_abs(normals[k], s->gv), &zx, &zy, &zz);
        s->flat_margin[k] =
            v4_add(v4_mul(v4_all(CCD_K_FLAT * CCD_U), dot_rows(zx, zy, zz, s->size)),
                   v4_set(CCD_TINY, CCD_TINY, CCD_TINY, 0.0));
    }
    s->flat_ready = true;
}

// Bounds of an unknown with factor `factor` from g + factor x + rest = 0, |rest| <= bound, in
// lanes; [-2, 2] where the factor is zero.
static inline void solve_lanes(V4 g, V4 factor, V4 bound, V4* low, V4* high) {
    V4 zero = v4_all(0.0), d = v4_abs(factor);
    V4 h = v4_pick_above(factor, zero, v4_neg(g), g);
    V4 known = v4_pick_above(d, zero, d, v4_all(1.0));
    V4 lo = v4_div(v4_sub(h, bound), known), hi = v4_div(v4_add(h, bound), known);
    V4 slack = v4_all(CCD_SLACK);
    lo = v4_sub(lo, v4_mul(slack, v4_add(v4_all(1.0), v4_abs(lo))));
    hi = v4_add(hi, v4_mul(slack, v4_add(v4_all(1.0), v4_abs(hi))));
    *low = v4_pick_above(d, zero, lo, v4_all(-2.0));
    *high = v4_pick_above(d, zero, hi, v4_all(2.0));
}

static inline V4 v4_zxy(V4 a) {
    return v4_yzx(v4_yzx(a));
}

// Where F_t, F_u, F_v lie nearly in a plane with normal N, the adjugate says nothing; the rows
// N x F_t, N x F_u, N x F_v each remove one unknown within that plane and bound the other two to
// second order. (D.16), (D.17)
static bool contract_flat(Search* s, const Centre* c, const Adjugate* adjugate, Box* box) {
    if (!s->flat_ready) {
        set_flat_margins(s);
    }

    // the most certain normal
    double norms[3];
    for (int k = 0; k < 3; ++k) {
        norms[k] = v4_top3(v4_abs(adjugate->y[k]));
    }
    int k = norms[0] >= norms[1] && norms[0] >= norms[2] ? 0 : norms[1] >= norms[2] ? 1 : 2;
    V4 normal = adjugate->y[k];
    V4 zx, zy, zz, ax, ay, az;
    v4_transpose(v4_cross(normal, c->ft), v4_cross(normal, c->fu), v4_cross(normal, c->fv), &zx,
                 &zy, &zz);
    v4_transpose(adjugate->y[0], adjugate->y[1], adjugate->y[2], &ax, &ay, &az);

    // row i: g_i + n_(i+2) x_(i+1) - n_(i+1) x_(i+2) + rest, with n_j = N . y_j, cyclic
    V4 n = dot_rows(ax, ay, az, normal);
    V4 g = dot_rows(zx, zy, zz, c->f);
    V4 p = v4_abs(dot_rows(zx, zy, zz, s->db)), q = v4_abs(dot_rows(zx, zy, zz, s->dc));
    V4 tr = v4_spread0(c->rad), ur = v4_spread1(c->rad), vr = v4_spread2(c->rad);
    V4 rest = v4_add(v4_mul(tr, v4_add(v4_mul(p, ur), v4_mul(q, vr))), s->flat_margin[k]);
    if (s->separation > 0.0) {
        rest = v4_add(rest, row_support(s, zx, zy, zz));
    }
    V4 first = v4_zxy(n), second = v4_neg(v4_yzx(n));
    V4 first_reach = v4_mul(v4_abs(first), v4_yzx(c->rad));
    V4 second_reach = v4_mul(v4_abs(second), v4_zxy(c->rad));
    if ((v4_above(v4_abs(g), v4_add(v4_add(first_reach, second_reach), rest)) & 7) != 0) {
        return false;
    }

    // lane i of the first solve bounds unknown i + 1, of the second unknown i + 2
    V4 low1, high1, low2, high2;
    solve_lanes(g, first, v4_add(second_reach, rest), &low1, &high1);
    solve_lanes(g, second, v4_add(first_reach, rest), &low2, &high2);
    V4 low = v4_max(v4_zxy(low1), v4_yzx(low2)), high = v4_min(v4_zxy(high1), v4_yzx(high2));
    V4 lo = v4_max(v4_load(box->lo), v4_add(c->mid, low));
    V4 hi = v4_min(v4_load(box->hi), v4_add(c->mid, high));
    v4_store(box->lo, lo);
    v4_store(box->hi, hi);
    box->lo[3] = box->hi[3] = 0.0;
    if ((v4_above(lo, hi) & 7) != 0) {
        return false;
    }
    return !s->triangle || clip_triangle(box);
}

static inline double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

// Distance of F from zero at a point, margins included, in the norm of the search.
static inline double distance_at(const Search* s, double t, double u, double v) {
    V4 a = v4_add(s->a0, v4_mul(v4_all(t), s->da));
    V4 b = v4_add(s->b0, v4_mul(v4_all(t), s->db));
    V4 c = v4_add(s->c0, v4_mul(v4_all(t), s->dc));
    V4 f = v4_add(v4_add(a, v4_mul(v4_all(u), b)), v4_mul(v4_all(v), c));
    V4 gap = v4_abs(f);
    if (!s->euclid) {
        return v4_top3(gap);
    }
    double g[4];
    v4_store(g, gap);
    return sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

// A place (u, v) of the box where |F| is small at its first time, by least squares and clamping.
static void nearest_place(const Search* s, const Box* box, double* u, double* v) {
    double t = box->lo[0], a[4], b[4], c[4];
    v4_store(a, v4_add(s->a0, v4_mul(v4_all(t), s->da)));
    v4_store(b, v4_add(s->b0, v4_mul(v4_all(t), s->db)));
    v4_store(c, v4_add(s->c0, v4_mul(v4_all(t), s->dc)));
    double bb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    double cc = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    double bc = b[0] * c[0] + b[1] * c[1] + b[2] * c[2];
    double ab = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    double ac = a[0] * c[0] + a[1] * c[1] + a[2] * c[2];
    double det = bb * cc - bc * bc;
    *u = 0.5 * (box->lo[1] + box->hi[1]);
    if (det > 0x1p-40 * bb * cc) {
        *u = clamp((bc * ac - cc * ab) / det, box->lo[1], box->hi[1]);
    }
    // each in turn with the other fixed; twice is enough for a guess
    for (int pass = 0; pass < 2; ++pass) {
        *v = clamp(cc > 0.0 ? -(ac + *u * bc) / cc : 0.0, box->lo[2], box->hi[2]);
        if (s->triangle) {
            *v = clamp(*v, 0.0, 1.0 - *u);
        }
        *u = clamp(bb > 0.0 ? -(ab + *v * bc) / bb : 0.0, box->lo[1], box->hi[1]);
        if (s->triangle) {
            *u = clamp(*u, 0.0, 1.0 - *v);
        }
    }
}

// True when the parts touch at the first time of the box, up to rounding or, with a separation,
// up to a small share of it: no later time needs to be looked at. (D.15)
static bool touches_at_once(Search* s, const Box* box) {
    double u, v;
    nearest_place(s, box, &u, &v);
    double distance = distance_at(s, box->lo[0], u, v);
    double rounding = v4_top3(s->margin);
    double allowed = s->separation + fmin(s->tolerance, s->separation * 0x1p-6) + rounding;
    if (!(distance <= allowed)) {
        return false;
    }
    s->best.collision = true;
    s->best.time = box->lo[0];
    s->best.u = u;
    s->best.v = v;
    s->best.tolerance = fmax(distance - s->separation, 0.0) + rounding;
    return true;
}

// Keeps the earlier of the best contact and this box.
static void keep_hit(Search* s, const Box* box, double tolerance) {
    if (s->best.collision && s->best.time <= box->lo[0]) {
        return;
    }
    s->best.collision = true;
    s->best.time = box->lo[0];
    s->best.tolerance = tolerance;
    nearest_place(s, box, &s->best.u, &s->best.v);
}

// Size of F's range over a box, in the norm of the search. (D.14)
static inline double range_width(const Search* s, const Centre* c) {
    V4 width = v4_add(v4_add(c->extent, c->extent), s->margin);
    if (!s->euclid) {
        return v4_top3(width);
    }
    double w[4];
    v4_store(w, width);
    return sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

// Compares the extents of F along each parameter before and after a contraction; *axis is where
// the box is now largest.
static inline bool shrunk_enough(const Centre* c, const Box* box, int* axis) {
    double r[4];
    V4 rad = v4_mul(v4_all(0.5), v4_sub(v4_load(box->hi), v4_load(box->lo)));
    v4_store(r, v4_div(rad, v4_max(c->rad, v4_all(DBL_MIN))));
    double et = v4_top3(c->et), eu = v4_top3(c->eu), ev = v4_top3(c->ev);
    double before = fmax(et, fmax(eu, ev));
    et *= r[0];
    eu *= r[1];
    ev *= r[2];
    double after = fmax(et, fmax(eu, ev));
    *axis = et >= eu && et >= ev ? 0 : eu >= ev ? 1 : 2;
    return after <= KEEP_MAX * before;
}

// Looks at one box: drops it, accepts it, shrinks it, or asks for its division.
static inline Verdict check_box(Search* s, Box* box, int* axis) {
    Centre c;
    evaluate(s, box, &c);
    ++s->checks;
    if (apart_by_axes(s, &c)) {
        return BOX_EMPTY;
    }

    // small enough, or no longer distinguishable from a point
    double width = range_width(s, &c);
    bool small = width <= s->tolerance;
    if ((small && s->refine_left == 0) || v4_above(c.extent, s->margin) == 0) {
        keep_hit(s, box, width);
        return BOX_HIT;
    }
    if ((small || s->separation > 0.0) && touches_at_once(s, box)) {
        return BOX_HIT;
    }

    // regular rows first; where they do not help, those for a flat range
    Adjugate adjugate;
    if (!contract(s, &c, &adjugate, box)) {
        return BOX_EMPTY;
    }
    if (shrunk_enough(&c, box, axis)) {
        return BOX_AGAIN;
    }
    if (!contract_flat(s, &c, &adjugate, box)) {
        return BOX_EMPTY;
    }
    if (shrunk_enough(&c, box, axis)) {
        return BOX_AGAIN;
    }

    // a small box that only rounding keeps from shrinking holds a root as far as can be told
    if (small) {
        bool noise = (adjugate.regular & 7) == 7 && (adjugate.clear >> *axis & 1) == 0;
        s->refine_left = noise ? 0 : s->refine_left - 1;
        if (s->refine_left == 0) {
            keep_hit(s, box, width);
            return BOX_HIT;
        }
    }
    return BOX_SPLIT;
}

// --- the queue: a binary heap on the first time
// -----------------------------------------------------

static void queue_push(Search* s, const Box* box) {
    int i = s->count++;
    while (i > 0 && s->queue[(i - 1) / 2].lo[0] > box->lo[0]) {
        s->queue[i] = s->queue[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->queue[i] = *box;
}

static Box queue_pop(Search* s) {
    Box top = s->queue[0], last = s->queue[--s->count];
    int i = 0;
    for (int child = 1; child < s->count; child = 2 * i + 1) {
        if (child + 1 < s->count && s->queue[child + 1].lo[0] < s->queue[child].lo[0]) {
            ++child;
        }
        if (s->queue[child].lo[0] >= last.lo[0]) {
            break;
        }
        s->queue[i] = s->queue[child];
        i = child;
    }
    s->queue[i] = last;
    return top;
}

// Divides a box along an axis: `box` keeps the earlier or first half, the other waits. A box too
// thin to be divided, or a queue that is full, makes a hit of the whole box.
static Verdict divide(Search* s, Box* box, int axis) {
    double low = box->lo[axis], high = box->hi[axis], mid = 0.5 * (low + high);
    if (!(low < mid && mid < high) || s->count == QUEUE_MAX) {
        Centre c;
        evaluate(s, box, &c);
        s->limited = s->limited || s->count == QUEUE_MAX;
        keep_hit(s, box, range_width(s, &c));
        return BOX_HIT;
    }
    Box other = *box;
    other.lo[axis] = mid;
    box->hi[axis] = mid;
    if (!s->triangle || clip_triangle(&other)) {
        queue_push(s, &other);
    }
    return BOX_AGAIN;
}

// The limit of checks is reached: the earliest box left, or the best contact, is the answer.
static void stop_early(Search* s, const Box* box) {
    Centre c;
    evaluate(s, box, &c);
    s->limited = true;
    keep_hit(s, box, range_width(s, &c));
}

// Algorithm box of ccd.md section 4.
static void search(Search* s, Box box) {
    for (;;) {
        int axis = 0;
        Verdict verdict = check_box(s, &box, &axis);
        if (verdict == BOX_SPLIT) {
            verdict = divide(s, &box, axis);
        }
        if (verdict == BOX_AGAIN) {
            bool earlier = s->count > 0 && s->queue[0].lo[0] < box.lo[0];
            if (earlier) {
                Box top = queue_pop(s);
                queue_push(s, &box);
                box = top;
            }
        } else if (s->count == 0) {
            return;
        } else {
            box = queue_pop(s);
        }
        if (s->best.collision && box.lo[0] >= s->best.time) {
            return;
        }
        if (s->checks >= s->max_checks) {
            stop_early(s, &box);
            return;
        }
    }
}

// --- setting up
// -------------------------------------------------------------------------------------

// Margins from the sizes of the coefficients. (D.7), (D.11)
static inline void set_margins(Search* s, V4 b1, V4 c1, V4 size) {
    s->margin = v4_add(v4_mul(v4_all(CCD_K_AXIS * CCD_U), v4_add(size, v4_all(s->separation))),
                       v4_set(CCD_TINY, CCD_TINY, CCD_TINY, 0.0));
    V4 gt = v4_add(v4_add(v4_abs(s->da), v4_abs(s->db)), v4_abs(s->dc));
    V4 gu = v4_max(v4_abs(s->b0), v4_abs(b1));
    V4 gv = v4_max(v4_abs(s->c0), v4_abs(c1));
    V4 yx, yy, yz;
    v4_transpose(v4_cross_abs(gu, gv), v4_cross_abs(gv, gt), v4_cross_abs(gt, gu), &yx, &yy, &yz);
    size = v4_add(size, v4_all(s->separation));
    s->gt = gt;
    s->gu = gu;
    s->gv = gv;
    s->size = size;
    s->flat_ready = false;
    s->row_margin = v4_add(v4_mul(v4_all(CCD_K_ROW * CCD_U), dot_rows(yx, yy, yz, size)),
                           v4_set(CCD_TINY, CCD_TINY, CCD_TINY, 0.0));
}

static inline void start_search(Search* s, double max_time, V4 b1, V4 c1, V4 size) {
    set_margins(s, b1, c1, size);
    s->best = (TdlCcdResult){.time = INFINITY};
    s->checks = s->count = 0;
    s->limited = false;
    search(s, (Box){{0.0, 0.0, 0.0, 0.0}, {max_time, 1.0, 1.0, 0.0}});
}

// Copies a result back to the caller's units; `factor` is 2^-exponent.
static inline void finish(const Search* s, double factor, TdlCcdResult* result) {
    *result = s->best;
    result->tolerance *= factor;
    result->boxes = s->checks;
    result->limited = s->limited;
}

// The same search on the scaled form, for coordinates near the ends of the range of doubles.
static void contract_scaled(const TdlCcdQuery* query, const TdlCcdOptions* options,
                            TdlCcdResult* result) {
    CcdForm form;
    CcdLimits limits;
    if (!ccd_form_scaled(query, options, &form, &limits)) {
        *result = (TdlCcdResult){.collision = true, .boxes = 1};
        return;
    }
    Search s;
    s.a0 = v4_load(form.a0);
    s.da = v4_load(form.da);
    s.b0 = v4_load(form.b0);
    s.db = v4_load(form.db);
    s.c0 = v4_load(form.c0);
    s.dc = v4_load(form.dc);
    s.separation = limits.separation;
    s.tolerance = limits.tolerance;
    s.triangle = form.triangle;
    s.euclid = limits.euclid;
    s.max_checks = limits.max_checks;
    s.refine_left = limits.refine_checks;
    // what the scaling lost is counted as a size that costs as many roundings
    V4 size = v4_add(v4_load(form.size), v4_all(form.tiny / CCD_U));
    start_search(&s, limits.max_time, v4_load(form.b1), v4_load(form.c1), size);
    finish(&s, 1.0, result);
    result->tolerance = ldexp(result->tolerance, -form.exponent);
}

static bool contract_query(const TdlCcdQuery* query, const TdlCcdOptions* options,
                           TdlCcdResult* result) {
    bool face = query->kind == TDL_CCD_VERTEX_FACE;
    const double *start = &query->start[0].x, *end = &query->end[0].x;
    V4 p0 = v4_load3(start), p1 = v4_load3(start + 3), p2 = v4_load3(start + 6),
       p3 = v4_load3(start + 9);
    V4 q0 = v4_load3(end), q1 = v4_load3(end + 3), q2 = v4_load3(end + 6), q3 = v4_load3(end + 9);

    // refuse what is not a number: x - x is 0 for finite x only
    V4 zeros = v4_add(
        v4_add(v4_add(v4_sub(p0, p0), v4_sub(p1, p1)), v4_add(v4_sub(p2, p2), v4_sub(p3, p3))),
        v4_add(v4_add(v4_sub(q0, q0), v4_sub(q1, q1)), v4_add(v4_sub(q2, q2), v4_sub(q3, q3))));
    double check[4];
    v4_store(check, zeros);
    if (!(check[0] == 0.0 && check[1] == 0.0 && check[2] == 0.0)) {
        return false;
    }

    // apart along an axis at both ends: apart throughout, without any rounding. (D.3)
    V4 low, high;
    if (face) {
        low =
            v4_min(v4_sub(p0, v4_max(v4_max(p1, p2), p3)), v4_sub(q0, v4_max(v4_max(q1, q2), q3)));
        high =
            v4_max(v4_sub(p0, v4_min(v4_min(p1, p2), p3)), v4_sub(q0, v4_min(v4_min(q1, q2), q3)));
    } else {
        low =
            v4_min(v4_sub(v4_min(p0, p1), v4_max(p2, p3)), v4_sub(v4_min(q0, q1), v4_max(q2, q3)));
        high =
            v4_max(v4_sub(v4_max(p0, p1), v4_min(p2, p3)), v4_sub(v4_max(q0, q1), v4_min(q2, q3)));
    }
    V4 separation = v4_all(options->min_separation);
    if ((v4_above(low, separation) | v4_above(v4_neg(high), separation)) != 0) {
        *result = (TdlCcdResult){.time = INFINITY, .boxes = 1};
        return true;
    }

    // the form (D.2)
    Search s;
    s.a0 = face ? v4_sub(p0, p1) : v4_sub(p0, p2);
    s.b0 = face ? v4_sub(p1, p2) : v4_sub(p1, p0);
    s.c0 = face ? v4_sub(p1, p3) : v4_sub(p2, p3);
    V4 a1 = face ? v4_sub(q0, q1) : v4_sub(q0, q2);
    V4 b1 = face ? v4_sub(q1, q2) : v4_sub(q1, q0);
    V4 c1 = face ? v4_sub(q1, q3) : v4_sub(q2, q3);
    V4 size = v4_add(v4_add(v4_max(v4_abs(s.a0), v4_abs(a1)), v4_max(v4_abs(s.b0), v4_abs(b1))),
                     v4_max(v4_abs(s.c0), v4_abs(c1)));
    double top = v4_top3(size);
    if (!(top <= 0x1p100 && top >= 0x1p-100 && options->min_separation <= 0x1p100)) {
        contract_scaled(query, options, result);
        return true;
    }
    s.da = v4_sub(a1, s.a0);
    s.db = v4_sub(b1, s.b0);
    s.dc = v4_sub(c1, s.c0);
    s.separation = options->min_separation;
    s.tolerance = options->tolerance;
    s.triangle = face;
    s.euclid = options->norm == TDL_CCD_NORM_EUCLID;
    s.max_checks = options->max_checks;
    s.refine_left = options->refine_checks;
    start_search(&s, options->max_time, b1, c1, size);
    finish(&s, 1.0, result);
    return true;
}
