// Cylinders with flat ends in contact: rolling, standing, lying, on and under all that touches.
#include "look.h"
#include "math/rotation.h"
#include "meshes.h"
#include "tendril/cloth.h"
#include "tendril/formats.h"
#include "tendril/world.h"
#include "test.h"
#include "things.h"

static const double G = 9.81;
static const double PI = 3.14159265358979323846;

static TdlWorld* make_world(double step, double mu, int threads) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.step = step;
    def.thread_count = threads;
    def.contacts.law = (TdlContactLaw){mu, 0.0};
    def.contacts.tolerance = 1.0e-10; // forces to ten digits; rounding leaves about twelve
    def.contacts.max_iterations = 10000;
    TdlWorld* world = NULL;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        FAIL("world refused");
    }
    return world;
}

static TdlBodyId place(TdlWorld* world, TdlShape shape, double radius, double length,
                       TdlPose pose) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id = {0};
    def.shape = shape;
    def.radius = radius;
    def.length = length;
    def.pose = pose;
    CHECK_INT(tdl_world_add_collider(world, &def, &id), TDL_STATUS_OK);
    return id;
}

// Axes whose first points along `axis`.
static TdlMat3 along(TdlVec3 axis) {
    return tdl_frame_from_tangent_hint(axis, (TdlVec3){0.3, 0.5, 0.2});
}

static const TdlVec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};

