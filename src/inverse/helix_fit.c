// Piecewise helices along a curve. inverse-fit.md (V.15) to (V.22)
//
// The curve is cut into pieces of equal length; a chain of short helices is laid near their ends
// (helix_chain.c), and its rotations are given to elements of equal length. Third order, linear
// time.
#include "inverse/fit_curve.h"
#include "inverse/helix_chain.h"
#include "inverse/helix_least.h"

#include "math/rotation.h"

#include <string.h>

// The most times that a count of elements is tried for a tolerance.
enum { TRIALS_MAX = 8 };

// --- the rod ----------------------------------------------------------------------------------

// Where the element of a turn begins, and what its points are made of: (H.2) in world axes.
typedef struct Element {
    TdlVec3 x, t, side, in; // place, tangent, q x t, q x (q x t)
    double y;               // |q|^2
} Element;

static Element element_of(TdlVec3 x, TdlVec3 t, TdlVec3 q) {
    TdlVec3 side = tdl_cross3(q, t);
    return (Element){x, t, side, tdl_cross3(q, side), tdl_dot3(q, q)};
}

// c2 and c3 of (R.3). Of the short series the first term left out is 1e-15.
static void place_functions(double y, double* c2, double* c3) {
    if (y < 0.1) {
        *c2 = 0.5 - y * (1.0 / 24 - y * (1.0 / 720 - y * (1.0 / 40320 - y * (1.0 / 3628800))));
        *c3 = 1.0 / 6 - y * (1.0 / 120 - y * (1.0 / 5040 - y * (1.0 / 362880 - y / 39916800.0)));
        return;
    }
    double c[8];
    tdl_c_series(y, c);
    *c2 = c[2];
    *c3 = c[3];
}

// The tangent with which an element ends: c1 = 1 - y c3, as all of (R.3).
static TdlVec3 element_end_tangent(const Element* e) {
    double c2, c3;
    place_functions(e->y, &c2, &c3);
    return tdl_axpy3(tdl_axpy3(e->t, 1.0 - e->y * c3, e->side), c2, e->in);
}

// The place at the part s of an element of length l.
static TdlVec3 element_at(const Element* e, double l, double s) {
    double c2, c3;
    place_functions(e->y * s * s, &c2, &c3);
    TdlVec3 way = tdl_axpy3(tdl_scale3(s, e->t), s * s * c2, e->side);
    return tdl_axpy3(e->x, l, tdl_axpy3(way, s * s * s * c3, e->in));
}

// Curvatures of equally long elements, and the pose with which they begin. (V.21)
static void tell_rod(const HelixChain* chain, TdlVec3* curvature, TdlHelixFit* out) {
    TdlMat3 frame = tdl_frame_from_tangent(chain->t[0]);
    out->start = (TdlPose){chain->p[0], frame};
    out->length = chain->length;
    out->element_count = chain->count;
    out->arc_count = chain->arc_count;
    double per_l = chain->count / chain->length;
    for (int i = 0; i < chain->count; ++i) {
        curvature[i] = tdl_scale3(per_l, tdl_tmul33_3(frame, chain->turn[i]));
        frame = tdl_mul33(tdl_rotation_exp(chain->turn[i]), frame);
        out->turning += hypot(curvature[i].y, curvature[i].z) / per_l;
    }
}

// Knots in an element from which on the places between them are looked at as well, and up to which
// the element's own.
enum { SOME_KNOTS = 4, MANY_KNOTS = 8 };

// Where the error of a helix is largest (V.22), and its middle; more of them where an element turns
// by more than 1 rad or the error is above ROUGH of its length, since (V.22) says nothing there.
enum { SITES = 3, FINE_SITES = 9 };
static const double ROUGH = 0.05;
static const double SITE[SITES] = {0.21132486540518713, 0.5, 0.78867513459481287};

static double larger(double a, double b) {
    return a > b ? a : b;
}

// The squared distance of two places.
static double apart2(TdlVec3 a, TdlVec3 b) {
    TdlVec3 way = tdl_sub3(a, b);
    return tdl_dot3(way, way);
}

