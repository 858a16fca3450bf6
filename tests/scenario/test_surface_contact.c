// Meshes and the faces of boxes in contact: against planes and cylinders in closed form, at rest,
// rolling, falling, moved.
#include "counting_allocator.h"
#include "look.h"
#include "math/rotation.h"
#include "tendril/world.h"
#include "test.h"
#include "things.h"

#include <stdlib.h>

static const double G = 9.81;
static const double PI = 3.14159265358979323846;

static TdlWorld* make_world_to(double step, double mu, double tolerance) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.step = step;
    def.contacts.law = (TdlContactLaw){mu, 0.0};
    def.contacts.tolerance = tolerance;
    def.contacts.max_iterations = 10000;
    TdlWorld* world = NULL;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        FAIL("world refused");
    }
    return world;
}

static TdlWorld* make_world(double step, double mu) {
    return make_world_to(step, mu, 1.0e-10);
}

// A tube of `sides` flat sides about the x axis whose edges lie on the radius, closed by its ends.
static TdlMesh make_tube(int sides, double radius, double length) {
    TdlVec3* v = calloc((size_t)(2 * sides + 2), sizeof *v);
    int *t = calloc((size_t)(12 * sides), sizeof *t), k = 0;
    for (int i = 0; i < 2 * sides; ++i) {
        double angle = 2.0 * PI * (i / 2 + 0.3) / sides;
        v[i] = (TdlVec3){(i % 2 - 0.5) * length, radius * cos(angle), radius * sin(angle)};
    }
    v[2 * sides] = (TdlVec3){-0.5 * length, 0, 0};
    v[2 * sides + 1] = (TdlVec3){0.5 * length, 0, 0};
    for (int i = 0; i < sides; ++i) {
        int a = 2 * i, b = 2 * ((i + 1) % sides);
        const int twelve[12] = {a, a + 1, b + 1,     a,     b + 1, b,
                                a, b,     2 * sides, b + 1, a + 1, 2 * sides + 1};
        for (int j = 0; j < 12; ++j) {
            // ends: seen from outside, counterclockwise
            t[k++] = twelve[j];
        }
    }
    for (int f = 0; f < k / 3; ++f) {
        // turned so that its normal points out
        TdlVec3 p[3] = {v[t[3 * f]], v[t[3 * f + 1]], v[t[3 * f + 2]]};
        TdlVec3 n = tdl_cross3(tdl_sub3(p[1], p[0]), tdl_sub3(p[2], p[0]));
        if (tdl_dot3(n, tdl_add3(p[0], tdl_add3(p[1], p[2]))) < 0.0) {
            int swap = t[3 * f + 1];
            t[3 * f + 1] = t[3 * f + 2];
            t[3 * f + 2] = swap;
        }
    }
    return (TdlMesh){v, 2 * sides + 2, t, k / 3};
}

static void add_mesh(TdlWorld* world, TdlMesh mesh, double radius, TdlPose pose) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_MESH;
    def.mesh = mesh;
    def.radius = radius;
    def.pose = pose;
    if (tdl_world_add_collider(world, &def, &id) != TDL_STATUS_OK) {
        FAIL("mesh refused");
    }
}

static TdlPose at(double x, double y, double z) {
    return (TdlPose){{x, y, z}, tdl_identity33()};
}

// The ground: a plane, an open mesh in its place, or the top of a closed one.
enum { PLANE, SHEET, SOLID, GROUNDS };

