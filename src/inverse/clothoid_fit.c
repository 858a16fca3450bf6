// A super-clothoid along a curve: its curvature at the nodes. inverse-fit.md (V.28), (V.29)
//
// In a frame that is carried along the curve without twist the curvature is two functions of the
// arc length. Straight lines between their values at the nodes would turn too far in the mean where
// they are convex; values less a twelfth of their second difference turn as the curve does. The
// curve's own curvature comes from the spline's second derivative, which has an error of the same
// kind.
#include "inverse/clothoid_least.h"
#include "inverse/fit_curve.h"
#include "math/rotation.h"

#include <string.h>

// Knots at an end whose curvature is that of the next ones, carried on.
enum { ENDS = 4 };

// The curvature vector of a curve at its knots, 1/m, and its second derivative, 1/m^3.
typedef struct Bends {
    TdlVec3 *kappa, *second; // [count + 1]
} Bends;

// The parabola through the curvatures of three knots, at knot i.
static TdlVec3 extrapolate(const Spline* c, const Bends* bends, int a, int b, int d, int i) {
    double sa = c->s[a], sb = c->s[b], sd = c->s[d], s = c->s[i];
    double wa = (s - sb) * (s - sd) / ((sa - sb) * (sa - sd));
    double wb = (s - sa) * (s - sd) / ((sb - sa) * (sb - sd));
    double wd = (s - sa) * (s - sb) / ((sd - sa) * (sd - sb));
    TdlVec3 sum = tdl_scale3(wa, bends->kappa[a]);
    return tdl_axpy3(tdl_axpy3(sum, wb, bends->kappa[b]), wd, bends->kappa[d]);
}

// At its ends a spline guesses, and its second derivative is off by ten times more; that falls by
// four from knot to knot.
static void mend_ends(const Spline* c, const Bends* bends) {
    int n = c->count, off = n >= 4 * ENDS ? ENDS : 0;
    for (int i = 0; i < off; ++i) {
        bends->kappa[i] = extrapolate(c, bends, off, off + 1, off + 2, i);
        bends->kappa[n - i] = extrapolate(c, bends, n - off, n - off - 1, n - off - 2, n - i);
    }
    for (int i = 0; i < off; ++i) {
        bends->second[i] = bends->second[off];
        bends->second[n - i] = bends->second[n - off];
    }
}

static bool make_bends(Arena* arena, const Spline* c, Bends* out) {
    int n = c->count;
    out->kappa = ARENA_NEW(arena, TdlVec3, n + 1);
    out->second = ARENA_NEW(arena, TdlVec3, n + 1);
    if (out->kappa == NULL || out->second == NULL) {
        return false;
    }
    int piece = 0;
    for (int i = 0; i <= n; ++i) {
        out->kappa[i] = spline_at(c, c->s[i], &piece).curvature;
        out->second[i] = (TdlVec3){0};
    }
    for (int i = 1; i < n; ++i) {
        double a = c->s[i] - c->s[i - 1], b = c->s[i + 1] - c->s[i];
        TdlVec3 before = tdl_scale3(1.0 / a, tdl_sub3(out->kappa[i], out->kappa[i - 1]));
        TdlVec3 after = tdl_scale3(1.0 / b, tdl_sub3(out->kappa[i + 1], out->kappa[i]));
        out->second[i] = tdl_scale3(2.0 / (a + b), tdl_sub3(after, before));
    }
    if (n > 1) {
        out->second[0] = out->second[1];
        out->second[n] = out->second[n - 1];
    }
    for (int i = 0; i <= n; ++i) { // what the spline's second derivative lacks. (V.28)
        double a = i > 0 ? c->s[i] - c->s[i - 1] : c->s[1];
        double b = i < n ? c->s[i + 1] - c->s[i] : a;
        a = i > 0 ? a : b;
        out->kappa[i] = tdl_axpy3(out->kappa[i], (a * a - a * b + b * b) / 12.0, out->second[i]);
    }
    mend_ends(c, out);
    return true;
}

