// What lies in the bore of a tube: its places against dense sampling of the distance from the
// tube's centreline, the rims of mouths against sampled rings, and what is outside of a tube as if
// that were solid.
#include "detect/bore.h"
#include "detect/detector.h"
#include "math/rotation.h"
#include "ref/curve_pairs.h"
#include "test.h"

enum { PIECES = 3, ELEMENTS = 5, SAMPLES = 400, AXIS = 3000 };

static const double PI = 3.14159265358979323846;
static const double OUTER = 6.0e-3, BORE = 5.0e-3, RADIUS = 1.0e-3;

typedef struct Scene {
    TdlCurve tube[PIECES], inner[ELEMENTS];
    double bore[2 * PIECES];
    TdlFibre fibre[2];
} Scene;

// From `start`, each piece with a curvature of its own about `mean`.
static void make_chain(TdlPose start, double length, int count, TdlVec3 mean, double spread,
                       double radius, Rng* rng, TdlCurve* out) {
    TdlHost host = tdl_host_default();
    for (int i = 0; i < count; ++i) {
        TdlVec3 kappa = tdl_add3(mean, tdl_scale3(spread, random_vector(rng, 1.0)));
        REQUIRE(tdl_curve_helix(&host, start, kappa, length / count, &out[i]) == TDL_STATUS_OK);
        REQUIRE(tdl_curve_set_radius(&host, radius, radius, &out[i]) == TDL_STATUS_OK);
        start.position = tdl_curve_point(&out[i], out[i].end);
        start.rotation =
            tdl_mul33(start.rotation, tdl_rotation_exp(tdl_scale3(length / count, kappa)));
    }
}

// The inner one first when `turned`, so that the tube is the second body.
static void place_fibres(Scene* s, bool turned) {
    for (int i = 0; i < 2 * PIECES; ++i) {
        s->bore[i] = BORE;
    }
    s->fibre[turned] = (TdlFibre){.curves = s->tube, .count = PIECES, .bore = s->bore};
    s->fibre[!turned] = (TdlFibre){.curves = s->inner, .count = ELEMENTS};
}

static TdlDetector* make_detector(double margin) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = margin;
    def.self = false;
    def.obstacle_ends = true;
    TdlDetector* d = NULL;
    CHECK_INT(tdl_detector_create(&host, &def, &d), TDL_STATUS_OK);
    return d;
}

// The distance of a point from a chain of curves, by sampling and thirds about the nearest sample.
static double sampled_distance(const TdlCurve* chain, int count, TdlVec3 p, double* arc) {
    double least = INFINITY, whole = 0.0;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k <= AXIS / count; ++k) {
            double s = chain[i].end * k * count / AXIS;
            double d = tdl_norm3(tdl_sub3(tdl_curve_point(&chain[i], s), p));
            if (d < least) {
                least = d;
                *arc = whole + s;
            }
        }
        whole += chain[i].end;
    }
    double low = fmax(*arc - whole / AXIS, 0.0), high = fmin(*arc + whole / AXIS, whole);
    for (int i = 0; i < 80; ++i) {
        double at[2] = {low + (high - low) / 3.0, high - (high - low) / 3.0}, d[2];
        for (int k = 0; k < 2; ++k) {
            int piece = (int)fmin(at[k] / chain[0].end, count - 1);
            d[k] = tdl_norm3(
                tdl_sub3(tdl_curve_point(&chain[piece], at[k] - piece * chain[0].end), p));
        }
        *(d[0] < d[1] ? &high : &low) = at[d[0] < d[1]];
        least = fmin(least, fmin(d[0], d[1]));
    }
    *arc = 0.5 * (low + high);
    return least;
}

// A wire that winds about in a tube that winds about.
static void make_wound(Rng* rng, bool turned, Scene* s) {
    TdlVec3 bend = tdl_scale3(30.0, random_vector(rng, 1.0));
    TdlPose start = {.rotation = tdl_identity33()};
    make_chain(start, 0.06, PIECES, bend, 4.0, OUTER, rng, s->tube);
    // some way in, and askew
    start.rotation = tdl_rotation_exp(random_vector(rng, 0.12));
    start.position =
        tdl_axpy3(tdl_curve_point(&s->tube[0], 2.0e-3), 1.0e-3, random_vector(rng, 1.0));
    make_chain(start, 0.045, ELEMENTS, bend, 8.0, RADIUS, rng, s->inner);
    place_fibres(s, turned);
}

typedef struct Sampled {
    double gap;  // m, the least
    bool inside; // it is all in the bore, and away from the mouths
} Sampled;

static Sampled sample_gap(const Scene* s) {
    Sampled out = {INFINITY, true};
    for (int e = 0; e < ELEMENTS; ++e) {
        for (int k = 0; k <= SAMPLES / ELEMENTS; ++k) {
            double at = s->inner[e].end * k * ELEMENTS / SAMPLES, arc;
            double d = sampled_distance(s->tube, PIECES, tdl_curve_point(&s->inner[e], at), &arc);
            out.inside = out.inside && d < BORE && arc > 1.0e-3 && arc < 0.059;
            out.gap = fmin(out.gap, BORE - RADIUS - d);
        }
    }
    return out;
}

