// Bodies of more kinds in contact: hollow balls, balls with a weight inside, meshes that are not
// convex; and faces on what is placed.
#include "look.h"
#include "math/rotation.h"
#include "meshes.h"
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

static void add_slope(TdlWorld* world, double slope) {
    TdlColliderDef def = tdl_collider_def_default();
    TdlBodyId id;
    def.shape = TDL_SHAPE_PLANE;
    def.pose.rotation = tdl_rotation_exp((TdlVec3){0, slope, 0});
    REQUIRE(tdl_world_add_collider(world, &def, &id) == TDL_STATUS_OK);
}

static TdlBodyId add(TdlWorld* world, const TdlRigidDef* def) {
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rigid(world, def, &id), TDL_STATUS_OK);
    return id;
}

static TdlRigidDef mesh_def(TdlMesh mesh, double radius, TdlPose pose) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = TDL_RIGID_MESH;
    def.radius = radius;
    def.mesh = mesh;
    def.pose = pose;
    return def;
}

static TdlPose at(double x, double y, double z) {
    return (TdlPose){{x, y, z}, tdl_identity33()};
}

// --- rolling -----------------------------------------------------------------------------------

TEST(hollow_balls_roll_down_slower) {
    double slope = 0.3, t = 0.5, r = 0.05;
    const double inner[] = {0.0, 0.03, 0.045, 0.0499};
    for (int i = 0; i < 4; ++i) {
        TdlWorld* world = make_world(1.0e-3, 0.5, 1);
        add_slope(world, slope);
        TdlMat3 axes = tdl_rotation_exp((TdlVec3){0, slope, 0});
        TdlRigidDef def = tdl_rigid_def_default();
        def.radius = r;
        def.inner_radius = inner[i];
        def.pose.position = tdl_scale3(r, axes.cz);
        add(world, &def);
        run_steps(world, 500);
        double q = inner[i];
        double share = 0.4 * (pow(r, 5) - pow(q, 5)) / (pow(r, 3) - pow(q, 3)) / (r * r);
        double want = 0.5 * G * sin(slope) / (1.0 + share) * t * t;
        double got = tdl_dot3(look_rigid_pose(world, 0).position, axes.cx);
        printf("  inner %g: %.9g m, %.2e off\n", q, got, got / want - 1.0);
        // the parabola of a constant force is exact; forces have ten digits
        CHECK_NEAR(got, want, 1.0e-8 * want);
        tdl_world_destroy(world);
    }
}

TEST(a_ball_with_a_weight_inside_rocks) {
    double r = 0.05, d = 0.01, m = 0.4, j = 2.5e-4, dt = 5.0e-4, tilt = 0.01;
    TdlWorld* world = make_world(dt, 0.8, 1);
    add_floor(world);
    TdlRigidDef def = tdl_rigid_def_default();
    def.radius = r;
    def.mass = m;
    def.inertia = tdl_diag33((TdlVec3){j, j, 1.1 * j});
    def.has_centre = true;
    def.centre = (TdlVec3){0, 0, -d};
    def.pose = (TdlPose){{0, 0, r}, tdl_rotation_exp((TdlVec3){0, tilt, 0})};
    add(world, &def);
    // it rolls: about the point of contact the inertia is j + m (r - d)^2
    double rate = sqrt(m * G * d / (j + m * (r - d) * (r - d))), worst = 0.0;
    int steps = (int)(2.0 * PI / rate / dt);
    for (int i = 1; i <= steps; ++i) {
        run_steps(world, 1);
        TdlMat3 axes = look_rigid_pose(world, 0).rotation;
        worst = fmax(worst, fabs(atan2(axes.cz.x, axes.cz.z) - tilt * cos(rate * i * dt)));
    }
    printf("  period %.4f s, off by at most %.2e of the swing\n", 2.0 * PI / rate, worst / tilt);
    // of the amplitude tilt^2/16 a turn, of the step (rate dt)^2/24: about 1e-4 after a turn
    CHECK_BELOW(worst / tilt, 3.0e-4);
    tdl_world_destroy(world);
}