// That of an element from the curve, s, m, along it; the element takes `step` of it.
static double apart2_at(const Element* e, double l, const Spline* curve, double begin, double step,
                        double s, int* piece) {
    double part = (s - begin) / step;
    TdlVec3 at = element_at(e, l, part < 1.0 ? larger(part, 0.0) : 1.0);
    return apart2(at, spline_place(curve, s, piece));
}

// The largest distance of the rod from the curve: at the ends of elements, at the knots, and at
// places between those and inside elements.
static double rod_error(const HelixChain* chain, const Spline* curve, const TdlVec3* p) {
    int n = chain->count, knot = 0, piece = 0, between = 0;
    double l = chain->length / n, step = curve->s[curve->count] / n, worst = 0.0;
    TdlVec3 x = chain->p[0], t = chain->t[0]; // of the rod, which may have left the chain
    for (int i = 0; i < n; ++i) {
        Element e = element_of(x, t, chain->turn[i]);
        double begin = i * step, end = i + 1 < n ? begin + step : INFINITY;
        int first = knot;
        for (; knot <= curve->count && curve->s[knot] < end; ++knot) {
            double part = (curve->s[knot] - begin) / step;
            TdlVec3 at = element_at(&e, l, part < 1.0 ? larger(part, 0.0) : 1.0);
            worst = larger(apart2(at, curve->x[knot]), worst);
        }
        for (int k = first; knot - first >= SOME_KNOTS && k + 1 < knot; ++k) {
            double s = 0.5 * (curve->s[k] + curve->s[k + 1]);
            worst = larger(apart2_at(&e, l, curve, begin, step, s, &between), worst);
        }
        bool rough = e.y > 1.0 || worst > ROUGH * ROUGH * l * l;
        int sites = rough ? FINE_SITES : knot - first < MANY_KNOTS ? SITES : 0;
        for (int k = 0; k < sites; ++k) {
            double part = sites == SITES ? SITE[k] : (k + 1.0) / (FINE_SITES + 1.0);
            double s = begin + part * step;
            worst = larger(apart2_at(&e, l, curve, begin, step, s, &piece), worst);
        }
        x = element_at(&e, l, 1.0);
        t = element_end_tangent(&e);
        worst = larger(apart2(x, p[i + 1]), worst);
    }
    return sqrt(worst);
}

// --- fits -------------------------------------------------------------------------------------

// The mean angle between the tangents of an element below which least squares would find what is
// there already, rad: the chain is at the third order's own error.
static const double COARSE = 0.1;

typedef struct Trial {
    HelixChain chain;
    const Spline* curve;
    TdlVec3 *p, *t; // [count + 1] of the curve, where elements begin and end
} Trial;

static bool make_trial(Arena* arena, const Spline* curve, const TdlFitOptions* options, int count,
                       Trial* out) {
    out->curve = curve;
    out->p = ARENA_NEW(arena, TdlVec3, count + 1);
    out->t = ARENA_NEW(arena, TdlVec3, count + 1);
    HelixChain* chain = &out->chain;
    if (out->p == NULL || out->t == NULL ||
        !helix_chain_reserve(arena, count, options->closed, chain)) {
        return false;
    }
    double length = curve->s[curve->count];
    int piece = 0;
    chain->l = length / count;
    for (int i = 0; i <= count; ++i) {
        SplinePoint at = spline_at(curve, i < count ? i * chain->l : length, &piece);
        out->p[i] = chain->p[i] = at.x;
        out->t[i] = chain->t[i] = at.tangent;
    }
    return true;
}

// The mean angle between the tangents of an element, rad.
static double mean_angle(const Trial* trial) {
    int n = trial->chain.count;
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += tdl_norm3(tdl_sub3(trial->t[i + 1], trial->t[i]));
    }
    return sum / n;
}

// The turns of a chain, in the axes of the material.
static void guess_by_chain(const HelixChain* chain, LeastRod* rod) {
    TdlMat3 frame = tdl_frame_from_tangent(chain->t[0]);
    rod->rotation = frame;
    for (int i = 0; i < rod->count; ++i) {
        rod->q[i] = tdl_tmul33_3(frame, chain->turn[i]);
        frame = tdl_mul33(tdl_rotation_exp(chain->turn[i]), frame);
    }
}