static void check_wall(const Scene* s, const TdlContact* c) {
    int tube = c->tube[0] ? 0 : 1;
    TdlVec3 p = c->point[1 - tube], foot = c->point[tube];
    double arc, sign = tube == 1 ? 1.0 : -1.0;
    double d = sampled_distance(s->tube, PIECES, p, &arc);
    // Newton's method to rounding against thirds, good to half the digits of the place
    CHECK_NEAR(c->gap, BORE - RADIUS - d, 1.0e-12);
    TdlVec3 axis = tdl_curve_point(&s->tube[c->element[tube]], c->u[tube]);
    CHECK_NEAR(tdl_norm3(tdl_sub3(foot, axis)), BORE, 1.0e-15);
    // from the first body to the second: of the inner one outwards, of the tube inwards
    CHECK_NEAR3(tdl_axpy3(p, sign * (c->gap + RADIUS), c->basis.cx), foot, 1.0e-12);
}

TEST(wires_in_tubes_touch_where_they_are_nearest_to_the_wall) {
    Rng rng = rng_seed(5);
    TdlDetector* d = make_detector(2.0 * BORE);
    int tried = 0, contacts = 0;
    double worst = 0.0;
    for (int i = 0; i < REPEATS(300, 90); ++i) {
        Scene s;
        make_wound(&rng, i % 2 == 1, &s);
        Sampled sampled = sample_gap(&s);
        if (!sampled.inside) {
            continue;
        }
        ++tried;
        int count;
        TdlDetectInfo info;
        REQUIRE(tdl_detector_update(d, s.fibre, 2, NULL, 0, &info) == TDL_STATUS_OK);
        const TdlContact* c = tdl_detector_contacts(d, &count);
        double least = INFINITY;
        for (int k = 0; k < count; ++k) {
            CHECK(c[k].tube[0] != c[k].tube[1]);
            if (c[k].gap > BORE - RADIUS) {
                continue; // of a rim, which is farther
            }
            check_wall(&s, &c[k]);
            least = fmin(least, c[k].gap);
            ++contacts;
        }
        // between two samples the distance rises by 1e-4^2/8 of the bends at most
        CHECK_BELOW(least - sampled.gap, 1.0e-12);
        CHECK_BELOW(sampled.gap - least, 2.0e-7);
        worst = fmax(worst, sampled.gap - least);
    }
    printf("  %d wires, %d contacts, at most %.1e m nearer than sampled\n", tried, contacts, worst);
    CHECK(tried > REPEATS(50, 15));
    tdl_detector_destroy(d);
}

// A straight wire in a straight tube, from `from` along `direction`.
static void make_straight(TdlVec3 from, TdlVec3 direction, double length, Scene* s) {
    Rng rng = rng_seed(1);
    TdlPose start = {.rotation = tdl_identity33()};
    make_chain(start, 0.06, PIECES, (TdlVec3){0}, 0.0, OUTER, &rng, s->tube);
    start = (TdlPose){from, tdl_frame_from_tangent(direction)};
    make_chain(start, length, ELEMENTS, (TdlVec3){0}, 0.0, RADIUS, &rng, s->inner);
    place_fibres(s, true);
}

static double least_gap(const TdlDetector* d, int* count) {
    const TdlContact* c = tdl_detector_contacts(d, count);
    double least = INFINITY;
    for (int k = 0; k < *count; ++k) {
        least = fmin(least, c[k].gap);
    }
    return least;
}

// The rim is a ring about the middle of the wall.
TEST(wires_that_lean_out_of_a_mouth_lie_on_its_rim) {
    TdlDetector* d = make_detector(2.0e-3);
    Rng rng = rng_seed(9);
    double middle = 0.5 * (OUTER + BORE), half = 0.5 * (OUTER - BORE);
    for (int i = 0; i < 40; ++i) {
        TdlVec3 lean = tdl_axpy3((TdlVec3){1.0, 0.0, 0.0}, 0.1, random_vector(&rng, 1.0));
        Scene s;
        make_straight((TdlVec3){0.04, 0.0, 0.0}, lean, 0.05, &s);
        double sampled = INFINITY;
        for (int k = 0; k < 40000; ++k) {
            double x = 2.0 * PI * k / 40000.0, s0;
            TdlVec3 ring = {0.06, middle * cos(x), middle * sin(x)};
            TdlVec3 t = tdl_unit3(lean);
            s0 = tdl_dot3(tdl_sub3(ring, s.inner[0].origin), t);
            TdlVec3 foot = tdl_axpy3(s.inner[0].origin, fmin(fmax(s0, 0.0), 0.05), t);
            sampled = fmin(sampled, tdl_norm3(tdl_sub3(ring, foot)) - half - RADIUS);
        }
        int count, rims = 0;
        REQUIRE(tdl_detector_update(d, s.fibre, 2, NULL, 0, NULL) == TDL_STATUS_OK);
        const TdlContact* c = tdl_detector_contacts(d, &count);
        double least = INFINITY;
        for (int k = 0; k < count; ++k) {
            CHECK(c[k].tube[1]);
            bool rim = c[k].element[1] == PIECES - 1 && c[k].u[1] == s.tube[PIECES - 1].end &&
                       fabs(c[k].point[1].x - 0.06) < half;
            least = rim ? fmin(least, c[k].gap) : least;
            rims += rim;
        }
        CHECK(rims > 0 || sampled >= 2.0e-3);
        if (rims > 0) {
            CHECK_NEAR(least, sampled, 1.0e-8); // of the ring's samples
        }
    }
    tdl_detector_destroy(d);
}

