// Rigid bodies in contact against the textbook: sliding, sticking, rolling, tipping, bouncing,
// being dragged, standing on each other.
#include "base/hash.h"
#include "look.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"
#include "things.h"

static const double G = 9.81;
static const double PI = 3.14159265358979323846;

static TdlWorld* make_world(double step, double mu, double restitution) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.step = step;
    def.contacts.law = (TdlContactLaw){mu, restitution};
    def.contacts.tolerance = 1.0e-10; // forces to ten digits; rounding leaves about twelve
    def.contacts.max_iterations = 10000;
    TdlWorld* world = NULL;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        FAIL("world refused");
    }
    return world;
}

// A plane through the origin that falls off along x at the angle `slope`.
static void add_slope(TdlWorld* world, double slope) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_PLANE;
    def.pose.rotation = tdl_rotation_exp((TdlVec3){0, slope, 0});
    if (tdl_world_add_collider(world, &def, &id) != TDL_STATUS_OK) {
        FAIL("plane refused");
    }
}

// Where body `index` is along the slope, and above it.
static double along(const TdlWorld* world, int index, double slope) {
    return tdl_dot3(look_rigid_pose(world, index).position, (TdlVec3){cos(slope), 0, -sin(slope)});
}

static double above(const TdlWorld* world, int index, double slope) {
    return tdl_dot3(look_rigid_pose(world, index).position, (TdlVec3){sin(slope), 0, cos(slope)});
}

// --- slopes ----------------------------------------------------------------------------------

static TdlPose on_slope(double slope, double height) {
    TdlMat3 r = tdl_rotation_exp((TdlVec3){0, slope, 0});
    return (TdlPose){tdl_scale3(height, r.cz), r};
}

TEST(a_block_slides_down_a_slope_as_in_the_textbook) {
    const double slopes[] = {0.3, 0.6, 1.2}, mu[] = {0.0, 0.2, 0.5}, radii[] = {0.0, 0.003};
    for (int i = 0; i < 18; ++i) {
        double slope = slopes[i % 3], m = mu[i / 3 % 3], t = 0.5;
        TdlWorld* world = make_world(1.0e-3, m, 0.0);
        add_slope(world, slope);
        // flat, so that it does not tip on the steepest slope with the most friction
        TdlVec3 half = {0.05, 0.04, 0.02};
        add_box(world, half, radii[i / 9], on_slope(slope, half.z), (TdlVec3){0});
        run_steps(world, 500);
        double a = G * (sin(slope) - m * cos(slope)), want = a > 0.0 ? 0.5 * a * t * t : 0.0;
        CHECK_NEAR(along(world, 0, slope), want, 1.0e-6 * (want + 0.01));
        CHECK_NEAR(above(world, 0, slope), half.z, 1.0e-8);
        tdl_world_destroy(world);
    }
}

TEST(a_block_sticks_up_to_the_friction_angle) {
    double m = 0.4, limit = atan(m);
    const double share[] = {0.99, 0.9999, 1.0001, 1.01};
    for (int i = 0; i < 4; ++i) {
        double slope = share[i] * limit;
        TdlWorld* world = make_world(1.0e-3, m, 0.0);
        add_slope(world, slope);
        add_box(world, (TdlVec3){0.05, 0.04, 0.02}, 0.002, on_slope(slope, 0.02), (TdlVec3){0});
        run_steps(world, 1000);
        double a = G * (sin(slope) - m * cos(slope)), want = a > 0.0 ? 0.5 * a : 0.0;
        CHECK_NEAR(along(world, 0, slope), want, 1.0e-9 + 1.0e-6 * want);
        tdl_world_destroy(world);
    }
}