// --- meshes ------------------------------------------------------------------------------------

TEST(a_mesh_slides_down_a_slope_as_in_the_textbook) {
    const double slopes[] = {0.3, 1.2}, mu[] = {0.0, 0.2}, radii[] = {0.0, 0.003};
    TdlVec3 half = {0.05, 0.04, 0.02};
    for (int i = 0; i < 8; ++i) {
        double slope = slopes[i % 2], m = mu[i / 2 % 2], r = radii[i / 4], t = 0.5;
        TdlWorld* world = make_world(1.0e-3, m, 1);
        add_slope(world, slope);
        TdlMat3 axes = tdl_rotation_exp((TdlVec3){0, slope, 0});
        TdlMesh mesh = make_box_mesh(tdl_sub3(half, (TdlVec3){r, r, r}), (TdlVec3){0.1, 0.2, 0.3});
        TdlVec3 middle = tdl_scale3(half.z, axes.cz);
        TdlVec3 place = tdl_sub3(middle, tdl_mul33_3(axes, (TdlVec3){0.1, 0.2, 0.3}));
        TdlRigidDef def = mesh_def(mesh, r, (TdlPose){place, axes});
        add(world, &def);
        run_steps(world, 500);
        TdlVec3 way = tdl_sub3(look_rigid_pose(world, 0).position, place);
        double want = 0.5 * G * (sin(slope) - m * cos(slope)) * t * t;
        // as of boxes in test_rigid_contact.c
        CHECK_NEAR(tdl_dot3(way, axes.cx), want, 1.0e-6 * (want + 0.01));
        CHECK_NEAR(tdl_dot3(way, axes.cz), 0.0, 1.0e-8);
        tdl_world_destroy(world);
        free_mesh(mesh);
    }
}

// The ball lies within the convex hull of the hook, on its foot and against its stem.
TEST(a_ball_lies_in_the_notch_of_a_hook) {
    double s = 0.02, r = 0.35 * s;
    TdlWorld* world = make_world(1.0e-3, 0.3, 1);
    add_floor(world);
    TdlMesh mesh = make_hook_mesh(s, 0.03);
    TdlRigidDef hook = mesh_def(mesh, 0.0, at(0, 0, 0));
    add(world, &hook);
    add_sphere(world, r, (TdlVec3){1.5 * s, 0, s + r + 0.01}, (TdlVec3){-0.02, 0, 0});
    run_steps(world, 400);
    TdlVec3 ball = look_rigid_pose(world, 1).position;
    CHECK_NEAR(ball.z, s + r, 1.0e-7); // to what a step may leave of an overlap, a gap less
    CHECK(ball.x < 1.5 * s && ball.x > s + r - 1.0e-7);
    CHECK_NEAR3(look_rigid_pose(world, 0).position, ((TdlVec3){0}), 1.0e-4);
    TdlVec3 up = {0};
    int count;
    const TdlContactForce* f = tdl_world_contact_forces(world, &count);
    TdlBodyId floor = look_body(world, "collider", 0);
    for (int i = 0; i < count; ++i) {
        double sign = tdl_body_id_equal(f[i].body[0], floor)   ? -1.0
                      : tdl_body_id_equal(f[i].body[1], floor) ? 1.0
                                                               : 0.0;
        up = tdl_axpy3(up, sign, f[i].force);
    }
    double weight = G * 1000.0 * (4.0 * s * s * 0.03 + 4.0 / 3.0 * PI * r * r * r);
    printf("  floor carries %.9g N, weight %.9g N\n", fabs(up.z), weight);
    CHECK_NEAR(fabs(up.z), weight, 1.0e-3 * weight); // the ball may still roll
    tdl_world_destroy(world);
    free_mesh(mesh);
}

// What two bodies have, about the origin in the middle of the last step, where velocities live.
typedef struct Momenta {
    TdlVec3 p, l;
    double bound; // sum of |w| |J w|
} Momenta;

