// Continuous collision detection by contraction: the body of ccd_contract_scalar.c and
// ccd_contract_avx2.c, which differ only in the lanes they put below it.
//
// Boxes of (t, u, v) wait in a heap, earliest first. A box is dropped when one coordinate of F, or
// one of the rows of the adjugate of its Jacobian times F, keeps away from zero over it (K.6,
// K.10); the same rows bound t, u and v within it to second order (K.12), so that a simple root is
// reached in a few boxes where bisection needs twenty levels; a box is split only where that fails.
// The earliest box that is small enough is the answer. About 30 ns a box.
//
// The bounds hold for the roundings as written: built with -ffp-contract=off.
#include "detect/ccd_rows.h"
#include "detect/ccd_sample.h"

typedef enum Verdict { BOX_DONE, BOX_AGAIN, BOX_SPLIT } Verdict;

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

// Size of F's range over a box, in the norm of the search. (K.14)
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
        return BOX_DONE;
    }

    // small enough, or no longer distinguishable from a point
    double width = range_width(s, &c);
    bool small = width <= s->tolerance;
    if ((small && s->refine_left == 0) || v4_above(c.extent, s->margin) == 0) {
        keep_hit(s, box, width);
        return BOX_DONE;
    }
    if (small && settled_by_sample(s, box)) {
        return BOX_DONE;
    }

    // regular rows first; where they do not help, those for a flat range
    Adjugate adjugate;
    if (!contract(s, &c, &adjugate, box)) {
        return BOX_DONE;
    }
    // what is left may touch throughout; sampled last, as it costs more than the rows
    if (!small && s->separation > 0.0 && settled_by_sample(s, box)) {
        return BOX_DONE;
    }
    if (shrunk_enough(&c, box, axis)) {
        return BOX_AGAIN;
    }
    if (!contract_flat(s, &c, &adjugate, box) || !contract_axes(s, &c, box)) {
        return BOX_DONE;
    }
    if (s->separation > 0.0 && !s->euclid &&
        !(contract_cube(s, &c, c.fu, s->gu, box) && contract_cube(s, &c, c.fv, s->gv, box))) {
        return BOX_DONE;
    }
    if (shrunk_enough(&c, box, axis)) {
        return BOX_AGAIN;
    }
    if (settled_by_sample(s, box)) {
        return BOX_DONE;
    }

    // a small box that only rounding keeps from shrinking holds a root as far as can be told
    if (small) {
        bool noise = (adjugate.regular & 7) == 7 && (adjugate.clear >> *axis & 1) == 0;
        s->refine_left = noise ? 0 : s->refine_left - 1;
        if (s->refine_left == 0) {
            keep_hit(s, box, width);
            return BOX_DONE;
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
        return BOX_DONE;
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

// Margins from the sizes of the coefficients. (K.7), (K.11)
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

// The points of a query, x, y, z in lanes.
typedef struct Points {
    V4 p[4], q[4]; // at t = 0 and t = 1
} Points;

// Loads the points; false when one is not finite: x - x is 0 for finite x only.
static inline bool load_points(const TdlCcdQuery* query, Points* points) {
    const double *start = &query->start[0].x, *end = &query->end[0].x;
    V4 zeros = v4_all(0.0);
    for (int i = 0; i < 4; ++i) {
        V4 p = v4_load3(start + 3 * i), q = v4_load3(end + 3 * i);
        zeros = v4_add(zeros, v4_add(v4_sub(p, p), v4_sub(q, q)));
        points->p[i] = p;
        points->q[i] = q;
    }
    double check[4];
    v4_store(check, zeros);
    return check[0] == 0.0 && check[1] == 0.0 && check[2] == 0.0;
}

// Smallest and largest difference of the two parts at one end of the step.
static inline void end_range(const V4* p, bool face, V4* low, V4* high) {
    V4 a_low = face ? p[0] : v4_min(p[0], p[1]), a_high = face ? p[0] : v4_max(p[0], p[1]);
    V4 b_low = v4_min(p[2], p[3]), b_high = v4_max(p[2], p[3]);
    b_low = face ? v4_min(b_low, p[1]) : b_low;
    b_high = face ? v4_max(b_high, p[1]) : b_high;
    *low = v4_sub(a_low, b_high);
    *high = v4_sub(a_high, b_low);
}

// Apart along an axis at both ends: apart throughout, without any rounding. (K.3)
static inline bool points_apart(const Points* points, bool face, double separation) {
    V4 low0, high0, low1, high1, d = v4_all(separation);
    end_range(points->p, face, &low0, &high0);
    end_range(points->q, face, &low1, &high1);
    return (v4_above(v4_min(low0, low1), d) | v4_above(v4_neg(v4_max(high0, high1)), d)) != 0;
}

// The form (K.2) without scaling; false when its size asks for the scaled one.
static inline bool load_directly(const Points* points, const TdlCcdOptions* options, Search* s) {
    const V4 *p = points->p, *q = points->q;
    bool face = s->triangle;
    s->a0 = face ? v4_sub(p[0], p[1]) : v4_sub(p[0], p[2]);
    s->b0 = face ? v4_sub(p[1], p[2]) : v4_sub(p[1], p[0]);
    s->c0 = face ? v4_sub(p[1], p[3]) : v4_sub(p[2], p[3]);
    V4 a1 = face ? v4_sub(q[0], q[1]) : v4_sub(q[0], q[2]);
    V4 b1 = face ? v4_sub(q[1], q[2]) : v4_sub(q[1], q[0]);
    V4 c1 = face ? v4_sub(q[1], q[3]) : v4_sub(q[2], q[3]);
    V4 size = v4_add(v4_add(v4_max(v4_abs(s->a0), v4_abs(a1)), v4_max(v4_abs(s->b0), v4_abs(b1))),
                     v4_max(v4_abs(s->c0), v4_abs(c1)));
    double top = v4_top3(size);
    if (!(top <= 0x1p100 && top >= 0x1p-100 && options->min_separation <= 0x1p100)) {
        return false;
    }
    s->da = v4_sub(a1, s->a0);
    s->db = v4_sub(b1, s->b0);
    s->dc = v4_sub(c1, s->c0);
    s->separation = options->min_separation;
    s->tolerance = options->tolerance;
    s->euclid = options->norm == TDL_CCD_NORM_EUCLID;
    s->max_checks = options->max_checks > 0 ? options->max_checks : CCD_CHECKS_CONTRACT;
    s->refine_left = options->refine_checks;
    set_margins(s, b1, c1, size);
    return true;
}

static bool contract_query(const TdlCcdQuery* query, const TdlCcdOptions* options,
                           TdlCcdResult* result) {
    bool face = query->kind == TDL_CCD_VERTEX_FACE;
    Points points;
    if (!load_points(query, &points)) {
        return false;
    }
    if (points_apart(&points, face, options->min_separation)) {
        *result = (TdlCcdResult){.time = INFINITY, .boxes = 1};
        return true;
    }
    Search s;
    s.triangle = face;
    if (!load_directly(&points, options, &s)) {
        contract_scaled(query, options, result);
        return true;
    }
    start_search(&s, options->max_time);
    finish(&s, result);
    return true;
}
