// The ridge's bounds against what the distance does between them: over random intervals of random
// pairs that are nearly parallel, opposed or crossing, distance, angle, E'', E''' and ds/dt are
// sampled; and its derivatives against differences. docs/theory/distance.md (X.12) to (X.14),
// (X.28)
#include "detect/ridge.h"

#include "ref/curve_pairs.h"
#include "test.h"

enum { SAMPLES = 40 };

// A curve of the kind 0 segment, 1 helix, 2 clothoid, 3 cubic, of length about 1 with the curvature
// vector k at both ends (or about so), from a frame.
static TdlCurve make_curve(Rng* rng, int kind, TdlPose start, TdlVec3 k) {
    TdlHost host = tdl_host_default();
    TdlCurve c = {0};
    TdlVec3 control[4] = {start.position};
    switch (kind) {
    case 0:
        tdl_curve_segment(&host, start.position, tdl_add3(start.position, start.rotation.cx), &c);
        break;
    case 1:
        tdl_curve_helix(&host, start, k, 1.0, &c);
        break;
    case 2:
        tdl_curve_clothoid(&host, start, k, tdl_axpy3(k, 0.3, random_vector(rng, 1.0)), 1.0, &c);
        break;
    default:
        for (int i = 1; i < 4; ++i) {
            TdlVec3 step = tdl_axpy3(start.rotation.cx, 0.1 * i * k.z, start.rotation.cy);
            control[i] = tdl_axpy3(control[i - 1], 0.33, step);
        }
        tdl_curve_cubic(&host, control, &c);
    }
    return c;
}

// Two curves whose frames at the start differ by an angle, one of them perhaps the other way round.
static void close_pair(Rng* rng, int kind_a, int kind_b, TdlCurve* a, TdlCurve* b) {
    TdlPose start = {{0.0, 0.0, 0.0}, random_frame(rng)};
    TdlVec3 k = axis_curvature(rng, 2.5);
    *a = make_curve(rng, kind_a, start, k);
    double angle = pow(10.0, rng_range(rng, -6.0, 0.0)),
           gap = pow(10.0, rng_range(rng, -5.0, -1.0));
    TdlMat3 turn = tdl_rotation_exp(tdl_scale3(angle, tdl_unit3(random_vector(rng, 1.0))));
    TdlVec3 side = tdl_mul33_3(start.rotation, (TdlVec3){0.0, gap, 0.3 * gap});
    k = tdl_axpy3(k, pow(10.0, rng_range(rng, -6.0, 0.3)), random_vector(rng, 1.0));
    TdlPose other = {side, tdl_mul33(turn, start.rotation)};
    if (rng_below(rng, 3) == 0) {
        // from the other end: the same curve if both were helices without the changes above
        TdlMat3 end = tdl_mul33(other.rotation, tdl_rotation_exp(k));
        other.position = tdl_add3(side, tdl_curve_point(a, a->end));
        other.rotation = (TdlMat3){tdl_scale3(-1.0, end.cx), tdl_scale3(-1.0, end.cy), end.cz};
        k = (TdlVec3){k.x, k.y, -k.z};
    }
    *b = make_curve(rng, kind_b, other, k);
}

static bool project(Ridge* ridge, double t, RidgePoint* p) {
    return ridge->helices ? ridge_project_helix(ridge, t, p) : ridge_project_any(ridge, t, p);
}

