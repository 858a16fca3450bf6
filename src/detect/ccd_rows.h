// Contraction of a box by rows y.F: regular rows, rows of a flat range, axes and a separating
// direction, and the edges of the cube. docs/theory/ccd.md section 3.
#ifndef TDL_DETECT_CCD_ROWS_H
#define TDL_DETECT_CCD_ROWS_H

#include "detect/ccd_box.h"

// Bounds of an unknown x, |x| <= 1, from g + (factor + e) x + rest = 0 with |e| <= vary and
// |rest| <= bound, lane by lane; [-2, 2] where the factor may vanish. (K.12), (K.13)
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

// Shrinks the box by the three rows of the adjugate; false when nothing is left. (K.10)-(K.13)
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

// Margins of the flat rows for each of the three normals. (K.17)
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
// second order. (K.16), (K.17)
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
// so its rounding does not matter. (K.18)
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
// left. (K.18)
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
// time, and what tells parallel parts apart. (K.18)
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
// are the cross product with g. (K.19)
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

#endif