static void rod_to_chain(const LeastRod* rod, HelixChain* chain) {
    TdlMat3 frame = rod->rotation;
    chain->p[0] = rod->position;
    chain->length = rod->l * rod->count;
    chain->arc_count = 0;
    for (int i = 0; i < rod->count; ++i) {
        chain->t[i] = frame.cx;
        chain->turn[i] = tdl_mul33_3(frame, rod->q[i]);
        frame = tdl_mul33(frame, tdl_rotation_exp(rod->q[i]));
    }
    chain->t[rod->count] = frame.cx;
}

// The better of the chain, whose error is told, and of what least squares find from two guesses:
// the chain's own turns, and what the tangents say within an element.
static bool choose(Arena* arena, Trial* trial, double* error) {
    int n = trial->chain.count, total = n * LEAST_SAMPLES;
    LeastRod rod = {.count = n, .l = trial->chain.l, .position = trial->p[0]};
    rod.q = ARENA_NEW(arena, TdlVec3, n);
    TdlVec3* x = ARENA_NEW(arena, TdlVec3, total + 1);
    TdlVec3* tangent = ARENA_NEW(arena, TdlVec3, 2 * total + 1);
    HelixChain others[2];
    if (rod.q == NULL || x == NULL || tangent == NULL ||
        !helix_chain_reserve(arena, n, false, &others[0]) ||
        !helix_chain_reserve(arena, n, false, &others[1])) {
        return false;
    }
    double length = trial->curve->s[trial->curve->count];
    int piece = 0;
    for (int i = 0; i <= 2 * total; ++i) { // every second one is a place to come near
        SplinePoint at = spline_at(trial->curve, 0.5 * length * i / total, &piece);
        tangent[i] = at.tangent;
        x[i / 2] = i % 2 == 0 ? at.x : x[i / 2];
    }
    const HelixChain first = trial->chain;
    for (int guess = 0; guess < 2; ++guess) {
        if (guess == 0) {
            helix_guess(tangent, 2 * LEAST_SAMPLES, &rod);
        } else {
            guess_by_chain(&first, &rod);
        }
        if (!helix_least(arena, &rod, x + 1)) {
            return false;
        }
        rod_to_chain(&rod, &others[guess]);
        double reached = rod_error(&others[guess], trial->curve, trial->p);
        if (reached < *error && fit_is_sane(1.0, n, rod.q)) {
            *error = reached;
            trial->chain = others[guess];
        }
    }
    return true;
}

static TdlStatus fit_count(Arena* arena, const Spline* curve, const TdlFitOptions* options,
                           int count, TdlVec3* curvature, TdlHelixFit* out) {
    ArenaMark mark = arena_mark(arena);
    Trial trial;
    if (!make_trial(arena, curve, options, count, &trial)) {
        return TDL_STATUS_NO_MEMORY;
    }
    helix_chain_fit(&trial.chain, options->method);
    double error = rod_error(&trial.chain, curve, trial.p);
    bool least = options->least_squares && options->method == TDL_FIT_FLOATING &&
                 mean_angle(&trial) > COARSE;
    if (least && !choose(arena, &trial, &error)) {
        return TDL_STATUS_NO_MEMORY;
    }
    *out = (TdlHelixFit){.smoothed = out->smoothed, .error = error};
    tell_rod(&trial.chain, curvature, out);
    arena_release(arena, mark);
    return TDL_STATUS_OK;
}

// The number of elements that keeps the error below the tolerance, by (V.22).
static int first_count(const Spline* curve, const TdlFitOptions* options) {
    double steepest = 0.0, before = 0.0, length = curve->s[curve->count];
    int piece = 0;
    for (int i = 0; i <= curve->count; ++i) {
        SplinePoint at = spline_at(curve, curve->s[i], &piece);
        double kappa = tdl_norm3(at.curvature);
        if (i > 0) {
            double step = curve->s[i] - curve->s[i - 1];
            steepest = fmax(steepest, fabs(kappa - before) / step);
        }
        before = kappa;
    }
    double count = length * cbrt(sqrt(3.0) / 216.0 * steepest / options->tolerance);
    return count < options->element_count ? (int)fmax(1.0, ceil(count)) : options->element_count;
}

