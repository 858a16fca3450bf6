// Detection of things that do not bend: rigid bodies standing on planes, plates and each other,
// fixed fibres, and how their contacts are merged and followed. Judged by dense sampling.
#include "collider/shape.h"
#include "curve/curve.h"
#include "detect/detector.h"
#include "detect/obstacle.h"
#include "ref/curve_pairs.h"
#include "rigid/rigid.h"

#include "test.h"

static TdlDetector* make_detector(double margin, bool all_minima) {
    TdlHost host = tdl_host_default();
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = margin;
    def.all_minima = all_minima;
    TdlDetector* d = NULL;
    if (tdl_detector_create(&host, &def, &d) != TDL_STATUS_OK) {
        FAIL("detector refused");
    }
    return d;
}

static Rigid* make_box(TdlPose pose, TdlVec3 half, double radius) {
    TdlHost host = tdl_host_default();
    TdlRigidDef def = {
        .shape = TDL_RIGID_BOX, .radius = radius, .half = half, .density = 1000.0, .pose = pose};
    Rigid* rigid = NULL;
    if (rigid_create(&host, &def, &rigid) != TDL_STATUS_OK) {
        FAIL("rigid refused");
    }
    return rigid;
}

static void destroy(Rigid* rigid) {
    TdlHost host = tdl_host_default();
    rigid_destroy(&host, rigid);
}

