// Curves against closed forms, against each other, and against finite differences.
#include "ref/curve_pairs.h"

#include "curve/curve.h"
#include "test.h"

static TdlHost host(void) {
    return tdl_host_default();
}

TEST(bad_curves_are_refused) {
    TdlHost h = host();
    TdlCurve c;
    TdlPose start = {{0}, tdl_identity33()};
    TdlVec3 bad[3] = {{NAN, 0, 0}, {0, INFINITY, 0}, {0, 0, -INFINITY}};
    for (int i = 0; i < 3; ++i) {
        TdlVec3 zero = {0}, control[4] = {zero, zero, bad[i], zero};
        TdlPose moved = {bad[i], tdl_identity33()};
        CHECK_INT(tdl_curve_segment(&h, bad[i], (TdlVec3){0}, &c), TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(tdl_curve_segment(&h, (TdlVec3){0}, bad[i], &c), TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(tdl_curve_cubic(&h, control, &c), TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(tdl_curve_quadratic(&h, control, &c), TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(tdl_curve_helix(&h, moved, (TdlVec3){0}, 1.0, &c), TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(tdl_curve_helix(&h, start, bad[i], 1.0, &c), TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(tdl_curve_clothoid(&h, start, (TdlVec3){0}, bad[i], 1.0, &c),
                  TDL_STATUS_BAD_ARGUMENT);
    }
    CHECK_INT(tdl_curve_helix(&h, start, (TdlVec3){0}, -1.0, &c), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_curve_helix(&h, start, (TdlVec3){0}, NAN, &c), TDL_STATUS_BAD_ARGUMENT);
    start.rotation.cx.x = 2.0;
    CHECK_INT(tdl_curve_helix(&h, start, (TdlVec3){0}, 1.0, &c), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_curve_user(&h, NULL, NULL, 1.0, &c), TDL_STATUS_BAD_ARGUMENT);
    REQUIRE(tdl_curve_segment(&h, (TdlVec3){0}, (TdlVec3){1, 0, 0}, &c) == TDL_STATUS_OK);
    CHECK_INT(tdl_curve_set_radius(&h, -1.0, 1.0, &c), TDL_STATUS_BAD_ARGUMENT);
    CHECK_INT(tdl_curve_set_radius(&h, 1.0, NAN, &c), TDL_STATUS_BAD_ARGUMENT);
}

TEST(a_helix_is_the_textbook_helix) {
    // radius r and rise p per radian about the z axis
    TdlHost h = host();
    double r = 0.7, p = 0.2, speed = hypot(r, p);
    TdlVec3 t = {0, r / speed, p / speed}, n = {-1, 0, 0};
    TdlPose start = {{r, 0, 0}, {t, n, tdl_cross3(t, n)}};
    TdlVec3 kappa = tdl_tmul33_3(start.rotation, (TdlVec3){0, 0, 1.0 / speed});
    TdlCurve c;
    REQUIRE(tdl_curve_helix(&h, start, kappa, 20.0, &c) == TDL_STATUS_OK);
    for (double s = 0.0; s <= 20.0; s += 0.37) {
        double phi = s / speed;
        TdlVec3 exact = {r * cos(phi), r * sin(phi), p * phi};
        CHECK_NEAR3(tdl_curve_point(&c, s), exact, 2.0e-14); // 27 rad of turning
        TdlVec3 d1 = {-r / speed * sin(phi), r / speed * cos(phi), p / speed};
        CHECK_NEAR3(tdl_curve_derivative(&c, s), d1, 2.0e-14);
    }
    CHECK_NEAR(tdl_curve_second_bound(&c, 0.0, 20.0), r / (r * r + p * p), 1.0e-14);
}

TEST(a_clothoid_of_constant_curvature_is_the_helix) {
    TdlHost h = host();
    Rng rng = rng_seed(5);
    for (int i = 0; i < 50; ++i) {
        TdlPose start = {random_vector(&rng, 1.0), random_frame(&rng)};
        TdlVec3 kappa = axis_curvature(&rng, 19.0);
        TdlCurve helix, clothoid;
        REQUIRE(tdl_curve_helix(&h, start, kappa, 1.0, &helix) == TDL_STATUS_OK);
        REQUIRE(tdl_curve_clothoid(&h, start, kappa, kappa, 1.0, &clothoid) == TDL_STATUS_OK);
        for (double s = 0.0; s <= 1.0; s += 0.0625) {
            CHECK_NEAR3(tdl_curve_point(&clothoid, s), tdl_curve_point(&helix, s), 1.0e-14);
            CHECK_NEAR3(tdl_curve_derivative(&clothoid, s), tdl_curve_derivative(&helix, s),
                        2.0e-14);
        }
    }
}

TEST(a_plane_clothoid_has_the_angle_of_its_curvature) {
    // k2 from 1 to 9 about the third axis: the angle is s + 4 s^2
    TdlHost h = host();
    TdlPose start = {{0}, tdl_identity33()};
    TdlCurve c;
    REQUIRE(tdl_curve_clothoid(&h, start, (TdlVec3){0, 0, 1}, (TdlVec3){0, 0, 9}, 1.0, &c) ==
            TDL_STATUS_OK);
    for (double s = 0.0; s <= 1.0; s += 0.1) {
        double angle = s + 4.0 * s * s;
        CHECK_NEAR3(tdl_curve_derivative(&c, s), ((TdlVec3){cos(angle), sin(angle), 0.0}), 1.0e-14);
    }
}

TEST(beziers_are_de_casteljau) {
    TdlHost h = host();
    Rng rng = rng_seed(6);
    TdlVec3 p[4];
    for (int i = 0; i < 4; ++i) {
        p[i] = random_vector(&rng, 1.0);
    }
    TdlCurve cubic, quadratic;
    REQUIRE(tdl_curve_cubic(&h, p, &cubic) == TDL_STATUS_OK);
    REQUIRE(tdl_curve_quadratic(&h, p, &quadratic) == TDL_STATUS_OK);
    for (double s = 0.0; s <= 1.0; s += 0.125) {
        TdlVec3 q[4] = {p[0], p[1], p[2], p[3]};
        for (int level = 3; level > 0; --level) {
            for (int i = 0; i < level; ++i) {
                q[i] = tdl_axpy3(tdl_scale3(1.0 - s, q[i]), s, q[i + 1]);
            }
        }
        CHECK_NEAR3(tdl_curve_point(&cubic, s), q[0], 4.0e-15);
        TdlVec3 a = tdl_axpy3(tdl_scale3(1.0 - s, p[0]), s, p[1]);
        TdlVec3 b = tdl_axpy3(tdl_scale3(1.0 - s, p[1]), s, p[2]);
        CHECK_NEAR3(tdl_curve_point(&quadratic, s), tdl_axpy3(tdl_scale3(1.0 - s, a), s, b),
                    4.0e-15);
    }
}

TEST(derivatives_by_differences_at_three_steps) {
    Rng rng = rng_seed(7);
    for (int kind = 0; kind < 5; ++kind) {
        TdlCurve c = random_curve(&rng, kind, (TdlVec3){0}, 12.0);
        CurvePoint at = curve_eval(&c, 0.4);
        double last1 = 0.0, last2 = 0.0;
        for (int k = 0; k < 3; ++k) {
            double x = 1.0e-2 / (1 << k);
            CurvePoint p = curve_eval(&c, 0.4 + x), m = curve_eval(&c, 0.4 - x);
            TdlVec3 d1 = tdl_scale3(0.5 / x, tdl_sub3(p.p, m.p));
            TdlVec3 d2 = tdl_scale3(0.5 / x, tdl_sub3(p.d1, m.d1));
            double e1 = tdl_norm3(tdl_sub3(d1, at.d1)), e2 = tdl_norm3(tdl_sub3(d2, at.d2));
            if (k > 0 && last1 > 1.0e-9) {
                CHECK_NEAR(last1 / e1, 4.0, 0.2); // second order
            }
            if (k > 0 && last2 > 1.0e-9) {
                CHECK_NEAR(last2 / e2, 4.0, 0.2);
            }
            last1 = e1;
            last2 = e2;
        }
        CHECK_BELOW(last1, 2.0e-3);
    }
}

TEST(second_derivatives_keep_their_bound) {
    Rng rng = rng_seed(8);
    for (int i = 0; i < 500; ++i) {
        TdlCurve c = random_curve(&rng, i % 5, random_vector(&rng, 1.0), 19.0);
        double s0 = rng_unit(&rng) * c.end, s1 = s0 + (c.end - s0) * rng_unit(&rng);
        double bound = tdl_curve_second_bound(&c, s0, s1);
        for (int k = 0; k <= 20; ++k) {
            double s = s0 + (s1 - s0) * k / 20.0;
            CHECK(tdl_norm3(curve_eval(&c, s).d2) <= bound * (1.0 + 1.0e-14));
        }
    }
}

// Positions as computed against quadruple precision: the rounding that the bounds allow for. (X.3)
TEST(helix_places_are_within_the_rounding_allowed) {
    Rng rng = rng_seed(9);
    double worst = 0.0;
    for (int i = 0; i < 2000; ++i) {
        TdlCurve c = random_curve(&rng, 1, (TdlVec3){0}, 19.0);
        double s = rng_unit(&rng);
        // the same vectors, with functions in long double
        long double w = sqrtl((long double)c.helix.w2), x = w * s;
        long double f2 = (1.0L - cosl(x)) / (w * w), f3 = (x - sinl(x)) / (w * w * w);
        long double e[3];
        const TdlVec3 t = c.helix.t, e1 = c.helix.e1, e2 = c.helix.e2;
        e[0] = (long double)s * t.x + f2 * e1.x + f3 * e2.x;
        e[1] = (long double)s * t.y + f2 * e1.y + f3 * e2.y;
        e[2] = (long double)s * t.z + f2 * e1.z + f3 * e2.z;
        TdlVec3 p = curve_eval(&c, s).p;
        double off = (double)hypotl(hypotl(p.x - e[0], p.y - e[1]), p.z - e[2]);
        worst = fmax(worst, off / (curve_rounding(&c) * curve_size(&c)));
    }
    printf("  worst place: %.2f of what is allowed\n", worst);
    CHECK_BELOW(worst, 1.0);
}

TEST(a_moved_curve_is_the_curve_of_moved_points) {
    Rng rng = rng_seed(10);
    for (int i = 0; i < 100; ++i) {
        TdlCurve c = random_curve(&rng, i % 5, random_vector(&rng, 1.0), 9.0);
        TdlPose pose = {random_vector(&rng, 1.0), random_frame(&rng)};
        TdlCurve moved = curve_moved(&c, pose);
        for (int k = 0; k <= 10; ++k) {
            double s = 0.1 * k * c.end;
            TdlVec3 p = tdl_mul33_3(pose.rotation, tdl_curve_point(&c, s));
            CHECK_NEAR3(tdl_curve_point(&moved, s), tdl_add3(pose.position, p), 1.0e-13);
            CHECK_NEAR3(tdl_curve_derivative(&moved, s),
                        tdl_mul33_3(pose.rotation, tdl_curve_derivative(&c, s)), 1.0e-13);
        }
        CHECK_NEAR(tdl_curve_second_bound(&moved, 0.0, c.end),
                   tdl_curve_second_bound(&c, 0.0, c.end), 1.0e-12);
    }
}

TEST(a_chain_is_smooth_and_refuses_bad_pieces) {
    TdlHost h = host();
    TdlPose start = {{1, 2, 3}, tdl_rotation_exp((TdlVec3){1, -1, 0.5})};
    TdlCurvePiece pieces[3] = {{0.5, {1, 2, 3}}, {1.0, {0, 0, 0}}, {0.25, {-8, 0, 4}}};
    TdlCurve c[3];
    REQUIRE(curve_chain(&h, "test", start, pieces, 3, 0.1, c) == TDL_STATUS_OK);
    CHECK_NEAR3(tdl_curve_point(&c[0], 0.0), start.position, 0.0);
    for (int i = 0; i < 2; ++i) {
        CHECK_NEAR3(tdl_curve_point(&c[i], c[i].end), tdl_curve_point(&c[i + 1], 0.0), 1.0e-15);
        CHECK_NEAR3(tdl_curve_derivative(&c[i], c[i].end), tdl_curve_derivative(&c[i + 1], 0.0),
                    1.0e-14);
        CHECK_NEAR(c[i].radius[1], 0.1, 0.0);
    }
    CHECK_INT(curve_chain(&h, "test", start, pieces, 0, 0.1, c), TDL_STATUS_BAD_ARGUMENT);
    pieces[1].length = 0.0;
    CHECK_INT(curve_chain(&h, "test", start, pieces, 3, 0.1, c), TDL_STATUS_BAD_ARGUMENT);
    pieces[1].length = 1.0;
    pieces[2].curvature.y = NAN;
    CHECK_INT(curve_chain(&h, "test", start, pieces, 3, 0.1, c), TDL_STATUS_BAD_ARGUMENT);
}
