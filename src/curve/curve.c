// The kinds of curves: making and checking them, and evaluating those that are not helices.
//
// A helix costs one pair of short series; a clothoid a Taylor series of its frame from the nearest
// of four stored frames, in steps of at most 1.5 rad; a Bezier a polynomial.
#include "curve/curve.h"

#include "base/check.h"
#include "base/log.h"

#include <float.h>

// Turning (rad) over which one Taylor series of the frame is used. Its terms then fall below
// 1e-17 after CLOTHOID_TERMS: 1.5^n/n! with the slope's share.
static const double CLOTHOID_STEP = 1.5;
enum { CLOTHOID_TERMS = 30 };

// Largest turning, rad, of a curve: a clothoid takes time in proportion to it, and no fibre winds
// 1600 times in one element.
static const double MAX_TURNING = 1.0e4;

// Largest coordinate or length, m; squares and products stay finite.
static const double MAX_SIZE = 1.0e100;

static bool good_size(TdlVec3 v) {
    return tdl_finite3(v) && tdl_norm3(v) <= MAX_SIZE;
}

static TdlStatus check_frame(const TdlHost* host, const char* kind, TdlPose start, TdlVec3 kappa,
                             double length) {
    if (!good_size(start.position) || !tdl_finite3(start.rotation.cx) ||
        !tdl_finite3(start.rotation.cy) || !tdl_finite3(start.rotation.cz)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "%s: start is not finite", kind);
    }
    TdlMat3 gram = tdl_tmul33(start.rotation, start.rotation);
    TdlMat3 off = tdl_sub33(gram, tdl_identity33());
    double drift = tdl_norm3(off.cx) + tdl_norm3(off.cy) + tdl_norm3(off.cz);
    if (!(drift < 1.0e-6) || !(tdl_det33(start.rotation) > 0.0)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "%s: the start frame is not a rotation (off by %g)", kind, drift);
    }
    if (!(length >= 0.0) || !(length <= MAX_SIZE)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "%s: length is %g, must be >= 0 and finite",
                        kind, length);
    }
    double turning = tdl_norm3(kappa) * length;
    if (!(turning <= MAX_TURNING) || !good_size(kappa)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "%s: turns by %g rad, at most %g", kind,
                        turning, MAX_TURNING);
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_curve_segment(const TdlHost* host, TdlVec3 from, TdlVec3 to, TdlCurve* out) {
    if (!good_size(from) || !good_size(to)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "segment: an end is not finite");
    }
    TdlVec3 along = tdl_sub3(to, from);
    *out = (TdlCurve){.kind = TDL_CURVE_SEGMENT, .end = tdl_norm3(along), .origin = from};
    out->helix.t = tdl_unit3(along);
    return TDL_STATUS_OK;
}

TdlStatus tdl_curve_helix(const TdlHost* host, TdlPose start, TdlVec3 kappa, double length,
                          TdlCurve* out) {
    TdlStatus status = check_frame(host, "helix", start, kappa, length);
    if (status != TDL_STATUS_OK) {
        return status;
    }
    TdlMat3 frame = tdl_rotation_nearest(start.rotation);
    TdlVec3 t = frame.cx, w = tdl_mul33_3(frame, kappa);
    TdlVec3 e1 = tdl_sub3(tdl_scale3(kappa.z, frame.cy), tdl_scale3(kappa.y, frame.cz));
    *out = (TdlCurve){.kind = TDL_CURVE_HELIX, .end = length, .origin = start.position};
    out->helix.t = t;
    out->helix.e1 = e1;
    out->helix.e2 = tdl_cross3(w, e1);
    out->helix.w = w;
    out->helix.w2 = tdl_dot3(w, w);
    out->helix.bend = hypot(kappa.y, kappa.z) * (1.0 + 8.0 * DBL_EPSILON);
    return TDL_STATUS_OK;
}

// --- clothoids
// ------------------------------------------------------------------------------------