static const TdlColliderDef FLOOR = {.shape = TDL_SHAPE_PLANE,
                                     .pose.rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

// The contacts of a box with the floor are its corners within the margin, each once.
static void check_corners(TdlDetector* d, const Rigid* box, double margin) {
    TdlCurve curves[12];
    rigid_curves(box, curves);
    TdlFibre fibre = {.curves = curves, .count = 12, .stiff = true};
    REQUIRE(tdl_detector_update(d, &fibre, 1, &FLOOR, 1, NULL) == TDL_STATUS_OK);
    int count, wanted = 0;
    const TdlContact* c = tdl_detector_contacts(d, &count);
    double r = box->def.radius;
    for (int k = 0; k < 8; ++k) {
        TdlVec3 half = {box->def.half.x - r, box->def.half.y - r, box->def.half.z - r};
        TdlVec3 local = {k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y,
                         k & 4 ? half.z : -half.z};
        TdlVec3 p = tdl_add3(box->pose.position, tdl_mul33_3(box->pose.rotation, local));
        int here = 0;
        for (int i = 0; i < count; ++i) {
            if (tdl_norm3(tdl_sub3(c[i].point[0], p)) < 1.0e-12) {
                ++here;
                CHECK_NEAR(c[i].gap, p.z - r, 1.0e-14);
                CHECK_NEAR3(c[i].basis.cx, ((TdlVec3){0, 0, -1}), 1.0e-15);
                CHECK_NEAR3(c[i].point[1], ((TdlVec3){p.x, p.y, 0}), 1.0e-14);
            }
        }
        bool low = p.z - r < margin;
        wanted += low;
        CHECK_INT(here, low);
    }
    CHECK_INT(count, wanted);
}

TEST(a_box_touches_a_plane_with_its_corners) {
    Rng rng = rng_seed(31);
    double margin = 0.01;
    TdlDetector* d = make_detector(margin, true);
    for (int i = 0; i < 400; ++i) {
        double radius = i % 3 == 0 ? 0.0 : i % 3 == 1 ? 0.005 : 0.02;
        TdlPose pose = {{0.1, -0.2, 0.04 + 0.03 * rng_unit(&rng)}, tdl_identity33()};
        if (i % 4 == 1) { // flat but for rounding
            pose.position.z = 0.025 + margin * rng_unit(&rng);
            pose.rotation = tdl_rotation_exp((TdlVec3){0, 0, rng_normal(&rng)});
        } else if (i % 4 == 2) { // on an edge
            pose.rotation = tdl_rotation_exp((TdlVec3){rng_normal(&rng), 0, 0});
        } else if (i % 4 == 3) {
            pose.rotation = random_frame(&rng);
        }
        Rigid* box = make_box(pose, (TdlVec3){0.05, 0.04, 0.025}, radius);
        check_corners(d, box, margin);
        destroy(box);
    }
    tdl_detector_destroy(d);
}

TEST(a_standing_box_is_followed) {
    TdlDetector* d = make_detector(1.0e-3, true);
    for (int step = 0; step < 20; ++step) {
        // slides and jitters by rounding: which of three edges stands for a corner must not change
        TdlPose pose = {{1.0e-4 * step, 0, 0.025}, tdl_rotation_exp((TdlVec3){0, 0, 0.01 * step})};
        Rigid* box = make_box(pose, (TdlVec3){0.05, 0.04, 0.025}, 0.0);
        check_corners(d, box, 1.0e-3);
        int count;
        const TdlContact* c = tdl_detector_contacts(d, &count);
        REQUIRE(count == 4);
        for (int i = 0; i < count; ++i) {
            CHECK_INT(c[i].previous, step == 0 ? -1 : i);
        }
        destroy(box);
    }
    tdl_detector_destroy(d);
}

TEST(the_last_sites_can_be_put_back) {
    TdlDetector* d = make_detector(1.0e-3, true);
    Rigid* box =
        make_box((TdlPose){{0, 0, 0.025}, tdl_identity33()}, (TdlVec3){0.05, 0.04, 0.025}, 0.0);
    check_corners(d, box, 1.0e-3);
    int count;
    const ContactSite* sites = detector_sites(d, &count);
    REQUIRE(count == 4);
    ContactSite kept[4];
    memcpy(kept, sites, sizeof kept);
    const TdlContact* c = tdl_detector_contacts(d, &count);
    for (int i = 0; i < 4; ++i) {
        CHECK_NEAR(kept[i].contact.gap, c[i].gap, 0.0);
    }
    TdlDetector* e = make_detector(0.0, true);
    detector_set_margin(e, 1.0e-3, NULL);
    REQUIRE(detector_set_last(e, kept, 4) == TDL_STATUS_OK);
    check_corners(e, box, 1.0e-3);
    c = tdl_detector_contacts(e, &count);
    REQUIRE(count == 4);
    for (int i = 0; i < 4; ++i) {
        CHECK_INT(c[i].previous, i);
    }
    REQUIRE(detector_set_last(e, NULL, 0) == TDL_STATUS_OK);
    check_corners(e, box, 1.0e-3);
    c = tdl_detector_contacts(e, &count);
    CHECK_INT(c[0].previous, -1);
    destroy(box);
    tdl_detector_destroy(d);
    tdl_detector_destroy(e);
}

// The lowest local minimum of the height along the curve whose foot lies on the disc, by sampling.
static double sampled_disc_gap(const TdlCurve* c, const TdlColliderDef* plate) {
    enum { SAMPLES = 4000 };
    double height[SAMPLES + 1], out[SAMPLES + 1], least = INFINITY;
    for (int i = 0; i <= SAMPLES; ++i) {
        TdlVec3 p = tdl_sub3(tdl_curve_point(c, c->end * i / SAMPLES), plate->pose.position);
        height[i] = tdl_dot3(p, plate->pose.rotation.cz);
        out[i] = hypot(tdl_dot3(p, plate->pose.rotation.cx), tdl_dot3(p, plate->pose.rotation.cy));
    }
    for (int i = 0; i <= SAMPLES; ++i) {
        bool minimum =
            (i == 0 || height[i] <= height[i - 1]) && (i == SAMPLES || height[i] <= height[i + 1]);
        if (minimum && out[i] <= plate->length && height[i] >= -plate->radius) {
            least = fmin(least, height[i] - c->radius[0]);
        }
    }
    return least;
}

TEST(a_plate_is_a_plane_as_far_as_its_disc_goes) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(32);
    TdlDetector* d = make_detector(1.0, false);
    int touched = 0, missed = 0;
    for (int i = 0; i < 400; ++i) {
        TdlCurve c = random_curve(&rng, i % 3, random_vector(&rng, 0.4), 9.0);
        tdl_curve_set_radius(&host, 0.01, 0.01, &c);
        TdlColliderDef plate = {.shape = TDL_SHAPE_PLATE,
                                .radius = 0.3,
                                .length = 0.9,
                                .pose = {random_vector(&rng, 0.3), random_frame(&rng)}};
        TdlFibre fibre = {.curves = &c, .count = 1};
        REQUIRE(tdl_detector_update(d, &fibre, 1, &plate, 1, NULL) == TDL_STATUS_OK);
        int count;
        const TdlContact* k = tdl_detector_contacts(d, &count);
        double want = sampled_disc_gap(&c, &plate);
        if (want < 1.0) {
            ++touched;
            REQUIRE(count == 1);
            CHECK_NEAR(k[0].gap, want, 1.0e-5);
            CHECK_NEAR3(k[0].basis.cx, tdl_scale3(-1.0, plate.pose.rotation.cz), 1.0e-12);
        } else {
            ++missed;
            CHECK_INT(count, 0);
        }
    }
    printf("  %d touched, %d did not\n", touched, missed);
    CHECK(touched > 50 && missed > 50);
    tdl_detector_destroy(d);
}

