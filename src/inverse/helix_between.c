// The short helix with given ends: inverse-fit.md (V.1) to (V.8).
//
// A rotation that takes t0 to t1 has its axis in the plane across t1 - t0; where in that plane is
// one unknown, and the direction of d grows with it, so there is one root. Two ways to it. When the
// helix turns by less than a radian or so either way, half the rotation vector is analytic in the
// data, and Newton on it needs neither sine nor arctangent. Otherwise Newton on the angle of the
// axis, inside a bracket. Errors: those of the ends, over |t1 - t0| in the rotation and not
// enlarged in the ends of the helix that is told.
#include "tendril/inverse.h"

#include "math/rotation.h"

// Below this half the difference of the tangents has no direction: 3 eps / k, what a rounding of d
// does to half the angle, would reach 1e-3.
static const double STRAIGHT = 1.0e-12;

// Sine of the angle between d and equal tangents up to which they are called parallel: what
// tangents that differ by STRAIGHT may leave.
static const double PARALLEL = 1.0e-11;

// z = phi^2 up to which (V.7) is summed, for its guess is good and 13 terms are enough.
static const double SERIES_LIMIT = 0.5;

enum { NEAR_STEPS = 8, FAR_STEPS = 100 };

// d, t0, t1 in the axes of (V.1), with d3 >= 0.
typedef struct Ends {
    double h, k;       // |t0 + t1| / 2, |t1 - t0| / 2
    double d2, d3;     // m
    TdlVec3 e2, e3;    // e3 as it is before the mirror
    double hand, miss; // -1 when d3 was mirrored; |d.e1|, m
} Ends;

// Whether there are such axes: false for tangents that are equal, or for d = 0. (V.1)
static bool find_axes(TdlVec3 d, TdlVec3 t0, TdlVec3 t1, Ends* out) {
    TdlVec3 sum = tdl_add3(t0, t1), difference = tdl_sub3(t1, t0);
    double h = tdl_norm3(sum), k = tdl_norm3(difference);
    *out = (Ends){.h = 0.5 * h, .k = 0.5 * k, .hand = 1.0};
    if (!(out->k > STRAIGHT)) {
        return false;
    }
    // the longer of the two first: its direction has all its digits
    TdlVec3 e1, e2;
    if (h > k) {
        e2 = tdl_scale3(1.0 / h, sum);
        e1 = tdl_axpy3(difference, -tdl_dot3(difference, e2), e2);
        e1 = tdl_scale3(1.0 / tdl_norm3(e1), e1);
    } else {
        e1 = tdl_scale3(1.0 / k, difference);
        e2 = tdl_axpy3(sum, -tdl_dot3(sum, e1), e1);
        double size = tdl_norm3(e2);
        if (!(size > STRAIGHT)) { // a half turn: any axis across e1 serves, d's own is at hand
            e2 = tdl_axpy3(d, -tdl_dot3(d, e1), e1);
            size = tdl_norm3(e2);
        }
        e2 = size > 0.0 ? tdl_scale3(1.0 / size, e2) : tdl_frame_from_tangent(e1).cy;
    }
    out->e2 = e2;
    out->e3 = tdl_cross3(e1, e2);
    out->miss = fabs(tdl_dot3(d, e1));
    out->d2 = tdl_dot3(d, e2);
    out->d3 = tdl_dot3(d, out->e3);
    if (out->d3 < 0.0) {
        out->d3 = -out->d3;
        out->hand = -1.0;
    }
    return out->d2 != 0.0 || out->d3 != 0.0;
}

// The helix of half the rotation vector u e2 - w e3, mirrored back. (V.2)
static void tell(const Ends* x, double u, double w, double length, TdlShortHelix* out) {
    TdlVec3 turn = tdl_scale3(2.0 * x->hand * u, x->e2);
    out->turn = tdl_axpy3(turn, -2.0 * w, x->e3);
    out->length = length;
}

// G(z) = 1 - phi cot phi and its derivative, z = phi^2 <= 0.5. (V.6)
// The coefficients are 2 zeta(2n) / pi^2n; the first left out adds 3e-18.
static void cotangent_rest(double z, double* value, double* slope) {
    static const double C[13] = {
        3.3333333333333333e-01, 2.2222222222222222e-02, 2.1164021164021164e-03,
        2.1164021164021164e-04, 2.1377799155576933e-05, 2.1644042808063972e-06,
        2.1925947851873778e-07, 2.2214608789979678e-08, 2.2507846516808994e-09,
        2.2805151204592183e-10, 2.3106432599002627e-11, 2.3411706819824886e-12,
        2.3721017400233653e-13};
    // below 1/16 seven of them will do: the next adds 3e-16 of the sum
    int last = z < 0.0625 ? 6 : 12;
    double g = C[last], dg = 0.0;
    for (int n = last - 1; n >= 0; --n) {
        dg = g + z * dg;
        g = C[n] + z * g;
    }
    *value = z * g;
    *slope = g + z * dg;
}