static void add_momenta(const TdlWorld* world, int index, const TdlRigidDef* def, double dt,
                        Momenta* out) {
    TdlPose pose = look_rigid_pose(world, index);
    TdlVec3 v = look_rigid_velocity(world, index), w = look_rigid_angular_velocity(world, index);
    TdlVec3 x = tdl_add3(pose.position, tdl_mul33_3(pose.rotation, def->centre));
    TdlMat3 r = tdl_mul33(tdl_rotation_exp(tdl_scale3(-0.5 * dt, w)), pose.rotation);
    TdlVec3 spin = tdl_mul33_3(r, tdl_mul33_3(def->inertia, tdl_tmul33_3(r, w)));
    out->p = tdl_axpy3(out->p, def->mass, v);
    out->l = tdl_add3(out->l, tdl_add3(spin, tdl_scale3(def->mass, tdl_cross3(x, v))));
    out->bound += tdl_norm3(w) * tdl_norm3(spin);
}

TEST(two_meshes_that_meet_keep_their_momenta) {
    double dt = 1.0e-3;
    TdlHost host = tdl_host_default();
    TdlWorldDef world_def = tdl_world_def_default();
    world_def.step = dt;
    world_def.gravity = (TdlVec3){0};
    world_def.contacts.law = (TdlContactLaw){0.4, 0.5};
    TdlWorld* world = NULL;
    REQUIRE(tdl_world_create(&host, &world_def, &world) == TDL_STATUS_OK);
    TdlRigidDef def[2] = {mesh_def(make_hook_mesh(0.02, 0.03), 5.0e-4, at(-0.05, 0.01, 0)),
                          mesh_def(make_sphere_mesh(0.02, 2), 5.0e-4, at(0.06, 0, 0.03))};
    for (int k = 0; k < 2; ++k) {
        def[k].mass = k == 0 ? 0.3 : 0.2;
        def[k].inertia =
            tdl_diag33(k == 0 ? (TdlVec3){1e-4, 8e-5, 5e-5} : (TdlVec3){4e-5, 3e-5, 5e-5});
        def[k].has_centre = true;
        def[k].centre = k == 0 ? (TdlVec3){0.015, 0, 0.025} : (TdlVec3){0.001, 0.002, 0.0};
        def[k].velocity = (TdlVec3){k == 0 ? 0.5 : -0.7, 0.1 * k, 0};
        def[k].angular_velocity = (TdlVec3){1.0, 2.0 - 3.0 * k, 0.5};
        add(world, &def[k]);
    }
    Momenta before = {0}, now = {0};
    int touched = 0;
    double allowed = 1.0e-15, worst = 0.0; // roundings of 1e-3 kg m^2/s
    for (int i = 0; i < 150; ++i) {
        TdlStepInfo info;
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        Momenta last = now;
        now = (Momenta){0};
        for (int k = 0; k < 2; ++k) {
            add_momenta(world, k, &def[k], dt, &now);
        }
        before = i == 0 ? now : before;
        CHECK_NEAR3(now.p, before.p, 1.0e-15); // of 0.15 kg m/s each
        if (info.contact_count > 0) {
            // impulses act at the start of the step: half a turn of it before what is seen here
            allowed += 0.5 * dt * (last.bound + now.bound);
            ++touched;
        }
        double off = tdl_norm3(tdl_sub3(now.l, before.l));
        worst = fmax(worst, off);
        CHECK(info.substeps == 1 && off <= allowed);
    }
    printf("  touched in %d steps, spin off by %.2e of %.2e, allowed %.2e\n", touched, worst,
           tdl_norm3(before.l), allowed);
    CHECK(touched > 0);
    CHECK(look_rigid_velocity(world, 0).x < 0.4); // it was a blow
    tdl_world_destroy(world);
    free_mesh(def[0].mesh);
    free_mesh(def[1].mesh);
}

// --- faces on what is placed -------------------------------------------------------------------

