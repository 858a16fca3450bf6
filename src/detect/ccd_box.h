// Boxes of (t, u, v) in the contracting search, and the range of F over one. Included by the two
// versions of ccd_contract.h, below their lanes.
#ifndef TDL_DETECT_CCD_BOX_H
#define TDL_DETECT_CCD_BOX_H

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
    V4 margin;                 // (K.7)
    V4 row_margin;             // lanes: the rows for t, u, v; (K.11)
    V4 gt, gu, gv, size;       // bounds of |F_t|, |F_u|, |F_v| and |F|
    V4 flat_margin[3];         // margins of the flat rows, by the normal chosen; (K.17)
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

static inline V4 dot_rows(V4 yx, V4 yy, V4 yz, V4 a) {
    return v4_add(v4_add(v4_mul(yx, v4_spread0(a)), v4_mul(yy, v4_spread1(a))),
                  v4_mul(yz, v4_spread2(a)));
}

// The corner that u + v <= 1 cuts off a box reaches beyond the line by `excess`; where u and v pull
// F the same way, the range ends earlier on that side. Returns half of that, signed: the centre
// moves by it and the radius loses it. (K.5)
static inline V4 triangle_shift(V4 fu, V4 fv, V4 u_vary, V4 v_vary, double excess) {
    V4 zero = v4_all(0.0);
    V4 pull = v4_min(v4_sub(v4_abs(fu), u_vary), v4_sub(v4_abs(fv), v_vary));
    V4 half = v4_mul(v4_all(0.5 * excess), v4_max(pull, zero));
    V4 signed_half = v4_pick_above(fu, zero, v4_neg(half), half);
    return v4_pick_above(v4_mul(fu, fv), zero, signed_half, zero);
}

// (K.4)
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

// True when F keeps farther than the separation from zero over the box, by its coordinates. (K.6)
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

// What a separation adds to the right-hand side of a row: its support function. (K.9)
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

#endif