// Least gap from the point of `c` at s to the other segment, by sampling.
static double sampled_gap(const TdlCurve* c, double s, const TdlCurve* other) {
    double least = INFINITY;
    for (int i = 0; i <= 4000; ++i) {
        TdlVec3 p = tdl_curve_point(other, other->end * i / 4000.0);
        least = fmin(least, tdl_norm3(tdl_sub3(p, tdl_curve_point(c, s))));
    }
    return least - c->radius[0] - other->radius[0];
}

TEST(straight_bodies_side_by_side_touch_at_both_ends_of_the_stretch) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(33);
    TdlDetector* d = make_detector(1.0e-3, true);
    for (int i = 0; i < 300; ++i) {
        // a bar of length 1, and one beside it of some length that begins somewhere along it
        TdlMat3 frame = random_frame(&rng);
        TdlVec3 at = random_vector(&rng, 1.0);
        double from = rng_range(&rng, -0.4, 0.8), length = rng_range(&rng, 0.3, 1.5);
        double away = 0.1 + 1.0e-4 * rng_normal(&rng);
        double tilt = i % 2 == 0 ? 0.0 : 1.0e-3 * rng_normal(&rng);
        TdlVec3 u = tdl_axpy3(frame.cx, tilt, frame.cz);
        TdlVec3 start = tdl_axpy3(tdl_axpy3(at, from, frame.cx), away, frame.cy);
        TdlCurve c[2];
        tdl_curve_segment(&host, at, tdl_add3(at, frame.cx), &c[0]);
        tdl_curve_segment(&host, start, tdl_axpy3(start, length, u), &c[1]);
        tdl_curve_set_radius(&host, 0.04, 0.04, &c[0]);
        tdl_curve_set_radius(&host, 0.06, 0.06, &c[1]);
        TdlFibre fibre[2] = {{.curves = &c[0], .count = 1, .stiff = true},
                             {.curves = &c[1], .count = 1, .stiff = true, .fixed = i % 3 == 0}};
        REQUIRE(tdl_detector_update(d, fibre, 2, NULL, 0, NULL) == TDL_STATUS_OK);
        int count;
        const TdlContact* k = tdl_detector_contacts(d, &count);
        double low = fmax(0.0, from), high = fmin(1.0, from + length);
        REQUIRE(count >= 2);
        CHECK(count == 2 || tilt != 0.0);
        double first = INFINITY, last = -INFINITY;
        for (int n = 0; n < count; ++n) {
            first = fmin(first, k[n].u[0]);
            last = fmax(last, k[n].u[0]);
            // half a sample of 1.5/4000 away: 1e-7 at a distance of 0.1
            CHECK_NEAR(k[n].gap, sampled_gap(&c[0], k[n].u[0], &c[1]), 1.0e-6);
            CHECK(fabs(tdl_dot3(k[n].basis.cx, frame.cy)) > 0.99);
            CHECK_BELOW(fabs(tdl_dot3(k[n].basis.cx, frame.cx)), 0.02);
        }
        CHECK_NEAR(first, low, 2.0e-3);
        CHECK_NEAR(last, high, 2.0e-3);
    }
    tdl_detector_destroy(d);
}

