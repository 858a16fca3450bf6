// Frames along a piecewise helix, and the natural curvature with which a framed curve rests.
//
// The curve is known by places, frames and curvatures, so that its first two derivatives are known
// too: integrals over an interval are those of the quintic through both ends, of sixth order. The
// moment of the weight beyond a place needs only the integral of the places: linear time.
#include "math/rotation.h"
#include "tendril/inverse.h"

// Distance of a joint's frame from a rotation that is kept: rounding grows with the root of the
// number of products, and is taken out every so many.
enum { PRODUCTS = 64 };

TdlStatus tdl_helix_frames(TdlMat3 start, const TdlVec3* turns, int element_count,
                           double element_length, TdlMat3* frames, TdlVec3* curvature) {
    bool good = element_count > 0 && element_length > 0.0 && isfinite(element_length) &&
                tdl_pose_is_good((TdlPose){{0}, start});
    for (int i = 0; good && i < element_count; ++i) {
        good = tdl_finite3(turns[i]);
    }
    if (!good) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    TdlMat3 R = start;
    for (int i = 0; i < element_count; ++i) { // (V.80)
        if (curvature != NULL) {
            curvature[i] = tdl_scale3(1.0 / element_length, tdl_tmul33_3(R, turns[i]));
        }
        if (frames != NULL) {
            frames[i] = R;
        }
        R = tdl_mul33(tdl_rotation_exp(turns[i]), R);
        R = i % PRODUCTS == PRODUCTS - 1 ? tdl_rotation_nearest(R) : R;
    }
    if (frames != NULL) {
        frames[element_count] = R;
    }
    return TDL_STATUS_OK;
}

// --- natural curvature ----------------------------------------------------------------------

// Place, tangent, and its derivative.
typedef struct Jet {
    TdlVec3 r, d, dd;
} Jet;

static Jet jet_at(const TdlFramedCurve* c, int i) {
    TdlMat3 R = c->pose[i].rotation;
    TdlVec3 k = c->curvature[i];
    TdlVec3 bend = tdl_sub3(tdl_scale3(k.z, R.cy), tdl_scale3(k.y, R.cz)); // R (kappa x e)
    return (Jet){c->pose[i].position, R.cx, bend};
}

// The integral of the places over the interval behind i. (V.90)
static TdlVec3 interval_integral(const TdlFramedCurve* c, int i, double h) {
    Jet a = jet_at(c, i), b = jet_at(c, i + 1);
    TdlVec3 sum = tdl_scale3(0.5 * h, tdl_add3(a.r, b.r));
    sum = tdl_axpy3(sum, h * h / 10.0, tdl_sub3(a.d, b.d));
    return tdl_axpy3(sum, h * h * h / 120.0, tdl_add3(a.dd, b.dd));
}

// The place at arc length s, by the same quintic.
static TdlVec3 place_at(const TdlFramedCurve* c, double s, double h) {
    double x = s / h;
    int i = x < c->count - 2 ? (int)x : c->count - 2;
    double u = fmin(x - i, 1.0), v = 1.0 - u;
    Jet a = jet_at(c, i), b = jet_at(c, i + 1);
    double u3 = u * u * u, v3 = v * v * v;
    TdlVec3 sum = tdl_scale3(v3 * (1.0 + 3.0 * u + 6.0 * u * u), a.r);
    sum = tdl_axpy3(sum, u3 * (1.0 + 3.0 * v + 6.0 * v * v), b.r);
    sum = tdl_axpy3(sum, h * u * v3 * (1.0 + 3.0 * u), a.d);
    sum = tdl_axpy3(sum, -h * v * u3 * (1.0 + 3.0 * v), b.d);
    sum = tdl_axpy3(sum, 0.5 * h * h * u * u * v3, a.dd);
    return tdl_axpy3(sum, 0.5 * h * h * v * v * u3, b.dd);
}

static bool curve_is_good(const TdlFramedCurve* c, TdlVec3 gravity) {
    TdlVec3 K = c->stiffness;
    bool good = c->count >= 2 && c->length > 0.0 && isfinite(c->length) && tdl_finite3(K) &&
                K.x > 0.0 && K.y > 0.0 && K.z > 0.0 && c->line_density >= 0.0 &&
                isfinite(c->line_density) && tdl_finite3(gravity) && c->load_count >= 0;
    for (int i = 0; good && i < c->count; ++i) {
        good = tdl_pose_is_good(c->pose[i]) && tdl_finite3(c->curvature[i]);
    }
    for (int k = 0; good && k < c->load_count; ++k) {
        const TdlRodLoad* load = &c->loads[k];
        good = load->at >= 0.0 && load->at <= c->length && tdl_finite3(load->force) &&
               tdl_finite3(load->torque);
    }
    return good;
}

// What the point loads beyond arc length s do about a place. One at the place itself, up to
// rounding, counts as beyond it: it has no moment there, and its torque does.
static TdlVec3 load_moment(const TdlFramedCurve* c, double s, TdlVec3 about, double h) {
    TdlVec3 sum = {0};
    for (int k = 0; k < c->load_count; ++k) {
        const TdlRodLoad* load = &c->loads[k];
        if (load->at >= s - 1.0e-12 * c->length) {
            TdlVec3 arm = tdl_sub3(place_at(c, load->at, h), about);
            sum = tdl_add3(sum, tdl_add3(tdl_cross3(arm, load->force), load->torque));
        }
    }
    return sum;
}

// kappa - K^-1 R' M. (V.88), (V.89)
TdlStatus tdl_curve_natural(const TdlFramedCurve* c, TdlVec3 gravity, TdlVec3* natural) {
    if (!curve_is_good(c, gravity)) {
        return TDL_STATUS_BAD_ARGUMENT;
    }
    double h = c->length / (c->count - 1);
    TdlVec3 weight = tdl_scale3(c->line_density, gravity), beyond = {0}, K = c->stiffness;
    for (int i = c->count - 1; i >= 0; --i) {
        double s = i * h;
        TdlVec3 place = c->pose[i].position;
        if (i < c->count - 1) {
            beyond = tdl_add3(beyond, interval_integral(c, i, h));
        }
        TdlVec3 M = tdl_cross3(tdl_axpy3(beyond, s - c->length, place), weight);
        M = tdl_add3(M, load_moment(c, s, place, h));
        TdlVec3 own = tdl_tmul33_3(c->pose[i].rotation, M), kappa = c->curvature[i];
        natural[i] = (TdlVec3){kappa.x - own.x / K.x, kappa.y - own.y / K.y, kappa.z - own.z / K.z};
    }
    return TDL_STATUS_OK;
}