static void add_ground(TdlWorld* world, int ground, double slope) {
    TdlMat3 r = tdl_rotation_exp((TdlVec3){0, slope, 0});
    if (ground == PLANE) {
        TdlColliderDef def = tdl_collider_def_default();
        TdlBodyId id;
        def.shape = TDL_SHAPE_PLANE;
        def.pose.rotation = r;
        REQUIRE(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
    } else if (ground == SHEET) {
        TdlMesh grid = make_grid(13, 4.0);
        add_mesh(world, grid, 0.01, (TdlPose){tdl_scale3(-0.01, r.cz), r});
        free_mesh(grid);
    } else {
        TdlMesh tube = make_tube(4, 2.0, 4.0);
        // one of its sides level
        TdlMat3 level =
            tdl_mul33(r, tdl_rotation_exp((TdlVec3){-2.0 * PI * 0.8 / 4 + PI / 2, 0, 0}));
        add_mesh(world, tube, 0.0, (TdlPose){tdl_scale3(-sqrt(2.0), r.cz), level});
        free_mesh(tube);
    }
}

// --- the same as a plane --------------------------------------------------------------------

TEST(a_sphere_on_a_mesh_goes_as_on_a_plane) {
    const double slopes[] = {0.0, 0.3}, mu[] = {0.0, 0.2, 0.9};
    for (int i = 0; i < 6; ++i) {
        TdlVec3 place[GROUNDS], spin[GROUNDS];
        for (int ground = 0; ground < GROUNDS; ++ground) {
            double slope = slopes[i % 2];
            TdlWorld* world = make_world(1.0e-3, mu[i / 2]);
            add_ground(world, ground, slope);
            TdlVec3 up = tdl_rotation_exp((TdlVec3){0, slope, 0}).cz;
            // a little above: it falls, lands, and rolls across many edges
            add_sphere(world, 0.03, tdl_scale3(0.031, up), (TdlVec3){0.5, 0.3, 0});
            run_steps(world, 500);
            place[ground] = look_rigid_pose(world, 0).position;
            spin[ground] = look_rigid_angular_velocity(world, 0);
            tdl_world_destroy(world);
        }
        for (int ground = 1; ground < GROUNDS; ++ground) {
            CHECK_NEAR3(place[ground], place[PLANE], 1.0e-9);
            CHECK_NEAR3(spin[ground], spin[PLANE], 1.0e-7);
        }
    }
}

TEST(a_box_on_a_mesh_goes_as_on_a_plane) {
    for (int i = 0; i < 4; ++i) {
        TdlPose pose[GROUNDS];
        double slope = i % 2 == 0 ? 0.0 : 0.35, radius = i / 2 == 0 ? 0.0 : 0.005;
        for (int ground = 0; ground < GROUNDS; ++ground) {
            TdlWorld* world = make_world(1.0e-3, 0.3);
            add_ground(world, ground, slope);
            TdlMat3 r = tdl_rotation_exp((TdlVec3){0, slope, 0});
            add_box(world, (TdlVec3){0.06, 0.05, 0.02}, radius,
                    (TdlPose){tdl_scale3(0.0205, r.cz), r}, (TdlVec3){0});
            run_steps(world, 400);
            pose[ground] = look_rigid_pose(world, 0);
            tdl_world_destroy(world);
        }
        for (int ground = 1; ground < GROUNDS; ++ground) {
            CHECK_NEAR3(pose[ground].position, pose[PLANE].position, 1.0e-8);
            CHECK_NEAR3(pose[ground].rotation.cx, pose[PLANE].rotation.cx, 1.0e-6);
        }
    }
}

// A curled rod falls and comes to lie: its elements are long and thin, so that on a plane too every
// minimum is a contact. After 320 steps a difference of 1e-13 m at the start has grown to 1e-9.
TEST(a_rod_on_a_mesh_goes_as_on_a_plane) {
    enum { ELEMENTS = 6 };
    TdlVec3 tip[GROUNDS][ELEMENTS + 1];
    double energy[GROUNDS];
    for (int ground = 0; ground < GROUNDS; ++ground) {
        TdlWorld* world = make_world(5.0e-4, 0.3);
        add_ground(world, ground, 0.0);
        add_rod(world, 0.6, 1.0e-3, ELEMENTS, (TdlVec3){-0.3, 0.07, 0.02}, (TdlVec3){0, -0.5, 3.0});
        for (int i = 0; i < 320; ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        look_rod_points(world, look_body(world, "rod", 0), 1, tip[ground]);
        energy[ground] = tdl_world_energy(world).gravity;
        tdl_world_destroy(world);
    }
    for (int ground = 1; ground < GROUNDS; ++ground) {
        for (int i = 0; i <= ELEMENTS; ++i) {
            CHECK_NEAR3(tip[ground][i], tip[PLANE][i], 1.0e-9);
        }
        CHECK_NEAR(energy[ground], energy[PLANE], 1.0e-9 * fabs(energy[PLANE]) + 1.0e-12);
    }
}

// --- a meshed cylinder ----------------------------------------------------------------------

// Where the ends of a rod hang that is laid across a cylinder; sides 0: the one in closed form.
static void drape(int sides, TdlVec3 ends[2]) {
    double R = 0.05;
    TdlWorld* world = make_world_to(1.0e-3, 0.5, 1.0e-8); // what the world takes unless told
    if (sides == 0) {
        TdlColliderDef def = tdl_collider_def_default();
        TdlBodyId id;
        def.shape = TDL_SHAPE_CYLINDER;
        def.radius = R;
        REQUIRE(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
    } else {
        TdlMesh tube = make_tube(sides, R, 0.4);
        add_mesh(world, tube, 0.0, at(0, 0, 0));
        free_mesh(tube);
    }
    TdlRodDef def = tdl_rod_def_default();
    TdlBodyId id;
    def.length = 0.3;
    def.radius[0] = def.radius[1] = 2.0e-3;
    def.young = 2.0e6;
    def.element_count = 8;
    def.mass_damping = 20.0;
    def.start = TDL_HOLD_FREE;
    def.clamp = (TdlPose){{0.01, -0.15, R + 4.0e-3}, {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}};
    REQUIRE(tdl_world_add_rod(world, &def, &id) == TDL_STATUS_OK);
    for (int i = 0; i < 800; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
    ends[0] = look_rod_point(world, id, 0.0);
    ends[1] = look_rod_point(world, id, 0.3);
    tdl_world_destroy(world);
}

// The sides of the tube lie within R (1 - cos(pi / sides)) of the cylinder.
TEST(a_rod_over_a_meshed_cylinder_comes_to_that_over_the_cylinder) {
    TdlVec3 want[2], got[2];
    drape(0, want);
    double before = INFINITY;
    const int sides[] = {12, 48, 192};
    for (int i = 0; i < 3; ++i) {
        drape(sides[i], got);
        double off =
            fmax(tdl_norm3(tdl_sub3(got[0], want[0])), tdl_norm3(tdl_sub3(got[1], want[1])));
        double sagitta = 0.05 * (1.0 - cos(PI / sides[i]));
        printf("  %d sides: ends off by %.2e m, sides by %.2e\n", sides[i], off, sagitta);
        // where it sticks depends on its way there, by some 1e-5 m
        CHECK_BELOW(off, fmax(0.5 * before, 2.0e-5));
        CHECK_BELOW(off, 6.0 * sagitta + 2.0e-5);
        before = off;
    }
}

// A chain of straight edges bends over a ridge with a node right on it.
TEST(a_node_of_a_chain_lies_on_a_ridge) {
    const TdlVec3 v[6] = {{-0.1, -0.2, -0.2}, {0.1, -0.2, -0.2}, {-0.1, 0, 0},
                          {0.1, 0, 0},        {-0.1, 0.2, -0.2}, {0.1, 0.2, -0.2}};
    const int t[12] = {0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4};
    TdlWorld* world = make_world(5.0e-4, 0.8);
    add_mesh(world, (TdlMesh){v, 6, t, 4}, 0.0, at(0, 0, 0));
    TdlRodDef def = tdl_rod_def_default();
    TdlBodyId id;
    def.model = "der";
    def.length = 0.2;
    def.radius[0] = def.radius[1] = 2.0e-3;
    def.young = 1.0e6;
    def.element_count = 8;
    def.mass_damping = 20.0;
    def.start = TDL_HOLD_FREE;
    def.clamp = (TdlPose){{0, -0.1, 2.5e-3}, {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}};
    REQUIRE(tdl_world_add_rod(world, &def, &id) == TDL_STATUS_OK);
    run_steps(world, 800);
    // the edges on both sides of the node slope down: each passes the ridge at a radius
    TdlVec3 node = look_rod_point(world, id, 0.1);
    CHECK_BELOW(fabs(node.y), 2.0e-5);
    for (int side = -1; side <= 1; side += 2) {
        TdlVec3 edge = tdl_sub3(look_rod_point(world, id, 0.1 + 0.025 * side), node);
        CHECK_NEAR(tdl_norm3(tdl_cross3(node, edge)) / tdl_norm3(edge), 2.0e-3, 2.0e-5);
    }
    CHECK(look_rod_point(world, id, 0.0).z < -2.0e-3); // it hangs down on both sides
    TdlWrench w = look_contact_wrench(world, "rod", 0);
    double weight = PI * 4.0e-6 * 0.2 * 1000.0 * G;
    CHECK_NEAR(w.force.z, weight, 0.02 * weight);
    tdl_world_destroy(world);
}

// --- faces of boxes -------------------------------------------------------------------------

TEST(a_sphere_comes_to_rest_on_the_face_of_a_box) {
    TdlWorld* world = make_world(1.0e-3, 0.4);
    add_ground(world, PLANE, 0.0);
    add_box(world, (TdlVec3){0.2, 0.2, 0.05}, 0.005, at(0, 0, 0.05), (TdlVec3){0});
    // far from edges, that were all that touched
    add_sphere(world, 0.02, (TdlVec3){0.07, 0.03, 0.125}, (TdlVec3){0});
    double energy = tdl_world_energy(world).kinetic + tdl_world_energy(world).gravity;
    for (int i = 0; i < 800; ++i) {
        run_steps(world, 1);
        TdlEnergy now = tdl_world_energy(world);
        CHECK_BELOW(now.kinetic + now.gravity, energy + 1.0e-10);
        energy = now.kinetic + now.gravity;
    }
    CHECK_NEAR3(look_rigid_pose(world, 1).position, ((TdlVec3){0.07, 0.03, 0.12}), 5.0e-5);
    CHECK_BELOW(tdl_norm3(look_rigid_velocity(world, 1)), 1.0e-6);
    TdlWrench w = look_contact_wrench(world, "rigid", 1);
    double weight = 4.0 / 3.0 * PI * 8.0e-6 * 1000.0 * G;
    CHECK_NEAR3(w.force, ((TdlVec3){0, 0, weight}), 1.0e-6 * weight);
    tdl_world_destroy(world);
}

TEST(a_rod_comes_to_lie_on_the_face_of_a_box) {
    TdlWorld* world = make_world(1.0e-3, 0.4);
    add_ground(world, PLANE, 0.0);
    add_box(world, (TdlVec3){0.2, 0.2, 0.05}, 0.0, at(0, 0, 0.05), (TdlVec3){0});
    add_rod(world, 0.2, 1.0e-3, 4, (TdlVec3){-0.1, 0.02, 0.11}, (TdlVec3){0});
    run_steps(world, 600);
    for (int i = 0; i <= 10; ++i) {
        TdlVec3 p = look_rod_point(world, look_body(world, "rod", 0), 0.02 * i);
        CHECK_NEAR(p.z, 0.101, 5.0e-6);
    }
    TdlWrench w = look_contact_wrench(world, "rod", 0);
    double weight = PI * 1.0e-6 * 0.2 * 1000.0 * G;
    CHECK_NEAR(w.force.z, weight, 1.0e-3 * weight);
    tdl_world_destroy(world);
}

// Each turned against the one below, so that corners stand on faces and edges cross.
TEST(boxes_stand_on_the_faces_of_boxes) {
    TdlWorld* world = make_world(1.0e-3, 0.5);
    add_ground(world, PLANE, 0.0);
    for (int i = 0; i < 3; ++i) {
        TdlPose pose = {{0.01 * i, 0.005 * i, 0.03 + 0.0605 * i},
                        tdl_rotation_exp((TdlVec3){0, 0, 0.5 * i})};
        add_box(world, (TdlVec3){0.06 - 0.015 * i, 0.05 - 0.01 * i, 0.03}, 0.002, pose,
                (TdlVec3){0});
    }
    run_steps(world, 1000);
    for (int i = 0; i < 3; ++i) {
        TdlPose pose = look_rigid_pose(world, i);
        CHECK_NEAR3(pose.position, ((TdlVec3){0.01 * i, 0.005 * i, 0.03 + 0.06 * i}), 1.0e-4);
        CHECK_BELOW(tdl_norm3(look_rigid_velocity(world, i)), 1.0e-6);
        CHECK_BELOW(1.0 - pose.rotation.cz.z, 1.0e-6);
    }
    tdl_world_destroy(world);
}

// A box stands with the middle of its lower face on three points, none of them near an edge of it.
TEST(a_box_stands_on_the_points_of_a_mesh) {
    TdlWorld* world = make_world(1.0e-3, 0.5);
    TdlVec3 v[12];
    int t[27], n = 0;
    for (int i = 0; i < 3; ++i) {
        double a = 2.0 * PI * i / 3, x = 0.05 * cos(a), y = 0.05 * sin(a);
        for (int k = 0; k < 3; ++k) {
            double b = 2.0 * PI * k / 3;
            v[4 * i + k] = (TdlVec3){x + 0.01 * cos(b), y + 0.01 * sin(b), 0.0};
            const int three[3] = {4 * i + k, 4 * i + (k + 1) % 3, 4 * i + 3};
            for (int j = 0; j < 3; ++j) {
                t[n++] = three[j];
            }
        }
        v[4 * i + 3] = (TdlVec3){x, y, 0.03};
    }
    add_mesh(world, (TdlMesh){v, 12, t, 9}, 0.002, at(0, 0, 0));
    add_box(world, (TdlVec3){0.1, 0.1, 0.02}, 0.005, at(0.003, 0, 0.0525), (TdlVec3){0});
    run_steps(world, 500);
    TdlPose pose = look_rigid_pose(world, 0);
    CHECK_NEAR3(pose.position, ((TdlVec3){0.003, 0, 0.052}), 2.0e-5);
    CHECK_BELOW(1.0 - pose.rotation.cz.z, 1.0e-8);
    CHECK_BELOW(tdl_norm3(look_rigid_velocity(world, 0)), 1.0e-6);
    TdlWrench w = look_contact_wrench(world, "collider", 0);
    double mass = 1000.0 * (0.2 * 0.2 * 0.04);
    CHECK_NEAR(-w.force.z, mass * G, 0.01 * mass * G); // its rounding takes a little
    tdl_world_destroy(world);
}

// --- motion ---------------------------------------------------------------------------------

TEST(nothing_falls_through_a_sheet) {
    for (int i = 0; i < 12; ++i) {
        TdlWorld* world = make_world(2.0e-3, 0.3);
        TdlMesh grid = make_grid(1 + i % 3, 1.0);
        add_mesh(world, grid, 0.0, (TdlPose){{0}, tdl_rotation_exp((TdlVec3){0.1 * i, 0, 0})});
        free_mesh(grid);
        TdlVec3 up = tdl_rotation_exp((TdlVec3){0.1 * i, 0, 0}).cz;
        // 6 cm a step, six radii
        TdlVec3 from = tdl_add3(tdl_scale3(0.30 + 0.007 * i, up), (TdlVec3){0.03, 0, 0});
        add_sphere(world, 0.01, from, tdl_scale3(-30.0, up));
        if (i % 2 == 1) {
            TdlRodDef def = tdl_rod_def_default();
            TdlBodyId id;
            def.radius[0] = def.radius[1] = 2.0e-3;
            def.length = 0.2;
            def.element_count = 4;
            def.start = TDL_HOLD_FREE;
            def.clamp.position = tdl_add3(tdl_scale3(0.05, up), (TdlVec3){-0.2, 0, 0});
            REQUIRE(tdl_world_add_rod(world, &def, &id) == TDL_STATUS_OK);
        }
        for (int k = 0; k < 60; ++k) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
            TdlVec3 p = look_rigid_pose(world, 0).position;
            if (fabs(p.x) < 0.4 && tdl_norm3(p) < 0.4) {
                CHECK(tdl_dot3(p, up) > 0.004);
            }
            for (int j = 0; i % 2 == 1 && j <= 10; ++j) {
                TdlVec3 q = look_rod_point(world, look_body(world, "rod", 0), 0.02 * j);
                if (tdl_norm3(q) < 0.4) {
                    CHECK(tdl_dot3(q, up) > 0.0);
                }
            }
        }
        tdl_world_destroy(world);
    }
}

TEST(a_moving_mesh_drags_what_lies_on_it) {
    TdlWorld* world = make_world(1.0e-3, 0.5);
    TdlMesh tube = make_tube(4, 2.0, 8.0);
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_MESH;
    def.mesh = tube;
    def.radius = 0.0;
    def.pose = (TdlPose){{0, 0, -sqrt(2.0)},
                         tdl_rotation_exp((TdlVec3){-2.0 * PI * 0.8 / 4 + PI / 2, 0, 0})};
    def.velocity = (TdlVec3){0.2, 0, 0};
    REQUIRE(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
    free_mesh(tube);
    add_box(world, (TdlVec3){0.05, 0.05, 0.02}, 0.002, at(0, 0, 0.02), (TdlVec3){0});
    run_steps(world, 500);
    CHECK_NEAR(look_rigid_velocity(world, 0).x, 0.2, 1.0e-9);
    // at mu g until it has caught up
    double until = 0.2 / (0.5 * G);
    CHECK_NEAR(look_rigid_pose(world, 0).position.x, 0.2 * 0.5 - 0.5 * 0.2 * until, 2.0e-4);
    tdl_world_destroy(world);
}

// A ball rolls down and up a bumpy mesh: friction and impacts take energy, nothing gives any.
TEST(rolling_over_edges_gives_no_energy) {
    TdlWorld* world = make_world(1.0e-3, 0.3);
    TdlMesh grid = make_grid(12, 1.2);
    TdlVec3* v = (TdlVec3*)(uintptr_t)grid.vertices;
    for (int i = 0; i < grid.vertex_count; ++i) {
        v[i].z = 0.3 * (v[i].x * v[i].x + v[i].y * v[i].y) + 0.004 * (i * 7 % 5);
    }
    add_mesh(world, grid, 0.0, at(0, 0, 0));
    free_mesh(grid);
    add_sphere(world, 0.03, (TdlVec3){0.4, 0.11, 0.14}, (TdlVec3){0, 0.1, 0});
    TdlEnergy start = tdl_world_energy(world);
    double energy = start.kinetic + start.gravity, first = energy;
    double mass = 4.0 / 3.0 * PI * 2.7e-5 * 1000.0;
    for (int i = 0; i < 3000; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        double now = info.energy.kinetic + info.energy.gravity;
        // what moving overlaps apart puts in, and a step's worth of falling at 2 m/s
        CHECK_BELOW(now, energy + info.push + 1.0e-6 * mass * G);
        energy = now;
        CHECK(look_rigid_pose(world, 0).position.z > 0.0);
    }
    CHECK_BELOW(energy, first);
    tdl_world_destroy(world);
}

TEST(a_world_with_surfaces_continues_with_the_same_bits) {
    uint64_t hash[2];
    for (int threads = 1; threads <= 2; ++threads) {
        TdlHost host = tdl_host_default();
        TdlWorldDef def = tdl_world_def_default();
        def.thread_count = threads;
        TdlWorld* world;
        REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
        add_ground(world, SHEET, 0.1);
        add_box(world, (TdlVec3){0.05, 0.05, 0.02}, 0.002, at(0, 0, 0.03), (TdlVec3){0});
        add_sphere(world, 0.02, (TdlVec3){0.01, 0.01, 0.08}, (TdlVec3){0});
        add_rod(world, 0.2, 1.0e-3, 4, (TdlVec3){-0.1, 0.02, 0.06}, (TdlVec3){0});
        for (int i = 0; i < 60; ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        size_t size = tdl_world_state_size(world);
        void* bytes = malloc(size);
        tdl_world_save_state(world, bytes);
        for (int i = 0; i < 40; ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        hash[threads - 1] = tdl_world_state_hash(world);
        REQUIRE(tdl_world_load_state(world, bytes, size) == TDL_STATUS_OK);
        for (int i = 0; i < 40; ++i) {
            REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
        }
        CHECK(tdl_world_state_hash(world) == hash[threads - 1]);
        free(bytes);
        tdl_world_destroy(world);
    }
    CHECK(hash[0] == hash[1]);
}

static TdlStatus make_bodies(const TdlHost* host, TdlWorld** out) {
    TdlWorldDef def = tdl_world_def_default();
    TdlMesh grid = make_grid(3, 1.0);
    TdlColliderDef sheet = tdl_collider_def_default();
    sheet.shape = TDL_SHAPE_MESH;
    sheet.mesh = grid;
    sheet.radius = 0.001;
    TdlRigidDef box = tdl_rigid_def_default(), ball = box;
    box.shape = TDL_RIGID_BOX;
    box.half = (TdlVec3){0.03, 0.03, 0.01};
    box.radius = 0.002;
    box.pose.position.z = 0.012;
    ball.pose.position = (TdlVec3){0.005, 0, 0.034};
    TdlRodDef rod = tdl_rod_def_default();
    rod.length = 0.1;
    rod.radius[0] = rod.radius[1] = 1.0e-3;
    rod.start = TDL_HOLD_FREE;
    rod.element_count = 2;
    rod.clamp.position = (TdlVec3){0.1, 0.2, 0.0025};
    TdlBodyId body;
    TdlBodyId collider;
    TdlBodyId id;
    *out = NULL;
    TdlStatus status = tdl_world_create(host, &def, out);
    status = status == TDL_STATUS_OK ? tdl_world_add_rod(*out, &rod, &id) : status;
    status = status == TDL_STATUS_OK ? tdl_world_add_rigid(*out, &box, &body) : status;
    status = status == TDL_STATUS_OK ? tdl_world_add_rigid(*out, &ball, &body) : status;
    status = status == TDL_STATUS_OK ? tdl_world_add_collider(*out, &sheet, &collider) : status;
    for (int i = 0; i < 40 && status == TDL_STATUS_OK; ++i) {
        status = tdl_world_step(*out, NULL);
    }
    free_mesh(grid);
    return status;
}

TEST(memory_of_surfaces_is_reported_and_kept) {
    long total = 0;
    for (long fail_at = 0; fail_at <= total; ++fail_at) {
        AllocCounter counter = {.fail_at = fail_at};
        TdlHost host = tdl_host_default();
        host.mem = counting_allocator(&counter);
        TdlWorld* world;
        TdlStatus status = make_bodies(&host, &world);
        CHECK_INT(status, fail_at == 0 ? TDL_STATUS_OK : TDL_STATUS_NO_MEMORY);
        if (fail_at == 0) {
            total = counter.calls;
            for (int i = 0; i < 50; ++i) {
                REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
            }
            CHECK_INT(counter.calls, total); // a step allocates nothing
        }
        tdl_world_destroy(world);
        CHECK_INT(counter.live, 0);
    }
    CHECK(total > 50);
}