TEST(a_sphere_rolls_or_slips_down_a_slope) {
    double r = 0.03, t = 0.5;
    const double slopes[] = {0.2, 0.7, 1.2}, mu[] = {0.0, 0.1, 0.25, 0.9};
    for (int i = 0; i < 12; ++i) {
        double slope = slopes[i % 3], m = mu[i / 3];
        TdlWorld* world = make_world(1.0e-3, m, 0.0);
        add_slope(world, slope);
        add_sphere(world, r, on_slope(slope, r).position, (TdlVec3){0});
        run_steps(world, 500);
        // it rolls when mu is at least 2/7 of the slope's tangent
        bool rolls = m >= 2.0 / 7.0 * tan(slope);
        double a = rolls ? 5.0 / 7.0 * G * sin(slope) : G * (sin(slope) - m * cos(slope));
        double spin = rolls ? a / r : 2.5 * m * G * cos(slope) / r;
        CHECK_NEAR(along(world, 0, slope), 0.5 * a * t * t, 1.0e-6 * a * t * t);
        // velocities live half a step before
        CHECK_NEAR(look_rigid_angular_velocity(world, 0).y, spin * (t - 0.5e-3),
                   1.0e-6 * (spin + 0.01) * t);
        tdl_world_destroy(world);
    }
}

TEST(a_sliding_ball_comes_to_roll) {
    double v = 2.0, m = 0.2, r = 0.1, dt = 1.0e-4;
    double until = 2.0 * v / (7.0 * m * G), t = 0.5;
    TdlWorld* world = make_world(dt, m, 0.0);
    add_slope(world, 0.0);
    add_sphere(world, r, (TdlVec3){0, 0, r}, (TdlVec3){v, 0, 0});
    run_steps(world, 5000);
    CHECK(until < t);
    CHECK_NEAR(look_rigid_velocity(world, 0).x, 5.0 / 7.0 * v, 1.0e-10);
    CHECK_NEAR(look_rigid_angular_velocity(world, 0).y, 5.0 / 7.0 * v / r, 1.0e-9);
    double x = 12.0 * v * v / (49.0 * m * G) + 5.0 / 7.0 * v * (t - until);
    CHECK_NEAR(look_rigid_pose(world, 0).position.x, x, 1.0e-6);
    tdl_world_destroy(world);
}

// --- rest ------------------------------------------------------------------------------------

TEST(a_sphere_at_rest_stays_for_ten_thousand_steps) {
    double r = 0.02;
    TdlWorld* world = make_world(1.0e-3, 0.3, 0.0);
    add_slope(world, 0.0);
    add_sphere(world, r, (TdlVec3){0.1, -0.2, r}, (TdlVec3){0});
    run_steps(world, 10000);
    TdlVec3 p = look_rigid_pose(world, 0).position;
    double drift = tdl_norm3(tdl_sub3(p, (TdlVec3){0.1, -0.2, r}));
    printf("  drift %.2e m\n", drift);
    CHECK_BELOW(drift, 1.0e-10);
    CHECK_BELOW(tdl_norm3(look_rigid_velocity(world, 0)), 1.0e-10);
    // the floor carries its weight
    double weight = 1000.0 * 4.0 / 3.0 * PI * r * r * r * G;
    TdlWrench wrench = look_contact_wrench(world, "rigid", 0);
    CHECK_NEAR3(wrench.force, ((TdlVec3){0, 0, weight}), 1.0e-8 * weight);
    tdl_world_destroy(world);
}

TEST(boxes_stand_on_each_other) {
    enum { BOXES = 4 };
    TdlVec3 half = {0.05, 0.04, 0.02};
    TdlWorld* world = make_world(1.0e-3, 0.5, 0.0);
    add_slope(world, 0.0);
    for (int i = 0; i < BOXES; ++i) {
        // each turned a little against the one below: edges cross
        TdlPose pose = {{0, 0, half.z * (2 * i + 1)}, tdl_rotation_exp((TdlVec3){0, 0, 0.2 * i})};
        add_box(world, half, 0.004, pose, (TdlVec3){0});
    }
    run_steps(world, 2000);
    double drift = 0.0;
    for (int i = 0; i < BOXES; ++i) {
        TdlVec3 p = look_rigid_pose(world, i).position;
        drift = fmax(drift, tdl_norm3(tdl_sub3(p, (TdlVec3){0, 0, half.z * (2 * i + 1)})));
    }
    printf("  drift %.2e m\n", drift);
    CHECK_BELOW(drift, 1.0e-7);
    tdl_world_destroy(world);
}