// Between knots: a parabola. `piece` is where s lies.
static TdlVec3 bends_at(const Spline* c, const Bends* bends, double s, int piece) {
    double h = c->s[piece + 1] - c->s[piece], v = fmin(1.0, fmax(0.0, (s - c->s[piece]) / h));
    TdlVec3 line = tdl_axpy3(tdl_scale3(1.0 - v, bends->kappa[piece]), v, bends->kappa[piece + 1]);
    TdlVec3 second = tdl_add3(bends->second[piece], bends->second[piece + 1]);
    return tdl_axpy3(line, -0.25 * v * (1.0 - v) * h * h, second);
}

// The frame carried from one place and tangent to the next by two reflections: the twist that this
// leaves is of fifth order in the step.
static TdlMat3 carry(TdlMat3 frame, TdlVec3 step, TdlVec3 tangent) {
    double cc = tdl_dot3(step, step);
    if (!(cc > 0.0)) {
        return tdl_frame_from_tangent_hint(tangent, frame.cy);
    }
    TdlVec3 y = tdl_axpy3(frame.cy, -2.0 * tdl_dot3(step, frame.cy) / cc, step);
    TdlVec3 t = tdl_axpy3(frame.cx, -2.0 * tdl_dot3(step, frame.cx) / cc, step);
    TdlVec3 other = tdl_sub3(tangent, t);
    double dd = tdl_dot3(other, other);
    y = dd > 0.0 ? tdl_axpy3(y, -2.0 * tdl_dot3(other, y) / dd, other) : y;
    return tdl_frame_from_tangent_hint(tangent, y);
}

// Curvatures in the carried frame at all nodes, not filtered yet; the first pose.
static void sample_bends(const Spline* c, const Bends* bends, int count, TdlVec3* curvature,
                         TdlHelixFit* out) {
    enum { PARTS = 4 }; // of an element, so that the frame is far better than the curvatures
    double length = c->s[c->count];
    int piece = 0;
    SplinePoint at = spline_at(c, 0.0, &piece);
    TdlMat3 frame = tdl_frame_from_tangent(at.tangent);
    out->start = (TdlPose){at.x, frame};
    curvature[0] = (TdlVec3){0};
    for (int i = 0; i <= count * PARTS; ++i) {
        double s = i < count * PARTS ? length * i / (count * PARTS) : length;
        SplinePoint next = spline_at(c, s, &piece);
        frame = i > 0 ? carry(frame, tdl_sub3(next.x, at.x), next.tangent) : frame;
        at = next;
        if (i % PARTS == 0) { // kappa' = R' (t x t'): bends about the other two axes
            TdlVec3 turn = tdl_cross3(at.tangent, bends_at(c, bends, s, piece));
            curvature[i / PARTS] =
                (TdlVec3){0.0, tdl_dot3(frame.cy, turn), tdl_dot3(frame.cz, turn)};
        }
    }
}

static TdlVec3 second_difference(const TdlVec3* x) {
    return tdl_axpy3(tdl_add3(x[0], x[2]), -2.0, x[1]);
}

// Less a twelfth of the second difference; at the ends that of the neighbours, carried on. (V.29)
static void filter(int count, TdlVec3* curvature) {
    if (count < 2) {
        return;
    }
    TdlVec3 first = second_difference(curvature), last = second_difference(curvature + count - 2);
    if (count > 2) {
        TdlVec3 inner = second_difference(curvature + 1);
        first = tdl_sub3(tdl_scale3(2.0, first), inner);
        inner = second_difference(curvature + count - 3);
        last = tdl_sub3(tdl_scale3(2.0, last), inner);
    }
    TdlVec3 own = first; // of the node at hand
    for (int i = 0; i <= count; ++i) {
        // of the next node, while it and its neighbours are as they were
        TdlVec3 next = i < count - 1 ? second_difference(curvature + i) : last;
        curvature[i] = tdl_axpy3(curvature[i], -1.0 / 12.0, own);
        own = next;
    }
}

