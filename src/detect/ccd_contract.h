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
// Times this near are not told apart: the earlier one is reported. It lets the search stay with a
// box while others are earlier by rounding only.
static const double TIME_SLACK = 0x1p-40;
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
    V4 shift, extent; // F over the box lies in f + shift +- extent
    double excess;    // of u + v over 1

} Centre;

typedef enum Verdict { BOX_EMPTY, BOX_HIT, BOX_AGAIN, BOX_SPLIT } Verdict;

static inline V4 dot_rows(V4 yx, V4 yy, V4 yz, V4 a) {
    return v4_add(v4_add(v4_mul(yx, v4_spread0(a)), v4_mul(yy, v4_spread1(a))),
                  v4_mul(yz, v4_spread2(a)));
}

// The corner that u + v <= 1 cuts off a box reaches beyond the line by `excess`; where u and v pull
// F the same way, the range ends earlier on that side. Returns half of that, signed: the centre
// moves by it and the radius loses it. (D.5)
static inline V4 triangle_shift(V4 fu, V4 fv, V4 u_vary, V4 v_vary, double excess) {
    V4 zero = v4_all(0.0);
    V4 pull = v4_min(v4_sub(v4_abs(fu), u_vary), v4_sub(v4_abs(fv), v_vary));
    V4 half = v4_mul(v4_all(0.5 * excess), v4_max(pull, zero));
    V4 signed_half = v4_pick_above(fu, zero, v4_neg(half), half);
    return v4_pick_above(v4_mul(fu, fv), zero, signed_half, zero);
}

// (D.4)
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
    c->shift = v4_all(0.0);
    c->excess = s->triangle ? (box->hi[1] + box->hi[2]) - 1.0 : 0.0;
    if (c->excess > 0.0) {
        c->shift = triangle_shift(c->fu, c->fv, v4_mul(v4_abs(s->db), tr),
                                  v4_mul(v4_abs(s->dc), tr), c->excess);
        c->extent = v4_sub(c->extent, v4_abs(c->shift));
    }
}

// True when F keeps farther than the separation from zero over the box, by its coordinates. (D.6)
static inline bool apart_by_axes(const Search* s, const Centre* c) {
    V4 gap = v4_sub(v4_sub(v4_abs(v4_add(c->f, c->shift)), c->extent), s->margin);
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
    box->hi[1] = lesser(box->hi[1], (1.0 - box->lo[2]) + CCD_SLACK);
    box->hi[2] = lesser(box->hi[2], (1.0 - box->lo[1]) + CCD_SLACK);
    return box->lo[1] <= box->hi[1] && box->lo[2] <= box->hi[2];
}

// Bounds of an unknown x, |x| <= 1, from g + (factor + e) x + rest = 0 with |e| <= vary and
// |rest| <= bound, lane by lane; [-2, 2] where the factor may vanish. (D.12), (D.13)
static inline void solve_lanes(V4 g, V4 factor, V4 vary, V4 bound, V4* low, V4* high) {
    V4 zero = v4_all(0.0), d = v4_abs(factor);
    V4 d_low = v4_sub(d, vary), d_high = v4_add(d, vary);
    V4 h = v4_pick_above(factor, zero, v4_neg(g), g);
    V4 known = v4_pick_above(d_low, zero, d_low, v4_all(1.0));
    V4 lo = v4_sub(h, bound), hi = v4_add(h, bound);
    lo = v4_div(lo, v4_pick_above(lo, zero, d_high, known));
    hi = v4_div(hi, v4_pick_above(hi, zero, known, d_high));
    V4 slack = v4_all(CCD_SLACK);
    lo = v4_sub(lo, v4_mul(slack, v4_add(v4_all(1.0), v4_abs(lo))));
    hi = v4_add(hi, v4_mul(slack, v4_add(v4_all(1.0), v4_abs(hi))));
    *low = v4_pick_above(d_low, zero, lo, v4_all(-2.0));
    *high = v4_pick_above(d_low, zero, hi, v4_all(2.0));
}