TEST(a_face_rests_on_a_placed_ball_or_capsule) {
    TdlMesh slab = make_box_mesh((TdlVec3){0.1, 0.1, 0.01}, (TdlVec3){0});
    for (int i = 0; i < 4; ++i) {
        TdlWorld* world = make_world(1.0e-3, 0.5, 1);
        TdlColliderDef round = tdl_collider_def_default();
        TdlBodyId id;
        round.shape = i % 2 == 0 ? TDL_SHAPE_SPHERE : TDL_SHAPE_CAPSULE;
        round.radius = 0.03;
        round.length = 0.06;
        round.pose.position.x = i % 2 == 0 ? 0.0 : -0.03;
        REQUIRE(tdl_world_add_collider(world, &round, &id) == TDL_STATUS_OK);
        TdlRigidDef def = mesh_def(slab, 0.0, at(0, 0, 0.045));
        if (i < 2) {
            def.shape = TDL_RIGID_BOX;
            def.half = (TdlVec3){0.1, 0.1, 0.01};
            def.radius = 0.002;
        }
        add(world, &def);
        run_steps(world, 100); // it falls by 5 mm, in 32 ms
        CHECK_NEAR(look_rigid_pose(world, 0).position.z, 0.04, 1.0e-8);
        int count;
        const TdlContactForce* f = tdl_world_contact_forces(world, &count);
        TdlVec3 sum = {0};
        for (int k = 0; k < count; ++k) {
            sum = tdl_add3(sum, f[k].force);
        }
        if (i >= 2) { // sharp edges, so that the volume is plain
            CHECK_NEAR(fabs(sum.z), 1000.0 * 0.2 * 0.2 * 0.02 * G, 1.0e-8);
        }
        CHECK_INT(count, i % 2 == 0 ? 1 : 2);
        tdl_world_destroy(world);
    }
    free_mesh(slab);
}

// --- the same bits -----------------------------------------------------------------------------

static TdlWorld* make_heap(int threads, TdlMesh hook, TdlMesh ball) {
    TdlWorld* world = make_world(1.0e-3, 0.4, threads);
    add_floor(world);
    for (int k = 0; k < 3; ++k) {
        TdlPose pose = {{0.004 * k, 0.002 * k, 0.03 + 0.08 * k},
                        tdl_rotation_exp((TdlVec3){0.3 * k, 0.2, 0.1})};
        TdlRigidDef def = mesh_def(k == 1 ? ball : hook, 1.0e-3, pose);
        add(world, &def);
    }
    TdlRigidDef hollow = tdl_rigid_def_default();
    hollow.radius = 0.02;
    hollow.inner_radius = 0.018;
    hollow.pose.position = (TdlVec3){0.05, 0, 0.03};
    add(world, &hollow);
    return world;
}

static void run(TdlWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

TEST(threads_copies_and_states_give_the_same_bits) {
    TdlMesh hook = make_hook_mesh(0.02, 0.03), ball = make_sphere_mesh(0.02, 3);
    TdlWorld *one = make_heap(1, hook, ball), *two = make_heap(2, hook, ball), *copy = NULL;
    run(one, 150);
    run(two, 150);
    CHECK(tdl_world_state_hash(one) == tdl_world_state_hash(two));
    size_t size = tdl_world_state_size(one);
    void* bytes = malloc(size);
    tdl_world_save_state(one, bytes);
    CHECK_INT(tdl_world_copy(one, &copy), TDL_STATUS_OK);
    TdlWorld* fresh = make_heap(2, hook, ball);
    CHECK_INT(tdl_world_load_state(fresh, bytes, size), TDL_STATUS_OK);
    run(one, 150);
    run(copy, 150);
    run(fresh, 150);
    CHECK(tdl_world_state_hash(one) == tdl_world_state_hash(copy));
    CHECK(tdl_world_state_hash(one) == tdl_world_state_hash(fresh));
    CHECK(kinds_touch(one, "rigid", "collider"));
    tdl_world_destroy(one);
    tdl_world_destroy(two);
    tdl_world_destroy(copy);
    tdl_world_destroy(fresh);
    free(bytes);
    free_mesh(hook);
    free_mesh(ball);
}