// One interval; false when the ridge does not apply to it.
static bool check_interval(Search* search, double t, double half) {
    SearchBox box = search_domain(search);
    Ridge ridge;
    RidgePoint mid, p, old = {0};
    RidgeBounds bounds;
    if (!ridge_begin(&ridge, search, &box, search->a->end * (t / search->b->end)) ||
        !project(&ridge, t, &mid) ||
        !(ridge.helices ? ridge_bound_helix(&ridge, &mid, half, &bounds)
                        : ridge_bound_any(&ridge, &mid, t - half, t + half, &bounds))) {
        return false;
    }
    double reach = bounds.h * bounds.speed;
    if (mid.s - reach < ridge.far_low || mid.s + reach > ridge.far_high) {
        return false;
    }
    for (int i = 0; i <= SAMPLES; ++i) {
        double at = t - half + 2.0 * half * i / SAMPLES;
        if (!project(&ridge, at, &p)) {
            FAIL("no nearest point at %g of %g +- %g", at, t, half);
            return true;
        }
        // what is nearest has the difference across the tangent, and is where it says
        ArcPoint a = ridge_arc(search->a, p.s), b = ridge_arc(search->b, at);
        TdlVec3 g = tdl_sub3(tdl_add3(b.p, search->offset), a.p);
        CHECK_BELOW(fabs(tdl_dot3(g, a.t)), 4.0 * search->slack);
        CHECK_BELOW(tdl_norm3(tdl_sub3(g, p.g)), 4.0 * search->slack);
        CHECK_BELOW(fabs(1.0 + tdl_dot3(g, b.k) - p.c * p.c / p.q - p.e2), 1.0e-12);
        CHECK_BELOW(p.d, bounds.reach * (1.0 + 1.0e-12) + search->slack);
        CHECK_BELOW(p.tau, bounds.turn + 1.0e-14);
        CHECK_BELOW(bounds.second, p.e2 + 1.0e-13);
        if (i > 0) {
            // along b's arc, whose chord is shorter
            double step = (at - old.t) * fmin(p.speed[1], old.speed[1]) + 1.0e-300;
            double third = fabs(p.e2 - old.e2) / step, speed = fabs(p.s - old.s) / step;
            double wide = fmax(p.speed[1], old.speed[1]) / fmin(p.speed[1], old.speed[1]);
            CHECK_BELOW(third, bounds.third * wide + 1.0e-12 / step);
            CHECK_BELOW(speed, bounds.speed * wide * (1.0 + 1.0e-9) + 1.0e-12 / step);
        }
        old = p;
    }
    return true;
}

static void check_kinds(int kind_a, int kind_b, unsigned seed, int least) {
    Rng rng = rng_seed(seed);
    int used = 0;
    for (int i = 0; i < 4000; ++i) {
        TdlCurve a, b;
        close_pair(&rng, kind_a, kind_b, &a, &b);
        Search search;
        search_init(&search, &a, &b, 1.0e-12);
        search.best = 0.1;
        double half = 0.5 * b.end * pow(10.0, rng_range(&rng, -3.0, 0.0));
        double t = rng_range(&rng, half, b.end - half);
        used += check_interval(&search, t, half);
    }
    printf("  kinds %d and %d: %d intervals\n", kind_a, kind_b, used);
    CHECK(used >= least);
}

TEST(helices_keep_within_their_bounds) {
    check_kinds(1, 1, 1u, 2000);
    check_kinds(0, 1, 2u, 300);
    check_kinds(1, 0, 3u, 300);
    check_kinds(0, 0, 4u, 1000);
}

TEST(other_curves_keep_within_their_bounds) {
    check_kinds(2, 2, 5u, 300);
    check_kinds(1, 2, 6u, 300);
    check_kinds(3, 3, 7u, 300);
    check_kinds(2, 3, 8u, 10);
}

typedef struct Long3 {
    long double x, y, z;
} Long3;