// Away from the mouths.
TEST(outside_a_tube_is_as_if_solid) {
    TdlDetector *hollow = make_detector(3.0e-3), *solid = make_detector(3.0e-3);
    Rng rng = rng_seed(13);
    for (int i = 0; i < 40; ++i) {
        Scene s;
        TdlVec3 side = tdl_scale3(1.0 / 3.0, random_vector(&rng, 1.0));
        make_straight((TdlVec3){0.015, OUTER + RADIUS + 1.0e-3 * rng_unit(&rng), 0.0},
                      (TdlVec3){1.0, 0.05 * side.y, side.z}, 0.02, &s);
        REQUIRE(tdl_detector_update(hollow, s.fibre, 2, NULL, 0, NULL) == TDL_STATUS_OK);
        s.fibre[1].bore = NULL;
        REQUIRE(tdl_detector_update(solid, s.fibre, 2, NULL, 0, NULL) == TDL_STATUS_OK);
        int count, other;
        CHECK_NEAR(least_gap(hollow, &count), least_gap(solid, &other), 0.0);
        CHECK(count > 0 && count <= other); // a joint of the tube is met once, not on both sides
    }
    tdl_detector_destroy(hollow);
    tdl_detector_destroy(solid);
}

// What is thicker than a bore meets the tube as a solid one; what is before its mouth and fits
// does not meet the round end that a solid one has.
TEST(only_what_fits_goes_in) {
    TdlHost host = tdl_host_default();
    TdlDetector* d = make_detector(1.0e-3);
    Scene s;
    int count;
    make_straight((TdlVec3){-0.019, 0.0, 0.0}, (TdlVec3){1.0, 0.0, 0.0}, 0.018, &s);
    REQUIRE(tdl_detector_update(d, s.fibre, 2, NULL, 0, NULL) == TDL_STATUS_OK);
    tdl_detector_contacts(d, &count);
    CHECK_INT(count, 0);
    for (int i = 0; i < ELEMENTS; ++i) {
        REQUIRE(tdl_curve_set_radius(&host, BORE, BORE, &s.inner[i]) == TDL_STATUS_OK);
    }
    REQUIRE(tdl_detector_update(d, s.fibre, 2, NULL, 0, NULL) == TDL_STATUS_OK);
    CHECK_NEAR(least_gap(d, &count), 1.0e-3 - OUTER - BORE, 1.0e-12);
    CHECK(!tdl_detector_contacts(d, &count)[0].tube[1]);
    tdl_detector_destroy(d);
}

// A ball, and one on the axis: the gap is that of any direction.
TEST(balls_lie_in_tubes) {
    TdlHost host = tdl_host_default();
    TdlDetector* d = make_detector(BORE);
    for (int i = 0; i < 2; ++i) {
        Scene s;
        make_straight((TdlVec3){0}, (TdlVec3){1.0, 0.0, 0.0}, 0.02, &s);
        TdlVec3 at = {0.033, 0.0, i == 0 ? -3.0e-3 : 0.0};
        REQUIRE(tdl_curve_segment(&host, at, at, &s.inner[0]) == TDL_STATUS_OK);
        REQUIRE(tdl_curve_set_radius(&host, RADIUS, RADIUS, &s.inner[0]) == TDL_STATUS_OK);
        s.fibre[0] = (TdlFibre){.curves = s.inner, .count = 1, .stiff = true};
        REQUIRE(tdl_detector_update(d, s.fibre, 2, NULL, 0, NULL) == TDL_STATUS_OK);
        int count;
        const TdlContact* c = tdl_detector_contacts(d, &count);
        REQUIRE(count == 1);
        CHECK_NEAR(c->gap, i == 0 ? 1.0e-3 : 4.0e-3, 1.0e-16);
        CHECK_NEAR(fabs(c->basis.cx.x), 0.0, 1.0e-15);
        CHECK_NEAR(tdl_norm3(c->basis.cx), 1.0, 1.0e-15);
        if (i == 0) {
            CHECK_NEAR3(c->basis.cx, ((TdlVec3){0.0, 0.0, -1.0}), 1.0e-15);
        }
    }
    tdl_detector_destroy(d);
}