// Newton on (V.7), with U = u h/k and z as unknowns. False when z leaves the series' range.
static bool solve_near(const Ends* x, TdlShortHelix* out) {
    if (!(x->d2 > 0.0) || !(x->k < x->h)) {
        return false;
    }
    double kk = (x->k / x->h) * (x->k / x->h), sigma = x->d3 / x->d2;
    double big = 3.0 * sigma / kk, z = kk * (big * big + 1.0);
    if (!(z < SERIES_LIMIT)) {
        return false;
    }
    // the guess, to the second order of the turn
    double c = 1.0 - z / 3.0;
    big *= 1.0 - z / 15.0 + kk / 3.0;
    z = kk * (big * big + c * c);
    for (int step = 0; step < NEAR_STEPS; ++step) {
        double g, dg;
        cotangent_rest(z, &g, &dg);
        c = 1.0 - g;
        double f1 = sigma * (big * big + c) - big * g, f2 = z - kk * (big * big + c * c);
        double a = 2.0 * sigma * big - g, b = -(sigma + big) * dg;
        double p = -2.0 * kk * big, q = 1.0 + 2.0 * kk * c * dg;
        double det = a * q - b * p;
        double dbig = (b * f2 - q * f1) / det, dz = (p * f1 - a * f2) / det;
        big += dbig;
        z += dz;
        if (!(z > 0.0 && z < SERIES_LIMIT)) {
            return false;
        }
        // Newton squares the error: what is left after this step is below rounding
        if (fabs(dbig) <= 1.0e-8 * big && fabs(dz) <= 1.0e-8 * z) {
            c += dz * -dg; // at the new z
            double kappa = x->k / x->h;
            tell(x, kappa * big, kappa * c, (c * x->d2 + big * x->d3) / x->h, out);
            return true;
        }
    }
    return false;
}

// The axis is sine e2 - cosine e3: the angle beta of (V.3), 0 for the arc and pi for its rest.
typedef struct Axis {
    double sine, cosine;
} Axis;

static Axis middle(Axis a, Axis b) {
    double sine = a.sine + b.sine, cosine = a.cosine + b.cosine, size = hypot(sine, cosine);
    return size > 0.0 ? (Axis){sine / size, cosine / size} : (Axis){1.0, 0.0};
}

static Axis first_axis(const Ends* x) {
    double size = hypot(x->d2, x->d3);
    Axis along = {x->d3 / size, x->d2 / size};
    if (x->h < 0.5 || along.cosine <= 0.0 || along.sine <= 0.0) {
        return along; // right for opposite tangents
    }
    // tangents nearly parallel: (V.5) with cot phi about 1/(3v) - 0.85v, v = 1/phi - cot phi
    double t = along.sine / along.cosine;
    double cotangent = (x->k * x->k / (3.0 * t) - 0.85 * t) / x->h;
    double scale = sqrt(1.0 + cotangent * cotangent);
    return (Axis){1.0 / scale, cotangent / scale};
}

// Newton on the angle of the axis, inside a bracket. (V.3), (V.4)
static bool solve_far(const Ends* x, TdlShortHelix* out) {
    double h = x->h, k = x->k, size = hypot(x->d2, x->d3);
    double d2 = x->d2 / size, d3 = x->d3 / size;
    Axis low = {0.0, 1.0}, high = {0.0, -1.0}, at = first_axis(x);
    if (d3 == 0.0) { // in a plane: the arc, or what it lacks of the circle
        at = d2 > 0.0 ? low : high;
    }
    for (int step = 0; step < FAR_STEPS; ++step) {
        double s = at.sine, c = at.cosine;
        double phi = atan2(k, h * c), bend = k / phi, dphi = k * h * s / (k * k + h * h * c * c);
        double y2 = h * s * s + c * bend, y3 = s * (bend - h * c);
        double f = d3 * y2 - d2 * y3; // falls with beta
        double dbend = -bend * dphi / phi;
        double dy2 = 2.0 * h * s * c - s * bend + c * dbend;
        double dy3 = c * (bend - h * c) + s * (h * s + dbend);
        double turn = -f / (d3 * dy2 - d2 * dy3);
        // what is left is rounding of the two products, or the bracket has closed
        Axis half = middle(low, high);
        bool closed = (half.sine == low.sine && half.cosine == low.cosine) ||
                      (half.sine == high.sine && half.cosine == high.cosine);
        if (fabs(f) <= 4.0e-16 * (fabs(d3 * y2) + fabs(d2 * y3)) || d3 == 0.0 || closed) {
            tell(x, phi * s, phi * c, size / hypot(y2, y3), out);
            return true;
        }
        *(f > 0.0 ? &low : &high) = at;
        Axis next = {s + c * turn, c - s * turn};
        double scale = hypot(next.sine, next.cosine);
        at = (Axis){next.sine / scale, next.cosine / scale};
        bool inside = at.sine * low.cosine - at.cosine * low.sine > 0.0 &&
                      high.sine * at.cosine - high.cosine * at.sine > 0.0 && fabs(turn) < 1.5;
        if (!inside) {
            at = middle(low, high);
        }
    }
    return false;
}

TdlShortHelix tdl_helix_between(TdlVec3 d, TdlVec3 t0, TdlVec3 t1) {
    TdlShortHelix out = {0};
    double size0 = tdl_norm3(t0), size1 = tdl_norm3(t1), distance = tdl_norm3(d);
    bool good = isfinite(distance) && isfinite(size0) && isfinite(size1) && size0 > 0.0 &&
                size1 > 0.0 && distance > 0.0;
    if (!good) {
        return out;
    }
    t0 = tdl_scale3(1.0 / size0, t0);
    t1 = tdl_scale3(1.0 / size1, t1);
    Ends ends;
    if (find_axes(d, t0, t1, &ends)) {
        out.converged = solve_near(&ends, &out) || solve_far(&ends, &out);
        out.miss = ends.miss;
        return out;
    }
    // equal tangents: straight, or nothing that is wanted
    double along = tdl_dot3(d, t0);
    out.miss = ends.miss;
    if (ends.k <= STRAIGHT && along > 0.0) {
        TdlVec3 beside = tdl_axpy3(d, -along, t0);
        out.turn = tdl_cross3(t0, t1);
        out.length = distance;
        out.converged = tdl_norm3(beside) <= PARALLEL * distance;
    }
    return out;
}