TEST(boxes_stand_on_each_other_edge_on_edge) {
    TdlVec3 half = {0.05, 0.04, 0.02};
    TdlWorld* world = make_world(1.0e-3, 0.5, 0.0);
    add_slope(world, 0.0);
    for (int i = 0; i < 3; ++i) {
        TdlPose pose = {{0, 0, half.z * (2 * i + 1)}, tdl_identity33()};
        add_box(world, half, 0.004, pose, (TdlVec3){0});
    }
    run_steps(world, 2000);
    double drift = 0.0;
    for (int i = 0; i < 3; ++i) {
        TdlVec3 p = look_rigid_pose(world, i).position;
        drift = fmax(drift, tdl_norm3(tdl_sub3(p, (TdlVec3){0, 0, half.z * (2 * i + 1)})));
    }
    printf("  drift %.2e m\n", drift);
    CHECK_BELOW(drift, 1.0e-7);
    tdl_world_destroy(world);
}

// Three balls on the floor that touch, and one on top: they stay where friction is above the
// tangent of half the angle from the vertical to the line of centres, at every contact.
static double pile_motion(double mu) {
    double r = 0.02, out = 2.0 * r / sqrt(3.0), up = 2.0 * r * sqrt(2.0 / 3.0), worst = 0.0;
    TdlWorld* world = make_world(1.0e-3, mu, 0.0);
    TdlVec3 at[4];
    add_slope(world, 0.0);
    for (int i = 0; i < 3; ++i) {
        at[i] = (TdlVec3){out * cos(2.0 * PI * i / 3.0), out * sin(2.0 * PI * i / 3.0), r};
        add_sphere(world, r, at[i], (TdlVec3){0});
    }
    at[3] = (TdlVec3){0, 0, r + up};
    add_sphere(world, r, at[3], (TdlVec3){0});
    run_steps(world, 500);
    for (int i = 0; i < 4; ++i) {
        TdlVec3 p = look_rigid_pose(world, i).position;
        worst = fmax(worst, tdl_norm3(tdl_sub3(p, at[i])));
    }
    tdl_world_destroy(world);
    return worst;
}

TEST(a_pile_of_balls_stays_with_enough_friction) {
    double limit = tan(0.5 * asin(1.0 / sqrt(3.0)));
    double stays = pile_motion(1.02 * limit), falls = pile_motion(0.98 * limit);
    printf("  moved %.2e m above the limit %.4f, %.2e m below\n", stays, limit, falls);
    CHECK_BELOW(stays, 1.0e-8);
    CHECK(falls > 1.0e-3);
}

TEST(a_capsule_on_a_capsule_does_not_turn) {
    // crosswise they balance on a point and would fall; lengthwise in a groove of two they lie
    double r = 0.01, lift = sqrt(3.0) * r;
    TdlWorld* world = make_world(1.0e-3, 0.6, 0.0);
    add_slope(world, 0.0);
    TdlVec3 at[3] = {{0, -r, r}, {0, r, r}, {0.003, 0, r + lift}};
    for (int i = 0; i < 3; ++i) {
        TdlRigidDef def = tdl_rigid_def_default();
        TdlBodyId id;
        def.shape = TDL_RIGID_CAPSULE;
        def.radius = r;
        def.length = 0.06;
        def.pose.position = at[i];
        REQUIRE(tdl_world_add_rigid(world, &def, &id) == TDL_STATUS_OK);
    }
    run_steps(world, 1000);
    for (int i = 0; i < 3; ++i) {
        TdlPose pose = look_rigid_pose(world, i);
        CHECK_NEAR3(pose.position, at[i], 1.0e-8);
        CHECK_NEAR3(pose.rotation.cx, ((TdlVec3){1, 0, 0}), 1.0e-6);
    }
    tdl_world_destroy(world);
}