TEST(straight_bodies_that_cross_touch_once) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(34);
    TdlDetector* d = make_detector(1.0e-3, true);
    for (int i = 0; i < 100; ++i) {
        double angle = rng_range(&rng, 0.3, 2.8);
        TdlVec3 u = {cos(angle), sin(angle), 0};
        TdlCurve c[2];
        tdl_curve_segment(&host, (TdlVec3){-1, 0, 0}, (TdlVec3){1, 0, 0}, &c[0]);
        TdlVec3 middle = {rng_range(&rng, -0.5, 0.5), 0, 0.1};
        tdl_curve_segment(&host, tdl_sub3(middle, u), tdl_add3(middle, u), &c[1]);
        tdl_curve_set_radius(&host, 0.05, 0.05, &c[0]);
        tdl_curve_set_radius(&host, 0.05, 0.05, &c[1]);
        TdlFibre fibre[2] = {{.curves = &c[0], .count = 1, .stiff = true},
                             {.curves = &c[1], .count = 1, .stiff = true}};
        REQUIRE(tdl_detector_update(d, fibre, 2, NULL, 0, NULL) == TDL_STATUS_OK);
        int count;
        const TdlContact* k = tdl_detector_contacts(d, &count);
        REQUIRE(count == 1);
        CHECK_NEAR(k[0].gap, 0.0, 1.0e-14);
        CHECK_NEAR3(k[0].basis.cx, ((TdlVec3){0, 0, 1}), 1.0e-12);
    }
    tdl_detector_destroy(d);
}

// The lower box's top corners meet the upper one's bottom corners: four contacts of about thirty
// pairs of edges that meet there.
TEST(a_box_on_a_box_stands_on_four_corners) {
    TdlDetector* d = make_detector(1.0e-3, true);
    TdlVec3 half = {0.05, 0.04, 0.025};
    Rigid* box[2] = {make_box((TdlPose){{0, 0, 0.025}, tdl_identity33()}, half, 0.004),
                     make_box((TdlPose){{0, 0, 0.075}, tdl_identity33()}, half, 0.004)};
    TdlCurve curves[24];
    rigid_curves(box[0], curves);
    rigid_curves(box[1], curves + 12);
    TdlFibre fibre[2] = {{.curves = curves, .count = 12, .stiff = true},
                         {.curves = curves + 12, .count = 12, .stiff = true}};
    REQUIRE(tdl_detector_update(d, fibre, 2, NULL, 0, NULL) == TDL_STATUS_OK);
    int count;
    const TdlContact* k = tdl_detector_contacts(d, &count);
    CHECK_INT(count, 4);
    for (int i = 0; i < count; ++i) {
        CHECK_NEAR(k[i].gap, 0.0, 1.0e-15);
        CHECK_NEAR3(k[i].basis.cx, ((TdlVec3){0, 0, 1}), 1.0e-12);
        CHECK_NEAR(fabs(k[i].point[0].x), 0.046, 1.0e-14);
        CHECK_NEAR(fabs(k[i].point[0].y), 0.036, 1.0e-14);
    }
    destroy(box[0]);
    destroy(box[1]);
    tdl_detector_destroy(d);
}

