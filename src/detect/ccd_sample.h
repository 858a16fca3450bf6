// Contacts found by looking at points of a box: they bound the time of impact from above and end
// the search where many boxes would touch. (K.15)
#ifndef TDL_DETECT_CCD_SAMPLE_H
#define TDL_DETECT_CCD_SAMPLE_H

#include "detect/ccd_box.h"

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
// time of all that is left. (K.15)
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

#endif
