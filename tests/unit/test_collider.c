// Colliders: their checks, the curves of combs, chains and plates, and their motion.
#include "collider/shape.h"

#include "math/rotation.h"
#include "test.h"

static const double PI = 3.14159265358979323846;

static TdlColliderDef plain_def(TdlShape shape) {
    return (TdlColliderDef){.shape = shape,
                            .radius = 0.01,
                            .length = 0.2,
                            .teeth = 5,
                            .pitch = 0.03,
                            .pose.rotation = tdl_identity33()};
}

TEST(a_comb_has_teeth_and_a_handle) {
    TdlHost host = tdl_host_default();
    TdlColliderDef def = plain_def(TDL_SHAPE_COMB);
    TdlCurve c[6];
    REQUIRE(collider_curve_count(&def) == 6);
    REQUIRE(collider_curves(&host, &def, c) == TDL_STATUS_OK);
    for (int i = 0; i < 5; ++i) {
        CHECK_NEAR3(tdl_curve_point(&c[i], 0.0), ((TdlVec3){0.03 * (i - 2), 0, 0}), 1.0e-16);
        CHECK_NEAR3(tdl_curve_point(&c[i], 0.2), ((TdlVec3){0.03 * (i - 2), 0, -0.2}), 1.0e-16);
        CHECK_NEAR(c[i].radius[0], 0.01, 0.0);
    }
    CHECK_NEAR3(tdl_curve_point(&c[5], 0.0), ((TdlVec3){-0.06, 0, 0}), 1.0e-16);
    CHECK_NEAR3(tdl_curve_point(&c[5], c[5].end), ((TdlVec3){0.06, 0, 0}), 1.0e-16);
    CHECK_NEAR(c[5].radius[1], 0.02, 0.0);
}

TEST(a_rim_is_a_closed_circle) {
    TdlHost host = tdl_host_default();
    TdlColliderDef def = plain_def(TDL_SHAPE_PLATE);
    TdlCurve c[4];
    REQUIRE(collider_curve_count(&def) == 4);
    REQUIRE(collider_curves(&host, &def, c) == TDL_STATUS_OK);
    double length = 0.0;
    for (int i = 0; i < 4; ++i) {
        length += c[i].end;
        for (int k = 0; k <= 20; ++k) {
            TdlVec3 p = tdl_curve_point(&c[i], c[i].end * k / 20.0);
            CHECK_NEAR(hypot(p.x, p.y), 0.2, 1.0e-15);
            CHECK_NEAR(p.z, 0.0, 1.0e-16);
        }
        CHECK_NEAR3(tdl_curve_point(&c[i], c[i].end), tdl_curve_point(&c[(i + 1) % 4], 0.0),
                    1.0e-15);
    }
    CHECK_NEAR(length, 2.0 * PI * 0.2, 1.0e-14);
}

TEST(a_chain_starts_at_the_place_along_the_first_axis) {
    TdlHost host = tdl_host_default();
    TdlCurvePiece pieces[2] = {{1.0, {0, 0, 0}}, {PI, {0, 0, 1}}};
    TdlColliderDef def = plain_def(TDL_SHAPE_CURVES);
    def.pieces = pieces;
    def.piece_count = 2;
    TdlCurve c[2];
    REQUIRE(collider_curve_count(&def) == 2);
    REQUIRE(collider_curves(&host, &def, c) == TDL_STATUS_OK);
    CHECK_NEAR3(tdl_curve_point(&c[0], 1.0), ((TdlVec3){1, 0, 0}), 1.0e-15);
    CHECK_NEAR3(tdl_curve_point(&c[1], PI), ((TdlVec3){1, 2, 0}), 1.0e-15); // half a turn
    TdlShape plain[] = {TDL_SHAPE_PLANE, TDL_SHAPE_SPHERE, TDL_SHAPE_CYLINDER, TDL_SHAPE_CAPSULE};
    for (int i = 0; i < 4; ++i) {
        def = plain_def(plain[i]);
        CHECK_INT(collider_curve_count(&def), 0);
    }
}

static void check_fault(TdlColliderDef def, const char* message) {
    const char* fault = collider_find_fault(&def);
    CHECK_TEXT(fault == NULL ? "none" : fault, message);
}