// A block with its height twice its width tips over where the slope's tangent exceeds width over
// height.
TEST(a_block_tips_over_where_its_weight_leaves_its_foot) {
    TdlVec3 half = {0.02, 0.04, 0.05};
    double limit = atan(half.x / half.z);
    for (int i = 0; i < 2; ++i) {
        double slope = (i == 0 ? 0.995 : 1.005) * limit;
        TdlWorld* world = make_world(1.0e-3, 2.0, 0.0);
        add_slope(world, slope);
        add_box(world, half, 0.0, on_slope(slope, half.z), (TdlVec3){0});
        run_steps(world, 300);
        TdlMat3 turn = tdl_mul33(look_rigid_pose(world, 0).rotation,
                                 tdl_rotation_exp((TdlVec3){0, -slope, 0}));
        double tipped = tdl_rotation_log(turn).y;
        if (i == 0) {
            CHECK_NEAR(tipped, 0.0, 1.0e-8);
        } else {
            // it starts with the angular acceleration of its weight's moment about the low edge
            double arm = hypot(half.x, half.z);
            double alpha =
                G * (half.z * sin(slope) - half.x * cos(slope)) / (4.0 / 3.0 * arm * arm);
            double rate = sqrt(G / (4.0 / 3.0 * arm)); // and grows as it tips
            double want = alpha / (rate * rate) * (cosh(rate * 0.3) - 1.0);
            CHECK_NEAR(tipped / want, 1.0, 0.02);
        }
        tdl_world_destroy(world);
    }
}

// --- impacts ---------------------------------------------------------------------------------

static TdlWorld* weightless(double mu, double restitution) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.gravity = (TdlVec3){0};
    def.contacts.law = (TdlContactLaw){mu, restitution};
    def.contacts.tolerance = 1.0e-10;
    TdlWorld* world = NULL;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        FAIL("world refused");
    }
    return world;
}

TEST(two_balls_collide_as_in_the_textbook) {
    const double e[] = {0.0, 0.5, 1.0};
    for (int i = 0; i < 3; ++i) {
        // one of twice the radius, so eight times the mass, at rest
        TdlWorld* world = weightless(0.0, e[i]);
        add_sphere(world, 0.01, (TdlVec3){0}, (TdlVec3){1, 0, 0});
        add_sphere(world, 0.02, (TdlVec3){0.05, 0, 0}, (TdlVec3){0});
        run_steps(world, 100);
        double v0 = (1.0 - 8.0 * e[i]) / 9.0, v1 = (1.0 + e[i]) / 9.0;
        CHECK_NEAR3(look_rigid_velocity(world, 0), ((TdlVec3){v0, 0, 0}), 1.0e-9);
        CHECK_NEAR3(look_rigid_velocity(world, 1), ((TdlVec3){v1, 0, 0}), 1.0e-9);
        tdl_world_destroy(world);
    }
}

TEST(a_grazing_collision_keeps_all_momenta) {
    TdlWorld* world = weightless(0.3, 0.7);
    add_sphere(world, 0.01, (TdlVec3){0, 0.008, 0.003}, (TdlVec3){1, 0, 0});
    add_sphere(world, 0.015, (TdlVec3){0.05, 0, 0}, (TdlVec3){0});
    TdlVec3 p[2], l[2];
    for (int k = 0; k < 2; ++k) {
        p[k] = l[k] = (TdlVec3){0};
        for (int i = 0; i < 2; ++i) {
            double r = look_rigid_def(world, i).radius, m = 1000.0 * 4.0 / 3.0 * PI * r * r * r;
            TdlVec3 v = look_rigid_velocity(world, i), w = look_rigid_angular_velocity(world, i);
            p[k] = tdl_axpy3(p[k], m, v);
            l[k] = tdl_axpy3(l[k], m, tdl_cross3(look_rigid_pose(world, i).position, v));
            l[k] = tdl_axpy3(l[k], 0.4 * m * r * r, w);
        }
        if (k == 0) {
            run_steps(world, 100);
        }
    }
    CHECK(tdl_norm3(look_rigid_angular_velocity(world, 0)) > 1.0); // they did touch
    CHECK_NEAR3(p[1], p[0], 1.0e-12 * tdl_norm3(p[0]));
    // forces act at one point of the gap between the surfaces, or at both: to the gap's share
    printf("  angular momentum changed by %.2e of itself\n",
           tdl_norm3(tdl_sub3(l[1], l[0])) / tdl_norm3(l[0]));
    CHECK_NEAR3(l[1], l[0], 1.0e-10 * tdl_norm3(l[0]));
    tdl_world_destroy(world);
}