static Long3 long_cross(Long3 a, Long3 b) {
    return (Long3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static long double long_dot(Long3 a, Long3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static Long3 long_axpy(Long3 a, long double s, Long3 b) {
    return (Long3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static Long3 to_long(TdlVec3 v) {
    return (Long3){v.x, v.y, v.z};
}

// Place, tangent and curvature vector of a helix in extended precision. (X.1), (X.2)
static void long_helix(const TdlCurve* c, long double s, Long3 out[3]) {
    Long3 t = to_long(c->helix.t), w = to_long(c->helix.w);
    Long3 e1 = long_cross(w, t), e2 = long_cross(w, e1);
    long double y = long_dot(w, w) * s * s, c2 = 0.0L, c3 = 0.0L, term = 0.5L;
    for (int n = 3; n < 80; n += 2) {
        c2 += term;
        c3 += term / n;
        term *= -y / (long double)(n * (n + 1));
    }
    const Long3 zero = {0.0L, 0.0L, 0.0L};
    out[0] = long_axpy(long_axpy(long_axpy(to_long(c->origin), s, t), s * s * c2, e1),
                       s * s * s * c3, e2);
    out[1] = long_axpy(long_axpy(t, s * (1.0L - y * c3), e1), s * s * c2, e2);
    out[2] = long_axpy(long_axpy(zero, 1.0L - y * c2, e1), s * (1.0L - y * c3), e2);
}

// E' against extended precision: curves that are close are worse known than their slope.
TEST(slopes_are_as_good_as_is_said) {
    Rng rng = rng_seed(10u);
    double worst = 0.0, least = 1.0;
    int used = 0;
    for (int i = 0; i < 4000; ++i) {
        TdlCurve a, b;
        close_pair(&rng, 1, 1, &a, &b);
        b.origin = tdl_scale3(pow(10.0, rng_range(&rng, -6.0, 0.0)), b.origin);
        Search search;
        search_init(&search, &a, &b, 1.0e-12);
        search.best = 0.1;
        SearchBox box = search_domain(&search);
        Ridge ridge;
        RidgePoint p;
        double t = rng_unit(&rng);
        if (!ridge_begin(&ridge, &search, &box, t) || !project(&ridge, t, &p) ||
            p.d * a.helix.bend > RIDGE_CLOSENESS) {
            continue;
        }
        long double s = p.s;
        Long3 at[3], to[3], g = {0.0L, 0.0L, 0.0L};
        long_helix(&b, t, to);
        for (int k = 0; k < 6; ++k) {
            long_helix(&a, s, at);
            g = long_axpy(to[0], -1.0L, at[0]);
            s += long_dot(g, at[1]) / (1.0L - long_dot(g, at[2]));
        }
        double off = fabs((double)(long_dot(g, to[1]) - p.e1));
        double allowed = ridge_slope_error(&ridge, &p);
        CHECK_BELOW(off, allowed);
        worst = fmax(worst, off / allowed);
        least = fmin(least, allowed / search.slack);
        ++used;
    }
    printf("  %d points, off by at most %.2f of what is allowed, which is down to %.1e slack\n",
           used, worst, least);
    CHECK(used > 2000 && least < 1.0e-4);
}

// E' and E'' against central differences, whose error falls by four when the step is halved.
TEST(derivatives_agree_with_differences) {
    Rng rng = rng_seed(9u);
    int used = 0;
    double worst[2] = {0.0, 0.0};
    for (int i = 0; i < 300; ++i) {
        TdlCurve a, b;
        close_pair(&rng, 1, 1, &a, &b);
        Search search;
        search_init(&search, &a, &b, 1.0e-12);
        search.best = 0.1;
        SearchBox box = search_domain(&search);
        Ridge ridge;
        RidgePoint p, low, high;
        if (!ridge_begin(&ridge, &search, &box, 0.5) || !project(&ridge, 0.5, &p) || p.d > 0.1) {
            continue;
        }
        double error[2];
        for (int k = 0; k < 2; ++k) {
            double h = k == 0 ? 2.0e-2 : 1.0e-2;
            if (!project(&ridge, 0.5 - h, &low) || !project(&ridge, 0.5 + h, &high)) {
                FAIL("no nearest point");
                return;
            }
            double first = (high.d * high.d - low.d * low.d) / (4.0 * h);
            double second = (high.e1 - low.e1) / (2.0 * h);
            error[k] = fabs(first - p.e1) + fabs(second - p.e2);
            worst[k] = fmax(worst[k], error[k]);
        }
        CHECK_BELOW(error[1], 0.27 * error[0] + 1.0e-9);
        ++used;
    }
    printf("  %d points, off by %.1e and %.1e\n", used, worst[0], worst[1]);
    CHECK(used > 100);
}