// Place and frame a distance x further, by the Taylor series of R' = R [kappa + x slope]x. (X.4)
static TdlPose clothoid_step(TdlPose from, TdlVec3 kappa, TdlVec3 slope, double x) {
    TdlMat3 k = tdl_skew3(kappa), m = tdl_skew3(slope);
    TdlMat3 term = from.rotation, last = {0}, sum = term; // term: x^n times the coefficient
    TdlVec3 place = tdl_axpy3(from.position, x, term.cx);
    for (int n = 1; n < CLOTHOID_TERMS; ++n) {
        TdlMat3 next = tdl_scale33(x / n, tdl_mul33(term, k));
        if (n > 1) {
            next = tdl_axpy33(next, x * x / n, tdl_mul33(last, m));
        }
        last = term;
        term = next;
        sum = tdl_add33(sum, term);
        place = tdl_axpy3(place, x / (n + 1), term.cx);
    }
    return (TdlPose){place, sum};
}

// Place and frame at s, from those at s0.
static TdlPose clothoid_move(const TdlCurve* c, TdlPose from, double s0, double s) {
    double bend =
        tdl_norm3(c->clothoid.kappa) + fmax(fabs(s0), fabs(s)) * tdl_norm3(c->clothoid.slope);
    int steps = 1 + (int)(bend * fabs(s - s0) / CLOTHOID_STEP);
    double x = (s - s0) / steps;
    for (int i = 0; i < steps; ++i) {
        TdlVec3 kappa = tdl_axpy3(c->clothoid.kappa, s0 + i * x, c->clothoid.slope);
        from = clothoid_step(from, kappa, c->clothoid.slope, x);
    }
    return from;
}

TdlStatus tdl_curve_clothoid(const TdlHost* host, TdlPose start, TdlVec3 kappa, TdlVec3 kappa_end,
                             double length, TdlCurve* out) {
    TdlStatus status = check_frame(host, "clothoid", start, kappa, length);
    if (status == TDL_STATUS_OK) {
        status = check_frame(host, "clothoid", start, kappa_end, length);
    }
    if (status != TDL_STATUS_OK) {
        return status;
    }
    *out = (TdlCurve){.kind = TDL_CURVE_CLOTHOID, .end = length, .origin = start.position};
    out->clothoid.kappa = kappa;
    if (length > 0.0) {
        TdlVec3 change = tdl_sub3(kappa_end, kappa);
        out->clothoid.slope = (TdlVec3){change.x / length, change.y / length, change.z / length};
    }
    if (!good_size(out->clothoid.slope)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "clothoid: a length of %g is too short for its change of curvature",
                        length);
    }
    TdlPose here = {{0}, tdl_rotation_nearest(start.rotation)};
    double s = 0.0;
    for (int i = 0; i < 4; ++i) {
        double next = 0.125 * (2 * i + 1) * length;
        here = clothoid_move(out, here, s, next);
        here.rotation = tdl_rotation_nearest(here.rotation);
        out->clothoid.node[i] = here;
        s = next;
    }
    return TDL_STATUS_OK;
}

static CurvePoint eval_clothoid(const TdlCurve* c, double s) {
    double place = c->end > 0.0 ? 4.0 * s / c->end : 0.0;
    int i = place < 1.0 ? 0 : place < 2.0 ? 1 : place < 3.0 ? 2 : 3;
    TdlPose pose = clothoid_move(c, c->clothoid.node[i], 0.125 * (2 * i + 1) * c->end, s);
    TdlVec3 kappa = tdl_axpy3(c->clothoid.kappa, s, c->clothoid.slope);
    TdlVec3 d2 = tdl_sub3(tdl_scale3(kappa.z, pose.rotation.cy), //
                          tdl_scale3(kappa.y, pose.rotation.cz));
    return (CurvePoint){pose.position, pose.rotation.cx, d2};
}

// --- Bezier and user kinds
// ------------------------------------------------------------------------