TEST(a_ball_bounces_by_its_restitution) {
    const double e[] = {0.0, 0.5, 0.9, 1.0};
    for (int i = 0; i < 4; ++i) {
        TdlWorld* world = weightless(0.3, e[i]);
        add_slope(world, 0.0);
        add_sphere(world, 0.01, (TdlVec3){0, 0, 0.05}, (TdlVec3){0, 0, -1});
        run_steps(world, 100);
        CHECK_NEAR3(look_rigid_velocity(world, 0), ((TdlVec3){0, 0, e[i]}), 1.0e-9);
        tdl_world_destroy(world);
    }
    // under gravity: the first rebound's height, to what a step of 0.1 ms can tell
    double h = 0.1, top = 0.0;
    TdlWorld* world = make_world(1.0e-4, 0.3, 0.8);
    add_slope(world, 0.0);
    add_sphere(world, 0.01, (TdlVec3){0, 0, 0.01 + h}, (TdlVec3){0});
    double fall = sqrt(2.0 * h / G);
    run_steps(world, (int)((fall + 0.02) / 1.0e-4));
    for (int i = 0; i < (int)(1.4 * fall / 1.0e-4); ++i) {
        run_steps(world, 1);
        top = fmax(top, look_rigid_pose(world, 0).position.z - 0.01);
    }
    CHECK_NEAR(top / h, 0.64, 0.64 * 0.005);
    tdl_world_destroy(world);
}

// --- rails -----------------------------------------------------------------------------------

// A ball on two parallel rails made of `pieces`, bent upwards by `bend`; after `steps` steps.
static TdlWorld* on_rails(int pieces, double bend, double mu, int steps) {
    TdlWorld* world = make_world(1.0e-3, mu, 0.0);
    double length = 2.0, r = 0.003, R = 0.02, apart = 0.012;
    double up = sqrt((R + r) * (R + r) - apart * apart), v = 1.5;
    TdlCurvePiece piece[64];
    for (int i = 0; i < pieces; ++i) {
        piece[i] = (TdlCurvePiece){length / pieces, {0, -bend, 0}};
    }
    for (int side = -1; side <= 1; side += 2) {
        TdlColliderDef rail = tdl_collider_def_default();
        TdlBodyId id;
        rail.shape = TDL_SHAPE_CURVES;
        rail.radius = r;
        rail.pieces = piece;
        rail.piece_count = pieces;
        rail.pose.position.y = side * apart;
        if (tdl_world_add_collider(world, &rail, &id) != TDL_STATUS_OK) {
            FAIL("rail refused");
        }
    }
    TdlRigidDef ball = tdl_rigid_def_default();
    TdlBodyId id;
    ball.radius = R;
    ball.pose.position = (TdlVec3){0, 0, up};
    ball.velocity = (TdlVec3){v, 0, 0};
    ball.angular_velocity = (TdlVec3){0, v * (R + r) / (up * R), 0}; // it rolls
    if (tdl_world_add_rigid(world, &ball, &id) != TDL_STATUS_OK) {
        FAIL("ball refused");
    }
    run_steps(world, steps);
    return world;
}

TEST(a_ball_does_not_feel_the_joints_of_rails) {
    TdlWorld* world = on_rails(40, 0.0, 0.3, 1000);
    CHECK_NEAR3(look_rigid_velocity(world, 0), ((TdlVec3){1.5, 0, 0}), 1.0e-9);
    CHECK_NEAR(look_rigid_pose(world, 0).position.x, 1.5, 1.0e-9);
    tdl_world_destroy(world);

    // up a loop and back: the same for any number of pieces, and its energy but for the steps
    TdlWorld *one = on_rails(1, 4.0, 2.0, 400), *many = on_rails(40, 4.0, 2.0, 400);
    TdlVec3 p = look_rigid_pose(one, 0).position;
    CHECK(p.z > 0.1);
    CHECK_NEAR3(look_rigid_pose(many, 0).position, p, 1.0e-9);
    TdlEnergy e = tdl_world_energy(one);
    double m = 1000.0 * 4.0 / 3.0 * PI * 8.0e-6, up = sqrt(0.023 * 0.023 - 0.012 * 0.012);
    double spin = 1.5 * 0.023 / (up * 0.02);
    double start = 0.5 * m * (2.25 + 0.4 * 4.0e-4 * spin * spin) + m * G * up;
    double lost = (start - e.kinetic - e.gravity) / start;
    printf("  height %.4f m, energy lost to steps %.2e\n", p.z, lost);
    CHECK(lost > 0.0 && lost < 5.0e-3);
    tdl_world_destroy(one);
    tdl_world_destroy(many);
}