// However a ball is turned, it is touched along the line from its centre.
TEST(a_ball_has_no_tangent) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(35);
    TdlDetector* d = make_detector(0.02, false);
    for (int i = 0; i < 100; ++i) {
        TdlCurve c[2] = {random_curve(&rng, i % 5, (TdlVec3){0}, 3.0)};
        tdl_curve_set_radius(&host, 0.01, 0.01, &c[0]);
        CurvePoint p = curve_eval(&c[0], 0.5 * c[0].end);
        TdlVec3 side = tdl_frame_from_tangent_hint(p.d1, random_vector(&rng, 1.0)).cy;
        TdlVec3 centre = tdl_axpy3(tdl_curve_point(&c[0], 0.5 * c[0].end), 0.06, side);
        tdl_curve_segment(&host, centre, centre, &c[1]);
        c[1].helix.t = tdl_unit3(random_vector(&rng, 1.0));
        tdl_curve_set_radius(&host, 0.05, 0.05, &c[1]);
        TdlFibre fibre[2] = {{.curves = &c[0], .count = 1},
                             {.curves = &c[1], .count = 1, .stiff = true}};
        TdlColliderDef ball = {
            .shape = TDL_SHAPE_SPHERE, .radius = 0.05, .pose = {centre, random_frame(&rng)}};
        for (int collider = 0; collider < 2; ++collider) {
            REQUIRE(tdl_detector_update(d, fibre, 2 - collider, &ball, collider, NULL) ==
                    TDL_STATUS_OK);
            int count;
            const TdlContact* k = tdl_detector_contacts(d, &count);
            REQUIRE(count == 1);
            TdlVec3 g = tdl_unit3(tdl_sub3(centre, k[0].point[0]));
            CHECK_NEAR3(k[0].basis.cx, g, 1.0e-12);
        }
    }
    tdl_detector_destroy(d);
}

TEST(fixed_fibres_touch_neither_each_other_nor_colliders) {
    TdlHost host = tdl_host_default();
    TdlCurve c[3];
    tdl_curve_segment(&host, (TdlVec3){-1, 0, 0}, (TdlVec3){1, 0, 0}, &c[0]);
    tdl_curve_segment(&host, (TdlVec3){0, -1, 0.01}, (TdlVec3){0, 1, 0.01}, &c[1]);
    tdl_curve_segment(&host, (TdlVec3){0.5, -1, 0.01}, (TdlVec3){0.5, 1, 0.01}, &c[2]);
    for (int i = 0; i < 3; ++i) {
        tdl_curve_set_radius(&host, 0.01, 0.01, &c[i]);
    }
    const TdlBroadPhase phases[2] = {TDL_BROAD_TREE, TDL_BROAD_SWEEP};
    for (int p = 0; p < 2; ++p) {
        TdlDetectorDef def = tdl_detector_def_default();
        def.broad = phases[p];
        TdlDetector* d;
        REQUIRE(tdl_detector_create(&host, &def, &d) == TDL_STATUS_OK);
        int count;
        // two fixed ones that cross, above the floor: nothing; one more crossing inside the second
        TdlFibre fibre[2] = {{.curves = &c[0], .count = 1, .fixed = true},
                             {.curves = &c[1], .count = 2, .fixed = true}};
        REQUIRE(tdl_detector_update(d, fibre, 2, &FLOOR, 1, NULL) == TDL_STATUS_OK);
        tdl_detector_contacts(d, &count);
        CHECK_INT(count, 0);
        // a rigid one against them: both crossings; and not with itself
        fibre[0] = (TdlFibre){.curves = &c[0], .count = 1, .stiff = true};
        REQUIRE(tdl_detector_update(d, fibre, 2, NULL, 0, NULL) == TDL_STATUS_OK);
        tdl_detector_contacts(d, &count);
        CHECK_INT(count, 2);
        fibre[0] = (TdlFibre){.curves = c, .count = 3, .stiff = true};
        REQUIRE(tdl_detector_update(d, fibre, 1, NULL, 0, NULL) == TDL_STATUS_OK);
        tdl_detector_contacts(d, &count);
        CHECK_INT(count, 0);
        tdl_detector_destroy(d);
    }
}