static TdlStatus check_control(const TdlHost* host, const TdlVec3* control, int count) {
    for (int i = 0; i < count; ++i) {
        if (!good_size(control[i])) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "bezier: control point %d is not finite",
                            i + 1);
        }
    }
    return TDL_STATUS_OK;
}

TdlStatus tdl_curve_quadratic(const TdlHost* host, const TdlVec3 p[3], TdlCurve* out) {
    TdlStatus status = check_control(host, p, 3);
    if (status == TDL_STATUS_OK) {
        TdlVec3 d0 = tdl_sub3(p[1], p[0]), d1 = tdl_sub3(p[2], p[1]);
        *out = (TdlCurve){.kind = TDL_CURVE_BEZIER, .end = 1.0, .origin = p[0]};
        out->poly.c1 = tdl_scale3(2.0, d0);
        out->poly.c2 = tdl_sub3(d1, d0);
    }
    return status;
}

TdlStatus tdl_curve_cubic(const TdlHost* host, const TdlVec3 p[4], TdlCurve* out) {
    TdlStatus status = check_control(host, p, 4);
    if (status == TDL_STATUS_OK) {
        TdlVec3 d0 = tdl_sub3(p[1], p[0]), d1 = tdl_sub3(p[2], p[1]), d2 = tdl_sub3(p[3], p[2]);
        *out = (TdlCurve){.kind = TDL_CURVE_BEZIER, .end = 1.0, .origin = p[0]};
        out->poly.c1 = tdl_scale3(3.0, d0);
        out->poly.c2 = tdl_scale3(3.0, tdl_sub3(d1, d0));
        out->poly.c3 = tdl_add3(tdl_sub3(d2, d1), tdl_sub3(d0, d1));
    }
    return status;
}

TdlStatus tdl_curve_user(const TdlHost* host, const TdlCurveFunctions* functions, const void* data,
                         double end, TdlCurve* out) {
    if (functions == NULL || functions->position == NULL || functions->derivative == NULL ||
        functions->second_bound == NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "curve: a function is missing");
    }
    if (!(end >= 0.0) || !(end <= MAX_SIZE)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "curve: end is %g, must be >= 0", end);
    }
    TdlVec3 origin = functions->position(data, 0.0);
    double bend = functions->second_bound(data, 0.0, end);
    if (!good_size(origin) || !good_size(functions->derivative(data, 0.0)) || !(bend >= 0.0) ||
        !(bend <= MAX_SIZE)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "curve: its functions are not finite");
    }
    *out = (TdlCurve){.kind = TDL_CURVE_USER, .end = end, .origin = origin};
    out->user.functions = functions;
    out->user.data = data;
    return TDL_STATUS_OK;
}

// Whether the radius changes too much for its rate to be squared.
static bool is_steep(double at_start, double at_end, double end) {
    return fabs(at_end - at_start) > MAX_SIZE * end && end > 0.0;
}

TdlStatus tdl_curve_set_radius(const TdlHost* host, double at_start, double at_end,
                               TdlCurve* curve) {
    if (!(at_start >= 0.0) || !(at_end >= 0.0) || !(at_start + at_end <= MAX_SIZE)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "curve: radii %g and %g must be >= 0",
                        at_start, at_end);
    }
    if (is_steep(at_start, at_end, curve->end)) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                        "curve: a length of %g is too short for radii from %g to %g", curve->end,
                        at_start, at_end);
    }
    curve->radius[0] = at_start;
    curve->radius[1] = at_end;
    return TDL_STATUS_OK;
}

static CurvePoint eval_poly(const TdlCurve* c, double s) {
    const TdlVec3 c1 = c->poly.c1, c2 = c->poly.c2, c3 = c->poly.c3;
    return (CurvePoint){
        tdl_scale3(s, tdl_axpy3(c1, s, tdl_axpy3(c2, s, c3))),
        tdl_axpy3(c1, s, tdl_axpy3(tdl_scale3(2.0, c2), 3.0 * s, c3)),
        tdl_axpy3(tdl_scale3(2.0, c2), 6.0 * s, c3),
    };
}