// The frame after a step h over which the curvature goes from a to b, to fifth order. (V.29)
static TdlMat3 advance(TdlMat3 frame, TdlVec3 a, TdlVec3 b, double h) {
    TdlVec3 turn = tdl_scale3(0.5 * h, tdl_add3(a, b));
    turn = tdl_axpy3(turn, h * h / 12.0, tdl_cross3(a, b));
    return tdl_mul33(frame, tdl_rotation_exp(turn));
}

static void limit(double l, int count, TdlVec3* curvature) {
    for (int i = 0; i <= count; ++i) {
        double turn = l * tdl_norm3(curvature[i]);
        double share = turn > FIT_TURN_MOST ? FIT_TURN_MOST / turn : 1.0;
        curvature[i] = tdl_scale3(share, curvature[i]);
    }
}

// Distance from the curve at nodes, halfway, and where an element turns far at more places;
// turning. Simpson's rule over parts that turn by half a radian.
static void measure(const Spline* c, int count, const TdlVec3* curvature, TdlHelixFit* out) {
    TdlPose at = out->start;
    double l = c->s[c->count] / count;
    int piece = 0;
    for (int i = 0; i < count; ++i) {
        TdlVec3 from = curvature[i], slope = tdl_sub3(curvature[i + 1], from);
        double turn = l * fmax(tdl_norm3(from), tdl_norm3(curvature[i + 1]));
        int parts = 2 * (1 + (int)turn);
        for (int k = 0; k < parts; ++k) {
            double h = l / parts;
            TdlVec3 a = tdl_axpy3(from, (double)k / parts, slope);
            TdlVec3 middle = tdl_axpy3(from, (k + 0.5) / parts, slope);
            TdlVec3 b = tdl_axpy3(from, (k + 1.0) / parts, slope);
            TdlMat3 inside = advance(at.rotation, a, middle, 0.5 * h);
            TdlMat3 end = advance(inside, middle, b, 0.5 * h);
            TdlVec3 sum = tdl_axpy3(tdl_add3(at.rotation.cx, end.cx), 4.0, inside.cx);
            at = (TdlPose){tdl_axpy3(at.position, h / 6.0, sum), end};
            TdlVec3 x = spline_at(c, i * l + (k + 1) * h, &piece).x;
            out->error = fmax(out->error, tdl_norm3(tdl_sub3(at.position, x)));
            out->turning += h * hypot(middle.y, middle.z);
        }
    }
}

// --- least squares ----------------------------------------------------------------------------

// The joints from a chain of twice as many helices: the mean of the two that meet there, and at the
// ends what goes on with that.
static void joints_of_helices(int count, const TdlVec3* helices, TdlVec3* curvature) {
    for (int i = 1; i < count; ++i) {
        curvature[i] = tdl_scale3(0.5, tdl_add3(helices[2 * i - 1], helices[2 * i]));
    }
    int last = 2 * count - 1;
    curvature[0] = tdl_axpy3(tdl_scale3(1.5, helices[0]), -0.5, helices[1]);
    curvature[count] = tdl_axpy3(tdl_scale3(1.5, helices[last]), -0.5, helices[last - 1]);
}

// Error and turning of another rod along the curve.
static void measure_again(const Spline* c, const TdlVec3* curvature, TdlHelixFit* fit) {
    fit->error = fit->turning = 0.0;
    measure(c, fit->element_count, curvature, fit);
}

static void keep_better(const TdlHelixFit* fit, const TdlVec3* theirs, TdlVec3* curvature,
                        TdlHelixFit* out) {
    int count = fit->element_count;
    if (fit->error < out->error && fit_is_sane(fit->length / count, count + 1, theirs)) {
        *out = *fit;
        memcpy(curvature, theirs, ((size_t)count + 1) * sizeof *curvature);
    }
}

