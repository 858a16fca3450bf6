// Contacts found by looking at points of a box: they bound the time of impact from above and end
// the search where many boxes would touch. (K.15)
#ifndef TDL_DETECT_CCD_SAMPLE_H
#define TDL_DETECT_CCD_SAMPLE_H

#include "detect/ccd_box.h"

#include <string.h>

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

// Steps towards an earlier contact from one sample.
enum { EARLIER_PASSES = 4 };

// The first time from that of the box on at which F(., u, v) comes within `reach` in the norm of
// the search, as far as rounding tells; infinity when it does not.
static double first_time(const Search* s, const Box* box, double reach, double u, double v) {
    double f[4], ft[4], start = box->lo[0], end = box->hi[0];
    V4 slope = v4_add(v4_add(s->da, v4_mul(v4_all(u), s->db)), v4_mul(v4_all(v), s->dc));
    V4 at = v4_add(v4_add(s->a0, v4_mul(v4_all(u), s->b0)), v4_mul(v4_all(v), s->c0));
    v4_store(f, v4_add(at, v4_mul(v4_all(start), slope)));
    v4_store(ft, slope);
    if (s->euclid) {
        // |f + x ft|^2 = reach^2, the smaller root
        double a = ft[0] * ft[0] + ft[1] * ft[1] + ft[2] * ft[2];
        double b = f[0] * ft[0] + f[1] * ft[1] + f[2] * ft[2];
        double c = f[0] * f[0] + f[1] * f[1] + f[2] * f[2] - reach * reach;
        double root = b * b - a * c;
        return b < 0.0 && root >= 0.0 ? start + c / (-b + sqrt(root)) : INFINITY;
    }
    double enter = 0.0, leave = end - start;
    for (int i = 0; i < 3; ++i) {
        double x = fabs(f[i]) <= reach ? 0.0 : (copysign(reach, f[i]) - f[i]) / ft[i];
        double y = (copysign(reach, ft[i]) - f[i]) / ft[i];
        enter = x >= 0.0 ? greater(enter, x) : INFINITY;
        leave = y < leave ? y : leave;
    }
    return enter <= leave ? start + enter : INFINITY;
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

// Keeps the earliest contact found by taking (u, v) and its first time within `reach` in turn; what
// is later in the box is cut off. (K.21)
static void keep_earliest(Search* s, Box* box, double reach, double allowed, double u, double v) {
    Box late = *box;
    for (int pass = 0; pass < EARLIER_PASSES; ++pass) {
        double t = first_time(s, box, reach, u, v);
        double distance = distance_at(s, t, u, v);
        if (!(t >= box->lo[0] && t < late.hi[0] && distance <= allowed)) {
            break;
        }
        late.lo[0] = late.hi[0] = t;
        keep_sample(s, t, u, v, distance);
        if (s->euclid) {
            nearest_place(s, &late, &u, &v);
        } else if (!place_within(s, &late, reach, &u, &v)) {
            break;
        }
    }
    if (s->best.collision && s->best.time < box->hi[0]) {
        box->hi[0] = s->best.time;
    }
}

static inline double dot3(const double* a, const double* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The corners of the box in (u, v), for a face without what lies beyond u + v = 1.
static int corners(const Search* s, const Box* box, double* u, double* v) {
    double u_lo = box->lo[1], u_hi = box->hi[1], v_lo = box->lo[2], v_hi = box->hi[2];
    bool cut = s->triangle && (u_hi + v_hi) - 1.0 > 0.0;
    const double us[5] = {u_lo, u_hi, u_lo, u_hi, cut ? 1.0 - v_hi : u_hi};
    const double vs[5] = {v_lo, v_lo, v_hi, cut ? 1.0 - u_hi : v_hi, v_hi};
    memcpy(u, us, sizeof us);
    memcpy(v, vs, sizeof vs);
    return cut ? 5 : 4;
}

// Along y, F at the nearest place of the first time, F keeps off until a corner of the box comes
// within the separation: the first time moves there. False when that is after the box. (K.22)
static bool advance(const Search* s, Box* box, double at_u, double at_v) {
    V4 t = v4_all(box->lo[0]);
    V4 at_a = v4_add(s->a0, v4_mul(t, s->da));
    V4 at_b = v4_add(s->b0, v4_mul(t, s->db));
    V4 at_c = v4_add(s->c0, v4_mul(t, s->dc));
    double a[4], b[4], c[4], da[4], db[4], dc[4], m[4], y[4], u[5], v[5];
    v4_store(a, at_a);
    v4_store(b, at_b);
    v4_store(c, at_c);
    v4_store(da, s->da);
    v4_store(db, s->db);
    v4_store(dc, s->dc);
    v4_store(m, s->margin);
    v4_store(y, v4_add(v4_add(at_a, v4_mul(v4_all(at_u), at_b)), v4_mul(v4_all(at_v), at_c)));
    const double size[3] = {fabs(y[0]), fabs(y[1]), fabs(y[2])};
    double norm = s->euclid ? sqrt(dot3(y, y)) : size[0] + size[1] + size[2];
    double bound = s->separation * norm * (1.0 + 0x1p-48) + 2.0 * dot3(size, m) + CCD_TINY;
    double ya = dot3(y, a) - bound, yb = dot3(y, b), yc = dot3(y, c);
    double sa = dot3(y, da), sb = dot3(y, db), sc = dot3(y, dc);
    double wait = 2.0;
    for (int i = corners(s, box, u, v) - 1; i >= 0; --i) {
        double gap = ya + u[i] * yb + v[i] * yc, rate = sa + u[i] * sb + v[i] * sc;
        if (gap <= 0.0) {
            return true;
        }
        wait = rate < 0.0 ? lesser(wait, gap / -rate) : wait;
    }
    box->lo[0] = greater(box->lo[0], (box->lo[0] + wait) - CCD_SLACK * (1.0 + wait));
    return box->lo[0] <= box->hi[0];
}

// Looks for a contact in the box by sampling: within rounding, or, with a separation, within a
// small share of it. (K.15) One at the first time of the box settles it (true); one later cuts off
// what is later still. With a separation the first time moves to where a contact is possible; a box
// of which nothing is left is settled, too.
static bool settled_by_sample(Search* s, Box* box) {
    double u, v, t = box->lo[0];
    if (s->best.collision && s->best.time <= t + TIME_SLACK) {
        report_earlier(s, t);
        return true;
    }
    double distance = nearest_sample(s, box, &u, &v);
    double share = lesser(s->tolerance, s->separation * 0x1p-6);
    double allowed = s->separation + share + v4_top3(s->margin);
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
    if (s->separation == 0.0) {
        return false;
    }
    double near_u = u, near_v = v;
    keep_earliest(s, box, s->separation + 0.5 * share, allowed, u, v);
    return !advance(s, box, near_u, near_v);
}

#endif