// The second derivative by differences: it guides Newton's method and is never part of a bound.
static CurvePoint eval_user(const TdlCurve* c, double s) {
    const TdlCurveFunctions* f = c->user.functions;
    double step = 1.0e-5 * c->end, low = fmax(0.0, s - step), high = fmin(c->end, s + step);
    CurvePoint out = {.p = tdl_sub3(f->position(c->user.data, s), c->origin),
                      .d1 = f->derivative(c->user.data, s)};
    if (high > low) {
        TdlVec3 rise =
            tdl_sub3(f->derivative(c->user.data, high), f->derivative(c->user.data, low));
        out.d2 = tdl_scale3(1.0 / (high - low), rise);
    }
    return out;
}

// --- all kinds
// ------------------------------------------------------------------------------------

CurvePoint curve_eval_other(const TdlCurve* curve, double s) {
    switch (curve->kind) {
    case TDL_CURVE_SEGMENT:
    case TDL_CURVE_HELIX:
        break;
    case TDL_CURVE_CLOTHOID:
        return eval_clothoid(curve, s);
    case TDL_CURVE_BEZIER:
        return eval_poly(curve, s);
    case TDL_CURVE_USER:
        return eval_user(curve, s);
    }
    return curve_eval_helix(curve, s);
}

TdlVec3 tdl_curve_point(const TdlCurve* curve, double s) {
    return tdl_add3(curve->origin, curve_eval(curve, s).p);
}

TdlVec3 tdl_curve_derivative(const TdlCurve* curve, double s) {
    return curve_eval(curve, s).d1;
}

double tdl_curve_radius(const TdlCurve* curve, double s) {
    double x = curve->end > 0.0 ? s / curve->end : 0.0;
    return curve->radius[0] + x * (curve->radius[1] - curve->radius[0]);
}

// The components across the tangent are linear in s, so their length is largest at an end.
static double clothoid_bend(const TdlCurve* c, double s) {
    TdlVec3 kappa = tdl_axpy3(c->clothoid.kappa, s, c->clothoid.slope);
    return hypot(kappa.y, kappa.z);
}

double tdl_curve_second_bound(const TdlCurve* curve, double s0, double s1) {
    const double out = 1.0 + 64.0 * DBL_EPSILON;
    switch (curve->kind) {
    case TDL_CURVE_SEGMENT:
    case TDL_CURVE_HELIX:
        break;
    case TDL_CURVE_CLOTHOID:
        return out * fmax(clothoid_bend(curve, s0), clothoid_bend(curve, s1));
    case TDL_CURVE_BEZIER:
        return out * fmax(tdl_norm3(eval_poly(curve, s0).d2), tdl_norm3(eval_poly(curve, s1).d2));
    case TDL_CURVE_USER:
        return out * curve->user.functions->second_bound(curve->user.data, s0, s1);
    }
    return curve->helix.bend;
}

double curve_size(const TdlCurve* curve) {
    if (curve->kind == TDL_CURVE_BEZIER) {
        return tdl_norm3(curve->poly.c1) + tdl_norm3(curve->poly.c2) + tdl_norm3(curve->poly.c3);
    }
    if (curve->kind == TDL_CURVE_USER) {
        double bend = tdl_curve_second_bound(curve, 0.0, curve->end);
        double speed = tdl_norm3(curve_eval(curve, 0.0).d1);
        // places are differences of absolute ones, so the origin counts too
        return curve->end * (speed + bend * curve->end) + tdl_norm3(curve->origin);
    }
    return curve->end;
}

double curve_rounding(const TdlCurve* curve) {
    double turning = 0.0;
    if (curve_is_helix(curve)) {
        turning = sqrt(curve->helix.w2) * curve->end;
    } else if (curve->kind == TDL_CURVE_CLOTHOID) {
        turning = curve->end * (tdl_norm3(curve->clothoid.kappa) +
                                curve->end * tdl_norm3(curve->clothoid.slope));
    }
    return (24.0 + 8.0 * turning) * DBL_EPSILON;
}