// Points of the curve that the elements are to come near.
static TdlVec3* make_targets(Arena* arena, const Spline* c, int count) {
    int total = count * LEAST_SAMPLES, piece = 0;
    TdlVec3* target = ARENA_NEW(arena, TdlVec3, total);
    for (int i = 0; i < total && target != NULL; ++i) {
        target[i] = spline_at(c, c->s[c->count] * (i + 1) / total, &piece).x;
    }
    return target;
}

// Least squares from the nearer of two rods: the one that was found, in `curvature`, and the one of
// helices, `guess`. The best of the three is told.
static bool improve(Arena* arena, const Spline* c, const TdlHelixFit* chain, TdlVec3* guess,
                    TdlVec3* curvature, TdlHelixFit* out) {
    int count = out->element_count;
    double l = out->length / count;
    TdlVec3* target = make_targets(arena, c, count);
    ClothoidRod rod = {.count = count, .l = l, .q = ARENA_NEW(arena, TdlVec3, count + 1)};
    if (target == NULL || rod.q == NULL) {
        return false;
    }
    TdlHelixFit fit = *out;
    fit.start = chain->start;
    measure_again(c, guess, &fit);
    keep_better(&fit, guess, curvature, out);
    for (int i = 0; i <= count; ++i) {
        rod.q[i] = tdl_scale3(l, curvature[i]);
    }
    rod.position = out->start.position;
    rod.rotation = out->start.rotation;
    if (!clothoid_least(arena, &rod, target)) {
        return false;
    }
    for (int i = 0; i <= count; ++i) {
        guess[i] = tdl_scale3(1.0 / l, rod.q[i]);
    }
    fit.start = (TdlPose){rod.position, rod.rotation};
    measure_again(c, guess, &fit);
    keep_better(&fit, guess, curvature, out);
    return true;
}

// The rod of the helices that are fitted twice as fine, and least squares.
static TdlStatus fit_least(const TdlHost* host, Arena* arena, const Spline* c,
                           const TdlVec3* points, int point_count, const TdlFitOptions* options,
                           TdlVec3* curvature, TdlHelixFit* out) {
    int count = options->element_count;
    TdlVec3* helices = ARENA_NEW(arena, TdlVec3, 2 * (size_t)count);
    TdlVec3* guess = ARENA_NEW(arena, TdlVec3, (size_t)count + 1);
    if (helices == NULL || guess == NULL) {
        return TDL_STATUS_NO_MEMORY;
    }
    TdlFitOptions finer = *options;
    finer.element_count = 2 * count;
    TdlHelixFit chain;
    TdlStatus status = tdl_helix_fit(host, points, point_count, &finer, helices, &chain);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    joints_of_helices(count, helices, guess);
    return improve(arena, c, &chain, guess, curvature, out) ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
}

TdlStatus tdl_clothoid_fit(const TdlHost* host, const TdlVec3* points, int count,
                           const TdlFitOptions* options, TdlVec3* curvature, TdlHelixFit* out) {
    *out = (TdlHelixFit){0};
    if (options->closed || options->tolerance != 0.0) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    Arena arena;
    arena_init(&arena, &host->mem);
    Spline curve;
    Bends bends;
    TdlStatus status = fit_curve(&arena, points, count, options, 1, &curve, &out->smoothed);
    if (status == TDL_STATUS_OK) {
        status = make_bends(&arena, &curve, &bends) ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY;
    }
    if (status == TDL_STATUS_OK) {
        out->length = curve.s[curve.count];
        out->element_count = options->element_count;
        sample_bends(&curve, &bends, options->element_count, curvature, out);
        filter(options->element_count, curvature);
        limit(out->length / options->element_count, options->element_count, curvature);
        measure(&curve, options->element_count, curvature, out);
    }
    if (status == TDL_STATUS_OK && options->least_squares) {
        status = fit_least(host, &arena, &curve, points, count, options, curvature, out);
    }
    arena_destroy(&arena);
    return status;
}