TEST(elements_touch_round_colliders_in_places_that_hold_them_where_asked) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(36);
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = 0.3;
    def.obstacle_ends = true;
    TdlDetector* d;
    REQUIRE(tdl_detector_create(&host, &def, &d) == TDL_STATUS_OK);
    const TdlShape shapes[3] = {TDL_SHAPE_SPHERE, TDL_SHAPE_CYLINDER, TDL_SHAPE_CAPSULE};
    int places_met = 0;
    for (int i = 0; i < 300; ++i) {
        TdlCurve c = random_curve(&rng, i % 5, random_vector(&rng, 0.4), 3.0);
        tdl_curve_set_radius(&host, 0.01, 0.01, &c);
        TdlColliderDef o = {.shape = shapes[i % 3],
                            .radius = 0.2,
                            .length = 0.3,
                            .pose = {random_vector(&rng, 0.3), random_frame(&rng)}};
        TdlFibre fibre = {.curves = &c, .count = 1};
        REQUIRE(tdl_detector_update(d, &fibre, 1, &o, 1, NULL) == TDL_STATUS_OK);
        int count;
        const TdlContact* k = tdl_detector_contacts(d, &count);
        // helices have two such places, curves of changing curvature two more
        const double place[4] = {0.0, 1.0, 0.5 - sqrt(0.05), 0.5 + sqrt(0.05)};
        for (int at = 0; at < (curve_is_helix(&c) ? 2 : 4); ++at) {
            // the nearest of many points of the collider's axis
            TdlVec3 p = tdl_curve_point(&c, place[at] * c.end);
            double gap = INFINITY;
            for (int n = 0; n <= 4000; ++n) {
                double share = n / 4000.0, t = o.shape == TDL_SHAPE_SPHERE    ? 0.0
                                               : o.shape == TDL_SHAPE_CAPSULE ? 0.3 * share
                                                                              : 8.0 * share - 4.0;
                TdlVec3 q = tdl_axpy3(o.pose.position, t, o.pose.rotation.cx);
                gap = fmin(gap, tdl_norm3(tdl_sub3(p, q)) - 0.21);
            }
            bool met = false;
            for (int n = 0; n < count; ++n) {
                // itself, or a deeper one so near that it stands for it
                met = met ||
                      (tdl_norm3(tdl_sub3(k[n].point[0], p)) < 0.02 && k[n].gap <= gap + 1.0e-5);
                CHECK(k[n].gap < def.margin);
            }
            CHECK(met == (gap < def.margin) || fabs(gap - def.margin) < 1.0e-4);
            places_met += met;
        }
    }
    CHECK(places_met > 200);
    tdl_detector_destroy(d);
}