bool curve_finite(const TdlCurve* curve) {
    // a sum is finite only when its terms are; overflow counts as well, sizes being limited. Four
    // of them, so that one addition need not wait for the last
    double a = curve->end + curve->radius[0], b = curve->radius[1] + curve->origin.x;
    double c = curve->origin.y, d = curve->origin.z;
    if (curve_is_helix(curve)) {
        const TdlVec3 t = curve->helix.t, w = curve->helix.w;
        const TdlVec3 e1 = curve->helix.e1, e2 = curve->helix.e2;
        a += (t.x + w.x) + (e1.x + e2.x);
        b += (t.y + w.y) + (e1.y + e2.y);
        c += (t.z + w.z) + (e1.z + e2.z);
        d += curve->helix.w2 + curve->helix.bend;
    } else {
        CurvePoint p = curve_eval(curve, curve->end);
        a += p.p.x + p.d1.x;
        b += p.p.y + p.d1.y;
        c += p.p.z + p.d1.z;
    }
    return isfinite((a + b) + (c + d)) && curve->end >= 0.0 &&
           !is_steep(curve->radius[0], curve->radius[1], curve->end);
}

TdlCurve curve_moved(const TdlCurve* curve, TdlPose pose) {
    TdlCurve out = *curve;
    out.origin = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, curve->origin));
    switch (curve->kind) {
    case TDL_CURVE_SEGMENT:
    case TDL_CURVE_HELIX:
        out.helix.t = tdl_mul33_3(pose.rotation, curve->helix.t);
        out.helix.e1 = tdl_mul33_3(pose.rotation, curve->helix.e1);
        out.helix.e2 = tdl_mul33_3(pose.rotation, curve->helix.e2);
        out.helix.w = tdl_mul33_3(pose.rotation, curve->helix.w);
        break;
    case TDL_CURVE_CLOTHOID:
        for (int i = 0; i < 4; ++i) {
            out.clothoid.node[i].position =
                tdl_mul33_3(pose.rotation, curve->clothoid.node[i].position);
            out.clothoid.node[i].rotation =
                tdl_mul33(pose.rotation, curve->clothoid.node[i].rotation);
        }
        break;
    case TDL_CURVE_BEZIER:
        out.poly.c1 = tdl_mul33_3(pose.rotation, curve->poly.c1);
        out.poly.c2 = tdl_mul33_3(pose.rotation, curve->poly.c2);
        out.poly.c3 = tdl_mul33_3(pose.rotation, curve->poly.c3);
        break;
    case TDL_CURVE_USER:
        TDL_ASSERT(curve->kind != TDL_CURVE_USER);
    }
    return out;
}

TdlStatus curve_chain(const TdlHost* host, const char* who, TdlPose start,
                      const TdlCurvePiece* pieces, int count, double radius, TdlCurve* out) {
    if (count < 1 || pieces == NULL) {
        return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT, "%s: a chain needs pieces", who);
    }
    for (int i = 0; i < count; ++i) {
        double length = pieces[i].length;
        TdlVec3 kappa = pieces[i].curvature;
        if (!(length > 0.0 && length <= MAX_SIZE) || !good_size(kappa)) {
            return tdl_fail(host, TDL_STATUS_BAD_ARGUMENT,
                            "%s: length of piece %d must be positive, its curvature finite", who,
                            i);
        }
        TdlStatus status = tdl_curve_helix(host, start, kappa, length, &out[i]);
        if (status == TDL_STATUS_OK) {
            status = tdl_curve_set_radius(host, radius, radius, &out[i]);
        }
        if (status != TDL_STATUS_OK) {
            return status;
        }
        TdlMat3 turn = tdl_rotation_exp(tdl_scale3(length, kappa));
        start.position = tdl_curve_point(&out[i], length);
        start.rotation = tdl_rotation_nearest(tdl_mul33(start.rotation, turn));
    }
    return TDL_STATUS_OK;
}