static TdlBodyId add(TdlWorld* world, double radius, double length, double rounding, TdlPose pose) {
    TdlRigidDef def = tdl_rigid_def_default();
    TdlBodyId id = {0};
    def.shape = TDL_RIGID_CYLINDER;
    def.radius = radius;
    def.length = length;
    def.rounding = rounding;
    def.pose = pose;
    CHECK_INT(tdl_world_add_rigid(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static double height(const TdlWorld* world, int index) {
    return look_rigid_pose(world, index).position.z;
}

// The sum of what a body feels of all others.
static TdlVec3 force_on(const TdlWorld* world, TdlBodyId id) {
    int count;
    const TdlContactForce* f = tdl_world_contact_forces(world, &count);
    TdlVec3 sum = {0};
    for (int i = 0; i < count; ++i) {
        double sign = tdl_body_id_equal(f[i].body[0], id)   ? 1.0
                      : tdl_body_id_equal(f[i].body[1], id) ? -1.0
                                                            : 0.0;
        sum = tdl_axpy3(sum, sign, f[i].force);
    }
    return sum;
}

// --- alone on a plane --------------------------------------------------------------------------

TEST(cylinders_and_tubes_roll_down_a_slope) {
    double slope = 0.3, r = 0.03, t = 1.0;
    for (int i = 0; i < 6; ++i) {
        double inner = i % 3 == 0   ? 0.0
                       : i % 3 == 1 ? 0.02
                                    : 0.0285,
               rounding = i < 3 ? 0.0 : 0.001;
        TdlWorld* world = make_world(1.0e-3, 0.5, 1);
        TdlMat3 axes = tdl_rotation_exp((TdlVec3){0, slope, 0});
        place(world, TDL_SHAPE_PLANE, 0.0, 0.0, (TdlPose){.rotation = axes});
        TdlRigidDef def = tdl_rigid_def_default();
        TdlBodyId id;
        def.shape = TDL_RIGID_CYLINDER;
        def.radius = r;
        def.inner_radius = inner;
        def.length = 0.05;
        def.rounding = rounding;
        // across the slope, turned about itself by any angle
        def.pose.rotation = tdl_mul33((TdlMat3){Y, tdl_scale3(-1.0, axes.cx), axes.cz},
                                      tdl_rotation_exp((TdlVec3){0.1 + i, 0, 0}));
        def.pose.position = tdl_scale3(r, axes.cz);
        // its own inertia when it is sharp, else what a mass and moments tell
        double m = 1.0, k = 0.5 * (r * r + inner * inner), h = 0.05 * 0.05 / 12.0;
        if (rounding > 0.0) {
            def.mass = m;
            def.inertia = tdl_diag33((TdlVec3){m * k, m * (0.5 * k + h), m * (0.5 * k + h)});
        }
        REQUIRE(tdl_world_add_rigid(world, &def, &id) == TDL_STATUS_OK);
        double worst = 0.0, turned = 0.0;
        for (int step = 0; step < 1000; ++step) {
            run_steps(world, 1);
            TdlVec3 at = look_rigid_pose(world, 0).position;
            worst = fmax(worst, fabs(tdl_dot3(at, axes.cz) - r));
            turned += 1.0e-3 * tdl_norm3(look_rigid_angular_velocity(world, 0));
        }
        double want = 0.5 * G * sin(slope) / (1.0 + k / (r * r)) * t * t;
        double got = tdl_dot3(look_rigid_pose(world, 0).position, axes.cx);
        printf("  inner %g, rounding %g: %.2e off after %.1f turns, %.1e m up or down\n", inner,
               rounding, got / want - 1.0, turned / (2.0 * PI), worst);
        // the parabola of a constant force is exact; forces have ten digits. No bumps where arcs
        // join
        CHECK_NEAR(got, want, 1.0e-8 * want);
        CHECK_BELOW(worst, 1.0e-9);
        CHECK(turned > 3.5 * 2.0 * PI); // 28 joints of arcs
        tdl_world_destroy(world);
    }
}

// Over the edges of a flat mesh as on a plane.
TEST(cylinders_roll_over_triangles) {
    double slope = 0.3, r = 0.03, t = 0.4;
    TdlMesh grid = make_grid(8, 1.0);
    TdlMat3 axes = tdl_rotation_exp((TdlVec3){0, slope, 0});
    TdlWorld* world = make_world(1.0e-3, 0.5, 1);
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_MESH;
    def.radius = 0.0;
    def.mesh = grid;
    def.pose.rotation = axes;
    REQUIRE(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
    TdlMat3 across = {Y, tdl_scale3(-1.0, axes.cx), axes.cz};
    TdlVec3 start = tdl_axpy3(tdl_scale3(r, axes.cz), -0.3, axes.cx);
    TdlRigidDef body = tdl_rigid_def_default();
    body.shape = TDL_RIGID_CYLINDER;
    body.radius = r;
    body.length = 0.3;
    body.rounding = 1.0e-3; // a rim without any has no side of a sheet without thickness
    body.mass = 1.0;
    body.inertia = tdl_diag33((TdlVec3){0.5 * r * r, 0.01, 0.01}); // as of a sharp one
    body.pose = (TdlPose){start, tdl_mul33(across, tdl_rotation_exp(X))};
    REQUIRE(tdl_world_add_rigid(world, &body, &id) == TDL_STATUS_OK);
    double worst = 0.0;
    for (int step = 0; step < 400; ++step) {
        run_steps(world, 1);
        TdlVec3 at = look_rigid_pose(world, 0).position;
        worst = fmax(worst, fabs(tdl_dot3(at, axes.cz) - r));
    }
    TdlVec3 way = tdl_sub3(look_rigid_pose(world, 0).position, start);
    double want = 0.5 * G * sin(slope) / 1.5 * t * t, got = tdl_dot3(way, axes.cx);
    printf("  %.2e off, %.1e m up or down\n", got / want - 1.0, worst);
    CHECK_NEAR(got, want, 1.0e-8 * want);
    CHECK_BELOW(worst, 1.0e-9);
    tdl_world_destroy(world);
    free_mesh(grid);
}

TEST(a_cylinder_stands_on_its_end_and_lies_on_its_side) {
    double r = 0.02, l = 0.06;
    for (int i = 0; i < 8; ++i) {
        double rounding = i % 2 == 0 ? 0.0 : 0.003;
        bool stands = i % 4 < 2;
        TdlWorld* world = make_world(1.0e-3, 0.5, 1);
        place(world, TDL_SHAPE_PLANE, 0.0, 0.0, (TdlPose){.rotation = tdl_identity33()});
        double rest = stands ? 0.5 * l : r, drop = i < 4 ? 0.0 : 1.0e-3;
        TdlBodyId id =
            add(world, r, l, rounding, (TdlPose){{0.1, 0.2, rest + drop}, along(stands ? Z : X)});
        TdlRigidDef def = tdl_rigid_def_default();
        tdl_rigid_def(world, id, &def);
        run_steps(world, 500);
        double c = rounding, a = r - c; // the profile's volume
        double volume = PI * r * r * (l - 2.0 * c) +
                        2.0 * PI * (a * a * c + 0.5 * PI * a * c * c + 2.0 / 3.0 * c * c * c);
        TdlVec3 f = force_on(world, id);
        CHECK_NEAR(fabs(f.z), 1000.0 * volume * G, 1.0e-7 * 1000.0 * volume * G);
        CHECK_NEAR3(look_rigid_pose(world, 0).position, ((TdlVec3){0.1, 0.2, rest}), 1.0e-8);
        CHECK_BELOW(tdl_norm3(look_rigid_velocity(world, 0)), 1.0e-8);
        tdl_world_destroy(world);
    }
}

// Let go on its rim it falls back onto its end when its middle is within the rim, else on its side.
TEST(a_tilted_cylinder_falls_as_its_middle_says) {
    double r = 0.02, l = 0.06, balance = atan2(r, 0.5 * l);
    for (int i = 0; i < 2; ++i) {
        double tilt = balance + (i == 0 ? -0.05 : 0.05);
        TdlWorld* world = make_world(1.0e-3, 0.8, 1);
        place(world, TDL_SHAPE_PLANE, 0.0, 0.0, (TdlPose){.rotation = tdl_identity33()});
        TdlVec3 axis = {sin(tilt), 0, cos(tilt)};
        double low = 0.5 * l * cos(tilt) + r * sin(tilt);
        add(world, r, l, 0.0, (TdlPose){{0, 0, low}, along(axis)});
        for (int step = 0; step < 1500; ++step) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        double up = fabs(look_rigid_pose(world, 0).rotation.cx.z);
        CHECK_NEAR(up, i == 0 ? 1.0 : 0.0, 1.0e-4);
        CHECK_NEAR(height(world, 0), i == 0 ? 0.5 * l : r, 1.0e-5);
        tdl_world_destroy(world);
    }
}

// --- on what is placed -------------------------------------------------------------------------

TEST(a_cylinder_rests_on_all_that_is_placed) {
    double r = 0.02, l = 0.06, R = 0.015, top = 0.0;
    TdlMesh mesh = make_box_mesh((TdlVec3){0.01, 0.01, 0.02}, (TdlVec3){0});
    for (int i = 0; i < 8; ++i) {
        bool stands = i % 2 == 0; // its flat end or its side comes down, wider than what is below
        TdlWorld* world = make_world(1.0e-3, 0.5, 1);
        TdlPose below = {{0, 0, -R}, along(Y)};
        if (i / 2 == 0) {
            place(world, TDL_SHAPE_SPHERE, R, 0.0, below);
        } else if (i / 2 == 1) {
            below.position.y = -0.005;
            place(world, TDL_SHAPE_CAPSULE, R, 0.01, below);
        } else if (i / 2 == 2) {
            place(world, TDL_SHAPE_CYLINDER, R, 0.0, below);
        } else {
            TdlColliderDef def = tdl_collider_def_default();
            TdlBodyId id;
            def.shape = TDL_SHAPE_MESH;
            def.radius = 0.0;
            def.mesh = mesh;
            def.pose.position.z = -0.02;
            REQUIRE(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
        }
        double rest = stands ? 0.5 * l : r;
        TdlBodyId id =
            add(world, r, l, 0.002, (TdlPose){{0, 0, rest + 1.0e-3}, along(stands ? Z : X)});
        for (int step = 0; step < 100; ++step) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        CHECK_NEAR(height(world, 0), top + rest, 1.0e-7);
        CHECK_BELOW(fabs(force_on(world, id).x), 1.0e-6);
        CHECK(kinds_touch(world, "rigid", "collider"));
        tdl_world_destroy(world);
    }
    free_mesh(mesh);
}

TEST(a_cylinder_rests_on_an_implicit_bump) {
    // a ball, known as a built-in shape too: under the end and under the side
    TdlHost host = tdl_host_default();
    double r = 0.02, l = 0.06;
    TdlImplicit ball = {0};
    REQUIRE(tdl_implicit_parse(&host, "x^2 + y^2 + z^2 - 0.000225", &ball) == TDL_STATUS_OK);
    ball.low = (TdlVec3){-0.02, -0.02, -0.02};
    ball.high = (TdlVec3){0.02, 0.02, 0.02};
    for (int i = 0; i < 2; ++i) {
        TdlWorld* world = make_world(1.0e-3, 0.5, 1);
        TdlColliderDef def = tdl_collider_def_default();
        def.shape = TDL_SHAPE_IMPLICIT;
        TdlBodyId id;
        def.implicit = ball;
        def.pose.position.z = -0.015;
        REQUIRE(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
        double rest = i == 0 ? 0.5 * l : r;
        add(world, r, l, 0.002, (TdlPose){{0, 0, rest + 1.0e-3}, along(i == 0 ? Z : X)});
        for (int step = 0; step < 100; ++step) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        CHECK_NEAR(height(world, 0), rest, 1.0e-7);
        tdl_world_destroy(world);
    }
    tdl_implicit_free(&host, &ball);
}

// --- with other bodies -------------------------------------------------------------------------

TEST(cylinders_lie_and_stand_on_each_other) {
    double r = 0.02, l = 0.08;
    // crosswise, a stack of coins, a pyramid of three, an end on a side
    for (int i = 0; i < 3; ++i) {
        TdlWorld* world = make_world(1.0e-3, 0.5, 1);
        place(world, TDL_SHAPE_PLANE, 0.0, 0.0, (TdlPose){.rotation = tdl_identity33()});
        double want;
        if (i == 0) {
            add(world, r, l, 0.001, (TdlPose){{0, 0, r}, along(X)});
            add(world, r, l, 0.001, (TdlPose){{0, 0, 3.0 * r}, along(Y)});
            want = 3.0 * r;
        } else if (i == 1) {
            add(world, r, 0.01, 0.001, (TdlPose){{0, 0, 0.005}, along(Z)});
            add(world, r, 0.01, 0.001, (TdlPose){{0, 0, 0.015}, along(Z)});
            want = 0.015;
        } else {
            // apart by a hair more than two radii, held there by friction
            add(world, r, l, 0.001, (TdlPose){{0, -1.05 * r, r}, along(X)});
            add(world, r, l, 0.001, (TdlPose){{0, 1.05 * r, r}, along(X)});
            want = r + r * sqrt(4.0 - 1.05 * 1.05);
            add(world, r, l, 0.001, (TdlPose){{0, 0, want}, along(X)});
        }
        for (int step = 0; step < 300; ++step) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        int last = i == 2 ? 2 : 1;
        double z = height(world, last);
        printf("  case %d: height off by %.2e m\n", i, z - want);
        CHECK_NEAR(z, want, 1.0e-6);
        tdl_world_destroy(world);
    }
}

TEST(boxes_meshes_balls_and_rods_lie_on_a_cylinder) {
    double r = 0.02, l = 0.08;
    TdlMesh hook = make_hook_mesh(0.02, 0.02);
    for (int i = 0; i < 6; ++i) {
        TdlWorld* world = make_world(1.0e-3, 0.5, 1);
        place(world, TDL_SHAPE_PLANE, 0.0, 0.0, (TdlPose){.rotation = tdl_identity33()});
        bool stands = i % 2 == 0;
        double top = stands ? l : 2.0 * r, want;
        add(world, r, l, 0.001, (TdlPose){{0, 0, 0.5 * top}, along(stands ? Z : X)});
        if (i / 2 == 0) {
            add_box(world, (TdlVec3){0.05, 0.05, 0.01}, 0.001,
                    (TdlPose){{0, 0, top + 0.011}, tdl_identity33()}, (TdlVec3){0});
            want = top + 0.01;
        } else if (i / 2 == 1) {
            add_sphere(world, 0.01, (TdlVec3){0.003, 0, top + 0.011}, (TdlVec3){0});
            want = top + 0.01;
        } else {
            TdlRigidDef def = tdl_rigid_def_default();
            TdlBodyId id;
            def.shape = TDL_RIGID_MESH;
            def.radius = 0.001;
            def.mesh = hook;
            // its foot down, its centre of mass over the cylinder's axis
            def.pose.position = (TdlVec3){-0.015, 0, top + 0.002};
            REQUIRE(tdl_world_add_rigid(world, &def, &id) == TDL_STATUS_OK);
            want = top + 0.001;
        }
        for (int step = 0; step < 60; ++step) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        printf("  case %d: height off by %.2e m\n", i, height(world, 1) - want);
        CHECK_NEAR(height(world, 1), want, 1.0e-6);
        CHECK(kinds_touch(world, "rigid", "rigid"));
        tdl_world_destroy(world);
    }
    free_mesh(hook);
}

// A rod that hangs over it touches it, wherever it is cut into elements, and is not let through.
TEST(a_rod_hangs_over_a_cylinder) {
    double r = 0.02, l = 0.08, thick = 0.001;
    for (int i = 0; i < 2; ++i) {
        TdlWorld* world = make_world(5.0e-4, 0.8, 1);
        place(world, TDL_SHAPE_PLANE, 0.0, 0.0, (TdlPose){.rotation = tdl_identity33()});
        bool stands = i == 0;
        double top = stands ? l : 2.0 * r;
        add(world, r, l, 0.001, (TdlPose){{0, 0, 0.5 * top}, along(stands ? Z : X)});
        TdlRodDef rod = tdl_rod_def_default();
        TdlBodyId id;
        rod.length = 0.08;
        rod.radius[0] = rod.radius[1] = thick;
        rod.element_count = 5;
        rod.young = 1.0e6;
        rod.start = TDL_HOLD_FREE;
        rod.clamp.position = (TdlVec3){0.002, -0.04, top + 0.01};
        rod.clamp.rotation = along(Y);
        REQUIRE(tdl_world_add_rod(world, &rod, &id) == TDL_STATUS_OK);
        double deepest = 0.0;
        for (int step = 0; step < 400; ++step) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
            int count;
            const TdlContactForce* f = tdl_world_contact_forces(world, &count);
            for (int k = 0; k < count; ++k) {
                deepest = fmin(deepest, f[k].gap);
            }
        }
        double middle = look_rod_point(world, id, 0.04).z;
        printf("  middle %.2e m above, deepest %.2e m\n", middle - top - thick, deepest);
        CHECK(middle > top + 0.9 * thick && middle < top + 2.0 * thick);
        CHECK(deepest > -0.1 * thick); // what a step may leave (W.5)
        CHECK(kinds_touch(world, "rod", "rigid"));
        tdl_world_destroy(world);
    }
}

TEST(a_cloth_lies_over_a_cylinder) {
    double r = 0.03, l = 0.06, thick = 0.002;
    for (int i = 0; i < 2; ++i) {
        TdlWorld* world = make_world(5.0e-4, 0.8, 1);
        place(world, TDL_SHAPE_PLANE, 0.0, 0.0, (TdlPose){.rotation = tdl_identity33()});
        bool stands = i == 0;
        double top = stands ? l : 2.0 * r;
        TdlBodyId body =
            add(world, r, l, 0.002, (TdlPose){{0, 0, 0.5 * top}, along(stands ? Z : X)});
        enum { CELLS = 10 };
        TdlClothDef def = tdl_cloth_def_default();
        TdlVec3 v[(CELLS + 1) * (CELLS + 1)];
        int faces[4 * CELLS * CELLS];
        def.mesh = tdl_cloth_rectangle(0.12, 0.12, CELLS, CELLS, v, faces);
        for (int k = 0; k < def.mesh.vertex_count; ++k) {
            v[k] = tdl_add3(v[k], (TdlVec3){0, 0, top + 0.003});
        }
        def.thickness = thick;
        TdlBodyId cloth;
        REQUIRE(tdl_world_add_cloth(world, &def, &cloth) == TDL_STATUS_OK);
        for (int step = 0; step < 300; ++step) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        TdlVec3 at[(CELLS + 1) * (CELLS + 1)];
        REQUIRE(tdl_cloth_state(world, cloth, at, NULL) == TDL_STATUS_OK);
        TdlPose pose = look_rigid_pose(world, 0);
        double nearest = INFINITY, highest = -INFINITY;
        for (int k = 0; k < def.mesh.vertex_count; ++k) {
            TdlVec3 p = tdl_tmul33_3(pose.rotation, tdl_sub3(at[k], pose.position));
            double x = fabs(p.x) - 0.5 * l, y = hypot(p.y, p.z) - r;
            nearest = fmin(nearest, fmax(x, y) - 0.5 * thick);
            highest = fmax(highest, at[k].z);
        }
        printf("  nearest vertex %.2e m off, highest %.2e m above\n", nearest, highest - top);
        CHECK(nearest > -0.05 * thick); // half of what a step may leave (a tenth of the radius)
        CHECK(highest > top && highest < top + 0.01); // folds rise a little, it does not slide off
        CHECK(tdl_norm3(force_on(world, body)) > 0.0);
        tdl_world_destroy(world);
    }
}

// --- the same bits, and what is too fast ---------------------------------------------------------

static TdlWorld* make_heap(int threads) {
    TdlWorld* world = make_world(1.0e-3, 0.4, threads);
    place(world, TDL_SHAPE_PLANE, 0.0, 0.0, (TdlPose){.rotation = tdl_identity33()});
    for (int k = 0; k < 4; ++k) {
        TdlPose pose = {{0.004 * k, 0.002 * k, 0.03 + 0.06 * k},
                        tdl_rotation_exp((TdlVec3){0.3 * k, 0.9 * k, 0.1})};
        add(world, 0.015, 0.04, 0.001, pose);
    }
    return world;
}

static void run(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

TEST(threads_copies_and_states_give_the_same_bits) {
    TdlWorld *one = make_heap(1), *two = make_heap(2), *copy = NULL;
    run(one, 150);
    run(two, 150);
    CHECK(tdl_world_state_hash(one) == tdl_world_state_hash(two));
    size_t size = tdl_world_state_size(one);
    void* bytes = malloc(size);
    tdl_world_save_state(one, bytes);
    CHECK_INT(tdl_world_copy(one, &copy), TDL_STATUS_OK);
    TdlWorld* fresh = make_heap(2);
    CHECK_INT(tdl_world_load_state(fresh, bytes, size), TDL_STATUS_OK);
    run(one, 150);
    run(copy, 150);
    run(fresh, 150);
    CHECK(tdl_world_state_hash(one) == tdl_world_state_hash(copy));
    CHECK(tdl_world_state_hash(one) == tdl_world_state_hash(fresh));
    CHECK(kinds_touch(one, "rigid", "rigid") || kinds_touch(one, "rigid", "collider"));
    tdl_world_destroy(one);
    tdl_world_destroy(two);
    tdl_world_destroy(copy);
    tdl_world_destroy(fresh);
    free(bytes);
}

// A coin thinner than what a step takes it, thrown flat at a thin rod that is held at both ends.
TEST(a_fast_coin_does_not_pass_a_rod) {
    TdlWorld* world = make_world(1.0e-3, 0.3, 1);
    TdlRigidDef def = tdl_rigid_def_default();
    TdlBodyId id;
    def.shape = TDL_RIGID_CYLINDER;
    def.radius = 0.01;
    def.length = 0.002;
    def.rounding = 0.0002;
    def.density = 100.0;
    def.pose = (TdlPose){{0, 0, 0.0375}, along(Z)};
    def.velocity = (TdlVec3){0, 0, -10.0}; // 10 mm a step
    REQUIRE(tdl_world_add_rigid(world, &def, &id) == TDL_STATUS_OK);
    TdlRodDef rod = tdl_rod_def_default();
    rod.length = 0.1;
    rod.radius[0] = rod.radius[1] = 0.001;
    rod.element_count = 4;
    rod.young = 1.0e11;
    rod.clamp.position = (TdlVec3){-0.05, 0, 0};
    rod.clamp.rotation = tdl_identity33();
    REQUIRE(tdl_world_add_rod(world, &rod, &id) == TDL_STATUS_OK);
    for (int i = 0; i < 8; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    CHECK(height(world, 0) > 0.0);
    tdl_world_destroy(world);
}