// Keeps the part of the box within mid + [low, high]; false when nothing is left.
static inline bool cut_box(const Search* s, const Centre* c, V4 low, V4 high, Box* box) {
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
    adjugate->regular = v4_above(d_low, v4_all(0.0));
    adjugate->clear = v4_above(v4_mul(d, c->rad), v4_mul(v4_all(NOISE), s->row_margin));
    V4 low, high;
    solve_lanes(g, det, w, x, &low, &high);
    return cut_box(s, c, low, high, box);
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
    V4 none = v4_all(0.0);
    solve_lanes(g, first, none, v4_add(second_reach, rest), &low1, &high1);
    solve_lanes(g, second, none, v4_add(first_reach, rest), &low2, &high2);
    V4 low = v4_max(v4_zxy(low1), v4_yzx(low2)), high = v4_min(v4_zxy(high1), v4_yzx(high2));
    return cut_box(s, c, low, high, box);
}

// A direction that may separate F from zero over the box: what is left of f after moving t, u and v
// within the box to make it small, by two rounds of coordinate descent. Any direction is allowed,
// so its rounding does not matter. (D.18)
static void separating_direction(const Centre* c, double* y) {
    double g[3][4], r[4];
    v4_store(y, c->f);
    v4_store(g[0], c->ft);
    v4_store(g[1], c->fu);
    v4_store(g[2], c->fv);
    v4_store(r, c->rad);
    double x[3] = {0.0, 0.0, 0.0};
    for (int step = 0; step < 6; ++step) {
        int k = step % 3;
        const double* e = g[k];
        double ee = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
        if (ee > 0.0) {
            double to = x[k] - (e[0] * y[0] + e[1] * y[1] + e[2] * y[2]) / ee;
            to = to < -r[k] ? -r[k] : to > r[k] ? r[k] : to;
            for (int i = 0; i < 3; ++i) {
                y[i] += (to - x[k]) * e[i];
            }
            x[k] = to;
        }
    }
}

// Lanes x, y, z of `a`, and its product with the direction y in the spare lane.
static inline V4 with_direction(V4 a, const double* y) {
    double x[4];
    v4_store(x, a);
    double dot = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    return v4_set(x[0], x[1], x[2], dot);
}

static inline double lanes_max(V4 a) {
    double x[4];
    v4_store(x, a);
    return greater(greater(x[0], x[1]), greater(x[2], x[3]));
}

// F and its derivatives along four directions, one to a lane, and what may be added to F there.
typedef struct Rows {
    V4 f, ft, fu, fv, db, dc, bound;
} Rows;

// Shrinks the box by each row for each unknown, the others at their best; false when nothing is
// left. (D.18)
static bool contract_rows(const Search* s, const Centre* c, const Rows* rows, Box* box) {
    V4 tr = v4_spread0(c->rad), ur = v4_spread1(c->rad), vr = v4_spread2(c->rad);
    V4 et = v4_mul(v4_abs(rows->ft), tr), eu = v4_mul(v4_abs(rows->fu), ur);
    V4 ev = v4_mul(v4_abs(rows->fv), vr), db = v4_abs(rows->db), dc = v4_abs(rows->dc);
    V4 bt = v4_mul(db, tr), ct = v4_mul(dc, tr), shift = v4_all(0.0);
    if (c->excess > 0.0) {
        shift = triangle_shift(rows->fu, rows->fv, bt, ct, c->excess);
    }
    V4 moved = v4_add(rows->f, shift), reach = v4_sub(v4_add(eu, ev), v4_abs(shift));
    V4 bend = v4_add(v4_mul(bt, ur), v4_mul(ct, vr));
    V4 all = v4_add(v4_add(v4_add(et, reach), bend), rows->bound);
    if (v4_above(v4_abs(moved), all) != 0) {
        return false;
    }
    V4 low[3], high[3];
    double lo[3], hi[3];
    solve_lanes(moved, rows->ft, v4_add(v4_mul(db, ur), v4_mul(dc, vr)), v4_add(reach, rows->bound),
                &low[0], &high[0]);
    V4 rest = v4_add(v4_add(et, ev), v4_add(v4_mul(ct, vr), rows->bound));
    solve_lanes(rows->f, rows->fu, bt, rest, &low[1], &high[1]);
    rest = v4_add(v4_add(et, eu), v4_add(v4_mul(bt, ur), rows->bound));
    solve_lanes(rows->f, rows->fv, ct, rest, &low[2], &high[2]);
    for (int i = 0; i < 3; ++i) {
        lo[i] = lanes_max(low[i]);
        hi[i] = -lanes_max(v4_neg(high[i]));
    }
    return cut_box(s, c, v4_set(lo[0], lo[1], lo[2], 0.0), v4_set(hi[0], hi[1], hi[2], 0.0), box);
}

