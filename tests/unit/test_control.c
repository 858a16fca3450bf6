// What a program does to a world between two steps: what is led goes where it is told, and a saved
// state knows of it; pulls do what forces do; frames and velocities are those of the places.
#include "tendril/control.h"

#include "look.h"
#include "scratch.h"
#include "tendril/tendril.h"

static TdlWorld* make_world(TdlVec3 gravity, bool off) {
    TdlHost host = tdl_host_default();
    TdlWorldDef def = tdl_world_def_default();
    def.gravity = gravity;
    def.losses = true;
    def.contacts.off = off;
    TdlWorld* world;
    if (tdl_world_create(&host, &def, &world) != TDL_STATUS_OK) {
        abort();
    }
    return world;
}

static TdlBodyId add_plate(TdlWorld* world, TdlMotionDef motion) {
    TdlColliderDef def = tdl_collider_def_default();
    def.shape = TDL_SHAPE_PLATE;
    def.radius = 1.0e-3;
    def.length = 0.1;
    def.motion = motion;
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_collider(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static TdlBodyId add_ball(TdlWorld* world, TdlVec3 at) {
    TdlRigidDef def = tdl_rigid_def_default();
    def.pose.position = at;
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rigid(world, &def, &id), TDL_STATUS_OK);
    return id;
}

static void steps(TdlWorld* world, int count) {
    for (int i = 0; i < count; ++i) {
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

static double pose_apart(TdlPose a, TdlPose b) {
    TdlVec3 turn = tdl_sub3(tdl_mul33_3(a.rotation, (TdlVec3){1.0, 2.0, 3.0}),
                            tdl_mul33_3(b.rotation, (TdlVec3){1.0, 2.0, 3.0}));
    return tdl_norm3(tdl_sub3(a.position, b.position)) + tdl_norm3(turn);
}

static TdlMat3 about_z(double angle) {
    double c = cos(angle), s = sin(angle);
    return (TdlMat3){{c, s, 0.0}, {-s, c, 0.0}, {0.0, 0.0, 1.0}};
}

static const TdlVec3 DOWN = {0.0, 0.0, -9.81};

// A ball on a plate that rises and turns: led step by step, or by its motion.
TEST(a_collider_that_is_led_does_what_its_motion_would) {
    TdlKeyframe keys[2] = {
        {.time = 0.0}, {.time = 1.0, .position = {0.05, 0.0, 0.2}, .rotation = {0.0, 0.0, 0.5}}};
    TdlMotionDef motion = {.keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_LINEAR};
    TdlWorld *scripted = make_world(DOWN, false), *led = make_world(DOWN, false);
    add_plate(scripted, motion);
    TdlBodyId plate = add_plate(led, (TdlMotionDef){0});
    TdlVec3 at = {0.03, 0.0, 0.01};
    TdlBodyId ball = add_ball(led, at);
    add_ball(scripted, at);
    double work[2] = {0.0}, apart = 0.0;
    for (int i = 1; i <= 200; ++i) {
        double t = i * 1.0e-3;
        TdlPose to = {{0.05 * t, 0.0, 0.2 * t}, about_z(0.5 * t)};
        CHECK_INT(tdl_body_move_to(led, plate, 0, to), TDL_STATUS_OK);
        TdlStepInfo a, b;
        REQUIRE(tdl_world_step(scripted, &a) == TDL_STATUS_OK);
        REQUIRE(tdl_world_step(led, &b) == TDL_STATUS_OK);
        work[0] += a.work;
        work[1] += b.work;
        TdlPose now;
        CHECK_INT(tdl_body_led_pose(led, plate, 0, &now), TDL_STATUS_OK);
        CHECK(pose_apart(now, to) == 0.0); // to the last bit
        apart = fmax(apart, pose_apart(look_rigid_pose(led, 0), look_rigid_pose(scripted, 0)));
    }
    double risen = look_rigid_pose(led, 0).position.z - at.z;
    TdlBodyId same = look_body(led, "rigid", 0);
    CHECK(tdl_body_id_equal(same, ball));
    printf("  off by %.1e m; risen by %.4f m, work %.4e J and %.4e J\n", apart, risen, work[0],
           work[1]);
    CHECK_BELOW(apart, 1.0e-11); // roundings of the poses, over 200 steps
    CHECK_NEAR(risen, 0.04, 1.0e-3);
    CHECK(work[0] > 0.0);
    CHECK_NEAR(work[1], work[0], 1.0e-9 * work[0]);
    tdl_world_destroy(scripted);
    tdl_world_destroy(led);
}

TEST(a_velocity_lasts_until_it_is_changed) {
    TdlWorld* world = make_world(DOWN, false);
    TdlKeyframe key = {.position = {0.0, 0.0, 0.5}};
    TdlBodyId plate = add_plate(
        world,
        (TdlMotionDef){.keys = &key, .key_count = 1, .interpolation = TDL_INTERPOLATION_LINEAR});
    TdlVec3 v = {0.0, 0.2, 0.1}, w = {0.0, 0.0, 2.0};
    CHECK_INT(tdl_body_set_velocity(world, plate, 0, v, w), TDL_STATUS_OK);
    steps(world, 500);
    TdlPose now = look_collider_pose(world, 0), want = {{0.0, 0.1, 0.55}, about_z(1.0)};
    CHECK_BELOW(pose_apart(now, want), 1.0e-12); // 500 roundings
    CHECK_INT(tdl_body_set_velocity(world, plate, 0, (TdlVec3){0}, (TdlVec3){0}), TDL_STATUS_OK);
    steps(world, 10);
    CHECK(pose_apart(look_collider_pose(world, 0), now) == 0.0);
    CHECK_INT(tdl_body_let_go(world, plate, 0), TDL_STATUS_OK);
    steps(world, 1);
    want = (TdlPose){{0.0, 0.0, 0.5}, tdl_identity33()};
    CHECK(pose_apart(look_collider_pose(world, 0), want) == 0.0);
    tdl_world_destroy(world);
}

// A strip on a floor with a held edge, a rod with two held ends, a ball and a plate.
static void fill(TdlWorld* world, const char* model) {
    TdlKeyframe keys[2] = {{.time = 0.0}, {.time = 0.2, .position = {0.0, 0.0, 0.02}}};
    add_plate(world, (TdlMotionDef){
                         .keys = keys, .key_count = 2, .interpolation = TDL_INTERPOLATION_SMOOTH});
    add_ball(world, (TdlVec3){0.0, 0.0, 0.0105});
    TdlRodDef rod = tdl_rod_def_default();
    rod.model = model;
    rod.length = 0.2;
    rod.element_count = 6;
    rod.radius[0] = rod.radius[1] = 1.0e-3;
    rod.young = 1.0e7;
    rod.damping = 0.01;
    rod.clamp.position = (TdlVec3){-0.08, 0.05, 0.1};
    rod.natural_curvature.y = rod.curvature.y = 5.0;
    rod.end = TDL_HOLD_CLAMPED;
    TdlBodyId id;
    CHECK_INT(tdl_world_add_rod(world, &rod, &id), TDL_STATUS_OK);
    TdlVec3 vertices[12];
    int faces[24], held[4] = {0, 1, 2, 3};
    TdlClothHold hold = {.vertices = held, .count = 4};
    TdlClothDef cloth = tdl_cloth_def_default();
    cloth.mesh = tdl_cloth_rectangle(0.06, 0.04, 4, 3, vertices, faces);
    for (int i = 0; i < 12; ++i) {
        vertices[i].z += 0.15;
    }
    cloth.holds = &hold;
    cloth.hold_count = 1;
    CHECK_INT(tdl_world_add_cloth(world, &cloth, &id), TDL_STATUS_OK);
}

// The same commands at the same steps.
static void command(TdlWorld* world, int step) {
    TdlBodyId rod = look_body(world, "rod", 0), plate = look_body(world, "collider", 0);
    TdlBodyId cloth = look_body(world, "cloth", 0);
    if (step == 5) {
        TdlVec3 v = {0.05, 0.0, 0.1}, w = {0.0, 0.3, 1.0};
        CHECK_INT(tdl_body_set_velocity(world, plate, 0, v, w), TDL_STATUS_OK);
        CHECK_INT(tdl_body_set_velocity(world, cloth, 0, v, w), TDL_STATUS_OK);
        CHECK_INT(tdl_body_set_velocity(world, rod, TDL_LED_END, v, w), TDL_STATUS_OK);
    }
    if (step >= 10 && step % 3 == 0) {
        TdlPose pose;
        CHECK_INT(tdl_body_led_pose(world, rod, TDL_LED_START, &pose), TDL_STATUS_OK);
        pose.position.x += 1.0e-4;
        pose.rotation = tdl_mul33(about_z(0.002), pose.rotation);
        CHECK_INT(tdl_body_move_to(world, rod, TDL_LED_START, pose), TDL_STATUS_OK);
    }
    if (step == 50) {
        CHECK_INT(tdl_body_let_go(world, plate, 0), TDL_STATUS_OK);
    }
}

static void run(TdlWorld* world, int from, int to) {
    for (int i = from; i < to; ++i) {
        command(world, i);
        REQUIRE(tdl_world_step(world, NULL) == TDL_STATUS_OK);
    }
}

static const char* const MODELS[] = {"super-helix", "super-clothoid", "der", "mass-spring",
                                     "corde"};

TEST(a_state_saved_on_the_way_goes_on_with_the_same_bits) {
    for (int m = 0; m < 5; ++m) {
        TdlWorld *whole = make_world(DOWN, false), *resumed = make_world(DOWN, false);
        fill(whole, MODELS[m]);
        fill(resumed, MODELS[m]);
        run(whole, 0, 37);
        size_t size = tdl_world_state_size(whole);
        char* bytes = malloc(size);
        tdl_world_save_state(whole, bytes);
        CHECK_INT(tdl_world_load_state(resumed, bytes, size), TDL_STATUS_OK);
        free(bytes);
        CHECK(tdl_world_state_hash(whole) == tdl_world_state_hash(resumed));
        run(whole, 37, 70);
        run(resumed, 37, 70);
        CHECK(tdl_world_state_hash(whole) == tdl_world_state_hash(resumed));
        // it went as it was led
        TdlPose end;
        CHECK_INT(tdl_body_led_pose(whole, look_body(whole, "rod", 0), TDL_LED_END, &end),
                  TDL_STATUS_OK);
        TdlVec3 far = look_rod_point(whole, look_body(whole, "rod", 0), 0.2);
        CHECK_NEAR3(far, end.position, 1.0e-9);
        TdlPose hold;
        CHECK_INT(tdl_body_led_pose(whole, look_body(whole, "cloth", 0), 0, &hold), TDL_STATUS_OK);
        CHECK_NEAR3(hold.position, ((TdlVec3){0.05 * 0.065, -0.02, 0.15 + 0.1 * 0.065}), 1.0e-12);
        TdlVec3 at[12];
        CHECK_INT(tdl_cloth_state(whole, look_body(whole, "cloth", 0), at, NULL), TDL_STATUS_OK);
        TdlVec3 middle = {0};
        for (int k = 0; k < 4; ++k) {
            middle = tdl_axpy3(middle, 0.25, at[k]);
        }
        CHECK_NEAR3(middle, hold.position, 1.0e-12);
        tdl_world_destroy(whole);
        tdl_world_destroy(resumed);
    }
}

// --- pulls -----------------------------------------------------------------------------------

// Told to one that has asked all the time, and to one that never did.
TEST(who_asks_where_things_are_changes_nothing) {
    TdlWorld *asked = make_world(DOWN, false), *left = make_world(DOWN, false);
    fill(asked, "super-helix");
    fill(left, "super-helix");
    for (int i = 0; i < 20; ++i) {
        TdlBodyId cloth = look_body(asked, "cloth", 0);
        TdlPose pose, same;
        CHECK_INT(tdl_body_led_pose(asked, cloth, 0, &pose), TDL_STATUS_OK);
        CHECK(tdl_world_state_hash(asked) == tdl_world_state_hash(left));
        command(asked, i);
        command(left, i);
        if (i == 15) {
            CHECK_INT(tdl_body_let_go(asked, cloth, 0), TDL_STATUS_OK);
            CHECK_INT(tdl_body_let_go(left, look_body(left, "cloth", 0), 0), TDL_STATUS_OK);
        }
        CHECK_INT(tdl_body_led_pose(asked, cloth, 0, &same), TDL_STATUS_OK);
        CHECK(pose_apart(pose, same) == 0.0); // a command moves nothing yet
        CHECK(tdl_world_state_hash(asked) == tdl_world_state_hash(left));
        steps(asked, 1);
        steps(left, 1);
    }
    tdl_world_destroy(asked);
    tdl_world_destroy(left);
}

TEST(a_pull_at_a_rigid_body_is_a_force_at_its_point) {
    TdlWorld* world = make_world((TdlVec3){0}, true);
    TdlRigidDef def = tdl_rigid_def_default();
    def.shape = TDL_RIGID_BOX;
    def.half = (TdlVec3){0.03, 0.02, 0.01};
    def.radius = 0.0;
    TdlBodyId box;
    CHECK_INT(tdl_world_add_rigid(world, &def, &box), TDL_STATUS_OK);
    double mass = 1000.0 * 8.0 * 0.03 * 0.02 * 0.01, inertia = mass / 3.0 * (9.0e-4 + 4.0e-4);
    // two forces at opposite corners of one axis: a couple about z, and what is left of them
    TdlPull pulls[2] = {{.point = {0.03, 0.0, 0.0}, .force = {0.0, 2.0e-3, 0.0}},
                        {.point = {-0.03, 0.0, 0.0}, .force = {0.0, -1.0e-3, 0.0}}};
    CHECK_INT(tdl_body_pull(world, box, 2, pulls), TDL_STATUS_OK);
    TdlStepInfo info;
    double given = 0.0, numerical = 0.0;
    for (int i = 0; i < 100; ++i) {
        REQUIRE(tdl_world_step(world, &info) == TDL_STATUS_OK);
        given += info.given;
        numerical += info.numerical;
    }
    // velocities are those of half a step before
    double t = 99.5e-3, spin = 0.03 * 3.0e-3 / inertia * t;
    TdlVec3 v = look_rigid_velocity(world, 0), w = look_rigid_angular_velocity(world, 0);
    printf("  v %.6e m/s, spin %.6f rad/s of %.6f, given %.4e J, numerical %.1e J\n", v.y, w.z,
           spin, given, numerical);
    CHECK_NEAR(v.y, 1.0e-3 / mass * t, 1.0e-14);
    CHECK_NEAR(w.z, spin, 0.02 * spin * spin * t); // the arm turns: cos of a small angle
    TdlEnergy e = tdl_world_energy(world);
    CHECK_NEAR(given - numerical, e.kinetic, 1.0e-12 * given);
    CHECK_BELOW(fabs(numerical), 1.0e-3 * given);
    CHECK_INT(tdl_body_pull(world, box, 0, NULL), TDL_STATUS_OK);
    TdlVec3 before = look_rigid_velocity(world, 0);
    steps(world, 10);
    CHECK_NEAR3(look_rigid_velocity(world, 0), before, 1.0e-15);
    TdlPull bad = {.point = {NAN, 0.0, 0.0}};
    CHECK_INT(tdl_body_pull(world, box, 1, &bad), TDL_STATUS_BAD_ARGUMENT);
    tdl_world_destroy(world);
}

// A box that is held against its weight by a pull stays, also on a floor that carries half of it.
TEST(a_pull_that_is_the_weight_holds_a_body) {
    for (int half = 0; half < 2; ++half) {
        TdlWorld* world = make_world(DOWN, false);
        add_plate(world, (TdlMotionDef){0});
        TdlVec3 at = {0.0, 0.0, half ? 0.01 : 0.02};
        TdlBodyId ball = add_ball(world, at);
        TdlVec3 centre;
        double mass;
        CHECK_INT(tdl_body_centre(world, ball, &centre, &mass), TDL_STATUS_OK);
        TdlPull pull = {.force = {0.0, 0.0, mass * 9.81 * (half ? 0.5 : 1.0)}};
        CHECK_INT(tdl_body_pull(world, ball, 1, &pull), TDL_STATUS_OK);
        steps(world, 300);
        CHECK_NEAR3(look_rigid_pose(world, 0).position, at, 1.0e-9);
        int count;
        TdlContactForce touch[2];
        CHECK_INT(tdl_body_contacts(world, ball, 2, touch, &count), TDL_STATUS_OK);
        CHECK_INT(count, half);
        if (half) {
            CHECK_NEAR(fabs(touch[0].force.z), 0.5 * mass * 9.81, 1.0e-9);
        }
        TdlBodyId plate = look_body(world, "collider", 0);
        CHECK_INT(tdl_body_contacts(world, plate, 0, NULL, &count), TDL_STATUS_OK);
        CHECK_INT(count, half);
        CHECK_INT(tdl_body_pull(world, plate, 1, &pull), TDL_STATUS_BAD_ARGUMENT);
        tdl_world_destroy(world);
    }
}

// --- frames and velocities -------------------------------------------------------------------

static TdlBodyId add_curl(TdlWorld* world, const char* model, TdlHold start) {
    TdlRodDef rod = tdl_rod_def_default();
    rod.model = model;
    rod.length = 0.2;
    rod.element_count = 8;
    rod.radius[0] = 1.0e-3;
    rod.radius[1] = 0.5e-3;
    rod.young = 1.0e7;
    rod.curvature = (TdlVec3){3.0, 12.0, -4.0};
    rod.start = start;
    TdlBodyId id = {0};
    CHECK_INT(tdl_world_add_rod(world, &rod, &id), TDL_STATUS_OK);
    return id;
}

enum { PLACES = 9 };

// Against differences of the places one step on, in steps ten times shorter: of first order.
TEST(velocities_are_those_of_the_places) {
    const TdlHold starts[3] = {TDL_HOLD_CLAMPED, TDL_HOLD_PINNED, TDL_HOLD_FREE};
    for (int m = 0; m < 5; ++m) {
        for (int h = 0; h < 3; ++h) {
            double worst[2];
            for (int fine = 0; fine < 2; ++fine) {
                TdlHost host = tdl_host_default();
                TdlWorldDef def = tdl_world_def_default();
                def.step = fine ? 1.0e-5 : 1.0e-4;
                TdlWorld* world;
                REQUIRE(tdl_world_create(&host, &def, &world) == TDL_STATUS_OK);
                TdlBodyId id = add_curl(world, MODELS[m], starts[h]);
                if (starts[h] != TDL_HOLD_FREE) {
                    TdlVec3 v = {0.1, -0.2, 0.3}, w = {1.0, 2.0, -3.0};
                    CHECK_INT(tdl_body_set_velocity(world, id, TDL_LED_START, v, w), TDL_STATUS_OK);
                }
                steps(world, fine ? 200 : 20);
                TdlVec3 before[PLACES], after[PLACES], v[PLACES];
                double at[PLACES];
                for (int i = 0; i < PLACES; ++i) {
                    at[i] = fmin(0.2, 0.2 * i / (PLACES - 1));
                    before[i] = look_rod_point(world, id, at[i]);
                }
                steps(world, 1);
                CHECK_INT(tdl_rod_point_velocities(world, id, PLACES, at, v), TDL_STATUS_OK);
                worst[fine] = 0.0;
                for (int i = 0; i < PLACES; ++i) {
                    after[i] = look_rod_point(world, id, at[i]);
                    TdlVec3 moved = tdl_scale3(1.0 / def.step, tdl_sub3(after[i], before[i]));
                    worst[fine] = fmax(worst[fine], tdl_norm3(tdl_sub3(moved, v[i])));
                }
                tdl_world_destroy(world);
            }
            printf("  %s, start %d: %.1e and %.1e m/s\n", MODELS[m], h, worst[0], worst[1]);
            CHECK_BELOW(worst[1], fmax(0.15 * worst[0], 1.0e-8)); // roundings over a step of 1e-5
        }
    }
}

// A frame's first axis is the tangent; the frames turn by the curvature from place to place.
TEST(frames_turn_as_the_curvature_says) {
    const char* const framed[] = {"super-helix", "super-clothoid", "der", "corde"};
    for (int m = 0; m < 4; ++m) {
        bool smooth = m < 2;
        TdlWorld* world = make_world(DOWN, true);
        TdlBodyId id = add_curl(world, framed[m], TDL_HOLD_CLAMPED);
        TdlPose frame[801];
        CHECK_INT(tdl_rod_frames(world, id, 801, NULL, frame), TDL_STATUS_OK);
        double ds = 0.2 / 800, off = 0.0, tangent = 0.0;
        TdlVec3 sum = {0};
        for (int i = 0; i < 800; ++i) {
            TdlVec3 way = tdl_scale3(1.0 / ds, tdl_sub3(frame[i + 1].position, frame[i].position));
            TdlVec3 mean =
                tdl_scale3(0.5, tdl_add3(frame[i].rotation.cx, frame[i + 1].rotation.cx));
            tangent = fmax(tangent, tdl_norm3(tdl_sub3(way, mean)));
            // omega of R' = R [kappa]x, from the skew part
            TdlMat3 turn = tdl_mul33(tdl_transpose33(frame[i].rotation), frame[i + 1].rotation);
            TdlVec3 kappa =
                tdl_scale3(0.5 / ds, (TdlVec3){turn.cy.z - turn.cz.y, turn.cz.x - turn.cx.z,
                                               turn.cx.y - turn.cy.x});
            sum = tdl_axpy3(sum, 1.0 / 800, kappa);
            off = fmax(off, tdl_norm3(tdl_sub3(kappa, (TdlVec3){3.0, 12.0, -4.0})));
        }
        printf("  %s: tangents off by %.1e, curvature (%.4f, %.4f, %.4f), off by %.1e 1/m\n",
               framed[m], tangent, sum.x, sum.y, sum.z, off);
        if (smooth) {
            CHECK_BELOW(tangent, 2.0 * ds * ds * 13.0 * 13.0);
            CHECK_BELOW(off, 13.0 * ds * ds * 13.0 * 13.0);
        }
        // polylines turn at their seven inner nodes, by an angle of which this is the sine
        double angle = 13.0 * 0.025, share = smooth ? 1.0 : 7.0 / 8.0 * sin(angle) / angle;
        CHECK_NEAR(sum.x, 3.0 * share, 1.0e-3);
        CHECK_NEAR(sum.y, 12.0 * share, 1.0e-3);
        TdlPose one;
        double out[2] = {-1.0e-9, 0.2000001};
        CHECK_INT(tdl_rod_frames(world, id, 1, &out[0], &one), TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(tdl_rod_frames(world, id, 1, &out[1], &one), TDL_STATUS_BAD_ARGUMENT);
        CHECK_INT(tdl_rod_frames(world, id, 1, NULL, &one), TDL_STATUS_BAD_ARGUMENT);
        tdl_world_destroy(world);
    }
}
