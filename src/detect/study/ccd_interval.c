// Two methods that use interval arithmetic as it comes, for comparison.
//
// `interval` (multivariate): the published bisection with the natural interval extension of F. It
// misses nothing; it is slow, because each interval operation costs several roundings and the
// bounds are wider than those of the corners: u and v occur twice each.
//
// `univariate`: bisection in time of the coplanarity cubic (A x B) . C, then, in each short
// interval that may hold a root, the interval solution for u and v. It misses nothing; its false
// alarms cannot be controlled (u and v are as wide as the division makes them, and where B x C may
// vanish everything counts as a hit), and where the parts move in one plane every interval of time
// is refined to the end.
#include "detect/ccd_levels.h"

#include <float.h>
#include <math.h>

typedef struct Interval {
    double lo, hi;
} Interval;

// One rounding outwards: a relative ulp and the smallest normal number.
static Interval outward(double lo, double hi) {
    return (Interval){lo - (fabs(lo) * 0x1p-52 + DBL_MIN), hi + (fabs(hi) * 0x1p-52 + DBL_MIN)};
}

static Interval add(Interval a, Interval b) {
    return outward(a.lo + b.lo, a.hi + b.hi);
}

static Interval sub(Interval a, Interval b) {
    return outward(a.lo - b.hi, a.hi - b.lo);
}

static Interval mul(Interval a, Interval b) {
    double p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
    return outward(lesser(lesser(p, q), lesser(r, s)), greater(greater(p, q), greater(r, s)));
}

static bool holds_zero(Interval a) {
    return a.lo <= 0.0 && a.hi >= 0.0;
}

// A coefficient of the form, with the error of its subtraction and of the scaling.
static Interval coefficient(double x, double tiny) {
    double e = fabs(x) * 0x1p-52 + tiny + DBL_MIN;
    return (Interval){x - e, x + e};
}

// (1 - t) x0 + t x1
static Interval blend(const CcdForm* form, double x0, double x1, Interval t) {
    Interval one_minus = sub((Interval){1.0, 1.0}, t);
    return add(mul(one_minus, coefficient(x0, form->tiny)), mul(t, coefficient(x1, form->tiny)));
}

static bool natural_inclusion(const CcdForm* form, const double* lo, const double* width,
                              double separation, double* out_lo, double* out_hi) {
    Interval t = {lo[0], lo[0] + width[0]}, u = {lo[1], lo[1] + width[1]},
             v = {lo[2], lo[2] + width[2]};
    for (int i = 0; i < 3; ++i) {
        // as the points stand in the problem: the weights of all corners, not of differences
        Interval a = blend(form, form->a0[i], form->a1[i], t);
        Interval ab = add(a, blend(form, form->b0[i], form->b1[i], t));
        Interval c = blend(form, form->c0[i], form->c1[i], t);
        Interval f = add(mul(sub((Interval){1.0, 1.0}, u), a), mul(u, ab));
        f = add(f, mul(v, c));
        out_lo[i] = f.lo;
        out_hi[i] = f.hi;
        if (f.lo > separation || f.hi < -separation) {
            return true;
        }
    }
    return false;
}

TdlStatus ccd_interval(const TdlCcdQuery* query, const TdlCcdOptions* options,
                       TdlCcdResult* result) {
    return ccd_search_levels(query, options, natural_inclusion, result);
}

// --- univariate
// -------------------------------------------------------------------------------------

typedef struct Interval3 {
    Interval x[3];
} Interval3;

static Interval3 blend3(const CcdForm* form, const double* x0, const double* x1, Interval t) {
    Interval3 out;
    for (int i = 0; i < 3; ++i) {
        out.x[i] = blend(form, x0[i], x1[i], t);
    }
    return out;
}

static Interval3 cross(const Interval3* a, const Interval3* b) {
    Interval3 out;
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out.x[i] = sub(mul(a->x[j], b->x[k]), mul(a->x[k], b->x[j]));
    }
    return out;
}

static Interval dot(const Interval3* a, const Interval3* b) {
    return add(add(mul(a->x[0], b->x[0]), mul(a->x[1], b->x[1])), mul(a->x[2], b->x[2]));
}

// True unless A + u B + v C = 0 is impossible over the interval of time with (u, v) in the domain.
// With a separation, every coplanar interval is taken: the cubic knows no distance.
static bool may_touch(const CcdForm* form, Interval t, double separation) {
    Interval3 a = blend3(form, form->a0, form->a1, t), b = blend3(form, form->b0, form->b1, t),
              c = blend3(form, form->c0, form->c1, t);
    Interval3 n = cross(&b, &c), ca = cross(&c, &a), ab = cross(&a, &b);
    Interval nn = dot(&n, &n), un = dot(&ca, &n), vn = dot(&ab, &n);
    if (separation > 0.0 || nn.lo <= 0.0) {
        return true;
    }
    // 0 <= u n.n <= n.n, with n.n positive
    bool u_in = un.hi >= 0.0 && un.lo <= nn.hi;
    bool v_in = vn.hi >= 0.0 && vn.lo <= nn.hi;
    bool sum_in = !form->triangle || un.lo + vn.lo <= nn.hi + fabs(nn.hi) * 0x1p-51;
    return u_in && v_in && sum_in;
}

// |(A x B) . C| against what the separation can make of it
static bool may_be_coplanar(const CcdForm* form, Interval t, double separation) {
    Interval3 a = blend3(form, form->a0, form->a1, t), b = blend3(form, form->b0, form->b1, t),
              c = blend3(form, form->c0, form->c1, t);
    Interval3 n = cross(&b, &c);
    Interval f = dot(&a, &n);
    if (separation > 0.0) {
        double reach = 0.0;
        for (int i = 0; i < 3; ++i) {
            reach += greater(fabs(n.x[i].lo), fabs(n.x[i].hi));
        }
        reach *= separation * (1.0 + 0x1p-50);
        f = (Interval){f.lo - reach, f.hi + reach};
    }
    return holds_zero(f);
}

TdlStatus ccd_univariate(const TdlCcdQuery* query, const TdlCcdOptions* options,
                         TdlCcdResult* result) {
    CcdForm form;
    CcdLimits limits;
    if (!ccd_form_scaled(query, options, &form, &limits)) {
        *result = (TdlCcdResult){.collision = true, .boxes = 1};
        return TDL_STATUS_OK;
    }
    // depth first, earlier half first; the stack holds one waiting half per level
    double stack_lo[64], stack_width[64];
    int count = 1, checks = 0;
    stack_lo[0] = 0.0;
    stack_width[0] = 1.0;
    // the tolerance is one of time here
    double shortest = greater(lesser(options->tolerance, 1.0), 0x1p-49);
    *result = (TdlCcdResult){.time = INFINITY};
    while (count > 0) {
        double lo = stack_lo[--count], width = stack_width[count];
        Interval t = {lo, lo + width};
        ++checks;
        if (lo > limits.max_time || !may_be_coplanar(&form, t, limits.separation) ||
            !may_touch(&form, t, limits.separation)) {
            continue;
        }
        bool limited = checks >= limits.max_checks;
        if (width <= shortest || limited) {
            *result = (TdlCcdResult){
                .collision = true, .limited = limited, .time = lo, .tolerance = width};
            break;
        }
        stack_lo[count] = lo + 0.5 * width;
        stack_width[count++] = 0.5 * width;
        stack_lo[count] = lo;
        stack_width[count++] = 0.5 * width;
    }
    result->boxes = checks;
    return TDL_STATUS_OK;
}