// --- moving colliders ------------------------------------------------------------------------

// A ball thrown at a thin wire so fast that it would be through in one step: it is stopped by the
// wire, in a step that has to be split, and the mean of the force is still what changed its
// momentum.
TEST(forces_of_a_split_step_are_means_over_all_of_it) {
    TdlWorld* world = make_world(1.0e-3, 0.3, 0.0);
    tdl_world_set_gravity(world, (TdlVec3){0});
    TdlCurvePiece piece = {0.2, {0, 0, 0}};
    TdlColliderDef wire = tdl_collider_def_default();
    TdlBodyId wire_id;
    wire.shape = TDL_SHAPE_CURVES;
    wire.radius = 5.0e-4;
    wire.pieces = &piece;
    wire.piece_count = 1;
    wire.pose.position = (TdlVec3){-0.1, 0.0, 0.0};
    REQUIRE(tdl_world_add_collider(world, &wire, &wire_id) == TDL_STATUS_OK);
    TdlRigidDef ball = tdl_rigid_def_default();
    TdlBodyId id;
    ball.radius = 2.0e-3;
    ball.pose.position = (TdlVec3){0.0, -0.1, 1.0e-3};
    ball.velocity = (TdlVec3){0.0, 40.0, 0.0};
    REQUIRE(tdl_world_add_rigid(world, &ball, &id) == TDL_STATUS_OK);
    double mass = 1000.0 * 4.0 / 3.0 * PI * 8.0e-9, touched = 0.0;
    int split = 0;
    for (int i = 0; i < 10; ++i) {
        TdlStepInfo info;
        TdlVec3 before = look_rigid_velocity(world, 0);
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        TdlVec3 change = tdl_sub3(look_rigid_velocity(world, 0), before);
        TdlVec3 force = look_contact_wrench(world, "rigid", 0).force;
        int count;
        const TdlContactForce* told = tdl_world_contact_forces(world, &count);
        CHECK_NEAR3(change, tdl_scale3((count > 0 ? told->lasts : 0.0) / mass, force), 1.0e-9);
        split += info.substeps > 1 && tdl_norm3(force) > 0.0;
        touched += tdl_norm3(force);
    }
    CHECK(touched > 0.0);
    CHECK(split > 0);
    CHECK(look_rigid_velocity(world, 0).y < 30.0); // it was not let through
    tdl_world_destroy(world);
}

TEST(a_belt_drags_a_block_along) {
    double V = 0.5, m = 0.25, dt = 1.0e-3, half = 0.02;
    TdlWorld* world = make_world(dt, m, 0.0);
    TdlColliderDef belt = tdl_collider_def_default();
    TdlBodyId id;
    belt.shape = TDL_SHAPE_PLANE;
    belt.velocity = (TdlVec3){V, 0, 0};
    REQUIRE(tdl_world_add_collider(world, &belt, &id) == TDL_STATUS_OK);
    add_box(world, (TdlVec3){0.05, 0.04, half}, 0.0, (TdlPose){{0, 0, half}, tdl_identity33()},
            (TdlVec3){0});
    run_steps(world, 100);
    double t = 0.1;
    CHECK_NEAR(look_rigid_pose(world, 0).position.x, 0.5 * m * G * t * t, 1.0e-6 * m * G * t * t);
    run_steps(world, 400);
    // caught up after V / (mu g) = 0.2 s, having lost V^2 / (2 mu g) of way
    CHECK_NEAR(look_rigid_velocity(world, 0).x, V, 1.0e-10);
    CHECK_NEAR(look_rigid_pose(world, 0).position.x, V * 0.5 - V * V / (2.0 * m * G), 1.0e-6);
    tdl_world_destroy(world);
}