// One search against the other, in all positions and for helices that keep their distance.
TEST(curves_on_round_colliders_have_the_least_gap_of_the_general_search) {
    TdlHost host = tdl_host_default();
    Rng rng = rng_seed(37);
    TdlDetectorDef def = tdl_detector_def_default();
    def.margin = 0.5;
    TdlDetector* d[2];
    REQUIRE(tdl_detector_create(&host, &def, &d[0]) == TDL_STATUS_OK);
    def.method = TDL_DISTANCE_PLAIN;
    def.tolerance = 1.0e-5; // its square is what the gap of a minimum is off by
    REQUIRE(tdl_detector_create(&host, &def, &d[1]) == TDL_STATUS_OK);
    int touched = 0;
    for (int i = 0; i < 300; ++i) {
        TdlColliderDef o = {.shape = i % 2 == 0 ? TDL_SHAPE_SPHERE : TDL_SHAPE_CYLINDER,
                            .radius = 0.2,
                            .pose = {random_vector(&rng, 0.3), random_frame(&rng)}};
        TdlCurve c = random_curve(&rng, i % 3 != 0, random_vector(&rng, 0.3), 12.0);
        if (i % 6 == 3) {
            c = random_curve(&rng, 2, random_vector(&rng, 0.3), 12.0);
        }
        if (i % 3 == 2) { // round the collider, at a distance that changes by a little or not
            TdlMat3 f = {o.pose.rotation.cz, tdl_scale3(-1.0, o.pose.rotation.cy),
                         o.pose.rotation.cx};
            TdlVec3 at = tdl_axpy3(o.pose.position, 0.25, o.pose.rotation.cy);
            double bend = 4.0 + (i % 4 == 2 ? 0.0 : 0.1 * rng_normal(&rng));
            REQUIRE(tdl_curve_helix(&host, (TdlPose){at, f}, (TdlVec3){0, 0, bend}, 0.5, &c) ==
                    TDL_STATUS_OK);
        }
        tdl_curve_set_radius(&host, 0.01, 0.01, &c);
        TdlFibre fibre = {.curves = &c, .count = 1};
        int count[2];
        const TdlContact* k[2];
        for (int n = 0; n < 2; ++n) {
            REQUIRE(tdl_detector_update(d[n], &fibre, 1, &o, 1, NULL) == TDL_STATUS_OK);
            k[n] = tdl_detector_contacts(d[n], &count[n]);
        }
        CHECK_INT(count[0], count[1]);
        if (count[0] == 1 && count[1] == 1) {
            ++touched;
            CHECK(k[0]->gap <= k[1]->gap + 1.0e-12);
            CHECK_NEAR(k[0]->gap, k[1]->gap, 1.0e-9);
            TdlVec3 g = tdl_unit3(tdl_sub3(k[0]->point[1], k[0]->point[0]));
            CHECK(tdl_dot3(g, k[0]->basis.cx) > 1.0 - 1.0e-9);
        }
    }
    CHECK(touched > 100);
    tdl_detector_destroy(d[0]);
    tdl_detector_destroy(d[1]);
}

// The distance of a point of a curve from a ball's centre or a cylinder's axis.
static double height_above(const TdlColliderDef* o, const TdlCurve* c, double s) {
    TdlVec3 x = tdl_sub3(tdl_curve_point(c, s), o->pose.position);
    double along = o->shape == TDL_SHAPE_SPHERE ? 0.0 : tdl_dot3(x, o->pose.rotation.cx);
    return tdl_norm3(tdl_axpy3(x, -along, o->pose.rotation.cx));
}

// All minima are those of 20000 samples, and nothing else is one.
TEST(all_minima_on_round_colliders_are_those_of_a_fine_sampling) {
    Rng rng = rng_seed(38);
    enum { SAMPLES = 20000 };
    int minima = 0, several = 0, most = 0;
    for (int i = 0; i < 200; ++i) {
        TdlColliderDef o = {.shape = i % 2 == 0 ? TDL_SHAPE_SPHERE : TDL_SHAPE_CYLINDER,
                            .radius = 0.2,
                            .pose = {random_vector(&rng, 0.2), random_frame(&rng)}};
        TdlCurve c = random_curve(&rng, 1 + i / 2 % 2, random_vector(&rng, 0.2),
                                  i % 5 == 0 ? 120.0 : 25.0); // some wind many times
        TdlCurve axis = obstacle_curve(&o, &c);
        TdlDistance found[ROUND_POINTS];
        REQUIRE(obstacle_is_round(&o, &c));
        int count = obstacle_round(&o, &axis, &c, 0.4, 1.0e-12, true, found), listed = 0;
        for (int k = 0; k <= SAMPLES; ++k) {
            double h = c.end / SAMPLES, s = k * h, d = height_above(&o, &c, s);
            bool low = (k == 0 || height_above(&o, &c, s - h) >= d) &&
                       (k == SAMPLES || height_above(&o, &c, s + h) > d);
            if (!low || d - 0.2 > 0.4 - 1.0e-6) {
                continue;
            }
            double near = INFINITY;
            for (int n = 0; n < count; ++n) {
                near = fmin(near, fabs(found[n].s[0] - s));
            }
            CHECK_BELOW(near, 1.01 * h);
            ++listed;
        }
        CHECK_INT(count, listed);
        for (int n = 0; n < count; ++n) {
            CHECK_NEAR(found[n].gap, height_above(&o, &c, found[n].s[0]) - 0.2, 1.0e-14);
            CHECK(n == 0 || found[n].gap >= found[n - 1].gap);
        }
        minima += listed;
        several += listed > 1;
        most = listed > most ? listed : most;
    }
    printf("  %d minima, several on %d curves, at most %d\n", minima, several, most);
    CHECK(minima > 150 && several > 40 && most > 8);
}