// Tries counts until one is good and one less by a tenth is not known to be.
static TdlStatus fit_tolerance(Arena* arena, const Spline* curve, const TdlFitOptions* options,
                               TdlVec3* curvature, TdlHelixFit* out) {
    int count = first_count(curve, options), bad = 0, good = 0;
    for (int trial = 0; trial < TRIALS_MAX; ++trial) {
        TdlStatus status = fit_count(arena, curve, options, count, curvature, out);
        if (status != TDL_STATUS_OK) {
            return status;
        }
        bool met = out->error <= options->tolerance;
        *(met ? &good : &bad) = count;
        // the third order tells the next
        double ratio = cbrt(out->error / options->tolerance);
        double next = ceil(count * fmin(fmax(ratio * 1.02, 0.25), 4.0));
        int to = next < options->element_count ? (int)next : options->element_count;
        to = met ? (to <= bad ? bad + 1 : to) : (to <= count ? count + 1 : to);
        to = !met && good > 0 && to >= good ? good : to;
        if ((met && to >= count) || (!met && count == options->element_count)) {
            return TDL_STATUS_OK;
        }
        count = to;
    }
    count = good > 0 ? good : options->element_count;
    return fit_count(arena, curve, options, count, curvature, out);
}

TdlStatus tdl_helix_fit(const TdlHost* host, const TdlVec3* points, int count,
                        const TdlFitOptions* options, TdlVec3* curvature, TdlHelixFit* out) {
    *out = (TdlHelixFit){0};
    Arena arena;
    arena_init(&arena, &host->mem);
    Spline curve;
    TdlStatus status = fit_curve(&arena, points, count, options, 0, &curve, &out->smoothed);
    if (status == TDL_STATUS_OK) {
        status = options->tolerance > 0.0
                     ? fit_tolerance(&arena, &curve, options, curvature, out)
                     : fit_count(&arena, &curve, options, options->element_count, curvature, out);
    }
    arena_destroy(&arena);
    return status;
}

static TdlStatus fit_samples(Arena* arena, const TdlVec3* points, const TdlVec3* tangents,
                             double length, const TdlFitOptions* options, TdlVec3* curvature,
                             TdlHelixFit* out) {
    int count = options->element_count;
    HelixChain chain;
    if (!helix_chain_reserve(arena, count, options->closed, &chain)) {
        return TDL_STATUS_NO_MEMORY;
    }
    chain.l = length / count;
    for (int i = 0; i <= count; ++i) {
        double size = tdl_norm3(tangents[i]);
        if (!fit_point_is_good(points[i]) || !isfinite(size) || !(size > 0.0)) {
            return TDL_STATUS_BAD_ARGUMENT;
        }
        chain.p[i] = points[i];
        chain.t[i] = tdl_scale3(1.0 / size, tangents[i]);
    }
    helix_chain_fit(&chain, options->method);
    tell_rod(&chain, curvature, out);
    double l = chain.length / count;
    TdlVec3 x = chain.p[0];
    for (int i = 0; i < count; ++i) {
        Element e = element_of(x, chain.t[i], chain.turn[i]);
        out->error = fmax(out->error, tdl_norm3(tdl_sub3(x, points[i])));
        x = element_at(&e, l, 1.0);
    }
    out->error = fmax(out->error, tdl_norm3(tdl_sub3(x, points[count])));
    return TDL_STATUS_OK;
}

TdlStatus tdl_helix_fit_samples(const TdlHost* host, const TdlVec3* points, const TdlVec3* tangents,
                                double length, const TdlFitOptions* options, TdlVec3* curvature,
                                TdlHelixFit* out) {
    *out = (TdlHelixFit){0};
    if (options->element_count < 1 || !(length >= FIT_LENGTH_MIN && length <= 1.0e100) ||
        options->tolerance != 0.0 || options->smoothing != TDL_SMOOTHING_NONE) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    Arena arena;
    arena_init(&arena, &host->mem);
    TdlStatus status = fit_samples(&arena, points, tangents, length, options, curvature, out);
    arena_destroy(&arena);
    return status;
}