TEST(a_turntable_carries_a_block_round) {
    double w = 3.0, half = 0.01, out = 0.1, dt = 1.0e-3;
    TdlWorld* world = make_world(dt, 0.5, 0.0);
    TdlColliderDef table = tdl_collider_def_default();
    TdlBodyId id;
    table.shape = TDL_SHAPE_PLANE;
    table.angular_velocity = (TdlVec3){0, 0, w};
    REQUIRE(tdl_world_add_collider(world, &table, &id) == TDL_STATUS_OK);
    TdlRigidDef def = tdl_rigid_def_default();
    TdlBodyId body;
    def.shape = TDL_RIGID_BOX;
    def.radius = 0.0;
    def.half = (TdlVec3){0.02, 0.02, half};
    def.pose.position = (TdlVec3){out, 0, half};
    def.velocity = (TdlVec3){0, w * out, 0};
    def.angular_velocity = (TdlVec3){0, 0, w};
    REQUIRE(tdl_world_add_rigid(world, &def, &body) == TDL_STATUS_OK);
    run_steps(world, 1000);
    TdlPose pose = look_rigid_pose(world, 0);
    double angle = atan2(pose.position.y, pose.position.x);
    // in a step it goes along the tangent, which takes it out by (w dt)^2 / 2 of its distance
    double far = hypot(pose.position.x, pose.position.y), grown = pow(1.0 + w * w * dt * dt, 500.0);
    printf("  radius grew by %.3e, by %.3e for the tangents\n", far / out - 1.0, grown - 1.0);
    CHECK_NEAR(far / out, grown, 1.0e-6);
    CHECK_NEAR(angle, w * 1.0, 1.0e-4);
    CHECK_NEAR(look_rigid_angular_velocity(world, 0).z, w, 1.0e-9);
    tdl_world_destroy(world);
}

// A bar across two rollers that turn towards each other swings to and fro as on a spring. (A plank
// would stand on four points, whose shares of the weight, and so the friction that turns it, no
// equation tells.)
TEST(a_bar_on_two_rollers_is_a_pendulum) {
    double l = 0.1, R = 0.03, m = 0.2, h = 0.01, x0 = 0.02, dt = 5.0e-4;
    TdlWorld* world = make_world(dt, m, 0.0);
    for (int side = -1; side <= 1; side += 2) {
        TdlColliderDef roller = tdl_collider_def_default();
        TdlBodyId id;
        roller.shape = TDL_SHAPE_CYLINDER;
        roller.radius = R;
        roller.pose = (TdlPose){{side * l, 0, -R}, {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}};
        // tops move inwards, faster than the bar ever does
        roller.angular_velocity = (TdlVec3){0, -side * 40.0, 0};
        REQUIRE(tdl_world_add_collider(world, &roller, &id) == TDL_STATUS_OK);
    }
    TdlRigidDef bar = tdl_rigid_def_default();
    TdlBodyId body;
    bar.shape = TDL_RIGID_CAPSULE;
    bar.radius = h;
    bar.length = 0.6;
    bar.pose.position = (TdlVec3){x0, 0, h};
    REQUIRE(tdl_world_add_rigid(world, &bar, &body) == TDL_STATUS_OK);
    // friction acts h below the middle, which shifts weight from roller to roller
    double rate = sqrt(m * G / (l - m * h)), worst = 0.0;
    int steps = (int)(2.0 * PI / rate / dt);
    for (int i = 1; i <= steps; ++i) {
        run_steps(world, 1);
        double x = look_rigid_pose(world, 0).position.x;
        worst = fmax(worst, fabs(x - x0 * cos(rate * i * dt)));
    }
    printf("  period %.4f s, off by at most %.2e of the swing\n", 2.0 * PI / rate, worst / x0);
    CHECK_BELOW(worst / x0, 1.0e-4);
    tdl_world_destroy(world);
}