TEST(faults_are_named) {
    for (int i = 0; i < 6; ++i) {
        check_fault(plain_def((TdlShape)i), "none");
    }
    TdlColliderDef def = plain_def(TDL_SHAPE_CURVES);
    check_fault(def, "piece_count must be from 1 to 100000");
    TdlCurvePiece piece = {-1.0, {0, 0, 0}};
    def.pieces = &piece;
    def.piece_count = 1;
    check_fault(def, "length of a piece must be positive, its curvature finite");
    piece.length = 1.0;
    check_fault(def, "none");
    check_fault(
        plain_def((TdlShape)9),
        "shape must be plane, sphere, cylinder, capsule, plate, comb, curves, mesh or implicit");
    const double bad[] = {0.0, -1.0, NAN, INFINITY};
    for (int i = 0; i < 4; ++i) {
        def = plain_def(TDL_SHAPE_COMB);
        def.radius = bad[i];
        check_fault(def, "radius must be positive");
        def = plain_def(TDL_SHAPE_COMB);
        def.pitch = bad[i];
        check_fault(def, "pitch must be positive");
        def = plain_def(TDL_SHAPE_PLATE);
        def.length = bad[i];
        check_fault(def, "length must be positive");
    }
    def = plain_def(TDL_SHAPE_CAPSULE);
    def.length = -1.0;
    check_fault(def, "length must not be negative");
    def = plain_def(TDL_SHAPE_COMB);
    def.teeth = 0;
    check_fault(def, "teeth must be from 1 to 99999");
    def = plain_def(TDL_SHAPE_PLANE);
    def.velocity.z = NAN;
    check_fault(def, "velocity and angular_velocity must be finite");
    def = plain_def(TDL_SHAPE_PLANE);
    def.material = -1;
    check_fault(def, "material must be from 0 to 63");
    def = plain_def(TDL_SHAPE_PLANE);
    def.pose.rotation.cy.x = 0.1;
    check_fault(def, "pose must be a finite place and a rotation");
}

TEST(velocities_come_on_top_of_keys) {
    TdlHost host = tdl_host_default();
    TdlKeyframe keys[2] = {{.time = 1.0},
                           {.time = 3.0, .position = {0, 2, 0}, .rotation = {0, 1, 0}}};
    TdlColliderDef def = plain_def(TDL_SHAPE_SPHERE);
    TdlPose placed = {{1, 0, 0}, tdl_rotation_exp((TdlVec3){0.1, 0.2, 0.3})};
    Motion still, m;
    REQUIRE(collider_motion(&host, &def, &still) == TDL_STATUS_OK);
    CHECK_NEAR3(motion_pose(&still, placed, 5.0).position, placed.position, 0.0);

    def.velocity = (TdlVec3){0.5, 0, 0};
    def.angular_velocity = (TdlVec3){0, 0, 7.0};
    def.motion =
        (TdlMotionDef){.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_LINEAR};
    REQUIRE(collider_motion(&host, &def, &m) == TDL_STATUS_OK);
    for (int i = 0; i < 20; ++i) {
        double t = 0.2 * i, share = fmin(1.0, fmax(0.0, 0.5 * (t - 1.0)));
        TdlPose pose = motion_pose(&m, placed, t);
        CHECK_NEAR3(pose.position, ((TdlVec3){1.0 + 0.5 * t, 2.0 * share, 0.0}), 1.0e-15 * 10);
        TdlMat3 want =
            tdl_mul33(tdl_rotation_exp((TdlVec3){0, 0, 7.0 * t}),
                      tdl_mul33(tdl_rotation_exp((TdlVec3){0, share, 0}), placed.rotation));
        CHECK_NEAR3(pose.rotation.cx, want.cx, 1.0e-14);
        CHECK_NEAR3(pose.rotation.cy, want.cy, 1.0e-14);
    }
    motion_destroy(&host, &m);
    def.motion = (TdlMotionDef){0};
    def.velocity = (TdlVec3){0};
    REQUIRE(collider_motion(&host, &def, &m) == TDL_STATUS_OK);
    CHECK_NEAR3(motion_pose(&m, placed, 2.0).position, placed.position, 0.0);
    motion_destroy(&host, &m);
}

// A clamp that turns about a point with many others goes on a circle about it, and then further.
TEST(a_motion_about_a_point_turns_the_place_too) {
    TdlHost host = tdl_host_default();
    const TdlKeyframe keys[2] = {{.time = 0.0}, {2.0, {0.0, 0.0, 1.0}, {0.0, 0.0, PI}}};
    TdlMotionDef def = {.keys = keys,
                        .key_count = 2,
                        .interpolation = TDL_INTERPOLATION_LINEAR,
                        .about_point = true,
                        .about = {1.0, 0.0, 5.0}};
    Motion m;
    REQUIRE(motion_create(&host, &def, &m) == TDL_STATUS_OK);
    TdlPose placed = {{3.0, 0.0, 0.0}, tdl_frame_from_tangent((TdlVec3){0.0, 1.0, 0.0})};
    for (int i = 0; i <= 8; ++i) {
        double t = 0.25 * i, angle = 0.5 * PI * t;
        TdlPose pose = motion_pose(&m, placed, t);
        TdlVec3 expected = {1.0 + 2.0 * cos(angle), 2.0 * sin(angle), 0.5 * t};
        CHECK_NEAR3(pose.position, expected, 1.0e-15);
        CHECK_NEAR3(pose.rotation.cx, ((TdlVec3){-sin(angle), cos(angle), 0.0}), 1.0e-15);
    }
    motion_destroy(&host, &m);
    def.about.x = INFINITY;
    CHECK_INT(motion_create(&host, &def, &m), TDL_STATUS_BAD_ARGUMENT);
}