// The coordinates of F themselves, and F along a separating direction. With a separation, or where
// the parts are parallel, the contacts may be a whole segment or face: this is what bounds their
// time, and what tells parallel parts apart. (D.18)
static bool contract_axes(const Search* s, const Centre* c, Box* box) {
    double y[4], m[4], d = s->separation;
    separating_direction(c, y);
    v4_store(m, s->margin);
    double sum = fabs(y[0]) + fabs(y[1]) + fabs(y[2]);
    double norm = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    double along = fabs(y[0]) * m[0] + fabs(y[1]) * m[1] + fabs(y[2]) * m[2];
    double support = d * (s->euclid ? norm : sum) * (1.0 + 0x1p-48);
    Rows rows = {.f = with_direction(c->f, y),
                 .ft = with_direction(c->ft, y),
                 .fu = with_direction(c->fu, y),
                 .fv = with_direction(c->fv, y),
                 .db = with_direction(s->db, y),
                 .dc = with_direction(s->dc, y),
                 .bound = v4_set(m[0] + d, m[1] + d, m[2] + d, 2.0 * along + support + CCD_TINY)};
    return contract_rows(s, c, &rows, box);
}

// Maximum norm with a separation: the directions e x g, e along an axis and g one of F_u, F_v, are
// those in which an edge of the cube meets an edge of the range. The rows of e_x, e_y, e_z together
// are the cross product with g. (D.19)
static bool contract_cube(const Search* s, const Centre* c, V4 g, V4 g_bound, Box* box) {
    V4 a = v4_abs(g), d = v4_all(s->separation * (1.0 + 0x1p-48));
    V4 support = v4_mul(d, v4_add(v4_yzx(a), v4_zxy(a)));
    V4 margin = v4_mul(v4_all(2.0), v4_cross_abs(g_bound, s->margin));
    Rows rows = {.f = v4_cross(g, c->f),
                 .ft = v4_cross(g, c->ft),
                 .fu = v4_cross(g, c->fu),
                 .fv = v4_cross(g, c->fv),
                 .db = v4_cross(g, s->db),
                 .dc = v4_cross(g, s->dc),
                 .bound = v4_add(v4_add(support, margin), v4_all(CCD_TINY))};
    return contract_rows(s, c, &rows, box);
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

// The nearest of a few places of the box at its first time; returns |F| there. In the maximum
// norm, and where B and C are parallel, least squares are only a guess: corners are tried too.
static double nearest_sample(const Search* s, const Box* box, double* u, double* v) {
    nearest_place(s, box, u, v);
    double best = distance_at(s, box->lo[0], *u, *v);
    for (int i = 0; i < 4 && best > s->separation; ++i) {
        double cu = i % 2 == 0 ? box->lo[1] : box->hi[1];
        double cv = i / 2 == 0 ? box->lo[2] : box->hi[2];
        cv = s->triangle ? lesser(cv, 1.0 - cu) : cv;
        double distance = distance_at(s, box->lo[0], cu, cv);
        if (distance < best && cv >= 0.0) {
            best = distance;
            *u = cu;
            *v = cv;
        }
    }
    return best;
}

// A convex polygon of the (u, v) plane.
typedef struct Polygon {
    int count;
    double u[16], v[16];
} Polygon;

// Keeps the part where r + p u + q v <= 0.
static void clip_polygon(Polygon* polygon, double r, double p, double q) {
    Polygon out = {.count = 0};
    for (int i = 0; i < polygon->count; ++i) {
        int j = (i + 1) % polygon->count;
        double u0 = polygon->u[i], v0 = polygon->v[i], u1 = polygon->u[j], v1 = polygon->v[j];
        double f0 = r + p * u0 + q * v0, f1 = r + p * u1 + q * v1;
        if (f0 <= 0.0 && out.count < 16) {
            out.u[out.count] = u0;
            out.v[out.count++] = v0;
        }
        if ((f0 < 0.0) != (f1 < 0.0) && f0 != f1 && out.count < 16) {
            double x = f0 / (f0 - f1);
            out.u[out.count] = u0 + x * (u1 - u0);
            out.v[out.count++] = v0 + x * (v1 - v0);
        }
    }
    *polygon = out;
}

// Maximum norm: a place of the box where every coordinate of F is within `reach` at its first time,
// the middle of all of them. False when there is none, as far as rounding tells.
static bool place_within(const Search* s, const Box* box, double reach, double* u, double* v) {
    double a[4], b[4], c[4], t = box->lo[0];
    v4_store(a, v4_add(s->a0, v4_mul(v4_all(t), s->da)));
    v4_store(b, v4_add(s->b0, v4_mul(v4_all(t), s->db)));
    v4_store(c, v4_add(s->c0, v4_mul(v4_all(t), s->dc)));
    Polygon polygon = {4,
                       {box->lo[1], box->hi[1], box->hi[1], box->lo[1]},
                       {box->lo[2], box->lo[2], box->hi[2], box->hi[2]}};
    if (s->triangle) {
        clip_polygon(&polygon, -1.0, 1.0, 1.0);
    }
    for (int i = 0; i < 3; ++i) {
        clip_polygon(&polygon, a[i] - reach, b[i], c[i]);
        clip_polygon(&polygon, -a[i] - reach, -b[i], -c[i]);
    }
    double su = 0.0, sv = 0.0;
    for (int i = 0; i < polygon.count; ++i) {
        su += polygon.u[i];
        sv += polygon.v[i];
    }
    if (polygon.count > 0) {
        *u = clamp(su / polygon.count, box->lo[1], box->hi[1]);
        *v = clamp(sv / polygon.count, box->lo[2], s->triangle ? 1.0 - *u : box->hi[2]);
    }
    return polygon.count > 0;
}

// The time in the box at which F(., u, v) is smallest.
static double nearest_time(const Search* s, const Box* box, double u, double v) {
    double f[4], ft[4];
    v4_store(f, v4_add(v4_add(s->a0, v4_mul(v4_all(u), s->b0)), v4_mul(v4_all(v), s->c0)));
    v4_store(ft, v4_add(v4_add(s->da, v4_mul(v4_all(u), s->db)), v4_mul(v4_all(v), s->dc)));
    double slope = ft[0] * ft[0] + ft[1] * ft[1] + ft[2] * ft[2];
    double t = -(f[0] * ft[0] + f[1] * ft[1] + f[2] * ft[2]) / slope;
    return slope > 0.0 ? clamp(t, box->lo[0], box->hi[0]) : box->lo[0];
}

static void keep_sample(Search* s, double t, double u, double v, double distance) {
    if (!s->best.collision || t < s->best.time) {
        s->best.collision = true;
        s->best.time = t;
        s->best.u = u;
        s->best.v = v;
        s->best.tolerance = greater(distance - s->separation, 0.0) + v4_top3(s->margin);
    }
}

// Reports the best contact at an earlier time t; the way from there is added to its tolerance.
static void report_earlier(Search* s, double t) {
    if (t < s->best.time) {
        double speed = (s->euclid ? 2.0 : 1.0) * v4_top3(s->gt); // 2 > sqrt(3)
        s->best.tolerance += speed * (s->best.time - t);
        s->best.time = t;
    }
}

// Looks for a contact in the box by sampling: within rounding, or, with a separation, within a
// small share of it. One at the first time of the box settles the box (true); one later bounds the
// time of all that is left. (D.15)
static bool touches_at_once(Search* s, const Box* box) {
    double u, v, t = box->lo[0];
    if (s->best.collision && s->best.time <= t + TIME_SLACK) {
        report_earlier(s, t);
        return true;
    }
    double distance = nearest_sample(s, box, &u, &v);
    double allowed =
        s->separation + lesser(s->tolerance, s->separation * 0x1p-6) + v4_top3(s->margin);
    if (!(distance <= allowed) && s->separation > 0.0 && !s->euclid) {
        distance = place_within(s, box, allowed, &u, &v) ? distance_at(s, t, u, v) : distance;
    }
    if (!(distance <= allowed)) {
        t = nearest_time(s, box, u, v);
        distance = distance_at(s, t, u, v);
    }
    if (distance <= allowed) {
        keep_sample(s, t, u, v, distance);
    }
    if (s->best.collision && s->best.time <= box->lo[0] + TIME_SLACK) {
        report_earlier(s, box->lo[0]);
        return true;
    }
    return false;
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
    double before = greater(et, greater(eu, ev));
    et *= r[0];
    eu *= r[1];
    ev *= r[2];
    double after = greater(et, greater(eu, ev));
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
    if (!contract_flat(s, &c, &adjugate, box) || !contract_axes(s, &c, box)) {
        return BOX_EMPTY;
    }
    if (s->separation > 0.0 && !s->euclid &&
        !(contract_cube(s, &c, c.fu, s->gu, box) && contract_cube(s, &c, c.fv, s->gv, box))) {
        return BOX_EMPTY;
    }
    if (shrunk_enough(&c, box, axis)) {
        return BOX_AGAIN;
    }
    if (touches_at_once(s, box)) {
        return BOX_HIT;
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
    const Box* first = s->count > 0 && s->queue[0].lo[0] < box->lo[0] ? &s->queue[0] : box;
    Centre c;
    evaluate(s, first, &c);
    s->limited = true;
    keep_hit(s, first, range_width(s, &c));
}

// This box cannot bring a contact earlier than the best one by more than the slack. When no other
// can, the search is over, at the earliest time left.
static bool settle(Search* s, const Box* box) {
    double first = box->lo[0];
    if (s->count > 0 && s->queue[0].lo[0] < first) {
        first = s->queue[0].lo[0];
    }
    if (first < s->best.time - TIME_SLACK) {
        return false;
    }
    report_earlier(s, first);
    return true;
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
            bool earlier = s->count > 0 && s->queue[0].lo[0] < box.lo[0] - TIME_SLACK;
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
        if (s->best.collision && box.lo[0] >= s->best.time - TIME_SLACK && settle(s, &box)) {
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

static inline void start_search(Search* s, double max_time) {
    s->best = (TdlCcdResult){.time = INFINITY};
    s->checks = s->count = 0;
    s->limited = false;
    search(s, (Box){{0.0, 0.0, 0.0, 0.0}, {max_time, 1.0, 1.0, 0.0}});
}

static inline void finish(const Search* s, TdlCcdResult* result) {
    *result = s->best;
    result->boxes = s->checks;
    result->limited = s->limited;
}

// Fills a search from a scaled form.
static void load_form(const CcdForm* form, const CcdLimits* limits, Search* s) {
    s->a0 = v4_load(form->a0);
    s->da = v4_load(form->da);
    s->b0 = v4_load(form->b0);
    s->db = v4_load(form->db);
    s->c0 = v4_load(form->c0);
    s->dc = v4_load(form->dc);
    s->separation = limits->separation;
    s->tolerance = limits->tolerance;
    s->triangle = form->triangle;
    s->euclid = limits->euclid;
    s->max_checks = limits->max_checks;
    s->refine_left = limits->refine_checks;
    // what the scaling lost is counted as a size that costs as many roundings
    V4 size = v4_add(v4_load(form->size), v4_all(form->tiny / CCD_U));
    set_margins(s, v4_load(form->b1), v4_load(form->c1), size);
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
    load_form(&form, &limits, &s);
    start_search(&s, limits.max_time);
    finish(&s, result);
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
    s.max_checks = options->max_checks > 0 ? options->max_checks : CCD_CHECKS_CONTRACT;
    s.refine_left = options->refine_checks;
    set_margins(&s, b1, c1, size);
    start_search(&s, options->max_time);
    finish(&s, result);
    return true;
}