// Of one that keeps its distance to rounding, one place between the ends stands for all.
TEST(a_curve_that_keeps_its_distance_has_its_ends_and_a_middle) {
    TdlHost host = tdl_host_default();
    TdlColliderDef o = {.shape = TDL_SHAPE_CYLINDER,
                        .radius = 0.1,
                        .pose.rotation = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
    TdlPose start = {{0.101, 0, 0}, {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}};
    TdlVec3 kappa = {0.0, 0.0, 1.0 / 0.101};
    for (int kind = 0; kind < 2; ++kind) {
        TdlCurve c;
        REQUIRE((kind == 0
                     ? tdl_curve_helix(&host, start, kappa, 0.02, &c)
                     : tdl_curve_clothoid(&host, start, kappa, kappa, 0.02, &c)) == TDL_STATUS_OK);
        tdl_curve_set_radius(&host, 1.0e-3, 1.0e-3, &c);
        TdlCurve axis = obstacle_curve(&o, &c);
        TdlDistance found[ROUND_POINTS];
        int count = obstacle_round(&o, &axis, &c, 1.0e-4, 1.0e-12, true, found);
        bool middle = false;
        for (int n = 0; n < count; ++n) {
            middle = middle || fabs(found[n].s[0] - 0.5 * c.end) < 0.01 * c.end;
            CHECK_BELOW(fabs(found[n].gap), 1.0e-14);
        }
        CHECK(middle);
        CHECK(count <= 3);
    }
}

TEST(a_fibre_round_a_cylinder_touches_with_every_element) {
    // half a turn of twelve elements at the right distance: one contact for each at least, however
    // wide the cylinder is
    TdlHost host = tdl_host_default();
    double R = 0.1, r = 1.0e-3, pi = 3.14159265358979323846;
    TdlCurvePiece pieces[12];
    for (int i = 0; i < 12; ++i) {
        pieces[i] = (TdlCurvePiece){pi * (R + r) / 12.0, {0.0, 0.0, 1.0 / (R + r)}};
    }
    TdlCurve c[12];
    TdlPose start = {{R + r, 0, 0}, {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}};
    REQUIRE(curve_chain(&host, "test", start, pieces, 12, r, c) == TDL_STATUS_OK);
    TdlFibre fibre = {.curves = c, .count = 12};
    TdlColliderDef cylinder = {.shape = TDL_SHAPE_CYLINDER,
                               .radius = R,
                               .pose.rotation = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
    TdlDetector* d = make_detector(1.0e-4, true);
    REQUIRE(tdl_detector_update(d, &fibre, 1, &cylinder, 1, NULL) == TDL_STATUS_OK);
    int count, met[12] = {0};
    const TdlContact* k = tdl_detector_contacts(d, &count);
    for (int i = 0; i < count; ++i) {
        ++met[k[i].element[0]];
    }
    for (int e = 0; e < 12; ++e) {
        CHECK(met[e] >= 1);
    }
    tdl_detector_destroy(d);
}
